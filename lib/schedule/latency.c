/* SPDX-License-Identifier: MIT */
/* The order of issue that follows from time: a step is a cycle, and a warp issues when what it waits for is there. Schedulers
 * are greedy, then prefer the youngest warp, and L1 takes their accesses in turn: what R. Huerta et al. (Analyzing Modern NVIDIA
 * GPU Cores, 2025) found; or they take the warp that has been ready longest, if the description says so. Which requests hit is what
 * recent.h takes the caches for. */
#include <string.h>

#include "base/wide.h"
#include "gpu/parameter.h"
#include "schedule/clocked.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- warps ---- */

/* The warps of resident blocks, for the order of issue by time: when each may go on to its next access. */

static bool is_left(const struct runner *runner)
{
	return runner->left > 0;
}

static const struct kept *end_of(const struct runner *runner)
{
	return (const struct kept *)(const void *)((const uint64_t *)(const void *)runner->row + runner->left);
}

static void set_ready(const struct runner *runner, uint64_t at)
{
	struct scheduler *scheduler = runner->scheduler;

	scheduler->ready[runner->place] = at;
	scheduler->chosen = NULL;
	if (!scheduler->current)
		*scheduler->wake = sooner(*scheduler->wake, later(at, scheduler->until));
}

/* The first of the barriers that hold warps of a block; those behind it wait for warps that it holds. UINT32_MAX: none does. */
static uint32_t first_barrier(const struct block *block)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < block->n_runners; i++) {
		const struct runner *runner = &block->runners[i];
		if (is_left(runner) && runner->held && runner->barriers < first)
			first = runner->barriers;
	}
	return first;
}

/* Lets the warps go on that the first barrier holds, if all others have come to it. Warps without further accesses count as
 * come. */
static void pass_barrier(struct block *block)
{
	uint32_t barriers = first_barrier(block);
	uint64_t last = 0;

	for (size_t i = 0; i < block->n_runners; i++) {
		const struct runner *runner = &block->runners[i];
		if (!is_left(runner) || runner->barriers > barriers || (runner->barriers == barriers && !runner->held))
			continue;
		if (runner->barriers < barriers || runner->arrived == GT_NEVER)
			return;
		last = later(last, runner->arrived);
	}
	for (size_t i = 0; i < block->n_runners; i++) {
		struct runner *runner = &block->runners[i];
		if (!is_left(runner) || !runner->held || runner->barriers != barriers)
			continue;
		runner->held = false;
		set_ready(runner, last);
	}
}

static void arrive(struct runner *runner, uint64_t now)
{
	runner->arrived = now;
	if (runner->held)
		pass_barrier(runner->block);
	else
		set_ready(runner, now);
}

/* Looks at what comes before the next access. */
static void look_ahead(struct runner *runner, const struct shapes *shapes, uint64_t now)
{
	runner->scheduler->ready[runner->place] = runner->arrived = GT_NEVER;
	if (!is_left(runner)) {
		pass_barrier(runner->block); /* which does not wait for it any more */
		return;
	}
	uint32_t work = gt_span_shape(shapes, runner->row)->work;
	runner->instructions = gt_work_instructions(work);
	runner->held = gt_work_barriers(work) > 0;
	runner->barriers += gt_work_barriers(work);
	if (!gt_work_waits(work))
		arrive(runner, now);
	else if (runner->open == 0)
		arrive(runner, later(runner->data, now));
	else if (runner->held)
		pass_barrier(runner->block); /* one before its own may have waited for it */
}

static int join(struct scheduler *scheduler, struct runner *runner, struct gt_arena *arena, struct gt_error *error)
{
	size_t capacity = scheduler->capacity;
	struct runner **runners = gt_arena_grown(arena, scheduler->runners, (size_t)scheduler->n + 1, &capacity, sizeof *runners);

	if (!runners)
		return gt_fail_memory(error, "the warps of an SM");
	scheduler->runners = runners;
	uint64_t *ready = gt_arena_grown(arena, scheduler->ready, (size_t)scheduler->n + 1, &scheduler->capacity, sizeof *ready);
	if (!ready)
		return gt_fail_memory(error, "the warps of an SM");
	scheduler->ready = ready;
	runner->scheduler = scheduler;
	runner->place = scheduler->n;
	scheduler->runners[scheduler->n] = runner;
	scheduler->ready[scheduler->n++] = GT_NEVER;
	return 0;
}

/* Brings what a runner holds into the machine's cache: rows of a warp are far from all else that is used. */
GT_INLINE void prefetch_rows(const struct kept *row)
{
	for (size_t at = 0; at < RUNNER_WORDS * sizeof(uint64_t); at += MACHINE_LINE)
		__builtin_prefetch((const char *)row + at);
}

/* The same of what it unfolds. */
GT_INLINE void prefetch_fold(const struct unfolding *unfolding)
{
	__builtin_prefetch(unfolding->chunk, 1);
	__builtin_prefetch(unfolding->slot, 1);
	__builtin_prefetch(unfolding->next);
}

