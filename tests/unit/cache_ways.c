/* SPDX-License-Identifier: MIT */
/* The operations of sets whose ways stand in order, against the same done one way at a time; what clearing leaves, and the
 * lines that the policy tail replaces. */
#include "replace/tags.h"

#include <string.h>

#include "base/random.h"
#include "cache_names.h"
#include "check.h"
#include "replace/replace.h"

#define WAYS_MAX 8

static uint64_t state;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)((gt_random(&state) >> 32) * limit >> 32);
}

static void a_line_moves_to_the_first_way(void)
{
	for (uint32_t ways = 1; ways <= WAYS_MAX; ways++)
		for (uint32_t way = 0; way < ways; way++) {
			uint64_t words[WAYS_MAX + GT_WAYS_SLACK], words_before[WAYS_MAX + GT_WAYS_SLACK];
			uint32_t states[WAYS_MAX + GT_WAYS_SLACK], states_before[WAYS_MAX + GT_WAYS_SLACK];
			for (uint32_t i = 0; i < WAYS_MAX + GT_WAYS_SLACK; i++) {
				words[i] = words_before[i] = gt_random(&state);
				states[i] = states_before[i] = (uint32_t)gt_random(&state);
			}
			gt_ways_put_words(words, ways, way, 77);
			gt_ways_put_states(states, ways, way, 78);
			for (uint32_t i = 0; i < WAYS_MAX + GT_WAYS_SLACK; i++) {
				uint32_t from = i == 0 || i > way ? i : i - 1;
				CHECK_EQUAL(words[i], i == 0 ? 77 : words_before[from]);
				CHECK_EQUAL(states[i], i == 0 ? 78 : states_before[from]);
			}
		}
}

static void a_state_tells_what_is_invalid_and_how_deep(void)
{
	for (unsigned round = 0; round < 10000; round++) {
		uint8_t bytes[4];
		uint32_t word, position = below(WAYS_MAX), invalid = 0;
		for (unsigned sector = 0; sector < 4; sector++) {
			bytes[sector] = below(3) == 0 ? GT_SECTOR_INVALID : (uint8_t)below(WAYS_MAX);
			invalid |= (uint32_t)(bytes[sector] == GT_SECTOR_INVALID) << sector;
		}
		word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
		CHECK_EQUAL(gt_state_invalid(word), invalid);
		uint32_t deeper = gt_state_deepen(word, position);
		for (unsigned sector = 0; sector < 4; sector++)
			CHECK_EQUAL(deeper >> 8 * sector & 255, bytes[sector] > position ? bytes[sector] : position);
	}
}

#define SETS 200
#define LINES_OF_SET 700

/* Uses some sets of a cache: fills, drops, stores and ranks. */
static void use_some(struct gt_tags *tags, uint32_t some)
{
	struct gt_error error;

	for (unsigned round = 0; round < 3000; round++) {
		uint32_t set = below(some) * 7 % SETS;
		uint64_t line = set + (uint64_t)SETS * below(LINES_OF_SET);
		uint32_t slot = gt_tags_find(tags, set, line);
		if (slot == GT_NO_SLOT) {
			uint32_t vacant = gt_tags_vacant(tags, set);
			slot = gt_tags_fill(tags, set, vacant == GT_NO_SLOT ? gt_tags_oldest(tags, set) : vacant, line);
		} else {
			gt_tags_touch(tags, set, &slot);
		}
		*gt_slot_dirty(tags, slot) = below(16);
		CHECK_EQUAL(gt_tags_hold(tags, slot, below(16), &error), 0);
		CHECK_EQUAL(gt_tags_rank(tags, slot, (uint8_t)below(3), &error), 0);
		if (below(5) == 0)
			gt_tags_drop(tags, set, slot);
	}
}

static void check_order(const struct gt_tags *tags, const struct gt_tags *fresh)
{
	const struct gt_geometry *geometry = tags->geometry;

	if (tags->nibbles)
		CHECK(memcmp(tags->nibbles, fresh->nibbles, geometry->sets * sizeof *tags->nibbles) == 0);
	if (tags->bytes)
		CHECK(memcmp(tags->bytes, fresh->bytes, geometry->slots) == 0);
	if (tags->ends)
		CHECK(memcmp(tags->ends, fresh->ends, geometry->sets * sizeof *tags->ends) == 0);
	if (tags->finder.heads)
		CHECK(memcmp(tags->finder.heads, fresh->finder.heads, (UINT64_C(1) << (64 - tags->finder.shift)) * sizeof *tags->finder.heads) == 0);
}

