/* SPDX-License-Identifier: MIT */
/* The estimate of registers: each kernel's sum is done by hand beside it. A value of 64 bits counts 2, an address
 * that is a parameter plus an offset 0; to the sum come R1 and two reserved, and what rounds it up to an even number. */
#include <stdlib.h>

#include "check.h"
#include "cuda/ptx/estimate/estimate.h"

/* The estimate for kernel k of a text whose parts stand around `body`; full as in gt_ptx_estimate_registers. */
static uint32_t estimate_of(const char *target, const char *before, const char *bounds, const char *body, uint32_t full)
{
	static char text[16384];
	struct gt_ptx_module module = {0};
	struct gt_error error;
	uint32_t registers = 0;
	int n = snprintf(text, sizeof text,
			 ".version 7.0\n.target %s\n.address_size 64\n%s\n"
			 ".visible .entry k(.param .u64 A, .param .u32 n) %s\n{\n"
			 ".reg .pred %%p<9>; .reg .b32 %%r<99>; .reg .b64 %%rd<99>; .reg .f32 %%f<99>;\n"
			 "ld.param.u64 %%rd1, [A]; cvta.to.global.u64 %%rd2, %%rd1; ld.param.u32 %%r90, [n];\n"
			 "%s\nret;\n}\n",
			 target, before, bounds, body);

	if (gt_ptx_parse(&module, "k.ptx", text, (size_t)n, &error) != 0 ||
	    gt_ptx_estimate_registers(&module, gt_ptx_kernel(&module, "k"), full, &registers, &error) != 0)
		printf("# %s\n", error.text);
	gt_ptx_module_free(&module);
	return registers;
}

static uint32_t estimate(const char *body)
{
	return estimate_of("sm_80", "", "", body, 0);
}

#define ADDRESS "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n"

static void constants_and_copies_are_free(void)
{
	CHECK_EQUAL(estimate(""), 4); /* 0 + 3 */
	CHECK_EQUAL(estimate("mov.u32 %r1, 7; st.global.u32 [%rd2+4], %r1;"), 4);
	/* %r1 and the sum: 2 + 3. %ntid is a constant, %r2 a copy. */
	CHECK_EQUAL(estimate("mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r4, %ntid.x; add.u32 %r3, %r2, %r4; "
			     "st.global.u32 [%rd2], %r3;"), 6);
	/* A copy of what is written twice is a value of its own: 2 of them and a sum, 3 + 3. */
	CHECK_EQUAL(estimate("mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r1, %tid.y; add.u32 %r3, %r2, %r1;"
			     "st.global.u32 [%rd2], %r3;"), 6);
}

static void products_fold_into_sums(void)
{
	/* The product is part of the sum, the offset of the access: %rd4 and a loaded value, 3 + 3. */
	CHECK_EQUAL(estimate(ADDRESS "ld.global.u32 %r2, [%rd4+8]; st.global.u32 [%rd4+4], %r2;"), 6);
	/* Where the product is also stored it is a value: %rd3 and %rd4, 4 + 3; then %rd4 and what is loaded. */
	CHECK_EQUAL(estimate(ADDRESS "st.global.u64 [%rd2], %rd3; ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd4+4], %r2;"), 8);
}

/* Six loads, each added up before the next. */
#define SUM(LD)                                                                                                   \
	ADDRESS LD " %f1, [%rd4]; " LD " %f2, [%rd4+4]; add.f32 %f2, %f1, %f2; " LD " %f3, [%rd4+8]; add.f32 %f3, %f2, %f3; "  \
		LD " %f4, [%rd4+12]; add.f32 %f4, %f3, %f4; " LD " %f5, [%rd4+16]; add.f32 %f5, %f4, %f5; " LD " %f6, [%rd4+20]; " \
		"add.f32 %f6, %f5, %f6; st.global.f32 [%rd4], %f6;"

static void loads_come_early(void)
{
	CHECK_EQUAL(estimate(SUM("ld.global.f32")), 12); /* %rd4, six loaded, the first sum: 9 + 3 */
	/* In order, but the third load goes before the sum of the first two: %rd4, three loaded, a sum: 6 + 3. */
	CHECK_EQUAL(estimate(SUM("ld.volatile.global.f32")), 10);
}

/* Four values, each loaded and stored. */
#define COPIES(ST)                                                                                               \
	ADDRESS "ld.global.f32 %f1, [%rd4]; " ST ", %f1; ld.global.f32 %f2, [%rd4+4]; " ST ", %f2; "                   \
		"ld.global.f32 %f3, [%rd4+8]; " ST ", %f3; ld.global.f32 %f4, [%rd4+12]; " ST ", %f4;"

static void loads_do_not_pass_stores(void)
{
	CHECK_EQUAL(estimate(COPIES("st.global.f32 [%rd2]")), 6);  /* one at a time: %rd4, one loaded: 3 + 3 */
	CHECK_EQUAL(estimate(COPIES("st.shared.f32 [16]")), 10); /* four at once, %rd4 last read by the fourth: 6 + 3 */
}

static void expanded_instructions_need_scratch(void)
{
#define OF_TWO(OP) "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; " OP " %r3, %r1, %r2; st.global.u32 [%rd2], %r3;"
	CHECK_EQUAL(estimate(OF_TWO("add.u32")), 6);  /* 3 + 3 */
	CHECK_EQUAL(estimate(OF_TWO("div.u32")), 10); /* and 4 */
	CHECK_EQUAL(estimate(OF_TWO("div.s32")), 12); /* and 6 */
}

