/* SPDX-License-Identifier: MIT */
/* Opens a level and its instances, and counts for it. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/level.h"
#include "cache/state.h"
#include "stream/counted.h"
#include "stream/op.h"

static int by_pc_open(struct gt_by_pc *by, struct gt_error *error)
{
	return gt_map_open(&by->index, 64, error);
}

static void by_pc_close(struct gt_by_pc *by)
{
	gt_map_close(&by->index);
	free(by->pcs);
	by->pcs = NULL;
}

/* A kernel begins: the counts are zero, and so are the level's. */
static void by_pc_begin(struct gt_by_pc *by)
{
	if (by->n > 0)
		gt_map_clear(&by->index);
	by->n = 0;
	by->reads = by->hits = 0;
}

static int compare_pcs(const void *left, const void *right)
{
	uint64_t a = ((const struct gt_pc_reads *)left)->pc, b = ((const struct gt_pc_reads *)right)->pc;

	return (a > b) - (a < b);
}

static int count_pc(struct gt_count *count, const struct gt_pc_reads *one, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "0x%" PRIx64 ".reads", one->pc);
	if (gt_count_number(count, name, one->reads, error) != 0)
		return -1;
	snprintf(name, sizeof name, "0x%" PRIx64 ".read_hits", one->pc);
	return gt_count_number(count, name, one->hits, error);
}

/* Appends PC.reads and PC.read_hits of each instruction that read, in the order of the instructions. */
static int by_pc_count(const struct gt_by_pc *by, struct gt_count *count, struct gt_error *error)
{
	struct gt_pc_reads *sorted = by->n > 0 ? malloc(by->n * sizeof *sorted) : NULL;
	int result = 0;

	if (by->n == 0)
		return 0;
	if (!sorted)
		return gt_fail_memory(error, "counts by instruction");
	memcpy(sorted, by->pcs, by->n * sizeof *sorted);
	qsort(sorted, by->n, sizeof *sorted, compare_pcs);
	for (size_t i = 0; i < by->n && result == 0; i++)
		result = count_pc(count, &sorted[i], error);
	free(sorted);
	return result;
}

/* ---- counts by site, and causes of misses ---- */

/* Appends a number or an array of a class. */
static int count_one(struct gt_count *count, const char *class, const struct gt_count_entry *entry, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s%.*s", GT_SITE_NAME, class, GT_COUNT_NAME - GT_SITE_NAME - 1, entry->name);
	if (entry->kind == GT_COUNT_ARRAY)
		return gt_count_array(count, name, entry->array, entry->n, error);
	return gt_count_number(count, name, entry->number, error);
}

static size_t bins_of(const struct gt_cause_counters *causes)
{
	size_t n = GT_DISTANCE_BINS;

	while (n > 0 && causes->distance[n - 1] == 0)
		n--;
	return n;
}

/* Those that the level can have. */
static int count_causes(const struct gt_level *level, const struct gt_cause_counters *causes, struct gt_count *count, struct gt_error *error)
{
	const size_t partial = offsetof(struct gt_cause_counters, partial_reads), elsewhere = offsetof(struct gt_cause_counters, elsewhere),
		     others = offsetof(struct gt_cause_counters, others_hits), end = offsetof(struct gt_cause_counters, distance);
	const bool shared = level->config.shared;

	if (gt_count_some(count, &gt_counters_causes, causes, 0, partial, error) != 0 ||
	    gt_count_some(count, &gt_counters_causes, causes, partial, elsewhere, error) != 0)
		return -1;
	if (gt_count_some(count, &gt_counters_causes, causes, shared ? others : elsewhere, shared ? end : others, error) != 0)
		return -1;
	return gt_count_arrays(count, &gt_counters_causes, causes, GT_DISTANCE_BINS, bins_of(causes), error);
}

static int count_all_causes(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	struct gt_cause_counters total = {0};

	if (!level->full)
		return 0;
	for (size_t i = 0; i < level->by_site.n; i++)
		gt_counters_add(&total, &level->by_site.noted[i].causes, sizeof total);
	return count_causes(level, &total, count, error);
}

