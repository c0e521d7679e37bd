// SPDX-License-Identifier: MIT
// Fetches from CUDA arrays against the CUDA Programming Guide's formulas (appendix "Texture Fetching"), done slowly:
// the image goes on for ever on all sides, as its address mode says, and is read or interpolated there.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#include "expect.h"

// ---- the image as it is, channel by channel ----

struct Image {
	int n[3], dims;		  // extents, 1 where there is none
	std::vector<double> values; // 4 a texel, as a texture reads them
};

static double beyond(const Image &image, int channel, const int at[3], const cudaTextureAddressMode mode, const double *border)
{
	int in[3];
	for (int d = 0; d < 3; d++) {
		int n = image.n[d], i = at[d];
		if (mode == cudaAddressModeBorder && (i < 0 || i >= n))
			return border[channel];
		int twice = ((i % (2 * n)) + 2 * n) % (2 * n);
		in[d] = mode == cudaAddressModeWrap ? ((i % n) + n) % n
			: mode == cudaAddressModeMirror ? (twice < n ? twice : 2 * n - 1 - twice)
			: i < 0 ? 0 : i >= n ? n - 1 : i;
	}
	return image.values[4 * ((in[2] * image.n[1] + in[1]) * (size_t)image.n[0] + in[0]) + channel];
}

static double part_of(double whole, double weight) { return floor(whole * weight / 256 + 0.5); }

// The weights of corners, of 256, as an H100 has them: slices, then columns, then rows share what is there.
static void share(const double weight[3], double of[8])
{
	const double back = part_of(256, weight[2]);

	for (int z = 0; z < 2; z++) {
		const double slice = z ? back : 256 - back, right = part_of(slice, weight[0]), left = slice - right;
		of[4 * z + 3] = part_of(right, weight[1]);
		of[4 * z + 1] = right - of[4 * z + 3];
		of[4 * z] = part_of(left, 256 - weight[1]);
		of[4 * z + 2] = left - of[4 * z];
	}
}

// The coordinates in texels.
static double expected(const Image &image, int channel, const double x[3], bool linear, cudaTextureAddressMode mode,
		       const double *border)
{
	int at[3] = {0, 0, 0};
	double sum = 0, weight[3] = {0, 0, 0}, of[8];

	for (int d = 0; d < image.dims; d++) {
		double y = linear ? x[d] - 0.5 : x[d];
		at[d] = (int)floor(y);
		const bool clamped = mode == cudaAddressModeClamp && (at[d] < 0 || at[d] >= image.n[d] - 1);
		weight[d] = linear && !clamped ? floor((y - floor(y)) * 256 + 0.5) : 0;
	}
	// An H100 filters a row between itself and the border, if the second address mode says so, which is the first here.
	const bool bordered = image.dims == 1 && linear && mode == cudaAddressModeBorder;
	if (bordered) {
		at[1] = -1;
		weight[1] = 128;
	}
	share(weight, of);
	for (int k = 0; k < 8; k++) {
		int corner[3] = {at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)};
		if (of[k] > 0)
			sum += of[k] / 256 * beyond(image, channel, corner, mode, border);
	}
	return sum;
}

// ---- formats: texels, and the border's colour as one of them, as an H100 has it ----

template <typename T> struct Format;

