/* SPDX-License-Identifier: MIT */
/* Names of kernels as a source has them. A program and some traces have them as the Itanium C++ ABI mangles them: _Z, N ... E around the parts of a
 * nested name, each with its length before it, and I ... E around arguments of templates; profilers have them demangled. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
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

/* ---- the name in words ----
 *
 * The grammar is that of the Itanium C++ ABI, 5.1, without expressions, arrays and functions as types, but for pointers to functions: what kernels are
 * templates of are types, numbers, functors and lambdas. A type or a prefix that has been read may be meant again by its number (S_, S0_), and an argument
 * of the template by its own (T_, T0_): their words are kept. */

#define WORDS_TEXT 8192 /* bytes: names of kernels of CUB take 2000 */
#define WORDS_KEPT 16384
#define WORDS_SEEN 256 /* types and prefixes, and arguments of a template */
#define WORDS_DEPTH 64

struct kept {
	uint16_t at, length; /* in the words that are kept */
};

struct words {
	const char *at; /* in the mangled name */
	char text[WORDS_TEXT], kept[WORDS_KEPT];
	size_t length, kept_length, seen_n, arguments_n;
	struct kept seen[WORDS_SEEN], arguments[WORDS_SEEN]; /* the arguments are those of the template that was read last */
	unsigned depth;
	bool wrong; /* a part is not understood, or does not fit */
};

static void add_type(struct words *words);
static bool add_name(struct words *words);

static void add(struct words *words, const char *part, size_t length)
{
	if (length >= WORDS_TEXT - words->length) {
		words->wrong = true;
		return;
	}
	memcpy(words->text + words->length, part, length);
	words->length += length;
	words->text[words->length] = '\0';
}

static void say(struct words *words, const char *part)
{
	add(words, part, strlen(part));
}

static bool take(struct words *words, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(words->at, prefix, length) != 0)
		return false;
	words->at += length;
	return true;
}

/* Keeps the words from `begin` on as the next of some that may be meant again. */
static void keep(struct words *words, size_t begin, struct kept *list, size_t *n)
{
	const size_t length = words->length - begin;

	if (words->wrong || *n == WORDS_SEEN || length > WORDS_KEPT - words->kept_length) {
		words->wrong = true;
		return;
	}
	memcpy(words->kept + words->kept_length, words->text + begin, length);
	list[(*n)++] = (struct kept){(uint16_t)words->kept_length, (uint16_t)length};
	words->kept_length += length;
}

static void see(struct words *words, size_t begin)
{
	keep(words, begin, words->seen, &words->seen_n);
}

static void add_kept(struct words *words, const struct kept *list, size_t n, size_t number)
{
	if (number < n)
		add(words, words->kept + list[number].at, list[number].length);
	else
		words->wrong = true;
}

/* "_" is 0, "0_" 1; in digits of 36, where a type is meant, else of 10. */
static size_t take_number(struct words *words, size_t base)
{
	size_t number = 0;

	if (take(words, "_"))
		return 0;
	for (; isdigit((unsigned char)*words->at) || (base == 36 && isupper((unsigned char)*words->at)); words->at++)
		number = number < WORDS_SEEN ? number * base + (size_t)(isdigit((unsigned char)*words->at) ? *words->at - '0' : *words->at - 'A' + 10) : number;
	words->wrong |= !take(words, "_");
	return number + 1;
}

/* One more in a name that goes on within itself; false if it goes too deep. */
static bool enter(struct words *words)
{
	words->wrong |= words->depth >= WORDS_DEPTH;
	words->depth++;
	return !words->wrong;
}

static bool begins_with(const char *part, size_t length, const char *beginning)
{
	return length >= strlen(beginning) && strncmp(part, beginning, strlen(beginning)) == 0;
}

/* Types up to the end of a list of them, of which void alone is none: "(int, float*)". */
static void add_parameters(struct words *words)
{
	say(words, "(");
	if (*words->at == 'v' && (words->at[1] == 'E' || words->at[1] == '\0'))
		words->at++;
	for (bool first = true; !words->wrong && *words->at && *words->at != 'E'; first = false) {
		if (!first)
			say(words, ", ");
		add_type(words);
	}
	say(words, ")");
}

/* A lambda, Ul <parameters> E <number>, or a type without a name, Ut <number>. */
static void add_unnamed(struct words *words)
{
	char number[32];
	const bool lambda = take(words, "Ul");

	words->wrong |= !lambda && !take(words, "Ut");
	say(words, lambda ? "{lambda" : "{unnamed type");
	if (lambda) {
		add_parameters(words);
		words->wrong |= !take(words, "E");
	}
	snprintf(number, sizeof number, "#%zu}", take_number(words, 10) + 1);
	say(words, number);
}

