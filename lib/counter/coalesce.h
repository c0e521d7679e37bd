/* SPDX-License-Identifier: MIT */
/* What gcoalesce counts: the stage coalesce. */
#ifndef GT_COUNTER_COALESCE_H
#define GT_COUNTER_COALESCE_H

#include "counter/field.h"

/* Of every kernel. */
#define GT_ACCESS_COUNTERS(ROW) \
	ROW(WORD, rule, NULL, NUMBER, "The rule of coalescing, named after a GPU generation.") \
	ROW(COUNT, accesses, "warp accesses", NUMBER, "Warp accesses that were coalesced, shared memory included.") \
	ROW(COUNT, load_accesses, "warp accesses", NUMBER, "Warp accesses that load, shared memory apart.") \
	ROW(COUNT, store_accesses, "warp accesses", NUMBER, "Warp accesses that store, shared memory apart.") \
	ROW(COUNT, atomic_accesses, "warp accesses", NUMBER, "Warp accesses that are atomics or reductions, shared memory apart.") \
	ROW(COUNT, reduction_accesses, "warp accesses", NUMBER, "Those of the atomics that return nothing.") \
	ROW(COUNT, requests, "requests", NUMBER, "Lines that the lanes of a warp access touch, summed over accesses.") \
	ROW(COUNT, load_requests, "requests", NUMBER, "Requests of loads.") \
	ROW(COUNT, store_requests, "requests", NUMBER, "Requests of stores.") \
	ROW(COUNT, atomic_requests, "requests", NUMBER, "Requests of atomics.") \
	ROW(COUNT, reduction_requests, "requests", NUMBER, "Those of atomics that return nothing.") \
	ROW(COUNT, sectors, "sectors", NUMBER, "Sectors of 32 bytes that requests touch.") \
	ROW(COUNT, load_sectors, "sectors", NUMBER, "Sectors of loads.") \
	ROW(COUNT, store_sectors, "sectors", NUMBER, "Sectors of stores.") \
	ROW(COUNT, atomic_sectors, "sectors", NUMBER, "Sectors of atomics.") \
	ROW(COUNT, reduction_sectors, "sectors", NUMBER, "Sectors of atomics that return nothing.")

/* Only of kernels with atomics that return a value, by rules of the GPUs on which this was counted. */
#define GT_TURNS_COUNTERS(ROW) \
	ROW(COUNT, repeated_sectors, "sectors", NUMBER, \
	    "Sectors that atomics with a result touch again, as lanes with one address take turns; not among sectors.")

/* Only of kernels that prefetch. */
#define GT_PREFETCH_COUNTERS(ROW) \
	ROW(COUNT, prefetch_accesses, "warp accesses", NUMBER, "Warp accesses that prefetch lines.") \
	ROW(COUNT, prefetch_requests, "requests", NUMBER, "Requests of prefetches.") \
	ROW(COUNT, prefetch_sectors, "sectors", NUMBER, "Sectors of prefetches.")

/* Only of kernels that discard lines or change their priority. */
#define GT_DISCARD_COUNTERS(ROW) \
	ROW(COUNT, discard_accesses, "warp accesses", NUMBER, "Warp accesses that discard lines or change their priority.") \
	ROW(COUNT, discard_requests, "requests", NUMBER, "Requests that discard a line or change its priority.") \
	ROW(COUNT, discard_sectors, "sectors", NUMBER, "Sectors of discards and changes of priority.")

/* Of every kernel, as the first. */
#define GT_WARP_COUNTERS(ROW) \
	ROW(COUNT, load_warp_sectors, "sectors", NOT, "Sectors of loads, each counted once for a warp access.") \
	ROW(COUNT, shared_accesses, "warp accesses", NUMBER, "Warp accesses to shared memory.") \
	ROW(COUNT, bank_passes, "passes", NUMBER, "Passes that accesses to shared memory take; 1 each without bank conflicts.")

/* Only of kernels that access shared memory; behind banks, only where the GPU description has its latency. */
#define GT_SHARED_COUNTERS(ROW) \
	ROW(COUNT, shared_load_passes, "passes", NUMBER, "Passes of loads from shared memory.") \
	ROW(COUNT, shared_store_passes, "passes", NUMBER, "Passes of stores to shared memory.") \
	ROW(COUNT, shared_atomic_passes, "passes", NUMBER, "Passes of atomics on shared memory.") \
	ROW(COUNT, load_bank_conflicts, "passes", NUMBER, "Of the passes of loads, those beyond what the width of the data takes.") \
	ROW(COUNT, store_bank_conflicts, "passes", NUMBER, "Of the passes of stores, those beyond what the width of the data takes.") \
	ROW(COUNT, atomic_bank_conflicts, "passes", NUMBER, "Of the passes of atomics, those beyond what the width of the data takes.") \
	ROW(WORD, banks, NULL, NUMBER, "Banks of shared memory.") \
	ROW(COUNT, shared_cycles, "cycles", NUMBER, "Cycles of the accesses to shared memory, each as if it were alone.")

#define GT_COALESCE_COUNTERS(ROW) \
	GT_ACCESS_COUNTERS(ROW) GT_TURNS_COUNTERS(ROW) GT_PREFETCH_COUNTERS(ROW) GT_DISCARD_COUNTERS(ROW) GT_WARP_COUNTERS(ROW) GT_SHARED_COUNTERS(ROW)

#endif
