/* SPDX-License-Identifier: MIT */
/* A kernel launch: what its rows are checked against, and what occupancy needs. */
#ifndef GT_STREAM_KERNEL_H
#define GT_STREAM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

#define GT_KERNEL_NAME 1024	   /* bytes a name may have, with its final 0; longer ones are cut */
#define GT_BLOCK_THREADS_MAX 1024  /* CUDA's limit */

enum gt_order {
	GT_ORDER_NONE,	/* as the source had them */
	GT_ORDER_BLOCK, /* by block, an, warp: what gtrace-order writes */
	GT_ORDER_AN,	/* by an, block, warp: [000] 4.1's global order */
};

/* What an order is called in streams and text, by enum gt_order. */
#define GT_ORDERS 3
extern const char *const gt_order_names[GT_ORDERS];

/* What a launch prefers of the caches: what CUDA's launch attributes, limits and function attributes
 * say. The launch sets it (struct gt_ptx_launch), the recorder writes it into the kernel record, and the
 * stages that it concerns honour it. All zero: no preference, and no field in the record. */
enum gt_property { GT_PROPERTY_NORMAL, GT_PROPERTY_STREAMING, GT_PROPERTY_PERSISTING, GT_PROPERTIES };

/* cudaAccessPolicyWindow: of the lines in [base, base + bytes) the share hit_ratio has the property
 * `hit`, the others `miss`. An instruction's own hint takes precedence over the window. */
struct gt_window {
	uint64_t base, bytes; /* 0 bytes: no window */
	uint32_t hit_ratio;   /* millionths, to GT_RATIO_ONE */
	enum gt_property hit, miss;
};
#define GT_RATIO_ONE 1000000
#define GT_WINDOW_TEXT 96 /* bytes that hold a window's text */

struct gt_preferences {
	struct gt_window window;
	uint64_t l2_fetch_bytes;      /* cudaLimitMaxL2FetchGranularity; 0: the GPU's own */
	uint64_t l2_persisting_bytes; /* cudaLimitPersistingL2CacheSize: set aside; 0: not set */
	uint32_t carveout;	      /* 1 + percent of shared memory that the function prefers; 0: none */
};

/* "BASE,BYTES,HIT_RATIO,HIT,MISS", the properties by name: a window in records and text. */
const char *gt_window_format(const struct gt_window *window, char buffer[GT_WINDOW_TEXT]);
/* The inverse; numbers may be decimal or, after 0x, hexadecimal. Returns 0, or -1 if the text is not a window. */
int gt_window_parse(const char *text, struct gt_window *window);

#define GT_THREAD_REGISTERS_MAX 255	  /* no GPU has more a thread */
#define GT_BLOCK_SHARED_MAX (256U << 10) /* bytes: GPUs of up to compute capability 12 have at most 228 KiB a block */

struct gt_kernel {
	uint64_t id;
	char name[GT_KERNEL_NAME];
	uint32_t grid[3];  /* blocks; 0 in grid[0]: unknown */
	uint32_t block[3]; /* threads; 0 in block[0]: unknown */
	uint32_t registers; /* per thread; 0: unknown */
	uint32_t shared_bytes; /* per block, static and dynamic */
	enum gt_order order;
	uint32_t device;   /* that it ran on; those of one stream differ only if a program uses several */
	uint64_t l1_bytes; /* the L1 data cache left beside shared memory [004 4.2]; 0: not decided */
	uint32_t cluster[3]; /* blocks that are resident together; 0 in cluster[0]: none */
	struct gt_preferences prefers;
	uint64_t parent; /* the id of the launch whose kernel launched it; 0: the host did, and no field in the record */

	/* Fields this version does not know: msgpack key-value pairs, passed on as they came. */
	unsigned char *extra;
	size_t extra_bytes;
	uint32_t extra_pairs;
};

/* Blocks of the grid, or 0 if unknown. */
uint64_t gt_kernel_blocks(const struct gt_kernel *kernel);
/* Threads of a block, or 0 if unknown. */
uint64_t gt_kernel_threads(const struct gt_kernel *kernel);
/* Warps of a block, the last one possibly partial, or 0 if unknown. */
uint64_t gt_kernel_warps(const struct gt_kernel *kernel);

/* Checks the shape: at most 2^32 blocks and GT_BLOCK_THREADS_MAX threads a block. */
int gt_kernel_check(const struct gt_kernel *kernel, struct gt_error *error);

/* Fails if a kernel ran on another device than the stream's first one: for stages whose caches and memory are those of one
 * device. *first is 1 + the first one's device, and 0 before it. */
int gt_kernel_same_device(const struct gt_kernel *kernel, uint32_t *first, struct gt_error *error);

/* Copies, `extra` included. `to` must be zeroed or hold an earlier copy. */
int gt_kernel_copy(struct gt_kernel *to, const struct gt_kernel *from, struct gt_error *error);
void gt_kernel_clear(struct gt_kernel *kernel);

GT_PUBLIC_END

#endif
