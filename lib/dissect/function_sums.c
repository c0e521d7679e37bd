/* SPDX-License-Identifier: MIT */
/* Set functions whose bits are sums over GF(2) of address bits and of products of two. Each line is lifted to the
 * vector of its monomials. A sum is constant on lines that share a set if it is 0 on their differences, so all such
 * sums are the null space of the differences. */
#include <stdlib.h>
#include <string.h>

#include "dissect/function.h"

#define DIMENSIONS_MAX 12 /* of the null space, for an exhaustive search */
#define CHOICES_MAX 256	  /* sums with the fewest terms whose combinations are tried */
#define TRIALS_MAX 20000
#define WORDS (GT_MONOMIALS_MAX / 64)

struct space {
	struct gt_sum row[GT_MONOMIALS_MAX]; /* row[i] has i as its highest monomial */
	uint8_t full[GT_MONOMIALS_MAX];
};

struct search {
	const struct gt_evidence *evidence;
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

static int has(const struct gt_sum *sum, size_t i)
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
			space->full[i] = 1;
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
static int list_monomials(const struct gt_evidence *evidence, unsigned degree, struct gt_function *function)
{
	size_t n = 0, bits;

	for (unsigned bit = 0; bit < 64; bit++)
		if (evidence->seen >> bit & 1)
			function->monomial[n++] = UINT64_C(1) << bit;
	bits = n;
	for (size_t i = 0; degree > 1 && i < bits; i++)
		for (size_t j = i + 1; j < bits; j++) {
			if (n == GT_MONOMIALS_MAX)
				return 0;
			function->monomial[n++] = function->monomial[i] | function->monomial[j];
		}
	function->monomials = n;
	return 1;
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
	const struct gt_evidence *evidence = search->evidence;
	size_t n = search->function->monomials;
	struct space *space = calloc(1, sizeof *space);
	struct gt_sum *first = calloc(evidence->groups + 1, sizeof *first);
	uint8_t *met = calloc(evidence->groups + 1, 1);
	int result = space && first && met ? 0 : -1;

	for (size_t i = 0; result == 0 && i < evidence->n; i++) {
		uint32_t group = evidence->sightings[i].group;
		struct gt_sum vector = lift(search->function, evidence->sightings[i].number);
		if (group == 0)
			continue;
		if (!met[group])
			first[group] = vector;
		met[group] = 1;
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

static int value_of(const struct gt_sum *sum, const struct gt_sum *lifted)
{
	uint64_t all = 0;

	for (int i = 0; i < WORDS; i++)
		all ^= sum->has[i] & lifted->has[i];
	return __builtin_parityll(all);
}

uint32_t gt_sums_value(const struct gt_function *function, uint64_t number)
{
	struct gt_sum lifted = lift(function, number);
	uint32_t value = 0;

	for (int i = 0; i < function->bits; i++)
		value |= (uint32_t)value_of(&function->sum[i], &lifted) << i;
	return value;
}

static int allowed(struct search *search)
{
	for (size_t i = 0; i < search->evidence->n; i++)
		search->values[i] = gt_sums_value(search->function, search->evidence->sightings[i].number);
	return gt_evidence_allows(search->evidence, search->values, search->sets);
}

/* Whether a sum can be a bit of the set: each of its values has at most as many lines of the first sweep as half of
 * the sets hold when each has one line too many. */
static int halves(const struct search *search, const struct gt_sum *sum)
{
	const struct gt_evidence *evidence = search->evidence;
	uint64_t count[2] = {0, 0}, most = (uint64_t)search->sets / 2 * (evidence->ways[evidence->known] + 1);

	for (size_t i = 0; i < evidence->n && evidence->sightings[i].sweep == 0; i++) {
		struct gt_sum lifted = lift(search->function, evidence->sightings[i].number);
		count[value_of(sum, &lifted)]++;
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

int gt_fit_sums(const struct gt_evidence *evidence, uint32_t sets, unsigned degree, struct gt_function *function)
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
