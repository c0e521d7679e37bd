/* SPDX-License-Identifier: MIT */
#include "schedule/recent.h"

#include <string.h>

#include "gpu/parameter.h"

/* ---- lines ---- */

/* The least power of two that is not below a number, of at most 2^29. */
static uint32_t power_from(uint64_t number)
{
	uint32_t power = 1;

	while (power < number && power < UINT32_C(1) << 29)
		power *= 2;
	return power;
}

/* Without them where all lines could be those of one access. */
static int open_groups(struct recent *recent, struct gt_arena *arena)
{
	size_t groups = recent->capacity / GROUP_LEAST < UINT16_MAX ? recent->capacity / GROUP_LEAST : UINT16_MAX;

	if (recent->capacity < 2 * GROUP_MOST)
		return 0;
	recent->groups = gt_arena_take(arena, (groups + 1) * sizeof *recent->groups);
	recent->of = gt_arena_zeroed(arena, ((size_t)recent->capacity + 1) * sizeof *recent->of);
	if (!recent->groups || !recent->of)
		return -1;
	recent->groups[0] = (struct recent_group){0};
	return 0;
}

struct recent *gt_recent_open(struct gt_arena *arena, uint32_t capacity, bool in_groups, struct gt_error *error)
{
	struct recent *recent = gt_arena_zeroed(arena, sizeof *recent);
	uint32_t slots = power_from(later(2 * (uint64_t)capacity, 8)), log = 2 * slots;

