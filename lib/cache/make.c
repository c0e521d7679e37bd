/* SPDX-License-Identifier: MIT */
/* Makes a level from texts, for users of the library. */
#include <string.h>

#include "cache/config.h"
#include "cache/level.h"

static const struct gt_role *find_role(const char *name)
{
	for (size_t i = 0; i < gt_roles_n; i++)
		if (gt_roles[i].name && strcmp(gt_roles[i].name, name) == 0)
			return &gt_roles[i];
	return NULL;
}

static int set(struct gt_level_settings *settings, const char *name, const char *value, struct gt_error *error)
{
	struct gt_error wrong;

	if (!value)
		return gt_fail(error, "%s: expected a value", name);
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (strcmp(gt_parameters[id].name, name) == 0)
			return gt_level_set(settings, (enum gt_parameter_id)id, value, &wrong) == 0
				       ? 0 : gt_fail(error, "%s: %s", name, wrong.text);
	return gt_fail(error, "no parameter '%s'", name);
}

struct gt_level *gt_level_make(const char *role, const char *const *parameters, const struct gt_gpu *gpu,
			       const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_level_settings settings = {.role = find_role(role)};
	struct gt_level_config config;

	if (!settings.role) {
		gt_fail(error, "no role '%s'", role);
		return NULL;
	}
	if (gt_level_name(&settings, settings.role->name, error) != 0)
		return NULL;
	for (; parameters && parameters[0]; parameters += 2)
		if (set(&settings, parameters[0], parameters[1], error) != 0)
			return NULL;
	if (gt_level_timed(&settings)) {
		gt_fail(error, "expected parameters of the functional model only");
		return NULL;
	}
	if (gt_level_resolve(&settings, gpu, kernel, &config, error) != 0 ||
	    gt_level_check(&config, ~UINT64_C(0), error) != 0)
		return NULL;
	return gt_level_open(&config, error);
}
