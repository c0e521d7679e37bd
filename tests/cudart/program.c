/* SPDX-License-Identifier: MIT */
/* A CUDA program without a CUDA compiler: it registers PTX text as compilers' programs do and then
 * calls the runtime. `program WHAT` does one thing; what it finds wrong it says on stdout and in
 * its exit status. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, BY_ADDRESS = 4 };
enum { INVALID_VALUE = 1, NO_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13, INVALID_CHANNELS = 20, INVALID_DIRECTION = 21,
       INVALID_FUNCTION = 98, INVALID_DEVICE = 101, INVALID_HANDLE = 400, OUT_OF_RESOURCES = 701, NOT_SUPPORTED = 801 };

struct dim3 {
	unsigned x, y, z;
};
static const struct dim3 one = {1, 1, 1};

struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *prelinked;
};

extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaRegisterFunction(void **, const void *, const char *, const char *, int, void *, void *, void *, void *, int *);
extern void __cudaRegisterVar(void **, const void *, const char *, const char *, int, size_t, int, int);
extern void __cudaRegisterManagedVar(void **, void **, const char *, const char *, int, size_t, int, int);
extern char __cudaInitModule(void **);
extern int __cudaGetKernel(void **, const void *);
extern int __cudaLaunchKernel(void *, struct dim3, struct dim3, void **, size_t, void *);
extern unsigned __cudaPushCallConfiguration(struct dim3, struct dim3, size_t, void *);
extern int __cudaPopCallConfiguration(struct dim3 *, struct dim3 *, size_t *, void *);
extern int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
extern int cudaMalloc(void **, size_t), cudaMallocManaged(void **, size_t, unsigned), cudaMallocHost(void **, size_t);
extern int cudaMallocPitch(void **, size_t *, size_t, size_t), cudaFree(void *), cudaFreeHost(void *);
extern int cudaMemcpy(void *, const void *, size_t, unsigned), cudaMemset(void *, int, size_t), cudaMemsetAsync(void *, int, size_t, void *);
extern int cudaMemcpyAsync(void *, const void *, size_t, unsigned, void *);
extern int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, unsigned);
extern int cudaMemset2D(void *, size_t, int, size_t, size_t), cudaMemGetInfo(size_t *, size_t *);
extern int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, unsigned);
extern int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, unsigned);
extern int cudaGetSymbolAddress(void **, const void *), cudaGetSymbolSize(size_t *, const void *);
extern int cudaGetLastError(void), cudaPeekAtLastError(void);
extern const char *cudaGetErrorName(int), *cudaGetErrorString(int);
extern int cudaGetDeviceCount(int *), cudaSetDevice(int), cudaGetDeviceProperties(void *, int);
extern int cudaDeviceGetAttribute(int *, int, int), cudaDeviceSynchronize(void), cudaDeviceReset(void);
extern int cudaStreamCreateWithPriority(void **, unsigned, int), cudaStreamGetPriority(void *, int *);
extern int cudaEventCreate(void **), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *);
extern int cudaEventDestroy(void *), cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaStreamSynchronize(void *);
extern int cudaFuncGetAttributes(void *, const void *), cudaFuncSetAttribute(const void *, int, int);
extern int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
extern int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *, const void *, int, int), cudaStreamGetId(void *, unsigned long long *);
extern int cudaLogsDumpToFile(const char *, unsigned), cudaIpcGetMemHandle(void *, void *), cudaGraphicsMapResources(int, void *, void *);

struct channels {
	int bits[4];
	unsigned kind;
};

/* cudaResourceDesc of an array, and cudaTextureDesc */
struct resource {
	unsigned type;
	void *array;
	int rest[30];
	unsigned flags;
};
struct sampling {
	unsigned modes[3], filter, read_mode;
	int srgb;
	float border[4];
	int normalized;
	unsigned rest[7];
};
extern int cudaMallocArray(void **, const struct channels *, size_t, size_t, unsigned), cudaFreeArray(void *);
extern int cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, unsigned);
extern int cudaMemcpy2DFromArray(void *, size_t, const void *, size_t, size_t, size_t, size_t, unsigned);
extern int cudaCreateTextureObject(uint64_t *, const struct resource *, const struct sampling *, const void *);
extern int cudaDestroyTextureObject(uint64_t);

