/* SPDX-License-Identifier: MIT */
/* The rows of a block: loose while memory lasts, else packed; and in issue order when it has become resident. */
#ifndef GT_SCHEDULE_BLOCK_H
#define GT_SCHEDULE_BLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pages.h"
#include "base/spill.h"
#include "schedule/packed.h"
#include "stream/rows.h"

/* ---- the shapes of a kernel's rows, by number ---- */

struct shapes {
	struct shape *all;
	uint32_t n, capacity;
	uint16_t *slots; /* hash table of numbers; SHAPE_NONE: empty */
	uint32_t mask;	 /* slots - 1 */
	uint16_t last;	 /* the shape looked up last */
	uint32_t shared; /* 0: no shape has accesses to shared memory before it */
};

/* ---- spans ---- */

/* Rows that wait, several as one: those of one access number and one numbered shape whose bases have a common difference, and
 * whose warps follow each other or are one. Warps of a block mostly do the same at even distances, so eight rows take 24 bytes.
 *
 * A span is a struct kept of its first row. If it has others, the shape of that has SPAN_MANY too, and a struct span_more is
 * behind it. */

#define SPAN_MANY 0x8000

_Static_assert(SHAPES_MAX <= SPAN_MANY, "no shape has the number SPAN_MANY");
_Static_assert(SHAPE_NONE >= SPAN_MANY, "rows without a numbered shape are told apart from spans");

struct span_more {
	int32_t delta;	     /* from base to base */
	uint16_t n;	     /* rows, the first included */
	uint16_t warp_delta; /* 0 or 1 */
};

#define SPAN_WORDS (sizeof(struct kept) / sizeof(uint64_t)) /* of a single row */
#define SPAN_MORE_WORDS (sizeof(struct span_more) / sizeof(uint64_t))

_Static_assert(sizeof(struct span_more) == sizeof(uint64_t), "spans are made of words");

static inline bool gt_span_is_many(const struct kept *span)
{
	return span->shape >= SPAN_MANY && span->shape != SHAPE_NONE;
}

static inline struct span_more *gt_span_more(const struct kept *span)
{
	return (struct span_more *)(void *)((uint64_t *)(uintptr_t)span + SPAN_WORDS);
}

/* The words that it takes. */
static inline size_t gt_span_words(const struct kept *span)
{
	return SPAN_WORDS + (gt_span_is_many(span) ? SPAN_MORE_WORDS : 0);
}

/* The span behind it. */
static inline struct kept *gt_span_next(const struct kept *span)
{
	return (struct kept *)(void *)((uint64_t *)(uintptr_t)span + gt_span_words(span));
}

static inline size_t gt_span_rows(const struct kept *span)
{
	return gt_span_is_many(span) ? gt_span_more(span)->n : 1;
}

/* What its rows share. */
static inline const struct shape *gt_span_shape(const struct shapes *shapes, const struct kept *span)
{
	return span->shape == SHAPE_NONE ? &((const struct odd *)(uintptr_t)span->base)->shape : &shapes->all[span->shape & ~SPAN_MANY];
}

/* Row k of it. */
static inline struct kept gt_span_row(const struct kept *span, size_t k)
{
	struct kept row = *span;

	if (!gt_span_is_many(span))
		return row;
	const struct span_more *more = gt_span_more(span);
	row.base += k * (uint64_t)(int64_t)more->delta;
	row.warp = (uint16_t)(row.warp + k * more->warp_delta);
	row.shape &= (uint16_t)~SPAN_MANY;
	return row;
}

/* The end of the first access of spans of a warp, of which there is one. */
static inline struct kept *gt_access_end(struct kept *span, const struct kept *end)
{
	const uint32_t an = span->an;

	do
		span = gt_span_next(span);
	while (span < end && span->an == an);
	return span;
}

/* The words of the first access of spans of a warp, and of those behind it that fit into `most` words with it. */
static inline size_t gt_accesses_within(struct kept *first, const struct kept *end, size_t most)
{
	struct kept *at = gt_access_end(first, end);
	size_t words = (size_t)((uint64_t *)(void *)at - (uint64_t *)(void *)first);

	for (size_t more = words; more <= most && at < end;) {
		at = gt_access_end(at, end);
		more = (size_t)((uint64_t *)(void *)at - (uint64_t *)(void *)first);
		words = more <= most ? more : words;
	}
	return words;
}

/* ---- loose rows: as they came, in spans: quick to keep and to issue, while memory lasts ---- */

/* Words: of spans, or of odd rows. */
struct piece {
	struct piece *next;
	size_t n, capacity, bytes; /* bytes: of all */
	size_t pooled; /* bytes that are the pool's again when it is released; 0: it is memory of its own */
	uint64_t data[];
};

