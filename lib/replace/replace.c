/* SPDX-License-Identifier: MIT */
/* Replacement policies: which line leaves a full set. Of each policy the state of a slot (a way of a set), what a fill and a hit do to
 * it, and the choice of the victim, in one struct gt_policy; at the end their table. The lines themselves, and how recently they were
 * used, are in replace/tags.h. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/random.h"
#include "replace/replace.h"
#include "gpu/parameter.h"

/* Least recently used. */

static uint32_t lru_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	(void)replacement;
	return gt_tags_oldest(tags, set);
}

const struct gt_policy gt_policy_lru = {.name = "lru", .by_set = true, .by_recency = true, .victim = lru_victim};

/* One of the n lines least recently used, each with the same probability: beyond its size an H100's L1 keeps about what this keeps
 * (tests/reference/README.md). Where recency is a list, the state knows the slots of these n, the tail of the list: a line that is used
 * leaves it, and a victim is drawn when the tail is full again. Of the tail only its newest line is known by its place, up to which the
 * tail grows. The state of the set's i-th slot is the tail's i-th slot; the mark of a slot is its place in the tail, from 1, or 0. */

static uint32_t *tail_of_set(const struct gt_tags *tags, uint32_t set)
{
	return (uint32_t *)tags->policy + gt_first_slot(tags->geometry, set);
}

static int tail_parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	const char *comma = argument ? strchr(argument, ',') : NULL;
	char number[32];
	uint64_t lines;
	int length = comma ? (int)(comma - argument) : 31;

	snprintf(number, sizeof number, "%.*s", length < 31 ? length : 31, argument ? argument : "");
	if (gt_parse_count(number, 1, UINT32_MAX, &lines, error) != 0)
		return gt_fail(error, "'tail:%.100s': expected a number of lines, such as tail:128", argument ? argument : "");
	replacement->tail = (uint32_t)lines;
	return comma ? gt_parse_count(comma + 1, 0, UINT64_MAX, &replacement->seed, error) : 0;
}

static void tail_forget(struct gt_tags *tags, struct gt_list_ends *ends, const uint32_t *tail)
{
	for (uint32_t i = 0; i < ends->tail_n; i++)
		*gt_slot_mark(tags, tail[i]) = 0;
	ends->tail_n = ends->tail_newest = 0;
}

/* The slot has another line, or its line was used. */
static void tail_leave(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t place = tags->geometry->recency == GT_RECENCY_LIST ? *gt_slot_mark(tags, slot) : 0;

	if (place == 0)
		return;
	struct gt_list_ends *ends = &tags->ends[set];
	uint32_t *tail = tail_of_set(tags, set);
	if (slot + 1 == ends->tail_newest) {
		tail_forget(tags, ends, tail);
		return;
	}
	uint32_t last = tail[--ends->tail_n];
	tail[place - 1] = last;
	*gt_slot_mark(tags, last) = place;
	*gt_slot_mark(tags, slot) = 0;
}

/* The slot + 1 by which the tail grows, or 0: lines have moved to the end of the list, which the tail does not know. */
static uint32_t tail_next(const struct gt_tags *tags, const struct gt_list_ends *ends)
{
	uint32_t next = ends->tail_newest ? gt_slot_links(tags, ends->tail_newest - 1)->newer : ends->older;

	return next && *gt_slot_mark(tags, next - 1) == 0 ? next : 0;
}

/* The newest slot of the tail leaves it; all do, if the slot before it in the list is not in the tail. */
static void tail_drop_newest(struct gt_tags *tags, struct gt_list_ends *ends, uint32_t *tail)
{
	const uint32_t slot = ends->tail_newest - 1, older = gt_slot_links(tags, slot)->older, place = *gt_slot_mark(tags, slot);

	if (older == 0 || *gt_slot_mark(tags, older - 1) == 0) {
		tail_forget(tags, ends, tail);
		return;
	}
	const uint32_t last = tail[--ends->tail_n];
	tail[place - 1] = last;
	*gt_slot_mark(tags, last) = place;
	*gt_slot_mark(tags, slot) = 0;
	ends->tail_newest = older;
}

/* Lines that have moved to the end of the list, as those of loads that stream, join the tail, and as many leave it at its other end: it need not be found
 * again for each of them. */
