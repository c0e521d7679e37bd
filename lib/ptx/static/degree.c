/* SPDX-License-Identifier: MIT */
/* How the lanes of each warp lie to each other: [003] eq. (1) and (2). */
#include <string.h>

#include "ptx/exec/machine.h"
#include "ptx/static/parts.h"

#define RANGE	     128 /* bytes of the coalescing range [003] III.C */
#define WARP	     32
#define REQUESTS_MAX (UINT64_C(1) << 14) /* of an access that are looked at */
#define TURNS_MAX    1024 /* combinations of turns of loops, for alignment */
#define LOOPS_MAX    8

/* Where an address is computed: one thread, one turn of each loop. */
struct place {
	const struct gt_static *analysis;
	const struct gt_static_launch *launch;
	uint32_t thread[3], block[3];
	uint32_t loops[LOOPS_MAX]; /* the blocks that begin them */
	uint32_t turns[LOOPS_MAX], period[LOOPS_MAX];
	uint32_t n_loops;
	enum gt_static_basis basis;
};

static void doubt(struct place *place, enum gt_static_basis basis)
{
	if (basis > place->basis)
		place->basis = basis;
}

static int64_t evaluate(struct place *place, const struct gt_static_poly *poly);

static int64_t special(struct place *place, const char *name)
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

		return (t[0] + n[0] * (t[1] + (uint64_t)n[1] * t[2])) % WARP;
	}
	doubt(place, GT_STATIC_UNKNOWN);
	return 0;
}

static int64_t parameter(struct place *place, const struct gt_static_atom *atom)
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
	/* A 32-bit size is read as .b32 or .u32 and used as what it is. */
	return gt_static_narrow(value, bytes == 4 ? GT_PTX_S32 : type);
}

static int64_t operation(struct place *place, const struct gt_static_atom *atom)
{
	const struct gt_ptx_instruction *instruction = place->analysis->values[atom->value].instruction;
	enum gt_ptx_type type = gt_static_type(instruction);
	int64_t operands[2] = {0, 0};

	for (uint32_t i = 0; i < atom->n && i < 2; i++)
		operands[i] = gt_static_narrow(evaluate(place, atom->children[i]), type);
	return gt_static_narrow(gt_static_operation_of(instruction)->result(instruction, type, operands), type);
}

static int64_t turn(const struct place *place, uint32_t block)
{
	for (uint32_t i = 0; i < place->n_loops; i++)
		if (place->loops[i] == block)
			return place->turns[i];
	return 0;
}

/* Of several ways the first is taken; what the others depend on counts. */
static int64_t first_of(struct place *place, const struct gt_static_atom *atom)
{
	doubt(place, GT_STATIC_ASSUMED);
	for (uint32_t i = 1; i < atom->n; i++)
		evaluate(place, atom->children[i]);
	return evaluate(place, atom->children[0]);
}

static int64_t atom_value(struct place *place, const struct gt_static_atom *atom)
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

/* A buffer's address by itself: allocations begin at multiples of a line, so 0 will do. */
static bool is_pointer(const struct place *place, const struct gt_static_term *term)
{
	const struct gt_static_atom *atom = &place->analysis->atoms[term->atoms[0]];

	return term->n == 1 && term->factor == 1 && !place->launch->parameters &&
	       atom->kind == GT_STATIC_ATOM_PARAMETER && gt_ptx_type_size((enum gt_ptx_type)atom->value) == 8;
}

static int64_t evaluate(struct place *place, const struct gt_static_poly *poly)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < poly->n; i++) {
		const struct gt_static_term *term = &poly->terms[i];
		uint64_t product = (uint64_t)term->factor;

		if (is_pointer(place, term))
			continue;
		for (uint32_t j = 0; j < term->n; j++)
			product *= (uint64_t)atom_value(place, &place->analysis->atoms[term->atoms[j]]);
		sum += product;
	}
	return (int64_t)sum;
}

/* The turns after which what a term adds repeats, as far as alignment to a sector goes: of a term
 * that has the loop once, and beside it what is the same for all threads. */
static uint32_t period_of(struct place *place, const struct gt_static_term *term, uint32_t loop)
{
	uint64_t step = (uint64_t)term->factor;
	uint32_t period = GT_STATIC_SECTOR;

	for (uint32_t i = 0; i < term->n; i++) {
		const struct gt_static_atom *atom = &place->analysis->atoms[term->atoms[i]];

		if (i != loop && atom->kind != GT_STATIC_ATOM_PARAMETER &&
		    (atom->kind != GT_STATIC_ATOM_SPECIAL || (strncmp(atom->name, "%n", 2) != 0)))
			return period;
		if (i != loop)
			step *= (uint64_t)atom_value(place, atom);
	}
	for (; period > 1 && step % 2 == 0; step /= 2)
		period /= 2;
	return period;
}

