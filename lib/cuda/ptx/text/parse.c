/* SPDX-License-Identifier: MIT */
/* Parses a module, from its text or from a file: its directives, its declarations, its functions and their instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/input.h"
#include "cuda/ptx/text/module.h"
#include "cuda/ptx/text/parse.h"

/* ---- instructions: [@[!]guard] opcode.modifier... operand, ...; ---- */

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

	if (parser->lookahead.kind != GT_PTX_TOKEN_DOT_WORD || parser->lookahead.text != text + length)
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

/* Changes the name of a register with a part of it, %r1.b0, to the register's. Returns its space, GT_PTX_GENERIC if there is no such
 * register, -1 when memory is short. */
static int resolve_part(struct gt_ptx_parser *parser, struct gt_ptx_operand *operand)
{
	const char *point = strchr(operand->name, '.');
	char *whole = point ? gt_ptx_arena_name(parser->module->arena, operand->name, (size_t)(point - operand->name), parser->error) : NULL;

	if (!whole)
		return point ? -1 : GT_PTX_GENERIC;
	const int space = gt_ptx_resolve(parser, &whole);
	if (space != GT_PTX_REG)
		return space < 0 ? -1 : GT_PTX_GENERIC;
	operand->part = point + 1;
	operand->name = whole;
	return space;
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
	if (space == GT_PTX_GENERIC && parser->video)
		space = resolve_part(parser, &operand);
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
	if (gt_ptx_is(parser, parser->video ? "-" : "!") && parser->lookahead.kind == GT_PTX_TOKEN_WORD)
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
	parser->video = instruction->row == GT_PTX_OP_OTHER && *instruction->opcode == 'v'; /* no other one has such a name and no row */
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

static int gt_ptx_parse_instruction(struct gt_ptx_parser *parser)
{
	static const struct gt_ptx_loc none;
	const struct gt_ptx_loc *loc = parser->n_locs > 0 ? &parser->locs[(parser->n_locs - 1) % GT_PTX_LOCS] : &none;
	const bool inlined = loc->file != loc->caller_file || loc->line != loc->caller_line;
	struct gt_ptx_instruction instruction = {.line = parser->token.line,
						    .file = loc->file,
						    .source_line = loc->line,
						    .caller_file = inlined ? loc->caller_file : 0,
						    .caller_line = inlined ? loc->caller_line : 0,
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

/* ---- kernels and functions: head, performance directives, body ---- */

/* N[, N[, N]] */
static int parse_extent(struct gt_ptx_parser *parser, uint32_t extent[3])
{
	uint64_t value;

	extent[0] = extent[1] = extent[2] = 1;
	for (int i = 0; i < 3; i++) {
		if (gt_ptx_count(parser, "a number of threads", 1, UINT32_MAX, &value) != 0)
			return -1;
		extent[i] = (uint32_t)value;
		if (i == 2 || !gt_ptx_take(parser, ","))
			break;
	}
	return 0;
}

static int parse_maxntid(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	return parse_extent(parser, function->max_threads);
}

static int parse_reqntid(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	return parse_extent(parser, function->required_threads);
}

static int parse_maxnreg(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	uint64_t value;

	if (gt_ptx_count(parser, "a number of registers", 1, UINT32_MAX, &value) != 0)
		return -1;
	function->max_registers = (uint32_t)value;
	return 0;
}

static int parse_cluster(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	return parse_extent(parser, function->required_cluster);
}

/* The kernel runs in clusters whose size the launch gives. */
static int parse_explicit_cluster(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	(void)parser;
	function->explicit_cluster = true;
	return 0;
}

/* The grid of a launch would count clusters. */
static int parse_counted_clusters(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	(void)parser;
	function->counted_clusters = true;
	return 0;
}

static int parse_min_blocks(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	uint64_t value;

	if (gt_ptx_count(parser, "a number of blocks", 1, UINT32_MAX, &value) != 0)
		return -1;
	function->min_blocks = (uint32_t)value;
	return 0;
}

/* Of those that only hint, the numbers are passed over. */
static int skip_numbers(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	uint32_t extent[3];

	(void)function;
	return parser->token.kind == GT_PTX_TOKEN_NUMBER ? parse_extent(parser, extent) : 0;
}

/* Everything between the parameters and the body or the semicolon. */
static int parse_performance(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	static const struct {
		const char *name;
		int (*parse)(struct gt_ptx_parser *parser, struct gt_ptx_function *function);
	} directives[] = {
		{".maxntid", parse_maxntid}, {".reqntid", parse_reqntid}, {".maxnreg", parse_maxnreg},
		{".minnctapersm", parse_min_blocks}, {".maxnctapersm", skip_numbers}, {".noreturn", skip_numbers},
		{".maxclusterrank", skip_numbers}, {".explicitcluster", parse_explicit_cluster},
		{".reqnctapercluster", parse_cluster}, {".blocksareclusters", parse_counted_clusters},
		{".abi_preserve", skip_numbers}, {".abi_preserve_control", skip_numbers}, {".unified", skip_numbers},
	};
	bool taken;

	while (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		if (gt_ptx_take_directive(parser, &taken) != 0)
			return -1;
		for (size_t i = 0; !taken && i < sizeof directives / sizeof *directives; i++) {
			if (gt_ptx_take(parser, directives[i].name)) {
				taken = true;
				if (directives[i].parse(parser, function) != 0)
					return -1;
			}
		}
		if (!taken)
			return gt_ptx_expected(parser, "a performance directive, '{' or ';'");
	}
	return 0;
}

/* NAME: .branchtargets LABEL, ...; */
static int parse_targets(struct gt_ptx_parser *parser, char *name)
{
	size_t first = parser->operands.n;
	struct gt_ptx_targets *targets = gt_ptx_push(parser, &parser->targets, sizeof *targets);

	if (!targets)
		return -1;
	do {
		struct gt_ptx_operand *label = gt_ptx_push(parser, &parser->operands, sizeof *label);
		if (!label)
			return -1;
		label->kind = GT_PTX_SYMBOL;
		if (gt_ptx_name(parser, "a label", &label->name) != 0)
			return -1;
	} while (gt_ptx_take(parser, ","));
	targets->name = name;
	targets->labels = (struct gt_ptx_operand){.kind = GT_PTX_VECTOR, .name = name};
	if (gt_ptx_settle(parser, &parser->operands, first, sizeof *targets->labels.elements,
			  &targets->labels.elements, &targets->labels.n_elements) != 0)
		return -1;
	return gt_ptx_need(parser, ";");
}

/* NAME: .callprototype (...) _ (...); and NAME: .calltargets NAME, ...; tell nothing that the call
 * itself does not. */
static int skip_prototype(struct gt_ptx_parser *parser)
{
	while (!gt_ptx_is(parser, ";")) {
		if (parser->token.kind == GT_PTX_TOKEN_END || parser->token.kind == GT_PTX_TOKEN_WRONG ||
		    gt_ptx_is(parser, "}"))
			return gt_ptx_expected(parser, "';'");
		gt_ptx_advance(parser);
	}
	gt_ptx_advance(parser);
	return 0;
}

static int parse_label(struct gt_ptx_parser *parser)
{
	char *name;

	if (gt_ptx_name(parser, "a label", &name) != 0 ||
	    gt_ptx_declare(parser, &name, GT_PTX_GENERIC, 0, true) != 0 || gt_ptx_need(parser, ":") != 0)
		return -1;
	if (gt_ptx_take(parser, ".branchtargets"))
		return parse_targets(parser, name);
	if (gt_ptx_take(parser, ".callprototype") || gt_ptx_take(parser, ".calltargets"))
		return skip_prototype(parser);
	struct gt_ptx_label *label = gt_ptx_push(parser, &parser->labels, sizeof *label);
	if (!label)
		return -1;
	*label = (struct gt_ptx_label){name, parser->instructions.n};
	return 0;
}

static int parse_statement(struct gt_ptx_parser *parser)
{
	bool taken;

	if (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		if (gt_ptx_take_directive(parser, &taken) != 0 || taken)
			return taken ? 0 : -1;
		if (gt_ptx_space_named(&parser->token) == GT_PTX_GENERIC)
			return gt_ptx_expected(parser, "an instruction, a label or a variable");
		return gt_ptx_parse_variables(parser, &parser->locals, false);
	}
	if (parser->token.kind == GT_PTX_TOKEN_WORD && parser->lookahead.kind == GT_PTX_TOKEN_SIGN &&
	    *parser->lookahead.text == ':')
		return parse_label(parser);
	return gt_ptx_parse_instruction(parser);
}

static int parse_statements(struct gt_ptx_parser *parser)
{
	size_t outside = parser->depth - 1;

	while (parser->depth > outside) {
		if (gt_ptx_take(parser, "{")) {
			if (gt_ptx_scope_open(parser) != 0)
				return -1;
		} else if (gt_ptx_take(parser, "}")) {
			gt_ptx_scope_close(parser);
		} else if (!gt_ptx_take(parser, ";") && parse_statement(parser) != 0) {
			return -1;
		}
	}
	return 0;
}

/* brx.idx has its table's name as second operand: it becomes the table. */
static int put_targets_in(struct gt_ptx_parser *parser)
{
	struct gt_ptx_instruction *instructions = parser->instructions.items;
	const struct gt_ptx_targets *targets = parser->targets.items;
	const char *brx = gt_ptx_arena_known(parser->module->arena, "brx", 3);
	struct gt_map map;
	int fresh = 0, result = 0;

	if (parser->targets.n == 0 || !brx)
		return 0;
	if (gt_map_open(&map, parser->targets.n, parser->error) != 0)
		return -1;
	for (size_t i = 0; result == 0 && i < parser->targets.n; i++)
		if (!gt_map_put(&map, (uint64_t)(uintptr_t)targets[i].name, i, &fresh))
			result = gt_fail_memory(parser->error, "a PTX module");
	for (size_t i = 0; result == 0 && i < parser->instructions.n; i++) {
		struct gt_ptx_operand *table = &instructions[i].operands[1];
		if (instructions[i].opcode != brx || instructions[i].n_operands < 2 || table->kind != GT_PTX_SYMBOL)
			continue;
		const uint64_t *index = gt_map_get(&map, (uint64_t)(uintptr_t)table->name);
		if (index)
			*table = targets[*index].labels;
	}
	gt_map_close(&map);
	return result;
}

static int declare_all(struct gt_ptx_parser *parser, struct gt_ptx_variable *variables, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(variables[i].name, "_") != 0 &&
		    gt_ptx_declare(parser, &variables[i].name, variables[i].space, variables[i].count, false) != 0)
			return -1;
	return 0;
}

/* { ... } */
static int parse_body(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	parser->meanings.n = 0;
	parser->n_scopes = 0;
	if (gt_ptx_need(parser, "{") != 0 || gt_ptx_scope_open(parser) != 0 ||
	    declare_all(parser, function->returns, function->n_returns) != 0 ||
	    declare_all(parser, function->parameters, function->n_parameters) != 0 ||
	    parse_statements(parser) != 0 || put_targets_in(parser) != 0)
		return -1;
	parser->targets.n = 0;
	if (gt_ptx_settle(parser, &parser->locals, 0, sizeof *function->variables, &function->variables,
			  &function->n_variables) != 0 ||
	    gt_ptx_settle(parser, &parser->instructions, 0, sizeof *function->instructions, &function->instructions,
			  &function->n_instructions) != 0 ||
	    gt_ptx_settle(parser, &parser->labels, 0, sizeof *function->labels, &function->labels,
			  &function->n_labels) != 0)
		return -1;
	function->located = parser->n_locs > 0;
	return 0;
}

/* .attribute(...) and the like, before the name of a .func */
static int parse_head(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	function->line = parser->token.line;
	parser->n_locs = 0;
	parser->rolled = false;
	function->entry = gt_ptx_is(parser, ".entry");
	gt_ptx_advance(parser);
	while (gt_ptx_take(parser, ".attribute") || gt_ptx_take(parser, ".noreturn"))
		if (gt_ptx_is(parser, "(")) {
			while (!gt_ptx_is(parser, ")") && parser->token.kind != GT_PTX_TOKEN_END &&
			       parser->token.kind != GT_PTX_TOKEN_WRONG)
				gt_ptx_advance(parser);
			if (gt_ptx_need(parser, ")") != 0)
				return -1;
		}
	if (!function->entry && gt_ptx_is(parser, "(") &&
	    gt_ptx_parse_parameters(parser, &function->returns, &function->n_returns) != 0)
		return -1;
	if (gt_ptx_name(parser, "the name of a function", &function->name) != 0)
		return -1;
	if (gt_ptx_is(parser, "(") &&
	    gt_ptx_parse_parameters(parser, &function->parameters, &function->n_parameters) != 0)
		return -1;
	return parse_performance(parser, function);
}

/* Adds a function to the module. */
static int add_function(struct gt_ptx_parser *parser, const struct gt_ptx_function *function)
{
	uint64_t index = parser->functions.n, *place;
	struct gt_ptx_function *added = gt_ptx_push(parser, &parser->functions, sizeof *added);
	int fresh;

	if (!added)
		return -1;
	*added = *function;
	if (function->declaration)
		return 0;
	place = gt_map_put(&parser->bodies, (uint64_t)(uintptr_t)function->name, index, &fresh);
	if (!place)
		return gt_fail_memory(parser->error, "a PTX module");
	*place = index;
	return 0;
}

/* From .entry or .func on. */
static int gt_ptx_parse_function(struct gt_ptx_parser *parser, bool weak)
{
	struct gt_ptx_function function = {.weak = weak};

	if (parse_head(parser, &function) != 0)
		return -1;
	function.declaration = gt_ptx_take(parser, ";");
	if (!function.declaration && parse_body(parser, &function) != 0)
		return -1;
	return add_function(parser, &function);
}

/* ---- modules ---- */

/* .version MAJOR.MINOR */
static int parse_version(struct gt_ptx_parser *parser)
{
	const struct gt_ptx_token *token = &parser->token;
	unsigned major, minor;
	char text[16];

	if (token->kind != GT_PTX_TOKEN_NUMBER || token->length >= sizeof text)
		return gt_ptx_expected(parser, "a version such as 9.0");
	memcpy(text, token->text, token->length);
	text[token->length] = '\0';
	if (sscanf(text, "%3u.%2u", &major, &minor) != 2)
		return gt_ptx_expected(parser, "a version such as 9.0");
	parser->module->version = major * 100 + minor * 10;
	gt_ptx_advance(parser);
	return 0;
}

/* .target sm_NN[a|f][, word ...] */
static int parse_target(struct gt_ptx_parser *parser)
{
	const struct gt_ptx_token *token = &parser->token;
	struct gt_gpu_target *target = &parser->module->target;
	size_t i = 3;

	if (token->kind != GT_PTX_TOKEN_WORD || token->length < 4 || strncmp(token->text, "sm_", 3) != 0)
		return gt_ptx_expected(parser, "a target such as sm_75");
	*target = (struct gt_gpu_target){0};
	for (; i < token->length && token->text[i] >= '0' && token->text[i] <= '9' && i < 8; i++)
		target->capability = target->capability * 10 + (unsigned)(token->text[i] - '0');
	if (i < token->length && (token->text[i] == 'a' || token->text[i] == 'f'))
		target->features = token->text[i++];
	if (i < token->length)
		return gt_ptx_expected(parser, "a target such as sm_75");
	gt_ptx_advance(parser);
	while (gt_ptx_take(parser, ",")) {
		if (parser->token.kind != GT_PTX_TOKEN_WORD)
			return gt_ptx_expected(parser, "a target's property");
		gt_ptx_advance(parser);
	}
	return 0;
}

static int parse_address_size(struct gt_ptx_parser *parser)
{
	uint64_t bits;

	if (gt_ptx_count(parser, "an address size of 64", 64, 64, &bits) != 0)
		return -1;
	parser->module->address_size = (unsigned)bits;
	return 0;
}

/* .alias NAME, FUNCTION; */
static int parse_alias(struct gt_ptx_parser *parser)
{
	char *alias = NULL, *aliased = NULL;

	if (gt_ptx_name(parser, "a function's other name", &alias) != 0 || gt_ptx_need(parser, ",") != 0 ||
	    gt_ptx_name(parser, "a function", &aliased) != 0 || gt_ptx_need(parser, ";") != 0)
		return -1;
	const uint64_t *index = gt_map_get(&parser->bodies, (uint64_t)(uintptr_t)aliased);
	if (!index)
		return gt_ptx_wrong(parser, "alias of '%.100s', which has no body before this line", aliased);
	struct gt_ptx_function function = ((const struct gt_ptx_function *)parser->functions.items)[*index];
	function.name = alias;
	return add_function(parser, &function);
}

/* Linkage, then a function or variables. */
static int parse_declaration(struct gt_ptx_parser *parser)
{
	bool external = false, weak = false;

	for (;;) {
		if (gt_ptx_take(parser, ".extern"))
			external = true;
		else if (gt_ptx_take(parser, ".weak") || gt_ptx_take(parser, ".common"))
			weak = true;
		else if (!gt_ptx_take(parser, ".visible"))
			break;
	}
	if (gt_ptx_is(parser, ".entry") || gt_ptx_is(parser, ".func"))
		return gt_ptx_parse_function(parser, weak);
	if (gt_ptx_space_named(&parser->token) == GT_PTX_GENERIC)
		return gt_ptx_expected(parser, "a directive such as .entry, .func or .global");
	return gt_ptx_parse_variables(parser, &parser->variables, external);
}

static int parse_module(struct gt_ptx_parser *parser)
{
	static const struct {
		const char *name;
		int (*parse)(struct gt_ptx_parser *parser);
	} directives[] = {
		{".version", parse_version}, {".target", parse_target},
		{".address_size", parse_address_size}, {".alias", parse_alias},
	};
	bool taken;

	if (!gt_ptx_is(parser, ".version"))
		return gt_ptx_expected(parser, "'.version'");
	while (parser->token.kind != GT_PTX_TOKEN_END) {
		if (gt_ptx_take_directive(parser, &taken) != 0)
			return -1;
		for (size_t i = 0; !taken && i < sizeof directives / sizeof *directives; i++) {
			if (gt_ptx_take(parser, directives[i].name)) {
				taken = true;
				if (directives[i].parse(parser) != 0)
					return -1;
			}
		}
		if (!taken && parse_declaration(parser) != 0)
			return -1;
	}
	return 0;
}

static void free_lists(struct gt_ptx_parser *parser)
{
	struct gt_ptx_list *lists[] = {&parser->variables, &parser->functions, &parser->files, &parser->initial_values,
				       &parser->locals, &parser->instructions, &parser->labels,
				       &parser->targets, &parser->operands, &parser->meanings};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]->items);
	for (size_t i = 0; i < parser->depth; i++)
		gt_map_close(&parser->scopes[i].names);
	gt_map_close(&parser->bodies);
}

