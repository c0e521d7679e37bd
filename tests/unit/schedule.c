/* SPDX-License-Identifier: MIT */
/* The parts of the schedule: occupancy limits, the closed forms of mappings, the store. gschedule.bats compares whole
 * schedules. */
#include <stdlib.h>

#include "base/random.h"
#include "base/spill.h"
#include "check.h"
#include "gpu/occupancy.h"
#include "schedule/schedule.h"
#include "stream/hint.h"
#include "stream/op.h"

static struct gt_error error;

/* ---- occupancy ---- */

static struct gt_block_needs needs_of(uint32_t threads, uint32_t registers, uint32_t shared)
{
	return (struct gt_block_needs){.warps = (threads + 31) / 32, .registers = registers, .shared_bytes = shared};
}

static void check_blocks(const struct gt_limits *limits, struct gt_block_needs needs, uint64_t blocks, const char *by)
{
	struct gt_occupancy occupancy;

	CHECK_EQUAL(gt_occupancy_find(&occupancy, limits, &needs, &error), 0);
	CHECK_EQUAL(occupancy.blocks, blocks);
	CHECK_TEXT(occupancy.limited_by ? occupancy.limited_by : "nothing", by);
}

/* [000] algorithm 3: CB = min(MAXCB, MAXCW / WpB). */
static void algorithm_3(void)
{
	static const struct {
		uint64_t most_blocks, most_warps;
		uint32_t warps;
		uint64_t blocks;
		const char *by;
	} rows[] = {
		{8, 48, 16, 3, "warps"}, {8, 48, 6, 8, "blocks"},   {8, 48, 5, 8, "blocks"},
		{32, 64, 8, 8, "warps"}, {32, 64, 2, 32, "blocks"}, {16, 64, 32, 2, "warps"},
		{16, 64, 31, 2, "warps"}, {0, 64, 7, 9, "warps"},   {5, 0, 32, 5, "blocks"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_limits limits = {.blocks = rows[i].most_blocks, .warps = rows[i].most_warps};
		check_blocks(&limits, needs_of(rows[i].warps * 32, 0, 0), rows[i].blocks, rows[i].by);
	}
	check_blocks(&(struct gt_limits){0}, needs_of(1024, 255, 1 << 20), UINT64_MAX, "nothing");
}

/* Registers are allocated to warps in units, and to several warps at a time: the calculator's rounding. */
static void register_units(void)
{
	struct gt_limits fermi = {.registers = 32768, .register_unit = 64, .warp_unit = 2, .registers_thread = 63};
	struct gt_limits volta = {.registers = 65536, .register_unit = 256, .warp_unit = 4, .registers_thread = 255};
	struct gt_block_needs greedy = needs_of(32, 64, 0);
	struct gt_occupancy occupancy;

	check_blocks(&fermi, needs_of(192, 24, 0), 7, "registers"); /* 768 a warp, 42 warps, 6 a block */
	check_blocks(&fermi, needs_of(32, 21, 0), 46, "registers"); /* 704 a warp, 46 warps */
	check_blocks(&volta, needs_of(256, 37, 0), 6, "registers"); /* 1280 a warp, 51 warps, so 48 */
	check_blocks(&volta, needs_of(1024, 64, 0), 1, "registers");
	check_blocks(&volta, needs_of(33, 255, 0), 4, "registers"); /* 8192 a warp, 8 warps, 2 a block */
	CHECK_EQUAL(gt_occupancy_find(&occupancy, &fermi, &greedy, &error), -1);
	CHECK(strstr(error.text, "registers") != NULL);
}

static void shared_units(void)
{
	struct gt_limits limits = {.shared = 98304, .shared_unit = 256, .shared_block = 98304};
	struct gt_limits reserved = {.shared = 167936, .shared_unit = 128, .shared_reserved = 1024, .shared_block = 166912};

	check_blocks(&limits, needs_of(32, 0, 12288), 8, "shared");
	check_blocks(&limits, needs_of(32, 0, 12289), 7, "shared");
	check_blocks(&limits, needs_of(32, 0, 98304), 1, "shared");
	check_blocks(&limits, needs_of(32, 0, 0), UINT64_MAX, "nothing");
	check_blocks(&reserved, needs_of(32, 0, 0), 164, "shared");
	check_blocks(&reserved, needs_of(32, 0, 166912), 1, "shared");
	check_blocks(&reserved, needs_of(32, 0, 40960), 4, "shared");
	check_blocks(&reserved, needs_of(32, 0, 40961), 3, "shared");
}

/* [004] eq. (7), on its Volta: 128K minus the smallest carve-out that does not limit the blocks. */
static void adaptive_l1(void)
{
	static const struct {
		uint32_t shared;
		uint64_t l1;
	} rows[] = {{0, 128}, {1024, 120}, {1025, 112}, {2048, 112}, {4096, 96}, {8192, 64}, {12288, 32}, {49152, 32}};
	struct gt_limits volta = {.blocks = 32, .warps = 64, .shared = 98304, .shared_unit = 256, .unified = 131072,
				  .carveouts = {0, 8192, 16384, 32768, 65536, 98304}, .n_carveouts = 6};
	struct gt_occupancy occupancy;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_block_needs needs = needs_of(256, 0, rows[i].shared);
		CHECK_EQUAL(gt_occupancy_find(&occupancy, &volta, &needs, &error), 0);
		CHECK_EQUAL(occupancy.l1_bytes, rows[i].l1 * 1024);
		CHECK_EQUAL(occupancy.l1_bytes + occupancy.carveout, 131072);
	}
}

