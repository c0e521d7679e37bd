/* SPDX-License-Identifier: MIT */
/* Lanes that part and wait for each other: member masks, locks and hand-overs inside a warp, barriers
 * that part of a warp reaches, blocks that wait for later blocks, and who waits for ever. */
#define CELLS 4096
#include "ptx_cells.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
/* %rd1 = a, %rd2 = b, %r1 = thread, %r2 = lane, %r3 = block, %rd10 = the thread's own cell of a. */
#define BODY                                                                                     \
	"{\n.reg .b64 %rd<40>;\n.reg .b32 %r<60>;\n.reg .pred %p<20>;\n"                           \
	"ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n"                  \
	"mov.u32 %r2, %laneid;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"                    \
	"mad.lo.u32 %r4, %r3, %r4, %r1;\nmul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd10, %rd1, %rd3;\n"
#define KERNEL ENTRY BODY

/* Each lane's mask in `other`, its value there too, 32 further on; the results, 32 apart. */
static const char operations[] = HEAD KERNEL
	"mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd2, %rd4;\nld.global.u32 %r10, [%rd5];\n"
	"ld.global.u32 %r11, [%rd5+128];\nsetp.lt.u32 %p1, %r11, 3;\n"
	"vote.sync.ballot.b32 %r9, %p1, %r10;\n" STORE
	"vote.sync.any.pred %p2, %p1, %r10;\nselp.u32 %r9, 1, 0, %p2;\nst.global.u32 [%rd10+128], %r9;\n"
	"vote.sync.all.pred %p2, %p1, %r10;\nselp.u32 %r9, 1, 0, %p2;\nst.global.u32 [%rd10+256], %r9;\n"
	"vote.sync.uni.pred %p2, !%p1, %r10;\nselp.u32 %r9, 1, 0, %p2;\nst.global.u32 [%rd10+384], %r9;\n"
	"match.any.sync.b32 %r9, %r11, %r10;\nst.global.u32 [%rd10+512], %r9;\n"
	"match.all.sync.b32 %r9|%p3, %r11, %r10;\n@!%p3 add.u32 %r9, %r9, 7;\nst.global.u32 [%rd10+640], %r9;\n"
	"redux.sync.add.s32 %r9, %r11, %r10;\nst.global.u32 [%rd10+768], %r9;\n"
	"redux.sync.max.u32 %r9, %r11, %r10;\nst.global.u32 [%rd10+896], %r9;\n"
	"redux.sync.xor.b32 %r9, %r11, %r10;\nst.global.u32 [%rd10+1024], %r9;\n"
	"brev.b32 %r12, %r10;\nbfind.shiftamt.u32 %r12, %r12;\n"
	"shfl.sync.idx.b32 %r9, %r11, %r12, 31, %r10;\nst.global.u32 [%rd10+1152], %r9;\n"
	"cvt.u64.u32 %rd6, %r11;\nshl.b64 %rd6, %rd6, 33;\nmatch.any.sync.b64 %r9, %rd6, %r10;\n"
	"st.global.u32 [%rd10+1280], %r9;\n"
	"bar.warp.sync %r10;\nelect.sync %r9|%p4, %r10;\n@!%p4 add.u32 %r9, %r9, 100;\n"
	"st.global.u32 [%rd10+1408], %r9;\nret;\n}\n";
enum { OPERATIONS = 12 };

/* What one lane gets, one operation after the other, from all lanes' masks and values. */
static void expect(const uint32_t *masks, const uint32_t *values, unsigned lane, uint32_t results[OPERATIONS])
{
	uint32_t mask = masks[lane], ballot = 0, same = 0, sum = 0, most = 0, folded = 0, agree = 1, first = 32;

	for (unsigned k = 0; k < 32; k++) {
		if (!(mask >> k & 1))
			continue;
		first = first == 32 ? k : first;
		ballot |= (uint32_t)(values[k] < 3) << k;
		same |= (uint32_t)(values[k] == values[lane]) << k;
		agree &= values[k] == values[lane];
		sum += values[k];
		most = values[k] > most ? values[k] : most;
		folded ^= values[k];
	}
	const uint32_t list[OPERATIONS] = {ballot, ballot != 0, ballot == mask, ballot == mask || ballot == 0,
					   same, agree ? mask : 7, sum, most, folded, values[first], same,
					   first + (first == lane ? 0 : 100)};
	memcpy(results, list, sizeof list);
}

static void check_operations(unsigned threads)
{
	uint32_t results[OPERATIONS];

	works(operations, 1, threads);
	for (unsigned t = 0; t < threads; t++) {
		expect(other, other + 32, t, results);
		for (unsigned i = 0; i < OPERATIONS; i++)
			CHECK_EQUAL(out[32 * i + t], results[i]);
	}
}

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(seed >> 33) % below;
}

