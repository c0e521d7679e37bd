/* SPDX-License-Identifier: MIT */
/* A stretch: what a warp does from one place of a block on, loads and stores too, as one piece of machine code that keeps
 * values in registers. It is made of points: the operations, and segments of them, before which a turn may end. The code stops at
 * each as a loop over the points would, and may be entered at each, so that warps take the same turns with it and without. A second
 * piece is for warps of which some lanes are active. */
#ifndef GT_PTX_NATIVE_STRETCH_H
#define GT_PTX_NATIVE_STRETCH_H

#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/segment.h"

typedef const struct gt_ptx_op *gt_ptx_stretch_code(unsigned char *arena, struct gt_ptx_warp *warp, const unsigned char *at);

/* A point, as the operation there knows it. */
struct gt_ptx_entry {
	/* Machine code of stretches, and where in it this point is: for whole warps, and for those of which some lanes are active. */
	struct gt_ptx_point_code {
		gt_ptx_stretch_code *run;
		const unsigned char *at;
	} whole, active;
	size_t n;		  /* operations of the point */
	struct gt_ptx_op inner;	  /* what is done where machine code calls steps */
	uint32_t traces;	  /* of an access: the bit of core->traced that says whether it is, */
	struct gt_ptx_kept row;	  /* what all of its rows have, */
	const unsigned char *last; /* and where the last one was */
};

enum gt_stretch_kind {
	GT_STRETCH_LANES, /* lane operations */
	GT_STRETCH_MOVE,  /* a load or store */
	GT_STRETCH_CALL,  /* a lane operation without machine code, which is called */
	GT_STRETCH_JOIN,  /* where ways of a branch meet, which is left to the C code if lanes wait there */
	GT_STRETCH_BRANCH, /* which all lanes take or none, or that is left to the C code */
};

/* Whether an access that has machine code has it where some lanes are active, too. */
static inline bool gt_stretch_moves_active(const struct gt_ptx_access *access)
{
	return access->n == 1 && access->size >= 4;
}

#define GT_STRETCH_VECTOR 16U /* bytes of a lane that may be side by side with others, at most */
#define GT_STRETCH_SHAPES 16 /* that are known at a time */
#define GT_STRETCH_UNKNOWN UINT32_MAX /* a word that says nothing yet */
#define GT_STRETCH_SLOW 40 /* tests that may send an access to the C code */

struct gt_stretch_point {
	size_t op, n;	   /* the first operation, and how many */
	uint32_t counts;   /* their instructions, */
	uint32_t before;   /* and those in the stretch before them */
	enum gt_stretch_kind kind;
	struct gt_ptx_entry *entry;
	unsigned shape;	   /* number of the word that says how addresses are apart, from 1 on; 0: none does */
	bool finds_shape;  /* first of those with this word */
	bool fast;	   /* a load or store that has machine code */
	/* As written: places in the code, jumps out of it (0: none), and which values were in registers. */
	size_t place, again, row_again;
	size_t ends, leaves, row, noted, slow[GT_STRETCH_SLOW];
	size_t n_slow;
	struct gt_native_value at_begin[GT_NATIVE_VALUES], at_move[GT_NATIVE_VALUES], at_end[GT_NATIVE_VALUES];
};

/* A jump to an operation that another stretch may begin with, and the code for that. */
struct gt_stretch_way {
	size_t jump, op;
	bool whole;
};

/* The first code of a function with stretches: what all of them use. */
struct gt_stretch_shared {
	size_t begin, end, row;
	size_t begin_active, find_active[2]; /* the same for some lanes; of elements of 4 and 8 bytes */
};

struct gt_stretch {
	const struct gt_stretch_shared *shared;
	struct gt_native_segment segment;
	const struct gt_ptx_code *code;
	struct gt_stretch_point *points;
	size_t n;
	unsigned n_shapes;
	struct gt_stretch_way *ways; /* of all stretches */
	size_t n_ways;
};

/* What r15 points to: how far lane i is from lane 0 where they are 1, 2, 4, 8 and 16 bytes apart, as addresses of 64 and of 32 bits; and the
 * bits that distances from the begin of a memory do not have, of lanes of 4, 8 and 16 bytes: they would be negative, or odd. */
enum gt_stretch_apart { GT_STRETCH_APART1, GT_STRETCH_APART2, GT_STRETCH_APART4, GT_STRETCH_APART8, GT_STRETCH_APART16, GT_STRETCH_APARTS };
struct gt_stretch_constants {
	uint64_t wide[GT_STRETCH_APARTS][GT_WARP_SIZE];
	uint32_t narrow[GT_STRETCH_APARTS][GT_WARP_SIZE];
	uint64_t outside[3][8];
	uint32_t outside_narrow[3][16];
};
extern const void *const gt_stretch_constants;

static inline enum gt_stretch_apart gt_stretch_apart_by(unsigned bytes)
{
	return (enum gt_stretch_apart)__builtin_ctz(bytes);
}

