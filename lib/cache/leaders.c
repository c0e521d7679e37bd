/* SPDX-License-Identifier: MIT */
#include "cache/leaders.h"

#include "base/wide.h"
#include "stream/op.h"
#include "stream/request.h"

/* Everything of an op but its space. */
#define NOT_SPACE 0xe3

#define SUMMED 32 /* rows whose sectors a byte can count */

/* The sectors of n rows that repeat, at most SUMMED. */
static inline uint8_t sum_sectors(const uint8_t *repeats, const uint8_t *sectors, size_t n)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + (gt_count_4(sectors[i]) & (uint8_t)-repeats[i]));
	return sum;
}

/* Sets repeats[i] to 1 if row first + i repeats the one before it, else to 0, and repeats[n] to either; returns the sectors of
 * those that do. Each loop compares n rows with the ones behind them, not n - 1: whole vectors. Behind the last row is room. */
GT_WIDE static uint64_t find_repeats(const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
				     uint8_t *restrict repeats)
{
	const uint64_t *address = rows->address + first;
	const uint8_t *op = rows->op + first, *sectors = rows->sectors + first;
	const uint8_t plain = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	uint8_t *restrict next = repeats + 1;
	uint64_t sum = 0;
	size_t i;

	repeats[0] = 0;
	for (i = 0; i < n; i++)
		next[i] = address[i + 1] == address[i];
	for (i = 0; i < n; i++)
		next[i] = op[i + 1] == op[i] ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(op[i] & NOT_SPACE) == plain ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(sectors[i + 1] & ~sectors[i] & 15) == 0 ? next[i] : 0;
	sm = sm ? sm + first : NULL;
	if (sm)
		for (i = 0; i < n; i++)
			next[i] &= sm[i + 1] == sm[i];
	for (i = 0; i + SUMMED <= n; i += SUMMED)
		sum += sum_sectors(repeats + i, sectors + i, SUMMED);
	return sum + sum_sectors(repeats + i, sectors + i, n - i);
}

void gt_leaders_find(struct gt_leaders *leaders, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		     bool repeats_hit)
{
	uint8_t repeats[GT_LEADERS_ROWS + 1] = {0};

	leaders->n = 0;
	leaders->repeated = repeats_hit ? find_repeats(rows, sm, first, n, repeats) : 0;
	for (size_t i = 0; i < n; i++) {
		leaders->row[leaders->n] = (uint32_t)(first + i);
		leaders->n += !repeats[i];
	}
}
