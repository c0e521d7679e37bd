/* SPDX-License-Identifier: MIT */
/* Rows that wait: spill queues of bytes against plain arrays, packed rows against the rows themselves, in memory and in a file; folded spans against the spans. */
#include <stdlib.h>

#include "base/random.h"
#include "base/spill.h"
#include "check.h"
#include "schedule/block.h"
#include "stream/rows.h"

static struct gt_error error;

/* ---- spill queues ---- */

enum { QUEUES = 40, AT_ONCE = 100 };

static unsigned char byte_of(size_t queue, size_t at)
{
	return (unsigned char)(at * (queue + 1) >> 3);
}

/* The queues differ in length: none, 15 times AT_ONCE ... */
static size_t length_of(size_t queue)
{
	return queue * 15 * AT_ONCE;
}

static void write_some(struct gt_spill *spill, struct gt_spill_queue *queue, size_t number, size_t at)
{
	unsigned char *to = at < length_of(number) ? gt_spill_queue_room(spill, queue, AT_ONCE, &error) : NULL;

	if (!to)
		return;
	for (size_t k = 0; k < AT_ONCE; k++)
		to[k] = byte_of(number, at + k);
	gt_spill_queue_wrote(queue, AT_ONCE);
}

/* Reads a piece behind `at`. Returns how many bytes. */
static size_t read_some(struct gt_spill *spill, struct gt_spill_queue *queue, size_t number, size_t at)
{
	const unsigned char *bytes = NULL;
	size_t n = 0, wrong = 0;

	CHECK(gt_spill_queue_read(spill, queue, &bytes, &n, &error) >= 0);
	for (size_t k = 0; k < n; k++)
		wrong += bytes[k] != byte_of(number, at + k);
	CHECK_EQUAL(wrong, 0);
	return n;
}

/* Writes queues in turns, reads them in turns, and all again, so that places of the file are used again. */
static void queues_of(size_t limit)
{
	struct gt_spill spill;
	struct gt_spill_queue all[QUEUES] = {0};

	gt_spill_open(&spill, limit, "/tmp");
	for (int turn = 0; turn < 3; turn++) {
		size_t read[QUEUES] = {0}, got = 1;
		for (size_t at = 0; at < length_of(QUEUES - 1); at += AT_ONCE)
			for (size_t i = 0; i < QUEUES; i++)
				write_some(&spill, &all[i], i, at);
		for (size_t i = 0; i < QUEUES; i++)
			CHECK_EQUAL(gt_spill_queue_end(&spill, &all[i], &error), 0);
		for (; got > 0;) {
			got = 0;
			for (size_t i = 0; i < QUEUES; i++) {
				size_t n = read_some(&spill, &all[i], i, read[i]);
				read[i] += n;
				got += n;
			}
		}
		for (size_t i = 0; i < QUEUES; i++)
			CHECK_EQUAL(read[i], length_of(i));
	}
	CHECK_EQUAL(spill.in_memory, 0);
	/* They are 1.17 MB a turn, and places have room for twice a piece at most. */
	CHECK(limit > 0 ? spill.in_file == 0 : spill.in_file > 1000000 && spill.in_file < 2400000);
	gt_spill_close(&spill);
}

static void queues_in_memory(void) { queues_of((size_t)1 << 30); }
static void queues_in_file(void) { queues_of(0); }

static void queues_without_directory(void)
{
	struct gt_spill spill;
	struct gt_spill_queue queue = {0};
	int result = 0;

	gt_spill_open(&spill, 0, "/nowhere");
	for (int i = 0; result == 0 && i < 1000; i++) {
		result = gt_spill_queue_room(&spill, &queue, 100, &error) ? 0 : -1;
		if (result == 0)
			gt_spill_queue_wrote(&queue, 100);
	}
	CHECK_EQUAL(result, -1);
	CHECK(strstr(error.text, "/nowhere: cannot make a temporary file") != NULL);
	gt_spill_queue_drop(&spill, &queue);
	gt_spill_close(&spill);
}

/* ---- packed rows ---- */

enum { ROWS = 20000 };

struct plain {
	struct kept row;
	struct shape shape; /* if the row has none with a number */
	uint64_t lanes[GT_WARP_SIZE];
};

