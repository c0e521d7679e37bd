/* SPDX-License-Identifier: MIT */
/* The runtimes of CUDA 10.1 to 12 have most calls as CUDA 13 has them. Those that differ have a version each, by which the
 * loader tells them apart: a call of CUDA 13 that is not the same as before is marked SINCE_13 behind its definition, and what
 * it was before stands here. */
#include <string.h>

#include "cuda/runtime/work.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/runtime.h"

/* The function IS is what programs that are linked with libcudart.so.VERSION call NAME. */
#define IN(PLACE, VERSION, NAME, IS)                                                               \
	extern API __typeof__(IS) gt_in_##PLACE##_##NAME __attribute__((alias(#IS)));               \
	__asm__(".symver gt_in_" #PLACE "_" #NAME ", " #NAME "@libcudart.so." VERSION)
#define IN_10(NAME, IS)                                                                            \
	IN(10_1, "10.1", NAME, IS);                                                                 \
	IN(10_2, "10.2", NAME, IS)
#define IN_11(NAME, IS) IN(11_0, "11.0", NAME, IS)
#define IN_12(NAME, IS) IN(12, "12", NAME, IS)
#define BEFORE_12(NAME, IS)                                                                        \
	IN_10(NAME, IS);                                                                            \
	IN_11(NAME, IS)
#define BEFORE_13(NAME, IS)                                                                        \
	BEFORE_12(NAME, IS);                                                                        \
	IN_12(NAME, IS)

/* ---- calls whose structures were shorter ---- */

extern int cudaFuncGetAttributes(void *attributes, const void *function);
extern int cudaPointerGetAttributes(void *attributes, const void *pointer);
extern int cudaCreateTextureObject(uint64_t *handle, const struct gt_resource *resource, const struct gt_sampling *sampling,
				   const void *view);
extern int cudaCreateSurfaceObject(uint64_t *handle, const struct gt_resource *resource);
extern int cudaGetTextureObjectResourceDesc(struct gt_resource *resource, uint64_t handle);
extern int cudaGetTextureObjectTextureDesc(struct gt_sampling *sampling, uint64_t handle);
extern int cudaGetSurfaceObjectResourceDesc(struct gt_resource *resource, uint64_t handle);

/* Bytes of the structures as they were: the first ones of those of today. */
enum {
	PROPERTIES_10 = 712,
	PROPERTIES_11 = 728,
	FUNCTION_ATTRIBUTES_11 = 56,
	FUNCTION_ATTRIBUTES = 144,
	POINTER_ATTRIBUTES_12 = 24,
	POINTER_ATTRIBUTES = 88,
	RESOURCE_12 = 64,
	SAMPLING_11 = offsetof(struct gt_sampling, seamless_cube),
};

static int properties_10(unsigned char *to, int device)
{
	return gt_cudart_older_properties(to, device, PROPERTIES_10);
}
IN_10(cudaGetDeviceProperties, properties_10);

static int properties_11(unsigned char *to, int device)
{
	return gt_cudart_older_properties(to, device, PROPERTIES_11);
}
IN_11(cudaGetDeviceProperties, properties_11);
IN_12(cudaGetDeviceProperties, properties_11);

static int function_attributes(void *to, const void *function)
{
	unsigned char all[FUNCTION_ATTRIBUTES];
	int code = to ? cudaFuncGetAttributes(all, function) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, all, FUNCTION_ATTRIBUTES_11);
	return code;
}
BEFORE_12(cudaFuncGetAttributes, function_attributes);

static int pointer_attributes(void *to, const void *pointer)
{
	unsigned char all[POINTER_ATTRIBUTES];
	int code = to ? cudaPointerGetAttributes(all, pointer) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, all, POINTER_ATTRIBUTES_12);
	return code;
}
IN_11(cudaPointerGetAttributes, pointer_attributes);
IN_12(cudaPointerGetAttributes, pointer_attributes);

enum { TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED };

/* CUDA 10 says what managed memory is twice, and knows no memory of the host that is not registered. */
static int pointer_attributes_10(void *to, const void *pointer)
{
	struct {
		int type, device;
		void *on_device, *on_host;
	} now = {0};
	struct {
		int of_two, type, device;
		void *on_device, *on_host;
		int managed;
	} then;
	int code = to ? pointer_attributes(&now, pointer) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS && now.type == TYPE_UNREGISTERED)
		code = CUDA_INVALID_VALUE;
	if (code != CUDA_SUCCESS)
		return code;
	memset(&then, 0, sizeof then);
	then.of_two = now.type == TYPE_HOST ? TYPE_HOST : TYPE_DEVICE;
	then.type = now.type;
	then.device = now.device;
	then.on_device = now.on_device;
	then.on_host = now.on_host;
	then.managed = now.type == TYPE_MANAGED;
	memcpy(to, &then, sizeof then);
	return code;
}
IN_10(cudaPointerGetAttributes, pointer_attributes_10);

static const struct gt_resource *widened(struct gt_resource *to, const void *from)
{
	*to = (struct gt_resource){0};
	if (from)
		memcpy(to, from, RESOURCE_12);
	return from ? to : NULL;
}

static int texture_12(uint64_t *handle, const void *resource, const struct gt_sampling *sampling, const void *view)
{
	struct gt_resource of;

	return cudaCreateTextureObject(handle, widened(&of, resource), sampling, view);
}
IN_12(cudaCreateTextureObject, texture_12);

static int texture_11(uint64_t *handle, const void *resource, const void *sampling, const void *view)
{
	struct gt_sampling as = {0};

	if (sampling)
		memcpy(&as, sampling, SAMPLING_11);
	return texture_12(handle, resource, sampling ? &as : NULL, view);
}
BEFORE_12(cudaCreateTextureObject, texture_11);

static int surface(uint64_t *handle, const void *resource)
{
	struct gt_resource of;

	return cudaCreateSurfaceObject(handle, widened(&of, resource));
}
BEFORE_13(cudaCreateSurfaceObject, surface);

static int narrowed(void *to, const struct gt_resource *from, int code)
{
	if (code == CUDA_SUCCESS)
		memcpy(to, from, RESOURCE_12);
	return code;
}

static int texture_resource(void *to, uint64_t handle)
{
	struct gt_resource of = {0};
	int code = to ? cudaGetTextureObjectResourceDesc(&of, handle) : CUDA_INVALID_VALUE;

	return narrowed(to, &of, code);
}
BEFORE_13(cudaGetTextureObjectResourceDesc, texture_resource);

static int surface_resource(void *to, uint64_t handle)
{
	struct gt_resource of = {0};
	int code = to ? cudaGetSurfaceObjectResourceDesc(&of, handle) : CUDA_INVALID_VALUE;

	return narrowed(to, &of, code);
}
BEFORE_13(cudaGetSurfaceObjectResourceDesc, surface_resource);

static int texture_sampling(void *to, uint64_t handle)
{
	struct gt_sampling as = {0};
	int code = to ? cudaGetTextureObjectTextureDesc(&as, handle) : CUDA_INVALID_VALUE;

	if (code == CUDA_SUCCESS)
		memcpy(to, &as, SAMPLING_11);
	return code;
}
BEFORE_12(cudaGetTextureObjectTextureDesc, texture_sampling);

/* ---- calls that had other parameters, and the names that CUDA 11 and 12 gave to the forms of today ---- */

struct gt_executable;
struct update_result {
	int result;
	struct gt_node *node, *from;
};

