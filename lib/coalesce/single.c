/* SPDX-License-Identifier: MIT */
/* Lanes that are at most a sector apart leave out no sector between the first and the last that they touch; they cover sectors
 * whole where none is farther from the next than the bytes it accesses. */
#include "coalesce/single.h"

#include <string.h>

#include "base/wide.h"
#include "stream/op.h"
#include "stream/request.h"

/* As __builtin_popcount, in operations that a vector has. */
static inline uint32_t count_lanes(uint32_t mask)
{
	mask -= mask >> 1 & 0x55555555; /* counts of pairs, of fours, of eights */
	mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f;
	return mask * 0x01010101U >> 24;
}

/* The sectors of a line that have a byte from `start` up to byte `end`; and those of which every byte is between them. In
 * comparisons of bytes, of which a vector has most. */
static inline uint8_t touched_sectors(uint8_t start, uint8_t end)
{
	uint8_t first = start < GT_SECTOR ? 1 : 0, second = start < 2 * GT_SECTOR ? 2 : 0, third = start < 3 * GT_SECTOR ? 4 : 0;

	second = end > GT_SECTOR ? second : 0;
	third = end > 2 * GT_SECTOR ? third : 0;
	return (uint8_t)(first | second | third | (end > 3 * GT_SECTOR ? 8 : 0));
}

static inline uint8_t whole_sectors(uint8_t start, uint8_t end)
{
	uint8_t first = start == 0 ? 1 : 0, second = start <= GT_SECTOR ? 2 : 0, third = start <= 2 * GT_SECTOR ? 4 : 0;
	uint8_t fourth = start <= 3 * GT_SECTOR ? 8 : 0;

	first = end >= GT_SECTOR ? first : 0;
	second = end >= 2 * GT_SECTOR ? second : 0;
	third = end >= 3 * GT_SECTOR ? third : 0;
	return (uint8_t)(first | second | third | (end >= GT_LINE ? fourth : 0));
}

/* Counts the lanes of each access. Returns false if those of some are not neighbours. */
GT_WIDE static bool find_lanes(const uint32_t *mask, size_t n, uint8_t *restrict lanes)
{
	uint32_t differs = 0, apart = 0;

	for (size_t i = 0; i < n; i++)
		differs |= mask[i] ^ mask[0];
	if (differs == 0) {
		memset(lanes, (int)count_lanes(mask[0]), n);
		return ((mask[0] + (mask[0] & (0 - mask[0]))) & mask[0]) == 0;
	}
	for (size_t i = 0; i < n; i++) {
		lanes[i] = (uint8_t)count_lanes(mask[i]);
		apart |= (mask[i] + (mask[i] & (0 - mask[i]))) & mask[i];
	}
	return apart == 0;
}

/* The part of its line that each access touches, from byte `start` up to byte `end`, if none is of another kind. */
struct parts {
	uint8_t start[GT_SINGLE_ROWS], end[GT_SINGLE_ROWS];
	uint8_t gaps[GT_SINGLE_ROWS]; /* some byte between two lanes is not touched */
};

