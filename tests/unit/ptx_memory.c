/* SPDX-License-Identifier: MIT */
/* Instructions that access memory: how addresses are made, and what each form and modifier does. */
#include "check.h"
#include "ptx_kernel.h"
#include "stream/hint.h"
#include "stream/op.h"

#define HEAD ".version 8.7\n.target sm_100\n.address_size 64\n"
/* Registers, %r1 the thread, %rd10 the thread's cell of 4 bytes in the first buffer. */
#define KERNEL                                                                                    \
	HEAD ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n"                                \
	     ".reg .b64 %rd<40>;\n.reg .b32 %r<40>;\n.reg .b16 %h<10>;\n.reg .pred %p<10>;\n"         \
	     ".shared .align 16 .b8 s[1024];\n"                                                       \
	     "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n"               \
	     "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd10, %rd1, %rd3;\nadd.s64 %rd11, %rd2, %rd3;\n"
#define END "ret;\n}\n"

static uint32_t out[1024], in[1024];
static struct gt_error error;
/* What was traced, and what was said. */
static size_t traced;
static char ops[64][GT_OP_TEXT], hints[64][GT_HINT_TEXT];
static uint32_t masks[64];
static char said[1024];

static int keep_rows(void *context, struct gt_rows *rows, struct gt_error *ignored)
{
	(void)context, (void)ignored;
	for (size_t i = 0; i < rows->n && traced < 64; i++, traced++) {
		gt_op_format(rows->op[i], ops[traced]);
		gt_hint_format(gt_rows_hint(rows, i), hints[traced]);
		masks[traced] = rows->mask[i];
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

static void keep_note(void *context, const char *text)
{
	(void)context;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static int run(const char *text)
{
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}, {in, sizeof in, "in"}};
	struct gt_sink sink = {gt_rows_new(256, &error), keep_rows, NULL};
	struct gt_ptx_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .sink = &sink, .traced_blocks = 1,
				       .traced_spaces = 1U << GT_GLOBAL | 1U << GT_SHARED};
	struct gt_ptx_notes notes = {.say = keep_note};
	struct gt_ptx_ran ran;

	memset(out, 0, sizeof out);
	for (uint32_t i = 0; i < 1024; i++)
		in[i] = i;
	traced = 0;
	said[0] = '\0';
	kernel_notes = &notes;
	int result = run_kernel(text, &launch, buffers, &ran, &error);
	keep_rows(NULL, sink.rows, &error);
	gt_rows_free(sink.rows);
	return result;
}

static void works(const char *text)
{
	if (run(text) != 0)
		CHECK_TEXT(error.text, "");
}

static void test_widths_apart(void)
{
	/* The address of the odd lanes is still needed when the even lanes, which run first, write a
	 * register of 16 bits whose life begins behind that of the address. */
	static const char text[] = KERNEL
		"mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], 0;\n"
		"and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 1;\n@%p1 bra ODD;\nbra.uni EVEN;\n"
		"ODD: st.shared.u32 [%r3], 7;\nbra.uni DONE;\n"
		"EVEN: mov.u16 %h1, 0;\nst.shared.u16 [%r2+512], %h1;\n"
		"DONE: shl.b32 %r5, %r1, 2;\nadd.u32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];\n"
		"st.global.u32 [%rd10], %r6;\n" END;

	works(text);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], t & 1 ? 7 : 0);
}

static void test_addresses_wrap(void)
{
	/* Registers of 32 bits that are below zero before the offset is added. */
	static const char shared[] = KERNEL
		"mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %r1;\n"
		"sub.u32 %r4, %r3, 200;\nld.shared.u32 %r5, [%r4+200];\n"
		"add.u32 %r6, %r3, 64;\natom.shared.add.u32 %r7, [%r6+-64], 100;\n"
		"ld.shared.u32 %r8, [%r4+200];\nadd.u32 %r9, %r5, %r8;\nadd.u32 %r9, %r9, %r7;\n"
		"st.global.u32 [%rd10], %r9;\n" END;

	works(shared);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 3 * t + 100);
	/* What is beyond the block's memory stays a fault. */
	CHECK(run(KERNEL "mov.u32 %r2, s;\nsub.u32 %r2, %r2, 8;\nld.shared.u32 %r5, [%r2+4];\n" END) == -1);
	CHECK_TEXT(error.text, "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): load of 4 bytes at "
			       "0xfffffffc of shared memory: a block has 1024 bytes; nearest is 's', 1024 bytes at 0x0");
}

