/* SPDX-License-Identifier: MIT */
/* Devices and contexts. A CUdevice is the number of a device. Memory belongs to a device and not to a context: it outlives the
 * context that it was allocated in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/runtime.h"

#define FLAGS_MASK 0xffU
#define API_VERSION 3020

/* ---- primary contexts ---- */

static int retain(struct gt_context **to, int device)
{
	if (!to || !gt_cudart_is_device(device))
		return to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
	*to = gt_context_primary(device);
	(*to)->uses++;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuDevicePrimaryCtxRetain, (struct gt_context **to, int device), retain(to, device))

static int release(int device)
{
	if (!gt_cudart_is_device(device))
		return CUDA_INVALID_DEVICE;
	struct gt_context *context = gt_context_primary(device);
	if (context->uses == 0)
		return CU_INVALID_CONTEXT;
	context->uses--;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuDevicePrimaryCtxRelease_v2, (int device), release(device))
DRIVER_ANYWHERE(cuDevicePrimaryCtxRelease, (int device), release(device))

static int reset(int device)
{
	if (!gt_cudart_is_device(device))
		return CUDA_INVALID_DEVICE;
	gt_cudart_reset(device);
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuDevicePrimaryCtxReset_v2, (int device), reset(device))
DRIVER_ANYWHERE(cuDevicePrimaryCtxReset, (int device), reset(device))

static int state(int device, unsigned *flags, int *active)
{
	if (!gt_cudart_is_device(device) || !flags || !active)
		return gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE;
	const struct gt_context *context = gt_context_primary(device);
	*flags = context->flags;
	*active = context->uses > 0 || (gt_cudart_used() && gt_cudart_device() == device);
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuDevicePrimaryCtxGetState, (int device, unsigned *flags, int *active), state(device, flags, active))

static int set_primary_flags(int device, unsigned flags)
{
	if (!gt_cudart_is_device(device) || flags & ~FLAGS_MASK)
		return gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE;
	gt_context_primary(device)->flags = flags;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned flags), set_primary_flags(device, flags))
DRIVER_ANYWHERE(cuDevicePrimaryCtxSetFlags, (int device, unsigned flags), set_primary_flags(device, flags))

/* ---- those that programs make ---- */

static int create(struct gt_context **to, unsigned flags, int device)
{
	if (!to || flags & ~FLAGS_MASK)
		return CUDA_INVALID_VALUE;
	if (!gt_cudart_is_device(device))
		return CUDA_INVALID_DEVICE;
	struct gt_context *made = gt_handle_made(GT_CONTEXT, calloc(1, sizeof *made));
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	*made = (struct gt_context){.device = device, .flags = flags};
	if (!gt_context_push(made)) {
		gt_handle_free(made);
		return CUDA_MEMORY_ALLOCATION;
	}
	*to = made;
	return CUDA_SUCCESS;
}

/* CUctxCreateParams: SMs kept for the context, or a share of a process's. */
struct create_parameters {
	const void *affinity;
	int n_affinity;
	const void *cig;
};

static int create_with(struct gt_context **to, bool special, unsigned flags, int device)
{
	return special ? gt_cudart_refuse("a context with a part of the device") : create(to, flags, device);
}

DRIVER_ANYWHERE(cuCtxCreate_v2, (struct gt_context **to, unsigned flags, int device), create(to, flags, device))
DRIVER_ANYWHERE(cuCtxCreate_v3, (struct gt_context **to, const void *affinity, int n, unsigned flags, int device),
		create_with(to, affinity && n > 0, flags, device))
DRIVER_ANYWHERE(cuCtxCreate_v4,
		(struct gt_context **to, const struct create_parameters *parameters, unsigned flags, int device),
		create_with(to, parameters && (parameters->n_affinity > 0 || parameters->cig), flags, device))

/* A context that was made, if perhaps destroyed, or a primary one. */
static bool is_context(const struct gt_context *context)
{
	for (int device = 0; device < gt_cudart_devices(); device++)
		if (context == gt_context_primary(device))
			return true;
	return gt_is(GT_CONTEXT, context);
}

static int destroy(struct gt_context *context)
{
	if (!is_context(context) || context->primary)
		return context ? CU_INVALID_CONTEXT : CUDA_INVALID_VALUE;
	if (context->destroyed)
		return CU_CONTEXT_IS_DESTROYED;
	context->destroyed = true;
	gt_driver_unload(context);
	if (gt_context_current() == context)
		gt_context_pop();
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuCtxDestroy_v2, (struct gt_context *context), destroy(context))
DRIVER_ANYWHERE(cuCtxDestroy, (struct gt_context *context), destroy(context))
DRIVER_ANYWHERE(cuCtxDetach, (struct gt_context *context), destroy(context))

/* ---- the thread's stack ---- */

