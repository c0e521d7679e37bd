/* SPDX-License-Identifier: MIT */
#include "gpu/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"

#define WORDS_BYTES 160
#define ITEM_BYTES 256

/* The word at this index among a form's alternatives; false after the last. */
static bool word_at(const char *form, size_t at, const char **word, size_t *length)
{
	for (const char *next = form; next && *next;) {
		size_t bytes = strcspn(next, "|");
		bool plain = islower((unsigned char)next[0]) && !memchr(next, '[', bytes);
		if (plain && at-- == 0) {
			*word = next;
			*length = bytes;
			return true;
		}
		next += bytes + (next[bytes] == '|');
	}
	return false;
}

/* The index of a text among the words of a form, or SIZE_MAX. */
static size_t place_of(const char *form, const char *text)
{
	const char *word;
	size_t length;

	for (size_t i = 0; word_at(form, i, &word, &length); i++)
		if (strlen(text) == length && memcmp(text, word, length) == 0)
			return i;
	return SIZE_MAX;
}

/* "back, through or evict", with `before` in front if there are any, as in ", or none". */
static const char *list_words(const char *form, const char *before, char list[WORDS_BYTES])
{
	const char *word, *after;
	size_t length, used = 0, unused;

	list[0] = '\0';
	for (size_t i = 0; word_at(form, i, &word, &length) && used < WORDS_BYTES; i++) {
		bool last = !word_at(form, i + 1, &after, &unused);
		used += (size_t)snprintf(list + used, WORDS_BYTES - used, "%s%.*s",
					 i == 0 ? before : last ? " or " : ", ", (int)length, word);
	}
	return list;
}

static int read_text(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	return value->text[0] == '\0' ? gt_fail(error, "expected a text") : 0;
}

static int read_word(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	if (value->text[0] == '\0' || strpbrk(value->text, " \t"))
		return gt_fail(error, "'%.100s': expected one word", value->text);
	return 0;
}

static int read_one_of(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char list[WORDS_BYTES];
	size_t place = place_of(type->form, value->text);

	value->number = place;
	if (place == SIZE_MAX)
		return gt_fail(error, "'%.100s': expected %s", value->text, list_words(type->form, "", list));
	return 0;
}

static int read_yes_no(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	value->number = strcmp(value->text, "yes") == 0;
	return value->number || strcmp(value->text, "no") == 0 ? 0 : gt_fail(error, "'%.100s': expected yes or no", value->text);
}

static int read_count(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_count(value->text, type->min, type->max, &value->number, error);
}

static int read_size(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_size(value->text, type->min, type->max, &value->number, error);
}

static int read_power(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char low[32], high[32];
	uint64_t size = 0;

	if (gt_parse_size(value->text, type->min, type->max, &size, error) != 0 || (size & (size - 1)) != 0)
		return gt_fail(error, "'%.100s': expected a power of two from %s to %s", value->text,
			       gt_format_size(type->min, low), gt_format_size(type->max, high));
	value->number = size;
	return 0;
}

static int read_sizes(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char item[ITEM_BYTES];
	const char *at = value->text;
	uint64_t size, last = 0;

	for (size_t n = 0;; n++) {
		size_t length = strcspn(at, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
		if (gt_parse_size(item, type->min, type->max, &size, error) != 0)
			return -1;
		if (n > 0 && size <= last)
			return gt_fail(error, "'%s': expected sizes in rising order, such as 0,8K,16K", item);
		last = size;
		at += length;
		if (*at++ == '\0')
			return 0;
	}
}

static int read_ways(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *sets = strncmp(text, "full/", 5) == 0 ? text + 5 : NULL;

	value->number = 1;
	value->word = sets || strcmp(text, "full") == 0;
	if ((value->word && !sets) || gt_parse_count(sets ? sets : text, type->min, type->max, &value->number, error) == 0)
		return 0;
	return gt_fail(error, "'%.100s': expected a number of ways from %" PRIu64 " to %" PRIu64 ", full, or full/SETS", text,
		       type->min, type->max);
}

static int read_real(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_real(value->text, (double)type->min, (double)type->max, &value->real, error);
}

int gt_value_read(const struct gt_value_type *type, const char *text, struct gt_value *value, struct gt_error *error)
{
	static int (*const readers[])(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error) = {
		[GT_VALUE_TEXT] = read_text,   [GT_VALUE_WORD] = read_word,   [GT_VALUE_ONE_OF] = read_one_of,
		[GT_VALUE_YES_NO] = read_yes_no, [GT_VALUE_COUNT] = read_count, [GT_VALUE_SIZE] = read_size,
		[GT_VALUE_POWER] = read_power, [GT_VALUE_SIZES] = read_sizes, [GT_VALUE_WAYS] = read_ways,
		[GT_VALUE_REAL] = read_real,
	};
	bool numeric = type->kind >= GT_VALUE_COUNT && type->kind != GT_VALUE_WAYS;
	char list[WORDS_BYTES];
	struct gt_error reason;

	*value = (struct gt_value){.text = text};
	value->word = numeric && place_of(type->form, text) != SIZE_MAX;
	if (value->word)
		return 0;
	if (!numeric)
		return readers[type->kind](type, value, error);
	if (readers[type->kind](type, value, &reason) != 0)
		return gt_fail(error, "%s%s", reason.text, list_words(type->form, ", or ", list));
	return 0;
}