/* One instruction; %rd10 is its address, in the first buffer. */
static int run_one(const char *instruction)
{
	char text[4096];

	snprintf(text, sizeof text, "%s%s\n%s", KERNEL "mov.u32 %r2, s;\n"
		 "createpolicy.fractional.L2::evict_last.b64 %rd20;\n", instruction, END);
	return run(text);
}

static void test_modifiers(void)
{
	static const struct {
		const char *instruction, *op, *hint;
	} rows[] = {
		{"ld.global.u32 %r3, [%rd10];", "load.global", "none"},
		{"ld.weak.global.ca.u32 %r3, [%rd10];", "load.global.ca", "none"},
		{"ld.global.cg.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.global.cs.u32 %r3, [%rd10];", "load.global.cs", "none"},
		{"ld.global.lu.u32 %r3, [%rd10];", "load.global.lu", "none"},
		{"ld.global.cv.u32 %r3, [%rd10];", "load.global.cv", "none"},
		{"ld.global.nc.u32 %r3, [%rd10];", "load.global.nc", "none"},
		{"ld.global.ca.nc.u32 %r3, [%rd10];", "load.global.nc", "none"},
		{"ld.global.cg.nc.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.volatile.global.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.volatile.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.volatile.shared.u32 %r3, [%r2];", "load.shared", "none"},
		{"ld.mmio.relaxed.sys.global.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.relaxed.gpu.global.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ld.relaxed.cta.global.u32 %r3, [%rd10];", "load.global", "none"},
		{"ld.acquire.cluster.u32 %r3, [%rd10];", "load.global.cg", "none"},
		{"ldu.global.u32 %r3, [%rd10];", "load.global", "none"},
		{"ld.global.L1::evict_normal.u32 %r3, [%rd10];", "load.global", "L1::evict_normal"},
		{"ld.global.L1::evict_unchanged.u32 %r3, [%rd10];", "load.global", "L1::evict_unchanged"},
		{"ld.global.L1::evict_first.u32 %r3, [%rd10];", "load.global", "L1::evict_first"},
		{"ld.global.L1::evict_last.u32 %r3, [%rd10];", "load.global", "L1::evict_last"},
		{"ld.global.nc.L1::no_allocate.L2::128B.u32 %r3, [%rd10];", "load.global.nc",
		 "L1::no_allocate,L2::128B"},
		{"ld.global.L1::evict_last.L2::evict_first.L2::64B.v4.b64 {%rd21, %rd22, %rd23, %rd24}, [%rd1];", "load.global",
		 "L1::evict_last,L2::evict_first,L2::64B"},
		{"ld.global.L2::256B.u32 %r3, [%rd10];", "load.global", "L2::256B"},
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], %rd20;", "load.global", "L2::evict_last"},
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], 0x12F0000000000000;", "load.global", "L2::evict_first"},
		{"createpolicy.fractional.L2::evict_unchanged.b64 %rd21, 1.0;\n"
		 "ld.global.L2::cache_hint.L2::64B.u32 %r3, [%rd10], %rd21;", "load.global", "L2::evict_unchanged,L2::64B"},
		{"createpolicy.cvt.L2.b64 %rd21, 0x16F0000000000000;\n"
		 "st.global.L2::cache_hint.u32 [%rd10], %r1, %rd21;", "store.global", "L2::evict_normal"},
		/* A range: the block of 4096 bytes of its part has the primary priority, another one the secondary. */
		{"createpolicy.range.global.L2::evict_last.b64 %rd21, [%rd10], 4, 8192;\n"
		 "ld.global.L2::cache_hint.u32 %r3, [%rd10], %rd21;", "load.global", "L2::evict_last"},
		{"createpolicy.range.L2::evict_last.b64 %rd21, [%rd10+8192], 4, 8192;\n"
		 "ld.global.L2::cache_hint.u32 %r3, [%rd10], %rd21;", "load.global", "L2::evict_unchanged"},
		{"createpolicy.range.global.L2::evict_normal.L2::evict_first.b64 %rd21, [%rd10+4096], 4096, 4096;\n"
		 "ld.global.L2::cache_hint.u32 %r3, [%rd10], %rd21;", "load.global", "L2::evict_first"},
		/* Blocks of 8192 bytes in 1 MB. */
		{"createpolicy.range.global.L2::evict_last.b64 %rd21, [%rd10+4096], 4, 1048576;\n"
		 "ld.global.L2::cache_hint.u32 %r3, [%rd10], %rd21;", "load.global", "L2::evict_last"},
		/* As cuda::access_property makes one on the host: 1 block of 4096 bytes from 0 on, persisting, the rest streaming. */
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], 0x1D00002000000000;", "load.global", "L2::evict_last"},
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], 0x1D00102000000000;", "load.global", "L2::evict_first"},
		/* CUTLASS's normal: where both priorities are normal, the fraction says nothing. */
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], 0x1000000000000000;", "load.global", "L2::evict_normal"},
		{"ld.shared::cluster.u32 %r3, [%r2];", "load.shared", "none"},
		{"st.global.wb.u32 [%rd10], %r1;", "store.global", "none"},
		{"st.global.cg.u32 [%rd10], %r1;", "store.global.cg", "none"},
		{"st.global.cs.u32 [%rd10], %r1;", "store.global.cs", "none"},
		{"st.global.wt.u32 [%rd10], %r1;", "store.global", "none"},
		{"st.volatile.global.u32 [%rd10], %r1;", "store.global", "none"},
		{"st.release.sys.global.u32 [%rd10], %r1;", "store.global", "none"},
		{"st.global.L1::no_allocate.L2::evict_last.v4.b64 [%rd1], {%rd1, %rd2, %rd1, %rd2};", "store.global",
		 "L1::no_allocate,L2::evict_last"},
		{"atom.acq_rel.gpu.global.add.L2::cache_hint.u32 %r3, [%rd10], 1, %rd20;\nst.shared.u32 [%r2], %r3;",
		 "atomic.global", "L2::evict_last"},
		{"red.relaxed.gpu.global.add.L2::cache_hint.u32 [%rd10], 1, %rd20;", "reduction.global", "L2::evict_last"},
		{"cp.async.ca.shared.global.L2::128B [%r2], [%rd1], 16;", "load.global.ca", "L2::128B"},
		{"cp.async.cg.shared::cta.global.L2::cache_hint.L2::64B [%r2], [%rd1], 16, %rd20;", "load.global.cg",
		 "L2::evict_last,L2::64B"},
		{"prefetch.global.L1 [%rd10];", "load.global", "prefetch.L1"},
		{"prefetch.L2 [%rd10];", "load.global", "prefetch.L2"},
		{"cp.async.bulk.prefetch.L2.global [%rd1], 64;", "load.global", "prefetch.L2"},
		{"prefetch.global.L2::evict_last [%rd10];", "load.global", "prefetch.L2,L2::evict_last"},
		{"prefetchu.L1 [%rd10];", "load.global", "prefetch.L1"},
		{"discard.global.L2 [%rd1], 128;", "load.global", "discard.L2"},
		{"applypriority.L2::evict_normal [%rd1], 128;", "load.global", "applypriority.L2,L2::evict_normal"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (run_one(rows[i].instruction) != 0)
			CHECK_TEXT(error.text, rows[i].instruction);
		CHECK(traced >= 1);
		CHECK_TEXT(ops[0], rows[i].op);
		CHECK_TEXT(hints[0], rows[i].hint);
	}
}

