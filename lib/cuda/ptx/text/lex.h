/* SPDX-License-Identifier: MIT */
/* The tokens of PTX text. */
#ifndef GT_PTX_LEX_H
#define GT_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
