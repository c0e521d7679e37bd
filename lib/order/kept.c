/* SPDX-License-Identifier: MIT */
#include "order/kept.h"

#include <stdlib.h>

#include "base/grown.h"
#include "base/pages.h"

#define SHORT_SPAN 4 /* rows, on average: as much work with spans as it saves */
#define SPANS_LEAST 1024 /* before the average counts */

void gt_kept_clear(struct gt_kept *kept)
{
	kept->chunk = kept->used = kept->spans_n = kept->n = 0;
	kept->sorted = true;
	kept->spans_of = GT_SPANS_OF_WARPS;
	kept->tried_spans = kept->tried_n = 0;
	kept->last_key = (struct gt_sort_key){0, 0};
	kept->highs = kept->lows = 0;
}

void gt_kept_open(struct gt_kept *kept, size_t chunk_bytes, bool by_an)
{
	*kept = (struct gt_kept){.chunk_bytes = chunk_bytes, .by_an = by_an};
	gt_kept_clear(kept);
}

void gt_kept_close(struct gt_kept *kept)
{
	for (size_t i = 0; i < kept->chunks_n; i++)
		free(kept->chunks[i]);
	free(kept->chunks);
	free(kept->spans);
	*kept = (struct gt_kept){.by_an = kept->by_an, .chunk_bytes = kept->chunk_bytes};
}

int gt_kept_grow(struct gt_kept *kept, struct gt_error *error)
{
	size_t next = kept->chunks_n > 0 ? kept->chunk + 1 : 0;

	if (next == kept->chunks_n) {
		char **chunks = gt_grown(kept->chunks, kept->chunks_n, &kept->chunks_capacity, sizeof *chunks);
		if (!chunks)
			return gt_fail_memory(error, "sorting");
		kept->chunks = chunks;
		char *chunk = gt_pages_chunk(kept->chunk_bytes);
		if (!chunk)
			return gt_fail_memory(error, "sorting (a smaller -S needs less)");
		kept->chunks[kept->chunks_n++] = chunk;
	}
	kept->chunk = next;
	kept->used = 0;
	return 0;
}

uint64_t gt_kept_bytes(const struct gt_kept *kept)
{
	return (kept->chunk + 2) * (uint64_t)kept->chunk_bytes + kept->spans_capacity * sizeof *kept->spans;
}

int gt_kept_begin_span(struct gt_kept *kept, uint64_t high, struct gt_error *error)
{
	struct gt_span *spans = gt_grown(kept->spans, kept->spans_n, &kept->spans_capacity, sizeof *spans);

	if (!spans)
		return gt_fail_memory(error, "sorting");
	kept->spans = spans;
	kept->spans[kept->spans_n++] = (struct gt_span){high, kept->chunks[kept->chunk] + kept->used, 0};
	if (++kept->tried_spans >= SPANS_LEAST && kept->tried_spans > kept->tried_n / SHORT_SPAN &&
	    kept->spans_of != GT_SPANS_OF_CHUNKS) {
		kept->spans_of++;
		kept->tried_spans = kept->tried_n = 0;
	}
	return 0;
}
