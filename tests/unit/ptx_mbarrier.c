/* SPDX-License-Identifier: MIT */
/* Barriers in shared memory, and bulk copies that report to them. */
#define CELLS 1024
#include "ptx_cells.h"
#include "stream/op.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"
/* %rd3: the cell of this thread in the first buffer; bar: the mbarrier; s: shared memory. */
#define KERNEL                                                                                            \
	HEAD ENTRY "{\n.reg .b64 %rd<20>;\n.reg .b32 %r<20>;\n.reg .pred %p<4>;\n"                           \
		   ".shared .align 8 .b8 bar[8];\n.shared .align 128 .b8 s[4096];\n"                         \
		   "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n"              \
		   "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd3, %rd1, %rd4;\nmov.u32 %r2, s;\n"              \
		   "mad.lo.u32 %r3, %r1, 4, %r2;\nmov.u32 %r4, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"
#define END "ret;\n}\n"

/* Three rounds: each thread writes a word, arrives, waits for the phase, and reads the word of the thread 33 further. */
#define ROUNDS(WAIT)                                                                                      \
	KERNEL "@%p1 mbarrier.init.shared::cta.b64 [%r4], 96;\nbar.sync 0;\nmov.u32 %r10, 0;\nmov.u32 %r11, 0;\n" \
	       "add.u32 %r5, %r1, 33;\nrem.u32 %r5, %r5, 96;\nmad.lo.u32 %r5, %r5, 4, %r2;\n"              \
	       "ROUND:\nmad.lo.u32 %r6, %r1, 10, %r10;\nst.shared.u32 [%r3], %r6;\n"                       \
	       "mbarrier.arrive.shared::cta.b64 %rd5, [%r4];\n"                                            \
	       "WAIT:\n" WAIT "@!%p2 bra WAIT;\nld.shared.u32 %r7, [%r5];\nadd.u32 %r11, %r11, %r7;\nbar.sync 0;\n" \
	       "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 3;\n@%p3 bra ROUND;\nst.global.u32 [%rd3], %r11;\n" END

static void expect_rounds(const char *text)
{
	works(text, 1, 96);
	for (uint32_t t = 0; t < 96; t++)
		CHECK_EQUAL(out[t], 3 * 10 * ((t + 33) % 96) + 3);
}

static void test_phases(void)
{
	expect_rounds(ROUNDS("mbarrier.test_wait.shared::cta.b64 %p2, [%r4], %rd5;\n"));
	expect_rounds(ROUNDS("mbarrier.try_wait.shared.b64 %p2, [bar], %rd5, 1000;\n"));
	expect_rounds(ROUNDS("and.b32 %r12, %r10, 1;\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r4], %r12;\n"));
}

/* 4 and 1 of 5 arrivals end the first phase; the next one expects 4, because one has dropped. When it did, one was pending. */
static void test_counts_and_drops(void)
{
	static const char text[] = KERNEL
		"mbarrier.init.shared.b64 [%r4], 5;\nmbarrier.arrive.shared.b64 _, [%r4], 4;\n"
		"mbarrier.arrive_drop.shared.b64 %rd5, [%r4];\nmbarrier.arrive.release.cta.shared.b64 _, [%r4], 4;\n"
		"WAIT:\nmbarrier.test_wait.parity.shared.b64 %p2, [%r4], 1;\n@!%p2 bra WAIT;\n"
		"mbarrier.pending_count.b64 %r7, %rd5;\nadd.u32 %r7, %r7, 6;\nst.global.u32 [%rd3], %r7;\n" END;
	launch.max_instructions = 10000;
	works(text, 1, 1);
	CHECK_EQUAL(out[0], 7);
	static const char twice[] = KERNEL
		"@%p1 mbarrier.init.shared.b64 [%r4], 2;\nbar.sync 0;\n@%p1 mbarrier.arrive.shared.b64 _, [%r4], 3;\n" END;
	fails(twice, 1, 32, "kernel k, PTX line 22, pc 0x16: block (0,0,0) thread (0,0,0): more arrivals than the phase of the mbarrier has pending");
	static const char absent[] = KERNEL "@%p1 mbarrier.arrive.shared.b64 _, [%r4];\n" END;
	fails(absent, 1, 32, "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): no mbarrier is initialized there");
}

/* What a sink got. */
static size_t rows, global_bytes, shared_bytes;
static int count_rows(void *context, struct gt_rows *batch, struct gt_error *failure)
{
	(void)context, (void)failure;
	for (size_t i = 0; i < batch->n; i++) {
		size_t bytes = batch->size[i] * (size_t)__builtin_popcount(batch->mask[i]);
		rows++;
		if (gt_op_space(batch->op[i]) == GT_GLOBAL)
			global_bytes += bytes;
		else
			shared_bytes += bytes;
	}
	batch->n = batch->n_lanes = 0;
	return 0;
}

