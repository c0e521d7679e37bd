/* SPDX-License-Identifier: MIT */
/* Copies a fragment that is laid out in runs between registers and the lines of its matrix. */
#ifndef GT_PTX_RUNS_H
#define GT_PTX_RUNS_H

#include <string.h>

#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/lanes.h"

#define GT_PTX_LINES_MAX 1024 /* bytes: 32 x 16 elements of 16 bits, or 16 x 16 of 32 */
#define GT_PTX_GROUPS (GT_WARP_SIZE / GT_PTX_THREADS)
#define GT_PTX_THREADS 4 /* lanes of a group */

/* Two registers that share runs, and back. Words move in pairs, which compilers make vectors of. */
GT_INLINE void gt_ptx_join32(const uint32_t *even, const uint32_t *odd, unsigned char *to, size_t pitch)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, to += pitch) {
		uint64_t pairs[GT_PTX_THREADS];
		for (unsigned i = 0; i < GT_PTX_THREADS; i++)
			pairs[i] = even[lane + i] | (uint64_t)odd[lane + i] << 32;
		memcpy(to, pairs, sizeof pairs);
	}
}

GT_INLINE void gt_ptx_part32(const unsigned char *from, size_t pitch, uint32_t *even, uint32_t *odd)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, from += pitch) {
		uint64_t pairs[GT_PTX_THREADS];
		memcpy(pairs, from, sizeof pairs);
		for (unsigned i = 0; i < GT_PTX_THREADS; i++) {
			even[lane + i] = (uint32_t)pairs[i];
			odd[lane + i] = (uint32_t)(pairs[i] >> 32);
		}
	}
}

typedef uint64_t gt_ptx_half_line __attribute__((vector_size(4 * sizeof(uint64_t))));
typedef uint64_t gt_ptx_whole_line __attribute__((vector_size(8 * sizeof(uint64_t))));

GT_INLINE void gt_ptx_join64(const uint64_t *even, const uint64_t *odd, unsigned char *to, size_t pitch)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, to += pitch) {
		gt_ptx_half_line x, y;
		memcpy(&x, even + lane, sizeof x);
		memcpy(&y, odd + lane, sizeof y);
		const gt_ptx_whole_line line = __builtin_shufflevector(x, y, 0, 4, 1, 5, 2, 6, 3, 7);
		memcpy(to, &line, sizeof line);
	}
}

GT_INLINE void gt_ptx_part64(const unsigned char *from, size_t pitch, uint64_t *even, uint64_t *odd)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, from += pitch) {
		gt_ptx_whole_line line;
		memcpy(&line, from, sizeof line);
		const gt_ptx_half_line x = __builtin_shufflevector(line, line, 0, 2, 4, 6), y = __builtin_shufflevector(line, line, 1, 3, 5, 7);
		memcpy(even + lane, &x, sizeof x);
		memcpy(odd + lane, &y, sizeof y);
	}
}

/* pitch: bytes from line to line; wide: the registers have 64 bits a lane. */
GT_INLINE void gt_ptx_read_wide_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
				     unsigned char *lines, size_t pitch, const bool wide)
{
	const size_t run = GT_PTX_THREADS * (wide ? sizeof(uint64_t) : sizeof(uint32_t));

	for (unsigned r = 0; r < fragment->distinct; r += fragment->paired ? 2 : 1) {
		const unsigned char *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		unsigned char *to = lines + fragment->runs[r].line * pitch + fragment->runs[r].at;
		if (fragment->paired && wide)
			gt_ptx_join64((const void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]), to, pitch);
		else if (fragment->paired)
			gt_ptx_join32((const void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]), to, pitch);
		else
			for (unsigned group = 0; group < GT_PTX_GROUPS; group++)
				memcpy(to + group * pitch, lanes + group * run, run);
	}
}

GT_INLINE void gt_ptx_write_wide_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
				      const unsigned char *lines, size_t pitch, const bool wide)
{
	const size_t run = GT_PTX_THREADS * (wide ? sizeof(uint64_t) : sizeof(uint32_t));

	for (unsigned r = 0; r < fragment->n; r += fragment->paired ? 2 : 1) {
		unsigned char *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		const unsigned char *from = lines + fragment->runs[r].line * pitch + fragment->runs[r].at;
		if (fragment->paired && wide)
			gt_ptx_part64(from, pitch, (void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]));
		else if (fragment->paired)
			gt_ptx_part32(from, pitch, (void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]));
		else
			for (unsigned group = 0; group < GT_PTX_GROUPS; group++)
				memcpy(lanes + group * run, from + group * pitch, run);
	}
}

/* Registers to lines, and back. */
GT_INLINE void gt_ptx_read_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, unsigned char *lines,
				size_t pitch)
{
	if (fragment->element == GT_PTX_ELEMENT_F64)
		gt_ptx_read_wide_runs(fragment, warp, lines, pitch, true);
	else
		gt_ptx_read_wide_runs(fragment, warp, lines, pitch, false);
}

GT_INLINE void gt_ptx_write_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, const unsigned char *lines,
				 size_t pitch)
{
	if (fragment->element == GT_PTX_ELEMENT_F64)
		gt_ptx_write_wide_runs(fragment, warp, lines, pitch, true);
	else
		gt_ptx_write_wide_runs(fragment, warp, lines, pitch, false);
}

#endif
