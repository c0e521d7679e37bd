/* SPDX-License-Identifier: MIT */
/* The schedule of a kernel: when an SM takes its next block, and the steps in which SMs issue. Rows come in by block or in any order,
 * and go out in the order in which a GPU would issue them, each with its SM and its step. Which SM a block is mapped to is in mapping.c,
 * which warps of an SM issue next in issue.c and latency.c. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/scan.h"
#include "counter/tables.h"
#include "gpu/parameter.h"
#include "schedule/machine.h"
#include "stream/counted.h"
#include "stream/program.h"

/* ---- which SMs and blocks are modelled ---- */

/* The largest number of blocks of an SM that are modelled; then of all SMs together. */
static uint64_t modelled_of_sm(const struct gt_schedule *schedule)
{
	uint64_t capacity = gt_machine_capacity(schedule), waves = schedule->config->waves;

	return waves == 0 || capacity > UINT64_MAX / waves ? UINT64_MAX : waves * capacity;
}

static uint64_t modelled_of_all(const struct gt_schedule *schedule)
{
	uint64_t most = modelled_of_sm(schedule);

	return most > UINT64_MAX / schedule->config->sms ? UINT64_MAX : most * schedule->config->sms;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The blocks of the modelled SM that has the most, in modelled waves or not; and the modelled blocks of all SMs. If floating, blocks count as those of the SM that rr gives them to. */
static void modelled_count(struct gt_schedule *schedule, uint64_t *most, uint64_t *all)
{
	*most = *all = 0;
	for (uint32_t sm = 0; sm < schedule->config->sms; sm++) {
		if (!gt_is_modelled(schedule, sm))
			continue;
		uint64_t blocks = gt_mapping_count(&schedule->mapping, sm, schedule->blocks);
		*most = blocks > *most ? blocks : *most;
		*all += least(blocks, modelled_of_sm(schedule));
	}
	if (schedule->floating)
		*all = schedule->config->only_sms ? schedule->admitted : least(schedule->blocks, modelled_of_all(schedule));
}

/* ---- when an SM takes its next blocks ---- */

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

/* How long a block without accesses holds its place: in cycles, its warps issue their instructions side by side; else a step. */
static uint64_t idle_steps(const struct gt_schedule *schedule, const struct block *block)
{
	uint64_t warps = gt_kernel_warps(schedule->kernel), schedulers = schedule->config->schedulers;
	uint64_t beside = warps > 0 && warps < schedulers ? warps : schedulers;
	uint64_t steps = gt_durations_of(&schedule->config->durations, schedule->kernel->id, block->number);

	if (schedule->config->issue->run && steps == 0)
		steps = block->instructions / beside + (block->instructions % beside > 0);
	return steps > 0 ? steps : 1;
}

/* The first of the blocks without accesses takes a place, which is free again by itself. */
static void admit_idle(struct gt_schedule *schedule, struct sm *sm, struct block_queue *queue, size_t position)
{
	struct block *block = queue->first;

	sm->resident[position] = NULL;
	sm->due[position] = UINT64_MAX;
	sm->free_at[position] = schedule->step + idle_steps(schedule, block);
	block->number++;
	if (--block->idle > 0)
		return;
	queue->first = block->next;
	if (!queue->first)
		queue->last = NULL;
	gt_block_free(block, &schedule->keep);
}

/* Moves the first block of a queue to `resident`, at a free position or after the last. */
static int machine_admit(struct gt_schedule *schedule, struct sm *sm, struct block_queue *queue, size_t position,
		  uint64_t slot, struct gt_error *error)
{
	struct block *block = queue->first;

	if (position == sm->resident_capacity && grow_resident(sm, error) != 0)
		return -1;
	if (position == sm->n_resident)
		sm->n_resident++;
	if (block->idle > 0) {
		admit_idle(schedule, sm, queue, position);
		return 0;
	}
	if (gt_block_arrange(block, &schedule->keep, schedule->config->issue->arrangement, error) != 0)
		return -1;
	queue->first = block->next;
	if (!queue->first)
		queue->last = NULL;
	block->position = position;
	block->slot = slot;
	block->begun = false;
	sm->resident[position] = block;
	sm->live++;
	if (schedule->floating && gt_is_modelled(schedule, sm->number))
		schedule->admitted++;
	return schedule->config->issue->admit(schedule, sm, block, error);
}

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

/* Deals blocks to the SMs of one part after another until `all` have been dealt: one to each SM that has room. The first part comes
 * again before its turn. */
static int deal_by_gpc(struct gt_schedule *schedule, uint64_t all, struct gt_error *error)
{
	const struct gt_gpcs *gpcs = &schedule->config->gpcs;
	uint32_t part = 0, other = 0, left = gpcs->again; /* turns of the others until the first part's */

	while (all > 0 && is_ready(&schedule->floaters)) {
		for (uint32_t i = part > 0 ? gpcs->end[part - 1] : 0; i < gpcs->end[part] && is_ready(&schedule->floaters); i++) {
			struct sm *sm = &schedule->sms[i];
			if (sm->n_resident == gt_machine_capacity(schedule))
				continue;
			if (machine_admit(schedule, sm, &schedule->floaters, sm->n_resident, sm->n_resident, error) != 0)
				return -1;
			all--;
		}
		if (left == 0) {
			part = 0;
			left = gpcs->then_again;
			continue;
		}
		other = other % (gpcs->n - 1) + 1;
		part = other;
		left--;
	}
	return 0;
}

/* [002] 4.1: the first blocks are assigned to the SMs round-robin until all are full. */
static enum filled deal(struct gt_schedule *schedule, struct gt_error *error)
{
	uint64_t all = times(schedule->config->sms, gt_machine_capacity(schedule));
	uint64_t closed = schedule->n_floaters - (schedule->open && !schedule->open->skipped);

	if (closed < all && !schedule->finished)
		return FILL_WAIT;
	schedule->first_assigned = true;
	if (schedule->config->gpcs.again > 0 && schedule->blocks > all)
		return deal_by_gpc(schedule, all, error) == 0 ? FILL_DONE : FILL_FAILED;
	for (uint64_t i = 0; i < all && is_ready(&schedule->floaters); i++) {
		struct sm *sm = &schedule->sms[i % schedule->config->sms];
		if (machine_admit(schedule, sm, &schedule->floaters, sm->n_resident, sm->n_resident, error) != 0)
			return FILL_FAILED;
	}
	return FILL_DONE;
}

/* [002] 4.1: when a block finishes, the next one takes its place at once; `most` blocks do now. */
static enum filled fill_places(struct gt_schedule *schedule, struct sm *sm, uint64_t most, struct gt_error *error)
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
		while (!gt_machine_is_free(sm, slot, schedule->step))
			slot++;
		if (slot >= gt_machine_capacity(schedule) || most-- == 0)
			return sm->live == 0 && (queue->first || !schedule->finished) ? FILL_IDLE : FILL_DONE;
		if (!is_ready(queue))
			return schedule->finished ? FILL_DONE : FILL_WAIT;
		if (machine_admit(schedule, sm, queue, slot, slot, error) != 0)
			return FILL_FAILED;
	}
	return FILL_DONE;
}

