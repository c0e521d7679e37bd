/* SPDX-License-Identifier: MIT */
/* The operations of policies: blocks become resident, issue, and retire. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/grown.h"
#include "base/wide.h"
#include "schedule/machine.h"

static int grow_resident(struct sm *sm, struct gt_error *error)
{
	size_t capacity = sm->resident_capacity ? 2 * sm->resident_capacity : 8;
	struct block **resident = gt_resized(sm->resident, capacity, sizeof *resident);
	uint64_t *free_at = gt_resized(sm->free_at, capacity, sizeof *free_at);
	uint64_t *due = gt_resized(sm->due, capacity, sizeof *due);

	sm->resident = resident ? resident : sm->resident;
	sm->free_at = free_at ? free_at : sm->free_at;
	sm->due = due ? due : sm->due;
	if (!resident || !free_at || !due)
		return gt_fail_memory(error, "resident blocks");
	sm->resident_capacity = capacity;
	return 0;
}

/* Moves the first block of a queue to `resident`, at a free position or after the last. */
static int machine_admit(struct gt_schedule *schedule, struct sm *sm, struct block_queue *queue, size_t position,
		  uint64_t slot, struct gt_error *error)
{
	struct block *block = queue->first;

	if (position == sm->resident_capacity && grow_resident(sm, error) != 0)
		return -1;
	if (gt_block_arrange(block, &schedule->keep, schedule->config->issue->arrangement, error) != 0)
		return -1;
	queue->first = block->next;
	if (!queue->first)
		queue->last = NULL;
	block->position = position;
	block->slot = slot;
	block->begun = false;
	sm->resident[position] = block;
	if (position == sm->n_resident)
		sm->n_resident++;
	sm->live++;
	if (schedule->floating && gt_is_modelled(schedule, sm->number))
		schedule->admitted++;
	return schedule->config->issue->admit(schedule, sm, block, error);
}

void gt_machine_retire(struct gt_schedule *schedule, struct sm *sm, struct block *block)
{
	sm->free_at[block->position] =
		block->begin + gt_durations_of(&schedule->config->durations, schedule->kernel->id, block->number);
	sm->resident[block->position] = NULL;
	sm->due[block->position] = UINT64_MAX;
	sm->live--;
	gt_block_free(block, &schedule->keep);
}

/* Appends the addresses of an odd row's lanes. */
static int append_lanes(struct gt_rows *out, const struct odd *odd, struct gt_error *error)
{
	size_t n = (size_t)__builtin_popcount(odd->shape.mask);

	if (gt_rows_reserve_lanes(out, n, error) != 0)
		return -1;
	memcpy(out->lanes + out->n_lanes, odd->lanes, n * sizeof *out->lanes);
	out->base[out->n] = out->n_lanes;
	out->n_lanes += n;
	return 0;
}

/* Sets n elements to a value, and up to GT_ROWS_SLACK - 1 behind them. Rows are few at a time, one for each warp that
 * issues, so this is one store of a vector. */
#define FILL(TYPE, NAME)                                                                                       \
	typedef TYPE many_##NAME __attribute__((vector_size(GT_ROWS_SLACK * sizeof(TYPE))));                    \
	static inline void fill_##NAME(TYPE *column, size_t n, TYPE value)                                      \
	{                                                                                                       \
		const many_##NAME many = (many_##NAME){0} + value;                                              \
		size_t k = 0;                                                                                   \
		do                                                                                              \
			memcpy(column + k, &many, sizeof many);                                                 \
		while ((k += GT_ROWS_SLACK) < n);                                                               \
	}
FILL(uint8_t, 8)
FILL(uint16_t, 16)
FILL(uint32_t, 32)
FILL(uint64_t, 64)
FILL(int64_t, strides)

/* The same of hints. Rows before the first that has one have none. */
static void append_hints(struct gt_rows *out, size_t n, uint16_t hint)
{
	if (!out->has_hints)
		memset(out->hint, 0, out->n * sizeof *out->hint);
	out->has_hints = true;
	fill_16(out->hint + out->n, n, hint);
}

