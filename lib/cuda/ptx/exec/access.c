/* SPDX-License-Identifier: MIT */
/* Where the lanes of a warp access memory when the fast path (access.h) does not know it: the variables of local and shared memory,
 * accesses out of bounds, generic addresses, and faults. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "stream/hint.h"

/* A lane's byte `at`, which is below warp->local_stride. */
static inline unsigned char *local_place(const struct gt_ptx_warp *warp, unsigned lane, uint64_t at)
{
	return warp->local + lane * warp->local_stride + at;
}

/* ---- variables of local memory ---- */

/* The variable that begins nearest below an address, or at it; NULL if there is none. *begin: where. Callers' frames lie below. */
static const struct gt_ptx_local *find(const struct gt_ptx_warp *warp, uint64_t at, uint64_t *begin)
{
	for (const struct gt_ptx_frame *frame = warp->frame; frame; frame = frame->caller) {
		if (frame->stack && (*begin = frame->local + frame->stack->most.at) <= at)
			return &frame->stack->most;
		for (size_t i = frame->code->n_locals; i-- > 0;) {
			*begin = frame->local + frame->code->locals[i].at;
			if (*begin <= at)
				return &frame->code->locals[i];
		}
	}
	return NULL;
}

/* The same for an access that the running path's last one does not settle. */
static bool find_local(const struct gt_ptx_warp *warp, uint64_t at, uint64_t bytes)
{
	uint64_t begin;
	const struct gt_ptx_local *local = find(warp, at, &begin);

	if (!local || at - begin > local->bytes || bytes > local->bytes - (at - begin))
		return false;
	warp->frame->low = begin;
	warp->frame->high = begin + local->bytes;
	return true;
}

/* Whether [at, at + bytes) of local memory, as the running path sees it, lies in one variable, which is tried first from now on. */
static inline bool in_local(const struct gt_ptx_warp *warp, uint64_t at, uint64_t bytes)
{
	const struct gt_ptx_frame *frame = warp->frame;

	return (at >= frame->low && at <= frame->high && bytes <= frame->high - at) || find_local(warp, at, bytes);
}

/* "outside every variable; nearest is 'buffer', 64 bytes at 0x0", and the like; returns `text`. */
#define LOCAL_TEXT 160
static const char *local_describe(const struct gt_ptx_warp *warp, uint64_t at, char text[LOCAL_TEXT])
{
	uint64_t begin;
	const struct gt_ptx_local *local = find(warp, at, &begin);

	if (local)
		snprintf(text, LOCAL_TEXT, "outside every variable; nearest is '%.80s', %" PRIu32 " bytes at 0x%" PRIx64,
			 local->name, local->bytes, begin);
	else
		snprintf(text, LOCAL_TEXT, "no function under way has variables");
	return text;
}

/* ---- variables of shared memory ---- */

static bool is_dynamic(const struct gt_ptx_variable *variable)
{
	return variable->external || variable->bytes == 0;
}

bool gt_ptx_find_shared(const struct gt_ptx_program *program, size_t i, uint64_t dynamic, struct gt_ptx_shared_array *array)
{
	const struct gt_ptx_shared_variable *shared = &program->shared[i];
	bool named = false;
	unsigned same = 0;

	for (size_t j = 0; j < i; j++) {
		const struct gt_ptx_variable *earlier = program->shared[j].variable;
		named |= is_dynamic(earlier);
		same += gt_ptx_plain_same(earlier->name, shared->variable->name);
	}
	gt_ptx_variable_name(shared->variable->name, same, array->name);
	array->at = shared->offset;
	array->bytes = !is_dynamic(shared->variable) ? shared->variable->bytes : named ? 0 : dynamic;
	return array->bytes > 0;
}