static const char ptx[] =
	"//\n.version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
	".visible .const .align 4 .u32 amount[2];\n"
	".visible .global .align 4 .u32 shared_word;\n"
	/* to[i] += value, for i < n */
	".visible .entry add(.param .u64 to, .param .u32 n, .param .u32 value)\n{\n"
	"	.reg .pred %p<2>;\n	.reg .b32 %r<9>;\n	.reg .b64 %rd<4>;\n"
	"	ld.param.u64 %rd1, [to];\n	ld.param.u32 %r1, [n];\n	ld.param.u32 %r2, [value];\n"
	"	mov.u32 %r3, %ctaid.x;\n	mov.u32 %r4, %ntid.x;\n	mov.u32 %r5, %tid.x;\n"
	"	mad.lo.s32 %r6, %r3, %r4, %r5;\n	setp.ge.u32 %p1, %r6, %r1;\n	@%p1 bra DONE;\n"
	"	mul.wide.u32 %rd2, %r6, 4;\n	add.s64 %rd3, %rd1, %rd2;\n	ld.global.u32 %r7, [%rd3];\n"
	"	add.s32 %r8, %r7, %r2;\n	st.global.u32 [%rd3], %r8;\nDONE:\n	ret;\n}\n"
	/* table[tid] += amount[1]; shared_word = amount[0] */
	".visible .entry bump()\n{\n"
	"	.reg .b32 %r<6>;\n	.reg .b64 %rd<4>;\n"
	"	mov.u32 %r1, %tid.x;\n	mul.wide.u32 %rd1, %r1, 4;\n	mov.u64 %rd2, table;\n"
	"	add.s64 %rd3, %rd2, %rd1;\n	ld.global.u32 %r2, [%rd3];\n	ld.const.u32 %r3, [amount+4];\n"
	"	add.s32 %r4, %r2, %r3;\n	st.global.u32 [%rd3], %r4;\n"
	"	ld.const.u32 %r5, [amount];\n	st.global.u32 [shared_word], %r5;\n	ret;\n}\n"
	".visible .entry forever()\n{\nAGAIN:\n	bra AGAIN;\n}\n"
	".visible .entry small()\n.maxntid 64, 1, 1\n{\n	.shared .align 4 .b8 own[4096];\n	ret;\n}\n"
	/* to[tid] = texel (tid, 1) of a texture */
	".visible .entry look(.param .u64 to, .param .u64 texture)\n{\n"
	"	.reg .b32 %r<4>;\n	.reg .b64 %rd<5>;\n	.reg .f32 %f<9>;\n"
	"	ld.param.u64 %rd1, [to];\n	ld.param.u64 %rd2, [texture];\n	mov.u32 %r1, %tid.x;\n"
	"	cvt.rn.f32.u32 %f1, %r1;\n	tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f1, 0f3FC00000}];\n"
	"	mul.wide.u32 %rd3, %r1, 4;\n	add.s64 %rd4, %rd1, %rd3;\n	st.global.f32 [%rd4], %f2;\n	ret;\n}\n";

/* Addresses on the host that stand for what is on the device. */
static char add, bump, forever, small, look, unknown, table, amount;
static void *shared_word;
static void **fat;