/* Sets what n rows of one shape have in common, n at least 1. */
static inline void append_common(struct gt_rows *out, size_t n, const struct shape *shape, uint32_t block, uint64_t step, uint16_t sm)
{
	size_t at = out->n;

	fill_32(out->block + at, n, block);
	fill_32(out->pc + at, n, shape->pc);
	fill_64(out->step + at, n, step);
	fill_16(out->sm + at, n, sm);
	fill_8(out->op + at, n, shape->op);
	if (shape->hint != 0 || out->has_hints)
		append_hints(out, n, shape->hint);
	if (shape->size == 0) {
		fill_8(out->sectors + at, n, (uint8_t)shape->mask);
		fill_8(out->full + at, n, (uint8_t)(shape->mask >> 8));
		fill_8(out->threads + at, n, (uint8_t)(shape->mask >> 16));
		return;
	}
	fill_8(out->size + at, n, shape->size);
	fill_32(out->mask + at, n, shape->mask);
	fill_strides(out->stride + at, n, shape->stride);
}

/* Sets what is each row's own; `bases` is the column of bases or addresses. */
static void append_own(struct gt_rows *out, uint64_t *bases, const struct kept *row, size_t n)
{
	uint32_t *an = out->an + out->n;
	uint16_t *warp = out->warp + out->n;

	bases += out->n;
	for (size_t k = 0; k < n; k++) {
		bases[k] = row[k].base;
		an[k] = row[k].an;
		warp[k] = row[k].warp;
	}
}

/* The same of rows [first, first + n) of a span. */
static inline void append_even(struct gt_rows *out, uint64_t *bases, const struct kept *span, size_t first, size_t n)
{
	const struct span_more *more = gt_span_more(span);
	uint64_t delta = (uint64_t)(int64_t)more->delta, base = span->base + first * delta;
	uint16_t warp = (uint16_t)(span->warp + first * more->warp_delta);

	bases += out->n;
	fill_32(out->an + out->n, n, span->an);
	for (size_t k = 0; k < n; k += GT_ROWS_SLACK) {
		const many_16 warps = warp + more->warp_delta * (many_16){0, 1, 2, 3, 4, 5, 6, 7};
		memcpy(out->warp + out->n + k, &warps, sizeof warps);
		warp = (uint16_t)(warp + GT_ROWS_SLACK * more->warp_delta);
		for (size_t j = 0; j < GT_ROWS_SLACK; j++)
			bases[k + j] = base + j * delta;
		base += GT_ROWS_SLACK * delta;
	}
}

/* The rows from the first on, before `end`, that share its numbered shape; 1 if it has none. */
static size_t alike(const struct kept *row, const struct kept *end)
{
	size_t n = 1;

	while (row[0].shape != SHAPE_NONE && row + n < end && row[n].shape == row[0].shape)
		n++;
	return n;
}

/* Appends rows of one shape to the batch; `odd` is the first one's, if it has no numbered shape. */
static int append(struct gt_schedule *schedule, const struct sm *sm, const struct block *block, const struct kept *row,
		  size_t n, const struct odd *odd, struct gt_error *error)
{
	struct gt_rows *out = schedule->sink->rows;
	const struct shape *shape = odd ? &odd->shape : &schedule->keep.shapes.all[row->shape];

	uint64_t *bases = shape->size == 0 ? out->address : out->base;

	append_common(out, n, shape, block->number, schedule->step, (uint16_t)sm->number);
	append_own(out, bases, row, n);
	if (odd)
		bases[out->n] = odd->base;
	if (shape->stride == GT_STRIDE_LANES && append_lanes(out, odd, error) != 0)
		return -1;
	out->n += n;
	schedule->rows += n;
	return 0;
}

/* Rows of a block issue: notes when. Returns false if the SM's rows are not written. */
static bool begin_rows(struct gt_schedule *schedule, const struct sm *sm, struct block *block)
{
	if (!block->begun) {
		block->begun = true;
		block->begin = schedule->step;
	}
	schedule->issued = true;
	schedule->steps = schedule->step + 1;
	return gt_is_modelled(schedule, sm->number);
}

/* A turn of shared memory takes a step and is not written. No other row is without lanes or sectors. */
static inline bool is_turn(const struct shape *shape)
{
	return shape->mask == 0;
}

/* Room for a row of a shape in the batch, behind others of its kind; `first`: of the step. */
static int make_room(struct gt_schedule *schedule, const struct shape *shape, bool first, struct gt_error *error)
{
	const struct gt_rows *out = schedule->sink->rows;
	enum gt_rows_kind kind = shape->size ? GT_ACCESSES : GT_REQUESTS;

	if ((first || out->kind != kind || !out->scheduled) && gt_sink_begin(schedule->sink, kind, true, error) != 0)
		return -1;
	return gt_sink_room(schedule->sink, error);
}

