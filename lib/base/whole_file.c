/* SPDX-License-Identifier: MIT */
/* For realpath, which POSIX has among the X/Open extensions. */
#define _XOPEN_SOURCE 700
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes to a descriptor, which may be -1, and closes it. */
static bool write_to(int descriptor, const void *bytes, size_t n)
{
	FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");

	if (!file) {
		if (descriptor >= 0)
			close(descriptor);
		return false;
	}
	bool written = fwrite(bytes, 1, n, file) == n;
	return fclose(file) == 0 && written;
}

/* The descriptor that a path stands for, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const char *number = path + strlen(folders[i]);
		if (strncmp(path, folders[i], strlen(folders[i])) == 0 && *number && strspn(number, "0123456789") == strlen(number))
			return (int)strtol(number, NULL, 10);
	}
	return -1;
}

/* Writes a file beside its place and moves it there. `old` is what is there, or NULL. */
static bool replace(const char *place, const struct stat *old, const void *bytes, size_t n)
{
	char *partial = malloc(strlen(place) + 32);
	if (!partial)
		return false;
	sprintf(partial, "%s.partial-%ld", place, (long)getpid());
	int descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL, 0666); /* not what others have put there, such as a link */
	bool done = write_to(descriptor, bytes, n) && (!old || chmod(partial, old->st_mode & 07777) == 0) && rename(partial, place) == 0;
	int reason = errno;

	if (!done && descriptor >= 0)
		unlink(partial);
	free(partial);
	errno = reason;
	return done;
}

/* A file that is not there yet. What a symbolic link leads to is made in its place, and the link stays one. */
static bool create(const char *path, const void *bytes, size_t n)
{
	struct stat link;

	if (lstat(path, &link) == 0)
		return write_to(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), bytes, n);
	return replace(path, NULL, bytes, n);
}

static bool write_whole(const char *path, const void *bytes, size_t n)
{
	const int descriptor = descriptor_of(path);
	struct stat old;

	if (descriptor >= 0)
		return write_to(dup(descriptor), bytes, n);
	if (stat(path, &old) != 0)
		return errno == ENOENT && create(path, bytes, n);
	if (!S_ISREG(old.st_mode))
		return write_to(open(path, O_WRONLY | O_TRUNC), bytes, n);
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
