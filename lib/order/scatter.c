/* SPDX-License-Identifier: MIT */
#include "order/scatter.h"

#include <msgpack.h>
#include <stdlib.h>

#include "stream/unpack.h"

static int keep_row(struct gt_ordering *order, uint32_t launch, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_packed row = {
		.kernel = launch, .block = rows->block[i], .an = rows->an[i], .pc = rows->pc[i], .mask = rows->mask[i],
		.warp = (uint8_t)rows->warp[i], .op = rows->op[i], .size = rows->size[i], .hint = gt_rows_hint(rows, i),
		.work = rows->has_work ? rows->work[i] : 0, .base = rows->base[i], .stride = rows->stride[i],
	};

	return gt_order_keep(order, &row, rows->stride[i] == GT_STRIDE_LANES ? rows->lanes + rows->base[i] : NULL, error);
}

/* Keeps the rows of a batch. */
static int keep_batch(struct gt_ordering *order, const struct gt_order_batch *batch, struct gt_rows **rows, msgpack_unpacked *unpacked,
		      struct gt_error *error)
{
	size_t offset = 0;

	if (msgpack_unpack_next(unpacked, (const char *)gt_order_batch_record(&order->batches, batch), batch->n, &offset) !=
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
	int result = rows ? gt_order_batches_end(batches, error) : -1;
	msgpack_unpacked unpacked;
	msgpack_unpacked_init(&unpacked);
	for (size_t i = 0; i < batches->n && result == 0; i++) {
		const struct gt_order_batch *batch = &batches->batches[i];
		gt_order_batches_free_before(batches, batch);
		gt_sorter_yield(order->sorter, batches->bytes);
		result = keep_batch(order, batch, &rows, &unpacked, error);
	}
	gt_sorter_yield(order->sorter, 0);
	msgpack_unpacked_destroy(&unpacked);
	gt_rows_free(rows);
	gt_order_batches_close(batches);
	return result;
}