static void check_as_new(const struct gt_tags *tags, const struct gt_tags *fresh)
{
	const struct gt_geometry *geometry = tags->geometry;

	CHECK(memcmp(tags->vacancy, fresh->vacancy, geometry->sets * sizeof *tags->vacancy) == 0);
	CHECK_EQUAL(gt_tags_used(tags, 0), geometry->sets);
	for (uint32_t slot = 0; slot < geometry->slots; slot++)
		CHECK(*gt_slot_tag(tags, slot) == 0 && *gt_slot_dirty(tags, slot) == 0 && tags->rank[slot] == GT_RANK_NORMAL &&
		      (!tags->held || tags->held[slot] == 0));
	check_order(tags, fresh);
}

static void a_cleared_cache_is_as_a_new_one(void)
{
	static const uint32_t forms[] = {4, 16, 40, 300};
	uint32_t ways[SETS];
	struct gt_error error;

	for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
		for (uint32_t some = 1; some <= SETS; some = some * 3 + 1) {
			struct gt_geometry geometry;
			struct gt_tags tags, fresh;
			for (uint32_t set = 0; set < SETS; set++)
				ways[set] = forms[form] + (form == 2 ? set % 3 : 0);
			CHECK_EQUAL(gt_geometry_open(&geometry, ways, SETS, 4, false, true, &error), 0);
			CHECK_EQUAL(gt_tags_open(&tags, &geometry, NULL, 1, &error) | gt_tags_open(&fresh, &geometry, NULL, 1, &error), 0);
			use_some(&tags, some);
			CHECK(gt_tags_used(&tags, 0) < SETS);
			gt_tags_clear(&tags);
			check_as_new(&tags, &fresh);
			gt_tags_close(&tags);
			gt_tags_close(&fresh);
			gt_geometry_close(&geometry);
		}
}

/* Uses lines of some sets, of which not all become full, under a policy. */
static void use_under(struct gt_tags *tags, const struct gt_replacement *replacement, uint32_t some)
{
	const struct gt_policy *policy = replacement->policy;

	for (unsigned round = 0; round < 3000; round++) {
		uint32_t set = below(some) * 7 % SETS;
		uint64_t line = set + (uint64_t)SETS * below(set % 2 ? LINES_OF_SET : 9), next = gt_random(&state);
		uint32_t slot = gt_tags_find(tags, set, line);
		tags->next_use = &next;
		if (slot == GT_NO_SLOT) {
			slot = gt_tags_vacant(tags, set);
			slot = gt_tags_fill(tags, set, slot == GT_NO_SLOT ? policy->victim(tags, set, replacement) : slot, line);
			if (policy->fill)
				policy->fill(tags, set, slot);
		} else {
			gt_tags_touch(tags, set, &slot);
			if (policy->hit)
				policy->hit(tags, set, slot);
		}
	}
}

static void clearing_takes_what_a_policy_keeps_of_lines(void)
{
	static const uint32_t forms[] = {4, 16, 64, 512};
	uint32_t ways[SETS];
	struct gt_error error;

	for (size_t at = 0; at < gt_policies_n * 4; at++) {
		struct gt_replacement replacement = {0};
		struct gt_geometry geometry;
		struct gt_tags tags;
		CHECK_EQUAL(gt_replacement_parse(policy_text(at / 4), &replacement, &error), 0);
		const struct gt_policy *policy = replacement.policy;
		if (policy->check && policy->check(&replacement, forms[at % 4], &error) != 0)
			continue;
		for (uint32_t set = 0; set < SETS; set++)
			ways[set] = forms[at % 4];
		CHECK_EQUAL(gt_geometry_open(&geometry, ways, SETS, 4, false, false, &error), 0);
		CHECK_EQUAL(gt_tags_open(&tags, &geometry, policy, 1, &error), 0);
		use_under(&tags, &replacement, SETS / 3);
		gt_tags_clear(&tags);
		CHECK_EQUAL(gt_tags_used(&tags, 0), SETS);
		for (size_t i = 0; i < geometry.slots * policy->slot_bytes; i++)
			CHECK(((const uint8_t *)tags.policy)[i] == 0);
		gt_tags_close(&tags);
		gt_geometry_close(&geometry);
	}
}

/* ---- the policy tail, in a set whose recency is a list, beside the order of its lines, the most recent first ---- */

#define TAIL 128
#define LINES 400

struct slow_order {
	uint64_t line[LINES];
	uint32_t n;
};

