/* SPDX-License-Identifier: MIT */
/* The rows of a group of blocks, as records. */
#include "stream/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grown.h"
#include "stream/records.h"

/* Names and sizes of a record's columns are 150 bytes, and a row is about 10: a fiftieth of so many rows. */
#define ROWS_LEAST (GT_ROWS_BATCH / 4)
#define BYTES_MAX ((size_t)1 << 20) /* of kept records outside of the store */

/* Moves the last records into the store. */
static int put_away(struct gt_recorded_rows *made, struct gt_error *error)
{
	struct gt_recorded_piece *grown = gt_grown(made->stored, made->stored_n, &made->stored_capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "accesses");
	made->stored = grown;
	struct gt_recorded_piece *next = &grown[made->stored_n];
	unsigned char *data = gt_store_take(&made->store, made->bytes.n, &next->segment, error);
	if (!data)
		return -1;
	memcpy(data, made->bytes.data, made->bytes.n);
	gt_store_put_aside(next->segment, data, made->bytes.n);
	next->data = data;
	next->n = made->bytes.n;
	made->stored_n++;
	made->bytes.n = 0;
	return 0;
}

static int keep(struct gt_recorded_rows *made, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_slice all = {rows, 0, rows->n, 0, rows->n_lanes};

	gt_rows_pack(&made->bytes, &all, 1);
	if (made->bytes.failed)
		return gt_fail_memory(error, "accesses");
	made->rows += rows->n;
	return made->bytes.n >= made->most ? put_away(made, error) : 0;
}

/* Rows that are a batch, or have other columns than those to come. */
static int make_record(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_recorded_rows *made = context;
	int result = made->writer ? gt_write_rows(made->writer, rows, error) : keep(made, rows, error);

	rows->n = rows->n_lanes = 0;
	return result;
}

int gt_recorded_rows_open(struct gt_recorded_rows *made, struct gt_writer *writer, uint64_t memory, struct gt_error *error)
{
	*made = (struct gt_recorded_rows){
		.sink = {gt_rows_new(GT_ROWS_BATCH, error), make_record, made},
		.writer = writer,
		.most = memory < BYTES_MAX ? (size_t)memory : BYTES_MAX,
	};
	gt_store_open(&made->store, memory - made->most, gt_temporary_directory());
	return made->sink.rows ? 0 : -1;
}

void gt_recorded_rows_close(struct gt_recorded_rows *made)
{
	gt_rows_free(made->sink.rows);
	gt_store_close(&made->store);
	free(made->stored);
	free(made->bytes.data);
}

int gt_recorded_rows_end(struct gt_recorded_rows *made, struct gt_error *error)
{
	return made->sink.rows->n >= ROWS_LEAST ? make_record(made, made->sink.rows, error) : 0;
}

static int pass_records(const struct gt_recorded_rows *made, struct gt_writer *writer, struct gt_error *error)
{
	for (size_t i = 0; i < made->stored_n; i++)
		if (gt_writer_put(writer, made->stored[i].data, made->stored[i].n, 0, error) != 0)
			return -1;
	return gt_writer_put(writer, made->bytes.data, made->bytes.n, made->rows, error);
}

/* Passes on rows by columns. */
static int pass_rows(const struct gt_rows *rows, struct gt_sink *to, struct gt_error *error)
{
	int result = gt_sink_begin_as(to, rows, error);

	for (size_t first = 0, n; result == 0 && first < rows->n; first += n) {
		if (gt_sink_room(to, error) != 0)
			return -1;
		n = to->rows->capacity - to->rows->n;
		n = n < rows->n - first ? n : rows->n - first;
		result = gt_rows_join(to->rows, rows, first, n, error);
	}
	return result;
}

int gt_recorded_rows_pass(struct gt_recorded_rows *made, struct gt_writer *writer, struct gt_error *error)
{
	int result = made->rows > 0 ? pass_records(made, writer, error) : 0;

	if (result == 0 && made->sink.rows->n > 0)
		result = pass_rows(made->sink.rows, gt_writer_sink(writer), error);
	gt_recorded_rows_drop(made);
	return result;
}

void gt_recorded_rows_drop(struct gt_recorded_rows *made)
{
	for (size_t i = 0; i < made->stored_n; i++)
		gt_store_release(&made->store, made->stored[i].segment);
	made->stored_n = made->bytes.n = made->rows = 0;
	made->sink.rows->n = made->sink.rows->n_lanes = 0;
}
