/* SPDX-License-Identifier: MIT */
/* Rows are what the stages of a pipe pass on. A row is a warp access (a load, a store or an atomic of up to 32 threads, with their
 * addresses) or, behind gcoalesce, a memory request (sectors of one line). They come in batches, column by column. In memory every
 * column is a full, aligned array of `n` elements in the machine's byte order; the stream encodes it in fewer bytes. */
#ifndef GT_STREAM_ROWS_H
#define GT_STREAM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

#define GT_WARP_SIZE 32
#define GT_LINE 128	    /* bytes; `address` of a request is a multiple of this */
#define GT_SECTOR 32	    /* bytes; a line has 4 */
#define GT_ROWS_BATCH 4096  /* rows a writer puts into a batch */
#define GT_ROWS_SLACK 8	    /* elements behind the capacity of each column of a batch, which may be overwritten */
#define GT_ROWS_MAX 65536   /* rows a reader accepts in a batch */
#define GT_SPAN_MOST (2 * GT_WARP_SIZE) /* requests that one row may be: all of an access, each lane of which reaches over the end of its line */
#define GT_SPAN_LEAST 4 /* that gtrace writes as one row: fewer are as short one by one */
#define GT_REQUESTS_MAX (GT_ROWS_BATCH * GT_SPAN_MOST) /* that the rows of a batch may be */
#define GT_STRIDE_LANES INT64_MIN /* as a stride: the addresses are in `lanes` */
#define GT_ACCESS_SIZE_MAX 32	  /* bytes per lane */

enum gt_rows_kind { GT_ACCESSES, GT_REQUESTS };

struct gt_rows {
	enum gt_rows_kind kind;
	bool scheduled; /* the columns step and sm are present */
	bool has_status, has_latency; /* requests: the column of that name is present */
	bool has_hints;		      /* the column hint is present: some row has a hint */
	bool has_work;		      /* the column work is present, */
	bool has_shared;	      /* and with it the column shared: some row has accesses to shared memory before it */
	bool has_spans;	/* requests: a row may be several, by its width and pitch */
	size_t n;	/* rows in use */
	size_t capacity;

	uint32_t *block; /* linear block index in the grid, x fastest */
	uint16_t *warp;	 /* warp index within the block */
	uint32_t *an;	 /* ordinal of the access within its warp */
	uint32_t *pc;	 /* program counter, 0 if unknown */
	uint8_t *op;	 /* stream/op.h */
	uint16_t *hint;	 /* stream/hint.h; gt_rows_hint reads it */
	uint32_t *work;	 /* stream/hint.h, too */
	uint32_t *shared; /* the same */

	/* Accesses. If stride[i] is GT_STRIDE_LANES the addresses of the active lanes, lowest lane
	 * first, are lanes[base[i]] to lanes[base[i] + popcount(mask[i]) - 1]. Else active lane l
	 * has the address base[i] + gt_affine_from(), modulo 2^64: at one stride, or at a stride within
	 * rows of width[i] lanes, and a pitch from row to row, as of a block that is narrower than a warp. */
	uint8_t *size;	 /* bytes per lane: 1 to GT_ACCESS_SIZE_MAX */
	uint32_t *mask;	 /* active lanes, never 0 */
	uint64_t *base;	 /* bytes, or an index into lanes */
	int64_t *stride; /* bytes from lane to lane */
	uint8_t *width;	 /* lanes of a row: 2, 4, 8 or 16; 0: there is no pitch */
	int64_t *pitch;	 /* bytes from row to row; without a width it has no meaning */
	uint64_t *lanes;
	size_t n_lanes, lanes_capacity;

	/* Requests. If there are spans, row i is width[i] requests of one access, up to GT_SPAN_MOST, if that is above 1: the first of the
	 * address, each other one pitch[i] bytes, modulo 2^64, from the one before, and else alike. */
	uint64_t *address; /* of the line: a multiple of GT_LINE */
	uint8_t *sectors;  /* mask of the line's GT_SECTOR-byte sectors, never 0 */
	uint8_t *full;	   /* stores: sectors that are overwritten whole; else 0 */
	uint8_t *threads;  /* lanes served; "lanes" on the pipe */

