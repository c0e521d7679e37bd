/* SPDX-License-Identifier: MIT */
/* Writing a stream (stream/stream.h): the header, records that are packed here or were packed elsewhere (stream/records.h), and the end with
 * the checksum. */
#include <errno.h>
#include <inttypes.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/records.h"
#include "stream/stream.h"

#define FLUSH_AT (64U << 10)   /* buffered bytes at which they are written */
#define DIRECTLY_AT (16U << 10) /* bytes of records that are written without being copied into the buffer */

struct gt_writer {
	int descriptor;
	bool broken; /* a write failed: whatever followed it would be read as a part of its record */
	struct gt_bytes bytes;
	msgpack_packer packer;
	XXH3_state_t *checksum;
	uint64_t rows_written;
	void (*take)(void *context, const unsigned char *data, size_t n); /* gets a copy of what is written; NULL: nobody does */
	void *taker;
	struct gt_output output;
};

/* ---- the header ---- */

/* The next word of a line of words with tabs between, and where the following one begins. */
static const char *pack_word(msgpack_packer *packer, const char *line)
{
	size_t n = strcspn(line, "\t");

	msgpack_pack_str_with_body(packer, line, n);
	return line[n] ? line + n + 1 : line + n;
}

static void pack_history_entry(msgpack_packer *packer, const char *line)
{
	size_t words = *line ? 1 : 0;

	for (const char *at = line; *at; at++)
		words += *at == '\t';
	msgpack_pack_map(packer, 3);
	gt_pack_text(packer, "tool");
	line = pack_word(packer, line);
	gt_pack_text(packer, "version");
	line = pack_word(packer, line);
	gt_pack_text(packer, "argv");
	msgpack_pack_array(packer, words > 2 ? words - 2 : 0);
	for (size_t i = 2; i < words; i++)
		line = pack_word(packer, line);
}

static void pack_header(msgpack_packer *packer, const char *const *history, const char *tool, const char *version, char *const argv[])
{
	size_t entries = 0, words = 0;

	while (history && history[entries])
		entries++;
	while (argv[words])
		words++;
	gt_pack_begin(packer, "gtrace", 3);
	msgpack_pack_int(packer, GT_STREAM_VERSION);
	msgpack_pack_map(packer, 1);
	gt_pack_text(packer, "history");
	msgpack_pack_array(packer, entries + 1);
	for (size_t i = 0; i < entries; i++)
		pack_history_entry(packer, history[i]);
	msgpack_pack_map(packer, 3);
	gt_pack_text(packer, "tool");
	gt_pack_text(packer, tool);
	gt_pack_text(packer, "version");
	gt_pack_text(packer, version);
	gt_pack_text(packer, "argv");
	msgpack_pack_array(packer, words);
	for (size_t i = 0; i < words; i++)
		gt_pack_text(packer, argv[i]);
}

/* ---- bytes ---- */

static int write_all(int descriptor, const unsigned char *data, size_t n, struct gt_error *error)
{
	while (n > 0) {
		ssize_t done = write(descriptor, data, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return gt_fail_errno(error, "standard output");
		data += done;
		n -= (size_t)done;
	}
	return 0;
}

static int put(struct gt_writer *writer, const unsigned char *data, size_t n, struct gt_error *error)
{
	XXH3_64bits_update(writer->checksum, data, n);
	if (writer->take)
		writer->take(writer->taker, data, n);
	int result = write_all(writer->descriptor, data, n, error);
	writer->broken = result != 0;
	return result;
}

static int flush(struct gt_writer *writer, struct gt_error *error)
{
	if (writer->bytes.failed)
		return gt_fail_memory(error, "a record");
	int result = put(writer, writer->bytes.data, writer->bytes.n, error);
	writer->bytes.n = 0;
	return result;
}

static int flush_if_full(struct gt_writer *writer, struct gt_error *error)
{
	return writer->bytes.n >= FLUSH_AT || writer->bytes.failed ? flush(writer, error) : 0;
}

/* Begins a record: an array of `size` whose first element is its kind. */
static msgpack_packer *begin(struct gt_writer *writer, const char *kind, size_t size)
{
	gt_pack_begin(&writer->packer, kind, size);
	return &writer->packer;
}

static int flush_sink(void *context, struct gt_rows *rows, struct gt_error *error)
{
	return gt_write_rows(context, rows, error) != 0 ? -1 : (int)(rows->n = rows->n_lanes = 0);
}

static int write_kernel(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	return gt_write_kernel(context, kernel, error);
}

static int write_count(void *context, const struct gt_count *count, struct gt_error *error)
{
	return gt_write_count(context, count, error);
}

struct gt_writer *gt_writer_open(int descriptor, const char *const *history, const char *tool,
				 const char *version, char *const argv[], struct gt_error *error)
{
	struct gt_writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		gt_fail_memory(error, "a stream");
		return NULL;
	}
	writer->descriptor = descriptor;
	msgpack_packer_init(&writer->packer, &writer->bytes, gt_bytes_write);
	writer->checksum = XXH3_createState();
	writer->output = (struct gt_output){
		.kernel = write_kernel, .count = write_count, .context = writer,
		.rows = {gt_rows_new(GT_ROWS_BATCH, error), flush_sink, writer}};
	if (!writer->checksum || !writer->output.rows.rows) {
		gt_fail_memory(error, "a stream");
		gt_writer_close(writer);
		return NULL;
	}
	XXH3_64bits_reset(writer->checksum);
	pack_header(&writer->packer, history, tool, version, argv);
	return writer;
}

