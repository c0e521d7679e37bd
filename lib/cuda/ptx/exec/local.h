/* SPDX-License-Identifier: MIT */
/* The local memory of a thread: the variables of all functions that are under way. */
#ifndef GT_PTX_LOCAL_H
#define GT_PTX_LOCAL_H

#include "cuda/ptx/exec/code.h"

/* The same for an access that the running path's last one does not settle. */
bool gt_ptx_find_local(const struct gt_ptx_warp *warp, uint64_t at, uint64_t bytes);

/* Whether [at, at + bytes) of local memory, as the running path sees it, lies in one variable, which is tried first from now on. */
static inline bool gt_ptx_in_local(const struct gt_ptx_warp *warp, uint64_t at, uint64_t bytes)
{
	const struct gt_ptx_frame *frame = warp->frame;

	return (at >= frame->low && at <= frame->high && bytes <= frame->high - at) || gt_ptx_find_local(warp, at, bytes);
}

/* A lane's byte `at`, which is below warp->local_stride. */
static inline unsigned char *gt_ptx_local_place(const struct gt_ptx_warp *warp, unsigned lane, uint64_t at)
{
	return warp->local + lane * warp->local_stride + at;
}

/* "outside every variable; nearest is 'buffer', 64 bytes at 0x0", and the like; returns `text`. */
#define GT_PTX_LOCAL_TEXT 160
const char *gt_ptx_local_describe(const struct gt_ptx_warp *warp, uint64_t at, char text[GT_PTX_LOCAL_TEXT]);

#endif