/* The least carve-out holds unless a launch prefers another. */
static void least_carveout(void)
{
	static const struct {
		uint32_t percent, shared; /* percent: UINT32_MAX if the launch prefers none */
		uint64_t l1;
	} rows[] = {{UINT32_MAX, 0, 96}, {UINT32_MAX, 4096, 96}, {UINT32_MAX, 4097, 64}, {0, 0, 128}, {0, 1024, 120}};
	struct gt_limits limits = {.blocks = 32, .warps = 64, .shared = 98304, .shared_unit = 256, .shared_least = 32768,
				   .unified = 131072, .carveouts = {0, 8192, 16384, 32768, 65536, 98304}, .n_carveouts = 6};
	struct gt_occupancy occupancy;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_block_needs needs = needs_of(256, 0, rows[i].shared);
		needs.carveout = rows[i].percent + 1;
		CHECK_EQUAL(gt_occupancy_find(&occupancy, &limits, &needs, &error), 0);
		CHECK_EQUAL(occupancy.l1_bytes, rows[i].l1 * 1024);
	}
}

/* The blocks of 64 warps are given room, though 48 fit, up to half of the unified memory; and what is reserved, whatever a launch prefers. */
static void room_of_warps(void)
{
	static const struct {
		uint32_t threads, percent, shared; /* percent: UINT32_MAX if the launch prefers none */
		uint64_t carveout;
	} rows[] = {{256, UINT32_MAX, 0, 8}, {256, UINT32_MAX, 1024, 16}, {256, UINT32_MAX, 4096, 64}, {256, UINT32_MAX, 10240, 100},
		    {32, UINT32_MAX, 0, 16}, {1024, UINT32_MAX, 0, 8}, {256, UINT32_MAX, 9216, 64}, {32, 0, 0, 16}, {256, 0, 0, 8},
		    {256, 0, 20480, 32}, {256, 100, 0, 100}};
	struct gt_limits limits = {.blocks = 16, .warps = 48, .shared = 102400, .shared_unit = 128, .shared_reserved = 1024, .shared_warps = 64,
				   .unified = 131072, .carveouts = {0, 8192, 16384, 32768, 65536, 102400}, .n_carveouts = 6};
	struct gt_occupancy occupancy;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_block_needs needs = needs_of(rows[i].threads, 0, rows[i].shared);
		needs.carveout = rows[i].percent + 1;
		CHECK_EQUAL(gt_occupancy_find(&occupancy, &limits, &needs, &error), 0);
		CHECK_EQUAL(occupancy.carveout, rows[i].carveout * 1024);
	}
}

/* A launch that prefers a carve-out gets the smallest option of at least that percentage of 96K and of one block; blocks that
 * exceed it are not resident. */
static void preferred_l1(void)
{
	static const struct {
		uint32_t percent, shared;
		uint64_t carveout, blocks;
	} rows[] = {{0, 0, 0, 8}, {100, 0, 96, 8}, {50, 1024, 64, 8}, {66, 1024, 64, 8}, {67, 1024, 96, 8},
		    {0, 1024, 8, 8}, {0, 4096, 8, 2}, {0, 40960, 64, 1}, {100, 40960, 96, 2}};
	struct gt_limits volta = {.blocks = 32, .warps = 64, .shared = 98304, .shared_unit = 256, .unified = 131072,
				  .carveouts = {0, 8192, 16384, 32768, 65536, 98304}, .n_carveouts = 6};
	struct gt_occupancy occupancy;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_block_needs needs = needs_of(256, 0, rows[i].shared);
		needs.carveout = rows[i].percent + 1;
		CHECK_EQUAL(gt_occupancy_find(&occupancy, &volta, &needs, &error), 0);
		CHECK_EQUAL(occupancy.carveout, rows[i].carveout * 1024);
		CHECK_EQUAL(occupancy.blocks, rows[i].blocks);
		CHECK_EQUAL(occupancy.l1_bytes + occupancy.carveout, 131072);
	}
}

