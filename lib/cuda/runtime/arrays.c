/* SPDX-License-Identifier: MIT */
/* CUDA arrays: device memory whose layout the program does not see; and texture and surface objects, which read and write it. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/texture.h"
#include "cuda/runtime/work.h"
#include "cuda/runtime/runtime.h"

/* cudaArray... */
enum { LAYERED = 1, SURFACE = 2, CUBEMAP = 4, GATHER = 8 };

/* The largest extents of every GPU since compute capability 6 (CUDA Programming Guide, "Compute Capabilities"). */
static const struct {
	unsigned dimensions;
	bool layered, cube;
	size_t width, height, depth;
} largest[] = {
	{1, false, false, 131072, 1, 1},	 {2, false, false, 131072, 65536, 1}, {3, false, false, 16384, 16384, 16384},
	{1, true, false, 32768, 1, 2048},	 {2, true, false, 32768, 32768, 2048}, {2, false, true, 32768, 32768, 6},
	{2, true, true, 32768, 32768, 2046},
};

static struct gt_array *arrays;
static struct gt_mipmapped *mipmapped;

struct gt_array *gt_cudart_array(const void *handle)
{
	struct gt_array *array = arrays;

	while (array && array != handle)
		array = array->next;
	return array;
}

/* The mipmapped array of a handle; NULL if there is none. */
static struct gt_mipmapped *gt_cudart_mipmapped(const void *handle)
{
	struct gt_mipmapped *one = mipmapped;

	while (one && one != handle)
		one = one->next;
	return one;
}

static bool has_memory(const struct gt_array *array)
{
	return gt_ptx_at(&gt_cudart.memory, array->image.address, 1);
}

/* Those whose memory was freed. */
static void forget_arrays(void)
{
	for (struct gt_mipmapped **link = &mipmapped, *one; (one = *link);) {
		if (has_memory(one->levels[0])) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		free(one);
	}
	for (struct gt_array **link = &arrays, *one; (one = *link);) {
		if (has_memory(one)) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		free(one);
	}
}

/* Fills in the channels of an image. Returns a code; formats that are not supported are named. */
static int gt_cudart_channels(struct gt_ptx_image *image, const struct gt_channels *channels)
{
	int bits = channels->bits[0], n = 0;

	while (n < 4 && channels->bits[n] != 0)
		n++;
	if (channels->kind > GT_PTX_CHANNEL_FLOAT)
		return gt_cudart_refuse("a channel format other than signed, unsigned and float");
	for (int i = 0; i < 4; i++)
		if (channels->bits[i] != (i < n ? bits : 0))
			return CUDA_INVALID_CHANNEL_DESCRIPTOR;
	if (n == 0 || n == 3 || (bits != 8 && bits != 16 && bits != 32) ||
	    (bits == 8 && channels->kind == GT_PTX_CHANNEL_FLOAT))
		return CUDA_INVALID_CHANNEL_DESCRIPTOR;
	image->channels = (uint8_t)n;
	image->channel_bytes = (uint8_t)(bits / 8);
	image->kind = (uint8_t)channels->kind;
	return CUDA_SUCCESS;
}

/* Fills in the extent. False if no array can have it. */
static bool shape(struct gt_ptx_image *image, struct gt_extent extent, unsigned flags)
{
	image->layered = flags & LAYERED;
	image->cube = flags & CUBEMAP;
	image->dimensions = extent.height == 0 ? 1 : extent.depth == 0 || image->layered || image->cube ? 2 : 3;
	if (extent.width == 0 || ((image->layered || image->cube) && extent.depth == 0) ||
	    (image->dimensions == 1 && extent.depth > 0 && !image->layered) ||
	    (image->cube && (extent.width != extent.height || extent.depth % 6 != 0)))
		return false;
	extent.height += extent.height == 0;
	extent.depth += extent.depth == 0;
	for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++)
		if (largest[i].dimensions == image->dimensions && largest[i].layered == image->layered &&
		    largest[i].cube == image->cube &&
		    (extent.width > largest[i].width || extent.height > largest[i].height || extent.depth > largest[i].depth))
			return false;
	image->width = (uint32_t)extent.width;
	image->height = (uint32_t)extent.height;
	image->depth = (uint32_t)extent.depth;
	return true;
}

