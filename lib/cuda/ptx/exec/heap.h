/* SPDX-License-Identifier: MIT */
/* The heap of the device, which kernels allocate from with malloc, new and cudaMalloc. It is one allocation of the device's
 * memory, of which only the blocks that are given out may be accessed. */
#ifndef GT_PTX_HEAP_H
#define GT_PTX_HEAP_H

#include "cuda/ptx/exec/memory.h"

#define GT_PTX_HEAP_NAME "device_heap"
#define GT_PTX_HEAP_BYTES (UINT64_C(8) << 20) /* cudaLimitMallocHeapSize's default */
#define GT_PTX_HEAP_MAX (UINT64_C(32) << 30)
#define GT_PTX_HEAP_UNIT 16 /* bytes; what CUDA aligns blocks to, and what each has before it */
#define GT_PTX_HEAP_TEXT 192

/* The bytes that the heap has, or will have. Can be set until there is a heap: then -1. */
int gt_ptx_heap_resize(struct gt_ptx_memory *memory, uint64_t bytes);

/* Makes the heap if there is none. */
int gt_ptx_heap_open(struct gt_ptx_memory *memory, struct gt_error *error);
void gt_ptx_heap_close(struct gt_ptx_memory *memory);

/* A block at a multiple of `alignment`, a power of two, in the lowest room that is large enough; what was there before is its
 * contents. The address is 0 if there is no such room. Returns 0, or -1 when the host's memory is short. */
int gt_ptx_heap_take(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t alignment, uint64_t *address,
		     struct gt_error *error);
/* Gives a block back; if freed memory is held back, so is the block. -1 if none that is given out begins there. */
int gt_ptx_heap_give(struct gt_ptx_memory *memory, uint64_t address);

/* Whether the address is in the heap; and the block given out that contains all of [address, address + bytes). */
bool gt_ptx_in_heap(const struct gt_ptx_memory *memory, uint64_t address);
bool gt_ptx_heap_block(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end);
/* What is at an address of the heap, for messages: "of the device's heap: outside of the block of ...". */
const char *gt_ptx_heap_describe(const struct gt_ptx_memory *memory, uint64_t address, char text[GT_PTX_HEAP_TEXT]);

/* The parts of gt_ptx_heap_open: a heap of nothing but free room, and where it begins. NULL on error. */
struct gt_ptx_heap *gt_ptx_heap_new(uint64_t address, uint64_t bytes, struct gt_error *error);
uint64_t gt_ptx_heap_address(const struct gt_ptx_heap *heap);

/* The state of the heap apart from the contents of its memory, to go back to. NULL when memory is short, or there is no heap. */
struct gt_ptx_heap *gt_ptx_heap_copy(const struct gt_ptx_memory *memory);
/* Puts a copy in the heap's place. */
void gt_ptx_heap_restore(struct gt_ptx_memory *memory, struct gt_ptx_heap *copy);
void gt_ptx_heap_free(struct gt_ptx_heap *heap);

#endif
