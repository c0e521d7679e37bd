/* SPDX-License-Identifier: MIT */
#include "order/lines.h"

#include <stdlib.h>

#include "stream/count.h"
#include "stream/sources.h"

int gt_order_lines_add(struct gt_order_lines *lines, uint32_t pc, uint64_t line, struct gt_error *error)
{
	int fresh;

	if (!lines->by_pc.slots && gt_map_open(&lines->by_pc, 0, error) != 0)
		return -1;
	return gt_map_put(&lines->by_pc, pc, line, &fresh) ? 0 : gt_fail_memory(error, "source lines");
}

void gt_order_lines_clear(struct gt_order_lines *lines)
{
	if (lines->by_pc.slots)
		gt_map_close(&lines->by_pc);
	*lines = (struct gt_order_lines){0};
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Fills a count from arrays of n elements each. */
static int fill(struct gt_count *count, const uint64_t *pcs, const uint64_t *lines, const uint64_t *files, size_t n,
		const char *file, struct gt_error *error)
{
	if (gt_count_array(count, "pcs", pcs, n, error) != 0 || gt_count_array(count, "lines", lines, n, error) != 0 ||
	    gt_count_array(count, "files", files, n, error) != 0)
		return -1;
	return gt_count_text(count, "names", file, error);
}

int gt_order_lines_send(const struct gt_order_lines *lines, uint64_t launch, const char *file,
			const struct gt_output *output, struct gt_error *error)
{
	size_t n = lines->by_pc.used, found = 0;
	struct gt_count count;

	if (n == 0)
		return 0;
	uint64_t *arrays = calloc(3 * n, sizeof *arrays);
	if (!arrays)
		return gt_fail_memory(error, "source lines");
	for (size_t i = 0; i <= lines->by_pc.mask && found < n; i++)
		if (lines->by_pc.slots[i].key != GT_MAP_EMPTY)
			arrays[found++] = lines->by_pc.slots[i].key;
	qsort(arrays, n, sizeof *arrays, compare);
	for (size_t i = 0; i < n; i++)
		arrays[n + i] = *gt_map_get(&lines->by_pc, arrays[i]);
	gt_count_begin(&count, GT_SOURCES_STAGE, launch);
	int result = fill(&count, arrays, arrays + n, arrays + 2 * n, n, file, error);
	if (result == 0)
		result = output->count(output->context, &count, error);
	gt_count_clear(&count);
	free(arrays);
	return result;
}
