/* SPDX-License-Identifier: MIT */
/* The order of issue that follows from time: a step is a cycle, and a warp issues when what it waits for is there. Schedulers
 * are greedy, then prefer the youngest warp, and L1 takes their accesses in turn: what R. Huerta et al. (Analyzing Modern NVIDIA
 * GPU Cores, 2025) found. Which requests hit is what the first part takes the caches for. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "base/random.h"
#include "schedule/machine.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- how long requests take: an L1 of each SM and the L2 of all, as the lines and sectors that were used last. What a cache really
 * holds is decided by gcache, which serves the requests in the order that comes of this ---- */

/* The lines that were used last, as many as a cache holds. */
struct recent_line {
	uint64_t address;
	uint64_t filled; /* when the last sector that was fetched is there */
	uint32_t newer, older, next; /* in the order of use; in its slot's list */
	uint8_t valid;	 /* sectors, those under way too */
};

struct recent {
	struct recent_line *lines; /* [0]: ends of the order of use */
	uint32_t *slots, mask;
	uint32_t n, capacity;
};

static void recent_close(struct recent *recent)
{
	if (!recent)
		return;
	free(recent->lines);
	free(recent->slots);
	free(recent);
}

/* Room for `capacity` lines. NULL when memory is short. */
static struct recent *recent_open(uint32_t capacity, struct gt_error *error)
{
	struct recent *recent = calloc(1, sizeof *recent);
	uint32_t slots = 1;

	while (slots < 2 * (uint64_t)capacity && slots < UINT32_C(1) << 31)
		slots *= 2;
	if (recent) {
		recent->lines = calloc((size_t)capacity + 1, sizeof *recent->lines);
		recent->slots = calloc(slots, sizeof *recent->slots);
	}
	if (!recent || !recent->lines || !recent->slots) {
		recent_close(recent);
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	recent->capacity = capacity;
	recent->mask = slots - 1;
	return recent;
}

static uint32_t *slot_of(struct recent *recent, uint64_t address)
{
	return &recent->slots[gt_fibonacci(address / GT_LINE) >> 32 & recent->mask];
}

static void take_out(struct recent *recent, const struct recent_line *line)
{
	recent->lines[line->newer].older = line->older;
	recent->lines[line->older].newer = line->newer;
}

static void put_first(struct recent *recent, uint32_t number)
{
	struct recent_line *lines = recent->lines, *line = &lines[number];

	line->newer = 0;
	line->older = lines[0].older;
	lines[line->older].newer = number;
	lines[0].older = number;
}

/* The place of the oldest line, whose address is forgotten. */
static uint32_t give_way(struct recent *recent)
{
	uint32_t oldest = recent->lines[0].newer;
	struct recent_line *line = &recent->lines[oldest];
	uint32_t *at = slot_of(recent, line->address);

	while (*at != oldest)
		at = &recent->lines[*at].next;
	*at = line->next;
	take_out(recent, line);
	return oldest;
}

/* The number of the line of an address; 0: it is not there. */
static uint32_t recent_number(struct recent *recent, uint64_t address)
{
	uint32_t number = *slot_of(recent, address);

	while (number != 0 && recent->lines[number].address != address)
		number = recent->lines[number].next;
	return number;
}

static struct recent_line *recent_find(struct recent *recent, uint64_t address)
{
	uint32_t number = recent_number(recent, address);

	return number ? &recent->lines[number] : NULL;
}

/* The line of an address, as the newest; the oldest gives way to one that is not there, which has no valid sectors. */
static struct recent_line *recent_use(struct recent *recent, uint64_t address)
{
	uint32_t *slot = slot_of(recent, address), number = recent_number(recent, address);

	if (number == 0) {
		number = recent->n < recent->capacity ? ++recent->n : give_way(recent);
		recent->lines[number] = (struct recent_line){.address = address, .next = *slot};
		*slot = number;
	} else {
		take_out(recent, &recent->lines[number]);
	}
	put_first(recent, number);
	return &recent->lines[number];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct memory {
	const struct gt_issue_times *times;
	struct recent *l2[2]; /* by partition; NULL: there is one */
};

#define SECTORS 0xfU

static void memory_close(struct memory *memory)
{
	if (memory) {
		recent_close(memory->l2[0]);
		recent_close(memory->l2[1]);
	}
	free(memory);
}

static struct memory *memory_open(const struct gt_issue_times *times, struct gt_error *error)
{
	struct memory *memory = calloc(1, sizeof *memory);