/* How the active lanes of a warp access memory: not by machine code; all at one place, which is rdi; those of each half side by side,
 * of which lane 0 is at rdi and lane 16 at rsi, active or not; or anywhere, as rdi was, which at one place rsi is. This is what a routine finds
 * in eax. It is called with rdx the entry, the addresses in core->addresses, r8 the begin of the memory, r9 the bytes from there to the last
 * element's place, and rdi how far the host has its memory from these addresses. It adds the row of an access that is traced. rcx, rdx and r11 are
 * free in it. */
enum gt_stretch_active { GT_STRETCH_NOT, GT_STRETCH_ONE, GT_STRETCH_RUNS, GT_STRETCH_SCATTERED };

/* A load or store while it is written. */
struct gt_stretch_move {
	struct gt_stretch *stretch;
	struct gt_stretch_point *point;
	struct gt_native_code *code;
	const struct gt_ptx_access *access;
	unsigned bytes;	 /* of a lane */
	struct gt_native_operand lanes[8]; /* the addresses, */
	unsigned n_lanes; /* and how many registers they fill */
	struct gt_native_operand data[4][8]; /* the elements, */
	unsigned n_data;  /* and how many registers each fills */
};

/* Where the host has the memory that an access is in: r13 is the core, and memory begins at address 0; or rdx is the access. */
struct gt_stretch_window {
	unsigned base;
	size_t host, bytes;
};
static inline struct gt_stretch_window gt_stretch_window_of(const struct gt_ptx_access *access)
{
	switch (access->space) {
	case GT_PTX_SHARED:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, shared), offsetof(struct gt_ptx_core, shared_bytes)};
	case GT_PTX_PARAM:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, parameters), offsetof(struct gt_ptx_core, parameter_bytes)};
	default: return (struct gt_stretch_window){GT_RDX, offsetof(struct gt_ptx_access, host), 0};
	}
}

/* The access is left to the C code by a jump. */
static inline void gt_stretch_slow(const struct gt_stretch_move *move, size_t jump)
{
	move->point->slow[move->point->n_slow++] = jump;
}
static inline void gt_stretch_slow_if(const struct gt_stretch_move *move, enum gt_jump when)
{
	gt_stretch_slow(move, gt_general_jump(move->code, when));
}
/* Of addresses. */
static inline struct gt_native_op gt_stretch_add(const struct gt_stretch_move *move)
{
	return (struct gt_native_op){GT_0F, GT_66, !move->access->narrow, move->access->narrow ? GT_VPADDD : GT_VPADDQ};
}
/* Every lane of d = a general register. */
static inline void gt_stretch_broadcast(const struct gt_stretch_move *move, unsigned d, unsigned general)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const bool wide = !move->access->narrow;

	segment->isa->lane(segment, (struct gt_native_op){GT_0F, GT_66, wide, GT_VMOV_FROM_GENERAL}, d, general);
	segment->isa->vector(segment, segment->isa->broadcast[wide], d, 0, d);
}
/* The addresses of all lanes at a place. */
static inline void gt_stretch_write_addresses(const struct gt_stretch_move *move, unsigned base, size_t at)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const bool wide = !move->access->narrow;

	gt_general_constant(move->code, GT_R11, (uint64_t)move->access->offset);
	gt_stretch_broadcast(move, isa->third, GT_R11);
	for (unsigned i = 0; i < 2 * gt_native_parts(isa); i++) {
		gt_native_with(segment, gt_stretch_add(move), isa->second, isa->third, move->lanes[wide ? i : i / 2]);
		if (!wide)
			isa->widen(segment, gt_native_zeros, isa->fourth, isa->second, i % 2);
		isa->memory(segment, gt_native_store, wide ? isa->second : isa->fourth, 0, base, (uint32_t)(at + i * isa->bytes));
	}
}
/* Loads or stores the elements of a whole warp whose lanes are side by side from rdi on; loads those of one place, which is rdi. */
enum gt_stretch_side { GT_STRETCH_LOAD, GT_STRETCH_LOAD_ONE, GT_STRETCH_STORE };
void gt_stretch_move_elements(const struct gt_stretch_move *move, enum gt_stretch_side what);
/* The load or store of a warp of which some lanes are active. */
void gt_stretch_write_active(const struct gt_stretch_move *move, bool stores);

/* Writes the routine that finds how the addresses of active lanes lie, of so many bytes, where `row` is the one that adds rows. */
void gt_stretch_write_find(const struct gt_native_isa *isa, struct gt_native_code *code, unsigned bytes, size_t row);
/* Writes the load or store of a point. */
void gt_stretch_write_move(struct gt_stretch *stretch, struct gt_stretch_point *point);
/* Counts an access to shared memory of lanes at one place or side by side, of the stride rcx, for the column shared, if that is all that is
 * noted of it, and goes on behind the access: edx is what is noted. */
void gt_stretch_write_counted(struct gt_stretch *stretch, const struct gt_stretch_point *point);
/* test edx, bits */
static inline void gt_stretch_write_test(struct gt_native_code *code, uint32_t bits)
{
	gt_native_text(code, "\xf7\xc2");
	gt_native_word(code, bits);
}
#endif
