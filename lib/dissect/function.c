/* SPDX-License-Identifier: MIT */
#include "dissect/function.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX (UINT64_C(1) << 22) /* whose sets are stored */

static uint32_t power_above(uint32_t number)
{
	uint32_t power = 1;

	while (power < number)
		power *= 2;
	return power;
}

/* Finds the simplest kind of function that fits, with the smallest possible number of sets or with a power of two.
 * Sums of bits may show more sets than one sweep reaches. Returns the number of sets; 0: none fits. */
static uint32_t fit(const struct gt_evidence *evidence, struct gt_function *function, int *failed)
{
	uint32_t least = evidence->least_sets, power = power_above(least);

	for (unsigned kind = 0; kind < 3; kind++)
		for (uint32_t sets = least; sets <= GT_SETS_MAX && sets <= 4 * power; sets = sets < power ? power : 2 * sets) {
			int fits = kind == 0 ? gt_fit_named(evidence, sets, function)
					     : gt_fit_sums(evidence, sets, kind, function);
			*failed |= fits < 0;
			if (fits > 0 && (sets <= power || (kind == 1 && function->unique)))
				return sets;
			function->name = NULL;
		}
	return 0;
}

/* Maps the function's values to the numbers of the sets in the first sweep, and the other values to new numbers. */
static void name_values(const struct gt_evidence *evidence, struct gt_function *function, uint32_t *of_value,
			const uint32_t *values)
{
	uint8_t used[GT_SETS_MAX + 1] = {0};
	uint32_t next = 1;

	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++)
		if (evidence->sightings[i].group > 0) {
			of_value[values[i]] = evidence->sightings[i].group;
			used[evidence->sightings[i].group] = 1;
		}
	for (uint32_t value = 0; value < function->sets; value++)
		if (of_value[value] == 0) {
			while (used[next])
				next++;
			of_value[value] = next++;
		}
}

static uint32_t value_of(const struct gt_evidence *evidence, const struct gt_function *function, uint64_t number)
{
	if (strcmp(function->name, "bits") == 0)
		return gt_sums_value(function, number);
	return gt_named_value(evidence, function, function->sets, number);
}

static int fill_by_function(const struct gt_evidence *evidence, struct gt_function *function)
{
	uint32_t *of_value = calloc(function->sets, sizeof *of_value);
	uint32_t *values = calloc(evidence->n + 1, sizeof *values);
	int result = of_value && values ? 0 : -1;

	for (size_t i = 0; result == 0 && i < evidence->n; i++)
		values[i] = value_of(evidence, function, evidence->sightings[i].number);
	if (result == 0)
		name_values(evidence, function, of_value, values);
	for (uint64_t line = 0; result == 0 && line < function->lines; line++)
		function->set_of[line] = of_value[value_of(evidence, function, function->origin + line)];
	free(of_value);
	free(values);
	return result;
}

/* Puts lines into the sets that were observed. Lines that always hit fill as many further sets as they need. */
static void fill_as_seen(const struct gt_evidence *evidence, struct gt_function *function)
{
	uint64_t rest = 0, ways = evidence->ways[evidence->known];

	function->sets = evidence->least_sets;
	function->seen_lines = 0;
	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++) {
		const struct gt_sighting *sighting = &evidence->sightings[i];
		uint64_t line = sighting->number - evidence->origin;
		if (sighting->group > 0)
			function->set_of[line] = sighting->group;
		else if (evidence->equal)
			function->set_of[line] = evidence->known + 1 + (uint32_t)(rest++ / ways);
		function->seen_lines = line + 1;
	}
	if (evidence->equal && function->sets <= GT_SETS_MAX)
		function->name = "table";
}