static void register_ptx(const void *data)
{
	static struct wrapper wrapper = {0x466243b1, 1, NULL, NULL};

	wrapper.data = data;
	fat = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(fat, &add, "add", "add", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(fat, &bump, "bump", "bump", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(fat, &forever, "forever", "forever", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(fat, &small, "small", "small", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(fat, &look, "look", "look", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(fat, &table, "table", "table", 0, 16, 0, 0);
	__cudaRegisterVar(fat, &amount, "amount", "amount", 0, 8, 1, 0);
	__cudaRegisterManagedVar(fat, &shared_word, "shared_word", "shared_word", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(fat);
}

static int launch_add(void *to, unsigned n, unsigned value, unsigned blocks, unsigned threads)
{
	void *arguments[] = {&to, &n, &value};

	return cudaLaunchKernel(&add, (struct dim3){blocks, 1, 1}, (struct dim3){threads, 1, 1}, arguments, 0, NULL);
}

/* ---- what works ---- */

static void kernels(void)
{
	unsigned *device, host[1000], n = 1000, value = 7;
	struct dim3 grid, block;
	void *kernel, *stream = &add;
	size_t shared = 9;
	void *arguments[] = {&device, &n, &value};

	CHECK_EQUAL(cudaMalloc((void **)&device, sizeof host), 0);
	CHECK_EQUAL(launch_add(device, 1000, 5, 4, 256), 0);
	/* As nvcc's programs do it. */
	CHECK_EQUAL(__cudaPushCallConfiguration((struct dim3){8, 1, 1}, (struct dim3){128, 1, 1}, 0, NULL), 0);
	CHECK_EQUAL(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
	CHECK(grid.x == 8 && block.x == 128 && block.z == 1 && shared == 0 && !stream);
	CHECK_EQUAL(__cudaGetKernel(&kernel, &add), 0);
	CHECK_EQUAL(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), 0);
	CHECK_EQUAL(cudaMemcpy(host, device, sizeof host, TO_HOST), 0);
	unsigned wrong = 0;
	for (unsigned i = 0; i < 1000; i++)
		wrong += host[i] != 12;
	CHECK_EQUAL(wrong, 0);
	CHECK_EQUAL(cudaFree(device), 0);
	CHECK_EQUAL(cudaFree(device), INVALID_VALUE);
	CHECK_EQUAL(cudaDeviceSynchronize(), 0);
}

static void bad_launches(void)
{
	cudaGetLastError();
	CHECK_EQUAL(launch_add(NULL, 0, 0, 1, 1025), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaPeekAtLastError(), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaGetLastError(), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaGetLastError(), 0);
	CHECK_EQUAL(launch_add(NULL, 0, 0, 0, 32), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaLaunchKernel(&unknown, one, one, NULL, 0, NULL), INVALID_HANDLE);
	CHECK_EQUAL(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), INVALID_FUNCTION);
	CHECK_EQUAL(cudaLaunchKernel(&bump, (struct dim3){1, 65536, 1}, one, NULL, 0, NULL), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaLaunchKernel(&bump, one, (struct dim3){1, 1, 65}, NULL, 0, NULL), INVALID_CONFIGURATION);
	CHECK_EQUAL(cudaLaunchKernel(&bump, one, one, NULL, (size_t)48 << 11, NULL), INVALID_VALUE);
	CHECK_EQUAL(cudaLaunchKernel(&small, one, (struct dim3){65, 1, 1}, NULL, 0, NULL), INVALID_VALUE);
	CHECK_EQUAL(cudaLaunchKernel(&small, one, (struct dim3){64, 1, 1}, NULL, 44 << 10, NULL), 0);
	CHECK_EQUAL(cudaLaunchKernel(&small, one, one, NULL, (44 << 10) + 4, NULL), INVALID_VALUE);
	CHECK_EQUAL(cudaFuncSetAttribute(&small, 8, 60 << 10), 0);
	CHECK_EQUAL(cudaLaunchKernel(&small, one, one, NULL, 60 << 10, NULL), 0);
	CHECK_EQUAL(cudaFuncSetAttribute(&small, 8, 1 << 20), INVALID_VALUE);
	CHECK_TEXT(cudaGetErrorName(9), "cudaErrorInvalidConfiguration");
	CHECK_TEXT(cudaGetErrorString(9), "invalid configuration argument");
	CHECK_TEXT(cudaGetErrorName(226), "cudaErrorContained");
	CHECK_TEXT(cudaGetErrorString(-5), "unrecognized error code");
}

static void memory(void)
{
	unsigned char host[64 * 10], back[64 * 10], *device, *pitched;
	size_t pitch, left, total, left_after;

	for (size_t i = 0; i < sizeof host; i++)
		host[i] = (unsigned char)(i * 7);
	CHECK_EQUAL(cudaMemGetInfo(&left, &total), 0);
	CHECK_EQUAL(cudaMalloc((void **)&device, sizeof host), 0);
	CHECK_EQUAL(cudaMemGetInfo(&left_after, &total), 0);
	CHECK_EQUAL(left - left_after, sizeof host);
	CHECK_EQUAL(cudaMemcpy(device, host, sizeof host, TO_DEVICE), 0);
	CHECK_EQUAL(cudaMemcpy(device + 100, device + 50, 300, ON_DEVICE), 0);
	CHECK_EQUAL(cudaMemcpy(back, device, sizeof host, BY_ADDRESS), 0);
	CHECK(memcmp(back, host, 100) == 0 && memcmp(back + 100, host + 50, 300) == 0);
	CHECK(memcmp(back + 400, host + 400, sizeof host - 400) == 0);
	/* One byte too many; the wrong side; nothing at all. */
	CHECK_EQUAL(cudaMemcpy(device + 1, host, sizeof host, TO_DEVICE), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy(back, host, sizeof host, TO_DEVICE), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy(back, device, 8, 5), INVALID_DIRECTION);
	CHECK_EQUAL(cudaMemcpy(back, NULL, 8, TO_HOST), INVALID_VALUE);
	CHECK_EQUAL(cudaMemset(device + sizeof host - 1, 0, 2), INVALID_VALUE);
	CHECK_EQUAL(cudaMemset(device, 0x5a, sizeof host), 0);
	/* Rows: 10 of 60 bytes, from a pitch of 64. */
	CHECK_EQUAL(cudaMallocPitch((void **)&pitched, &pitch, 60, 10), 0);
	CHECK_EQUAL(pitch, 512);
	CHECK_EQUAL(cudaMemcpy2D(pitched, pitch, host, 64, 60, 10, TO_DEVICE), 0);
	CHECK_EQUAL(cudaMemset2D(pitched + 3 * pitch, pitch, 0xff, 20, 2), 0);
	memset(back, 0, sizeof back);
	CHECK_EQUAL(cudaMemcpy2D(back, 64, pitched, pitch, 60, 10, TO_HOST), 0);
	for (size_t i = 0; i < sizeof back; i++) {
		size_t row = i / 64, column = i % 64;
		unsigned expected = (row == 3 || row == 4) && column < 20 ? 0xff : column < 60 ? host[i] : 0;
		CHECK_EQUAL(back[i], expected);
	}
	CHECK_EQUAL(cudaMemcpy2D(back, 50, pitched, pitch, 60, 10, TO_HOST), INVALID_VALUE);
	/* Of rows of which the last does not fit, none is written. */
	CHECK_EQUAL(cudaMemset2D(device, 300, 0, 101, (sizeof host + 199) / 300 + 1), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy2D(device, 300, host, 1, 1, sizeof host / 300 + 2, TO_DEVICE), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy(back, device, sizeof host, TO_HOST), 0);
	for (size_t i = 0; i < sizeof back; i++)
		CHECK_EQUAL(back[i], 0x5a);
	CHECK_EQUAL(cudaMalloc((void **)&device, (size_t)1 << 45), NO_MEMORY);
	CHECK_EQUAL(cudaGetLastError(), NO_MEMORY);
	CHECK_EQUAL(cudaDeviceReset(), 0);
	CHECK_EQUAL(cudaMemGetInfo(&left_after, &total), 0);
	CHECK_EQUAL(left, left_after);
}

static void shared_with_the_host(void)
{
	unsigned *managed, *pinned;

	CHECK_EQUAL(cudaMallocManaged((void **)&managed, 400, 1), 0);
	CHECK_EQUAL(cudaMallocHost((void **)&pinned, 400), 0);
	for (unsigned i = 0; i < 100; i++)
		managed[i] = pinned[i] = i;
	CHECK_EQUAL(launch_add(managed, 100, 1, 1, 128), 0);
	CHECK_EQUAL(launch_add(pinned, 100, 2, 1, 128), 0);
	unsigned wrong = 0;
	for (unsigned i = 0; i < 100; i++)
		wrong += managed[i] != i + 1 || pinned[i] != i + 2;
	CHECK_EQUAL(wrong, 0);
	CHECK_EQUAL(cudaFree(managed), 0);
	CHECK_EQUAL(cudaFreeHost(pinned), 0);
}

static void variables(void)
{
	unsigned host[4] = {0}, amounts[2] = {3, 100};
	void *address;
	size_t bytes;

	__cudaInitModule(fat);
	CHECK(shared_word != NULL);
	*(unsigned *)shared_word = 99;
	CHECK_EQUAL(cudaMemcpyToSymbol(&amount, amounts, sizeof amounts, 0, TO_DEVICE), 0);
	CHECK_EQUAL(cudaLaunchKernel(&bump, one, (struct dim3){3, 1, 1}, NULL, 0, NULL), 0);
	CHECK_EQUAL(*(unsigned *)shared_word, 3);
	CHECK_EQUAL(cudaMemcpyFromSymbol(host, &table, sizeof host, 0, TO_HOST), 0);
	CHECK(host[0] == 110 && host[1] == 120 && host[2] == 130 && host[3] == 40);
	CHECK_EQUAL(cudaMemcpyFromSymbol(host, &table, 4, 8, TO_HOST), 0);
	CHECK_EQUAL(host[0], 130);
	CHECK_EQUAL(cudaMemcpyFromSymbol(host, &table, 12, 8, TO_HOST), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpyFromSymbol(host, &table, 4, 0, TO_DEVICE), INVALID_DIRECTION);
	CHECK_EQUAL(cudaMemcpyToSymbol(&unknown, host, 4, 0, TO_DEVICE), INVALID_SYMBOL);
	CHECK_EQUAL(cudaGetSymbolSize(&bytes, &amount), 0);
	CHECK_EQUAL(bytes, 8);
	CHECK_EQUAL(cudaGetSymbolAddress(&address, &table), 0);
	CHECK_EQUAL(launch_add(address, 4, 1000, 1, 32), 0);
	CHECK_EQUAL(cudaMemcpy(host, address, sizeof host, TO_HOST), 0);
	CHECK(host[0] == 1110 && host[3] == 1040);
	/* A reset leaves variables where they are. */
	CHECK_EQUAL(cudaDeviceReset(), 0);
	CHECK_EQUAL(cudaMemcpyFromSymbol(host, &table, sizeof host, 0, TO_HOST), 0);
	CHECK_EQUAL(host[3], 1040);
}

static void streams_and_events(void)
{
	void *stream, *another, *start, *end, *filled;
	unsigned long long id, other;
	int priority;
	float milliseconds = -1;

	CHECK_EQUAL(cudaStreamCreate(&stream), 0);
	CHECK_EQUAL(cudaStreamCreate(&another), 0);
	CHECK_EQUAL(cudaStreamGetId(stream, &id), 0);
	CHECK_EQUAL(cudaStreamGetId(another, &other), 0);
	CHECK(id != other);
	CHECK_EQUAL(cudaStreamGetId(stream, NULL), INVALID_VALUE);
	CHECK_EQUAL(cudaStreamDestroy(another), 0);
	CHECK_EQUAL(cudaStreamCreateWithPriority(&another, 2, 0), INVALID_VALUE);
	CHECK_EQUAL(cudaStreamCreateWithPriority(&another, 1, -100), 0);
	CHECK_EQUAL(cudaStreamGetPriority(another, &priority), 0);
	CHECK_EQUAL(priority, -5); /* as an H100 has it */
	CHECK_EQUAL(cudaStreamDestroy(another), 0);
	CHECK_EQUAL(cudaEventCreate(&start), 0);
	CHECK_EQUAL(cudaEventCreate(&end), 0);
	CHECK_EQUAL(cudaEventRecord(start, stream), 0);
	CHECK_EQUAL(cudaEventElapsedTime(&milliseconds, start, end), INVALID_HANDLE);
	CHECK_EQUAL(cudaGetLastError(), INVALID_HANDLE);
	CHECK_EQUAL(cudaEventRecord(end, stream), 0);
	CHECK_EQUAL(cudaEventElapsedTime(&milliseconds, start, end), 0);
	CHECK(fabsf(milliseconds) <= 0);
	CHECK_EQUAL(cudaLaunchKernel(&bump, (struct dim3){1000, 1, 1}, one, NULL, 0, stream), 0);
	CHECK_EQUAL(cudaEventRecord(end, stream), 0);
	CHECK_EQUAL(cudaEventElapsedTime(&milliseconds, start, end), 0);
	/* 11 instructions a warp, each a nanosecond. */
	CHECK(fabsf(milliseconds - 0.011f) < 1e-6f);
	CHECK_EQUAL(cudaMalloc(&filled, 1280), 0);
	CHECK_EQUAL(cudaEventRecord(start, stream), 0);
	CHECK_EQUAL(cudaMemsetAsync(filled, 1, 1280, stream), 0);
	CHECK_EQUAL(cudaMemcpyAsync(filled, (char *)filled + 640, 640, 3, stream), 0);
	CHECK_EQUAL(cudaEventRecord(end, stream), 0);
	CHECK_EQUAL(cudaEventElapsedTime(&milliseconds, start, end), 0);
	/* 1 and 10 words of a warp, and 1 and 5. */
	CHECK(fabsf(milliseconds - 17e-6f) < 1e-9f);
	CHECK_EQUAL(cudaFree(filled), 0);
	CHECK_EQUAL(cudaStreamSynchronize(stream), 0);
	CHECK_EQUAL(cudaEventDestroy(start), 0);
	CHECK_EQUAL(cudaEventDestroy(end), 0);
	CHECK_EQUAL(cudaStreamDestroy(stream), 0);
}

/* The GPU is a100: 108 SMs of 2048 threads, 65536 registers and 164 KiB of shared memory. */
static void device(void)
{
	unsigned char properties[1100];
	int n, value;
	uint64_t bytes;

	CHECK_EQUAL(cudaGetDeviceCount(&n), 0);
	CHECK_EQUAL(n, 1);
	CHECK_EQUAL(cudaSetDevice(1), INVALID_DEVICE);
	CHECK_EQUAL(cudaSetDevice(0), 0);
	memset(properties, 0xee, sizeof properties);
	CHECK_EQUAL(cudaGetDeviceProperties(properties, 0), 0);
	CHECK(strstr((char *)properties, "A100") != NULL);
	memcpy(&bytes, properties + 288, 8);
	CHECK_EQUAL(bytes, (uint64_t)16 << 30);
	memcpy(&value, properties + 360, 4);
	CHECK_EQUAL(value, 8);
	memcpy(&value, properties + 384, 4);
	CHECK_EQUAL(value, 108);
	memcpy(&value, properties + 604, 4);
	CHECK_EQUAL(value, 2048);
	CHECK(properties[1007] == 0 && properties[1008] == 0xee);
	CHECK_EQUAL(cudaDeviceGetAttribute(&value, 16, 0), 0);
	CHECK_EQUAL(value, 108);
	CHECK_EQUAL(cudaDeviceGetAttribute(&value, 10, 0), 0);
	CHECK_EQUAL(value, 32);
	CHECK_EQUAL(cudaDeviceGetAttribute(&value, 9999, 0), INVALID_VALUE);
}

static void occupancy(void)
{
	int blocks;
	size_t bytes;
	int64_t attributes[18];

	/* 2048 threads an SM: 8 blocks of 256; 32 blocks at most. */
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &bump, 256, 0), 0);
	CHECK_EQUAL(blocks, 8);
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &bump, 32, 0), 0);
	CHECK_EQUAL(blocks, 32);
	/* 164 KiB of shared memory, 4 + 40 and 1 KiB reserved: 3. */
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &small, 32, 40 << 10), 0);
	CHECK_EQUAL(blocks, 3);
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &small, 96, 0), 0);
	CHECK_EQUAL(blocks, 21); /* of 2048 threads, though a launch may have 64 a block */
	/* A quarter of it is 41 KiB. A third is 437 times the 128 bytes that are given at a time: 50816 + 5 KiB. */
	CHECK_EQUAL(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &small, 4, 32), 0);
	CHECK_EQUAL(bytes, 36 << 10);
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &small, 32, bytes), 0);
	CHECK_EQUAL(blocks, 4);
	CHECK_EQUAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &small, 32, bytes + 1), 0);
	CHECK_EQUAL(blocks, 3);
	CHECK_EQUAL(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &small, 3, 32), 0);
	CHECK_EQUAL(bytes, 50816);
	CHECK_EQUAL(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &small, 33, 32), INVALID_VALUE);
	CHECK_EQUAL(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &unknown, 1, 32), INVALID_FUNCTION);
	CHECK_EQUAL(cudaFuncGetAttributes(attributes, &small), 0);
	CHECK_EQUAL(attributes[0], 4096);
	CHECK_EQUAL(attributes[1], 8);
	CHECK_EQUAL((int)attributes[3], 64);
	CHECK_EQUAL(cudaFuncGetAttributes(attributes, &unknown), INVALID_FUNCTION);
}

