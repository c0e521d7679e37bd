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

/* poly.c: arithmetic. NULL when memory is short, or when the result has too many terms or
 * factors (then *wide is set). */
static const struct gt_static_poly *constant(struct gt_static *analysis, int64_t number, struct gt_error *error)
{
	struct gt_static_term term = {.factor = number};

	return make(analysis, &term, number != 0, error);
}

static const struct gt_static_poly *atom_poly(struct gt_static *analysis, uint32_t atom, struct gt_error *error)
{
	struct gt_static_term term = {.factor = 1, .atoms = {atom}, .n = 1};

	return make(analysis, &term, 1, error);
}

/* True if the polynomial is a number. */
static bool is_constant(const struct gt_static_poly *poly, int64_t *number)
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

static const struct gt_static_poly *add(struct gt_static *analysis, const struct gt_static_poly *a,
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

static const struct gt_static_poly *multiply(struct gt_static *analysis, const struct gt_static_poly *a,
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

static bool gt_static_equal(const struct gt_static_poly *a, const struct gt_static_poly *b)
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

/* The atom of this description: an equal one if there is one, else a new one (and always a new one
 * beyond some thousands). -1: memory. */
static int intern(struct gt_static *analysis, const struct gt_static_atom *atom, uint32_t *found,
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

/* An atom as a polynomial. NULL when memory is short. */
static const struct gt_static_poly *alone(struct gt_static *analysis, const struct gt_static_atom *atom,
					  struct gt_error *error)
{
	uint32_t found;

	if (intern(analysis, atom, &found, error) != 0)
		return NULL;
	return atom_poly(analysis, found, error);
}

/* An atom for a value of which nothing is known. */
static const struct gt_static_poly *gt_static_opaque(struct gt_static *analysis, uint32_t value, struct gt_error *error)
{
	struct gt_static_atom atom = {.kind = GT_STATIC_ATOM_OPAQUE, .value = value};

	return alone(analysis, &atom, error);
}

static unsigned weight_of(const struct gt_static *analysis, const struct gt_static_poly *poly)
{
	unsigned weight = 0;

	for (uint32_t i = 0; i < poly->n; i++)
		for (uint32_t j = 0; j < poly->terms[i].n; j++)
			weight += 1 + analysis->atoms[poly->terms[i].atoms[j]].weight;
	return weight;
}

/* An operation on the children, or a choice of one of them; opaque if its weight is above the limit. */
static const struct gt_static_poly *compound(struct gt_static *analysis, enum gt_static_atom_kind kind,
					     uint32_t value, const struct gt_static_poly **children, uint32_t n,
					     struct gt_error *error)
{
	struct gt_static_atom atom = {.kind = kind, .value = value, .n = n};

	for (uint32_t i = 0; i < n && atom.weight <= GT_STATIC_WEIGHT; i++)
		atom.weight += weight_of(analysis, children[i]);
	if (atom.weight > GT_STATIC_WEIGHT)
		return gt_static_opaque(analysis, value, error);
	atom.children = gt_ptx_arena_copy(analysis->arena, children, n, sizeof(const struct gt_static_poly *), error);
	return atom.children ? alone(analysis, &atom, error) : NULL;
}

/* Folds values into polynomials. Sums and products of 32-bit numbers are taken as exact: an address that overflows is
 * an error of the program. */

typedef const struct gt_static_poly *(*fold)(struct gt_static *analysis, const struct gt_static_value *value,
					     const struct gt_static_poly *const *o, bool *wide,
					     struct gt_error *error);

static const struct gt_static_poly *same(struct gt_static *analysis, const struct gt_static_value *value,
					 const struct gt_static_poly *const *o, bool *wide, struct gt_error *error)
{
	(void)analysis, (void)value, (void)wide, (void)error;
	return o[0];
}

static const struct gt_static_poly *fold_add(struct gt_static *analysis, const struct gt_static_value *value,
					     const struct gt_static_poly *const *o, bool *wide,
					     struct gt_error *error)
{
	(void)value;
	return add(analysis, o[0], o[1], 1, wide, error);
}

static const struct gt_static_poly *fold_subtract(struct gt_static *analysis, const struct gt_static_value *value,
						  const struct gt_static_poly *const *o, bool *wide,
						  struct gt_error *error)
{
	(void)value;
	return add(analysis, o[0], o[1], -1, wide, error);
}

static const struct gt_static_poly *fold_negate(struct gt_static *analysis, const struct gt_static_value *value,
						const struct gt_static_poly *const *o, bool *wide,
						struct gt_error *error)
{
	const struct gt_static_poly *zero = constant(analysis, 0, error);

	(void)value;
	return zero ? add(analysis, zero, o[0], -1, wide, error) : NULL;
}

static const struct gt_static_poly *fold_multiply(struct gt_static *analysis, const struct gt_static_value *value,
						  const struct gt_static_poly *const *o, bool *wide,
						  struct gt_error *error)
{
	const struct gt_static_poly *by = o[1];
	int64_t number;

	*wide = gt_ptx_has(value->instruction, "hi");
	if (*wide)
		return NULL;
	/* A negative immediate of a .u32 product is unsigned. */
	if (gt_static_type(value->instruction) == GT_PTX_U32 && is_constant(by, &number) && number < 0)
		by = constant(analysis, gt_static_narrow(number, GT_PTX_U32), error);
	return by ? multiply(analysis, o[0], by, wide, error) : NULL;
}

static const struct gt_static_poly *fold_multiply_add(struct gt_static *analysis, const struct gt_static_value *value,
						      const struct gt_static_poly *const *o, bool *wide,
						      struct gt_error *error)
{
	const struct gt_static_poly *product = fold_multiply(analysis, value, o, wide, error);

	return product ? add(analysis, product, o[2], 1, wide, error) : NULL;
}

static const struct gt_static_poly *fold_shift(struct gt_static *analysis, const struct gt_static_value *value,
					       const struct gt_static_poly *const *o, bool *wide,
					       struct gt_error *error)
{
	const struct gt_static_poly *power;
	int64_t shift;

	(void)value;
	*wide = !is_constant(o[1], &shift) || shift < 0 || shift > 62;
	if (*wide)
		return NULL;
	power = constant(analysis, INT64_C(1) << shift, error);
	return power ? multiply(analysis, o[0], power, wide, error) : NULL;
}

/* x | c equals x + c if x is a multiple of a power of two above c; compilers emit it. */
static const struct gt_static_poly *fold_or(struct gt_static *analysis, const struct gt_static_value *value,
					    const struct gt_static_poly *const *o, bool *wide, struct gt_error *error)
{
	int64_t number;
	uint64_t power = 1;

	(void)value;
	*wide = !is_constant(o[1], &number) || number < 0 || number > INT32_MAX;
	while (!*wide && power <= (uint64_t)number)
		power <<= 1;
	for (uint32_t i = 0; !*wide && i < o[0]->n; i++)
		*wide = (uint64_t)o[0]->terms[i].factor % power != 0;
	return *wide ? NULL : add(analysis, o[0], o[1], 1, wide, error);
}

/* Conversions between integers of 32 and 64 bits keep the number. */
static const struct gt_static_poly *fold_convert(struct gt_static *analysis, const struct gt_static_value *value,
						 const struct gt_static_poly *const *o, bool *wide,
						 struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = value->instruction;

	(void)analysis, (void)error;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		enum gt_ptx_type type =
			gt_ptx_type_named(instruction->modifiers[i], strlen(instruction->modifiers[i]));

		if (type > GT_PTX_S64 || (type != GT_PTX_NO_TYPE && gt_ptx_type_size(type) < 4))
			*wide = true;
	}
	return *wide ? NULL : o[0];
}

static const struct {
	uint32_t operands;
	fold fold; /* NULL: not a sum of products */
} folds[GT_PTX_FOLDINGS] = {
	[GT_PTX_FOLD_COPY] = {1, same},
	[GT_PTX_FOLD_CONVERT] = {1, fold_convert},
	[GT_PTX_FOLD_ADD] = {2, fold_add},
	[GT_PTX_FOLD_SUBTRACT] = {2, fold_subtract},
	[GT_PTX_FOLD_NEGATE] = {1, fold_negate},
	[GT_PTX_FOLD_MULTIPLY] = {2, fold_multiply},
	[GT_PTX_FOLD_MULTIPLY_24] = {2, fold_multiply},
	[GT_PTX_FOLD_MULTIPLY_ADD] = {3, fold_multiply_add},
	[GT_PTX_FOLD_SHIFT_LEFT] = {2, fold_shift},
	[GT_PTX_FOLD_OR] = {2, fold_or},
};

static bool is_integer(enum gt_ptx_type type) { return type >= GT_PTX_B8 && type <= GT_PTX_S64; }

static const struct gt_static_poly *fold_operation(struct gt_static *analysis, uint32_t v,
						   const struct gt_static_poly **o, struct gt_error *error)
{
	const struct gt_static_value *value = &analysis->values[v];
	const struct gt_static_operation *operation = gt_static_operation_of(value->instruction);
	enum gt_ptx_folding folding = gt_ptx_row(value->instruction)->folding;
	bool wide = false;

	if (folds[folding].fold && folds[folding].operands == value->n &&
	    is_integer(gt_static_type(value->instruction))) {
		const struct gt_static_poly *poly = folds[folding].fold(analysis, value, o, &wide, error);
		if (poly || !wide)
			return poly;
	}
	if (operation && operation->operands == value->n)
		return compound(analysis, GT_STATIC_ATOM_OPERATION, v, o, value->n, error);
	return gt_static_opaque(analysis, v, error);
}

static const struct gt_static_poly *fold_value(struct gt_static *analysis, uint32_t v,
					       const struct gt_static_poly **o, struct gt_error *error)
{
	const struct gt_static_value *value = &analysis->values[v];
	struct gt_static_atom atom = {
		.value = v, .name = value->name, .number = value->number, .offset = value->offset};
	const struct gt_static_poly *number;
	bool wide = false;

	switch (value->kind) {
	case GT_STATIC_CONSTANT:
		return constant(analysis, value->number, error);
	case GT_STATIC_SUM:
		number = constant(analysis, value->number, error);
		number = number ? add(analysis, o[0], number, 1, &wide, error) : NULL;
		return number || !wide ? number : gt_static_opaque(analysis, v, error);
	case GT_STATIC_OPERATION:
		return fold_operation(analysis, v, o, error);
	case GT_STATIC_CHOICE:
		return compound(analysis, GT_STATIC_ATOM_CHOICE, v, o, value->n, error);
	case GT_STATIC_SPECIAL:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_SPECIAL, .name = value->name};
		return alone(analysis, &atom, error);
	case GT_STATIC_SYMBOL:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_SYMBOL, .name = value->name};
		return alone(analysis, &atom, error);
	case GT_STATIC_PARAMETER:
		atom.kind = GT_STATIC_ATOM_PARAMETER;
		atom.value = (uint32_t)gt_static_type(value->instruction);
		return alone(analysis, &atom, error);
	case GT_STATIC_JOIN:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_JOIN, .value = v};
		return alone(analysis, &atom, error);
	case GT_STATIC_LOAD:
		atom = (struct gt_static_atom){.kind = GT_STATIC_ATOM_LOADED, .value = v};
		return alone(analysis, &atom, error);
	default:
		return gt_static_opaque(analysis, v, error);
	}
}

