/* SPDX-License-Identifier: MIT */
/* Calls of cuRAND. Built without CUDA: rand PART, of: numbers and vectors (printed, to be compared), beyond (the last vector),
 * others (printed, of generators that NVIDIA alone has), statistics, settings, refused, unknown, captured, stray, few (some of each kind, up to the first call that fails). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **pointer, size_t bytes), cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);

int curandCreateGenerator(void **, int), curandCreateGeneratorHost(void **, int), curandDestroyGenerator(void *);
int curandSetPseudoRandomGeneratorSeed(void *, unsigned long long), curandSetGeneratorOffset(void *, unsigned long long);
int curandSetGeneratorOrdering(void *, int), curandSetStream(void *, void *), curandGenerateSeeds(void *);
int curandSetQuasiRandomGeneratorDimensions(void *, unsigned);
int curandGenerate(void *, uint32_t *, size_t), curandGenerateLongLong(void *, uint64_t *, size_t);
int curandGenerateUniform(void *, float *, size_t), curandGenerateUniformDouble(void *, double *, size_t);
int curandGenerateNormal(void *, float *, size_t, float, float), curandGenerateNormalDouble(void *, double *, size_t, double, double);
int curandGenerateLogNormal(void *, float *, size_t, float, float);
int curandGenerateLogNormalDouble(void *, double *, size_t, double, double);
int curandGeneratePoisson(void *, uint32_t *, size_t, double);
int curandGetDirectionVectors32(uint32_t (**)[32], int);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161, SOBOL32 = 201, SCRAMBLED_32, SOBOL64, SCRAMBLED_64 };
enum { LEGACY = 103, DYNAMIC = 104 };
enum { JOE_KUO = 101, SCRAMBLED = 102, DIMENSIONS = 21 };
enum { LENGTH_NOT_MULTIPLE = 105, OUT_OF_RANGE = 104, TYPE_ERROR = 103, LAUNCH_FAILURE = 201 };
enum kind { BITS, UNIFORM, UNIFORM_F64, NORMAL, NORMAL_F64, LOG_NORMAL, LOG_NORMAL_F64, POISSON, KINDS };
#define MOST 1200000

static int on_host, failures;

static void *generator(int type, unsigned long long seed)
{
	void *made = NULL;

	if ((on_host ? curandCreateGeneratorHost : curandCreateGenerator)(&made, type) != 0 ||
	    (type >= SOBOL32 ? curandSetQuasiRandomGeneratorDimensions(made, (unsigned)seed)
			     : curandSetPseudoRandomGeneratorSeed(made, seed)) != 0) {
		fprintf(stderr, "program: no generator %d\n", type);
		exit(1);
	}
	return made;
}

static int call(void *from, enum kind kind, void *to, size_t n)
{
	switch (kind) {
	case BITS:
		return curandGenerate(from, to, n);
	case UNIFORM:
		return curandGenerateUniform(from, to, n);
	case UNIFORM_F64:
		return curandGenerateUniformDouble(from, to, n);
	case NORMAL:
		return curandGenerateNormal(from, to, n, 0, 1);
	case NORMAL_F64:
		return curandGenerateNormalDouble(from, to, n, 0, 1);
	case LOG_NORMAL:
		return curandGenerateLogNormal(from, to, n, 0.5F, 0.25F);
	case LOG_NORMAL_F64:
		return curandGenerateLogNormalDouble(from, to, n, 0.5, 0.25);
	default:
		return curandGeneratePoisson(from, to, n, 6.5);
	}
}

/* Numbers of a kind, as doubles, by way of the device or not. Returns the call's status. */
static int draw(void *from, enum kind kind, double *numbers, size_t n)
{
	const int is_f64 = kind == UNIFORM_F64 || kind == NORMAL_F64 || kind == LOG_NORMAL_F64, is_f32 = !is_f64 && kind != BITS && kind != POISSON;
	const size_t bytes = n * (is_f64 ? 8 : 4);
	unsigned char *host = malloc(bytes);
	void *there = host;

	if (!host || (!on_host && cudaMalloc(&there, bytes) != 0)) {
		fprintf(stderr, "program: no memory\n");
		exit(1);
	}
	int status = call(from, kind, there, n);
	if (!on_host) {
		cudaMemcpy(host, there, bytes, 2);
		cudaFree(there);
	}
	for (size_t i = 0; status == 0 && i < n; i++) {
		double f64;
		float f32;
		uint32_t u32;
		memcpy(&u32, host + 4 * i, sizeof u32);
		memcpy(&f32, host + 4 * i, sizeof f32);
		memcpy(&f64, host + (is_f64 ? 8 * i : 0), sizeof f64);
		numbers[i] = is_f64 ? f64 : is_f32 ? (double)f32 : u32;
	}
	free(host);
	return status;
}

