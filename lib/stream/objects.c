/* SPDX-License-Identifier: MIT */
#include "stream/objects.h"

/* What one object's first bytes say: how long it is, and how many objects it has inside. */
struct head {
	uint64_t bytes, objects;
};

static uint64_t big_endian(const unsigned char *bytes, unsigned n)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < n; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* The types 0xc0 to 0xdf: bytes of the number behind the type, which is a length, a count, or part of the value. */
static const struct {
	unsigned char number;
	enum { VALUE, LENGTH, EXTENSION, ELEMENTS, PAIRS } means;
	unsigned char more; /* bytes that follow in any case */
} types[32] = {
	{0, VALUE, 0}, {0, VALUE, 0}, {0, VALUE, 0}, {0, VALUE, 0},
	{1, LENGTH, 0}, {2, LENGTH, 0}, {4, LENGTH, 0},
	{1, EXTENSION, 1}, {2, EXTENSION, 1}, {4, EXTENSION, 1},
	{0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 1}, {0, VALUE, 2}, {0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 1}, {0, VALUE, 2}, {0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 2}, {0, VALUE, 3}, {0, VALUE, 5}, {0, VALUE, 9}, {0, VALUE, 17},
	{1, LENGTH, 0}, {2, LENGTH, 0}, {4, LENGTH, 0},
	{2, ELEMENTS, 0}, {4, ELEMENTS, 0}, {2, PAIRS, 0}, {4, PAIRS, 0},
};

static struct head read_head(const unsigned char *bytes, size_t n)
{
	unsigned char type = bytes[0];

	if (type < 0x80 || type >= 0xe0)
		return (struct head){1, 0};
	if (type < 0x90)
		return (struct head){1, 2 * (type & 15U)};
	if (type < 0xa0)
		return (struct head){1, type & 15U};
	if (type < 0xc0)
		return (struct head){1 + (type & 31U), 0};
	unsigned number_bytes = types[type - 0xc0].number, more = types[type - 0xc0].more;
	if (n < 1 + number_bytes)
		return (struct head){n, 0};
	uint64_t number = big_endian(bytes + 1, number_bytes);
	switch (types[type - 0xc0].means) {
	case LENGTH:
	case EXTENSION: return (struct head){1 + number_bytes + more + number, 0};
	case ELEMENTS: return (struct head){1 + number_bytes, number};
	case PAIRS: return (struct head){1 + number_bytes, 2 * number};
	case VALUE: break;
	}
	return (struct head){1 + more, 0};
}

uint64_t gt_objects_count(const unsigned char *bytes, size_t n)
{
	uint64_t seen = 0, claimed = 1;

	for (size_t at = 0; at < n && seen < claimed && claimed <= GT_OBJECTS_MAX; seen++) {
		struct head head = read_head(bytes + at, n - at);
		claimed += head.objects;
		at = head.bytes < n - at ? at + (size_t)head.bytes : n;
	}
	return claimed;
}
