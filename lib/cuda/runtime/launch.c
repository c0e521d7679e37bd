/* SPDX-License-Identifier: MIT */
/* What a program's kernel<<<grid, block>>>(...) becomes: compilers make it __cudaPushCallConfiguration, __cudaPopCallConfiguration and
 * cudaLaunchKernel. The launch is work for its stream (gt_stream_ask), and run.c runs it. Also here: the attributes of launches,
 * streams and kernels, and the calls about kernels, such as occupancy. */
#include <string.h>

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* ---- attributes of launches and streams: each is honoured, refused, or reported once ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

extern int cudaEventRecord(struct gt_cuda_event *event, void *stream);

static int read_window(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	const struct gt_access_window *window = &value->window;

	if (!(window->hit_ratio >= 0 && window->hit_ratio <= 1) || window->hit >= GT_PROPERTIES ||
	    window->miss >= GT_PROPERTIES || window->miss == GT_PROPERTY_PERSISTING)
		return CUDA_INVALID_VALUE;
	wishes->window = (struct gt_window){
		.base = (uint64_t)(uintptr_t)window->base,
		.bytes = window->bytes,
		.hit_ratio = (uint32_t)((double)window->hit_ratio * GT_RATIO_ONE + 0.5),
		.hit = (enum gt_property)window->hit,
		.miss = (enum gt_property)window->miss,
	};
	if (wishes->window.base + wishes->window.bytes < wishes->window.base)
		return CUDA_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static int read_cooperative(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	wishes->cooperative = value->number != 0;
	return CUDA_SUCCESS;
}

static int read_cluster(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	if (value->cluster.x == 0 || value->cluster.y == 0 || value->cluster.z == 0)
		return CUDA_INVALID_VALUE;
	memcpy(wishes->cluster, &value->cluster, sizeof wishes->cluster);
	return CUDA_SUCCESS;
}

static int read_carveout(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	if (value->number < -1 || value->number > 100)
		return CUDA_INVALID_VALUE;
	wishes->carveout = (uint32_t)(value->number + 1);
	return CUDA_SUCCESS;
}

/* Recorded after the launch, when all earlier work is complete. */
static int read_event(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	(void)value, (void)wishes;
	return CUDA_SUCCESS;
}

enum { IGNORE, PROGRAMMATIC_EVENT = 7, COMPLETION_EVENT = 12, ATTRIBUTES = 17 };

/* By number. An attribute without `take` is reported as ignored. */
static const struct {
	const char *name;
	int (*read)(const union gt_launch_value *value, struct gt_wishes *wishes);
} launch_attributes[ATTRIBUTES] = {
	[1] = {"cudaLaunchAttributeAccessPolicyWindow", read_window},
	[GT_LAUNCH_COOPERATIVE] = {"cudaLaunchAttributeCooperative", read_cooperative},
	[3] = {"cudaLaunchAttributeSynchronizationPolicy", NULL},
	[GT_LAUNCH_CLUSTER] = {"cudaLaunchAttributeClusterDimension", read_cluster},
	[5] = {"cudaLaunchAttributeClusterSchedulingPolicyPreference", NULL},
	[6] = {"cudaLaunchAttributeProgrammaticStreamSerialization", NULL},
	[PROGRAMMATIC_EVENT] = {"cudaLaunchAttributeProgrammaticEvent", read_event},
	[8] = {"cudaLaunchAttributePriority", NULL},
	[9] = {"cudaLaunchAttributeMemSyncDomainMap", NULL},
	[10] = {"cudaLaunchAttributeMemSyncDomain", NULL},
	[11] = {"cudaLaunchAttributePreferredClusterDimension", NULL},
	[COMPLETION_EVENT] = {"cudaLaunchAttributeLaunchCompletionEvent", read_event},
	[13] = {"cudaLaunchAttributeDeviceUpdatableKernelNode", NULL},
	[14] = {"cudaLaunchAttributePreferredSharedMemoryCarveout", read_carveout},
	[16] = {"cudaLaunchAttributeNvlinkUtilCentricScheduling", NULL},
};

static int read_attribute(unsigned id, const union gt_launch_value *value, struct gt_wishes *wishes)
{
	static bool said[ATTRIBUTES];

	if (id == IGNORE)
		return CUDA_SUCCESS;
	if (id >= ATTRIBUTES || !launch_attributes[id].name)
		return CUDA_INVALID_VALUE;
	if (launch_attributes[id].read)
		return launch_attributes[id].read(value, wishes);
	gt_cudart_say_once(&said[id], "%s: has no effect", launch_attributes[id].name);
	return CUDA_SUCCESS;
}

/* What a node of a graph wishes of an attribute; one that has no effect is 0. */
static void tell_attribute(unsigned id, const struct gt_wishes *wishes, union gt_launch_value *value)
{
	memset(value, 0, sizeof *value);
	if (id == 1)
		value->window = (struct gt_access_window){(const void *)(uintptr_t)wishes->window.base, wishes->window.bytes,
							  (float)wishes->window.hit_ratio / (float)GT_RATIO_ONE, (unsigned)wishes->window.hit,
							  (unsigned)wishes->window.miss};
	else if (id == GT_LAUNCH_COOPERATIVE)
		value->number = wishes->cooperative;
	else if (id == GT_LAUNCH_CLUSTER)
		memcpy(&value->cluster, wishes->cluster, sizeof wishes->cluster);
	else if (id == 14)
		value->number = (int)wishes->carveout - 1;
}

static bool is_kernel(const struct gt_node *node)
{
	return gt_is(GT_NODE, node) && node->work.kind == GT_WORK_KERNEL;
}

API int cudaGraphKernelNodeSetAttribute(struct gt_node *node, unsigned id, const union gt_launch_value *value)
{
	gt_cudart_enter();
	return gt_cudart_leave(is_kernel(node) && value ? read_attribute(id, value, &node->work.u.kernel.wishes) : CUDA_INVALID_VALUE);
}

API int cudaGraphKernelNodeGetAttribute(const struct gt_node *node, unsigned id, union gt_launch_value *value)
{
	gt_cudart_enter();
	if (!is_kernel(node) || !value || id >= ATTRIBUTES || !launch_attributes[id].name)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	tell_attribute(id, &node->work.u.kernel.wishes, value);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaGraphKernelNodeCopyAttributes(struct gt_node *to, const struct gt_node *from)
{
	gt_cudart_enter();
	if (!is_kernel(to) || !is_kernel(from))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	to->work.u.kernel.wishes = from->work.u.kernel.wishes;
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The wishes of a launch into a stream that gives no attributes. */
static struct gt_wishes stream_wishes(void *stream)
{
	return (struct gt_wishes){.window = *gt_cudart_stream_window(stream)};
}

/* ---- launches ---- */

int gt_cudart_launch_with(const struct gt_launch_config *config, const void *function, void **arguments)
{
	int code = CUDA_SUCCESS;

	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, config->grid, config->block, config->shared, arguments,
						       stream_wishes(config->stream), 0}}};
	for (unsigned i = 0; i < config->n_attributes && code == CUDA_SUCCESS; i++)
		code = read_attribute(config->attributes[i].id, &config->attributes[i].value, &work.u.kernel.wishes);
	if (code == CUDA_SUCCESS)
		code = gt_stream_ask(config->stream, &work);
	for (unsigned i = 0; i < config->n_attributes && code == CUDA_SUCCESS; i++)
		if (config->attributes[i].id == PROGRAMMATIC_EVENT || config->attributes[i].id == COMPLETION_EVENT)
			code = cudaEventRecord(config->attributes[i].value.event, config->stream);
	return code;
}