static void tail_take_end(struct gt_tags *tags, struct gt_list_ends *ends, uint32_t *tail, uint32_t length)
{
	uint32_t at = ends->older, n = 0;

	for (; at != 0 && *gt_slot_mark(tags, at - 1) == 0 && n < length; at = gt_slot_links(tags, at - 1)->newer)
		n++;
	if (n == length) /* nothing of it is left */
		tail_forget(tags, ends, tail);
	for (at = ends->older; ends->tail_n > 0 && n > 0; n--, at = gt_slot_links(tags, at - 1)->newer) {
		tail[ends->tail_n++] = at - 1;
		*gt_slot_mark(tags, at - 1) = ends->tail_n;
	}
	while (ends->tail_n > length)
		tail_drop_newest(tags, ends, tail);
}

static void tail_grow(struct gt_tags *tags, uint32_t set, uint32_t length)
{
	struct gt_list_ends *ends = &tags->ends[set];
	uint32_t *tail = tail_of_set(tags, set);

	if (ends->tail_n > 0)
		tail_take_end(tags, ends, tail, length);
	while (ends->tail_n < length) {
		uint32_t next = tail_next(tags, ends);
		if (next == 0) {
			tail_forget(tags, ends, tail);
			continue;
		}
		tail[ends->tail_n++] = next - 1;
		*gt_slot_mark(tags, next - 1) = ends->tail_n;
		ends->tail_newest = next;
	}
}

static uint32_t tail_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t ways = gt_ways_of(tags->geometry, set), n = replacement->tail < ways ? replacement->tail : ways;
	uint32_t drawn = gt_tail_draw(replacement, ways, &tags->random);

	if (tags->geometry->recency != GT_RECENCY_LIST)
		return gt_tags_at(tags, set, ways - 1 - drawn);
	tail_grow(tags, set, n);
	return tail_of_set(tags, set)[drawn];
}

const struct gt_policy gt_policy_tail = {.name = "tail", .by_recency = true, .parse = tail_parse, .slot_bytes = sizeof(uint32_t),
	.hit = tail_leave, .fill = tail_leave, .victim = tail_victim};

/* First in, first out. The state is the time at which each slot was filled. */

static void fifo_fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint64_t *filled = tags->policy;

	(void)set;
	filled[slot] = tags->clock++;
}

static uint32_t fifo_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	const uint64_t *filled = tags->policy;
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t oldest = first;

	(void)replacement;
	for (uint32_t slot = first; slot < first + ways; slot++)
		if (filled[slot] < filled[oldest])
			oldest = slot;
	return oldest;
}

const struct gt_policy gt_policy_fifo = {.name = "fifo", .slot_bytes = sizeof(uint64_t), .fill = fifo_fill,
	.victim = fifo_victim};

/* Least frequently used since the fill; among equals, the least recently used, or the lowest way. The state of a slot
 * is the number of its uses, including the fill, and the clock value of the last. */

struct frequency {
	uint64_t count, last;
};

static int lfu_parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	replacement->lowest_way = argument && strcmp(argument, "way") == 0;
	return !argument || replacement->lowest_way ? 0 : gt_fail(error, "'lfu:%.100s': expected lfu or lfu:way", argument);
}

static void lfu_hit(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct frequency *use = (struct frequency *)tags->policy + slot;

	(void)set;
	use->count++;
	use->last = tags->clock++;
}

static void lfu_fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	struct frequency *use = (struct frequency *)tags->policy + slot;

	use->count = 0;
	lfu_hit(tags, set, slot);
}

static uint32_t lfu_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	const struct frequency *uses = tags->policy;
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint32_t least = first;

	for (uint32_t slot = first + 1; slot < first + ways; slot++)
		if (uses[slot].count < uses[least].count ||
		    (!replacement->lowest_way && uses[slot].count == uses[least].count && uses[slot].last < uses[least].last))
			least = slot;
	return least;
}

const struct gt_policy gt_policy_lfu = {.name = "lfu", .counts_uses = true, .parse = lfu_parse, .slot_bytes = sizeof(struct frequency), .hit = lfu_hit,
	.fill = lfu_fill, .victim = lfu_victim};

/* Each way with the same probability. */

static int random_parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	return argument ? gt_parse_count(argument, 0, UINT64_MAX, &replacement->seed, error) : 0;
}

static uint32_t random_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint64_t ways = gt_ways_of(tags->geometry, set);

	(void)replacement;
	return gt_first_slot(tags->geometry, set) + (uint32_t)((gt_random(&tags->random) >> 32) * ways >> 32);
}

