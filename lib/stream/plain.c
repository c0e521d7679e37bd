/* SPDX-License-Identifier: MIT */
/* A stream for readers in other languages (stream/views.h): as plain msgpack, which is written and read; and the schema of its columns. */
#include "stream/views.h"

#include <inttypes.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "stream/op.h"
#include "stream/records.h"
#include "stream/rows.h"

#define PLAIN_VERSION 1

/* The elements that every access and every request has. */
enum { PLAIN_ACCESS_ELEMENTS = 8, PLAIN_REQUEST_ELEMENTS = 9 };

/* The optional elements of a row, in their order. */
enum { PLAIN_STEP, PLAIN_SM, PLAIN_STATUS, PLAIN_LATENCY, PLAIN_HINT, PLAIN_WORK, PLAIN_SHARED, PLAIN_FURTHER };

/* ---- writing ---- */

/* The names of a row's elements, in their order; `lanes` of an access is an array. */
static const char *const access_names[] = {"block", "warp", "an", "pc", "op", "size", "mask", "addresses"};
static const char *const request_names[] = {"block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes"};

static void pack_names(msgpack_packer *packer, const char *kind, const char *const *names, size_t n)
{
	gt_pack_text(packer, kind);
	msgpack_pack_array(packer, n);
	for (size_t i = 0; i < n; i++)
		gt_pack_text(packer, names[i]);
}

void gt_plain_begin(struct gt_bytes *out, const char *const *history)
{
	msgpack_packer packer;
	size_t lines = 0;

	while (history && history[lines])
		lines++;
	msgpack_packer_init(&packer, out, gt_bytes_write);
	msgpack_pack_array(&packer, 3);
	gt_pack_text(&packer, "gtrace-rows");
	msgpack_pack_int(&packer, PLAIN_VERSION);
	msgpack_pack_map(&packer, 3);
	gt_pack_text(&packer, "history");
	msgpack_pack_array(&packer, lines);
	for (size_t i = 0; i < lines; i++)
		gt_pack_text(&packer, history[i]);
	pack_names(&packer, "access", access_names, PLAIN_ACCESS_ELEMENTS);
	pack_names(&packer, "request", request_names, PLAIN_REQUEST_ELEMENTS);
}

/* The number of optional elements in rows of this shape, up to the last that is present. */
static unsigned further(const struct gt_rows *rows)
{
	return rows->has_shared ? PLAIN_SHARED + 1 : rows->has_work ? PLAIN_WORK + 1 : rows->has_hints ? PLAIN_HINT + 1 : rows->has_latency ? PLAIN_LATENCY + 1 : rows->has_status ? PLAIN_STATUS + 1 : rows->scheduled ? PLAIN_SM + 1 : 0;
}

static void pack_further(msgpack_packer *packer, const struct gt_rows *rows, size_t i, unsigned f)
{
	if (f == PLAIN_SHARED)
		msgpack_pack_uint32(packer, rows->shared[i]);
	else if (f == PLAIN_WORK && rows->has_work)
		msgpack_pack_uint32(packer, rows->work[i]);
	else if (f == PLAIN_HINT && rows->has_hints)
		msgpack_pack_uint16(packer, rows->hint[i]);
	else if (f == PLAIN_LATENCY && rows->has_latency)
		msgpack_pack_uint32(packer, rows->latency[i]);
	else if (f == PLAIN_STATUS && rows->has_status)
		msgpack_pack_uint8(packer, rows->status[i]);
	else if (f == PLAIN_STEP && rows->scheduled)
		msgpack_pack_uint64(packer, rows->step[i]);
	else if (f == PLAIN_SM && rows->scheduled)
		msgpack_pack_uint16(packer, rows->sm[i]);
	else
		msgpack_pack_nil(packer);
}

