/* SPDX-License-Identifier: MIT */
/* Copies of boxes of tensors: the accesses that they make, and what a map must be. tests/cuda/tensor_maps.cu looks at the
 * data. */
#define CELLS 4096
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/exec/tensor.h"
#include "ptx_cells.h"
#include "stream/hint.h"
#include "stream/op.h"

#define KERNEL                                                                                            \
	".version 8.4\n.target sm_90\n.address_size 64\n" ENTRY                                            \
	"{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n"                                      \
	".shared .align 8 .b8 bar[8];\n.shared .align 1024 .b8 s[8192];\n"                                 \
	"ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\n"       \
	"mov.u32 %r4, bar;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\nmbarrier.init.shared.b64 [%r4], 1;\n" \
	"ld.global.v2.s32 {%r5, %r6}, [%rd2+128];\n"

/* The rows of the trace, by space: how many, lanes, bytes a lane; distinct sectors of global memory. */
static struct traced {
	uint64_t rows, lanes, bytes, sectors;
	uint16_t hint;
} global, shared;
static unsigned char seen[sizeof out / 32];

static int take_rows(void *context, struct gt_rows *batch, struct gt_error *failure)
{
	(void)context, (void)failure;
	for (size_t i = 0; i < batch->n; i++) {
		if (gt_op_space(batch->op[i]) == GT_GLOBAL && batch->stride[i] == 0 && batch->base[i] >= GT_PTX_GLOBAL_BASE + sizeof out)
			continue; /* the coordinates */
		struct traced *to = gt_op_space(batch->op[i]) == GT_GLOBAL ? &global : &shared;
		const uint64_t *lanes = batch->stride[i] == GT_STRIDE_LANES ? batch->lanes + batch->base[i] : NULL;
		unsigned n = (unsigned)__builtin_popcount(batch->mask[i]);
		to->rows++;
		to->lanes += n;
		to->bytes += (uint64_t)n * batch->size[i];
		to->hint = batch->has_hints ? batch->hint[i] : 0;
		for (unsigned lane = 0; lane < n && to == &global; lane++) {
			uint64_t at = (lanes ? lanes[lane] : batch->base[i] + (uint64_t)batch->stride[i] * lane) - GT_PTX_GLOBAL_BASE;
			to->sectors += !seen[at / 32];
			seen[at / 32] = 1;
		}
	}
	batch->n = batch->n_lanes = 0;
	return 0;
}

/* Copies a box of 64 x 6 halves of a tensor of 96 x 20, from (x, y) on. */
static void copy(const char *instruction, int x, int y)
{
	struct gt_sink sink = {.rows = gt_rows_new(64, &error), .flush = take_rows};
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = GT_PTX_GLOBAL_BASE, .rank = 2, .type = GT_TENSOR_F16,
				    .last = {95, 19}, .strides = {192}, .box = {64, 6}, .steps = {1, 1}, .swizzle = GT_SWIZZLE_128,
				    .promotion = GT_FETCH_256};
	char text[4096];

	snprintf(text, sizeof text, "%s%s\nDONE:\nret;\n}\n", KERNEL, instruction);
	memset(seen, 0, sizeof seen);
	memset(other, 0, sizeof other);
	memcpy(other, &map, sizeof map);
	memcpy(other + sizeof map / 4, (int[]){x, y}, 2 * sizeof(int));
	global = shared = (struct traced){0};
	launch.sink = &sink;
	launch.traced_spaces = 1U << GT_GLOBAL | 1U << GT_SHARED;
	launch.traced_blocks = 1;
	works(text, 1, 32);
	take_rows(NULL, sink.rows, &error);
	gt_rows_free(sink.rows);
}

#define LOADS "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r5, %r6}], [%r4];"

