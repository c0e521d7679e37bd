/* SPDX-License-Identifier: MIT */
/* CUDA arrays. */
#include "cuda/driver/arrays.h"

#include "cuda/driver/driver.h"

extern int cudaMalloc3DArray(struct gt_array **handle, const struct gt_channels *channels, struct gt_extent extent,
			     unsigned flags);
extern int cudaFreeArray(struct gt_array *handle);
extern int cudaMallocMipmappedArray(struct gt_mipmapped **handle, const struct gt_channels *channels, struct gt_extent extent,
				    unsigned levels, unsigned flags);
extern int cudaFreeMipmappedArray(struct gt_mipmapped *handle);
extern int cudaGetMipmappedArrayLevel(struct gt_array **level, const struct gt_mipmapped *handle, unsigned number);

/* CUarray_format, and the channels of one. */
static const struct {
	unsigned format;
	int bits;
	unsigned kind;
} formats[] = {
	{0x01, 8, GT_PTX_CHANNEL_UNSIGNED}, {0x02, 16, GT_PTX_CHANNEL_UNSIGNED}, {0x03, 32, GT_PTX_CHANNEL_UNSIGNED},
	{0x08, 8, GT_PTX_CHANNEL_SIGNED},   {0x09, 16, GT_PTX_CHANNEL_SIGNED},	 {0x0a, 32, GT_PTX_CHANNEL_SIGNED},
	{0x10, 16, GT_PTX_CHANNEL_FLOAT},   {0x20, 32, GT_PTX_CHANNEL_FLOAT},
};

int gt_driver_channels(struct gt_channels *to, unsigned format, unsigned n)
{
	size_t i = 0;

	while (i < sizeof formats / sizeof *formats && formats[i].format != format)
		i++;
	if (i == sizeof formats / sizeof *formats)
		return gt_cudart_refuse("a format of arrays other than integers of 8 to 32 bits and floats of 16 and 32");
	if (n == 0 || n > 4)
		return CUDA_INVALID_VALUE;
	*to = (struct gt_channels){.kind = formats[i].kind};
	for (unsigned c = 0; c < n; c++)
		to->bits[c] = formats[i].bits;
	return CUDA_SUCCESS;
}

static unsigned format_of(const struct gt_channels *channels)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].bits == channels->bits[0] && formats[i].kind == channels->kind)
			return formats[i].format;
	return 0;
}

/* CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR; the flags have the runtime's numbers. */
struct descriptor2 {
	size_t width, height;
	unsigned format, n;
};

struct descriptor3 {
	size_t width, height, depth;
	unsigned format, n, flags;
};

static int create(struct gt_array **to, const struct descriptor3 *as)
{
	struct gt_channels channels;

	if (!to || !as)
		return CUDA_INVALID_VALUE;
	int code = gt_driver_channels(&channels, as->format, as->n);
	if (code != CUDA_SUCCESS)
		return code;
	return cudaMalloc3DArray(to, &channels, (struct gt_extent){as->width, as->height, as->depth}, as->flags);
}

static int create_flat(struct gt_array **to, const struct descriptor2 *as)
{
	return as ? create(to, &(struct descriptor3){as->width, as->height, 0, as->format, as->n, 0}) : CUDA_INVALID_VALUE;
}

static int describe(struct descriptor3 *to, const void *handle)
{
	const struct gt_array *array = gt_cudart_array(handle);

	if (!to || !array)
		return to ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_INVALID_VALUE;
	*to = (struct descriptor3){array->extent.width, array->extent.height, array->extent.depth, format_of(&array->channels),
				   array->image.channels, array->flags};
	return CUDA_SUCCESS;
}

static int describe_flat(struct descriptor2 *to, const void *handle)
{
	struct descriptor3 is = {0};
	int code = to ? describe(&is, handle) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		*to = (struct descriptor2){is.width, is.height, is.format, is.n};
	return code;
}

DRIVER(cuArrayCreate_v2, (struct gt_array **to, const struct descriptor2 *as), create_flat(to, as))
DRIVER(cuArray3DCreate_v2, (struct gt_array **to, const struct descriptor3 *as), create(to, as))
DRIVER(cuArrayGetDescriptor_v2, (struct descriptor2 *to, const struct gt_array *array), describe_flat(to, array))
DRIVER(cuArray3DGetDescriptor_v2, (struct descriptor3 *to, const struct gt_array *array), describe(to, array))
DRIVER(cuArrayDestroy, (struct gt_array *array), array ? cudaFreeArray(array) : CUDA_INVALID_RESOURCE_HANDLE)

static int create_levels(struct gt_mipmapped **to, const struct descriptor3 *as, unsigned levels)
{
	struct gt_channels channels;
	int code = to && as ? gt_driver_channels(&channels, as->format, as->n) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	return cudaMallocMipmappedArray(to, &channels, (struct gt_extent){as->width, as->height, as->depth}, levels, as->flags);
}

DRIVER(cuMipmappedArrayCreate, (struct gt_mipmapped **to, const struct descriptor3 *as, unsigned levels),
       create_levels(to, as, levels))
DRIVER(cuMipmappedArrayDestroy, (struct gt_mipmapped *handle),
       handle ? cudaFreeMipmappedArray(handle) : CUDA_INVALID_RESOURCE_HANDLE)
DRIVER(cuMipmappedArrayGetLevel, (struct gt_array **to, const struct gt_mipmapped *handle, unsigned level),
       to ? cudaGetMipmappedArrayLevel(to, handle, level) : CUDA_INVALID_VALUE)
