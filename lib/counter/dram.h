/* SPDX-License-Identifier: MIT */
/* What gdram counts: the stage dram. */
#ifndef GT_COUNTER_DRAM_H
#define GT_COUNTER_DRAM_H

#include "counter/field.h"

#define GT_DRAM_COUNTERS(ROW) \
	ROW(SETTING, channels, "channels", NUMBER, "Channels of the memory.") \
	ROW(SETTING, banks, "banks a channel", NUMBER, "Banks of a channel.") \
	ROW(SETTING, row, "bytes", SIZE, "Bytes of a row.") \
	ROW(SETTING, interleave, "bytes", SIZE, "Successive bytes in one channel.") \
	ROW(COUNT, reads, "sectors", NUMBER, "Sectors that were read from memory.") \
	ROW(COUNT, writes, "sectors", NUMBER, "Sectors that were written to memory.") \
	ROW(COUNT, row_hits, "sectors", NUMBER, "Sectors whose row was open in their bank.") \
	ROW(COUNT, row_misses, "sectors", NUMBER, "Sectors for which a bank opened another row.") \
	ROW(ARRAY, channel_reads, "sectors", NUMBER, "Sectors read, channel by channel.") \
	ROW(ARRAY, channel_writes, "sectors", NUMBER, "Sectors written, channel by channel.") \
	ROW(ARRAY, channel_row_hits, "sectors", NUMBER, "Row hits, channel by channel.")

#endif
