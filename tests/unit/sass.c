/* SPDX-License-Identifier: MIT */
/* The meaning of SASS opcodes: the operation and the bytes per lane. */
#include "check.h"
#include "import/opcode.h"
#include "stream/hint.h"
#include "stream/op.h"

static const struct {
	const char *opcode;
	const char *op; /* NULL: no memory instruction */
	int size; /* 0: none */
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
	{"CCTL.IVALL", NULL, 0},
	{"LDC.64", "load.constant", 8},
	{"ATOM.E.ADD.F64.RN", "atomic.global", 8},
	{"ATOMG.E.CAS.STRONG.GPU", "atomic.global", 4},
	{"ATOMS.ADD.U64", "atomic.shared", 8},
	{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "reduction.global", 4},
	{"RED.E.MAX.S64.STRONG.GPU", "reduction.global", 8},
	{"TEX.SCR.LL", "load.texture", 4},
	{"SULD.D.BA.1D", "load.texture", 4},
	{"IMAD.MOV.U32", NULL, 0},
	{"LDGDEPBAR", NULL, 0},
	{"REDUX.SUM", NULL, 0},
	{"MATCH.ANY.U64", NULL, 0},
	{"UTMALDG.2D", NULL, 0},
	{"LD", "load.global", 4},
	{"L", NULL, 0},
	{"", NULL, 0},
	{".LDG", NULL, 0},
	{"ldg.e", NULL, 0},
};

static void opcodes(void)
{
	char text[GT_OP_TEXT];
	uint8_t op, size;
	uint16_t hint;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *opcode = cases[i].opcode;
		int result = gt_sass_access(opcode, strlen(opcode), &op, &size, &hint);
		CHECK_TEXT(result == 0 ? gt_op_format(op, text) : "none", cases[i].op ? cases[i].op : "none");
		if (result == 0 && size != cases[i].size)
			printf("# %s\n", opcode);
		CHECK_EQUAL(result == 0 ? size : 0, cases[i].size);
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
	uint8_t op, size;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint16_t hint = 0;
		gt_sass_access(rows[i].opcode, strlen(rows[i].opcode), &op, &size, &hint);
		CHECK_TEXT(gt_hint_format(hint, text), rows[i].hint);
	}
}

/* Nothing after the given length is read. */
static void opcodes_end_where_they_end(void)
{
	uint8_t op, size;
	uint16_t hint;

	CHECK_EQUAL(gt_sass_access("LDGX", 3, &op, &size, &hint), 0);
	CHECK_EQUAL(gt_sass_access("LDG", 2, &op, &size, &hint), 0);
	CHECK_EQUAL(op, gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE));
	for (size_t length = 5; length <= 8; length++) {
		CHECK_EQUAL(gt_sass_access("LDG.E.64", length, &op, &size, &hint), 0);
		CHECK_EQUAL(size, length == 8 ? 8 : 4);
	}
}

int main(void)
{
	RUN(opcodes);
	RUN(hints);
	RUN(opcodes_end_where_they_end);
	return check_report();
}
