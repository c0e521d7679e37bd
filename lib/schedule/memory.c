/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "schedule/memory.h"
#include "stream/op.h"
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

/* The line of an address, as the newest; the oldest gives way to one that is not there, which has no valid sectors. */
static struct recent_line *recent_use(struct recent *recent, uint64_t address)
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

#define SECTORS 0xfU

int gt_memory_open(struct memory *memory, const struct gt_issue_times *times, struct gt_error *error)
{
	memory->times = times;
	memory->l2 = gt_recent_open((uint32_t)(times->l2_bytes / GT_LINE), error);
	return memory->l2 ? 0 : -1;
}

void gt_memory_close(struct memory *memory)
{
	gt_recent_close(memory->l2);
	memory->l2 = NULL;
}

/* The sectors of a line that come with these if `bytes` are fetched at a time. */
static uint8_t fetched(uint8_t sectors, uint64_t bytes)
{
	if (bytes >= GT_LINE)
		return sectors ? SECTORS : 0;
	if (bytes < 2 * GT_SECTOR)
		return sectors;
	return (uint8_t)((sectors & 0x3 ? 0x3 : 0) | (sectors & 0xc ? 0xc : 0));
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* By how much an SM is nearer to the line's slice of L2 than to the farthest: hashes of the line, and of SM and slice. */
static uint64_t nearer(const struct gt_issue_times *times, uint32_t sm, uint64_t address)
{
	uint64_t slice = gt_random_state(0, address / GT_LINE) % times->slices;

	return times->l2_spread > 0 ? gt_random_state(1, sm * times->slices + slice) % (times->l2_spread + 1) : 0;
}

/* When sectors that an SM asks L2 for are there. Data under way to L2 is waited for. */
static uint64_t ask_l2(struct memory *memory, uint32_t sm, uint64_t address, uint8_t sectors, uint64_t now)
{
	const struct gt_issue_times *times = memory->times;
	struct recent_line *line = recent_use(memory->l2, address);
	uint8_t absent = (uint8_t)(sectors & ~line->valid);

	if (absent) {
		line->valid |= fetched(absent, times->l2_fetch);
		line->filled = later(line->filled, now + times->dram);
	}
	return later(line->filled, now + times->l2) + times->l2_spread / 2 - nearer(times, sm, address);
}

/* What a store writes is in L2 from now on, and in L1 if stores allocate there. */
static void store(struct memory *memory, struct recent *l1, const struct shape *shape, uint64_t address)
{
	if (l1 && memory->times->l1_stores)
		recent_use(l1, address)->valid |= (uint8_t)(shape->mask >> 8 & SECTORS);
	recent_use(memory->l2, address)->valid |= (uint8_t)(shape->mask & SECTORS);
}

uint64_t gt_memory_request(struct memory *memory, struct recent *l1, uint32_t sm, const struct shape *shape, uint64_t address,
			   uint64_t now)
{
	const struct gt_issue_times *times = memory->times;
	enum gt_operator said = gt_op_operator(shape->op);
	uint8_t sectors = (uint8_t)(shape->mask & SECTORS);

	if (gt_op_action(shape->op) == GT_STORE) {
		store(memory, l1, shape, address);
		return now;
	}
	if (!l1 || gt_op_action(shape->op) != GT_LOAD || said == GT_CG || said == GT_CV)
		return ask_l2(memory, sm, address, sectors, now);
	struct recent_line *line = recent_use(l1, address);
	uint8_t missing = fetched((uint8_t)(sectors & ~line->valid), times->l1_sector);
	uint64_t filled = sectors & line->valid ? line->filled : 0;
	if (missing) {
		filled = later(filled, ask_l2(memory, sm, address, missing, now));
		line->valid |= missing;
		line->filled = later(line->filled, filled);
	}
	return later(filled, now + times->l1);
}
