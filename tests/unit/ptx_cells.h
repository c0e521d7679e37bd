/* SPDX-License-Identifier: MIT */
/* Runs kernels `k` over two buffers of CELLS words, whose addresses are its parameters a and b; for the tests of the
 * interpreter that look at all threads. Define CELLS before this. */
#ifndef TESTS_PTX_CELLS_H
#define TESTS_PTX_CELLS_H

#include "check.h"
#include "ptx_kernel.h"

#define ENTRY ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n"
#define STORE "st.global.u32 [%rd10], %r9;\n"

static uint32_t out[CELLS], other[CELLS]; /* zero before each run; as the test leaves it */
static struct gt_error error;
static struct gt_ptx_ran ran;
static struct gt_ptx_launch launch;

static int run(const char *text, uint32_t blocks, uint32_t threads)
{
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}, {other, sizeof other, "other"}};

	launch.grid[0] = blocks;
	launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
	launch.block[0] = threads;
	memset(out, 0, sizeof out);
	int result = run_kernel(text, &launch, buffers, &ran, &error);
	memset(&launch, 0, sizeof launch);
	return result;
}

/* Runs, and says why if it cannot. */
static void works(const char *text, uint32_t blocks, uint32_t threads)
{
	if (run(text, blocks, threads) != 0)
		CHECK_TEXT(error.text, "");
}

static void fails(const char *text, uint32_t blocks, uint32_t threads, const char *expected)
{
	CHECK(run(text, blocks, threads) == -1);
	CHECK_TEXT(error.text, expected);
}

#endif