static double *some, *others; /* of MOST each */

static void print(const char *what, const double *numbers, size_t n)
{
	printf("%s", what);
	for (size_t i = 0; i < n; i++)
		printf(" %.5g", numbers[i]);
	putchar('\n');
}

static void print_from(const char *what, void *generator, enum kind kind, unsigned long long offset)
{
	curandSetGeneratorOffset(generator, offset);
	draw(generator, kind, some, 42);
	print(what, some, 5);
}

/* The first numbers and some later ones, of every kind but Poisson's, whose sequence is another than cuRAND's. */
static void print_numbers(void)
{
	static const int types[] = {XORWOW, MRG32K3A, PHILOX, SOBOL32};
	char what[64];

	for (unsigned t = 0; t < 4; t++)
		for (unsigned kind = BITS; kind < POISSON; kind++) {
			void *from = generator(types[t], types[t] == SOBOL32 ? 21 : 77);
			size_t n = types[t] == SOBOL32 ? 21 * 200 : 700000;
			draw(from, (enum kind)kind, some, n);
			snprintf(what, sizeof what, "%d %u", types[t], kind);
			for (size_t at = 0; at < n; at += n / 7)
				print(what, some + at, 4);
			/* What comes after them, and after a jump, which takes cuRAND's MRG32k3a seconds. */
			draw(from, BITS, some, 42);
			print("then", some, 5);
			if (types[t] != MRG32K3A || kind == BITS)
				print_from("there", from, (enum kind)kind, 1000000000003);
			if (types[t] == SOBOL32) { /* the first numbers that are 1 as a float, and those after all */
				print_from("near 1", from, (enum kind)kind, 0x1555555);
				print_from("anew", from, (enum kind)kind, 0xffffffff);
			}
			curandDestroyGenerator(from);
		}
	void *legacy = generator(MRG32K3A, 5);
	curandSetGeneratorOrdering(legacy, LEGACY);
	draw(legacy, BITS, some, 5000);
	print("legacy", some + 4094, 4);
}

static void print_others(void)
{
	static const int types[] = {MTGP32, MT19937, SCRAMBLED_32, SOBOL64, SCRAMBLED_64};
	static const enum kind kinds[] = {UNIFORM, UNIFORM_F64, NORMAL, NORMAL_F64, LOG_NORMAL, LOG_NORMAL_F64, POISSON, BITS};
	char what[64];

	for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
		void *from = generator(types[t], types[t] >= SOBOL32 ? 3 : 77);
		curandSetGeneratorOffset(from, types[t] == MTGP32 || types[t] == MT19937 ? 0 : 1000); /* these two cannot jump */
		for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			const int status = draw(from, kinds[k], some, 6000);
			snprintf(what, sizeof what, "%d %d %d", types[t], kinds[k], status);
			print(what, some, status == 0 ? 3 : 0);
			print(what, some + 5997, status == 0 ? 3 : 0);
		}
		curandDestroyGenerator(from);
	}
}

/* A generator of 64 bits: as integers, which go to where there is room. */
static void print_wide(void)
{
	uint64_t host[3], *there = host;
	void *from = generator(SOBOL64, 1);

	if (!on_host)
		cudaMalloc((void **)&there, sizeof host);
	const int status = curandGenerateLongLong(from, there, 3);
	if (!on_host)
		cudaMemcpy(host, there, sizeof host, 2);
	printf("wide %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", status, host[0], host[1], host[2]);
}

static void check(int holds, const char *what, int type)
{
	if (!holds) {
		fprintf(stderr, "%s of generator %d\n", what, type);
		failures++;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void draw_few(void)
{
	static const int types[] = {XORWOW, MRG32K3A, PHILOX, SOBOL32};

	for (unsigned t = 0; t < 4; t++) {
		void *from = generator(types[t], 2);
		for (unsigned kind = BITS; kind < KINDS; kind++)
			if (draw(from, (enum kind)kind, some, 8) != 0) {
				fprintf(stderr, "program: no numbers of generator %d\n", types[t]);
				exit(1);
			}
		curandDestroyGenerator(from);
	}
}

/* The greatest distance to a distribution (Kolmogorov and Smirnov), which 1 of 10^7 good samples exceeds by 2.9 / sqrt(n). */
static int fits(double *numbers, size_t n, int normal)
{
	double most = 0;

	qsort(numbers, n, sizeof *numbers, by_value);
	for (size_t i = 0; i < n; i++) {
		double p = normal ? erfc(-numbers[i] / sqrt(2)) / 2 : numbers[i];
		most = fmax(most, fmax(fabs(p - (double)i / (double)n), fabs(p - (double)(i + 1) / (double)n)));
	}
	return most * sqrt((double)n) < 2.9;
}

/* The correlation of numbers `apart` from each other, which is normal with the deviation 1 / sqrt(n). */
static int correlates(const double *numbers, size_t n, size_t apart, double mean, double variance)
{
	double sum = 0;

	for (size_t i = 0; i + apart < n; i++)
		sum += (numbers[i] - mean) * (numbers[i + apart] - mean);
	return fabs(sum / variance / sqrt((double)n)) > 5;
}

/* Each of 32 bits is set in half of the numbers: within five deviations. */
static int bits_balance(const double *numbers, size_t n)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		double set = 0;
		for (size_t i = 0; i < n; i++)
			set += (uint32_t)numbers[i] >> bit & 1;
		if (fabs(set - (double)n / 2) > 2.5 * sqrt((double)n))
			return 0;
	}
	return 1;
}

