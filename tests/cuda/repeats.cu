/* SPDX-License-Identifier: MIT */
/* Launches that are the same as earlier ones, and some that only look so. Each kernel has 65,536 warp instructions and more. */
#include <cstdio>
#include <cstdlib>

#include "expect.h"

#define N 16384
#define LOOPS 100

__global__ void sums(const int *from, int *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

	for (int k = 0; k < LOOPS; k++)
		sum += from[(i + k) % N];
	to[i] = sum;
}

__global__ void add(int *to)
{
	atomicAdd(&to[threadIdx.x], 1);
	for (volatile int k = 0; k < 40; k++)
		;
}

__constant__ int factor;
__global__ void scale(int *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < LOOPS; k++)
		to[i] = to[i] * 3 + factor;
}

__global__ void part(int *to, int which)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

	for (int k = 0; k < 2 * LOOPS; k++)
		sum = sum * sum + (i ^ which);
	to[i] = sum;
}

__global__ void number(unsigned long long *to)
{
	unsigned long long grid;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
	for (volatile int k = 0; k < LOOPS; k++)
		;
	if (threadIdx.x == 0)
		to[blockIdx.x] = grid;
}

__global__ void say(int value)
{
	for (volatile int k = 0; k < LOOPS; k++)
		;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		printf("say %d\n", value);
}

__device__ int *hidden;
__global__ void follow(int *const *table, int *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

	for (int k = 0; k < LOOPS; k++)
		sum += (*table)[k] + hidden[k];
	to[i] = sum;
}

__global__ void fetch(cudaTextureObject_t from, float *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (int k = 0; k < LOOPS; k++)
		sum += tex1Dfetch<float>(from, (i + k) % 64);
	to[i] = sum;
}

