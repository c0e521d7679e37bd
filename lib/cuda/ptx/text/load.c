/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/input.h"
#include "cuda/ptx/text/module.h"

#define TEXT_MAX ((size_t)1 << 30) /* bytes of a PTX text */

/* The rest of the input, 0-terminated; NULL on error. */
static char *read_all(struct gt_input *input, size_t *length, struct gt_error *error)
{
	size_t capacity = 1 << 16, n = 0;
	char *text = malloc(capacity);
	long got = 1;

	while (text && got > 0 && n < TEXT_MAX) {
		char *more = gt_grown_to(text, n + (1 << 15), &capacity, 1);
		if (!more)
			free(text);
		text = more;
		got = text ? gt_input_bytes(input, text + n, capacity - n - 1, error) : 0;
		n += got > 0 ? (size_t)got : 0;
	}
	if (!text)
		gt_fail_memory(error, "a PTX text");
	else if (n >= TEXT_MAX)
		gt_fail(error, "%s: more than 1 GiB of PTX", gt_input_name(input));
	if (!text || got < 0 || n >= TEXT_MAX) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*length = n;
	return text;
}

int gt_ptx_load(struct gt_ptx_module *module, const char *path, struct gt_error *error)
{
	struct gt_input *input = gt_input_open(path, error);
	struct gt_error ignored;
	size_t length;
	int result = -1;

	*module = (struct gt_ptx_module){0};
	if (!input)
		return -1;
	char *text = read_all(input, &length, error);
	if (text)
		result = gt_ptx_parse(module, gt_input_name(input), text, length, error);
	free(text);
	if (gt_input_close(input, result == 0 ? error : &ignored) != 0)
		result = -1;
	return result;
}