static double with_bits(double value, int bits)
{
	int exponent;

	frexp(value, &exponent);
	const double unit = ldexp(1, exponent - bits);
	return copysign(floor(fabs(value) / unit + 0.5), value) * unit;
}
template <> struct Format<float> {
	static constexpr double steps = 0;
	static constexpr bool half = false;
	static constexpr double border[4] = {0.5, 0, 0, 0};
	static float make(int i, double v[4]) { v[0] = i * 0.375 - 20; return (float)v[0]; }
	static cudaTextureReadMode mode() { return cudaReadModeElementType; }
};
template <> struct Format<float4> {
	static constexpr double steps = 0;
	static constexpr bool half = false;
	static constexpr double border[4] = {0.5, -2, 3, 0.25};
	static float4 make(int i, double v[4])
	{
		for (int c = 0; c < 4; c++)
			v[c] = (c + 1) * i * 0.25;
		return make_float4((float)v[0], (float)v[1], (float)v[2], (float)v[3]);
	}
	static cudaTextureReadMode mode() { return cudaReadModeElementType; }
};
template <> struct Format<uchar4> {
	static constexpr double steps = 65535;
	static constexpr bool half = false;
	static constexpr double border[4] = {127 / 255.0, 0, 1, 64 / 255.0};
	static uchar4 make(int i, double v[4])
	{
		unsigned char c[4] = {(unsigned char)(7 * i), (unsigned char)(i * i), (unsigned char)(255 - i), (unsigned char)(31 * i)};
		for (int k = 0; k < 4; k++)
			v[k] = c[k] / 255.0;
		return make_uchar4(c[0], c[1], c[2], c[3]);
	}
	static cudaTextureReadMode mode() { return cudaReadModeNormalizedFloat; }
};
template <> struct Format<short2> {
	static constexpr double steps = 32767;
	static constexpr bool half = false;
	static constexpr double border[4] = {16383 / 32767.0, -1, 0, 0};
	static short2 make(int i, double v[4])
	{
		short a = (short)(i % 7 == 0 ? -32768 : 977 * i), b = (short)(-333 * i);
		v[0] = a / 32767.0 < -1 ? -1 : a / 32767.0;
		v[1] = b / 32767.0 < -1 ? -1 : b / 32767.0;
		return make_short2(a, b);
	}
	static cudaTextureReadMode mode() { return cudaReadModeNormalizedFloat; }
};
struct HalfPair { __half x, y; };
template <> struct Format<HalfPair> {
	static constexpr double steps = 0;
	static constexpr bool half = true;
	static constexpr double border[4] = {0.5, -2, 0, 0};
	static HalfPair make(int i, double v[4])
	{
		HalfPair pair = {__float2half(i % 4 * 0.5f), __float2half(-3.0f * (i % 500))};
		v[0] = i % 4 * 0.5, v[1] = -3.0 * (i % 500);
		return pair;
	}
	static cudaTextureReadMode mode() { return cudaReadModeElementType; }
};

template <typename T> static cudaChannelFormatDesc format() { return cudaCreateChannelDesc<T>(); }
template <> cudaChannelFormatDesc format<HalfPair>() { return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat); }

// ---- fetching ----

__global__ void fetch(cudaTextureObject_t texture, int dims, const float3 *at, float4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = dims == 1   ? tex1D<float4>(texture, at[i].x)
			 : dims == 2 ? tex2D<float4>(texture, at[i].x, at[i].y)
				     : tex3D<float4>(texture, at[i].x, at[i].y, at[i].z);
}

static cudaTextureObject_t make_texture(cudaArray_t array, bool linear, cudaTextureReadMode read, cudaTextureAddressMode mode,
					bool normalized, const float *border)
{
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;

	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
	how.readMode = read;
	how.normalizedCoords = normalized;
	for (int d = 0; d < 3; d++)
		how.addressMode[d] = mode;
	memcpy(how.borderColor, border, sizeof how.borderColor);
	MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
	return texture;
}

static const float border_color[4] = {0.5f, -2, 3, 0.25f};

template <typename T> static void compare(const Image &image, cudaArray_t array, bool linear, cudaTextureAddressMode mode, bool normalized)
{
	const int n = 96;
	cudaTextureObject_t texture = make_texture(array, linear, Format<T>::mode(), mode, normalized, border_color);
	float3 *at;
	float4 *out;
	double worst = 0;

	MUST(cudaMallocManaged(&at, n * sizeof *at));
	MUST(cudaMallocManaged(&out, n * sizeof *out));
	std::vector<double> texels(3 * n);
	for (int i = 0; i < n; i++) {
		// Odd numbers of 1/1024 of a texel, inside and well beyond: no weight is halfway between two of 1/256.
		for (int d = 0; d < 3; d++)
			texels[3 * i + d] = (2 * ((i * (1237 + 512 * d) + 77 * d) % (image.n[d] * 2048)) + 1 - image.n[d] * 1536) / 1024.0;
		double *x = &texels[3 * i];
		at[i] = normalized ? make_float3((float)(x[0] / image.n[0]), (float)(x[1] / image.n[1]), (float)(x[2] / image.n[2]))
				   : make_float3((float)x[0], (float)x[1], (float)x[2]);
	}
	fetch<<<3, 32>>>(texture, image.dims, at, out, n);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		for (int c = 0; c < 4; c++) {
			float got = (&out[i].x)[c];
			double want = expected(image, c, &texels[3 * i], linear, mode, Format<T>::border);
			if (linear && Format<T>::steps > 0) // integers are filtered as such
				want = floor(want * Format<T>::steps + 0.5 + 1e-9) / Format<T>::steps;
			if (linear && Format<T>::half) // 11 bits are left
				want = with_bits(want, 11);
			double error = fabs(got - want) / (fabs(want) + 1);
			worst = error > worst || error != error ? error : worst;
		}
	if (!(worst < 1e-6)) {
		failures++;
		printf("FAIL %dD %s, mode %d, %snormalized: off by %g\n", image.dims, linear ? "linear" : "point", mode,
		       normalized ? "" : "not ", worst);
	}
	MUST(cudaDestroyTextureObject(texture));
	MUST(cudaFree(at));
	MUST(cudaFree(out));
}

