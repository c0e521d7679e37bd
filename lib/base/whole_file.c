/* SPDX-License-Identifier: MIT */
/* For realpath, which POSIX has among the X/Open extensions. */
#define _XOPEN_SOURCE 700
#include "base/whole_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_to(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");
	bool written = file && fwrite(bytes, 1, n, file) == n;

	return (!file || fclose(file) == 0) && written;
}

/* Writes a file beside its place and moves it there. `old` is what is there, or NULL. */
static bool replace(const char *place, const struct stat *old, const void *bytes, size_t n)
{
	char *partial = malloc(strlen(place) + 32);
	if (!partial)
		return false;
	sprintf(partial, "%s.partial-%ld", place, (long)getpid());
	bool done = write_to(partial, bytes, n) && (!old || chmod(partial, old->st_mode & 07777) == 0) && rename(partial, place) == 0;
	int reason = errno;

	if (!done)
		unlink(partial);
	free(partial);
	errno = reason;
	return done;
}

static bool write_whole(const char *path, const void *bytes, size_t n)
{
	struct stat old;

	if (stat(path, &old) != 0)
		return errno == ENOENT && replace(path, NULL, bytes, n);
	if (!S_ISREG(old.st_mode))
		return write_to(path, bytes, n);
	if (access(path, W_OK) != 0)
		return false;
	char *place = realpath(path, NULL); /* a symbolic link stays one */
	bool done = place && replace(place, &old, bytes, n);
	free(place);
	return done;
}

int gt_whole_file_write(const char *path, const void *bytes, size_t n, const char *what, struct gt_error *error)
{
	return write_whole(path, bytes, n) ? 0 : gt_fail_errno(error, "%s: cannot write %s", path, what);
}
