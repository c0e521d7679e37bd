/* SPDX-License-Identifier: MIT */
/* Tensor memory (tcgen05) against sums element by element: kinds of products, layouts of A and B in shared memory, A in tensor
 * memory, 64 and 128 rows, pairs of blocks, lanes that are left alone, scales, a sparse A; all shapes of loads, stores and copies; and the answer to a
 * block that asks for the work of another. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "expect.h"
#include "sparse.h"

enum { LANES = 128, COLUMNS = 512, ROWS = 128, WIDE = 256, DEEP = 32 /* bytes along K */ };

/* How a matrix whose lines have 32 bytes along K lies; strides are in bytes. */
struct layout {
	int swizzle; /* pieces of 16 bytes that change places: 1, 2, 4, 8; or pieces of 32 bytes, in rows of 128: -4 */
	bool transposed;
	int leading, stride;
};

/* The byte where element (row, k) begins. */
__host__ __device__ static int place(layout how, int row, int k, int bytes)
{
	int piece = 16 / bytes, width = piece * how.swizzle, at; /* elements of a piece, and of a row of the pattern */

	if (how.swizzle < 0) { /* rows of 128 bytes, 4 in a group */
		at = row / 32 * how.leading + row % 32 * 4 + k % 4 * 128 + k / 4 * how.stride;
		return (at / 32 ^ at / 128 % 4) * 32 + at % 32;
	}
	if (!how.transposed && how.swizzle == 1)
		at = row / 8 * how.stride + row % 8 * 16 + k / piece * how.leading + k % piece * bytes;
	else if (!how.transposed)
		at = row / 8 * how.stride + row % 8 * 16 * how.swizzle + k * bytes;
	else if (how.swizzle == 1)
		at = row / piece * how.stride + row % piece * bytes + k / 8 * how.leading + k % 8 * 16;
	else
		at = row / width * how.leading + row % width * bytes + k % 8 * 16 * how.swizzle + k / 8 * how.stride;
	return (at / 16 ^ at / 128 % 8 % how.swizzle) * 16 + at % 16;
}

__device__ static uint64_t descriptor(const void *at, layout how)
{
	uint64_t start = __cvta_generic_to_shared(at), mode = how.swizzle == 8 ? 2 : how.swizzle == 4 ? 4 : how.swizzle == 2 ? 6 : how.swizzle < 0;

	return (start >> 4 & 0x3fff) | (uint64_t)(how.leading >> 4) << 16 | (uint64_t)(how.stride >> 4) << 32 | (uint64_t)1 << 46 | mode << 61;
}

/* ---- what blocks and warps do ---- */

template <int group> __device__ uint32_t allocate(uint32_t *address)
{
	uint32_t at = __cvta_generic_to_shared(address);

	if (threadIdx.x < 32) {
		if (group == 2)
			asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 512;\n"
				     "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" :: "r"(at) : "memory");
		else
			asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;\n"
				     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" :: "r"(at) : "memory");
	}
	__syncthreads();
	return *address;
}

template <int group> __device__ void release(uint32_t tensor)
{
	__syncthreads();
	if (threadIdx.x < 32 && group == 2)
		asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 512;" :: "r"(tensor));
	if (threadIdx.x < 32 && group == 1)
		asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" :: "r"(tensor));
}

__device__ static void wait(uint64_t *barrier, int parity)
{
	uint32_t at = __cvta_generic_to_shared(barrier), over = 0;

	while (!over)
		asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
			     : "=r"(over) : "r"(at), "r"(parity) : "memory");
}

/* Each thread its lane. */
__device__ static uint32_t load_word(uint32_t tensor, int column)
{
	uint32_t word;

	asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;"
		     : "=r"(word) : "r"(tensor + ((threadIdx.x / 32 * 32) << 16) + column) : "memory");
	return word;
}

__device__ static void store_word(uint32_t tensor, int column, uint32_t word)
{
	asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\ntcgen05.wait::st.sync.aligned;"
		     :: "r"(tensor + ((threadIdx.x / 32 * 32) << 16) + column), "r"(word) : "memory");
}

__device__ static void dump(uint32_t tensor, uint32_t *out, int columns)
{
	asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
	for (int column = 0; column < columns; column++)
		out[threadIdx.x * COLUMNS + column] = load_word(tensor, column);
}

/* ---- products ---- */

enum kind { HALF, TF32, FP8, S8, SCALED8, SCALED4, SCALED4_BY_16 };
enum { A_SCALES = WIDE + 32, B_SCALES = WIDE + 40, METADATA = WIDE + 48 }; /* columns of tensor memory */

struct job {
	layout a, b;
	int bytes; /* of an element */
	int rows, columns; /* rows: of a block */
	uint32_t form; /* the instruction descriptor without its shape */
	uint32_t kept; /* lanes of each 32 that are not written */
	bool a_in_tensor;
	bool sparse; /* A is, so that B is twice as deep */
	bool keeps_b; /* .ws */
};

#define MMA(GROUP, KIND, A, LANES_KEPT, SCALE)                                                                     \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::" #GROUP ".kind::" KIND " [%0], " A ", %2, %3, {" \
		     LANES_KEPT "}, p" SCALE ";\n}" :: "r"(d), "l"(a), "l"(b), "r"(form), "r"(adds), "r"(kept), "r"(a_tensor) : "memory")
