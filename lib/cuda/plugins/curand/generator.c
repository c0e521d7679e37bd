/* SPDX-License-Identifier: MIT */
/* Generators and their settings. */
#include <math.h>
#include <stdlib.h>

#include "cuda/plugins/curand/curand.h"
#include "cuda/plugins/curand/numbers.h"

#define VERSION_MAJOR 10
#define VERSION_MINOR 4
#define VERSION_PATCH 0

static const struct gt_curand_engine *engine_of(enum gt_curand_type type)
{
	return type == GT_CURAND_XORWOW ? &gt_curand_xorwow
	       : type == GT_CURAND_MRG32K3A ? &gt_curand_mrg32k3a
	       : type == GT_CURAND_PHILOX ? &gt_curand_philox
					  : NULL;
}

/* The name of a generator that is known and not had, or NULL. */
static const char *refused(int type)
{
	static const struct {
		int type;
		const char *name;
	} generators[] = {{141, "curandCreateGenerator of MTGP32"}, {142, "curandCreateGenerator of MT19937"},
			  {202, "curandCreateGenerator of scrambled SOBOL32"}, {203, "curandCreateGenerator of SOBOL64"},
			  {204, "curandCreateGenerator of scrambled SOBOL64"}};

	for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
		if (generators[i].type == type)
			return generators[i].name;
	return NULL;
}

static int create(struct gt_curand **generator, int type, bool on_host)
{
	const int known = type == GT_CURAND_DEFAULT ? GT_CURAND_XORWOW : type == GT_CURAND_QUASI_DEFAULT ? GT_CURAND_SOBOL32 : type;
	const struct gt_curand_engine *engine = engine_of((enum gt_curand_type)known);

	if (!engine && known != GT_CURAND_SOBOL32) {
		if (refused(type))
			gt_stub_refuse(refused(type));
		return GT_CURAND_TYPE_ERROR;
	}
	*generator = malloc(sizeof **generator);
	if (!*generator)
		return GT_CURAND_ALLOCATION_FAILED;
	**generator = (struct gt_curand){.engine = engine, .on_host = on_host, .dimensions = 1,
					 .ordering = engine ? GT_CURAND_ORDER_DEFAULT : GT_CURAND_QUASI_ORDER};
	return GT_CURAND_SUCCESS;
}

API int curandCreateGenerator(struct gt_curand **generator, int type)
{
	return create(generator, type, false);
}

API int curandCreateGeneratorHost(struct gt_curand **generator, int type)
{
	return create(generator, type, true);
}

API int curandDestroyGenerator(struct gt_curand *generator)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	free(generator->streams);
	free(generator);
	return GT_CURAND_SUCCESS;
}

API int curandGetVersion(int *version)
{
	*version = VERSION_MAJOR * 1000 + VERSION_MINOR * 100 + VERSION_PATCH;
	return GT_CURAND_SUCCESS;
}

API int curandGetProperty(int which, int *value)
{
	static const int parts[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH};

	if (which < 0 || which > 2 || !value)
		return GT_CURAND_OUT_OF_RANGE;
	*value = parts[which];
	return GT_CURAND_SUCCESS;
}

/* ---- settings ---- */

API int curandSetStream(struct gt_curand *generator, void *stream)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	generator->stream = stream;
	return GT_CURAND_SUCCESS;
}

/* The streams are made anew when numbers are asked for. */
static int restart(struct gt_curand *generator)
{
	free(generator->streams);
	generator->streams = NULL;
	return GT_CURAND_SUCCESS;
}

API int curandSetPseudoRandomGeneratorSeed(struct gt_curand *generator, unsigned long long seed)
{
	if (!generator || !generator->engine)
		return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
	generator->seed = seed;
	return restart(generator);
}

API int curandSetGeneratorOffset(struct gt_curand *generator, unsigned long long offset)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	generator->position = offset;
	return restart(generator);
}

API int curandSetGeneratorOrdering(struct gt_curand *generator, int ordering)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	const bool known = generator->engine ? ordering == GT_CURAND_BEST || ordering == GT_CURAND_ORDER_DEFAULT ||
						       ordering == GT_CURAND_LEGACY
					     : ordering == GT_CURAND_QUASI_ORDER;
	if (!known) {
		gt_stub_refuse("curandSetGeneratorOrdering of this order");
		return GT_CURAND_OUT_OF_RANGE;
	}
	generator->ordering = ordering;
	return restart(generator);
}

API int curandSetQuasiRandomGeneratorDimensions(struct gt_curand *generator, unsigned dimensions)
{
	if (!generator || generator->engine)
		return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
	if (dimensions == 0 || dimensions > GT_SOBOL_DIMENSIONS) {
		if (dimensions > 0)
			gt_stub_refuse("curandSetQuasiRandomGeneratorDimensions of more than 21");
		return GT_CURAND_OUT_OF_RANGE;
	}
	generator->dimensions = dimensions;
	return GT_CURAND_SUCCESS;
}

/* Puts a pseudorandom generator's streams where its seed and offset say. Returns a status. */
static int gt_curand_begin(struct gt_curand *generator)
{
	const struct gt_curand_engine *engine = generator->engine;

	if (!engine || generator->streams)
		return GT_CURAND_SUCCESS;
	const unsigned n = generator->ordering == GT_CURAND_LEGACY ? engine->legacy_streams : engine->streams;
	const uint64_t groups = generator->position / engine->together;
	generator->streams = malloc(n * sizeof *generator->streams);
	if (!generator->streams)
		return GT_CURAND_ALLOCATION_FAILED;
	generator->n_streams = n;
	generator->next = (unsigned)(groups % n);
	generator->within = (unsigned)(generator->position % engine->together);
	engine->seed(generator->streams, n, generator->seed);
	/* The streams before the next one have had one turn more. */
	engine->skip(generator->streams, n, groups / n * engine->together);
	engine->skip(generator->streams, generator->next, engine->together);
	return GT_CURAND_SUCCESS;
}

/* The calls that make numbers. */

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
