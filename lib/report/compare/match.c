/* SPDX-License-Identifier: MIT */
#include "report/compare/match.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The first name in a mangled one: "ns" of "_ZN2ns4gemmE..."; the rest is not demangled. */
static const char *mangled_name(const char *name, size_t *length)
{
	const char *at = name + 2;
	char *after;

	at += strcspn(at, "0123456789");
	unsigned long n = strtoul(at, &after, 10);
	if (after == at || n == 0 || n > strlen(after))
		return NULL;
	*length = n;
	return after;
}

/* The part of a kernel's name that profilers, compilers and traces agree on, and its length: no
 * return type, template arguments or parameters; of a mangled name ("_Z4gemmPf") the first name. */
static const char *plain_name(const char *name, size_t *length)
{
	const char *mangled = strncmp(name, "_Z", 2) == 0 ? mangled_name(name, length) : NULL;
	const char *end = name + strcspn(name, "(<"), *begin = end;

	if (mangled)
		return mangled;
	while (begin > name && begin[-1] != ' ')
		begin--;
	*length = (size_t)(end - begin);
	if (*length > 0)
		return begin;
	*length = strlen(name);
	return name;
}

bool gt_launch_alike(const struct gt_reference_launch *launch, const struct gt_kernel *kernel)
{
	size_t length, other_length;
	const char *name = plain_name(launch->name, &length), *other = plain_name(kernel->name, &other_length);

	return length == other_length && memcmp(name, other, length) == 0 &&
	       (!launch->grid[0] || memcmp(launch->grid, kernel->grid, sizeof launch->grid) == 0) &&
	       (!launch->block[0] || memcmp(launch->block, kernel->block, sizeof launch->block) == 0);
}

/* The hash of a name and of the shapes that are to be compared; an excluded shape counts as absent. */
static uint64_t likeness(const char *name, const uint32_t grid[3], const uint32_t block[3], bool with_grid,
			 bool with_block)
{
	size_t length;
	const char *plain = plain_name(name, &length);
	uint64_t key = XXH3_64bits_withSeed(plain, length, (uint64_t)with_grid + 2U * with_block);

	if (with_grid)
		key = XXH3_64bits_withSeed(grid, 3 * sizeof *grid, key);
	return with_block ? XXH3_64bits_withSeed(block, 3 * sizeof *block, key) : key;
}

static uint64_t numbered(uint64_t key, uint64_t ordinal)
{
	key = XXH3_64bits_withSeed(&ordinal, sizeof ordinal, key);
	return key - (key == GT_MAP_EMPTY);
}

/* The next ordinal among launches with this key, from 1; 0 when memory is short. */
static uint64_t next_ordinal(struct gt_map *ordinals, uint64_t key)
{
	int fresh;
	uint64_t *count = gt_map_put(ordinals, numbered(key, 0), 0, &fresh);

	return count ? ++*count : 0;
}

/* Enters each kernel under its name with and without its shapes. */
static int index_kernels(const struct gt_report *report, struct gt_map *places, struct gt_map *ordinals)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_kernel *kernel = &report->kernels[i].kernel;
		for (unsigned with = 0; with < 4; with++) {
			uint64_t key = likeness(kernel->name, kernel->grid, kernel->block, with & 1, with & 2);
			uint64_t ordinal = next_ordinal(ordinals, key);
			int fresh;
			if (ordinal == 0 || !gt_map_put(places, numbered(key, ordinal), i, &fresh))
				return -1;
		}
	}
	return 0;
}

static int match_all(const struct gt_reference *reference, const struct gt_map *places, struct gt_map *ordinals,
		     size_t *matches)
{
	for (size_t i = 0; i < reference->n; i++) {
		const struct gt_reference_launch *launch = &reference->launches[i];
		if (launch->invocations) {
			matches[i] = GT_NO_LAUNCH;
			continue;
		}
		uint64_t key = likeness(launch->name, launch->grid, launch->block, launch->grid[0] > 0, launch->block[0] > 0);
		uint64_t ordinal = launch->ordinal ? launch->ordinal : next_ordinal(ordinals, key);
		matches[i] = GT_NO_LAUNCH;
		if (ordinal == 0)
			return -1;
		const uint64_t *place = gt_map_get(places, numbered(key, ordinal));
		if (place && strcmp(launch->name, GT_REFERENCE_ALL) != 0)
			matches[i] = (size_t)*place;
	}
	return 0;
}

size_t *gt_match_launches(const struct gt_report *report, const struct gt_reference *reference, struct gt_error *error)
{
	size_t *matches = malloc((reference->n + 1) * sizeof *matches);
	struct gt_map places = {0}, ordinals = {0};
	int result = -1;

	if (matches && gt_map_open(&places, 4 * report->n, error) == 0 && gt_map_open(&ordinals, 0, error) == 0)
		result = index_kernels(report, &places, &ordinals);
	if (result == 0) {
		gt_map_clear(&ordinals);
		result = match_all(reference, &places, &ordinals, matches);
	}
	gt_map_close(&places);
	gt_map_close(&ordinals);
	if (result == 0)
		return matches;
	free(matches);
	gt_fail_memory(error, "matching kernels");
	return NULL;
}
