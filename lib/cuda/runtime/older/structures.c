/* SPDX-License-Identifier: MIT */
/* Calls whose structures were shorter. */
#include <string.h>

#include "cuda/runtime/older/older.h"
#include "cuda/runtime/textures.h"

extern int cudaFuncGetAttributes(void *attributes, const void *function);
extern int cudaPointerGetAttributes(void *attributes, const void *pointer);
extern int cudaCreateTextureObject(uint64_t *handle, const struct gt_resource *resource, const struct gt_sampling *sampling,
				   const void *view);
extern int cudaCreateSurfaceObject(uint64_t *handle, const struct gt_resource *resource);
extern int cudaGetTextureObjectResourceDesc(struct gt_resource *resource, uint64_t handle);
extern int cudaGetTextureObjectTextureDesc(struct gt_sampling *sampling, uint64_t handle);
extern int cudaGetSurfaceObjectResourceDesc(struct gt_resource *resource, uint64_t handle);

/* Bytes of the structures as they were: the first ones of those of today. */
enum {
	FUNCTION_ATTRIBUTES_11 = 56,
	FUNCTION_ATTRIBUTES = 144,
	POINTER_ATTRIBUTES_12 = 24,
	POINTER_ATTRIBUTES = 88,
	RESOURCE_12 = 64,
	SAMPLING_11 = offsetof(struct gt_sampling, seamless_cube),
};

static int properties(unsigned char *to, int device)
{
	return gt_cudart_properties_11(to, device);
}
BEFORE_13(cudaGetDeviceProperties, properties);

static int function_attributes(void *to, const void *function)
{
	unsigned char all[FUNCTION_ATTRIBUTES];
	int code = to ? cudaFuncGetAttributes(all, function) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, all, FUNCTION_ATTRIBUTES_11);
	return code;
}
IN_11(cudaFuncGetAttributes, function_attributes);

static int pointer_attributes(void *to, const void *pointer)
{
	unsigned char all[POINTER_ATTRIBUTES];
	int code = to ? cudaPointerGetAttributes(all, pointer) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, all, POINTER_ATTRIBUTES_12);
	return code;
}
BEFORE_13(cudaPointerGetAttributes, pointer_attributes);

static const struct gt_resource *widened(struct gt_resource *to, const void *from)
{
	*to = (struct gt_resource){0};
	if (from)
		memcpy(to, from, RESOURCE_12);
	return from ? to : NULL;
}

static int texture_12(uint64_t *handle, const void *resource, const struct gt_sampling *sampling, const void *view)
{
	struct gt_resource of;

	return cudaCreateTextureObject(handle, widened(&of, resource), sampling, view);
}
IN_12(cudaCreateTextureObject, texture_12);

static int texture_11(uint64_t *handle, const void *resource, const void *sampling, const void *view)
{
	struct gt_sampling as = {0};

	if (sampling)
		memcpy(&as, sampling, SAMPLING_11);
	return texture_12(handle, resource, sampling ? &as : NULL, view);
}
IN_11(cudaCreateTextureObject, texture_11);

static int surface(uint64_t *handle, const void *resource)
{
	struct gt_resource of;

	return cudaCreateSurfaceObject(handle, widened(&of, resource));
}
BEFORE_13(cudaCreateSurfaceObject, surface);

static int narrowed(void *to, const struct gt_resource *from, int code)
{
	if (code == CUDA_SUCCESS)
		memcpy(to, from, RESOURCE_12);
	return code;
}

static int texture_resource(void *to, uint64_t handle)
{
	struct gt_resource of = {0};
	int code = to ? cudaGetTextureObjectResourceDesc(&of, handle) : CUDA_INVALID_VALUE;

	return narrowed(to, &of, code);
}
BEFORE_13(cudaGetTextureObjectResourceDesc, texture_resource);

static int surface_resource(void *to, uint64_t handle)
{
	struct gt_resource of = {0};
	int code = to ? cudaGetSurfaceObjectResourceDesc(&of, handle) : CUDA_INVALID_VALUE;

	return narrowed(to, &of, code);
}
BEFORE_13(cudaGetSurfaceObjectResourceDesc, surface_resource);

static int texture_sampling(void *to, uint64_t handle)
{
	struct gt_sampling as = {0};
	int code = to ? cudaGetTextureObjectTextureDesc(&as, handle) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, &as, SAMPLING_11);
	return code;
}
IN_11(cudaGetTextureObjectTextureDesc, texture_sampling);
