/* SPDX-License-Identifier: MIT */
/* Mipmapped arrays: levels by number and by gradients, the nearest or two of them, their limits; and sRGB. Compared with the
 * formulas of the CUDA Programming Guide, with the weights of an H100. */
#include <cmath>
#include <cstdio>

#include "expect.h"

#define WIDTH  16
#define HEIGHT 8
#define LEVELS 4
#define N      64

/* Texel (x, y) of a level. */
static float texel(int level, int x, int y)
{
	return (float)(1000 * level + 20 * y + x);
}

__global__ void by_level(cudaTextureObject_t texture, const float *levels, float *out)
{
	int i = threadIdx.x;

	out[i] = tex2DLod<float>(texture, 0.3f, 0.6f, levels[i]);
}

/* A step of `step` texels of the first level, along x, then along y. */
__global__ void by_gradient(cudaTextureObject_t texture, const float *steps, float *out)
{
	int i = threadIdx.x;

	out[2 * i] = tex2DGrad<float>(texture, 0.3f, 0.6f, make_float2(steps[i] / WIDTH, 0), make_float2(0, 1.0f / HEIGHT));
	out[2 * i + 1] = tex2DGrad<float>(texture, 0.3f, 0.6f, make_float2(0, 0), make_float2(0, steps[i] / HEIGHT));
}

__global__ void read_bytes(cudaTextureObject_t texture, float4 *out)
{
	out[threadIdx.x] = tex1D<float4>(texture, (float)threadIdx.x + 0.5f);
}

static double part_of(double whole, double weight) { return floor(whole * weight / 256 + 0.5); }

/* One level at (0.3, 0.6), filtered or not, times its weight; columns share it, then rows, as an H100 does it. */
static double sample(int level, bool linear, double whole)
{
	int extent[2] = {WIDTH >> level, HEIGHT >> level};
	double at[2], weight[2];
	int first[2];

	for (int d = 0; d < 2; d++) {
		extent[d] = extent[d] > 0 ? extent[d] : 1;
		at[d] = (double)((d ? 0.6f : 0.3f) * (float)extent[d]) - (linear ? 0.5 : 0);
		first[d] = (int)floor(at[d]);
		weight[d] = linear && first[d] >= 0 && first[d] < extent[d] - 1 ? floor((at[d] - first[d]) * 256 + 0.5) : 0;
	}
	const double right = part_of(whole, weight[0]), below = part_of(right, weight[1]), above = part_of(whole - right, 256 - weight[1]);
	const double of[4] = {above, right - below, whole - right - above, below};
	double sum = 0;
	for (int k = 0; k < 4; k++) {
		int x = first[0] + (k & 1), y = first[1] + (k >> 1);
		x = x < 0 ? 0 : x >= extent[0] ? extent[0] - 1 : x;
		y = y < 0 ? 0 : y >= extent[1] ? extent[1] - 1 : y;
		sum += of[k] * (double)texel(level, x, y);
	}
	return sum / 256;
}

/* Levels, and what is added and limits them, have steps of 1/256; the lower limit counts if it is above the other. */
static double expected(double level, bool linear, bool between, double bias, double least, double most)
{
	level = trunc(level * 256) + trunc(bias * 256);
	level = fmax(fmin(level, trunc(most * 256)), trunc(least * 256));
	level = fmin(fmax(level, 0), 256 * (LEVELS - 1));
	if (!between)
		return sample((int)floor(level / 256 + 0.5), linear, 256);
	int lower = (int)(level / 256);
	double weight = level - 256 * lower;
	return sample(lower, linear, 256 - weight) + (weight > 0 ? sample(lower + 1, linear, weight) : 0);
}

static cudaTextureObject_t texture_of(cudaMipmappedArray_t array, bool linear, bool between, float bias, float least, float most)
{
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture = 0;

	resource.resType = cudaResourceTypeMipmappedArray;
	resource.res.mipmap.mipmap = array;
	how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
	how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
	how.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
	how.normalizedCoords = 1;
	how.mipmapLevelBias = bias;
	how.minMipmapLevelClamp = least;
	how.maxMipmapLevelClamp = most;
	how.maxAnisotropy = bias == 0.5f ? 2 : 0; /* which changes nothing here but a line of the stand-in's */
	CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaSuccess);
	return texture;
}

