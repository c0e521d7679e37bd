/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/stub.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/work.h"

/* The names of calls that were said. */
struct said {
	const char *call;
	struct said *next;
};

static bool is_first(struct said **list, const char *call)
{
	for (const struct said *one = *list; one; one = one->next)
		if (strcmp(one->call, call) == 0)
			return false;
	struct said *added = malloc(sizeof *added);
	if (!added)
		gt_cudart_stop("out of memory");
	*added = (struct said){call, *list};
	*list = added;
	return true;
}

bool gt_stub_begin(const char *call, void *stream, uint64_t flops)
{
	static struct said *done;

	if (gt_cudart_capture_refuses(stream, call))
		return false;
	gt_cudart_enter();
	if (!gt_cudart_may_work()) {
		gt_cudart_leave(CUDA_INITIALIZATION_ERROR);
		return false;
	}
	if (is_first(&done, call))
		gt_cudart_say("%s: done on the host, and not traced", call);
	gt_cudart.stubbed++;
	gt_cudart.stubbed_flops += flops;
	if (gt_cudart.recorder && gt_ptx_untraced_add(gt_ptx_recorder_untraced(gt_cudart.recorder), call, flops) != 0)
		gt_cudart_stop("out of memory");
	return true;
}

void gt_stub_end(void)
{
	gt_cudart_leave(CUDA_SUCCESS);
}

void *gt_stub_at(const char *call, const void *pointer, uint64_t n, uint64_t each, bool written)
{
	const uint64_t bytes = n > UINT64_MAX / each ? UINT64_MAX : n * each; /* no allocation has so many */
	void *registered = gt_cudart_registered(pointer);
	uint64_t address = gt_cudart_address(registered ? registered : pointer);
	void *at = gt_ptx_at(&gt_cudart.memory, address, bytes);

	if (!at)
		gt_cudart_stop("%s: %" PRIu64 " bytes at 0x%" PRIx64 " are not all in one allocation of device memory", call, bytes,
			       address);
	gt_cudart.memory.changes += written;
	if (written)
		gt_ptx_wrote(&gt_cudart.memory, address, bytes);
	if (written && gt_cudart.recorder)
		gt_copies_add(gt_ptx_recorder_copies(gt_cudart.recorder), address, bytes);
	return at;
}

void gt_stub_refuse(const char *call)
{
	static struct said *refused;

	gt_cudart_enter();
	if (is_first(&refused, call)) {
		gt_cudart_say("%s: the stand-in of the library has no such call", call);
		gt_cudart.omissions++;
	}
	gt_cudart_leave(CUDA_SUCCESS);
}
