/* SPDX-License-Identifier: MIT */
#include "stream/rebatch.h"

#include "stream/pack.h"

static void keep(struct gt_rebatch *rebatch, struct gt_chunk *piece, size_t first, size_t n)
{
	if (n > 0)
		gt_chunk_hold(piece);
	*rebatch = (struct gt_rebatch){.chunk = n > 0 ? piece : NULL, .first = first, .n = n};
}

/* Copies a piece behind the rows that are there, which make no whole batch with it. */
static int join(struct gt_rebatch *rebatch, struct gt_chunks *chunks, const struct gt_rows *piece, struct gt_error *error)
{
	if (!rebatch->own) {
		struct gt_chunk *chunk = gt_chunk_take(chunks, error);
		if (!chunk)
			return -1;
		gt_rows_shape(chunk->rows, piece);
		gt_rows_append(chunk->rows, rebatch->chunk->rows, rebatch->first, rebatch->n);
		gt_chunk_release(chunks, rebatch->chunk);
		*rebatch = (struct gt_rebatch){.chunk = chunk, .n = rebatch->n, .own = true};
	}
	gt_rows_append(rebatch->chunk->rows, piece, 0, piece->n);
	rebatch->n += piece->n;
	return 0;
}

int gt_rebatch_add(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_chunk *piece, struct gt_batches *batches,
		   struct gt_error *error)
{
	const struct gt_rows *rows = piece->rows;
	bool alike = rebatch->n > 0 && gt_rows_alike(rebatch->chunk->rows, rows);

	*batches = (struct gt_batches){.rows = rows};
	if (rows->kind != GT_REQUESTS)
		return 0;
	if (alike && rebatch->n + rows->n < GT_ROWS_BATCH)
		return join(rebatch, chunks, rows, error);
	if (rebatch->n > 0) {
		batches->before = rebatch->chunk;
		batches->before_first = rebatch->first;
		batches->before_n = rebatch->n;
		batches->first_n = batches->end = alike ? GT_ROWS_BATCH - rebatch->n : 0;
	}
	batches->end += (rows->n - batches->end) / GT_ROWS_BATCH * GT_ROWS_BATCH;
	keep(rebatch, piece, batches->end, rows->n - batches->end);
	return 0;
}

size_t gt_batches_pack(const struct gt_batches *batches, struct gt_bytes *bytes)
{
	if (batches->before) {
		const struct gt_slice slices[] = {{batches->before->rows, batches->before_first, batches->before_n},
						  {batches->rows, 0, batches->first_n}};
		gt_rows_pack(bytes, slices, batches->first_n > 0 ? 2 : 1);
	}
	for (size_t at = batches->first_n; at < batches->end; at += GT_ROWS_BATCH)
		gt_rows_pack(bytes, &(struct gt_slice){batches->rows, at, GT_ROWS_BATCH}, 1);
	return batches->before_n + batches->end;
}

int gt_rebatch_take(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_rows *rows, struct gt_error *error)
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

int gt_rebatch_give(struct gt_rebatch *rebatch, struct gt_chunks *chunks, struct gt_sink *sink, struct gt_error *error)
{
	if (rebatch->n > 0) {
		if (gt_sink_begin_as(sink, rebatch->chunk->rows, error) != 0)
			return -1;
		gt_rows_append(sink->rows, rebatch->chunk->rows, rebatch->first, rebatch->n);
	}
	gt_chunk_release(chunks, rebatch->chunk);
	*rebatch = (struct gt_rebatch){.chunk = NULL};
	return 0;
}
