/* SPDX-License-Identifier: MIT */
/* What an access is in the trace: its rows, their operation and hints; and whether a block spins, as far as its accesses say. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/paths.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/shared.h"

/* ---- cache policies ---- */

static unsigned policy_field(uint64_t policy, enum gt_ptx_policy_field at, unsigned bits)
{
	return (unsigned)(policy >> at) & ((1U << bits) - 1);
}

/* Whether the primary priority is that of an address. Which of 16 lines a fraction is, NVIDIA does not say: here the number of a line
 * is folded, so that accesses at a stride meet all 16 alike. */
static bool is_primary(uint64_t policy, uint64_t address)
{
	const unsigned size = policy_field(policy, GT_PTX_POLICY_SIZE, 4);

	if (policy_field(policy, GT_PTX_POLICY_MODE, 2) == GT_PTX_POLICY_RANGE) {
		const unsigned block = (unsigned)(address >> (12 + size)) - policy_field(policy, GT_PTX_POLICY_START, 7);
		return (block & 127) < policy_field(policy, GT_PTX_POLICY_BLOCKS, 7);
	}
	uint64_t line = address / GT_LINE;
	line ^= line >> 4;
	line ^= line >> 8;
	line ^= line >> 16;
	return (line & 15) <= size;
}

/* The priority that a policy gives an address, or GT_PRIORITY_NONE if the value is not a policy. NVIDIA calls an unchanged priority
 * normal, too, so where both are that, all lines are normal. */
static enum gt_priority policy_priority(uint64_t policy, uint64_t address)
{
	static const enum gt_priority priorities[] = {GT_EVICT_NORMAL, GT_EVICT_FIRST, GT_EVICT_LAST, GT_EVICT_NORMAL};
	const unsigned primary = policy_field(policy, GT_PTX_POLICY_PRIMARY, 2);
	const bool unchanged = policy >> GT_PTX_POLICY_UNCHANGED, first = policy_field(policy, GT_PTX_POLICY_SECONDARY, 1);

	if (policy_field(policy, GT_PTX_POLICY_MODE, 2) < GT_PTX_POLICY_FRACTION || policy_field(policy, GT_PTX_POLICY_OTHER, 2))
		return GT_PRIORITY_NONE;
	if (is_primary(policy, address) || (primary == 0 && !unchanged && !first))
		return unchanged ? GT_EVICT_UNCHANGED : priorities[primary];
	return first ? GT_EVICT_FIRST : GT_EVICT_UNCHANGED;
}

/* ---- blocks that spin ---- */

/* Detects blocks that wait in loops whose registers change, such as a back-off counter, from their accesses. All accesses are
 * sampled for a period from time to time, or soon after a warp has polled often and repeated no state; a block spins if the second half of
 * the period has accesses to global memory, but none that the first half does not have, and no poll that found anything new. One that
 * stores, as a long computation does in the same places, must look so twice in a row, or, if it has not polled, several times. A block whose
 * kernel has no instruction by which blocks learn of each other (decode/decode.h) waits for none, and is sampled only where lanes of a
 * warp have parted, which may wait for each other, in shared memory too: by atomics, or at an mbarrier. This is a heuristic: it lets other blocks and lanes run. */

#define LOOK_MIN (UINT64_C(1) << 12) /* warp instructions of a sampling period */
#define LOOK_MAX (UINT64_C(1) << 16)
#define REST	 16 /* the time to the next period, in periods */
#define PATIENCE 16 /* a block that stores: of periods in a row in which it looks as if it spun, and then is taken to */
#define POLLED	 8  /* how many of them one counts in which it polled */

enum { RESTS, GATHERS, COMPARES };

void gt_ptx_spin_begin(struct gt_ptx_core *core)
{
	struct gt_ptx_spin *spin = &core->spin;

	spin->spins = false;
	spin->phase = RESTS;
	spin->issued = spin->asked = spin->rest = 0;
	spin->look = LOOK_MIN;
	spin->patience = PATIENCE;
	spin->next = REST * LOOK_MIN;
}

void gt_ptx_spin_ask(struct gt_ptx_core *core)
{
	struct gt_ptx_spin *spin = &core->spin;

	if (spin->phase == RESTS && spin->issued >= spin->asked)
		spin->next = spin->issued;
}

