/* SPDX-License-Identifier: MIT */
/* gtrace-cat: converts a stream to text and text to a stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "base/installed.h"
#include "gpu/describe.h"
#include "stream/invariants.h"
#include "stream/parts.h"
#include "stream/records.h"
#include "stream/views.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gtrace-cat [-v] [--decimal] [--no-rows] [FILE]\n"
		 "       gtrace-cat --rows|--parquet|--from|--check [FILE]\n"
		 "       gtrace-cat --traceg FOLDER [FILE]\n"
		 "       gtrace-cat --part K/N [FILE]\n"
		 "       gtrace-cat --gpu NAME|FILE\n"
		 "       gtrace-cat --schema\n"
		 "Shows a stream as text, or converts or divides it.\n",
	.verbose = TOOL_PROGRESS,
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | gtrace-cat | head",
};

enum { DECIMAL = 1, NO_ROWS, ROWS, PARQUET, TRACEG, FROM_TEXT, CHECK_IT, PART, GPU, SHOW_SCHEMA };
static const struct tool_row option_rows[] = {
	{"--decimal", DECIMAL, "addresses and lanes as decimal numbers"},
	{"--no-rows", NO_ROWS, "only the lines that begin with '#'"},
	TOOL_HEADING("In place of text:"),
	{"--rows", ROWS, "one msgpack array a row"},
	{"--parquet", PARQUET, "the rows as a Parquet file"},
	{"--traceg FOLDER", TRACEG, "accesses as traces of Accel-Sim in a new folder"},
	{"--from", FROM_TEXT, "text or msgpack rows to a stream"},
	{"--check", CHECK_IT, "check a stream's invariants"},
	{"--part K/N", PART, "part K of N of a stream, of whole launches, as a stream; gstats joins the reports"},
	{"--gpu NAME|FILE", GPU, "show a GPU description"},
	{"--schema", SHOW_SCHEMA, "the columns and names of values, as JSON"},
	TOOL_GENERAL,
	TOOL_END,
};

enum mode { TO_TEXT, TO_PLAIN, TO_PARQUET, TO_TRACEG, FROM, CHECK, PART_OF, SCHEMA };

#define TEXT_PIECE 32768 /* bytes of rows that are written together */

/* Text is written in large pieces; a full disk is reported at once. */
static void put(struct tool *tool, struct gt_bytes *text)
{
	if (text->failed) {
		gt_fail_memory(&tool->error, "a line");
		tool_fail(tool);
	}
	if (text->n == 0)
		return;
	if (fwrite(text->data, 1, text->n, stdout) != text->n) {
		gt_fail_errno(&tool->error, "standard output");
		tool_fail(tool);
	}
	text->n = 0;
}

struct text_view {
	bool decimal, no_rows;
	bool named; /* the names of the columns were printed for rows of this shape */
	struct gt_rows shape; /* no rows: which columns those had */
};

static void rows_to_text(struct tool *tool, struct text_view *view, struct gt_bytes *text)
{
	const struct gt_rows *rows = gt_reader_rows(tool->in);

	if (view->no_rows)
		return;
	if (!view->named || !gt_rows_alike(&view->shape, rows))
		gt_tsv_columns(text, rows);
	view->named = true;
	gt_rows_shape(&view->shape, rows);
	for (size_t i = 0; i < rows->n; i++) {
		gt_tsv_row(text, rows, i, gt_reader_kernel(tool->in)->id, view->decimal);
		if (text->n >= TEXT_PIECE)
			put(tool, text);
	}
}

static void to_text(struct tool *tool, struct text_view *view)
{
	struct gt_bytes text = {0};
	enum gt_event event;

	tool_read(tool);
	gt_reader_keep_turns(tool->in);
	gt_tsv_line(&text, "gtrace", gt_version);
	for (const char *const *line = gt_reader_history(tool->in); *line; line++)
		gt_tsv_line(&text, "history", *line);
	while (tool_next(tool, &event)) {
		if (event == GT_KERNEL)
			gt_tsv_kernel(&text, gt_reader_kernel(tool->in));
		else if (event == GT_GPU)
			gt_tsv_gpu(&text, gt_reader_gpu(tool->in));
		else if (event == GT_COUNT)
			gt_tsv_count(&text, gt_reader_count(tool->in));
		else if (event == GT_ROWS)
			rows_to_text(tool, view, &text);
		put(tool, &text); /* after each record, so that all records of an incomplete stream are shown */
	}
	gt_tsv_line(&text, "end", "");
	put(tool, &text);
	free(text.data);
	tool_end(tool);
}

