/* SPDX-License-Identifier: MIT */
/* The devices, and which one a thread uses: contexts, as the driver API has them. The runtime uses the primary context of each
 * device. And which devices may access the memory of each other. */
#ifndef GT_RUNTIME_CONTEXTS_H
#define GT_RUNTIME_CONTEXTS_H

#include <stdbool.h>

#include "cuda/ptx/record/tracing.h"

struct gt_context {
	int device;
	unsigned flags;
	unsigned uses; /* how often a primary one was retained */
	bool primary;
	bool destroyed; /* it stays in memory, since threads may still have it */
};

int gt_cudart_devices(void);
/* Whether there is a device of that number. */
bool gt_cudart_is_device(int device);
/* The device that a runtime call of this thread uses. */
int gt_cudart_device(void);

struct gt_context *gt_context_primary(int device);
/* What the thread has on top of its stack; NULL: nothing. */
struct gt_context *gt_context_current(void);
/* Replaces the top, or takes it away. False if the stack is full. */
bool gt_context_set(struct gt_context *context);
bool gt_context_push(struct gt_context *context);
struct gt_context *gt_context_pop(void);

/* Gives a device access to the memory of another, and takes it. Each returns a code. */
int gt_peers_enable(int device, int peer, unsigned flags);
int gt_peers_disable(int device, int peer);

#endif
