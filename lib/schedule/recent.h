/* SPDX-License-Identifier: MIT */
/* How long requests take, for the order of issue by time: an L1 of each SM and the L2 of all, as the lines and sectors that were used
 * last. What a cache really holds is decided by gcache, which serves the requests in the order that comes of this. */
#ifndef GT_SCHEDULE_RECENT_H
#define GT_SCHEDULE_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/pages.h"
#include "base/wide.h"
#include "schedule/schedule.h"
#include "stream/rows.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- the machine's own cache ---- */

#define MACHINE_LINE 64 /* bytes of a line of the machine's cache */

GT_INLINE void prefetch_bytes(const void *begin, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += MACHINE_LINE)
		__builtin_prefetch((const char *)begin + at, 1);
	if (bytes > 0)
		__builtin_prefetch((const char *)begin + bytes - 1, 1);
}

/* What the lowest bits of a tag say of a line; the others are its address. */
#define RECENT_SECTORS 0xfU /* those that are valid, those under way too */
#define RECENT_ASKED 0x10U  /* of an L1: L2 is asked for it in this window, and its time is the number of the last such ask */
#define RECENT_TIMED 0x20U  /* else its time says when the last sector that was fetched is there */

/* The lines that were used last, as many as a cache holds. Their order of use is a log of uses, of which a line's last one counts: so
 * a use touches one line and not its neighbours in the order, which are not in the machine's cache. Lines that were first used one
 * after the other have numbers that follow each other, so that a use is first looked for behind the one before it. */
struct recent_line {
	uint64_t tag;
	uint32_t used; /* its last use in the log, whose numbers begin anew after 2^32 */
	uint32_t next; /* in its slot's list */
};

/* Lines at even distances that one access used, and others will: so the warps of a block read a column. Such a use is one entry of the
 * log. A line is of one group at most, and its last use is that of its group unless an entry of its own is later. */
#define GROUP_LEAST 8 /* lines */
#define GROUP_MOST 32
#define GROUP_KEYS 64
#define RECENT_GROUP 0x80000000U /* in the log: the others say which */

struct recent_group {
	uint64_t base; /* of the first line */
	int32_t delta;
	uint32_t used; /* its last use in the log */
	uint32_t next; /* of those that are free */
	uint16_t n;
	uint8_t sectors; /* that all its lines have, and that are not under way; 0: not known */
	bool keyed;	 /* it can be found */
	bool logged;	 /* it has been used since it was made */
	uint32_t lines[GROUP_MOST];
};

struct recent {
	struct recent_line *lines; /* from 1 on */
	uint64_t *times; /* of the lines, apart from them since most uses need none */
	uint32_t *slots, mask;
	uint32_t n, capacity;
	uint32_t *log, log_mask; /* a ring of numbers of lines and groups */
	uint32_t head, tail;
	uint32_t last; /* the line that was used last */

	struct recent_group *groups; /* from 1 on; NULL: lines are used one by one */
	uint16_t *of;		     /* of each line its group; 0: none */
	uint16_t keys[GROUP_KEYS];   /* groups by the address of their first line */
	uint32_t n_groups, free;     /* made so far; the first that is free; 0: none */
};

/* Room for `capacity` lines, in the arena. NULL when memory is short. */
struct recent *gt_recent_open(struct gt_arena *arena, uint32_t capacity, bool in_groups, struct gt_error *error);

/* The number of the line of an address, as the newest; the oldest gives way to one that is not there, which has no valid sectors. */
uint32_t gt_recent_use(struct recent *recent, uint64_t address);

/* Takes uses out of the log that are not the last ones of their lines. */
void gt_recent_trim(struct recent *recent);

/* Makes a group of lines that have just been used, or says of one which sectors it has, if none of these is under way. */
void gt_recent_group(struct recent *recent, uint64_t base, int32_t delta, const uint32_t *lines, uint16_t n);

static inline bool recent_has_groups(const struct recent *recent, int32_t delta, uint16_t n)
{
	return n >= GROUP_LEAST && n <= GROUP_MOST && recent->groups && (delta >= GT_LINE || delta <= -GT_LINE);
}

static inline uint16_t *recent_key(struct recent *recent, uint64_t base)
{
	return &recent->keys[gt_fibonacci(base / GT_LINE) / (UINT64_MAX / GROUP_KEYS + 1)];
}