static enum filled fill_first_done(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	return fill_places(schedule, sm, UINT64_MAX, error);
}

static enum filled fill_any_done(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	return fill_places(schedule, sm, 1, error);
}

/* The SM with most room; of several the first in turn. NULL: none has any. */
static struct turn *most_room(struct turn *turns, size_t n)
{
	struct turn *most = NULL;

	for (size_t i = 0; i < n; i++)
		if (turns[i].room > (most ? most->room : 0) || (most && turns[i].room == most->room && turns[i].key < most->key))
			most = &turns[i];
	return most;
}

/* Whether no SM will take a block any more. */
static bool is_dealt_out(const struct gt_schedule *schedule)
{
	return schedule->floating && schedule->first_assigned && schedule->finished && !schedule->floaters.first;
}

/* SMs that have room at a step take blocks one by one. */
static enum filled dispatch_shuffled(struct gt_schedule *schedule, struct gt_error *error)
{
	enum filled dealt = schedule->floating && !schedule->first_assigned ? deal(schedule, error) : FILL_DONE;
	size_t n = 0;

	if (dealt != FILL_DONE)
		return dealt;
	for (size_t i = 0; i < schedule->n_active && !is_dealt_out(schedule); i++) {
		const struct sm *sm = &schedule->sms[schedule->active[i]];
		if (sm->live == gt_machine_capacity(schedule) || (!schedule->floating && schedule->finished && !sm->waiting.first))
			continue; /* it has no room, or no block is left for it */
		uint64_t room = gt_machine_room(schedule, sm, schedule->step);
		if (room > 0)
			schedule->turns[n++] = (struct turn){room, gt_machine_turn(schedule, sm->number, schedule->step), sm->number};
	}
	for (struct turn *turn; !is_dealt_out(schedule) && (turn = most_room(schedule->turns, n));) {
		struct sm *sm = &schedule->sms[turn->sm];
		enum filled filled = schedule->config->dispatch->fill(schedule, sm, error);
		uint64_t room = gt_machine_room(schedule, sm, schedule->step);
		if (filled == FILL_WAIT || filled == FILL_FAILED)
			return filled;
		turn->room = room < turn->room ? room : 0; /* none is left for it */
	}
	return FILL_DONE;
}

