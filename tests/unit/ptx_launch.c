/* SPDX-License-Identifier: MIT */
/* The launch line: its grammar, its numbers, what buffers are filled with, how it meets a kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/ptx/launch/launch.h"

static struct gt_ptx_launch_line call;
static struct gt_error error;

static int read(const char *line)
{
	gt_ptx_launch_line_free(&call);
	return gt_ptx_launch_line_read(&call, line, &error);
}

static void refused(const char *line, const char *message)
{
	CHECK_EQUAL(read(line), -1);
	CHECK_TEXT(error.text, message);
}

static void test_shape(void)
{
	CHECK_EQUAL(read("gemm<<<(16,64),(32,8)>>>()"), 0);
	CHECK_TEXT(call.kernel, "gemm");
	CHECK(call.grid[0] == 16 && call.grid[1] == 64 && call.grid[2] == 1);
	CHECK(call.block[0] == 32 && call.block[1] == 8 && call.block[2] == 1);
	CHECK_EQUAL(call.dynamic_shared, 0);
	CHECK_EQUAL(read("  _Z1kIiEvv <<< (4+4)*2 , (8*2, 2, 3), 4*256 >>> ( ) ; "), 0);
	CHECK_TEXT(call.kernel, "_Z1kIiEvv");
	CHECK_EQUAL(call.grid[0], 16);
	CHECK(call.block[0] == 16 && call.block[2] == 3);
	CHECK_EQUAL(call.dynamic_shared, 1024);
	refused("k", "expected KERNEL<<<GRID, BLOCK>>>(ARGUMENTS), found 'k'");
	refused("<<<1,1>>>()", "expected KERNEL<<<GRID, BLOCK>>>(ARGUMENTS), found '<<<1,1>>>()'");
	refused("k<<<0,1>>>()", "at '0,1>>>()': expected a whole number from 1 to 2147483647");
	refused("k<<<1,1025>>>()", "at '1025>>>()': expected a whole number from 1 to 1024");
	refused("k<<<1,(64,32)>>>()", "at '(64,32)>>>()': more than 1024 threads a block");
	refused("k<<<(2147483647,65535),1>>>()", "at '1>>>()': more than 2^32 blocks");
	refused("k<<<(1,65536),1>>>()", "at '65536),1>>>()': expected a whole number from 1 to 65535");
	refused("k<<<1,1,300000>>>()", "at '300000>>>()': expected a whole number from 0 to 233472");
	CHECK_EQUAL(read("k<<<((7+1)/2,(3)),(2*(1+1))>>>()"), 0);
	CHECK(call.grid[0] == 4 && call.grid[1] == 3 && call.block[0] == 4);
	refused("k<<<1>>>()", "at '>>>()': expected ','");
	refused("k<<<(1,2,3,4),1>>>()", "at ',4),1>>>()': expected ')'");
	refused("k<<<1,1>>", "at '>>': expected '>>>'");
	refused("k<<<1,1>>>(1", "at the end: expected ')'");
	refused("k<<<1,1>>>() x", "at 'x': expected the end of the launch");
}

static void number_is(const char *text, bool real, double expected)
{
	char line[256];

	snprintf(line, sizeof line, "k<<<1,1>>>(n=7, %s)", text);
	CHECK_EQUAL(read(line), 0);
	CHECK_EQUAL(call.n, 2);
	CHECK_EQUAL(call.arguments[1].kind, GT_PTX_ARGUMENT_NUMBER);
	CHECK_EQUAL(call.arguments[1].value.real, real);
	CHECK(call.arguments[1].value.number == expected);
}

static void test_numbers(void)
{
	number_is("512", false, 512);
	number_is("2+3*4", false, 14);
	number_is("(2+3)*4 - -1", false, 21);
	number_is("7/2", false, 3);
	number_is("-7/2", false, -3);
	number_is("7/2.0", true, 3.5);
	number_is("1e3", true, 1000);
	number_is("1.5f", true, 1.5);
	number_is("2f", true, 2);
	number_is("n*n+n", false, 56);
	number_is("3-5", false, -2);
	number_is("0x10", false, 16);
	number_is("null", false, 0);
	number_is("18446744073709551615", false, 18446744073709551615.0);
	CHECK(call.arguments[1].value.magnitude == UINT64_MAX);
	refused("k<<<1,1>>>(18446744073709551616)", "at '18446744073709551616)': a number of more than 64 bits");
	refused("k<<<1,1>>>(18446744073709551615+1)", "at ')': a number of more than 64 bits");
	refused("k<<<1,1>>>(4294967296*4294967296)", "at ')': a number of more than 64 bits");
	refused("k<<<1,1>>>(0x10000000000000000)", "at '0x10000000000000000)': a number of more than 64 bits");
	refused("k<<<1,1>>>(1/0)", "at ')': division by 0");
	refused("k<<<1,1>>>(2*)", "at ')': expected a number");
	refused("k<<<1,1>>>(2*m)", "at 'm)': expected a number, or the name of one given before");
	refused("k<<<1,1>>>(1e999)", "at '1e999)': a number of more than 64 bits");
}

static void bits_are(const char *text, enum gt_ptx_type type, int result, uint64_t expected)
{
	uint64_t bits = 0;

	number_is("0", false, 0);
	const char *at = text;
	CHECK_EQUAL(gt_ptx_value_read(&call, &at, &call.arguments[1].value, &error), 0);
	CHECK_EQUAL(gt_ptx_value_bits(&call.arguments[1].value, type, &bits, &error), result);
	if (result == 0 && bits != expected) {
		printf("# %s: %llx\n", text, (unsigned long long)bits);
		CHECK(bits == expected);
	}
}

static void test_bits(void)
{
	bits_are("255", GT_PTX_U8, 0, 255);
	bits_are("256", GT_PTX_U8, -1, 0);
	bits_are("-128", GT_PTX_U8, 0, 128);
	bits_are("-129", GT_PTX_S8, -1, 0);
	bits_are("-1", GT_PTX_U32, 0, UINT32_MAX);
	bits_are("-1", GT_PTX_U64, 0, UINT64_MAX);
	bits_are("1.0", GT_PTX_U32, -1, 0);
	bits_are("1.0", GT_PTX_B32, 0, 0x3f800000);
	bits_are("1", GT_PTX_B32, 0, 1);
	bits_are("1", GT_PTX_F32, 0, 0x3f800000);
	bits_are("0.1", GT_PTX_F32, 0, 0x3dcccccd);
	bits_are("0.1", GT_PTX_F64, 0, UINT64_C(0x3fb999999999999a));
	bits_are("1", GT_PTX_F16, 0, 0x3c00);
	bits_are("-2.5", GT_PTX_F16, 0, 0xc100);
	bits_are("65504", GT_PTX_F16, 0, 0x7bff);
	bits_are("65519", GT_PTX_F16, 0, 0x7bff);
	bits_are("65520", GT_PTX_F16, 0, 0x7c00);
	bits_are("2049", GT_PTX_F16, 0, 0x6800); /* a tie goes to even */
	bits_are("2051", GT_PTX_F16, 0, 0x6802);
	bits_are("1/16777216.0", GT_PTX_F16, 0, 1); /* the smallest denormal */
	bits_are("0.99999/16384", GT_PTX_F16, 0, 0x0400);
	bits_are("0.9999", GT_PTX_F16, 0, 0x3c00);
}