/* Chi square of Poisson's numbers over 0 to 15 and more: 15 degrees of freedom, of which 1 of 10^6 exceeds 55. */
static int is_poisson(const double *numbers, size_t n, double mean)
{
	double seen[17] = {0}, p = exp(-mean), left = 1, sum = 0;

	for (size_t i = 0; i < n; i++)
		seen[numbers[i] < 16 ? (int)numbers[i] : 16]++;
	for (unsigned k = 0; k <= 16; p *= mean / ++k) {
		double expected = (double)n * (k < 16 ? p : left);
		sum += (seen[k] - expected) * (seen[k] - expected) / expected;
		left -= p;
	}
	return sum < 55;
}

static void judge(int type)
{
	static const size_t gaps[] = {1, 2, 3, 4, 4096, 65536, 81920, 262144};
	const size_t n = 600000;
	void *from = generator(type, 20240607);

	draw(from, BITS, some, n);
	check(bits_balance(some, n), "bits", type);
	for (unsigned kind = UNIFORM; kind <= NORMAL_F64; kind++) {
		int normal = kind >= NORMAL;
		draw(from, (enum kind)kind, some, n);
		for (unsigned g = 0; g < sizeof gaps / sizeof *gaps; g++)
			check(!correlates(some, n, gaps[g], normal ? 0 : 0.5, normal ? 1 : 1.0 / 12), "correlation", type);
		check(fits(some, n, normal), normal ? "normal" : "uniform", type);
	}
	draw(from, POISSON, some, n);
	check(is_poisson(some, n, 6.5), "Poisson", type);
	curandDestroyGenerator(from);
}

/* Calls one after the other give what one call gives, an offset skips what is not asked for, and a seed is a sequence. */
static void check_settings(int type)
{
	static const size_t parts[] = {42, 4096, 100, 300000, 84, 6};
	void *whole = generator(type, 3), *in_parts = generator(type, 3), *skipped = generator(type, 3), *other = generator(type, 4);
	size_t n = 0;

	for (unsigned i = 0; i < sizeof parts / sizeof *parts; n += parts[i++])
		draw(in_parts, NORMAL, others + n, parts[i]);
	draw(whole, NORMAL, some, n);
	check(memcmp(some, others, n * sizeof *some) == 0, "parts", type);
	curandSetGeneratorOffset(whole, 0);
	draw(whole, BITS, some, n);
	curandSetGeneratorOffset(skipped, 270001);
	draw(skipped, BITS, others, 20000);
	check(memcmp(some + 270001, others, 20000 * sizeof *some) == 0, "offset", type);
	draw(other, BITS, others, 1000);
	check(memcmp(some, others, 1000 * sizeof *some) != 0, "seed", type);
	check(curandGenerateSeeds(other) == 0 && draw(other, POISSON, others, 0) == 0, "seeds", type);
	check((draw(other, NORMAL, others, 7) == LENGTH_NOT_MULTIPLE) == (type != PHILOX), "odd length", type);
}

/* The first draws: of XORWOW by cuRAND's own host generator; of MRG32k3a by L'Ecuyer's paper, whose seed is cuRAND's 0 (0.127011 and
 * 0.318528 of 2^32 and so on); of Philox by the known answers of its authors' library, for a counter and a key of 0. */
