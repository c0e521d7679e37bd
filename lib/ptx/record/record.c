/* SPDX-License-Identifier: MIT */
/* For realpath, which is in the XSI part of POSIX. */
#define _XOPEN_SOURCE 700
#include "ptx/record/record.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/options.h"

#define LIBRARY "libcudart.so.13"
#define PATH_BYTES 4096
#define PREFIX "GTRACE_RECORD_"
#define ARGUMENTS PREFIX "ARGUMENTS"
#define SEPARATOR '\x1f' /* behind every argument */
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct {
	const char *name;
	size_t offset;
} texts[] = {
	{PREFIX "KERNEL", offsetof(struct gt_record, kernel)},
	{PREFIX "LAUNCHES", offsetof(struct gt_record, launches)},
	{PREFIX "SPACES", offsetof(struct gt_record, spaces)},
	{PREFIX "GPU", offsetof(struct gt_record, gpu)},
	{PREFIX "CHECK", offsetof(struct gt_record, check)},
	{PREFIX "PTX", offsetof(struct gt_record, ptx)},
};

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	{PREFIX "BLOCKS", offsetof(struct gt_record, blocks)},
	{PREFIX "MAX_INSTRUCTIONS", offsetof(struct gt_record, max_instructions)},
	{PREFIX "MEMORY", offsetof(struct gt_record, memory)},
};

static const struct {
	const char *name;
	size_t offset;
} flags[] = {
	{PREFIX "GPU_CHOSEN", offsetof(struct gt_record, gpu_chosen)},
	{PREFIX "SKIP_UNTRACED", offsetof(struct gt_record, skip_untraced)},
	{PREFIX "REPLAY", offsetof(struct gt_record, replay)},
	{PREFIX "IGNORE_UNSUPPORTED", offsetof(struct gt_record, ignore_unsupported)},
	{PREFIX "PTXAS", offsetof(struct gt_record, ptxas)},
	{PREFIX "VERBOSE", offsetof(struct gt_record, verbose)},
};

static const struct {
	const char *name;
	size_t offset;
} descriptors[] = {
	{PREFIX "STREAM", offsetof(struct gt_record, stream)},
	{PREFIX "TOKEN", offsetof(struct gt_record, token)},
};

void gt_record_defaults(struct gt_record *record)
{
	*record = (struct gt_record){.stream = -1, .token = -1, .memory = UINT64_C(16) << 30};
}

int gt_record_tracing(const struct gt_record *record, struct gt_ptx_tracing *tracing, struct gt_error *error)
{
	gt_ptx_tracing_begin(tracing);
	if (record->blocks > 0)
		tracing->blocks = record->blocks;
	tracing->skip_untraced = record->skip_untraced;
	tracing->replay = record->replay;
	tracing->max_instructions = record->max_instructions;
	if (record->check[0] && gt_ptx_tracing_check(tracing, record->check, error) != 0)
		return -1;
	if (record->spaces[0] && gt_ptx_tracing_spaces(tracing, record->spaces, error) != 0)
		return -1;
	if (record->launches[0] && gt_ptx_tracing_launches(tracing, record->launches, error) != 0)
		return -1;
	if (record->kernel[0] && !(tracing->kernel = gt_regex_open(record->kernel, error)))
		return -1;
	return 0;
}

static void *field(const struct gt_record *record, size_t offset)
{
	return (char *)(uintptr_t)record + offset;
}

static int set_number(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, value);
	return setenv(name, text, 1);
}

