/* SPDX-License-Identifier: MIT */
#include "cache/leaders.h"

#include "base/wide.h"
#include "stream/op.h"

/* Everything of an op but its space. */
#define NOT_SPACE 0xe3

/* Sets repeats[i] to 1 if row first + i repeats the one before it, else to 0; returns the sectors of those that do. */
GT_WIDE static uint64_t find_repeats(const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
				     uint8_t *restrict repeats)
{
	const uint64_t *address = rows->address + first;
	const uint8_t *op = rows->op + first, *sectors = rows->sectors + first;
	const uint8_t plain = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	uint16_t sum = 0;

	repeats[0] = 0;
	for (size_t i = 1; i < n; i++)
		repeats[i] = address[i] == address[i - 1];
	for (size_t i = 1; i < n; i++)
		repeats[i] = (uint8_t)(repeats[i] & (op[i] == op[i - 1]) & ((op[i] & NOT_SPACE) == plain) &
				       ((sectors[i] & ~sectors[i - 1] & 15) == 0));
	for (size_t i = 1; sm && i < n; i++)
		repeats[i] = (uint8_t)(repeats[i] & (sm[first + i] == sm[first + i - 1]));
	for (size_t i = 1; i < n; i++) {
		uint8_t pairs = (uint8_t)((sectors[i] & 5) + (sectors[i] >> 1 & 5));
		sum = (uint16_t)(sum + repeats[i] * ((pairs & 3) + (pairs >> 2)));
	}
	return sum;
}

void gt_leaders_find(struct gt_leaders *leaders, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		     bool repeats_hit)
{
	uint8_t repeats[GT_LEADERS_ROWS] = {0};

	leaders->n = 0;
	leaders->repeated = repeats_hit ? find_repeats(rows, sm, first, n, repeats) : 0;
	for (size_t i = 0; i < n; i++) {
		leaders->row[leaders->n] = (uint32_t)(first + i);
		leaders->n += !repeats[i];
	}
}