const struct gt_policy gt_policy_random = {.name = "random", .parse = random_parse, .victim = random_victim};

/* Each way has its own probability: Fermi's L1 replaces its four ways with 1/6, 1/2, 1/6 and 1/6 ([001] 4.2). */

static int expected(const char *text, struct gt_error *error)
{
	return gt_fail(error, "'%s': expected a probability for each way, such as weighted:1/6,1/2,1/6,1/6, "
			      "with a sum of 1", text ? text : "weighted");
}

/* A decimal number, or one divided by another. */
static int parse_weight(const char **at, double *weight)
{
	char *end;

	*weight = strtod(*at, &end);
	if (end == *at)
		return -1;
	if (*end == '/') {
		*at = end + 1;
		double divisor = strtod(*at, &end);
		if (end == *at || !(divisor > 0))
			return -1;
		*weight /= divisor;
	}
	*at = end;
	return *weight >= 0 && *weight <= 1 ? 0 : -1;
}

static int weighted_parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	const char *at = argument;
	double sum = 0, weight;

	if (!argument)
		return expected(argument, error);
	replacement->weights = 0;
	do {
		if (replacement->weights == GT_WEIGHTS_MAX || parse_weight(&at, &weight) != 0)
			return expected(argument, error);
		sum += weight;
		replacement->cumulative[replacement->weights++] = sum;
	} while (*at++ == ',');
	if (at[-1] != '\0' || fabs(sum - 1) > 1e-6)
		return expected(argument, error);
	return 0;
}

static int weighted_check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	return replacement->weights == ways ? 0 : gt_fail(error, "%u weights for %u ways", replacement->weights, ways);
}

static uint32_t weighted_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	double drawn = (double)(gt_random(&tags->random) >> 11) * 0x1p-53;
	uint32_t way = 0;

	while (way + 1 < replacement->weights && drawn >= replacement->cumulative[way])
		way++;
	return gt_first_slot(tags->geometry, set) + way;
}

const struct gt_policy gt_policy_weighted = {.name = "weighted", .parse = weighted_parse, .check = weighted_check, .victim = weighted_victim};

/* The ways in a fixed order, over and over: one way of Fermi's L1 "is updated every two cache misses" ([001] 4.2). The state
 * is the turn of each set, kept in its first slot. */

static int order_parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
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

static int order_check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	for (unsigned i = 0; i < replacement->turns; i++)
		if (replacement->order[i] >= ways)
			return gt_fail(error, "the order names way %u of %u", replacement->order[i] + 1U, ways);
	return 0;
}

static uint32_t order_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set);
	uint8_t *turn = (uint8_t *)tags->policy + first;
	uint32_t way = replacement->order[*turn];

	*turn = (uint8_t)((*turn + 1U) % replacement->turns);
	return first + way;
}

const struct gt_policy gt_policy_order = {.name = "order", .by_set = true, .parse = order_parse, .check = order_check, .slot_bytes = sizeof(uint8_t),
	.victim = order_victim};

/* Tree pseudo-LRU: a binary tree over the ways; each node points away from the half used last.
 * Node n has the children 2n and 2n+1, node 1 is the root; its direction is in the byte of slot
 * n of the set, 0 for left. */

static int plru_check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	(void)replacement;
	return (ways & (ways - 1)) == 0 ? 0 : gt_fail(error, "plru needs a power of two of ways, not %u", ways);
}

static void plru_touch(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint8_t *right = (uint8_t *)tags->policy + first;

	/* The leaf of a way is node ways + way. */
	for (uint32_t node = ways + slot - first; node > 1; node /= 2)
		right[node / 2] = (node & 1) == 0;
}

static uint32_t plru_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	const uint8_t *right = (const uint8_t *)tags->policy + first;
	uint32_t node = 1;

	(void)replacement;
	while (node < ways)
		node = 2 * node + right[node];
	return first + node - ways;
}

const struct gt_policy gt_policy_plru = {.name = "plru", .by_set = true, .check = plru_check, .slot_bytes = 1, .uses_sets = true, .hit = plru_touch,
	.fill = plru_touch, .victim = plru_victim};

/* Static re-reference interval prediction with two bits and hit priority (Jaleel, Theobald, Steely,
 * Emer, ISCA 2010): a line is filled with a long interval, and a hit makes it near-immediate. The victim is the lowest way
 * with a distant interval; all are aged until there is one. */