/* ---- with a kernel ---- */

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 x, .param .align 8 .b8 s[4]) "
	".maxntid 256\n{ ret; }\n.entry one(.param .u64 a) .reqntid 8, 2 { ret; }\n";

static struct gt_ptx_module module;
static struct gt_ptx_memory memory;
static struct gt_ptx_buffers buffers;
static unsigned char *parameters;

static int bind(const char *line)
{
	const struct gt_ptx_function *kernel;

	CHECK_EQUAL(read(line), 0);
	free(parameters);
	return gt_ptx_launch_line_bind(&call, &module, &buffers, &memory, &kernel, &parameters, &error);
}

static void unbound(const char *line, const char *message)
{
	CHECK_EQUAL(bind(line), -1);
	CHECK_TEXT(error.text, message);
}

static const void *contents(const char *name)
{
	const struct gt_ptx_buffer *buffer = gt_ptx_buffer_find(&buffers, name);

	return gt_ptx_at(&memory, buffer->address, buffer->elements * gt_ptx_type_size(buffer->type));
}

static void begin(void)
{
	gt_ptx_buffers_free(&buffers);
	gt_ptx_memory_close(&memory);
	gt_ptx_module_free(&module);
	CHECK_EQUAL(gt_ptx_parse(&module, "k.ptx", text, strlen(text), &error), 0);
	CHECK_EQUAL(gt_ptx_memory_open(&memory, UINT64_C(1) << 30, &error), 0);
}

