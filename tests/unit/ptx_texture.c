/* SPDX-License-Identifier: MIT */
/* Textures and surfaces in PTX: where texels lie, what is fetched and traced, and what is refused. The
 * formulas of filtering are compared in tests/cuda/textures.cu. */
#define CELLS 1024
#include "cuda/ptx/exec/texture.h"
#include "ptx_cells.h"
#include "stream/op.h"

#define HEAD ".version 7.5\n.target sm_80\n.address_size 64\n"
/* %rd20 and %rd21: the handles 1 and 2; %f1: the thread's number and a half. */
#define KERNEL                                                                                    \
	HEAD ENTRY "{\n.reg .b64 %rd<40>;\n.reg .b32 %r<40>;\n.reg .b16 %rs<9>;\n.reg .f32 %f<20>;\n.reg .pred %p<10>;\n" \
	"ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd10, %rd1, %rd3;\n" \
	"mov.u64 %rd20, 1;\nmov.u64 %rd21, 2;\ncvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F000000;\n"

/* The address bits of a GOB, from the lowest: bits 0 to 3 of x, y 0, x 4, y 1, y 2, x 5 (Tegra X1 TRM, 20.1). */
static uint64_t interleave(unsigned x, unsigned y)
{
	static const struct { bool of_y; unsigned bit; } bits[9] = {
		{false, 0}, {false, 1}, {false, 2}, {false, 3}, {true, 0}, {false, 4}, {true, 1}, {true, 2}, {false, 5},
	};
	uint64_t offset = 0;

	for (unsigned i = 0; i < 9; i++)
		offset |= (uint64_t)((bits[i].of_y ? y : x) >> bits[i].bit & 1) << i;
	return offset;
}

static struct gt_ptx_image image_of(unsigned dimensions, uint32_t width, uint32_t height, uint32_t depth, unsigned bytes)
{
	struct gt_ptx_image image = {.width = width, .height = height, .depth = depth, .dimensions = (uint8_t)dimensions,
				     .channels = 1, .channel_bytes = (uint8_t)bytes, .kind = GT_PTX_CHANNEL_UNSIGNED};

	gt_ptx_image_arrange(&image);
	return image;
}

static void test_gobs(void)
{
	/* 100 texels of 4 bytes: 7 GOBs wide; 20 rows: 3 GOBs, so blocks are 4 high. */
	struct gt_ptx_image image = image_of(2, 100, 20, 1, 4);

	CHECK_EQUAL(1 << image.block_rows, 4);
	CHECK_EQUAL(image.bytes, 7 * 4 * 512);
	for (unsigned y = 0; y < 20; y++)
		for (unsigned x = 0; x < 400; x++)
			CHECK_EQUAL(gt_ptx_image_offset(&image, x, y, 0), (x / 64 * 4 + y / 8) * 512 + interleave(x % 64, y % 8));
}

static void test_blocks(void)
{
	/* 200 rows: blocks of 16 GOBs, two of them; a second layer lies behind the first. */
	struct gt_ptx_image image = image_of(2, 16, 200, 2, 4);
	CHECK_EQUAL(image.bytes, 2 * 2 * 16 * 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 0, 128, 0), 16 * 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 0, 0, 1), 2 * 16 * 512);

	/* In 3D blocks are up to 4 GOBs high and 16 slices deep: rows before slices. */
	image = image_of(3, 32, 40, 5, 4);
	CHECK_EQUAL(image.bytes, 2 * 2 * 4 * 8 * 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 0, 8, 0), 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 0, 0, 1), 4 * 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 64, 0, 0), 4 * 8 * 512);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 0, 32, 0), 2 * 4 * 8 * 512);

	image = image_of(1, 200, 1, 3, 4); /* rows, of multiples of 512 bytes */
	CHECK_EQUAL(image.bytes, 3 * 1024);
	CHECK_EQUAL(gt_ptx_image_offset(&image, 396, 0, 2), 2 * 1024 + 396);
}

/* No two bytes share a place, and none lies outside. */
static void test_one_place_each(void)
{
	static unsigned char taken[1 << 16];
	struct gt_ptx_image image = image_of(3, 19, 13, 6, 4);

	CHECK(image.bytes <= sizeof taken);
	for (unsigned z = 0; z < 6; z++)
		for (unsigned y = 0; y < 13; y++)
			for (unsigned x = 0; x < 19 * 4; x++) {
				uint64_t at = gt_ptx_image_offset(&image, x, y, z);
				CHECK(at < image.bytes);
				CHECK_EQUAL(taken[at]++, 0);
			}
}

