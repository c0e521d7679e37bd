/* SPDX-License-Identifier: MIT */
/* The sorter against a slow one, and the calls of importers. */
#include <stdlib.h>

#include "check.h"
#include "order/order.h"
#include "order/sort.h"
#include "stream/op.h"

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

struct record {
	struct gt_packed row;
	uint64_t lanes[GT_WARP_SIZE];
	unsigned when;
};

static bool sort_by_an;

static int compare(const void *left, const void *right)
{
	const struct record *a = left, *b = right;
	const uint32_t keys_a[] = {a->row.kernel, sort_by_an ? a->row.an : a->row.block,
				   sort_by_an ? a->row.block : a->row.an, a->row.warp, a->when};
	const uint32_t keys_b[] = {b->row.kernel, sort_by_an ? b->row.an : b->row.block,
				   sort_by_an ? b->row.block : b->row.an, b->row.warp, b->when};

	for (int i = 0; i < 5; i++)
		if (keys_a[i] != keys_b[i])
			return keys_a[i] < keys_b[i] ? -1 : 1;
	return 0;
}

/* Rows with keys below the given bounds, so many of a warp behind each other, mostly in order, some of them with addresses. */
static void sort_some(size_t n, unsigned together, uint64_t memory, bool by_an, uint64_t kernels, uint64_t blocks, uint64_t ans)
{
	struct record *records = calloc(n, sizeof *records);
	const struct gt_packed *row;
	const uint64_t *lanes;
	struct gt_error error;
	struct gt_sorter *sorter = gt_sorter_open(memory, "/tmp", by_an, &error);

	CHECK(sorter != NULL);
	for (unsigned i = 0; i < n; i++) {
		struct gt_packed *to = &records[i].row;
		bool same = i % together > 0;
		to->kernel = same ? records[i - 1].row.kernel : (uint32_t)random_below(kernels);
		to->block = same ? records[i - 1].row.block : (uint32_t)random_below(blocks);
		to->an = same && random_below(100) ? records[i - 1].row.an + (uint32_t)random_below(3) : (uint32_t)random_below(ans);
		to->warp = same ? records[i - 1].row.warp : (uint8_t)random_below(32);
		to->base = records[i].when = i;
		to->lanes = random_below(4) ? 0 : (uint8_t)random_below(33);
		to->affine.stride = to->lanes ? GT_STRIDE_LANES : random_below(4) ? 4 : (int64_t)(random_below(16) << (random_below(8) * 8));
		to->affine.width = to->lanes || random_below(2) ? 0 : (uint8_t)(2U << random_below(4));
		to->affine.pitch = to->affine.width ? (int64_t)(random_below(UINT64_MAX)) : 0;
		to->mask = random_below(2) ? UINT32_MAX : 1 + (uint32_t)random_below(1000);
		to->pc = (uint32_t)random_below(1000);
		to->op = to->size = (uint8_t)random_below(33);
		to->work = random_below(9) ? 0 : (uint32_t)random_below(1000);
		to->shared = random_below(9) ? 0 : (uint32_t)random_below(1000);
		to->sm = random_below(9) ? 0 : (uint16_t)random_below(65536);
		to->hint = random_below(9) ? 0 : (uint16_t)random_below(65536);
		for (unsigned lane = 0; lane < to->lanes; lane++)
			records[i].lanes[lane] = random_below(UINT64_MAX);
		CHECK_EQUAL(gt_sorter_add(sorter, to, records[i].lanes, &error), 0);
	}
	CHECK_EQUAL(gt_sorter_finish(sorter, &error), 0);
	sort_by_an = by_an;
	qsort(records, n, sizeof *records, compare);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQUAL(gt_sorter_next(sorter, &row, &lanes, &error), 1);
		CHECK(memcmp(row, &records[i].row, sizeof *row) == 0);
		CHECK(memcmp(lanes, records[i].lanes, row->lanes * sizeof(uint64_t)) == 0);
	}
	CHECK_EQUAL(gt_sorter_next(sorter, &row, &lanes, &error), 0);
	gt_sorter_close(sorter);
	free(records);
}

