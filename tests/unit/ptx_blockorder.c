/* SPDX-License-Identifier: MIT */
/* Interleaved warps put in order, against a sort of all rows. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/ptx/exec/blockorder.h"

#define ROWS 120000

struct row {
	uint32_t block, an, pc, mask;
	uint16_t warp;
	uint64_t addresses[GT_WARP_SIZE];
};

static struct row rows[ROWS], got[ROWS];
static size_t n_got;
static struct gt_error error;
static uint64_t state = 7;

static uint64_t random_number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> 33;
}

static int keep(void *context, struct gt_rows *batch, struct gt_error *unused)
{
	(void)context, (void)unused;
	for (size_t i = 0; i < batch->n; i++) {
		struct row *row = &got[n_got++];
		*row = (struct row){batch->block[i], batch->an[i], batch->pc[i], batch->mask[i], batch->warp[i], {0}};
		gt_rows_addresses(batch, i, row->addresses);
	}
	batch->n = batch->n_lanes = 0;
	return 0;
}

/* Blocks of up to 32 warps that advance at random, some affine, some not. */
static size_t make_rows(void)
{
	size_t n = 0;

	memset(rows, 0, sizeof rows);
	for (uint32_t block = 0; n + 9000 < 60000; block += 1 + (uint32_t)random_number() % 3) {
		uint32_t ans[32] = {0};
		unsigned warps = 1 + (unsigned)random_number() % 32;
		for (size_t left = random_number() % 9000; left > 0; left--) {
			struct row *row = &rows[n++];
			row->block = block;
			row->warp = (uint16_t)(random_number() % warps);
			row->an = ans[row->warp]++;
			row->pc = (uint32_t)n;
			row->mask = (uint32_t)random_number() | 1;
			for (int lane = 0; lane < __builtin_popcount(row->mask); lane++)
				row->addresses[lane] = n % 3 ? random_number() : 4096 + n;
		}
	}
	return n;
}

static int feed(struct gt_sink *sink, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		if (gt_sink_room(sink, &error) != 0)
			return -1;
		struct gt_rows *batch = sink->rows;
		size_t at = batch->n;
		batch->block[at] = rows[i].block;
		batch->warp[at] = rows[i].warp;
		batch->an[at] = rows[i].an;
		batch->pc[at] = rows[i].pc;
		batch->size[at] = 4;
		if (gt_rows_set_addresses(batch, at, rows[i].mask, rows[i].addresses, &error) != 0)
			return -1;
		batch->n++;
	}
	return 0;
}

static int by_block_an_warp(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->an != b->an)
		return a->an < b->an ? -1 : 1;
	return a->warp < b->warp ? -1 : a->warp > b->warp;
}

/* Feeds rows that follow each other and compares what comes out with their sort. */
static void check_round(struct gt_ptx_blockorder *order, struct gt_sink *sink, size_t n)
{
	n_got = 0;
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), 0, n), 0);
	CHECK_EQUAL(gt_ptx_blockorder_finish(order, &error), 0);
	CHECK_EQUAL(sink->flush(NULL, sink->rows, &error), 0);
	qsort(rows, n, sizeof *rows, by_block_an_warp);
	CHECK_EQUAL(n_got, n);
	CHECK_EQUAL(memcmp(rows, got, n * sizeof *rows), 0);
}

/* With the memory for all, and with none: everything goes through the file. */
static void test_order(void)
{
	for (unsigned memory = 0; memory < 2; memory++) {
		struct gt_sink sink = {gt_rows_new(1000, &error), keep, NULL};
		struct gt_ptx_blockorder *order = gt_ptx_blockorder_open(&sink, memory << 30, &error);
		for (int round = 0; round < 5; round++)
			check_round(order, &sink, make_rows());
		gt_ptx_blockorder_close(order);
		gt_rows_free(sink.rows);
	}
}

/* One block of four warps: warp 0 makes its first access when the others have made all of theirs. */
static void make_late_warp(uint32_t each)
{
	size_t n = 0;

	memset(rows, 0, sizeof rows);
	for (uint32_t an = 0; an < each; an++)
		for (uint16_t warp = 1; warp < 4; warp++, n++)
			rows[n] = (struct row){7, an, (uint32_t)n, 1, warp, {n}};
	for (uint32_t an = 0; an < each; an++, n++)
		rows[n] = (struct row){7, an, (uint32_t)n, 1, 0, {n}};
}

