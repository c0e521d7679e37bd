/* SPDX-License-Identifier: MIT */
#include "cache/config_store.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"

static int take_size(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->absent = value->word;
	if (!value->word)
		config->size = value->number;
	return 0;
}

static int take_ways(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->ways = value->word ? 0 : value->number;
	config->divided = value->word ? value->number : 1;
	return 0;
}

/* "17,8x6": a set of 17 ways, then six of 8. "none": size and ways decide. */
static int take_sets(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *at = text;
	uint64_t slots = 0;

	config->sets_listed = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	do {
		char item[32], *times;
		uint64_t ways, repeat = 1;
		size_t length = strcspn(at, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
		if ((times = strchr(item, 'x')) != NULL)
			*times++ = '\0';
		if (length >= sizeof item || gt_parse_count(item, 1, GT_LEVEL_SLOTS_MAX, &ways, error) != 0 ||
		    (times && gt_parse_count(times, 1, GT_LEVEL_SETS_MAX, &repeat, error) != 0) ||
		    config->sets_listed + repeat > GT_LEVEL_SETS_MAX || (slots += ways * repeat) > GT_LEVEL_SLOTS_MAX)
			return gt_fail(error, "'%s': expected the ways of each set, such as 17,8x6 (at most %u sets, %u lines)",
				       text, GT_LEVEL_SETS_MAX, GT_LEVEL_SLOTS_MAX);
		while (repeat-- > 0)
			config->set_ways[config->sets_listed++] = (uint32_t)ways;
		at += length;
	} while (*at++ == ',');
	return 0;
}

static int take_index(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_index_parse(value->text, &config->index, &config->index_argument, error);
}

static int take_interleave(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_interleave_parse(value->text, &config->interleave, error);
}

static int take_replace(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_replacement_parse(value->text, &config->replacement, error);
}

/* "4x32": four sets of 32. */
static int take_mshr(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *times = strchr(text, 'x');
	uint64_t sets, entries;
	char head[32];

	config->timed.mshr_sets = 1;
	config->timed.mshr_entries = GT_UNLIMITED;
	if (strcmp(text, "unlimited") == 0)
		return 0;
	snprintf(head, sizeof head, "%.*s", times ? (int)(times - text < 31 ? times - text : 31) : 0, text);
	if (!times || times - text > 31 || gt_parse_count(head, 1, GT_BANKS_MAX, &sets, error) != 0 ||
	    gt_parse_count(times + 1, 1, GT_TIMED_MAX, &entries, error) != 0)
		return gt_fail(error, "'%.100s': expected SETSxENTRIES, such as 4x32, of at most %u sets of %u, or unlimited",
			       text, GT_BANKS_MAX, GT_TIMED_MAX);
	config->timed.mshr_sets = (uint32_t)sets;
	config->timed.mshr_entries = (uint32_t)entries;
	return 0;
}

static int take_latency(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_latency_parse(value->text, &config->timed.latency, error);
}

static int take_launch(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_launch_reads_parse(value->text, &config->launch, error);
}

static int take_hit_cycles(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_cycles_parse(value->text, &config->hit_cycles, error);
}

static int take_miss_cycles(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_cycles_parse(value->text, &config->miss_cycles, error);
}

static int take_delay(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->timed.delay = value->word ? GT_AUTO_DELAY : value->real;
	return 0;
}

/* A value is a field of the config with this number of bytes, in which a word is stored as `word`; or `take` reads it. */
struct place {
	size_t offset, bytes;
	uint64_t word;
	int (*take)(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error);
};

#define FIELD(NAME, WORD) {offsetof(struct gt_level_config, NAME), sizeof((struct gt_level_config *)NULL)->NAME, WORD, NULL}
#define TAKEN(FUNCTION) {0, 0, 0, FUNCTION}

/* Words have the order of the enums in config.h. */
static const struct place places[GT_PARAMETERS] = {
	[GT_LEVEL_SCOPE] = FIELD(shared, 0),
	[GT_LEVEL_SIZE] = TAKEN(take_size),
	[GT_LEVEL_WAYS] = TAKEN(take_ways),
	[GT_LEVEL_LINE] = FIELD(line, 0),
	[GT_LEVEL_SECTOR] = FIELD(sector, 0),
	[GT_LEVEL_SETS] = TAKEN(take_sets),
	[GT_LEVEL_INDEX] = TAKEN(take_index),
	[GT_LEVEL_INTERLEAVE] = TAKEN(take_interleave),
	[GT_LEVEL_SEED] = FIELD(replacement.seed, 0),
	[GT_LEVEL_REPLACE] = TAKEN(take_replace),
	[GT_LEVEL_WRITE] = FIELD(write, 0),
	[GT_LEVEL_ALLOCATE] = FIELD(allocate, 0),
	[GT_LEVEL_PARTIAL] = FIELD(partial, 0),
	[GT_LEVEL_WRITE_HITS] = FIELD(tag_hits, 0),
	[GT_LEVEL_FETCH] = FIELD(fetch, 0),
	[GT_LEVEL_BYPASS] = FIELD(bypass, 0),
	[GT_LEVEL_OPERATORS] = FIELD(operators, 0),
	[GT_LEVEL_HINTS] = FIELD(hints, 0),
	[GT_LEVEL_FLUSH] = FIELD(flush, 0),
	[GT_LEVEL_WARM] = FIELD(warm, 0),
	[GT_LEVEL_ARRIVAL] = FIELD(arrival, 0),
	[GT_LEVEL_LAUNCH_READS] = TAKEN(take_launch),
	[GT_LEVEL_HALVES] = FIELD(halves, 0),
	[GT_LEVEL_DIRTY_WAYS] = FIELD(dirty_ways, GT_LEVEL_SLOTS_MAX),
	[GT_LEVEL_EMIT] = FIELD(emit, 0),
	[GT_LEVEL_BY] = FIELD(by_pc, 0),
	[GT_LEVEL_HIT_CYCLES] = TAKEN(take_hit_cycles),
	[GT_LEVEL_MISS_CYCLES] = TAKEN(take_miss_cycles),
	[GT_LEVEL_PARTITIONS] = FIELD(timed.partitions, 0),
	[GT_LEVEL_BANKS] = FIELD(timed.banks, 0),
	[GT_LEVEL_PORTS] = FIELD(timed.ports, GT_UNLIMITED),
	[GT_LEVEL_MSHR] = TAKEN(take_mshr),
	[GT_LEVEL_MERGES] = FIELD(timed.merges, GT_UNLIMITED),
	[GT_LEVEL_PER_WARP] = FIELD(timed.per_warp, GT_UNLIMITED),
	[GT_LEVEL_LATENCY] = TAKEN(take_latency),
	[GT_LEVEL_HIT_LATENCY] = FIELD(timed.hit_latency, 0),
	[GT_LEVEL_ON_FULL] = FIELD(timed.on_full, 0),
	[GT_LEVEL_UNIT] = FIELD(timed.unit, 0),
	[GT_LEVEL_ISSUE] = FIELD(timed.issue, 0),
	[GT_LEVEL_SCHEDULERS] = FIELD(timed.schedulers, GT_AUTO_SCHEDULERS),
	[GT_LEVEL_FILL] = FIELD(timed.fill_next, 0),
	[GT_LEVEL_CLIP] = FIELD(timed.clip, 0),
	[GT_LEVEL_DELAY] = TAKEN(take_delay),
};

static void store(void *field, size_t bytes, uint64_t number)
{
	bool flag = number != 0;
	uint32_t narrow = (uint32_t)number;

	if (bytes == sizeof flag)
		memcpy(field, &flag, bytes);
	else if (bytes == sizeof narrow)
		memcpy(field, &narrow, bytes);
	else
		memcpy(field, &number, bytes);
}

int gt_level_store(struct gt_level_config *config, enum gt_parameter_id id, const char *text, struct gt_error *error)
{
	const struct place *place = &places[id];
	struct gt_value value;

	if (gt_value_read(&gt_parameters[id].type, text, &value, error) != 0)
		return -1;
	if (place->take)
		return place->take(config, &value, error);
	store((char *)config + place->offset, place->bytes, value.word ? place->word : value.number);
	return 0;
}