static void to_plain(struct tool *tool)
{
	struct gt_bytes bytes = {0};
	enum gt_event event;

	tool_read(tool);
	gt_reader_keep_turns(tool->in);
	if (isatty(STDOUT_FILENO)) {
		gt_fail(&tool->error, "msgpack is binary and is not written to a terminal");
		tool_fail(tool);
	}
	gt_plain_begin(&bytes, gt_reader_history(tool->in));
	while (tool_next(tool, &event)) {
		gt_plain_put(&bytes, tool->in, event);
		put(tool, &bytes);
	}
	gt_plain_end(&bytes);
	put(tool, &bytes);
	free(bytes.data);
	tool_end(tool);
}

static void to_parquet(struct tool *tool)
{
	struct gt_rows none = {.kind = GT_REQUESTS}; /* the columns of a stream without rows */
	struct gt_parquet *parquet = NULL;
	struct gt_bytes bytes = {0};
	enum gt_event event;

	tool_read(tool);
	gt_reader_keep_turns(tool->in);
	if (isatty(STDOUT_FILENO))
		tool_must(tool, gt_fail(&tool->error, "Parquet is binary and is not written to a terminal"));
	while (tool_next(tool, &event)) {
		if (event != GT_ROWS)
			continue;
		if (!parquet)
			tool_must(tool, (parquet = gt_parquet_open(gt_reader_rows(tool->in), &tool->error)) ? 0 : -1);
		tool_must(tool, gt_parquet_rows(parquet, gt_reader_rows(tool->in), gt_reader_kernel(tool->in), &bytes, &tool->error));
		put(tool, &bytes);
	}
	if (!parquet)
		tool_must(tool, (parquet = gt_parquet_open(&none, &tool->error)) ? 0 : -1);
	tool_must(tool, gt_parquet_finish(parquet, &bytes, &tool->error));
	put(tool, &bytes);
	free(bytes.data);
	gt_parquet_close(parquet);
	tool_end(tool);
}

/* The traces of a stream that fails are removed. */
static void to_traceg(struct tool *tool, const char *folder)
{
	struct gt_traceg *traceg = NULL;
	const char *remark;
	enum gt_event event;
	uint64_t number;
	int result = 0;

	tool_read(tool);
	tool_must(tool, (traceg = gt_traceg_open(folder, &tool->error)) ? 0 : -1);
	while (result == 0 && (event = gt_read(tool->in, &tool->error)) != GT_END)
		result = event == GT_FAILED ? -1 : gt_traceg_take(traceg, tool->in, event, &tool->error);
	if (result != 0 || gt_traceg_finish(traceg, &tool->error) != 0) {
		gt_traceg_close(traceg);
		tool_fail(tool);
	}
	for (size_t at = 0; (remark = gt_traceg_remark(traceg, &at, &number)) != NULL;)
		tool_warn(tool, "not in the traces: %s: %" PRIu64, remark, number);
	gt_traceg_close(traceg);
	tool_end(tool);
}

static struct gt_input *open_operand(struct tool *tool)
{
	if (optind + 1 < tool->argc)
		tool_usage(tool, "'%s': expected one file at most", tool->argv[optind + 1]);
	struct gt_input *input = gt_input_open(optind < tool->argc ? tool->argv[optind] : "-", &tool->error);
	if (!input)
		tool_fail(tool);
	return input;
}

static void from(struct tool *tool)
{
	const char *head;
	size_t bytes;

	tool->is_filter = true; /* until it begins to write */
	struct gt_input *input = open_operand(tool);
	tool_must(tool, gt_input_peek(input, &head, &bytes, &tool->error));
	if (bytes == 0)
		tool_must(tool, gt_fail(&tool->error, "%s: empty: expected the text of gtrace-cat, or msgpack rows",
					gt_input_name(input)));
	/* Plain rows begin with a msgpack array; text never does. */
	int (*convert)(struct gt_input *, int, const char *, const char *, char *const[], struct gt_error *) =
		bytes > 0 && ((unsigned char)head[0] & 0xf0) == 0x90 ? gt_plain_to_stream : gt_tsv_to_stream;
	if (isatty(STDOUT_FILENO)) {
		gt_fail(&tool->error, "a stream is binary and is not written to a terminal");
		tool_fail(tool);
	}
	tool->is_filter = false;
	tool_must(tool, convert(input, STDOUT_FILENO, tool->name, gt_version, tool->argv + 1, &tool->error));
	tool_must(tool, gt_input_close(input, &tool->error));
	tool_end(tool);
}

