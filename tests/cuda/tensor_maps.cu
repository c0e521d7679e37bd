/* SPDX-License-Identifier: MIT */
/* Copies of boxes of tensors: every swizzle, ranks 1 to 3, boxes that lie partly or wholly outside, stores, reductions, copies
 * to several blocks of a cluster, and maps that kernels make. The expected places are computed element by element. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
			      const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
			      CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_tiled *encode;

__device__ unsigned place(const void *of)
{
	return (unsigned)__cvta_generic_to_shared(of);
}

__device__ void begin(uint64_t *bar, unsigned bytes)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\n" ::"r"(place(bar)));
	asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t *bar)
{
	asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}\n" ::"r"(place(bar)) : "memory");
}

/* A box into shared memory, and the shared memory as it then is into `out`. */
template <int rank>
__global__ void load(const __grid_constant__ CUtensorMap map, int3 at, unsigned bytes, unsigned n, unsigned char *out)
{
	__shared__ __align__(1024) unsigned char box[8192];
	__shared__ __align__(8) uint64_t bar;

	for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
		box[i] = 0xa5;
	__syncthreads();
	if (threadIdx.x == 0) {
		begin(&bar, bytes);
		if (rank == 1)
			asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
				     ::"r"(place(box)), "l"(&map), "r"(at.x), "r"(place(&bar)) : "memory");
		if (rank == 2)
			asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
				     ::"r"(place(box)), "l"(&map), "r"(at.x), "r"(at.y), "r"(place(&bar)) : "memory");
		if (rank == 3)
			asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
				     ::"r"(place(box)), "l"(&map), "r"(at.x), "r"(at.y), "r"(at.z), "r"(place(&bar)) : "memory");
	}
	__syncthreads();
	wait(&bar);
	for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = box[i];
}

/* Bits 4 to 6 of a place in shared memory change with bits 7 to 9. */
static unsigned swizzled(unsigned at, int bits)
{
	unsigned chunk = at / 16 % 8, row = at / 128 % 8;

	return at - chunk * 16 + (chunk ^ (row & ((1u << bits) - 1))) * 16;
}

