/* SPDX-License-Identifier: MIT */
/* The latency of a miss in steps: a table of models. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/random.h"
#include "cache/timed_config.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* Reads n real numbers separated by commas. */
static int parse_reals(const char *text, double *const *values, size_t n, struct gt_error *error)
{
	char item[32];

	for (size_t i = 0; i < n; i++) {
		size_t length = strcspn(text, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), text);
		if (length >= sizeof item || (text[length] == ',') != (i + 1 < n) ||
		    gt_parse_real(item, 0, GT_LATENCY_MAX, values[i], error) != 0)
			return -1;
		text += length + (i + 1 < n);
	}
	return 0;
}

static int parse_fixed(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	uint64_t steps;

	if (gt_parse_count(text, 0, GT_LATENCY_MAX, &steps, error) != 0)
		return -1;
	latency->first = (double)steps;
	return 0;
}

static int parse_adaptive(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	return parse_reals(text, (double *const[]){&latency->first, &latency->second}, 2, error);
}

/* MIN,SIGMA,SEED */
static int parse_half_normal(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	const char *comma = strrchr(text, ',');
	char head[80];

	if (!comma || (size_t)(comma - text) >= sizeof head)
		return -1;
	snprintf(head, sizeof head, "%.*s", (int)(comma - text), text);
	if (gt_parse_count(comma + 1, 0, UINT64_MAX, &latency->seed, error) != 0)
		return -1;
	return parse_reals(head, (double *const[]){&latency->first, &latency->second}, 2, error);
}

static uint64_t whole_steps(double steps)
{
	return steps < GT_LATENCY_MAX ? (uint64_t)(steps + 0.5) : GT_LATENCY_MAX;
}

static uint64_t fixed_steps(const struct gt_latency *latency, const struct gt_traffic *traffic, uint64_t *random)
{
	(void)traffic, (void)random;
	return (uint64_t)latency->first;
}

/* [000] 4.4.1: K1 + K2 * busy MSHRs * active SMs / parallelism of the level below. */
static uint64_t adaptive_steps(const struct gt_latency *latency, const struct gt_traffic *traffic, uint64_t *random)
{
	(void)random;
	double load = (double)traffic->busy * (double)traffic->active / (double)traffic->parallelism;
	return whole_steps(latency->first + latency->second * load);
}

/* In (0, 1]. */
static double uniform(uint64_t *random)
{
	return (double)((gt_random(random) >> 11) + 1) * 0x1p-53;
}

/* [002] 4.2: the minimum plus the magnitude of a normal deviate, by the method of Box and Muller. */
static uint64_t half_normal_steps(const struct gt_latency *latency, const struct gt_traffic *traffic, uint64_t *random)
{
	double radius = sqrt(-2 * log(uniform(random))), angle = 6.283185307179586 * uniform(random);

	(void)traffic;
	return whole_steps(latency->first + latency->second * fabs(radius * cos(angle)));
}

static const struct gt_latency_model models[] = {
	{"fixed", parse_fixed, fixed_steps},
	{"adaptive", parse_adaptive, adaptive_steps},
	{"half-normal", parse_half_normal, half_normal_steps},
};

int gt_latency_parse(const char *text, struct gt_latency *latency, struct gt_error *error)
{
	for (size_t i = 0; i < LENGTH(models); i++) {
		size_t length = strlen(models[i].name);
		if (strncmp(text, models[i].name, length) != 0 || text[length] != ':')
			continue;
		latency->model = &models[i];
		if (models[i].parse(latency, text + length + 1, error) == 0)
			return 0;
	}
	return gt_fail(error, "'%.100s': expected fixed:N, adaptive:K1,K2 or half-normal:MIN,SIGMA,SEED, of at most %u steps",
		       text, GT_LATENCY_MAX);
}

bool gt_latency_is_zero(const struct gt_latency *latency)
{
	return latency->model == &models[0] && latency->first == 0;
}
