/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/service.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct gt_ptx_service plain[] = {
	{"vprintf", gt_ptx_print, false, false},
	{"__assertfail", gt_ptx_assert, false, false},
	{"malloc", gt_ptx_malloc, true, false},
	{"__nv_aligned_device_malloc", gt_ptx_malloc_aligned, true, false},
	{"__cuda_syscall_aligned_malloc", gt_ptx_malloc_aligned, true, false},
	{"free", gt_ptx_heap_return, true, false},
	{"cudaGraphSetConditional", gt_ptx_set_condition, false, false},
};

/* What CUDA's runtime calls in a kernel, or what kernels call where it is not linked. */
static const struct gt_ptx_service shared[] = {
	{"GetParameterBufferV2", gt_ptx_configured_buffer, false, true},
	{"LaunchDeviceV2", gt_ptx_launch_configured, false, true},
	{"GetParameterBuffer", gt_ptx_plain_buffer, false, true},
	{"LaunchDevice", gt_ptx_launch_plain, false, true},
	{"GetLastError", gt_ptx_last_error, false, false},
	{"StreamDestroy", gt_ptx_use_handle, false, false},
	{"StreamWaitEvent", gt_ptx_use_handle, false, false},
	{"EventRecord", gt_ptx_use_handle, false, false},
	{"EventDestroy", gt_ptx_use_handle, false, false},
	{"GetDevice", gt_ptx_this_device, false, false},
	{"GetDeviceCount", gt_ptx_count_devices, false, false},
	{"DeviceGetAttribute", gt_ptx_ask_attribute, false, false},
}, of_driver[] = {
	{"SetLastError", gt_ptx_set_error, false, false},
	{"StreamCreate", gt_ptx_create_handle, false, false},
	{"EventCreate", gt_ptx_create_handle, false, false},
	{"GetLimit", gt_ptx_ask_limit, false, false},
}, of_runtime[] = {
	{"PeekAtLastError", gt_ptx_peek_error, false, false},
	{"StreamCreateWithFlags", gt_ptx_create_handle, false, false},
	{"EventCreateWithFlags", gt_ptx_create_handle, false, false},
	{"DeviceGetLimit", gt_ptx_ask_limit, false, false},
	{"LaunchDeviceV2_ptsz", gt_ptx_launch_configured, false, true},
	{"LaunchDevice_ptsz", gt_ptx_launch_plain, false, true},
	{"StreamWaitEvent_ptsz", gt_ptx_use_handle, false, false},
	{"EventRecord_ptsz", gt_ptx_use_handle, false, false},
};

static const struct family {
	const char *prefix;
	bool driver;
	const struct gt_ptx_service *services;
	size_t n;
} families[] = {
	{"", false, plain, LENGTH(plain)},
	{"__cuda_syscall_cnpv2", true, shared, LENGTH(shared)},
	{"__cuda_syscall_cnpv2", true, of_driver, LENGTH(of_driver)},
	{"cnp", true, shared, LENGTH(shared)},
	{"cnp", true, of_driver, LENGTH(of_driver)},
	{"__cudaCDP2", false, shared, LENGTH(shared)},
	{"__cudaCDP2", false, of_runtime, LENGTH(of_runtime)},
	{"cuda", false, shared, LENGTH(shared)},
	{"cuda", false, of_runtime, LENGTH(of_runtime)},
};

const struct gt_ptx_service *gt_ptx_service_named(const char *name, bool *driver)
{
	for (const struct family *family = families; family < families + LENGTH(families); family++) {
		size_t prefix = strlen(family->prefix);
		if (strncmp(name, family->prefix, prefix) != 0)
			continue;
		*driver = family->driver;
		for (size_t i = 0; i < family->n; i++)
			if (strcmp(name + prefix, family->services[i].name) == 0)
				return &family->services[i];
	}
	return NULL;
}