int gt_machine_emit(struct gt_schedule *schedule, const struct sm *sm, struct block *block, const struct kept *row,
		 const struct kept *end, struct gt_error *error)
{
	struct gt_rows *out = schedule->sink->rows;
	bool first = !schedule->issued;

	if (!begin_rows(schedule, sm, block))
		return 0;
	for (size_t n; row < end; row += n) {
		const struct odd *odd = row->shape == SHAPE_NONE ? (const struct odd *)(uintptr_t)row->base : NULL;
		const struct shape *shape = odd ? &odd->shape : &schedule->keep.shapes.all[row->shape];
		n = alike(row, end);
		if (is_turn(shape))
			continue;
		if (make_room(schedule, shape, first, error) != 0)
			return -1;
		first = false;
		n = n < out->capacity - out->n ? n : out->capacity - out->n;
		if (append(schedule, sm, block, row, n, odd, error) != 0)
			return -1;
	}
	return 0;
}

/* Where and when rows issue. */
struct place {
	uint32_t block;
	uint16_t sm;
	uint64_t step;
};

/* Sets the columns of rows [first, first + n) of a span. Mostly there are few, as many as schedulers, which take one store a
 * column: compiled without loops. */
GT_WIDE static void append_span(struct gt_rows *out, size_t n, const struct shape *shape, const struct kept *span, size_t first,
				const struct place *place)
{
	uint64_t *bases = shape->size == 0 ? out->address : out->base;

	if (n <= GT_ROWS_SLACK) {
		append_common(out, GT_ROWS_SLACK, shape, place->block, place->step, place->sm);
		append_even(out, bases, span, first, GT_ROWS_SLACK);
		return;
	}
	append_common(out, n, shape, place->block, place->step, place->sm);
	append_even(out, bases, span, first, n);
}

int gt_machine_emit_span(struct gt_schedule *schedule, const struct sm *sm, struct block *block, const struct kept *span,
			 size_t first, size_t n, struct gt_error *error)
{
	const struct shape *shape = &schedule->keep.shapes.all[span->shape & ~SPAN_MANY];
	struct gt_rows *out = schedule->sink->rows;
	const struct place place = {block->number, (uint16_t)sm->number, schedule->step};
	bool begins = !schedule->issued;

	if (!begin_rows(schedule, sm, block) || is_turn(shape))
		return 0;
	schedule->rows += n;
	for (size_t part; n > 0; first += part, n -= part) {
		if (make_room(schedule, shape, begins, error) != 0)
			return -1;
		begins = false;
		part = n < out->capacity - out->n ? n : out->capacity - out->n;
		append_span(out, part, shape, span, first, &place);
		out->n += part;
	}
	return 0;
}

uint64_t gt_modelled_of_sm(const struct gt_schedule *schedule)
{
	uint64_t capacity = gt_machine_capacity(schedule), waves = schedule->config->waves;

	return waves == 0 || capacity > UINT64_MAX / waves ? UINT64_MAX : waves * capacity;
}