static const struct gt_dispatch dispatches[] = {
	{"wave", false, false, fill_wave},
	{"first-done", true, false, fill_first_done},
	{"any-done", true, true, fill_any_done},
};

bool gt_dispatch_refills(const struct gt_dispatch *dispatch)
{
	return dispatch->refills;
}

const struct gt_dispatch *gt_dispatch_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < sizeof dispatches / sizeof dispatches[0]; i++)
		if (strcmp(dispatches[i].name, name) == 0)
			return &dispatches[i];
	gt_fail(error, "'%.100s': expected wave, first-done or any-done", name);
	return NULL;
}

/* ---- the orders of issue ---- */

static const struct gt_issue *const issues[] = {&gt_issue_round_robin, &gt_issue_greedy, &gt_issue_latency};

bool gt_issue_is_timed(const struct gt_issue *issue)
{
	return issue->run;
}

const struct gt_issue *gt_issue_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < sizeof issues / sizeof *issues; i++)
		if (strcmp(issues[i]->name, name) == 0)
			return issues[i];
	gt_fail(error, "'%.100s': expected rr, gto or latency", name);
	return NULL;
}

/* ---- the steps of the schedule, and what happens in each ---- */

/* The first step at which an active SM can take a block, when none has one. */
static uint64_t next_free(const struct gt_schedule *schedule)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < schedule->n_next; i++) {
		const struct sm *sm = &schedule->sms[schedule->active[i]];
		for (size_t slot = 0; slot < sm->n_resident; slot++)
			if (!sm->resident[slot] && sm->free_at[slot] > schedule->step && sm->free_at[slot] < next)
				next = sm->free_at[slot];
	}
	return next;
}

/* Brings what the schedulers of an SM will issue into the machine's cache: `depth` turns before its own, what it can be found by. */
static inline void prefetch_warps(const struct gt_schedule *schedule, const struct sm *sm, unsigned depth)
{
	for (uint32_t s = 0; sm->warps && s < schedule->config->schedulers; s++) {
		const struct warps *warps = &sm->warps[s];
		if (warps->n == 0)
			continue;
		const struct run *run = &warps->runs[warps->first & (warps->capacity - 1)];
		if (depth == 3)
			__builtin_prefetch(run);
		else if (depth == 2)
			__builtin_prefetch(&run->source->row, 1);
		else if (run->source->row < run->source->end)
			(void)*(const volatile uint32_t *)&run->source->row->an; /* loaded as below */
	}
}

/* gto: brings what the SMs that issue soon will issue into the machine's cache: first the warp, then its rows. These are loaded, since
 * a prefetch of them was measured to have no effect. */
static inline void prefetch_soon(const struct gt_schedule *schedule)
{
	const uint32_t *soon = schedule->active + schedule->cursor;

	if (schedule->n_active - schedule->cursor <= 6)
		return;
	prefetch_warps(schedule, &schedule->sms[soon[6]], 3);
	prefetch_warps(schedule, &schedule->sms[soon[4]], 2);
	prefetch_warps(schedule, &schedule->sms[soon[2]], 1);
}