struct loose {
	struct piece *rows, *last, *odd;
	size_t n, words; /* rows, and the words that they take */
	bool unsorted; /* rows did not come in the order of (an, warp) */
	uint64_t key;  /* (an, warp) of the last row */
	uint16_t highest_warp;
};

/* The memory of all of them; what the pool has is used as long as the kernel lasts. */
struct loose_memory {
	size_t limit, used;
	bool by_warp; /* spans have rows of one warp only */
	bool folded;  /* and are folded once all of a block have come */
	uint64_t *fold; /* room to fold in */
	size_t fold_capacity;
	struct gt_arena arena;
	struct gt_free_lists pool; /* blocks come and go, and pages that go back to the system cost more than what is done in them */
};

/* The order of a resident block's rows. Rows of one warp and access number keep their order. Folded ones are by warp, too. */
enum arrangement { BY_ACCESS, BY_WARP, FOLDED };

/* The spans of a piece begin here, and end there. */
static inline struct kept *gt_piece_spans(struct piece *piece)
{
	return (struct kept *)(void *)piece->data;
}

static inline struct kept *gt_piece_end(struct piece *piece)
{
	return (struct kept *)(void *)(piece->data + piece->n);
}

/* Puts the spans of a piece into another, which has room and is of as many words: those of one warp each, none above `highest`, by warp, or single
 * rows by access number and warp. Those of one keep their order; `from` may be overwritten. Returns 0, or -1. */
int gt_piece_sort(struct piece *to, struct piece *from, bool by_warp, uint16_t highest, struct gt_error *error);

/* ---- rows of a warp that are folded ---- */

/* Loops of a kernel make a warp's accesses alike: each time around, the same instructions, at bases that differ by a constant. So spans of a
 * warp are kept as loops: what its spans are the first time around, what to add to their bases, and those that come otherwise. A matrix
 * product takes a tenth of the memory. By access number, all spans of a block are folded as if they were of one warp.
 *
 * What a warp has is a struct fold_warp and so many `words` of chunks. A chunk is a struct fold_chunk and what belongs to it: slots, each for a
 * span of a loop, and behind them what comes otherwise; or, if it has no slots, spans as they are. */

struct fold_warp {
	uint32_t warp, words; /* the first of its spans' warps */
};

struct fold_chunk {
	uint32_t n, words; /* spans that it makes, or words of them if it has no slots; words of it */
	uint32_t an, step; /* the access number at its beginning, which grows each time around */
	uint64_t slots;
};

/* If its span has several rows, their struct span_more is behind it. */
struct fold_slot {
	uint64_t base; /* of the span that it makes next */
	int32_t delta; /* to the one after that */
	uint16_t shape;
	uint16_t an : 5;     /* after that of the loop's first slot */
	uint16_t begins : 5; /* words of the access that begins with it; 0: it goes on with one */
	uint16_t warp : 6;   /* after the first of what is folded */
};

/* A span that has a shape and a base of its own. */
struct fold_other {
	uint32_t after; /* spans behind the one before, which are as expected */
	uint32_t shape;
	uint64_t base;
};

#define FOLD_WORDS(TYPE) (sizeof(TYPE) / sizeof(uint64_t))
#define FOLD_SLOTS 32	     /* at most, and access numbers */
#define FOLD_WARPS 64	     /* at most */
#define FOLD_ACCESS_WORDS 24 /* at most, of an access in a loop */

_Static_assert(sizeof(struct fold_slot) == 16 && sizeof(struct fold_chunk) == 24 && sizeof(struct fold_other) == 16, "folds are made of words");

/* What is left of the spans of a warp. */
struct unfolding {
	uint64_t *at, *end; /* of the chunks that follow */
	struct fold_chunk *chunk; /* the present one; NULL: none has begun */
	uint64_t *next;	 /* of it: spans, or what comes otherwise */
	uint64_t *slot, *slots_end; /* the next one; behind the last one */
	uint32_t left;	 /* spans, or words if it has no slots */
	uint32_t expected; /* spans up to the next that comes otherwise */
	uint16_t warp;
};

/* Room for what is folded, beyond its words: some of it is tried and not kept. */
#define FOLD_MORE (FOLD_WORDS(struct fold_warp) + 2 * FOLD_WORDS(struct fold_chunk) + FOLD_SLOTS * (FOLD_WORDS(struct fold_slot) + SPAN_MORE_WORDS))

/* Folds spans, in order, into `to`, which has room for FOLD_MORE words more than they take. Returns how many it takes. */
size_t gt_fold(const struct shapes *shapes, const struct kept *spans, const struct kept *end, uint64_t *to);

/* The next warp, behind what this one has. */
static inline struct fold_warp *gt_fold_next(struct fold_warp *warp)
{
	return (struct fold_warp *)(void *)((uint64_t *)(void *)(warp + 1) + warp->words);
}