static int allocate(struct gt_array **handle, const struct gt_channels *channels, struct gt_extent extent, unsigned flags,
		    const char *call)
{
	struct gt_ptx_image image = {0};
	void *memory = NULL;

	if (!handle || !channels)
		return CUDA_INVALID_VALUE;
	*handle = NULL;
	if (flags & ~(unsigned)(LAYERED | SURFACE | CUBEMAP | GATHER))
		return gt_cudart_refuse("an array that is sparse, mapped later or a colour attachment");
	int code = gt_cudart_channels(&image, channels);
	if (code == CUDA_SUCCESS && !shape(&image, extent, flags))
		code = CUDA_INVALID_VALUE;
	if (code != CUDA_SUCCESS)
		return code;
	gt_ptx_image_arrange(&image);
	struct gt_array *array = malloc(sizeof *array);
	code = array ? gt_cudart_allocate(&memory, image.bytes, call) : CUDA_MEMORY_ALLOCATION;
	if (code != CUDA_SUCCESS) {
		free(array);
		return code;
	}
	image.address = gt_cudart_address(memory);
	*array = (struct gt_array){.image = image, .channels = *channels, .extent = extent, .flags = flags, .next = arrays};
	*handle = arrays = array;
	return CUDA_SUCCESS;
}

API int cudaMalloc3DArray(struct gt_array **handle, const struct gt_channels *channels, struct gt_extent extent,
			  unsigned flags)
{
	gt_cudart_enter();
	return gt_cudart_leave(allocate(handle, channels, extent, flags, "cudaMalloc3DArray"));
}

API int cudaMallocArray(struct gt_array **handle, const struct gt_channels *channels, size_t width, size_t height,
			unsigned flags)
{
	gt_cudart_enter();
	return gt_cudart_leave(flags & (LAYERED | CUBEMAP) ? CUDA_INVALID_VALUE
							     : allocate(handle, channels, (struct gt_extent){width, height, 0},
									flags, "cudaMallocArray"));
}

/* Returns a code. */
static int discard(struct gt_array *handle)
{
	struct gt_array **place = &arrays;

	while (*place && *place != handle)
		place = &(*place)->next;
	if (!*place)
		return CUDA_INVALID_RESOURCE_HANDLE;
	*place = handle->next;
	int code = gt_cudart_release((void *)(uintptr_t)handle->image.address);
	free(handle);
	return code;
}

API int cudaFreeArray(struct gt_array *handle)
{
	gt_cudart_enter();
	if (!handle)
		return gt_cudart_leave(CUDA_SUCCESS);
	const struct gt_array *array = gt_cudart_array(handle);
	return gt_cudart_leave(array && array->level ? CUDA_INVALID_VALUE : discard(handle));
}

/* ---- mipmapped arrays ---- */

static size_t half(size_t n)
{
	return n > 1 ? n / 2 : n;
}

/* Each level has half the extent of the one before; layers and faces stay. Returns a code. */
static int allocate_levels(struct gt_mipmapped *to, const struct gt_channels *channels, struct gt_extent extent, unsigned n,
			   unsigned flags)
{
	int code = CUDA_SUCCESS;

	for (unsigned i = 0; i < n && code == CUDA_SUCCESS; i++) {
		code = allocate(&to->levels[i], channels, extent, flags, "cudaMallocMipmappedArray");
		if (code != CUDA_SUCCESS)
			break;
		to->levels[i]->level = true;
		to->n = i + 1;
		if (half(extent.width) == extent.width && half(extent.height) == extent.height &&
		    ((flags & (LAYERED | CUBEMAP)) || half(extent.depth) == extent.depth))
			break;
		extent.width = half(extent.width);
		extent.height = half(extent.height);
		extent.depth = flags & (LAYERED | CUBEMAP) ? extent.depth : half(extent.depth);
	}
	return code;
}

