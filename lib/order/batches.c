/* SPDX-License-Identifier: MIT */
/* Rows of a stream that come in order: they are held as batches, packed as they will be written, as long as each comes behind those
 * before it. If one does not, the batches are scattered: their rows are sorted with the others. */
#include "order/ordering.h"

#include <msgpack.h>
#include <stdlib.h>

#include "base/grown.h"
#include "base/pages.h"
#include "base/wide.h"
#include "stream/op.h"
#include "stream/records.h"

#define CHUNK_BYTES ((size_t)4 << 20) /* so much goes back to the system when it is freed */

void gt_order_batches_close(struct gt_order_batches *batches)
{
	for (size_t i = 0; i < batches->chunks_n; i++)
		gt_pages_free(batches->chunks[i].data, batches->chunks[i].capacity);
	free(batches->chunks);
	free(batches->record.data);
	free(batches->batches);
	gt_rows_free(batches->rest);
	*batches = (struct gt_order_batches){.n = 0};
}

/* ---- what can be added ---- */

/* Whether each row comes behind the one before it; `first` and `second` are the more and the less significant numbers of its
 * key. */
GT_WIDE static bool rise(const uint32_t *first, const uint32_t *second, const uint16_t *warp, size_t n)
{
	uint32_t falls = 0;

	for (size_t i = 1; i < n; i++) {
		uint32_t later_warp = warp[i] > warp[i - 1];
		uint32_t later_second = (second[i] > second[i - 1]) | ((second[i] == second[i - 1]) & later_warp);
		falls |= !((first[i] > first[i - 1]) | ((first[i] == first[i - 1]) & later_second));
	}
	return !falls;
}

/* Whether a row of one lane has a stride, which is not written. */
GT_WIDE static bool any_lone_stride(const uint32_t *mask, const int64_t *stride, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= (uint64_t)((mask[i] & (mask[i] - 1)) == 0) & (stride[i] != 0);
	return any;
}

/* Whether addresses are listed, or have a pitch, that would be written otherwise. */
static bool any_needless_form(const struct gt_rows *rows)
{
	uint64_t addresses[GT_WARP_SIZE];

	for (size_t i = 0; i < rows->n; i++) {
		if (gt_rows_one_stride(rows, i))
			continue;
		const struct gt_affine is = gt_rows_affine(rows, i);
		/* Of all lanes no other width says the same, nor a stride alone but one that goes on from row to row. */
		if (is.width && rows->mask[i] == UINT32_MAX && (uint64_t)is.pitch != (uint64_t)is.stride * is.width)
			continue;
		gt_rows_addresses(rows, i, addresses);
		const struct gt_affine least = gt_affine_of(rows->mask[i], addresses);
		if (is.stride != least.stride || is.width != least.width || is.pitch != least.pitch)
			return true;
	}
	return false;
}

/* Whether the column of hints is as it would be written: some row has one, and none of shared memory. */
static bool are_hints_right(const struct gt_rows *rows)
{
	bool any = false;

	for (size_t i = 0; rows->has_hints && i < rows->n; i++) {
		if (rows->hint[i] != 0 && gt_op_space(rows->op[i]) == GT_SHARED)
			return false;
		any |= rows->hint[i] != 0;
	}
	return any == rows->has_hints;
}

static struct gt_sort_key key_of(uint32_t launch, const struct gt_rows *rows, size_t i, bool by_an)
{
	const struct gt_packed row = {.kernel = launch, .block = rows->block[i], .an = rows->an[i], .warp = (uint8_t)rows->warp[i]};

	return gt_sort_key_of(&row, by_an);
}

/* Whether rows of a launch, which a reader has checked, can be added: they are behind all others, no two are of one ordinal, and
 * each is as it would be written. */
static bool fit(const struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an)
{
	if (rows->kind != GT_ACCESSES || rows->scheduled || rows->n == 0)
		return false;
	if (gt_order_batches_any(batches) && !gt_sort_key_less(batches->last, key_of(launch, rows, 0, by_an)))
		return false;
	return rise(by_an ? rows->an : rows->block, by_an ? rows->block : rows->an, rows->warp, rows->n) &&
	       !any_lone_stride(rows->mask, rows->stride, rows->n) && !any_needless_form(rows) && are_hints_right(rows);
}

/* ---- adding ---- */

/* A chunk that has room for so many bytes. NULL when memory is short. */
static struct gt_bytes *find_chunk(struct gt_order_batches *batches, size_t bytes)
{
	struct gt_bytes *last = batches->chunks_n > 0 ? &batches->chunks[batches->chunks_n - 1] : NULL;
	size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

	if (last && last->capacity - last->n >= bytes)
		return last;
	struct gt_bytes *more = gt_grown(batches->chunks, batches->chunks_n, &batches->chunks_capacity, sizeof *more);
	if (!more)
		return NULL;
	batches->chunks = more;
	more[batches->chunks_n] = (struct gt_bytes){.data = gt_pages_chunk(capacity), .capacity = capacity};
	return more[batches->chunks_n].data ? &more[batches->chunks_n++] : NULL;
}

