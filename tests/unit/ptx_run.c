/* SPDX-License-Identifier: MIT */
/* Warps, blocks and memory: where lanes go and meet, what they tell each other, what is traced, and
 * what a kernel that strays is told. */
#define CELLS 1024
#include <stdio.h>

#include "ptx_cells.h"
#include "stream/op.h"

#define HEAD ".version 7.5\n.target sm_80\n.address_size 64\n"
/* Registers, and %rd10 = the first buffer's cell of this thread: 4 bytes each. */
#define BODY                                                                                     \
	"{\n.reg .b64 %rd<40>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg .pred %p<10>;\n"        \
	"ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n"                                      \
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                   \
	"mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd10, %rd1, %rd3;\n" \
	"add.s64 %rd11, %rd2, %rd3;\n"
#define KERNEL ENTRY BODY

static void test_nested_conditions(void)
{
	/* if (t & 1) { if (t & 2) 1 else 2 } else if (t & 4) 3; then all: + 10, and how many are here. */
	static const char text[] = HEAD KERNEL
		"and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\nand.b32 %r6, %r1, 2;\n"
		"setp.eq.u32 %p2, %r6, 0;\n"
		"and.b32 %r7, %r1, 4;\nsetp.eq.u32 %p3, %r7, 0;\nmov.u32 %r9, 0;\n"
		"@%p1 bra EVEN;\n@%p2 bra TWO;\nmov.u32 %r9, 1;\nbra.uni ODD;\nTWO:\nmov.u32 %r9, 2;\n"
		"ODD:\nactivemask.b32 %r20;\npopc.b32 %r20, %r20;\n"
		"mad.lo.u32 %r9, %r20, 1000, %r9;\nbra.uni END;\n"
		"EVEN:\n@%p3 bra END;\nmov.u32 %r9, 3;\n"
		"END:\nadd.u32 %r9, %r9, 10;\nactivemask.b32 %r10;\npopc.b32 %r10, %r10;\n"
		"mad.lo.u32 %r9, %r10, 100, %r9;\n"
		STORE "ret;\n}\n";

	works(text, 1, 64);
	for (uint32_t t = 0; t < 64; t++)
		CHECK_EQUAL(out[t], 3210 + (t & 1 ? 16000 + (t & 2 ? 1 : 2) : t & 4 ? 3 : 0));
}

/* ptxas takes the words and types of an instruction in any order, and ! before a number. */
static void test_words_in_any_order(void)
{
	static const char text[] = HEAD KERNEL
		"add.s32.sat %r5, %r1, 0x7fffffff;\nshr.u32 %r5, %r5, 30;\n"	 /* 1 */
		"setp.u32.lt.and %p1, %r1, 3, 1;\nselp.u32 %r6, 10, 0, %p1;\n" /* 10 where t < 3 */
		"mov.f32 %f1, 0f00000001;\nsetp.f32.ftz.eq %p2, %f1, 0f00000000;\nselp.u32 %r7, 100, 0, %p2;\n"
		"set.s32.eq.u32 %r8, %r1, 5;\nand.b32 %r8, %r8, 1000;\n" /* 1000 where t == 5 */
		"prmt.f4e.b32 %r9, 0x00000100, 0, 1;\nmul.lo.u32 %r9, %r9, 10000;\n" /* bytes 1 to 4: 1 */
		"mov.u32 %r11, !0;\nmul.lo.u32 %r11, %r11, 100000;\nmov.u32 %r12, !(2 > 1) ? 7 : !5;\n"
		"bfind.u32.shiftamt %r13, 0x80000000;\n" /* 0 */
		"add.u32 %r9, %r9, %r5;\nadd.u32 %r9, %r9, %r6;\nadd.u32 %r9, %r9, %r7;\nadd.u32 %r9, %r9, %r8;\n"
		"add.u32 %r9, %r9, %r11;\nadd.u32 %r9, %r9, %r12;\nadd.u32 %r9, %r9, %r13;\n" STORE "ret;\n}\n";

	works(text, 1, 8);
	for (uint32_t t = 0; t < 8; t++)
		CHECK_EQUAL(out[t], 110101 + (t < 3 ? 10 : 0) + (t == 5 ? 1000 : 0));
}

static void test_loops_of_different_length(void)
{
	/* Each thread counts to its number, all meet behind; a break in the middle of another loop. */
	static const char text[] = HEAD KERNEL
		"mov.u32 %r9, 0;\nmov.u32 %r5, 0;\n"
		"LOOP:\nsetp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\nadd.u32 %r9, %r9, %r5;\n"
		"add.u32 %r5, %r5, 1;\nbra LOOP;\n"
		"DONE:\nmov.u32 %r6, 0;\n"
		"AGAIN:\nadd.u32 %r6, %r6, 1;\nsetp.gt.u32 %p2, %r6, %r1;\n@%p2 bra OUT;\n"
		"add.u32 %r9, %r9, 1000;\n"
		"setp.lt.u32 %p3, %r6, 7;\n@%p3 bra AGAIN;\n"
		"OUT:\nactivemask.b32 %r10;\npopc.b32 %r10, %r10;\n"
		"mad.lo.u32 %r9, %r10, 100000, %r9;\n" STORE "ret;\n}\n";

	works(text, 2, 50);
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t t = i % 50, lanes = t < 32 ? 32 : 18;
		CHECK_EQUAL(out[i], lanes * 100000 + t * (t - 1) / 2 + 1000 * (t < 7 ? t : 7));
	}
}

static void test_early_exit_before_barrier(void)
{
	/* A return inside a conditional must not keep the others apart at the barrier. */
	static const char text[] = HEAD KERNEL
		".shared .align 4 .b8 s[256];\n"
		"setp.lt.u32 %p1, %r1, 20;\nand.b32 %r5, %r1, 1;\nsetp.eq.u32 %p2, %r5, 1;\n"
		"@!%p1 bra Y;\n@%p2 bra RET;\nmov.u32 %r8, 1;\n"
		"Y:\nmul.lo.u32 %r6, %r1, 4;\nmov.u32 %r7, s;\nadd.u32 %r7, %r7, %r6;\n"
		"st.shared.u32 [%r7], %r1;\n"
		"bar.sync 0;\nxor.b32 %r6, %r6, 8;\nmov.u32 %r7, s;\nadd.u32 %r7, %r7, %r6;\n"
		"ld.shared.u32 %r9, [%r7];\n"
		"add.u32 %r9, %r9, 1;\n" STORE "RET:\nret;\n}\n";

	works(text, 1, 64);
	for (uint32_t t = 0; t < 64; t++)
		CHECK_EQUAL(out[t], t < 20 && t & 1 ? 0 : ((t ^ 2) < 20 && t & 1 ? 1 : (t ^ 2) + 1));
}

