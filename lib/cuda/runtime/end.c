/* SPDX-License-Identifier: MIT */
/* Errors, and the end of the program: the stream gets its end record if all work of a GPU is in it. */
#define _GNU_SOURCE /* dladdr, syscall */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "cuda/ptx/record/record.h"
#include "cuda/runtime/runtime.h"

/* ---- names and descriptions of errors, and the last one ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{CUDA_SUCCESS, "cudaSuccess", "no error"},
	{CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
	{CUDA_MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory"},
	{CUDA_INITIALIZATION_ERROR, "cudaErrorInitializationError", "initialization error"},
	{4, "cudaErrorCudartUnloading", "driver shutting down"},
	{5, "cudaErrorProfilerDisabled", "profiler disabled while using external profiling tool"},
	{6, "cudaErrorProfilerNotInitialized", "profiler not initialized: call cudaProfilerInitialize()"},
	{7, "cudaErrorProfilerAlreadyStarted", "profiler already started"},
	{8, "cudaErrorProfilerAlreadyStopped", "profiler already stopped"},
	{9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	{12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
	{CUDA_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
	{17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
	{18, "cudaErrorInvalidTexture", "invalid texture reference"},
	{19, "cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"},
	{CUDA_INVALID_CHANNEL_DESCRIPTOR, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
	{CUDA_INVALID_MEMCPY_DIRECTION, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
	{22, "cudaErrorAddressOfConstant", "invalid address of constant"},
	{23, "cudaErrorTextureFetchFailed", "fetch from texture failed"},
	{24, "cudaErrorTextureNotBound", "cannot fetch from a texture that is not bound"},
	{25, "cudaErrorSynchronizationError", "incorrect use of __syncthreads()"},
	{CUDA_INVALID_FILTER_SETTING, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
	{27, "cudaErrorInvalidNormSetting", "read as normalized float not supported for data type"},
	{28, "cudaErrorMixedDeviceExecution", "device emulation mode and device execution mode cannot be mixed"},
	{31, "cudaErrorNotYetImplemented", "feature not yet implemented"},
	{32, "cudaErrorMemoryValueTooLarge", "memory size or pointer value too large to fit in 32 bit"},
	{34, "cudaErrorStubLibrary", "CUDA driver is a stub library"},
	{35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	{36, "cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"},
	{37, "cudaErrorInvalidSurface", "invalid surface reference"},
	{43, "cudaErrorDuplicateVariableName", "duplicate global variable looked up by string name"},
	{44, "cudaErrorDuplicateTextureName", "duplicate texture looked up by string name"},
	{45, "cudaErrorDuplicateSurfaceName", "duplicate surface looked up by string name"},
	{46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
	{49, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
	{CUDA_MISSING_CONFIGURATION, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
	{53, "cudaErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
	{65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
	{66, "cudaErrorLaunchFileScopedTex",
	 "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"},
	{67, "cudaErrorLaunchFileScopedSurf",
	 "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"},
	{68, "cudaErrorSyncDepthExceeded", "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"},
	{69, "cudaErrorLaunchPendingCountExceeded", "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
	{CUDA_INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{102, "cudaErrorDeviceNotLicensed", "device doesn't have valid Grid license"},
	{103, "cudaErrorSoftwareValidityNotEstablished", "integrity checks failed"},
	{127, "cudaErrorStartupFailure", "startup failure in cuda runtime"},
	{CUDA_INVALID_KERNEL_IMAGE, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
	{201, "cudaErrorDeviceUninitialized", "invalid device context"},
	{205, "cudaErrorMapBufferObjectFailed", "mapping of buffer object failed"},
	{206, "cudaErrorUnmapBufferObjectFailed", "unmapping of buffer object failed"},
	{207, "cudaErrorArrayIsMapped", "array is mapped"},
	{208, "cudaErrorAlreadyMapped", "resource already mapped"},
	{CUDA_NO_KERNEL_IMAGE_FOR_DEVICE, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
	{210, "cudaErrorAlreadyAcquired", "resource already acquired"},
	{211, "cudaErrorNotMapped", "resource not mapped"},
	{212, "cudaErrorNotMappedAsArray", "resource not mapped as array"},
	{213, "cudaErrorNotMappedAsPointer", "resource not mapped as pointer"},
	{214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
	{CUDA_UNSUPPORTED_LIMIT, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
	{216, "cudaErrorDeviceAlreadyInUse", "exclusive-thread device already in use by a different thread"},
	{CUDA_PEER_ACCESS_UNSUPPORTED, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
	{CUDA_INVALID_PTX, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
	{219, "cudaErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
	{220, "cudaErrorNvlinkUncorrectable", "uncorrectable NVLink error detected during the execution"},
	{221, "cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found"},
	{222, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
	{223, "cudaErrorJitCompilationDisabled", "PTX JIT compilation was disabled"},
	{224, "cudaErrorUnsupportedExecAffinity", "the provided execution affinity is not supported"},
	{225, "cudaErrorUnsupportedDevSideSync", "the provided PTX contains unsupported call to cudaDeviceSynchronize"},
	{226, "cudaErrorContained", "Invalid access of peer GPU memory over nvlink or a hardware error"},
	{300, "cudaErrorInvalidSource", "device kernel image is invalid"},
	{301, "cudaErrorFileNotFound", "file not found"},
	{302, "cudaErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
	{303, "cudaErrorSharedObjectInitFailed", "shared object initialization failed"},
	{CUDA_OPERATING_SYSTEM, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
	{CUDA_INVALID_RESOURCE_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
	{CUDA_ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
	{402, "cudaErrorLossyQuery", "attempted introspection would be semantically lossy"},
	{500, "cudaErrorSymbolNotFound", "named symbol not found"},
	{CUDA_NOT_READY, "cudaErrorNotReady", "device not ready"},
	{700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
	{CUDA_LAUNCH_OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
	{702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
	{703, "cudaErrorLaunchIncompatibleTexturing", "launch uses incompatible texturing mode"},
	{CUDA_PEER_ACCESS_ALREADY_ENABLED, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
	{CUDA_PEER_ACCESS_NOT_ENABLED, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
	{708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
	{709, "cudaErrorContextIsDestroyed", "context is destroyed"},
	{CUDA_ASSERT, "cudaErrorAssert", "device-side assert triggered"},
	{711, "cudaErrorTooManyPeers", "peer mapping resources exhausted"},
	{CUDA_HOST_MEMORY_ALREADY_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered",
	 "part or all of the requested memory range is already mapped"},
	{CUDA_HOST_MEMORY_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
	{714, "cudaErrorHardwareStackError", "hardware stack error"},
	{715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
	{716, "cudaErrorMisalignedAddress", "misaligned address"},
	{717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"},
	{718, "cudaErrorInvalidPc", "invalid program counter"},
	{719, "cudaErrorLaunchFailure", "unspecified launch failure"},
	{CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
	{721, "cudaErrorTensorMemoryLeak", "tensor memory not completely freed"},
	{800, "cudaErrorNotPermitted", "operation not permitted"},
	{CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
	{802, "cudaErrorSystemNotReady", "system not yet initialized"},
	{803, "cudaErrorSystemDriverMismatch", "system has unsupported display driver / cuda driver combination"},
	{804, "cudaErrorCompatNotSupportedOnDevice", "forward compatibility was attempted on non supported HW"},
	{805, "cudaErrorMpsConnectionFailed", "MPS client failed to connect to the MPS control daemon or the MPS server"},
	{806, "cudaErrorMpsRpcFailure", "the remote procedural call between the MPS server and the MPS client failed"},
	{807, "cudaErrorMpsServerNotReady", "MPS server is not ready to accept new MPS client requests"},
	{808, "cudaErrorMpsMaxClientsReached", "the hardware resources required to create MPS client have been exhausted"},
	{809, "cudaErrorMpsMaxConnectionsReached", "the hardware resources required to support device connections have been exhausted"},
	{810, "cudaErrorMpsClientTerminated", "the MPS client has been terminated by the server"},
	{811, "cudaErrorCdpNotSupported",
	 "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"},
	{812, "cudaErrorCdpVersionMismatch", "unsupported interaction between different versions of CUDA Dynamic Parallelism"},
	{CUDA_STREAM_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
	{CUDA_STREAM_CAPTURE_INVALIDATED, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
	{CUDA_STREAM_CAPTURE_MERGE, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
	{CUDA_STREAM_CAPTURE_UNMATCHED, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
	{CUDA_STREAM_CAPTURE_UNJOINED, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
	{CUDA_STREAM_CAPTURE_ISOLATION, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
	{CUDA_STREAM_CAPTURE_IMPLICIT, "cudaErrorStreamCaptureImplicit",
	 "operation would make the legacy stream depend on a capturing blocking stream"},
	{CUDA_CAPTURED_EVENT, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
	{908, "cudaErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"},
	{909, "cudaErrorTimeout", "wait operation timed out"},
	{CUDA_GRAPH_EXEC_UPDATE_FAILURE, "cudaErrorGraphExecUpdateFailure",
	 "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
	{911, "cudaErrorExternalDevice", "an async error has occured in external entity outside of CUDA"},
	{CUDA_INVALID_CLUSTER_SIZE, "cudaErrorInvalidClusterSize", "a kernel launch error has occurred due to cluster misconfiguration"},
	{913, "cudaErrorFunctionNotLoaded", "the function handle is not loaded when calling an API that requires a loaded function"},
	{914, "cudaErrorInvalidResourceType", "one or more resources passed in are not valid resource types for the operation"},
	{915, "cudaErrorInvalidResourceConfiguration", "one or more resources are insufficient or non-applicable for the operation"},
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

/* ---- callers of the driver ---- */

