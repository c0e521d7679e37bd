/* SPDX-License-Identifier: MIT */
/* Gathers what the stages of a pipe counted, kernel by kernel, and adds it up. */
#ifndef GT_REPORT_GATHER_H
#define GT_REPORT_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/regex.h"
#include "counter/counter.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"

#define GT_REPORT_COUNTERS_MAX (1 << 20) /* counters a stage may have */
#define GT_REPORT_STAGES_MAX 1024   /* stages a kernel may have */
#define GT_REPORT_STAGE_NAME (GT_COUNT_NAME + 12)

struct gt_report_counter {
	struct gt_count_entry value; /* owned */
	const struct gt_counter *about;
	bool differs; /* a setting, or a word, that was not everywhere the same: has no value */
};

/* One stage of one kernel. A stage that a stream names twice in one launch is another stage:
 * "l1", then "l1#2". */
struct gt_report_stage {
	char name[GT_REPORT_STAGE_NAME];
	char plain[GT_COUNT_NAME]; /* without "#2" */
	uint64_t launch;	   /* the last announcement of the kernel in which it counted */
	struct gt_report_counter *counters;
	size_t n, capacity;
	struct gt_map index; /* from the hash of a name to its place; only once there are many */
};

struct gt_report_kernel {
	struct gt_kernel kernel;
	bool announced;	   /* false: counts came without a launch, so only kernel.id is known */
	bool chosen;	   /* false: the kernel filter leaves it out */
	uint64_t launches; /* how often it was announced */
	struct gt_report_stage *stages; /* in the order in which they came, which is the pipe's */
	size_t n, capacity;
};

struct gt_report {
	char gpu[GT_GPU_TEXT]; /* the GPU's name, or "" */
	struct gt_report_kernel *kernels; /* in the order in which they came */
	size_t n, capacity;
	struct gt_map index; /* from the kernel's id to its place */
	struct gt_report_kernel total;
	struct gt_regex *choose; /* the kernel filter, or NULL; owned */
};

/* An empty report on kernels whose names match a PCRE (NULL: on all). Freed by gt_report_clear.
 * Returns 0, or -1 with what is wrong in the expression. */
int gt_report_begin(struct gt_report *report, const char *kernel_regex, struct gt_error *error);
void gt_report_clear(struct gt_report *report);

/* Takes what a stream said. Each returns 0, or -1 with an error. */
int gt_report_add_kernel(struct gt_report *report, const struct gt_kernel *kernel, struct gt_error *error);
int gt_report_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error);
void gt_report_gpu(struct gt_report *report, const struct gt_gpu *gpu);

/* Drops what the filter leaves out and computes the total: sums of numbers and, element by
 * element, of arrays; settings and words only where all kernels agree. */
int gt_report_finish(struct gt_report *report, struct gt_error *error);

/* A stage of a kernel by name, or NULL. */
const struct gt_report_stage *gt_report_find_stage(const struct gt_report_kernel *kernel, const char *name);
/* The number of a counter of a stage. False if the stage has none of that name. */
bool gt_report_number(const struct gt_report_stage *stage, const char *name, uint64_t *value);

#endif
