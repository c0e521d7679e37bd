/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "cuda/ptx/launch/scan.h"

#define ARGUMENTS_MAX 4096

static int read_arguments(struct gt_ptx_launch_line *call, const char **at, struct gt_error *error)
{
	if (gt_ptx_launch_want(at, "(", error) != 0)
		return -1;
	if (**at != ')') {
		do {
			gt_scan_blanks(at);
			struct gt_ptx_argument *all = call->n < ARGUMENTS_MAX ?
				gt_resized(call->arguments, call->n + 1, sizeof *all) : NULL;
			if (!all)
				return gt_ptx_launch_fail_at(*at, error, "more arguments than memory has room for");
			call->arguments = all;
			struct gt_ptx_argument *argument = &all[call->n];
			*argument = (struct gt_ptx_argument){.place = (size_t)(*at - call->line)};
			int result = gt_ptx_launch_argument(call, at, argument, error);
			call->n++; /* also on failure, so that its parts are freed with the others */
			if (result != 0)
				return -1;
			gt_scan_blanks(at);
		} while (gt_scan_char(at, ','));
	}
	if (gt_ptx_launch_want(at, ")", error) != 0)
		return -1;
	gt_scan_char(at, ';');
	return gt_scan_end(at) ? 0 : gt_ptx_launch_fail_at(*at, error, "expected the end of the launch");
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
	return gt_ptx_launch_shape(call, &at, error) != 0 ? -1 : read_arguments(call, &at, error);
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
