/* SPDX-License-Identifier: MIT */
/* Two runs side by side: kernels in pairs, what each moves, and the findings that are gone, new or changed. gtrace-findings(7) says
 * how they are paired. */
#ifndef GT_REPORT_COMPARE_RUNS_H
#define GT_REPORT_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "report/findings/findings.h"
#include "report/format.h"

enum { GT_RUN_A, GT_RUN_B, GT_RUN_SIDES };
#define GT_RUN_NAME 12 /* bytes that the name of a column may have */

/* One side: what the caller gathered. */
struct gt_run {
	char name[GT_RUN_NAME + 1]; /* of its column */
	char text[512];	  /* the operand, as a shell takes it */
	struct gt_report report;
	struct gt_gpu gpu; /* without figures: not known */
	bool saved;	  /* read from what gstats --csv wrote, which has no numbers of launches */
	bool named;	  /* of what is saved: it names kernels; else it has launches in their order */
	struct gt_kernel_findings *findings; /* by gt_runs_compare */
};

/* Reads what gstats --csv wrote, with the kernels that the report's filter chooses. Returns 0, or -1. */
int gt_run_read(struct gt_run *run, const char *path, struct gt_error *error);
/* Whether a file begins as what gstats --csv writes does, compressed or not. False with an error, whose text is else empty, if it holds what else a report is
 * written as. */
bool gt_run_is_saved(const char *path, struct gt_error *error);
/* Names both: with what is given, or NULL, else as their operands; if that is too long, or the same, A and B. */
void gt_run_names(struct gt_run runs[GT_RUN_SIDES], const char *const given[GT_RUN_SIDES]);
void gt_run_clear(struct gt_run *run);

/* What is told of a kernel on both sides: one row of a table for each. */
struct gt_quantity {
	const char *key, *label, *unit;
	enum { GT_QUANTITY_BYTES, GT_QUANTITY_SECTORS, GT_QUANTITY_RATIO, GT_QUANTITY_PERCENT } kind; /* sectors are shown as bytes */
	bool shown; /* in tables for people */
};
#define GT_QUANTITIES 9
extern const struct gt_quantity gt_quantities[GT_QUANTITIES];

struct gt_quantity_value {
	bool known;
	uint64_t count; /* of bytes and sectors */
	double number;	/* the same, or the ratio */
};

enum gt_finding_state { GT_FINDING_GONE, GT_FINDING_NEW, GT_FINDING_CHANGED, GT_FINDING_SAME, GT_FINDING_STATES };

struct gt_finding_pair {
	const struct gt_finding *side[GT_RUN_SIDES]; /* NULL: that side does not have it */
	enum gt_finding_state state;
	double cost; /* of the larger gain */
};

struct gt_run_pair {
	const struct gt_kernel_findings *side[GT_RUN_SIDES]; /* NULL: the kernel is on the other side only */
	struct gt_quantity_value values[GT_QUANTITIES][GT_RUN_SIDES];
	double change; /* of cost, without its sign */
	bool same;     /* nothing differs */
	struct gt_finding_pair *findings; /* the highest cost first; owned */
	size_t n;
};

enum { GT_BY_SITE_ACCESSES = 1, GT_BY_SITE_LEVELS = 2, GT_BY_SITE_CAUSES = 4 };

struct gt_runs {
	struct gt_run *run[GT_RUN_SIDES]; /* the caller's */
	struct gt_run_pair *pairs; /* those on both sides first, in the order of their change; owned */
	size_t n, paired;
	struct gt_run_pair total; /* of all kernels of each side; without findings */
	size_t states[GT_FINDING_STATES]; /* findings, of kernels on both sides, that are shown without `all` */
	bool same; /* nothing differs */
	unsigned by_site[GT_RUN_SIDES]; /* what stages counted by site, as bits; findings are compared if both sides have the same */
};

/* Finishes both reports, finds what there is, and pairs. To be cleared in either case. Returns 0, or -1: out of memory, kernels that cannot be paired, or
 * none. */
int gt_runs_compare(struct gt_runs *runs, struct gt_run *a, struct gt_run *b, struct gt_error *error);
void gt_runs_clear(struct gt_runs *runs);

/* ---- as text, JSON and CSV: runs_write.c ---- */

void gt_runs_write(const struct gt_runs *runs, const struct gt_findings_style *style, FILE *to);
void gt_runs_write_json(const struct gt_runs *runs, const struct gt_findings_style *style, FILE *to);
void gt_runs_write_csv(const struct gt_runs *runs, FILE *to);

/* ---- their words, of which pages are made too ---- */

/* The sum: "after moves 87 % fewer sectors at L1, the same at L2 and DRAM". */
#define GT_RUNS_TEXT 512
const char *gt_runs_sum(const struct gt_runs *runs, char text[GT_RUNS_TEXT]);
/* "3 findings gone, 1 new", or "". */
const char *gt_runs_states(const struct gt_runs *runs, char text[GT_RUNS_TEXT]);
extern const char *const gt_finding_states[GT_FINDING_STATES];
/* "gemm, 20 and 40 launches"; "gemm<16> -> gemm<32>"; of a kernel on one side alone its name. */
const char *gt_run_pair_name(const struct gt_runs *runs, const struct gt_run_pair *pair, char text[2 * GT_KERNEL_NAME + 64]);

/* Whether a finding is shown without `all`: it is one on some side. */
bool gt_finding_pair_shown(const struct gt_finding_pair *pair);
/* "blur.cu:13 -> blur.cu:15", "in". */
#define GT_FINDING_PLACE (2 * GT_SOURCE_TEXT + 8)
const char *gt_finding_pair_place(const struct gt_finding_pair *pair, char text[GT_FINDING_PLACE]);
int gt_finding_array_length(const struct gt_finding *finding);

/* A number of each side: the first ratio of the evidence; else the passes, or the sectors at a boundary, that it could spare; else its first count. */
struct gt_finding_numbers {
	char what[40]; /* "sectors/access" */
	char text[GT_RUN_SIDES][GT_WORDS];
};
void gt_finding_pair_numbers(const struct gt_run_pair *kernels, const struct gt_finding_pair *pair, struct gt_finding_numbers *numbers);


#define GT_QUANTITY_TEXT 32
const char *gt_quantity_text(size_t quantity, const struct gt_quantity_value *value, char text[GT_QUANTITY_TEXT]);
/* "-87 %", "12x", "-26 points", "same", or "" if a side is not known. */
const char *gt_quantity_change(size_t quantity, const struct gt_quantity_value values[GT_RUN_SIDES], char text[GT_QUANTITY_TEXT]);

#endif
