/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

size_t gt_utf8_length(const unsigned char *text)
{
	size_t length = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3
			: text[0] < 0xF5 ? 4 : 0;

	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xC0) != 0x80)
			return 0;
	if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
	    (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F))
		return 0;
	return length;
}

/* The bytes of the next character, at least 1. */
static size_t step(const char *text)
{
	size_t length = gt_utf8_length((const unsigned char *)text);

	return length ? length : 1;
}

size_t gt_utf8_characters(const char *text)
{
	size_t characters = 0;

	for (; *text; text += step(text))
		characters++;
	return characters;
}

/* What turns text around, or ends a line: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool moves_text(const unsigned char *at)
{
	if (at[0] == 0xD8)
		return at[1] == 0x9C;
	return at[0] == 0xE2 && ((at[1] == 0x80 && (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE))) ||
				 (at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9));
}

/* XML excludes U+FFFE and U+FFFF. */
bool gt_utf8_shown(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	return gt_utf8_length(at) > 0 && at[0] >= ' ' && at[0] != 127 && !(at[0] == 0xC2 && at[1] < 0xA0) &&
	       !moves_text(at) && !(at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE);
}

const char *gt_utf8_next(const char *text, size_t *taken, size_t *shown)
{
	bool itself = gt_utf8_shown(text);

	*taken = step(text);
	*shown = itself ? *taken : 1;
	return itself ? text : "?";
}

char *gt_utf8_printable(char *text)
{
	char *to = text;
	size_t taken, shown;

	for (const char *from = text; *from; from += taken) {
		const char *character = gt_utf8_next(from, &taken, &shown);
		memmove(to, character, shown);
		to += shown;
	}
	*to = '\0';
	return text;
}

const char *gt_utf8_tidy(const char *text, size_t most, char *buffer)
{
	size_t characters = gt_utf8_characters(text), place = 0;
	size_t head = (most - 1) * 2 / 3, tail = most - 1 - head;
	char *out = buffer;

	for (; *text; text += step(text), place++) {
		if (characters > most && place >= head && place < characters - tail) {
			if (place == head) {
				memcpy(out, "\xE2\x80\xA6", 3);
				out += 3;
			}
		} else if (gt_utf8_shown(text)) {
			memcpy(out, text, step(text));
			out += step(text);
		} else {
			*out++ = '?';
		}
	}
	*out = '\0';
	return buffer;
}
