/* SPDX-License-Identifier: MIT */
/* Accel-Sim's traces: .traceg (grouped by block and warp), .tracez (the same, compressed), .trace (ungrouped: each line
 * names its block and warp) and kernelslist.g (a list of such files). */
#include "import/accelsim.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grown.h"
#include "base/piece.h"
#include "base/scan.h"
#include "import/formats.h"
#include "import/parts.h"

/* ---- .tracez ---- */

/* Accel-Sim 2's .tracez: the text of a .traceg, its instructions compressed in pieces (tracez_format.h of its tracer):
 *
 *     header lines, 0, u32 D, u32, D bytes of a Zstandard dictionary,
 *     for each warp: u32 instructions, u32 pieces, and for each piece u32 bytes and a Zstandard frame of lines,
 *     u32 blocks, for each: u32 x, y, z, seven numbers of its cluster, u32 warps,
 *         for each: u32 instructions, u32 pieces, u64 its offset, and for each piece u32 instructions,
 *     u64 the offset of the number of blocks
 */

#define HEADER_MAX (1 << 16)		    /* bytes of header lines */
#define PIECE_MAX (UINT64_C(256) << 20)	    /* bytes of lines in a piece; the tracer puts 2048 instructions into one */
#define CLUSTER_FIELDS 7

struct tracez {
	struct gt_accelsim *reader;
	int file;
	uint64_t size;
	ZSTD_DCtx *context;
	ZSTD_DDict *dictionary; /* NULL: none */
	unsigned char *packed, *index; /* owned */
	char *text;		       /* owned */
	size_t packed_capacity, text_capacity;
	size_t index_bytes, at; /* of the index; what is read of it */
};

static int fail_tracez(const struct tracez *trace, const char *expected)
{
	return gt_fail(trace->reader->error, "%s: expected %s, as in a whole .tracez file", gt_input_name(trace->reader->input), expected);
}

static uint64_t number_at(const unsigned char *at, unsigned bytes)
{
	uint64_t number = 0;

	while (bytes-- > 0)
		number = number << 8 | at[bytes];
	return number;
}

