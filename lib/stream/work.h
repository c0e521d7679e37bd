/* SPDX-License-Identifier: MIT */
/* The column `work`: what a warp did between its previous access and this one, for models of time. Accesses to shared memory
 * are no previous ones, since coalescing leaves them out. */
#ifndef GT_STREAM_WORK_H
#define GT_STREAM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#define GT_WORK_INSTRUCTIONS UINT32_C(0xffff) /* and more */
#define GT_WORK_BARRIERS     UINT32_C(0x7fff) /* and more */
#define GT_WORK_TEXT 24 /* bytes of a text, with its final 0 */

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

/* As text: "5,0", or "5,1,waits". Parsing returns 0, or -1. */
const char *gt_work_format(uint32_t work, char buffer[GT_WORK_TEXT]);
int gt_work_parse(const char *text, uint32_t *work);

#endif
