/* SPDX-License-Identifier: MIT */
/* Lane operations that have machine code: how each is made of vector instructions. */
#ifndef GT_PTX_RULES_H
#define GT_PTX_RULES_H

#include "cuda/ptx/exec/forms.h"
#include "cuda/ptx/native/encode.h"

/* x, y and z are the sources, d the result; the opcode is that of the rule. */
enum gt_native_kind {
	GT_NATIVE_BINARY,  /* d = x OP y */
	GT_NATIVE_UNARY,   /* d = OP x */
	GT_NATIVE_SHIFT,   /* d = x OP y, of 64 bits, with a count of 32 */
	GT_NATIVE_MOVE,
	GT_NATIVE_NOT,
	GT_NATIVE_NEGATE,  /* d = 0 OP x */
	GT_NATIVE_SIGN,    /* d = x OP its sign bit */
	GT_NATIVE_RECIPROCAL,
	GT_NATIVE_MULTIPLY_ADD, /* d = (x OP y) + z, of integers */
	GT_NATIVE_FUSED,   /* d = x * y + z, of floats */
	GT_NATIVE_COMPARE, /* a predicate; `immediate` says which comparison */
	GT_NATIVE_SELECT,  /* d = predicate ? x : y */
	GT_NATIVE_LOGIC,   /* of predicates */
	GT_NATIVE_WIDEN,   /* 64 bits of 32 */
	GT_NATIVE_NARROW,
	GT_NATIVE_TRUNCATE, /* an integer of a float, towards 0; what is too large becomes the largest, NaN becomes 0 */
	GT_NATIVE_WIDE_PRODUCT, /* 64 bits of two of 32, each widened first by opcode `immediate` */
	GT_NATIVE_WIDE_MULTIPLY_ADD,
	GT_NATIVE_KINDS
};

struct gt_native_rule {
	const char *name; /* of the form */
	enum gt_native_kind kind;
	struct gt_native_op op;
	uint8_t immediate;
	bool canonical; /* a NaN result is 0x7fffffff */
};

/* How many sources operations of a kind have: 1 to 3. */
unsigned gt_native_sources(enum gt_native_kind kind);
/* The rule of an operation that is run by this step; NULL: it has none. */
const struct gt_native_rule *gt_native_rule_of(gt_ptx_step *run);

#endif