/* Runs step by step, in each step the SMs in order, as far as the rows that have arrived allow. */
static int schedule_run(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_schedule_config *config = schedule->config;
	const uint64_t capacity = gt_machine_capacity(schedule);

	if (config->issue->run)
		return config->issue->run(schedule, error);
	while (schedule->n_active > 0) {
		enum filled first = config->dispatch->shuffles && schedule->cursor == 0 ? dispatch_shuffled(schedule, error) : FILL_DONE;
		if (first == FILL_WAIT || first == FILL_FAILED)
			return first == FILL_WAIT ? 0 : -1;
		for (; schedule->cursor < schedule->n_active; schedule->cursor++) {
			if (config->issue->issue_found)
				config->issue->issue_found(schedule);
			else
				prefetch_soon(schedule);
			if (schedule->cursor == schedule->n_active)
				break;
			uint32_t number = schedule->active[schedule->cursor];
			struct sm *sm = &schedule->sms[number];
			enum filled filled = sm->live < capacity ? config->dispatch->fill(schedule, sm, error) : FILL_DONE;
			if (filled == FILL_WAIT || filled == FILL_FAILED)
				return filled == FILL_WAIT ? 0 : -1;
			if (sm->live == 0 && filled == FILL_DONE)
				continue; /* finished */
			if (sm->live > 0 && config->issue->issue(schedule, sm, error) != 0)
				return -1;
			schedule->active[schedule->n_next++] = number;
		}
		if (schedule->n_next > 0)
			schedule->step = schedule->issued ? schedule->step + 1 : next_free(schedule);
		schedule->issued = false;
		schedule->n_active = schedule->n_next;
		schedule->n_next = schedule->cursor = 0;
	}
	return 0;
}

/* ---- rows arrive, by block or in any order, and blocks are placed on SMs ---- */

static void join(struct block_queue *queue, struct block *block)
{
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
}

/* Finds the block's SM and puts it into that SM's queue. Blocks are placed in rising order. */
static void place(struct gt_schedule *schedule, struct block *block)
{
	schedule->known = (uint64_t)block->number + 1;
	if (schedule->floating) {
		block->skipped = block->number >= modelled_of_all(schedule);
		if (!block->skipped)
			join(&schedule->floaters, block);
		schedule->n_floaters += block->skipped ? 0 : (block->idle > 0 ? block->idle : 1);
		return;
	}
	if (schedule->mapping.kind->traced) {
		block->index = schedule->mapping.counts[block->sm]++;
	} else {
		block->sm = gt_mapping_sm(&schedule->mapping, block->number);
		block->index = gt_mapping_count(&schedule->mapping, block->sm, block->number);
	}
	block->skipped = !gt_is_modelled(schedule, block->sm) || block->index >= modelled_of_sm(schedule);
	if (!block->skipped)
		join(&schedule->sms[block->sm].waiting, block);
}

/* Blocks [first, end), which have no rows and the same number of instructions. */
static int place_idle(struct gt_schedule *schedule, uint64_t first, uint64_t end, uint64_t instructions, struct gt_error *error)
{
	for (uint64_t n; first < end; first += n) {
		struct block *block = gt_block_new((uint32_t)first, &schedule->keep, error);
		if (!block)
			return -1;
		n = schedule->floating ? end - first : 1; /* one after the other, or each on its own SM */
		block->open = false;
		block->idle = n;
		block->instructions = instructions;
		place(schedule, block);
		if (block->skipped)
			gt_block_free(block, &schedule->keep);
	}
	schedule->known = end;
	return 0;
}

/* Places the blocks before this one that have no rows. They take places, as on hardware. By wave these follow from the numbers of
 * the other blocks; and where rows say which SM a block ran on nothing is known of them. */
static int place_gap(struct gt_schedule *schedule, uint64_t end, struct gt_error *error)
{
	if (!schedule->config->dispatch->refills || schedule->mapping.kind->traced)
		return 0;
	if (schedule->floating)
		end = least(end, modelled_of_all(schedule));
	for (uint64_t first = schedule->known; first < end;) {
		const uint64_t *of = gt_map_get(&schedule->idle, first), *next = of;
		uint64_t instructions = of ? *of : 0, last = schedule->idle.used > 0 ? first + 1 : end;
		for (; last < end && (next ? *next : 0) == instructions; last++)
			if (((next = gt_map_get(&schedule->idle, last)) ? *next : 0) != instructions)
				break;
		if (place_idle(schedule, first, last, instructions, error) != 0)
			return -1;
		first = last;
	}
	return 0;
}