/* Libraries with kernels of their own have a runtime in them, which asks the driver for calls before it can launch any. */

static _Atomic(char *) first_caller;

void gt_cudart_driver_called_from(void *code)
{
	Dl_info about;
	char *none = NULL;

	if (atomic_load(&first_caller) || dladdr(code, &about) == 0 || !about.dli_fname)
		return;
	const char *slash = strrchr(about.dli_fname, '/'), *file = slash ? slash + 1 : about.dli_fname;
	char *name = gt_record_runs_kernels(file) ? strdup(file) : NULL;
	if (name && !atomic_compare_exchange_strong(&first_caller, &none, name))
		free(name);
}

/* The file name of the first library with kernels of its own that called the driver, or NULL. */
static const char *driver_caller(void)
{
	return atomic_load(&first_caller);
}

#define OPENCL "libOpenCL.so.1"
#define ENDLESS "the stream has no end (--ignore-unsupported gives it one)"

/* ---- the end ---- */

/* The file name of a library in this process that may have run kernels unseen, or NULL. OpenCL's do not come by this driver. */
static const char *find_library(void)
{
	void *opencl = dlopen(OPENCL, RTLD_LAZY | RTLD_NOLOAD);

	if (opencl)
		dlclose(opencl);
	return driver_caller() ? driver_caller() : opencl ? OPENCL : NULL;
}