static void check_known(void)
{
	static const struct {
		int type;
		unsigned long long seed;
		uint32_t first[4];
		size_t apart; /* numbers of one stream */
	} known[] = {
		{XORWOW, 1234, {624778773, 3522650202, 2363946744, 1266286439}, 1},
		{MRG32K3A, 0, {545508615, 1368065476, 1327943825}, 81920},
		{PHILOX, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, 1},
		{SOBOL32, 1, {0, UINT32_C(1) << 31, UINT32_C(3) << 30, UINT32_C(1) << 30}, 1},
	};

	for (unsigned k = 0; k < sizeof known / sizeof *known; k++) {
		draw(generator(known[k].type, known[k].seed), BITS, some, 200000);
		for (unsigned i = 0; i < 4 && (i == 0 || known[k].first[i] > 0); i++)
			check(some[i * known[k].apart] == known[k].first[i], "known number", known[k].type);
	}
}

static void refuse(void)
{
	void *made = NULL, *known = generator(XORWOW, 1), *quasi = generator(SOBOL32, 2);
	uint32_t(*vectors)[32];
	uint64_t wide[4];

	check(curandCreateGenerator(&made, 199) == TYPE_ERROR, "type", 199);
	check(curandSetGeneratorOrdering(known, DYNAMIC) == OUT_OF_RANGE, "order", XORWOW);
	check(curandGenerateLongLong(known, wide, 4) == TYPE_ERROR, "64 bits", XORWOW);
	check(curandGeneratePoisson(known, (uint32_t *)wide, 4, 0) == OUT_OF_RANGE, "mean", XORWOW);
	check(curandSetQuasiRandomGeneratorDimensions(quasi, 22) == OUT_OF_RANGE, "dimensions", SOBOL32);
	check(draw(quasi, UNIFORM, some, 7) == LENGTH_NOT_MULTIPLE, "length", SOBOL32);
	check(curandGetDirectionVectors32(&vectors, SCRAMBLED) == OUT_OF_RANGE, "vectors", SOBOL32);
}

/* What NVIDIA's library makes, where it is not. */
static void ask_for_unknown(void)
{
	void *made = NULL;

	for (int type = MTGP32; type <= SCRAMBLED_64; type += type == MT19937 ? SCRAMBLED_32 - MT19937 : 1)
		check(curandCreateGenerator(&made, type) == TYPE_ERROR, "type", type);
}

/* The last of a dimension comes from all others of it. */
static void print_vectors(unsigned dimensions)
{
	uint32_t(*vectors)[32];

	check(draw(generator(SOBOL32, 1), BITS, some, 1) == 0, "draw", SOBOL32);
	check(curandGetDirectionVectors32(&vectors, JOE_KUO) == 0, "vectors", SOBOL32);
	for (unsigned d = 0; d < dimensions; d++)
		printf("%u %" PRIu32 " %" PRIu32 "\n", d, vectors[d][0], vectors[d][31]);
}

/* More numbers than there is room for. */
static void draw_past(size_t n)
{
	void *there;

	cudaMalloc(&there, 64);
	curandGenerate(generator(PHILOX, 1), there, n);
}

static void capture(void)
{
	void *stream, *from = generator(PHILOX, 1);

	cudaStreamCreate(&stream);
	curandSetStream(from, stream);
	cudaStreamBeginCapture(stream, 2); /* relaxed, since draw() allocates */
	check(draw(from, BITS, some, 4) == LAUNCH_FAILURE, "capture", PHILOX);
}

int main(int argc, char **argv)
{
	static const int types[] = {XORWOW, MRG32K3A, PHILOX};
	const char *part = argc > 1 ? argv[1] : "";

	on_host = argc > 2 && strcmp(argv[2], "host") == 0;
	some = malloc(MOST * sizeof *some);
	others = malloc(MOST * sizeof *others);
	if (!some || !others) {
		fprintf(stderr, "program: no memory\n");
		return 1;
	}
	if (strcmp(part, "numbers") == 0)
		print_numbers();
	if (strcmp(part, "vectors") == 0)
		print_vectors(DIMENSIONS);
	if (strcmp(part, "beyond") == 0)
		print_vectors(DIMENSIONS + 1);
	for (unsigned t = 0; t < 3 && strcmp(part, "statistics") == 0; t++)
		judge(types[t]);
	for (unsigned t = 0; t < 3 && strcmp(part, "settings") == 0; t++)
		check_settings(types[t]);
	if (strcmp(part, "settings") == 0)
		check_known();
	if (strcmp(part, "others") == 0) {
		print_others();
		print_wide();
	}
	if (strcmp(part, "unknown") == 0)
		ask_for_unknown();
	if (strcmp(part, "refused") == 0)
		refuse();
	if (strcmp(part, "captured") == 0)
		capture();
	if (strcmp(part, "stray") == 0)
		draw_past(argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
	if (strcmp(part, "few") == 0)
		draw_few();
	fflush(stdout);
	if (failures == 0)
		fprintf(stderr, "all as expected\n");
	return failures > 0;
}
