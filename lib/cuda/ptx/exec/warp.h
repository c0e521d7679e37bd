/* SPDX-License-Identifier: MIT */
/* What runs: the paths and frames of a warp, the warp, and its block. The machine's state alone; blocks.h and paths.h have what
 * is done with it. */
#ifndef GT_PTX_WARP_H
#define GT_PTX_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/text/module.h"
#include "stream/rows.h"

#define GT_PTX_BARRIERS 16
#define GT_PTX_CLUSTER_BARRIER GT_PTX_BARRIERS /* where paths wait for those of other blocks */
#define GT_PTX_GROUP_BARRIER   (GT_PTX_BARRIERS + 1) /* and for those of the four warps of a group */
#define GT_PTX_TURN	32	       /* instructions a warp issues before the next one's turn */
#define GT_PTX_PARAMETER_BASE UINT64_C(0x205000000000) /* generic addresses of kernel parameters */
#define GT_PTX_FRAMES_MAX 4096			       /* functions under way at a time */
#define GT_PTX_SHARED_MAX (1U << 20)			       /* bytes a block, beyond any GPU's */
/* Bytes of shared memory that CUDA keeps of each block from compute capability 8.0 on, in which cooperative groups of several warps meet.
 * They lie behind a block's own, and are there for programs that ask where they are. %reserved_smem_offset_1 is taken to be their middle. */
#define GT_PTX_RESERVED 1024U
#define GT_PTX_LOCAL_MAX (512U << 10)		       /* bytes of local memory a thread, CUDA's limit */

#define GT_PTX_FILLS 8 /* functions whose constants are known to be in the arena, at most */

#define GT_PTX_NOWHERE 64 /* bytes, as many as a lane accesses at a time */

enum gt_ptx_path_state {
	GT_PTX_PATH_RUNS,
	GT_PTX_PATH_JOINS,	/* it waits for its children, to go on at `next` */
	GT_PTX_PATH_SYNCS,	/* at the .sync operation `next`, for other lanes of its member mask */
	GT_PTX_PATH_AT_BARRIER, /* for other threads of the block, to go on at `next` */
};

/* Lanes that run together. A path that parts waits for the paths it parted into, its children,
 * where they join; one that calls, for the path in the function called. */
struct gt_ptx_path {
	const struct gt_ptx_op *next, *join;	 /* join NULL: the function's end */
	struct gt_ptx_path *parent;		 /* that its lanes go back to; NULL: they exit */
	struct gt_ptx_path *above, *below;	 /* the topmost path that can run does */
	struct gt_ptx_frame *frame;
	uint32_t mask;	   /* lanes; those of its children too */
	uint32_t children;
	uint32_t arrived;  /* of one that joins: lanes that no child holds; set when asked for */
	uint32_t waits_at; /* the member mask, or the number of the barrier */
	uint32_t result[3]; /* count, or, and: of the barrier it stood at last */
	enum gt_ptx_path_state state;
};

/* A function under way for some lanes. */
struct gt_ptx_frame {
	const struct gt_ptx_code *code;
	const struct gt_ptx_op *call; /* NULL: the kernel itself */
	struct gt_ptx_frame *caller;
	struct gt_ptx_frame *before, *after; /* as they lie in the arena */
	size_t arena, local;	      /* offsets of its part of the arena and of local memory */
	size_t depth;		      /* how many calls lead to it */
	uint64_t low, high;	      /* the variable that the last access to local memory fell into */
	size_t paths;		      /* in it */
	struct gt_ptx_stack *stack;   /* NULL: no alloca took anything */
};

/* What alloca took of local memory behind the variables of a function: of each lane, and at most. */
struct gt_ptx_stack {
	struct gt_ptx_local most;
	uint32_t bytes[GT_WARP_SIZE];
};

enum gt_ptx_state { GT_PTX_RUNS, GT_PTX_WAITS, GT_PTX_DONE };

/* What a warp was like when one of its turns ended, or when it polled, to know when it is the same again. */
struct gt_ptx_watch {
	const struct gt_ptx_op *op; /* NULL: nothing is kept */
	uint32_t mask, ran; /* lanes: that were active; and have been since, at a poll or at the end of a turn */
	uint64_t next, gap; /* when to keep it anew, in instructions issued; and how long after; of polls, how many after */
	uint32_t same; /* lanes of the mask that have been what they were since */
	uint64_t since, most; /* polls since it was kept, or repeated; from one time to the next, at most */
	unsigned char *registers;
	size_t bytes, capacity;
	size_t differs; /* the slot whose lanes differed last */
	bool has_local;
	uint64_t local;	/* a hash of the local memory */
	bool repeats;	/* it has been the same since it was kept */
	uint64_t times;	/* in a row that it was */
	uint64_t keeps, repeated; /* how often it was kept, and the same, in all */
	uint64_t keeps_then, repeated_then; /* when concurrent blocks were looked at last */
};

