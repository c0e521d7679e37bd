/* SPDX-License-Identifier: MIT */
#include "cache/warm.h"

#include <stdlib.h>
#include <string.h>

#include "cache/serve.h"

static int discard(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	(void)error;
	rows->n = 0;
	return 0;
}

/* The sectors of a line that have a byte in [first, last]. */
static uint64_t sectors_within(const struct gt_level *level, uint64_t line, uint64_t first, uint64_t last)
{
	uint64_t base = line << level->line_shift, sector = level->config.sector;
	uint64_t from = first > base ? (first - base) / sector : 0;
	uint64_t to = last - base < level->config.line ? (last - base) / sector : level->sectors - 1;

	return (UINT64_MAX >> (63 - to)) & (UINT64_MAX << from);
}

static int warm_range(const struct gt_serving *serving, uint64_t first, uint64_t last)
{
	struct gt_level *level = serving->level;
	struct gt_serving home = *serving;
	uint32_t slot;

	for (uint64_t line = first >> level->line_shift; line <= last >> level->line_shift; line++) {
		if (level->config.halves && !(home.tags = gt_level_instance(level, gt_home_of(line << level->line_shift), serving->error)))
			return -1;
		if (gt_level_arrive(&home, line, sectors_within(level, line, first, last), false, &slot) != 0)
			return -1;
	}
	return 0;
}

int gt_level_warm(struct gt_level *level, const uint64_t *addresses, const uint64_t *bytes, size_t n,
		  struct gt_error *error)
{
	struct gt_level_counters before = level->counters;
	struct gt_tags *tags = gt_level_instance(level, 0, error);
	struct gt_sink sink = {gt_rows_new(GT_ROWS_BATCH, error), discard, NULL};
	const struct gt_serving serving = {.level = level, .tags = tags, .sent = &sink, .error = error};
	int result = tags && sink.rows ? gt_sink_begin(&sink, GT_REQUESTS, false, error) : -1;

	for (size_t i = 0; result == 0 && i < n; i++) {
		if (bytes[i] == 0)
			continue;
		if (addresses[i] > UINT64_MAX - bytes[i] || bytes[i] > GT_WARM_MAX)
			result = gt_fail(error, "what was copied into the memory: expected ranges of at most %d GB", (int)(GT_WARM_MAX >> 30));
		else
			result = warm_range(&serving, addresses[i], addresses[i] + bytes[i] - 1);
	}
	gt_rows_free(sink.rows);
	level->counters = before;
	return result;
}

static void clear(struct gt_warm_ranges *ranges)
{
	free(ranges->addresses);
	free(ranges->bytes);
	*ranges = (struct gt_warm_ranges){0};
}

void gt_warming_clear(struct gt_warming *warming)
{
	for (int from = 0; from < GT_WARMS; from++)
		clear(&warming->of[from]);
}

static int keep(struct gt_warm_ranges *ranges, const struct gt_count_entry *addresses, const struct gt_count_entry *bytes,
		struct gt_error *error)
{
	size_t size = bytes->n * sizeof *bytes->array;

	if (bytes->n == 0)
		return 0;
	ranges->addresses = malloc(size);
	ranges->bytes = malloc(size);
	if (!ranges->addresses || !ranges->bytes)
		return gt_fail_memory(error, "what a level holds");
	memcpy(ranges->addresses, addresses->array, size);
	memcpy(ranges->bytes, bytes->array, size);
	ranges->n = bytes->n;
	return 0;
}

static const char *const stages[GT_WARMS] = {
	[GT_WARM_NONE] = "", [GT_WARM_COPIES] = "copies", [GT_WARM_ALLOCATIONS] = "allocations"};

int gt_warming_note(struct gt_warming *warming, const struct gt_count *count, struct gt_error *error)
{
	const struct gt_count_entry *addresses = gt_count_find(count, "addresses"), *bytes = gt_count_find(count, "bytes");
	int from = GT_WARM_NONE + 1;

	while (from < GT_WARMS && strcmp(count->stage, stages[from]) != 0)
		from++;
	if (from == GT_WARMS || !addresses || !bytes)
		return 0;
	clear(&warming->of[from]);
	warming->of[from].kernel = count->kernel;
	warming->of[from].uneven =
		addresses->kind != GT_COUNT_ARRAY || bytes->kind != GT_COUNT_ARRAY || addresses->n != bytes->n;
	return warming->of[from].uneven ? 0 : keep(&warming->of[from], addresses, bytes, error);
}

int gt_warming_apply(struct gt_warming *warming, struct gt_level *level, uint64_t kernel, struct gt_error *error)
{
	struct gt_warm_ranges *ranges = &warming->of[level->config.warm];

	if (ranges->kernel != kernel || (ranges->n == 0 && !ranges->uneven))
		return 0;
	if (ranges->uneven)
		return gt_fail(error, "%s: expected as many addresses as bytes", stages[level->config.warm]);
	int result = gt_level_warm(level, ranges->addresses, ranges->bytes, ranges->n, error);
	clear(ranges);
	return result;
}