/* Other threads may unpack, too. */
static int unpack(struct source *source, struct keep *keep, struct gt_error *error)
{
	pthread_mutex_lock(&keep->unpacking);
	int result = gt_source_fill(source, &keep->spill, error);
	pthread_mutex_unlock(&keep->unpacking);
	return result;
}

/* Takes its next accesses: unfolds them, or else has them from its source, which unpacks more first if they have issued. */
static int take_rows(struct runner *runner, struct keep *keep, struct gt_error *error)
{
	if (runner->folded) {
		runner->left = (uint32_t)gt_unfold(&runner->unfolding, runner->words, RUNNER_WORDS, &runner->row);
		return 0;
	}
	struct source *source = &runner->block->sources[runner - runner->block->runners];

	if (source->row == source->end && unpack(source, keep, error) != 0)
		return -1;
	if (source->row == source->end)
		return 0;
	prefetch_rows(source->row);
	size_t words = gt_accesses_within(source->row, source->end, RUNNER_WORDS);
	runner->row = words <= RUNNER_WORDS ? memcpy(runner->words, source->row, words * sizeof *runner->words) : source->row;
	runner->left = (uint32_t)words;
	source->row = (struct kept *)(void *)((uint64_t *)(void *)source->row + words);
	runner->next = source->row;
	return 0;
}

#define SOON_WORDS (2 * SPAN_WORDS) /* left in a runner: brought earlier, its next rows are often not in the machine's cache any more */

/* It has issued an access of so many words. Returns 0, or -1. */
static int runner_issued(struct runner *runner, size_t words, struct keep *keep, uint64_t now, struct gt_error *error)
{
	runner->row = (struct kept *)(void *)((uint64_t *)(void *)runner->row + words);
	runner->left -= (uint32_t)words;
	runner->queued++;
	runner->open++;
	if (runner->left == 0 && take_rows(runner, keep, error) != 0)
		return -1;
	if (runner->left <= SOON_WORDS && runner->folded)
		prefetch_fold(&runner->unfolding);
	else if (runner->left <= SOON_WORDS)
		prefetch_rows(runner->next);
	look_ahead(runner, &keep->shapes, now);
	return 0;
}

/* All loads that L1 has taken have their data at `data`. It goes on no sooner than at `from`. */
static void runner_has(struct runner *runner, uint64_t data, uint64_t from)
{
	runner->data = later(runner->data, data);
	if (runner->open == 0 && is_left(runner) && runner->arrived == GT_NEVER)
		arrive(runner, later(runner->data, from));
}

/* Takes it out of its scheduler. */
static void runner_leave(struct runner *runner)
{
	struct scheduler *scheduler = runner->scheduler;
	uint32_t at = runner->place, rest = scheduler->n - at - 1;

	memmove(scheduler->runners + at, scheduler->runners + at + 1, rest * sizeof *scheduler->runners);
	memmove(scheduler->ready + at, scheduler->ready + at + 1, rest * sizeof *scheduler->ready);
	scheduler->n--;
	if (scheduler->last == at)
		scheduler->last = NO_PLACE;
	else if (scheduler->last != NO_PLACE)
		scheduler->last -= scheduler->last > at;
	for (; at < scheduler->n; at++)
		scheduler->runners[at]->place = at;
}

/* ---- blocks ---- */

void gt_sm_look_for_room(const struct gt_schedule *schedule, struct sm *sm, uint64_t now)
{
	bool whole = sm->n_resident >= gt_machine_capacity(schedule);
	uint64_t room = whole ? GT_NEVER : now;

	if (!schedule->config->dispatch->refills)
		room = sm->live == 0 ? now : GT_NEVER;
	for (size_t i = 0; schedule->config->dispatch->refills && i < sm->n_resident; i++)
		if (!sm->resident[i])
			room = sooner(room, later(sm->free_at[i], now));
	sm->clocked->room = room;
}

/* Makes runners of a block that has become resident; warp w belongs to scheduler (first + w) mod n. Returns 0, or -1. */
static int runners_admit(struct block *block, struct clocked *clocked, uint64_t first, struct keep *keep, uint64_t now,
			 struct gt_error *error)
{
	const size_t warps = block->folded ? block->n_folds : block->n_sources;
	struct fold_warp *fold = block->folded ? gt_first_fold(block->loose.rows) : NULL;

	block->runners = gt_free_lists_take(clocked->runners, warps * sizeof *block->runners);
	if (!block->runners)
		return gt_fail_memory(error, "the warps of a block");
	for (size_t i = 0; i < warps; i++) {
		struct runner *runner = &block->runners[i];
		*runner = (struct runner){.block = block, .number = block->number, .folded = block->folded};
		const uint64_t warp = first + (fold ? fold->warp : block->sources[i].warp);
		if (fold) {
			runner->unfolding = gt_unfolding(fold);
			fold = gt_fold_next(fold);
		}
		if (take_rows(runner, keep, error) != 0 || join(&clocked->schedulers[warp % clocked->n], runner, clocked->arena, error) != 0)
			return -1;
	}
	block->n_runners = block->warps_left = warps;
	for (size_t i = 0; i < block->n_runners; i++)
		look_ahead(&block->runners[i], &keep->shapes, now);
	return 0;
}

