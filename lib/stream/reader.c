/* SPDX-License-Identifier: MIT */
/* Reading a stream (stream/stream.h): its bytes are cut into records; the header comes first; what another record holds is taken by its
 * kind. */
#include "stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grown.h"
#include "base/input.h"
#include "stream/records.h"

/* ---- the bytes of a stream, cut into records ---- */

struct frames {
	int descriptor;
	char name[256];
	/* The bytes that were read: [record, begin) is the last record, [begin, end) is not parsed yet. */
	unsigned char *buffer;
	size_t capacity, record, begin, end;
	size_t tried; /* bytes of an incomplete record when it was last parsed */
	bool at_end;
	msgpack_unpacked unpacked;
	uint64_t records; /* that were found good */
};

#define CHUNK (256U << 10) /* bytes asked of the descriptor at once */

/* Puts the stream's name and the record's number, from 1, before the error. Returns -1. */
static int place(const struct frames *frames, uint64_t record, struct gt_error *error)
{
	const struct gt_error reason = *error;

	return gt_fail(error, "%s: record %" PRIu64 ": %.500s", frames->name, record, reason.text);
}

/* The error of the record that is read. Returns -1. */
static int fail(const struct frames *frames, struct gt_error *error, const char *what)
{
	gt_fail(error, "%s", what);
	return place(frames, frames->records + 1, error);
}

/* Makes room for another chunk after `end`; moves the bytes still needed to the front. */
static int make_room(struct frames *frames, struct gt_error *error)
{
	size_t kept = frames->end - frames->begin;

	if (frames->begin > 0)
		memmove(frames->buffer, frames->buffer + frames->begin, kept);
	frames->record = frames->begin = 0;
	frames->end = kept;
	if (kept + CHUNK <= frames->capacity)
		return 0;
	unsigned char *buffer = gt_grown_to(frames->buffer, 2 * (kept + CHUNK), &frames->capacity, 1);
	if (!buffer)
		return gt_fail_memory(error, "a record");
	frames->buffer = buffer;
	return 0;
}

static int fill(struct frames *frames, struct gt_error *error)
{
	ssize_t n;

	if (frames->end - frames->begin > GT_RECORD_MAX)
		return fail(frames, error, "longer than any record may be: damaged, or not a gtrace stream");
	if (make_room(frames, error) != 0)
		return -1;
	do
		n = read(frames->descriptor, frames->buffer + frames->end, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gt_fail_errno(error, "%s", frames->name);
	frames->at_end = n == 0;
	frames->end += (size_t)n;
	return 0;
}

/* Unpacks the next record. Returns 1, 0 at the end of input, -1 on error. */
static int next_frame(struct frames *frames, struct gt_error *error)
{
	for (;;) {
		size_t offset = 0, available = frames->end - frames->begin;
		/* Parsing an incomplete record again only once it has grown by half takes linear time in all. */
		bool worth = available > 0 && (available >= frames->tried + frames->tried / 2 || frames->at_end);
		if (worth && gt_objects_count(frames->buffer + frames->begin, available) > GT_OBJECTS_MAX)
			return fail(frames, error, "more objects than any record may have: damaged, or not a gtrace stream");
		if (worth) {
			msgpack_unpack_return result = msgpack_unpack_next(
				&frames->unpacked, (const char *)frames->buffer + frames->begin, available, &offset);
			if (result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES) {
				frames->record = frames->begin;
				frames->begin += offset;
				frames->tried = 0;
				return 1;
			}
			if (result != MSGPACK_UNPACK_CONTINUE)
				return fail(frames, error, "damaged, or not a gtrace stream");
			frames->tried = available;
		}
		if (frames->at_end)
			return available > 0 ? fail(frames, error, "the input ends inside it") : 0;
		if (fill(frames, error) != 0)
			return -1;
	}
}

/* The last record's kind and its arguments, if it is an array that begins with a string; else NULL. */
static const msgpack_object_array *frame_arguments(const struct frames *frames)
{
	const msgpack_object *object = &frames->unpacked.data;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size < 1 ||
	    object->via.array.ptr[0].type != MSGPACK_OBJECT_STR)
		return NULL;
	return &object->via.array;
}

