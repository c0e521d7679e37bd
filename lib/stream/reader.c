/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/header.h"
#include "stream/reader_parts.h"
#include "stream/records.h"
#include "stream/unpack.h"

/* Adds a valid record to the checksum. */
static void acknowledge(struct gt_reader *reader)
{
	size_t n;
	const unsigned char *bytes = gt_frames_bytes(&reader->frames, &n);

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
	if (gt_frames_open(&reader->frames, descriptor, name, head, head_bytes, error) != 0 || !reader->checksum || !reader->rows) {
		gt_fail_memory(error, "a stream");
		gt_reader_close(reader);
		return NULL;
	}
	XXH3_64bits_reset(reader->checksum);
	if (gt_header_read(&reader->frames, &reader->history, error) != 0) {
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
	gt_history_free(reader->history);
	gt_frames_close(&reader->frames);
	XXH3_freeState(reader->checksum);
	gt_kernel_clear(&reader->kernel);
	gt_gpu_clear(&reader->gpu);
	gt_count_clear(&reader->count);
	gt_rows_free(reader->rows);
	free(reader);
}

enum gt_event gt_read_record(struct gt_reader *reader, struct gt_error *error)
{
	int result = gt_frames_next(&reader->frames, error);

	if (result < 0)
		return GT_FAILED;
	if (result == 0) {
		gt_fail(error, "%s: ends after record %" PRIu64 " without an 'end': the program before it failed, or the file is cut",
			reader->frames.name, reader->frames.records);
		return GT_FAILED;
	}
	const msgpack_object_array *record = gt_frames_arguments(&reader->frames);
	if (!record) {
		gt_frames_fail(&reader->frames, error, "expected an array that begins with its kind");
		return GT_FAILED;
	}
	enum gt_event event = gt_reader_take(reader, record, error);
	if (event > GT_END)
		acknowledge(reader);
	return event;
}

int gt_reader_unpack(struct gt_reader *reader, struct gt_error *error)
{
	const msgpack_object *columns = &reader->frames.unpacked.data.via.array.ptr[2];

	if (gt_rows_unpack(&reader->rows, reader->record_kind, reader->record_rows, columns, &reader->kernel, error) != 0)
		return gt_frames_place(&reader->frames, reader->frames.records, error);
	if (!reader->keeps_turns)
		gt_rows_drop_turns(reader->rows);
	return 0;
}

void gt_reader_keep_turns(struct gt_reader *reader)
{
	reader->keeps_turns = true;
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
	return gt_frames_place(&reader->frames, record, error);
}

const unsigned char *gt_reader_record(const struct gt_reader *reader, size_t *bytes)
{
	return gt_frames_bytes(&reader->frames, bytes);
}

size_t gt_reader_record_rows(const struct gt_reader *reader)
{
	return reader->record_rows;
}

bool gt_reader_record_hints(const struct gt_reader *reader)
{
	return gt_object_get(&reader->frames.unpacked.data.via.array.ptr[2], "hint") != NULL;
}

enum gt_rows_kind gt_reader_record_kind(const struct gt_reader *reader)
{
	return reader->record_kind;
}
