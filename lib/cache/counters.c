/* SPDX-License-Identifier: MIT */
/* A level's counters by name, and its shape. */
#include <inttypes.h>
#include <stdio.h>

#include "base/options.h"
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

/* Words, because a sum over kernels would mean nothing. */
static int describe_shape(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_level_config *config = &level->config;
	const struct gt_geometry *geometry = &level->geometry;
	char size[32], sets[32], ways[32], line[32], sector[32];

	gt_format_size(geometry->slots * config->line, size);
	gt_format_size(config->line, line);
	gt_format_size(config->sector, sector);
	snprintf(sets, sizeof sets, "%" PRIu32, geometry->sets);
	if (geometry->ways)
		snprintf(ways, sizeof ways, "%" PRIu32, geometry->ways);
	else
		snprintf(ways, sizeof ways, "unequal");
	const struct {
		const char *name, *text;
	} shape[] = {{"size", size}, {"sets", sets}, {"ways", ways}, {"line", line}, {"sector", sector},
		     {"index", config->index->name}, {"replace", config->replacement.policy->name}};
	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
		if (gt_count_text(count, shape[i].name, shape[i].text, error) != 0)
			return -1;
	return 0;
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