/* Marks the values that addresses depend on. The search ends at loads, whose results are not known. */
static int mark_needed(struct gt_static *analysis, struct gt_error *error)
{
	uint32_t *stack = gt_ptx_arena_take(analysis->arena, (size_t)analysis->n_values + 1, sizeof *stack, error);
	size_t n = 0;

	if (!stack)
		return -1;
	for (size_t i = 0; i < 2 * analysis->n_accesses; i++) {
		const struct gt_static_access *access = &analysis->accesses[i / 2];
		uint32_t v = i % 2 ? access->stride : access->address;

		if (v == GT_STATIC_NONE)
			continue;
		v = gt_static_same(analysis, v);
		if (!analysis->values[v].needed)
			stack[n++] = v;
		analysis->values[v].needed = true;
	}
	while (n > 0) {
		const struct gt_static_value *value = &analysis->values[stack[--n]];

		for (uint32_t i = 0; value->kind != GT_STATIC_LOAD && i < value->n; i++) {
			uint32_t v = gt_static_same(analysis, value->operands[i]);

			if (!analysis->values[v].needed)
				stack[n++] = v;
			analysis->values[v].needed = true;
		}
	}
	return 0;
}

/* Folds the operands of a value, then the value; joins and loads are atoms, whatever their operands are. A value that
 * depends on itself (in unreachable code), or is nested too deep, is opaque. */