int gt_schedule_take(struct gt_schedule *schedule, const struct gt_count *count, struct gt_error *error)
{
	if (strcmp(count->stage, GT_IDLE_STAGE) != 0)
		return 0;
	const struct gt_count_entry *blocks = gt_count_find(count, "blocks"), *instructions = gt_count_find(count, "instructions");
	if (!blocks || !instructions || blocks->kind != GT_COUNT_ARRAY || instructions->kind != GT_COUNT_ARRAY || blocks->n != instructions->n)
		return gt_fail(error, GT_IDLE_STAGE ": expected the arrays blocks and instructions, with one element a block");
	for (size_t i = 0; i < blocks->n; i++) {
		int fresh;
		if (!gt_map_put(&schedule->idle, blocks->array[i], instructions->array[i], &fresh))
			return gt_fail_memory(error, "blocks without accesses");
	}
	return 0;
}

/* ---- rows that arrive by block ---- */

static int close_block(struct gt_schedule *schedule, struct gt_error *error)
{
	struct block *block = schedule->open;

	if (!block)
		return 0;
	schedule->open = NULL;
	if (!block->skipped)
		return gt_block_close(block, &schedule->keep, error);
	gt_block_free(block, &schedule->keep);
	return 0;
}

static int next_block(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	if (schedule->open && number < schedule->open->number)
		return gt_fail(error, "kernel %" PRIu64 ": a row of block %" PRIu32 " after block %" PRIu32
				      ": expected rows ordered by block: run gtrace-order first",
			       schedule->kernel->id, number, schedule->open->number);
	if (close_block(schedule, error) != 0 || place_gap(schedule, number, error) != 0)
		return -1;
	schedule->open = gt_block_new(number, &schedule->keep, error);
	if (!schedule->open)
		return -1;
	place(schedule, schedule->open);
	return schedule_run(schedule, error);
}

static int put_by_block(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
			struct gt_error *error)
{
	if ((!schedule->open || schedule->open->number != rows->block[first]) &&
	    next_block(schedule, rows->block[first], error) != 0)
		return -1;
	if (schedule->open->skipped)
		return 0;
	return gt_block_add(schedule->open, &schedule->keep, rows, first, last, error);
}

/* ---- rows that arrive in any order ---- */

static int new_kept(struct gt_schedule *schedule, uint32_t number, struct gt_error *error)
{
	struct block **kept = gt_grown(schedule->kept, schedule->n_kept, &schedule->kept_capacity, sizeof *kept);

	if (!kept)
		return gt_fail_memory(error, "blocks");
	schedule->kept = kept;
	struct block *block = gt_block_new(number, &schedule->keep, error);
	if (!block)
		return -1;
	schedule->kept[schedule->n_kept++] = block;
	return 0;
}

static int check_traced(const struct gt_schedule *schedule, const struct block *block,
			const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	uint64_t id = schedule->kernel->id;

	if (!rows->scheduled)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: expected rows with an SM", id);
	if (rows->sm[i] >= schedule->config->sms)
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: SM %u: expected SMs below %" PRIu32, id,
			       (unsigned)rows->sm[i], schedule->config->sms);
	if (block->sm != rows->sm[i])
		return gt_fail(error, "kernel %" PRIu64 ": --map trace: block %" PRIu32 " is on SM %" PRIu32
				      " and on SM %u: expected one SM a block",
			       id, block->number, block->sm, (unsigned)rows->sm[i]);
	return 0;
}

static int put_kept(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last,
		    struct gt_error *error)
{
	int fresh;
	uint64_t *at = gt_map_put(&schedule->places, rows->block[first], schedule->n_kept, &fresh);

	if (!at)
		return gt_fail_memory(error, "blocks");
	if (fresh && new_kept(schedule, rows->block[first], error) != 0)
		return -1;
	struct block *block = schedule->kept[*at];
	if (fresh && rows->scheduled)
		block->sm = rows->sm[first];
	for (size_t i = first; schedule->mapping.kind->traced && i < last; i++)
		if (check_traced(schedule, block, rows, i, error) != 0)
			return -1;
	return gt_block_add(block, &schedule->keep, rows, first, last, error);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *left = *(struct block *const *)a, *right = *(struct block *const *)b;

	return (left->number > right->number) - (left->number < right->number);
}

