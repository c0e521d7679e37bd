/* SPDX-License-Identifier: MIT */
/* A batch of which most requests are reads of the usual lines: what its loops share. */
#ifndef GT_CACHE_READS_H
#define GT_CACHE_READS_H

#include "cache/serve.h"
#include "cache/served.h"

#define GT_INLINE static inline __attribute__((always_inline))

struct gt_reading {
	struct gt_serving serving;
	const struct gt_rows *rows;
	const uint16_t *sm; /* of the rows; NULL if one instance serves all */
	struct gt_served served;
};

/* Serves n rows, at most GT_LEADERS_ROWS, of which none repeats the one before, and adds what they fetch to `served`. There is
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
