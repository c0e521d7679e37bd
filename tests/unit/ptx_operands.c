/* SPDX-License-Identifier: MIT */
/* Operands of each kind in each place of each opcode: what does not fit is refused with its line, and nothing crashes. Every
 * opcode of the table of opcodes has an instruction here that runs, and every lane operation makes one; each is damaged: an
 * operand of another kind, one more, one less, two that change places, another modifier. A number as the first argument is how many
 * damaged instructions are tried. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/static/static.h"

#define TEXT 256
#define BATCH 500
#define LINE 46 /* of the instruction in `before` */

static const char before[] =
	".version 8.8\n.target sm_90a\n.address_size 64\n"
	".global .align 128 .b8 g[4096];\n.const .align 16 .b8 c[64];\n.shared .align 128 .b8 s[4096];\n"
	".extern .shared .align 16 .b8 kept[];\n.global .texref t;\n.global .samplerref sampler;\n.global .surfref u;\n"
	".func (.reg .b32 %z) f(.reg .b32 %a)\n{\n\tmov.b32 %z, %a;\n\tret;\n}\n"
	".visible .entry k(.param .u64 x)\n{\n"
	"\t.local .align 16 .b8 l[64];\n\t.reg .pred %p<4>;\n\t.reg .b8 %c<4>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<12>;\n"
	"\t.reg .b64 %d<8>;\n\t.reg .u32 %u<2>;\n\t.reg .u64 %ud<2>;\n\t.reg .f32 %f<12>;\n\t.reg .f64 %e<4>;\n\t.reg .b128 %q<2>;\n"
	"\tmov.u64 %d0, g;\n\tmov.u64 %d1, s;\n\tmov.u64 %d2, 0;\n\tmov.u64 %d3, 64;\n"
	"\tmov.u32 %r0, s;\n\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 2;\n\tmov.u32 %r3, 3;\n"
	"\tmbarrier.init.shared.b64 [s+64], 32;\n\tsetp.eq.u32 %p1, %r1, 1;\n\tsetp.eq.u32 %p2, %r1, 2;\n"
	"\tmov.b16 %h1, 1;\n\tmov.b16 %h2, 2;\n\tmov.f32 %f1, 0f3f800000;\n\tmov.f64 %e1, 0d3ff0000000000000;\n"
	"\tJumps: .branchtargets L, M;\n\tProto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n\t";
static const char behind[] = "\nL:\n\tadd.u32 %r1, %r1, 1;\nM:\n\tret;\n}\n";

