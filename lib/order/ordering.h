/* SPDX-License-Identifier: MIT */
/* The state of an ordering (order/order.h): order.c takes the trace, batches.c the rows of a stream that come in order, and write.c
 * writes what has been ordered. */
#ifndef GT_ORDER_ORDERING_H
#define GT_ORDER_ORDERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "order/fold.h"
#include "order/order.h"
#include "order/packed.h"
#include "order/sort.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/program.h"
#include "stream/records.h"
#include "stream/rows.h"

/* ---- launches ---- */

/* Kinds of records that are passed over, of which there is more to say. */
#define GT_PASSED_REGISTERS "impossible register counts"
#define GT_PASSED_SHARED "impossible shared memory"
#define GT_PASSED_VERSIONS "tracer versions above 6" /* as importers name them */
#define GT_PASSED_STREAMS "overlap with other streams"

/* What was passed over in a trace, by kinds of records. */
struct gt_passed_kind {
	char what[GT_COUNT_NAME];
	uint64_t number;
};

/* Initially zero. */
struct gt_passed_list {
	struct gt_passed_kind *kinds; /* in the order of first appearance */
	size_t n, capacity;
};

/* What an access of a launch may be: blocks, warps and lanes that the launch has. */
struct gt_order_limits {
	uint64_t blocks;       /* a block must be below */
	uint64_t warps;	       /* a warp must be below */
	uint32_t absent_lanes; /* lanes that the last warp does not have */
};

#define GT_ORDER_NO_BLOCK UINT64_MAX

/* Which blocks of a launch have come, so that those that are missing can be told. */
struct gt_order_blocks {
	uint64_t last;	/* the block that came last, or GT_ORDER_NO_BLOCK */
	uint64_t n;	/* that have come */
	uint64_t *bits; /* by block; NULL: none has come, or all have */
	size_t words;
	bool lost; /* bits would have taken too much memory: it is not known which have come */
};

/* The source lines of a launch's instructions, gathered while its trace is read. */
struct gt_order_lines {
	struct gt_map by_pc; /* not open until there is one */
};

/* A launch: as announced, the limits of its accesses, and their totals. */
struct gt_order_launch {
	struct gt_kernel kernel;
	bool wanted;
	uint64_t file; /* that announced it first */
	struct gt_order_limits limits;
	bool goes_on; /* in a file behind that one */
	struct gt_order_blocks blocks; /* unless all that make accesses are known to be there: */
	bool whole;
	bool lists_blocks; /* the source says which it has */
	uint32_t greatest_block;
	uint16_t greatest_warp;
	uint64_t accesses, scheduled;
	bool hinted; /* an access has a hint */
	bool shares; /* one has accesses to shared memory before it */
	uint64_t timed; /* accesses that say what the warp did before them */
	struct gt_order_lines lines;
	struct gt_copies copies; /* before it */
	struct gt_count *counts; /* of its stream */
	size_t counts_n, counts_capacity;
	struct gt_passed_list passed;
	struct gt_fold_counts held; /* what is counted of its rows in batches (order/batches.c) */
};

/* The launches of a trace, and which one an announcement is of. */
struct gt_order_launches {
	struct gt_order_launch **launches;
	size_t n, capacity;
	struct gt_map by_source; /* from the ids of the sources to launches */
	struct gt_map used;	 /* ids that launches have */
	uint64_t next_id;	 /* no smaller one is free */
	uint64_t file;		 /* files begun */
	size_t since;		 /* launches that an id can mean begin here */
	struct gt_unmatched unmatched; /* names that are not wanted */
};

/* ---- rows of a stream ---- */

/* Batches of a stream whose rows are in order already, packed as they will be written: a third of what rows that are to be sorted
 * take. They are held, since rows that belong before them may still come. */
struct gt_order_batch {
	uint32_t launch; /* its place among those seen */
	size_t rows;
	size_t chunk, offset, n; /* its record: where it is among the chunks, and its bytes */
};

