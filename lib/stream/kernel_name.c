/* SPDX-License-Identifier: MIT */
/* Names of kernels as a source has them. A program and some traces have them as the Itanium C++ ABI mangles them: _Z, N ... E around the parts of a
 * nested name, each with its length before it, and I ... E around arguments of templates; profilers have them demangled. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/kernel_name.h"

const char *gt_name_part(const char *at, size_t *length)
{
	size_t digits = strspn(at, "0123456789");
	size_t n = 0;

	if (digits == 0 || digits > 4)
		return NULL;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (size_t)(at[i] - '0');
	if (n == 0 || strlen(at + digits) < n)
		return NULL;
	*length = n;
	return at + digits;
}

/* ---- the name in words ---- */

struct words {
	const char *at; /* in the mangled name */
	char *text;
	size_t length;
	bool wrong; /* a part is not understood, or does not fit */
};

static void add(struct words *words, const char *part, size_t length)
{
	if (length >= GT_KERNEL_NAME - words->length) {
		words->wrong = true;
		return;
	}
	memcpy(words->text + words->length, part, length);
	words->length += length;
	words->text[words->length] = '\0';
}

static bool take(struct words *words, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(words->at, prefix, length) != 0)
		return false;
	words->at += length;
	return true;
}

static bool begins_with(const char *part, size_t length, const char *beginning)
{
	return length >= strlen(beginning) && strncmp(part, beginning, strlen(beginning)) == 0;
}

/* An identifier. Returns false for the namespace that nvcc puts what is of internal linkage into, which no source has. */
static bool add_part(struct words *words)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t length = 0;
	const char *part = gt_name_part(words->at, &length);

	if (!part) {
		words->wrong = true;
		return true;
	}
	words->at = part + length;
	if (begins_with(part, length, "_INTERNAL_"))
		return false;
	if (begins_with(part, length, "_GLOBAL__N_"))
		add(words, anonymous, strlen(anonymous));
	else
		add(words, part, length);
	return true;
}

/* The letters of the fundamental types. */
static const char *fundamental(char letter)
{
	static const char letters[] = "vbcahstijlmxyfd";
	static const char *const names[] = {"void", "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
					    "long", "unsigned long", "long long", "unsigned long long", "float", "double"};
	const char *found = letter ? strchr(letters, letter) : NULL;

	return found ? names[found - letters] : NULL;
}

static void add_type(struct words *words)
{
	const char *name = fundamental(*words->at);

	if (isdigit((unsigned char)*words->at)) {
		add_part(words);
	} else if (name) {
		add(words, name, strlen(name));
		words->at++;
	} else {
		words->wrong = true;
	}
}

/* L<type><value>E */
static void add_literal(struct words *words)
{
	bool is_bool = *words->at == 'b';

	if (!fundamental(*words->at++)) {
		words->wrong = true;
		return;
	}
	if (take(words, "n"))
		add(words, "-", 1);
	size_t digits = strspn(words->at, "0123456789");
	if (is_bool && digits == 1)
		add(words, *words->at == '1' ? "true" : "false", *words->at == '1' ? 4 : 5);
	else
		add(words, words->at, digits);
	words->at += digits;
	words->wrong |= digits == 0 || !take(words, "E");
}

static void add_arguments(struct words *words)
{
	add(words, "<", 1);
	for (bool first = true; !words->wrong && !take(words, "E"); first = false) {
		if (!first)
			add(words, ", ", 2);
		if (take(words, "L"))
			add_literal(words);
		else
			add_type(words);
	}
	add(words, ">", 1);
}

const char *gt_name_words(const char *name, char text[GT_KERNEL_NAME])
{
	struct words words = {.at = name, .text = text};

	text[0] = '\0';
	if (!take(&words, "_Z"))
		return name;
	bool nested = take(&words, "N");
	do {
		take(&words, "L"); /* of internal linkage */
		if (add_part(&words) && nested && isdigit((unsigned char)*words.at))
			add(&words, "::", 2);
	} while (nested && !words.wrong && isdigit((unsigned char)*words.at));
	if (!words.wrong && take(&words, "I"))
		add_arguments(&words);
	return words.wrong ? name : text;
}

/* ---- the plain name ---- */

static const char *plain_of_mangled(const char *name, size_t *length)
{
	const char *at = name + 2, *found = NULL, *part;
	bool nested = *at == 'N';
	size_t n;

	at += nested;
	at += *at == 'L';
	while ((part = gt_name_part(at, &n)) != NULL) {
		found = part;
		*length = n;
		at = part + n;
		if (!nested)
			break;
	}
	return found;
}

/* Behind the bracket that closes the one at `at`; NULL: none does. */
static const char *behind_brackets(const char *at)
{
	size_t open = 0;

	for (; *at; at++) {
		open += *at == '<' || *at == '(';
		if ((*at == '>' || *at == ')') && --open == 0)
			return at + 1;
	}
	return NULL;
}

const char *gt_name_plain(const char *name, size_t *length)
{
	const char *found = strncmp(name, "_Z", 2) == 0 ? plain_of_mangled(name, length) : NULL, *at = name, *behind;
	const char *begin = name, *word = name; /* behind the last scope; behind the last blank, too */

	if (found)
		return found;
	while (*at) {
		if (*at == '<' || *at == '(') { /* "<unnamed>::k", or what ends the name */
			behind = behind_brackets(at);
			if (!behind || strncmp(behind, "::", 2) != 0)
				break;
			at = behind;
		}
		bool scope = strncmp(at, "::", 2) == 0;
		if (*at == ' ' || scope)
			word = at + 1 + scope;
		if (scope)
			begin = word;
		at += 1 + scope;
	}
	begin = *at ? word : begin; /* only what has parameters or arguments has a return type before it */
	*length = (size_t)(at - begin);
	if (*length > 0)
		return begin;
	*length = strlen(name);
	return name;
}