API int cudaLaunchKernelExC(const struct gt_launch_config *config, const void *function, void **arguments)
{
	gt_cudart_enter_beside();
	return gt_cudart_leave(config ? gt_cudart_launch_with(config, function, arguments) : CUDA_INVALID_VALUE);
}

/* ---- streams ---- */

API int cudaStreamSetAttribute(void *stream, unsigned id, const union gt_launch_value *value)
{
	gt_cudart_enter();
	struct gt_wishes wishes = stream_wishes(stream);
	int code = value ? gt_stream_check(stream) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		code = read_attribute(id, value, &wishes);
	if (code == CUDA_SUCCESS)
		*gt_cudart_stream_window(stream) = wishes.window;
	return gt_cudart_leave(code);
}

API int cudaStreamGetAttribute(void *stream, unsigned id, union gt_launch_value *value)
{
	gt_cudart_enter();
	if (!value || id >= ATTRIBUTES || !launch_attributes[id].name)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	if (gt_stream_check(stream) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	memset(value, 0, sizeof *value);
	if (launch_attributes[id].read == read_window) {
		const struct gt_window *window = gt_cudart_stream_window(stream);
		value->window = (struct gt_access_window){(const void *)(uintptr_t)window->base, window->bytes,
						       (float)window->hit_ratio / GT_RATIO_ONE, window->hit, window->miss};
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamCopyAttributes(void *to, void *from)
{
	gt_cudart_enter();
	if (gt_stream_check(to) != CUDA_SUCCESS || gt_stream_check(from) != CUDA_SUCCESS)
		return gt_cudart_leave(CUDA_INVALID_RESOURCE_HANDLE);
	*gt_cudart_stream_window(to) = *gt_cudart_stream_window(from);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);
ALSO(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);
ALSO(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);
ALSO(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);

/* ---- the calls that launch ---- */

/* The configuration between <<< >>> is saved while the arguments are evaluated. */
#define CONFIGURATIONS 16
static _Thread_local struct {
	struct gt_dim3 grid, block;
	size_t shared;
	void *stream;
} configurations[CONFIGURATIONS];
static _Thread_local unsigned n_configurations;

API unsigned __cudaPushCallConfiguration(struct gt_dim3 grid, struct gt_dim3 block, size_t shared, void *stream)
{
	if (n_configurations == CONFIGURATIONS)
		return CUDA_MISSING_CONFIGURATION;
	configurations[n_configurations].grid = grid;
	configurations[n_configurations].block = block;
	configurations[n_configurations].shared = shared;
	configurations[n_configurations++].stream = stream;
	return CUDA_SUCCESS;
}

API int __cudaPopCallConfiguration(struct gt_dim3 *grid, struct gt_dim3 *block, size_t *shared, void *stream)
{
	if (n_configurations == 0) {
		gt_cudart_enter();
		return gt_cudart_leave(CUDA_MISSING_CONFIGURATION);
	}
	n_configurations--;
	*grid = configurations[n_configurations].grid;
	*block = configurations[n_configurations].block;
	*shared = configurations[n_configurations].shared;
	*(void **)stream = configurations[n_configurations].stream;
	return CUDA_SUCCESS;
}

API int cudaLaunchKernel(const void *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			 size_t shared, void *stream)
{
	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, grid, block, shared, arguments,
						       stream_wishes(stream), 0}}};

	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int cudaLaunchCooperativeKernel(const void *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
				    size_t shared, void *stream)
{
	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, grid, block, shared, arguments,
						       stream_wishes(stream), 0}}};

	work.u.kernel.wishes.cooperative = true;
	gt_cudart_enter_beside();
	return gt_cudart_leave(gt_stream_ask(stream, &work));
}

