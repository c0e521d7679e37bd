/* SPDX-License-Identifier: MIT */
/* Libraries with kernels of their own hold a runtime, which asks the driver for calls before it can launch any. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/askers.h"
#include "cuda/ptx/record/record.h"

static _Atomic(char *) first;

void gt_cudart_driver_called_from(void *code)
{
	Dl_info about;
	char *none = NULL;

	if (atomic_load(&first) || dladdr(code, &about) == 0 || !about.dli_fname)
		return;
	const char *slash = strrchr(about.dli_fname, '/'), *file = slash ? slash + 1 : about.dli_fname;
	char *name = gt_record_runs_kernels(file) ? strdup(file) : NULL;
	if (name && !atomic_compare_exchange_strong(&first, &none, name))
		free(name);
}

const char *gt_cudart_driver_caller(void)
{
	return atomic_load(&first);
}
