/* SPDX-License-Identifier: MIT */
/* What is given of blocks: the SM that each is mapped to, and how long it runs. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/input.h"
#include "base/options.h"
#include "base/scan.h"
#include "schedule/schedule.h"

/* ---- which SM a block runs on ---- */

/* How many of n items an SM gets if they are assigned round-robin. */
static uint64_t share_of_sm(uint64_t n, uint32_t sm, uint32_t sms)
{
	return n > sm ? (n - sm - 1) / sms + 1 : 0;
}

static uint32_t rr_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(block % mapping->sms);
}

static uint64_t rr_count(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	return share_of_sm(blocks, sm, mapping->sms);
}

/* [000] BPART: partitions of consecutive blocks are assigned round-robin. */
static uint32_t part_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(block / mapping->parameter % mapping->sms);
}

static uint64_t part_count(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	uint64_t whole = blocks / mapping->parameter, rest = blocks % mapping->parameter;

	return share_of_sm(whole, sm, mapping->sms) * mapping->parameter + (whole % mapping->sms == sm ? rest : 0);
}

static uint32_t random_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(XXH3_64bits_withSeed(&block, sizeof block, mapping->parameter) % mapping->sms);
}

static const struct gt_mapping_kind kinds[] = {
	{"rr", NULL, 0, 0, false, true, rr_sm, rr_count},
	{"part", "blocks", 1, UINT32_MAX, false, false, part_sm, part_count},
	{"random", "seed", 0, UINT64_MAX, false, false, random_sm, NULL},
	{"trace", NULL, 0, 0, true, false, NULL, NULL},
};

int gt_mapping_parse(struct gt_mapping *mapping, const char *text, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	struct gt_error reason;

	*mapping = (struct gt_mapping){0};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length) != 0)
			continue;
		if (!kinds[i].parameter != (text[length] == '\0'))
			break;
		mapping->kind = &kinds[i];
		if (kinds[i].parameter && gt_parse_count(text + length + 1, kinds[i].min, kinds[i].max,
							 &mapping->parameter, &reason) != 0)
			return gt_fail(error, "%s: %s", kinds[i].parameter, reason.text);
		return 0;
	}
	return gt_fail(error, "'%.100s': expected rr, part:BLOCKS, random:SEED or trace", text);
}

int gt_mapping_open(struct gt_mapping *mapping, uint32_t sms, struct gt_error *error)
{
	mapping->sms = sms;
	mapping->counts = NULL;
	mapping->walked = 0;
	if (mapping->kind->count)
		return 0;
	mapping->counts = calloc(sms, sizeof *mapping->counts);
	return mapping->counts ? 0 : gt_fail_memory(error, "the blocks of every SM");
}

void gt_mapping_close(struct gt_mapping *mapping)
{
	free(mapping->counts);
	mapping->counts = NULL;
}

uint64_t gt_mapping_count(struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	if (mapping->kind->count)
		return mapping->kind->count(mapping, sm, blocks);
	for (; !mapping->kind->traced && mapping->walked < blocks; mapping->walked++)
		mapping->counts[gt_mapping_sm(mapping, mapping->walked)]++;
	return mapping->counts[sm];
}

/* ---- durations, as measured in a timed cache or on hardware: a file of lines "kernel block steps" ---- */

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