/* Its bytes, valid until the next record. */
static const unsigned char *frame_bytes(const struct frames *frames, size_t *bytes)
{
	*bytes = frames->begin - frames->record;
	return frames->buffer + frames->record;
}

/* `head`: bytes that were taken from the descriptor before. Returns 0, or -1 when memory is short; it is closed in either case. */
static int open_frames(struct frames *frames, int descriptor, const char *name, const void *head, size_t head_bytes,
		   struct gt_error *error)
{
	*frames = (struct frames){.descriptor = descriptor, .capacity = head_bytes + CHUNK, .end = head_bytes};
	snprintf(frames->name, sizeof frames->name, "%s", name);
	msgpack_unpacked_init(&frames->unpacked);
	frames->buffer = malloc(frames->capacity);
	if (!frames->buffer)
		return gt_fail_memory(error, "a stream");
	if (head_bytes > 0)
		memcpy(frames->buffer, head, head_bytes);
	return 0;
}

static void close_frames(struct frames *frames)
{
	msgpack_unpacked_destroy(&frames->unpacked);
	free(frames->buffer);
}

/* ---- the header ---- */

/* Tool, version and arguments of one history entry, with tabs between; tabs and newlines inside a
 * word become spaces. NULL when memory is short. */
static char *history_line(const msgpack_object *entry)
{
	static const char *const keys[] = {"tool", "version", "argv"};
	struct gt_bytes line = {0};

	for (int k = 0; k < 3; k++) {
		const msgpack_object *value = gt_object_get(entry, keys[k]);
		bool many = value && value->type == MSGPACK_OBJECT_ARRAY;
		uint32_t n = !value ? 0 : many ? value->via.array.size : 1;
		const msgpack_object *words = many ? value->via.array.ptr : value;
		for (uint32_t i = 0; i < n; i++) {
			if (words[i].type != MSGPACK_OBJECT_STR)
				continue;
			if (line.n > 0)
				gt_bytes_write(&line, "\t", 1);
			for (uint32_t c = 0; c < words[i].via.str.size; c++) {
				char byte = words[i].via.str.ptr[c];
				gt_bytes_write(&line, strchr("\t\n", byte) ? " " : &byte, 1);
			}
		}
	}
	gt_bytes_write(&line, "", 1);
	if (line.failed) {
		free(line.data);
		return NULL;
	}
	return (char *)line.data;
}

static int keep_history(struct frames *frames, const msgpack_object *history, char ***lines, struct gt_error *error)
{
	char **kept = calloc((size_t)history->via.array.size + 1, sizeof *kept);

	*lines = kept;
	if (!kept)
		return gt_fail_memory(error, "a stream's history");
	for (uint32_t i = 0; i < history->via.array.size; i++) {
		const msgpack_object *entry = &history->via.array.ptr[i];
		if (entry->type != MSGPACK_OBJECT_MAP)
			return fail(frames, error, "header: expected maps in 'history'");
		kept[i] = history_line(entry);
		if (!kept[i])
			return gt_fail_memory(error, "a stream's history");
	}
	return 0;
}

/* Reads it. The history is one line a filter, of words with tabs between, up to a NULL, which free_history frees; NULL if
 * the header has none. Returns 0, or -1: the history may have been begun then. */
static int read_header(struct frames *frames, char ***lines, struct gt_error *error)
{
	int result = next_frame(frames, error);

	if (result < 0)
		return -1;
	if (result == 0)
		return gt_fail(error, "%s: empty: expected a gtrace stream", frames->name);
	const msgpack_object_array *header = frame_arguments(frames);
	const char *tool = gt_compression_tool(frames->buffer + frames->record, frames->end - frames->record);
	if (tool)
		return gt_fail(error, "%s: compressed: '%s -dc' makes the stream of it", frames->name, tool);
	if (!header || !gt_object_is(&header->ptr[0], "gtrace"))
		return gt_fail(error, "%s: not a gtrace stream (gtrace-order makes one of a trace)", frames->name);
	if (header->size != 3 || header->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    header->ptr[2].type != MSGPACK_OBJECT_MAP)
		return fail(frames, error, "header: expected a version and a map");
	if (header->ptr[1].via.u64 < 1 || header->ptr[1].via.u64 > GT_STREAM_VERSION)
		return gt_fail(error, "%s: stream version %" PRIu64 ": this program reads versions 1 to %d", frames->name,
			       header->ptr[1].via.u64, GT_STREAM_VERSION);
	const msgpack_object *history = gt_object_get(&header->ptr[2], "history");
	if (history && history->type != MSGPACK_OBJECT_ARRAY)
		return fail(frames, error, "header: expected an array as 'history'");
	return history ? keep_history(frames, history, lines, error) : 0;
}

