/* SPDX-License-Identifier: MIT */
/* Names and descriptions of errors, and the last one. */
#include <stdbool.h>

#include "cuda/runtime/runtime.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{CUDA_SUCCESS, "cudaSuccess", "no error"},
	{CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
	{CUDA_MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory"},
	{CUDA_INITIALIZATION_ERROR, "cudaErrorInitializationError", "initialization error"},
	{CUDA_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	{CUDA_INVALID_PITCH_VALUE, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
	{CUDA_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
	{CUDA_INVALID_CHANNEL_DESCRIPTOR, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
	{CUDA_INVALID_MEMCPY_DIRECTION, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
	{CUDA_INVALID_FILTER_SETTING, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
	{35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	{CUDA_MISSING_CONFIGURATION, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
	{CUDA_INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{CUDA_INVALID_KERNEL_IMAGE, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
	{CUDA_NO_KERNEL_IMAGE_FOR_DEVICE, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
	{CUDA_UNSUPPORTED_LIMIT, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
	{CUDA_PEER_ACCESS_UNSUPPORTED, "cudaErrorPeerAccessUnsupported",
	 "peer access is not supported between these two devices"},
	{CUDA_INVALID_PTX, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
	{CUDA_INVALID_RESOURCE_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
	{CUDA_ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
	{500, "cudaErrorSymbolNotFound", "named symbol not found"},
	{CUDA_NOT_READY, "cudaErrorNotReady", "device not ready"},
	{700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
	{CUDA_LAUNCH_OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
	{CUDA_PEER_ACCESS_ALREADY_ENABLED, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
	{CUDA_PEER_ACCESS_NOT_ENABLED, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
	{702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
	{CUDA_ASSERT, "cudaErrorAssert", "device-side assert triggered"},
	{CUDA_HOST_MEMORY_ALREADY_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered",
	 "part or all of the requested memory range is already mapped"},
	{CUDA_HOST_MEMORY_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered",
	 "pointer does not correspond to a registered memory region"},
	{716, "cudaErrorMisalignedAddress", "misaligned address"},
	{719, "cudaErrorLaunchFailure", "unspecified launch failure"},
	{CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, "cudaErrorCooperativeLaunchTooLarge",
	 "too many blocks in cooperative launch"},
	{CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
	{CUDA_STREAM_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported",
	 "operation not permitted when stream is capturing"},
	{CUDA_STREAM_CAPTURE_INVALIDATED, "cudaErrorStreamCaptureInvalidated",
	 "operation failed due to a previous error during capture"},
	{CUDA_STREAM_CAPTURE_MERGE, "cudaErrorStreamCaptureMerge",
	 "operation would result in a merge of separate capture sequences"},
	{CUDA_STREAM_CAPTURE_UNMATCHED, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
	{CUDA_STREAM_CAPTURE_UNJOINED, "cudaErrorStreamCaptureUnjoined",
	 "capturing stream has unjoined work"},
	{CUDA_STREAM_CAPTURE_ISOLATION, "cudaErrorStreamCaptureIsolation",
	 "dependency created on uncaptured work in another stream"},
	{CUDA_STREAM_CAPTURE_IMPLICIT, "cudaErrorStreamCaptureImplicit",
	 "operation would make the legacy stream depend on a capturing blocking stream"},
	{CUDA_GRAPH_EXEC_UPDATE_FAILURE, "cudaErrorGraphExecUpdateFailure",
	 "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
	{CUDA_INVALID_CLUSTER_SIZE, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
	{999, "cudaErrorUnknown", "unknown error"},
};

API const char *cudaGetErrorName(int code)
{
	for (size_t i = 0; i < LENGTH(errors); i++)
		if (errors[i].code == code)
			return errors[i].name;
	return "unrecognized error code";
}

API const char *cudaGetErrorString(int code)
{
	for (size_t i = 0; i < LENGTH(errors); i++)
		if (errors[i].code == code)
			return errors[i].text;
	return "unrecognized error code";
}

API int cudaGetLastError(void)
{
	return gt_cudart_last_error(true);
}

API int cudaPeekAtLastError(void)
{
	return gt_cudart_last_error(false);
}
