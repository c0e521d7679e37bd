/* SPDX-License-Identifier: MIT */
/* A block of threads, run on the CPU: its warps take turns of a few instructions (gt_ptx_block_round), in each of which a warp runs one
 * micro-op after another for all its lanes (step). Before that: how a warp that waits in a loop is found, so that it lets others run.
 * After it: how a block begins and ends, and the core that runs one block after another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/paths.h"

/* ---- warps that repeat themselves ---- */

/* Detects a path that waits in a loop: the warp returns to the same micro-op with the same values in its registers and its local
 * memory. Until another thread writes to memory it will repeat this for ever. */

#define GAP_MIN 256   /* instructions from one saved state to the next */
#define GAP_MAX 16384
#define POLL_GAP 1024  /* instructions after which an access that has not come again is no longer watched as a poll */
#define POLLS_MIN 64  /* polls from one saved state to the next, at most, until so many were not enough */
#define POLLS_MAX 4096

/* Begins to watch anew. */
static void watch_begin(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	watch->op = warp->poll.op = NULL;
	watch->repeats = warp->poll.repeats = false;
	watch->gap = GAP_MIN;
	watch->next = warp->issued + GAP_MIN;
	warp->poll.next = warp->issued + POLL_GAP;
}

static int keep(struct gt_ptx_warp *warp, struct gt_ptx_watch *watch, const struct gt_ptx_op *op)
{
	size_t bytes = 0;

	watch->has_local = false;
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller)
		bytes += frame->code->image_at;
	void *grown = gt_grown_to(watch->registers, bytes, &watch->capacity, 1);
	if (!grown) {
		warp->core->failed = true;
		return gt_fail_memory(warp->core->error, "the registers of a warp");
	}
	watch->registers = grown;
	watch->bytes = 0;
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller) {
		memcpy(watch->registers + watch->bytes, warp->arenas + frame->arena, frame->code->image_at);
		watch->bytes += frame->code->image_at;
	}
	watch->keeps++;
	watch->op = op;
	watch->mask = watch->ran = warp->mask;
	watch->same = 0;
	watch->differs = 0;
	return 0;
}

/* Keeps what the warp is at the end of a turn, or at a poll. */
static int keep_turn(struct gt_ptx_warp *warp, const struct gt_ptx_op *at)
{
	struct gt_ptx_watch *watch = &warp->watch;

	if (!watch->repeats)
		watch->times = 0;
	watch->repeats = false;
	if (keep(warp, watch, at) != 0)
		return -1;
	watch->next = warp->issued + watch->gap;
	watch->gap = 2 * watch->gap < GAP_MAX ? 2 * watch->gap : GAP_MAX;
	return 0;
}

/* The lanes whose part of a slot differs in two places, of so many bytes a lane. */
static uint32_t differ_plain(const unsigned char *one, const unsigned char *other, uint32_t size)
{
	uint32_t differ = 0;

	for (uint32_t lane = 0; lane < GT_WARP_SIZE; lane++)
		differ |= (uint32_t)(memcmp(one + lane * size, other + lane * size, size) != 0) << lane;
	return differ;
}

#if defined __x86_64__
/* The same of 4 or 8 bytes a lane, which most slots have. */
GT_FAST static uint32_t differ_fast(const unsigned char *one, const unsigned char *other, uint32_t size)
{
	const __m256i *x = (const void *)one, *y = (const void *)other;
	uint32_t same = 0;

	if (size == 4)
		for (int i = 0; i < 4; i++)
			same |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(
					_mm256_cmpeq_epi32(_mm256_loadu_si256(x + i), _mm256_loadu_si256(y + i)))) << 8 * i;
	else
		for (int i = 0; i < 8; i++)
			same |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(
					_mm256_cmpeq_epi64(_mm256_loadu_si256(x + i), _mm256_loadu_si256(y + i)))) << 4 * i;
	return ~same;
}
#endif

/* Those of some lanes whose part of a slot is the same in two places. */
static uint32_t alike(const unsigned char *one, const unsigned char *other, uint32_t bytes, uint32_t lanes)
{
	const uint32_t size = bytes / GT_WARP_SIZE;

	if (size == 0)
		return lanes & ~(*(const uint32_t *)(const void *)one ^ *(const uint32_t *)(const void *)other);
	if (memcmp(one, other, bytes) == 0)
		return lanes;
#if defined __x86_64__
	if ((size == 4 || size == 8) && gt_ptx_simd_variant() == GT_PTX_AVX2)
		return lanes & ~differ_fast(one, other, size);
#endif
	return lanes & ~differ_plain(one, other, size);
}

