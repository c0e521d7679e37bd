/* SPDX-License-Identifier: MIT */
/* Sums of products of atoms, with whole factors that wrap as 64-bit integers do. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/static/parts.h"

#define INTERNED_MAX 4096

static int64_t wrapped_product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrapped_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static const struct gt_static_poly *make(struct gt_static *analysis, const struct gt_static_term *terms, uint32_t n,
					 struct gt_error *error)
{
	struct gt_static_poly *poly = gt_ptx_arena_take(analysis->arena, 1, sizeof *poly, error);

	if (!poly)
		return NULL;
	poly->terms = gt_ptx_arena_copy(analysis->arena, terms, n, sizeof *terms, error);
	poly->n = n;
	return poly->terms ? poly : NULL;
}

const struct gt_static_poly *gt_static_constant(struct gt_static *analysis, int64_t number, struct gt_error *error)
{
	struct gt_static_term term = {.factor = number};

	return make(analysis, &term, number != 0, error);
}

const struct gt_static_poly *gt_static_atom_poly(struct gt_static *analysis, uint32_t atom, struct gt_error *error)
{
	struct gt_static_term term = {.factor = 1, .atoms = {atom}, .n = 1};

	return make(analysis, &term, 1, error);
}

bool gt_static_is_constant(const struct gt_static_poly *poly, int64_t *number)
{
	*number = poly->n ? poly->terms[0].factor : 0;
	return poly->n == 0 || (poly->n == 1 && poly->terms[0].n == 0);
}

/* Where an atom stands in a term, and a term in a polynomial. */
static int compare_atoms(const struct gt_static *analysis, uint32_t a, uint32_t b)
{
	int kind = (int)analysis->atoms[a].kind - (int)analysis->atoms[b].kind;

	return kind ? kind : (a > b) - (a < b);
}

static int compare_terms(const struct gt_static *analysis, const struct gt_static_term *a,
			 const struct gt_static_term *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		int order = compare_atoms(analysis, a->atoms[i], b->atoms[i]);

		if (order)
			return order;
	}
	/* The number, which has no atoms, comes last. */
	if (a->n == 0 || b->n == 0)
		return (a->n == 0) - (b->n == 0);
	return (a->n > b->n) - (a->n < b->n);
}

/* Adds a term to sorted ones; false if there is no room. */
static bool put_term(const struct gt_static *analysis, struct gt_static_term *terms, uint32_t *n,
		     const struct gt_static_term *term)
{
	uint32_t at = 0;
	int order = 1;

	while (at < *n && (order = compare_terms(analysis, &terms[at], term)) < 0)
		at++;
	if (at < *n && order == 0) {
		terms[at].factor = wrapped_sum(terms[at].factor, term->factor);
		if (terms[at].factor == 0)
			memmove(&terms[at], &terms[at + 1], (--*n - at) * sizeof *terms);
		return true;
	}
	if (term->factor == 0)
		return true;
	if (*n == GT_STATIC_TERMS)
		return false;
	memmove(&terms[at + 1], &terms[at], (*n - at) * sizeof *terms);
	terms[at] = *term;
	++*n;
	return true;
}

const struct gt_static_poly *gt_static_add(struct gt_static *analysis, const struct gt_static_poly *a,
					   const struct gt_static_poly *b, int64_t factor, bool *wide,
					   struct gt_error *error)
{
	struct gt_static_term terms[GT_STATIC_TERMS];
	uint32_t n = a->n;

	if (n)
		memcpy(terms, a->terms, n * sizeof *terms);
	for (uint32_t i = 0; i < b->n; i++) {
		struct gt_static_term term = b->terms[i];

		term.factor = wrapped_product(term.factor, factor);
		if (!put_term(analysis, terms, &n, &term)) {
			*wide = true;
			return NULL;
		}
	}
	return make(analysis, terms, n, error);
}