static void textures(void)
{
	static const struct channels floats = {{32, 0, 0, 0}, 2}, three = {{8, 8, 8, 0}, 1};
	float texels[2][6] = {{0, 1, 2, 3, 4, 5}, {10, 11, 12, 13, 14, 15}}, back[2][3], *to, seen[8];
	struct resource resource = {0};
	struct sampling sampling = {.modes = {1, 1, 1}}; /* clamped, unfiltered */
	uint64_t texture;

	CHECK_EQUAL(cudaMallocArray(&resource.array, &three, 6, 2, 0), INVALID_CHANNELS);
	CHECK_EQUAL(cudaMallocArray(&resource.array, &floats, 6, 2, 0), 0);
	CHECK_EQUAL(cudaMemcpy2DToArray(resource.array, 0, 0, texels, sizeof texels[0], sizeof texels[0], 2, TO_DEVICE), 0);
	CHECK_EQUAL(cudaMemcpy2DToArray(resource.array, 4, 0, texels, sizeof texels[0], sizeof texels[0], 2, TO_DEVICE), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy2DFromArray(back, sizeof back[0], resource.array, 12, 0, 12, 2, TO_HOST), 0);
	CHECK(back[0][0] == 3 && back[0][2] == 5 && back[1][0] == 13 && back[1][2] == 15);
	/* One row may have no pitch, two may not. */
	CHECK_EQUAL(cudaMemcpy2DToArray(resource.array, 0, 0, texels[1], 0, sizeof texels[1], 1, TO_DEVICE), 0);
	CHECK_EQUAL(cudaMemcpy2DFromArray(back, 0, resource.array, 12, 0, 12, 1, TO_HOST), 0);
	CHECK(back[0][0] == 13 && back[0][2] == 15);
	CHECK_EQUAL(cudaMemcpy2DToArray(resource.array, 0, 0, texels, 0, sizeof texels[0], 2, TO_DEVICE), INVALID_VALUE);
	CHECK_EQUAL(cudaMemcpy2DToArray(resource.array, 0, 0, texels, 0, sizeof texels[0], 1, TO_DEVICE), 0);
	CHECK_EQUAL(cudaCreateTextureObject(&texture, &resource, &sampling, NULL), 0);
	CHECK_EQUAL(cudaMalloc((void **)&to, sizeof seen), 0);
	void *arguments[] = {&to, &texture};
	CHECK_EQUAL(cudaLaunchKernel(&look, one, (struct dim3){8, 1, 1}, arguments, 0, NULL), 0);
	CHECK_EQUAL(cudaMemcpy(seen, to, sizeof seen, TO_HOST), 0);
	for (int i = 0; i < 8; i++)
		CHECK(seen[i] == (float)(i < 6 ? 10 + i : 15));
	/* Filtered: half way between two texels of row 1, whose centres are at .5. */
	sampling.filter = 1;
	CHECK_EQUAL(cudaDestroyTextureObject(texture), 0);
	CHECK_EQUAL(cudaDestroyTextureObject(texture), INVALID_VALUE);
	CHECK_EQUAL(cudaCreateTextureObject(&texture, &resource, &sampling, NULL), 0);
	CHECK_EQUAL(cudaLaunchKernel(&look, one, (struct dim3){8, 1, 1}, arguments, 0, NULL), 0);
	CHECK_EQUAL(cudaMemcpy(seen, to, sizeof seen, TO_HOST), 0);
	for (int i = 0; i < 8; i++)
		CHECK(seen[i] == (i == 0 ? 10 : i < 6 ? 9.5F + (float)i : 15));
	CHECK_EQUAL(cudaFreeArray(resource.array), 0);
	CHECK_EQUAL(cudaFreeArray(resource.array), INVALID_HANDLE);
	CHECK_EQUAL(cudaFree(to), 0);
}

