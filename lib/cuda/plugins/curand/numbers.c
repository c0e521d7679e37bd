/* SPDX-License-Identifier: MIT */
/* Numbers of a distribution from draws. The formulas are those of cuRAND's manual and headers: a uniform number is the middle of
 * its interval, so that it is never 0; two normal numbers are made of two uniform ones (Box and Muller, 1958). */
#include "cuda/plugins/curand/numbers.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.283185307179586
#define MRG_UNIT 2.3283065498378288e-10 /* 2^-32 and so much more that 2^32 - 209 becomes 1 */
#define MRG_BITS 1.000000048662		/* stretches 2^32 - 209 to 32 bits */

float gt_uniform_of(uint32_t draw)
{
	return (float)draw * 0x1p-32F + 0x1p-33F;
}

double gt_uniform_f64_of(uint32_t first, uint32_t second)
{
	return (double)(first ^ (uint64_t)second << 21) * 0x1p-53 + 0x1p-54;
}

/* Uniform number i of the draws of a group. */
static float uniform(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	return engine->moduli ? (float)(draws[i] * MRG_UNIT) : gt_uniform_of(draws[i]);
}

static double uniform_f64(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	return engine->moduli ? draws[i] * MRG_UNIT : gt_uniform_f64_of(draws[2 * i], draws[2 * i + 1]);
}

static float normal(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	const float distance = sqrtf(-2 * logf(uniform(engine, draws, i & ~1U)));
	const float angle = engine->moduli ? uniform(engine, draws, i | 1) * (float)TWO_PI
					   : (float)draws[i | 1] * (0x1p-32F * (float)TWO_PI) + 0x1p-33F * (float)TWO_PI;

	return distance * (i % 2 == 0 ? sinf(angle) : cosf(angle));
}

static double normal_f64(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	const double distance = sqrt(-2 * log(uniform_f64(engine, draws, i & ~1U)));
	const double angle = uniform_f64(engine, draws, i | 1) * TWO_PI;

	return distance * (i % 2 == 0 ? sin(angle) : cos(angle));
}

unsigned gt_numbers_together(const struct gt_curand_engine *engine, enum gt_variate variate)
{
	const unsigned least = variate == GT_NORMAL || variate == GT_NORMAL_F64 ? 2 : 1;

	return engine->together > least ? engine->together : least;
}

unsigned gt_numbers_draws(const struct gt_curand_engine *engine, enum gt_variate variate)
{
	const bool two = !engine->moduli && (variate == GT_UNIFORM_F64 || variate == GT_NORMAL_F64);

	return gt_numbers_together(engine, variate) * (two ? 2 : 1);
}

/* ---- Poisson ---- */

/* Twelve standard deviations from the mean there is less than 2^-53 of the distribution. */
#define REACH(MEAN) (12 * sqrt(MEAN) + 40)

int gt_poisson_prepare(struct gt_curand_poisson *poisson, double mean)
{
	const double least = floor(mean - REACH(mean)), mode = floor(mean);
	double sum = 0;

	poisson->least = least > 0 ? (uint32_t)least : 0;
	poisson->n = (size_t)(mean + REACH(mean)) - poisson->least + 1;
	poisson->up_to = malloc(poisson->n * sizeof *poisson->up_to);
	if (!poisson->up_to)
		return -1;
	/* Neighbours differ by the factor mean / k. */
	const size_t peak = (size_t)mode - poisson->least;
	poisson->up_to[peak] = 1;
	for (size_t i = peak + 1; i < poisson->n; i++)
		poisson->up_to[i] = poisson->up_to[i - 1] * mean / (double)(poisson->least + i);
	for (size_t i = peak; i > 0; i--)
		poisson->up_to[i - 1] = poisson->up_to[i] * (double)(poisson->least + i) / mean;
	for (size_t i = 0; i < poisson->n; i++)
		poisson->up_to[i] = sum += poisson->up_to[i];
	for (size_t i = 0; i < poisson->n; i++)
		poisson->up_to[i] /= sum;
	return 0;
}

uint32_t gt_poisson_of(const struct gt_curand_poisson *poisson, double p)
{
	size_t low = 0, high = poisson->n - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (poisson->up_to[middle] < p)
			low = middle + 1;
		else
			high = middle;
	}
	return poisson->least + (uint32_t)low;
}

/* ---- any ---- */

void gt_number_write(const struct gt_curand_law *law, enum gt_variate variate, double standard, void *to, size_t i)
{
	const double normal_number = law->shift + law->scale * standard;

	switch (variate) {
	case GT_UNIFORM:
		((float *)to)[i] = (float)standard;
		break;
	case GT_UNIFORM_F64:
		((double *)to)[i] = standard;
		break;
	case GT_NORMAL:
		((float *)to)[i] = law->logarithmic ? expf((float)normal_number) : (float)normal_number;
		break;
	case GT_NORMAL_F64:
		((double *)to)[i] = law->logarithmic ? exp(normal_number) : normal_number;
		break;
	default:
		((uint32_t *)to)[i] = variate == GT_POISSON ? gt_poisson_of(&law->poisson, standard) : (uint32_t)standard;
	}
}

double gt_number_of(const struct gt_curand_engine *engine, enum gt_variate variate, const uint32_t *draws, unsigned i)
{
	switch (variate) {
	case GT_UNIFORM:
		return (double)uniform(engine, draws, i);
	case GT_UNIFORM_F64:
		return uniform_f64(engine, draws, i);
	case GT_NORMAL:
		return (double)normal(engine, draws, i);
	case GT_NORMAL_F64:
		return normal_f64(engine, draws, i);
	case GT_POISSON:
		return engine->moduli ? draws[i] * MRG_UNIT : draws[i] * 0x1p-32 + 0x1p-33;
	default:
		return engine->moduli ? (uint32_t)(draws[i] * MRG_BITS) : draws[i];
	}
}
