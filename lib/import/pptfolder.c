/* SPDX-License-Identifier: MIT */
/* The files of a PPT-GPU trace and the launches that they are of, by app_config.py, or by the names of the files where there is
 * none. */
#include "import/pptfolder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grown.h"
#include "base/input.h"
#include "base/scan.h"
#include "import/import.h"

/* ---- launches ---- */

/* The launch of that id, or NULL. */
static const struct gt_pptlaunch *find_launch(const struct gt_pptfolder *folder, uint64_t id)
{
	for (size_t i = 0; i < folder->launches_n; i++)
		if (folder->launches[i].kernel.id == id)
			return &folder->launches[i];
	return NULL;
}

static int add_launch(struct gt_pptfolder *folder, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_pptlaunch *launches = gt_grown(folder->launches, folder->launches_n, &folder->launches_capacity, sizeof *launches);

	if (!launches)
		return gt_fail_memory(error, "launches");
	folder->launches = launches;
	launches[folder->launches_n++] = (struct gt_pptlaunch){.kernel = *kernel};
	return 0;
}

/* ---- app_config.py ---- */

/* PPT-GPU's app_config.py: the launches of an application, one Python dict each,
 *
 *     kernel_1 = {
 *         "kernel_name" : "gemm", "num_registers" : 32, "shared_mem_bytes" : 0,
 *         "grid_size" : (4, 16, 1), "block_size" : 256, ...
 *     }
 *     app_kernels_id = [1]
 *
 * where a size is a number or a tuple of up to three. Other keys are ignored. */

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
	struct gt_pptfolder *folder = context;
	struct gt_kernel kernel = {0};
	const char *at = reader->text + bounds[2];

	if (groups <= 2)
		return fail(reader, bounds[0], "expected 'kernel_N = { \"key\" : value, ... }'");
	if (folder->launches_n == LAUNCHES_MAX)
		return fail(reader, bounds[0], "expected at most 16384 launches");
	if (!gt_scan_upto(&at, GT_KERNEL_NEXT - 1, &kernel.id) || find_launch(folder, kernel.id))
		return fail(reader, bounds[0], "expected each kernel_N once");
	if (for_each(reader, key_pattern, bounds[4], bounds[5], take_key, &kernel) != 0)
		return -1;
	if (kernel.grid[0] == 0 || kernel.block[0] == 0)
		return fail(reader, bounds[0], "expected grid_size and block_size in the launch");
	struct gt_error shape;
	if (gt_kernel_check(&kernel, &shape) != 0)
		return fail(reader, bounds[0], shape.text);
	return add_launch(folder, &kernel, reader->error);
}

/* Moves the launches that the list names to the front, in its order. */
static int take_list(struct reader *reader, const PCRE2_SIZE *bounds, uint32_t groups, void *context)
{
	struct gt_pptfolder *folder = context;
	const char *at = reader->text + bounds[2], *end = reader->text + bounds[3];
	uint64_t id;
	size_t done = 0;

	(void)groups;
	while (next_number(&at, end, GT_KERNEL_NEXT - 1, &id)) {
		size_t i = done;

		while (i < folder->launches_n && folder->launches[i].kernel.id != id)
			i++;
		if (i == folder->launches_n)
			return fail(reader, bounds[0],
				    "app_kernels_id: expected ids of kernel_N above, each once");
		struct gt_pptlaunch launch = folder->launches[i];
		folder->launches[i] = folder->launches[done];
		folder->launches[done++] = launch;
	}
	folder->launches_n = done;
	return 0;
}

/* Reads the configuration, which has the launches. Returns 0, or -1 with file and line. */
static int read_config(struct gt_pptfolder *folder, struct gt_error *error)
{
	struct reader reader = {.path = folder->config, .error = error};
	int result = load(&reader);

	if (result == 0)
		result = for_each(&reader, launch_pattern, 0, reader.length, take_launch, folder);
	if (result == 0)
		result = for_each(&reader, list_pattern, 0, reader.length, take_list, folder);
	if (result == 0 && folder->launches_n == 0)
		result = fail(&reader, 0, "expected a launch 'kernel_N = { ... }' that app_kernels_id lists");
	free(reader.text);
	return result;
}

/* ---- files ---- */

