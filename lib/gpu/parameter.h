/* SPDX-License-Identifier: MIT */
/* Values as users write them in a GPU description or after an option, one type for each syntax; and the parameters of a cache level: one
 * table, which gcache's options (--NAME VALUE), their --help, the keys of GPU descriptions (LEVEL.NAME = VALUE, with _ for -), and error
 * messages all read. */
#ifndef GT_GPU_PARAMETER_H
#define GT_GPU_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"

/* ---- values ---- */

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

/* ---- parameters of a level ---- */

/* In the order in which a level reads them: the seed before the policy, whose text may override it. */
enum gt_parameter_id {
	GT_LEVEL_SCOPE, GT_LEVEL_SIZE, GT_LEVEL_WAYS, GT_LEVEL_LINE, GT_LEVEL_SECTOR, GT_LEVEL_SETS, GT_LEVEL_INDEX,
	GT_LEVEL_INTERLEAVE, GT_LEVEL_SEED, GT_LEVEL_REPLACE, GT_LEVEL_WRITE, GT_LEVEL_ALLOCATE, GT_LEVEL_PARTIAL,
	GT_LEVEL_WRITE_HITS, GT_LEVEL_READ_MISSES, GT_LEVEL_FETCH, GT_LEVEL_BYPASS, GT_LEVEL_OPERATORS, GT_LEVEL_HINTS, GT_LEVEL_FLUSH, GT_LEVEL_WARM,
	GT_LEVEL_ARRIVAL, GT_LEVEL_COALESCER, GT_LEVEL_CONSTANT, GT_LEVEL_LAUNCH_READS, GT_LEVEL_SPREAD, GT_LEVEL_DIRTY_WAYS, GT_LEVEL_FOUND_DIRTY, GT_LEVEL_COMBINE, GT_LEVEL_EMIT, GT_LEVEL_BY, GT_LEVEL_HIT_CYCLES, GT_LEVEL_MISS_CYCLES,
	GT_LEVEL_PARTITIONS, GT_LEVEL_BANKS, GT_LEVEL_PORTS, GT_LEVEL_MSHR, GT_LEVEL_MERGES, GT_LEVEL_PER_WARP,
	GT_LEVEL_LATENCY, GT_LEVEL_HIT_LATENCY, GT_LEVEL_ON_FULL, GT_LEVEL_UNIT, GT_LEVEL_ISSUE,
	GT_LEVEL_SCHEDULERS, GT_LEVEL_FILL, GT_LEVEL_CLIP, GT_LEVEL_DELAY, GT_PARAMETERS
};

#define GT_LEVEL_SLOTS_MAX (1U << 26) /* lines of one instance */
#define GT_LEVEL_LINES_MAX (1U << 27) /* lines of all instances */
#define GT_TIMED_MAX (1U << 20)	      /* of steps, entries and the like in the timed model */

/* What parameters are about, in the order of --help. */
enum gt_parameter_group {
	GT_ABOUT_SHAPE, GT_ABOUT_REPLACEMENT, GT_ABOUT_STORES, GT_ABOUT_FETCHES, GT_ABOUT_LAUNCHES, GT_ABOUT_SHARED, GT_ABOUT_RESULTS,
	GT_ABOUT_TIMING, GT_PARAMETER_GROUPS
};
extern const char *const gt_parameter_groups[GT_PARAMETER_GROUPS]; /* their headings */

struct gt_parameter {
	const char *name; /* of the option */
	struct gt_value_type type;
	const char *otherwise; /* the default where the level has none of its own */
	enum gt_parameter_group group; /* an option of GT_ABOUT_TIMING makes a level timed */
	const char *help;
	const char *choices; /* of a word that a table of names gives a meaning: these names; else NULL */
};
extern const struct gt_parameter gt_parameters[GT_PARAMETERS];

/* The levels that a description may have. */
extern const char *const gt_gpu_levels[];
extern const size_t gt_gpu_levels_n;

/* Writes the key of a level's parameter, "l1tlb.hit_cycles". Returns the buffer. */
#define GT_KEY_BYTES 128
const char *gt_parameter_key(const char *level, enum gt_parameter_id id, char buffer[GT_KEY_BYTES]);

/* ---- how far an SM is from a line in a shared level ---- */

/* "sm:117,slice:73,far:150" in any order, each at most once, or "none". `slices` and `sms` stay. Returns 0, or -1 with what was expected. */
int gt_spread_parse(struct gt_spread *spread, const char *text, struct gt_error *error);

/* The cycles that an access of the SM to the line of this number takes more than the mean, or less, by place. What is found in the other
 * partition takes spread->far more. */
int64_t gt_spread_cycles(const struct gt_spread *spread, uint32_t sm, uint64_t line);

/* The most by which it may take less than the mean. */
static inline uint32_t gt_spread_nearest(const struct gt_spread *spread)
{
	return spread->sm / 2 + spread->slice - spread->slice / 2;
}

/* The cycles by which a request is longer on its way to the line than one from the nearest place: half of what it takes more, there and
 * back. At most half of what all differ by. */
static inline uint32_t gt_spread_way(const struct gt_spread *spread, uint32_t sm, uint64_t line)
{
	return (uint32_t)(gt_spread_cycles(spread, sm, line) + gt_spread_nearest(spread)) / 2;
}

/* The partition that is a line's home: the parity of the number of its 4 KB, so that every aligned range from 8 KB on has as many lines in each. */
static inline unsigned gt_spread_home(uint64_t line)
{
	return (unsigned)__builtin_parityll(line >> 5);
}

/* The partition of an SM: that of its quarter of the SMs, two for each; where their number is not known, that of its parity. */
static inline unsigned gt_spread_side(const struct gt_spread *spread, uint32_t sm)
{
	return spread->sms ? (unsigned)((uint64_t)sm * 4 / spread->sms) & 1 : sm & 1;
}

#endif
