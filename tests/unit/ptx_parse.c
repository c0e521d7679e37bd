/* SPDX-License-Identifier: MIT */
/* The PTX parser: every form that nvcc and clang write and the manual allows, then damage. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/ptx/text/parse.h"
#include "cuda/ptx/text/module.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

static struct gt_ptx_module module;
static struct gt_error error;

static int parse(const char *text)
{
	gt_ptx_module_free(&module);
	return gt_ptx_parse(&module, "k.ptx", text, strlen(text), &error);
}

static void refused(const char *text, const char *message)
{
	CHECK_EQUAL(parse(text), -1);
	CHECK_TEXT(error.text, message);
}

/* ---- tokens ---- */

static void number_is(const char *text, bool fits, uint64_t bits, bool is_float, bool is_single)
{
	struct gt_ptx_lexer lexer;
	struct gt_ptx_token token;
	struct gt_ptx_number number;

	gt_ptx_lex_begin(&lexer, text, strlen(text));
	gt_ptx_lex(&lexer, &token);
	CHECK_EQUAL(token.kind, GT_PTX_TOKEN_NUMBER);
	CHECK_EQUAL(token.length, strlen(text));
	CHECK_EQUAL(gt_ptx_lex_number(&token, &number), fits);
	if (fits) {
		CHECK(number.bits == bits);
		CHECK_EQUAL(number.is_float, is_float);
		CHECK_EQUAL(number.is_single, is_single);
	}
}

static void test_numbers(void)
{
	number_is("0", true, 0, false, false);
	number_is("18446744073709551615", true, UINT64_MAX, false, false);
	number_is("18446744073709551616", false, 0, false, false);
	number_is("0xFFFFFFFFFFFFFFFFU", true, UINT64_MAX, false, false);
	number_is("0x10000000000000000", false, 0, false, false);
	number_is("0x1E", true, 30, false, false);
	number_is("0b1011", true, 11, false, false);
	number_is("0b12", false, 0, false, false);
	number_is("017", true, 15, false, false);
	number_is("019", false, 0, false, false);
	number_is("42U", true, 42, false, false);
	number_is("0f3F800000", true, 0x3f800000, true, true);
	number_is("0f3F80000", false, 0, true, true);
	number_is("0d3FF0000000000000", true, UINT64_C(0x3ff0000000000000), true, false);
	number_is("1.5", true, UINT64_C(0x3ff8000000000000), true, false);
	number_is("15E-1", true, UINT64_C(0x3ff8000000000000), true, false);
	number_is("12abc", false, 0, false, false);
}

/* ---- a module ---- */

static void test_module(void)
{
	CHECK_EQUAL(parse("// a comment\n/* one\nof lines */\n" HEAD
			  ".file 1 \"a \\\" b.cu\", 1700000000, 123\n"
			  ".pragma \"x\";\n.section .debug_str\n{\n$L_a:\n.b8 1,2 // }\n.b64 $L_a+4\n{ }\n}\n"
			  ".visible .global .align 4 .b8 hole[]={1,2,0x3};.extern .shared .align 16 .b8 dyn[];\n"), 0);
	CHECK_EQUAL(module.version, 900);
	CHECK_EQUAL(module.target.capability, 75);
	CHECK_EQUAL(module.target.features, 0);
	CHECK_EQUAL(module.address_size, 64);
	CHECK_EQUAL(module.n_variables, 2);
	CHECK_EQUAL(module.variables[0].bytes, 3);
	CHECK_EQUAL(module.variables[0].alignment, 4);
	CHECK_EQUAL(module.variables[0].line, 16);
	CHECK_EQUAL(module.variables[1].bytes, 0);
	CHECK_EQUAL(module.variables[1].elements, 0);
	CHECK_EQUAL(module.variables[1].alignment, 16);
	CHECK(module.variables[1].external);
	CHECK_EQUAL(module.variables[1].space, GT_PTX_SHARED);
	CHECK_EQUAL(parse(".version 7.8\n.target sm_90a, debug\n"), 0);
	CHECK_EQUAL(module.version, 780);
	CHECK_EQUAL(module.target.capability, 90);
	CHECK_EQUAL(module.target.features, 'a');
	CHECK_EQUAL(parse(".version 8.8\n.target sm_103f\n"), 0);
	CHECK_EQUAL(module.target.capability, 103);
	CHECK_EQUAL(module.target.features, 'f');
	CHECK_EQUAL(parse(".version 8.8\n.target sm_100g\n"), -1);
	CHECK_TEXT(error.text, "k.ptx:2: expected a target such as sm_75, found 'sm_100g'");
}

