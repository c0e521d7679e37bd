/* SPDX-License-Identifier: MIT */
/* The runtime and the driver's API in one program, with NVRTC's help if it is compiled with -DWITH_NVRTC: prints PASS, or FAIL
 * with what is wrong. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_NVRTC
#include <nvrtc.h>
#endif

#include "expect.h"

enum { N = 64 };

#ifdef WITH_NVRTC
static const char source[] = "template <typename T> __device__ T next(T x) { return x + 1; }\n"
			     "extern \"C\" __global__ void add_one(int *to) {\n"
			     "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n	to[i] = next(to[i]);\n}\n";

/* The PTX of the source. */
static char *compiled(void)
{
	nvrtcProgram program;
	const char *options[] = {"--gpu-architecture=compute_80"};
	size_t bytes = 0;

	CHECK(nvrtcCreateProgram(&program, source, "add.cu", 0, NULL, NULL) == NVRTC_SUCCESS);
	CHECK(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
	CHECK(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS && bytes > 100);
	char *text = calloc(1, bytes + 1);
	CHECK(text && nvrtcGetPTX(program, text) == NVRTC_SUCCESS);
	nvrtcDestroyProgram(&program);
	return text;
}

/* For a real architecture NVRTC makes machine code, which only a GPU runs: the PTX comes in its place. */
static void machine_code(void)
{
	nvrtcProgram program;
	CUmodule module;
	CUfunction function;
	const char *options[] = {"--gpu-architecture=sm_80"};
	size_t bytes = 0;

	CHECK(nvrtcCreateProgram(&program, source, "add.cu", 0, NULL, NULL) == NVRTC_SUCCESS);
	CHECK(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
	CHECK(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && bytes > 100);
	char *cubin = malloc(bytes);
	CHECK(cubin && nvrtcGetCUBIN(program, cubin) == NVRTC_SUCCESS);
	CHECK(cuModuleLoadData(&module, cubin) == CUDA_SUCCESS);
	CHECK(cuModuleGetFunction(&function, module, "add_one") == CUDA_SUCCESS);
	nvrtcDestroyProgram(&program);
	free(cubin);
}
#else
static char *compiled(void)
{
	return strdup(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry add_one(.param .u64 to)\n{\n"
		      "	.reg .b32 %r<6>;\n	.reg .b64 %rd<4>;\n	ld.param.u64 %rd1, [to];\n	mov.u32 %r1, %ctaid.x;\n"
		      "	mov.u32 %r2, %ntid.x;\n	mov.u32 %r3, %tid.x;\n	mad.lo.s32 %r4, %r1, %r2, %r3;\n"
		      "	mul.wide.u32 %rd2, %r4, 4;\n	add.s64 %rd3, %rd1, %rd2;\n	ld.global.u32 %r5, [%rd3];\n"
		      "	add.s32 %r5, %r5, 1;\n	st.global.u32 [%rd3], %r5;\n	ret;\n}\n");
}

static void machine_code(void) {}
#endif

int main(int argc, char **argv)
{
	int host[N], *to = NULL;
	cudaStream_t stream;
	cudaLibrary_t library;
	cudaKernel_t kernel;
	CUcontext current = NULL;
	CUmodule module;
	CUfunction function;
	CUdeviceptr beside;
	void *malloc_of = NULL, *set_of = NULL;
	enum cudaDriverEntryPointQueryResult found;

	/* The runtime makes the primary context current. */
	CHECK(cudaMalloc((void **)&to, sizeof host) == cudaSuccess);
	CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current);
	CHECK(cudaStreamCreate(&stream) == cudaSuccess);
	CHECK(cudaMemset(to, 0, sizeof host) == cudaSuccess);

	char *text = compiled();
	CHECK(cuModuleLoadData(&module, text) == CUDA_SUCCESS);
	CHECK(cuModuleGetFunction(&function, module, "add_one") == CUDA_SUCCESS);
	void *arguments[] = {&to};
	CHECK(cuLaunchKernel(function, 2, 1, 1, N / 2, 1, 1, 0, stream, arguments, NULL) == CUDA_SUCCESS);
	CHECK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0) == cudaSuccess);
	CHECK(cudaLibraryGetKernel(&kernel, library, "add_one") == cudaSuccess);
	CHECK(cudaLaunchKernel((void *)kernel, (dim3){2, 1, 1}, (dim3){N / 2, 1, 1}, arguments, 0, stream) == cudaSuccess);
	free(text);

	/* The driver copies what the runtime allocated, and the other way round. */
	CHECK(cuMemAlloc(&beside, sizeof host) == CUDA_SUCCESS);
	CHECK(cuMemcpyDtoD(beside, (CUdeviceptr)to, sizeof host) == CUDA_SUCCESS);
	CHECK(cudaMemcpy(host, (void *)beside, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
	for (int i = 0; i < N; i++)
		CHECK(host[i] == 2);

	/* Errors of the driver are not the runtime's last. */
	CHECK(cuMemFree(12345) == CUDA_ERROR_INVALID_VALUE);
	CHECK(cudaGetLastError() == cudaSuccess);
	CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &malloc_of, 12000, cudaEnableDefault, &found) == cudaSuccess);
	CHECK(malloc_of == (void *)cuMemAlloc && found == cudaDriverEntryPointSuccess);
	CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &set_of, 12000, cudaEnableDefault, &found) == cudaSuccess);
	CHECK(!set_of && found == cudaDriverEntryPointSymbolNotFound);
	if (argc > 1 && strcmp(argv[1], "cubin") == 0)
		machine_code();
	CHECK(cudaStreamDestroy(stream) == cudaSuccess);
	return verdict();
}
