// SPDX-License-Identifier: MIT
// CUDA arrays of every shape, the objects made of them, and the copies from and to them: each texel has a value of its
// own, which says where it should be found.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

#include "expect.h"

template <typename T> static T *shared(size_t n)
{
	T *memory;
	MUST(cudaMallocManaged(&memory, n * sizeof(T)));
	return memory;
}

static cudaTextureObject_t texture_of(cudaResourceDesc resource, bool normalized = false, bool linear = false,
				      cudaTextureReadMode read = cudaReadModeElementType)
{
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;

	for (int d = 0; d < 3; d++)
		how.addressMode[d] = cudaAddressModeClamp;
	how.normalizedCoords = normalized;
	how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
	how.readMode = read;
	MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
	return texture;
}

static cudaResourceDesc of_array(cudaArray_t array)
{
	cudaResourceDesc resource = {};
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	return resource;
}

// An array of ints, 1000000 z + 1000 y + x, copied there by cudaMemcpy3D.
static cudaArray_t numbered(int width, int height, int depth, unsigned flags)
{
	int rows = height ? height : 1, slices = depth ? depth : 1;
	std::vector<int> values((size_t)width * rows * slices);
	cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
	cudaMemcpy3DParms copy = {};
	cudaArray_t array;

	for (int z = 0, i = 0; z < slices; z++)
		for (int y = 0; y < rows; y++)
			for (int x = 0; x < width; x++)
				values[i++] = 1000000 * z + 1000 * y + x;
	MUST(cudaMalloc3DArray(&array, &channels, make_cudaExtent(width, height, depth), flags));
	copy.srcPtr = make_cudaPitchedPtr(values.data(), width * sizeof(int), width, rows);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(width, rows, slices);
	copy.kind = cudaMemcpyHostToDevice;
	MUST(cudaMemcpy3D(&copy));
	return array;
}

// ---- layers and cubes ----

__global__ void fetch_layers(cudaTextureObject_t lines, cudaTextureObject_t planes, int *out)
{
	int x = threadIdx.x, layer = blockIdx.x;
	out[2 * (layer * 32 + x)] = tex1DLayered<int>(lines, x + 0.5f, layer);
	out[2 * (layer * 32 + x) + 1] = tex2DLayered<int>(planes, x + 0.5f, x % 7 + 0.5f, layer);
}

static void layers()
{
	cudaArray_t lines = numbered(50, 0, 4, cudaArrayLayered), planes = numbered(40, 9, 4, cudaArrayLayered);
	int *out = shared<int>(5 * 64);
	bool right = true;

	fetch_layers<<<5, 32>>>(texture_of(of_array(lines)), texture_of(of_array(planes)), out);
	MUST(cudaDeviceSynchronize());
	for (int layer = 0; layer < 5; layer++)
		for (int x = 0; x < 32; x++) {
			int there = layer < 4 ? layer : 3; // the fifth is clamped
			right = right && out[2 * (layer * 32 + x)] == 1000000 * there + x;
			right = right && out[2 * (layer * 32 + x) + 1] == 1000000 * there + 1000 * (x % 7) + x;
		}
	expect(right, "layered arrays", __LINE__);
}

__global__ void fetch_cube(cudaTextureObject_t cube, cudaTextureObject_t cubes, const float3 *at, int *out)
{
	int i = threadIdx.x;
	out[2 * i] = texCubemap<int>(cube, at[i].x, at[i].y, at[i].z);
	out[2 * i + 1] = texCubemapLayered<int>(cubes, at[i].x, at[i].y, at[i].z, 1);
}