/* Handles 1 and 2: a texture and a surface of one array of 40 by 12 texels, 1000 y + x each; 3: a texture of linear
 * memory; 4: a surface of one texel; 6: a texture of the same memory as 3, in halves. */
static struct gt_ptx_texture texture;
static void prepare(struct gt_ptx_memory *memory)
{
	struct gt_ptx_texture surface = {.surface = true}, linear = {.modes = {GT_PTX_BORDER}};
	uint64_t handle;

	texture.image = image_of(2, 40, 12, 1, 4);
	CHECK_EQUAL(gt_ptx_allocate(memory, texture.image.bytes, "array", &texture.image.address, &error), 0);
	surface.image = texture.image;
	for (uint32_t y = 0; y < 12; y++)
		for (uint32_t x = 0; x < 40; x++) {
			uint32_t value = 1000 * y + x;
			memcpy(gt_ptx_at(memory, texture.image.address + gt_ptx_image_offset(&texture.image, 4 * x, y, 0), 4), &value, 4);
		}
	CHECK_EQUAL(gt_ptx_texture_add(memory, &texture, &handle), 0);
	CHECK_EQUAL(handle, 1);
	CHECK_EQUAL(gt_ptx_texture_add(memory, &surface, &handle), 0);
	linear.image = image_of(1, 20, 1, 1, 4);
	linear.image.address = texture.image.address;
	CHECK_EQUAL(gt_ptx_texture_add(memory, &linear, &handle), 0);
	surface.image = image_of(2, 1, 1, 1, 4);
	surface.image.address = texture.image.address;
	CHECK_EQUAL(gt_ptx_texture_add(memory, &surface, &handle), 0);
	CHECK_EQUAL(gt_ptx_texture_add(memory, &linear, &handle), 0);
	CHECK(gt_ptx_texture_remove(memory, handle));
	CHECK(!gt_ptx_texture_remove(memory, handle));
	CHECK(!gt_ptx_texture_of(memory, handle));
	linear.image = image_of(1, 40, 1, 1, 2);
	linear.image.address = texture.image.address;
	CHECK_EQUAL(gt_ptx_texture_add(memory, &linear, &handle), 0);
	CHECK_EQUAL(handle, 6);
	CHECK(!gt_ptx_texture_of(memory, 0));
}

/* What a sink got. */
static size_t traced_rows;
static struct { uint8_t op, size; uint32_t mask; uint64_t lanes[GT_WARP_SIZE]; } traced[16];
static int keep_rows(void *context, struct gt_rows *rows, struct gt_error *failure)
{
	(void)context, (void)failure;
	for (size_t i = 0; i < rows->n && traced_rows < 16; i++, traced_rows++) {
		traced[traced_rows].op = rows->op[i];
		traced[traced_rows].size = rows->size[i];
		traced[traced_rows].mask = rows->mask[i];
		uint64_t addresses[GT_WARP_SIZE];
		gt_rows_addresses(rows, i, addresses);
		for (unsigned lane = 0, at = 0; lane < GT_WARP_SIZE; lane++)
			if (rows->mask[i] >> lane & 1)
				traced[traced_rows].lanes[lane] = addresses[at++];
	}
	rows->n = rows->n_lanes = 0;
	return 0;
}

/* Runs a warp and keeps what it accesses of textures. */
static void traces(const char *text)
{
	struct gt_sink sink = {.rows = gt_rows_new(64, &error), .flush = keep_rows};

	traced_rows = 0;
	launch.sink = &sink;
	launch.traced_spaces = 1U << GT_TEXTURE;
	launch.traced_blocks = 1;
	works(text, 1, 32);
	keep_rows(NULL, sink.rows, &error);
	gt_rows_free(sink.rows);
}

static uint64_t texel_at(uint32_t x, uint32_t y)
{
	return texture.image.address + gt_ptx_image_offset(&texture.image, 4 * x, y, 0);
}

