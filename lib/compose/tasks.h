/* SPDX-License-Identifier: MIT */
/* The help of gtrace: the filters, and which of them do a task. */
#ifndef GT_COMPOSE_TASKS_H
#define GT_COMPOSE_TASKS_H

#include <stddef.h>
#include <stdio.h>

struct gt_filter_name {
	const char *name, *summary;
};
extern const struct gt_filter_name gt_filters[];
extern const size_t gt_filters_n;

struct gt_task {
	const char *name, *question;
	const char *text; /* lines of words, and commands, which begin with four blanks */
};
extern const struct gt_task gt_tasks[];
extern const size_t gt_tasks_n;

/* The filter that a word means: cache, gcache; record, gtrace-record. NULL: none. */
const char *gt_filter_find(const char *word);
const struct gt_task *gt_task_find(const char *name);

/* The filter or task whose name is nearest to a misspelt word, or NULL if none is near. */
const char *gt_task_near(const char *word);

#endif
