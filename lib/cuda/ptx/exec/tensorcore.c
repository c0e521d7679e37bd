/* SPDX-License-Identifier: MIT */
/* Products of matrices that lie in shared memory, as descriptors say: wgmma, of four warps, whose sums are in registers; and tcgen05, which
 * one thread begins, whose sums are in tensor memory. */
#include "cuda/ptx/exec/matrix.h"

#include <stdlib.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/paths.h"
#include "cuda/ptx/exec/tensor.h"

#define WARPS	   4  /* of a warpgroup */
#define ROWS	   16 /* of a warp */
#define DEPTH_MAX  64
#define DEEPEST	   128 /* B of a sparse product of elements of 4 bits */
#define PIECE	   16
#define DEEP_MAX   4 /* pieces of a row of A, or of a column of B, along K */

/* ---- matrices in shared memory ---- */

/* A matrix in shared memory, as its descriptor says (PTX ISA, "Matrix Descriptor Format"). */
struct stored {
	uint64_t address, leading, stride; /* bytes */
	enum gt_tensor_swizzle swizzle;
	bool transposed; /* successive elements lie along M, or N, not along K */
	bool apart;	 /* 16 elements have 16 bytes, however small they are */
};

/* Bits 46 to 48 and 53 to 60 are constant. Bit 61 alone: pieces of 32 bytes change places, which matrices along M or N may have. */
static bool read_descriptor(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t bits, bool transposed,
			    struct stored *stored)
{
	static const enum gt_tensor_swizzle swizzles[] = {GT_SWIZZLE_NONE, GT_SWIZZLE_128, GT_SWIZZLE_64, GT_SWIZZLE_32};

	if (bits >> 49 & 7) {
		gt_ptx_fault(warp, op, lane, "a matrix descriptor with a base offset is not modelled");
		return false;
	}
	const bool by_32 = bits >> 61 & 1;
	if (bits >> 52 & 1 || (by_32 && (!transposed || bits >> 62))) {
		gt_ptx_fault(warp, op, lane, "a matrix descriptor with %s is not modelled",
			     by_32 ? "this swizzle of pieces of 32 bytes" : "an absolute leading dimension");
		return false;
	}
	*stored = (struct stored){(bits & 0x3fff) << 4, (bits >> 16 & 0x3fff) << 4, (bits >> 32 & 0x3fff) << 4,
				  by_32 ? GT_SWIZZLE_128_BY_32 : swizzles[bits >> 62], transposed, false};
	return true;
}

/* Where 16 bytes of a matrix lie, in the canonical layouts: groups of 8 lines of 16 bytes, or of a row of the swizzle, or of 4 where pieces
 * of 32 bytes change places. Lines are rows of A, or columns of B, and pieces go along K; of a transposed matrix lines go along K, and
 * pieces along M, or N. */
static uint64_t place_of(const struct stored *stored, unsigned line, unsigned piece)
{
	const bool by_32 = stored->swizzle == GT_SWIZZLE_128_BY_32;
	const unsigned chunks = by_32 ? 8 : 1U << stored->swizzle; /* pieces of a row of the swizzle */
	const unsigned lines = by_32 ? 4 : 8;
	uint64_t at;

	if (!stored->transposed && stored->swizzle == GT_SWIZZLE_NONE)
		at = line % 8 * PIECE + line / 8 * stored->stride + piece * stored->leading;
	else if (!stored->transposed)
		at = line % 8 * chunks * PIECE + line / 8 * stored->stride + piece * PIECE;
	else if (stored->swizzle == GT_SWIZZLE_NONE)
		at = piece * stored->stride + line % 8 * PIECE + line / 8 * stored->leading;
	else
		at = piece % chunks * PIECE + piece / chunks * stored->leading + line % lines * chunks * PIECE +
		     line / lines * stored->stride;
	return gt_swizzled(stored->address + at, stored->swizzle);
}

/* Reads n pieces at these places, in accesses of the whole warp. The accesses of which this warp makes every `share`th are
 * recorded by it; the other warps of the group record the others. */
static bool read_pieces(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const uint64_t *places, unsigned n, unsigned share,
			unsigned char (*to)[PIECE])
{
	uint64_t *lanes = gt_ptx_lanes(warp, op->with.access->address);
	struct gt_ptx_reach reach;

	for (unsigned first = 0; first < n; first += GT_WARP_SIZE) {
		const unsigned count = n - first < GT_WARP_SIZE ? n - first : GT_WARP_SIZE;
		const uint32_t mask = count < GT_WARP_SIZE ? (UINT32_C(1) << count) - 1 : GT_PTX_FULL;
		memcpy(lanes, places + first, count * sizeof *places);
		if (gt_ptx_reach(warp, op, mask, &reach, PIECE) != 0 ||
		    (first / GT_WARP_SIZE % share == warp->index % share && gt_ptx_note(warp, op, mask, &reach, PIECE) != 0))
			return false;
		for (unsigned i = 0; i < count; i++)
			memcpy(to[first + i], gt_ptx_place_of(&reach, i), PIECE);
	}
	return true;
}

/* The bits of element e of a piece. Those of 4 and 6 bits lie one behind the other from its first byte on, however many it has. */
GT_INLINE uint64_t bits_in(const unsigned char *piece, unsigned e, unsigned bits)
{
	const unsigned at = e * bits / 8;
	uint64_t found = 0;

	if (bits >= 8)
		memcpy(&found, piece + at, bits / 8);
	else
		found = (piece[at] | (unsigned)piece[at + (at + 1 < PIECE)] << 8) >> e * bits % 8 & ((1U << bits) - 1);
	return found;
}