static int count_site(const struct gt_level *level, size_t site, struct gt_count *one, struct gt_error *error)
{
	const struct gt_noted *noted = &level->by_site.noted[site];
	const size_t sent_writes = offsetof(struct gt_served, sent_writes), partial = offsetof(struct gt_served, partial_writes);
	const bool back = level->config.write == GT_WRITE_BACK; /* what is sent then is what other requests wrote */

	if (gt_count_some(one, &gt_counters_site_level, &noted->served, 0, back ? sent_writes : partial, error) != 0 ||
	    gt_count_some(one, &gt_counters_site_level, &noted->served, partial, sizeof noted->served, error) != 0)
		return -1;
	return level->full ? count_causes(level, &noted->causes, one, error) : 0;
}

/* The counters of a site have its name before theirs. */
static int append_site(const struct gt_level *level, size_t site, struct gt_count *count, struct gt_error *error)
{
	char name[GT_SITE_NAME], class[GT_SITE_NAME + 1];
	struct gt_count one;
	int result;

	gt_count_begin(&one, "", 0);
	result = count_site(level, site, &one, error);
	snprintf(class, sizeof class, "%s.", gt_site_format(&level->by_site.sites, site, name));
	for (size_t i = 0; i < one.n && result == 0; i++)
		result = count_one(count, class, &one.entries[i], error);
	gt_count_clear(&one);
	return result;
}

/* By instruction, and by the order in which they were met. */
static int compare_sites(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int count_sites(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_by_site *by = &level->by_site;
	int result = 0;

	if (level->config.by != GT_BY_SITE || by->n == 0)
		return 0;
	uint64_t *order = malloc(by->n * sizeof *order);
	if (!order)
		return gt_fail_memory(error, "counts by site");
	for (size_t i = 0; i < by->n; i++)
		order[i] = (uint64_t)by->sites.sites[i].pc << 32 | i;
	qsort(order, by->n, sizeof *order, compare_sites);
	for (size_t i = 0; i < by->n && result == 0; i++)
		result = append_site(level, order[i] & UINT32_MAX, count, error);
	free(order);
	return result;
}

/* ---- a level's counters by name, and its shape ---- */

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
		.instances = config->l2_partitions ? GT_L2_PARTITIONS : config->shared ? 1 : level->instances_all->used,
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
	gt_counters_add(&level->pair, &other->pair, sizeof other->pair);
	gt_counters_add(&level->found, &other->found, sizeof other->found);
	gt_counters_add(&level->between, &other->between, sizeof other->between);
	gt_counters_add(&level->clean, &other->clean, sizeof other->clean);
	gt_counters_add(&level->constants, &other->constants, sizeof other->constants);
	gt_counters_add(&level->launch_reads, &other->launch_reads, sizeof other->launch_reads);
	gt_counters_add(&level->coalesced, &other->coalesced, sizeof other->coalesced);
	gt_counters_add(&level->combined, &other->combined, sizeof other->combined);
	gt_counters_add(&level->l2_partitions, &other->l2_partitions, sizeof other->l2_partitions);
}

/* Writes the counters, and the level's shape in words, into a count that has begun. */
static int level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_level_counters *counters = &level->counters;

	if (gt_count_numbers(count, &gt_counters_level, counters, sizeof *counters, error) != 0)
		return -1;
	if (level->geometry.depths && !level->config.l2_partitions &&
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
	if (level->config.pairs && gt_count_numbers(count, &gt_counters_pair, &level->pair, sizeof level->pair, error) != 0)
		return -1;
	if (level->config.flush == GT_FLUSH_BETWEEN &&
	    gt_count_numbers(count, &gt_counters_between, &level->between, sizeof level->between, error) != 0)
		return -1;
	if (level->config.found_dirty > 0 && gt_count_numbers(count, &gt_counters_found_dirty, &level->found, sizeof level->found, error) != 0)
		return -1;
	if (level->config.dirty_ways < GT_LEVEL_SLOTS_MAX &&
	    gt_count_numbers(count, &gt_counters_clean, &level->clean, sizeof level->clean, error) != 0)
		return -1;
	if (level->constants.constant_reads > 0 &&
	    gt_count_numbers(count, &gt_counters_constants, &level->constants, sizeof level->constants, error) != 0)
		return -1;
	if (level->gpc_constants.gpc_constant_reads > 0 &&
	    gt_count_numbers(count, &gt_counters_gpc_constants, &level->gpc_constants, sizeof level->gpc_constants, error) != 0)
		return -1;
	if (gt_launch_reads_any(&level->config.launch_reads) &&
	    gt_count_numbers(count, &gt_counters_launch_reads, &level->launch_reads, sizeof level->launch_reads, error) != 0)
		return -1;
	if (level->config.coalescer.requests > 0 &&
	    gt_count_numbers(count, &gt_counters_coalescer, &level->coalesced, sizeof level->coalesced, error) != 0)
		return -1;
	if (level->config.combining.lines > 0 && gt_count_numbers(count, &gt_counters_combine, &level->combined, sizeof level->combined, error) != 0)
		return -1;
	if (level->config.l2_partitions && (gt_count_numbers(count, &gt_counters_l2_partitions, &level->l2_partitions, sizeof level->l2_partitions, error) != 0 ||
				     gt_count_arrays(count, &gt_counters_l2_partitions, &level->l2_partitions, GT_L2_PARTITIONS, GT_L2_PARTITIONS, error) != 0))
		return -1;
	if (count_all_causes(level, count, error) != 0 || describe_shape(level, count, error) != 0)
		return -1;
	return by_pc_count(&level->by_pc, count, error) == 0 ? count_sites(level, count, error) : -1;
}

