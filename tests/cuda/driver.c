/* SPDX-License-Identifier: MIT */
/* The driver's API, from a program of C with cuda.h: `driver WHAT` does one thing and prints PASS, or FAIL with what is wrong. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define IS(CALL, CODE)                                                                             \
	do {                                                                                       \
		CUresult got_ = (CALL), wanted_ = (CODE);                                          \
		if (got_ != wanted_) {                                                             \
			printf("FAIL line %d: %s gives %d, expected %d\n", __LINE__, #CALL, got_, wanted_); \
			failures++;                                                                \
		}                                                                                  \
	} while (0)
#define OK(CALL) IS(CALL, CUDA_SUCCESS)

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
	/* to[i] = from[i] * factor + table[i % 4], for i < n; the parameters have gaps between them */
	".visible .entry scale(.param .u64 to, .param .u8 tag, .param .u64 from, .param .u32 n, .param .f32 factor)\n{\n"
	"	.reg .pred %p<2>;\n	.reg .b32 %r<9>;\n	.reg .b64 %rd<9>;\n	.reg .f32 %f<6>;\n"
	"	ld.param.u64 %rd1, [to];\n	ld.param.u64 %rd2, [from];\n	ld.param.u32 %r1, [n];\n"
	"	ld.param.f32 %f1, [factor];\n	mov.u32 %r2, %ctaid.x;\n	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n	mad.lo.s32 %r5, %r2, %r3, %r4;\n	setp.ge.u32 %p1, %r5, %r1;\n	@%p1 bra DONE;\n"
	"	mul.wide.u32 %rd3, %r5, 4;\n	add.s64 %rd4, %rd2, %rd3;\n	add.s64 %rd5, %rd1, %rd3;\n"
	"	and.b32 %r6, %r5, 3;\n	mul.wide.u32 %rd6, %r6, 4;\n	mov.u64 %rd7, table;\n	add.s64 %rd8, %rd7, %rd6;\n"
	"	ld.global.u32 %r7, [%rd8];\n	cvt.rn.f32.u32 %f2, %r7;\n	ld.global.f32 %f3, [%rd4];\n"
	"	fma.rn.f32 %f4, %f3, %f1, %f2;\n	st.global.f32 [%rd5], %f4;\nDONE:\n	ret;\n}\n"
	".visible .entry nothing()\n{\n	ret;\n}\n"
	/* counter += 1 for each thread of the grid, by way of shared memory that the launch gives */
	".extern .shared .align 4 .b8 dynamic[];\n"
	".visible .entry touch(.param .u64 to)\n{\n"
	"	.reg .b32 %r<6>;\n	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd1, [to];\n	mov.u32 %r1, %tid.x;\n	mov.u32 %r2, dynamic;\n	shl.b32 %r3, %r1, 2;\n"
	"	add.s32 %r2, %r2, %r3;\n	st.shared.u32 [%r2], %r1;\n	bar.sync 0;\n	ld.shared.u32 %r4, [%r2];\n"
	"	atom.global.add.u32 %r5, [%rd1], %r4;\n	ret;\n}\n";

static CUcontext begin(void)
{
	CUcontext context = NULL;
	CUdevice device = -1;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuCtxCreate(&context, NULL, 0, device));
	return context;
}

static CUfunction function_of(CUmodule *module, const char *name)
{
	CUfunction function = NULL;

	OK(cuModuleLoadData(module, ptx));
	OK(cuModuleGetFunction(&function, *module, name));
	return function;
}

enum { N = 100 };

static int right(const float *got, float factor)
{
	for (int i = 0; i < N; i++)
		if (got[i] != (float)i * factor + 10.0f * (float)(i % 4 + 1))
			return 0;
	return 1;
}

static void ramp(float *to)
{
	for (int i = 0; i < N; i++)
		to[i] = (float)i;
}