static void note_loop(struct place *place, uint32_t block, uint32_t period)
{
	uint32_t i = 0;

	while (i < place->n_loops && place->loops[i] != block)
		i++;
	if (i == LOOPS_MAX)
		return;
	if (i == place->n_loops) {
		place->loops[place->n_loops++] = block;
		place->period[i] = 1;
	}
	if (period > place->period[i])
		place->period[i] = period;
}

/* Finds the loops of an address and their periods. */
static void find_loops(struct place *place, const struct gt_static_poly *poly, bool inside)
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

/* The next combination of turns; false after the last. */
static bool next_turns(struct place *place)
{
	for (uint32_t i = 0; i < place->n_loops; i++) {
		if (++place->turns[i] < place->period[i])
			return true;
		place->turns[i] = 0;
	}
	return false;
}

/* Counts one request: where its lanes lie, from the start of the first one's sector on. */
static void count_request(const int64_t *addresses, unsigned n, unsigned bytes, struct gt_static_degree *degree)
{
	uint64_t start = (uint64_t)addresses[0] & ~(uint64_t)(GT_STATIC_SECTOR - 1);
	uint64_t sectors[2 * WARP];
	unsigned n_sectors = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t offset = (uint64_t)addresses[i] - start;

		if (offset < RANGE) {
			degree->in_range++;
			degree->graph[offset / (RANGE / GT_STATIC_POINTS)]++;
		}
		for (unsigned part = 0; part < 2; part++) {
			uint64_t sector =
				((uint64_t)addresses[i] + (part && bytes ? bytes - 1 : 0)) / GT_STATIC_SECTOR;
			unsigned j = 0;

			while (j < n_sectors && sectors[j] != sector)
				j++;
			sectors[j] = sector;
			n_sectors += j == n_sectors;
		}
	}
	degree->requests++;
	degree->threads += n;
	degree->sectors += n_sectors;
}

/* The lanes of warp w of a block, at these turns. */
static void measure_warp(struct place *place, const struct gt_static_access *access, uint64_t w, uint64_t threads,
			 struct gt_static_degree *degree)
{
	const uint32_t *shape = place->launch->block;
	int64_t addresses[WARP];
	unsigned n = 0;

	for (uint64_t t = w * WARP; t < threads && n < WARP; t++) {
		place->thread[0] = (uint32_t)(t % shape[0]);
		place->thread[1] = (uint32_t)(t / shape[0] % shape[1]);
		place->thread[2] = (uint32_t)(t / shape[0] / shape[1]);
		addresses[n++] = evaluate(place, access->poly);
	}
	if (n)
		count_request(addresses, n, access->bytes, degree);
}

static void measure_block(struct place *place, const struct gt_static_access *access, uint64_t threads,
			  struct gt_static_degree *degree)
{
	unsigned combinations = 0;

	memset(place->turns, 0, sizeof place->turns);
	do {
		for (uint64_t w = 0; w * WARP < threads && place->basis < GT_STATIC_LOADED; w++)
			measure_warp(place, access, w, threads, degree);
	} while (next_turns(place) && ++combinations < TURNS_MAX);
}

void gt_static_measure(const struct gt_static *analysis, size_t i, const struct gt_static_launch *launch,
		       struct gt_static_degree *degree)
{
	const struct gt_static_access *access = &analysis->accesses[i];
	struct place place = {.analysis = analysis, .launch = launch};
	const uint32_t *grid = launch->grid, *block = launch->block;
	uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];

	memset(degree, 0, sizeof *degree);
	find_loops(&place, access->poly, false);
	for (uint64_t b = 0; b < blocks && degree->requests < REQUESTS_MAX && place.basis < GT_STATIC_LOADED; b++) {
		place.block[0] = (uint32_t)(b % grid[0]);
		place.block[1] = (uint32_t)(b / grid[0] % grid[1]);
		place.block[2] = (uint32_t)(b / grid[0] / grid[1]);
		measure_block(&place, access, threads, degree);
	}
	degree->basis = place.basis;
}

unsigned gt_static_range_sectors(const struct gt_static_degree *degree)
{
	unsigned sectors = 0, points = GT_STATIC_POINTS * GT_STATIC_SECTOR / RANGE;

	for (unsigned i = 0; i < GT_STATIC_POINTS; i += points) {
		uint64_t threads = 0;

		for (unsigned j = 0; j < points; j++)
			threads += degree->graph[i + j];
		sectors += threads > 0;
	}
	return sectors;
}
