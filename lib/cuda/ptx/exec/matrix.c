/* SPDX-License-Identifier: MIT */
/* Matrices in the registers of a warp: their layout (fragments), and the instructions that load, store and transpose them. */
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/matrix.h"

/* ---- fragments ---- */

static const struct {
	const char *name;
	uint8_t bits;  /* of an element */
	uint8_t unit;  /* bits that are one unit of the matrix */
} elements[GT_PTX_ELEMENTS] = {
	[GT_PTX_NO_ELEMENT] = {"", 0, 0},
	[GT_PTX_ELEMENT_F16] = {"f16", 16, 16},
	[GT_PTX_ELEMENT_BF16] = {"bf16", 16, 16},
	[GT_PTX_ELEMENT_E4M3] = {"e4m3", 8, 8},
	[GT_PTX_ELEMENT_E5M2] = {"e5m2", 8, 8},
	[GT_PTX_ELEMENT_E2M3] = {"e2m3", 6, 8},
	[GT_PTX_ELEMENT_E3M2] = {"e3m2", 6, 8},
	[GT_PTX_ELEMENT_E2M1] = {"e2m1", 4, 4},
	[GT_PTX_ELEMENT_E2M1_IN_BYTE] = {"", 8, 8},
	[GT_PTX_ELEMENT_TF32] = {"tf32", 32, 32},
	[GT_PTX_ELEMENT_F32] = {"f32", 32, 32},
	[GT_PTX_ELEMENT_F64] = {"f64", 64, 64},
	[GT_PTX_ELEMENT_S8] = {"s8", 8, 8},
	[GT_PTX_ELEMENT_U8] = {"u8", 8, 8},
	[GT_PTX_ELEMENT_S4] = {"s4", 4, 4},
	[GT_PTX_ELEMENT_U4] = {"u4", 4, 4},
	[GT_PTX_ELEMENT_S32] = {"s32", 32, 32},
	[GT_PTX_ELEMENT_B1] = {"b1", 1, 32},
};

unsigned gt_ptx_element_bits(enum gt_ptx_element element)
{
	return elements[element].bits;
}

enum gt_ptx_element gt_ptx_element_named(const char *word)
{
	for (unsigned e = 1; e < GT_PTX_ELEMENTS; e++)
		if (strcmp(elements[e].name, word) == 0)
			return (enum gt_ptx_element)e;
	return GT_PTX_NO_ELEMENT;
}

/* Lane l is thread l % 4 of group l / 4. A register of a block of 8 x 4 registers holds `units` along k (A, B), or
 * along n (C). */
static unsigned place(const struct gt_ptx_fragment *fragment, enum gt_ptx_role role, unsigned r, unsigned lane)
{
	unsigned group = lane / 4, thread = lane % 4, units = fragment->units;
	unsigned deep = fragment->rows / (4 * units), down = fragment->rows / 8;

	switch (role) {
	case GT_PTX_MATRIX_A:
		return (group + 8 * (r % down)) * fragment->columns + (thread + 4 * (r / down)) * units;
	case GT_PTX_MATRIX_B:
		return (thread + 4 * (r % deep)) * units * fragment->columns + group + 8 * (r / deep);
	case GT_PTX_MATRIX_C: break;
	}
	/* Two columns a lane: in one register, or in two. */
	unsigned pair = units == 2 ? r : r / 2, odd = units == 2 ? 0 : r % 2;
	return (group + 8 * (pair % down)) * fragment->columns + 8 * (pair / down) + 2 * thread + odd;
}

/* mma.m8n8k4 of f16: lanes 4q to 4q + 3 and those 16 above them make product q. */
static unsigned place_in_quads(const struct gt_ptx_fragment *fragment, enum gt_ptx_role role, unsigned r,
			       unsigned lane, bool by_columns)
{
	unsigned quad = lane % 16 / 4, thread = lane % 4, high = lane / 16 * 4, i = r * fragment->units;

	switch (role) {
	case GT_PTX_MATRIX_A: return quad * 32 + (by_columns ? (high + i) * 4 + thread : (high + thread) * 4 + i);
	case GT_PTX_MATRIX_B: return quad * 32 + (by_columns ? i * 8 + high + thread : thread * 8 + high + i);
	case GT_PTX_MATRIX_C: break;
	}
	if (fragment->element == GT_PTX_ELEMENT_F16)
		return quad * 64 + (high + thread) * 8 + i;
	return quad * 64 + (high + (thread & 1) + (i & 2)) * 8 + (i & 4) + (thread & 2) + (i & 1);
}