static void cubes()
{
	// The guide's table: the major axis, its sign, and which coordinates become s and t.
	static const struct { float3 at; int face, x, y; } spots[6] = {
		{{2, -0.5f, 0.25f}, 0, 3, 10},   // s = -z / m = -1/8, t = -y / m = 1/4
		{{-2, -0.5f, 0.25f}, 1, 4, 10},  // s = z / m, t = -y / m
		{{0.5f, 2, 0.25f}, 2, 5, 9},     // s = x / m = 1/4, t = z / m = 1/8
		{{0.5f, -2, 0.25f}, 3, 5, 7},    // s = x / m, t = -z / m
		{{0.5f, -0.5f, 2}, 4, 5, 10},    // s = x / m, t = -y / m
		{{0.5f, -0.5f, -2}, 5, 3, 10},   // s = -x / m = -1/4: 3/8 of 8 texels
	};
	cudaArray_t cube = numbered(16, 16, 6, cudaArrayCubemap), many = numbered(16, 16, 12, cudaArrayCubemap | cudaArrayLayered);
	float3 *at = shared<float3>(6);
	int *out = shared<int>(12);
	bool right = true;

	for (int i = 0; i < 6; i++)
		at[i] = spots[i].at;
	fetch_cube<<<1, 6>>>(texture_of(of_array(cube), true), texture_of(of_array(many), true), at, out);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 6; i++) {
		float3 p = spots[i].at;
		float s[6] = {-p.z, p.z, p.x, p.x, p.x, -p.x}, t[6] = {-p.y, -p.y, p.z, -p.z, -p.y, -p.y};
		int x = (int)floorf((s[i] / 2 + 1) / 2 * 16), y = (int)floorf((t[i] / 2 + 1) / 2 * 16);
		right = right && out[2 * i] == 1000000 * spots[i].face + 1000 * y + x;
		right = right && out[2 * i + 1] == 1000000 * (6 + spots[i].face) + 1000 * y + x;
	}
	expect(right, "cube maps, alone and in layers", __LINE__);
}

// ---- integers, memory, levels, gathering ----

__global__ void fetch_others(cudaTextureObject_t bytes, cudaTextureObject_t words, cudaTextureObject_t linear,
			     cudaTextureObject_t rows, int *out)
{
	int i = threadIdx.x;
	char4 b = tex2D<char4>(bytes, i + 0.5f, 1.5f);
	ushort2 w = tex2D<ushort2>(words, i + 0.5f, 1.5f);
	out[6 * i] = b.x * 3 + b.w;
	out[6 * i + 1] = w.x + w.y;
	out[6 * i + 2] = tex1Dfetch<int>(linear, i - 4);
	out[6 * i + 3] = tex2D<int>(rows, i + 0.5f, 2.5f);
	out[6 * i + 4] = tex2DLod<int>(rows, i + 0.5f, 3.5f, 2.0f);
	out[6 * i + 5] = tex2DGrad<int>(rows, i + 0.5f, 4.5f, make_float2(1, 0), make_float2(0, 1));
}

static void others()
{
	std::vector<char4> bytes(32 * 2);
	std::vector<ushort2> words(32 * 2);
	cudaArray_t byte_array, word_array;
	cudaChannelFormatDesc char4_format = cudaCreateChannelDesc<char4>(), ushort2_format = cudaCreateChannelDesc<ushort2>();
	int *memory = shared<int>(24), *rows, *out = shared<int>(6 * 32);
	size_t pitch;
	bool right = true;

	for (int i = 0; i < 64; i++) {
		bytes[i] = make_char4((char)-i, 1, 2, (char)(2 * i));
		words[i] = make_ushort2((unsigned short)(65535 - i), (unsigned short)i);
	}
	MUST(cudaMallocArray(&byte_array, &char4_format, 32, 2));
	MUST(cudaMallocArray(&word_array, &ushort2_format, 32, 2));
	MUST(cudaMemcpy2DToArray(byte_array, 0, 0, bytes.data(), 32 * 4, 32 * 4, 2, cudaMemcpyHostToDevice));
	MUST(cudaMemcpyToArray(word_array, 0, 0, words.data(), 64 * 4, cudaMemcpyHostToDevice));
	for (int i = 0; i < 24; i++)
		memory[i] = 7 * i + 1;
	cudaResourceDesc linear = {}, pitched = {};
	linear.resType = cudaResourceTypeLinear;
	linear.res.linear.devPtr = memory;
	linear.res.linear.desc = cudaCreateChannelDesc<int>();
	linear.res.linear.sizeInBytes = 24 * sizeof(int);
	MUST(cudaMallocPitch((void **)&rows, &pitch, 40 * sizeof(int), 5));
	for (int y = 0; y < 5; y++)
		for (int x = 0; x < 40; x++) {
			int value = 1000 * y + x;
			MUST(cudaMemcpy((char *)rows + y * pitch + x * sizeof(int), &value, sizeof value, cudaMemcpyHostToDevice));
		}
	pitched.resType = cudaResourceTypePitch2D;
	pitched.res.pitch2D.devPtr = rows;
	pitched.res.pitch2D.desc = cudaCreateChannelDesc<int>();
	pitched.res.pitch2D.width = 20; // beyond it clamps, though there is more memory
	pitched.res.pitch2D.height = 5;
	pitched.res.pitch2D.pitchInBytes = pitch;
	fetch_others<<<1, 32>>>(texture_of(of_array(byte_array)), texture_of(of_array(word_array)), texture_of(linear),
				texture_of(pitched), out);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++) {
		int at = 32 + i, x = i < 20 ? i : 19;
		right = right && out[6 * i] == (char)-at * 3 + (char)(2 * at) && out[6 * i + 1] == 65535;
		right = right && out[6 * i + 2] == (i < 4 || i >= 28 ? 0 : 7 * (i - 4) + 1);
		for (int k = 3; k < 6; k++)
			right = right && out[6 * i + k] == 1000 * (k - 1) + x;
	}
	expect(right, "integers, linear memory, rows with a pitch, levels", __LINE__);
}

