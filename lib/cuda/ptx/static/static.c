/* SPDX-License-Identifier: MIT */
/* The steps of the static analysis, one after the other; what they find as text: lines of fields for each access, expressions, syntax
 * trees; and the degree of coalescing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/static/parts.h"
#include "cuda/ptx/static/static.h"

/* ---- expressions and syntax trees as text ---- */

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
	if (term->n != 1 || term->factor != 1)
		return false;
	const struct gt_static_atom *atom = &analysis->atoms[term->atoms[0]];
	return atom->kind == GT_STATIC_ATOM_SYMBOL ||
	       (atom->kind == GT_STATIC_ATOM_PARAMETER && gt_ptx_type_size((enum gt_ptx_type)atom->value) == 8);
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

/* The syntax tree, a line a node. */
static int write_access_tree(const struct gt_static *analysis, size_t access, FILE *to, struct gt_error *error)
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

/* ---- the analysis ---- */

static int prepare(struct gt_static *analysis, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = analysis->kernel;
	int fresh;

	analysis->arena = gt_ptx_arena_open(error);
	if (!analysis->arena || gt_map_open(&analysis->variables, 64, error) != 0 ||
	    gt_map_open(&analysis->reaching, 256, error) != 0 || gt_map_open(&analysis->parameters, 16, error) != 0)
		return -1;
	if (kernel->n_instructions >= UINT32_MAX / 4)
		return gt_fail(error, "kernel %s has too many instructions", kernel->name);
	for (size_t i = 0; i < kernel->n_parameters; i++)
		if (!gt_map_put(&analysis->parameters, (uint64_t)(uintptr_t)kernel->parameters[i].name, i, &fresh))
			return gt_fail_memory(error, "the parameters of a kernel");
	return 0;
}

struct gt_static *gt_static_open(const struct gt_ptx_function *kernel, struct gt_error *error)
{
	struct gt_static *analysis = calloc(1, sizeof *analysis);

	if (!analysis) {
		gt_fail_memory(error, "the analysis of a kernel");
		return NULL;
	}
	analysis->kernel = kernel;
	if (prepare(analysis, error) == 0 && gt_ptx_flow_make(&analysis->flow, kernel, error) == 0 &&
	    gt_static_find_values(analysis, error) == 0 && gt_static_fold(analysis, error) == 0)
		return analysis;
	gt_static_close(analysis);
	return NULL;
}

void gt_static_close(struct gt_static *analysis)
{
	if (!analysis)
		return;
	gt_map_close(&analysis->variables);
	gt_map_close(&analysis->reaching);
	gt_map_close(&analysis->parameters);
	gt_ptx_flow_free(&analysis->flow);
	if (analysis->arena)
		gt_ptx_arena_close(analysis->arena);
	free(analysis->values);
	free(analysis->atoms);
	free(analysis);
}

size_t gt_static_accesses(const struct gt_static *analysis) { return analysis->n_accesses; }

static unsigned gt_static_bytes(const struct gt_static *analysis, size_t access) { return analysis->accesses[access].bytes; }

/* Load, store, atomic or reduction. */
static enum gt_ptx_access_kind gt_static_action(const struct gt_static *analysis, size_t access) { return analysis->accesses[access].action; }

static bool is_load(const struct gt_static *analysis, size_t access) { return gt_static_action(analysis, access) == GT_PTX_ACCESS_LOAD; }

/* A matrix, line by line. */
static unsigned spread_lines(const struct gt_static_access *access, unsigned i, int64_t addresses[32], int64_t stride,
			     unsigned *bytes)
{
	struct gt_ptx_lines lines;
	const uint64_t first = (uint64_t)addresses[0];
	unsigned packed;

	gt_ptx_tile_lines(access->tile, first, access->stride == GT_STATIC_NONE ? gt_ptx_tile_stride(access->tile) : (uint64_t)stride,
			  &lines);
	if (i * GT_STATIC_WARP >= lines.n * lines.bytes / lines.piece)
		return 0;
	for (unsigned lane = 0; lane < GT_STATIC_WARP; lane++)
		addresses[lane] = (int64_t)(first + gt_ptx_piece_at(&lines, i * GT_STATIC_WARP + lane, &packed));
	*bytes = lines.piece;
	return GT_STATIC_WARP;
}

