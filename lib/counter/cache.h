/* SPDX-License-Identifier: MIT */
/* What gcache counts, under the name of the level: what happened, the level's shape, and time. */
#ifndef GT_COUNTER_CACHE_H
#define GT_COUNTER_CACHE_H

#include "counter/field.h"

#define GT_LEVEL_COUNTERS(ROW) \
	ROW(COUNT, requests, "requests", NUMBER, "Requests that the stage received.") \
	ROW(COUNT, reads, "sectors", NUMBER, "Sectors that loads asked for.") \
	ROW(COUNT, read_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.") \
	ROW(COUNT, writes, "sectors", NUMBER, "Sectors that stores wrote to.") \
	ROW(COUNT, write_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.") \
	ROW(COUNT, atomics, "sectors", NUMBER, "Sectors that atomics asked for.") \
	ROW(COUNT, atomic_hits, "sectors", NUMBER, "Of these, sectors that were valid; those that are sent on never hit.") \
	ROW(COUNT, line_misses, "sectors", NUMBER, "Sectors of loads, stores and atomics that were not found because their line was absent.") \
	ROW(COUNT, sector_misses, "sectors", NUMBER, "Sectors of loads, stores and atomics that were not found although their line was present.") \
	ROW(COUNT, evictions, "lines", NUMBER, "Lines that were replaced by another line.") \
	ROW(COUNT, dropped, "sectors", NUMBER, "Valid sectors that a store or an atomic made invalid.") \
	ROW(COUNT, sent_requests, "requests", NUMBER, "Requests that this level sends on, the flush included.") \
	ROW(COUNT, sent_reads, "sectors", NUMBER, "Sectors of 32 bytes that this level reads from the next.") \
	ROW(COUNT, sent_writes, "sectors", NUMBER, "Sectors of 32 bytes that it writes to the next.") \
	ROW(COUNT, sent_atomics, "sectors", NUMBER, "Sectors of atomics that went on to the next level.") \
	ROW(COUNT, flushed, "sectors", NUMBER, "Sectors of 32 bytes sent at the end of a kernel; they are in sent_writes too.") \
	ROW(COUNT, bypassed, "sectors", NUMBER, "Sectors that bypassed the cache.") \
	ROW(ARRAY, mru, "sectors", NUMBER, "Read hits by position in the LRU stack of their set, the most recent first.") \
	ROW(ARRAY, mru_writes, "sectors", NUMBER, "Write hits by position in the LRU stack.")

