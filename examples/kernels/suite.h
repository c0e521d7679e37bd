/* SPDX-License-Identifier: MIT */
/* What the programs after PolyBench/GPU and Rodinia share: a thread's place in the grid, and when
 * the CPU repeats what the kernels did. */
#ifndef SUITE_H
#define SUITE_H

#include "example.h"

static inline __device__ int column(void) { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }
static inline __device__ int row(void) { return (int)(blockIdx.y * blockDim.y + threadIdx.y); }

/* The grid that covers columns x rows threads. */
static inline dim3 cover(int columns, int rows, dim3 block)
{
	return dim3(divide_up(columns, (int)block.x), divide_up(rows, (int)block.y));
}

/* Whether the CPU is to repeat so many operations: not at the sizes that take it minutes. If not,
 * the program is over. */
static inline void check_or_leave(double operations)
{
	if (operations <= 1e8)
		return;
	printf("ok, unchecked: the CPU repeats runs of up to 100 million operations\n");
	exit(0);
}

#endif
