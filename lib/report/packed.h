/* SPDX-License-Identifier: MIT */
/* Kernels of a report that are packed, since it may have a million of them. */
#ifndef GT_REPORT_PACKED_H
#define GT_REPORT_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "report/counts.h"

/* Kernels in the order in which they were made, of which the last ones used are whole; the others have some hundred bytes each, in
 * memory or, if they are many, in an unlinked temporary file. What they have in common with others, such as names, they share. */
struct gt_packed;

struct gt_packed *gt_packed_open(struct gt_error *error);
void gt_packed_close(struct gt_packed *packed);

/* Kernel i, to be changed, from 0; a new one if there are i of them. Valid until the next call but one. NULL on error. */
struct gt_report_kernel *gt_packed_at(struct gt_packed *packed, size_t i, struct gt_error *error);
/* The same if it is whole, else NULL. */
struct gt_report_kernel *gt_packed_whole(const struct gt_packed *packed, size_t i);

/* Once all kernels are there: kernel i, which is whole, or is copied to `kernel` in the place of the one that was read before. NULL on error. */
struct gt_report_kernel *gt_packed_read(struct gt_packed *packed, size_t i, struct gt_report_kernel *kernel, struct gt_error *error);
/* The kernel i that was read is from now on number `to`, whose kernel is dropped. */
void gt_packed_move(struct gt_packed *packed, size_t i, size_t to);
/* Whether a file was needed. */
bool gt_packed_in_file(const struct gt_packed *packed);

#endif
