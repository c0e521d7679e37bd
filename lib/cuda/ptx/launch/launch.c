/* SPDX-License-Identifier: MIT */
/* Reads a launch as users write it: kernel, shape, arguments, and the numbers and expressions in them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/launch/launch.h"

/* ---- numbers: expressions, and their bits in a type ---- */

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

/* ---- the parts of a line ---- */

/* The parts of a line that stands for a launch. Each function reads what is expected at *at and moves past it. Returns 0, or -1 with an
 * error that shows the place. */

/* "at 'TEXT': MESSAGE"; returns -1. */
static int launch_fail_at(const char *at, struct gt_error *error, const char *message)
{
	char text[sizeof error->text];

	snprintf(text, sizeof text, "%s", message);
	if (*at == '\0')
		return gt_fail(error, "at the end: %s", text);
	return gt_fail(error, "at '%.30s%s': %s", at, strlen(at) > 30 ? "..." : "", text);
}

/* The sign, with blanks around it. */
static int launch_want(const char **at, const char *sign, struct gt_error *error)
{
	char text[48];

	gt_scan_blanks(at);
	if (gt_scan_text(at, sign)) {
		gt_scan_blanks(at);
		return 0;
	}
	snprintf(text, sizeof text, "expected '%s'", sign);
	return launch_fail_at(*at, error, text);
}

/* A number or an expression; a whole number from min to max. */
static int launch_value(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value, struct gt_error *error)
{
	return gt_ptx_value_read(call, at, value, error) == 0 ? 0 : launch_fail_at(*at, error, error->text);
}

static int launch_count(const struct gt_ptx_launch_line *call, const char **at, uint64_t min, uint64_t max, uint64_t *count,
		      struct gt_error *error)
{
	struct gt_ptx_value value;
	const char *start = *at;
	char text[96];

	if (launch_value(call, at, &value, error) != 0)
		return -1;
	if (!value.real && !value.negative && value.magnitude >= min && value.magnitude <= max) {
		*count = value.magnitude;
		return 0;
	}
	snprintf(text, sizeof text, "expected a whole number from %" PRIu64 " to %" PRIu64, min, max);
	return launch_fail_at(start, error, text);
}

/* (a[, b]), with at least `least` of them. Returns their number. */
static int read_values(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value values[2], int least,
		       struct gt_error *error)
{
	int n = 0;

	if (least == 0 && **at != '(')
		return 0;
	if (launch_want(at, "(", error) != 0)
		return -1;
	do {
		if (launch_value(call, at, &values[n++], error) != 0)
			return -1;
	} while (n < 2 && gt_scan_char(at, ','));
	return launch_want(at, ")", error) == 0 ? n : -1;
}

/* Up to the end of an argument: a comma, or the last parenthesis. */
static int read_file(const char **at, char **file, struct gt_error *error)
{
	size_t length = strcspn(*at, ",)");

	while (length > 0 && ((*at)[length - 1] == ' ' || (*at)[length - 1] == '\t'))
		length--;
	if (length == 0)
		return launch_fail_at(*at, error, "expected a file");
	*file = strndup(*at, length);
	if (!*file)
		return gt_fail_memory(error, "a launch");
	*at += length;
	return 0;
}

/* :zero, :ramp[(start[, step])], :rand(seed[, below]), :const(x), :@file */
static int read_fill(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_buffer *buffer, struct gt_error *error)
{
	static const struct {
		const char *name;
		enum gt_ptx_fill fill;
		int least, most;
	} fills[] = {{"zero", GT_PTX_ZERO, 0, 0}, {"ramp", GT_PTX_RAMP, 0, 2}, {"rand", GT_PTX_RAND, 1, 2},
		     {"const", GT_PTX_CONSTANT, 1, 1}};
	const struct gt_ptx_value one = {false, false, 1, 1};

	gt_scan_blanks(at);
	const char *start = *at;
	if (gt_scan_char(at, '@')) {
		buffer->fill = GT_PTX_FILE;
		return read_file(at, &buffer->file, error);
	}
	buffer->values[1] = one;
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
		if (!gt_scan_text(at, fills[i].name))
			continue;
		buffer->fill = fills[i].fill;
		int n = fills[i].most > 0 ? read_values(call, at, buffer->values, fills[i].least, error) : 0;
		if (n > fills[i].most)
			return launch_fail_at(start, error, "more values than it takes");
		buffer->below = fills[i].fill == GT_PTX_RAND && n == 2;
		return n < 0 ? -1 : 0;
	}
	return launch_fail_at(start, error, "expected zero, ramp, ramp(start, step), rand(seed), rand(seed, below), const(x) or @file");
}

