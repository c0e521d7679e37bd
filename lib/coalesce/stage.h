/* SPDX-License-Identifier: MIT */
/* The coalescer on a stream: a stage that turns its accesses into requests and counts them by kernel, in one thread or in several;
 * and the input of a stage that takes requests. */
#ifndef GT_COALESCE_STAGE_H
#define GT_COALESCE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "coalesce/by_array.h"
#include "coalesce/coalesce.h"
#include "gpu/gpu.h"
#include "stream/relay.h"
#include "stream/rows.h"
#include "stream/trace.h"

struct gt_coalesce_stage {
	struct gt_coalescer coalescer;
	struct gt_by_array by_array;
	struct gt_by_site *by_site; /* NULL, or counts by site: then batches must not go through several threads */
	struct gt_coalescer relayed; /* what was counted in other threads, of the current kernel */
	bool turns;	/* the caller's: no schedule has been made yet, so accesses to shared memory leave turns */
	bool coalesced; /* the kernel was, by an earlier stage: it has requests, or counts of coalescing */
	bool accessed;	/* the kernel has accesses */
};

int gt_coalesce_stage_open(struct gt_coalesce_stage *stage, bool by_site, struct gt_error *error);
void gt_coalesce_stage_close(struct gt_coalesce_stage *stage);

/* A kernel begins, for a GPU, which may be NULL; rule and banks, unless NULL, replace the GPU's. */
int gt_coalesce_stage_begin(struct gt_coalesce_stage *stage, const struct gt_gpu *gpu, const char *rule, const char *banks,
			    struct gt_error *error);

/* Takes a batch of accesses, whose requests go to the sink. Requests it only notes: they are the caller's to pass on. */
int gt_coalesce_stage_rows(struct gt_coalesce_stage *stage, const struct gt_rows *rows, struct gt_sink *sink, struct gt_error *error);

/* Takes note of a count in the stream. */
int gt_coalesce_stage_note(struct gt_coalesce_stage *stage, const struct gt_count *count, struct gt_error *error);

/* The kernel ends: writes its counters, unless an earlier stage did, after which there can be none by site: -1. */
int gt_coalesce_stage_end(struct gt_coalesce_stage *stage, uint64_t kernel, const struct gt_output *output, struct gt_error *error);

/* How batches of accesses pass the stage in several threads; it must outlive them. */
struct gt_relay_stage gt_coalesce_stage_relay(struct gt_coalesce_stage *stage);

/* ---- the input of a stage that takes requests: accesses are coalesced first, by the rule of the GPU in the stream ---- */

/* Receives requests. Returns 0, or -1 with the error set. */
typedef int gt_receive_requests(void *context, const struct gt_rows *requests, struct gt_error *error);

struct gt_intake {
	struct gt_coalescer coalescer;
	struct gt_sink coalesced; /* on their way to `receive` */
	bool accessed;		  /* this kernel had accesses */
	struct gt_coalescer apart; /* what was coalesced apart, of this kernel */
	gt_receive_requests *receive;
	void *context;
};

/* Must not be moved between open and close. Returns 0, or -1 when memory is short. */
int gt_intake_open(struct gt_intake *intake, gt_receive_requests *receive, void *context, struct gt_error *error);
void gt_intake_close(struct gt_intake *intake);

/* A kernel begins; `gpu` may be NULL. */
int gt_intake_begin(struct gt_intake *intake, const struct gt_gpu *gpu, struct gt_error *error);

/* Gives the requests of a batch to `receive`. */
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
