/* SPDX-License-Identifier: MIT */
/* One memory request: what models keep, hand on and send. A batch (stream/rows.h) has the same
 * columns. */
#ifndef GT_STREAM_REQUEST_H
#define GT_STREAM_REQUEST_H

#include <stdint.h>

#include "stream/rows.h"

/* How many bits a mask of four sectors has. */
static const uint8_t gt_bits_of_4[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* The same of the lower four bits, in operations that a vector of bytes has. */
static inline uint8_t gt_count_4(uint8_t mask)
{
	uint8_t pairs = (uint8_t)((mask & 5) + (mask >> 1 & 5));

	return (uint8_t)((pairs & 3) + (pairs >> 2));
}

struct gt_request {
	uint64_t address; /* of the line: a multiple of GT_LINE */
	uint64_t step;	  /* 0 where the batch is not scheduled; so is sm */
	uint32_t block, an, pc;
	uint16_t warp, sm, hint; /* hint: 0 where the batch has none */
	uint8_t op, sectors, full, threads;
};

/* Row i of a batch of requests. */
static inline struct gt_request gt_request_of(const struct gt_rows *rows, size_t i)
{
	return (struct gt_request){
		.address = rows->address[i], .step = rows->scheduled ? rows->step[i] : 0, .block = rows->block[i],
		.an = rows->an[i], .pc = rows->pc[i], .warp = rows->warp[i], .sm = rows->scheduled ? rows->sm[i] : 0,
		.hint = gt_rows_hint(rows, i), .op = rows->op[i], .sectors = rows->sectors[i], .full = rows->full[i],
		.threads = rows->threads[i]};
}

/* Appends a request to a batch, which must have room: the columns that the batch carries. Status
 * and latency are the caller's to set. */
static inline void gt_request_append(struct gt_rows *rows, const struct gt_request *request)
{
	size_t at = rows->n++;

	rows->address[at] = request->address;
	rows->block[at] = request->block;
	rows->an[at] = request->an;
	rows->pc[at] = request->pc;
	rows->warp[at] = request->warp;
	rows->op[at] = request->op;
	rows->sectors[at] = request->sectors;
	rows->full[at] = request->full;
	rows->threads[at] = request->threads;
	if (rows->scheduled) {
		rows->step[at] = request->step;
		rows->sm[at] = request->sm;
	}
	if (rows->has_hints)
		rows->hint[at] = request->hint;
}

/* Appends the rows from[order[0]], from[order[1]] ... to `to`, which has room and no columns that `from` has not. */
void gt_requests_append(struct gt_rows *to, const struct gt_rows *from, const uint32_t *order, size_t n);

#endif
