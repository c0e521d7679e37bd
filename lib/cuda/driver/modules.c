/* SPDX-License-Identifier: MIT */
/* Modules that a program loads while it runs, and libraries, which are modules that no context owns; the runtime has these too. A
 * CUmodule, a CUlibrary and a cudaLibrary_t are the same. The linker of PTX, and NVRTC's machine code. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/ptx/text/module.h"
#include "cuda/runtime/runtime.h"

struct gt_module {
	struct gt_fat fat;
	struct gt_module *next;
};

/* Where the options of a compilation want its messages, and what else they say. */
struct gt_jit {
	char *info, *error;
	size_t info_bytes, error_bytes;
	void **info_size, **error_size; /* where the bytes written go; NULL: nowhere */
};

/* ---- the options of compiling PTX: CUjit_option ---- */

enum { WALL_TIME = 2, INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES, OPTIONS = 34 };

enum effect { HONOURED, NONE_HERE, IGNORED, REFUSED };

/* By number. NONE_HERE: it decides what machine code is made, and none is made. IGNORED ones change what a GPU would do. */
static const struct {
	const char *name;
	enum effect effect;
} options_known[OPTIONS] = {
	{"CU_JIT_MAX_REGISTERS", IGNORED},
	{"CU_JIT_THREADS_PER_BLOCK", NONE_HERE},
	{"CU_JIT_WALL_TIME", HONOURED},
	{"CU_JIT_INFO_LOG_BUFFER", HONOURED},
	{"CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES", HONOURED},
	{"CU_JIT_ERROR_LOG_BUFFER", HONOURED},
	{"CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES", HONOURED},
	{"CU_JIT_OPTIMIZATION_LEVEL", NONE_HERE},
	{"CU_JIT_TARGET_FROM_CUCONTEXT", NONE_HERE},
	{"CU_JIT_TARGET", NONE_HERE},
	{"CU_JIT_FALLBACK_STRATEGY", NONE_HERE},
	{"CU_JIT_GENERATE_DEBUG_INFO", NONE_HERE},
	{"CU_JIT_LOG_VERBOSE", NONE_HERE},
	{"CU_JIT_GENERATE_LINE_INFO", NONE_HERE},
	{"CU_JIT_CACHE_MODE", IGNORED},
	{"CU_JIT_NEW_SM3X_OPT", NONE_HERE},
	{"CU_JIT_FAST_COMPILE", NONE_HERE},
	{"CU_JIT_GLOBAL_SYMBOL_NAMES", REFUSED},
	{"CU_JIT_GLOBAL_SYMBOL_ADDRESSES", REFUSED},
	{"CU_JIT_GLOBAL_SYMBOL_COUNT", REFUSED},
	{"CU_JIT_LTO", NONE_HERE},
	{"CU_JIT_FTZ", NONE_HERE},
	{"CU_JIT_PREC_DIV", NONE_HERE},
	{"CU_JIT_PREC_SQRT", NONE_HERE},
	{"CU_JIT_FMA", NONE_HERE},
	{"CU_JIT_REFERENCED_KERNEL_NAMES", NONE_HERE},
	{"CU_JIT_REFERENCED_KERNEL_COUNT", NONE_HERE},
	{"CU_JIT_REFERENCED_VARIABLE_NAMES", NONE_HERE},
	{"CU_JIT_REFERENCED_VARIABLE_COUNT", NONE_HERE},
	{"CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES", NONE_HERE},
	{"CU_JIT_POSITION_INDEPENDENT_CODE", NONE_HERE},
	{"CU_JIT_MIN_CTA_PER_SM", IGNORED},
	{"CU_JIT_MAX_THREADS_PER_BLOCK", IGNORED},
	{"CU_JIT_OVERRIDE_DIRECTIVE_VALUES", IGNORED},
};