/* The addresses of request `i` of a warp, from those of its threads, of which there are n, and the stride between the
 * lines of a matrix. Returns how many addresses there are, each of *bytes; 0 behind the last request. */
static unsigned request_of(const struct gt_static_access *access, unsigned i, int64_t addresses[32], unsigned n,
			  int64_t stride, unsigned *bytes)
{
	*bytes = access->bytes;
	if (n == 0 || (i > 0 && access->spread != GT_STATIC_BY_LINES))
		return 0;
	if (access->spread == GT_STATIC_BY_LINES)
		return spread_lines(access, i, addresses, stride, bytes);
	if (access->spread != GT_STATIC_IN_BULK)
		return n;
	for (unsigned lane = 1; lane < access->lanes; lane++)
		addresses[lane] = addresses[0] + (int64_t)lane * GT_STATIC_PIECE;
	return access->lanes;
}

/* The degree of coalescing of an access, from its expression. */

#define REQUESTS_MAX (UINT64_C(1) << 14) /* of an access that are counted */
#define TURNS_MAX    1024 /* combinations of iterations of loops, for alignment */

/* The period of a term's alignment to a sector, in iterations of a loop. Known only if the other factors of the term
 * are the same for all threads. */
static uint32_t period_of(struct gt_static_place *place, const struct gt_static_term *term, uint32_t loop)
{
	uint64_t step = (uint64_t)term->factor;
	uint32_t period = GT_STATIC_SECTOR;

	for (uint32_t i = 0; i < term->n; i++) {
		const struct gt_static_atom *atom = &place->analysis->atoms[term->atoms[i]];

		if (i != loop && atom->kind != GT_STATIC_ATOM_PARAMETER &&
		    (atom->kind != GT_STATIC_ATOM_SPECIAL || (strncmp(atom->name, "%n", 2) != 0)))
			return period;
		if (i != loop)
			step *= (uint64_t)gt_static_atom_value(place, atom);
	}
	for (; period > 1 && step % 2 == 0; step /= 2)
		period /= 2;
	return period;
}

static void note_loop(struct gt_static_place *place, uint32_t block, uint32_t period)
{
	uint32_t i = 0;

	while (i < place->n_loops && place->loops[i] != block)
		i++;
	if (i == GT_STATIC_LOOPS)
		return;
	if (i == place->n_loops) {
		place->loops[place->n_loops++] = block;
		place->period[i] = 1;
	}
	if (period > place->period[i])
		place->period[i] = period;
}

/* Finds the loops of an address and their periods. */
static void find_loops(struct gt_static_place *place, const struct gt_static_poly *poly, bool inside)
{
	for (uint32_t i = 0; i < poly->n; i++)
		for (uint32_t j = 0; j < poly->terms[i].n; j++) {
			const struct gt_static_atom *atom = &place->analysis->atoms[poly->terms[i].atoms[j]];

			if (atom->kind == GT_STATIC_ATOM_LOOP)
				note_loop(place, atom->block,
					  inside ? GT_STATIC_SECTOR : period_of(place, &poly->terms[i], j));
			for (uint32_t k = 0; k < atom->n; k++)
				find_loops(place, atom->children[k], true);
		}
}

/* Goes to the next combination of iterations; false after the last. */
static bool next_turns(struct gt_static_place *place)
{
	for (uint32_t i = 0; i < place->n_loops; i++) {
		if (++place->turns[i] < place->period[i])
			return true;
		place->turns[i] = 0;
	}
	return false;
}