/* Sets lines and threads of the requests. Returns false if some access is of another kind. */
GT_WIDE static bool find_lines(const struct gt_rows *from, size_t first, size_t n, struct gt_rows *to, struct parts *restrict parts)
{
	const uint64_t *base = from->base + first;
	const int64_t *stride = from->stride + first;
	const uint8_t *size = from->size + first, *op = from->op + first;
	uint64_t *restrict address = to->address + to->n;
	uint8_t *restrict lanes = to->threads + to->n, apart[GT_SINGLE_ROWS];
	uint64_t far = 0;
	uint16_t beyond = 0;
	uint8_t shared = 0;

	if (!find_lanes(from->mask + first, n, lanes))
		return false;
	for (size_t i = 0; i < n; i++)
		address[i] = base[i] & ~(uint64_t)(GT_LINE - 1);
	for (size_t i = 0; i < n; i++)
		parts->start[i] = (uint8_t)(base[i] % GT_LINE);
	for (size_t i = 0; i < n; i++)
		far |= (uint64_t)stride[i] > GT_SECTOR;
	for (size_t i = 0; i < n; i++)
		apart[i] = (uint8_t)stride[i];
	for (size_t i = 0; i < n; i++) {
		uint16_t end = (uint16_t)(parts->start[i] + (uint16_t)((lanes[i] - 1) * apart[i]) + size[i]);
		beyond |= end > GT_LINE;
		parts->end[i] = (uint8_t)end;
	}
	for (size_t i = 0; i < n; i++)
		parts->gaps[i] = apart[i] > size[i];
	for (size_t i = 0; i < n; i++)
		shared |= (op[i] & 0x1c) == GT_SHARED << 2;
	return !(far | beyond | shared);
}

/* Sets sectors of the requests, and those that a store covers. */
GT_WIDE static void find_sectors(const struct parts *parts, const uint8_t *op, size_t n, uint8_t *restrict sectors,
				 uint8_t *restrict full)
{
	uint8_t stores = 0;

	for (size_t i = 0; i < n; i++)
		sectors[i] = touched_sectors(parts->start[i], parts->end[i]);
	for (size_t i = 0; i < n; i++)
		stores |= (op[i] & 3) == GT_STORE;
	memset(full, 0, n);
	for (size_t i = 0; stores && i < n; i++)
		full[i] = (op[i] & 3) == GT_STORE && !parts->gaps[i] ? whole_sectors(parts->start[i], parts->end[i]) : 0;
}

/* Counts the requests of an action, and their sectors. */
static inline void count_action(const uint8_t *op, const uint8_t *sectors, size_t n, unsigned action, struct gt_single_counts *counts)
{
	const size_t some = 32; /* whose sums fit into a byte */

	for (size_t i = 0; i < n; i += some) {
		size_t end = n - i < some ? n : i + some;
		uint8_t accesses = 0, touched = 0;
		for (size_t k = i; k < end; k++) {
			uint8_t here = (op[k] & 3) == action ? 0xff : 0;
			accesses = (uint8_t)(accesses + (here & 1));
			touched = (uint8_t)(touched + (here & gt_count_4(sectors[k])));
		}
		counts->accesses[action] += accesses;
		counts->sectors[action] += touched;
	}
}

/* Counts n requests. */
GT_WIDE static void count(const uint8_t *op, const uint8_t *sectors, size_t n, struct gt_single_counts *counts)
{
	uint8_t differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (uint8_t)((op[i] ^ op[0]) & 3);
	for (unsigned action = 0; action < 4; action++)
		if (differs || action == (op[0] & 3U))
			count_action(op, sectors, n, action, counts);
}

/* Copies the columns that a request has from its access. */
static void copy_columns(const struct gt_rows *from, size_t first, size_t n, struct gt_rows *to)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (gt_column_present(from, column) && gt_column_present(to, column))
			memcpy((char *)gt_column_of(to, column) + to->n * column->width,
			       (const char *)gt_column_of(from, column) + first * column->width, n * column->width);
	}
}

bool gt_rule_whole_warps(const struct gt_coalescing_rule *rule)
{
	for (unsigned k = 0; k < GT_RULE_SIZES; k++)
		if (rule->group[k] != GT_WARP_SIZE)
			return false;
	return !rule->whole_lines;
}

bool gt_single_lines(const struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests,
		     struct gt_single_counts *counts)
{
	struct parts parts;

	if (accesses->has_hints || !find_lines(accesses, first, n, requests, &parts))
		return false;
	find_sectors(&parts, accesses->op + first, n, requests->sectors + requests->n, requests->full + requests->n);
	copy_columns(accesses, first, n, requests);
	count(accesses->op + first, requests->sectors + requests->n, n, counts);
	requests->n += n;
	return true;
}
