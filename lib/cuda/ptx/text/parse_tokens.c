/* SPDX-License-Identifier: MIT */
/* Access to the tokens of the text, and the lists of parsed items. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/text/parse.h"

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
	void *items = gt_grown(list->items, list->n, &list->capacity, item);

	if (!items) {
		gt_fail_memory(parser->error, "a PTX module");
		return NULL;
	}
	list->items = items;
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
