/* SPDX-License-Identifier: MIT */
/* The addresses of the driver's calls by their names, for programs that are not linked with it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda/runtime/since.h"
#include "cuda/driver/driver.h"
#include "cuda/driver/versions.h"

#define PER_THREAD 2U /* flag: the variant for default streams of threads */
#define NAME_BYTES 128
enum { FOUND, NOT_FOUND, TOO_OLD }; /* CUdriverProcAddressQueryResult */

/* A symbol of this library, whatever others the process has. */
static void *own(const char *name)
{
	static void *library;
	Dl_info about;

	if (!library && dladdr((void *)(uintptr_t)gt_cudart_lock, &about) != 0)
		library = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* The call as a program of the version knows it: of the variants cuX, cuX_v2 and so on, the last that is not newer. */
static void exported_name(char to[NAME_BYTES], const char *name, int version)
{
	size_t length = strlen(name);

	snprintf(to, NAME_BYTES, "%s", name);
	for (size_t i = 0; i < gt_driver_versions_n; i++) {
		const struct gt_driver_version *row = &gt_driver_versions[i];
		if (strncmp(row->name, name, length) == 0 && row->name[length] == '_' && row->version <= version)
			snprintf(to, NAME_BYTES, "%s", row->name);
	}
}

static int find(const char *name, void **to, int version, uint64_t flags, int *result)
{
	char exported[NAME_BYTES], variant[NAME_BYTES + 8];

	if (!name || !to || strlen(name) >= NAME_BYTES)
		return CUDA_INVALID_VALUE;
	*to = NULL;
	if (strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0) {
		exported_name(exported, name, version);
		for (const char *const *suffix = (const char *const[]){"_ptsz", "_ptds", NULL}; flags & PER_THREAD && *suffix && !*to;
		     suffix++) {
			snprintf(variant, sizeof variant, "%s%s", exported, *suffix);
			*to = own(variant);
		}
		if (!*to)
			*to = own(exported);
	}
	if (result)
		*result = *to ? FOUND : NOT_FOUND;
	return CUDA_SUCCESS;
}

API int cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *result)
{
	int code = find(name, to, version, flags, result);

	return code == CUDA_SUCCESS && !*to ? CU_NOT_FOUND : code;
}

API int cuGetProcAddress(const char *name, void **to, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, to, version, flags, NULL);
}

/* ---- the runtime's ---- */

API int cudaGetDriverEntryPointByVersion(const char *name, void **to, unsigned version, unsigned long long flags, int *result)
{
	gt_cudart_enter();
	return gt_cudart_leave(find(name, to, (int)version, flags, result));
}

API int cudaGetDriverEntryPoint(const char *name, void **to, unsigned long long flags, int *result)
{
	return cudaGetDriverEntryPointByVersion(name, to, GT_CUDART_VERSION, flags, result);
}

API int cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **to, unsigned version, unsigned long long flags,
					      int *result)
{
	return cudaGetDriverEntryPointByVersion(name, to, version, flags ? flags : PER_THREAD, result);
}

API int cudaGetDriverEntryPoint_ptsz(const char *name, void **to, unsigned long long flags, int *result)
{
	return cudaGetDriverEntryPointByVersion_ptsz(name, to, GT_CUDART_VERSION, flags, result);
}

SINCE_12(cudaGetDriverEntryPoint);
SINCE_12(cudaGetDriverEntryPoint_ptsz);