/* Says where the runs are, by the places of the first lane. */
static void lay_out_runs(struct gt_ptx_fragment *fragment, enum gt_ptx_role role)
{
	const unsigned unit = elements[fragment->element].unit, columns = fragment->columns;
	const bool by_columns = role == GT_PTX_MATRIX_B;

	fragment->by_columns = by_columns;
	fragment->paired = role == GT_PTX_MATRIX_C && fragment->units == 1;
	fragment->line = (uint16_t)((by_columns ? fragment->rows : columns) * unit / 8);
	for (unsigned r = 0; r < fragment->n; r++) {
		const unsigned row = fragment->at[r][0] / columns, column = fragment->at[r][0] % columns;
		fragment->runs[r].line = (uint16_t)(by_columns ? column : row);
		fragment->runs[r].at = (uint16_t)((by_columns ? row : column) * unit / 8);
	}
}

bool gt_ptx_fragment_lay_out(struct gt_ptx_fragment *fragment, enum gt_ptx_role role, struct gt_ptx_shape shape,
			     enum gt_ptx_element element, unsigned n, bool by_columns)
{
	const unsigned unit = elements[element].unit, in_unit = unit / elements[element].bits;
	const unsigned copies = shape.quads ? 4 : 1;
	unsigned rows = role == GT_PTX_MATRIX_B ? shape.k / in_unit : shape.m;
	unsigned columns = role == GT_PTX_MATRIX_A ? shape.k / in_unit : shape.n;

	fragment->element = element;
	fragment->rows = (uint16_t)rows;
	fragment->columns = (uint16_t)columns;
	fragment->units = (uint8_t)(unit < 32 ? 32 / unit : 1);
	fragment->n = (uint8_t)n;
	bool along_rows = role == GT_PTX_MATRIX_C || (shape.quads ? !by_columns : role == GT_PTX_MATRIX_A);
	fragment->step = (uint16_t)(along_rows ? 1 : columns);
	unsigned needed = copies * rows * columns / fragment->units / GT_WARP_SIZE;
	fragment->distinct = (uint8_t)needed;
	if (needed == 0 || n == 0 || n > GT_PTX_FRAGMENT_REGISTERS || n % needed != 0)
		return false;
	for (unsigned r = 0; r < n; r++)
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			fragment->at[r][lane] =
				(uint16_t)(shape.quads ? place_in_quads(fragment, role, r % needed, lane, by_columns)
						       : place(fragment, role, r % needed, lane));
	if (!shape.quads)
		lay_out_runs(fragment, role);
	fragment->rows = (uint16_t)(rows * copies);
	return true;
}

GT_INLINE void gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits,
		      const unsigned width)
{
	const unsigned units = width < 32 ? 32 / width : 1, step = fragment->step;

	for (unsigned r = 0; r < fragment->distinct; r++) {
		const uint16_t *at = fragment->at[r];
		const uint32_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			for (unsigned i = 0; i < units; i++)
				bits[at[lane] + i * step] =
					width < 32 ? lanes[lane] >> i * width & ((1U << width % 32) - 1) : lanes[lane];
	}
}

GT_INLINE void scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, const uint64_t *bits,
		       const unsigned width)
{
	const unsigned units = width < 32 ? 32 / width : 1, step = fragment->step;

	for (unsigned r = 0; r < fragment->n; r++) {
		const uint16_t *at = fragment->at[r];
		uint32_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			uint64_t word = 0;
			for (unsigned i = 0; i < units; i++)
				word |= bits[at[lane] + i * step] << i * width;
			lanes[lane] = (uint32_t)word;
		}
	}
}

void gt_ptx_fragment_gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits)
{
	switch (elements[fragment->element].unit) {
	case 4: gather(fragment, warp, bits, 4); return;
	case 8: gather(fragment, warp, bits, 8); return;
	case 16: gather(fragment, warp, bits, 16); return;
	case 32: gather(fragment, warp, bits, 32); return;
	}
	for (unsigned r = 0; r < fragment->distinct; r++) {
		const uint64_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			bits[fragment->at[r][lane]] = lanes[lane];
	}
}