/* The same launch by each way of giving its arguments. */
static void launches(void)
{
	CUmodule module;
	CUdeviceptr to, from;
	float host[N];
	unsigned n = N;
	char tag = 1;

	CUcontext context = begin();
	CUfunction scale = function_of(&module, "scale");
	OK(cuMemAlloc(&to, sizeof host));
	OK(cuMemAlloc(&from, sizeof host));
	ramp(host);
	OK(cuMemcpyHtoD(from, host, sizeof host));

	float factor = 2;
	void *arguments[] = {&to, &tag, &from, &n, &factor};
	OK(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH(host, to, sizeof host));
	CHECK(right(host, 2));

	struct {
		CUdeviceptr to;
		char tag;
		CUdeviceptr from;
		unsigned n;
		float factor;
	} packed = {to, 1, from, N, 3};
	size_t bytes = sizeof packed;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
	OK(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH(host, to, sizeof host));
	CHECK(right(host, 3));

	CUlaunchConfig config = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
	CUlaunchAttribute carveout = {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
	carveout.value.sharedMemCarveout = 50;
	config.attrs = &carveout;
	config.numAttrs = 1;
	factor = 4;
	OK(cuLaunchKernelEx(&config, scale, arguments, NULL));
	OK(cuMemcpyDtoH(host, to, sizeof host));
	CHECK(right(host, 4));

	factor = 5;
	OK(cuLaunchCooperativeKernel(scale, 4, 1, 1, 32, 1, 1, 0, NULL, arguments));
	OK(cuMemcpyDtoH(host, to, sizeof host));
	CHECK(right(host, 5));
	OK(cuMemFree(to));
	OK(cuMemFree(from));
	OK(cuModuleUnload(module));
	OK(cuCtxDestroy(context));
}

static void mistakes(void)
{
	CUmodule module = NULL;
	CUfunction function = NULL, scale;
	CUdeviceptr pointer;
	CUdevice device;
	size_t bytes;
	char log[256] = "untouched";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log};
	const char *text = NULL;

	IS(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuInit(0));
	IS(cuMemAlloc(&pointer, 4), CUDA_ERROR_INVALID_CONTEXT);
	IS(cuDeviceGet(&device, 9), CUDA_ERROR_INVALID_DEVICE);
	IS(cuCtxPopCurrent(NULL), CUDA_ERROR_INVALID_CONTEXT);
	begin();
	IS(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\n.address_size 64\nnonsense\n", 2, options, values),
	   CUDA_ERROR_INVALID_PTX);
	CHECK(strstr(log, ":4:") && strstr(log, "nonsense"));
	CHECK((size_t)values[1] == strlen(log) + 1);
	IS(cuModuleLoadData(&module, "\177ELF and so on"), CUDA_ERROR_NO_BINARY_FOR_GPU);
	values[1] = (void *)sizeof log;
	IS(cuModuleLoadDataEx(&module, ".version 8.6\n.target sm_100a\n.address_size 64\n", 2, options, values),
	   CUDA_ERROR_NO_BINARY_FOR_GPU);
	CHECK(strstr(log, ": its PTX is for compute capability 10.0 alone, and the GPU has 8.0") != NULL);
	IS(cuModuleLoadData(&module, "\1\2\3\4\5\6\7"), CUDA_ERROR_INVALID_IMAGE);
	IS(cuModuleLoadData(&module, "nonsense"), CUDA_ERROR_INVALID_IMAGE);
	IS(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
	scale = function_of(&module, "scale");
	IS(cuModuleGetFunction(&function, module, "none"), CUDA_ERROR_NOT_FOUND);
	IS(cuModuleGetGlobal(&pointer, &bytes, module, "none"), CUDA_ERROR_NOT_FOUND);
	IS(cuModuleGetFunction(&function, (CUmodule)&module, "scale"), CUDA_ERROR_INVALID_HANDLE);
	IS(cuLaunchKernel((CUfunction)&module, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	IS(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, values, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemAlloc(&pointer, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
	IS(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
	IS(cuStreamDestroy((CUstream)&module), CUDA_ERROR_INVALID_HANDLE);
	IS(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, (CUdeviceptr)&module), CUDA_ERROR_INVALID_VALUE);
	OK(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
	CHECK(strcmp(text, "CUDA_ERROR_INVALID_PTX") == 0);
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
	CHECK(strcmp(text, "out of memory") == 0);
	IS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&bytes, log, &bytes, (int[]){0}, log}, NULL));
}

static void *in_thread(void *context)
{
	CUcontext current = NULL;

	IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPushCurrent(context));
	OK(cuCtxGetCurrent(&current));
	CHECK(current == context);
	OK(cuCtxPopCurrent(NULL));
	return NULL;
}

/* Streams and events have the context that they were created in, whatever the thread has; NVIDIA's C++ library relies on it. */
static void without_context(CUcontext context, CUfunction nothing)
{
	CUstream stream;
	CUevent before, after;
	CUmemoryPool pool;
	CUdeviceptr memory = 0;
	CUcontext of_stream = NULL;
	float milliseconds;
	unsigned long long id;
	unsigned words[2] = {0};

	OK(cuCtxPushCurrent(context));
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&before, 0));
	OK(cuEventCreate(&after, 0));
	OK(cuCtxPopCurrent(NULL));
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cuEventRecord(before, stream));
	OK(cuMemAllocFromPoolAsync(&memory, 8, pool, stream));
	OK(cuMemsetD32Async(memory, 7, 2, stream));
	OK(cuMemcpyDtoHAsync(words, memory, 8, stream));
	OK(cuEventRecord(after, stream));
	OK(cuStreamWaitEvent(stream, after, 0));
	OK(cuStreamSynchronize(stream));
	OK(cuStreamQuery(stream));
	CHECK(words[0] == 7 && words[1] == 7);
	OK(cuEventSynchronize(after));
	OK(cuEventElapsedTime(&milliseconds, before, after));
	OK(cuStreamGetId(stream, &id));
	OK(cuStreamGetCtx(stream, &of_stream));
	CHECK(of_stream == context);
	OK(cuMemsetD2D32Async(memory, 4, 9, 1, 2, stream));
	OK(cuStreamWriteValue32(stream, memory, 5, 0));
	OK(cuMemFreeAsync(memory, stream));
	OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	IS(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuCtxGetCurrent(&of_stream) == CUDA_SUCCESS && of_stream == NULL);
	IS(cuMemsetD32Async(memory, 7, 2, NULL), CUDA_ERROR_INVALID_CONTEXT);
	IS(cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuEventDestroy(before));
	OK(cuEventDestroy(after));
	OK(cuStreamDestroy(stream));
}