static inline struct unfolding gt_unfolding(struct fold_warp *warp)
{
	uint64_t *at = (uint64_t *)(void *)(warp + 1);

	return (struct unfolding){.at = at, .end = at + warp->words, .warp = (uint16_t)warp->warp};
}

/* The next whole accesses: at least one, and as many as take `most` words, which is at least FOLD_ACCESS_WORDS. They are in `room`, or where
 * they are kept. Returns how many words they take; 0: none is left. */
size_t gt_unfold(struct unfolding *unfolding, uint64_t *room, size_t most, struct kept **spans);

static inline struct fold_warp *gt_first_fold(struct piece *piece)
{
	return (struct fold_warp *)(void *)piece->data;
}

/* ---- blocks ---- */

#define GT_WARPS_PAGE 8

/* The packed rows of a warp. */
struct packed_warp {
	struct gt_spill_queue queue;
	uint32_t an; /* of its last row */
	bool unsorted; /* rows did not come by access number */
};

struct block {
	/* What an issue touches, together. */
	struct kept *row, *end; /* rr: spans, or rows of the window, still to be issued; all have been if there are none */
	uint64_t start;	 /* rr: the round at which its access 0 issues */
	size_t position; /* in the SM's array of resident blocks */
	uint64_t begin;	 /* the step of its first issue */
	uint32_t number;
	uint16_t done;	 /* rr: rows of the first of these spans that have been issued */
	bool begun;	 /* it has issued a row */
	bool skipped;	 /* not modelled: its rows are dropped */
	bool open;	 /* more rows may come */
	uint64_t idle;	 /* blocks from this one on that have no rows; 0: it has */
	uint64_t instructions; /* of each of these */

	uint32_t sm;
	uint64_t id;	/* no other block of the kernel has it */
	uint64_t index; /* among the blocks of its SM */
	uint16_t highest_warp;
	bool packed;	    /* its rows are in `pages`; else in `loose` */
	bool folded;	    /* these are struct fold_warp and what belongs to them */
	struct loose loose;
	struct packed_warp **pages; /* GT_WARPS_PAGE warps each; NULL: none of them has rows */
	size_t n_pages;
	struct block *next; /* in the queue of the same SM */

	/* While resident. */
	struct source *sources; /* its warps that have rows; NULL if it is folded */
	size_t n_sources, n_folds; /* folded by warp: so many struct fold_warp, whose spans are unfolded by the one who issues them */
	struct window window; /* rr, packed: rows by access number and warp, whole accesses; folded: room for spans */
	struct unfolding unfolding; /* rr, folded */
	uint64_t slot;	      /* its number among the blocks that an SM can hold */
	size_t warps_left;    /* gto, latency: warps that have rows left */
	struct runner *runners; /* latency: its warps, in an arena */
	size_t n_runners;
};

/* Packs the rows of the block that has this id and come from one warp. */
struct warp_packer {
	struct packer packer;
	struct packed_warp *warp;
	uint64_t id;
};

/* Where the rows of a kernel are kept. */
struct keep {
	struct loose_memory loose;
	struct gt_spill spill;
	struct shapes shapes;
	size_t expected; /* words of a block that is loose: as many as the last one had */
	unsigned unfolded; /* rr: so many of the next blocks are not folded */
	struct gt_rows *singly; /* room for requests of which several were a row, but cannot be a span; NULL: none yet */
	struct warp_packer *packers; /* by warp */
	size_t n_packers;
	pthread_mutex_t unpacking; /* held by the thread whose source unpacks: all use `spill` */
	uint64_t blocks; /* made so far */
};

/* Of the memory, one half is for loose rows and one for packed rows; more of these go to a file. Blocks will be
 * arranged so. */
int gt_keep_open(struct keep *keep, size_t memory, const char *directory, enum arrangement arrangement, struct gt_error *error);
void gt_keep_close(struct keep *keep);

struct block *gt_block_new(uint32_t number, struct keep *keep, struct gt_error *error);
/* Releases the rows and frees the block. */
void gt_block_free(struct block *block, struct keep *keep);

/* Keeps rows [first, last) of a batch, all of this block. Returns 0, or -1. */
int gt_block_add(struct block *block, struct keep *keep, const struct gt_rows *rows, size_t first, size_t last,
		 struct gt_error *error);

/* No more rows will come, so they can be folded. Returns 0, or -1. */
int gt_block_close(struct block *block, struct keep *keep, struct gt_error *error);

/* Makes sources of the warps of a block that becomes resident, or counts them if they are folded. By access, its first rows are then in its window. */
int gt_block_arrange(struct block *block, struct keep *keep, enum arrangement arrangement, struct gt_error *error);

/* By access: the next rows, when all before have been issued. */
int gt_block_fill(struct block *block, struct keep *keep, struct gt_error *error);

#endif
