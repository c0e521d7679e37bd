/* SPDX-License-Identifier: MIT */
/* The analysis as text: lines of fields for each access, expressions, syntax trees. */
#include <inttypes.h>
#include <string.h>

#include "cuda/ptx/static/parts.h"

#define TREE_DEPTH 100 /* levels of a tree that are written */

/* The line of a value, or of the block it joins at; 0: none. */
static unsigned line_of(const struct gt_static *analysis, uint32_t v)
{
	const struct gt_static_value *value;

	if (v >= analysis->n_values)
		return 0;
	value = &analysis->values[v];
	if (value->instruction)
		return value->instruction->line;
	return value->kind == GT_STATIC_JOIN
		       ? analysis->kernel->instructions[analysis->flow.blocks[value->block].first].line
		       : 0;
}

static void write_poly(const struct gt_static *analysis, const struct gt_static_poly *poly,
		       const struct gt_static_launch *launch, FILE *to);

static void write_parameter(int64_t number, int64_t offset, const struct gt_static_launch *launch, FILE *to)
{
	if (launch && launch->names && launch->names[number])
		fputs(launch->names[number], to);
	else
		fprintf(to, "param%" PRId64, number);
	if (offset)
		fprintf(to, "[%" PRId64 "]", offset);
}

static void write_children(const struct gt_static *analysis, const char *name, const struct gt_static_atom *atom,
			   const struct gt_static_launch *launch, FILE *to)
{
	fprintf(to, "%s(", name);
	for (uint32_t i = 0; i < atom->n; i++) {
		fputs(i ? ", " : "", to);
		write_poly(analysis, atom->children[i], launch, to);
	}
	fputc(')', to);
}

static void write_atom(const struct gt_static *analysis, const struct gt_static_atom *atom,
		       const struct gt_static_launch *launch, FILE *to)
{
	switch (atom->kind) {
	case GT_STATIC_ATOM_PARAMETER:
		write_parameter(atom->number, atom->offset, launch, to);
		break;
	case GT_STATIC_ATOM_SYMBOL:
		fputs(atom->name, to);
		break;
	case GT_STATIC_ATOM_SPECIAL:
		fputs(atom->name + 1, to);
		break;
	case GT_STATIC_ATOM_LOOP:
		fprintf(to, "loop%u", analysis->kernel->instructions[analysis->flow.blocks[atom->block].first].line);
		break;
	case GT_STATIC_ATOM_OPERATION:
		write_children(analysis, analysis->values[atom->value].instruction->opcode, atom, launch, to);
		break;
	case GT_STATIC_ATOM_CHOICE:
		write_children(analysis, "either", atom, launch, to);
		break;
	case GT_STATIC_ATOM_LOADED:
		fprintf(to, "loaded%u", line_of(analysis, atom->value));
		break;
	default:
		fputs("unknown", to);
		if (line_of(analysis, atom->value))
			fprintf(to, "%u", line_of(analysis, atom->value));
	}
}

/* A buffer: printed before other terms. */
static bool is_base(const struct gt_static *analysis, const struct gt_static_term *term)
{
	const struct gt_static_atom *atom = &analysis->atoms[term->atoms[0]];

	return term->n == 1 && term->factor == 1 &&
	       (atom->kind == GT_STATIC_ATOM_SYMBOL ||
		(atom->kind == GT_STATIC_ATOM_PARAMETER && gt_ptx_type_size((enum gt_ptx_type)atom->value) == 8));
}

static void write_term(const struct gt_static *analysis, const struct gt_static_term *term, bool first,
		       const struct gt_static_launch *launch, FILE *to)
{
	uint64_t size = term->factor < 0 ? -(uint64_t)term->factor : (uint64_t)term->factor;

	if (!first || term->factor < 0)
		fputs(term->factor >= 0 ? " + " : first ? "-" : " - ", to);
	if (size != 1 || term->n == 0)
		fprintf(to, "%" PRIu64 "%s", size, term->n ? "*" : "");
	for (uint32_t j = 0; j < term->n; j++) {
		fputs(j ? "*" : "", to);
		write_atom(analysis, &analysis->atoms[term->atoms[j]], launch, to);
	}
}

