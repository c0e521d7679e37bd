/* SPDX-License-Identifier: MIT */
/* A filter to start from: keeps the loads of a range of blocks and drops all other rows. Built
 * against the installed library (all on one line):
 *
 *     cc -o filter examples/filter.c $(pkg-config --cflags --libs gtrace)
 *     gtrace-order < trace | ./filter 0 63 | gschedule --gpu titanv | gcache --l1 | gstats
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gtrace.h>

static uint32_t first_block, last_block;

static int wanted(const struct gt_rows *rows, size_t i)
{
	return rows->block[i] >= first_block && rows->block[i] <= last_block &&
	       gt_op_action(rows->op[i]) == GT_LOAD;
}

/* Copies the rows that are wanted into the writer's sink, which writes itself out when it is full. */
static int filter(const struct gt_rows *rows, struct gt_sink *sink, struct gt_error *error)
{
	if (gt_sink_begin_as(sink, rows, error) != 0)
		return -1;
	for (size_t i = 0; i < rows->n; i++)
		if (wanted(rows, i) &&
		    (gt_sink_room(sink, error) != 0 || gt_rows_copy(sink->rows, rows, i, error) != 0))
			return -1;
	return 0;
}

/* Everything that is not a row passes on: launches, counts, and kinds made after this was written.
 * GT_END comes only if the input was whole and its checksum right, so only then is ours finished. */
static int run(struct gt_reader *in, struct gt_writer *out, struct gt_error *error)
{
	for (;;) {
		enum gt_event event = gt_read(in, error);
		if (event == GT_FAILED)
			return -1;
		if (event == GT_END)
			return gt_writer_finish(out, error);
		int result = event == GT_ROWS ? filter(gt_reader_rows(in), gt_writer_sink(out), error)
					      : gt_writer_pass(out, in, error);
		if (result != 0)
			return -1;
	}
}

int main(int argc, char *argv[])
{
	struct gt_error error;

	if (argc != 3) {
		fputs("usage: filter FIRST LAST < stream > stream\n", stderr);
		return 2;
	}
	first_block = (uint32_t)strtoul(argv[1], NULL, 10);
	last_block = (uint32_t)strtoul(argv[2], NULL, 10);
	struct gt_reader *in = gt_reader_open(STDIN_FILENO, "standard input", NULL, 0, &error);
	struct gt_writer *out = in ? gt_writer_open(STDOUT_FILENO, gt_reader_history(in), "filter", "1", argv + 1,
						    &error) : NULL;
	int result = out ? run(in, out, &error) : -1;
	if (result != 0)
		fprintf(stderr, "filter: %s\n", error.text);
	gt_writer_close(out);
	if (in)
		gt_reader_close(in);
	return result == 0 ? 0 : 1;
}
