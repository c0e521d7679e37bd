/* SPDX-License-Identifier: MIT */
/* The index function of the sets that sweeps found. The sweeps are evidence of lines that share a set, of lines that do not, and of
 * lines that are in no set that overflowed. Functions are tried against it, the simplest first: those that have a name, sums of
 * address bits, and sums of bits and products of two. If none fits, the lines are put into sets as they were seen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/sets.h"

#define NONE UINT32_MAX
#define LINES_MAX (UINT64_C(1) << 22) /* whose sets are stored */
#define DIMENSIONS_MAX 12 /* of the null space, for an exhaustive search */
#define CHOICES_MAX 256	  /* sums with the fewest terms whose combinations are tried */
#define TRIALS_MAX 20000
#define WORDS (GT_MONOMIALS_MAX / 64)

/* ---- evidence ---- */

struct sighting {
	uint64_t number; /* of the line: address / line */
	uint32_t group;	 /* of lines that share a set, from 1; in the first sweep the set; 0: in no set that overflowed */
	uint32_t sweep;
};

struct evidence {
	struct sighting *sightings; /* sweep by sweep */
	size_t n;
	uint32_t groups;     /* highest group */
	uint32_t known;	     /* sets of the first sweep */
	uint32_t ways[GT_SETS_MAX + 1]; /* lines, of each of them */
	bool equal;	     /* they have the same number of ways */
	uint64_t rest;	     /* lines of sets that did not overflow */
	uint32_t least_sets; /* needed for all lines, if the sets are equal */
	uint64_t origin, seen; /* number of the first line; bits of the number that vary */
	uint64_t line, base;
	unsigned shift; /* log2 of the line */
};

static void see(struct evidence *evidence, uint64_t line, uint32_t group, size_t sweep)
{
	uint64_t number = (evidence->base >> evidence->shift) + line;

	evidence->sightings[evidence->n++] = (struct sighting){number, group, (uint32_t)sweep};
	evidence->seen |= number ^ evidence->origin;
	evidence->rest += group == 0;
	evidence->groups = group > evidence->groups ? group : evidence->groups;
}

/* A set of the first run may be two sets that overflowed together: then its size differs from that of the others. */
static bool merged(const struct gt_sweep *sweep, uint32_t set)
{
	return sweep->overflow[set] == 0 && sweep->sets > 1 &&
	       sweep->ways[set] != sweep->ways[set == 1 ? 2 : 1];
}

static void see_main(struct evidence *evidence, const struct gt_sweep *sweep)
{
	uint64_t factor = evidence->line / sweep->unit;

	for (size_t u = 0; u < sweep->units; u += factor) {
		uint32_t set = 0;
		bool missing = false;
		for (size_t part = u; part < u + factor && part < sweep->units; part++) {
			set = sweep->set[part] ? sweep->set[part] : set;
			missing |= sweep->missing[part];
		}
		if ((set > 0 && !merged(sweep, set)) || !missing)
			see(evidence, u / factor, set, 0);
	}
	evidence->known = sweep->sets;
	evidence->equal = true;
	for (uint32_t s = 1; s <= sweep->sets; s++) {
		evidence->ways[s] = sweep->ways[s] / (uint32_t)factor;
		evidence->equal &= evidence->ways[s] == evidence->ways[1] || merged(sweep, s);
	}
}

static void see_other(struct evidence *evidence, const struct gt_sweep *sweep, size_t i)
{
	uint64_t lines = sweep->unit / evidence->line;
	uint32_t before = evidence->groups;

	for (size_t u = 0; u < sweep->units; u++)
		if (sweep->set[u] > 0)
			see(evidence, u * lines, before + sweep->set[u], i);
}

/* In sweeps[0] units may be parts of lines; in the others lines are whole strides. Lines whose set is unknown are left out. */
static int gather_evidence(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line,
		       struct evidence *evidence, struct gt_error *error)
{
	size_t most = 0;

	*evidence = (struct evidence){.line = line, .base = base, .shift = (unsigned)__builtin_ctzll(line)};
	evidence->origin = base >> evidence->shift;
	for (size_t i = 0; i < n; i++)
		most += sweeps[i].units;
	evidence->sightings = calloc(most + 1, sizeof *evidence->sightings);
	if (!evidence->sightings)
		return gt_fail_memory(error, "the sets of lines");
	see_main(evidence, &sweeps[0]);
	for (size_t i = 1; i < n; i++)
		see_other(evidence, &sweeps[i], i);
	uint32_t ways = evidence->known ? evidence->ways[evidence->known] : 0;
	evidence->least_sets = evidence->known;
	if (evidence->equal && ways > 0)
		evidence->least_sets += (uint32_t)((evidence->rest + ways - 1) / ways);
	return 0;
}

