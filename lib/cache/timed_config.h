/* SPDX-License-Identifier: MIT */
/* The further parameters of the timed model of a level. */
#ifndef GT_CACHE_TIMED_CONFIG_H
#define GT_CACHE_TIMED_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/latency.h"

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
