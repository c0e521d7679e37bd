/* SPDX-License-Identifier: MIT */
/* A level that is divided into lanes, which may serve at the same time: a private level by SM, whose instances are each in one
 * lane; a shared level by set, and the lanes have its one instance together. Each lane counts for itself. What is sent and
 * counted is what one level sends and counts. */
#ifndef GT_CACHE_FAST_DIVIDED_H
#define GT_CACHE_FAST_DIVIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/config.h"
#include "cache/fast/fast.h"
#include "cache/level.h"
#include "stream/rows.h"

#define GT_DIVISION_SMS 65536 /* values of the column sm */

/* What a lane has of a batch: a list of its rows, or copies of them, in which `an` is the number of the row. */
struct gt_part {
	struct gt_row_list list;
	size_t list_capacity, sets_capacity;
	struct gt_rows *rows;
	struct gt_rows *sent; /* what it sends for them */
	size_t gathered;
};

/* A batch of requests, divided among the lanes. Zero at first. */
struct gt_division {
	struct gt_part *parts;
	unsigned lanes;
	bool listed; /* the lanes serve rows of the batch itself; else copies */
};
void gt_division_close(struct gt_division *division);

struct gt_divided;

/* Whether a level is divided among so many lanes. */
bool gt_level_divisible(const struct gt_level_config *config, unsigned lanes);

/* NULL on error. */
struct gt_divided *gt_divided_open(const struct gt_level_config *config, unsigned lanes, struct gt_error *error);
void gt_divided_close(struct gt_divided *divided);

/* As those of a level. */
void gt_divided_begin(struct gt_divided *divided, const struct gt_kernel *kernel);
int gt_divided_finish(struct gt_divided *divided, struct gt_sink *sent, struct gt_error *error);
int gt_divided_count(const struct gt_divided *divided, const char *stage, uint64_t kernel, struct gt_count *count,
		     struct gt_error *error);

/* A level that has all sets of a shared one, to be used while no lane serves; NULL if the level is private. */
struct gt_level *gt_divided_whole(struct gt_divided *divided);
/* The three of them serve a batch: the second once for each lane, which takes batches in their order. */
int gt_divided_split(const struct gt_divided *divided, const struct gt_rows *requests, struct gt_division *division,
		     struct gt_error *error);
int gt_divided_serve(struct gt_divided *divided, const struct gt_rows *requests, struct gt_division *division, unsigned lane,
		     struct gt_error *error);
int gt_divided_gather(const struct gt_rows *requests, struct gt_division *division, struct gt_sink *sent,
		      struct gt_error *error);
/* Notes, in the order of batches, that one has been served. */
void gt_divided_note(struct gt_divided *divided, const struct gt_rows *requests);

#endif
