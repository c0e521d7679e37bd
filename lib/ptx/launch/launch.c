/* SPDX-License-Identifier: MIT */
#include "ptx/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "ptx/exec/cluster.h"
#include "stream/kernel.h"

#define ARGUMENTS_MAX 4096

/* "at 'TEXT': MESSAGE"; returns -1. */
static int fail_at(const char *at, struct gt_error *error, const char *message)
{
	char text[sizeof error->text];

	snprintf(text, sizeof text, "%s", message);
	if (*at == '\0')
		return gt_fail(error, "at the end: %s", text);
	return gt_fail(error, "at '%.30s%s': %s", at, strlen(at) > 30 ? "..." : "", text);
}

static int want(const char **at, const char *sign, struct gt_error *error)
{
	char text[48];

	gt_scan_blanks(at);
	if (gt_scan_text(at, sign)) {
		gt_scan_blanks(at);
		return 0;
	}
	snprintf(text, sizeof text, "expected '%s'", sign);
	return fail_at(*at, error, text);
}

static int read_value(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value, struct gt_error *error)
{
	return gt_ptx_value_read(call, at, value, error) == 0 ? 0 : fail_at(*at, error, error->text);
}

static int read_count(const struct gt_ptx_launch_line *call, const char **at, uint64_t min, uint64_t max, uint64_t *count,
		      struct gt_error *error)
{
	struct gt_ptx_value value;
	const char *start = *at;
	char text[96];

	if (read_value(call, at, &value, error) != 0)
		return -1;
	if (!value.real && !value.negative && value.magnitude >= min && value.magnitude <= max) {
		*count = value.magnitude;
		return 0;
	}
	snprintf(text, sizeof text, "expected a whole number from %" PRIu64 " to %" PRIu64, min, max);
	return fail_at(start, error, text);
}

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
		if (read_count(call, at, 1, limits[n], &count, error) != 0)
			return -1;
		extent[n++] = (uint32_t)count;
	} while (list && n < 3 && gt_scan_char(at, ','));
	return list ? want(at, ")", error) : 0;
}

/* <<<grid, block[, bytes of dynamic shared memory[, cluster]]>>> */
static int read_shape(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	const char *block;
	uint64_t shared = 0;

	if (want(at, "<<<", error) != 0 || read_extent(call, at, grid_limits, call->grid, error) != 0 ||
	    want(at, ",", error) != 0)
		return -1;
	block = *at;
	if (read_extent(call, at, block_limits, call->block, error) != 0)
		return -1;
	gt_scan_blanks(at);
	if (**at == ',') {
		(*at)++;
		if (read_count(call, at, 0, GT_PTX_LAUNCH_SHARED, &shared, error) != 0)
			return -1;
		if (gt_scan_char(at, ',') && read_extent(call, at, cluster_limits, call->cluster, error) != 0)
			return -1;
	}
	call->dynamic_shared = (uint32_t)shared;
	if ((uint64_t)call->block[0] * call->block[1] * call->block[2] > GT_BLOCK_THREADS_MAX)
		return fail_at(block, error, "more than 1024 threads a block");
	if ((uint64_t)call->grid[0] * call->grid[1] > UINT32_MAX / call->grid[2])
		return fail_at(block, error, "more than 2^32 blocks");
	return want(at, ">>>", error);
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

/* ---- arguments ---- */

/* (a[, b]), with at least `least` of them. Returns their number. */
static int read_values(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value values[2], int least,
		       struct gt_error *error)
{
	int n = 0;

	if (least == 0 && **at != '(')
		return 0;
	if (want(at, "(", error) != 0)
		return -1;
	do {
		if (read_value(call, at, &values[n++], error) != 0)
			return -1;
	} while (n < 2 && gt_scan_char(at, ','));
	return want(at, ")", error) == 0 ? n : -1;
}

/* Up to the end of an argument: a comma, or the last parenthesis. */
static int read_file(const char **at, char **file, struct gt_error *error)
{
	size_t length = strcspn(*at, ",)");

	while (length > 0 && ((*at)[length - 1] == ' ' || (*at)[length - 1] == '\t'))
		length--;
	if (length == 0)
		return fail_at(*at, error, "expected a file");
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
			return fail_at(start, error, "more values than it takes");
		buffer->below = fills[i].fill == GT_PTX_RAND && n == 2;
		return n < 0 ? -1 : 0;
	}
	return fail_at(start, error, "expected zero, ramp, ramp(start, step), rand(seed), rand(seed, below), const(x) or @file");
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
	    read_count(call, at, 1, GT_PTX_WINDOW / gt_ptx_type_size(buffer->type), &buffer->elements, error) != 0)
		return -1;
	if (want(at, "]", error) != 0 || (gt_scan_char(at, ':') && read_fill(call, at, buffer, error) != 0))
		return -1;
	if (buffer->elements == 0 && buffer->fill != GT_PTX_FILE)
		return fail_at(start, error, "expected a number of elements: only a file tells it by itself");
	return 0;
}

