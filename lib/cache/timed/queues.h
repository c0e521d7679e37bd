/* SPDX-License-Identifier: MIT */
/* Lookups that wait for the ports of their banks: a queue for each bank, so that a step looks at those only that get one. */
#ifndef GT_CACHE_TIMED_QUEUES_H
#define GT_CACHE_TIMED_QUEUES_H

#include "cache/timed/engine.h"

struct gt_queues {
	struct gt_ends {
		uint32_t first, last; /* index + 1 of items; 0: none waits */
	} *ends;		      /* of each bank */
	uint32_t *next;		      /* of each item: index + 1 of the one behind it, or 0 */
	uint32_t *chosen;	      /* indices of the items that get a port in this step, ascending */
	size_t next_capacity, chosen_capacity;
};

void gt_queues_close(struct gt_queues *queues);

/* Queues all n items, in their order. Returns 0, or -1 when memory is short. */
int gt_queues_fill(struct gt_timed *timed, const struct gt_item *items, size_t n, struct gt_error *error);
/* Takes the items that get a port in a step out of their queues and sets `chosen`. Returns their number. */
size_t gt_queues_choose(const struct gt_timed *timed);
/* Puts n of the items chosen last back before the others of their banks; their indices ascend. */
void gt_queues_return(const struct gt_timed *timed, const struct gt_item *items, const uint32_t *indices, size_t n);

#endif
