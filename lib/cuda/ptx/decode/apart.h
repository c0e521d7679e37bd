/* SPDX-License-Identifier: MIT */
/* Whether the blocks of a kernel can run at the same time with the result of one after the other, as far as its instructions say. */
#ifndef GT_PTX_APART_H
#define GT_PTX_APART_H

#include <stdbool.h>

#include "cuda/ptx/text/module.h"

/* Whether an instruction has a result, or an effect, that depends on which blocks have run: an atomic, an access or a fence
 * that orders blocks, a tensor map that is changed. Of shared and local memory none has. */
bool gt_ptx_joins_blocks(const struct gt_ptx_instruction *instruction);

/* Whether it is one of these, and brings a value to a register: a load or an atomic that a loop may wait with. */
bool gt_ptx_polls(const struct gt_ptx_instruction *instruction);

/* Whether it may leave something behind when its block has ended: a store, an atomic, what a call does. */
bool gt_ptx_has_effect(const struct gt_ptx_instruction *instruction);

#endif