/* Counts warp w of the block in the current iterations. */
static void measure_warp(struct gt_static_place *place, const struct gt_static_access *access, uint64_t w, uint64_t threads,
			 struct gt_static_degree *degree)
{
	const uint32_t *shape = place->launch->block;
	int64_t addresses[GT_STATIC_WARP];
	unsigned n = 0;

	for (uint64_t t = w * GT_STATIC_WARP; t < threads && n < GT_STATIC_WARP; t++) {
		place->thread[0] = (uint32_t)(t % shape[0]);
		place->thread[1] = (uint32_t)(t / shape[0] % shape[1]);
		place->thread[2] = (uint32_t)(t / shape[0] / shape[1]);
		addresses[n++] = gt_static_evaluate(place, access->poly);
	}
	if (n == 0)
		return;
	int64_t stride = access->stride_poly ? gt_static_evaluate(place, access->stride_poly) : 0, first = addresses[0];
	unsigned bytes;
	for (unsigned i = 0; (n = request_of(access, i, addresses, n, stride, &bytes)) > 0; i++) {
		gt_degree_add(&degree->sums, (const uint64_t *)addresses, n, bytes);
		addresses[0] = first;
	}
}

static void measure_block(struct gt_static_place *place, const struct gt_static_access *access, uint64_t threads,
			  struct gt_static_degree *degree)
{
	unsigned combinations = 0;

	memset(place->turns, 0, sizeof place->turns);
	do {
		for (uint64_t w = 0; w * GT_STATIC_WARP < threads && place->basis < GT_STATIC_LOADED; w++)
			measure_warp(place, access, w, threads, degree);
	} while (next_turns(place) && ++combinations < TURNS_MAX);
}

void gt_static_measure(const struct gt_static *analysis, size_t i, const struct gt_static_launch *launch,
		       struct gt_static_degree *degree)
{
	const struct gt_static_access *access = &analysis->accesses[i];
	struct gt_static_place place = {
		.analysis = analysis,
		.launch = launch,
		.basis = access->spread == GT_STATIC_FROM_MAP ? GT_STATIC_UNKNOWN : GT_STATIC_EXACT,
	};
	const uint32_t *grid = launch->grid, *block = launch->block;
	uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];

	memset(degree, 0, sizeof *degree);
	find_loops(&place, access->poly, false);
	if (access->stride_poly)
		find_loops(&place, access->stride_poly, true);
	for (uint64_t b = 0; b < blocks && degree->sums.accesses < REQUESTS_MAX && place.basis < GT_STATIC_LOADED; b++) {
		place.block[0] = (uint32_t)(b % grid[0]);
		place.block[1] = (uint32_t)(b / grid[0] % grid[1]);
		place.block[2] = (uint32_t)(b / grid[0] / grid[1]);
		measure_block(&place, access, threads, degree);
	}
	degree->basis = place.basis;
}

/* The report of gtrace-ptx --static: a line of fields for each access, one for the loads together. */

/* A kernel's loads together. */
struct together {
	struct gt_degree_mean mean;
	enum gt_static_basis basis;
};

void gt_static_write_header(enum gt_static_output output, FILE *to)
{
	if (output == GT_STATIC_VOLUMES)
		fputs("#kernel\tline\top\trequests\tsectors\tblock_sectors\tgrid_sectors\tbasis\n", to);
	else
		fputs("#kernel\tline\top\tbytes\tdegree\trange_sectors\texpected\tsectors\tbasis\taddress\n", to);
}

static void add(struct together *all, const struct gt_static_degree *degree)
{
	if (degree->basis > all->basis)
		all->basis = degree->basis;
	if (degree->basis < GT_STATIC_LOADED)
		gt_degree_mean_add(&all->mean, &degree->sums);
}

static void write_together(const struct together *all, struct gt_static_choice choice, FILE *to)
{
	if (all->mean.n == 0)
		return;
	fprintf(to, "%s\tall\tload\t-", choice.name);
	gt_degree_mean_write(&all->mean, to);
	/* Loads without a degree are left out, and the basis says so. */
	fprintf(to, "\t%s\t%" PRIu64 " loads\n", gt_static_bases[all->basis >= GT_STATIC_LOADED ? GT_STATIC_ASSUMED : all->basis],
		all->mean.n);
	if (choice.output == GT_STATIC_TREES)
		gt_degree_mean_write_graph(&all->mean, to);
}