static void test_point(void)
{
	/* y = 3 for all, x = the thread; the channels that the texels have not are 0. */
	traces(KERNEL "tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}|%p1, [%rd20, {%f1, 0f40600000}];\n"
		"add.u32 %r9, %r5, %r6;\nadd.u32 %r9, %r9, %r7;\nmad.lo.u32 %r9, %r8, 100000, %r9;\n"
		"@%p1 add.u32 %r9, %r9, 1000000;\n" STORE "ret;\n}\n");
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 3000 + t + 1000000);
	CHECK_EQUAL(traced_rows, 1);
	CHECK_EQUAL(traced[0].op, gt_op(GT_LOAD, GT_TEXTURE, GT_OPERATOR_NONE));
	CHECK_EQUAL(traced[0].size, 4);
	CHECK_EQUAL(traced[0].mask, 0xffffffff);
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(traced[0].lanes[t], texel_at(t, 3));
}

static void test_gather(void)
{
	/* The square of texels around (t + 1, 4): counter-clockwise from the lower left. One row a corner. */
	traces(KERNEL "add.f32 %f2, %f1, 0f3F000000;\ntld4.r.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd20, {%f2, 0f40800000}];\n"
		"sub.u32 %r9, %r6, %r5;\nsub.u32 %r10, %r6, %r7;\nsub.u32 %r11, %r7, %r8;\n"
		"mad.lo.u32 %r9, %r10, 10, %r9;\nmad.lo.u32 %r9, %r11, 100000, %r9;\nmad.lo.u32 %r9, %r8, 1000000, %r9;\n"
		STORE "ret;\n}\n");
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], (3000 + t) * 1000000 + 100000 + 10000 + 1);
	CHECK_EQUAL(traced_rows, 4);
	for (unsigned k = 0; k < 4; k++)
		CHECK_EQUAL(traced[k].lanes[5], texel_at(5 + (k & 1), 3 + (k >> 1)));
}

static void test_linear_memory(void)
{
	/* Channels that texels do not have are 0, as are all beyond the end, which is no access. */
	traces(KERNEL "mov.u64 %rd20, 3;\ntex.1d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%rd20, {%r1}];\nmov.u32 %r9, %r8;\n"
		STORE "ret;\n}\n");
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], 0);
	CHECK_EQUAL(traced_rows, 1);
	CHECK_EQUAL(traced[0].mask, (1U << 20) - 1);
	CHECK_EQUAL(traced[0].lanes[19], texture.image.address + 76);
}

/* Handle 1: a texture of 20 texels in a row, whose bytes are `row_texels`. */
static struct gt_ptx_texture row;
static unsigned char row_texels[20 * 16];
static void prepare_row(struct gt_ptx_memory *memory)
{
	uint64_t handle;

	CHECK_EQUAL(gt_ptx_allocate(memory, row.image.bytes, "row", &row.image.address, &error), 0);
	memcpy(gt_ptx_at(memory, row.image.address, row.image.bytes), row_texels, sizeof row_texels);
	CHECK_EQUAL(gt_ptx_texture_add(memory, &row, &handle), 0);
}

/* Whole texels before the row, in it and behind it: as texture.c finds them lane by lane. */
static void check_row(uint8_t kind, unsigned bytes, unsigned channels, uint8_t mode)
{
	static const char *const results[4] = {"%r1", "%r6", "%r7", "%r8"}; /* the first takes the coordinate's place */
	char text[4096];

	row = (struct gt_ptx_texture){.modes = {mode}, .border = {1, 2, 3, 4}, .image = image_of(1, 20, 1, 1, bytes)};
	row.image.kind = kind;
	row.image.channels = (uint8_t)channels;
	gt_ptx_image_arrange(&row.image);
	for (unsigned channel = 0; channel < 4; channel++) {
		snprintf(text, sizeof text, "%s%s%s;\n%s", KERNEL "sub.s32 %r1, %r1, 6;\ntex.1d.v4.u32.s32 {%r1, %r6, %r7, %r8}, [%rd20, {%r1}];\n",
			 "mov.u32 %r9, ", results[channel], STORE "ret;\n}\n");
		traces(text);
		uint32_t inside = 0;
		for (uint32_t t = 0; t < 32; t++) {
			const struct gt_ptx_spot spot = {.texels = true, .at = {(int32_t)t - 6}};
			struct gt_ptx_footprint footprint;
			uint32_t values[4];
			gt_ptx_find_footprint(&row, &spot, false, GT_PTX_WEIGHT_STEPS, &footprint);
			gt_ptx_read_footprint(&row, &footprint, row_texels, values);
			CHECK_EQUAL(out[t], values[channel]);
			inside |= (footprint.inside & 1) << t;
			if (footprint.inside & 1)
				CHECK_EQUAL(traced[0].lanes[t], row.image.address + footprint.offset[0]);
		}
		CHECK_EQUAL(traced_rows, 1);
		CHECK_EQUAL(traced[0].mask, inside);
		CHECK_EQUAL(traced[0].size, bytes * channels);
	}
}

