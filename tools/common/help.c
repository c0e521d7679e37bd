/* SPDX-License-Identifier: MIT */
/* The text of --help. */
#include <string.h>

#include "common/parts.h"

#define HELP_INDENT 6
#define HELP_LETTER 2 /* of an option with a short form */
#define HELP_COLUMN 27
#define HELP_WIDTH 100

static void print_option(const char *option, const char *text)
{
	int at = printf("%*s%s", option[0] == '-' && option[1] != '-' ? HELP_LETTER : HELP_INDENT, "", option);

	if (at + 1 > HELP_COLUMN) {
		putchar('\n');
		at = 0;
	}
	at += printf("%*s", HELP_COLUMN - at, "");
	for (bool first = true; *text; first = false) {
		int length = (int)strcspn(text, " ");
		if (!first && at + 1 + length > HELP_WIDTH)
			at = printf("\n%*s", HELP_COLUMN, "") - 1;
		else if (!first)
			at += printf(" ");
		at += printf("%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_rows(const struct tool_row *rows)
{
	for (; !tool_row_ends(rows); rows++)
		if (rows->option)
			print_option(rows->option, rows->text);
		else
			puts(rows->text);
}

void tool_help_print(const struct tool *tool, const struct tool_row *rows)
{
	fputs(tool->about.usage, stdout);
	print_rows(rows);
	print_option(TOOL_VERBOSE, tool->about.verbose);
	print_rows(tool_common_rows);
	if (tool->about.notes)
		fputs(tool->about.notes, stdout);
	printf("\nexample: %s\n", tool->about.example);
}
