/* SPDX-License-Identifier: MIT */
/* The fine-grained P-chase of [001] 3.2 as a trace: one thread, in which each load gives the address of the
 * next. */
#ifndef GT_DISSECT_CHASE_H
#define GT_DISSECT_CHASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/kernel.h"
#include "stream/rows.h"

#define GT_CHASE_ELEMENT 4		  /* bytes of an array element */
#define GT_CHASE_STEPS_MAX (UINT64_C(1) << 26) /* accesses of a round */

struct gt_chase_order;

struct gt_chase {
	const struct gt_chase_order *order;
	uint64_t bytes;	 /* N: of the array */
	uint64_t stride; /* s: bytes, a multiple of GT_CHASE_ELEMENT */
	uint64_t rounds; /* k: passes over the array */
	uint64_t base;	 /* the array's address */
	uint64_t page;	 /* bytes; of the order `patterns` */
	uint8_t op;
};

/* The order in which elements are visited: one row of a table each. */
struct gt_chase_order {
	const char *name, *summary;
	/* The offsets of one round: writes them to `offsets` unless that is NULL, returns how many. */
	uint64_t (*round)(const struct gt_chase *chase, uint64_t *offsets);
	int (*check)(const struct gt_chase *chase, struct gt_error *error); /* NULL: no further check */
};
extern const struct gt_chase_order gt_chase_orders[];
extern const size_t gt_chase_orders_n;

/* The order of that name, or NULL with the names there are. */
const struct gt_chase_order *gt_chase_order_find(const char *name, struct gt_error *error);

/* Whether the chase is valid: 0, or -1 with what was expected. */
int gt_chase_check(const struct gt_chase *chase, struct gt_error *error);

/* The launch, of one thread; its name describes the chase. */
void gt_chase_kernel(const struct gt_chase *chase, uint64_t id, struct gt_kernel *kernel);
/* The chase of such a name, checked. Returns 0, or -1 with what was expected. */
int gt_chase_parse(const char *name, struct gt_chase *chase, struct gt_error *error);

/* The offsets of one round, to be freed by the caller, or NULL. */
uint64_t *gt_chase_round(const struct gt_chase *chase, uint64_t *n, struct gt_error *error);

/* Writes the accesses of a chase that passed the check; `an` numbers them from 0. */
int gt_chase_write(const struct gt_chase *chase, struct gt_sink *sink, struct gt_error *error);

/* ---- a P-chase that has passed a chain of levels: the element and the latency of each access ---- */

struct gt_observation {
	uint64_t bytes;	  /* of the array: N */
	uint64_t number;  /* of the access in its run, from 0 */
	uint64_t offset;  /* of the element in the array, bytes */
	uint32_t latency; /* cycles */
};

/* Called for each access. Returns 0, or -1 with the error set. */
typedef int gt_observed_take(void *context, const struct gt_observation *access, struct gt_error *error);

/* Whether the input is a stream (gtrace(5)), not text. Returns 1, 0, or -1. */
int gt_observed_is_stream(struct gt_input *input, struct gt_error *error);

/* Reads a stream of requests whose kernels gt_chase_kernel named, and passes each access to `take`. Every access must
 * be present, in order, with a latency. Returns 0, or -1 with what was expected. */
int gt_observed_read(struct gt_input *input, gt_observed_take *take, void *context, struct gt_error *error);

#endif