static int discard_levels(struct gt_mipmapped *one)
{
	int code = CUDA_SUCCESS;

	for (unsigned i = 0; i < one->n; i++) {
		int freed = discard(one->levels[i]);
		code = code == CUDA_SUCCESS ? freed : code;
	}
	free(one);
	return code;
}

API int cudaMallocMipmappedArray(struct gt_mipmapped **handle, const struct gt_channels *channels, struct gt_extent extent,
				 unsigned levels, unsigned flags)
{
	gt_cudart_enter();
	if (!handle || !channels)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*handle = NULL;
	levels = levels > 0 ? levels : 1;
	struct gt_mipmapped *one = calloc(1, sizeof *one);
	if (!one)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	int code = allocate_levels(one, channels, extent, levels < GT_MIP_LEVELS ? levels : GT_MIP_LEVELS, flags);
	if (code != CUDA_SUCCESS) {
		discard_levels(one);
		return gt_cudart_leave(code);
	}
	one->next = mipmapped;
	*handle = mipmapped = one;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFreeMipmappedArray(struct gt_mipmapped *handle)
{
	struct gt_mipmapped **place = &mipmapped;

	gt_cudart_enter();
	if (!handle)
		return gt_cudart_leave(CUDA_SUCCESS);
	while (*place && *place != handle)
		place = &(*place)->next;
	if (!*place)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	*place = handle->next;
	return gt_cudart_leave(discard_levels(handle));
}

API int cudaGetMipmappedArrayLevel(struct gt_array **level, const struct gt_mipmapped *handle, unsigned number)
{
	gt_cudart_enter();
	const struct gt_mipmapped *one = gt_cudart_mipmapped(handle);
	if (!one)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (!level || number >= one->n)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*level = one->levels[number];
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- what they are ---- */

API int cudaArrayGetInfo(struct gt_channels *channels, struct gt_extent *extent, unsigned *flags, struct gt_array *handle)
{
	gt_cudart_enter();
	const struct gt_array *array = gt_cudart_array(handle);
	if (!array)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	if (channels)
		*channels = array->channels;
	if (extent)
		*extent = array->extent;
	if (flags)
		*flags = array->flags;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGetChannelDesc(struct gt_channels *channels, const struct gt_array *handle)
{
	return cudaArrayGetInfo(channels, NULL, NULL, (struct gt_array *)(uintptr_t)handle);
}

API struct gt_channels cudaCreateChannelDesc(int x, int y, int z, int w, unsigned kind)
{
	return (struct gt_channels){{x, y, z, w}, kind};
}

/* ==== texture and surface objects: what they are made of, and how textures are read ==== */

#define SURFACE 2 /* cudaArraySurfaceLoadStore */

#define ALIGNMENT	512 /* bytes; cudaDevAttrTextureAlignment */
#define PITCH_ALIGNMENT 32  /* bytes; cudaDevAttrTexturePitchAlignment */

/* What an object was made with, for who asks. */
struct made {
	uint64_t handle;
	struct gt_resource resource;
	struct gt_sampling sampling;
	struct made *next;
};

static struct made *objects;

/* ---- images of resources; a code each ---- */

/* Memory of the program: all of it must be allocated. */
static int memory_image(struct gt_ptx_image *image, const void *at, const struct gt_channels *channels, size_t alignment)
{
	int code = gt_cudart_channels(image, channels);

	image->address = gt_cudart_address(at);
	if (code == CUDA_SUCCESS && image->address % alignment != 0)
		code = CUDA_INVALID_VALUE;
	return code;
}

static int linear_image(struct gt_ptx_image *image, const struct gt_resource *resource)
{
	int code = memory_image(image, resource->data.linear.at, &resource->data.linear.channels, GT_PTX_GOB_PIECE);
	size_t texels = code == CUDA_SUCCESS ? resource->data.linear.bytes / gt_ptx_texel_bytes(image) : 0;

	if (code != CUDA_SUCCESS || texels == 0 || texels > UINT32_C(1) << 28)
		return code == CUDA_SUCCESS ? CUDA_INVALID_VALUE : code;
	image->dimensions = 1;
	image->width = (uint32_t)texels;
	image->height = image->depth = 1;
	image->bytes = image->pitch = image->slice = texels * gt_ptx_texel_bytes(image);
	return CUDA_SUCCESS;
}

static int pitched_image(struct gt_ptx_image *image, const struct gt_resource *resource)
{
	size_t width = resource->data.pitched.width, height = resource->data.pitched.height, pitch = resource->data.pitched.pitch;
	int code = memory_image(image, resource->data.pitched.at, &resource->data.pitched.channels, ALIGNMENT);

	if (code != CUDA_SUCCESS)
		return code;
	if (width == 0 || height == 0 || width > 131072 || height > 65000 || pitch % PITCH_ALIGNMENT != 0 ||
	    pitch > UINT32_MAX || width * gt_ptx_texel_bytes(image) > pitch)
		return CUDA_INVALID_VALUE;
	image->dimensions = 2;
	image->width = (uint32_t)width;
	image->height = (uint32_t)height;
	image->depth = 1;
	image->pitch = pitch;
	image->bytes = image->slice = pitch * (height - 1) + width * gt_ptx_texel_bytes(image);
	return CUDA_SUCCESS;
}

static int image_of(struct gt_ptx_image *image, const struct gt_resource *resource)
{
	const struct gt_array *array;
	int code;

	*image = (struct gt_ptx_image){0};
	switch (resource->type) {
	case GT_RESOURCE_ARRAY:
		array = gt_cudart_array(resource->data.array);
		if (!array)
			return CUDA_INVALID_RESOURCE_HANDLE;
		*image = array->image;
		return CUDA_SUCCESS;
	case GT_RESOURCE_MIPMAPPED_ARRAY:
		if (!gt_cudart_mipmapped(resource->data.mipmapped))
			return CUDA_INVALID_RESOURCE_HANDLE;
		*image = gt_cudart_mipmapped(resource->data.mipmapped)->levels[0]->image;
		return CUDA_SUCCESS;
	case GT_RESOURCE_LINEAR:
		code = linear_image(image, resource);
		break;
	case GT_RESOURCE_PITCH_2D:
		code = pitched_image(image, resource);
		break;
	default:
		return CUDA_INVALID_VALUE;
	}
	if (code == CUDA_SUCCESS && !gt_ptx_at(&gt_cudart.memory, image->address, image->bytes))
		code = CUDA_INVALID_VALUE;
	return code;
}

/* ---- objects ---- */

static int keep(uint64_t *handle, const struct gt_ptx_texture *texture, const struct gt_resource *resource,
		const struct gt_sampling *sampling)
{
	static bool said;
	struct made *made = calloc(1, sizeof *made);

	if (gt_cudart.record.stream >= 0 && gt_cudart.record.tracing.spaces && !(gt_cudart.record.tracing.spaces >> GT_TEXTURE & 1))
		gt_cudart_say_once(&said, "textures and surfaces are used, and their accesses are not traced: see --space");
	if (!made || gt_ptx_texture_add(&gt_cudart.memory, texture, handle) != 0) {
		free(made);
		return CUDA_MEMORY_ALLOCATION;
	}
	made->handle = *handle;
	made->resource = *resource;
	if (sampling)
		made->sampling = *sampling;
	made->next = objects;
	objects = made;
	return CUDA_SUCCESS;
}

static struct made **find(uint64_t handle, bool surface)
{
	struct made **place = &objects;
	const struct gt_ptx_texture *texture = gt_ptx_texture_of(&gt_cudart.memory, handle);

	if (!texture || texture->surface != surface)
		return NULL;
	while (*place && (*place)->handle != handle)
		place = &(*place)->next;
	return *place ? place : NULL;
}

static int destroy(uint64_t handle, bool surface)
{
	struct made **place = find(handle, surface);

	if (!place)
		return handle == 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
	struct made *gone = *place;
	*place = gone->next;
	free(gone);
	gt_ptx_texture_remove(&gt_cudart.memory, handle);
	return CUDA_SUCCESS;
}

void gt_cudart_forget_arrays(void)
{
	forget_arrays();
	for (struct made **link = &objects, *one; (one = *link);) {
		const struct gt_ptx_texture *texture = gt_ptx_texture_of(&gt_cudart.memory, one->handle);
		if (gt_ptx_at(&gt_cudart.memory, texture->image.address, 1)) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		gt_ptx_texture_remove(&gt_cudart.memory, one->handle);
		free(one);
	}
}

/* How the texture is read. Returns a code; what is not supported is named. */
static int sample(struct gt_ptx_texture *texture, const struct gt_sampling *sampling, enum gt_resource_type type)
{
	const struct gt_ptx_image *image = &texture->image;
	bool integers = image->kind != GT_PTX_CHANNEL_FLOAT, bordered = false;

	texture->srgb = sampling->srgb != 0;
	if (texture->srgb && (sampling->read_mode != 1 || image->kind != GT_PTX_CHANNEL_UNSIGNED || image->channel_bytes != 1))
		return gt_cudart_refuse("sRGB conversion of other texels than bytes read as fractions");
	if (sampling->filter > 1 || sampling->read_mode > 1)
		return CUDA_INVALID_VALUE;
	texture->normalized = sampling->normalized != 0;
	texture->scaled = sampling->read_mode == 1 && integers && image->channel_bytes < 4;
	texture->linear = sampling->filter == 1 && type != GT_RESOURCE_LINEAR;
	if (texture->linear && integers && !texture->scaled)
		return CUDA_INVALID_FILTER_SETTING;
	if (image->cube && sampling->seamless_cube && texture->linear)
		return gt_cudart_refuse("a cube map that is filtered across its edges");
	if (image->cube)
		texture->normalized = true;
	/* A row that is filtered has a second mode: gt_ptx_borders_row. */
	const unsigned dimensions = image->dimensions == 1 && texture->linear ? 2 : image->dimensions;
	for (unsigned d = 0; d < dimensions; d++) {
		if (sampling->modes[d] > GT_PTX_BORDER)
			return CUDA_INVALID_VALUE;
		/* Beyond the ends of linear memory there are zeros, whatever the mode. */
		texture->modes[d] = (uint8_t)(type == GT_RESOURCE_LINEAR ? GT_PTX_BORDER : sampling->modes[d]);
		bordered = bordered || (type != GT_RESOURCE_LINEAR && sampling->modes[d] == GT_PTX_BORDER);
	}
	if (type == GT_RESOURCE_LINEAR)
		texture->normalized = false;
	if (!bordered)
		return CUDA_SUCCESS;
	memcpy(texture->border, sampling->border, sizeof texture->border);
	for (unsigned c = 0; c < 4 && integers && !texture->scaled; c++)
		if (texture->border[c] != 0)
			return gt_cudart_refuse("a border colour of integers");
	return CUDA_SUCCESS;
}

static bool said_anisotropy;

/* Fills in the levels of a mipmapped array, which are sampled as the first is. Returns a code. */
static int add_levels(struct gt_ptx_texture *texture, struct gt_ptx_texture levels[GT_MIP_LEVELS], const struct gt_mipmapped *array,
		      const struct gt_sampling *sampling)
{
	bool floats = texture->scaled || texture->image.kind == GT_PTX_CHANNEL_FLOAT;

	if (!texture->normalized || sampling->mipmap_filter > 1)
		return CUDA_INVALID_VALUE;
	if (sampling->mipmap_filter == 1 && !floats)
		return CUDA_INVALID_FILTER_SETTING;
	if (sampling->anisotropy > 1)
		gt_cudart_say_once(&said_anisotropy, "maxAnisotropy is taken as 1: fetches by gradients take one sample, of a higher level than a GPU does");
	for (unsigned i = 0; i < array->n; i++) {
		levels[i] = *texture;
		levels[i].image = array->levels[i]->image;
	}
	texture->levels = levels;
	texture->n_levels = (uint8_t)array->n;
	texture->between = sampling->mipmap_filter == 1;
	texture->bias = sampling->mipmap_bias;
	texture->least = sampling->mipmap_least;
	texture->most = sampling->mipmap_most;
	return CUDA_SUCCESS;
}

API int cudaCreateTextureObject(uint64_t *handle, const struct gt_resource *resource, const struct gt_sampling *sampling,
				const void *view)
{
	struct gt_ptx_texture texture = {0}, levels[GT_MIP_LEVELS];

	gt_cudart_enter();
	if (!handle || !resource || !sampling)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*handle = 0;
	if (view)
		return gt_cudart_leave(gt_cudart_refuse("a texture with a resource view"));
	int code = image_of(&texture.image, resource);
	if (code == CUDA_SUCCESS)
		code = sample(&texture, sampling, resource->type);
	if (code == CUDA_SUCCESS && resource->type == GT_RESOURCE_MIPMAPPED_ARRAY)
		code = add_levels(&texture, levels, resource->data.mipmapped, sampling);
	if (code == CUDA_SUCCESS)
		code = keep(handle, &texture, resource, sampling);
	return gt_cudart_leave(code);
}

API int cudaDestroyTextureObject(uint64_t handle)
{
	gt_cudart_enter();
	return gt_cudart_leave(destroy(handle, false));
}

API int cudaCreateSurfaceObject(uint64_t *handle, const struct gt_resource *resource)
{
	struct gt_ptx_texture surface = {.surface = true};

	gt_cudart_enter();
	if (!handle || !resource)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*handle = 0;
	const struct gt_array *array = resource->type == GT_RESOURCE_ARRAY ? gt_cudart_array(resource->data.array) : NULL;
	/* Of a level a GPU makes a surface all the same. */
	if (!array || (!(array->flags & SURFACE) && !array->level))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	surface.image = array->image;
	return gt_cudart_leave(keep(handle, &surface, resource, NULL));
}

API int cudaDestroySurfaceObject(uint64_t handle)
{
	gt_cudart_enter();
	return gt_cudart_leave(destroy(handle, true));
}

/* ---- what objects were made with ---- */

static int tell(uint64_t handle, bool surface, struct gt_resource *resource, struct gt_sampling *sampling)
{
	gt_cudart_enter();
	struct made **place = find(handle, surface);
	if (!place || (!resource && !sampling))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (resource)
		*resource = (*place)->resource;
	if (sampling)
		*sampling = (*place)->sampling;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGetTextureObjectResourceDesc(struct gt_resource *resource, uint64_t handle)
{
	return tell(handle, false, resource, NULL);
}

API int cudaGetTextureObjectTextureDesc(struct gt_sampling *sampling, uint64_t handle)
{
	return tell(handle, false, NULL, sampling);
}

API int cudaGetSurfaceObjectResourceDesc(struct gt_resource *resource, uint64_t handle)
{
	return tell(handle, true, resource, NULL);
}

SINCE_13(cudaCreateTextureObject);
SINCE_13(cudaCreateSurfaceObject);
SINCE_13(cudaGetTextureObjectResourceDesc);
SINCE_12(cudaGetTextureObjectTextureDesc);
SINCE_13(cudaGetSurfaceObjectResourceDesc);