/* "; nearest is 'tile', 4224 bytes at 0x0" of an address, or "" if the block has no variable; returns `text`. */
#define SHARED_TEXT 160
static const char *shared_describe(const struct gt_ptx_core *core, uint64_t at, char text[SHARED_TEXT])
{
	struct gt_ptx_shared_array array, nearest = {.bytes = 0};
	uint32_t least = UINT32_MAX;

	/* Distances modulo 2^32: an address below 0 is near the first variable. */
	for (size_t i = 0; i < core->program->n_shared; i++) {
		if (!gt_ptx_find_shared(core->program, i, core->launch->dynamic_shared, &array))
			continue;
		uint32_t before = (uint32_t)(array.at - at), behind = (uint32_t)(at - array.at - array.bytes);
		uint32_t distance = before < behind ? before : behind;
		if (distance >= least)
			continue;
		nearest = array;
		least = distance;
	}
	text[0] = '\0';
	if (nearest.bytes > 0)
		snprintf(text, SHARED_TEXT, "; nearest is '%s', %" PRIu64 " bytes at 0x%" PRIx64, nearest.name,
			 nearest.bytes, nearest.at);
	return text;
}

/* ---- accesses out of bounds ---- */

/* Accesses outside of every allocation that --check permits: all of them, redirected to bytes of the block's own, or those that
 * hardware permits, within the pages that it maps. */

const char *const gt_ptx_check_names[GT_PTX_CHECKS] = {"page", "list", "fault"};

static void count(const struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t address)
{
	struct gt_ptx_access *access = op->with.access;

	warp->core->ran->out_of_bounds = true;
	if (access->outside++ == 0) {
		access->outside_address = address;
		access->outside_line = op->line;
	}
}

/* The same in local memory, outside of its variables but within the bytes of the thread: with `page`, hardware has them. */
static unsigned char *local_out_of_bounds(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t at)
{
	if (warp->core->launch->check != GT_PTX_CHECK_PAGE)
		return NULL;
	count(warp, op, GT_PTX_LOCAL_BASE + at);
	return local_place(warp, lane, at);
}

/* Blocks may run in several threads. */
static unsigned char *mapped_at(struct gt_ptx_memory *memory, uint64_t address, unsigned bytes)
{
	static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mapping);
	unsigned char *found = gt_ptx_mapped_at(memory, address, bytes);
	pthread_mutex_unlock(&mapping);
	return found;
}

/* The place of a lane's access outside of every allocation. With `page`, memory that hardware would have mapped there. With `list`,
 * scratch bytes: loads read the memory that exists there, else 0, and stores are lost. NULL: a fault. */
static unsigned char *place_out_of_bounds(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			    unsigned bytes)
{
	struct gt_ptx_core *core = warp->core;
	enum gt_ptx_check check = core->launch->check;
	unsigned char *nowhere = core->nowhere[lane];

	if (check == GT_PTX_CHECK_PAGE)
		nowhere = mapped_at(core->memory, address, bytes);
	if (check == GT_PTX_CHECK_FAULT || check == GT_PTX_MEMCHECK || bytes > GT_PTX_NOWHERE || !nowhere)
		return NULL;
	count(warp, op, address);
	if (check == GT_PTX_CHECK_PAGE)
		return nowhere;
	memset(nowhere, 0, GT_PTX_NOWHERE);
	for (unsigned i = 0; i < bytes; i++) {
		const unsigned char *byte = gt_ptx_at(core->memory, address + i, 1);
		if (byte)
			nowhere[i] = *byte;
	}
	return nowhere;
}

/* Whether it reports the next fault of the instruction no more. */
static bool is_told(const struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	return warp->core->launch->check == GT_PTX_MEMCHECK && op->with.access->told;
}

/* Reports the fault unless one of its instruction was; false: it stays one. */
bool gt_ptx_go_on(struct gt_ptx_core *core, bool *told)
{
	struct gt_ptx_notes *notes = core->machine->notes;

	if (core->launch->check != GT_PTX_MEMCHECK)
		return false;
	if (!*told && notes) {
		notes->faults++;
		if (notes->fault)
			notes->fault(notes->context, core->error->text);
	}
	*told = true;
	core->failed = core->ran->fault = false;
	return true;
}