/* Those of some lanes that have all registers that they had; first by the slot that told the last ones apart. */
static uint32_t same_registers(const struct gt_ptx_warp *warp, struct gt_ptx_watch *watch, uint32_t lanes)
{
	size_t at = 0;

	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller) {
		const struct gt_ptx_code *code = frame->code;
		const unsigned char *now = warp->arenas + frame->arena, *kept = watch->registers + at;
		if ((at += code->image_at) > watch->bytes)
			return 0;
		for (size_t i = 0; i < code->n_slots; i++) {
			const struct gt_ptx_slot *slot = &code->slots[(watch->differs + i) % code->n_slots];
			lanes = alike(now + slot->at, kept + slot->at, slot->bytes, lanes);
			if (lanes)
				continue;
			watch->differs = (watch->differs + i) % code->n_slots;
			return 0;
		}
	}
	return at == watch->bytes ? lanes : 0;
}

/* Local memory is compared only if the registers are equal; the first time its hash is saved. */
static bool same_local(const struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	uint64_t hash = warp->local ? XXH3_64bits(warp->local, GT_WARP_SIZE * warp->local_stride) : 0;
	bool same = !warp->local || (watch->has_local && watch->local == hash);

	if (watch->has_local && !same)
		watch->op = NULL;
	watch->local = hash;
	watch->has_local = true;
	return same;
}

/* The warp is where it was kept: whether each lane has had all that it had then, by now. Lanes whose loops take different times are as
 * they were at different times, all of them together perhaps never. */
static bool is_same(const struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	watch->same |= same_registers(warp, watch, warp->mask & watch->mask & ~watch->same);
	if (watch->mask & warp->live & ~watch->same)
		return false;
	watch->same = 0;
	return same_local(warp, watch);
}

/* The warp is as it was kept. */
static void repeats(struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	watch->repeats = true;
	watch->times++;
	watch->repeated++;
	warp->starved = warp->live & ~watch->ran;
	watch->ran = warp->mask;
}

/* At the end of a turn: true if the warp is as it was before (block.c). */
static bool watch_end(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *watch = &warp->watch;

	watch->ran |= warp->mask;
	if (warp->at == watch->op && is_same(warp, watch)) {
		repeats(warp, watch);
		return true;
	}
	if (warp->issued >= watch->next)
		keep_turn(warp, warp->at);
	return false;
}

/* ---- polls ---- */

/* Ends the turn: the warp has read what it read before. */
static void poll_repeats(struct gt_ptx_warp *warp, struct gt_ptx_watch *watch)
{
	repeats(warp, watch);
	warp->poll.repeats = true;
	warp->core->polls++;
	warp->until = warp->issued;
}

/* Keeps the state anew; true if it did. */
static bool keep_poll(struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	struct gt_ptx_watch *poll = &warp->poll;
	const bool first = !poll->op;

	if (first || poll->gap >= poll->most) {
		poll->gap = 1;
		if (!first) {
			poll->most = 2 * poll->most < POLLS_MAX ? 2 * poll->most : POLLS_MAX;
			poll->times = 0; /* no loop that was found goes on */
			gt_ptx_spin_ask(warp->core);
		}
	} else {
		poll->gap = 2 * poll->gap < poll->most ? 2 * poll->gap : poll->most;
	}
	poll->since = 0;
	return keep(warp, poll, op) == 0;
}

/* Stands behind an access by which a warp learns what other blocks have done. Its result is in the registers: when they are the same
 * again, the warp has read the same, and reads the same again if it goes on. Several such accesses may come before the loop begins
 * anew, and the warp may have come to it later than to the access where its state was kept. So the state is kept anew after 1, 2, 4 and up
 * to POLLS_MIN polls without a repeat, and then again after 1, up to twice as many, and so on: a short loop is found soon, a long one
 * at last. */
