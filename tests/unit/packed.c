/* SPDX-License-Identifier: MIT */
/* Rows that wait: spill queues of bytes against plain arrays, packed rows against the rows themselves, in memory and in a file. */
#include <stdlib.h>

#include "base/random.h"
#include "base/spill.h"
#include "check.h"
#include "schedule/packed.h"
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

int main(void)
{
	RUN(queues_in_memory);
	RUN(queues_in_file);
	RUN(queues_without_directory);
	RUN(packed_in_memory);
	RUN(packed_in_file);
	return check_report();
}
