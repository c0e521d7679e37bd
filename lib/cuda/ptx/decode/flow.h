/* SPDX-License-Identifier: MIT */
/* The flow graph of a function: its basic blocks and the edges between them (flow.c); its registers, where they are live, and the slots
 * that they share (registers.c). The decoder, the static analysis and the estimate of registers share it. */
#ifndef GT_PTX_DECODE_FLOW_H
#define GT_PTX_DECODE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "cuda/ptx/text/module.h"

/* The number n_blocks stands for the function's end. */
struct gt_ptx_block {
	size_t first, end;     /* instructions [first, end) */
	size_t successors;     /* the first of them in `edges` */
	size_t n_successors;   /* at least one; no two alike */
	size_t predecessors;   /* the first of them in `sources`: reached blocks, ascending */
	size_t n_predecessors;
	bool reached;	       /* control can get here from the function's beginning */
	size_t join;	       /* where lanes that part at the block's end meet: gt_ptx_flow_find_joins */
};

struct gt_ptx_flow {
	const struct gt_ptx_function *function;
	struct gt_ptx_block *blocks;
	size_t n_blocks;
	size_t *edges; /* blocks */
	size_t n_edges;
	size_t *sources; /* blocks */
	size_t *block_of; /* by instruction; one more, n_blocks, for the end */
	struct gt_map labels; /* a label's name -> the instruction it stands before */
};

/* Fails for a branch to no label. Freed by gt_ptx_flow_free in either case. */
int gt_ptx_flow_make(struct gt_ptx_flow *flow, const struct gt_ptx_function *function, struct gt_error *error);
void gt_ptx_flow_free(struct gt_ptx_flow *flow);

/* Finds the `join` of every block. */
int gt_ptx_flow_find_joins(struct gt_ptx_flow *flow, struct gt_error *error);

/* The block that a label begins, which some branch names; n_blocks for a label at the end. */
size_t gt_ptx_flow_target(const struct gt_ptx_flow *flow, const char *label);

/* Which values are live where blocks begin and end; the values are numbered by who asks. */
enum gt_ptx_liveness_set { GT_PTX_LIVE_IN, GT_PTX_LIVE_OUT, GT_PTX_LIVE_WRITTEN, GT_PTX_LIVENESS_SETS };
struct gt_ptx_liveness {
	size_t words;	/* of a set */
	uint64_t *sets; /* those of each block; NULL: they would take too much memory, and any value may be live */
};

/* Makes empty sets of n values. The caller then puts into LIVE_IN of each block what it reads before it writes it, into WRITTEN what
 * it always writes, and into LIVE_OUT what is read when the function has ended. Freed by gt_ptx_liveness_free in either case. */
int gt_ptx_liveness_make(struct gt_ptx_liveness *live, const struct gt_ptx_flow *flow, size_t n, struct gt_error *error);
/* Solves the equations of liveness: in = read | (out & ~written), out = the union of in over the successors. */
void gt_ptx_liveness_solve(const struct gt_ptx_liveness *live, const struct gt_ptx_flow *flow);
void gt_ptx_liveness_free(struct gt_ptx_liveness *live);

static inline uint64_t *gt_ptx_liveness_of(const struct gt_ptx_liveness *live, size_t block, enum gt_ptx_liveness_set which)
{
	return live->sets + (block * GT_PTX_LIVENESS_SETS + which) * live->words;
}
static inline bool gt_ptx_is_in(const uint64_t *set, size_t i)
{
	return set[i / 64] >> i % 64 & 1;
}
static inline void gt_ptx_put_in(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}
static inline void gt_ptx_take_out(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* ---- registers ---- */

#define GT_PTX_NO_REGISTER SIZE_MAX

struct gt_ptx_register {
	const char *name;
	enum gt_ptx_type type;
	bool read;	    /* by some instruction */
	size_t writers;	    /* how many instructions write it */
	const struct gt_ptx_instruction *number; /* the one that does: a mov of a number before all that read it; NULL: it is none */
	bool unset;	    /* by some path, and nothing on it may have written it before */
	const char *origin; /* --memcheck: the name of a register that nothing has written, from which its value may come; NULL: there is none */
	uint32_t written;   /* then: the slot of the lanes in which it is written */
	size_t first, last; /* live from here to there: instruction i reads at 2i and writes at 2i + 1 */
	uint32_t slot;	    /* bytes from the beginning of the slots */
};

struct gt_ptx_registers {
	const struct gt_ptx_function *function;
	struct gt_map names; /* a name's address -> index */
	struct gt_ptx_register *list;
	size_t n, capacity;
	uint32_t slot_bytes; /* of all slots */
	struct gt_ptx_liveness live;
};

/* Bytes of a slot, which holds a value of the type for each lane. */
uint32_t gt_ptx_slot_bytes(enum gt_ptx_type type);

/* Finds all registers and where they are live. Freed by gt_ptx_registers_free in either case. */
int gt_ptx_registers_make(struct gt_ptx_registers *registers, const struct gt_ptx_function *function,
			  const struct gt_ptx_flow *flow, struct gt_error *error);
void gt_ptx_registers_free(struct gt_ptx_registers *registers);

/* The register of a name, or NULL: it is a special register, or none. */
const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name);

