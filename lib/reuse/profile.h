/* SPDX-License-Identifier: MIT */
/* A reuse profile: the histogram of all references and, if asked for, one for each of their
 * classes: the same instruction, the same op. */
#ifndef GT_REUSE_PROFILE_H
#define GT_REUSE_PROFILE_H

#include "base/error.h"
#include "base/map.h"
#include "reuse/histogram.h"
#include "stream/count.h"
#include "stream/rows.h"

#define GT_CLASS_TEXT 40 /* bytes that hold any class's name */

/* A way of telling references apart. */
struct gt_split {
	const char *name;
	uint64_t (*key)(const struct gt_rows *rows, size_t i);
	const char *(*format)(uint64_t key, char *buffer); /* of GT_CLASS_TEXT bytes; returns it */
};

/* The split of that name ("pc", "op"), or NULL. */
const struct gt_split *gt_split_find(const char *name);
/* The names, for messages: "pc or op". */
extern const char gt_split_names[];

struct gt_profile_class {
	uint64_t key;
	struct gt_histogram histogram;
};

struct gt_profile {
	const struct gt_split *split; /* NULL: no classes */
	struct gt_histogram all;
	struct gt_profile_class *classes;
	size_t n, capacity;
	struct gt_map index; /* key to class */
};

int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, uint64_t bound,
		    struct gt_error *error);
void gt_profile_close(struct gt_profile *profile);
/* Forgets what was counted. */
void gt_profile_clear(struct gt_profile *profile);

/* Counts a distance of row i. Returns 0, or -1 when memory is short. */
int gt_profile_add(struct gt_profile *profile, const struct gt_rows *rows, size_t i, uint64_t distance,
		   struct gt_error *error);

/* Orders the classes by key; nothing may be added until the next clear. */
void gt_profile_sort(struct gt_profile *profile);

/* Appends `references`, `infinite`, `distance` and `far` of all references, and then of each
 * class, its name put before them. The profile must be sorted. */
int gt_profile_count(const struct gt_profile *profile, struct gt_count *count, struct gt_error *error);

#endif
