/* SPDX-License-Identifier: MIT */
/* The level of gcache: what it holds before a kernel, and its kinds. A timed level is in cache/timed; a functional one is whole, or
 * divided into lanes, which may serve at the same time: a private level by SM, whose instances are each in one lane; a shared level by set,
 * and the lanes have its one instance together. Each lane counts for itself. What is sent and counted is what one level sends and counts. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cache/config.h"
#include "cache/fast/fast.h"
#include "cache/level.h"
#include "cache/stage/stage.h"

/* ---- what a level holds before a kernel ---- */

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
		const struct gt_piece piece = {.line = line, .used = sectors_within(level, line, first, last)};
		if (gt_level_look(&home, &piece, GT_LOOKUP_BRING) != 0 || gt_level_arrive(&home, line, piece.used, false, &slot) != 0)
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
	if (result == 0 && level->full)
		result = level_warm(level->full, addresses, bytes, n, error);
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
	int from = GT_WARM_NONE + 1;

	while (from < GT_WARMS && strcmp(count->stage, stages[from]) != 0)
		from++;
	if (from == GT_WARMS)
		return 0;
	const struct gt_count_entry *addresses = gt_count_find(count, "addresses"), *bytes = gt_count_find(count, "bytes");
	if (!addresses || !bytes)
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

/* ---- one functional level ---- */

struct gt_level *gt_level_make(const char *role, const char *const *parameters, const struct gt_gpu *gpu,
			       const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_level_config config;

	return gt_level_configure(role, parameters, gpu, kernel, &config, error) == 0 ? gt_level_open(&config, error) : NULL;
}

static void *functional_open(const struct gt_level_config *config, unsigned lanes, struct gt_error *error)
{
	(void)lanes;
	return gt_level_open(config, error);
}

static void functional_close(void *level)
{
	gt_level_close(level);
}

static int functional_begin(void *level, const struct gt_kernel *kernel, struct gt_error *error)
{
	(void)error;
	gt_level_begin(level);
	gt_level_launch(level, kernel);
	gt_level_window(level, &kernel->prefers.window, kernel->prefers.l2_persisting_bytes);
	return 0;
}

static int functional_take(void *level, const struct gt_rows *requests, struct gt_sink *sent, struct gt_error *error)
{
	return gt_level_take(level, requests, sent, error);
}

static int functional_finish(void *level, struct gt_sink *sent, struct gt_error *error)
{
	return gt_level_finish(level, sent, error);
}

static int functional_count(const void *level, const char *stage, uint64_t kernel, struct gt_count *count, struct gt_error *error)
{
	return gt_level_count(level, stage, kernel, count, error);
}

static struct gt_level *functional_whole(void *level)
{
	return level;
}

static const struct gt_level_kind functional_kind = {functional_open, functional_close, functional_begin, functional_take,
						     functional_finish, functional_count, functional_whole};

/* ---- a divided level: the rows of a batch by lane ---- */

#define DIVISION_SMS 65536 /* values of the column sm */

/* What a lane has of a batch: a list of its rows, or copies of them, in which `an` is the number of the row. */
struct gt_part {
	struct gt_row_list list;
	size_t list_capacity, sets_capacity;
	struct gt_rows *rows;
	struct gt_rows *sent; /* what it sends for them */
	size_t gathered;
};

/* Returns 0, or -1 when memory is short. It can be closed in either case. */
static int division_open(struct gt_division *division, unsigned lanes, struct gt_error *error)
{
	division->parts = calloc(lanes, sizeof *division->parts);
	if (!division->parts)
		return gt_fail_memory(error, "a batch of rows");
	division->lanes = lanes;
	for (unsigned lane = 0; lane < lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		part->rows = gt_rows_new(GT_ROWS_BATCH, error);
		part->sent = gt_rows_new(GT_ROWS_BATCH, error);
		if (!part->rows || !part->sent)
			return -1;
	}
	return 0;
}

void gt_division_close(struct gt_division *division)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		gt_rows_free(division->parts[lane].rows);
		gt_rows_free(division->parts[lane].sent);
		free(division->parts[lane].list.row);
		free(division->parts[lane].list.set);
		free(division->parts[lane].list.origin);
	}
	free(division->parts);
	*division = (struct gt_division){.parts = NULL};
}