static void test_binding(void)
{
	uint64_t address, again;
	uint32_t n;

	begin();
	CHECK_EQUAL(bind("k<<<1,32>>>(A=f32[10]:ramp, A, n=5, 2, hex(01020aFF))"), 0);
	memcpy(&address, parameters, 8);
	memcpy(&again, parameters + 8, 8);
	CHECK(address == GT_PTX_GLOBAL_BASE && again == address);
	memcpy(&n, parameters + 16, 4);
	CHECK_EQUAL(n, 5);
	CHECK_EQUAL(memcmp(parameters + 20, "\0\0\0\x40\1\2\x0a\xff", 8), 0);
	CHECK_EQUAL(bind("k<<<1,32>>>(A, null, -1, 2.5, hex(00000000))"), 0);
	memcpy(&again, parameters, 8);
	CHECK(again == address);
	unbound("k<<<1,1>>>(A)", "k: 1 arguments, the kernel has 5 parameters");
	unbound("k<<<1,257>>>(A,A,1,1,hex(00))", "k: blocks of 257 threads, its .maxntid allows 256");
	unbound("one<<<1,16>>>(A)", "one: blocks of (16,1,1), its .reqntid is (8,2,1)");
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(f64[3])"), 0);
	unbound("k<<<1,1>>>(A,A,1,1,1)", "k, argument 5, '1)': a parameter of 4 bytes is written hex(...)");
	unbound("k<<<1,1>>>(A,A,1,1,hex(00))", "k, argument 5, 'hex(00))': 1 bytes for a parameter of 4");
	unbound("k<<<1,1>>>(A,B,1,1,hex(00))", "k, argument 2, 'B,1,1,hex(00))': no buffer 'B' was made before");
	unbound("k<<<1,1>>>(A,A,A,1,hex(00))", "k, argument 3, 'A,1,hex(00))': a buffer for a parameter of type .u32, which is not a pointer");
	unbound("k<<<1,1>>>(A,A,1.5,1,hex(00))", "k, argument 3, '1.5,1,hex(00))': 1.5 is not a whole number, which .u32 needs");
	unbound("k<<<1,1>>>(A,A,5000000000,1,hex(00))",
		"k, argument 3, '5000000000,1,hex(00))': 5000000000 does not fit into the 32 bits of .u32");
	unbound("k<<<1,1>>>(A=f32[1],A,1,1,hex(00))",
		"k, argument 1, 'A=f32[1],A,1,1,hex(00))': 'A' has been made before; its name alone refers to it");
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(f64[1000000000])"), -1);
}

static void test_grammar_of_buffers(void)
{
	CHECK_EQUAL(read("k<<<1,1>>>(n = 4, A = f16[ n*n ] : rand(-1, 5), u8[3]:const(7), x=s64[1]:ramp(-1,2), f32[]:@a b )"), 0);
	CHECK_EQUAL(call.n, 5);
	CHECK_EQUAL(call.arguments[1].buffer.elements, 16);
	CHECK_TEXT(call.arguments[1].buffer.name, "A");
	CHECK(call.arguments[1].buffer.below);
	CHECK_TEXT(call.arguments[4].buffer.file, "a b");
	refused("k<<<1,1>>>(f33[4])", "at 'f33[4])': expected a type: u8, s8, u16, s16, u32, s32, u64, s64, f16, f32 or f64");
	refused("k<<<1,1>>>(f32[0])", "at '0])': expected a whole number from 1 to 17179869184");
	refused("k<<<1,1>>>(f32[])", "at '])': expected a number of elements: only a file tells it by itself");
	refused("k<<<1,1>>>(f32[4]:noise)", "at 'noise)': expected zero, ramp, ramp(start, step), rand(seed), rand(seed, below), "
		"const(x) or @file");
	refused("k<<<1,1>>>(f32[4]:rand)", "at ')': expected '('");
	refused("k<<<1,1>>>(f32[4]:const(1,2))", "at 'const(1,2))': more values than it takes");
	refused("k<<<1,1>>>(f32[4]:@)", "at ')': expected a file");
	refused("k<<<1,1>>>(f32[4)", "at ')': expected ']'");
	refused("k<<<1,1>>>(f64[9999999999])", "at '9999999999])': expected a whole number from 1 to 8589934592");
	refused("k<<<1,1>>>(hex(0))", "at '0))': expected an even number of hexadecimal digits");
	refused("k<<<1,1>>>(x=y)", "at 'y)': expected a buffer such as f32[100], or a number");
}

