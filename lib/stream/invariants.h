/* SPDX-License-Identifier: MIT */
/* What must hold between the numbers of a stream (gtrace-cat(1), "Invariants"). */
#ifndef GT_STREAM_INVARIANTS_H
#define GT_STREAM_INVARIANTS_H

#include <stdint.h>

#include "base/error.h"
#include "stream/stream.h"

struct gt_invariants;

/* NULL when memory is short. */
struct gt_invariants *gt_invariants_open(struct gt_error *error);
void gt_invariants_close(struct gt_invariants *invariants);

/* Takes each event of a stream in turn. Returns 0, or -1 naming the invariant that does not hold. */
int gt_invariants_take(struct gt_invariants *invariants, struct gt_reader *reader, enum gt_event event,
		       struct gt_error *error);

/* How many comparisons were made, all of which held. */
uint64_t gt_invariants_checked(const struct gt_invariants *invariants);

#endif
