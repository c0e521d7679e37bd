/* SPDX-License-Identifier: MIT */
#include "order/batches.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/wide.h"
#include "stream/op.h"
#include "stream/pack.h"

#define CHUNK_BYTES ((size_t)4 << 20) /* so much goes back to the system when it is freed */

void gt_order_batches_close(struct gt_order_batches *batches)
{
	for (size_t i = 0; i < batches->chunks_n; i++)
		free(batches->chunks[i].data);
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

/* Whether addresses are listed that have a stride in common. */
static bool any_needless_list(const struct gt_rows *rows)
{
	for (size_t i = 0; rows->n_lanes > 0 && i < rows->n; i++)
		if (rows->stride[i] == GT_STRIDE_LANES &&
		    gt_common_stride(rows->mask[i], rows->lanes + rows->base[i]) != GT_STRIDE_LANES)
			return true;
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

bool gt_order_batches_fit(const struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an)
{
	if (rows->kind != GT_ACCESSES || rows->scheduled || rows->n == 0)
		return false;
	if (gt_order_batches_any(batches) && !gt_sort_key_less(batches->last, key_of(launch, rows, 0, by_an)))
		return false;
	return rise(by_an ? rows->an : rows->block, by_an ? rows->block : rows->an, rows->warp, rows->n) &&
	       !any_lone_stride(rows->mask, rows->stride, rows->n) && !any_needless_list(rows) && are_hints_right(rows);
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
	more[batches->chunks_n] = (struct gt_bytes){.data = malloc(capacity), .capacity = capacity};
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

int gt_order_batches_end(struct gt_order_batches *batches, struct gt_error *error)
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
static int add(struct gt_order_batches *batches, const struct gt_rows *rows, size_t first, size_t n, struct gt_error *error)
{
	struct gt_rows *rest = batches->rest;
	const struct gt_slice whole = {rows, first, n, 0, 0};

	if (n == GT_ROWS_BATCH && rows->n_lanes == 0)
		return pack(batches, &whole, error);
	gt_rows_shape(rest, rows);
	if (gt_rows_join(rest, rows, first, n, error) != 0)
		return -1;
	return rest->n == GT_ROWS_BATCH ? gt_order_batches_end(batches, error) : 0;
}

int gt_order_batches_add(struct gt_order_batches *batches, uint32_t launch, const struct gt_rows *rows, bool by_an,
			 struct gt_error *error)
{
	size_t n;

	if (!batches->rest && !(batches->rest = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	if (batches->launch != launch && gt_order_batches_end(batches, error) != 0)
		return -1;
	batches->launch = launch;
	for (size_t first = 0; first < rows->n; first += n) {
		size_t room = GT_ROWS_BATCH - batches->rest->n, left = rows->n - first;
		n = left < room ? left : room;
		if (add(batches, rows, first, n, error) != 0)
			return -1;
	}
	batches->last = key_of(launch, rows, rows->n - 1, by_an);
	return 0;
}

int gt_order_batches_write(const struct gt_order_batches *batches, uint32_t launch, size_t *first, struct gt_writer *writer,
			   struct gt_error *error)
{
	for (; *first < batches->n && batches->batches[*first].launch == launch; ++*first) {
		const struct gt_order_batch *batch = &batches->batches[*first];
		if (gt_writer_put(writer, gt_order_batch_record(batches, batch), batch->n, batch->rows, error) != 0)
			return -1;
	}
	return 0;
}

void gt_order_batches_free_before(struct gt_order_batches *batches, const struct gt_order_batch *batch)
{
	for (size_t i = batch->chunk; i > 0 && batches->chunks[i - 1].data; i--) {
		batches->bytes -= batches->chunks[i - 1].n;
		free(batches->chunks[i - 1].data);
		batches->chunks[i - 1].data = NULL;
	}
}
