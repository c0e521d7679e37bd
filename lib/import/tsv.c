/* SPDX-License-Identifier: MIT */
/* The text of gtrace-cat(1), as it is or after sort and awk. Rows of different launches may be
 * mixed: each names its launch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "import/formats.h"
#include "stream/views.h"

struct state {
	struct gt_trace *to;
	struct gt_tsv tsv; /* reads one row at a time */
	struct gt_map by_id;
	struct gt_kernel *kernels; /* as announced */
	size_t n, capacity;
	size_t current; /* the launch of the last row, or SIZE_MAX */
	bool from_stream, ended;
	uint64_t others;
};

/* A launch begins or goes on. As in a stream, blocks without rows make no accesses. */
static int begin(struct state *state, const struct gt_kernel *kernel, struct gt_error *error)
{
	if (state->to->kernel(state->to->context, kernel, error) != 0)
		return -1;
	if (state->to->whole)
		state->to->whole(state->to->context);
	return 0;
}

static int announce(struct state *state, struct gt_error *error)
{
	int fresh;
	struct gt_kernel *more = gt_grown(state->kernels, state->n, &state->capacity, sizeof *more);

	if (!more)
		return gt_fail_memory(error, "launches");
	state->kernels = more;
	if (state->tsv.kernel.id == GT_MAP_EMPTY)
		return gt_fail(error, "kernel %" PRIu64 ": expected a smaller id", state->tsv.kernel.id);
	uint64_t *index = gt_map_put(&state->by_id, state->tsv.kernel.id, state->n, &fresh);
	if (!index)
		return gt_fail_memory(error, "launches");
	if (fresh) {
		state->kernels[state->n] = (struct gt_kernel){0};
		if (gt_kernel_copy(&state->kernels[state->n], &state->tsv.kernel, error) != 0)
			return -1;
		state->n++;
	}
	state->current = (size_t)*index;
	return begin(state, &state->tsv.kernel, error);
}

static int take_row(struct state *state, struct gt_error *error)
{
	uint64_t id = state->tsv.kernel_id;
	struct gt_rows *row = state->tsv.rows;

	if (state->current == SIZE_MAX || state->kernels[state->current].id != id) {
		const uint64_t *index = id == GT_MAP_EMPTY ? NULL : gt_map_get(&state->by_id, id);
		if (!index)
			return gt_fail(error, "a row of kernel %" PRIu64 ", which no #kernel line announces",
				       id);
		state->current = (size_t)*index;
		if (begin(state, &state->kernels[state->current], error) != 0)
			return -1;
	}
	int result = gt_trace_rows(state->to, row, error);
	row->n = row->n_lanes = 0;
	return result;
}

static int take_line(struct state *state, char *line, struct gt_error *error)
{
	switch (gt_tsv_read(&state->tsv, line, error)) {
	case GT_TSV_FAILED: return -1;
	case GT_TSV_ROW: return take_row(state, error);
	case GT_TSV_KERNEL: return announce(state, error);
	case GT_TSV_STREAM: state->from_stream = true; return 0;
	case GT_TSV_END: state->ended = true; return 0;
	case GT_TSV_GPU: state->others++; return 0;
	case GT_TSV_COUNT: state->others += strcmp(state->tsv.count.stage, "order") != 0; return 0;
	case GT_TSV_NOTHING:
	case GT_TSV_HISTORY: break;
	}
	return 0;
}

static int read_lines(struct state *state, struct gt_input *input, struct gt_error *error)
{
	struct gt_error inner;
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0)
		if (take_line(state, line, &inner) != 0)
			return gt_input_fail(input, error, "%s", inner.text);
	if (got == 0 && state->from_stream && !state->ended)
		return gt_fail(error, "%s: no '#end' line: the program before it failed, or the text is cut",
			       gt_input_name(input));
	if (got == 0 && state->others > 0)
		got = state->to->passed_over(state->to->context, "descriptions and counts", state->others,
					     error);
	return got;
}

static int read_tsv(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct state state = {.to = to, .current = SIZE_MAX};
	struct gt_rows *row = gt_rows_new(1, error);

	if (!row)
		return -1;
	gt_tsv_open(&state.tsv, row);
	int result = gt_map_open(&state.by_id, 0, error);
	if (result == 0)
		result = read_lines(&state, input, error);
	gt_tsv_close(&state.tsv);
	gt_map_close(&state.by_id);
	for (size_t i = 0; i < state.n; i++)
		gt_kernel_clear(&state.kernels[i]);
	free(state.kernels);
	gt_rows_free(row);
	return result;
}

/* True if the bytes look like this text: a '#' line of gtrace-cat, or one that names columns. */
static bool detect(const char *head, size_t bytes)
{
	static const char *const starts[] = {"#gtrace\t", "#block\t", "block\t", "#kernel\t", "#count\t", "#end"};

	for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
		if (bytes >= strlen(starts[s]) && memcmp(head, starts[s], strlen(starts[s])) == 0)
			return true;
	return false;
}

const struct gt_importer gt_import_tsv = {
	.name = "tsv",
	.summary = "the text of gtrace-cat",
	.detect = detect,
	.read = read_tsv,
};
