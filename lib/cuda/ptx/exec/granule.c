/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/granule.h"

#include <sys/mman.h>

#include "cuda/ptx/exec/pagetable.h"
#include "cuda/ptx/exec/window.h"

static uint64_t granule_of(uint64_t address)
{
	return address / GT_PTX_GRANULE * GT_PTX_GRANULE;
}

static bool is_below(uint64_t address)
{
	return granule_of(address) == GT_PTX_GLOBAL_BASE - GT_PTX_GRANULE;
}

bool gt_ptx_is_mapped(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;
	bool mapped = false;

	if (is_below(address))
		return true;
	if (address < GT_PTX_GLOBAL_BASE || at + bytes > memory->reserved || gt_ptx_denied(memory, address))
		return false;
	for (uint64_t i = 0; i < GT_PTX_GRANULE && !mapped; i += GT_PTX_PAGE) {
		uint64_t page = granule_of(address) + i;
		mapped = page - GT_PTX_GLOBAL_BASE < memory->reserved && gt_ptx_pages_has(memory, page);
	}
	return mapped;
}

void *gt_ptx_mapped_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;
	struct gt_error ignored;

	if (is_below(address)) {
		if (!memory->below)
			memory->below = gt_ptx_map_zeros(NULL, GT_PTX_GRANULE, PROT_READ | PROT_WRITE);
		return memory->below ? memory->below + address % GT_PTX_GRANULE : NULL;
	}
	if (!gt_ptx_is_mapped(memory, address, bytes) || gt_ptx_window_use(memory, address, bytes, &ignored) != 0)
		return NULL;
	memory->used = at + bytes > memory->used ? at + bytes : memory->used;
	return memory->host + at;
}
