/* SPDX-License-Identifier: MIT */
/* What gschedule counts: the stage schedule. */
#ifndef GT_COUNTER_SCHEDULE_H
#define GT_COUNTER_SCHEDULE_H

#include "counter/field.h"

/* The last two numbers are only of GPUs whose L1 is adaptive: others go before them. */
#define GT_SCHEDULE_COUNTERS(ROW) \
	ROW(SETTING, resident_blocks, "blocks an SM", NUMBER, "Blocks that an SM holds at a time.") \
	ROW(COUNT, waves, "waves", NUMBER, "Blocks of the SM that has the most, divided by resident_blocks and rounded up.") \
	ROW(COUNT, steps, "steps", NUMBER, "Steps of logical issue time until the last row.") \
	ROW(SETTING, sms, "SMs", NUMBER, "Streaming multiprocessors of the GPU.") \
	ROW(COUNT, blocks, "blocks", NUMBER, "Blocks of the grid.") \
	ROW(COUNT, modelled_blocks, "blocks", NUMBER, "Blocks whose rows were passed on.") \
	ROW(COUNT, rows, "rows", NUMBER, "Rows that were given an SM and a step.") \
	ROW(SETTING, shared_carveout, "bytes", SIZE, "Shared memory that an SM sets aside.") \
	ROW(SETTING, l1_bytes, "bytes", SIZE, "L1 data cache that is left beside shared memory [004] 4.2.") \
	ROW(WORD, limited_by, NULL, NUMBER, "What keeps an SM from holding more blocks.")

#endif