void gt_ptx_fragment_scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
			     const uint64_t *bits)
{
	switch (elements[fragment->element].unit) {
	case 4: scatter(fragment, warp, bits, 4); return;
	case 8: scatter(fragment, warp, bits, 8); return;
	case 16: scatter(fragment, warp, bits, 16); return;
	case 32: scatter(fragment, warp, bits, 32); return;
	}
	for (unsigned r = 0; r < fragment->n; r++) {
		uint64_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			lanes[lane] = bits[fragment->at[r][lane]];
	}
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* ldmatrix, stmatrix, movmatrix: matrices of 8 x 8 elements of 16 bits. A row is 16 bytes at the address of one lane;
 * lane l has the elements 2 (l % 4) and the next of row l / 4 in a register. */

#define ROW_BYTES 16

bool gt_ptx_whole_warp(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	if (mask == GT_PTX_FULL)
		return true;
	gt_ptx_fault(warp, op, gt_ptx_lowest(mask),
		     "an instruction on matrices by the lanes 0x%08x alone: all 32 of a warp have to execute it", mask);
	return false;
}

/* Where the rows of a matrix lie, 8 rows each; records the access. False after a fault. */
static bool reach_rows(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_reach *reach)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned rows = 8U * access->n;
	const uint32_t lanes = rows == GT_WARP_SIZE ? GT_PTX_FULL : (UINT32_C(1) << rows) - 1;

	if (gt_ptx_reach(warp, op, lanes, reach, ROW_BYTES) != 0)
		return false;
	if (reach->space != GT_PTX_SHARED) {
		gt_ptx_fault(warp, op, 0, "0x%llx is no address of shared memory",
			     (unsigned long long)(reach->lanes[0] + reach->offset));
		return false;
	}
	return gt_ptx_note(warp, op, lanes, reach, ROW_BYTES) == 0;
}

/* Row and column of a lane's element of a register, 0 or 1. */
static void element_of(unsigned lane, unsigned i, bool transposed, unsigned *row, unsigned *column)
{
	*row = transposed ? 2 * (lane % 4) + i : lane / 4;
	*column = transposed ? lane / 4 : 2 * (lane % 4) + i;
}

/* A row of a matrix; of one whose 16 elements have `bits` bits each, one behind the other: a byte for each. 0: as it is. */
static void read_row(const unsigned char *from, unsigned bits, uint16_t row[8])
{
	unsigned char bytes[ROW_BYTES];
	uint32_t left = 0, next = 0;

	for (unsigned i = 0, n = 0; bits && i < ROW_BYTES; i++, n -= bits, left >>= bits) {
		for (; n < bits; n += 8)
			left |= (uint32_t)from[next++] << n;
		bytes[i] = (unsigned char)(left & ((1U << bits) - 1));
	}
	memcpy(row, bits ? bytes : from, ROW_BYTES);
}

/* Where a lane's byte of register k is in the rows, of bytes: ldmatrix has matrices of 16 rows in two registers, stmatrix of 8 rows in one. */
static unsigned byte_of(unsigned lane, unsigned k, unsigned i, bool stores)
{
	const unsigned row = stores ? 8 * k + 2 * (lane % 4) + i % 2 : k / 2 * 16 + 4 * (lane % 4) + i;

	return row * ROW_BYTES + lane / 4 + (stores ? i / 2 : k % 2) * 8;
}

static uint32_t word_of_bytes(const unsigned char *rows, unsigned k, unsigned lane)
{
	uint32_t word = 0;

	for (unsigned i = 0; i < sizeof word; i++)
		word |= (uint32_t)rows[byte_of(lane, k, i, false)] << 8 * i;
	return word;
}

static uint32_t word_of_halves(const uint16_t *matrix, unsigned lane, bool transposed)
{
	uint32_t word = 0;

	for (unsigned i = 0, row, column; i < 2; i++) {
		element_of(lane, i, transposed, &row, &column);
		word |= (uint32_t)matrix[row * 8 + column] << 16 * i;
	}
	return word;
}

static const struct gt_ptx_op *load_matrices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	const bool bytes = op->choice & GT_PTX_TURNED_BYTES;
	uint16_t matrices[4][8][8];
	struct gt_ptx_reach reach;

	if (!gt_ptx_whole_warp(warp, op, mask) || !reach_rows(warp, op, &reach))
		return NULL;
	/* All rows first: a result may take the place of the addresses. */
	for (unsigned lane = 0; lane < 8U * access->n; lane++)
		read_row(gt_ptx_place_of(&reach, lane), op->choice & 6U, matrices[lane / 8][lane % 8]);
	for (unsigned k = 0; k < access->n; k++) {
		uint32_t *lanes = gt_ptx_lanes(warp, access->slots[k]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			lanes[lane] = bytes ? word_of_bytes((const unsigned char *)matrices, k, lane)
					    : word_of_halves(matrices[k][0], lane, op->choice == GT_PTX_TURNED);
	}
	return op + 1;
}

