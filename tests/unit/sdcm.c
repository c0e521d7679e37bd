/* SPDX-License-Identifier: MIT */
/* SDCM against direct summation in long double, and the accuracy of its approximations that the manual states. */
#include <math.h>

#include "check.h"
#include "reuse/histogram.h"

static struct gt_error error;

static long double log_choose(uint64_t n, uint64_t k)
{
	long double sum = 0;

	for (uint64_t i = 0; i < k; i++)
		sum += logl((long double)(n - i)) - logl((long double)(i + 1));
	return sum;
}

/* [004] (1), each term by itself. */
static long double direct(const struct gt_sdcm *cache, uint64_t distance)
{
	long double p = (long double)cache->ways / (long double)cache->lines, sum = 0;

	for (uint64_t a = 0; a < cache->ways && a <= distance; a++)
		sum += expl(log_choose(distance, a) + (long double)a * logl(p) + (long double)(distance - a) * log1pl(-p));
	return sum;
}

static void exact_is_the_direct_sum(void)
{
	static const struct gt_sdcm caches[] = {{1024, 1, 32, false},	{1024, 4, 128, false}, {64, 16, 128, false},	{4096, 256, 32, false},
						{147456, 64, 32, false}, {12, 3, 128, false}, {8, 4, 32, false}, {2048, 1024, 32, false}};
	static const uint64_t distances[] = {0, 1, 2, 3, 4, 5, 11, 17, 63, 64, 65, 255, 256, 511, 1000, 1024, 2048, 4097, 10240};
	double worst = 0;

	for (size_t c = 0; c < sizeof caches / sizeof *caches; c++)
		for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
			long double expected = direct(&caches[c], distances[d]);
			double found = gt_sdcm_exact(&caches[c], distances[d]);
			CHECK(found >= 0 && found <= 1);
			if (expected < 1e-290L)
				CHECK(found < 1e-289);
			else if (fabs(found / (double)expected - 1) > worst)
				worst = fabs(found / (double)expected - 1);
		}
	CHECK(worst < 1e-12);
}

/* Large enough that (1 - p)^D is 0 in double and single binomial coefficients overflow. */
static void stable_far_out(void)
{
	struct gt_sdcm wide = {1 << 16, 1 << 14, 32, false};
	double below = gt_sdcm_exact(&wide, 60000), middle = gt_sdcm_exact(&wide, 65536), above = gt_sdcm_exact(&wide, 71000);

	CHECK(below > 0.999 && below <= 1);
	CHECK(middle > 0.49 && middle < 0.51);
	CHECK(above > 0 && above < 0.001);
	CHECK(gt_sdcm_exact(&wide, UINT32_MAX) < 1e-100);
	double last = 1;
	for (uint64_t distance = 0; distance < 200000; distance += 97) {
		double now = gt_sdcm_exact(&wide, distance);
		CHECK(now <= last * (1 + 1e-9) && now >= 0);
		last = now;
	}
}

static void fully_associative_is_lru(void)
{
	struct gt_sdcm cache = {64, 64, 128, false};

	CHECK(gt_sdcm_exact(&cache, 63) == 1 && gt_sdcm_exact(&cache, 64) == 0);
	CHECK(gt_sdcm_normal(&cache, 63) == 1 && gt_sdcm_normal(&cache, 64) == 0);
}

/* To the three digits given in grd(1). */
static bool prints_as(double value, const char *text)
{
	char found[32];

	snprintf(found, sizeof found, "%.3g", value);
	return strcmp(found, text) == 0;
}

