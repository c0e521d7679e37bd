/* SPDX-License-Identifier: MIT */
/* The further parameters of the timed model of a level. */
#ifndef GT_CACHE_TIMED_CONFIG_H
#define GT_CACHE_TIMED_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The latency of a miss in steps: a table of models. */

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

#define GT_UNLIMITED UINT32_MAX
#define GT_BANKS_MAX 65536 /* of all partitions */

enum gt_on_full { GT_FULL_STALL, GT_FULL_REQUEUE };
/* What --on-full requeue admits or holds. */
enum gt_requeue_unit { GT_UNIT_ACCESS, GT_UNIT_FIRST_LANE, GT_UNIT_LINE };
/* What decides which warps issue: the steps of the schedule, or a policy of the level. */
enum gt_own_issue { GT_OWN_AUTO, GT_OWN_SCHEDULE, GT_OWN_RR, GT_OWN_GTO, GT_OWN_FIFO_POOL };

struct gt_timed_config {
	uint32_t partitions;
	uint32_t banks; /* of a partition */
	uint32_t ports; /* of a bank; or GT_UNLIMITED */
	uint32_t mshr_sets;
	uint32_t mshr_entries; /* of a set; or GT_UNLIMITED */
	uint32_t merges;       /* of an entry, besides the miss that took it; or GT_UNLIMITED */
	uint32_t per_warp;     /* entries that a warp may hold; or GT_UNLIMITED */
	uint32_t hit_latency;  /* steps */
	struct gt_latency latency;
	enum gt_on_full on_full;
	enum gt_requeue_unit unit;
	enum gt_own_issue issue;
	uint32_t schedulers; /* of an SM; not with GT_OWN_SCHEDULE */
	bool fill_next; /* what arrives in a step comes after the accesses that are served in it, and their hits */
	bool clip;	/* a request for a line in flight takes effect with it */
	double delay;	/* of a warp, as a multiple of its access's latency */
	uint32_t below; /* banks of the level below, for an adaptive latency */
};

/* The MSHR set of a partition: neighbouring partitions share one ([000] 4.4.2). */
static inline uint32_t gt_mshr_set(const struct gt_timed_config *config, uint32_t partition)
{
	return partition / ((config->partitions + config->mshr_sets - 1) / config->mshr_sets);
}

#endif