static void contexts(void)
{
	CUcontext first, second, primary, again, current = NULL;
	CUmodule module;
	CUdevice device = -1;
	pthread_t thread;
	unsigned flags;
	int active;
	size_t value;

	OK(cuInit(0));
	OK(cuCtxGetCurrent(&current));
	CHECK(!current);
	first = begin();
	second = begin();
	OK(cuCtxGetCurrent(&current));
	CHECK(current == second && first != second);
	OK(cuCtxPopCurrent(&current));
	CHECK(current == second);
	OK(cuCtxGetCurrent(&current));
	CHECK(current == first);
	OK(cuCtxGetDevice(&device));
	CHECK(device == 0);
	OK(cuCtxDestroy(second));
	OK(cuCtxSetCurrent(second));
	IS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	CHECK(!active);
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuDevicePrimaryCtxRetain(&again, 0));
	CHECK(primary == again && primary != first);
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	CHECK(active);
	OK(cuDevicePrimaryCtxRelease(0));
	OK(cuDevicePrimaryCtxRelease(0));
	IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuCtxSetCurrent(primary));
	OK(cuCtxGetCurrent(&current));
	CHECK(current == primary);
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	CHECK(value == 4096);
	CHECK(pthread_create(&thread, NULL, in_thread, primary) == 0);
	pthread_join(thread, NULL);
	CUfunction nothing = function_of(&module, "nothing");
	OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuCtxSetCurrent(NULL));
	without_context(primary, nothing);
}