	/* Scheduled rows of either kind. */
	uint64_t *step; /* logical issue time */
	uint16_t *sm;	/* streaming multiprocessor */

	/* Requests that a cache level wrote with what it found (gcache --emit). */
	uint8_t *status;   /* what it found: enum gt_status */
	uint32_t *latency; /* steps from issue to data */
};

/* Every column by its name in the stream: for readers, writers and text views. */
struct gt_column {
	const char *name;
	size_t offset; /* of the pointer in struct gt_rows */
	unsigned width; /* bytes an element */
	bool is_signed;
	bool in_access, in_request;
	size_t flag; /* of the bool in struct gt_rows that says whether it is there; 0: always there */
};
extern const struct gt_column gt_columns[];
extern const size_t gt_columns_n;

/* The array of a column in a batch. */
static inline void *gt_column_of(const struct gt_rows *rows, const struct gt_column *column)
{
	return *(void *const *)(const void *)((const char *)rows + column->offset);
}

/* True if rows of this kind carry the column. */
static inline bool gt_column_present(const struct gt_rows *rows, const struct gt_column *column)
{
	return (rows->kind == GT_ACCESSES ? column->in_access : column->in_request) &&
	       (!column->flag || *(const bool *)((const char *)rows + column->flag));
}

/* True if both carry the same columns. */
static inline bool gt_rows_alike(const struct gt_rows *a, const struct gt_rows *b)
{
	return a->kind == b->kind && a->scheduled == b->scheduled && a->has_status == b->has_status &&
	       a->has_latency == b->has_latency && a->has_hints == b->has_hints && a->has_work == b->has_work &&
	       a->has_shared == b->has_shared && a->has_spans == b->has_spans;
}
/* Makes `to`, which must be empty, carry the columns of `from`. */
static inline void gt_rows_shape(struct gt_rows *to, const struct gt_rows *from)
{
	to->kind = from->kind;
	to->scheduled = from->scheduled;
	to->has_status = from->has_status;
	to->has_latency = from->has_latency;
	to->has_hints = from->has_hints;
	to->has_work = from->has_work;
	to->has_shared = from->has_shared;
	to->has_spans = from->has_spans;
}

/* The hint of row i. */
static inline uint16_t gt_rows_hint(const struct gt_rows *rows, size_t i)
{
	return rows->has_hints ? rows->hint[i] : 0;
}

/* How many requests row i is. */
static inline unsigned gt_rows_span(const struct gt_rows *rows, size_t i)
{
	return rows->has_spans && rows->width[i] > 1 ? rows->width[i] : 1;
}

/* What the column shared says of row i. */
static inline uint32_t gt_rows_shared(const struct gt_rows *rows, size_t i)
{
	return rows->has_shared ? rows->shared[i] : 0;
}

/* A batch with room for `capacity` rows of either kind. Freed by gt_rows_free. NULL on error. */
struct gt_rows *gt_rows_new(size_t capacity, struct gt_error *error);
void gt_rows_free(struct gt_rows *rows);

/* Makes room for `capacity` rows, more than there is. Returns 0, or -1 when memory is short: the rows are then as before. */
int gt_rows_grow(struct gt_rows *rows, size_t capacity, struct gt_error *error);

/* Room for `more` addresses beyond n_lanes. Returns 0, or -1 when memory is short. */
int gt_rows_reserve_lanes(struct gt_rows *rows, size_t more, struct gt_error *error);

/* Appends row i of `from` to `to`, which must have room and be of the same kind. Columns that
 * only `to` has are left for the caller to set. Addresses in `lanes` are carried over. */
int gt_rows_copy(struct gt_rows *to, const struct gt_rows *from, size_t i, struct gt_error *error);

/* Appends n requests from row `first` of `from` to `to`, which has room. Columns that `from` lacks are 0. */
void gt_rows_append(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n);
/* The same for rows of either kind, with the addresses that accesses list. Returns 0, or -1 when memory is short. */
int gt_rows_join(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n, struct gt_error *error);

/* Makes *room, which is made if it is NULL, the requests of rows [first, first + n): the same columns, but a row for each. Returns 0, or -1
 * when memory is short. */
int gt_rows_expand(struct gt_rows **room, const struct gt_rows *rows, size_t first, size_t n, struct gt_error *error);

