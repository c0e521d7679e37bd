/* SPDX-License-Identifier: MIT */
/* Names of kernels as a source has them. A stream has the plain name of a kernel where no other has the same (gtrace-record(1)); else, as for
 * instances of a template, the name as the Itanium C++ ABI mangles it: _Z, its parts with their lengths, and I ... E around arguments of templates. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"

struct words {
	const char *at; /* in the mangled name */
	char *text;
	size_t length;
	bool wrong; /* a part is not understood, or does not fit */
};

static void add(struct words *words, const char *part, size_t length)
{
	if (length >= GT_NAME_WORDS - words->length) {
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

/* <length><identifier> */
static void add_identifier(struct words *words)
{
	char *end;
	unsigned long length = isdigit((unsigned char)*words->at) ? strtoul(words->at, &end, 10) : 0;

	if (length == 0 || length > strlen(end)) {
		words->wrong = true;
		return;
	}
	add(words, end, length);
	words->at = end + length;
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
		add_identifier(words);
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

const char *gt_name_words(const char *name, char text[GT_NAME_WORDS])
{
	struct words words = {.at = name, .text = text};

	text[0] = '\0';
	if (!take(&words, "_Z"))
		return name;
	bool nested = take(&words, "N");
	do {
		words.length = 0; /* without its namespaces */
		take(&words, "L");
		add_identifier(&words);
	} while (nested && !words.wrong && isdigit((unsigned char)*words.at));
	if (!words.wrong && take(&words, "I"))
		add_arguments(&words);
	return words.wrong ? name : text;
}