/* Empty lists, each with room for all the requests. */
static int empty_lists(struct gt_division *division, const struct gt_level *level, const struct gt_rows *requests,
		       struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		uint32_t *row = gt_grown_to(part->list.row, requests->n, &part->list_capacity, sizeof *row);
		part->list.row = row ? row : part->list.row;
		uint32_t *set = level->config.shared ? gt_grown_to(part->list.set, requests->n, &part->sets_capacity, sizeof *set) : NULL;
		part->list.set = set ? set : part->list.set;
		if (!row || (level->config.shared && !set))
			return gt_fail_memory(error, "a batch of rows");
		part->list.n = part->list.origins = part->list.requests = part->list.repeated = part->list.last_step = 0;
	}
	return 0;
}

/* The same of copies. */
static int empty_parts(struct gt_division *division, const struct gt_rows *requests, struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		if (part->rows->capacity < requests->n) {
			gt_rows_free(part->rows);
			part->rows = gt_rows_new(requests->n, error);
			if (!part->rows)
				return -1;
		}
		gt_rows_shape(part->rows, requests);
		part->rows->n = 0;
	}
	return 0;
}

/* The columns on which what is sent for a request depends; the others are taken from the batch again. */
static void add_row(struct gt_rows *to, const struct gt_rows *from, size_t i)
{
	size_t at = to->n++;

	to->an[at] = (uint32_t)i;
	to->address[at] = from->address[i];
	to->op[at] = from->op[i];
	to->sectors[at] = from->sectors[i];
	to->full[at] = from->full[i];
	to->threads[at] = from->threads[i];
	to->sm[at] = from->scheduled ? from->sm[i] : 0;
}

static void add_others(struct gt_rows *to, const struct gt_rows *from, size_t i)
{
	size_t at = to->n - 1;

	if (from->scheduled)
		to->step[at] = from->step[i];
	if (from->has_hints)
		to->hint[at] = from->hint[i];
	if (from->has_status)
		to->status[at] = from->status[i];
	if (from->has_latency)
		to->latency[at] = from->latency[i];
}

/* Sets that follow each other and are in one lane: so many lie in a line of the machine's cache. */
#define SETS_TOGETHER 8

/* What row i is divided by: the set of its line, or its SM. */
static uint32_t key_of(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.shared)
		return gt_level_set_of(level, rows->address[i] >> level->line_shift);
	return rows->scheduled ? rows->sm[i] : 0;
}

static unsigned lane_of(const struct gt_level *level, const uint8_t *lanes, uint32_t key)
{
	return lanes[level->config.shared ? key / SETS_TOGETHER % DIVISION_SMS : key];
}

static int copy_rows(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		     const struct gt_rows *requests, struct gt_error *error)
{
	bool more = requests->has_hints || requests->has_status || requests->has_latency ||
		    level->config.write == GT_WRITE_BACK;

	if (empty_parts(division, requests, error) != 0)
		return -1;
	for (size_t i = 0; i < requests->n; i++) {
		struct gt_rows *to = division->parts[lane_of(level, lanes, key_of(level, requests, i))].rows;
		add_row(to, requests, i);
		if (more)
			add_others(to, requests, i);
	}
	return 0;
}

/* Rows that repeat the one before need no lane; the lane of the first row of all, which repeats none, counts them. */
static int list_rows(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
		     const struct gt_rows *requests, struct gt_error *error)
{
	struct gt_row_list *counts = &division->parts[requests->n > 0 ? lane_of(level, lanes, key_of(level, requests, 0)) : 0].list;
	const uint16_t *sm = level->config.shared || !requests->scheduled ? NULL : requests->sm;
	struct gt_deduplicated deduplicated;

	if (empty_lists(division, level, requests, error) != 0)
		return -1;
	for (size_t first = 0, n; first < requests->n; first += n) {
		n = requests->n - first < GT_DEDUPLICATED_ROWS ? requests->n - first : GT_DEDUPLICATED_ROWS;
		gt_deduplicate(&deduplicated, requests, sm, first, n, level->repeats_hit);
		counts->repeated += deduplicated.repeated;
		for (size_t k = 0; k < deduplicated.n; k++) {
			uint32_t key = key_of(level, requests, deduplicated.row[k]);
			struct gt_row_list *list = &division->parts[lane_of(level, lanes, key)].list;
			if (list->set)
				list->set[list->n] = key;
			list->row[list->n++] = deduplicated.row[k];
		}
	}
	counts->requests = requests->n;
	for (size_t i = 0; requests->scheduled && level->config.write == GT_WRITE_BACK && i < requests->n; i++)
		counts->last_step = requests->step[i] > counts->last_step ? requests->step[i] : counts->last_step;
	return 0;
}

