/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "cuda/ptx/exec/gaps.h"
#include "cuda/ptx/exec/heap.h"
#include "cuda/ptx/exec/nested.h"
#include "cuda/ptx/exec/pagetable.h"
#include "cuda/ptx/exec/texture.h"
#include "cuda/ptx/exec/window.h"

int gt_ptx_memory_open(struct gt_ptx_memory *memory, uint64_t limit, struct gt_error *error)
{
	memset(memory, 0, sizeof *memory);
	/* Freed room is used again, but not always whole: twice the limit leaves room for gaps. */
	if (limit == 0 || limit > GT_PTX_WINDOW)
		return gt_fail(error, "device memory of %" PRIu64 " bytes: from 1 to %" PRIu64 " expected",
			       limit, GT_PTX_WINDOW);
	uint64_t reserved = limit < GT_PTX_WINDOW / 2 ? gt_ptx_in_pages(2 * limit) : GT_PTX_WINDOW;
	if (gt_ptx_window_open(memory, reserved) != 0)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", limit);
	memory->limit = limit;
	memory->heap_bytes = GT_PTX_HEAP_BYTES;
	memory->pending = GT_PTX_PENDING;
	if (gt_ptx_pages_open(memory) == 0)
		return 0;
	gt_ptx_memory_close(memory);
	return gt_fail_memory(error, "the table of device memory");
}

void gt_ptx_hold_back(struct gt_ptx_memory *memory)
{
	memory->held_max = memory->limit / GT_PTX_HELD_PART;
}

/* The gap behind an allocation, or before the first: where it begins, and its bytes. Allocations never
 * touch, so that one step beyond the end of one is no step into the next. */
static uint64_t gap_behind(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before, uint64_t *address)
{
	const struct gt_ptx_allocation *after = before ? before->after : memory->first;
	uint64_t end = after ? after->address : GT_PTX_GLOBAL_BASE + memory->reserved;

	*address = before ? (before->address + before->bytes + GT_PTX_ALIGNMENT) / GT_PTX_ALIGNMENT * GT_PTX_ALIGNMENT : GT_PTX_GLOBAL_BASE;
	return end > *address ? end - *address : 0;
}

/* The first gap that fits: its address, and what lies before it. */
static bool find_gap(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t *address, struct gt_ptx_allocation **before)
{
	*before = NULL;
	if (gap_behind(memory, NULL, address) > bytes)
		return true;
	*before = gt_ptx_gaps_first(memory, bytes);
	return *before && gap_behind(memory, *before, address) > bytes;
}

/* After the gap behind an allocation has changed; before the first there is none to note it. */
static void note_gap(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before)
{
	uint64_t address;

	if (before)
		gt_ptx_gaps_change(memory, before, gap_behind(memory, before, &address));
}

static void link_behind(struct gt_ptx_memory *memory, struct gt_ptx_allocation *before, struct gt_ptx_allocation *allocation)
{
	allocation->before = before;
	allocation->after = before ? before->after : memory->first;
	*(before ? &before->after : &memory->first) = allocation;
	*(allocation->after ? &allocation->after->before : &memory->last) = allocation;
	uint64_t address;
	gt_ptx_gaps_add(memory, allocation, gap_behind(memory, allocation, &address));
	note_gap(memory, before);
}

/* Gives the room back that was freed first. */
static void release_oldest(struct gt_ptx_memory *memory)
{
	struct gt_ptx_allocation *gone = memory->held_first, *before = gone->before;

	memory->held_first = gone->freed_next;
	if (!memory->held_first)
		memory->held_last = NULL;
	memory->held_bytes -= gone->bytes;
	*(before ? &before->after : &memory->first) = gone->after;
	*(gone->after ? &gone->after->before : &memory->last) = before;
	gt_ptx_gaps_remove(memory, gone);
	note_gap(memory, before);
	size_t begin, end;
	gt_pages_return(memory->host + (gone->address - GT_PTX_GLOBAL_BASE), gone->bytes, &begin, &end);
	free(gone);
}

/* A gap, for which freed room is given back if need be. */
static bool find_room(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t *address, struct gt_ptx_allocation **before)
{
	while (!find_gap(memory, bytes, address, before)) {
		if (!memory->held_first)
			return false;
		release_oldest(memory);
	}
	return true;
}

/* A large array is cleared without touching it. */
static void clear(unsigned char *host, uint64_t bytes)
{
	size_t begin, end;

	gt_pages_return(host, bytes, &begin, &end);
	memset(host, 0, begin);
	memset(host + end, 0, bytes - end);
}

int gt_ptx_allocate(struct gt_ptx_memory *memory, uint64_t bytes, const char *name, uint64_t *address,
		    struct gt_error *error)
{
	struct gt_ptx_allocation *before;