const struct gt_ptx_op *gt_ptx_poll(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_watch *poll = &warp->poll;

	if (op->d && warp->core->traced & GT_PTX_NOTES_SPIN)
		gt_ptx_spin_found(warp, op->line, gt_ptx_lanes(warp, op->d), op->a, mask);
	poll->ran |= warp->mask;
	warp->watch.ran |= warp->mask;
	poll->next = warp->issued + POLL_GAP;
	poll->since++;
	if (poll->op == op && is_same(warp, poll)) {
		poll_repeats(warp, poll);
		poll->gap = poll->since + 1;
		poll->most -= (poll->most - POLLS_MIN) / 16;
		poll->since = 0;
		return op + 1;
	}
	return (poll->op && poll->since < poll->gap) || keep_poll(warp, op) ? op + 1 : NULL;
}

/* At the end of a turn that a poll ended, or in which none came for long. */
static void poll_end(struct gt_ptx_warp *warp)
{
	struct gt_ptx_watch *poll = &warp->poll;

	if (!poll->repeats) {
		poll->op = NULL;
		poll->times = 0;
		poll->next = warp->issued + POLL_GAP;
	}
	poll->repeats = false;
}

/* ---- turns ---- */

/* One block: its warps in turns of a few instructions, so that kernels that race see each other's writes. */

/* One micro-op of a warp, for the lanes whose guard holds. */
static const struct gt_ptx_op *step(struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	uint32_t mask = warp->mask;

	if (op->guarded) {
		uint32_t holds = gt_ptx_predicate(warp, op->guard);
		mask &= op->guarded == 1 ? holds : ~holds;
		if (!mask)
			return op + 1;
	}
	return op->run(warp, op, mask);
}

/* One turn of a warp. */
static void take_turn(struct gt_ptx_warp *warp)
{
	const struct gt_ptx_op *op = warp->at;

	warp->until = warp->issued - warp->ahead + GT_PTX_TURN; /* a poll ends it earlier */
	while (op && warp->issued < warp->until) {
		warp->issued += op->counts;
		op = step(warp, op);
	}
	warp->ahead = op && warp->issued > warp->until ? warp->issued - warp->until : 0;
	if (op)
		warp->at = op;
}

/* A path that repeats itself ends its instruction and lets others of its warp go on. */
static void let_others(struct gt_ptx_warp *warp, uint32_t starved)
{
	while (warp->state == GT_PTX_RUNS && warp->at->counts == 0) {
		const struct gt_ptx_op *op = step(warp, warp->at);
		if (!op)
			return;
		warp->at = op;
	}
	if (warp->state == GT_PTX_RUNS && gt_ptx_path_yield(warp, starved))
		watch_begin(warp);
}

static int begin_warp(struct gt_ptx_core *core, uint32_t index)
{
	struct gt_ptx_warp *warp = &core->warps[index];
	const uint32_t *block = core->launch->block, left = block[0] * block[1] * block[2] - index * GT_WARP_SIZE;
	size_t kernel = (size_t)(core->launch->kernel - core->machine->module->functions);

	warp->live = left < GT_WARP_SIZE ? (UINT32_C(1) << left) - 1 : GT_PTX_FULL;
	warp->top = warp->path = NULL;
	warp->partials = 0;
	memset(warp->partial, 0, sizeof warp->partial);
	warp->cluster_arrived = warp->cluster_owes = 0;
	warp->multiplies = warp->meets = false;
	memset(warp->last_error, 0, sizeof warp->last_error);
	warp->issued = warp->ahead = 0;
	warp->timer = (struct gt_ptx_timer){0};
	warp->an = 0;
	warp->noted = 0;
	warp->barriers = 0;
	warp->shared_accesses = warp->shared_passes = 0;
	warp->state = GT_PTX_RUNS;
	if (warp->local)
		memset(warp->local, 0, GT_WARP_SIZE * warp->local_stride);
	warp->watch.times = warp->poll.times = 0;
	warp->poll.most = POLLS_MIN;
	warp->yields = 0;
	watch_begin(warp);
	return gt_ptx_begin(warp, core->program->codes[kernel]) ? 0 : -1;
}

static bool waits_for_cluster(const struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++)
		for (const struct gt_ptx_path *path = core->warps[w].top; path; path = path->below)
			if (path->state == GT_PTX_PATH_AT_BARRIER && path->waits_at == GT_PTX_CLUSTER_BARRIER)
				return true;
	return false;
}