static const struct gt_ptx_op *store_matrices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	const bool bytes = op->choice == GT_PTX_TURNED_BYTES;
	uint16_t matrices[4][8][8];
	struct gt_ptx_reach reach;

	if (!gt_ptx_whole_warp(warp, op, mask) || !reach_rows(warp, op, &reach))
		return NULL;
	for (unsigned k = 0; k < access->n; k++) {
		const uint32_t *lanes = gt_ptx_lanes(warp, access->slots[k]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			for (unsigned i = 0; bytes && i < 4; i++)
				((unsigned char *)matrices)[byte_of(lane, k, i, true)] = (unsigned char)(lanes[lane] >> 8 * i);
			for (unsigned i = 0, row, column; !bytes && i < 2; i++) {
				element_of(lane, i, op->choice == GT_PTX_TURNED, &row, &column);
				matrices[k][row][column] = (uint16_t)(lanes[lane] >> 16 * i);
			}
		}
	}
	for (unsigned lane = 0; lane < 8U * access->n; lane++)
		memcpy(gt_ptx_place_of(&reach, lane), matrices[lane / 8][lane % 8], ROW_BYTES);
	return op + 1;
}

static const struct gt_ptx_op *step_transpose(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	uint32_t *lanes_d = gt_ptx_lanes(warp, op->d), from[GT_WARP_SIZE];

	if (!gt_ptx_whole_warp(warp, op, mask))
		return NULL;
	memcpy(from, gt_ptx_lanes(warp, op->a), sizeof from);
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
		lanes_d[lane] = 0;
		for (unsigned i = 0, row, column; i < 2; i++) {
			element_of(lane, i, true, &row, &column);
			lanes_d[lane] |= (from[4 * row + column / 2] >> 16 * (column % 2) & 0xffff) << 16 * i;
		}
	}
	return op + 1;
}

/* ---- wmma.load and wmma.store ---- */

/* wmma.load, wmma.store: a matrix in memory, line by line (rows or columns), to and from a fragment.
 *
 * Which lane accesses what, PTX leaves open, and GPUs differ. Here each byte of the matrix is accessed once, in pieces of
 * up to 16 bytes a lane; successive lanes go down the lines, as those of ldmatrix do. */

#define PIECE_MAX 16
#define UNITS_MAX 512

/* Names the first lane in which a slot of 32- or 64-bit lanes has another value than in lane 0; false if there is none. */
static bool refuse_other(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t slot, bool narrow, const char *what)
{
	const uint32_t *words = gt_ptx_lanes(warp, slot);
	const uint64_t *wide = gt_ptx_lanes(warp, slot);

	for (unsigned lane = 1; lane < GT_WARP_SIZE; lane++)
		if (narrow ? words[lane] != words[0] : wide[lane] != wide[0]) {
			gt_ptx_fault(warp, op, lane, "a lane of wmma has another %s than the first", what);
			return true;
		}
	return false;
}

void gt_ptx_tile_lines(const struct gt_ptx_tile *tile, uint64_t address, uint64_t stride, struct gt_ptx_lines *lines)
{
	const struct gt_ptx_fragment *fragment = &tile->fragment;
	const unsigned bits = gt_ptx_element_bits(fragment->element);

	lines->address = address;
	lines->pitch = stride * bits / 8;
	lines->unit = bits == 1 ? 32 : bits;
	lines->n = tile->by_columns ? fragment->columns : fragment->rows;
	lines->bytes = (tile->by_columns ? fragment->rows : fragment->columns) * lines->unit / 8;
	unsigned piece = lines->n * lines->bytes / GT_WARP_SIZE;
	piece = piece < lines->bytes ? piece : lines->bytes;
	piece = piece < PIECE_MAX ? piece : PIECE_MAX;
	while (8 * piece > lines->unit && piece > 1 && ((lines->address | lines->pitch) & (piece - 1)))
		piece /= 2;
	lines->piece = piece;
}