static void test_guards(void)
{
	static const char text[] = HEAD KERNEL
		"mov.u32 %r9, 5;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 mov.u32 %r9, 6;\n"
		"@!%p1 add.u32 %r9, %r9, 2;\n"
		"setp.gt.u32 %p2, %r1, 100;\n@%p2 st.global.u32 [0], %r9;\n@%p1 exit;\n" STORE "ret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], t < 3 ? 0 : 7);
}

/* Registers that a mov of a number writes: one that is read before it in the first round of a loop, one with a guard, one that is written
 * twice, and one that is a number. */
static void test_numbers(void)
{
	static const char text[] = HEAD KERNEL
		"mov.u32 %r9, 0;\nmov.u32 %r5, 0;\nmov.b32 %f1, 0f40400000;\n"
		"LOOP:\nadd.u32 %r9, %r9, %r6;\nmov.u32 %r6, 7;\nadd.u32 %r5, %r5, 1;\n"
		"setp.lt.u32 %p1, %r5, 3;\n@%p1 bra LOOP;\n"
		"setp.lt.u32 %p2, %r1, 3;\nmov.u32 %r7, 100;\n@%p2 mov.u32 %r7, 200;\nadd.u32 %r9, %r9, %r7;\n"
		"@%p2 mov.u32 %r8, 1000;\nadd.u32 %r9, %r9, %r8;\n"
		"mov.b32 %r12, 0xffffffff;\nmov.u32 %r13, 0x101f;\nmov.u32 %r14, 1;\nshfl.sync.bfly.b32 %r10, %r1, %r14, %r13, %r12;\n"
		"mad.lo.u32 %r9, %r10, 10000, %r9;\n"
		"mov.b32 %r11, %f1;\nshr.u32 %r11, %r11, 30;\nmad.lo.u32 %r9, %r11, 1000000, %r9;\n" STORE "ret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 1000000 + 10000 * (t ^ 1) + (t < 3 ? 1200 : 100) + 14);
}

static void test_switch(void)
{
	static const char text[] = HEAD KERNEL
		"and.b32 %r5, %r1, 3;\nts: .branchtargets A, B, C, B;\nbrx.idx %r5, ts;\n"
		"A:\nmov.u32 %r9, 10;\nbra.uni END;\nB:\nmov.u32 %r9, 20;\nbra.uni END;\nC:\n"
		"mov.u32 %r9, 30;\n"
		"END:\nactivemask.b32 %r6;\npopc.b32 %r6, %r6;\nadd.u32 %r9, %r9, %r6;\n" STORE "ret;\n}\n";
	static const uint32_t wants[] = {42, 52, 62, 52};

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], wants[t & 3]);
}

static void test_barriers_and_shared(void)
{
	/* Sums of a block by a tree, in dynamic shared memory behind a static array. */
	static const char text[] = HEAD ".extern .shared .align 16 .b8 dynamic[];\n" KERNEL
		".shared .align 4 .b8 s[20];\n"
		"mov.u32 %r5, dynamic;\nmul.lo.u32 %r6, %r1, 4;\nadd.u32 %r7, %r5, %r6;\n"
		"st.shared.u32 [%r7], %r4;\n"
		"st.shared.u32 [s+16], %r5;\nmov.u32 %r8, 128;\n"
		"LOOP:\nbar.sync 0;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra SKIP;\n"
		"mul.lo.u32 %r10, %r8, 4;\nadd.u32 %r11, %r7, %r10;\nld.shared.u32 %r12, [%r11];\n"
		"ld.shared.u32 %r13, [%r7];\n"
		"add.u32 %r13, %r13, %r12;\nst.shared.u32 [%r7], %r13;\n"
		"SKIP:\nshr.u32 %r8, %r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra LOOP;\n"
		"bar.sync 0;\nld.shared.u32 %r9, [dynamic];\nld.shared.u32 %r14, [s+16];\n"
		"add.u32 %r9, %r9, %r14;\n"
		STORE "ret;\n}\n";

	launch.dynamic_shared = 1024;
	works(text, 3, 256);
	for (uint32_t b = 0; b < 3; b++)
		CHECK_EQUAL(out[b * 256 + 255], 256 * 256 * b + 256 * 255 / 2 + 32);
}

static void test_named_barriers(void)
{
	/* Warp 0 hands a value to warp 1 by barrier 3 of 64 threads, while warp 2 is at none of them. */
	static const char text[] = HEAD KERNEL
		".shared .align 4 .b8 s[8];\nshr.u32 %r5, %r1, 5;\nmov.u32 %r9, 0;\n"
		"setp.eq.u32 %p1, %r5, 0;\nsetp.eq.u32 %p2, %r5, 1;\n@%p1 bra FIRST;\n"
		"@%p2 bra SECOND;\nbra.uni END;\n"
		"FIRST:\nmov.u32 %r6, 77;\nst.shared.u32 [s], %r6;\nbar.arrive 3, 64;\nbra.uni END;\n"
		"SECOND:\nbar.sync 3, 64;\nld.shared.u32 %r9, [s];\nEND:\n"
		"setp.lt.u32 %p3, %r1, 40;\nbar.red.popc.u32 %r10, 1, %p3;\nbar.red.and.pred %p4, 1, %p3;\n"
		"bar.red.or.pred %p5, 1, !%p3;\nselp.u32 %r11, 1000, 0, %p4;\n"
		"selp.u32 %r12, 2000, 0, %p5;\n"
		"mad.lo.u32 %r9, %r10, 10000, %r9;\nadd.u32 %r9, %r9, %r11;\n"
		"add.u32 %r9, %r9, %r12;\n" STORE "ret;\n}\n";

	works(text, 1, 96);
	for (uint32_t t = 0; t < 96; t++)
		CHECK_EQUAL(out[t], 402000 + (t / 32 == 1 ? 77 : 0));
}

static void test_atomics(void)
{
	static const char text[] = HEAD KERNEL
		"atom.global.add.u32 %r9, [%rd2], 1;\nred.global.max.s32 [%rd2+4], %r1;\n"
		"atom.global.min.u32 %r5, [%rd2+8], %r1;\n"
		"atom.global.inc.u32 %r5, [%rd2+12], 9;\natom.global.cas.b32 %r5, [%rd2+16], 0, %r4;\n"
		"cvt.rn.f32.u32 %f1, %r1;\natom.global.add.f32 %f2, [%rd2+20], %f1;\n"
		"red.global.or.b32 [%rd2+24], %r1;\n"
		"cvt.u64.u32 %rd5, %r1;\nred.global.add.u64 [%rd2+32], %rd5;\n"
		"atom.global.exch.b32 %r6, [%rd2+40], %r4;\n"
		STORE "ret;\n}\n";
	float sum;
	uint64_t wide;

	memset(other, 0, sizeof other);
	other[2] = 1000;
	works(text, 2, 64);
	for (uint32_t i = 0; i < 128; i++)
		CHECK(out[i] < 128);
	memcpy(&sum, &other[5], sizeof sum);
	memcpy(&wide, &other[8], sizeof wide);
	CHECK_EQUAL(other[0], 128);
	CHECK_EQUAL(other[1], 63);
	CHECK_EQUAL(other[2], 0);
	CHECK_EQUAL(other[3], 8);
	CHECK_EQUAL(other[4], 1);
	CHECK(sum == 4032.0f);
	CHECK_EQUAL(other[6], 63);
	CHECK_EQUAL(wide, 4032);
	CHECK_EQUAL(other[10], 127);
}

