/* SPDX-License-Identifier: MIT */
#include "stream/plain.h"

#include <inttypes.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "stream/check.h"
#include "stream/objects.h"
#include "stream/plain_form.h"
#include "stream/records.h"

#define CHUNK 65536 /* bytes that are read at a time */

struct plain {
	struct gt_writer *writer;
	int descriptor;
	const char *tool, *version;
	char *const *argv;
	struct gt_kernel kernel;
	bool has_kernel, ended;
	struct gt_gpu gpu;
	struct gt_count count;
	struct gt_rows *row;
	uint64_t objects; /* taken so far */
};

static int take_header(struct plain *to, const msgpack_object_array *object, struct gt_error *error)
{
	char **lines = NULL;
	uint32_t n = 0;

	if (to->writer || object->size != 3 || object->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    object->ptr[1].via.u64 != PLAIN_VERSION || object->ptr[2].type != MSGPACK_OBJECT_MAP)
		return gt_fail(error, "expected one [\"gtrace-rows\", %d, {...}] at the beginning", PLAIN_VERSION);
	const msgpack_object *history = gt_object_get(&object->ptr[2], "history");
	if (history && history->type == MSGPACK_OBJECT_ARRAY)
		n = history->via.array.size;
	lines = calloc((size_t)n + 1, sizeof *lines);
	size_t kept = 0;
	for (uint32_t i = 0; lines && i < n; i++) {
		const msgpack_object *line = &history->via.array.ptr[i];
		if (line->type == MSGPACK_OBJECT_STR && (lines[kept] = calloc(1, (size_t)line->via.str.size + 1)))
			memcpy(lines[kept++], line->via.str.ptr, line->via.str.size);
	}
	if (lines)
		to->writer = gt_writer_open(to->descriptor, (const char *const *)lines, to->tool, to->version, to->argv,
					    error);
	else
		gt_fail_memory(error, "a stream's history");
	for (size_t i = 0; i < kept; i++)
		free(lines[i]);
	free(lines);
	return to->writer ? 0 : -1;
}

/* An unsigned element of at most `width` bytes, stored into a column. */
static int element(const msgpack_object *object, void *column, unsigned width)
{
	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER || (width < 8 && object->via.u64 >> (8 * width) != 0))
		return -1;
	memcpy(column, &object->via.u64, width);
	return 0;
}

static int take_addresses(struct gt_rows *row, const msgpack_object *object, struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE];
	uint32_t n = object->type == MSGPACK_OBJECT_ARRAY ? object->via.array.size : 0;

	if (n == 0 || n != (uint32_t)__builtin_popcount(row->mask[0]))
		return gt_fail(error, "expected an address for each active lane");
	for (uint32_t l = 0; l < n; l++)
		if (element(&object->via.array.ptr[l], &addresses[l], 8) != 0)
			return gt_fail(error, "expected addresses below 2^64");
	return gt_rows_set_addresses(row, 0, row->mask[0], addresses, error);
}

/* Reads the n optional elements from `at`; nil: the row has no such column. */
static int take_further(struct gt_rows *row, const msgpack_object *at, uint32_t n)
{
	void *const columns[PLAIN_FURTHER] = {row->step, row->sm, row->status, row->latency, row->hint, row->work};
	static const unsigned widths[PLAIN_FURTHER] = {8, 2, 1, 4, 2, 4};
	bool has[PLAIN_FURTHER] = {false};
	int bad = 0;

	for (uint32_t f = 0; f < n; f++) {
		has[f] = at[f].type != MSGPACK_OBJECT_NIL;
		bad |= has[f] ? element(&at[f], columns[f], widths[f]) : 0;
	}
	row->scheduled = has[PLAIN_STEP];
	row->has_status = has[PLAIN_STATUS];
	row->has_latency = has[PLAIN_LATENCY];
	row->has_hints = has[PLAIN_HINT];
	row->has_work = has[PLAIN_WORK];
	return bad != 0 || has[PLAIN_STEP] != has[PLAIN_SM] || (row->kind == GT_ACCESSES && (has[PLAIN_STATUS] || has[PLAIN_LATENCY])) ? -1 : 0;
}

static int take_row(struct plain *to, const msgpack_object_array *object, struct gt_error *error)
{
	struct gt_rows *row = to->row;
	const msgpack_object *at = object->ptr;
	struct gt_sink *sink = to->writer ? gt_writer_sink(to->writer) : NULL;
	bool access = object->size >= PLAIN_ACCESS_ELEMENTS && at[PLAIN_ACCESS_ELEMENTS - 1].type == MSGPACK_OBJECT_ARRAY;
	uint32_t least = access ? PLAIN_ACCESS_ELEMENTS : PLAIN_REQUEST_ELEMENTS;

	if (!sink || !to->has_kernel)
		return gt_fail(error, "a row before a kernel was announced");
	uint32_t more = object->size - least;
	if (object->size < least || more == 1 || more > PLAIN_FURTHER)
		return gt_fail(error, "a row of %u elements: expected 8 (an access) or 9 (a request), 2 if scheduled, then status, latency, hint and work",
			       object->size);
	row->kind = access ? GT_ACCESSES : GT_REQUESTS;
	row->n = 1;
	row->n_lanes = 0;
	int bad = element(&at[0], row->block, 4) | element(&at[1], row->warp, 2) | element(&at[2], row->an, 4) |
		  element(&at[3], row->pc, 4) | element(&at[4], row->op, 1);
	if (access)
		bad |= element(&at[5], row->size, 1) | element(&at[6], row->mask, 4);
	else
		bad |= element(&at[5], row->address, 8) | element(&at[6], row->sectors, 1) |
		       element(&at[7], row->full, 1) | element(&at[8], row->threads, 1);
	bad |= take_further(row, at + least, more);
	if (bad)
		return gt_fail(error, "a row with an element that is no number or does not fit its column");
	if (access && take_addresses(row, &at[7], error) != 0)
		return -1;
	if (gt_rows_check(row, &to->kernel, error) != 0 ||
	    gt_sink_begin_as(sink, row, error) != 0 || gt_sink_room(sink, error) != 0)
		return -1;
	return gt_rows_copy(sink->rows, row, 0, error);
}

