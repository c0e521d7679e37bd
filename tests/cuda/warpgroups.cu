/* SPDX-License-Identifier: MIT */
/* Products of matrices by four warps (wgmma) against sums element by element: types, layouts of A and B in shared memory with
 * each swizzle, A in registers or sparse, signs, and sums that are begun anew. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "expect.h"
#include "sparse.h"

enum { M = 64, N = 64, DEEP = 32 /* bytes along K */ };

/* How a matrix of `rows` rows of 32 bytes lies: every element is put there one by one. Strides are in bytes. */
struct layout {
	int swizzle; /* pieces of 16 bytes that change places: 1, 2, 4, 8 */
	bool transposed;
	int leading, stride;
};

__host__ __device__ static int exchanged(int at, int pieces)
{
	return (at / 16 ^ at / 128 % 8 % pieces) * 16 + at % 16;
}

/* The byte where element (row, k) begins. */
__host__ __device__ static int place(layout how, int row, int k, int bytes)
{
	int at, width = 16 * how.swizzle / bytes; /* elements of a row of the pattern */

	if (!how.transposed) {
		int group = row / 8, in_group = row % 8, deep = k * bytes;
		if (how.swizzle == 1)
			at = group * how.stride + in_group * 16 + deep / 16 * how.leading + deep % 16;
		else
			at = group * how.stride + in_group * 16 * how.swizzle + deep;
	} else if (how.swizzle == 1) {
		at = row / 8 * how.stride + row % 8 * bytes + k / 8 * how.leading + k % 8 * 16;
	} else {
		at = row / width * how.leading + row % width * bytes + k % 8 * 16 * how.swizzle + k / 8 * how.stride;
	}
	return exchanged(at, how.swizzle);
}

__device__ static uint64_t descriptor(const void *at, layout how)
{
	uint64_t start = __cvta_generic_to_shared(at), mode = how.swizzle == 8 ? 1 : how.swizzle == 4 ? 2 : how.swizzle == 2 ? 3 : 0;

	return (start >> 4 & 0x3fff) | (uint64_t)(how.leading >> 4) << 16 | (uint64_t)(how.stride >> 4) << 32 | mode << 62;
}

#define D8(A, I)                                                                                          \
	A "%" #I "0, %" #I "1, %" #I "2, %" #I "3, %" #I "4, %" #I "5, %" #I "6, %" #I "7, %" #I "8, %" #I "9"
#define REGISTERS                                                                                         \
	"{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
	"%24, %25, %26, %27, %28, %29, %30, %31}"
#define OUT8(C, I) C(d[I]), C(d[I + 1]), C(d[I + 2]), C(d[I + 3]), C(d[I + 4]), C(d[I + 5]), C(d[I + 6]), C(d[I + 7])
#define OUT32(C) OUT8(C, 0), OUT8(C, 8), OUT8(C, 16), OUT8(C, 24)
#define F "+f"
#define R "+r"
#define MULTIPLY(C, TYPES, REST)                                                                          \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64" TYPES " " REGISTERS ", %32, %33, p" REST ";\n}" \
		     : OUT32(C) : "l"(a), "l"(b), "r"(adds) : "memory")

enum kind { HALF, HALF_AT, HALF_TA, HALF_TB, HALF_TT, HALF_NEGATIVE, BFLOAT, TF32, E4M3, E5M2, S8, U8S8, BITS };

template <int kind, typename T> __device__ void multiply(T (&d)[32], uint64_t a, uint64_t b, int adds);
#define KIND(K, T, C, TYPES, REST) \
	template <> __device__ void multiply<K, T>(T (&d)[32], uint64_t a, uint64_t b, int adds) { MULTIPLY(C, TYPES, REST); }
KIND(HALF, float, F, "k16.f32.f16.f16", ", 1, 1, 0, 0")
KIND(HALF_TA, float, F, "k16.f32.f16.f16", ", 1, 1, 1, 0")
KIND(HALF_TB, float, F, "k16.f32.f16.f16", ", 1, 1, 0, 1")
KIND(HALF_TT, float, F, "k16.f32.f16.f16", ", 1, 1, 1, 1")
KIND(HALF_NEGATIVE, float, F, "k16.f32.f16.f16", ", -1, 1, 0, 0")
KIND(BFLOAT, float, F, "k16.f32.bf16.bf16", ", 1, -1, 0, 0")
KIND(TF32, float, F, "k8.f32.tf32.tf32", ", 1, 1")
KIND(E4M3, float, F, "k32.f32.e4m3.e4m3", ", 1, 1")
KIND(E5M2, float, F, "k32.f32.e5m2.e4m3", ", 1, 1")
KIND(S8, int, R, "k32.s32.s8.s8", "")
KIND(U8S8, int, R, "k32.s32.u8.s8", "")
KIND(BITS, int, R, "k256.s32.b1.b1.and.popc", "")