/* Keeps the record of so many rows. */
static int keep(struct gt_order_batches *batches, size_t rows, struct gt_error *error)
{
	const struct gt_bytes *record = &batches->record;
	struct gt_order_batch *more = gt_grown(batches->batches, batches->n, &batches->capacity, sizeof *more);
	struct gt_bytes *chunk = more && !record->failed ? find_chunk(batches, record->n) : NULL;

	batches->batches = more ? more : batches->batches;
	if (!chunk)
		return gt_fail_memory(error, "rows (a smaller -S needs less)");
	batches->batches[batches->n++] = (struct gt_order_batch){batches->launch, rows, batches->chunks_n - 1, chunk->n, record->n};
	gt_bytes_write(chunk, (const char *)record->data, record->n);
	batches->bytes += record->n;
	return 0;
}

static int pack(struct gt_order_batches *batches, const struct gt_slice *slice, struct gt_error *error)
{
	batches->record.n = 0;
	gt_rows_pack(&batches->record, slice, 1);
	return keep(batches, slice->n, error);
}

/* Packs the rest. Returns 0, or -1 when memory is short. */
static int pack_rest(struct gt_order_batches *batches, struct gt_error *error)
{
	struct gt_rows *rest = batches->rest;

	if (!rest || rest->n == 0)
		return 0;
	const struct gt_slice all = {rest, 0, rest->n, 0, rest->n_lanes};
	int result = pack(batches, &all, error);
	rest->n = rest->n_lanes = 0;
	return result;
}

/* Adds n rows, which make no more than one batch with the rest. */
static int add_some(struct gt_order_batches *batches, const struct gt_rows *rows, size_t first, size_t n, struct gt_error *error)
{
	struct gt_rows *rest = batches->rest;
	const struct gt_slice whole = {rows, first, n, 0, 0};

	if (n == GT_ROWS_BATCH && rows->n_lanes == 0)
		return pack(batches, &whole, error);
	gt_rows_shape(rest, rows);
	if (gt_rows_join(rest, rows, first, n, error) != 0)
		return -1;
	return rest->n == GT_ROWS_BATCH ? pack_rest(batches, error) : 0;
}

/* Adds rows that fit. All rows of a launch have the same columns. Returns 0, or -1 when memory is short. */
static int add(struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an,
	       struct gt_error *error)
{
	size_t n;

