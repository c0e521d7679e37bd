/* SPDX-License-Identifier: MIT */
/* The table of opcodes. The parser looks an instruction's opcode up once; the decoder and the static analysis
 * then read its row.
 *
 * An opcode without a row is a lane operation: it has one result, falls through, is decoded by its name (the
 * tables of exec/ops_*.c), and the static analysis cannot fold it. */
#ifndef GT_PTX_OPCODE_H
#define GT_PTX_OPCODE_H

#include <stddef.h>
#include <stdint.h>

/* One row an opcode, sorted by name:
 *   ROW(IDENTIFIER, name, results, ending, access, family, folding)
 * results, ending, access, folding: the enums below. family: decode/decode_FAMILY.c has its decoder. */
#define GT_PTX_OPCODES(ROW) \
	ROW(ACTIVEMASK, "activemask",        ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(ADD, "add",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         ADD) \
	ROW(ALLOCA, "alloca",                ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(AND, "and",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         AND) \
	ROW(APPLYPRIORITY, "applypriority",  NONE,    FALLS_THROUGH,      LINE,       memory,        NONE) \
	ROW(ATOM, "atom",                    ONE,     FALLS_THROUGH,      ATOMIC,     memory,        NONE) \
	ROW(BAR, "bar",                      IF_RED,  FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(BARRIER, "barrier",              IF_RED,  FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(BRA, "bra",                      NONE,    BRANCHES,           NONE,       control,       NONE) \
	ROW(BRKPT, "brkpt",                  NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(BRX, "brx",                      NONE,    BRANCHES_BY_INDEX,  NONE,       control,       NONE) \
	ROW(CALL, "call",                    NONE,    CALLS,              NONE,       control,       NONE) \
	ROW(CLUSTERLAUNCHCONTROL, "clusterlaunchcontrol", UNLESS_ADDRESS, FALLS_THROUGH, COPY, memory,     NONE) \
	ROW(CP, "cp",                        NONE,    FALLS_THROUGH,      COPY,       memory,        NONE) \
	ROW(CREATEPOLICY, "createpolicy",    ONE,     FALLS_THROUGH,      NONE,       memory,        NONE) \
	ROW(CVT, "cvt",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         CONVERT) \
	ROW(CVTA, "cvta",                    ONE,     FALLS_THROUGH,      NONE,       control,       COPY) \
	ROW(DISCARD, "discard",              NONE,    FALLS_THROUGH,      LINE,       memory,        NONE) \
	ROW(DIV, "div",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         DIVIDE) \
	ROW(ELECT, "elect",                  ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(EXIT, "exit",                    NONE,    EXITS,              NONE,       control,       NONE) \
	ROW(FENCE, "fence",                  NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(GETCTARANK, "getctarank",        ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(GRIDDEPCONTROL, "griddepcontrol", NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(ISSPACEP, "isspacep",            ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(LD, "ld",                        ONE,     FALLS_THROUGH,      LOAD,       memory,        NONE) \
	ROW(LDMATRIX, "ldmatrix",            ONE,     FALLS_THROUGH,      MATRIX,     matrix,        NONE) \
	ROW(LDU, "ldu",                      ONE,     FALLS_THROUGH,      LOAD,       memory,        NONE) \
	ROW(LOP3, "lop3",                    ONE,     FALLS_THROUGH,      NONE,       lanes,         NONE) \
	ROW(MAD, "mad",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         MULTIPLY_ADD) \
	ROW(MAD24, "mad24",                  ONE,     FALLS_THROUGH,      NONE,       lanes,         MULTIPLY_ADD) \
	ROW(MAPA, "mapa",                    ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(MATCH, "match",                  ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(MAX, "max",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         MAX) \
	ROW(MBARRIER, "mbarrier",            UNLESS_ADDRESS, FALLS_THROUGH, MBARRIER, memory,        NONE) \
	ROW(MEMBAR, "membar",                NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(MIN, "min",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         MIN) \
	ROW(MMA, "mma",                      ONE,     FALLS_THROUGH,      NONE,       matrix,        NONE) \
	ROW(MOV, "mov",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         COPY) \
	ROW(MOVMATRIX, "movmatrix",          ONE,     FALLS_THROUGH,      NONE,       matrix,        NONE) \
	ROW(MUL, "mul",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         MULTIPLY) \
	ROW(MUL24, "mul24",                  ONE,     FALLS_THROUGH,      NONE,       lanes,         MULTIPLY_24) \
	ROW(MULTIMEM, "multimem",            UNLESS_ADDRESS, FALLS_THROUGH, NONE,      control,       NONE) \
	ROW(NANOSLEEP, "nanosleep",          NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(NEG, "neg",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         NEGATE) \
	ROW(NOT, "not",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         NOT) \
	ROW(OR, "or",                        ONE,     FALLS_THROUGH,      NONE,       lanes,         OR) \
	ROW(PMEVENT, "pmevent",              NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(PREFETCH, "prefetch",            NONE,    FALLS_THROUGH,      LINE,       memory,        NONE) \
	ROW(PREFETCHU, "prefetchu",          NONE,    FALLS_THROUGH,      LINE,       memory,        NONE) \
	ROW(RED, "red",                      NONE,    FALLS_THROUGH,      REDUCTION,  memory,        NONE) \
	ROW(REDUX, "redux",                  ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(REM, "rem",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         REMAINDER) \
	ROW(RET, "ret",                      NONE,    RETURNS,            NONE,       control,       NONE) \
	ROW(SET, "set",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         NONE) \
	ROW(SETMAXNREG, "setmaxnreg",        NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(SETP, "setp",                    ONE,     FALLS_THROUGH,      NONE,       lanes,         NONE) \
	ROW(SHFL, "shfl",                    ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(SHL, "shl",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         SHIFT_LEFT) \
	ROW(SHR, "shr",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         SHIFT_RIGHT) \
	ROW(SLCT, "slct",                    ONE,     FALLS_THROUGH,      NONE,       lanes,         NONE) \
	ROW(ST, "st",                        NONE,    FALLS_THROUGH,      STORE,      memory,        NONE) \
	ROW(STACKRESTORE, "stackrestore",    NONE,    FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(STACKSAVE, "stacksave",          ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(STMATRIX, "stmatrix",            NONE,    FALLS_THROUGH,      MATRIX,     matrix,        NONE) \
	ROW(SUB, "sub",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         SUBTRACT) \
	ROW(SULD, "suld",                    ONE,     FALLS_THROUGH,      FETCH,      texture,       NONE) \
	ROW(SUQ, "suq",                      ONE,     FALLS_THROUGH,      NONE,       texture,       NONE) \
	ROW(SUST, "sust",                    NONE,    FALLS_THROUGH,      IMAGE,      texture,       NONE) \
	ROW(TCGEN05, "tcgen05",              IF_VECTOR, FALLS_THROUGH,    MATRIX,     tensor,        NONE) \
	ROW(TENSORMAP, "tensormap",          NONE,    FALLS_THROUGH,      NONE,       memory,        NONE) \
	ROW(TEX, "tex",                      ONE,     FALLS_THROUGH,      FETCH,      texture,       NONE) \
	ROW(TLD4, "tld4",                    ONE,     FALLS_THROUGH,      FETCH,      texture,       NONE) \
	ROW(TRAP, "trap",                    NONE,    TRAPS,              NONE,       control,       NONE) \
	ROW(TXQ, "txq",                      ONE,     FALLS_THROUGH,      NONE,       texture,       NONE) \
	ROW(VOTE, "vote",                    ONE,     FALLS_THROUGH,      NONE,       control,       NONE) \
	ROW(WGMMA, "wgmma",                  UPDATED, FALLS_THROUGH,      MATRIX,     matrix,        NONE) \
	ROW(WMMA, "wmma",                    UNLESS_ADDRESS, FALLS_THROUGH, MATRIX,     matrix,        NONE) \
	ROW(XOR, "xor",                      ONE,     FALLS_THROUGH,      NONE,       lanes,         XOR)

/* How many operands, from the first on, are results. */
enum gt_ptx_results_rule {
	GT_PTX_RESULTS_ONE, /* two if it is written d|p */
	GT_PTX_RESULTS_NONE,
	GT_PTX_RESULTS_UPDATED, /* one, which is read too */
	GT_PTX_RESULTS_IF_RED, /* one with .red, else none */
	GT_PTX_RESULTS_IF_VECTOR, /* one if the first operand is a vector, else none */
	GT_PTX_RESULTS_UNLESS_ADDRESS, /* none if the first operand is an address, else one */
};

/* How an instruction ends a basic block. A guard (@p) makes it fall through too. */
enum gt_ptx_ending {
	GT_PTX_FALLS_THROUGH,
	GT_PTX_CALLS,		  /* falls through when the callee returns */
	GT_PTX_BRANCHES,	  /* to the label that is its operand */
	GT_PTX_BRANCHES_BY_INDEX, /* to one of a list of labels */
	GT_PTX_RETURNS,
	GT_PTX_EXITS,
	GT_PTX_TRAPS, /* ends the launch */
};

/* How it accesses memory. */
enum gt_ptx_access_kind {
	GT_PTX_ACCESS_NONE,
	GT_PTX_ACCESS_LOAD,
	GT_PTX_ACCESS_STORE,
	GT_PTX_ACCESS_ATOMIC,
	GT_PTX_ACCESS_REDUCTION, /* an atomic without a result */
	GT_PTX_ACCESS_FETCH,	 /* from a texture or surface */
	GT_PTX_ACCESS_IMAGE,	 /* a store to a surface */
	GT_PTX_ACCESS_COPY,	 /* from memory to memory */
	GT_PTX_ACCESS_MBARRIER,
	GT_PTX_ACCESS_MATRIX,	 /* of a whole warp */
	GT_PTX_ACCESS_LINE,	 /* a cache line as a whole: prefetch, discard */
};

/* What the static analysis computes of integer operands: static/poly.c, static/value.c. */
enum gt_ptx_folding {
	GT_PTX_FOLD_NONE,
	GT_PTX_FOLD_COPY,
	GT_PTX_FOLD_CONVERT,
	GT_PTX_FOLD_ADD,
	GT_PTX_FOLD_SUBTRACT,
	GT_PTX_FOLD_NEGATE,
	GT_PTX_FOLD_MULTIPLY,
	GT_PTX_FOLD_MULTIPLY_24,
	GT_PTX_FOLD_MULTIPLY_ADD,
	GT_PTX_FOLD_DIVIDE,
	GT_PTX_FOLD_REMAINDER,
	GT_PTX_FOLD_MIN,
	GT_PTX_FOLD_MAX,
	GT_PTX_FOLD_SHIFT_LEFT,
	GT_PTX_FOLD_SHIFT_RIGHT,
	GT_PTX_FOLD_AND,
	GT_PTX_FOLD_OR,
	GT_PTX_FOLD_XOR,
	GT_PTX_FOLD_NOT,
	GT_PTX_FOLDINGS
};

enum gt_ptx_opcode {
	GT_PTX_OP_OTHER, /* without a row */
#define GT_PTX_OPCODE_NUMBER(IDENTIFIER, name, results, ending, access, family, folding) GT_PTX_OP_##IDENTIFIER,
	GT_PTX_OPCODES(GT_PTX_OPCODE_NUMBER)
#undef GT_PTX_OPCODE_NUMBER
	GT_PTX_OP_COUNT
};

struct gt_ptx_opcode_row {
	const char *name; /* "" for GT_PTX_OP_OTHER */
	enum gt_ptx_results_rule results;
	enum gt_ptx_ending ending;
	enum gt_ptx_access_kind access;
	enum gt_ptx_folding folding;
};

extern const struct gt_ptx_opcode_row gt_ptx_opcode_rows[GT_PTX_OP_COUNT];

/* The opcode of that name; GT_PTX_OP_OTHER if no row has it. */
enum gt_ptx_opcode gt_ptx_opcode_named(const char *name);

#endif