static cudaMipmappedArray_t make_levels()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaMipmappedArray_t array = nullptr;
	cudaArray_t level;
	float texels[WIDTH * HEIGHT];

	CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(WIDTH, HEIGHT, 0), LEVELS) == cudaSuccess);
	for (int l = 0; l < LEVELS; l++) {
		cudaExtent extent;
		int width = WIDTH >> l, height = HEIGHT >> l;
		for (int i = 0; i < width * height; i++)
			texels[i] = texel(l, i % width, i / width);
		CHECK(cudaGetMipmappedArrayLevel(&level, array, (unsigned)l) == cudaSuccess);
		cudaArrayGetInfo(nullptr, &extent, nullptr, level);
		CHECK((int)extent.width == width && (int)extent.height == height);
		cudaMemcpy2DToArray(level, 0, 0, texels, (size_t)width * sizeof(float), (size_t)width * sizeof(float), (size_t)height,
				    cudaMemcpyHostToDevice);
	}
	CHECK(cudaGetMipmappedArrayLevel(&level, array, LEVELS) == cudaErrorInvalidValue);
	cudaGetLastError();
	cudaMipmappedArray_t least = nullptr; /* there is always a level */
	CHECK(cudaMallocMipmappedArray(&least, &format, make_cudaExtent(WIDTH, HEIGHT, 0), 0) == cudaSuccess);
	CHECK(cudaGetMipmappedArrayLevel(&level, least, 0) == cudaSuccess);
	CHECK(cudaGetMipmappedArrayLevel(&level, least, 1) == cudaErrorInvalidValue);
	CHECK(cudaFreeMipmappedArray(least) == cudaSuccess);
	cudaGetLastError();
	return array;
}

/* A surface of a level, which needs no flag: what is stored is fetched. */
__global__ void store(cudaSurfaceObject_t surface, int width)
{
	surf2Dwrite(1000.0f + threadIdx.x, surface, (int)(threadIdx.x % width) * (int)sizeof(float), threadIdx.x / width);
}

__global__ void fetch(cudaTextureObject_t texture, float *out)
{
	out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, 1);
}

static void surface_of_level(cudaMipmappedArray_t array, float *out)
{
	cudaResourceDesc resource = {};
	cudaSurfaceObject_t surface = 0;
	cudaTextureObject_t texture = texture_of(array, false, false, 0, 0, 10);

	resource.resType = cudaResourceTypeArray;
	CHECK(cudaGetMipmappedArrayLevel(&resource.res.array.array, array, 1) == cudaSuccess);
	CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
	store<<<1, (WIDTH / 2) * (HEIGHT / 2)>>>(surface, WIDTH / 2);
	fetch<<<1, 1>>>(texture, out);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	CHECK(out[0] == 1000.0f + WIDTH / 4 + HEIGHT / 4 * (WIDTH / 2));
	cudaDestroySurfaceObject(surface);
	cudaDestroyTextureObject(texture);
}

/* The level of steps that lie aslant, or of which none is longer: measured on an H100. */
__global__ void by_steps(cudaTextureObject_t texture, const float4 *steps, float *out)
{
	const float4 s = steps[threadIdx.x];
	out[threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(s.x, s.y), make_float2(s.z, s.w));
}

static void lengths()
{
	static const struct { float4 step; double level; } spots[] = {
		{{2.49720192f, 0.0f, 0.0f, 0.0f}, 1.3203125},
		{{4.35612965f, 0.0f, 0.0f, 0.0f}, 2.1210938},
		{{1.90486336f, 1.90486336f, 0.0f, 0.0f}, 1.3554688},
		{{8.56026936f, 8.56026936f, 0.0f, 0.0f}, 3.5195312},
		{{3.92801694f, 0.755435571f, 0.0f, 0.0f}, 2.0625},
		{{3.007223f, 2.63753859f, 0.0f, 0.0f}, 1.96875},
		{{2.84365423f, 2.8131176f, -2.8131176f, 2.84365423f}, 1.9570312},
		{{3.68424401f, 1.55767328f, -1.55767328f, 3.68424401f}, 2.078125},
		{{-8.0f, -7.33048439f, 0.15290451f, 5.21267414f}, 3.3984375},
		{{-3.68598461f, 4.40037155f, -5.96539211f, 0.439129829f}, 2.9570312},
		{{-4.43795109f, -6.51084805f, 1.91165161f, 5.1461525f}, 3.2460938},
		{{7.98805809f, -5.48659801f, 7.75004292f, -4.15535736f}, 3.7070312},
		{{6.16596985f, 5.95443535f, 5.50692844f, -0.469512939f}, 3.2148438},
	};
	const int n = sizeof spots / sizeof *spots;
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaMipmappedArray_t array = nullptr;
	cudaArray_t level;
	float texels[32 * 16], *out;
	float4 *steps;

	CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(32, 16, 0), 5) == cudaSuccess);
	for (int l = 0; l < 5; l++) {
		for (int i = 0; i < 32 * 16; i++)
			texels[i] = (float)l;
		cudaGetMipmappedArrayLevel(&level, array, (unsigned)l);
		cudaMemcpy2DToArray(level, 0, 0, texels, (size_t)(32 >> l) * 4, (size_t)(32 >> l) * 4, (size_t)(16 >> l), cudaMemcpyHostToDevice);
	}
	cudaMallocManaged(&steps, n * sizeof *steps);
	cudaMallocManaged(&out, n * sizeof *out);
	for (int i = 0; i < n; i++)
		steps[i] = make_float4(spots[i].step.x / 32, spots[i].step.y / 16, spots[i].step.z / 32, spots[i].step.w / 16);
	by_steps<<<1, n>>>(texture_of(array, false, true, 0, 0, 10), steps, out);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	for (int i = 0; i < n; i++)
		CHECK(fabs(out[i] - spots[i].level) < 2.5 / 256);
	CHECK(cudaFreeMipmappedArray(array) == cudaSuccess);
}

