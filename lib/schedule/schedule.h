/* SPDX-License-Identifier: MIT */
/* Assigns blocks to SMs and decides the order in which their warps issue ([000] algorithms 1-3, [002] 4.1). Takes
 * the rows of a kernel by block and writes them by (step, SM, order of issue), with the columns step and sm. The
 * result depends on the rows and the configuration alone. */
#ifndef GT_SCHEDULE_SCHEDULE_H
#define GT_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/occupancy.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

#define GT_SMS_MAX 65535	/* the column sm has 16 bits */
#define GT_SCHEDULERS_MAX 1024 /* warps that a block may have, which is more than any GPU has */

/* ---- the durations of blocks ---- */

/* The durations of blocks in steps, as measured in a timed cache or on hardware. A slot of an SM is free
 * again when its block has issued its last access and this number of steps has passed since its first. */

#define GT_DURATION_MAX (UINT64_C(1) << 31) /* steps of a block */

struct gt_duration {
	uint64_t kernel; /* its id */
	uint32_t block, steps;
};

/* Zero is none; freed by close. */
struct gt_durations {
	struct gt_duration *items; /* by kernel and block, once sorted */
	size_t n, capacity;
};

/* Reads a line "KERNEL BLOCK STEPS", a blank line, or a comment after #. Returns 0, or -1 with what was expected. */
int gt_durations_add(struct gt_durations *durations, const char *line, struct gt_error *error);

/* Call after the last line. Returns 0, or -1 if a block occurs twice. */
int gt_durations_sort(struct gt_durations *durations, struct gt_error *error);

/* Reads all lines of a file, and sorts. Returns 0, or -1 with the file and line. */
int gt_durations_read(struct gt_durations *durations, const char *path, struct gt_error *error);

/* The steps of a block; 0 if unknown. */
uint64_t gt_durations_of(const struct gt_durations *durations, uint64_t kernel, uint32_t block);

void gt_durations_close(struct gt_durations *durations);

/* ---- which SM a block runs on ([000] table 2, "Blocks-SM mapping"): a table with one row per mapping ---- */

struct gt_mapping {
	const struct gt_mapping_kind *kind;
	uint64_t parameter; /* blocks of a partition, or the seed */
	uint32_t sms;

	/* For mappings without a closed form: how many of the first `walked` blocks each SM has. For traced ones:
	 * how many of the blocks seen; the caller counts them. */
	uint64_t *counts; /* owned; NULL otherwise */
	uint64_t walked;
};

struct gt_mapping_kind {
	const char *name;
	const char *parameter; /* the text after the colon, or NULL */
	uint64_t min, max;     /* of the parameter */
	bool traced; /* the rows contain the SM */
	bool dealt;  /* round-robin; with refills, the SM that has room takes the block */
	/* The SM of a block. */
	uint32_t (*sm)(const struct gt_mapping *mapping, uint64_t block);
	/* How many of the first `blocks` blocks run on an SM; NULL: they must be counted. */
	uint64_t (*count)(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks);
};

/* "rr", "part:N", "random:SEED" or "trace". `sms` is set by gt_mapping_open. Returns 0, or -1
 * with what is accepted. */
int gt_mapping_parse(struct gt_mapping *mapping, const char *text, struct gt_error *error);

/* Starts a kernel on this many SMs. Returns 0, or -1 when memory is short. */
int gt_mapping_open(struct gt_mapping *mapping, uint32_t sms, struct gt_error *error);
void gt_mapping_close(struct gt_mapping *mapping);

/* The SM of a block. Not for traced mappings. */
static inline uint32_t gt_mapping_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return mapping->kind->sm(mapping, block);
}

/* How many of the first `blocks` blocks run on the SM; `blocks` must not decrease from one call to the next. */
uint64_t gt_mapping_count(struct gt_mapping *mapping, uint32_t sm, uint64_t blocks);

/* ---- the schedule ---- */

struct gt_dispatch; /* when an SM takes its next block */
struct gt_issue;    /* which warps issue next */