#define MMA_SCALED(GROUP, KIND)                                                                                    \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::" #GROUP ".kind::" KIND           \
		     " [%0], %1, %2, %3, [%5], [%6], p;\n}"                                                     \
		     :: "r"(d), "l"(a), "l"(b), "r"(form), "r"(adds), "r"(d + A_SCALES), "r"(d + B_SCALES) : "memory")
#define MMA_SPARSE(GROUP, KIND)                                                                                    \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.sp.cta_group::" #GROUP ".kind::" KIND        \
		     " [%0], %1, %2, [%5], %3, p;\n}"                                                           \
		     :: "r"(d), "l"(a), "l"(b), "r"(form), "r"(adds), "r"(d + METADATA) : "memory")
#define MMA_WS(KIND, COLLECTOR)                                                                                    \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.ws.cta_group::1.kind::" KIND COLLECTOR               \
		     " [%0], %1, %2, %3, p;\n}" :: "r"(d), "l"(a), "l"(b), "r"(form), "r"(adds) : "memory")
#define MMA_SPARSE_SCALED(GROUP, KIND)                                                                             \
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.sp.cta_group::" #GROUP ".kind::" KIND        \
		     " [%0], %1, %2, [%5], %3, [%6], [%7], p;\n}"                                               \
		     :: "r"(d), "l"(a), "l"(b), "r"(form), "r"(adds), "r"(d + METADATA), "r"(d + A_SCALES), "r"(d + B_SCALES) : "memory")
#define KEPT_1 "%5, %5, %5, %5"
#define KEPT_2 "%5, %5, %5, %5, %5, %5, %5, %5"

template <int kind, int group>
__device__ void multiply(uint32_t d, uint64_t a, uint32_t a_tensor, bool in_tensor, uint64_t b, uint32_t form, uint32_t adds, uint32_t kept, bool keeps_b)
{
	if (keeps_b) {
		if (group == 1 && kind == HALF) MMA_WS("f16", ".collector::b1::fill");
		if (group == 1 && kind == TF32) MMA_WS("tf32", "");
		if (group == 1 && kind == FP8) MMA_WS("f8f6f4", ".collector::b3::lastuse");
		if (group == 1 && kind == S8) MMA_WS("i8", ".collector::b0::discard");
	} else if (form >> 2 & 1 && kind < FP8) {
		if (group == 1 && kind == HALF) MMA_SPARSE(1, "f16");
		if (group == 1 && kind == TF32) MMA_SPARSE(1, "tf32");
		if (group == 2 && kind == HALF) MMA_SPARSE(2, "f16");
	} else if (form >> 2 & 1) {
		if (group == 1 && kind == S8) MMA_SPARSE(1, "i8");
		if (group == 1 && kind == FP8) MMA_SPARSE(1, "f8f6f4");
		if (group == 1 && kind == SCALED8) MMA_SPARSE_SCALED(1, "mxf8f6f4.block_scale");
		if (group == 1 && kind == SCALED4) MMA_SPARSE_SCALED(1, "mxf4.block_scale.scale_vec::2X");
		if (group == 1 && kind == SCALED4_BY_16) MMA_SPARSE_SCALED(1, "mxf4nvf4.block_scale.scale_vec::4X");
		if (group == 2 && kind == SCALED8) MMA_SPARSE_SCALED(2, "mxf8f6f4.block_scale.block32");
		if (group == 2 && kind == SCALED4_BY_16) MMA_SPARSE_SCALED(2, "mxf4nvf4.block_scale.block16");
	} else if (group == 1 && in_tensor) {
		if (kind == HALF) MMA(1, "f16", "[%6]", KEPT_1, "");
		if (kind == FP8) MMA(1, "f8f6f4", "[%6]", KEPT_1, "");
		if (kind == TF32) MMA(1, "tf32", "[%6]", KEPT_1, "");
	} else if (group == 1) {
		if (kind == HALF) MMA(1, "f16", "%1", KEPT_1, "");
		if (kind == TF32) MMA(1, "tf32", "%1", KEPT_1, ", 1"); /* D is halved before */
		if (kind == FP8) MMA(1, "f8f6f4", "%1", KEPT_1, "");
		if (kind == S8) MMA(1, "i8", "%1", KEPT_1, "");
		if (kind == SCALED8) MMA_SCALED(1, "mxf8f6f4.block_scale.scale_vec::1X");
		if (kind == SCALED4) MMA_SCALED(1, "mxf4.block_scale");
		if (kind == SCALED4_BY_16) MMA_SCALED(1, "mxf4nvf4.block_scale.block16");
	} else if (kind == SCALED8) {
		MMA_SCALED(2, "mxf8f6f4.block_scale");
	} else if (kind == SCALED4_BY_16) {
		MMA_SCALED(2, "mxf4nvf4.block_scale.scale_vec::4X");
	} else if (kind == HALF && in_tensor) {
		MMA(2, "f16", "[%6]", KEPT_2, "");
	} else if (kind == HALF) {
		MMA(2, "f16", "%1", KEPT_2, "");
	} else if (kind == FP8) {
		MMA(2, "f8f6f4", "%1", KEPT_2, "");
	}
}

