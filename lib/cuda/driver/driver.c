/* SPDX-License-Identifier: MIT */
/* What all calls of the driver API do: begin and end, their codes, and how they are found by name. */
#define _GNU_SOURCE /* dladdr */

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

static bool initialized;

struct gt_context *gt_driver_context(void)
{
	struct gt_context *context = gt_context_current();

	return context || !gt_cudart_used() ? context : gt_context_primary(0);
}

int gt_driver_begin_anywhere(void)
{
	gt_cudart_lock();
	gt_cudart_called();
	return initialized || gt_cudart_used() ? CUDA_SUCCESS : CU_NOT_INITIALIZED;
}

int gt_driver_begin(void)
{
	int code = gt_driver_begin_anywhere();

	if (code != CUDA_SUCCESS)
		return code;
	const struct gt_context *context = gt_driver_context();
	if (!context)
		return CU_INVALID_CONTEXT;
	return context->destroyed ? CU_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

int gt_driver_begin_of(const void *handle)
{
	return gt_is(GT_STREAM, handle) || gt_is(GT_EVENT, handle) ? gt_driver_begin_anywhere() : gt_driver_begin();
}

/* The driver has fewer codes for wrong arguments. */
static int driver_code(int code)
{
	switch (code) {
	case CUDA_INVALID_CHANNEL_DESCRIPTOR:
	case CUDA_INVALID_MEMCPY_DIRECTION:
	case CUDA_INVALID_FILTER_SETTING:
		return CUDA_INVALID_VALUE;
	case CUDA_INVALID_SYMBOL:
		return CU_NOT_FOUND;
	case CUDA_INVALID_DEVICE_FUNCTION:
		return CUDA_INVALID_RESOURCE_HANDLE;
	default:
		return code;
	}
}

int gt_driver_end(int code)
{
	int failed = gt_cudart_failed();

	gt_cudart_unlock();
	return driver_code(failed ? failed : code);
}

/* Opens nothing yet: also the static runtime calls it, which can do no more than that here. */
API int cuInit(unsigned flags)
{
	gt_cudart_driver_called_from(__builtin_return_address(0));
	if (flags != 0)
		return CUDA_INVALID_VALUE;
	initialized = true;
	gt_cudart_called();
	return CUDA_SUCCESS;
}

/* Private calls, of the runtime to the driver. */
API int cuGetExportTable(const void **table, const void *id)
{
	(void)id;
	gt_cudart_driver_called_from(__builtin_return_address(0));
	if (table)
		*table = NULL;
	return CU_NOT_FOUND;
}

/* ---- names and descriptions of the driver's codes ---- */

static const struct {
	int code;
	const char *name;
} errors[] = {
	{0, "CUDA_SUCCESS"},
	{1, "CUDA_ERROR_INVALID_VALUE"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY"},
	{3, "CUDA_ERROR_NOT_INITIALIZED"},
	{4, "CUDA_ERROR_DEINITIALIZED"},
	{5, "CUDA_ERROR_PROFILER_DISABLED"},
	{6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED"},
	{7, "CUDA_ERROR_PROFILER_ALREADY_STARTED"},
	{8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED"},
	{34, "CUDA_ERROR_STUB_LIBRARY"},
	{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
	{100, "CUDA_ERROR_NO_DEVICE"},
	{101, "CUDA_ERROR_INVALID_DEVICE"},
	{102, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
	{200, "CUDA_ERROR_INVALID_IMAGE"},
	{201, "CUDA_ERROR_INVALID_CONTEXT"},
	{202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"},
	{205, "CUDA_ERROR_MAP_FAILED"},
	{206, "CUDA_ERROR_UNMAP_FAILED"},
	{207, "CUDA_ERROR_ARRAY_IS_MAPPED"},
	{208, "CUDA_ERROR_ALREADY_MAPPED"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
	{210, "CUDA_ERROR_ALREADY_ACQUIRED"},
	{211, "CUDA_ERROR_NOT_MAPPED"},
	{212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY"},
	{213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
	{215, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
	{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
	{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
	{218, "CUDA_ERROR_INVALID_PTX"},
	{219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
	{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
	{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
	{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
	{224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"},
	{225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"},
	{226, "CUDA_ERROR_CONTAINED"},
	{300, "CUDA_ERROR_INVALID_SOURCE"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND"},
	{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"},
	{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM"},
	{400, "CUDA_ERROR_INVALID_HANDLE"},
	{401, "CUDA_ERROR_ILLEGAL_STATE"},
	{402, "CUDA_ERROR_LOSSY_QUERY"},
	{500, "CUDA_ERROR_NOT_FOUND"},
	{600, "CUDA_ERROR_NOT_READY"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
	{703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
	{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
	{710, "CUDA_ERROR_ASSERT"},
	{711, "CUDA_ERROR_TOO_MANY_PEERS"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
	{714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
	{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
	{718, "CUDA_ERROR_INVALID_PC"},
	{719, "CUDA_ERROR_LAUNCH_FAILED"},
	{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
	{721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
	{800, "CUDA_ERROR_NOT_PERMITTED"},
	{801, "CUDA_ERROR_NOT_SUPPORTED"},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
	{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
	{805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
	{806, "CUDA_ERROR_MPS_RPC_FAILURE"},
	{807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
	{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
	{809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
	{810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
	{811, "CUDA_ERROR_CDP_NOT_SUPPORTED"},
	{812, "CUDA_ERROR_CDP_VERSION_MISMATCH"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
	{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
	{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
	{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
	{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
	{907, "CUDA_ERROR_CAPTURED_EVENT"},
	{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
	{909, "CUDA_ERROR_TIMEOUT"},
	{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
	{911, "CUDA_ERROR_EXTERNAL_DEVICE"},
	{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
	{913, "CUDA_ERROR_FUNCTION_NOT_LOADED"},
	{914, "CUDA_ERROR_INVALID_RESOURCE_TYPE"},
	{915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
	{916, "CUDA_ERROR_KEY_ROTATION"},
	{999, "CUDA_ERROR_UNKNOWN"},
};

/* NULL: there is no such code. */
static const char *name_of(int code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return errors[i].name;
	return NULL;
}

API int cuGetErrorName(int code, const char **to)
{
	if (!to)
		return CUDA_INVALID_VALUE;
	*to = name_of(code);
	return *to ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* The runtime has the same texts, but for two codes that it does not return. */
static const char *text_of(int code)
{
	switch (code) {
	case 202:
		return "context already current";
	case 916:
		return "an error happened during the key rotation sequence";
	default:
		return cudaGetErrorString(code);
	}
}

API int cuGetErrorString(int code, const char **to)
{
	if (!to)
		return CUDA_INVALID_VALUE;
	*to = name_of(code) ? text_of(code) : NULL;
	return *to ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* ---- calls by name ---- */

/* Since which version of CUDA a call has its present form. */

struct gt_driver_version {
	const char *name; /* as it is exported: "cuMemAlloc_v2" */
	int version;	  /* 1000 * major + 10 * minor */
};
/* Variants of one call stand in the order of their versions. */
extern const struct gt_driver_version gt_driver_versions[];
extern const size_t gt_driver_versions_n;

/* The addresses of the driver's calls by their names, for programs that are not linked with it. */

#define PER_THREAD 2U /* flag: the variant for default streams of threads */
#define NAME_BYTES 128
enum { FOUND, NOT_FOUND, TOO_OLD }; /* CUdriverProcAddressQueryResult */

/* A symbol of this library, whatever others the process has. */
static void *own(const char *name)
{
	static void *library;
	Dl_info about;

	if (!library && dladdr((void *)(uintptr_t)gt_cudart_lock, &about) != 0)
		library = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* The call as a program of the version knows it: of the variants cuX, cuX_v2 and so on, the last that is not newer. */
static void exported_name(char to[NAME_BYTES], const char *name, int version)
{
	size_t length = strlen(name);

	snprintf(to, NAME_BYTES, "%s", name);
	for (size_t i = 0; i < gt_driver_versions_n; i++) {
		const struct gt_driver_version *row = &gt_driver_versions[i];
		if (strncmp(row->name, name, length) == 0 && row->name[length] == '_' && row->version <= version)
			snprintf(to, NAME_BYTES, "%s", row->name);
	}
}

static int find(const char *name, void **to, int version, uint64_t flags, int *result)
{
	char exported[NAME_BYTES], variant[NAME_BYTES + 8];

	if (!name || !to || strlen(name) >= NAME_BYTES)
		return CUDA_INVALID_VALUE;
	*to = NULL;
	if (strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0) {
		exported_name(exported, name, version);
		for (const char *const *suffix = (const char *const[]){"_ptsz", "_ptds", NULL}; flags & PER_THREAD && *suffix && !*to;
		     suffix++) {
			snprintf(variant, sizeof variant, "%s%s", exported, *suffix);
			*to = own(variant);
		}
		if (!*to)
			*to = own(exported);
	}
	if (result)
		*result = *to ? FOUND : NOT_FOUND;
	return CUDA_SUCCESS;
}

/* Whoever asks for the result learns there that the call is missing. */
API int cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *result)
{
	int code = find(name, to, version, flags, result);

	return code == CUDA_SUCCESS && !*to && !result ? CU_NOT_FOUND : code;
}

API int cuGetProcAddress(const char *name, void **to, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, to, version, flags, NULL);
}

/* ---- the runtime's ---- */

API int cudaGetDriverEntryPointByVersion(const char *name, void **to, unsigned version, unsigned long long flags, int *result)
{
	gt_cudart_enter();
	return gt_cudart_leave(find(name, to, (int)version, flags, result));
}

API int cudaGetDriverEntryPoint(const char *name, void **to, unsigned long long flags, int *result)
{
	return cudaGetDriverEntryPointByVersion(name, to, GT_CUDART_VERSION, flags, result);
}

API int cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **to, unsigned version, unsigned long long flags,
					      int *result)
{
	return cudaGetDriverEntryPointByVersion(name, to, version, flags ? flags : PER_THREAD, result);
}

API int cudaGetDriverEntryPoint_ptsz(const char *name, void **to, unsigned long long flags, int *result)
{
	return cudaGetDriverEntryPointByVersion_ptsz(name, to, GT_CUDART_VERSION, flags, result);
}

SINCE_12(cudaGetDriverEntryPoint);
SINCE_12(cudaGetDriverEntryPoint_ptsz);

/* As cudaTypedefs.h of CUDA 13 names them. */
const struct gt_driver_version gt_driver_versions[] = {
	{"cuArray3DCreate_v2", 3020},
	{"cuArray3DGetDescriptor_v2", 3020},
	{"cuArrayCreate_v2", 3020},
	{"cuArrayGetDescriptor_v2", 3020},
	{"cuCtxCreate_v2", 3020},
	{"cuCtxCreate_v3", 11040},
	{"cuCtxCreate_v4", 12050},
	{"cuCtxDestroy_v2", 4000},
	{"cuCtxGetDevice_v2", 13000},
	{"cuCtxPopCurrent_v2", 4000},
	{"cuCtxPushCurrent_v2", 4000},
	{"cuCtxSynchronize_v2", 13000},
	{"cuDeviceGetUuid_v2", 11040},
	{"cuDevicePrimaryCtxRelease_v2", 11000},
	{"cuDevicePrimaryCtxReset_v2", 11000},
	{"cuDevicePrimaryCtxSetFlags_v2", 11000},
	{"cuDeviceTotalMem_v2", 3020},
	{"cuEventDestroy_v2", 4000},
	{"cuEventElapsedTime_v2", 12080},
	{"cuGetProcAddress_v2", 12000},
	{"cuGraphAddDependencies_v2", 12030},
	{"cuGraphAddKernelNode_v2", 12000},
	{"cuGraphAddNode_v2", 12030},
	{"cuGraphExecKernelNodeSetParams_v2", 12000},
	{"cuGraphExecUpdate_v2", 12000},
	{"cuGraphGetEdges_v2", 12030},
	{"cuGraphInstantiate_v2", 11000},
	{"cuGraphKernelNodeGetParams_v2", 12000},
	{"cuGraphKernelNodeSetParams_v2", 12000},
	{"cuGraphNodeGetDependencies_v2", 12030},
	{"cuGraphNodeGetDependentNodes_v2", 12030},
	{"cuGraphRemoveDependencies_v2", 12030},
	{"cuGraphicsResourceGetMappedPointer_v2", 3020},
	{"cuGraphicsResourceSetMapFlags_v2", 6050},
	{"cuIpcOpenMemHandle_v2", 11000},
	{"cuLinkAddData_v2", 6050},
	{"cuLinkAddFile_v2", 6050},
	{"cuLinkCreate_v2", 6050},
	{"cuMemAdvise_v2", 12020},
	{"cuMemAllocHost_v2", 3020},
	{"cuMemAllocPitch_v2", 3020},
	{"cuMemAlloc_v2", 3020},
	{"cuMemFree_v2", 3020},
	{"cuMemGetAddressRange_v2", 3020},
	{"cuMemGetInfo_v2", 3020},
	{"cuMemHostGetDevicePointer_v2", 3020},
	{"cuMemHostRegister_v2", 6050},
	{"cuMemPrefetchAsync_v2", 12020},
	{"cuMemcpy2DAsync_v2", 3020},
	{"cuMemcpy2DUnaligned_v2", 3020},
	{"cuMemcpy2D_v2", 3020},
	{"cuMemcpy3DAsync_v2", 3020},
	{"cuMemcpy3DBatchAsync_v2", 13000},
	{"cuMemcpy3D_v2", 3020},
	{"cuMemcpyAtoA_v2", 3020},
	{"cuMemcpyAtoD_v2", 3020},
	{"cuMemcpyAtoHAsync_v2", 3020},
	{"cuMemcpyAtoH_v2", 3020},
	{"cuMemcpyBatchAsync_v2", 13000},
	{"cuMemcpyDtoA_v2", 3020},
	{"cuMemcpyDtoDAsync_v2", 3020},
	{"cuMemcpyDtoD_v2", 3020},
	{"cuMemcpyDtoHAsync_v2", 3020},
	{"cuMemcpyDtoH_v2", 3020},
	{"cuMemcpyHtoAAsync_v2", 3020},
	{"cuMemcpyHtoA_v2", 3020},
	{"cuMemcpyHtoDAsync_v2", 3020},
	{"cuMemcpyHtoD_v2", 3020},
	{"cuMemsetD16_v2", 3020},
	{"cuMemsetD2D16_v2", 3020},
	{"cuMemsetD2D32_v2", 3020},
	{"cuMemsetD2D8_v2", 3020},
	{"cuMemsetD32_v2", 3020},
	{"cuMemsetD8_v2", 3020},
	{"cuModuleGetGlobal_v2", 3020},
	{"cuStreamBatchMemOp_v2", 11070},
	{"cuStreamBeginCapture_v2", 10010},
	{"cuStreamDestroy_v2", 4000},
	{"cuStreamGetCaptureInfo_v2", 11030},
	{"cuStreamGetCaptureInfo_v3", 12030},
	{"cuStreamGetCtx_v2", 12050},
	{"cuStreamUpdateCaptureDependencies_v2", 12030},
	{"cuStreamWaitValue32_v2", 11070},
	{"cuStreamWaitValue64_v2", 11070},
	{"cuStreamWriteValue32_v2", 11070},
	{"cuStreamWriteValue64_v2", 11070},
	{"cuTexRefGetAddress_v2", 3020},
	{"cuTexRefSetAddress2D_v2", 3020},
	{"cuTexRefSetAddress2D_v3", 4010},
	{"cuTexRefSetAddress_v2", 3020},
};
const size_t gt_driver_versions_n = sizeof gt_driver_versions / sizeof *gt_driver_versions;

/* ---- calls that are not there ---- */

/* They return CUDA_ERROR_NOT_SUPPORTED, and report their name to the user. The arguments of the real calls are not read. */
#define MISSING(NAME, OMITS)                                                                      \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		static struct gt_missing_call call = {#NAME, OMITS, false};                        \
		gt_cudart_lock();                                                                  \
		int code = gt_cudart_unsupported(&call);                                           \
		gt_cudart_unlock();                                                                \
		return code;                                                                       \
	}
#define UNSUPPORTED(NAME) MISSING(NAME, true)
#define HARMLESS(NAME) MISSING(NAME, false)
#include "cuda/driver/unsupported.h"