/* Adds a key; true if it was present. When the table is full no key is added. */
static bool put(struct gt_ptx_spin *spin, uint64_t hash)
{
	const uint32_t key = (uint32_t)(hash >> 32) | 1;
	size_t at = key / 2 % GT_PTX_SPIN_KEYS;

	while (spin->keys[at] && spin->keys[at] != key)
		at = (at + 1) % GT_PTX_SPIN_KEYS;
	if (spin->keys[at])
		return true;
	if (spin->n < GT_PTX_SPIN_KEYS * 3 / 4) {
		spin->keys[at] = key;
		spin->n++;
	}
	return false;
}

static void spin_note(struct gt_ptx_core *core, uint32_t line, uint64_t address, bool global, enum gt_action action)
{
	struct gt_ptx_spin *spin = &core->spin;
	bool known = put(spin, XXH3_64bits_withSeed(&address, sizeof address, line));

	if (spin->phase != COMPARES)
		return;
	spin->polls |= known && global;
	spin->looks |= known && action == GT_ATOMIC;
	spin->fresh |= !known;
	spin->stores |= action == GT_STORE;
}

void gt_ptx_spin_found(struct gt_ptx_warp *warp, uint32_t line, const void *found, uint32_t bytes, uint32_t mask)
{
	struct gt_ptx_spin *spin = &warp->core->spin;
	/* A register of 128 bits has the lanes of its halves one behind the other. */
	const uint32_t halves = bytes > GT_WARP_SIZE * sizeof(uint64_t) ? 2 : 1, size = bytes / halves / GT_WARP_SIZE;
	unsigned char active[2 * GT_WARP_SIZE * sizeof(uint64_t)];
	uint32_t n = 0;

	for (uint32_t half = 0; mask != GT_PTX_FULL && half < halves; half++)
		for (uint32_t m = mask; m; m &= m - 1, n += size)
			memcpy(active + n, (const unsigned char *)found + (half * GT_WARP_SIZE + gt_ptx_lowest(m)) * size, size);
	const bool whole = mask == GT_PTX_FULL;
	bool known = put(spin, XXH3_64bits_withSeed(whole ? found : active, whole ? bytes : n, (uint64_t)warp->index << 32 | line));
	if (spin->phase != COMPARES)
		return;
	spin->finds |= known;
	spin->fresh |= !known;
}

/* Decides at the end of a period. Once a block that stores was found to spin, it is known for that. */
static bool repeats_itself(struct gt_ptx_spin *spin)
{
	const unsigned counts = spin->finds ? POLLED : 1;

	if (!(spin->polls || (spin->looks && spin->parted)) || spin->fresh) {
		spin->patience = spin->patience ? PATIENCE : 0;
		return false;
	}
	if (!spin->stores)
		return true;
	spin->patience = spin->patience > counts ? spin->patience - counts : 0;
	return spin->patience == 0;
}

/* Whether lanes of some warp have parted, so that one may wait for another. */
static bool has_parted(const struct gt_ptx_core *core)
{
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (core->warps[w].state == GT_PTX_RUNS && core->warps[w].top->below)
			return true;
	return false;
}

bool gt_ptx_spin_look(struct gt_ptx_core *core)
{
	struct gt_ptx_spin *spin = &core->spin;

	switch (spin->phase) {
	case RESTS:
		if (!core->program->joins_blocks && !has_parted(core)) {
			spin->next = spin->issued + REST * spin->look;
			return false;
		}
		memset(spin->keys, 0, sizeof spin->keys);
		spin->n = 0;
		spin->polls = spin->looks = spin->fresh = spin->finds = spin->stores = false;
		spin->parted = has_parted(core);
		core->traced |= GT_PTX_NOTES_SPIN;
		spin->phase = GATHERS;
		spin->next = spin->issued + spin->look / 2;
		return false;
	case GATHERS:
		spin->phase = COMPARES;
		spin->next = spin->issued + spin->look / 2;
		return false;
	default:
		core->traced &= ~GT_PTX_NOTES_SPIN;
		spin->phase = RESTS;
		const bool repeats = repeats_itself(spin);
		spin->spins = repeats && spin->polls && core->program->joins_blocks;
		if (!repeats && spin->look < LOOK_MAX)
			spin->look *= 2;
		spin->rest = repeats ? 0 : spin->polls && !spin->fresh ? 1 : spin->rest < REST ? 2 * spin->rest + 1 : REST;
		spin->asked = spin->issued + spin->rest * spin->look;
		spin->next = spin->issued + (spin->spins ? spin->look : REST * spin->look);
		return repeats;
	}
}