static void check(struct tool *tool)
{
	struct gt_invariants *invariants = gt_invariants_open(&tool->error);
	enum gt_event event;

	tool_must(tool, invariants ? 0 : -1);
	tool_read(tool);
	while (tool_next(tool, &event))
		tool_must(tool, gt_invariants_take(invariants, tool->in, event, &tool->error));
	printf("%" PRIu64 " invariants hold\n", gt_invariants_checked(invariants));
	gt_invariants_close(invariants);
	tool_end(tool);
}

/* Says which launch of the whole it is that has begun. */
static void write_place(struct tool *tool, const struct gt_divider *divider)
{
	struct gt_count count;

	tool_must(tool, gt_divider_count(divider, gt_reader_kernel(tool->in)->id, &count, &tool->error));
	tool_count(tool, &count);
}

/* The part that the last event belongs to; 0: to all. */
static size_t part_of_event(struct tool *tool, struct gt_divider *divider, enum gt_event event)
{
	if (event == GT_KERNEL)
		tool_must(tool, gt_divider_begin(divider, gt_reader_kernel(tool->in)->id, &tool->error));
	else if (event == GT_ROWS)
		gt_divider_rows(divider, gt_reader_record(tool->in).rows);
	else if (event == GT_COUNT)
		return gt_divider_find(divider, gt_reader_count(tool->in)->kernel);
	else if (event == GT_GPU || divider->launches == 0)
		return 0;
	return divider->current;
}

static void divide(struct tool *tool, struct gt_part part)
{
	struct gt_divider divider;
	enum gt_event event;

	tool->is_filter = true;
	tool_must(tool, gt_divider_open(&divider, part.parts, &tool->error));
	tool_read(tool);
	tool_write(tool);
	while (tool_next_record(tool, &event)) {
		size_t of = part_of_event(tool, &divider, event);
		if (of != 0 && of != part.part)
			continue;
		tool_pass(tool);
		if (event == GT_KERNEL)
			write_place(tool, &divider);
	}
	gt_divider_close(&divider);
	tool_end(tool);
}

static void describe(struct tool *tool, const char *name)
{
	struct gt_gpu gpu = {0};

	tool_must(tool, gt_gpu_load(&gpu, name, &tool->error));
	tool_must(tool, gt_describe_gpu(&gpu, stdout, &tool->error));
	gt_gpu_clear(&gpu);
	tool_end(tool);
}

static void show_schema(struct tool *tool)
{
	if (optind < tool->argc)
		tool_usage(tool, "'%s': expected no file with --schema", tool->argv[optind]);
	gt_schema_write(stdout);
	tool_end(tool);
}

static void set_part(struct tool *tool, struct gt_part *part)
{
	if (gt_part_parse(optarg, part, &tool->error) != 0)
		tool_usage_error(tool, "--part");
}

int main(int argc, char **argv)
{
	struct text_view view = {0};
	const char *gpu = NULL, *folder = NULL;
	struct gt_part part;
	enum mode mode = TO_TEXT;
	int option, modes = 0;
	struct tool tool;

	tool_begin(&tool, "gtrace-cat", &about, argc, argv);
	while ((option = tool_option(&tool, option_rows)) != -1) {
		switch (option) {
		case DECIMAL: view.decimal = true; break;
		case NO_ROWS: view.no_rows = true; break;
		case ROWS: mode = TO_PLAIN; modes++; break;
		case PARQUET: mode = TO_PARQUET; modes++; break;
		case TRACEG: mode = TO_TRACEG; folder = optarg; modes++; break;
		case FROM_TEXT: mode = FROM; modes++; break;
		case CHECK_IT: mode = CHECK; modes++; break;
		case SHOW_SCHEMA: mode = SCHEMA; modes++; break;
		case PART: set_part(&tool, &part); mode = PART_OF; modes++; break;
		case GPU: gpu = optarg; modes++; break;
		}
	}
	if (modes > 1)
		tool_usage(&tool, "--rows, --parquet, --traceg, --from, --check, --part, --gpu and --schema exclude one another");
	if (gpu)
		describe(&tool, gpu);
	else if (mode == TO_TEXT)
		to_text(&tool, &view);
	else if (mode == TO_PLAIN)
		to_plain(&tool);
	else if (mode == TO_PARQUET)
		to_parquet(&tool);
	else if (mode == TO_TRACEG)
		to_traceg(&tool, folder);
	else if (mode == FROM)
		from(&tool);
	else if (mode == CHECK)
		check(&tool);
	else if (mode == PART_OF)
		divide(&tool, part);
	else
		show_schema(&tool);
	return 0;
}