/* With GT_PTX_MEMCHECK, after a fault of an access: reports it if it is the first of the instruction, and returns scratch bytes,
 * so that loads give 0 and stores are lost. NULL otherwise. */
static unsigned char *pass_over(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane)
{
	struct gt_ptx_access *access = op->with.access;

	if (!gt_ptx_go_on(warp->core, &access->told))
		return NULL;
	access->outside++;
	return memset(warp->core->nowhere[lane], 0, GT_PTX_NOWHERE);
}

bool gt_ptx_leave_out(struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	return gt_ptx_go_on(warp->core, &op->with.call->told);
}

bool gt_ptx_ends_at_fault(const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran,
			  const struct gt_error *error)
{
	if (launch->check != GT_PTX_MEMCHECK || !ran->fault)
		return false;
	if (machine->notes)
		gt_ptx_note_end(machine->notes, error->text);
	return true;
}

static void tell(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, const struct gt_ptx_access *access,
		 const char *rest)
{
	static const char *const actions[] = {"load", "store", "atomic", "atomic"};
	const bool is_local = access->outside_address - GT_PTX_LOCAL_BASE < GT_PTX_WINDOW;
	const char *file;
	unsigned line;
	char place[128] = "", text[640];

	if (gt_ptx_source_place(machine->module, access->outside_line, &file, &line))
		snprintf(place, sizeof place, " (%.100s:%u)", file, line);
	snprintf(text, sizeof text,
		 "kernel %.128s, PTX line %u, pc 0x%x%s: %" PRIu64 " thread accesses outside of every %s, the first a %s at %s0x%" PRIx64 "%s",
		 kernel->name, access->outside_line, access->outside_line, place, access->outside, is_local ? "variable in local memory" : "allocation",
		 actions[access->action], is_local ? "offset " : "", access->outside_address - (is_local ? GT_PTX_LOCAL_BASE : 0), rest);
	machine->notes->say(machine->notes->context, text);
}

static void count_faults(struct gt_ptx_machine *machine, const struct gt_ptx_access *access)
{
	if (machine->notes)
		machine->notes->accesses += access->outside;
}

void gt_ptx_report_out_of_bounds(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check)
{
	for (size_t f = 0; f < machine->module->n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			struct gt_ptx_access *access = program->codes[f]->accesses[i];
			if (check == GT_PTX_MEMCHECK) {
				count_faults(machine, access);
			} else if (access->outside > 0 && machine->notes && !access->told) {
				tell(machine, program->kernel, access, check == GT_PTX_CHECK_PAGE ? ", where hardware has memory" : "");
				access->told = true;
			}
			access->outside = 0;
		}
}

int gt_ptx_out_of_bounds_take(struct gt_ptx_out_of_bounds *outside, const struct gt_ptx_program *program, size_t n_functions, struct gt_error *error)
{
	outside->n = 0;
	for (size_t f = 0; f < n_functions; f++) {
		const struct gt_ptx_code *code = program->codes[f];
		if (!code || code->n_accesses == 0)
			continue;
		struct gt_ptx_out_of_bounds_count *counts = gt_resized(outside->counts, outside->n + code->n_accesses, sizeof *counts);
		if (!counts)
			return gt_fail_memory(error, "accesses outside of every allocation");
		outside->counts = counts;
		for (size_t i = 0; i < code->n_accesses; i++) {
			struct gt_ptx_access *access = code->accesses[i];
			counts[outside->n++] = (struct gt_ptx_out_of_bounds_count){access->outside, access->outside_address, access->outside_line};
			access->outside = 0;
		}
	}
	return 0;
}

void gt_ptx_out_of_bounds_add(const struct gt_ptx_out_of_bounds *outside, const struct gt_ptx_program *program, size_t n_functions)
{
	const struct gt_ptx_out_of_bounds_count *count = outside->counts;

	for (size_t f = 0; f < n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++, count++) {
			struct gt_ptx_access *sum = program->codes[f]->accesses[i];
			if (sum->outside == 0) {
				sum->outside_address = count->address;
				sum->outside_line = count->line;
			}
			sum->outside += count->n;
		}
}

