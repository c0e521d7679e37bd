/* SPDX-License-Identifier: MIT */
/* Just enough of CUDA C++ for the examples to be compiled by clang on a machine without the CUDA
 * toolkit: the words of the language, the launch, and the runtime calls that the examples use. */
#ifndef CUDA_SMALL_H
#define CUDA_SMALL_H

#include <stddef.h>

#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __host__     __attribute__((host))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct uint3 {
	unsigned x, y, z;
};

struct dim3 {
	unsigned x, y, z;
	__host__ __device__ dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* threadIdx and its kin come with clang. */
#include <__clang_cuda_builtin_vars.h>

static inline __device__ float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline __device__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
static inline __device__ float __shfl_xor_sync(unsigned mask, float a, int apart)
{
	float b;

	asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, %3;" : "=f"(b) : "f"(a), "r"(apart), "r"(mask));
	return b;
}
static inline __device__ void __syncwarp(void) { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
static inline __device__ int clock(void) { return __nvvm_read_ptx_sreg_clock(); }
static inline __device__ int atomicAdd(int *p, int value) { return __nvvm_atom_add_gen_i(p, value); }
static inline __device__ int atomicExch(int *p, int value) { return __nvvm_atom_xchg_gen_i(p, value); }
static inline __device__ float atomicAdd(float *p, float value) { return __nvvm_atom_add_gen_f(p, value); }
static inline __device__ unsigned atomicAdd(unsigned *p, unsigned value)
{
	return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)value);
}

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
enum { cudaSuccess = 0 };
enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice
};

extern "C" {
/* What f<<<grid, block, shared, stream>>>(...) becomes. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared,
			     cudaStream_t stream);

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
}

#endif
