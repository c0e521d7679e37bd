/* SPDX-License-Identifier: MIT */
/* Makes a level: from texts, for users of the library; or as gcache has it: functional, timed or divided by its options, with what it
 * holds before a kernel. */
#include <stdlib.h>
#include <string.h>

#include "cache/config.h"
#include "cache/level.h"
#include "cache/state.h"
#include "cache/stage/stage.h"

/* ---- from texts ---- */

static const struct gt_role *find_role(const char *name)
{
	for (size_t i = 0; i < gt_roles_n; i++)
		if (gt_roles[i].name && strcmp(gt_roles[i].name, name) == 0)
			return &gt_roles[i];
	return NULL;
}

static int set(struct gt_level_settings *settings, const char *name, const char *value, struct gt_error *error)
{
	struct gt_error wrong;

	if (!value)
		return gt_fail(error, "%s: expected a value", name);
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (strcmp(gt_parameters[id].name, name) == 0)
			return gt_level_set(settings, (enum gt_parameter_id)id, value, &wrong) == 0
				       ? 0 : gt_fail(error, "%s: %s", name, wrong.text);
	return gt_fail(error, "no parameter '%s'", name);
}

struct gt_level *gt_level_make(const char *role, const char *const *parameters, const struct gt_gpu *gpu,
			       const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_level_settings settings = {.role = find_role(role)};
	struct gt_level_config config;

	if (!settings.role) {
		gt_fail(error, "no role '%s'", role);
		return NULL;
	}
	if (gt_level_name(&settings, settings.role->name, error) != 0)
		return NULL;
	for (; parameters && parameters[0]; parameters += 2)
		if (set(&settings, parameters[0], parameters[1], error) != 0)
			return NULL;
	if (gt_level_timed(&settings)) {
		gt_fail(error, "expected parameters of the functional model only");
		return NULL;
	}
	if (gt_level_resolve(&settings, gpu, kernel, &config, error) != 0 ||
	    gt_level_check(&config, ~UINT64_C(0), error) != 0)
		return NULL;
	return gt_level_open(&config, error);
}

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
		if (level->config.l2_partitions && !(home.tags = gt_level_instance(level, gt_home_partition(line << level->line_shift), serving->error)))
			return -1;
		if (gt_level_arrive(&home, line, sectors_within(level, line, first, last), false, &slot) != 0)
			return -1;
	}
	return 0;
}

/* Before the requests of a kernel: loads ranges of bytes into a shared level, in their order and by ascending address, valid
 * and clean. Neither the fills nor the evictions are counted or sent. */
