/* SPDX-License-Identifier: MIT */
/* What records hold, by their kinds. */
#include <stdio.h>

#include "stream/objects.h"
#include "stream/reader_parts.h"
#include "stream/records.h"

/* A fuzzer cannot guess checksums: then damage must be found without them. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKSUM false
#else
#define CHECKSUM true
#endif

/* ---- rows ---- */

static enum gt_event take_rows(struct gt_reader *reader, enum gt_rows_kind kind,
			       const msgpack_object_array *record, struct gt_error *error)
{
	if (record->size != 3 || record->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    record->ptr[1].via.u64 < 1 || record->ptr[1].via.u64 > GT_ROWS_MAX ||
	    record->ptr[2].type != MSGPACK_OBJECT_MAP) {
		gt_frames_fail(&reader->frames, error, "expected a number of rows, at most 65536, and their columns");
		return GT_FAILED;
	}
	if (!reader->has_kernel) {
		gt_frames_fail(&reader->frames, error, "rows of a kernel that was never announced");
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
		gt_frames_fail(&reader->frames, error, inner.text);
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
		gt_frames_fail(&reader->frames, error, inner.text);
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
		gt_frames_fail(&reader->frames, error, inner.text);
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
		gt_frames_fail(&reader->frames, error, "end: expected 'rows' and 'xxh3'");
	else if (CHECKSUM && sum->via.u64 != XXH3_64bits_digest(reader->checksum))
		gt_frames_fail(&reader->frames, error, "end: the checksum differs: the stream is damaged");
	else if (rows->via.u64 != reader->rows_read)
		gt_frames_fail(&reader->frames, error, "end: the number of rows differs: the stream is damaged");
	else if ((more = gt_frames_next(&reader->frames, error)) > 0)
		gt_frames_fail(&reader->frames, error, "data after the end of the stream");
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
	gt_frames_fail(&reader->frames, error, "a second header: streams cannot be concatenated");
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

enum gt_event gt_reader_take(struct gt_reader *reader, const msgpack_object_array *record, struct gt_error *error)
{
	reader->record_rows = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		if (gt_object_is(&record->ptr[0], kinds[k].kind))
			return kinds[k].take(reader, record, error);
	return GT_OTHER;
}