/* All elements of a piece, of a kind that is known when this is compiled. */
#define WHOLE_PIECE(ELEMENT, BITS)                                                                           \
	case GT_PTX_ELEMENT_##ELEMENT:                                                                       \
		for (unsigned e = 0; e < 8 * PIECE / (BITS); e++)                                            \
			values[e] = gt_ptx_number_of(GT_PTX_ELEMENT_##ELEMENT, bits_in(piece, e, BITS));     \
		break;

/* The n elements of a piece as numbers, or as words of bits. */
GT_INLINE void read_piece(const unsigned char *piece, enum gt_ptx_element element, unsigned n, double *values)
{
	switch (element) {
		WHOLE_PIECE(F16, 16)
		WHOLE_PIECE(BF16, 16)
		WHOLE_PIECE(TF32, 32)
		WHOLE_PIECE(E4M3, 8)
		WHOLE_PIECE(E5M2, 8)
		WHOLE_PIECE(S8, 8)
		WHOLE_PIECE(U8, 8)
	case GT_PTX_ELEMENT_B1:
		for (unsigned e = 0; e < n; e++)
			values[e] = (double)bits_in(piece, e, 32);
		break;
	default:
		for (unsigned e = 0; e < n; e++)
			values[e] = gt_ptx_number_of(element, bits_in(piece, e, gt_ptx_element_bits(element)));
	}
}

/* Reads rows [first, first + rows) of a matrix that is `depth` deep into numbers, or words of bits, row by row. */
GT_INLINE bool read_matrix(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct stored *stored, unsigned first,
			   unsigned rows, unsigned depth, enum gt_ptx_element element, bool negative, unsigned share, double *numbers)
{
	unsigned char pieces[GT_PTX_WGMMA_COLUMNS * DEEP_MAX][PIECE];
	uint64_t places[GT_PTX_WGMMA_COLUMNS * DEEP_MAX] = {0};
	const unsigned bits = element == GT_PTX_ELEMENT_B1 ? 32 : gt_ptx_element_bits(element);
	const unsigned in_piece = 8 * PIECE / (stored->apart && bits < 8 ? 8 : bits), n = rows * (depth / in_piece);
	const unsigned lines = stored->transposed ? depth : rows; /* pieces go down the lines, as those of ldmatrix */

	for (unsigned i = 0; i < n; i++)
		places[i] = stored->transposed ? place_of(stored, i % lines, first / in_piece + i / lines)
					       : place_of(stored, first + i % lines, i / lines);
	if (!read_pieces(warp, op, places, n, share, pieces))
		return false;
	for (unsigned i = 0; i < n; i++) {
		const unsigned line = i % lines, next = i / lines * in_piece, step = stored->transposed ? depth : 1;
		double *to = numbers + (stored->transposed ? next * depth + line : line * depth + next), values[8 * PIECE / 4];
		read_piece(pieces[i], element, in_piece, values);
		for (unsigned e = 0; e < in_piece; e++)
			to[e * step] = negative ? -values[e] : values[e];
	}
	return true;
}

/* ---- wgmma ---- */

/* The descriptor, which is the same in all lanes. */
static bool read_common_descriptor(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t slot, bool transposed,
				   struct stored *stored)
{
	const uint64_t *lanes = gt_ptx_lanes(warp, slot);

	for (unsigned lane = 1; lane < GT_WARP_SIZE; lane++)
		if (lanes[lane] != lanes[0]) {
			gt_ptx_fault(warp, op, lane, "a lane of wgmma has another descriptor than the first");
			return false;
		}
	return read_descriptor(warp, op, 0, lanes[0], transposed, stored);
}

/* The multiplicand A of this warp's rows, row by row; of a sparse one, what is stored. */
static bool read_a(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_wgmma *this, double *a)
{
	const unsigned depth = this->sparse ? this->depth / 2 : this->depth;
	uint64_t bits[ROWS * DEPTH_MAX];
	struct stored stored;

	if (!this->a_in_registers)
		return read_common_descriptor(warp, op, this->a_descriptor, this->a_transposed, &stored) &&
		       read_matrix(warp, op, &stored, warp->index % WARPS * ROWS, ROWS, depth, this->a_element, this->a_negative, 1, a);
	gt_ptx_fragment_gather(&this->a, warp, bits);
	for (unsigned i = 0; i < ROWS * depth; i++) {
		double number = gt_ptx_number_of(this->a_element, bits[i]);
		a[i] = this->a_negative ? -number : number;
	}
	return true;
}

/* Where in D, row by row, element i of lane 0 is, and how much further that of another lane. */
static unsigned place_in_d(unsigned columns, unsigned i)
{
	return i / 2 % 2 * 8 * columns + i / 4 * 8 + i % 2;
}

static unsigned place_of_lane(unsigned columns, unsigned lane)
{
	return lane / 4 * columns + lane % 4 * 2;
}

/* A register has one element, or two halves. */
GT_INLINE void read_d(const struct gt_ptx_warp *warp, const struct gt_ptx_wgmma *this, double *d)
{
	const bool halves = this->d_element == GT_PTX_ELEMENT_F16, single = this->d_element == GT_PTX_ELEMENT_F32;

	for (unsigned i = 0; i < (halves ? 2U : 1U) * this->n; i++) {
		const uint32_t *lanes = gt_ptx_lanes(warp, this->d[halves ? i / 2 : i]);
		double *to = d + place_in_d(this->columns, i);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			to[place_of_lane(this->columns, lane)] =
				halves ? gt_ptx_number_of(GT_PTX_ELEMENT_F16, lanes[lane] >> i % 2 * 16 & 0xffff)
				       : gt_ptx_number_of(single ? GT_PTX_ELEMENT_F32 : GT_PTX_ELEMENT_S32, lanes[lane]);
	}
}

GT_INLINE void write_d(const struct gt_ptx_warp *warp, const struct gt_ptx_wgmma *this, const double *d)
{
	const bool halves = this->d_element == GT_PTX_ELEMENT_F16, single = this->d_element == GT_PTX_ELEMENT_F32;

	for (unsigned i = 0; i < (halves ? 2U : 1U) * this->n; i++) {
		uint32_t *lanes = gt_ptx_lanes(warp, this->d[halves ? i / 2 : i]);
		const double *from = d + place_in_d(this->columns, i);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			const double value = from[place_of_lane(this->columns, lane)];
			const uint32_t bits = halves   ? gt_ptx_element_of(value, GT_PTX_ELEMENT_F16, false)
					      : single ? gt_ptx_element_of(value, GT_PTX_ELEMENT_F32, false)
						       : gt_ptx_element_of(value, GT_PTX_ELEMENT_S32, this->saturates);
			lanes[lane] = halves && i % 2 ? lanes[lane] | bits << 16 : bits;
		}
	}
}