static void unsupported(void)
{
	char handle[64];

	CHECK_EQUAL(cudaIpcGetMemHandle(handle, NULL), NOT_SUPPORTED);
	CHECK_EQUAL(cudaIpcGetMemHandle(handle, NULL), NOT_SUPPORTED);
	CHECK_EQUAL(cudaGraphicsMapResources(1, NULL, NULL), NOT_SUPPORTED);
	CHECK_EQUAL(cudaGetLastError(), NOT_SUPPORTED);
}

static int api(void)
{
	RUN(kernels);
	RUN(bad_launches);
	RUN(memory);
	RUN(shared_with_the_host);
	RUN(variables);
	RUN(streams_and_events);
	RUN(device);
	RUN(occupancy);
	RUN(textures);
	RUN(unsupported);
	return check_report();
}

/* ---- what ends otherwise ---- */

static unsigned *device_words(unsigned n)
{
	void *words = NULL;

	return cudaMalloc(&words, n * sizeof(unsigned)) == 0 ? words : NULL;
}

static int three_launches(void)
{
	unsigned *words = device_words(256);

	launch_add(words, 256, 1, 2, 128);
	cudaLaunchKernel(&bump, one, (struct dim3){4, 1, 1}, NULL, 0, NULL);
	launch_add(words, 100, 1, 4, 64);
	puts("done");
	return 7;
}

