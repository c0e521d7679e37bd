/* SPDX-License-Identifier: MIT */
/* References divided into classes: by instruction, by op, by the array that they are to ... A split says which class a
 * reference is of; the classes are those that occurred, with the caller's counts for each. */
#ifndef GT_REUSE_CLASSES_H
#define GT_REUSE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "stream/count.h"
#include "stream/op.h"
#include "stream/program.h"
#include "stream/rows.h"

#define GT_CLASS_TEXT 1024 /* bytes that hold any class's name */

/* The launch whose rows are read. */
struct gt_launch {
	struct gt_arrays arrays;
	struct gt_sources sources; /* of this launch */
	struct gt_names places;	   /* source lines of all launches; 0 is "-": none is known */
	struct gt_names kernels;   /* names of all kernels launched */
	uint64_t kernel;	 /* the number of this one's name */
};

int gt_launch_open(struct gt_launch *launch, struct gt_error *error);
void gt_launch_close(struct gt_launch *launch);
/* A launch of the kernel of that name begins. */
int gt_launch_begin(struct gt_launch *launch, const char *kernel, struct gt_error *error);

/* A count of the launch: the arrays and source lines that the trace names. Returns 0, or -1: out of memory, or they are
 * malformed. */
int gt_launch_count(struct gt_launch *launch, const struct gt_count *count, struct gt_error *error);

/* A reference of row i to the unit that begins at an address. */
struct gt_referrer {
	const struct gt_rows *rows;
	size_t i;
	uint64_t address;
};

struct gt_split {
	const char *name;
	uint64_t (*key)(const struct gt_launch *launch, const struct gt_referrer *referrer);
	/* Into a buffer of GT_CLASS_TEXT bytes; returns it. */
	const char *(*format)(const struct gt_launch *launch, uint64_t key, char *buffer);
	bool tells; /* a class is also told by its op, source line and kernel */
};

extern const struct gt_split gt_splits[];
extern const size_t gt_splits_n;
/* The names, for messages: "pc, op, ... or kernel". */
extern const char gt_split_names[];

struct gt_reuse_class {
	uint64_t key;
	void *counted; /* the caller's; NULL when the class is new */
	/* With a split that tells them: the op, the number of the source line and that of the kernel. */
	uint64_t op, place, kernel;
};
#define GT_CLASS_SEVERAL UINT64_MAX /* of these: the references of the class do not agree */

/* The same in words; "several" or "-" where there is no one word for it. */
struct gt_class_words {
	char op[GT_OP_TEXT], source[GT_CLASS_TEXT], kernel[GT_CLASS_TEXT];
};

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

/* What is told of class i. */
void gt_reuse_classes_tell(const struct gt_reuse_classes *classes, size_t i, struct gt_class_words *words);

#endif