/* Writes the addresses of the active lanes of access i, lowest lane first, and returns how many. */
unsigned gt_rows_addresses(const struct gt_rows *rows, size_t i, uint64_t addresses[GT_WARP_SIZE]);

/* How the addresses of lanes follow from that of the lowest active one. */
struct gt_affine {
	int64_t stride; /* GT_STRIDE_LANES: they do not */
	int64_t pitch;
	uint8_t width; /* 0: one stride */
};

#define GT_WIDTH_MAX (GT_WARP_SIZE / 2)

/* How far a lane's address is from that of lane `first`, in bytes modulo 2^64. */
static inline uint64_t gt_affine_from(const struct gt_affine *affine, unsigned first, unsigned lane)
{
	const unsigned width = affine->width ? affine->width : GT_WARP_SIZE, log = (unsigned)__builtin_ctz(width);
	const int64_t lanes = (int64_t)(lane & (width - 1)) - (int64_t)(first & (width - 1)), rows = (int64_t)(lane >> log) - (int64_t)(first >> log);

	return (uint64_t)affine->stride * (uint64_t)lanes + (uint64_t)affine->pitch * (uint64_t)rows;
}

/* That of access i. */
static inline struct gt_affine gt_rows_affine(const struct gt_rows *rows, size_t i)
{
	const struct gt_affine affine = {rows->stride[i], rows->width[i] ? rows->pitch[i] : 0, rows->width[i]};

	return affine;
}

/* Sets it. */
static inline void gt_rows_set_affine(struct gt_rows *rows, size_t i, struct gt_affine affine)
{
	rows->stride[i] = affine.stride;
	rows->width[i] = affine.width;
	rows->pitch[i] = affine.pitch;
}

/* Whether the addresses of access i have one stride. */
static inline bool gt_rows_one_stride(const struct gt_rows *rows, size_t i)
{
	return rows->stride[i] != GT_STRIDE_LANES && rows->width[i] == 0;
}

/* The common stride of the addresses of the lanes in `mask`, lowest lane first, or GT_STRIDE_LANES if there
 * is none. One lane has stride 0. */
int64_t gt_common_stride(uint32_t mask, const uint64_t *addresses);

/* The same, or, of five lanes or more, a stride and a pitch with the greatest width that there is. A number that no two active lanes tell is 0. */
struct gt_affine gt_affine_of(uint32_t mask, const uint64_t *addresses);

/* Sets mask, base, stride, width and pitch (or lanes) of access i from the addresses of the lanes in `mask`,
 * lowest lane first; `lanes` only if nothing shorter says them. Returns 0, or -1 when memory is short. */
int gt_rows_set_addresses(struct gt_rows *rows, size_t i, uint32_t mask, const uint64_t *addresses,
			  struct gt_error *error);

/* Where a model puts its rows: a batch, and a function that is called when it is full. flush() must leave
 * the batch at the same address, which writers keep, empty (n = n_lanes = 0) or with room for more rows, and return 0, or -1
 * with the error set. */
struct gt_sink {
	struct gt_rows *rows;
	int (*flush)(void *context, struct gt_rows *rows, struct gt_error *error);
	void *context;
};

/* Sets the kind of the rows to come, without status, latency, hints, work or spans, flushing rows of another shape. */
int gt_sink_begin(struct gt_sink *sink, enum gt_rows_kind kind, bool scheduled, struct gt_error *error);
/* The same for rows that carry the columns of `shape`, whose rows are not read. */
int gt_sink_begin_as(struct gt_sink *sink, const struct gt_rows *shape, struct gt_error *error);

/* A sink that keeps all rows, for which the batch grows. */
struct gt_sink gt_sink_that_grows(struct gt_rows *rows);

/* Flushes a full batch. Returns 0, or -1 with flush's error or one of a flush that leaves no room. */
int gt_sink_empty(struct gt_sink *sink, struct gt_error *error);

/* Makes sure that one more row fits. Returns 0, or -1 as gt_sink_empty does. */
static inline int gt_sink_room(struct gt_sink *sink, struct gt_error *error)
{
	return sink->rows->n < sink->rows->capacity ? 0 : gt_sink_empty(sink, error);
}

GT_PUBLIC_END

#endif
