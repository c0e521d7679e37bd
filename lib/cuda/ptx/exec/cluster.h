/* SPDX-License-Identifier: MIT */
/* Clusters of blocks, which are resident together and access each other's shared memory.
 *
 * PTX leaves open what an address of shared::cluster is. Here bits 24 and up are 0 for the shared memory of the block
 * itself, else 1 + the rank of the block whose shared memory it is. */
#ifndef GT_PTX_CLUSTER_H
#define GT_PTX_CLUSTER_H

#include "cuda/ptx/exec/warp.h"

#define GT_PTX_CLUSTER_BLOCKS 16 /* at most: the largest cluster that is not portable */
#define GT_PTX_CLUSTER_SHIFT  24
#define GT_PTX_CLUSTER_STEP   (UINT64_C(1) << GT_PTX_CLUSTER_SHIFT)

struct gt_ptx_cluster {
	uint32_t n; /* blocks */
	uint32_t open;
	struct gt_ptx_core *blocks[GT_PTX_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
};

/* Blocks of a launch's clusters, 1 if it has none; how many clusters there are; the number of the block of a rank. */
uint32_t gt_ptx_cluster_size(const struct gt_ptx_launch *launch);
uint64_t gt_ptx_clusters(const struct gt_ptx_launch *launch);
uint64_t gt_ptx_cluster_block(const struct gt_ptx_launch *launch, uint64_t cluster, uint32_t rank);
/* The number of the cluster that a block belongs to. */
uint64_t gt_ptx_cluster_of(const struct gt_ptx_launch *launch, uint64_t block);

/* A block joins a cluster, or leaves it when it is closed; without blocks the cluster is freed. */
void gt_ptx_cluster_join(struct gt_ptx_cluster *cluster, struct gt_ptx_core *core, uint32_t rank);
void gt_ptx_cluster_leave(struct gt_ptx_core *core);

/* The block of that rank in the cluster of a block; NULL if there is none, or it has ended. */
struct gt_ptx_core *gt_ptx_cluster_peer(struct gt_ptx_core *core, uint64_t rank);

/* Where bytes of an address of shared::cluster lie; NULL if they are in no block that runs. */
unsigned char *gt_ptx_cluster_place(struct gt_ptx_core *core, uint64_t address, uint64_t bytes);

/* Threads have exited: the others of the cluster may have waited for them. */
void gt_ptx_cluster_left(struct gt_ptx_warp *warp);

/* mapa: op->d becomes op->a in the shared memory of block op->b; op->with.immediate: where the window of shared
 * addresses begins in op->a. getctarank: op->d becomes the rank of op->a. */
gt_ptx_step gt_ptx_map_address32, gt_ptx_map_address64, gt_ptx_rank_of32, gt_ptx_rank_of64;
/* barrier.cluster.arrive, and .wait. */
gt_ptx_step gt_ptx_cluster_arrive, gt_ptx_cluster_wait;

#endif