/* After the last row: places the blocks as if they had arrived in order. */
static int place_kept(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->n_kept > 0)
		qsort(schedule->kept, schedule->n_kept, sizeof(*schedule->kept), compare_blocks);
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		if (gt_block_close(block, &schedule->keep, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < schedule->n_kept; i++) {
		struct block *block = schedule->kept[i];
		if (place_gap(schedule, block->number, error) != 0)
			return -1;
		place(schedule, block);
		schedule->kept[i] = NULL; /* a queue has it */
		if (block->skipped)
			gt_block_free(block, &schedule->keep);
	}
	schedule->n_kept = 0;
	return 0;
}

/* Rows [first, last) of a batch, all of one block. Returns 0, or -1: a row out of order, on the wrong SM, or memory is short. */
static int arrive(struct gt_schedule *schedule, const struct gt_rows *rows, size_t first, size_t last, struct gt_error *error)
{
	if (schedule->by_block)
		return put_by_block(schedule, rows, first, last, error);
	return put_kept(schedule, rows, first, last, error);
}

/* After the last row: no block is open, and every block is placed. */
static int arrive_end(struct gt_schedule *schedule, struct gt_error *error)
{
	if (schedule->by_block)
		return close_block(schedule, error);
	return place_kept(schedule, error);
}

/* ---- the configuration ---- */

/* A number, or the first one of a list of cycles; 0 if there is none. */
static uint64_t cycles_of(const struct gt_gpu *gpu, const char *key)
{
	const char *text = gt_gpu_get(gpu, key);
	uint64_t cycles;

	return text && gt_scan_upto(&text, UINT32_MAX, &cycles) ? cycles : 0;
}

/* A size, of which a word such as none, line or sector is not one. */
static uint64_t size_of(const struct gt_gpu *gpu, const char *key, uint64_t otherwise)
{
	struct gt_error ignored;
	uint64_t bytes;

	return gt_gpu_size(gpu, key, otherwise, &bytes, &ignored) == 0 ? bytes : otherwise;
}

static bool says(const struct gt_gpu *gpu, const char *key, const char *value)
{
	const char *text = gt_gpu_get(gpu, key);

	return text && strcmp(text, value) == 0;
}

static int find_warp_order(const struct gt_gpu *gpu, bool *by_wait, struct gt_error *error)
{
	*by_wait = says(gpu, "warp_order", "ready");
	if (!*by_wait && gt_gpu_get(gpu, "warp_order") && !says(gpu, "warp_order", "greedy"))
		return gt_fail(error, "warp_order in the GPU description: '%s': expected greedy or ready", gt_gpu_get(gpu, "warp_order"));
	return 0;
}

static int find_times(struct gt_issue_times *times, const struct gt_gpu *gpu, struct gt_error *error)
{
	bool bypassed = says(gpu, "l1.bypass", "reads") || says(gpu, "l1.bypass", "all");
	struct gt_spread spread = {.slices = cycles_of(gpu, "dram.channels"), .sms = cycles_of(gpu, "sms")};
	const char *said = gt_gpu_get(gpu, "l2.spread");

	if (said && gt_spread_parse(&spread, said, error) != 0) {
		struct gt_error why = *error;
		return gt_fail(error, "l2.spread in the GPU description: %s", why.text);
	}
	*times = (struct gt_issue_times){
		.l1 = cycles_of(gpu, "l1.hit_cycles"), .l2 = cycles_of(gpu, "l2.hit_cycles"),
		.dram = cycles_of(gpu, "l2.miss_cycles"), .l1_bytes = bypassed ? 0 : size_of(gpu, "l1.size", 0),
		.l1_sector = says(gpu, "l1.sector", "line") ? size_of(gpu, "l1.line", GT_LINE) : size_of(gpu, "l1.sector", GT_SECTOR),
		.l2_bytes = size_of(gpu, "l2.size", 0), .l2_fetch = size_of(gpu, "l2.fetch", GT_SECTOR),
		.l1_stores = !says(gpu, "l1.allocate", "no"), .access = cycles_of(gpu, "access_cycles"),
		.scheduler_access = cycles_of(gpu, "scheduler_access_cycles"),
		.spread = spread};
	return find_warp_order(gpu, &times->by_wait, error);
}

