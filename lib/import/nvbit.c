/* SPDX-License-Identifier: MIT */
/* The output of NVBit's mem_trace: lines that begin "MEMTRACE: " among the program's own. */
#include "import/nvbit.h"

#include <stdlib.h>
#include <string.h>

#include "import/formats.h"

static int read_lines(struct gt_nvbit *reader)
{
	struct gt_nvbit_scanner *scanner = calloc(1, sizeof *scanner);
	struct gt_nvbit_line line;
	char *text;
	size_t length;
	int got;

	if (!scanner)
		return gt_fail_memory(reader->error, "a trace's reader");
	while ((got = gt_input_line(reader->input, &text, &length, reader->error)) > 0) {
		gt_nvbit_scan(scanner, text, length, &line);
		if (gt_nvbit_take(reader, &line) != 0)
			break;
	}
	free(scanner);
	return got == 0 ? 0 : -1;
}

static int read_all(struct gt_nvbit *reader)
{
	reader->launch_line = gt_nvbit_launch_line_open(reader->error);
	if (!reader->launch_line || gt_map_open(&reader->by_id, 0, reader->error) != 0)
		return -1;
	if ((reader->to->jobs > 1 ? gt_nvbit_parts(reader) : read_lines(reader)) != 0)
		return -1;
	return reader->n > 0 ? 0 : gt_nvbit_fail(reader, "expected a line 'MEMTRACE: CTX 0xC - LAUNCH - ...'");
}

static int read_nvbit(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct gt_nvbit reader = {.input = input, .to = to, .error = error};

	/* A run of a program numbers its launches itself. */
	if (to->new_ids)
		to->new_ids(to->context);
	int result = read_all(&reader);

	gt_nvbit_close_launches(&reader);
	gt_nvbit_launch_line_close(reader.launch_line);
	return result;
}

/* The program may have printed much before the first launch. */
static bool detect(const char *head, size_t bytes)
{
	char line[32];

	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (strncmp(line, GT_NVBIT_PREFIX, strlen(GT_NVBIT_PREFIX)) == 0)
			return true;
	return false;
}

const struct gt_importer gt_import_nvbit = {
	.name = "nvbit",
	.summary = "the output of NVBit's mem_trace, mixed with the program's own",
	.detect = detect,
	.read = read_nvbit,
};