/* Whether the lanes serve rows by lists: reads of the usual lines, of which nothing else is to be known. */
static bool listed(const struct gt_level *level, const struct gt_rows *requests)
{
	return level->fast && !requests->has_hints && level->config.emit == GT_EMIT_MISSES;
}

/* Divides a batch by its SMs, or by sets if the level is shared, each of which has a lane. Nothing is sent yet: `sent` is of accesses. The level is one of those that
 * serve it. Returns 0, or -1 when memory is short. */
static int division_split(struct gt_division *division, const struct gt_level *level, const uint8_t *lanes,
			  const struct gt_rows *requests, struct gt_error *error)
{
	for (unsigned lane = 0; lane < division->lanes; lane++) {
		struct gt_part *part = &division->parts[lane];
		part->sent->n = part->gathered = 0;
		part->sent->kind = GT_ACCESSES;
	}
	division->listed = listed(level, requests);
	return (division->listed ? list_rows : copy_rows)(division, level, lanes, requests, error);
}

struct divided {
	struct gt_level **levels; /* of the lanes */
	unsigned lanes;
	uint8_t lane_of[DIVISION_SMS];
	bool scheduled; /* the last batch of the kernel */
};

/* Whether the sets of a shared level are independent, and so is their state: small ones have no finder. A request must concern
 * one line. */
static bool divisible_by_set(const struct gt_level_config *config)
{
	uint32_t ways, sets = gt_level_sets(config, &ways);

	return config->replacement.policy->by_set && sets > 1 && ways > 0 && ways <= GT_NIBBLE_WAYS &&
	       (config->line >= GT_LINE || config->translate);
}

/* Lanes from which on a shared level is divided. To find the sets of a batch, and to put in order what the lanes send, takes
 * about half of the time in which one lane serves it; with two threads, one of which serves while the other reads and writes,
 * there is nothing to gain. */
#define SHARED_LANES_MIN 3

/* Whether a level is divided among so many lanes. Levels that look ahead, or take turns among SMs, or that know the first lookup of all, see all requests together; so do counts
 * by instruction, and, of a private level, reads of a launch. */
static bool divisible(const struct gt_level_config *config, unsigned lanes)
{
	bool together = config->l2_partitions || config->absent || config->coalescer.requests > 0 || config->constants == GT_CONSTANTS_BEFORE || config->arrival != GT_ARRIVAL_STEP ||
			config->replacement.policy->looks_ahead || (config->translate && config->activated) || config->by != GT_BY_NONE || config->causes;

	if (together || lanes < 2)
		return false;
	return config->shared ? lanes >= SHARED_LANES_MIN && divisible_by_set(config) : !gt_launch_reads_any(&config->launch_reads);
}

/* Gives the lanes of a shared level the instance of the first. */
static int share_instance(struct divided *divided, struct gt_error *error)
{
	struct gt_tags *tags = gt_level_instance(divided->levels[0], 0, error);

	for (unsigned lane = 1; tags && lane < divided->lanes; lane++)
		divided->levels[lane]->instances[0] = tags;
	return tags ? 0 : -1;
}

static void divided_close(void *level)
{
	struct divided *divided = level;

	if (!divided)
		return;
	for (unsigned lane = 0; lane < divided->lanes; lane++)
		gt_level_close(divided->levels[lane]);
	free(divided->levels);
	free(divided);
}

