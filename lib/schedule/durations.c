/* SPDX-License-Identifier: MIT */
/* The durations of blocks, as measured in a timed cache or on hardware: a file of lines "kernel block steps". */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/input.h"
#include "base/options.h"
#include "base/scan.h"
#include "schedule/schedule.h"

static bool scan(const char *line, uint64_t *kernel, uint64_t *block, uint64_t *steps)
{
	gt_scan_blanks(&line);
	if (!gt_scan_decimal(&line, kernel) || !gt_scan_gap(&line) || !gt_scan_decimal(&line, block) ||
	    !gt_scan_gap(&line) || !gt_scan_decimal(&line, steps))
		return false;
	gt_scan_blanks(&line);
	return (*line == '\0' || *line == '#') && *block <= UINT32_MAX && *steps < GT_DURATION_MAX;
}

int gt_durations_add(struct gt_durations *durations, const char *line, struct gt_error *error)
{
	uint64_t kernel, block, steps;
	const char *first = line;

	gt_scan_blanks(&first);
	if (*first == '\0' || *first == '#')
		return 0;
	if (!scan(line, &kernel, &block, &steps))
		return gt_fail(error, "'%.60s': expected kernel, block and steps below %" PRIu64, line, GT_DURATION_MAX);
	struct gt_duration *items = gt_grown(durations->items, durations->n, &durations->capacity, sizeof *durations->items);

	if (!items)
		return gt_fail_memory(error, "the steps of blocks");
	durations->items = items;
	durations->items[durations->n++] = (struct gt_duration){kernel, (uint32_t)block, (uint32_t)steps};
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct gt_duration *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

int gt_durations_sort(struct gt_durations *durations, struct gt_error *error)
{
	if (durations->n > 0)
		qsort(durations->items, durations->n, sizeof *durations->items, compare);
	for (size_t i = 1; i < durations->n; i++) {
		const struct gt_duration *item = &durations->items[i];
		if (compare(item, item - 1) == 0)
			return gt_fail(error, "block %" PRIu32 " of kernel %" PRIu64 " came twice: expected one line a block",
				       item->block, item->kernel);
	}
	return 0;
}

static int read_lines(struct gt_durations *durations, struct gt_input *input, struct gt_error *error)
{
	struct gt_error why;
	size_t length;
	char *line;
	int more;

	while ((more = gt_input_line(input, &line, &length, error)) > 0)
		if (gt_durations_add(durations, line, &why) != 0)
			return gt_fail(error, "%s:%" PRIu64 ": %s", gt_input_name(input), gt_input_line_number(input), why.text);
	return more;
}

int gt_durations_read(struct gt_durations *durations, const char *path, struct gt_error *error)
{
	struct gt_input *input = gt_input_open(path, error);
	struct gt_error why;

	if (!input)
		return -1;
	int result = read_lines(durations, input, error);
	if (gt_input_close(input, result == 0 ? error : &why) != 0 || result != 0)
		return -1;
	if (gt_durations_sort(durations, &why) != 0)
		return gt_fail(error, "%s: %s", path, why.text);
	return 0;
}

uint64_t gt_durations_of(const struct gt_durations *durations, uint64_t kernel, uint32_t block)
{
	const struct gt_duration key = {kernel, block, 0}, *found = NULL;

	if (durations->n > 0)
		found = bsearch(&key, durations->items, durations->n, sizeof key, compare);
	return found ? found->steps : 0;
}

void gt_durations_close(struct gt_durations *durations)
{
	free(durations->items);
	*durations = (struct gt_durations){0};
}
