/* SPDX-License-Identifier: MIT */
/* One basic block with a name for each result, and the 32-bit registers it needs. */
#ifndef GT_PTX_ESTIMATE_BLOCK_H
#define GT_PTX_ESTIMATE_BLOCK_H

#include "cuda/ptx/estimate/live.h"
#include "cuda/ptx/estimate/steps.h"

struct gt_ptx_renamed_value {
	uint8_t words;
	bool outlives; /* the block */
	bool live;     /* while registers are counted */
};

struct gt_ptx_renamed {
	const struct gt_ptx_steps *steps;
	uint32_t turn;	      /* blocks renamed so far */
	uint32_t *seen, *name; /* by value: the turn in which it got its name; its newest name */
	struct gt_ptx_step *list;
	size_t n, capacity;
	uint32_t *refs; /* names */
	size_t n_refs, refs_capacity;
	struct gt_ptx_renamed_value *names;
	size_t n_names, names_capacity;
	uint32_t through; /* words of values that live through the block and do nothing in it */
	bool failed;	  /* memory is short */
};

/* Freed by gt_ptx_renamed_close in either case. */
int gt_ptx_renamed_open(struct gt_ptx_renamed *block, const struct gt_ptx_steps *steps, struct gt_error *error);
void gt_ptx_renamed_close(struct gt_ptx_renamed *block);

/* Block b, `copies` times behind each other, as an unrolled loop is: of a value that each turn advances by
 * a constant, the copies but the last use what it was at the first. */
void gt_ptx_rename(struct gt_ptx_renamed *block, const struct gt_ptx_live *live, size_t b, unsigned copies);

/* The most words that are live at a time, with the steps in an order; NULL: as they are. `reuse`: a result
 * may take the register of a source that is read last by the same step. */
uint32_t gt_ptx_words_live(struct gt_ptx_renamed *block, const uint32_t *order, bool reuse);

#endif
