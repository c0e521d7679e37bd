/* SPDX-License-Identifier: MIT */
/* The batches of a stream through a stage in several threads, which unpack, model and pack different batches at a time. What is
 * written is the same to the byte as by one thread. Records that are no batches are the caller's, when no batch is under
 * way. */
#ifndef GT_STREAM_RELAY_H
#define GT_STREAM_RELAY_H

#include "base/error.h"
#include "stream/rebatch.h"
#include "stream/rows.h"
#include "stream/stream.h"

/* A batch that is under way. */
struct gt_relay_item {
	struct gt_rows *rows;  /* that were read */
	struct gt_chunk *made; /* requests that the stage makes of them, in their order, and the sink for them */
	struct gt_sink sink;
	void *own; /* of the stage */
};

/* A stage: its functions return 0, or -1 with the error set. All but `take` and `gather` see the batches in order. */
struct gt_relay_stage {
	size_t own_bytes; /* of each item, zero at first */
	void (*close_own)(void *own); /* NULL: nothing to free */
	int (*take)(void *context, struct gt_relay_item *item, struct gt_error *error);
	/* If there are lanes: each serves a part of the batch; then they are gathered. */
	unsigned lanes;
	int (*serve)(void *context, struct gt_relay_item *item, unsigned lane, struct gt_error *error);
	int (*gather)(void *context, struct gt_relay_item *item, struct gt_error *error);
	/* Adds what was counted to what earlier batches have. */
	int (*count)(void *context, struct gt_relay_item *item, struct gt_error *error);
	void *context;
};

struct gt_relay;

/* NULL on error. The stage is copied; reader and writer are the caller's. */
struct gt_relay *gt_relay_open(const struct gt_relay_stage *stage, unsigned jobs, struct gt_reader *reader,
			       struct gt_writer *writer, struct gt_error *error);
/* Ends the threads. Batches that are under way are dropped. */
void gt_relay_close(struct gt_relay *relay);

/* Sends the batch of the reader's last record (gt_read_record) off. Returns 0, or -1 with the error of the first batch that
 * failed. */
int gt_relay_put(struct gt_relay *relay, struct gt_error *error);

/* Waits until no batch is under way; rows that make no whole batch are in the writer's sink. Returns 0, or -1 with the error
 * of the first batch that failed: then nothing is written any more. */
int gt_relay_drain(struct gt_relay *relay, struct gt_error *error);

#endif
