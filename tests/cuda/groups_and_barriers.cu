/* SPDX-License-Identifier: MIT */
/* Cooperative groups and libcu++, whose parts are templates: reductions and scans of groups, barriers, pipelines, atomics. */
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

#define THREADS 128
#define N	1024

/* Sums of tiles and scans in them; labeled groups; the number of active lanes. */
__global__ void groups(const int *x, int *sums, int *scans, int *active)
{
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
	int value = x[block.thread_rank()];
	int sum = cg::reduce(tile, value, cg::plus<int>());

	scans[block.thread_rank()] = cg::exclusive_scan(tile, value);
	if (tile.thread_rank() == 0)
		sums[tile.meta_group_rank()] = sum;
	if (value % 3 == 0) {
		cg::coalesced_group some = cg::coalesced_threads();
		active[block.thread_rank()] = (int)some.size() * 100 + (int)some.thread_rank();
	}
}

/* A reversal through shared memory with a barrier that counts arrivals. */
__global__ void reverse(int *x)
{
	__shared__ int part[THREADS];
	__shared__ cuda::barrier<cuda::thread_scope_block> barrier;

	if (threadIdx.x == 0)
		init(&barrier, blockDim.x);
	__syncthreads();
	part[threadIdx.x] = x[threadIdx.x];
	barrier.arrive_and_wait();
	x[threadIdx.x] = part[THREADS - 1 - threadIdx.x];
}

/* Two stages of asynchronous copies, and the sum of what they bring. */
__global__ void stages(const int *x, int *sums)
{
	__shared__ int part[2][THREADS];
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
	auto block = cg::this_thread_block();
	auto pipe = cuda::make_pipeline(block, &state);
	int sum = 0;

	for (int step = 0, fetched = 0; step < N / THREADS; step++) {
		for (; fetched < N / THREADS && fetched < step + 2; fetched++) {
			pipe.producer_acquire();
			cuda::memcpy_async(block, part[fetched % 2], x + fetched * THREADS, sizeof part[0], pipe);
			pipe.producer_commit();
		}
		pipe.consumer_wait();
		block.sync();
		sum += part[step % 2][(threadIdx.x + 1) % THREADS];
		block.sync();
		pipe.consumer_release();
	}
	sums[threadIdx.x] = sum;
}

/* Copies of a whole group, and a maximum and a sum by atomics of the device. */
__global__ void atomics(const int *x, int *most, unsigned long long *sum)
{
	__shared__ int part[THREADS];
	auto block = cg::this_thread_block();
	cuda::atomic_ref<int, cuda::thread_scope_device> largest(*most);
	cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> total(*sum);

	cg::memcpy_async(block, part, x + blockIdx.x * THREADS, sizeof part);
	cg::wait(block);
	largest.fetch_max(part[threadIdx.x], cuda::memory_order_relaxed);
	total.fetch_add((unsigned long long)part[threadIdx.x]);
}

/* Sums and scans in tiles of two warps, which meet in the shared memory that CUDA reserves, beside shared memory of the block's own. */
__global__ void wide_tiles(const int *x, int *sums, int *scans)
{
	__shared__ cg::block_tile_memory<THREADS> memory;
	__shared__ int part[THREADS];
	auto block = cg::this_thread_block(memory);
	auto tile = cg::tiled_partition<64>(block);

	part[threadIdx.x] = x[threadIdx.x];
	block.sync();
	sums[threadIdx.x] = cg::reduce(tile, part[threadIdx.x ^ 1], cg::plus<int>());
	scans[threadIdx.x] = cg::inclusive_scan(tile, part[threadIdx.x], cg::plus<int>());
}

/* Some lanes of each warp leave a barrier, while the others wait at it in a loop that counts. */
__global__ void leave(int *x)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> barrier;

	if (threadIdx.x == 0)
		init(&barrier, blockDim.x);
	__syncthreads();
	for (int turn = 0; turn < 3; turn++) {
		if (threadIdx.x % 4 == turn) {
			barrier.arrive_and_drop();
			return;
		}
		barrier.arrive_and_wait();
		x[threadIdx.x] = turn;
	}
}

static int failures;

static void check(bool holds, const char *what, int i)
{
	if (!holds && failures++ < 10)
		printf("FAIL %s, %d\n", what, i);
}

int main()
{
	int *x, *y, *sums, *scans, *active, expected[THREADS] = {0};
	unsigned long long *total;

	cudaMallocManaged(&x, N * sizeof *x);
	cudaMallocManaged(&y, N * sizeof *y);
	cudaMallocManaged(&sums, THREADS * sizeof *sums);
	cudaMallocManaged(&scans, THREADS * sizeof *scans);
	cudaMallocManaged(&active, THREADS * sizeof *active);
	cudaMallocManaged(&total, sizeof *total);
	for (int i = 0; i < N; i++)
		x[i] = y[i] = i * 7919 % 1009;

	groups<<<1, THREADS>>>(x, sums, scans, active);
	check(cudaDeviceSynchronize() == cudaSuccess, "groups", 0);
	for (int tile = 0; tile < THREADS / 16; tile++) {
		int sum = 0;
		for (int i = tile * 16; i < tile * 16 + 16; i++) {
			check(scans[i] == sum, "exclusive_scan", i);
			sum += x[i];
		}
		check(sums[tile] == sum, "reduce", tile);
	}
	for (int warp = 0; warp < THREADS / 32; warp++) {
		int size = 0, rank = 0;
		for (int i = warp * 32; i < warp * 32 + 32; i++)
			size += x[i] % 3 == 0;
		for (int i = warp * 32; i < warp * 32 + 32; i++)
			if (x[i] % 3 == 0)
				check(active[i] == size * 100 + rank++, "coalesced_threads", i);
	}
	wide_tiles<<<1, THREADS>>>(x, sums, scans);
	leave<<<1, THREADS>>>(active);
	check(cudaDeviceSynchronize() == cudaSuccess, "wide tiles", 0);
	for (int i = 0; i < THREADS; i++) {
		int sum = 0, scan = 0;
		for (int k = i / 64 * 64; k < i / 64 * 64 + 64; k++) {
			sum += x[k];
			scan += k <= i ? x[k] : 0;
		}
		check(sums[i] == sum && scans[i] == scan, "tile of two warps", i);
		check(i % 4 == 0 || active[i] == i % 4 - 1, "arrive_and_drop", i);
	}
	*active = 0;
	reverse<<<1, THREADS>>>(y);
	stages<<<1, THREADS>>>(x, sums);
	atomics<<<N / THREADS, THREADS>>>(x, active, total);
	check(cudaDeviceSynchronize() == cudaSuccess, "libcu++", 0);
	for (int i = 0; i < THREADS; i++)
		for (int part = 0; part < N / THREADS; part++)
			expected[i] += x[part * THREADS + (i + 1) % THREADS];
	unsigned long long sum = 0;
	int most = 0;
	for (int i = 0; i < N; i++) {
		sum += (unsigned)x[i];
		most = x[i] > most ? x[i] : most;
	}
	for (int i = 0; i < THREADS; i++) {
		check(y[i] == x[THREADS - 1 - i], "barrier", i);
		check(sums[i] == expected[i], "pipeline", i);
	}
	check(*active >= most && *total == sum, "atomic", *active);
	printf(failures ? "FAIL: %d differ\n" : "PASS\n", failures);
	return failures > 0;
}
