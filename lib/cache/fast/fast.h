/* SPDX-License-Identifier: MIT */
/* The fast wing of a level: batches that are mostly plain loads of the usual lines. gt_level_open gives it to the levels of a shape that
 * it knows; all else goes the general path of cache/state.h.
 *
 * What it finds, counts and sends must equal, request by request, what that path does. tests/unit/cache_model.c and
 * cache_properties.c hold it to that, by a plain second implementation and random traces;
 * cache_ways.c does for the vectors of ways.c, and tests/jobs.bats for levels that are divided among threads.
 *
 *	divided.c  levels that are divided among threads, by SM or by set
 *	fast.c     chooses a loop for a batch
 *	slots.c    the loop for lines with fixed slots
 *	ways.c     the loop for sets whose ways stand in the order of recency
 *	served.c   drops adjacent duplicates, and sends what was fetched column by column */
#ifndef GT_CACHE_FAST_FAST_H
#define GT_CACHE_FAST_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/state.h"
#include "stream/rows.h"

/* Opens a level with the wing, if that serves its shape. If `fixed` a line has the same slot until it leaves. NULL on error. */
struct gt_level *gt_fast_open(const struct gt_level_config *config, bool fixed, struct gt_error *error);

/* ---- rows that were served, and what they fetch ---- */

/* The rows of a batch that one lane serves of a level that is divided (cache/fast/divided.h), but those that repeat the row before
 * them. */
struct gt_row_list {
	uint32_t *row;
	uint32_t *set; /* of each, if the level is shared */
	size_t n;
	uint64_t requests; /* rows of the batch that are counted here */
	uint64_t repeated; /* sectors of those that repeat, which are counted here */
	uint64_t last_step; /* of those that are counted here, if the level writes back */
	uint32_t *origin; /* of each request that was sent: its row */
	size_t origins, capacity;
};

/* Notes that what was sent up to request `end` is of rows[0], rows[step], rows[2 * step] ... Returns 0, or -1 when memory is
 * short. */
int gt_row_list_note(struct gt_row_list *list, const uint32_t *rows, size_t step, size_t end, struct gt_error *error);

/* Serves those rows, of a batch without hints, by a level that the fast wing serves, which sends requests
 * into a sink that keeps all of them. */
int gt_level_serve_list(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
			struct gt_error *error);

#define GT_SERVED_MAX 256

struct gt_served {
	struct gt_row_list *list; /* NULL: the whole batch is served */
	uint64_t hits; /* sectors */
	size_t n;
	uint32_t row[GT_SERVED_MAX]; /* that fetches */
	uint8_t sectors[GT_SERVED_MAX];
};

/* Row i, which is a read, fetches sectors; there must be room. */
static inline void gt_served_add(struct gt_served *served, size_t i, uint32_t sectors)
{
	served->row[served->n] = (uint32_t)i;
	served->sectors[served->n++] = (uint8_t)sectors;
}

/* Sends what was added, as loads, and forgets it. Returns 0, or -1 with the sink's error. */
int gt_served_send(struct gt_served *served, struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		   struct gt_error *error);

/* Adjacent duplicates: plain loads that repeat the request before them, of the same line for the same SM, and no other sectors. They
 * hit at the most recent position, and change nothing. These are the rows that are none. */
#define GT_DEDUPLICATED_ROWS 256

struct gt_deduplicated {
	size_t n;
	uint32_t row[GT_DEDUPLICATED_ROWS];
	uint64_t repeated; /* sectors of the rows that are duplicates */
};

/* Of rows [first, first + n), n at most GT_DEDUPLICATED_ROWS; the first is no duplicate. `sm` is NULL if all rows are of one. None is
 * a duplicate unless `repeats_hit`. */
void gt_deduplicate(struct gt_deduplicated *deduplicated, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		    bool repeats_hit);

/* ---- the loops ---- */

#define GT_INLINE static inline __attribute__((always_inline))

struct gt_reading {
	struct gt_serving serving;
	const struct gt_rows *rows;
	const uint16_t *sm; /* of the rows; NULL if one instance serves all */
	struct gt_served served;
};

/* Serves n rows, at most GT_DEDUPLICATED_ROWS, of which none repeats the one before, and adds what they fetch to `served`. There is
 * room for all of them. */
typedef int gt_serve_some(struct gt_reading *reads, const uint32_t *row, size_t n);

/* The loop for a level whose lines have fixed slots, and for one whose ways stand in order. */
gt_serve_some *gt_reads_in_slots(const struct gt_level *level);
gt_serve_some *gt_reads_in_ways(const struct gt_level *level);

/* The instance of a row. NULL on error. */
static inline struct gt_tags *gt_reads_instance(const struct gt_reading *reads, size_t row)
{
	return gt_level_instance(reads->serving.level, reads->sm ? reads->sm[row] : 0, reads->serving.error);
}

/* Whether a row is a read of the usual kind. */
static inline bool gt_reads_is_read(const struct gt_reading *reads, size_t row)
{
	return reads->serving.level->class_of[reads->rows->op[row]] == GT_CLASS_READ;
}

/* Sends what was added to `served`, and serves a row in the general way. */
static inline int gt_reads_serve_other(struct gt_reading *reads, const uint32_t *row)
{
	struct gt_serving *serving = &reads->serving;
	struct gt_row_list *list = reads->served.list;

	if (gt_served_send(&reads->served, serving->level, reads->rows, serving->sent, serving->error) != 0 ||
	    gt_level_serve_row(serving, gt_reads_instance(reads, *row), reads->rows, *row) != 0)
		return -1;
	return list ? gt_row_list_note(list, row, 0, serving->sent->rows->n, serving->error) : 0;
}

#endif
