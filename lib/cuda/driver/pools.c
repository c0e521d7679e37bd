/* SPDX-License-Identifier: MIT */
/* Memory pools, and allocation in the order of a stream. The structures are the runtime's. */
#include "cuda/driver/driver.h"

struct pool;
extern int cudaMallocFromPoolAsync(void **pointer, size_t bytes, struct pool *pool, void *stream);
extern int cudaMallocAsync(void **pointer, size_t bytes, void *stream);
extern int cudaFreeAsync(void *pointer, void *stream);
extern int cudaDeviceGetDefaultMemPool(struct pool **pool, int device);
extern int cudaDeviceGetMemPool(struct pool **pool, int device);
extern int cudaDeviceSetMemPool(int device, struct pool *pool);
extern int cudaMemPoolCreate(struct pool **pool, const void *properties);
extern int cudaMemPoolDestroy(struct pool *pool);
extern int cudaMemPoolTrimTo(struct pool *pool, size_t bytes);
extern int cudaMemPoolGetAttribute(struct pool *pool, int attribute, void *value);
extern int cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value);
extern int cudaMemPoolSetAccess(const struct pool *pool, const void *access, size_t n);
extern int cudaMemPoolGetAccess(int *flags, const struct pool *pool, const void *location);

DRIVER(cuMemAllocAsync, (uint64_t *to, size_t bytes, void *stream),
       to && bytes > 0 ? cudaMallocAsync((void **)to, bytes, stream) : CUDA_INVALID_VALUE)
DRIVER(cuMemAllocFromPoolAsync, (uint64_t *to, size_t bytes, struct pool *pool, void *stream),
       to && bytes > 0 ? cudaMallocFromPoolAsync((void **)to, bytes, pool, stream) : CUDA_INVALID_VALUE)
DRIVER(cuMemFreeAsync, (uint64_t address, void *stream), cudaFreeAsync(gt_driver_pointer(address), stream))
DRIVER_ANYWHERE(cuDeviceGetDefaultMemPool, (struct pool **pool, int device), cudaDeviceGetDefaultMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceGetMemPool, (struct pool **pool, int device), cudaDeviceGetMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceSetMemPool, (int device, struct pool *pool), cudaDeviceSetMemPool(device, pool))
DRIVER_ANYWHERE(cuMemPoolCreate, (struct pool **pool, const void *properties), cudaMemPoolCreate(pool, properties))
DRIVER_ANYWHERE(cuMemPoolDestroy, (struct pool *pool), cudaMemPoolDestroy(pool))
DRIVER_ANYWHERE(cuMemPoolTrimTo, (struct pool *pool, size_t bytes), cudaMemPoolTrimTo(pool, bytes))
DRIVER_ANYWHERE(cuMemPoolGetAttribute, (struct pool *pool, int attribute, void *value),
		cudaMemPoolGetAttribute(pool, attribute, value))
DRIVER_ANYWHERE(cuMemPoolSetAttribute, (struct pool *pool, int attribute, const void *value),
		cudaMemPoolSetAttribute(pool, attribute, value))
DRIVER_ANYWHERE(cuMemPoolSetAccess, (const struct pool *pool, const void *access, size_t n),
		cudaMemPoolSetAccess(pool, access, n))
DRIVER_ANYWHERE(cuMemPoolGetAccess, (int *flags, const struct pool *pool, const void *location),
		cudaMemPoolGetAccess(flags, pool, location))

ALSO(cuMemAllocAsync, cuMemAllocAsync_ptsz);
ALSO(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz);
ALSO(cuMemFreeAsync, cuMemFreeAsync_ptsz);
