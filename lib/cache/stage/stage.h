/* SPDX-License-Identifier: MIT */
/* The level of gcache: functional or timed by the options, and recreated if a kernel or its GPU requires other parameters. */
#ifndef GT_CACHE_STAGE_STAGE_H
#define GT_CACHE_STAGE_STAGE_H

#include "base/error.h"
#include "cache/config.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

/* What a level is filled with before a kernel begins: what the program copied to device memory, or all of its arrays. */

#define GT_WARM_MAX (UINT64_C(256) << 30) /* bytes of a range */

struct gt_warm_ranges {
	uint64_t kernel; /* id of the launch whose ranges they are */
	uint64_t *addresses, *bytes; /* owned */
	size_t n;
	bool uneven; /* they are no pairs, which is an error where they are asked for */
};

/* The ranges of one kernel, as counts of the stages "copies" and "allocations" name them by their
 * arrays addresses and bytes. They may come before the kernel or behind it, but before its rows. */
struct gt_warming {
	struct gt_warm_ranges of[GT_WARMS]; /* by enum gt_warm */
};

/* Begins with its settings; all else is zero. */
struct gt_cache_stage {
	const struct gt_level_settings *settings;
	unsigned lanes; /* that may serve at the same time; 0 or 1: one */
	char *said;		/* the level's parameters: gt_level_said */
	const struct gt_level_kind *kind; /* cache/state.h: functional, timed, or divided among the lanes */
	void *level; /* of this kind; NULL before the first kernel */
	uint64_t kernel;	/* id of the launch that has begun */
	struct gt_warming warming;
	struct gt_rows *singly; /* room for requests of which several were a row; NULL: none yet */
	struct gt_count arrays; /* the last count "allocations", for the sites of a level that is made later */
};

/* Before the first kernel, and before each whose config may be another: makes the level of a config that passed the check. The present
 * one is kept if no parameter has changed. */
int gt_cache_stage_shape(struct gt_cache_stage *stage, const struct gt_level_config *config, const struct gt_gpu *gpu,
			 const struct gt_kernel *kernel, struct gt_error *error);
int gt_cache_stage_begin(struct gt_cache_stage *stage, const struct gt_kernel *kernel, struct gt_error *error);
/* A count of the kernel. The allocations and copies that warm the level may precede or follow its launch. */
int gt_cache_stage_note(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error);

/* Whether the next batch of the kernel may go through several threads; `hints`: it has the column. */
bool gt_cache_stage_relays(const struct gt_cache_stage *stage, bool hints);

/* As those of a level. */
int gt_cache_stage_take(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_sink *sent,
			struct gt_error *error);
int gt_cache_stage_finish(struct gt_cache_stage *stage, struct gt_sink *sent, struct gt_error *error);
int gt_cache_stage_count(const struct gt_cache_stage *stage, struct gt_count *count, struct gt_error *error);

/* A batch of requests, divided among the lanes. Zero at first. */
struct gt_division {
	struct gt_part *parts;
	unsigned lanes;
	bool listed; /* the lanes serve rows of the batch itself; else copies */
};
void gt_division_close(struct gt_division *division);

/* In place of gt_cache_stage_take, of batches that may go through several threads: the second once for each lane, which takes batches in
 * their order; the last in the order of batches. */
int gt_cache_stage_split(const struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division,
			 struct gt_error *error);
int gt_cache_stage_serve(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division, unsigned lane,
			 struct gt_sink *sent, struct gt_error *error);
int gt_cache_stage_gather(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_division *division, struct gt_sink *sent,
			  struct gt_error *error);
void gt_cache_stage_served(struct gt_cache_stage *stage, const struct gt_rows *requests);

void gt_cache_stage_close(struct gt_cache_stage *stage);

#endif