/* Reads bytes at an offset, all of them. */
static int read_at(const struct tracez *trace, void *to, uint64_t bytes, uint64_t offset)
{
	char *at = to;

	if (bytes > trace->size || offset > trace->size - bytes)
		return fail_tracez(trace, "more bytes");
	while (bytes > 0) {
		ssize_t got = pread(trace->file, at, bytes, (off_t)offset);
		if (got < 0)
			return gt_fail_errno(trace->reader->error, "%s", gt_input_name(trace->reader->input));
		if (got == 0)
			return fail_tracez(trace, "more bytes");
		at += got;
		bytes -= (uint64_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static int read_number(const struct tracez *trace, unsigned width, uint64_t offset, uint64_t *number)
{
	unsigned char bytes[8];

	if (read_at(trace, bytes, width, offset) != 0)
		return -1;
	*number = number_at(bytes, width);
	return 0;
}

/* The next number of the index. */
static bool next_number(struct tracez *trace, unsigned width, uint64_t *number)
{
	if (trace->index_bytes - trace->at < width)
		return false;
	*number = number_at(trace->index + trace->at, width);
	trace->at += width;
	return true;
}

static int feed_lines(struct tracez *trace, char *text, char *end, int (*read)(struct gt_accelsim *reader, const char *line))
{
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		*stop = '\0'; /* the text has room for one more byte, and GT_SCAN_SLACK behind it */
		if (read(trace->reader, line) != 0)
			return -1;
		line = stop + 1;
	}
	return 0;
}

/* Reads the header lines and the dictionary. */
static int read_tracez_header(struct tracez *trace)
{
	uint64_t bytes = trace->size < HEADER_MAX ? trace->size : HEADER_MAX, dictionary;
	char *text = gt_grown_to(NULL, HEADER_MAX + 1 + GT_SCAN_SLACK, &trace->text_capacity, 1);

	if (!text)
		return gt_fail_memory(trace->reader->error, "a trace");
	trace->text = text;
	if (read_at(trace, text, bytes, 0) != 0)
		return -1;
	char *end = memchr(text, '\0', bytes);
	if (!end)
		return fail_tracez(trace, "header lines that end with a zero byte");
	uint64_t offset = (uint64_t)(end - text) + 1;
	gt_accelsim_begin(trace->reader, &(struct gt_accelsim_launch){.has = 0});
	if (feed_lines(trace, text, end, gt_accelsim_frame) != 0 || gt_accelsim_announce(trace->reader) != 0 ||
	    read_number(trace, 4, offset, &dictionary) != 0)
		return -1;
	if (dictionary == 0)
		return 0;
	if (dictionary > trace->size)
		return fail_tracez(trace, "more bytes");
	trace->packed = gt_grown_to(NULL, dictionary, &trace->packed_capacity, 1);
	if (!trace->packed)
		return gt_fail_memory(trace->reader->error, "a trace");
	if (read_at(trace, trace->packed, dictionary, offset + 8) != 0)
		return -1;
	trace->dictionary = ZSTD_createDDict(trace->packed, dictionary);
	return trace->dictionary ? 0 : gt_fail_memory(trace->reader->error, "a trace's dictionary");
}

static int read_index(struct tracez *trace)
{
	uint64_t offset;

	if (trace->size < 12 || read_number(trace, 8, trace->size - 8, &offset) != 0)
		return fail_tracez(trace, "an index");
	if (offset > trace->size - 12)
		return fail_tracez(trace, "the offset of an index");
	trace->index_bytes = (size_t)(trace->size - 8 - offset);
	trace->index = gt_resized(NULL, trace->index_bytes, 1);
	if (!trace->index)
		return gt_fail_memory(trace->reader->error, "a trace's index");
	return read_at(trace, trace->index, trace->index_bytes, offset);
}

/* Unpacks the piece at *offset, moves it on, and reads the piece's instructions. */
static int read_piece(struct tracez *trace, uint64_t *offset)
{
	uint64_t bytes;

	if (read_number(trace, 4, *offset, &bytes) != 0)
		return -1;
	if (bytes > trace->size)
		return fail_tracez(trace, "more bytes");
	unsigned char *packed = gt_grown_to(trace->packed, bytes, &trace->packed_capacity, 1);
	if (!packed)
		return gt_fail_memory(trace->reader->error, "a trace");
	trace->packed = packed;
	if (read_at(trace, packed, bytes, *offset + 4) != 0)
		return -1;
	*offset += 4 + bytes;
	unsigned long long length = ZSTD_getFrameContentSize(packed, bytes);
	if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR || length > PIECE_MAX)
		return fail_tracez(trace, "Zstandard frames that say their length");
	char *text = gt_grown_to(trace->text, length + 1 + GT_SCAN_SLACK, &trace->text_capacity, 1);
	if (!text)
		return gt_fail_memory(trace->reader->error, "a trace");
	trace->text = text;
	/* Without a dictionary this is ZSTD_decompressDCtx. */
	size_t got = ZSTD_decompress_usingDDict(trace->context, text, length, packed, bytes, trace->dictionary);
	if (ZSTD_isError(got))
		return gt_fail(trace->reader->error, "%s: cannot decompress: %s", gt_input_name(trace->reader->input), ZSTD_getErrorName(got));
	return feed_lines(trace, text, text + got, gt_accelsim_instruction);
}

static int read_warp(struct tracez *trace, uint64_t warp)
{
	struct gt_accelsim *reader = trace->reader;
	uint64_t instructions, pieces, offset, ignored;

	if (!next_number(trace, 4, &instructions) || !next_number(trace, 4, &pieces) || !next_number(trace, 8, &offset))
		return fail_tracez(trace, "more bytes in the index");
	if (gt_accelsim_begin_warp(reader, warp) != 0)
		return -1;
	reader->place = GT_ACCELSIM_IN_INSTRUCTIONS;
	reader->expected = instructions;
	reader->found = 0;
	if (offset > trace->size)
		return fail_tracez(trace, "offsets within the file");
	offset += 8; /* the same two numbers */
	for (uint64_t i = 0; i < pieces; i++)
		if (read_piece(trace, &offset) != 0)
			return -1;
	for (uint64_t i = 0; i < pieces; i++)
		if (!next_number(trace, 4, &ignored))
			return fail_tracez(trace, "more bytes in the index");
	return reader->found == instructions ? 0 : fail_tracez(trace, "as many instructions as the index says");
}

static int read_block(struct tracez *trace)
{
	uint64_t at[3], warps, ignored;
	struct gt_error *error = trace->reader->error;

	for (int i = 0; i < 3; i++)
		if (!next_number(trace, 4, &at[i]))
			return fail_tracez(trace, "more bytes in the index");
	for (int i = 0; i < CLUSTER_FIELDS; i++)
		if (!next_number(trace, 4, &ignored))
			return fail_tracez(trace, "more bytes in the index");
	if (!next_number(trace, 4, &warps))
		return fail_tracez(trace, "more bytes in the index");
	if (gt_accelsim_enter_block(trace->reader, at) != 0)
		return -1;
	for (uint64_t warp = 0; warp < warps; warp++)
		if (read_warp(trace, warp) != 0) {
			char text[sizeof error->text];
			memcpy(text, error->text, sizeof text);
			return gt_fail(error, "%.500s (thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64 ", warp %" PRIu64 ")", text,
				       at[0], at[1], at[2], warp);
		}
	trace->reader->place = GT_ACCELSIM_OUTSIDE;
	return 0;
}

