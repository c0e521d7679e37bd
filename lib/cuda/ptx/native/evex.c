/* SPDX-License-Identifier: MIT */
/* Instructions of AVX-512 on vectors: the forms are those of Intel's manual, volume 2, chapter 2.7. */
#include "cuda/ptx/native/encode.h"

/* The prefix of EVEX: registers' bits 3 and 4 are inverted in it. `r` is in the byte behind the opcode, with `b` or a base. */
static void begin_evex(struct gt_native_code *code, struct gt_native_op op, bool whole, unsigned r, unsigned k, unsigned a, unsigned b)
{
	unsigned high = ~((r & 8) << 4 | (b & 16) << 2 | (b & 8) << 2 | (r & 16)) & 0xf0;

	gt_native_byte(code, 0x62);
	gt_native_byte(code, high | op.map);
	gt_native_byte(code, (unsigned)op.wide << 7 | (~a & 15) << 3 | 4 | op.prefix);
	gt_native_byte(code, (whole ? 0x40U : 0U) | (~a & 16) >> 1 | k); /* L'L: 512 or 128 bits */
	gt_native_byte(code, op.opcode);
}

void gt_native_vector(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned b)
{
	begin_evex(code, op, true, d, k, a, b);
	gt_native_byte(code, 0xc0 | (d & 7) << 3 | (b & 7));
}

void gt_native_memory(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned a, unsigned base,
		      uint32_t offset)
{
	begin_evex(code, op, true, d, k, a, base);
	gt_native_byte(code, 0x80 | (d & 7) << 3 | (base & 7));
	gt_native_word(code, offset);
}

void gt_native_lane(struct gt_native_code *code, struct gt_native_op op, unsigned x, unsigned r)
{
	begin_evex(code, op, false, x, 0, 0, r);
	gt_native_byte(code, 0xc0 | (x & 7) << 3 | (r & 7));
}

/* The index has its bits 3 and 4 where others have those of b and of a. */
void gt_native_gather(struct gt_native_code *code, struct gt_native_op op, unsigned d, unsigned k, unsigned base, unsigned index)
{
	begin_evex(code, op, true, d, k, index & 16, (index & 8) << 1 | (base & 8));
	gt_native_byte(code, 0x84 | (d & 7) << 3);
	gt_native_byte(code, (index & 7) << 3 | (base & 7));
	gt_native_word(code, 0);
}