static void test_groups_by_member_mask(void)
{
	for (unsigned round = 0; round < 60; round++) {
		uint32_t group[32], groups = 1 + round % 8, range = 1 + draw(6);
		for (unsigned t = 0; t < 32; t++)
			group[t] = draw(groups);
		for (unsigned t = 0; t < 32; t++) {
			other[t] = 0;
			for (unsigned k = 0; k < 32; k++)
				other[t] |= (uint32_t)(group[k] == group[t]) << k;
			other[32 + t] = draw(range);
		}
		check_operations(32);
	}
}

static void test_one_mask_and_short_warps(void)
{
	for (unsigned threads = 1; threads <= 32; threads += 3) {
		for (unsigned t = 0; t < 32; t++) {
			other[t] = GT_WARP_SIZE == threads ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
			other[32 + t] = draw(5);
		}
		check_operations(threads);
	}
	/* A mask may name lanes that are not there. */
	works(HEAD KERNEL "vote.sync.ballot.b32 %r9, %p9, -1;\nsetp.lt.u32 %p1, %r1, 5;\n"
			  "vote.sync.ballot.b32 %r9, %p1, -1;\n" STORE "ret;\n}\n", 1, 45);
	for (unsigned t = 0; t < 45; t++)
		CHECK_EQUAL(out[t], t < 32 ? 31 : 0);
}

