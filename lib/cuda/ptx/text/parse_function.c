/* SPDX-License-Identifier: MIT */
/* Kernels and functions: head, performance directives, body. */
#include <string.h>

#include "cuda/ptx/text/parse.h"

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
	if (parser->token.kind == GT_PTX_TOKEN_WORD && parser->ahead.kind == GT_PTX_TOKEN_SIGN &&
	    *parser->ahead.text == ':')
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
	return 0;
}

/* .attribute(...) and the like, before the name of a .func */
static int parse_head(struct gt_ptx_parser *parser, struct gt_ptx_function *function)
{
	function->line = parser->token.line;
	parser->source_file = parser->source_line = 0;
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

int gt_ptx_add_function(struct gt_ptx_parser *parser, const struct gt_ptx_function *function)
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

int gt_ptx_parse_function(struct gt_ptx_parser *parser, bool weak)
{
	struct gt_ptx_function function = {.weak = weak};

	if (parse_head(parser, &function) != 0)
		return -1;
	function.declaration = gt_ptx_take(parser, ";");
	if (!function.declaration && parse_body(parser, &function) != 0)
		return -1;
	return gt_ptx_add_function(parser, &function);
}
