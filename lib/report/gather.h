/* SPDX-License-Identifier: MIT */
/* Gathers the counts of all stages of a pipe by kernel, and adds them up. */
#ifndef GT_REPORT_GATHER_H
#define GT_REPORT_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/regex.h"
#include "gpu/gpu.h"
#include "report/packed.h"

struct gt_report {
	char gpu[GT_GPU_TEXT]; /* the GPU's name, or "" */
	char capability[GT_GPU_TEXT]; /* its compute capability, or "" */
	struct gt_report_kernel *kernels; /* in the order of their first launch; of a report that packs them: the one that was read last */
	size_t n, capacity;
	struct gt_packed *packed; /* or NULL; owned */
	bool scales; /* and they are scaled when they are read */
	uint64_t launches; /* of a finished report: those that its kernels are */
	struct gt_map index; /* from the id of a launch to its index in kernels, or in launched */
	struct gt_report_kernel total;
	bool by_name; /* each kernel sums up the launches of a name */
	/* Where launches are added to those of their name as they come. */
	bool adds;
	struct gt_report_launched {
		size_t kernel; /* to which it was added */
		uint64_t announcement; /* the last of it, of all */
	} *launched;
	size_t launched_n, launched_capacity;
	uint64_t last_id; /* of the launch that was found last, */
	size_t last; /* and its place */
	uint64_t announcements;
	struct gt_map names; /* from the hash of a name to its kernel */
	struct gt_names counter_names;
	struct gt_regex *choose; /* the kernel filter, or NULL; owned */
	struct gt_unmatched unmatched; /* by it */
};

/* An empty report on kernels whose names match a PCRE (NULL: on all). Freed by gt_report_clear. Returns 0, or -1 with
 * the error in the expression. */
int gt_report_begin(struct gt_report *report, const char *kernel_regex, struct gt_error *error);
void gt_report_clear(struct gt_report *report);

/* Before the first event: adds each launch to those of its name as it comes, so that memory is of the names and not of the launches. The
 * report is one by name then. Not for launches that are scaled or that stand for others, whose numbers are known at the end. Returns 0, or -1. */
int gt_report_add_by_name(struct gt_report *report, struct gt_error *error);

/* The same: packs kernels, of which there may be a million, as they come. Then gt_report_read and the writers of report/report.h are all that may
 * be asked for. Not for a report by name that does not add launches as they come. Returns 0, or -1. */
int gt_report_pack(struct gt_report *report, struct gt_error *error);

/* Each takes an event of a stream, and returns 0, or -1 with an error. */
int gt_report_add_kernel(struct gt_report *report, const struct gt_kernel *kernel, struct gt_error *error);
int gt_report_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error);
void gt_report_gpu(struct gt_report *report, const struct gt_gpu *gpu);

/* Counts of a part of the grid, scaled to the whole: multiplies the numbers that stages behind the schedule counted by
 * blocks / modelled_blocks of their kernel, rounded to the nearest integer. Settings stay as they are. Must come before
 * gt_report_finish. Returns 0, or -1 if a kernel has no schedule, or a number does not fit. */
int gt_report_scale(struct gt_report *report, struct gt_error *error);

/* Drops the kernels that the filter excludes, counts those that stand for others as often, and computes the total: sums of numbers and, element by element, of
 * arrays; settings and words only if all kernels agree. Returns 0, or -1, also if the filter matches no kernel's name. */
int gt_report_finish(struct gt_report *report, struct gt_error *error);

/* Kernel i of a finished report; of one that packs them, valid until the next call. NULL on error. */
const struct gt_report_kernel *gt_report_read(const struct gt_report *report, size_t i, struct gt_error *error);

/* Forgets the total, so that gt_report_finish computes it. */
void gt_report_drop_total(struct gt_report *report);

/* Replaces the launches of a finished report by one kernel for each name, in the order of their first launch. Numbers
 * are summed as in the total. A launch without a name stays by itself. */
int gt_report_by_name(struct gt_report *report, struct gt_error *error);

#endif
