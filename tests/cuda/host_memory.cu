/* SPDX-License-Identifier: MIT */
/* Host memory that is registered, and memory pools. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "expect.h"

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
	SUCCEEDS(cudaHostRegister(host, n * sizeof(int), cudaHostRegisterMapped));
	CHECK(cudaHostRegister(host + 1, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
	SUCCEEDS(cudaHostGetDevicePointer(&device, host, 0));
	SUCCEEDS(cudaHostGetDevicePointer(&device_end, host + n - 1, 0));
	CHECK(device_end == device + n - 1);
	SUCCEEDS(cudaPointerGetAttributes(&attributes, host));
	CHECK(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == device);
	host[0] = 1000; /* seen by the kernel, without a copy */
	twice<<<(n + 127) / 128, 128>>>(device, n);
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(host[0] == 2000);
	for (int i = 1; i < n; i++)
		if (host[i] != 2 * (i + 3)) {
			CHECK(host[i] == 2 * (i + 3));
			break;
		}
	CHECK(memory[2] == 2 && memory[n + 3] == n + 3);
	SUCCEEDS(cudaHostUnregister(host));
	CHECK(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
	CHECK(host[0] == 2000 && host[n - 1] == 2 * (n + 2) && memory[n + 7] == n + 7);
	host[0] = 1;
	CHECK(cudaHostGetDevicePointer(&device, host, 0) != cudaSuccess);
	free(memory);
	cudaGetLastError();
}

struct range { int pad; int *begin, *end; };

__global__ void between(range of)
{
	for (int *i = of.begin + threadIdx.x; i < of.end; i += blockDim.x)
		*i += 1;
}

/* The host's pointer stands for the device's memory, within what is registered: also in a kernel's arguments, where it may be the end. */
static void by_host_pointer()
{
	const int n = 5000;
	int *host = (int *)calloc(n, sizeof *host), value = 7, back = 0;

	SUCCEEDS(cudaHostRegister(host, n * sizeof *host, cudaHostRegisterDefault));
	SUCCEEDS(cudaMemset(host + 6, 0x11, sizeof *host));
	SUCCEEDS(cudaMemcpy(host + 5, host + 6, sizeof *host, cudaMemcpyDeviceToDevice));
	SUCCEEDS(cudaMemcpy(&back, host + 5, sizeof back, cudaMemcpyDeviceToHost));
	CHECK(host[6] == 0x11111111 && back == 0x11111111);
	SUCCEEDS(cudaMemcpy(host + 5, &value, sizeof value, cudaMemcpyHostToDevice));
	CHECK(host[5] == 7);
	CHECK(cudaMemset(host + n - 1, 0, 2 * sizeof *host) == cudaErrorInvalidValue);
	twice<<<1, 32>>>(host + 5, 1);
	between<<<1, 32>>>(range{0, host + 4000, host + n});
	SUCCEEDS(cudaDeviceSynchronize());
	CHECK(host[5] == 14 && host[3999] == 0 && host[4000] == 1 && host[n - 1] == 1);
	cudaGetLastError();
	SUCCEEDS(cudaHostUnregister(host));
	free(host);
}

