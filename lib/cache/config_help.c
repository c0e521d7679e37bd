/* SPDX-License-Identifier: MIT */
/* What --help says of roles and parameters. */
#include "base/options.h"
#include "cache/config.h"

/* "TEXT [32K; l2 2M, texture 12K]": the default, and the roles that have another one. */
static void print_parameter(FILE *to, int id)
{
	const struct gt_parameter *parameter = &gt_parameters[id];
	char option[64], text[512];
	const char *separator = "; ";

	snprintf(option, sizeof option, "--%s %s", parameter->name, parameter->type.form);
	size_t used = (size_t)snprintf(text, sizeof text, "%s%s%s [%s", parameter->help, parameter->choices ? ": " : "",
				       parameter->choices ? parameter->choices : "", parameter->otherwise);
	for (size_t i = 0; i < gt_roles_n && used < sizeof text; i++) {
		const char *value = gt_roles[i].values[id];
		if (!value || strcmp(value, parameter->otherwise) == 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", separator, gt_roles[i].option, value);
		separator = ", ";
	}
	if (used < sizeof text)
		snprintf(text + used, sizeof text - used, "]");
	gt_help_option(to, option, text);
}

void gt_level_help(FILE *to, bool timed)
{
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (gt_parameters[id].timed == timed)
			print_parameter(to, id);
}

void gt_roles_help(FILE *to)
{
	char option[32];

	for (size_t i = 0; i < gt_roles_n; i++) {
		snprintf(option, sizeof option, "--%s%s", gt_roles[i].option, gt_roles[i].name ? "" : " NAME");
		gt_help_option(to, option, gt_roles[i].help);
	}
}
