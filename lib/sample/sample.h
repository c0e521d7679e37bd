/* SPDX-License-Identifier: MIT */
/* Representative launches of a stream (gsample(1)): launches that are alike form a group, of which the first one is modelled and stands for
 * the others. After principal kernel selection (Avalos Baddouh et al., Principal Kernel Analysis, MICRO 2021), with a tolerance in place of
 * its clusters, so that a launch never stands for one that differs from it by more. */
#ifndef GT_SAMPLE_H
#define GT_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

/* Distinct lines are estimated as in HyperLogLog (Flajolet et al., 2007); the standard error is 1.04 / sqrt(registers), 0.8 %. */
#define GT_SAMPLE_REGISTERS 16384
struct gt_distinct {
	uint8_t registers[GT_SAMPLE_REGISTERS];
	uint32_t with_value[64]; /* how many registers have that value */
};

struct gt_sample_group;

struct gt_sampler {
	uint64_t tolerance; /* by how much numbers may differ, in millionths of the larger one */
	/* Of the launch that has begun: what must be equal, and what must be near. */
	uint64_t identity, id;
	uint64_t *numbers;
	size_t n, capacity;
	bool alone; /* library calls that were not traced belong to it, which no other launch stands for */
	struct gt_distinct lines;
	struct gt_sample_group *groups; /* in the order of their first launches */
	size_t groups_n, groups_capacity;
	struct gt_map last; /* from an identity to 1 + the newest group that has it */
};

/* Returns 0, or -1 when memory is short. */
int gt_sampler_open(struct gt_sampler *sampler, uint64_t tolerance, struct gt_error *error);
void gt_sampler_close(struct gt_sampler *sampler);

/* A launch begins. Sets *first if no earlier one has its name and its shape of a block, so that it is modelled whatever it does. */
int gt_sampler_begin(struct gt_sampler *sampler, const struct gt_kernel *kernel, bool *first, struct gt_error *error);
/* Requests of it. */
void gt_sampler_rows(struct gt_sampler *sampler, const struct gt_rows *requests);
/* What a stage counted in it. */
int gt_sampler_count(struct gt_sampler *sampler, const struct gt_count *count, struct gt_error *error);
/* It ends. Sets *modelled if it is the first of its group. */
int gt_sampler_end(struct gt_sampler *sampler, bool *modelled, struct gt_error *error);

/* What is known at the end, of group i: the count of its first launch. */
int gt_sampler_write(const struct gt_sampler *sampler, size_t i, struct gt_count *count, struct gt_error *error);
uint64_t gt_sampler_launches(const struct gt_sampler *sampler);

#endif
