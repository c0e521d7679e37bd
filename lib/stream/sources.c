/* SPDX-License-Identifier: MIT */
#include "stream/sources.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_pcs(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_source *)a)->pc, right = ((const struct gt_source *)b)->pc;

	return (left > right) - (left < right);
}

void gt_sources_clear(struct gt_sources *sources)
{
	free(sources->sources);
	free(sources->names);
	*sources = (struct gt_sources){0};
}

static int fail_shape(struct gt_error *error)
{
	return gt_fail(error, "source: expected the arrays pcs, lines and files, with one element per instruction, and the text "
		       "names, with a name per file");
}

static bool is_array(const struct gt_count_entry *entry, size_t n)
{
	return entry && entry->kind == GT_COUNT_ARRAY && entry->n == n;
}

/* Ends each name, and returns where name number i begins; NULL if there are fewer. */
static const char **split_names(char *names, size_t *n)
{
	size_t count = 1;

	for (const char *at = names; *at; at++)
		count += *at == ',';
	const char **starts = malloc(count * sizeof *starts);
	*n = 0;
	for (char *at = names; starts && at; (*n)++) {
		starts[*n] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	return starts;
}

int gt_sources_set(struct gt_sources *sources, const struct gt_count_entry *pcs, const struct gt_count_entry *lines,
		   const struct gt_count_entry *files, const struct gt_count_entry *names, struct gt_error *error)
{
	size_t n_files = 0;

	gt_sources_clear(sources);
	if (!pcs || !is_array(pcs, pcs->n) || !is_array(lines, pcs->n) || !is_array(files, pcs->n) || !names ||
	    names->kind != GT_COUNT_TEXT)
		return fail_shape(error);
	sources->sources = malloc((pcs->n + 1) * sizeof *sources->sources);
	sources->names = strdup(names->text);
	const char **starts = sources->names ? split_names(sources->names, &n_files) : NULL;
	if (!sources->sources || !starts) {
		free(starts);
		return gt_fail_memory(error, "source lines");
	}
	for (size_t i = 0; i < pcs->n && files->array[i] < n_files; i++, sources->n++)
		sources->sources[i] = (struct gt_source){.pc = pcs->array[i], .line = lines->array[i], .file = starts[files->array[i]]};
	free(starts);
	if (sources->n < pcs->n)
		return fail_shape(error);
	qsort(sources->sources, sources->n, sizeof *sources->sources, compare_pcs);
	return 0;
}

const struct gt_source *gt_sources_find(const struct gt_sources *sources, uint64_t pc)
{
	const struct gt_source wanted = {.pc = pc};

	return sources->n == 0 ? NULL : bsearch(&wanted, sources->sources, sources->n, sizeof wanted, compare_pcs);
}

const char *gt_source_format(const struct gt_source *source, char buffer[GT_SOURCE_TEXT])
{
	const char *slash = strrchr(source->file, '/'), *name = slash ? slash + 1 : source->file;
	char line[24];
	int room = GT_SOURCE_TEXT - 1 - snprintf(line, sizeof line, ":%" PRIu64, source->line);

	if ((int)strlen(name) > room)
		name += (int)strlen(name) - room;
	snprintf(buffer, GT_SOURCE_TEXT, "%s%s", name, line);
	return buffer;
}
