/* SPDX-License-Identifier: MIT */
/* The heap as a part of the device's memory: its size, and when it comes and goes. */
#include "cuda/ptx/exec/heap.h"

int gt_ptx_heap_resize(struct gt_ptx_memory *memory, uint64_t bytes)
{
	if (memory->heap || bytes == 0 || bytes > GT_PTX_HEAP_MAX)
		return -1;
	memory->heap_bytes = (bytes + GT_PTX_HEAP_UNIT - 1) / GT_PTX_HEAP_UNIT * GT_PTX_HEAP_UNIT;
	return 0;
}

int gt_ptx_heap_open(struct gt_ptx_memory *memory, struct gt_error *error)
{
	struct gt_error ignored;
	uint64_t address;

	if (memory->heap)
		return 0;
	if (gt_ptx_allocate(memory, memory->heap_bytes, GT_PTX_HEAP_NAME, &address, error) != 0)
		return -1;
	memory->heap = gt_ptx_heap_new(address, memory->heap_bytes, error);
	if (!memory->heap)
		gt_ptx_free(memory, address, &ignored);
	return memory->heap ? 0 : -1;
}

void gt_ptx_heap_close(struct gt_ptx_memory *memory)
{
	struct gt_ptx_heap *heap = memory->heap;
	struct gt_error ignored;

	memory->heap = NULL;
	if (heap)
		gt_ptx_free(memory, gt_ptx_heap_address(heap), &ignored);
	gt_ptx_heap_free(heap);
}
