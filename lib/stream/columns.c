/* SPDX-License-Identifier: MIT */
#include "stream/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/wide.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian and are copied as they are"
#endif

/* Appends `more` bytes, whose values the caller sets. Returns their place, or NULL with `failed` set. */
static unsigned char *extend(struct gt_bytes *bytes, size_t more)
{
	if (bytes->failed)
		return NULL;
	unsigned char *data = gt_grown_to(bytes->data, bytes->n + more, &bytes->capacity, 1);
	if (!data && bytes->n + more > 0) {
		bytes->failed = true;
		return NULL;
	}
	bytes->data = data;
	bytes->n += more;
	return bytes->data + bytes->n - more;
}

int gt_bytes_write(void *bytes, const char *data, size_t n)
{
	unsigned char *place = extend(bytes, n);

	if (!place)
		return -1;
	if (n > 0)
		memcpy(place, data, n);
	return 0;
}

/* The smallest and largest element of a column. */
#define RANGE(TYPE)                                                                               \
	GT_WIDE static void range_##TYPE(const TYPE *column, size_t n, uint64_t *least, uint64_t *most)    \
	{                                                                                          \
		TYPE low = column[0], high = column[0];                                            \
		for (size_t i = 1; i < n; i++) {                                                   \
			low = column[i] < low ? column[i] : low;                                   \
			high = column[i] > high ? column[i] : high;                                \
		}                                                                                  \
		*least = low;                                                                      \
		*most = high;                                                                      \
	}
RANGE(uint8_t)
RANGE(uint16_t)
RANGE(uint32_t)
RANGE(uint64_t)

/* Stores the difference of each element from the offset in fewer bytes; and the inverse. */
#define NARROW(WIDE, THIN)                                                                        \
	GT_WIDE static void narrow_##WIDE##_##THIN(const WIDE *column, size_t n, WIDE offset, void *out)   \
	{                                                                                          \
		THIN *thin = out;                                                                  \
		for (size_t i = 0; i < n; i++)                                                     \
			thin[i] = (THIN)(column[i] - offset);                                      \
	}                                                                                          \
	GT_WIDE static void widen_##WIDE##_##THIN(WIDE *column, size_t n, WIDE offset, const void *in)     \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			THIN thin;                                                                 \
			memcpy(&thin, (const char *)in + i * sizeof thin, sizeof thin);            \
			column[i] = (WIDE)(offset + thin);                                         \
		}                                                                                  \
	}
NARROW(uint16_t, uint8_t)
NARROW(uint32_t, uint8_t)
NARROW(uint32_t, uint16_t)
NARROW(uint64_t, uint8_t)
NARROW(uint64_t, uint16_t)
NARROW(uint64_t, uint32_t)

static void range(const void *column, size_t n, unsigned width, uint64_t *least, uint64_t *most)
{
	switch (width) {
	case 1: range_uint8_t(column, n, least, most); break;
	case 2: range_uint16_t(column, n, least, most); break;
	case 4: range_uint32_t(column, n, least, most); break;
	default: range_uint64_t(column, n, least, most); break;
	}
}

