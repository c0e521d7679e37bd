/* SPDX-License-Identifier: MIT */
/* Memory that nodes of graphs allocate. It has its address, and is part of the device's memory, from when its node is made until
 * no graph has the node any more and nothing is allocated there. */
#include <stdlib.h>

#include "cuda/runtime/contexts.h"
#include "cuda/runtime/graph.h"

struct gt_graph_memory {
	uint64_t address, bytes; /* address 0: it went with all else */
	bool live;		 /* allocated now */
	size_t nodes;		 /* that allocate or free it */
	struct gt_graph_memory *next;
};

static struct gt_graph_memory *memories;
/* Bytes: allocated now; the most since the last trim, which graphs keep; and the most of that. */
static uint64_t live_bytes, kept, kept_high;

struct gt_graph_memory *gt_graph_memory_new(uint64_t address, uint64_t bytes)
{
	struct gt_graph_memory *memory = malloc(sizeof *memory);

	if (!memory)
		return NULL;
	*memory = (struct gt_graph_memory){.address = address, .bytes = bytes, .next = memories};
	memories = memory;
	return memory;
}

struct gt_graph_memory *gt_graph_memory_at(uint64_t address)
{
	struct gt_graph_memory *memory = memories;

	while (memory && (address == 0 || memory->address != address))
		memory = memory->next;
	return memory;
}

static uint64_t forget(struct gt_graph_memory *memory)
{
	struct gt_graph_memory **link = &memories;
	uint64_t address = memory->address;

	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	free(memory);
	return address;
}

void gt_graph_memory_retain(struct gt_graph_memory *memory)
{
	memory->nodes++;
}

uint64_t gt_graph_memory_drop(struct gt_graph_memory *memory)
{
	return --memory->nodes == 0 && !memory->live ? forget(memory) : 0;
}

void gt_graph_memory_place(const struct gt_graph_memory *memory, uint64_t *address, uint64_t *bytes)
{
	*address = memory->address;
	*bytes = memory->bytes;
}

bool gt_graph_memory_live(const struct gt_graph_memory *memory)
{
	return memory->live;
}

int gt_graph_memory_set(struct gt_graph_memory *memory, bool live)
{
	if (memory->live == live || memory->address == 0)
		return CUDA_INVALID_VALUE;
	memory->live = live;
	live_bytes = live ? live_bytes + memory->bytes : live_bytes - memory->bytes;
	kept = live_bytes > kept ? live_bytes : kept;
	kept_high = kept > kept_high ? kept : kept_high;
	return CUDA_SUCCESS;
}

int gt_graph_memory_release(struct gt_graph_memory *memory, bool *keeps)
{
	int code = gt_graph_memory_set(memory, false);

	*keeps = code != CUDA_SUCCESS || memory->nodes > 0;
	if (!*keeps)
		forget(memory);
	return code;
}

void gt_graph_memory_reset(void)
{
	for (struct gt_graph_memory *memory = memories; memory; memory = memory->next) {
		memory->address = 0;
		memory->live = false;
	}
	live_bytes = kept = 0;
}

/* ---- cudaGraphMemAttributeType ---- */

/* What graphs use, its high-water mark, and what is reserved for them: all that is used. */
static uint64_t *const attributes[] = {&kept, &kept_high, &kept, &kept_high};
#define ATTRIBUTES (sizeof attributes / sizeof attributes[0])

API int cudaDeviceGetGraphMemAttribute(int device, unsigned attribute, uint64_t *value)
{
	gt_cudart_enter();
	if (!value || attribute >= ATTRIBUTES || !gt_cudart_is_device(device))
		return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE);
	*value = *attributes[attribute];
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The high-water marks can only be set to 0, and then restart from the present use. */
API int cudaDeviceSetGraphMemAttribute(int device, unsigned attribute, const uint64_t *value)
{
	gt_cudart_enter();
	if (!value || attribute >= ATTRIBUTES || attribute % 2 == 0 || *value != 0 || !gt_cudart_is_device(device))
		return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE);
	*attributes[attribute] = *attributes[attribute - 1];
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGraphMemTrim(int device)
{
	gt_cudart_enter();
	if (!gt_cudart_is_device(device))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	kept = live_bytes;
	return gt_cudart_leave(CUDA_SUCCESS);
}
