/* SPDX-License-Identifier: MIT */
/* Numbers in a launch: expressions, and their bits in a type. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "cuda/ptx/launch/launch.h"

#define DEPTH 64 /* nesting limit of parentheses and signs */

struct reading {
	const struct gt_ptx_launch_line *call;
	const char **at;
	struct gt_error *error;
	unsigned depth;
};

static int read_sum(struct reading *reading, struct gt_ptx_value *value);

static struct gt_ptx_value whole(bool negative, uint64_t magnitude)
{
	double number = negative ? -(double)magnitude : (double)magnitude;

	return (struct gt_ptx_value){false, negative && magnitude > 0, magnitude, number};
}

static struct gt_ptx_value real(double number)
{
	return (struct gt_ptx_value){.real = true, .number = number};
}

static int too_large(struct reading *reading)
{
	return gt_fail(reading->error, "a number of more than 64 bits");
}

/* Digits with a point, an exponent or a suffix f are a real number. */
static int read_number(struct reading *reading, struct gt_ptx_value *value)
{
	const char *start = *reading->at;
	uint64_t magnitude;
	char *end;

	if (start[0] == '0' && (start[1] | 0x20) == 'x') {
		unsigned long long bits = strtoull(start, &end, 16);
		if (end - start > 18 || end - start < 3)
			return too_large(reading);
		*reading->at = end;
		*value = whole(false, bits);
		return 0;
	}
	double number = strtod(start, &end);
	size_t digits = strspn(start, "0123456789");
	if (end != start + digits || *end == 'f') {
		if (end == start)
			return gt_fail(reading->error, "expected a number");
		if (!isfinite(number))
			return too_large(reading);
		*reading->at = end + (*end == 'f');
		*value = real(number);
		return 0;
	}
	if (digits == 0)
		return gt_fail(reading->error, "expected a number");
	if (!gt_scan_decimal(reading->at, &magnitude))
		return too_large(reading);
	*value = whole(false, magnitude);
	return 0;
}

/* A number given by name earlier in the line. */
static int read_name(struct reading *reading, struct gt_ptx_value *value)
{
	const char *start = *reading->at, *end = start;

	while (*end == '_' || (*end >= '0' && *end <= '9') || ((*end | 0x20) >= 'a' && (*end | 0x20) <= 'z'))
		end++;
	size_t length = (size_t)(end - start);
	for (size_t i = 0; i < reading->call->n; i++) {
		const struct gt_ptx_argument *argument = &reading->call->arguments[i];
		if (argument->kind == GT_PTX_ARGUMENT_NUMBER && strlen(argument->name) == length &&
		    memcmp(argument->name, start, length) == 0) {
			*value = argument->value;
			*reading->at = end;
			return 0;
		}
	}
	return gt_fail(reading->error, "expected a number, or the name of one given before");
}

/* -x, +x, (x), a number or a name */
static int read_factor(struct reading *reading, struct gt_ptx_value *value)
{
	const char **at = reading->at;
	int result;

	if (++reading->depth > DEPTH)
		return gt_fail(reading->error, "an expression nested deeper than %d", DEPTH);
	gt_scan_blanks(at);
	if (gt_scan_char(at, '-')) {
		result = read_factor(reading, value);
		if (result == 0)
			*value = value->real ? real(-value->number) : whole(!value->negative, value->magnitude);
	} else if (gt_scan_char(at, '+')) {
		result = read_factor(reading, value);
	} else if (gt_scan_char(at, '(')) {
		result = read_sum(reading, value);
		if (result == 0 && !gt_scan_char(at, ')'))
			result = gt_fail(reading->error, "expected ')'");
	} else if (**at == '_' || ((**at | 0x20) >= 'a' && (**at | 0x20) <= 'z')) {
		result = read_name(reading, value);
	} else {
		result = read_number(reading, value);
	}
	reading->depth--;
	gt_scan_blanks(at);
	return result;
}

/* a * b or a / b; the quotient of integers is truncated towards 0. */
static int multiply(struct reading *reading, char sign, struct gt_ptx_value *a, const struct gt_ptx_value *b)
{
	bool negative = a->negative != b->negative;

	if (sign == '/' && b->number == 0)
		return gt_fail(reading->error, "division by 0");
	if (a->real || b->real) {
		*a = real(sign == '*' ? a->number * b->number : a->number / b->number);
		return 0;
	}
	if (sign == '/') {
		*a = whole(negative, a->magnitude / b->magnitude);
		return 0;
	}
	if (b->magnitude != 0 && a->magnitude > UINT64_MAX / b->magnitude)
		return too_large(reading);
	*a = whole(negative, a->magnitude * b->magnitude);
	return 0;
}

