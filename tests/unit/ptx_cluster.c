/* SPDX-License-Identifier: MIT */
/* Clusters of blocks: special registers, addresses in other blocks' shared memory, and their barrier. */
#define CELLS 1024
#include "ptx_cells.h"
#include "stream/op.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"
/* %rd3: the cell of this thread, blocks one behind the other; %r2: s, the block's shared memory; %r4: the rank. */
#define BEGIN                                                                                             \
	"{\n.reg .b64 %rd<20>;\n.reg .b32 %r<30>;\n.reg .pred %p<4>;\n.shared .align 16 .b8 s[512];\n"    \
	".shared .align 8 .b8 bar[8];\n"                                                                   \
	"ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r9, %ntid.x;\n"     \
	"mad.lo.u32 %r5, %r3, %r9, %r1;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"         \
	"mov.u32 %r2, s;\nmad.lo.u32 %r6, %r1, 4, %r2;\nmov.u32 %r4, %cluster_ctarank;\n"
#define KERNEL HEAD ENTRY BEGIN
#define SYNC "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define END "ret;\n}\n"

static void in_clusters(uint32_t blocks)
{
	launch.cluster[0] = blocks;
	launch.cluster[1] = launch.cluster[2] = 1;
}

/* Every thread stores its number, and reads that of the same thread in the next block of its cluster. */
#define NEXT(READ)                                                                                        \
	KERNEL "st.shared.u32 [%r6], %r5;\n" SYNC                                                          \
	       "add.u32 %r7, %r4, 1;\nmov.u32 %r8, %cluster_nctarank;\nrem.u32 %r7, %r7, %r8;\n" READ         \
	       "st.global.u32 [%rd3], %r10;\n" SYNC END

static void expect_next(const char *text)
{
	in_clusters(4);
	works(text, 8, 48);
	for (uint32_t b = 0; b < 8; b++)
		for (uint32_t t = 0; t < 48; t++)
			CHECK_EQUAL(out[48 * b + t], 48 * (b / 4 * 4 + (b + 1) % 4) + t);
}

static void test_addresses(void)
{
	expect_next(NEXT("mapa.shared::cluster.u32 %r11, %r6, %r7;\nld.shared::cluster.u32 %r10, [%r11];\n"));
	expect_next(NEXT("mapa.shared::cluster.u32 %r11, s, %r7;\nmad.lo.u32 %r11, %r1, 4, %r11;\nld.shared::cluster.u32 %r10, [%r11];\n"));
	expect_next(NEXT("cvt.u64.u32 %rd5, %r6;\ncvta.shared.u64 %rd5, %rd5;\nmapa.u64 %rd6, %rd5, %r7;\nld.u32 %r10, [%rd6];\n"));
	/* Back from the other block's address, and atomics there. */
	expect_next(NEXT("mapa.shared::cluster.u32 %r11, %r6, %r7;\natom.shared::cluster.add.u32 %r10, [%r11], 0;\n"
			 "getctarank.shared::cluster.u32 %r12, %r11;\nsetp.ne.u32 %p1, %r12, %r7;\n@%p1 trap;\n"
			 "getctarank.shared::cluster.u32 %r12, %r6;\nsetp.ne.u32 %p1, %r12, %r4;\n@%p1 trap;\n"
			 "cvt.u64.u32 %rd5, %r11;\ncvta.shared::cluster.u64 %rd5, %rd5;\ngetctarank.u64 %r12, %rd5;\n"
			 "setp.ne.u32 %p1, %r12, %r7;\n@%p1 trap;\nisspacep.shared::cta %p1, %rd5;\n@%p1 trap;\n"
			 "isspacep.shared::cluster %p1, %rd5;\n@!%p1 trap;\n"));
}