template <typename T> static void all(int dims, const int *extent)
{
	Image image = {{extent[0], dims > 1 ? extent[1] : 1, dims > 2 ? extent[2] : 1}, dims, {}};
	size_t n = (size_t)image.n[0] * image.n[1] * image.n[2];
	std::vector<T> texels(n);
	cudaChannelFormatDesc channels = format<T>();
	cudaArray_t array;

	image.values.resize(4 * n);
	for (size_t i = 0; i < n; i++) {
		double v[4] = {0, 0, 0, 0}; // what texels have not
		texels[i] = Format<T>::make((int)i, v);
		memcpy(&image.values[4 * i], v, sizeof v);
	}
	MUST(cudaMalloc3DArray(&array, &channels, make_cudaExtent(image.n[0], dims > 1 ? image.n[1] : 0, dims > 2 ? image.n[2] : 0)));
	cudaMemcpy3DParms copy = {};
	copy.srcPtr = make_cudaPitchedPtr(texels.data(), image.n[0] * sizeof(T), image.n[0], image.n[1]);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(image.n[0], image.n[1], image.n[2]);
	copy.kind = cudaMemcpyHostToDevice;
	MUST(cudaMemcpy3D(&copy));
	bool power = (extent[0] & (extent[0] - 1)) == 0;
	for (int linear = 0; linear < 2; linear++) {
		compare<T>(image, array, linear, cudaAddressModeClamp, false);
		compare<T>(image, array, linear, cudaAddressModeBorder, false);
		if (power) // normalized coordinates are exact then
			for (int mode = cudaAddressModeWrap; mode <= cudaAddressModeBorder; mode++)
				compare<T>(image, array, linear, (cudaTextureAddressMode)mode, true);
	}
	std::vector<T> back(n);
	memset(back.data(), 0, n * sizeof(T));
	copy = {};
	copy.srcArray = array;
	copy.dstPtr = make_cudaPitchedPtr(back.data(), image.n[0] * sizeof(T), image.n[0], image.n[1]);
	copy.extent = make_cudaExtent(image.n[0], image.n[1], image.n[2]);
	copy.kind = cudaMemcpyDeviceToHost;
	MUST(cudaMemcpy3D(&copy));
	expect(memcmp(back.data(), texels.data(), n * sizeof(T)) == 0, "an array copied out again", __LINE__);
	MUST(cudaFreeArray(array));
}

template <typename T> static void of_format()
{
	static const int extents[2][3] = {{32, 16, 8}, {37, 21, 5}};

	for (int dims = 1; dims <= 3; dims++)
		for (int e = 0; e < 2; e++)
			all<T>(dims, extents[e]);
}

__global__ void fetch_row(cudaTextureObject_t one, cudaTextureObject_t two, float2 *out)
{
	float x = ((int)threadIdx.x - 8) / 16.0f;
	out[threadIdx.x] = make_float2(tex1D<float>(one, x), tex1D<float>(two, x));
}

// An array with a height of 1 is one of two dimensions, and may be fetched from as if it had one.
static void single_row()
{
	float texels[9];
	const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaArray_t one, two;
	float2 *out;

	for (int i = 0; i < 9; i++)
		texels[i] = i * i;
	MUST(cudaMallocArray(&one, &format, 9));
	MUST(cudaMallocArray(&two, &format, 9, 1));
	MUST(cudaMemcpy2DToArray(one, 0, 0, texels, 0, sizeof texels, 1, cudaMemcpyHostToDevice));
	MUST(cudaMemcpy2DToArray(two, 0, 0, texels, 0, sizeof texels, 1, cudaMemcpyHostToDevice));
	MUST(cudaMallocManaged(&out, 32 * sizeof *out));
	for (int mode = 0; mode < 4; mode++) {
		cudaTextureAddressMode how = (cudaTextureAddressMode)mode;
		fetch_row<<<1, 32>>>(make_texture(one, true, cudaReadModeElementType, how, true, border_color),
				     make_texture(two, true, cudaReadModeElementType, how, true, border_color), out);
		MUST(cudaDeviceSynchronize());
		for (int i = 0; i < 32; i++)
			if (!(out[i].x == out[i].y)) {
				failures++;
				printf("FAIL a single row, mode %d: %g, not %g\n", mode, (double)out[i].y, (double)out[i].x);
			}
	}
}

int main(void)
{
	single_row();
	of_format<float>();
	of_format<float4>();
	of_format<uchar4>(); // read as floats from 0 to 1
	of_format<short2>(); // read as floats from -1 to 1
	of_format<HalfPair>();
	return verdict();
}