int gt_ptx_block_deadlock(struct gt_ptx_core *core)
{
	char text[256] = "", place[96];
	size_t length = 0;

	for (uint32_t w = 0; w < core->n_warps; w++)
		for (const struct gt_ptx_path *path = core->warps[w].top; path; path = path->below) {
			if (path->state == GT_PTX_PATH_JOINS || length >= sizeof text - sizeof place)
				continue;
			gt_ptx_path_describe(path, place, sizeof place - 32);
			length += (size_t)snprintf(text + length, sizeof text - length, "%swarp %u %s",
						   length ? ", " : "", w, place);
		}
	core->ran->fault = true;
	return gt_fail(core->error, "kernel %.128s: block (%u,%u,%u) waits for ever: %s",
		       core->launch->kernel->name, core->ctaid[0], core->ctaid[1], core->ctaid[2], text);
}

void gt_ptx_block_ended(const struct gt_ptx_core *core)
{
	const struct gt_ptx_launch *launch = core->launch;
	uint32_t runs = 0;

	if (!launch->ended || core->sink != launch->sink)
		return;
	for (uint32_t w = 0; w < core->n_warps; w++)
		runs |= (uint32_t)(core->warps[w].state != GT_PTX_DONE) << w;
	*launch->ended = ~runs;
}

/* before: what it had issued when its turn began. In a turn that it was ahead of it is where it was, but does not wait. */
static void end_turn(struct gt_ptx_core *core, struct gt_ptx_warp *warp, uint64_t before)
{
	const bool polled = warp->poll.repeats;

	if (polled || warp->issued >= warp->poll.next)
		poll_end(warp);
	if (warp->state == GT_PTX_RUNS && warp->issued != before &&
	    (polled || ((warp->at == warp->watch.op || warp->issued >= warp->watch.next) && watch_end(warp)))) {
		core->repeats = true;
		if (warp->top->below && warp->starved)
			let_others(warp, warp->starved);
	}
	if (warp->state != GT_PTX_DONE)
		return;
	core->running--;
	gt_ptx_block_ended(core);
	for (unsigned b = 0; b < GT_PTX_BARRIERS; b++)
		if (core->barriers[b].threads > 0)
			gt_ptx_release(core, b);
	gt_ptx_cluster_left(warp);
	gt_ptx_wgmma_left(warp);
}

/* A block that spins may do so for lanes of its own warps. */
static int let_all_others(struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (core->warps[w].state == GT_PTX_RUNS && core->warps[w].top->below)
			let_others(&core->warps[w], GT_PTX_FULL);
	return core->failed ? -1 : 0;
}

int gt_ptx_fail_unending(const struct gt_ptx_launch *launch, const uint32_t block[3], struct gt_error *error)
{
	return gt_fail(error,
		       "kernel %.128s: more than %" PRIu64
		       " warp instructions, in block (%u,%u,%u): it does not end, or --max-instructions is too low",
		       launch->kernel->name, launch->max_instructions, block[0], block[1], block[2]);
}

int gt_ptx_block_round(struct gt_ptx_core *core, uint64_t *left)
{
	bool moved = false;
	uint64_t issued = 0;

	core->repeats = core->ahead = false;
	for (uint32_t w = 0; w < core->n_warps; w++) {
		struct gt_ptx_warp *warp = &core->warps[w];
		if (warp->state != GT_PTX_RUNS)
			continue;
		uint64_t before = warp->issued;
		core->ahead |= warp->ahead > 0;
		take_turn(warp);
		core->ahead |= warp->issued == before; /* it was at a poll, behind its instruction */
		if (!core->failed)
			end_turn(core, warp, before);
		if (core->failed)
			return -1;
		issued += warp->issued - before;
		moved = true;
	}
	if (!moved && core->running > 0 && !waits_for_cluster(core))
		return gt_ptx_block_deadlock(core);
	if ((core->spin.issued += issued) >= core->spin.next && gt_ptx_spin_look(core) && let_all_others(core) != 0)
		return -1;
	if (issued > *left) {
		core->ran->fault = true;
		return gt_ptx_fail_unending(core->launch, core->ctaid, core->error);
	}
	*left -= issued;
	return 0;
}

bool gt_ptx_block_waits(const struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++) {
		const struct gt_ptx_warp *warp = &core->warps[w];
		uint64_t paths = 0;
		for (const struct gt_ptx_path *path = warp->top; path; path = path->below)
			paths++;
		/* Each path had its turn since one of them did anything new. */
		if (warp->state == GT_PTX_RUNS && warp->watch.times <= paths && warp->poll.times <= paths)
			return false;
	}
	return core->running > 0;
}