static void *divided_open(const struct gt_level_config *config, unsigned lanes, struct gt_error *error)
{
	struct divided *divided = calloc(1, sizeof *divided);
	struct gt_level **levels = calloc(lanes, sizeof *levels);

	if (!divided || !levels) {
		free(divided);
		free(levels);
		gt_fail_memory(error, "a cache level");
		return NULL;
	}
	divided->levels = levels;
	divided->lanes = lanes;
	for (size_t sm = 0; sm < DIVISION_SMS; sm++)
		divided->lane_of[sm] = (uint8_t)(sm % lanes);
	for (unsigned lane = 0; lane < lanes; lane++) {
		levels[lane] = gt_fast_open(config, config->shared, error);
		if (!levels[lane]) {
			divided_close(divided);
			return NULL;
		}
		levels[lane]->instances_all = levels[0]->instances_all;
	}
	if (config->shared && share_instance(divided, error) != 0) {
		divided_close(divided);
		return NULL;
	}
	return divided;
}

/* A level that has all sets of a shared one, to be used while no lane serves; NULL if the level is private. */
static struct gt_level *divided_whole(void *level)
{
	const struct divided *divided = level;

	return divided->levels[0]->config.shared ? divided->levels[0] : NULL;
}

static int divided_begin(void *level, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct divided *divided = level;

	(void)error;
	for (unsigned lane = 0; lane < divided->lanes; lane++)
		gt_level_begin(divided->levels[lane]);
	gt_level_launch(divided->levels[0], kernel);
	gt_level_window(divided->levels[0], &kernel->prefers.window, kernel->prefers.l2_persisting_bytes);
	return 0;
}

/* ---- a batch of a divided level ---- */

static int divided_split(const struct divided *divided, const struct gt_rows *requests, struct gt_division *division,
		     struct gt_error *error)
{
	if (division->lanes != divided->lanes) {
		gt_division_close(division);
		if (division_open(division, divided->lanes, error) != 0)
			return -1;
	}
	return division_split(division, divided->levels[0], divided->lane_of, requests, error);
}

static int divided_serve(struct divided *divided, const struct gt_rows *requests, struct gt_division *division, unsigned lane,
		     struct gt_error *error)
{
	struct gt_part *part = &division->parts[lane];
	struct gt_sink sent = gt_sink_that_grows(part->sent);

	if (!division->listed)
		return gt_level_take(divided->levels[lane], part->rows, &sent, error);
	return part->list.n > 0 ? gt_level_serve_list(divided->levels[lane], requests, &part->list, &sent, error) : 0;
}

/* Gives a request that was sent for a copy of row i what the copy had not. */
static void complete(struct gt_request *request, const struct gt_rows *requests, size_t i)
{
	request->block = requests->block[i];
	request->warp = requests->warp[i];
	request->an = requests->an[i];
	request->pc = requests->pc[i];
	if (requests->scheduled) {
		request->step = requests->step[i];
		request->sm = requests->sm[i];
	}
}

/* The row of the next request that a part has sent; above all rows if there is none. */
static uint32_t next_origin(const struct gt_division *division, const struct gt_part *part)
{
	if (part->gathered == part->sent->n)
		return UINT32_MAX;
	return division->listed ? part->list.origin[part->gathered] : part->sent->an[part->gathered];
}

static int send_next(const struct gt_rows *requests, const struct gt_division *division, struct gt_part *part,
		     struct gt_sink *sink, struct gt_error *error)
{
	struct gt_request request = gt_request_of(part->sent, part->gathered);

	if (gt_sink_room(sink, error) != 0)
		return -1;
	struct gt_rows *to = sink->rows;
	if (!division->listed)
		complete(&request, requests, next_origin(division, part));
	gt_request_append(to, &request);
	if (to->has_status)
		to->status[to->n - 1] = part->sent->status[part->gathered];
	if (to->has_latency)
		to->latency[to->n - 1] = part->sent->latency[part->gathered];
	part->gathered++;
	return 0;
}

