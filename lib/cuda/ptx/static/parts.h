/* SPDX-License-Identifier: MIT */
/* What the parts of the static analysis share; private to lib/cuda/ptx/static.
 *
 * Instructions become values in SSA form, by the algorithm of Braun et al., "Simple and Efficient Construction of Static
 * Single Assignment Form", CC 2013. Values fold into polynomials over atoms, which cannot be folded further. Then loops
 * are solved: a value that grows by the same amount in each iteration is its first value plus that amount times the
 * iteration. */
#ifndef GT_PTX_STATIC_PARTS_H
#define GT_PTX_STATIC_PARTS_H

#include "base/map.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/static/static.h"

#define GT_STATIC_NONE	  UINT32_MAX
#define GT_STATIC_NUMBERS (UINT32_MAX / 4) /* values, and atoms, of a kernel */
#define GT_STATIC_DEPTH	  32 /* nesting of loops that are solved */
#define GT_STATIC_WEIGHT  256 /* atoms within an atom */
#define GT_STATIC_TERMS	  24 /* terms of a polynomial */
#define GT_STATIC_FACTORS 4 /* atoms of a term */

enum gt_static_kind {
	GT_STATIC_CONSTANT, /* number */
	GT_STATIC_SPECIAL, /* name: %tid.x */
	GT_STATIC_SYMBOL, /* name: a variable's address */
	GT_STATIC_PARAMETER, /* number: which; offset */
	GT_STATIC_LOAD, /* from memory; operands: the address */
	GT_STATIC_OPERATION, /* instruction, operands */
	GT_STATIC_SUM, /* operand + number: an address */
	GT_STATIC_JOIN, /* operands: the values of a register at the ends of a block's predecessors */
	GT_STATIC_CHOICE, /* operands: new, old; of a guarded instruction */
	GT_STATIC_OPAQUE, /* undefined, from a call, or too deep */
};

struct gt_static_value {
	enum gt_static_kind kind;
	const struct gt_ptx_instruction *instruction; /* that makes it; NULL */
	const char *name;
	int64_t number, offset;
	uint32_t *operands;
	uint32_t n;
	uint32_t block, variable; /* of a join */
	uint32_t same; /* the value that this one equals, or itself */
	bool needed, folding;
	const struct gt_static_poly *poly;
};

/* An atom of polynomials. In the order in which terms are printed. */
enum gt_static_atom_kind {
	GT_STATIC_ATOM_PARAMETER,
	GT_STATIC_ATOM_SYMBOL,
	GT_STATIC_ATOM_SPECIAL,
	GT_STATIC_ATOM_LOOP, /* iterations of the loop whose first block is `block` */
	GT_STATIC_ATOM_OPERATION, /* of child polynomials */
	GT_STATIC_ATOM_CHOICE, /* one of the children */
	GT_STATIC_ATOM_JOIN, /* not solved yet */
	GT_STATIC_ATOM_LOADED,
	GT_STATIC_ATOM_OPAQUE,
};

struct gt_static_atom {
	enum gt_static_atom_kind kind;
	uint32_t value; /* parameters, operations, joins, loaded: which value; its instruction is the operation */
	const char *name;
	int64_t number, offset;
	uint32_t block;
	const struct gt_static_poly **children;
	uint32_t n;
	unsigned weight; /* itself and the atoms within its children */
	bool solving;
	const struct gt_static_poly *solution; /* NULL: not yet */
};

struct gt_static_term {
	int64_t factor;
	uint32_t atoms[GT_STATIC_FACTORS]; /* sorted */
	uint32_t n;
};

/* Sorted by atoms, no two terms alike, no zero factor. */
struct gt_static_poly {
	struct gt_static_term *terms;
	uint32_t n;
};

/* How the addresses of a warp's lanes follow from those of its threads. */
enum gt_static_spread {
	GT_STATIC_BY_THREAD, /* they are the same */
	GT_STATIC_IN_BULK, /* `lanes` pieces behind each other, from the first thread's on */
	GT_STATIC_BY_LINES, /* the lines of `tile`, `stride` elements apart, from the first thread's on */
	GT_STATIC_FROM_MAP, /* a tensor map says them: they are not known */
};

