/* SPDX-License-Identifier: MIT */
/* Launches by kernels: their order, their parameters, and the errors that the kernel is given. */
#include "check.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "ptx_kernel.h"

static struct gt_error error;
static uint32_t out[64];

#define EXTERNS                                                                                                                \
	".version 7.0\n.target sm_75\n.address_size 64\n"                                                                      \
	".extern .func (.param .b64 r) cudaGetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 g[12], "                   \
	".param .align 4 .b8 b[12], .param .b32 s);\n"                                                                         \
	".extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 p, .param .b64 s);\n"                                   \
	".extern .func (.param .b64 r) cudaGetParameterBuffer (.param .b64 a, .param .b64 n);\n"                               \
	".extern .func (.param .b32 r) cudaLaunchDevice (.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], "            \
	".param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);\n"                                                          \
	".extern .func (.param .b32 r) cudaGetLastError ();\n.extern .func (.param .b32 r) cudaPeekAtLastError ();\n"
#define PARAMS                                                                                                                 \
	".reg .b64 %rd<20>;\n.reg .b32 %r<20>;\n.reg .pred %p<5>;\n.param .b64 f;\n.param .align 4 .b8 g[12];\n"               \
	".param .align 4 .b8 b[12];\n.param .b32 s;\n.param .b64 p;\n.param .b64 t;\n.param .b64 r;\n.param .b32 e;\n"
/* g and b: blocks and threads, in x. */
#define SHAPE(GRID, BLOCK)                                                                                                     \
	"st.param.b64 [f], %rd2;\nst.param.b32 [g], " GRID ";\nst.param.b32 [g+4], 1;\nst.param.b32 [g+8], 1;\n"               \
	"st.param.b32 [b], " BLOCK ";\nst.param.b32 [b+4], 1;\nst.param.b32 [b+8], 1;\nst.param.b32 [s], 0;\n"
#define BUFFER(GRID, BLOCK) SHAPE(GRID, BLOCK) "call.uni (r), cudaGetParameterBufferV2, (f, g, b, s);\nld.param.b64 %rd3, [r];\n"
#define LAUNCH(STREAM)                                                                                                         \
	"st.param.b64 [p], %rd3;\nst.param.b64 [t], " STREAM ";\ncall.uni (e), cudaLaunchDeviceV2, (p, t);\nld.param.b32 %r5, [e];\n"
/* The code in out[AT], and what cudaPeekAtLastError and cudaGetLastError say, in the next three. */
#define KEEP_CODE(AT, REGISTER) "st.global.u32 [%rd1+" AT "], " REGISTER ";\n"
#define LAST(NAME, TO) "call.uni (e), " NAME ", ();\nld.param.b32 " TO ", [e];\n"

static int run_one(void *context, struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *to)
{
	uint64_t *number = context;

	launch->number = ++*number;
	return gt_ptx_run(kernel_machine, launch, ran, to);
}

static uint64_t launches;

static int run(const char *text, uint32_t threads)
{
	const struct gt_ptx_runner runner = {.run = run_one, .context = &launches};
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}};
	struct gt_ptx_launch launch = {.grid = {1, 1, 1}, .block = {threads, 1, 1}};
	struct gt_ptx_ran ran;

	launches = 0;
	kernel_runner = &runner;
	memset(out, 0, sizeof out);
	int result = run_kernel(text, &launch, buffers, &ran, &error);
	if (result != 0)
		CHECK_TEXT(error.text, "");
	return result;
}

/* A kernel appends its tag to a list, and with a tag below 100 launches 10 tag + 1, + 3 as a tail, + 2. */
#define TAGGED(DIGIT, STREAM)                                                                                                  \
	BUFFER("1", "1") "mad.lo.u32 %r4, %r1, 10, " DIGIT ";\nst.u64 [%rd3], %rd1;\nst.u32 [%rd3+8], %r4;\n" LAUNCH(STREAM)
