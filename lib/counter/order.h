/* SPDX-License-Identifier: MIT */
/* What gtrace-order counts: the stage order. */
#ifndef GT_COUNTER_ORDER_H
#define GT_COUNTER_ORDER_H

#include "counter/field.h"

#define GT_ORDER_COUNTERS(ROW) \
	ROW(COUNT, accesses, "warp accesses", NUMBER, "Warp accesses of the trace: memory instructions that a warp executed.") \
	ROW(COUNT, loads, "warp accesses", NUMBER, "Warp accesses that load.") \
	ROW(COUNT, stores, "warp accesses", NUMBER, "Warp accesses that store.") \
	ROW(COUNT, atomics, "warp accesses", NUMBER, "Warp accesses that are atomic operations or reductions.") \
	ROW(COUNT, threads, "lanes", NUMBER, "Active lanes of all warp accesses.")

/* What importers skip, named by the text of their message. */
#define GT_PASSED_COUNTERS(ROW) \
	ROW(COUNT, accesses_without_an_active_lane, "records", NUMBER, "Accesses without an active lane, which were passed over.") \
	ROW(COUNT, descriptions_and_counts, "lines", NUMBER, "Lines with a GPU or counts, which were passed over.") \
	ROW(COUNT, instruction_fetches, "records", NUMBER, "Instruction fetches, which were passed over.") \
	ROW(COUNT, lines_that_do_not_match, "lines", NUMBER, "Lines that the pattern does not match, which were passed over.") \
	ROW(COUNT, memory_copies, "lines", NUMBER, "Copies of memory other than to the device, which were passed over.") \
	ROW(COUNT, other_lines_of_lists, "lines", NUMBER, "Lines of lists of traces that are neither copies nor traces, which were passed over.") \
	ROW(COUNT, other_records, "records", NUMBER, "Records that are no accesses, which were passed over.") \
	ROW(COUNT, impossible_register_counts, "launches", NUMBER, "Launches with more registers a thread than any GPU has, taken as unknown.") \
	ROW(COUNT, impossible_shared_memory, "launches", NUMBER, "Launches with more shared memory a block than any GPU has, taken as none.") \
	ROW(COUNT, tracer_versions_above_6, "launches", NUMBER, "Launches traced by a version of Accel-Sim's tracer that is not known, read as version 6.") \
	ROW(COUNT, tma_instructions, "instructions", NUMBER, "Instructions of the tensor memory accelerator, which were passed over.")

#endif
