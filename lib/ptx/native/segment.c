/* SPDX-License-Identifier: MIT */
#include "ptx/native/segment.h"

#include <string.h>

#define TEXT(CODE, BYTES) gt_native_bytes(CODE, BYTES, sizeof BYTES - 1)

bool gt_native_takes(const struct gt_ptx_op *op, const struct gt_native_rule **rule)
{
	*rule = op->guarded ? NULL : gt_native_rule_of(op->run);
	return *rule != NULL;
}

/* Sets the distance of a jump to here, which ends at `jump`. */
static void patch(struct gt_native_code *code, size_t jump)
{
	const uint32_t distance = (uint32_t)(code->n - jump);

	if (!code->failed)
		memcpy(code->bytes + jump - sizeof distance, &distance, sizeof distance);
}

/* A loop over the two halves of the warp, those with an active lane: rdi is the arena, esi the mask of the active lanes, edx the halves that are left. */
void gt_native_write(struct gt_native_code *code, const struct gt_ptx_op *ops, size_t n, bool whole)
{
	static const struct gt_native_op from_general = {GT_0F, GT_NP, 0, 0x92}, shift = {GT_0F3A, GT_66, 1, 0x30};
	struct gt_native_segment segment = {.code = code, .whole = whole};
	const struct gt_native_rule *rule;

	TEXT(code, "\x49\x89\xf8\x49\x89\xf9\x49\x89\xfa"); /* mov r8, rdi; mov r9, rdi; mov r10, rdi */
	TEXT(code, "\x4c\x8d\x5c\x24\x80");		    /* lea r11, [rsp - 128] */
	TEXT(code, "\xba\x02\x00\x00\x00\x89\xf1");	    /* mov edx, 2; mov ecx, esi */
	TEXT(code, "\xb8\xff\xff\xff\x7f");		    /* mov eax, 0x7fffffff */
	gt_native_vector(code, (struct gt_native_op){GT_0F38, GT_66, 0, 0x7c}, 31, 0, 0, GT_RAX); /* vpbroadcastd zmm31, eax */
	const size_t begin = code->n;
	size_t skip = 0;
	if (!whole) {
		TEXT(code, "\x66\x85\xc9\x0f\x84\x00\x00\x00\x00"); /* test cx, cx; jz behind the half */
		skip = code->n;
		gt_native_mask(code, from_general, false, 1, 0, GT_RCX); /* kmovw k1, ecx; kshiftrw k2, k1, 8 */
		gt_native_mask(code, shift, false, 2, 0, 1);
		gt_native_byte(code, 8);
	}
	for (size_t i = 0; i < n; i++) {
		gt_native_takes(&ops[i], &rule);
		gt_native_emit(&segment, rule, &ops[i]);
	}
	gt_native_store_all(&segment);
	if (!whole)
		patch(code, skip);
	TEXT(code, "\x49\x83\xc0\x40\x49\x81\xc1\x80\x00\x00\x00"); /* add r8, 64; add r9, 128 */
	TEXT(code, "\x49\x83\xc2\x02\x49\x83\xc3\x02");	    /* add r10, 2; add r11, 2 */
	TEXT(code, "\xc1\xe9\x10\xff\xca\x0f\x85");		    /* shr ecx, 16; dec edx; jnz begin */
	gt_native_word(code, (uint32_t)(begin - (code->n + 4)));
	gt_native_store_predicates(&segment);
	TEXT(code, "\xc5\xf8\x77\xc3"); /* vzeroupper; ret */
}