/* Makes the L1 of an SM, if it is to have one. */
static int open_l1(const struct gt_schedule *schedule, struct clocked *clocked, struct gt_error *error)
{
	uint64_t bytes = schedule->occupancy.l1_bytes ? schedule->occupancy.l1_bytes : schedule->config->times.l1_bytes;

	if (clocked->l1 || schedule->config->times.l1_bytes == 0)
		return 0;
	clocked->l1 = gt_recent_open(clocked->arena, (uint32_t)(bytes / GT_LINE), true, error);
	return clocked->l1 ? 0 : -1;
}

int gt_sm_admit(struct gt_schedule *schedule, struct sm *sm, struct block *block, struct gt_error *error)
{
	uint64_t in_block = gt_kernel_warps(schedule->kernel);
	struct clocked *clocked = sm->clocked;

	if (open_l1(schedule, clocked, error) != 0)
		return -1;
	in_block = in_block ? in_block : (uint64_t)block->highest_warp + 1;
	clocked->wake = sooner(clocked->wake, schedule->step);
	gt_sm_look_for_room(schedule, sm, schedule->step);
	return runners_admit(block, clocked, block->slot * in_block, &schedule->keep, schedule->step, error);
}

/* A warp has ended with the last of what L1 has taken. Returns 0, or -1. */
static int retire(struct gt_schedule *schedule, struct sm *sm, struct taken *last, uint64_t now, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	struct ended *ended = gt_arena_grown(clocked->arena, clocked->ended, clocked->n_ended + 1, &clocked->ended_capacity, sizeof *ended);
	struct runner *runner = last->runner;
	struct block *block = runner->block;
	size_t position = block->position;

	if (!ended)
		return gt_fail_memory(error, "accesses");
	clocked->ended = ended;
	runner_leave(runner);
	if (--block->warps_left > 0)
		return 0;
	gt_machine_vacate(schedule, sm, block);
	block->next = clocked->dead;
	clocked->dead = block;
	sm->free_at[position] = later(sm->free_at[position], later(runner->data, now));
	if (runner->open > 0) {
		ended[clocked->n_ended++] = (struct ended){position, sm->free_at[position]};
		last->ended = (uint32_t)clocked->n_ended;
		sm->free_at[position] = GT_NEVER;
	}
	gt_sm_look_for_room(schedule, sm, now + 1);
	return 0;
}

/* ---- the load/store unit ---- */

/* All schedulers of an SM share it. It serves those whose warps have accesses to shared memory before their next access, a pass of the banks
 * a cycle, in turn. An access to other memory takes the cycles that every access takes, however many requests it makes. */

static uint32_t lsu_behind(const struct clocked *clocked, uint32_t i)
{
	return i + 1 == clocked->n ? 0 : i + 1;
}

/* Gives passes to the next scheduler that waits. */
static void lsu_next(struct clocked *clocked, uint64_t passes)
{
	struct scheduler *scheduler;

	do {
		scheduler = &clocked->schedulers[clocked->lsu_turn];
		clocked->lsu_turn = lsu_behind(clocked, clocked->lsu_turn);
	} while (scheduler->passes == 0);
	scheduler->passes -= passes;
	clocked->lsu_given += passes;
	clocked->lsu_waiting -= scheduler->passes == 0;
}

/* Gives each that waits as many passes as one of them still needs, but `most` at most. Returns how many: 0, if most is 0. */
static uint64_t lsu_rounds(struct clocked *clocked, uint64_t most)
{
	uint64_t rounds = most;

	for (uint32_t i = 0; i < clocked->n; i++)
		rounds = clocked->schedulers[i].passes > 0 ? sooner(rounds, clocked->schedulers[i].passes) : rounds;
	for (uint32_t waiting = rounds > 0 ? clocked->lsu_waiting : 0; waiting > 0; waiting--)
		lsu_next(clocked, rounds);
	return rounds;
}

/* Gives away the cycles before `now`. */
static void lsu_run(struct clocked *clocked, uint64_t now)
{
	while (clocked->lsu_waiting > 0 && clocked->lsu_given < now)
		if (lsu_rounds(clocked, (now - clocked->lsu_given) / clocked->lsu_waiting) == 0)
			lsu_next(clocked, 1);
	clocked->lsu_given = later(clocked->lsu_given, now);
}

/* Whether a scheduler waits for passes that were not given to it yet. */
static inline bool lsu_holds(const struct scheduler *scheduler)
{
	return scheduler->passes > scheduler->spare;
}