static void test_rows(void)
{
	kernel_prepare = prepare_row;
	for (unsigned i = 0; i < sizeof row_texels; i++)
		row_texels[i] = (unsigned char)(i * 97 + 130);
	for (unsigned bytes = 1; bytes <= 4; bytes *= 2)
		for (unsigned channels = 1; channels <= 4; channels *= 2)
			for (uint8_t kind = GT_PTX_CHANNEL_SIGNED; kind <= (bytes == 1 ? GT_PTX_CHANNEL_UNSIGNED : GT_PTX_CHANNEL_FLOAT); kind++) {
				check_row(kind, bytes, channels, GT_PTX_BORDER);
				check_row(kind, bytes, channels, GT_PTX_CLAMP);
			}
	kernel_prepare = prepare;
}

/* Black around integers that are read as fractions is 0, and not -0. */
static void test_black_border(void)
{
	for (uint8_t kind = GT_PTX_CHANNEL_SIGNED; kind <= GT_PTX_CHANNEL_UNSIGNED; kind++) {
		const struct gt_ptx_spot spot = {.texels = true, .at = {-1}};
		struct gt_ptx_footprint footprint;
		uint32_t values[4];
		row = (struct gt_ptx_texture){.scaled = true, .modes = {GT_PTX_BORDER}, .border = {0, -0.001F}, .image = image_of(1, 20, 1, 1, 1)};
		row.image.kind = kind;
		row.image.channels = 2;
		gt_ptx_image_arrange(&row.image);
		gt_ptx_find_footprint(&row, &spot, false, GT_PTX_WEIGHT_STEPS, &footprint);
		gt_ptx_read_footprint(&row, &footprint, row_texels, values);
		for (unsigned channel = 0; channel < 4; channel++)
			CHECK_EQUAL(values[channel], 0);
	}
}

static void test_two_textures(void)
{
	/* Even lanes read words, odd ones halves: a row for each size. Word t is t, and so is half 2 t, up to 3. */
	traces(KERNEL "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u64 %rd20, 3;\nmov.u64 %rd21, 6;\n"
		"selp.b64 %rd22, %rd20, %rd21, %p1;\ntex.1d.v4.u32.f32 {%r9, %r6, %r7, %r8}, [%rd22, {%f1}];\n" STORE
		"ret;\n}\n");
	CHECK_EQUAL(out[2], 2);
	CHECK_EQUAL(out[3], 0);
	CHECK_EQUAL(traced_rows, 2);
	CHECK_EQUAL(traced[0].size, 4);
	CHECK_EQUAL(traced[0].mask, 0x00055555);
	CHECK_EQUAL(traced[1].size, 2);
	CHECK_EQUAL(traced[1].mask, 0xaaaaaaaa);
	CHECK_EQUAL(traced[1].lanes[31], texture.image.address + 62);
}

static void test_surface(void)
{
	/* Texel (t + 9, 4) becomes what (t + 9, 2) is; lane 31 is beyond the end: it loads the last, and does not store. */
	traces(KERNEL "add.u32 %r2, %r1, 9;\nshl.b32 %r2, %r2, 2;\nmov.u32 %r3, 2;\n"
		"suld.b.2d.v2.b16.clamp {%rs1, %rs2}, [%rd21, {%r2, %r3}];\n"
		"sust.b.2d.v2.b16.zero [%rd21, {%r2, 4}], {%rs1, %rs2};\n"
		"suld.b.2d.b32.zero {%r9}, [%rd21, {%r2, 4}];\n" STORE "ret;\n}\n");
	for (uint32_t t = 0; t < 32; t++)
		CHECK_EQUAL(out[t], t + 9 < 40 ? 2009 + t : 0);
	CHECK_EQUAL(traced_rows, 3);
	CHECK_EQUAL(traced[0].mask, 0xffffffff);
	CHECK_EQUAL(traced[0].lanes[31], texel_at(39, 2));
	CHECK_EQUAL(traced[1].op, gt_op(GT_STORE, GT_TEXTURE, GT_OPERATOR_NONE));
	CHECK_EQUAL(traced[1].mask, 0x7fffffff);
	CHECK_EQUAL(traced[2].mask, 0x7fffffff);
}