/* More blocks than anyone waits for, after a launch of few. */
static int huge_launch(void)
{
	unsigned *words = device_words(256);

	launch_add(words, 256, 1, 2, 128);
	launch_add(words, 256, 1, 2147483647, 1024);
	return 0;
}

/* A child launches, too. Its status is what it got. */
static int forked(void)
{
	unsigned *words = device_words(256);
	int status = 0;

	launch_add(words, 256, 1, 2, 128);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		for (unsigned i = 0; i < 3000; i++)
			launch_add(words, 256, 1, 2, 128);
		_exit(cudaGetLastError());
	}
	waitpid(child, &status, 0);
	launch_add(words, 256, 1, 2, 128);
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

static int stray(void)
{
	unsigned *words = device_words(40);

	cudaMemset(words, 0, 160);
	puts("before");
	launch_add(words, 100, 1, 1, 128);
	puts("after");
	return 0;
}

/* A kernel adds to 40 words, of which one was set, 15 were copied and 4 are a kernel's. */
static int unwritten(void)
{
	unsigned *words = device_words(40), *others = device_words(40), zeros[15] = {0};

	cudaMemset(others, 0, 160);
	cudaMemset(words, 0, 4);
	cudaMemcpy(words + 1, zeros, sizeof zeros, 1);
	cudaMemcpy(words + 16, others, 16, 3);
	launch_add(words, 40, 1, 1, 40);
	launch_add(words, 40, 1, 1, 40);
	cudaFree(words);
	return 0;
}