/* What passes before the block ends: nothing while a warp may still make its first access; with the
 * warps known that are there, all but the last batches. */
static void test_early(void)
{
	struct gt_sink sink = {gt_rows_new(1000, &error), keep, NULL};
	struct gt_ptx_blockorder *order = gt_ptx_blockorder_open(&sink, 0, &error);
	uint32_t each = ROWS / 4;

	make_late_warp(each);
	gt_ptx_blockorder_hold(order)->ended = ~UINT32_C(0xf);
	n_got = 0;
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), 0, 3 * each), 0);
	CHECK_EQUAL(n_got, 0);
	CHECK_EQUAL(gt_ptx_blockorder_finish(order, &error), 0);
	CHECK_EQUAL(sink.flush(NULL, sink.rows, &error), 0);
	make_late_warp(each);
	check_round(order, &sink, 4 * each);

	make_late_warp(each);
	gt_ptx_blockorder_hold(order)->ended = ~UINT32_C(0xe);
	n_got = 0;
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), 0, 3 * each), 0);
	CHECK(n_got > 60000);
	CHECK_EQUAL(gt_ptx_blockorder_finish(order, &error), 0);
	CHECK_EQUAL(sink.flush(NULL, sink.rows, &error), 0);
	CHECK_EQUAL(n_got, 3 * each);
	for (size_t i = 0; i < n_got; i++)
		CHECK_EQUAL(got[i].an, i / 3);
	gt_ptx_blockorder_close(order);
	gt_rows_free(sink.rows);
}

/* A warp that has ended, of whose accesses the last are in the batch that is being taken: those of the other warp wait for them. */
static void test_ended_in_batch(void)
{
	struct gt_sink sink = {gt_rows_new(1000, &error), keep, NULL};
	struct gt_ptx_blockorder *order = gt_ptx_blockorder_open(&sink, 1 << 30, &error);
	const size_t ahead = 70000, behind = ahead + 5000, n = behind + 10000;

	memset(rows, 0, sizeof rows);
	for (size_t i = 0; i < n; i++) {
		const bool second = i >= ahead && i < behind;
		rows[i] = (struct row){7, (uint32_t)(second ? i - ahead : i < ahead ? i : i - 5000), (uint32_t)i, 1, second, {i}};
	}
	n_got = 0;
	gt_ptx_blockorder_hold(order)->ended = ~UINT32_C(3);
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), 0, behind), 0);
	gt_ptx_blockorder_hold(order)->ended = ~UINT32_C(1);
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), behind, n), 0);
	CHECK_EQUAL(gt_ptx_blockorder_finish(order, &error), 0);
	CHECK_EQUAL(sink.flush(NULL, sink.rows, &error), 0);
	qsort(rows, n, sizeof *rows, by_block_an_warp);
	CHECK_EQUAL(n_got, n);
	CHECK_EQUAL(memcmp(rows, got, n * sizeof *rows), 0);
	gt_ptx_blockorder_close(order);
	gt_rows_free(sink.rows);
}

static void test_no_file(void)
{
	struct gt_sink sink = {gt_rows_new(1000, &error), keep, NULL};

	setenv("TMPDIR", "/nowhere", 1);
	struct gt_ptx_blockorder *order = gt_ptx_blockorder_open(&sink, 0, &error);
	rows[0] = (struct row){.block = 3, .mask = 1};
	CHECK_EQUAL(feed(gt_ptx_blockorder_sink(order), 0, 1), 0);
	CHECK_EQUAL(gt_ptx_blockorder_finish(order, &error), -1);
	CHECK_TEXT(error.text, "/nowhere: cannot make a temporary file: No such file or directory");
	gt_ptx_blockorder_close(order);
	gt_rows_free(sink.rows);
	unsetenv("TMPDIR");
}

int main(void)
{
	RUN(test_order);
	RUN(test_early);
	RUN(test_ended_in_batch);
	RUN(test_no_file);
	return check_report();
}
