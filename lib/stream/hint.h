/* SPDX-License-Identifier: MIT */
/* Two more codes of a row, which are 0 in most: the hint, what an instruction asks of the caches besides its access, in the terms of
 * the PTX ISA; and the work, what a warp did between its previous access and this one, for models of time. */
#ifndef GT_STREAM_HINT_H
#define GT_STREAM_HINT_H

#include <stdbool.h>
#include <stdint.h>

/* The hint. Bits 0-2: its priority in L1; bits 3-5: in L2; bits 6-7: how much L2 is to fetch; bits 8-10: what is done instead of
 * an access. Zero asks for nothing. */

/* When a line is evicted, relative to the others of its set. UNCHANGED: neither the line's priority nor its
 * place changes. NO_ALLOCATE, in L1 only: a miss allocates no line. */
enum gt_priority {
	GT_PRIORITY_NONE,
	GT_EVICT_NORMAL,
	GT_EVICT_UNCHANGED,
	GT_EVICT_FIRST,
	GT_EVICT_LAST,
	GT_NO_ALLOCATE,
	GT_PRIORITIES
};

/* No lane loads or stores data: whole lines are fetched, lose the data written to them, or change their
 * priority. */
enum gt_line_action {
	GT_ACCESS_DATA,
	GT_PREFETCH_L1,
	GT_PREFETCH_L2,
	GT_DISCARD_L2,
	GT_APPLY_PRIORITY_L2,
	GT_LINE_ACTIONS
};

enum gt_fetch_size { GT_FETCH_NONE, GT_FETCH_64, GT_FETCH_128, GT_FETCH_256 };

#define GT_HINT_TEXT 96 /* bytes that hold any hint's text form */

static inline uint16_t gt_hint(enum gt_priority l1, enum gt_priority l2, enum gt_fetch_size fetch,
			       enum gt_line_action action)
{
	return (uint16_t)((unsigned)l1 | (unsigned)l2 << 3 | (unsigned)fetch << 6 | (unsigned)action << 8);
}

static inline enum gt_priority gt_hint_l1(uint16_t hint) { return (enum gt_priority)(hint & 7); }
static inline enum gt_priority gt_hint_l2(uint16_t hint) { return (enum gt_priority)(hint >> 3 & 7); }
/* Bytes that L2 is to fetch on a miss, aligned; 0: its usual size. */
static inline unsigned gt_hint_fetch(uint16_t hint) { return hint >> 6 & 3 ? 32U << (hint >> 6 & 3) : 0; }
static inline enum gt_line_action gt_hint_action(uint16_t hint) { return (enum gt_line_action)(hint >> 8 & 7); }

/* False for a hint with an undefined value. */
static inline bool gt_hint_valid(uint16_t hint)
{
	return hint >> 8 < GT_LINE_ACTIONS && gt_hint_l1(hint) < GT_PRIORITIES && gt_hint_l2(hint) < GT_NO_ALLOCATE;
}

/* "none", or its parts with commas between: L1::evict_first, L2::evict_last, L2::128B, prefetch.L1,
 * prefetch.L2, discard.L2, applypriority.L2; into at least GT_HINT_TEXT bytes; returns the buffer. */
const char *gt_hint_format(uint16_t hint, char *buffer);

/* The inverse. Returns 0, or -1 if the text names no hint. */
int gt_hint_parse(const char *text, uint16_t *hint);

/* The work, since the warp's previous access. Accesses to shared memory are no previous ones, since coalescing leaves them
 * out. */

#define GT_WORK_INSTRUCTIONS UINT32_C(0xffff) /* and more */
#define GT_WORK_BARRIERS     UINT32_C(0x7fff) /* and more */

/* Instructions that it issued, this one not counted; barriers of its block that it passed; and whether it needs the data of
 * its earlier loads before it can go on to this access. */
static inline uint32_t gt_work(uint64_t instructions, uint32_t barriers, bool waits)
{
	uint32_t n = instructions < GT_WORK_INSTRUCTIONS ? (uint32_t)instructions : GT_WORK_INSTRUCTIONS;

	return n | (barriers < GT_WORK_BARRIERS ? barriers : GT_WORK_BARRIERS) << 16 | (uint32_t)waits << 31;
}

static inline uint32_t gt_work_instructions(uint32_t work)
{
	return work & GT_WORK_INSTRUCTIONS;
}
static inline uint32_t gt_work_barriers(uint32_t work)
{
	return work >> 16 & GT_WORK_BARRIERS;
}
static inline bool gt_work_waits(uint32_t work)
{
	return work >> 31;
}

/* The column shared: the warp's accesses to shared memory since then, and the passes of the banks that they take. */

#define GT_SHARED_MOST UINT32_C(0xffff) /* of each, and more */

static inline uint32_t gt_shared_work(uint64_t accesses, uint64_t passes)
{
	return (uint32_t)(accesses < GT_SHARED_MOST ? accesses : GT_SHARED_MOST) |
	       (uint32_t)(passes < GT_SHARED_MOST ? passes : GT_SHARED_MOST) << 16;
}

static inline uint32_t gt_shared_accesses(uint32_t shared)
{
	return shared & GT_SHARED_MOST;
}
static inline uint32_t gt_shared_passes(uint32_t shared)
{
	return shared >> 16;
}

#endif
