/* SPDX-License-Identifier: MIT */
/* Accel-Sim's traces: .traceg (grouped by block and warp), .tracez (the same, compressed), .trace (ungrouped: each line
 * names its block and warp) and kernelslist.g (a list of such files). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/piece.h"
#include "base/scan.h"
#include "import/accelsim.h"
#include "import/formats.h"
#include "import/place.h"
#include "import/tracez.h"

/* Whether the rest can be read in several threads: blocks of a launch that is known. */
static bool can_be_parted(const struct gt_accelsim *reader)
{
	return reader->to->jobs > 1 && reader->announced && reader->place == GT_ACCELSIM_OUTSIDE &&
	       gt_piece_begins(reader->input, GT_ACCELSIM_BLOCK);
}

static int read_trace(struct gt_accelsim *reader)
{
	char *line;
	size_t length;
	int got;

	gt_accelsim_begin(reader);
	do {
		if (can_be_parted(reader) && gt_accelsim_parts(reader) != 0)
			return -1;
		got = gt_input_line(reader->input, &line, &length, reader->error);
		if (got < 0 || (got > 0 && gt_accelsim_line(reader, line) != 0))
			return -1;
	} while (got > 0);
	if (reader->place != GT_ACCELSIM_OUTSIDE)
		return gt_accelsim_fail(reader, "the trace ends inside a thread block: expected #END_TB");
	/* A launch without accesses is reported too. */
	return gt_accelsim_announce(reader);
}

/* An error says if the tracer is a later one, which may write otherwise. */
static int read_file(struct gt_accelsim *reader, struct gt_input *input)
{
	char text[sizeof reader->error->text];

	reader->input = input;
	int result = gt_tracez_named(gt_input_path(input)) ? gt_tracez_read(reader) : read_trace(reader);
	if (result == 0 || reader->version <= GT_ACCELSIM_VERSION)
		return result;
	memcpy(text, reader->error->text, sizeof text);
	return gt_fail(reader->error, "%.500s (the tracer's version is %" PRIu64 ", the latest that is known %d)", text, reader->version,
		       GT_ACCELSIM_VERSION);
}

/* Reads a trace that a list names, relative to the list's folder. */
static int read_listed(struct gt_accelsim *reader, struct gt_input *list, const char *name)
{
	const char *path = gt_input_path(list), *slash = strrchr(path, '/');
	size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
	size_t bytes = folder + strlen(name) + 1;
	char *full = malloc(bytes);

	if (!full)
		return gt_fail_memory(reader->error, "a file's name");
	snprintf(full, bytes, "%.*s%s", (int)folder, path, name);
	struct gt_input *input = gt_input_open(full, reader->error);
	free(full);
	if (!input)
		return gt_import_place(list, reader->error);
	int result = read_file(reader, input);
	struct gt_error ignored;
	if (gt_input_close(input, result == 0 ? reader->error : &ignored) != 0)
		result = -1;
	return result;
}

/* What follows "MemcpyHtoD". */
static int read_copy(const struct gt_accelsim *reader, const struct gt_input *list, const char *at)
{
	uint64_t address, bytes;

	if (!gt_scan_char(&at, ',') || !gt_scan_hex(&at, &address) || !gt_scan_char(&at, ',') || !gt_scan_decimal(&at, &bytes) ||
	    !gt_scan_end(&at) || bytes > UINT64_MAX - address)
		return gt_input_fail(list, reader->error, "expected MemcpyHtoD,ADDRESS,BYTES");
	if (reader->to->copy)
		reader->to->copy(reader->to->context, address, bytes);
	return 0;
}

/* The tracer lists copies and traces; tools that are derived from it list other calls too. */
static int read_list_line(struct gt_accelsim *reader, struct gt_input *list, char *line)
{
	size_t length = strcspn(line, " \t");
	const char *rest = line + length, *at = line;

	if (gt_scan_text(&at, "MemcpyHtoD"))
		return read_copy(reader, list, at);
	if (strncmp(line, "Memcpy", 6) == 0)
		return reader->to->passed_over(reader->to->context, "memory copies", 1, reader->error);
	if (length == 0 ? gt_scan_end(&rest) : *line == '#')
		return 0;
	bool trace = strstr(line, ".trace") != NULL;
	if (!trace && strncmp(line, "kernel", 6) != 0)
		return reader->to->passed_over(reader->to->context, "other lines of lists", 1, reader->error);
	if (!trace || !gt_scan_end(&rest))
		return gt_input_fail(list, reader->error, "expected MemcpyHtoD,ADDRESS,BYTES or the name of a trace");
	line[length] = '\0';
	return read_listed(reader, list, line);
}

static int read_list(struct gt_accelsim *reader, struct gt_input *list)
{
	char *line;
	size_t length;
	int got;

	while ((got = gt_input_line(list, &line, &length, reader->error)) > 0)
		if (length > 0 && read_list_line(reader, list, line) != 0)
			return -1;
	return got;
}

/* A list begins with a copy or a file's name, behind comments and calls; a trace begins with its header. */
static bool is_list(const char *head, size_t bytes)
{
	char line[64];

	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (line[0] != '\0' && line[0] != '#' && strncmp(line, "cuda", 4) != 0 && strncmp(line, "nccl", 4) != 0)
			return strncmp(line, "Memcpy", 6) == 0 ||
			       (strncmp(line, "kernel", 6) == 0 && strstr(line, ".trace"));
	return false;
}

static int read_accelsim(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	const char *head;
	size_t bytes;

	if (gt_input_peek(input, &head, &bytes, error) != 0)
		return -1;
	struct gt_accelsim *reader = calloc(1, sizeof *reader);
	if (!reader)
		return gt_fail_memory(error, "a trace's reader");
	reader->to = to;
	reader->error = error;
	int result = is_list(head, bytes) ? read_list(reader, input) : read_file(reader, input);
	free(reader);
	return result;
}

static bool detect(const char *head, size_t bytes)
{
	char line[64];

	if (is_list(head, bytes))
		return true;
	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (line[0] != '\0' && line[0] != '#')
			return strncmp(line, "-kernel name = ", 15) == 0 ||
			       strncmp(line, "-kernel id = ", 13) == 0;
	return false;
}

/* Of grouped traces, and of what they are made of. */
static const char *const endings[] = {".traceg", ".tracez", ".trace", NULL};

const struct gt_importer gt_import_accelsim = {
	.name = "accelsim",
	.summary = "Accel-Sim .traceg, .trace, .tracez, kernelslist.g or its folder",
	.folder_list = "kernelslist.g",
	.folder_endings = endings,
	.detect = detect,
	.read = read_accelsim,
};