static int push(struct gt_context *context)
{
	if (!is_context(context) || context->destroyed)
		return is_context(context) ? CU_CONTEXT_IS_DESTROYED : CU_INVALID_CONTEXT;
	return gt_context_push(context) ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

DRIVER_ANYWHERE(cuCtxPushCurrent_v2, (struct gt_context *context), push(context))
DRIVER_ANYWHERE(cuCtxPushCurrent, (struct gt_context *context), push(context))

static int pop(struct gt_context **to)
{
	struct gt_context *context = gt_context_pop();

	if (context && to)
		*to = context;
	return context ? CUDA_SUCCESS : CU_INVALID_CONTEXT;
}

DRIVER_ANYWHERE(cuCtxPopCurrent_v2, (struct gt_context **to), pop(to))
DRIVER_ANYWHERE(cuCtxPopCurrent, (struct gt_context **to), pop(to))

/* One that was destroyed becomes current, too: the calls that need it say so. */
static int set(struct gt_context *context)
{
	if (context && !is_context(context))
		return CU_INVALID_CONTEXT;
	return gt_context_set(context) ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

DRIVER_ANYWHERE(cuCtxSetCurrent, (struct gt_context *context), set(context))
DRIVER_ANYWHERE(cuCtxGetCurrent, (struct gt_context **to),
		to ? (*to = gt_driver_context(), CUDA_SUCCESS) : CUDA_INVALID_VALUE)

/* ---- what a context has ---- */

DRIVER(cuCtxGetDevice, (int *device), device ? (*device = gt_driver_context()->device, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuCtxSynchronize, (void), CUDA_SUCCESS)
DRIVER(cuCtxGetFlags, (unsigned *flags), flags ? (*flags = gt_driver_context()->flags, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuCtxSetFlags, (unsigned flags),
       flags & ~FLAGS_MASK ? CUDA_INVALID_VALUE : (gt_driver_context()->flags = flags, CUDA_SUCCESS))
DRIVER(cuCtxGetId, (struct gt_context *context, unsigned long long *id),
       id ? (*id = (uintptr_t)(context ? context : gt_driver_context()), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuCtxGetApiVersion, (struct gt_context *context, unsigned *version),
       version ? ((void)context, *version = API_VERSION, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuCtxSetLimit, (unsigned limit, size_t value), cudaDeviceSetLimit(limit, value))
DRIVER(cuCtxGetLimit, (size_t *value, unsigned limit), cudaDeviceGetLimit(value, limit))
DRIVER(cuCtxSetCacheConfig, (int config), cudaDeviceSetCacheConfig(config))
DRIVER(cuCtxGetCacheConfig, (int *config), config ? cudaDeviceGetCacheConfig(config) : CUDA_INVALID_VALUE)
DRIVER(cuCtxSetSharedMemConfig, (int config), cudaDeviceSetSharedMemConfig(config))
DRIVER(cuCtxGetSharedMemConfig, (int *config), config ? cudaDeviceGetSharedMemConfig(config) : CUDA_INVALID_VALUE)
DRIVER(cuCtxGetStreamPriorityRange, (int *least, int *greatest), cudaDeviceGetStreamPriorityRange(least, greatest))
DRIVER(cuCtxResetPersistingL2Cache, (void), cudaCtxResetPersistingL2Cache())

/* Access is between devices, whatever their contexts. */
static int peer_access(const struct gt_context *peer, bool enable, unsigned flags)
{
	int device = gt_driver_context()->device;

	if (!is_context(peer) || peer->destroyed)
		return CU_INVALID_CONTEXT;
	return enable ? gt_peers_enable(device, peer->device, flags) : gt_peers_disable(device, peer->device);
}

DRIVER(cuCtxEnablePeerAccess, (const struct gt_context *peer, unsigned flags), peer_access(peer, true, flags))
DRIVER(cuCtxDisablePeerAccess, (const struct gt_context *peer), peer_access(peer, false, 0))
DRIVER_ANYWHERE(cuDeviceGetP2PAttribute, (int *value, int attribute, int device, int peer),
		cudaDeviceGetP2PAttribute(value, attribute, device, peer))

/* CUDA 13 asks the same of a context that need not be current. */
static int of_context(const struct gt_context *context, int *device)
{
	if (!context)
		context = gt_driver_context();
	if (!is_context(context))
		return CU_INVALID_CONTEXT;
	if (context->destroyed)
		return CU_CONTEXT_IS_DESTROYED;
	if (device)
		*device = context->device;
	return CUDA_SUCCESS;
}

DRIVER(cuCtxGetDevice_v2, (int *device, const struct gt_context *context),
       device ? of_context(context, device) : CUDA_INVALID_VALUE)
DRIVER(cuCtxSynchronize_v2, (const struct gt_context *context), of_context(context, NULL))
DRIVER(cuCtxRecordEvent, (const struct gt_context *context, struct gt_cuda_event *event),
       of_context(context, NULL) ? CU_INVALID_CONTEXT : cudaEventRecordWithFlags(event, NULL, 0))
DRIVER(cuCtxWaitEvent, (const struct gt_context *context, const struct gt_cuda_event *event),
       of_context(context, NULL) || !gt_is(GT_EVENT, event) ? CU_INVALID_CONTEXT : CUDA_SUCCESS)

/* ---- devices ---- */

API int cuDriverGetVersion(int *version)
{
	return version ? cudaDriverGetVersion(version) : CUDA_INVALID_VALUE;
}

DRIVER_ANYWHERE(cuDeviceGetCount, (int *n), n ? (*n = gt_cudart_devices(), CUDA_SUCCESS) : CUDA_INVALID_VALUE)

static int check(const void *to, int device)
{
	if (!gt_cudart_is_device(device))
		return CUDA_INVALID_DEVICE;
	return to ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static int device_of(int *device, int number)
{
	int code = check(device, number);

	if (code == CUDA_SUCCESS)
		*device = number;
	return code;
}

DRIVER_ANYWHERE(cuDeviceGet, (int *device, int number), device_of(device, number))

static int name_of(char *name, int bytes, int device)
{
	const char *is = gt_gpu_get(gt_cudart.gpu, "name");
	int code = check(name, device);

	if (code == CUDA_SUCCESS && bytes <= 0)
		code = CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		snprintf(name, (size_t)bytes, "%s", is ? is : "gtrace");
	return code;
}

DRIVER_ANYWHERE(cuDeviceGetName, (char *name, int bytes, int device), name_of(name, bytes, device))

static int total_memory(size_t *bytes, int device)
{
	int code = check(bytes, device);

	if (code == CUDA_SUCCESS)
		*bytes = gt_cudart.record.tracing.device_memory;
	return code;
}

DRIVER_ANYWHERE(cuDeviceTotalMem_v2, (size_t *bytes, int device), total_memory(bytes, device))

DRIVER_ANYWHERE(cuDeviceGetAttribute, (int *value, int attribute, int device),
		cudaDeviceGetAttribute(value, attribute, device))

static int capability_of(int *major, int *minor, int device)
{
	int code = check(major && minor ? major : NULL, device);

	if (code == CUDA_SUCCESS) {
		*major = (int)gt_cudart_capability() / 10;
		*minor = (int)gt_cudart_capability() % 10;
	}
	return code;
}

DRIVER_ANYWHERE(cuDeviceComputeCapability, (int *major, int *minor, int device), capability_of(major, minor, device))

static int uuid_of(unsigned char uuid[GT_UUID_BYTES], int device)
{
	int code = check(uuid, device);

	if (code == CUDA_SUCCESS)
		gt_cudart_uuid(uuid, device);
	return code;
}

DRIVER_ANYWHERE(cuDeviceGetUuid, (unsigned char *uuid, int device), uuid_of(uuid, device))
DRIVER_ANYWHERE(cuDeviceGetUuid_v2, (unsigned char *uuid, int device), uuid_of(uuid, device))
DRIVER_ANYWHERE(cuDeviceGetPCIBusId, (char *text, int bytes, int device), cudaDeviceGetPCIBusId(text, bytes, device))
DRIVER_ANYWHERE(cuDeviceGetByPCIBusId, (int *device, const char *text), cudaDeviceGetByPCIBusId(device, text))

/* CUdevprop, which programs of before CUDA 5 use. */
struct properties {
	int threads_block, threads_dim[3], grid[3], shared_block, constant, warp, pitch, registers_block, clock, alignment;
};

static int properties_of(struct properties *to, int device)
{
	static const int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	int code = check(to, device), values[sizeof attributes / sizeof *attributes];

	for (size_t i = 0; code == CUDA_SUCCESS && i < sizeof attributes / sizeof *attributes; i++)
		code = cudaDeviceGetAttribute(&values[i], attributes[i], device);
	if (code == CUDA_SUCCESS)
		memcpy(to, values, sizeof *to);
	return code;
}

DRIVER_ANYWHERE(cuDeviceGetProperties, (struct properties *to, int device), properties_of(to, device))

/* No unit of execution of a device is kept for a context. */
static int affinity_support(int *supported, int device)
{
	int code = check(supported, device);

	if (code == CUDA_SUCCESS)
		*supported = 0;
	return code;
}

DRIVER_ANYWHERE(cuDeviceGetExecAffinitySupport, (int *supported, int type, int device),
		((void)type, affinity_support(supported, device)))
DRIVER_ANYWHERE(cuDeviceCanAccessPeer, (int *can, int device, int peer), cudaDeviceCanAccessPeer(can, device, peer))
