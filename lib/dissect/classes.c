/* SPDX-License-Identifier: MIT */
#include "dissect/classes.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The largest distance of neighbours, in cycles: clocks advance by a few cycles, and long latencies vary more. */
static uint32_t reach(uint32_t latency)
{
	return 2 + latency / 32;
}

/* A sample is a core point of a class if enough others are within reach (DBSCAN); neighbours within reach of a core
 * point belong to its class too. */
static void find_classes(const uint32_t *sorted, size_t n, size_t enough, struct gt_latency_classes *classes)
{
	size_t low = 0, high = 0, begin = 0, end = 0; /* begin to end: the current class */

	classes->n = 0;
	for (size_t i = 0; i <= n; i++) {
		if (i < n) {
			while (sorted[i] - sorted[low] > reach(sorted[i]))
				low++;
			while (high < n && sorted[high] <= sorted[i] + (uint64_t)reach(sorted[i]))
				high++;
			if (high - low < enough)
				continue;
		}
		if (end > begin && (i == n || low > end - 1)) {
			if (classes->n < GT_CLASSES_MAX)
				classes->class[classes->n++] = (struct gt_latency_class){sorted[begin], sorted[end - 1],
					sorted[begin + (end - begin) / 2], end - begin};
			begin = end = 0;
		}
		if (end == begin)
			begin = low;
		end = high;
	}
}

int gt_classify(struct gt_chase_series *series, struct gt_latency_classes *classes, struct gt_error *error)
{
	uint32_t *sorted = malloc((series->n ? series->n : 1) * sizeof *sorted);
	uint64_t inside = 0;

	if (!sorted)
		return gt_fail_memory(error, "the latencies of a series");
	for (size_t i = 0; i < series->n; i++)
		sorted[i] = series->samples[i].latency;
	qsort(sorted, series->n, sizeof *sorted, compare);
	find_classes(sorted, series->n, series->n / 2000 + 4, classes);
	free(sorted);
	if (classes->n < 2)
		return gt_fail(error, "expected latencies of hits and of misses, found %s (%u cycles): nothing to tell apart",
			       classes->n ? "all alike" : "too few", classes->n ? classes->class[0].middle : 0);
	for (size_t i = 0; i < series->n; i++) {
		struct gt_sample *sample = &series->samples[i];
		sample->hit = -1;
		for (size_t c = 0; c < classes->n; c++)
			if (sample->latency >= classes->class[c].low && sample->latency <= classes->class[c].high)
				sample->hit = c == 0;
		inside += sample->hit >= 0;
	}
	classes->outliers = series->n - inside;
	return 0;
}
