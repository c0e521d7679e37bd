/* SPDX-License-Identifier: MIT */
/* Puts accesses into logical order: by block, access number, warp (GT_ORDER_BLOCK). They come block by block, with the warps of
 * a block interleaved as they ran. An access is held until no later one can precede it, in memory and, when that is full, in a
 * temporary file in $TMPDIR, or /tmp. */
#ifndef GT_PTX_BLOCKORDER_H
#define GT_PTX_BLOCKORDER_H

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/spill.h"
#include "stream/rows.h"

/* Accesses of a block that wait for others: a packed FIFO in a store, which uses a temporary file when its memory is full. */

/* An access without its block, followed by words: the addresses of its lanes, or a pitch, if there is a width. */
struct gt_ptx_kept {
	uint64_t base;
	int64_t stride;
	uint32_t an, pc, mask, work, shared;
	uint16_t warp, hint;
	uint8_t op, size;
	uint8_t words; /* behind it */
	uint8_t width; /* as of struct gt_rows */
};

#define GT_PTX_HELD_BYTES ((size_t)8 << 10) /* a chunk: those of 32 warps stay in a core's cache */

struct gt_ptx_held_chunk {
	struct gt_ptx_held_chunk *next;
	struct gt_segment *segment;
	size_t written; /* bytes */
	unsigned char bytes[GT_PTX_HELD_BYTES - 2 * sizeof(void *) - sizeof(size_t)];
};

/* What the chunks of several FIFOs are taken from. */
struct gt_ptx_held_store {
	struct gt_store store;
	struct gt_ptx_held_chunk *spare; /* in memory; those that were read last come first, which a core still has in its cache */
};

/* `memory`: bytes of chunks that stay in memory; more go into a temporary file. */
void gt_ptx_held_store_open(struct gt_ptx_held_store *store, uint64_t memory);
void gt_ptx_held_store_close(struct gt_ptx_held_store *store);

/* Initially zero. Its chunks are freed with the store, or earlier by gt_ptx_held_clear. */
struct gt_ptx_held {
	struct gt_ptx_held_chunk *first, *last;
	size_t read; /* bytes of `first` that were read */
};

int gt_ptx_held_grow(struct gt_ptx_held *held, struct gt_ptx_held_store *store, struct gt_error *error);
void gt_ptx_held_shrink(struct gt_ptx_held *held, struct gt_ptx_held_store *store);
void gt_ptx_held_clear(struct gt_ptx_held *held, struct gt_ptx_held_store *store);

/* A new access with so many words behind it; NULL on error. */
static inline struct gt_ptx_kept *gt_ptx_held_new(struct gt_ptx_held *held, struct gt_ptx_held_store *store, size_t words,
						  struct gt_error *error)
{
	struct gt_ptx_held_chunk *chunk = held->last;

	if ((!chunk || sizeof chunk->bytes - chunk->written < sizeof(struct gt_ptx_kept) + GT_WARP_SIZE * sizeof(uint64_t)) &&
	    gt_ptx_held_grow(held, store, error) != 0)
		return NULL;
	chunk = held->last;
	struct gt_ptx_kept *kept = (struct gt_ptx_kept *)(void *)(chunk->bytes + chunk->written);
	chunk->written += sizeof *kept + words * sizeof(uint64_t);
	kept->words = (uint8_t)words;
	kept->width = 0;
	return kept;
}

/* The only word of an access that has a width. */
static inline int64_t *gt_ptx_kept_pitch(struct gt_ptx_kept *kept)
{
	return (int64_t *)(void *)(kept + 1);
}

/* Fills it from row i, but for warp, an, hint and the number of words. */
static inline void gt_ptx_kept_fill(struct gt_ptx_kept *kept, const struct gt_rows *rows, size_t i)
{
	kept->base = rows->base[i];
	kept->stride = rows->stride[i];
	kept->pc = rows->pc[i];
	kept->mask = rows->mask[i];
	kept->work = rows->has_work ? rows->work[i] : 0;
	kept->shared = gt_rows_shared(rows, i);
	kept->op = rows->op[i];
	kept->size = rows->size[i];
	kept->width = rows->width[i];
	if (kept->width)
		*gt_ptx_kept_pitch(kept) = rows->pitch[i];
	else if (kept->words > 0)
		memcpy(kept + 1, rows->lanes + kept->base, kept->words * sizeof *rows->lanes);
}

/* How many words an access has: the addresses of its lanes, or a pitch. */
static inline size_t gt_ptx_words_of(uint32_t mask, int64_t stride, uint8_t width)
{
	return stride == GT_STRIDE_LANES ? (size_t)__builtin_popcount(mask) : width != 0;
}

static inline size_t gt_ptx_row_words(const struct gt_rows *rows, size_t i)
{
	return gt_ptx_words_of(rows->mask[i], rows->stride[i], rows->width[i]);
}

/* Adds row i. */
static inline int gt_ptx_held_add(struct gt_ptx_held *held, struct gt_ptx_held_store *store, const struct gt_rows *rows, size_t i,
				  struct gt_error *error)
{
	struct gt_ptx_kept *kept = gt_ptx_held_new(held, store, gt_ptx_row_words(rows, i), error);

