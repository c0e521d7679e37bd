/* SPDX-License-Identifier: MIT */
/* The calls that make numbers. */
#include <math.h>
#include <stdlib.h>

#include "cuda/plugins/curand/numbers.h"

/* The normal number below which lie p of all: Newton's method on the logarithm of the distribution, which is concave, so that it
 * comes from the left and does not overshoot. */
static double normal_below(double p)
{
	if (p >= 0.5)
		return p > 0.5 ? -normal_below(1 - p) : 0;
	double z = -sqrt(-2 * log(p)), step = 1;
	for (unsigned i = 0; i < 100 && fabs(step) > 1e-15 * (1 + fabs(z)); i++) {
		double below = erfc(-z / sqrt(2)) / 2, density = exp(-z * z / 2) / sqrt(2 * acos(-1));
		step = (log(p) - log(below)) * below / density;
		z += step;
	}
	return z;
}

/* The upper half is the lower one's mirror image, as cuRAND has it: near 1 a float has too few bits. */
static double quasi_normal(uint32_t x)
{
	return x > UINT32_C(1) << 31 ? -normal_below((double)gt_uniform_of(~x)) : normal_below((double)gt_uniform_of(x));
}

/* What a number of 32 bits of a dimension stands for, as a standard one; cuRAND puts a double at the end of its interval. */
static double quasi_number(enum gt_variate variate, uint32_t x)
{
	switch (variate) {
	case GT_BITS:
		return x;
	case GT_UNIFORM:
	case GT_POISSON:
		return (double)gt_uniform_of(x);
	case GT_NORMAL:
		return quasi_normal(x);
	case GT_UNIFORM_F64:
		return (x + 1.0) * 0x1p-32;
	default:
		return normal_below(x * 0x1p-32 + 0x1p-33);
	}
}

/* The numbers of a dimension lie together. */
static int generate_quasi(struct gt_curand *generator, const struct gt_curand_law *law, enum gt_variate variate, void *to, size_t n)
{
	const size_t each = n / generator->dimensions;
	uint32_t directions[GT_SOBOL_BITS];

	for (unsigned d = 0; d < generator->dimensions; d++) {
		gt_sobol_directions(d, directions);
		for (size_t i = 0; i < each; i++)
			gt_number_write(law, variate, quasi_number(variate, gt_sobol_at(directions, generator->position + i)), to,
					d * each + i);
	}
	generator->position += each;
	return GT_CURAND_SUCCESS;
}

/* A group that a call leaves half used is made again by the next one. */
static int generate_pseudo(struct gt_curand *generator, const struct gt_curand_law *law, enum gt_variate variate, void *to, size_t n)
{
	const unsigned together = gt_numbers_together(generator->engine, variate);
	const unsigned n_draws = gt_numbers_draws(generator->engine, variate);

	for (size_t done = 0; done < n;) {
		struct gt_curand_stream stream = generator->streams[generator->next];
		uint32_t draws[GT_CURAND_GROUP];
		generator->engine->draw(&stream, n_draws, draws);
		for (; generator->within < together && done < n; generator->within++)
			gt_number_write(law, variate, gt_number_of(generator->engine, variate, draws, generator->within), to, done++);
		if (generator->within < together)
			break;
		generator->streams[generator->next] = stream;
		generator->next = (generator->next + 1) % generator->n_streams;
		generator->within = 0;
	}
	generator->position += n / together * generator->engine->together + (generator->engine->together > 1 ? n % together : 0);
	return GT_CURAND_SUCCESS;
}

/* Whether a call may ask for so many numbers. */
static int judge(const struct gt_curand *generator, enum gt_variate variate, size_t n)
{
	const bool pairs = variate == GT_NORMAL || variate == GT_NORMAL_F64;

	if (!generator->engine)
		return n % generator->dimensions == 0 ? GT_CURAND_SUCCESS : GT_CURAND_LENGTH_NOT_MULTIPLE;
	return !pairs || n % 2 == 0 || generator->engine->together > 1 ? GT_CURAND_SUCCESS : GT_CURAND_LENGTH_NOT_MULTIPLE;
}

static size_t bytes_of(enum gt_variate variate)
{
	return variate == GT_UNIFORM_F64 || variate == GT_NORMAL_F64 ? sizeof(double) : sizeof(uint32_t);
}

static int generate(const char *call, struct gt_curand *generator, struct gt_curand_law law, enum gt_variate variate, void *to, size_t n)
{
	int status = generator ? judge(generator, variate, n) : GT_CURAND_NOT_INITIALIZED;

	if (status == GT_CURAND_SUCCESS)
		status = gt_curand_begin(generator);
	if (status != GT_CURAND_SUCCESS || n == 0)
		return status;
	if (!generator->on_host) {
		if (!gt_stub_begin(call, generator->stream))
			return GT_CURAND_LAUNCH_FAILURE;
		to = gt_stub_at(call, to, n, bytes_of(variate), true);
	}
	status = generator->engine ? generate_pseudo(generator, &law, variate, to, n)
				   : generate_quasi(generator, &law, variate, to, n);
	if (!generator->on_host)
		gt_stub_end();
	return status;
}

/* Calls without parameters. */
#define PLAIN(NAME, TYPE, VARIATE)                                                                       \
	API int curand##NAME(struct gt_curand *generator, TYPE *to, size_t n)                             \
	{                                                                                                 \
		return generate("curand" #NAME, generator, (struct gt_curand_law){.scale = 1}, VARIATE, to, n);  \
	}
PLAIN(Generate, uint32_t, GT_BITS)
PLAIN(GenerateUniform, float, GT_UNIFORM)
PLAIN(GenerateUniformDouble, double, GT_UNIFORM_F64)

#define NORMAL(NAME, TYPE, VARIATE, LOGARITHMIC)                                                                     \
	API int curand##NAME(struct gt_curand *generator, TYPE *to, size_t n, TYPE mean, TYPE deviation)              \
	{                                                                                                             \
		const struct gt_curand_law law = {.shift = (double)mean, .scale = (double)deviation, .logarithmic = LOGARITHMIC}; \
		return generate("curand" #NAME, generator, law, VARIATE, to, n);                                      \
	}
NORMAL(GenerateNormal, float, GT_NORMAL, false)
NORMAL(GenerateNormalDouble, double, GT_NORMAL_F64, false)
NORMAL(GenerateLogNormal, float, GT_NORMAL, true)
NORMAL(GenerateLogNormalDouble, double, GT_NORMAL_F64, true)

#define MOST_EVENTS 400000 /* the greatest mean that cuRAND's manual allows */

API int curandGeneratePoisson(struct gt_curand *generator, uint32_t *to, size_t n, double mean)
{
	struct gt_curand_law law = {0};

	if (!(mean > 0 && mean <= MOST_EVENTS))
		return GT_CURAND_OUT_OF_RANGE;
	if (gt_poisson_prepare(&law.poisson, mean) != 0)
		return GT_CURAND_ALLOCATION_FAILED;
	int status = generate("curandGeneratePoisson", generator, law, GT_POISSON, to, n);
	free(law.poisson.up_to);
	return status;
}

/* Only generators of 64 bits have it, which are refused when they are made. */
API int curandGenerateLongLong(struct gt_curand *generator, uint64_t *to, size_t n)
{
	(void)to, (void)n;
	return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
}

/* Makes the streams now, which numbers would make else. */
API int curandGenerateSeeds(struct gt_curand *generator)
{
	return generator ? gt_curand_begin(generator) : GT_CURAND_NOT_INITIALIZED;
}
