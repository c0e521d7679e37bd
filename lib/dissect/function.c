/* SPDX-License-Identifier: MIT */
#include "dissect/function.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The named functions: a number for each address, equal for those of one set. `argument` is tried from 0 to most. */
struct gt_candidate {
	const char *name;
	unsigned most;
	int powers_only; /* needs a power of two of sets */
	uint64_t (*value)(const struct gt_function *fit, uint64_t address, unsigned argument);
};

static uint64_t value_mod(const struct gt_function *fit, uint64_t address, unsigned argument)
{
	uint64_t number = address >> fit->shift >> argument;

	return fit->deal ? fit->deal[number % fit->places] : number % fit->sweep->sets;
}

/* [001] figure 12: 128 successive bytes share a set. */
static uint64_t value_texture(const struct gt_function *fit, uint64_t address, unsigned argument)
{
	(void)argument;
	return fit->shift < 7 && !fit->deal ? (address >> 7) % fit->sweep->sets : address;
}

static unsigned log2_of(uint64_t number)
{
	unsigned bits = 0;

	while (number >>= 1)
		bits++;
	return bits;
}

static uint64_t value_xor(const struct gt_function *fit, uint64_t address, unsigned argument)
{
	unsigned bits = log2_of(fit->sweep->sets);
	uint64_t value = 0;

	(void)argument;
	for (uint64_t rest = address >> fit->shift; bits > 0 && rest; rest >>= bits)
		value ^= rest;
	return value & (((uint64_t)1 << bits) - 1);
}

/* [002] 5.1. */
static uint64_t value_fermi(const struct gt_function *fit, uint64_t address, unsigned argument)
{
	uint64_t five = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4;

	(void)argument;
	if (fit->shift > 7 || (fit->sweep->sets != 32 && fit->sweep->sets != 64))
		return address;
	return (address >> 7 & (fit->sweep->sets - 1)) ^ five;
}

static const struct gt_candidate candidates[] = {
	{"mod", 0, 0, value_mod},
	{"texture", 0, 1, value_texture},
	{"smod", 16, 0, value_mod},
	{"xor", 0, 1, value_xor},
	{"fermi", 0, 1, value_fermi},
};

/* Unequal sets: units are dealt to them in turn, one each, until each has as many as it holds (gcache --sets). */
static int make_deal(struct gt_function *fit)
{
	const struct gt_sweep *sweep = fit->sweep;
	int equal = 1;

	for (uint32_t s = 1; s <= sweep->sets; s++) {
		fit->places += sweep->ways[s] / fit->factor;
		equal &= sweep->ways[s] == sweep->ways[1];
	}
	if (equal)
		return 0;
	fit->deal = calloc(fit->places, sizeof *fit->deal);
	if (!fit->deal)
		return -1;
	for (uint64_t turn = 0, n = 0; n < fit->places; turn++)
		for (uint32_t s = 1; s <= sweep->sets; s++)
			if (sweep->ways[s] / fit->factor > turn)
				fit->deal[n++] = s - 1;
	return 0;
}

/* Whether the values and the sets found are the same but for their names. */
static int agrees(struct gt_function *fit, const struct gt_candidate *candidate, unsigned argument)
{
	const struct gt_sweep *sweep = fit->sweep;
	uint32_t *named = fit->named, of_set[GT_SETS_MAX + 1];

	memset(fit->named, 0, sizeof fit->named);
	memset(of_set, 0, sizeof of_set);
	for (size_t u = 0; u < sweep->units; u++) {
		uint64_t value = candidate->value(fit, fit->base + u * sweep->unit, argument);
		uint32_t set = sweep->set[u];
		if (set == 0)
			continue;
		if (value >= sweep->sets)
			return 0;
		if (named[value] == 0 && of_set[set] == 0) {
			named[value] = set;
			of_set[set] = (uint32_t)value + 1;
		} else if (named[value] != set) {
			return 0;
		}
	}
	return 1;
}

/* ---- XOR sums: the differences of units of one set are a space over GF(2); the sums vanish on it ---- */

struct space {
	uint64_t row[64]; /* row[i] has i as its highest bit, or is 0 */
};

static uint64_t reduce(const struct space *space, uint64_t vector)
{
	for (int i = 63; i >= 0; i--)
		if (vector >> i & 1)
			vector ^= space->row[i];
	return vector;
}

static void extend(struct space *space, uint64_t vector)
{
	vector = reduce(space, vector);
	if (vector)
		space->row[log2_of(vector)] = vector;
}

/* Makes each leading bit stand in its own row only. */
static void tidy(struct space *space)
{
	for (int i = 0; i < 64; i++)
		for (int j = i + 1; j < 64; j++)
			if (space->row[i] && (space->row[j] >> i & 1))
				space->row[j] ^= space->row[i];
}