/* Of a warp that waits by reading a clock: the instruction that reads it, `issued` at its last read, the time at its first, the reads
 * since, and by how much the clock is ahead of `issued`. */
struct gt_ptx_timer {
	const struct gt_ptx_op *at;
	uint64_t last, first, skipped;
	uint32_t reads;
};

struct gt_ptx_warp {
	unsigned char *arena; /* of the running function */
	uint32_t mask;	      /* active lanes */
	uint64_t issued;      /* instructions */
	uint64_t issued_then; /* when concurrent blocks were looked at last */
	uint64_t until;	      /* its turn ends when it has issued so many */
	uint64_t ahead;	      /* of them, those that the next turns leave out */
	const struct gt_ptx_op *at;
	struct gt_ptx_core *core;
	enum gt_ptx_state state;
	uint32_t index;	      /* within the block */
	uint32_t live;	      /* lanes that have not exited */
	uint32_t an;	      /* accesses traced so far */
	uint64_t noted;	      /* `issued` at its last access that is not to shared memory */
	uint32_t barriers;    /* passed since then; */
	uint64_t shared_accesses, shared_passes; /* to shared memory since then, and the passes of its banks */
	const struct gt_ptx_access *round; /* of that access */
	uint32_t rounds;      /* of its loop, since the last access out of it, modulo those that stand behind each other */
	struct gt_ptx_path *path, *top; /* the one that runs; of all */
	struct gt_ptx_path *free_paths; /* by `below` */
	struct gt_ptx_frame *frame, *last; /* of `path`; the last in the arena */
	struct gt_ptx_frame *free_frames; /* by `before` */
	const struct gt_ptx_code *filled; /* the kernel, once its slots are filled */
	/* The same of functions that it calls: whose slots are filled where in the arena, in a ring; `code` NULL: no one's. */
	struct gt_ptx_filled {
		const struct gt_ptx_code *code;
		size_t begin, end;
	} fills[GT_PTX_FILLS];
	unsigned next_fill;
	uint32_t partial[GT_PTX_BARRIERS + 2]; /* lanes that have arrived where not all have */
	uint32_t partials; /* bit b: partial[b] is not 0 */
	uint32_t cluster_arrived; /* lanes that have arrived at the cluster's barrier, whose phase goes on */
	bool multiplies, meets; /* it has begun a wgmma that it has not waited for; it waits for its group */
	uint32_t cluster_owes; /* lanes that have arrived, and have still to wait */
	struct gt_ptx_watch watch, poll;
	struct gt_ptx_timer timer;
	uint32_t yields;  /* of its paths to others, since lanes at a join went on */
	uint32_t starved; /* when it repeats itself: lanes that have not run in between */
	unsigned char *arenas; /* of all frames */
	size_t arena_bytes;
	unsigned char *local;  /* 32 lanes of local_stride bytes */
	size_t local_stride;
	size_t local_at;       /* of the running function's frame */
	uint32_t tid[3][GT_WARP_SIZE];
	int last_error[GT_WARP_SIZE]; /* of the runtime's calls in the kernel */
	unsigned char copied[GT_WARP_SIZE][16]; /* by cp.async, on its way */
};

struct gt_ptx_barrier {
	uint32_t threads; /* that have arrived */
	uint32_t expected; /* 0: all of the block */
	uint32_t count, any, all; /* bar.red: lanes whose predicate holds; of the round under way */
};

#define GT_PTX_SPIN_KEYS 2048
/* In core->traced: accesses are looked at; rows have the column work; it is noted which bytes are written. */
#define GT_PTX_NOTES_SPIN (UINT32_C(1) << 31)
#define GT_PTX_NOTES_WORK (UINT32_C(1) << 30)
#define GT_PTX_NOTES_WRITTEN (UINT32_C(1) << 29)
#define GT_PTX_NOTES_LEAST GT_PTX_NOTES_WRITTEN