/* When a scheduler has as many of its passes as its present warp waits for, if no more is asked for. */
static uint64_t lsu_ends(const struct clocked *clocked, const struct scheduler *scheduler)
{
	const uint64_t own = scheduler->passes - scheduler->spare;
	uint64_t end = clocked->lsu_given + own;
	bool behind = false; /* in a round */

	for (uint32_t k = 0, i = clocked->lsu_turn; k < clocked->n; k++, i = lsu_behind(clocked, i)) {
		const struct scheduler *other = &clocked->schedulers[i];
		if (other == scheduler)
			behind = true;
		else
			end += sooner(other->passes, behind ? own - 1 : own);
	}
	return end;
}

/* The warp of a scheduler makes its accesses to shared memory. Returns when they are done, if no other one asks. */
static uint64_t lsu_ask(struct clocked *clocked, struct scheduler *scheduler, const struct gt_issue_times *times, uint32_t shared, uint64_t now)
{
	const uint64_t accesses = gt_shared_accesses(shared), passes = later(gt_shared_passes(shared), accesses * times->access);

	if (accesses == 0)
		return now;
	lsu_run(clocked, now);
	clocked->lsu_waiting += scheduler->passes == 0 && passes > 0;
	scheduler->passes += passes;
	scheduler->spare = QUEUE * passes / accesses;
	return later(lsu_holds(scheduler) ? lsu_ends(clocked, scheduler) : now, now + accesses * times->scheduler_access);
}

/* Whether a scheduler still waits at a step; if it does says until when. */
static bool lsu_still_holds(struct clocked *clocked, struct scheduler *scheduler, uint64_t now)
{
	lsu_run(clocked, now);
	if (lsu_holds(scheduler))
		scheduler->until = lsu_ends(clocked, scheduler);
	return lsu_holds(scheduler);
}

/* L1 takes an access. */
static inline void lsu_pass(struct clocked *clocked, const struct gt_issue_times *times, uint64_t now)
{
	if (clocked->lsu_waiting > 0)
		lsu_run(clocked, now);
	clocked->lsu_given = later(clocked->lsu_given, now) + later(times->access, 1);
}

/* ---- L1 ---- */

/* Room for what so many requests may ask and wait for. */
static int more_asks(struct clocked *clocked, size_t requests, struct gt_error *error)
{
	struct ask *asks = gt_arena_grown(clocked->arena, clocked->asks, clocked->n_asks + requests, &clocked->asks_capacity, sizeof *asks);
	uint32_t *waits = gt_arena_grown(clocked->arena, clocked->waits, clocked->n_waits + 2 * requests, &clocked->waits_capacity, sizeof *waits);

	if (!asks || !waits)
		return gt_fail_memory(error, "requests to L2");
	clocked->asks = asks;
	clocked->waits = waits;
	return 0;
}

static inline void ask(struct clocked *clocked, const struct ask *what)
{
	clocked->asks[clocked->n_asks++] = *what;
}

/* What L1 has taken last waits for an ask, or for its line. */
static inline void wait_for(struct clocked *clocked, size_t number, bool line)
{
	clocked->waits[clocked->n_waits++] = (uint32_t)(2 * number + line);
}

/* What a store writes is in L2 from now on, and in L1 if stores allocate there. */
static inline void store(struct clocked *clocked, const struct gt_issue_times *times, const struct shape *shape, uint64_t address)
{
	if (clocked->l1 && times->l1_stores)
		clocked->l1->lines[gt_recent_use(clocked->l1, address)].tag |= shape->mask >> 8 & RECENT_SECTORS;
	ask(clocked, &(struct ask){.address = address, .sectors = shape->mask & RECENT_SECTORS, .stores = true});
}

/* L1 asks for sectors of a line that it does not have, `delay` cycles after the access. */
static void miss(struct clocked *clocked, uint32_t number, uint64_t address, uint8_t sectors, uint32_t delay)
{
	struct recent_line *line = &clocked->l1->lines[number];
	uint32_t before = line->tag & RECENT_ASKED ? (uint32_t)clocked->l1->times[number] : 0;

	ask(clocked, &(struct ask){.address = address, .filled = recent_time(clocked->l1, number), .line = number, .before = before, .delay = delay,
				   .sectors = sectors});
	line->tag = (line->tag | sectors | RECENT_ASKED) & ~(uint64_t)RECENT_TIMED;
	clocked->l1->times[number] = clocked->n_asks;
	recent_is_asked(clocked->l1, number);
	wait_for(clocked, clocked->n_asks - 1, false);
}

/* Some sectors of a line that a load wants are there, or under way, at a step. Returns when they are there, if L2 has answered. */
static uint64_t meet(struct clocked *clocked, uint32_t number, uint64_t step)
{
	struct recent_line *line = &clocked->l1->lines[number];
	uint64_t time = clocked->l1->times[number];

	if (line->tag & RECENT_ASKED) {
		wait_for(clocked, time - 1, true);
		return 0;
	}
	if (time <= step) /* as all later ones are */
		line->tag &= ~(uint64_t)RECENT_TIMED;
	return time;
}