/* The type at *at if [ follows it; moves past both. */
static enum gt_ptx_type read_type(const char **at)
{
	size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
	enum gt_ptx_type type = (*at)[length] == '[' ? gt_ptx_type_named(*at, length) : GT_PTX_NO_TYPE;

	if (!(type >= GT_PTX_U8 && type <= GT_PTX_S64) && type != GT_PTX_F16 && type != GT_PTX_F32 && type != GT_PTX_F64)
		return GT_PTX_NO_TYPE;
	*at += length + 1;
	return type;
}

/* TYPE[COUNT][:FILL], after the bracket */
static int read_buffer(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_buffer *buffer, struct gt_error *error)
{
	const char *start = *at;

	gt_scan_blanks(at);
	if (**at != ']' &&
	    launch_count(call, at, 1, GT_PTX_WINDOW / gt_ptx_type_size(buffer->type), &buffer->elements, error) != 0)
		return -1;
	if (launch_want(at, "]", error) != 0 || (gt_scan_char(at, ':') && read_fill(call, at, buffer, error) != 0))
		return -1;
	if (buffer->elements == 0 && buffer->fill != GT_PTX_FILE)
		return launch_fail_at(start, error, "expected a number of elements: only a file tells it by itself");
	return 0;
}

/* hex(00ff...) */
static int read_bytes(const char **at, struct gt_ptx_argument *argument, struct gt_error *error)
{
	size_t digits = strspn(*at, "0123456789abcdefABCDEF");

	if (digits == 0 || digits % 2 != 0)
		return launch_fail_at(*at, error, "expected an even number of hexadecimal digits");
	argument->kind = GT_PTX_ARGUMENT_BYTES;
	argument->bytes = malloc(digits / 2);
	if (!argument->bytes)
		return gt_fail_memory(error, "a launch");
	argument->n_bytes = digits / 2;
	for (size_t i = 0; i < argument->n_bytes; i++, *at += 2)
		argument->bytes[i] = (unsigned char)((gt_hex_digit[(unsigned char)(*at)[0]] - 1) << 4 |
						     (gt_hex_digit[(unsigned char)(*at)[1]] - 1));
	return launch_want(at, ")", error);
}