static int add(struct reading *reading, struct gt_ptx_value *a, const struct gt_ptx_value *b)
{
	if (a->real || b->real) {
		*a = real(a->number + b->number);
	} else if (a->negative == b->negative) {
		if (a->magnitude > UINT64_MAX - b->magnitude)
			return too_large(reading);
		*a = whole(a->negative, a->magnitude + b->magnitude);
	} else if (a->magnitude >= b->magnitude) {
		*a = whole(a->negative, a->magnitude - b->magnitude);
	} else {
		*a = whole(b->negative, b->magnitude - a->magnitude);
	}
	return 0;
}

static int read_product(struct reading *reading, struct gt_ptx_value *value)
{
	struct gt_ptx_value right;

	if (read_factor(reading, value) != 0)
		return -1;
	while (**reading->at == '*' || **reading->at == '/') {
		char sign = *(*reading->at)++;
		if (read_factor(reading, &right) != 0 || multiply(reading, sign, value, &right) != 0)
			return -1;
	}
	return 0;
}

static int read_sum(struct reading *reading, struct gt_ptx_value *value)
{
	struct gt_ptx_value right;

	if (read_product(reading, value) != 0)
		return -1;
	while (**reading->at == '+' || **reading->at == '-') {
		char sign = *(*reading->at)++;
		if (read_product(reading, &right) != 0)
			return -1;
		if (sign == '-')
			right = right.real ? real(-right.number) : whole(!right.negative, right.magnitude);
		if (add(reading, value, &right) != 0)
			return -1;
	}
	return 0;
}

int gt_ptx_value_read(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value,
		      struct gt_error *error)
{
	*value = whole(false, 0);
	return read_sum(&(struct reading){call, at, error, 0}, value);
}

/* ---- bits ---- */

static uint64_t bits_of_double(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof bits);
	return bits;
}

static uint64_t bits_of_single(double number)
{
	float single = (float)number;
	uint32_t bits;

	memcpy(&bits, &single, sizeof bits);
	return bits;
}

/* IEEE binary16, to the nearest, ties to even. */
static uint64_t bits_of_half(double number)
{
	uint64_t sign = signbit(number) ? 0x8000 : 0;
	double size = fabs(number);
	int exponent;

	if (size >= 65520)
		return sign | 0x7c00;
	if (size < 0x1p-14)
		return sign | (uint64_t)nearbyint(size * 0x1p24);
	double fraction = frexp(size, &exponent);
	/* 11 bits of significand; if rounding makes 2^11 of it, the sum carries into the exponent. */
	uint64_t significand = (uint64_t)nearbyint(fraction * 0x1p11);
	return sign | (((uint64_t)(exponent + 14) << 10) + significand - 0x400);
}

int gt_ptx_value_bits(const struct gt_ptx_value *value, enum gt_ptx_type type, uint64_t *bits, struct gt_error *error)
{
	unsigned width = gt_ptx_type_size(type) * 8;
	bool floating = type == GT_PTX_F16 || type == GT_PTX_F32 || type == GT_PTX_F64;
	bool untyped = type >= GT_PTX_B8 && type <= GT_PTX_B64;

	if (floating || (untyped && value->real && width >= 16)) {
		*bits = width == 64 ? bits_of_double(value->number) :
			width == 32 ? bits_of_single(value->number) : bits_of_half(value->number);
		return 0;
	}
	if (value->real)
		return gt_fail(error, "%.17g is not a whole number, which .%s needs", value->number, gt_ptx_type_name(type));
	if (width < 8 || width > 64 || type == GT_PTX_TEXREF)
		return gt_fail(error, "a number for a parameter of type .%s", gt_ptx_type_name(type));
	uint64_t limit = value->negative ? UINT64_C(1) << (width - 1) : UINT64_MAX >> (64 - width);
	if (value->magnitude > limit)
		return gt_fail(error, "%s%" PRIu64 " does not fit into the %u bits of .%s", value->negative ? "-" : "",
			       value->magnitude, width, gt_ptx_type_name(type));
	*bits = (value->negative ? 0 - value->magnitude : value->magnitude) & (UINT64_MAX >> (64 - width));
	return 0;
}
