/* SPDX-License-Identifier: MIT */
#include "stream/thrift.h"

#include <string.h>

static void put(struct gt_bytes *out, unsigned byte)
{
	char character = (char)byte;

	gt_bytes_write(out, &character, 1);
}

void gt_thrift_varint(struct gt_bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(out, (unsigned)(value & 0x7f) | 0x80);
	put(out, (unsigned)value);
}

static void signed_varint(struct gt_bytes *out, int64_t value)
{
	gt_thrift_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* The header of a field: how far its number is from the last one's, and its type. All of Parquet's steps are below 16. */
static void field(struct gt_thrift *thrift, int number, enum gt_thrift_type type)
{
	int *last = &thrift->last[thrift->depth - 1];

	put(thrift->out, (unsigned)(number - *last) << 4 | (unsigned)type);
	*last = number;
}

void gt_thrift_begin(struct gt_thrift *thrift, int number)
{
	if (number > 0)
		field(thrift, number, GT_THRIFT_STRUCT);
	thrift->last[thrift->depth++] = 0;
}

void gt_thrift_end(struct gt_thrift *thrift)
{
	put(thrift->out, 0);
	thrift->depth--;
}

void gt_thrift_i32(struct gt_thrift *thrift, int number, int32_t value)
{
	field(thrift, number, GT_THRIFT_I32);
	signed_varint(thrift->out, value);
}

void gt_thrift_i64(struct gt_thrift *thrift, int number, int64_t value)
{
	field(thrift, number, GT_THRIFT_I64);
	signed_varint(thrift->out, value);
}

void gt_thrift_text(struct gt_thrift *thrift, int number, const char *text)
{
	field(thrift, number, GT_THRIFT_TEXT);
	gt_thrift_element_text(thrift, text);
}

void gt_thrift_list(struct gt_thrift *thrift, int number, enum gt_thrift_type type, uint64_t n)
{
	field(thrift, number, GT_THRIFT_LIST);
	if (n < 15) {
		put(thrift->out, (unsigned)n << 4 | (unsigned)type);
	} else {
		put(thrift->out, 0xf0 | (unsigned)type);
		gt_thrift_varint(thrift->out, n);
	}
}

void gt_thrift_element_i32(struct gt_thrift *thrift, int32_t value)
{
	signed_varint(thrift->out, value);
}

void gt_thrift_element_text(struct gt_thrift *thrift, const char *text)
{
	gt_thrift_varint(thrift->out, strlen(text));
	gt_bytes_write(thrift->out, text, strlen(text));
}
