/* SPDX-License-Identifier: MIT */
/* What all of the parser stands on: the tokens of the text, access to them, lists of parsed items, directives that may be anywhere, and
 * the names within a body. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "cuda/ptx/text/parse.h"

/* ---- tokens ---- */

enum { DIGIT = 1, LETTER = 2, BLANK = 4, SIGN = 8 };

#define LETTERS_26(from)                                                                                         \
	[(from)] = LETTER, [(from) + 1] = LETTER, [(from) + 2] = LETTER, [(from) + 3] = LETTER,                  \
	[(from) + 4] = LETTER, [(from) + 5] = LETTER, [(from) + 6] = LETTER, [(from) + 7] = LETTER,              \
	[(from) + 8] = LETTER, [(from) + 9] = LETTER, [(from) + 10] = LETTER, [(from) + 11] = LETTER,            \
	[(from) + 12] = LETTER, [(from) + 13] = LETTER, [(from) + 14] = LETTER, [(from) + 15] = LETTER,          \
	[(from) + 16] = LETTER, [(from) + 17] = LETTER, [(from) + 18] = LETTER, [(from) + 19] = LETTER,          \
	[(from) + 20] = LETTER, [(from) + 21] = LETTER, [(from) + 22] = LETTER, [(from) + 23] = LETTER,          \
	[(from) + 24] = LETTER, [(from) + 25] = LETTER

