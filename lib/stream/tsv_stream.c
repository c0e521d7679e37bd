/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/check.h"
#include "stream/stream.h"
#include "stream/tsv.h"

/* A launch that was announced. It is written when its first row comes: sorting may have brought
 * all announcements to the front. Counts that come before follow it, as those of its arrays and source lines must. */
struct announced {
	struct gt_kernel kernel;
	bool written;
	struct gt_count *counts; /* that wait for it */
	size_t n, capacity;
};

struct conversion {
	int descriptor;
	const char *tool, *version;
	char *const *argv;
	char **history; /* up to a NULL; owned */
	size_t n_history;

	struct gt_writer *writer; /* opened when the history is complete */
	struct gt_tsv tsv;	  /* reads one row at a time */
	struct announced *launches;
	size_t n_launches;
	size_t current; /* the launch whose rows are being written, or n_launches */
	bool from_stream, ended;
};

static int remember_history(struct conversion *to, struct gt_error *error)
{
	char **longer = gt_resized(to->history, to->n_history + 2, sizeof *longer);
	char *copy = malloc(strlen(to->tsv.text) + 1);

	if (longer)
		to->history = longer;
	if (!longer || !copy) {
		free(copy);
		return gt_fail_memory(error, "a stream's history");
	}
	memcpy(copy, to->tsv.text, strlen(to->tsv.text) + 1);
	to->history[to->n_history++] = copy;
	to->history[to->n_history] = NULL;
	return 0;
}

static int need_writer(struct conversion *to, struct gt_error *error)
{
	if (to->writer)
		return 0;
	to->writer = gt_writer_open(to->descriptor, (const char *const *)to->history, to->tool, to->version,
				    to->argv, error);
	return to->writer ? 0 : -1;
}

static int announce(struct conversion *to, struct gt_error *error)
{
	struct announced *longer = gt_resized(to->launches, to->n_launches + 1, sizeof *longer);

	if (!longer)
		return gt_fail_memory(error, "kernels");
	to->launches = longer;
	memset(&longer[to->n_launches], 0, sizeof *longer);
	if (gt_kernel_copy(&longer[to->n_launches].kernel, &to->tsv.kernel, error) != 0)
		return -1;
	to->n_launches++;
	to->current = to->n_launches;
	return 0;
}

/* The latest announcement of an id, or NULL. */
static struct announced *find_launch(const struct conversion *to, uint64_t id)
{
	for (size_t k = to->n_launches; k > 0; k--)
		if (to->launches[k - 1].kernel.id == id)
			return &to->launches[k - 1];
	return NULL;
}

/* Writes a launch, and the counts that waited for it. */
static int write_launch(struct conversion *to, struct announced *launch, struct gt_error *error)
{
	launch->written = true;
	if (gt_write_kernel(to->writer, &launch->kernel, error) != 0)
		return -1;
	for (size_t i = 0; i < launch->n; i++)
		if (gt_write_count(to->writer, &launch->counts[i], error) != 0)
			return -1;
	return 0;
}

/* Makes the launch of the row just read the current one. */
static int change_kernel(struct conversion *to, struct gt_error *error)
{
	struct announced *launch = find_launch(to, to->tsv.kernel_id);

	if (!launch)
		return gt_fail(error, "a row of kernel %" PRIu64 ", which no #kernel line before it announces",
			       to->tsv.kernel_id);
	to->current = (size_t)(launch - to->launches);
	return write_launch(to, launch, error);
}

static int take_count(struct conversion *to, struct gt_error *error)
{
	struct announced *launch = find_launch(to, to->tsv.count.kernel);

	if (!launch || launch->written)
		return gt_write_count(to->writer, &to->tsv.count, error);
	struct gt_count *longer = gt_grown(launch->counts, launch->n, &launch->capacity, sizeof *longer);
	if (!longer)
		return gt_fail_memory(error, "counts");
	launch->counts = longer;
	longer[launch->n++] = to->tsv.count;
	gt_count_begin(&to->tsv.count, "", 0); /* it is the launch's now */
	return 0;
}

static int take_row(struct conversion *to, struct gt_error *error)
{
	struct gt_rows *row = to->tsv.rows;
	struct gt_sink *sink = gt_writer_sink(to->writer);

	if ((to->current == to->n_launches || to->launches[to->current].kernel.id != to->tsv.kernel_id) &&
	    change_kernel(to, error) != 0)
		return -1;
	if (gt_rows_check(row, &to->launches[to->current].kernel, error) != 0 ||
	    gt_sink_begin_as(sink, row, error) != 0 || gt_sink_room(sink, error) != 0 ||
	    gt_rows_copy(sink->rows, row, 0, error) != 0)
		return -1;
	row->n = row->n_lanes = 0;
	return 0;
}

static int take_line(struct conversion *to, char *line, struct gt_error *error)
{
	enum gt_tsv_event event = gt_tsv_read(&to->tsv, line, error);

	switch (event) {
	case GT_TSV_FAILED: return -1;
	case GT_TSV_NOTHING: return 0;
	case GT_TSV_STREAM: to->from_stream = true; return 0;
	case GT_TSV_END: to->ended = true; return 0;
	case GT_TSV_HISTORY: return remember_history(to, error);
	case GT_TSV_KERNEL: return announce(to, error);
	default: break;
	}
	if (need_writer(to, error) != 0)
		return -1;
	if (event == GT_TSV_GPU)
		return gt_write_gpu(to->writer, &to->tsv.gpu, error);
	if (event == GT_TSV_COUNT)
		return take_count(to, error);
	return take_row(to, error);
}

static int finish(struct conversion *to, const struct gt_input *input, struct gt_error *error)
{
	if (to->from_stream && !to->ended)
		return gt_fail(error, "%s: no '#end' line: the program before it failed, or the text is cut",
			       gt_input_name(input));
	if (need_writer(to, error) != 0)
		return -1;
	for (size_t k = 0; k < to->n_launches; k++)
		if (!to->launches[k].written && write_launch(to, &to->launches[k], error) != 0)
			return -1;
	return gt_writer_finish(to->writer, error);
}

static int convert(struct conversion *to, struct gt_input *input, struct gt_error *error)
{
	struct gt_error inner;
	char *line;
	size_t length;
	int more;

	while ((more = gt_input_line(input, &line, &length, error)) > 0)
		if (take_line(to, line, &inner) != 0)
			return gt_input_fail(input, error, "%s", inner.text);
	return more < 0 ? -1 : finish(to, input, error);
}

int gt_tsv_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		     char *const argv[], struct gt_error *error)
{
	struct conversion to = {.descriptor = descriptor, .tool = tool, .version = version, .argv = argv};
	struct gt_rows *row = gt_rows_new(1, error);

	if (!row)
		return -1;
	gt_tsv_open(&to.tsv, row);
	int result = convert(&to, input, error);
	gt_tsv_close(&to.tsv);
	gt_rows_free(row);
	gt_writer_close(to.writer);
	for (size_t k = 0; k < to.n_launches; k++) {
		gt_kernel_clear(&to.launches[k].kernel);
		for (size_t i = 0; i < to.launches[k].n; i++)
			gt_count_clear(&to.launches[k].counts[i]);
		free(to.launches[k].counts);
	}
	for (size_t h = 0; h < to.n_history; h++)
		free(to.history[h]);
	free(to.launches);
	free(to.history);
	return result;
}