/* A word behind the extents of a texture. False if there is none such. */
static bool take_word(const char **at, struct gt_ptx_texture *texture)
{
	static const char *const modes[] = {[GT_PTX_WRAP] = "wrap", [GT_PTX_CLAMP] = "clamp", [GT_PTX_MIRROR] = "mirror", [GT_PTX_BORDER] = "border"};
	const struct {
		const char *word;
		bool *set;
	} words[] = {{"linear", &texture->linear}, {"normalized", &texture->normalized}, {"scaled", &texture->scaled}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (gt_scan_text(at, words[i].word))
			return *words[i].set = true;
	for (uint8_t mode = GT_PTX_WRAP; mode <= GT_PTX_BORDER; mode++)
		if (gt_scan_text(at, modes[mode])) {
			memset(texture->modes, mode, sizeof texture->modes);
			return true;
		}
	return false;
}

/* tex(TYPE[COUNT][:FILL], WIDTH[, HEIGHT[, DEPTH]][, WORD ...]), or surf(...) without words, behind the parenthesis */
static int read_image(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_argument *argument, struct gt_error *error)
{
	struct gt_ptx_image *image = &argument->image.image;
	uint32_t *const extents[] = {&image->width, &image->height, &image->depth};
	uint64_t extent;

	argument->kind = GT_PTX_ARGUMENT_IMAGE;
	*image = (struct gt_ptx_image){.width = 1, .height = 1, .depth = 1};
	memset(argument->image.modes, GT_PTX_CLAMP, sizeof argument->image.modes);
	gt_scan_blanks(at);
	const char *start = *at;
	argument->buffer.type = read_type(at);
	if (argument->buffer.type == GT_PTX_NO_TYPE || gt_ptx_type_size(argument->buffer.type) > 4)
		return launch_fail_at(start, error, "expected texels: u8, s8, u16, s16, u32, s32, f16 or f32, with their number in brackets");
	if (read_buffer(call, at, &argument->buffer, error) != 0)
		return -1;
	for (gt_scan_blanks(at); gt_scan_char(at, ','); gt_scan_blanks(at)) {
		gt_scan_blanks(at);
		if (image->dimensions > 0 && !argument->image.surface && take_word(at, &argument->image))
			continue;
		if (image->dimensions == 3)
			return launch_fail_at(*at, error, "expected linear, normalized, scaled, wrap, clamp, mirror or border, of a texture");
		if (launch_count(call, at, 1, GT_PTX_EXTENT_MAX, &extent, error) != 0)
			return -1;
		*extents[image->dimensions++] = (uint32_t)extent;
	}
	if (image->dimensions == 0)
		return launch_fail_at(*at, error, "expected ', WIDTH'");
	if (gt_ptx_mode_of(&argument->image, 0) != argument->image.modes[0])
		return launch_fail_at(start, error, "wrap and mirror are for normalized coordinates");
	return launch_want(at, ")", error);
}

static bool is_number(const struct gt_ptx_launch_line *call, const char *name, size_t length)
{
	for (size_t i = 0; i < call->n; i++)
		if (call->arguments[i].kind == GT_PTX_ARGUMENT_NUMBER && strlen(call->arguments[i].name) == length &&
		    memcmp(call->arguments[i].name, name, length) == 0)
			return true;
	return false;
}

static size_t identifier(const char *at)
{
	if (*at >= '0' && *at <= '9')
		return 0;
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* [NAME=] buffer, name of a buffer, number, null, bytes, texture or surface */
static int launch_argument(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_argument *argument,
			 struct gt_error *error)
{
	size_t length = identifier(*at);

	if (length > 0 && (*at)[length + strspn(*at + length, " \t")] == '=') {
		if (length >= sizeof argument->name)
			return launch_fail_at(*at, error, "a name of more than 63 characters");
		memcpy(argument->name, *at, length);
		*at += length;
		if (launch_want(at, "=", error) != 0)
			return -1;
		length = identifier(*at);
	}
	argument->buffer.type = read_type(at);
	if (argument->buffer.type != GT_PTX_NO_TYPE) {
		argument->kind = GT_PTX_ARGUMENT_BUFFER;
		memcpy(argument->buffer.name, argument->name, sizeof argument->name);
		return read_buffer(call, at, &argument->buffer, error);
	}
	if (gt_scan_text(at, "hex("))
		return read_bytes(at, argument, error);
	argument->image.surface = strncmp(*at, "surf(", 5) == 0;
	if (!argument->name[0] && (gt_scan_text(at, "tex(") || gt_scan_text(at, "surf(")))
		return read_image(call, at, argument, error);
	if ((*at)[length] == '[')
		return launch_fail_at(*at, error, "expected a type: u8, s8, u16, s16, u32, s32, u64, s64, f16, f32 or f64");
	if (length == 4 && gt_scan_text(at, "null"))
		return 0;
	if (length == 0 || is_number(call, *at, length))
		return launch_value(call, at, &argument->value, error);
	if (length >= sizeof argument->name || argument->name[0])
		return launch_fail_at(*at, error, "expected a buffer such as f32[100], or a number");
	argument->kind = GT_PTX_ARGUMENT_NAMED;
	memcpy(argument->name, *at, length);
	*at += length;
	return 0;
}

/* ---- the grid, the block and the cluster, and their limits ---- */

/* True for (x, ...); a parenthesis may also begin an expression, as in (4+4)*2. */
static bool is_list(const char *at)
{
	size_t depth = 1;

	if (*at++ != '(')
		return false;
	for (; *at && depth > 0; at++) {
		if (*at == ',' && depth == 1)
			return true;
		depth += *at == '(';
		depth -= *at == ')';
	}
	return false;
}

static const uint32_t grid_limits[3] = {INT32_MAX, 65535, 65535}, block_limits[3] = {1024, 1024, 64},
		      cluster_limits[3] = {GT_PTX_CLUSTER_BLOCKS, GT_PTX_CLUSTER_BLOCKS, GT_PTX_CLUSTER_BLOCKS};

/* N or (x[,y[,z]]) */
static int read_extent(const struct gt_ptx_launch_line *call, const char **at, const uint32_t limits[3], uint32_t extent[3],
		       struct gt_error *error)
{
	uint64_t count = 0;
	int n = 0;

	extent[0] = extent[1] = extent[2] = 1;
	bool list = is_list(*at);
	if (list)
		(*at)++;
	do {
		if (launch_count(call, at, 1, limits[n], &count, error) != 0)
			return -1;
		extent[n++] = (uint32_t)count;
	} while (list && n < 3 && gt_scan_char(at, ','));
	return list ? launch_want(at, ")", error) : 0;
}

/* <<<grid, block[, bytes of dynamic shared memory[, cluster]]>>> */
static int launch_shape(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	const char *block;
	uint64_t shared = 0;

	if (launch_want(at, "<<<", error) != 0 || read_extent(call, at, grid_limits, call->grid, error) != 0 ||
	    launch_want(at, ",", error) != 0)
		return -1;
	block = *at;
	if (read_extent(call, at, block_limits, call->block, error) != 0)
		return -1;
	gt_scan_blanks(at);
	if (**at == ',') {
		(*at)++;
		if (launch_count(call, at, 0, GT_PTX_LAUNCH_SHARED, &shared, error) != 0)
			return -1;
		if (gt_scan_char(at, ',') && read_extent(call, at, cluster_limits, call->cluster, error) != 0)
			return -1;
	}
	call->dynamic_shared = (uint32_t)shared;
	if ((uint64_t)call->block[0] * call->block[1] * call->block[2] > GT_BLOCK_THREADS_MAX)
		return launch_fail_at(block, error, "more than 1024 threads a block");
	if ((uint64_t)call->grid[0] * call->grid[1] > UINT32_MAX / call->grid[2])
		return launch_fail_at(block, error, "more than 2^32 blocks");
	return launch_want(at, ">>>", error);
}

int gt_ptx_shape_read(const char *text, bool block, uint32_t *shape, struct gt_error *error)
{
	const struct gt_ptx_launch_line none = {0};
	char list[64];
	const char *at = list;

	if (text[strspn(text, "0123456789,")] || snprintf(list, sizeof list, "(%s)", text) >= (int)sizeof list)
		return gt_fail(error, "'%s': expected X, X,Y or X,Y,Z", text);
	if (read_extent(&none, &at, block ? block_limits : grid_limits, shape, error) != 0)
		return -1;
	if (*at)
		return gt_fail(error, "'%s': expected X, X,Y or X,Y,Z", text);
	if (block && (uint64_t)shape[0] * shape[1] * shape[2] > GT_BLOCK_THREADS_MAX)
		return gt_fail(error, "'%s': more than 1024 threads a block", text);
	return 0;
}

/* ---- the line ---- */

#define ARGUMENTS_MAX 4096

static int read_arguments(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	if (launch_want(at, "(", error) != 0)
		return -1;
	if (**at != ')') {
		do {
			gt_scan_blanks(at);
			struct gt_ptx_argument *all = call->n < ARGUMENTS_MAX ?
				gt_resized(call->arguments, call->n + 1, sizeof *all) : NULL;
			if (!all)
				return launch_fail_at(*at, error, "more arguments than memory has room for");
			call->arguments = all;
			struct gt_ptx_argument *argument = &all[call->n];
			*argument = (struct gt_ptx_argument){.place = (size_t)(*at - call->line)};
			int result = launch_argument(call, at, argument, error);
			call->n++; /* also on failure, so that its parts are freed with the others */
			if (result != 0)
				return -1;
			gt_scan_blanks(at);
		} while (gt_scan_char(at, ','));
	}
	if (launch_want(at, ")", error) != 0)
		return -1;
	gt_scan_char(at, ';');
	return gt_scan_end(at) ? 0 : launch_fail_at(*at, error, "expected the end of the launch");
}

int gt_ptx_launch_line_read(struct gt_ptx_launch_line *call, const char *line, struct gt_error *error)
{
	const char *shape = strstr(line, "<<<"), *at;
	const char *name = line + strspn(line, " \t");

	*call = (struct gt_ptx_launch_line){0};
	if (!shape || shape == name)
		return gt_fail(error, "expected KERNEL<<<GRID, BLOCK>>>(ARGUMENTS), found '%.60s'", line);
	size_t length = (size_t)(shape - name);
	while (length > 0 && (name[length - 1] == ' ' || name[length - 1] == '\t'))
		length--;
	call->line = strdup(line);
	call->kernel = strndup(name, length);
	if (!call->line || !call->kernel)
		return gt_fail_memory(error, "a launch");
	at = call->line + (shape - line);
	return launch_shape(call, &at, error) != 0 ? -1 : read_arguments(call, &at, error);
}

void gt_ptx_launch_line_free(struct gt_ptx_launch_line *call)
{
	for (size_t i = 0; i < call->n; i++) {
		free(call->arguments[i].buffer.file);
		free(call->arguments[i].bytes);
	}
	free(call->arguments);
	free(call->line);
	free(call->kernel);
	*call = (struct gt_ptx_launch_line){0};
}
