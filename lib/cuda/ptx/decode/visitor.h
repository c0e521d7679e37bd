/* SPDX-License-Identifier: MIT */
/* Visits the registers that instructions name, and adds each to the table when it is first named. */
#ifndef GT_PTX_VISITOR_H
#define GT_PTX_VISITOR_H

#include "cuda/ptx/decode/registers.h"

struct gt_ptx_visitor {
	struct gt_ptx_registers *registers;
	int (*visit)(struct gt_ptx_visitor *visitor, size_t index, bool written);
	void *context;
	struct gt_error *error;
	bool guarded; /* the instruction may not be executed */
};

/* Visits the register of a name, if it is one; NULL is none. */
int gt_ptx_visit_name(struct gt_ptx_visitor *visitor, const char *name, bool written);
/* Visits each register that the instruction writes; that it reads, its guard too. Returns -1 when a visit does. */
int gt_ptx_visit_results(struct gt_ptx_visitor *visitor, const struct gt_ptx_instruction *instruction);
int gt_ptx_visit_sources(struct gt_ptx_visitor *visitor, const struct gt_ptx_instruction *instruction);

/* Sets `first` and `last` of every register. */
int gt_ptx_find_live_ranges(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, struct gt_error *error);

#endif