/* How the program can go on without a library's kernels, or nothing. */
static void write_hint(const char *library, char hint[GT_RECORD_HINT])
{
	char folder[GT_TRACING_PATH];
	Dl_info self;

	hint[0] = '\0';
	if (dladdr((void *)(uintptr_t)gt_cudart_lock, &self) == 0 || !strrchr(self.dli_fname, '/'))
		return;
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname);
	gt_record_hint(folder, library, hint);
}

#define REASON 1024 /* bytes that hold any reason */

#define REFUSED (512 + GT_GPU_REASON) /* bytes that hold what is said of the first launch that returned an error */

static const char *describe_refused(char text[REFUSED])
{
	snprintf(text, REFUSED, "%s%s%s%s, %s (%s)", gt_cudart.refused_for, gt_cudart.refused_for[0] ? ": " : "", gt_cudart.refused > 1 ? "the first is " : "", gt_cudart.refused_first,
		 cudaGetErrorString(gt_cudart.refused_code), cudaGetErrorName(gt_cudart.refused_code));
	return text;
}

/* Why there was no launch. A program may have found out for itself that its PTX is not for the GPU. */
static void explain_none(char reason[REASON])
{
	char others[GT_GPU_REASON] = "", first[REFUSED];
	const struct gt_function *function = gt_cudart.functions;

	if (gt_cudart.refused > 0) {
		snprintf(reason, REASON, "each of the program's launches, %" PRIu64 ", returned an error: %s: " ENDLESS, gt_cudart.refused,
			 describe_refused(first));
		return;
	}
	while (function && !gt_cudart_is_for_others(function->fat, others))
		function = function->next;
	snprintf(reason, REASON, "the program asked the CUDA runtime for no launch: it launched no kernel%s%s: " ENDLESS, others[0] ? ": " : "",
		 others);
}

