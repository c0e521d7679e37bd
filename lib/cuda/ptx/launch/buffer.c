/* SPDX-License-Identifier: MIT */
/* The contents of buffers, as defined in gtrace-ptx(1), "Buffers". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/launch/launch.h"

/* Little-endian, as in the device's memory. */
static void put(unsigned char *to, uint64_t bits, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(bits >> (8 * i));
}

static bool is_floating(enum gt_ptx_type type)
{
	return type == GT_PTX_F16 || type == GT_PTX_F32 || type == GT_PTX_F64;
}

static int fill_zero(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	(void)buffer, (void)to, (void)error; /* allocations are zeroed */
	return 0;
}

static int fill_constant(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	unsigned size = gt_ptx_type_size(buffer->type);
	uint64_t bits;

	if (gt_ptx_value_bits(&buffer->values[0], buffer->type, &bits, error) != 0)
		return -1;
	for (uint64_t i = 0; i < buffer->elements; i++)
		put(to + i * size, bits, size);
	return 0;
}

static uint64_t two_s_complement(const struct gt_ptx_value *value)
{
	return value->negative ? 0 - value->magnitude : value->magnitude;
}

/* Element i is start + i step: modulo 2^width for integers, rounded to nearest for floats. */
static int fill_ramp(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	const struct gt_ptx_value *start = &buffer->values[0], *step = &buffer->values[1];
	unsigned size = gt_ptx_type_size(buffer->type);
	bool floating = is_floating(buffer->type);
	uint64_t bits;

	if (!floating && (start->real || step->real))
		return gt_fail(error, "ramp of .%s needs whole numbers", gt_ptx_type_name(buffer->type));
	for (uint64_t i = 0; i < buffer->elements; i++) {
		if (floating) {
			struct gt_ptx_value value = {.real = true, .number = start->number + (double)i * step->number};
			if (gt_ptx_value_bits(&value, buffer->type, &bits, error) != 0)
				return -1;
		} else {
			bits = two_s_complement(start) + i * two_s_complement(step);
		}
		put(to + i * size, bits, size);
	}
	return 0;
}

/* SplitMix64 (Steele, Lea and Flood, 2014): its output number i, from 0. */
static uint64_t splitmix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The high 64 bits of a product. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), middle = (a >> 32) * (b & UINT32_MAX);
	uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX) + (low >> 32);

	return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/* Floats: multiples of 2^-p in [0, 1), p the bits of the significand, times `below`. */
static int random_float(const struct gt_ptx_buffer *buffer, uint64_t z, uint64_t *bits, struct gt_error *error)
{
	unsigned p = buffer->type == GT_PTX_F16 ? 11 : buffer->type == GT_PTX_F32 ? 24 : 53;
	struct gt_ptx_value value = {.real = true};

	value.number = (double)(z >> (64 - p)) / (double)(UINT64_C(1) << p);
	if (buffer->below)
		value.number *= buffer->values[1].number;
	return gt_ptx_value_bits(&value, buffer->type, bits, error);
}

static int fill_random(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	unsigned size = gt_ptx_type_size(buffer->type);
	uint64_t seed = two_s_complement(&buffer->values[0]), below = buffer->values[1].magnitude, bits;

	if (buffer->values[0].real)
		return gt_fail(error, "the seed of rand is a whole number");
	if (buffer->below && !is_floating(buffer->type) &&
	    (buffer->values[1].real || buffer->values[1].negative || below == 0 || below - 1 > UINT64_MAX >> (64 - 8 * size)))
		return gt_fail(error, "rand(seed, below) of .%s: 'below' does not fit", gt_ptx_type_name(buffer->type));
	for (uint64_t i = 0; i < buffer->elements; i++) {
		uint64_t z = splitmix(seed, i);
		if (!is_floating(buffer->type))
			bits = buffer->below ? multiply_high(z, below) : z >> (64 - 8 * size);
		else if (random_float(buffer, z, &bits, error) != 0)
			return -1;
		put(to + i * size, bits, size);
	}
	return 0;
}

int gt_ptx_file_bytes(const char *path, uint64_t *bytes, struct gt_error *error)
{
	FILE *file = fopen(path, "rb");
	char buffer[65536];
	size_t n;

	if (!file)
		return gt_fail_errno(error, "%s", path);
	*bytes = 0;
	if (fseeko(file, 0, SEEK_END) == 0 && ftello(file) >= 0) {
		*bytes = (uint64_t)ftello(file);
	} else {
		while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
			*bytes += n;
	}
	if (ferror(file)) {
		gt_fail_errno(error, "%s", path);
		fclose(file);
		return -1;
	}
	fclose(file);
	return 0;
}

static int fill_file(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	uint64_t bytes = buffer->elements * gt_ptx_type_size(buffer->type);
	FILE *file = fopen(buffer->file, "rb");
	int result = 0;

	if (!file)
		return gt_fail_errno(error, "%s", buffer->file);
	size_t n = fread(to, 1, bytes, file);
	if (ferror(file))
		result = gt_fail_errno(error, "%s", buffer->file);
	else if (n != bytes || getc(file) != EOF)
		result = gt_fail(error, "%s: expected %" PRIu64 " bytes, found %s", buffer->file, bytes,
				 n < bytes ? "fewer" : "more");
	fclose(file);
	return result;
}

int gt_ptx_buffer_fill(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	static int (*const fills[])(const struct gt_ptx_buffer *, unsigned char *, struct gt_error *) = {
		[GT_PTX_ZERO] = fill_zero, [GT_PTX_RAMP] = fill_ramp, [GT_PTX_RAND] = fill_random,
		[GT_PTX_CONSTANT] = fill_constant, [GT_PTX_FILE] = fill_file,
	};

	return fills[buffer->fill](buffer, to, error);
}
