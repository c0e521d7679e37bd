/* SPDX-License-Identifier: MIT */
/* The options of compiling PTX: CUjit_option. */
#include <stdio.h>
#include <string.h>

#include "cuda/driver/modules.h"

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

int gt_jit_read(struct gt_jit *jit, unsigned n, const int *options, void **values)
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

void gt_jit_answer(const struct gt_jit *jit, const char *message)
{
	if (!jit)
		return;
	write_log(jit->info, jit->info_bytes, jit->info_size, "");
	write_log(jit->error, jit->error_bytes, jit->error_size, message);
}
