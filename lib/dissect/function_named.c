/* SPDX-License-Identifier: MIT */
/* The set functions that have a name. */
#include <stdlib.h>

#include "dissect/function.h"

struct candidate {
	const char *name;
	unsigned most;	 /* argument is tried from 0 to this */
	int powers_only; /* needs equal sets, a power of two of them */
	uint32_t (*value)(const struct gt_evidence *evidence, uint32_t sets, unsigned argument, uint64_t number);
};

/* Unequal sets: lines are assigned round-robin; a set that is full is skipped until the round restarts (gcache --sets). */
static uint32_t round_robin_set(const struct gt_evidence *evidence, uint64_t number)
{
	uint64_t places = 0, place;

	for (uint32_t s = 1; s <= evidence->known; s++)
		places += evidence->ways[s];
	place = number % places;
	for (uint64_t turn = 0;; turn++)
		for (uint32_t s = 1; s <= evidence->known; s++)
			if (evidence->ways[s] > turn && place-- == 0)
				return s - 1;
}

static uint32_t value_mod(const struct gt_evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	number >>= argument;
	return evidence->equal ? (uint32_t)(number % sets) : round_robin_set(evidence, number);
}

/* [001] figure 12: 128 successive bytes share a set. */
static uint32_t value_texture(const struct gt_evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	(void)argument;
	return evidence->shift < 7 ? (uint32_t)((number << evidence->shift >> 7) % sets) : UINT32_MAX;
}

static uint32_t value_xor(const struct gt_evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	uint64_t value = 0;

	(void)evidence, (void)argument;
	for (; sets > 1 && number; number /= sets)
		value ^= number;
	return (uint32_t)value & (sets - 1);
}

/* [002] 5.1. */
static uint32_t value_fermi(const struct gt_evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	uint64_t address = number << evidence->shift;
	uint64_t five = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4;

	(void)argument;
	if (evidence->shift != 7 || (sets != 32 && sets != 64))
		return UINT32_MAX;
	return (uint32_t)((address >> 7 & (sets - 1)) ^ five);
}

static const struct candidate candidates[] = {
	{"mod", 0, 0, value_mod},
	{"texture", 0, 1, value_texture},
	{"smod", 16, 0, value_mod},
	{"xor", 0, 1, value_xor},
	{"fermi", 0, 1, value_fermi},
};
#define CANDIDATES (sizeof candidates / sizeof candidates[0])

static int fits(const struct gt_evidence *evidence, uint32_t sets, const struct candidate *candidate, unsigned argument,
		uint32_t *values)
{
	for (size_t i = 0; i < evidence->n; i++)
		values[i] = candidate->value(evidence, sets, argument, evidence->sightings[i].number);
	return gt_evidence_allows(evidence, values, sets);
}

int gt_fit_named(const struct gt_evidence *evidence, uint32_t sets, struct gt_function *function)
{
	int power = (sets & (sets - 1)) == 0 && evidence->equal, result = 0;
	uint32_t *values = malloc((evidence->n + 1) * sizeof *values);

	if (!values)
		return -1;
	for (size_t c = 0; c < CANDIDATES && result == 0; c++) {
		if (!power && candidates[c].powers_only)
			continue;
		for (unsigned argument = 0; argument <= candidates[c].most && result == 0; argument++) {
			result = fits(evidence, sets, &candidates[c], argument, values);
			if (result > 0) {
				function->name = candidates[c].name;
				function->argument = argument;
				function->unique = 1;
			}
		}
	}
	free(values);
	return result;
}

uint32_t gt_named_value(const struct gt_evidence *evidence, const struct gt_function *function, uint32_t sets,
			uint64_t number)
{
	for (size_t c = 0; c < CANDIDATES; c++)
		if (candidates[c].name == function->name)
			return candidates[c].value(evidence, sets, function->argument, number);
	return 0;
}
