/* SPDX-License-Identifier: MIT */
/* Makes memory requests, lines and sectors, of warp accesses, and counts the passes of shared memory. */
#ifndef GT_COALESCE_COALESCE_H
#define GT_COALESCE_COALESCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/shared.h"
#include "counter/tables.h"
#include "stream/op.h"
#include "stream/trace.h"

GT_PUBLIC_BEGIN

/* How a GPU coalesces a warp access into requests. A new rule is a row of the table in coalesce.c. */
#define GT_RULE_SIZES 6 /* data of up to 1, 2, 4, 8, 16 and 32 bytes a lane */

struct gt_coalescing_rule {
	const char *name;
	const char *summary; /* one line for --help */
	/* Lanes, by their index in the warp, that are coalesced together: a power of two for each
	 * size of data. */
	unsigned char group[GT_RULE_SIZES];
	/* The requests of several groups of one store to one line are joined, unless they share a sector. */
	bool join_stores;
	bool whole_lines; /* a request is for the whole line, because the next cache has no sectors; except for
			   * textures and constants, whose caches have other lines, and turns, which have none */
};

extern const struct gt_coalescing_rule gt_coalescing_rules[];
extern const size_t gt_coalescing_rules_n;

/* Whether an access of that op requests whole lines. */
static inline bool gt_rule_whole_lines(const struct gt_coalescing_rule *rule, uint8_t op)
{
	return rule->whole_lines && gt_op_space(op) != GT_TEXTURE && gt_op_space(op) != GT_SHARED && !gt_op_is_constant(op);
}

#define GT_COALESCE_STAGE "coalesce" /* what its counts are called */
#define GT_ACTIONS 4

struct gt_coalesce_counts {
	GT_COALESCE_COUNTERS(GT_COUNTER_FIELD)
};

struct gt_by_array;
struct gt_by_site;

/* Owns no memory, so there is no close function. */
struct gt_coalescer {
	const struct gt_coalescing_rule *rule;
	uint8_t group[GT_ACCESS_SIZE_MAX + 1]; /* lanes coalesced together, by size */
	struct gt_shared shared;
	bool turns; /* accesses to shared memory leave turns, for gschedule; else nothing */
	bool spans; /* requests of an access at even distances, and else alike, are one row (stream/rows.h) */
	struct gt_by_array *by_array; /* counts accesses to shared memory too, where it is set; the caller's */
	struct gt_by_site *by_site;   /* the same of all accesses of data */

	/* Counted since the last reset: data accesses to other memory than shared, by enum gt_action, and the rest. */
	uint64_t accesses[GT_ACTIONS];
	uint64_t requests[GT_ACTIONS];
	uint64_t sectors[GT_ACTIONS];
	uint64_t least_passes; /* of accesses to shared memory, if no lanes met in a bank */
	struct gt_coalesce_counts counts;
};

/* Chooses a rule by name, "default" if NULL, and the default banks; all counts are 0. Returns 0, or -1 with the
 * names there are. */
int gt_coalescer_open(struct gt_coalescer *coalescer, const char *rule, struct gt_error *error);

/* The same with the rule and the shared memory of a description, which may be NULL. The name of a rule, and banks
 * as gt_banks_parse reads them, override the description if they are not NULL. Returns 0, or -1 naming the invalid
 * value. */
int gt_coalescer_resolve(struct gt_coalescer *coalescer, const struct gt_gpu *gpu, const char *rule,
			 const char *banks, struct gt_error *error);

/* Makes the requests of a batch of accesses, in its order. They keep block, warp, an, pc, op, hint, and
 * step and sm where the accesses are scheduled. Accesses to shared memory make none: their passes
 * are counted, and with `turns` each leaves a turn: a request on shared memory, without a line (gtrace(5)). Returns 0, or -1 with the
 * sink's error. */
int gt_coalesce(struct gt_coalescer *coalescer, const struct gt_rows *accesses, struct gt_sink *requests,
		struct gt_error *error);

/* Appends the counters to `count`, which the caller has begun. Returns 0, or -1 when memory is short. */
int gt_coalescer_count(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error);

/* Writes the counts of a kernel. Returns 0, or -1 with the error set. */
int gt_coalescer_write(const struct gt_coalescer *coalescer, uint64_t kernel, const struct gt_output *output,
		       struct gt_error *error);

/* Counts from 0 again: for the next kernel. */
void gt_coalescer_reset(struct gt_coalescer *coalescer);

/* Adds what another coalescer, of the same rule, has counted. */
void gt_coalescer_add(struct gt_coalescer *coalescer, const struct gt_coalescer *other);

GT_PUBLIC_END

#endif