__global__ void gather(cudaTextureObject_t texture, int4 *out)
{
	out[threadIdx.x] = tex2Dgather<int4>(texture, threadIdx.x + 1, 3, 0);
}

static void gathering()
{
	cudaTextureObject_t texture = texture_of(of_array(numbered(40, 10, 0, cudaArrayTextureGather)));
	int4 *out = shared<int4>(32);
	bool right = true;

	gather<<<1, 32>>>(texture, out);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++) // counter-clockwise from the lower left
		right = right && out[i].x == 3000 + i && out[i].y == 3001 + i && out[i].z == 2001 + i && out[i].w == 2000 + i;
	expect(right, "gathering", __LINE__);
}

// ---- surfaces ----

__global__ void through_surfaces(cudaSurfaceObject_t line, cudaSurfaceObject_t plane, cudaSurfaceObject_t box,
				 cudaSurfaceObject_t layers, cudaSurfaceObject_t cube, int *out)
{
	int x = threadIdx.x, *mine = out + 8 * x;
	surf1Dwrite(surf1Dread<int>(line, 4 * x) + 1, line, 4 * x);
	mine[0] = surf1Dread<int>(line, 4 * x);
	surf2Dwrite(make_short2((short)x, (short)-x), plane, 4 * x, 2);
	mine[1] = surf2Dread<int>(plane, 4 * x, 2);
	mine[2] = surf2Dread<int>(plane, 4 * (x + 16), 1, cudaBoundaryModeClamp);
	mine[3] = surf2Dread<int>(plane, 4 * (x + 16), 1, cudaBoundaryModeZero);
	surf2Dwrite(-1, plane, 4 * (x + 16), 3, cudaBoundaryModeZero);
	mine[4] = surf3Dread<int>(box, 4 * x, 2, 3);
	surf2DLayeredwrite(5 * x, layers, 4 * x, 1, 2);
	mine[5] = surf2DLayeredread<int>(layers, 4 * x, 1, 2);
	mine[6] = surfCubemapread<int>(cube, 4 * (x % 16), 2, 4);
	mine[7] = surf2Dread<int>(plane, 4 * x, 3);
}

/* Texels narrower than a register: bytes, and words of 16 bits. */
__global__ void narrow_surfaces(cudaSurfaceObject_t bytes, cudaSurfaceObject_t words, int *out)
{
	int x = threadIdx.x;
	surf1Dwrite(make_uchar4((unsigned char)(200 + x), 1, 2, (unsigned char)x), bytes, 4 * x);
	uchar4 four = surf1Dread<uchar4>(bytes, 4 * x);
	surf1Dwrite((short)-x, words, 2 * x);
	out[x] = four.x + 1000 * four.w + 1000000 * surf1Dread<short>(words, 2 * x) + surf1Dread<unsigned char>(bytes, 4 * x + 2);
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
	cudaResourceDesc resource = of_array(array);
	cudaSurfaceObject_t surface;
	MUST(cudaCreateSurfaceObject(&surface, &resource));
	return surface;
}

