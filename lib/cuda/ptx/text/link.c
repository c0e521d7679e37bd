/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/text/link.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define SUFFIX_BYTES 16

/* A word, or any other single byte; a comment or a string is one token, which is not a word. */
struct token {
	const char *at;
	size_t n;
	bool word;
};

struct name {
	const char *at;
	size_t n;
};

struct names {
	struct name *list;
	size_t n, capacity;
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* The bytes of the comment or string at [at, end); 0 if there is none. */
static size_t passed_over(const char *at, const char *end)
{
	const char *to = NULL;

	if (end - at >= 2 && at[0] == '/' && at[1] == '/')
		to = memchr(at, '\n', (size_t)(end - at));
	else if (*at == '"')
		for (to = at + 1; to < end && *to != '"'; to++)
			to += *to == '\\' && to + 1 < end;
	else if (end - at >= 2 && at[0] == '/' && at[1] == '*')
		for (to = at + 3; to < end && !(to[-1] == '*' && *to == '/'); to++)
			continue;
	else
		return 0;
	return !to || to >= end ? (size_t)(end - at) : (size_t)(to - at) + (*to != '\n');
}

static bool next_token(struct token *token, const char *end)
{
	const char *at = token->at + token->n;

	while (at < end && isspace((unsigned char)*at))
		at++;
	if (at >= end)
		return false;
	size_t n = passed_over(at, end);
	token->at = at;
	token->word = n == 0 && in_word(*at);
	while (token->word && at + n < end && in_word(at[n]))
		n++;
	token->n = n > 0 ? n : 1;
	return true;
}

static bool is(const struct token *token, const char *text)
{
	return token->n == strlen(text) && memcmp(token->at, text, token->n) == 0;
}

static bool is_one_of(const struct token *token, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is(token, words[i]))
			return true;
	return false;
}

static int add_name(struct names *names, const struct token *token, struct gt_error *error)
{
	struct name *list = gt_grown(names->list, names->n, &names->capacity, sizeof *list);

	if (!list)
		return gt_fail_memory(error, "the names of a PTX unit");
	names->list = list;
	names->list[names->n++] = (struct name){token->at, token->n};
	return 0;
}

/* The properties of a declaration outside of all braces, so far. */
struct declaration {
	bool local;  /* of a kind with a name, and without linkage */
	bool linked; /* .visible and so on */
	bool named;
};

/* Kernels keep their names, by which the host asks for them: compilers give those without linkage names of their own. */
static void read_directive(struct declaration *declaration, const struct token *token)
{
	static const char *const kinds[] = {".func", ".global", ".const", ".shared"};
	static const char *const linkages[] = {".visible", ".extern", ".weak", ".common"};

	declaration->linked |= is_one_of(token, linkages, LENGTH(linkages));
	declaration->local |= is_one_of(token, kinds, LENGTH(kinds));
}

/* Collects the local names of a unit: the first word after .func and similar directives that is not a directive, a number,
 * or within parentheses. */
static int find_local(struct names *names, const char *unit, const char *end, struct gt_error *error)
{
	struct token token = {.at = unit};
	struct declaration declaration = {0};
	int braces = 0, parentheses = 0;

	while (next_token(&token, end)) {
		bool outside = braces == 0 && parentheses == 0;
		if (outside && token.word && token.at[0] == '.') {
			read_directive(&declaration, &token);
		} else if (outside && token.word && !isdigit((unsigned char)token.at[0])) {
			if (declaration.local && !declaration.linked && !declaration.named &&
			    add_name(names, &token, error) != 0)
				return -1;
			declaration.named |= declaration.local;
		}
		parentheses += is(&token, "(") - is(&token, ")");
		braces += is(&token, "{") - is(&token, "}");
		if (braces == 0 && parentheses == 0 && (is(&token, "}") || is(&token, ";")))
			declaration = (struct declaration){0};
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct name *left = a, *right = b;
	size_t n = left->n < right->n ? left->n : right->n;
	int order = memcmp(left->at, right->at, n);

	return order ? order : (left->n > right->n) - (left->n < right->n);
}

static int append(struct gt_ptx_text *text, size_t *capacity, const char *data, size_t n, struct gt_error *error)
{
	char *grown = gt_grown_to(text->data, text->bytes + n + 1, capacity, 1);

	if (!grown)
		return gt_fail_memory(error, "a PTX text");
	text->data = grown;
	memcpy(text->data + text->bytes, data, n);
	text->bytes += n;
	text->data[text->bytes] = '\0';
	return 0;
}

/* Copies a unit with its local names made unique, and without the directives that the first unit has. */
static int copy_renamed(struct gt_ptx_text *text, size_t *capacity, const char *unit, const char *end,
			const struct names *names, struct gt_error *error)
{
	static const char *const once[] = {".version", ".target", ".address_size"};
	struct token token = {.at = unit};
	const char *from = unit;
	char suffix[SUFFIX_BYTES];
	size_t suffix_bytes = (size_t)snprintf(suffix, sizeof suffix, "$unit%u", text->units);

	while (next_token(&token, end)) {
		const struct name name = {token.at, token.n};
		const char *line = memchr(token.at, '\n', (size_t)(end - token.at));
		if (is_one_of(&token, once, LENGTH(once))) {
			if (append(text, capacity, from, (size_t)(token.at - from), error) != 0)
				return -1;
			from = line ? line : end;
			token = (struct token){.at = from};
		} else if (token.word && names->n > 0 && bsearch(&name, names->list, names->n, sizeof name, compare_names)) {
			if (append(text, capacity, from, (size_t)(token.at + token.n - from), error) != 0 ||
			    append(text, capacity, suffix, suffix_bytes, error) != 0)
				return -1;
			from = token.at + token.n;
		}
	}
	return append(text, capacity, from, (size_t)(end - from), error);
}

int gt_ptx_link(struct gt_ptx_text *text, const char *unit, size_t bytes, struct gt_error *error)
{
	const char *end = unit + bytes;
	struct names names = {0};
	size_t capacity = text->bytes;
	int result = 0;

	text->units++;
	if (text->units == 1) {
		result = append(text, &capacity, unit, bytes, error);
	} else {
		result = find_local(&names, unit, end, error);
		if (names.n > 0)
			qsort(names.list, names.n, sizeof *names.list, compare_names);
		if (result == 0)
			result = copy_renamed(text, &capacity, unit, end, &names, error);
	}
	free(names.list);
	return result == 0 ? append(text, &capacity, "\n", 1, error) : -1;
}
