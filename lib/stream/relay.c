/* SPDX-License-Identifier: MIT */
/* The batches of a stream in several threads (stream/relay.h): a pipeline of which each item is a record that was read, the rows that a
 * stage makes of it, and the records that these become. */
#include "stream/relay.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/pipeline.h"
#include "stream/rebatch.h"
#include "stream/records.h"

/* What an item has besides what its stage knows. */
struct item {
	struct gt_relay_item stage;
	struct gt_bytes record; /* as it was read */
	uint64_t record_number;
	size_t rows_n;
	enum gt_rows_kind kind;
	msgpack_unpacked unpacked;
	struct gt_rows *room; /* for requests of which several were a row */
	struct gt_batch_records records;
};

struct gt_relay {
	struct gt_relay_stage stage;
	struct gt_reader *reader;
	struct gt_writer *writer;
	struct gt_pipeline *pipeline;
	struct item *items;
	size_t items_n;
	struct gt_chunks chunks;
	/* Of the batches that are under way; else of none. */
	bool under_way;
	struct gt_kernel kernel; /* a copy, which owns nothing: the reader may have read the next one */
	struct gt_rebatch rebatch;
};

/* ---- the steps ---- */

static int unpack(struct gt_relay *relay, struct item *item, struct gt_error *error)
{
	size_t offset = 0;

	if (msgpack_unpack_next(&item->unpacked, (const char *)item->record.data, item->record.n, &offset) !=
	    MSGPACK_UNPACK_SUCCESS)
		return gt_fail_memory(error, "a record");
	if (gt_rows_unpack(&item->stage.rows, item->kind, item->rows_n, &item->unpacked.data.via.array.ptr[2], &relay->kernel,
			   error) != 0)
		return gt_reader_place(relay->reader, item->record_number, error);
	gt_rows_drop_turns(item->stage.rows);
	return gt_rows_spread(&item->stage.rows, &item->room, error);
}

static int take(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;
	struct item *item = of;

	(void)lane;
	if (unpack(relay, item, error) != 0)
		return -1;
	item->stage.made = gt_chunk_take(&relay->chunks, error);
	if (!item->stage.made)
		return -1;
	item->stage.sink = gt_sink_that_grows(item->stage.made->rows);
	return relay->stage.take(relay->stage.context, &item->stage, error);
}

static int serve(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;

	return relay->stage.serve(relay->stage.context, &((struct item *)of)->stage, lane, error);
}

static int gather(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;

	(void)lane;
	return relay->stage.gather(relay->stage.context, &((struct item *)of)->stage, error);
}

static int rebatch(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;
	struct item *item = of;

	(void)lane;
	if (relay->stage.count && relay->stage.count(relay->stage.context, &item->stage, error) != 0)
		return -1;
	return gt_rebatch_add(&relay->rebatch, &relay->chunks, item->stage.made, &item->records.batches, error);
}

static int pack(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;
	struct item *item = of;

	(void)lane;
	return gt_batch_records_pack(&item->records, &relay->chunks, &item->stage.made, error);
}

static int write_out(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct gt_relay *relay = context;
	const struct item *item = of;

	(void)lane;
	return gt_writer_put(relay->writer, item->records.bytes.data, item->records.bytes.n, item->records.rows, error);
}

/* ---- opening ---- */

static int open_item(struct item *item, const struct gt_relay_stage *stage, struct gt_error *error)
{
	msgpack_unpacked_init(&item->unpacked);
	item->stage.rows = gt_rows_new(GT_ROWS_BATCH, error);
	item->stage.own = calloc(1, stage->own_bytes + 1);
	return item->stage.rows && item->stage.own ? 0 : gt_fail_memory(error, "a batch of rows");
}

static void close_item(struct gt_relay *relay, struct item *item)
{
	msgpack_unpacked_destroy(&item->unpacked);
	gt_rows_free(item->stage.rows);
	gt_rows_free(item->room);
	if (relay->stage.close_own && item->stage.own)
		relay->stage.close_own(item->stage.own);
	free(item->stage.own);
	gt_chunk_release(&relay->chunks, item->stage.made);
	free(item->record.data);
	gt_batch_records_close(&item->records, &relay->chunks);
}