static int read_whole(struct tracez *trace)
{
	uint64_t blocks;

	if (read_tracez_header(trace) != 0 || read_index(trace) != 0)
		return -1;
	trace->reader->launch.grouped = true;
	if (!next_number(trace, 4, &blocks))
		return fail_tracez(trace, "more bytes in the index");
	for (uint64_t i = 0; i < blocks; i++)
		if (read_block(trace) != 0)
			return -1;
	return trace->at == trace->index_bytes ? 0 : fail_tracez(trace, "fewer bytes in the index");
}

/* Whether a file is one, by its name, as Accel-Sim tells. */
static bool is_tracez(const char *path)
{
	size_t length = strlen(path), end = sizeof ".tracez" - 1;

	return length > end && strcmp(path + length - end, ".tracez") == 0;
}

/* Reads the file that the reader's input names. Returns 0, or -1 with an error. */
static int read_tracez(struct gt_accelsim *reader)
{
	struct tracez trace = {.reader = reader, .file = open(gt_input_path(reader->input), O_RDONLY | O_CLOEXEC)};
	struct stat status;
	int result = -1;

	if (trace.file < 0 || fstat(trace.file, &status) != 0)
		gt_fail_errno(reader->error, "%s", gt_input_name(reader->input));
	else if (!S_ISREG(status.st_mode))
		fail_tracez(&trace, "a file that can be read in any order");
	else if (!(trace.context = ZSTD_createDCtx()))
		gt_fail_memory(reader->error, "a trace");
	else {
		trace.size = (uint64_t)status.st_size;
		result = read_whole(&trace);
	}
	if (trace.file >= 0)
		close(trace.file);
	ZSTD_freeDCtx(trace.context);
	ZSTD_freeDDict(trace.dictionary);
	free(trace.packed);
	free(trace.text);
	free(trace.index);
	return result;
}

/* ---- in several threads ---- */

/* A grouped trace in several threads: each reads a part that begins with a thread block. What the parts report is passed on in
 * their order, so that nothing depends on the threads. A part that is not as expected - a header in it, an error - is read
 * again, then, in its place. */

struct part {
	struct gt_textpart part;
	struct gt_accelsim reader;
	struct gt_recorded recorded;
	struct gt_error error; /* why it was not read to its end; told when it is read again */
	bool as_expected;
};

struct parts {
	const struct gt_trace *to;
	struct gt_accelsim_launch launch; /* with which each part begins */
	struct gt_accelsim *reader; /* where the parts that were passed on lead to */
	uint64_t lines;		    /* of these parts, and before them */
	atomic_bool outdated;	    /* another launch has begun since parts were given its header */
};

static void begin_part(void *context, void *item)
{
	const struct parts *parts = context;
	struct part *part = item;

	gt_accelsim_begin(&part->reader, &parts->launch);
}

static bool is_outdated(void *context)
{
	struct parts *parts = context;

	return atomic_load(&parts->outdated);
}