#define STEP(NAME)                                                                                                             \
	".visible .entry " NAME "(.param .u64 a, .param .u32 tag)\n{\n" PARAMS                                                 \
	"ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [tag];\nmov.u64 %rd2, step;\natom.global.add.u32 %r2, [%rd1], 1;\n"        \
	"mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd4, %rd4, %rd1;\nst.global.u32 [%rd4+4], %r1;\n"                                \
	"setp.ge.u32 %p1, %r1, 100;\n@%p1 ret;\n" TAGGED("1", "0") TAGGED("3", "3") TAGGED("2", "4") "ret;\n}\n"

static void test_order(void)
{
	static const uint32_t expected[] = {1, 11, 111, 112, 113, 12, 121, 122, 123, 13, 131, 132, 133};
	/* The host's launch has tag 1. */
	static const char text[] = EXTERNS STEP("step") ".visible .entry k(.param .u64 a)\n{\n" PARAMS
		"ld.param.u64 %rd1, [a];\nmov.u64 %rd2, step;\n" BUFFER("1", "1")
		"mov.u32 %r4, 1;\nst.u64 [%rd3], %rd1;\nst.u32 [%rd3+8], %r4;\n" LAUNCH("0") "ret;\n}\n";

	if (run(text, 1) != 0)
		return;
	CHECK_EQUAL(launches, 14);
	CHECK_EQUAL(out[0], 13);
	for (unsigned i = 0; i < 13; i++)
		CHECK_EQUAL(out[1 + i], expected[i]);
}

#define CHILD                                                                                                                  \
	".visible .entry child(.param .u64 a)\n.maxntid 64, 1, 1\n{\n" PARAMS "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n"  \
	"mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd1;\natom.global.add.u32 %r2, [%rd3], 1;\nret;\n}\n"
#define PARENT EXTERNS CHILD ".visible .entry k(.param .u64 a)\n{\n" PARAMS "ld.param.u64 %rd1, [a];\nmov.u64 %rd2, child;\n"

static void test_plain(void)
{
	/* The first interface: the shape comes with the launch. Each lane launches two blocks of 3 threads. */
	static const char text[] = PARENT "st.param.b64 [p], 8;\nst.param.b64 [t], 8;\ncall.uni (r), cudaGetParameterBuffer, (p, t);\n"
		"ld.param.b64 %rd3, [r];\nst.u64 [%rd3], %rd1;\n" SHAPE("2", "3") "st.param.b64 [p], %rd3;\nst.param.b64 [t], 0;\n"
		"call.uni (e), cudaLaunchDevice, (f, p, g, b, s, t);\nld.param.b32 %r5, [e];\n" KEEP_CODE("40", "%r5") "ret;\n}\n";

	if (run(text, 5) != 0)
		return;
	CHECK_EQUAL(launches, 6);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQUAL(out[i], i < 3 ? 10 : 0);
	CHECK_EQUAL(out[10], 0);
}

#define ASK(GRID, BLOCK)                                                                                                       \
	PARENT BUFFER(GRID, BLOCK) "setp.eq.u64 %p1, %rd3, 0;\nselp.u32 %r6, 1, 0, %p1;\n" KEEP_CODE("40", "%r6")              \
	LAST("cudaPeekAtLastError", "%r7") KEEP_CODE("44", "%r7") LAST("cudaGetLastError", "%r7") KEEP_CODE("48", "%r7")       \
	LAST("cudaGetLastError", "%r7") KEEP_CODE("52", "%r7") "ret;\n}\n"

