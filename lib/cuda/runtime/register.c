/* SPDX-License-Identifier: MIT */
/* The registrations of a program before main: fat binaries, and the host addresses of kernels and variables. Nothing is read
 * until it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/runtime.h"

#define WRAPPER_MAGIC 0x466243b1U
#define WRAPPER_LINKED 2U /* version: linked with -rdc */

struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *prelinked; /* of a linked one; else a file's name or NULL */
};

static void *take(size_t bytes)
{
	void *taken = calloc(1, bytes);

	if (!taken)
		gt_cudart_stop("out of memory");
	return taken;
}

API void **__cudaRegisterFatBinary(const void *text)
{
	const struct wrapper *wrapper = text;

	gt_cudart_lock();
	if (gt_cudart_readable(wrapper) < sizeof *wrapper || wrapper->magic != WRAPPER_MAGIC ||
	    gt_cudart_readable(wrapper->data) == 0)
		gt_cudart_stop("the program registers something that is not a fat binary");
	struct gt_fat *fat = take(sizeof *fat);
	fat->data = wrapper->data;
	fat->prelinked = wrapper->version == WRAPPER_LINKED ? wrapper->prelinked : NULL;
	snprintf(fat->name, sizeof fat->name, "PTX %u", ++gt_cudart.fats);
	gt_cudart_unlock();
	return (void **)fat;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Does nothing, since other exit handlers may still launch kernels. */
API void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

struct gt_function *gt_cudart_add_function(struct gt_fat *fat, const void *host, const char *name)
{
	struct gt_function *function = take(sizeof *function);

	*function = (struct gt_function){.host = host, .name = name, .fat = fat, .carveout = -1, .next = gt_cudart.functions};
	gt_cudart.functions = function;
	return function;
}

API void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name, int threads,
				void *thread, void *block, void *block_dim, void *grid_dim, int *warp_size)
{
	(void)device, (void)threads, (void)thread, (void)block, (void)block_dim, (void)grid_dim, (void)warp_size;
	gt_cudart_lock();
	gt_cudart_add_function((struct gt_fat *)handle, host, name);
	gt_cudart_unlock();
}

static void register_symbol(void **handle, const void *host, void **managed, const char *name)
{
	gt_cudart_lock();
	struct gt_symbol *symbol = take(sizeof *symbol);
	*symbol = (struct gt_symbol){.host = host, .managed = managed, .name = name, .fat = (struct gt_fat *)handle,
				     .next = gt_cudart.symbols};
	gt_cudart.symbols = symbol;
	gt_cudart_unlock();
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
			   int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	register_symbol(handle, host, NULL, name);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
				  size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	register_symbol(handle, host, host, name);
}

API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
	(void)handle, (void)name, (void)host, (void)size;
}

/* The host calls this before its first access to a managed variable. */
API char __cudaInitModule(void **handle)
{
	gt_cudart_lock();
	for (struct gt_symbol *symbol = gt_cudart.symbols; symbol; symbol = symbol->next)
		if (symbol->managed && symbol->fat == (struct gt_fat *)handle)
			gt_cudart_load(symbol->fat);
	gt_cudart_unlock();
	return 1;
}
