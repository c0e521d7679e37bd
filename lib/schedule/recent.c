/* SPDX-License-Identifier: MIT */
#include "schedule/recent.h"

#include <stdlib.h>

#include "base/hash.h"
#include "stream/rows.h"

struct recent *gt_recent_open(uint32_t capacity, struct gt_error *error)
{
	struct recent *recent = calloc(1, sizeof *recent);
	uint32_t slots = 1;

	while (slots < 2 * (uint64_t)capacity && slots < UINT32_C(1) << 31)
		slots *= 2;
	if (recent) {
		recent->lines = calloc((size_t)capacity + 1, sizeof *recent->lines);
		recent->slots = calloc(slots, sizeof *recent->slots);
	}
	if (!recent || !recent->lines || !recent->slots) {
		gt_recent_close(recent);
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	recent->capacity = capacity;
	recent->mask = slots - 1;
	return recent;
}

void gt_recent_close(struct recent *recent)
{
	if (!recent)
		return;
	free(recent->lines);
	free(recent->slots);
	free(recent);
}

static uint32_t *slot_of(struct recent *recent, uint64_t address)
{
	return &recent->slots[gt_fibonacci(address / GT_LINE) >> 32 & recent->mask];
}

static void take_out(struct recent *recent, const struct recent_line *line)
{
	recent->lines[line->newer].older = line->older;
	recent->lines[line->older].newer = line->newer;
}

static void put_first(struct recent *recent, uint32_t number)
{
	struct recent_line *lines = recent->lines, *line = &lines[number];

	line->newer = 0;
	line->older = lines[0].older;
	lines[line->older].newer = number;
	lines[0].older = number;
}

/* The place of the oldest line, whose address is forgotten. */
static uint32_t give_way(struct recent *recent)
{
	uint32_t oldest = recent->lines[0].newer;
	struct recent_line *line = &recent->lines[oldest];
	uint32_t *at = slot_of(recent, line->address);

	while (*at != oldest)
		at = &recent->lines[*at].next;
	*at = line->next;
	take_out(recent, line);
	return oldest;
}

struct recent_line *gt_recent_use(struct recent *recent, uint64_t address)
{
	uint32_t *slot = slot_of(recent, address), number = *slot;

	while (number != 0 && recent->lines[number].address != address)
		number = recent->lines[number].next;
	if (number == 0) {
		number = recent->n < recent->capacity ? ++recent->n : give_way(recent);
		recent->lines[number] = (struct recent_line){.address = address, .next = *slot};
		*slot = number;
	} else {
		take_out(recent, &recent->lines[number]);
	}
	put_first(recent, number);
	return &recent->lines[number];
}