static void clear_evidence(struct evidence *evidence)
{
	free(evidence->sightings);
	*evidence = (struct evidence){0};
}

/* Whether these values below `sets`, one for each sighting, can be the numbers of the sets: 1 or 0; -1 when memory is short. */
static int allows(const struct evidence *evidence, const uint32_t *values, uint32_t sets)
{
	uint32_t *of_group = malloc((evidence->groups + 1) * sizeof *of_group), *owner = malloc(sets * sizeof *owner);
	uint32_t *known = malloc(sets * sizeof *known), *rest = calloc(sets, sizeof *rest), sweep = 0;
	int allowed = of_group && owner && known && rest ? 1 : -1;

	if (allowed > 0) {
		memset(of_group, 0xff, (evidence->groups + 1) * sizeof *of_group);
		memset(owner, 0xff, sets * sizeof *owner);
		memset(known, 0xff, sets * sizeof *known);
	}
	for (size_t i = 0; allowed > 0 && i < evidence->n; i++) {
		const struct sighting *sighting = &evidence->sightings[i];
		uint32_t value = values[i], group = sighting->group;
		if (sighting->sweep != sweep)
			memset(owner, 0xff, sets * sizeof *owner);
		sweep = sighting->sweep;
		allowed = value < sets;
		if (!allowed)
			break;
		if (group == 0) {
			rest[value]++;
		} else if (of_group[group] == NONE) {
			allowed = owner[value] == NONE;
			of_group[group] = owner[value] = value;
			if (sweep == 0)
				known[value] = group;
		} else {
			allowed = of_group[group] == value;
		}
	}
	for (uint32_t value = 0; allowed > 0 && value < sets; value++)
		allowed = rest[value] == 0 || (known[value] == NONE && rest[value] <= evidence->ways[evidence->known]);
	free(of_group);
	free(owner);
	free(known);
	free(rest);
	return allowed;
}

/* ---- functions that have a name ---- */

struct candidate {
	const char *name;
	unsigned most;	 /* argument is tried from 0 to this */
	bool powers_only; /* needs equal sets, a power of two of them */
	uint32_t (*value)(const struct evidence *evidence, uint32_t sets, unsigned argument, uint64_t number);
};

/* Unequal sets: lines are assigned round-robin; a set that is full is skipped until the round restarts (gcache --sets). */
static uint32_t round_robin_set(const struct evidence *evidence, uint64_t number)
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

static uint32_t value_mod(const struct evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	number >>= argument;
	return evidence->equal ? (uint32_t)(number % sets) : round_robin_set(evidence, number);
}

/* [001] figure 12: 128 successive bytes share a set. */
static uint32_t value_texture(const struct evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	(void)argument;
	return evidence->shift < 7 ? (uint32_t)((number << evidence->shift >> 7) % sets) : UINT32_MAX;
}

static uint32_t value_xor(const struct evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	uint64_t value = 0;

	(void)evidence, (void)argument;
	for (; sets > 1 && number; number /= sets)
		value ^= number;
	return (uint32_t)value & (sets - 1);
}

/* [002] 5.1. */
static uint32_t value_fermi(const struct evidence *evidence, uint32_t sets, unsigned argument, uint64_t number)
{
	uint64_t address = number << evidence->shift;
	uint64_t five = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4;

	(void)argument;
	if (evidence->shift != 7 || (sets != 32 && sets != 64))
		return UINT32_MAX;
	return (uint32_t)((address >> 7 & (sets - 1)) ^ five);
}

static const struct candidate candidates[] = {
	{"mod", 0, false, value_mod},
	{"texture", 0, true, value_texture},
	{"smod", 16, false, value_mod},
	{"xor", 0, true, value_xor},
	{"fermi", 0, true, value_fermi},
};
#define CANDIDATES (sizeof candidates / sizeof candidates[0])

static int fits(const struct evidence *evidence, uint32_t sets, const struct candidate *candidate, unsigned argument,
		uint32_t *values)
{
	for (size_t i = 0; i < evidence->n; i++)
		values[i] = candidate->value(evidence, sets, argument, evidence->sightings[i].number);
	return allows(evidence, values, sets);
}

