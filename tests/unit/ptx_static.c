/* SPDX-License-Identifier: MIT */
/* The static analysis: expressions of addresses, and degrees against a plain count. */
#include <stdlib.h>

#include "check.h"
#include "cuda/ptx/static/static.h"

static struct gt_ptx_module module;
static char *expression;

/* A kernel of two buffers and two numbers around these instructions. */
static struct gt_static *analyse(const char *body)
{
	static char text[8192];
	struct gt_static *analysis;
	struct gt_error error;
	FILE *to;
	size_t length;
	int n = snprintf(text, sizeof text,
			 ".version 6.3\n.target sm_75\n.address_size 64\n"
			 ".visible .entry k(.param .u64 A, .param .u64 B, .param .u32 n, .param .u32 m)\n{\n"
			 ".reg .pred %%p<9>; .reg .b32 %%r<40>; .reg .b64 %%rd<40>; .reg .f32 %%f<9>;\n"
			 "ld.param.u64 %%rd1, [A]; cvta.to.global.u64 %%rd1, %%rd1;\n"
			 "ld.param.u64 %%rd2, [B]; ld.param.u32 %%r1, [n]; ld.param.u32 %%r2, [m];\n"
			 "mov.u32 %%r3, %%tid.x; mov.u32 %%r4, %%ctaid.x; mov.u32 %%r5, %%ntid.x; mov.u32 %%r6, %%tid.y;\n"
			 "%s\nret;\n}\n",
			 body);

	gt_ptx_module_free(&module);
	memset(&module, 0, sizeof module);
	if (gt_ptx_parse(&module, "k.ptx", text, (size_t)n, &error) != 0) {
		printf("# %s\n", error.text);
		exit(1);
	}
	analysis = gt_static_open(gt_ptx_kernel(&module, "k"), &error);
	if (!analysis) {
		printf("# %s\n", error.text);
		exit(1);
	}
	free(expression);
	to = open_memstream(&expression, &length);
	if (gt_static_accesses(analysis))
		gt_static_write_expression(analysis, gt_static_accesses(analysis) - 1, NULL, to);
	fclose(to);
	return analysis;
}

static void check_expression(const char *body, const char *expected)
{
	gt_static_close(analyse(body));
	CHECK_TEXT(expression, expected);
}

#define LOAD " ld.global.f32 %f1, [%rd3];"

static void sums_and_products(void)
{
	check_expression("mad.lo.s32 %r7, %r4, %r5, %r3; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 + 4*tid.x + 4*ctaid.x*ntid.x");
	check_expression("shl.b32 %r7, %r3, 3; cvt.s64.s32 %rd4, %r7; sub.s64 %rd3, %rd1, %rd4; ld.global.u8 %r8, [%rd3+-5];",
			 "param0 - 8*tid.x - 5");
	check_expression("add.s32 %r7, %r3, %r1; mul.lo.s32 %r7, %r7, %r1; sub.s32 %r7, %r7, %r1; cvt.u64.u32 %rd4, %r7;"
			 "add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 - param2 + param2*param2 + param2*tid.x");
	check_expression("neg.s32 %r7, %r3; cvt.s64.s32 %rd4, %r7; add.s64 %rd3, %rd4, %rd2; st.global.f32 [%rd3], %f1;",
			 "param1 - tid.x");
	check_expression("sub.s32 %r7, %r3, %r3; cvt.s64.s32 %rd3, %r7;" LOAD, "0");
}

static void or_is_a_sum_where_bits_are_free(void)
{
	check_expression("shl.b32 %r7, %r3, 2; or.b32 %r7, %r7, 3; cvt.u64.u32 %rd3, %r7;" LOAD, "4*tid.x + 3");
	check_expression("shl.b32 %r7, %r3, 1; or.b32 %r7, %r7, 3; cvt.u64.u32 %rd3, %r7;" LOAD, "or(2*tid.x, 3)");
}

static void loops_are_solved(void)
{
	check_expression("mov.u64 %rd3, %rd1; mov.u32 %r7, 0;\nL:\n" LOAD " add.s64 %rd3, %rd3, 8; add.s32 %r7, %r7, 1;"
			 "setp.lt.s32 %p1, %r7, %r1; @%p1 bra L;",
			 "param0 + 8*loop12");
	/* By a step that a parameter gives, within an outer loop. */
	check_expression("mov.u32 %r7, 0;\nL:\nmov.u32 %r8, %r7;\nM:\nmul.wide.u32 %rd4, %r8, 4; add.s64 %rd3, %rd1, %rd4;"
			 LOAD " add.s32 %r8, %r8, %r2; setp.lt.s32 %p1, %r8, %r1; @%p1 bra M;"
			 "add.s32 %r7, %r7, 16; setp.lt.s32 %p1, %r7, %r1; @%p1 bra L;",
			 "param0 + 4*param3*loop14 + 64*loop12");
	/* Halving is not affine. */
	check_expression("mov.u32 %r7, 64;\nL:\ncvt.u64.u32 %rd4, %r7; add.s64 %rd3, %rd1, %rd4;" LOAD
			 " shr.u32 %r7, %r7, 1; setp.gt.u32 %p1, %r7, 0; @%p1 bra L;",
			 "param0 + unknown12");
}

