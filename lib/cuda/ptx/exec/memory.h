/* SPDX-License-Identifier: MIT */
/* The memory of the device that runs PTX: a region of our own, with device addresses that are the
 * same in every run, and bounds that every access is checked against. */
#ifndef GT_PTX_MEMORY_H
#define GT_PTX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Device addresses. Generic addresses of shared and local memory are windows of their own. They lie
 * where no process of a 64-bit system has anything: there the global window is mapped at its very
 * address, so that a host program can use managed and pinned memory by the pointers of the device. */
#define GT_PTX_GLOBAL_BASE UINT64_C(0x200000000000)
#define GT_PTX_SHARED_BASE UINT64_C(0x202000000000)
#define GT_PTX_LOCAL_BASE  UINT64_C(0x203000000000)
#define GT_PTX_WINDOW	   (UINT64_C(1) << 36) /* bytes a window has */
#define GT_PTX_ALIGNMENT   512		       /* bytes; of an allocation, as cudaMalloc's */
#define GT_PTX_PAGE	   UINT64_C(65536)     /* bytes; at least a page of this processor */
#define GT_PTX_GRANULE	   (UINT64_C(2) << 20) /* bytes that the hardware maps at a time */

#define GT_PTX_HELD_PART   4 /* of all memory, and of the heap: one such part is held back at most, if any is */

#define GT_PTX_EVERYONE 31 /* owns what all devices may use: memory of the host */

/* What CUDA calls the type of a pointer to it. */
enum gt_ptx_memory_kind { GT_PTX_OF_DEVICE, GT_PTX_OF_HOST, GT_PTX_MANAGED };

struct gt_ptx_allocation {
	uint64_t address; /* of the device */
	uint64_t bytes;
	char name[64]; /* "C", "cudaMalloc 3", a variable's name */
	unsigned owner; /* a device's number, or GT_PTX_EVERYONE */
	uint64_t call;	/* the program's call that made it, from 1; 0: none did */
	enum gt_ptx_memory_kind kind;
	bool freed;	/* its room is not given out yet */
	struct gt_ptx_allocation *before, *after; /* by address */
	struct gt_ptx_allocation *freed_next; /* by time */
	struct gt_ptx_allocation *left, *right; /* exec/gaps.h */
	uint64_t gap, gap_most; /* bytes behind it, and the most behind one of its tree */
};

struct gt_ptx_texture;
struct gt_ptx_heap;
struct gt_ptx_pool;
struct gt_ptx_page; /* exec/pagetable.h */

struct gt_ptx_memory {
	unsigned char *host; /* where GT_PTX_GLOBAL_BASE lies here: at that address if it was free */
	uint64_t reserved;   /* bytes of address space taken for it */
	uint64_t used;	     /* bytes from host on that were ever given out */
	uint64_t limit;	     /* bytes that may be given out in all at a time */
	uint64_t live_bytes;
	unsigned owner;	 /* of what is allocated from now on */
	uint64_t call;	 /* the same */
	enum gt_ptx_memory_kind kind; /* the same */
	uint32_t denied; /* bit o: what o owns is at present out of reach */
	struct gt_ptx_allocation *first, *last; /* live and freed ones, by address: see gt_ptx_live() */
	size_t n; /* live ones */
	/* Freed ones whose room is held back, so that accesses to them are found: at most so many bytes; 0, as it is opened: none, nor
	 * blocks of the heap. */
	uint64_t held_max, held_bytes;
	struct gt_ptx_allocation *held_first, *held_last; /* by time */
	struct gt_ptx_allocation *by_gap; /* the root of exec/gaps.h */
	struct gt_ptx_page *pages;
	unsigned char *below; /* the granule below the window, mapped when asked for */
	struct gt_ptx_texture **textures; /* by handle - 1; NULL: removed. exec/texture.h */
	size_t n_textures, textures_capacity;
	struct gt_ptx_heap *heap; /* NULL: there is none yet. exec/heap.h */
	uint64_t heap_bytes;	  /* that it has, or will have */
	struct gt_ptx_pool *pool; /* of launches that kernels make; NULL: there is none yet. exec/nested.h */
	uint64_t pending;	  /* launches that it has, or will have, room for */
};

/* Room for `limit` bytes in all; nothing is touched until used. */
int gt_ptx_memory_open(struct gt_ptx_memory *memory, uint64_t limit, struct gt_error *error);
void gt_ptx_memory_close(struct gt_ptx_memory *memory);
/* From now on freed memory, and the heap's, is held back. */
void gt_ptx_hold_back(struct gt_ptx_memory *memory);

/* Zeroed bytes, GT_PTX_ALIGNMENT aligned; freed room is used again, but that which is held back only if there is no other.
 * Returns 0 with the address, or -1 when the limit is reached. */
int gt_ptx_allocate(struct gt_ptx_memory *memory, uint64_t bytes, const char *name, uint64_t *address,
		    struct gt_error *error);
/* Frees what begins at that address; -1 if nothing does, or if it is the heap. */
int gt_ptx_free(struct gt_ptx_memory *memory, uint64_t address, struct gt_error *error);

/* Where [address, address + bytes) lies in this process, or NULL if it is not inside one live
 * allocation. Fast: called for every access. */
void *gt_ptx_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);

/* The bounds of the live allocation, or of the block of the heap, that contains all of [address, address + bytes). False if
 * there is none. */
bool gt_ptx_bounds(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end);

/* Where a live allocation lies in this process, all of the heap too. */
static inline unsigned char *gt_ptx_host(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation)
{
	return memory->host + (allocation->address - GT_PTX_GLOBAL_BASE);
}

/* An allocation, or the next one that is not freed; NULL if there is none. */
static inline struct gt_ptx_allocation *gt_ptx_live(struct gt_ptx_allocation *allocation)
{
	while (allocation && allocation->freed)
		allocation = allocation->after;
	return allocation;
}

/* The live allocation that contains all of [address, address + bytes), or NULL. */
const struct gt_ptx_allocation *gt_ptx_containing(const struct gt_ptx_memory *memory, uint64_t address,
						  uint64_t bytes);

/* The allocation that an address lies in and that is out of reach; NULL: there is none. */
const struct gt_ptx_allocation *gt_ptx_denied(const struct gt_ptx_memory *memory, uint64_t address);

/* The allocation that contains the address, live or freed, else the nearest one; NULL if there is none. For messages. */
const struct gt_ptx_allocation *gt_ptx_nearest(const struct gt_ptx_memory *memory, uint64_t address);

#endif