static void srgb()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture = 0;
	uchar4 bytes[N];
	float4 *out;
	cudaArray_t array;

	for (int i = 0; i < N; i++)
		bytes[i] = make_uchar4((unsigned char)(4 * i), (unsigned char)i, 255, (unsigned char)(4 * i));
	cudaMallocArray(&array, &format, N);
	cudaMemcpy2DToArray(array, 0, 0, bytes, sizeof bytes, sizeof bytes, 1, cudaMemcpyHostToDevice);
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	how.readMode = cudaReadModeNormalizedFloat;
	how.sRGB = 1;
	CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaSuccess);
	cudaMallocManaged(&out, N * sizeof *out);
	read_bytes<<<1, N>>>(texture, out);
	cudaDeviceSynchronize();
	for (int i = 0; i < N; i++) {
		/* An H100 keeps 8 bits of what sRGB stands for. */
		double part = 4 * i / 255.0, dark = i / 255.0;
		double linear = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
		double dim = dark <= 0.04045 ? dark / 12.92 : pow((dark + 0.055) / 1.055, 2.4);
		CHECK(fabs(out[i].x - linear) < linear / 160 + 1.0 / 32768 && fabs(out[i].y - dim) < dim / 160 + 1.0 / 32768);
		CHECK(out[i].z == 1 && fabs(out[i].w - part) < 1e-6);
	}
}

int main()
{
	static const float limits[4][3] = {{0, 0, 10}, {0.5f, 0, 10}, {0, 1.25f, 2.5f}, {-0.7f, 2, 1}};
	cudaMipmappedArray_t array = make_levels();
	float *levels, *steps, *out;

	cudaMallocManaged(&levels, N * sizeof *levels);
	cudaMallocManaged(&steps, N * sizeof *steps);
	cudaMallocManaged(&out, 2 * N * sizeof *out);
	for (int i = 0; i < N; i++) {
		levels[i] = -1 + (float)i * 0.09375f;
		steps[i] = exp2f((float)(i % 4));
	}
	for (int form = 0; form < 16; form++) {
		bool linear = form & 1, between = form >> 1 & 1;
		const float *limit = limits[form >> 2];
		cudaTextureObject_t texture = texture_of(array, linear, between, limit[0], limit[1], limit[2]);
		by_level<<<1, N>>>(texture, levels, out);
		CHECK(cudaDeviceSynchronize() == cudaSuccess);
		for (int i = 0; i < N; i++)
			CHECK(fabs(out[i] - expected((double)levels[i], linear, between, limit[0], limit[1], limit[2])) < 1e-3);
		by_gradient<<<1, N>>>(texture, steps, out);
		CHECK(cudaDeviceSynchronize() == cudaSuccess);
		for (int i = 0; i < 2 * N; i++)
			CHECK(fabs(out[i] - expected(i / 2 % 4, linear, between, limit[0], limit[1], limit[2])) < 1e-3);
		cudaDestroyTextureObject(texture);
	}
	surface_of_level(array, out);
	CHECK(cudaFreeMipmappedArray(array) == cudaSuccess);
	lengths();
	srgb();
	return verdict();
}
