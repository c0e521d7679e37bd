/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/contexts.h"

#include "cuda/runtime/runtime.h"

#define STACK 64 /* contexts that a thread may push */

static struct gt_context primaries[GT_TRACING_DEVICES];
static _Thread_local struct gt_context *stack[STACK];
static _Thread_local unsigned depth;

int gt_cudart_devices(void)
{
	return (int)gt_cudart.record.tracing.devices;
}

bool gt_cudart_is_device(int device)
{
	return device >= 0 && device < gt_cudart_devices();
}

int gt_cudart_device(void)
{
	const struct gt_context *context = gt_context_current();

	return context ? context->device : 0;
}

struct gt_context *gt_context_primary(int device)
{
	primaries[device].device = device;
	primaries[device].primary = true;
	return &primaries[device];
}

struct gt_context *gt_context_current(void)
{
	return depth > 0 ? stack[depth - 1] : NULL;
}

bool gt_context_push(struct gt_context *context)
{
	if (depth == STACK)
		return false;
	stack[depth++] = context;
	return true;
}

struct gt_context *gt_context_pop(void)
{
	return depth > 0 ? stack[--depth] : NULL;
}

bool gt_context_set(struct gt_context *context)
{
	gt_context_pop();
	return !context || gt_context_push(context);
}