static void test_accesses(void)
{
	/* 6 rows of 128 bytes: 8 lanes of 16 bytes each. A row begins at a multiple of 64 bytes: 4 sectors. */
	copy(LOADS, 0, 3);
	CHECK_EQUAL(global.rows, 2);
	CHECK_EQUAL(global.lanes, 48);
	CHECK_EQUAL(global.bytes, 768);
	CHECK_EQUAL(global.sectors, 24);
	CHECK_EQUAL(gt_hint_fetch(global.hint), 256);
	/* The box, and the mbarrier: its initialization and the report. */
	CHECK_EQUAL(shared.rows, 2 + 2);
	CHECK_EQUAL(shared.bytes, 768 + 16);
	/* From x = 5: 10 bytes further, so that rows are read by 2 bytes a lane; from y = 16 on 4 rows are inside. */
	copy(LOADS, 5, 16);
	CHECK_EQUAL(global.bytes, 4 * 128);
	CHECK_EQUAL(global.lanes, 4 * 64);
	CHECK_EQUAL(global.rows, 8);
	CHECK_EQUAL(global.sectors, 4 * 5);
	CHECK_EQUAL(shared.bytes, 768 + 16);
	/* Wholly outside: nothing is read. */
	copy(LOADS, 200, 0);
	CHECK_EQUAL(global.rows, 0);
	CHECK_EQUAL(shared.bytes, 768 + 16);
	/* A store leaves out what is outside: 32 columns of 5 rows are inside. */
	copy("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r5, %r6}], [%r2];", 64, -1);
	CHECK_EQUAL(global.bytes, 5 * 64);
	CHECK_EQUAL(global.sectors, 5 * 2);
	CHECK_EQUAL(shared.bytes, 5 * 64 + 8);
	copy("cp.async.bulk.prefetch.tensor.2d.L2.global [%rd2, {%r5, %r6}];", 0, 0);
	CHECK_EQUAL(global.bytes, 768);
	CHECK_EQUAL(gt_hint_action(global.hint), GT_PREFETCH_L2);
	CHECK_EQUAL(shared.bytes, 8);
}

/* ---- elements of 4 and 6 bits ---- */

#define TENSOR 256 /* cells of `other` before it */
#define ROW	128 /* elements of a row of the box, of two rows */

/* What shared memory has at a byte, from rows of the tensor of `pitch` bytes: the second row of the box is not there. */
static unsigned byte_at(unsigned type, unsigned pitch, unsigned row, unsigned at)
{
	const unsigned bytes = type == GT_TENSOR_16U6_APART ? 12 : 8, unit = type == GT_TENSOR_16U4 ? 8 : 16;

	if (row > 0 || at % unit >= bytes)
		return 0;
	return ((const unsigned char *)(other + TENSOR))[3 * pitch + ROW / 16 * bytes + at / unit * bytes + at % unit];
}

/* Copies two rows from (128, 3) on of a tensor of 256 x 4; the mbarrier hears of the bytes without the zeros between. */
static void copy_small(enum gt_tensor_type type, enum gt_tensor_swizzle swizzle)
{
	const unsigned pitch = type == GT_TENSOR_16U6_APART ? 192 : 128, row = type == GT_TENSOR_16U4 ? ROW / 2 : ROW;
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = GT_PTX_GLOBAL_BASE + sizeof out + 512 + TENSOR * sizeof *other,
				    .rank = 2, .type = (uint8_t)type, .last = {255, 3}, .strides = {pitch}, .box = {ROW, 2},
				    .steps = {1, 1}, .swizzle = (uint8_t)swizzle};
	char text[4096];

	snprintf(text, sizeof text,
		 "%s%s\nmbarrier.arrive.expect_tx.shared.b64 _, [%%r4], %u;\nmbarrier.test_wait.parity.shared.b64 %%p2, [%%r4], 0;\n"
		 "selp.u32 %%r7, 1, 0, %%p2;\nst.global.u32 [%%rd1+512], %%r7;\nDONE:\nbar.sync 0;\nmul.wide.u32 %%rd3, %%r1, 8;\n"
		 "add.s64 %%rd3, %%rd3, %%rd1;\nmad.lo.u32 %%r8, %%r1, 8, %%r2;\nld.shared.v2.u32 {%%r5, %%r6}, [%%r8];\n"
		 "st.global.v2.u32 [%%rd3], {%%r5, %%r6};\nret;\n}\n",
		 KERNEL, LOADS, 2 * ROW / 16 * (type == GT_TENSOR_16U6_APART ? 12 : 8));
	for (unsigned i = 0; i < 1024; i++)
		((unsigned char *)(other + TENSOR))[i] = (unsigned char)(i * 7 + i / 256 + 1);
	memcpy(other, &map, sizeof map);
	memcpy(other + sizeof map / 4, (int[]){ROW, 3}, 2 * sizeof(int));
	works(text, 1, 32);
	CHECK_EQUAL(out[128], 1);
	for (unsigned at = 0; at < 2 * row; at++)
		CHECK_EQUAL(((const unsigned char *)out)[gt_swizzled(at, swizzle)], byte_at(type, pitch, at / row, at % row));
}