/* Whether the launch traces a block. */
static bool is_traced(const struct gt_ptx_launch *launch, uint64_t block)
{
	return launch->sink && block >= launch->first_block && block - launch->first_block < launch->traced_blocks;
}

bool gt_ptx_is_executed(const struct gt_ptx_launch *launch, uint64_t cluster)
{
	const uint32_t n = gt_ptx_cluster_size(launch);
	bool traced = false;

	for (uint32_t rank = 0; rank < n && !traced; rank++)
		traced = is_traced(launch, n > 1 ? gt_ptx_cluster_block(launch, cluster, rank) : cluster);
	return traced || !launch->skip_untraced;
}

int gt_ptx_block_begin(struct gt_ptx_core *core, uint64_t block)
{
	const struct gt_ptx_launch *launch = core->launch;

	core->traced = is_traced(launch, block) ? launch->traced_spaces | (launch->notes_work ? GT_PTX_NOTES_WORK : 0) : 0;
	if (core->shared_written) {
		core->traced |= GT_PTX_NOTES_WRITTEN;
		memset(core->shared_written, 0, core->shared_bytes / 8 + 1);
	}
	core->block = block;
	gt_ptx_block_place(launch, block, core->ctaid);
	core->accesses = core->polls = 0;
	core->arrives = false;
	core->tensor_taken = 0;
	core->running = core->n_warps;
	if (core->shared_bytes > 0)
		memset(core->shared, 0, core->shared_bytes);
	memset(core->barriers, 0, sizeof core->barriers);
	for (unsigned b = 0; b < GT_PTX_BARRIERS; b++)
		core->barriers[b].all = GT_PTX_FULL;
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (begin_warp(core, w) != 0)
			return -1;
	gt_ptx_block_ended(core);
	gt_ptx_spin_begin(core);
	return 0;
}

/* A block whose warps have noted no access. */
static void note_idle(const struct gt_ptx_core *core)
{
	const struct gt_ptx_launch *launch = core->launch;
	uint64_t issued = 0;

	if (!launch->idle || !is_traced(launch, core->block))
		return;
	for (uint32_t w = 0; w < core->n_warps; w++) {
		if (core->warps[w].noted > 0)
			return;
		issued += core->warps[w].issued;
	}
	gt_idle_blocks_add(launch->idle, core->block, issued);
}

void gt_ptx_block_count(const struct gt_ptx_core *core, struct gt_ptx_ran *ran)
{
	note_idle(core);
	for (uint32_t w = 0; w < core->n_warps; w++)
		ran->warp_instructions += core->warps[w].issued;
	ran->accesses += core->accesses;
	ran->polls += core->polls;
	if (core->launch->told)
		core->launch->told->ended(core->launch->told->context, 1, core->accesses);
}

/* Thread by thread, since divisions would take longer than many a block. */
static void fill_threads(struct gt_ptx_warp *warp, const uint32_t block[3])
{
	uint32_t first = warp->index * GT_WARP_SIZE;
	uint32_t at[3] = {first % block[0], first / block[0] % block[1], first / block[0] / block[1]};

	for (uint32_t lane = 0; lane < GT_WARP_SIZE; lane++) {
		for (unsigned d = 0; d < 3; d++)
			warp->tid[d][lane] = at[d];
		if (++at[0] < block[0])
			continue;
		at[0] = 0;
		if (++at[1] < block[1])
			continue;
		at[1] = 0;
		at[2]++;
	}
}

static uint64_t shared_bytes(const struct gt_ptx_core *core)
{
	const uint32_t dynamic = core->launch->dynamic_shared;

	const uint64_t own = dynamic ? core->program->dynamic_offset + dynamic : core->program->static_shared;

	return core->program->reads_reserved ? (own + 127) / 128 * 128 + GT_PTX_RESERVED : own;
}