static struct gt_pipeline *open_pipeline(struct gt_relay *relay, unsigned jobs, struct gt_error *error)
{
	const struct gt_step with_lanes[] = {{take, 0}, {serve, relay->stage.lanes}, {gather, 0}, {rebatch, 1}, {pack, 0},
					     {write_out, 1}};
	const struct gt_step without[] = {{take, 0}, {rebatch, 1}, {pack, 0}, {write_out, 1}};
	const struct gt_pipeline_items items = {relay->items, sizeof *relay->items, relay->items_n};
	const bool lanes = relay->stage.lanes > 0;

	for (size_t i = 0; i < relay->items_n; i++)
		if (open_item(&relay->items[i], &relay->stage, error) != 0)
			return NULL;
	return gt_pipeline_open(jobs, lanes ? with_lanes : without, lanes ? 6 : 4, relay, items, error);
}

struct gt_relay *gt_relay_open(const struct gt_relay_stage *stage, unsigned jobs, struct gt_reader *reader,
			       struct gt_writer *writer, struct gt_error *error)
{
	struct gt_relay *relay = calloc(1, sizeof *relay);

	if (!relay) {
		gt_fail_memory(error, "threads");
		return NULL;
	}
	relay->stage = *stage;
	relay->reader = reader;
	relay->writer = writer;
	gt_chunks_open(&relay->chunks);
	/* One that each thread works on, as many that wait, and one that is read. */
	relay->items_n = 2 * jobs + 1;
	relay->items = calloc(relay->items_n, sizeof *relay->items);
	if (!relay->items)
		gt_fail_memory(error, "threads");
	if (relay->items && (relay->pipeline = open_pipeline(relay, jobs, error)))
		return relay;
	gt_relay_close(relay);
	return NULL;
}

void gt_relay_close(struct gt_relay *relay)
{
	if (!relay)
		return;
	gt_pipeline_close(relay->pipeline);
	for (size_t i = 0; relay->items && i < relay->items_n; i++)
		close_item(relay, &relay->items[i]);
	gt_chunk_release(&relay->chunks, relay->rebatch.chunk);
	gt_chunks_close(&relay->chunks);
	free(relay->items);
	free(relay);
}

/* ---- the caller ---- */

/* Moves the rows of a sink, which is then empty, into a rebatch that has none. Returns 0, or -1. */
static int take_rows(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_rows *rows, struct gt_error *error)
{
	*rebatch = (struct gt_rebatch){.chunk = NULL};
	if (rows->n == 0)
		return 0;
	struct gt_chunk *chunk = gt_chunk_take(chunks, error);
	if (!chunk)
		return -1;
	gt_rows_shape(chunk->rows, rows);
	gt_rows_append(chunk->rows, rows, 0, rows->n);
	*rebatch = (struct gt_rebatch){.chunk = chunk, .n = rows->n, .own = true};
	rows->n = 0;
	return 0;
}

static int begin(struct gt_relay *relay, struct gt_error *error)
{
	relay->kernel = *gt_reader_kernel(relay->reader);
	relay->under_way = true;
	return take_rows(&relay->rebatch, &relay->chunks, gt_writer_sink(relay->writer)->rows, error);
}

int gt_relay_put(struct gt_relay *relay, struct gt_error *error)
{
	struct item *item = gt_pipeline_next(relay->pipeline, error);

	if (!item || (!relay->under_way && begin(relay, error) != 0))
		return -1;
	const struct gt_raw_record record = gt_reader_record(relay->reader);
	item->record.n = 0;
	if (gt_bytes_write(&item->record, (const char *)record.bytes, record.n) != 0) {
		struct gt_error earlier;
		if (gt_pipeline_drain(relay->pipeline, &earlier) == 0)
			return gt_fail_memory(error, "a record");
		*error = earlier;
		return -1;
	}
	item->record_number = record.number;
	item->rows_n = record.rows;
	item->kind = record.kind;
	gt_pipeline_put(relay->pipeline, item);
	return 0;
}

int gt_relay_drain(struct gt_relay *relay, struct gt_error *error)
{
	if (!relay->under_way)
		return 0;
	relay->under_way = false;
	if (gt_pipeline_drain(relay->pipeline, error) != 0)
		return -1;
	return gt_rebatch_give(&relay->rebatch, &relay->chunks, gt_writer_sink(relay->writer), error);
}
