/* SPDX-License-Identifier: MIT */
#include "compose/origin.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), length = strlen(end);

	return n > length && strcmp(name + n - length, end) == 0;
}

/* Sources of programs, which people give in place of the program. */
static int check_name(const char *name, struct gt_error *error)
{
	if (ends_with(name, ".cu"))
		return gt_fail(error, "%s: expected a program: compile it with nvcc -g -lineinfo -cudart shared -o program %s", name, name);
	if (ends_with(name, ".ptx"))
		return gt_fail(error, "%s: a kernel needs a launch: gtrace-ptx --launch 'KERNEL<<<GRID, BLOCK>>>(...)' %s >stream, "
				      "then give the stream", name, name);
	return 0;
}

static int open_file(struct gt_origin *origin, const struct stat *status, struct gt_error *error)
{
	char head[8] = "";

	if (S_ISDIR(status->st_mode)) {
		origin->kind = GT_ORIGIN_TRACE;
		return 0;
	}
	if (!S_ISREG(status->st_mode))
		return gt_fail(error, "%s: expected a file", origin->path);
	origin->descriptor = open(origin->path, O_RDONLY | O_CLOEXEC);
	if (origin->descriptor < 0)
		return gt_fail_errno(error, "%s", origin->path);
	ssize_t n = pread(origin->descriptor, head, sizeof head, 0);
	if (n < 0)
		return gt_fail_errno(error, "%s", origin->path);
	if (n > 0 && gt_is_stream(head, (size_t)n)) {
		origin->kind = GT_ORIGIN_STREAM;
		origin->reader = gt_reader_open(origin->descriptor, origin->path, NULL, 0, error);
		return origin->reader ? 0 : -1;
	}
	bool program = (n >= 4 && memcmp(head, "\x7f" "ELF", 4) == 0) || (n >= 2 && memcmp(head, "#!", 2) == 0);
	origin->kind = program ? GT_ORIGIN_PROGRAM : GT_ORIGIN_TRACE;
	if (program && access(origin->path, X_OK) != 0)
		return gt_fail_errno(error, "%s", origin->path);
	return 0;
}

int gt_origin_open(struct gt_origin *origin, const char *name, struct gt_error *error)
{
	char path[4096];
	struct stat status;
	bool exists = stat(name, &status) == 0;

	*origin = (struct gt_origin){.descriptor = -1};
	if (check_name(name, error) != 0)
		return -1;
	if ((size_t)snprintf(origin->path, sizeof origin->path, "%s%s", exists && *name == '-' ? "./" : "", name) >= sizeof origin->path)
		return gt_fail(error, "expected a shorter name");
	if (!exists && gt_child_find(name, path, sizeof path)) {
		origin->kind = GT_ORIGIN_PROGRAM;
		return 0;
	}
	if (!exists)
		return gt_fail_errno(error, "%s", name);
	if (open_file(origin, &status, error) != 0) {
		gt_origin_close(origin);
		return -1;
	}
	if (origin->kind == GT_ORIGIN_PROGRAM && !strchr(name, '/'))
		snprintf(origin->path, sizeof origin->path, "./%.*s", (int)sizeof origin->path - 3, name);
	return 0;
}

void gt_origin_close(struct gt_origin *origin)
{
	gt_reader_close(origin->reader);
	if (origin->descriptor >= 0)
		close(origin->descriptor);
	*origin = (struct gt_origin){.descriptor = -1};
}
