/* SPDX-License-Identifier: MIT */
/* The coalescer on a stream: counts by the array of shared memory, the stage that turns accesses into requests, in one thread or in
 * several, and the intake of stages that take requests. */
#include "coalesce/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "coalesce/by_site.h"
#include "stream/counted.h"
#include "stream/rows.h"

/* ---- by the array of shared memory ---- */

static int open_arrays(struct gt_by_array *by, struct gt_error *error)
{
	*by = (struct gt_by_array){.n = 0};
	return gt_arrays_open(&by->arrays, GT_SHARED_ARRAYS_STAGE, error);
}

static void close_arrays(struct gt_by_array *by)
{
	gt_arrays_close(&by->arrays);
	free(by->counts);
	by->counts = NULL;
}

/* A kernel begins, whose arrays have no names yet. */
static void clear_arrays(struct gt_by_array *by)
{
	by->arrays.n = 0;
	if (by->n > 0)
		memset(by->counts, 0, by->n * sizeof *by->counts);
}

/* If the count names the arrays of shared memory, the accesses from now on are theirs. Returns 0, or -1: it is malformed, or memory
 * is short. */
static int take_arrays(struct gt_by_array *by, const struct gt_count *count, struct gt_error *error)
{
	if (gt_arrays_take(&by->arrays, count, error) != 0)
		return -1;
	const size_t names = by->arrays.names.n;
	if (names <= by->n)
		return 0;
	uint64_t(*counts)[2] = gt_resized(by->counts, names, sizeof *counts);
	if (!counts)
		return gt_fail_memory(error, "counts by array");
	memset(counts + by->n, 0, (names - by->n) * sizeof *counts);
	by->counts = counts;
	by->n = names;
	return 0;
}

/* Makes `apart` count for the arrays of `by`, in another thread, from 0: until it is joined, only gt_by_array_add may take it. Zero at
 * first. Returns 0, or -1 when memory is short. */
static int begin_apart(struct gt_by_array *apart, const struct gt_by_array *by, struct gt_error *error)
{
	if (by->n > apart->n) {
		uint64_t(*counts)[2] = gt_resized(apart->counts, by->n, sizeof *counts);
		if (!counts)
			return gt_fail_memory(error, "counts by array");
		apart->counts = counts;
	}
	apart->arrays = by->arrays;
	apart->n = by->n;
	if (by->n > 0)
		memset(apart->counts, 0, by->n * sizeof *apart->counts);
	return 0;
}

/* Adds what was counted apart. */
static void join_arrays(struct gt_by_array *by, const struct gt_by_array *apart)
{
	for (size_t i = 0; i < apart->n; i++) {
		by->counts[i][0] += apart->counts[i][0];
		by->counts[i][1] += apart->counts[i][1];
	}
}

/* Appends for each array with accesses, in the order of the names, NAME.shared_accesses and NAME.bank_passes; "-" is what is outside
 * of all arrays. Nothing if no arrays have names. Returns 0, or -1 when memory is short. */
static int count_arrays(const struct gt_by_array *by, struct gt_count *count, struct gt_error *error)
{
	static const char *const counters[2] = {"shared_accesses", "bank_passes"};
	char name[GT_COUNT_NAME];

	for (size_t i = 0; i < by->n; i++)
		for (size_t k = 0; k < 2 && by->counts[i][0] > 0; k++) {
			snprintf(name, sizeof name, "%.*s.%s", GT_ARRAY_NAME - 1, by->arrays.names.names[i], counters[k]);
			if (gt_count_number(count, name, by->counts[i][k], error) != 0)
				return -1;
		}
	return 0;
}

/* ---- the stage ---- */

int gt_coalesce_stage_open(struct gt_coalesce_stage *stage, bool by_site, struct gt_error *error)
{
	if (by_site && !(stage->by_site = gt_by_site_open(error)))
		return -1;
	return open_arrays(&stage->by_array, error);
}

void gt_coalesce_stage_close(struct gt_coalesce_stage *stage)
{
	close_arrays(&stage->by_array);
	gt_by_site_close(stage->by_site);
}

int gt_coalesce_stage_begin(struct gt_coalesce_stage *stage, const struct gt_gpu *gpu, const char *rule, const char *banks,
			    struct gt_error *error)
{
	if (gt_coalescer_resolve(&stage->coalescer, gpu, rule, banks, error) != 0)
		return -1;
	clear_arrays(&stage->by_array);
	stage->coalescer.by_array = &stage->by_array;
	stage->coalescer.by_site = stage->by_site;
	if (stage->by_site)
		gt_by_site_begin(stage->by_site);
	stage->coalescer.turns = stage->turns;
	stage->coalescer.spans = true;
	stage->relayed = stage->coalescer;
	stage->coalesced = stage->accessed = false;
	return 0;
}

int gt_coalesce_stage_rows(struct gt_coalesce_stage *stage, const struct gt_rows *rows, struct gt_sink *sink, struct gt_error *error)
{
	if (rows->kind == GT_REQUESTS) {
		stage->coalesced = true;
		return 0;
	}
	stage->accessed = true;
	return gt_coalesce(&stage->coalescer, rows, sink, error);
}

