/* SPDX-License-Identifier: MIT */
/* The registers of a function: their live ranges, the slots that they share, and the waits for what is loaded into them. */
#ifndef GT_PTX_DECODE_REGISTERS_H
#define GT_PTX_DECODE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/text/module.h"

#define GT_PTX_NO_REGISTER SIZE_MAX

struct gt_ptx_register {
	const char *name;
	enum gt_ptx_type type;
	bool read;	    /* by some instruction */
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

/* The set of registers that are live at the end of the first block: bit i is list[i]. *stride: words from there to that of the next
 * block. NULL: all may be. */
const uint64_t *gt_ptx_live_behind(const struct gt_ptx_registers *registers, size_t *stride);

/* The register of a name, or NULL: it is a special register, or none. */
const struct gt_ptx_register *gt_ptx_register_named(const struct gt_ptx_registers *registers, const char *name);

/* Assigns slots; registers that are not live at the same time may share one. */
int gt_ptx_registers_place(struct gt_ptx_registers *registers, struct gt_error *error);

/* Before which accesses of the function a warp waits for the data of its earlier loads: by instruction, which the caller frees in
 * either case. */
int gt_ptx_find_waits(struct gt_ptx_registers *registers, const struct gt_ptx_flow *flow, bool **waiting, struct gt_error *error);

#endif