/* Of 16 successive lines, a fraction f has floor(16 f - 2^-19) + 1 of the primary priority, as NVIDIA's headers round it. */
static void check_fraction(const char *policy, const char *primary, const char *secondary, size_t expected)
{
	char text[2048];
	size_t n = 0, others = 0;
	int at = snprintf(text, sizeof text, "%s\n", policy);

	for (int line = 0; line < 16; line++)
		at += snprintf(text + at, sizeof text - (size_t)at, "ld.global.L2::cache_hint.u32 %%r3, [%%rd10+%d], %%rd21;\n", 128 * line);
	CHECK(run_one(text) == 0);
	for (size_t i = 0; i < traced; i++) {
		n += strcmp(hints[i], primary) == 0;
		others += strcmp(hints[i], secondary) == 0;
	}
	CHECK_EQUAL(n, expected);
	CHECK_EQUAL(others, 16 - expected);
}

static void test_fractions(void)
{
	static const char *const out_of_range[] = {
		"createpolicy.fractional.L2::evict_last.b64 %rd21, 0.0;",
		"createpolicy.fractional.L2::evict_last.b64 %rd21, 1.5;",
		"createpolicy.fractional.L2::evict_last.b64 %rd21, 0fbf000000;",
		"createpolicy.range.global.L2::evict_last.b64 %rd21, [%rd10], 8192, 4096;",
	};

	check_fraction("createpolicy.fractional.L2::evict_first.b64 %rd21, 0.5;", "L2::evict_first", "L2::evict_unchanged", 8);
	check_fraction("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd21, 0.3;", "L2::evict_last", "L2::evict_first", 5);
	check_fraction("mov.b32 %r5, 0x3d800000;\ncreatepolicy.fractional.L2::evict_last.b64 %rd21, %r5;", "L2::evict_last", "L2::evict_unchanged", 1);
	check_fraction("createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %rd21, 0.75;", "L2::evict_unchanged", "L2::evict_first", 12);
	check_fraction("createpolicy.fractional.L2::evict_last.b64 %rd21, 1.0;", "L2::evict_last", "", 16);
	CHECK(run_one("createpolicy.fractional.L2::evict_first.L2::evict_last.b64 %rd21, 0.5;\nld.global.u32 %r3, [%rd10];") == -1);
	for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++)
		CHECK(run_one(out_of_range[i]) == -1);
	CHECK_TEXT(error.text, "PTX line 19: 'createpolicy': expected a primary size of at most the total size");
}