static void test_small_elements(void)
{
	copy_small(GT_TENSOR_16U4, GT_SWIZZLE_NONE);
	copy_small(GT_TENSOR_16U4, GT_SWIZZLE_64);
	copy_small(GT_TENSOR_16U4_APART, GT_SWIZZLE_NONE);
	copy_small(GT_TENSOR_16U4_APART, GT_SWIZZLE_128);
	copy_small(GT_TENSOR_16U6_APART, GT_SWIZZLE_NONE);
	copy_small(GT_TENSOR_16U6_APART, GT_SWIZZLE_128);
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = GT_PTX_GLOBAL_BASE, .rank = 2, .type = GT_TENSOR_16U4_APART,
				    .last = {255, 3}, .strides = {128}, .box = {ROW, 2}, .steps = {1, 1}};
	CHECK(gt_tensor_is_sound(&map));
	map.box[0] = 64;
	CHECK(!gt_tensor_is_sound(&map));
	map.box[0] = ROW;
	map.last[0] = 191;
	CHECK(!gt_tensor_is_sound(&map));
	map.last[0] = 255;
	map.strides[0] = 144;
	CHECK(!gt_tensor_is_sound(&map));
	map.type = GT_TENSOR_16U4;
	CHECK(gt_tensor_is_sound(&map));
	map.last[0] = 254;
	CHECK(!gt_tensor_is_sound(&map));
}

/* ---- four rows, each at a coordinate of its own ---- */

#define PIECES 32 /* halves of a row of the box */
#define FOUR "[%rd2, {%r5, 6, 0, -1, 9}]" /* of a tensor of 64 x 7 halves */
static const int rows[4] = {6, 0, -1, 9};

static void prepare_rows(const char *instruction, uint64_t address, int x, char text[4096])
{
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = address, .rank = 2, .type = GT_TENSOR_U16, .last = {63, 6},
				    .strides = {128}, .box = {PIECES, 1}, .steps = {1, 1}, .swizzle = GT_SWIZZLE_64};

	memcpy(other, &map, sizeof map);
	memcpy(other + sizeof map / 4, (int[]){x, 0}, 2 * sizeof(int));
	for (unsigned i = 0; i < 1024; i++)
		((unsigned char *)(other + TENSOR))[i] = (unsigned char)(i * 7 + i / 256 + 1);
	snprintf(text, 4096, "%s%s\n", KERNEL, instruction);
}

static void gather_rows(int x)
{
	char text[4096];

	prepare_rows("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r2], " FOUR ", [%r4];\n"
		     "mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 256;\nmbarrier.test_wait.parity.shared.b64 %p2, [%r4], 0;\n"
		     "selp.u32 %r7, 1, 0, %p2;\nst.global.u32 [%rd1+512], %r7;\nDONE:\nbar.sync 0;\nmul.wide.u32 %rd3, %r1, 8;\n"
		     "add.s64 %rd3, %rd3, %rd1;\nmad.lo.u32 %r8, %r1, 8, %r2;\nld.shared.v2.u32 {%r5, %r6}, [%r8];\n"
		     "st.global.v2.u32 [%rd3], {%r5, %r6};\nret;\n}\n",
		     GT_PTX_GLOBAL_BASE + sizeof out + 512 + TENSOR * sizeof *other, x, text);
	works(text, 1, 32);
	CHECK_EQUAL(out[128], 1);
	for (unsigned at = 0; at < 8 * PIECES; at++) {
		const int row = rows[at / 64], column = x + (int)(at % 64 / 2);
		const bool inside = row >= 0 && row < 7 && column < 64;
		CHECK_EQUAL(((const unsigned char *)out)[gt_swizzled(at, GT_SWIZZLE_64)],
			    inside ? ((const unsigned char *)(other + TENSOR))[row * 128 + column * 2 + (int)(at % 2)] : 0);
	}
}