/* ---- rows ---- */

/* Accesses that are traced: rows of the sink, or held for their order. */

/* The addresses of the active lanes. */
static void write_lanes(uint64_t *to, uint32_t mask, const uint64_t *lanes, uint64_t offset)
{
	if (mask == GT_PTX_FULL)
		for (int i = 0; i < GT_WARP_SIZE; i++)
			to[i] = lanes[i] + offset;
	else
		for (uint32_t m = mask; m; m &= m - 1)
			*to++ = lanes[gt_ptx_lowest(m)] + offset;
}

static uint64_t base_of(uint32_t mask, const uint64_t *lanes, uint64_t offset)
{
	return (lanes ? lanes[gt_ptx_lowest(mask)] : 0) + offset;
}

/* Counts the rounds of unrolled loops. True if the warp waits for earlier loads before the access. */
static bool find_wait(struct gt_ptx_warp *warp, const struct gt_ptx_access *access)
{
	if (warp->round != access->round)
		warp->rounds = 0;
	else if (access == access->round)
		warp->rounds = (warp->rounds + 1) % GT_PTX_UNROLLED;
	warp->round = access->round;
	return access->waits == GT_PTX_WAITS_ALWAYS || (access->waits == GT_PTX_WAITS_FIRST && warp->rounds == 0);
}

/* Counts an access to shared memory, of all lanes at a stride, for the column shared. Most are side by side, or of one place. */
static void count_shared_row(struct gt_ptx_warp *warp, uint64_t first, int64_t stride, unsigned bytes, bool loads)
{
	const bool plain = bytes >= 4 && stride == bytes && first % bytes == 0;

	warp->shared_accesses++;
	warp->shared_passes += plain ? bytes / 4 : gt_bank_passes_usual(GT_PTX_FULL, bytes, first, stride, NULL, loads);
}

/* The same of the lanes in `mask`. */
static void count_shared(struct gt_ptx_warp *warp, uint32_t mask, const uint64_t *lanes, uint64_t offset, int64_t stride, unsigned bytes, bool loads)
{
	uint64_t packed[GT_WARP_SIZE];

	if (stride == GT_STRIDE_LANES)
		write_lanes(packed, mask, lanes, offset);
	warp->shared_accesses++;
	warp->shared_passes += gt_bank_passes_usual(mask, bytes, base_of(mask, lanes, offset), stride, packed, loads);
}

/* The columns work and shared of an access. One to shared memory takes its share, but the next one counts from the same place. */
static uint32_t note_work(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint8_t operation, uint32_t *shared)
{
	uint64_t before = warp->issued - op->counts;
	bool to_shared = gt_op_space(operation) == GT_SHARED;
	uint32_t work = gt_work(before > warp->noted ? before - warp->noted : 0, warp->barriers,
				!to_shared && op->accesses && find_wait(warp, op->with.access));

	*shared = to_shared ? 0 : gt_shared_work(warp->shared_accesses, warp->shared_passes);
	if (!to_shared) {
		warp->noted = warp->issued;
		warp->barriers = 0;
		warp->shared_accesses = warp->shared_passes = 0;
	}
	return work;
}

