/* SPDX-License-Identifier: MIT */
/* The machine that the order of issue by time runs (latency.c has what an SM does): windows of steps, the threads that share them, and what
 * SMs have in common: L2, blocks that they take, and rows that leave. */
#include "schedule/clocked.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "gpu/parameter.h"

/* ---- threads ---- */

/* In a window SMs do not need each other but where they take blocks, so that each thread runs some of them; at its end one asks L2 while another
 * writes rows. Who takes a block first, and the order of what is asked and written, follow from steps, and so are the same whatever the threads.
 * A thread always has the same SMs. */

/* Fewer accesses, of a launch and of the window before, cost threads more than they save. */
#define SHARED_FROM 20000
#define SHARED_LEAST 256

/* How often a thread looks whether what it waits for has come, before it sleeps. A sleeping thread takes some 40 us to wake up, three times in a
 * window that may take 150 us itself. Where looking is in vain, since the processors have other work, threads look less often. */
#define LOOKS_LEAST 16
#define LOOKS_MOST 4096

/* Leaves the processor's core to another thread of it for some cycles. */
static inline void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* What threads do together: each a part of it. */
typedef int shared_work(struct gt_schedule *schedule, uint32_t part, struct gt_error *error);

struct team {
	struct gt_schedule *schedule;
	shared_work *work;
	atomic_uint begun; /* works */
	atomic_uint left;  /* threads that have not ended their part */
	pthread_mutex_t lock; /* of what threads sleep for: a change of these two */
	pthread_cond_t begins, ended;
	bool closing;
	uint32_t n, started; /* threads; those besides the one that calls */
	struct member {
		struct team *team;
		pthread_t thread;
		uint32_t part;
		unsigned looks;	    /* before it sleeps */
		int result, reason; /* of its part; errno */
		struct gt_error error;
	} *members;
};

static void run_member(struct member *member)
{
	member->result = member->team->work(member->team->schedule, member->part, &member->error);
	member->reason = errno;
}