static void write_poly(const struct gt_static *analysis, const struct gt_static_poly *poly,
		       const struct gt_static_launch *launch, FILE *to)
{
	bool first = true;

	if (poly->n == 0)
		fputc('0', to);
	for (int bases = 1; bases >= 0; bases--)
		for (uint32_t i = 0; i < poly->n; i++) {
			if (is_base(analysis, &poly->terms[i]) != (bool)bases)
				continue;
			write_term(analysis, &poly->terms[i], first, launch, to);
			first = false;
		}
}

void gt_static_write_expression(const struct gt_static *analysis, size_t access,
				const struct gt_static_launch *launch, FILE *to)
{
	write_poly(analysis, analysis->accesses[access].poly, launch, to);
}

static void write_opcode(const struct gt_ptx_instruction *instruction, FILE *to)
{
	fputs(instruction->opcode, to);
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		fprintf(to, ".%s", instruction->modifiers[i]);
}

static void write_node(const struct gt_static *analysis, const struct gt_static_value *value, FILE *to)
{
	const struct gt_ptx_instruction *instruction = value->instruction;

	switch (value->kind) {
	case GT_STATIC_CONSTANT:
		fprintf(to, "%" PRId64, value->number);
		break;
	case GT_STATIC_SPECIAL:
	case GT_STATIC_SYMBOL:
		fputs(value->name, to);
		break;
	case GT_STATIC_SUM:
		fprintf(to, "%+" PRId64, value->number);
		break;
	case GT_STATIC_JOIN:
		fprintf(to, "join, line %u", line_of(analysis, value->same));
		break;
	case GT_STATIC_PARAMETER:
		write_parameter(value->number, value->offset, NULL, to);
		fputs(": ", to);
		write_opcode(instruction, to);
		fprintf(to, ", line %u", instruction->line);
		break;
	default:
		if (!instruction) {
			fputs("unknown", to);
			break;
		}
		if (value->kind == GT_STATIC_CHOICE)
			fprintf(to, "if %s%s: ", instruction->guard_negated ? "!" : "", instruction->guard);
		write_opcode(instruction, to);
		if (instruction->n_operands && instruction->operands[0].kind == GT_PTX_REGISTER)
			fprintf(to, " %s", instruction->operands[0].name);
		fprintf(to, ", line %u%s", instruction->line, value->kind == GT_STATIC_LOAD ? ", loaded data" : "");
	}
}

/* A node and its operands; a node that was written above is only named. */
static int write_subtree(const struct gt_static *analysis, uint32_t v, unsigned depth, struct gt_map *above, FILE *to,
			 struct gt_error *error)
{
	const struct gt_static_value *value = &analysis->values[gt_static_same(analysis, v)];
	bool leaf = value->kind == GT_STATIC_LOAD || value->kind == GT_STATIC_PARAMETER || value->n == 0;
	int fresh;

	if (!gt_map_put(above, value->same, 1, &fresh))
		return gt_fail_memory(error, "a syntax tree");
	fprintf(to, "#%*s", (int)(2 * depth + 2), "");
	write_node(analysis, value, to);
	if (leaf || !fresh || depth == TREE_DEPTH) {
		fputs(leaf ? "\n" : fresh ? ", and so on\n" : ", as above\n", to);
		return 0;
	}
	fputc('\n', to);
	for (uint32_t i = 0; i < value->n; i++)
		if (write_subtree(analysis, value->operands[i], depth + 1, above, to, error) != 0)
			return -1;
	return 0;
}

int gt_static_write_tree(const struct gt_static *analysis, size_t access, FILE *to, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = gt_static_instruction(analysis, access);
	struct gt_map above;
	int result;

	if (gt_map_open(&above, 64, error) != 0)
		return -1;
	fputs("# ", to);
	write_opcode(instruction, to);
	fprintf(to, ", line %u\n", instruction->line);
	result = write_subtree(analysis, analysis->accesses[access].address, 0, &above, to, error);
	gt_map_close(&above);
	return result;
}
