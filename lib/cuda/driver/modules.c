/* SPDX-License-Identifier: MIT */
/* The calls that load modules, and those about libraries, which are modules that no context owns; the runtime has these too. */
#include "cuda/driver/modules.h"
#include "cuda/driver/driver.h"
#include "cuda/runtime/pointers.h"

/* ---- modules ---- */

DRIVER(cuModuleLoad, (struct gt_module **to, const char *path), gt_module_load_file(to, path, NULL, "cuModuleLoad"))
DRIVER(cuModuleLoadData, (struct gt_module **to, const void *image), gt_module_load(to, image, NULL, "cuModuleLoadData"))
DRIVER(cuModuleLoadFatBinary, (struct gt_module **to, const void *image),
       gt_module_load(to, image, NULL, "cuModuleLoadFatBinary"))

static int load_with(struct gt_module **to, const void *image, unsigned n, const int *options, void **values)
{
	struct gt_jit jit;
	int code = gt_jit_read(&jit, n, options, values);

	return code == CUDA_SUCCESS ? gt_module_load(to, image, &jit, "cuModuleLoadDataEx") : code;
}

DRIVER(cuModuleLoadDataEx, (struct gt_module **to, const void *image, unsigned n, const int *options, void **values),
       load_with(to, image, n, options, values))
DRIVER(cuModuleUnload, (struct gt_module *module), gt_module_unload(module))
DRIVER(cuModuleGetFunction, (struct gt_function **to, struct gt_module *module, const char *name),
       gt_module_function(to, module, name))
DRIVER(cuModuleGetGlobal_v2, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
       gt_module_variable(address, bytes, module, name))