/* In what follows L1 takes an access at a step. Returned is when the loads have their data, but for what L2 is asked for. */

/* L1 takes a load. */
static inline uint64_t load(struct clocked *clocked, const struct gt_issue_times *times, uint64_t address, uint8_t sectors, uint64_t step, uint32_t delay)
{
	uint32_t number = gt_recent_use(clocked->l1, address);
	uint64_t tag = clocked->l1->lines[number].tag;
	uint8_t absent = (uint8_t)(sectors & ~tag);

	uint64_t data = step + delay + times->l1;
	if (sectors & tag && tag & (RECENT_ASKED | RECENT_TIMED))
		data = later(data, meet(clocked, number, step));
	if (absent)
		miss(clocked, number, address, recent_fetched(absent, times->l1_sector), delay);
	return data;
}

/* Whether L1 is asked for what a load wants. */
static inline bool is_cached_load(const struct clocked *clocked, const struct shape *shape)
{
	enum gt_operator said = gt_op_operator(shape->op);

	return gt_op_action(shape->op) == GT_LOAD && clocked->l1 && said != GT_CG && said != GT_CV;
}

/* L1 takes a request that is served `delay` cycles after its access. */
static inline uint64_t request(struct clocked *clocked, const struct gt_issue_times *times, const struct shape *shape, uint64_t address, uint64_t step,
			       uint32_t delay)
{
	enum gt_action action = gt_op_action(shape->op);
	uint8_t sectors = shape->mask & RECENT_SECTORS;

	if (is_cached_load(clocked, shape))
		return load(clocked, times, address, sectors, step, delay);
	if (action == GT_STORE) {
		store(clocked, times, shape, address);
		return step + delay;
	}
	ask(clocked, &(struct ask){.address = address, .delay = delay, .sectors = sectors});
	if (action != GT_REDUCTION)
		wait_for(clocked, clocked->n_asks - 1, false);
	return 0;
}

/* The same of a span, whose first request is served `delay` cycles after the access. */
static uint64_t request_span(struct clocked *clocked, const struct gt_issue_times *times, const struct shape *shape, const struct kept *span,
			     uint64_t step, uint32_t delay)
{
	const struct span_more *more = gt_span_more(span);
	const uint64_t delta = (uint64_t)(int64_t)more->delta;
	const uint8_t sectors = shape->mask & RECENT_SECTORS;
	const bool loads = is_cached_load(clocked, shape), in_groups = loads && recent_has_groups(clocked->l1, more->delta, more->n);
	uint32_t i = 0, lines[GROUP_MOST];
	uint64_t data = 0;

	if (in_groups && recent_use_group(clocked->l1, span->base, more->delta, more->n, sectors))
		i = more->n;
	bool one_by_one = i == 0;
	/* Mostly the lines of a load were brought one after the other, and are there. */
	for (; loads && i < more->n; i++) {
		if (!recent_use_next(clocked->l1, span->base + i * delta, sectors))
			data = later(data, request(clocked, times, shape, span->base + i * delta, step, delay + i));
		lines[in_groups ? i : 0] = clocked->l1->last;
	}
	if (in_groups && one_by_one)
		gt_recent_group(clocked->l1, span->base, more->delta, lines, more->n);
	data = i > 0 ? later(data, step + delay + i - 1 + times->l1) : data;
	for (; i < more->n; i++)
		data = later(data, request(clocked, times, shape, span->base + i * delta, step, delay + i));
	return data;
}

/* The same of spans that are held. Apart, as hold_access, since most accesses are one row, of which more is kept in registers then. */
static uint64_t __attribute__((noinline)) request_all(const struct gt_schedule *schedule, struct clocked *clocked, const struct taken *taken, uint64_t step)
{
	const struct held *held = &clocked->held[0];
	const struct gt_issue_times *times = &schedule->config->times;
	const struct kept *span = gt_held_span(held, taken->row.base), *end = gt_held_span(held, taken->row.base + taken->words);
	uint32_t delay = 0;
	uint64_t data = 0;

	do {
		const struct odd *odd = span->shape == SHAPE_NONE ? &held->odd[span->base] : NULL;
		const struct shape *shape = odd ? &odd->shape : gt_span_shape(&schedule->keep.shapes, span);
		if (gt_span_is_many(span)) {
			data = later(data, request_span(clocked, times, shape, span, step, delay));
			delay += gt_span_more(span)->n;
			span = gt_span_next(span);
		} else {
			data = later(data, request(clocked, times, shape, odd ? odd->base : span->base, step, delay++));
			span++;
		}
	} while (span < end);
	return data;
}