static void test_both_sides_of_a_branch(void)
{
	/* Lanes below 16 and those above shuffle with each other from instructions of their own; votes,
	 * matches and reductions as well. */
	static const char text[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 16;\nadd.u32 %r5, %r1, 16;\n@%p1 bra LOW;\n"
		"mul.lo.u32 %r6, %r1, 2;\nshfl.sync.idx.b32 %r9, %r6, %r5, 31, -1;\n"
		"setp.gt.u32 %p2, %r1, 20;\nvote.sync.ballot.b32 %r10, %p2, -1;\n"
		"and.b32 %r7, %r1, 1;\nmatch.any.sync.b32 %r11, %r7, -1;\nredux.sync.add.u32 %r12, 1, -1;\nbra END;\n"
		"LOW:\nshfl.sync.idx.b32 %r9, %r1, %r5, 31, -1;\n"
		"setp.lt.u32 %p2, %r1, 3;\nvote.sync.ballot.b32 %r10, %p2, -1;\n"
		"match.any.sync.b32 %r11, 1, -1;\nredux.sync.add.u32 %r12, 100, -1;\n"
		"END:\n" STORE "st.global.u32 [%rd10+128], %r10;\nst.global.u32 [%rd10+256], %r11;\n"
		"st.global.u32 [%rd10+384], %r12;\nactivemask.b32 %r9;\nst.global.u32 [%rd10+512], %r9;\nret;\n}\n";

	works(text, 1, 32);
	for (unsigned t = 0; t < 32; t++) {
		CHECK_EQUAL(out[t], t < 16 ? 2 * (t + 16) : t - 16);
		CHECK_EQUAL(out[32 + t], 0xffe00007);
		CHECK_EQUAL(out[64 + t], t < 16 || t & 1 ? 0xaaaaffff : 0x55550000);
		CHECK_EQUAL(out[96 + t], 1616);
		CHECK_EQUAL(out[128 + t], 0xffffffff);
	}
}

static void test_exits_before_a_sync(void)
{
	/* Lanes leave one after another; those that wait for all are let go by the last. */
	static const char text[] = HEAD KERNEL
		"setp.ge.u32 %p1, %r2, 20;\nmov.u32 %r5, 0;\n@%p1 bra WAIT;\n"
		"LOOP:\nadd.u32 %r5, %r5, 1;\nsetp.le.u32 %p2, %r5, %r2;\n@%p2 bra LOOP;\nexit;\n"
		"WAIT:\nsetp.ne.u32 %p3, %r2, 99;\nvote.sync.ballot.b32 %r9, %p3, -1;\n" STORE "ret;\n}\n";
	/* The same, and those that left the loop wait at its end, where they exit. */
	static const char guarded[] = HEAD KERNEL
		"mov.u32 %r5, 0;\nLOOP:\nadd.u32 %r5, %r5, 1;\nsetp.gt.u32 %p2, %r5, %r2;\n@%p2 bra OUT;\n"
		"setp.eq.u32 %p3, %r5, %r5;\nvote.sync.ballot.b32 %r9, %p3, -1;\n" STORE "bra LOOP;\n"
		"OUT:\nret;\n}\n";

	works(text, 1, 64);
	for (unsigned t = 0; t < 64; t++)
		CHECK_EQUAL(out[t], t % 32 < 20 ? 0 : 0xfff00000);
	works(guarded, 1, 32);
	for (unsigned t = 1; t < 32; t++)
		CHECK_EQUAL(out[t], UINT32_MAX << t);
}

static void test_lock_of_each_thread(void)
{
	static const char text[] = HEAD KERNEL
		"SPIN:\natom.global.cas.b32 %r5, [%rd2], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra SPIN;\n"
		"ld.volatile.global.u32 %r6, [%rd2+4];\nadd.u32 %r6, %r6, 1;\nst.volatile.global.u32 [%rd2+4], %r6;\n"
		"membar.gl;\natom.global.exch.b32 %r7, [%rd2], 0;\nmov.u32 %r9, %r6;\n" STORE "ret;\n}\n";
	uint32_t seen = 0;

	memset(other, 0, sizeof other);
	works(text, 3, 70);
	CHECK_EQUAL(other[0], 0);
	CHECK_EQUAL(other[1], 210);
	for (unsigned t = 0; t < 210; t++)
		seen += out[t];
	CHECK_EQUAL(seen, 210 * 211 / 2);
}

static void test_lock_by_calls(void)
{
	/* The lock is taken in one function and given back in another; the count is kept in local memory. */
	static const char text[] = HEAD
		".func take(.param .b64 at)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
		"ld.param.u64 %rd1, [at];\nSPIN:\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
		"@%p1 bra SPIN;\nret;\n}\n"
		".func (.param .b32 o) give(.param .b64 at, .param .b32 x)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<8>;\n"
		"ld.param.u32 %r5, [x];\nadd.u32 %r5, %r5, 1000;\nst.param.b32 [o], %r5;\n"
		"ld.param.u64 %rd1, [at];\natom.global.exch.b32 %r1, [%rd1], 0;\nret;\n}\n"
		KERNEL ".local .align 4 .b8 kept[4];\nmov.u32 %r20, 3;\n"
		"AGAIN:\n{\n.param .b64 p;\nst.param.b64 [p], %rd2;\ncall take, (p);\n}\n"
		"ld.volatile.global.u32 %r6, [%rd2+4];\nadd.u32 %r6, %r6, 1;\nst.local.u32 [kept], %r6;\n"
		"st.volatile.global.u32 [%rd2+4], %r6;\n"
		"{\n.param .b64 p;\n.param .b32 x;\n.param .b32 y;\nst.param.b64 [p], %rd2;\nld.local.u32 %r7, [kept];\n"
		"st.param.b32 [x], %r7;\ncall (y), give, (p, x);\nld.param.b32 %r9, [y];\n}\n"
		"sub.u32 %r20, %r20, 1;\nsetp.ne.u32 %p5, %r20, 0;\n@%p5 bra AGAIN;\n" STORE "ret;\n}\n";
	uint32_t most = 0;

	memset(other, 0, sizeof other);
	works(text, 1, 40);
	CHECK_EQUAL(other[1], 120);
	for (unsigned t = 0; t < 40; t++) {
		CHECK(out[t] >= 1003 && out[t] <= 1120);
		most = out[t] > most ? out[t] : most;
	}
	CHECK_EQUAL(most, 1120);
}

static void test_handover_between_sides(void)
{
	/* The odd lane waits for what the even one writes on the other side; then the even for the odd. */
	static const char text[] = HEAD KERNEL
		"and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\nadd.s64 %rd5, %rd2, %rd3;\n@%p1 bra EVEN;\n"
		"ODD:\nld.volatile.global.u32 %r9, [%rd5+-4];\nsetp.eq.u32 %p2, %r9, 0;\n@%p2 bra ODD;\n"
		"add.u32 %r6, %r9, 100;\nst.volatile.global.u32 [%rd5], %r6;\nbra.uni END;\n"
		"EVEN:\nadd.u32 %r6, %r1, 5;\nst.volatile.global.u32 [%rd5], %r6;\n"
		"BACK:\nld.volatile.global.u32 %r9, [%rd5+4];\nsetp.eq.u32 %p2, %r9, 0;\n@%p2 bra BACK;\n"
		"END:\n" STORE "ret;\n}\n";

	memset(other, 0, sizeof other);
	works(text, 2, 50);
	for (unsigned i = 0; i < 100; i++) {
		unsigned t = i % 50;
		CHECK_EQUAL(out[i], t & 1 ? t - 1 + 5 : t + 105);
	}
}

static void test_waits_inside_diverged_calls(void)
{
	/* Each side calls a function of its own, in which it shuffles with the other twice: registers of
	 * the two lie apart, or one would overwrite the other's. */
	static const char text[] = HEAD
		".func (.param .b32 o) left(.param .b32 i)\n{\n.reg .b32 %r<20>;\nld.param.u32 %r1, [i];\n"
		"mul.lo.u32 %r2, %r1, 3;\nadd.u32 %r3, %r1, 7;\nmov.u32 %r8, %laneid;\nxor.b32 %r9, %r8, 1;\n"
		"shfl.sync.idx.b32 %r4, %r2, %r9, 31, -1;\nadd.u32 %r5, %r4, %r3;\n"
		"shfl.sync.idx.b32 %r6, %r5, %r9, 31, -1;\nadd.u32 %r6, %r6, %r2;\nst.param.b32 [o], %r6;\nret;\n}\n"
		".func (.param .b32 o) right(.param .b32 i)\n{\n.reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n"
		"ld.param.u32 %r1, [i];\ncvt.u64.u32 %rd1, %r1;\nmul.lo.u64 %rd2, %rd1, 1000;\ncvt.u32.u64 %r2, %rd2;\n"
		"mov.u32 %r8, %laneid;\nxor.b32 %r9, %r8, 1;\n"
		"shfl.sync.idx.b32 %r4, %r2, %r9, 31, -1;\ncvt.u64.u32 %rd3, %r4;\nadd.u64 %rd4, %rd3, %rd2;\n"
		"cvt.u32.u64 %r5, %rd4;\nshfl.sync.idx.b32 %r6, %r5, %r9, 31, -1;\n"
		"cvt.u32.u64 %r7, %rd1;\nadd.u32 %r6, %r6, %r7;\nst.param.b32 [o], %r6;\nret;\n}\n"
		KERNEL "add.u32 %r5, %r1, 10;\nand.b32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra L;\n"
		"{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r5;\ncall (y), right, (x);\n"
		"ld.param.b32 %r9, [y];\n}\nbra.uni END;\n"
		"L:\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r5;\ncall (y), left, (x);\n"
		"ld.param.b32 %r9, [y];\n}\nEND:\nadd.u32 %r9, %r9, %r5;\n" STORE "ret;\n}\n";

	works(text, 1, 64);
	for (unsigned t = 0; t < 64; t++) {
		uint32_t i = t + 10, j = (t ^ 1) + 10, even = t & 1 ? j : i, odd = t & 1 ? i : j;
		uint32_t left = 1000 * odd + even + 7, right = 3 * even + 1000 * odd;
		CHECK_EQUAL(out[t], t & 1 ? left + i + i : right + 3 * i + i);
	}
}

static void test_calls_of_different_functions(void)
{
	static const char text[] = HEAD
		".func (.reg .b32 o) one(.reg .b32 i)\n{\nadd.u32 o, i, 100;\nret;\n}\n"
		".func (.reg .b32 o) two(.reg .b32 i)\n{\nmul.lo.u32 o, i, 3;\nret;\n}\n"
		".func (.reg .b32 o) three(.reg .b32 i)\n{\n.reg .pred %p;\nsetp.lt.u32 %p, i, 16;\n@%p bra L;\n"
		"mov.u32 o, 7;\nret;\nL:\nmov.u32 o, 8;\nret;\n}\n"
		".global .u64 table[3] = {one, two, three};\n"
		KERNEL "rem.u32 %r5, %r1, 3;\nmul.wide.u32 %rd4, %r5, 8;\nmov.u64 %rd5, table;\nadd.s64 %rd5, %rd5, %rd4;\n"
		"ld.global.u64 %rd6, [%rd5];\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
		"call (%r9), %rd6, (%r1), proto;\nactivemask.b32 %r7;\npopc.b32 %r7, %r7;\n"
		"mad.lo.u32 %r9, %r7, 1000, %r9;\n" STORE "ret;\n}\n";

	works(text, 1, 32);
	for (unsigned t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 32000 + (t % 3 == 0 ? t + 100 : t % 3 == 1 ? 3 * t : t < 16 ? 8 : 7));
}

/* Each lane takes 4 to 16 bytes, and has them while it calls a function with a variable of its own. A second piece lies behind the
 * first, at a multiple of 8; one that is taken after stackrestore lies in the first's place. */
static void test_stack(void)
{
	static const char text[] = HEAD
		".func (.reg .b32 o) twice(.reg .b32 i)\n{\n.local .align 4 .b8 v[64];\n.reg .b32 %s;\nst.local.u32 [v], i;\n"
		"st.local.u32 [v+60], i;\nld.local.u32 %s, [v];\nadd.u32 o, i, %s;\nret;\n}\n"
		KERNEL "and.b32 %r5, %r1, 3;\nmad.lo.u32 %r5, %r5, 4, 4;\ncvt.u64.u32 %rd5, %r5;\n"
		"stacksave.u64 %rd6;\nalloca.u64 %rd7, %rd5, 16;\nst.local.u32 [%rd7], %r1;\ncall (%r8), twice, (%r1);\n"
		"cvta.local.u64 %rd7, %rd7;\nld.u32 %r9, [%rd7];\ncvta.to.local.u64 %rd7, %rd7;\nmad.lo.u32 %r9, %r8, 100, %r9;\n"
		"and.b64 %rd8, %rd7, 15;\nalloca.u64 %rd9, %rd5;\nsub.s64 %rd9, %rd9, %rd7;\nstackrestore.u64 %rd6;\n"
		"alloca.u64 %rd12, %rd5, 16;\nsub.s64 %rd12, %rd12, %rd7;\nor.b64 %rd8, %rd8, %rd12;\nadd.s64 %rd8, %rd8, %rd9;\n"
		"cvt.u32.u64 %r6, %rd8;\nmad.lo.u32 %r9, %r6, 100000, %r9;\n" STORE "ret;\n}\n";
	static const char large[] = HEAD KERNEL "mov.u64 %rd5, 524289;\nalloca.u64 %rd7, %rd5;\nret;\n}\n";
	static const char strange[] = HEAD KERNEL "mov.u64 %rd5, 8;\nstackrestore.u64 %rd5;\nret;\n}\n";

	works(text, 2, 64);
	for (uint32_t t = 0; t < 128; t++)
		CHECK_EQUAL(out[t], t % 64 * 201 + (t % 4 < 2 ? 800000U : 1600000U));
	fails(large, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): alloca of 524289 bytes: no stack is left (0 bytes are taken)");
	fails(strange, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): stackrestore of 0x8, which no stacksave of this function gave");
}

#define FUNCTIONS 11 /* more than a warp knows to have their constants in the arena */

/* Functions of different constants that take each other's place in the arena, some two calls deep; and in the next block. */
static void test_functions_in_one_place(void)
{
	static char text[16384];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", HEAD);

	for (unsigned k = 0; k < FUNCTIONS; k++) {
		n += (size_t)snprintf(text + n, sizeof text - n, ".func (.reg .b32 o) f%u(.reg .b32 i)\n{\n.reg .b32 %%r<4>;\nmov.u32 %%r1, %%ctaid.x;\n", k);
		if (k % 3 == 2)
			n += (size_t)snprintf(text + n, sizeof text - n, "call (i), f%u, (i);\n", k - 1);
		n += (size_t)snprintf(text + n, sizeof text - n, "mad.lo.u32 o, i, %u, %u;\nadd.u32 o, o, %%r1;\nret;\n}\n", 2 * k + 3, 1000 + k);
	}
	n += (size_t)snprintf(text + n, sizeof text - n, "%s", KERNEL "mov.u32 %r9, %r1;\nmov.u32 %r5, 0;\nLOOP:\n");
	for (unsigned k = 0; k < FUNCTIONS; k++)
		n += (size_t)snprintf(text + n, sizeof text - n, "call (%%r9), f%u, (%%r9);\ncall (%%r9), f%u, (%%r9);\n", k, k * k % FUNCTIONS);
	snprintf(text + n, sizeof text - n, "%s", "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra LOOP;\n" STORE "ret;\n}\n");
	works(text, 3, 64);
	for (unsigned t = 0; t < 3 * 64; t++) {
		uint32_t value = t % 64;
		for (unsigned call = 0; call < 3 * 2 * FUNCTIONS; call++) {
			const unsigned k = call / 2 % FUNCTIONS, function = call % 2 ? k * k % FUNCTIONS : k;
			if (function % 3 == 2)
				value = value * (2 * function + 1) + 999 + function + t / 64;
			value = value * (2 * function + 3) + 1000 + function + t / 64;
		}
		CHECK_EQUAL(out[t], value);
	}
}

static void test_barriers_of_threads(void)
{
	/* Threads leave a loop with a barrier in it one after another. */
	static const char leaving[] = HEAD KERNEL
		"and.b32 %r5, %r1, 3;\nLOOP:\nred.global.add.u32 [%rd2], 1;\nbar.sync 0;\n"
		"ld.global.u32 %r9, [%rd2];\n" STORE "sub.s32 %r5, %r5, 1;\nsetp.ge.s32 %p1, %r5, 0;\n@%p1 bra LOOP;\nret;\n}\n";
	/* Two barriers of one number on the sides of a branch, and what bar.red finds over all threads. */
	static const char sides[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r2, 8;\nsetp.lt.u32 %p2, %r1, 50;\n@%p1 bra A;\nbar.red.popc.u32 %r9, 0, %p2;\nbra END;\n"
		"A:\nbar.red.popc.u32 %r9, 0, %p2;\nadd.u32 %r9, %r9, 1000;\nEND:\n" STORE "ret;\n}\n";
	/* Half of a warp is not at the barrier when it exits. */
	static const char half[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r2, 16;\n@%p1 bra LEAVE;\nbar.sync 0;\nmov.u32 %r9, 5;\n" STORE "ret;\n"
		"LEAVE:\nmov.u32 %r5, 0;\nL:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 100;\n@%p2 bra L;\n"
		"mov.u32 %r9, 6;\n" STORE "ret;\n}\n";

	memset(other, 0, sizeof other);
	works(leaving, 1, 80);
	CHECK_EQUAL(other[0], 200);
	for (unsigned t = 0; t < 80; t++)
		CHECK(out[t] >= 80);
	works(sides, 1, 100);
	for (unsigned t = 0; t < 100; t++)
		CHECK_EQUAL(out[t], 50 + (t % 32 < 8 ? 1000 : 0));
	works(half, 1, 90);
	for (unsigned t = 0; t < 90; t++)
		CHECK_EQUAL(out[t], t % 32 < 16 ? 6 : 5);
}

static void test_nested_divergence_with_waits(void)
{
	/* Lanes part three times; each of the eight groups votes among itself by the mask of its lanes,
	 * then all lanes vote from the eight places, and meet. */
	static const char text[] = HEAD KERNEL
		"and.b32 %r5, %r1, 1;\nsetp.ne.u32 %p1, %r5, 0;\nand.b32 %r5, %r1, 2;\nsetp.ne.u32 %p2, %r5, 0;\n"
		"and.b32 %r5, %r1, 4;\nsetp.ne.u32 %p3, %r5, 0;\nmov.u32 %r12, 0;\nsetp.gt.u32 %p4, %r1, 9;\n"
		"@%p1 bra A1;\n@%p2 bra A01;\n@%p3 bra A001;\n"
#define LEAF "activemask.b32 %r10;\nvote.sync.ballot.b32 %r11, %p4, %r10;\nvote.sync.ballot.b32 %r13, %p4, -1;\n"
		LEAF "bra J00;\nA001:\n" LEAF "J00:\nbra J0;\nA01:\n@%p3 bra A011;\n" LEAF "bra J01;\nA011:\n" LEAF
		"J01:\nbra J0;\nJ0:\nbra J;\nA1:\n@%p2 bra A11;\n@%p3 bra A101;\n" LEAF "bra J10;\nA101:\n" LEAF
		"J10:\nbra J1;\nA11:\n@%p3 bra A111;\n" LEAF "bra J11;\nA111:\n" LEAF "J11:\nbra J1;\nJ1:\nbra J;\n"
		"J:\nmov.u32 %r9, %r11;\n" STORE "st.global.u32 [%rd10+128], %r13;\nactivemask.b32 %r9;\n"
		"st.global.u32 [%rd10+256], %r9;\nret;\n}\n";

	works(text, 1, 32);
	for (unsigned t = 0; t < 32; t++) {
		CHECK_EQUAL(out[t], (UINT32_C(0x01010101) << (t & 7)) & ~UINT32_C(0x3ff));
		CHECK_EQUAL(out[32 + t], ~UINT32_C(0x3ff));
		CHECK_EQUAL(out[64 + t], UINT32_MAX);
	}
}

static void test_blocks_that_wait_for_later_ones(void)
{
	/* All blocks meet three times, as a barrier of the grid does it. */
	static const char text[] = HEAD KERNEL
		"mov.u32 %r20, %nctaid.x;\nmov.u32 %r21, 0;\n"
		"ROUND:\nbar.sync 0;\nadd.u32 %r21, %r21, %r20;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra OVER;\n"
		"red.global.add.u32 [%rd2], 1;\nWAIT:\nld.volatile.global.u32 %r5, [%rd2];\nsetp.lt.u32 %p2, %r5, %r21;\n"
		"@%p2 bra WAIT;\nOVER:\nbar.sync 0;\nmul.lo.u32 %r6, %r20, 3;\nsetp.lt.u32 %p3, %r21, %r6;\n@%p3 bra ROUND;\n"
		"ld.volatile.global.u32 %r9, [%rd2];\n" STORE "ret;\n}\n";

	memset(other, 0, sizeof other);
	works(text, 37, 64);
	CHECK_EQUAL(other[0], 111);
	for (unsigned i = 0; i < 37 * 64; i++)
		CHECK_EQUAL(out[i], 111);
}

static void test_loops_that_count_while_they_wait(void)
{
	/* Block 0 waits for the last block, with a counter and a delay that grows with it. */
	static const char block[] = HEAD KERNEL
		"mov.u32 %r20, %nctaid.x;\nsub.u32 %r20, %r20, 1;\nmov.u32 %r9, 0;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra OTHER;\n"
		"SPIN:\nadd.u32 %r9, %r9, 1;\nand.b32 %r12, %r9, 63;\nmov.u32 %r13, 0;\n"
		"DELAY:\nadd.u32 %r13, %r13, 1;\nsetp.lt.u32 %p3, %r13, %r12;\n@%p3 bra DELAY;\n"
		"ld.volatile.global.u32 %r5, [%rd2];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra SPIN;\nbra.uni END;\n"
		"OTHER:\nsetp.ne.u32 %p4, %r3, %r20;\n@%p4 bra END;\nst.volatile.global.u32 [%rd2], 1;\nEND:\nmov.u32 %r9, 5;\n" STORE
		"ret;\n}\n";
	/* All blocks wait for all, each in such a loop. */
	static const char all[] = HEAD KERNEL
		"mov.u32 %r20, %nctaid.x;\nmov.u32 %r9, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra OVER;\n"
		"red.global.add.u32 [%rd2+4], 1;\n"
		"SPIN:\nadd.u32 %r9, %r9, 1;\nld.volatile.global.u32 %r5, [%rd2+4];\nsetp.lt.u32 %p2, %r5, %r20;\n@%p2 bra SPIN;\n"
		"OVER:\nbar.sync 0;\nld.volatile.global.u32 %r9, [%rd2+4];\n" STORE "ret;\n}\n";
	/* Lane 0 waits for lane 31 of its own warp. */
	static const char lanes[] = HEAD KERNEL
		"mov.u32 %r9, 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra OTHER;\n"
		"SPIN:\nadd.u32 %r9, %r9, 1;\nld.volatile.global.u32 %r5, [%rd2+8];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra SPIN;\nbra.uni END;\n"
		"OTHER:\nsetp.ne.u32 %p4, %r2, 31;\n@%p4 bra END;\nst.volatile.global.u32 [%rd2+8], 1;\nEND:\nmov.u32 %r9, 7;\n" STORE
		"ret;\n}\n";

	memset(other, 0, sizeof other);
	launch.max_instructions = 50000000;
	works(block, 30, 64);
	works(all, 30, 64);
	CHECK_EQUAL(out[29 * 64 + 63], 30);
	works(lanes, 1, 32);
	for (unsigned i = 0; i < 32; i++)
		CHECK_EQUAL(out[i], 7);
	launch.max_instructions = 0;
}

#define STORES 700 /* a thread: more than a batch of held rows */

static uint64_t n_stores[6]; /* in the order in which they come */
static uint32_t last_block;

static int check_batch(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	(void)context, (void)unused;
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t block = rows->block[i];
		CHECK(block >= last_block && block < 6);
		last_block = block;
		if (gt_op_action(rows->op[i]) != GT_STORE)
			continue;
		uint64_t addresses[GT_WARP_SIZE], n = n_stores[block]++;
		CHECK_EQUAL(gt_rows_addresses(rows, i, addresses), 32);
		for (unsigned lane = 0; lane < 32; lane++) /* scattered: lanes swap places in pairs */
			CHECK_EQUAL((addresses[lane] & 0x1fff), (block * 1024 + n) + 8 * (lane ^ (lane >> 1)));
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

static void test_accesses_of_blocks_beside_each_other(void)
{
	/* Block 0 waits for the last one to have stored; the accesses of those between are held. */
	static const char text[] = HEAD KERNEL
		"shr.u32 %r5, %r2, 1;\nxor.b32 %r5, %r5, %r2;\nmul.wide.u32 %rd4, %r5, 8;\nmul.wide.u32 %rd5, %r3, 1024;\n"
		"add.s64 %rd6, %rd1, %rd4;\nadd.s64 %rd6, %rd6, %rd5;\nmov.u32 %r6, 0;\n"
		"LOOP:\nst.global.u8 [%rd6], %r6;\nadd.s64 %rd6, %rd6, 1;\nadd.u32 %r6, %r6, 1;\n"
		"setp.lt.u32 %p1, %r6, 700;\n@%p1 bra LOOP;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra END;\n"
		"red.global.add.u32 [%rd2], 1;\n"
		"WAIT:\nld.volatile.global.u32 %r7, [%rd2];\nsetp.lt.u32 %p3, %r7, 6;\n@%p3 bra WAIT;\nEND:\nret;\n}\n";
	struct gt_sink sink = {gt_rows_new(100, &error), check_batch, NULL};

	memset(other, 0, sizeof other);
	memset(n_stores, 0, sizeof n_stores);
	last_block = 0;
	launch.sink = &sink;
	launch.traced_spaces = UINT32_C(1) << GT_GLOBAL;
	launch.traced_blocks = 6;
	works(text, 6, 32);
	check_batch(NULL, sink.rows, &error);
	for (unsigned block = 0; block < 6; block++)
		CHECK_EQUAL(n_stores[block], STORES);
	launch = (struct gt_ptx_launch){0};
	gt_rows_free(sink.rows);
}

/* A loop whose body is longer than a turn: the turns that its warps are ahead of do not look like waiting. Enough instructions
 * that it would be taken for one that runs away. */
static void test_a_long_body_is_no_wait(void)
{
	static char text[65536];
	size_t n = (size_t)snprintf(text, sizeof text, "%s",
				    HEAD KERNEL ".reg .b32 %x<4>;\nmov.b32 %x1, 0;\nmov.b32 %x2, 0;\nLOOP:\n");

	for (unsigned i = 0; i < 800; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "xor.b32 %%x2, %%x2, %%r1;\nxor.b32 %%x2, %%x2, %%r1;\n");
	snprintf(text + n, sizeof text - n,
		 "add.u32 %%x1, %%x1, 1;\nsetp.lt.u32 %%p1, %%x1, 200;\n@%%p1 bra LOOP;\nst.global.u32 [%%rd10], %%x1;\nret;\n}\n");
	works(text, 1, 1024);
	CHECK_EQUAL(out[0], 200);
	CHECK_EQUAL(out[1023], 200);
	CHECK(ran.warp_instructions > UINT64_C(8) << 20);
}

/* Blocks that meet at a barrier of the grid, of which a count is kept, which is the same after two rounds, as is all of memory. Only one
 * warp of each polls, and the others are at a barrier of the block whenever they are asked. */
static void test_a_barrier_of_the_grid_is_no_hang(void)
{
#define STORE_ZERO "ld.global.u32 %r10, [%rd5];\nrem.s32 %r11, %r4, 7;\nand.b32 %r10, %r11, 0;\nst.global.u32 [%rd5], %r10;\n"
	static const char text[] = HEAD KERNEL
		"and.b32 %r12, %r4, 1023;\nmul.wide.u32 %rd4, %r12, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
		"mov.u32 %r5, %nctaid.x;\nsub.u32 %r5, 0x80000001, %r5;\nsetp.eq.u32 %p1, %r3, 0;\nselp.u32 %r5, %r5, 1, %p1;\n"
		"setp.ne.u32 %p2, %r1, 0;\nmov.u32 %r6, 0;\nROUND:\n" STORE_ZERO STORE_ZERO STORE_ZERO STORE_ZERO STORE_ZERO
		"bar.sync 0;\n@%p2 bra MET;\natom.add.release.gpu.u32 %r7, [%rd2], %r5;\n"
		"WAIT:\nld.acquire.gpu.u32 %r8, [%rd2];\nxor.b32 %r8, %r8, %r7;\nsetp.gt.s32 %p3, %r8, -1;\n@%p3 bra WAIT;\n"
		"MET:\nbar.sync 0;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 300;\n@%p4 bra ROUND;\n"
		"st.global.u32 [%rd5], %r6;\nret;\n}\n";

	memset(out, 0, sizeof out);
	memset(other, 0, sizeof other);
	works(text, 160, 256);
	CHECK_EQUAL(out[0], 300);
	CHECK_EQUAL(out[1023], 300);
}

/* Lanes that are not in their own mask, as an NVIDIA GPU has it for programs that compare its results: they count in a reduction and in a
 * match, and a barrier holds none of them. */
static void test_lanes_outside_of_their_masks(void)
{
	static const char text[] = HEAD KERNEL
		"redux.sync.add.u32 %r9, %r1, 0xffff;\nbar.warp.sync 0x2aa;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra HERE;\n"
		"add.u32 %r9, %r9, 1000;\nHERE:\nbar.warp.sync 0xf;\nadd.u32 %r9, %r9, 1;\n" STORE "ret;\n}\n";

	works(text, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 497 + (t < 16 ? 0 : 1000));

	static const char match[] = HEAD KERNEL
		"mov.u32 %r2, 7;\nmatch.all.sync.b32 %r9|%p1, %r2, 0xff;\nselp.u32 %r9, 1, 0, %p1;\nsetp.gt.u32 %p2, %r1, 0;\n"
		"@%p2 mov.u32 %r2, 8;\nmatch.all.sync.b32 %r3|%p1, %r2, 0xff;\n@%p1 add.u32 %r9, %r9, 2;\n" STORE "ret;\n}\n";

	works(match, 1, 32);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 1);
}

static void test_who_waits_for_ever(void)
{
	static const char not_own[] = HEAD KERNEL "setp.gt.u32 %p1, %r1, 3;\nvote.sync.any.pred %p2, %p1, 0xf;\nret;\n}\n";
	static const char elsewhere[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nvote.sync.ballot.b32 %r9, %p1, -1;\nbra END;\n"
		"A:\nredux.sync.add.u32 %r9, %r1, -1;\nEND:\nret;\n}\n";
	static const char barrier[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.warp.sync -1;\nbra END;\nA:\nbar.sync 0;\nEND:\nret;\n}\n";
	static const char flag[] = HEAD KERNEL
		"setp.lt.u32 %p1, %r1, 32;\n@%p1 bra END;\n"
		"SPIN:\nld.volatile.global.u32 %r5, [%rd2];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra SPIN;\nEND:\nret;\n}\n";

	fails(not_own, 1, 32, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (4,0,0): vote.any.pred with the member mask "
			      "0x0000000f, in which its own lane is not");
	fails(elsewhere, 1, 32, "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (16,0,0): vote.ballot.b32 waits for ever: "
				"lanes 0x0000ffff of its member mask 0xffffffff do not come to it");
	fails(barrier, 1, 32, "kernel k: block (0,0,0) waits for ever: warp 0 at bar.warp.sync (line 20), "
			      "warp 0 at barrier 0 (line 23)");
	memset(other, 0, sizeof other);
	fails(flag, 2, 64, "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (32,0,0): it runs away: in 337920 warp "
			   "instructions nothing has changed that its loop could wait for; what the host does meanwhile comes "
			   "after the launch");
}

int main(void)
{
	RUN(test_groups_by_member_mask);
	RUN(test_one_mask_and_short_warps);
	RUN(test_both_sides_of_a_branch);
	RUN(test_exits_before_a_sync);
	RUN(test_lock_of_each_thread);
	RUN(test_lock_by_calls);
	RUN(test_handover_between_sides);
	RUN(test_waits_inside_diverged_calls);
	RUN(test_calls_of_different_functions);
	RUN(test_stack);
	RUN(test_functions_in_one_place);
	RUN(test_barriers_of_threads);
	RUN(test_nested_divergence_with_waits);
	RUN(test_blocks_that_wait_for_later_ones);
	RUN(test_loops_that_count_while_they_wait);
	RUN(test_accesses_of_blocks_beside_each_other);
	RUN(test_a_long_body_is_no_wait);
	RUN(test_a_barrier_of_the_grid_is_no_hang);
	RUN(test_lanes_outside_of_their_masks);
	RUN(test_who_waits_for_ever);
	return check_report();
}
