/* SPDX-License-Identifier: MIT */
/* Variables of every space, including registers and parameters. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/text/parse.h"

#define DIMENSIONS_MAX 16
#define ALIGNMENT_MAX (UINT64_C(1) << 20)
#define REGISTERS_MAX (UINT64_C(1) << 24)
#define BYTES_MAX (UINT64_C(1) << 40)

enum gt_ptx_space gt_ptx_space_named(const struct gt_ptx_token *token)
{
	static const struct {
		const char *name;
		enum gt_ptx_space space;
	} spaces[] = {
		{".reg", GT_PTX_REG}, {".sreg", GT_PTX_REG}, {".param", GT_PTX_PARAM}, {".global", GT_PTX_GLOBAL},
		{".shared", GT_PTX_SHARED}, {".local", GT_PTX_LOCAL}, {".const", GT_PTX_CONST},
		{".tex", GT_PTX_GLOBAL},
	};

	if (token->kind != GT_PTX_TOKEN_DOT_WORD)
		return GT_PTX_GENERIC;
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (strlen(spaces[i].name) == token->length && memcmp(spaces[i].name, token->text, token->length) == 0)
			return spaces[i].space;
	return GT_PTX_GENERIC;
}

static int parse_alignment(struct gt_ptx_parser *parser, unsigned *alignment)
{
	uint64_t bytes;

	if (gt_ptx_count(parser, "an alignment", 1, ALIGNMENT_MAX, &bytes) != 0)
		return -1;
	if ((bytes & (bytes - 1)) != 0)
		return gt_ptx_wrong(parser, "an alignment of %u bytes is not a power of two", (unsigned)bytes);
	*alignment = (unsigned)bytes;
	return 0;
}

/* .ptr[.SPACE][.align N]: describes the target of a pointer parameter; ignored. */
static int skip_pointer(struct gt_ptx_parser *parser)
{
	unsigned alignment;

	if (gt_ptx_space_named(&parser->token) != GT_PTX_GENERIC)
		gt_ptx_advance(parser);
	return gt_ptx_take(parser, ".align") ? parse_alignment(parser, &alignment) : 0;
}

/* (...) of .attribute: .managed, and those that change nothing here */
static int parse_attribute(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	if (gt_ptx_need(parser, "(") != 0)
		return -1;
	while (!gt_ptx_take(parser, ")")) {
		if (parser->token.kind == GT_PTX_TOKEN_END || parser->token.kind == GT_PTX_TOKEN_WRONG)
			return gt_ptx_expected(parser, "')'");
		variable->managed |= gt_ptx_is(parser, ".managed");
		gt_ptx_advance(parser);
	}
	return 0;
}

/* The type, or the number of elements of a vector. */
static int parse_type(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	const struct gt_ptx_token *token = &parser->token;

	if (gt_ptx_is(parser, ".v2") || gt_ptx_is(parser, ".v4") || gt_ptx_is(parser, ".v8")) {
		variable->vector = (unsigned)(token->text[2] - '0');
	} else if (gt_ptx_is(parser, ".samplerref") || gt_ptx_is(parser, ".surfref")) {
		variable->type = GT_PTX_TEXREF;
	} else {
		variable->type = token->kind == GT_PTX_TOKEN_DOT_WORD ?
			gt_ptx_type_named(token->text + 1, token->length - 1) : GT_PTX_NO_TYPE;
		if (variable->type == GT_PTX_NO_TYPE)
			return gt_ptx_expected(parser, "a type");
	}
	gt_ptx_advance(parser);
	return 0;
}

/* The part between the directive of the space and the first name. */
static int parse_attributes(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	uint64_t bank;

	*variable = (struct gt_ptx_variable){.space = gt_ptx_space_named(&parser->token), .vector = 1};
	gt_ptx_advance(parser);
	if (gt_ptx_take(parser, "[") &&
	    (gt_ptx_count(parser, "a bank of constants", 0, 10, &bank) != 0 || gt_ptx_need(parser, "]") != 0))
		return -1;
	while (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		int result;
		if (gt_ptx_take(parser, ".align"))
			result = parse_alignment(parser, &variable->alignment);
		else if (gt_ptx_take(parser, ".ptr"))
			result = skip_pointer(parser);
		else if (gt_ptx_take(parser, ".attribute"))
			result = parse_attribute(parser, variable);
		else
			result = parse_type(parser, variable);
		if (result != 0)
			return -1;
	}
	if (variable->type == GT_PTX_NO_TYPE)
		return gt_ptx_expected(parser, "a type");
	unsigned natural = gt_ptx_type_size(variable->type) * variable->vector;
	if (variable->alignment < natural)
		variable->alignment = natural;
	if (variable->alignment == 0)
		variable->alignment = 1;
	return 0;
}

