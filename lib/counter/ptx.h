/* SPDX-License-Identifier: MIT */
/* What gtrace-ptx and gtrace-record count: the stages ptx, allocations, shared, copies, untraced and source. */
#ifndef GT_COUNTER_PTX_H
#define GT_COUNTER_PTX_H

#include "counter/field.h"

#define GT_PTX_COUNTERS(ROW) \
	ROW(SETTING, registers, "registers a thread", NUMBER, "32-bit registers that a thread takes.") \
	ROW(SETTING, registers_estimated, NULL, NUMBER, "1 if that is an estimate.") \
	ROW(SETTING, shared_bytes, "bytes", SIZE, "Shared memory of a block, static and dynamic.") \
	ROW(COUNT, warp_instructions, "instructions", NUMBER, "Instructions that warps issued, whatever the number of active lanes.") \
	ROW(COUNT, accesses, "warp accesses", NUMBER, "Warp accesses that were traced.") \
	ROW(COUNT, polls, "turns", NUMBER, "Turns that warps gave away, since a volatile or ordered load or an atomic in a loop had left them as they were.")

#define GT_ALLOCATIONS_COUNTERS(ROW) \
	ROW(LIST, addresses, NULL, NOT, "Address of each array.") \
	ROW(LIST, bytes, "bytes", NUMBER, "Bytes of each array.") \
	ROW(WORD, names, NULL, NUMBER, "Names of the arrays.")

#define GT_SHARED_ARRAYS_COUNTERS(ROW) \
	ROW(LIST, addresses, NULL, NOT, "Address of each array in the shared memory of a block.") \
	ROW(LIST, bytes, "bytes", NUMBER, "Bytes of each of them.") \
	ROW(WORD, names, NULL, NUMBER, "Their names.")

#define GT_COPIES_COUNTERS(ROW) \
	ROW(LIST, addresses, NULL, NOT, "Address of each range that was copied to the device before the kernel.") \
	ROW(LIST, bytes, "bytes", NUMBER, "Bytes of each such range.")

#define GT_UNTRACED_COUNTERS(ROW) \
	ROW(WORD, names, NULL, NUMBER, "Calls of libraries before the kernel whose accesses are not in the stream.") \
	ROW(ARRAY, calls, "calls", NUMBER, "How often each of them was made.") \
	ROW(WORD, names_after, NULL, NUMBER, "The same after the kernel, which is the last one.") \
	ROW(ARRAY, calls_after, "calls", NUMBER, "How often each of those was made.")

#define GT_SOURCE_COUNTERS(ROW) \
	ROW(LIST, pcs, NULL, NOT, "Instructions that access memory.") \
	ROW(LIST, lines, NULL, NOT, "The source line of each.") \
	ROW(LIST, files, NULL, NOT, "The number of its file in names, from 0.") \
	ROW(WORD, names, NULL, NOT, "Names of the source files.")

#endif