/* Whether a block spins, as far as its accesses say (trace.c). */
struct gt_ptx_spin {
	bool spins;
	bool polls, fresh; /* accesses to global memory that it has made before; accesses, and what polls found, that it has not */
	bool looks;	   /* atomics that it has made before, or an mbarrier whose phase was not over */
	bool parted;	   /* lanes of a warp had parted when the period began */
	bool finds;	   /* what a poll found before */
	bool stores;	   /* to any memory */
	unsigned patience; /* periods in which it may store and look as if it spun */
	int phase;
	uint64_t issued, next; /* warp instructions of the block; when the next phase begins */
	uint64_t look;	       /* how many a look takes */
	uint64_t asked, rest;  /* when a poll may ask for a look, and how many looks after the last that is */
	size_t n;
	uint32_t keys[GT_PTX_SPIN_KEYS]; /* of accesses and of what polls found, 0: free */
};

/* A block of a launch under way. */
struct gt_ptx_core {
	struct gt_ptx_core *next; /* of those that are spare */
	uint32_t extent[3];	  /* of the block, in threads */
	struct gt_ptx_machine *machine;
	const struct gt_ptx_launch *launch;
	const struct gt_ptx_program *program;
	struct gt_ptx_memory *memory;
	struct gt_sink *sink;
	struct gt_ptx_hold *hold; /* where accesses go in its place; NULL: nowhere */
	uint32_t traced; /* bit (1 << enum gt_space), none outside the traced blocks; GT_PTX_NOTES_SPIN and so on */
	uint64_t block;	 /* linear */
	uint32_t ctaid[3];
	struct gt_ptx_cluster *cluster; /* NULL: it is alone */
	uint32_t rank; /* in its cluster */
	bool arrives; /* a thread has arrived at the cluster's barrier */
	unsigned char *shared;
	uint64_t shared_bytes;
	unsigned char *shared_written; /* a bit for each of them: it was written; NULL: nobody asks */
	uint32_t *tensor; /* tensor memory, lane by lane; NULL: none was allocated yet */
	uint32_t tensor_taken; /* bit u: columns of unit u are allocated */
	unsigned char *parameters;
	uint64_t parameter_bytes;
	struct gt_ptx_barrier barriers[GT_PTX_BARRIERS];
	struct gt_ptx_warp *warps;
	uint32_t n_warps, running; /* those that are not done */
	bool repeats; /* a warp did in the last round */
	bool ahead;   /* a warp that runs issued nothing in the last round, being ahead of its turns or behind a poll, and will */
	struct gt_ptx_spin spin;
	uint64_t accesses, polls;
	uint64_t launches; /* %gridid */
	uint64_t local_words; /* that the addresses of traced local accesses leave room for, a thread */
	bool failed;
	struct gt_ptx_ran *ran;
	/* In machine code: the addresses of the lanes of an access, what they store, and all ones for lanes that are active. */
	_Alignas(64) uint64_t addresses[GT_WARP_SIZE], stored[GT_WARP_SIZE], active[GT_WARP_SIZE];
	uint32_t active_words[GT_WARP_SIZE];
	unsigned char nowhere[GT_WARP_SIZE][GT_PTX_NOWHERE]; /* what lanes outside of every allocation access */
	struct gt_error *error;
};

/* The lanes of a slot. */
static inline void *gt_ptx_lanes(const struct gt_ptx_warp *warp, uint32_t slot)
{
	return warp->arena + slot;
}

static inline uint32_t gt_ptx_predicate(const struct gt_ptx_warp *warp, uint32_t slot)
{
	return *(const uint32_t *)gt_ptx_lanes(warp, slot);
}

static inline void gt_ptx_set_predicate(const struct gt_ptx_warp *warp, uint32_t slot, uint32_t mask,
					uint32_t value)
{
	uint32_t *predicate = gt_ptx_lanes(warp, slot);

	*predicate = (*predicate & ~mask) | (value & mask);
}

static inline unsigned gt_ptx_lowest(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

/* Appends an access to the sink. The addresses are those of the active lanes, lane i's at lanes[i]
 * + offset; stride GT_STRIDE_LANES if they are not affine. Returns -1 when the sink fails. */
int gt_ptx_trace(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, uint8_t operation,
		 uint16_t hint, unsigned bytes, const uint64_t *lanes, uint64_t offset, int64_t stride);

/* Ends the launch: "kernel NAME, PTX line L: BLOCK (x,y,z) THREAD (x,y,z): ..."; returns NULL. */
const struct gt_ptx_op *gt_ptx_fault(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