/* hex(00ff...) */
static int read_bytes(const char **at, struct gt_ptx_argument *argument, struct gt_error *error)
{
	size_t digits = strspn(*at, "0123456789abcdefABCDEF");

	if (digits == 0 || digits % 2 != 0)
		return fail_at(*at, error, "expected an even number of hexadecimal digits");
	argument->kind = GT_PTX_ARGUMENT_BYTES;
	argument->bytes = malloc(digits / 2);
	if (!argument->bytes)
		return gt_fail_memory(error, "a launch");
	argument->n_bytes = digits / 2;
	for (size_t i = 0; i < argument->n_bytes; i++, *at += 2)
		argument->bytes[i] = (unsigned char)((gt_hex_digit[(unsigned char)(*at)[0]] - 1) << 4 |
						     (gt_hex_digit[(unsigned char)(*at)[1]] - 1));
	return want(at, ")", error);
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

/* [NAME=] buffer, name of a buffer, number, null or bytes */
static int read_argument(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_argument *argument,
			 struct gt_error *error)
{
	size_t length = identifier(*at);

	if (length > 0 && (*at)[length + strspn(*at + length, " \t")] == '=') {
		if (length >= sizeof argument->name)
			return fail_at(*at, error, "a name of more than 63 characters");
		memcpy(argument->name, *at, length);
		*at += length;
		if (want(at, "=", error) != 0)
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
		return fail_at(*at, error, "expected a type: u8, s8, u16, s16, u32, s32, u64, s64, f16, f32 or f64");
	if (length == 4 && gt_scan_text(at, "null"))
		return 0;
	if (length == 0 || is_number(call, *at, length))
		return read_value(call, at, &argument->value, error);
	if (length >= sizeof argument->name || argument->name[0])
		return fail_at(*at, error, "expected a buffer such as f32[100], or a number");
	argument->kind = GT_PTX_ARGUMENT_NAMED;
	memcpy(argument->name, *at, length);
	*at += length;
	return 0;
}

static int read_arguments(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	if (want(at, "(", error) != 0)
		return -1;
	if (**at != ')') {
		do {
			gt_scan_blanks(at);
			struct gt_ptx_argument *all = call->n < ARGUMENTS_MAX ?
				gt_resized(call->arguments, call->n + 1, sizeof *all) : NULL;
			if (!all)
				return fail_at(*at, error, "more arguments than memory has room for");
			call->arguments = all;
			struct gt_ptx_argument *argument = &all[call->n];
			*argument = (struct gt_ptx_argument){.place = (size_t)(*at - call->line)};
			int result = read_argument(call, at, argument, error);
			call->n++; /* also on failure, so that its parts are freed with the others */
			if (result != 0)
				return -1;
			gt_scan_blanks(at);
		} while (gt_scan_char(at, ','));
	}
	if (want(at, ")", error) != 0)
		return -1;
	gt_scan_char(at, ';');
	return gt_scan_end(at) ? 0 : fail_at(*at, error, "expected the end of the launch");
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
	return read_shape(call, &at, error) != 0 ? -1 : read_arguments(call, &at, error);
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
