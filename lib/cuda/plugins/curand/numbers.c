/* SPDX-License-Identifier: MIT */
/* Numbers of a distribution from draws. The formulas are those of cuRAND's manual and headers: a uniform number is the middle of
 * its interval, so that it is never 0; two normal numbers are made of two uniform ones (Box and Muller, 1958). */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS is not in POSIX */

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/plugins/curand/curand.h"
#include "cuda/plugins/curand/numbers.h"

/* Sobol's sequence of 32 bits, in Gray code's order (Bratley and Fox, Algorithm 659, 1988), with the direction numbers of Joe and Kuo
 * ("Constructing Sobol Sequences with Better Two-Dimensional Projections", 2008, new-joe-kuo-6), which are cuRAND's. */

/* Of each dimension but the first: the degree of its polynomial, the polynomial's inner coefficients, and its first numbers. */
static const struct {
	unsigned degree, coefficients;
	uint32_t first[7];
} dimensions[GT_SOBOL_DIMENSIONS - 1] = {
	{1, 0, {1}},
	{2, 1, {1, 3}},
	{3, 1, {1, 3, 1}},
	{3, 2, {1, 1, 1}},
	{4, 1, {1, 1, 3, 3}},
	{4, 4, {1, 3, 5, 13}},
	{5, 2, {1, 1, 5, 5, 17}},
	{5, 4, {1, 1, 5, 5, 5}},
	{5, 7, {1, 1, 7, 11, 19}},
	{5, 11, {1, 1, 5, 1, 1}},
	{5, 13, {1, 1, 1, 3, 11}},
	{5, 14, {1, 3, 5, 5, 31}},
	{6, 1, {1, 3, 3, 9, 7, 49}},
	{6, 13, {1, 1, 1, 15, 21, 21}},
	{6, 16, {1, 3, 1, 13, 27, 49}},
	{6, 19, {1, 1, 1, 15, 7, 5}},
	{6, 22, {1, 3, 1, 15, 13, 25}},
	{6, 25, {1, 1, 5, 5, 19, 61}},
	{7, 1, {1, 3, 7, 11, 23, 15, 103}},
	{7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

void gt_sobol_directions(unsigned dimension, uint32_t of[GT_SOBOL_BITS])
{
	const unsigned degree = dimension == 0 ? GT_SOBOL_BITS : dimensions[dimension - 1].degree;

	for (unsigned bit = 0; bit < GT_SOBOL_BITS; bit++) {
		if (bit < degree) {
			of[bit] = (dimension == 0 ? 1 : dimensions[dimension - 1].first[bit]) << (GT_SOBOL_BITS - 1 - bit);
			continue;
		}
		of[bit] = of[bit - degree] ^ of[bit - degree] >> degree;
		for (unsigned term = 1; term < degree; term++)
			if (dimensions[dimension - 1].coefficients >> (degree - 1 - term) & 1)
				of[bit] ^= of[bit - term];
	}
}

uint32_t gt_sobol_at(const uint32_t of[GT_SOBOL_BITS], uint64_t i)
{
	const uint32_t index = (uint32_t)i, code = index ^ index >> 1;
	uint32_t number = 0;

	for (unsigned bit = 0; bit < GT_SOBOL_BITS; bit++)
		number ^= code >> bit & 1 ? of[bit] : 0;
	return number;
}

/* Sobol's direction vectors, which programs hand to cuRAND's device interface. cuRAND has 20,000 dimensions; behind those that are
 * known here lies memory that cannot be read, so that a program that takes a further one stops there. */


#define JOE_KUO_32 101

static uint32_t (*table)[GT_SOBOL_BITS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	const size_t bytes = GT_SOBOL_DIMENSIONS * sizeof *table, page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = (bytes + page - 1) / page * page;
	unsigned char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	table = (void *)(at + room - bytes);
	for (unsigned dimension = 0; dimension < GT_SOBOL_DIMENSIONS; dimension++)
		gt_sobol_directions(dimension, table[dimension]);
	if (mprotect(at, room, PROT_READ) != 0 || mprotect(at + room, page, PROT_NONE) != 0)
		table = NULL;
}

API int curandGetDirectionVectors32(uint32_t (**vectors)[GT_SOBOL_BITS], int set);
API int curandGetDirectionVectors32(uint32_t (**vectors)[GT_SOBOL_BITS], int set)
{
	if (set != JOE_KUO_32) {
		gt_stub_refuse("curandGetDirectionVectors32 of scrambled vectors");
		return GT_CURAND_OUT_OF_RANGE;
	}
	pthread_once(&once, make_table);
	*vectors = table;
	return table ? GT_CURAND_SUCCESS : GT_CURAND_ALLOCATION_FAILED;
}

#define TWO_PI 6.283185307179586
#define MRG_UNIT 2.3283065498378288e-10 /* 2^-32 and so much more that 2^32 - 209 becomes 1 */
#define MRG_BITS 1.000000048662		/* stretches 2^32 - 209 to 32 bits */

float gt_uniform_of(uint32_t draw)
{
	return (float)draw * 0x1p-32F + 0x1p-33F;
}

static double gt_uniform_f64_of(uint32_t first, uint32_t second)
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

/* The least number of events of which at most so many have a probability of at least p. */
static uint32_t gt_poisson_of(const struct gt_curand_poisson *poisson, double p)
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