static bool multiply_terms(const struct gt_static *analysis, const struct gt_static_term *a,
			   const struct gt_static_term *b, struct gt_static_term *product)
{
	if (a->n + b->n > GT_STATIC_FACTORS)
		return false;
	*product = *a;
	product->factor = wrapped_product(a->factor, b->factor);
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t at = product->n++;

		for (; at > 0 && compare_atoms(analysis, product->atoms[at - 1], b->atoms[i]) > 0; at--)
			product->atoms[at] = product->atoms[at - 1];
		product->atoms[at] = b->atoms[i];
	}
	return true;
}

const struct gt_static_poly *gt_static_multiply(struct gt_static *analysis, const struct gt_static_poly *a,
						const struct gt_static_poly *b, bool *wide, struct gt_error *error)
{
	struct gt_static_term terms[GT_STATIC_TERMS], product;
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t j = 0; j < b->n; j++)
			if (!multiply_terms(analysis, &a->terms[i], &b->terms[j], &product) ||
			    !put_term(analysis, terms, &n, &product)) {
				*wide = true;
				return NULL;
			}
	return make(analysis, terms, n, error);
}

bool gt_static_equal(const struct gt_static_poly *a, const struct gt_static_poly *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->terms[i].factor != b->terms[i].factor || a->terms[i].n != b->terms[i].n ||
		    memcmp(a->terms[i].atoms, b->terms[i].atoms, a->terms[i].n * sizeof *a->terms[i].atoms) != 0)
			return false;
	return true;
}

static bool same_atom(const struct gt_static_atom *a, const struct gt_static_atom *b)
{
	if (a->kind != b->kind || a->value != b->value || a->name != b->name || a->number != b->number ||
	    a->offset != b->offset || a->block != b->block || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!gt_static_equal(a->children[i], b->children[i]))
			return false;
	return true;
}

int gt_static_intern(struct gt_static *analysis, const struct gt_static_atom *atom, uint32_t *found,
		     struct gt_error *error)
{
	struct gt_static_atom *atoms = analysis->atoms;

	for (*found = 0; *found < analysis->n_atoms && *found < INTERNED_MAX; ++*found)
		if (same_atom(&atoms[*found], atom))
			return 0;
	atoms = analysis->n_atoms < GT_STATIC_NUMBERS
			? gt_grown(atoms, analysis->n_atoms, &analysis->atom_capacity, sizeof *atoms)
			: NULL;
	if (!atoms)
		return gt_fail_memory(error, "the atoms of a kernel");
	analysis->atoms = atoms;
	atoms[analysis->n_atoms] = *atom;
	*found = analysis->n_atoms++;
	return 0;
}

const struct gt_static_poly *gt_static_alone(struct gt_static *analysis, const struct gt_static_atom *atom,
					     struct gt_error *error)
{
	uint32_t found;

	if (gt_static_intern(analysis, atom, &found, error) != 0)
		return NULL;
	return gt_static_atom_poly(analysis, found, error);
}

const struct gt_static_poly *gt_static_opaque(struct gt_static *analysis, uint32_t value, struct gt_error *error)
{
	struct gt_static_atom atom = {.kind = GT_STATIC_ATOM_OPAQUE, .value = value};

	return gt_static_alone(analysis, &atom, error);
}

static unsigned weight_of(const struct gt_static *analysis, const struct gt_static_poly *poly)
{
	unsigned weight = 0;

	for (uint32_t i = 0; i < poly->n; i++)
		for (uint32_t j = 0; j < poly->terms[i].n; j++)
			weight += 1 + analysis->atoms[poly->terms[i].atoms[j]].weight;
	return weight;
}

const struct gt_static_poly *gt_static_compound(struct gt_static *analysis, enum gt_static_atom_kind kind,
						uint32_t value, const struct gt_static_poly **children, uint32_t n,
						struct gt_error *error)
{
	struct gt_static_atom atom = {.kind = kind, .value = value, .n = n};

	for (uint32_t i = 0; i < n && atom.weight <= GT_STATIC_WEIGHT; i++)
		atom.weight += weight_of(analysis, children[i]);
	if (atom.weight > GT_STATIC_WEIGHT)
		return gt_static_opaque(analysis, value, error);
	atom.children = gt_ptx_arena_copy(analysis->arena, children, n, sizeof(const struct gt_static_poly *), error);
	return atom.children ? gt_static_alone(analysis, &atom, error) : NULL;
}
