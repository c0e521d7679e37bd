/* SPDX-License-Identifier: MIT */
/* [@[!]guard] opcode.modifier... operand, ...; */
#include <string.h>

#include "cuda/ptx/text/parse.h"

static int parse_operand(struct gt_ptx_parser *parser);

static struct gt_ptx_operand *push_operand(struct gt_ptx_parser *parser, enum gt_ptx_operand_kind kind)
{
	struct gt_ptx_operand *operand = gt_ptx_push(parser, &parser->operands, sizeof *operand);

	if (operand)
		operand->kind = kind;
	return operand;
}

/* Operands of an inner list lie on the stack above their owner, which may have moved since. */
static int settle_elements(struct gt_ptx_parser *parser, size_t owner, size_t first)
{
	struct gt_ptx_operand *elements;
	size_t n;

	if (gt_ptx_settle(parser, &parser->operands, first, sizeof *elements, &elements, &n) != 0)
		return -1;
	struct gt_ptx_operand *operands = parser->operands.items;
	operands[owner].elements = elements;
	operands[owner].n_elements = n;
	return 0;
}

/* operand, ... up to and with the closing sign */
static int parse_list(struct gt_ptx_parser *parser, const char *close)
{
	if (++parser->nesting > GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "operands nested deeper than %d", GT_PTX_DEPTH);
	if (gt_ptx_take(parser, close)) {
		parser->nesting--;
		return 0;
	}
	do {
		if (parse_operand(parser) != 0)
			return -1;
	} while (gt_ptx_take(parser, ","));
	parser->nesting--;
	return gt_ptx_need(parser, close);
}

/* {a, b} */
static int parse_vector(struct gt_ptx_parser *parser)
{
	size_t owner = parser->operands.n;

	gt_ptx_advance(parser);
	if (!push_operand(parser, GT_PTX_VECTOR) || parse_list(parser, "}") != 0)
		return -1;
	return settle_elements(parser, owner, owner + 1);
}

/* A name with the .x behind it that special registers and vectors have. */
static int parse_dotted_name(struct gt_ptx_parser *parser, char **name)
{
	const char *text = parser->token.text;
	size_t length = parser->token.length;

	if (parser->ahead.kind != GT_PTX_TOKEN_DOT_WORD || parser->ahead.text != text + length)
		return gt_ptx_name(parser, "a name", name);
	gt_ptx_advance(parser);
	*name = gt_ptx_arena_name(parser->module->arena, text, length + parser->token.length, parser->error);
	gt_ptx_advance(parser);
	return *name ? 0 : -1;
}

/* +N or -N, also +-N, if there is one. */
static int parse_offset(struct gt_ptx_parser *parser, int64_t *offset)
{
	struct gt_ptx_number number;

	*offset = 0;
	if (gt_ptx_is(parser, "+"))
		gt_ptx_advance(parser);
	else if (!gt_ptx_is(parser, "-"))
		return 0;
	if (gt_ptx_parse_constant(parser, &number) != 0)
		return -1;
	if (number.is_float)
		return gt_ptx_wrong(parser, "an offset is a whole number");
	*offset = (int64_t)number.bits;
	return 0;
}

/* A register, or a symbol with its offset. */
static int parse_named(struct gt_ptx_parser *parser)
{
	size_t at = parser->operands.n;
	struct gt_ptx_operand operand = {.kind = GT_PTX_SYMBOL};

	if (parse_dotted_name(parser, &operand.name) != 0)
		return -1;
	char *name = operand.name;
	int space = gt_ptx_resolve(parser, &operand.name);
	if (space < 0)
		return -1;
	if (strcmp(name, "_") == 0) {
		operand.kind = GT_PTX_SINK;
	} else if (strcmp(name, "WARP_SZ") == 0 && space == GT_PTX_GENERIC) {
		operand = (struct gt_ptx_operand){.kind = GT_PTX_IMMEDIATE, .bits = 32};
	} else if (space == GT_PTX_REG || (space == GT_PTX_GENERIC && *name == '%')) {
		operand.kind = GT_PTX_REGISTER;
	} else if (parse_offset(parser, &operand.offset) != 0) {
		return -1;
	}
	if (!push_operand(parser, operand.kind))
		return -1;
	((struct gt_ptx_operand *)parser->operands.items)[at] = operand;
	return 0;
}

static int parse_immediate(struct gt_ptx_parser *parser)
{
	struct gt_ptx_number number;
	struct gt_ptx_operand *operand;

	if (gt_ptx_parse_constant(parser, &number) != 0 || !(operand = push_operand(parser, GT_PTX_IMMEDIATE)))
		return -1;
	operand->bits = number.bits;
	operand->is_float = number.is_float;
	operand->is_single = number.is_single;
	return 0;
}

/* [name+offset], [number], [name, operand, ...] */
static int parse_address(struct gt_ptx_parser *parser)
{
	size_t owner = parser->operands.n;
	struct gt_ptx_operand *operand;

	gt_ptx_advance(parser);
	if (parser->token.kind == GT_PTX_TOKEN_WORD) {
		struct gt_ptx_operand address = {.kind = GT_PTX_ADDRESS};
		if (parse_dotted_name(parser, &address.name) != 0 || gt_ptx_resolve(parser, &address.name) < 0 ||
		    parse_offset(parser, &address.offset) != 0 || !(operand = push_operand(parser, GT_PTX_ADDRESS)))
			return -1;
		*operand = address;
	} else {
		struct gt_ptx_number number;
		if (gt_ptx_parse_constant(parser, &number) != 0 || !(operand = push_operand(parser, GT_PTX_ADDRESS)))
			return -1;
		operand->offset = (int64_t)number.bits;
	}
	if (!gt_ptx_take(parser, ","))
		return gt_ptx_need(parser, "]");
	if (parse_list(parser, "]") != 0)
		return -1;
	return settle_elements(parser, owner, owner + 1);
}