template <typename T, int rank>
static void test_load(CUtensorMapDataType type, const int (&size)[3], const int (&box)[3], int3 at, int swizzle, int step, bool nan)
{
	CUtensorMap map;
	cuuint64_t sizes[3], strides[2];
	cuuint32_t boxes[3], steps[3] = {1, (cuuint32_t)step, 1};
	size_t pitch = (size[0] * sizeof(T) + 47) / 16 * 16, plane = pitch * size[1] + 32;
	std::vector<unsigned char> host(plane * size[2]), found, expected;
	unsigned char *device, *out;
	int extent[3] = {box[0], (box[1] + step - 1) / step, box[2]};
	/* A swizzle changes places within 1024 bytes. */
	unsigned bytes = extent[0] * extent[1] * extent[2] * sizeof(T), n = (bytes + 1023) / 1024 * 1024;

	for (size_t i = 0; i < host.size(); i++)
		host[i] = (unsigned char)(i * 37 + i / 251);
	cudaMalloc(&device, host.size());
	cudaMalloc(&out, n);
	cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
	for (int d = 0; d < 3; d++) {
		sizes[d] = size[d];
		boxes[d] = box[d];
	}
	strides[0] = pitch;
	strides[1] = plane;
	CHECK(encode(&map, type, rank, device, sizes, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
		      (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
		      nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
	load<rank><<<1, 64>>>(map, at, bytes, n, out);
	found.resize(n);
	expected.resize(n, 0xa5);
	cudaMemcpy(found.data(), out, n, cudaMemcpyDeviceToHost);
	unsigned to = 0;
	for (int z = 0; z < extent[2]; z++)
		for (int y = 0; y < extent[1]; y++)
			for (int x = 0; x < extent[0]; x++, to += sizeof(T)) {
				int gx = at.x + x, gy = rank > 1 ? at.y + y * step : 0, gz = rank > 2 ? at.z + z : 0;
				bool inside = gx >= 0 && gx < size[0] && gy >= 0 && gy < size[1] && gz >= 0 && gz < size[2];
				T value;
				memset(&value, 0, sizeof value);
				if (inside)
					memcpy(&value, &host[gz * plane + gy * pitch + gx * sizeof(T)], sizeof value);
				unsigned char bytes_of[sizeof(T)];
				memcpy(bytes_of, &value, sizeof value);
				if (!inside && nan) {
					memset(bytes_of, 0xff, sizeof(T));
					bytes_of[sizeof(T) - 1] = 0x7f;
				}
				for (unsigned b = 0; b < sizeof(T); b++)
					expected[swizzled(to + b, swizzle)] = bytes_of[b];
			}
	CHECK(found == expected);
	cudaFree(device);
	cudaFree(out);
}

/* A box of ones from shared memory, stored or added. */
__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y, int n, bool adds)
{
	__shared__ __align__(128) float box[1024];

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		box[i] = i + 1;
	asm volatile("fence.proxy.async.shared::cta;");
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	if (adds)
		asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
			     ::"l"(&map), "r"(x), "r"(y), "r"(place(box)) : "memory");
	else
		asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
			     ::"l"(&map), "r"(x), "r"(y), "r"(place(box)) : "memory");
	asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

static void test_store(bool adds)
{
	const int width = 20, height = 10, box_x = 8, box_y = 6, x = -3, y = 7;
	float host[width * height], *device;
	CUtensorMap map;
	cuuint64_t sizes[2] = {width, height}, strides[1] = {width * sizeof(float)};
	cuuint32_t box[2] = {box_x, box_y}, steps[2] = {1, 1};

	for (int i = 0; i < width * height; i++)
		host[i] = 1000 + i;
	cudaMalloc(&device, sizeof host);
	cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
	CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, device, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
		      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
	store<<<1, 32>>>(map, x, y, box_x * box_y, adds);
	cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
	for (int i = 0; i < width * height; i++) {
		int bx = i % width - x, by = i / width - y;
		float value = 1000 + i;
		if (bx >= 0 && bx < box_x && by >= 0 && by < box_y)
			value = (adds ? value : 0) + by * box_x + bx + 1;
		CHECK(host[i] == value);
	}
	cudaFree(device);
}

/* Block 0 of a cluster copies a row to all blocks; block r also gets 16 bytes of block r - 1, and adds to its counters. */
__global__ void __cluster_dims__(4, 1, 1) spread(const __grid_constant__ CUtensorMap map, int *out)
{
	__shared__ __align__(128) int row[32], from_left[4], mine[4], counters[4];
	__shared__ __align__(8) uint64_t bars[3];
	unsigned rank, right, there, bar_there;

	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	if (threadIdx.x < 4) {
		mine[threadIdx.x] = rank * 100 + threadIdx.x;
		counters[threadIdx.x] = 5;
	}
	if (threadIdx.x == 0) {
		begin(&bars[0], sizeof row);
		begin(&bars[1], sizeof mine + 8);
		begin(&bars[2], sizeof mine + 4);
	}
	__syncthreads();
	asm volatile("fence.proxy.async;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	if (threadIdx.x == 0) {
		right = (rank + 1) % 4;
		if (rank == 0)
			asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2}], [%3], %4;"
				     ::"r"(place(row)), "l"(&map), "r"(8), "r"(place(&bars[0])), "h"((short)15) : "memory");
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(from_left)), "r"(right));
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_there) : "r"(place(&bars[1])), "r"(right));
		asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
			     ::"r"(there), "r"(place(mine)), "r"(bar_there) : "memory");
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(&row[4])), "r"(right));
		asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
			     ::"r"(place(counters) + 0 * there), "r"(1), "r"(2), "r"(place(&bars[1])) : "memory");
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(&counters[2])), "r"(right));
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_there) : "r"(place(&bars[2])), "r"(right));
		asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
			     ::"r"(there), "r"(rank), "r"(bar_there) : "memory");
		asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(counters)), "r"(right));
		asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%0], [%1], 16, [%2];"
			     ::"r"(there), "r"(place(mine)), "r"(bar_there) : "memory");
	}
	wait(&bars[0]);
	wait(&bars[1]);
	wait(&bars[2]);
	int *to = out + rank * 64;
	if (threadIdx.x < 32)
		to[threadIdx.x] = row[threadIdx.x];
	if (threadIdx.x < 4) {
		to[32 + threadIdx.x] = from_left[threadIdx.x];
		to[36 + threadIdx.x] = counters[threadIdx.x];
	}
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static void test_spread()
{
	int host[64], found[256], *device, *out;
	CUtensorMap map;
	cuuint64_t size = 64;
	cuuint32_t box = 32, step = 1;

	for (int i = 0; i < 64; i++)
		host[i] = 7 * i;
	cudaMalloc(&device, sizeof host);
	cudaMalloc(&out, sizeof found);
	cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
	CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, device, &size, NULL, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
		      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
	spread<<<4, 64>>>(map, out);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
	for (int r = 0; r < 4; r++) {
		int left = (r + 3) % 4;
		for (int i = 0; i < 32; i++)
			CHECK(found[64 * r + i] == 7 * (i + 8));
		for (int i = 0; i < 4; i++)
			CHECK(found[64 * r + 32 + i] == left * 100 + i);
		/* Only the last word has no other writer than the maximum. */
		CHECK(found[64 * r + 39] == (left * 100 + 3 > 5 ? left * 100 + 3 : 5));
	}
	cudaFree(device);
	cudaFree(out);
}

