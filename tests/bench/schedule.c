/* SPDX-License-Identifier: MIT */
/* The schedule alone, without a stream: nanoseconds of CPU time a row on the accesses of a matrix product,
 * 80 SMs, 8 blocks of 8 warps resident on each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedule/schedule.h"

#define BLOCKS 2048
#define WARPS 8
#define ACCESSES 1025 /* of a warp */

static uint64_t taken, checksum;

static int take(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	(void)error;
	taken += rows->n;
	for (size_t i = 0; i < rows->n; i++)
		checksum = checksum * 31 + rows->step[i] + rows->base[i];
	rows->n = rows->n_lanes = 0;
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static _Noreturn void fail(const struct gt_error *error)
{
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

/* One block's rows, by access number and warp. */
static void fill(struct gt_rows *rows, uint32_t block)
{
	rows->kind = GT_ACCESSES;
	rows->n = 0;
	for (uint32_t an = 0; an < ACCESSES; an++) {
		for (uint16_t warp = 0; warp < WARPS; warp++) {
			size_t i = rows->n++;
			rows->block[i] = block;
			rows->warp[i] = warp;
			rows->an[i] = an;
			rows->size[i] = 4;
			rows->mask[i] = UINT32_MAX;
			rows->base[i] = (uint64_t)block << 20 | an << 8 | warp;
			rows->stride[i] = 4;
		}
	}
}

static void measure(const char *dispatch, const char *issue, uint32_t schedulers)
{
	struct gt_error error;
	struct gt_kernel kernel = {.grid = {BLOCKS, 1, 1}, .block = {WARPS * 32, 1, 1}, .order = GT_ORDER_BLOCK};
	struct gt_schedule_config config = {.sms = 80, .schedulers = schedulers, .limits = {.blocks = 8},
					    .memory = (size_t)2 << 30, .directory = "/tmp"};
	struct gt_sink sink = {.rows = gt_rows_new(GT_ROWS_BATCH, &error), .flush = take};
	struct gt_rows *rows = gt_rows_new(WARPS * ACCESSES, &error);
	struct gt_count count;
	double seconds = 0;

	gt_count_begin(&count, "schedule", 0);
	config.dispatch = gt_dispatch_find(dispatch, &error);
	config.issue = gt_issue_find(issue, &error);
	if (!rows || !sink.rows || gt_mapping_parse(&config.mapping, "rr", &error) != 0)
		fail(&error);
	taken = 0;
	struct gt_schedule *schedule = gt_schedule_open(&config, &kernel, &sink, &error);
	if (!schedule)
		fail(&error);
	for (uint32_t block = 0; block < BLOCKS; block++) {
		fill(rows, block);
		double start = now();
		if (gt_schedule_put(schedule, rows, &error) != 0)
			fail(&error);
		seconds += now() - start;
	}
	double start = now();
	if (gt_schedule_finish(schedule, &count, &error) != 0 || take(NULL, sink.rows, &error) != 0)
		fail(&error);
	seconds += now() - start;
	printf("schedule %-10s %-3s %u schedulers: %5.1f ns a row, %.1f M rows\n", dispatch, issue, schedulers,
	       1e9 * seconds / (double)taken, 1e-6 * (double)taken);
	gt_schedule_close(schedule);
	gt_count_clear(&count);
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

int main(void)
{
	measure("wave", "rr", 1);
	measure("wave", "rr", 4);
	measure("first-done", "rr", 4);
	measure("wave", "gto", 4);
	return checksum == 1;
}