int gt_ptx_parse(struct gt_ptx_module *module, const char *name, const char *text, size_t length,
		 struct gt_error *error)
{
	struct gt_ptx_parser parser = {.module = module, .file = name, .error = error};

	*module = (struct gt_ptx_module){.address_size = 64};
	module->arena = gt_ptx_arena_open(error);
	if (!module->arena)
		return -1;
	if (gt_map_open(&parser.bodies, 0, error) != 0)
		return -1;
	gt_ptx_lex_begin(&parser.lexer, text, length);
	gt_ptx_lex(&parser.lexer, &parser.lookahead);
	gt_ptx_advance(&parser);
	int result = parse_module(&parser);
	if (result == 0)
		result = gt_ptx_settle(&parser, &parser.variables, 0, sizeof *module->variables, &module->variables,
				       &module->n_variables);
	if (result == 0)
		result = gt_ptx_settle(&parser, &parser.functions, 0, sizeof *module->functions, &module->functions,
				       &module->n_functions);
	if (result == 0)
		result = gt_ptx_settle(&parser, &parser.files, 0, sizeof *module->files, &module->files, &module->n_files);
	if (result == 0)
		result = gt_ptx_module_index(module, error);
	free_lists(&parser);
	return result;
}

/* ---- files ---- */

#define TEXT_MAX ((size_t)1 << 30) /* bytes of a PTX text */

