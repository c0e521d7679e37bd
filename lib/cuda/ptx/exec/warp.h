/* SPDX-License-Identifier: MIT */
/* What the parts of the interpreter share: micro-ops, warps, and the launch under way.
 *
 * Every operand, immediates and special registers too, is a slot in the warp's arena: 32 lanes of
 * 1, 2, 4 or 8 bytes side by side. A predicate is a slot that holds one 32-bit mask. A micro-op
 * names its slots by their offsets from the arena of the function that runs. */
#ifndef GT_PTX_WARP_H
#define GT_PTX_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/text/module.h"
#include "stream/rows.h"

#define GT_PTX_FULL	UINT32_C(0xffffffff)
#define GT_PTX_BARRIERS 16
#define GT_PTX_CLUSTER_BARRIER GT_PTX_BARRIERS /* where paths wait for those of other blocks */
#define GT_PTX_GROUP_BARRIER   (GT_PTX_BARRIERS + 1) /* and for those of the four warps of a group */
#define GT_PTX_TURN	32	       /* instructions a warp issues before the next one's turn */
#define GT_PTX_ALL_ONES 0	       /* the slot of a predicate that always holds */
#define GT_PTX_FUNCTION_BASE UINT64_C(0x204000000000) /* addresses of functions */
#define GT_PTX_FUNCTION_STEP 16
#define GT_PTX_PARAMETER_BASE UINT64_C(0x205000000000) /* generic addresses of kernel parameters */
#define GT_PTX_FRAMES_MAX 4096			       /* functions under way at a time */
#define GT_PTX_SHARED_MAX (1U << 20)			       /* bytes a block, beyond any GPU's */
#define GT_PTX_LOCAL_MAX (512U << 10)		       /* bytes of local memory a thread, CUDA's limit */

#define GT_PTX_NOWHERE 64 /* bytes, as many as a lane accesses at a time */

struct gt_ptx_op;
struct gt_ptx_warp;
struct gt_ptx_code;

/* Does a micro-op for the lanes in `mask` (never 0); returns the one to go on with, or NULL when
 * the warp stops: it waits, is done, or the launch failed. */
typedef const struct gt_ptx_op *gt_ptx_step(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					    uint32_t mask);

struct gt_ptx_op {
	gt_ptx_step *run;
	union {
		uint64_t immediate;
		gt_ptx_step *inner;	       /* what `run` wraps, as a rounding does */
		struct gt_ptx_access *access;  /* memory */
		const struct gt_ptx_fetch *fetch; /* textures and surfaces */
		struct gt_ptx_call *call;
		const struct gt_ptx_switch *ways;
		const struct gt_ptx_product *product;
		const struct gt_ptx_segment *segment; /* machine code (lib/cuda/ptx/native) */
		const struct gt_ptx_entry *entry;     /* the same, of several segments and accesses */
		const char *text;	       /* what an unknown instruction says */
	} with;
	uint32_t d, q;	     /* slots of the results */
	uint32_t a, b, c, e; /* slots of the sources */
	uint32_t guard;	     /* slot of the predicate */
	uint8_t guarded;     /* 0: always; 1: where the guard holds; 2: where it does not */
	uint8_t counts;	     /* instructions: 1 for the first micro-op of one, else 0 */
	uint8_t choice;	     /* a rounding, a combination of predicates and so on, as `run` knows */
	uint8_t accesses;    /* it has an access */
	uint32_t line;	     /* in the PTX text */
	int32_t target;	     /* branches: micro-ops from here to the target */
	int32_t join;	     /* and to where both ways meet again; 0: at the function's end */
};