static void free_history(char **history)
{
	for (char **line = history; line && *line; line++)
		free(*line);
	free(history);
}

/* ---- the other records, by their kinds ---- */

struct gt_reader {
	struct frames frames;
	bool told_failure; /* a record `failed` was read */
	bool keeps_turns, keeps_spans;

	XXH3_state_t *checksum;
	uint64_t rows_read, bytes_read;
	size_t record_rows; /* of the last record */
	enum gt_rows_kind record_kind;

	struct gt_kernel kernel;
	bool has_kernel;
	struct gt_gpu gpu;
	bool has_gpu;
	struct gt_count count;
	struct gt_rows *rows, *room; /* room: that their requests take, if a row was several; NULL: none was */

	char **history; /* lines, up to a NULL; owned */
};

/* A fuzzer cannot guess checksums: then damage must be found without them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKSUM false
#else
#define CHECKSUM true
#endif

static enum gt_event take_rows(struct gt_reader *reader, enum gt_rows_kind kind,
			       const msgpack_object_array *record, struct gt_error *error)
{
	if (record->size != 3 || record->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    record->ptr[1].via.u64 < 1 || record->ptr[1].via.u64 > GT_ROWS_MAX ||
	    record->ptr[2].type != MSGPACK_OBJECT_MAP) {
		fail(&reader->frames, error, "expected a number of rows, at most 65536, and their columns");
		return GT_FAILED;
	}
	if (!reader->has_kernel) {
		fail(&reader->frames, error, "rows of a kernel that was never announced");
		return GT_FAILED;
	}
	reader->record_kind = kind;
	reader->record_rows = (size_t)record->ptr[1].via.u64;
	reader->rows_read += reader->record_rows;
	return GT_ROWS;
}

static enum gt_event take_accesses(struct gt_reader *reader, const msgpack_object_array *record,
				   struct gt_error *error)
{
	return take_rows(reader, GT_ACCESSES, record, error);
}

static enum gt_event take_requests(struct gt_reader *reader, const msgpack_object_array *record,
				   struct gt_error *error)
{
	return take_rows(reader, GT_REQUESTS, record, error);
}

static bool has_map(const msgpack_object_array *record)
{
	return record->size == 2 && record->ptr[1].type == MSGPACK_OBJECT_MAP;
}

static enum gt_event take_kernel(struct gt_reader *reader, const msgpack_object_array *record,
				 struct gt_error *error)
{
	struct gt_error inner = {"kernel: expected a map"};

	if (!has_map(record) || gt_kernel_unpack(&record->ptr[1], &reader->kernel, &inner) != 0) {
		fail(&reader->frames, error, inner.text);
		return GT_FAILED;
	}
	reader->has_kernel = true;
	return GT_KERNEL;
}

static enum gt_event take_gpu(struct gt_reader *reader, const msgpack_object_array *record,
			      struct gt_error *error)
{
	struct gt_error inner = {"gpu: expected a map"};

	if (!has_map(record) || gt_gpu_unpack(&record->ptr[1], &reader->gpu, &inner) != 0) {
		fail(&reader->frames, error, inner.text);
		return GT_FAILED;
	}
	reader->has_gpu = true;
	return GT_GPU;
}

static enum gt_event take_count(struct gt_reader *reader, const msgpack_object_array *record,
				struct gt_error *error)
{
	struct gt_error inner = {"count: expected a map"};

	if (!has_map(record) || gt_count_unpack(&record->ptr[1], &reader->count, &inner) != 0) {
		fail(&reader->frames, error, inner.text);
		return GT_FAILED;
	}
	return GT_COUNT;
}

static enum gt_event take_end(struct gt_reader *reader, const msgpack_object_array *record,
			      struct gt_error *error)
{
	const msgpack_object *rows = has_map(record) ? gt_object_get(&record->ptr[1], "rows") : NULL;
	const msgpack_object *sum = has_map(record) ? gt_object_get(&record->ptr[1], "xxh3") : NULL;
	int more;

	if (!rows || !sum || rows->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    sum->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		fail(&reader->frames, error, "end: expected 'rows' and 'xxh3'");
	else if (CHECKSUM && sum->via.u64 != XXH3_64bits_digest(reader->checksum))
		fail(&reader->frames, error, "end: the checksum differs: the stream is damaged");
	else if (rows->via.u64 != reader->rows_read)
		fail(&reader->frames, error, "end: the number of rows differs: the stream is damaged");
	else if ((more = next_frame(&reader->frames, error)) > 0)
		fail(&reader->frames, error, "data after the end of the stream");
	else if (more == 0)
		return GT_END;
	return GT_FAILED;
}

/* The text of a record `failed` under a key; empty if it has none. */
static void copy_text(const msgpack_object_array *record, const char *key, char *text, size_t size)
{
	const msgpack_object *value = has_map(record) ? gt_object_get(&record->ptr[1], key) : NULL;
	bool is_text = value && value->type == MSGPACK_OBJECT_STR;

	snprintf(text, size, "%.*s", is_text ? (int)value->via.str.size : 0, is_text ? value->via.str.ptr : "");
}