static const struct gt_static_poly *fold_one(struct gt_static *analysis, uint32_t v, struct gt_error *error)
{
	struct gt_static_value *value = &analysis->values[v];
	const struct gt_static_poly *operands[8];
	uint32_t n = value->kind == GT_STATIC_JOIN || value->kind == GT_STATIC_LOAD ? 0 : value->n;

	if (value->poly)
		return value->poly;
	if (n > 8 || value->folding || analysis->depth > 2000)
		return gt_static_opaque(analysis, v, error);
	value->folding = true;
	analysis->depth++;
	for (uint32_t i = 0; i < n; i++) {
		operands[i] = fold_one(analysis, gt_static_same(analysis, value->operands[i]), error);
		if (!operands[i])
			return NULL;
	}
	analysis->depth--;
	value->folding = false;
	value->poly = fold_value(analysis, v, operands, error);
	return value->poly;
}

/* The polynomial of every value that an address needs; joins are atoms. */
static int fold_values(struct gt_static *analysis, struct gt_error *error)
{
	if (mark_needed(analysis, error) != 0)
		return -1;
	for (uint32_t v = 0; v < analysis->n_values; v++)
		if (analysis->values[v].needed && analysis->values[v].same == v && !fold_one(analysis, v, error))
			return -1;
	for (size_t i = 0; i < analysis->n_accesses; i++) {
		struct gt_static_access *access = &analysis->accesses[i];

		access->poly = analysis->values[gt_static_same(analysis, access->address)].poly;
		if (access->stride != GT_STATIC_NONE)
			access->stride_poly = analysis->values[gt_static_same(analysis, access->stride)].poly;
	}
	return 0;
}

