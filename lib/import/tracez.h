/* SPDX-License-Identifier: MIT */
/* Accel-Sim 2's .tracez: the text of a .traceg, its instructions compressed in pieces (tracez_format.h of its tracer):
 *
 *     header lines, 0, u32 D, u32, D bytes of a Zstandard dictionary,
 *     for each warp: u32 instructions, u32 pieces, and for each piece u32 bytes and a Zstandard frame of lines,
 *     u32 blocks, for each: u32 x, y, z, seven numbers of its cluster, u32 warps,
 *         for each: u32 instructions, u32 pieces, u64 its offset, and for each piece u32 instructions,
 *     u64 the offset of the number of blocks
 */
#ifndef GT_IMPORT_TRACEZ_H
#define GT_IMPORT_TRACEZ_H

#include <stdbool.h>

#include "import/accelsim.h"

/* Whether a file is one, by its name, as Accel-Sim tells. */
bool gt_tracez_named(const char *path);

/* Reads the file that the reader's input names. Returns 0, or -1 with an error. */
int gt_tracez_read(struct gt_accelsim *reader);

#endif