static void surfaces()
{
	const unsigned flags = cudaArraySurfaceLoadStore;
	cudaSurfaceObject_t line = surface_of(numbered(40, 0, 0, flags)), plane = surface_of(numbered(40, 5, 0, flags)),
			    box = surface_of(numbered(40, 5, 4, flags)),
			    layers = surface_of(numbered(40, 5, 4, flags | cudaArrayLayered)),
			    cube = surface_of(numbered(16, 16, 6, flags | cudaArrayCubemap));
	int *out = shared<int>(8 * 32);
	bool right = true;

	through_surfaces<<<1, 32>>>(line, plane, box, layers, cube, out);
	MUST(cudaDeviceSynchronize());
	for (int x = 0; x < 32; x++) {
		const int *mine = out + 8 * x;
		right = right && mine[0] == x + 1 && mine[1] == (int)((unsigned)(unsigned short)-x << 16 | (unsigned)x);
		right = right && mine[2] == 1000 + (x + 16 < 40 ? x + 16 : 39) && mine[3] == (x + 16 < 40 ? 1000 + x + 16 : 0);
		right = right && mine[4] == 3002000 + x && mine[5] == 5 * x && mine[6] == 4002000 + x % 16;
		right = right && mine[7] == (x < 16 ? 3000 + x : -1);
	}
	expect(right, "surfaces", __LINE__);
	cudaChannelFormatDesc byte = cudaCreateChannelDesc<uchar4>(), word = cudaCreateChannelDesc<short>();
	cudaArray_t bytes, words;
	MUST(cudaMallocArray(&bytes, &byte, 32, 0, flags));
	MUST(cudaMallocArray(&words, &word, 32, 0, flags));
	narrow_surfaces<<<1, 32>>>(surface_of(bytes), surface_of(words), out);
	MUST(cudaDeviceSynchronize());
	for (int x = 0; x < 32; x++)
		right = right && out[x] == 202 + x + 1000 * x - 1000000 * x;
	expect(right, "surfaces of narrow texels", __LINE__);
	MUST(cudaDestroySurfaceObject(plane));
}

// ---- copies, and what is asked of arrays ----

