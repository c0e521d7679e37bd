/* SPDX-License-Identifier: MIT */
/* What the history of a stream says of the pipe: which stages it has passed, and whether the next one belongs there. */
#ifndef GT_STREAM_HISTORY_H
#define GT_STREAM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum gt_order_of_stages {
	GT_STAGES_IN_ORDER,
	GT_STAGES_DOUBTFUL,   /* the result has a meaning, but hardly the one that was wanted */
	GT_STAGES_MEANINGLESS, /* the stage would get nothing of what it models */
};

/* The last entry of a tool in a history (as gt_reader_history gives it), or NULL. With an option, the last one that was
 * given it. */
const char *gt_history_find(const char *const *history, const char *tool, const char *option);

/* The argument of an option in an entry, copied, and cut to the size. False if the entry does not have it. */
bool gt_history_argument(const char *entry, const char *option, char *text, size_t size);

/* Whether a stage's option --gpu, in its arguments, is that of the last stage before it that has one; a second gcoalesce has nothing
 * to do with either. If not, `reason` says what the earlier one was for. */
bool gt_history_same_gpu(const char *const *history, const char *tool, char *const argv[], struct gt_error *reason);

/* Whether a stage may follow that history; argv are its arguments, up to a NULL. If not, `reason` says why. */
enum gt_order_of_stages gt_history_order(const char *const *history, const char *tool, char *const argv[],
					 struct gt_error *reason);

#endif
