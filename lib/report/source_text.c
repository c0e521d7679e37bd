/* SPDX-License-Identifier: MIT */
#include "report/source_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TAB 4
#define FILE_BYTES (1 << 24) /* a source file may have */

/* Whether a name is that of source: no other file that a stream names gets into the page. */
static bool is_source(const char *name)
{
	static const char *const ends[] = {"c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp", "tpp", "ptx",
					   "py", "jl", "f", "f90", "cuf", "rs", "mojo"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
		if (strcmp(dot + 1, ends[i]) == 0)
			return true;
	return false;
}

static char *read_whole(const char *name)
{
	struct stat status;
	FILE *file = stat(name, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < FILE_BYTES ? fopen(name, "r") : NULL;
	char *bytes = file ? malloc((size_t)status.st_size + 1) : NULL;

	if (bytes) {
		size_t n = fread(bytes, 1, (size_t)status.st_size, file);
		bytes[n] = '\0';
	}
	if (file)
		fclose(file);
	return bytes;
}

struct gt_source_text gt_source_text_read(const char *name)
{
	struct gt_source_text text = {.n = 0};
	const char *base = strrchr(name, '/');

	if (!is_source(name) || (!(text.bytes = read_whole(name)) && !(base && (text.bytes = read_whole(base + 1)))))
		return text;
	size_t lines = 1;
	for (const char *at = text.bytes; (at = strchr(at, '\n')); at++)
		lines++;
	text.lines = malloc(lines * sizeof *text.lines);
	for (char *at = text.bytes; text.lines && at && *at && text.n < lines;) {
		text.lines[text.n++] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	return text;
}

void gt_source_text_clear(struct gt_source_text *text)
{
	free(text->lines);
	free(text->bytes);
	*text = (struct gt_source_text){.n = 0};
}

void gt_source_text_line(const struct gt_source_text *text, uint64_t line, char wide[GT_SOURCE_LETTERS])
{
	const char *at = line > 0 && line <= text->n ? text->lines[line - 1] : "";
	const size_t most = GT_SOURCE_LETTERS - 4;
	size_t n = 0;

	for (; *at && *at != '\r' && n < most; at++)
		if (*at == '\t')
			do
				wide[n++] = ' ';
			while (n % TAB && n < most);
		else
			wide[n++] = *at;
	snprintf(wide + n, GT_SOURCE_LETTERS - n, "%s", *at && *at != '\r' ? "…" : "");
}
