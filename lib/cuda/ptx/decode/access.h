/* SPDX-License-Identifier: MIT */
/* What the decoders of instructions that access memory share: modifiers, cache policies, addresses. Every modifier
 * of the PTX ISA is modelled, or ignored and named, or its instruction is refused by name. */
#ifndef GT_PTX_DECODE_ACCESS_H
#define GT_PTX_DECODE_ACCESS_H

#include "cuda/ptx/decode/decode.h"

/* With .L2::cache_hint the last operand is a cache policy: reads it into the access and makes *n one less. Returns 0,
 * or -1. */
int gt_ptx_read_policy(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, size_t *n);

/* Refuses the instruction: "'st.async.b32' WHY". Returns 0, or -1 when memory is short. */
int gt_ptx_refuse(struct gt_ptx_decoder *decoder, const char *why);

/* An access with what the modifiers give. Returns as gt_ptx_read_modifiers does. The code owns the access. */
int gt_ptx_new_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, enum gt_ptx_type *type);
/* What a decoder returns then: 0 if the instruction was refused, -1 if it failed. */
int gt_ptx_refused(int result);

/* Reads the address: a register's lanes and an offset, or the constant address of a symbol. Returns 0, or -1. */
int gt_ptx_read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand);

/* Appends a micro-op that does the access; NULL when memory is short. */
struct gt_ptx_op *gt_ptx_emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run);

#endif
