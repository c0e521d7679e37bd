/* SPDX-License-Identifier: MIT */
/* Directives that may be anywhere: source locations, which are kept, and debugging information, which is skipped. */
#include <string.h>

#include "cuda/ptx/text/parse.h"

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

/* .pragma "nounroll" holds for the loop that begins at the next instruction; others say nothing to us. */
static int take_pragma(struct gt_ptx_parser *parser)
{
	static const char nounroll[] = "nounroll";

	parser->rolled |= parser->token.length == sizeof nounroll - 1 &&
			  strncmp(parser->token.text, nounroll, sizeof nounroll - 1) == 0;
	return skip_statement(parser);
}

int gt_ptx_take_directive(struct gt_ptx_parser *parser, bool *taken)
{
	static const struct {
		const char *name;
		int (*take)(struct gt_ptx_parser *parser);
	} directives[] = {
		{".loc", take_loc}, {".file", take_file}, {".section", skip_section}, {".pragma", take_pragma},
	};

	*taken = false;
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
		if (gt_ptx_take(parser, directives[i].name)) {
			*taken = true;
			return directives[i].take(parser);
		}
	}
	return 0;
}
