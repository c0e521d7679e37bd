/* SPDX-License-Identifier: MIT */
/* The program's allocations of device memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda/runtime/callsite.h"
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph.h"

#define PITCH 512 /* bytes that rows of cudaMallocPitch are a multiple of */

uint64_t gt_cudart_used_bytes(int device)
{
	uint64_t bytes = 0;

	/* Memory of the host counts too as long as there is one device. The limit has what has no address, and what is one
	 * alone. */
	if (gt_cudart_devices() == 1)
		return gt_cudart.record.tracing.device_memory - (gt_cudart.memory.limit - gt_cudart.memory.live_bytes);
	for (const struct gt_ptx_allocation *one = gt_ptx_live(gt_cudart.memory.first); one; one = gt_ptx_live(one->after))
		bytes += one->owner == (unsigned)device ? one->bytes : 0;
	return bytes;
}

/* Whether a device has room; all devices together have what the memory has. */
static bool fits(unsigned owner, size_t bytes)
{
	uint64_t limit = gt_cudart.record.tracing.device_memory, used;

	if (owner == GT_PTX_EVERYONE || gt_cudart_devices() == 1)
		return true;
	used = gt_cudart_used_bytes((int)owner);
	return used <= limit && bytes <= limit - used;
}

/* The name of allocation number n: the user's, that of its source line, or the call and n. */
static void name_allocation(const char *call, uint64_t n, char *name, size_t size)
{
	const char *given = gt_cudart.record.tracing.names;

	for (uint64_t i = 1; given && i < n; i++)
		if ((given = strchr(given, ',')))
			given++;
	if (given && *given && *given != ',')
		snprintf(name, size, "%.*s", (int)strcspn(given, ","), given);
	else if (!gt_callsite_name(call, name))
		snprintf(name, size, "%s %" PRIu64, call, n);
}

static int allocate(void **pointer, size_t bytes, const char *call, unsigned owner, enum gt_ptx_memory_kind kind)
{
	struct gt_error error;
	char name[64];
	uint64_t address;

	if (!pointer)
		return CUDA_INVALID_VALUE;
	*pointer = NULL;
	if (bytes == 0)
		return CUDA_SUCCESS;
	if (!fits(owner, bytes))
		return CUDA_MEMORY_ALLOCATION;
	gt_cudart.memory.owner = owner;
	name_allocation(call, ++gt_cudart.allocations, name, sizeof name);
	gt_cudart.memory.call = gt_cudart.allocations;
	gt_cudart.memory.kind = kind;
	int result = gt_ptx_allocate(&gt_cudart.memory, bytes, name, &address, &error);
	gt_cudart.memory.call = 0;
	gt_cudart.memory.kind = GT_PTX_OF_DEVICE;
	if (result != 0) {
		gt_cudart_note("%s", error.text);
		return CUDA_MEMORY_ALLOCATION;
	}
	*pointer = (void *)(uintptr_t)address;
	return CUDA_SUCCESS;
}

int gt_cudart_allocate_on(int device, void **pointer, size_t bytes, const char *call)
{
	return allocate(pointer, bytes, call, (unsigned)device, GT_PTX_OF_DEVICE);
}

int gt_cudart_allocate(void **pointer, size_t bytes, const char *call)
{
	return gt_cudart_allocate_on(gt_cudart_device(), pointer, bytes, call);
}

/* Memory that host and devices access by the same pointer. */
int gt_cudart_allocate_shared(void **pointer, size_t bytes, enum gt_ptx_memory_kind kind, const char *call)
{
	if (gt_cudart_address(gt_cudart.memory.host) != GT_PTX_GLOBAL_BASE) {
		gt_cudart_say("%s: device memory could not be mapped at its own address in this process", call);
		gt_cudart.omissions++;
		return CUDA_NOT_SUPPORTED;
	}
	return allocate(pointer, bytes, call, GT_PTX_EVERYONE, kind);
}

int gt_graph_allocate(struct gt_work *work, void **pointer, size_t bytes, const char *call)
{
	int code = bytes > 0 ? gt_cudart_allocate(pointer, bytes, call) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	*work = (struct gt_work){GT_WORK_ALLOCATE, {.memory = gt_graph_memory_new(gt_cudart_address(*pointer), bytes)}};
	if (!work->u.memory)
		return CUDA_MEMORY_ALLOCATION;
	gt_graph_memory_retain(work->u.memory);
	return CUDA_SUCCESS;
}

int gt_cudart_release(void *pointer)
{
	struct gt_graph_memory *memory = gt_graph_memory_at(gt_cudart_address(pointer));
	struct gt_error error;
	bool keeps = false;

	if (!pointer)
		return CUDA_SUCCESS;
	int code = memory ? gt_graph_memory_release(memory, &keeps) : CUDA_SUCCESS;
	if (keeps)
		return code;
	return gt_ptx_free(&gt_cudart.memory, gt_cudart_address(pointer), &error) == 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

void gt_cudart_free_all(int device)
{
	const struct gt_ptx_memory *memory = &gt_cudart.memory;

	gt_graph_memory_reset();
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first), *after; one; one = after) {
		after = gt_ptx_live(one->after);
		if (one->call > 0 && (one->owner == (unsigned)device || gt_cudart_devices() == 1))
			gt_cudart_release((void *)(uintptr_t)one->address);
	}
}

int gt_cudart_allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows, const char *call)
{
	if (width > GT_PTX_WINDOW || (rows > 0 && width > GT_PTX_WINDOW / rows))
		return CUDA_INVALID_VALUE;
	*pitch = (width + PITCH - 1) / PITCH * PITCH;
	return gt_cudart_allocate(pointer, *pitch * rows, call);
}
