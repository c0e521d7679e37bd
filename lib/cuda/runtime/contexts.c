/* SPDX-License-Identifier: MIT */
/* How many devices there are, which one a thread uses, and which may access the memory of another. */
#include "cuda/runtime/runtime.h"

#define STACK 64 /* contexts that a thread may push */

static struct gt_context primaries[GT_TRACING_DEVICES];
static _Thread_local struct gt_context *stack[STACK];
static _Thread_local unsigned depth;

int gt_cudart_devices(void)
{
	return (int)gt_cudart.record.tracing.devices;
}

bool gt_cudart_is_device(int device)
{
	return device >= 0 && device < gt_cudart_devices();
}

int gt_cudart_device(void)
{
	const struct gt_context *context = gt_context_current();

	return context ? context->device : 0;
}

struct gt_context *gt_context_primary(int device)
{
	primaries[device].device = device;
	primaries[device].primary = true;
	return &primaries[device];
}

struct gt_context *gt_context_current(void)
{
	return depth > 0 ? stack[depth - 1] : NULL;
}

bool gt_context_push(struct gt_context *context)
{
	if (depth == STACK)
		return false;
	stack[depth++] = context;
	return true;
}

struct gt_context *gt_context_pop(void)
{
	return depth > 0 ? stack[--depth] : NULL;
}

bool gt_context_set(struct gt_context *context)
{
	gt_context_pop();
	return !context || gt_context_push(context);
}

/* ---- access of devices to each other's memory: each can have it, and has it once the program enables it ---- */

enum { PERFORMANCE_RANK = 1, ACCESS_SUPPORTED, NATIVE_ATOMICS, ARRAY_ACCESS }; /* cudaDeviceP2PAttr */

int gt_peers_enable(int device, int peer, unsigned flags)
{
	if (!gt_cudart_is_device(peer))
		return CUDA_INVALID_DEVICE;
	if (peer == device)
		return CUDA_PEER_ACCESS_UNSUPPORTED;
	if (flags != 0)
		return CUDA_INVALID_VALUE;
	if (gt_cudart.peers[device] >> peer & 1)
		return CUDA_PEER_ACCESS_ALREADY_ENABLED;
	gt_cudart.peers[device] |= UINT32_C(1) << peer;
	return CUDA_SUCCESS;
}

int gt_peers_disable(int device, int peer)
{
	if (!gt_cudart_is_device(peer))
		return CUDA_INVALID_DEVICE;
	if (!(gt_cudart.peers[device] >> peer & 1))
		return CUDA_PEER_ACCESS_NOT_ENABLED;
	gt_cudart.peers[device] &= ~(UINT32_C(1) << peer);
	return CUDA_SUCCESS;
}

API int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	gt_cudart_enter();
	if (!can || !gt_cudart_is_device(device) || !gt_cudart_is_device(peer))
		return gt_cudart_leave(can ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*can = device != peer;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_peers_enable(gt_cudart_device(), peer, flags));
}

API int cudaDeviceDisablePeerAccess(int peer)
{
	gt_cudart_enter();
	return gt_cudart_leave(gt_peers_disable(gt_cudart_device(), peer));
}

/* All pairs of devices are alike: rank 0 is the best. */
API int cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
	gt_cudart_enter();
	if (!gt_cudart_is_device(device) || !gt_cudart_is_device(peer) || device == peer)
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	if (!value || attribute < PERFORMANCE_RANK || attribute > ARRAY_ACCESS)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*value = attribute != PERFORMANCE_RANK;
	return gt_cudart_leave(CUDA_SUCCESS);
}