/* A float with subnormals as zeros, if they are that. */
static float kept(uint32_t bits, int flushes)
{
	float x;

	bits = flushes && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Sums of floats by lanes that share a cell, in a row or by turns: each lane finds what the one before it left. */
static void test_sums_of_floats(void)
{
	static const char *const texts[] = {
		HEAD KERNEL "ld.global.f32 %f1, [%rd11+16];\nshr.u32 %r5, %r1, 3;\nand.b32 %r5, %r5, 3;\n"
			    "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd5, %rd2, %rd5;\n"
			    "atom.global.add.f32 %f1, [%rd5], %f1;\nst.global.f32 [%rd10], %f1;\nret;\n}\n",
		HEAD KERNEL ".shared .align 4 .f32 s[4];\nld.global.f32 %f1, [%rd11+16];\nand.b32 %r5, %r1, 3;\n"
			    "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd2, %rd5;\nmov.u64 %rd7, s;\nadd.s64 %rd7, %rd7, %rd5;\n"
			    "setp.lt.u32 %p1, %r1, 4;\n@%p1 ld.global.f32 %f2, [%rd6];\n@%p1 st.shared.f32 [%rd7], %f2;\n"
			    "atom.shared.add.f32 %f1, [%rd7], %f1;\nst.global.f32 [%rd10], %f1;\n"
			    "ld.shared.f32 %f2, [%rd7];\n@%p1 st.global.f32 [%rd6], %f2;\nret;\n}\n"};
	static const uint32_t numbers[] = {0x3f800000, 0x00000003, 0x80000000, 0xbf800000, 0x00800001, 0x80800000, 0x7f800000, 0x80000005,
					   0x4b800001, 0xff800000, 0x007fffff, 0x3f000000, 0x00400000, 0x00400000, 0xcb800001};

	for (int shared = 0; shared < 2; shared++) {
		uint32_t now[4], found[32];
		for (uint32_t i = 0; i < 4; i++)
			now[i] = other[i] = numbers[5 * i % 15] ^ 0x80000000;
		for (uint32_t t = 0; t < 32; t++) {
			const uint32_t cell = shared ? t & 3 : t >> 3;
			other[4 + t] = numbers[(t + 4 * (t >> 3)) % 15];
			found[t] = now[cell];
			const float sum = kept(now[cell], !shared) + kept(other[4 + t], !shared);
			memcpy(&now[cell], &sum, sizeof sum);
			now[cell] = sum == sum ? now[cell] : 0x7fffffff;
			now[cell] &= !shared && !(now[cell] & 0x7f800000) ? 0x80000000 : 0xffffffff;
		}
		works(texts[shared], 1, 32);
		for (uint32_t t = 0; t < 32; t++)
			CHECK_EQUAL(out[t], found[t]);
		for (uint32_t i = 0; i < 4; i++)
			CHECK_EQUAL(other[i], now[i]);
	}
}

static void test_shuffles(void)
{
	static const char text[] = HEAD KERNEL
		"shfl.sync.down.b32 %r5|%p1, %r1, 5, 31, -1;\nselp.u32 %r6, 100, 0, %p1;\n"
		"add.u32 %r9, %r5, %r6;\n"
		"shfl.sync.up.b32 %r5|%p1, %r1, 3, 0, -1;\nselp.u32 %r6, 100, 0, %p1;\n"
		"add.u32 %r5, %r5, %r6;\nmad.lo.u32 %r9, %r5, 1000, %r9;\n"
		"st.global.u32 [%rd10], %r9;\n"
		"shfl.sync.bfly.b32 %r5, %r1, 6, 31, -1;\nshfl.sync.idx.b32 %r6, %r1, 2, 0x181f, -1;\n"
		"shfl.sync.down.b32 %r1, %r1, 1, 31, -1;\nmad.lo.u32 %r5, %r6, 1000, %r5;\n"
		"shl.b32 %r1, %r1, 20;\nadd.u32 %r5, %r5, %r1;\nst.global.u32 [%rd11], %r5;\nret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++) {
		CHECK_EQUAL(out[t], (t + 5 < 32 ? t + 105 : t) + 1000 * (t >= 3 ? t - 3 + 100 : t));
		CHECK_EQUAL(other[t], (t ^ 6) + 1000 * ((t & 24) | 2) + ((t < 31 ? t + 1 : t) << 20));
	}
}

static void test_votes(void)
{
	static const char text[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 20;\nvote.sync.ballot.b32 %r9, %p1, -1;\n" STORE
		"vote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, %p1, -1;\n"
		"vote.sync.uni.pred %p4, %p1, -1;\n"
		"selp.u32 %r5, 1, 0, %p2;\nselp.u32 %r6, 2, 0, %p3;\nselp.u32 %r7, 4, 0, %p4;\n"
		"or.b32 %r5, %r5, %r6;\nor.b32 %r5, %r5, %r7;\n"
		"and.b32 %r6, %r1, 3;\nmatch.any.sync.b32 %r7, %r6, -1;\nand.b32 %r7, %r7, 0xffff;\n"
		"shl.b32 %r7, %r7, 8;\n"
		"or.b32 %r5, %r5, %r7;\nmatch.all.sync.b32 %r8|%p5, %r6, -1;\n"
		"selp.u32 %r8, 8, 0, %p5;\nor.b32 %r5, %r5, %r8;\n"
		"redux.sync.add.s32 %r8, %r1, -1;\nshl.b32 %r8, %r8, 24;\nadd.u32 %r5, %r5, %r8;\n"
		"st.global.u32 [%rd11], %r5;\nret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++) {
		CHECK_EQUAL(out[t], 0xfffff);
		CHECK_EQUAL(other[t],
			    (uint32_t)(2 + ((0x1111 << (t & 3)) << 8)) + ((uint32_t)(496 & 255) << 24));
	}
}