/* Uses sectors of all lines of a group, which are there and not under way; false: there is none, or it is not so. */
static inline bool recent_use_group(struct recent *recent, uint64_t base, int32_t delta, uint16_t n, uint8_t sectors)
{
	const uint16_t number = *recent_key(recent, base);
	struct recent_group *group = &recent->groups[number];

	if (number == 0 || group->base != base || group->delta != delta || group->n != n || sectors & ~group->sectors)
		return false;
	recent->last = group->lines[n - 1];
	if (group->logged && group->used + 1 == recent->tail)
		return true;
	if (recent->tail - recent->head > recent->log_mask)
		gt_recent_trim(recent);
	recent->log[recent->tail & recent->log_mask] = RECENT_GROUP | number;
	group->used = recent->tail++;
	group->logged = true;
	return true;
}

/* Sectors of a line are under way. */
static inline void recent_is_asked(struct recent *recent, uint32_t number)
{
	if (recent->groups)
		recent->groups[recent->of[number]].sectors = 0;
}

static inline void recent_note_use(struct recent *recent, uint32_t number)
{
	struct recent_line *line = &recent->lines[number];

	recent->last = number;
	if (line->used + 1 == recent->tail)
		return;
	if (recent->tail - recent->head > recent->log_mask)
		gt_recent_trim(recent);
	recent->log[recent->tail & recent->log_mask] = number;
	line->used = recent->tail++;
}

static inline bool recent_is_of(const struct recent_line *line, uint64_t address)
{
	return (line->tag ^ address) < GT_LINE;
}

/* Uses sectors that are in the line behind the one used last, and not under way; false: they are not there. */
static inline bool recent_use_next(struct recent *recent, uint64_t address, uint8_t sectors)
{
	const uint32_t number = recent->last + 1;
	const struct recent_line *line = &recent->lines[number];

	if (number > recent->n || !recent_is_of(line, address) || line->tag & (RECENT_ASKED | RECENT_TIMED) || sectors & ~line->tag)
		return false;
	recent_note_use(recent, number);
	return true;
}

/* When the last sector of a line that was fetched is there; 0 if no ask of another window has been for it. */
static inline uint64_t recent_time(const struct recent *recent, uint32_t number)
{
	return recent->lines[number].tag & RECENT_TIMED ? recent->times[number] : 0;
}

static inline void recent_set_time(struct recent *recent, uint32_t number, uint64_t time)
{
	recent->lines[number].tag |= RECENT_TIMED;
	recent->times[number] = time;
}

/* Eight lines that follow each other have slots side by side, in an order that depends on them: so lines at a power of two from each
 * other do not meet. */
static inline uint32_t *recent_slot(const struct recent *recent, uint64_t address)
{
	uint64_t line = address / GT_LINE, scattered = gt_fibonacci(line / 8);

	return &recent->slots[(scattered >> 32 << 3 | ((line ^ scattered >> 29) & 7)) & recent->mask];
}

/* Brings what a use of the address touches first into the machine's cache. */
GT_INLINE void recent_prefetch_slot(const struct recent *recent, uint64_t address)
{
	__builtin_prefetch(recent_slot(recent, address));
}

/* The sectors of a line that come with these if `bytes` are fetched at a time. */
static inline uint8_t recent_fetched(uint8_t sectors, uint64_t bytes)
{
	if (bytes >= GT_LINE)
		return sectors ? RECENT_SECTORS : 0;
	if (bytes < 2 * GT_SECTOR)
		return sectors;
	return (uint8_t)((sectors & 0x3 ? 0x3 : 0) | (sectors & 0xc ? 0xc : 0));
}

/* The L2 of all SMs. */
struct shared_l2 {
	const struct gt_issue_times *times;
	struct recent *parts[2]; /* by partition; NULL: there is one */
};

/* Returns 0, or -1 when memory is short. */
int gt_l2_open(struct shared_l2 *l2, struct gt_arena *arena, const struct gt_issue_times *times, struct gt_error *error);

/* When sectors are there that an SM asks for. */
uint64_t gt_l2_ask(const struct shared_l2 *l2, uint32_t sm, uint64_t address, uint8_t sectors, uint64_t now);

void gt_l2_store(const struct shared_l2 *l2, uint32_t sm, uint64_t address, uint8_t sectors);

#endif