	if (recent) {
		recent->slots = gt_arena_zeroed(arena, slots * sizeof *recent->slots);
		recent->lines = gt_arena_take(arena, ((size_t)capacity + 1) * sizeof *recent->lines);
		recent->log = gt_arena_take(arena, (size_t)log * sizeof *recent->log);
		recent->times = gt_arena_take(arena, ((size_t)capacity + 1) * sizeof *recent->times);
	}
	if (recent)
		recent->capacity = capacity;
	if (!recent || !recent->lines || !recent->slots || !recent->log || !recent->times || (in_groups && open_groups(recent, arena) != 0)) {
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	recent->mask = slots - 1;
	recent->log_mask = log - 1;
	return recent;
}

/* Whether one place in the log comes after another. */
static bool is_after(uint32_t place, uint32_t other)
{
	return (int32_t)(place - other) > 0;
}

/* Whether the last use of a line was that of this group. */
static bool is_used_by(const struct recent *recent, uint32_t number, uint32_t group)
{
	return recent->of[number] == group && !is_after(recent->lines[number].used, recent->groups[group].used);
}

/* Whether an entry of the log is the last use of what it names. */
static bool is_last_use(const struct recent *recent, uint32_t entry, uint32_t at)
{
	if (entry & RECENT_GROUP)
		return recent->groups[entry & ~RECENT_GROUP].used == at;
	if (recent->lines[entry].used != at)
		return false;
	const struct recent_group *group = recent->groups ? &recent->groups[recent->of[entry]] : NULL;
	return !group || !group->logged || !is_after(group->used, at);
}

/* The group is one no more, and its lines are not of it. */
static void give_up(struct recent *recent, uint32_t number)
{
	struct recent_group *group = &recent->groups[number];

	for (uint16_t i = 0; i < group->n; i++)
		if (recent->of[group->lines[i]] == number)
			recent->of[group->lines[i]] = 0;
	*group = (struct recent_group){.next = recent->free};
	recent->free = number;
}

/* No access will use it any more. It is given up when no line was used last by it. */
static void forget(struct recent *recent, uint32_t number)
{
	struct recent_group *group = &recent->groups[number];

	if (group->keyed)
		*recent_key(recent, group->base) = 0;
	group->keyed = false;
	if (!group->logged)
		give_up(recent, number);
}

/* Moves a group to a place in the log, and says of the lines that were used last by it that they were used before. Returns how many. */
static unsigned move_group(struct recent *recent, uint32_t number, uint32_t to)
{
	struct recent_group *group = &recent->groups[number];
	unsigned n = 0;

	for (uint16_t i = 0; i < group->n; i++)
		if (is_used_by(recent, group->lines[i], number)) {
			recent->lines[group->lines[i]].used = to - 1;
			n++;
		}
	group->used = to;
	return n;
}

void gt_recent_trim(struct recent *recent)
{
	uint32_t end = recent->head;

	for (uint32_t at = recent->head; at != recent->tail; at++) {
		uint32_t entry = recent->log[at & recent->log_mask], group = entry & ~RECENT_GROUP;
		if (!is_last_use(recent, entry, at))
			continue;
		if (!(entry & RECENT_GROUP)) {
			recent->lines[entry].used = end;
		} else if (move_group(recent, group, end) == 0 && !recent->groups[group].keyed) {
			give_up(recent, group);
			continue;
		}
		recent->log[end++ & recent->log_mask] = entry;
	}
	recent->tail = end;
}

/* The line of a group that was used first of those that were used last by it; 0: there is none. */
static uint32_t first_of(const struct recent *recent, uint32_t number)
{
	const struct recent_group *group = &recent->groups[number];

	for (uint16_t i = 0; i < group->n; i++)
		if (is_used_by(recent, group->lines[i], number))
			return group->lines[i];
	return 0;
}

/* The line that was used first of all. */
static uint32_t oldest_line(struct recent *recent)
{
	for (;; recent->head++) {
		uint32_t entry = recent->log[recent->head & recent->log_mask], oldest = entry;
		if (!is_last_use(recent, entry, recent->head))
			continue;
		if (entry & RECENT_GROUP) {
			forget(recent, entry & ~RECENT_GROUP);
			oldest = first_of(recent, entry & ~RECENT_GROUP);
		}
		if (oldest != 0)
			return oldest;
		give_up(recent, entry & ~RECENT_GROUP);
	}
}

#define OLDEST_AHEAD 8 /* entries of the log that are brought into the machine's cache */

/* Brings what those lines touch that give way soon: first the line, later its slot. In the order of their use they are far from each other. */
static inline void foresee_oldest(const struct recent *recent)
{
	if (recent->tail - recent->head <= OLDEST_AHEAD)
		return;
	const uint32_t far = recent->log[(recent->head + OLDEST_AHEAD) & recent->log_mask];
	const uint32_t near = recent->log[(recent->head + OLDEST_AHEAD / 2) & recent->log_mask];
	if (!(far & RECENT_GROUP))
		__builtin_prefetch(&recent->lines[far], 1);
	if (!(near & RECENT_GROUP))
		recent_prefetch_slot(recent, recent->lines[near].tag);
}

/* The place of the oldest line, whose address is forgotten. */
static uint32_t give_way(struct recent *recent)
{
	foresee_oldest(recent);
	uint32_t oldest = oldest_line(recent);
	const struct recent_line *line = &recent->lines[oldest];
	uint32_t *at = recent_slot(recent, line->tag);

	if (recent->groups && recent->of[oldest] != 0) {
		forget(recent, recent->of[oldest]);
		recent->of[oldest] = 0;
	}
	while (*at != oldest)
		at = &recent->lines[*at].next;
	*at = line->next;
	return oldest;
}

/* A group without lines; 0: there is none. */
static uint32_t new_group(struct recent *recent)
{
	uint32_t number = recent->free;

	if (number != 0)
		recent->free = recent->groups[number].next;
	else if (recent->n_groups < recent->capacity / GROUP_LEAST && recent->n_groups < UINT16_MAX)
		number = ++recent->n_groups;
	return number;
}

/* Whether a group of n lines is part of another, since the rows of an access were cut. */
static bool is_part_of(const struct recent_group *group, uint16_t n)
{
	return group->keyed && group->n > n;
}

void gt_recent_group(struct recent *recent, uint64_t base, int32_t delta, const uint32_t *lines, uint16_t n)
{
	uint16_t *key = recent_key(recent, base);
	struct recent_group *group = &recent->groups[*key];
	uint8_t sectors = RECENT_SECTORS;

	for (uint16_t i = 0; i < n; i++)
		sectors = recent->lines[lines[i]].tag & (RECENT_ASKED | RECENT_TIMED) ? 0 : sectors & (uint8_t)recent->lines[lines[i]].tag;
	if (sectors == 0)
		return;
	if (*key != 0 && group->base == base && group->delta == delta && group->n == n) {
		group->sectors = sectors;
		return;
	}
	for (size_t i = 0; i < n; i += n - 1U)
		if (is_part_of(&recent->groups[recent->of[lines[i]]], n))
			return;
	if (*key != 0)
		forget(recent, *key);
	/* Their own uses are later than those of other groups, so they can leave these. */
	for (uint16_t i = 0; i < n; i++)
		if (recent->of[lines[i]] != 0)
			forget(recent, recent->of[lines[i]]);
	uint32_t number = new_group(recent);
	if (number == 0)
		return;
	group = &recent->groups[number];
	*group = (struct recent_group){.base = base, .delta = delta, .n = n, .sectors = sectors, .keyed = true};
	memcpy(group->lines, lines, n * sizeof *lines);
	for (uint16_t i = 0; i < n; i++)
		recent->of[lines[i]] = (uint16_t)number;
	*key = (uint16_t)number;
}

/* The number of the line of an address; 0: it is not there. */
static uint32_t recent_number(const struct recent *recent, uint64_t address)
{
	uint32_t number = *recent_slot(recent, address);

	while (number != 0 && !recent_is_of(&recent->lines[number], address))
		number = recent->lines[number].next;
	return number;
}

/* Where it is not behind the one before. */
static uint32_t use_another(struct recent *recent, uint64_t address)
{
	uint32_t number = recent_number(recent, address);

	if (number == 0) {
		number = recent->n < recent->capacity ? ++recent->n : give_way(recent);
		uint32_t *slot = recent_slot(recent, address);
		recent->lines[number] = (struct recent_line){.tag = address, .used = recent->tail, .next = *slot};
		*slot = number;
	}
	return number;
}

uint32_t gt_recent_use(struct recent *recent, uint64_t address)
{
	uint32_t number = recent->last + 1;

	if (number > recent->n || !recent_is_of(&recent->lines[number], address))
		number = use_another(recent, address);
	recent_note_use(recent, number);
	return number;
}

/* ---- L2 ---- */

int gt_l2_open(struct shared_l2 *l2, struct gt_arena *arena, const struct gt_issue_times *times, struct gt_error *error)
{
	size_t partitions = times->spread.partitions ? 2 : 1;

	l2->times = times;
	for (size_t i = 0; i < partitions; i++)
		if (!(l2->parts[i] = gt_recent_open(arena, (uint32_t)later(times->l2_bytes / GT_LINE / partitions, 1), false, error)))
			return -1;
	return 0;
}

/* When sectors are there that their home is asked for. Data under way to L2 is waited for. */
static uint64_t ask_home(const struct shared_l2 *l2, struct recent *home, uint64_t address, uint8_t sectors, uint64_t now)
{
	uint32_t number = gt_recent_use(home, address);
	struct recent_line *line = &home->lines[number];
	uint8_t absent = (uint8_t)(sectors & ~line->tag);

	if (absent) {
		line->tag |= recent_fetched(absent, l2->times->l2_fetch);
		recent_set_time(home, number, later(recent_time(home, number), now + l2->times->dram));
	}
	return later(recent_time(home, number), now + l2->times->l2);
}

/* The same of an SM, whose partition of L2 is asked first if there are two, and then has a copy of what the other has. */
uint64_t gt_l2_ask(const struct shared_l2 *l2, uint32_t sm, uint64_t address, uint8_t sectors, uint64_t now)
{
	const struct gt_spread *spread = &l2->times->spread;
	unsigned home = spread->partitions ? gt_spread_home(address / GT_LINE) : 0, side = spread->partitions ? gt_spread_side(spread, sm) : 0;
	struct recent *mine = l2->parts[side], *others = l2->parts[home];
	uint32_t copy = side != home ? recent_number(mine, address) : 0;
	uint8_t absent = copy ? (uint8_t)(sectors & ~mine->lines[copy].tag) : sectors, copied = 0;
	uint64_t there = now + l2->times->l2;

	if (absent)
		there = ask_home(l2, others, address, absent, now);
	if (absent && side != home) {
		copied = (uint8_t)(recent_fetched(absent, l2->times->l2_fetch) & others->lines[recent_number(others, address)].tag);
		there += spread->far;
	}
	if (copy || copied)
		copy = gt_recent_use(mine, address);
	if (copied) {
		mine->lines[copy].tag |= copied;
		recent_set_time(mine, copy, later(recent_time(mine, copy), there));
	}
	if (copy)
		there = later(there, recent_time(mine, copy));
	int64_t more = gt_spread_cycles(spread, sm, address / GT_LINE);
	return more < 0 && (uint64_t)-more > there - now ? now : there + (uint64_t)more;
}

/* What is stored is in L2 from now on, in its home; a copy in the partition of the SM is changed with it, one in the other is not valid any more. */
void gt_l2_store(const struct shared_l2 *l2, uint32_t sm, uint64_t address, uint8_t sectors)
{
	unsigned home = l2->parts[1] ? gt_spread_home(address / GT_LINE) : 0;
	uint32_t number = gt_recent_use(l2->parts[home], address), copy;

	l2->parts[home]->lines[number].tag |= sectors;
	if (l2->parts[1] && gt_spread_side(&l2->times->spread, sm) == home && (copy = recent_number(l2->parts[1 - home], address)))
		l2->parts[1 - home]->lines[copy].tag &= ~(uint64_t)sectors;
}