static int parse_negated(struct gt_ptx_parser *parser)
{
	size_t at = parser->operands.n;

	gt_ptx_advance(parser);
	if (parser->token.kind != GT_PTX_TOKEN_WORD)
		return gt_ptx_expected(parser, "a predicate");
	if (parse_named(parser) != 0)
		return -1;
	((struct gt_ptx_operand *)parser->operands.items)[at].negated = true;
	return 0;
}

/* Pushes one operand; two for p|q and {a, b}|q. */
static int parse_operand(struct gt_ptx_parser *parser)
{
	size_t at = parser->operands.n;
	bool vector = gt_ptx_is(parser, "{");

	if (gt_ptx_is(parser, "["))
		return parse_address(parser);
	if (gt_ptx_is(parser, "!"))
		return parse_negated(parser);
	if (!vector && parser->token.kind != GT_PTX_TOKEN_WORD)
		return parse_immediate(parser);
	if ((vector ? parse_vector(parser) : parse_named(parser)) != 0)
		return -1;
	if (!gt_ptx_take(parser, "|"))
		return 0;
	((struct gt_ptx_operand *)parser->operands.items)[at].paired = true;
	return parse_operand(parser);
}

/* (operand, ...) of a call */
static int parse_call_list(struct gt_ptx_parser *parser, struct gt_ptx_operand **operands, size_t *n)
{
	size_t first = parser->operands.n;

	gt_ptx_advance(parser);
	if (parse_list(parser, ")") != 0)
		return -1;
	return gt_ptx_settle(parser, &parser->operands, first, sizeof **operands, operands, n);
}

/* [(returns),] function[, (arguments)][, prototype] */
static int parse_call(struct gt_ptx_parser *parser, struct gt_ptx_instruction *instruction)
{
	if (gt_ptx_is(parser, "(") &&
	    (parse_call_list(parser, &instruction->returns, &instruction->n_returns) != 0 ||
	     gt_ptx_need(parser, ",") != 0))
		return -1;
	if (parser->token.kind != GT_PTX_TOKEN_WORD)
		return gt_ptx_expected(parser, "a function");
	if (parse_named(parser) != 0)
		return -1;
	if (gt_ptx_take(parser, ",")) {
		if (!gt_ptx_is(parser, "(")) {
			if (parse_operand(parser) != 0)
				return -1;
		} else if (parse_call_list(parser, &instruction->arguments, &instruction->n_arguments) != 0 ||
			   (gt_ptx_take(parser, ",") && parse_operand(parser) != 0)) {
			return -1;
		}
	}
	return 0;
}

static int parse_guard(struct gt_ptx_parser *parser, struct gt_ptx_instruction *instruction)
{
	instruction->guard_negated = gt_ptx_take(parser, "!");
	if (parser->token.kind != GT_PTX_TOKEN_WORD)
		return gt_ptx_expected(parser, "a predicate");
	if (gt_ptx_name(parser, "a predicate", &instruction->guard) != 0)
		return -1;
	return gt_ptx_resolve(parser, &instruction->guard) < 0 ? -1 : 0;
}

static int parse_modifiers(struct gt_ptx_parser *parser, struct gt_ptx_instruction *instruction)
{
	const struct gt_ptx_token *token = &parser->token;

	for (; token->kind == GT_PTX_TOKEN_DOT_WORD; gt_ptx_advance(parser)) {
		if (instruction->n_modifiers == GT_PTX_MODIFIERS)
			return gt_ptx_wrong(parser, "'%.40s' with more than %d modifiers", instruction->opcode,
					    GT_PTX_MODIFIERS);
		char *name = gt_ptx_arena_name(parser->module->arena, token->text + 1, token->length - 1, parser->error);
		if (!name)
			return -1;
		instruction->modifiers[instruction->n_modifiers++] = name;
	}
	return 0;
}

static int parse_operands(struct gt_ptx_parser *parser, struct gt_ptx_instruction *instruction)
{
	if (instruction->row == GT_PTX_OP_CALL) {
		if (parse_call(parser, instruction) != 0)
			return -1;
	} else if (!gt_ptx_is(parser, ";")) {
		do {
			if (parse_operand(parser) != 0)
				return -1;
		} while (gt_ptx_take(parser, ","));
	}
	return gt_ptx_settle(parser, &parser->operands, 0, sizeof *instruction->operands, &instruction->operands,
			     &instruction->n_operands);
}

int gt_ptx_parse_instruction(struct gt_ptx_parser *parser)
{
	struct gt_ptx_instruction instruction = {.line = parser->token.line,
						    .file = parser->source_file,
						    .source_line = parser->source_line,
						    .rolled = parser->rolled};

	parser->rolled = false;
	if (gt_ptx_take(parser, "@") && parse_guard(parser, &instruction) != 0)
		return -1;
	if (parser->token.kind == GT_PTX_TOKEN_WORD && *parser->token.text == '%')
		return gt_ptx_expected(parser, "an instruction");
	if (gt_ptx_name(parser, "an instruction, a label, a directive or '}'", &instruction.opcode) != 0)
		return -1;
	instruction.row = gt_ptx_opcode_named(instruction.opcode);
	if (parse_modifiers(parser, &instruction) != 0 || parse_operands(parser, &instruction) != 0)
		return -1;
	if (!gt_ptx_is(parser, ";"))
		return gt_ptx_expected(parser, "',' or ';'");
	struct gt_ptx_instruction *added = gt_ptx_push(parser, &parser->instructions, sizeof *added);
	if (!added)
		return -1;
	*added = instruction;
	gt_ptx_advance(parser);
	return 0;
}
