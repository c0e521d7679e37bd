/* SPDX-License-Identifier: MIT */
/* The classes of references that a split makes, such as those of one instruction or one op, and the caller's
 * counts for each. */
#ifndef GT_REUSE_CLASSES_H
#define GT_REUSE_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "reuse/split.h"

struct gt_reuse_class {
	uint64_t key;
	void *counted; /* the caller's; NULL when the class is new */
	/* With a split that tells them: the op, the number of the source line and that of the kernel. */
	uint64_t op, place, kernel;
};
#define GT_CLASS_SEVERAL UINT64_MAX /* of these: the references of the class do not agree */

struct gt_reuse_classes {
	const struct gt_split *split;	/* NULL: there are no classes */
	const struct gt_launch *launch; /* for the split; the caller's */
	struct gt_reuse_class *classes;
	size_t n, capacity;
	struct gt_map index; /* key to class */
};

/* A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
int gt_reuse_classes_open(struct gt_reuse_classes *classes, const struct gt_split *split, const struct gt_launch *launch,
		    struct gt_error *error);
/* The caller frees `counted` of each class before. */
void gt_reuse_classes_close(struct gt_reuse_classes *classes);
void gt_reuse_classes_clear(struct gt_reuse_classes *classes);

/* The class of a reference, made if it is new; valid until the next call. NULL when memory is short. */
struct gt_reuse_class *gt_reuse_classes_of(struct gt_reuse_classes *classes, const struct gt_referrer *referrer, struct gt_error *error);

/* Sorts the classes by key; gt_reuse_classes_of may not be called until the next clear. */
void gt_reuse_classes_sort(struct gt_reuse_classes *classes);

/* The name of class i, into a buffer of GT_CLASS_TEXT bytes; returns it. */
const char *gt_reuse_classes_name(const struct gt_reuse_classes *classes, size_t i, char *buffer);

/* What is told of class i, "several" or "-" if there is no one word for it. */
const char *gt_reuse_classes_op(const struct gt_reuse_classes *classes, size_t i, char *buffer);
const char *gt_reuse_classes_source(const struct gt_reuse_classes *classes, size_t i, char *buffer);
const char *gt_reuse_classes_kernel(const struct gt_reuse_classes *classes, size_t i, char *buffer);

#endif
