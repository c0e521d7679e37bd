/* SPDX-License-Identifier: MIT */
#include "import/tracez.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grown.h"
#include "base/scan.h"

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

static int fail(const struct tracez *trace, const char *expected)
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
		return fail(trace, "more bytes");
	while (bytes > 0) {
		ssize_t got = pread(trace->file, at, bytes, (off_t)offset);
		if (got < 0)
			return gt_fail_errno(trace->reader->error, "%s", gt_input_name(trace->reader->input));
		if (got == 0)
			return fail(trace, "more bytes");
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
static bool next(struct tracez *trace, unsigned width, uint64_t *number)
{
	if (trace->index_bytes - trace->at < width)
		return false;
	*number = number_at(trace->index + trace->at, width);
	trace->at += width;
	return true;
}

static int feed_lines(struct tracez *trace, char *text, char *end, int (*take)(struct gt_accelsim *reader, const char *line))
{
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		*stop = '\0'; /* the text has room for one more byte, and GT_SCAN_SLACK behind it */
		if (take(trace->reader, line) != 0)
			return -1;
		line = stop + 1;
	}
	return 0;
}

/* Reads the header lines and the dictionary. */
static int read_header(struct tracez *trace)
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
		return fail(trace, "header lines that end with a zero byte");
	uint64_t offset = (uint64_t)(end - text) + 1;
	gt_accelsim_begin(trace->reader);
	if (feed_lines(trace, text, end, gt_accelsim_frame) != 0 || gt_accelsim_announce(trace->reader) != 0 ||
	    read_number(trace, 4, offset, &dictionary) != 0)
		return -1;
	if (dictionary == 0)
		return 0;
	if (dictionary > trace->size)
		return fail(trace, "more bytes");
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
		return fail(trace, "an index");
	if (offset > trace->size - 12)
		return fail(trace, "the offset of an index");
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
		return fail(trace, "more bytes");
	unsigned char *packed = gt_grown_to(trace->packed, bytes, &trace->packed_capacity, 1);
	if (!packed)
		return gt_fail_memory(trace->reader->error, "a trace");
	trace->packed = packed;
	if (read_at(trace, packed, bytes, *offset + 4) != 0)
		return -1;
	*offset += 4 + bytes;
	unsigned long long length = ZSTD_getFrameContentSize(packed, bytes);
	if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR || length > PIECE_MAX)
		return fail(trace, "Zstandard frames that say their length");
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

	if (!next(trace, 4, &instructions) || !next(trace, 4, &pieces) || !next(trace, 8, &offset))
		return fail(trace, "more bytes in the index");
	if (gt_accelsim_begin_warp(reader, warp) != 0)
		return -1;
	reader->place = GT_ACCELSIM_IN_INSTRUCTIONS;
	reader->expected = instructions;
	reader->found = 0;
	if (offset > trace->size)
		return fail(trace, "offsets within the file");
	offset += 8; /* the same two numbers */
	for (uint64_t i = 0; i < pieces; i++)
		if (read_piece(trace, &offset) != 0)
			return -1;
	for (uint64_t i = 0; i < pieces; i++)
		if (!next(trace, 4, &ignored))
			return fail(trace, "more bytes in the index");
	return reader->found == instructions ? 0 : fail(trace, "as many instructions as the index says");
}

static int read_block(struct tracez *trace)
{
	uint64_t at[3], warps, ignored;
	struct gt_error *error = trace->reader->error;

	for (int i = 0; i < 3; i++)
		if (!next(trace, 4, &at[i]))
			return fail(trace, "more bytes in the index");
	for (int i = 0; i < CLUSTER_FIELDS; i++)
		if (!next(trace, 4, &ignored))
			return fail(trace, "more bytes in the index");
	if (!next(trace, 4, &warps))
		return fail(trace, "more bytes in the index");
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

static int read_all(struct tracez *trace)
{
	uint64_t blocks;

	if (read_header(trace) != 0 || read_index(trace) != 0)
		return -1;
	trace->reader->grouped = true;
	if (!next(trace, 4, &blocks))
		return fail(trace, "more bytes in the index");
	for (uint64_t i = 0; i < blocks; i++)
		if (read_block(trace) != 0)
			return -1;
	return trace->at == trace->index_bytes ? 0 : fail(trace, "fewer bytes in the index");
}

bool gt_tracez_named(const char *path)
{
	size_t length = strlen(path), end = sizeof ".tracez" - 1;

	return length > end && strcmp(path + length - end, ".tracez") == 0;
}

int gt_tracez_read(struct gt_accelsim *reader)
{
	struct tracez trace = {.reader = reader, .file = open(gt_input_path(reader->input), O_RDONLY | O_CLOEXEC)};
	struct stat status;
	int result = -1;

	if (trace.file < 0 || fstat(trace.file, &status) != 0)
		gt_fail_errno(reader->error, "%s", gt_input_name(reader->input));
	else if (!S_ISREG(status.st_mode))
		fail(&trace, "a file that can be read in any order");
	else if (!(trace.context = ZSTD_createDCtx()))
		gt_fail_memory(reader->error, "a trace");
	else {
		trace.size = (uint64_t)status.st_size;
		result = read_all(&trace);
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
