/* SPDX-License-Identifier: MIT */
/* Scanning numbers and words in a line of text. Each scanner takes a cursor into 0-terminated
 * text, moves it past what it took, and returns false, with the cursor anywhere, if the text is
 * not what it wants or the number does not fit. None skips blanks by itself.
 *
 * gt_scan_hex looks at eight bytes at a time: GT_SCAN_SLACK bytes after the terminating 0 must be
 * readable, which the lines of gt_input_line guarantee. */
#ifndef GT_BASE_SCAN_H
#define GT_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GT_SCAN_SLACK 8

/* Blanks and tabs. */
static inline void gt_scan_blanks(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

/* One or more blanks or tabs. */
static inline bool gt_scan_gap(const char **at)
{
	const char *start = *at;

	gt_scan_blanks(at);
	return *at != start;
}

/* Exactly this character. */
static inline bool gt_scan_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* Exactly these characters. */
static inline bool gt_scan_text(const char **at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*at, text, length) != 0)
		return false;
	*at += length;
	return true;
}

/* Characters up to a blank, a tab or the end of the text: at least one. */
static inline bool gt_scan_word(const char **at, const char **word, size_t *length)
{
	const char *end = *at;

	while (*end != ' ' && *end != '\t' && *end != '\0')
		end++;
	*word = *at;
	*length = (size_t)(end - *at);
	*at = end;
	return *length > 0;
}

/* True if only blanks are left. */
static inline bool gt_scan_end(const char **at)
{
	gt_scan_blanks(at);
	return **at == '\0';
}

/* Decimal digits. */
static inline bool gt_scan_decimal(const char **at, uint64_t *value)
{
	const char *start = *at, *p = start;
	uint64_t number = 0;
	unsigned digit;

	while ((digit = (unsigned)(unsigned char)*p - '0') <= 9) {
		/* Nineteen digits always fit; only longer numbers need a check. */
		if (p - start >= 19 && number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
		p++;
	}
	*at = p;
	*value = number;
	return p != start;
}

/* Decimal digits, for a number of at most `max`. */
static inline bool gt_scan_upto(const char **at, uint64_t max, uint64_t *value)
{
	return gt_scan_decimal(at, value) && *value <= max;
}

/* Decimal digits with an optional minus. INT64_MIN is refused: it marks "no stride" in rows. */
static inline bool gt_scan_signed(const char **at, int64_t *value)
{
	bool negative = gt_scan_char(at, '-');
	uint64_t magnitude;

	if (!gt_scan_upto(at, INT64_MAX, &magnitude))
		return false;
	*value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

/* One more than the value of a hexadecimal digit, 0 for other characters. */
static const uint8_t gt_hex_digit[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* How many of the eight characters are hexadecimal digits, from the first on, and the value of these. All eight are handled at
 * once in the bytes of a word, on little-endian machines; on others it is 0, so that callers take the longer way. */
static inline unsigned gt_scan_hex8(const char *text, uint32_t *value)
{
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t bytes;

	memcpy(&bytes, text, sizeof bytes);
	uint64_t lower = bytes | ones * 0x20;
	/* In each byte, bit 7 says: is at least '0', is above '9', is at least 'a', is above 'f'. What a character that is not
	 * of ASCII carries reaches only characters behind it, which do not count. */
	uint64_t from_0 = bytes + ones * (0x80 - '0'), above_9 = bytes + ones * (0x7f - '9');
	uint64_t from_a = lower + ones * (0x80 - 'a'), above_f = lower + ones * (0x7f - 'f');
	uint64_t letter = from_a & ~above_f & ones * 0x80;
	uint64_t other = ~((from_0 & ~above_9) | letter) & ones * 0x80;
	unsigned digits = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	/* 'a' & 15 is 1, so letters get 9 more. Zeros take the place of what is no digit, before the digits. Then pairs of
	 * digits, of bytes, and of halves are merged. */
	bytes = (bytes & ones * 15) + (letter >> 7) * 9;
	bytes = digits ? bytes << (64 - 8 * digits) : 0;
	bytes = (bytes << 4 | bytes >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	bytes = (bytes << 8 | bytes >> 16) & UINT64_C(0x0000ffff0000ffff);
	*value = (uint32_t)(bytes << 16 | bytes >> 32);
	return digits;
#else
	(void)text;
	*value = 0;
	return 0;
#endif
}

/* Up to sixteen hexadecimal digits: how many, and their value. */
static inline unsigned gt_scan_hex16(const char *text, uint64_t *value)
{
	uint32_t first, more;
	unsigned digits = gt_scan_hex8(text, &first);

	*value = first;
	if (digits == 8) {
		unsigned rest = gt_scan_hex8(text + 8, &more);
		*value = *value << 4 * rest | more;
		digits += rest;
	}
	return digits;
}

/* Hexadecimal digits, with or without 0x. */
static inline bool gt_scan_hex(const char **at, uint64_t *value)
{
	const char *p = *at;
	uint64_t number;

	if (p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	const char *digits = p;
	p += gt_scan_hex16(p, &number);
	for (unsigned digit; (digit = gt_hex_digit[(unsigned char)*p]) != 0; p++) {
		if (number >> 60 != 0)
			return false;
		number = number << 4 | (digit - 1);
	}
	*at = p;
	*value = number;
	return p != digits;
}

/* The first eight digits of a hexadecimal number of a list: those of the others are nearly always the same. */
struct gt_scan_first {
	char lead[8], text[8]; /* what stands before the digits and the first of them, from a blank on; the digits */
	uint32_t value; /* 0: none, and no number is near */
	unsigned mark;	/* characters of the 0x before them, 2 or 0 */
};

/* Keeps the first digits of a number. */
static inline void gt_scan_note_first(const char *number, struct gt_scan_first *first)
{
	first->mark = number[0] == '0' && number[1] == 'x' ? 2 : 0;
	if (gt_scan_hex8(number + first->mark, &first->value) != sizeof first->text) {
		first->value = 0;
		return;
	}
	first->lead[0] = ' ';
	memcpy(first->lead + 1, number, sizeof first->lead - 1);
	memcpy(first->text, number + first->mark, sizeof first->text);
}

/* A blank, and a number of at most sixteen digits that begins with these, up to a blank or the end. If there is none, the cursor
 * stays where it is. */
static inline bool gt_scan_near(const char **at, const struct gt_scan_first *first, uint64_t *value)
{
	uint32_t rest;

	if (first->value == 0 || memcmp(*at, first->lead, sizeof first->lead) != 0)
		return false;
	const char *digits = *at + 1 + first->mark;
	if (memcmp(digits, first->text, sizeof first->text) != 0)
		return false;
	const char *behind = digits + sizeof first->text;
	unsigned more = gt_scan_hex8(behind, &rest);
	if (behind[more] != ' ' && behind[more] != '\0')
		return false;
	*value = (uint64_t)first->value << 4 * more | rest;
	*at = behind + more;
	return true;
}

#endif