static void test_refusals(void)
{
	static const struct {
		const char *instruction, *because;
	} rows[] = {
		{"ld.global.foo.u32 %r3, [%rd10];", "'ld.global.foo.u32' is not modelled: '.foo'"},
		{"ld.global.wt.u32 %r3, [%rd10];", "'ld.global.wt.u32' is not modelled: '.wt'"},
		{"ld.global.u32 %r3, [%rd10], %rd20;", "'ld.global.u32' is not known in this form"},
		{"st.global.L2::128B.u32 [%rd10], %r3;", "'st.global.L2::128B.u32' is not modelled: '.L2::128B'"},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r3, [%r2];",
		 "no mbarrier is initialized there"},
		{"st.bulk.shared::cta [%r2], 64, 0;", "'st.bulk.shared::cta' is not modelled: '.bulk'"},
		{"red.async.relaxed.cluster.global.add.u32 [%rd10], 1;",
		 "'red.async.relaxed.cluster.global.add.u32' is not known in this form"},
		{"mapa.shared::cluster.u32 %r3, %r2, 1;", "mapa to block 1 of a cluster of 1"},
		{"multimem.red.relaxed.gpu.global.add.u32 [%rd10], 1;",
		 "'multimem.red.relaxed.gpu.global.add.u32' is not modelled"},
		{"cp.async.bulk.prefetch.L2.global [%rd1], 40;", "a bulk copy of 40 bytes: a multiple of 16 expected"},
		{"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r1}], [%r2];",
		 "at 0x200000000000 is no tensor map of rank 2"},
		{"cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r1, %r1, %r1, %r1}], [%r2], {%r1, %r1};",
		 "'cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes' is not modelled: '.im2col::w'"},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r1, %r1}], [%r2], {};",
		 "'cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes' is not known in this form"},
		{"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r1, %r1, %r1, %r1}], [%r2], {%r1};",
		 "'cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes' is not known in this form"},
		{"cp.async.mbarrier.arrive.shared.b64 [%r2];", "no mbarrier is initialized there"},
		{"cp.async.ca.shared.global [%r2], [%rd10], 12;", "'cp.async.ca.shared.global' copies 4, 8 or 16 bytes"},
		{"discard.global.L2 [%rd1], 64;", "'discard.global.L2' is not known in this form"},
		{"discard.global.L2 [%rd1+4], 128;",
		 "0x200000000004 is no line of global memory: a multiple of 128 expected"},
		{"ld.global.L2::cache_hint.u32 %r3, [%rd10], 7;", "0x7 is no cache policy that is known"},
		{"ld.global.v2.b128 {%rd3, %rd4}, [%rd10];", "'ld.global.v2.b128' is not known in this form"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(run_one(rows[i].instruction) == -1);
		const char *because = strstr(error.text, "thread (0,0,0): ");
		CHECK_TEXT(because ? because + strlen("thread (0,0,0): ") : error.text, rows[i].because);
	}
}

