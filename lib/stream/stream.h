/* SPDX-License-Identifier: MIT */
/* The stream that the tools pipe to each other, gtrace(5): for each kernel its launch, batches of rows (stream/rows.h), and what the
 * stages counted. It is a sequence of msgpack records, framed by msgpack-c, checked by XXH3. A reader returns one event at a time;
 * a writer takes them. Neither prints or exits. */
#ifndef GT_STREAM_STREAM_H
#define GT_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/trace.h"

GT_PUBLIC_BEGIN

#define GT_STREAM_VERSION 3 /* that is written; those before it are read */
#define GT_RECORD_MAX (32U << 20) /* bytes a record may have */

enum gt_event {
	GT_FAILED = -1, /* the error says why; nothing more can be read */
	GT_END,		/* the whole stream was read and its checksum is right */
	GT_KERNEL,	/* a launch begins: gt_reader_kernel */
	GT_ROWS,	/* a batch: gt_reader_rows */
	GT_COUNT,	/* what a stage counted: gt_reader_count */
	GT_GPU,		/* the GPU description: gt_reader_gpu */
	GT_OTHER,	/* a kind this version does not know: pass it on with gt_writer_pass */
};

struct gt_reader;
struct gt_writer;

/* Whether data that begins with these bytes is a stream. */
bool gt_is_stream(const void *head, size_t bytes);

/* Starts reading a stream from a descriptor, which stays the caller's; `name` is for messages.
 * Reads and checks the header. `head` are bytes already taken from the descriptor (may be NULL).
 * NULL on error. */
struct gt_reader *gt_reader_open(int descriptor, const char *name, const void *head,
				 size_t head_bytes, struct gt_error *error);
void gt_reader_close(struct gt_reader *reader);

/* The next event. Rows are checked against the kernel they belong to: block, warp and lanes in
 * range, sizes and sectors valid. Rows before any kernel are an error, and so is the end of input before the
 * end record. */
enum gt_event gt_read(struct gt_reader *reader, struct gt_error *error);

/* Rows shall have the turns of shared memory too (gtrace(5)), which otherwise are taken out of them. */
void gt_reader_keep_turns(struct gt_reader *reader);

/* A row of requests may be several of them (stream/rows.h); otherwise each is a row. */
void gt_reader_keep_spans(struct gt_reader *reader);

/* What the last event of that kind held; valid until the next gt_read. kernel and gpu stay valid
 * (NULL before the first). */
const struct gt_kernel *gt_reader_kernel(const struct gt_reader *reader);
const struct gt_gpu *gt_reader_gpu(const struct gt_reader *reader);
struct gt_rows *gt_reader_rows(struct gt_reader *reader);
const struct gt_count *gt_reader_count(const struct gt_reader *reader);

/* After GT_FAILED: whether the stream itself says that the stage which wrote it failed, with that stage's message as the
 * error; else what was read is not a whole stream. */
bool gt_reader_told_failure(const struct gt_reader *reader);

uint64_t gt_reader_records(const struct gt_reader *reader); /* records read so far, header included */
uint64_t gt_reader_rows_read(const struct gt_reader *reader);
uint64_t gt_reader_bytes_read(const struct gt_reader *reader);

/* The filters the stream has passed, oldest first, up to a NULL: of each its name, version and
 * arguments in one line, with tabs between. */
const char *const *gt_reader_history(const struct gt_reader *reader);

/* Starts a stream on a descriptor, which stays the caller's: the header, with an earlier history
 * (as gt_reader_history gives it; may be NULL) and one entry for this tool. NULL on error. */
struct gt_writer *gt_writer_open(int descriptor, const char *const *history, const char *tool,
				 const char *version, char *const argv[], struct gt_error *error);

int gt_write_gpu(struct gt_writer *writer, const struct gt_gpu *gpu, struct gt_error *error);
int gt_write_kernel(struct gt_writer *writer, const struct gt_kernel *kernel, struct gt_error *error);
int gt_write_rows(struct gt_writer *writer, const struct gt_rows *rows, struct gt_error *error);
int gt_write_count(struct gt_writer *writer, const struct gt_count *count, struct gt_error *error);

/* Passes the reader's last event on, byte for byte if nothing was changed. */
int gt_writer_pass(struct gt_writer *writer, const struct gt_reader *reader, struct gt_error *error);

/* The output that writes to this stream, with a batch of GT_ROWS_BATCH rows that the writer owns; and the sink
 * for its rows. */
struct gt_output *gt_writer_output(struct gt_writer *writer);
static inline struct gt_sink *gt_writer_sink(struct gt_writer *writer)
{
	return &gt_writer_output(writer)->rows;
}

/* Writes the rows left in the sink, and all buffered bytes. */
int gt_writer_flush(struct gt_writer *writer, struct gt_error *error);
/* The same and the end record. */
int gt_writer_finish(struct gt_writer *writer, struct gt_error *error);
/* Ends a stream in the place of gt_writer_finish, when the tool failed with this text: a record `failed`, by which readers
 * tell a failure that was reported from a stream that was cut. Pending rows are dropped. */
int gt_writer_fail(struct gt_writer *writer, const char *tool, const char *text, struct gt_error *error);
/* Frees the writer. A stream that was not finished has no end record, which readers report as an error. */
void gt_writer_close(struct gt_writer *writer);

GT_PUBLIC_END

#endif
