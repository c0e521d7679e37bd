/* SPDX-License-Identifier: MIT */
/* Where the value of a parameter goes in a level's configuration. */
#ifndef GT_CACHE_CONFIG_STORE_H
#define GT_CACHE_CONFIG_STORE_H

#include "cache/config.h"

/* In the place of a number until gt_level_resolve decides it. */
#define GT_AUTO_SCHEDULERS 0
#define GT_AUTO_DELAY (-1)

/* Stores what the text says. Returns 0, or -1 if the parameter does not take it. */
int gt_level_store(struct gt_level_config *config, enum gt_parameter_id id, const char *text, struct gt_error *error);

#endif
