/* SPDX-License-Identifier: MIT */
/* Counters: what the stages of a pipe count for each kernel, and gstats reports. Each has one row, in the table of its stage. A row
 * makes the field that a stage counts in, its name in the stream, and its definition in reports. A new counter is a row here, a line
 * where it is counted, and an entry in the manual.
 *
 * A table is a macro that gives each of its rows to ROW(KIND, NAME, UNIT, PRINT, DEFINITION):
 *
 *     COUNT    a number that is summed over kernels
 *     ARRAY    numbers that are summed, element by element
 *     SETTING  a number that is a property of the model: in a total only if it is equal in all kernels
 *     LIST     numbers that are such a property
 *     WORD     a text
 */
#ifndef GT_COUNTER_TABLES_H
#define GT_COUNTER_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- a struct of a table's fields ---- */

/* Makes the fields of a struct from a table, in its order: struct x { GT_X_COUNTERS(GT_COUNTER_FIELD) }; */
#define GT_COUNTER_FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) GT_COUNTER_FIELD_##KIND(NAME)
#define GT_COUNTER_FIELD_COUNT(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_SETTING(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_ARRAY(NAME)
#define GT_COUNTER_FIELD_LIST(NAME)
#define GT_COUNTER_FIELD_WORD(NAME)

/* The fields for the arrays of a table, which follow those of its numbers. Define GT_COUNTER_ELEMENTS, the length of
 * each, before using this. */
#define GT_COUNTER_ARRAY_FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) GT_COUNTER_ARRAY_FIELD_##KIND(NAME)
#define GT_COUNTER_ARRAY_FIELD_COUNT(NAME)
#define GT_COUNTER_ARRAY_FIELD_SETTING(NAME)
#define GT_COUNTER_ARRAY_FIELD_ARRAY(NAME) uint64_t NAME[GT_COUNTER_ELEMENTS];
#define GT_COUNTER_ARRAY_FIELD_LIST(NAME)
#define GT_COUNTER_ARRAY_FIELD_WORD(NAME)

/* Adds the fields of such a struct of `bytes` to those of another. */
static inline void gt_counters_add(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t sum, more;
		memcpy(&sum, (const char *)to + at, sizeof sum);
		memcpy(&more, (const char *)from + at, sizeof more);
		sum += more;
		memcpy((char *)to + at, &sum, sizeof sum);
	}
}

/* ---- gtrace-ptx and gtrace-record: the stages ptx, allocations, shared, copies, untraced and source ---- */

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

#define GT_IDLE_COUNTERS(ROW) \
	ROW(LIST, blocks, NULL, NUMBER, "Blocks that access nothing, or shared memory alone.") \
	ROW(LIST, instructions, "instructions", NUMBER, "Instructions that the warps of each of them issue.")

#define GT_UNTRACED_COUNTERS(ROW) \
	ROW(WORD, names, NULL, NUMBER, "Calls of libraries before the kernel whose accesses are not in the stream.") \
	ROW(ARRAY, calls, "calls", NUMBER, "How often each of them was made.") \
	ROW(ARRAY, flops, "flops", NUMBER, "Floating-point operations of each of them that is BLAS's; 0 of the others.") \
	ROW(WORD, names_after, NULL, NUMBER, "The same after the kernel, which is the last one.") \
	ROW(ARRAY, calls_after, "calls", NUMBER, "How often each of those was made.") \
	ROW(ARRAY, flops_after, "flops", NUMBER, "The flops of each of those.")

#define GT_SOURCE_COUNTERS(ROW) \
	ROW(LIST, pcs, NULL, NOT, "Instructions that access memory.") \
	ROW(LIST, lines, NULL, NOT, "The source line of each.") \
	ROW(LIST, files, NULL, NOT, "The number of its file in names, from 0.") \
	ROW(WORD, names, NULL, NOT, "Names of the source files.")

/* ---- gtrace-order: the stage order ---- */

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
	ROW(COUNT, overlap_with_other_streams, "launches", NUMBER, "Launches into another CUDA stream than the first's, which may have overlapped; they follow one another, as in the trace.") \
	ROW(COUNT, impossible_register_counts, "launches", NUMBER, "Launches with more registers a thread than any GPU has, taken as unknown.") \
	ROW(COUNT, impossible_shared_memory, "launches", NUMBER, "Launches with more shared memory a block than any GPU has, taken as none.") \
	ROW(COUNT, tracer_versions_above_6, "launches", NUMBER, "Launches traced by a version of Accel-Sim's tracer that is not known, read as version 6.") \
	ROW(COUNT, tma_instructions, "instructions", NUMBER, "Instructions of the tensor memory accelerator, which were passed over.")

