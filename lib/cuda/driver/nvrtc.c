/* SPDX-License-Identifier: MIT */
/* Machine code from NVRTC. A program that compiles for the architecture of its device asks NVRTC for a cubin, which only a GPU
 * runs. These calls stand before NVRTC's own: they compile for the virtual architecture instead, and give the PTX where a cubin
 * is asked for; cuModuleLoadData takes either. A program that looks NVRTC's calls up by dlsym does not come by here. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

#define NOT_THERE 3 /* NVRTC_ERROR_INVALID_INPUT */
#define OPTION_BYTES 64

typedef int (*get_bytes)(void *program, size_t *bytes);
typedef int (*get_text)(void *program, char *text);
typedef int (*compile)(void *program, int n, const char *const *options);

/* NVRTC's own call of the name. */
static void *next(const char *name)
{
	void *call = dlsym(RTLD_NEXT, name);

	if (!call)
		fprintf(stderr, "gtrace-record: %s: the program calls it, and no NVRTC is loaded\n", name);
	return call;
}

/* "--gpu-architecture=sm_80" and its short forms: compute_80 in place of sm_80. False: it is no such option. */
static bool make_virtual(char to[OPTION_BYTES], const char *option)
{
	static const char *const begins[] = {"--gpu-architecture=sm_", "-arch=sm_", "-arch sm_", "sm_"};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		size_t length = strlen(begins[i]);
		if (strncmp(option, begins[i], length) != 0)
			continue;
		snprintf(to, OPTION_BYTES, "%.*scompute_%s", (int)(length - strlen("sm_")), begins[i], option + length);
		return true;
	}
	return false;
}

API int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	compile own = (compile)(uintptr_t)next("nvrtcCompileProgram");
	char(*changed)[OPTION_BYTES] = calloc(n > 0 ? (size_t)n : 1, sizeof *changed);
	const char **all = calloc(n > 0 ? (size_t)n : 1, sizeof *all);
	int code = NOT_THERE;

	for (int i = 0; changed && all && i < n; i++)
		all[i] = make_virtual(changed[i], options[i]) ? changed[i] : options[i];
	if (own && changed && all)
		code = own(program, n, n > 0 ? all : options);
	free(all);
	free(changed);
	return code;
}

API int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
	get_bytes own = (get_bytes)(uintptr_t)next("nvrtcGetPTXSize");

	return own ? own(program, bytes) : NOT_THERE;
}

API int nvrtcGetCUBIN(void *program, char *to)
{
	static bool said;
	get_text own = (get_text)(uintptr_t)next("nvrtcGetPTX");

	gt_cudart_say_once(&said, "nvrtcGetCUBIN: gives PTX, which is executed in place of machine code");
	return own ? own(program, to) : NOT_THERE;
}
