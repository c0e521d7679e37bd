/* SPDX-License-Identifier: MIT */
/* A level's counters by name, and its shape. */
#include <stddef.h>
#include <string.h>

#include "cache/serve.h"
#include "stream/counted.h"

struct shape {
	GT_SHAPE_COUNTERS(GT_COUNTER_FIELD)
};

/* The level's parameters, which are equal in all kernels and are not summed. */
static int describe_shape(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	static const char *const writes[] = {
		[GT_WRITE_BACK] = "back", [GT_WRITE_THROUGH] = "through", [GT_WRITE_EVICT] = "evict"};
	static const char *const emits[] = {
		[GT_EMIT_ALL] = "all", [GT_EMIT_NONE] = "none", [GT_EMIT_LATENCY] = "latency"};
	const struct gt_level_config *config = &level->config;
	const struct gt_geometry *geometry = &level->geometry;
	const struct shape shape = {
		.size = geometry->slots * config->line,
		.line = config->line,
		.sector = config->sector,
		.sets = geometry->sets,
		.instances = config->halves ? GT_HALVES : config->shared ? 1 : *level->instances_all,
		.ways = geometry->ways,
	};
	size_t bytes = geometry->ways ? sizeof shape : offsetof(struct shape, ways);

	if (config->absent)
		return gt_count_text(count, "size", "none", error);
	if (gt_count_numbers(count, &gt_counters_shape, &shape, bytes, error) != 0 ||
	    gt_count_text(count, "index", config->index->name, error) != 0 ||
	    (level->interleaved && gt_count_text(count, "interleave", config->interleave.scheme->name, error) != 0) ||
	    gt_count_text(count, "replace", config->replacement.policy->name, error) != 0)
		return -1;
	if (!config->translate && gt_count_text(count, "write", writes[config->write], error) != 0)
		return -1;
	/* Without this counter the rows written are the requests sent on. */
	if (config->emit == GT_EMIT_MISSES)
		return 0;
	return gt_count_text(count, "emit", emits[config->emit], error);
}

void gt_level_join_counts(struct gt_level *level, const struct gt_level *other)
{
	gt_counters_add(&level->counters, &other->counters, sizeof other->counters);
	gt_counters_add(&level->hints, &other->hints, sizeof other->hints);
	gt_counters_add(&level->bypass, &other->bypass, sizeof other->bypass);
	gt_counters_add(&level->fetch, &other->fetch, sizeof other->fetch);
	gt_counters_add(&level->between, &other->between, sizeof other->between);
	gt_counters_add(&level->clean, &other->clean, sizeof other->clean);
	gt_counters_add(&level->launch, &other->launch, sizeof other->launch);
	gt_counters_add(&level->halves, &other->halves, sizeof other->halves);
}

int gt_level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_level_counters *counters = &level->counters;

	if (gt_count_numbers(count, &gt_counters_level, counters, sizeof *counters, error) != 0)
		return -1;
	if (level->geometry.depths && !level->config.halves &&
	    gt_count_arrays(count, &gt_counters_level, counters, GT_BYTE_WAYS, level->geometry.most_ways, error) != 0)
		return -1;
	static const struct gt_hint_counters none;
	if (memcmp(&level->hints, &none, sizeof none) != 0 &&
	    gt_count_numbers(count, &gt_counters_hints, &level->hints, sizeof level->hints, error) != 0)
		return -1;
	if (level->bypass.bypassed_reads + level->bypass.bypassed_writes > 0 &&
	    gt_count_numbers(count, &gt_counters_bypass, &level->bypass, sizeof level->bypass, error) != 0)
		return -1;
	if (level->config.fetch > level->config.sector &&
	    gt_count_numbers(count, &gt_counters_fetch, &level->fetch, sizeof level->fetch, error) != 0)
		return -1;
	if (level->config.flush == GT_FLUSH_BETWEEN &&
	    gt_count_numbers(count, &gt_counters_between, &level->between, sizeof level->between, error) != 0)
		return -1;
	if (level->config.dirty_ways < GT_LEVEL_SLOTS_MAX &&
	    gt_count_numbers(count, &gt_counters_clean, &level->clean, sizeof level->clean, error) != 0)
		return -1;
	if (gt_launch_reads_any(&level->config.launch) &&
	    gt_count_numbers(count, &gt_counters_launch, &level->launch, sizeof level->launch, error) != 0)
		return -1;
	if (level->config.halves && (gt_count_numbers(count, &gt_counters_halves, &level->halves, sizeof level->halves, error) != 0 ||
				     gt_count_arrays(count, &gt_counters_halves, &level->halves, GT_HALVES, GT_HALVES, error) != 0))
		return -1;
	return describe_shape(level, count, error) == 0 ? gt_by_pc_count(&level->by_pc, count, error) : -1;
}
