/* SPDX-License-Identifier: MIT */
/* A stream divided by launches into parts that run apart, and the parts of one stream read together. A launch is whole in its part. */
#ifndef GT_STREAM_PARTS_H
#define GT_STREAM_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/stream.h"

#define GT_PARTS_MAX 512 /* parts of a stream: each is an open file where they are read together */

/* Part `part` of `parts`, from 1. */
struct gt_part {
	size_t part, parts;
};

/* "3/8". Returns 0, or -1 with the error set. */
int gt_part_parse(const char *text, struct gt_part *part, struct gt_error *error);
/* Whether a stream is a part, by its history (as gt_reader_history gives it), and which. */
bool gt_part_of(const char *const *history, struct gt_part *part);

/* ---- division ---- */

/* Each launch goes to the part that has the fewest rows so far; of equal ones, to the first. It depends on the stream alone. */
struct gt_divider {
	size_t parts;
	uint64_t *weights; /* rows and launches of each part */
	uint64_t launches; /* that have begun */
	size_t current;	   /* the part, from 1, of the last of them; 1 before the first */
	struct gt_map by_id; /* from a launch's id to its part */
};

/* Returns 0, or -1 when memory is short. */
int gt_divider_open(struct gt_divider *divider, size_t parts, struct gt_error *error);
void gt_divider_close(struct gt_divider *divider);

/* A launch begins: sets `current`. */
int gt_divider_begin(struct gt_divider *divider, uint64_t id, struct gt_error *error);
/* What the launch's part says of it: which launch of the stream it is. Returns 0, or -1 when memory is short. */
int gt_divider_count(const struct gt_divider *divider, uint64_t id, struct gt_count *count, struct gt_error *error);
/* A batch of it has so many rows. */
void gt_divider_rows(struct gt_divider *divider, size_t rows);
/* The part of a launch, by its id; that of the last one if there is none of that id. */
size_t gt_divider_find(const struct gt_divider *divider, uint64_t id);

/* ---- parts, read together ---- */

struct gt_parts;

/* Opens all parts of a stream, in any order, after the same stages. NULL: one cannot be read, is missing, is there twice, or is of another
 * stream or model. */
struct gt_parts *gt_parts_open(char *const paths[], size_t n, struct gt_error *error);
void gt_parts_close(struct gt_parts *parts);

/* As gt_read_record: launches come in the order of the stream that was divided, each with all that its part has behind it. */
enum gt_event gt_parts_next(struct gt_parts *parts, struct gt_error *error);
/* The reader of the last event. */
struct gt_reader *gt_parts_reader(const struct gt_parts *parts);
/* What has been read of all parts so far. */
void gt_parts_read(const struct gt_parts *parts, uint64_t *rows, uint64_t *bytes);

#endif