/* Two products: the first begins anew, the second is added. Each block has its rows of A, and its columns of B. */
template <int kind, int group>
__global__ void run(const unsigned char *a, const unsigned char *b, const uint32_t *scales, const uint32_t *metadata, uint32_t *out, job job)
{
	__shared__ __align__(1024) unsigned char in_a[16384], in_b[16384];
	__shared__ uint32_t address;
	__shared__ uint64_t barrier;
	const int which = blockIdx.x, columns = job.columns / group, deep = job.sparse ? 2 * DEEP : DEEP;
	const uint32_t form = job.form | (uint32_t)job.sparse << 2 | (uint32_t)(job.columns / 8) << 17 | (uint32_t)(job.rows * group / 16) << 24;

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"((uint32_t)__cvta_generic_to_shared(&barrier)) : "memory");
	for (int i = threadIdx.x; i < job.rows * DEEP; i += blockDim.x)
		in_a[place(job.a, i / DEEP, i % DEEP / job.bytes, job.bytes) + i % job.bytes] = a[which * job.rows * DEEP + i];
	for (int i = threadIdx.x; i < columns * deep; i += blockDim.x)
		in_b[place(job.b, i / deep, i % deep / job.bytes, job.bytes) + i % job.bytes] = b[which * columns * deep + i];
	const uint32_t tensor = allocate<group>(&address);
	for (int column = 0; column < job.columns; column++)
		store_word(tensor, column, 12345);
	/* 64 rows of A lie as those of D; of a pair's block they lie in both halves of the lanes. */
	const int row = job.rows == 128 ? threadIdx.x : group == 2 ? threadIdx.x % 64 : threadIdx.x / 32 * 16 + threadIdx.x % 16;
	for (int word = 0; word < DEEP / 4; word++)
		store_word(tensor, WIDE + word, ((const uint32_t *)a)[(which * job.rows + row) % (job.rows * group) * DEEP / 4 + word]);
	for (int i = 0; i < 2; i++)
		store_word(tensor, METADATA + i, metadata[(which * LANES + threadIdx.x) * 2 + i]);
	/* A word for each row of A, then one for each column of B, which both blocks have. */
	for (int i = 0; i < 4; i++)
		store_word(tensor, A_SCALES + i, scales[which * ROWS + i * 32 + threadIdx.x % 32]);
	for (int i = 0; i < 8; i++)
		store_word(tensor, B_SCALES + i, scales[2 * ROWS + i * 32 + threadIdx.x % 32]);
	asm volatile("fence.proxy.async;\ntcgen05.fence::before_thread_sync;" ::: "memory");
	if (group == 2)
		asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0 && which == 0) {
		uint32_t at = __cvta_generic_to_shared(&barrier);
		for (uint32_t turn = 0; turn < 2; turn++)
			multiply<kind, group>(tensor, descriptor(in_a, job.a), tensor + WIDE, job.a_in_tensor, descriptor(in_b, job.b), form, turn,
					      job.kept, job.keeps_b);
		if (group == 1)
			asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at) : "memory");
		else
			asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
				     :: "r"(at), "h"((short)3) : "memory");
	}
	wait(&barrier, 0);
	dump(tensor, out + which * LANES * COLUMNS, job.columns);
	if (group == 2)
		asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	release<group>(tensor);
}

/* A float without infinities. */
static double small(unsigned bits, int exponents, int fractions)
{
	const int exponent = bits >> fractions & ((1 << exponents) - 1), bias = (1 << (exponents - 1)) - 1;
	const double fraction = (double)(bits & ((1 << fractions) - 1)) / (1 << fractions);
	const double value = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);

	return bits >> (exponents + fractions) & 1 ? -value : value;
}

/* Element k of a line of pieces of 16 bytes, by its number in the instruction descriptor: of 6 bits and of 4 the elements lie one
 * behind the other, and not all of a piece has some. */
static double small_value(int kind, unsigned element, const unsigned char *line, int k)
{
	const int in_piece = kind == SCALED8 || kind == FP8 ? 16 : 32, width = in_piece == 32 || element == 5 ? 4 : element < 3 ? 8 : 6;
	const int bit = k / in_piece * 128 + k % in_piece * width;
	const unsigned bits = (line[bit / 8] | (bit % 128 / 8 < 15 ? line[bit / 8 + 1] << 8 : 0)) >> bit % 8 & ((1 << width) - 1);

	switch (width == 4 ? 5 : element) {
	case 0: return small(bits, 4, 3);
	case 1: return small(bits, 5, 2);
	case 3: return small(bits, 2, 3);
	case 4: return small(bits, 3, 2);
	default: return small(bits, 2, 1);
	}
}

/* Elements by their numbers in the instruction descriptor. */
static double value_of(int kind, unsigned element, const unsigned char *at)
{
	float single;

	switch (kind) {
	case TF32: memcpy(&single, at, 4); return single;
	case FP8: return element == 0 ? (double)(float)*(const __nv_fp8_e4m3 *)at : (double)(float)*(const __nv_fp8_e5m2 *)at;
	case S8: return element == 0 ? (double)*at : (double)(signed char)*at;
	default: return element == 0 ? (double)(float)*(const half *)at : (double)(float)*(const __nv_bfloat16 *)at;
	}
}

static void fill(int kind, unsigned element, unsigned char *at, int i)
{
	const float value = (float)((i * 7 + i / 13) % 15 - 7);
	const half h = value;
	const __nv_bfloat16 bf = value;
	const __nv_fp8_e4m3 e4 = __nv_fp8_e4m3(value);
	const __nv_fp8_e5m2 e5 = __nv_fp8_e5m2(value);

	switch (kind) {
	case TF32: memcpy(at, &value, 4); break;
	case S8: *at = (unsigned char)(i * 37 + i / 11); break;
	case HALF: memcpy(at, element == 0 ? (const void *)&h : (const void *)&bf, 2); break;
	default: memcpy(at, element == 0 ? (const void *)&e4 : (const void *)&e5, 1);
	}
}

