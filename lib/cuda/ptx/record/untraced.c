/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/untraced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

int gt_ptx_untraced_add(struct gt_ptx_untraced *untraced, const char *name)
{
	for (size_t i = 0; i < untraced->n; i++)
		if (strcmp(untraced->of[i].name, name) == 0) {
			untraced->of[i].calls++;
			return 0;
		}
	struct gt_ptx_untraced_call *grown = gt_grown(untraced->of, untraced->n, &untraced->capacity, sizeof *grown);
	if (!grown)
		return -1;
	untraced->of = grown;
	snprintf(grown[untraced->n].name, sizeof grown->name, "%s", name);
	grown[untraced->n++].calls = 1;
	return 0;
}

int gt_ptx_untraced_count(const struct gt_ptx_untraced *untraced, const char *names, const char *calls, struct gt_count *count,
			  struct gt_error *error)
{
	uint64_t *numbers = malloc((untraced->n + 1) * sizeof *numbers);
	char *text = malloc(untraced->n * GT_COUNT_NAME + 1), *end = text;
	int result = numbers && text ? 0 : gt_fail_memory(error, "calls that were not traced");

	for (size_t i = 0; result == 0 && i < untraced->n; i++) {
		end += sprintf(end, "%s%s", i > 0 ? "," : "", untraced->of[i].name);
		numbers[i] = untraced->of[i].calls;
	}
	if (result == 0 && (gt_count_text(count, names, text, error) != 0 ||
			    gt_count_array(count, calls, numbers, untraced->n, error) != 0))
		result = -1;
	free(numbers);
	free(text);
	return result;
}

void gt_ptx_untraced_clear(struct gt_ptx_untraced *untraced)
{
	free(untraced->of);
	*untraced = (struct gt_ptx_untraced){0};
}