/* ---- places of lanes ---- */

static const char *const space_names[GT_PTX_SPACES] = {
	[GT_PTX_GENERIC] = "global", [GT_PTX_GLOBAL] = "global",   [GT_PTX_SHARED] = "shared",
	[GT_PTX_LOCAL] = "local",    [GT_PTX_PARAM] = "parameter", [GT_PTX_CONST] = "constant",
};

/* The space of a generic address, and the address within that space. */
static enum gt_ptx_space space_of(uint64_t address, uint64_t *within)
{
	static const struct {
		uint64_t base;
		enum gt_ptx_space space;
	} windows[] = {
		{GT_PTX_SHARED_BASE, GT_PTX_SHARED},
		{GT_PTX_LOCAL_BASE, GT_PTX_LOCAL},
		{GT_PTX_PARAMETER_BASE, GT_PTX_PARAM},
	};

	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
		if (address - windows[i].base < GT_PTX_WINDOW) {
			*within = address - windows[i].base;
			return windows[i].space;
		}
	*within = address;
	return GT_PTX_GLOBAL;
}

/* Finds the allocation that contains [low, high), which will be tried first from now on; NULL if there is none. */
static unsigned char *reach_global(struct gt_ptx_core *core, struct gt_ptx_access *access, uint64_t low,
				   uint64_t high)
{
	uint64_t begin, end;

	if (!gt_ptx_bounds(core->memory, low, high - low, &begin, &end))
		return NULL;
	access->low = begin;
	access->high = end;
	access->host = core->memory->host + (begin - GT_PTX_GLOBAL_BASE);
	return access->host + (low - access->low);
}

unsigned char *gt_ptx_place_at(const struct gt_ptx_warp *warp, unsigned lane, uint64_t address, uint64_t bytes)
{
	const struct gt_ptx_core *core = warp->core;
	uint64_t at;

	switch (space_of(address, &at)) {
	case GT_PTX_SHARED: return gt_ptx_cluster_place(warp->core, at, bytes);
	case GT_PTX_LOCAL:
		return at <= warp->local_stride && bytes <= warp->local_stride - at
			       ? warp->local + lane * warp->local_stride + at
			       : NULL;
	case GT_PTX_PARAM:
		return at <= core->parameter_bytes && bytes <= core->parameter_bytes - at ? core->parameters + at : NULL;
	default:
		gt_ptx_wrote(core->memory, at, bytes);
		return gt_ptx_at(core->memory, at, bytes);
	}
}

static const char *action_name(const struct gt_ptx_access *access)
{
	static const char *const names[] = {"load", "store", "atomic", "atomic"};

	return names[access->action];
}

static void fault_in_cluster(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			     unsigned bytes)
{
	const uint64_t rank = (address >> GT_PTX_CLUSTER_SHIFT) - 1, at = address % GT_PTX_CLUSTER_STEP;
	const char *action = action_name(op->with.access);

	if (!op->with.access->remote)
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of the block's own shared memory: the address is one of .shared::cluster",
			     action, bytes, address);
	else if (!gt_ptx_cluster_peer(warp->core, rank))
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of the shared memory of block %" PRIu64 " of the cluster: it has ended, or there is none",
			     action, bytes, at, rank);
	else
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of the shared memory of block %" PRIu64 " of the cluster: it has %" PRIu64 " bytes",
			     action, bytes, at, rank, warp->core->shared_bytes);
}

/* What helps a program that is as wrong on a GPU, and does not find out there. */
static const char *hint_of(const struct gt_ptx_core *core, uint64_t address, unsigned bytes)
{
	if (gt_ptx_is_of_host(address))
		return "; that is memory of the host, which kernels reach if CUDA allocated it, or by the device's pointer if it was registered";
	return core->launch->check == GT_PTX_CHECK_FAULT && gt_ptx_is_mapped(core->memory, address, bytes)
		       ? "; a GPU has memory there: --check page lets it pass"
		       : "";
}