/* Of words of bits those that both have are counted. */
static void count_bits(unsigned columns, unsigned depth, const double *a, const double *b, double *d)
{
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned j = 0; j < columns; j++)
			for (unsigned k = 0; k < depth; k++)
				d[i * columns + j] += __builtin_popcount((uint32_t)a[i * depth + k] & (uint32_t)b[j * depth + k]);
}

/* Columns to rows. */
static void turn(const double *columns, unsigned n, unsigned depth, double *rows)
{
	for (unsigned j = 0; j < n; j++)
		for (unsigned k = 0; k < depth; k++)
			rows[k * n + j] = columns[j * depth + k];
}

/* The same where A is sparse, by rows of B. */
static void multiply_sparse(const struct gt_ptx_warp *warp, const struct gt_ptx_wgmma *this, const double *a, const double *b, double *d)
{
	struct gt_ptx_sparsity sparsity = {.element = this->a_element};
	double rows[DEPTH_MAX * GT_PTX_WGMMA_COLUMNS];

	gt_ptx_read_metadata(&sparsity, gt_ptx_lanes(warp, this->metadata), this->first);
	turn(b, this->columns, this->depth, rows);
	gt_ptx_multiply_sparse(&sparsity, &this->sums, this->depth / 2, this->columns, a, rows, d);
}

GT_INLINE const struct gt_ptx_op *multiply(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_wgmma *this = (const struct gt_ptx_wgmma *)op->with.access;
	double a[ROWS * DEPTH_MAX], b[DEPTH_MAX * GT_PTX_WGMMA_COLUMNS], d[ROWS * GT_PTX_WGMMA_COLUMNS];
	struct stored stored;
	const uint32_t adds = gt_ptx_predicate(warp, this->adds);

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	if (warp->core->n_warps % WARPS != 0)
		return gt_ptx_fault(warp, op, 0, "wgmma in a block of %u warps: a multiple of 4 expected", warp->core->n_warps);
	if (adds != 0 && adds != GT_PTX_FULL)
		return gt_ptx_fault(warp, op, 0, "lanes of wgmma differ in whether D is added to");
	if (!read_a(warp, op, this, a) || !read_common_descriptor(warp, op, this->b_descriptor, this->b_transposed, &stored))
		return NULL;
	/* A column of B has 64 bytes there. */
	if (this->sparse && !this->b_transposed && stored.swizzle == GT_SWIZZLE_32)
		return gt_ptx_fault(warp, op, 0, "wgmma.sp with a swizzle of 32 bytes is not modelled");
	if (!read_matrix(warp, op, &stored, 0, this->columns, this->depth, this->b_element, this->b_negative, WARPS, b))
		return NULL;
	if (adds)
		read_d(warp, this, d);
	else
		memset(d, 0, sizeof *d * ROWS * this->columns);
	if (this->a_element == GT_PTX_ELEMENT_B1)
		count_bits(this->columns, this->depth, a, b, d);
	else if (this->sparse)
		multiply_sparse(warp, this, a, b, d);
	else if (this->sums.fraction > 0)
		gt_ptx_multiply_cut(&this->sums, ROWS, this->columns, this->depth, a, b, d);
	else
		this->multiply(ROWS, this->columns, this->depth, a, b, d);
	write_d(warp, this, d);
	warp->multiplies = true;
	return op + 1;
}
GT_EVERY(multiply)

gt_ptx_step *gt_ptx_wgmma_step(void)
{
	static gt_ptx_step *const steps[] = GT_STEPS(multiply);

	return steps[gt_ptx_simd_variant()];
}

/* Wakes the warps of a group if all of them wait, or have ended. */
static void settle(struct gt_ptx_warp *warp)
{
	struct gt_ptx_core *core = warp->core;
	const uint32_t first = warp->index / WARPS * WARPS;
	const struct gt_ptx_barrier nothing = {0};

	for (uint32_t w = first; w < first + WARPS && w < core->n_warps; w++)
		if (!core->warps[w].meets && core->warps[w].live)
			return;
	for (uint32_t w = first; w < first + WARPS && w < core->n_warps; w++) {
		if (!core->warps[w].meets)
			continue;
		core->warps[w].meets = core->warps[w].multiplies = false;
		gt_ptx_wake(&core->warps[w], GT_PTX_GROUP_BARRIER, &nothing);
	}
}

const struct gt_ptx_op *gt_ptx_wgmma_wait(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (!warp->multiplies)
		return op + 1;
	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	warp->meets = true;
	const struct gt_ptx_op *next = gt_ptx_path_wait(warp, op, mask, GT_PTX_GROUP_BARRIER);
	settle(warp);
	return warp->state == GT_PTX_RUNS ? warp->at : next;
}

void gt_ptx_wgmma_left(struct gt_ptx_warp *warp)
{
	if (!warp->live)
		settle(warp);
}

/* ---- tensor memory ---- */

/* The bits of the units that columns [column, column + n) are in. */
static uint32_t units_of(uint32_t column, uint32_t n)
{
	const uint32_t first = column / GT_PTX_TENSOR_UNIT, end = (column + n + GT_PTX_TENSOR_UNIT - 1) / GT_PTX_TENSOR_UNIT;

	return ((UINT32_C(1) << end) - 1) & ~((UINT32_C(1) << first) - 1);
}

/* False after a fault: not all of the columns are allocated in that block. */
static bool has_columns(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct gt_ptx_core *core, uint32_t address,
			uint32_t n)
{
	const uint32_t column = address & 0xffff;

	if (column < GT_PTX_TENSOR_COLUMNS && n <= GT_PTX_TENSOR_COLUMNS - column &&
	    (units_of(column, n) & ~core->tensor_taken) == 0)
		return true;
	gt_ptx_fault(warp, op, lane, "columns %u to %u of tensor memory are not all allocated", column, column + n - 1);
	return false;
}

