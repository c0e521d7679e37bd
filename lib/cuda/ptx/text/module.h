/* SPDX-License-Identifier: MIT */
/* A parsed PTX module: variables, functions, instructions, with names resolved and nothing else. Made by gt_ptx_parse, read by
 * the decoder and by the static analysis.
 *
 * Every name in a module is stored once: equal names (variables, operands, opcodes, modifiers,
 * labels, guards, functions) are the same pointer. Register i of `.reg .b32 %r<31>` is the name
 * with the decimal number i behind it. What inner { } of a body declare is called NAME#N. */
#ifndef GT_PTX_TEXT_MODULE_H
#define GT_PTX_TEXT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "cuda/ptx/text/opcode.h"
#include "gpu/gpu.h"
#include "stream/kernel.h"

enum gt_ptx_type {
	GT_PTX_NO_TYPE,
	GT_PTX_B8, GT_PTX_B16, GT_PTX_B32, GT_PTX_B64, GT_PTX_B128,
	GT_PTX_U8, GT_PTX_U16, GT_PTX_U32, GT_PTX_U64,
	GT_PTX_S8, GT_PTX_S16, GT_PTX_S32, GT_PTX_S64,
	GT_PTX_F16, GT_PTX_F16X2, GT_PTX_BF16, GT_PTX_BF16X2, GT_PTX_F32, GT_PTX_F64,
	GT_PTX_PRED, GT_PTX_TEXREF,
	GT_PTX_TYPES
};

enum gt_ptx_space {
	GT_PTX_GENERIC, GT_PTX_REG, GT_PTX_GLOBAL, GT_PTX_SHARED, GT_PTX_LOCAL, GT_PTX_PARAM, GT_PTX_CONST,
	GT_PTX_SPACES
};

/* Bytes of a value: 1, 2, 4, 8 or 16; 0 for a predicate and no type. */
unsigned gt_ptx_type_size(enum gt_ptx_type type);
/* "s32" and so on, and back; GT_PTX_NO_TYPE if the text names none. */
const char *gt_ptx_type_name(enum gt_ptx_type type);
enum gt_ptx_type gt_ptx_type_named(const char *text, size_t length);

/* A variable of any space, registers included: `.reg .b32 %r<31>` is one with count 31. */
struct gt_ptx_variable {
	char *name;
	enum gt_ptx_space space;
	enum gt_ptx_type type;
	unsigned vector;	/* elements of .v2, .v4; else 1 */
	unsigned alignment;	/* bytes; at least the type's size */
	uint64_t elements;	/* of an array; 1 if it is none; 0 for [] */
	uint64_t bytes;		/* all of it; 0 for [] */
	uint64_t count;		/* registers: how many names %r0, %r1, ... ; 0: one, of this very name */
	bool external;		/* .extern */
	bool managed;		/* .attribute(.managed) */
	unsigned char *initial; /* `bytes` of them, little-endian; NULL: zeros */
	/* Addresses of other variables within the initial value. */
	struct gt_ptx_reference {
		uint64_t offset; /* where, in bytes */
		char *symbol;
		int64_t addend;
	} *references;
	size_t n_references;
	unsigned line;
};

enum gt_ptx_operand_kind {
	GT_PTX_REGISTER,  /* name: %r1; special registers too: %tid.x */
	GT_PTX_IMMEDIATE, /* bits, as a 64-bit integer, or those of a float or double */
	GT_PTX_SYMBOL,	  /* name (+ offset): a variable's address, a function, a label */
	GT_PTX_ADDRESS,	  /* [name + offset], or [offset] without a name; elements: what follows in it,
			   * as the coordinates of tex: [%rd1, {%f1}] */
	GT_PTX_VECTOR,	  /* {elements}; brx.idx has the labels of its .branchtargets as one */
	GT_PTX_SINK,	  /* _ */
};

struct gt_ptx_operand {
	enum gt_ptx_operand_kind kind;
	char *name;
	int64_t offset;
	const char *part; /* of a register of a video instruction: "b0" of %r1.b0; NULL: all of it */
	bool negated; /* !%p1; -%r1 of a video instruction */
	bool paired;  /* d|p: the next operand is a result too */
	bool is_float; /* immediates: written as 0f..., 0d... or with a point; bits hold a double then, */
	bool is_single; /* except for 0f...: bits hold a float */
	uint64_t bits;
	struct gt_ptx_operand *elements; /* of a vector; may be shared between operands */
	size_t n_elements;
};

