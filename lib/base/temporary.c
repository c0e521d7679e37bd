/* SPDX-License-Identifier: MIT */
#include "base/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gt_temporary_file(const char *directory, struct gt_error *error)
{
	size_t size = strlen(directory) + sizeof "/gtrace-XXXXXX";
	char *path = malloc(size);

	if (!path)
		return gt_fail_memory(error, "a path");
	snprintf(path, size, "%s/gtrace-XXXXXX", directory);
	int file = mkstemp(path);
	if (file < 0) {
		gt_fail_errno(error, "%s: cannot make a temporary file", directory);
	} else {
		fcntl(file, F_SETFD, FD_CLOEXEC);
		unlink(path);
	}
	free(path);
	return file;
}

const char *gt_temporary_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}
