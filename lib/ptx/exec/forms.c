/* SPDX-License-Identifier: MIT */
#include "ptx/exec/forms.h"

#include <string.h>

static const struct gt_ptx_forms *const tables[] = {
	&gt_ptx_integer_forms, &gt_ptx_float_forms, &gt_ptx_compare_forms, &gt_ptx_bit_forms, &gt_ptx_wide_forms,
	&gt_ptx_convert_forms, &gt_ptx_move_forms, &gt_ptx_lane_forms, &gt_ptx_half_forms,
};

const struct gt_ptx_form *gt_ptx_form(const char *name)
{
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		for (size_t i = 0; i < tables[t]->n; i++)
			if (strcmp(tables[t]->rows[i].name, name) == 0)
				return &tables[t]->rows[i];
	return NULL;
}

bool gt_ptx_fast(void)
{
#if defined __x86_64__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
	return false;
#endif
}