/* Whether all lanes have one address and one stride. */
#define ALIKE(TARGET, VARIANT, ...)                                                                            \
	TARGET GT_INLINE bool are_alike##VARIANT(const struct gt_ptx_warp *warp, const struct gt_ptx_tile *tile) \
	{                                                                                                      \
		const void *addresses = gt_ptx_lanes(warp, tile->base.address);                                \
		return (tile->base.narrow ? gt_ptx_is_next32##VARIANT(addresses, 0, false)                     \
					  : gt_ptx_is_next64##VARIANT(addresses, 0, false)) &&                 \
		       gt_ptx_is_next64##VARIANT(gt_ptx_lanes(warp, tile->stride), 0, false);                  \
	}
GT_VARIANTS(ALIKE, )

/* False after a fault. */
GT_INLINE bool find_lines(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, bool alike, struct gt_ptx_lines *lines)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	const uint32_t *words = gt_ptx_lanes(warp, tile->base.address);
	const uint64_t *wide = gt_ptx_lanes(warp, tile->base.address), *strides = gt_ptx_lanes(warp, tile->stride);

	if (!gt_ptx_whole_warp(warp, op, mask) ||
	    (!alike && (refuse_other(warp, op, tile->base.address, tile->base.narrow, "address") ||
			refuse_other(warp, op, tile->stride, false, "stride"))))
		return false;
	const uint64_t address = (tile->base.narrow ? words[0] : wide[0]) + (uint64_t)tile->base.offset;
	gt_ptx_tile_lines(tile, tile->base.narrow ? (uint32_t)address : address, strides[0], lines);
	return true;
}

/* Where a tile lies in this process if it is wholly in one memory, whose accesses nobody asks for; else NULL. */
static unsigned char *place_of(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_lines *lines)
{
	const uint64_t span = (lines->n - 1) * lines->pitch + lines->bytes, bits = lines->unit < 8 ? 0 : lines->unit / 8 - 1;
	const uint32_t traced = warp->core->traced;
	struct gt_ptx_reach reach;

	if (lines->pitch > UINT32_MAX || ((lines->address | lines->pitch) & bits))
		return NULL;
	const uint64_t high = gt_ptx_window(warp, op->with.access, lines->address, 1, &reach), at = lines->address - reach.low;
	if (!reach.host || reach.space == GT_PTX_LOCAL || high - reach.low < span || at > high - reach.low - span)
		return NULL;
	if (traced & (GT_PTX_NOTES_SPIN | GT_PTX_NOTES_WRITTEN) || traced >> gt_ptx_traced_space[reach.space] & 1 ||
	    (traced & GT_PTX_NOTES_WORK && reach.space == GT_PTX_SHARED))
		return NULL;
	return reach.host + at;
}

GT_INLINE void copy_pieces(unsigned char *const *to, unsigned char *const *from, const size_t piece)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		memcpy(to[lane], from[lane], piece);
}

/* Copies the tile between memory and a buffer of its lines, one behind the other. */
static bool move_pieces(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_lines *lines,
			unsigned char *buffer)
{
	const unsigned pieces = lines->n * lines->bytes / lines->piece;
	const bool stores = op->with.access->action == GT_STORE;
	uint64_t *addresses = gt_ptx_lanes(warp, op->with.access->address);
	unsigned char *places[GT_WARP_SIZE], *there[GT_WARP_SIZE];
	struct gt_ptx_reach reach;

	for (unsigned first = 0; first < pieces; first += GT_WARP_SIZE) {
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			unsigned packed;
			addresses[lane] = lines->address + gt_ptx_piece_at(lines, first + lane, &packed);
			places[lane] = buffer + packed;
		}
		if (gt_ptx_reach(warp, op, GT_PTX_FULL, &reach, lines->piece) != 0 ||
		    gt_ptx_note(warp, op, GT_PTX_FULL, &reach, lines->piece) != 0)
			return false;
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			there[lane] = gt_ptx_place_of(&reach, lane);
		if (lines->piece == PIECE_MAX)
			copy_pieces(stores ? there : places, stores ? places : there, PIECE_MAX);
		else
			copy_pieces(stores ? there : places, stores ? places : there, lines->piece);
	}
	return true;
}

/* Where the first unit of a line lies in the matrix, row by row, and how far apart they are. */
static unsigned first_of(const struct gt_ptx_tile *tile, unsigned line, unsigned *step)
{
	*step = tile->by_columns ? tile->fragment.columns : 1;
	return tile->by_columns ? line : line * tile->fragment.columns;
}

/* From a buffer of lines to the matrix. Units of less than a byte lie in runs. */
GT_INLINE void read_lines(const struct gt_ptx_tile *tile, const struct gt_ptx_lines *lines, const unsigned char *buffer,
			  uint64_t *bits, const unsigned unit)
{
	for (unsigned line = 0, step; line < lines->n; line++, buffer += lines->bytes) {
		uint64_t *to = bits + first_of(tile, line, &step);
		for (unsigned i = 0; i < 8 * lines->bytes / unit; i++) {
			uint64_t value = 0;
			memcpy(&value, buffer + i * (unit / 8), unit / 8);
			to[i * step] = value;
		}
	}
}