static void joins_are_choices(void)
{
	check_expression("mov.u64 %rd3, %rd1; setp.gt.s32 %p1, %r1, 3; @%p1 bra L; mov.u64 %rd3, %rd2;\nL:\n" LOAD,
			 "either(param0, param1)");
	check_expression("mov.u64 %rd3, %rd1; setp.gt.s32 %p1, %r1, 3; @%p1 mov.u64 %rd3, %rd2;" LOAD,
			 "either(param1, param0)");
	check_expression("mov.u64 %rd3, %rd1; setp.gt.s32 %p1, %r1, 3; @%p1 bra L; add.s64 %rd3, %rd1, 0;\nL:\n" LOAD,
			 "param0");
}

static void loaded_data_is_named(void)
{
	struct gt_static_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct gt_static_degree degree;
	struct gt_static *analysis = analyse("ld.global.u32 %r7, [%rd1];\nmul.wide.s32 %rd4, %r7, 4;"
					     "add.s64 %rd3, %rd2, %rd4;" LOAD);

	CHECK_TEXT(expression, "param1 + 4*loaded10");
	gt_static_measure(analysis, 1, &launch, &degree);
	CHECK_EQUAL(degree.basis, GT_STATIC_LOADED);
	gt_static_measure(analysis, 0, &launch, &degree);
	CHECK_EQUAL(degree.basis, GT_STATIC_EXACT);
	CHECK_EQUAL(degree.sums.in_range, 32);
	gt_static_close(analysis);
	/* A chain: the address is what was read last. */
	analysis = analyse("mov.u64 %rd3, %rd1;\nL:\nld.global.u64 %rd3, [%rd3]; setp.ne.s64 %p1, %rd3, 0; @%p1 bra L;");
	gt_static_measure(analysis, 0, &launch, &degree);
	CHECK_EQUAL(degree.basis, GT_STATIC_LOADED);
	gt_static_close(analysis);
}

static void code_that_nothing_leads_to(void)
{
	check_expression("bra E;\nL:\n" LOAD " add.s64 %rd3, %rd3, 4; bra L;\nE:\n", "unknown");
	gt_static_close(analyse("bra L;\nL:\nbra L;\nM: ld.global.f32 %f1, [%rd3]; bra M;"));
}

/* min.relu is no min. */
static void modifiers_that_change_the_result(void)
{
	check_expression("max.s32 %r7, %r3, %r1; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 + 4*max(tid.x, param2)");
	check_expression("max.relu.s32 %r7, %r3, %r1; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 + 4*unknown10");
}

static void what_an_operation_gives(void)
{
	struct gt_static_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
	struct gt_static_degree degree;
	struct gt_static *analysis = analyse("shr.u32 %r7, %r3, 3; mul.wide.s32 %rd4, %r7, 32; add.s64 %rd3, %rd1, %rd4;" LOAD);

	CHECK_TEXT(expression, "param0 + 32*shr(tid.x, 3)");
	gt_static_measure(analysis, 0, &launch, &degree);
	CHECK_EQUAL(degree.basis, GT_STATIC_EXACT);
	CHECK_EQUAL(degree.sums.accesses, 2);
	CHECK_EQUAL(degree.sums.in_range, 64);
	CHECK_EQUAL(degree.sums.sectors, 8);
	CHECK_EQUAL(degree.sums.graph[0], 16);
	CHECK_EQUAL(degree.sums.graph[1], 0);
	for (unsigned sector = 1; sector < 4; sector++)
		CHECK_EQUAL(degree.sums.graph[8 * sector], 16);
	gt_static_close(analysis);
}

/* A turn moves the address by 4 bytes: all eight places in a sector are seen. */
static void alignments_of_a_loop_are_all_counted(void)
{
	struct gt_static_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct gt_static_degree degree;
	struct gt_static *analysis = analyse("mul.wide.s32 %rd4, %r3, 16; add.s64 %rd3, %rd1, %rd4;\nL:\n" LOAD
					     " add.s64 %rd3, %rd3, 4; setp.lt.s64 %p1, %rd3, %rd2; @%p1 bra L;");

	gt_static_measure(analysis, 0, &launch, &degree);
	CHECK_EQUAL(degree.basis, GT_STATIC_EXACT);
	CHECK_EQUAL(degree.sums.accesses, 8);
	/* At 0 to 12 bytes eight lanes are within 128 bytes, at 16 to 28 seven. */
	CHECK_EQUAL(degree.sums.in_range, 4 * 8 + 4 * 7);
	gt_static_close(analysis);
}