static void scatter_rows(int x)
{
	char text[4096];

	prepare_rows("mov.u32 %r7, 0;\nMORE:\nadd.u32 %r8, %r7, %r2;\nadd.u32 %r3, %r7, 1;\nst.shared.u8 [%r8], %r3;\nadd.u32 %r7, %r7, 1;\n"
		     "setp.lt.u32 %p2, %r7, 256;\n@%p2 bra MORE;\n"
		     "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group " FOUR ", [%r2];\nDONE:\nret;\n}\n",
		     GT_PTX_GLOBAL_BASE, x, text);
	works(text, 1, 32);
	for (unsigned at = 0; at < 8 * PIECES; at++) {
		const int row = rows[at / 64], column = x + (int)(at % 64 / 2);
		if (row >= 0 && row < 7 && column < 64)
			CHECK_EQUAL(((const unsigned char *)out)[row * 128 + column * 2 + (int)(at % 2)], (gt_swizzled(at, GT_SWIZZLE_64) + 1) & 255);
	}
	for (int row = 1; row < 6; row++)
		CHECK_EQUAL(out[row * 32 + 20], 0);
}

static void test_single_rows(void)
{
	gather_rows(0);
	gather_rows(48);
	scatter_rows(0);
	scatter_rows(48);
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = GT_PTX_GLOBAL_BASE, .rank = 2, .type = GT_TENSOR_U16, .last = {63, 6},
				    .strides = {128}, .box = {PIECES, 2}, .steps = {1, 1}};
	memcpy(other, &map, sizeof map);
	fails(KERNEL "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 " FOUR ";\nDONE:\nret;\n}\n", 1, 32,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): rows are gathered, or scattered, by a tensor map with 2 rows in its "
	      "box: 1 expected");
	fails(KERNEL "cp.async.bulk.tensor.2d.global.shared::cta.tile::gather4.bulk_group " FOUR ", [%r2];\nDONE:\nret;\n}\n", 1, 32,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): 'cp.async.bulk.tensor.2d.global.shared::cta.tile::gather4.bulk_group' is "
	      "not known in this form");
}

static void test_errors(void)
{
	memset(other, 0, sizeof other);
	fails(KERNEL LOADS "\nDONE:\nret;\n}\n", 1, 32,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): at 0x200000004200 is no tensor map of rank 2");
}

/* Maps that kernels make, and what they cannot be. tests/cuda/tensor_maps.cu makes a whole one. */
static void refuses_map(const char *instruction, const char *said)
{
	char text[4096], expected[256];

	snprintf(text, sizeof text, "%s%s\nDONE:\nret;\n}\n", KERNEL, instruction);
	snprintf(expected, sizeof expected, "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): %s", said);
	fails(text, 1, 32, expected);
}

#define REPLACE "tensormap.replace.tile."
static void test_changed_maps(void)
{
	memset(other, 0, sizeof other);
	works(KERNEL REPLACE "rank.global.b1024.b32 [%rd2], 1;\n" REPLACE "box_dim.global.b1024.b32 [%rd2], 1, 256;\nDONE:\nret;\n}\n", 1, 32);
	refuses_map(REPLACE "rank.global.b1024.b32 [%rd2], 5;", "a tensor map with 5 as its rank is not possible, or not modelled");
	refuses_map(REPLACE "elemtype.global.b1024.b32 [%rd2], 16;", "a tensor map with 16 as its elemtype is not possible, or not modelled");
	refuses_map(REPLACE "interleave_layout.global.b1024.b32 [%rd2], 1;",
		    "a tensor map with 1 as its interleave_layout is not possible, or not modelled");
	refuses_map(REPLACE "global_stride.global.b1024.b64 [%rd2], 4, 16;",
		    "'tensormap.replace.tile.global_stride.global.b1024.b64' is not known in this form");
	refuses_map(REPLACE "rank.global.b1024.b32 [%rd2+64], 1;",
		    "at 0x200000004240 is no room for a tensor map: 128 bytes, at a multiple of that");
	memset(other, 0, sizeof other);
	other[5] = 1;
	refuses_map(REPLACE "rank.global.b1024.b32 [%rd2], 1;", "what is there is no tensor map, nor zeros, of which one is made");
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = GT_PTX_GLOBAL_BASE, .rank = 2, .type = GT_TENSOR_F16,
				    .strides = {192}, .box = {60, 6}, .steps = {1, 1}};
	memcpy(other, &map, sizeof map);
	refuses_map(LOADS, "at 0x200000004200 is a tensor map of rank 2 whose fields do not fit each other");
	memset(other, 0, sizeof other);
}

int main(void)
{
	RUN(test_accesses);
	RUN(test_small_elements);
	RUN(test_single_rows);
	RUN(test_changed_maps);
	RUN(test_errors);
	return check_report();
}