static int open_core(struct gt_ptx_core *core)
{
	const struct gt_ptx_launch *launch = core->launch;
	struct gt_error *error = core->error;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];

	memcpy(core->extent, launch->block, sizeof core->extent);
	core->tensor = NULL;
	core->n_warps = (uint32_t)((threads + GT_WARP_SIZE - 1) / GT_WARP_SIZE);
	core->shared_bytes = shared_bytes(core);
	core->parameter_bytes = gt_ptx_parameter_bytes(launch->kernel);
	core->local_words = (core->program->deepens ? GT_PTX_LOCAL_MAX : core->program->local_bytes) / 4 + 1;
	core->warps = calloc(core->n_warps, sizeof *core->warps);
	core->shared = core->shared_bytes <= GT_PTX_SHARED_MAX ? calloc(1, core->shared_bytes + 1) : NULL;
	core->parameters = calloc(1, core->parameter_bytes + 1);
	core->shared_written = core->memory->written && core->shared ? calloc(1, core->shared_bytes / 8 + 1) : NULL;
	if (core->shared_bytes > GT_PTX_SHARED_MAX)
		return gt_fail(error,
			       "kernel %.128s: %" PRIu64 " bytes of shared memory; a block has %u at most",
			       launch->kernel->name, core->shared_bytes, GT_PTX_SHARED_MAX);
	if (!core->warps || !core->shared || !core->parameters || (core->memory->written && !core->shared_written))
		return gt_fail_memory(error, "the warps of a block");
	if (core->parameter_bytes > 0)
		memcpy(core->parameters, launch->parameters, core->parameter_bytes);
	for (uint32_t w = 0; w < core->n_warps; w++) {
		core->warps[w].core = core;
		core->warps[w].index = w;
		fill_threads(&core->warps[w], launch->block);
	}
	return 0;
}

static void close_warp(struct gt_ptx_warp *warp)
{
	struct gt_ptx_path *path;
	struct gt_ptx_frame *frame;

	while (warp->top)
		gt_ptx_path_end(warp, warp->top);
	while ((path = warp->free_paths)) {
		warp->free_paths = path->below;
		free(path);
	}
	while ((frame = warp->free_frames)) {
		warp->free_frames = frame->before;
		free(frame);
	}
	free(warp->arenas);
	free(warp->local);
	free(warp->watch.registers);
	free(warp->poll.registers);
}

void gt_ptx_core_close(struct gt_ptx_core *core)
{
	if (!core)
		return;
	gt_ptx_cluster_leave(core);
	for (uint32_t w = 0; core->warps && w < core->n_warps; w++)
		close_warp(&core->warps[w]);
	free(core->warps);
	free(core->shared);
	free(core->shared_written);
	free(core->tensor);
	free(core->parameters);
	free(core);
}

static void free_kept(struct gt_ptx_machine *machine)
{
	while (machine->spare) {
		struct gt_ptx_core *core = machine->spare;
		machine->spare = core->next;
		core->cluster = NULL;
		gt_ptx_core_close(core);
	}
}

void gt_ptx_core_keep(struct gt_ptx_core *core)
{
	gt_ptx_cluster_leave(core);
	core->next = core->machine->spare;
	core->machine->spare = core;
	core->machine->free_spare = free_kept;
}

/* A kept one for a block like this; NULL: there is none. Those of another kernel or shape are freed then. */
static struct gt_ptx_core *take_kept(const struct gt_ptx_core *like)
{
	struct gt_ptx_machine *machine = like->machine;
	struct gt_ptx_core *core = machine->spare;

	if (!core)
		return NULL;
	if (core->program != like->program || memcmp(core->extent, like->launch->block, sizeof core->extent) != 0 || core->shared_bytes != shared_bytes(like)) {
		free_kept(machine);
		return NULL;
	}
	const struct gt_ptx_core kept = *core;
	machine->spare = core->next;
	*core = *like;
	memcpy(core->extent, kept.extent, sizeof core->extent);
	core->n_warps = kept.n_warps;
	core->warps = kept.warps;
	core->shared = kept.shared;
	core->shared_written = kept.shared_written;
	core->shared_bytes = kept.shared_bytes;
	core->tensor = kept.tensor;
	core->parameters = kept.parameters;
	core->parameter_bytes = kept.parameter_bytes;
	core->local_words = kept.local_words;
	if (core->parameter_bytes > 0)
		memcpy(core->parameters, like->launch->parameters, core->parameter_bytes);
	for (uint32_t w = 0; w < core->n_warps; w++)
		core->warps[w].filled = NULL; /* with what the last launch had */
	return core;
}

struct gt_ptx_core *gt_ptx_core_open(const struct gt_ptx_core *like)
{
	struct gt_ptx_core *core = take_kept(like);

	if (core)
		return core;
	if (!(core = aligned_alloc(_Alignof(struct gt_ptx_core), sizeof *core))) {
		gt_fail_memory(like->error, "a block");
		return NULL;
	}
	*core = *like;
	if (open_core(core) == 0)
		return core;
	gt_ptx_core_close(core);
	return NULL;
}
