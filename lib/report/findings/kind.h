/* SPDX-License-Identifier: MIT */
/* What a kind of finding is made from, and how it adds one. A kind looks at one kernel: at its groups (accesses of one source line to one array that do
 * the same), or at its stages. */
#ifndef GT_REPORT_FINDINGS_KIND_H
#define GT_REPORT_FINDINGS_KIND_H

#include "counter/tables.h"
#include "report/findings/findings.h"
#include "report/sites.h"

#define GT_GROUP_ARRAYS 4 /* that are told apart; the others are together */

/* What makes groups the same: that a line does the same; that it accesses shared memory; an array, or of groups without one the line. */
enum gt_sameness { GT_SAME_LINE, GT_SAME_SHARED_LINE, GT_SAME_ARRAY, GT_SAMENESSES };
#define GT_LAST_GROUP SIZE_MAX

enum gt_group_action { GT_GROUP_LOADS, GT_GROUP_STORES, GT_GROUP_ATOMICS, GT_GROUP_ACTIONS };

struct gt_group {
	const char *place; /* of the line */
	enum gt_group_action action;
	bool shared, local; /* the memory; else global, texture or constant */
	const char *stride; /* bytes from lane to lane, if all sites have the same; else NULL */
	struct gt_site_access access;
	struct gt_site_level level[GT_SITE_LEVELS];
	uint64_t distance[GT_SITE_LEVELS][GT_DISTANCE_BINS];
	struct {
		const char *name;
		uint64_t sectors; /* or passes of shared memory */
	} arrays[GT_GROUP_ARRAYS];
	size_t n_arrays; /* 1, or 0 where the trace names none; more in a sum */
	/* Groups that are the same, by each of enum gt_sameness: the first, and the next behind this one or GT_LAST_GROUP. */
	size_t first[GT_SAMENESSES], next[GT_SAMENESSES];
};

/* What is known of a level of one kernel. */
struct gt_level_facts {
	const struct gt_report_stage *stage; /* NULL: it is not in the pipe */
	uint64_t reads, read_hits, size, line, instances;
	bool caused; /* misses were counted by site and cause, or there are none */
};

struct gt_finding_input {
	const struct gt_report_kernel *kernel;
	const struct gt_traffic *traffic;
	const struct gt_group *groups;
	size_t n;
	size_t (*of_array)(const void *groups_of, const char *array); /* the first group of a named array, or GT_LAST_GROUP */
	const void *groups_of;
	struct gt_level_facts level[GT_SITE_LEVELS];
	struct gt_kernel_findings *to;
	struct gt_error *error;
};

/* Whether a kind holds of a group; `what` is a number that the kind gives. */
typedef bool gt_holds(const struct gt_group *group, unsigned what);
/* The group at `at` and those behind it that are the same, if it holds of each, added up. False if it does not hold, or if the group was added to one
 * before it. */
bool gt_finding_gather(const struct gt_finding_input *input, size_t at, gt_holds *holds, unsigned what, enum gt_sameness same, struct gt_group *sum);

/* A number of a stage of the kernel; 0 if it is not there. */
uint64_t gt_finding_number(const struct gt_finding_input *input, const char *stage, const char *counter);

/* Adds a finding of that kind, of a group or of the whole kernel (NULL). NULL when memory is short. */
struct gt_finding *gt_finding_add(const struct gt_finding_input *input, const struct gt_finding_kind *kind, const struct gt_group *group);
void gt_finding_gains(struct gt_finding *finding, enum gt_boundary boundary, uint64_t sectors, enum gt_gain_basis basis);
void gt_finding_count(struct gt_finding *finding, const char *name, const char *unit, uint64_t count);
/* Nothing is added for a ratio to 0. */
void gt_finding_ratio(struct gt_finding *finding, const char *name, const char *unit, double numerator, double denominator);

/* How each kind is found: in the order of gt_finding_kinds. Returns 0, or -1 when memory is short. */
typedef int gt_find(const struct gt_finding_input *input, const struct gt_finding_kind *kind);
extern gt_find *const gt_finding_finders[];

#endif