/* And back. Units of D have 16 bits at least. */
GT_INLINE void write_lines(const struct gt_ptx_tile *tile, const struct gt_ptx_lines *lines, unsigned char *buffer,
			   const uint64_t *bits, const unsigned unit)
{
	for (unsigned line = 0, step; line < lines->n; line++, buffer += lines->bytes) {
		const uint64_t *from = bits + first_of(tile, line, &step);
		for (unsigned i = 0; i < 8 * lines->bytes / unit; i++)
			memcpy(buffer + i * (unit / 8), &from[i * step], unit / 8);
	}
}

/* A buffer of lines to registers. */
static void take_lines(const struct gt_ptx_tile *tile, const struct gt_ptx_warp *warp, const struct gt_ptx_lines *lines,
		       const unsigned char *buffer)
{
	uint64_t bits[UNITS_MAX];

	if (tile->by_columns == tile->fragment.by_columns) {
		gt_ptx_write_runs(&tile->fragment, warp, buffer, lines->bytes);
		return;
	}
	switch (lines->unit) {
	case 8: read_lines(tile, lines, buffer, bits, 8); break;
	case 16: read_lines(tile, lines, buffer, bits, 16); break;
	case 32: read_lines(tile, lines, buffer, bits, 32); break;
	default: read_lines(tile, lines, buffer, bits, 64);
	}
	gt_ptx_fragment_scatter(&tile->fragment, warp, bits);
}

/* And back. */
static void give_lines(const struct gt_ptx_tile *tile, const struct gt_ptx_warp *warp, const struct gt_ptx_lines *lines,
		       unsigned char *buffer)
{
	uint64_t bits[UNITS_MAX];

	if (tile->by_columns == tile->fragment.by_columns) {
		gt_ptx_read_runs(&tile->fragment, warp, buffer, lines->bytes);
		return;
	}
	gt_ptx_fragment_gather(&tile->fragment, warp, bits);
	switch (lines->unit) {
	case 16: write_lines(tile, lines, buffer, bits, 16); break;
	case 32: write_lines(tile, lines, buffer, bits, 32); break;
	default: write_lines(tile, lines, buffer, bits, 64);
	}
}

GT_INLINE const struct gt_ptx_op *load_tile(GT_STEP_ARGUMENTS, bool alike)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	_Alignas(uint64_t) unsigned char buffer[GT_PTX_LINES_MAX];
	struct gt_ptx_lines lines;

	if (!find_lines(warp, op, mask, alike, &lines))
		return NULL;
	const unsigned char *place = tile->by_columns == tile->fragment.by_columns ? place_of(warp, op, &lines) : NULL;
	if (place) {
		gt_ptx_write_runs(&tile->fragment, warp, place, lines.pitch);
		return op + 1;
	}
	if (!move_pieces(warp, op, &lines, buffer))
		return NULL;
	take_lines(tile, warp, &lines, buffer);
	return op + 1;
}

GT_INLINE const struct gt_ptx_op *store_tile(GT_STEP_ARGUMENTS, bool alike)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	_Alignas(uint64_t) unsigned char buffer[GT_PTX_LINES_MAX];
	struct gt_ptx_lines lines;

	if (!find_lines(warp, op, mask, alike, &lines))
		return NULL;
	give_lines(tile, warp, &lines, buffer);
	return move_pieces(warp, op, &lines, buffer) ? op + 1 : NULL;
}

#define TILE(TARGET, VARIANT, ID)                                                                              \
	TARGET GT_STEP_HEAD(ID##VARIANT)                                                                       \
	{                                                                                                      \
		return ID(warp, op, mask, are_alike##VARIANT(warp, (const struct gt_ptx_tile *)op->with.access)); \
	}
GT_VARIANTS(TILE, load_tile)
GT_VARIANTS(TILE, store_tile)

gt_ptx_step *gt_ptx_tile_step(bool stores)
{
	static gt_ptx_step *const loads[] = GT_STEPS(load_tile), *const others[] = GT_STEPS(store_tile);

	return (stores ? others : loads)[gt_ptx_simd_variant()];
}

const struct gt_ptx_matrix_steps gt_ptx_matrix_steps = {
	.load = load_matrices,
	.store = store_matrices,
	.transpose = step_transpose,
};
