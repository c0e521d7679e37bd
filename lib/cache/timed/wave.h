/* SPDX-License-Identifier: MIT */
/* The requests of the warps that are resident together on one instance, in the order of each warp, if the level decides
 * which warps issue. */
#ifndef GT_CACHE_TIMED_WAVE_H
#define GT_CACHE_TIMED_WAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "stream/request.h"

#define GT_NO_REQUEST UINT32_MAX

struct gt_wave_request {
	struct gt_request request;
	uint32_t next; /* of its warp, or GT_NO_REQUEST */
};

struct gt_warp {
	uint32_t block;
	uint16_t warp;
	uint8_t piece;	    /* of its next request: the first piece that is not served */
	uint32_t next;	    /* of its requests; GT_NO_REQUEST: it is done */
	uint32_t last;	    /* of its requests */
	uint32_t follower;  /* the warp that last followed it; tried first */
	uint64_t effect;    /* the latest of the requests of its access so far */
	uint64_t ready;	    /* while delayed: the step at which it can continue */
	uint64_t order;	    /* in which warps were delayed */
};

struct gt_wave {
	struct gt_wave_request *requests;
	size_t n, capacity;
	struct gt_warp *warps;
	uint32_t warps_n, warps_capacity;
	uint32_t current;   /* the warp of the last row */
	struct gt_map known; /* blocks, and warps with their place */
};

int gt_wave_open(struct gt_wave *wave, struct gt_error *error);
void gt_wave_close(struct gt_wave *wave);
void gt_wave_clear(struct gt_wave *wave);

/* Whether row i begins the next wave: a new block begins with a smaller access number than the previous row, which does not
 * happen within a wave of gschedule --issue rr. */
bool gt_wave_ends(const struct gt_wave *wave, const struct gt_rows *rows, size_t i);
int gt_wave_add(struct gt_wave *wave, const struct gt_rows *rows, size_t i, struct gt_error *error);
/* Puts the warps in order of block and index. Nothing can be added after. */
void gt_wave_order(struct gt_wave *wave);

#endif
