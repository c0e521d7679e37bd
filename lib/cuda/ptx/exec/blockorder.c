/* SPDX-License-Identifier: MIT */
/* Puts accesses into logical order: held accesses of a block, a packed FIFO for each warp, and when they are passed on. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cuda/ptx/exec/blockorder.h"

/* ---- FIFOs ---- */

void gt_ptx_held_store_open(struct gt_ptx_held_store *store, uint64_t memory)
{
	*store = (struct gt_ptx_held_store){.spare = NULL};
	gt_store_open(&store->store, memory, gt_temporary_directory());
}

void gt_ptx_held_store_close(struct gt_ptx_held_store *store)
{
	gt_store_close(&store->store);
}

static struct gt_ptx_held_chunk *take(struct gt_ptx_held_store *store, struct gt_error *error)
{
	struct gt_ptx_held_chunk *chunk = store->spare;
	struct gt_segment *segment;

	if (chunk) {
		store->spare = chunk->next;
		return chunk;
	}
	chunk = gt_store_take(&store->store, sizeof *chunk, &segment, error);
	if (chunk)
		chunk->segment = segment;
	return chunk;
}

static void release(struct gt_ptx_held_store *store, struct gt_ptx_held_chunk *chunk)
{
	if (chunk->segment->in_file) {
		gt_store_release(&store->store, chunk->segment);
		return;
	}
	chunk->next = store->spare;
	store->spare = chunk;
}

/* Appends a chunk. */
int gt_ptx_held_grow(struct gt_ptx_held *held, struct gt_ptx_held_store *store, struct gt_error *error)
{
	struct gt_ptx_held_chunk *chunk = take(store, error);

	if (!chunk)
		return -1;
	chunk->next = NULL;
	chunk->written = 0;
	if (held->last) {
		held->last->next = chunk;
		gt_store_put_aside(held->last->segment, held->last, sizeof *held->last);
	} else {
		held->first = chunk;
	}
	held->last = chunk;
	return 0;
}

/* Removes the first chunk, which was read completely. The last chunk is kept, empty. */
void gt_ptx_held_shrink(struct gt_ptx_held *held, struct gt_ptx_held_store *store)
{
	struct gt_ptx_held_chunk *chunk = held->first;

	held->read = 0;
	if (!chunk->next) {
		chunk->written = 0;
		return;
	}
	held->first = chunk->next;
	release(store, chunk);
}

void gt_ptx_held_clear(struct gt_ptx_held *held, struct gt_ptx_held_store *store)
{
	while (held->first) {
		struct gt_ptx_held_chunk *next = held->first->next;
		release(store, held->first);
		held->first = next;
	}
	*held = (struct gt_ptx_held){0};
}

/* ---- order ---- */

#define WARPS GT_PTX_HOLD_WARPS
#define EARLY (1U << 16) /* held accesses above which some are passed on before the block ends */

struct gt_ptx_blockorder {
	struct gt_ptx_hold hold; /* first: `turn` is given it */
	struct gt_sink in, *to;
	size_t taken, coming; /* while a batch is taken: the row whose turn it is, and the end; else 0 */
	uint64_t group_blocks; /* 0: no groups */
	int (*ended)(void *context, uint64_t last, uint64_t next, struct gt_error *error);
	void *context; /* of it */
};

static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error);
static int take_turn(struct gt_ptx_hold *hold, uint32_t block, struct gt_error *error);

struct gt_ptx_blockorder *gt_ptx_blockorder_open(struct gt_sink *to, uint64_t memory, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = calloc(1, sizeof *order);

	if (!order) {
		gt_fail_memory(error, "a block's accesses");
		return NULL;
	}
	order->to = to;
	order->hold.turn = take_turn;
	order->hold.room = GT_ROWS_BATCH;
	gt_ptx_held_store_open(&order->hold.store, memory);
	order->in = (struct gt_sink){gt_rows_new(GT_ROWS_BATCH, error), take_batch, order};
	if (!order->in.rows) {
		gt_ptx_blockorder_close(order);
		return NULL;
	}
	return order;
}

void gt_ptx_blockorder_close(struct gt_ptx_blockorder *order)
{
	if (!order)
		return;
	gt_rows_free(order->in.rows);
	gt_ptx_held_store_close(&order->hold.store);
	free(order);
}

struct gt_sink *gt_ptx_blockorder_sink(struct gt_ptx_blockorder *order)
{
	return &order->in;
}

struct gt_ptx_hold *gt_ptx_blockorder_hold(struct gt_ptx_blockorder *order)
{
	return &order->hold;
}

void gt_ptx_blockorder_to(struct gt_ptx_blockorder *order, struct gt_sink *to)
{
	order->to = to;
}

