/* SPDX-License-Identifier: MIT */
/* The linker of the driver: joins PTX texts. Its result is not machine code but the joined text, which cuModuleLoadData takes. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/driver/modules.h"
#include "cuda/ptx/text/module.h"

/* CUjitInputType */
enum { CUBIN, PTX, FAT_BINARY, OBJECT, LIBRARY, NVVM };

struct gt_linking {
	struct gt_ptx_text text;
	struct gt_jit jit;
};

static int create(struct gt_linking **to, unsigned n, const int *options, void **values)
{
	struct gt_jit jit;
	int code = to ? gt_jit_read(&jit, n, options, values) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	*to = calloc(1, sizeof **to);
	if (!*to)
		return CUDA_MEMORY_ALLOCATION;
	(*to)->jit = jit;
	gt_jit_answer(&jit, "");
	return CUDA_SUCCESS;
}

DRIVER(cuLinkCreate_v2, (unsigned n, const int *options, void **values, struct gt_linking **to),
       create(to, n, options, values))
DRIVER(cuLinkCreate, (unsigned n, const int *options, void **values, struct gt_linking **to), create(to, n, options, values))

static int fail(const struct gt_linking *linking, const char *name, const struct gt_error *error)
{
	gt_cudart_say("cuLinkAddData: %s: %s", name ? name : "an input", error->text);
	gt_cudart.omissions++;
	gt_jit_answer(&linking->jit, error->text);
	return CUDA_INVALID_PTX;
}

/* Parsed once by itself, so that a mistake is found in the text that has it. */
static int add(struct gt_linking *linking, int type, const char *data, size_t bytes, const char *name)
{
	static const char *const refused[] = {
		[CUBIN] = "cuLinkAddData of machine code",
		[FAT_BINARY] = "cuLinkAddData of a fat binary",
		[OBJECT] = "cuLinkAddData of a host object",
		[LIBRARY] = "cuLinkAddData of a library of device code",
		[NVVM] = "cuLinkAddData of NVVM code",
	};
	struct gt_ptx_module module = {0};
	struct gt_error error;

	if (!linking || !data || type < CUBIN || type > NVVM)
		return CUDA_INVALID_VALUE;
	if (refused[type])
		return gt_cudart_refuse(refused[type]);
	bytes = strnlen(data, bytes);
	char *text = calloc(1, bytes + 1);
	if (!text)
		return CUDA_MEMORY_ALLOCATION;
	memcpy(text, data, bytes);
	int failed = gt_ptx_parse(&module, name ? name : "PTX", text, bytes, &error);
	gt_ptx_module_free(&module);
	if (!failed)
		failed = gt_ptx_link(&linking->text, text, bytes, &error);
	free(text);
	return failed ? fail(linking, name, &error) : CUDA_SUCCESS;
}

#define INPUT_OPTIONS unsigned n, const int *options, void **values
DRIVER(cuLinkAddData_v2, (struct gt_linking *linking, int type, void *data, size_t bytes, const char *name, INPUT_OPTIONS),
       ((void)n, (void)options, (void)values, add(linking, type, data, bytes, name)))
DRIVER(cuLinkAddData, (struct gt_linking *linking, int type, void *data, size_t bytes, const char *name, INPUT_OPTIONS),
       ((void)n, (void)options, (void)values, add(linking, type, data, bytes, name)))

static int add_file(struct gt_linking *linking, int type, const char *path)
{
	size_t bytes = 0;
	char *data = path ? gt_module_file(path, &bytes) : NULL;

	if (!data)
		return path ? CU_FILE_NOT_FOUND : CUDA_INVALID_VALUE;
	int code = add(linking, type, data, bytes, path);
	free(data);
	return code;
}

DRIVER(cuLinkAddFile_v2, (struct gt_linking *linking, int type, const char *path, INPUT_OPTIONS),
       ((void)n, (void)options, (void)values, add_file(linking, type, path)))
DRIVER(cuLinkAddFile, (struct gt_linking *linking, int type, const char *path, INPUT_OPTIONS),
       ((void)n, (void)options, (void)values, add_file(linking, type, path)))

/* The image belongs to the linking. */
static int complete(const struct gt_linking *linking, void **image, size_t *bytes)
{
	if (!linking || !image || !linking->text.data)
		return CUDA_INVALID_VALUE;
	*image = linking->text.data;
	if (bytes)
		*bytes = linking->text.bytes + 1;
	return CUDA_SUCCESS;
}

DRIVER(cuLinkComplete, (struct gt_linking *linking, void **image, size_t *bytes), complete(linking, image, bytes))

static int destroy(struct gt_linking *linking)
{
	if (!linking)
		return CUDA_INVALID_RESOURCE_HANDLE;
	free(linking->text.data);
	free(linking);
	return CUDA_SUCCESS;
}

DRIVER(cuLinkDestroy, (struct gt_linking *linking), destroy(linking))