/* Loops of accesses with constant differences, broken now and then; jumps, odd rows, extreme numbers. */
static void draw(struct plain *rows, unsigned seed)
{
	uint64_t random = gt_random_state(seed, 0);
	uint32_t an = 0;

	for (size_t i = 0; i < ROWS; i++) {
		uint64_t dice = gt_random(&random) % 100;
		struct plain *row = &rows[i];
		uint16_t shape = (uint16_t)(i % 23);
		an += dice < 2 ? (uint32_t)(gt_random(&random) % 100000) : i % 3 == 0;
		*row = (struct plain){.row = {.base = 4096 * (i / 23) + 128 * (uint64_t)shape, .an = an, .warp = 7, .shape = shape}};
		if (dice < 10)
			row->row.base = gt_random(&random);
		if (dice == 11)
			row->row.shape = 65534;
		if (dice == 12)
			row->row.an = an = i % 2 ? UINT32_MAX : (uint32_t)gt_random(&random);
		if (dice >= 96) {
			row->row.shape = SHAPE_NONE;
			row->shape = (struct shape){.stride = dice == 96 ? GT_STRIDE_LANES : 8, .pc = 5, .size = 4,
						    .mask = (uint32_t)gt_random(&random) | 1};
			row->lanes[0] = row->row.base;
			for (int lane = 1; lane < GT_WARP_SIZE; lane++)
				row->lanes[lane] = gt_random(&random) >> (i % 64);
		}
	}
}

static void check_row(const struct plain *expected, const struct kept *row)
{
	const struct odd *odd = odd_of(row);

	CHECK_EQUAL(row->an, expected->row.an);
	CHECK_EQUAL(row->warp, expected->row.warp);
	CHECK_EQUAL(row->shape, expected->row.shape);
	CHECK((odd ? odd->base : row->base) == expected->row.base);
	if (!odd)
		return;
	CHECK(shape_equal(&odd->shape, &expected->shape));
	for (int i = 0; odd_lanes(odd) && i < __builtin_popcount(odd->shape.mask); i++)
		CHECK(odd->lanes[i] == expected->lanes[i]);
}

static void pack_rows(struct gt_spill *spill, struct gt_spill_queue *queue, const struct plain *rows)
{
	struct packer packer;

	CHECK_EQUAL(gt_packer_begin(&packer, spill, queue, &error), 0);
	for (size_t i = 0; i < ROWS; i++) {
		const struct shape *odd = rows[i].row.shape == SHAPE_NONE ? &rows[i].shape : NULL;
		if (i % 1000 == 999) /* as after rows of another block */
			CHECK_EQUAL(gt_packer_begin(&packer, spill, queue, &error), 0);
		CHECK_EQUAL(gt_packer_add(&packer, spill, &rows[i].row, odd, odd && odd->stride == GT_STRIDE_LANES ? rows[i].lanes : NULL,
				    &error), 0);
	}
	CHECK_EQUAL(gt_spill_queue_end(spill, queue, &error), 0);
}

static void packed_rows(size_t limit)
{
	static struct plain rows[ROWS];

	for (unsigned seed = 1; seed <= 4; seed++) {
		struct gt_spill spill;
		struct gt_spill_queue queue = {0};
		struct unpacker unpacker;
		struct window window = {0};
		size_t seen = 0;

		draw(rows, seed);
		gt_spill_open(&spill, limit, "/tmp");
		pack_rows(&spill, &queue, rows);
		CHECK_EQUAL(gt_unpacker_begin(&unpacker, &spill, &queue, &error), 0);
		while (unpacker.more) {
			window.n = window.n_words = 0;
			CHECK_EQUAL(gt_unpacker_access(&unpacker, &spill, 7, &window, &error), 0);
			gt_window_settle(&window);
			for (size_t i = 0; i < window.n && seen < ROWS; i++)
				check_row(&rows[seen++], &window.rows[i]);
			/* all of one access, and no more */
			CHECK(window.n > 0 && window.rows[0].an == window.rows[window.n - 1].an);
			CHECK(!unpacker.more || unpacker.next_an != window.rows[0].an);
		}
		CHECK_EQUAL(seen, ROWS);
		gt_window_free(&window);
		gt_spill_queue_drop(&spill, &queue);
		gt_spill_close(&spill);
	}
}

static void packed_in_memory(void) { packed_rows((size_t)1 << 30); }
static void packed_in_file(void) { packed_rows(0); }

/* ---- folded rows ---- */

enum { FOLDED_WORDS = 30000, INSTRUCTIONS = 12 };

/* Four shapes an instruction, the last two instructions without a program counter. */
static struct shapes shapes_of_loops(void)
{
	static struct shape all[4 * INSTRUCTIONS];

	for (uint32_t i = 0; i < 4 * INSTRUCTIONS; i++)
		all[i] = (struct shape){.pc = i / 4 < INSTRUCTIONS - 2 ? 16 * (i / 4 + 1) : 0, .mask = 1U << i % 4};
	return (struct shapes){.all = all, .n = 4 * INSTRUCTIONS};
}

/* A span of an instruction in a loop; `k` times around. */
static struct kept *put_span(struct kept *span, uint32_t an, uint32_t instruction, uint64_t k, bool many)
{
	uint16_t shape = (uint16_t)(4 * instruction + k / 8 % 4); /* as where a line has four sectors */