static void honour(struct gt_jit *jit, int option, void **value)
{
	const float none = 0;

	switch (option) {
	case WALL_TIME: /* milliseconds; those of this processor say nothing */
		memcpy(value, &none, sizeof none);
		break;
	case INFO_LOG:
		jit->info = *value;
		break;
	case INFO_LOG_BYTES:
		jit->info_bytes = (uint32_t)(uintptr_t)*value;
		jit->info_size = value;
		break;
	case ERROR_LOG:
		jit->error = *value;
		break;
	case ERROR_LOG_BYTES:
		jit->error_bytes = (uint32_t)(uintptr_t)*value;
		jit->error_size = value;
		break;
	default:
		break;
	}
}

/* Reads the options of cuModuleLoadDataEx and its like; what has no effect is named once. Returns a code. */
static int jit_read(struct gt_jit *jit, unsigned n, const int *options, void **values)
{
	static bool said[OPTIONS];

	*jit = (struct gt_jit){0};
	if (n > 0 && (!options || !values))
		return CUDA_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++) {
		int option = options[i];
		if (option < 0 || option >= OPTIONS)
			return CUDA_INVALID_VALUE;
		if (options_known[option].effect == REFUSED)
			return gt_cudart_refuse(options_known[option].name);
		if (options_known[option].effect == IGNORED)
			gt_cudart_say_once(&said[option], "%s: has no effect", options_known[option].name);
		honour(jit, option, &values[i]);
	}
	return CUDA_SUCCESS;
}

/* The bytes written come back in the place of the buffer's size, with the final 0. */
static void write_log(char *log, size_t bytes, void **size, const char *message)
{
	size_t length = strlen(message);

	if (log && bytes > 0)
		snprintf(log, bytes, "%s", message);
	if (size)
		*size = (void *)(log && bytes > 0 && length > 0 ? (length < bytes ? length + 1 : bytes) : 0);
}

/* Writes a message into the log of errors, and empties the other. */
static void jit_answer(const struct gt_jit *jit, const char *message)
{
	if (!jit)
		return;
	write_log(jit->info, jit->info_bytes, jit->info_size, "");
	write_log(jit->error, jit->error_bytes, jit->error_size, message);
}

/* ---- loading from images and files ---- */

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

/* Loads an image: PTX text, a fat binary or its wrapper, or a cubin, which is refused. The caller names itself for
 * messages. Returns a code. */
static int module_load(struct gt_module **to, const void *image, const struct gt_jit *jit, const char *call)
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
		gt_cudart_say("%s: %s%s", call, error.text, code == CUDA_NO_KERNEL_IMAGE_FOR_DEVICE && made->fat.others.capability == 0 ? LOAD_PTX : "");
		gt_cudart.omissions++;
		jit_answer(jit, error.text);
		free(made);
		return code;
	}
	jit_answer(jit, "");
	made->next = modules;
	*to = modules = made;
	return CUDA_SUCCESS;
}

/* Reads a whole file; a 0 follows it. NULL if it cannot be read. */
static char *module_file(const char *path, size_t *bytes)
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