enum { NEAR = 0, LONG = 2, DISTANT = 3 };

static void srrip_hit(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint8_t *interval = tags->policy;

	(void)set;
	interval[slot] = NEAR;
}

static void srrip_fill(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint8_t *interval = tags->policy;

	(void)set;
	interval[slot] = LONG;
}

static uint32_t srrip_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set);
	uint8_t *interval = (uint8_t *)tags->policy + first;
	uint32_t chosen = 0;

	(void)replacement;
	for (uint32_t way = 1; way < ways; way++)
		if (interval[way] > interval[chosen])
			chosen = way;
	uint8_t years = (uint8_t)(DISTANT - interval[chosen]);
	for (uint32_t way = 0; way < ways; way++)
		interval[way] = (uint8_t)(interval[way] + years);
	return first + chosen;
}

const struct gt_policy gt_policy_srrip = {.name = "srrip", .by_set = true, .counts_uses = true, .slot_bytes = 1, .hit = srrip_hit, .fill = srrip_fill, .victim = srrip_victim};

/* Belady (IBM Systems Journal 5, 1966): evicts the line whose next use is farthest away. The state is the next use of each
 * slot's line, set at its last use, and a heap of the ways of each set, the farthest first, since sets may have many ways.
 * A way whose line was dropped keeps its place; a set in which a victim is chosen has no such way. */

struct use {
	uint64_t next;
	/* XORed with their own index, so that all zero is a heap. */
	uint32_t place; /* of this way in the heap */
	uint32_t way;	/* that has this place */
};

static uint32_t way_at(const struct use *uses, uint32_t place)
{
	return uses[place].way ^ place;
}

static void opt_put(struct use *uses, uint32_t place, uint32_t way)
{
	uses[place].way = way ^ place;
	uses[way].place = place ^ way;
}

/* Whether a way is evicted before another; among equals the lower. */
static bool leaves_before(const struct use *uses, uint32_t left, uint32_t right)
{
	return uses[left].next != uses[right].next ? uses[left].next > uses[right].next : left < right;
}

static void opt_note(struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	uint32_t first = gt_first_slot(tags->geometry, set), ways = gt_ways_of(tags->geometry, set), way = slot - first;
	struct use *uses = (struct use *)tags->policy + first;
	uint32_t place = uses[way].place ^ way;

	uses[way].next = tags->next_use[(*gt_slot_tag(tags, slot) - 1) & tags->next_mask];
	for (; place > 0 && leaves_before(uses, way, way_at(uses, (place - 1) / 2)); place = (place - 1) / 2)
		opt_put(uses, place, way_at(uses, (place - 1) / 2));
	for (uint32_t child; (child = 2 * place + 1) < ways; place = child) {
		child += child + 1 < ways && leaves_before(uses, way_at(uses, child + 1), way_at(uses, child));
		if (leaves_before(uses, way, way_at(uses, child)))
			break;
		opt_put(uses, place, way_at(uses, child));
	}
	opt_put(uses, place, way);
}

static uint32_t opt_victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	uint32_t first = gt_first_slot(tags->geometry, set);

	(void)replacement;
	return first + way_at((const struct use *)tags->policy + first, 0);
}

const struct gt_policy gt_policy_opt = {.name = "opt", .looks_ahead = true,
	.slot_bytes = sizeof(struct use), .uses_sets = true, .hit = opt_note, .fill = opt_note, .victim = opt_victim};

/* The policies by name. */

#define ADDRESS(NAME) &gt_policy_##NAME,

const struct gt_policy *const gt_policies[] = {GT_POLICIES(ADDRESS)};
const size_t gt_policies_n = sizeof gt_policies / sizeof gt_policies[0];

int gt_replacement_parse(const char *text, struct gt_replacement *replacement, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	const char *argument = text[length] ? text + length + 1 : NULL;

	for (size_t i = 0; i < gt_policies_n; i++) {
		const struct gt_policy *policy = gt_policies[i];
		if (strlen(policy->name) != length || strncmp(policy->name, text, length) != 0)
			continue;
		if (argument && !policy->parse)
			return gt_fail(error, "'%s': %s takes no argument", text, policy->name);
		replacement->policy = policy;
		return policy->parse ? policy->parse(replacement, argument, error) : 0;
	}
	return gt_fail(error, "'%s': expected %s", text, gt_parameters[GT_LEVEL_REPLACE].choices);
}
