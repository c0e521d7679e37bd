/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grown.h"
#include "base/input.h"
#include "stream/columns.h"
#include "stream/objects.h"
#include "stream/reader.h"
#include "stream/records.h"
#include "stream/stream.h"
#include "stream/unpack.h"

/* A fuzzer cannot guess checksums: then damage must be found without them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKSUM false
#else
#define CHECKSUM true
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHUNK (256U << 10) /* bytes asked of the descriptor at once */

struct gt_reader {
	int descriptor;
	char name[256];

	/* The bytes that were read: [record, begin) is the last record, [begin, end) is not parsed yet. */
	unsigned char *buffer;
	size_t capacity, record, begin, end;
	size_t tried; /* bytes of an incomplete record when it was last parsed */
	bool at_end;
	bool told_failure; /* a record `failed` was read */

	msgpack_unpacked unpacked;
	XXH3_state_t *checksum;
	uint64_t records, rows_read, bytes_read;
	size_t record_rows; /* of the last record */
	enum gt_rows_kind record_kind;

	struct gt_kernel kernel;
	bool has_kernel;
	struct gt_gpu gpu;
	bool has_gpu;
	struct gt_count count;
	struct gt_rows *rows;

	char **history; /* lines, up to a NULL; owned */
};

int gt_reader_place(const struct gt_reader *reader, uint64_t record, struct gt_error *error)
{
	const struct gt_error reason = *error;

	return gt_fail(error, "%s: record %" PRIu64 ": %.500s", reader->name, record, reason.text);
}

static int fail_record(const struct gt_reader *reader, struct gt_error *error, const char *what)
{
	gt_fail(error, "%s", what);
	return gt_reader_place(reader, reader->records + 1, error);
}

/* Makes room for another chunk after `end`; moves the bytes still needed to the front. */
static int make_room(struct gt_reader *reader, struct gt_error *error)
{
	size_t kept = reader->end - reader->begin;

	if (reader->begin > 0)
		memmove(reader->buffer, reader->buffer + reader->begin, kept);
	reader->record = reader->begin = 0;
	reader->end = kept;
	if (kept + CHUNK <= reader->capacity)
		return 0;
	unsigned char *buffer = gt_grown_to(reader->buffer, 2 * (kept + CHUNK), &reader->capacity, 1);
	if (!buffer)
		return gt_fail_memory(error, "a record");
	reader->buffer = buffer;
	return 0;
}

static int fill(struct gt_reader *reader, struct gt_error *error)
{
	ssize_t n;

	if (reader->end - reader->begin > GT_RECORD_MAX)
		return fail_record(reader, error, "longer than any record may be: damaged, or not a gtrace stream");
	if (make_room(reader, error) != 0)
		return -1;
	do
		n = read(reader->descriptor, reader->buffer + reader->end, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gt_fail_errno(error, "%s", reader->name);
	reader->at_end = n == 0;
	reader->end += (size_t)n;
	return 0;
}

/* Unpacks the next record into reader->unpacked. Returns 1, 0 at the end of input, -1 on error. */
static int next_record(struct gt_reader *reader, struct gt_error *error)
{
	for (;;) {
		size_t offset = 0, available = reader->end - reader->begin;
		/* Parsing an incomplete record again only once it has grown by half takes linear time in all. */
		bool worth = available > 0 && (available >= reader->tried + reader->tried / 2 || reader->at_end);
		if (worth && gt_objects_count(reader->buffer + reader->begin, available) > GT_OBJECTS_MAX)
			return fail_record(reader, error, "more objects than any record may have: damaged, or not a gtrace stream");
		if (worth) {
			msgpack_unpack_return result = msgpack_unpack_next(
				&reader->unpacked, (const char *)reader->buffer + reader->begin, available, &offset);
			if (result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES) {
				reader->record = reader->begin;
				reader->begin += offset;
				reader->tried = 0;
				return 1;
			}
			if (result != MSGPACK_UNPACK_CONTINUE)
				return fail_record(reader, error, "damaged, or not a gtrace stream");
			reader->tried = available;
		}
		if (reader->at_end)
			return available > 0 ? fail_record(reader, error, "the input ends inside it") : 0;
		if (fill(reader, error) != 0)
			return -1;
	}
}

/* The record's kind and its arguments, if it is an array that begins with a string. */
static const msgpack_object_array *arguments(const struct gt_reader *reader)
{
	const msgpack_object *object = &reader->unpacked.data;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size < 1 ||
	    object->via.array.ptr[0].type != MSGPACK_OBJECT_STR)
		return NULL;
	return &object->via.array;
}