static void test_calls(void)
{
	/* Recursion by lanes: Fibonacci numbers of t & 7; a structure by reference to local memory; a
	 * function by its address. */
	static const char text[] = HEAD
		".func (.param .b32 r) fib(.param .b32 n)\n{\n.reg .b32 %r<10>;\n.reg .pred %p1;\n"
		"ld.param.u32 %r1, [n];\nsetp.gt.u32 %p1, %r1, 1;\n@%p1 bra DEEP;\n"
		"st.param.b32 [r], %r1;\nret;\n"
		"DEEP:\nsub.u32 %r2, %r1, 1;\nsub.u32 %r3, %r1, 2;\n"
		"{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r2;\n"
		"call.uni (y), fib, (x);\nld.param.b32 %r4, [y];\n}\n"
		"{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r3;\n"
		"call.uni (y), fib, (x);\nld.param.b32 %r5, [y];\n}\n"
		"add.u32 %r4, %r4, %r5;\nst.param.b32 [r], %r4;\nret;\n}\n"
		".func twice(.param .b64 p)\n{\n.reg .b64 %rd1;\n.reg .b32 %r1;\n"
		"ld.param.u64 %rd1, [p];\nld.u32 %r1, [%rd1+4];\n"
		"add.u32 %r1, %r1, %r1;\nst.u32 [%rd1+4], %r1;\nret;\n}\n"
		".func (.reg .b32 o) plus(.reg .b32 i, .reg .b32 j)\n{\nadd.u32 o, i, j;\nret;\n}\n"
		".global .u64 pointer = plus;\n"
		KERNEL ".local .align 8 .b8 depot[16];\nand.b32 %r5, %r1, 7;\n"
		"{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r5;\n"
		"call.uni (y), fib, (x);\nld.param.b32 %r9, [y];\n}\n"
		"mov.u64 %rd5, depot;\ncvta.local.u64 %rd6, %rd5;\nst.local.u32 [%rd5+4], %r1;\n"
		"{\n.param .b64 x;\nst.param.b64 [x], %rd6;\ncall.uni twice, (x);\n}\n"
		"ld.local.u32 %r6, [%rd5+4];\nmad.lo.u32 %r9, %r6, 100, %r9;\n"
		"setp.lt.u32 %p1, %r1, 10;\n@%p1 call (%r7), plus, (%r9, 50000);\n@!%p1 mov.u32 %r7, %r9;\n"
		"ld.global.u64 %rd7, [pointer];\n"
		"proto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n"
		"call (%r9), %rd7, (%r7, %r1), proto;\n" STORE "ret;\n}\n";
	static const uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};

	works(text, 1, 40);
	for (uint32_t t = 0; t < 40; t++)
		CHECK_EQUAL(out[t], fibonacci[t & 7] + 200 * t + (t < 10 ? 50000 : 0) + t);
}

/* What is handed over as a whole, with an immediate number, under a guard, in part, by its address, and to a function that takes less of it. */
static void test_handed_over(void)
{
	static const char text[] = HEAD
		".func (.param .b32 r) mix(.param .b32 n, .param .b64 wide, .param .b32 parted, .param .f32 single, .param .b32 pointed, .param .b64 unused)\n"
		"{\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\n.reg .f32 %f1;\n.reg .pred %p1;\n"
		"ld.param.u32 %r1, [n];\nld.param.u64 %rd1, [wide+0];\nshr.u64 %rd1, %rd1, 32;\ncvt.u32.u64 %r2, %rd1;\n"
		"ld.param.u8 %r3, [parted+1];\nld.param.f32 %f1, [single];\ncvt.rzi.u32.f32 %r4, %f1;\n"
		"mov.u64 %rd2, pointed;\nld.param.u32 %r5, [%rd2];\n"
		"add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, %r5;\n"
		"st.param.b32 [r], %r1;\nsetp.eq.u64 %p1, %rd1, 3;\n@%p1 st.param.b32 [r+0], 7;\nret;\n}\n"
		".func (.param .b32 r) low(.param .b32 n)\n{\n.reg .b32 %r1;\nld.param.u32 %r1, [n];\nst.param.b32 [r], %r1;\nret;\n}\n"
		KERNEL "and.b32 %r5, %r1, 3;\ncvt.u64.u32 %rd5, %r5;\nshl.b64 %rd5, %rd5, 32;\nor.b64 %rd5, %rd5, 99;\n"
		"mov.u32 %r6, 0x0500;\nsetp.lt.u32 %p2, %r1, 20;\nmov.u32 %r9, 50000;\n"
		"{\n.param .b32 a0;\n.param .b64 a1;\n.param .b32 a2;\n.param .f32 a3;\n.param .b32 a4;\n.param .b64 a5;\n.param .b32 back;\n"
		"st.param.b32 [a0+0], %r1;\nst.param.b64 [a1+0], %rd5;\nst.param.b32 [a2+0], %r6;\nst.param.f32 [a3+0], 0f43480000;\n"
		"st.param.b32 [a4+0], 1000;\n@%p2 bra CALL;\nst.param.b32 [a0+0], 10000;\n"
		"CALL:\ncall (back), mix, (a0, a1, a2, a3, a4, a5);\nld.param.b32 %r9, [back+0];\n}\n"
		"{\n.param .b64 a0;\n.param .b32 back;\nst.param.b64 [a0], %rd5;\ncall (back), low, (a0);\nld.param.b32 %r7, [back];\n}\n"
		"mad.lo.u32 %r9, %r7, 100000, %r9;\n" STORE "ret;\n}\n";

	works(text, 1, 40);
	for (uint32_t t = 0; t < 40; t++)
		CHECK_EQUAL(out[t], 9900000 + ((t & 3) == 3 ? 7 : (t < 20 ? t : 10000) + (t & 3) + 5 + 200 + 1000));
}

static void test_variables(void)
{
	/* Initial values, addresses in them, constants, generic addresses of every space. */
	static const char text[] = HEAD
		".const .align 4 .u32 table[4] = {5, 6, 7, 8};\n.global .align 4 .u32 number = 9;\n"
		".global .align 8 .u64 where = number;\n"
		KERNEL ".shared .align 4 .b8 s[128];\nand.b32 %r5, %r1, 3;\nmul.wide.u32 %rd4, %r5, 4;\nmov.u64 %rd5, table;\n"
		"add.s64 %rd5, %rd5, %rd4;\nld.const.u32 %r9, [%rd5];\n"
		"ld.global.u64 %rd6, [where];\nld.u32 %r6, [%rd6];\n"
		"mad.lo.u32 %r9, %r6, 10, %r9;\nmov.u64 %rd7, s;\ncvta.shared.u64 %rd8, %rd7;\n"
		"mul.wide.u32 %rd4, %r1, 4;\n"
		"add.s64 %rd8, %rd8, %rd4;\nst.u32 [%rd8], %r9;\ncvta.to.shared.u64 %rd9, %rd8;\n"
		"ld.shared.u32 %r9, [%rd9];\n"
		"isspacep.shared %p1, %rd8;\nisspacep.global %p2, %rd10;\n"
		"isspacep.shared %p3, %rd10;\nisspacep.const %p4, %rd5;\n"
		"@%p1 add.u32 %r9, %r9, 1000;\n@%p2 add.u32 %r9, %r9, 2000;\n@%p3 add.u32 %r9, %r9, 4000;\n"
		"@%p4 add.u32 %r9, %r9, 8000;\n" STORE "ret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 11000 + 90 + 5 + (t & 3));
}