/* ---- gcoalesce: the stage coalesce ---- */

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

/* Only of kernels that load from constant memory. */
#define GT_CONSTANT_ACCESS_COUNTERS(ROW) \
	ROW(COUNT, constant_accesses, "warp accesses", NUMBER, "Warp accesses that load from constant memory.") \
	ROW(COUNT, constant_turns, "turns", NUMBER, "Turns of the port of constant memory: distinct addresses of the lanes, summed over these accesses.") \
	ROW(COUNT, constant_requests, "requests", NUMBER, "Requests of loads from constant memory.") \
	ROW(COUNT, constant_sectors, "sectors", NUMBER, "Sectors of loads from constant memory.")

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

/* Of a site, an instruction and an array (gcoalesce --by site); of a memory other than shared, sectors, else passes. */
#define GT_SITE_ACCESS_COUNTERS(ROW) \
	ROW(WORD, op, NULL, NUMBER, "The operation of a site's accesses; several: they differ.") \
	ROW(WORD, stride, "bytes", NUMBER, "Bytes from lane to lane; several: a site's accesses of more than one lane have none in common.") \
	ROW(COUNT, accesses, "warp accesses", NUMBER, "Warp accesses of a site.") \
	ROW(COUNT, lanes, "lanes", NUMBER, "Active lanes of these accesses.") \
	ROW(COUNT, bytes, "bytes", NUMBER, "Bytes that the lanes asked for: lanes times the size of the data.") \
	ROW(COUNT, sectors, "sectors", NUMBER, "Sectors of 32 bytes that the accesses touch.") \
	ROW(COUNT, least_sectors, "sectors", NUMBER, "The fewest sectors that hold as many bytes, access by access; no more than the access touches.") \
	ROW(COUNT, misaligned_sectors, "sectors", NUMBER, "Sectors beyond the least of accesses without gaps that do not begin at a sector.") \
	ROW(COUNT, partial_sectors, "sectors", NUMBER, "Sectors that stores do not overwrite whole.") \
	ROW(COUNT, addresses, "addresses", NUMBER, "Distinct addresses of the lanes of an atomic, summed over accesses.") \
	ROW(COUNT, passes, "passes", NUMBER, "Passes of accesses to shared memory.") \
	ROW(COUNT, least_passes, "passes", NUMBER, "The passes that the width of their data takes.")

#define GT_COALESCE_COUNTERS(ROW) \
	GT_ACCESS_COUNTERS(ROW) GT_TURNS_COUNTERS(ROW) GT_PREFETCH_COUNTERS(ROW) GT_DISCARD_COUNTERS(ROW) GT_CONSTANT_ACCESS_COUNTERS(ROW) GT_WARP_COUNTERS(ROW) GT_SHARED_COUNTERS(ROW)

/* With --by site: which bytes of memory, other than shared, the kernel touches at all. */
#define GT_UNIQUE_COUNTERS(ROW) \
	ROW(COUNT, unique_bytes, "bytes", NUMBER, "Distinct bytes that the kernel's accesses touch, shared memory apart; summed over kernels.") \
	ROW(COUNT, unique_sectors, "sectors", NUMBER, "Sectors of 32 bytes with such a byte.") \
	ROW(COUNT, unique_read_bytes, "bytes", NUMBER, "Of the distinct bytes, those that loads and atomics with a result read.") \
	ROW(COUNT, unique_read_sectors, "sectors", NUMBER, "Sectors of 32 bytes with a byte that is read.")

/* ---- gtrace-cat --part: the stage part ---- */

#define GT_PART_COUNTERS(ROW) \
	ROW(SETTING, launch, NULL, NUMBER, "Which launch of the stream that was divided it is, from 1.")

/* ---- gsample: the stage sample ---- */

#define GT_SAMPLE_COUNTERS(ROW) \
	ROW(COUNT, launches, "launches", NUMBER, "Launches that this one stands for, itself included.") \
	ROW(COUNT, modelled_launches, "launches", NUMBER, "Of these, launches that were passed on: 1.") \
	ROW(COUNT, sectors, "sectors", NUMBER, "Sectors that requests of these launches touch.") \
	ROW(COUNT, modelled_sectors, "sectors", NUMBER, "Of these, sectors of the launch that was passed on; other counts times sectors / modelled_sectors are those of all.")

