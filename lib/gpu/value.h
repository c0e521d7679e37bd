/* SPDX-License-Identifier: MIT */
/* Values as users write them in a GPU description or after an option: one type for each syntax. */
#ifndef GT_GPU_VALUE_H
#define GT_GPU_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum gt_value_kind {
	GT_VALUE_TEXT,	 /* any text but an empty one */
	GT_VALUE_WORD,	 /* one word; its grammar is known where it is used */
	GT_VALUE_ONE_OF, /* one of the words of `form` */
	GT_VALUE_YES_NO,
	GT_VALUE_COUNT,
	GT_VALUE_SIZE,	/* bytes */
	GT_VALUE_POWER, /* bytes, a power of two */
	GT_VALUE_SIZES, /* ascending sizes, separated by commas */
	GT_VALUE_WAYS,	/* a count, full, or full/SETS */
	GT_VALUE_REAL,
};

struct gt_value_type {
	enum gt_value_kind kind;
	/* What is accepted: alternatives separated by '|'. Those in lower case are words, which may replace a
	 * number; the others name what a user fills in. NULL: a number only. */
	const char *form;
	uint64_t min, max; /* of numbers */
};

struct gt_value {
	const char *text; /* as written, not owned */
	bool word;	  /* the value is one of the words, not a number; of ways: full */
	uint64_t number;  /* which word (from 0), no or yes (0 or 1), the count or size; of full: the sets */
	double real;	  /* GT_VALUE_REAL */
};

/* Reads a text. Returns 0, or -1 with what is accepted. */
int gt_value_read(const struct gt_value_type *type, const char *text, struct gt_value *value, struct gt_error *error);

#endif