int gt_schedule_configure(struct gt_schedule_config *config, const struct gt_gpu *gpu, struct gt_error *error)
{
	bool all = config->limits.all;
	uint64_t sms, schedulers;

	if (gt_limits_load(&config->limits, gpu, error) != 0 || gt_gpu_count(gpu, "sms", 0, &sms, error) != 0 ||
	    gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	config->limits.all = all;
	if (sms > GT_SMS_MAX || schedulers > GT_SCHEDULERS_MAX)
		return gt_fail(error, "expected at most %d SMs and %d schedulers", GT_SMS_MAX, GT_SCHEDULERS_MAX);
	if (find_times(&config->times, gpu, error) != 0)
		return -1;
	config->sms = (uint32_t)sms;
	config->schedulers = (uint32_t)schedulers;
	if (gt_gpu_gpcs(gpu, sms, &config->gpcs, error) != 0)
		return -1;
	if (config->dispatch)
		return 0;
	const char *dispatch = gt_gpu_get(gpu, "dispatch");
	config->dispatch = gt_dispatch_find(dispatch ? dispatch : "wave", error);
	if (!config->dispatch) {
		struct gt_error why = *error;
		return gt_fail(error, "dispatch in the GPU description: %s", why.text);
	}
	return 0;
}

/* What an order of issue by time needs. */
static int check_times(const struct gt_schedule_config *config, struct gt_error *error)
{
	const struct gt_issue_times *times = &config->times;
	const char *missing = times->l2_bytes == 0		      ? "l2.size"
			      : times->l2 == 0			      ? "l2.hit_cycles"
			      : times->dram == 0		      ? "l2.miss_cycles"
			      : times->l1_bytes > 0 && times->l1 == 0 ? "l1.hit_cycles"
								      : NULL;

	if (!config->issue->run || !missing)
		return 0;
	return gt_fail(error, "--issue %s: expected %s in the GPU description", config->issue->name, missing);
}

/* ---- a kernel ---- */

int gt_schedule_put(struct gt_schedule *schedule, const struct gt_rows *rows, struct gt_error *error)
{
	if (schedule->config->issue->run && (rows->kind != GT_REQUESTS || !rows->has_work))
		return gt_fail(error, "kernel %" PRIu64 ": --issue %s: expected requests with the column work: run gcoalesce first, on a "
				      "trace of gtrace-record --work or gtrace-order --work", schedule->kernel->id, schedule->config->issue->name);
	for (size_t first = 0, last; first < rows->n; first = last) {
		uint32_t block = rows->block[first];
		for (last = first + 1; last < rows->n && rows->block[last] == block;)
			last++;
		if (block >= schedule->blocks)
			schedule->blocks = (uint64_t)block + 1;
		if (arrive(schedule, rows, first, last, error) != 0)
			return -1;
	}
	return 0;
}

struct numbers {
	GT_SCHEDULE_COUNTERS(GT_COUNTER_FIELD)
};

static int add_counts(struct gt_schedule *schedule, struct gt_count *count, struct gt_error *error)
{
	const struct gt_occupancy *occupancy = &schedule->occupancy;
	uint64_t most, all, capacity = occupancy->blocks;

	modelled_count(schedule, &most, &all);
	const char *limited_by = most <= capacity ? "grid" : occupancy->limited_by;
	const struct numbers numbers = {
		.resident_blocks = most < capacity ? most : capacity,
		.waves = most / capacity + (most % capacity > 0),
		.steps = schedule->steps,
		.sms = schedule->config->sms,
		.blocks = schedule->blocks,
		.modelled_blocks = all,
		.rows = schedule->rows,
		.shared_carveout = occupancy->carveout,
		.l1_bytes = occupancy->l1_bytes,
	};
	/* The last two are only for GPUs with an adaptive L1. */
	size_t bytes = occupancy->l1_bytes ? sizeof numbers : offsetof(struct numbers, shared_carveout);

	if (gt_count_numbers(count, &gt_counters_schedule, &numbers, bytes, error) != 0)
		return -1;
	return gt_count_text(count, "limited_by", limited_by, error);
}

int gt_schedule_finish(struct gt_schedule *schedule, struct gt_count *count, struct gt_error *error)
{
	if (arrive_end(schedule, error) != 0)
		return -1;
	schedule->finished = true;
	if (schedule_run(schedule, error) != 0)
		return -1;
	return add_counts(schedule, count, error);
}

/* ---- beginning and end ---- */

static int open_sms(struct gt_schedule *schedule, struct gt_error *error)
{
	uint32_t sms = schedule->config->sms;

	schedule->sms = calloc(sms, sizeof *schedule->sms);
	schedule->active = calloc(sms, sizeof *schedule->active);
	schedule->turns = calloc(sms, sizeof *schedule->turns);
	if (!schedule->sms || !schedule->active || !schedule->turns)
		return gt_fail_memory(error, "SMs");
	for (uint32_t sm = 0; sm < sms; sm++) {
		schedule->sms[sm].number = sm;
		if (schedule->floating || gt_is_modelled(schedule, sm))
			schedule->active[schedule->n_active++] = sm;
	}
	return 0;
}

static int occupy(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_kernel *kernel = schedule->kernel;
	struct gt_block_needs needs = {gt_kernel_warps(kernel), kernel->registers, kernel->shared_bytes,
					kernel->prefers.carveout};
	struct gt_error reason;

	if (gt_occupancy_find(&schedule->occupancy, &schedule->config->limits, &needs, &reason) != 0)
		return gt_fail(error, "kernel %" PRIu64 ": %s", kernel->id, reason.text);
	return 0;
}

struct gt_schedule *gt_schedule_open(const struct gt_schedule_config *config,
				     const struct gt_kernel *kernel, struct gt_sink *sink,
				     struct gt_error *error)
{
	struct gt_schedule *schedule = calloc(1, sizeof *schedule);

	if (!schedule) {
		gt_fail_memory(error, "a schedule");
		return NULL;
	}
	schedule->config = config;
	schedule->kernel = kernel;
	schedule->sink = sink;
	schedule->mapping = config->mapping;
	schedule->blocks = gt_kernel_blocks(kernel);
	schedule->by_block = kernel->order == GT_ORDER_BLOCK && !config->mapping.kind->traced;
	schedule->floating = config->dispatch->refills && config->mapping.kind->dealt;
	if (gt_keep_open(&schedule->keep, config->memory, config->directory, config->issue->arrangement, error) != 0 || check_times(config, error) != 0 ||
	    occupy(schedule, error) != 0 ||
	    gt_mapping_open(&schedule->mapping, config->sms, error) != 0 || open_sms(schedule, error) != 0 ||
	    gt_map_open(&schedule->places, 0, error) != 0 || gt_map_open(&schedule->idle, 0, error) != 0) {
		gt_schedule_close(schedule);
		return NULL;
	}
	return schedule;
}

static void free_queue(struct gt_schedule *schedule, struct block_queue *queue)
{
	while (queue->first) {
		struct block *block = queue->first;
		queue->first = block->next;
		if (block != schedule->open)
			gt_block_free(block, &schedule->keep);
	}
}

static void free_sm(struct gt_schedule *schedule, struct sm *sm)
{
	if (!sm->waiting.first && !sm->resident && !sm->warps)
		return; /* most SMs of a small launch took no block */
	free_queue(schedule, &sm->waiting);
	for (size_t i = 0; i < sm->n_resident; i++)
		if (sm->resident[i])
			gt_block_free(sm->resident[i], &schedule->keep);
	free(sm->resident);
	free(sm->free_at);
	free(sm->due);
	for (uint32_t s = 0; sm->warps && s < schedule->config->schedulers; s++)
		free(sm->warps[s].runs);
	free(sm->warps);
}

void gt_schedule_close(struct gt_schedule *schedule)
{
	if (!schedule)
		return;
	free_queue(schedule, &schedule->floaters);
	for (uint32_t sm = 0; schedule->sms && sm < schedule->config->sms; sm++)
		free_sm(schedule, &schedule->sms[sm]);
	for (size_t i = 0; i < schedule->n_kept; i++)
		if (schedule->kept[i])
			gt_block_free(schedule->kept[i], &schedule->keep);
	if (schedule->open)
		gt_block_free(schedule->open, &schedule->keep);
	if (schedule->sms && schedule->config->issue->close)
		schedule->config->issue->close(schedule);
	free(schedule->kept);
	free(schedule->sms);
	free(schedule->ahead);
	free(schedule->active);
	free(schedule->turns);
	gt_map_close(&schedule->places);
	gt_map_close(&schedule->idle);
	gt_mapping_close(&schedule->mapping);
	gt_keep_close(&schedule->keep);
	free(schedule);
}

const struct gt_occupancy *gt_schedule_occupancy(const struct gt_schedule *schedule)
{
	return &schedule->occupancy;
}