	*span = (struct kept){((uint64_t)instruction << 32) + 4096 * instruction * k, an, 7, (uint16_t)(many ? shape | SPAN_MANY : shape)};
	if (many)
		*gt_span_more(span) = (struct span_more){128 * (int32_t)instruction, (uint16_t)(2 + instruction), 0};
	return gt_span_next(span);
}

/* Loops of one to INSTRUCTIONS spans, some of one access, broken now and then; of one warp, or of several, some too far apart for a loop.
 * Returns the words. */
static size_t draw_loops(uint64_t *words, unsigned seed)
{
	uint64_t random = gt_random_state(seed, 0), *end = words + FOLDED_WORDS - 100;
	struct kept *span = (struct kept *)(void *)words;
	uint32_t an = 0;

	while ((uint64_t *)(void *)span < end) {
		uint64_t n = 1 + gt_random(&random) % INSTRUCTIONS, times = 1 + gt_random(&random) % 100, joined = gt_random(&random), odds = gt_random(&random) % 60;
		for (uint64_t i = 0; i < n * times && (uint64_t *)(void *)span < end; i++) {
			struct kept *before = span;
			an += !(joined >> i % n & 1) || i % n == 0;
			span = put_span(span, an, (uint32_t)(i % n), i / n, joined >> (32 + i % n) & 1);
			before->warp = (uint16_t)(before->warp + seed % 4 * 10 * (i % n));
			uint64_t dice = odds < 30 ? gt_random(&random) % (3 + odds) : 3;
			if (dice == 0)
				before->base = gt_random(&random);
			if (dice == 1 && !gt_span_is_many(before))
				before->shape = SHAPE_NONE;
			if (dice == 2)
				an += (uint32_t)gt_random(&random) % 3;
		}
	}
	return (size_t)((uint64_t *)(void *)span - words);
}

/* Unfolds all, access by access, and compares. */
static void check_unfolded(uint64_t *folded, const uint64_t *words, size_t n)
{
	struct unfolding unfolding = gt_unfolding((struct fold_warp *)(void *)folded);
	uint64_t room[FOLD_ACCESS_WORDS];
	struct kept *spans = NULL;
	size_t at = 0, some;
	uint64_t an = UINT64_MAX;

	while ((some = gt_unfold(&unfolding, room, FOLD_ACCESS_WORDS, &spans)) > 0 && at + some <= n) {
		CHECK(memcmp(spans, words + at, some * sizeof *words) == 0);
		CHECK(spans->an != an); /* whole accesses */
		for (const struct kept *span = spans; (const uint64_t *)(const void *)span < (uint64_t *)(void *)spans + some; span = gt_span_next(span))
			an = span->an;
		at += some;
	}
	CHECK_EQUAL(some, 0);
	CHECK_EQUAL(at, n);
}

static void folded_rows(void)
{
	static uint64_t words[FOLDED_WORDS], folded[FOLDED_WORDS + FOLD_MORE];
	const struct shapes shapes = shapes_of_loops();

	for (unsigned seed = 1; seed <= 40; seed++) {
		size_t n = draw_loops(words, seed), used = gt_fold(&shapes, (struct kept *)(void *)words, (struct kept *)(void *)(words + n), folded);
		CHECK(used <= n + FOLD_WORDS(struct fold_warp) + FOLD_WORDS(struct fold_chunk));
		check_unfolded(folded, words, n);
	}
}

/* 24 times around three spans of three warps, of which one has another shape in each eighth time: the heads, a slot each, and two that come otherwise. */
static void folded_loop(void)
{
	static uint64_t words[FOLDED_WORDS], folded[FOLDED_WORDS + FOLD_MORE];
	const struct shapes shapes = shapes_of_loops();
	struct kept *span = (struct kept *)(void *)words;

	for (uint32_t i = 0; i < 3 * 24; i++) {
		struct kept *before = span;
		span = put_span(span, i, i % 3, i % 3 == 1 ? i / 3 : 0, i % 3 == 2);
		before->warp = (uint16_t)(7 + i % 3);
	}
	size_t n = (size_t)((uint64_t *)(void *)span - words);
	CHECK_EQUAL(n, 24 * (2 + 2 + 3));
	CHECK_EQUAL(gt_fold(&shapes, (struct kept *)(void *)words, span, folded),
		    FOLD_WORDS(struct fold_warp) + FOLD_WORDS(struct fold_chunk) + 3 * FOLD_WORDS(struct fold_slot) + SPAN_MORE_WORDS +
			    2 * FOLD_WORDS(struct fold_other));
	check_unfolded(folded, words, n);
}

int main(void)
{
	RUN(queues_in_memory);
	RUN(queues_in_file);
	RUN(queues_without_directory);
	RUN(packed_in_memory);
	RUN(packed_in_file);
	RUN(folded_rows);
	RUN(folded_loop);
	return check_report();
}
