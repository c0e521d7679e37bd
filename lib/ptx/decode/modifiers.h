/* SPDX-License-Identifier: MIT */
/* What stands behind the opcode of an instruction that accesses memory. Every modifier that the PTX ISA
 * has is modelled, or ignored and named, or its instruction is refused by name. */
#ifndef GT_PTX_MODIFIERS_H
#define GT_PTX_MODIFIERS_H

#include "ptx/decode/decoder.h"
#include "stream/hint.h"

/* Families of instructions: bits. */
enum {
	GT_PTX_LOADS = 1,
	GT_PTX_STORES = 2,
	GT_PTX_ATOMICS = 4,
	GT_PTX_COPIES = 8,
	GT_PTX_LINES = 16, /* prefetch, discard and such */
};

/* Reads the modifiers of the instruction at hand into the access: space, operator, elements, hint; and
 * its type, the last that is named. Returns 0; 1 if one of them is not modelled, and the instruction
 * has been refused; or -1. */
int gt_ptx_read_modifiers(struct gt_ptx_decoder *decoder, unsigned family, struct gt_ptx_access *access,
			  enum gt_ptx_type *type);

/* Where .L2::cache_hint is said, the last operand is a cache policy: read into the access, and *n is
 * one less. Returns 0, or -1. */
int gt_ptx_read_policy(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, size_t *n);

/* Refuses the instruction: "'st.async.b32' WHY". Returns 0, or -1 when memory is short. */
int gt_ptx_refuse(struct gt_ptx_decoder *decoder, const char *why);

#endif
