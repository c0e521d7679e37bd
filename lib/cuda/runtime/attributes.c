/* SPDX-License-Identifier: MIT */
/* Attributes of launches and streams: each is honoured, refused, or reported once. */
#include <string.h>

#include "cuda/runtime/graph.h"
#include "cuda/runtime/launches.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

extern int cudaEventRecord(struct gt_cuda_event *event, void *stream);

static int take_window(const union gt_launch_value *value, struct gt_wishes *wishes)
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

static int take_cooperative(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	wishes->cooperative = value->number != 0;
	return CUDA_SUCCESS;
}

static int take_cluster(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	if (value->cluster.x == 0 || value->cluster.y == 0 || value->cluster.z == 0)
		return CUDA_INVALID_VALUE;
	memcpy(wishes->cluster, &value->cluster, sizeof wishes->cluster);
	return CUDA_SUCCESS;
}

static int take_carveout(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	if (value->number < -1 || value->number > 100)
		return CUDA_INVALID_VALUE;
	wishes->carveout = (uint32_t)(value->number + 1);
	return CUDA_SUCCESS;
}

/* Recorded after the launch, when all earlier work is complete. */
static int take_event(const union gt_launch_value *value, struct gt_wishes *wishes)
{
	(void)value, (void)wishes;
	return CUDA_SUCCESS;
}

enum { IGNORE, PROGRAMMATIC_EVENT = 7, COMPLETION_EVENT = 12, ATTRIBUTES = 17 };

/* By number. An attribute without `take` is reported as ignored. */
static const struct {
	const char *name;
	int (*take)(const union gt_launch_value *value, struct gt_wishes *wishes);
} attributes[ATTRIBUTES] = {
	[1] = {"cudaLaunchAttributeAccessPolicyWindow", take_window},
	[GT_LAUNCH_COOPERATIVE] = {"cudaLaunchAttributeCooperative", take_cooperative},
	[3] = {"cudaLaunchAttributeSynchronizationPolicy", NULL},
	[GT_LAUNCH_CLUSTER] = {"cudaLaunchAttributeClusterDimension", take_cluster},
	[5] = {"cudaLaunchAttributeClusterSchedulingPolicyPreference", NULL},
	[6] = {"cudaLaunchAttributeProgrammaticStreamSerialization", NULL},
	[PROGRAMMATIC_EVENT] = {"cudaLaunchAttributeProgrammaticEvent", take_event},
	[8] = {"cudaLaunchAttributePriority", NULL},
	[9] = {"cudaLaunchAttributeMemSyncDomainMap", NULL},
	[10] = {"cudaLaunchAttributeMemSyncDomain", NULL},
	[11] = {"cudaLaunchAttributePreferredClusterDimension", NULL},
	[COMPLETION_EVENT] = {"cudaLaunchAttributeLaunchCompletionEvent", take_event},
	[13] = {"cudaLaunchAttributeDeviceUpdatableKernelNode", NULL},
	[14] = {"cudaLaunchAttributePreferredSharedMemoryCarveout", take_carveout},
	[16] = {"cudaLaunchAttributeNvlinkUtilCentricScheduling", NULL},
};

static int take(unsigned id, const union gt_launch_value *value, struct gt_wishes *wishes)
{
	static bool said[ATTRIBUTES];

	if (id == IGNORE)
		return CUDA_SUCCESS;
	if (id >= ATTRIBUTES || !attributes[id].name)
		return CUDA_INVALID_VALUE;
	if (attributes[id].take)
		return attributes[id].take(value, wishes);
	gt_cudart_say_once(&said[id], "%s: has no effect", attributes[id].name);
	return CUDA_SUCCESS;
}

struct gt_wishes gt_cudart_stream_wishes(void *stream)
{
	return (struct gt_wishes){.window = *gt_cudart_stream_window(stream)};
}

/* ---- launches ---- */

int gt_cudart_launch_with(const struct gt_launch_config *config, const void *function, void **arguments)
{
	int code = CUDA_SUCCESS;

	struct gt_work work = {GT_WORK_KERNEL, {.kernel = {function, config->grid, config->block, config->shared, arguments,
						       gt_cudart_stream_wishes(config->stream), 0}}};
	for (unsigned i = 0; i < config->n_attributes && code == CUDA_SUCCESS; i++)
		code = take(config->attributes[i].id, &config->attributes[i].value, &work.u.kernel.wishes);
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
	struct gt_wishes wishes = gt_cudart_stream_wishes(stream);
	int code = value ? take(id, value, &wishes) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		*gt_cudart_stream_window(stream) = wishes.window;
	return gt_cudart_leave(code);
}

API int cudaStreamGetAttribute(void *stream, unsigned id, union gt_launch_value *value)
{
	gt_cudart_enter();
	if (!value || id >= ATTRIBUTES || !attributes[id].name)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	memset(value, 0, sizeof *value);
	if (attributes[id].take == take_window) {
		const struct gt_window *window = gt_cudart_stream_window(stream);
		value->window = (struct gt_access_window){(const void *)(uintptr_t)window->base, window->bytes,
						       (float)window->hit_ratio / GT_RATIO_ONE, window->hit, window->miss};
	}
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaStreamCopyAttributes(void *to, void *from)
{
	gt_cudart_enter();
	*gt_cudart_stream_window(to) = *gt_cudart_stream_window(from);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* ---- per-thread default streams: work is executed in the order of the calls for them too ---- */

ALSO(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);
ALSO(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);
ALSO(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);
ALSO(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);