/* "FOLDER/NAME", or NULL. An empty folder is the current one. */
static char *join(const char *folder, const char *name)
{
	size_t bytes = strlen(folder) + strlen(name) + 2;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s%s%s", folder, *folder ? "/" : "", name);
	return path;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool joined_exists(const char *folder, const char *name, bool as_folder)
{
	char *path = join(folder, name);
	struct stat status;
	bool exists = path && stat(path, &status) == 0 && (!as_folder || S_ISDIR(status.st_mode));

	free(path);
	return exists;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "kernel_K_block_B.mem" or "kernel_K_sm_S.mem", possibly compressed; "block_B.mem" is of kernel 1. */
static bool scan_name(const char *name, uint64_t *kernel, uint64_t *number, bool *sm)
{
	static const char *const ends[] = {"", ".gz", ".bz2", ".xz", ".zst"};

	bool only = !gt_scan_text(&name, "kernel_");

	*kernel = 1;
	if (!only && (!gt_scan_upto(&name, GT_KERNEL_NEXT - 1, kernel) || !gt_scan_char(&name, '_')))
		return false;
	*sm = !only && gt_scan_text(&name, "sm_");
	if ((!*sm && !gt_scan_text(&name, "block_")) || !gt_scan_decimal(&name, number) || !gt_scan_text(&name, ".mem"))
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(name, ends[i]) == 0)
			return true;
	return false;
}

static bool is_trace(const char *name)
{
	uint64_t kernel, number;
	bool sm;

	return scan_name(name, &kernel, &number, &sm) && !sm;
}

/* Adds a file of the folder if its name is that of a trace. */
static int add_file(struct gt_pptfolder *folder, const char *name, struct gt_error *error)
{
	uint64_t kernel, number;
	bool sm;

	if (!scan_name(name, &kernel, &number, &sm))
		return 0;
	folder->sm_traces += sm;
	if (sm)
		return 0;
	if (number >= UINT32_MAX)
		return gt_fail(error, "%s/%s: expected a block below %" PRIu32, folder->traces, name,
			       UINT32_MAX);
	struct gt_pptfile *files = gt_grown(folder->files, folder->n, &folder->capacity, sizeof *files);

	if (!files)
		return gt_fail_memory(error, "the names of files");
	folder->files = files;
	char *path = join(folder->traces, name);

	if (!path)
		return gt_fail_memory(error, "the names of files");
	folder->files[folder->n++] =
		(struct gt_pptfile){.kernel = kernel, .block = (uint32_t)number, .path = path};
	return 0;
}

static int add_folder(struct gt_pptfolder *folder, struct gt_error *error)
{
	DIR *directory = opendir(*folder->traces ? folder->traces : ".");
	struct dirent *file;
	int result = 0;

	if (!directory)
		return gt_fail_errno(error, "%s", folder->traces);
	errno = 0;
	while (result == 0 && (file = readdir(directory)) != NULL)
		result = add_file(folder, file->d_name, error);
	if (result == 0 && errno != 0)
		result = gt_fail_errno(error, "%s", folder->traces);
	closedir(directory);
	return result;
}

/* Where the traces and the configuration are, from a path the user gave. */
static int locate(const char *path, char **traces, char **config, struct gt_error *error)
{
	char *base = strdup(path);

	*traces = *config = NULL;
	if (!base)
		return gt_fail_memory(error, "a path");
	if (!is_folder(path))
		base[file_name(path) > path ? file_name(path) - path - 1 : 0] = '\0';
	/* The file is in the root folder. */
	const char *folder = *base || path[0] != '/' ? base : "/.";
	bool above = is_folder(path) && joined_exists(folder, "memory_traces", true);

	*traces = above ? join(folder, "memory_traces") : strdup(folder);
	*config = join(folder, above || joined_exists(folder, "app_config.py", false) ? "app_config.py" :
									       "../app_config.py");
	free(base);
	return *traces && *config ? 0 : gt_fail_memory(error, "a path");
}

static int add_path(struct gt_pptfolder *folder, const char *path, struct gt_error *error)
{
	char *traces, *config;
	int result = locate(path, &traces, &config, error);

	if (result == 0 && !folder->traces) {
		folder->traces = traces;
		folder->config = config;
		traces = config = NULL;
	}
	if (result == 0 && traces && strcmp(folder->traces, traces) != 0)
		result = gt_fail(error, "%s: expected the traces of one folder, %s", path, folder->traces);
	free(traces);
	free(config);
	if (result != 0)
		return result;
	if (is_folder(path))
		return add_folder(folder, error);
	return is_trace(file_name(path)) ? add_file(folder, file_name(path), error) :
					   gt_fail(error, "%s: expected a file kernel_K_block_B.mem", path);
}

static int compare(const void *left, const void *right)
{
	const struct gt_pptfile *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static int sort_files(struct gt_pptfolder *folder, struct gt_error *error)
{
	if (folder->n == 0)
		return gt_fail(error, "%s: expected files kernel_K_block_B.mem%s", folder->traces,
			       folder->sm_traces ? "; traces of an SM do not tell the blocks apart" : "");
	qsort(folder->files, folder->n, sizeof *folder->files, compare);
	for (size_t i = 1; i < folder->n; i++)
		if (compare(&folder->files[i - 1], &folder->files[i]) == 0)
			return gt_fail(error, "%s: expected one file for a block, found also %s",
				       folder->files[i].path, folder->files[i - 1].path);
	return 0;
}

/* Adds the paths of traces. If a configuration is among them it is used, and none is searched. */
static int add_paths(struct gt_pptfolder *folder, char *const paths[], size_t n, struct gt_error *error)
{
	const char *config = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(file_name(paths[i]), "app_config.py") == 0)
			config = paths[i];
		else if (add_path(folder, paths[i], error) != 0)
			return -1;
	}
	if (!folder->traces)
		return gt_fail(error, "%s: expected a folder with traces, or .mem files, too", config);
	if (!config)
		return 0;
	free(folder->config);
	folder->config = strdup(config);
	return folder->config ? 0 : gt_fail_memory(error, "a path");
}

