/* SPDX-License-Identifier: MIT */
/* Lanes that are at most a sector apart leave out no sector between the first and the last that they touch; they cover sectors
 * whole where none is farther from the next than the bytes it accesses. */
#include "coalesce/single.h"

#include <string.h>

#include "base/wide.h"
#include "stream/op.h"

/* As __builtin_popcount, in operations that a vector has. */
static inline uint32_t count_lanes(uint32_t mask)
{
	mask -= mask >> 1 & 0x55555555; /* counts of pairs, of fours, of eights */
	mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f;
	return mask * 0x01010101U >> 24;
}

/* A sector's number, which is too large only where the access is of another kind: then what is computed is not used. */
static inline uint32_t bounded(uint32_t sector)
{
	return sector & 7;
}

/* The sectors of a line from byte `start` up to byte `end`; and those of which every byte is between them. */
static inline uint32_t touched_sectors(uint32_t start, uint32_t end)
{
	return (2U << bounded((end - 1) / GT_SECTOR)) - (1U << start / GT_SECTOR);
}

static inline uint32_t whole_sectors(uint32_t start, uint32_t end)
{
	uint32_t from = (start + GT_SECTOR - 1) / GT_SECTOR, to = bounded(end / GT_SECTOR);

	return to > from ? (1U << to) - (1U << from) : 0;
}

/* Sets lines, sectors and threads of the requests. Returns false if some access is of another kind. */
GT_WIDE static bool find_lines(const struct gt_rows *from, size_t first, size_t n, struct gt_rows *to)
{
	const uint64_t *base = from->base + first;
	const int64_t *stride = from->stride + first;
	const uint32_t *mask = from->mask + first;
	const uint8_t *size = from->size + first, *op = from->op + first;
	uint64_t *restrict address = to->address + to->n;
	uint8_t *restrict sectors = to->sectors + to->n, *restrict full = to->full + to->n;
	uint8_t *restrict threads = to->threads + to->n;
	uint32_t other = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t lowest = mask[i] & (0 - mask[i]), count = count_lanes(mask[i]), apart = (uint32_t)stride[i];
		uint32_t start = (uint32_t)base[i] % GT_LINE, end = start + (count - 1) * apart + size[i];
		bool stores = (op[i] & 3) == GT_STORE, gaps = apart > size[i];
		other |= ((mask[i] + lowest) & mask[i]) | (uint32_t)((uint64_t)stride[i] > GT_SECTOR) |
			 (uint32_t)(end > GT_LINE) | (uint32_t)((op[i] >> 2 & 7) == GT_SHARED);
		address[i] = base[i] & ~(uint64_t)(GT_LINE - 1);
		sectors[i] = (uint8_t)touched_sectors(start, end);
		full[i] = stores && !gaps ? (uint8_t)whole_sectors(start, end) : 0;
		threads[i] = (uint8_t)count;
	}
	return other == 0;
}

/* Counts n requests. */
GT_WIDE static void count(const uint8_t *op, const uint8_t *sectors, size_t n, struct gt_single_counts *counts)
{
	const size_t some = 4096; /* whose sums fit into 16 bits */

	for (size_t i = 0; i < n; i += some)
		for (unsigned action = 0; action < 4; action++) {
			size_t end = n - i < some ? n : i + some;
			uint16_t accesses = 0, touched = 0;
			for (size_t k = i; k < end; k++) {
				uint8_t pairs = (uint8_t)((sectors[k] & 5) + (sectors[k] >> 1 & 5));
				uint8_t bits = (uint8_t)((pairs & 3) + (pairs >> 2));
				bool counts_here = (op[k] & 3) == action;
				accesses = (uint16_t)(accesses + counts_here);
				touched = (uint16_t)(touched + (counts_here ? bits : 0));
			}
			counts->accesses[action] += accesses;
			counts->sectors[action] += touched;
		}
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

bool gt_single_lines(const struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests,
		     struct gt_single_counts *counts)
{
	if (accesses->has_hints || !find_lines(accesses, first, n, requests))
		return false;
	copy_columns(accesses, first, n, requests);
	count(accesses->op + first, requests->sectors + requests->n, n, counts);
	requests->n += n;
	return true;
}