static enum gt_event take_failure(struct gt_reader *reader, const msgpack_object_array *record,
				  struct gt_error *error)
{
	char tool[64], text[512];

	copy_text(record, "tool", tool, sizeof tool);
	copy_text(record, "error", text, sizeof text);
	reader->told_failure = true;
	gt_fail(error, "%s: %s failed: %s", reader->frames.name, tool, text);
	return GT_FAILED;
}

static enum gt_event take_header(struct gt_reader *reader, const msgpack_object_array *record,
				 struct gt_error *error)
{
	(void)record;
	fail(&reader->frames, error, "a second header: streams cannot be concatenated");
	return GT_FAILED;
}

static const struct {
	const char *kind;
	enum gt_event (*take)(struct gt_reader *reader, const msgpack_object_array *record,
			      struct gt_error *error);
} kinds[] = {
	{"access", take_accesses}, {"request", take_requests}, {"kernel", take_kernel},
	{"gpu", take_gpu},	   {"count", take_count},      {"end", take_end},
	{"gtrace", take_header},   {"failed", take_failure},
};

/* Takes what a record holds, by its kind; the columns of rows stay in it. Returns GT_OTHER for a kind that is not known, GT_FAILED with
 * the error set. */
static enum gt_event take(struct gt_reader *reader, const msgpack_object_array *record, struct gt_error *error)
{
	reader->record_rows = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		if (gt_object_is(&record->ptr[0], kinds[k].kind))
			return kinds[k].take(reader, record, error);
	return GT_OTHER;
}

/* ---- the reader ---- */

/* Adds a valid record to the checksum. */
static void acknowledge(struct gt_reader *reader)
{
	size_t n;
	const unsigned char *bytes = frame_bytes(&reader->frames, &n);

	XXH3_64bits_update(reader->checksum, bytes, n);
	reader->bytes_read += n;
	reader->frames.records++;
}

bool gt_is_stream(const void *head, size_t bytes)
{
	return bytes >= 8 && memcmp(head, "\x93\xa6gtrace", 8) == 0;
}

struct gt_reader *gt_reader_open(int descriptor, const char *name, const void *head, size_t head_bytes,
				 struct gt_error *error)
{
	struct gt_reader *reader = calloc(1, sizeof *reader);

	if (!reader) {
		gt_fail_memory(error, "a stream");
		return NULL;
	}
	reader->checksum = XXH3_createState();
	reader->rows = gt_rows_new(GT_ROWS_BATCH, error);
	if (open_frames(&reader->frames, descriptor, name, head, head_bytes, error) != 0 || !reader->checksum || !reader->rows) {
		gt_fail_memory(error, "a stream");
		gt_reader_close(reader);
		return NULL;
	}
	XXH3_64bits_reset(reader->checksum);
	if (read_header(&reader->frames, &reader->history, error) != 0) {
		gt_reader_close(reader);
		return NULL;
	}
	acknowledge(reader);
	return reader;
}

