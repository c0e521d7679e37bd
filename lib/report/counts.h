/* SPDX-License-Identifier: MIT */
/* What a report has of a kernel: its stages and their counters, which are found by name. */
#ifndef GT_REPORT_COUNTS_H
#define GT_REPORT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "counter/counter.h"
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
	uint64_t last; /* where launches are added as they come: 1 + the number of the last one that has it, */
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
	bool complete;	   /* what is left to do once all counts have come is done */
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

/* The launches that a kernel of a report by name sums up, or that a launch stands for. */
static inline uint64_t gt_report_launches(const struct gt_report_kernel *kernel)
{
	return kernel->merged > 0 ? kernel->merged : kernel->stands_for > 0 ? kernel->stands_for : 1;
}

/* A stage of a kernel by name, or NULL. */
const struct gt_report_stage *gt_report_find_stage(const struct gt_report_kernel *kernel, const char *name);
/* A counter of a stage by name, or NULL; `hint` is where it may be. */
struct gt_report_counter *gt_report_find_counter(const struct gt_report_stage *stage, const char *name, size_t hint);
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

/* ---- for those who gather them ---- */

void gt_report_kernel_clear(struct gt_report_kernel *kernel);
/* Adds a stage to a kernel, as the occurrence of that name, from 1. NULL on error. */
struct gt_report_stage *gt_report_new_stage(struct gt_report_kernel *kernel, const char *plain, unsigned occurrence, struct gt_error *error);
/* Adds a counter to a stage, with a copy of the value; its name must last as long as the report. NULL on error. */
struct gt_report_counter *gt_report_new_counter(struct gt_report_stage *stage, const struct gt_report_value *value, const struct gt_counter *about,
						bool differs, struct gt_error *error);
/* The spread of a counter, to be changed; NULL when memory is short. */
struct gt_report_spread *gt_report_spread_to(struct gt_report_stage *stage, const struct gt_report_counter *counter, struct gt_error *error);

#endif