/* Writes pending rows, which must precede the next record. */
static int flush_rows(struct gt_writer *writer, struct gt_error *error)
{
	return writer->output.rows.rows->n > 0 ? flush_sink(writer, writer->output.rows.rows, error) : 0;
}

int gt_write_gpu(struct gt_writer *writer, const struct gt_gpu *gpu, struct gt_error *error)
{
	if (flush_rows(writer, error) != 0)
		return -1;
	gt_gpu_pack(begin(writer, "gpu", 2), gpu);
	return flush_if_full(writer, error);
}

int gt_write_kernel(struct gt_writer *writer, const struct gt_kernel *kernel, struct gt_error *error)
{
	if (flush_rows(writer, error) != 0)
		return -1;
	gt_kernel_pack(begin(writer, "kernel", 2), kernel);
	return flush_if_full(writer, error);
}

int gt_write_count(struct gt_writer *writer, const struct gt_count *count, struct gt_error *error)
{
	if (flush_rows(writer, error) != 0)
		return -1;
	const size_t before = writer->bytes.n;
	gt_count_pack(begin(writer, "count", 2), count);
	/* Two objects an entry, and one an element. */
	if (writer->bytes.n - before > GT_RECORD_MAX || 2 * (uint64_t)count->n + count->elements + 8 > GT_OBJECTS_MAX) {
		writer->bytes.n = before;
		return gt_fail(error, "stage %s, kernel %" PRIu64 ": %zu counters with %zu elements are more than a record of a stream may have: count by what is fewer",
			       count->stage, count->kernel, count->n, count->elements);
	}
	return flush_if_full(writer, error);
}

int gt_write_rows(struct gt_writer *writer, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->n > 0 && rows != writer->output.rows.rows && flush_rows(writer, error) != 0)
		return -1;
	/* Requests are more than a record may have if rows that were several of them have been expanded. */
	for (size_t first = 0, n; first < rows->n; first += n) {
		n = rows->kind == GT_ACCESSES || rows->n - first < GT_ROWS_MAX ? rows->n - first : GT_ROWS_MAX;
		const struct gt_slice some = {rows, first, n, 0, rows->kind == GT_ACCESSES ? rows->n_lanes : 0};
		gt_rows_pack(&writer->bytes, &some, 1);
		writer->rows_written += n;
		if (flush_if_full(writer, error) != 0)
			return -1;
	}
	return 0;
}

int gt_writer_put(struct gt_writer *writer, const unsigned char *records, size_t n, size_t rows, struct gt_error *error)
{
	if (flush_rows(writer, error) != 0)
		return -1;
	writer->rows_written += rows;
	if (n >= DIRECTLY_AT)
		return flush(writer, error) != 0 ? -1 : put(writer, records, n, error);
	gt_bytes_write(&writer->bytes, (const char *)records, n);
	return flush_if_full(writer, error);
}

int gt_writer_pass(struct gt_writer *writer, const struct gt_reader *reader, struct gt_error *error)
{
	const struct gt_raw_record record = gt_reader_record(reader);

	return gt_writer_put(writer, record.bytes, record.n, record.rows, error);
}

uint64_t gt_writer_tee(struct gt_writer *writer, void (*take)(void *context, const unsigned char *data, size_t n), void *context,
		       struct gt_error *error)
{
	if (gt_writer_flush(writer, error) != 0)
		return GT_WRITER_FAILED;
	writer->take = take;
	writer->taker = context;
	return writer->rows_written;
}

struct gt_output *gt_writer_output(struct gt_writer *writer)
{
	return &writer->output;
}

int gt_writer_flush(struct gt_writer *writer, struct gt_error *error)
{
	return flush_rows(writer, error) != 0 ? -1 : flush(writer, error);
}

int gt_writer_finish(struct gt_writer *writer, struct gt_error *error)
{
	if (gt_writer_flush(writer, error) != 0)
		return -1;
	/* The checksum covers all that precedes the end record, so that must be flushed first. */
	msgpack_packer *packer = begin(writer, "end", 2);
	msgpack_pack_map(packer, 2);
	gt_pack_text(packer, "rows");
	msgpack_pack_uint64(packer, writer->rows_written);
	gt_pack_text(packer, "xxh3");
	msgpack_pack_uint64(packer, XXH3_64bits_digest(writer->checksum));
	return flush(writer, error);
}

int gt_writer_fail(struct gt_writer *writer, const char *tool, const char *text, struct gt_error *error)
{
	if (writer->broken)
		return 0;
	writer->output.rows.rows->n = 0;
	msgpack_packer *packer = begin(writer, "failed", 2);
	msgpack_pack_map(packer, 2);
	gt_pack_text(packer, "tool");
	gt_pack_text(packer, tool);
	gt_pack_text(packer, "error");
	gt_pack_text(packer, text);
	return flush(writer, error);
}

int gt_writer_leave(struct gt_writer *writer, struct gt_writer_left *left, struct gt_error *error)
{
	_Static_assert(sizeof(XXH3_state_t) <= sizeof left->checksum, "the state of a checksum");

	if (gt_writer_flush(writer, error) != 0)
		return -1;
	memcpy(left->checksum, writer->checksum, sizeof *writer->checksum);
	left->rows = writer->rows_written;
	return 0;
}

void gt_writer_resume(struct gt_writer *writer, const struct gt_writer_left *left)
{
	writer->bytes.n = 0;
	memcpy(writer->checksum, left->checksum, sizeof *writer->checksum);
	writer->rows_written = left->rows;
}

void gt_writer_close(struct gt_writer *writer)
{
	if (!writer)
		return;
	gt_rows_free(writer->output.rows.rows);
	free(writer->bytes.data);
	XXH3_freeState(writer->checksum);
	free(writer);
}
