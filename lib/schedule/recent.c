/* SPDX-License-Identifier: MIT */
#include "schedule/recent.h"

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

struct recent *gt_recent_open(struct gt_arena *arena, uint32_t capacity, struct gt_error *error)
{
	struct recent *recent = gt_arena_take(arena, sizeof *recent);
	uint32_t slots = power_from(later(2 * (uint64_t)capacity, 8)), log = 2 * slots;

	if (recent) {
		recent->slots = gt_arena_take(arena, slots * sizeof *recent->slots);
		recent->lines = gt_arena_take(arena, ((size_t)capacity + 1) * sizeof *recent->lines);
		recent->log = gt_arena_take(arena, (size_t)log * sizeof *recent->log);
		recent->times = gt_arena_take(arena, ((size_t)capacity + 1) * sizeof *recent->times);
	}
	if (!recent || !recent->lines || !recent->slots || !recent->log || !recent->times) {
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	recent->capacity = capacity;
	recent->mask = slots - 1;
	recent->log_mask = log - 1;
	return recent;
}

void gt_recent_trim(struct recent *recent)
{
	uint32_t end = recent->head;

	for (uint32_t at = recent->head; at != recent->tail; at++) {
		uint32_t number = recent->log[at & recent->log_mask];
		if (recent->lines[number].used != at)
			continue;
		recent->log[end & recent->log_mask] = number;
		recent->lines[number].used = end++;
	}
	recent->tail = end;
}

/* The place of the oldest line, whose address is forgotten. */
static uint32_t give_way(struct recent *recent)
{
	while (recent->lines[recent->log[recent->head & recent->log_mask]].used != recent->head)
		recent->head++;
	uint32_t oldest = recent->log[recent->head++ & recent->log_mask];
	const struct recent_line *line = &recent->lines[oldest];
	uint32_t *at = recent_slot(recent, line->tag);

	while (*at != oldest)
		at = &recent->lines[*at].next;
	*at = line->next;
	return oldest;
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
		if (!(l2->parts[i] = gt_recent_open(arena, (uint32_t)later(times->l2_bytes / GT_LINE / partitions, 1), error)))
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
	unsigned home = spread->partitions ? gt_spread_home(address / GT_LINE) : 0, side = spread->partitions ? gt_spread_side(sm) : 0;
	struct recent *mine = l2->parts[side], *others = l2->parts[home];
	uint32_t copy = side != home ? recent_number(mine, address) : 0, far = 0;
	uint8_t absent = copy ? (uint8_t)(sectors & ~mine->lines[copy].tag) : sectors, copied = 0;
	uint64_t there = now + l2->times->l2;

	if (side != home && absent && (far = recent_number(others, address)))
		copied = (uint8_t)others->lines[far].tag & absent;
	if (absent)
		there = ask_home(l2, others, address, absent, now);
	if (copied)
		there += spread->far;
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

/* What is stored is in L2 from now on, in its home alone. */
void gt_l2_store(const struct shared_l2 *l2, uint64_t address, uint8_t sectors)
{
	unsigned home = l2->parts[1] ? gt_spread_home(address / GT_LINE) : 0;
	uint32_t number = gt_recent_use(l2->parts[home], address), copy;

	l2->parts[home]->lines[number].tag |= sectors;
	if (l2->parts[1] && (copy = recent_number(l2->parts[1 - home], address)))
		l2->parts[1 - home]->lines[copy].tag &= ~(uint64_t)sectors;
}