static void slow_remove(struct slow_order *order, uint64_t line)
{
	uint32_t at = 0;

	while (order->line[at] != line)
		at++;
	memmove(order->line + at, order->line + at + 1, (--order->n - at) * sizeof *order->line);
}

static void slow_put(struct slow_order *order, uint64_t line)
{
	memmove(order->line + 1, order->line, order->n++ * sizeof *order->line);
	order->line[0] = line;
}

/* How many lines of the order were used before the line. */
static uint32_t slow_older(const struct slow_order *order, uint64_t line)
{
	uint32_t at = 0;

	while (order->line[at] != line)
		at++;
	return order->n - 1 - at;
}

/* Uses one line. Returns how many are older than the one that it replaces, or LINES. */
static uint32_t use_line(struct gt_tags *tags, struct slow_order *order, const struct gt_replacement *tail, uint64_t line)
{
	uint32_t slot = gt_tags_find(tags, 0, line), older = LINES;

	if (slot != GT_NO_SLOT) {
		gt_tags_touch(tags, 0, &slot);
		tail->policy->hit(tags, 0, slot);
		slow_remove(order, line);
	} else {
		slot = gt_tags_vacant(tags, 0);
		if (slot == GT_NO_SLOT) {
			slot = tail->policy->victim(tags, 0, tail);
			older = slow_older(order, *gt_slot_tag(tags, slot) - 1);
			slow_remove(order, *gt_slot_tag(tags, slot) - 1);
		}
		slot = gt_tags_fill(tags, 0, slot, line);
		tail->policy->fill(tags, 0, slot);
	}
	slow_put(order, line);
	return older;
}

/* `moved`: lines are also dropped, and put at the end of the order, which the policy is not told. `streamed`: some are put there as soon as they were used,
 * all of them in some rounds. */
static void check_tail(uint32_t ways, bool moved, bool streamed)
{
	struct gt_replacement tail;
	struct gt_geometry geometry;
	struct gt_tags tags;
	struct gt_error error;
	struct slow_order order = {.n = 0};
	uint32_t chosen[LINES] = {0}, n = ways < TAIL ? ways : TAIL, victims = 0;

	CHECK_EQUAL(gt_replacement_parse("tail:128", &tail, &error), 0);
	CHECK_EQUAL(gt_geometry_open(&geometry, &ways, 1, 4, false, false, &error), 0);
	CHECK_EQUAL(gt_tags_open(&tags, &geometry, tail.policy, 1, &error), 0);
	for (unsigned round = 0; round < 100000; round++) {
		const uint64_t line = below(4) ? below(LINES) : round % LINES;
		uint32_t older = use_line(&tags, &order, &tail, line);
		if (streamed && below(1 + round / 10000 % 4) == 0) {
			slow_remove(&order, line);
			gt_tags_demote(&tags, 0, gt_tags_find(&tags, 0, line)), order.line[order.n++] = line;
		}
		if (moved && below(20) == 0) {
			uint64_t any = order.line[below(order.n)];
			uint32_t slot = gt_tags_find(&tags, 0, any);
			slow_remove(&order, any);
			if (below(2))
				gt_tags_drop(&tags, 0, slot);
			else
				gt_tags_demote(&tags, 0, slot), order.line[order.n++] = any;
		}
		if (older == LINES)
			continue;
		CHECK(older < (moved ? LINES : n));
		chosen[older]++;
		victims++;
	}
	for (uint32_t k = 0; k < n && !moved; k++) /* four standard deviations, and more */
		CHECK(chosen[k] > victims / n * 7 / 10 && chosen[k] < victims / n * 13 / 10);
	gt_tags_close(&tags);
	gt_geometry_close(&geometry);
}

static void tail_draws_evenly_from_the_lines_used_longest_ago(void)
{
	static const uint32_t ways[] = {300, 257, 256, 130, 60, 16, 5};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		check_tail(ways[i], false, false);
		check_tail(ways[i], true, false);
		check_tail(ways[i], false, true);
		check_tail(ways[i], true, true);
	}
}

int main(void)
{
	state = gt_random_state(1, 0);
	RUN(a_line_moves_to_the_first_way);
	RUN(a_state_tells_what_is_invalid_and_how_deep);
	RUN(a_cleared_cache_is_as_a_new_one);
	RUN(clearing_takes_what_a_policy_keeps_of_lines);
	RUN(tail_draws_evenly_from_the_lines_used_longest_ago);
	return check_report();
}
