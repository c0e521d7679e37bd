/* SPDX-License-Identifier: MIT */
/* The machine code of a segment: lane operations one behind the other, whose values stay in vector registers. */
#ifndef GT_PTX_SEGMENT_H
#define GT_PTX_SEGMENT_H

#include "ptx/native/rules.h"

#define GT_NATIVE_VALUES 29	/* registers for values */
#define GT_NATIVE_PREDICATES 30 /* that a segment writes at most: their place is the red zone */

/* A slot that is in registers: one of 16 lanes of 32 bits, or two of 8 of 64. */
struct gt_native_value {
	uint32_t slot;
	unsigned n;	 /* registers; 0: the entry is free */
	unsigned at[2];
	bool dirty;	 /* to be stored */
	unsigned used;	 /* when it was, in operations */
};

struct gt_native_segment {
	struct gt_native_code *code;
	bool whole; /* for a warp of which all lanes are active */
	struct gt_native_value values[GT_NATIVE_VALUES];
	bool taken[GT_NATIVE_VALUES];
	unsigned now;
	uint32_t predicates[GT_NATIVE_PREDICATES]; /* slots of those that were written */
	size_t n_predicates;
};

/* True if the operation has machine code; *rule is set then. */
bool gt_native_takes(const struct gt_ptx_op *op, const struct gt_native_rule **rule);
/* A function for operations that gt_native_takes: void (*)(unsigned char *arena, uint32_t mask). */
void gt_native_write(struct gt_native_code *code, const struct gt_ptx_op *ops, size_t n, bool whole);

/* The registers of a slot: read, or about to be written. */
const struct gt_native_value *gt_native_read(struct gt_native_segment *segment, uint32_t slot, unsigned n);
const struct gt_native_value *gt_native_write_to(struct gt_native_segment *segment, uint32_t slot, unsigned n);
/* Stores what is in registers. */
void gt_native_store_all(struct gt_native_segment *segment);

/* Moves a predicate into an opmask register, and back. */
void gt_native_read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k);
void gt_native_write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k);
/* Behind the loop: the slots of predicates. */
void gt_native_store_predicates(struct gt_native_segment *segment);

/* Emits one operation. */
void gt_native_emit(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op);

#endif