#define SMS 65536	 /* values of the column sm */
#define DROPPED_ROWS 256 /* of requests sent but not written, before they are dropped */

/* The set of each line of a round if sets differ: lines are assigned round-robin, and a set that has received as many lines
 * as it has ways is skipped until the next round. So a working set of the cache's size fits, and each further line
 * overflows one more set, the large one first: the steps of [001] figure 11. */
static uint32_t *deal_lines(const struct gt_geometry *geometry)
{
	uint32_t *deal = malloc(geometry->slots * sizeof *deal), n = 0;

	for (uint32_t turn = 0; deal && turn < geometry->most_ways; turn++)
		for (uint32_t set = 0; set < geometry->sets; set++)
			if (gt_ways_of(geometry, set) > turn)
				deal[n++] = set;
	return deal;
}

/* Whether lines may change their slots and have states. */
static bool may_move(const struct gt_level *level)
{
	return level->usual && !level->config.l2_partitions && level->config.replacement.policy == &gt_policy_lru;
}

/* The most lines of an instance whose arrays lie in large pages, where lines that are never used take memory, too. A shared level has one instance
 * or a few; a private one has one for each SM, with some thousands of lines on any GPU. */
enum { ARENA_SHARED = 1 << 20, ARENA_PRIVATE = 1 << 16 };

static int open_geometry(struct gt_level *level, bool fixed, struct gt_error *error)
{
	const struct gt_level_config *config = &level->config;
	uint32_t ways, sets = gt_level_sets(config, &ways), *each = NULL;
	bool depths = config->replacement.policy->by_recency;

	if (ways) {
		each = malloc(sets * sizeof *each);
		if (!each)
			return gt_fail_memory(error, "a cache's sets");
		for (uint32_t set = 0; set < sets; set++)
			each[set] = ways;
	}
	int result = gt_geometry_open(&level->geometry, each ? each : config->set_ways, sets, level->sectors, depths,
				      !fixed && may_move(level), error);
	free(each);
	if (result != 0)
		return -1;
	level->geometry.arena = level->geometry.slots <= (config->shared ? ARENA_SHARED : ARENA_PRIVATE) ? &level->arena : NULL;
	if (!ways && !(level->deal = deal_lines(&level->geometry)))
		return gt_fail_memory(error, "a cache's sets");
	level->interleave = config->interleave;
	level->interleaved = gt_level_interleaved(config);
	if (level->interleaved) {
		if (gt_interleave_open(&level->interleave, config->timed.partitions, config->timed.banks, config->line,
				       error) != 0)
			return -1;
		sets /= level->interleave.banks;
	}
	return gt_index_open(&level->index, config->index, &config->index_argument,
			     ways ? sets : level->geometry.slots, config->line, error);
}

static int drop(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context, (void)error;
	rows->n = rows->n_lanes = 0;
	return 0;
}

