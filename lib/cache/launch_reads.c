/* SPDX-License-Identifier: MIT */
/* What a launch reads by itself, which no trace has: each GPC that gets a block fetches the kernel's code, and the launch its
 * constants. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/deferred.h"
#include "cache/level.h"
#include "cache/serve.h"
#include "stream/op.h"

/* No device memory is there: virtual addresses of GPUs have up to 57 bits, and these have more. */
#define CONSTANTS (UINT64_C(1) << 60)
#define CODE (UINT64_C(1) << 61)
#define CODE_SLOT_SHIFT 9 /* kernels begin at multiples of 512 bytes */

/* Where a kernel's code is: a function of its name, so that a kernel launched again finds it. A pass that gtrace-record
 * --replay adds has the name of its kernel and " pass" and a number. */
static uint64_t code_of(const char *name)
{
	const char *pass = strstr(name, " pass ");

	return CODE + ((XXH3_64bits(name, pass ? (size_t)(pass - name) : strlen(name)) & UINT32_MAX) << CODE_SLOT_SHIFT);
}

void gt_level_launch(struct gt_level *level, const struct gt_kernel *kernel)
{
	const struct gt_launch_reads *launch = &level->config.launch_reads;
	uint64_t blocks = gt_kernel_blocks(kernel);

	if (!gt_launch_reads_any(launch))
		return;
	level->launch_code = code_of(kernel->name);
	level->launch_gpcs = blocks > 0 && blocks < launch->gpcs ? blocks : launch->gpcs;
}

/* Reads `n` sectors, one a request, that follow each other from `first` on; after `bytes` they begin again. */
static int read_sectors(struct gt_serving *serving, uint64_t first, uint64_t bytes, uint64_t n)
{
	struct gt_level *level = serving->level;
	gt_serve *const *of_class = level->config.l2_partitions ? level->in_partition : level->serve; /* GPCs are of no partition */
	gt_serve *serve = of_class[level->class_of[serving->request.op]];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = first + i * GT_SECTOR % bytes;
		serving->request.address = at / GT_LINE * GT_LINE;
		serving->request.sectors = (uint8_t)(1U << at % GT_LINE / GT_SECTOR);
		if (level->config.l2_partitions && !(serving->tags = gt_level_instance(level, gt_home_partition(at), serving->error)))
			return -1;
		if (serve(serving) != 0)
			return -1;
	}
	return 0;
}

/* They go the way of loads, and are then taken out of the counters of loads. */
static int serve_reads(struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	const struct gt_launch_reads *launch = &level->config.launch_reads;
	const struct gt_level_counters before = level->counters;
	const struct gt_fetch_counters fetch = level->fetch;
	const struct gt_bypass_counters bypass = level->bypass;
	struct gt_level_counters *counters = &level->counters, after;

	for (; level->launch_gpcs > 0; level->launch_gpcs--)
		if (launch->code > 0 && read_sectors(serving, level->launch_code, launch->code, launch->code / GT_SECTOR) != 0)
			return -1;
	if (launch->reads > 0 && read_sectors(serving, CONSTANTS, launch->bytes, launch->reads) != 0)
		return -1;
	after = level->counters;
	level->launch_reads.launch_reads = after.reads + after.bypassed - before.reads - before.bypassed;
	level->launch_reads.launch_hits = after.read_hits - before.read_hits;
	*counters = before;
	level->fetch = fetch;
	level->bypass = bypass;
	counters->evictions = after.evictions;
	counters->sent_requests = after.sent_requests;
	counters->sent_reads = after.sent_reads;
	counters->sent_writes = after.sent_writes;
	return 0;
}

int gt_level_serve_launch_reads(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error)
{
	static const uint64_t never[GT_LINE / GT_SECTOR] = {GT_NO_USE, GT_NO_USE, GT_NO_USE, GT_NO_USE};

	if (level->launch_gpcs == 0)
		return 0;
	struct gt_serving serving = {
		.level = level, .tags = gt_level_instance(level, 0, error), .error = error,
		.sent = level->config.emit == GT_EMIT_MISSES ? sent : &level->dropped,
		.request = {.step = step, .op = gt_op(GT_LOAD, GT_CONSTANT, GT_OPERATOR_NONE)}};

	if (!serving.tags || gt_sink_begin(serving.sent, GT_REQUESTS, level->scheduled, error) != 0)
		return -1;
	serving.tags->next_use = never; /* a policy that looks ahead sees the rows only */
	return serve_reads(&serving);
}
