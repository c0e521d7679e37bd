/* SPDX-License-Identifier: MIT */
/* The degree of coalescing of an access, from its expression. */
#include <string.h>

#include "cuda/ptx/static/evaluate.h"
#include "cuda/ptx/static/spread.h"

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
	for (unsigned i = 0; (n = gt_static_request_of(access, i, addresses, n, stride, &bytes)) > 0; i++) {
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
