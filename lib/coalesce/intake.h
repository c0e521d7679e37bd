/* SPDX-License-Identifier: MIT */
/* The input of a stage that takes requests: accesses are coalesced first, by the rule of the GPU in the
 * stream. */
#ifndef GT_COALESCE_INTAKE_H
#define GT_COALESCE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "coalesce/coalesce.h"
#include "gpu/gpu.h"
#include "stream/output.h"

/* Receives requests. Returns 0, or -1 with the error set. */
typedef int gt_take_requests(void *context, const struct gt_rows *requests, struct gt_error *error);

struct gt_intake {
	struct gt_coalescer coalescer;
	struct gt_sink coalesced; /* on their way to `take` */
	bool accessed;		  /* this kernel had accesses */
	struct gt_coalescer apart; /* what was coalesced apart, of this kernel */
	gt_take_requests *take;
	void *context;
};

/* Must not be moved between open and close. Returns 0, or -1 when memory is short. */
int gt_intake_open(struct gt_intake *intake, gt_take_requests *take, void *context, struct gt_error *error);
void gt_intake_close(struct gt_intake *intake);

/* A kernel begins; `gpu` may be NULL. */
int gt_intake_begin(struct gt_intake *intake, const struct gt_gpu *gpu, struct gt_error *error);

/* Gives the requests of a batch to `take`. */
int gt_intake_rows(struct gt_intake *intake, const struct gt_rows *rows, struct gt_error *error);

/* The requests of a batch, found in any thread. Zero at first. */
struct gt_intake_batch {
	struct gt_coalescer coalescer;
	struct gt_rows *coalesced;
	const struct gt_rows *requests;
};
/* Sets `requests`: the batch itself, or what its accesses are coalesced to. Returns 0, or -1 when memory is short. */
int gt_intake_batch_find(struct gt_intake_batch *batch, const struct gt_intake *intake, const struct gt_rows *rows,
			 struct gt_error *error);
/* Counts a batch whose requests were found. */
void gt_intake_batch_count(struct gt_intake *intake, const struct gt_intake_batch *batch);
void gt_intake_batch_close(struct gt_intake_batch *batch);

/* The kernel ends: writes the counters if there were accesses. */
int gt_intake_end(struct gt_intake *intake, uint64_t kernel, const struct gt_output *output,
		  struct gt_error *error);

#endif