/* What is loaded in a context runs in that one alone, and goes with it: the driver gives CUDA_ERROR_INVALID_HANDLE. */
static void two_contexts(void)
{
	CUmodule of_first, of_second;
	CUfunction again;
	CUlibrary library;
	CUkernel kernel;
	CUdeviceptr table;
	size_t bytes;

	CUcontext first = begin();
	CUfunction one = function_of(&of_first, "nothing");
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "nothing"));
	CUcontext second = begin();
	CUfunction two = function_of(&of_second, "nothing");
	OK(cuLaunchKernel(two, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS(cuLaunchKernel(one, 2, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxSetCurrent(first));
	OK(cuLaunchKernel(one, 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS(cuLaunchKernel(two, 4, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxDestroy(second));
	IS(cuLaunchKernel(two, 5, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	IS(cuModuleGetFunction(&again, of_second, "nothing"), CUDA_ERROR_INVALID_HANDLE);
	IS(cuModuleGetGlobal(&table, &bytes, of_second, "table"), CUDA_ERROR_INVALID_HANDLE);
	IS(cuModuleUnload(of_second), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxSetCurrent(second));
	IS(cuLaunchKernel(one, 8, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxSetCurrent(first));
	OK(cuLaunchKernel(one, 6, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuLaunchKernel((CUfunction)kernel, 7, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)); /* a library's is of any context */
	OK(cuModuleUnload(of_first));
}

static void memory(void)
{
	CUmodule module;
	CUdeviceptr to, begin_of, table;
	CUarray array;
	unsigned char bytes[64], back[64];
	unsigned words[16], type = 0;
	void *host, *on_host;
	size_t size, pitch, left, total;
	int ordinal = -1;

	begin();
	CUfunction nothing = function_of(&module, "nothing");
	OK(cuMemGetInfo(&left, &total));
	OK(cuMemAlloc(&to, 4096));
	size = left;
	OK(cuMemGetInfo(&left, &total));
	CHECK(size - left == 4096);
	OK(cuMemGetAddressRange(&begin_of, &size, to + 100));
	CHECK(begin_of == to && size == 4096);
	OK(cuMemsetD8(to, 7, 64));
	OK(cuMemsetD16(to, 0x1234, 4));
	OK(cuMemsetD32(to + 16, 0xdeadbeef, 2));
	OK(cuMemsetD2D8(to + 32, 16, 9, 2, 2));
	IS(cuMemsetD32(to + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyDtoH(bytes, to, 64));
	CHECK(bytes[0] == 0x34 && bytes[7] == 0x12 && bytes[8] == 7 && bytes[16] == 0xef && bytes[23] == 0xde && bytes[24] == 7);
	CHECK(bytes[32] == 9 && bytes[33] == 9 && bytes[34] == 7 && bytes[48] == 9 && bytes[50] == 7);
	OK(cuModuleGetGlobal(&table, &size, module, "table"));
	CHECK(size == 16);
	OK(cuMemcpyDtoD(to, table, size));
	OK(cuMemcpyDtoH(words, to, size));
	CHECK(words[0] == 10 && words[3] == 40);

	OK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
	CHECK(type == CU_MEMORYTYPE_HOST);
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, to));
	CHECK(type == CU_MEMORYTYPE_DEVICE);
	OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, to));
	CHECK(ordinal == 0);
	IS(cuPointerGetAttribute(&on_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, to), CUDA_ERROR_INVALID_VALUE);
	CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
	CUdeviceptr known = 1;
	OK(cuPointerGetAttributes(2, asked, (void *[]){&type, &known}, (CUdeviceptr)&module));
	CHECK(type == 0 && known == 0);

	/* 4 rows of 8 bytes: from host to pitched memory, to an array, and back. */
	OK(cuMemAllocPitch(&begin_of, &pitch, 8, 4, 4));
	CUDA_ARRAY_DESCRIPTOR shape = {8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1}, is;
	OK(cuArrayCreate(&array, &shape));
	OK(cuArrayGetDescriptor(&is, array));
	CHECK(is.Width == 8 && is.Height == 4 && is.Format == CU_AD_FORMAT_UNSIGNED_INT8 && is.NumChannels == 1);
	for (unsigned i = 0; i < 64; i++)
		bytes[i] = (unsigned char)i;
	CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes, .srcPitch = 16, .srcXInBytes = 2,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = begin_of, .dstPitch = pitch, .WidthInBytes = 8,
			    .Height = 4};
	OK(cuMemcpy2D(&up));
	CUDA_MEMCPY2D across = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = begin_of, .srcPitch = pitch,
				.dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array, .WidthInBytes = 8, .Height = 4};
	OK(cuMemcpy2D(&across));
	CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array, .srcY = 1,
			      .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 8, .WidthInBytes = 8, .Height = 3,
			      .Depth = 1};
	OK(cuMemcpy3D(&down));
	CHECK(back[0] == 18 && back[7] == 25 && back[8] == 34 && back[23] == 57);
	down.dstPitch = down.dstHeight = (size_t)1 << 32; /* slices 2^64 bytes apart */
	IS(cuMemcpy3D(&down), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyAtoH(back, array, 3, 4));
	CHECK(back[0] == 5 && back[3] == 8);
	OK(cuArrayDestroy(array));
	CUmipmappedArray mipmap;
	CUDA_ARRAY3D_DESCRIPTOR levels = {8, 4, 0, CU_AD_FORMAT_FLOAT, 2, 0}, level;
	OK(cuMipmappedArrayCreate(&mipmap, &levels, 3));
	OK(cuMipmappedArrayGetLevel(&array, mipmap, 1));
	OK(cuArray3DGetDescriptor(&level, array));
	CHECK(level.Width == 4 && level.Height == 2 && level.Format == CU_AD_FORMAT_FLOAT && level.NumChannels == 2);
	IS(cuMipmappedArrayGetLevel(&array, mipmap, 3), CUDA_ERROR_INVALID_VALUE);
	OK(cuMipmappedArrayDestroy(mipmap));
	OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

/* Copies and hints for several ranges in one call, and pools by place. */
static void batches(void)
{
	CUmodule module;
	CUstream stream;
	CUdeviceptr all, managed, from[3], to[3];
	CUmemoryPool pool, same;
	CUmemcpyAttributes attributes[2] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
					    {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY}};
	CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, host = {.type = CU_MEM_LOCATION_TYPE_HOST};
	size_t bytes[3] = {4, 8, 4}, first[2] = {0, 2};
	unsigned words[4] = {1, 2, 3, 4}, back[4] = {0};

	begin();
	OK(cuMemAlloc(&all, sizeof words));
	OK(cuStreamCreate(&stream, 0));
	for (size_t i = 0, at = 0; i < 3; at += bytes[i++] / 4) {
		from[i] = (CUdeviceptr)(uintptr_t)&words[at];
		to[i] = all + 4 * at;
	}
	OK(cuMemcpyBatchAsync(to, from, bytes, 3, attributes, first, 2, stream));
	OK(cuMemcpyDtoH(back, all, sizeof back));
	CHECK(memcmp(words, back, sizeof back) == 0);
	IS(cuMemcpyBatchAsync(to, from, bytes, 3, attributes, first, 2, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemcpyBatchAsync(to, from, bytes, 2, attributes, first, 2, stream), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemPrefetchBatchAsync(to, bytes, 3, &place, first, 1, 0, stream), CUDA_ERROR_INVALID_VALUE); /* hints are for managed memory */
	IS(cuMemDiscardBatchAsync(to, bytes, 3, 0, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocManaged(&managed, sizeof words, CU_MEM_ATTACH_GLOBAL));
	for (int i = 0; i < 3; i++)
		to[i] += managed - all;
	OK(cuMemPrefetchBatchAsync(to, bytes, 3, &place, first, 1, 0, stream));
	OK(cuMemDiscardAndPrefetchBatchAsync(to, bytes, 3, &place, first, 1, 0, stream));
	OK(cuMemDiscardBatchAsync(to, bytes, 3, 0, stream));
	IS(cuMemDiscardBatchAsync(to, bytes, 3, 1, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetDefaultMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
	OK(cuDeviceGetDefaultMemPool(&same, 0));
	CHECK(pool == same);
	OK(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
	OK(cuMemGetMemPool(&same, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
	CHECK(pool == same);
	OK(cuMemGetMemPool(&same, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
	CHECK(pool != same);
	host.type = CU_MEM_LOCATION_TYPE_INVALID;
	IS(cuMemGetMemPool(&same, &host, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_INVALID_DEVICE);
	OK(cuStreamDestroy(stream));
	OK(cuLaunchKernel(function_of(&module, "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

/* Each comparison, with values on either side of it. */
static void values(void)
{
	CUmodule module;
	CUdeviceptr at;
	CUgraph graph;
	CUgraphExec ready;
	CUstream stream;
	int has = 0;
	unsigned long long back = 0;

	begin();
	OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
	CHECK(has == 1);
	OK(cuMemAlloc(&at, 16));
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamWriteValue32(stream, at, 0x80000001, CU_STREAM_WRITE_VALUE_DEFAULT));
	IS(cuStreamWaitValue32(stream, at, 0x80000001, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuStreamWaitValue32(stream, at, 0x80000001, CU_STREAM_WAIT_VALUE_EQ));
	OK(cuStreamWaitValue32(stream, at, 0x7fffffff, CU_STREAM_WAIT_VALUE_GEQ)); /* the difference wraps to 2 */
	OK(cuStreamWaitValue32(stream, at, 1, CU_STREAM_WAIT_VALUE_AND));
	OK(cuStreamWaitValue32(stream, at, 0x7ffffffd, CU_STREAM_WAIT_VALUE_NOR)); /* bit 1 is in neither */
	IS(cuStreamWriteValue64(stream, at + 8, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamWriteValue64(stream, at + 8, 0xfffffffffffffff0, CU_STREAM_WRITE_VALUE_DEFAULT));
	OK(cuStreamWaitValue64(stream, at + 8, 0xfffffffffffffff0, CU_STREAM_WAIT_VALUE_GEQ));
	OK(cuMemcpyDtoH(&back, at + 8, 8));
	CHECK(back == 0xfffffffffffffff0);
	CUstreamBatchMemOpParams batch[4] = {{0}};
	batch[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	batch[0].writeValue.address = at + 4;
	batch[0].writeValue.value = 5;
	batch[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
	batch[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
	batch[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	batch[2].waitValue.address = at + 4;
	batch[2].waitValue.value = 5;
	batch[2].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	batch[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	batch[3].writeValue.address = at + 8;
	batch[3].writeValue.value64 = 0x123456789;
	OK(cuStreamBatchMemOp(stream, 4, batch, 0));
	OK(cuMemcpyDtoH(&back, at + 8, 8));
	CHECK(back == 0x123456789);
	batch[1].operation = (CUstreamBatchMemOpType)7;
	IS(cuStreamBatchMemOp(stream, 4, batch, 0), CUDA_ERROR_INVALID_VALUE);
	IS(cuStreamBatchMemOp(stream, 257, batch, 0), CUDA_ERROR_INVALID_VALUE);
	IS(cuStreamWriteValue64(stream, at + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
	IS(cuStreamWriteValue32(stream, at, 0, 2), CUDA_ERROR_INVALID_VALUE);
	IS(cuStreamWaitValue32(stream, at, 0, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuStreamWriteValue64(stream, at, 7, 0));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiate(&ready, graph, 0));
	OK(cuGraphLaunch(ready, stream));
	OK(cuMemcpyDtoH(&back, at, 8));
	CHECK(back == 7);
	OK(cuLaunchKernel(function_of(&module, "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void count(void *to) { ++*(int *)to; }
static void CUDA_CB called(CUstream stream, CUresult code, void *to) { *(int *)to += stream && code == CUDA_SUCCESS; }

/* Streams, events, a captured graph, and the resources of a function. */
static void streams(void)
{
	CUmodule module;
	CUstream stream;
	CUevent before, after;
	CUgraph graph;
	CUgraphExec ready;
	CUdeviceptr to;
	unsigned sum = 0, threads = 64;
	int calls = 0, blocks = 0, value = 0, grid = 0, block = 0;
	size_t dynamic = 0;
	float milliseconds = -1;

	begin();
	CUfunction touch = function_of(&module, "touch");
	void *arguments[] = {&to};
	OK(cuMemAllocManaged(&to, 4, CU_MEM_ATTACH_GLOBAL));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&before, 0));
	OK(cuEventCreate(&after, 0));
	OK(cuMemsetD32Async(to, 0, 1, stream));
	OK(cuEventRecord(before, stream));
	OK(cuLaunchKernel(touch, 1, 1, 1, threads, 1, 1, threads * 4, stream, arguments, NULL));
	OK(cuEventRecord(after, stream));
	OK(cuLaunchHostFunc(stream, count, &calls));
	OK(cuStreamAddCallback(stream, called, &calls, 0));
	OK(cuStreamSynchronize(stream));
	OK(cuEventElapsedTime(&milliseconds, before, after));
	CHECK(milliseconds > 0 && calls == 2);
	CHECK(*(unsigned *)to == 63 * 64 / 2);

	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuLaunchKernel(touch, 2, 1, 1, threads, 1, 1, threads * 4, stream, arguments, NULL));
	OK(cuMemcpyDtoHAsync(&sum, to, 4, stream));
	OK(cuLaunchHostFunc(stream, count, &calls));
	OK(cuStreamEndCapture(stream, &graph));
	CHECK(sum == 0);
	OK(cuGraphInstantiate(&ready, graph, 0));
	OK(cuGraphLaunch(ready, stream));
	OK(cuGraphLaunch(ready, stream));
	OK(cuStreamSynchronize(stream));
	CHECK(sum == 5 * 63 * 64 / 2 && calls == 4);

	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, touch));
	CHECK(value == 1024);
	OK(cuFuncSetAttribute(touch, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, touch));
	CHECK(value == 65536);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 1024, 0));
	CHECK(blocks == 2); /* an A100's SM has 2048 threads */
	OK(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, touch, 2, 1024));
	CHECK(dynamic == 65536); /* what it has asked for; half of the SM's 164 KiB is more */
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, touch, NULL, 0, 0));
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	CHECK(block == 1024 && grid == 2 * value);
	OK(cuStreamDestroy(stream));
}

/* A graph that allocates, fills, runs a kernel, copies and frees; and one that runs its body while a handle says so. */
static void graph_memory(void)
{
	CUmodule module;
	CUgraph graph, clone;
	CUgraphExec ready;
	CUgraphNode nodes[5], found;
	CUDA_MEM_ALLOC_NODE_PARAMS allocation = {0}, got;
	CUgraphNodeParams fill = {.type = CU_GRAPH_NODE_TYPE_MEMSET}, run = {.type = CU_GRAPH_NODE_TYPE_KERNEL},
			  copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
	CUdeviceptr freed = 0;
	unsigned sum = 0;
	size_t used = 1;

	begin();
	CUfunction touch = function_of(&module, "touch");
	allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	allocation.bytesize = 4;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &allocation));
	OK(cuGraphMemAllocNodeGetParams(nodes[0], &got));
	CHECK(got.dptr == allocation.dptr && got.bytesize == 4);
	fill.memset.dst = allocation.dptr;
	fill.memset.value = 1000;
	fill.memset.elementSize = 4;
	fill.memset.width = fill.memset.height = 1;
	OK(cuGraphAddNode(&nodes[1], graph, nodes, NULL, 1, &fill));
	void *arguments[] = {&allocation.dptr};
	run.kernel.func = touch;
	run.kernel.gridDimX = run.kernel.gridDimY = run.kernel.gridDimZ = run.kernel.blockDimY = run.kernel.blockDimZ = 1;
	run.kernel.blockDimX = 64;
	run.kernel.sharedMemBytes = 256;
	run.kernel.kernelParams = arguments;
	OK(cuGraphAddNode(&nodes[2], graph, nodes + 1, NULL, 1, &run));
	copy.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.memcpy.copyParams.srcDevice = allocation.dptr;
	copy.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
	copy.memcpy.copyParams.dstHost = &sum;
	copy.memcpy.copyParams.WidthInBytes = 4;
	copy.memcpy.copyParams.Height = copy.memcpy.copyParams.Depth = 1;
	OK(cuGraphAddNode(&nodes[3], graph, nodes + 2, NULL, 1, &copy));
	OK(cuGraphAddMemFreeNode(&nodes[4], graph, nodes + 3, 1, allocation.dptr));
	OK(cuGraphMemFreeNodeGetParams(nodes[4], &freed));
	CHECK(freed == allocation.dptr);
	OK(cuGraphInstantiate(&ready, graph, 0));
	OK(cuGraphLaunch(ready, NULL));
	CHECK(sum == 1000 + 63 * 64 / 2);
	fill.memset.value = 5;
	OK(cuGraphExecNodeSetParams(ready, nodes[1], &fill));
	OK(cuGraphLaunch(ready, NULL));
	CHECK(sum == 5 + 63 * 64 / 2);
	IS(cuGraphNodeSetParams(nodes[2], &fill), CUDA_ERROR_INVALID_VALUE);
	IS(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphExecDestroy(ready));
	OK(cuGraphDestroy(graph));
	OK(cuDeviceGraphMemTrim(0));
	OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
	CHECK(used == 0);

	CUgraphConditionalHandle handle;
	CUgraphNodeParams condition = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphConditionalHandleCreate(&handle, graph, NULL, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	condition.conditional.handle = handle;
	condition.conditional.type = CU_GRAPH_COND_TYPE_IF;
	condition.conditional.size = 1;
	OK(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &condition));
	CUDA_HOST_NODE_PARAMS host = {count, &sum};
	OK(cuGraphAddHostNode(&nodes[1], condition.conditional.phGraph_out[0], NULL, 0, &host));
	sum = 7;
	OK(cuGraphInstantiate(&ready, graph, 0));
	OK(cuGraphLaunch(ready, NULL));
	CHECK(sum == 8);
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
	OK(cuGraphClone(&clone, graph));
	OK(cuGraphNodeFindInClone(&found, nodes[0], clone));
	CHECK(found != nodes[0]);
}

/* Linking two texts, libraries, and calls by their names. */
static void modules(void)
{
	static const char caller[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				     ".extern .func (.param .b32 out) twice(.param .b32 in);\n"
				     ".visible .entry run(.param .u64 to)\n{\n	.reg .b32 %r<3>;\n	.reg .b64 %rd<2>;\n"
				     "	ld.param.u64 %rd1, [to];\n	mov.u32 %r1, 21;\n	{\n	.param .b32 a;\n	.param .b32 b;\n"
				     "	st.param.b32 [a], %r1;\n	call (b), twice, (a);\n	ld.param.b32 %r2, [b];\n	}\n"
				     "	st.global.u32 [%rd1], %r2;\n	ret;\n}\n";
	static const char callee[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				     ".visible .func (.param .b32 out) twice(.param .b32 in)\n{\n	.reg .b32 %r<3>;\n"
				     "	ld.param.b32 %r1, [in];\n	add.s32 %r2, %r1, %r1;\n	st.param.b32 [out], %r2;\n	ret;\n}\n";
	static const char managed[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				      ".visible .global .attribute(.managed) .align 4 .u32 word = 10;\n";
	CUlinkState linking;
	CUmodule module;
	CUlibrary library;
	CUkernel kernel;
	CUfunction function;
	CUdeviceptr to;
	CUdriverProcAddressQueryResult found;
	void *image, *address = NULL, *old = NULL;
	CUdeviceptr word = 0;
	size_t bytes;
	unsigned got = 0, n = 0;

	begin();
	OK(cuMemAlloc(&to, 4));
	void *arguments[] = {&to};
	OK(cuLinkCreate(0, NULL, NULL, &linking));
	OK(cuLinkAddData(linking, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
	OK(cuLinkAddData(linking, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
	OK(cuLinkComplete(linking, &image, &bytes));
	OK(cuModuleLoadData(&module, image));
	OK(cuLinkDestroy(linking));
	OK(cuModuleGetFunction(&function, module, "run"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
	OK(cuMemcpyDtoH(&got, to, 4));
	CHECK(got == 42);

	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernelCount(&n, library));
	CHECK(n == 3);
	OK(cuLibraryGetKernel(&kernel, library, "nothing"));
	OK(cuKernelGetFunction(&function, kernel));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS(cuLibraryGetManaged(&word, &bytes, library, "table"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryUnload(library));
	OK(cuLibraryLoadData(&library, managed, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetManaged(&word, &bytes, library, "word"));
	CHECK(bytes == 4 && word && *(unsigned *)(uintptr_t)word == 10);
	OK(cuLibraryUnload(library));

	OK(cuGetProcAddress("cuMemAlloc", &address, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
	CHECK(address == (void *)cuMemAlloc && found == CU_GET_PROC_ADDRESS_SUCCESS);
	OK(cuGetProcAddress("cuMemAlloc", &old, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
	CHECK(old && old != address);
	OK(cuGetProcAddress("cuMemcpyAsync", &address, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
	OK(cuGetProcAddress("cuMemcpyAsync", &old, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &found));
	CHECK(address && old);
	OK(cuGetProcAddress("cuCtxCreate", &address, 11040, CU_GET_PROC_ADDRESS_DEFAULT, &found));
	CHECK(address && address == dlsym(RTLD_DEFAULT, "cuCtxCreate_v3"));
	OK(cuGetProcAddress("cuNoSuchCall", &address, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
	CHECK(!address && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* Two pieces of memory side by side in one range of addresses; the second comes out and goes in again elsewhere. */
static void virtual_memory(void)
{
	CUmodule module;
	CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, is;
	CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle pieces[2], again;
	CUdeviceptr range;
	size_t piece, left, before, total;
	unsigned word = 0;

	begin();
	OK(cuMemGetInfo(&before, &total));
	OK(cuMemGetAllocationGranularity(&piece, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(piece == 2 << 20);
	OK(cuMemAddressReserve(&range, 4 * piece, 0, 0, 0));
	OK(cuMemGetInfo(&left, &total));
	CHECK(left == before);
	IS(cuMemCreate(&pieces[0], piece + 1, &wanted, 0), CUDA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 2; i++) {
		OK(cuMemCreate(&pieces[i], piece, &wanted, 0));
		OK(cuMemMap(range + i * piece, piece, 0, pieces[i], 0));
	}
	OK(cuMemGetInfo(&left, &total));
	CHECK(left == before - 2 * piece);
	IS(cuMemSetAccess(range, 3 * piece, &access, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemSetAccess(range, 2 * piece, &access, 1));
	OK(cuMemsetD32(range, 5, 2 * piece / 4));
	OK(cuMemGetAllocationPropertiesFromHandle(&is, pieces[1]));
	CHECK(is.location.id == 0 && is.type == wanted.type);
	OK(cuMemRetainAllocationHandle(&again, (void *)(range + piece + 8)));
	CHECK(again == pieces[1]);
	OK(cuMemRelease(again));
	OK(cuMemUnmap(range + piece, piece));
	IS(cuMemUnmap(range + piece, piece), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(range + 3 * piece, piece, 0, pieces[1], 0));
	OK(cuMemcpyDtoH(&word, range + 4 * piece - 4, 4));
	CHECK(word == 5);
	for (int i = 0; i < 2; i++)
		OK(cuMemRelease(pieces[i]));
	IS(cuMemAddressFree(range, 4 * piece), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(range, piece));
	OK(cuMemUnmap(range + 3 * piece, piece));
	OK(cuMemAddressFree(range, 4 * piece));
	OK(cuMemGetInfo(&left, &total));
	CHECK(left == before);
	OK(cuLaunchKernel(function_of(&module, "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void refused(void)
{
	CUmodule module;
	CUipcMemHandle handle;
	CUdeviceptr to;

	begin();
	OK(cuMemAlloc(&to, 4));
	OK(cuMemsetD32(to, 0, 1));
	OK(cuLaunchKernel(function_of(&module, "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	IS(cuStreamWaitValue32(NULL, to, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_NOT_SUPPORTED);
	IS(cuIpcGetMemHandle(&handle, to), CUDA_ERROR_NOT_SUPPORTED);
	IS(cuIpcGetMemHandle(&handle, to), CUDA_ERROR_NOT_SUPPORTED);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {{"launches", launches}, {"mistakes", mistakes}, {"contexts", contexts}, {"two_contexts", two_contexts}, {"memory", memory},
		     {"batches", batches},
		     {"values", values}, {"streams", streams},   {"graph memory", graph_memory}, {"modules", modules},   {"virtual", virtual_memory}, {"refused", refused}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc == 2 && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(argv[1], parts[i].name) == 0) {
			parts[i].run();
			return verdict();
		}
	fprintf(stderr, "usage: driver PART\n");
	return 2;
}