void gt_ptx_blockorder_groups(struct gt_ptx_blockorder *order, uint64_t blocks,
			      int (*ended)(void *context, uint64_t last, uint64_t next, struct gt_error *error), void *context)
{
	order->group_blocks = blocks;
	order->ended = ended;
	order->context = context;
}

static uint64_t first_of(const struct gt_ptx_hold *hold, unsigned warp)
{
	const struct gt_ptx_kept *kept = gt_ptx_held_first(&hold->held[warp]);

	return kept ? kept->an : UINT64_MAX;
}

/* Warps whose next accesses have one ordinal, and rows for which no test is needed but that of their lanes. */
struct rounds {
	unsigned n, warps[WARPS];
	const struct gt_ptx_kept *kept[WARPS];
	uint64_t an, end; /* ordinals */
};

/* Finds how many rounds over these warps can be taken: each has so many accesses in its chunk, no other warp comes before, and there
 * is room. */
static void find_rounds(const struct gt_ptx_hold *hold, const uint64_t *first, uint64_t an, uint64_t bound, const struct gt_rows *rows,
			struct rounds *rounds)
{
	const size_t each = sizeof(struct gt_ptx_kept) + (hold->has_pitch ? sizeof(uint64_t) : 0); /* bytes of an access that is taken, at most */

	rounds->n = 0;
	rounds->an = an;
	for (unsigned warp = 0; warp < hold->warps; warp++) {
		const struct gt_ptx_held *held = &hold->held[warp];
		if (first[warp] != an) {
			bound = first[warp] < bound ? first[warp] : bound;
			continue;
		}
		const uint64_t there = (held->first->written - held->read) / each;
		bound = bound - an > there ? an + there : bound;
		rounds->kept[rounds->n] = gt_ptx_held_first(held);
		rounds->warps[rounds->n++] = warp;
	}
	const uint64_t room = (rows->capacity - rows->n) / rounds->n;
	rounds->end = bound - an < room ? bound : an + room;
}

/* Passes them on until one lists the addresses of its lanes, or has another ordinal. The columns are named once, since a compiler must take it
 * that each store may change where they are. */
static void fill_rounds(struct rounds *rounds, uint32_t block, struct gt_rows *rows)
{
	const struct gt_rows to = *rows;
	const size_t warps = rounds->n;
	size_t at = to.n;
	uint16_t hints = 0;
	uint32_t shared = 0;

	for (uint64_t an = rounds->an; an < rounds->end; an++)
		for (size_t i = 0; i < warps; i++, at++) {
			const struct gt_ptx_kept *kept = rounds->kept[i];
			if (kept->words > 1 || kept->an != an)
				goto end;
			to.block[at] = block;
			to.warp[at] = kept->warp;
			to.an[at] = kept->an;
			to.pc[at] = kept->pc;
			to.op[at] = kept->op;
			to.hint[at] = kept->hint;
			if (to.has_work) {
				to.work[at] = kept->work;
				to.shared[at] = kept->shared;
				shared |= kept->shared;
			}
			to.size[at] = kept->size;
			to.mask[at] = kept->mask;
			to.base[at] = kept->base;
			to.stride[at] = kept->stride;
			to.width[at] = kept->width;
			if (kept->width)
				memcpy(&to.pitch[at], kept + 1, sizeof *to.pitch);
			hints |= kept->hint;
			rounds->kept[i] = (const struct gt_ptx_kept *)(const void *)((const uint64_t *)(const void *)(kept + 1) + kept->words);
		}
end:
	rows->n = at;
	rows->has_hints |= hints != 0;
	rows->has_shared |= shared != 0;
}

/* Passes on the next accesses of these warps as far as they need no more tests. */
static void pass_rounds(struct gt_ptx_hold *hold, uint64_t *first, uint64_t an, uint64_t bound, struct gt_rows *rows)
{
	struct rounds rounds;

	find_rounds(hold, first, an, bound, rows, &rounds);
	hold->n += rows->n;
	fill_rounds(&rounds, hold->block, rows);
	hold->n -= rows->n;
	for (unsigned i = 0; i < rounds.n; i++) {
		const unsigned warp = rounds.warps[i];
		struct gt_ptx_held *held = &hold->held[warp];
		held->read = (size_t)((const unsigned char *)rounds.kept[i] - held->first->bytes);
		if (held->read == held->first->written)
			gt_ptx_held_shrink(held, &hold->store);
		first[warp] = first_of(hold, warp);
	}
}

/* Passes on held accesses with ordinals below `bound`. The accesses of a warp come in the order of their ordinals, so a loop
 * over the warps takes each access once. */