static void the_manuals_table(void)
{
	static const struct {
		uint64_t distance;
		const char *exact, *normal;
		double absolute;
	} rows[] = {
		{256, "0.981", "0.994", 0.9987},     {512, "0.857", "0.856", 0.9218},
		{768, "0.647", "0.614", 0.7185},     {1024, "0.433", "0.401", 0.5},
		{1536, "0.151", "0.153", 0.7933},    {2048, "0.0421", "0.0555", 0.9218},
		{4096, "9.12e-05", "0.000871", 0.9987}, {10240, "4.57e-14", "3.68e-09", 1},
	};
	struct gt_sdcm cache = {1024, 4, 128, false};
	double last = 1;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double mean = (double)rows[i].distance * 4 / 1024, deviation = sqrt(mean * (1 - 4 / 1024.0));
		double absolute = 1 - 0.5 * erfc(fabs(mean - 4) / deviation / sqrt(2));
		CHECK(prints_as(gt_sdcm_exact(&cache, rows[i].distance), rows[i].exact));
		CHECK(prints_as(gt_sdcm_normal(&cache, rows[i].distance), rows[i].normal));
		CHECK(fabs(absolute - rows[i].absolute) < 6e-5);
		CHECK(gt_sdcm_normal(&cache, rows[i].distance) < last);
		last = gt_sdcm_normal(&cache, rows[i].distance);
	}
}

/* The largest deviation of the normal approximation, as grd(1) tabulates it. */
static void the_manuals_deviations(void)
{
	static const struct {
		uint64_t ways, distance;
		const char *deviation;
	} rows[] = {{1, 445, "0.1079"}, {2, 728, "0.0580"},  {4, 875, "0.0365"},   {8, 950, "0.0244"},
		    {16, 987, "0.0166"}, {64, 1015, "0.0076"}, {256, 1022, "0.0024"}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct gt_sdcm cache = {1024, rows[i].ways, 128, false};
		double worst = 0;
		uint64_t at = 0;
		for (uint64_t distance = 0; distance < 8192; distance++) {
			double deviation = fabs(gt_sdcm_normal(&cache, distance) - gt_sdcm_exact(&cache, distance));
			if (deviation > worst) {
				worst = deviation;
				at = distance;
			}
		}
		char found[32];
		snprintf(found, sizeof found, "%.4f", worst);
		CHECK_TEXT(found, rows[i].deviation);
		CHECK_EQUAL(at, rows[i].distance);
	}
}

static void hits_are_a_weighted_sum(void)
{
	struct gt_sdcm cache = {16, 4, 128, false};
	struct gt_histogram histogram = {.bound = 16 * GT_SDCM_REACH};
	long double expected = 0;

	CHECK(gt_sdcm_hits(&cache, &histogram) == 0);
	for (uint64_t distance = 0; distance < 3000; distance += 1 + distance / 5) {
		CHECK(gt_histogram_add(&histogram, distance, 1, 1 + distance % 7, &error) == 0);
		expected += (long double)(1 + distance % 7) * direct(&cache, distance);
	}
	CHECK(gt_histogram_add(&histogram, GT_DISTANCE_INFINITE, 1, 5, &error) == 0);
	CHECK(fabs(gt_sdcm_hits(&cache, &histogram) - (double)expected) < 1e-9);
	gt_histogram_clear(&histogram);
}

static void bad_caches_are_refused(void)
{
	static const char *const bad[] = {"", "1K", "1K,4", "1K,4,32,", "1K,0,32", "1K,4,48", "1K,4,16", "1K,3,32", "1K,64,32",
					  "0,4,32", "1000,4,32", "1T,4,32", "x,4,32", "1K,4,x"};
	struct gt_sdcm cache;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK(gt_sdcm_parse(bad[i], &cache, &error) == -1);
		CHECK(strstr(error.text, "expected") != NULL);
	}
	CHECK(gt_sdcm_parse("4.5M,64,32", &cache, &error) == 0);
	CHECK_EQUAL(cache.lines, 147456);
}

int main(void)
{
	RUN(exact_is_the_direct_sum);
	RUN(stable_far_out);
	RUN(fully_associative_is_lru);
	RUN(the_manuals_table);
	RUN(the_manuals_deviations);
	RUN(hits_are_a_weighted_sum);
	RUN(bad_caches_are_refused);
	return check_report();
}