/* Two products: the first one begins anew, whatever is in the registers; the second one is added. */
template <int kind, typename T>
__global__ void run(const unsigned char *a, const unsigned char *b, T *out, layout a_how, layout b_how, int bytes)
{
	__shared__ __align__(1024) unsigned char in_a[8192], in_b[8192];
	T d[32];

	for (int i = threadIdx.x; i < M * DEEP; i += blockDim.x) {
		int row = i / DEEP, byte = i % DEEP;
		in_a[place(a_how, row, byte / bytes, bytes) + byte % bytes] = a[i];
		in_b[place(b_how, row, byte / bytes, bytes) + byte % bytes] = b[i];
	}
	for (int i = 0; i < 32; i++)
		d[i] = 1000 + i;
	asm volatile("fence.proxy.async;");
	__syncthreads();
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
	for (int turn = 0; turn < 2; turn++)
		multiply<kind, T>(d, descriptor(in_a, a_how), descriptor(in_b, b_how), turn);
	asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = 0; i < 32; i++) {
		int row = warp * 16 + lane / 4 + (i / 2 % 2) * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
		out[row * N + column] = d[i];
	}
}

/* A in registers: those of lane l hold columns 2 (l % 4) and the next of row l / 4, 8 rows further, and 8 columns further. */
__global__ void run_registers(const half *a, const half *b, float *out, layout b_how)
{
	__shared__ __align__(1024) unsigned char in_b[8192];
	float d[32] = {};
	uint32_t r[4];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	for (int i = threadIdx.x; i < N * 16; i += blockDim.x)
		*(half *)(in_b + place(b_how, i / 16, i % 16, 2)) = b[i];
	for (int i = 0; i < 4; i++)
		memcpy(&r[i], &a[(warp * 16 + lane / 4 + i % 2 * 8) * 16 + lane % 4 * 2 + i / 2 * 8], 4);
	asm volatile("fence.proxy.async;");
	__syncthreads();
	uint64_t at = descriptor(in_b, b_how);
	asm volatile("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS
		     ", {%32, %33, %34, %35}, %36, 1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
		     : OUT32(F) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(at) : "memory");
	for (int i = 0; i < 32; i++)
		out[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

static double value_of(int kind, bool is_a, const unsigned char *at)
{
	switch (kind) {
	case BFLOAT: return (double)(float)*(const __nv_bfloat16 *)at;
	case TF32: return (double)*(const float *)at;
	case E4M3: return (double)(float)*(const __nv_fp8_e4m3 *)at;
	case E5M2: return is_a ? (double)(float)*(const __nv_fp8_e5m2 *)at : (double)(float)*(const __nv_fp8_e4m3 *)at;
	case S8: return (signed char)*at;
	case U8S8: return is_a ? (double)*at : (double)(signed char)*at;
	default: return (double)(float)*(const half *)at;
	}
}

/* Small numbers, of which the products are exact. */
static void fill(int kind, bool is_a, unsigned char *at, int i)
{
	float value = (float)((i * 7 + i / 13) % 15 - 7);
	__nv_bfloat16 bf = value;
	__nv_fp8_e4m3 e4 = __nv_fp8_e4m3(value);
	__nv_fp8_e5m2 e5 = __nv_fp8_e5m2(value);
	half h = value;

	switch (kind) {
	case BFLOAT: memcpy(at, &bf, 2); break;
	case TF32: memcpy(at, &value, 4); break;
	case E4M3: memcpy(at, &e4, 1); break;
	case E5M2: memcpy(at, is_a ? (void *)&e5 : (void *)&e4, 1); break;
	case S8:
	case U8S8:
	case BITS: *at = (unsigned char)(i * 37 + i / 11); break;
	default: memcpy(at, &h, 2);
	}
}

static void fill_all(int kind, int bytes, unsigned char *a, unsigned char *b)
{
	for (int i = 0; i < M * DEEP / bytes; i++) {
		fill(kind, true, a + i * bytes, i);
		fill(kind, false, b + i * bytes, i * 3 + 5);
	}
}

template <int kind, typename T> static void test(int bytes, layout a_how, layout b_how, const char *name)
{
	unsigned char a[M * DEEP], b[N * DEEP], *da, *db;
	T *out, found[M * N];
	const int depth = DEEP / bytes;
	const double sign = kind == HALF_NEGATIVE || kind == BFLOAT ? -1 : 1;

	fill_all(kind, bytes, a, b);
	cudaMalloc(&da, sizeof a);
	cudaMalloc(&db, sizeof b);
	cudaMalloc(&out, sizeof found);
	cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
	cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
	run<kind, T><<<1, 128>>>(da, db, out, a_how, b_how, bytes);
	cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double sum = 0;
			for (int k = 0; k < depth; k++)
				sum += kind == BITS ? __builtin_popcount(a[m * DEEP + k] & b[n * DEEP + k])
						    : value_of(kind, true, a + m * DEEP + k * bytes) * value_of(kind, false, b + n * DEEP + k * bytes);
			expect(found[m * N + n] == (T)(2 * sign * sum), name, __LINE__);
		}
	cudaFree(da);
	cudaFree(db);
	cudaFree(out);
}

static void test_registers(layout b_how)
{
	half a[M * 16], b[N * 16], *da, *db;
	float *out, found[M * N];

	fill_all(HALF, 2, (unsigned char *)a, (unsigned char *)b);
	cudaMalloc(&da, sizeof a);
	cudaMalloc(&db, sizeof b);
	cudaMalloc(&out, sizeof found);
	cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
	cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
	run_registers<<<1, 128>>>(da, db, out, b_how);
	cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double sum = 0;
			for (int k = 0; k < 16; k++)
				sum += (double)(float)a[m * 16 + k] * (double)(float)b[n * 16 + k];
			expect(found[m * N + n] == sum, "A in registers", __LINE__);
		}
}

