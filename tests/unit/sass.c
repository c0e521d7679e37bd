/* SPDX-License-Identifier: MIT */
/* The meaning of SASS opcodes: the operation and the bytes per lane. */
#include "check.h"
#include "import/opcode.h"
#include "stream/hint.h"
#include "stream/op.h"

static const struct {
	const char *opcode;
	const char *op; /* NULL: no memory instruction */
	int size;
} cases[] = {
	{"LDG.E", "load.global", 4},
	{"LDG.E.SYS", "load.global", 4},
	{"LDG.E.64.SYS", "load.global", 8},
	{"LDG.E.128.CONSTANT", "load.global.nc", 16},
	{"LDG.E.U8", "load.global", 1},
	{"LDG.E.S8.SYS", "load.global", 1},
	{"LDG.E.U16", "load.global", 2},
	{"LDG.E.S16", "load.global", 2},
	{"LDG.E.256", "load.global", 32},
	{"LD.E.CG.64", "load.global.cg", 8},
	{"STG.E", "store.global", 4},
	{"STG.E.CS.128", "store.global.cs", 16},
	{"ST.E.U8", "store.global", 1},
	{"LDL", "load.local", 4},
	{"STL.64", "store.local", 8},
	{"LDS.U.128", "load.shared", 16},
	{"STS", "store.shared", 4},
	{"LDSM.16.M88.4", "load.shared", 16},
	{"LDGSTS.E.BYPASS.128", "load.global.cg", 16},
	{"LDG.E.STRONG.GPU", "load.global.cg", 4},
	{"LDG.E.64.STRONG.SYS", "load.global.cg", 8},
	{"LDG.E.STRONG.SM", "load.global", 4},
	{"LDG.E.EF.STRONG.GPU", "load.global.cg", 4},
	{"STG.E.STRONG.GPU", "store.global", 4},
	{"LDL.LU", "load.local.lu", 4},
	{"CCTL.E.PF2", "load.global", 1},
	{"CCTL.IVALL", NULL, 1},
	{"LDC.64", "load.constant", 8},
	{"ATOM.E.ADD.F64.RN", "atomic.global", 8},
	{"ATOMG.E.CAS.STRONG.GPU", "atomic.global", 4},
	{"ATOMS.ADD.U64", "atomic.shared", 8},
	{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "reduction.global", 4},
	{"RED.E.MAX.S64.STRONG.GPU", "reduction.global", 8},
	{"TEX.SCR.LL", "load.texture", 4},
	{"SULD.D.BA.1D", "load.texture", 4},
	{"IMAD.MOV.U32", NULL, 4},
	{"LDGDEPBAR", NULL, 4},
	{"REDUX.SUM", NULL, 4},
	{"MATCH.ANY.U64", NULL, 8},
	{"UTMALDG.2D", NULL, 4},
	{"LD", "load.global", 4},
	{"L", NULL, 4},
	{"", NULL, 4},
	{".LDG", NULL, 4},
	{"ldg.e", NULL, 4},
};

static void opcodes(void)
{
	char text[GT_OP_TEXT];
	uint8_t op;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *opcode = cases[i].opcode;
		int result = gt_sass_op(opcode, strlen(opcode), &op);
		CHECK_TEXT(result == 0 ? gt_op_format(op, text) : "none", cases[i].op ? cases[i].op : "none");
		if (gt_sass_size(opcode, strlen(opcode)) != cases[i].size)
			printf("# %s\n", opcode);
		CHECK_EQUAL(gt_sass_size(opcode, strlen(opcode)), cases[i].size);
	}
}

static void hints(void)
{
	static const struct {
		const char *opcode, *hint;
	} rows[] = {
		{"LDG.E", "none"},
		{"LDG.E.EF.128", "L1::evict_first"},
		{"LDG.E.EL", "L1::evict_last"},
		{"LDG.E.EU.CONSTANT", "L1::evict_unchanged"},
		{"LDG.E.NA.LTC128B", "L1::no_allocate,L2::128B"},
		{"LDGSTS.E.BYPASS.LTC64B.128", "L2::64B"},
		{"LDG.E.LTC256B.CONSTANT", "L2::256B"},
		{"STG.E.EF", "L1::evict_first"},
		{"LDS.EF", "none"},
		{"CCTL.E.PF1", "prefetch.L1"},
		{"CCTL.E.PF2", "prefetch.L2"},
		{"CCTL.E.DML2", "discard.L2"},
		{"CCTL.E.RML2", "applypriority.L2,L2::evict_normal"},
		{"CCTL.IVALL", "none"},
		{"IMAD.EF", "none"},
	};
	char text[GT_HINT_TEXT];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_TEXT(gt_hint_format(gt_sass_hint(rows[i].opcode, strlen(rows[i].opcode)), text), rows[i].hint);
}

/* Nothing after the given length is read. */
static void opcodes_end_where_they_end(void)
{
	uint8_t op;

	CHECK_EQUAL(gt_sass_op("LDGX", 3, &op), 0);
	CHECK_EQUAL(gt_sass_op("LDG", 2, &op), 0);
	CHECK_EQUAL(op, gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE));
	CHECK_EQUAL(gt_sass_size("LDG.E.64", 7), 4);
	CHECK_EQUAL(gt_sass_size("LDG.E.64", 5), 4);
	CHECK_EQUAL(gt_sass_size("LDG.E.64", 8), 8);
}

int main(void)
{
	RUN(opcodes);
	RUN(hints);
	RUN(opcodes_end_where_they_end);
	return check_report();
}
