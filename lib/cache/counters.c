/* SPDX-License-Identifier: MIT */
/* A level's counters by name, and its shape. */
#include <stddef.h>

#include "cache/serve.h"

#define COUNTER(NAME) {#NAME, offsetof(struct gt_level_counters, NAME)}

static const struct {
	const char *name;
	size_t offset;
} table[] = {
	COUNTER(requests),    COUNTER(reads),	  COUNTER(read_hits),	COUNTER(writes),
	COUNTER(write_hits),  COUNTER(atomics),	  COUNTER(atomic_hits), COUNTER(line_misses),
	COUNTER(sector_misses), COUNTER(evictions), COUNTER(dropped),	COUNTER(sent_requests),
	COUNTER(sent_reads),  COUNTER(sent_writes), COUNTER(sent_atomics), COUNTER(flushed),
	COUNTER(bypassed),
};

/* What the level is: the same for every kernel, so no sums of these make sense. */
static int describe_shape(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	static const char *const writes[] = {
		[GT_WRITE_BACK] = "back", [GT_WRITE_THROUGH] = "through", [GT_WRITE_EVICT] = "evict"};
	static const char *const emits[] = {
		[GT_EMIT_ALL] = "all", [GT_EMIT_NONE] = "none", [GT_EMIT_LATENCY] = "latency"};
	const struct gt_level_config *config = &level->config;
	const struct gt_geometry *geometry = &level->geometry;
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"size", geometry->slots * config->line}, {"line", config->line}, {"sector", config->sector},
		       {"sets", geometry->sets}, {"instances", level->instances_used}, {"ways", geometry->ways}};
	/* Sets that differ have no number of ways. */
	size_t n = sizeof numbers / sizeof numbers[0] - (geometry->ways == 0);

	if (config->absent)
		return gt_count_text(count, "size", "none", error);
	for (size_t i = 0; i < n; i++)
		if (gt_count_number(count, numbers[i].name, numbers[i].value, error) != 0)
			return -1;
	if (gt_count_text(count, "index", config->index->name, error) != 0 ||
	    (level->interleaved && gt_count_text(count, "interleave", config->interleave.scheme->name, error) != 0) ||
	    gt_count_text(count, "replace", config->replacement.policy->name, error) != 0)
		return -1;
	if (!config->translate && gt_count_text(count, "write", writes[config->write], error) != 0)
		return -1;
	/* What is written is what is sent on, unless this says otherwise. */
	if (config->emit == GT_EMIT_MISSES)
		return 0;
	return gt_count_text(count, "emit", emits[config->emit], error);
}

int gt_level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_level_counters *counters = &level->counters;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const char *at = (const char *)counters + table[i].offset;
		if (gt_count_number(count, table[i].name, *(const uint64_t *)(const void *)at, error) != 0)
			return -1;
	}
	if (level->geometry.depths &&
	    (gt_count_array(count, "mru", counters->mru, level->geometry.most_ways, error) != 0 ||
	     gt_count_array(count, "mru_writes", counters->mru_writes, level->geometry.most_ways, error) != 0))
		return -1;
	return describe_shape(level, count, error);
}