/* Solves joins. A join that comes back as itself plus a step, the same in every iteration, is an induction variable:
 * first value + step * iteration. Other joins are a choice. */

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
	join = atom_poly(analysis, self, error);
	*step = join ? add(analysis, poly, join, -1, &wide, error) : NULL;
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
		return alone(analysis, &atom, error);
	}
	if (mentions(analysis, step, GT_STATIC_ATOM_LOOP, atom.block) ||
	    mentions(analysis, step, GT_STATIC_ATOM_OPAQUE, 0))
		return gt_static_opaque(analysis, value, error);
	turn = alone(analysis, &atom, error);
	product = turn ? multiply(analysis, step, turn, &wide, error) : NULL;
	product = product ? add(analysis, first, product, 1, &wide, error) : NULL;
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
	return compound(analysis, GT_STATIC_ATOM_CHOICE, value, polys, distinct, error);
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
	return compound(analysis, atom.kind, atom.value, children, atom.n, error);
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
		return atom_poly(analysis, self, error);
	if (analysis->atoms[self].solving)
		return atom_poly(analysis, self, error);
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
	const struct gt_static_poly *product = constant(analysis, term->factor, error);

	for (uint32_t i = 0; product && i < term->n; i++) {
		const struct gt_static_poly *atom = solve_atom(analysis, term->atoms[i], error);

		product = atom ? multiply(analysis, product, atom, wide, error) : NULL;
	}
	return product;
}

static const struct gt_static_poly *solve_poly(struct gt_static *analysis, const struct gt_static_poly *poly,
					       struct gt_error *error)
{
	const struct gt_static_poly *sum = constant(analysis, 0, error), *term;
	bool wide = false;

	for (uint32_t i = 0; sum && i < poly->n; i++) {
		term = solve_term(analysis, &poly->terms[i], &wide, error);
		sum = term ? add(analysis, sum, term, 1, &wide, error) : NULL;
	}
	return sum || !wide ? sum : gt_static_opaque(analysis, GT_STATIC_NONE, error);
}

int gt_static_fold(struct gt_static *analysis, struct gt_error *error)
{
	if (fold_values(analysis, error) != 0)
		return -1;
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
