/* SPDX-License-Identifier: MIT */
#include "ptx/exec/service.h"

static const struct gt_ptx_service services[] = {
	{"vprintf", gt_ptx_print, false},
	{"__assertfail", gt_ptx_assert, false},
	{"malloc", gt_ptx_malloc, true},
	{"__nv_aligned_device_malloc", gt_ptx_malloc_aligned, true},
	{"__cuda_syscall_aligned_malloc", gt_ptx_malloc_aligned, true},
	{"free", gt_ptx_heap_return, true},
};

const struct gt_ptx_service *gt_ptx_service_named(const char *name)
{
	for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
		if (strcmp(name, services[i].name) == 0)
			return &services[i];
	return NULL;
}