static void sorts_like_the_slow_one(void)
{
	state = 88172645463325252;
	for (int by_an = 0; by_an < 2; by_an++) {
		for (uint64_t memory = GT_ORDER_MEMORY_MIN; memory <= 64 * GT_ORDER_MEMORY_MIN; memory *= 64) {
			sort_some(0, 1, memory, by_an, 1, 1, 1);
			sort_some(1, 1, memory, by_an, 1, 1, 1);
			sort_some(5000, 1, memory, by_an, 1, 1, 1);
			sort_some(5000, 1, memory, by_an, 3, 40, 10);
			sort_some(30000, 1, memory, by_an, 2, 1000, 1000);
			sort_some(30000, 50, memory, by_an, 2, 200, 40);
			sort_some(30000, 50, memory, by_an, 2, 5, 40);
			sort_some(30000, 50, memory, by_an, 1, 1, 1);
			sort_some(30000, 3, memory, by_an, 2, 200, 40);
			/* Keys of more than 64 bits together. */
			sort_some(5000, 1, memory, by_an, 1 << 26, UINT32_MAX, UINT32_MAX);
		}
	}
}

/* Rows that are already in order are read back unchanged, from many runs too. */
static void rows_in_order_stay(void)
{
	struct gt_packed row = {.mask = 1};
	const struct gt_packed *got;
	const uint64_t *lanes;
	struct gt_error error;

	for (uint64_t memory = GT_ORDER_MEMORY_MIN; memory <= 64 * GT_ORDER_MEMORY_MIN; memory *= 64) {
		struct gt_sorter *sorter = gt_sorter_open(memory, "/tmp", false, &error);
		for (row.block = 0; row.block < 20000; row.block++)
			CHECK_EQUAL(gt_sorter_add(sorter, &row, NULL, &error), 0);
		CHECK_EQUAL(gt_sorter_finish(sorter, &error), 0);
		for (uint32_t block = 0; block < 20000; block++)
			CHECK(gt_sorter_next(sorter, &got, &lanes, &error) == 1 && got->block == block);
		CHECK_EQUAL(gt_sorter_next(sorter, &got, &lanes, &error), 0);
		gt_sorter_close(sorter);
	}
}

/* Rows that are in order but for one, which comes when there would be no room left for sorting all. */
static void rows_in_order_but_one(void)
{
	struct gt_packed row = {.mask = 1};
	const struct gt_packed *got;
	const uint64_t *lanes;
	struct gt_error error;

	for (uint32_t at = 100; at < 20000; at += 1900) {
		struct gt_sorter *sorter = gt_sorter_open(8 * GT_ORDER_MEMORY_MIN, "/tmp", false, &error);
		for (uint32_t i = 0; i < 20000; i++) {
			row.block = i == at ? 5 : i;
			row.pc = i;
			CHECK_EQUAL(gt_sorter_add(sorter, &row, NULL, &error), 0);
		}
		CHECK_EQUAL(gt_sorter_finish(sorter, &error), 0);
		for (uint32_t i = 0; i < 20000; i++) {
			uint32_t expected = i <= 5 ? i : i == 6 ? at : i <= at ? i - 1 : i;
			CHECK(gt_sorter_next(sorter, &got, &lanes, &error) == 1 && got->pc == expected);
		}
		CHECK_EQUAL(gt_sorter_next(sorter, &got, &lanes, &error), 0);
		gt_sorter_close(sorter);
	}
}

/* The output of these tests: a batch that is large enough, and the last launch. */
static struct gt_rows *collected;
static struct gt_kernel last_kernel;
static uint64_t last_accesses, last_fetches;

static int keep_kernel(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	(void)context;
	(void)error;
	last_kernel = *kernel;
	return 0;
}

static int keep_count(void *context, const struct gt_count *count, struct gt_error *error)
{
	(void)context;
	(void)error;
	CHECK_TEXT(count->stage, "order");
	last_accesses = gt_count_value(count, "accesses", 0);
	last_fetches = gt_count_value(count, "instruction_fetches", 0);
	return 0;
}

static int never(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	(void)rows;
	return gt_fail(error, "the batch is full");
}

static struct gt_ordering *open_ordering(void)
{
	struct gt_order_options options = {.memory = 1 << 20, .directory = "/tmp"};
	struct gt_error error;
	struct gt_ordering *order = gt_order_open(&options, &error);

	CHECK(order != NULL);
	return order;
}

