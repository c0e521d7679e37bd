/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "cuda/ptx/launch/scan.h"

/* (a[, b]), with at least `least` of them. Returns their number. */
static int read_values(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value values[2], int least,
		       struct gt_error *error)
{
	int n = 0;

	if (least == 0 && **at != '(')
		return 0;
	if (gt_ptx_launch_want(at, "(", error) != 0)
		return -1;
	do {
		if (gt_ptx_launch_value(call, at, &values[n++], error) != 0)
			return -1;
	} while (n < 2 && gt_scan_char(at, ','));
	return gt_ptx_launch_want(at, ")", error) == 0 ? n : -1;
}

/* Up to the end of an argument: a comma, or the last parenthesis. */
static int read_file(const char **at, char **file, struct gt_error *error)
{
	size_t length = strcspn(*at, ",)");

	while (length > 0 && ((*at)[length - 1] == ' ' || (*at)[length - 1] == '\t'))
		length--;
	if (length == 0)
		return gt_ptx_launch_fail_at(*at, error, "expected a file");
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
			return gt_ptx_launch_fail_at(start, error, "more values than it takes");
		buffer->below = fills[i].fill == GT_PTX_RAND && n == 2;
		return n < 0 ? -1 : 0;
	}
	return gt_ptx_launch_fail_at(start, error, "expected zero, ramp, ramp(start, step), rand(seed), rand(seed, below), const(x) or @file");
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
	    gt_ptx_launch_count(call, at, 1, GT_PTX_WINDOW / gt_ptx_type_size(buffer->type), &buffer->elements, error) != 0)
		return -1;
	if (gt_ptx_launch_want(at, "]", error) != 0 || (gt_scan_char(at, ':') && read_fill(call, at, buffer, error) != 0))
		return -1;
	if (buffer->elements == 0 && buffer->fill != GT_PTX_FILE)
		return gt_ptx_launch_fail_at(start, error, "expected a number of elements: only a file tells it by itself");
	return 0;
}

/* hex(00ff...) */
static int read_bytes(const char **at, struct gt_ptx_argument *argument, struct gt_error *error)
{
	size_t digits = strspn(*at, "0123456789abcdefABCDEF");

	if (digits == 0 || digits % 2 != 0)
		return gt_ptx_launch_fail_at(*at, error, "expected an even number of hexadecimal digits");
	argument->kind = GT_PTX_ARGUMENT_BYTES;
	argument->bytes = malloc(digits / 2);
	if (!argument->bytes)
		return gt_fail_memory(error, "a launch");
	argument->n_bytes = digits / 2;
	for (size_t i = 0; i < argument->n_bytes; i++, *at += 2)
		argument->bytes[i] = (unsigned char)((gt_hex_digit[(unsigned char)(*at)[0]] - 1) << 4 |
						     (gt_hex_digit[(unsigned char)(*at)[1]] - 1));
	return gt_ptx_launch_want(at, ")", error);
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

int gt_ptx_launch_argument(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_argument *argument,
			 struct gt_error *error)
{
	size_t length = identifier(*at);

	if (length > 0 && (*at)[length + strspn(*at + length, " \t")] == '=') {
		if (length >= sizeof argument->name)
			return gt_ptx_launch_fail_at(*at, error, "a name of more than 63 characters");
		memcpy(argument->name, *at, length);
		*at += length;
		if (gt_ptx_launch_want(at, "=", error) != 0)
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
	if ((*at)[length] == '[')
		return gt_ptx_launch_fail_at(*at, error, "expected a type: u8, s8, u16, s16, u32, s32, u64, s64, f16, f32 or f64");
	if (length == 4 && gt_scan_text(at, "null"))
		return 0;
	if (length == 0 || is_number(call, *at, length))
		return gt_ptx_launch_value(call, at, &argument->value, error);
	if (length >= sizeof argument->name || argument->name[0])
		return gt_ptx_launch_fail_at(*at, error, "expected a buffer such as f32[100], or a number");
	argument->kind = GT_PTX_ARGUMENT_NAMED;
	memcpy(argument->name, *at, length);
	*at += length;
	return 0;
}