static int divided_gather(const struct gt_rows *requests, struct gt_division *division, struct gt_sink *sink, struct gt_error *error)
{
	const struct gt_rows *shape = NULL;

	/* Those that were begun. */
	for (unsigned lane = 0; lane < division->lanes; lane++)
		if (division->parts[lane].sent->kind == GT_REQUESTS)
			shape = division->parts[lane].sent;
	if (!shape)
		return 0;
	if (gt_sink_begin_as(sink, shape, error) != 0)
		return -1;
	for (;;) {
		struct gt_part *first = &division->parts[0];
		uint32_t least = next_origin(division, first);
		for (unsigned lane = 1; lane < division->lanes; lane++) {
			uint32_t next = next_origin(division, &division->parts[lane]);
			first = next < least ? &division->parts[lane] : first;
			least = next < least ? next : least;
		}
		if (least == UINT32_MAX)
			return 0;
		if (send_next(requests, division, first, sink, error) != 0)
			return -1;
	}
}

/* One batch at a time, while no lane serves. */
static int divided_take(void *level, const struct gt_rows *requests, struct gt_sink *sent, struct gt_error *error)
{
	struct divided *divided = level;

	divided->scheduled = requests->scheduled;
	return gt_level_take(divided_whole(divided), requests, sent, error);
}

/* ---- the end of a kernel ---- */

/* The SM of the next request of a part that is still to be gathered; above all SMs if there is none. */
static uint32_t next_sm(const struct gt_part *part)
{
	return part->gathered < part->sent->n ? part->sent->sm[part->gathered] : UINT32_MAX;
}

/* Sends what the lanes send at the end, by SM. */
static int gather_end(struct gt_part *parts, unsigned lanes, struct gt_sink *sent, struct gt_error *error)
{
	for (;;) {
		struct gt_part *first = &parts[0];
		for (unsigned lane = 1; lane < lanes; lane++)
			first = next_sm(&parts[lane]) < next_sm(first) ? &parts[lane] : first;
		if (next_sm(first) == UINT32_MAX)
			return 0;
		if (gt_sink_room(sent, error) != 0)
			return -1;
		gt_rows_append(sent->rows, first->sent, first->gathered++, 1);
	}
}

static int divided_finish(void *opened, struct gt_sink *sent, struct gt_error *error)
{
	struct divided *divided = opened;
	struct gt_level *whole = divided_whole(divided);
	struct gt_division division = {.parts = NULL};
	uint64_t last = 0;

	for (unsigned lane = 0; lane < divided->lanes; lane++)
		last = divided->levels[lane]->last_step > last ? divided->levels[lane]->last_step : last;
	if (whole) {
		whole->last_step = last;
		whole->scheduled = divided->scheduled;
		return gt_level_finish(whole, sent, error);
	}
	int result = division_open(&division, divided->lanes, error);
	for (unsigned lane = 0; result == 0 && lane < divided->lanes; lane++) {
		struct gt_level *level = divided->levels[lane];
		struct gt_sink own = gt_sink_that_grows(division.parts[lane].sent);
		level->last_step = last;
		level->scheduled = divided->scheduled;
		result = gt_level_finish(level, &own, error);
	}
	if (result == 0 && (result = gt_sink_begin(sent, GT_REQUESTS, divided->scheduled, error)) == 0)
		result = gather_end(division.parts, divided->lanes, sent, error);
	gt_division_close(&division);
	return result;
}

static int divided_count(const void *level, const char *stage, uint64_t kernel, struct gt_count *count, struct gt_error *error)
{
	const struct divided *divided = level;

	for (unsigned lane = 1; lane < divided->lanes; lane++)
		gt_level_join_counts(divided->levels[0], divided->levels[lane]);
	return gt_level_count(divided->levels[0], stage, kernel, count, error);
}

static const struct gt_level_kind divided_kind = {divided_open, divided_close, divided_begin, divided_take, divided_finish, divided_count,
						  divided_whole};

/* ---- the stage ---- */

static void close_level(struct gt_cache_stage *stage)
{
	if (stage->level)
		stage->kind->close(stage->level);
	stage->level = NULL;
}

/* Sites are named by the arrays that the count has. */
static int name_arrays(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	struct gt_level *level = stage->level ? stage->kind->whole(stage->level) : NULL;

	return level && count->n > 0 ? gt_level_name_arrays(level, count, error) : 0;
}

static int keep_arrays(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	if (strcmp(count->stage, "allocations") != 0)
		return 0;
	gt_count_clear(&stage->arrays);
	gt_count_begin(&stage->arrays, count->stage, count->kernel);
	return gt_count_copy(&stage->arrays, count, error) == 0 ? name_arrays(stage, count, error) : -1;
}