GT_INLINE int hold_access(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation, uint16_t hint,
			  unsigned bytes, const uint64_t *lanes, uint64_t offset, int64_t stride, bool affine)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_affine form = {.stride = stride};
	uint64_t listed[GT_WARP_SIZE];

	if (!affine) {
		write_lanes(listed, mask, lanes, offset);
		form = gt_affine_of(mask, listed);
	}
	const size_t words = gt_ptx_words_of(mask, form.stride, form.width);
	struct gt_ptx_kept *kept = gt_ptx_hold_add(core->hold, (uint32_t)core->block, warp->index, warp->an, hint, words, core->error);

	if (!kept) {
		core->failed = true;
		return -1;
	}
	kept->base = base_of(mask, lanes, offset);
	kept->stride = form.stride;
	kept->width = form.width;
	kept->pc = op->line;
	kept->mask = mask;
	kept->op = operation;
	kept->size = (uint8_t)bytes;
	kept->shared = 0;
	kept->work = core->launch->notes_work ? note_work(warp, op, operation, &kept->shared) : 0;
	core->hold->has_work = core->launch->notes_work;
	core->hold->has_shared |= kept->shared != 0;
	if (form.width)
		*gt_ptx_kept_pitch(kept) = form.pitch;
	else if (words > 0)
		memcpy(kept + 1, listed, words * sizeof *listed);
	warp->an++;
	core->accesses++;
	return 0;
}

/* Fills the columns that all accesses have. */
static int begin_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation,
		     uint16_t hint, unsigned bytes, size_t *row)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_rows *rows = core->sink->rows;

	if (gt_sink_room(core->sink, core->error) != 0) {
		core->failed = true;
		return -1;
	}
	size_t i = rows->n++;
	rows->block[i] = (uint32_t)core->block;
	rows->warp[i] = (uint16_t)warp->index;
	rows->an[i] = warp->an++;
	rows->pc[i] = op->line;
	rows->op[i] = operation;
	rows->hint[i] = hint; /* set always: a later row of the batch may be the first with a hint */
	rows->has_hints |= hint != 0;
	if (core->launch->notes_work) {
		rows->has_work = true;
		rows->work[i] = note_work(warp, op, operation, &rows->shared[i]);
		rows->has_shared |= rows->shared[i] != 0;
	}
	rows->size[i] = (uint8_t)bytes;
	rows->mask[i] = mask;
	core->accesses++;
	*row = i;
	return 0;
}

int gt_ptx_trace(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation,
		 uint16_t hint, unsigned bytes, const uint64_t *lanes, uint64_t offset, int64_t stride)
{
	if (warp->core->hold)
		return hold_access(warp, op, mask, operation, hint, bytes, lanes, offset, stride, stride != GT_STRIDE_LANES);
	struct gt_rows *rows = warp->core->sink->rows;
	uint64_t listed[GT_WARP_SIZE];
	size_t i;
	if (begin_row(warp, op, mask, operation, hint, bytes, &i) != 0)
		return -1;
	if (stride != GT_STRIDE_LANES) {
		gt_rows_set_affine(rows, i, (struct gt_affine){.stride = stride});
		rows->base[i] = base_of(mask, lanes, offset);
		return 0;
	}
	write_lanes(listed, mask, lanes, offset);
	if (gt_rows_set_addresses(rows, i, mask, listed, warp->core->error) != 0) {
		rows->n--; /* drop the row, whose addresses are missing */
		warp->core->failed = true;
		return -1;
	}
	return 0;
}

/* The same for all lanes at a stride, lane 0 at `first`. */
static int trace_whole(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint8_t operation, uint16_t hint, unsigned bytes,
		       uint64_t first, int64_t stride)
{
	return warp->core->hold ? hold_access(warp, op, GT_PTX_FULL, operation, hint, bytes, NULL, first, stride, true)
				: gt_ptx_trace(warp, op, GT_PTX_FULL, operation, hint, bytes, NULL, first, stride);
}

/* ---- rows of an access ---- */

/* What an access is in the trace: its rows, their operation and their hints. */

const unsigned char gt_ptx_traced_space[GT_PTX_SPACES] = {
	[GT_PTX_GENERIC] = GT_GLOBAL, [GT_PTX_GLOBAL] = GT_GLOBAL,  [GT_PTX_SHARED] = GT_SHARED,
	[GT_PTX_LOCAL] = GT_LOCAL,    [GT_PTX_PARAM] = GT_CONSTANT, [GT_PTX_CONST] = GT_CONSTANT,
};