	if (!batches->rest && !(batches->rest = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	if (batches->launch != launch && pack_rest(batches, error) != 0)
		return -1;
	batches->launch = launch;
	for (size_t first = 0; first < rows->n; first += n) {
		size_t room = GT_ROWS_BATCH - batches->rest->n, left = rows->n - first;
		n = left < room ? left : room;
		if (add_some(batches, rows, first, n, error) != 0)
			return -1;
	}
	batches->last = key_of(launch, rows, rows->n - 1, by_an);
	return 0;
}

/* The record of a batch. */
static const unsigned char *record_of(const struct gt_order_batches *batches, const struct gt_order_batch *batch)
{
	return batches->chunks[batch->chunk].data + batch->offset;
}

int gt_order_batches_write(struct gt_order_batches *batches, uint32_t launch, size_t *first, struct gt_writer *writer,
			   struct gt_error *error)
{
	if (pack_rest(batches, error) != 0)
		return -1;
	for (; *first < batches->n && batches->batches[*first].launch == launch; ++*first) {
		const struct gt_order_batch *batch = &batches->batches[*first];
		if (gt_writer_put(writer, record_of(batches, batch), batch->n, batch->rows, error) != 0)
			return -1;
	}
	return 0;
}

/* Frees chunks that have no batch from this one on. */
static void free_before(struct gt_order_batches *batches, const struct gt_order_batch *batch)
{
	for (size_t i = batch->chunk; i > 0 && batches->chunks[i - 1].data; i--) {
		batches->bytes -= batches->chunks[i - 1].n;
		gt_pages_free(batches->chunks[i - 1].data, batches->chunks[i - 1].capacity);
		batches->chunks[i - 1].data = NULL;
	}
}

/* ---- holding what a reader has ---- */

/* What the limits of a launch are compared with, and what is counted. */
struct sums {
	uint32_t block, warp; /* the greatest */
	uint32_t absent;      /* lanes of the last warp, of which some are active */
	uint64_t stores, atomics, threads;
};

GT_WIDE static struct sums sum(const struct gt_rows *rows, uint32_t last_warp)
{
	struct sums sums = {0};

	for (size_t i = 0; i < rows->n; i++)
		sums.block = rows->block[i] > sums.block ? rows->block[i] : sums.block;
	for (size_t i = 0; i < rows->n; i++) {
		sums.warp = rows->warp[i] > sums.warp ? rows->warp[i] : sums.warp;
		sums.absent |= rows->warp[i] == last_warp ? rows->mask[i] : 0;
	}
	for (size_t i = 0; i < rows->n; i++) {
		sums.stores += gt_op_action(rows->op[i]) == GT_STORE;
		sums.atomics += gt_op_action(rows->op[i]) >= GT_ATOMIC;
	}
	for (size_t i = 0; i < rows->n; i++)
		sums.threads += (uint64_t)__builtin_popcount(rows->mask[i]);
	return sums;
}

/* Whether the rows have the columns of those before them in the launch, and those that are wanted. */
static bool are_alike(const struct gt_ordering *order, const struct gt_order_launch *launch, const struct gt_rows *rows)
{
	if (order->options.work && !rows->has_work)
		return false;
	return launch->accesses == 0 || (launch->hinted == rows->has_hints && (launch->timed > 0) == rows->has_work &&
				       launch->shares == rows->has_shared);
}

static void note(struct gt_order_launch *launch, const struct gt_rows *rows, const struct sums *sums)
{
	launch->accesses += rows->n;
	launch->timed += rows->has_work ? rows->n : 0;
	launch->hinted |= rows->has_hints;
	launch->shares |= rows->has_shared;
	if (sums->block > launch->greatest_block)
		launch->greatest_block = sums->block;
	if (sums->warp > launch->greatest_warp)
		launch->greatest_warp = (uint16_t)sums->warp;
	launch->held.accesses += rows->n;
	launch->held.loads += rows->n - sums->stores - sums->atomics;
	launch->held.stores += sums->stores;
	launch->held.atomics += sums->atomics;
	launch->held.threads += sums->threads;
}

int gt_order_rows(struct gt_ordering *order, const struct gt_rows *rows, struct gt_error *error)
{
	struct gt_order_launch *launch = order->launch;

	/* If they are to be scattered, a quarter of the memory is for sorting them, while they are there. */
	if (order->scattered || !launch || order->batches.bytes > order->options.memory - order->options.memory / 4)
		return 0;
	if (!launch->wanted)
		return 1;
	const struct gt_order_limits *limits = &launch->limits;
	const struct sums sums = sum(rows, (uint32_t)limits->warps - 1);
	if (sums.block >= limits->blocks || sums.warp >= limits->warps || (sums.absent & limits->absent_lanes) != 0 ||
	    !are_alike(order, launch, rows) ||
	    !fit(&order->batches, order->launch_index, rows, order->options.by_an))
		return 0;
	note(launch, rows, &sums);
	if (add(&order->batches, order->launch_index, rows, order->options.by_an, error) != 0)
		return -1;
	gt_order_count(order, rows->n);
	return 1;
}

/* ---- the end of holding ---- */

static int keep_row(struct gt_ordering *order, uint32_t launch, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_packed row = {
		.kernel = launch, .block = rows->block[i], .an = rows->an[i], .pc = rows->pc[i], .mask = rows->mask[i],
		.warp = (uint8_t)rows->warp[i], .op = rows->op[i], .size = rows->size[i], .hint = gt_rows_hint(rows, i),
		.work = rows->has_work ? rows->work[i] : 0, .shared = gt_rows_shared(rows, i), .base = rows->base[i], .affine = gt_rows_affine(rows, i),
	};

	return gt_order_keep(order, &row, rows->stride[i] == GT_STRIDE_LANES ? rows->lanes + rows->base[i] : NULL, error);
}

/* Keeps the rows of a batch. */
static int keep_batch(struct gt_ordering *order, const struct gt_order_batch *batch, struct gt_rows **rows, msgpack_unpacked *unpacked,
		      struct gt_error *error)
{
	size_t offset = 0;

	if (msgpack_unpack_next(unpacked, (const char *)record_of(&order->batches, batch), batch->n, &offset) !=
	    MSGPACK_UNPACK_SUCCESS)
		return gt_fail_memory(error, "a record");
	if (gt_rows_unpack(rows, GT_ACCESSES, batch->rows, &unpacked->data.via.array.ptr[2],
			   &order->launches.launches[batch->launch]->kernel, error) != 0)
		return -1;
	for (size_t i = 0; i < (*rows)->n; i++)
		if (keep_row(order, batch->launch, *rows, i, error) != 0)
			return -1;
	return 0;
}

int gt_order_scatter(struct gt_ordering *order, struct gt_error *error)
{
	struct gt_order_batches *batches = &order->batches;

	order->scattered = true;
	if (!gt_order_batches_any(batches))
		return 0;
	struct gt_rows *rows = gt_rows_new(GT_ROWS_BATCH, error);
	int result = rows ? pack_rest(batches, error) : -1;
	msgpack_unpacked unpacked;
	msgpack_unpacked_init(&unpacked);
	for (size_t i = 0; i < batches->n && result == 0; i++) {
		const struct gt_order_batch *batch = &batches->batches[i];
		free_before(batches, batch);
		gt_sorter_yield(order->sorter, batches->bytes);
		result = keep_batch(order, batch, &rows, &unpacked, error);
	}
	gt_sorter_yield(order->sorter, 0);
	msgpack_unpacked_destroy(&unpacked);
	gt_rows_free(rows);
	gt_order_batches_close(batches);
	return result;
}