static uint32_t *cell_at(const struct gt_ptx_core *core, uint32_t lane, uint32_t column)
{
	return core->tensor + (size_t)lane * GT_PTX_TENSOR_COLUMNS + column;
}

static uint32_t address_in(const struct gt_ptx_warp *warp, const struct gt_ptx_tensor_address *address, unsigned lane)
{
	return ((const uint32_t *)gt_ptx_lanes(warp, address->slot))[lane] + (uint32_t)address->offset;
}

/* The columns of a request to allocate or to free some; 0 after a fault. */
static uint32_t read_columns(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t slot)
{
	const uint32_t columns = *(const uint32_t *)gt_ptx_lanes(warp, slot);

	if (columns >= GT_PTX_TENSOR_UNIT && columns <= GT_PTX_TENSOR_COLUMNS && (columns & (columns - 1)) == 0)
		return columns;
	gt_ptx_fault(warp, op, 0, "%u columns of tensor memory: a power of 2 from 32 to 512 expected", columns);
	return 0;
}

static const struct gt_ptx_op *allocate(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_ptx_reach reach;
	uint32_t column = 0;

	const uint32_t columns = gt_ptx_whole_warp(warp, op, mask) ? read_columns(warp, op, op->a) : 0;
	if (columns == 0)
		return NULL;
	while (column < GT_PTX_TENSOR_COLUMNS && (units_of(column, columns) & core->tensor_taken))
		column += columns;
	if (column == GT_PTX_TENSOR_COLUMNS)
		return gt_ptx_fault(warp, op, 0, "the block has no %u adjacent columns of tensor memory left", columns);
	if (!core->tensor && !(core->tensor = malloc(sizeof(uint32_t) * GT_PTX_TENSOR_LANES * GT_PTX_TENSOR_COLUMNS)))
		return gt_ptx_fault(warp, op, 0, "no memory for tensor memory");
	for (uint32_t lane = 0; lane < GT_PTX_TENSOR_LANES; lane++)
		memset(cell_at(core, lane, column), 0, columns * sizeof(uint32_t));
	core->tensor_taken |= units_of(column, columns);
	if (gt_ptx_reach(warp, op, 1, &reach, sizeof column) != 0 || gt_ptx_note(warp, op, 1, &reach, sizeof column) != 0)
		return NULL;
	memcpy(gt_ptx_place_of(&reach, 0), &column, sizeof column);
	return op + 1;
}

static const struct gt_ptx_op *free_columns(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint32_t column = *(const uint32_t *)gt_ptx_lanes(warp, op->a);
	const uint32_t columns = gt_ptx_whole_warp(warp, op, mask) ? read_columns(warp, op, op->b) : 0;

	if (columns == 0)
		return NULL;
	if (column % columns != 0 || column >= GT_PTX_TENSOR_COLUMNS)
		return gt_ptx_fault(warp, op, 0, "0x%08x is not where %u columns of tensor memory are allocated", column, columns);
	if (!has_columns(warp, op, 0, warp->core, column, columns))
		return NULL;
	warp->core->tensor_taken &= ~units_of(column, columns);
	return op + 1;
}

/* ---- tcgen05.ld, tcgen05.st ---- */

/* Where register r of lane t is, from the address on (PTX ISA, "Tensor Memory Load and Store Instructions"). */
GT_INLINE uint32_t lane_of(enum gt_ptx_tensor_shape shape, unsigned r, unsigned t)
{
	switch (shape) {
	case GT_PTX_16X64B: return t / 4 + t % 2 * 8;
	case GT_PTX_16X128B: return t / 4 + r % 2 * 8;
	case GT_PTX_16X256B: return t / 4 + r / 2 % 2 * 8;
	case GT_PTX_16X32BX2: return t % 16;
	default: return t;
	}
}

GT_INLINE uint32_t column_of(const struct gt_ptx_tensor_move *move, unsigned r, unsigned t)
{
	switch (move->shape) {
	case GT_PTX_16X64B: return t / 2 % 2 + r * 2;
	case GT_PTX_16X128B: return t % 4 + r / 2 * 4;
	case GT_PTX_16X256B: return t % 4 * 2 + r % 2 + r / 4 * 8;
	case GT_PTX_16X32BX2: return r + t / 16 * move->half;
	default: return r;
	}
}

/* The address of a move, which is the same in all lanes, and in the 32 lanes that the warp may access; UINT32_MAX after a fault. */
static uint32_t read_address(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_tensor_move *move)
{
	const uint32_t address = address_in(warp, &move->address, 0), lane = address >> 16;
	const uint32_t first = warp->index % WARPS * GT_WARP_SIZE;

	for (unsigned i = 1; i < GT_WARP_SIZE; i++)
		if (address_in(warp, &move->address, i) != address)
			return gt_ptx_fault(warp, op, i, "a lane has another address of tensor memory than the first"), UINT32_MAX;
	if (lane != first && (lane != first + 16 || move->shape == GT_PTX_32X32B))
		return gt_ptx_fault(warp, op, 0, "lane %u of tensor memory: warp %u accesses the 32 from %u on", lane, warp->index, first),
		       UINT32_MAX;
	return has_columns(warp, op, 0, warp->core, address, move->columns) ? address : UINT32_MAX;
}