/* By opcode: one that runs, or is refused by name. */
static const char *const samples[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_ACTIVEMASK] = "activemask.b32 %r1",
	[GT_PTX_OP_ADD] = "add.s32 %r1, %r2, %r3",
	[GT_PTX_OP_ALLOCA] = "alloca.u64 %d4, %d5, 16",
	[GT_PTX_OP_AND] = "and.pred %p1, %p2, %p3",
	[GT_PTX_OP_APPLYPRIORITY] = "applypriority.global.L2::evict_normal [%d0], 128",
	[GT_PTX_OP_ATOM] = "atom.global.cas.b32 %r1, [%d0], %r2, %r3",
	[GT_PTX_OP_BAR] = "bar.red.popc.u32 %r1, 1, %r2, %p1",
	[GT_PTX_OP_BARRIER] = "barrier.sync 0, 32",
	[GT_PTX_OP_BRA] = "bra L",
	[GT_PTX_OP_BRKPT] = "brkpt",
	[GT_PTX_OP_BRX] = "brx.idx %r1, Jumps",
	[GT_PTX_OP_CALL] = "call (%r1), f, (%r2)",
	[GT_PTX_OP_CLUSTERLAUNCHCONTROL] = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+64]",
	[GT_PTX_OP_CP] = "cp.async.ca.shared.global [%r0], [%d0], 4, %r1",
	[GT_PTX_OP_CREATEPOLICY] = "createpolicy.fractional.L2::evict_first.b64 %d1, 0.5",
	[GT_PTX_OP_CVT] = "cvt.rni.sat.s32.f32 %r1, %f1",
	[GT_PTX_OP_CVTA] = "cvta.shared.u64 %d1, s",
	[GT_PTX_OP_DISCARD] = "discard.global.L2 [%d0], 128",
	[GT_PTX_OP_DIV] = "div.rn.f32 %f1, %f2, %f3",
	[GT_PTX_OP_ELECT] = "elect.sync %r1|%p1, -1",
	[GT_PTX_OP_EXIT] = "exit",
	[GT_PTX_OP_FENCE] = "fence.acq_rel.gpu",
	[GT_PTX_OP_GETCTARANK] = "getctarank.shared::cluster.u32 %r1, %r0",
	[GT_PTX_OP_GRIDDEPCONTROL] = "griddepcontrol.wait",
	[GT_PTX_OP_ISSPACEP] = "isspacep.shared %p1, %d1",
	[GT_PTX_OP_LD] = "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0+16]",
	[GT_PTX_OP_LDMATRIX] = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r0]",
	[GT_PTX_OP_LDU] = "ldu.global.u32 %r1, [%d0]",
	[GT_PTX_OP_LOP3] = "lop3.b32 %r1, %r2, %r3, %r4, 0x96",
	[GT_PTX_OP_MAD] = "mad.wide.s32 %d4, %r1, %r2, %d5",
	[GT_PTX_OP_MAD24] = "mad24.lo.s32 %r1, %r2, %r3, %r4",
	[GT_PTX_OP_MAPA] = "mapa.shared::cluster.u32 %r1, %r0, 0",
	[GT_PTX_OP_MATCH] = "match.all.sync.b32 %r1|%p1, %r2, -1",
	[GT_PTX_OP_MAX] = "max.f32 %f1, %f2, %f3",
	[GT_PTX_OP_MBARRIER] = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [s+64], 8",
	[GT_PTX_OP_MEMBAR] = "membar.gl",
	[GT_PTX_OP_MIN] = "min.s64 %d4, %d5, %d6",
	[GT_PTX_OP_MMA] = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, {%f4, %f5, %f6, %f7}",
	[GT_PTX_OP_MOV] = "mov.b64 {%r1, %r2}, %d4",
	[GT_PTX_OP_MOVMATRIX] = "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2",
	[GT_PTX_OP_MUL] = "mul.wide.u32 %d4, %r1, %r2",
	[GT_PTX_OP_MUL24] = "mul24.hi.u32 %r1, %r2, %r3",
	[GT_PTX_OP_MULTIMEM] = "multimem.red.global.add.u32 [%d0], %r1",
	[GT_PTX_OP_NANOSLEEP] = "nanosleep.u32 10",
	[GT_PTX_OP_NEG] = "neg.s16 %h1, %h2",
	[GT_PTX_OP_NOT] = "not.pred %p1, %p2",
	[GT_PTX_OP_OR] = "or.b16 %h1, %h2, %h3",
	[GT_PTX_OP_PMEVENT] = "pmevent 1",
	[GT_PTX_OP_PREFETCH] = "prefetch.global.L2 [%d0]",
	[GT_PTX_OP_PREFETCHU] = "prefetchu.L1 [%d0]",
	[GT_PTX_OP_RED] = "red.global.add.v4.f32 [%d0], {%f0, %f1, %f2, %f3}",
	[GT_PTX_OP_REDUX] = "redux.sync.add.s32 %r1, %r2, -1",
	[GT_PTX_OP_REM] = "rem.u32 %r1, %r2, %r3",
	[GT_PTX_OP_RET] = "ret",
	[GT_PTX_OP_SET] = "set.gt.u32.f32 %r1, %f1, %f2",
	[GT_PTX_OP_SETMAXNREG] = "setmaxnreg.inc.sync.aligned.u32 64",
	[GT_PTX_OP_SETP] = "setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3",
	[GT_PTX_OP_SHFL] = "shfl.sync.down.b32 %r1|%p1, %r2, 5, 31, -1",
	[GT_PTX_OP_SHL] = "shl.b64 %d4, %d5, %r1",
	[GT_PTX_OP_SHR] = "shr.s16 %h1, %h2, %r1",
	[GT_PTX_OP_SLCT] = "slct.f32.s32 %f1, %f2, %f3, %r1",
	[GT_PTX_OP_ST] = "st.shared.v2.f64 [s+128], {%e1, %e2}",
	[GT_PTX_OP_STACKRESTORE] = "stackrestore.u64 %d4",
	[GT_PTX_OP_STACKSAVE] = "stacksave.u64 %d4",
	[GT_PTX_OP_STMATRIX] = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0+512], {%r4, %r5, %r6, %r7}",
	[GT_PTX_OP_SUB] = "sub.cc.u32 %r1, %r2, %r3",
	[GT_PTX_OP_SULD] = "suld.b.2d.v2.b16.clamp {%h1, %h2}, [u, {%r1, %r2}]",
	[GT_PTX_OP_SUQ] = "suq.width.b32 %r1, [u]",
	[GT_PTX_OP_SUST] = "sust.b.2d.v2.b16.zero [u, {%r1, 4}], {%h1, %h2}",
	[GT_PTX_OP_TCGEN05] = "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d4, %d5, %r2, {%r3, %r4, %r5, %r6}, %p1, 1",
	[GT_PTX_OP_TENSORMAP] = "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [s], 1, %r1",
	[GT_PTX_OP_TEX] = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, sampler, {%f4, %f5}]",
	[GT_PTX_OP_TLD4] = "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4, %f5}]",
	[GT_PTX_OP_TRAP] = "trap",
	[GT_PTX_OP_TXQ] = "txq.width.b32 %r1, [t]",
	[GT_PTX_OP_VOTE] = "vote.sync.all.pred %p1, %p2, -1",
	[GT_PTX_OP_WGMMA] = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d4, %d5, 1, 1, 1, 0, 0",
	[GT_PTX_OP_WMMA] = "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%d0]",
	[GT_PTX_OP_XOR] = "xor.b64 %d4, %d5, 1",
};