static int level_warm(struct gt_level *level, const uint64_t *addresses, const uint64_t *bytes, size_t n,
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

static void warming_clear(struct gt_warming *warming)
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

/* Keeps the ranges of a count, if it is of one of these stages. Returns 0, or -1. */
static int warming_note(struct gt_warming *warming, const struct gt_count *count, struct gt_error *error)
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

/* Brings those of that kernel that the level's config asks for into it, once. Returns 0, or -1. */
static int warming_apply(struct gt_warming *warming, struct gt_level *level, uint64_t kernel, struct gt_error *error)
{
	struct gt_warm_ranges *ranges = &warming->of[level->config.warm];

	if (ranges->kernel != kernel || (ranges->n == 0 && !ranges->uneven))
		return 0;
	if (ranges->uneven)
		return gt_fail(error, "%s: expected as many addresses as bytes", stages[level->config.warm]);
	int result = level_warm(level, ranges->addresses, ranges->bytes, ranges->n, error);
	clear(ranges);
	return result;
}

int gt_cache_stage_check(const struct gt_cache_stage *stage, const struct gt_level_config *config, uint64_t known,
			 struct gt_error *error)
{
	if (gt_level_check(config, known, error) != 0)
		return -1;
	return gt_level_timed(stage->settings) ? gt_timed_check(config, known, error) : 0;
}

static void close_level(struct gt_cache_stage *stage)
{
	gt_level_close(stage->level);
	gt_timed_close(stage->timed);
	gt_divided_close(stage->divided);
	stage->level = NULL;
	stage->timed = NULL;
	stage->divided = NULL;
}

static int open_level(struct gt_cache_stage *stage, const struct gt_level_config *config, struct gt_error *error)
{
	close_level(stage);
	if (gt_level_timed(stage->settings))
		stage->timed = gt_timed_open(config, error);
	else if (gt_level_divisible(config, stage->lanes))
		stage->divided = gt_divided_open(config, stage->lanes, error);
	else
		stage->level = gt_level_open(config, error);
	return stage->level || stage->timed || stage->divided ? 0 : -1;
}

/* The level with all sets; NULL if the level is timed, or divided by SM. */
static struct gt_level *functional(const struct gt_cache_stage *stage)
{
	return stage->divided ? gt_divided_whole(stage->divided) : stage->level;
}

static int warm(struct gt_cache_stage *stage, struct gt_error *error)
{
	struct gt_level *level = functional(stage);

	return level ? warming_apply(&stage->warming, level, stage->kernel, error) : 0;
}

int gt_cache_stage_begin(struct gt_cache_stage *stage, const struct gt_level_config *config, const struct gt_gpu *gpu,
			 const struct gt_kernel *kernel, struct gt_error *error)
{
	char *said = gt_level_said(stage->settings, gpu, kernel, config, error);

	if (!said)
		return -1;
	bool changed = !stage->said || strcmp(said, stage->said) != 0;
	free(stage->said);
	stage->said = said;
	stage->kernel = kernel->id;
	if (changed && open_level(stage, config, error) != 0)
		return -1;
	if (stage->timed) {
		if (gt_timed_window(stage->timed, &kernel->prefers.window, error) != 0)
			return -1;
		gt_timed_begin(stage->timed);
		gt_timed_launch(stage->timed, kernel);
	} else if (stage->divided) {
		gt_divided_begin(stage->divided, kernel);
	} else {
		gt_level_begin(stage->level);
		gt_level_launch(stage->level, kernel);
		gt_level_window(stage->level, &kernel->prefers.window, kernel->prefers.l2_persisting_bytes);
	}
	return warm(stage, error);
}

int gt_cache_stage_note(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	return warming_note(&stage->warming, count, error) == 0 ? warm(stage, error) : -1;
}

/* The requests of a launch are a batch of their own. A request with a hint, or in a window, may concern other sets than that of
 * its line. */
bool gt_cache_stage_relays(const struct gt_cache_stage *stage, bool hints)
{
	const struct gt_level *level = functional(stage);

	return !level || !(level->launch_gpcs > 0 || (stage->divided && (hints || level->window.bytes > 0)));
}

int gt_cache_stage_take(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_sink *sent,
			struct gt_error *error)
{
	if (stage->timed)
		return gt_timed_take(stage->timed, requests, sent, error);
	if (!stage->divided)
		return gt_level_take(stage->level, requests, sent, error);
	gt_divided_note(stage->divided, requests);
	return gt_level_take(functional(stage), requests, sent, error);
}

int gt_cache_stage_finish(struct gt_cache_stage *stage, struct gt_sink *sent, struct gt_error *error)
{
	if (stage->divided)
		return gt_divided_finish(stage->divided, sent, error);
	return stage->timed ? gt_timed_finish(stage->timed, sent, error) : gt_level_finish(stage->level, sent, error);
}

int gt_cache_stage_count(const struct gt_cache_stage *stage, struct gt_count *count, struct gt_error *error)
{
	const char *name = stage->settings->name;

	if (stage->divided)
		return gt_divided_count(stage->divided, name, stage->kernel, count, error);
	return stage->timed ? gt_timed_count(stage->timed, name, stage->kernel, count, error)
			    : gt_level_count(stage->level, name, stage->kernel, count, error);
}

void gt_cache_stage_close(struct gt_cache_stage *stage)
{
	close_level(stage);
	free(stage->said);
	warming_clear(&stage->warming);
}