/* Takes an access out of the queue of a scheduler, which may go on if that was full. */
static inline const struct waiting *take_out_of(struct clocked *clocked, struct scheduler *scheduler, uint64_t free)
{
	const struct waiting *waiting = &scheduler->queue[scheduler->first];

	scheduler->first = scheduler->first + 1 == QUEUE ? 0 : scheduler->first + 1;
	scheduler->queued--;
	scheduler->free = free;
	clocked->queued--;
	clocked->sends[scheduler - clocked->schedulers] = scheduler->queued > 0 ? free : GT_NEVER;
	if (scheduler->current)
		*scheduler->wake = scheduler->until;
	return waiting;
}

/* L1 takes an access: one request a cycle. */
static inline int take(struct gt_schedule *schedule, struct sm *sm, struct scheduler *scheduler, uint64_t now, uint64_t begin, struct gt_error *error)
{
	const struct gt_issue_times *times = &schedule->config->times;
	struct clocked *clocked = sm->clocked;
	struct taken *taken = &clocked->taken[clocked->n_taken];
	const struct waiting *waiting = take_out_of(clocked, scheduler, now + times->scheduler_access);
	struct runner *runner = waiting->runner;

	if (more_asks(clocked, waiting->requests, error) != 0)
		return -1;
	taken->runner = runner;
	taken->row = waiting->row;
	taken->words = waiting->words;
	taken->block = runner->number;
	taken->asks = (uint32_t)clocked->n_asks;
	taken->waits = (uint32_t)clocked->n_waits;
	taken->ended = 0;
	clocked->steps[clocked->n_taken++] = (uint16_t)(now - begin);
	clocked->free = now + later(waiting->requests, times->access);
	lsu_pass(clocked, times, now);
	const uint64_t data = taken->words > 0 ? request_all(schedule, clocked, taken, now)
					       : request(clocked, times, &schedule->keep.shapes.all[taken->row.shape], taken->row.base, now, 0);
	/* Where the asks and waits of the next one begin. */
	taken[1].asks = (uint32_t)clocked->n_asks;
	taken[1].waits = (uint32_t)clocked->n_waits;
	if (!runner->begun) {
		gt_machine_begin(runner->block, now);
		runner->begun = true;
	}
	runner->queued--;
	runner->open = (uint16_t)(runner->open - (clocked->n_waits == taken->waits));
	runner_has(runner, data, now + 1);
	return runner->queued == 0 && !is_left(runner) ? retire(schedule, sm, taken, now, error) : 0;
}

/* Of n schedulers. */
GT_INLINE int serve(struct gt_schedule *schedule, struct sm *sm, uint32_t n, uint64_t now, uint64_t begin, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	uint32_t turn = clocked->turn;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = turn + 1 == n ? 0 : turn + 1;
		if (clocked->sends[turn] <= now) {
			clocked->turn = next;
			return take(schedule, sm, &clocked->schedulers[turn], now, begin, error);
		}
		turn = next;
	}
	return 0;
}

/* ---- schedulers ---- */

/* The warp that has been ready longest, of several the youngest. */
static struct runner *choose_by_wait(const struct scheduler *scheduler, uint64_t now, uint64_t *next)
{
	const uint64_t *ready = scheduler->ready;
	size_t first = 0;

	*next = GT_NEVER;
	for (size_t i = scheduler->n; i-- > 0;)
		if (ready[i] < *next) {
			*next = ready[i];
			first = i;
		}
	return *next <= now ? scheduler->runners[first] : NULL;
}

/* The youngest. */
static struct runner *choose_by_age(const struct scheduler *scheduler, uint64_t now, uint64_t *next)
{
	const uint64_t *ready = scheduler->ready;
	uint64_t first = GT_NEVER;

	for (size_t i = scheduler->n; i-- > 0;) {
		if (ready[i] <= now)
			return scheduler->runners[i];
		first = sooner(first, ready[i]);
	}
	*next = first;
	return NULL;
}

/* Greedy: the warp that issued last; then the youngest, or that which waits longest, for which a full queue makes room too. NULL: none can
 * issue; then *next is when one can. */
static inline struct runner *choose(const struct gt_issue_times *times, const struct scheduler *scheduler, uint64_t now, uint64_t *next)
{
	bool stays = !times->by_wait || scheduler->queued < QUEUE;

	if (stays && scheduler->last != NO_PLACE && scheduler->ready[scheduler->last] <= now)
		return scheduler->runners[scheduler->last];
	return times->by_wait ? choose_by_wait(scheduler, now, next) : choose_by_age(scheduler, now, next);
}

/* Whether the next access of a warp is one row with a numbered shape. */
static inline bool is_one_row(const struct runner *runner)
{
	return runner->row->shape < SPAN_MANY && (runner->left == SPAN_WORDS || runner->row[1].an != runner->row->an);
}