/* The word of a sum, by the number of D's element. */
static uint32_t word_of(double sum, unsigned element)
{
	const float single = (float)sum;
	const half h = single;
	uint32_t word = 0;

	if (element == 2)
		return (uint32_t)(int64_t)sum;
	memcpy(&word, element == 1 ? (const void *)&single : (const void *)&h, element == 1 ? 4 : 2);
	return word;
}

/* Where a sum is: the lane, and the column, of that of the two blocks which has the row. */
static int lane_of(const job &job, int group, int row, int column)
{
	if (job.rows == 128)
		return row;
	if (job.keeps_b)
		return row + column / (job.columns * job.rows / 128) * job.rows;
	return group == 2 ? row + (column >= job.columns / 2 ? 64 : 0) : row / 16 * 32 + row % 16;
}

/* Scale i of a word, of which the first is byte `first`. */
static double scale_of(uint32_t word, int first, int i, bool powers)
{
	const uint32_t byte = word >> 8 * (first + i) & 255;

	return powers ? ldexp(1, (int)byte - 127) : small(byte & 127, 4, 3);
}

/* The sum of one product with scales. */
static double scaled_product(int kind, const job &job, const unsigned char *a, const unsigned char *b, uint32_t a_scales, uint32_t b_scales)
{
	const int depth = kind == SCALED8 || kind == FP8 ? 32 : 64, scaled = kind == SCALED4_BY_16 ? 16 : 32;
	const bool powers = job.form >> 23 & 1;
	double sum = 0;

	for (int k = 0; k < depth; k++) {
		const double x = small_value(kind, job.form >> 7 & 7, a, k), y = small_value(kind, job.form >> 10 & 7, b, k);
		sum += kind == FP8 ? x * y
				   : x * scale_of(a_scales, job.form >> 29 & 3, k / scaled, powers) * y *
					     scale_of(b_scales, job.form >> 4 & 3, k / scaled, powers);
	}
	return sum;
}

/* Puts a group's bits where its lane has them, in one of two columns; of bytes a row has both. The other of the two has none of them. */
static void put(uint32_t *metadata, const job &job, int row, int group, uint32_t bits)
{
	uint32_t *block = metadata + row / ROWS * LANES * 2;

	row %= ROWS;
	if (job.bytes == 1)
		block[row * 2 + group / 8] |= bits << group % 8 * 4;
	else
		block[(row / 16 * 16 + row % 8 + group / 4 * 8) * 2 + (job.form & 1)] |= bits << (row / 8 % 2 * 16 + group % 4 * 4);
}

/* The sum of one product whose A is sparse. */
static double sparse_product(int kind, const job &job, int row, const unsigned char *a, const unsigned char *b)
{
	const int width = job.bytes == 4 ? 2 : 4;
	double sum = 0;
	int at[2];

	for (int group = 0; group < 2 * DEEP / job.bytes / width; group++) {
		kept(job.bytes, row, group, at);
		for (int e = 0; e < width / 2; e++)
			sum += value_of(kind, job.form >> 7 & 7, a + (group * width / 2 + e) * job.bytes) *
			       value_of(kind, job.form >> 10 & 7, b + (group * width + at[e]) * job.bytes);
	}
	return sum;
}

/* The same of small floats: of four two elements are kept, of elements of 4 bits two pairs of four. A scale of B has twice as many. */
static double sparse_small_product(int kind, const job &job, int row, const unsigned char *a, const unsigned char *b, uint32_t a_scales,
				   uint32_t b_scales)
{
	const bool in_pairs = kind == SCALED4 || kind == SCALED4_BY_16, powers = job.form >> 23 & 1;
	const int width = in_pairs ? 8 : 4, scaled = kind == SCALED4_BY_16 ? 16 : 32;
	double sum = 0;
	int at[2];

	for (int group = 0; group < 16; group++) {
		kept(1, row, group, at);
		for (int e = 0; e < width / 2; e++) {
			const int i = group * width / 2 + e, k = group * width + (in_pairs ? at[e / 2] * 2 + e % 2 : at[e]);
			const double x = small_value(kind, job.form >> 7 & 7, a, i), y = small_value(kind, job.form >> 10 & 7, b, k);
			sum += kind == FP8 ? x * y
					   : x * scale_of(a_scales, job.form >> 29 & 3, i / scaled, powers) * y *
						     scale_of(b_scales, job.form >> 4 & 3, k / (2 * scaled), powers);
		}
	}
	return sum;
}

/* The sum of one product, of element (row, column). */
static double product(int kind, const job &job, const unsigned char *a, const unsigned char *b)
{
	const double sign = (job.form >> 13 & 1 ? -1 : 1) * (job.form >> 14 & 1 ? -1 : 1);
	double sum = 0;

	for (int k = 0; k < DEEP; k += job.bytes)
		sum += sign * value_of(kind, job.form >> 7 & 7, a + k) * value_of(kind, job.form >> 10 & 7, b + k);
	return sum;
}

