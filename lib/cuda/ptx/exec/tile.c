/* SPDX-License-Identifier: MIT */
/* wmma.load, wmma.store: a matrix in memory, line by line (rows or columns), to and from a fragment.
 *
 * Which lane accesses what, PTX leaves open, and GPUs differ. Here each byte of the matrix is accessed once, in pieces of
 * up to 16 bytes a lane; successive lanes go down the lines, as those of ldmatrix do. */
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/runs.h"

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
	if (traced & GT_PTX_NOTES_SPIN || traced >> gt_ptx_traced_space[reach.space] & 1)
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