static void pack_row(msgpack_packer *packer, const struct gt_rows *rows, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE];

	msgpack_pack_array(packer, (rows->kind == GT_ACCESSES ? PLAIN_ACCESS_ELEMENTS : PLAIN_REQUEST_ELEMENTS) + further(rows));
	msgpack_pack_uint32(packer, rows->block[i]);
	msgpack_pack_uint16(packer, rows->warp[i]);
	msgpack_pack_uint32(packer, rows->an[i]);
	msgpack_pack_uint32(packer, rows->pc[i]);
	msgpack_pack_uint8(packer, rows->op[i]);
	if (rows->kind == GT_ACCESSES) {
		unsigned n = gt_rows_addresses(rows, i, addresses);
		msgpack_pack_uint8(packer, rows->size[i]);
		msgpack_pack_uint32(packer, rows->mask[i]);
		msgpack_pack_array(packer, n);
		for (unsigned l = 0; l < n; l++)
			msgpack_pack_uint64(packer, addresses[l]);
	} else {
		msgpack_pack_uint64(packer, rows->address[i]);
		msgpack_pack_uint8(packer, rows->sectors[i]);
		msgpack_pack_uint8(packer, rows->full[i]);
		msgpack_pack_uint8(packer, rows->threads[i]);
	}
	for (unsigned f = 0; f < further(rows); f++)
		pack_further(packer, rows, i, f);
}

void gt_plain_put(struct gt_bytes *out, struct gt_reader *reader, enum gt_event event)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, gt_bytes_write);
	if (event == GT_ROWS) {
		const struct gt_rows *rows = gt_reader_rows(reader);
		for (size_t i = 0; i < rows->n; i++)
			pack_row(&packer, rows, i);
		return;
	}
	if (event != GT_KERNEL && event != GT_GPU && event != GT_COUNT)
		return;
	msgpack_pack_array(&packer, 2);
	if (event == GT_KERNEL) {
		gt_pack_text(&packer, "kernel");
		gt_kernel_pack(&packer, gt_reader_kernel(reader));
	} else if (event == GT_GPU) {
		gt_pack_text(&packer, "gpu");
		gt_gpu_pack(&packer, gt_reader_gpu(reader));
	} else {
		gt_pack_text(&packer, "count");
		gt_count_pack(&packer, gt_reader_count(reader));
	}
}

void gt_plain_end(struct gt_bytes *out)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, gt_bytes_write);
	msgpack_pack_array(&packer, 1);
	gt_pack_text(&packer, "end");
}

/* ---- reading ---- */

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
	void *const columns[PLAIN_FURTHER] = {row->step, row->sm, row->status, row->latency, row->hint, row->work, row->shared};
	static const unsigned widths[PLAIN_FURTHER] = {8, 2, 1, 4, 2, 4, 4};
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
	row->has_shared = has[PLAIN_SHARED];
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
		return gt_fail(error, "a row of %u elements: expected 8 (an access) or 9 (a request), 2 if scheduled, then status, latency, hint, work and shared",
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

/* ---- the schema ---- */

/* "u4" for an unsigned element of 4 bytes, "i8" for a signed one of 8. */
static void write_columns(enum gt_rows_kind kind, FILE *to)
{
	for (size_t i = 0, n = 0; i < gt_columns_n; i++) {
		const struct gt_column *column = &gt_columns[i];
		if (kind == GT_ACCESSES ? column->in_access : column->in_request)
			fprintf(to, "%s\"%s\": \"%c%u\"", n++ > 0 ? ", " : "", column->name, column->is_signed ? 'i' : 'u', column->width);
	}
	/* Of lanes, not of rows. */
	if (kind == GT_ACCESSES)
		fputs(", \"lanes\": \"u8\"", to);
}

static void write_ops(FILE *to)
{
	char name[GT_OP_TEXT];

	for (unsigned op = 0, n = 0; op <= UINT8_MAX; op++)
		if (gt_op_valid((uint8_t)op))
			fprintf(to, "%s\"%u\": \"%s\"", n++ > 0 ? ", " : "", op, gt_op_format((uint8_t)op, name));
}

static void write_statuses(FILE *to)
{
	for (unsigned status = 0; status < GT_STATUSES; status++)
		fprintf(to, "%s\"%s\"", status > 0 ? ", " : "", gt_status_names[status]);
}

void gt_schema_write(FILE *to)
{
	fputs("{\n \"columns\": {\n  \"access\": {", to);
	write_columns(GT_ACCESSES, to);
	fputs("},\n  \"request\": {", to);
	write_columns(GT_REQUESTS, to);
	fprintf(to, "}\n },\n \"stride_lanes\": %" PRIi64 ",\n \"ops\": {", GT_STRIDE_LANES);
	write_ops(to);
	fputs("},\n \"statuses\": [", to);
	write_statuses(to);
	fputs("]\n}\n", to);
}
