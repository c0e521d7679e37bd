/* SPDX-License-Identifier: MIT */
/* A stage that turns the accesses of a stream into requests and counts them by kernel, in one thread or in several. */
#ifndef GT_COALESCE_STAGE_H
#define GT_COALESCE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "coalesce/by_array.h"
#include "coalesce/coalesce.h"
#include "gpu/gpu.h"
#include "stream/output.h"
#include "stream/relay.h"

struct gt_coalesce_stage {
	struct gt_coalescer coalescer;
	struct gt_by_array by_array;
	struct gt_coalescer relayed; /* what was counted in other threads, of the current kernel */
	bool turns;	/* the caller's: no schedule has been made yet, so accesses to shared memory leave turns */
	bool coalesced; /* the kernel was, by an earlier stage: it has requests, or counts of coalescing */
	bool accessed;	/* the kernel has accesses */
};

int gt_coalesce_stage_open(struct gt_coalesce_stage *stage, struct gt_error *error);
void gt_coalesce_stage_close(struct gt_coalesce_stage *stage);

/* A kernel begins, for a GPU, which may be NULL; rule and banks, unless NULL, replace the GPU's. */
int gt_coalesce_stage_begin(struct gt_coalesce_stage *stage, const struct gt_gpu *gpu, const char *rule, const char *banks,
			    struct gt_error *error);

/* Takes a batch of accesses, whose requests go to the sink. Requests it only notes: they are the caller's to pass on. */
int gt_coalesce_stage_rows(struct gt_coalesce_stage *stage, const struct gt_rows *rows, struct gt_sink *sink, struct gt_error *error);

/* Takes note of a count in the stream. */
int gt_coalesce_stage_note(struct gt_coalesce_stage *stage, const struct gt_count *count, struct gt_error *error);

/* The kernel ends: writes its counters, unless an earlier stage did. */
int gt_coalesce_stage_end(struct gt_coalesce_stage *stage, uint64_t kernel, const struct gt_output *output, struct gt_error *error);

/* How batches of accesses pass the stage in several threads; it must outlive them. */
struct gt_relay_stage gt_coalesce_stage_relay(struct gt_coalesce_stage *stage);

#endif
