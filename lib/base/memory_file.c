/* SPDX-License-Identifier: MIT */
/* For fopencookie, which glibc and musl have beyond POSIX. */
#define _GNU_SOURCE
#include "base/memory_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/whole_file.h"

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
