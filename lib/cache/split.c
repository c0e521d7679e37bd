/* SPDX-License-Identifier: MIT */
/* Requests are for sectors of GT_SECTOR bytes in lines of GT_LINE; a level may have other sizes. */
#include "cache/serve.h"

/* From n stream sectors, the first of which is number `first` of the line, to the level's
 * sectors: those touched, or those of which every byte is in the mask. */
static uint64_t own_sectors(const struct gt_level *level, unsigned mask, unsigned first, bool whole)
{
	unsigned shift = level->sector_shift, group = 1U << shift;
	uint64_t own = 0;

	if (shift == 0)
		return (uint64_t)mask << first;
	if (whole && group > GT_PIECES_MAX)
		return 0;
	unsigned step = group < GT_PIECES_MAX ? group : GT_PIECES_MAX, all = (1U << step) - 1;
	for (unsigned i = 0; i < GT_PIECES_MAX; i += step) {
		unsigned part = mask >> i & all;
		if (whole ? part == all : part != 0)
			own |= UINT64_C(1) << ((first + i) >> shift);
	}
	return own;
}

unsigned gt_level_split_unusual(const struct gt_level *level, const struct gt_request *request,
				struct gt_piece pieces[GT_PIECES_MAX])
{
	unsigned sectors = request->sectors & 15, full = request->full & sectors;
	uint64_t address = request->address, bytes = level->config.line;
	unsigned width = bytes < GT_LINE ? (unsigned)bytes / GT_SECTOR : GT_PIECES_MAX, n = 0;
	unsigned first = (unsigned)((address & (bytes - 1)) / GT_SECTOR);

	for (unsigned at = 0; at < GT_PIECES_MAX; at += width) {
		unsigned all = ((1U << width) - 1) << at;
		if ((sectors & all) == 0)
			continue;
		pieces[n++] = (struct gt_piece){
			.line = (address + at * GT_SECTOR) >> level->line_shift,
			.used = own_sectors(level, (sectors & all) >> at, first, false),
			.full = own_sectors(level, (full & all) >> at, first, true),
			.stream_sectors = (uint8_t)(sectors & all), .stream_full = (uint8_t)(full & all)};
	}
	return n;
}
