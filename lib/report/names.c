/* SPDX-License-Identifier: MIT */
#include "report/names.h"

#include <string.h>

const struct gt_vocabulary gt_vocabularies[] = {
	{"ncu", gt_ncu_metrics, &gt_ncu_metrics_n},
	{"nvprof", gt_nvprof_metrics, &gt_nvprof_metrics_n},
};
const size_t gt_vocabularies_n = sizeof gt_vocabularies / sizeof *gt_vocabularies;

const struct gt_metric *gt_metric_named(const char *name)
{
	for (size_t v = 0; v < gt_vocabularies_n; v++)
		for (size_t i = 0; i < *gt_vocabularies[v].n; i++)
			if (strcmp(gt_vocabularies[v].metrics[i].name, name) == 0)
				return &gt_vocabularies[v].metrics[i];
	return NULL;
}

struct gt_metric_value gt_metric_of_kernel(const struct gt_metric *metric, const struct gt_report_kernel *kernel)
{
	struct gt_metric_value value = {.state = GT_METRIC_ABSENT};

	for (size_t v = 0; v < gt_vocabularies_n; v++) {
		const struct gt_metric *first = gt_vocabularies[v].metrics, *end = first + *gt_vocabularies[v].n;
		for (const struct gt_metric *at = first; at < end && value.state == GT_METRIC_ABSENT; at++)
			if (strcmp(at->name, metric->name) == 0)
				value = gt_metric_evaluate(at, kernel, NULL);
	}
	return value;
}
