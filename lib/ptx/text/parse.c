/* SPDX-License-Identifier: MIT */
#include "ptx/text/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gt_ptx_advance(struct gt_ptx_parser *parser)
{
	parser->token = parser->ahead;
	if (parser->ahead.kind != GT_PTX_TOKEN_END && parser->ahead.kind != GT_PTX_TOKEN_WRONG)
		gt_ptx_lex(&parser->lexer, &parser->ahead);
}

bool gt_ptx_is(const struct gt_ptx_parser *parser, const char *text)
{
	const struct gt_ptx_token *token = &parser->token;

	return token->kind != GT_PTX_TOKEN_STRING && token->kind != GT_PTX_TOKEN_WRONG && token->length > 0 &&
	       strncmp(token->text, text, token->length) == 0 && text[token->length] == '\0';
}

bool gt_ptx_take(struct gt_ptx_parser *parser, const char *text)
{
	if (!gt_ptx_is(parser, text))
		return false;
	gt_ptx_advance(parser);
	return true;
}

int gt_ptx_need(struct gt_ptx_parser *parser, const char *text)
{
	char what[40];

	if (gt_ptx_take(parser, text))
		return 0;
	snprintf(what, sizeof what, "'%s'", text);
	return gt_ptx_expected(parser, what);
}

int gt_ptx_expected(struct gt_ptx_parser *parser, const char *what)
{
	const struct gt_ptx_token *token = &parser->token;
	int shown = token->length > 60 ? 60 : (int)token->length;

	if (token->kind == GT_PTX_TOKEN_WRONG)
		return gt_ptx_wrong(parser, "%s: '%.*s'", token->wrong, shown, token->text);
	if (token->kind == GT_PTX_TOKEN_END)
		return gt_ptx_wrong(parser, "expected %s, found the end of the text", what);
	return gt_ptx_wrong(parser, "expected %s, found '%.*s'", what, shown, token->text);
}

int gt_ptx_wrong(struct gt_ptx_parser *parser, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return gt_fail(parser->error, "%s:%u: %s", parser->file, parser->token.line, text);
}

int gt_ptx_count(struct gt_ptx_parser *parser, const char *what, uint64_t min, uint64_t max, uint64_t *value)
{
	struct gt_ptx_number number;

	if (parser->token.kind != GT_PTX_TOKEN_NUMBER || !gt_ptx_lex_number(&parser->token, &number) ||
	    number.is_float || number.bits < min || number.bits > max)
		return gt_ptx_expected(parser, what);
	*value = number.bits;
	gt_ptx_advance(parser);
	return 0;
}

int gt_ptx_name(struct gt_ptx_parser *parser, const char *what, char **name)
{
	if (parser->token.kind != GT_PTX_TOKEN_WORD)
		return gt_ptx_expected(parser, what);
	*name = gt_ptx_arena_name(parser->module->arena, parser->token.text, parser->token.length, parser->error);
	gt_ptx_advance(parser);
	return *name ? 0 : -1;
}

int gt_ptx_skip_braces(struct gt_ptx_parser *parser)
{
	uint64_t open = 0;

	do {
		if (parser->token.kind == GT_PTX_TOKEN_END || parser->token.kind == GT_PTX_TOKEN_WRONG)
			return gt_ptx_expected(parser, "'}'");
		open += gt_ptx_is(parser, "{");
		open -= gt_ptx_is(parser, "}");
		gt_ptx_advance(parser);
	} while (open > 0);
	return 0;
}

void *gt_ptx_push(struct gt_ptx_parser *parser, struct gt_ptx_list *list, size_t item)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		void *items = capacity < SIZE_MAX / 2 / item ? realloc(list->items, capacity * item) : NULL;
		if (!items) {
			gt_fail_memory(parser->error, "a PTX module");
			return NULL;
		}
		list->items = items;
		list->capacity = capacity;
	}
	return memset((char *)list->items + list->n++ * item, 0, item);
}

int gt_ptx_settle(struct gt_ptx_parser *parser, struct gt_ptx_list *list, size_t first, size_t item, void *items,
		  size_t *n)
{
	const char *from = list->items ? (const char *)list->items + first * item : NULL;
	void *copy = gt_ptx_arena_copy(parser->module->arena, from, list->n - first, item, parser->error);

	*n = copy ? list->n - first : 0;
	list->n = first;
	memcpy(items, &copy, sizeof copy);
	return copy ? 0 : -1;
}