/* More, where an opcode has several decoders. */
static const char *const further[] = {
	"bar.warp.sync %r1",
	"barrier.cluster.arrive.aligned",
	"call (%r1), %d4, (%r2), Proto",
	"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%d0], 32, [s+64]",
	"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0], 32",
	"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2}], [s+64]",
	"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3, %r4}], [s+64], {%h1, %h2}",
	"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r0], 32",
	"cp.async.mbarrier.arrive.noinc.shared.b64 [s+64]",
	"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1",
	"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %q1",
	"createpolicy.range.global.L2::evict_last.b64 %d4, [%d0], 64, 128",
	"ld.global.L2::cache_hint.f64 %e1, [%d0], %d4",
	"ld.param.u64 %d4, [x]",
	"ld.shared.b128 %q1, [s]",
	"ld.const.u32 %r1, [c+4]",
	"ld.local.b8 %c1, [l+4]",
	"atom.shared.add.f64 %e1, [s], %e2",
	"atom.global.add.noftz.v2.f16x2 {%r1, %r2}, [%d0], {%r3, %r4}",
	"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r1, [s+64]",
	"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [s+64]",
	"mbarrier.test_wait.shared.b64 %p1, [s+64], %d4",
	"mbarrier.try_wait.parity.shared::cta.b64 %p1, [s+64], %r1, %r2",
	"mbarrier.pending_count.b64 %r1, %d4",
	"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, {%r7, %r8, %r9, %r10}",
	"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3, %r4}, {%f4, %f5, %f6, %f7}, %r5, 0",
	"mov.pred %p1, %p2",
	"mov.b32 %r1, {%h1, %h2}",
	"mov.b128 {%d4, %d5}, %q1",
	"mov.u64 %d4, g",
	"mov.u32 %r1, %tid.x",
	"mov.u64 %d4, %clock64",
	"selp.f32 %f1, %f2, %f3, %p1",
	"set.eq.and.f16x2.f16x2 %r1, %r2, %r3, %p1",
	"setp.gt.f16x2 %p1|%p2, %r1, %r2",
	"tex.3d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [t, {%r4, %r5, %r6, %r7}]",
	"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [s], 128",
	"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], %r1",
	"tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [s+64], %h1",
	"tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r1], %d4",
	"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, %r2",
	"tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r1, %r2, %r3, %r4}, [%r5+8]",
	"tcgen05.mma.cta_group::2.kind::i8 [%r1], [%r2], %d4, %r3, %p1",
	"tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r1], 16, {%r2, %r3}",
	"tcgen05.wait::ld.sync.aligned",
	"vote.sync.ballot.b32 %r1, %p1, %r2",
	"wgmma.fence.sync.aligned",
	("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3, "
	"%r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3}"),
	"wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%d0+8], {%r1, %r2, %r3, %r4}, 20",
};

