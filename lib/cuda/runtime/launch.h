/* SPDX-License-Identifier: MIT */
/* Launches with attributes. */
#ifndef GT_RUNTIME_LAUNCH_H
#define GT_RUNTIME_LAUNCH_H

#include "cuda/runtime/runtime.h"

struct gt_cuda_event;

/* cudaAccessPolicyWindow. Its properties have the numbers of enum gt_property. */
struct gt_access_window {
	const void *base;
	size_t bytes;
	float hit_ratio;
	unsigned hit, miss;
};

union gt_launch_value {
	unsigned char bytes[64];
	struct gt_access_window window;
	struct gt_dim3 cluster;
	struct gt_cuda_event *event;
	int number;
};

#define GT_LAUNCH_COOPERATIVE 2
#define GT_LAUNCH_CLUSTER     4

/* cudaLaunchAttribute, and CUlaunchAttribute */
struct gt_launch_attribute {
	unsigned id;
	union gt_launch_value value;
};

/* cudaLaunchConfig_t */
struct gt_launch_config {
	struct gt_dim3 grid, block;
	size_t shared;
	void *stream;
	const struct gt_launch_attribute *attributes;
	unsigned n_attributes;
};

/* Asks the stream for the launch. Returns a code. */
int gt_cudart_launch_with(const struct gt_launch_config *config, const void *function, void **arguments);

/* How many clusters of a configuration the GPU holds; the most blocks that a cluster may have. They return codes. */
int cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct gt_launch_config *config);
int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const struct gt_launch_config *config);

#endif
