/* SPDX-License-Identifier: MIT */
/* Approximate functions of f32 against an H100: sums over 65,536 successive floats each, and of some that are not usual. */
#define CELLS 65536
#include "ptx_cells.h"

static uint64_t mixed(uint32_t x, uint32_t y)
{
	uint64_t sum = ((uint64_t)x << 32 | y) * UINT64_C(0x9e3779b97f4a7c15);

	sum ^= sum >> 29;
	sum *= UINT64_C(0xbf58476d1ce4e5b9);
	return sum ^ sum >> 32;
}

/* The kernel has the statement compute %f2 of %f1, `first` and what follows, by some lanes of a warp and then by the others. */
static void compute(const char *statement, uint32_t first)
{
	char text[2000];

	snprintf(text, sizeof text,
		 ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY "{\n.reg .b64 %%rd<9>;\n.reg .b32 %%r<9>;\n.reg .f32 %%f<4>;\n.reg .b16 %%h<3>;\n.reg .pred %%p;\n"
		 "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%tid.x;\nmad.lo.u32 %%r3, %%r1, 256, %%r2;\n"
		 "mul.wide.u32 %%rd2, %%r3, 4;\nadd.u64 %%rd1, %%rd1, %%rd2;\nadd.u32 %%r4, %%r3, %u;\nmov.b32 %%f1, %%r4;\n"
		 "and.b32 %%r5, %%r2, 5;\nsetp.eq.u32 %%p, %%r5, 1;\n@%%p bra SOME;\n%s;\nbra BOTH;\nSOME:\n%s;\n"
		 "BOTH:\nst.global.f32 [%%rd1], %%f2;\nret;\n}\n", first, statement, statement);
	works(text, CELLS / 256, 256);
}

static void test_pieces(void)
{
	static const struct {
		const char *function;
		uint32_t first;
		uint64_t sum;
	} pieces[] = {
		{"rcp.approx.f32", 0x3f850000, UINT64_C(0x33a6fe917604dc0a)},	 {"rcp.approx.ftz.f32", 0x3fc00000, UINT64_C(0x620bec16817d13d3)},
		{"rsqrt.approx.f32", 0x3f800000, UINT64_C(0x9de43597e24c86bd)}, {"rsqrt.approx.ftz.f32", 0x40610000, UINT64_C(0x1e8f548666b17549)},
		{"ex2.approx.f32", 0x3fcd0000, UINT64_C(0x8f2da591a907caeb)},	 {"ex2.approx.ftz.f32", 0xbfe40000, UINT64_C(0x4c813fbcba6515bc)},
	};

	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		char statement[100];
		uint64_t sum = 0;
		snprintf(statement, sizeof statement, "%s %%f2, %%f1", pieces[i].function);
		compute(statement, pieces[i].first);
		for (uint32_t k = 0; k < CELLS; k++)
			sum += mixed(pieces[i].first + k, out[k]);
		CHECK(sum == pieces[i].sum);
	}
}

/* Of all numbers of 16 bits. */
static void test_halves(void)
{
	static const struct {
		const char *function;
		uint64_t sum;
	} halves[] = {{"ex2.approx.f16", UINT64_C(0x06e37e35cab36717)}, {"ex2.approx.ftz.bf16", UINT64_C(0x33c4b50172d0e8a1)}};

	for (size_t i = 0; i < 2; i++) {
		char statement[200];
		uint64_t sum = 0;
		snprintf(statement, sizeof statement, "cvt.u16.u32 %%h1, %%r4;\n%s %%h2, %%h1;\ncvt.u32.u16 %%r6, %%h2;\nmov.b32 %%f2, %%r6",
			 halves[i].function);
		compute(statement, 0);
		for (uint32_t k = 0; k < CELLS; k++)
			sum += mixed(k, out[k]);
		CHECK(sum == halves[i].sum);
	}
}

