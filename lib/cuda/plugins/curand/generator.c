/* SPDX-License-Identifier: MIT */
/* cuRAND's generators and their settings, and the numbers of distributions that they make of draws. The formulas are those of cuRAND's
 * manual and headers: a uniform number is the middle of its interval, so that it is never 0; two normal numbers are made of two uniform
 * ones (Box and Muller, 1958). */
#define _GNU_SOURCE /* dladdr, and MAP_ANONYMOUS, which is not in POSIX */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/installed.h"
#include "cuda/plugins/curand/curand.h"

#define SOBOL_DIMENSIONS 21
#define SOBOL_BITS	    32

/* The distribution's function: up_to[i] is the probability of at most least + i events. */
struct gt_curand_poisson {
	uint32_t least;
	size_t n;
	double *up_to;
};

/* What a call makes of standard numbers: normal ones are shifted and scaled, and become exponents. */
struct gt_curand_law {
	double shift, scale; /* the mean of Poisson's is the shift */
	bool logarithmic;
	struct gt_curand_poisson poisson;
};

/* Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). A stream is a subsequence: the upper
 * half of the counter is its number, and the lower half counts its blocks of four draws. */

enum { PHILOX_COUNT, PHILOX_STREAM = 2, PHILOX_KEY = 4 }; /* words of a state, of two words each */

static void philox_seed(struct gt_curand_stream *streams, unsigned n, uint64_t seed)
{
	for (unsigned i = 0; i < n; i++)
		streams[i] = (struct gt_curand_stream){.word = {[PHILOX_STREAM] = i, [PHILOX_KEY] = (uint32_t)seed, [PHILOX_KEY + 1] = (uint32_t)(seed >> 32)}};
}

static void philox_count(struct gt_curand_stream *stream, uint64_t blocks)
{
	uint64_t counted = (stream->word[PHILOX_COUNT] | (uint64_t)stream->word[PHILOX_COUNT + 1] << 32) + blocks;

	stream->word[PHILOX_COUNT] = (uint32_t)counted;
	stream->word[PHILOX_COUNT + 1] = (uint32_t)(counted >> 32);
}

static void philox_skip(struct gt_curand_stream *streams, unsigned n, uint64_t draws)
{
	for (unsigned i = 0; i < n; i++)
		philox_count(&streams[i], draws / 4);
}

