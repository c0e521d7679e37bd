/* SPDX-License-Identifier: MIT */
/* Bytes of machine code, as instructions are encoded in them. */
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/native/encode.h"

void gt_native_bytes(struct gt_native_code *code, const void *bytes, size_t n)
{
	unsigned char *grown = gt_grown_to(code->bytes, code->n + n, &code->capacity, 1);

	if (!grown) {
		code->failed = true;
		return;
	}
	code->bytes = grown;
	memcpy(code->bytes + code->n, bytes, n);
	code->n += n;
}

void gt_native_byte(struct gt_native_code *code, unsigned byte)
{
	gt_native_bytes(code, &(const unsigned char){(unsigned char)byte}, 1);
}

/* The processor has words as the code has them. */
void gt_native_word(struct gt_native_code *code, uint32_t word)
{
	gt_native_bytes(code, &word, sizeof word);
}

/* ---- instructions with the VEX prefix, of AVX2 on vectors and of AVX-512 on opmask registers: Intel's manual, volume 2, chapter 2.3 ---- */

void gt_native_begin_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned r, unsigned a, unsigned b)
{
	gt_native_byte(code, 0xc4);
	gt_native_byte(code, (r & 8 ? 0U : 0x80U) | (b & 16 ? 0U : 0x40U) | (b & 8 ? 0U : 0x20U) | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | (unsigned)large << 2 | op.prefix);
	gt_native_byte(code, op.opcode);
}

void gt_native_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b)
{
	gt_native_begin_vex(code, op, large, d, a, b);
	gt_native_byte(code, 0xc0 | (d & 7) << 3 | (b & 7));
}

void gt_native_vex_memory(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned base,
			  uint32_t offset)
{
	gt_native_begin_vex(code, op, large, d, a, base);
	gt_native_byte(code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

/* ---- instructions on general registers: chapter 2.1 ---- */

/* The prefix that says the registers' bits 3, and the width. */
static void prefix(struct gt_native_code *code, bool wide, unsigned reg, unsigned base)
{
	const unsigned bits = (unsigned)wide << 3 | (reg >> 3) << 2 | base >> 3;

	if (bits)
		gt_native_byte(code, 0x40 | bits);
}

static void at(struct gt_native_code *code, unsigned reg, unsigned base, size_t offset)
{
	gt_native_byte(code, 0x80 | (reg & 7) << 3 | (base & 7));
	gt_native_word(code, (uint32_t)offset);
}

void gt_general(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned s)
{
	prefix(code, wide, d, s);
	gt_native_byte(code, opcode);
	gt_native_byte(code, 0xc0 | (d & 7) << 3 | (s & 7));
}

void gt_general_at(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned base, size_t offset)
{
	prefix(code, wide, d, base);
	gt_native_byte(code, opcode);
	at(code, d, base, offset);
}

void gt_general_store(struct gt_native_code *code, bool wide, unsigned s, unsigned base, size_t offset)
{
	prefix(code, wide, s, base);
	gt_native_byte(code, 0x89);
	at(code, s, base, offset);
}

void gt_general_number(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned d, uint32_t number)
{
	prefix(code, wide, 0, d);
	gt_native_byte(code, 0x81);
	gt_native_byte(code, 0xc0 | what << 3 | (d & 7));
	gt_native_word(code, number);
}

void gt_general_number_at(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned base, size_t offset,
			  uint32_t number)
{
	prefix(code, wide, 0, base);
	gt_native_byte(code, 0x81);
	at(code, what, base, offset);
	gt_native_word(code, number);
}

void gt_general_set_at(struct gt_native_code *code, unsigned base, size_t offset, uint32_t number)
{
	prefix(code, false, 0, base);
	gt_native_byte(code, 0xc7);
	at(code, 0, base, offset);
	gt_native_word(code, number);
}

void gt_general_constant(struct gt_native_code *code, unsigned d, uint64_t bits)
{
	prefix(code, true, 0, d);
	gt_native_byte(code, 0xb8 | (d & 7));
	gt_native_word(code, (uint32_t)bits);
	gt_native_word(code, (uint32_t)(bits >> 32));
}

void gt_general_address(struct gt_native_code *code, unsigned d, const void *what)
{
	gt_general_constant(code, d, (uintptr_t)what);
}

size_t gt_general_jump(struct gt_native_code *code, enum gt_jump when)
{
	if (when == GT_ALWAYS) {
		gt_native_byte(code, 0xe9);
	} else {
		gt_native_byte(code, 0x0f);
		gt_native_byte(code, 0x80 | when);
	}
	gt_native_word(code, 0);
	return code->n;
}

void gt_general_land_at(struct gt_native_code *code, size_t jump, size_t place)
{
	const uint32_t distance = (uint32_t)(place - jump);

	if (!code->failed)
		memcpy(code->bytes + jump - sizeof distance, &distance, sizeof distance);
}

void gt_general_land(struct gt_native_code *code, size_t jump)
{
	gt_general_land_at(code, jump, code->n);
}

void gt_general_call_to(struct gt_native_code *code, size_t place)
{
	gt_native_byte(code, 0xe8);
	gt_native_word(code, (uint32_t)(place - (code->n + 4)));
}