static void test_vectors_and_copies(void)
{
	static const char text[] = HEAD KERNEL
		".shared .align 16 .b8 s[512];\nmul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd5, %rd2, %rd4;\n"
		"mul.lo.u32 %r5, %r1, 16;\nmov.u32 %r6, s;\nadd.u32 %r6, %r6, %r5;\n"
		"cp.async.ca.shared.global [%r6], [%rd5], 16;\ncp.async.commit_group;\n"
		"cp.async.wait_group 0;\n"
		"ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];\nadd.u32 %r9, %r10, %r13;\n"
		"mov.b64 %rd6, {%r11, %r12};\nshr.u64 %rd6, %rd6, 32;\ncvt.u32.u64 %r14, %rd6;\n"
		"mad.lo.u32 %r9, %r14, 10, %r9;\n"
		"ld.global.nc.v2.u64 {%rd5, %rd7}, [%rd5];\nmov.b64 {%r15, _}, %rd7;\n"
		"sub.u32 %r15, %r15, %r14;\n"
		"add.u32 %r9, %r9, %r15;\nld.global.u8 %r16, [%rd2+1];\n"
		"ld.global.s8 %r17, [%rd2+2];\nadd.u32 %r9, %r9, %r16;\n"
		"add.u32 %r9, %r9, %r17;\n" STORE "ret;\n}\n";

	for (uint32_t i = 0; i < 128; i++)
		other[i] = i * 3;
	other[0] = 0x00ff2a00;
	works(text, 1, 32);
	for (uint32_t t = 1; t < 32; t++)
		CHECK_EQUAL(out[t], 12 * t + 12 * t + 9 + 10 * (12 * t + 6) + 0x2a - 1);
}

static void test_special_registers(void)
{
	static const char text[] = HEAD KERNEL
		"mov.u32 %r5, %laneid;\nmov.u32 %r6, %warpid;\nmad.lo.u32 %r9, %r6, 100, %r5;\n"
		"mov.u32 %r7, %smid;\n"
		"mad.lo.u32 %r9, %r7, 10000, %r9;\nmov.u32 %r8, %nctaid.x;\n"
		"mad.lo.u32 %r9, %r8, 100000, %r9;\n" STORE
		"mov.u32 %r5, %clock;\nadd.u32 %r6, %r5, 1;\nmov.u32 %r7, %clock;\nsub.u32 %r7, %r7, %r5;\n"
		"mov.u32 %r8, %lanemask_lt;\npopc.b32 %r8, %r8;\nmad.lo.u32 %r7, %r8, 10, %r7;\n"
		"st.global.u32 [%rd11], %r7;\nret;\n}\n";

	launch.sms = 2;
	works(text, 3, 64);
	for (uint32_t i = 0; i < 192; i++) {
		CHECK_EQUAL(out[i], 300000 + 10000 * (i / 64 % 2) + 100 * (i % 64 / 32) + i % 32);
		CHECK_EQUAL(other[i], 10 * (i % 32) + 2);
	}
}

/* What a sink got. */
static size_t traced_rows;
static struct { uint8_t op, size; uint32_t an, pc, mask; uint64_t base; int64_t stride; } traced[256];
static int keep_rows(void *context, struct gt_rows *rows, struct gt_error *failure)
{
	(void)context, (void)failure;
	for (size_t i = 0; i < rows->n && traced_rows < 256; i++, traced_rows++) {
		traced[traced_rows].op = rows->op[i];
		traced[traced_rows].size = rows->size[i];
		traced[traced_rows].an = rows->an[i];
		traced[traced_rows].pc = rows->pc[i];
		traced[traced_rows].mask = rows->mask[i];
		traced[traced_rows].base = rows->base[i];
		traced[traced_rows].stride = rows->stride[i];
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

static void test_trace(void)
{
	static const char text[] = HEAD KERNEL
		".shared .align 4 .b8 s[128];\nld.global.cg.u32 %r5, [%rd11];\nsetp.lt.u32 %p1, %r1, 4;\n"
		"@%p1 st.global.u32 [%rd10+8], %r5;\nmul.lo.u32 %r6, %r1, %r1;\n"
		"mul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd5, %rd2, %rd5;\n"
		"ld.global.nc.u32 %r7, [%rd5];\nst.shared.u32 [s], %r7;\n"
		"atom.global.add.u32 %r8, [%rd1], 1;\nret;\n}\n";
	struct gt_sink sink = {.rows = gt_rows_new(64, &error), .flush = keep_rows};

	traced_rows = 0;
	launch.sink = &sink;
	launch.traced_spaces = 1U << GT_GLOBAL | 1U << GT_SHARED;
	launch.first_block = 1;
	launch.traced_blocks = 1;
	works(text, 3, 32);
	CHECK(sink.rows->n == 5);
	CHECK_EQUAL(ran.accesses, 5);
	CHECK_EQUAL(sink.rows->n_lanes, 32);
	CHECK(sink.rows->n_lanes == 32 && sink.rows->lanes[5] == sink.rows->lanes[0] + 100);
	keep_rows(NULL, sink.rows, &error);
	static const uint8_t ops[] = {GT_LOAD | GT_GLOBAL << 2 | GT_CG << 5, GT_STORE | GT_GLOBAL << 2,
				      GT_LOAD | GT_GLOBAL << 2 | GT_NC << 5, GT_STORE | GT_SHARED << 2,
				      GT_REDUCTION | GT_GLOBAL << 2};
	for (size_t i = 0; i < 5; i++) {
		CHECK_EQUAL(traced[i].op, ops[i]);
		CHECK_EQUAL(traced[i].size, 4);
		CHECK_EQUAL(traced[i].an, i);
	}
	CHECK_EQUAL(traced[0].stride, 4);
	CHECK_EQUAL(traced[0].mask, 0xffffffff);
	CHECK_EQUAL(traced[1].mask, 15);
	CHECK_EQUAL(traced[1].base % 512, 136);
	CHECK(traced[2].stride == GT_STRIDE_LANES);
	CHECK_EQUAL(traced[3].stride, 0);
	CHECK(traced[0].pc + 2 == traced[1].pc && traced[0].pc > 0);
	gt_rows_free(sink.rows);
}

static void test_stray_accesses(void)
{
	static const char beyond[] = HEAD KERNEL "st.global.u32 [%rd10+4000], %r1;\nret;\n}\n";
	static const char odd[] = HEAD KERNEL "ld.global.u32 %r5, [%rd10+2];\nret;\n}\n";
	static const char nowhere[] = HEAD KERNEL "mov.u64 %rd5, 0;\nld.u32 %r5, [%rd5];\nret;\n}\n";
	static const char shared[] = HEAD KERNEL ".shared .align 4 .b8 s[64];\nmul.lo.u32 %r5, %r1, 4;\nld.shared.u32 %r6, [%r5];\nret;\n}\n";
	static const char local[] = HEAD KERNEL "mov.u64 %rd5, 0x7fffffff0;\nst.local.u32 [%rd5], %r6;\nret;\n}\n";
	static const char around[] = HEAD KERNEL
		"cvt.u64.u32 %rd5, %r1;\nshl.b64 %rd5, %rd5, 63;\nadd.s64 %rd5, %rd5, %rd1;\n"
		"ld.global.u32 %r6, [%rd5];\nret;\n}\n";

	static uint32_t ours;
	char of_host[2048], said[512];
	snprintf(of_host, sizeof of_host, "%s0x%" PRIx64 ";\nld.global.u32 %%r5, [%%rd5];\nret;\n}\n", HEAD KERNEL "mov.u64 %rd5, ",
		 (uint64_t)(uintptr_t)&ours);
	snprintf(said, sizeof said,
		 "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): load of 4 bytes at 0x%" PRIx64 ": outside every allocation; nearest is "
		 "'other', 4096 bytes at 0x200000001200; that is memory of the host, which kernels reach if CUDA allocated it, or by the device's "
		 "pointer if it was registered",
		 (uint64_t)(uintptr_t)&ours);

	launch.check = GT_PTX_CHECK_FAULT;
	fails(beyond, 2, 32,
	      "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (24,0,0): store of 4 bytes at 0x200000001000: "
			     "outside every allocation; nearest is 'out', 4096 bytes at 0x200000000000; a GPU has memory there: "
			     "--check page lets it pass");
	fails(of_host, 1, 32, said);
	fails(odd, 1, 32,
	      "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): load of 4 bytes at 0x200000000002 of global "
			  "memory: not a multiple of 4");
	fails(nowhere, 1, 32,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): load of 4 bytes at 0x0: outside every "
			      "allocation; nearest is 'out', 4096 bytes at 0x200000000000");
	fails(shared, 1, 32,
	      "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (16,0,0): load of 4 bytes at 0x40 of shared memory: "
			     "a block has 64 bytes; nearest is 's', 64 bytes at 0x0");
	fails(local, 1, 32,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): store of 4 bytes at 0x7fffffff0 of local "
			    "memory: no function under way has variables");
	fails(around, 1, 32,
	      "kernel k, PTX line 22, pc 0x16: block (0,0,0) thread (1,0,0): load of 4 bytes at 0x8000200000000000: "
			     "outside every allocation; nearest is 'other', 4096 bytes at 0x200000001200");
}