static int write_access(const struct gt_static *analysis, size_t i, const struct gt_static_launch *launch,
			struct gt_static_choice choice, struct together *all, FILE *to, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = gt_static_instruction(analysis, i);
	struct gt_static_degree degree;
	bool known;

	gt_static_measure(analysis, i, launch, &degree);
	known = degree.basis < GT_STATIC_LOADED;
	if (is_load(analysis, i))
		add(all, &degree);
	fprintf(to, "%s\t%u\t%s\t", choice.name, instruction->line, gt_static_action_name(gt_static_action(analysis, i)));
	if (gt_static_bytes(analysis, i) > 0)
		fprintf(to, "%u", gt_static_bytes(analysis, i));
	else
		fputc('-', to);
	gt_degree_write(known ? &degree.sums : &(struct gt_degree){0}, to);
	fprintf(to, "\t%s\t", gt_static_bases[degree.basis]);
	gt_static_write_expression(analysis, i, launch, to);
	fputc('\n', to);
	if (choice.output != GT_STATIC_TREES)
		return 0;
	if (known)
		gt_degree_write_graph(&degree.sums, to);
	return write_access_tree(analysis, i, to, error);
}

static int gt_static_write(const struct gt_ptx_function *kernel, const struct gt_static_launch *launch,
			   struct gt_static_choice choice, FILE *to, struct gt_error *error)
{
	struct gt_static *analysis = gt_static_open(kernel, error);
	struct together all = {0};
	int result = analysis ? 0 : -1;

	if (result == 0 && choice.output == GT_STATIC_VOLUMES)
		result = gt_static_write_volumes(analysis, launch, choice.name, to, error);
	for (size_t i = 0; result == 0 && choice.output != GT_STATIC_VOLUMES && i < gt_static_accesses(analysis); i++)
		result = write_access(analysis, i, launch, choice, &all, to, error);
	if (result == 0 && choice.output != GT_STATIC_VOLUMES)
		write_together(&all, choice, to);
	gt_static_close(analysis);
	return result;
}

/* The static analysis of a launch, and of all kernels of a module. */

static int write_shown(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
		       const struct gt_static_launch *launch, enum gt_static_output output, FILE *to, struct gt_error *error)
{
	char name[GT_KERNEL_NAME];
	struct gt_static_choice choice = {.name = gt_ptx_shown_name(module, kernel, name), .output = output};

	return gt_static_write(kernel, launch, choice, to, error);
}

int gt_static_write_call(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 const struct gt_ptx_launch_line *call, const unsigned char *parameters, enum gt_static_output output, FILE *to,
			 struct gt_error *error)
{
	const char **names = calloc(kernel->n_parameters + 1, sizeof(const char *));
	struct gt_static_launch launch = {.parameters = parameters, .names = names};
	int result;

	if (!names)
		return gt_fail_memory(error, "the names of parameters");
	for (size_t i = 0; i < call->n && i < kernel->n_parameters; i++)
		names[i] = call->arguments[i].name[0] ? call->arguments[i].name : NULL;
	memcpy(launch.grid, call->grid, sizeof launch.grid);
	memcpy(launch.block, call->block, sizeof launch.block);
	result = write_shown(module, kernel, &launch, output, to, error);
	free(names);
	return result;
}

int gt_static_write_module(const struct gt_ptx_module *module, const struct gt_static_launch *shape, enum gt_static_output output,
			   FILE *to, struct gt_error *error)
{
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *kernel = &module->functions[i];

		if (kernel->entry && !kernel->declaration && write_shown(module, kernel, shape, output, to, error) != 0)
			return -1;
	}
	return 0;
}