/* Appends n words of spans; `odd` are those that their bases count, if they do not point to them. Returns 0, or -1. */
static int hold(struct held *held, const void *first, size_t n, const struct odd *odd, struct gt_error *error)
{
	uint64_t *words = gt_arena_grown(held->arena, held->words, held->n + n, &held->capacity, sizeof *words);

	if (!words)
		return gt_fail_memory(error, "accesses");
	held->words = words;
	memcpy(words + held->n, first, n * sizeof *words);
	struct kept *span = gt_held_span(held, held->n), *end = gt_held_span(held, held->n += n);
	for (; span < end; span = gt_span_next(span)) {
		if (span->shape != SHAPE_NONE)
			continue;
		struct odd *odds = gt_arena_grown(held->arena, held->odd, held->n_odd + 1, &held->odd_capacity, sizeof *odds);
		if (!odds)
			return gt_fail_memory(error, "accesses");
		held->odd = odds;
		odds[held->n_odd] = odd ? odd[span->base] : *(const struct odd *)(uintptr_t)span->base;
		span->base = held->n_odd++;
	}
	return 0;
}

/* Holds the spans of the next access of a warp, which waits for L1. Returns 0, or -1. */
static int __attribute__((noinline)) hold_access(struct clocked *clocked, const struct runner *runner, struct waiting *waiting, struct gt_error *error)
{
	const struct kept *end = gt_access_end(runner->row, end_of(runner));

	waiting->words = (uint32_t)((const uint64_t *)(const void *)end - (uint64_t *)(void *)runner->row);
	waiting->requests = 0;
	waiting->row.base = clocked->held[0].n;
	if (hold(&clocked->held[0], runner->row, waiting->words, NULL, error) != 0)
		return -1;
	for (const struct kept *span = runner->row; span < end; span = gt_span_next(span)) {
		waiting->requests += (uint32_t)gt_span_rows(span);
		if (clocked->l1)
			recent_prefetch_slot(clocked->l1, span->base);
	}
	return 0;
}

/* The access that the present warp has come to issues. */
static int issue_access(struct clocked *clocked, struct scheduler *scheduler, struct keep *keep, uint64_t now, struct gt_error *error)
{
	struct runner *runner = scheduler->current;
	size_t place = scheduler->first + scheduler->queued;
	struct waiting *waiting = &scheduler->queue[place >= QUEUE ? place - QUEUE : place];

	waiting->runner = runner;
	if (is_one_row(runner)) {
		waiting->row = *runner->row;
		waiting->words = 0;
		waiting->requests = 1;
		if (clocked->l1)
			recent_prefetch_slot(clocked->l1, runner->row->base);
	} else if (hold_access(clocked, runner, waiting, error) != 0) {
		return -1;
	}
	if (scheduler->queued++ == 0)
		clocked->sends[scheduler - clocked->schedulers] = scheduler->free;
	clocked->queued++;
	scheduler->current = NULL;
	scheduler->until = now + 1;
	return runner_issued(runner, waiting->words ? waiting->words : SPAN_WORDS, keep, now + 1, error);
}

/* Its warp may have accesses to shared memory before its next access. Apart, since most kernels have none, and what turns to warps is better
 * kept in registers then. */
static void __attribute__((noinline)) ask_for_shared(const struct gt_schedule *schedule, struct clocked *clocked, struct scheduler *scheduler, uint64_t now)
{
	uint32_t shared = gt_span_shape(&schedule->keep.shapes, scheduler->current->row)->shared;

	if (shared)
		scheduler->until = later(scheduler->until, lsu_ask(clocked, scheduler, &schedule->config->times, shared, now));
}

/* A scheduler turns to a warp: what comes before its next access issues. */
static void turn_to(const struct gt_schedule *schedule, struct clocked *clocked, struct scheduler *scheduler, struct runner *runner, uint64_t now)
{
	scheduler->current = runner;
	scheduler->last = runner->place;
	scheduler->until = now + runner->instructions;
	if (schedule->keep.shapes.shared)
		ask_for_shared(schedule, clocked, scheduler, now);
}

/* Issues up to an access that is not due yet, or for which the queue has no room. */
static inline int run_scheduler(struct gt_schedule *schedule, struct clocked *clocked, struct scheduler *scheduler, uint64_t now, struct gt_error *error)
{
	const struct gt_issue_times *times = &schedule->config->times;
	uint64_t next = GT_NEVER;

	while (scheduler->until <= now) {
		if (!scheduler->current) {
			struct runner *chosen = scheduler->chosen;
			if (!chosen || scheduler->until < now)
				chosen = choose(times, scheduler, now, &next);
			if (!chosen) {
				*scheduler->wake = next;
				return 0;
			}
			turn_to(schedule, clocked, scheduler, chosen, now);
		} else if (lsu_holds(scheduler) && lsu_still_holds(clocked, scheduler, now)) {
			continue;
		} else if (scheduler->queued == QUEUE) {
			break;
		} else if (issue_access(clocked, scheduler, &schedule->keep, now, error) != 0) {
			return -1;
		}
	}
	*scheduler->wake = scheduler->current && scheduler->queued == QUEUE ? GT_NEVER : scheduler->until;
	if (scheduler->current)
		return 0;
	scheduler->chosen = choose(times, scheduler, scheduler->until, &next);
	if (!scheduler->chosen)
		*scheduler->wake = next;
	else if (times->by_wait) /* what L1 takes before may change it */
		scheduler->chosen = NULL;
	return 0;
}