/* From a lane's address to its place in local memory. */
static uint64_t local_offset(const struct gt_ptx_warp *warp, const struct gt_ptx_access *access, const struct gt_ptx_reach *reach)
{
	return reach->offset - (access->space == GT_PTX_GENERIC ? GT_PTX_LOCAL_BASE : 0) + (access->in_frame ? warp->local_at : 0);
}

/* Local memory is interleaved by words over the lanes of a warp, as in hardware, so an access of more than 4 bytes becomes one
 * access for each word. Words of lanes at a stride are at a stride, too. */
static int trace_local(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
		       uint8_t operation, uint16_t hint, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_core *core = warp->core;
	uint64_t words = core->local_words, lanes[GT_WARP_SIZE];
	uint64_t base =
		GT_PTX_LOCAL_BASE + (core->block * core->n_warps + warp->index) * words * 4 * GT_WARP_SIZE;
	uint64_t from = local_offset(warp, op->with.access, reach);
	const bool affine = stride != GT_STRIDE_LANES && stride % 4 == 0;
	const int64_t apart = !affine ? GT_STRIDE_LANES : mask & (mask - 1) ? stride * GT_WARP_SIZE + 4 : 0;
	unsigned size = bytes < 4 ? bytes : 4;

	for (unsigned word = 0; word < (bytes + 3) / 4; word++) {
		for (unsigned lane = affine ? gt_ptx_lowest(mask) : 0, end = affine ? lane + 1 : GT_WARP_SIZE; lane < end; lane++) {
			const uint64_t at = reach->lanes[lane] + from + 4 * word;
			lanes[lane] = base + at / 4 * 4 * GT_WARP_SIZE + lane * 4 + at % 4;
		}
		if (gt_ptx_trace(warp, op, mask, operation, hint, size, lanes, 0, affine ? apart : gt_ptx_stride_plain(lanes, mask)) != 0)
			return -1;
	}
	return 0;
}

/* The priority in L2 from the lowest lane's cache policy and address. */
static int add_policy(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint64_t address, uint16_t *hint)
{
	unsigned lane = gt_ptx_lowest(mask);
	uint64_t policy = ((const uint64_t *)gt_ptx_lanes(warp, op->with.access->policy))[lane];
	enum gt_priority priority = policy_priority(policy, address);

	if (priority == GT_PRIORITY_NONE) {
		gt_ptx_fault(warp, op, lane, "0x%" PRIx64 " is no cache policy that is known", policy);
		return -1;
	}
	*hint = (uint16_t)((*hint & ~(7U << 3)) | (unsigned)priority << 3);
	return 0;
}

GT_INLINE bool is_cached(enum gt_space space)
{
	return space == GT_GLOBAL || space == GT_LOCAL;
}

/* What an access to a space is in the trace, but for what a cache policy says. */
GT_INLINE void name_plain(const struct gt_ptx_access *access, enum gt_space space, uint8_t *operation, uint16_t *hint)
{
	enum gt_operator said = access->scoped && space != GT_GLOBAL ? GT_OPERATOR_NONE : (enum gt_operator)access->operation;

	*operation = gt_op((enum gt_action)access->action, space, said);
	*hint = is_cached(space) ? access->hint : 0;
}

/* The same with it, for the lowest lane's address; -1 after a fault. */
GT_INLINE int name_access(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, enum gt_space space,
			  uint64_t address, uint8_t *operation, uint16_t *hint)
{
	const struct gt_ptx_access *access = op->with.access;

	name_plain(access, space, operation, hint);
	return access->policy && is_cached(space) ? add_policy(warp, op, mask, address, hint) : 0;
}

struct gt_ptx_kept gt_ptx_row_of(const struct gt_ptx_op *op)
{
	const struct gt_ptx_access *access = op->with.access;
	struct gt_ptx_kept row = {.pc = op->line, .mask = GT_PTX_FULL, .size = (uint8_t)(access->size * access->n)};

	name_plain(access, (enum gt_space)gt_ptx_traced_space[access->space], &row.op, &row.hint);
	return row;
}