/* A map that a kernel makes of zeros in shared memory, field by field, for a tensor of 16-bit words; it goes to global memory, and
 * a box that begins outside of the tensor is copied by it. `second`: the tensor of the next launch, which only gets its address
 * and its height. */
__global__ void make_map(CUtensorMap *to, const unsigned short *tensor, int width, int height, bool second, unsigned short *out)
{
	__shared__ __align__(128) unsigned words[32];
	__shared__ __align__(1024) unsigned short box[8 * 16];
	__shared__ __align__(8) uint64_t bar;

	words[threadIdx.x] = second ? reinterpret_cast<unsigned *>(to)[threadIdx.x] : 0;
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned map = place(words);
		asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(map), "l"(tensor) : "memory");
		asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(map), "r"(height) : "memory");
		if (!second) {
			asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, 16;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 8;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(map), "r"(width) : "memory");
			asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;"
				     ::"r"(map), "l"((uint64_t)width * 2) : "memory");
			asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 10;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 1;" ::"r"(map) : "memory");
			asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 1;" ::"r"(map) : "memory");
		}
	}
	__syncwarp();
	asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
		     ::"l"(to), "r"(place(words)) : "memory");
	asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
	if (threadIdx.x == 0) {
		begin(&bar, sizeof box);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
			     ::"r"(place(box)), "l"(to), "r"(8), "r"(height - 3), "r"(place(&bar)) : "memory");
	}
	__syncwarp();
	wait(&bar);
	for (int i = threadIdx.x; i < 8 * 16; i += 32)
		out[i] = box[i];
}

static void test_made_by_kernel()
{
	const int width = 24, heights[2] = {10, 20};
	unsigned short host[24 * 20], found[8 * 16], *tensors[2], *out;
	CUtensorMap *map;

	cudaMalloc(&map, sizeof *map);
	cudaMalloc(&out, sizeof found);
	for (int second = 0; second < 2; second++) {
		for (int i = 0; i < 24 * 20; i++)
			host[i] = (unsigned short)(i * 3 + second * 1000);
		cudaMalloc(&tensors[second], sizeof host);
		cudaMemcpy(tensors[second], host, sizeof host, cudaMemcpyHostToDevice);
		make_map<<<1, 32>>>(map, tensors[second], width, heights[second], second == 1, out);
		CHECK(cudaDeviceSynchronize() == cudaSuccess);
		cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
		for (int row = 0; row < 8; row++)
			for (int column = 0; column < 16; column++) {
				unsigned at = swizzled((row * 16 + column) * 2, 1) / 2;
				unsigned short is = row < 3 ? host[(heights[second] - 3 + row) * width + 8 + column] : 0x7fff;
				CHECK(found[at] == is);
			}
	}
}

