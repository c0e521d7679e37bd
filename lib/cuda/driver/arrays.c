/* SPDX-License-Identifier: MIT */
/* CUDA arrays, texture and surface objects, and tensor maps: the driver's descriptions in terms of the runtime's. */
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/ptx/exec/tensor.h"
#include "cuda/runtime/work.h"

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

/* The channels of a CUarray_format. Returns a code. */
static int gt_driver_channels(struct gt_channels *to, unsigned format, unsigned n)
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

/* ---- texture and surface objects ---- */

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
	} data;
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
		to->data.array = from->data.array;
		return CUDA_SUCCESS;
	case GT_RESOURCE_LINEAR:
		to->data.linear.at = gt_driver_pointer(from->data.linear.at);
		to->data.linear.bytes = from->data.linear.bytes;
		return gt_driver_channels(&to->data.linear.channels, from->data.linear.format, from->data.linear.n);
	case GT_RESOURCE_PITCH_2D:
		to->data.pitched.at = gt_driver_pointer(from->data.pitched.at);
		to->data.pitched.width = from->data.pitched.width;
		to->data.pitched.height = from->data.pitched.height;
		to->data.pitched.pitch = from->data.pitched.pitch;
		return gt_driver_channels(&to->data.pitched.channels, from->data.pitched.format, from->data.pitched.n);
	}
	return CUDA_INVALID_VALUE;
}

/* Integers are read as fractions unless a flag says otherwise; floats, and integers of 32 bits, as they are. */
static void take_sampling(struct gt_sampling *to, const struct sampling *from, const struct gt_resource *resource)
{
	const struct gt_array *array = resource->type == GT_RESOURCE_ARRAY ? gt_cudart_array(resource->data.array) : NULL;
	const struct gt_channels *channels = array ? &array->channels
					     : resource->type == GT_RESOURCE_PITCH_2D ? &resource->data.pitched.channels
										     : &resource->data.linear.channels;

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

/* ---- tensor maps ---- */

/* A tensor map: a tensor in device memory, and the box of it that cp.async.bulk.tensor copies. */

/* What both encodings have behind the shape, by the names there. */
struct wishes {
	unsigned interleave, swizzle, promotion, fill;
};

/* What is valid, but not modelled. */
static int refuse(const struct wishes *wishes)
{
	if (wishes->interleave != 0)
		return gt_cudart_refuse("tensor maps of interleaved layouts");
	if (wishes->swizzle >= GT_SWIZZLES)
		return gt_cudart_refuse("tensor maps with a swizzle of pieces of 8 or 64 bytes");
	return CUDA_SUCCESS;
}

static int encode(struct gt_tensor_map *to, unsigned type, uint32_t rank, uint64_t address, const uint64_t *sizes,
		  const uint64_t *strides, const uint32_t *box, const uint32_t *steps, struct wishes wishes)
{
	struct gt_tensor_map map = {.magic = GT_TENSOR_MAGIC, .address = address, .rank = (uint8_t)rank, .type = (uint8_t)type,
				    .swizzle = (uint8_t)wishes.swizzle, .promotion = (uint8_t)wishes.promotion,
				    .fills_nan = wishes.fill == 1};

	if (!to || rank == 0 || rank > GT_TENSOR_RANK_MAX || !sizes || !box || !steps || (rank > 1 && !strides) || type >= GT_TENSOR_TYPES ||
	    wishes.interleave > 2 || wishes.swizzle > 6 || wishes.promotion > 3 || wishes.fill > 1 ||
	    (wishes.fill == 1 && (type < GT_TENSOR_F16 || type >= GT_TENSOR_16U4)))
		return CUDA_INVALID_VALUE;
	int code = refuse(&wishes);
	if (code != CUDA_SUCCESS)
		return code;
	for (uint32_t d = 0; d < rank; d++) {
		if (sizes[d] == 0 || sizes[d] > UINT64_C(1) << 32 || box[d] > 256 || steps[d] > 8)
			return CUDA_INVALID_VALUE;
		map.last[d] = (uint32_t)(sizes[d] - 1);
		map.box[d] = (uint16_t)box[d];
		map.steps[d] = (uint8_t)steps[d];
		if (d > 0)
			map.strides[d - 1] = strides[d - 1];
	}
	if (!gt_tensor_is_sound(&map))
		return CUDA_INVALID_VALUE;
	*to = map;
	return CUDA_SUCCESS;
}

/* Columns of `pixels` pixels, between corners that are so far from those of the tensor. */
static int encode_columns(struct gt_tensor_map *to, unsigned type, uint32_t rank, uint64_t address, const uint64_t *sizes,
			  const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
			  const uint32_t *steps, struct wishes wishes)
{
	static const int range[] = {[3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4};
	const uint32_t box[GT_TENSOR_RANK_MAX] = {channels, 1, 1, 1, 1};
	struct gt_tensor_map map;

	if (!to || rank < 3 || rank > GT_TENSOR_RANK_MAX || !lower || !upper || pixels == 0 || pixels > 1024)
		return CUDA_INVALID_VALUE;
	int code = encode(&map, type, rank, address, sizes, strides, box, steps, wishes);
	if (code != CUDA_SUCCESS)
		return code;
	map.pixels = (uint16_t)pixels;
	for (uint32_t d = 0; d + 2 < rank; d++) {
		if (lower[d] < -range[rank] || lower[d] >= range[rank] || upper[d] < -range[rank] || upper[d] >= range[rank] ||
		    (int64_t)map.last[d + 1] + upper[d] < lower[d])
			return CUDA_INVALID_VALUE;
		map.lower[d] = (int16_t)lower[d];
		map.upper[d] = (int16_t)upper[d];
	}
	*to = map;
	return CUDA_SUCCESS;
}

static int replace(struct gt_tensor_map *map, uint64_t address)
{
	if (!map || map->magic != GT_TENSOR_MAGIC || address % 16 != 0)
		return CUDA_INVALID_VALUE;
	map->address = address;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuTensorMapEncodeTiled,
		(struct gt_tensor_map *to, unsigned type, uint32_t rank, void *address, const uint64_t *sizes,
		 const uint64_t *strides, const uint32_t *box, const uint32_t *steps, unsigned interleave, unsigned swizzle,
		 unsigned promotion, unsigned fill),
		encode(to, type, rank, (uint64_t)(uintptr_t)address, sizes, strides, box, steps,
		       (struct wishes){interleave, swizzle, promotion, fill}))
DRIVER_ANYWHERE(cuTensorMapEncodeIm2col,
		(struct gt_tensor_map *to, unsigned type, uint32_t rank, void *address, const uint64_t *sizes, const uint64_t *strides,
		 const int *lower, const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *steps, unsigned interleave,
		 unsigned swizzle, unsigned promotion, unsigned fill),
		encode_columns(to, type, rank, (uint64_t)(uintptr_t)address, sizes, strides, lower, upper, channels, pixels, steps,
			       (struct wishes){interleave, swizzle, promotion, fill}))
DRIVER_ANYWHERE(cuTensorMapReplaceAddress, (struct gt_tensor_map *map, void *address), replace(map, (uint64_t)(uintptr_t)address))