/* Quotients are the product with the reciprocal, which is 0 beyond 2^126, unless .full scales both: as an H100 had them. */
static void test_quotients(void)
{
	static const struct {
		const char *function;
		uint32_t x, y, quotient;
	} some[] = {
		{"div.approx.f32", 0xc4150407, 0x3dc4ab19, 0xc5c1f8ab},
		{"div.full.f32", 0xc4150407, 0x3dc4ab19, 0xc5c1f8ab},
		{"div.approx.f32", 0xb4ab180b, 0x394e732c, 0xbad42882},
		{"div.full.f32", 0xb4ab180b, 0x394e732c, 0xbad42882},
		{"div.approx.f32", 0xcd486ebe, 0x34d7db7f, 0xd7edb4e8},
		{"div.full.f32", 0xcd486ebe, 0x34d7db7f, 0xd7edb4e8},
		{"div.approx.f32", 0x449bbd22, 0x4c618332, 0x37b0cb20},
		{"div.full.f32", 0x449bbd22, 0x4c618332, 0x37b0cb20},
		{"div.approx.f32", 0x09f7c39f, 0xfe9c2f9b, 0x80000000},
		{"div.full.f32", 0x09f7c39f, 0xfe9c2f9b, 0x80000000},
		{"div.approx.f32", 0x7833eadf, 0x7f6028e1, 0x00000000},
		{"div.full.f32", 0x7833eadf, 0x7f6028e1, 0x384d7936},
		{"div.approx.f32", 0x85dc1ec3, 0x0023d9e7, 0xc5c4797d},
		{"div.full.f32", 0x85dc1ec3, 0x0023d9e7, 0xc5c4797d},
		{"div.approx.f32", 0x620f47d7, 0xfec051c3, 0x80000000},
		{"div.full.f32", 0x620f47d7, 0xfec051c3, 0xa2beb93c},
		{"div.approx.f32", 0xce6b2a18, 0x0047b3cf, 0xff800000},
		{"div.full.f32", 0xce6b2a18, 0x0047b3cf, 0xff800000},
		{"div.approx.f32", 0xe2ea41ff, 0x80323406, 0x7f800000},
		{"div.full.f32", 0xe2ea41ff, 0x80323406, 0x7f800000},
	};

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		char statement[100];
		snprintf(statement, sizeof statement, "mov.b32 %%f3, 0x%x;\n%s %%f2, %%f3, %%f1", some[i].x, some[i].function);
		compute(statement, some[i].y);
		CHECK_EQUAL(out[0], some[i].quotient);
	}
}

/* Zeros, infinities, NaNs, subnormals, and powers that are. */
static void test_ends(void)
{
	static const struct {
		const char *function;
		uint32_t x, y;
	} ends[] = {
		{"rcp.approx.f32", 0, 0x7f800000},	       {"rcp.approx.f32", 0xff800000, 0x80000000},   {"rcp.approx.f32", 0x7fc00000, 0x7fffffff},
		{"rcp.approx.f32", 0x7f000000, 0x00400000},    {"rcp.approx.ftz.f32", 0x7f000000, 0},	     {"rcp.approx.ftz.f32", 0x80000001, 0xff800000},
		{"rsqrt.approx.f32", 0x80000000, 0xff800000},  {"rsqrt.approx.f32", 0xbf800000, 0x7fffffff}, {"rsqrt.approx.f32", 0x7f800000, 0},
		{"rsqrt.approx.f32", 0x3f800000, 0x3f800000},  {"ex2.approx.f32", 0xff800000, 0},	     {"ex2.approx.f32", 0x7f800000, 0x7f800000},
		{"ex2.approx.f32", 0x43000000, 0x7f800000},    {"ex2.approx.f32", 0xc2fe0000, 0x003fffff},   {"ex2.approx.ftz.f32", 0xc2fe0000, 0},
		{"ex2.approx.f32", 0xffc00000, 0x7fffffff},    {"ex2.approx.f32", 0xbf800000, 0x3f000000},   {"ex2.approx.f32", 0x80000001, 0x3f800000},
	};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char statement[100];
		snprintf(statement, sizeof statement, "%s %%f2, %%f1", ends[i].function);
		compute(statement, ends[i].x);
		CHECK_EQUAL(out[0], ends[i].y);
	}
	fails(".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY "{\n.reg .f32 %f<4>;\nrcp.approx.f32 %f1, %f2, %f3;\nret;\n}\n", 1, 32,
	      "kernel k, PTX line 7, pc 0x7: block (0,0,0) thread (0,0,0): opcode 'rcp.f32' is not known");
}

int main(void)
{
	RUN(test_pieces);
	RUN(test_halves);
	RUN(test_quotients);
	RUN(test_ends);
	return check_report();
}
