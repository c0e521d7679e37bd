/* SPDX-License-Identifier: MIT */
#include "import/pptfolder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grown.h"
#include "base/scan.h"
#include "import/import.h"

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

const struct gt_pptfile *gt_pptfolder_files(const struct gt_pptfolder *folder, uint64_t kernel, size_t *n)
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

int gt_pptfolder_open(struct gt_pptfolder *folder, char *const paths[], size_t n, struct gt_error *error)
{
	*folder = (struct gt_pptfolder){0};
	return add_paths(folder, paths, n, error) == 0 ? sort_files(folder, error) : -1;
}

void gt_pptfolder_close(struct gt_pptfolder *folder)
{
	for (size_t i = 0; i < folder->n; i++)
		free(folder->files[i].path);
	free(folder->files);
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
