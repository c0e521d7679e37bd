/* SPDX-License-Identifier: MIT */
/* The text of --help, and of gtrace help, within 80 columns: usage lines break outside of brackets, commands behind their stages, prose and
 * the texts of options between words. */
#include "common/parts.h"

#include <string.h>

#define HELP_WIDTH 80
#define HELP_INDENT 6
#define HELP_LETTER 2 /* of an option with a short form */
#define HELP_COLUMN 27
#define HELP_COMMAND 4 /* blanks before a command in a text */
#define USAGE "usage: "

/* ---- where lines break ---- */

/* Bytes up to the blank that ends the next word. */
static size_t word_length(const char *text)
{
	return strcspn(text, " \n");
}

/* The same of a usage line: words in brackets stay together, and what follows a '>' stays with it. */
static size_t usage_length(const char *text)
{
	size_t at = 0;
	int depth = 0;

	for (; text[at] && text[at] != '\n'; at++) {
		depth += (text[at] == '[') - (text[at] == ']');
		if (text[at] == ' ' && depth == 0 && (at == 0 || text[at - 1] != '>'))
			break;
	}
	return at;
}

/* The same of a command, whose quoted words stay whole. */
static size_t argument_length(const char *text)
{
	size_t at = 0;

	for (char quote = '\0'; text[at] && text[at] != '\n' && (quote || text[at] != ' '); at++)
		if (quote ? text[at] == quote : text[at] == '\'' || text[at] == '"')
			quote = quote ? '\0' : text[at];
	return at;
}

/* The same of an option with the argument that may follow it. */
static size_t option_length(const char *text)
{
	size_t at = argument_length(text), blanks = strspn(text + at, " ");

	if (text[0] == '-' && blanks > 0 && !strchr("-\n", text[at + blanks]))
		at += blanks + argument_length(text + at + blanks);
	return at;
}

/* Bytes of the next stage of a command, with the '|' or ';' that ends it: a shell reads on there. */
static size_t stage_length(const char *text)
{
	size_t at = 0;

	for (;;) {
		size_t word = argument_length(text + at);
		at += word;
		if (text[at] != ' ' || (word > 0 && strchr("|;", text[at - 1])))
			return at;
		at += strspn(text + at, " ");
	}
}

/* ---- texts ---- */

/* Prints a line from column `at` on; its further lines begin in column `hang`. */
static void print_line(const char *text, int at, int hang, size_t (*length)(const char *text))
{
	for (bool first = true; *text && *text != '\n'; first = false) {
		int word = (int)length(text);
		if (!first && at + 1 + word > HELP_WIDTH)
			at = printf("\n%*s", hang, "") - 1;
		else if (!first)
			at += printf(" ");
		at += printf("%.*s", word, text);
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* A stage that has no room on a line for itself goes on behind a '\'. */
static int print_stage(const char *text, const char *end, int at, int hang)
{
	for (bool first = true; text < end; first = false) {
		int word = (int)option_length(text);
		bool last = text + word == end;
		if (!first && at + 1 + word + (last ? 0 : 2) > HELP_WIDTH)
			at = printf(" \\\n%*s", hang, "") - 3;
		else if (!first)
			at += printf(" ");
		at += printf("%.*s", word, text);
		text += word;
		text += strspn(text, " ");
	}
	return at;
}

/* Prints a command of which each line can be pasted with the others. */
static void print_command(const char *text, int indent)
{
	int hang = indent + HELP_COMMAND, at = printf("%*s", indent, "");

	for (bool first = true; *text && *text != '\n'; first = false) {
		size_t stage = stage_length(text);
		if (!first && at + 1 + (int)stage > HELP_WIDTH)
			at = printf("\n%*s", hang, "") - 1;
		else if (!first)
			at += printf(" ");
		at = print_stage(text, text + stage, at, hang);
		text += stage;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* The column in which the text of a line begins: behind its blanks, or, of a name with its text ("  default  Volta and later"), behind
 * the blanks between them. */
static int text_column(const char *line)
{
	size_t blanks = strspn(line, " "), at = blanks;

	for (; blanks > 0 && line[at] && line[at] != '\n'; at++)
		if (line[at] == ' ' && line[at + 1] == ' ')
			return (int)(at + strspn(line + at, " "));
	return (int)blanks;
}

void tool_print(const char *text)
{
	for (const char *end; *text; text = end + (*end == '\n')) {
		int blanks = (int)strspn(text, " "), column = text_column(text);
		end = text + strcspn(text, "\n");
		if (blanks == HELP_COMMAND)
			print_command(text + blanks, blanks);
		else
			print_line(text + column, printf("%.*s", column, text), column, word_length);
	}
}

/* The lines of the usage, each of which begins with "usage: " or as many blanks; then what the tool does. */
static void print_usage(const struct tool *tool, const char *text)
{
	const int indent = (int)strlen(USAGE), hang = indent + (int)strlen(tool->name) + 1;

	while (strncmp(text, USAGE, (size_t)indent) == 0 || (int)strspn(text, " ") == indent) {
		print_line(text + indent, printf("%.*s", indent, text), hang, usage_length);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	tool_print(text);
}

/* ---- options ---- */

static void print_option(const char *option, const char *text)
{
	int at = printf("%*s%s", option[0] == '-' && option[1] != '-' ? HELP_LETTER : HELP_INDENT, "", option);

	if (at + 1 > HELP_COLUMN) {
		putchar('\n');
		at = 0;
	}
	print_line(text, at + printf("%*s", HELP_COLUMN - at, ""), HELP_COLUMN, word_length);
}

static void print_rows(const struct tool_row *rows)
{
	for (; rows->text; rows++)
		if (rows->option)
			print_option(rows->option, rows->text);
		else
			printf("\n%s\n", rows->text);
}

void tool_print_help(const struct tool *tool, const struct tool_row *rows, const struct tool_row *common)
{
	print_usage(tool, tool->about.usage);
	if (rows->option)
		putchar('\n');
	print_rows(rows);
	print_rows(common);
	if (tool->about.notes) {
		putchar('\n');
		tool_print(tool->about.notes);
	}
	puts("\nexample:");
	print_command(tool->about.example, HELP_COMMAND);
}
