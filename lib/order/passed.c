/* SPDX-License-Identifier: MIT */
#include "order/passed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

static const struct {
	const char *what, *remark;
} remarks[] = {
	{GT_PASSED_REGISTERS, "--registers sets it"},
	{GT_PASSED_SHARED, "--shared sets it"},
	{GT_PASSED_VERSIONS, "read as version 6"},
};

int gt_passed_add(struct gt_passed_list *list, const char *what, uint64_t n, struct gt_error *error)
{
	size_t i = 0;

	while (i < list->n && strncmp(list->kinds[i].what, what, GT_COUNT_NAME - 1) != 0)
		i++;
	if (i == list->n) {
		struct gt_passed_kind *more = gt_grown(list->kinds, list->n, &list->capacity, sizeof *more);

		if (!more)
			return gt_fail_memory(error, "what was passed over");
		list->kinds = more;
		list->kinds[list->n] = (struct gt_passed_kind){.number = 0};
		strncpy(list->kinds[list->n++].what, what, GT_COUNT_NAME - 1);
	}
	list->kinds[i].number += n;
	return 0;
}

void gt_passed_clear(struct gt_passed_list *list)
{
	free(list->kinds);
	*list = (struct gt_passed_list){.n = 0};
}

const char *gt_passed_remark(const char *what)
{
	for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
		if (strcmp(remarks[i].what, what) == 0)
			return remarks[i].remark;
	return NULL;
}

int gt_passed_count(struct gt_count *count, const struct gt_passed_list *list, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	for (size_t i = 0; i < list->n; i++) {
		size_t length = 0;
		for (const char *c = list->kinds[i].what; *c; c++)
			name[length++] = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
		name[length] = '\0';
		if (gt_count_number(count, name, list->kinds[i].number, error) != 0)
			return -1;
	}
	return 0;
}
