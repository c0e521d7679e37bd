/* SPDX-License-Identifier: MIT */
/* Where the producer of a trace, or of a part of one, puts launches, the rows of the last launch, and counts.
 * A stream's writer has one (gt_writer_output). */
#ifndef GT_STREAM_OUTPUT_H
#define GT_STREAM_OUTPUT_H

#include "base/error.h"
#include "base/public.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

/* The calls return 0, or -1 with the error set. */
struct gt_output {
	int (*kernel)(void *context, const struct gt_kernel *kernel, struct gt_error *error);
	int (*count)(void *context, const struct gt_count *count, struct gt_error *error);
	void *context;	     /* of both */
	struct gt_sink rows; /* with a context of its own */
};

/* Writes a count, and clears it. */
static inline int gt_output_count(const struct gt_output *output, struct gt_count *count, struct gt_error *error)
{
	int result = output->count(output->context, count, error);

	gt_count_clear(count);
	return result;
}

GT_PUBLIC_END

#endif
