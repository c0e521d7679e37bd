/* SPDX-License-Identifier: MIT */
/* The memory of the device that runs PTX: a region of our own, with device addresses that are the
 * same in every run, and bounds that every access is checked against. */
#ifndef GT_PTX_MEMORY_H
#define GT_PTX_MEMORY_H

#include <stdatomic.h>
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
#define GT_PTX_SMALL	   (UINT64_C(1) << 20) /* bytes; what is larger begins with a granule, as cudaMalloc's */
#define GT_PTX_PAGE	   UINT64_C(65536)     /* bytes; at least a page of this processor */
#define GT_PTX_GRANULE	   (UINT64_C(2) << 20) /* bytes that the hardware maps at a time */

#define GT_PTX_HELD_PART   4 /* of all memory, and of the heap: one such part is held back at most, if any is */

#define GT_PTX_PENDING 2048	   /* cudaLimitDevRuntimePendingLaunchCount's default */

#define GT_PTX_EVERYONE 31 /* owns what all devices may use: memory of the host */

/* What CUDA calls the type of a pointer to it. */
enum gt_ptx_memory_kind { GT_PTX_OF_DEVICE, GT_PTX_OF_HOST, GT_PTX_MANAGED };

/* A node of a tree of what lies in an address space, each with some room. */
struct gt_ptx_room {
	uint64_t at;
	uint64_t room, most; /* bytes; the most of a node in its subtree */
	uint64_t priority;   /* a parent's is above those of its children */
	struct gt_ptx_room *left, *right;
};

struct gt_ptx_allocation {
	struct gt_ptx_room gap; /* the first member: the gap behind it, in a tree by address */
	uint64_t address; /* of the device */
	uint64_t bytes;
	char name[64]; /* "C", "cudaMalloc 3", a variable's name */
	unsigned owner; /* a device's number, or GT_PTX_EVERYONE */
	uint64_t call;	/* the program's call that made it, from 1; 0: none did */
	enum gt_ptx_memory_kind kind;
	unsigned flags; /* that the program allocated it with; of the host's */
	bool freed;	/* its room is not given out yet */
	_Atomic uint64_t reached; /* memory->launch when it was accessed last */
	struct gt_ptx_allocation *before, *after; /* by address */
	struct gt_ptx_allocation *freed_next; /* by time */
};

/* Where the user wants an allocation that the program makes: of this name, or of this number if it is not 0. */
struct gt_ptx_wish {
	char name[64];
	uint64_t number;
	uint64_t address;
	bool used; /* there was such an allocation */
	struct gt_ptx_wish *next;
};

struct gt_ptx_texture;
struct gt_ptx_heap;
struct gt_ptx_pool;
struct gt_ptx_page; /* memory.c */

struct gt_ptx_memory {
	unsigned char *host; /* where GT_PTX_GLOBAL_BASE lies here: at that address if it was free */
	uint64_t reserved;   /* bytes of address space taken for it */
	uint64_t used;	     /* bytes from host on that were ever given out */
	uint64_t limit;	     /* bytes that may be given out in all at a time */
	const char *advice;  /* behind the message that there is no room: how to have more; NULL: nothing */
	uint64_t live_bytes;
	unsigned owner;	 /* of what is allocated from now on */
	uint64_t call;	 /* the same */
	enum gt_ptx_memory_kind kind; /* the same */
	unsigned flags;	 /* the same */
	uint32_t denied; /* bit o: what o owns is at present out of reach */
	uint64_t launch; /* a number that changes before each launch */
	uint64_t changes; /* a number that changes with what is allocated, and with what any allocation has, but by the host's own stores */
	struct gt_ptx_allocation *first, *last; /* live and freed ones, by address: see gt_ptx_live() */
	size_t n; /* live ones */
	struct gt_ptx_wish *places; /* the user's */
	/* Freed ones whose room is held back, so that accesses to them are found: at most so many bytes; 0, as it is opened: none, nor
	 * blocks of the heap. */
	uint64_t held_max, held_bytes;
	struct gt_ptx_allocation *held_first, *held_last; /* by time */
	struct gt_ptx_room *gaps; /* behind allocations, by address */
	struct gt_ptx_page *pages;
	unsigned char *below; /* the granule below the window, mapped when asked for */
	unsigned char *written; /* bit i: byte i from `host` on was written since it was given out; NULL: nobody asks */
	struct gt_ptx_texture **textures; /* by handle - 1; NULL: removed. texture.h */
	size_t n_textures, textures_capacity;
	struct gt_ptx_heap *heap; /* NULL: there is none yet. heap.c */
	uint64_t heap_bytes;	  /* that it has, or will have */
	struct gt_ptx_pool *pool; /* of launches that kernels make; NULL: there is none yet. nested.c */
	uint64_t pending;	  /* launches that it has, or will have, room for */
};

