/* SPDX-License-Identifier: MIT */
/* A program of CUDA 10, 11 or 12 (-DMAJOR=10, 11, 12; -DRUNTIME: the library's name), without a CUDA compiler: calls the runtime as the
 * headers of that version declare it. `older` prints PASS, or FAIL with what is wrong. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../cuda/expect.h"

struct dim3 {
	unsigned x, y, z;
};

/* What the headers of that version say, as far as it is looked at here. */
struct properties {
	char name[256], uuid[16], luid[8];
	unsigned node;
	size_t memory, shared;
	int registers, warp;
	size_t pitch;
	int threads, dim[3], grid[3], clock;
	size_t constant;
	int major, minor;
	size_t texture_alignment, texture_pitch;
	int overlap, sms, rest1[62];
	size_t shared_sm;
	int registers_sm, managed, rest2[10];
	size_t shared_optin;
	int rest3[2];
#if MAJOR >= 11
	int blocks_sm, window;
	size_t reserved_shared;
#endif
#if MAJOR == 12
	int can_register, rest4[3], pools, rest5[4], mapped[4], reserved[63];
#endif
};
#if MAJOR == 12
_Static_assert(sizeof(struct properties) == 1032, "cudaDeviceProp of CUDA 12");
#define PROPERTIES cudaGetDeviceProperties_v2
#else
_Static_assert(sizeof(struct properties) == (MAJOR == 11 ? 728 : 712), "cudaDeviceProp of CUDA 11, and of CUDA 10");
#define PROPERTIES cudaGetDeviceProperties
#endif

struct pointer_attributes {
#if MAJOR == 10
	int of_two;
#endif
	int type, device;
	void *on_device, *on_host;
#if MAJOR == 10
	int managed;
#endif
};

struct function_attributes {
	size_t shared, constant, local;
	int threads, registers, ptx, binary, cache, dynamic, carveout;
#if MAJOR == 12
	int cluster[6], reserved[16];
#endif
};

struct channels {
	int bits[4];
	unsigned kind;
};

struct resource {
	unsigned type;
	union {
		void *array;
		struct {
			void *at;
			struct channels channels;
			size_t width, height, pitch;
		} pitched;
	} of;
};

struct sampling {
	unsigned modes[3], filter, read_mode;
	int srgb;
	float border[4];
	int normalized;
	unsigned anisotropy, mipmap_filter;
	float mipmap[3];
	int trilinear;
#if MAJOR == 12
	int seamless;
#endif
};

extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFunction(void **, const void *, const char *, const char *, int, void *, void *, void *, void *, int *);
extern int PROPERTIES(struct properties *, int), cudaRuntimeGetVersion(int *);
extern int cudaPointerGetAttributes(struct pointer_attributes *, const void *);
extern int cudaFuncGetAttributes(struct function_attributes *, const void *);
extern int cudaMalloc(void **, size_t), cudaMallocManaged(void **, size_t, unsigned), cudaMemcpy(void *, const void *, size_t, unsigned), cudaDeviceSynchronize(void);
extern int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
extern int cudaMallocArray(void **, const struct channels *, size_t, size_t, unsigned);
extern int cudaCreateTextureObject(uint64_t *, const struct resource *, const struct sampling *, const void *);
extern int cudaGetTextureObjectResourceDesc(struct resource *, uint64_t);
extern int cudaGetTextureObjectTextureDesc(struct sampling *, uint64_t);
extern int cudaStreamCreate(void **), cudaStreamBeginCapture(void *, int), cudaStreamEndCapture(void *, void **);
extern int cudaStreamGetCaptureInfo(void *, int *, unsigned long long *);
extern int cudaGraphCreate(void **, unsigned), cudaGraphAddEmptyNode(void **, void *, void *const *, size_t);
extern int cudaGraphAddDependencies(void *, void *const *, void *const *, size_t), cudaGraphGetEdges(void *, void **, void **, size_t *);
extern int cudaGraphLaunch(void *, void *);
#if MAJOR == 12
extern int cudaGraphInstantiate(void **, void *, unsigned long long);
#else
extern int cudaGraphInstantiate(void **, void *, void **, char *, size_t);
#endif

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry set(.param .u64 to)\n{\n"
			  "	.reg .b32 %r<3>;\n	.reg .b64 %rd<4>;\n	.shared .align 4 .b8 own[64];\n"
			  "	ld.param.u64 %rd1, [to];\n	mov.u32 %r1, %tid.x;\n	mul.wide.u32 %rd2, %r1, 4;\n"
			  "	add.s64 %rd3, %rd1, %rd2;\n	st.global.u32 [%rd3], %r1;\n	ret;\n}\n";
static char set;
static void *device;

static void launches(void)
{
	static const struct {
		uint32_t magic, version;
		const void *data, *rest;
	} wrapper = {0x466243b1, 1, ptx, NULL};
	unsigned host[32] = {0};

	__cudaRegisterFunction(__cudaRegisterFatBinary(&wrapper), &set, "set", "set", -1, NULL, NULL, NULL, NULL, NULL);
	CHECK(cudaMalloc(&device, sizeof host) == 0);
	CHECK(cudaLaunchKernel(&set, (struct dim3){1, 1, 1}, (struct dim3){32, 1, 1}, (void *[]){&device}, 0, NULL) == 0);
	CHECK(cudaDeviceSynchronize() == 0);
	CHECK(cudaMemcpy(host, device, sizeof host, 2) == 0);
	CHECK(host[31] == 31);
}

/* Each structure has bytes behind it that the runtime must not touch. */
static void structures(void)
{
	struct {
		struct properties is;
		uint64_t guard;
	} properties = {.guard = 42};
	struct {
		struct pointer_attributes is;
		uint64_t guard;
	} pointer = {.guard = 42};
	struct {
		struct function_attributes is;
		uint64_t guard;
	} function = {.guard = 42};
	int version = 0;
#if MAJOR == 10
	void *managed = NULL;
#endif

	CHECK(PROPERTIES(&properties.is, 0) == 0);
	CHECK(properties.guard == 42 && strstr(properties.is.name, "A100"));
	CHECK(properties.is.major == 8 && properties.is.minor == 0 && properties.is.sms == 108 && properties.is.warp == 32);
	CHECK(properties.is.clock == 1000000 && properties.is.registers_sm == 65536);
#if MAJOR >= 11
	CHECK(properties.is.blocks_sm == 32);
#endif
	CHECK(properties.is.shared_optin == 163 << 10 && properties.is.shared_sm == 164 << 10);
#if MAJOR == 12
	CHECK(properties.is.can_register == 1 && properties.is.pools == 1);
#endif
	CHECK(cudaPointerGetAttributes(&pointer.is, device) == 0);
	CHECK(pointer.guard == 42 && pointer.is.type == 2 && pointer.is.on_device == device && !pointer.is.on_host);
#if MAJOR == 10
	CHECK(pointer.is.of_two == 2 && !pointer.is.managed);
	CHECK(cudaPointerGetAttributes(&pointer.is, &version) == 1);
	CHECK(cudaMallocManaged(&managed, 4, 1) == 0 && cudaPointerGetAttributes(&pointer.is, managed) == 0);
	CHECK(pointer.guard == 42 && pointer.is.of_two == 2 && pointer.is.type == 3 && pointer.is.managed && pointer.is.on_host == managed);
#endif
	CHECK(cudaFuncGetAttributes(&function.is, &set) == 0);
	CHECK(function.guard == 42 && function.is.shared == 64 && function.is.threads == 1024);
	CHECK(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == MAJOR);
}

/* The same where the loader is not told the version. */
static void looked_up(void)
{
	struct {
		struct pointer_attributes is;
		uint64_t guard;
	} pointer = {.guard = 42};
	void *library = dlopen(RUNTIME, RTLD_NOW);
	int (*attributes)(struct pointer_attributes *, const void *), version = 0;
	int (*version_of)(int *);

	CHECK(library != NULL);
	*(void **)&attributes = dlsym(library, "cudaPointerGetAttributes");
	*(void **)&version_of = dlsym(library, "cudaRuntimeGetVersion");
	CHECK(attributes && attributes(&pointer.is, device) == 0);
	CHECK(pointer.guard == 42 && pointer.is.type == 2 && pointer.is.on_device == device);
	CHECK(version_of && version_of(&version) == 0 && version / 1000 == MAJOR);
}

static void textures(void)
{
	static const struct channels floats = {{32, 0, 0, 0}, 2};
	struct resource resource = {0}, was = {0};
	struct sampling sampling = {.normalized = 1, .modes = {1, 1, 1}}, back;
	uint64_t texture = 0, guard = 42;

	memset(&back, 0, sizeof back);
	CHECK(cudaMallocArray(&resource.of.array, &floats, 8, 8, 0) == 0);
	CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL) == 0 && texture != 0);
	CHECK(cudaGetTextureObjectResourceDesc(&was, texture) == 0 && was.of.array == resource.of.array);
	CHECK(cudaGetTextureObjectTextureDesc(&back, texture) == 0 && back.normalized == 1 && back.modes[1] == 1);
	CHECK(guard == 42);
}

static void graphs(void)
{
	void *graph, *nodes[2], *from[2] = {NULL, NULL}, *to[2] = {NULL, NULL}, *ready, *stream;
	unsigned long long id = 0;
	size_t n = 2;
	int status = -1;

	CHECK(cudaGraphCreate(&graph, 0) == 0);
	CHECK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0) == 0 && cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0) == 0);
	CHECK(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1) == 0);
	CHECK(cudaGraphGetEdges(graph, from, to, &n) == 0 && n == 1 && from[0] == nodes[0] && to[0] == nodes[1]);
#if MAJOR == 12
	CHECK(cudaGraphInstantiate(&ready, graph, 0) == 0);
#else
	char log[16] = "untouched";
	CHECK(cudaGraphInstantiate(&ready, graph, NULL, log, sizeof log) == 0 && log[0] == '\0');
#endif
	CHECK(cudaGraphLaunch(ready, NULL) == 0);
	CHECK(cudaStreamCreate(&stream) == 0 && cudaStreamBeginCapture(stream, 0) == 0);
	CHECK(cudaStreamGetCaptureInfo(stream, &status, &id) == 0 && status == 1 && id != 0);
	CHECK(cudaStreamEndCapture(stream, &graph) == 0);
}

int main(void)
{
	launches();
	structures();
	looked_up();
	textures();
	graphs();
	return verdict();
}
