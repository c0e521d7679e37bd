/* SPDX-License-Identifier: MIT */
/* Serves a batch by the loop that most requests of most models take: reads of the usual lines, in sets of equal size. What is no such
 * read is served by cache/serve.c. */
#include "cache/fast/fast.h"
#include "cache/level.h"

/* The loops serve lines of the usual size in sets of equal size, if nothing has to be known of other requests. */
static bool is_fast(const struct gt_level *level)
{
	return level->usual && level->geometry.ways > 0 && !level->lookahead && !level->config.l2_partitions;
}

/* Serves rows in the general way. */
static int serve_others(struct gt_reading *reads, const uint32_t *row, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (!gt_reads_instance(reads, row[k]) || gt_reads_serve_other(reads, &row[k]) != 0)
			return -1;
	return 0;
}

static gt_serve_some *choose(const struct gt_level *level)
{
	if (level->geometry.recency != GT_RECENCY_WAYS)
		return gt_reads_in_slots(level);
	return level->ranked ? serve_others : gt_reads_in_ways(level);
}

/* Some successive requests that are served, and the sectors of those between them that repeat them. */
struct some {
	const uint32_t *row;
	size_t n;
	uint64_t repeated;
};

/* Those of rows [first, first + n) of a batch, or of a list of rows. */
static struct some find_some(const struct gt_reading *reads, size_t first, size_t n, struct gt_deduplicated *deduplicated)
{
	const struct gt_row_list *list = reads->served.list;

	if (list)
		return (struct some){list->row + first, n, first == 0 ? list->repeated : 0};
	gt_deduplicate(deduplicated, reads->rows, reads->sm, first, n, reads->serving.level->repeats_hit);
	return (struct some){deduplicated->row, deduplicated->n, deduplicated->repeated};
}

static int serve(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
		 struct gt_error *error)
{
	struct gt_reading reads = {.serving = {.level = level, .sent = sent, .error = error}, .rows = rows, .served.list = list,
				 .sm = level->config.shared || !rows->scheduled ? NULL : rows->sm};
	gt_serve_some *serve_some = choose(level);
	struct gt_deduplicated deduplicated;
	size_t all = list ? list->n : rows->n;

	for (size_t first = 0, n; first < all; first += n) {
		n = all - first < GT_DEDUPLICATED_ROWS ? all - first : GT_DEDUPLICATED_ROWS;
		struct some some = find_some(&reads, first, n, &deduplicated);
		reads.served.hits += some.repeated;
		if (level->geometry.depths)
			level->counters.mru[0] += some.repeated;
		if (serve_some(&reads, some.row, some.n) != 0 || gt_served_send(&reads.served, level, rows, sent, error) != 0)
			return -1;
	}
	level->counters.reads += reads.served.hits;
	level->counters.read_hits += reads.served.hits;
	return 0;
}

static int serve_reads(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return serve(level, rows, NULL, sent, error);
}

int gt_level_serve_list(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
			struct gt_error *error)
{
	level->counters.requests += list->requests;
	level->last_step = list->last_step > level->last_step ? list->last_step : level->last_step;
	if (gt_sink_begin(sent, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	return serve(level, rows, list, sent, error);
}

struct gt_level *gt_fast_open(const struct gt_level_config *config, bool fixed, struct gt_error *error)
{
	struct gt_level *level = gt_level_open_plain(config, fixed, error);

	if (level && is_fast(level))
		level->fast = serve_reads;
	return level;
}

struct gt_level *gt_level_open(const struct gt_level_config *config, struct gt_error *error)
{
	return gt_fast_open(config, false, error);
}