#define GT_PTX_MODIFIERS 14

struct gt_ptx_instruction {
	char *opcode;			   /* "ld", "mad", "bar" */
	enum gt_ptx_opcode row;		   /* the opcode's in the table of opcodes */
	char *modifiers[GT_PTX_MODIFIERS]; /* "global", "nc", "v2", "f32": what stood between points, in order */
	size_t n_modifiers;
	char *guard; /* predicate's name, or NULL */
	bool guard_negated;
	struct gt_ptx_operand *operands; /* destination first; setp p|q has both as the first two */
	size_t n_operands;
	/* call (returns), operands[0], (arguments), operands[1]: the function, or a register with its
	 * address, and then the prototype's name. */
	struct gt_ptx_operand *returns, *arguments;
	size_t n_returns, n_arguments;
	bool rolled;   /* behind .pragma "nounroll": a loop that begins here is not unrolled */
	unsigned line; /* in the PTX text */
	unsigned file, source_line; /* .loc: a number of .file, and the line in that; 0: not said */
	unsigned caller_file, caller_line; /* the same of the function's own line into which that is inlined; 0: it is not */
};

/* .file: its name as it stands there; NULL where units that were linked give the number to several. */
struct gt_ptx_file {
	unsigned number;
	char *name;
};

struct gt_ptx_label {
	char *name;
	size_t at; /* index of the instruction that follows */
};

struct gt_ptx_function {
	char *name;
	bool entry;	  /* a kernel */
	bool declaration; /* no body */
	bool weak;
	struct gt_ptx_variable *parameters, *returns;
	size_t n_parameters, n_returns;
	/* Of the body, those of inner { } too: names there are made unique by the parser. */
	struct gt_ptx_variable *variables;
	size_t n_variables;
	struct gt_ptx_instruction *instructions;
	size_t n_instructions;
	bool located; /* some of them have a line of the source */
	struct gt_ptx_label *labels;
	size_t n_labels;
	uint32_t max_threads[3], required_threads[3]; /* .maxntid, .reqntid; 0: not given */
	uint32_t max_registers;			      /* .maxnreg; 0: not given */
	uint32_t min_blocks;			      /* .minnctapersm; 0: not given */
	uint32_t required_cluster[3]; /* .reqnctapercluster: blocks; 0: not given */
	bool explicit_cluster;	      /* .explicitcluster: the launch must say */
	bool counted_clusters;	      /* .blocksareclusters: the grid counts clusters */
	unsigned line;
};

/* ---- the memory of a module: zeroed pieces that are freed all at once; and the module's names, each stored once, so that
 * equal names are the same pointer ---- */

struct gt_ptx_arena;

struct gt_ptx_arena *gt_ptx_arena_open(struct gt_error *error);
void gt_ptx_arena_close(struct gt_ptx_arena *arena);

/* `n` zeroed elements, aligned for any type. NULL when memory is short; not NULL if n is 0. */
void *gt_ptx_arena_take(struct gt_ptx_arena *arena, size_t n, size_t element, struct gt_error *error);
/* The same, with a copy of the elements. */
void *gt_ptx_arena_copy(struct gt_ptx_arena *arena, const void *from, size_t n, size_t element,
			struct gt_error *error);

/* The stored copy of a name. NULL when memory is short. */
char *gt_ptx_arena_name(struct gt_ptx_arena *arena, const char *text, size_t length, struct gt_error *error);
/* The stored name, or NULL if it was not stored. */
char *gt_ptx_arena_known(const struct gt_ptx_arena *arena, const char *text, size_t length);

/* ---- the module ---- */

struct gt_ptx_module {
	struct gt_ptx_arena *arena; /* owns all that follows */
	unsigned version;      /* 900 for 9.0 */
	struct gt_gpu_target target;
	unsigned address_size; /* bits: 64 */
	struct gt_ptx_variable *variables; /* of the module: .global, .const, .shared */
	size_t n_variables;
	struct gt_ptx_function *functions;
	size_t n_functions;
	struct gt_ptx_file *files;
	size_t n_files;
	struct gt_map function_indices, variable_indices; /* by a name's address: gt_ptx_function_index */
};

/* Parses a text (0-terminated after `length` bytes); `name` is for messages, which say
 * "NAME:LINE: ...". Returns 0, or -1. The module is freed by gt_ptx_module_free in either case. */
int gt_ptx_parse(struct gt_ptx_module *module, const char *name, const char *text, size_t length,
		 struct gt_error *error);