#define LOOP(PRAGMA, BODY)                                                                                        \
	ADDRESS "mov.u32 %r2, 0; mov.f32 %f1, 0f00000000;\nL: " PRAGMA " ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; " BODY \
		"add.s64 %rd4, %rd4, 4; add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r90; @%p1 bra L;\nst.global.f32 [%rd2], %f1;"

static void counted_loops_are_unrolled(void)
{
	/* Four loaded, the sum, the next counter, and the address before and after it is advanced: 10 + 3. */
	CHECK_EQUAL(estimate(LOOP("", "")), 14);
	/* One loaded: 7 + 3. */
	CHECK_EQUAL(estimate(LOOP(".pragma \"nounroll\";", "")), 10);
	CHECK_EQUAL(estimate(LOOP("", "bar.sync 0; ")), 10);
	/* The bound changes too: not counted. One register more, the bound: 8 + 3. */
	CHECK_EQUAL(estimate("mov.u32 %r90, %tid.y; " LOOP("", "shr.u32 %r90, %r90, 1; ")), 12);
}

/* Forty loads, each added up before the next: 2 + 40 + 1 early, 2 + 2 + 1 as written. */
static const char *forty(void)
{
	static char text[4096];
	int n = snprintf(text, sizeof text, "%s", ADDRESS "ld.global.f32 %f90, [%rd4];\n");

	for (int i = 1; i < 40; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "ld.global.f32 %%f%d, [%%rd4+%d]; add.f32 %%f90, %%f90, %%f%d;\n",
			      i, 4 * i, i);
	snprintf(text + n, sizeof text - (size_t)n, "st.global.f32 [%%rd4], %%f90;");
	return text;
}

static void keeps_below_a_full_gpus_registers(void)
{
	CHECK_EQUAL(estimate_of("sm_80", "", "", forty(), 0), 32); /* 65536 / 2048 threads */
	CHECK_EQUAL(estimate_of("sm_86", "", "", forty(), 0), 40); /* 65536 / 1536, in units of 8 */
	CHECK_EQUAL(estimate_of("sm_75", "", "", forty(), 0), 46); /* 64 allowed: 43 + 3 */
	CHECK_EQUAL(estimate_of("sm_75", "", "", forty(), 32), 32);
	CHECK_EQUAL(estimate_of("sm_80", "", "", forty(), 64), 46);
}

static void keeps_to_the_launch_bounds(void)
{
	CHECK_EQUAL(estimate_of("sm_80", "", ".maxntid 256, 1, 1", forty(), 0), 32);
	/* Two blocks of 8 warps leave 65536 / 32 / 16 = 128, and the kernel says that it wants no more blocks. */
	CHECK_EQUAL(estimate_of("sm_80", "", ".maxntid 256, 1, 1 .minnctapersm 2", forty(), 0), 46);
	CHECK_EQUAL(estimate_of("sm_80", "", ".maxntid 1024, 1, 1 .minnctapersm 2", forty(), 64), 32);
	CHECK_EQUAL(estimate_of("sm_75", "", ".maxntid 1024, 1, 1 .minnctapersm 4", forty(), 64), 16);
}

#define CALL(F)                                                                                                   \
	"mov.u32 %r1, %tid.x; { .param .b32 a; .param .b32 q; st.param.b32 [a], %r1; call.uni (q), " F ", (a); "        \
	"ld.param.b32 %r2, [q]; } add.u32 %r3, %r1, %r2; st.global.u32 [%rd2], %r3;"

static void calls_need_the_callees(void)
{
	static const char f[] = ".func (.param .b32 q) f(.param .b32 a) { .reg .b32 %r<9>; ld.param.u32 %r1, [a]; "
				"mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; add.u32 %r5, %r4, %r3; "
				"add.u32 %r6, %r5, %r2; add.u32 %r7, %r6, %r1; st.param.b32 [q], %r7; ret; }";

	/* Its parameter, three more and a sum: 5; with %r1, which is live across the call: 6 + 3. */
	CHECK_EQUAL(estimate_of("sm_80", f, "", CALL("f"), 0), 10);
	/* 16 of the calling convention and %r1: 17 + 3. */
	CHECK_EQUAL(estimate_of("sm_80", ".extern .func (.param .b32 q) f(.param .b32 a);", "", CALL("f"), 0), 20);
	/* A function that calls itself comes to an end: 16 for the inner call. */
	CHECK_EQUAL(estimate_of("sm_80",
				".func (.param .b32 q) f(.param .b32 a) { .reg .b32 %r<9>; ld.param.u32 %r1, [a]; "
				"{ .param .b32 b; .param .b32 c; st.param.b32 [b], %r1; call.uni (c), f, (b); ld.param.b32 %r2, [c]; } "
				"st.param.b32 [q], %r2; ret; }",
				"", CALL("f"), 0), 20);
}

int main(void)
{
	RUN(constants_and_copies_are_free);
	RUN(products_fold_into_sums);
	RUN(loads_come_early);
	RUN(loads_do_not_pass_stores);
	RUN(expanded_instructions_need_scratch);
	RUN(counted_loops_are_unrolled);
	RUN(keeps_below_a_full_gpus_registers);
	RUN(keeps_to_the_launch_bounds);
	RUN(calls_need_the_callees);
	return check_report();
}
