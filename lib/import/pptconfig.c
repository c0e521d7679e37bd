/* SPDX-License-Identifier: MIT */
#include "import/pptconfig.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/input.h"
#include "base/scan.h"
#include "import/import.h"

#define FILE_MAX (16U << 20)  /* bytes the file may have */
#define LAUNCHES_MAX (1U << 14)

/* A launch: its id, and the text between the braces, in which strings may contain braces. */
static const char launch_pattern[] =
	"^[ \\t]*kernel_(\\d++)[ \\t]*=[ \\t]*(?:\\{((?:[^\"'{}]++|\"[^\"\\n]*+\"|'[^'\\n]*+')*+)\\})?";
/* One of its keys: a string in quotes, a tuple or list, or a number. */
static const char key_pattern[] =
	"[\"'](\\w++)[\"']\\s*+:\\s*+(?:\"([^\"\\n]*+)\"|'([^'\\n]*+)'|[(\\[]([\\s\\d,]*+)[)\\]]|(\\d++))?";
static const char list_pattern[] = "^[ \\t]*app_kernels_id[ \\t]*=[ \\t]*\\[([\\s\\d,]*+)\\]";

enum { KEY = 1, STRING, STRING_SINGLE, TUPLE, NUMBER };

struct reader {
	const char *path;
	char *text; /* 0-terminated, GT_SCAN_SLACK zeros behind it */
	size_t length, capacity;
	struct gt_error *error;
};

/* Fails at a place in the text. */
static int fail(const struct reader *reader, size_t offset, const char *expected)
{
	unsigned long line = 1;

	for (size_t i = 0; i < offset && i < reader->length; i++)
		line += reader->text[i] == '\n';
	return gt_fail(reader->error, "%s:%lu: %s", reader->path, line, expected);
}

/* Makes room for more text. */
static int grow(struct reader *reader)
{
	size_t capacity = reader->capacity ? reader->capacity * 2 : 4096;

	if (capacity > FILE_MAX)
		return gt_fail(reader->error, "%s: expected at most %u bytes", reader->path, FILE_MAX);
	char *text = gt_resized(reader->text, capacity + GT_SCAN_SLACK + 1, 1);
	if (!text)
		return gt_fail_memory(reader->error, "a configuration");
	reader->text = text;
	reader->capacity = capacity;
	return 0;
}

