/* SPDX-License-Identifier: MIT */
/* Calls about devices. A CUdevice is the number of a device. */
#include <stdio.h>
#include <string.h>

#include "cuda/runtime/calls.h"
#include "cuda/driver/driver.h"


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