/* A kernel adds to what was freed, when others have been allocated since. */
static int use_after_free(void)
{
	unsigned *words = device_words(64);

	cudaFree(words);
	device_words(64);
	launch_add(words, 64, 1, 1, 64);
	puts("after");
	return 0;
}

/* The host uses device memory as its own, before and after a kernel, and memory that is the host's too. */
static int host_access(void)
{
	volatile unsigned *words = device_words(4096), *after = device_words(4096);
	void *managed = NULL, *pinned = NULL;

	cudaMallocManaged(&managed, 64, 1);
	cudaMallocHost(&pinned, 64);
	((volatile unsigned *)managed)[2] = ((volatile unsigned *)pinned)[2] = 4;
	launch_add(managed, 16, 1, 1, 32);
	puts(((volatile unsigned *)managed)[2] == 5 && ((volatile unsigned *)pinned)[2] == 4 ? "shared" : "wrong");
	fflush(stdout);
	words[7] = 41;
	launch_add((unsigned *)words, 4096, 1, 128, 32);
	printf("found %u and %u\n", words[7], after[4095]);
	return 0;
}

/* Says on standard error which call failed, in a line of its own. */
static int checked(void)
{
	unsigned host[256] = {0};
	void *words = NULL;
	const char *failed = cudaMalloc(&words, sizeof host)			   ? "cudaMalloc"
			     : cudaMemcpy(words, host, sizeof host, TO_DEVICE)	   ? "cudaMemcpy to the device"
			     : launch_add(words, 256, 3, 4, 64)			   ? "cudaLaunchKernel"
			     : cudaMemcpy(host, words, sizeof host, TO_HOST)	   ? "cudaMemcpy to the host"
			     : cudaFree(words)					   ? "cudaFree"
			     : host[255] != 3					   ? "the sum"
										   : NULL;

	if (failed)
		fprintf(stderr, "program: %s failed\n", failed);
	return failed != NULL;
}

enum { THREADS = 4, TURNS = 10 };

/* All threads use the device, streams, events and each its own memory; one error of one stays its own. */
static void *use_device(void *context)
{
	int *wrong = context;
	void *stream, *event, *nothing = NULL;

	for (int i = 0; i < TURNS; i++) {
		*wrong += cudaStreamCreate(&stream) != 0 || cudaEventCreate(&event) != 0;
		*wrong += checked() != 0 || cudaEventRecord(event, stream) != 0;
		*wrong += cudaMalloc(&nothing, SIZE_MAX / 2) != NO_MEMORY || cudaGetLastError() != NO_MEMORY;
		*wrong += cudaEventDestroy(event) != 0 || cudaStreamDestroy(stream) != 0 || cudaGetLastError() != 0;
	}
	return NULL;
}

static int threads(void)
{
	pthread_t threads[THREADS];
	int wrong[THREADS] = {0}, all = 0;

	for (int i = 0; i < THREADS; i++)
		all += pthread_create(&threads[i], NULL, use_device, &wrong[i]) != 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		all += wrong[i];
	}
	printf("%d wrong\n", all);
	return all != 0;
}

static int null(void)
{
	launch_add(device_words(64), 64, 1, 1, 64);
	return *(volatile int *)(uintptr_t)16;
}

static int segv(void)
{
	launch_add(device_words(64), 64, 1, 1, 64);
	raise(SIGSEGV);
	printf("went on\n");
	return 0;
}

/* Allocates and frees 25 MiB in all; says how often it got an address that it had just freed. */
static int churn(void)
{
	unsigned *words = device_words(16384), *before;
	int same = 0;

	for (int i = 0; words && i < 400; i++, same += words == before) {
		cudaFree(before = words);
		words = device_words(16384);
	}
	printf("same %d\n", same);
	cudaMemset(words, 0, 256);
	launch_add(words, 64, 1, 1, 64);
	return 0;
}

static int endless(void)
{
	cudaLaunchKernel(&forever, one, one, NULL, 0, NULL);
	return 0;
}

static int crash(void)
{
	three_launches();
	fflush(stdout);
	abort();
}