uint64_t gt_modelled_of_all(const struct gt_schedule *schedule)
{
	uint64_t most = gt_modelled_of_sm(schedule);

	return most > UINT64_MAX / schedule->config->sms ? UINT64_MAX : most * schedule->config->sms;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* If floating, blocks count as those of the SM that rr gives them to. */
void gt_modelled_count(struct gt_schedule *schedule, uint64_t *most, uint64_t *all)
{
	*most = *all = 0;
	for (uint32_t sm = 0; sm < schedule->config->sms; sm++) {
		if (!gt_is_modelled(schedule, sm))
			continue;
		uint64_t blocks = gt_mapping_count(&schedule->mapping, sm, schedule->blocks);
		*most = blocks > *most ? blocks : *most;
		*all += least(blocks, gt_modelled_of_sm(schedule));
	}
	if (schedule->floating)
		*all = schedule->config->only_sms ? schedule->admitted : least(schedule->blocks, gt_modelled_of_all(schedule));
}

/* When an SM takes its next blocks. */

/* a * b, or UINT64_MAX if it overflows. */
static uint64_t times(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Whether all rows of the SM's blocks before the `end`th have come. */
static bool is_complete(struct gt_schedule *schedule, const struct sm *sm, uint64_t end)
{
	const struct block *last = sm->waiting.last;

	return gt_mapping_count(&schedule->mapping, sm->number, schedule->known) >= end &&
	       !(last->open && last->index < end);
}

/* [000] algorithm 2: as many blocks as fit, then none until all of them have finished. The wave of a block
 * follows from its index among the SM's blocks, including those without accesses. */
static enum filled fill_wave(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	uint64_t capacity = gt_machine_capacity(schedule);
	struct block *first = sm->waiting.first;

	if (sm->live > 0)
		return FILL_DONE;
	if (!first)
		return schedule->finished ? FILL_DONE : FILL_WAIT;
	uint64_t begin = first->index / capacity * capacity;
	uint64_t end = begin > UINT64_MAX - capacity ? UINT64_MAX : begin + capacity;
	if (!schedule->finished && !is_complete(schedule, sm, end))
		return FILL_WAIT;
	sm->n_resident = 0;
	while (sm->waiting.first && sm->waiting.first->index < end)
		if (machine_admit(schedule, sm, &sm->waiting, sm->n_resident, sm->waiting.first->index - begin,
				  error) != 0)
			return FILL_FAILED;
	return FILL_DONE;
}

/* Whether the first block of a queue can run: its last row has come. */
static bool is_ready(const struct block_queue *queue)
{
	return queue->first && !queue->first->open;
}

/* [002] 4.1: the first blocks are assigned to the SMs round-robin until all are full. */
static enum filled deal(struct gt_schedule *schedule, struct gt_error *error)
{
	uint64_t all = times(schedule->config->sms, gt_machine_capacity(schedule));
	uint64_t closed = schedule->n_floaters - (schedule->open && !schedule->open->skipped);

	if (closed < all && !schedule->finished)
		return FILL_WAIT;
	for (uint64_t i = 0; i < all && is_ready(&schedule->floaters); i++) {
		struct sm *sm = &schedule->sms[i % schedule->config->sms];
		if (machine_admit(schedule, sm, &schedule->floaters, sm->n_resident, sm->n_resident, error) != 0)
			return FILL_FAILED;
	}
	schedule->first_assigned = true;
	return FILL_DONE;
}

/* [002] 4.1: when a block finishes, the next one takes its place at once. */
static enum filled fill_first_done(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct block_queue *queue = schedule->floating ? &schedule->floaters : &sm->waiting;

	if (schedule->floating && !schedule->first_assigned) {
		enum filled filled = deal(schedule, error);
		if (filled != FILL_DONE)
			return filled;
	}
	if (!queue->first && schedule->finished)
		return FILL_DONE;
	for (size_t slot = 0; sm->live < gt_machine_capacity(schedule); slot++) {
		while (slot < sm->n_resident && (sm->resident[slot] || sm->free_at[slot] > schedule->step))
			slot++;
		if (slot >= gt_machine_capacity(schedule))
			return sm->live == 0 && (queue->first || !schedule->finished) ? FILL_IDLE : FILL_DONE;
		if (!is_ready(queue))
			return schedule->finished ? FILL_DONE : FILL_WAIT;
		if (machine_admit(schedule, sm, queue, slot, slot, error) != 0)
			return FILL_FAILED;
	}
	return FILL_DONE;
}

static int by_key(const void *a, const void *b)
{
	const struct turn *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* SMs that have room at a step are ordered by a hash of the seed, the step and the SM. So the order is the same
 * when the step is continued after more rows have arrived. */
enum filled gt_dispatch_shuffled(struct gt_schedule *schedule, struct gt_error *error)
{
	size_t n = 0;

	if (schedule->floating && schedule->first_assigned && schedule->finished && !schedule->floaters.first)
		return FILL_DONE; /* no block is left */
	for (size_t i = 0; i < schedule->n_active; i++) {
		uint32_t number = schedule->active[i];
		uint64_t place[] = {schedule->step, number};
		if (schedule->sms[number].live < gt_machine_capacity(schedule))
			schedule->turns[n++] = (struct turn){XXH3_64bits_withSeed(place, sizeof place, schedule->config->seed), number};
	}
	if (n > 1)
		qsort(schedule->turns, n, sizeof *schedule->turns, by_key);
	for (size_t i = 0; i < n; i++) {
		enum filled filled = schedule->config->dispatch->fill(schedule, &schedule->sms[schedule->turns[i].sm], error);
		if (filled == FILL_WAIT || filled == FILL_FAILED)
			return filled;
	}
	return FILL_DONE;
}

static const struct gt_dispatch policies[] = {
	{"wave", false, false, fill_wave},
	{"first-done", true, false, fill_first_done},
	{"any-done", true, true, fill_first_done},
};

bool gt_dispatch_refills(const struct gt_dispatch *dispatch)
{
	return dispatch->refills;
}

const struct gt_dispatch *gt_dispatch_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
		if (strcmp(policies[i].name, name) == 0)
			return &policies[i];
	gt_fail(error, "'%.100s': expected wave, first-done or any-done", name);
	return NULL;
}