/* 1072 bytes come in bulk; every thread waits, reads a word, adds one; then they go back in bulk, elsewhere. */
static const char bulk[] = KERNEL
	"@!%p1 bra READY;\nmbarrier.init.shared::cta.b64 [%r4], 1;\nfence.mbarrier_init.release.cluster;\n"
	"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r4], 1072;\n"
	"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 1072, [%r4];\n"
	"READY:\nbar.sync 0;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;\n@!%p2 bra WAIT;\n"
	"setp.gt.u32 %p3, %r1, 267;\n@%p3 bra STORED;\nld.shared.u32 %r5, [%r3];\nadd.u32 %r5, %r5, 1;\nst.shared.u32 [%r3], %r5;\n"
	"STORED:\nfence.proxy.async;\nbar.sync 0;\n@!%p1 bra DONE;\n"
	"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 1072;\ncp.async.bulk.commit_group;\n"
	"cp.async.bulk.wait_group.read 0;\nDONE:\n" END;

static void test_bulk_copies(void)
{
	struct gt_sink sink = {.rows = gt_rows_new(64, &error), .flush = count_rows};

	for (uint32_t i = 0; i < 1024; i++)
		other[i] = 3 * i;
	rows = global_bytes = shared_bytes = 0;
	launch.sink = &sink;
	launch.traced_spaces = 1U << GT_GLOBAL;
	launch.traced_blocks = 1;
	works(bulk, 1, 288);
	count_rows(NULL, sink.rows, &error);
	for (uint32_t i = 0; i < 268; i++)
		CHECK_EQUAL(out[i], 3 * i + 1);
	CHECK_EQUAL(out[268], 0);
	/* 512, 512 and 48 bytes, twice. */
	CHECK_EQUAL(rows, 6);
	CHECK_EQUAL(global_bytes, 2 * 1072);
	CHECK_EQUAL(shared_bytes, 0);
	gt_rows_free(sink.rows);
	static const char odd[] = KERNEL "@%p1 mbarrier.init.shared.b64 [%r4], 1;\n"
		"@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 20, [%r4];\n" END;
	fails(odd, 1, 32, "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (0,0,0): a bulk copy of 20 bytes: a multiple of 16 expected");
}

/* Each thread copies 4 bytes, and arrives when they are there: counted among the expected, or not. */
static void test_copies_that_arrive(void)
{
	static const char *const texts[] = {
		KERNEL "@%p1 mbarrier.init.shared.b64 [%r4], 64;\nbar.sync 0;\nadd.s64 %rd5, %rd2, %rd4;\n"
		       "cp.async.ca.shared.global [%r3], [%rd5], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r4];\n"
		       "WAIT:\nmbarrier.test_wait.parity.shared.b64 %p2, [%r4], 0;\n@!%p2 bra WAIT;\n"
		       "ld.shared.u32 %r5, [%r3];\nst.global.u32 [%rd3], %r5;\n" END,
		KERNEL "@%p1 mbarrier.init.shared.b64 [%r4], 64;\nbar.sync 0;\nadd.s64 %rd5, %rd2, %rd4;\n"
		       "cp.async.ca.shared.global [%r3], [%rd5], 4;\ncp.async.mbarrier.arrive.shared::cta.b64 [%r4];\n"
		       "mbarrier.arrive.shared.b64 %rd6, [%r4];\n"
		       "WAIT:\nmbarrier.test_wait.shared.b64 %p2, [%r4], %rd6;\n@!%p2 bra WAIT;\n"
		       "ld.shared.u32 %r5, [%r3];\nst.global.u32 [%rd3], %r5;\n" END,
	};

	for (uint32_t i = 0; i < 1024; i++)
		other[i] = 5 * i;
	for (size_t k = 0; k < 2; k++) {
		works(texts[k], 1, 64);
		for (uint32_t t = 0; t < 64; t++)
			CHECK_EQUAL(out[t], 5 * t);
	}
}

/* Vectors of atomics: 32 lanes add 1, 2, 3 and 4 to four floats; each lane adds to halves of its own, and gets the old ones, in
 * the registers of what it adds. */
