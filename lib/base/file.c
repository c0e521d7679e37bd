/* SPDX-License-Identifier: MIT */
/* Files (base/file.h). fopencookie is not in POSIX, but in glibc and musl; realpath is among POSIX' X/Open extensions. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grown.h"

/* ---- a file that an option names ---- */

/* What is written: n bytes, or, if they are NULL, all of a file. */
struct text {
	const void *bytes;
	size_t n;
	int file;
};

static bool write_text(const struct text *text, FILE *to)
{
	char chunk[65536];
	ssize_t n;

	if (text->bytes)
		return fwrite(text->bytes, 1, text->n, to) == text->n;
	for (off_t at = 0; (n = pread(text->file, chunk, sizeof chunk, at)) > 0; at += n)
		if (fwrite(chunk, 1, (size_t)n, to) != (size_t)n)
			return false;
	return n == 0;
}

/* Writes to a descriptor, which may be -1, and closes it. */
static bool write_to(int descriptor, const struct text *text)
{
	FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");

	if (!file) {
		if (descriptor >= 0)
			close(descriptor);
		return false;
	}
	bool written = write_text(text, file);
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
static bool replace(const char *place, const struct stat *old, const struct text *text)
{
	char *partial = malloc(strlen(place) + 32);
	if (!partial)
		return false;
	sprintf(partial, "%s.partial-%ld", place, (long)getpid());
	int descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL, 0666); /* not what others have put there, such as a link */
	bool done = write_to(descriptor, text) && (!old || chmod(partial, old->st_mode & 07777) == 0) && rename(partial, place) == 0;
	int reason = errno;

	if (!done && descriptor >= 0)
		unlink(partial);
	free(partial);
	errno = reason;
	return done;
}

/* A file that is not there yet. What a symbolic link leads to is made in its place, and the link stays one. */
static bool create(const char *path, const struct text *text)
{
	struct stat link;

	if (lstat(path, &link) == 0)
		return write_to(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), text);
	return replace(path, NULL, text);
}

static bool write_whole(const char *path, const struct text *text)
{
	const int descriptor = descriptor_of(path);
	struct stat old;

	if (descriptor >= 0)
		return write_to(dup(descriptor), text);
	if (stat(path, &old) != 0)
		return errno == ENOENT && create(path, text);
	if (!S_ISREG(old.st_mode))
		return write_to(open(path, O_WRONLY | O_TRUNC), text);
	if (access(path, W_OK) != 0)
		return false;
	char *place = realpath(path, NULL); /* a symbolic link stays one */
	bool done = place && replace(place, &old, text);
	free(place);
	return done;
}

int gt_whole_file_write(const char *path, const void *bytes, size_t n, const char *what, struct gt_error *error)
{
	return write_whole(path, &(struct text){.bytes = bytes, .n = n}) ? 0 : gt_fail_errno(error, "%s: cannot write %s", path, what);
}

int gt_whole_file_copy(const char *path, int file, const char *what, struct gt_error *error)
{
	return write_whole(path, &(struct text){.file = file}) ? 0 : gt_fail_errno(error, "%s: cannot write %s", path, what);
}

/* Whether a file can be made in a folder. */
static bool is_place(const char *folder)
{
	struct stat status;

	if (stat(folder, &status) != 0)
		return false;
	errno = ENOTDIR;
	return S_ISDIR(status.st_mode) && access(folder, W_OK | X_OK) == 0;
}

/* The same of the folder in which a path is; of "x" the current one. */
static bool is_placed(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length > 0 && path[length - 1] != '/')
		length--;
	char *folder = length > 0 ? strndup(path, length) : strdup(".");
	bool placed = folder && is_place(folder);
	int reason = errno;
	free(folder);
	errno = reason;
	return placed;
}

int gt_whole_file_check(const char *path, const char *what, struct gt_error *error)
{
	struct stat status;
	bool fits;

	if (descriptor_of(path) >= 0)
		return 0;
	if (stat(path, &status) == 0) {
		errno = EISDIR;
		fits = !S_ISDIR(status.st_mode) && access(path, W_OK) == 0 && (!S_ISREG(status.st_mode) || is_placed(path));
	} else {
		fits = lstat(path, &status) == 0 || is_placed(path);
	}
	return fits ? 0 : gt_fail_errno(error, "%s: cannot write %s", path, what);
}

int gt_folder_check(const char *folder, struct gt_error *error)
{
	return is_place(folder) ? 0 : gt_fail_errno(error, "%s", folder);
}

/* ---- a file in memory ---- */

static ssize_t append(void *cookie, const char *text, size_t bytes)
{
	struct gt_memory_file *memory = cookie;
	char *bigger = gt_grown_to(memory->text, memory->bytes + bytes + 1, &memory->capacity, 1);

	if (!bigger)
		return 0; /* sets the file's error */
	memory->text = bigger;
	memcpy(memory->text + memory->bytes, text, bytes);
	memory->bytes += bytes;
	memory->text[memory->bytes] = '\0';
	return (ssize_t)bytes;
}

int gt_memory_file_open(struct gt_memory_file *memory, struct gt_error *error)
{
	*memory = (struct gt_memory_file){0};
	append(memory, "", 0); /* an empty text is one, too */
	if (memory->text)
		memory->file = fopencookie(memory, "w", (cookie_io_functions_t){.write = append});
	if (memory->file)
		return 0;
	free(memory->text);
	return gt_fail_memory(error, "a text");
}

int gt_memory_file_save(struct gt_memory_file *memory, const char *path, const char *what, struct gt_error *error)
{
	size_t bytes = 0;
	char *text = gt_memory_file_take(memory, &bytes, what, error);

	if (!text)
		return -1;
	int written = gt_whole_file_write(path, text, bytes, what, error);
	free(text);
	return written;
}

void gt_memory_file_close(struct gt_memory_file *memory)
{
	if (memory->file)
		fclose(memory->file);
	free(memory->text);
	*memory = (struct gt_memory_file){0};
}

char *gt_memory_file_take(struct gt_memory_file *memory, size_t *bytes, const char *what, struct gt_error *error)
{
	bool lost = ferror(memory->file) != 0;

	lost |= fclose(memory->file) != 0;
	char *text = memory->text;
	if (bytes)
		*bytes = memory->bytes;
	*memory = (struct gt_memory_file){0};
	if (!lost)
		return text;
	free(text);
	gt_fail_memory(error, what);
	return NULL;
}

/* ---- temporary files ---- */

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
