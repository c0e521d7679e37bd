/* SPDX-License-Identifier: MIT */
/* The rules that say which vector instructions lane operations are, and whether an operation has one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/native/segment.h"

#define OP(MAP, PREFIX, WIDE, OPCODE) {GT_##MAP, GT_##PREFIX, WIDE, OPCODE}

/* Integers of both signs, and bits, of 32 and of 64 bits. */
#define SAME(NAME, KIND, MAP, OPCODE32, OPCODE64)                                                 \
	{NAME ".s32", KIND, OP(MAP, 66, 0, OPCODE32), 0, false, 0}, {NAME ".u32", KIND, OP(MAP, 66, 0, OPCODE32), 0, false, 0}, \
	{NAME ".s64", KIND, OP(MAP, 66, 1, OPCODE64), 0, false, 0}, {NAME ".u64", KIND, OP(MAP, 66, 1, OPCODE64), 0, false, 0}
#define PAIR(NAME, KIND, T, MAP, PREFIX, OPCODE)                                                \
	{NAME "." #T "32", KIND, OP(MAP, PREFIX, 0, OPCODE), 0, false, 0}, \
	{NAME "." #T "64", KIND, OP(MAP, PREFIX, 1, OPCODE), 0, false, 0}
#define FLOATS(NAME, KIND, OPCODE)                                                                \
	{NAME ".f32", KIND, OP(0F, NP, 0, OPCODE), 0, true, 0}, {NAME ".f64", KIND, OP(0F, 66, 1, OPCODE), 0, false, 0}
#define SHIFT(NAME, OPCODE)                                                                       \
	{NAME "32", GT_NATIVE_BINARY, OP(0F38, 66, 0, OPCODE), 0, false, 0}, \
	{NAME "64", GT_NATIVE_SHIFT, OP(0F38, 66, 1, OPCODE), 0, false, 0}
#define COMPARE(NAME, T, MAP, PREFIX, WIDE, OPCODE, HOW)                                          \
	{"setp." NAME "." #T, GT_NATIVE_COMPARE, OP(MAP, PREFIX, WIDE, OPCODE), HOW, false, 0}
#define COMPARES(T, WIDE, OPCODE)                                                                 \
	COMPARE("eq", T, 0F3A, 66, WIDE, OPCODE, 0), COMPARE("lt", T, 0F3A, 66, WIDE, OPCODE, 1), \
	COMPARE("le", T, 0F3A, 66, WIDE, OPCODE, 2), COMPARE("ne", T, 0F3A, 66, WIDE, OPCODE, 4), \
	COMPARE("ge", T, 0F3A, 66, WIDE, OPCODE, 5), COMPARE("gt", T, 0F3A, 66, WIDE, OPCODE, 6)
#define COMPARES_BITS(T, WIDE, OPCODE)                                                            \
	COMPARE("eq", T, 0F3A, 66, WIDE, OPCODE, 0), COMPARE("ne", T, 0F3A, 66, WIDE, OPCODE, 4)
/* Quiet comparisons: Intel's manual, table 3-1 of CMPPD. */
#define COMPARES_FLOAT(T, P, WIDE)                                                                \
	COMPARE("eq", T, 0F, P, WIDE, GT_VCMP, 0x00), COMPARE("lt", T, 0F, P, WIDE, GT_VCMP, 0x11),     \
	COMPARE("le", T, 0F, P, WIDE, GT_VCMP, 0x12), COMPARE("ne", T, 0F, P, WIDE, GT_VCMP, 0x0c),     \
	COMPARE("ge", T, 0F, P, WIDE, GT_VCMP, 0x1d), COMPARE("gt", T, 0F, P, WIDE, GT_VCMP, 0x1e),     \
	COMPARE("equ", T, 0F, P, WIDE, GT_VCMP, 0x08), COMPARE("ltu", T, 0F, P, WIDE, GT_VCMP, 0x19),   \
	COMPARE("leu", T, 0F, P, WIDE, GT_VCMP, 0x1a), COMPARE("neu", T, 0F, P, WIDE, GT_VCMP, 0x04),   \
	COMPARE("geu", T, 0F, P, WIDE, GT_VCMP, 0x15), COMPARE("gtu", T, 0F, P, WIDE, GT_VCMP, 0x16),   \
	COMPARE("num", T, 0F, P, WIDE, GT_VCMP, 0x07), COMPARE("nan", T, 0F, P, WIDE, GT_VCMP, 0x03)
/* Of integers of 32 bits. */
#define DIVIDE(T, SIGNED)                                                                         \
	{"div." #T, GT_NATIVE_DIVIDE, OP(0F, 66, 1, GT_VDIV), SIGNED, false, 0}, \
	{"rem." #T, GT_NATIVE_DIVIDE, OP(0F, 66, 1, GT_VDIV), SIGNED | GT_NATIVE_REMAINDER, false, 0}
#define WIDEN(NAME, OPCODE) {NAME, GT_NATIVE_WIDEN, OP(0F38, 66, 0, OPCODE), 0, false, 0}
#define NARROW_FLOAT(NAME, CANONICAL) {NAME, GT_NATIVE_NARROW_FLOAT, OP(0F, 66, 1, GT_VCVTPD2PS), 0, CANONICAL, 0}
#define NARROW(NAME) {NAME, GT_NATIVE_NARROW, OP(0F38, F3, 0, GT_VPMOVQD), 0, false, 0}
#define LOGIC(NAME, OPCODE) {NAME ".pred", GT_NATIVE_LOGIC, OP(0F, NP, 0, OPCODE), 0, false, 0}

/* With a carry. */
#define CARRIED(NAME, T, MAP, WIDE, OPCODE, HOW)                                                  \
	{NAME ".cc." #T, GT_NATIVE_CARRIED, OP(MAP, 66, WIDE, OPCODE), (HOW) | GT_NATIVE_CARRY_OUT, false, 0}
#define CARRIES(NAME, BEHIND, T, MAP, WIDE, OPCODE, HOW)                                          \
	CARRIED(NAME BEHIND, T, MAP, WIDE, OPCODE, HOW), \
	CARRIED(NAME "c" BEHIND, T, MAP, WIDE, OPCODE, (HOW) | GT_NATIVE_CARRY_IN), \
	{NAME "c" BEHIND "." #T, GT_NATIVE_CARRIED, OP(MAP, 66, WIDE, OPCODE), (HOW) | GT_NATIVE_CARRY_IN, false, 0}
#define CARRIES_SUMS(T, HOW) CARRIES("add", "", T, 0F, 0, 0, HOW), CARRIES("sub", "", T, 0F, 0, 0, (HOW) | GT_NATIVE_DIFFERENCE)
#define CARRIES_64(T, MAP, OPCODE)                                                                \
	CARRIES("mad", ".lo", T, 0F38, 1, GT_VPMULL, GT_NATIVE_CARRIED_64), \
	CARRIES("mad", ".hi", T, MAP, 1, OPCODE, GT_NATIVE_UPPER | GT_NATIVE_CARRIED_64)

#define INTEGERS(NAME, KIND, HOW) {NAME, KIND, OP(0F, 66, 0, 0), HOW, false, 0}
#define OF_BITS(N, WIDE)                                                                          \
	{"brev.b" #N, GT_NATIVE_REVERSE, OP(0F, 66, WIDE, 0), 0, false, 0}, \
	{"clz.b" #N, GT_NATIVE_LEADING, OP(0F, 66, WIDE, 0), GT_NATIVE_LEADING_ZEROS, false, 0}, \
	{"bfind.shiftamt.u" #N, GT_NATIVE_LEADING, OP(0F, 66, WIDE, 0), GT_NATIVE_SHIFT_AMOUNT, false, 0}, \
	{"bfind.u" #N, GT_NATIVE_LEADING, OP(0F, 66, WIDE, 0), GT_NATIVE_PLACE, false, 0}
#define FIELDS(T, WIDE, SIGNED) {"bfe." #T, GT_NATIVE_FIELD, OP(0F, 66, WIDE, 0), SIGNED, false, 0}
#define OF_SIGN(T, SIGNED)                                                                        \
	INTEGERS("mul24.lo." #T, GT_NATIVE_PRODUCT24, SIGNED), INTEGERS("mad24.lo." #T, GT_NATIVE_PRODUCT24, (SIGNED) | GT_NATIVE_ADDS), \
	INTEGERS("sad." #T, GT_NATIVE_DIFFERENCE_SUM, SIGNED)

/* Of 16 bits. */
#define PACKED(NAME, KIND, MAP, OPCODE) {NAME, KIND, OP(MAP, 66, 0, OPCODE), 0, false, GT_NATIVE_PACKED}
#define PACKED_BOTH(NAME, KIND, OPCODE) PACKED(NAME ".s16", KIND, 0F, OPCODE), PACKED(NAME ".u16", KIND, 0F, OPCODE)
#define HALF_COMPARE(NAME, T, BY, MAP, PREFIX, OPCODE, HOW)                                       \
	{"setp." NAME "." #T, GT_NATIVE_COMPARE, OP(MAP, PREFIX, 0, OPCODE), HOW, false, BY}
#define HALF_COMPARES(T, BY)                                                                      \
	HALF_COMPARE("eq", T, BY, 0F3A, 66, GT_VPCMP, 0), HALF_COMPARE("lt", T, BY, 0F3A, 66, GT_VPCMP, 1), \
	HALF_COMPARE("le", T, BY, 0F3A, 66, GT_VPCMP, 2), HALF_COMPARE("ne", T, BY, 0F3A, 66, GT_VPCMP, 4), \
	HALF_COMPARE("ge", T, BY, 0F3A, 66, GT_VPCMP, 5), HALF_COMPARE("gt", T, BY, 0F3A, 66, GT_VPCMP, 6)
#define HALF_FLOAT(NAME, T, BY, HOW) HALF_COMPARE(NAME, T, BY, 0F, NP, GT_VCMP, HOW)
#define HALF_COMPARES_FLOAT(T, BY)                                                                \
	HALF_FLOAT("eq", T, BY, 0x00), HALF_FLOAT("lt", T, BY, 0x11), HALF_FLOAT("le", T, BY, 0x12),    \
	HALF_FLOAT("ne", T, BY, 0x0c), HALF_FLOAT("ge", T, BY, 0x1d), HALF_FLOAT("gt", T, BY, 0x1e),    \
	HALF_FLOAT("equ", T, BY, 0x08), HALF_FLOAT("ltu", T, BY, 0x19), HALF_FLOAT("leu", T, BY, 0x1a), \
	HALF_FLOAT("neu", T, BY, 0x04), HALF_FLOAT("geu", T, BY, 0x15), HALF_FLOAT("gtu", T, BY, 0x16), \
	HALF_FLOAT("num", T, BY, 0x07), HALF_FLOAT("nan", T, BY, 0x03)
#define EXTEND(NAME, BY) {NAME, GT_NATIVE_EXTEND, OP(0F38, 66, 0, GT_VPMOVZXWD), 0, (BY) >= GT_NATIVE_F16, BY}
#define EXTEND_BYTES(NAME, BY, OPCODE) {NAME, GT_NATIVE_EXTEND, OP(0F38, 66, 0, OPCODE), 1, false, BY}
#define FLOAT_OF(T, BY) {"cvt.f32." T, GT_NATIVE_EXTEND, OP(0F, NP, 0, GT_VCVTDQ2PS), 0, false, BY}
#define CUT_BY(NAME, OPCODE) {NAME, GT_NATIVE_CUT, OP(0F38, F3, 0, OPCODE), 0, false, GT_NATIVE_PACKED}
#define CUT(NAME) CUT_BY(NAME, GT_VPMOVDW)
#define TO_BYTES(T)                                                                               \
	CUT_BY("cvt." T ".u32", GT_VPMOVDB), CUT_BY("cvt." T ".s32", GT_VPMOVDB), CUT_BY("cvt." T ".u16", GT_VPMOVWB), CUT_BY("cvt." T ".s16", GT_VPMOVWB)
#define OF_BYTES(T, BY, OPCODE)                                                                   \
	EXTEND("cvt.u32." T, BY), EXTEND("cvt.s32." T, BY), FLOAT_OF(T, BY), EXTEND_BYTES("cvt.u16." T, BY, OPCODE), EXTEND_BYTES("cvt.s16." T, BY, OPCODE)
#define HALF_SHIFT(NAME, BY, OPCODE) {NAME, GT_NATIVE_HALF_SHIFT, OP(0F38, 66, 0, OPCODE), 0, false, BY}
#define HALF_SUM(NAME, T, BY, PAIR, OPCODE) {NAME "." T, GT_NATIVE_HALF_SUM, OP(0F, NP, 0, OPCODE), PAIR, false, BY}
#define HALF_SUMS(T, BY, PAIR)                                                                    \
	HALF_SUM("add", T, BY, PAIR, GT_VADD), HALF_SUM("sub", T, BY, PAIR, GT_VSUB), HALF_SUM("mul", T, BY, PAIR, GT_VMUL), \
	HALF_SUM("min", T, BY, PAIR, GT_VMIN), HALF_SUM("max", T, BY, PAIR, GT_VMAX)

static const struct gt_native_rule rules[] = {
	SAME("add", GT_NATIVE_BINARY, 0F, GT_VPADDD, GT_VPADDQ), SAME("sub", GT_NATIVE_BINARY, 0F, GT_VPSUBD, GT_VPSUBQ),
	SAME("mul.lo", GT_NATIVE_BINARY, 0F38, GT_VPMULL, GT_VPMULL), SAME("mad.lo", GT_NATIVE_MULTIPLY_ADD, 0F38, GT_VPMULL, GT_VPMULL),
	PAIR("and", GT_NATIVE_BINARY, b, 0F, 66, GT_VPAND), PAIR("or", GT_NATIVE_BINARY, b, 0F, 66, GT_VPOR),
	PAIR("xor", GT_NATIVE_BINARY, b, 0F, 66, GT_VPXOR), PAIR("not", GT_NATIVE_NOT, b, 0F3A, 66, GT_VPTERNLOG),
	PAIR("min", GT_NATIVE_BINARY, s, 0F38, 66, GT_VPMINS), PAIR("max", GT_NATIVE_BINARY, s, 0F38, 66, GT_VPMAXS),
	PAIR("min", GT_NATIVE_BINARY, u, 0F38, 66, GT_VPMINU), PAIR("max", GT_NATIVE_BINARY, u, 0F38, 66, GT_VPMAXU),
	{"neg.s32", GT_NATIVE_NEGATE, OP(0F, 66, 0, GT_VPSUBD), 0, false, 0}, {"neg.s64", GT_NATIVE_NEGATE, OP(0F, 66, 1, GT_VPSUBQ), 0, false, 0},
	SHIFT("shl.b", GT_VPSLLV), SHIFT("shr.b", GT_VPSRLV), SHIFT("shr.u", GT_VPSRLV), SHIFT("shr.s", GT_VPSRAV),
	FLOATS("add", GT_NATIVE_BINARY, GT_VADD), FLOATS("sub", GT_NATIVE_BINARY, GT_VSUB), FLOATS("mul", GT_NATIVE_BINARY, GT_VMUL),
	FLOATS("div", GT_NATIVE_BINARY, GT_VDIV), FLOATS("sqrt", GT_NATIVE_UNARY, GT_VSQRT), FLOATS("rcp", GT_NATIVE_RECIPROCAL, GT_VDIV),
	{"fma.f32", GT_NATIVE_FUSED, OP(0F38, 66, 0, GT_VFMADD231), 0, true, 0}, {"fma.f64", GT_NATIVE_FUSED, OP(0F38, 66, 1, GT_VFMADD231), 0, false, 0},
	{"neg.f32", GT_NATIVE_SIGN, OP(0F, 66, 0, GT_VPXOR), 0, false, 0}, {"neg.f64", GT_NATIVE_SIGN, OP(0F, 66, 1, GT_VPXOR), 0, false, 0},
	{"abs.f32", GT_NATIVE_SIGN, OP(0F, 66, 0, GT_VPANDN), 0, false, 0}, {"abs.f64", GT_NATIVE_SIGN, OP(0F, 66, 1, GT_VPANDN), 0, false, 0},
	{"abs.s32", GT_NATIVE_UNARY, OP(0F38, 66, 0, GT_VPABSD), 0, false, 0},
	FLOATS("min", GT_NATIVE_EXTREME, GT_VMIN), FLOATS("max", GT_NATIVE_EXTREME, GT_VMAX),
	{"flush.f32", GT_NATIVE_FLUSH, OP(0F, 66, 0, GT_VPANDN), 0, false, 0},
	{"mul.hi.s32", GT_NATIVE_HIGH, OP(0F38, 66, 1, GT_VPMULDQ), 0, false, 0}, {"mul.hi.u32", GT_NATIVE_HIGH, OP(0F, 66, 1, GT_VPMULUDQ), 0, false, 0},
	DIVIDE(s32, GT_NATIVE_SIGNED), DIVIDE(u32, 0),
	{"mov.b32", GT_NATIVE_MOVE, OP(0F, 66, 0, GT_VMOVDQA), 0, false, 0}, {"mov.b64", GT_NATIVE_MOVE, OP(0F, 66, 1, GT_VMOVDQA), 0, false, 0},
	{"selp.b32", GT_NATIVE_SELECT, OP(0F38, 66, 0, GT_VPBLENDM), 0, false, 0}, {"selp.b64", GT_NATIVE_SELECT, OP(0F38, 66, 1, GT_VPBLENDM), 0, false, 0},
	COMPARES(s32, 0, GT_VPCMP), COMPARES(u32, 0, GT_VPCMPU), COMPARES(s64, 1, GT_VPCMP), COMPARES(u64, 1, GT_VPCMPU),
	COMPARES_BITS(b32, 0, GT_VPCMP), COMPARES_BITS(b64, 1, GT_VPCMP), COMPARES_FLOAT(f32, NP, 0), COMPARES_FLOAT(f64, 66, 1),
	LOGIC("and", GT_KAND), LOGIC("or", GT_KOR), LOGIC("xor", GT_KXOR), LOGIC("not", GT_KNOT),
	{"cvt.f32.s32", GT_NATIVE_UNARY, OP(0F, NP, 0, GT_VCVTDQ2PS), 0, false, 0}, {"cvt.f32.u32", GT_NATIVE_UNARY, OP(0F, F2, 0, GT_VCVTU), 0, false, 0},
	{"cvt.f64.s64", GT_NATIVE_UNARY, OP(0F, F3, 1, GT_VCVTQQ2PD), 0, false, 0}, {"cvt.f64.u64", GT_NATIVE_UNARY, OP(0F, F3, 1, GT_VCVTU), 0, false, 0},
	WIDEN("cvt.u64.u32", GT_VPMOVZXDQ), WIDEN("cvt.s64.u32", GT_VPMOVZXDQ), WIDEN("cvt.u64.s32", GT_VPMOVSXDQ), WIDEN("cvt.s64.s32", GT_VPMOVSXDQ),
	WIDEN("width.b64.b32", GT_VPMOVZXDQ), WIDEN("width.s64.s32", GT_VPMOVSXDQ),
	NARROW("cvt.u32.u64"), NARROW("cvt.u32.s64"), NARROW("cvt.s32.u64"), NARROW("cvt.s32.s64"), NARROW("width.b32.b64"),
	{"part.b32.b64", GT_NATIVE_PART, OP(0F38, F3, 0, GT_VPMOVQD), 0, false, 0}, {"join.b64.b32", GT_NATIVE_JOIN, OP(0F, 66, 1, GT_VPOR), 0, false, 0},
	{"cvt.f64.s32", GT_NATIVE_WIDEN, OP(0F, F3, 0, GT_VCVTDQ2PD), 0, false, 0}, {"cvt.f64.f32", GT_NATIVE_WIDEN, OP(0F, NP, 0, GT_VCVTPS2PD), 0, false, 0},
	NARROW_FLOAT("cvt.f32.f64", true), NARROW_FLOAT("cvt.s32.f64", false),
	{"cvt.i.f32.f32", GT_NATIVE_ROUND, OP(0F3A, 66, 0, GT_VROUNDPS), 0, true, 0}, {"cvt.i.f64.f64", GT_NATIVE_ROUND, OP(0F3A, 66, 1, GT_VROUNDPD), 0, false, 0},
	{"cvt.s32.f32", GT_NATIVE_TRUNCATE, OP(0F, F3, 0, GT_VCVTTPS2DQ), 0, false, 0},
	{"cvt.u32.f32", GT_NATIVE_TRUNCATE_UNSIGNED, OP(0F, F3, 0, GT_VCVTTPS2DQ), 0, false, 0},
	{"mul.wide.s32", GT_NATIVE_WIDE_PRODUCT, OP(0F38, 66, 1, GT_VPMULDQ), GT_VPMOVSXDQ, false, 0},
	{"mul.wide.u32", GT_NATIVE_WIDE_PRODUCT, OP(0F, 66, 1, GT_VPMULUDQ), GT_VPMOVZXDQ, false, 0},
	{"mad.wide.s32", GT_NATIVE_WIDE_MULTIPLY_ADD, OP(0F38, 66, 1, GT_VPMULDQ), GT_VPMOVSXDQ, false, 0},
	{"mad.wide.u32", GT_NATIVE_WIDE_MULTIPLY_ADD, OP(0F, 66, 1, GT_VPMULUDQ), GT_VPMOVZXDQ, false, 0},
	CARRIES_SUMS(u32, 0), CARRIES_SUMS(s32, 0), CARRIES_SUMS(b32, 0),
	CARRIES_SUMS(u64, GT_NATIVE_CARRIED_64), CARRIES_SUMS(s64, GT_NATIVE_CARRIED_64), CARRIES_SUMS(b64, GT_NATIVE_CARRIED_64),
	CARRIES_64(u64, 0F, GT_VPMULUDQ), CARRIES_64(s64, 0F38, GT_VPMULDQ),
	CARRIES("mad", ".lo", u32, 0F38, 0, GT_VPMULL, 0), CARRIES("mad", ".lo", s32, 0F38, 0, GT_VPMULL, 0),
	CARRIES("mad", ".hi", u32, 0F, 1, GT_VPMULUDQ, GT_NATIVE_UPPER), CARRIES("mad", ".hi", s32, 0F38, 1, GT_VPMULDQ, GT_NATIVE_UPPER),
	INTEGERS("mul.hi.u64", GT_NATIVE_HIGH, GT_NATIVE_WIDE), INTEGERS("mul.hi.s64", GT_NATIVE_HIGH, GT_NATIVE_WIDE | GT_NATIVE_SIGNED),
	INTEGERS("shf.l.wrap.b32", GT_NATIVE_FUNNEL, 0), INTEGERS("shf.r.wrap.b32", GT_NATIVE_FUNNEL, GT_NATIVE_TO_RIGHT),
	INTEGERS("shf.l.clamp.b32", GT_NATIVE_FUNNEL, GT_NATIVE_CLAMPS), INTEGERS("shf.r.clamp.b32", GT_NATIVE_FUNNEL, GT_NATIVE_TO_RIGHT | GT_NATIVE_CLAMPS),
	FIELDS(u32, 0, 0), FIELDS(s32, 0, GT_NATIVE_SIGNED), FIELDS(u64, 1, 0), FIELDS(s64, 1, GT_NATIVE_SIGNED),
	INTEGERS("bfi.b32", GT_NATIVE_INSERT, 0), INTEGERS("lop3.b32", GT_NATIVE_LOOKUP, 0), INTEGERS("prmt.b32", GT_NATIVE_PERMUTE, 0),
	INTEGERS("popc.b32", GT_NATIVE_COUNT, 0), INTEGERS("popc.b64", GT_NATIVE_COUNT_64, 0), OF_BITS(32, 0), OF_BITS(64, 1),
	INTEGERS("dp4a.u32.u32", GT_NATIVE_DOT, 0), INTEGERS("dp4a.s32.u32", GT_NATIVE_DOT, GT_NATIVE_FIRST_SIGNED),
	INTEGERS("dp4a.u32.s32", GT_NATIVE_DOT, GT_NATIVE_SECOND_SIGNED), INTEGERS("dp4a.s32.s32", GT_NATIVE_DOT, GT_NATIVE_FIRST_SIGNED | GT_NATIVE_SECOND_SIGNED),
	OF_SIGN(u32, 0), OF_SIGN(s32, GT_NATIVE_SIGNED),
	PACKED_BOTH("add", GT_NATIVE_BINARY, GT_VPADDW), PACKED_BOTH("sub", GT_NATIVE_BINARY, GT_VPSUBW), PACKED_BOTH("mul.lo", GT_NATIVE_BINARY, GT_VPMULLW),
	PACKED("and.b16", GT_NATIVE_BINARY, 0F, GT_VPAND), PACKED("or.b16", GT_NATIVE_BINARY, 0F, GT_VPOR), PACKED("xor.b16", GT_NATIVE_BINARY, 0F, GT_VPXOR),
	PACKED("not.b16", GT_NATIVE_NOT, 0F3A, GT_VPTERNLOG), PACKED("neg.s16", GT_NATIVE_NEGATE, 0F, GT_VPSUBW), PACKED("mov.b16", GT_NATIVE_MOVE, 0F, GT_VMOVDQA),
	PACKED("min.s16", GT_NATIVE_BINARY, 0F, GT_VPMINSW), PACKED("max.s16", GT_NATIVE_BINARY, 0F, GT_VPMAXSW),
	PACKED("min.u16", GT_NATIVE_BINARY, 0F38, GT_VPMINUW), PACKED("max.u16", GT_NATIVE_BINARY, 0F38, GT_VPMAXUW),
	PACKED("selp.b16", GT_NATIVE_SELECT, 0F38, GT_VPBLENDMW),
	HALF_SHIFT("shl.b16", GT_NATIVE_BY_ZEROS, GT_VPSLLV), HALF_SHIFT("shr.b16", GT_NATIVE_BY_ZEROS, GT_VPSRLV),
	HALF_SHIFT("shr.u16", GT_NATIVE_BY_ZEROS, GT_VPSRLV), HALF_SHIFT("shr.s16", GT_NATIVE_BY_SIGNS, GT_VPSRAV),
	HALF_COMPARES(s16, GT_NATIVE_BY_SIGNS), HALF_COMPARES(u16, GT_NATIVE_BY_ZEROS),
	HALF_COMPARE("eq", b16, GT_NATIVE_BY_ZEROS, 0F3A, 66, GT_VPCMP, 0), HALF_COMPARE("ne", b16, GT_NATIVE_BY_ZEROS, 0F3A, 66, GT_VPCMP, 4),
	HALF_COMPARES_FLOAT(f16, GT_NATIVE_F16), HALF_COMPARES_FLOAT(bf16, GT_NATIVE_BF16),
	EXTEND("width.b32.b16", GT_NATIVE_BY_ZEROS), EXTEND("width.s32.s16", GT_NATIVE_BY_SIGNS), EXTEND("cvt.f32.f16", GT_NATIVE_F16),
	EXTEND("cvt.u32.u16", GT_NATIVE_BY_ZEROS), EXTEND("cvt.s32.u16", GT_NATIVE_BY_ZEROS), EXTEND("cvt.u32.s16", GT_NATIVE_BY_SIGNS),
	EXTEND("cvt.s32.s16", GT_NATIVE_BY_SIGNS), FLOAT_OF("u16", GT_NATIVE_BY_ZEROS), FLOAT_OF("s16", GT_NATIVE_BY_SIGNS), EXTEND("cvt.f32.bf16", GT_NATIVE_BF16),
	EXTEND("width.b32.b8", GT_NATIVE_BYTES_BY_ZEROS), EXTEND("width.s32.s8", GT_NATIVE_BYTES_BY_SIGNS),
	EXTEND_BYTES("width.b16.b8", GT_NATIVE_BYTES_BY_ZEROS, GT_VPMOVZXBW), EXTEND_BYTES("width.s16.s8", GT_NATIVE_BYTES_BY_SIGNS, GT_VPMOVSXBW),
	OF_BYTES("u8", GT_NATIVE_BYTES_BY_ZEROS, GT_VPMOVZXBW), OF_BYTES("s8", GT_NATIVE_BYTES_BY_SIGNS, GT_VPMOVSXBW),
	CUT_BY("width.b8.b32", GT_VPMOVDB), CUT_BY("width.b8.b16", GT_VPMOVWB), TO_BYTES("u8"), TO_BYTES("s8"),
	CUT("width.b16.b32"), CUT("cvt.u16.u32"), CUT("cvt.u16.s32"), CUT("cvt.s16.u32"), CUT("cvt.s16.s32"), CUT("part.b16.b32"),
	{"join.b32.b16", GT_NATIVE_PUT, OP(0F, 66, 0, GT_VPOR), 0, false, GT_NATIVE_BY_ZEROS},
	{"cvt.f16.f32", GT_NATIVE_HALF_FLOAT, OP(0F3A, 66, 0, GT_VCVTPS2PH), 0, true, GT_NATIVE_F16},
	{"cvt.bf16.f32", GT_NATIVE_HALF_FLOAT, OP(0F3A, 66, 0, GT_VCVTPS2PH), 0, true, GT_NATIVE_BF16},
	HALF_SUMS("f16", GT_NATIVE_F16, 0), HALF_SUMS("bf16", GT_NATIVE_BF16, 0), HALF_SUMS("f16x2", GT_NATIVE_F16, 1), HALF_SUMS("bf16x2", GT_NATIVE_BF16, 1),
};

#define N (sizeof rules / sizeof *rules)
/* The steps of all lane operations, each once, and the rules of those that have one. */
static struct entry {
	gt_ptx_step *run;
	const struct gt_native_rule *rule;
} *by_step;
static size_t n_steps;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* By the step; one with a rule goes before others. */
static int compare(const void *left, const void *right)
{
	const struct entry *x = left, *y = right;
	uintptr_t a = (uintptr_t)x->run, b = (uintptr_t)y->run;

	return a != b ? (a < b ? -1 : 1) : !x->rule - !y->rule;
}

static void add_step(const struct gt_ptx_form *form, const struct gt_native_rule *rule)
{
	if (form)
		by_step[n_steps++] = (struct entry){gt_ptx_form_step(form), rule};
}

static void fill(void)
{
	size_t most = N, n = 0;

	for (size_t t = 0; t < GT_PTX_FORM_TABLES; t++)
		most += gt_ptx_form_tables[t]->n;
	by_step = calloc(most, sizeof *by_step);
	for (size_t i = 0; by_step && i < N; i++)
		add_step(gt_ptx_form_named(rules[i].name), &rules[i]);
	for (size_t t = 0; by_step && t < GT_PTX_FORM_TABLES; t++)
		for (size_t i = 0; i < gt_ptx_form_tables[t]->n; i++)
			add_step(&gt_ptx_form_tables[t]->rows[i], NULL);
	qsort(by_step, n_steps, sizeof *by_step, compare);
	for (size_t i = 0; i < n_steps; i++)
		if (n == 0 || by_step[i].run != by_step[n - 1].run)
			by_step[n++] = by_step[i];
	n_steps = n;
}

static const struct entry *find_step(gt_ptx_step *run)
{
	size_t low = 0, high;

	pthread_once(&once, fill);
	for (high = n_steps; low < high;) {
		const size_t middle = (low + high) / 2;
		if (by_step[middle].run == run)
			return &by_step[middle];
		if ((uintptr_t)by_step[middle].run < (uintptr_t)run)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct gt_native_rule *gt_native_rule_of(gt_ptx_step *run)
{
	const struct entry *found = find_step(run);

	return found ? found->rule : NULL;
}

/* Whether all lanes are members of the group of a .sync operation, by a number. */
static bool is_of_all(const struct gt_ptx_code *code, const struct gt_ptx_op *op)
{
	uint32_t members = 0;

	if (op->e >= code->image_at)
		memcpy(&members, code->image + (op->e - code->image_at), sizeof members);
	return members == GT_PTX_FULL;
}

bool gt_native_is_lanes(const struct gt_ptx_code *code, const struct gt_ptx_op *op)
{
	if (op->run == gt_ptx_rounded)
		return find_step(op->with.inner);
	if (op->run == gt_ptx_path_steps.sync_alike)
		return is_of_all(code, op) && find_step(op->with.inner);
	return find_step(op->run);
}

bool gt_native_takes(const struct gt_native_needs *needs, const struct gt_ptx_op *op, const struct gt_native_rule **rule)
{
	const bool rounded = op->run == gt_ptx_rounded;

	*rule = op->guarded ? NULL : gt_native_rule_of(rounded ? op->with.inner : op->run);
	if (!*rule)
		return false;
	if (rounded) /* sums, products and quotients of two floats, or three that are fused */
		return !(*rule)->halves && ((*rule)->kind == GT_NATIVE_BINARY || (*rule)->kind == GT_NATIVE_FUSED);
	switch ((*rule)->kind) {
	case GT_NATIVE_TRUNCATE:
	case GT_NATIVE_TRUNCATE_UNSIGNED:
	case GT_NATIVE_NARROW_FLOAT: return (*rule)->canonical || op->choice <= GT_PTX_RZ;
	case GT_NATIVE_ROUND: return op->choice <= GT_PTX_RP;
	case GT_NATIVE_HALF_FLOAT: return op->choice <= ((*rule)->halves == GT_NATIVE_F16 ? GT_PTX_RP : GT_PTX_RN);
	case GT_NATIVE_CUT:
	case GT_NATIVE_PUT: return op->choice == 0 || op->choice == 16;
	case GT_NATIVE_PART:
	case GT_NATIVE_JOIN: return op->choice == 0 || op->choice == 32;
	case GT_NATIVE_LOOKUP: return gt_native_is_constant(needs, op->e);
	default: return true;
	}
}