static void copies()
{
	cudaArray_t from = numbered(40, 12, 0, cudaArrayDefault), to = numbered(40, 12, 0, cudaArrayDefault);
	int part[3 * 8] = {0}, run[50];
	bool right = true;

	MUST(cudaMemcpy2DFromArray(part, 8 * sizeof(int), from, 5 * sizeof(int), 7, 8 * sizeof(int), 3, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 24; i++)
		right = right && part[i] == 1000 * (7 + i / 8) + 5 + i % 8;
	MUST(cudaMemcpy2DArrayToArray(to, 4 * sizeof(int), 1, from, 20 * sizeof(int), 6, 10 * sizeof(int), 2));
	MUST(cudaMemcpyFromArray(run, to, 36 * sizeof(int), 0, sizeof run, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 50; i++) {
		int y = (36 + i) / 40, x = (36 + i) % 40;
		right = right && run[i] == (y >= 1 && x >= 4 && x < 14 ? 1000 * (y + 5) + x + 16 : 1000 * y + x);
	}
	expect(right, "copies of parts of arrays", __LINE__);
	expect(cudaMemcpy2DFromArray(part, 8 * sizeof(int), from, 36 * sizeof(int), 7, 8 * sizeof(int), 3,
				    cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "a copy beyond the end", __LINE__);
	// 60 texels that run on from row to row, of 40 texels there and of 25 here.
	cudaArray_t narrow = numbered(25, 12, 0, cudaArrayDefault);
	MUST(cudaMemcpyArrayToArray(narrow, 20 * sizeof(int), 1, from, 30 * sizeof(int), 2, 60 * sizeof(int)));
	MUST(cudaMemcpyFromArray(run, narrow, 24 * sizeof(int), 2, sizeof run, cudaMemcpyDeviceToHost));
	right = true;
	for (int i = 0; i < 50; i++) {
		int here = 2 * 25 + 24 + i, there = 2 * 40 + 30 + here - (25 + 20);
		right = right && run[i] == (here < 25 + 20 + 60 ? 1000 * (there / 40) + there % 40 : 1000 * (here / 25) + here % 25);
	}
	expect(right, "texels that run on in two arrays", __LINE__);
	expect(cudaMemcpyArrayToArray(narrow, 0, 11, from, 0, 0, 26 * sizeof(int)) == cudaErrorInvalidValue, "texels that run on beyond the end", __LINE__);
	// A box of an array into memory of the device, behind an offset.
	cudaArray_t box = numbered(8, 6, 5, 0);
	int *memory = shared<int>(4 * 4 * 4);
	cudaMemcpy3DParms copy = {};
	copy.srcArray = box;
	copy.srcPos = make_cudaPos(1, 2, 3);
	copy.dstPtr = make_cudaPitchedPtr(memory, 4 * sizeof(int), 4 * sizeof(int), 4);
	copy.dstPos = make_cudaPos(sizeof(int), 1, 2);
	copy.extent = make_cudaExtent(3, 2, 2);
	copy.kind = cudaMemcpyDeviceToDevice;
	MUST(cudaMemcpy3D(&copy));
	right = true;
	for (int i = 0; i < 64; i++) {
		int x = i % 4, y = i / 4 % 4, z = i / 16;
		bool inside = x >= 1 && y >= 1 && y < 3 && z >= 2;
		right = right && memory[i] == (inside ? 1000000 * (z + 1) + 1000 * (y + 1) + x : 0);
	}
	expect(right, "a box of an array", __LINE__);
	// Slices 2^64 bytes apart would all be the first.
	copy.dstPtr.pitch = copy.dstPtr.ysize = (size_t)1 << 32;
	copy.dstPos = make_cudaPos(0, 0, 0);
	expect(cudaMemcpy3D(&copy) == cudaErrorInvalidValue, "a copy to slices of 2^64 bytes", __LINE__);
	expect(cudaMemset3D(copy.dstPtr, 1, copy.extent) == cudaErrorInvalidValue, "slices of 2^64 bytes set", __LINE__);
}

static void questions()
{
	cudaArray_t array = numbered(40, 9, 4, cudaArrayLayered);
	cudaChannelFormatDesc channels;
	cudaExtent extent;
	cudaResourceDesc resource = of_array(array), asked;
	cudaTextureDesc how = {}, told;
	cudaTextureObject_t texture = texture_of(resource);
	unsigned flags;

	MUST(cudaArrayGetInfo(&channels, &extent, &flags, array));
	expect(channels.x == 32 && channels.y == 0 && channels.f == cudaChannelFormatKindSigned && extent.width == 40 &&
	      extent.height == 9 && extent.depth == 4 && flags == cudaArrayLayered, "what an array is", __LINE__);
	MUST(cudaGetTextureObjectResourceDesc(&asked, texture));
	MUST(cudaGetTextureObjectTextureDesc(&told, texture));
	expect(asked.res.array.array == array && told.addressMode[1] == cudaAddressModeClamp, "what a texture is of", __LINE__);
	how.filterMode = cudaFilterModeLinear;
	expect(cudaCreateTextureObject(&texture, &resource, &how, NULL) == cudaErrorInvalidFilterSetting, "no filter of integers", __LINE__);
	expect(cudaCreateSurfaceObject(&texture, &resource) == cudaErrorInvalidValue, "no surface of a plain array", __LINE__);
	channels = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
	expect(cudaMallocArray(&array, &channels, 4, 4) == cudaErrorInvalidChannelDescriptor, "no three channels", __LINE__);
	MUST(cudaFreeArray(asked.res.array.array));
	expect(cudaFreeArray(asked.res.array.array) == cudaErrorInvalidResourceHandle, "an array that was freed", __LINE__);
}

static void reset()
{
	cudaArray_t array = numbered(8, 8, 0, 0);
	cudaTextureObject_t texture = texture_of(of_array(array));

	MUST(cudaDeviceReset());
	expect(cudaFreeArray(array) == cudaErrorInvalidResourceHandle && cudaDestroyTextureObject(texture) == cudaErrorInvalidValue,
	      "a device that was reset", __LINE__);
}

int main()
{
	layers();
	cubes();
	others();
	gathering();
	surfaces();
	copies();
	questions();
	reset();
	return verdict();
}