/* What may stand in an operand's place. */
static const char *const kinds[] = {
	"%p1", "!%p2", "%c1", "%h1", "%r1", "%d4", "%f1", "%e1", "%q1", "%r99", "%nothing", "%tid", "%tid.x", "%clock64", "%laneid", "%lanemask_lt",
	"WARP_SZ", "0", "1", "-1", "0xffffffffffffffff", "9223372036854775807", "1.5", "0f7f800000", "0d7ff0000000000000", "g", "g+4", "c", "s", "kept",
	"l", "x", "t", "sampler", "u", "k", "f", "L", "M", "Jumps", "Proto", "missing", "_", "!_", "[%d0]", "[%r0]", "[%d0+-8]", "[g]", "[s+64]", "[l]", "[x]",
	"[0]", "[%p1]", "[%f1]", "[%h1]", "[k]", "[missing]", "[t, {%f1, %f2}]", "[%d0, {%r1}]", "[%d0, sampler, {%f1, %f2}]", "[u, %r1]", "{%r1}",
	"{%r1, %r2}", "{%r1, %r2, %r3, %r4}", "{%h1, %h2}", "{%p1, %p2}", "{%d4, %d5}", "{%f1, %f2, %f3, %f4}", "{_, _}", "{g, s}", "{1, 2}", "{%q1, %q1}",
	"{%c1, %c2, %c1, %c2}", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", "{{%r1, %r2}, %r3}", "%r1|%p1", "%r1|%r2", "_|_", "\"text\"", "()",
};
#define KINDS (sizeof kinds / sizeof *kinds)

static const char *const modifiers[] = {
	"pred", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "texref",
	"tf32", "e4m3", "v2", "v4", "v8", "global", "shared", "shared::cta", "shared::cluster", "local", "param", "const", "sync", "async", "sat", "ftz", "cc", "wide",
	"lo", "and", "popc", "add", "cas", "exch", "L2::cache_hint", "volatile", "mbarrier::complete_tx::bytes", "bulk", "tensor", "x2", "x4", "trans", "2d", "a2d",
	"m16n8k8", "m16n16k16", "row", "col", "red", "arrive", "warp", "cluster", "aligned", "relu",
};
#define MODIFIERS (sizeof modifiers / sizeof *modifiers)

/* ---- instructions, as words: what stands before the operands, and these ---- */

#define WORDS 12
struct words {
	char word[WORDS][TEXT];
	unsigned n; /* the first is opcode and modifiers */
};

/* The comma or the end that closes an operand: those within brackets are passed over. */
static size_t operand_length(const char *text)
{
	size_t length = 0;

	for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
		depth += !!strchr("[{(", text[length]) - !!strchr("]})", text[length]);
	return length;
}

static void split(const char *text, struct words *words)
{
	size_t length = strcspn(text, " ");

	words->n = 0;
	for (;;) {
		snprintf(words->word[words->n++], TEXT, "%.*s", (int)length, text);
		text += length;
		if (!*text || words->n == WORDS)
			return;
		text += strspn(text, ", ");
		length = operand_length(text);
	}
}

static void join(const struct words *words, char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "%s", words->word[0]);

	for (unsigned i = 1; i < words->n && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i > 1 ? ", " : " ", words->word[i]);
	if (length < size)
		snprintf(text + length, size - length, ";");
}

static const struct gt_ptx_forms *const tables[] = {
	&gt_ptx_integer_forms, &gt_ptx_wide_forms, &gt_ptx_bit_forms, &gt_ptx_float_forms, &gt_ptx_compare_forms,
	&gt_ptx_convert_forms, &gt_ptx_half_forms, &gt_ptx_move_forms, &gt_ptx_lane_forms};

