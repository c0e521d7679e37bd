/* SPDX-License-Identifier: MIT */
/* Host memory that is registered, and memory pools. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static int wrong;
static void expect(bool holds, const char *what)
{
	if (!holds) {
		printf("FAIL %s\n", what);
		wrong++;
	}
}
#define EXPECT(CONDITION) expect(CONDITION, #CONDITION)
#define OK(CALL) EXPECT((CALL) == cudaSuccess)

__global__ void twice(int *of, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		of[i] *= 2;
}

/* Neither end lies on a page. */
static void registered(int n)
{
	int *memory = (int *)malloc((n + 8) * sizeof(int)), *host = memory + 3, *device, *device_end;
	cudaPointerAttributes attributes;

	for (int i = 0; i < n + 8; i++)
		memory[i] = i;
	OK(cudaHostRegister(host, n * sizeof(int), cudaHostRegisterMapped));
	EXPECT(cudaHostRegister(host + 1, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
	OK(cudaHostGetDevicePointer(&device, host, 0));
	OK(cudaHostGetDevicePointer(&device_end, host + n - 1, 0));
	EXPECT(device_end == device + n - 1);
	OK(cudaPointerGetAttributes(&attributes, host));
	EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == device);
	host[0] = 1000; /* seen by the kernel, without a copy */
	twice<<<(n + 127) / 128, 128>>>(device, n);
	OK(cudaDeviceSynchronize());
	EXPECT(host[0] == 2000);
	for (int i = 1; i < n; i++)
		if (host[i] != 2 * (i + 3)) {
			EXPECT(host[i] == 2 * (i + 3));
			break;
		}
	EXPECT(memory[2] == 2 && memory[n + 3] == n + 3);
	OK(cudaHostUnregister(host));
	EXPECT(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
	EXPECT(host[0] == 2000 && host[n - 1] == 2 * (n + 2) && memory[n + 7] == n + 7);
	host[0] = 1;
	EXPECT(cudaHostGetDevicePointer(&device, host, 0) != cudaSuccess);
	free(memory);
	cudaGetLastError();
}

static uint64_t figure(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
	uint64_t value = ~(uint64_t)0;

	OK(cudaMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void pools()
{
	cudaMemPool_t pool, own;
	cudaMemPoolProps properties = {};
	uint64_t threshold = 1 << 20, zero = 0;
	int *a, *b, *c, host[100];

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	EXPECT(figure(pool, cudaMemPoolAttrReleaseThreshold) == threshold);
	OK(cudaMallocAsync(&a, 400, 0));
	OK(cudaMallocAsync(&b, 1000, 0));
	EXPECT(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 1400);
	OK(cudaFreeAsync(b, 0));
	OK(cudaMalloc(&c, 1000)); /* not the pool's, though it may lie where b lay */
	EXPECT(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 400);
	EXPECT(figure(pool, cudaMemPoolAttrUsedMemHigh) == 1400);
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
	EXPECT(figure(pool, cudaMemPoolAttrUsedMemHigh) == 400);
	for (int i = 0; i < 100; i++)
		host[i] = i;
	OK(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, 0));
	twice<<<1, 128>>>(a, 100);
	OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
	EXPECT(host[99] == 198);
	OK(cudaFreeAsync(a, 0));
	OK(cudaFree(c));

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	properties.maxSize = 4096;
	OK(cudaMemPoolCreate(&own, &properties));
	OK(cudaMallocFromPoolAsync(&a, 4000, own, 0));
	EXPECT(cudaMallocFromPoolAsync(&b, 97, own, 0) == cudaErrorMemoryAllocation);
	EXPECT(figure(own, cudaMemPoolAttrUsedMemCurrent) == 4000 && figure(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
	OK(cudaFreeAsync(a, 0));
	OK(cudaMemPoolDestroy(own));
	EXPECT(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
	cudaGetLastError();
}

int main()
{
	registered(5);
	registered(100000);
	pools();
	printf(wrong ? "FAIL\n" : "PASS\n");
	return wrong != 0;
}