static void find_extent(const struct gt_evidence *evidence, struct gt_function *function)
{
	while (function->seen_lines < function->lines &&
	       ((function->origin + function->seen_lines) ^ function->origin) == 
	       (((function->origin + function->seen_lines) ^ function->origin) & evidence->seen))
		function->seen_lines++;
	function->low = function->high = evidence->shift;
	while (evidence->seen >> (function->high - evidence->shift) & 1)
		function->high++;
}

int gt_find_function(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line, uint64_t bytes,
		     struct gt_function *function, struct gt_error *error)
{
	struct gt_evidence evidence;
	int failed = 0;

	memset(function, 0, sizeof *function);
	if (gt_evidence_gather(sweeps, n, base, line, &evidence, error) != 0)
		return -1;
	function->shift = evidence.shift;
	function->origin = evidence.origin;
	function->lines = (bytes + line - 1) / line < LINES_MAX ? (bytes + line - 1) / line : LINES_MAX;
	function->set_of = calloc(function->lines + 1, sizeof *function->set_of);
	function->sets = evidence.known > 0 && evidence.least_sets <= GT_SETS_MAX ? fit(&evidence, function, &failed) : 0;
	find_extent(&evidence, function);
	if (!function->set_of)
		failed = 1;
	else if (function->name)
		failed |= fill_by_function(&evidence, function) != 0;
	else
		fill_as_seen(&evidence, function);
	for (uint32_t set = 1; set <= function->sets && set <= GT_SETS_MAX; set++)
		function->ways[set] = evidence.equal ? evidence.ways[evidence.known] : evidence.ways[set];
	gt_evidence_clear(&evidence);
	return failed ? gt_fail_memory(error, "a set function") : 0;
}

void gt_function_clear(struct gt_function *function)
{
	free(function->set_of);
	memset(function, 0, sizeof *function);
}

struct text {
	char *buffer;
	size_t used;
};

static void put(struct text *text, const char *format, unsigned number)
{
	int length = snprintf(text->buffer + text->used, GT_FUNCTION_TEXT - text->used, format, number);

	text->used += (size_t)length;
	if (text->used >= GT_FUNCTION_TEXT)
		text->used = GT_FUNCTION_TEXT - 1;
}

static void put_sum(struct text *text, const struct gt_function *function, const struct gt_sum *sum)
{
	for (size_t i = 0, terms = 0; i < function->monomials; i++) {
		if (!(sum->has[i / 64] >> i % 64 & 1))
			continue;
		if (terms++)
			put(text, "^", 0);
		for (uint64_t mask = function->monomial[i]; mask; mask &= mask - 1)
			put(text, mask == function->monomial[i] ? "%u" : "&%u",
			    (unsigned)__builtin_ctzll(mask) + function->shift);
	}
}

/* The index of an entry is the line's number modulo the number of entries. Lines whose set is unknown get set 0. */
static void put_table(struct text *text, const struct gt_function *function)
{
	const char *format = function->sets > 256 ? "%03x" : function->sets > 16 ? "%02x" : "%x";
	uint64_t lines = function->seen_lines, shift = function->origin % lines;

	for (uint64_t entry = 0; entry < lines; entry++) {
		uint32_t set = function->set_of[(entry + lines - shift) % lines];
		put(text, format, set ? set - 1 : 0);
	}
}

const char *gt_function_text(const struct gt_function *function, char buffer[GT_FUNCTION_TEXT])
{
	struct text text = {buffer, 0};

	buffer[0] = '\0';
	put(&text, function->name, 0);
	if (strcmp(function->name, "smod") == 0)
		put(&text, ":%u", function->argument);
	for (int i = 0; strcmp(function->name, "bits") == 0 && i < function->bits; i++) {
		put(&text, i ? "," : ":", 0);
		put_sum(&text, function, &function->sum[i]);
	}
	if (strcmp(function->name, "table") == 0) {
		put(&text, ":", 0);
		put_table(&text, function);
	}
	if (text.used > GT_FUNCTION_TEXT - 2)
		buffer[0] = '\0';
	return buffer;
}
