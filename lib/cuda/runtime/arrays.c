/* SPDX-License-Identifier: MIT */
/* CUDA arrays: device memory whose layout the program does not see. */
#include "cuda/runtime/arrays.h"

#include <stdlib.h>

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

struct gt_mipmapped *gt_cudart_mipmapped(const void *handle)
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

void gt_cudart_forget_arrays(void)
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

int gt_cudart_channels(struct gt_ptx_image *image, const struct gt_channels *channels)
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
	if (!handle || !channels || levels == 0)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*handle = NULL;
	struct gt_mipmapped *one = calloc(1, sizeof *one);
	if (!one)
		return gt_cudart_leave(CUDA_MEMORY_ALLOCATION);
	int code = allocate_levels(one, channels, extent, levels < GT_LEVELS ? levels : GT_LEVELS, flags);
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