static int take_record(struct plain *to, const msgpack_object_array *object, struct gt_error *error)
{
	const msgpack_object *kind = &object->ptr[0];
	bool map = object->size == 2 && object->ptr[1].type == MSGPACK_OBJECT_MAP;

	if (gt_object_is(kind, "gtrace-rows"))
		return take_header(to, object, error);
	if (!to->writer)
		return gt_fail(error, "expected [\"gtrace-rows\", %d, {...}] first", PLAIN_VERSION);
	if (gt_object_is(kind, "end")) {
		to->ended = true;
		return 0;
	}
	if (gt_object_is(kind, "kernel") && map) {
		to->has_kernel = true;
		return gt_kernel_unpack(&object->ptr[1], &to->kernel, error) != 0
			       ? -1
			       : gt_write_kernel(to->writer, &to->kernel, error);
	}
	if (gt_object_is(kind, "gpu") && map)
		return gt_gpu_unpack(&object->ptr[1], &to->gpu, error) != 0 ? -1
									    : gt_write_gpu(to->writer, &to->gpu, error);
	if (gt_object_is(kind, "count") && map)
		return gt_count_unpack(&object->ptr[1], &to->count, error) != 0
			       ? -1
			       : gt_write_count(to->writer, &to->count, error);
	return gt_fail(error, "expected a row, \"kernel\", \"gpu\", \"count\" or \"end\"");
}

static int take_object(struct plain *to, const msgpack_object *object, struct gt_error *error)
{
	if (to->ended)
		return gt_fail(error, "data after the end");
	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size == 0)
		return gt_fail(error, "expected an array");
	if (object->via.array.ptr[0].type == MSGPACK_OBJECT_STR)
		return take_record(to, &object->via.array, error);
	return take_row(to, &object->via.array, error);
}

/* Whether the object that begins where the last one ended claims more than any may have, as far as it has been read: the library
 * would allocate for it. */
static bool claims_too_much(const msgpack_unpacker *unpacker)
{
	return gt_objects_count((const unsigned char *)unpacker->buffer + unpacker->off, unpacker->used - unpacker->off) > GT_OBJECTS_MAX;
}

/* Reads objects until the input ends; `inner` holds the error of the last one. */
static int read_objects(struct plain *to, struct gt_input *input, msgpack_unpacker *unpacker,
			struct gt_error *error)
{
	msgpack_unpacked unpacked;
	msgpack_unpack_return found = MSGPACK_UNPACK_CONTINUE;
	struct gt_error inner = {"damaged msgpack"};
	long n;

	msgpack_unpacked_init(&unpacked);
	for (;;) {
		for (bool begins = unpacker->parsed == 0;; begins = true) {
			if (begins && claims_too_much(unpacker))
				goto bad;
			if ((found = msgpack_unpacker_next(unpacker, &unpacked)) != MSGPACK_UNPACK_SUCCESS)
				break;
			if (take_object(to, &unpacked.data, &inner) != 0)
				goto bad;
			to->objects++;
		}
		if (found != MSGPACK_UNPACK_CONTINUE || msgpack_unpacker_message_size(unpacker) > GT_RECORD_MAX)
			goto bad;
		if (!msgpack_unpacker_reserve_buffer(unpacker, CHUNK)) {
			gt_fail_memory(&inner, "an object");
			goto bad;
		}
		n = gt_input_bytes(input, msgpack_unpacker_buffer(unpacker), CHUNK, error);
		if (n <= 0)
			break;
		msgpack_unpacker_buffer_consumed(unpacker, (size_t)n);
	}
	msgpack_unpacked_destroy(&unpacked);
	if (n == 0 && !to->ended)
		return gt_fail(error, "%s: no [\"end\"]: the program before it failed, or the data is cut",
			       gt_input_name(input));
	return n < 0 ? -1 : gt_writer_finish(to->writer, error);
bad:
	msgpack_unpacked_destroy(&unpacked);
	return gt_fail(error, "%s: object %" PRIu64 ": %s", gt_input_name(input), to->objects + 1, inner.text);
}

int gt_plain_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		       char *const argv[], struct gt_error *error)
{
	struct plain to = {.descriptor = descriptor, .tool = tool, .version = version, .argv = argv};
	msgpack_unpacker unpacker;
	int result = -1;

	to.row = gt_rows_new(1, error);
	if (!to.row)
		return -1;
	if (msgpack_unpacker_init(&unpacker, MSGPACK_UNPACKER_INIT_BUFFER_SIZE)) {
		result = read_objects(&to, input, &unpacker, error);
		msgpack_unpacker_destroy(&unpacker);
	} else {
		gt_fail_memory(error, "an unpacker");
	}
	gt_rows_free(to.row);
	gt_kernel_clear(&to.kernel);
	gt_gpu_clear(&to.gpu);
	gt_count_clear(&to.count);
	gt_writer_close(to.writer);
	return result;
}