/* Bytes that hold every value up to `most`. */
static unsigned bytes_for(uint64_t most)
{
	return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

static void narrow(const void *column, size_t n, unsigned width, unsigned thin, uint64_t offset, void *out)
{
	switch (width * 10 + thin) {
	case 21: narrow_uint16_t_uint8_t(column, n, (uint16_t)offset, out); break;
	case 41: narrow_uint32_t_uint8_t(column, n, (uint32_t)offset, out); break;
	case 42: narrow_uint32_t_uint16_t(column, n, (uint32_t)offset, out); break;
	case 81: narrow_uint64_t_uint8_t(column, n, offset, out); break;
	case 82: narrow_uint64_t_uint16_t(column, n, offset, out); break;
	default: narrow_uint64_t_uint32_t(column, n, offset, out); break;
	}
}

static void widen(void *column, size_t n, unsigned width, unsigned thin, uint64_t offset, const void *in)
{
	switch (width * 10 + thin) {
	case 21: widen_uint16_t_uint8_t(column, n, (uint16_t)offset, in); break;
	case 41: widen_uint32_t_uint8_t(column, n, (uint32_t)offset, in); break;
	case 42: widen_uint32_t_uint16_t(column, n, (uint32_t)offset, in); break;
	case 81: widen_uint64_t_uint8_t(column, n, offset, in); break;
	case 82: widen_uint64_t_uint16_t(column, n, offset, in); break;
	default: widen_uint64_t_uint32_t(column, n, offset, in); break;
	}
}

/* The extremes of all parts; returns their elements. */
static size_t range_of(const struct gt_column_part *parts, size_t parts_n, unsigned width, uint64_t *least, uint64_t *most)
{
	size_t n = 0;

	for (size_t p = 0; p < parts_n; p++) {
		uint64_t low, high;
		if (parts[p].n == 0)
			continue;
		range(parts[p].elements, parts[p].n, width, &low, &high);
		*least = n == 0 || low < *least ? low : *least;
		*most = n == 0 || high > *most ? high : *most;
		n += parts[p].n;
	}
	return n;
}

/* Appends n elements less the offset, in fewer bytes. */
static void append_narrow(struct gt_bytes *bytes, const void *column, size_t n, unsigned width, unsigned thin, uint64_t offset)
{
	/* An aligned buffer: narrow() writes whole elements, and a record may begin at any byte. */
	uint64_t thin_column[512];
	size_t chunk = sizeof thin_column / thin;

	for (size_t i = 0; i < n; i += chunk) {
		size_t m = n - i < chunk ? n - i : chunk;
		narrow((const char *)column + i * width, m, width, thin, offset, thin_column);
		unsigned char *place = extend(bytes, m * thin);
		if (place)
			memcpy(place, thin_column, m * thin);
	}
}

void gt_column_pack(msgpack_packer *packer, struct gt_bytes *bytes, const struct gt_column_part *parts, size_t parts_n,
		    unsigned width)
{
	uint64_t least = 0, most = 0;
	size_t n = range_of(parts, parts_n, width, &least, &most);

	if (least == most) {
		msgpack_pack_bin_with_body(packer, &least, width);
		return;
	}
	unsigned thin = bytes_for(most - least);
	if (thin < width) {
		msgpack_pack_array(packer, 2);
		msgpack_pack_uint64(packer, least);
	}
	msgpack_pack_bin(packer, n * (thin < width ? thin : width));
	for (size_t p = 0; p < parts_n; p++)
		if (thin < width)
			append_narrow(bytes, parts[p].elements, parts[p].n, width, thin, least);
		else
			gt_bytes_write(bytes, parts[p].elements, parts[p].n * width);
}

static bool is_narrowed(const msgpack_object *object)
{
	return object->type == MSGPACK_OBJECT_ARRAY && object->via.array.size == 2 &&
	       object->via.array.ptr[0].type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
	       object->via.array.ptr[1].type == MSGPACK_OBJECT_BIN;
}

int gt_column_unpack(const msgpack_object *object, void *column, size_t n, unsigned width)
{
	if (is_narrowed(object)) {
		const msgpack_object_bin *bin = &object->via.array.ptr[1].via.bin;
		for (unsigned thin = 1; thin < width; thin *= 2) {
			if (bin->size != n * thin)
				continue;
			widen(column, n, width, thin, object->via.array.ptr[0].via.u64, bin->ptr);
			return 0;
		}
		return -1;
	}
	if (object->type != MSGPACK_OBJECT_BIN)
		return -1;
	const msgpack_object_bin *bin = &object->via.bin;
	if (bin->size == n * width) {
		memcpy(column, bin->ptr, bin->size);
		return 0;
	}
	if (bin->size != width)
		return -1;
	/* Doubling copies: one element, two, four ... */
	memcpy(column, bin->ptr, width);
	for (size_t done = 1; done < n;) {
		size_t m = done < n - done ? done : n - done;
		memcpy((char *)column + done * width, column, m * width);
		done += m;
	}
	return 0;
}