/* ---- columns of pixels: im2col ---- */

typedef CUresult encode_im2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *,
			       const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
			       CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
enum { CHANNELS = 24, PER_PIXEL = 8, PIXELS = 40 };

/* A column into shared memory and out of it, and back to the tensor, without offsets, where `stored` is. */
__global__ void load_column(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap stored, int4 at, ushort2 offsets,
			    uint16_t *out)
{
	__shared__ __align__(1024) uint16_t column[PIXELS * PER_PIXEL];
	__shared__ __align__(8) uint64_t bar;

	if (threadIdx.x == 0) {
		begin(&bar, sizeof column);
		asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
			     "[%6], {%7, %8};" ::"r"(place(column)), "l"(&map), "r"(at.x), "r"(at.y), "r"(at.z), "r"(at.w), "r"(place(&bar)),
			     "h"(offsets.x), "h"(offsets.y) : "memory");
	}
	__syncthreads();
	wait(&bar);
	for (unsigned i = threadIdx.x; i < PIXELS * PER_PIXEL; i += blockDim.x)
		out[i] = column[i];
	if (threadIdx.x == 0)
		asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];\n"
			     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
			     ::"l"(&stored), "r"(at.x), "r"(at.y), "r"(at.z), "r"(at.w), "r"(place(column)) : "memory");
}

