/* SPDX-License-Identifier: MIT */
#include "report/counter.h"

#include <stddef.h>
#include <string.h>

/* Rows of one stage stand before the rows of any stage. */
static const struct gt_counter counters[] = {
	{"order", "accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"order", "loads", "warp accesses", false, GT_PRINT_NUMBER},
	{"order", "stores", "warp accesses", false, GT_PRINT_NUMBER},
	{"order", "atomics", "warp accesses", false, GT_PRINT_NUMBER},
	{"order", "threads", "lanes", false, GT_PRINT_NUMBER},

	{"allocations", "addresses", NULL, true, GT_PRINT_NOT},
	{"allocations", "bytes", "bytes", true, GT_PRINT_NUMBER},
	{"allocations", "names", NULL, true, GT_PRINT_NUMBER},

	{"copies", "addresses", NULL, true, GT_PRINT_NOT},
	{"copies", "bytes", "bytes", true, GT_PRINT_NUMBER},

	{"ptx", "registers", "registers a thread", true, GT_PRINT_NUMBER},
	{"ptx", "registers_estimated", NULL, true, GT_PRINT_NUMBER},
	{"ptx", "shared_bytes", "bytes", true, GT_PRINT_SIZE},
	{"ptx", "warp_instructions", "instructions", false, GT_PRINT_NUMBER},
	{"ptx", "accesses", "warp accesses", false, GT_PRINT_NUMBER},

	{"coalesce", "accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "load_accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "store_accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "atomic_accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "reduction_accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "shared_accesses", "warp accesses", false, GT_PRINT_NUMBER},
	{"coalesce", "bank_passes", "passes", false, GT_PRINT_NUMBER},
	{"coalesce", "shared_cycles", "cycles", false, GT_PRINT_NUMBER},
	{"coalesce", "banks", NULL, true, GT_PRINT_NUMBER},

	{"schedule", "resident_blocks", "blocks an SM", true, GT_PRINT_NUMBER},
	{"schedule", "limited_by", NULL, true, GT_PRINT_NUMBER},
	{"schedule", "sms", "SMs", true, GT_PRINT_NUMBER},
	{"schedule", "l1_bytes", "bytes", true, GT_PRINT_SIZE},
	{"schedule", "shared_carveout", "bytes", true, GT_PRINT_SIZE},
	{"schedule", "waves", "waves", false, GT_PRINT_NUMBER},
	{"schedule", "steps", "steps", false, GT_PRINT_NUMBER},
	{"schedule", "blocks", "blocks", false, GT_PRINT_NUMBER},
	{"schedule", "modelled_blocks", "blocks", false, GT_PRINT_NUMBER},
	{"schedule", "rows", "rows", false, GT_PRINT_NUMBER},

	{NULL, "size", "bytes", true, GT_PRINT_SIZE},
	{NULL, "line", "bytes", true, GT_PRINT_SIZE},
	{NULL, "sector", "bytes", true, GT_PRINT_SIZE},
	{NULL, "ways", "lines a set", true, GT_PRINT_NUMBER},
	{NULL, "sets", "sets", true, GT_PRINT_NUMBER},
	{NULL, "instances", "caches", true, GT_PRINT_NUMBER},
	{NULL, "channels", "channels", true, GT_PRINT_NUMBER},
	{NULL, "banks", "banks a channel", true, GT_PRINT_NUMBER},
	{NULL, "row", "bytes", true, GT_PRINT_SIZE},
	{NULL, "interleave", "bytes", true, GT_PRINT_SIZE},

	{NULL, "requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "load_requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "store_requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "atomic_requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "reduction_requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "sent_requests", "requests", false, GT_PRINT_NUMBER},
	{NULL, "sectors", "sectors", false, GT_PRINT_NUMBER},
	{"coalesce", "load_warp_sectors", "sectors", false, GT_PRINT_NOT},
	{NULL, "load_sectors", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "store_sectors", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "atomic_sectors", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "reduction_sectors", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "reads", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "read_hits", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "writes", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "write_hits", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "atomics", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "atomic_hits", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "line_misses", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "sector_misses", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "evictions", "lines", false, GT_PRINT_NUMBER},
	{NULL, "dropped", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "sent_reads", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "sent_writes", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "sent_atomics", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "flushed", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "bypassed", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "mru", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "mru_writes", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "steps", "steps", false, GT_PRINT_NUMBER},
	{NULL, "instance_steps", "steps", false, GT_PRINT_NUMBER},
	{NULL, "stalls", "steps", false, GT_PRINT_NUMBER},
	{NULL, "port_conflicts", "attempts", false, GT_PRINT_NUMBER},
	{NULL, "reservation_fails", "attempts", false, GT_PRINT_NUMBER},
	{NULL, "lookups", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "hit_lookups", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "passed_lookups", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "merges", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "reservations", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "latency_misses", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "latency_steps", "steps", false, GT_PRINT_NUMBER},
	{NULL, "load_steps", "steps", false, GT_PRINT_NUMBER},
	{NULL, "busy_entries", "entries", false, GT_PRINT_NUMBER},
	{NULL, "latency", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "load_latency", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "mshr", "lookups", false, GT_PRINT_NUMBER},
	{NULL, "channel_reads", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "channel_writes", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "channel_row_hits", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "row_hits", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "row_misses", "sectors", false, GT_PRINT_NUMBER},
	{NULL, "lines", "lines", true, GT_PRINT_NUMBER},
	{NULL, "references", "references", false, GT_PRINT_NUMBER},
	{NULL, "infinite", "references", false, GT_PRINT_NUMBER},
	{NULL, "distance", "references", false, GT_PRINT_NUMBER},
	{NULL, "far", "references", false, GT_PRINT_NUMBER},
	{NULL, "hits", "references", false, GT_PRINT_NUMBER},
	{NULL, "compulsory", "references", false, GT_PRINT_NUMBER},
	{NULL, "capacity", "references", false, GT_PRINT_NUMBER},
	{NULL, "conflict", "references", false, GT_PRINT_NUMBER},
	{NULL, "spared", "references", false, GT_PRINT_NUMBER},
	{NULL, "latency_miss", "references", false, GT_PRINT_NUMBER},
	{NULL, "merged", "references", false, GT_PRINT_NUMBER},
	{NULL, "reservation_fail", "attempts", false, GT_PRINT_NUMBER},
	{NULL, "alone", "references", false, GT_PRINT_NUMBER},
	{NULL, "together", "references", false, GT_PRINT_NUMBER},
	{NULL, "gained", "references", false, GT_PRINT_NUMBER},
	{NULL, "lost", "references", false, GT_PRINT_NUMBER},
	{NULL, "expected_hits", "references / 100", false, GT_PRINT_NUMBER},
	{NULL, "sample_every", "lines", true, GT_PRINT_NUMBER},
	{NULL, "sample_error", "millionths", true, GT_PRINT_NUMBER},
};

static const struct gt_counter unknown = {NULL, NULL, NULL, false, GT_PRINT_NUMBER};

const struct gt_counter *gt_counter_about(const char *stage, const char *name)
{
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
		if (strcmp(counters[i].name, name) == 0 &&
		    (!counters[i].stage || strcmp(counters[i].stage, stage) == 0))
			return &counters[i];
	const char *class = strrchr(name, '.'); /* "load.global.references" is counted as "references" is */
	return class ? gt_counter_about(stage, class + 1) : &unknown;
}