static void fault_outside(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
			  uint64_t address, enum gt_ptx_space space, unsigned bytes)
{
	const struct gt_ptx_core *core = warp->core;
	const struct gt_ptx_allocation *near = gt_ptx_nearest(core->memory, address), *denied = gt_ptx_denied(core->memory, address);
	const char *action = action_name(op->with.access);
	union { char heap[GT_PTX_HEAP_TEXT], local[LOCAL_TEXT], shared[SHARED_TEXT]; } text;

	if (space == GT_PTX_SHARED && address / GT_PTX_CLUSTER_STEP - 1 < GT_PTX_CLUSTER_BLOCKS)
		fault_in_cluster(warp, op, lane, address, bytes);
	else if (space == GT_PTX_SHARED)
		gt_ptx_fault(warp, op, lane,
			     "%s of %u bytes at 0x%" PRIx64 " of shared memory: a block has %" PRIu64
			     " bytes%s",
			     action, bytes, address, core->shared_bytes, shared_describe(core, address, text.shared));
	else if (space == GT_PTX_LOCAL)
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of local memory: %s", action, bytes, address,
			     local_describe(warp, address, text.local));
	else if (space == GT_PTX_PARAM)
		gt_ptx_fault(warp, op, lane,
			     "%s of %u bytes at 0x%" PRIx64 " of the parameters: there are %" PRIu64
			     " bytes to load",
			     action, bytes, address, core->parameter_bytes);
	else if (gt_ptx_in_heap(core->memory, address))
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " %s", action, bytes, address,
			     gt_ptx_heap_describe(core->memory, address, text.heap));
	else if (denied)
		gt_ptx_fault(warp, op, lane,
			     "%s of %u bytes at 0x%" PRIx64 ": '%s' is memory of device %u, to which device %u has no peer access",
			     action, bytes, address, denied->name, denied->owner, core->launch->device);
	else if (near && near->freed)
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 ": '%s', %" PRIu64 " bytes at 0x%" PRIx64 ", was freed",
			     action, bytes, address, near->name, near->bytes, near->address);
	else if (near)
		gt_ptx_fault(warp, op, lane,
			     "%s of %u bytes at 0x%" PRIx64 ": outside every allocation; nearest is "
			     "'%s', %" PRIu64 " bytes at 0x%" PRIx64 "%s",
			     action, bytes, address, near->name, near->bytes, near->address, hint_of(core, address, bytes));
	else
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 ": nothing is allocated%s", action,
			     bytes, address, hint_of(core, address, bytes));
}

/* After a fault: NULL, or where the access goes instead. */
static unsigned char *refuse(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t at,
			     enum gt_ptx_space space, unsigned bytes, bool misaligned)
{
	if (is_told(warp, op))
		return pass_over(warp, op, lane);
	if (misaligned)
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of %s memory: not a multiple of %u",
			     action_name(op->with.access), bytes, at, space_names[space], bytes);
	else
		fault_outside(warp, op, lane, at, space, bytes);
	return pass_over(warp, op, lane);
}