static const char *register_of(uint8_t type)
{
	switch (gt_ptx_type_size((enum gt_ptx_type)type)) {
	case 1: return "%c1";
	case 2: return "%h1";
	case 4: return type == GT_PTX_F32 ? "%f1" : "%r1";
	case 8: return type == GT_PTX_F64 ? "%e1" : "%d4";
	default: return "%p1";
	}
}

static void words_of_form(const struct gt_ptx_form *form, struct words *words)
{
	snprintf(words->word[0], TEXT, "%s", form->name);
	snprintf(words->word[1], TEXT, "%s", register_of(form->d));
	words->n = 2;
	for (unsigned i = 0; i < GT_PTX_SOURCES && form->sources[i] != GT_PTX_NO_TYPE; i++)
		snprintf(words->word[words->n++], TEXT, "%s", register_of(form->sources[i]));
}

/* ---- to run one ---- */

/* Returns the result of parsing, of the analysis and of running it. */
static int run_one(const char *instruction, struct gt_error *error)
{
	static unsigned char parameters[64];
	const struct gt_static_launch shape = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
	struct gt_ptx_module module;
	struct gt_ptx_memory memory;
	struct gt_ptx_machine *machine = NULL;
	struct gt_ptx_ran ran;
	struct gt_error unused;
	char text[sizeof before + 8 * TEXT + sizeof behind];

	error->text[0] = '\0';
	snprintf(text, sizeof text, "%s%s%s", before, instruction, behind);
	int result = gt_ptx_parse(&module, "test.ptx", text, strlen(text), error);
	if (result == 0) {
		FILE *nowhere = fopen("/dev/null", "w");
		(void)gt_static_write_module(&module, &shape, GT_STATIC_TREES, nowhere, &unused);
		fclose(nowhere);
		if (gt_ptx_memory_open(&memory, 1U << 22, error) != 0)
			abort();
		machine = gt_ptx_machine_open(&module, &memory, "test.ptx", error);
		struct gt_ptx_launch launch = {.kernel = gt_ptx_kernel(&module, "k"), .parameters = parameters, .grid = {1, 1, 1},
					       .block = {32, 1, 1}, .max_instructions = 1000};
		result = machine && launch.kernel ? gt_ptx_run(machine, &launch, &ran, error) : -1;
		gt_ptx_machine_close(machine);
		gt_ptx_memory_close(&memory);
	}
	gt_ptx_module_free(&module);
	return result;
}

static bool names_line(const struct gt_error *error, unsigned line)
{
	char as_parsed[32], as_run[32];

	snprintf(as_parsed, sizeof as_parsed, "test.ptx:%u: ", line);
	snprintf(as_run, sizeof as_run, "PTX line %u", line);
	return strstr(error->text, as_parsed) || strstr(error->text, as_run);
}

/* ---- what fits, and what does not: as ptxas has it ---- */

enum kind { PREDICATE, HALF, WORD, LONG, SINGLE, DOUBLE, INTEGER, REAL, ADDRESS, OFFSET, OTHER };
static const struct {
	const char *text;
	enum kind kind;
} operands[] = {
	{"%p1", PREDICATE}, {"!%p2", PREDICATE}, {"%h1", HALF}, {"%u1", WORD}, {"%ud1", LONG}, {"%f1", SINGLE}, {"%e1", DOUBLE}, {"7", INTEGER},
	{"0d3ff8000000000000", REAL}, {"g", ADDRESS}, {"s+4", OFFSET}, {"kept", ADDRESS}, {"l", ADDRESS}, {"k", ADDRESS}, {"f", ADDRESS},
	{"[%d0]", OTHER}, {"[g]", OTHER}, {"{%r1, %r2}", OTHER}, {"L", OTHER}, {"missing", OTHER}, {"%r99", OTHER},
};

/* %h1 is of .b16, the others of .u and .f, which fit types of their class and bits. */
static bool is_of_class(enum kind kind, enum gt_ptx_type type)
{
	const bool floats = type >= GT_PTX_F16 && type <= GT_PTX_F64, bits = type >= GT_PTX_B8 && type <= GT_PTX_B128;

	return kind == HALF || bits || floats == (kind == SINGLE || kind == DOUBLE);
}