static void test_refused_shapes(void)
{
	/* A child has 64 threads at most. */
	static const struct {
		const char *text;
		uint32_t code;
	} shapes[] = {
		{ASK("1", "64"), 0}, {ASK("1", "65"), 9}, {ASK("1", "1025"), 9},
		{ASK("0", "1"), 9},  {ASK("1", "0"), 9},  {ASK("2147483648", "1"), 9},
	};

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		if (run(shapes[i].text, 1) != 0)
			return;
		CHECK_EQUAL(out[10], shapes[i].code != 0);
		CHECK_EQUAL(out[11], shapes[i].code);
		CHECK_EQUAL(out[12], shapes[i].code);
		CHECK_EQUAL(out[13], 0);
		CHECK_EQUAL(launches, 1); /* a buffer that is not used launches nothing */
	}
}

static void test_refused_launches(void)
{
	/* No buffer, one that was used already, and a stream that does not exist. */
	static const char text[] = PARENT "mov.u64 %rd3, 0;\n" LAUNCH("0") KEEP_CODE("40", "%r5") BUFFER("1", "1")
		"st.u64 [%rd3], %rd1;\n" LAUNCH("77") KEEP_CODE("44", "%r5") LAUNCH("4") KEEP_CODE("48", "%r5") LAUNCH("4")
		KEEP_CODE("52", "%r5") "ret;\n}\n";

	if (run(text, 1) != 0)
		return;
	CHECK_EQUAL(out[10], 1);
	CHECK_EQUAL(out[11], 1);
	CHECK_EQUAL(out[12], 0);
	CHECK_EQUAL(out[13], 1);
	CHECK_EQUAL(launches, 2);
}

static void few(struct gt_ptx_memory *memory) { CHECK_EQUAL(gt_ptx_pool_resize(memory, 10), 0); }

static void test_pending(void)
{
	/* 12 launches where 10 may be pending: the last two lanes are given an error. */
	static const char text[] = PARENT BUFFER("1", "1") LAST("cudaPeekAtLastError", "%r7") "mov.u32 %r8, %tid.x;\n"
		"mul.wide.u32 %rd4, %r8, 4;\nadd.u64 %rd5, %rd4, %rd1;\nst.global.u32 [%rd5+40], %r7;\nsetp.eq.u64 %p1, %rd3, 0;\n"
		"@%p1 ret;\nst.u64 [%rd3], %rd1;\n" LAUNCH("0") "ret;\n}\n";

	kernel_prepare = few;
	if (run(text, 12) != 0)
		return;
	kernel_prepare = NULL;
	CHECK_EQUAL(launches, 11);
	CHECK_EQUAL(out[0], 10);
	for (unsigned i = 0; i < 12; i++)
		CHECK_EQUAL(out[10 + i], i < 10 ? 0 : 69);
}

static void test_depth(void)
{
	/* Each launch launches the next one; the 25th below the host's is refused. */
	static const char text[] = EXTERNS
		".visible .entry k(.param .u64 a)\n{\n" PARAMS "ld.param.u64 %rd1, [a];\nmov.u64 %rd2, k;\n"
		"atom.global.add.u32 %r1, [%rd1], 1;\n" BUFFER("1", "1") LAST("cudaGetLastError", "%r7") KEEP_CODE("40", "%r7")
		"setp.eq.u64 %p1, %rd3, 0;\n@%p1 ret;\nst.u64 [%rd3], %rd1;\n" LAUNCH("0") "ret;\n}\n";

	if (run(text, 1) != 0)
		return;
	CHECK_EQUAL(out[0], 25);
	CHECK_EQUAL(out[10], 65);
}

static void test_without(void)
{
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}};
	struct gt_ptx_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
	struct gt_ptx_ran ran;

	kernel_runner = NULL;
	CHECK_EQUAL(run_kernel(PARENT BUFFER("1", "1") "ret;\n}\n", &launch, buffers, &ran, &error), -1);
	CHECK(strstr(error.text, "a launch by a kernel, which is not supported here") != NULL);
}

int main(void)
{
	RUN(test_order);
	RUN(test_plain);
	RUN(test_refused_shapes);
	RUN(test_refused_launches);
	RUN(test_pending);
	RUN(test_depth);
	RUN(test_without);
	return check_report();
}
