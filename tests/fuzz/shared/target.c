/* SPDX-License-Identifier: MIT */
/* For memfd_create, which Linux has beyond POSIX. */
#define _GNU_SOURCE
#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/invariants.h"

const char *target_file(const uint8_t *data, size_t bytes)
{
	static int file = -1;
	static char path[64];
	static const char *const magics[] = {"\x1f\x8b", "\xfd\x37z", "\x28\xb5"};

	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (bytes >= strlen(magics[i]) && memcmp(data, magics[i], strlen(magics[i])) == 0)
			return NULL;
	if (file < 0 && (file = memfd_create("input", MFD_CLOEXEC)) < 0)
		abort();
	if (ftruncate(file, 0) != 0 || pwrite(file, data, bytes, 0) != (ssize_t)bytes)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return path;
}

struct gt_input *target_input(const uint8_t *data, size_t bytes)
{
	const char *path = target_file(data, bytes);
	struct gt_error error;

	return path ? gt_input_open(path, &error) : NULL;
}

static char name[128];

static void remove_name(void)
{
	unlink(name);
}

struct gt_input *target_named_input(const uint8_t *data, size_t bytes, const char *suffix)
{
	const char *path = target_file(data, bytes), *folder = getenv("TMPDIR");
	struct gt_error error;

	if (path && !name[0]) {
		snprintf(name, sizeof name, "%.80s/gtrace-fuzz-%ld%s", folder ? folder : "/tmp", (long)getpid(), suffix);
		if (symlink(path, name) != 0 || atexit(remove_name) != 0)
			abort();
	}
	return path ? gt_input_open(name, &error) : NULL;
}

char *target_text(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	if (!text)
		abort();
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	return text;
}

void target_check(int result, const struct gt_error *error)
{
	if (result == 0)
		return;
	if (error->text[0] == '\0' || strchr(error->text, '\n') != NULL) {
		fprintf(stderr, "an error without a line of text: '%s'\n", error->text);
		abort();
	}
}

int target_read_stream(const char *path, struct gt_error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct gt_reader *reader = gt_reader_open(file, "stream", NULL, 0, error);
	struct gt_invariants *invariants = gt_invariants_open(error);
	enum gt_event event = GT_FAILED;

	while (reader && invariants && (event = gt_read(reader, error)) != GT_FAILED)
		if (gt_invariants_take(invariants, reader, event, error) != 0 || event == GT_END)
			break;
	bool failed = event != GT_END;
	gt_invariants_close(invariants);
	gt_reader_close(reader);
	close(file);
	return failed ? -1 : 0;
}

FILE *target_nowhere(void)
{
	static FILE *nowhere;

	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	return nowhere;
}
