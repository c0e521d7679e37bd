/* SPDX-License-Identifier: MIT */
#include "import/formats.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grown.h"

#define ADDRESS(NAME) &gt_import_##NAME,

const struct gt_importer *const gt_importers[] = {GT_FORMATS(ADDRESS)};
const size_t gt_importers_n = sizeof gt_importers / sizeof *gt_importers;

const struct gt_importer *gt_importer_find(const char *name)
{
	for (size_t i = 0; i < gt_importers_n; i++)
		if (strcmp(gt_importers[i]->name, name) == 0)
			return gt_importers[i];
	return NULL;
}

const struct gt_importer *gt_importer_detect(const char *head, size_t bytes)
{
	for (size_t i = 0; i < gt_importers_n; i++)
		if (gt_importers[i]->detect && gt_importers[i]->detect(head, bytes))
			return gt_importers[i];
	return NULL;
}

/* ---- folders ---- */

static int compare_numbers(const char **a, const char **b)
{
	size_t digits_a, digits_b;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	digits_a = strspn(*a, "0123456789");
	digits_b = strspn(*b, "0123456789");
	int order = digits_a != digits_b ? (digits_a > digits_b) - (digits_a < digits_b) : memcmp(*a, *b, digits_a);
	*a += digits_a;
	*b += digits_b;
	return order;
}

/* kernel-2 before kernel-10. */
static int compare_paths(const void *left, const void *right)
{
	const char *const *paths[] = {left, right};
	const char *a = *paths[0], *b = *paths[1];

	while (*a && *b) {
		bool numbers = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
		int order = numbers ? compare_numbers(&a, &b) : (unsigned char)*a - (unsigned char)*b;
		if (order != 0)
			return order;
		a += !numbers;
		b += !numbers;
	}
	return *a || *b ? (*a != '\0') - (*b != '\0') : strcmp(*paths[0], *paths[1]);
}

/* Whether a name ends so, compressed or not. */
static bool ends_in(const char *name, const char *ending)
{
	static const char *const compressed[] = {"", ".gz", ".bz2", ".xz", ".zst"};
	size_t length = strlen(name), bytes = strlen(ending);

	for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++) {
		size_t end = bytes + strlen(compressed[i]);
		if (length > end && memcmp(name + length - end, ending, bytes) == 0 && strcmp(name + length - end + bytes, compressed[i]) == 0)
			return true;
	}
	return false;
}

static int add_path(struct gt_import_folder *folder, size_t *capacity, const char *path, const char *name, struct gt_error *error)
{
	size_t length = strlen(path), bytes = length + strlen(name) + 2;
	char **paths = gt_grown(folder->paths, folder->n, capacity, sizeof *paths);
	char *joined = paths ? malloc(bytes) : NULL;

	folder->paths = paths ? paths : folder->paths;
	if (!joined)
		return gt_fail_memory(error, "the names of files");
	snprintf(joined, bytes, "%s%s%s", path, length > 0 && path[length - 1] == '/' ? "" : "/", name);
	folder->paths[folder->n++] = joined;
	return 0;
}

/* Adds the files whose names end so. */
static int add_ending(struct gt_import_folder *folder, const char *path, const char *ending, struct gt_error *error)
{
	DIR *directory = opendir(path);
	size_t capacity = 0;
	struct dirent *file;
	int result = 0;

	if (!directory)
		return gt_fail_errno(error, "%s", path);
	errno = 0;
	while (result == 0 && (file = readdir(directory)) != NULL)
		result = ends_in(file->d_name, ending) ? add_path(folder, &capacity, path, file->d_name, error) : 0;
	if (result == 0 && errno != 0)
		result = gt_fail_errno(error, "%s", path);
	closedir(directory);
	if (folder->n > 1)
		qsort(folder->paths, folder->n, sizeof *folder->paths, compare_paths);
	return result;
}

static int add_list(struct gt_import_folder *folder, const char *path, const char *list, struct gt_error *error)
{
	size_t capacity = 0;

	if (add_path(folder, &capacity, path, list, error) != 0)
		return -1;
	if (access(folder->paths[0], F_OK) == 0)
		return 0;
	free(folder->paths[0]);
	folder->n = 0;
	free(folder->paths);
	folder->paths = NULL;
	return 0;
}

int gt_import_folder_open(struct gt_import_folder *folder, const char *path, const struct gt_importer *forced, struct gt_error *error)
{
	struct stat status;
	int result = 0;

	*folder = (struct gt_import_folder){.n = 0};
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return 0;
	folder->is_one = true;
	for (size_t i = 0; i < gt_importers_n && result == 0 && folder->n == 0; i++)
		if (gt_importers[i]->folder_list)
			result = add_list(folder, path, gt_importers[i]->folder_list, error);
	for (size_t i = 0; i < gt_importers_n && result == 0 && folder->n == 0; i++) {
		const char *const *ending = forced && gt_importers[i] != forced ? NULL : gt_importers[i]->folder_endings;
		folder->lacks = gt_importers[i]->folder_list;
		for (; ending && *ending && result == 0 && folder->n == 0; ending++)
			result = add_ending(folder, path, *ending, error);
	}
	return result;
}

void gt_import_folder_close(struct gt_import_folder *folder)
{
	for (size_t i = 0; i < folder->n; i++)
		free(folder->paths[i]);
	free(folder->paths);
	*folder = (struct gt_import_folder){.n = 0};
}

const struct gt_importer *gt_importer_of_paths(const struct gt_importer *forced, char *const paths[],
					       size_t n)
{
	if (forced)
		return forced->read_paths ? forced : NULL;
	for (size_t i = 0; i < gt_importers_n; i++)
		for (size_t p = 0; gt_importers[i]->owns_path && p < n; p++)
			if (gt_importers[i]->owns_path(paths[p]))
				return gt_importers[i];
	return NULL;
}