/* The rest of the input, 0-terminated; NULL on error. */
static char *read_all(struct gt_input *input, size_t *length, struct gt_error *error)
{
	size_t capacity = 1 << 16, n = 0;
	char *text = malloc(capacity);
	long got = 1;

	while (text && got > 0 && n < TEXT_MAX) {
		char *more = gt_grown_to(text, n + (1 << 15), &capacity, 1);
		if (!more)
			free(text);
		text = more;
		got = text ? gt_input_bytes(input, text + n, capacity - n - 1, error) : 0;
		n += got > 0 ? (size_t)got : 0;
	}
	if (!text)
		gt_fail_memory(error, "a PTX text");
	else if (n >= TEXT_MAX)
		gt_fail(error, "%s: more than 1 GiB of PTX", gt_input_name(input));
	if (!text || got < 0 || n >= TEXT_MAX) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*length = n;
	return text;
}

int gt_ptx_load(struct gt_ptx_module *module, const char *path, struct gt_error *error)
{
	struct gt_input *input = gt_input_open(path, error);
	struct gt_error ignored;
	size_t length;
	int result = -1;

	*module = (struct gt_ptx_module){0};
	if (!input)
		return -1;
	char *text = read_all(input, &length, error);
	const char *found = text && memchr(text, '\0', length) ? gt_input_nature(text, length) : NULL;
	if (found)
		gt_fail(error, "%s: expected PTX, found %s", gt_input_name(input), found);
	else if (text)
		result = gt_ptx_parse(module, gt_input_name(input), text, length, error);
	free(text);
	if (gt_input_close(input, result == 0 ? error : &ignored) != 0)
		result = -1;
	return result;
}