	if (!kept)
		return -1;
	kept->an = rows->an[i];
	kept->warp = rows->warp[i];
	kept->hint = gt_rows_hint(rows, i);
	gt_ptx_kept_fill(kept, rows, i);
	return 0;
}

/* The oldest access, valid until it is passed on; NULL if there is none. */
static inline const struct gt_ptx_kept *gt_ptx_held_first(const struct gt_ptx_held *held)
{
	return held->first && held->read < held->first->written
		       ? (const struct gt_ptx_kept *)(const void *)(held->first->bytes + held->read)
		       : NULL;
}

/* Passes the oldest access on, as one of the block. */
static inline int gt_ptx_held_pass(struct gt_ptx_held *held, struct gt_ptx_held_store *store, uint32_t block, struct gt_sink *to,
				   struct gt_error *error)
{
	const struct gt_ptx_kept *kept = gt_ptx_held_first(held);
	struct gt_rows *rows = to->rows;
	const size_t words = kept->words;

	if (gt_sink_room(to, error) != 0)
		return -1;
	size_t at = rows->n;
	rows->block[at] = block;
	rows->warp[at] = kept->warp;
	rows->an[at] = kept->an;
	rows->pc[at] = kept->pc;
	rows->op[at] = kept->op;
	rows->hint[at] = kept->hint;
	rows->has_hints |= kept->hint != 0;
	rows->work[at] = kept->work;
	rows->shared[at] = kept->shared;
	rows->has_shared |= kept->shared != 0;
	rows->size[at] = kept->size;
	rows->mask[at] = kept->mask;
	rows->base[at] = kept->base;
	rows->stride[at] = kept->stride;
	rows->width[at] = kept->width;
	if (kept->width)
		memcpy(&rows->pitch[at], kept + 1, sizeof *rows->pitch);
	else if (words > 0 && gt_rows_set_addresses(rows, at, kept->mask, (const uint64_t *)(const void *)(kept + 1), error) != 0)
		return -1;
	rows->n++;
	held->read += sizeof *kept + words * sizeof(uint64_t);
	if (held->read == held->first->written)
		gt_ptx_held_shrink(held, store);
	return 0;
}

/* ---- the block that runs ---- */

/* The accesses of the block that runs, warp by warp, until they are put in order. The machine adds to them what it traces,
 * without a batch of rows in between. */

#define GT_PTX_HOLD_WARPS 32 /* of a block at most: 1024 threads */

struct gt_ptx_hold {
	struct gt_ptx_held_store store;
	struct gt_ptx_held held[GT_PTX_HOLD_WARPS]; /* by their ordinals */
	uint64_t next[GT_PTX_HOLD_WARPS];	     /* smallest ordinal that may still come */
	uint32_t ended;				     /* bit w: warp w makes no more accesses */
	uint32_t block;
	unsigned warps; /* 1 + the highest warp with an access */
	uint64_t n;	/* held */
	bool has_hints, has_work, has_shared;
	bool has_pitch; /* of some accesses that were held */
	size_t room; /* accesses that may be added before `turn` is called, as before those of another block */
	int (*turn)(struct gt_ptx_hold *hold, uint32_t block, struct gt_error *error);
};

/* The place of one more access of a warp, whose warp, an, hint and number of words are set; NULL on error. */
static inline struct gt_ptx_kept *gt_ptx_hold_add(struct gt_ptx_hold *hold, uint32_t block, unsigned warp, uint32_t an,
						  uint16_t hint, size_t words, struct gt_error *error)
{
	if ((hold->block != block || hold->room == 0) && hold->turn(hold, block, error) != 0)
		return NULL;
	const unsigned at = warp % GT_PTX_HOLD_WARPS;
	struct gt_ptx_kept *kept = gt_ptx_held_new(&hold->held[at], &hold->store, words, error);
	if (!kept)
		return NULL;
	kept->an = an;
	kept->warp = (uint16_t)warp;
	kept->hint = hint;
	hold->has_pitch |= words == 1;
	hold->next[at] = (uint64_t)an + 1;
	hold->warps = at >= hold->warps ? at + 1 : hold->warps;
	hold->has_hints |= hint != 0;
	hold->room--;
	hold->n++;
	return kept;
}

/* ---- order ---- */

struct gt_ptx_blockorder;

/* Rows are passed to the sink `to`, which the caller owns. Held rows use up to `memory` bytes of memory. */
struct gt_ptx_blockorder *gt_ptx_blockorder_open(struct gt_sink *to, uint64_t memory, struct gt_error *error);
void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order);

/* The sink for the accesses. */
struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order);

/* For accesses that come without a sink (the launch's `hold`). Its `ended` is the launch's: with it, accesses of a long block
 * are passed on early. */
struct gt_ptx_hold *gt_ptx_blockorder_hold(struct gt_ptx_blockorder *order);

/* Passes rows to another sink from now on. None is held. */
void gt_ptx_blockorder_to(struct gt_ptx_blockorder *order, struct gt_sink *to);

/* Calls `ended` between two groups of so many blocks, when the accesses of the first have been passed on, with the last block that had
 * some and the next that has. 0: never. */
void gt_ptx_blockorder_groups(struct gt_ptx_blockorder *order, uint64_t blocks,
			       int (*ended)(void *context, uint64_t last, uint64_t next, struct gt_error *error),
			      void *context);

/* Passes on all held accesses, at the end of a launch. */
int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error);

#endif
