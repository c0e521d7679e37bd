/* SPDX-License-Identifier: MIT */
/* A level with an instance for each SM, divided into lanes that may serve at the same time: the instance of SM n is in lane
 * n modulo the lanes, and each lane is a level of its own. What is sent and counted is what one level sends and counts. */
#ifndef GT_CACHE_DIVIDED_H
#define GT_CACHE_DIVIDED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cache/config.h"
#include "cache/division.h"
#include "cache/level.h"
#include "stream/rows.h"

struct gt_divided;

/* Whether the instances of a level are independent. */
bool gt_level_divisible(const struct gt_level_config *config);

/* NULL on error. */
struct gt_divided *gt_divided_open(const struct gt_level_config *config, unsigned lanes, struct gt_error *error);
void gt_divided_close(struct gt_divided *divided);

/* As those of a level. */
void gt_divided_begin(struct gt_divided *divided);
int gt_divided_finish(struct gt_divided *divided, struct gt_sink *sent, struct gt_error *error);
int gt_divided_count(const struct gt_divided *divided, const char *stage, uint64_t kernel, struct gt_count *count,
		     struct gt_error *error);

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
