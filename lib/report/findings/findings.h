/* SPDX-License-Identifier: MIT */
/* Findings: what a kernel's counts say of its accesses, in words, with the place, the numbers, and what the model's levels would be spared.
 * gtrace-findings(7) defines each. A kind is a row of the table in kinds.c; all else reads that row. */
#ifndef GT_REPORT_FINDINGS_H
#define GT_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "report/gather.h"
#include "report/sites.h"
#include "stream/program.h"

/* ---- the traffic of a kernel ---- */

enum gt_boundary { GT_TO_L1, GT_TO_L2, GT_TO_DRAM, GT_BOUNDARIES };

/* What crosses each boundary: sectors of loads, stores and atomics that L1 looks up, that L2 gets (launches' reads, too), that device memory reads and
 * writes. */
struct gt_traffic {
	bool known[GT_BOUNDARIES];
	uint64_t sectors[GT_BOUNDARIES];
	bool by_site;	/* asked and unique bytes were counted */
	uint64_t asked; /* bytes that lanes asked for, lanes times size; shared memory apart */
	uint64_t unique; /* distinct bytes that were touched, summed over launches */
};

/* ---- findings ---- */

enum gt_gain_basis {
	GT_GAIN_NONE,	  /* nothing, or not known */
	GT_GAIN_COMPUTED, /* the model has run without the cause */
	GT_GAIN_BOUNDED,  /* at most that */
};

struct gt_gain {
	uint64_t sectors;
	enum gt_gain_basis basis;
};

/* A number that shows the finding; a ratio is computed here, once. */
struct gt_evidence {
	const char *name, *unit;
	bool is_ratio;
	uint64_t count;
	double ratio;
};
#define GT_EVIDENCE_MAX 8
#define GT_FINDING_TEXT 256
#define GT_FINDING_ARRAYS 128

struct gt_finding_kind;

struct gt_finding {
	const struct gt_finding_kind *kind;
	char place[GT_SOURCE_TEXT];	/* the source line or instruction; "": the kernel */
	char arrays[GT_FINDING_ARRAYS]; /* "in a.cu:54, out a.cu:55": those with most of it first; "": none is named */
	char text[GT_FINDING_TEXT];	/* the evidence in words: a sentence without its period */
	struct gt_evidence evidence[GT_EVIDENCE_MAX];
	size_t n_evidence;
	struct gt_gain gain[GT_BOUNDARIES]; /* fewer sectors at each boundary */
	uint64_t passes;    /* of shared memory that would be spared */
	uint64_t beyond_mean; /* sectors of the busiest channel of device memory */
	double cost;	    /* of the gain, in cycles of latency: gt_findings_weights */
	double share;	    /* of the kernel's traffic at the boundary where it is largest, 0 to 1 */
};

struct gt_finding_kind {
	const char *id;	     /* "uncoalesced_load" */
	const char *title;   /* "uncoalesced load" */
	const char *command; /* that shows more: words behind "gtrace", then the program; NULL: none */
	const char *holds;   /* where it holds, as the manual says it */
};
extern const struct gt_finding_kind *const gt_finding_kinds[];
extern const size_t gt_finding_kinds_n;

/* The findings of one kernel, in the order of the cost of their gains. */
struct gt_kernel_findings {
	const struct gt_report_kernel *kernel;
	struct gt_traffic traffic;
	bool caused[GT_SITE_LEVELS]; /* misses of L1 and L2 were counted by site and cause, or there are none */
	double cost; /* of the kernel's traffic, as that of gains */
	struct gt_finding *findings; /* owned */
	size_t n, capacity;
};

/* The cost of a sector at each boundary: the latency of what answers there, in cycles, as the GPU's description has it (l1.hit_cycles, l2.hit_cycles,
 * l2.miss_cycles); 1 each if it has not all of them. */
void gt_findings_weights(const struct gt_gpu *gpu, double weights[GT_BOUNDARIES]);

/* The findings of all kernels of a report, in its order, into an array of report->n that gt_findings_close frees, also on error. `gpu` may be NULL. Returns 0, or
 * -1: out of memory, or malformed source lines. */
int gt_findings_open(struct gt_kernel_findings **findings, const struct gt_report *report, const struct gt_gpu *gpu, struct gt_error *error);
void gt_findings_close(struct gt_kernel_findings *findings, const struct gt_report *report);

/* ---- as text and JSON: write.c ---- */

struct gt_findings_style {
	const char *program; /* the program and its arguments, as a shell takes them; NULL: not known */
	bool colour;	     /* with escapes of a terminal */
	bool all;	     /* findings of any gain, and of all kernels */
};

/* Returns 0, or -1 when memory is short: nothing is written then. */
int gt_findings_write(const struct gt_kernel_findings *findings, const struct gt_report *report, const struct gt_findings_style *style, FILE *to,
		      struct gt_error *error);
/* With style->all also the counters, as gstats --json has them. Returns 0, or -1 when memory is short. */
int gt_findings_write_json(const struct gt_kernel_findings *findings, const struct gt_report *report, const struct gt_findings_style *style, FILE *to,
			   struct gt_error *error);

/* The object of one finding. */
void gt_finding_write_json(const struct gt_finding *finding, const struct gt_findings_style *style, FILE *to);

/* What crosses each boundary, in words: "asked 79.4 MB -> L1 635 MB, 8.00x -> L2 218 MB, 0.34x". */
const char *gt_traffic_text(const struct gt_traffic *traffic, char text[GT_FINDING_TEXT]);

/* The kernels in the order of the cost of their traffic, the highest first; the caller frees the array, whose n elements point to `findings`. NULL when
 * memory is short. */
const struct gt_kernel_findings **gt_findings_in_order(const struct gt_kernel_findings *findings, size_t n, struct gt_error *error);

/* A gain in words: "would save 13.6 M of 20.8 M sectors at L1; at most 1.3 M of 7.1 M at L2". */
const char *gt_finding_gain(const struct gt_finding *finding, const struct gt_traffic *traffic, char text[GT_FINDING_TEXT]);

/* The command that shows more of it, or NULL. */
const char *gt_finding_command(const struct gt_finding *finding, const char *program, char text[GT_FINDING_TEXT]);

#define GT_FINDINGS_LEAST 0.02 /* share of the kernel's traffic below which a gain is no finding */

#endif
