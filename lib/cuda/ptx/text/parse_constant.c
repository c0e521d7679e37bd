/* SPDX-License-Identifier: MIT */
/* Constant expressions. */
#include <string.h>

#include "cuda/ptx/text/parse.h"

static int parse_ternary(struct gt_ptx_parser *parser, struct gt_ptx_number *number);

/* (.s64) or (.u64), of which the type says nothing to 64-bit numbers; or (expression) */
static int parse_parenthesis(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	gt_ptx_advance(parser);
	if (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		gt_ptx_advance(parser);
		return gt_ptx_need(parser, ")") != 0 ? -1 : parse_ternary(parser, number);
	}
	return parse_ternary(parser, number) != 0 ? -1 : gt_ptx_need(parser, ")");
}

static void negate(struct gt_ptx_number *number)
{
	if (!number->is_float)
		number->bits = 0 - number->bits;
	else
		number->bits ^= number->is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
}

static int parse_unary(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	int result;

	*number = (struct gt_ptx_number){0};
	if (++parser->nesting > GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
	if (gt_ptx_take(parser, "-")) {
		result = parse_unary(parser, number);
		negate(number);
	} else if (gt_ptx_take(parser, "+")) {
		result = parse_unary(parser, number);
	} else if (gt_ptx_take(parser, "~")) {
		result = parse_unary(parser, number);
		number->bits = ~number->bits;
	} else if (gt_ptx_take(parser, "!")) {
		result = parse_unary(parser, number);
		number->bits = number->bits == 0;
	} else if (gt_ptx_is(parser, "(")) {
		result = parse_parenthesis(parser, number);
	} else if (parser->token.kind == GT_PTX_TOKEN_NUMBER && gt_ptx_lex_number(&parser->token, number)) {
		gt_ptx_advance(parser);
		result = 0;
	} else {
		result = gt_ptx_expected(parser, parser->token.kind == GT_PTX_TOKEN_NUMBER ?
			"a number of at most 64 bits" : "an operand");
	}
	parser->nesting--;
	return result;
}

/* The operators, from those that bind least. One of two signs is two tokens side by side. */
static const struct operator {
	const char *sign;
	int level;
} operators[] = {
	{"||", 0}, {"&&", 1}, {"|", 2}, {"^", 3}, {"&", 4}, {"==", 5}, {"!=", 5}, {"<=", 6}, {">=", 6}, {"<<", 7},
	{">>", 7}, {"<", 6}, {">", 6}, {"+", 8}, {"-", 8}, {"*", 9}, {"/", 9}, {"%", 9},
};

#define LEVELS 10

/* The operator at the token, or NULL. */
static const struct operator *find_operator(const struct gt_ptx_parser *parser)
{
	const char *text = parser->token.text;

	if (parser->token.kind != GT_PTX_TOKEN_SIGN)
		return NULL;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t length = strlen(operators[i].sign);
		if (strncmp(text, operators[i].sign, length) == 0)
			return &operators[i];
	}
	return NULL;
}

static int apply(struct gt_ptx_parser *parser, const char *sign, uint64_t *left, uint64_t right)
{
	uint64_t a = *left, b = right;

	if ((*sign == '/' || *sign == '%') && b == 0)
		return gt_ptx_wrong(parser, "division by 0");
	switch (sign[0] + (sign[1] ? 256 : 0)) {
	case '|' + 256: *left = a || b; break;
	case '&' + 256: *left = a && b; break;
	case '|': *left = a | b; break;
	case '^': *left = a ^ b; break;
	case '&': *left = a & b; break;
	case '=' + 256: *left = a == b; break;
	case '!' + 256: *left = a != b; break;
	case '<' + 256: *left = sign[1] == '<' ? (b < 64 ? a << b : 0) : (int64_t)a <= (int64_t)b; break;
	case '>' + 256: *left = sign[1] == '>' ? (b < 64 ? a >> b : 0) : (int64_t)a >= (int64_t)b; break;
	case '<': *left = (int64_t)a < (int64_t)b; break;
	case '>': *left = (int64_t)a > (int64_t)b; break;
	case '+': *left = a + b; break;
	case '-': *left = a - b; break;
	case '*': *left = a * b; break;
	case '/': *left = a / b; break;
	default: *left = a % b; break;
	}
	return 0;
}

/* Operators of this level and above. */
static int parse_binary(struct gt_ptx_parser *parser, int level, struct gt_ptx_number *number)
{
	const struct operator *operator;

	if (parse_unary(parser, number) != 0)
		return -1;
	while ((operator = find_operator(parser)) != NULL && operator->level >= level) {
		struct gt_ptx_number right;
		for (size_t i = 0; i < strlen(operator->sign); i++)
			gt_ptx_advance(parser);
		if (++parser->nesting > GT_PTX_DEPTH)
			return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
		if (parse_binary(parser, operator->level + 1, &right) != 0)
			return -1;
		parser->nesting--;
		if (number->is_float || right.is_float)
			return gt_ptx_wrong(parser, "arithmetic with floating-point constants");
		if (apply(parser, operator->sign, &number->bits, right.bits) != 0)
			return -1;
	}
	return 0;
}

static int parse_ternary(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	struct gt_ptx_number yes, no;

	if (parse_binary(parser, 0, number) != 0)
		return -1;
	if (!gt_ptx_take(parser, "?"))
		return 0;
	if (++parser->nesting > GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
	if (parse_ternary(parser, &yes) != 0 || gt_ptx_need(parser, ":") != 0 || parse_ternary(parser, &no) != 0)
		return -1;
	parser->nesting--;
	*number = number->bits != 0 ? yes : no;
	return 0;
}

int gt_ptx_parse_constant(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	return parse_ternary(parser, number);
}