void gt_reader_close(struct gt_reader *reader)
{
	if (!reader)
		return;
	free_history(reader->history);
	close_frames(&reader->frames);
	XXH3_freeState(reader->checksum);
	gt_kernel_clear(&reader->kernel);
	gt_gpu_clear(&reader->gpu);
	gt_count_clear(&reader->count);
	gt_rows_free(reader->rows);
	gt_rows_free(reader->room);
	free(reader);
}

enum gt_event gt_read_record(struct gt_reader *reader, struct gt_error *error)
{
	int result = next_frame(&reader->frames, error);

	if (result < 0)
		return GT_FAILED;
	if (result == 0) {
		gt_fail(error, "%s: ends after record %" PRIu64 " without an 'end': the program before it failed, or the file is cut",
			reader->frames.name, reader->frames.records);
		return GT_FAILED;
	}
	const msgpack_object_array *record = frame_arguments(&reader->frames);
	if (!record) {
		fail(&reader->frames, error, "expected an array that begins with its kind");
		return GT_FAILED;
	}
	enum gt_event event = take(reader, record, error);
	if (event > GT_END)
		acknowledge(reader);
	return event;
}

int gt_reader_unpack(struct gt_reader *reader, struct gt_error *error)
{
	const msgpack_object *columns = &reader->frames.unpacked.data.via.array.ptr[2];

	if (gt_rows_unpack(&reader->rows, reader->record_kind, reader->record_rows, columns, &reader->kernel, error) != 0)
		return place(&reader->frames, reader->frames.records, error);
	if (!reader->keeps_turns)
		gt_rows_drop_turns(reader->rows);
	return reader->keeps_spans ? 0 : gt_rows_spread(&reader->rows, &reader->room, error);
}

void gt_reader_keep_turns(struct gt_reader *reader)
{
	reader->keeps_turns = true;
}

void gt_reader_keep_spans(struct gt_reader *reader)
{
	reader->keeps_spans = true;
}

enum gt_event gt_read(struct gt_reader *reader, struct gt_error *error)
{
	enum gt_event event = gt_read_record(reader, error);

	return event == GT_ROWS && gt_reader_unpack(reader, error) != 0 ? GT_FAILED : event;
}

const struct gt_kernel *gt_reader_kernel(const struct gt_reader *reader)
{
	return reader->has_kernel ? &reader->kernel : NULL;
}

const struct gt_gpu *gt_reader_gpu(const struct gt_reader *reader)
{
	return reader->has_gpu ? &reader->gpu : NULL;
}

struct gt_rows *gt_reader_rows(struct gt_reader *reader)
{
	return reader->rows;
}

const struct gt_count *gt_reader_count(const struct gt_reader *reader)
{
	return &reader->count;
}

bool gt_reader_told_failure(const struct gt_reader *reader)
{
	return reader->told_failure;
}

uint64_t gt_reader_records(const struct gt_reader *reader)
{
	return reader->frames.records;
}

uint64_t gt_reader_rows_read(const struct gt_reader *reader)
{
	return reader->rows_read;
}

uint64_t gt_reader_bytes_read(const struct gt_reader *reader)
{
	return reader->bytes_read;
}

const char *const *gt_reader_history(const struct gt_reader *reader)
{
	static const char *const none[] = {NULL};

	return reader->history ? (const char *const *)reader->history : none;
}

int gt_reader_place(const struct gt_reader *reader, uint64_t record, struct gt_error *error)
{
	return place(&reader->frames, record, error);
}

struct gt_raw_record gt_reader_record(const struct gt_reader *reader)
{
	struct gt_raw_record record = {
		.number = reader->frames.records, .rows = reader->record_rows, .kind = reader->record_kind};

	record.bytes = frame_bytes(&reader->frames, &record.n);
	return record;
}

bool gt_reader_record_hints(const struct gt_reader *reader)
{
	return gt_object_get(&reader->frames.unpacked.data.via.array.ptr[2], "hint") != NULL;
}
