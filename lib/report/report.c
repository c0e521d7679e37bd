/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

static const struct gt_report_form forms[] = {
	{"gtrace", "table", gt_report_write_table},
	{"gtrace", "csv", gt_report_write_csv},
	{"gtrace", "json", gt_report_write_json},
	{"ncu", "table", gt_report_write_ncu_table},
	{"ncu", "csv", gt_report_write_ncu_csv},
	{"ncu", "json", gt_report_write_ncu_json},
	{"nvprof", "table", gt_report_write_nvprof_table},
	{"nvprof", "csv", gt_report_write_nvprof_csv},
	{"nvprof", "json", gt_report_write_nvprof_json},
};

const struct gt_report_form *gt_report_form_find(const char *names, const char *form)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].names, names) == 0 && strcmp(forms[i].form, form) == 0)
			return &forms[i];
	return NULL;
}