/* A number, or a word with an optional offset, as the debugger's tables have them. */
static int skip_value(struct gt_ptx_parser *parser)
{
	if (parser->token.kind != GT_PTX_TOKEN_NUMBER && parser->token.kind != GT_PTX_TOKEN_WORD &&
	    parser->token.kind != GT_PTX_TOKEN_STRING)
		return gt_ptx_expected(parser, "a number or a name");
	gt_ptx_advance(parser);
	if (gt_ptx_take(parser, "+"))
		return skip_value(parser);
	return 0;
}

/* .loc FILE LINE COLUMN[, function_name LABEL[+OFFSET], inlined_at FILE LINE COLUMN] */
static int take_loc(struct gt_ptx_parser *parser)
{
	uint64_t file = 0, line = 0, column = 0;

	if (gt_ptx_count(parser, "the number of a file", 0, UINT32_MAX, &file) != 0 ||
	    gt_ptx_count(parser, "a line", 0, UINT32_MAX, &line) != 0 ||
	    gt_ptx_count(parser, "a column", 0, UINT32_MAX, &column) != 0)
		return -1;
	parser->source_file = (unsigned)file;
	parser->source_line = (unsigned)line;
	while (gt_ptx_take(parser, ",")) {
		bool place = gt_ptx_is(parser, "inlined_at");
		if (skip_value(parser) != 0)
			return -1;
		for (int i = 0; i < (place ? 3 : 1); i++)
			if (skip_value(parser) != 0)
				return -1;
	}
	return 0;
}

/* .file NUMBER "NAME"[, TIME, SIZE] */
static int take_file(struct gt_ptx_parser *parser)
{
	struct gt_ptx_file *file = NULL, *files = parser->files.items;
	uint64_t number = 0;

	if (gt_ptx_count(parser, "the number of a file", 0, UINT32_MAX, &number) != 0)
		return -1;
	if (parser->token.kind != GT_PTX_TOKEN_STRING)
		return gt_ptx_expected(parser, "a file's name");
	char *name = gt_ptx_arena_name(parser->module->arena, parser->token.text, parser->token.length, parser->error);
	gt_ptx_advance(parser);
	for (size_t i = 0; i < parser->files.n && !file; i++)
		if (files[i].number == number)
			file = &files[i];
	bool again = file != NULL;
	if (!name || (!file && !(file = gt_ptx_push(parser, &parser->files, sizeof *file))))
		return -1;
	/* Equal names are one pointer. */
	*file = (struct gt_ptx_file){(unsigned)number, again && file->name != name ? NULL : name};
	while (gt_ptx_take(parser, ","))
		if (skip_value(parser) != 0)
			return -1;
	return 0;
}

/* .section .NAME { ... } */
static int skip_section(struct gt_ptx_parser *parser)
{
	gt_ptx_advance(parser);
	return gt_ptx_is(parser, "{") ? gt_ptx_skip_braces(parser) : gt_ptx_expected(parser, "'{'");
}

/* Up to and with a semicolon. */
static int skip_statement(struct gt_ptx_parser *parser)
{
	while (!gt_ptx_is(parser, ";")) {
		if (parser->token.kind == GT_PTX_TOKEN_END || parser->token.kind == GT_PTX_TOKEN_WRONG)
			return gt_ptx_expected(parser, "';'");
		gt_ptx_advance(parser);
	}
	gt_ptx_advance(parser);
	return 0;
}

int gt_ptx_skip_directive(struct gt_ptx_parser *parser, bool *taken)
{
	static const struct {
		const char *name;
		int (*skip)(struct gt_ptx_parser *parser);
	} directives[] = {
		{".loc", take_loc}, {".file", take_file}, {".section", skip_section}, {".pragma", skip_statement},
	};

	*taken = false;
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
		if (gt_ptx_take(parser, directives[i].name)) {
			*taken = true;
			return directives[i].skip(parser);
		}
	}
	return 0;
}

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
		if (gt_ptx_skip_directive(parser, &taken) != 0)
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
	free_lists(&parser);
	return result;
}