/* All arguments in one text. NULL when memory is short. */
static char *join(char *const arguments[])
{
	size_t bytes = 1, at = 0;

	for (size_t i = 0; arguments[i]; i++)
		bytes += strlen(arguments[i]) + 1;
	char *text = malloc(bytes);
	if (!text)
		return NULL;
	for (size_t i = 0; arguments[i]; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%c", arguments[i], SEPARATOR);
	text[at] = '\0';
	return text;
}

/* The folder of our runtime. */
static int find_runtime(char folder[PATH_BYTES], struct gt_error *error)
{
	static const char *const places[] = {"/../lib/gtrace", "/../build/cudart"}; /* beside the program's folder */
	const char *named = getenv("GTRACE_CUDART");
	char self[PATH_BYTES], path[PATH_BYTES + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	self[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i <= LENGTH(places); i++) {
		const char *base = i < LENGTH(places) ? self : "", *place = i < LENGTH(places) ? places[i] : gt_libdir;
		int bytes = named ? snprintf(path, sizeof path, "%s/" LIBRARY, named)
				  : snprintf(path, sizeof path, "%s%s/" LIBRARY, base, place);
		if ((size_t)bytes < sizeof path && access(path, R_OK) == 0 && realpath(path, folder)) {
			*strrchr(folder, '/') = '\0';
			return 0;
		}
	}
	if (named)
		return gt_fail(error, "GTRACE_CUDART: no " LIBRARY " in '%s'", named);
	return gt_fail(error, "no " LIBRARY " beside %s or in %s: set GTRACE_CUDART to its folder", self, gt_libdir);
}

/* Joins two words of a list in the environment; one may be empty. */
static int set_list(const char *variable, const char *first, const char *second, struct gt_error *error)
{
	size_t bytes = strlen(first) + strlen(second) + 2;
	char *text = malloc(bytes);

	if (text)
		snprintf(text, bytes, "%s%s%s", first, *first && *second ? ":" : "", second);
	int failed = !text || setenv(variable, text, 1) != 0;
	free(text);
	return failed ? gt_fail_memory(error, "the environment") : 0;
}

/* Both ways to our runtime: the second serves a program whatever its own search path says, the
 * first one whose path cannot stand in a preload list. */
static int export_runtime(struct gt_error *error)
{
	char folder[PATH_BYTES], library[PATH_BYTES + 32];
	const char *path = getenv("LD_LIBRARY_PATH"), *preload = getenv("LD_PRELOAD");

	if (find_runtime(folder, error) != 0 || set_list("LD_LIBRARY_PATH", folder, path ? path : "", error) != 0)
		return -1;
	snprintf(library, sizeof library, "%s/" LIBRARY, folder);
	return strpbrk(library, " :") ? 0 : set_list("LD_PRELOAD", preload ? preload : "", library, error);
}

int gt_record_export(const struct gt_record *record, struct gt_error *error)
{
	if (export_runtime(error) != 0)
		return -1;
	char *arguments = join(record->arguments);
	int failed = !arguments || setenv(ARGUMENTS, arguments, 1) != 0;

	free(arguments);
	for (size_t i = 0; i < LENGTH(texts); i++)
		failed |= setenv(texts[i].name, field(record, texts[i].offset), 1);
	for (size_t i = 0; i < LENGTH(numbers); i++)
		failed |= set_number(numbers[i].name, *(uint64_t *)field(record, numbers[i].offset));
	for (size_t i = 0; i < LENGTH(flags); i++)
		failed |= set_number(flags[i].name, *(bool *)field(record, flags[i].offset));
	for (size_t i = 0; i < LENGTH(descriptors); i++)
		failed |= set_number(descriptors[i].name, (uint64_t)*(int *)field(record, descriptors[i].offset));
	return failed ? gt_fail_memory(error, "the environment") : 0;
}

/* The number in a variable; `otherwise` if there is no such variable. */
static int get_number(const char *name, uint64_t max, uint64_t otherwise, uint64_t *value, struct gt_error *error)
{
	const char *text = getenv(name);
	struct gt_error reason;

	*value = otherwise;
	if (text && gt_parse_count(text, 0, max, value, &reason) != 0)
		return gt_fail(error, "%s: %s", name, reason.text);
	return 0;
}

static int import_arguments(struct gt_record *record, struct gt_error *error)
{
	const char *joined = getenv(ARGUMENTS);
	size_t n = 0;

	record->argument_text = strdup(joined ? joined : "");
	if (!record->argument_text)
		return gt_fail_memory(error, "arguments");
	char *at = record->argument_text, *end;
	for (; n < GT_RECORD_ARGUMENTS && (end = strchr(at, SEPARATOR)); at = end + 1) {
		*end = '\0';
		record->arguments[n++] = at;
	}
	record->arguments[n] = NULL;
	return 0;
}

int gt_record_import(struct gt_record *record, struct gt_error *error)
{
	uint64_t value;

	gt_record_defaults(record);
	for (size_t i = 0; i < LENGTH(texts); i++) {
		const char *text = getenv(texts[i].name);
		if (text && strlen(text) >= GT_RECORD_TEXT)
			return gt_fail(error, "%s: longer than %d bytes", texts[i].name, GT_RECORD_TEXT - 1);
		if (text)
			strcpy(field(record, texts[i].offset), text);
	}
	for (size_t i = 0; i < LENGTH(numbers); i++) {
		uint64_t *place = field(record, numbers[i].offset);
		if (get_number(numbers[i].name, UINT64_MAX, *place, place, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < LENGTH(flags); i++) {
		if (get_number(flags[i].name, 1, 0, &value, error) != 0)
			return -1;
		*(bool *)field(record, flags[i].offset) = value != 0;
	}
	for (size_t i = 0; i < LENGTH(descriptors); i++) {
		if (get_number(descriptors[i].name, INT_MAX, INT_MAX, &value, error) != 0)
			return -1;
		*(int *)field(record, descriptors[i].offset) = value == INT_MAX ? -1 : (int)value;
	}
	return import_arguments(record, error);
}

void gt_record_clear(struct gt_record *record)
{
	free(record->argument_text);
	record->argument_text = NULL;
}
