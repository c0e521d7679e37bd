// SPDX-License-Identifier: MIT
// Products by the wmma interface, and by ldmatrix and mma as libraries write them, against sums on the host. All
// elements are small integers, so that every sum is exact in f32, whatever the order.
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>

using namespace nvcuda;

static int failures;

static void report(const char *what, bool right)
{
	printf("%s: %s\n", what, right ? "PASS" : "FAIL");
	failures += !right;
}

template <class T> static T *managed(size_t n)
{
	T *p;
	cudaMallocManaged(&p, n * sizeof(T));
	return p;
}

// D = A B + C for matrices of MT x NT x KT tiles; one warp a tile of D.
template <int M, int N, int K, class T, class Acc, class LA, class LB>
__global__ void product(const T *a, const T *b, const Acc *c, Acc *d, int m, int n, int k)
{
	constexpr bool a_rows = std::is_same<LA, wmma::row_major>::value, b_rows = std::is_same<LB, wmma::row_major>::value;
	wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
	wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
	wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
	int row = blockIdx.y * M, column = blockIdx.x * N;

	wmma::load_matrix_sync(fc, c + row * n + column, n, wmma::mem_row_major);
	for (int i = 0; i < k; i += K) {
		wmma::load_matrix_sync(fa, a_rows ? a + row * k + i : a + i * m + row, a_rows ? k : m);
		wmma::load_matrix_sync(fb, b_rows ? b + i * n + column : b + column * k + i, b_rows ? n : k);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	for (int i = 0; i < fc.num_elements; i++)
		fc.x[i] = fc.x[i] + fc.x[i];
	wmma::store_matrix_sync(d + row * n + column, fc, n, wmma::mem_row_major);
}

template <int M, int N, int K, class T, class Acc, class LA, class LB> static void try_product(const char *what, int least)
{
	const int m = 2 * M, n = 3 * N, k = 4 * K;
	const bool a_rows = std::is_same<LA, wmma::row_major>::value, b_rows = std::is_same<LB, wmma::row_major>::value;
	T *a = managed<T>(m * k), *b = managed<T>(k * n);
	Acc *c = managed<Acc>(m * n), *d = managed<Acc>(m * n);
	bool right = true;

	for (int i = 0; i < m * k; i++)
		a[i] = (T)(float)(i * 7 % 9 + least);
	for (int i = 0; i < k * n; i++)
		b[i] = (T)(float)(i * 5 % 11 + least);
	for (int i = 0; i < m * n; i++)
		c[i] = (Acc)(float)(i % 13);
	product<M, N, K, T, Acc, LA, LB><<<dim3(n / N, m / M), 32>>>(a, b, c, d, m, n, k);
	if (cudaDeviceSynchronize() != cudaSuccess)
		right = false;
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			float sum = (float)c[i * n + j];
			for (int e = 0; e < k; e++)
				sum += (float)a[a_rows ? i * k + e : e * m + i] * (float)b[b_rows ? e * n + j : j * k + e];
			right = right && (float)d[i * n + j] == 2 * sum;
		}
	report(what, right);
}

// A tile of 16 x 8 of f16, A by rows and B by columns in shared memory, as ldmatrix and mma take them.
__global__ void by_mma(const half *a, const half *b, float *d)
{
	__shared__ __align__(16) half sa[16][16], sb[8][16];
	int lane = threadIdx.x;
	uint32_t fa[4], fb[2];
	float fd[4] = {0, 0, 0, 0};

	for (int i = lane; i < 256; i += 32)
		sa[i / 16][i % 16] = a[i];
	for (int i = lane; i < 128; i += 32)
		sb[i / 16][i % 16] = b[i];
	__syncwarp();
	uint32_t pa = (uint32_t)__cvta_generic_to_shared(&sa[lane % 16][lane / 16 * 8]);
	uint32_t pb = (uint32_t)__cvta_generic_to_shared(&sb[lane % 8][lane / 8 % 2 * 8]);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa) : "memory");
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
		     : "=r"(fb[0]), "=r"(fb[1]) : "r"(pb) : "memory");
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		     : "+f"(fd[0]), "+f"(fd[1]), "+f"(fd[2]), "+f"(fd[3])
		     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
	for (int i = 0; i < 4; i++)
		d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = fd[i];
}

static void try_mma()
{
	half *a = managed<half>(256), *b = managed<half>(128);
	float *d = managed<float>(128);
	bool right;

	for (int i = 0; i < 256; i++)
		a[i] = __float2half((float)(i * 7 % 31 - 15));
	for (int i = 0; i < 128; i++)
		b[i] = __float2half((float)(i * 11 % 29 - 14));
	by_mma<<<1, 32>>>(a, b, d);
	right = cudaDeviceSynchronize() == cudaSuccess;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 8; j++) {
			float sum = 0;
			for (int k = 0; k < 16; k++)
				sum += __half2float(a[i * 16 + k]) * __half2float(b[j * 16 + k]);
			right = right && d[i * 8 + j] == sum;
		}
	report("ldmatrix and mma", right);
}

int main()
{
	typedef wmma::row_major row;
	typedef wmma::col_major col;

	try_product<16, 16, 16, half, float, row, row>("f16, by rows", -4);
	try_product<16, 16, 16, half, float, col, col>("f16, by columns", -4);
	try_product<32, 8, 16, half, float, row, col>("f16, 32 x 8", -4);
	try_product<8, 32, 16, half, float, col, row>("f16, 8 x 32", -4);
	try_product<16, 16, 16, __nv_bfloat16, float, row, col>("bf16", -4);
	try_product<16, 16, 16, signed char, int, row, col>("s8", -4);
	try_product<32, 8, 16, unsigned char, int, row, row>("u8", 0);
	try_product<8, 8, 4, double, double, row, col>("f64", -4);
	try_mma();
	return failures != 0;
}
