/* SPDX-License-Identifier: MIT */
/* Where misses come from, of what stages counted by class: classes of references (grd --by) by their misses, with what the loads
 * of an instruction read of each level (gcache --by pc). These tables are computed here, of all kernels of a report. */
#ifndef GT_REPORT_CLASSES_H
#define GT_REPORT_CLASSES_H

#include <stdbool.h>

#include "report/gather.h"

/* ---- levels that counted reads by instruction ---- */

#define GT_READ_LEVELS 8 /* that are told apart, at most */

struct gt_read_levels {
	const char *names[GT_READ_LEVELS]; /* in the order of the pipe */
	size_t n;
};

/* Sectors that loads read of a level, and those of them that hit: 0 and 0 if it counted nothing. */
struct gt_reads {
	uint64_t reads, hits;
};

/* If a counter of a level is the reads of an instruction, "0x1b.reads": these, and the length of the instruction. */
bool gt_reads_of_counter(const struct gt_report_stage *stage, const struct gt_report_value *entry, size_t *length, struct gt_reads *reads);

void gt_read_levels_find(const struct gt_report *report, struct gt_read_levels *levels);

/* ---- classes ---- */

/* What a stage may count of a class. */
enum gt_class_count {
	GT_CLASS_REFERENCES,
	GT_CLASS_HITS,
	GT_CLASS_INFINITE,
	GT_CLASS_COMPULSORY, /* the first of the causes of misses */
	GT_CLASS_CAPACITY,
	GT_CLASS_CONFLICT,
	GT_CLASS_LATENCY_MISS,
	GT_CLASS_MERGED,
	GT_CLASS_COUNTS
};
#define GT_CAUSES 3

struct gt_class {
	const struct gt_report_kernel *kernel;
	const struct gt_report_stage *stage; /* of the kernel */
	const char *name; /* of the counter, of which the first `length` bytes are the class */
	size_t length;
	uint64_t misses; /* or stores or atomics sent on */
	/* Of the first classes only: */
	char line[GT_SOURCE_TEXT]; /* the file and line, or "" */
	const char *op;		   /* the operation, or NULL */
	bool counted[GT_CLASS_COUNTS];
	uint64_t counts[GT_CLASS_COUNTS];      /* 0 if not counted */
	struct gt_reads reads[GT_READ_LEVELS]; /* of an instruction, of each of the levels */
};

/* The classes of one stage in all kernels. */
struct gt_classes {
	struct gt_class *classes; /* those with most misses first; owned */
	size_t n, capacity;
	uint64_t misses;    /* of all of them */
	enum gt_traffic_kind traffic; /* what all of them do, behind a level */
	const char *behind; /* the level whose misses reach the stage, or NULL */
	bool caused;	    /* misses were counted by cause */
	struct gt_read_levels levels; /* if the classes are instructions */
};

/* Gathers the classes of a stage, all that is told of the first `detailed` ones, and the numbers of misses of the others: of a
 * stage behind a level, those of one kind of traffic; of any other, all if `traffic` is GT_TRAFFIC_MIXED.
 * `classes->classes` is freed by the caller, also on error. */
int gt_classes_gather(struct gt_classes *classes, const struct gt_report *report, const char *stage, enum gt_traffic_kind traffic,
		      size_t detailed, struct gt_error *error);

/* Whether a stage counted by class. */
bool gt_classes_in(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage);

#endif
