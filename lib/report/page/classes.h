/* SPDX-License-Identifier: MIT */
/* The classes of references that a stage counted (grd --by), of all kernels, by their misses. */
#ifndef GT_REPORT_PAGE_CLASSES_H
#define GT_REPORT_PAGE_CLASSES_H

#include "report/gather.h"

/* The counters of misses by cause. */
#define GT_CAUSES 3
extern const char *const gt_causes[GT_CAUSES];

struct gt_class {
	const struct gt_report_kernel *kernel;
	const struct gt_report_stage *stage; /* of the kernel */
	const char *name; /* of the counter, of which the first `length` bytes are the class */
	size_t length;
	uint64_t misses; /* or stores or atomics sent on */
	char line[GT_SOURCE_TEXT]; /* the file and line, or "": for the first classes only */
};

/* The classes of one stage in all kernels. */
struct gt_classes {
	struct gt_class *classes;
	size_t n, capacity;
	uint64_t misses;    /* of all of them */
	enum gt_traffic_kind traffic; /* what all of them do, behind a level */
	const char *behind; /* the level whose misses reach the stage, or NULL */
	bool caused;	    /* misses were counted by cause */
};

/* Gathers the classes of a stage, those with most misses first, with the lines of the first `lines` of them: of a stage behind a
 * level, those of one kind of traffic; of any other, all if `traffic` is GT_TRAFFIC_MIXED. `classes->classes` is freed by the caller, also on error. */
int gt_classes_gather(struct gt_classes *classes, const struct gt_report *report, const char *stage, enum gt_traffic_kind traffic,
		      size_t lines, struct gt_error *error);

/* Whether a stage counted by class. */
bool gt_classes_in(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage);

/* A counter of a class. False if the stage has none. */
bool gt_class_number(const struct gt_class *class, const char *counter, uint64_t *value);
/* A word that is told of a class, or NULL. */
const char *gt_class_word(const struct gt_class *class, const char *what);

#endif
