/* SPDX-License-Identifier: MIT */
/* The ways in a fixed order, over and over: one way of Fermi's L1 "is updated every two cache misses" ([001] 4.2). The state
 * is the turn of each set, kept in its first slot. */
#include <stdlib.h>

#include "cache/replace/replace.h"

static int parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	const char *at = argument;
	char *end;

	replacement->turns = 0;
	while (at && replacement->turns < GT_TURNS_MAX && *at >= '0' && *at <= '9') {
		unsigned long way = strtoul(at, &end, 10);

		if (way < 1 || way > UINT16_MAX)
			break;
		replacement->order[replacement->turns++] = (uint16_t)(way - 1);
		if (*end == '\0')
			return 0;
		at = *end == ',' ? end + 1 : NULL;
	}
	return gt_fail(error, "'%s': expected up to %u ways, counted from 1, such as order:2,1,2,3,2,4", argument ? argument : "order",
		       GT_TURNS_MAX);
}

static int check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	for (unsigned i = 0; i < replacement->turns; i++)
		if (replacement->order[i] >= ways)
			return gt_fail(error, "the order names way %u of %u", replacement->order[i] + 1U, ways);
	return 0;
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set);
	uint8_t *turn = (uint8_t *)tags->policy + first;
	uint32_t way = replacement->order[*turn];

	*turn = (uint8_t)((*turn + 1U) % replacement->turns);
	return first + way;
}

const struct gt_policy gt_policy_order = {.name = "order", .by_set = true, .parse = parse, .check = check, .slot_bytes = sizeof(uint8_t),
	.victim = victim};
