/* SPDX-License-Identifier: MIT */
/* What --help says of roles and parameters. */
#include <stdio.h>
#include <string.h>

#include "cache/config.h"

void gt_parameter_help(enum gt_parameter_id id, char option[GT_OPTION_HELP], char text[GT_LEVEL_HELP])
{
	const struct gt_parameter *parameter = &gt_parameters[id];
	const char *separator = "; ";

	snprintf(option, GT_OPTION_HELP, "--%s %s", parameter->name, parameter->type.form);
	size_t used = (size_t)snprintf(text, GT_LEVEL_HELP, "%s%s%s [%s", parameter->help, parameter->choices ? ": " : "",
				       parameter->choices ? parameter->choices : "", parameter->otherwise);
	for (size_t i = 0; i < gt_roles_n && used < GT_LEVEL_HELP; i++) {
		const char *value = gt_roles[i].values[id];
		if (!value || strcmp(value, parameter->otherwise) == 0)
			continue;
		used += (size_t)snprintf(text + used, GT_LEVEL_HELP - used, "%s%s %s", separator, gt_roles[i].option, value);
		separator = ", ";
	}
	if (used < GT_LEVEL_HELP)
		snprintf(text + used, GT_LEVEL_HELP - used, "]");
}

void gt_role_help(const struct gt_role *role, char option[GT_OPTION_HELP])
{
	snprintf(option, GT_OPTION_HELP, "--%s%s", role->option, role->name ? "" : " NAME");
}
