/* SPDX-License-Identifier: MIT */
/* The forms are those of Intel's manual, volume 2, chapter 2 (EVEX: 2.7; VEX: 2.3). */
#include "ptx/native/encode.h"

#include "base/grown.h"

void gt_native_byte(struct gt_native_code *code, unsigned byte)
{
	unsigned char *grown = gt_grown(code->bytes, code->n, &code->capacity, 1);

	if (!grown) {
		code->failed = true;
		return;
	}
	code->bytes = grown;
	code->bytes[code->n++] = (unsigned char)byte;
}

void gt_native_bytes(struct gt_native_code *code, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gt_native_byte(code, ((const unsigned char *)bytes)[i]);
}

void gt_native_word(struct gt_native_code *code, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		gt_native_byte(code, word >> 8 * i & 0xff);
}

/* The prefix of EVEX: registers' bits 3 and 4 are inverted in it. `r` is in the byte behind the opcode, with `b` or a base. */
static void begin_evex(struct gt_native_code *code, struct gt_native_op op, unsigned r, unsigned k, unsigned a, unsigned b)
{
	unsigned high = ~((r & 8) << 4 | (b & 16) << 2 | (b & 8) << 2 | (r & 16)) & 0xf0;

	gt_native_byte(code, 0x62);
	gt_native_byte(code, high | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | 4 | op.prefix);
	gt_native_byte(code, 0x40 | (~a & 16) >> 1 | k); /* L'L: 512 bits */
	gt_native_byte(code, op.opcode);
}

void gt_native_vector(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned b)
{
	begin_evex(code, op, d, k, a, b);
	gt_native_byte(code, 0xc0 | (d & 7) << 3 | (b & 7));
}

void gt_native_memory(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned base, uint32_t offset)
{
	begin_evex(code, op, d, k, 0, base);
	gt_native_byte(code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

static void begin_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned a, unsigned base)
{
	gt_native_byte(code, 0xc4);
	gt_native_byte(code, 0xc0 | (base & 8 ? 0 : 0x20) | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | (unsigned)large << 2 | op.prefix);
	gt_native_byte(code, op.opcode);
}

void gt_native_mask(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b)
{
	begin_vex(code, op, large, a, b);
	gt_native_byte(code, 0xc0 | d << 3 | (b & 7));
}

void gt_native_mask_memory(struct gt_native_code *code, unsigned opcode, unsigned k, unsigned base, uint32_t offset)
{
	begin_vex(code, (struct gt_native_op){GT_0F, GT_NP, 0, (uint8_t)opcode}, false, 0, base);
	gt_native_byte(code, 0x80 | k << 3 | (base & 7));
	gt_native_word(code, offset);
}