static void test_queries(void)
{
	works(KERNEL "txq.width.b32 %r5, [%rd20];\nsuq.height.b32 %r6, [%rd21];\nmad.lo.u32 %r9, %r6, 1000, %r5;\n" STORE "ret;\n}\n", 1, 1);
	CHECK_EQUAL(out[0], 12040);
}

#define BY_THREAD "kernel k, PTX line 19, pc 0x13: block (0,0,0) thread (0,0,0): "

static void test_faults(void)
{
	fails(KERNEL "tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd21, {%f1, %f1}];\nret;\n}\n", 1, 1,
	      BY_THREAD "0x2 is no texture object");
	fails(KERNEL "tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd1, {%f1, %f1}];\nret;\n}\n", 1, 1,
	      BY_THREAD "0x200000000000 is no texture object");
	fails(KERNEL "tex.1d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd20, {%f1}];\nret;\n}\n", 1, 1,
	      BY_THREAD "the texture object 0x1 is not of the shape '1d'");
	fails(KERNEL "suld.b.2d.b32.trap {%r5}, [%rd21, {160, 2}];\nret;\n}\n", 1, 1,
	      BY_THREAD "an access of 4 bytes at byte 160 beyond a surface of 40 by 12 by 1 texels of 4 bytes");
	fails(KERNEL "suld.b.2d.b32.trap {%r5}, [%rd21, {2, 2}];\nret;\n}\n", 1, 1,
	      BY_THREAD "an access of 4 bytes at byte 2 of a surface's row of 160 bytes: a multiple of its size expected, and a row "
			"that holds it");
	fails(KERNEL "mov.u64 %rd21, 4;\nsuld.b.2d.v4.b32.clamp {%r5, %r6, %r7, %r8}, [%rd21, {16, 0}];\nret;\n}\n", 1, 1,
	      "kernel k, PTX line 20, pc 0x14: block (0,0,0) thread (0,0,0): an access of 16 bytes at byte 16 of a surface's row of 4 bytes: a "
	      "multiple of its size expected, and a row that holds it");
	fails(KERNEL "suq.width.b32 %r5, [%rd1];\nret;\n}\n", 1, 1,
	      BY_THREAD "0x200000000000 is no texture or surface object");
}

static void test_refused(void)
{
	static const char *const forms[] = {
		"tex.2d.v2.f16x2.f32 {%r5, %r6}, [%rd20, {%f1, %f1}]",
		"tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd20, {%f1, %f1}], {%r1, %r1}",
		"tld4.r.3d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%rd20, {%f1, %f1, %f1, %f1}]",
		"sust.p.2d.b32.trap [%rd21, {%r1, %r1}], {%r5}",
		"suld.b.2d.b32.ca.trap {%r5}, [%rd21, {%r1, %r1}]",
		"txq.num_samples.b32 %r5, [%rd20]",
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		char text[4096];
		snprintf(text, sizeof text, "%s%s;\nret;\n}\n", KERNEL, forms[i]);
		CHECK(run(text, 1, 1) == -1);
		CHECK(strstr(error.text, "is not known in this form") != NULL);
	}
	CHECK(run(KERNEL "tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [reference, {%f1, %f1}];\nret;\n}\n", 1, 1) == -1);
	CHECK(strstr(error.text, "of a texture or surface reference is not supported, only of objects") != NULL);
}

int main(void)
{
	RUN(test_gobs);
	RUN(test_blocks);
	RUN(test_one_place_each);
	kernel_prepare = prepare;
	RUN(test_point);
	RUN(test_gather);
	RUN(test_linear_memory);
	RUN(test_rows);
	RUN(test_black_border);
	RUN(test_two_textures);
	RUN(test_surface);
	RUN(test_queries);
	RUN(test_faults);
	RUN(test_refused);
	return check_report();
}