GT_INLINE const struct gt_ptx_op *move_words(GT_STEP_ARGUMENTS, bool stores)
{
	const struct gt_ptx_tensor_move *move = op->with.move;
	const uint32_t address = gt_ptx_whole_warp(warp, op, mask) ? read_address(warp, op, move) : UINT32_MAX;

	if (address == UINT32_MAX)
		return NULL;
	for (unsigned r = 0; r < move->n; r++) {
		uint32_t *lanes = gt_ptx_lanes(warp, move->slots[r]);
		for (unsigned t = 0; t < GT_WARP_SIZE; t++) {
			const uint32_t column = column_of(move, r, t) << move->packed;
			uint32_t *cell = cell_at(warp->core, (address >> 16) + lane_of(move->shape, r, t), (address & 0xffff) + column);
			if (stores) {
				cell[0] = move->packed ? lanes[t] & 0xffff : lanes[t];
				if (move->packed)
					cell[1] = lanes[t] >> 16;
			} else {
				lanes[t] = move->packed ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
			}
		}
	}
	return op + 1;
}

static const struct gt_ptx_op *load_words(GT_STEP_ARGUMENTS) { return move_words(warp, op, mask, false); }
static const struct gt_ptx_op *store_words(GT_STEP_ARGUMENTS) { return move_words(warp, op, mask, true); }

/* ---- blocks that do it together ---- */

/* A block of an instruction, and what the addresses of its shared memory have in front for the warp. */
struct member {
	struct gt_ptx_core *core;
	uint64_t window;
};

/* The block itself, or the two of its pair; 0 after a fault. */
static unsigned find_members(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, bool pair, struct member members[2])
{
	struct gt_ptx_core *core = warp->core;

	members[0] = (struct member){core, 0};
	if (!pair)
		return 1;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t rank = core->rank / 2 * 2 + i;
		struct gt_ptx_core *member = rank == core->rank ? core : gt_ptx_cluster_peer(core, rank);
		if (!core->cluster || !member)
			return gt_ptx_fault(warp, op, lane, "cta_group::2: the pair has no other block, or that has ended"), 0;
		members[i] = (struct member){member, member == core ? 0 : gt_ptx_cluster_window(rank)};
	}
	return 2;
}

/* ---- tcgen05.cp ---- */

static bool copy_lines(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *member)
{
	const struct gt_ptx_tensor_copy *this = (const struct gt_ptx_tensor_copy *)op->with.access;
	const uint32_t address = address_in(warp, &this->d, lane), words = PIECE / sizeof(uint32_t);
	const unsigned n = (unsigned)this->lines * this->pieces;
	unsigned char pieces[2 * GT_PTX_TENSOR_LANES][PIECE];
	uint64_t places[2 * GT_PTX_TENSOR_LANES] = {0};
	struct stored stored;

	if (!read_descriptor(warp, op, lane, ((const uint64_t *)gt_ptx_lanes(warp, this->descriptor))[lane], false, &stored) ||
	    !has_columns(warp, op, lane, member->core, address, this->pieces * words))
		return false;
	if (address >> 16 != 0) {
		gt_ptx_fault(warp, op, lane, "tcgen05.cp to lane %u of tensor memory: 0 expected", address >> 16);
		return false;
	}
	stored.address += member->window;
	for (unsigned i = 0; i < n; i++)
		places[i] = place_of(&stored, i % this->lines, i / this->lines);
	if (!read_pieces(warp, op, places, n, 1, pieces))
		return false;
	for (unsigned i = 0; i < n; i++)
		for (unsigned t = 0; t < this->times; t++) {
			const unsigned line = i % this->lines;
			memcpy(cell_at(member->core, line % GT_WARP_SIZE + line / GT_WARP_SIZE * this->next + t * this->apart,
				       (address & 0xffff) + i / this->lines * words),
			       pieces[i], PIECE);
		}
	return true;
}

static const struct gt_ptx_op *copy_matrix(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_tensor_copy *this = (const struct gt_ptx_tensor_copy *)op->with.access;
	struct member members[2];

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m), n = find_members(warp, op, lane, this->pair, members);
		for (unsigned i = 0; i < n; i++)
			if (!copy_lines(warp, op, lane, &members[i]))
				return NULL;
		if (n == 0)
			return NULL;
	}
	return op + 1;
}

const struct gt_ptx_tensor_steps gt_ptx_tensor_steps = {allocate, free_columns, load_words, store_words, copy_matrix};

/* ---- tcgen05.mma ---- */

/* What the instruction descriptor says. */
struct form {
	unsigned rows, columns, depth; /* rows: of one block */
	unsigned stored; /* elements of a row of A: half of the depth if it is sparse */
	unsigned parts; /* of D's columns, one below the other in tensor memory; 0: 16 rows of each 32 lanes have them all */
	unsigned odd;	 /* columns of tensor memory from the address to the metadata */
	enum gt_ptx_element a, b, d;
	bool a_negative, b_negative, a_transposed, b_transposed, saturates;
	unsigned a_scale, b_scale; /* bytes of a column that are other scales */
	bool powers; /* scales are powers of 2 */
};

#define SMALL                                                                                                                    \
	{                                                                                                                        \
		GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E5M2, GT_PTX_NO_ELEMENT, GT_PTX_ELEMENT_E2M3, GT_PTX_ELEMENT_E3M2, GT_PTX_ELEMENT_E2M1 \
	}
#define FLOATS                                                                                                                   \
	{                                                                                                                        \
		GT_PTX_ELEMENT_F32, GT_PTX_ELEMENT_F32, GT_PTX_ELEMENT_F32, GT_PTX_ELEMENT_F32                                     \
	}
/* The kinds: how deep a product is; the elements by their numbers in the descriptor, of A and B, and of D, GT_PTX_NO_ELEMENT: none, or
 * not modelled. Where elements have scales the bits for D's have another meaning. */
static const struct {
	unsigned depth;
	enum gt_ptx_element multiplied[8], added[4];
} kinds[GT_PTX_TENSOR_KINDS] = {
	[GT_PTX_KIND_F16] = {16, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_BF16}, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}},
	[GT_PTX_KIND_TF32] = {8, {[2] = GT_PTX_ELEMENT_TF32}, {[1] = GT_PTX_ELEMENT_F32}},
	[GT_PTX_KIND_F8F6F4] = {32, SMALL, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}},
	[GT_PTX_KIND_I8] = {32, {GT_PTX_ELEMENT_U8, GT_PTX_ELEMENT_S8}, {[2] = GT_PTX_ELEMENT_S32}},
	[GT_PTX_KIND_MXF8F6F4] = {32, SMALL, FLOATS},
	[GT_PTX_KIND_MXF4] = {64, {[1] = GT_PTX_ELEMENT_E2M1}, FLOATS},
	[GT_PTX_KIND_MXF4NVF4] = {64, {[1] = GT_PTX_ELEMENT_E2M1}, FLOATS},
};
#undef SMALL
#undef FLOATS

