/* SPDX-License-Identifier: MIT */
/* Rows of groups of blocks as records: the same bytes whether they are written as they are made or kept, in memory or in a file; no
 * record but the last of a kernel is of few rows unless a large group follows. */
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "stream/recorded.h"
#include "stream/stream.h"

#define GROUPS 40

static struct gt_error error;
static uint64_t state;

static uint64_t random_number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> 33;
}

/* Adds the rows of a group: few or many, some with addresses of lanes, with hints in some groups and from some row on. */
static size_t fill(struct gt_sink *sink, uint32_t group)
{
	const uint64_t size = random_number() % 4;
	const size_t rows = (size_t)(random_number() % (size == 0 ? 1 : size == 1 ? 700 : size == 2 ? 3000 : 60000));
	const size_t hinted = random_number() % 3 ? rows : random_number() % 2 ? rows / 2 : 0;

	for (size_t i = 0; i < rows; i++) {
		if (i == 0 || i == hinted)
			CHECK(gt_sink_begin_as(sink, &(struct gt_rows){.kind = GT_ACCESSES, .has_hints = i >= hinted}, &error) == 0);
		CHECK(gt_sink_room(sink, &error) == 0);
		struct gt_rows *batch = sink->rows;
		const size_t at = batch->n;
		uint64_t addresses[GT_WARP_SIZE];
		batch->block[at] = group;
		batch->warp[at] = (uint16_t)(i % 2);
		batch->an[at] = (uint32_t)i;
		batch->pc[at] = (uint32_t)(i % 9);
		batch->op[at] = 0;
		batch->hint[at] = 1;
		batch->size[at] = 4;
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			addresses[lane] = i % 7 ? 4096 * i + 4 * lane : random_number() % 1000000;
		CHECK(gt_rows_set_addresses(batch, at, UINT32_MAX, addresses, &error) == 0);
		batch->n++;
	}
	return rows;
}

/* Writes a stream of groups into a temporary file. Returns it, and its rows. */
static FILE *write_stream(bool kept, uint64_t memory, size_t *rows)
{
	FILE *file = tmpfile();
	char *argv[] = {NULL};
	struct gt_writer *writer = gt_writer_open(fileno(file), NULL, "test", "0", argv, &error);
	const struct gt_kernel kernel = {.id = 1, .name = "k", .grid = {GROUPS, 1, 1}, .block = {64, 1, 1}};
	struct gt_recorded_rows made;

	state = 5;
	*rows = 0;
	CHECK(writer && gt_write_kernel(writer, &kernel, &error) == 0);
	CHECK(gt_recorded_rows_open(&made, kept ? NULL : writer, memory, &error) == 0);
	for (uint32_t group = 0; group < GROUPS; group++) {
		*rows += fill(&made.sink, group);
		CHECK(gt_recorded_rows_end(&made, &error) == 0);
		CHECK(gt_recorded_rows_pass(&made, writer, &error) == 0);
	}
	CHECK(gt_writer_finish(writer, &error) == 0);
	gt_recorded_rows_close(&made);
	gt_writer_close(writer);
	return file;
}

static bool are_equal(FILE *a, FILE *b)
{
	int c;

	rewind(a);
	rewind(b);
	while ((c = getc(a)) == getc(b))
		if (c == EOF)
			return true;
	return false;
}

/* All rows are there, group by group, and records are not too many. */
static void check_stream(FILE *file, size_t rows)
{
	size_t records = 0, n = 0;
	uint32_t group = 0;
	enum gt_event event;

	rewind(file);
	lseek(fileno(file), 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(fileno(file), "stream", NULL, 0, &error);
	CHECK(reader);
	while ((event = gt_read(reader, &error)) != GT_END) {
		CHECK(event != GT_FAILED);
		if (event != GT_ROWS)
			continue;
		const struct gt_rows *read = gt_reader_rows(reader);
		for (size_t i = 0; i < read->n; i++) {
			CHECK(read->block[i] >= group);
			group = read->block[i];
		}
		records++;
		n += read->n;
	}
	CHECK(n == rows);
	CHECK(records < rows / GT_ROWS_BATCH + 3 * GROUPS);
	gt_reader_close(reader);
}

static void test_same_bytes(void)
{
	size_t rows, same_rows;
	FILE *straight = write_stream(false, 0, &rows);

	CHECK(rows > 10 * GT_ROWS_BATCH);
	for (uint64_t memory = 0; memory <= 16 << 20; memory = memory ? 16 * memory : 1 << 16) {
		FILE *kept = write_stream(true, memory, &same_rows);
		CHECK(same_rows == rows);
		CHECK(are_equal(straight, kept));
		fclose(kept);
	}
	check_stream(straight, rows);
	fclose(straight);
}

int main(void)
{
	RUN(test_same_bytes);
	return check_report();
}