static void test_barriers_that_fail(void)
{
	static const char different[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nbra.uni END;\nA:\n"
		"bar.sync 2;\nEND:\nret;\n}\n";

	fails(different, 1, 64,
	      "kernel k: block (0,0,0) waits for ever: warp 0 at barrier 2 (line 24), warp 1 at barrier 1 "
				"(line 21)");
}

static void test_other_faults(void)
{
	static const char endless[] = HEAD KERNEL "LOOP:\nbra LOOP;\nret;\n}\n";
	static const char unknown[] = HEAD KERNEL "setp.eq.u32 %p1, %r1, 99;\n@%p1 frobnicate.u32 %r5, %r1;\n@!%p1 tcgen05.load.u32 %r5, %r1;\nret;\n}\n";
	static const char deep[] = HEAD ".func f()\n{\ncall f;\nret;\n}\n" KERNEL "call f;\nret;\n}\n";
	static const char comparison[] = HEAD KERNEL "setp.near.u32 %p1|%p2, %r1, 5;\nret;\n}\n";
	static const char pair[] = HEAD KERNEL "setp.lt.u32 %p1, %p2, %r1, 5;\nret;\n}\n";
	static const char many[] = HEAD KERNEL "shfl.sync.idx.b32 %r5, %r1, 0, 31, -1, 7;\nret;\n}\n";
	static const char trap[] = HEAD KERNEL "setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\nret;\n}\n";

	fails(comparison, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): opcode 'setp.near.u32' is not known");
	fails(pair, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): opcode 'setp.lt.u32' is not known");
	fails(many, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): this form of 'shfl' is not known");
	launch.max_instructions = 10000;
	fails(endless, 1, 32, "kernel k: more than 10000 warp instructions, in block (0,0,0): it does not end, or --max-instructions is too low");
	fails(unknown, 1, 32,
	      "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (0,0,0): 'tcgen05.load.u32' is not modelled");
	fails(deep, 1, 32,
	      "kernel k, PTX line 6, pc 0x6: block (0,0,0) thread (0,0,0): call of 'f': no stack is left (4096 calls "
			   "deep, 0 bytes of local memory)");
	fails(trap, 1, 32, "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (5,0,0): trap");
	CHECK(run(HEAD KERNEL "ret;\n}\n", 0, 32) == -1);
	CHECK(run(HEAD KERNEL "ret;\n}\n", 1, 2000) == -1);
}

/* Blocks of memory come, go and come again; none overlap; limits hold. */
static void test_memory(void)
{
	struct gt_ptx_memory memory;
	uint64_t at[64], address;
	uint64_t seed = 1;

	CHECK(gt_ptx_memory_open(&memory, 1 << 20, &error) == 0);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 64; i++) {
			seed = seed * 6364136223846793005U + 1442695040888963407U;
			uint64_t bytes = 1 + (seed >> 40) % 8000;
			CHECK(gt_ptx_allocate(&memory, bytes, "x", &at[i], &error) == 0);
			CHECK(at[i] % GT_PTX_ALIGNMENT == 0);
			unsigned char *host = gt_ptx_at(&memory, at[i], bytes);
			CHECK(host && host[0] == 0 && host[bytes - 1] == 0);
			memset(host, 0xee, bytes);
			CHECK(!gt_ptx_at(&memory, at[i], bytes + 1));
			CHECK(!gt_ptx_at(&memory, at[i] + bytes, 1));
		}
		for (int i = 0; i < 64; i++)
			CHECK(gt_ptx_free(&memory, at[(i * 29) % 64], &error) == 0);
	}
	CHECK(gt_ptx_free(&memory, at[0], &error) == -1);
	CHECK_EQUAL(memory.live_bytes, 0);
	CHECK(gt_ptx_allocate(&memory, (1 << 20) + 1, "big", &address, &error) == -1);
	CHECK(gt_ptx_allocate(&memory, 1 << 20, "all", &address, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, 1, "more", &address, &error) == -1);
	gt_ptx_memory_close(&memory);
}

/* Pages of this process that are in memory, where the system tells; 0 elsewhere. */
static unsigned long resident_pages(void)
{
	unsigned long size, resident = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (statm)
		fclose(statm);
	return resident;
}