static bool fits(enum kind kind, enum gt_ptx_type type, bool result, const char *opcode)
{
	static const unsigned sizes[] = {[HALF] = 2, [WORD] = 4, [LONG] = 8, [SINGLE] = 4, [DOUBLE] = 8};
	const unsigned size = gt_ptx_type_size(type);
	const bool floats = type >= GT_PTX_F16 && type <= GT_PTX_F64, pairs = type == GT_PTX_F16X2 || type == GT_PTX_BF16X2, converts = strncmp(opcode, "cvt.", 4) == 0;

	switch (kind) {
	case PREDICATE: return type == GT_PTX_PRED;
	case INTEGER: return !result && !floats;
	case REAL: return !result && ((floats && !pairs) || type == GT_PTX_B64);
	case ADDRESS: return !result && strncmp(opcode, "mov.", 4) == 0 && size >= 2 && !floats;
	case OFFSET: return !result && size >= 2 && !floats;
	case OTHER: return false;
	default: return size > 0 && (sizes[kind] == size || (converts && sizes[kind] > size)) && is_of_class(kind, type);
	}
}

/* A lane operation is run if its operands fit, and refused with its line if one does not. */
static void check_place(const struct gt_ptx_form *form, unsigned place)
{
	const enum gt_ptx_type type = (enum gt_ptx_type)(place == 1 ? form->d : form->sources[place - 2]);
	struct words words;
	struct gt_error error;
	char text[4 * TEXT];

	for (size_t i = 0; i < sizeof operands / sizeof *operands && check_failures < 20; i++) {
		words_of_form(form, &words);
		if (strncmp(form->name, "mov.", 4) == 0 && operands[i].text[0] == '{')
			continue; /* packs or unpacks */
		snprintf(words.word[place], TEXT, "%s", operands[i].text);
		join(&words, text, sizeof text);
		bool expected = fits(operands[i].kind, type, place == 1, form->name);
		int result = run_one(text, &error);
		if (expected ? result == 0 : result != 0 && names_line(&error, LINE))
			continue;
		printf("# %s: %s, expected %s\n", text, result == 0 ? "runs" : error.text, expected ? "that it runs" : "that it is refused");
		CHECK(0);
	}
}

/* Forms that no instruction names are steps of others; lop3 has its table of truth for a fourth operand. */
static bool is_written(const struct gt_ptx_form *form)
{
	struct words words;
	struct gt_error error;
	char text[4 * TEXT];

	words_of_form(form, &words);
	join(&words, text, sizeof text);
	return run_one(text, &error) == 0;
}

static void what_does_not_fit_is_refused(void)
{
	size_t tried = 0, all = 0;

	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct gt_ptx_form *form = &tables[t]->rows[i];
			all++;
			if (!is_written(form))
				continue;
			tried++;
			check_place(form, 1);
			for (unsigned s = 0; s < GT_PTX_SOURCES && form->sources[s] != GT_PTX_NO_TYPE; s++)
				check_place(form, s + 2);
		}
	printf("# %zu of %zu forms\n", tried, all);
}

/* Opcodes whose samples may have one more or one less. */
static bool may_have(int row, int more)
{
	return more ? row == GT_PTX_OP_WMMA || row == GT_PTX_OP_MAX
		    : row == GT_PTX_OP_ALLOCA || row == GT_PTX_OP_BARRIER || row == GT_PTX_OP_CP || row == GT_PTX_OP_CREATEPOLICY;
}

/* One operand more, and one less. */
static void counts_are_held(void)
{
	struct words words;
	struct gt_error error;
	char text[4 * TEXT];

	for (int row = GT_PTX_OP_OTHER + 1; row < GT_PTX_OP_COUNT; row++)
		for (int more = 0; more < 2; more++) {
			split(samples[row], &words);
			if (words.n == 1 || may_have(row, more))
				continue;
			if (more)
				snprintf(words.word[words.n++], TEXT, "%%r1");
			else
				words.n--;
			join(&words, text, sizeof text);
			if (run_one(text, &error) == 0 || !names_line(&error, LINE)) {
				printf("# %s: %s\n", text, error.text[0] ? error.text : "runs");
				CHECK(0);
			}
		}
}

