/* SPDX-License-Identifier: MIT */
/* wmma.load, wmma.store: a matrix in memory, line by line (rows or columns), to and from a fragment.
 *
 * Which lane accesses what, PTX leaves open, and GPUs differ. Here each byte of the matrix is accessed once, in pieces of
 * up to 16 bytes a lane; successive lanes go down the lines, as those of ldmatrix do. */
#include <string.h>

#include "ptx/exec/access.h"
#include "ptx/exec/matrix.h"

#define PIECE_MAX 16
#define TILE_MAX  1024 /* bytes: 32 x 16 elements of 16 bits, or 16 x 16 of 32 */
#define UNITS_MAX 512

/* The value of a slot of 32- or 64-bit lanes, the same in all; false after a fault. */
static bool common_value(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t slot, bool narrow,
			 const char *what, uint64_t *value)
{
	const uint32_t *words = gt_ptx_lanes(warp, slot);
	const uint64_t *wide = gt_ptx_lanes(warp, slot);

	*value = narrow ? words[0] : wide[0];
	for (unsigned lane = 1; lane < GT_WARP_SIZE; lane++)
		if ((narrow ? words[lane] : wide[lane]) != *value) {
			gt_ptx_fault(warp, op, lane, "a lane of wmma has another %s than the first", what);
			return false;
		}
	return true;
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

static bool find_lines(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, struct gt_ptx_lines *lines)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	uint64_t address, stride;

	if (!common_value(warp, op, tile->base.address, tile->base.narrow, "address", &address) ||
	    !common_value(warp, op, tile->stride, false, "stride", &stride))
		return false;
	address += (uint64_t)tile->base.offset;
	gt_ptx_tile_lines(tile, tile->base.narrow ? (uint32_t)address : address, stride, lines);
	return true;
}

/* Copies the tile between memory and a buffer of its lines, one behind the other. */
static bool move_pieces(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_lines *lines,
			unsigned char *buffer)
{
	const unsigned pieces = lines->n * lines->bytes / lines->piece;
	const bool stores = op->with.access->action == GT_STORE;
	uint64_t *addresses = gt_ptx_lanes(warp, op->with.access->address);
	unsigned char *places[GT_WARP_SIZE];
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
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			unsigned char *there = gt_ptx_place_of(&reach, lane);
			memcpy(stores ? there : places[lane], stores ? places[lane] : there, lines->piece);
		}
	}
	return true;
}

/* Where the first unit of a line lies in the matrix, row by row, and how far apart they are. */
static unsigned first_of(const struct gt_ptx_tile *tile, unsigned line, unsigned *step)
{
	*step = tile->by_columns ? tile->fragment.columns : 1;
	return tile->by_columns ? line : line * tile->fragment.columns;
}

/* From a buffer of lines to the matrix. */
GT_INLINE void read_lines(const struct gt_ptx_tile *tile, const struct gt_ptx_lines *lines, const unsigned char *buffer,
			  uint64_t *bits, const unsigned unit)
{
	for (unsigned line = 0, step; line < lines->n; line++, buffer += lines->bytes) {
		uint64_t *to = bits + first_of(tile, line, &step);
		for (unsigned i = 0; i < 8 * lines->bytes / unit; i++) {
			uint64_t value = 0;
			if (unit < 8)
				value = buffer[i / 2] >> i % 2 * 4 & 15;
			else
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

const struct gt_ptx_op *gt_ptx_load_tile(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	unsigned char buffer[TILE_MAX];
	uint64_t bits[UNITS_MAX];
	struct gt_ptx_lines lines;

	if (!gt_ptx_whole_warp(warp, op, mask) || !find_lines(warp, op, &lines) || !move_pieces(warp, op, &lines, buffer))
		return NULL;
	switch (lines.unit) {
	case 4: read_lines(tile, &lines, buffer, bits, 4); break;
	case 8: read_lines(tile, &lines, buffer, bits, 8); break;
	case 16: read_lines(tile, &lines, buffer, bits, 16); break;
	case 32: read_lines(tile, &lines, buffer, bits, 32); break;
	default: read_lines(tile, &lines, buffer, bits, 64);
	}
	gt_ptx_fragment_scatter(&tile->fragment, warp, bits);
	return op + 1;
}

const struct gt_ptx_op *gt_ptx_store_tile(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_tile *tile = (const struct gt_ptx_tile *)op->with.access;
	unsigned char buffer[TILE_MAX];
	uint64_t bits[UNITS_MAX];
	struct gt_ptx_lines lines;

	if (!gt_ptx_whole_warp(warp, op, mask) || !find_lines(warp, op, &lines))
		return NULL;
	gt_ptx_fragment_gather(&tile->fragment, warp, bits);
	switch (lines.unit) {
	case 16: write_lines(tile, &lines, buffer, bits, 16); break;
	case 32: write_lines(tile, &lines, buffer, bits, 32); break;
	default: write_lines(tile, &lines, buffer, bits, 64);
	}
	return move_pieces(warp, op, &lines, buffer) ? op + 1 : NULL;
}