static void finish(struct gt_ordering *order)
{
	struct gt_error error;

	gt_rows_free(collected);
	collected = gt_rows_new(1000, &error);
	struct gt_output output = {.kernel = keep_kernel, .count = keep_count, .rows = {collected, never, NULL}};
	CHECK_EQUAL(gt_order_finish(order, &output, &error), 0);
	gt_order_close(order);
}

/* ---- ordinals ---- */

enum { KERNELS = 3, BLOCKS = 100, WARPS = 7, ROUNDS = 3 };

/* Rows come by kernel, block, ordinal and warp; of each there is one of the warp and one of two threads. */
static int check_ordinals(void *context, struct gt_rows *rows, struct gt_error *error)
{
	size_t *seen = context;

	(void)error;
	for (size_t i = 0; i < rows->n; i++) {
		size_t n = (*seen)++;
		CHECK_EQUAL(rows->mask[i], n % 2 ? 6 : 0x80000001);
		CHECK_EQUAL(rows->warp[i], n / 2 % WARPS * 5);
		CHECK_EQUAL(rows->an[i], n / 2 / WARPS % ROUNDS);
		CHECK_EQUAL(rows->block[i], n / 2 / WARPS / ROUNDS % BLOCKS);
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

/* One more access of each of some warps of a block, and of two threads of each. */
static void add_to_block(struct gt_trace *to, uint32_t block)
{
	struct gt_error error;

	for (uint16_t warp = 0; warp < WARPS * 5; warp = (uint16_t)(warp + 5)) {
		struct gt_trace_access access = {.block = block, .warp = warp, .numbering = GT_AN_OF_WARP, .size = 8, .mask = 6};
		CHECK_EQUAL(to->access(to->context, &access, &error), 0);
		access.numbering = GT_AN_OF_THREAD;
		access.size = 4;
		for (unsigned lane = 0; lane < 32; lane += 31) {
			access.mask = UINT32_C(1) << lane;
			CHECK_EQUAL(to->access(to->context, &access, &error), 0);
		}
	}
}

static void ordinals_count_apart(void)
{
	struct gt_ordering *order = open_ordering();
	struct gt_trace *to = gt_order_trace(order);
	struct gt_error error;
	size_t seen = 0;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned k = 0; k < KERNELS; k++) {
			struct gt_kernel kernel = {.id = k, .name = "k"};
			CHECK_EQUAL(to->kernel(to->context, &kernel, &error), 0);
			for (uint32_t block = 0; block < BLOCKS; block++)
				add_to_block(to, block);
		}
	struct gt_rows *rows = gt_rows_new(1000, &error);
	struct gt_output output = {.kernel = keep_kernel, .count = keep_count, .rows = {rows, check_ordinals, &seen}};
	CHECK_EQUAL(gt_order_finish(order, &output, &error), 0);
	CHECK_EQUAL(check_ordinals(&seen, rows, &error), 0);
	CHECK_EQUAL(seen, KERNELS * BLOCKS * WARPS * ROUNDS * 2);
	gt_rows_free(rows);
	gt_order_close(order);
}

/* ---- accesses ---- */

static void warp_accesses_are_numbered_and_kept(void)
{
	struct gt_ordering *order = open_ordering();
	struct gt_trace *to = gt_order_trace(order);
	const uint64_t addresses[] = {100, 7, 1000, 3};
	struct gt_kernel kernel = {.id = GT_KERNEL_NEXT, .name = "k"};
	struct gt_error error;

	CHECK_EQUAL(to->kernel(to->context, &kernel, &error), 0);
	for (uint16_t warp = 3; warp-- > 0;) {
		struct gt_trace_access access = {
			.block = 1, .warp = warp, .numbering = GT_AN_OF_WARP, .size = 8,
			.mask = 0x33, .addresses = addresses,
		};
		CHECK_EQUAL(to->access(to->context, &access, &error), 0);
		access.addresses = NULL;
		access.base = 5;
		access.stride = -3;
		CHECK_EQUAL(to->access(to->context, &access, &error), 0);
	}
	CHECK_EQUAL(to->passed_over(to->context, "instruction fetches", 4, &error), 0);
	CHECK_EQUAL(gt_order_accesses(order), 6);
	finish(order);
	CHECK_EQUAL(collected->n, 6);
	CHECK_EQUAL(collected->n_lanes, 12);
	for (size_t i = 0; i < 6; i++) {
		CHECK_EQUAL(collected->warp[i], i % 3);
		CHECK_EQUAL(collected->an[i], i / 3);
		CHECK_EQUAL(collected->stride[i], i < 3 ? GT_STRIDE_LANES : -3);
	}
	CHECK(memcmp(collected->lanes + collected->base[2], addresses, sizeof addresses) == 0);
	CHECK_EQUAL(last_kernel.id, 1);
	CHECK_EQUAL(last_kernel.grid[0], 2);
	CHECK_EQUAL(last_kernel.block[0], 96);
	CHECK_EQUAL(last_kernel.order, GT_ORDER_BLOCK);
	CHECK_EQUAL(last_accesses, 6);
	CHECK_EQUAL(last_fetches, 4);
}

/* Lanes that come one by one in any order, around accesses of other warps, make one warp access. */
static void lanes_fold_across_other_rows(void)
{
	struct gt_ordering *order = open_ordering();
	struct gt_trace *to = gt_order_trace(order);
	struct gt_kernel kernel = {.id = 5, .name = "k"};
	struct gt_error error;

	CHECK_EQUAL(to->kernel(to->context, &kernel, &error), 0);
	for (unsigned i = 0; i < 32; i++) {
		unsigned lane = i * 7 % 32;
		for (uint16_t warp = 0; warp < 2; warp++) {
			struct gt_trace_access access = {
				.warp = warp, .numbering = GT_AN_OF_THREAD, .size = 4,
				.mask = UINT32_C(1) << lane, .base = 4096 + 16 * lane, .pc = lane,
			};
			CHECK_EQUAL(to->access(to->context, &access, &error), 0);
		}
	}
	finish(order);
	CHECK_EQUAL(collected->n, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQUAL(collected->mask[i], UINT32_MAX);
		CHECK_EQUAL(collected->base[i], 4096);
		CHECK_EQUAL(collected->stride[i], 16);
		CHECK_EQUAL(collected->pc[i], 0);
	}
}

static void unsound_accesses_are_refused(void)
{
	static const struct {
		struct gt_trace_access access;
		const char *text;
	} cases[] = {
		{{.block = 6, .size = 4, .mask = 1}, "block 6: the grid of launch 1 has 6 blocks"},
		{{.warp = 2, .size = 4, .mask = 1},
		 "warp 2 (from thread 64 on): a block of launch 1 has 2 warps"},
		{{.warp = 1, .size = 4, .mask = 0x100},
		 "lanes 0x00000100 of warp 1: a block of launch 1 has 40 threads"},
		{{.size = 4}, "without an active lane"},
		{{.mask = 1}, "size 0: expected 1 to 32"},
		{{.mask = 1, .size = 33}, "size 33: expected 1 to 32"},
		{{.mask = 1, .size = 4, .op = 0x14}, "op 0x14: no such operation"},
		{{.mask = 3, .size = 4, .stride = GT_STRIDE_LANES}, "without addresses"},
	};
	struct gt_ordering *order = open_ordering();
	struct gt_trace *to = gt_order_trace(order);
	struct gt_kernel kernel = {.id = 1, .name = "k", .grid = {3, 2, 1}, .block = {8, 5, 1}};
	struct gt_error error;

	CHECK_EQUAL(to->access(to->context, &cases[0].access, &error), -1);
	CHECK(strstr(error.text, "before any launch") != NULL);
	CHECK_EQUAL(to->kernel(to->context, &kernel, &error), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK_EQUAL(to->access(to->context, &cases[i].access, &error), -1);
		if (!strstr(error.text, cases[i].text))
			printf("# %s\n", error.text);
		CHECK(strstr(error.text, cases[i].text) != NULL);
	}
	kernel.block[0] = 2000;
	CHECK_EQUAL(to->kernel(to->context, &kernel, &error), -1);
	finish(order);
	CHECK_EQUAL(collected->n, 0);
}

int main(void)
{
	RUN(sorts_like_the_slow_one);
	RUN(rows_in_order_stay);
	RUN(rows_in_order_but_one);
	RUN(ordinals_count_apart);
	RUN(warp_accesses_are_numbered_and_kept);
	RUN(lanes_fold_across_other_rows);
	RUN(unsound_accesses_are_refused);
	gt_rows_free(collected);
	return check_report();
}
