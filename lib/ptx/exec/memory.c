/* SPDX-License-Identifier: MIT */
#include "ptx/exec/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux and the BSDs have these beyond POSIX; without them /dev/zero serves. */
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

int gt_ptx_memory_open(struct gt_ptx_memory *memory, uint64_t limit, struct gt_error *error)
{
	memset(memory, 0, sizeof *memory);
	/* Freed room is used again, but not always whole: twice the limit leaves room for gaps. */
	if (limit == 0 || limit > GT_PTX_WINDOW)
		return gt_fail(error, "device memory of %" PRIu64 " bytes: from 1 to %" PRIu64 " expected",
			       limit, GT_PTX_WINDOW);
	uint64_t reserved = limit < GT_PTX_WINDOW / 2 ? rounded_up(2 * limit, GT_PTX_PAGE) : GT_PTX_WINDOW;
	int zeros = open("/dev/zero", O_RDWR);
	if (zeros < 0)
		return gt_fail_errno(error, "/dev/zero");
	/* The address is a wish: what serves device code alone works anywhere. */
	void *host = mmap((void *)(uintptr_t)GT_PTX_GLOBAL_BASE, reserved, PROT_NONE,
			  MAP_PRIVATE | MAP_NORESERVE, zeros, 0);
	close(zeros);
	if (host == MAP_FAILED)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", limit);
	memory->host = host;
	memory->reserved = reserved;
	memory->limit = limit;
	return 0;
}

void gt_ptx_memory_close(struct gt_ptx_memory *memory)
{
	if (memory->host)
		munmap(memory->host, memory->reserved);
	free(memory->allocations);
	memset(memory, 0, sizeof *memory);
}

/* The first gap that fits: its address, and the index its allocation will have. Allocations never
 * touch, so that one step beyond the end of one is no step into the next. */
static bool find_gap(const struct gt_ptx_memory *memory, uint64_t bytes, uint64_t *address, size_t *at)
{
	uint64_t begin = GT_PTX_GLOBAL_BASE;

	for (size_t i = 0; i <= memory->n; i++) {
		uint64_t end = i < memory->n ? memory->allocations[i].address
					     : GT_PTX_GLOBAL_BASE + memory->reserved;
		if (end > begin && end - begin > bytes) {
			*address = begin;
			*at = i;
			return true;
		}
		if (i < memory->n)
			begin = rounded_up(end + memory->allocations[i].bytes + 1, GT_PTX_ALIGNMENT);
	}
	return false;
}

/* Makes the pages of [address, address + bytes) usable; they are zero when first touched. */
static int open_pages(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, struct gt_error *error)
{
	uint64_t first = (address - GT_PTX_GLOBAL_BASE) / GT_PTX_PAGE * GT_PTX_PAGE;
	uint64_t last = rounded_up(address - GT_PTX_GLOBAL_BASE + bytes, GT_PTX_PAGE);

	if (mprotect(memory->host + first, last - first, PROT_READ | PROT_WRITE) != 0)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", bytes);
	return 0;
}

int gt_ptx_allocate(struct gt_ptx_memory *memory, uint64_t bytes, const char *name, uint64_t *address,
		    struct gt_error *error)
{
	size_t at;

	if (bytes == 0 || bytes > memory->limit || memory->live_bytes > memory->limit - bytes ||
	    !find_gap(memory, bytes, address, &at))
		return gt_fail(error,
			       "no room for %" PRIu64 " bytes of device memory (%s): %" PRIu64 " of %" PRIu64
			       " are in use",
			       bytes, name, memory->live_bytes, memory->limit);
	if (memory->n == memory->capacity) {
		size_t capacity = memory->capacity ? 2 * memory->capacity : 64;
		void *grown = realloc(memory->allocations, capacity * sizeof *memory->allocations);
		if (!grown)
			return gt_fail_memory(error, "the list of allocations");
		memory->allocations = grown;
		memory->capacity = capacity;
	}
	if (open_pages(memory, *address, bytes, error) != 0)
		return -1;
	uint64_t end = *address - GT_PTX_GLOBAL_BASE + bytes;
	uint64_t stale =
		end < memory->used ? end : memory->used; /* bytes up to `used` may have been written */
	if (stale > *address - GT_PTX_GLOBAL_BASE)
		memset(memory->host + (*address - GT_PTX_GLOBAL_BASE), 0,
		       stale - (*address - GT_PTX_GLOBAL_BASE));
	memmove(memory->allocations + at + 1, memory->allocations + at,
		(memory->n - at) * sizeof *memory->allocations);
	struct gt_ptx_allocation *allocation = &memory->allocations[at];
	memset(allocation, 0, sizeof *allocation);
	allocation->address = *address;
	allocation->bytes = bytes;
	snprintf(allocation->name, sizeof allocation->name, "%s", name);
	memory->n++;
	memory->live_bytes += bytes;
	memory->used = end > memory->used ? end : memory->used;
	return 0;
}

/* The index of the last allocation that begins at or below the address; n if there is none. */
static size_t at_or_below(const struct gt_ptx_memory *memory, uint64_t address)
{
	size_t low = 0, high = memory->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (memory->allocations[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : memory->n;
}

int gt_ptx_free(struct gt_ptx_memory *memory, uint64_t address, struct gt_error *error)
{
	size_t at = at_or_below(memory, address);

	if (at == memory->n || memory->allocations[at].address != address)
		return gt_fail(error, "nothing was allocated at 0x%" PRIx64, address);
	memory->live_bytes -= memory->allocations[at].bytes;
	memory->n--;
	memmove(memory->allocations + at, memory->allocations + at + 1,
		(memory->n - at) * sizeof *memory->allocations);
	return 0;
}

void *gt_ptx_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	const struct gt_ptx_allocation *allocation = gt_ptx_containing(memory, address, bytes);

	return allocation ? memory->host + (address - GT_PTX_GLOBAL_BASE) : NULL;
}

const struct gt_ptx_allocation *gt_ptx_containing(const struct gt_ptx_memory *memory, uint64_t address,
						  uint64_t bytes)
{
	size_t at = at_or_below(memory, address);

	if (at == memory->n)
		return NULL;
	const struct gt_ptx_allocation *allocation = &memory->allocations[at];
	uint64_t inside = address - allocation->address;
	return inside <= allocation->bytes && bytes <= allocation->bytes - inside ? allocation : NULL;
}

const struct gt_ptx_allocation *gt_ptx_nearest(const struct gt_ptx_memory *memory, uint64_t address)
{
	size_t at = at_or_below(memory, address);

	if (memory->n == 0)
		return NULL;
	if (at == memory->n)
		return &memory->allocations[0];
	const struct gt_ptx_allocation *below = &memory->allocations[at];
	if (at + 1 == memory->n || address - below->address < below->bytes)
		return below;
	const struct gt_ptx_allocation *above = below + 1;
	return address - (below->address + below->bytes) < above->address - address ? below : above;
}