static const uint8_t class_of[256] = {
	LETTERS_26('a'), LETTERS_26('A'), ['_'] = LETTER, ['$'] = LETTER,
	['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,
	['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
	[' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK, ['\v'] = BLANK,
	['!'] = SIGN, ['&'] = SIGN, ['('] = SIGN, [')'] = SIGN, ['*'] = SIGN, ['+'] = SIGN, [','] = SIGN,
	['-'] = SIGN, ['/'] = SIGN, [':'] = SIGN, [';'] = SIGN, ['<'] = SIGN, ['='] = SIGN, ['>'] = SIGN,
	['?'] = SIGN, ['@'] = SIGN, ['['] = SIGN, [']'] = SIGN, ['^'] = SIGN, ['{'] = SIGN, ['|'] = SIGN,
	['}'] = SIGN, ['~'] = SIGN,
};

static bool is(char c, unsigned classes)
{
	return (class_of[(unsigned char)c] & classes) != 0;
}

void gt_ptx_lex_begin(struct gt_ptx_lexer *lexer, const char *text, size_t length)
{
	*lexer = (struct gt_ptx_lexer){text, text + length, 1};
}

/* Skips a block comment; false, with the line of its beginning, if its end is missing. */
static bool skip_comment(struct gt_ptx_lexer *lexer)
{
	unsigned line = lexer->line;

	for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
		if (lexer->at[0] == '*' && lexer->at[1] == '/') {
			lexer->at += 2;
			return true;
		}
		lexer->line += *lexer->at == '\n';
	}
	lexer->line = line;
	lexer->at = lexer->end;
	return false;
}

/* Skips blanks and comments; false if a comment has no end. */
static bool skip_blanks(struct gt_ptx_lexer *lexer)
{
	for (;;) {
		while (is(*lexer->at, BLANK)) {
			lexer->line += *lexer->at == '\n';
			lexer->at++;
		}
		if (lexer->at[0] == '/' && lexer->at[1] == '/') {
			const char *end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
			lexer->at = end ? end : lexer->end;
		} else if (lexer->at[0] == '/' && lexer->at[1] == '*') {
			if (!skip_comment(lexer))
				return false;
		} else {
			return true;
		}
	}
}

static const char *word_end(const char *at)
{
	while (is(*at, LETTER | DIGIT))
		at++;
	return at;
}

/* A name after a dot may have parts separated by double colons: .shared::cta. */
static const char *dot_word_end(const char *at)
{
	at = word_end(at);
	while (at[0] == ':' && at[1] == ':' && is(at[2], LETTER | DIGIT))
		at = word_end(at + 2);
	return at;
}

static const char *number_end(const char *at)
{
	bool prefixed = at[0] == '0' && is(at[1], LETTER);

	at = word_end(at);
	if (prefixed)
		return at;
	if (at[0] == '.' && is(at[1], DIGIT))
		at = word_end(at + 1);
	if ((at[-1] | 0x20) == 'e' && (at[0] == '+' || at[0] == '-') && is(at[1], DIGIT))
		at = word_end(at + 1);
	return at;
}

static void wrong(struct gt_ptx_lexer *lexer, struct gt_ptx_token *token, const char *why)
{
	token->kind = GT_PTX_TOKEN_WRONG;
	token->wrong = why;
	lexer->at = lexer->end;
}

static void lex_string(struct gt_ptx_lexer *lexer, struct gt_ptx_token *token)
{
	const char *start = ++lexer->at;

	while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
		lexer->at += lexer->at[0] == '\\' && lexer->at + 1 < lexer->end && lexer->at[1] != '\n' ? 2 : 1;
	token->kind = GT_PTX_TOKEN_STRING;
	token->text = start;
	token->length = (size_t)(lexer->at - start);
	if (lexer->at >= lexer->end || *lexer->at != '"')
		wrong(lexer, token, "a string has no end");
	else
		lexer->at++;
}

void gt_ptx_lex(struct gt_ptx_lexer *lexer, struct gt_ptx_token *token)
{
	bool ended = skip_blanks(lexer);
	const char *start = lexer->at, *after;

	*token = (struct gt_ptx_token){.kind = GT_PTX_TOKEN_END, .text = start, .line = lexer->line};
	if (!ended)
		wrong(lexer, token, "a comment has no end");
	if (lexer->at >= lexer->end)
		return;
	if (is(*start, LETTER) || (*start == '%' && is(start[1], LETTER))) {
		token->kind = GT_PTX_TOKEN_WORD;
		after = word_end(start + 1);
	} else if (*start == '.' && is(start[1], LETTER | DIGIT)) {
		token->kind = GT_PTX_TOKEN_DOT_WORD;
		after = dot_word_end(start + 1);
	} else if (is(*start, DIGIT)) {
		token->kind = GT_PTX_TOKEN_NUMBER;
		after = number_end(start);
	} else if (*start == '"') {
		lex_string(lexer, token);
		return;
	} else if (is(*start, SIGN) || *start == '%') {
		token->kind = GT_PTX_TOKEN_SIGN;
		after = start + 1;
	} else {
		token->length = 1;
		wrong(lexer, token, *start == '#' ? "a directive of CUDA or C source: 'nvcc -ptx' translates it to PTX"
						  : "a character that PTX does not have");
		return;
	}
	token->length = (size_t)(after - start);
	lexer->at = after;
}

/* Reads digits of a base up to 16, which must be all of `text` up to `end`. */
static bool digits(const char *text, const char *end, unsigned base, uint64_t *value)
{
	*value = 0;
	if (text == end)
		return false;
	for (; text < end; text++) {
		unsigned digit = gt_hex_digit[(unsigned char)*text];
		if (digit == 0 || digit > base || *value > (UINT64_MAX - (digit - 1)) / base)
			return false;
		*value = *value * base + digit - 1;
	}
	return true;
}

static bool decimal_float(const struct gt_ptx_token *token, struct gt_ptx_number *number)
{
	char buffer[64], *end;
	double value;

	if (token->length >= sizeof buffer)
		return false;
	memcpy(buffer, token->text, token->length);
	buffer[token->length] = '\0';
	value = strtod(buffer, &end);
	number->is_float = true;
	memcpy(&number->bits, &value, sizeof value);
	return *end == '\0';
}

bool gt_ptx_lex_number(const struct gt_ptx_token *token, struct gt_ptx_number *number)
{
	const char *text = token->text, *end = text + token->length;
	char prefix = (char)(token->length > 1 && text[0] == '0' ? text[1] | 0x20 : 0);

	*number = (struct gt_ptx_number){0};
	if (prefix == 'f' || prefix == 'd') {
		number->is_float = true;
		number->is_single = prefix == 'f';
		return end - text == (prefix == 'f' ? 10 : 18) && digits(text + 2, end, 16, &number->bits);
	}
	if (prefix != 'x' && (memchr(text, '.', token->length) || memchr(text, 'e', token->length) ||
			      memchr(text, 'E', token->length)))
		return decimal_float(token, number);
	if (end[-1] == 'U' || end[-1] == 'u')
		end--;
	if (prefix == 'x')
		return digits(text + 2, end, 16, &number->bits);
	if (prefix == 'b')
		return digits(text + 2, end, 2, &number->bits);
	return digits(text, end, text[0] == '0' ? 8 : 10, &number->bits);
}

/* ---- access to them, and lists of what is parsed ---- */

void gt_ptx_advance(struct gt_ptx_parser *parser)
{
	parser->token = parser->lookahead;
	if (parser->lookahead.kind != GT_PTX_TOKEN_END && parser->lookahead.kind != GT_PTX_TOKEN_WRONG)
		gt_ptx_lex(&parser->lexer, &parser->lookahead);
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

/* ---- directives that may be anywhere: source locations, which are kept, and debugging information, which is skipped ---- */

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

static int take_place(struct gt_ptx_parser *parser, struct gt_ptx_loc *loc)
{
	uint64_t numbers[3];
	static const char *const expected[] = {"the number of a file", "a line", "a column"};

	for (int i = 0; i < 3; i++)
		if (gt_ptx_count(parser, expected[i], 0, UINT32_MAX, &numbers[i]) != 0)
			return -1;
	*loc = (struct gt_ptx_loc){.file = (unsigned)numbers[0], .line = (unsigned)numbers[1], .column = (unsigned)numbers[2]};
	return 0;
}

/* The line of the function itself that has `loc`, which a .loc before may have at any depth of inlining. */
static void set_caller(const struct gt_ptx_parser *parser, struct gt_ptx_loc *to, const struct gt_ptx_loc *loc)
{
	const unsigned first = parser->n_locs > GT_PTX_LOCS ? parser->n_locs - GT_PTX_LOCS : 0;

	to->caller_file = loc->file;
	to->caller_line = loc->line;
	for (unsigned i = parser->n_locs; i-- > first;) {
		const struct gt_ptx_loc *other = &parser->locs[i % GT_PTX_LOCS];
		if (other->file != loc->file || other->line != loc->line || other->column != loc->column)
			continue;
		to->caller_file = other->caller_file;
		to->caller_line = other->caller_line;
		return;
	}
}

/* .loc FILE LINE COLUMN[, function_name LABEL[+OFFSET], inlined_at FILE LINE COLUMN] */
static int take_loc(struct gt_ptx_parser *parser)
{
	struct gt_ptx_loc loc, inlined;

	if (take_place(parser, &loc) != 0)
		return -1;
	loc.caller_file = loc.file;
	loc.caller_line = loc.line;
	while (gt_ptx_take(parser, ",")) {
		bool place = gt_ptx_is(parser, "inlined_at");
		if (skip_value(parser) != 0 || (place ? take_place(parser, &inlined) : skip_value(parser)) != 0)
			return -1;
		if (place)
			set_caller(parser, &loc, &inlined);
	}
	parser->locs[parser->n_locs++ % GT_PTX_LOCS] = loc;
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
		int (*parse)(struct gt_ptx_parser *parser);
	} directives[] = {
		{".loc", take_loc}, {".file", take_file}, {".section", skip_section}, {".pragma", take_pragma},
	};

	*taken = false;
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
		if (gt_ptx_take(parser, directives[i].name)) {
			*taken = true;
			return directives[i].parse(parser);
		}
	}
	return 0;
}

/* ---- names ---- */

/* Names within a body. Inner braces open scopes; their declarations become NAME#N, which no text can contain, so that a
 * function has one flat list of variables and labels. */

static uint64_t key_of(const char *name)
{
	return (uint64_t)(uintptr_t)name;
}

int gt_ptx_scope_open(struct gt_ptx_parser *parser)
{
	struct gt_ptx_scope *scope = &parser->scopes[parser->depth];

	if (parser->depth == GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "braces nested deeper than %d", GT_PTX_DEPTH);
	*scope = (struct gt_ptx_scope){.number = parser->n_scopes++, .first_instruction = parser->instructions.n,
				       .first_targets = parser->targets.n};
	if (gt_map_open(&scope->names, 0, parser->error) != 0)
		return -1;
	parser->depth++;
	return 0;
}

static char *unique_name(struct gt_ptx_parser *parser, const char *name, unsigned number, bool numbered)
{
	size_t room = strlen(name) + 16;
	char *text = malloc(room), *stored = NULL;

	if (!text) {
		gt_fail_memory(parser->error, "a PTX module");
		return NULL;
	}
	int length = snprintf(text, room, "%s#%u%s", name, number, numbered ? "#" : "");
	stored = gt_ptx_arena_name(parser->module->arena, text, (size_t)length, parser->error);
	free(text);
	return stored;
}

int gt_ptx_declare(struct gt_ptx_parser *parser, char **name, enum gt_ptx_space space, uint64_t count, bool label)
{
	struct gt_ptx_scope *scope = &parser->scopes[parser->depth - 1];
	struct gt_ptx_meaning *meaning;
	int fresh = 0;
	uint64_t *index = gt_map_put(&scope->names, key_of(*name), parser->meanings.n, &fresh);

	if (!index)
		return gt_fail_memory(parser->error, "a PTX module");
	if (!fresh)
		return gt_ptx_wrong(parser, "'%.100s' is declared twice", *name);
	if (parser->depth > 1)
		*name = unique_name(parser, *name, scope->number, count > 0);
	if (!*name || !(meaning = gt_ptx_push(parser, &parser->meanings, sizeof *meaning)))
		return -1;
	*meaning = (struct gt_ptx_meaning){*name, space, label, count};
	scope->numbered |= count > 0;
	scope->labelled |= label;
	return 0;
}

static const struct gt_ptx_meaning *look_up(const struct gt_ptx_parser *parser, const struct gt_ptx_scope *scope,
					    const char *name)
{
	const uint64_t *index = gt_map_get(&scope->names, key_of(name));

	return index ? (const struct gt_ptx_meaning *)parser->meanings.items + *index : NULL;
}

/* For register %t12, the declaration of numbered registers %t or %t1 in this scope, and where the number begins in the
 * name. */
static const struct gt_ptx_meaning *look_up_numbered(const struct gt_ptx_parser *parser,
						     const struct gt_ptx_scope *scope, const char *name,
						     const char **number)
{
	size_t length = strlen(name);

	for (size_t digits = 1; digits <= 8 && digits < length; digits++) {
		const char *at = name + length - digits;
		if (*at < '0' || *at > '9')
			return NULL;
		if (*at == '0' && digits > 1)
			continue;
		const char *base = gt_ptx_arena_known(parser->module->arena, name, (size_t)(at - name));
		const struct gt_ptx_meaning *meaning = base ? look_up(parser, scope, base) : NULL;
		*number = at;
		if (meaning && meaning->count > strtoull(at, NULL, 10))
			return meaning;
	}
	return NULL;
}

/* The name of one of several numbered registers that were renamed. */
static char *numbered_name(struct gt_ptx_parser *parser, const char *base, const char *number)
{
	size_t length = strlen(base), digits = strlen(number);
	char *text = malloc(length + digits + 1), *stored;

	if (!text) {
		gt_fail_memory(parser->error, "a PTX module");
		return NULL;
	}
	memcpy(text, base, length);
	memcpy(text + length, number, digits + 1);
	stored = gt_ptx_arena_name(parser->module->arena, text, length + digits, parser->error);
	free(text);
	return stored;
}

int gt_ptx_resolve(struct gt_ptx_parser *parser, char **name)
{
	for (size_t i = parser->depth; i-- > 0;) {
		const struct gt_ptx_scope *scope = &parser->scopes[i];
		const struct gt_ptx_meaning *meaning = look_up(parser, scope, *name);
		const char *number;
		if (meaning && meaning->label)
			return GT_PTX_GENERIC;
		if (meaning && meaning->count == 0) {
			*name = meaning->name;
			return (int)meaning->space;
		}
		meaning = scope->numbered ? look_up_numbered(parser, scope, *name, &number) : NULL;
		if (meaning && i > 0)
			*name = numbered_name(parser, meaning->name, number);
		if (meaning)
			return *name ? (int)meaning->space : -1;
	}
	return GT_PTX_GENERIC;
}

static void rename_labels(const struct gt_ptx_parser *parser, const struct gt_ptx_scope *scope,
			  struct gt_ptx_operand *operands, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gt_ptx_meaning *meaning =
			operands[i].kind == GT_PTX_SYMBOL ? look_up(parser, scope, operands[i].name) : NULL;
		if (meaning && meaning->label)
			operands[i].name = meaning->name;
	}
}

/* Labels may be used before their definition, so the names of an inner scope's labels are replaced when it closes. */
int gt_ptx_scope_close(struct gt_ptx_parser *parser)
{
	struct gt_ptx_scope *scope = &parser->scopes[--parser->depth];
	struct gt_ptx_instruction *instructions = parser->instructions.items;
	struct gt_ptx_targets *targets = parser->targets.items;

	if (parser->depth > 0 && scope->labelled) {
		for (size_t i = scope->first_instruction; i < parser->instructions.n; i++)
			rename_labels(parser, scope, instructions[i].operands, instructions[i].n_operands);
		for (size_t i = scope->first_targets; i < parser->targets.n; i++)
			rename_labels(parser, scope, targets[i].labels.elements, targets[i].labels.n_elements);
	}
	gt_map_close(&scope->names);
	return 0;
}
