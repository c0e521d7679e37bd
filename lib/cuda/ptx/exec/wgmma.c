/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/matrix.h"

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/paths.h"
#include "cuda/ptx/exec/tensor.h"

#define WARPS	   4  /* of a warpgroup */
#define ROWS	   16 /* of a warp */
#define DEPTH_MAX  32
#define PIECE	   16
#define DEEP_BYTES 32 /* of a row of A, or a column of B, along K */

/* A matrix in shared memory, as its descriptor says (PTX ISA, "Matrix Descriptor Format"). */
struct stored {
	uint64_t address, leading, stride; /* bytes */
	enum gt_tensor_swizzle swizzle;
	bool transposed;
};

static bool read_descriptor(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t slot, bool transposed,
			    struct stored *stored)
{
	static const enum gt_tensor_swizzle swizzles[] = {GT_SWIZZLE_NONE, GT_SWIZZLE_128, GT_SWIZZLE_64, GT_SWIZZLE_32};
	const uint64_t *lanes = gt_ptx_lanes(warp, slot), bits = lanes[0];

	for (unsigned lane = 1; lane < GT_WARP_SIZE; lane++)
		if (lanes[lane] != bits) {
			gt_ptx_fault(warp, op, lane, "a lane of wgmma has another descriptor than the first");
			return false;
		}
	if (bits >> 49 & 7) {
		gt_ptx_fault(warp, op, 0, "a matrix descriptor with a base offset is not modelled");
		return false;
	}
	*stored = (struct stored){(bits & 0x3fff) << 4, (bits >> 16 & 0x3fff) << 4, (bits >> 32 & 0x3fff) << 4, swizzles[bits >> 62],
				  transposed};
	return true;
}

/* Where the 16 bytes that begin with element (row, byte along K) lie; of a transposed matrix, those of rows `row` and the
 * next, of the element `deep` along K. The canonical layouts: groups of 8 rows of 16 bytes, or of a row of the swizzle. */
static uint64_t place_of(const struct stored *stored, unsigned row, unsigned deep)
{
	const unsigned chunks = 1U << stored->swizzle; /* pieces of a row of the swizzle */
	uint64_t at;

	if (!stored->transposed && stored->swizzle == GT_SWIZZLE_NONE)
		at = row % 8 * PIECE + row / 8 * stored->stride + deep / PIECE * stored->leading;
	else if (!stored->transposed)
		at = row % 8 * chunks * PIECE + row / 8 * stored->stride + deep;
	else if (stored->swizzle == GT_SWIZZLE_NONE)
		at = row / 8 * stored->stride + deep % 8 * PIECE + deep / 8 * stored->leading;
	else
		at = row / 8 % chunks * PIECE + row / (8 * chunks) * stored->leading + deep % 8 * chunks * PIECE + deep / 8 * stored->stride;
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

/* Reads rows [first, first + rows) of a matrix that is `depth` deep into numbers, or words of bits, row by row. */
GT_INLINE bool read_matrix(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct stored *stored, unsigned first,
			   unsigned rows, unsigned depth, enum gt_ptx_element element, bool negative, unsigned share, double *numbers)
{
	unsigned char pieces[GT_PTX_WGMMA_COLUMNS * DEEP_BYTES / PIECE][PIECE];
	uint64_t places[GT_PTX_WGMMA_COLUMNS * DEEP_BYTES / PIECE];
	const unsigned bytes = DEEP_BYTES / depth, in_piece = PIECE / bytes, n = rows * depth / in_piece;
	const unsigned lines = stored->transposed ? depth : rows; /* pieces go down the lines, as those of ldmatrix */

	for (unsigned i = 0; i < n; i++)
		places[i] = stored->transposed ? place_of(stored, first + i / lines * in_piece, i % lines)
					       : place_of(stored, first + i % lines, i / lines * PIECE);
	if (!read_pieces(warp, op, places, n, share, pieces))
		return false;
	for (unsigned i = 0; i < n; i++)
		for (unsigned e = 0; e < in_piece; e++) {
			const unsigned row = stored->transposed ? i / lines * in_piece + e : i % lines;
			const unsigned k = stored->transposed ? i % lines : i / lines * in_piece + e;
			uint64_t bits = 0;
			memcpy(&bits, pieces[i] + e * bytes, bytes);
			double number = element == GT_PTX_ELEMENT_B1 ? (double)bits : gt_ptx_number_of(element, bits);
			numbers[row * depth + k] = negative ? -number : number;
		}
	return true;
}

/* The multiplicand A of this warp's rows, row by row. */
static bool read_a(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_wgmma *this, double *a)
{
	uint64_t bits[ROWS * DEPTH_MAX];
	struct stored stored;

	if (!this->a_in_registers)
		return read_descriptor(warp, op, this->a_descriptor, this->a_transposed, &stored) &&
		       read_matrix(warp, op, &stored, warp->index % WARPS * ROWS, ROWS, this->depth, this->a_element, this->a_negative, 1,
				   a);
	gt_ptx_fragment_gather(&this->a, warp, bits);
	for (unsigned i = 0; i < (unsigned)ROWS * this->depth; i++) {
		double number = gt_ptx_number_of(this->a_element, bits[i]);
		a[i] = this->a_negative ? -number : number;
	}
	return true;
}

/* Where in D, row by row, element e of register r of a lane is. */
static unsigned place_in_d(unsigned columns, unsigned i, unsigned lane)
{
	return (lane / 4 + i / 2 % 2 * 8) * columns + i / 4 * 8 + lane % 4 * 2 + i % 2;
}

GT_INLINE void read_d(const struct gt_ptx_warp *warp, const struct gt_ptx_wgmma *this, double *d)
{
	const unsigned in_register = this->d_element == GT_PTX_ELEMENT_F16 ? 2 : 1;

	for (unsigned r = 0; r < this->n; r++) {
		const uint32_t *lanes = gt_ptx_lanes(warp, this->d[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			for (unsigned e = 0; e < in_register; e++)
				d[place_in_d(this->columns, r * in_register + e, lane)] = gt_ptx_number_of(
					this->d_element, in_register == 2 ? lanes[lane] >> 16 * e & 0xffff : lanes[lane]);
	}
}

GT_INLINE void write_d(const struct gt_ptx_warp *warp, const struct gt_ptx_wgmma *this, const double *d)
{
	const unsigned in_register = this->d_element == GT_PTX_ELEMENT_F16 ? 2 : 1;

	for (unsigned r = 0; r < this->n; r++) {
		uint32_t *lanes = gt_ptx_lanes(warp, this->d[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			uint32_t word = 0;
			for (unsigned e = 0; e < in_register; e++)
				word |= gt_ptx_element_of(d[place_in_d(this->columns, r * in_register + e, lane)], this->d_element,
							  this->saturates)
					<< 16 * e;
			lanes[lane] = word;
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
	if (!read_a(warp, op, this, a) || !read_descriptor(warp, op, this->b_descriptor, this->b_transposed, &stored) ||
	    !read_matrix(warp, op, &stored, 0, this->columns, this->depth, this->b_element, this->b_negative, WARPS, b))
		return NULL;
	if (adds)
		read_d(warp, this, d);
	else
		memset(d, 0, sizeof *d * ROWS * this->columns);
	if (this->a_element == GT_PTX_ELEMENT_B1)
		count_bits(this->columns, this->depth, a, b, d);
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