static int at(const int *from, int i)
{
	int value;

	MUST(cudaMemcpy(&value, from + i, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

static void test_contents(int *from, int *to)
{
	static int host[N];

	for (int i = 0; i < N; i++)
		host[i] = i % 5;
	MUST(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
	for (int round = 0; round < 12; round++) {
		if (round == 6) { /* one word in the middle of many */
			host[9000] = 1000;
			MUST(cudaMemcpy(from + 9000, host + 9000, sizeof host[0], cudaMemcpyHostToDevice));
		}
		if (round == 9) /* what it stores is not there */
			MUST(cudaMemset(to, 0, N * sizeof *to));
		int expected = 0;
		for (int k = 0; k < LOOPS; k++)
			expected += host[(8990 + k) % N];
		sums<<<N / 256, 256>>>(from, to);
		CHECK(at(to, 8990) == expected);
	}
}

static void test_accumulated(int *to)
{
	for (int round = 0; round < 8; round++) { /* from the same, each time */
		MUST(cudaMemset(to, 0, N * sizeof *to));
		add<<<N / 256, 256>>>(to);
		CHECK(at(to, 7) == N / 256);
	}
	for (int round = 1; round <= 8; round++) { /* from what the last one left */
		add<<<N / 256, 256>>>(to);
		CHECK(at(to, 7) == N / 256 * (round + 1));
	}
}

static void test_constants(int *to)
{
	for (int round = 0; round < 9; round++) {
		int value = round / 3, expected = 0;
		MUST(cudaMemcpyToSymbol(factor, &value, sizeof value));
		MUST(cudaMemset(to, 0, N * sizeof *to));
		scale<<<N / 256, 256>>>(to);
		for (int k = 0; k < LOOPS; k++)
			expected = (int)((unsigned)expected * 3 + (unsigned)value);
		CHECK(at(to, N - 1) == expected);
	}
}

/* A kernel with many arguments: a few of them, then more and more rarely, until one has come again. */
static void test_many(int *to)
{
	for (int round = 0; round < 4; round++)
		for (int which = 0; which < 16; which++) {
			part<<<N / 256, 256>>>(to, which);
			int expected = 0;
			for (int k = 0; k < 2 * LOOPS; k++)
				expected = (int)((unsigned)expected * (unsigned)expected + (unsigned)(5 ^ which));
			CHECK(at(to, 5) == expected);
		}
}

/* Arrays that the arguments do not name, and others that the kernel does not access. */
static void test_reached(int *from, int *to)
{
	int **table, *behind, *other, host[LOOPS], *pointer;

	MUST(cudaMalloc(&table, sizeof *table));
	MUST(cudaMalloc(&behind, sizeof host));
	MUST(cudaMalloc(&other, sizeof host));
	MUST(cudaMemcpy(table, &behind, sizeof behind, cudaMemcpyHostToDevice));
	MUST(cudaMemcpyToSymbol(hidden, &other, sizeof other));
	for (int round = 0; round < 12; round++) {
		for (int k = 0; k < LOOPS; k++)
			host[k] = round / 4;
		MUST(cudaMemcpy(round % 8 < 4 ? behind : other, host, sizeof host, cudaMemcpyHostToDevice));
		if (round == 0)
			MUST(cudaMemset(other, 0, sizeof host));
		MUST(cudaMemset(from, round, sizeof host)); /* follow does not read it */
		follow<<<N / 256, 256>>>(table, to);
		CHECK(at(to, 5) == LOOPS * (round < 4 ? 0 : round < 8 ? 1 : 3));
	}
	pointer = other; /* another array in the place of the first */
	MUST(cudaMemcpy(table, &pointer, sizeof pointer, cudaMemcpyHostToDevice));
	MUST(cudaFree(behind));
	follow<<<N / 256, 256>>>(table, to);
	CHECK(at(to, 5) == LOOPS * 2);
	MUST(cudaFree(other));
	MUST(cudaFree(table));
}

static void test_unique(void)
{
	unsigned long long *grids, seen[2], last = 0;

	MUST(cudaMalloc(&grids, N * sizeof *grids));
	for (int round = 0; round < 5; round++) {
		number<<<N / 256, 256>>>(grids);
		MUST(cudaMemcpy(seen, grids, sizeof seen, cudaMemcpyDeviceToHost));
		CHECK(seen[0] > last && seen[1] == seen[0]);
		last = seen[0];
		say<<<N / 256, 256>>>(17);
		MUST(cudaDeviceSynchronize());
	}
	MUST(cudaFree(grids));
}

static void test_textures(float *from, float *to)
{
	float host[64], got;

	for (int round = 0; round < 8; round++) {
		cudaResourceDesc resource = {};
		cudaTextureDesc how = {};
		cudaTextureObject_t texture;
		for (int i = 0; i < 64; i++)
			host[i] = (float)(round / 4 + i % 2);
		MUST(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
		resource.resType = cudaResourceTypeLinear;
		resource.res.linear.devPtr = from;
		resource.res.linear.desc = cudaCreateChannelDesc<float>();
		resource.res.linear.sizeInBytes = sizeof host;
		MUST(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
		for (int i = 0; i < 3; i++)
			fetch<<<N / 256, 256>>>(texture, to);
		MUST(cudaMemcpy(&got, to + 3, sizeof got, cudaMemcpyDeviceToHost));
		CHECK(got == LOOPS * (round / 4) + LOOPS / 2);
		MUST(cudaDestroyTextureObject(texture));
	}
}

/* Fewer instructions than it takes to compare the arrays, of LARGE numbers each. */
#define LARGE (1 << 20)
#define SOME (1 << 18)
__global__ void once(const int *from, int *to, int number) /* launches with another number are others */
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = 2 * from[i] + 1;
}

__global__ void set(int *to, int value) { *to = value; }

/* Many in a row: nothing is compared any more. Then what the host, or another kernel, has changed since is found. */
static int many;
static void run_many(const int *from, int *to)
{
	cudaEvent_t event;

	many++;
	MUST(cudaEventCreate(&event));
	for (int round = 0; round < 8; round++) {
		once<<<SOME / 256, 256>>>(from, to, many);
		MUST(cudaEventRecord(event));
		MUST(cudaEventSynchronize(event));
	}
	MUST(cudaEventDestroy(event));
}

static void check_once(const int *from, int *to, int expected)
{
	once<<<SOME / 256, 256>>>(from, to, many);
	CHECK(at(to, 9) == 2 * expected + 1);
	run_many(from, to);
}

static void test_changes(int *from, int *to)
{
	const int five = 5, six = 6;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t ready;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaMemset(from, 0, LARGE * sizeof *from));
	run_many(from, to);
	MUST(cudaMemset(to, 0, LARGE * sizeof *to));
	check_once(from, to, 0);
	MUST(cudaMemcpy(from + 9, &five, sizeof five, cudaMemcpyHostToDevice));
	check_once(from, to, 5);
	MUST(cudaMemcpyAsync(from + 9, &six, sizeof six, cudaMemcpyHostToDevice, stream));
	check_once(from, to, 6);
	set<<<1, 1>>>(from + 9, 7);
	check_once(from, to, 7);
	set<<<1, 1>>>(to + 9, 100);
	check_once(from, to, 7);
	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	MUST(cudaMemsetAsync(from + 9, 0, sizeof *from, stream));
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	MUST(cudaGraphLaunch(ready, stream));
	MUST(cudaStreamSynchronize(stream));
	check_once(from, to, 0);
	MUST(cudaGraphExecDestroy(ready));
	MUST(cudaGraphDestroy(graph));
	MUST(cudaStreamDestroy(stream));
}

/* Memory that the host writes without a call. */
static void test_shared_memory(int *from, int *to)
{
	for (int round = 0; round < 3; round++) {
		from[9] = round;
		check_once(from, to, round);
	}
}

static void test_light(void)
{
	int *from, *to, *shared, *pinned, *registered = (int *)aligned_alloc(4096, LARGE * sizeof *registered), *seen;

	memset(registered, 0, LARGE * sizeof *registered);
	MUST(cudaMalloc(&from, LARGE * sizeof *from));
	MUST(cudaMalloc(&to, LARGE * sizeof *to));
	MUST(cudaMallocManaged(&shared, LARGE * sizeof *shared));
	MUST(cudaMallocHost(&pinned, LARGE * sizeof *pinned));
	MUST(cudaHostRegister(registered, LARGE * sizeof *registered, cudaHostRegisterMapped));
	MUST(cudaHostGetDevicePointer(&seen, registered, 0));
	test_changes(from, to);
	test_shared_memory(shared, to);
	test_shared_memory(pinned, to);
	for (int round = 0; round < 3; round++) {
		registered[9] = round;
		check_once(seen, to, round);
	}
	MUST(cudaFree(from));
	MUST(cudaMalloc(&from, LARGE * sizeof *from)); /* in the same place */
	MUST(cudaMemset(from, 0, LARGE * sizeof *from));
	check_once(from, to, 0);
	MUST(cudaHostUnregister(registered));
	MUST(cudaFreeHost(pinned));
	MUST(cudaFree(shared));
	MUST(cudaFree(from));
	MUST(cudaFree(to));
	free(registered);
}

__global__ void nothing(void) {}

/* Short launches, between which nothing changes: the first three are executed, the fourth is remembered. */
static void test_short(void)
{
	for (int i = 0; i < 6; i++)
		nothing<<<256, 1024>>>();
	MUST(cudaDeviceSynchronize());
}

int main(void)
{
	int *from, *to;

	MUST(cudaMalloc(&from, N * sizeof *from));
	MUST(cudaMalloc(&to, N * sizeof *to));
	test_contents(from, to);
	test_accumulated(to);
	test_constants(to);
	test_many(to);
	test_reached(from, to);
	test_unique();
	test_textures((float *)from, (float *)to);
	test_light();
	test_short();
	MUST(cudaFree(from));
	MUST(cudaFree(to));
	return verdict();
}
