/* SPDX-License-Identifier: MIT */
/* Instructions of AVX2 on vectors, and those of AVX-512 on opmask registers: the forms are those of Intel's manual, volume 2,
 * chapter 2.3. */
#include "cuda/ptx/native/encode.h"

/* Registers' bits 3 are inverted in it. `r` is in the byte behind the opcode, with `b` or a base. */
static void begin_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned r, unsigned a, unsigned b)
{
	gt_native_byte(code, 0xc4);
	gt_native_byte(code, (r & 8 ? 0U : 0x80U) | (b & 16 ? 0U : 0x40U) | (b & 8 ? 0U : 0x20U) | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | (unsigned)large << 2 | op.prefix);
	gt_native_byte(code, op.opcode);
}

/* The byte behind the opcode, for two registers and for [base + offset]. */
static void registers(struct gt_native_code *code, unsigned r, unsigned b)
{
	gt_native_byte(code, 0xc0 | (r & 7) << 3 | (b & 7));
}

static void based(struct gt_native_code *code, unsigned r, unsigned base, uint32_t offset)
{
	gt_native_byte(code, 0x80 | (r & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

void gt_native_mask(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b)
{
	begin_vex(code, op, large, d, a, b);
	registers(code, d, b);
}

void gt_native_mask_memory(struct gt_native_code *code, unsigned opcode, unsigned k, unsigned base, uint32_t offset)
{
	begin_vex(code, (struct gt_native_op){GT_0F, GT_NP, 0, (uint8_t)opcode}, false, k, 0, base);
	based(code, k, base, offset);
}

void gt_native_vector128(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	begin_vex(code, op, false, d, a, b);
	registers(code, d, b);
}

void gt_native_vector256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned b)
{
	begin_vex(code, op, true, d, a, b);
	registers(code, d, b);
}

void gt_native_memory256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset)
{
	begin_vex(code, op, true, d, a, base);
	based(code, d, base, offset);
}

/* The offset counts from the end of the instruction. */
void gt_native_constant256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned a, uint32_t at, unsigned behind)
{
	begin_vex(code, op, true, d, a, 0);
	gt_native_byte(code, (d & 7) << 3 | 5);
	gt_native_word(code, at - ((uint32_t)code->n + 4 + behind));
}

/* Bit 3 of the index is where bit 4 of b would be. */
void gt_native_gather256(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned mask, unsigned base, unsigned index)
{
	begin_vex(code, op, true, d, mask, (index & 8) << 1 | (base & 8));
	gt_native_byte(code, 0x84 | (d & 7) << 3);
	gt_native_byte(code, (index & 7) << 3 | (base & 7));
	gt_native_word(code, 0);
}