static void test_notes(void)
{
	/* Once a name, however often it is written. */
	CHECK(run_one("st.global.wt.u32 [%rd10], %r1;\nst.global.wt.u32 [%rd10], %r1;\npmevent 3;\n"
		      "createpolicy.fractional.L2::evict_first.b64 %rd21, 0.5;\nprefetch.local.L1 [%rd3];") == 0);
	CHECK_TEXT(said, "PTX line 19: 'st.wt' is ignored: writing through L2 concerns system memory alone\n"
			 "PTX line 21: 'pmevent' is ignored: there are no performance monitors\n"
			 "PTX line 23: 'prefetch.local' is ignored: local memory is not prefetched\n");
	CHECK(run_one("ld.global.u32 %r3, [%rd10];") == 0);
	CHECK_TEXT(said, "");
}

static void test_copies(void)
{
	/* The policy is no count of bytes; a predicate says that nothing is copied. */
	static const char text[] = KERNEL
		"createpolicy.fractional.L2::evict_first.b64 %rd20;\nmov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\n"
		"add.u32 %r3, %r3, %r2;\nand.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 1;\nand.b32 %r5, %r1, 4;\n"
		"cp.async.ca.shared.global.L2::cache_hint [%r3], [%rd11], 4, %rd20;\n"
		"ld.shared.u32 %r6, [%r3];\n"
		"cp.async.ca.shared.global.L2::cache_hint [%r3], [%rd11], 4, %r5, %rd20;\n"
		"ld.shared.u32 %r7, [%r3];\n"
		"cp.async.ca.shared.global [%r3], [%rd11], 4, %p1;\n"
		"ld.shared.u32 %r8, [%r3];\nshl.b32 %r7, %r7, 8;\nshl.b32 %r8, %r8, 16;\n"
		"or.b32 %r6, %r6, %r7;\nor.b32 %r6, %r6, %r8;\nst.global.u32 [%rd10], %r6;\n" END;

	works(text);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], t | (t & 4 ? t : 0) << 8 | (t & 1 ? 0 : t) << 16);
}

static void test_prefetches_beyond(void)
{
	/* Lanes whose address is in no allocation, or not in global memory, prefetch nothing. */
	works(KERNEL "shl.b32 %r2, %r1, 8;\ncvt.u64.u32 %rd5, %r2;\nadd.u64 %rd5, %rd5, %rd1;\nprefetch.L1 [%rd5];\n" END);
	CHECK_EQUAL(traced, 1);
	CHECK_EQUAL(masks[0], 0xfffcffff); /* 4096 bytes, 512 that nothing has, and the second buffer */
	works(KERNEL "mov.u64 %rd5, s;\ncvta.shared.u64 %rd5, %rd5;\nprefetch.L1 [%rd5];\n" END);
	CHECK_EQUAL(traced, 0);
}

int main(void)
{
	RUN(test_modifiers);
	RUN(test_fractions);
	RUN(test_refusals);
	RUN(test_notes);
	RUN(test_copies);
	RUN(test_prefetches_beyond);
	RUN(test_widths_apart);
	RUN(test_addresses_wrap);
	return check_report();
}
