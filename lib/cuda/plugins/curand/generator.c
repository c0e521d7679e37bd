/* SPDX-License-Identifier: MIT */
/* Generators and their settings. */
#include <stdlib.h>

#include "cuda/plugins/curand/curand.h"

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

int gt_curand_begin(struct gt_curand *generator)
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