/* Adds a valid record to the checksum. */
static void acknowledge(struct gt_reader *reader)
{
	size_t bytes = reader->begin - reader->record;

	XXH3_64bits_update(reader->checksum, reader->buffer + reader->record, bytes);
	reader->bytes_read += bytes;
	reader->records++;
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

static int keep_history(struct gt_reader *reader, const msgpack_object *history, struct gt_error *error)
{
	reader->history = calloc((size_t)history->via.array.size + 1, sizeof *reader->history);
	if (!reader->history)
		return gt_fail_memory(error, "a stream's history");
	for (uint32_t i = 0; i < history->via.array.size; i++) {
		const msgpack_object *entry = &history->via.array.ptr[i];
		if (entry->type != MSGPACK_OBJECT_MAP)
			return fail_record(reader, error, "header: expected maps in 'history'");
		reader->history[i] = history_line(entry);
		if (!reader->history[i])
			return gt_fail_memory(error, "a stream's history");
	}
	return 0;
}

static int read_header(struct gt_reader *reader, struct gt_error *error)
{
	int result = next_record(reader, error);

	if (result < 0)
		return -1;
	if (result == 0)
		return gt_fail(error, "%s: empty: expected a gtrace stream", reader->name);
	const msgpack_object_array *header = arguments(reader);
	const char *tool = gt_compression_tool(reader->buffer + reader->record, reader->end - reader->record);
	if (tool)
		return gt_fail(error, "%s: compressed: '%s -dc' makes the stream of it", reader->name, tool);
	if (!header || !gt_object_is(&header->ptr[0], "gtrace"))
		return gt_fail(error, "%s: not a gtrace stream (gtrace-order makes one of a trace)", reader->name);
	if (header->size != 3 || header->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    header->ptr[2].type != MSGPACK_OBJECT_MAP)
		return fail_record(reader, error, "header: expected a version and a map");
	if (header->ptr[1].via.u64 != GT_STREAM_VERSION)
		return gt_fail(error, "%s: stream version %" PRIu64 ": this program reads version %d", reader->name,
			       header->ptr[1].via.u64, GT_STREAM_VERSION);
	const msgpack_object *history = gt_object_get(&header->ptr[2], "history");
	if (history && history->type != MSGPACK_OBJECT_ARRAY)
		return fail_record(reader, error, "header: expected an array as 'history'");
	if (history && keep_history(reader, history, error) != 0)
		return -1;
	acknowledge(reader);
	return 0;
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
	reader->descriptor = descriptor;
	snprintf(reader->name, sizeof reader->name, "%s", name);
	msgpack_unpacked_init(&reader->unpacked);
	reader->checksum = XXH3_createState();
	reader->rows = gt_rows_new(GT_ROWS_BATCH, error);
	reader->capacity = head_bytes + CHUNK;
	reader->buffer = malloc(reader->capacity);
	if (!reader->checksum || !reader->rows || !reader->buffer) {
		gt_fail_memory(error, "a stream");
		gt_reader_close(reader);
		return NULL;
	}
	XXH3_64bits_reset(reader->checksum);
	if (head_bytes > 0)
		memcpy(reader->buffer, head, head_bytes);
	reader->end = head_bytes;
	if (read_header(reader, error) != 0) {
		gt_reader_close(reader);
		return NULL;
	}
	return reader;
}

void gt_reader_close(struct gt_reader *reader)
{
	if (!reader)
		return;
	for (char **line = reader->history; line && *line; line++)
		free(*line);
	free(reader->history);
	msgpack_unpacked_destroy(&reader->unpacked);
	XXH3_freeState(reader->checksum);
	gt_kernel_clear(&reader->kernel);
	gt_gpu_clear(&reader->gpu);
	gt_count_clear(&reader->count);
	gt_rows_free(reader->rows);
	free(reader->buffer);
	free(reader);
}

/* ---- rows ---- */

static enum gt_event take_rows(struct gt_reader *reader, enum gt_rows_kind kind,
			       const msgpack_object_array *record, struct gt_error *error)
{
	if (record->size != 3 || record->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    record->ptr[1].via.u64 < 1 || record->ptr[1].via.u64 > GT_ROWS_MAX ||
	    record->ptr[2].type != MSGPACK_OBJECT_MAP) {
		fail_record(reader, error, "expected a number of rows, at most 65536, and their columns");
		return GT_FAILED;
	}
	if (!reader->has_kernel) {
		fail_record(reader, error, "rows of a kernel that was never announced");
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

/* ---- the other records ---- */

static bool has_map(const msgpack_object_array *record)
{
	return record->size == 2 && record->ptr[1].type == MSGPACK_OBJECT_MAP;
}

static enum gt_event take_kernel(struct gt_reader *reader, const msgpack_object_array *record,
				 struct gt_error *error)
{
	struct gt_error inner = {"kernel: expected a map"};

	if (!has_map(record) || gt_kernel_unpack(&record->ptr[1], &reader->kernel, &inner) != 0) {
		fail_record(reader, error, inner.text);
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
		fail_record(reader, error, inner.text);
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
		fail_record(reader, error, inner.text);
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
		fail_record(reader, error, "end: expected 'rows' and 'xxh3'");
	else if (CHECKSUM && sum->via.u64 != XXH3_64bits_digest(reader->checksum))
		fail_record(reader, error, "end: the checksum differs: the stream is damaged");
	else if (rows->via.u64 != reader->rows_read)
		fail_record(reader, error, "end: the number of rows differs: the stream is damaged");
	else if ((more = next_record(reader, error)) > 0)
		fail_record(reader, error, "data after the end of the stream");
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
	gt_fail(error, "%s: %s failed: %s", reader->name, tool, text);
	return GT_FAILED;
}

static enum gt_event take_header(struct gt_reader *reader, const msgpack_object_array *record,
				 struct gt_error *error)
{
	(void)record;
	fail_record(reader, error, "a second header: streams cannot be concatenated");
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

enum gt_event gt_read_record(struct gt_reader *reader, struct gt_error *error)
{
	int result = next_record(reader, error);

	if (result < 0)
		return GT_FAILED;
	if (result == 0) {
		gt_fail(error, "%s: ends after record %" PRIu64 " without an 'end': the program before it failed, or the file is cut",
			reader->name, reader->records);
		return GT_FAILED;
	}
	const msgpack_object_array *record = arguments(reader);
	if (!record) {
		fail_record(reader, error, "expected an array that begins with its kind");
		return GT_FAILED;
	}
	enum gt_event event = GT_OTHER;
	reader->record_rows = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		if (gt_object_is(&record->ptr[0], kinds[k].kind)) {
			event = kinds[k].take(reader, record, error);
			break;
		}
	if (event > GT_END)
		acknowledge(reader);
	return event;
}

int gt_reader_unpack(struct gt_reader *reader, struct gt_error *error)
{
	const msgpack_object *columns = &reader->unpacked.data.via.array.ptr[2];

	if (gt_rows_unpack(&reader->rows, reader->record_kind, reader->record_rows, columns, &reader->kernel, error) != 0)
		return gt_reader_place(reader, reader->records, error);
	return 0;
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
	return reader->records;
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

const unsigned char *gt_reader_record(const struct gt_reader *reader, size_t *bytes)
{
	*bytes = reader->begin - reader->record;
	return reader->buffer + reader->record;
}

size_t gt_reader_record_rows(const struct gt_reader *reader)
{
	return reader->record_rows;
}

enum gt_rows_kind gt_reader_record_kind(const struct gt_reader *reader)
{
	return reader->record_kind;
}