static int module_load_file(struct gt_module **to, const char *path, const struct gt_jit *jit, const char *call)
{
	size_t bytes;

	if (!to || !path)
		return CUDA_INVALID_VALUE;
	char *data = module_file(path, &bytes);
	if (!data)
		return CU_FILE_NOT_FOUND;
	int code = module_load(to, data, jit, call);
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

/* The module of a function that was loaded while the program ran; NULL: it is one of the program's own. */
static struct gt_module *gt_module_of(const struct gt_function *function)
{
	struct gt_module *module = modules;

	while (module && &module->fat != function->fat)
		module = module->next;
	return module;
}

/* Its functions and variables are gone too. */
static int module_unload(struct gt_module *module)
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

void gt_driver_unload(const struct gt_context *context)
{
	for (struct gt_module *module = modules, *next; module; module = next) {
		next = module->next;
		if (module->fat.owner == context)
			module_unload(module);
	}
}

/* ---- what is in a module ---- */

static struct gt_function *known(const struct gt_module *module, const char *name)
{
	struct gt_function *function = gt_cudart.functions;

	while (function && (function->fat != &module->fat || strcmp(function->name, name) != 0))
		function = function->next;
	return function;
}

/* A kernel or a variable by its name. Each returns a code. */
static int module_function(struct gt_function **to, struct gt_module *module, const char *name)
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

static int module_variable(uint64_t *address, size_t *bytes, struct gt_module *module, const char *name)
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

/* How many kernels a module has, and the first n of them. Returns a code. */
static unsigned module_kernels(const struct gt_module *module)
{
	unsigned n = 0;

	for (size_t i = 0; i < module->fat.module.n_functions; i++)
		n += module->fat.module.functions[i].entry && !module->fat.module.functions[i].declaration;
	return n;
}

static int module_enumerate(struct gt_function **to, unsigned n, struct gt_module *module)
{
	const struct gt_ptx_module *ptx = &module->fat.module;
	int code = CUDA_SUCCESS;
	unsigned at = 0;

	for (size_t i = 0; i < ptx->n_functions && at < n && code == CUDA_SUCCESS; i++)
		if (ptx->functions[i].entry && !ptx->functions[i].declaration)
			code = module_function(&to[at++], module, ptx->functions[i].name);
	return code;
}

/* ---- calls about modules ---- */

/* A module that was loaded is the context's. */
static int owned(int code, struct gt_module *const *loaded)
{
	if (code == CUDA_SUCCESS)
		(*loaded)->fat.owner = gt_driver_context();
	return code;
}

DRIVER(cuModuleLoad, (struct gt_module **to, const char *path), owned(module_load_file(to, path, NULL, "cuModuleLoad"), to))
DRIVER(cuModuleLoadData, (struct gt_module **to, const void *image), owned(module_load(to, image, NULL, "cuModuleLoadData"), to))
DRIVER(cuModuleLoadFatBinary, (struct gt_module **to, const void *image),
       owned(module_load(to, image, NULL, "cuModuleLoadFatBinary"), to))

static int load_with(struct gt_module **to, const void *image, unsigned n, const int *options, void **values)
{
	struct gt_jit jit;
	int code = jit_read(&jit, n, options, values);

	return code == CUDA_SUCCESS ? owned(module_load(to, image, &jit, "cuModuleLoadDataEx"), to) : code;
}

DRIVER(cuModuleLoadDataEx, (struct gt_module **to, const void *image, unsigned n, const int *options, void **values),
       load_with(to, image, n, options, values))
DRIVER(cuModuleUnload, (struct gt_module *module), module_unload(module))
DRIVER(cuModuleGetFunction, (struct gt_function **to, struct gt_module *module, const char *name),
       module_function(to, module, name))
DRIVER(cuModuleGetGlobal_v2, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
       module_variable(address, bytes, module, name))
DRIVER(cuModuleGetFunctionCount, (unsigned *n, const struct gt_module *module),
       n && place_of(module) ? (*n = module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuModuleEnumerateFunctions, (struct gt_function **to, unsigned n, struct gt_module *module),
       to && place_of(module) ? module_enumerate(to, n, module) : CUDA_INVALID_VALUE)

#define EAGER 1 /* CUmoduleLoadingMode */
DRIVER_ANYWHERE(cuModuleGetLoadingMode, (int *mode), mode ? (*mode = EAGER, CUDA_SUCCESS) : CUDA_INVALID_VALUE)

/* ---- libraries ---- */

/* Options of a library keep its image, or share it between kernels: no difference here. */
static int load_library(struct gt_module **to, const void *image, const char *path, unsigned n, const int *options,
			void **values, const char *call)
{
	struct gt_jit jit;
	int code = jit_read(&jit, n, options, values);

	if (code != CUDA_SUCCESS)
		return code;
	return path ? module_load_file(to, path, &jit, call) : module_load(to, image, &jit, call);
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
	int code = module_variable(&address, bytes, module, name);
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
DRIVER_ANYWHERE(cuLibraryUnload, (struct gt_module *module), module_unload(module))
DRIVER_ANYWHERE(cuLibraryGetKernel, (struct gt_function **to, struct gt_module *module, const char *name),
		module_function(to, module, name))
DRIVER_ANYWHERE(cuLibraryGetKernelCount, (unsigned *n, const struct gt_module *module),
		n && place_of(module) ? (*n = module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER_ANYWHERE(cuLibraryEnumerateKernels, (struct gt_function **to, unsigned n, struct gt_module *module),
		to && place_of(module) ? module_enumerate(to, n, module) : CUDA_INVALID_VALUE)
DRIVER_ANYWHERE(cuLibraryGetModule, (struct gt_module **to, struct gt_module *module),
		to && module ? (*to = module, CUDA_SUCCESS) : CUDA_INVALID_VALUE)
DRIVER(cuLibraryGetGlobal, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
       module_variable(address, bytes, module, name))
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
RUNTIME(cudaLibraryUnload, (struct gt_module *module), module_unload(module))
RUNTIME(cudaLibraryGetKernel, (struct gt_function **to, struct gt_module *module, const char *name),
	module_function(to, module, name))
RUNTIME(cudaLibraryGetKernelCount, (unsigned *n, const struct gt_module *module),
	n && place_of(module) ? (*n = module_kernels(module), CUDA_SUCCESS) : CUDA_INVALID_VALUE)
RUNTIME(cudaLibraryEnumerateKernels, (struct gt_function **to, unsigned n, struct gt_module *module),
	to && place_of(module) ? module_enumerate(to, n, module) : CUDA_INVALID_VALUE)
RUNTIME(cudaLibraryGetGlobal, (uint64_t *address, size_t *bytes, struct gt_module *module, const char *name),
	module_variable(address, bytes, module, name))
RUNTIME(cudaLibraryGetManaged, (void **to, size_t *bytes, struct gt_module *module, const char *name),
	managed(to, bytes, module, name))

/* ---- the linker ---- */

/* The linker of the driver: joins PTX texts. Its result is not machine code but the joined text, which cuModuleLoadData takes. */

/* CUjitInputType */
enum { CUBIN, PTX, FAT_BINARY, OBJECT, LIBRARY, NVVM };

struct gt_linking {
	struct gt_ptx_text text;
	struct gt_jit jit;
};

static int create(struct gt_linking **to, unsigned n, const int *options, void **values)
{
	struct gt_jit jit;
	int code = to ? jit_read(&jit, n, options, values) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	*to = calloc(1, sizeof **to);
	if (!*to)
		return CUDA_MEMORY_ALLOCATION;
	(*to)->jit = jit;
	jit_answer(&jit, "");
	return CUDA_SUCCESS;
}

DRIVER(cuLinkCreate_v2, (unsigned n, const int *options, void **values, struct gt_linking **to),
       create(to, n, options, values))
DRIVER(cuLinkCreate, (unsigned n, const int *options, void **values, struct gt_linking **to), create(to, n, options, values))

static int fail(const struct gt_linking *linking, const char *name, const struct gt_error *error)
{
	gt_cudart_say("cuLinkAddData: %s: %s", name ? name : "an input", error->text);
	gt_cudart.omissions++;
	jit_answer(&linking->jit, error->text);
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
	char *data = path ? module_file(path, &bytes) : NULL;

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

/* ---- NVRTC ---- */

/* Machine code from NVRTC. A program that compiles for the architecture of its device asks NVRTC for a cubin, which only a GPU
 * runs. These calls stand before NVRTC's own: they compile for the virtual architecture instead, and give the PTX where a cubin
 * is asked for; cuModuleLoadData takes either. A program that looks NVRTC's calls up by dlsym does not come by here. */

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
