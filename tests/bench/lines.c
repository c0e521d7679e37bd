/* SPDX-License-Identifier: MIT */
/* A stream of requests for measuring stages: ROWS loads of LINES lines, drawn at random or in a loop.
 *   lines ROWS LINES random|loop             a stream
 *   lines ROWS LINES random|loop oracle      the same lines as libCacheSim's oracleGeneral, without its next accesses */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/stream.h"

static _Noreturn void fail(const struct gt_error *error)
{
	fprintf(stderr, "lines: %s\n", error->text);
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static void write_rows(struct gt_sink *sink, uint64_t n, uint64_t lines, bool in_loop)
{
	struct gt_rows *rows = sink->rows;
	struct gt_error error;
	uint64_t state = 1;

	for (uint64_t i = 0; i < n; i++) {
		if (gt_sink_room(sink, &error) != 0)
			fail(&error);
		size_t r = rows->n++;
		rows->block[r] = rows->pc[r] = 0;
		rows->warp[r] = 0;
		rows->an[r] = (uint32_t)i;
		rows->op[r] = rows->full[r] = 0;
		rows->sectors[r] = 15;
		rows->threads[r] = 32;
		rows->address[r] = (in_loop ? i : next_random(&state)) % lines * GT_LINE;
	}
}

/* A request of libCacheSim's oracleGeneral, packed: time, line, bytes, and the next access of the line, which lru does not
 * read. */
static void write_oracle(uint64_t n, uint64_t lines, bool in_loop)
{
	uint64_t state = 1;

	for (uint64_t i = 0; i < n; i++) {
		const uint32_t time = 0, bytes = GT_LINE;
		const uint64_t line = (in_loop ? i : next_random(&state)) % lines, next = 0;
		fwrite(&time, sizeof time, 1, stdout);
		fwrite(&line, sizeof line, 1, stdout);
		fwrite(&bytes, sizeof bytes, 1, stdout);
		fwrite(&next, sizeof next, 1, stdout);
	}
}

static void write_stream(uint64_t n, uint64_t lines, bool in_loop, char **argv)
{
	struct gt_error error;
	struct gt_kernel kernel = {.id = 1, .name = "lines", .grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct gt_writer *writer = gt_writer_open(STDOUT_FILENO, NULL, "lines", "1", argv, &error);

	if (!writer || gt_write_kernel(writer, &kernel, &error) != 0 ||
	    gt_sink_begin(gt_writer_sink(writer), GT_REQUESTS, false, &error) != 0)
		fail(&error);
	write_rows(gt_writer_sink(writer), n, lines, in_loop);
	if (gt_writer_finish(writer, &error) != 0)
		fail(&error);
	gt_writer_close(writer);
}

int main(int argc, char **argv)
{
	bool oracle = argc == 5 && strcmp(argv[4], "oracle") == 0;
	uint64_t lines = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if ((argc != 4 && !oracle) || lines == 0) {
		fprintf(stderr, "usage: lines ROWS LINES random|loop [oracle]\n");
		return 2;
	}
	uint64_t rows = strtoull(argv[1], NULL, 10);
	bool in_loop = strcmp(argv[3], "loop") == 0;

	if (oracle)
		write_oracle(rows, lines, in_loop);
	else
		write_stream(rows, lines, in_loop, argv);
	return fflush(stdout) != 0;
}