/* A part of a name. Nothing is added for the namespace that nvcc puts what is of internal linkage into, which no source has. */
static void add_part(struct words *words)
{
	size_t length = 0;
	const char *part;

	take(words, "L"); /* of internal linkage */
	part = gt_name_part(words->at, &length);
	if (take(words, "cl")) {
		say(words, "operator()");
	} else if (*words->at == 'U') {
		add_unnamed(words);
	} else if (!part) {
		words->wrong = true;
	} else {
		words->at = part + length;
		if (begins_with(part, length, "_GLOBAL__N_"))
			say(words, "(anonymous namespace)");
		else if (!begins_with(part, length, "_INTERNAL_"))
			add(words, part, length);
	}
}

/* The letters of the fundamental types. */
static const char *fundamental(char letter)
{
	static const char letters[] = "vbcahstijlmxyfdwnoeg";
	static const char *const names[] = {"void", "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
					    "long", "unsigned long", "long long", "unsigned long long", "float", "double", "wchar_t", "__int128",
					    "unsigned __int128", "long double", "__float128"};
	const char *found = letter ? strchr(letters, letter) : NULL;

	return found ? names[found - letters] : NULL;
}

/* What "S" means that was seen before, or is of the standard library: not "St", which begins a name. */
static void add_seen(struct words *words)
{
	static const char *const standard[] = {"Saallocator", "Sbbasic_string", "Ssstring", "Siistream", "Soostream", "Sdiostream"};

	for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
		if (words->at[0] == 'S' && words->at[1] == standard[i][1]) {
			words->at += 2;
			say(words, "std::");
			say(words, standard[i] + 2);
			return;
		}
	words->wrong |= !take(words, "S");
	add_kept(words, words->seen, words->seen_n, take_number(words, 36));
}

/* Behind "L": <type> <value> E, or _Z <function> E. */
static void add_literal(struct words *words)
{
	const char kind = *words->at;

	if (take(words, "_Z")) {
		add_name(words);
		if (*words->at != 'E')
			add_parameters(words);
		words->wrong |= !take(words, "E");
		return;
	}
	if (fundamental(kind)) {
		words->at++;
	} else { /* of an enumeration */
		say(words, "(");
		add_type(words);
		say(words, ")");
	}
	if (take(words, "n"))
		say(words, "-");
	size_t digits = strspn(words->at, "0123456789");
	if (kind == 'b' && digits == 1)
		say(words, *words->at == '1' ? "true" : "false");
	else
		add(words, words->at, digits);
	words->at += digits;
	words->wrong |= digits == 0 || !take(words, "E");
}

/* Arguments of a template up to their E, each kept; those of a pack, J ... E, are each an argument in the words. */
static void add_list(struct words *words, struct kept *list, size_t *n, bool *first)
{
	while (!words->wrong && !take(words, "E")) {
		size_t begin = words->length;
		if (take(words, "J")) {
			size_t none = 0;
			struct kept each[WORDS_SEEN];
			if (enter(words))
				add_list(words, each, &none, first);
			words->depth--;
			keep(words, begin, list, n);
			continue;
		}
		if (!*first)
			say(words, ", ");
		*first = false;
		begin = words->length;
		if (take(words, "L")) {
			add_literal(words);
		} else if (take(words, "XadL")) {
			say(words, "&");
			add_literal(words);
			words->wrong |= !take(words, "E");
		} else {
			add_type(words);
		}
		keep(words, begin, list, n);
	}
}

/* Behind "I". */
static void add_arguments(struct words *words)
{
	struct kept list[WORDS_SEEN];
	size_t n = 0;
	bool first = true;

	if (enter(words)) {
		say(words, "<");
		add_list(words, list, &n, &first);
		say(words, ">");
	}
	words->depth--;
	memcpy(words->arguments, list, n * sizeof *list);
	words->arguments_n = n;
}

/* Behind "N": parts up to the E. Returns whether the last is of a template. */
static bool add_nested(struct words *words)
{
	const size_t begin = words->length;
	bool template = false;

	words->at += strspn(words->at, "rVK"); /* of a function that does not change its object */
	while (!words->wrong && !take(words, "E")) {
		const bool again = *words->at == 'S' && words->at[1] != 't';
		template = take(words, "I");
		if (template) {
			add_arguments(words);
		} else if (again) {
			add_seen(words);
		} else if (take(words, "St")) {
			say(words, "std");
			continue;
		} else if (take(words, "T")) {
			add_kept(words, words->arguments, words->arguments_n, take_number(words, 10));
		} else {
			size_t behind = words->length;
			if (words->length > begin)
				say(words, "::");
			size_t part = words->length;
			add_part(words);
			words->length = words->length == part ? behind : words->length;
		}
		if (!again && *words->at != 'E')
			see(words, begin);
	}
	return template;
}

