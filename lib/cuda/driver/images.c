/* SPDX-License-Identifier: MIT */
/* Loading modules from images and files, and what is in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/driver/modules.h"

#define LOAD_PTX "; with NVRTC, compile for compute_75 and load what nvrtcGetPTX gives (CuPy: CUPY_COMPILE_WITH_PTX=1)"
#define WRAPPER_MAGIC 0x466243b1U

static struct gt_module *modules;

/* A fat binary may come inside the wrapper that compilers put around it. */
static const void *unwrapped(const void *image)
{
	struct {
		uint32_t magic, version;
		const void *data;
	} wrapper;

	if (gt_cudart_readable(image) < sizeof wrapper)
		return image;
	memcpy(&wrapper, image, sizeof wrapper);
	return wrapper.magic == WRAPPER_MAGIC ? wrapper.data : image;
}

int gt_module_load(struct gt_module **to, const void *image, const struct gt_jit *jit, const char *call)
{
	struct gt_error error;

	if (!to || !image)
		return CUDA_INVALID_VALUE;
	if (gt_cudart_readable(image) == 0)
		return CUDA_INVALID_KERNEL_IMAGE;
	struct gt_module *made = calloc(1, sizeof *made);
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	made->fat.data = unwrapped(image);
	snprintf(made->fat.name, sizeof made->fat.name, "PTX %u", ++gt_cudart.fats);
	int code = gt_cudart_try_load(&made->fat, &error);
	made->fat.data = NULL; /* the program may free it */
	if (code != CUDA_SUCCESS) {
		/* A GPU might have taken it, so the line is not for the program alone. */
		gt_cudart_say("%s: %s%s", call, error.text, code == CUDA_NO_KERNEL_IMAGE_FOR_DEVICE ? LOAD_PTX : "");
		gt_cudart.omissions++;
		gt_jit_answer(jit, error.text);
		free(made);
		return code;
	}
	gt_jit_answer(jit, "");
	made->next = modules;
	*to = modules = made;
	return CUDA_SUCCESS;
}

char *gt_module_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	char *data = NULL;
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && (data = calloc(1, (size_t)size + 1))) {
		rewind(file);
		*bytes = fread(data, 1, (size_t)size, file);
	}
	if (file)
		fclose(file);
	return data;
}

int gt_module_load_file(struct gt_module **to, const char *path, const struct gt_jit *jit, const char *call)
{
	size_t bytes;

	if (!to || !path)
		return CUDA_INVALID_VALUE;
	char *data = gt_module_file(path, &bytes);
	if (!data)
		return CU_FILE_NOT_FOUND;
	int code = gt_module_load(to, data, jit, call);
	free(data);
	return code;
}

static struct gt_module **place_of(const struct gt_module *module)
{
	struct gt_module **place = &modules;

	while (*place && *place != module)
		place = &(*place)->next;
	return *place ? place : NULL;
}

struct gt_module *gt_module_of(const struct gt_function *function)
{
	struct gt_module *module = modules;

	while (module && &module->fat != function->fat)
		module = module->next;
	return module;
}

/* Its functions and variables are gone too. */
int gt_module_unload(struct gt_module *module)
{
	struct gt_module **place = place_of(module);

	if (!place)
		return CUDA_INVALID_RESOURCE_HANDLE;
	*place = module->next;
	for (struct gt_function **link = &gt_cudart.functions, *one; (one = *link);) {
		if (one->fat != &module->fat) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		free((char *)(uintptr_t)one->name);
		free(one);
	}
	gt_cudart_unload(&module->fat);
	free(module);
	return CUDA_SUCCESS;
}

/* ---- what is in a module ---- */

static struct gt_function *known(const struct gt_module *module, const char *name)
{
	struct gt_function *function = gt_cudart.functions;

	while (function && (function->fat != &module->fat || strcmp(function->name, name) != 0))
		function = function->next;
	return function;
}

int gt_module_function(struct gt_function **to, struct gt_module *module, const char *name)
{
	if (!to || !name)
		return CUDA_INVALID_VALUE;
	if (!place_of(module))
		return CUDA_INVALID_RESOURCE_HANDLE;
	const struct gt_ptx_function *kernel = gt_ptx_function_named(&module->fat.module, name);
	if (!kernel || !kernel->entry)
		return CU_NOT_FOUND;
	*to = known(module, name);
	if (*to)
		return CUDA_SUCCESS;
	char *kept = strdup(name);
	if (!kept)
		return CUDA_MEMORY_ALLOCATION;
	*to = gt_cudart_add_function(&module->fat, NULL, kept);
	(*to)->host = *to;
	gt_cudart_function(*to);
	return CUDA_SUCCESS;
}

int gt_module_variable(uint64_t *address, size_t *bytes, struct gt_module *module, const char *name)
{
	uint64_t at, size;
	struct gt_error ignored;

	if (!name)
		return CUDA_INVALID_VALUE;
	if (!place_of(module))
		return CUDA_INVALID_RESOURCE_HANDLE;
	if (gt_ptx_symbol(gt_cudart_machine(&module->fat), name, &at, &size, &ignored) != 0)
		return CU_NOT_FOUND;
	if (address)
		*address = at;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}

unsigned gt_module_kernels(const struct gt_module *module)
{
	unsigned n = 0;

	for (size_t i = 0; i < module->fat.module.n_functions; i++)
		n += module->fat.module.functions[i].entry && !module->fat.module.functions[i].declaration;
	return n;
}

int gt_module_enumerate(struct gt_function **to, unsigned n, struct gt_module *module)
{
	const struct gt_ptx_module *ptx = &module->fat.module;
	int code = CUDA_SUCCESS;
	unsigned at = 0;

	for (size_t i = 0; i < ptx->n_functions && at < n && code == CUDA_SUCCESS; i++)
		if (ptx->functions[i].entry && !ptx->functions[i].declaration)
			code = gt_module_function(&to[at++], module, ptx->functions[i].name);
	return code;
}
