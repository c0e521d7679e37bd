/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/static/evaluate.h"

#include <string.h>

#include "cuda/ptx/exec/machine.h"

static void doubt(struct gt_static_place *place, enum gt_static_basis basis)
{
	if (basis > place->basis)
		place->basis = basis;
}

static int64_t special(struct gt_static_place *place, const char *name)
{
	static const char *const kinds[] = {"%tid.", "%ctaid.", "%ntid.", "%nctaid."};
	const uint32_t *from[] = {place->thread, place->block, place->launch->block, place->launch->grid};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t length = strlen(kinds[i]);

		if (!strncmp(name, kinds[i], length) && name[length] >= 'x' && name[length] <= 'z')
			return from[i][name[length] - 'x'];
	}
	if (!strcmp(name, "%laneid")) {
		const uint32_t *t = place->thread, *n = place->launch->block;

		return (t[0] + n[0] * (t[1] + (uint64_t)n[1] * t[2])) % GT_STATIC_WARP;
	}
	doubt(place, GT_STATIC_UNKNOWN);
	return 0;
}

static int64_t parameter(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	enum gt_ptx_type type = (enum gt_ptx_type)atom->value;
	const struct gt_ptx_variable *variable = &place->analysis->kernel->parameters[atom->number];
	unsigned bytes = gt_ptx_type_size(type);
	int64_t value = 0;

	if (!place->launch->parameters) {
		doubt(place, GT_STATIC_ASSUMED);
		return GT_STATIC_SIZE;
	}
	if (atom->offset < 0 || bytes > sizeof value || (uint64_t)atom->offset + bytes > variable->bytes) {
		doubt(place, GT_STATIC_UNKNOWN);
		return 0;
	}
	memcpy(&value,
	       place->launch->parameters + gt_ptx_parameter_offset(place->analysis->kernel, (size_t)atom->number) +
		       atom->offset,
	       bytes);
	/* Compilers load an int parameter as .b32 or .u32: it is taken as signed. */
	return gt_static_narrow(value, bytes == 4 ? GT_PTX_S32 : type);
}

static int64_t operation(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	const struct gt_ptx_instruction *instruction = place->analysis->values[atom->value].instruction;
	enum gt_ptx_type type = gt_static_type(instruction);
	int64_t operands[2] = {0, 0};

	for (uint32_t i = 0; i < atom->n && i < 2; i++)
		operands[i] = gt_static_narrow(gt_static_evaluate(place, atom->children[i]), type);
	return gt_static_narrow(gt_static_operation_of(instruction)->result(instruction, type, operands), type);
}

static int64_t turn(const struct gt_static_place *place, uint32_t block)
{
	for (uint32_t i = 0; i < place->n_loops; i++)
		if (place->loops[i] == block)
			return place->turns[i];
	return 0;
}

/* Takes the first of several values. The basis is the worst of all of them. */
static int64_t first_of(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	doubt(place, GT_STATIC_ASSUMED);
	for (uint32_t i = 1; i < atom->n; i++)
		gt_static_evaluate(place, atom->children[i]);
	return gt_static_evaluate(place, atom->children[0]);
}

int64_t gt_static_atom_value(struct gt_static_place *place, const struct gt_static_atom *atom)
{
	switch (atom->kind) {
	case GT_STATIC_ATOM_PARAMETER:
		return parameter(place, atom);
	case GT_STATIC_ATOM_SYMBOL:
		return 0;
	case GT_STATIC_ATOM_SPECIAL:
		return special(place, atom->name);
	case GT_STATIC_ATOM_LOOP:
		return turn(place, atom->block);
	case GT_STATIC_ATOM_OPERATION:
		return operation(place, atom);
	case GT_STATIC_ATOM_CHOICE:
		return first_of(place, atom);
	case GT_STATIC_ATOM_LOADED:
		doubt(place, GT_STATIC_LOADED);
		return 0;
	default:
		doubt(place, GT_STATIC_UNKNOWN);
		return 0;
	}
}

/* True for the base address of a buffer. It counts as 0: allocations begin at multiples of a line. */
static bool is_pointer(const struct gt_static_place *place, const struct gt_static_term *term)
{
	const struct gt_static_atom *atom = &place->analysis->atoms[term->atoms[0]];

	return term->n == 1 && term->factor == 1 && !place->launch->parameters &&
	       atom->kind == GT_STATIC_ATOM_PARAMETER && gt_ptx_type_size((enum gt_ptx_type)atom->value) == 8;
}

int64_t gt_static_evaluate(struct gt_static_place *place, const struct gt_static_poly *poly)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < poly->n; i++) {
		const struct gt_static_term *term = &poly->terms[i];
		uint64_t product = (uint64_t)term->factor;

		if (is_pointer(place, term))
			continue;
		for (uint32_t j = 0; j < term->n; j++)
			product *= (uint64_t)gt_static_atom_value(place, &place->analysis->atoms[term->atoms[j]]);
		sum += product;
	}
	return (int64_t)sum;
}
