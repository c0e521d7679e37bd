/* SPDX-License-Identifier: MIT */
/* What issues: how rows of a block leave for the sink, and which warps of an SM issue next, by round robin or greedy. The order that
 * follows from time is in latency.c. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/wide.h"
#include "schedule/machine.h"

/* ---- rows leave ---- */

void gt_machine_vacate(struct gt_schedule *schedule, struct sm *sm, struct block *block)
{
	sm->free_at[block->position] =
		block->begin + gt_durations_of(&schedule->config->durations, schedule->kernel->id, block->number);
	sm->resident[block->position] = NULL;
	sm->due[block->position] = UINT64_MAX;
	sm->live--;
}

/* If the order is random, a hash of the seed, the step and the SM. So it is the same when the step is continued after more rows
 * have arrived. */
uint64_t gt_machine_turn(const struct gt_schedule *schedule, uint32_t sm, uint64_t step)
{
	const uint64_t place[] = {step, sm};

	return schedule->config->dispatch->shuffles ? XXH3_64bits_withSeed(place, sizeof place, schedule->config->seed) : sm;
}

static void retire(struct gt_schedule *schedule, struct sm *sm, struct block *block)
{
	gt_machine_vacate(schedule, sm, block);
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
 * issues, so this is one store of a vector: of a loop, since gcc takes vectors apart before it knows how wide the machine's are. */
#define FILL(TYPE, NAME)                                                                                       \
	GT_INLINE void fill_##NAME(TYPE *column, size_t n, TYPE value)                                          \
	{                                                                                                       \
		size_t k = 0;                                                                                   \
		do                                                                                              \
			for (size_t j = 0; j < GT_ROWS_SLACK; j++)                                              \
				column[k + j] = value;                                                          \
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

/* Where and when rows issue. */
struct place {
	uint32_t block;
	uint16_t sm;
	uint64_t step;
};

/* Sets what n rows of one shape have in common, n at least 1, but for hints. */
GT_INLINE void append_shape(struct gt_rows *out, size_t n, const struct shape *shape, const struct place *place)
{
	size_t at = out->n;

	fill_32(out->block + at, n, place->block);
	fill_32(out->pc + at, n, shape->pc);
	fill_64(out->step + at, n, place->step);
	fill_16(out->sm + at, n, place->sm);
	fill_8(out->op + at, n, shape->op);
	if (shape->size == 0) {
		fill_8(out->sectors + at, n, (uint8_t)shape->mask);
		fill_8(out->full + at, n, (uint8_t)(shape->mask >> 8));
		fill_8(out->threads + at, n, (uint8_t)(shape->mask >> 16));
		if (out->has_spans)
			fill_8(out->width + at, n, 0);
		return;
	}
	fill_8(out->size + at, n, shape->size);
	fill_32(out->mask + at, n, shape->mask);
	fill_strides(out->stride + at, n, shape->stride);
	fill_8(out->width + at, n, shape->width);
	if (shape->width)
		fill_strides(out->pitch + at, n, shape->pitch);
}

/* The same with hints. */
static inline void append_common(struct gt_rows *out, size_t n, const struct shape *shape, const struct place *place)
{
	append_shape(out, n, shape, place);
	if (shape->hint != 0 || out->has_hints)
		append_hints(out, n, shape->hint);
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
GT_INLINE void append_even(struct gt_rows *out, uint64_t *bases, const struct kept *span, size_t first, size_t n)
{
	const struct span_more *more = gt_span_more(span);
	uint64_t delta = (uint64_t)(int64_t)more->delta, base = span->base + first * delta;
	const uint16_t warp_delta = more->warp_delta;
	uint16_t warp = (uint16_t)(span->warp + first * warp_delta), *warps = out->warp + out->n;

	bases += out->n;
	fill_32(out->an + out->n, n, span->an);
	for (size_t k = 0; k < n; k += GT_ROWS_SLACK) {
		for (uint16_t j = 0; j < GT_ROWS_SLACK; j++)
			warps[k + j] = (uint16_t)(warp + j * warp_delta);
		for (size_t j = 0; j < GT_ROWS_SLACK; j++)
			bases[k + j] = base + j * delta;
		warp = (uint16_t)(warp + GT_ROWS_SLACK * warp_delta);
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
static int append(struct gt_schedule *schedule, const struct place *place, const struct kept *row, size_t n,
		  const struct odd *odd, struct gt_error *error)
{
	struct gt_rows *out = schedule->sink->rows;
	const struct shape *shape = odd ? &odd->shape : &schedule->keep.shapes.all[row->shape];

	uint64_t *bases = shape->size == 0 ? out->address : out->base;

	append_common(out, n, shape, place);
	append_own(out, bases, row, n);
	if (odd)
		bases[out->n] = odd->base;
	if (shape->stride == GT_STRIDE_LANES && append_lanes(out, odd, error) != 0)
		return -1;
	out->n += n;
	schedule->rows += n;
	return 0;
}

/* A turn of shared memory takes a step and is not written. No other row is without lanes or sectors. */
static inline bool is_turn(const struct shape *shape)
{
	return shape->mask == 0;
}

/* Whether a batch has columns that scheduled rows do not have of themselves. */
static inline bool has_others(const struct gt_rows *out)
{
	return out->has_status || out->has_latency || out->has_hints || out->has_work || out->has_shared;
}

/* Room for a row of a shape in the batch, behind others of its kind; `first`: of the step. */
static inline int make_room(struct gt_schedule *schedule, const struct shape *shape, bool first, struct gt_error *error)
{
	const struct gt_rows *out = schedule->sink->rows;
	enum gt_rows_kind kind = shape->size ? GT_ACCESSES : GT_REQUESTS;

	if ((out->kind != kind || !out->scheduled || (first && has_others(out))) && gt_sink_begin(schedule->sink, kind, true, error) != 0)
		return -1;
	return gt_sink_room(schedule->sink, error);
}

/* Sets the columns of rows [first, first + n) of a span. Mostly there are few, as many as schedulers, which take one store a
 * column: compiled without loops. */
GT_WIDE static void append_span(struct gt_rows *out, size_t n, const struct shape *shape, const struct kept *span, size_t first,
				const struct place *place)
{
	uint64_t *bases = shape->size == 0 ? out->address : out->base;

	if (n <= GT_ROWS_SLACK) {
		append_common(out, GT_ROWS_SLACK, shape, place);
		append_even(out, bases, span, first, GT_ROWS_SLACK);
		return;
	}
	append_common(out, n, shape, place);
	append_even(out, bases, span, first, n);
}

/* Sets the columns of one row, but for hints. */
GT_INLINE void set_one(struct gt_rows *out, const struct shape *shape, const struct kept *row, const struct place *place)
{
	const size_t at = out->n;

	out->block[at] = place->block;
	out->pc[at] = shape->pc;
	out->step[at] = place->step;
	out->sm[at] = place->sm;
	out->op[at] = shape->op;
	out->an[at] = row->an;
	out->warp[at] = row->warp;
	if (shape->size == 0) {
		out->address[at] = row->base;
		out->sectors[at] = (uint8_t)shape->mask;
		out->full[at] = (uint8_t)(shape->mask >> 8);
		out->threads[at] = (uint8_t)(shape->mask >> 16);
		out->width[at] = 0;
		return;
	}
	out->base[at] = row->base;
	out->size[at] = shape->size;
	out->mask[at] = shape->mask;
	out->stride[at] = shape->stride;
	out->width[at] = shape->width;
	out->pitch[at] = shape->pitch;
}

/* Appends one row of a numbered shape. */
static inline void append_one(struct gt_schedule *schedule, const struct shape *shape, const struct kept *row, const struct place *place)
{
	struct gt_rows *out = schedule->sink->rows;

	if (shape->hint != 0 || out->has_hints)
		append_hints(out, 1, shape->hint);
	set_one(out, shape, row, place);
	out->n++;
	schedule->rows++;
}

/* Writes requests [first, first + n) of a span, which are of one access, as a row. Rows before the first that is several are each one. */
static void append_whole(struct gt_rows *out, size_t n, const struct shape *shape, const struct kept *span, size_t first, const struct place *place)
{
	const uint64_t delta = (uint64_t)(int64_t)gt_span_more(span)->delta;
	const size_t at = out->n;

	if (!out->has_spans)
		memset(out->width, 0, at * sizeof *out->width);
	out->has_spans = true;
	append_common(out, 1, shape, place);
	out->address[at] = span->base + first * delta;
	out->an[at] = span->an;
	out->warp[at] = span->warp;
	out->width[at] = (uint8_t)(n > 1 ? n : 0);
	out->pitch[at] = (int64_t)delta;
	out->n++;
}

/* Writes requests [first, first + n) of a span of one access in rows that are as many as such a row may be. */
static int write_wholes(struct gt_schedule *schedule, const struct shape *shape, const struct place *place, const struct kept *span, size_t first,
			size_t n, bool begins, struct gt_error *error)
{
	for (size_t part; n > 0; first += part, n -= part) {
		if (make_room(schedule, shape, begins, error) != 0)
			return -1;
		begins = false;
		part = n < GT_SPAN_MOST ? n : GT_SPAN_MOST;
		append_whole(schedule->sink->rows, part, shape, span, first, place);
	}
	return 0;
}

/* Whether n requests of a span are of one access, and enough to be one row. */
static inline bool is_whole(const struct gt_schedule *schedule, const struct shape *shape, const struct span_more *more, size_t n)
{
	return more->warp_delta == 0 && n >= GT_SPAN_LEAST && schedule->config->spans && shape->size == 0;
}

/* Writes rows [first, first + n) of a span of several. */
static int write_span(struct gt_schedule *schedule, const struct place *place, const struct kept *span, size_t first, size_t n,
		      bool begins, struct gt_error *error)
{
	const struct shape *shape = gt_span_shape(&schedule->keep.shapes, span);
	struct gt_rows *out = schedule->sink->rows;

	schedule->rows += n;
	if (is_whole(schedule, shape, gt_span_more(span), n))
		return write_wholes(schedule, shape, place, span, first, n, begins, error);
	for (size_t part; n > 0; first += part, n -= part) {
		if (make_room(schedule, shape, begins, error) != 0)
			return -1;
		begins = false;
		part = n < out->capacity - out->n ? n : out->capacity - out->n;
		append_span(out, part, shape, span, first, place);
		out->n += part;
	}
	return 0;
}

/* Writes single rows that share a shape, *n of them, of which *n is then how many it has. */
static int write_singles(struct gt_schedule *schedule, const struct place *place, const struct kept *row, size_t *n, bool begins,
			 struct gt_error *error)
{
	const struct gt_rows *out = schedule->sink->rows;
	const struct odd *odd = odd_of(row);

	if (make_room(schedule, odd ? &odd->shape : &schedule->keep.shapes.all[row->shape], begins, error) != 0)
		return -1;
	*n = *n < out->capacity - out->n ? *n : out->capacity - out->n;
	return append(schedule, place, row, *n, odd, error);
}

static int write_spans(struct gt_schedule *schedule, const struct place *place, const struct kept *row, const struct kept *end,
		       struct gt_error *error)
{
	bool begins = !schedule->issued;

	for (const struct kept *next; row < end; row = next) {
		const bool many = gt_span_is_many(row); /* what follows it is no row */
		size_t n = many ? 1 : alike(row, end);
		next = many ? gt_span_next(row) : row + n;
		if (is_turn(gt_span_shape(&schedule->keep.shapes, row)))
			continue;
		if (many) {
			if (write_span(schedule, place, row, 0, gt_span_more(row)->n, begins, error) != 0)
				return -1;
		} else {
			if (write_singles(schedule, place, row, &n, begins, error) != 0)
				return -1;
			next = row + n;
		}
		begins = false;
	}
	return 0;
}

/* Writes rows [row, end) of a block of the SM at the present step, if the SM is modelled. */
static int write_access(struct gt_schedule *schedule, uint16_t sm, uint32_t block, const struct kept *row, const struct kept *end,
			struct gt_error *error)
{
	const struct place place = {block, sm, schedule->step};

	if (!gt_is_modelled(schedule, sm))
		return 0;
	if (row + 1 != end || row->shape == SHAPE_NONE)
		return write_spans(schedule, &place, row, end, error);
	const struct shape *shape = &schedule->keep.shapes.all[row->shape];
	if (is_turn(shape))
		return 0;
	if (make_room(schedule, shape, !schedule->issued, error) != 0)
		return -1;
	append_one(schedule, shape, row, &place);
	return 0;
}

/* Writes accesses up to one that is not written as most are: a request without hints, for which there is room. Returns how many. */
static size_t write_usual_accesses(struct gt_schedule *schedule, const struct issued *issued, size_t n, uint64_t first)
{
	struct gt_rows *out = schedule->sink->rows;
	const struct shape *shapes = schedule->keep.shapes.all;
	const size_t room = out->capacity - out->n;
	size_t i = 0;

	if (schedule->config->only_sms || !out->scheduled || out->kind != GT_REQUESTS || has_others(out))
		return 0;
	for (n = n < room ? n : room; i < n && issued[i].words == 0; i++) {
		const struct shape *shape = &shapes[issued[i].row.shape];
		if (shape->hint != 0 || is_turn(shape))
			break;
		set_one(out, shape, &issued[i].row, &(struct place){issued[i].block, issued[i].sm, first + issued[i].step});
		out->n++;
	}
	schedule->rows += i;
	return i;
}

int gt_machine_write(struct gt_schedule *schedule, const struct issued *issued, size_t n, uint64_t first, struct gt_error *error)
{
	for (size_t i = 0; i < n; i++) {
		i += write_usual_accesses(schedule, issued + i, n - i, first);
		if (i == n)
			break;
		const struct kept *row = issued[i].words > 0 ? (const struct kept *)(uintptr_t)issued[i].row.base : &issued[i].row;
		size_t words = issued[i].words > 0 ? issued[i].words : SPAN_WORDS;
		const struct kept *end = (const struct kept *)(const void *)((const uint64_t *)(const void *)row + words);
		schedule->issued = i > 0 && issued[i].step == issued[i - 1].step;
		schedule->step = first + issued[i].step;
		if (write_access(schedule, issued[i].sm, issued[i].block, row, end, error) != 0)
			return -1;
	}
	return 0;
}

/* Rows of a block issue at the present step. */
static int emit(struct gt_schedule *schedule, const struct sm *sm, struct block *block, const struct kept *row,
		const struct kept *end, struct gt_error *error)
{
	if (write_access(schedule, (uint16_t)sm->number, block->number, row, end, error) != 0)
		return -1;
	gt_machine_begin(block, schedule->step);
	gt_machine_issues(schedule, schedule->step);
	schedule->issued = true;
	return 0;
}

/* ---- round robin: [000] algorithm 2 ---- */

/* Room for what is found ahead: of all SMs together, since launches may be many and short. */
static int open_ahead(struct gt_schedule *schedule, struct gt_error *error)
{
	schedule->ahead = malloc(schedule->config->sms * GT_AHEAD * sizeof *schedule->ahead);
	if (!schedule->ahead)
		return gt_fail_memory(error, "the rows of SMs");
	for (uint32_t sm = 0; sm < schedule->config->sms; sm++)
		schedule->sms[sm].ahead = schedule->ahead + (size_t)sm * GT_AHEAD;
	return 0;
}

/* In each round a block issues the access whose number is the round minus the round in which the block began. A
 * block that starts when another has finished begins in the next round. */
static int admit_round_robin(struct gt_schedule *schedule, struct sm *sm, struct block *block,
			     struct gt_error *error)
{
	if (!schedule->ahead && open_ahead(schedule, error) != 0)
		return -1;
	if (sm->live == 1) {
		sm->round = 0;
		sm->cursor = SIZE_MAX; /* the round is not determined yet */
	}
	block->start = sm->cursor == SIZE_MAX ? 0 : sm->round + 1;
	sm->due[block->position] = block->start + block->row->an;
	return 0;
}

/* Removes finished blocks from the array. */
static void compact(struct sm *sm)
{
	size_t n = 0;

	for (size_t i = 0; i < sm->n_resident; i++) {
		struct block *block = sm->resident[i];
		if (!block)
			continue;
		block->position = n;
		sm->due[n] = sm->due[i];
		sm->resident[n++] = block;
	}
	sm->n_resident = n;
}

static void next_round(const struct gt_schedule *schedule, struct sm *sm)
{
	uint64_t round = UINT64_MAX;

	if (!schedule->config->dispatch->refills && sm->live < sm->n_resident / 2)
		compact(sm);
	for (size_t i = 0; i < sm->n_resident; i++)
		round = sm->due[i] < round ? sm->due[i] : round;
	sm->round = round;
	sm->cursor = 0;
}

/* The next block that has accesses in this round; NULL: none has. */
static struct block *due_block(struct sm *sm)
{
	for (; sm->cursor < sm->n_resident; sm->cursor++)
		if (sm->due[sm->cursor] == sm->round)
			return sm->resident[sm->cursor];
	return NULL;
}

/* The same, or the first one in the next round with any. */
static struct block *next_block(const struct gt_schedule *schedule, struct sm *sm)
{
	struct block *block = due_block(sm);

	if (block)
		return block;
	next_round(schedule, sm);
	return due_block(sm);
}

/* Whether no block can become resident on an SM before one of it has issued its last row. */
static bool is_closed(const struct gt_schedule *schedule, const struct sm *sm)
{
	const struct block_queue *queue = schedule->floating ? &schedule->floaters : &sm->waiting;

	return !schedule->config->dispatch->refills || sm->live == gt_machine_capacity(schedule) || (schedule->finished && !queue->first);
}

/* The group of a warp, of n schedulers: group l has the warps l*n to l*n+n-1. */
static inline uint32_t group_of(uint32_t warp, uint32_t n)
{
	return (n & (n - 1)) == 0 ? warp >> __builtin_ctz(n) : warp / n;
}

/* Finds the accesses of a block that have the number of its next one, as far as there is room. Returns in how many steps they issue. */
static uint32_t find_access(struct sm *sm, struct block *block, uint32_t schedulers)
{
	const uint32_t an = block->row->an;
	const struct kept *const end = block->end;
	struct ahead *ahead = sm->ahead + sm->n_ahead, *const full = sm->ahead + GT_AHEAD;
	struct kept *span = block->row;
	uint32_t groups = 0;

	for (bool more = true; more && ahead < full; ahead++) {
		uint32_t first = group_of(span->warp, schedulers), last = first;
		ahead->span = *span;
		ahead->block = block->number;
		ahead->more = (struct span_more){0, 1, 0};
		ahead->room = UINT16_MAX;
		ahead->apart = gt_span_is_many(span);
		if (ahead->apart)
			ahead->more = *gt_span_more(span);
		if (ahead->more.warp_delta > 0) {
			last = group_of(span->warp + ahead->more.n - 1U, schedulers);
			ahead->room = (uint16_t)((first + 1) * schedulers - span->warp);
		}
		span = gt_span_next(span);
		more = span < end && span->an == an;
		ahead->ends = !more || group_of(span->warp, schedulers) != last;
		ahead->apart |= ahead->ends || gt_span_is_many(span);
		groups += last - first + ahead->ends;
	}
	block->row = span;
	sm->n_ahead = (size_t)(ahead - sm->ahead);
	return groups;
}

/* Finds which rows issue next: as many as it can, since the blocks of an SM are in the machine's cache then. A block whose rows that are there
 * have all been found is the last, since they are used until they have issued. Where a block may become resident before, only the rest of
 * the round is found, which it is not in. */
static int find_ahead(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	const bool closed = is_closed(schedule, sm);
	uint64_t step = schedule->step;
	struct block *block = next_block(schedule, sm);

	sm->n_ahead = sm->next_ahead = 0;
	while (block) {
		gt_machine_begin(block, step);
		step += find_access(sm, block, schedule->config->schedulers);
		sm->last_block = block;
		if (block->row == block->end && block->folded && gt_block_fill(block, &schedule->keep, error) != 0)
			return -1;
		if (block->row == block->end || sm->n_ahead == GT_AHEAD)
			break;
		sm->due[block->position] = block->start + block->row->an;
		block = closed ? next_block(schedule, sm) : due_block(sm);
	}
	sm->usual_end = closed ? sm->n_ahead - 1 : 0;
	return 0;
}

/* After the last rows that were found. */
static int end_ahead(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct block *block = sm->last_block;

	if (block->row == block->end && gt_block_fill(block, &schedule->keep, error) != 0)
		return -1;
	if (block->row == block->end)
		retire(schedule, sm, block);
	else
		sm->due[block->position] = block->start + block->row->an;
	return 0;
}

/* How many rows of a span issue in the present group. */
static inline unsigned issues_now(const struct ahead *ahead)
{
	return ahead->more.n < ahead->room ? ahead->more.n : ahead->room;
}

/* n rows of a span have issued. Returns whether the group ends. */
static inline bool have_issued(struct sm *sm, struct ahead *ahead, unsigned n, unsigned schedulers)
{
	if (n == ahead->more.n) {
		sm->next_ahead++;
		return ahead->ends;
	}
	ahead->span.base += n * (uint64_t)(int64_t)ahead->more.delta;
	ahead->span.warp = (uint16_t)(ahead->span.warp + n);
	ahead->more.n = (uint16_t)(ahead->more.n - n);
	ahead->room = (uint16_t)schedulers;
	return true;
}

/* Writes the first n rows of a span; `begins`: the first of the step. */
static int write_ahead(struct gt_schedule *schedule, const struct place *place, const struct ahead *ahead, size_t n, bool begins,
		       struct gt_error *error)
{
	const struct kept *span = &ahead->span;

	if (gt_span_is_many(span))
		return write_span(schedule, place, span, 0, n, begins, error);
	if (span->shape == SHAPE_NONE)
		return write_singles(schedule, place, span, &n, begins, error);
	const struct shape *shape = &schedule->keep.shapes.all[span->shape];
	if (make_room(schedule, shape, begins, error) != 0)
		return -1;
	append_one(schedule, shape, span, place);
	return 0;
}

static int issue_round_robin(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	bool begins = !schedule->issued, ends = false, written;

	while (!ends) {
		if (sm->next_ahead == sm->n_ahead && find_ahead(schedule, sm, error) != 0)
			return -1;
		struct ahead *ahead = &sm->ahead[sm->next_ahead];
		const struct place place = {ahead->block, (uint16_t)sm->number, schedule->step};
		const unsigned n = issues_now(ahead);
		written = gt_is_modelled(schedule, sm->number) && !is_turn(gt_span_shape(&schedule->keep.shapes, &ahead->span));
		if (written && write_ahead(schedule, &place, ahead, n, begins, error) != 0)
			return -1;
		begins = begins && !written && !ahead->apart;
		ends = have_issued(sm, ahead, n, schedule->config->schedulers);
		if (sm->next_ahead == sm->n_ahead && end_ahead(schedule, sm, error) != 0)
			return -1;
	}
	gt_machine_issues(schedule, schedule->step);
	schedule->issued = true;
	return 0;
}

/* Writes the first n rows of a span, if they are written as most are: without hints, and few or as one. */
GT_INLINE bool write_usual(struct gt_schedule *schedule, struct gt_rows *out, const struct place *place, const struct ahead *ahead, unsigned n)
{
	const struct kept *span = &ahead->span;

	if (span->shape == SHAPE_NONE)
		return false;
	const struct shape *shape = &schedule->keep.shapes.all[span->shape & ~SPAN_MANY];
	if (shape->hint != 0 || out->n + GT_ROWS_SLACK > out->capacity ||
	    out->kind != (shape->size ? GT_ACCESSES : GT_REQUESTS))
		return false;
	if (is_turn(shape))
		return true;
	if (n == 1 || is_whole(schedule, shape, &ahead->more, n)) {
		if (n > (out->has_spans ? GT_SPAN_MOST : 1))
			return false;
		set_one(out, shape, span, place);
		if (n > 1) {
			out->width[out->n] = (uint8_t)n;
			out->pitch[out->n] = ahead->more.delta;
		}
		out->n++;
	} else {
		if (n > GT_ROWS_SLACK)
			return false;
		append_shape(out, GT_ROWS_SLACK, shape, place);
		append_even(out, shape->size == 0 ? out->address : out->base, span, 0, GT_ROWS_SLACK);
		out->n += n;
	}
	schedule->rows += n;
	return true;
}

/* Issues the next group of an SM, up to rows that are not written in the usual way or for which there is no room, and the last span that was found.
 * Returns whether the group ends. */
GT_INLINE bool issue_usual(struct gt_schedule *schedule, struct gt_rows *out, struct sm *sm)
{
	const bool modelled = gt_is_modelled(schedule, sm->number);

	for (bool ends = false; !ends;) {
		if (sm->next_ahead >= sm->usual_end)
			return false;
		struct ahead *ahead = &sm->ahead[sm->next_ahead];
		const struct place place = {ahead->block, (uint16_t)sm->number, schedule->step};
		const unsigned n = issues_now(ahead);
		if (modelled && !write_usual(schedule, out, &place, ahead, n))
			return false;
		ends = have_issued(sm, ahead, n, schedule->config->schedulers);
	}
	return true;
}

GT_WIDE static void issue_all_usual(struct gt_schedule *schedule, struct gt_rows *out)
{
	uint32_t *active = schedule->active;
	size_t at = schedule->cursor, n = schedule->n_next;

	for (; at < schedule->n_active; at++) {
		const struct sm *soon = &schedule->sms[active[at + 4 < schedule->n_active ? at + 4 : at]];
		__builtin_prefetch(soon->ahead + soon->next_ahead);
		if (!issue_usual(schedule, out, &schedule->sms[active[at]]))
			break;
		active[n++] = active[at];
	}
	schedule->cursor = at;
	schedule->n_next = n;
}

static void issue_found(struct gt_schedule *schedule)
{
	struct gt_rows *out = schedule->sink->rows;
	const size_t before = schedule->cursor;

	if (!schedule->ahead || !out->scheduled || has_others(out))
		return;
	issue_all_usual(schedule, out);
	if (schedule->cursor == before)
		return;
	gt_machine_issues(schedule, schedule->step);
	schedule->issued = true;
}

/* ---- greedy, then oldest ---- */

static int push(struct warps *warps, struct run run, struct gt_error *error)
{
	if (warps->n == warps->capacity) {
		size_t capacity = warps->capacity ? 2 * warps->capacity : 16;
		struct run *runs = malloc(capacity * sizeof *runs);
		if (!runs)
			return gt_fail_memory(error, "the warps of an SM");
		for (size_t i = 0; i < warps->n; i++)
			runs[i] = warps->runs[(warps->first + i) & (warps->capacity - 1)];
		free(warps->runs);
		*warps = (struct warps){.runs = runs, .n = warps->n, .capacity = capacity};
	}
	warps->runs[(warps->first + warps->n++) & (warps->capacity - 1)] = run;
	return 0;
}

/* A scheduler stays with a warp that is ready, and memory takes no time here, so its warps run one after another,
 * oldest first. Warps are assigned to schedulers by their place in the SM. */
static int admit_greedy(struct gt_schedule *schedule, struct sm *sm, struct block *block,
			struct gt_error *error)
{
	uint64_t in_block = gt_kernel_warps(schedule->kernel);
	uint32_t schedulers = schedule->config->schedulers;

	if (!sm->warps)
		sm->warps = calloc(schedulers, sizeof *sm->warps);
	if (!sm->warps)
		return gt_fail_memory(error, "the warps of an SM");
	if (in_block == 0)
		in_block = (uint64_t)block->highest_warp + 1;
	for (size_t i = 0; i < block->n_sources; i++) {
		struct source *source = &block->sources[i];
		uint64_t place = block->slot * in_block + source->warp;
		if (push(&sm->warps[place % schedulers], (struct run){source, block}, error) != 0)
			return -1;
	}
	block->warps_left = block->n_sources;
	return 0;
}

/* Every scheduler issues one access of its warp. */
static int issue_greedy(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	for (uint32_t s = 0; s < schedule->config->schedulers; s++) {
		struct warps *warps = &sm->warps[s];
		if (warps->n == 0)
			continue;
		struct run *run = &warps->runs[warps->first & (warps->capacity - 1)];
		struct source *source = run->source;
		if (source->row == source->end && gt_source_fill(source, &schedule->keep.spill, error) != 0)
			return -1;
		struct kept *first = source->row;
		source->row = gt_access_end(source->row, source->end);
		if (emit(schedule, sm, run->block, first, source->row, error) != 0)
			return -1;
		if (source->row < source->end || source->unpacker.more)
			continue;
		struct block *block = run->block;
		gt_source_close(source, &schedule->keep.spill);
		warps->first++;
		warps->n--;
		if (--block->warps_left == 0)
			retire(schedule, sm, block);
	}
	return 0;
}

const struct gt_issue gt_issue_round_robin = {"rr", BY_ACCESS, admit_round_robin, issue_round_robin, NULL, NULL, issue_found};
const struct gt_issue gt_issue_greedy = {"gto", BY_WARP, admit_greedy, issue_greedy, NULL, NULL, NULL};