/* What the order of issue by latency needs to know, in cycles and bytes; 0: not known. */
struct gt_issue_times {
	uint64_t l1, l2, dram; /* from issue to data, by where it is found */
	struct gt_spread spread; /* of L2 and what is behind it */
	uint64_t l1_bytes, l1_sector, l2_bytes, l2_fetch; /* no l1_bytes: no L1 */
	bool l1_stores; /* stores allocate in L1 */
	bool by_wait;	/* of a scheduler's warps the one that has been ready longest issues; else it is greedy */
	uint64_t access, scheduler_access; /* the least from one access that L1 takes to the next, of all and of one scheduler; 0: as 1 */
};

struct gt_schedule_config {
	uint32_t sms;
	uint32_t schedulers; /* of an SM */
	struct gt_mapping mapping;
	const struct gt_dispatch *dispatch;
	const struct gt_issue *issue;
	struct gt_gpcs gpcs;	       /* whose turns the first blocks of a large grid take; none: SM by SM */
	uint64_t seed;		       /* of any-done: decides which of the SMs that have room takes a block */
	struct gt_limits limits;
	const unsigned char *only_sms; /* which SMs to model, sms of them; NULL: all */
	uint64_t waves;		       /* the first so many waves of every SM; 0: all */
	struct gt_issue_times times;   /* of latency */
	struct gt_durations durations; /* for first-done: the durations of blocks, sorted */
	unsigned jobs;		       /* threads of an order of issue by time; 0: one */
	size_t memory;		       /* bytes for rows that wait; the rest goes to a file */
	const char *directory;	       /* of that file */
	bool spans;		       /* requests of an access at even distances, and else alike, are written as one row (stream/rows.h) */
};

/* Whether SMs take a block as soon as a slot is free, so that durations count. */
bool gt_dispatch_refills(const struct gt_dispatch *dispatch);

/* Whether a step is a cycle. */
bool gt_issue_is_timed(const struct gt_issue *issue);

/* The policy of that name. NULL, with what is accepted, if there is none. */
const struct gt_dispatch *gt_dispatch_find(const char *name, struct gt_error *error);
const struct gt_issue *gt_issue_find(const char *name, struct gt_error *error);

/* What the GPU says: limits (but `all`, which stays), SMs (0: it does not say), schedulers, and the dispatch where that is
 * NULL. Returns 0, or -1 with the figure that makes no sense. */
int gt_schedule_configure(struct gt_schedule_config *config, const struct gt_gpu *gpu, struct gt_error *error);

struct gt_schedule;

/* Starts a kernel. If kernel->order is not GT_ORDER_BLOCK its rows may come in any order: then all are kept until
 * the last has arrived. The sink takes the scheduled rows. Config, kernel and sink
 * must outlive the schedule. NULL on error: no block fits, memory is short. */
struct gt_schedule *gt_schedule_open(const struct gt_schedule_config *config,
				     const struct gt_kernel *kernel, struct gt_sink *sink,
				     struct gt_error *error);

/* Takes a batch. Turns of shared memory (gt_reader_keep_turns) take a step and are not written; a timed order of issue wants none.
 * A batch that is scheduled already is scheduled anew; only the mapping `trace` uses its SMs.
 * Returns 0, or -1: a row out of order, or a failure of the store or the sink. */
int gt_schedule_put(struct gt_schedule *schedule, const struct gt_rows *rows, struct gt_error *error);

/* If the count is of the stage "idle", notes how many instructions blocks have that make no access (gtrace(5)). Returns 0, or -1. */
int gt_schedule_take(struct gt_schedule *schedule, const struct gt_count *count, struct gt_error *error);

/* Ends the input: issues the remaining rows and appends to `count`, which has been begun:
 * resident_blocks, limited_by, waves, steps, sms, blocks, modelled_blocks, rows, and with an
 * adaptive L1 shared_carveout and l1_bytes (gschedule(1) defines them). */
int gt_schedule_finish(struct gt_schedule *schedule, struct gt_count *count, struct gt_error *error);

void gt_schedule_close(struct gt_schedule *schedule);

/* The occupancy found at the start: for kernel->l1_bytes. */
const struct gt_occupancy *gt_schedule_occupancy(const struct gt_schedule *schedule);

GT_PUBLIC_END

#endif