static int open_level(struct gt_cache_stage *stage, const struct gt_level_config *config, struct gt_error *error)
{
	close_level(stage);
	stage->kind = config->is_timed ? &gt_level_kind_timed : divisible(config, stage->lanes) ? &divided_kind : &functional_kind;
	stage->level = stage->kind->open(config, stage->lanes, error);
	return stage->level ? name_arrays(stage, &stage->arrays, error) : -1;
}

static int warm(struct gt_cache_stage *stage, struct gt_error *error)
{
	struct gt_level *level = stage->level ? stage->kind->whole(stage->level) : NULL;

	return level ? warming_apply(&stage->warming, level, stage->kernel, error) : 0;
}

int gt_cache_stage_shape(struct gt_cache_stage *stage, const struct gt_level_config *config, const struct gt_gpu *gpu,
			 const struct gt_kernel *kernel, struct gt_error *error)
{
	char *said = gt_level_said(stage->settings, gpu, kernel, config, error);

	if (!said)
		return -1;
	bool changed = !stage->said || strcmp(said, stage->said) != 0;
	free(stage->said);
	stage->said = said;
	return changed ? open_level(stage, config, error) : 0;
}

int gt_cache_stage_begin(struct gt_cache_stage *stage, const struct gt_kernel *kernel, struct gt_error *error)
{
	stage->kernel = kernel->id;
	return stage->kind->begin(stage->level, kernel, error) == 0 ? warm(stage, error) : -1;
}

int gt_cache_stage_note(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	if (keep_arrays(stage, count, error) != 0 || warming_note(&stage->warming, count, error) != 0)
		return -1;
	return warm(stage, error);
}

/* The requests of a launch are a batch of their own. A request with a hint, or in a window, may concern other sets than that of
 * its line. */
bool gt_cache_stage_relays(const struct gt_cache_stage *stage, bool hints)
{
	const struct gt_level *level = stage->kind->whole(stage->level);
	bool divided = stage->kind == &divided_kind;

	return !level || !(gt_level_launches(level) || (divided && (hints || level->window.bytes > 0)));
}

int gt_cache_stage_take(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_sink *sent,
			struct gt_error *error)
{
	/* Only a level that is functional and whole takes rows that are several requests. */
	if (requests->has_spans && stage->kind != &functional_kind) {
		if (gt_rows_expand(&stage->singly, requests, 0, requests->n, error) != 0)
			return -1;
		requests = stage->singly;
	}
	return stage->kind->take(stage->level, requests, sent, error);
}

int gt_cache_stage_split(const struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division,
			 struct gt_error *error)
{
	return stage->kind == &divided_kind ? divided_split(stage->level, requests, division, error) : 0;
}

int gt_cache_stage_serve(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division, unsigned lane,
			 struct gt_sink *sent, struct gt_error *error)
{
	if (stage->kind == &divided_kind)
		return divided_serve(stage->level, requests, division, lane, error);
	return lane == 0 ? gt_cache_stage_take(stage, requests, sent, error) : 0;
}

int gt_cache_stage_gather(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division, struct gt_sink *sent,
			  struct gt_error *error)
{
	return stage->kind == &divided_kind ? divided_gather(requests, division, sent, error) : 0;
}

void gt_cache_stage_served(struct gt_cache_stage *stage, const struct gt_rows *requests)
{
	if (stage->kind == &divided_kind)
		((struct divided *)stage->level)->scheduled = requests->scheduled;
}

int gt_cache_stage_finish(struct gt_cache_stage *stage, struct gt_sink *sent, struct gt_error *error)
{
	return stage->kind->finish(stage->level, sent, error);
}

int gt_cache_stage_count(const struct gt_cache_stage *stage, struct gt_count *count, struct gt_error *error)
{
	return stage->kind->count(stage->level, stage->settings->name, stage->kernel, count, error);
}

void gt_cache_stage_close(struct gt_cache_stage *stage)
{
	close_level(stage);
	free(stage->said);
	warming_clear(&stage->warming);
	gt_count_clear(&stage->arrays);
	gt_rows_free(stage->singly);
}