/* By the system, as where memory runs out. */
static int killed(void)
{
	const size_t bytes = (size_t)128 << 20;
	char *used = malloc(bytes);

	if (used)
		memset(used, 1, bytes);
	three_launches();
	return raise(SIGKILL);
}

/* More than this machine has. */
static int large(void)
{
	void *more;
	const size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	(void)cudaMalloc(&more, bytes);
	(void)cudaGetLastError();
	three_launches();
	return 0;
}

/* It looks at no error. */
static int passes(void)
{
	three_launches();
	cudaGraphicsMapResources(1, NULL, NULL);
	puts("Test passed");
	return 0;
}

/* What it asks for changes nothing. */
static int asks(void)
{
	char text[16];

	three_launches();
	cudaLogsDumpToFile("log", 0);
	cudaLogsDumpToFile("log", 0);
	return 0;
}

static int nothing(void)
{
	return 0;
}

/* A launch of the kernel k of a fat binary. */
static int launch_of(const struct wrapper *wrapper)
{
	static char gone;
	void **handle = __cudaRegisterFatBinary(wrapper);

	__cudaRegisterFunction(handle, &gone, "k", "k", -1, NULL, NULL, NULL, NULL, NULL);
	return cudaLaunchKernel(&gone, one, one, NULL, 0, NULL);
}

static int broken_ptx(void)
{
	static const struct wrapper wrapper = {0x466243b1, 1, ".version 7.0\n.target sm_70\n.entry k() { frobnicate; ", NULL};

	launch_of(&wrapper);
	return 0;
}

/* A container whose only entry says it has more bytes than there are; and one without PTX. */
static int launch_from(uint64_t container_bytes, uint64_t payload_bytes, unsigned kind)
{
	static uint64_t data[14];
	static struct wrapper wrapper = {0x466243b1, 1, data, NULL};

	data[0] = UINT64_C(0x00100001ba55ed50);
	data[1] = container_bytes;
	data[2] = UINT64_C(0x0000004001010000) | kind;
	data[3] = payload_bytes;
	launch_of(&wrapper);
	return 0;
}

/* An entry of PTX, and one of machine code that is an ELF file of `sections` sections without the kernel, and no ELF file for 0. */
static int launch_with_cubin(unsigned char sections)
{
	static union { uint64_t words[34]; unsigned char bytes[34 * 8]; } data;
	static struct wrapper wrapper = {0x466243b1, 1, &data, NULL};
	unsigned char *cubin = data.bytes + 208;

	data.words[0] = UINT64_C(0x00100001ba55ed50);
	data.words[1] = sizeof data - 16;
	data.words[2] = UINT64_C(0x0000004001010001);
	data.words[3] = 64;
	strcpy((char *)data.bytes + 80, ".version 7.0\n.target sm_70\n.entry k() { ret; }\n");
	data.words[18] = UINT64_C(0x0000004001010002);
	data.words[19] = 64;
	if (sections > 0) {
		memcpy(cubin, "\177ELF\2\1", 6);
		cubin[0x3a] = 64; /* bytes of a section's header; the only section is the header of the file itself */
		cubin[0x3c] = sections;
	}
	return launch_of(&wrapper);
}

/* A linked program whose list of containers is nowhere. */
static int wild_list(void)
{
	static const char text[] = ".version 7.0\n.target sm_70\n.entry k() { ret; }\n";
	static struct wrapper wrapper = {0x466243b1, 2, text, NULL};

	wrapper.prelinked = (const void *)0x1234;
	return launch_of(&wrapper);
}

static int damaged_cubin(void) { return launch_with_cubin(0); }
static int other_cubin(void) { return launch_with_cubin(1); }
static int empty_container(void) { return launch_from(0, 8, 1); }
static int wild_container(void) { return launch_from(UINT64_C(1) << 60, 8, 1); }
static int wild_entry(void) { return launch_from(72, UINT64_C(1) << 62, 1); }
static int no_ptx(void) { return launch_from(72, 8, 2); }

static int no_wrapper(void)
{
	static const struct wrapper wrapper = {0x12345678, 1, ptx, NULL};

	__cudaRegisterFatBinary(&wrapper);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} things[] = {
	{"api", api}, {"three", three_launches}, {"huge", huge_launch}, {"forked", forked}, {"stray", stray}, {"unwritten", unwritten}, {"use-after-free", use_after_free}, {"churn", churn}, {"host-access", host_access}, {"checked", checked}, {"threads", threads}, {"null", null}, {"segv", segv},
	 {"endless", endless}, {"crash", crash}, {"killed", killed}, {"large", large},
	{"nothing", nothing}, {"passes", passes}, {"asks", asks}, {"broken-ptx", broken_ptx}, {"wild-container", wild_container},
	{"wild-entry", wild_entry}, {"no-ptx", no_ptx}, {"wild-list", wild_list}, {"damaged-cubin", damaged_cubin},
	{"other-cubin", other_cubin}, {"empty-container", empty_container}, {"no-wrapper", no_wrapper},
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "no-cuda") == 0)
		return 0;
	register_ptx(ptx);
	for (size_t i = 0; argc == 2 && i < sizeof things / sizeof things[0]; i++)
		if (strcmp(argv[1], things[i].name) == 0)
			return things[i].run();
	return 3;
}