static uint64_t figure(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
	uint64_t value = ~(uint64_t)0;

	SUCCEEDS(cudaMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void pools()
{
	cudaMemPool_t pool, own;
	cudaMemPoolProps properties = {};
	uint64_t threshold = 1 << 20, zero = 0;
	int *a, *b, *c, host[100];

	SUCCEEDS(cudaDeviceGetDefaultMemPool(&pool, 0));
	SUCCEEDS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	CHECK(figure(pool, cudaMemPoolAttrReleaseThreshold) == threshold);
	SUCCEEDS(cudaMallocAsync(&a, 400, 0));
	SUCCEEDS(cudaMallocAsync(&b, 1000, 0));
	CHECK(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 1400);
	SUCCEEDS(cudaFreeAsync(b, 0));
	SUCCEEDS(cudaMalloc(&c, 1000)); /* not the pool's, though it may lie where b lay */
	CHECK(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 400);
	CHECK(figure(pool, cudaMemPoolAttrUsedMemHigh) == 1400);
	SUCCEEDS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
	CHECK(figure(pool, cudaMemPoolAttrUsedMemHigh) == 400);
	for (int i = 0; i < 100; i++)
		host[i] = i;
	SUCCEEDS(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, 0));
	twice<<<1, 128>>>(a, 100);
	SUCCEEDS(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
	CHECK(host[99] == 198);
	SUCCEEDS(cudaFreeAsync(a, 0));
	SUCCEEDS(cudaFree(c));

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	properties.maxSize = 4096;
	SUCCEEDS(cudaMemPoolCreate(&own, &properties));
	SUCCEEDS(cudaMallocFromPoolAsync(&a, 4000, own, 0));
	/* Pools take pieces of 32 MB, and so have at least one. */
	CHECK(cudaMallocFromPoolAsync(&b, 32 << 20, own, 0) == cudaErrorMemoryAllocation);
	CHECK(figure(own, cudaMemPoolAttrReservedMemCurrent) == 32 << 20);
	CHECK(cudaFree(host) == cudaErrorInvalidValue && cudaFreeHost(a) == cudaErrorInvalidValue);
	CHECK(figure(own, cudaMemPoolAttrUsedMemCurrent) == 4000 && figure(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
	SUCCEEDS(cudaFreeAsync(a, 0));
	SUCCEEDS(cudaMemPoolDestroy(own));
	CHECK(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
	cudaGetLastError();
}

/* Memory of the host and managed memory from pools: both sides use it by one pointer. */
static void pools_of_host()
{
	static const cudaMemAllocationType types[] = {cudaMemAllocationTypePinned, cudaMemAllocationTypePinned, cudaMemAllocationTypeManaged};
	static const cudaMemLocationType locations[] = {cudaMemLocationTypeHost, cudaMemLocationTypeHostNuma, cudaMemLocationTypeDevice};

	for (int i = 0; i < 3; i++) {
		cudaMemPoolProps properties = {};
		cudaMemAccessDesc access = {};
		cudaMemAccessFlags given;
		cudaPointerAttributes attributes;
		cudaMemPool_t pool, default_pool;
		int *numbers;

		properties.allocType = types[i];
		properties.location.type = locations[i];
		access.location.type = cudaMemLocationTypeDevice;
		access.flags = cudaMemAccessFlagsProtReadWrite;
		SUCCEEDS(cudaMemGetDefaultMemPool(&default_pool, &properties.location, types[i]));
		SUCCEEDS(cudaMemPoolCreate(&pool, &properties));
		SUCCEEDS(cudaMemPoolGetAccess(&given, pool, &access.location));
		CHECK((given == cudaMemAccessFlagsProtReadWrite) == (i == 2));
		SUCCEEDS(cudaMemPoolSetAccess(pool, &access, 1));
		SUCCEEDS(cudaMemPoolGetAccess(&given, pool, &access.location));
		CHECK(given == cudaMemAccessFlagsProtReadWrite);
		SUCCEEDS(cudaMemSetMemPool(&properties.location, types[i], pool));
		SUCCEEDS(cudaMallocFromPoolAsync(&numbers, 400, pool, 0));
		SUCCEEDS(cudaPointerGetAttributes(&attributes, numbers));
		CHECK(attributes.type == (i == 2 ? cudaMemoryTypeManaged : cudaMemoryTypeHost));
		CHECK(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 400 && figure(default_pool, cudaMemPoolAttrUsedMemCurrent) == 0);
		for (int k = 0; k < 100; k++)
			numbers[k] = k;
		twice<<<1, 128>>>(numbers, 100);
		SUCCEEDS(cudaDeviceSynchronize());
		CHECK(numbers[99] == 198);
		SUCCEEDS(cudaFreeAsync(numbers, 0));
		SUCCEEDS(cudaMemPoolDestroy(pool));
		SUCCEEDS(cudaMemGetMemPool(&pool, &properties.location, types[i]));
		CHECK(pool == default_pool);
	}
}

/* What CUDA allocates is mapped in any case. */
static void flags_of_host()
{
	unsigned flags;
	int *host, *device;

	SUCCEEDS(cudaHostAlloc(&host, 64, cudaHostAllocWriteCombined | cudaHostAllocPortable));
	SUCCEEDS(cudaHostGetFlags(&flags, host + 1));
	CHECK(flags == (cudaHostAllocWriteCombined | cudaHostAllocPortable | cudaHostAllocMapped));
	SUCCEEDS(cudaFreeHost(host));
	SUCCEEDS(cudaMallocHost(&host, 64));
	SUCCEEDS(cudaHostGetFlags(&flags, host));
	CHECK(flags == cudaHostAllocMapped);
	SUCCEEDS(cudaFreeHost(host));
	SUCCEEDS(cudaMalloc(&device, 64));
	CHECK(cudaHostGetFlags(&flags, device) == cudaErrorInvalidValue);
	SUCCEEDS(cudaFree(device));
	cudaGetLastError();
}

int main()
{
	by_host_pointer();
	registered(5);
	registered(100000);
	pools();
	pools_of_host();
	flags_of_host();
	return verdict();
}
