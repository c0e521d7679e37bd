/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "schedule/recent.h"

#include "gpu/parameter.h"

/* ---- lines ---- */

void gt_recent_close(struct recent *recent)
{
	if (!recent)
		return;
	free(recent->lines);
	free(recent->slots);
	free(recent->log);
	free(recent);
}

struct recent *gt_recent_open(uint32_t capacity, struct gt_error *error)
{
	struct recent *recent = calloc(1, sizeof *recent);
	uint32_t slots = 1;

	while (slots < 2 * (uint64_t)capacity && slots < UINT32_C(1) << 29)
		slots *= 2;
	if (recent) {
		recent->lines = calloc((size_t)capacity + 1, sizeof *recent->lines);
		recent->slots = calloc(slots, sizeof *recent->slots);
		recent->log = malloc(2 * (size_t)slots * sizeof *recent->log);
	}
	if (!recent || !recent->lines || !recent->slots || !recent->log) {
		gt_recent_close(recent);
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	recent->capacity = capacity;
	recent->mask = slots - 1;
	recent->log_mask = 2 * slots - 1;
	recent->head = recent->tail = 2; /* a line that has not been used has 0 */
	return recent;
}

/* Takes uses out of the log that are not the last ones of their lines. */
static void trim(struct recent *recent)
{
	uint64_t end = recent->head;

	for (uint64_t at = recent->head; at < recent->tail; at++) {
		uint32_t number = recent->log[at & recent->log_mask];
		if (recent->lines[number].used != at)
			continue;
		recent->log[end & recent->log_mask] = number;
		recent->lines[number].used = end++;
	}
	recent->tail = end;
}

static void note_use(struct recent *recent, uint32_t number)
{
	struct recent_line *line = &recent->lines[number];

	if (line->used + 1 == recent->tail)
		return;
	if (recent->tail - recent->head > recent->log_mask)
		trim(recent);
	recent->log[recent->tail & recent->log_mask] = number;
	line->used = recent->tail++;
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

	while (number != 0 && (recent->lines[number].tag ^ address) > RECENT_SECTORS)
		number = recent->lines[number].next;
	return number;
}

static struct recent_line *recent_find(struct recent *recent, uint64_t address)
{
	uint32_t number = recent_number(recent, address);

	return number ? &recent->lines[number] : NULL;
}

struct recent_line *gt_recent_use(struct recent *recent, uint64_t address)
{
	uint32_t *slot = recent_slot(recent, address), number = recent_number(recent, address);

	if (number == 0) {
		number = recent->n < recent->capacity ? ++recent->n : give_way(recent);
		recent->lines[number] = (struct recent_line){.tag = address, .next = *slot};
		*slot = number;
	}
	note_use(recent, number);
	return &recent->lines[number];
}

/* ---- L2 ---- */

void gt_l2_close(struct shared_l2 *l2)
{
	gt_recent_close(l2->parts[0]);
	gt_recent_close(l2->parts[1]);
}

int gt_l2_open(struct shared_l2 *l2, const struct gt_issue_times *times, struct gt_error *error)
{
	size_t partitions = times->spread.partitions ? 2 : 1;

	l2->times = times;
	for (size_t i = 0; i < partitions; i++)
		if (!(l2->parts[i] = gt_recent_open((uint32_t)later(times->l2_bytes / GT_LINE / partitions, 1), error)))
			return -1;
	return 0;
}

/* When sectors are there that their home is asked for. Data under way to L2 is waited for. */
static uint64_t ask_home(const struct shared_l2 *l2, struct recent *home, uint64_t address, uint8_t sectors, uint64_t now)
{
	struct recent_line *line = gt_recent_use(home, address);
	uint8_t absent = (uint8_t)(sectors & ~line->tag);

	if (absent) {
		line->tag |= recent_fetched(absent, l2->times->l2_fetch);
		line->filled = later(line->filled, now + l2->times->dram);
	}
	return later(line->filled, now + l2->times->l2);
}

/* The same of an SM, whose partition of L2 is asked first if there are two, and then has a copy of what the other has. */
uint64_t gt_l2_ask(const struct shared_l2 *l2, uint32_t sm, uint64_t address, uint8_t sectors, uint64_t now)
{
	const struct gt_spread *spread = &l2->times->spread;
	unsigned home = spread->partitions ? gt_spread_home(address / GT_LINE) : 0, side = spread->partitions ? gt_spread_side(sm) : 0;
	struct recent_line *copy = side != home ? recent_find(l2->parts[side], address) : NULL, *far = NULL;
	uint8_t absent = copy ? (uint8_t)(sectors & ~copy->tag) : sectors, copied = 0;
	uint64_t there = now + l2->times->l2;

	if (side != home && absent && (far = recent_find(l2->parts[home], address)))
		copied = (uint8_t)far->tag & absent;
	if (absent)
		there = ask_home(l2, l2->parts[home], address, absent, now);
	if (copied)
		there += spread->far;
	if (copy || copied)
		copy = gt_recent_use(l2->parts[side], address);
	if (copied) {
		copy->tag |= copied;
		copy->filled = later(copy->filled, there);
	}
	if (copy)
		there = later(there, copy->filled);
	int64_t more = gt_spread_cycles(spread, sm, address / GT_LINE);
	return more < 0 && (uint64_t)-more > there - now ? now : there + (uint64_t)more;
}

/* What is stored is in L2 from now on, in its home alone. */
void gt_l2_store(const struct shared_l2 *l2, uint64_t address, uint8_t sectors)
{
	unsigned home = l2->parts[1] ? gt_spread_home(address / GT_LINE) : 0;

	gt_recent_use(l2->parts[home], address)->tag |= sectors;
	struct recent_line *copy = l2->parts[1] ? recent_find(l2->parts[1 - home], address) : NULL;
	if (copy)
		copy->tag &= ~(uint64_t)sectors;
}