#define GT_HINT_COUNTERS(ROW) \
	ROW(COUNT, prefetches, "sectors", NUMBER, "Sectors that prefetches asked for.") \
	ROW(COUNT, prefetch_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.") \
	ROW(COUNT, discards, "sectors", NUMBER, "Sectors of lines that were to be discarded, or to change their priority.") \
	ROW(COUNT, discarded, "sectors", NUMBER, "Written sectors that a discard dropped, so that they were not sent.") \
	ROW(COUNT, sent_prefetches, "sectors", NUMBER, "Sectors of 32 bytes that prefetches read from the next level.") \
	ROW(COUNT, sent_discards, "sectors", NUMBER, "Sectors of discards and priorities that went on to the next level.")

/* Of a level that a load or a store bypassed. */
#define GT_BYPASS_COUNTERS(ROW) \
	ROW(COUNT, bypassed_reads, "sectors", NUMBER, "Sectors of loads that bypassed the cache.") \
	ROW(COUNT, bypassed_writes, "sectors", NUMBER, "Sectors of stores that bypassed the cache.")

/* Of a level that fetches more than a sector. */
#define GT_FETCH_COUNTERS(ROW) \
	ROW(COUNT, neighbours, "sectors", NUMBER, "Sectors that misses fetched beside those that were asked for.")

/* Of a level that a profiler empties between kernels. */
#define GT_BETWEEN_COUNTERS(ROW) \
	ROW(COUNT, left_dirty, "sectors", NUMBER, "Sectors written that were still in the cache at the end of the kernel, and are not in sent_writes.")

/* Of a level that bounds the dirty lines of a set. */
#define GT_CLEAN_COUNTERS(ROW) \
	ROW(COUNT, cleaned, "sectors", NUMBER, "Sectors of 32 bytes written to the next level from lines that stay; they are in sent_writes too.")

#define GT_LAUNCH_COUNTERS(ROW) \
	ROW(COUNT, launch_reads, "sectors", NUMBER, "Sectors that the launch itself read: code and constants. They are not in reads.") \
	ROW(COUNT, launch_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.")

/* Of a level of two halves. */
#define GT_HALVES_COUNTERS(ROW) \
	ROW(COUNT, far_reads, "sectors", NUMBER, "Sectors that loads asked the other half for, which is their home.") \
	ROW(COUNT, far_hits, "sectors", NUMBER, "Of these, sectors that were valid there.") \
	ROW(COUNT, dropped_copies, "sectors", NUMBER, "Valid sectors of copies that a store or an atomic made invalid.") \
	ROW(ARRAY, half_reads, "sectors", NUMBER, "Sectors that loads looked up in each half.") \
	ROW(ARRAY, half_hits, "sectors", NUMBER, "Of these, sectors that were valid there.")

/* The same for every kernel. Sets that differ have no number of ways, which is therefore the last number. */
#define GT_SHAPE_COUNTERS(ROW) \
	ROW(SETTING, size, "bytes", SIZE, "Bytes of one cache.") \
	ROW(SETTING, line, "bytes", SIZE, "Bytes of a line.") \
	ROW(SETTING, sector, "bytes", SIZE, "Bytes of a sector, the unit of validity.") \
	ROW(SETTING, sets, "sets", NUMBER, "Sets of one cache.") \
	ROW(SETTING, instances, "caches", NUMBER, "Caches of this level that had a request: SMs, or 1.") \
	ROW(SETTING, ways, "lines a set", NUMBER, "Lines of a set.") \
	ROW(WORD, index, NULL, NUMBER, "The function that gives a line its set.") \
	ROW(WORD, interleave, NULL, NUMBER, "The function that gives a line its bank.") \
	ROW(WORD, replace, NULL, NUMBER, "The replacement policy.") \
	ROW(WORD, write, NULL, NUMBER, "What a store does: back, through or evict.") \
	ROW(WORD, emit, NULL, NUMBER, "The rows that the level writes, if they are not the requests that it sends on.")

#define GT_TIMED_COUNTERS(ROW) \
	ROW(COUNT, steps, "steps", NUMBER, "Steps until the last SM had served all its requests.") \
	ROW(COUNT, instance_steps, "steps", NUMBER, "Steps from the first request to the last that was served, summed over instances.") \
	ROW(COUNT, stalls, "steps", NUMBER, "Steps, summed over instances, that lookups issued together needed beyond the first.") \
	ROW(COUNT, port_conflicts, "attempts", NUMBER, "Times that a lookup found no port.") \
	ROW(COUNT, lookups, "lookups", NUMBER, "Lookups of loads by line, of stores and others by request.") \
	ROW(COUNT, hit_lookups, "lookups", NUMBER, "Lookups of loads, and of atomics executed here, that found all their sectors.") \
	ROW(COUNT, passed_lookups, "lookups", NUMBER, "Lookups that wait for no data: of stores, of requests that bypass, of atomics that a lower level executes.") \
	ROW(COUNT, merges, "lookups", NUMBER, "Lookups that joined a miss in flight.") \
	ROW(COUNT, merged_reads, "sectors", NUMBER, "Sectors of loads that missed and were in flight; profilers count them as hits [002].") \
	ROW(COUNT, latency_misses, "sectors", NUMBER, "Missing sectors that were in flight [002].") \
	ROW(COUNT, reservation_fails, "attempts", NUMBER, "Times that a lookup found no MSHR, or one that takes no more merges.") \
	ROW(COUNT, reservations, "lookups", NUMBER, "Lookups that took an MSHR, and were sent on.") \
	ROW(COUNT, latency_steps, "steps", NUMBER, "Sum of the latencies of all reservations, in steps.") \
	ROW(COUNT, load_steps, "steps", NUMBER, "Sum, over lookups that hit, took an MSHR or merged, of the steps until the data arrive.") \
	ROW(COUNT, busy_entries, "entries", NUMBER, "Sum, over reservations, of the MSHRs that were taken in their set.") \
	ROW(ARRAY, latency, "lookups", NUMBER, "Reservations by latency: 0 steps, then bins from 2^(k-1) to 2^k - 1.") \
	ROW(ARRAY, load_latency, "lookups", NUMBER, "The lookups of load_steps by that time, in the bins of latency.") \
	ROW(ARRAY, mshr, "lookups", NUMBER, "Reservations by the MSHRs that were taken in their set, in the bins of latency.")

#endif
