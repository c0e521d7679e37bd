/* SPDX-License-Identifier: MIT */
/* A sequence of items, each of which goes through the same steps, in several threads. What a step in lanes sees, and the
 * error that is returned, do not depend on the threads: that of the first item that failed, and no lane takes an item behind
 * it. A fixed number of items is under way at a time. */
#ifndef GT_BASE_PIPELINE_H
#define GT_BASE_PIPELINE_H

#include <pthread.h>
#include <stddef.h>

#include "base/error.h"

#define GT_JOBS_MAX 256
#define GT_STEPS_MAX 8

struct gt_step {
	/* Returns 0, or -1 with the error set. */
	int (*run)(void *context, void *item, unsigned lane, struct gt_error *error);
	unsigned lanes; /* each of which takes every item, in order; 0: a thread takes an item, in no order, as lane 0 */
};

/* The items: an array, which is the caller's. */
struct gt_pipeline_items {
	void *first;
	size_t bytes, n; /* of each; of them */
};

/* The threads that an option asks for: a number up to GT_JOBS_MAX, or 0 for the online processors. Returns 0, or -1. */
int gt_parse_jobs(const char *text, unsigned *jobs, struct gt_error *error);

/* Starts a thread that takes no signals: they go to those that were there before. Returns 0, or -1 with the errno. */
int gt_thread_start(pthread_t *thread, void *(*begin)(void *), void *context, struct gt_error *error);

struct gt_pipeline;

/* Starts jobs - 1 threads; the one that calls is the other. The steps are copied. NULL on error. */
struct gt_pipeline *gt_pipeline_open(unsigned jobs, const struct gt_step *steps, size_t steps_n, void *context,
				     struct gt_pipeline_items items, struct gt_error *error);
/* Ends the threads when they have ended the steps that they are in; no other step is begun. */
void gt_pipeline_close(struct gt_pipeline *pipeline);

/* An item that is not under way, for the caller to fill; runs steps until there is one. NULL on error. */
void *gt_pipeline_next(struct gt_pipeline *pipeline, struct gt_error *error);
/* Sends the item that gt_pipeline_next returned last on its way. */
void gt_pipeline_put(struct gt_pipeline *pipeline, void *item);

/* Runs steps until no item is under way. Returns 0, or -1 with the error, and the errno, of the first item that failed; then
 * no step is running, and none will. */
int gt_pipeline_drain(struct gt_pipeline *pipeline, struct gt_error *error);

#endif
