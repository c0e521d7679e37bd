/* SPDX-License-Identifier: MIT */
/* The state of the stand-in runtime: its lock, how it opens, what each call begins and ends with, and errors. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/ptx/exec/memory.h"
#include "cuda/runtime/runtime.h"

/* ---- accesses of host code ---- */

/* Host code of the program that uses a pointer to device memory. On a GPU it crashes; here the memory is in the same process, so it
 * works, which a warning should say. While the program runs outside of the runtime, device memory is closed to it; the first access
 * opens it. Called under the runtime's lock. */

#define PAGE UINT64_C(4096) /* bytes; a multiple of this processor's, or nothing is closed */

/* Closing and opening costs time by the page, and by the call of the system. It is done as long as it stays far below the time
 * that the kernels take: some 0.02 s, and a 25th of theirs. */
#define CALL_COST 64 /* pages */
#define FREE_COST (UINT64_C(1) << 18)
#define INSTRUCTIONS_A_PAGE 128

#define FAULTS 64 /* at most: threads may fault at the same time */

static const struct gt_ptx_memory *memory; /* that is closed, or was */
static uint64_t closed_bytes; /* of device memory, from its begin; 0: it is open */
static uint64_t spent;
static volatile sig_atomic_t faults; /* accesses that were let through */
static volatile uintptr_t touched; /* the first of them; 0: none */
static bool catches;
static struct sigaction before;

#define FRAMES 64
#define IN_HANDLER 2 /* frames: the handler's, and the one that the system returns by */

/* The call of ours in which code of the program, or ours for it, faulted; NULL: it was in none. */
static const char *call_of_fault(void)
{
	void *frames[FRAMES];
	Dl_info self, about;
	const char *call = NULL;
	int n = backtrace(frames, FRAMES);

	if (dladdr((void *)(uintptr_t)gt_cudart_lock, &self) == 0)
		return NULL;
	for (int i = IN_HANDLER; i < n; i++) {
		if (dladdr(frames[i], &about) == 0)
			return call;
		if (about.dli_fbase == self.dli_fbase)
			call = about.dli_sname ? about.dli_sname : call;
		else if (call || !strstr(about.dli_fname, "libc.so")) /* memcpy for us is ours */
			return call;
	}
	return call;
}

/* For a program that ends here: by what it gave a call, such as a pointer to nowhere. */
static void say_fault(uintptr_t address)
{
	const char *call = before.sa_handler == SIG_DFL ? call_of_fault() : NULL;
	const char *suffix = call ? strstr(call, "_pt") : NULL; /* _ptds or _ptsz: of the same call */

	if (call && gt_cudart.running)
		gt_cudart_say("a fault of gtrace-record itself at address 0x%" PRIxPTR ", in kernel %s: please report it", address, gt_cudart.running);
	else if (call)
		gt_cudart_say("%.*s: the program ends by its own fault: what it gave the call leads to address 0x%" PRIxPTR
			      ", where there is no memory", suffix ? (int)(suffix - call) : (int)strlen(call), call, address);
}

/* Opens device memory and goes on, or leaves a real fault to whoever handled it before. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	bool sent = info->si_code <= 0; /* by a process */

	(void)context;
	if (sent || !memory || address < GT_PTX_GLOBAL_BASE || address - GT_PTX_GLOBAL_BASE >= memory->used || faults == FAULTS ||
	    mprotect(memory->host, (memory->used + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE) != 0) {
		sigaction(number, &before, NULL); /* the access faults again */
		if (sent)
			raise(number);
		else
			say_fault(address);
		return;
	}
	faults++;
	if (!touched)
		touched = address;
}

static bool catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	void *frame;

	if (catches)
		return true;
	sigemptyset(&action.sa_mask);
	backtrace(&frame, 1); /* the first one loads a library, which a handler may not */
	catches = sigaction(SIGSEGV, &action, &before) == 0;
	return catches;
}

/* The first address that host code accessed; 0: it has not been seen to. */
static uint64_t host_accessed(void)
{
	return touched;
}

/* What calls allocate on a device is the device's alone; variables may be managed. */
static bool is_for_host(const struct gt_ptx_allocation *allocation)
{
	return allocation->owner == GT_PTX_EVERYONE || allocation->call == 0;
}

static void close_pages(uint64_t from, uint64_t to)
{
	if (from < to)
		mprotect(memory->host + from, to - from, PROT_NONE);
}

/* When a call of the runtime begins, and when it ends: after so many warp instructions of kernels. */
static void open_host_access(void)
{
	if (closed_bytes > 0)
		mprotect(memory->host, closed_bytes, PROT_READ | PROT_WRITE);
	closed_bytes = 0;
}

/* Pages with memory that the host may use stay open. */
static void close_host_access(const struct gt_ptx_memory *device, uint64_t instructions)
{
	uint64_t end = (device->used + PAGE - 1) / PAGE * PAGE, from = 0, cost = end / PAGE + CALL_COST + device->n;

	if (touched || closed_bytes > 0 || end == 0 || (uintptr_t)device->host != GT_PTX_GLOBAL_BASE ||
	    spent + cost > FREE_COST + instructions / INSTRUCTIONS_A_PAGE || !catch_faults())
		return;
	memory = device;
	for (const struct gt_ptx_allocation *one = gt_ptx_live(device->first); one; one = gt_ptx_live(one->after)) {
		if (!is_for_host(one))
			continue;
		close_pages(from, (one->address - GT_PTX_GLOBAL_BASE) / PAGE * PAGE);
		from = (one->address + one->bytes - GT_PTX_GLOBAL_BASE + PAGE - 1) / PAGE * PAGE;
		cost += CALL_COST;
	}
	close_pages(from, end);
	closed_bytes = end;
	spent += cost;
}