/* The place of one lane's bytes, or NULL after a fault. */
static unsigned char *find_lane(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				uint64_t address, unsigned bytes, enum gt_ptx_space *found)
{
	struct gt_ptx_access *access = op->with.access;
	struct gt_ptx_core *core = warp->core;
	enum gt_ptx_space space = access->space;
	uint64_t at = address;
	unsigned char *host = NULL;

	if (space == GT_PTX_GENERIC)
		space = space_of(address, &at);
	if (access->in_frame)
		at += warp->local_at;
	*found = space;
	if ((at & (bytes - 1)) != 0 && space != GT_PTX_PARAM && !access->untraced)
		return refuse(warp, op, lane, at, space, bytes, true);
	uint64_t limit = space == GT_PTX_SHARED	 ? core->shared_bytes
			 : space == GT_PTX_LOCAL ? warp->local_stride
						 : core->parameter_bytes;
	bool inside = at <= limit && bytes <= limit - at;
	if (space == GT_PTX_SHARED && inside)
		host = core->shared + at;
	else if (space == GT_PTX_SHARED && access->remote)
		host = gt_ptx_cluster_place(core, at, bytes);
	else if (space == GT_PTX_LOCAL && in_local(warp, at, bytes))
		host = local_place(warp, lane, at);
	else if (space == GT_PTX_LOCAL && inside)
		host = local_out_of_bounds(warp, op, lane, at);
	else if (space == GT_PTX_PARAM && inside && access->action == GT_LOAD)
		host = core->parameters + at;
	else if (space == GT_PTX_GLOBAL || space == GT_PTX_CONST)
		host = reach_global(core, access, at, at + bytes);
	if (!host && (space == GT_PTX_GLOBAL || space == GT_PTX_CONST))
		host = place_out_of_bounds(warp, op, lane, at, bytes);
	return host ? host : refuse(warp, op, lane, at, space, bytes, false);
}

/* The variable of local memory at `at`, whose address is `base` more than its place. */
void gt_ptx_window_local(struct gt_ptx_warp *warp, uint64_t base, uint64_t at, unsigned bytes, struct gt_ptx_reach *reach,
			 uint64_t *high)
{
	if ((base & (bytes - 1)) != 0 || !in_local(warp, at - base, bytes))
		return;
	reach->low = warp->frame->low + base;
	*high = warp->frame->high + base;
	reach->host = local_place(warp, 0, warp->frame->low);
	reach->apart = warp->local_stride;
	reach->space = GT_PTX_LOCAL;
}

void gt_ptx_window_generic(struct gt_ptx_warp *warp, const struct gt_ptx_access *access, uint64_t first, unsigned bytes,
			   struct gt_ptx_reach *reach, uint64_t *high)
{
	uint64_t within;

	switch (space_of(first, &within)) {
	case GT_PTX_SHARED:
		reach->low = GT_PTX_SHARED_BASE;
		*high = GT_PTX_SHARED_BASE + warp->core->shared_bytes;
		reach->host = warp->core->shared;
		reach->space = GT_PTX_SHARED;
		break;
	case GT_PTX_LOCAL: gt_ptx_window_local(warp, GT_PTX_LOCAL_BASE, first, bytes, reach, high); break;
	case GT_PTX_PARAM:
		if (access->action != GT_LOAD)
			break;
		reach->low = GT_PTX_PARAMETER_BASE;
		*high = GT_PTX_PARAMETER_BASE + warp->core->parameter_bytes;
		reach->host = warp->core->parameters;
		reach->space = GT_PTX_PARAM;
		break;
	default: break;
	}
}

/* Whether a place is that of an address in the allocation that was found last: not of local memory, nor outside of all. */
static bool is_allocated(const struct gt_ptx_access *access, uint64_t address, unsigned bytes, const unsigned char *place)
{
	return address >= access->low && address < access->high && bytes <= access->high - address &&
	       place == access->host + (address - access->low);
}

int gt_ptx_reach_slow(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
		      struct gt_ptx_reach *reach, unsigned bytes)
{
	enum gt_ptx_space space;
	unsigned last = gt_ptx_lowest(mask);

	reach->host = NULL;
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		if (lane != last && reach->lanes[lane] == reach->lanes[last] &&
		    is_allocated(op->with.access, reach->lanes[lane] + reach->offset, bytes, reach->where[last])) {
			reach->where[lane] = reach->where[last]; /* as where all lanes look at one object */
			reach->spaces[lane] = reach->spaces[last];
			continue;
		}
		reach->where[lane] =
			find_lane(warp, op, lane, reach->lanes[lane] + reach->offset, bytes, &space);
		if (!reach->where[lane])
			return -1;
		reach->spaces[lane] = (unsigned char)space;
		if (m == mask)
			reach->space = space;
		last = lane;
	}
	return 0;
}