/* Initially zero. */
struct gt_order_batches {
	struct gt_order_batch *batches; /* in order */
	size_t n, capacity;
	struct gt_bytes *chunks; /* which are freed one by one */
	size_t chunks_n, chunks_capacity;
	uint64_t bytes;	       /* of all records */
	struct gt_bytes record; /* the last that was packed */
	struct gt_rows *rest; /* rows of the last launch that make no whole batch; NULL: none yet */
	uint32_t launch;      /* that one */
	struct gt_sort_key last; /* of the last row, if there are any */
};

/* ---- the ordering ---- */

/* The next ordinal of each thread or warp, for traces without ordinals. A page has 32 counters, for the warps of
 * a block or the threads of a warp. */
struct gt_ordinals {
	struct gt_map pages; /* from what a page counts to its index */
	uint32_t (*counters)[32];
	size_t n, capacity; /* pages */
	uint64_t last;	    /* the key of the page used last */
	size_t last_page;
};

struct gt_ordering {
	struct gt_order_options options;
	struct gt_trace trace;
	struct gt_sorter *sorter;
	struct gt_ordinals ordinals;
	uint64_t ordinals_bytes; /* that the sorter was last told */
	struct gt_fold_in fold;
	struct gt_order_launches launches;
	struct gt_order_launch *launch; /* the current one */
	uint32_t launch_index;
	struct gt_passed_list passed; /* in all launches, and before them */
	struct gt_passed_list passed_before; /* before the launch that begins next, in whose counts it will be */
	struct gt_copies copies; /* since the last launch that was wanted */
	uint64_t blocks_room; /* bytes that the bits of blocks may still take */
	uint64_t accesses;
	struct gt_order_batches batches; /* all rows, while they come in order from streams; then none are anywhere else */
	bool scattered;			 /* they do not */
};

#define GT_ORDER_PROGRESS 65536 /* accesses between two reports */

/* Counts n accesses, and reports how many there are if that is due. */
static inline void gt_order_count(struct gt_ordering *order, uint64_t n)
{
	uint64_t before = order->accesses;

	order->accesses += n;
	if (before / GT_ORDER_PROGRESS != order->accesses / GT_ORDER_PROGRESS && order->options.progress)
		order->options.progress(order->options.context, order->accesses);
}

/* Keeps a row to be sorted; `addresses` if it lists them, else NULL. */
static inline int gt_order_keep(struct gt_ordering *order, struct gt_packed *row, const uint64_t *addresses, struct gt_error *error)
{
	if ((row->mask & (row->mask - 1)) == 0) {
		row->base = addresses ? addresses[0] : row->base;
		return gt_fold_in_add(&order->fold, row, order->sorter, error);
	}
	if (addresses)
		gt_pack_addresses(row, addresses);
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	return gt_sorter_add(order->sorter, row, addresses, error);
}

/* Frees the ordinals, which nothing needs once the input has ended. */
static inline void gt_ordinals_close(struct gt_ordinals *ordinals)
{
	gt_map_close(&ordinals->pages);
	free(ordinals->counters);
	*ordinals = (struct gt_ordinals){0};
}

/* ---- batches.c ---- */

static inline bool gt_order_batches_any(const struct gt_order_batches *batches)
{
	return batches->n > 0 || (batches->rest && batches->rest->n > 0);
}

/* Makes rows of the batches, which are sorted with others; no more are held from now on. Returns 0, or -1. */
int gt_order_scatter(struct gt_ordering *order, struct gt_error *error);
/* Writes those of a launch from batch *first on, which is then the first that is of another launch. Returns 0, or -1. */
int gt_order_batches_write(struct gt_order_batches *batches, uint32_t launch, size_t *first, struct gt_writer *writer,
			   struct gt_error *error);
void gt_order_batches_close(struct gt_order_batches *batches);

#endif
