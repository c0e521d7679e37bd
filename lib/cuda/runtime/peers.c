/* SPDX-License-Identifier: MIT */
/* Access of devices to each other's memory: each can have it, and has it once the program enables it. */
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/peers.h"
#include "cuda/runtime/runtime.h"

enum { PERFORMANCE_RANK = 1, ACCESS_SUPPORTED, NATIVE_ATOMICS, ARRAY_ACCESS }; /* cudaDeviceP2PAttr */

int gt_peers_enable(int device, int peer, unsigned flags)
{
	if (!gt_cudart_is_device(peer) || peer == device)
		return CUDA_INVALID_DEVICE;
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