static void test_grammar_of_images(void)
{
	CHECK_EQUAL(read("k<<<1,1>>>(tex(f32[4*8*2] : ramp , 4, 2*4 , linear, normalized, wrap), surf( u8[] : @texels , 16 , 2,3 ))"), 0);
	CHECK_EQUAL(call.n, 2);
	const struct gt_ptx_texture *texture = &call.arguments[0].image, *surface = &call.arguments[1].image;
	CHECK(texture->image.width == 4 && texture->image.height == 8 && texture->image.depth == 1 && texture->image.dimensions == 2);
	CHECK(texture->linear && texture->normalized && !texture->scaled && !texture->surface && texture->modes[2] == GT_PTX_WRAP);
	CHECK(call.arguments[0].buffer.elements == 64 && call.arguments[0].buffer.fill == GT_PTX_RAMP);
	CHECK(surface->surface && surface->image.dimensions == 3 && surface->image.depth == 3 && surface->modes[0] == GT_PTX_CLAMP);
	CHECK_TEXT(call.arguments[1].buffer.file, "texels");
	refused("k<<<1,1>>>(tex(f64[4], 4))", "at 'f64[4], 4))': expected texels: u8, s8, u16, s16, u32, s32, f16 or f32, with their number in brackets");
	refused("k<<<1,1>>>(tex(A, 4))", "at 'A, 4))': expected texels: u8, s8, u16, s16, u32, s32, f16 or f32, with their number in brackets");
	refused("k<<<1,1>>>(tex(f32[4]))", "at '))': expected ', WIDTH'");
	refused("k<<<1,1>>>(tex(f32[4], 0))", "at '0))': expected a whole number from 1 to 131072");
	refused("k<<<1,1>>>(tex(f32[4], linear))", "at 'linear))': expected a number, or the name of one given before");
	refused("k<<<1,1>>>(tex(f32[4], 1, 2, 2, 1))", "at '1))': expected linear, normalized, scaled, wrap, clamp, mirror or border, of a texture");
	refused("k<<<1,1>>>(surf(f32[4], 4, 1, 1, linear))", "at 'linear))': expected linear, normalized, scaled, wrap, clamp, mirror or border, of a texture");
	refused("k<<<1,1>>>(tex(f32[4], 4, mirror))", "at 'f32[4], 4, mirror))': wrap and mirror are for normalized coordinates");
	refused("k<<<1,1>>>(tex(f32[4], 4", "at the end: expected ')'");
	refused("k<<<1,1>>>(t=tex(f32[4], 4))", "at 'tex(f32[4], 4))': expected a buffer such as f32[100], or a number");
}