/* When an SM of n schedulers can do something next, if not before a step. */
GT_INLINE void find_wake(struct clocked *clocked, uint32_t n, uint64_t from)
{
	uint64_t wake = GT_NEVER, sends = GT_NEVER;

	for (uint32_t i = 0; i < n; i++) {
		wake = sooner(wake, clocked->wakes[i]);
		sends = sooner(sends, clocked->sends[i]);
	}
	clocked->wake = later(sooner(wake, later(clocked->free, sends)), from);
}

/* Runs an SM of n schedulers. */
GT_INLINE int run_sm(struct gt_schedule *schedule, struct sm *sm, uint32_t n, uint64_t end, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	const uint64_t begin = schedule->machine->end - schedule->machine->window;

	while (gt_sm_can_run(schedule, sm, end)) {
		const uint64_t now = clocked->wake;
		for (uint32_t i = 0; i < n; i++)
			if (clocked->wakes[i] <= now &&
			    run_scheduler(schedule, clocked, &clocked->schedulers[i], now, error) != 0)
				return -1;
		if (clocked->queued > 0 && clocked->free <= now && serve(schedule, sm, n, now, begin, error) != 0)
			return -1;
		find_wake(clocked, n, now + 1);
	}
	return 0;
}

#define USUAL_SCHEDULERS 4 /* since Kepler */

int gt_sm_run(struct gt_schedule *schedule, struct sm *sm, uint64_t end, struct gt_error *error)
{
	if (sm->clocked->n == USUAL_SCHEDULERS)
		return run_sm(schedule, sm, USUAL_SCHEDULERS, end, error);
	return run_sm(schedule, sm, sm->clocked->n, end, error);
}

/* ---- the end of a window ---- */

/* What an access has waited for is there. */
static void answer(struct sm *sm, const struct taken *taken)
{
	const struct clocked *clocked = sm->clocked;
	uint64_t data = 0;

	for (const uint32_t *wait = clocked->waits + taken->waits, *end = clocked->waits + taken[1].waits; wait < end; wait++) {
		const struct ask *of = &clocked->asks[*wait / 2];
		data = later(data, *wait & 1 ? of->filled : of->there);
	}
	taken->runner->open = (uint16_t)(taken->runner->open - (taken[1].waits > taken->waits));
	runner_has(taken->runner, data, 0);
	if (taken->ended == 0)
		return;
	const struct ended *ended = &clocked->ended[taken->ended - 1];
	sm->free_at[ended->place] = later(ended->free_at, taken->runner->data);
}

/* Moves the spans of accesses that L1 has not taken to the front. */
static int keep_waiting(struct clocked *clocked, struct gt_error *error)
{
	struct held *from = &clocked->held[0], *to = &clocked->held[1], other = *from;

	if (from->n == 0)
		return 0;
	to->n = to->n_odd = 0;
	for (uint32_t i = 0; i < clocked->n; i++)
		for (uint32_t k = 0; k < clocked->schedulers[i].queued; k++) {
			struct waiting *waiting = &clocked->schedulers[i].queue[(clocked->schedulers[i].first + k) % QUEUE];
			size_t first = to->n;
			if (waiting->words == 0)
				continue;
			if (hold(to, from->words + waiting->row.base, waiting->words, from->odd, error) != 0)
				return -1;
			waiting->row.base = first;
		}
	*from = *to;
	*to = other;
	return 0;
}

int gt_sm_conclude(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;

	for (size_t i = 0; i < clocked->n_asks; i++) {
		if (i + 8 < clocked->n_asks && clocked->asks[i + 8].line)
			__builtin_prefetch(&clocked->l1->lines[clocked->asks[i + 8].line], 1);
		uint32_t number = clocked->asks[i].line;
		struct recent_line *line = number ? &clocked->l1->lines[number] : NULL;
		if (!line || !(line->tag & RECENT_ASKED) || clocked->l1->times[number] != i + 1)
			continue;
		line->tag &= ~(uint64_t)RECENT_ASKED;
		recent_set_time(clocked->l1, number, clocked->asks[i].filled);
	}
	for (size_t i = 0; i < clocked->n_taken; i++) {
		if (i + 8 < clocked->n_taken)
			prefetch_bytes(clocked->taken[i + 8].runner, sizeof(struct runner));
		if (clocked->taken[i + 1].waits > clocked->taken[i].waits || clocked->taken[i].ended > 0)
			answer(sm, &clocked->taken[i]);
	}
	clocked->n_taken = clocked->n_asks = clocked->n_waits = clocked->n_ended = 0;
	find_wake(clocked, clocked->n, schedule->machine->end);
	gt_sm_look_for_room(schedule, sm, sooner(clocked->room, schedule->machine->end));
	return keep_waiting(clocked, error);
}