/* The level that differs in its sets alone, and what it looks up. */
static int open_full(struct gt_level *level, struct gt_error *error)
{
	struct gt_level_config config = level->config;

	config.size = (uint64_t)level->geometry.slots * config.line;
	config.ways = config.sets_listed = 0;
	config.divided = 1;
	config.by = GT_BY_NONE;
	config.causes = false;
	config.constant.size = 0;
	config.emit = GT_EMIT_NONE;
	config.arrival = GT_ARRIVAL_STEP;
	config.dirty_ways = GT_LEVEL_SLOTS_MAX;
	config.combining.lines = 0;
	config.replacement = (struct gt_replacement){.policy = &gt_policy_lru};
	if (gt_index_parse("mod", &config.index, &config.index_argument, error) != 0 ||
	    gt_interleave_parse("set", &config.interleave, error) != 0)
		return -1;
	level->full = gt_level_open_plain(&config, true, error);
	if (!level->full)
		return -1;
	level->full->look = calloc(1, sizeof *level->full->look);
	if (!level->full->look)
		return gt_fail_memory(error, "causes of misses");
	level->full->look->at = gt_look_in_full;
	gt_level_choose(level->full);
	return 0;
}

/* The cache of constants. A miss fetches a whole line. */
static int open_beside(struct gt_level *level, struct gt_error *error)
{
	const struct gt_constant_shape *shape = &level->config.constant;
	struct gt_level_config config = {.size = shape->size, .ways = shape->ways, .line = shape->line, .sector = GT_SECTOR, .fetch = shape->line,
					 .write = GT_WRITE_THROUGH, .hints = GT_HINTS_IGNORE, .flush = level->config.flush,
					 .dirty_ways = GT_LEVEL_SLOTS_MAX, .replacement = {.policy = &gt_policy_lru}};

	if (gt_index_parse("mod", &config.index, &config.index_argument, error) != 0 ||
	    gt_interleave_parse("set", &config.interleave, error) != 0)
		return -1;
	level->beside = gt_level_open_plain(&config, true, error);
	return level->beside ? 0 : -1;
}

static int open_notes(struct gt_level *level, struct gt_error *error)
{
	if (gt_notes_open(level, error) != 0)
		return -1;
	gt_level_choose(level);
	return level->look ? open_full(level, error) : 0;
}

struct gt_level *gt_level_open_plain(const struct gt_level_config *config, bool fixed, struct gt_error *error)
{
	struct gt_level *level = calloc(1, sizeof *level);

	if (!level) {
		gt_fail_memory(error, "a cache level");
		return NULL;
	}
	level->config = *config;
	level->instances_all = &level->instances_own;
	level->line_shift = (unsigned)__builtin_ctzll(config->line);
	level->sector_shift = (unsigned)__builtin_ctzll(config->sector / GT_SECTOR);
	level->sectors = (unsigned)(config->line / config->sector);
	level->fetch_sectors = (unsigned)(config->fetch / config->sector);
	level->usual = config->line == GT_LINE && config->sector == GT_SECTOR && !config->translate;
	for (unsigned missing = 0; missing < 16; missing++)
		level->brings[missing] = (uint8_t)gt_level_groups(level, missing);
	gt_level_choose(level);
	level->instances_n = config->l2_partitions ? GT_L2_PARTITIONS : config->shared ? 1 : SMS;
	level->instances = calloc(level->instances_n, sizeof *level->instances);
	level->write_queues = config->combining.lines > 0 ? calloc(SMS, sizeof *level->write_queues) : NULL;
	level->emptied = calloc(level->instances_n, sizeof *level->emptied);
	if (!level->instances || !level->emptied || (config->combining.lines > 0 && !level->write_queues)) {
		gt_fail_memory(error, "a cache level");
		goto failed;
	}
	if (open_geometry(level, fixed, error) != 0)
		goto failed;
	level->slots = malloc(level->geometry.most_ways * sizeof *level->slots);
	if (!level->slots) {
		gt_fail_memory(error, "a cache level");
		goto failed;
	}
	level->dropped = (struct gt_sink){gt_rows_new(DROPPED_ROWS, error), drop, NULL};
	if (!level->dropped.rows)
		goto failed;
	if (gt_waiting_open(level, error) != 0)
		goto failed;
	if (config->by == GT_BY_PC && by_pc_open(&level->by_pc, error) != 0)
		goto failed;
	if (!level->interleaved && strcmp(config->index->name, "mod") == 0 && (level->geometry.sets & (level->geometry.sets - 1)) == 0)
		level->set_mask = level->geometry.sets - 1;
	level->repeats_hit = level->class_of[gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE)] == GT_CLASS_READ &&
			     (config->replacement.policy->by_recency || !config->replacement.policy->hit);
	if (level->geometry.ways > 0)
		level->ways_inverse = ((UINT64_C(1) << GT_INVERSE_SHIFT) + level->geometry.ways - 1) / level->geometry.ways;
	for (size_t partition = 0; config->l2_partitions && partition < GT_L2_PARTITIONS; partition++)
		if (!gt_level_open_instance(level, partition, error))
			goto failed;
	level->fast_path = level->usual && level->geometry.ways > 0 && level->geometry.recency <= GT_RECENCY_NIBBLES;
	if (config->constant.size > 0 && open_beside(level, error) != 0)
		goto failed;
	if ((config->by == GT_BY_SITE || config->causes) && open_notes(level, error) != 0)
		goto failed;
	return level;