static void test_fills(void)
{
	const float *f;
	const uint8_t *u8;
	const int64_t *s64;
	const uint32_t *u32;
	const uint16_t *f16;
	char line[256], path[] = "/tmp/ptx_launch.XXXXXX";
	int descriptor = mkstemp(path);
	FILE *file = fdopen(descriptor, "wb");

	fwrite("abcdefgh", 1, 8, file);
	fclose(file);
	begin();
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(Z=f32[5])"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(R=u8[300]:ramp)"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(S=s64[3]:ramp(-1,-2))"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(F=f32[300]:rand(1))"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(G=u32[300]:rand(1,10))"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(H=f16[3]:const(0.5))"), 0);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(I=u32[3]:rand(1))"), 0);
	f = contents("Z");
	CHECK(f[0] == 0 && f[4] == 0);
	u8 = contents("R");
	CHECK(u8[0] == 0 && u8[255] == 255 && u8[299] == 43);
	s64 = contents("S");
	CHECK(s64[0] == -1 && s64[2] == -5);
	f = contents("F");
	u32 = contents("G");
	for (int i = 0; i < 300; i++)
		CHECK(f[i] >= 0 && f[i] < 1 && u32[i] < 10);
	/* SplitMix64 of seed 1 begins with 910a2dec89025cc1, as its authors' program prints. */
	CHECK(f[0] == (float)0x910a2d / 0x1p24f);
	CHECK_EQUAL(u32[0], 5);
	u32 = contents("I");
	CHECK_EQUAL(u32[0], 0x910a2dec);
	f16 = contents("H");
	CHECK_EQUAL(f16[2], 0x3800);
	snprintf(line, sizeof line, "one<<<1,(8,2)>>>(J=u16[]:@%s)", path);
	CHECK_EQUAL(bind(line), 0);
	CHECK_EQUAL(gt_ptx_buffer_find(&buffers, "J")->elements, 4);
	CHECK(memcmp(contents("J"), "abcdefgh", 8) == 0);
	snprintf(line, sizeof line, "one<<<1,(8,2)>>>(u16[5]:@%s)", path);
	CHECK_EQUAL(bind(line), -1);
	CHECK(strstr(error.text, "expected 10 bytes, found fewer"));
	snprintf(line, sizeof line, "one<<<1,(8,2)>>>(u16[3]:@%s)", path);
	CHECK_EQUAL(bind(line), -1);
	CHECK(strstr(error.text, "expected 6 bytes, found more"));
	remove(path);
	CHECK_EQUAL(bind(line), -1);
	CHECK(strstr(error.text, "No such file"));
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(u16[3]:const(1.5))"), -1);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(u16[3]:ramp(0,0.5))"), -1);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(u8[3]:rand(1,257))"), -1);
	CHECK_EQUAL(bind("one<<<1,(8,2)>>>(u8[3]:rand(1,256))"), 0);
}

/* Lines with random damage are read or refused, no more. */
static void test_damage(void)
{
	static const char good[] = "k<<<(16,n*2),(32,8),64>>>(A=f32[512*512]:ramp(0,1), B=u8[n]:rand(1,9), A, hex(00ff), -1.5e3)";
	static const char alphabet[] = "<>(),:=[]*/+-.0123456789nAfx@ ";
	uint64_t state = 99;
	char line[sizeof good];
	unsigned accepted = 0;

	for (unsigned round = 0; round < 50000; round++) {
		memcpy(line, good, sizeof good);
		for (unsigned i = 0; i < 1 + round % 3; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			line[(state >> 33) % (sizeof good - 1)] = alphabet[(state >> 20) % (sizeof alphabet - 1)];
		}
		line[round % 5 == 0 ? (state >> 40) % sizeof good : sizeof good - 1] = '\0';
		accepted += read(line) == 0;
	}
	CHECK(accepted < 50000);
	char *deep = malloc(100000);
	size_t n = (size_t)sprintf(deep, "k<<<1,1>>>(");
	memset(deep + n, '(', 99999 - n);
	deep[99999] = '\0';
	CHECK_EQUAL(read(deep), -1);
	memset(deep + n, '-', 99999 - n);
	CHECK_EQUAL(read(deep), -1);
	free(deep);
}

int main(void)
{
	RUN(test_shape);
	RUN(test_numbers);
	RUN(test_bits);
	RUN(test_binding);
	RUN(test_grammar_of_buffers);
	RUN(test_grammar_of_images);
	RUN(test_fills);
	RUN(test_damage);
	free(parameters);
	gt_ptx_launch_line_free(&call);
	gt_ptx_buffers_free(&buffers);
	gt_ptx_memory_close(&memory);
	gt_ptx_module_free(&module);
	return check_report();
}