DRIVER(cuModuleGetFunctionCount, (unsigned *n, const struct gt_module *module),
       n && module ? (*n = gt_module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuModuleEnumerateFunctions, (struct gt_function **to, unsigned n, struct gt_module *module),
       to && module ? gt_module_enumerate(to, n, module) : CUDA_INVALID_VALUE)

#define EAGER 1 /* CUmoduleLoadingMode */
DRIVER_ANYWHERE(cuModuleGetLoadingMode, (int *mode), mode ? (*mode = EAGER, CUDA_SUCCESS) : CUDA_INVALID_VALUE)

/* ---- libraries ---- */

/* Options of a library keep its image, or share it between kernels: no difference here. */
static int load_library(struct gt_module **to, const void *image, const char *path, unsigned n, const int *options,
			void **values, const char *call)
{
	struct gt_jit jit;
	int code = gt_jit_read(&jit, n, options, values);

	if (code != CUDA_SUCCESS)
		return code;
	return path ? gt_module_load_file(to, path, &jit, call) : gt_module_load(to, image, &jit, call);
}

static int module_of(struct gt_module **to, const struct gt_function *kernel)
{
	if (!to || !kernel)
		return CUDA_INVALID_VALUE;
	*to = gt_module_of(kernel);
	return *to ? CUDA_SUCCESS : CU_NOT_FOUND;
}

/* Each device has variables of its own, so that the host could not share one with several. */
static int managed(void **to, size_t *bytes, struct gt_module *module, const char *name)
{
	struct gt_pointer about;
	uint64_t address;

	if (gt_cudart_devices() > 1)
		return gt_cudart_refuse("a managed variable of a library and more than one device");
	int code = gt_module_variable(&address, bytes, module, name);
	if (code != CUDA_SUCCESS)
		return code;
	about = gt_cudart_pointer(gt_driver_pointer(address));
	if (about.type != GT_POINTER_MANAGED)
		return CU_NOT_FOUND;
	if (to)
		*to = about.host_pointer;
	return CUDA_SUCCESS;
}

DRIVER_ANYWHERE(cuLibraryLoadData, (struct gt_module **to, const void *image, const int *options, void **values, unsigned n,
				    const int *own, void **own_values, unsigned n_own),
		((void)own, (void)own_values, (void)n_own,
		 load_library(to, image, NULL, n, options, values, "cuLibraryLoadData")))
DRIVER_ANYWHERE(cuLibraryLoadFromFile, (struct gt_module **to, const char *path, const int *options, void **values,
					unsigned n, const int *own, void **own_values, unsigned n_own),
		((void)own, (void)own_values, (void)n_own,
		 path ? load_library(to, NULL, path, n, options, values, "cuLibraryLoadFromFile") : CUDA_INVALID_VALUE))
DRIVER_ANYWHERE(cuLibraryUnload, (struct gt_module *module), gt_module_unload(module))
DRIVER_ANYWHERE(cuLibraryGetKernel, (struct gt_function **to, struct gt_module *module, const char *name),
		gt_module_function(to, module, name))
DRIVER_ANYWHERE(cuLibraryGetKernelCount, (unsigned *n, const struct gt_module *module),
		n && module ? (*n = gt_module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER_ANYWHERE(cuLibraryEnumerateKernels, (struct gt_function **to, unsigned n, struct gt_module *module),
		to && module ? gt_module_enumerate(to, n, module) : CUDA_INVALID_VALUE)
DRIVER_ANYWHERE(cuLibraryGetModule, (struct gt_module **to, struct gt_module *module),
		to && module ? (*to = module, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuLibraryGetGlobal, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
       gt_module_variable(address, bytes, module, name))
DRIVER(cuLibraryGetManaged, (void **to, size_t *bytes, struct gt_module *module, const char *name),
       managed(to, bytes, module, name))
DRIVER_ANYWHERE(cuKernelGetFunction, (struct gt_function **to, struct gt_function *kernel),
		to && kernel ? (*to = kernel, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER_ANYWHERE(cuKernelGetLibrary, (struct gt_module **to, const struct gt_function *kernel), module_of(to, kernel))
DRIVER_ANYWHERE(cuFuncGetModule, (struct gt_module **to, const struct gt_function *function), module_of(to, function))

/* ---- the runtime's ---- */

#define RUNTIME(NAME, PARAMETERS, CALL)                                                           \
	API int NAME PARAMETERS                                                                    \
	{                                                                                          \
		gt_cudart_enter();                                                                 \
		return gt_cudart_leave(CALL);                                                      \
	}
RUNTIME(cudaLibraryLoadData, (struct gt_module **to, const void *image, const int *options, void **values, unsigned n,
			      const int *own, void **own_values, unsigned n_own),
	((void)own, (void)own_values, (void)n_own,
	 load_library(to, image, NULL, n, options, values, "cudaLibraryLoadData")))
RUNTIME(cudaLibraryLoadFromFile, (struct gt_module **to, const char *path, const int *options, void **values, unsigned n,
				  const int *own, void **own_values, unsigned n_own),
	((void)own, (void)own_values, (void)n_own,
	 path ? load_library(to, NULL, path, n, options, values, "cudaLibraryLoadFromFile") : CUDA_INVALID_VALUE))
RUNTIME(cudaLibraryUnload, (struct gt_module *module), gt_module_unload(module))
RUNTIME(cudaLibraryGetKernel, (struct gt_function **to, struct gt_module *module, const char *name),
	gt_module_function(to, module, name))
RUNTIME(cudaLibraryGetKernelCount, (unsigned *n, const struct gt_module *module),
	n && module ? (*n = gt_module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
RUNTIME(cudaLibraryEnumerateKernels, (struct gt_function **to, unsigned n, struct gt_module *module),
	to && module ? gt_module_enumerate(to, n, module) : CUDA_INVALID_VALUE)
RUNTIME(cudaLibraryGetGlobal, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
	gt_module_variable(address, bytes, module, name))
RUNTIME(cudaLibraryGetManaged, (void **to, size_t *bytes, struct gt_module *module, const char *name),
	managed(to, bytes, module, name))
