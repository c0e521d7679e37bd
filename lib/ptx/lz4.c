/* SPDX-License-Identifier: MIT */
#include "ptx/lz4.h"

#include <stdbool.h>
#include <string.h>

#define LENGTH_CONTINUES 15 /* a length of 4 bits that has more bytes behind it */
#define MATCH_MIN 4

struct cursor {
	const unsigned char *at, *end;
	unsigned char *out, *begin, *limit;
};

/* The rest of a length: bytes are added up to the first that is not 255. */
static bool take_length(struct cursor *c, size_t *length)
{
	unsigned char byte;

	if (*length != LENGTH_CONTINUES)
		return true;
	do {
		if (c->at == c->end)
			return false;
		byte = *c->at++;
		*length += byte;
	} while (byte == 255);
	return true;
}

static bool copy_literals(struct cursor *c, size_t length)
{
	if (length > (size_t)(c->end - c->at) || length > (size_t)(c->limit - c->out))
		return false;
	memcpy(c->out, c->at, length);
	c->out += length;
	c->at += length;
	return true;
}

/* What was written before is written again; the two may overlap, so byte by byte. */
static bool copy_match(struct cursor *c, size_t length)
{
	if (c->end - c->at < 2)
		return false;
	size_t distance = (size_t)c->at[0] | (size_t)c->at[1] << 8;
	c->at += 2;
	if (!take_length(c, &length))
		return false;
	length += MATCH_MIN;
	if (distance == 0 || distance > (size_t)(c->out - c->begin) || length > (size_t)(c->limit - c->out))
		return false;
	for (; length > 0; length--, c->out++)
		*c->out = *(c->out - distance);
	return true;
}

int gt_lz4_block(const unsigned char *block, size_t block_bytes, unsigned char *out, size_t n,
		 struct gt_error *error)
{
	struct cursor c = {block, block + block_bytes, out, out, out + n};

	while (c.at < c.end) {
		size_t literals = *c.at >> 4, match = *c.at & LENGTH_CONTINUES;
		c.at++;
		if (!take_length(&c, &literals) || !copy_literals(&c, literals))
			return gt_fail(error, "damaged LZ4 block");
		/* The last sequence ends with its literals. */
		if (c.at < c.end && !copy_match(&c, match))
			return gt_fail(error, "damaged LZ4 block");
	}
	if (c.out != c.limit)
		return gt_fail(error, "LZ4 block of %zu bytes, expected %zu", (size_t)(c.out - c.begin), n);
	return 0;
}