/* The same, counted one thread at a time, with a list of the sectors. */
static void plain_count(const long *factors, const uint32_t *grid, const uint32_t *block, struct gt_static_degree *degree)
{
	long sectors[64], start = 0;
	unsigned n = 0;

	memset(degree, 0, sizeof *degree);
	for (uint32_t b = 0; b < grid[0]; b++)
		for (uint32_t t = 0; t < block[0] * block[1]; t++) {
			long address = factors[0] * (t % block[0]) + factors[1] * (t / block[0]) + factors[2] * b + factors[3];
			long sector = address / 32;
			unsigned i;

			if (t % 32 == 0) {
				start = sector;
				degree->sums.accesses++;
				n = 0;
			}
			degree->sums.lanes++;
			degree->sums.in_range += sector >= start && sector < start + 4;
			for (i = 0; i < n && sectors[i] != sector; i++)
				;
			if (i == n)
				sectors[n++] = sector, degree->sums.sectors++;
		}
}

static void random_affine_addresses(void)
{
	unsigned seed = 7;

	for (int round = 0; round < 300; round++) {
		struct gt_static_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
		struct gt_static_degree found, expected;
		struct gt_static *analysis;
		char body[512];
		long factors[4];

		for (int i = 0; i < 4; i++) {
			seed = seed * 1664525U + 1013904223U;
			factors[i] = 4 * (long)(seed >> 8 & (round % 2 ? 15 : 255));
		}
		seed = seed * 1664525U + 1013904223U;
		launch.grid[0] = 1 + (seed >> 8 & 3);
		launch.block[0] = 1 + (seed >> 10 & 63);
		launch.block[1] = 1 + (seed >> 16 & 3);
		snprintf(body, sizeof body,
			 "mul.lo.s32 %%r7, %%r3, %ld; mad.lo.s32 %%r7, %%r6, %ld, %%r7; mad.lo.s32 %%r7, %%r4, %ld, %%r7;"
			 "cvt.s64.s32 %%rd4, %%r7; add.s64 %%rd3, %%rd1, %%rd4; ld.global.f32 %%f1, [%%rd3+%ld];",
			 factors[0], factors[1], factors[2], factors[3]);
		analysis = analyse(body);
		gt_static_measure(analysis, 0, &launch, &found);
		plain_count(factors, launch.grid, launch.block, &expected);
		CHECK_EQUAL(found.basis, GT_STATIC_EXACT);
		CHECK_EQUAL(found.sums.accesses, expected.sums.accesses);
		CHECK_EQUAL(found.sums.lanes, expected.sums.lanes);
		CHECK_EQUAL(found.sums.in_range, expected.sums.in_range);
		CHECK_EQUAL(found.sums.sectors, expected.sums.sectors);
		gt_static_close(analysis);
	}
}

/* bar.red writes a register, and elect two operands. */
static void results_of_barriers(void)
{
	check_expression("bar.red.popc.u32 %r7, 0, %p1;\nmul.wide.u32 %rd4, %r7, 4; add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 + 4*unknown10");
	check_expression("elect.sync %r7|%p1, -1;\nmul.wide.u32 %rd4, %r7, 4; add.s64 %rd3, %rd1, %rd4;" LOAD,
			 "param0 + 4*unknown10");
}

static void branches_to_no_label_are_refused(void)
{
	static const char text[] = ".version 6.3\n.target sm_75\n.entry k()\n{\n.reg .pred %p<2>;\n@%p1 bra NOWHERE;\nret;\n}\n";
	struct gt_error error;

	gt_ptx_module_free(&module);
	CHECK_EQUAL(gt_ptx_parse(&module, "k.ptx", text, sizeof text - 1, &error), 0);
	CHECK(gt_static_open(gt_ptx_kernel(&module, "k"), &error) == NULL);
	CHECK_TEXT(error.text, "PTX line 6: no label 'NOWHERE' to branch to");
}

int main(void)
{
	RUN(results_of_barriers);
	RUN(branches_to_no_label_are_refused);
	RUN(sums_and_products);
	RUN(or_is_a_sum_where_bits_are_free);
	RUN(loops_are_solved);
	RUN(joins_are_choices);
	RUN(loaded_data_is_named);
	RUN(code_that_nothing_leads_to);
	RUN(what_an_operation_gives);
	RUN(modifiers_that_change_the_result);
	RUN(alignments_of_a_loop_are_all_counted);
	RUN(random_affine_addresses);
	free(expression);
	gt_ptx_module_free(&module);
	return check_report();
}