/* ---- mappings ---- */

static void mapping_counts(void)
{
	static const char *const names[] = {"rr", "part:1", "part:4", "part:8", "part:1000", "random:0", "random:99"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		for (uint32_t sms = 1; sms < 9; sms += 3) {
			struct gt_mapping mapping;
			uint64_t counted[8] = {0};
			CHECK_EQUAL(gt_mapping_parse(&mapping, names[i], &error), 0);
			CHECK_EQUAL(gt_mapping_open(&mapping, sms, &error), 0);
			for (uint64_t block = 0; block < 200; block++) {
				for (uint32_t sm = 0; sm < sms; sm++)
					CHECK_EQUAL(gt_mapping_count(&mapping, sm, block), counted[sm]);
				CHECK(gt_mapping_sm(&mapping, block) < sms);
				counted[gt_mapping_sm(&mapping, block) % 8]++;
			}
			gt_mapping_close(&mapping);
		}
	}
}

/* ---- store ---- */

static void store_pieces(size_t limit)
{
	enum { PIECES = 300 };
	struct gt_store store;
	struct gt_segment *segments[PIECES];
	unsigned char *pieces[PIECES];

	gt_store_open(&store, limit, "/tmp");
	for (int turn = 0; turn < 4; turn++) {
		for (int i = 0; i < PIECES; i++) {
			size_t bytes = (size_t)(i % 7) * 30001 + 1;
			pieces[i] = gt_store_take(&store, bytes, &segments[i], &error);
			CHECK(pieces[i] != NULL && (uintptr_t)pieces[i] % 16 == 0);
			memset(pieces[i], i & 255, bytes);
		}
		for (int i = 0; i < PIECES; i++) {
			size_t bytes = (size_t)(i % 7) * 30001 + 1;
			CHECK(pieces[i][0] == (i & 255) && pieces[i][bytes - 1] == (i & 255));
			gt_store_release(&store, segments[i]);
		}
	}
	CHECK(store.in_memory <= limit);
	/* 300 pieces of 90 kB are 27 MB a turn, and room is used again. */
	CHECK(store.in_memory + store.in_file < (size_t)64 << 20);
	gt_store_close(&store);
}

static void store_in_memory(void) { store_pieces((size_t)1 << 30); }
static void store_in_file(void) { store_pieces(0); }
static void store_in_both(void) { store_pieces((size_t)9 << 20); }

/* ---- a sink that fails, a schedule that is left ---- */

static int refuse(void *context, struct gt_rows *rows, struct gt_error *reason)
{
	(void)context;
	(void)rows;
	return gt_fail(reason, "full");
}

