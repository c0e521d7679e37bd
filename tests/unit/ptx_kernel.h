/* SPDX-License-Identifier: MIT */
/* Runs one PTX kernel over buffers, for the tests of the interpreter. */
#ifndef TESTS_PTX_KERNEL_H
#define TESTS_PTX_KERNEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/launch/run.h"

#define BUFFERS 4

/* Where a machine notes what it ignores; a test may set it. */
static struct gt_ptx_notes *kernel_notes;

/* That of the kernel under way. */
static struct gt_ptx_machine *kernel_machine;

/* Called with the memory before the launch; a test may set it. */
static void (*kernel_prepare)(struct gt_ptx_memory *memory);

/* Runs each launch, those of kernels too; a test may set it. */
static const struct gt_ptx_runner *kernel_runner;

struct buffer {
	void *data;
	size_t bytes;
	const char *name;
};

/* Parses the text, and runs its kernel `k` with the addresses of the buffers (up to one without
 * data) for parameters, as 64-bit values. The buffers hold what the kernel left there afterwards.
 * `launch` gives the shape. Returns 0, or -1 with the error. */
static int run_kernel(const char *text, struct gt_ptx_launch *launch, struct buffer buffers[BUFFERS],
		      struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_module module;
	struct gt_ptx_memory memory;
	struct gt_ptx_machine *machine = NULL;
	uint64_t addresses[BUFFERS + 1] = {0};
	int result = -1;

	error->text[0] = '\0';
	if (gt_ptx_parse(&module, "test.ptx", text, strlen(text), error) != 0) {
		gt_ptx_module_free(&module);
		return -1;
	}
	if (gt_ptx_memory_open(&memory, 1U << 26, error) == 0)
		machine = gt_ptx_machine_open(&module, &memory, "test.ptx", error);
	if (machine)
		gt_ptx_machine_notes(machine, kernel_notes);
	for (size_t i = 0; machine && i < BUFFERS && buffers[i].data; i++) {
		gt_ptx_allocate(&memory, buffers[i].bytes, buffers[i].name ? buffers[i].name : "buffer", &addresses[i],
				error);
		memcpy(gt_ptx_at(&memory, addresses[i], buffers[i].bytes), buffers[i].data, buffers[i].bytes);
	}
	if (machine && kernel_prepare)
		kernel_prepare(&memory);
	kernel_machine = machine;
	launch->kernel = gt_ptx_kernel(&module, "k");
	launch->parameters = (const unsigned char *)addresses;
	if (machine && launch->kernel)
		result = kernel_runner ? gt_ptx_run_nested(&memory, launch, kernel_runner, ran, error)
				       : gt_ptx_run(machine, launch, ran, error);
	for (size_t i = 0; machine && i < BUFFERS && buffers[i].data; i++)
		memcpy(buffers[i].data, gt_ptx_at(&memory, addresses[i], buffers[i].bytes), buffers[i].bytes);
	gt_ptx_machine_close(machine);
	gt_ptx_memory_close(&memory);
	gt_ptx_module_free(&module);
	return result;
}

#endif