/* The same for a file, compressed or not, or standard input for "-". */
int gt_ptx_load(struct gt_ptx_module *module, const char *path, struct gt_error *error);
void gt_ptx_module_free(struct gt_ptx_module *module);

/* The function of that name with a body, or NULL; kernels are found by their plain name too, if
 * only one has it. */
const struct gt_ptx_function *gt_ptx_function_named(const struct gt_ptx_module *module, const char *name);
const struct gt_ptx_function *gt_ptx_kernel(const struct gt_ptx_module *module, const char *name);

/* The index of a function or a variable of the module by a name that the module stores; SIZE_MAX if there is none.
 * Among several it is a definition, if there is one. */
size_t gt_ptx_function_index(const struct gt_ptx_module *module, const char *name);
size_t gt_ptx_variable_index(const struct gt_ptx_module *module, const char *name);
/* The function of a name that the module stores, if it has a body, else NULL. */
const struct gt_ptx_function *gt_ptx_function_body(const struct gt_ptx_module *module, const char *name);
/* Fills both tables; gt_ptx_parse calls it. */
int gt_ptx_module_index(struct gt_ptx_module *module, struct gt_error *error);

/* The plain name of a function or variable: that of the source without namespaces, functions around it, template arguments and
 * parameters, where C++ mangled it ("gemm" for _Z4gemmPKfS0_Pfi), else the name itself. Returns
 * where it begins in `name`. */
const char *gt_ptx_plain_name(const char *name, size_t *length);
/* Whether two names have one plain name. */
bool gt_ptx_plain_same(const char *left, const char *right);
/* How a variable is told of: its plain name, with a number, from #2 on, if `same` earlier ones have the same; returns `text`. */
#define GT_PTX_VARIABLE_NAME 64
const char *gt_ptx_variable_name(const char *name, unsigned same, char text[GT_PTX_VARIABLE_NAME]);

/* A kernel's name in the stream, the shortest of these that no other kernel of the module has: its plain name, this with the arguments of its template,
 * these with its namespaces; else its full name. Returns a text in `name`, or the kernel's. */
const char *gt_ptx_shown_name(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, char name[GT_KERNEL_NAME]);

/* The source location of an instruction: the file, and its line. NULL if it has none. What is inlined from a file that is not in the folder of the
 * function's own, as a header of the toolkit, is at the line of the function that has it. */
const struct gt_ptx_file *gt_ptx_source_of(const struct gt_ptx_module *module, const struct gt_ptx_instruction *instruction, unsigned *source_line);
/* The source location of a line of the PTX text, from the preceding .loc: the file's name without folders, and its line. False
 * if the text has none. */
bool gt_ptx_source_place(const struct gt_ptx_module *module, unsigned line, const char **file, unsigned *source_line);

/* True if the instruction has the modifier. */
bool gt_ptx_has(const struct gt_ptx_instruction *instruction, const char *modifier);

/* The row of its opcode. */
static inline const struct gt_ptx_opcode_row *gt_ptx_row(const struct gt_ptx_instruction *instruction)
{
	return &gt_ptx_opcode_rows[instruction->row];
}

/* The elements of a vector, or the one operand. */
static inline const struct gt_ptx_operand *gt_ptx_elements(const struct gt_ptx_operand *operand, size_t *n)
{
	*n = operand->kind == GT_PTX_VECTOR ? operand->n_elements : 1;
	return operand->kind == GT_PTX_VECTOR ? operand->elements : operand;
}

/* The number of leading operands that an instruction writes, without those that a call returns. */
size_t gt_ptx_results(const struct gt_ptx_instruction *instruction);
/* The first operand that it reads, as it reads all further ones. */
size_t gt_ptx_first_source(const struct gt_ptx_instruction *instruction);

/* Joins the PTX texts of several translation units into one, as the device linker joins their code: equal local names of
 * different units stay separate. */

struct gt_ptx_text {
	char *data; /* 0-terminated; NULL: nothing yet */
	size_t bytes;
	unsigned units;
};

/* Stands between a local name of a unit that is linked, from the second one on, and the number of the unit. */
#define GT_PTX_UNIT "$unit"
/* Adds a unit, which needs no final 0. Line numbers are kept. Directives that a module may have only once become blanks, and
 * local names of later units get the unit's number as a suffix. The caller frees the text in either case. */
int gt_ptx_link(struct gt_ptx_text *text, const char *unit, size_t bytes, struct gt_error *error);

#endif