/* Room for `limit` bytes in all; nothing is touched until used. */
int gt_ptx_memory_open(struct gt_ptx_memory *memory, uint64_t limit, struct gt_error *error);
void gt_ptx_memory_close(struct gt_ptx_memory *memory);
/* From now on freed memory, and the heap's, is held back, and it is noted which bytes are written. */
int gt_ptx_memory_watch(struct gt_ptx_memory *memory, struct gt_error *error);

/* Notes that bytes have been written, if that is noted; without this, or an access of a kernel, those of an allocation have not. What is
 * no memory of the device is left out. */
void gt_ptx_wrote(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);
/* The same in a table of bits: marks them; whether any of them, or all, are marked. */
void gt_ptx_bits_mark(unsigned char *bits, uint64_t at, uint64_t n);
bool gt_ptx_bits_any(const unsigned char *bits, uint64_t at, uint64_t n);
bool gt_ptx_bits_all(const unsigned char *bits, uint64_t at, uint64_t n);

/* Zeroed bytes, GT_PTX_ALIGNMENT aligned, and with a granule if they are more than GT_PTX_SMALL; freed room is used again, but that
 * which is held back only if there is no other. Returns 0 with the address, or -1 when the limit is reached, or when they have a
 * place (gt_ptx_wish_of) that is not free. */
int gt_ptx_allocate(struct gt_ptx_memory *memory, uint64_t bytes, const char *name, uint64_t *address,
		    struct gt_error *error);
/* Frees what begins at that address; -1 if nothing does, or if it is the heap. */
int gt_ptx_free(struct gt_ptx_memory *memory, uint64_t address, struct gt_error *error);

/* ---- places ---- */

/* NAME=ADDRESS or NUMBER=ADDRESS, with commas between. -1 if it is no such list. */
int gt_ptx_wishes_read(struct gt_ptx_wish **places, const char *list, struct gt_error *error);
void gt_ptx_wishes_free(struct gt_ptx_wish *places);
/* That of the allocation which the program is about to make; NULL: it has none. */
struct gt_ptx_wish *gt_ptx_wish_of(const struct gt_ptx_memory *memory, const char *name);
/* -1 if one is of no allocation that was made. */
int gt_ptx_wishes_check(const struct gt_ptx_memory *memory, struct gt_error *error);

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

/* Frees all objects: texture.c. */
void gt_ptx_textures_free(struct gt_ptx_memory *memory);

/* ---- rooms by address ---- */

/* Adds a node, whose memory stays the caller's, to a tree in which none is at that address; changes the room of one; removes one. */
void gt_ptx_room_add(struct gt_ptx_room **tree, struct gt_ptx_room *node, uint64_t at, uint64_t room);
void gt_ptx_room_change(struct gt_ptx_room **tree, const struct gt_ptx_room *node, uint64_t room);
void gt_ptx_room_remove(struct gt_ptx_room **tree, const struct gt_ptx_room *node);
/* The first node that is not before an address and has so much room, more than none; NULL: there is none. */
struct gt_ptx_room *gt_ptx_room_first(struct gt_ptx_room *tree, uint64_t from, uint64_t room);
/* The last node that is not behind an address; NULL: there is none. */
struct gt_ptx_room *gt_ptx_room_at(struct gt_ptx_room *tree, uint64_t at);

/* ---- granules ---- */

/* What hardware has memory for beside allocations: it maps whole granules around them. */

/* Whether the hardware has memory at [address, address + bytes), which no multiple of GT_PTX_PAGE divides: in a granule with an
 * allocation, or in the one below the first address, where a GPU keeps what belongs to the program. */
bool gt_ptx_is_mapped(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);
/* Whether a program in this process has memory there that is none of the device: its stack, or what malloc gave. */
bool gt_ptx_is_of_host(uint64_t address);
/* Where it lies in this process then. What is written there stays. NULL if there is none. */
void *gt_ptx_mapped_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes);

/* ---- the heap ---- */

/* The heap of the device, which kernels allocate from with malloc, new and cudaMalloc. It is one allocation of the device's
 * memory, of which only the blocks that are given out may be accessed. */

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

/* A heap of nothing but free room, and where it begins. NULL on error. */
struct gt_ptx_heap *gt_ptx_heap_new(uint64_t address, uint64_t bytes, struct gt_error *error);
uint64_t gt_ptx_heap_address(const struct gt_ptx_heap *heap);

/* The state of the heap apart from the contents of its memory, to go back to. NULL when memory is short, or there is no heap. */
struct gt_ptx_heap *gt_ptx_heap_copy(const struct gt_ptx_memory *memory);
/* Puts a copy in the heap's place. */
void gt_ptx_heap_restore(struct gt_ptx_memory *memory, struct gt_ptx_heap *copy);
void gt_ptx_heap_free(struct gt_ptx_heap *heap);

#endif
