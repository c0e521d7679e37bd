/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/deferred.h"

#include <stdlib.h>

#include "cuda/runtime/pointers.h"

struct deferred {
	struct gt_work work;
	struct deferred *next;
};

static struct deferred *first, **end = &first;
static bool under_way; /* the first is being executed */

static void finish(void)
{
	if (!gt_deferred_try())
		gt_cudart_stop_closed();
}

static int defer(const struct gt_work *work)
{
	struct deferred *one = calloc(1, sizeof *one);
	int code = one ? gt_work_keep(&one->work, work) : CUDA_MEMORY_ALLOCATION;

	if (code != CUDA_SUCCESS) {
		free(one);
		return code;
	}
	*end = one;
	end = &one->next;
	gt_cudart.finish = finish;
	return CUDA_SUCCESS;
}

bool gt_deferred_try(void)
{
	while (first && !under_way) {
		struct deferred *one = first;
		under_way = true;
		int code = gt_cudart_do(&one->work);
		under_way = false;
		if (code == GT_CUDART_CLOSED)
			return false;
		if (code != CUDA_SUCCESS)
			gt_cudart.failing = code;
		first = one->next;
		end = first ? end : &first;
		gt_cudart.finish = first ? finish : NULL;
		gt_work_free(&one->work);
		free(one);
	}
	return true;
}

/* A copy from or to memory that the device does not know is done when the call returns; so is all that has a form
 * without a stream, but launches. */
static bool must_be_done(const void *stream, const struct gt_work *work)
{
	const struct gt_copy_work *copy = &work->u.copy;

	if (work->kind != GT_WORK_COPY)
		return !stream && work->kind == GT_WORK_FILL;
	return !stream || (!copy->to_array && gt_cudart_pointer(copy->to).type == GT_POINTER_UNREGISTERED) ||
	       (!copy->from_array && gt_cudart_pointer(copy->from).type == GT_POINTER_UNREGISTERED);
}

int gt_deferred_ask(void *stream, const struct gt_work *work)
{
	if (first && must_be_done(stream, work))
		finish();
	int code = first && !under_way ? GT_CUDART_CLOSED : gt_cudart_do(work);
	return code == GT_CUDART_CLOSED ? defer(work) : code;
}