/* ---- the launches of the files ---- */

/* The first of the sorted files of a launch, and how many there are. */
static const struct gt_pptfile *find_files(const struct gt_pptfolder *folder, uint64_t kernel, size_t *n)
{
	size_t low = 0, high = folder->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (folder->files[middle].kernel < kernel)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < folder->n && folder->files[end].kernel == kernel; end++)
		;
	*n = end - low;
	return folder->files + low;
}

/* Launches as the configuration has them. */
static int describe(struct gt_pptfolder *folder, struct gt_error *error)
{
	if (read_config(folder, error) != 0)
		return -1;
	for (size_t i = 0; i < folder->n; i++)
		if ((i == 0 || folder->files[i - 1].kernel != folder->files[i].kernel) && !find_launch(folder, folder->files[i].kernel))
			return gt_fail(error, "%s: expected a kernel that %s lists", folder->files[i].path, folder->config);
	for (size_t i = 0; i < folder->launches_n; i++) {
		struct gt_pptlaunch *launch = &folder->launches[i];
		launch->files = find_files(folder, launch->kernel.id, &launch->n);
	}
	return 0;
}

/* Launches as the names of the files give them. */
static int name_launches(struct gt_pptfolder *folder, struct gt_error *error)
{
	size_t n;

	for (size_t i = 0; i < folder->n; i += n) {
		struct gt_kernel kernel = {.id = folder->files[i].kernel, .grid = {0, 1, 1}};
		const struct gt_pptfile *files = find_files(folder, kernel.id, &n);

		snprintf(kernel.name, sizeof kernel.name, "kernel_%" PRIu64, kernel.id);
		kernel.grid[0] = files[n - 1].block + 1;
		if (add_launch(folder, &kernel, error) != 0)
			return -1;
		folder->launches[folder->launches_n - 1].files = files;
		folder->launches[folder->launches_n - 1].n = n;
	}
	return 0;
}

int gt_pptfolder_open(struct gt_pptfolder *folder, char *const paths[], size_t n, struct gt_error *error)
{
	struct stat status;

	*folder = (struct gt_pptfolder){0};
	if (add_paths(folder, paths, n, error) != 0 || sort_files(folder, error) != 0)
		return -1;
	return stat(folder->config, &status) == 0 ? describe(folder, error) : name_launches(folder, error);
}

void gt_pptfolder_close(struct gt_pptfolder *folder)
{
	for (size_t i = 0; i < folder->n; i++)
		free(folder->files[i].path);
	free(folder->files);
	free(folder->launches);
	free(folder->config);
	free(folder->traces);
	*folder = (struct gt_pptfolder){0};
}

bool gt_pptfolder_owns(const char *path)
{
	uint64_t kernel, number;
	bool sm, found = false;

	if (!is_folder(path))
		return scan_name(file_name(path), &kernel, &number, &sm);
	if (joined_exists(path, "memory_traces", true) || joined_exists(path, "app_config.py", false))
		return true;
	DIR *directory = opendir(path);

	for (struct dirent *file; directory && !found && (file = readdir(directory)) != NULL;)
		found = scan_name(file->d_name, &kernel, &number, &sm);
	if (directory)
		closedir(directory);
	return found;
}