/* A load, store, atomic, or copy. */
struct gt_ptx_access {
	enum gt_ptx_space space;
	uint8_t action, operation; /* enum gt_action, enum gt_operator */
	bool scoped;		   /* the operator is that of a scope, which only global memory has */
	uint16_t hint;		   /* stream/hint.h */
	uint32_t policy;	   /* slot of the cache policy that says the priority in L2; 0: none */
	uint8_t size, n;	   /* bytes of an element, elements of a vector */
	bool narrow;		   /* the address slot is of 32-bit lanes */
	bool keeps;		   /* a result overwrites the address slot before it was read for the last time */
	bool in_frame;		   /* the address counts from the running function's local frame */
	bool untraced;		   /* parameters */
	bool waits;		   /* the warp needs the data of earlier loads before it: decode/registers.c */
	bool remote;		   /* it may be in the shared memory of another block of the cluster */
	uint32_t address;	   /* its slot */
	int64_t offset;
	uint32_t slots[8];	   /* of the elements */
	uint32_t results[8];	   /* slots of what a vector atomic finds; 0: not wanted */
	uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c); /* atomics */
	/* The allocation that the last access fell into. */
	uint64_t low, high;
	unsigned char *host;	   /* of `low` */
	/* Lanes outside of every allocation in this launch: how many, the first, its line; whether it was told. */
	uint64_t strays, stray_address;
	uint32_t stray_line;
	bool told;
};

/* Where a value passed to or from a function lies: a slot, or bytes of the local frame. */
struct gt_ptx_place {
	bool in_slot;
	uint32_t at;
	uint32_t bytes;
};

struct gt_ptx_call {
	const struct gt_ptx_function *callee; /* NULL: by the address in a slot */
	uint32_t address;
	struct gt_ptx_place *arguments, *returns;
	size_t n_arguments, n_returns;
	bool told; /* of the first that was passed over, see exec/stray.h */
};

/* A step in the place of `n` lane operations. They are the warp's alone, so that it may run ahead of its turn. */
typedef void gt_ptx_segment_code(unsigned char *arena, uint32_t mask);
struct gt_ptx_segment {
	gt_ptx_segment_code *whole, *part; /* machine code for all lanes, and for some; NULL: there is none */
	size_t n;
	struct gt_ptx_op first; /* of them, in whose place the step is */
};

/* The ways of brx.idx: micro-ops from here to each target. */
struct gt_ptx_switch {
	size_t n;
	int32_t targets[];
};

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
};

enum gt_ptx_state { GT_PTX_RUNS, GT_PTX_WAITS, GT_PTX_DONE };

/* What a warp was like when one of its turns ended, or when it polled, to know when it is the same again. */
struct gt_ptx_watch {
	const struct gt_ptx_op *op; /* NULL: nothing is kept */
	uint32_t mask;
	uint64_t next, gap; /* when to keep it anew, in instructions issued; and how long after */
	unsigned char *registers;
	size_t bytes, capacity;
	size_t differs; /* where registers differed last */
	bool has_local;
	uint64_t local;	/* a hash of the local memory */
	bool repeats;	/* it has been the same since it was kept */
	uint64_t times;	/* in a row that it was */
};