/* ---- reads of what nothing has written, with GT_PTX_MEMCHECK ---- */

/* The bits of a space that say which bytes were written, and *at in it; NULL: nothing is asked of them. */
static unsigned char *written_in(struct gt_ptx_core *core, enum gt_ptx_space space, uint64_t *at, unsigned bytes)
{
	if (space == GT_PTX_GLOBAL) {
		*at -= GT_PTX_GLOBAL_BASE;
		return *at < core->memory->reserved && bytes <= core->memory->reserved - *at ? core->memory->written : NULL;
	}
	if (space != GT_PTX_SHARED)
		return NULL;
	if (*at >= GT_PTX_CLUSTER_STEP)
		core = gt_ptx_cluster_peer(core, (*at >> GT_PTX_CLUSTER_SHIFT) - 1);
	*at %= GT_PTX_CLUSTER_STEP;
	return core && *at < core->shared_bytes && bytes <= core->shared_bytes - *at ? core->shared_written : NULL;
}

static void tell_unwritten(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t at, enum gt_ptx_space space,
			   unsigned bytes)
{
	struct gt_ptx_access *access = op->with.access;
	const struct gt_ptx_allocation *near = space == GT_PTX_GLOBAL ? gt_ptx_nearest(warp->core->memory, at) : NULL;
	char text[SHARED_TEXT];

	access->outside++;
	if (access->told_unwritten)
		return;
	if (space == GT_PTX_SHARED)
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 " of shared memory, where nothing was written%s", action_name(access),
			     bytes, at, shared_describe(warp->core, at % GT_PTX_CLUSTER_STEP, text));
	else
		gt_ptx_fault(warp, op, lane, "%s of %u bytes at 0x%" PRIx64 ", where nothing was written, in '%s', %" PRIu64 " bytes at 0x%" PRIx64,
			     action_name(access), bytes, at, near ? near->name : "", near ? near->bytes : 0, near ? near->address : 0);
	gt_ptx_go_on(warp->core, &access->told_unwritten);
}

/* One that was written in part may have gaps that nobody uses. */
static void look_at(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	enum gt_ptx_space space = access->space;
	uint64_t at = address;

	if (space == GT_PTX_GENERIC)
		space = space_of(address, &at);
	const uint64_t named = at;
	unsigned char *bits = written_in(warp->core, space, &at, bytes);
	if (!bits)
		return;
	if (access->action != GT_STORE && !access->overwrites && !gt_ptx_bits_any(bits, at, bytes))
		tell_unwritten(warp, op, lane, named, space, bytes);
	if (access->action != GT_LOAD)
		gt_ptx_bits_mark(bits, at, bytes);
}

static bool is_looked_at(const struct gt_ptx_access *access)
{
	return !access->untraced && !access->in_frame && gt_hint_action(access->hint) == GT_ACCESS_DATA;
}

void gt_ptx_look_at_reach(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach,
			  unsigned bytes)
{
	for (uint32_t m = is_looked_at(op->with.access) ? mask : 0; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		/* What is out of bounds was found to be. */
		if (reach->host || reach->where[lane] != warp->core->nowhere[lane])
			look_at(warp, op, lane, reach->lanes[lane] + reach->offset, bytes);
	}
}

void gt_ptx_look_at_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride, unsigned bytes)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned all = GT_WARP_SIZE * bytes;
	uint64_t at = first;

	if (!is_looked_at(access))
		return;
	unsigned char *bits = stride == bytes ? written_in(warp->core, access->space == GT_PTX_GENERIC ? GT_PTX_GLOBAL : access->space, &at, all) : NULL;
	if (bits && access->action == GT_STORE)
		gt_ptx_bits_mark(bits, at, all);
	else if (!bits || access->action != GT_LOAD || !gt_ptx_bits_all(bits, at, all))
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			look_at(warp, op, lane, first + (uint64_t)stride * lane, bytes);
}