/* Notes whether this process has launches that the options choose, and arrays that they name. */
static void note_chosen(void)
{
	struct gt_together *together = gt_cudart.together;

	if (gt_ptx_recorder_check(gt_cudart.recorder, &together->unmatched) == 0 &&
	    gt_ptx_wishes_check(&gt_cudart.memory, &together->unmatched) == 0 && gt_cudart.launches > together->launches)
		together->chosen = true;
}

/* The same, of all processes. */
static void find_reason_of_all(char reason[REASON])
{
	const struct gt_together *together = gt_cudart.together;

	if (!together->chosen && together->unmatched.text[0])
		snprintf(reason, REASON, "%s", together->unmatched.text);
	else if (together->refused && !gt_cudart.record.tracing.ignore_unsupported)
		snprintf(reason, REASON, "work of a process is not in the stream, as another one was recorded at the same time: " ENDLESS);
	else if (gt_cudart.launches == 0 && !gt_cudart.record.tracing.ignore_unsupported)
		explain_none(reason);
}

/* Why work of this process may be missing, or "". */
static void find_reason(char reason[REASON])
{
	char summary[GT_PTX_FAULTS_TEXT], hint[GT_RECORD_HINT];
	bool none = gt_cudart.launches == 0;

	reason[0] = '\0';
	if (gt_ptx_notes_sum(&gt_cudart.notes, summary))
		snprintf(reason, REASON, "%s", summary);
	else if (gt_cudart.assertions > 0)
		snprintf(reason, REASON, "a kernel stopped at an assertion: the stream has no end");
	if (reason[0] || gt_cudart.record.tracing.ignore_unsupported)
		return;
	const char *library = find_library();
	write_hint(library ? library : "", hint);
	if (library)
		snprintf(reason, REASON, "%s is used, whose kernels are not seen here%s%s: " ENDLESS, library, hint,
			 none ? ", and the program launched no kernel of its own" : "");
	else if (gt_cudart.omissions > 0)
		snprintf(reason, REASON, "calls that are not supported would have made work or data%s: " ENDLESS,
			 none ? ", and the program launched no kernel" : "");
}

/* In the place of an end, a stream without all work has the reason, so that the next stage reports nothing more. */
static void write_end(const char *reason)
{
	struct gt_error error;
	int result = gt_writer_flush(gt_cudart.writer, &error);

	if (result == 0)
		result = reason[0] ? gt_writer_fail(gt_cudart.writer, "gtrace-record", reason, &error) : gt_writer_finish(gt_cudart.writer, &error);
	if (result != 0)
		gt_cudart_stop("%s", error.text);
	gt_writer_close(gt_cudart.writer);
	gt_cudart.writer = NULL;
	gt_cudart_stream_ended(!reason[0]);
}