/* Tries the functions with names, the simplest first. Returns 1 if one fits, else 0; -1: out of memory. */
static int fit_named(const struct evidence *evidence, uint32_t sets, struct gt_function *function)
{
	bool power = (sets & (sets - 1)) == 0 && evidence->equal;
	int result = 0;
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
				function->unique = true;
			}
		}
	}
	free(values);
	return result;
}

static uint32_t named_value(const struct evidence *evidence, const struct gt_function *function, uint32_t sets,
			uint64_t number)
{
	for (size_t c = 0; c < CANDIDATES; c++)
		if (candidates[c].name == function->name)
			return candidates[c].value(evidence, sets, function->argument, number);
	return 0;
}

/* ---- sums ---- */

/* Set functions whose bits are sums over GF(2) of address bits and of products of two. Each line is lifted to the
 * vector of its monomials. A sum is constant on lines that share a set if it is 0 on their differences, so all such
 * sums are the null space of the differences. */

struct space {
	struct gt_sum row[GT_MONOMIALS_MAX]; /* row[i] has i as its highest monomial */
	bool full[GT_MONOMIALS_MAX];
};

struct search {
	const struct evidence *evidence;
	struct gt_function *function;
	uint32_t sets;
	struct gt_sum basis[GT_MONOMIALS_MAX];
	size_t dimensions;
	struct choice {
		struct gt_sum sum;
		unsigned terms;
	} *choices;
	size_t choices_n, chosen[GT_SUMS_MAX];
	uint32_t *values;
	unsigned trials;
};

static bool has(const struct gt_sum *sum, size_t i)
{
	return sum->has[i / 64] >> i % 64 & 1;
}

static void add(struct gt_sum *sum, const struct gt_sum *other)
{
	for (int i = 0; i < WORDS; i++)
		sum->has[i] ^= other->has[i];
}

static struct gt_sum lift(const struct gt_function *function, uint64_t number)
{
	struct gt_sum vector = {{0}};

	for (size_t i = 0; i < function->monomials; i++)
		if ((number & function->monomial[i]) == function->monomial[i])
			vector.has[i / 64] |= UINT64_C(1) << i % 64;
	return vector;
}

static void extend(struct space *space, struct gt_sum vector, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		if (!has(&vector, i))
			continue;
		if (!space->full[i]) {
			space->row[i] = vector;
			space->full[i] = true;
			return;
		}
		add(&vector, &space->row[i]);
	}
}

/* Eliminates each leading monomial from the other rows. */
static void tidy(struct space *space, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (space->full[i] && space->full[j] && has(&space->row[j], i))
				add(&space->row[j], &space->row[i]);
}

/* Lists the bits that vary, lowest first, then products of two of them. */
static bool list_monomials(const struct evidence *evidence, unsigned degree, struct gt_function *function)
{
	size_t n = 0, bits;

	for (unsigned bit = 0; bit < 64; bit++)
		if (evidence->seen >> bit & 1)
			function->monomial[n++] = UINT64_C(1) << bit;
	bits = n;
	for (size_t i = 0; degree > 1 && i < bits; i++)
		for (size_t j = i + 1; j < bits; j++) {
			if (n == GT_MONOMIALS_MAX)
				return false;
			function->monomial[n++] = function->monomial[i] | function->monomial[j];
		}
	function->monomials = n;
	return true;
}

/* A basis vector for each monomial that leads no row: that monomial, and the leading monomials of the rows that
 * contain it. */
static void find_basis(struct search *search, const struct space *space)
{
	size_t n = search->function->monomials;

	for (size_t i = 0; i < n; i++) {
		struct gt_sum *sum = &search->basis[search->dimensions];
		if (space->full[i])
			continue;
		*sum = (struct gt_sum){{0}};
		sum->has[i / 64] |= UINT64_C(1) << i % 64;
		for (size_t j = i + 1; j < n; j++)
			if (space->full[j] && has(&space->row[j], i))
				sum->has[j / 64] |= UINT64_C(1) << j % 64;
		search->dimensions++;
	}
}