/* ---- gschedule: the stage schedule ---- */

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

/* ---- gcache, under the name of the level: what happened, the level's shape, and time ---- */

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
	ROW(COUNT, dropped, "sectors", NUMBER, "Valid sectors that a store, an atomic or a load made invalid.") \
	ROW(COUNT, sent_requests, "requests", NUMBER, "Requests that this level sends on, the flush included.") \
	ROW(COUNT, sent_reads, "sectors", NUMBER, "Sectors of 32 bytes that this level reads from the next.") \
	ROW(COUNT, sent_writes, "sectors", NUMBER, "Sectors of 32 bytes that it writes to the next.") \
	ROW(COUNT, sent_atomics, "sectors", NUMBER, "Sectors of atomics that went on to the next level.") \
	ROW(COUNT, flushed, "sectors", NUMBER, "Sectors of 32 bytes sent at the end of a kernel; they are in sent_writes too.") \
	ROW(COUNT, bypassed, "sectors", NUMBER, "Sectors that bypassed the cache.") \
	ROW(ARRAY, mru, "sectors", NUMBER, "Read hits by position in the LRU stack of their set, the most recent first.") \
	ROW(ARRAY, mru_writes, "sectors", NUMBER, "Write hits by position in the LRU stack.")

/* Of a site, an instruction and an array (gcache --by site). */
#define GT_SITE_SERVED_COUNTERS(ROW) \
	ROW(COUNT, reads, "sectors", NUMBER, "Sectors that loads of a site asked for.") \
	ROW(COUNT, read_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.") \
	ROW(COUNT, writes, "sectors", NUMBER, "Sectors that its stores wrote to.") \
	ROW(COUNT, atomics, "sectors", NUMBER, "Sectors that its atomics asked for.") \
	ROW(COUNT, bypassed, "sectors", NUMBER, "Sectors that bypassed the cache.") \
	ROW(COUNT, sent_reads, "sectors", NUMBER, "Sectors that the level read from the next for requests of the site.") \
	ROW(COUNT, sent_writes, "sectors", NUMBER, "Sectors that its stores wrote to the next level, if the level does not write back.") \
	ROW(COUNT, partial_writes, "sectors", NUMBER, "Sectors of 32 bytes that stores wrote in part.")

/* Of a level, and of its sites (gcache --causes). */
#define GT_CAUSE_COUNTERS(ROW) \
	ROW(COUNT, compulsory, "sectors", NUMBER, "Load misses of sectors that the cache has not had since it was empty.") \
	ROW(COUNT, capacity, "sectors", NUMBER, "Load misses that a fully associative LRU cache of as many lines has too.") \
	ROW(COUNT, conflict, "sectors", NUMBER, "Load misses that such a cache does not have.") \
	ROW(COUNT, invalidated, "sectors", NUMBER, "Load misses of sectors that a store, an atomic or a discard made invalid.") \
	ROW(COUNT, partial_reads, "sectors", NUMBER, "Sectors that were read from the next level although a store had written a part of them.") \
	ROW(COUNT, elsewhere, "sectors", NUMBER, "Of the compulsory misses, sectors that the cache of another SM had been given before in this kernel.") \
	ROW(COUNT, others_hits, "sectors", NUMBER, "Of the read hits, sectors that a request of another SM had brought in this kernel.") \
	ROW(ARRAY, distance, "sectors", NUMBER, "Load sectors that the cache had before, by reuse distance in lines: four bins a doubling.")

#define GT_SITE_LEVEL_COUNTERS(ROW) GT_SITE_SERVED_COUNTERS(ROW) GT_CAUSE_COUNTERS(ROW)

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

/* Of a level whose load misses a profiler counts by pairs of sectors. */
#define GT_PAIR_COUNTERS(ROW) \
	ROW(COUNT, pair_misses, "sectors", NUMBER, "Sectors of loads that were not found while the other of their aligned pair was, in the same request.")

/* Of a level that a profiler empties between kernels. */
#define GT_BETWEEN_COUNTERS(ROW) \
	ROW(COUNT, left_dirty, "sectors", NUMBER, "Sectors written that were still in the cache at the end of the kernel, and are not in sent_writes.")

/* Of a level of which a kernel finds sectors dirty. */
#define GT_FOUND_COUNTERS(ROW) \
	ROW(COUNT, found_dirty, "sectors", NUMBER, "Sectors that a profiler had left dirty when the kernel began. Only their write-backs are counted elsewhere, in sent_writes and cleaned.") \
	ROW(COUNT, found_writes, "sectors", NUMBER, "Of these, sectors that were written to the next level; they are in sent_writes too.")

/* Of a level that bounds the dirty lines of a set. */
#define GT_CLEAN_COUNTERS(ROW) \
	ROW(COUNT, cleaned, "sectors", NUMBER, "Sectors of 32 bytes written to the next level from lines that stay; they are in sent_writes too.")

/* Of a level that serves loads of constant memory apart. */
#define GT_CONSTANT_COUNTERS(ROW) \
	ROW(COUNT, constant_reads, "sectors", NUMBER, "Sectors that loads of constant memory asked for. They are not in reads.") \
	ROW(COUNT, constant_hits, "sectors", NUMBER, "Of these, sectors that were valid: in the cache of constants beside a level of an SM, else in the level.")

/* Of a level with a cache of constants before it in each GPC. */
#define GT_GPC_CONSTANT_COUNTERS(ROW) \
	ROW(COUNT, gpc_constant_reads, "sectors", NUMBER, "Sectors that loads of constant memory asked the caches of their GPCs for.") \
	ROW(COUNT, gpc_constant_hits, "sectors", NUMBER, "Of these, sectors that were valid there; they are not in constant_reads.")

/* Of a level behind a request coalescer. */
#define GT_COALESCER_COUNTERS(ROW) \
	ROW(COUNT, coalesced_requests, "requests", NUMBER, "Loads that the request coalescer served with an earlier one. They are not in requests.") \
	ROW(COUNT, coalesced_reads, "sectors", NUMBER, "Sectors of these. They are not in reads.")

/* Of a level whose stores wait in a queue. */
#define GT_COMBINE_COUNTERS(ROW) \
	ROW(COUNT, combined_requests, "requests", NUMBER, "Stores of which nothing was sent: all their sectors waited to be sent for other stores.") \
	ROW(COUNT, combined_writes, "sectors", NUMBER, "Sectors of stores that waited to be sent for other stores, and were sent once for both.")

#define GT_LAUNCH_COUNTERS(ROW) \
	ROW(COUNT, launch_reads, "sectors", NUMBER, "Sectors that the launch itself read: code and constants. They are not in reads.") \
	ROW(COUNT, launch_hits, "sectors", NUMBER, "Of these, sectors that were valid in the cache.")

/* Of a level of two halves. */
#define GT_HALVES_COUNTERS(ROW) \
	ROW(COUNT, far_reads, "sectors", NUMBER, "Sectors that loads asked the other half for, which is their home.") \
	ROW(COUNT, far_hits, "sectors", NUMBER, "Of these, sectors that were valid there.") \
	ROW(COUNT, far_neighbours, "sectors", NUMBER, "Sectors that were asked for beside those of far_reads, to fill groups of --fetch.") \
	ROW(COUNT, far_writes, "sectors", NUMBER, "Sectors of stores whose home is the half that is not the SM's.") \
	ROW(COUNT, far_atomics, "sectors", NUMBER, "The same of atomics with a result.") \
	ROW(COUNT, far_reductions, "sectors", NUMBER, "The same of reductions.") \
	ROW(COUNT, dropped_copies, "sectors", NUMBER, "Valid sectors of copies that a store or an atomic made invalid.") \
	ROW(ARRAY, half_reads, "sectors", NUMBER, "Sectors that loads looked up in each half.") \
	ROW(ARRAY, half_hits, "sectors", NUMBER, "Of these, sectors that were valid there.")

/* The same for every kernel. Sets that differ have no number of ways, which is therefore the last number. */
#define GT_SHAPE_COUNTERS(ROW) \
	ROW(SETTING, size, "bytes", SIZE, "Bytes of one cache.") \
	ROW(SETTING, line, "bytes", SIZE, "Bytes of a line.") \
	ROW(SETTING, sector, "bytes", SIZE, "Bytes of a sector, the unit of validity.") \
	ROW(SETTING, sets, "sets", NUMBER, "Sets of one cache.") \
	ROW(SETTING, instances, "caches", NUMBER, "Caches of this level that had a request since they were last emptied: SMs, or 1.") \
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

/* ---- gdram: the stage dram ---- */

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

/* ---- grd, under the name of the profile or table, and again for each class that --by makes ---- */

#define GT_REUSE_COUNTERS(ROW) \
	ROW(WORD, granularity, NULL, NUMBER, "The unit of reuse.") \
	ROW(WORD, per, NULL, NUMBER, "What has an LRU stack of its own.") \
	ROW(WORD, ops, NULL, NUMBER, "The operations that alone were used.") \
	ROW(WORD, private, NULL, NUMBER, "What has a private cache, in the comparison with a shared one.") \
	ROW(WORD, op, NULL, NUMBER, "The operation of an instruction.") \
	ROW(WORD, source, NULL, NUMBER, "The file and line of an instruction.") \
	ROW(COUNT, reservation_fails, "attempts", NUMBER, "Attempts that found no MSHR; they are not references.") \
	ROW(SETTING, sample_every, "lines", NUMBER, "One of this many lines was sampled.") \
	ROW(SETTING, sample_error, "millionths", NUMBER, "The expected error of a ratio due to sampling.") \
	ROW(COUNT, references, "references", NUMBER, "References to lines (or what granularity names).") \
	ROW(COUNT, infinite, "references", NUMBER, "First references to a line.") \
	ROW(ARRAY, distance, "references", NUMBER, "References by reuse distance: distinct other lines since the line's last reference.") \
	ROW(ARRAY, far, "references", NUMBER, "References of larger distances, in bins that double.") \
	ROW(SETTING, lines, "lines", NUMBER, "Lines of the cache.") \
	ROW(SETTING, ways, "lines a set", NUMBER, "Lines of a set.") \
	ROW(SETTING, size, "bytes", SIZE, "Bytes of one cache.") \
	ROW(SETTING, line, "bytes", SIZE, "Bytes of a line.") \
	ROW(COUNT, hits, "references", NUMBER, "References that hit a cache of that size.") \
	ROW(COUNT, compulsory, "references", NUMBER, "Misses of a line that is new.") \
	ROW(COUNT, capacity, "references", NUMBER, "Misses that a fully associative LRU cache of as many lines has too.") \
	ROW(COUNT, conflict, "references", NUMBER, "Misses that such a cache does not have: too many lines map to one set.") \
	ROW(COUNT, spared, "references", NUMBER, "Hits that would be misses in a fully associative cache.") \
	ROW(COUNT, latency_miss, "references", NUMBER, "References to a line that is in flight.") \
	ROW(COUNT, merged, "references", NUMBER, "References that an MSHR merged with an earlier one.") \
	ROW(COUNT, reservation_fail, "attempts", NUMBER, "Attempts that found no MSHR.") \
	ROW(COUNT, alone, "references", NUMBER, "References that hit in a private cache.") \
	ROW(COUNT, together, "references", NUMBER, "References that hit in the shared cache.") \
	ROW(COUNT, gained, "references", NUMBER, "References that hit only in the shared cache.") \
	ROW(COUNT, lost, "references", NUMBER, "References that hit only in a private cache.") \
	ROW(COUNT, expected_hits, "references / 100", NUMBER, "Hits that the model expects, in hundredths of a reference.")

/* ---- the bins of reuse distances (gcache --causes) ---- */

/* Bin 0 is distance 0; from there on each doubling has four bins of equal width, so that bin 1 + 4 k + f begins at 2^k + f 2^k / 4,
 * rounded up. Of the first two doublings some bins are empty. */
#define GT_DISTANCE_BINS 129 /* distances below 2^32 lines */

static inline unsigned gt_distance_bin(uint64_t lines)
{
	if (lines == 0)
		return 0;
	unsigned k = 63 - (unsigned)__builtin_clzll(lines);
	if (k > 31)
		return GT_DISTANCE_BINS - 1;
	return 1 + 4 * k + (unsigned)((lines - (UINT64_C(1) << k)) * 4 >> k);
}

/* The least distance that is beyond a bin: a cache of so many lines has all that is in it. */
static inline uint64_t gt_distance_end(unsigned bin)
{
	unsigned k = bin / 4, f = bin % 4; /* of the next bin */

	return bin == 0 ? 1 : (UINT64_C(1) << k) + (((UINT64_C(1) << k) * f + 3) >> 2);
}

#endif