/* sizes: width, height, images. Pixels go through the box of a width from lower.x to width - 1 + upper.x, line by line, image by image. */
static void test_columns(encode_im2col *encode_columns, int3 sizes, int2 lower, int2 upper, int2 step, int4 at, ushort2 offsets)
{
	const size_t n = (size_t)sizes.x * sizes.y * sizes.z * CHANNELS;
	const cuuint64_t size[] = {CHANNELS, (cuuint64_t)sizes.x, (cuuint64_t)sizes.y, (cuuint64_t)sizes.z};
	const cuuint64_t strides[] = {CHANNELS * 2, CHANNELS * 2 * size[1], CHANNELS * 2 * size[1] * size[2]};
	const cuuint32_t steps[] = {1, (cuuint32_t)step.x, (cuuint32_t)step.y, 1};
	const int low[] = {lower.x, lower.y}, high[] = {upper.x, upper.y};
	std::vector<uint16_t> host(n), found(PIXELS * PER_PIXEL), expected(PIXELS * PER_PIXEL), stored(n), back(n);
	uint16_t *device, *target, *out;
	CUtensorMap maps[2];

	for (size_t i = 0; i < n; i++)
		host[i] = (uint16_t)(i * 7 + 1);
	cudaMalloc(&device, n * 2);
	cudaMalloc(&target, n * 2);
	cudaMalloc(&out, found.size() * 2);
	cudaMemcpy(device, host.data(), n * 2, cudaMemcpyHostToDevice);
	cudaMemset(target, 0, n * 2);
	for (int i = 0; i < 2; i++)
		CHECK(encode_columns(&maps[i], CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, i == 0 ? device : target, size, strides, low, high, PER_PIXEL, PIXELS,
				     steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
				     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
	load_column<<<1, 64>>>(maps[0], maps[1], at, offsets, out);
	cudaMemcpy(found.data(), out, found.size() * 2, cudaMemcpyDeviceToHost);
	cudaMemcpy(stored.data(), target, n * 2, cudaMemcpyDeviceToHost);
	int w = at.y, h = at.z, image = at.w;
	for (int pixel = 0; pixel < PIXELS; pixel++) {
		for (int c = 0; c < PER_PIXEL; c++) {
			const int x = w + offsets.x, y = h + offsets.y;
			const bool inside = x >= 0 && x < sizes.x && y >= 0 && y < sizes.y && image < sizes.z && at.x + c < CHANNELS;
			const size_t from = (((size_t)image * sizes.y + y) * sizes.x + x) * CHANNELS + at.x + c;
			expected[pixel * PER_PIXEL + c] = inside ? host[from] : 0;
			if (w >= 0 && w < sizes.x && h >= 0 && h < sizes.y && image < sizes.z && at.x + c < CHANNELS)
				back[(((size_t)image * sizes.y + h) * sizes.x + w) * CHANNELS + at.x + c] = expected[pixel * PER_PIXEL + c];
		}
		if ((w += step.x) > sizes.x - 1 + upper.x) {
			w = lower.x;
			if ((h += step.y) > sizes.y - 1 + upper.y) {
				h = lower.y;
				image++;
			}
		}
	}
	CHECK(found == expected);
	CHECK(stored == back);
	cudaFree(device);
	cudaFree(target);
	cudaFree(out);
}

static void test_im2col()
{
	void *found = NULL;
	cudaDriverEntryPointQueryResult result;
	CUtensorMap map;
	const cuuint64_t size[] = {8, 4, 4, 1}, strides[] = {16, 64, 256};
	const cuuint32_t steps[] = {1, 1, 1, 1};
	const int far[] = {-129, 0}, none[] = {0, 0};

	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000, cudaEnableDefault, &result) == cudaSuccess);
	encode_im2col *encode_columns = (encode_im2col *)found;
	/* A 3 x 3 filter with a border of 1: all pixels, then from one in the middle; every second pixel; and no border. */
	test_columns(encode_columns, make_int3(6, 5, 3), make_int2(-1, -1), make_int2(-1, -1), make_int2(1, 1), make_int4(0, -1, -1, 0), {0, 0});
	test_columns(encode_columns, make_int3(6, 5, 3), make_int2(-1, -1), make_int2(-1, -1), make_int2(1, 1), make_int4(8, 3, 2, 1), {2, 1});
	test_columns(encode_columns, make_int3(9, 7, 2), make_int2(-2, -1), make_int2(-1, 0), make_int2(2, 2), make_int4(20, -2, 1, 0), {1, 2});
	test_columns(encode_columns, make_int3(7, 7, 1), make_int2(0, 0), make_int2(0, 0), make_int2(1, 1), make_int4(16, 2, 3, 0), {0, 0});
	CHECK(encode_columns(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, &map, size, strides, far, none, 8, 16, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
			     CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE);
}

int main()
{
	void *found = NULL;
	cudaDriverEntryPointQueryResult result;
	CUtensorMap map;
	cuuint64_t size = 64;
	cuuint32_t box = 3, step = 1;

	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) == cudaSuccess);
	encode = (encode_tiled *)found;
	if (!encode) {
		printf("FAIL no cuTensorMapEncodeTiled\n");
		return 1;
	}
	/* A row of a box has a multiple of 16 bytes. */
	CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, &map, &size, NULL, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
		      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE);
	for (int swizzle = 0; swizzle < 4; swizzle++) {
		int width = swizzle == 1 ? 16 : swizzle == 2 ? 32 : 64;
		test_load<uint16_t, 2>(CU_TENSOR_MAP_DATA_TYPE_UINT16, {100, 50, 1}, {width, 24, 1}, make_int3(16, 8, 0), swizzle, 1, false);
		test_load<uint16_t, 2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, {100, 50, 1}, {width, 24, 1}, make_int3(-5, 40, 0), swizzle, 1, true);
		test_load<float, 3>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, {33, 9, 4}, {width / 4, 5, 3}, make_int3(30, -2, 2), swizzle, 1, false);
	}
	test_load<uint8_t, 1>(CU_TENSOR_MAP_DATA_TYPE_UINT8, {1000, 1, 1}, {256, 1, 1}, make_int3(901, 0, 0), 0, 1, false);
	test_load<double, 2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, {30, 30, 1}, {16, 9, 1}, make_int3(20, 25, 0), 3, 2, true);
	test_load<int, 2>(CU_TENSOR_MAP_DATA_TYPE_INT32, {30, 30, 1}, {8, 12, 1}, make_int3(3, 5, 0), 0, 3, false);
	test_load<int, 2>(CU_TENSOR_MAP_DATA_TYPE_INT32, {30, 30, 1}, {8, 4, 1}, make_int3(40, -9, 0), 0, 1, false);
	test_store(false);
	test_store(true);
	test_spread();
	test_made_by_kernel();
	test_im2col();
	return verdict();
}
