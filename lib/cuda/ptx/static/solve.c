/* SPDX-License-Identifier: MIT */
/* Solves joins. A join that comes back as itself plus a step, the same in every iteration, is an induction variable:
 * first value + step * iteration. Other joins are a choice. */
#include <string.h>

#include "cuda/ptx/static/parts.h"

#define WORK_MAX 200000 /* atoms solved for one kernel: bounds the work for loops that do not resolve */

static const struct gt_static_poly *solve_poly(struct gt_static *analysis, const struct gt_static_poly *poly,
					       struct gt_error *error);

/* True if the polynomial, or one within it, has an atom of that kind (and block, of loops). */
static bool mentions(const struct gt_static *analysis, const struct gt_static_poly *poly,
		     enum gt_static_atom_kind kind, uint32_t block)
{
	for (uint32_t i = 0; i < poly->n; i++)
		for (uint32_t j = 0; j < poly->terms[i].n; j++) {
			const struct gt_static_atom *atom = &analysis->atoms[poly->terms[i].atoms[j]];

			if (atom->kind == kind && (kind != GT_STATIC_ATOM_LOOP || atom->block == block))
				return true;
			for (uint32_t k = 0; k < atom->n; k++)
				if (mentions(analysis, atom->children[k], kind, block))
					return true;
		}
	return false;
}

static bool has_inside(const struct gt_static *analysis, const struct gt_static_poly *poly, uint32_t self)
{
	for (uint32_t i = 0; i < poly->n; i++)
		for (uint32_t j = 0; j < poly->terms[i].n; j++) {
			const struct gt_static_atom *atom = &analysis->atoms[poly->terms[i].atoms[j]];

			for (uint32_t k = 0; k < atom->n; k++)
				if (has_inside(analysis, atom->children[k], self))
					return true;
			if (poly->terms[i].atoms[j] == self)
				return true;
		}
	return false;
}

/* The step of a join: the polynomial that comes back, less the join. Returns 1; 0 if the join is not in it; -1 if it is
 * in it in another way, or memory is short. */
static int step_of(struct gt_static *analysis, const struct gt_static_poly *poly, uint32_t self,
		   const struct gt_static_poly **step, struct gt_error *error)
{
	const struct gt_static_poly *join;
	bool wide = false;

	if (!has_inside(analysis, poly, self))
		return 0;
	join = gt_static_atom_poly(analysis, self, error);
	*step = join ? gt_static_add(analysis, poly, join, -1, &wide, error) : NULL;
	return *step && !has_inside(analysis, *step, self) ? 1 : -1;
}

/* first + step * turn. */
static const struct gt_static_poly *induction(struct gt_static *analysis, uint32_t value,
					      const struct gt_static_poly *first, const struct gt_static_poly *step,
					      struct gt_error *error)
{
	struct gt_static_atom atom = {.kind = GT_STATIC_ATOM_LOOP, .block = analysis->values[value].block};
	const struct gt_static_poly *turn, *product;
	bool wide = false;

	if (mentions(analysis, step, GT_STATIC_ATOM_LOADED, 0)) {
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_LOADED, .value = value};
		return gt_static_alone(analysis, &atom, error);
	}
	if (mentions(analysis, step, GT_STATIC_ATOM_LOOP, atom.block) ||
	    mentions(analysis, step, GT_STATIC_ATOM_OPAQUE, 0))
		return gt_static_opaque(analysis, value, error);
	turn = gt_static_alone(analysis, &atom, error);
	product = turn ? gt_static_multiply(analysis, step, turn, &wide, error) : NULL;
	product = product ? gt_static_add(analysis, first, product, 1, &wide, error) : NULL;
	return product || !wide ? product : gt_static_opaque(analysis, value, error);
}

/* A choice of several polynomials; the polynomial itself if all are equal. */
static const struct gt_static_poly *choice(struct gt_static *analysis, uint32_t value,
					   const struct gt_static_poly **polys, uint32_t n, struct gt_error *error)
{
	uint32_t distinct = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = 0;

		while (j < distinct && !gt_static_equal(polys[i], polys[j]))
			j++;
		polys[j] = polys[i];
		distinct += j == distinct;
	}
	if (distinct == 1)
		return polys[0];
	if (distinct == 0)
		return gt_static_opaque(analysis, value, error);
	return gt_static_compound(analysis, GT_STATIC_ATOM_CHOICE, value, polys, distinct, error);
}

