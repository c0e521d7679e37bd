/* SPDX-License-Identifier: MIT */
/* The registers of a function: which instruction writes and reads which, how long each lives, and
 * the slots they share. */
#ifndef GT_PTX_REGISTERS_H
#define GT_PTX_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "ptx/decode/flow.h"
#include "ptx/text/module.h"

#define GT_PTX_NO_REGISTER SIZE_MAX

struct gt_ptx_register {
	const char *name;
	enum gt_ptx_type type;
	bool read;	    /* by some instruction */
	size_t first, last; /* it holds something from here to there: instruction i reads at 2i,
		writes at 2i+1 */
	uint32_t slot;	    /* bytes from where the slots begin */
};

struct gt_ptx_registers {
	const struct gt_ptx_function *function;
	struct gt_map names; /* from the name's address, to the index */
	struct gt_ptx_register *list;
	size_t n, capacity;
	uint32_t slot_bytes; /* of all slots */
};

/* Bytes of the slot that holds 32 values of a type; of the type's lanes alone. */
uint32_t gt_ptx_slot_bytes(enum gt_ptx_type type);

/* Finds all registers and their lives. Freed by gt_ptx_registers_free in either case. */
int gt_ptx_registers_make(struct gt_ptx_registers *registers, const struct gt_ptx_function *function,
			  const struct gt_ptx_flow *flow, struct gt_error *error);
void gt_ptx_registers_free(struct gt_ptx_registers *registers);

/* The register of a name, or NULL: it is a special register, or none. */
const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name);

/* Gives slots: registers that do not live at the same time may share one. */
int gt_ptx_registers_place(struct gt_ptx_registers *registers, struct gt_error *error);

#endif