/* A large array that is freed takes no memory; its neighbours keep what they hold, and the next one there is zero. */
static void test_large_memory(void)
{
	enum { LARGE = (40 << 20) + 77 };
	struct gt_ptx_memory memory;
	uint64_t small, large, next, ones = 0;

	CHECK(gt_ptx_memory_open(&memory, 64 << 20, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, 1000, "small", &small, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, LARGE, "large", &large, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, 1000, "next", &next, &error) == 0);
	memset(gt_ptx_at(&memory, small, 1000), 1, 1000);
	memset(gt_ptx_at(&memory, large, LARGE), 1, LARGE);
	memset(gt_ptx_at(&memory, next, 1000), 1, 1000);
	unsigned long before = resident_pages();
	CHECK(gt_ptx_free(&memory, large, &error) == 0);
	CHECK(before == 0 || before - resident_pages() > 9000);
	CHECK(gt_ptx_allocate(&memory, LARGE, "again", &large, &error) == 0);
	const unsigned char *again = gt_ptx_at(&memory, large, LARGE);
	for (uint64_t i = 0; i < LARGE; i++)
		ones += again[i];
	CHECK_EQUAL(ones, 0);
	for (uint64_t i = 0; i < 1000; i++)
		ones += *(unsigned char *)gt_ptx_at(&memory, small + i, 1) + *(unsigned char *)gt_ptx_at(&memory, next + i, 1);
	CHECK_EQUAL(ones, 2000);
	gt_ptx_memory_close(&memory);
}

/* Where the first gap lies that holds so many bytes and one more, found by trying every multiple of the
 * alignment against every allocation; 0: nowhere. */
static uint64_t first_fit(const uint64_t *at, const uint64_t *bytes, size_t n, uint64_t wanted, uint64_t reserved)
{
	for (uint64_t place = 0; place + wanted < reserved; place += GT_PTX_ALIGNMENT) {
		bool fits = true;
		for (size_t i = 0; i < n && fits; i++)
			fits = !bytes[i] || place + wanted < at[i] - GT_PTX_GLOBAL_BASE || place > at[i] - GT_PTX_GLOBAL_BASE + bytes[i];
		if (fits)
			return GT_PTX_GLOBAL_BASE + place;
	}
	return 0;
}

/* The same with allocations of more than GT_PTX_SMALL bytes, which begin with a granule and may touch others: the lowest place of those
 * behind each allocation. */
static uint64_t first_of_all(const uint64_t *at, const uint64_t *bytes, size_t n, uint64_t wanted, uint64_t reserved)
{
	const uint64_t large = wanted > GT_PTX_SMALL, unit = large ? GT_PTX_GRANULE : GT_PTX_ALIGNMENT, apart = large ? 0 : 1;
	uint64_t lowest = 0;

	for (size_t i = 0; i <= n; i++) {
		uint64_t end = i < n && bytes[i] ? at[i] + bytes[i] + apart : GT_PTX_GLOBAL_BASE, place = (end + unit - 1) / unit * unit;
		bool fits = place + wanted + apart <= GT_PTX_GLOBAL_BASE + reserved;
		for (size_t k = 0; k < n && fits; k++)
			fits = !bytes[k] || place + wanted + apart <= at[k] || place >= at[k] + bytes[k] + apart;
		if (fits && (!lowest || place < lowest))
			lowest = place;
	}
	return lowest;
}

/* Large and small ones lie in the first room that fits. */
static void test_large_first_fit(void)
{
	static const uint64_t limit = UINT64_C(256) << 20;
	struct gt_ptx_memory memory;
	uint64_t at[40], bytes[40] = {0}, seed = 9, touching = 0;

	CHECK(gt_ptx_memory_open(&memory, limit, &error) == 0);
	for (int step = 0; step < 4000; step++) {
		seed = seed * 6364136223846793005U + 1442695040888963407U;
		size_t i = (seed >> 50) % 40;
		uint64_t wanted = 1 + (seed >> 33) % (UINT64_C(1) << (10 + (seed >> 59) % 14));
		if (wanted > 3 * GT_PTX_SMALL)
			wanted = wanted / GT_PTX_GRANULE * GT_PTX_GRANULE;
		if (bytes[i]) {
			CHECK(gt_ptx_free(&memory, at[i], &error) == 0);
			bytes[i] = 0;
		} else if (memory.live_bytes + wanted <= limit) {
			uint64_t expected = first_of_all(at, bytes, 40, wanted, memory.reserved);
			CHECK_EQUAL(gt_ptx_allocate(&memory, wanted, "x", &at[i], &error), expected ? 0 : -1);
			if (!expected)
				continue;
			CHECK_EQUAL(at[i], expected);
			bytes[i] = wanted;
			touching += gt_ptx_at(&memory, at[i] - 1, 1) != NULL;
		}
	}
	CHECK(touching > 0);
	gt_ptx_memory_close(&memory);
}

/* Allocations of the program at places of its user's: by name, by number, and not where others are. */
static void test_wishes(void)
{
	static const char *const wrong[] = {"", "A", "A=", "=0x200000000000", "A=0x200000000000,", "A=0x200000000100", "A=512",
					    "A=0x201000000000", "A=0x200000000000x", "A=-1", "A=0x200000000000,A=0x200000000200"};
	struct gt_ptx_memory memory;
	uint64_t address;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct gt_ptx_wish *wishes = NULL;
		CHECK(gt_ptx_wishes_read(&wishes, wrong[i], &error) == -1);
		gt_ptx_wishes_free(wishes);
	}
	CHECK(gt_ptx_memory_open(&memory, 1 << 20, &error) == 0);
	CHECK(gt_ptx_wishes_read(&memory.places, "B=0x200000001000,3=0x200000000000,C=0x200000001200,D=0x200000200000", &error) == 0);
	/* What the program does not allocate has no place. */
	CHECK(gt_ptx_allocate(&memory, 1, "B", &address, &error) == 0 && address == GT_PTX_GLOBAL_BASE);
	memory.call = 1;
	CHECK(gt_ptx_allocate(&memory, 513, "B", &address, &error) == 0 && address == GT_PTX_GLOBAL_BASE + 0x1000);
	memory.call = 2;
	CHECK(gt_ptx_allocate(&memory, 1, "free", &address, &error) == 0 && address == GT_PTX_GLOBAL_BASE + 0x200);
	memory.call = 3;
	CHECK(gt_ptx_allocate(&memory, 1, "other", &address, &error) == -1);
	CHECK_TEXT(error.text, "--at: '3', 1 bytes at 0x200000000000, overlaps 'B', 1 bytes at 0x200000000000");
	CHECK(gt_ptx_allocate(&memory, 1, "C", &address, &error) == -1);
	CHECK(gt_ptx_free(&memory, GT_PTX_GLOBAL_BASE, &error) == 0);
	memory.call = 4;
	CHECK(gt_ptx_allocate(&memory, 1, "C", &address, &error) == -1);
	CHECK(gt_ptx_wishes_check(&memory, &error) == -1);
	CHECK_TEXT(error.text, "--at: there was no allocation 'D'");
	CHECK(gt_ptx_allocate(&memory, 1, "D", &address, &error) == -1);
	CHECK_TEXT(error.text, "--at: 'D', 1 bytes at 0x200000200000: addresses of the device end at 0x200000200000");
	CHECK(gt_ptx_wishes_check(&memory, &error) == 0);
	gt_ptx_wishes_free(memory.places);
	gt_ptx_memory_close(&memory);
}