static int load(struct reader *reader)
{
	struct gt_input *input = gt_input_open(reader->path, reader->error);
	struct gt_error ignored;
	long got;

	if (!input)
		return -1;
	do {
		got = reader->length < reader->capacity || grow(reader) == 0 ?
			      gt_input_bytes(input, reader->text + reader->length,
					     reader->capacity - reader->length, reader->error) : -1;
		reader->length += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	if (gt_input_close(input, got == 0 ? reader->error : &ignored) != 0 || got < 0)
		return -1;
	memset(reader->text + reader->length, 0, GT_SCAN_SLACK + 1);
	return memchr(reader->text, '\0', reader->length) ?
		       fail(reader, 0, "expected text, found a 0 byte") : 0;
}

/* ---- the values of keys */

static bool next_number(const char **at, const char *end, uint64_t max, uint64_t *number)
{
	while (*at < end && (unsigned)(unsigned char)**at - '0' > 9)
		(*at)++;
	return *at < end && gt_scan_upto(at, max, number);
}

/* A number, or a tuple of one to three. */
static bool set_size(uint32_t size[3], const char *text, size_t length)
{
	const char *at = text, *end = text + length;
	uint64_t number;
	int n = 0;

	size[0] = 0;
	size[1] = size[2] = 1;
	for (; n < 3 && next_number(&at, end, UINT32_MAX, &number); n++)
		size[n] = (uint32_t)number;
	while (at < end && strchr(" \t\r\n,", *at))
		at++;
	return n > 0 && at == end && size[0] > 0 && size[1] > 0 && size[2] > 0;
}

static bool set_32(uint32_t *value, const char *text, size_t length)
{
	uint64_t number;

	if (!next_number(&text, text + length, UINT32_MAX, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool key_name(struct gt_kernel *kernel, const char *text, size_t length)
{
	snprintf(kernel->name, sizeof kernel->name, "%.*s",
		 (int)(length < sizeof kernel->name ? length : sizeof kernel->name), text);
	return true;
}
static bool key_registers(struct gt_kernel *kernel, const char *text, size_t length)
{
	return set_32(&kernel->registers, text, length);
}
static bool key_shared(struct gt_kernel *kernel, const char *text, size_t length)
{
	return set_32(&kernel->shared_bytes, text, length);
}
static bool key_grid(struct gt_kernel *kernel, const char *text, size_t length)
{
	return set_size(kernel->grid, text, length);
}
static bool key_block(struct gt_kernel *kernel, const char *text, size_t length)
{
	return set_size(kernel->block, text, length);
}

static const struct {
	const char *key;
	bool (*set)(struct gt_kernel *kernel, const char *text, size_t length);
} keys[] = {
	{"kernel_name", key_name}, {"num_registers", key_registers}, {"shared_mem_bytes", key_shared},
	{"grid_size", key_grid},   {"block_size", key_block},
};

/* Sets the field of a key. Returns 0 also for unknown keys, -1 for an invalid value. */
static int set_key(struct gt_kernel *kernel, const char *text, const PCRE2_SIZE *bounds, uint32_t groups)
{
	size_t length = bounds[2 * KEY + 1] - bounds[2 * KEY];

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (strlen(keys[i].key) != length ||
		    strncmp(text + bounds[2 * KEY], keys[i].key, length) != 0)
			continue;
		for (uint32_t g = STRING; g < groups; g++)
			if (bounds[2 * g] != PCRE2_UNSET)
				return keys[i].set(kernel, text + bounds[2 * g],
						   bounds[2 * g + 1] - bounds[2 * g]) ? 0 : -1;
		return -1;
	}
	return 0;
}

/* ---- matches */

/* Calls `each` for the matches of a pattern between two offsets, until it does not return 0. */
static int for_each(struct reader *reader, const char *pattern, size_t from, size_t to,
		    int (*each)(struct reader *reader, const PCRE2_SIZE *bounds, uint32_t groups,
				void *context),
		    void *context)
{
	int code, groups, result = 0;
	PCRE2_SIZE offset;
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE,
					     &code, &offset, NULL);
	pcre2_match_data *match = compiled ? pcre2_match_data_create_from_pattern(compiled, NULL) : NULL;

	if (!match) {
		pcre2_code_free(compiled);
		return gt_fail_memory(reader->error, "a pattern");
	}
	while (result == 0 && (groups = pcre2_match(compiled, (PCRE2_SPTR)reader->text, to, from, 0,
						    match, NULL)) > 0) {
		const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(match);

		from = bounds[1];
		result = each(reader, bounds, (uint32_t)groups, context);
	}
	if (result == 0 && groups != PCRE2_ERROR_NOMATCH)
		result = fail(reader, from,
			      "too complex: expected a dict 'kernel_N = { \"key\" : value, ... }'");
	pcre2_match_data_free(match);
	pcre2_code_free(compiled);
	return result;
}

static int take_key(struct reader *reader, const PCRE2_SIZE *bounds, uint32_t groups, void *kernel)
{
	return set_key(kernel, reader->text, bounds, groups) == 0
		       ? 0
		       : fail(reader, bounds[0],
			      "expected a number, or for a size (x, y, z), each at least 1");
}

static int take_launch(struct reader *reader, const PCRE2_SIZE *bounds, uint32_t groups, void *context)
{
	struct gt_pptconfig *config = context;
	struct gt_kernel kernel = {0};
	const char *at = reader->text + bounds[2];

	if (groups <= 2)
		return fail(reader, bounds[0], "expected 'kernel_N = { \"key\" : value, ... }'");
	if (config->n == LAUNCHES_MAX)
		return fail(reader, bounds[0], "expected at most 16384 launches");
	if (!gt_scan_upto(&at, GT_KERNEL_NEXT - 1, &kernel.id) || gt_pptconfig_find(config, kernel.id))
		return fail(reader, bounds[0], "expected each kernel_N once");
	if (for_each(reader, key_pattern, bounds[4], bounds[5], take_key, &kernel) != 0)
		return -1;
	if (kernel.grid[0] == 0 || kernel.block[0] == 0)
		return fail(reader, bounds[0], "expected grid_size and block_size in the launch");
	struct gt_error shape;
	if (gt_kernel_check(&kernel, &shape) != 0)
		return fail(reader, bounds[0], shape.text);
	struct gt_kernel *kernels = gt_grown(config->kernels, config->n, &config->capacity, sizeof *kernels);

	if (!kernels)
		return gt_fail_memory(reader->error, "launches");
	config->kernels = kernels;
	config->kernels[config->n++] = kernel;
	return 0;
}

/* Moves the launches that the list names to the front, in its order. */
static int take_list(struct reader *reader, const PCRE2_SIZE *bounds, uint32_t groups, void *context)
{
	struct gt_pptconfig *config = context;
	const char *at = reader->text + bounds[2], *end = reader->text + bounds[3];
	uint64_t id;
	size_t done = 0;

	(void)groups;
	while (next_number(&at, end, GT_KERNEL_NEXT - 1, &id)) {
		size_t i = done;

		while (i < config->n && config->kernels[i].id != id)
			i++;
		if (i == config->n)
			return fail(reader, bounds[0],
				    "app_kernels_id: expected ids of kernel_N above, each once");
		struct gt_kernel kernel = config->kernels[i];
		config->kernels[i] = config->kernels[done];
		config->kernels[done++] = kernel;
	}
	config->n = done;
	return 0;
}

int gt_pptconfig_read(struct gt_pptconfig *config, const char *path, struct gt_error *error)
{
	struct reader reader = {.path = path, .error = error};
	int result;

	*config = (struct gt_pptconfig){0};
	result = load(&reader);
	if (result == 0)
		result = for_each(&reader, launch_pattern, 0, reader.length, take_launch, config);
	if (result == 0)
		result = for_each(&reader, list_pattern, 0, reader.length, take_list, config);
	if (result == 0 && config->n == 0)
		result = fail(&reader, 0, "expected a launch 'kernel_N = { ... }' that app_kernels_id lists");
	free(reader.text);
	if (result != 0)
		gt_pptconfig_clear(config);
	return result;
}

void gt_pptconfig_clear(struct gt_pptconfig *config)
{
	free(config->kernels);
	*config = (struct gt_pptconfig){0};
}

const struct gt_kernel *gt_pptconfig_find(const struct gt_pptconfig *config, uint64_t id)
{
	for (size_t i = 0; i < config->n; i++)
		if (config->kernels[i].id == id)
			return &config->kernels[i];
	return NULL;
}