static const struct gt_static_poly *solve_join(struct gt_static *analysis, uint32_t self, struct gt_error *error)
{
	uint32_t value = analysis->atoms[self].value, n = analysis->values[value].n, n_first = 0;
	const struct gt_static_poly *step = NULL, *first;
	const struct gt_static_poly **firsts =
		gt_ptx_arena_take(analysis->arena, n, sizeof(const struct gt_static_poly *), error);
	bool odd = false;

	if (!firsts)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t operand = gt_static_same(analysis, analysis->values[value].operands[i]);
		const struct gt_static_poly *poly = analysis->values[operand].poly, *this_step = NULL;
		int back;

		poly = poly ? solve_poly(analysis, poly, error) : gt_static_opaque(analysis, operand, error);
		if (!poly)
			return NULL;
		back = step_of(analysis, poly, self, &this_step, error);
		if (back == 0)
			firsts[n_first++] = poly;
		odd |= back < 0 || (back > 0 && step && !gt_static_equal(step, this_step));
		if (back > 0)
			step = this_step;
	}
	first = odd ? gt_static_opaque(analysis, value, error) : choice(analysis, value, firsts, n_first, error);
	if (!first || odd || !step || step->n == 0)
		return first;
	return induction(analysis, value, first, step, error);
}

static const struct gt_static_poly *solve_children(struct gt_static *analysis, uint32_t self, struct gt_error *error)
{
	struct gt_static_atom atom = analysis->atoms[self];
	const struct gt_static_poly **children =
		gt_ptx_arena_take(analysis->arena, atom.n, sizeof(const struct gt_static_poly *), error);

	if (!children)
		return NULL;
	for (uint32_t i = 0; i < atom.n; i++) {
		children[i] = solve_poly(analysis, atom.children[i], error);
		if (!children[i])
			return NULL;
	}
	if (atom.kind == GT_STATIC_ATOM_CHOICE)
		return choice(analysis, atom.value, children, atom.n, error);
	return gt_static_compound(analysis, atom.kind, atom.value, children, atom.n, error);
}

/* The solution of an atom. An atom that is being solved stands for itself, and a solution that contains one is not
 * kept. */
static const struct gt_static_poly *solve_atom(struct gt_static *analysis, uint32_t self, struct gt_error *error)
{
	enum gt_static_atom_kind kind = analysis->atoms[self].kind;
	const struct gt_static_poly *solution = analysis->atoms[self].solution;

	if (solution)
		return solution;
	if (kind != GT_STATIC_ATOM_JOIN && kind != GT_STATIC_ATOM_OPERATION && kind != GT_STATIC_ATOM_CHOICE)
		return gt_static_atom_poly(analysis, self, error);
	if (analysis->atoms[self].solving)
		return gt_static_atom_poly(analysis, self, error);
	if (++analysis->work > WORK_MAX || analysis->depth > GT_STATIC_DEPTH)
		return gt_static_opaque(analysis, analysis->atoms[self].value, error);
	analysis->atoms[self].solving = true;
	analysis->depth++;
	solution = kind == GT_STATIC_ATOM_JOIN ? solve_join(analysis, self, error)
					       : solve_children(analysis, self, error);
	analysis->depth--;
	analysis->atoms[self].solving = false;
	if (solution && !mentions(analysis, solution, GT_STATIC_ATOM_JOIN, 0))
		analysis->atoms[self].solution = solution;
	return solution;
}

static const struct gt_static_poly *solve_term(struct gt_static *analysis, const struct gt_static_term *term,
					       bool *wide, struct gt_error *error)
{
	const struct gt_static_poly *product = gt_static_constant(analysis, term->factor, error);

	for (uint32_t i = 0; product && i < term->n; i++) {
		const struct gt_static_poly *atom = solve_atom(analysis, term->atoms[i], error);

		product = atom ? gt_static_multiply(analysis, product, atom, wide, error) : NULL;
	}
	return product;
}

static const struct gt_static_poly *solve_poly(struct gt_static *analysis, const struct gt_static_poly *poly,
					       struct gt_error *error)
{
	const struct gt_static_poly *sum = gt_static_constant(analysis, 0, error), *term;
	bool wide = false;

	for (uint32_t i = 0; sum && i < poly->n; i++) {
		term = solve_term(analysis, &poly->terms[i], &wide, error);
		sum = term ? gt_static_add(analysis, sum, term, 1, &wide, error) : NULL;
	}
	return sum || !wide ? sum : gt_static_opaque(analysis, GT_STATIC_NONE, error);
}

int gt_static_solve(struct gt_static *analysis, struct gt_error *error)
{
	for (size_t i = 0; i < analysis->n_accesses; i++) {
		struct gt_static_access *access = &analysis->accesses[i];

		access->poly = solve_poly(analysis, access->poly, error);
		if (!access->poly)
			return -1;
		if (access->stride_poly && !(access->stride_poly = solve_poly(analysis, access->stride_poly, error)))
			return -1;
	}
	return 0;
}
