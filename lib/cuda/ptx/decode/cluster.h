/* SPDX-License-Identifier: MIT */
/* Kinds of barrier that decode_cluster.c decodes. */
#ifndef GT_PTX_DECODE_CLUSTER_H
#define GT_PTX_DECODE_CLUSTER_H

#include "cuda/ptx/decode/decoder.h"

/* barrier.cluster */
gt_ptx_decode_one gt_ptx_decode_cluster_barrier;

#endif
