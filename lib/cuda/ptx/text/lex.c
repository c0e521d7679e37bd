/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/text/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

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