/* x + 10 y of cluster and block in it, and the rank: clusters of 2 x 3 blocks in a grid of 4 x 6. */
static void test_special_registers(void)
{
	static const char text[] = HEAD ENTRY ".reqnctapercluster 2, 3\n" BEGIN
		"mov.u32 %r10, %ctaid.y;\nmad.lo.u32 %r5, %r10, 4, %r3;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"
		"mov.u32 %r11, %clusterid.x;\nmov.u32 %r12, %clusterid.y;\nmad.lo.u32 %r11, %r12, 10, %r11;\n"
		"mov.u32 %r12, %cluster_ctaid.x;\nmad.lo.u32 %r11, %r12, 100, %r11;\n"
		"mov.u32 %r12, %cluster_ctaid.y;\nmad.lo.u32 %r11, %r12, 1000, %r11;\nmad.lo.u32 %r11, %r4, 10000, %r11;\n"
		"mov.u32 %r12, %nclusterid.y;\nmad.lo.u32 %r11, %r12, 100000, %r11;\n"
		"mov.u32 %r12, %cluster_nctaid.y;\nmad.lo.u32 %r11, %r12, 1000000, %r11;\n"
		"mov.pred %p1, %is_explicit_cluster;\n@!%p1 trap;\nst.global.u32 [%rd3], %r11;\n" END;
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}, {other, sizeof other, "other"}};

	launch = (struct gt_ptx_launch){.grid = {4, 6, 1}, .block = {1, 1, 1}};
	if (run_kernel(text, &launch, buffers, &ran, &error) != 0)
		CHECK_TEXT(error.text, "");
	for (uint32_t y = 0; y < 6; y++)
		for (uint32_t x = 0; x < 4; x++)
			CHECK_EQUAL(out[4 * y + x], x / 2 + 10 * (y / 3) + 100 * (x % 2) + 1000 * (y % 3) +
							    10000 * (x % 2 + 2 * (y % 3)) + 100000 * 2 + 1000000 * 3);
	launch = (struct gt_ptx_launch){0};
}

/* A block writes into the next one's mbarrier and memory: arrivals, stores and bulk copies that report there. */
static void test_remote_barriers(void)
{
	static const char arrives[] = KERNEL
		"setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 32;\n" SYNC
		"xor.b32 %r7, %r4, 1;\nmapa.shared::cluster.u32 %r11, bar, %r7;\nmapa.shared::cluster.u32 %r12, %r6, %r7;\n"
		"st.shared::cluster.u32 [%r12], %r5;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];\n"
		"WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n"
		"ld.shared.u32 %r10, [%r6];\nst.global.u32 [%rd3], %r10;\n" SYNC END;
	in_clusters(2);
	works(arrives, 4, 32);
	for (uint32_t i = 0; i < 128; i++)
		CHECK_EQUAL(out[i], i ^ 32);
}

/* What blocks of a cluster have traced is written block by block, also where they are not successive. */
static uint32_t last_block, rows, order_wrong, remote;
static int take_rows(void *context, struct gt_rows *batch, struct gt_error *failure)
{
	(void)context, (void)failure;
	for (size_t i = 0; i < batch->n; i++, rows++) {
		order_wrong += batch->block[i] < last_block;
		last_block = batch->block[i];
		remote += gt_op_space(batch->op[i]) == GT_SHARED && batch->base[i] >> 24 == 1 + (1 - batch->block[i] / 4 % 2);
	}
	batch->n = batch->n_lanes = 0;
	return 0;
}

static void test_order(void)
{
	static const char text[] = KERNEL "st.shared.u32 [%r6], %r5;\n" SYNC
		"xor.b32 %r7, %r4, 1;\nmapa.shared::cluster.u32 %r11, %r6, %r7;\nld.shared::cluster.u32 %r10, [%r11];\n"
		"st.global.u32 [%rd3], %r10;\n" SYNC END;
	struct gt_sink sink = {.rows = gt_rows_new(64, &error), .flush = take_rows};
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}, {other, sizeof other, "other"}};

	launch = (struct gt_ptx_launch){.grid = {4, 4, 1}, .block = {64, 1, 1}, .cluster = {1, 2, 1}, .sink = &sink,
					.traced_spaces = 1U << GT_GLOBAL | 1U << GT_SHARED, .traced_blocks = 16};
	last_block = rows = order_wrong = remote = 0;
	if (run_kernel(text, &launch, buffers, &ran, &error) != 0)
		CHECK_TEXT(error.text, "");
	take_rows(NULL, sink.rows, &error);
	CHECK_EQUAL(rows, 16 * 2 * 3);
	CHECK_EQUAL(order_wrong, 0);
	CHECK_EQUAL(remote, 16 * 2);
	/* Of one block alone, the others of its cluster run too. */
	launch.traced_blocks = 1;
	launch.skip_untraced = true;
	last_block = rows = 0;
	if (run_kernel(text, &launch, buffers, &ran, &error) != 0)
		CHECK_TEXT(error.text, "");
	take_rows(NULL, sink.rows, &error);
	CHECK_EQUAL(rows, 2 * 3);
	gt_rows_free(sink.rows);
	launch = (struct gt_ptx_launch){0};
}