failed:
	gt_level_close(level);
	return NULL;
}

static void close_instance(struct gt_tags *tags)
{
	if (tags)
		gt_tags_close(tags);
	free(tags);
}

void gt_level_close(struct gt_level *level)
{
	if (!level)
		return;
	for (size_t i = 0; level->emptied && i < level->instances_end; i++) {
		close_instance(level->instances[i]);
		close_instance(level->emptied[i]);
	}
	free(level->instances);
	free(level->emptied);
	free(level->slots);
	free(level->coalescer.asked);
	gt_combine_close(level);
	gt_rows_free(level->dropped.rows);
	gt_rows_free(level->singly);
	free(level->deal);
	gt_index_close(&level->index);
	gt_geometry_close(&level->geometry);
	gt_arena_close(&level->arena);
	gt_waiting_close(level);
	by_pc_close(&level->by_pc);
	if (level->full)
		free(level->full->look);
	gt_level_close(level->full);
	gt_level_close(level->beside);
	gt_notes_close(level);
	free(level);
}

/* The caches of a private level that is emptied count in a launch if they have a request in it. */
static void put_aside(struct gt_level *level)
{
	if (level->config.shared || level->config.flush == GT_FLUSH_NEVER)
		return;
	level->instances_all->used = 0;
	for (size_t i = 0; i < level->instances_end; i++) {
		if (!level->instances[i])
			continue;
		level->emptied[i] = level->instances[i];
		level->instances[i] = NULL;
	}
}

void gt_level_begin(struct gt_level *level)
{
	memset(&level->counters, 0, sizeof level->counters);
	memset(&level->hints, 0, sizeof level->hints);
	memset(&level->bypass, 0, sizeof level->bypass);
	memset(&level->fetch, 0, sizeof level->fetch);
	memset(&level->pair, 0, sizeof level->pair);
	memset(&level->between, 0, sizeof level->between);
	memset(&level->constants, 0, sizeof level->constants);
	memset(&level->gpc_constants, 0, sizeof level->gpc_constants);
	memset(&level->launch_reads, 0, sizeof level->launch_reads);
	memset(&level->found, 0, sizeof level->found);
	memset(&level->clean, 0, sizeof level->clean);
	memset(&level->l2_partitions, 0, sizeof level->l2_partitions);
	memset(&level->coalesced, 0, sizeof level->coalesced);
	by_pc_begin(&level->by_pc);
	gt_request_coalescer_begin(&level->coalescer);
	memset(&level->combined, 0, sizeof level->combined);
	gt_combine_begin(level);
	put_aside(level);
	level->launch_reads_gpcs = 0;
	level->to_find = 0;
	level->last_step = 0;
	gt_notes_begin(level);
	if (level->full)
		gt_level_begin(level->full);
	if (level->beside)
		gt_level_begin(level->beside);
}

void gt_level_window(struct gt_level *level, const struct gt_window *window, uint64_t aside)
{
	bool concerned = level->config.shared && !level->config.translate && level->config.hints != GT_HINTS_IGNORE;

	level->window = concerned ? *window : (struct gt_window){.bytes = 0};
	level->aside = aside;
	if (level->full)
		gt_level_window(level->full, window, aside);
}

int gt_level_count(const struct gt_level *level, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error)
{
	gt_count_begin(count, stage, kernel);
	return level_describe(level, count, error);
}
