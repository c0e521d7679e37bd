/* SPDX-License-Identifier: MIT */
/* Parses a module: its directives and declarations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/text/parse.h"

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

/* .target sm_NN[, word ...] */
static int parse_target(struct gt_ptx_parser *parser)
{
	const struct gt_ptx_token *token = &parser->token;
	unsigned target = 0;

	if (token->kind != GT_PTX_TOKEN_WORD || token->length < 4 || strncmp(token->text, "sm_", 3) != 0)
		return gt_ptx_expected(parser, "a target such as sm_75");
	for (size_t i = 3; i < token->length && token->text[i] >= '0' && token->text[i] <= '9' && i < 8; i++)
		target = target * 10 + (unsigned)(token->text[i] - '0');
	parser->module->target = target;
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
	return gt_ptx_add_function(parser, &function);
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
	gt_ptx_lex(&parser.lexer, &parser.ahead);
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