/* Reads up to the end, a header or an error. */
static int read_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct part *part = item;
	struct gt_input *text = part->part.text;
	char *line;
	size_t length;
	int got;

	(void)lane;
	(void)error;
	part->as_expected = false;
	if (atomic_load(&parts->outdated))
		return 0;
	gt_recorded_begin(&part->recorded, text, parts->to);
	part->reader.to = &part->recorded.trace;
	part->reader.input = text;
	part->reader.error = &part->error;
	while ((got = gt_input_line(text, &line, &length, &part->error)) > 0)
		if (*line == '-' || gt_accelsim_line(&part->reader, line) != 0)
			return 0;
	part->as_expected = got == 0 && part->reader.place == GT_ACCELSIM_OUTSIDE;
	return 0;
}

/* Reads a part in its place. */
static int read_again(struct parts *parts, struct gt_input *text, struct gt_error *error)
{
	struct gt_accelsim *reader = parts->reader;
	struct gt_input *whole = reader->input;
	struct gt_error *whole_error = reader->error;
	char *line;
	size_t length;
	int got, result = 0;

	gt_piece_again(text, parts->lines);
	reader->input = text;
	reader->error = error;
	while (result == 0 && (got = gt_input_line(text, &line, &length, error)) != 0) {
		if (got > 0 && *line == '-')
			atomic_store(&parts->outdated, true);
		result = got < 0 ? -1 : gt_accelsim_line(reader, line);
	}
	reader->input = whole;
	reader->error = whole_error;
	parts->lines = gt_input_line_number(text);
	return result;
}

static int pass_on(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	const struct part *part = item;
	struct gt_input *text = part->part.text;

	(void)lane;
	if (!part->as_expected || is_outdated(parts) || parts->reader->place != GT_ACCELSIM_OUTSIDE)
		return read_again(parts, text, error);
	uint64_t lines = gt_input_line_number(text);
	int result = gt_recorded_report(&part->recorded, text, parts->lines, parts->to, error);
	parts->lines += lines;
	return result;
}

static void close_part(void *item)
{
	struct part *part = item;

	gt_recorded_close(&part->recorded);
}

/* Reads what follows, from a block on, in several threads, up to its end or the header of another launch. */
static int read_parts(struct gt_accelsim *reader)
{
	struct parts parts = {.to = reader->to, .launch = reader->launch, .reader = reader, .lines = gt_input_line_number(reader->input)};
	const struct gt_textparts how = {
		.part_bytes = sizeof(struct part), .mark = GT_ACCELSIM_BLOCK, .context = &parts,
		.begin = begin_part, .ended = is_outdated, .read = read_part, .pass_on = pass_on, .close = close_part,
	};

	int result = gt_textparts_read(&how, reader->input, reader->to->jobs, reader->error);
	gt_piece_note_line(reader->input, parts.lines);
	return result;
}

/* ---- text ---- */

/* Whether the rest can be read in several threads: blocks of a launch that is known. */
static bool can_be_parted(const struct gt_accelsim *reader)
{
	return reader->to->jobs > 1 && reader->launch.announced && reader->place == GT_ACCELSIM_OUTSIDE &&
	       gt_piece_begins(reader->input, GT_ACCELSIM_BLOCK);
}

static int read_trace(struct gt_accelsim *reader)
{
	char *line;
	size_t length;
	int got;

	gt_accelsim_begin(reader, &(struct gt_accelsim_launch){.has = 0});
	do {
		if (can_be_parted(reader) && read_parts(reader) != 0)
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
	int result = is_tracez(gt_input_path(input)) ? read_tracez(reader) : read_trace(reader);
	if (result == 0 || reader->launch.version <= GT_ACCELSIM_VERSION)
		return result;
	memcpy(text, reader->error->text, sizeof text);
	return gt_fail(reader->error, "%.500s (the tracer's version is %" PRIu64 ", the latest that is known %d)", text, reader->launch.version,
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

/* The tracer lists copies and traces; tools that are derived from it list other calls too, and comments. */
static int read_list_line(struct gt_accelsim *reader, struct gt_input *list, char *line)
{
	size_t length = strcspn(line, " \t");
	const char *rest = line + length, *at = line;

	if (gt_scan_text(&at, "MemcpyHtoD"))
		return read_copy(reader, list, at);
	if (strncmp(line, "Memcpy", 6) == 0)
		return reader->to->passed_over(reader->to->context, "memory copies", 1, reader->error);
	if (length == 0 && gt_scan_end(&rest))
		return 0;
	bool trace = *line != '#' && strstr(line, ".trace") != NULL;
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
