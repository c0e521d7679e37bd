/* SPDX-License-Identifier: MIT */
/* The tokens of PTX text, and what the files of the parser share. Each parsing function begins at the parser's token, moves it past
 * what it parsed, and returns 0, or -1 with the error set. */
#ifndef GT_PTX_TEXT_PARSE_H
#define GT_PTX_TEXT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "cuda/ptx/text/module.h"

/* ---- tokens (parse_tokens.c) ---- */

enum gt_ptx_token_kind {
	GT_PTX_TOKEN_END,
	GT_PTX_TOKEN_WORD,     /* ld, %r1, $L__BB0_1, _ */
	GT_PTX_TOKEN_DOT_WORD, /* .global, .x, .L2::128B, with the dot */
	GT_PTX_TOKEN_NUMBER,
	GT_PTX_TOKEN_STRING, /* without the quotes */
	GT_PTX_TOKEN_SIGN,   /* one character */
	GT_PTX_TOKEN_WRONG,  /* not a token of PTX; `wrong` gives the reason. It ends the text. */
};

struct gt_ptx_token {
	enum gt_ptx_token_kind kind;
	const char *text; /* in the scanned text */
	size_t length;
	unsigned line; /* from 1 */
	const char *wrong;
};

struct gt_ptx_lexer {
	const char *at, *end;
	unsigned line;
};

/* Scans `length` bytes, which must be followed by a 0. */
void gt_ptx_lex_begin(struct gt_ptx_lexer *lexer, const char *text, size_t length);
void gt_ptx_lex(struct gt_ptx_lexer *lexer, struct gt_ptx_token *token);

struct gt_ptx_number {
	uint64_t bits;	/* of an integer, a double, or a float */
	bool is_float;	/* of a double, unless: */
	bool is_single; /* of a float */
};

/* The value of a number: decimal, 0x, 0b, octal with a leading 0, possibly with a suffix U; 0fXXXXXXXX,
 * 0dXXXXXXXXXXXXXXXX; decimal with a point or an exponent. False if it is not a number or does not fit. */
bool gt_ptx_lex_number(const struct gt_ptx_token *token, struct gt_ptx_number *number);

/* ---- the state of the parser ---- */

#define GT_PTX_DEPTH 32 /* nesting limit of braces, brackets and parentheses */

/* An array that grows during parsing; the module gets a copy of its final size. */
struct gt_ptx_list {
	void *items;
	size_t n, capacity;
};

/* The meaning of a name in a body. */
struct gt_ptx_meaning {
	char *name; /* NAME, or NAME#N when it was declared in inner braces */
	enum gt_ptx_space space;
	bool label; /* else a variable */
	uint64_t count; /* of numbered registers, as in struct gt_ptx_variable */
};

struct gt_ptx_scope {
	struct gt_map names; /* the name's pointer -> index of its meaning */
	unsigned number;     /* N */
	bool numbered;	     /* declares numbered registers */
	bool labelled;	     /* has labels */
	size_t first_instruction, first_targets;
};

/* A .branchtargets table. */
struct gt_ptx_targets {
	char *name;
	struct gt_ptx_operand labels; /* a vector */
};

/* A .loc, and the line of the function itself into which it is inlined, at any depth; its own line if it is not. */
struct gt_ptx_loc {
	unsigned file, line, column, caller_file, caller_line;
};
#define GT_PTX_LOCS 64 /* among which that is searched into which another is inlined */

struct gt_ptx_parser {
	struct gt_ptx_module *module;
	const char *file;
	struct gt_error *error;
	struct gt_ptx_lexer lexer;
	struct gt_ptx_token token, lookahead; /* the one that is parsed, and the one behind it */

	struct gt_ptx_list variables, functions; /* of the module */
	struct gt_map bodies;			 /* a function's name -> its index, if it has a body */
	struct gt_ptx_list files;		 /* struct gt_ptx_file */
	struct gt_ptx_list initial_values;	 /* struct gt_ptx_reference: of a variable */

