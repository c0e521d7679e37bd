/* SPDX-License-Identifier: MIT */
/* Clusters of blocks: their shape, and how many of them a GPU can hold. */
#include <string.h>

#include "cuda/runtime/launches.h"
#include "cuda/ptx/launch/run.h"

#define PORTABLE 8 /* blocks of a cluster that every GPU with clusters can run */

static uint64_t blocks_of(const uint32_t cluster[3])
{
	return (uint64_t)(cluster[0] ? cluster[0] : 1) * (cluster[1] ? cluster[1] : 1) * (cluster[2] ? cluster[2] : 1);
}

int gt_cudart_cluster(const struct gt_function *function, const struct gt_wishes *wishes, struct gt_ptx_launch *launch)
{
	const uint32_t *asked = wishes->cluster[0] ? wishes->cluster : function->cluster;
	struct gt_error error;

	for (unsigned k = 0; k < 3; k++)
		launch->cluster[k] = asked[0] && !asked[k] ? 1 : asked[k];
	if (gt_ptx_launch_cluster(launch, &error) != 0) {
		gt_cudart_say("%s", error.text);
		return CUDA_INVALID_CLUSTER_SIZE;
	}
	if (blocks_of(launch->cluster) <= 1)
		return CUDA_SUCCESS;
	if (gt_cudart_capability() < 90 || (blocks_of(launch->cluster) > PORTABLE && !function->unportable_cluster))
		return CUDA_INVALID_CLUSTER_SIZE;
	return CUDA_SUCCESS;
}

/* How many clusters of so many blocks all SMs hold, each of whose clusters is within as many SMs as it has blocks. */
static uint64_t resident_clusters(const struct gt_function *function, const struct gt_launch_config *config, uint64_t blocks)
{
	const uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;

	return gt_cudart_resident(function, threads, config->shared) * gt_cudart_gpu_value("sms", 108) / blocks;
}

/* The cluster of a configuration, else of the function or its kernel. */
static uint64_t cluster_blocks(const struct gt_function *function, const struct gt_launch_config *config)
{
	const uint32_t *cluster = function->cluster[0] ? function->cluster : function->kernel->required_cluster;

	for (unsigned i = 0; i < config->n_attributes; i++)
		if (config->attributes[i].id == GT_LAUNCH_CLUSTER)
			return (uint64_t)config->attributes[i].value.cluster.x * config->attributes[i].value.cluster.y *
			       config->attributes[i].value.cluster.z;
	return blocks_of(cluster);
}

API int cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct gt_launch_config *config)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!clusters || !config || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE_FUNCTION);
	uint64_t blocks = cluster_blocks(function, config);
	if (blocks == 0 || blocks > (function->unportable_cluster ? 2 * PORTABLE : PORTABLE))
		return gt_cudart_leave(CUDA_INVALID_CLUSTER_SIZE);
	*clusters = (int)resident_clusters(function, config, blocks);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const struct gt_launch_config *config)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!blocks || !config || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE_FUNCTION);
	*blocks = function->unportable_cluster ? 2 * PORTABLE : PORTABLE;
	while (*blocks > 1 && resident_clusters(function, config, (uint64_t)*blocks) == 0)
		*blocks /= 2;
	return gt_cudart_leave(CUDA_SUCCESS);
}