/* Waits until a number is `wanted`; if not `equal`, until it is another one. */
static void await(struct member *member, atomic_uint *number, unsigned wanted, bool equal, pthread_cond_t *changes)
{
	struct team *team = member->team;

	for (unsigned look = 0; look < member->looks; look++) {
		if ((atomic_load_explicit(number, memory_order_acquire) == wanted) == equal) {
			member->looks = member->looks < LOOKS_MOST ? 2 * member->looks : LOOKS_MOST;
			return;
		}
		pause_core();
	}
	member->looks = member->looks > LOOKS_LEAST ? member->looks / 2 : LOOKS_LEAST;
	pthread_mutex_lock(&team->lock);
	while ((atomic_load_explicit(number, memory_order_acquire) == wanted) != equal)
		pthread_cond_wait(changes, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

static void *help(void *context)
{
	struct member *member = context;
	struct team *team = member->team;

	for (unsigned begun = 0;; begun++) {
		await(member, &team->begun, begun, false, &team->begins);
		if (team->closing)
			return NULL;
		run_member(member);
		if (atomic_fetch_sub(&team->left, 1) > 1)
			continue;
		pthread_mutex_lock(&team->lock);
		pthread_cond_signal(&team->ended);
		pthread_mutex_unlock(&team->lock);
	}
}

/* Lets all others begin. */
static void begin_work(struct team *team)
{
	pthread_mutex_lock(&team->lock);
	atomic_store(&team->left, team->started);
	atomic_fetch_add(&team->begun, 1);
	pthread_cond_broadcast(&team->begins);
	pthread_mutex_unlock(&team->lock);
}

static void close_team(struct team *team)
{
	if (!team)
		return;
	team->closing = true;
	begin_work(team);
	for (uint32_t i = 1; i <= team->started; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_mutex_destroy(&team->lock);
	pthread_cond_destroy(&team->begins);
	pthread_cond_destroy(&team->ended);
	free(team->members);
	free(team);
}

/* The first member is the thread that calls. */
static int start_helpers(struct team *team, struct gt_error *error)
{
	for (uint32_t i = 0; i < team->n; i++) {
		struct member *member = &team->members[i];
		*member = (struct member){.team = team, .part = i, .looks = LOOKS_MOST};
		if (i > 0 && gt_thread_start(&member->thread, help, member, error) != 0)
			return -1;
		team->started = i;
	}
	return 0;
}

static struct team *open_team(struct gt_schedule *schedule, struct gt_error *error)
{
	struct team *team = calloc(1, sizeof *team);

	if (team && !(team->members = calloc(schedule->machine->parts, sizeof *team->members))) {
		free(team);
		team = NULL;
	}
	if (!team) {
		gt_fail_memory(error, "threads");
		return NULL;
	}
	team->schedule = schedule;
	team->n = schedule->machine->parts;
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->begins, NULL);
	pthread_cond_init(&team->ended, NULL);
	if (start_helpers(team, error) == 0)
		return team;
	close_team(team);
	return NULL;
}

/* From now on each thread has memory of its own for its SMs. */
static int begin_sharing(struct gt_schedule *schedule, struct gt_error *error)
{
	struct machine *machine = schedule->machine;

	machine->arenas = gt_arena_zeroed(&machine->arena, machine->parts * sizeof *machine->arenas);
	if (!machine->arenas)
		return gt_fail_memory(error, "threads");
	for (size_t i = 0; i < schedule->n_active; i++) {
		struct clocked *clocked = schedule->sms[schedule->active[i]].clocked;
		clocked->arena = clocked->held[0].arena = clocked->held[1].arena = &machine->arenas[i % machine->parts];
	}
	machine->team = open_team(schedule, error);
	return machine->team ? 0 : -1;
}

/* Runs each part of a work in its thread. Of those that fail, the first says why. */
static int share(struct gt_schedule *schedule, shared_work *work, struct gt_error *error)
{
	struct machine *machine = schedule->machine;

	if (!machine->team && begin_sharing(schedule, error) != 0)
		return -1;
	struct team *team = machine->team;
	team->work = work;
	begin_work(team);
	run_member(&team->members[0]);
	await(&team->members[0], &team->left, 0, true, &team->ended);
	for (uint32_t i = 0; i < team->n; i++) {
		if (team->members[i].result == 0)
			continue;
		*error = team->members[i].error;
		errno = team->members[i].reason;
		return -1;
	}
	return 0;
}

/* Runs the parts of a work, in threads or one after the other. */
static int run_parts(struct gt_schedule *schedule, shared_work *work, bool shared, struct gt_error *error)
{
	for (uint32_t part = 0; part < schedule->machine->parts && !shared; part++)
		if (work(schedule, part, error) != 0)
			return -1;
	return shared ? share(schedule, work, error) : 0;
}

/* Whether a window is worth it. */
static bool is_shared(const struct machine *machine)
{
	return machine->parts > 1 && machine->accesses >= SHARED_FROM && machine->n_order >= SHARED_LEAST;
}

/* ---- the machine ---- */

/* All but its L1, which it has once it takes a block: most SMs of a short launch take none. */
static int open_sm(const struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct gt_arena *arena = &schedule->machine->arena;
	struct clocked *clocked = sm->clocked = gt_arena_zeroed(arena, sizeof *clocked);

	if (!clocked)
		return gt_fail_memory(error, "the schedulers of an SM");
	clocked->arena = clocked->held[0].arena = clocked->held[1].arena = arena;
	clocked->runners = &schedule->machine->runners;
	clocked->n = schedule->config->schedulers;
	clocked->wake = GT_NEVER;
	clocked->schedulers = gt_arena_zeroed(arena, clocked->n * sizeof *clocked->schedulers);
	clocked->wakes = gt_arena_take(arena, clocked->n * sizeof *clocked->wakes);
	clocked->sends = gt_arena_take(arena, clocked->n * sizeof *clocked->sends);
	clocked->taken = gt_arena_take(arena, (schedule->machine->window + 1) * sizeof *clocked->taken);
	clocked->steps = gt_arena_take(arena, schedule->machine->window * sizeof *clocked->steps);
	if (!clocked->schedulers || !clocked->wakes || !clocked->sends || !clocked->taken || !clocked->steps)
		return gt_fail_memory(error, "the schedulers of an SM");
	for (uint32_t i = 0; i < clocked->n; i++) {
		clocked->schedulers[i].wake = &clocked->wakes[i];
		clocked->schedulers[i].last = NO_PLACE;
		clocked->wakes[i] = clocked->sends[i] = GT_NEVER;
	}
	return 0;
}

static void close_machine(struct gt_schedule *schedule)
{
	struct machine *machine = schedule->machine;

	for (uint32_t sm = 0; sm < schedule->config->sms; sm++) {
		while (schedule->sms[sm].clocked && schedule->sms[sm].clocked->dead) {
			struct block *block = schedule->sms[sm].clocked->dead;
			schedule->sms[sm].clocked->dead = block->next;
			gt_block_free(block, &schedule->keep);
		}
		schedule->sms[sm].clocked = NULL;
	}
	if (!machine)
		return;
	close_team(machine->team);
	for (uint32_t part = 0; machine->arenas && part < machine->parts; part++)
		gt_arena_close(&machine->arenas[part]);
	gt_arena_close(&machine->arena);
	free(machine);
}

#define WINDOW_MOST 1024 /* steps of a window */

/* The least time in which an SM has what it asks L2 for. So the SMs need not know of each other for so many steps, but for the
 * blocks that they take: a window, in which an SM runs on its own. */
static uint64_t window_of(const struct gt_issue_times *times)
{
	uint64_t nearest = gt_spread_nearest(&times->spread);

	return sooner(times->l2 > nearest ? times->l2 - nearest : 1, WINDOW_MOST);
}

static int open_machine(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_issue_times *times = &schedule->config->times;
	struct machine *machine = schedule->machine = calloc(1, sizeof *machine);

	if (!machine)
		return gt_fail_memory(error, "the lines of a cache");
	machine->runners.arena = &machine->arena;
	machine->window = window_of(times);
	machine->parts = (uint32_t)later(sooner(schedule->config->jobs, schedule->n_active), 1);
	machine->counts = gt_arena_take(&machine->arena, (machine->window + 1) * sizeof *machine->counts);
	machine->asking_counts = gt_arena_take(&machine->arena, (machine->window + 1) * sizeof *machine->asking_counts);
	if (!machine->counts || !machine->asking_counts)
		return gt_fail_memory(error, "the steps of a window");
	if (gt_l2_open(&machine->l2, &machine->arena, times, error) != 0)
		return -1;
	for (size_t i = 0; i < schedule->n_active; i++)
		if (open_sm(schedule, &schedule->sms[schedule->active[i]], error) != 0)
			return -1;
	return 0;
}

/* ---- the end of a window: L2, and rows leave ---- */

#define ASKS_AHEAD 8 /* that are brought into the machine's cache */

/* Says where in the order of steps the accesses of each begin, and those of them that ask L2. */
static int count_steps(struct gt_schedule *schedule, struct gt_error *error)
{
	struct machine *machine = schedule->machine;
	uint32_t *counts = machine->counts, *asking = machine->asking_counts;

	memset(counts, 0, (machine->window + 1) * sizeof *counts);
	memset(asking, 0, (machine->window + 1) * sizeof *asking);
	for (size_t i = 0; i < schedule->n_active; i++) {
		const struct clocked *clocked = schedule->sms[schedule->active[i]].clocked;
		for (size_t k = 0; k < clocked->n_taken; k++) {
			counts[clocked->steps[k] + 1]++;
			asking[clocked->steps[k] + 1] += clocked->taken[k + 1].asks > clocked->taken[k].asks;
		}
	}
	for (uint64_t step = 1; step <= machine->window; step++) {
		counts[step] += counts[step - 1];
		asking[step] += asking[step - 1];
	}
	machine->n_order = counts[machine->window];
	machine->n_asking = asking[machine->window];
	struct issued *order = gt_arena_grown(&machine->arena, machine->order, machine->n_order, &machine->order_capacity, sizeof *order);
	struct asking *who = gt_arena_grown(&machine->arena, machine->asking, machine->n_asking, &machine->asking_capacity, sizeof *who);
	if ((!order && machine->n_order > 0) || (!who && machine->n_asking > 0))
		return gt_fail_memory(error, "the steps of a window");
	machine->order = order;
	machine->asking = who;
	return 0;
}

/* Has the access point to its spans, and those of them that have no numbered shape to what they have. */
static void point_to_spans(struct issued *issued, const struct held *held)
{
	struct kept *span = gt_held_span(held, issued->row.base), *end = gt_held_span(held, issued->row.base + issued->words);

	issued->row.base = (uint64_t)(uintptr_t)span;
	for (; held->n_odd > 0 && span < end; span = gt_span_next(span))
		if (span->shape == SHAPE_NONE)
			span->base = (uint64_t)(uintptr_t)&held->odd[span->base];
}

/* Orders what all SMs have taken by step and SM. */
static int put_in_order(struct gt_schedule *schedule, struct gt_error *error)
{
	struct machine *machine = schedule->machine;

	if (count_steps(schedule, error) != 0)
		return -1;
	for (size_t i = 0; i < schedule->n_active; i++) {
		const uint32_t sm = schedule->active[i];
		const struct clocked *clocked = schedule->sms[sm].clocked;
		const struct taken *taken = clocked->taken;
		for (size_t k = 0; k < clocked->n_taken; k++, taken++) {
			const uint32_t step = clocked->steps[k], asks = taken[1].asks - taken->asks;
			struct issued *issued = &machine->order[machine->counts[step]++];
			*issued = (struct issued){taken->row, taken->words, taken->block, step, (uint16_t)sm};
			if (taken->words > 0)
				point_to_spans(issued, &clocked->held[0]);
			if (asks > 0)
				machine->asking[machine->asking_counts[step]++] = (struct asking){clocked->asks, taken->asks, asks, step, sm};
		}
	}
	return 0;
}

/* Asks L2 for what an access wants that L1 has taken at a step. */
static void ask_l2(const struct shared_l2 *l2, const struct asking *who, uint64_t step)
{
	for (struct ask *of = who->asks + who->first, *end = of + who->n; of < end; of++) {
		if (of->stores) {
			gt_l2_store(l2, who->sm, of->address, of->sectors);
			continue;
		}
		of->there = gt_l2_ask(l2, who->sm, of->address, of->sectors, step + of->delay);
		of->filled = later(of->there, of->before ? who->asks[of->before - 1].filled : of->filled);
	}
}

/* L2 answers what was asked for in the window, in order. */
static void ask_all(const struct machine *machine)
{
	const uint64_t begin = machine->end - machine->window;

	for (size_t i = 0; i < machine->n_asking; i++) {
		const struct asking *who = &machine->asking[i];
		if (i + ASKS_AHEAD < machine->n_asking)
			__builtin_prefetch(&who[ASKS_AHEAD].asks[who[ASKS_AHEAD].first], 1);
		ask_l2(&machine->l2, who, begin + who->step);
	}
}

/* These two do not need each other. */
static int settle(struct gt_schedule *schedule, uint32_t part, struct gt_error *error)
{
	const struct machine *machine = schedule->machine;

	if (part == 0)
		ask_all(machine);
	return part == machine->parts - 1 ? gt_machine_write(schedule, machine->order, machine->n_order, machine->end - machine->window, error) : 0;
}

static int conclude_part(struct gt_schedule *schedule, uint32_t part, struct gt_error *error)
{
	for (size_t i = part; i < schedule->n_active; i += schedule->machine->parts)
		if (gt_sm_conclude(schedule, &schedule->sms[schedule->active[i]], error) != 0)
			return -1;
	return 0;
}

/* Frees blocks that have ended. */
static void bury(struct gt_schedule *schedule)
{
	for (size_t i = 0; i < schedule->n_active; i++) {
		struct clocked *clocked = schedule->sms[schedule->active[i]].clocked;
		for (struct block *block; (block = clocked->dead);) {
			clocked->dead = block->next;
			gt_free_lists_give(clocked->runners, block->runners, block->n_runners * sizeof *block->runners);
			gt_block_free(block, &schedule->keep);
		}
	}
}

static int end_window(struct gt_schedule *schedule, struct gt_error *error)
{
	struct machine *machine = schedule->machine;

	if (put_in_order(schedule, error) != 0)
		return -1;
	machine->accesses += machine->n_order;
	if (machine->n_order > 0)
		gt_machine_issues(schedule, machine->end - machine->window + machine->order[machine->n_order - 1].step);
	if (run_parts(schedule, settle, is_shared(machine), error) != 0 || run_parts(schedule, conclude_part, is_shared(machine), error) != 0)
		return -1;
	bury(schedule);
	machine->end = 0;
	return 0;
}

/* ---- windows ---- */

static int run_part(struct gt_schedule *schedule, uint32_t part, struct gt_error *error)
{
	const uint64_t end = schedule->machine->end;

	for (size_t i = part; i < schedule->n_active; i += schedule->machine->parts) {
		struct sm *sm = &schedule->sms[schedule->active[i]];
		if (sm->clocked->wake < end && gt_sm_run(schedule, sm, end, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether many SMs have something to do, as at the beginning of a window; when one of them has taken a block it mostly runs alone. */
static bool many_run(const struct gt_schedule *schedule)
{
	size_t n = 0;

	for (size_t i = 0; i < schedule->n_active; i++)
		n += gt_sm_can_run(schedule, &schedule->sms[schedule->active[i]], schedule->machine->end);
	return n >= 2 * schedule->machine->parts;
}

/* Whether one SM takes blocks before another, which has room too. */
static bool fills_before(const struct gt_schedule *schedule, const struct sm *a, const struct sm *b)
{
	uint64_t step = a->clocked->room, of_a, of_b;

	if (step != b->clocked->room)
		return step < b->clocked->room;
	if (schedule->config->dispatch->shuffles && (of_a = gt_machine_room(schedule, a, step)) != (of_b = gt_machine_room(schedule, b, step)))
		return of_a > of_b;
	return gt_machine_turn(schedule, a->number, step) < gt_machine_turn(schedule, b->number, step);
}

/* Runs all SMs to the end of the window. Returns FILL_DONE, FILL_WAIT if rows that they need have not arrived yet, or FILL_FAILED. */
static enum filled run_window(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct machine *machine = schedule->machine;

	for (uint64_t end = machine->end;;) {
		struct sm *first = NULL;
		if (run_parts(schedule, run_part, is_shared(machine) && many_run(schedule), error) != 0)
			return FILL_FAILED;
		for (size_t i = 0; i < schedule->n_active; i++) {
			struct sm *sm = &schedule->sms[schedule->active[i]];
			if (sm->clocked->room < end && gt_sm_blocks_left(schedule, sm) && (!first || fills_before(schedule, sm, first)))
				first = sm;
		}
		if (!first)
			return FILL_DONE;
		schedule->step = first->clocked->room;
		enum filled filled = schedule->config->dispatch->fill(schedule, first, error);
		if (filled == FILL_WAIT || filled == FILL_FAILED)
			return filled;
		gt_sm_look_for_room(schedule, first, schedule->step);
	}
}

/* The step of what happens next; GT_NEVER: nothing is left. */
static uint64_t next_step(const struct gt_schedule *schedule)
{
	uint64_t next = GT_NEVER;

	for (size_t i = 0; i < schedule->n_active; i++) {
		const struct sm *sm = &schedule->sms[schedule->active[i]];
		next = sooner(next, sm->clocked->wake);
		if (gt_sm_blocks_left(schedule, sm))
			next = sooner(next, sm->clocked->room);
	}
	return next;
}

static int run(struct gt_schedule *schedule, struct gt_error *error)
{
	if (!schedule->machine && open_machine(schedule, error) != 0)
		return -1;
	struct machine *machine = schedule->machine;
	for (;;) {
		uint64_t next = machine->end == 0 ? next_step(schedule) : 0;
		if (next == GT_NEVER)
			return 0;
		if (machine->end == 0)
			machine->end = next + machine->window;
		enum filled filled = run_window(schedule, error);
		if (filled != FILL_DONE)
			return filled == FILL_WAIT ? 0 : -1;
		if (end_window(schedule, error) != 0)
			return -1;
	}
}

const struct gt_issue gt_issue_latency = {"latency", FOLDED, gt_sm_admit, NULL, run, close_machine, NULL};