/* Lanes that are in one space. */
static int trace_lanes(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
		       enum gt_ptx_space in, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	enum gt_space space = (enum gt_space)gt_ptx_traced_space[in];
	uint8_t operation;
	uint16_t hint;

	const uint64_t first = reach->lanes[gt_ptx_lowest(mask)] + reach->offset;

	if (warp->core->traced & GT_PTX_NOTES_SPIN)
		spin_note(warp->core, op->line, first, space == GT_GLOBAL, (enum gt_action)access->action);
	if (warp->core->traced & GT_PTX_NOTES_WRITTEN)
		gt_ptx_look_at_reach(warp, op, mask, reach, bytes);
	if (warp->core->traced & GT_PTX_NOTES_WORK && space == GT_SHARED)
		count_shared(warp, mask, reach->lanes, reach->offset, stride, bytes, access->action == GT_LOAD);
	if (access->untraced || !(warp->core->traced >> space & 1))
		return 0;
	if (name_access(warp, op, mask, space, first, &operation, &hint) != 0)
		return -1;
	if (space == GT_LOCAL)
		return trace_local(warp, op, mask, reach, operation, hint, stride, bytes);
	uint64_t offset = reach->offset;
	if (in == GT_PTX_SHARED && access->space == GT_PTX_GENERIC)
		offset -= GT_PTX_SHARED_BASE;
	return gt_ptx_trace(warp, op, mask, operation, hint, bytes, reach->lanes, offset, stride);
}

int gt_ptx_trace_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		       const struct gt_ptx_reach *reach, int64_t stride, unsigned bytes)
{
	if (reach->host || op->with.access->space != GT_PTX_GENERIC)
		return trace_lanes(warp, op, mask, reach, reach->space, stride, bytes);
	while (mask) {
		const enum gt_ptx_space space = (enum gt_ptx_space)reach->spaces[gt_ptx_lowest(mask)];
		const uint32_t part = gt_ptx_lanes_in(reach, mask, space);
		if (trace_lanes(warp, op, part, reach, space, gt_ptx_stride_plain(reach->lanes, part), bytes) != 0)
			return -1;
		mask &= ~part;
	}
	return 0;
}

int gt_ptx_trace_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	enum gt_space space = (enum gt_space)gt_ptx_traced_space[access->space];
	uint8_t operation;
	uint16_t hint;

	if (warp->core->traced & GT_PTX_NOTES_SPIN)
		spin_note(warp->core, op->line, first, space == GT_GLOBAL, (enum gt_action)access->action);
	if (warp->core->traced & GT_PTX_NOTES_WRITTEN)
		gt_ptx_look_at_row(warp, op, first, stride, bytes);
	if (warp->core->traced & GT_PTX_NOTES_WORK && space == GT_SHARED)
		count_shared_row(warp, first, stride, bytes, access->action == GT_LOAD);
	if (access->untraced || !(warp->core->traced >> space & 1))
		return 0;
	if (name_access(warp, op, GT_PTX_FULL, space, first, &operation, &hint) != 0)
		return -1;
	return trace_whole(warp, op, operation, hint, bytes, first, stride);
}

/* prefetch, discard, applypriority: rows of a byte a lane, of which stages take the whole lines. What
 * is prefetched outside of all allocations is left alone, as is what is no global memory. */
const struct gt_ptx_op *gt_ptx_touch_lines(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	bool prefetches = gt_hint_action(access->hint) <= GT_PREFETCH_L2;
	struct gt_ptx_reach reach = {.lanes = gt_ptx_lanes(warp, access->address)};
	uint32_t inside = 0;

	gt_ptx_widen(warp, access, &reach);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t address = reach.lanes[lane] + reach.offset;
		bool found = gt_ptx_at(warp->core->memory, address, 1);
		if (!prefetches && (!found || address % GT_LINE != 0))
			return gt_ptx_fault(warp, op, lane, "0x%" PRIx64 " is no line of global memory: a multiple of %d expected",
					    address, GT_LINE);
		inside |= (uint32_t)found << lane;
	}
	if (!inside || !(warp->core->traced >> GT_GLOBAL & 1))
		return op + 1;
	return gt_ptx_trace(warp, op, inside, gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE), access->hint, 1, reach.lanes,
			    reach.offset, gt_ptx_stride_plain(reach.lanes, inside)) != 0
		       ? NULL
		       : op + 1;
}
