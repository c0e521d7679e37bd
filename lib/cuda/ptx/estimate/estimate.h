/* SPDX-License-Identifier: MIT */
/* The registers of a thread that the assembler (ptxas) gives a kernel, estimated from its PTX. */
#ifndef GT_PTX_ESTIMATE_ESTIMATE_H
#define GT_PTX_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/text/module.h"

/* full: the registers that each thread of an SM full of threads can have, 0: those of the GPUs of the module's
 * .target. The assembler issues loads early and unrolls loops while it keeps below that; above, it goes only as
 * far as values are live at once in the order of the PTX. Not more than 255, nor than .maxntid and .minnctapersm
 * allow, and 255 for functions of more than 2^31 / 3 blocks times values; .maxnreg is not considered. */
int gt_ptx_estimate_registers(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, uint32_t full,
			      uint32_t *registers, struct gt_error *error);

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

#endif
