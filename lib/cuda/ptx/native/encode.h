/* SPDX-License-Identifier: MIT */
/* Machine code of x86-64 with AVX2 or AVX-512, instruction by instruction, into a buffer that grows. */
#ifndef GT_PTX_ENCODE_H
#define GT_PTX_ENCODE_H

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

/* OP zmm_d{k}, zmm_a, zmm_b, of 512 bits. k 0: all elements. a 0 where an instruction has none. An immediate goes behind it. */
void gt_native_vector(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned b);
/* The same with [base + offset] in the place of b. */
void gt_native_memory(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned base,
		      uint32_t offset);
/* OP zmm_d{k}, [base + zmm_index]: what lanes have at places of their own. */
void gt_native_gather(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned base, unsigned index);
/* Between xmm_x and general register r. */
void gt_native_lane(struct gt_native_code *code, struct gt_native_op op, unsigned x, unsigned r);
/* OP k_d, k_a, k_b, of the opmask registers; `large`: L is set. */
void gt_native_mask(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b);
/* kmovw between k and [base + offset]: opcode 0x90 loads, 0x91 stores. */
void gt_native_mask_memory(struct gt_native_code *code, unsigned opcode, unsigned k, unsigned base, uint32_t offset);

/* OP xmm_d, xmm_a, xmm_b and OP ymm_d, ymm_a, ymm_b, of 128 and 256 bits: AVX2. */
void gt_native_vector128(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned b);
void gt_native_vector256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned b);
/* The latter with [base + offset] in the place of b, or with a constant that is `at` bytes into the code; `behind`: bytes of the
 * immediate that follows. */
void gt_native_memory256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset);
/* OP d, [base + ymm_index], mask: what lanes have at places of their own. */
void gt_native_gather256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned mask, unsigned base, unsigned index);
void gt_native_constant256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, uint32_t at, unsigned behind);

#endif
