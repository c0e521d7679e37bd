/* SPDX-License-Identifier: MIT */
/* Machine code of x86-64 with AVX2 or AVX-512, instruction by instruction, into a buffer that grows. */
#ifndef GT_PTX_NATIVE_ENCODE_H
#define GT_PTX_NATIVE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_native_code {
	unsigned char *bytes;
	size_t n, capacity;
	bool failed; /* memory was short */
};

/* General registers by their numbers in instructions. */
enum { GT_RAX, GT_RCX, GT_RDX, GT_RBX, GT_RBP = 5, GT_RSI, GT_RDI, GT_R8, GT_R9, GT_R10, GT_R11, GT_R12, GT_R13, GT_R14, GT_R15 };
/* The three bytes that select a group of opcodes, and the prefixes. */
enum gt_native_map { GT_0F = 1, GT_0F38, GT_0F3A };
enum gt_native_prefix { GT_NP, GT_66, GT_F3, GT_F2 };

/* An opcode of a vector instruction. W is set where elements have 64 bits. */
struct gt_native_op {
	uint8_t map, prefix, wide, opcode;
};

void gt_native_byte(struct gt_native_code *code, unsigned byte);
void gt_native_bytes(struct gt_native_code *code, const void *bytes, size_t n);
/* Instructions as a string. */
#define gt_native_text(CODE, BYTES) gt_native_bytes(CODE, BYTES, sizeof BYTES - 1)
void gt_native_word(struct gt_native_code *code, uint32_t word);

/* Instructions with the VEX prefix. `large`: L is set, which means vectors of 256 bits. OP d, a, b; and the same with [base + offset] in the
 * place of b. a 0 where an instruction has none; an immediate goes behind it. */
void gt_native_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b);
void gt_native_vex_memory(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned base,
			  uint32_t offset);
/* The prefix and the opcode. `r` is in the byte behind the opcode, with `b` or a base; registers' bits 3 are inverted in the prefix. */
void gt_native_begin_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned r, unsigned a, unsigned b);

/* Machine code of x86-64 on general registers: what addresses are made of, and jumps. */

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
/* mov dword [base + offset], number. */
void gt_general_set_at(struct gt_native_code *code, unsigned base, size_t offset, uint32_t number);
/* d = 64 bits. */
void gt_general_constant(struct gt_native_code *code, unsigned d, uint64_t bits);
/* d = the address of `what`. */
void gt_general_address(struct gt_native_code *code, unsigned d, const void *what);

/* A jump to a place that is not written yet; returns where it ends, which gt_general_land takes when the place is. */
size_t gt_general_jump(struct gt_native_code *code, enum gt_jump when);
void gt_general_land(struct gt_native_code *code, size_t jump);
void gt_general_land_at(struct gt_native_code *code, size_t jump, size_t place);
/* A call to what is written already. */
void gt_general_call_to(struct gt_native_code *code, size_t place);

#endif
