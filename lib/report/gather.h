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
#include "counter/counter.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/program.h"

#define GT_REPORT_COUNTERS_MAX (1 << 20) /* counters a stage may have */
#define GT_REPORT_STAGES_MAX 1024   /* stages a kernel may have */
#define GT_REPORT_STAGE_NAME (GT_COUNT_NAME + 12)

/* A report of many kernels has very many counters: they have no name of their own, nor room for what only sums have. */
struct gt_report_value {
	const char *name; /* the report's */
	enum gt_count_kind kind;
	union {
		uint64_t number;
		uint64_t *array; /* n elements, owned */
		char *text; /* owned */
	};
	size_t n;
};

struct gt_report_counter {
	struct gt_report_value value;
	const struct gt_counter *about;
	bool differs; /* a setting or a word whose values differ: it has none */
};

/* Of a number that is the sum over several launches: how many have it, and its least and largest value there. */
struct gt_report_spread {
	uint64_t launches, least, largest;
	size_t last; /* where launches are added as they come: 1 + the number of the last one that has it, */
	uint64_t of_last; /* and its value there */
};

/* One stage of one kernel. A second stage of the same name in one launch gets a number: "l1", then "l1#2". */
struct gt_report_stage {
	char name[GT_REPORT_STAGE_NAME];
	char plain[GT_COUNT_NAME]; /* without "#2" */
	uint64_t launch;	   /* the number of the kernel's last launch in which it counted; of the announcement, where launches are added as they come */
	struct gt_report_counter *counters;
	struct gt_report_spread *spreads; /* of each counter; NULL: it is of one launch */
	size_t n, capacity, spreads_n;
	struct gt_map index; /* from the hash of a name to the counter's index; only if there are many */
};

struct gt_report_kernel {
	struct gt_kernel kernel;
	bool announced;	   /* false: counts came without a launch, so only kernel.id is known */
	bool chosen;	   /* false: the kernel filter leaves it out */
	uint64_t launches; /* times that the stream announced it */
	uint64_t stands_for; /* launches, itself included (gsample); 0: itself */
	/* Set by gt_report_by_name: how many launches of that name it sums up, 0 or 1 if it is one, and in what they differ
	 * from `kernel`, the first of them. */
	size_t merged;
	size_t first; /* where launches are added as they come: 1 + the number of the first */
	bool grid_differs, block_differs, registers_differ, shared_differs;
	struct gt_report_stage *stages; /* in the order of the pipe */
	size_t n, capacity;
};

struct gt_report {
	char gpu[GT_GPU_TEXT]; /* the GPU's name, or "" */
	char capability[GT_GPU_TEXT]; /* its compute capability, or "" */
	struct gt_report_kernel *kernels; /* in the order of their first launch */
	size_t n, capacity;
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

/* Forgets the total, so that gt_report_finish computes it. */
void gt_report_drop_total(struct gt_report *report);

/* Replaces the launches of a finished report by one kernel for each name, in the order of their first launch. Numbers
 * are summed as in the total. A launch without a name stays by itself. */
int gt_report_by_name(struct gt_report *report, struct gt_error *error);

/* The launches that a kernel of a report by name sums up, or that a launch stands for. */
static inline uint64_t gt_report_launches(const struct gt_report_kernel *kernel)
{
	return kernel->merged > 0 ? kernel->merged : kernel->stands_for > 0 ? kernel->stands_for : 1;
}

/* A stage of a kernel by name, or NULL. */
const struct gt_report_stage *gt_report_find_stage(const struct gt_report_kernel *kernel, const char *name);
/* A counter of a stage by name, or NULL; `hint` is where it may be. */
const struct gt_report_counter *gt_report_find_counter(const struct gt_report_stage *stage, const char *name, size_t hint);
/* The number of a counter of a stage. False if the stage has none of that name. */
bool gt_report_number(const struct gt_report_stage *stage, const char *name, uint64_t *value);

/* What a counter of a stage has in the launches that it sums up, or NULL: it is of one. */
const struct gt_report_spread *gt_report_spread_of(const struct gt_report_stage *stage, const struct gt_report_counter *counter);

/* The text of a counter of a stage, or NULL: it has none, or launches have different ones. */
const char *gt_report_word(const struct gt_report_stage *stage, const char *name);

/* Whether a counter is of a class (grd --by), such as "0x1a0.references"; then *length is the length of the class's name. */
bool gt_report_class(const char *counter, size_t *length);

/* What is done by the references that a stage counted. Only a load misses: a store that is written through, and an atomic that is
 * sent on, go to the next level whether their line is present or not. */
enum gt_traffic_kind { GT_TRAFFIC_LOADS, GT_TRAFFIC_STORES, GT_TRAFFIC_ATOMICS, GT_TRAFFIC_MIXED, GT_TRAFFICS };
/* That of a class of the first `length` bytes of `name`, by its operation; else that of all references of the stage. */
enum gt_traffic_kind gt_report_traffic(const struct gt_report_stage *stage, const char *name, size_t length);

/* The source lines of a kernel's instructions; none if the trace does not have them, or the launches of one name have
 * different programs. Cleared by gt_sources_clear. Returns 0, or -1: out of memory, or a malformed record. */
int gt_report_sources(const struct gt_report_kernel *kernel, struct gt_sources *sources, struct gt_error *error);

#endif