/* ---- the tests ---- */

/* Those that do not run are refused, with their line. */
static void check_sample(const char *sample)
{
	struct gt_error error;
	char text[4 * TEXT];

	snprintf(text, sizeof text, "%s;", sample);
	if (run_one(text, &error) != 0 && !names_line(&error, LINE)) {
		printf("# %s: %s\n", sample, error.text);
		CHECK(0);
	}
}

static void every_opcode_has_one(void)
{
	for (int row = GT_PTX_OP_OTHER + 1; row < GT_PTX_OP_COUNT; row++) {
		const char *name = gt_ptx_opcode_rows[row].name;
		CHECK(samples[row] && strncmp(samples[row], name, strlen(name)) == 0);
		check_sample(samples[row] ? samples[row] : "");
	}
	for (size_t i = 0; i < sizeof further / sizeof *further; i++)
		check_sample(further[i]);
}

static uint64_t state;

static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state >> 11) % n;
}

static void draw(struct words *words)
{
	const size_t lists = 3;
	struct words drawn;

	switch (below(lists)) {
	case 0: split(samples[1 + below(GT_PTX_OP_COUNT - 1)], &drawn); break;
	case 1: split(further[below(sizeof further / sizeof *further)], &drawn); break;
	default: {
		const struct gt_ptx_forms *table = tables[below(sizeof tables / sizeof *tables)];
		words_of_form(&table->rows[below(table->n)], &drawn);
	}
	}
	*words = drawn;
}

static void change_modifier(char *word)
{
	char *point = strrchr(word, '.');
	const char *other = modifiers[below(MODIFIERS)];
	size_t kept = point && below(3) ? (size_t)(point - word) : strlen(word);

	snprintf(word + kept, TEXT - kept, ".%s", other);
}

static void damage(struct words *words)
{
	const unsigned at = words->n > 1 ? 1 + (unsigned)below(words->n - 1) : 0;

	switch (below(10)) {
	case 0: change_modifier(words->word[0]); return;
	case 1:
		if (words->n > 1)
			words->n--;
		return;
	case 2:
		if (words->n < WORDS)
			snprintf(words->word[words->n++], TEXT, "%s", kinds[below(KINDS)]);
		return;
	default:
		if (at > 0)
			snprintf(words->word[at], TEXT, "%s", kinds[below(KINDS)]);
	}
}

static size_t mutants = 4000;

/* The text of a number is the same in every process. */
static void text_of(size_t number, char *text, size_t size)
{
	struct words words;

	state = 88172645463325252 + number * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 8; i++)
		below(2);
	draw(&words);
	for (size_t n = 1 + below(2); n > 0; n--)
		damage(&words);
	join(&words, text, size);
}

static void run_batch(size_t from, size_t to, volatile size_t *at)
{
	struct gt_error error;
	char text[8 * TEXT];

	for (size_t i = from; i < to; i++) {
		*at = i;
		alarm(20);
		text_of(i, text, sizeof text);
		if (run_one(text, &error) != 0 && !error.text[0]) {
			printf("# no reason: %s\n", text);
			fflush(stdout);
			_exit(1);
		}
	}
	_exit(0);
}

/* Each batch is a process of its own, so that one that crashes is named, and the rest is still tried. */
static void none_crashes(void)
{
	FILE *shared = tmpfile();
	CHECK(shared && ftruncate(fileno(shared), sizeof(size_t)) == 0);
	volatile size_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(shared), 0);
	char text[8 * TEXT];
	int status;

	fclose(shared);
	CHECK(at != MAP_FAILED);
	for (size_t i = 0; i < mutants && check_failures < 30; i = *at + 1) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0)
			run_batch(i, i + BATCH < mutants ? i + BATCH : mutants, at);
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		if (status == 0)
			continue;
		text_of(*at, text, sizeof text);
		printf("# %zu: status %#x: %s\n", *at, (unsigned)status, text);
		CHECK_EQUAL(status, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		mutants = strtoull(argv[1], NULL, 10);
	RUN(every_opcode_has_one);
	RUN(what_does_not_fit_is_refused);
	RUN(counts_are_held);
	RUN(none_crashes);
	return check_report();
}
