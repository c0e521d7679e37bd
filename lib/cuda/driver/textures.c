/* SPDX-License-Identifier: MIT */
/* Texture and surface objects: the driver's descriptions in terms of the runtime's. */
#include <string.h>

#include "cuda/driver/arrays.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/textures.h"

extern int cudaCreateTextureObject(uint64_t *handle, const struct gt_resource *resource, const struct gt_sampling *sampling,
				   const void *view);
extern int cudaDestroyTextureObject(uint64_t handle);
extern int cudaCreateSurfaceObject(uint64_t *handle, const struct gt_resource *resource);
extern int cudaDestroySurfaceObject(uint64_t handle);

/* CUDA_RESOURCE_DESC */
struct resource {
	enum gt_resource_type type;
	union {
		struct gt_array *array;
		struct {
			uint64_t at;
			unsigned format, n;
			size_t bytes;
		} linear;
		struct {
			uint64_t at;
			unsigned format, n;
			size_t width, height, pitch;
		} pitched;
		int reserved[32];
	} of;
	unsigned flags;
};

/* CUDA_TEXTURE_DESC, and its flags */
enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, NO_TRILINEAR_OPTIMIZATION = 0x20, SEAMLESS_CUBE = 0x40 };
struct sampling {
	unsigned modes[3], filter, flags, anisotropy, mipmap_filter;
	float mipmap_bias, mipmap_least, mipmap_most, border[4];
	int reserved[12];
};

static int take_resource(struct gt_resource *to, const struct resource *from)
{
	*to = (struct gt_resource){.type = from->type, .flags = from->flags};
	switch (from->type) {
	case GT_RESOURCE_ARRAY:
	case GT_RESOURCE_MIPMAPPED_ARRAY:
		to->of.array = from->of.array;
		return CUDA_SUCCESS;
	case GT_RESOURCE_LINEAR:
		to->of.linear.at = gt_driver_pointer(from->of.linear.at);
		to->of.linear.bytes = from->of.linear.bytes;
		return gt_driver_channels(&to->of.linear.channels, from->of.linear.format, from->of.linear.n);
	case GT_RESOURCE_PITCH_2D:
		to->of.pitched.at = gt_driver_pointer(from->of.pitched.at);
		to->of.pitched.width = from->of.pitched.width;
		to->of.pitched.height = from->of.pitched.height;
		to->of.pitched.pitch = from->of.pitched.pitch;
		return gt_driver_channels(&to->of.pitched.channels, from->of.pitched.format, from->of.pitched.n);
	}
	return CUDA_INVALID_VALUE;
}

/* Integers are read as fractions unless a flag says otherwise; floats, and integers of 32 bits, as they are. */
static void take_sampling(struct gt_sampling *to, const struct sampling *from, const struct gt_resource *resource)
{
	const struct gt_array *array = resource->type == GT_RESOURCE_ARRAY ? gt_cudart_array(resource->of.array) : NULL;
	const struct gt_channels *channels = array ? &array->channels
					     : resource->type == GT_RESOURCE_PITCH_2D ? &resource->of.pitched.channels
										     : &resource->of.linear.channels;

	*to = (struct gt_sampling){
		.filter = from->filter,
		.read_mode = !(from->flags & READ_AS_INTEGER) && channels->kind != GT_PTX_CHANNEL_FLOAT && channels->bits[0] < 32,
		.srgb = (from->flags & SRGB) != 0,
		.normalized = (from->flags & NORMALIZED) != 0,
		.anisotropy = from->anisotropy,
		.mipmap_filter = from->mipmap_filter,
		.mipmap_bias = from->mipmap_bias,
		.mipmap_least = from->mipmap_least,
		.mipmap_most = from->mipmap_most,
		.no_trilinear_optimization = (from->flags & NO_TRILINEAR_OPTIMIZATION) != 0,
		.seamless_cube = (from->flags & SEAMLESS_CUBE) != 0,
	};
	memcpy(to->modes, from->modes, sizeof to->modes);
	memcpy(to->border, from->border, sizeof to->border);
}

static int create_texture(uint64_t *handle, const struct resource *resource, const struct sampling *sampling, const void *view)
{
	struct gt_resource of;
	struct gt_sampling as;
	int code = handle && resource && sampling ? take_resource(&of, resource) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	take_sampling(&as, sampling, &of);
	return cudaCreateTextureObject(handle, &of, &as, view);
}

static int create_surface(uint64_t *handle, const struct resource *resource)
{
	struct gt_resource of;
	int code = handle && resource ? take_resource(&of, resource) : CUDA_INVALID_VALUE;

	return code == CUDA_SUCCESS ? cudaCreateSurfaceObject(handle, &of) : code;
}

DRIVER(cuTexObjectCreate,
       (uint64_t *handle, const struct resource *resource, const struct sampling *sampling, const void *view),
       create_texture(handle, resource, sampling, view))
DRIVER(cuTexObjectDestroy, (uint64_t handle), cudaDestroyTextureObject(handle))
DRIVER(cuSurfObjectCreate, (uint64_t *handle, const struct resource *resource), create_surface(handle, resource))
DRIVER(cuSurfObjectDestroy, (uint64_t handle), cudaDestroySurfaceObject(handle))