#define PAIRS const struct gt_graph *graph, struct gt_node *const *from, struct gt_node *const *to
#define INFO void *stream, int *status, unsigned long long *id
#define INFO_GRAPH INFO, struct gt_graph **graph, struct gt_node *const **after
extern int cudaGraphInstantiate(struct gt_executable **to, const struct gt_graph *graph, unsigned long long flags);
extern int cudaGraphExecUpdate(struct gt_executable *executable, const struct gt_graph *graph, struct update_result *result);
extern int cudaGraphGetEdges(const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphNodeGetDependencies(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphNodeGetDependentNodes(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n);
extern int cudaGraphAddDependencies(PAIRS, const void *edges, size_t n);
extern int cudaGraphRemoveDependencies(PAIRS, const void *edges, size_t n);
extern int cudaStreamGetCaptureInfo(INFO_GRAPH, const void **edges, size_t *n);
extern int cudaStreamUpdateCaptureDependencies(void *stream, struct gt_node *const *after, const void *edges, size_t n,
					       unsigned flags);
extern int cudaGetDriverEntryPoint(const char *name, void **to, unsigned long long flags, int *result);
extern int cudaDeviceSynchronize(void);
extern int cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t n, const void *attributes,
				const size_t *first, size_t n_attributes, void *stream);
extern int cudaMemAdvise(const void *pointer, size_t bytes), cudaMemPrefetchAsync(const void *pointer, size_t bytes);

/* Of CUDA 11 and 12 the last minor version. */
#define TELL_VERSION(PLACE, VERSION, NUMBER)                                                       \
	static int version_##PLACE(int *version)                                                    \
	{                                                                                           \
		*version = NUMBER;                                                                  \
		return CUDA_SUCCESS;                                                                \
	}                                                                                           \
	IN(PLACE, VERSION, cudaRuntimeGetVersion, version_##PLACE)
TELL_VERSION(10_1, "10.1", 10010);
TELL_VERSION(10_2, "10.2", 10020);
TELL_VERSION(11_0, "11.0", 11080);
TELL_VERSION(12, "12", 12090);

/* It also told which copy had failed; SIZE_MAX says that it is no certain one. */
static int batch_12(void *const *to, const void *const *from, const size_t *bytes, size_t n, const void *attributes,
		    const size_t *first, size_t n_attributes, size_t *failed, void *stream)
{
	if (failed)
		*failed = SIZE_MAX;
	return cudaMemcpyBatchAsync(to, from, bytes, n, attributes, first, n_attributes, stream);
}
IN_12(cudaMemcpyBatchAsync, batch_12);
IN_12(cudaMemcpyBatchAsync_ptsz, batch_12);

/* ---- before CUDA 12 ---- */

static int instantiate(struct gt_executable **to, const struct gt_graph *graph, struct gt_node **node, char *log, size_t bytes)
{
	if (node)
		*node = NULL;
	if (log && bytes > 0)
		log[0] = '\0';
	return cudaGraphInstantiate(to, graph, 0);
}
BEFORE_12(cudaGraphInstantiate, instantiate);

static int update(struct gt_executable *executable, const struct gt_graph *graph, struct gt_node **node, int *result)
{
	struct update_result is = {0};
	int code = cudaGraphExecUpdate(executable, graph, &is);

	if (node)
		*node = is.node;
	if (result)
		*result = is.result;
	return code;
}
BEFORE_12(cudaGraphExecUpdate, update);

static int entry_point(const char *name, void **to, unsigned long long flags)
{
	return cudaGetDriverEntryPoint(name, to, flags, NULL);
}
BEFORE_12(cudaGetDriverEntryPoint, entry_point);
BEFORE_12(cudaGetDriverEntryPoint_ptsz, entry_point);

/* ---- before edges had data ---- */

static int edges_of(const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, size_t *n)
{
	return cudaGraphGetEdges(graph, from, to, NULL, n);
}
BEFORE_13(cudaGraphGetEdges, edges_of);

static int dependencies(const struct gt_node *node, struct gt_node **to, size_t *n)
{
	return cudaGraphNodeGetDependencies(node, to, NULL, n);
}
BEFORE_13(cudaGraphNodeGetDependencies, dependencies);

static int dependents(const struct gt_node *node, struct gt_node **to, size_t *n)
{
	return cudaGraphNodeGetDependentNodes(node, to, NULL, n);
}
BEFORE_13(cudaGraphNodeGetDependentNodes, dependents);

static int add_edges(PAIRS, size_t n)
{
	return cudaGraphAddDependencies(graph, from, to, NULL, n);
}
BEFORE_13(cudaGraphAddDependencies, add_edges);

static int remove_edges(PAIRS, size_t n)
{
	return cudaGraphRemoveDependencies(graph, from, to, NULL, n);
}
BEFORE_13(cudaGraphRemoveDependencies, remove_edges);

static int capture_info(INFO)
{
	return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}
BEFORE_13(cudaStreamGetCaptureInfo, capture_info);
BEFORE_13(cudaStreamGetCaptureInfo_ptsz, capture_info);

static int capture_after(void *stream, struct gt_node *const *after, size_t n, unsigned flags)
{
	return cudaStreamUpdateCaptureDependencies(stream, after, NULL, n, flags);
}
BEFORE_13(cudaStreamUpdateCaptureDependencies, capture_after);
BEFORE_13(cudaStreamUpdateCaptureDependencies_ptsz, capture_after);

API int cudaStreamGetCaptureInfo_v2(INFO_GRAPH, size_t *n)
{
	return cudaStreamGetCaptureInfo(stream, status, id, graph, after, NULL, n);
}
ALSO(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz);

/* ---- the forms of today, under the names of CUDA 12 ---- */

API int cudaStreamGetCaptureInfo_v3(INFO_GRAPH, const void **edges, size_t *n)
{
	return cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, n);
}
ALSO(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz);

API int cudaStreamUpdateCaptureDependencies_v2(void *stream, struct gt_node *const *after, const void *edges, size_t n,
					       unsigned flags)
{
	return cudaStreamUpdateCaptureDependencies(stream, after, edges, n, flags);
}
ALSO(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2_ptsz);

API int cudaGraphGetEdges_v2(const struct gt_graph *graph, struct gt_node **from, struct gt_node **to, void *edges, size_t *n)
{
	return cudaGraphGetEdges(graph, from, to, edges, n);
}

API int cudaGraphNodeGetDependencies_v2(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n)
{
	return cudaGraphNodeGetDependencies(node, to, edges, n);
}

API int cudaGraphNodeGetDependentNodes_v2(const struct gt_node *node, struct gt_node **to, void *edges, size_t *n)
{
	return cudaGraphNodeGetDependentNodes(node, to, edges, n);
}

API int cudaGraphAddDependencies_v2(PAIRS, const void *edges, size_t n)
{
	return cudaGraphAddDependencies(graph, from, to, edges, n);
}

API int cudaGraphRemoveDependencies_v2(PAIRS, const void *edges, size_t n)
{
	return cudaGraphRemoveDependencies(graph, from, to, edges, n);
}

API int cudaEventElapsedTime_v2(float *milliseconds, const struct gt_cuda_event *start, const struct gt_cuda_event *end)
{
	return cudaEventElapsedTime(milliseconds, start, end);
}

/* Hints, whose other parameters are not read. */
API int cudaMemAdvise_v2(const void *pointer, size_t bytes)
{
	return cudaMemAdvise(pointer, bytes);
}

API int cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes)
{
	return cudaMemPrefetchAsync(pointer, bytes);
}
ALSO(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz);

/* ---- calls that CUDA 13 has no more ---- */

API int cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

API int cudaThreadExit(void)
{
	return cudaDeviceReset();
}

API int cudaThreadGetLimit(size_t *value, unsigned limit)
{
	return cudaDeviceGetLimit(value, limit);
}

API int cudaThreadSetLimit(unsigned limit, size_t value)
{
	return cudaDeviceSetLimit(limit, value);
}

API int cudaThreadGetCacheConfig(int *config)
{
	return cudaDeviceGetCacheConfig(config);
}

API int cudaThreadSetCacheConfig(int config)
{
	return cudaDeviceSetCacheConfig(config);
}