static void say_names_left(void)
{
	static bool said;
	const char *names = gt_cudart.record.tracing.names;
	uint64_t n = names && *names;

	for (; names && *names; names++)
		n += *names == ',';
	if (n > gt_cudart.allocations && (gt_cudart.launches == 0 || gt_cudart.launches > gt_cudart.together->launches))
		gt_cudart_say_once(&said, "warning: --name has %" PRIu64 " names, and the program made %" PRIu64 " allocations", n,
				   gt_cudart.allocations);
}

/* How much work is not in the stream. */
static void say_stubbed(void)
{
	char flops[64] = "";

	if (gt_cudart.stubbed_flops > 0)
		snprintf(flops, sizeof flops, ", %" PRIu64 " flops of BLAS,", gt_cudart.stubbed_flops);
	gt_cudart_say("the work of %" PRIu64 " calls of libraries%s was done on the host: their accesses are not in the stream",
		      gt_cudart.stubbed, flops);
}

/* Launches without which the program went on. */
static void say_refused(void)
{
	static bool said;
	char first[REFUSED];

	if (gt_cudart.launches > 0 && gt_cudart.refused > 0)
		gt_cudart_say_once(&said, "warning: %" PRIu64 " launch%s returned an error, as on a GPU: %s", gt_cudart.refused,
				   gt_cudart.refused > 1 ? "es" : "", describe_refused(first));
}

static void end_stream(void)
{
	static bool said;
	char reason[REASON];
	struct gt_error error;
	(void)gt_cudart_may_work(); /* begins the stream if there was no work */
	if (gt_cudart.finish)
		gt_cudart.finish();
	gt_cudart_say_host_access();
	gt_cudart_note_launches();
	say_names_left();
	say_refused();
	if (gt_cudart.stubbed > 0)
		say_stubbed();
	note_chosen();
	find_reason(reason);
	if (!reason[0] && gt_ptx_recorder_finish(gt_cudart.recorder, &error) != 0)
		gt_cudart_stop("%s", error.text);
	if (!reason[0] && gt_cudart_leave_stream())
		return;
	if (!reason[0])
		find_reason_of_all(reason);
	if (reason[0])
		gt_cudart_say("%s", reason);
	write_end(reason);
	if (!reason[0] && gt_cudart.launches == 0)
		gt_cudart_say_once(&said, "warning: the program launched no kernel");
}

/* Runs after the program's own exit handlers. If the program is killed, the stream has no end record. */
__attribute__((destructor)) static void end(void)
{
	if (gt_cudart_ends_stream())
		end_stream();
}

__attribute__((constructor)) static void end_quickly_too(void)
{
	at_quick_exit(end);
}

/* A frame that a signal has interrupted. */
static _Unwind_Reason_Code find_interrupted(struct _Unwind_Context *frame, void *interrupted)
{
	int before = 0;

	(void)_Unwind_GetIPInfo(frame, &before);
	*(bool *)interrupted |= before != 0;
	return _URC_NO_REASON;
}

/* What a handler has interrupted, such as malloc, cannot be called in it. */
static bool is_in_handler(void)
{
	bool interrupted = false;

	_Unwind_Backtrace(find_interrupted, &interrupted);
	return interrupted;
}

/* The _exit of the program (Makefile), by which a process that is forked commonly ends. The stream gets no end while a thread is in a call. */
API _Noreturn void gt_cudart_exit(int status);
_Noreturn void gt_cudart_exit(int status)
{
	if (gt_cudart_ends_stream() && !is_in_handler() && pthread_mutex_trylock(&gt_cudart.lock) == 0 && gt_cudart.depth == 0)
		end_stream();
	for (;;)
		syscall(SYS_exit_group, status);
}