/* Whether a matrix of such elements may be transposed. */
static bool can_lie(enum gt_ptx_element element, bool transposed)
{
	return !transposed || gt_ptx_element_bits(element) >= 8;
}

/* Whether the elements are known, go together, and may lie as they do. */
static bool has_elements(const struct gt_ptx_tensor_product *this, const struct form *form)
{
	const bool mixed = this->kind == GT_PTX_KIND_F16 && (form->a != form->b || (form->a == GT_PTX_ELEMENT_BF16 && form->d != GT_PTX_ELEMENT_F32));

	if (!form->a || !form->b || !form->d || mixed)
		return false;
	return can_lie(form->a, form->a_transposed) && can_lie(form->b, form->b_transposed);
}

/* Whether there is such a shape; the columns of a block are whole pieces of a transposed B. */
static bool has_shape(const struct gt_ptx_tensor_product *this, const struct form *form)
{
	const bool all_rows = form->rows == 128;
	if (this->keeps_b && (form->rows == 32 || form->rows == 64 || all_rows))
		return form->columns == 64 || form->columns == 128 || form->columns == GT_PTX_WGMMA_COLUMNS;
	const unsigned step = this->pair || (all_rows && !this->scaled) ? 16 : 8, columns = this->pair ? form->columns / 2 : form->columns;
	const unsigned in_piece = form->b_transposed && gt_ptx_element_bits(form->b) == 8 ? PIECE : 8;

	if (!all_rows && (form->rows != 64 || this->scaled || this->sparse))
		return false;
	return form->columns >= 8 && form->columns <= GT_PTX_WGMMA_COLUMNS && form->columns % step == 0 && columns % in_piece == 0;
}

/* Whether the scales of a row are in one column. */
static bool has_scales(const struct gt_ptx_tensor_product *this, const struct form *form)
{
	const unsigned n = this->scaled ? form->stored / this->scaled : 0;

	return form->a_scale + n <= sizeof(uint32_t) && form->b_scale + n <= sizeof(uint32_t);
}

/* Bits of the descriptor (PTX ISA, "Instruction descriptor"): 0-1: which metadata; 2: sparse; 3: saturates; 4-5: D; 7-9, 10-12: A, B; 13, 14: negative;
 * 15, 16: transposed; 17-22: columns / 8; 24-28: rows / 16; 30-31: shift. With scales: 4-5, 29-30: the first byte of those of B, A;
 * 23: they are powers of 2; 31: deeper. */
static bool read_form(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, struct form *form)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const uint32_t bits = ((const uint32_t *)gt_ptx_lanes(warp, this->form))[lane], rows = (bits >> 24 & 31) * 16;
	const uint32_t not_modelled = this->scaled ? 0x8000000b : this->sparse ? 0xc0000002 : 0xc0000000;

	*form = (struct form){.rows = this->pair ? rows / 2 : rows,
			      .columns = (bits >> 17 & 63) * 8,
			      .depth = kinds[this->kind].depth * (this->sparse ? 2 : 1),
			      .stored = kinds[this->kind].depth,
			      .odd = this->sparse ? bits & 1 : 0,
			      .a = kinds[this->kind].multiplied[bits >> 7 & 7],
			      .b = kinds[this->kind].multiplied[bits >> 10 & 7],
			      .d = kinds[this->kind].added[bits >> 4 & 3],
			      .a_negative = bits >> 13 & 1,
			      .b_negative = bits >> 14 & 1,
			      .a_transposed = bits >> 15 & 1,
			      .b_transposed = bits >> 16 & 1,
			      .saturates = bits >> 3 & 1};
	if (form->rows > 0)
		form->parts = this->keeps_b || this->pair ? GT_PTX_TENSOR_LANES / form->rows : form->rows / GT_PTX_TENSOR_LANES;
	if (this->scaled) {
		form->a_scale = bits >> 29 & 3;
		form->b_scale = bits >> 4 & 3;
		form->powers = bits >> 23 & 1;
	}
	if (!(bits & not_modelled) && (bits >> 2 & 1) == this->sparse && has_elements(this, form) && has_shape(this, form) && has_scales(this, form))
		return true;
	gt_ptx_fault(warp, op, lane, "the instruction descriptor 0x%08x is not valid, or not modelled", bits);
	return false;
}

/* Columns of D whose cells lie side by side. */
static unsigned run_of(const struct form *form)
{
	return form->parts ? form->columns / form->parts : form->columns;
}

/* Where in tensor memory D has a sum (PTX ISA, "Data Path Layout Organization"): 128 rows are the lanes. 64 rows are 16 of each 32
 * lanes; those of a block of a pair, or of .ws, are 64 lanes, whose other half has the other half of the columns. 32 rows of .ws are 32 lanes,
 * of four quarters. */
GT_INLINE uint32_t *cell_of(const struct member *member, const struct form *form, uint32_t address, unsigned row, unsigned column)
{
	if (form->parts == 0)
		return cell_at(member->core, (address >> 16) + row / 16 * 32 + row % 16, (address & 0xffff) + column);
	const unsigned width = run_of(form);
	return cell_at(member->core, row + column / width * form->rows, (address & 0xffff) + column % width);
}

/* Whether elements have a byte each, and those of 4 and 6 bits lie as 16 of them in 16 bytes. */
static bool has_bytes(const struct gt_ptx_tensor_product *this)
{
	return this->kind == GT_PTX_KIND_F8F6F4 || this->kind == GT_PTX_KIND_MXF8F6F4;
}