struct gt_ptx_warp {
	unsigned char *arena; /* of the running function */
	uint32_t mask;	      /* active lanes */
	uint32_t carry;	      /* CC.CF of each lane */
	uint64_t issued;      /* instructions */
	uint64_t until;	      /* its turn ends when it has issued so many */
	uint64_t ahead;	      /* of them, those that the next turns leave out */
	const struct gt_ptx_op *at;
	struct gt_ptx_core *core;
	enum gt_ptx_state state;
	uint32_t index;	      /* within the block */
	uint32_t live;	      /* lanes that have not exited */
	uint32_t an;	      /* accesses traced so far */
	uint64_t noted;	      /* `issued` at its last access that is not to shared memory */
	uint32_t barriers;    /* passed since then */
	struct gt_ptx_path *path, *top; /* the one that runs; of all */
	struct gt_ptx_path *free_paths; /* by `below` */
	struct gt_ptx_frame *frame, *last; /* of `path`; the last in the arena */
	struct gt_ptx_frame *free_frames; /* by `before` */
	const struct gt_ptx_code *filled; /* the kernel, once its slots are filled */
	uint32_t partial[GT_PTX_BARRIERS + 2]; /* lanes that have arrived where not all have */
	uint32_t partials; /* bit b: partial[b] is not 0 */
	uint32_t cluster_arrived; /* lanes that have arrived at the cluster's barrier, whose phase goes on */
	bool multiplies, meets; /* it has begun a wgmma that it has not waited for; it waits for its group */
	uint32_t cluster_owes; /* lanes that have arrived, and have still to wait */
	struct gt_ptx_watch watch, poll;
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

#define GT_PTX_SPIN_KEYS 512
/* In core->traced: accesses are looked at; rows have the column work. */
#define GT_PTX_NOTES_SPIN (UINT32_C(1) << 31)
#define GT_PTX_NOTES_WORK (UINT32_C(1) << 30)

/* Whether a block spins, as far as its accesses say (spin.c). */
struct gt_ptx_spin {
	bool spins;
	bool polls, fresh; /* accesses to global memory that it has made before; accesses that it has not */
	bool stores;	   /* to any memory */
	unsigned patience; /* further periods in which it may store and look as if it spun */
	int phase;
	uint64_t issued, next; /* warp instructions of the block; when the next phase begins */
	uint64_t look;	       /* how many a look takes */
	size_t n;
	uint64_t keys[GT_PTX_SPIN_KEYS]; /* of accesses, 0: free */
};

/* A block of a launch under way. */
struct gt_ptx_core {
	struct gt_ptx_machine *machine;
	const struct gt_ptx_launch *launch;
	const struct gt_ptx_program *program;
	struct gt_ptx_memory *memory;
	struct gt_sink *sink;
	struct gt_ptx_hold *hold; /* where accesses go in its place; NULL: nowhere */
	uint32_t traced; /* bit (1 << enum gt_space), none outside the traced blocks; GT_PTX_NOTES_SPIN and WORK */
	uint64_t block;	 /* linear */
	uint32_t ctaid[3];
	struct gt_ptx_cluster *cluster; /* NULL: it is alone */
	uint32_t rank; /* in its cluster */
	bool arrives; /* a thread has arrived at the cluster's barrier */
	unsigned char *shared;
	uint64_t shared_bytes;
	unsigned char *parameters;
	uint64_t parameter_bytes;
	struct gt_ptx_barrier barriers[GT_PTX_BARRIERS];
	struct gt_ptx_warp *warps;
	uint32_t n_warps, running; /* those that are not done */
	bool repeats; /* a warp did in the last round */
	bool ahead;   /* a warp was ahead of its turns before the last round, and issues when they have come */
	struct gt_ptx_spin spin;
	uint64_t accesses, polls;
	uint64_t launches; /* %gridid */
	uint64_t local_words; /* that the addresses of traced local accesses leave room for, a thread */
	bool failed;
	struct gt_ptx_ran *ran;
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

/* The same for all lanes at a stride, lane 0 at `first`. */
int gt_ptx_trace_whole(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint8_t operation, uint16_t hint, unsigned bytes,
		       uint64_t first, int64_t stride);

gt_ptx_step gt_ptx_branch, gt_ptx_join, gt_ptx_branch_indexed, gt_ptx_return, gt_ptx_exit, gt_ptx_trap,
	gt_ptx_do_call, gt_ptx_sync, gt_ptx_sync_alike,
	gt_ptx_barrier_wait, gt_ptx_barrier_result, gt_ptx_unknown, gt_ptx_do_nothing,
	gt_ptx_local_address, gt_ptx_poll, gt_ptx_fetch_texels, gt_ptx_load_surface, gt_ptx_store_surface, gt_ptx_query_image,
		gt_ptx_atomic, gt_ptx_vector_atomic,
		gt_ptx_is_space, gt_ptx_read_special, gt_ptx_touch_lines;

/* Ends the launch: "kernel NAME, PTX line L: BLOCK (x,y,z) THREAD (x,y,z): ..."; returns NULL. */
const struct gt_ptx_op *gt_ptx_fault(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