int gt_coalesce_stage_note(struct gt_coalesce_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	stage->coalesced |= strcmp(count->stage, GT_COALESCE_STAGE) == 0;
	if (stage->by_site && gt_by_site_note(stage->by_site, count, error) != 0)
		return -1;
	return take_arrays(&stage->by_array, count, error);
}

/* Writes what the coalescer has counted, and by the array. */
static int write_counts(const struct gt_coalesce_stage *stage, uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	struct gt_count count;

	gt_count_begin(&count, GT_COALESCE_STAGE, kernel);
	if (gt_coalescer_count(&stage->coalescer, &count, error) == 0 && count_arrays(&stage->by_array, &count, error) == 0 &&
	    (!stage->by_site || gt_by_site_count(stage->by_site, &count, error) == 0))
		return gt_output_count(output, &count, error);
	gt_count_clear(&count);
	return -1;
}

int gt_coalesce_stage_end(struct gt_coalesce_stage *stage, uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	gt_coalescer_add(&stage->coalescer, &stage->relayed);
	if (stage->coalesced && stage->by_site)
		return gt_fail(error, "--by site: expected accesses, but kernel %" PRIu64 " is coalesced already", kernel);
	if (stage->coalesced && !stage->accessed)
		return 0;
	return write_counts(stage, kernel, output, error);
}

/* What a batch has for itself, so that any thread can coalesce it. */
struct apart {
	struct gt_coalescer coalescer;
	struct gt_by_array by_array;
};

static int coalesce_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	const struct gt_coalesce_stage *stage = context;
	struct apart *apart = item->own;

	apart->coalescer = stage->coalescer;
	apart->coalescer.by_array = &apart->by_array;
	gt_coalescer_reset(&apart->coalescer);
	if (begin_apart(&apart->by_array, &stage->by_array, error) != 0)
		return -1;
	return gt_coalesce(&apart->coalescer, item->rows, &item->sink, error);
}

static void close_batch(void *apart)
{
	free(((struct apart *)apart)->by_array.counts);
}

static int count_batch(void *context, struct gt_relay_item *item, struct gt_error *error)
{
	struct gt_coalesce_stage *stage = context;
	const struct apart *apart = item->own;

	(void)error;
	stage->accessed = true;
	gt_coalescer_add(&stage->relayed, &apart->coalescer);
	join_arrays(&stage->by_array, &apart->by_array);
	return 0;
}

struct gt_relay_stage gt_coalesce_stage_relay(struct gt_coalesce_stage *stage)
{
	return (struct gt_relay_stage){.own_bytes = sizeof(struct apart), .close_own = close_batch, .take = coalesce_batch,
				       .count = count_batch, .context = stage};
}

/* ---- the intake of a stage that takes requests ---- */

static int pass_on_coalesced(void *context, struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_intake *intake = context;
	int result = intake->receive(intake->context, rows, error);

	rows->n = rows->n_lanes = 0;
	return result;
}

int gt_intake_open(struct gt_intake *intake, gt_receive_requests *receive, void *context, struct gt_error *error)
{
	*intake = (struct gt_intake){.receive = receive, .context = context};
	intake->coalesced = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, error), pass_on_coalesced, intake};
	return intake->coalesced.rows ? 0 : -1;
}

void gt_intake_close(struct gt_intake *intake)
{
	gt_rows_free(intake->coalesced.rows);
	intake->coalesced.rows = NULL;
}

int gt_intake_begin(struct gt_intake *intake, const struct gt_gpu *gpu, struct gt_error *error)
{
	intake->accessed = false;
	if (gt_coalescer_resolve(&intake->coalescer, gpu, NULL, NULL, error) != 0)
		return -1;
	intake->apart = intake->coalescer;
	return 0;
}

int gt_intake_rows(struct gt_intake *intake, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind == GT_REQUESTS)
		return intake->receive(intake->context, rows, error);
	intake->accessed = true;
	if (gt_coalesce(&intake->coalescer, rows, &intake->coalesced, error) != 0)
		return -1;
	return pass_on_coalesced(intake, intake->coalesced.rows, error);
}

int gt_intake_batch_find(struct gt_intake_batch *batch, const struct gt_intake *intake, const struct gt_rows *rows,
			 struct gt_error *error)
{
	batch->coalescer = intake->coalescer;
	gt_coalescer_reset(&batch->coalescer);
	batch->requests = rows;
	if (rows->kind == GT_REQUESTS)
		return 0;
	if (!batch->coalesced && !(batch->coalesced = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	batch->coalesced->n = 0;
	batch->requests = batch->coalesced;
	struct gt_sink sink = gt_sink_that_grows(batch->coalesced);
	return gt_coalesce(&batch->coalescer, rows, &sink, error);
}

void gt_intake_batch_count(struct gt_intake *intake, const struct gt_intake_batch *batch)
{
	intake->accessed |= batch->requests == batch->coalesced;
	gt_coalescer_add(&intake->apart, &batch->coalescer);
}

void gt_intake_batch_close(struct gt_intake_batch *batch)
{
	gt_rows_free(batch->coalesced);
}

int gt_intake_end(struct gt_intake *intake, uint64_t kernel, const struct gt_output *output, struct gt_error *error)
{
	gt_coalescer_add(&intake->coalescer, &intake->apart);
	return intake->accessed ? gt_coalescer_write(&intake->coalescer, kernel, output, error) : 0;
}
