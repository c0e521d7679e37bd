/* SPDX-License-Identifier: MIT */
/* Each way has its own probability: Fermi's L1 replaces its four ways with 1/6, 1/2, 1/6 and 1/6 ([001] 4.2). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "cache/replace/replace.h"

static int expected(const char *text, struct gt_error *error)
{
	return gt_fail(error, "'%s': expected a probability for each way, such as weighted:1/6,1/2,1/6,1/6, "
			      "with a sum of 1", text ? text : "weighted");
}

/* A decimal number, or one divided by another. */
static int parse_weight(const char **at, double *weight)
{
	char *end;

	*weight = strtod(*at, &end);
	if (end == *at)
		return -1;
	if (*end == '/') {
		*at = end + 1;
		double divisor = strtod(*at, &end);
		if (end == *at || !(divisor > 0))
			return -1;
		*weight /= divisor;
	}
	*at = end;
	return *weight >= 0 && *weight <= 1 ? 0 : -1;
}

static int parse(struct gt_replacement *replacement, const char *argument, struct gt_error *error)
{
	const char *at = argument;
	double sum = 0, weight;

	if (!argument)
		return expected(argument, error);
	replacement->weights = 0;
	do {
		if (replacement->weights == GT_WEIGHTS_MAX || parse_weight(&at, &weight) != 0)
			return expected(argument, error);
		sum += weight;
		replacement->cumulative[replacement->weights++] = sum;
	} while (*at++ == ',');
	if (at[-1] != '\0' || fabs(sum - 1) > 1e-6)
		return expected(argument, error);
	return 0;
}

static int check(const struct gt_replacement *replacement, uint32_t ways, struct gt_error *error)
{
	return replacement->weights == ways ? 0 : gt_fail(error, "%u weights for %u ways", replacement->weights, ways);
}

static uint32_t victim(struct gt_tags *tags, uint32_t set, const struct gt_replacement *replacement)
{
	double drawn = (double)(gt_random(&tags->random) >> 11) * 0x1p-53;
	uint32_t way = 0;

	while (way + 1 < replacement->weights && drawn >= replacement->cumulative[way])
		way++;
	return gt_first_slot(tags->geometry, set) + way;
}

const struct gt_policy gt_policy_weighted = {.name = "weighted", .parse = parse, .check = check, .victim = victim};