/* Each allocation lies in the first gap, and each address is known to be in the one that has it. */
static void test_first_fit(void)
{
	struct gt_ptx_memory memory;
	uint64_t at[100], bytes[100] = {0}, seed = 5;

	CHECK(gt_ptx_memory_open(&memory, 1 << 20, &error) == 0);
	for (int step = 0; step < 3000; step++) {
		seed = seed * 6364136223846793005U + 1442695040888963407U;
		size_t i = (seed >> 50) % 100;
		uint64_t wanted = 1 + (seed >> 33) % (UINT64_C(1) << (4 + (seed >> 59) % 14));
		if (bytes[i]) {
			CHECK(gt_ptx_free(&memory, at[i], &error) == 0);
			CHECK(!gt_ptx_at(&memory, at[i], 1));
			bytes[i] = 0;
		} else if (memory.live_bytes + wanted <= 1 << 20) {
			uint64_t expected = first_fit(at, bytes, 100, wanted, memory.reserved);
			CHECK_EQUAL(gt_ptx_allocate(&memory, wanted, "x", &at[i], &error), expected ? 0 : -1);
			if (!expected)
				continue;
			CHECK_EQUAL(at[i], expected);
			bytes[i] = wanted;
		}
		for (size_t k = 0; k < 100; k += 1 + (size_t)step % 17) {
			uint64_t last = bytes[k] ? at[k] + bytes[k] - 1 : 0;
			CHECK(!last || gt_ptx_containing(&memory, last, 1)->address == at[k]);
			CHECK(!last || !gt_ptx_containing(&memory, last, 2));
			CHECK(!last || gt_ptx_nearest(&memory, last + 1)->address == at[k]);
		}
	}
	uint64_t before = 0;
	for (const struct gt_ptx_allocation *one = memory.first; one; before = one->address, one = one->after)
		CHECK(one->address > before);
	gt_ptx_memory_close(&memory);
}

/* Instructions for video, by the PTX ISA, worked out by hand. */
static void test_instructions_for_video(void)
{
	static const struct {
		const char *text;
		uint32_t result;
	} rows[] = {
		{"vadd.s32.u32.s32 d, a.b0, b.b0", 0xffffff82}, /* 2 - 128 */
		{"vadd.u32.u32.u32.sat d.b2, a.b3, b.b0, c", 0x00ff0010}, /* 0x101 of a byte */
		{"vsub.s32.s32.s32.sat.add d, a.h1, b.h0, c", 0xffff828e}, /* -32258 + 128 + 16 */
		{"vsub.u32.u32.u32.min d, b.b3, a.b0, c", 0x00000010}, /* of 0xffffffff and 16 */
		{"vabsdiff.u32.s32.s32.max d, a.b3, b.h1, c", 0x00000182}, /* -127 and 259 */
		{"vmin.s32.u32.s32 d, a.b2, b.b1", 0xffffffff}, /* 254 and -1 */
		{"vshr.s32.s32.u32.clamp d, a, b.h0", 0xffffffff}, /* by 32 */
		{"vshl.s32.s32.u32.sat.wrap.max d, a.b0, b.b1, c", 0x7fffffff}, /* 2 << 31 */
		{"vset.s32.s32.lt.add d, a.h0, b.h1, c", 0x00000010}, /* 32514 and 259 */
		{"vset.u32.s32.gt d.b1, a.b0, b.b0, c", 0x00000110}, /* 2 and -128 */
		{"vmad.s32.s32.u32.po.shr7 d, a.b3, b.b3, c", 0xffffffff}, /* -127 + 16 + 1 */
		{"vmad.u32.u32.u32.sat d, a, b, -c", 0x7fffffff}, /* signed for its -c */
		{"vmad.s32.u32.u32 d, -a.b0, b.b3, c", 0x0000000e}, /* -2 + 16 */
		{"vmad.u32.u32.u32.sat.shr15 d, a, b, c", 0xffffffff}, /* about 2^40 */
		{"vadd2.s32.s32.s32.sat d, a, b, c", 0x83017e82}, /* -32258 + 259, 32514 - 128 */
		{"vavrg2.s32.s32.s32 d.h1, a.h03, b.h21, c", 0x3f410010}, /* 32514 and -128 */
		{"vavrg4.s32.s32.s32 d, a, b, c", 0xc1013fc1}, /* -126, 1, 126 and -126, halved, from 0 */
		{"vset4.u32.u32.ge.add d.b310, a, b, c", 0x00000011}, /* of three, byte 3 */
		{"vabsdiff4.u32.u32.s32.add d, a, b, c", 0x0000028d}, /* 128 + 251 + 128 + 130 + 16 */
		{"vmax4.s32.s32.s32 d, a.b7654, b.b3210, c", 0x01037f02}, /* 1, 3, 127, 2 */
	};
	char text[1024];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 HEAD ".visible .entry k(.param .u64 to, .param .u64 other)\n{\n.reg .b64 %%rd1;\n.reg .b32 a, b, c, d;\nld.param.u64 %%rd1, [to];\nmov.b32 a, 0x81fe7f02;\n"
				    "mov.b32 b, 0x0103ff80;\nmov.b32 c, 16;\n%s;\nst.global.u32 [%%rd1], d;\nret;\n}\n", rows[i].text);
		works(text, 1, 1);
		CHECK_EQUAL(out[0], rows[i].result);
	}
}

int main(void)
{
	RUN(test_memory);
	RUN(test_large_memory);
	RUN(test_first_fit);
	RUN(test_large_first_fit);
	RUN(test_wishes);
	RUN(test_nested_conditions);
	RUN(test_words_in_any_order);
	RUN(test_loops_of_different_length);
	RUN(test_early_exit_before_barrier);
	RUN(test_guards);
	RUN(test_numbers);
	RUN(test_switch);
	RUN(test_barriers_and_shared);
	RUN(test_named_barriers);
	RUN(test_atomics);
	RUN(test_sums_of_floats);
	RUN(test_shuffles);
	RUN(test_votes);
	RUN(test_calls);
	RUN(test_handed_over);
	RUN(test_variables);
	RUN(test_vectors_and_copies);
	RUN(test_special_registers);
	RUN(test_trace);
	RUN(test_stray_accesses);
	RUN(test_barriers_that_fail);
	RUN(test_other_faults);
	RUN(test_instructions_for_video);
	return check_report();
}
