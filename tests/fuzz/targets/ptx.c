/* SPDX-License-Identifier: MIT */
/* A PTX module: parsed, analysed, and each of its kernels run by one warp for some instructions. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/static/static.h"
#include "../shared/target.h"

#define INSTRUCTIONS 2000
#define MEMORY (1U << 20)
#define PARAMETERS 4352 /* bytes a launch may pass */

static void run_kernels(const struct gt_ptx_module *module)
{
	static unsigned char parameters[PARAMETERS];
	struct gt_error error = {.text = ""};
	struct gt_ptx_memory memory;
	struct gt_ptx_ran ran;
	uint64_t buffer;

	if (gt_ptx_memory_open(&memory, MEMORY, &error) != 0)
		abort();
	struct gt_ptx_machine *machine = gt_ptx_machine_open(module, &memory, "fuzz", &error);
	target_check(machine ? 0 : -1, &error);
	if (machine && gt_ptx_allocate(&memory, 4096, "buffer", &buffer, &error) == 0)
		for (size_t at = 0; at < PARAMETERS; at += sizeof buffer)
			memcpy(parameters + at, &buffer, sizeof buffer);
	for (size_t i = 0; machine && i < module->n_functions && i < 8; i++) {
		struct gt_ptx_launch launch = {.kernel = &module->functions[i], .parameters = parameters, .grid = {1, 1, 1},
					       .block = {32, 1, 1}, .max_instructions = INSTRUCTIONS};
		if (launch.kernel->entry && gt_ptx_parameter_bytes(launch.kernel) <= PARAMETERS)
			target_check(gt_ptx_run(machine, &launch, &ran, &error), &error);
	}
	gt_ptx_machine_close(machine);
	gt_ptx_memory_close(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct gt_static_launch shape = {.grid = {2, 1, 1}, .block = {64, 1, 1}};
	struct gt_error error = {.text = ""};
	struct gt_ptx_module module;
	char *text = target_text(data, bytes);
	int result = gt_ptx_parse(&module, "fuzz.ptx", text, strlen(text), &error);

	target_check(result, &error);
	if (result == 0) {
		target_check(gt_static_write_module(&module, &shape, true, target_nowhere(), &error), &error);
		run_kernels(&module);
	}
	gt_ptx_module_free(&module);
	free(text);
	return 0;
}