/* ---- sparse A ---- */

enum { STORED = 32, B_DEEP = 64 }; /* bytes of a row of A, and of a column of B, along K */

#define MULTIPLY_SPARSE(C, TYPES, SELECTOR, REST)                                                                   \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sp.sync.aligned.m64n64" TYPES " " REGISTERS \
		     ", %32, %33, %35, " SELECTOR ", p" REST ";\n}" : OUT32(C) : "l"(a), "l"(b), "r"(adds), "r"(metadata) : "memory")
template <int kind, int selector, typename T> __device__ void multiply_sparse(T (&d)[32], uint64_t a, uint64_t b, uint32_t metadata, int adds);
#define SPARSE(K, S, T, C, TYPES, REST)                                                                                          \
	template <> __device__ void multiply_sparse<K, S, T>(T (&d)[32], uint64_t a, uint64_t b, uint32_t metadata, int adds)    \
	{                                                                                                                        \
		MULTIPLY_SPARSE(C, TYPES, #S, REST);                                                                             \
	}
SPARSE(HALF, 0, float, F, "k32.f32.f16.f16", ", 1, 1, 0, 0")
SPARSE(HALF_TB, 1, float, F, "k32.f32.f16.f16", ", 1, 1, 0, 1")
SPARSE(TF32, 1, float, F, "k16.f32.tf32.tf32", ", 1, 1")
SPARSE(E4M3, 0, float, F, "k64.f32.e4m3.e4m3", ", 1, 1")
SPARSE(S8, 0, int, R, "k64.s32.s8.s8", "")

template <int kind, int selector, typename T>
__global__ void run_sparse(const unsigned char *a, const unsigned char *b, const uint32_t *metadata, T *out, layout a_how, layout b_how, int bytes)
{
	__shared__ __align__(1024) unsigned char in_a[8192], in_b[8192];
	T d[32];

	for (int i = threadIdx.x; i < M * STORED; i += blockDim.x)
		in_a[place(a_how, i / STORED, i % STORED / bytes, bytes) + i % bytes] = a[i];
	for (int i = threadIdx.x; i < N * B_DEEP; i += blockDim.x)
		in_b[place(b_how, i / B_DEEP, i % B_DEEP / bytes, bytes) + i % bytes] = b[i];
	asm volatile("fence.proxy.async;");
	__syncthreads();
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
	for (int turn = 0; turn < 2; turn++)
		multiply_sparse<kind, selector, T>(d, descriptor(in_a, a_how), descriptor(in_b, b_how), metadata[threadIdx.x], turn);
	asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int i = 0; i < 32; i++)
		out[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

/* Puts a group's bits where its lane has them (PTX ISA, "Sparse matrix storage"): of bytes 8 groups of a row in a lane, of larger elements 4
 * of a row in the lower half, and of the one 8 below in the upper. */
static void put(uint32_t *metadata, int bytes, int selector, int row, int group, uint32_t bits)
{
	const int low = row % 16 / 8, lane = row / 16 * 32 + row % 8 * 4;

	if (bytes == 1)
		metadata[lane + group / 8 * 2 + low] |= bits << group % 8 * 4;
	else
		metadata[lane + selector * 2 + group / 4] |= bits << (low * 16 + group % 4 * 4);
}

template <int kind, int selector, typename T> static void test_sparse(int bytes, layout a_how, layout b_how, const char *name)
{
	unsigned char a[M * STORED], b[N * B_DEEP], *da, *db;
	uint32_t metadata[128] = {}, *dm;
	T *out, found[M * N];
	const int width = bytes == 4 ? 2 : 4, groups = B_DEEP / bytes / width;
	int at[2];

	for (int i = 0; i < M * STORED / bytes; i++)
		fill(kind, true, a + i * bytes, i);
	for (int i = 0; i < N * B_DEEP / bytes; i++)
		fill(kind, false, b + i * bytes, i * 3 + 5);
	for (int row = 0; row < M; row++)
		for (int group = 0; group < groups; group++)
			put(metadata, bytes, selector, row, group, kept(bytes, row, group, at));
	cudaMalloc(&da, sizeof a);
	cudaMalloc(&db, sizeof b);
	cudaMalloc(&dm, sizeof metadata);
	cudaMalloc(&out, sizeof found);
	cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
	cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
	cudaMemcpy(dm, metadata, sizeof metadata, cudaMemcpyHostToDevice);
	run_sparse<kind, selector, T><<<1, 128>>>(da, db, dm, out, a_how, b_how, bytes);
	cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double sum = 0;
			for (int group = 0; group < groups; group++) {
				kept(bytes, m, group, at);
				for (int e = 0; e < width / 2; e++)
					sum += value_of(kind, true, a + m * STORED + (group * width / 2 + e) * bytes) *
					       value_of(kind, false, b + n * B_DEEP + (group * width + at[e]) * bytes);
			}
			expect(found[m * N + n] == (T)(2 * sum), name, __LINE__);
		}
	cudaFree(da);
	cudaFree(db);
	cudaFree(dm);
	cudaFree(out);
}

int main()
{
	/* Along K: no swizzle, then rows of 32, 64 and 128 bytes. */
	const layout plain = {1, false, 128, 256}, k32 = {2, false, 16, 256}, k64 = {4, false, 16, 512}, k128 = {8, false, 16, 1024};
	/* Along M or N: 8 halves a row, then 16, 32, 64. */
	const layout t8 = {1, true, 1024, 128}, t16 = {2, true, 512, 256}, t32 = {4, true, 1024, 512}, t64 = {8, true, 16, 1024};

	test<HALF, float>(2, plain, plain, "f16, no swizzle");
	test<HALF, float>(2, k32, k64, "f16, swizzles of 32 and 64 bytes");
	test<HALF, float>(2, k128, k128, "f16, swizzle of 128 bytes");
	test<HALF, float>(2, {1, false, 2048, 128}, plain, "f16, other strides");
	test<HALF_TA, float>(2, t8, k128, "f16, A along M");
	test<HALF_TB, float>(2, k64, t16, "f16, B along N");
	test<HALF_TT, float>(2, t32, t64, "f16, A along M and B along N");
	test<HALF_TT, float>(2, t64, t32, "f16, the other way around");
	test<HALF_NEGATIVE, float>(2, k128, plain, "f16, -A");
	test<BFLOAT, float>(2, k128, k32, "bf16, -B");
	test<TF32, float>(4, k128, k64, "tf32");
	test<E4M3, float>(1, k128, k128, "e4m3");
	test<E5M2, float>(1, plain, k32, "e5m2 and e4m3");
	test<S8, int>(1, k128, k64, "s8");
	test<U8S8, int>(1, k32, plain, "u8 and s8");
	test<BITS, int>(1, k128, k128, "bits");
	test_registers(k128);
	const layout deeper = {1, false, 128, 512};
	test_sparse<HALF, 0, float>(2, k128, k64, "sparse f16");
	test_sparse<HALF_TB, 1, float>(2, k32, t64, "sparse f16, B along N");
	test_sparse<TF32, 1, float>(4, k64, k128, "sparse tf32");
	test_sparse<E4M3, 0, float>(1, k128, deeper, "sparse e4m3");
	test_sparse<S8, 0, int>(1, plain, k64, "sparse s8");
	return verdict();
}