/* A sum for each bit that leads no row: that bit, and the leading bits of the rows it stands in. */
static int find_sums(const struct space *space, uint64_t seen, struct gt_function *function)
{
	int n = 0;

	for (int i = 0; i < 64; i++) {
		if (!(seen >> i & 1) || space->row[i])
			continue;
		if (n == 32)
			return -1;
		function->sum[n] = (uint64_t)1 << i;
		for (int j = i + 1; j < 64; j++)
			if (space->row[j] >> i & 1)
				function->sum[n] |= (uint64_t)1 << j;
		n++;
	}
	return n;
}

static uint64_t value_sums(const struct gt_function *function, uint64_t number)
{
	uint64_t value = 0;

	for (int i = 0; i < function->bits; i++)
		value |= (uint64_t)(__builtin_popcountll(number & function->sum[i]) & 1) << i;
	return value;
}

static int linear(struct gt_function *function)
{
	const struct gt_sweep *sweep = function->sweep;
	struct space space = {{0}};
	uint64_t first[GT_SETS_MAX + 1], origin = function->base >> function->shift, seen = 0;
	uint8_t met[GT_SETS_MAX + 1] = {0};

	memset(function->named, 0, sizeof function->named);
	for (size_t u = 0; u < sweep->units; u += function->factor) {
		uint64_t number = (function->base + u * sweep->unit) >> function->shift;
		uint32_t set = sweep->set[u];
		if (set == 0)
			continue;
		seen |= number ^ origin;
		if (met[set])
			extend(&space, number ^ first[set]);
		else
			first[set] = number;
		met[set] = 1;
	}
	tidy(&space);
	int bits = find_sums(&space, seen, function);
	if (bits < 0 || bits > 12 || (uint32_t)1 << bits != sweep->sets)
		return 0;
	function->bits = bits;
	for (size_t u = 0; u < sweep->units; u++) {
		uint64_t number = (function->base + u * sweep->unit) >> function->shift;
		uint32_t *name = &function->named[value_sums(function, number)];
		if (*name == 0)
			*name = sweep->set[u];
		if (sweep->set[u] && *name != sweep->set[u])
			return 0;
	}
	return 1;
}

static void find_named(struct gt_function *function)
{
	int power = (function->sweep->sets & (function->sweep->sets - 1)) == 0 && !function->deal;

	for (size_t c = 0; c < sizeof candidates / sizeof candidates[0]; c++)
		for (unsigned argument = 0; argument <= candidates[c].most; argument++)
			if (!function->name && (power || !candidates[c].powers_only) &&
			    agrees(function, &candidates[c], argument)) {
				function->name = candidates[c].name;
				function->candidate = &candidates[c];
				function->argument = argument;
			}
}

int gt_find_function(const struct gt_sweep *sweep, uint64_t base, uint64_t line, struct gt_function *function,
		     struct gt_error *error)
{
	memset(function, 0, sizeof *function);
	function->sweep = sweep;
	function->base = base;
	function->factor = line / sweep->unit;
	function->low = function->shift = log2_of(line);
	for (size_t u = 0; u < sweep->units; u++)
		if (sweep->set[u])
			function->high = log2_of(u * sweep->unit + 1) + 1;
	if (make_deal(function) != 0)
		return gt_fail_memory(error, "the sets of a sweep");
	if (sweep->sets == 0 || (uint64_t)1 << function->shift != line)
		return 0;
	find_named(function);
	if (!function->name && !function->deal && (sweep->sets & (sweep->sets - 1)) == 0 && linear(function))
		function->name = "";
	if (function->name && function->name[0] != '\0')
		function->bits = 0;
	return 0;
}

uint32_t gt_function_set(const struct gt_function *function, uint64_t unit)
{
	const struct gt_sweep *sweep = function->sweep;
	uint64_t address = function->base + unit * sweep->unit;

	if (!function->name)
		return unit < sweep->units ? sweep->set[unit] : 0;
	if (!function->candidate)
		return function->named[value_sums(function, address >> function->shift)];
	return function->named[function->candidate->value(function, address, function->argument)];
}

void gt_function_clear(struct gt_function *function)
{
	free(function->deal);
	memset(function, 0, sizeof *function);
}

const char *gt_function_sums(const struct gt_function *function, char *buffer, size_t bytes)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (int i = 0; i < function->bits; i++)
		for (unsigned bit = 0, terms = 0; bit < 64; bit++)
			if ((function->sum[i] << function->shift >> bit & 1) && used < bytes)
				used += (size_t)snprintf(buffer + used, bytes - used, "%s%u", terms++ ? "^" : i ? " " : "", bit);
	return buffer;
}
