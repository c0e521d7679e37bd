/* SPDX-License-Identifier: MIT */
/* The public part of libgtrace: streams and rows, and the models that take and give them. What this includes is
 * installed; all other headers are private. Usable from C11 and from C++. examples/filter.c is a first program. */
#ifndef GTRACE_H
#define GTRACE_H

#include "base/error.h"	       /* what went wrong, in one line */
#include "base/options.h"      /* numbers and sizes as users write them */
#include "stream/op.h"	       /* load.global, store.shared ... in a byte; what a cache level found */
#include "stream/rows.h"       /* accesses and requests, in columns */
#include "stream/kernel.h"     /* a launch */
#include "stream/count.h"      /* counters of a stage */
#include "stream/stream.h"     /* reading and writing streams */
#include "stream/trace.h"      /* thread and warp accesses, as an importer says them */
#include "gpu/gpu.h"	       /* GPU descriptions */
#include "order/order.h"       /* threads to warp accesses, in logical order */
#include "coalesce/coalesce.h" /* warp accesses to requests */
#include "schedule/schedule.h" /* blocks to SMs, warps to steps */
#include "cache/level.h"       /* a cache level */
#include "dram/dram.h"	       /* channels, banks, rows */
#include "replace/stack.h"       /* exact LRU stack distances */

#endif
