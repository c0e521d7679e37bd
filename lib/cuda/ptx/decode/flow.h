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

/* Before which accesses of the function a warp waits for the data of its earlier loads: by instruction, which the caller frees in
 * either case. */
int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, bool **waiting, struct gt_error *error);

#endif