	if (!memory) {
		gt_fail_memory(error, "the lines of a cache");
		return NULL;
	}
	memory->times = times;
	size_t partitions = times->spread.partitions ? 2 : 1;
	for (size_t i = 0; i < partitions; i++) {
		memory->l2[i] = recent_open((uint32_t)later(times->l2_bytes / GT_LINE / partitions, 1), error);
		if (!memory->l2[i]) {
			memory_close(memory);
			return NULL;
		}
	}
	return memory;
}

/* The sectors of a line that come with these if `bytes` are fetched at a time. */
static uint8_t fetched(uint8_t sectors, uint64_t bytes)
{
	if (bytes >= GT_LINE)
		return sectors ? SECTORS : 0;
	if (bytes < 2 * GT_SECTOR)
		return sectors;
	return (uint8_t)((sectors & 0x3 ? 0x3 : 0) | (sectors & 0xc ? 0xc : 0));
}

/* When sectors are there that their home is asked for. Data under way to L2 is waited for. */
static uint64_t ask_home(struct memory *memory, struct recent *home, uint64_t address, uint8_t sectors, uint64_t now)
{
	const struct gt_issue_times *times = memory->times;
	struct recent_line *line = recent_use(home, address);
	uint8_t absent = (uint8_t)(sectors & ~line->valid);

	if (absent) {
		line->valid |= fetched(absent, times->l2_fetch);
		line->filled = later(line->filled, now + times->dram);
	}
	return later(line->filled, now + times->l2);
}

/* The same of an SM, whose partition of L2 is asked first if there are two, and then has a copy. */
static uint64_t ask_l2(struct memory *memory, uint32_t sm, uint64_t address, uint8_t sectors, uint64_t now)
{
	const struct gt_spread *spread = &memory->times->spread;
	unsigned home = spread->partitions ? gt_spread_home(address / GT_LINE) : 0, side = spread->partitions ? gt_spread_side(sm) : 0;
	struct recent_line *copy = side != home ? recent_use(memory->l2[side], address) : NULL;
	uint8_t absent = copy ? (uint8_t)(sectors & ~copy->valid) : sectors;
	uint64_t there = now + memory->times->l2;

	if (absent)
		there = ask_home(memory, memory->l2[home], address, absent, now);
	if (copy && absent) {
		copy->valid |= absent;
		copy->filled = later(copy->filled, there + spread->far);
	}
	if (copy)
		there = later(there, copy->filled);
	int64_t more = gt_spread_cycles(spread, sm, address / GT_LINE);
	return more < 0 && (uint64_t)-more > there - now ? now : there + (uint64_t)more;
}

/* What a store writes is in L2 from now on, in its home alone, and in L1 if stores allocate there. */
static void store(struct memory *memory, struct recent *l1, const struct shape *shape, uint64_t address)
{
	uint8_t sectors = (uint8_t)(shape->mask & SECTORS);
	unsigned home = memory->l2[1] ? gt_spread_home(address / GT_LINE) : 0;

	if (l1 && memory->times->l1_stores)
		recent_use(l1, address)->valid |= (uint8_t)(shape->mask >> 8 & SECTORS);
	recent_use(memory->l2[home], address)->valid |= sectors;
	struct recent_line *copy = memory->l2[1] ? recent_find(memory->l2[1 - home], address) : NULL;
	if (copy)
		copy->valid &= (uint8_t)~sectors;
}

/* When a request of an SM that begins now has its data; of a store, now. L1 may be NULL. */
static uint64_t memory_request(struct memory *memory, struct recent *l1, uint32_t sm, const struct shape *shape, uint64_t address,
			   uint64_t now)
{
	const struct gt_issue_times *times = memory->times;
	enum gt_operator said = gt_op_operator(shape->op);
	uint8_t sectors = (uint8_t)(shape->mask & SECTORS);

	if (gt_op_action(shape->op) == GT_STORE) {
		store(memory, l1, shape, address);
		return now;
	}
	if (!l1 || gt_op_action(shape->op) != GT_LOAD || said == GT_CG || said == GT_CV)
		return ask_l2(memory, sm, address, sectors, now);
	struct recent_line *line = recent_use(l1, address);
	uint8_t missing = fetched((uint8_t)(sectors & ~line->valid), times->l1_sector);
	uint64_t filled = sectors & line->valid ? line->filled : 0;
	if (missing) {
		filled = later(filled, ask_l2(memory, sm, address, missing, now));
		line->valid |= missing;
		line->filled = later(line->filled, filled);
	}
	return later(filled, now + times->l1);
}

/* ---- warps ---- */

/* The warps of resident blocks, for the order of issue by time: when each may go on to its next access. */

#define GT_NEVER UINT64_MAX /* as a time: not known yet */

/* The warps of one scheduler. Those that became resident last stand last. */
struct crew {
	struct runner **runners;
	uint64_t *ready; /* of each: when it may issue what leads to its next access; GT_NEVER: not known, or none is left */
	size_t n, capacity;
};

struct runner {
	struct source *source; /* its accesses still to be issued; the next is in the window */
	struct block *block;
	struct crew *crew;
	size_t place;	   /* in it */
	uint64_t arrived;  /* when it may go on but for barriers; GT_NEVER: a load that it waits for is queued */
	uint64_t data;	   /* when all loads that L1 has taken have their data */
	uint32_t barriers; /* of its block, that it has passed when it makes its next access */
	uint32_t queued;   /* accesses that L1 has not taken */
	uint32_t instructions; /* before its next access */
	bool held;	   /* by a barrier, for the others of its block */
};

static bool is_left(const struct runner *runner)
{
	return runner->source->row < runner->source->end;
}

/* What a row says of itself. */
static const struct shape *kept_shape(const struct shapes *shapes, const struct kept *row)
{
	const struct odd *odd = odd_of(row);

	return odd ? &odd->shape : &shapes->all[row->shape];
}

static uint64_t kept_address(const struct kept *row)
{
	const struct odd *odd = odd_of(row);

	return odd ? odd->base : row->base;
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
		runner->crew->ready[runner->place] = last;
	}
}

static void arrive(struct runner *runner, uint64_t now)
{
	runner->arrived = now;
	if (runner->held)
		pass_barrier(runner->block);
	else
		runner->crew->ready[runner->place] = now;
}

/* Looks at what comes before the next access. */
static void look_ahead(struct runner *runner, const struct shapes *shapes, uint64_t now)
{
	runner->crew->ready[runner->place] = runner->arrived = GT_NEVER;
	if (!is_left(runner)) {
		pass_barrier(runner->block); /* which does not wait for it any more */
		return;
	}
	uint32_t work = kept_shape(shapes, runner->source->row)->work;
	runner->instructions = gt_work_instructions(work);
	runner->held = gt_work_barriers(work) > 0;
	runner->barriers += gt_work_barriers(work);
	if (!gt_work_waits(work))
		arrive(runner, now);
	else if (runner->queued == 0)
		arrive(runner, later(runner->data, now));
	else if (runner->held)
		pass_barrier(runner->block); /* one before its own may have waited for it */
}

static int join(struct crew *crew, struct runner *runner, struct gt_error *error)
{
	size_t capacity = crew->capacity;
	struct runner **runners = gt_grown(crew->runners, crew->n, &capacity, sizeof *runners);

	if (!runners)
		return gt_fail_memory(error, "the warps of an SM");
	crew->runners = runners;
	uint64_t *ready = gt_grown(crew->ready, crew->n, &crew->capacity, sizeof *ready);
	if (!ready)
		return gt_fail_memory(error, "the warps of an SM");
	crew->ready = ready;
	runner->crew = crew;
	runner->place = crew->n;
	crew->runners[crew->n] = runner;
	crew->ready[crew->n++] = GT_NEVER;
	return 0;
}

/* Makes runners of a block that has become resident; warp w belongs to crew (first + w) mod n. Returns 0, or -1. */
static int runners_admit(struct block *block, struct crew *const *crews, uint32_t n, uint64_t first, struct keep *keep,
			 uint64_t now, struct gt_error *error)
{
	block->runners = calloc(block->n_sources, sizeof *block->runners);
	if (!block->runners)
		return gt_fail_memory(error, "the warps of a block");
	for (size_t i = 0; i < block->n_sources; i++) {
		struct source *source = &block->sources[i];
		block->runners[i] = (struct runner){.source = source, .block = block};
		if ((source->row == source->end && gt_source_fill(source, &keep->spill, error) != 0) ||
		    join(crews[(first + source->warp) % n], &block->runners[i], error) != 0)
			return -1;
	}
	block->n_runners = block->warps_left = block->n_sources;
	for (size_t i = 0; i < block->n_runners; i++)
		look_ahead(&block->runners[i], &keep->shapes, now);
	return 0;
}

/* It has issued the access that ends at `end`. Returns 0, or -1. */
static int runner_issued(struct runner *runner, struct kept *last, struct keep *keep, uint64_t now, struct gt_error *error)
{
	struct source *source = runner->source;

	source->row = last;
	runner->queued++;
	if (source->row == source->end && gt_source_fill(source, &keep->spill, error) != 0)
		return -1;
	look_ahead(runner, &keep->shapes, now);
	return 0;
}

/* L1 has taken an access of it, whose loads have their data at `data`. Returns whether the runner has ended. */
static bool runner_served(struct runner *runner, uint64_t data)
{
	runner->data = later(runner->data, data);
	if (--runner->queued > 0)
		return false;
	if (is_left(runner) && runner->arrived == GT_NEVER)
		arrive(runner, runner->data);
	return !is_left(runner);
}

/* Takes it out of its crew. */
static void runner_leave(struct runner *runner)
{
	struct crew *crew = runner->crew;
	size_t at = runner->place, rest = crew->n - at - 1;

	memmove(crew->runners + at, crew->runners + at + 1, rest * sizeof *crew->runners);
	memmove(crew->ready + at, crew->ready + at + 1, rest * sizeof *crew->ready);
	crew->n--;
	for (; at < crew->n; at++)
		crew->runners[at]->place = at;
}

static void crew_close(struct crew *crew)
{
	free(crew->runners);
	free(crew->ready);
}

#define QUEUE 5 /* accesses of a scheduler that L1 has not taken, before it has to wait: the same paper */

/* An access that L1 has not taken; its warp's window may hold later ones by now. */
struct waiting {
	struct runner *runner;
	struct kept *rows;
	size_t n, capacity;
	struct odd *odd; /* of rows that have no numbered shape */
	size_t odd_capacity;
};

struct scheduler {
	struct crew crew;
	struct runner *current; /* its instructions up to its next access issue until `until`; NULL: none */
	struct runner *last;	/* that issued */
	uint64_t until;
	struct waiting queue[QUEUE];
	uint32_t first, queued;
};

struct clocked {
	struct scheduler *schedulers;
	struct recent *l1; /* NULL: there is none */
	uint32_t n, turn;  /* the scheduler from which L1 takes next */
	uint64_t free;	   /* when L1 can take an access */
};

/* ---- blocks ---- */

static struct clocked *open_sm(const struct gt_schedule *schedule, struct gt_error *error)
{
	uint64_t bytes = schedule->occupancy.l1_bytes ? schedule->occupancy.l1_bytes : schedule->config->times.l1_bytes;
	struct clocked *clocked = calloc(1, sizeof *clocked);

