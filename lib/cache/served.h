/* SPDX-License-Identifier: MIT */
/* Reads that were served and what they fetch, which is sent column by column. */
#ifndef GT_CACHE_SERVED_H
#define GT_CACHE_SERVED_H

#include "cache/serve.h"

/* The rows of a batch that one lane serves of a level that is divided (cache/divided.h), but those that repeat the row before
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

/* Serves those rows, of a batch without hints, by a level of the shape that gt_level_serve_reads needs, which sends requests
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

#endif
