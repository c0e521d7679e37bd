/* SPDX-License-Identifier: MIT */
/* A reuse profile: the histogram of all references and, if asked for, one for each of their
 * classes: the same instruction, the same op. */
#ifndef GT_REUSE_PROFILE_H
#define GT_REUSE_PROFILE_H

#include "base/error.h"
#include "base/map.h"
#include "reuse/arrays.h"
#include "reuse/histogram.h"
#include "stream/count.h"
#include "stream/rows.h"

#define GT_CLASS_TEXT 40 /* bytes that hold any class's name */

/* A way of telling references apart. `arrays` are those known when the reference is made. */
struct gt_split {
	const char *name;
	uint64_t (*key)(const struct gt_arrays *arrays, const struct gt_rows *rows, size_t i, uint64_t address);
	/* Into a buffer of GT_CLASS_TEXT bytes; returns it. */
	const char *(*format)(const struct gt_arrays *arrays, uint64_t key, char *buffer);
};

/* The split of that name ("pc", "op", "array"), or NULL. */
const struct gt_split *gt_split_find(const char *name);
/* The names, for messages: "pc, op or array". */
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
	const struct gt_arrays *arrays; /* for splits by array */
	uint64_t lines; /* distinct ones of flushed stacks, where lines are sampled */
};

int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, const struct gt_arrays *arrays,
		    uint64_t bound, struct gt_error *error);
void gt_profile_close(struct gt_profile *profile);
/* Forgets what was counted. */
void gt_profile_clear(struct gt_profile *profile);

/* A reference of row i to an address. */
struct gt_profile_reference {
	const struct gt_rows *rows;
	size_t i;
	uint64_t address;
};

/* Counts a distance of a reference `weight` times: it stands for that many. Returns 0, or -1 when
 * memory is short. */
int gt_profile_add(struct gt_profile *profile, const struct gt_profile_reference *reference, uint64_t distance,
		   uint64_t weight, struct gt_error *error);
/* A reference that was not measured, others standing for it. */
int gt_profile_pass(struct gt_profile *profile, const struct gt_profile_reference *reference,
		    struct gt_error *error);
/* Makes the counts of every histogram add up to its references (gt_histogram_settle). */
int gt_profile_settle(struct gt_profile *profile, struct gt_error *error);

/* Orders the classes by key; nothing may be added until the next clear. */
void gt_profile_sort(struct gt_profile *profile);

/* Appends `references`, `infinite`, `distance` and `far` of all references, and then of each
 * class, its name put before them. The profile must be sorted. */
int gt_profile_count(const struct gt_profile *profile, struct gt_count *count, struct gt_error *error);

#endif