/* The first lane of D, or of A, is 0; or 16, where these are all. */
static bool is_place(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint32_t address, bool half)
{
	if (address >> 16 == 0 || (address >> 16 == 16 && half))
		return true;
	gt_ptx_fault(warp, op, lane, "a matrix at lane %u of tensor memory: lane 0 expected", address >> 16);
	return false;
}

/* The matrix in a block's shared memory. Elements of 32 bits that lie along M or N have pieces of 32 bytes, and no others have. */
static bool find_stored(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *member, uint32_t slot,
			const struct form *form, bool transposed, struct stored *stored)
{
	if (!read_descriptor(warp, op, lane, ((const uint64_t *)gt_ptx_lanes(warp, slot))[lane], transposed, stored))
		return false;
	if ((stored->swizzle == GT_SWIZZLE_128_BY_32) != (transposed && form->a == GT_PTX_ELEMENT_TF32)) {
		gt_ptx_fault(warp, op, lane, "a matrix descriptor whose swizzle does not suit the size of elements");
		return false;
	}
	stored->address += member->window;
	stored->apart = has_bytes((const struct gt_ptx_tensor_product *)op->with.access);
	return true;
}

/* The same words of A in tensor memory: 64 rows are 16 of each 32 lanes, as those of D; of a pair's block they are 64 lanes, and the other
 * 64 have them again. NULL after a fault. */
static const void *row_in_tensor(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct gt_ptx_core *core,
				 const struct form *form, uint32_t address, unsigned row, unsigned words)
{
	const uint32_t column = address & 0xffff;
	const uint32_t *cell = cell_at(core, form->parts == 0 ? (address >> 16) + row / 16 * 32 + row % 16 : row, column);

	if (form->parts == 2 && memcmp(cell, cell_at(core, row + form->rows, column), words * sizeof *cell) != 0)
		return gt_ptx_fault(warp, op, lane, "row %u of A is not the same in lanes %u and %u of tensor memory", row, row, row + form->rows);
	return cell;
}

/* ROWS rows of A. */
GT_INLINE bool read_rows(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *member, const struct form *form,
			 unsigned first, double *a)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const unsigned bits = gt_ptx_element_bits(form->a), words = form->stored * bits / 32;
	struct stored stored;

	if (!this->a_in_tensor)
		return find_stored(warp, op, lane, member, this->a_descriptor, form, form->a_transposed, &stored) &&
		       read_matrix(warp, op, &stored, first, ROWS, form->stored, form->a, form->a_negative, 1, a);
	const uint32_t address = address_in(warp, &this->a, lane);
	if (bits < 8 || (this->keeps_b && form->rows != 128)) {
		gt_ptx_fault(warp, op, lane, "A of %s in tensor memory is not modelled", bits < 8 ? "elements of 4 or 6 bits" : ".ws with less than 128 rows");
		return false;
	}
	if (!is_place(warp, op, lane, address, form->parts == 0) || !has_columns(warp, op, lane, member->core, address, words))
		return false;
	for (unsigned i = 0; i < ROWS; i++) {
		const void *row = row_in_tensor(warp, op, lane, member->core, form, address, first + i, words);
		if (!row)
			return false;
		for (unsigned k = 0; k < form->stored; k++)
			*a++ = gt_ptx_number_of(form->a, bits_in(row, k, bits)) * (form->a_negative ? -1 : 1);
	}
	return true;
}

/* Multiplies rows [first, first + n) of A, or columns of B, which lie by rows where A is sparse, by their scales. The upper two bits of the
 * address are not part of it. */
static bool apply_scales(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct gt_ptx_core *core, const struct form *form,
		  bool is_a, unsigned first, unsigned n, double *numbers)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const uint32_t address = address_in(warp, is_a ? &this->a_scales : &this->b_scales, lane) & 0x3fffffff;
	const unsigned shift = 8 * (is_a ? form->a_scale : form->b_scale);

	if (!is_place(warp, op, lane, address, false) ||
	    !has_columns(warp, op, lane, core, address, (first + n + GT_WARP_SIZE - 1) / GT_WARP_SIZE))
		return false;
	const bool by_rows = !is_a && this->sparse;
	const unsigned depth = is_a ? form->stored : form->depth, block = depth / (form->stored / this->scaled);
	const unsigned step = by_rows ? form->columns : 1, next = by_rows ? 1 : depth;
	for (unsigned row = 0; row < n; row++) {
		const uint32_t *cell = cell_at(core, (first + row) % GT_WARP_SIZE, (address & 0xffff) + (first + row) / GT_WARP_SIZE);
		for (unsigned k = 0; k < depth; k += block) {
			const double factor = gt_ptx_from_scale((uint8_t)(*cell >> shift >> k / block * 8), form->powers);
			for (unsigned i = k; i < k + block; i++)
				numbers[row * next + i * step] *= factor;
		}
	}
	return true;
}

/* The metadata of ROWS rows of A. If its elements have at most 8 bits, those of row i are in lane i, in two columns. Else those of the first half of
 * row i are in lane i % 8 + 16 (i / 16), and those of the second half 8 lanes further; in the upper half of the word if i / 8 is odd. */
static bool read_sparsity(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct gt_ptx_core *core, const struct form *form,
			  unsigned first, struct gt_ptx_sparsity *sparsity)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const uint32_t address = address_in(warp, &this->metadata, lane) + form->odd, column = address & 0xffff;
	const bool bytes = gt_ptx_element_bits(form->a) <= 8;

	sparsity->element = form->a == GT_PTX_ELEMENT_E2M1 && has_bytes(this) ? GT_PTX_ELEMENT_E2M1_IN_BYTE : form->a;
	const unsigned groups = form->depth / gt_ptx_group_of(sparsity->element);
	if (!is_place(warp, op, lane, address, false) || !has_columns(warp, op, lane, core, address, bytes ? 2 : 1))
		return false;
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned group = 0; group < groups; group++) {
			const uint32_t word = bytes ? *cell_at(core, first + i, column + group / 8)
						    : *cell_at(core, first + i % 8 + group / 4 * 8, column) >> i / 8 * 16;
			sparsity->bits[i][group] = word >> group % (bytes ? 8 : 4) * 4 & 0xf;
		}
	return true;
}