static int pass_below(struct gt_ptx_blockorder *order, uint64_t bound, struct gt_error *error)
{
	struct gt_ptx_hold *hold = &order->hold;
	uint64_t first[WARPS];

	if (hold->n > 0 &&
	    gt_sink_begin_as(order->to, &(struct gt_rows){.kind = GT_ACCESSES, .has_hints = hold->has_hints, .has_work = hold->has_work,
							 .has_shared = hold->has_shared}, error) != 0)
		return -1;
	for (unsigned warp = 0; warp < hold->warps; warp++)
		first[warp] = first_of(hold, warp);
	while (hold->n > 0) {
		uint64_t an = UINT64_MAX;
		for (unsigned warp = 0; warp < hold->warps; warp++)
			an = first[warp] < an ? first[warp] : an;
		if (an >= bound)
			return 0;
		pass_rounds(hold, first, an, bound, order->to->rows);
		for (unsigned warp = 0; warp < hold->warps; warp++)
			for (; first[warp] == an; hold->n--) {
				if (gt_ptx_held_pass(&hold->held[warp], &hold->store, hold->block, order->to, error) != 0)
					return -1;
				first[warp] = first_of(hold, warp);
			}
	}
	return 0;
}

/* Passes on the held block, which is complete. */
static int pass_block(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	struct gt_ptx_hold *hold = &order->hold;
	int result = pass_below(order, UINT64_MAX, error);

	memset(hold->next, 0, sizeof hold->next);
	hold->warps = 0;
	hold->has_hints = hold->has_shared = hold->has_pitch = false;
	return result;
}

/* The warps that make no more accesses, and have none among the rows that are not taken yet. */
static uint32_t find_ended(const struct gt_ptx_blockorder *order)
{
	const struct gt_rows *rows = order->in.rows;
	const size_t end = order->coming > 0 ? order->coming : rows->n;
	uint32_t ended = order->hold.ended;

	for (size_t i = order->taken; i < end; i++)
		ended &= ~(UINT32_C(1) << rows->warp[i] % WARPS);
	return ended;
}

/* Passes on the accesses that no later one can precede, if many are held. */
static int pass_early(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	const struct gt_ptx_hold *hold = &order->hold;
	uint64_t bound = UINT64_MAX;

	if (hold->n < EARLY)
		return 0;
	const uint32_t ended = find_ended(order);
	for (unsigned warp = 0; warp < WARPS; warp++)
		if (!(ended >> warp & 1) && hold->next[warp] < bound)
			bound = hold->next[warp];
	return pass_below(order, bound, error);
}

/* Before an access of another block, or after a batch of them. */
static int take_turn(struct gt_ptx_hold *hold, uint32_t block, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = (struct gt_ptx_blockorder *)(void *)hold;

	if (hold->room == 0) {
		hold->room = GT_ROWS_BATCH;
		if (pass_early(order, error) != 0)
			return -1;
	}
	if (hold->block == block)
		return 0;
	/* Those that came as rows are of earlier blocks. */
	if (order->in.rows->n > 0 && take_batch(order, order->in.rows, error) != 0)
		return -1;
	if (pass_block(order, error) != 0)
		return -1;
	const uint64_t blocks = order->group_blocks;
	if (blocks > 0 && hold->block / blocks != block / blocks && order->ended(order->context, hold->block, block, error) != 0)
		return -1;
	hold->block = block;
	hold->room = GT_ROWS_BATCH; /* what is passed on early depends on the block alone */
	return 0;
}

static int hold_row(struct gt_ptx_hold *hold, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_ptx_kept *kept = gt_ptx_hold_add(hold, rows->block[i], rows->warp[i], rows->an[i], gt_rows_hint(rows, i),
						   gt_ptx_row_words(rows, i), error);

	if (!kept)
		return -1;
	gt_ptx_kept_fill(kept, rows, i);
	hold->has_work = rows->has_work;
	hold->has_shared |= kept->shared != 0;
	return 0;
}

static int take_batch(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_ptx_blockorder *order = context;
	const size_t n = rows->n;
	int result = 0;

	rows->n = 0; /* they are taken: a turn that one of them makes takes none again */
	order->coming = n;
	for (order->taken = 0; result == 0 && order->taken < n; order->taken++)
		result = hold_row(&order->hold, rows, order->taken, error);
	order->taken = order->coming = 0;
	rows->n_lanes = 0;
	rows->has_hints = false;
	return result;
}

int gt_ptx_blockorder_finish(struct gt_ptx_blockorder *order, struct gt_error *error)
{
	return take_batch(order, order->in.rows, error) != 0 ? -1 : pass_block(order, error);
}