static void test_vector_atomics(void)
{
	static const char floats[] = KERNEL ".reg .f32 %f<8>;\nmov.f32 %f0, 0f3f800000;\nmov.f32 %f1, 0f40000000;\n"
		"mov.f32 %f2, 0f40400000;\nmov.f32 %f3, 0f40800000;\n"
		"red.relaxed.gpu.global.add.v4.f32 [%rd1], {%f0, %f1, %f2, %f3};\n" END;
	static const char halves[] = KERNEL "mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd2, %rd4;\n"
		"mov.b32 %r5, 0x3c003c00;\nmov.b32 %r6, 0x40004000;\n"
		"atom.global.add.noftz.v2.f16x2 {%r6, %r5}, [%rd5], {%r5, %r6};\n"
		"add.s64 %rd5, %rd1, %rd4;\nst.global.v2.u32 [%rd5], {%r6, %r5};\n" END;

	works(floats, 1, 32);
	for (uint32_t i = 0; i < 4; i++) {
		float value;
		memcpy(&value, &out[i], sizeof value);
		CHECK(value == (float)(32 * (i + 1)));
	}
	for (uint32_t i = 0; i < 64; i++)
		other[i] = 0x40003c01 - i % 2;
	works(halves, 1, 32);
	/* 1 + 2^-10 + 1, to even, and 2 + 1 = 3; in the second 1 + 2 = 3 and 2 + 2. */
	for (uint32_t i = 0; i < 64; i++) {
		CHECK_EQUAL(out[i], 0x40003c01 - i % 2);
		CHECK_EQUAL(other[i], i % 2 ? 0x44004200 : 0x42004000);
	}
	/* The lesser and the greater of 1 and 2, of -0 and 0, and of a NaN and 1. */
	static const char chosen[] = KERNEL "mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd2, %rd4;\n"
		"mov.b32 %r5, 0x3c008000;\nmov.b32 %r6, 0x7e003c00;\n"
		"red.global.min.noftz.v2.f16x2 [%rd5], {%r5, %r6};\nred.global.max.noftz.v2.bf16x2 [%rd5], {%r5, %r6};\n" END;
	other[0] = 0x40000000, other[1] = 0x3c007e00;
	works(chosen, 1, 1);
	CHECK_EQUAL(other[0], 0x3c008000);
	CHECK_EQUAL(other[1], 0x7e003c00);
	static const char shared[] = KERNEL ".reg .f32 %f<8>;\nred.shared.add.v2.f32 [%r2], {%f0, %f1};\n" END;
	fails(shared, 1, 32, "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (0,0,0): 'red.shared.add.v2.f32' is not known in this form");
}

/* In global memory sums of floats that are subnormal are zeros of their sign, and so are terms: of vectors, and in bulk. */
static void test_subnormal_sums(void)
{
	static const char text[] = KERNEL ".reg .f32 %f<8>;\nmov.b32 %f0, 0x80c00000;\nmov.b32 %f1, 0x00000003;\n"
		"red.global.add.v2.f32 [%rd2], {%f0, %f1};\nst.shared.v4.f32 [%r2], {%f0, %f1, %f1, %f1};\nadd.s64 %rd5, %rd2, 16;\n"
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd5], [%r2], 16;\ncp.async.bulk.commit_group;\n"
		"cp.async.bulk.wait_group 0;\n" END;

	for (uint32_t i = 0; i < 8; i += 4) {
		other[i] = other[i + 1] = 0x00800000;
		other[i + 2] = other[i + 3] = 0;
	}
	works(text, 1, 1);
	for (uint32_t i = 0; i < 8; i++)
		CHECK_EQUAL(other[i], i % 4 == 0 ? 0x80000000 : i % 4 == 1 ? 0x00800000 : 0);
}

/* Each of 32 lanes puts its number where all do, 16 bytes at once, and gets what the lane before it put there; a comparison that holds,
 * and one that does not in its upper half. */
static void test_wide_atomics(void)
{
	static const char text[] = KERNEL ".reg .b128 %q<4>;\ncvt.u64.u32 %rd5, %r1;\nadd.u64 %rd6, %rd5, 100;\n"
		"mov.b128 %q0, {%rd5, %rd6};\natom.global.exch.b128 %q1, [%rd2], %q0;\nmov.b128 {%rd7, %rd8}, %q1;\n"
		"st.global.u32 [%rd3], %rd7;\nst.global.u32 [%rd3+128], %rd8;\n"
		"mov.b64 %rd9, 31;\nmov.b64 %rd10, 131;\nmov.b64 %rd11, 7;\nmov.b128 %q0, {%rd9, %rd10};\nmov.b128 %q2, {%rd11, %rd11};\n"
		"setp.eq.u32 %p1, %r1, 31;\n@%p1 atom.global.cas.b128 %q1, [%rd2], %q0, %q2;\n"
		"mov.b128 %q0, {%rd11, %rd9};\n@%p1 atom.global.cas.b128 _, [%rd2], %q0, %q1;\n"
		"mov.b128 {%rd7, %rd8}, %q1;\n@%p1 st.global.u32 [%rd1+256], %rd8;\n" END;

	memset(other, 0, 16);
	works(text, 1, 32);
	for (uint32_t i = 1; i < 32; i++) {
		CHECK_EQUAL(out[i], i - 1);
		CHECK_EQUAL(out[32 + i], 99 + i);
	}
	CHECK_EQUAL(out[64], 131);
	CHECK_EQUAL(other[0], 7);
	CHECK_EQUAL(other[2], 7);
	static const char short_of[] = KERNEL ".reg .b128 %q<4>;\natom.global.cas.b128 %q1, [%rd2], %q0;\n" END;
	fails(short_of, 1, 32, "kernel k, PTX line 21, pc 0x15: block (0,0,0) thread (0,0,0): 'atom.global.cas.b128' is not known in this form");
}

int main(void)
{
	RUN(test_phases);
	RUN(test_counts_and_drops);
	RUN(test_bulk_copies);
	RUN(test_copies_that_arrive);
	RUN(test_vector_atomics);
	RUN(test_subnormal_sums);
	RUN(test_wide_atomics);
	return check_report();
}