static int find_null_space(struct search *search)
{
	const struct evidence *evidence = search->evidence;
	size_t n = search->function->monomials;
	struct space *space = calloc(1, sizeof *space);
	struct gt_sum *first = calloc(evidence->groups + 1, sizeof *first);
	bool *met = calloc(evidence->groups + 1, sizeof *met);
	int result = space && first && met ? 0 : -1;

	for (size_t i = 0; result == 0 && i < evidence->n; i++) {
		uint32_t group = evidence->sightings[i].group;
		struct gt_sum vector = lift(search->function, evidence->sightings[i].number);
		if (group == 0)
			continue;
		if (!met[group])
			first[group] = vector;
		met[group] = true;
		add(&vector, &first[group]);
		extend(space, vector, n);
	}
	if (result == 0) {
		tidy(space, n);
		find_basis(search, space);
	}
	free(space);
	free(first);
	free(met);
	return result;
}

static int value_of_sum(const struct gt_sum *sum, const struct gt_sum *lifted)
{
	uint64_t all = 0;

	for (int i = 0; i < WORDS; i++)
		all ^= sum->has[i] & lifted->has[i];
	return __builtin_parityll(all);
}

static uint32_t sums_value(const struct gt_function *function, uint64_t number)
{
	struct gt_sum lifted = lift(function, number);
	uint32_t value = 0;

	for (int i = 0; i < function->bits; i++)
		value |= (uint32_t)value_of_sum(&function->sum[i], &lifted) << i;
	return value;
}

static int allowed(struct search *search)
{
	for (size_t i = 0; i < search->evidence->n; i++)
		search->values[i] = sums_value(search->function, search->evidence->sightings[i].number);
	return allows(search->evidence, search->values, search->sets);
}

/* Whether a sum can be a bit of the set: each of its values has at most as many lines of the first sweep as half of
 * the sets hold when each has one line too many. */
static bool halves(const struct search *search, const struct gt_sum *sum)
{
	const struct evidence *evidence = search->evidence;
	uint64_t count[2] = {0, 0}, most = (uint64_t)search->sets / 2 * (evidence->ways[evidence->known] + 1);

	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++) {
		struct gt_sum lifted = lift(search->function, evidence->sightings[i].number);
		count[value_of_sum(sum, &lifted)]++;
	}
	return count[0] > 0 && count[1] > 0 && count[0] <= most && count[1] <= most;
}

static int compare(const void *a, const void *b)
{
	const struct choice *left = a, *right = b;

	if (left->terms != right->terms)
		return left->terms < right->terms ? -1 : 1;
	return memcmp(&left->sum, &right->sum, sizeof left->sum);
}

/* Lists the elements of the null space that could be a bit of the set, those with the fewest terms first. */
static int list_choices(struct search *search)
{
	size_t all = (size_t)1 << search->dimensions;

	search->choices = calloc(all, sizeof *search->choices);
	if (!search->choices)
		return -1;
	for (size_t mix = 1; mix < all; mix++) {
		struct choice *choice = &search->choices[search->choices_n];
		*choice = (struct choice){0};
		for (size_t i = 0; i < search->dimensions; i++)
			if (mix >> i & 1)
				add(&choice->sum, &search->basis[i]);
		for (int i = 0; i < WORDS; i++)
			choice->terms += (unsigned)__builtin_popcountll(choice->sum.has[i]);
		search->choices_n += (size_t)halves(search, &choice->sum);
	}
	qsort(search->choices, search->choices_n, sizeof *search->choices, compare);
	if (search->choices_n > CHOICES_MAX)
		search->choices_n = CHOICES_MAX;
	return 0;
}

/* Tries all ways to choose one sum for each bit of the set. Returns 1 when one is allowed, 0 when none is, -1
 * when memory is short. */
static int choose(struct search *search, int bit, size_t from)
{
	if (bit == search->function->bits)
		return search->trials++ < TRIALS_MAX ? allowed(search) : 0;
	for (size_t i = from; i < search->choices_n && search->trials < TRIALS_MAX; i++) {
		search->function->sum[bit] = search->choices[i].sum;
		int chosen = choose(search, bit + 1, i + 1);
		if (chosen != 0)
			return chosen;
	}
	return 0;
}

static int search_sums(struct search *search)
{
	struct gt_function *function = search->function;

	if (find_null_space(search) != 0)
		return -1;
	if (search->dimensions < (size_t)function->bits)
		return 0;
	function->unique = search->dimensions == (size_t)function->bits;
	if (function->unique) {
		memcpy(function->sum, search->basis, (size_t)function->bits * sizeof *function->sum);
		return allowed(search);
	}
	if (search->dimensions > DIMENSIONS_MAX)
		return 0;
	return list_choices(search) != 0 ? -1 : choose(search, 0, 0);
}