	if (!clocked) {
		gt_fail_memory(error, "the schedulers of an SM");
		return NULL;
	}
	clocked->n = schedule->config->schedulers;
	clocked->schedulers = calloc(clocked->n, sizeof *clocked->schedulers);
	if (!clocked->schedulers)
		gt_fail_memory(error, "the schedulers of an SM");
	else if (schedule->config->times.l1_bytes == 0 || (clocked->l1 = recent_open((uint32_t)(bytes / GT_LINE), error)))
		return clocked;
	free(clocked->schedulers);
	free(clocked);
	return NULL;
}

static void close_sm(struct sm *sm)
{
	struct clocked *clocked = sm->clocked;

	if (!clocked)
		return;
	for (uint32_t i = 0; i < clocked->n; i++) {
		crew_close(&clocked->schedulers[i].crew);
		for (uint32_t place = 0; place < QUEUE; place++) {
			free(clocked->schedulers[i].queue[place].rows);
			free(clocked->schedulers[i].queue[place].odd);
		}
	}
	free(clocked->schedulers);
	recent_close(clocked->l1);
	free(clocked);
}

static void close_all(struct gt_schedule *schedule)
{
	for (uint32_t sm = 0; sm < schedule->config->sms; sm++)
		close_sm(&schedule->sms[sm]);
	memory_close(schedule->memory);
}

static int admit(struct gt_schedule *schedule, struct sm *sm, struct block *block, struct gt_error *error)
{
	uint64_t in_block = gt_kernel_warps(schedule->kernel);

	if (!schedule->memory && !(schedule->memory = memory_open(&schedule->config->times, error)))
		return -1;
	if (!sm->clocked && !(sm->clocked = open_sm(schedule, error)))
		return -1;
	struct clocked *clocked = sm->clocked;
	struct crew *crews[GT_SCHEDULERS_MAX];
	for (uint32_t i = 0; i < clocked->n; i++)
		crews[i] = &clocked->schedulers[i].crew;
	in_block = in_block ? in_block : (uint64_t)block->highest_warp + 1;
	sm->wake = schedule->step;
	return runners_admit(block, crews, clocked->n, block->slot * in_block, &schedule->keep, schedule->step, error);
}

/* ---- L1 ---- */

static int retire(struct gt_schedule *schedule, struct sm *sm, struct runner *runner, uint64_t now)
{
	struct block *block = runner->block;
	size_t position = block->position;
	uint64_t data = runner->data > now ? runner->data : now;

	runner_leave(runner);
	if (--block->warps_left > 0)
		return 0;
	gt_machine_retire(schedule, sm, block);
	if (sm->free_at[position] < data)
		sm->free_at[position] = data;
	return 0;
}

/* Copies an access into a place of the queue. Requests have no addresses of lanes. */
static int wait_for_l1(struct waiting *place, struct runner *runner, const struct kept *end, struct gt_error *error)
{
	const struct kept *first = runner->source->row;
	size_t n = (size_t)(end - first), odd = 0;
	struct kept *rows = gt_grown_to(place->rows, n, &place->capacity, sizeof *rows);

	place->rows = rows ? rows : place->rows;
	for (size_t i = 0; i < n; i++)
		odd += first[i].shape == SHAPE_NONE;
	struct odd *odds = odd ? gt_grown_to(place->odd, odd, &place->odd_capacity, sizeof *odds) : place->odd;
	place->odd = odds ? odds : place->odd;
	if (!rows || (odd && !odds))
		return gt_fail_memory(error, "accesses");
	memcpy(rows, first, n * sizeof *rows);
	for (size_t i = 0; odd > 0 && i < n; i++) {
		if (rows[i].shape != SHAPE_NONE)
			continue;
		*odds = *(const struct odd *)(uintptr_t)rows[i].base;
		rows[i].base = (uint64_t)(uintptr_t)odds++;
	}
	place->n = n;
	place->runner = runner;
	return 0;
}

/* L1 takes an access: one request a cycle. */
static int take(struct gt_schedule *schedule, struct sm *sm, struct scheduler *scheduler, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	const struct waiting *waiting = &scheduler->queue[scheduler->first];
	const struct kept *first = waiting->rows, *end = first + waiting->n;
	struct runner *runner = waiting->runner;
	uint64_t now = schedule->step, data = 0;

	scheduler->first = (scheduler->first + 1) % QUEUE;
	scheduler->queued--;
	clocked->free = now;
	for (const struct kept *row = first; row < end; row++) {
		const struct shape *shape = kept_shape(&schedule->keep.shapes, row);
		uint64_t there = memory_request(schedule->memory, clocked->l1, sm->number, shape, kept_address(row), clocked->free++);
		if (gt_op_action(shape->op) != GT_REDUCTION && there > data)
			data = there;
	}
	if (gt_machine_emit(schedule, sm, runner->block, first, end, error) != 0)
		return -1;
	if (!runner_served(runner, data))
		return 0;
	if (scheduler->last == runner)
		scheduler->last = NULL;
	return retire(schedule, sm, runner, now);
}

static int serve(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;

	for (uint32_t i = 0; i < clocked->n; i++) {
		struct scheduler *scheduler = &clocked->schedulers[clocked->turn];
		clocked->turn = clocked->turn + 1 == clocked->n ? 0 : clocked->turn + 1;
		if (scheduler->queued > 0)
			return take(schedule, sm, scheduler, error);
	}
	return 0;
}

/* ---- schedulers ---- */

/* Greedy: the warp that issued last; then the youngest. NULL: none can issue. */
static struct runner *choose(const struct scheduler *scheduler, uint64_t now)
{
	const struct crew *crew = &scheduler->crew;