template <int kind, int group> static void test(job job, const char *name)
{
	static unsigned char a[2 * ROWS * DEEP], b[WIDE * DEEP];
	const int deep = job.sparse ? 2 * DEEP : DEEP, groups = 2 * DEEP / job.bytes / (job.bytes == 4 ? 2 : 4);
	static uint32_t metadata[2 * LANES * 2];
	int at[2];
	static uint32_t found[2][LANES][COLUMNS];
	static uint32_t scales[2 * ROWS + WIDE];
	const bool tiny = kind > S8 || (kind == FP8 && (job.form >> 7 & 7) > 2);
	unsigned char *da, *db;
	uint32_t *out, *ds, *dm;

	memset(metadata, 0, sizeof metadata);
	for (int row = 0; row < 2 * ROWS && job.sparse; row++)
		for (int g = 0; g < groups; g++)
			put(metadata, job, row, g, kept(job.bytes, row, g, at));

	for (int i = 0; i < 2 * ROWS + WIDE; i++)
		for (int at = 0; at < 32; at += 8)
			scales[i] |= (job.form >> 23 & 1 ? 124u + (i * 5 + at) % 7 : 0x28u + (i * 11 + at) % 32) << at;
	for (int i = 0; i < 2 * ROWS * DEEP / job.bytes; i++)
		fill(kind, job.form >> 7 & 7, a + i * job.bytes, i);
	for (int i = 0; i < WIDE * DEEP / job.bytes; i++)
		fill(kind, job.form >> 10 & 7, b + i * job.bytes, i * 3 + 5);
	MUST(cudaMalloc(&da, sizeof a));
	MUST(cudaMalloc(&db, sizeof b));
	MUST(cudaMalloc(&ds, sizeof scales));
	MUST(cudaMalloc(&dm, sizeof metadata));
	MUST(cudaMemcpy(dm, metadata, sizeof metadata, cudaMemcpyHostToDevice));
	MUST(cudaMalloc(&out, sizeof found));
	for (int i = 0; i < 2 * ROWS * DEEP && tiny && (job.form >> 7 & 7) > 0; i++)
		a[i] = (unsigned char)(i * 167 + i / 64);
	for (int i = 0; i < WIDE * DEEP && tiny && (job.form >> 10 & 7) > 0; i++)
		b[i] = (unsigned char)(i * 59 + i / 48 + 3);
	MUST(cudaMemcpy(ds, scales, sizeof scales, cudaMemcpyHostToDevice));
	MUST(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	MUST(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	cudaLaunchAttribute cluster;
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim = {group, 1, 1};
	cudaLaunchConfig_t launch = {};
	launch.gridDim = {group, 1, 1};
	launch.blockDim = {128, 1, 1};
	launch.attrs = &cluster;
	launch.numAttrs = 1;
	MUST(cudaLaunchKernelEx(&launch, run<kind, group>, (const unsigned char *)da, (const unsigned char *)db, (const uint32_t *)ds, (const uint32_t *)dm,
				out, job));
	MUST(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
	for (int m = 0; m < job.rows * group; m++)
		for (int n = 0; n < job.columns; n++) {
			const int row = m % job.rows, lane = lane_of(job, group, row, n);
			const int column = n % (job.keeps_b || group == 2 ? job.columns * job.rows / 128 : job.columns);
			const double once = job.sparse && tiny ? sparse_small_product(kind, job, m, a + m * DEEP, b + n * deep, scales[m], scales[2 * ROWS + n])
					    : job.sparse ? sparse_product(kind, job, m, a + m * DEEP, b + n * deep)
					    : tiny ? scaled_product(kind, job, a + m * DEEP, b + n * DEEP, scales[m], scales[2 * ROWS + n])
						 : product(kind, job, a + m * DEEP, b + n * DEEP);
			const double sum = tiny ? (double)(float)once + once : kind == TF32 && group == 1 && !job.a_in_tensor && !job.sparse && !job.keeps_b ? 1.5 * once : 2 * once;
			const uint32_t expected = job.kept >> lane % 32 & 1 ? 12345 : word_of(sum, kind > S8 ? 1 : job.form >> 4 & 3);
			expect(found[m / job.rows][lane][column] == expected, name, __LINE__);
		}
	cudaFree(da);
	cudaFree(db);
	cudaFree(ds);
	cudaFree(dm);
	cudaFree(out);
}

/* ---- loads and stores ---- */

#define LD(SHAPE, LIST, ...) asm volatile("tcgen05.ld.sync.aligned." SHAPE ".b32 {" LIST "}, [%" __VA_ARGS__ : "memory")
#define O4 "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
#define O8 O4, "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
#define L4 "%0, %1, %2, %3"
#define L8 L4 ", %4, %5, %6, %7"
enum { SHAPES = 6 };

/* Words of lane and column, then what each thread's registers get of them by each shape; and what stores put where. */
__global__ void move(uint32_t *out, uint32_t *stored)
{
	__shared__ uint32_t address;
	const uint32_t tensor = allocate<1>(&address), mine = tensor + ((threadIdx.x / 32 * 32) << 16), lower = mine + (16 << 16);
	uint32_t r[8];

	for (int column = 0; column < 64; column++)
		store_word(tensor, column, threadIdx.x * 1000 + column);
	for (int shape = 0; shape < SHAPES; shape++) {
		switch (shape) {
		case 0: LD("32x32b.x8", L8, "8];" : O8 : "r"(mine)); break;
		case 1: LD("16x64b.x8", L8, "8];" : O8 : "r"(lower)); break;
		case 2: LD("16x128b.x4", L8, "8];" : O8 : "r"(lower)); break;
		case 3: LD("16x256b.x2", L8, "8];" : O8 : "r"(lower)); break;
		case 4: LD("16x32bx2.x8", L8, "8], 20;" : O8 : "r"(mine)); break;
		case 5: LD("32x32b.x8.pack::16b", L8, "8];" : O8 : "r"(mine)); break;
		}
		for (int i = 0; i < 8; i++)
			out[(shape * LANES + threadIdx.x) * 8 + i] = r[i];
	}
	for (int i = 0; i < 8; i++)
		r[i] = threadIdx.x << 16 | i;
	asm volatile("tcgen05.st.sync.aligned.16x256b.x2.b32 [%8], {" L8 "};\ntcgen05.wait::st.sync.aligned;"
		     :: "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(mine + 64) : "memory");
	asm volatile("tcgen05.st.sync.aligned.32x32b.x8.unpack::16b.b32 [%8], {" L8 "};\ntcgen05.wait::st.sync.aligned;"
		     :: "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(mine + 80) : "memory");
	dump(tensor, stored, 96);
	release<1>(tensor);
}

/* The bit of the 16 lanes, row by row of `width` bits, where register r of a thread begins, as strides over the bits of both. */
static int bit_of(int shape, int width, int thread, int r)
{
	switch (shape) {
	case 1: return thread % 2 * 8 * width + thread / 2 % 2 * 32 + thread / 4 * width + r * 64;
	case 2: return thread % 4 * 32 + thread / 4 * width + r % 2 * 8 * width + r / 2 * 128;
	default: return thread % 4 * 64 + thread / 4 * width + r % 2 * 32 + r / 2 % 2 * 8 * width + r / 4 * 256;
	}
}

static uint32_t loaded(int shape, int thread, int r)
{
	const int warp = thread / 32 * 32, lane = thread % 32, width = 512;

	if (shape == 0)
		return thread * 1000 + r;
	if (shape == 4)
		return (warp + lane % 16) * 1000 + r + lane / 16 * 20;
	if (shape == 5)
		return (uint32_t)(thread * 1000 + 2 * r) % 65536 | (uint32_t)(thread * 1000 + 2 * r + 1) << 16;
	const int bit = bit_of(shape, width, lane, r);
	return (warp + 16 + bit / width) * 1000 + bit % width / 32;
}

static void test_moves()
{
	static uint32_t found[SHAPES][LANES][8], stored[LANES][COLUMNS];
	uint32_t *out, *kept;

	MUST(cudaMalloc(&out, sizeof found));
	MUST(cudaMalloc(&kept, sizeof stored));
	move<<<1, 128>>>(out, kept);
	MUST(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
	MUST(cudaMemcpy(stored, kept, sizeof stored, cudaMemcpyDeviceToHost));
	for (int shape = 0; shape < SHAPES; shape++)
		for (int thread = 0; thread < LANES; thread++)
			for (int r = 0; r < 8; r++)
				expect(found[shape][thread][r] == loaded(shape, thread, r), "a shape of tcgen05.ld", shape);
	for (int thread = 0; thread < LANES; thread++)
		for (int r = 0; r < 8; r++) {
			const int bit = bit_of(3, 512, thread % 32, r);
			CHECK(stored[thread / 32 * 32 + bit / 512][64 + bit % 512 / 32] == (uint32_t)(thread << 16 | r));
			CHECK(stored[thread][80 + 2 * r] == (uint32_t)r && stored[thread][80 + 2 * r + 1] == (uint32_t)thread);
		}
	cudaFree(out);
	cudaFree(kept);
}

/* ---- copies from shared memory ---- */

enum { COPIES = 5 };

__global__ void copy(uint32_t *out, layout how)
{
	__shared__ __align__(1024) unsigned char from[16384];
	__shared__ uint32_t address;
	__shared__ uint64_t barrier;

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"((uint32_t)__cvta_generic_to_shared(&barrier)) : "memory");
	for (int i = threadIdx.x; i < LANES * 8; i += blockDim.x)
		*(uint32_t *)(from + place(how, i / 8, i % 8, 4)) = i / 8 * 1000 + i % 8;
	const uint32_t tensor = allocate<1>(&address);
	asm volatile("fence.proxy.async;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		const uint64_t at = descriptor(from, how);
		asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" :: "r"(tensor), "l"(at) : "memory");
		asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" :: "r"(tensor + 8), "l"(at) : "memory");
		asm volatile("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%0], %1;" :: "r"(tensor + 16), "l"(at) : "memory");
		asm volatile("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 [%0], %1;" :: "r"(tensor + 24), "l"(at) : "memory");
		asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(tensor + 32), "l"(at) : "memory");
		asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" :: "l"(&barrier) : "memory");
	}
	wait(&barrier, 0);
	dump(tensor, out, 40);
	release<1>(tensor);
}

static void test_copies(layout how)
{
	static uint32_t found[LANES][COLUMNS];
	uint32_t *out;

	MUST(cudaMalloc(&out, sizeof found));
	copy<<<1, 128>>>(out, how);
	MUST(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
	for (int lane = 0; lane < LANES; lane++) {
		const int warp = lane / 32, from[COPIES] = {lane, lane, lane % 64, warp / 2 * 32 + lane % 32, lane % 32};
		for (int i = 0; i < COPIES; i++)
			for (int column = 0; column < (i == 0 ? 8 : 4); column++)
				expect(found[lane][i * 8 + column] == (uint32_t)(from[i] * 1000 + column), "a shape of tcgen05.cp", i);
	}
	cudaFree(out);
}

/* ---- work of other clusters ---- */

/* All blocks run, so the answer is no, and comes to all blocks of the cluster. */
__global__ void __cluster_dims__(2, 1, 1) ask(int *answers)
{
	__shared__ __align__(16) unsigned char answer[16];
	__shared__ uint64_t barrier;
	const uint32_t at = __cvta_generic_to_shared(&barrier), there = __cvta_generic_to_shared(answer);
	uint32_t canceled;

	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" :: "r"(at) : "memory");
	}
	((unsigned char *)answer)[threadIdx.x % 16] = 255;
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	if (threadIdx.x == 0 && blockIdx.x % 2 == 0)
		asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];"
			     :: "r"(there), "r"(at) : "memory");
	wait(&barrier, 0);
	asm volatile("{\n.reg .pred p;\n.reg .b128 answer, again;\n.reg .b64 low, high;\nld.shared.b128 answer, [%1];\nmov.b128 {low, high}, answer;\n"
		     "mov.b128 again, {low, high};\nclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, again;\nselp.u32 %0, 1, 0, p;\n}"
		     : "=r"(canceled) : "r"(there) : "memory");
	answers[blockIdx.x * blockDim.x + threadIdx.x] = canceled;
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static void test_asking()
{
	int answers[4 * 32], *out;

	memset(answers, 255, sizeof answers);
	MUST(cudaMalloc(&out, sizeof answers));
	ask<<<4, 32>>>(out);
	MUST(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
	for (int answer : answers)
		CHECK(answer == 0);
	cudaFree(out);
}

/* ---- the even block of a pair ---- */

/* Each block of four arrives at the barrier of the even block of its pair, which is found by clearing a bit of the address. */
__global__ void __cluster_dims__(4, 1, 1) arrive_at_even(int *out)
{
	__shared__ uint64_t barrier;
	const uint32_t at = __cvta_generic_to_shared(&barrier);
	uint32_t early = 0;

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 3;" :: "r"(at) : "memory");
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	if (threadIdx.x == 0)
		asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(at & 0xfeffffff) : "memory");
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	if (threadIdx.x == 0 && blockIdx.x % 2 == 0) {
		asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
			     : "=r"(early) : "r"(at) : "memory");
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at) : "memory");
		wait(&barrier, 0);
		out[blockIdx.x] = 1 + early;
	}
}

static void test_even()
{
	int found[4], *out;

	MUST(cudaMalloc(&out, sizeof found));
	MUST(cudaMemset(out, 0, sizeof found));
	arrive_at_even<<<4, 32>>>(out);
	MUST(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
	CHECK(found[0] == 1 && found[2] == 1 && found[1] == 0 && found[3] == 0);
	cudaFree(out);
}

int main()
{
	/* Along K: no swizzle, then rows of 32, 64 and 128 bytes. */
	const layout plain = {1, false, 128, 256}, k32 = {2, false, 16, 256}, k64 = {4, false, 16, 512}, k128 = {8, false, 16, 1024};
	/* Along M or N: no swizzle, and rows of 128 bytes; of bytes, 128 elements; of words, 32. */
	const layout t8 = {1, true, 2048, 128}, t64 = {8, true, 2048, 1024}, bytes = {8, true, 4096, 1024}, words = {-4, true, 1024, 512};
	const uint32_t f32 = 1 << 4, s32 = 2 << 4, a_negative = 1 << 13, across_a = 1 << 15, across_b = 1 << 16;
	const uint32_t bf16 = 1 << 7 | 1 << 10, tf32 = 2 << 7 | 2 << 10, e5m2_a = 1 << 7, signed_both = 1 << 7 | 1 << 10;

	test<HALF, 1>({plain, plain, 2, 128, 64, f32, 0, false}, "f16, no swizzle");
	test<HALF, 1>({k32, k64, 2, 128, 64, f32, 0, false}, "f16, swizzles of 32 and 64 bytes");
	test<HALF, 1>({k128, k128, 2, 64, 72, f32, 0, false}, "f16, 64 rows");
	test<HALF, 1>({t64, t8, 2, 128, 64, f32 | across_a | across_b, 0, false}, "f16, A along M and B along N");
	test<HALF, 1>({k64, k64, 2, 128, 256, f32, 0, true}, "f16, A in tensor memory");
	test<HALF, 1>({k128, k32, 2, 128, 32, 0, 0x80000006, false}, "f16 sums, some lanes left alone");
	test<HALF, 1>({k128, k32, 2, 128, 32, f32 | bf16 | a_negative, 0, false}, "bf16, -A");
	test<TF32, 1>({k128, plain, 4, 128, 48, f32 | tf32, 0, false}, "tf32, D halved");
	test<TF32, 1>({k128, plain, 4, 128, 48, f32 | tf32, 0, true}, "tf32, A in tensor memory");
	test<TF32, 1>({words, words, 4, 128, 64, f32 | tf32 | across_a | across_b, 0, false}, "tf32, A along M and B along N");
	test<FP8, 1>({k128, bytes, 1, 128, 128, f32 | across_b, 0, false}, "e4m3, B along N");
	test<FP8, 1>({k64, k128, 1, 64, 8, f32 | e5m2_a, 0, false}, "e5m2 and e4m3");
	test<S8, 1>({k128, k64, 1, 128, 64, s32 | signed_both, 0, false}, "s8");
	test<S8, 1>({k128, k64, 1, 64, 64, s32 | 1 << 10, 0, false}, "u8 and s8");
	test<HALF, 2>({k128, k128, 2, 128, 64, f32, 0, false}, "f16, 256 rows of two blocks");
	test<HALF, 2>({k128, k128, 2, 64, 256, f32, 0x10001, false}, "f16, 128 rows of two blocks");
	test<HALF, 2>({k128, k64, 2, 128, 32, f32, 0, true}, "f16, 256 rows, A in tensor memory");
	test<HALF, 1>({k64, k64, 2, 64, 32, f32, 0, true}, "f16, 64 rows, A in tensor memory");
	test<FP8, 1>({k64, k64, 1, 64, 32, f32 | 1 << 13, 0, true}, "-e4m3, 64 rows, A in tensor memory");
	test<HALF, 2>({k128, k64, 2, 64, 64, f32 | bf16, 0, true}, "bf16, 128 rows of two blocks, A in tensor memory");
	test<FP8, 2>({k64, k32, 1, 128, 32, f32 | e5m2_a, 0, false}, "e5m2 and e4m3, 256 rows");
	const uint32_t powers = 1 << 23, e2m3_a = 3 << 7, e3m2_a = 4 << 7, e2m1_a = 5 << 7, e2m3_b = 3 << 10, e3m2_b = 4 << 10, e2m1_b = 5 << 10;
	const uint32_t fp4 = 1 << 7 | 1 << 10, third_of_a = 2u << 29, second_of_b = 1 << 4, third_of_b = 2 << 4;
	test<FP8, 1>({k128, k128, 1, 128, 64, f32 | e3m2_a | e2m1_b, 0, false}, "e3m2 and e2m1");
	test<SCALED8, 1>({k128, k32, 1, 128, 256, powers, 0, false}, "e4m3, scaled");
	test<SCALED8, 1>({k128, k128, 1, 128, 72, powers | e2m1_a | e2m3_b | third_of_a | second_of_b, 0, false}, "e2m1 and e2m3, scaled");
	test<SCALED8, 1>({k64, k32, 1, 128, 40, powers | e2m3_a | e3m2_b | second_of_b, 0, false}, "e2m3 and e3m2, scaled");
	test<SCALED8, 1>({k128, bytes, 1, 128, 128, powers | e2m1_a | across_b, 0, false}, "e2m1 and e4m3 along N, scaled");
	test<SCALED4, 1>({k128, k64, 1, 128, 64, powers | fp4 | third_of_a, 0, false}, "e2m1 twice as deep, scaled");
	test<SCALED4, 1>({k128, k64, 1, 128, 32, powers | fp4 | third_of_b, 0, false}, "e2m1 twice as deep, other scales");
	test<SCALED4_BY_16, 1>({k128, k128, 1, 128, 96, fp4, 0, false}, "e2m1, scaled by 16");
	test<SCALED8, 2>({k128, k128, 1, 128, 256, powers | e3m2_a | e2m1_b, 0, false}, "e3m2 and e2m1, 256 rows, scaled");
	test<SCALED4_BY_16, 2>({k128, k128, 1, 128, 64, fp4, 0, false}, "e2m1, 256 rows, scaled by 16");
	const layout deeper = {1, false, 128, 512};
	test<HALF, 1>({k128, k128, 2, 128, 64, f32, 0, false, true}, "sparse f16");
	test<HALF, 1>({k64, t64, 2, 128, 64, f32 | across_b | 1, 0, false, true}, "sparse f16, other metadata, B along N");
	test<TF32, 1>({k128, deeper, 4, 128, 48, f32 | tf32, 0, false, true}, "sparse tf32");
	test<FP8, 1>({k128, k64, 1, 128, 64, f32 | e5m2_a, 0, false, true}, "sparse e5m2");
	test<S8, 1>({plain, k128, 1, 128, 128, s32 | signed_both, 0, false, true}, "sparse s8");
	test<HALF, 2>({k128, k128, 2, 128, 128, f32, 0, false, true}, "sparse f16, 256 rows");
	test<FP8, 1>({k128, k64, 1, 128, 64, f32 | e2m1_a | e3m2_b, 0, false, true}, "sparse e2m1 and e3m2");
	test<SCALED8, 1>({k128, k128, 1, 128, 72, powers | e2m3_a | e2m1_b | third_of_a | second_of_b, 0, false, true}, "sparse e2m3 and e2m1, scaled");
	test<SCALED4, 1>({k128, k64, 1, 128, 32, powers | fp4 | third_of_b, 0, false, true}, "sparse e2m1, scaled");
	test<SCALED4_BY_16, 1>({k128, k128, 1, 128, 96, fp4, 0, false, true}, "sparse e2m1, scaled by 16");
	test<SCALED8, 2>({k128, k128, 1, 128, 128, powers | e2m1_b, 0, false, true}, "sparse e4m3 and e2m1, 256 rows, scaled");
	test<SCALED4_BY_16, 2>({k128, k128, 1, 128, 64, fp4, 0, false, true}, "sparse e2m1, 256 rows, scaled by 16");
	test<HALF, 1>({k128, k128, 2, 128, 64, f32, 0, false, false, true}, "f16, .ws");
	test<HALF, 1>({t64, k64, 2, 64, 128, f32 | bf16 | across_a, 0, false, false, true}, "bf16, .ws of 64 rows");
	test<TF32, 1>({k128, plain, 4, 32, 64, f32 | tf32, 0, false, false, true}, "tf32, .ws of 32 rows");
	test<FP8, 1>({k128, k64, 1, 32, 256, f32 | e5m2_a, 0, false, false, true}, "e5m2 and e4m3, .ws of 32 rows");
	test<S8, 1>({k128, k64, 1, 64, 64, s32 | signed_both, 0, false, false, true}, "s8, .ws of 64 rows");
	test_moves();
	test_copies(k128);
	test_copies(plain);
	test_asking();
	test_even();
	return verdict();
}