/* The four draws of the state's counter. */
static void philox_block(const struct gt_curand_stream *stream, uint32_t x[4])
{
	uint32_t key[2] = {stream->word[PHILOX_KEY], stream->word[PHILOX_KEY + 1]};

	for (unsigned i = 0; i < 4; i++)
		x[i] = stream->word[PHILOX_COUNT + i];
	for (unsigned round = 0; round < 10; round++) {
		uint64_t first = UINT64_C(0xd2511f53) * x[0], second = UINT64_C(0xcd9e8d57) * x[2];
		x[0] = (uint32_t)(second >> 32) ^ x[1] ^ key[0];
		x[1] = (uint32_t)second;
		x[2] = (uint32_t)(first >> 32) ^ x[3] ^ key[1];
		x[3] = (uint32_t)first;
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
}

/* n: a multiple of four. */
static void philox_draw(struct gt_curand_stream *stream, unsigned n, uint32_t *draws)
{
	for (unsigned i = 0; i < n; i += 4) {
		philox_block(stream, draws + i);
		philox_count(stream, 1);
	}
}

static const struct gt_curand_engine philox = {philox_seed, philox_skip, philox_draw, 65536, 65536, 4, false};

/* Sobol's sequence of 32 bits, in Gray code's order (Bratley and Fox, Algorithm 659, 1988), with the direction numbers of Joe and Kuo
 * ("Constructing Sobol Sequences with Better Two-Dimensional Projections", 2008, new-joe-kuo-6), which are cuRAND's. */

/* Of each dimension but the first: the degree of its polynomial, the polynomial's inner coefficients, and its first numbers. */
static const struct {
	unsigned degree, coefficients;
	uint32_t first[7];
} polynomials[SOBOL_DIMENSIONS - 1] = {
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

/* Sobol's sequence: what the bits of an index stand for in a dimension, */
static void sobol_directions(unsigned dimension, uint32_t directions[SOBOL_BITS])
{
	const unsigned degree = dimension == 0 ? SOBOL_BITS : polynomials[dimension - 1].degree;

	for (unsigned bit = 0; bit < SOBOL_BITS; bit++) {
		if (bit < degree) {
			directions[bit] = (dimension == 0 ? 1 : polynomials[dimension - 1].first[bit]) << (SOBOL_BITS - 1 - bit);
			continue;
		}
		directions[bit] = directions[bit - degree] ^ directions[bit - degree] >> degree;
		for (unsigned term = 1; term < degree; term++)
			if (polynomials[dimension - 1].coefficients >> (degree - 1 - term) & 1)
				directions[bit] ^= directions[bit - term];
	}
}

/* and with that number i, from 0; after 2^32 numbers it begins anew. */
static uint32_t sobol_at(const uint32_t directions[SOBOL_BITS], uint64_t i)
{
	const uint32_t index = (uint32_t)i, code = index ^ index >> 1;
	uint32_t number = 0;

	for (unsigned bit = 0; bit < SOBOL_BITS; bit++)
		number ^= code >> bit & 1 ? directions[bit] : 0;
	return number;
}

/* Sobol's direction vectors, which programs hand to cuRAND's device interface. cuRAND has 20,000 dimensions; behind those that are
 * known here lies memory that cannot be read, so that a program that takes a further one stops there. */


#define JOE_KUO_32 101

static uint32_t (*table)[SOBOL_BITS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	const size_t bytes = SOBOL_DIMENSIONS * sizeof *table, page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = (bytes + page - 1) / page * page;
	unsigned char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	table = (void *)(at + room - bytes);
	for (unsigned dimension = 0; dimension < SOBOL_DIMENSIONS; dimension++)
		sobol_directions(dimension, table[dimension]);
	if (mprotect(at, room, PROT_READ) != 0 || mprotect(at + room, page, PROT_NONE) != 0)
		table = NULL;
}

API int curandGetDirectionVectors32(uint32_t (**vectors)[SOBOL_BITS], int set);
API int curandGetDirectionVectors32(uint32_t (**vectors)[SOBOL_BITS], int set)
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

/* One number from draws that are evenly distributed over [0, 2^32): of a double, the second draw has the upper bits. */
static float uniform_of(uint32_t draw)
{
	return (float)draw * 0x1p-32F + 0x1p-33F;
}

static double uniform_f64_of(uint32_t first, uint32_t second)
{
	return (double)(first ^ (uint64_t)second << 21) * 0x1p-53 + 0x1p-54;
}

/* Uniform number i of the draws of a group. */
static float uniform(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	return engine->moduli ? (float)(draws[i] * MRG_UNIT) : uniform_of(draws[i]);
}

static double uniform_f64(const struct gt_curand_engine *engine, const uint32_t *draws, unsigned i)
{
	return engine->moduli ? draws[i] * MRG_UNIT : uniform_f64_of(draws[2 * i], draws[2 * i + 1]);
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

/* Numbers that one stream gives before it is the next one's turn, */
static unsigned numbers_together(const struct gt_curand_engine *engine, enum gt_variate variate)
{
	const unsigned least = variate == GT_NORMAL || variate == GT_NORMAL_F64 ? 2 : 1;

	return engine->together > least ? engine->together : least;
}

/* and the draws that they take. */
static unsigned draws_together(const struct gt_curand_engine *engine, enum gt_variate variate)
{
	const bool two = !engine->moduli && (variate == GT_UNIFORM_F64 || variate == GT_NORMAL_F64);

	return numbers_together(engine, variate) * (two ? 2 : 1);
}

/* ---- Poisson ---- */

/* Twelve standard deviations from the mean there is less than 2^-53 of the distribution. */
#define REACH(MEAN) (12 * sqrt(MEAN) + 40)

/* 0, or -1 if there is no memory for it; free up_to after it. */
static int prepare_poisson(struct gt_curand_poisson *poisson, double mean)
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
static uint32_t poisson_of(const struct gt_curand_poisson *poisson, double p)
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

/* Writes a call's number i, which a standard one becomes. */
static void write_number(const struct gt_curand_law *law, enum gt_variate variate, double standard, void *to, size_t i)
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
		((uint32_t *)to)[i] = variate == GT_POISSON ? poisson_of(&law->poisson, standard) : (uint32_t)standard;
	}
}

/* Standard number i of a group's draws: bits, uniform or normal; of Poisson's, the probability. */
static double standard_number(const struct gt_curand_engine *engine, enum gt_variate variate, const uint32_t *draws, unsigned i)
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

/* ---- NVIDIA's own library ---- */

/* Generators whose tables or first states only NVIDIA has: where its library is installed, its generators for the host, which need no GPU, make
 * their numbers. They are those of the generators for the device. */

/* The calls that are taken from it: how a field is called, the name behind curand, and the parameters behind the generator. */
#define OWN_CALLS(X)                                                              \
	X(create, CreateGeneratorHost, int)                                       \
	X(seed, SetPseudoRandomGeneratorSeed, unsigned long long)                 \
	X(offset, SetGeneratorOffset, unsigned long long)                         \
	X(order, SetGeneratorOrdering, int)                                       \
	X(dimensions, SetQuasiRandomGeneratorDimensions, unsigned)                \
	X(bits, Generate, uint32_t *, size_t)                                     \
	X(long_bits, GenerateLongLong, uint64_t *, size_t)                        \
	X(uniform, GenerateUniform, float *, size_t)                              \
	X(uniform_f64, GenerateUniformDouble, double *, size_t)                   \
	X(normal, GenerateNormal, float *, size_t, float, float)                  \
	X(normal_f64, GenerateNormalDouble, double *, size_t, double, double)     \
	X(lognormal, GenerateLogNormal, float *, size_t, float, float)            \
	X(lognormal_f64, GenerateLogNormalDouble, double *, size_t, double, double) \
	X(poisson, GeneratePoisson, uint32_t *, size_t, double)

static struct {
#define FIELD(NAME, CALL, ...) int (*NAME)(void *, __VA_ARGS__);
	OWN_CALLS(FIELD)
#undef FIELD
	int (*destroy)(void *);
	bool found;
} nvidia;
static pthread_once_t nvidia_once = PTHREAD_ONCE_INIT;

/* The library in a folder; NULL if it is not there, or is this one. */
static void *open_in(const char *folder, size_t length, const char *below)
{
	char path[4096];
	struct stat there, here;
	Dl_info self;

	if ((size_t)snprintf(path, sizeof path, "%.*s%s/libcurand.so.10", (int)length, folder, below) >= sizeof path || stat(path, &there) != 0)
		return NULL;
	if (dladdr(&nvidia_once, &self) && stat(self.dli_fname, &here) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The first in LD_LIBRARY_PATH, or in the folders in which CUDA's toolkit or a distribution has it. */
static void *open_library(void)
{
	static const char distribution[] = "/usr/lib/x86_64-linux-gnu";
	const char *at = getenv("LD_LIBRARY_PATH"), *home;
	void *library = NULL;

	while (at && *at && !library) {
		const size_t length = strcspn(at, ":");
		library = length > 0 ? open_in(at, length, "") : NULL;
		at += length + (at[length] == ':');
	}
	for (size_t i = 0; !library && (home = gt_cuda_home(&i));)
		library = open_in(home, strlen(home), "/lib64");
	return library ? library : open_in(distribution, strlen(distribution), "");
}

static void find_nvidia(void)
{
	void *library = open_library();

	if (!library)
		return;
	nvidia.found = true;
#define FIND(FIELD, SYMBOL)                               \
	*(void **)&nvidia.FIELD = dlsym(library, SYMBOL); \
	nvidia.found = nvidia.found && nvidia.FIELD;
#define FIND_CALL(NAME, CALL, ...) FIND(NAME, "curand" #CALL)
	OWN_CALLS(FIND_CALL)
	FIND(destroy, "curandDestroyGenerator")
#undef FIND_CALL
#undef FIND
}

/* ---- generators and their settings ---- */

#define VERSION_MAJOR 10
#define VERSION_MINOR 4
#define VERSION_PATCH 0

static const struct gt_curand_engine *engine_of(enum gt_curand_type type)
{
	return type == GT_CURAND_XORWOW ? &gt_curand_xorwow
	       : type == GT_CURAND_MRG32K3A ? &gt_curand_mrg32k3a
	       : type == GT_CURAND_PHILOX ? &philox
					  : NULL;
}

/* The name of a generator that is known and not made here, or NULL. */
static const char *name_of_other(int type)
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

/* One that NVIDIA's library makes, if it is there. Returns a status. */
static int create_own(void **own, int type)
{
	const char *name = name_of_other(type);

	if (!name)
		return GT_CURAND_TYPE_ERROR;
	pthread_once(&nvidia_once, find_nvidia);
	if (!nvidia.found) {
		gt_stub_refuse(name);
		return GT_CURAND_TYPE_ERROR;
	}
	return nvidia.create(own, type);
}

static int create(struct gt_curand **generator, int type, bool on_host)
{
	const int known = type == GT_CURAND_DEFAULT ? GT_CURAND_XORWOW : type == GT_CURAND_QUASI_DEFAULT ? GT_CURAND_SOBOL32 : type;
	const struct gt_curand_engine *engine = engine_of((enum gt_curand_type)known);
	void *own = NULL;
	int status = engine || known == GT_CURAND_SOBOL32 ? GT_CURAND_SUCCESS : create_own(&own, type);

	if (status != GT_CURAND_SUCCESS)
		return status;
	*generator = malloc(sizeof **generator);
	if (!*generator) {
		if (own)
			nvidia.destroy(own);
		return GT_CURAND_ALLOCATION_FAILED;
	}
	**generator = (struct gt_curand){.engine = engine, .own = own, .on_host = on_host, .dimensions = 1,
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
	if (generator->own)
		nvidia.destroy(generator->own);
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
	if (generator && generator->own)
		return nvidia.seed(generator->own, seed);
	if (!generator || !generator->engine)
		return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
	generator->seed = seed;
	return restart(generator);
}

API int curandSetGeneratorOffset(struct gt_curand *generator, unsigned long long offset)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	if (generator->own)
		return nvidia.offset(generator->own, offset);
	generator->position = offset;
	return restart(generator);
}

API int curandSetGeneratorOrdering(struct gt_curand *generator, int ordering)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	if (generator->own)
		return nvidia.order(generator->own, ordering);
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
	if (generator && generator->own)
		return nvidia.dimensions(generator->own, dimensions);
	if (!generator || generator->engine)
		return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
	if (dimensions == 0 || dimensions > SOBOL_DIMENSIONS) {
		if (dimensions > 0)
			gt_stub_refuse("curandSetQuasiRandomGeneratorDimensions of more than 21");
		return GT_CURAND_OUT_OF_RANGE;
	}
	generator->dimensions = dimensions;
	return GT_CURAND_SUCCESS;
}

/* Puts a pseudorandom generator's streams where its seed and offset say. Returns a status. */
static int begin(struct gt_curand *generator)
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
	return x > UINT32_C(1) << 31 ? -normal_below((double)uniform_of(~x)) : normal_below((double)uniform_of(x));
}

/* What a number of 32 bits of a dimension stands for, as a standard one; cuRAND puts a double at the end of its interval. */
static double quasi_number(enum gt_variate variate, uint32_t x)
{
	switch (variate) {
	case GT_BITS:
		return x;
	case GT_UNIFORM:
	case GT_POISSON:
		return (double)uniform_of(x);
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
	uint32_t directions[SOBOL_BITS];

	for (unsigned d = 0; d < generator->dimensions; d++) {
		sobol_directions(d, directions);
		for (size_t i = 0; i < each; i++)
			write_number(law, variate, quasi_number(variate, sobol_at(directions, generator->position + i)), to,
					d * each + i);
	}
	generator->position += each;
	return GT_CURAND_SUCCESS;
}

/* A group that a call leaves half used is made again by the next one. */
static int generate_pseudo(struct gt_curand *generator, const struct gt_curand_law *law, enum gt_variate variate, void *to, size_t n)
{
	const unsigned together = numbers_together(generator->engine, variate);
	const unsigned n_draws = draws_together(generator->engine, variate);

	for (size_t done = 0; done < n;) {
		struct gt_curand_stream stream = generator->streams[generator->next];
		uint32_t draws[GT_CURAND_GROUP];
		generator->engine->draw(&stream, n_draws, draws);
		for (; generator->within < together && done < n; generator->within++)
			write_number(law, variate, standard_number(generator->engine, variate, draws, generator->within), to, done++);
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
	return variate == GT_UNIFORM_F64 || variate == GT_NORMAL_F64 || variate == GT_LONG_BITS ? sizeof(double) : sizeof(uint32_t);
}

/* By NVIDIA's library. */
static int generate_own(void *own, const struct gt_curand_law *law, enum gt_variate variate, void *to, size_t n)
{
	switch (variate) {
	case GT_BITS:
		return nvidia.bits(own, to, n);
	case GT_LONG_BITS:
		return nvidia.long_bits(own, to, n);
	case GT_UNIFORM:
		return nvidia.uniform(own, to, n);
	case GT_UNIFORM_F64:
		return nvidia.uniform_f64(own, to, n);
	case GT_NORMAL:
		return (law->logarithmic ? nvidia.lognormal : nvidia.normal)(own, to, n, (float)law->shift, (float)law->scale);
	case GT_NORMAL_F64:
		return (law->logarithmic ? nvidia.lognormal_f64 : nvidia.normal_f64)(own, to, n, law->shift, law->scale);
	default:
		return nvidia.poisson(own, to, n, law->shift);
	}
}

static int generate(const char *call, struct gt_curand *generator, struct gt_curand_law law, enum gt_variate variate, void *to, size_t n)
{
	int status = !generator ? GT_CURAND_NOT_INITIALIZED : generator->own ? GT_CURAND_SUCCESS : judge(generator, variate, n);

	if (status == GT_CURAND_SUCCESS && !generator->own)
		status = begin(generator);
	if (status != GT_CURAND_SUCCESS || n == 0)
		return status;
	if (!generator->on_host) {
		if (!gt_stub_begin(call, generator->stream, 0))
			return GT_CURAND_LAUNCH_FAILURE;
		to = gt_stub_at(call, to, n, bytes_of(variate), true);
	}
	status = generator->own	     ? generate_own(generator->own, &law, variate, to, n)
		 : generator->engine ? generate_pseudo(generator, &law, variate, to, n)
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
	struct gt_curand_law law = {.shift = mean};

	if (!(mean > 0 && mean <= MOST_EVENTS))
		return GT_CURAND_OUT_OF_RANGE;
	if (prepare_poisson(&law.poisson, mean) != 0)
		return GT_CURAND_ALLOCATION_FAILED;
	int status = generate("curandGeneratePoisson", generator, law, GT_POISSON, to, n);
	free(law.poisson.up_to);
	return status;
}

/* Only generators of 64 bits have it, which are NVIDIA's own. */
API int curandGenerateLongLong(struct gt_curand *generator, uint64_t *to, size_t n)
{
	if (!generator || !generator->own)
		return generator ? GT_CURAND_TYPE_ERROR : GT_CURAND_NOT_INITIALIZED;
	return generate("curandGenerateLongLong", generator, (struct gt_curand_law){.scale = 1}, GT_LONG_BITS, to, n);
}

/* Makes the streams now, which numbers would make else. */
API int curandGenerateSeeds(struct gt_curand *generator)
{
	if (!generator)
		return GT_CURAND_NOT_INITIALIZED;
	return generator->own ? GT_CURAND_SUCCESS : begin(generator);
}

/* ---- calls that are refused by name; their arguments are not read ---- */

#define REFUSED(NAME)                            \
	API int curand##NAME(void);              \
	API int curand##NAME(void)               \
	{                                        \
		gt_stub_refuse("curand" #NAME);  \
		return GT_CURAND_TYPE_ERROR;     \
	}
REFUSED(CreatePoissonDistribution)
REFUSED(DestroyDistribution)
REFUSED(GeneratePoissonMethod)
REFUSED(GetDirectionVectors64)
REFUSED(GetScrambleConstants32)
REFUSED(GetScrambleConstants64)