#define MAPPING_LINE 512

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int last_error;
static _Thread_local bool used;
static _Thread_local unsigned in_driver; /* calls of the driver API that this thread is in */

void gt_cudart_say_host_access(void)
{
	static bool said;
	uint64_t address = host_accessed();

	if (!address || said)
		return;
	const struct gt_ptx_allocation *near = gt_ptx_nearest(&gt_cudart.memory, address);
	gt_cudart_say_once(&said, "warning: host code accesses device memory at 0x%" PRIx64 " ('%s'), which crashes with a GPU",
			   address, near ? near->name : "");
}

/* ---- initialisation ---- */

static void init_lock(void)
{
	pthread_mutexattr_t attributes;

	/* A host function called by a stream may call the runtime. */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&gt_cudart.lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	gt_cudart.depth = 0;
}

static void open_runtime(void)
{
	struct gt_recording *record = &gt_cudart.record;
	struct gt_error error;

	init_lock();
	pthread_atfork(NULL, NULL, init_lock); /* a thread that is not in the child may have the lock */
	gt_cudart.carveout = -1;
	if (gt_record_import(record, &error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.gpu = record->tracing.gpu.n > 0 ? &record->tracing.gpu : &record->gpu;
	if (gt_limits_load(&gt_cudart.limits, gt_cudart.gpu, &error) != 0 ||
	    gt_ptx_memory_open(&gt_cudart.memory, record->tracing.devices * record->tracing.device_memory, &error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.memory.advice = " (--memory gives it more)";
	gt_cudart.memory.places = record->tracing.places;
	if (record->tracing.check == GT_PTX_MEMCHECK && gt_ptx_memory_watch(&gt_cudart.memory, &error) != 0)
		gt_cudart_stop("%s", error.text);
	catch_faults();
	gt_cudart_take_token();
}

static void take_lock(void)
{
	pthread_once(&once, open_runtime);
	pthread_mutex_lock(&gt_cudart.lock);
	if (gt_cudart.depth++ == 0)
		open_host_access();
	gt_cudart.memory.changes += host_accessed() != 0; /* it may be again */
	gt_cudart_say_host_access();
}

static void give_lock(void)
{
	if (--gt_cudart.depth == 0 && !gt_cudart.record.quiet)
		close_host_access(&gt_cudart.memory, gt_cudart.instructions);
	pthread_mutex_unlock(&gt_cudart.lock);
}

static void finish(void)
{
	if (gt_cudart.finish)
		gt_cudart.finish();
}

void gt_cudart_lock(void)
{
	take_lock();
	finish();
	in_driver++;
}

void gt_cudart_unlock(void)
{
	in_driver--;
	give_lock();
}

void gt_cudart_enter_beside(void)
{
	take_lock();
	gt_cudart_called();
	used = used || in_driver == 0;
}

void gt_cudart_enter(void)
{
	gt_cudart_enter_beside();
	finish();
}

bool gt_cudart_used(void)
{
	return used;
}

/* A launch that fails returns success itself, since a GPU executes it later. */
int gt_cudart_failed(void)
{
	int code = gt_cudart.failed;

	gt_cudart.failed = gt_cudart.failing;
	return code;
}

int gt_cudart_leave(int code)
{
	int failed = gt_cudart_failed();

	if (failed)
		code = failed;
	if (code != CUDA_SUCCESS && in_driver == 0)
		last_error = code;
	give_lock();
	return code;
}

static int get_last_error(bool forget)
{
	int code = gt_cudart.failed ? gt_cudart.failed : last_error;

	if (forget)
		last_error = CUDA_SUCCESS;
	return code;
}

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
	return get_last_error(true);
}

API int cudaPeekAtLastError(void)
{
	return get_last_error(false);
}

/* ---- calls that are not supported ---- */

int gt_cudart_unsupported(struct gt_missing_call *call)
{
	if (!call->said) {
		call->said = true;
		gt_cudart.omissions += call->omits && gt_cudart_may_work();
		gt_cudart_say("%s: this call is not supported", call->name);
	}
	return CUDA_NOT_SUPPORTED;
}

int gt_cudart_refuse(const char *what)
{
	gt_cudart.omissions += gt_cudart_may_work();
	gt_cudart_say("%s: this is not supported", what);
	return CUDA_NOT_SUPPORTED;
}

/* ---- the process ---- */

size_t gt_cudart_readable(const void *address)
{
	FILE *mappings = fopen("/proc/self/maps", "r");
	char line[MAPPING_LINE];
	uint64_t begin, end, at = (uint64_t)(uintptr_t)address;
	char readable;

	/* Without the list the size in the container's header is used. */
	if (!mappings)
		return SIZE_MAX / 2;
	while (fgets(line, sizeof line, mappings)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &begin, &end, &readable) == 3 && readable == 'r' &&
		    begin <= at && at < end)
			at = end;
	}
	fclose(mappings);
	return (size_t)(at - (uint64_t)(uintptr_t)address);
}