/* Behind "Z": <function> E <name in it> <its number>. The type of a function that is a template is before its parameters, and no part of the words. */
static bool add_local(struct words *words)
{
	const bool template = add_name(words);

	if (template) {
		size_t length = words->length;
		add_type(words);
		words->length = length;
	}
	if (*words->at != 'E')
		add_parameters(words);
	words->wrong |= !take(words, "E");
	say(words, "::");
	const bool inner = add_name(words);
	if (take(words, "__"))
		take_number(words, 10);
	else if (*words->at == '_' && isdigit((unsigned char)words->at[1]))
		words->at += 2;
	return inner;
}

/* Returns whether its last part is of a template. */
static bool add_name(struct words *words)
{
	const size_t begin = words->length;
	bool template = false;

	if (!enter(words)) {
		words->depth--;
		return false;
	}
	if (take(words, "N")) {
		template = add_nested(words);
	} else if (take(words, "Z")) {
		template = add_local(words);
	} else {
		const bool again = *words->at == 'S' && words->at[1] != 't';
		if (again) {
			add_seen(words);
		} else {
			if (take(words, "St"))
				say(words, "std::");
			add_part(words);
		}
		template = take(words, "I");
		if (template && !again)
			see(words, begin);
		if (template)
			add_arguments(words);
	}
	words->depth--;
	return template;
}

/* Behind "P": a type, or F <its result> <parameters> E. */
static void add_pointer(struct words *words)
{
	if (!take(words, "F")) {
		add_type(words);
		say(words, "*");
		return;
	}
	add_type(words);
	say(words, " (*)");
	add_parameters(words);
	words->wrong |= !take(words, "E");
	see(words, words->length); /* the function, which is no words of its own */
}

/* A reference to a reference is one: that to what moves only if both are. */
static void add_reference(struct words *words)
{
	const bool moved = *words->at++ == 'O';

	add_type(words);
	const size_t marks = words->length < 2 || words->text[words->length - 1] != '&' ? 0 : words->text[words->length - 2] == '&' ? 2 : 1;
	if (marks == 0)
		say(words, moved ? "&&" : "&");
	else if (marks == 2 && !moved)
		words->length--;
}

static void add_qualified(struct words *words)
{
	static const char letters[] = "rVK";
	static const char *const names[] = {" __restrict", " volatile", " const"};
	const size_t n = strspn(words->at, letters);
	const char *first = words->at;

	words->at += n;
	add_type(words);
	for (size_t i = n; i-- > 0;)
		say(words, names[strchr(letters, first[i]) - letters]);
}

static void add_type(struct words *words)
{
	const size_t begin = words->length;
	const char *name = fundamental(*words->at);
	const bool again = *words->at == 'S' && words->at[1] != 't';

	if (name || take(words, "Dn")) {
		words->at += name != NULL;
		say(words, name ? name : "decltype(nullptr)");
		return;
	}
	if (enter(words)) {
		if (strchr("rVK", *words->at)) {
			add_qualified(words);
		} else if (take(words, "P")) {
			add_pointer(words);
		} else if (*words->at == 'R' || *words->at == 'O') {
			add_reference(words);
		} else if (take(words, "T")) {
			add_kept(words, words->arguments, words->arguments_n, take_number(words, 10));
		} else if (again) {
			add_seen(words);
			if (take(words, "I"))
				add_arguments(words), see(words, begin);
		} else {
			add_name(words);
		}
	}
	words->depth--;
	if (!again)
		see(words, begin);
}

const char *gt_name_words(const char *name, char text[GT_KERNEL_NAME])
{
	struct words words;
	size_t length;

	text[0] = '\0';
	if (strncmp(name, "_Z", 2) != 0)
		return name;
	words.at = name + 2;
	words.length = words.kept_length = words.seen_n = words.arguments_n = words.depth = 0;
	words.wrong = false;
	add_name(&words);
	if (words.wrong || words.length == 0)
		return name;
	length = words.length < GT_KERNEL_NAME ? words.length : GT_KERNEL_NAME - sizeof "...";
	snprintf(text, GT_KERNEL_NAME, "%.*s%s", (int)length, words.text, length < words.length ? "..." : "");
	return text;
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