static uint32_t word(const struct gt_ptx_variable *variable, size_t i)
{
	uint32_t bits;

	memcpy(&bits, variable->initial + 4 * i, 4);
	return bits;
}

static void test_initial_values(void)
{
	const uint32_t nested[] = {1, 2, 0, 3, 0, 0, 4, 5, 6}, half = 0x3f000000;

	CHECK_EQUAL(parse(HEAD ".global .u32 a[3][3] = {{1, 2}, {3}, {4, 5, 6}};\n"
			       ".const .f32 b[] = {0f3F000000, 0.5, 1, -2.0};\n"
			       ".global .f64 c = 0d4000000000000000;\n"
			       ".global .u64 d[4] = {a, b+8, generic(a)+4, generic(a+12)};\n"
			       ".global .v2 .u32 e[2] = {{1, 2}, {3, 4}};\n"
			       ".global .s16 f[2*(1+1)] = {-1, (1<<3)|1, 7 %3, 5 > 4 ? 2 : 9};\n"
			       ".global .align 8 .b8 g[16] = {1, 0,0,0,0,0,0,0, 0xff(a), 0xff00(a), 0xff0000(a),"
			       " 0xff000000(a), 0xff00000000(a), 0xff0000000000(a), 0xff000000000000(a),"
			       " 0xff00000000000000(a)};\n"
			       ".global .u32 h, i = 8, j[4];\n"
			       ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };\n"), 0);
	const struct gt_ptx_variable *v = module.variables;
	CHECK_EQUAL(module.n_variables, 11);
	CHECK_EQUAL(v[0].elements, 9);
	for (size_t i = 0; i < 9; i++)
		CHECK_EQUAL(word(&v[0], i), nested[i]);
	CHECK_EQUAL(v[1].elements, 4);
	CHECK_EQUAL(word(&v[1], 0), half);
	CHECK_EQUAL(word(&v[1], 1), half);
	CHECK_EQUAL(word(&v[1], 2), 0x3f800000);
	CHECK_EQUAL(word(&v[1], 3), 0xc0000000);
	CHECK_EQUAL(word(&v[2], 1), 0x40000000);
	CHECK_EQUAL(v[3].n_references, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQUAL(v[3].references[i].offset, 8 * i);
	CHECK_TEXT(v[3].references[1].symbol, "b");
	CHECK_EQUAL(v[3].references[0].addend, 0);
	CHECK_EQUAL(v[3].references[1].addend, 8);
	CHECK_EQUAL(v[3].references[2].addend, 4);
	CHECK_EQUAL(v[3].references[3].addend, 12);
	CHECK_EQUAL(v[4].vector, 2);
	CHECK_EQUAL(v[4].alignment, 8);
	CHECK_EQUAL(v[4].bytes, 16);
	CHECK_EQUAL(word(&v[4], 3), 4);
	CHECK_EQUAL(v[5].elements, 4);
	CHECK_EQUAL(word(&v[5], 0), 0x0009ffff);
	CHECK_EQUAL(word(&v[5], 1), 0x00020001);
	CHECK_EQUAL(v[6].n_references, 1);
	CHECK_EQUAL(v[6].references[0].offset, 8);
	CHECK(!v[7].initial && v[7].bytes == 4);
	CHECK_EQUAL(word(&v[8], 0), 8);
	CHECK_EQUAL(v[9].bytes, 16);
	CHECK_EQUAL(v[10].type, GT_PTX_TEXREF);
}

/* ---- functions ---- */

static const char kernels[] = HEAD
	".extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 p1);\n"
	".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
	"ld.param.u32 %r1, [x]; add.s32 %r2, %r1, %r1; st.param.b32 [r+0], %r2; ret;\n}\n"
	".alias both, twice;\n"
	".visible .entry _Z4gemmPKfS0_Pfi(\n"
	"	.param .u64 .ptr .global .align 1 gemm_0,\n"
	"	.param .align 8 .b8 gemm_1[24],\n	.param .f32 gemm_2\n)\n"
	".maxntid 256, 2, 1\n.minnctapersm 2\n.maxnreg 40\n.pragma \"nounroll\";\n"
	"{\n"
	"	.reg .pred %p<4>;\n	.reg .b32 %r<9>;\n	.reg .f32 f, g; .reg .b64 %rd<4>;\n"
	"	.shared .align 4 .b8 tile[1024];\n"
	"	.loc 1 5 3, function_name $L__info_string0, inlined_at 1 4 3\n"
	"	ld.param.u64 %rd1, [gemm_0];\n"
	"$L__BB0_1:\n"
	"	@!%p1 bra $L__BB0_1;\n"
	"	setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\n"
	"	mov.u32 %r1, %tid.x;\n"
	"	ld.global.nc.L2::128B.v4.f32 {f, _, g, f}, [%rd1+-16];\n"
	"	st.shared.f32 [tile+8], 0f3F800000;\n"
	"	mov.u32 %r2, tile+4;\n"
	"	tex.1d.v4.f32.s32 {f, f, f, f}, [%rd2, {%r1}];\n"
	"	tex.2d.v4.f32.f32 {f, f, f, f}, [%rd2, %rd3, {f, g}];\n"
	"	mov.u32 %r3, WARP_SZ;\n"
	"	ld.u32 %r1, [16];\n"
	"	shfl.sync.up.b32 %r1|_, %r2, 0x1, 0, -1;\n"
	"	{\n	.reg .b32 temp_param_reg;\n	.param .b32 param0;\n	st.param.b32 [param0+0], %r1;\n"
	"	.param .b32 retval0;\n	call.uni (retval0),\n twice,\n (\n param0\n );\n"
	"	ld.param.b32 temp_param_reg, [retval0+0]; }\n"
	"	{ .reg .pred p; .reg .u32 t<3>; LAB: @p bra LAB; @!p bra DONE; mov.u32 t1, %clock; mov.u32 t12, 0; DONE: }\n"
	"	{ .reg .pred p; LAB: bra LAB; bra $L__BB0_1; }\n"
	"	{ .param .b32 param0;\n"
	"	prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);\n"
	"	call (f), %rd1, (param0, %r1), prototype_0; }\n"
	"	call both, (%r1);\n	call.uni twice;\n"
	"ts: .branchtargets $L__BB0_1, END;\n"
	"	@%p1 brx.idx %r1, ts;\n"
	"END: bar.sync 0;\n"
	"	ret;\n"
	"}\n"
	".entry bare { exit; }\n.weak .func bare2 { ret; }\n.func bare2() { }\n";

static void test_functions(void)
{
	CHECK_EQUAL(parse(kernels), 0);
	CHECK_EQUAL(module.n_functions, 7);
	const struct gt_ptx_function *f = module.functions;
	CHECK(f[0].declaration && f[0].n_parameters == 2 && f[0].n_returns == 1);
	CHECK(!f[1].entry && f[1].n_instructions == 4);
	CHECK_TEXT(f[2].name, "both");
	CHECK(f[2].instructions == f[1].instructions);
	CHECK(gt_ptx_function_named(&module, "vprintf") == NULL);
	CHECK(gt_ptx_function_named(&module, "twice") == &f[1]);
	CHECK(gt_ptx_function_named(&module, "bare2") == &f[6]);
	CHECK(gt_ptx_kernel(&module, "twice") == NULL);
	CHECK(gt_ptx_kernel(&module, "gemm") == &f[3]);
	CHECK(gt_ptx_kernel(&module, "_Z4gemmPKfS0_Pfi") == &f[3]);
	CHECK(gt_ptx_kernel(&module, "gem") == NULL);
	CHECK_EQUAL(f[3].n_parameters, 3);
	CHECK_EQUAL(f[3].parameters[0].alignment, 8);
	CHECK_EQUAL(f[3].parameters[1].bytes, 24);
	CHECK_EQUAL(f[3].parameters[1].alignment, 8);
	CHECK_EQUAL(f[3].max_threads[0], 256);
	CHECK_EQUAL(f[3].max_threads[1], 2);
	CHECK_EQUAL(f[3].required_threads[0], 0);
	CHECK_EQUAL(f[3].max_registers, 40);
	CHECK_EQUAL(f[3].line, 11);
}

/* The i-th instruction of that opcode in the kernel. */
static const struct gt_ptx_instruction *find(const char *opcode, size_t i)
{
	const struct gt_ptx_function *kernel = &module.functions[3];

	for (size_t at = 0; at < kernel->n_instructions; at++)
		if (strcmp(kernel->instructions[at].opcode, opcode) == 0 && i-- == 0)
			return &kernel->instructions[at];
	CHECK_TEXT("no such instruction", opcode);
	exit(1);
}

static void test_operands(void)
{
	const struct gt_ptx_instruction *in;

	CHECK_EQUAL(parse(kernels), 0);
	in = find("setp", 0);
	CHECK_EQUAL(in->line, 29);
	CHECK_EQUAL(in->n_modifiers, 3);
	CHECK(gt_ptx_has(in, "and") && gt_ptx_has(in, "s32") && !gt_ptx_has(in, "u32"));
	CHECK_EQUAL(in->n_operands, 5);
	CHECK_TEXT(in->operands[1].name, "%p2");
	CHECK(in->operands[3].kind == GT_PTX_IMMEDIATE && in->operands[3].bits == (uint64_t)-5);
	CHECK(in->operands[4].negated && !in->operands[0].negated);
	in = find("bra", 0);
	CHECK(in->guard_negated);
	CHECK_TEXT(in->guard, "%p1");
	CHECK(in->operands[0].kind == GT_PTX_SYMBOL);
	in = find("mov", 0);
	CHECK(in->operands[1].kind == GT_PTX_REGISTER);
	CHECK_TEXT(in->operands[1].name, "%tid.x");
	in = find("ld", 1);
	CHECK_TEXT(in->modifiers[2], "L2::128B");
	CHECK_EQUAL(in->operands[0].n_elements, 4);
	CHECK(in->operands[0].elements[0].kind == GT_PTX_REGISTER);
	CHECK(in->operands[0].elements[1].kind == GT_PTX_SINK);
	CHECK(in->operands[1].kind == GT_PTX_ADDRESS && in->operands[1].offset == -16);
	in = find("st", 0);
	CHECK_TEXT(in->operands[0].name, "tile");
	CHECK(in->operands[0].offset == 8 && in->operands[1].is_single);
	in = find("mov", 1);
	CHECK(in->operands[1].kind == GT_PTX_SYMBOL && in->operands[1].offset == 4);
	in = find("tex", 0);
	CHECK_EQUAL(in->operands[1].n_elements, 1);
	CHECK(in->operands[1].elements[0].kind == GT_PTX_VECTOR);
	in = find("tex", 1);
	CHECK_EQUAL(in->operands[1].n_elements, 2);
	CHECK_TEXT(in->operands[1].elements[1].elements[1].name, "g");
	in = find("mov", 2);
	CHECK(in->operands[1].kind == GT_PTX_IMMEDIATE && in->operands[1].bits == 32);
	in = find("ld", 2);
	CHECK(in->operands[1].kind == GT_PTX_ADDRESS && !in->operands[1].name && in->operands[1].offset == 16);
	in = find("shfl", 0);
	CHECK_EQUAL(in->n_operands, 6);
	CHECK(in->operands[1].kind == GT_PTX_SINK && in->operands[5].bits == UINT64_MAX);
}

static void test_scopes_and_calls(void)
{
	const struct gt_ptx_instruction *in;

	CHECK_EQUAL(parse(kernels), 0);
	in = find("st", 1);
	CHECK_TEXT(in->operands[0].name, "param0#1");
	in = find("call", 0);
	CHECK_TEXT(in->operands[0].name, "twice");
	CHECK(in->n_returns == 1 && in->n_arguments == 1);
	CHECK(in->arguments[0].name == find("st", 1)->operands[0].name);
	in = find("ld", 3);
	CHECK(in->operands[0].kind == GT_PTX_REGISTER);
	CHECK_TEXT(in->operands[0].name, "temp_param_reg#1");
	/* Numbered registers without %, of which t12 is none, and labels of each its own scope. */
	CHECK_TEXT(find("mov", 3)->operands[0].name, "t#2#1");
	CHECK_TEXT(find("mov", 4)->operands[0].name, "t12");
	CHECK_TEXT(find("bra", 1)->operands[0].name, "LAB#2");
	CHECK_TEXT(find("bra", 1)->guard, "p#2");
	CHECK_TEXT(find("bra", 2)->operands[0].name, "DONE#2");
	CHECK_TEXT(find("bra", 3)->operands[0].name, "LAB#3");
	CHECK_TEXT(find("bra", 4)->operands[0].name, "$L__BB0_1");
	in = find("call", 1);
	CHECK(in->operands[0].kind == GT_PTX_REGISTER && in->n_operands == 2 && in->n_arguments == 2);
	CHECK_TEXT(in->arguments[0].name, "param0#4");
	CHECK_EQUAL(find("call", 2)->n_arguments, 1);
	CHECK_EQUAL(find("call", 3)->n_arguments, 0);
	in = find("brx", 0);
	CHECK(in->operands[1].kind == GT_PTX_VECTOR && in->operands[1].n_elements == 2);
	CHECK_TEXT(in->operands[1].elements[1].name, "END");
	const struct gt_ptx_function *kernel = &module.functions[3];
	CHECK_EQUAL(kernel->n_labels, 5);
	CHECK_TEXT(kernel->labels[4].name, "END");
	CHECK(&kernel->instructions[kernel->labels[4].at] == find("bar", 0));
	/* Labels, operands and guards of one name are one pointer. */
	CHECK(kernel->labels[4].name == in->operands[1].elements[1].name);
	CHECK(find("mov", 0)->opcode == find("mov", 1)->opcode);
}

static void test_names(void)
{
	const struct { const char *mangled, *plain; } names[] = {
		{"gemm", "gemm"}, {"_Z4gemmPKfS0_Pfi", "gemm"}, {"_ZL3abcv", "abc"}, {"_ZN2ns1k6kernelIfEEvPf", "kernel"},
		{"_Z99x", "_Z99x"}, {"_Z", "_Z"}, {"_ZN12_GLOBAL__N_13addEv", "add"},
		{"__nv_static_23__1d49a393_4_b_cu_factor__Z5localPi$unit2", "local"}, {"__nv_static_23_short", "__nv_static_23_short"},
		{"__nv_static_1__a_5local", "__nv_static_1__a_5local"},
		/* Variables: of a namespace, of a function, the second of that name there, of a template. */
		{"_ZN2ns3tabE", "tab"}, {"_ZL6hidden", "hidden"}, {"_ZZ9transposePKfPfiiE4tile", "tile"}, {"_ZZN2ns1kEPfiE4tile_0", "tile_0"},
		{"_ZZ4bodyILi16EEvPfE4tile", "tile"}, {"_ZZN1S1fIfEEvPT_E3buf", "buf"}, {"_ZZ2k2PfiE2E2", "E2"}, {"_ZZ1kvE4xE1a", "xE1a"},
		{"_ZZ1kvE", "_ZZ1kvE"}, {"_ZZ1kvE9a", "_ZZ1kvE9a"},
	};
	size_t length;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *plain = gt_ptx_plain_name(names[i].mangled, &length);
		CHECK_EQUAL(length, strlen(names[i].plain));
		CHECK(memcmp(plain, names[i].plain, length) == 0);
	}
	/* Two kernels of one plain name: neither is meant. */
	CHECK_EQUAL(parse(HEAD ".entry _Z1kIfEvv{ret;}.entry _Z1kIdEvv{ret;}"), 0);
	CHECK(gt_ptx_kernel(&module, "k") == NULL);
	CHECK(gt_ptx_kernel(&module, "_Z1kIdEvv") == &module.functions[1]);
}

static void test_types(void)
{
	for (int type = GT_PTX_B8; type < GT_PTX_TYPES; type++) {
		const char *name = gt_ptx_type_name((enum gt_ptx_type)type);
		CHECK_EQUAL(gt_ptx_type_named(name, strlen(name)), type);
	}
	CHECK_EQUAL(gt_ptx_type_size(GT_PTX_B128), 16);
	CHECK_EQUAL(gt_ptx_type_size(GT_PTX_PRED), 0);
	CHECK_EQUAL(gt_ptx_type_named("f3", 2), GT_PTX_NO_TYPE);
}

/* ---- errors ---- */

#define BODY(TEXT) HEAD ".entry k() {\n" TEXT "\n}\n"

static void test_errors(void)
{
	refused("", "k.ptx:1: expected '.version', found the end of the text");
	refused("hello", "k.ptx:1: expected '.version', found 'hello'");
	refused(".version x", "k.ptx:1: expected a version such as 9.0, found 'x'");
	refused(".version 9.0\n.target 75", "k.ptx:2: expected a target such as sm_75, found '75'");
	refused(HEAD ".address_size 32", "k.ptx:4: expected an address size of 64, found '32'");
	refused(HEAD "/* no end\n\n", "k.ptx:4: a comment has no end: ''");
	refused(HEAD ".file 1 \"no end", "k.ptx:4: a string has no end: 'no end'");
	refused(HEAD "\x01", "k.ptx:4: a character that PTX does not have: '?'");
	refused(HEAD ".global .u33 x;", "k.ptx:4: expected a type, found '.u33'");
	refused(HEAD ".global .align 3 .u32 x;", "k.ptx:4: an alignment of 3 bytes is not a power of two");
	refused(HEAD ".global .u32 x", "k.ptx:4: expected ';', found the end of the text");
	refused(HEAD ".global .u32 x[0];", "k.ptx:4: the size of an array is not from 1 to 2^40");
	refused(HEAD ".global .u32 x[9000000][9000000];", "k.ptx:4: 'x' has more than 2^40 elements");
	refused(HEAD ".global .u32 x[][9000000][9000000]={1};", "k.ptx:4: 'x' has more than 2^40 elements");
	refused(HEAD ".global .u64 x[1000000000000];", "k.ptx:4: 'x' has more than 2^40 bytes");
	refused(HEAD ".global .u8 x[1000000000] = {1};", "k.ptx:4: more than 256 MiB of initial values");
	refused(HEAD ".global .u32 x[2] = {1,2,3};", "k.ptx:4: more initial values than 'x' has room for");
	refused(HEAD ".global .u32 x[2] = {{{1}}};", "k.ptx:4: initial values nested deeper than the dimensions of 'x'");
	refused(HEAD ".global .u32 x = y;", "k.ptx:4: the address of 'y' needs 64 bits, not .u32");
	refused(HEAD ".global .u32 x = 1/0;", "k.ptx:4: division by 0");
	refused(HEAD ".global .u32 x = 1.0;", "k.ptx:4: a floating-point initial value of type .u32");
	refused(HEAD ".shared .u32 x = 1;",
		"k.ptx:4: expected ',' or ';': only .global and .const variables have initial values, found '1'");
	refused(HEAD ".alias a, b;", "k.ptx:4: alias of 'b', which has no body before this line");
	refused(BODY("ld.global %r1 [x];"), "k.ptx:5: expected ',' or ';', found '['");
	refused(BODY("mov.u32 %r1, ;"), "k.ptx:5: expected an operand, found ';'");
	refused(BODY("mov.u32 %r1, 99999999999999999999;"),
		"k.ptx:5: expected a number of at most 64 bits, found '99999999999999999999'");
	refused(BODY("@%p0 ;"), "k.ptx:5: expected an instruction, a label, a directive or '}', found ';'");
	refused(BODY(".reg .b32 %r<3>;\n.reg .b32 %r<4>;"), "k.ptx:6: '%r' is declared twice");
	refused(BODY("A:\nA:"), "k.ptx:6: 'A' is declared twice");
	refused(BODY("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p;"), "k.ptx:5: 'a' with more than 14 modifiers");
	refused(BODY("call 5;"), "k.ptx:5: expected a function, found '5'");
	refused(HEAD ".entry k() {\nret;", "k.ptx:5: expected an instruction, a label, a directive or '}', found the end of the text");
}

/* Deep nesting of whatever nests. */
static void test_nesting(void)
{
	const char *open[] = {"{", "mov.u32 %r1, {", "mov.u32 %r1, (", "mov.u32 %r1, -", "mov.u32 %r1, [a,",
			      "mov.u32 %r1, 1?", "mov.u32 %r1, !"};
	static char text[1 << 20];

	for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
		const char *repeated = strrchr(open[i], ' ') ? strrchr(open[i], ' ') + 1 : open[i];
		size_t n = (size_t)snprintf(text, sizeof text, "%s.entry k() { %s", HEAD, open[i]);
		while (n + 8 < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s", repeated);
		CHECK_EQUAL(parse(text), -1);
	}
}

/* Every truncation, then random damage: parsed or refused, with no more than that. */
static void test_damage(void)
{
	const size_t length = strlen(kernels);
	static const char alphabet[] = "{}[]()<>.,;:|!@+-=0123456789%$_axfr \n\"/*";
	char *text = malloc(length + 1);
	uint64_t state = 12345;
	unsigned parsed = 0;

	for (size_t cut = 0; cut < length; cut++) {
		gt_ptx_module_free(&module);
		memcpy(text, kernels, cut);
		text[cut] = '\0';
		parsed += gt_ptx_parse(&module, "k.ptx", text, cut, &error) == 0;
	}
	CHECK(parsed > 0 && parsed < 60);
	parsed = 0;
	for (unsigned round = 0; round < 20000; round++) {
		memcpy(text, kernels, length + 1);
		for (unsigned i = 0; i < 1 + round % 4; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			text[(state >> 33) % length] = round % 3 ? alphabet[(state >> 20) % (sizeof alphabet - 1)]
								 : (char)(state >> 24);
		}
		gt_ptx_module_free(&module);
		int result = gt_ptx_parse(&module, "k.ptx", text, length, &error);
		parsed += result == 0;
		CHECK(result == 0 || strncmp(error.text, "k.ptx:", 6) == 0);
	}
	CHECK(parsed > 1000 && parsed < 19000);
	free(text);
}

/* ---- the table of opcodes ---- */

static size_t results_of(const char *statement)
{
	char text[512];

	snprintf(text, sizeof text,
		 HEAD ".entry k() { .reg .b32 %%r<9>; .reg .pred %%p<9>; %s; ret; }", statement);
	CHECK_EQUAL(parse(text), 0);
	return gt_ptx_results(&module.functions[0].instructions[0]);
}

/* The search halves the table: a row out of order is not found. */
static void test_opcodes(void)
{
	for (int row = GT_PTX_OP_OTHER + 1; row < GT_PTX_OP_COUNT; row++)
		CHECK_EQUAL(gt_ptx_opcode_named(gt_ptx_opcode_rows[row].name), row);
	CHECK_EQUAL(gt_ptx_opcode_named("ld"), GT_PTX_OP_LD);
	CHECK_EQUAL(gt_ptx_opcode_named("popc"), GT_PTX_OP_OTHER);
	CHECK_EQUAL(gt_ptx_opcode_named(""), GT_PTX_OP_OTHER);
	CHECK_EQUAL(gt_ptx_opcode_named("zzz"), GT_PTX_OP_OTHER);
}

static void test_results(void)
{
	CHECK_EQUAL(results_of("add.s32 %r1, %r2, %r3"), 1);
	CHECK_EQUAL(results_of("popc.b32 %r1, %r2"), 1);
	CHECK_EQUAL(results_of("st.global.u32 [%r1], %r2"), 0);
	CHECK_EQUAL(results_of("red.global.add.u32 [%r1], %r2"), 0);
	CHECK_EQUAL(results_of("atom.global.add.u32 %r0, [%r1], %r2"), 1);
	CHECK_EQUAL(results_of("bar.sync 0"), 0);
	CHECK_EQUAL(results_of("barrier.sync.aligned 0, 64"), 0);
	CHECK_EQUAL(results_of("bar.red.popc.u32 %r1, 0, %p1"), 1);
	CHECK_EQUAL(results_of("setp.lt.s32 %p1, %r1, %r2"), 1);
	CHECK_EQUAL(results_of("setp.lt.s32 %p1|%p2, %r1, %r2"), 2);
	CHECK_EQUAL(results_of("setp.lt.and.s32 %p1, %r1, %r2, %p3"), 1);
	CHECK_EQUAL(results_of("setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3"), 2);
	CHECK_EQUAL(results_of("shfl.down.b32 %r1|%p1, %r2, 1, 31"), 2);
	CHECK_EQUAL(results_of("shfl.sync.down.b32 %r1, %r2, 1, 31, -1"), 1);
	CHECK_EQUAL(results_of("elect.sync _|%p1, -1"), 2);
	CHECK_EQUAL(results_of("membar.gl"), 0);
	CHECK_EQUAL(results_of("activemask.b32 %r1"), 1);
}

int main(void)
{
	RUN(test_numbers);
	RUN(test_module);
	RUN(test_initial_values);
	RUN(test_functions);
	RUN(test_operands);
	RUN(test_scopes_and_calls);
	RUN(test_names);
	RUN(test_opcodes);
	RUN(test_results);
	RUN(test_types);
	RUN(test_errors);
	RUN(test_nesting);
	RUN(test_damage);
	gt_ptx_module_free(&module);
	return check_report();
}
