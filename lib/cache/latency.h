/* SPDX-License-Identifier: MIT */
/* The latency of a miss in steps: a table of models. */
#ifndef GT_CACHE_LATENCY_H
#define GT_CACHE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GT_LATENCY_MAX (UINT32_C(1) << 20) /* steps; larger draws count as this */

struct gt_latency;

/* The inputs of a latency model. */
struct gt_traffic {
	uint64_t busy;	      /* misses of this cache in flight */
	uint64_t active;      /* SMs that had a request in this kernel; 1 for a shared level */
	uint64_t parallelism; /* for a private level, banks of the next level; for a shared one, its own */
};

struct gt_latency_model {
	const char *name;
	int (*parse)(struct gt_latency *latency, const char *text, struct gt_error *error);
	uint64_t (*steps)(const struct gt_latency *latency, const struct gt_traffic *traffic, uint64_t *random);
};

struct gt_latency {
	const struct gt_latency_model *model;
	double first, second; /* N; K1 and K2; MIN and SIGMA */
	uint64_t seed;
};

/* Reads "NAME:ARGUMENTS". Returns 0, or -1 with what is accepted. */
int gt_latency_parse(const char *text, struct gt_latency *latency, struct gt_error *error);

/* Whether all misses take no time. */
bool gt_latency_is_zero(const struct gt_latency *latency);

/* Draws the latency of a miss. `random` is the state of the cache's generator. */
static inline uint64_t gt_latency_steps(const struct gt_latency *latency, const struct gt_traffic *traffic,
					uint64_t *random)
{
	return latency->model->steps(latency, traffic, random);
}

#endif
