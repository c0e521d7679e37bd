/* SPDX-License-Identifier: MIT */
/* Machine code of x86-64 on general registers: what addresses are made of, and jumps. */
#ifndef GT_PTX_GENERAL_H
#define GT_PTX_GENERAL_H

#include "cuda/ptx/native/encode.h"

/* Opcodes of OP d, s for two registers, or for a register and [base + offset]. */
enum gt_general_opcode { GT_ADD = 0x03, GT_SUB = 0x2b, GT_COMPARE = 0x3b, GT_MOVE = 0x8b };
/* Of OP d, immediate. */
enum gt_general_immediate { GT_ADD_NUMBER = 0, GT_COMPARE_NUMBER = 7 };
/* When a jump is taken: the bits of its opcode. */
enum gt_jump { GT_BELOW = 2, GT_NOT_BELOW, GT_EQUAL, GT_NOT_EQUAL, GT_NOT_ABOVE, GT_ABOVE, GT_NEGATIVE, GT_NOT_GREATER = 14, GT_ALWAYS = 16 };

/* Registers have 64 bits, or 32 if not `wide`. A base is none of rsp and r12. */
void gt_general(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned s);
void gt_general_at(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned base, size_t offset);
void gt_general_store(struct gt_native_code *code, bool wide, unsigned s, unsigned base, size_t offset);
void gt_general_number(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned d, uint32_t number);
/* OP [base + offset], number. */
void gt_general_number_at(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned base, size_t offset,
			  uint32_t number);
/* d = 64 bits. */
void gt_general_constant(struct gt_native_code *code, unsigned d, uint64_t bits);
/* d = the address of `what`. */
void gt_general_address(struct gt_native_code *code, unsigned d, const void *what);

/* A jump to a place that is not written yet; returns where it ends, which gt_general_land takes when the place is. */
size_t gt_general_jump(struct gt_native_code *code, enum gt_jump when);
void gt_general_land(struct gt_native_code *code, size_t jump);
void gt_general_land_at(struct gt_native_code *code, size_t jump, size_t place);
/* A jump or a call to what is written already. */
void gt_general_jump_to(struct gt_native_code *code, size_t place);
void gt_general_call_to(struct gt_native_code *code, size_t place);

#endif
