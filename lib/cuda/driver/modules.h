/* SPDX-License-Identifier: MIT */
/* Modules that a program loads while it runs. A CUmodule, a CUlibrary and a cudaLibrary_t are the same. */
#ifndef GT_CUDART_DRIVER_MODULES_H
#define GT_CUDART_DRIVER_MODULES_H

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

/* Reads the options of cuModuleLoadDataEx and its like; what has no effect is named once. Returns a code. */
int gt_jit_read(struct gt_jit *jit, unsigned n, const int *options, void **values);
/* Writes a message into the log of errors, and empties the other. */
void gt_jit_answer(const struct gt_jit *jit, const char *message);

/* Loads an image: PTX text, a fat binary or its wrapper, or a cubin, which is refused. The caller names itself for
 * messages. Returns a code. */
int gt_module_load(struct gt_module **module, const void *image, const struct gt_jit *jit, const char *call);
int gt_module_load_file(struct gt_module **module, const char *path, const struct gt_jit *jit, const char *call);
int gt_module_unload(struct gt_module *module);

/* A kernel or a variable by its name. Each returns a code. */
int gt_module_function(struct gt_function **function, struct gt_module *module, const char *name);
int gt_module_variable(uint64_t *address, size_t *bytes, struct gt_module *module, const char *name);
/* The module of a function that was loaded while the program ran; NULL: it is one of the program's own. */
struct gt_module *gt_module_of(const struct gt_function *function);
/* How many kernels a module has, and the first n of them. Returns a code. */
unsigned gt_module_kernels(const struct gt_module *module);
int gt_module_enumerate(struct gt_function **functions, unsigned n, struct gt_module *module);

/* Reads a whole file; a 0 follows it. NULL if it cannot be read. */
char *gt_module_file(const char *path, size_t *bytes);

#endif