/* [N][M]...; a first [] is 0. */
static int parse_dimensions(struct gt_ptx_parser *parser, uint64_t dimensions[DIMENSIONS_MAX], size_t *n)
{
	struct gt_ptx_number number;

	for (*n = 0; gt_ptx_take(parser, "["); (*n)++) {
		if (*n == DIMENSIONS_MAX)
			return gt_ptx_wrong(parser, "an array of more than %d dimensions", DIMENSIONS_MAX);
		dimensions[*n] = 0;
		if (*n == 0 && gt_ptx_take(parser, "]"))
			continue;
		if (gt_ptx_parse_constant(parser, &number) != 0)
			return -1;
		if (number.is_float || number.bits == 0 || number.bits > BYTES_MAX)
			return gt_ptx_wrong(parser, "the size of an array is not from 1 to 2^40");
		dimensions[*n] = number.bits;
		if (gt_ptx_need(parser, "]") != 0)
			return -1;
	}
	return 0;
}

/* Computes elements and bytes from the dimensions. */
static int measure(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, const uint64_t *dimensions, size_t n)
{
	uint64_t unit = (uint64_t)gt_ptx_type_size(variable->type) * variable->vector;
	uint64_t elements = 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t size = dimensions[i] > 0 ? dimensions[i] : 1;
		if (elements > BYTES_MAX / size)
			return gt_ptx_wrong(parser, "'%.100s' has more than 2^40 elements", variable->name);
		elements *= size;
	}
	if (unit > 0 && elements > BYTES_MAX / unit)
		return gt_ptx_wrong(parser, "'%.100s' has more than 2^40 bytes", variable->name);
	variable->elements = n > 0 && dimensions[0] == 0 ? 0 : elements;
	variable->bytes = variable->elements * unit;
	return 0;
}

/* <N> after the name of registers. */
static int parse_register_count(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	if (variable->space != GT_PTX_REG || !gt_ptx_take(parser, "<"))
		return 0;
	if (gt_ptx_count(parser, "a number of registers, at most 2^24", 1, REGISTERS_MAX, &variable->count) != 0)
		return -1;
	return gt_ptx_need(parser, ">");
}

/* = { addr_mode_0 = wrap, ... } of textures and samplers; ignored. */
static int parse_initial(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, uint64_t *dimensions, size_t n)
{
	if (variable->type == GT_PTX_TEXREF)
		return gt_ptx_is(parser, "{") ? gt_ptx_skip_braces(parser) : gt_ptx_expected(parser, "'{'");
	if (variable->space != GT_PTX_GLOBAL && variable->space != GT_PTX_CONST)
		return gt_ptx_expected(parser, "',' or ';': only .global and .const variables have initial values");
	if (gt_ptx_type_size(variable->type) == 0)
		return gt_ptx_wrong(parser, "predicates have no initial values");
	if (gt_ptx_parse_initial(parser, variable, dimensions, n) != 0 || measure(parser, variable, dimensions, n) != 0)
		return -1;
	return 0;
}

/* NAME, then count, dimensions and initial value. */
static int parse_declarator(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	uint64_t dimensions[DIMENSIONS_MAX];
	size_t n;

	variable->line = parser->token.line;
	if (gt_ptx_name(parser, "the name of a variable", &variable->name) != 0 ||
	    parse_register_count(parser, variable) != 0 || parse_dimensions(parser, dimensions, &n) != 0 ||
	    measure(parser, variable, dimensions, n) != 0)
		return -1;
	return gt_ptx_take(parser, "=") ? parse_initial(parser, variable, dimensions, n) : 0;
}

int gt_ptx_parse_variables(struct gt_ptx_parser *parser, struct gt_ptx_list *list, bool external)
{
	struct gt_ptx_variable common;

	if (parse_attributes(parser, &common) != 0)
		return -1;
	do {
		struct gt_ptx_variable variable = common;
		variable.external = external;
		if (parse_declarator(parser, &variable) != 0 ||
		    (parser->depth > 0 && gt_ptx_declare(parser, &variable.name, variable.space, variable.count, false) != 0))
			return -1;
		struct gt_ptx_variable *added = gt_ptx_push(parser, list, sizeof *added);
		if (!added)
			return -1;
		*added = variable;
	} while (gt_ptx_take(parser, ","));
	return gt_ptx_need(parser, ";");
}

int gt_ptx_parse_parameters(struct gt_ptx_parser *parser, struct gt_ptx_variable **parameters, size_t *n)
{
	struct gt_ptx_list list = {0};
	int result = gt_ptx_need(parser, "(");

	while (result == 0 && !gt_ptx_take(parser, ")")) {
		struct gt_ptx_variable *added = gt_ptx_push(parser, &list, sizeof *added), variable;
		enum gt_ptx_space space = gt_ptx_space_named(&parser->token);
		if (!added)
			result = -1;
		else if (space != GT_PTX_PARAM && space != GT_PTX_REG)
			result = gt_ptx_expected(parser, "'.param'");
		else if (parse_attributes(parser, &variable) != 0 || parse_declarator(parser, &variable) != 0)
			result = -1;
		else
			*added = variable;
		if (result == 0 && !gt_ptx_is(parser, ")"))
			result = gt_ptx_need(parser, ",");
	}
	if (result == 0)
		result = gt_ptx_settle(parser, &list, 0, sizeof **parameters, parameters, n);
	free(list.items);
	return result;
}