	if (bytes == 0 || bytes > memory->limit || memory->live_bytes > memory->limit - bytes ||
	    !find_room(memory, bytes, address, &before))
		return gt_fail(error,
			       "no room for %" PRIu64 " bytes of device memory (%s): %" PRIu64 " of %" PRIu64
			       " are in use",
			       bytes, name, memory->live_bytes, memory->limit);
	struct gt_ptx_allocation *allocation = calloc(1, sizeof *allocation);
	if (!allocation)
		return gt_fail_memory(error, "the list of allocations");
	allocation->address = *address;
	allocation->bytes = bytes;
	allocation->owner = memory->owner;
	allocation->call = memory->call;
	allocation->kind = memory->kind;
	snprintf(allocation->name, sizeof allocation->name, "%s", name);
	if (gt_ptx_window_use(memory, *address, bytes, error) != 0 || gt_ptx_pages_enter(memory, allocation, error) != 0) {
		free(allocation);
		return -1;
	}
	uint64_t end = *address - GT_PTX_GLOBAL_BASE + bytes;
	uint64_t stale =
		end < memory->used ? end : memory->used; /* bytes up to `used` may have been written */
	if (stale > *address - GT_PTX_GLOBAL_BASE)
		clear(memory->host + (*address - GT_PTX_GLOBAL_BASE), stale - (*address - GT_PTX_GLOBAL_BASE));
	link_behind(memory, before, allocation);
	memory->n++;
	memory->live_bytes += bytes;
	memory->used = end > memory->used ? end : memory->used;
	return 0;
}

int gt_ptx_free(struct gt_ptx_memory *memory, uint64_t address, struct gt_error *error)
{
	struct gt_ptx_allocation *gone = gt_ptx_pages_owner(memory, address);

	if (!gone || gone->address != address || gt_ptx_in_heap(memory, address))
		return gt_fail(error, "nothing was allocated at 0x%" PRIx64, address);
	gt_ptx_pages_leave(memory, gone);
	memory->live_bytes -= gone->bytes;
	memory->n--;
	gone->freed = true;
	*(memory->held_last ? &memory->held_last->freed_next : &memory->held_first) = gone;
	memory->held_last = gone;
	memory->held_bytes += gone->bytes;
	while (memory->held_bytes > memory->held_max)
		release_oldest(memory);
	return 0;
}

void gt_ptx_memory_close(struct gt_ptx_memory *memory)
{
	struct gt_error ignored;

	gt_ptx_heap_free(memory->heap);
	memory->heap = NULL;
	free(memory->pool);
	memory->pool = NULL;
	memory->held_max = 0;
	while (memory->held_first)
		release_oldest(memory);
	while (memory->first)
		gt_ptx_free(memory, memory->first->address, &ignored);
	gt_ptx_textures_free(memory);
	gt_ptx_pages_close(memory);
	gt_ptx_window_close(memory);
	memset(memory, 0, sizeof *memory);
}

void *gt_ptx_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t begin, end;

	return gt_ptx_bounds(memory, address, bytes, &begin, &end) ? memory->host + (address - GT_PTX_GLOBAL_BASE) : NULL;
}

bool gt_ptx_bounds(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end)
{
	const struct gt_ptx_allocation *allocation = gt_ptx_pages_owner(memory, address);

	if (!allocation)
		return false;
	if (gt_ptx_in_heap(memory, allocation->address))
		return gt_ptx_heap_block(memory, address, bytes, begin, end);
	if (memory->denied >> allocation->owner & 1)
		return false;
	uint64_t inside = address - allocation->address;
	*begin = allocation->address;
	*end = allocation->address + allocation->bytes;
	return inside <= allocation->bytes && bytes <= allocation->bytes - inside;
}

const struct gt_ptx_allocation *gt_ptx_containing(const struct gt_ptx_memory *memory, uint64_t address,
						  uint64_t bytes)
{
	uint64_t begin, end;

	return gt_ptx_bounds(memory, address, bytes, &begin, &end) ? gt_ptx_pages_owner(memory, address) : NULL;
}

const struct gt_ptx_allocation *gt_ptx_denied(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_allocation *allocation = gt_ptx_pages_owner(memory, address);

	return allocation && memory->denied >> allocation->owner & 1 ? allocation : NULL;
}

const struct gt_ptx_allocation *gt_ptx_nearest(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_allocation *inside = gt_ptx_pages_owner(memory, address), *below = NULL, *above = gt_ptx_live(memory->first);

	for (const struct gt_ptx_allocation *one = memory->held_first; one && !inside; one = one->freed_next)
		inside = address - one->address < one->bytes ? one : NULL;
	if (inside && address - inside->address < inside->bytes)
		return inside;
	for (; above && above->address <= address; above = gt_ptx_live(above->after))
		below = above;
	if (!above || !below)
		return below ? below : above;
	return address - (below->address + below->bytes) < above->address - address ? below : above;
}