	if (scheduler->last && crew->ready[scheduler->last->place] <= now)
		return scheduler->last;
	for (size_t i = crew->n; i-- > 0;)
		if (crew->ready[i] <= now)
			return crew->runners[i];
	return NULL;
}

/* Issues up to an access that is not due yet, or for which the queue has no room. */
static int run_scheduler(struct scheduler *scheduler, struct keep *keep, uint64_t now, struct gt_error *error)
{
	while (scheduler->until <= now) {
		if (!scheduler->current) {
			struct runner *chosen = choose(scheduler, now);
			if (!chosen)
				return 0;
			scheduler->current = scheduler->last = chosen;
			scheduler->until = now + chosen->instructions;
			/* Both are far apart, and are read when the access is due. */
			__builtin_prefetch(&chosen->source->end);
			__builtin_prefetch(chosen->source->row);
			continue;
		}
		if (scheduler->queued == QUEUE)
			return 0;
		struct runner *runner = scheduler->current;
		struct kept *end = gt_source_access(runner->source);
		if (wait_for_l1(&scheduler->queue[(scheduler->first + scheduler->queued) % QUEUE], runner, end, error) != 0)
			return -1;
		scheduler->queued++;
		scheduler->current = NULL;
		scheduler->until = now + 1;
		if (runner_issued(runner, end, keep, now + 1, error) != 0)
			return -1;
	}
	return 0;
}

/* When the scheduler can do something next, if L1 takes nothing from it. */
static uint64_t next_of(const struct scheduler *scheduler)
{
	const struct crew *crew = &scheduler->crew;
	uint64_t next = GT_NEVER;

	if (scheduler->current)
		return scheduler->queued < QUEUE ? scheduler->until : GT_NEVER;
	for (size_t i = 0; i < crew->n; i++)
		next = crew->ready[i] < next ? crew->ready[i] : next;
	return next > scheduler->until ? next : scheduler->until;
}

static int issue(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error)
{
	struct clocked *clocked = sm->clocked;
	uint64_t now = schedule->step, wake = GT_NEVER;

	if (sm->wake > now)
		return 0;
	for (uint32_t i = 0; i < clocked->n; i++)
		if (run_scheduler(&clocked->schedulers[i], &schedule->keep, now, error) != 0)
			return -1;
	if (clocked->free <= now && serve(schedule, sm, error) != 0)
		return -1;
	for (uint32_t i = 0; i < clocked->n; i++) {
		const struct scheduler *scheduler = &clocked->schedulers[i];
		uint64_t next = next_of(scheduler);
		next = scheduler->queued > 0 && clocked->free < next ? clocked->free : next;
		wake = next < wake ? next : wake;
	}
	sm->wake = wake > now ? wake : now + 1;
	return 0;
}

const struct gt_issue gt_issue_latency = {"latency", BY_WARP, admit, issue, true, close_all};
