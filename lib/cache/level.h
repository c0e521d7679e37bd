/* SPDX-License-Identifier: MIT */
/* A functional cache level: it takes requests in the order of service, and writes those that it sends on. One instance for
 * all SMs, or one for each. */
#ifndef GT_CACHE_LEVEL_H
#define GT_CACHE_LEVEL_H

#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

struct gt_level;

/* An empty level of a role, "l1", "l2", "texture" or "readonly", as gcache(1) makes it. Parameters are pairs of an option's
 * name and its value, such as {"size", "32K", "ways", "8", NULL}; the others come from the GPU description, the kernel and
 * the role, in this order. Parameters, gpu and kernel may be NULL. A parameter that makes a level timed is an error. NULL on
 * error; closed by gt_level_close. */
struct gt_level *gt_level_make(const char *role, const char *const *parameters, const struct gt_gpu *gpu,
			       const struct gt_kernel *kernel, struct gt_error *error);

struct gt_level_config; /* cache/config.h, which is private */

/* An empty level of a config that passed gt_level_check. NULL on error. */
struct gt_level *gt_level_open(const struct gt_level_config *config, struct gt_error *error);
void gt_level_close(struct gt_level *level);

/* A kernel begins: its counters are zero. The contents of the level are kept. */
void gt_level_begin(struct gt_level *level);

/* The access policy window of the launch, which a level that all SMs share honours, and the bytes of the
 * level that are set aside for lines that it lets persist. */
void gt_level_window(struct gt_level *level, const struct gt_window *window, uint64_t aside);

/* The launch of this kernel, whose own reads (--launch-reads) a level serves before the first request; without this call
 * there are none. */
void gt_level_launch(struct gt_level *level, const struct gt_kernel *kernel);

/* Serves a batch of requests. By the config's `emit`, `sent` gets the requests that the level sends on, or all requests with
 * their status, or none; its rows must not be `requests`. With arrival rr the requests are kept in memory until the end of
 * the kernel. */
int gt_level_take(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error);

/* The kernel ends: serves the requests that wait, and flushes if the config requires it. */
int gt_level_finish(struct gt_level *level, struct gt_sink *sent, struct gt_error *error);

/* The counters since gt_level_begin, for the launch `kernel`; names and units are in gcache(1). Begins `count`, which the
 * caller clears. */
int gt_level_count(const struct gt_level *level, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error);

GT_PUBLIC_END

#endif