/* All columns of B: each block of a pair has half of them. */
GT_INLINE bool read_all_of_b(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *members, unsigned n,
			     const struct form *form, double *b)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const unsigned columns = form->columns / n;
	struct stored stored;

	for (unsigned i = 0; i < n; i++) {
		if (!find_stored(warp, op, lane, &members[i], this->b_descriptor, form, form->b_transposed, &stored))
			return false;
		/* A column of B has 64 bytes there. */
		if (this->sparse && !form->b_transposed && stored.swizzle == GT_SWIZZLE_32) {
			gt_ptx_fault(warp, op, lane, "tcgen05.mma.sp with a swizzle of 32 bytes is not modelled");
			return false;
		}
		if (!read_matrix(warp, op, &stored, 0, columns, form->depth, form->b, form->b_negative, 1, b + (size_t)i * columns * form->depth))
			return false;
	}
	return true;
}

/* ROWS rows of D, times `scale`; 0: they do not count. */
GT_INLINE void read_sums(const struct member *member, const struct form *form, uint32_t address, unsigned first, double scale, double *d)
{
	const bool single = form->d == GT_PTX_ELEMENT_F32;
	const unsigned run = run_of(form);

	if (!(scale > 0)) {
		memset(d, 0, sizeof *d * ROWS * form->columns);
		return;
	}
	for (unsigned i = 0; i < ROWS * form->columns; i += run) {
		const uint32_t *cells = cell_of(member, form, address, first + i / form->columns, i % form->columns);
		for (unsigned k = 0; k < run; k++)
			d[i + k] = scale * (single ? gt_ptx_number_of(GT_PTX_ELEMENT_F32, cells[k]) : gt_ptx_number_of(form->d, cells[k]));
	}
}

/* The same rows back, but those whose lanes of tensor memory the instruction leaves out. */
GT_INLINE void write_sums(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *member, unsigned which,
			  const struct form *form, uint32_t address, unsigned first, const double *d)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const bool single = form->d == GT_PTX_ELEMENT_F32;
	const unsigned run = run_of(form);

	for (unsigned i = 0; i < ROWS * form->columns; i += run) {
		uint32_t *cells = cell_of(member, form, address, first + i / form->columns, i % form->columns);
		const size_t at = (size_t)(cells - member->core->tensor) / GT_PTX_TENSOR_COLUMNS;
		const uint32_t slot = this->disabled[which * (GT_PTX_TENSOR_LANES / GT_WARP_SIZE) + at / GT_WARP_SIZE];
		if (slot && ((const uint32_t *)gt_ptx_lanes(warp, slot))[lane] >> at % GT_WARP_SIZE & 1)
			continue;
		for (unsigned k = 0; k < run; k++)
			cells[k] = single ? gt_ptx_element_of(d[i + k], GT_PTX_ELEMENT_F32, false)
					  : gt_ptx_element_of(d[i + k], form->d, form->saturates);
	}
}

/* The rows of one block. Of a sparse A, b lies by rows. */
GT_INLINE bool multiply_rows(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, const struct member *member, unsigned which,
			     const struct form *form, const double *b)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	const bool adds = gt_ptx_predicate(warp, this->adds) >> lane & 1;
	const uint32_t address = address_in(warp, &this->d, lane);
	const double scale = 1.0 / (double)(1U << this->scale);
	const struct gt_ptx_sums exact = {.fraction = 0};
	double a[ROWS * DEPTH_MAX], d[ROWS * GT_PTX_WGMMA_COLUMNS];
	struct gt_ptx_sparsity sparsity;

	if (!is_place(warp, op, lane, address, form->parts == 0) ||
	    !has_columns(warp, op, lane, member->core, address, run_of(form)))
		return false;
	for (unsigned first = 0; first < form->rows; first += ROWS) {
		if (!read_rows(warp, op, lane, member, form, first, a) ||
		    (this->scaled && !apply_scales(warp, op, lane, member->core, form, true, first, ROWS, a)) ||
		    (this->sparse && !read_sparsity(warp, op, lane, member->core, form, first, &sparsity)))
			return false;
		read_sums(member, form, address, first, adds ? scale : 0, d);
		if (this->sparse)
			gt_ptx_multiply_sparse(&sparsity, &exact, form->stored, form->columns, a, b, d);
		else
			this->multiply(ROWS, form->columns, form->depth, a, b, d);
		write_sums(warp, op, lane, member, which, form, address, first, d);
	}
	return true;
}

GT_INLINE const struct gt_ptx_op *multiply_tensors(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_tensor_product *this = (const struct gt_ptx_tensor_product *)op->with.access;
	double b[DEEPEST * GT_PTX_WGMMA_COLUMNS], other[DEEPEST * GT_PTX_WGMMA_COLUMNS]; /* other: with scales, or by rows */
	struct member members[2];
	struct form form;

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m), n = find_members(warp, op, lane, this->pair, members);
		if (n == 0 || !read_form(warp, op, lane, &form) || !read_all_of_b(warp, op, lane, members, n, &form, b))
			return NULL;
		for (unsigned i = 0; i < n; i++) {
			if (this->sparse && (i == 0 || this->scaled))
				turn(b, form.columns, form.depth, other);
			else if (this->scaled)
				memcpy(other, b, sizeof *b * form.columns * form.depth);
			if (this->scaled && !apply_scales(warp, op, lane, members[i].core, &form, false, 0, form.columns, other))
				return NULL;
			if (!multiply_rows(warp, op, lane, &members[i], i, &form, this->scaled || this->sparse ? other : b))
				return NULL;
		}
	}
	return op + 1;
}
GT_EVERY(multiply_tensors)

gt_ptx_step *gt_ptx_tensor_product_step(void)
{
	static gt_ptx_step *const steps[] = GT_STEPS(multiply_tensors);

	return steps[gt_ptx_simd_variant()];
}
