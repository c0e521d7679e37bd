/* SPDX-License-Identifier: MIT */
/* Serves a batch by the loop that most requests of most models take: reads of the usual lines, in sets of equal size. What is no such
 * read is served by cache/serve.c. */
#include "base/grown.h"
#include "base/wide.h"
#include "cache/fast/fast.h"
#include "cache/level.h"
#include "stream/op.h"
#include "stream/request.h"

/* ---- what reads fetch, which is sent column by column ---- */

int gt_row_list_note(struct gt_row_list *list, const uint32_t *rows, size_t step, size_t end, struct gt_error *error)
{
	uint32_t *origin = gt_grown_to(list->origin, end, &list->capacity, sizeof *origin);

	if (!origin && end > 0)
		return gt_fail_memory(error, "requests that are sent");
	list->origin = origin;
	for (; list->origins < end; rows += step)
		origin[list->origins++] = *rows;
	return 0;
}

#define GATHER(TYPE, COLUMN)                                                                      \
	do {                                                                                       \
		TYPE *restrict out = to->COLUMN + to->n;                                           \
		const TYPE *restrict in = from->COLUMN;                                            \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[row[k]];                                                       \
	} while (0)

/* Appends the rows, with other sectors, to `to`, which has room and no hints. */
static void append(struct gt_rows *to, const struct gt_rows *from, const uint32_t *restrict row, const uint8_t *sectors,
		   size_t n)
{
	GATHER(uint32_t, block);
	GATHER(uint16_t, warp);
	GATHER(uint32_t, an);
	GATHER(uint32_t, pc);
	GATHER(uint8_t, op);
	GATHER(uint64_t, address);
	GATHER(uint8_t, threads);
	if (to->scheduled) {
		GATHER(uint64_t, step);
		GATHER(uint16_t, sm);
	}
	memcpy(to->sectors + to->n, sectors, n);
	memset(to->full + to->n, 0, n);
	to->n += n;
}

int gt_served_send(struct gt_served *served, struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		   struct gt_error *error)
{
	for (size_t done = 0, n; done < served->n; done += n) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t room = sent->rows->capacity - sent->rows->n;
		n = served->n - done < room ? served->n - done : room;
		append(sent->rows, rows, served->row + done, served->sectors + done, n);
	}
	if (served->list && gt_row_list_note(served->list, served->row, 1, sent->rows->n, error) != 0)
		return -1;
	for (size_t k = 0; k < served->n; k++)
		level->counters.sent_reads += gt_bits_of_4[served->sectors[k]];
	level->counters.sent_requests += served->n;
	served->n = 0;
	return 0;
}

/* ---- adjacent duplicates ---- */

/* Everything of an op but its space. */
#define NOT_SPACE 0xe3

#define SUMMED 32 /* rows whose sectors a byte can count */

/* The sectors of n rows that repeat, at most SUMMED. */
static inline uint8_t sum_sectors(const uint8_t *repeats, const uint8_t *sectors, size_t n)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + (gt_count_4(sectors[i]) & (uint8_t)-repeats[i]));
	return sum;
}

/* Sets repeats[i] to 1 if row first + i repeats the one before it, else to 0, and repeats[n] to either; returns the sectors of
 * those that do. Each loop compares n rows with the ones behind them, not n - 1: whole vectors. Behind the last row is room. */
GT_WIDE static uint64_t find_repeats(const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
				     uint8_t *restrict repeats)
{
	const uint64_t *address = rows->address + first;
	const uint8_t *op = rows->op + first, *sectors = rows->sectors + first;
	const uint8_t plain = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	uint8_t *restrict next = repeats + 1;
	uint64_t sum = 0;
	size_t i;

	repeats[0] = 0;
	for (i = 0; i < n; i++)
		next[i] = address[i + 1] == address[i];
	for (i = 0; i < n; i++)
		next[i] = op[i + 1] == op[i] ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(op[i] & NOT_SPACE) == plain ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(sectors[i + 1] & ~sectors[i] & 15) == 0 ? next[i] : 0;
	sm = sm ? sm + first : NULL;
	if (sm)
		for (i = 0; i < n; i++)
			next[i] &= sm[i + 1] == sm[i];
	for (i = 0; i + SUMMED <= n; i += SUMMED)
		sum += sum_sectors(repeats + i, sectors + i, SUMMED);
	return sum + sum_sectors(repeats + i, sectors + i, n - i);
}

void gt_deduplicate(struct gt_deduplicated *deduplicated, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		    bool repeats_hit)
{
	uint8_t repeats[GT_DEDUPLICATED_ROWS + 1] = {0};

	deduplicated->n = 0;
	deduplicated->repeated = repeats_hit ? find_repeats(rows, sm, first, n, repeats) : 0;
	for (size_t i = 0; i < n; i++) {
		deduplicated->row[deduplicated->n] = (uint32_t)(first + i);
		deduplicated->n += !repeats[i];
	}
}

/* ---- a batch ---- */

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
