/* SPDX-License-Identifier: MIT */
/* Instructions that access memory: how addresses are made, and what each form and modifier does. */
#include "check.h"
#include "ptx_kernel.h"
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

static int run(const char *text)
{
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}, {in, sizeof in, "in"}};
	struct gt_ptx_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct gt_ptx_ran ran;

	memset(out, 0, sizeof out);
	for (uint32_t i = 0; i < 1024; i++)
		in[i] = i;
	return run_kernel(text, &launch, buffers, &ran, &error);
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
	CHECK_TEXT(error.text, "kernel k, PTX line 19: block (0,0,0) thread (0,0,0): load of 4 bytes at "
			       "0xfffffffc of shared memory: a block has 1024 bytes");
}

int main(void)
{
	RUN(test_widths_apart);
	RUN(test_addresses_wrap);
	return check_report();
}
