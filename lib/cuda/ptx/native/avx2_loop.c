/* SPDX-License-Identifier: MIT */
/* The loop of machine code with AVX2: over the four quarters of a warp, those with an active lane. ymm12 has all ones in lanes that
 * are active. */
#include "cuda/ptx/native/avx2.h"

void gt_avx2_begin(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	segment->loop = code->n;
	if (segment->whole)
		return;
	gt_native_text(code, "\x44\x89\xd1\x29\xf9\xc1\xe1\x03"); /* mov ecx, r10d; sub ecx, edi; shl ecx, 3: the first lane */
	gt_native_text(code, "\x89\xf0\xd3\xe8");		  /* mov eax, esi; shr eax, cl */
	gt_native_text(code, "\x84\xc0\x0f\x84\x00\x00\x00\x00"); /* test al, al; jz behind the quarter */
	segment->skip = code->n;
	gt_avx2_mask_of_bits(segment, GT_YMM_ACTIVE);
}

void gt_avx2_end(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	gt_native_text(code, "\x49\x83\xc0\x20\x49\x83\xc1\x40"); /* add r8, 32; add r9, 64 */
	gt_native_text(code, "\x49\xff\xc2\x49\xff\xc3");	  /* inc r10; inc r11 */
	gt_native_text(code, "\x44\x89\xd0\x29\xf8\x83\xf8\x04"); /* mov eax, r10d; sub eax, edi; cmp eax, 4 */
	gt_native_text(code, "\x0f\x85");			  /* jne begin */
	gt_native_word(code, (uint32_t)(segment->loop - (code->n + 4)));
}

void gt_avx2_load(struct gt_native_segment *segment, unsigned at, unsigned base, uint32_t offset)
{
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, 0x6f};

	gt_native_memory256(segment->code, op, at, 0, base, offset);
}

/* Of a part of the lanes the others keep what is in memory. */
void gt_avx2_store(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base, uint32_t offset)
{
	static const struct gt_native_op op = {GT_0F, GT_F3, 0, 0x7f};
	unsigned from = value->at[i];

	if (!segment->whole) {
		if (value->n == 2)
			gt_avx2_widen(segment, 0x25, GT_YMM_SECOND, GT_YMM_ACTIVE, i);
		gt_avx2_load(segment, GT_YMM_FIRST, base, offset);
		gt_avx2_blend(segment, GT_YMM_FIRST, GT_YMM_FIRST, from, value->n == 2 ? GT_YMM_SECOND : GT_YMM_ACTIVE);
		from = GT_YMM_FIRST;
	}
	gt_native_memory256(segment->code, op, from, 0, base, offset);
}
