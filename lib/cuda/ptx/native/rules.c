/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/native/rules.h"

#include <pthread.h>
#include <stdlib.h>

#define OP(MAP, PREFIX, WIDE, OPCODE) {GT_##MAP, GT_##PREFIX, WIDE, OPCODE}

/* Integers of both signs, and bits, of 32 and of 64 bits. */
#define SAME(NAME, KIND, MAP, OPCODE32, OPCODE64)                                                 \
	{NAME ".s32", KIND, OP(MAP, 66, 0, OPCODE32), 0, false}, {NAME ".u32", KIND, OP(MAP, 66, 0, OPCODE32), 0, false}, \
	{NAME ".s64", KIND, OP(MAP, 66, 1, OPCODE64), 0, false}, {NAME ".u64", KIND, OP(MAP, 66, 1, OPCODE64), 0, false}
#define PAIR(NAME, KIND, T, MAP, PREFIX, OPCODE)                                                \
	{NAME "." #T "32", KIND, OP(MAP, PREFIX, 0, OPCODE), 0, false}, \
	{NAME "." #T "64", KIND, OP(MAP, PREFIX, 1, OPCODE), 0, false}
#define FLOATS(NAME, KIND, OPCODE)                                                                \
	{NAME ".f32", KIND, OP(0F, NP, 0, OPCODE), 0, true}, {NAME ".f64", KIND, OP(0F, 66, 1, OPCODE), 0, false}
#define SHIFT(NAME, OPCODE)                                                                       \
	{NAME "32", GT_NATIVE_BINARY, OP(0F38, 66, 0, OPCODE), 0, false}, \
	{NAME "64", GT_NATIVE_SHIFT, OP(0F38, 66, 1, OPCODE), 0, false}
#define COMPARE(NAME, T, MAP, PREFIX, WIDE, OPCODE, HOW)                                          \
	{"setp." NAME "." #T, GT_NATIVE_COMPARE, OP(MAP, PREFIX, WIDE, OPCODE), HOW, false}
#define COMPARES(T, WIDE, OPCODE)                                                                 \
	COMPARE("eq", T, 0F3A, 66, WIDE, OPCODE, 0), COMPARE("lt", T, 0F3A, 66, WIDE, OPCODE, 1), \
	COMPARE("le", T, 0F3A, 66, WIDE, OPCODE, 2), COMPARE("ne", T, 0F3A, 66, WIDE, OPCODE, 4), \
	COMPARE("ge", T, 0F3A, 66, WIDE, OPCODE, 5), COMPARE("gt", T, 0F3A, 66, WIDE, OPCODE, 6)
#define COMPARES_BITS(T, WIDE, OPCODE)                                                            \
	COMPARE("eq", T, 0F3A, 66, WIDE, OPCODE, 0), COMPARE("ne", T, 0F3A, 66, WIDE, OPCODE, 4)
/* Quiet comparisons: Intel's manual, table 3-1 of CMPPD. */
#define COMPARES_FLOAT(T, P, WIDE)                                                                \
	COMPARE("eq", T, 0F, P, WIDE, 0xc2, 0x00), COMPARE("lt", T, 0F, P, WIDE, 0xc2, 0x11),     \
	COMPARE("le", T, 0F, P, WIDE, 0xc2, 0x12), COMPARE("ne", T, 0F, P, WIDE, 0xc2, 0x0c),     \
	COMPARE("ge", T, 0F, P, WIDE, 0xc2, 0x1d), COMPARE("gt", T, 0F, P, WIDE, 0xc2, 0x1e),     \
	COMPARE("equ", T, 0F, P, WIDE, 0xc2, 0x08), COMPARE("ltu", T, 0F, P, WIDE, 0xc2, 0x19),   \
	COMPARE("leu", T, 0F, P, WIDE, 0xc2, 0x1a), COMPARE("neu", T, 0F, P, WIDE, 0xc2, 0x04),   \
	COMPARE("geu", T, 0F, P, WIDE, 0xc2, 0x15), COMPARE("gtu", T, 0F, P, WIDE, 0xc2, 0x16),   \
	COMPARE("num", T, 0F, P, WIDE, 0xc2, 0x07), COMPARE("nan", T, 0F, P, WIDE, 0xc2, 0x03)
#define WIDEN(NAME, OPCODE) {NAME, GT_NATIVE_WIDEN, OP(0F38, 66, 0, OPCODE), 0, false}
#define NARROW(NAME) {NAME, GT_NATIVE_NARROW, OP(0F38, F3, 0, 0x35), 0, false}
#define LOGIC(NAME, OPCODE) {NAME ".pred", GT_NATIVE_LOGIC, OP(0F, NP, 0, OPCODE), 0, false}

static const struct gt_native_rule rules[] = {
	SAME("add", GT_NATIVE_BINARY, 0F, 0xfe, 0xd4), SAME("sub", GT_NATIVE_BINARY, 0F, 0xfa, 0xfb),
	SAME("mul.lo", GT_NATIVE_BINARY, 0F38, 0x40, 0x40), SAME("mad.lo", GT_NATIVE_MULTIPLY_ADD, 0F38, 0x40, 0x40),
	PAIR("and", GT_NATIVE_BINARY, b, 0F, 66, 0xdb), PAIR("or", GT_NATIVE_BINARY, b, 0F, 66, 0xeb),
	PAIR("xor", GT_NATIVE_BINARY, b, 0F, 66, 0xef), PAIR("not", GT_NATIVE_NOT, b, 0F3A, 66, 0x25),
	PAIR("min", GT_NATIVE_BINARY, s, 0F38, 66, 0x39), PAIR("max", GT_NATIVE_BINARY, s, 0F38, 66, 0x3d),
	PAIR("min", GT_NATIVE_BINARY, u, 0F38, 66, 0x3b), PAIR("max", GT_NATIVE_BINARY, u, 0F38, 66, 0x3f),
	{"neg.s32", GT_NATIVE_NEGATE, OP(0F, 66, 0, 0xfa), 0, false}, {"neg.s64", GT_NATIVE_NEGATE, OP(0F, 66, 1, 0xfb), 0, false},
	SHIFT("shl.b", 0x47), SHIFT("shr.b", 0x45), SHIFT("shr.u", 0x45), SHIFT("shr.s", 0x46),
	FLOATS("add", GT_NATIVE_BINARY, 0x58), FLOATS("sub", GT_NATIVE_BINARY, 0x5c), FLOATS("mul", GT_NATIVE_BINARY, 0x59),
	FLOATS("div", GT_NATIVE_BINARY, 0x5e), FLOATS("sqrt", GT_NATIVE_UNARY, 0x51), FLOATS("rcp", GT_NATIVE_RECIPROCAL, 0x5e),
	{"fma.f32", GT_NATIVE_FUSED, OP(0F38, 66, 0, 0xb8), 0, true}, {"fma.f64", GT_NATIVE_FUSED, OP(0F38, 66, 1, 0xb8), 0, false},
	{"neg.f32", GT_NATIVE_SIGN, OP(0F, 66, 0, 0xef), 0, false}, {"neg.f64", GT_NATIVE_SIGN, OP(0F, 66, 1, 0xef), 0, false},
	{"abs.f32", GT_NATIVE_SIGN, OP(0F, 66, 0, 0xdf), 0, false}, {"abs.f64", GT_NATIVE_SIGN, OP(0F, 66, 1, 0xdf), 0, false},
	{"mov.b32", GT_NATIVE_MOVE, OP(0F, 66, 0, 0x6f), 0, false}, {"mov.b64", GT_NATIVE_MOVE, OP(0F, 66, 1, 0x6f), 0, false},
	{"selp.b32", GT_NATIVE_SELECT, OP(0F38, 66, 0, 0x64), 0, false}, {"selp.b64", GT_NATIVE_SELECT, OP(0F38, 66, 1, 0x64), 0, false},
	COMPARES(s32, 0, 0x1f), COMPARES(u32, 0, 0x1e), COMPARES(s64, 1, 0x1f), COMPARES(u64, 1, 0x1e),
	COMPARES_BITS(b32, 0, 0x1f), COMPARES_BITS(b64, 1, 0x1f), COMPARES_FLOAT(f32, NP, 0), COMPARES_FLOAT(f64, 66, 1),
	LOGIC("and", 0x41), LOGIC("or", 0x45), LOGIC("xor", 0x47), LOGIC("not", 0x44),
	{"cvt.f32.s32", GT_NATIVE_UNARY, OP(0F, NP, 0, 0x5b), 0, false}, {"cvt.f32.u32", GT_NATIVE_UNARY, OP(0F, F2, 0, 0x7a), 0, false},
	{"cvt.f64.s64", GT_NATIVE_UNARY, OP(0F, F3, 1, 0xe6), 0, false}, {"cvt.f64.u64", GT_NATIVE_UNARY, OP(0F, F3, 1, 0x7a), 0, false},
	WIDEN("cvt.u64.u32", 0x35), WIDEN("cvt.s64.u32", 0x35), WIDEN("cvt.u64.s32", 0x25), WIDEN("cvt.s64.s32", 0x25),
	WIDEN("width.b64.b32", 0x35), WIDEN("width.s64.s32", 0x25),
	NARROW("cvt.u32.u64"), NARROW("cvt.u32.s64"), NARROW("cvt.s32.u64"), NARROW("cvt.s32.s64"), NARROW("width.b32.b64"),
	{"cvt.s32.f32", GT_NATIVE_TRUNCATE, OP(0F, F3, 0, 0x5b), 0, false},
	{"mul.wide.s32", GT_NATIVE_WIDE_PRODUCT, OP(0F38, 66, 1, 0x28), 0x25, false},
	{"mul.wide.u32", GT_NATIVE_WIDE_PRODUCT, OP(0F, 66, 1, 0xf4), 0x35, false},
	{"mad.wide.s32", GT_NATIVE_WIDE_MULTIPLY_ADD, OP(0F38, 66, 1, 0x28), 0x25, false},
	{"mad.wide.u32", GT_NATIVE_WIDE_MULTIPLY_ADD, OP(0F, 66, 1, 0xf4), 0x35, false},
};

#define N (sizeof rules / sizeof *rules)
static struct entry {
	gt_ptx_step *run;
	const struct gt_native_rule *rule;
} by_step[N];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare(const void *left, const void *right)
{
	uintptr_t a = (uintptr_t)((const struct entry *)left)->run, b = (uintptr_t)((const struct entry *)right)->run;

	return a < b ? -1 : a > b;
}

static void fill(void)
{
	for (size_t i = 0; i < N; i++) {
		const struct gt_ptx_form *form = gt_ptx_form_named(rules[i].name);
		by_step[i] = (struct entry){form ? gt_ptx_form_step(form) : NULL, &rules[i]};
	}
	qsort(by_step, N, sizeof *by_step, compare);
}

const struct gt_native_rule *gt_native_rule_of(gt_ptx_step *run)
{
	const struct entry wanted = {run, NULL};

	pthread_once(&once, fill);
	const struct entry *found = bsearch(&wanted, by_step, N, sizeof *by_step, compare);
	return found ? found->rule : NULL;
}

unsigned gt_native_sources(enum gt_native_kind kind)
{
	switch (kind) {
	case GT_NATIVE_UNARY:
	case GT_NATIVE_MOVE:
	case GT_NATIVE_NOT:
	case GT_NATIVE_NEGATE:
	case GT_NATIVE_SIGN:
	case GT_NATIVE_RECIPROCAL: return 1;
	case GT_NATIVE_MULTIPLY_ADD:
	case GT_NATIVE_FUSED: return 3;
	default: return 2;
	}
}
