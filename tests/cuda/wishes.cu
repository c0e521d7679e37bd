/* SPDX-License-Identifier: MIT */
#include <cstdio>
__global__ void k(float *a) { a[threadIdx.x] += 1; }
__global__ void l(float *a) { a[threadIdx.x] += 1; }
int main() {
	float *a; cudaStream_t s; cudaEvent_t e; cudaDeviceProp p;
	cudaGetDeviceProperties(&p, 0);
	printf("max %d %d\n", p.persistingL2CacheMaxSize, p.accessPolicyMaxWindowSize);
	cudaMalloc(&a, 1024); cudaStreamCreate(&s); cudaEventCreate(&e);
	cudaFuncSetCacheConfig(l, cudaFuncCachePreferL1);
	k<<<1, 32, 0, s>>>(a);
	cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);
	cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128);
	cudaDeviceSetLimit(cudaLimitStackSize, 4096);
	cudaStreamAttrValue v = {};
	v.accessPolicyWindow = {a, 512, 0.25f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
	cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);
	cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 25);
	k<<<1, 32, 0, s>>>(a);
	l<<<1, 32>>>(a);
	cudaLaunchAttribute at[3] = {};
	at[0].id = cudaLaunchAttributePreferredSharedMemoryCarveout; at[0].val.sharedMemCarveout = 75;
	at[1].id = cudaLaunchAttributePriority; at[1].val.priority = 1;
	at[2].id = cudaLaunchAttributeLaunchCompletionEvent; at[2].val.launchCompletionEvent.event = e;
	cudaLaunchConfig_t c = {1, 32, 0, s, at, 3};
	printf("%d", cudaLaunchKernelEx(&c, k, a));
	printf("%d", cudaLaunchKernelEx(&c, k, a));
	cudaCtxResetPersistingL2Cache();
	printf(" %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
