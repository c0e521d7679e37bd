/* SPDX-License-Identifier: MIT */
/* A GPU description: keys, values as users write them, and the source of each value (gtrace-gpu(5)). On disk it
 * is text, one value a line:
 *
 *     l2.size = 4.5M    # vendor: NVIDIA, Volta whitepaper (2017), table 1
 *     l2.ways = 32      # assumed: [004] table 3
 */
#ifndef GT_GPU_H
#define GT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

#define GT_GPU_TEXT 256 /* bytes a key, value or source may have, with its final 0 */

struct gt_gpu_figure {
	char key[GT_GPU_TEXT];
	char value[GT_GPU_TEXT];
	char status[16]; /* one of gpu.c's statuses */
	char source[GT_GPU_TEXT];
};

struct gt_gpu {
	struct gt_gpu_figure *figures; /* in the file's order */
	size_t n, capacity;
	uint64_t *hashes; /* of their keys: each launch looks up a hundred keys or more */
	size_t hashes_capacity;
};

/* Reads the description `name_or_file`: a path if it has a slash or names a readable file, else
 * NAME in $GTRACE_GPUS, in gpus/ or share/gtrace/gpus/ next to the program's bin/, or in the installed
 * directory. Every value needs a known key, a status and a source. Returns 0, or -1 with file and line. */
int gt_gpu_load(struct gt_gpu *gpu, const char *name_or_file, struct gt_error *error);
/* The path of that description, into a buffer of `bytes`. */
int gt_gpu_path(const char *name_or_file, char *path, size_t bytes, struct gt_error *error);
/* The name of the description that is nearest to a word; "" if none has a letter of it in its place. */
int gt_gpu_nearest(const char *word, char *name, size_t bytes, struct gt_error *error);
void gt_gpu_clear(struct gt_gpu *gpu);

/* Adds a value or replaces the one of that key. Unknown keys are refused. */
int gt_gpu_set(struct gt_gpu *gpu, const char *key, const char *value, const char *status,
	       const char *source, struct gt_error *error);

/* Sets all values of `from` as gt_gpu_set does; others stay. */
int gt_gpu_join(struct gt_gpu *gpu, const struct gt_gpu *from, struct gt_error *error);

/* The value of a key, or NULL. A NULL gpu has no values. */
const char *gt_gpu_get(const struct gt_gpu *gpu, const char *key);

/* The same as a count, a size in bytes or a yes/no; `otherwise` if the key is absent.
 * Returns 0, or -1 with an error that names the key. */
int gt_gpu_count(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		 struct gt_error *error);
int gt_gpu_size(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		struct gt_error *error);

/* ---- the SMs of GPCs, in the order in which blocks come to them ---- */

#define GT_GPCS_MAX 64

struct gt_gpcs {
	uint32_t n; /* 0: not known */
	uint32_t end[GT_GPCS_MAX]; /* the SM behind the last of each */
	uint32_t again, then_again; /* after how many others the first one gets blocks again, for the first time and then; 0: in its turn */
};

static inline uint64_t gt_gpcs_sms(const struct gt_gpcs *gpcs)
{
	return gpcs->n > 0 ? gpcs->end[gpcs->n - 1] : 0;
}

/* What the description says, if it is of that many SMs; 0: of any. Returns 0, or -1 with an error that names the key. */
int gt_gpu_gpcs(const struct gt_gpu *gpu, uint64_t sms, struct gt_gpcs *gpcs, struct gt_error *error);

/* True if the key may stand in a description: one of a table, or LEVEL.PARAMETER. */
bool gt_gpu_known(const char *key);

/* The compute capability, such as 80; 0 if there is none, or it is no such number. */
unsigned gt_gpu_capability(const struct gt_gpu *gpu);

/* What code is for: 100 and 'a' for sm_100a, which runs on that compute capability alone; 'f' for sm_100f, on later ones with the
 * same major number, too; 0 for sm_100, on all later ones (CUDA Programming Guide, "Feature Availability"). */
struct gt_gpu_target {
	unsigned capability;
	char features; /* 'a', 'f' or 0 */
};

bool gt_gpu_runs(unsigned capability, struct gt_gpu_target target);
/* Why a GPU does not run it, and which of a directory do: "its PTX is for compute capability 10.0 alone, and the GPU has 12.0 (--gpu
 * with it: b200)". */
#define GT_GPU_REASON 256
void gt_gpu_explain(const char *directory, unsigned capability, struct gt_gpu_target target, char reason[GT_GPU_REASON]);

/* The directory where descriptions are looked for by name, into a buffer of `bytes`. */
int gt_gpu_directory(char *buffer, size_t bytes, struct gt_error *error);

#define GT_SPREAD_MAX 65535 /* cycles */

/* Cycles between what is nearest and what is farthest: of the SMs, of the slices of the level for an SM, and of the two partitions. */
struct gt_spread {
	uint32_t sm, slice, far;
	bool partitions; /* there are two, and each has copies of the other's lines: far was said, if only as 0 */
	uint64_t slices; /* of the level; 0 is as 1 */
	uint64_t sms; /* of the GPU; 0: not known */
};

GT_PUBLIC_END

#endif
