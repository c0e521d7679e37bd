/* SPDX-License-Identifier: MIT */
/* A stream in other forms: text, plain msgpack, Parquet, traces of Accel-Sim; and what readers in other languages need to know of its columns. */
#ifndef GT_STREAM_VIEWS_H
#define GT_STREAM_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/input.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/records.h"
#include "stream/rows.h"
#include "stream/stream.h"

/* Text (gtrace-cat(1), "Text"): a row a line, fields separated by tabs; every line that is not a row begins with '#', so that sort and
 * awk can keep them in front. */

/* ---- writing: each appends whole lines to `out` ---- */

/* "#block<tab>warp...<tab>kernel": the names of the columns that these rows have. */
void gt_tsv_columns(struct gt_bytes *out, const struct gt_rows *rows);
/* Row i, of the kernel with that id. Addresses and masks are written 0x..., or as decimal numbers. */
void gt_tsv_row(struct gt_bytes *out, const struct gt_rows *rows, size_t i, uint64_t kernel, bool decimal);
/* "#kernel<tab>id=1<tab>name=...", "#gpu<tab>key=value...", "#count<tab>stage=...". */
void gt_tsv_kernel(struct gt_bytes *out, const struct gt_kernel *kernel);
void gt_tsv_gpu(struct gt_bytes *out, const struct gt_gpu *gpu);
void gt_tsv_count(struct gt_bytes *out, const struct gt_count *count);
/* "#TAG<tab>text". */
void gt_tsv_line(struct gt_bytes *out, const char *tag, const char *text);

/* ---- reading ---- */

enum gt_tsv_event {
	GT_TSV_FAILED = -1,
	GT_TSV_NOTHING, /* a blank line, the names of columns, or a comment */
	GT_TSV_ROW,	/* one row was appended to rows; kernel_id is its kernel's */
	GT_TSV_KERNEL,
	GT_TSV_GPU,
	GT_TSV_COUNT,
	GT_TSV_HISTORY, /* text is the line of gt_reader_history */
	GT_TSV_STREAM,	/* the text was written by gtrace-cat: an "#end" must follow */
	GT_TSV_END,
};

#define GT_TSV_COLUMNS_MAX 32

struct gt_tsv {
	/* What each field holds; known once the line with the names was read. */
	size_t n_fields;
	int field_column[GT_TSV_COLUMNS_MAX]; /* index into gt_columns, or one of the private ones */
	struct gt_rows shape;		      /* no rows: which columns they carry */

	struct gt_rows *rows; /* the caller's: where rows go; must have room */
	uint64_t kernel_id;
	struct gt_kernel kernel;
	struct gt_gpu gpu;
	struct gt_count count;
	const char *text; /* in the line that was given */
};

/* The line that names the columns sets which of them `rows` carries; changing them in the middle of a batch
 * is an error. */
void gt_tsv_open(struct gt_tsv *tsv, struct gt_rows *rows);
void gt_tsv_close(struct gt_tsv *tsv);

/* Takes one line (0-terminated, without its end; changed in place). */
enum gt_tsv_event gt_tsv_read(struct gt_tsv *tsv, char *line, struct gt_error *error);

/* Reads text to its end and writes a stream to a descriptor. */
int gt_tsv_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		     char *const argv[], struct gt_error *error);

/* A stream as plain msgpack, one array a row, for readers in other languages (gtrace-cat(1)):
 *   ["gtrace-rows", 1, {history, access: [names], request: [names]}]
 *   ["kernel", {...}] ["gpu", {...}] ["count", {...}]          as in the stream
 *   [block, warp, an, pc, op, size, mask, [addresses]]         an access, the addresses of its active lanes
 *   [block, warp, an, pc, op, address, sectors, full, lanes]   a request
 *   [..., step, sm, status, latency, hint, work, shared]       a row's optional columns, up to the last that
 *                                                              is present; nil for an absent one before it
 *   ["end", {rows}]
 */

/* Each appends to `out`; if memory runs out it sets out->failed. */
void gt_plain_begin(struct gt_bytes *out, const char *const *history);
void gt_plain_put(struct gt_bytes *out, struct gt_reader *reader, enum gt_event event);
void gt_plain_end(struct gt_bytes *out);

/* Reads the same and writes a stream to a descriptor. */
int gt_plain_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		       char *const argv[], struct gt_error *error);

/* Writes rows as a Parquet file, which DuckDB, polars and pandas open: plain values in pages that are compressed by
 * Zstandard. A file can be written to a pipe; memory is bounded. */

struct gt_parquet;

/* A file for rows like these; all of a file have the same columns, and an empty one is of those given. NULL on error. */
struct gt_parquet *gt_parquet_open(const struct gt_rows *shape, struct gt_error *error);
/* Adds rows of a kernel, and appends to `out` what is complete. Returns 0, or -1: other columns, or memory is short. */
int gt_parquet_rows(struct gt_parquet *parquet, const struct gt_rows *rows, const struct gt_kernel *kernel,
		    struct gt_bytes *out, struct gt_error *error);
/* Appends the rest. */
int gt_parquet_finish(struct gt_parquet *parquet, struct gt_bytes *out, struct gt_error *error);
void gt_parquet_close(struct gt_parquet *parquet);

/* ---- accesses as traces of Accel-Sim, in a folder: a kernel-ID.traceg for each launch, and kernelslist.g ---- */

struct gt_traceg;

/* Makes the folder, which must not be there. NULL on error. */
struct gt_traceg *gt_traceg_open(const char *folder, struct gt_error *error);
/* Takes the reader's last event. Returns 0, or -1: rows that are no accesses or not in the order of their blocks, an access for which
 * there is no opcode, or a file cannot be written. */
int gt_traceg_take(struct gt_traceg *traceg, struct gt_reader *from, enum gt_event event, struct gt_error *error);
/* Ends the last trace, and writes the list. */
int gt_traceg_finish(struct gt_traceg *traceg, struct gt_error *error);
/* Frees it. The files of one that was not finished are removed. */
void gt_traceg_close(struct gt_traceg *traceg);
/* What the traces lack: the next text from *at on, which is 0 at first, and how often; NULL: nothing more. */
const char *gt_traceg_remark(const struct gt_traceg *traceg, size_t *at, uint64_t *number);

/* ---- the columns of rows and the names of their values ---- */

/* Writes them as a JSON object (gtrace-cat(1)). */
void gt_schema_write(FILE *to);

#endif