API int __cudaLaunchKernel(const void *kernel, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			   size_t shared, void *stream)
{
	return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API int __cudaGetKernel(const void **kernel, const void *host)
{
	gt_cudart_enter_beside();
	*kernel = gt_cudart_find_function(host);
	return gt_cudart_leave(*kernel ? CUDA_SUCCESS : CUDA_INVALID_DEVICE_FUNCTION);
}

API int cudaGetKernel(const void **kernel, const void *host)
{
	return __cudaGetKernel(kernel, host);
}

API int cudaGetFuncBySymbol(const void **function, const void *host)
{
	return __cudaGetKernel(function, host);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaLaunchKernel, cudaLaunchKernel_ptsz);
ALSO(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz);
ALSO(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);

/* ---- kernels: attributes, and occupancy ---- */

struct function_attributes {
	size_t shared, constant, local;
	int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
	int cluster_must_be_set, cluster[3], cluster_policy, unportable_cluster;
	int reserved[17];
};

/* Numbers of function attributes. */
enum {
	MAX_DYNAMIC_SHARED = 8,
	CARVEOUT = 9,
	CLUSTER_MUST_BE_SET = 10,
	CLUSTER_WIDTH = 11,
	CLUSTER_HEIGHT = 12,
	CLUSTER_DEPTH = 13,
	CLUSTER_UNPORTABLE = 14,
	FUNCTION_ATTRIBUTES = 16
};
#define CARVEOUT_DEFAULT (-1)

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *host)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!attributes || !function)
		return gt_cudart_leave(attributes ? gt_cudart_no_function(host) : CUDA_INVALID_VALUE);
	const uint32_t *cluster = function->cluster[0] ? function->cluster : function->kernel->required_cluster;
	*attributes = (struct function_attributes){
		.shared = (size_t)function->static_shared,
		.constant = gt_cudart_constant_bytes(function),
		.local = function->local_bytes,
		.max_threads = gt_cudart_max_threads(function),
		.registers = (int)function->registers,
		.ptx_version = (int)function->fat->module.target.capability,
		.binary_version = (int)gt_cudart_capability(),
		.max_dynamic_shared = (int)gt_cudart_dynamic_shared_max(function),
		.carveout = function->carveout,
		.cluster_must_be_set = function->kernel->explicit_cluster,
		.cluster = {(int)cluster[0], (int)cluster[1], (int)cluster[2]},
		.unportable_cluster = function->unportable_cluster,
	};
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFuncGetParamInfo(const void *host, size_t i, size_t *offset, size_t *bytes)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!function || !offset || i >= function->kernel->n_parameters)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	*offset = gt_ptx_parameter_offset(function->kernel, i);
	if (bytes)
		*bytes = (size_t)function->kernel->parameters[i].bytes;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFuncSetAttribute(const void *host, int attribute, int value)
{
	gt_cudart_enter();
	struct gt_function *function = gt_cudart_function(host);
	if (!function || attribute < MAX_DYNAMIC_SHARED || attribute >= FUNCTION_ATTRIBUTES)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	if (attribute == MAX_DYNAMIC_SHARED) {
		if (value < 0 || function->static_shared + (uint64_t)value > gt_cudart_gpu_value("shared_block", 48 << 10))
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->max_dynamic_shared = value;
	} else if (attribute == CARVEOUT) {
		if (value < CARVEOUT_DEFAULT || value > 100)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->carveout = value;
	} else if (attribute >= CLUSTER_WIDTH && attribute <= CLUSTER_DEPTH) {
		if (value < 0)
			return gt_cudart_leave(CUDA_INVALID_VALUE);
		function->cluster[attribute - CLUSTER_WIDTH] = (uint32_t)value;
	} else if (attribute == CLUSTER_UNPORTABLE) {
		function->unportable_cluster = value != 0;
	} else if (attribute != CLUSTER_MUST_BE_SET) {
		static bool said;
		gt_cudart_say_once(&said, "cudaFuncSetAttribute: the scheduling policy of clusters has no effect");
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The percentage of shared memory that a cudaFuncCache stands for; -1: no preference. */
static int carveout_of(int config)
{
	static const int percent[] = {CARVEOUT_DEFAULT, 100, 0, 50}; /* none, shared, L1, equal */

	return config >= 0 && config < 4 ? percent[config] : CARVEOUT_DEFAULT;
}

static int cache_config;

API int cudaDeviceSetCacheConfig(int config)
{
	gt_cudart_enter();
	cache_config = config;
	gt_cudart.carveout = carveout_of(config);
	gt_cudart_leave(CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

API int cudaDeviceGetCacheConfig(int *config)
{
	*config = cache_config;
	return CUDA_SUCCESS;
}

API int cudaFuncSetCacheConfig(const void *host, int config)
{
	gt_cudart_enter();
	struct gt_function *function = gt_cudart_find_function(host);
	if (!function)
		return gt_cudart_leave(CUDA_INVALID_DEVICE_FUNCTION);
	function->carveout = carveout_of(config);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaFuncSetSharedMemConfig(const void *host, int config)
{
	static bool said;

	(void)config;
	gt_cudart_enter();
	gt_cudart_say_once(&said, "cudaFuncSetSharedMemConfig: has no effect: banks are 4 bytes wide");
	return gt_cudart_leave(gt_cudart_find_function(host) ? CUDA_SUCCESS : CUDA_INVALID_DEVICE_FUNCTION);
}

API int cudaFuncGetName(const char **name, const void *host)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_find_function(host);
	if (!name || !function)
		return gt_cudart_leave(name ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_INVALID_VALUE);
	*name = function->name;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
						      size_t dynamic_shared)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!blocks || threads <= 0 || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	uint64_t resident = gt_cudart_resident(function, (uint64_t)threads, dynamic_shared);
	*blocks = resident < GT_BLOCK_THREADS_MAX ? (int)resident : GT_BLOCK_THREADS_MAX;
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
								size_t dynamic_shared, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, dynamic_shared);
}

/* The most with which that many blocks are resident on an SM. */
API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, const void *host, int blocks, int threads)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!dynamic_shared || blocks <= 0 || threads <= 0 || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	if (gt_cudart_resident(function, (uint64_t)threads, 0) < (uint64_t)blocks)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	uint64_t fits = 0, least = gt_cudart_dynamic_shared_max(function) + 1;
	while (least - fits > 1) {
		uint64_t middle = fits + (least - fits) / 2;
		bool is_resident = gt_cudart_resident(function, (uint64_t)threads, middle) >= (uint64_t)blocks;
		*(is_resident ? &fits : &least) = middle;
	}
	*dynamic_shared = fits;
	return gt_cudart_leave(CUDA_SUCCESS);
}

SINCE_12(cudaFuncGetAttributes);
