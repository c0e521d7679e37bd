/* SPDX-License-Identifier: MIT */
/* What grd counts, under the name of the profile or table, and again for each class that --by makes. */
#ifndef GT_COUNTER_REUSE_H
#define GT_COUNTER_REUSE_H

#include "counter/field.h"

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

#endif