/* Assigns slots; registers that are not live at the same time may share one. */
int gt_ptx_registers_place(struct gt_ptx_registers *registers, struct gt_error *error);

/* ---- a kernel's instructions as the assembler keeps them, and the values that they make (steps.c). What costs no register
 * in machine code is left out: constants and parameters (operands in the constant bank), copies, products that
 * only sums take (multiply-add) ---- */

#define GT_PTX_ARITHMETIC_CYCLES 4U

/* What of memory may not pass a step. */
enum gt_ptx_effect {
	GT_PTX_EFFECT_NONE,
	GT_PTX_EFFECT_READS,  /* a write to its space may not */
	GT_PTX_EFFECT_WRITES, /* nothing of its space may */
	GT_PTX_EFFECT_FENCE,  /* nothing of memory may */
	GT_PTX_EFFECT_ENDS,   /* nothing at all: branches and calls */
};

/* Spaces that do not overlap; an address without a space counts as global. */
enum gt_ptx_step_space { GT_PTX_STEP_GLOBAL, GT_PTX_STEP_SHARED, GT_PTX_STEP_LOCAL, GT_PTX_STEP_SPACES };

struct gt_ptx_step {
	size_t refs; /* where in `refs` its values begin: results, then sources */
	uint32_t n_results, n_sources;
	uint32_t latency; /* cycles until a result can be used, at least 1 */
	uint32_t scratch; /* 32-bit registers it needs beside results and sources */
	enum gt_ptx_effect effect;
	enum gt_ptx_step_space space;
	bool guarded;  /* its results may keep what they held: they are sources too */
	bool compares; /* setp */
	bool advances; /* its result is its only source plus a constant */
	bool rolled;   /* .pragma "nounroll" stands before it */
	const char *callee; /* a call: the function's name; NULL: another step, or a call by address */
};

/* The steps of a function, by basic block. A value is the index of a register of gt_ptx_registers. */
struct gt_ptx_steps {
	struct gt_ptx_step *list;
	size_t n, capacity;
	uint32_t *refs;
	size_t n_refs, refs_capacity;
	uint8_t *words; /* by value: 32-bit registers; 0 for a predicate */
	size_t n_values;
	size_t *first; /* by block, and one more: its first step */
};

/* Freed by gt_ptx_steps_free in either case. */
int gt_ptx_steps_make(struct gt_ptx_steps *steps, const struct gt_ptx_function *function,
		      const struct gt_ptx_flow *flow, const struct gt_ptx_registers *registers,
		      struct gt_error *error);
void gt_ptx_steps_free(struct gt_ptx_steps *steps);

/* Whether the assembler unrolls block b: a small counted loop of its own. It branches to itself as long as a value that it advances by a
 * constant compares with one that it does not change; it has no more than 40 steps, calls nothing, nothing in it orders memory, and no
 * .pragma "nounroll" stands before it. */
bool gt_ptx_unrolls(const struct gt_ptx_steps *steps, const struct gt_ptx_flow *flow, size_t b);
/* The same for all blocks; the caller frees *unrolled in either case. */
int gt_ptx_find_unrolled(const struct gt_ptx_function *function, const struct gt_ptx_flow *flow, const struct gt_ptx_registers *registers,
			 bool **unrolled, struct gt_error *error);

/* ---- waits ---- */

/* Before which accesses of the function a warp waits: enum gt_ptx_wait by instruction, which the caller frees in either case. unrolled: by
 * block, whether the assembler unrolls it. */
int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, const bool *unrolled, unsigned char **waiting,
		      struct gt_error *error);

#endif
