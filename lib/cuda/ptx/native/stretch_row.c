/* SPDX-License-Identifier: MIT */
/* A row that is traced, added in machine code to those that are held for their order: exec/hold.h says the same in C. */
#include <stddef.h>

#include "cuda/ptx/exec/hold.h"
#include "cuda/ptx/native/general.h"
#include "cuda/ptx/native/stretch.h"

#define OF(STRUCT, MEMBER) offsetof(struct STRUCT, MEMBER)
#define FAILS 5

_Static_assert(sizeof(struct gt_ptx_held) == 24, "a warp's list is found at three times eight bytes");
_Static_assert(sizeof(struct gt_ptx_kept) == 40, "what rows of an access have is copied in three words behind two");

/* In the routine rdi is the hold, rsi the warp's number, r8 the chunk of its rows, r9 the new row. */
static void find_chunk(struct gt_native_code *code, size_t fails[FAILS])
{
	const size_t room = sizeof ((struct gt_ptx_held_chunk *)0)->bytes - sizeof(struct gt_ptx_kept) - GT_WARP_SIZE * sizeof(uint64_t);

	gt_general_at(code, true, GT_MOVE, GT_RDI, GT_R13, OF(gt_ptx_core, hold));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDI, 0);
	fails[0] = gt_general_jump(code, GT_EQUAL);
	gt_general_number_at(code, true, GT_COMPARE_NUMBER, GT_RDI, OF(gt_ptx_hold, room), 0);
	fails[1] = gt_general_jump(code, GT_EQUAL);
	gt_general_at(code, false, GT_MOVE, GT_RSI, GT_R13, OF(gt_ptx_core, block));
	gt_general_at(code, false, GT_COMPARE, GT_RSI, GT_RDI, OF(gt_ptx_hold, block));
	fails[2] = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_at(code, false, GT_MOVE, GT_RSI, GT_RBX, OF(gt_ptx_warp, index));
	gt_native_text(code, "\x4c\x8d\x04\x76\x4e\x8b\x84\xc7"); /* lea r8, [3 rsi]; mov r8, [rdi + 8 r8 + held.last] */
	gt_native_word(code, (uint32_t)(OF(gt_ptx_hold, held) + OF(gt_ptx_held, last)));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_R8, 0);
	fails[3] = gt_general_jump(code, GT_EQUAL);
	gt_general_at(code, true, GT_MOVE, GT_R9, GT_R8, OF(gt_ptx_held_chunk, written));
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_R9, (uint32_t)room);
	fails[4] = gt_general_jump(code, GT_ABOVE);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_R8, OF(gt_ptx_held_chunk, written), sizeof(struct gt_ptx_kept));
	gt_native_text(code, "\x4f\x8d\x8c\x08"); /* lea r9, [r8 + r9 + bytes] */
	gt_native_word(code, OF(gt_ptx_held_chunk, bytes));
}

static void write_contents(struct gt_native_code *code)
{
	gt_general_store(code, true, GT_RAX, GT_R9, OF(gt_ptx_kept, base));
	gt_general_store(code, true, GT_RCX, GT_R9, OF(gt_ptx_kept, stride));
	for (size_t at = OF(gt_ptx_kept, an); at < sizeof(struct gt_ptx_kept); at += sizeof(uint64_t)) {
		gt_general_at(code, true, GT_MOVE, GT_R11, GT_RDX, OF(gt_ptx_entry, row) + at);
		gt_general_store(code, true, GT_R11, GT_R9, at);
	}
	gt_general_at(code, false, GT_MOVE, GT_R11, GT_RBX, OF(gt_ptx_warp, an));
	gt_general_store(code, false, GT_R11, GT_R9, OF(gt_ptx_kept, an));
	gt_native_text(code, "\x66\x41\x89\xb1"); /* mov [r9 + warp], si */
	gt_native_word(code, OF(gt_ptx_kept, warp));
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R11, 1);
	gt_general_store(code, false, GT_R11, GT_RBX, OF(gt_ptx_warp, an));
	gt_native_text(code, "\x4c\x89\x9c\xf7"); /* mov [rdi + 8 rsi + next], r11 */
	gt_native_word(code, OF(gt_ptx_hold, next));
}

/* mov byte [rdi + offset], value */
static void set_byte(struct gt_native_code *code, size_t offset, unsigned value)
{
	gt_native_text(code, "\xc6\x87");
	gt_native_word(code, (uint32_t)offset);
	gt_native_byte(code, value);
}

static void count(struct gt_native_code *code)
{
	gt_general_number(code, false, GT_ADD_NUMBER, GT_RSI, 1);
	gt_general_at(code, false, GT_COMPARE, GT_RSI, GT_RDI, OF(gt_ptx_hold, warps));
	const size_t known = gt_general_jump(code, GT_NOT_ABOVE);
	gt_general_store(code, false, GT_RSI, GT_RDI, OF(gt_ptx_hold, warps));
	gt_general_land(code, known);
	gt_native_text(code, "\x66\x83\xba"); /* cmp word [rdx + row.hint], 0 */
	gt_native_word(code, (uint32_t)(OF(gt_ptx_entry, row) + OF(gt_ptx_kept, hint)));
	gt_native_byte(code, 0);
	const size_t none = gt_general_jump(code, GT_EQUAL);
	set_byte(code, OF(gt_ptx_hold, has_hints), 1);
	gt_general_land(code, none);
	set_byte(code, OF(gt_ptx_hold, has_work), 0);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, OF(gt_ptx_hold, room), UINT32_MAX); /* -1 */
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_RDI, OF(gt_ptx_hold, n), 1);
	gt_general_number_at(code, true, GT_ADD_NUMBER, GT_R13, OF(gt_ptx_core, accesses), 1);
}

void gt_stretch_write_row(struct gt_native_code *code)
{
	size_t fails[FAILS];

	find_chunk(code, fails);
	write_contents(code);
	count(code);
	gt_general_constant(code, GT_RDX, 0);
	for (unsigned i = 0; i < FAILS; i++)
		gt_general_land(code, fails[i]);
	gt_native_text(code, "\x4c\x89\xc7\x4c\x89\xce\x4d\x89\xf0\x4d\x89\xf1\xc3"); /* mov rdi, r8; mov rsi, r9; mov r8, r14; mov r9, r14; ret */
}