/* Tries sums of bits (degree 1), or of bits and products of two (degree 2). Returns 1 if some fit, else 0; -1: out of memory. */
static int fit_sums(const struct evidence *evidence, uint32_t sets, unsigned degree, struct gt_function *function)
{
	struct search *search = calloc(1, sizeof *search);
	int result = -1;

	function->bits = (int)__builtin_ctz(sets);
	function->degree = degree;
	if ((sets & (sets - 1)) != 0 || function->bits > GT_SUMS_MAX || !evidence->equal ||
	    !list_monomials(evidence, degree, function)) {
		free(search);
		return 0;
	}
	if (search) {
		*search = (struct search){.evidence = evidence, .function = function, .sets = sets,
					  .values = malloc((evidence->n + 1) * sizeof *search->values)};
		if (search->values)
			result = search_sums(search);
		free(search->choices);
		free(search->values);
	}
	free(search);
	if (result == 1)
		function->name = "bits";
	return result;
}

/* ---- the simplest function ---- */

static uint32_t power_above(uint32_t number)
{
	uint32_t power = 1;

	while (power < number)
		power *= 2;
	return power;
}

/* Finds the simplest kind of function that fits, with the smallest possible number of sets or with a power of two.
 * Sums of bits may show more sets than one sweep reaches. Returns the number of sets; 0: none fits. */
static uint32_t fit(const struct evidence *evidence, struct gt_function *function, bool *failed)
{
	uint32_t least = evidence->least_sets, power = power_above(least);

	for (unsigned kind = 0; kind < 3; kind++)
		for (uint32_t sets = least; sets <= GT_SETS_MAX && sets <= 4 * power; sets = sets < power ? power : 2 * sets) {
			int fits = kind == 0 ? fit_named(evidence, sets, function)
					     : fit_sums(evidence, sets, kind, function);
			*failed |= fits < 0;
			if (fits > 0 && (sets <= power || (kind == 1 && function->unique)))
				return sets;
			function->name = NULL;
		}
	return 0;
}

/* Maps the function's values to the numbers of the sets in the first sweep, and the other values to new numbers. */
static void name_values(const struct evidence *evidence, struct gt_function *function, uint32_t *of_value,
			const uint32_t *values)
{
	bool used[GT_SETS_MAX + 1] = {false};
	uint32_t next = 1;

	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++)
		if (evidence->sightings[i].group > 0) {
			of_value[values[i]] = evidence->sightings[i].group;
			used[evidence->sightings[i].group] = true;
		}
	for (uint32_t value = 0; value < function->sets; value++)
		if (of_value[value] == 0) {
			while (used[next])
				next++;
			of_value[value] = next++;
		}
}

static uint32_t value_of(const struct evidence *evidence, const struct gt_function *function, uint64_t number)
{
	if (strcmp(function->name, "bits") == 0)
		return sums_value(function, number);
	return named_value(evidence, function, function->sets, number);
}

static int fill_by_function(const struct evidence *evidence, struct gt_function *function)
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
static void fill_as_seen(const struct evidence *evidence, struct gt_function *function)
{
	uint64_t rest = 0, ways = evidence->ways[evidence->known];

	function->sets = evidence->least_sets;
	function->seen_lines = 0;
	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++) {
		const struct sighting *sighting = &evidence->sightings[i];
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

static void find_extent(const struct evidence *evidence, struct gt_function *function)
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
	struct evidence evidence;
	bool failed = false;

	memset(function, 0, sizeof *function);
	if (gather_evidence(sweeps, n, base, line, &evidence, error) != 0)
		return -1;
	function->shift = evidence.shift;
	function->origin = evidence.origin;
	function->lines = (bytes + line - 1) / line < LINES_MAX ? (bytes + line - 1) / line : LINES_MAX;
	function->set_of = calloc(function->lines + 1, sizeof *function->set_of);
	function->sets = evidence.known > 0 && evidence.least_sets <= GT_SETS_MAX ? fit(&evidence, function, &failed) : 0;
	find_extent(&evidence, function);
	if (!function->set_of)
		failed = true;
	else if (function->name)
		failed |= fill_by_function(&evidence, function) != 0;
	else
		fill_as_seen(&evidence, function);
	for (uint32_t set = 1; set <= function->sets && set <= GT_SETS_MAX; set++)
		function->ways[set] = evidence.equal ? evidence.ways[evidence.known] : evidence.ways[set];
	clear_evidence(&evidence);
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