	/* Of the function that is parsed. */
	struct gt_ptx_loc locs[GT_PTX_LOCS]; /* the last ones of the function, in a ring */
	unsigned n_locs;
	bool rolled; /* .pragma "nounroll" stands before the next instruction */
	struct gt_ptx_list locals, instructions, labels, targets;
	struct gt_ptx_list operands; /* a stack: of the instruction, its vectors on top */
	struct gt_ptx_list meanings;
	struct gt_ptx_scope scopes[GT_PTX_DEPTH];
	size_t depth; /* scopes open; 0: outside of functions */
	unsigned n_scopes;
	unsigned nesting; /* of expressions and vectors */
	bool video; /* the instruction that is parsed is one for video, whose registers have parts and signs */
	uint64_t initial_bytes; /* of all initial values so far */
};

/* ---- parse_tokens.c ---- */

void gt_ptx_advance(struct gt_ptx_parser *parser);
/* True if the token is exactly this text; gt_ptx_take goes past it then. */
bool gt_ptx_is(const struct gt_ptx_parser *parser, const char *text);
bool gt_ptx_take(struct gt_ptx_parser *parser, const char *text);
/* Requires this token, and moves past it. */
int gt_ptx_need(struct gt_ptx_parser *parser, const char *text);
/* "NAME:LINE: expected WHAT, found 'TOKEN'"; returns -1. */
int gt_ptx_expected(struct gt_ptx_parser *parser, const char *what);
/* "NAME:LINE: TEXT", of the token's line; returns -1. */
int gt_ptx_wrong(struct gt_ptx_parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A whole number from `min` to `max`. */
int gt_ptx_count(struct gt_ptx_parser *parser, const char *what, uint64_t min, uint64_t max, uint64_t *value);
/* A word, stored. */
int gt_ptx_name(struct gt_ptx_parser *parser, const char *what, char **name);
/* Skips everything up to the brace that closes the one at the token. */
int gt_ptx_skip_braces(struct gt_ptx_parser *parser);

/* A new zeroed item at the end of a list, or NULL when memory is short. */
void *gt_ptx_push(struct gt_ptx_parser *parser, struct gt_ptx_list *list, size_t item);
/* Moves the items from `first` on from the list into the module. */
int gt_ptx_settle(struct gt_ptx_parser *parser, struct gt_ptx_list *list, size_t first, size_t item, void *items,
		  size_t *n);

/* Takes .loc, .file, .section or .pragma, if one of these is next. Sets *taken. */
int gt_ptx_take_directive(struct gt_ptx_parser *parser, bool *taken);

int gt_ptx_scope_open(struct gt_ptx_parser *parser);
int gt_ptx_scope_close(struct gt_ptx_parser *parser);
/* Gives the name a meaning in the innermost scope, and changes it to a unique one. */
int gt_ptx_declare(struct gt_ptx_parser *parser, char **name, enum gt_ptx_space space, uint64_t count, bool label);
/* Changes the name of a variable to its unique one. Returns its space, or GT_PTX_GENERIC if the
 * name is that of no variable. -1 when memory is short. */
int gt_ptx_resolve(struct gt_ptx_parser *parser, char **name);

/* ---- parse_variable.c ---- */

/* The space a directive names, or GT_PTX_GENERIC if it names none. */
enum gt_ptx_space gt_ptx_space_named(const struct gt_ptx_token *token);
/* One or more variables after the directive of their space, up to and including the semicolon. */
int gt_ptx_parse_variables(struct gt_ptx_parser *parser, struct gt_ptx_list *list, bool external);
/* (parameter, ...) of a function; nothing is declared. */
int gt_ptx_parse_parameters(struct gt_ptx_parser *parser, struct gt_ptx_variable **parameters, size_t *n);

/* A constant expression of whole numbers, or one floating-point number. */
int gt_ptx_parse_constant(struct gt_ptx_parser *parser, struct gt_ptx_number *number);

#endif