static void sink_failure(void)
{
	struct gt_kernel kernel = {.order = GT_ORDER_BLOCK};
	struct gt_rows *rows = gt_rows_new(64, &error);
	struct gt_sink sink = {.rows = gt_rows_new(8, &error), .flush = refuse};
	struct gt_schedule_config config = {.sms = 1, .schedulers = 1, .limits = {.blocks = 1}, .memory = 1 << 20,
					    .directory = "/tmp"};

	config.dispatch = gt_dispatch_find("wave", &error);
	config.issue = gt_issue_find("gto", &error);
	CHECK_EQUAL(gt_mapping_parse(&config.mapping, "rr", &error), 0);
	struct gt_schedule *schedule = gt_schedule_open(&config, &kernel, &sink, &error);
	CHECK(schedule != NULL);
	for (rows->n = 0; rows->n < 64; rows->n++) {
		rows->block[rows->n] = (uint32_t)rows->n;
		rows->size[rows->n] = 4;
		rows->mask[rows->n] = 1;
	}
	CHECK_EQUAL(gt_schedule_put(schedule, rows, &error), -1);
	CHECK_TEXT(error.text, "full");
	gt_schedule_close(schedule);
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

/* ---- more shapes than a row can name ---- */

static uint64_t seen;

/* Row i has the pc i, the base 3 i and, every third, lanes of its own. */
static int expect_in_order(void *context, struct gt_rows *rows, struct gt_error *reason)
{
	(void)context;
	(void)reason;
	for (size_t i = 0; i < rows->n; i++, seen++) {
		uint64_t addresses[GT_WARP_SIZE];
		unsigned n = gt_rows_addresses(rows, i, addresses);
		CHECK(rows->pc[i] == seen && rows->an[i] == seen && rows->step[i] == seen);
		CHECK(n == 3 && addresses[0] == 3 * seen && addresses[2] == 3 * seen + (seen % 3 == 0 ? 99 : 2 * seen));
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

static void many_shapes(void)
{
	enum { ROWS = 100000 };
	struct gt_kernel kernel = {.order = GT_ORDER_BLOCK};
	struct gt_rows *rows = gt_rows_new(1000, &error);
	struct gt_sink sink = {.rows = gt_rows_new(512, &error), .flush = expect_in_order};
	struct gt_schedule_config config = {.sms = 2, .schedulers = 1, .memory = 0, .directory = "/tmp"};
	struct gt_count count;

	config.dispatch = gt_dispatch_find("wave", &error);
	config.issue = gt_issue_find("rr", &error);
	CHECK_EQUAL(gt_mapping_parse(&config.mapping, "rr", &error), 0);
	struct gt_schedule *schedule = gt_schedule_open(&config, &kernel, &sink, &error);
	seen = 0;
	for (uint32_t row = 0; row < ROWS; row++) {
		size_t i = rows->n++;
		uint64_t base = 3 * (uint64_t)row, odd[3] = {base, base + 7, base + 99};
		rows->pc[i] = rows->an[i] = row;
		rows->size[i] = 4;
		rows->mask[i] = 7;
		rows->base[i] = base;
		gt_rows_set_affine(rows, i, (struct gt_affine){.stride = row});
		if (row % 3 == 0)
			CHECK_EQUAL(gt_rows_set_addresses(rows, i, 7, odd, &error), 0);
		if (rows->n == rows->capacity) {
			CHECK_EQUAL(gt_schedule_put(schedule, rows, &error), 0);
			rows->n = rows->n_lanes = 0;
		}
	}
	gt_count_begin(&count, "schedule", 0);
	CHECK_EQUAL(gt_schedule_finish(schedule, &count, &error), 0);
	CHECK_EQUAL(expect_in_order(NULL, sink.rows, &error), 0);
	CHECK_EQUAL(seen, ROWS);
	CHECK_EQUAL(gt_count_value(&count, "rows", 0), ROWS);
	gt_count_clear(&count);
	gt_schedule_close(schedule);
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

/* ---- rows that are several requests ---- */

static uint64_t random_state = 5;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

/* Requests by block, warps after each other or in turns; some rows are several of them, at distances that a span can have or not. */
static struct gt_rows *make_requests(size_t n, bool many_pcs)
{
	struct gt_rows *rows = gt_rows_new(n, &error);

	rows->kind = GT_REQUESTS;
	rows->has_spans = rows->has_work = true;
	rows->n = n;
	for (size_t i = 0; i < n; i++) {
		const bool store = draw(4) == 0, several = draw(3) == 0;
		const size_t access = i / 2 % (n / 4 + 1);
		rows->block[i] = (uint32_t)(i * 4 / n);
		rows->warp[i] = (uint16_t)(n % 2 ? access % 3 : access / 16 % 3);
		rows->an[i] = (uint32_t)(access / 3);
		rows->pc[i] = many_pcs ? (uint32_t)i : 8 * (uint32_t)(access % 5);
		rows->op[i] = gt_op(store ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
		rows->sectors[i] = (uint8_t)(draw(5) ? 1 : 15);
		rows->full[i] = store ? rows->sectors[i] : 0;
		rows->threads[i] = 1;
		rows->work[i] = gt_work(draw(3), 0, draw(2));
		rows->address[i] = (uint64_t)GT_LINE * (0x100000 + draw(3000));
		rows->width[i] = several ? (uint8_t)(2 + draw(63)) : 0;
		rows->pitch[i] = several ? GT_LINE * (draw(12) ? (int64_t)draw(60) - 20 : INT64_C(1) << 40) : 0;
	}
	return rows;
}

static int keep_all(void *context, struct gt_rows *rows, struct gt_error *reason)
{
	struct gt_rows *all = context, *singly = NULL;

	CHECK_EQUAL(gt_rows_expand(&singly, rows, 0, rows->n, reason), 0);
	gt_rows_shape(all, singly);
	while (all->n + singly->n > all->capacity)
		CHECK_EQUAL(gt_rows_grow(all, 2 * all->capacity, reason), 0);
	gt_rows_append(all, singly, 0, singly->n);
	gt_rows_free(singly);
	rows->n = 0;
	return 0;
}

/* What a schedule writes, request by request. */
static struct gt_rows *schedule_rows(struct gt_schedule_config *config, const struct gt_rows *rows, enum gt_order order)
{
	struct gt_kernel kernel = {.order = order, .grid = {4, 1, 1}, .block = {96, 1, 1}};
	struct gt_rows *all = gt_rows_new(1000, &error);
	struct gt_sink sink = {gt_rows_new(512, &error), keep_all, all};
	struct gt_schedule *schedule = gt_schedule_open(config, &kernel, &sink, &error);
	struct gt_count count;

	CHECK(schedule != NULL);
	CHECK_EQUAL(gt_schedule_put(schedule, rows, &error), 0);
	gt_count_begin(&count, "schedule", 0);
	CHECK_EQUAL(gt_schedule_finish(schedule, &count, &error), 0);
	CHECK_EQUAL(keep_all(all, sink.rows, &error), 0);
	CHECK_EQUAL(gt_count_value(&count, "rows", 0), all->n);
	gt_count_clear(&count);
	gt_schedule_close(schedule);
	gt_rows_free(sink.rows);
	return all;
}

#define SAME(COLUMN) CHECK(memcmp(a->COLUMN, b->COLUMN, a->n * sizeof *a->COLUMN) == 0)

static void compare_schedules(struct gt_schedule_config *config, const struct gt_rows *rows, const struct gt_rows *singly, enum gt_order order)
{
	config->spans = false;
	struct gt_rows *b = schedule_rows(config, singly, order);
	for (unsigned way = 0; way < 2; way++) {
		config->spans = way == 0;
		struct gt_rows *a = schedule_rows(config, rows, order);
		CHECK_EQUAL(a->n, b->n);
		SAME(block);
		SAME(warp);
		SAME(an);
		SAME(pc);
		SAME(op);
		SAME(address);
		SAME(sectors);
		SAME(full);
		SAME(threads);
		SAME(step);
		SAME(sm);
		gt_rows_free(a);
	}
	gt_rows_free(b);
}

/* The schedule of rows that are several requests is that of the requests, whether they wait loose, folded or packed. */
static void spans_are_scheduled_as_their_requests(void)
{
	static const char *const issues[] = {"rr", "gto", "latency"};

	for (unsigned round = 0; round < 60 && check_failures == 0; round++) {
		struct gt_schedule_config config = {
			.sms = 2, .schedulers = 1 + draw(4), .memory = round % 4 == 0 ? 0 : round % 4 == 1 ? 20000 : 1 << 24, .directory = "/tmp",
			.times = {.l1 = 28, .l2 = 190, .dram = 300, .l1_bytes = 32768, .l1_sector = 32, .l2_bytes = 1 << 20, .l2_fetch = 32, .access = 1}};
		struct gt_rows *rows = make_requests(40 + draw(2000), round % 7 == 6), *singly = NULL;
		CHECK_EQUAL(gt_rows_expand(&singly, rows, 0, rows->n, &error), 0);
		config.dispatch = gt_dispatch_find("wave", &error);
		config.issue = gt_issue_find(issues[round % 3], &error);
		CHECK_EQUAL(gt_mapping_parse(&config.mapping, "rr", &error), 0);
		compare_schedules(&config, rows, singly, round % 5 ? GT_ORDER_BLOCK : GT_ORDER_NONE);
		gt_rows_free(rows);
		gt_rows_free(singly);
	}
}

/* More shapes than have numbers: then rows that are several wait request by request. */
static void spans_of_many_shapes(void)
{
	struct gt_schedule_config config = {.sms = 1, .schedulers = 1, .memory = 1 << 24, .directory = "/tmp"};
	struct gt_rows *rows = make_requests(34000, true), *singly = NULL;

	CHECK_EQUAL(gt_rows_expand(&singly, rows, 0, rows->n, &error), 0);
	config.dispatch = gt_dispatch_find("wave", &error);
	config.issue = gt_issue_find("rr", &error);
	CHECK_EQUAL(gt_mapping_parse(&config.mapping, "rr", &error), 0);
	compare_schedules(&config, rows, singly, GT_ORDER_BLOCK);
	gt_rows_free(rows);
	gt_rows_free(singly);
}

int main(void)
{
	RUN(algorithm_3);
	RUN(register_units);
	RUN(shared_units);
	RUN(adaptive_l1);
	RUN(least_carveout);
	RUN(room_of_warps);
	RUN(preferred_l1);
	RUN(mapping_counts);
	RUN(store_in_memory);
	RUN(store_in_file);
	RUN(store_in_both);
	RUN(sink_failure);
	RUN(many_shapes);
	RUN(spans_are_scheduled_as_their_requests);
	RUN(spans_of_many_shapes);
	return check_report();
}
