/* SPDX-License-Identifier: MIT */
/* Which steps of which items can be run: what a pipeline knows, without its threads. Whoever calls holds the lock of it. */
#ifndef GT_BASE_PIPELINE_TASKS_H
#define GT_BASE_PIPELINE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pipeline.h"

/* An item that is under way. */
struct gt_pipeline_item {
	void *item;
	size_t step;
	unsigned left; /* lanes of the step that have not ended it */
	bool running;  /* in a step without lanes */
	bool failed;   /* by this error, in that lane of the step; GT_NO_LANE: in an earlier step */
	unsigned failed_lane;
	int reason; /* errno */
	struct gt_error error;
};
#define GT_NO_LANE UINT32_MAX

struct gt_pipeline_lane {
	uint64_t next; /* number of the item that it takes next */
	bool running;
	bool ended; /* an item has failed */
};

struct gt_pipeline_tasks {
	struct gt_step steps[GT_STEPS_MAX];
	size_t steps_n;
	struct gt_pipeline_lane *lanes[GT_STEPS_MAX];
	size_t ready[GT_STEPS_MAX];  /* items that wait for a step without lanes */
	struct gt_pipeline_item *slots;  /* item number i is in slots[i % slots_n] */
	void **idle;		     /* items that are not under way; the last is the next */
	size_t slots_n, idle_n;
	uint64_t begin, end; /* numbers of the items under way */
	unsigned running;    /* steps */
	bool failed;	     /* by the first item that did */
	int reason;
	struct gt_error error;
};

/* A step of an item, in a lane. */
struct gt_pipeline_task {
	struct gt_pipeline_item *slot;
	size_t step;
	unsigned lane;
};

/* A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_pipeline_tasks_open(struct gt_pipeline_tasks *tasks, const struct gt_step *steps, size_t steps_n,
			   struct gt_pipeline_items items, struct gt_error *error);
void gt_pipeline_tasks_close(struct gt_pipeline_tasks *tasks);

/* Puts an item behind the others; it must be none of those under way. */
void gt_pipeline_tasks_put(struct gt_pipeline_tasks *tasks, void *item);

/* A task that can be run. False if there is none, or an item has failed. */
bool gt_pipeline_tasks_find(const struct gt_pipeline_tasks *tasks, struct gt_pipeline_task *task);
/* Marks a task that was found as begun. Returns whether it is to be run: an item that has failed is not, nor what follows it
 * in a lane. In either case it has to be ended. */
bool gt_pipeline_tasks_begin(struct gt_pipeline_tasks *tasks, const struct gt_pipeline_task *task);
/* Ends it with its result, and the error and errno of one that is not 0. */
void gt_pipeline_tasks_end(struct gt_pipeline_tasks *tasks, const struct gt_pipeline_task *task, int result,
			   const struct gt_error *error, int reason);

#endif