struct gt_ptx_tile;

struct gt_static_access {
	uint32_t instruction;
	uint32_t address, stride; /* values; GT_STATIC_NONE: a matrix without gaps */
	const struct gt_static_poly *poly, *stride_poly;
	enum gt_ptx_access_kind action; /* load, store, atomic, reduction */
	enum gt_static_spread spread;
	unsigned bytes; /* of a lane */
	unsigned lanes;
	const struct gt_ptx_tile *tile;
};

struct gt_static {
	const struct gt_ptx_function *kernel;
	struct gt_ptx_arena *arena;
	struct gt_ptx_flow flow;
	bool complete; /* the values at the end of every block are known */
	struct gt_map variables; /* a register's name -> its number */
	struct gt_map reaching; /* block and register -> value at the block's end, so far */
	struct gt_map parameters; /* a parameter's name -> which */
	uint32_t n_variables;
	struct gt_static_value *values;
	uint32_t n_values;
	size_t value_capacity;
	struct gt_static_atom *atoms;
	uint32_t n_atoms;
	size_t atom_capacity;
	struct gt_static_access *accesses;
	size_t n_accesses;
	uint32_t *guards; /* by instruction: the value of its guard; GT_STATIC_NONE: it has none */
	unsigned depth;
	uint64_t work;
};

/* value.c: values, and the accesses with the values of their addresses. */
int gt_static_find_values(struct gt_static *analysis, struct gt_error *error);
/* The value that this one equals. */
uint32_t gt_static_same(const struct gt_static *analysis, uint32_t value);

/* poly.c: the polynomial of every value that an address needs. Joins become loops and choices in the addresses. */
int gt_static_fold(struct gt_static *analysis, struct gt_error *error);

/* value.c: the result of an operation that is no sum of products, for numbers. */
struct gt_static_operation {
	unsigned operands;
	int64_t (*result)(const struct gt_ptx_instruction *instruction, enum gt_ptx_type type,
			  const int64_t *operands);
};
/* NULL if the instruction's result cannot be computed here. */
const struct gt_static_operation *gt_static_operation_of(const struct gt_ptx_instruction *instruction);
/* The type an integer instruction works in: its last modifier. */
enum gt_ptx_type gt_static_type(const struct gt_ptx_instruction *instruction);
/* A number truncated to the type, and sign-extended if the type is signed. */
int64_t gt_static_narrow(int64_t number, enum gt_ptx_type type);

/* ---- the address that one thread accesses ---- */

#define GT_STATIC_WARP	32
#define GT_STATIC_PIECE 16 /* bytes that a lane copies, of a copy in bulk */
#define GT_STATIC_LOOPS 8

/* One thread, in one iteration of each loop. */
struct gt_static_place {
	const struct gt_static *analysis;
	const struct gt_static_launch *launch;
	uint32_t thread[3], block[3];
	uint32_t loops[GT_STATIC_LOOPS]; /* the blocks that begin them */
	uint32_t turns[GT_STATIC_LOOPS], period[GT_STATIC_LOOPS];
	uint32_t n_loops;
	enum gt_static_basis basis; /* the worst that was met */
};

/* The value of a polynomial, of an atom; what is not known counts as 0 and lowers the basis. */
int64_t gt_static_evaluate(struct gt_static_place *place, const struct gt_static_poly *poly);
int64_t gt_static_atom_value(struct gt_static_place *place, const struct gt_static_atom *atom);

/* value.c: the names of what a report has: by enum gt_static_basis, and "load" and so on. */
extern const char *const gt_static_bases[];
const char *gt_static_action_name(enum gt_ptx_access_kind action);

/* volume.c: the lines of a kernel. Returns 0, or -1 when memory is short, or there is too much to follow. */
int gt_static_write_volumes(const struct gt_static *analysis, const struct gt_static_launch *launch, const char *name, FILE *to,
			    struct gt_error *error);

/* The instruction that makes an access. */
static inline const struct gt_ptx_instruction *gt_static_instruction(const struct gt_static *analysis, size_t access)
{
	return &analysis->kernel->instructions[analysis->accesses[access].instruction];
}

#endif