#define THREAD(X, Y) "kernel k, PTX line " X ": block (" Y ",0,0) thread (0,0,0): "
static void test_errors(void)
{
	in_clusters(3);
	fails(KERNEL END, 4, 32, "kernel k: clusters of (3,1,1) do not divide a grid of (4,1,1)");
	in_clusters(2);
	fails(KERNEL "setp.eq.u32 %p1, %r4, 0;\n@%p1 barrier.cluster.arrive;\n@%p1 barrier.cluster.wait;\n"
		     "WAIT:\n@!%p1 bar.sync 1, 64;\n" END,
	      2, 32, "kernel k: block (1,0,0) waits for ever: warp 0 at barrier 1 (line 25)");
	in_clusters(2);
	fails(KERNEL "barrier.cluster.wait;\n" END, 2, 32,
	      THREAD("21, pc 0x15", "0") "barrier.cluster.wait without barrier.cluster.arrive before");
	in_clusters(2);
	fails(KERNEL "barrier.cluster.arrive;\nbarrier.cluster.arrive;\n" END, 2, 32,
	      THREAD("22, pc 0x16", "0") "barrier.cluster.arrive twice without barrier.cluster.wait between");
	in_clusters(2);
	fails(KERNEL "mapa.shared::cluster.u32 %r11, %r6, 2;\n" END, 2, 32, THREAD("21, pc 0x15", "0") "mapa to block 2 of a cluster of 2");
	in_clusters(2);
	fails(KERNEL "mapa.shared::cluster.u32 %r11, %r6, 1;\nst.shared.u32 [%r11], %r1;\n" END, 2, 32,
	      THREAD("22, pc 0x16", "0") "store of 4 bytes at 0x2000000 of the block's own shared memory: the address is one of .shared::cluster");
	/* Block 0 returns at once; block 1 reads its memory later. */
	in_clusters(2);
	fails(KERNEL "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra DONE;\nmov.u32 %r10, 0;\nLOOP:\nadd.u32 %r10, %r10, 1;\n"
		     "setp.lt.u32 %p2, %r10, 100;\n@%p2 bra LOOP;\nmapa.shared::cluster.u32 %r11, %r6, 0;\n"
		     "ld.shared::cluster.u32 %r10, [%r11];\nDONE:\n" END,
	      2, 32, THREAD("29, pc 0x1d", "1") "load of 4 bytes at 0x0 of the shared memory of block 0 of the cluster: it has ended, or there is none");
}

/* Without clusters a block is one by itself. */
static void test_alone(void)
{
	static const char text[] = KERNEL "st.shared.u32 [%r6], %r5;\n" SYNC
		"mapa.shared::cluster.u32 %r11, %r6, 0;\nld.shared::cluster.u32 %r10, [%r11];\nadd.u32 %r10, %r10, %r4;\n"
		"mov.u32 %r12, %cluster_nctarank;\nmad.lo.u32 %r10, %r12, 1000, %r10;\nst.global.u32 [%rd3], %r10;\n" SYNC END;
	works(text, 2, 40);
	for (uint32_t i = 0; i < 80; i++)
		CHECK_EQUAL(out[i], 1000 + i);
}

int main(void)
{
	RUN(test_addresses);
	RUN(test_special_registers);
	RUN(test_remote_barriers);
	RUN(test_order);
	RUN(test_errors);
	RUN(test_alone);
	return check_report();
}
