/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/head.h"

#include <inttypes.h>
#include <string.h>

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/record/arrays.h"
#include "cuda/ptx/record/sources.h"
#include "stream/sources.h"

/* Writes the kernel, and begins the count of what it needs. */
static int write_kernel(struct gt_ptx_head *head, const struct gt_ptx_launch *launch, struct gt_kernel *kernel,
			uint64_t static_shared, bool estimated, struct gt_count *count, struct gt_error *error)
{
	uint64_t shared = static_shared + launch->dynamic_shared;

	if (shared > UINT32_MAX)
		return gt_fail(error, "%s: %" PRIu64 " bytes of shared memory", kernel->name, shared);
	kernel->id = head->id;
	kernel->order = head->tracing->unordered ? GT_ORDER_NONE : GT_ORDER_BLOCK;
	kernel->shared_bytes = (uint32_t)shared;
	memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
	memcpy(kernel->block, launch->block, sizeof kernel->block);
	memcpy(kernel->cluster, launch->cluster, sizeof kernel->cluster);
	kernel->prefers = launch->prefers;
	kernel->parent = launch->parent;
	kernel->device = launch->device;
	gt_count_begin(count, "ptx", kernel->id);
	if (gt_kernel_check(kernel, error) != 0 || gt_write_kernel(head->writer, kernel, error) != 0 ||
	    gt_count_number(count, "registers", kernel->registers, error) != 0 ||
	    gt_count_number(count, "registers_estimated", estimated, error) != 0 ||
	    gt_count_number(count, "shared_bytes", shared, error) != 0)
		return -1;
	return 0;
}

/* Names the arrays while the kernel runs; those of shared memory if accesses to it are traced. */
static int write_arrays(struct gt_ptx_head *head, struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch,
			struct gt_error *error)
{
	if (gt_ptx_count_allocations(head->writer, head->id, gt_ptx_machine_memory(machine), error) != 0)
		return -1;
	if (!(head->tracing->spaces >> GT_SHARED & 1))
		return 0;
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	return program ? gt_ptx_count_shared(head->writer, head->id, program, launch->dynamic_shared, error) : -1;
}

/* Counts the ranges that were copied to the device before the kernel, which a cache may hold (gcache(1), --warm). */
static int write_copies(struct gt_ptx_head *head, struct gt_error *error)
{
	struct gt_count count;
	int result;

	if (head->copies.n == 0 && !head->copies.lost)
		return 0;
	gt_count_begin(&count, "copies", head->id);
	result = gt_copies_count(&head->copies, &count, error);
	if (result == 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	gt_copies_clear(&head->copies);
	return result;
}

/* Counts the calls of libraries whose work is not in the stream: those before the kernel, or after the last one. */
static int write_untraced(struct gt_ptx_head *head, const char *names, const char *calls, struct gt_error *error)
{
	struct gt_count count;

	if (head->untraced.n == 0)
		return 0;
	gt_count_begin(&count, "untraced", head->id);
	int result = gt_ptx_untraced_count(&head->untraced, names, calls, &count, error);
	if (result == 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	gt_ptx_untraced_clear(&head->untraced);
	return result;
}

/* Counts the source lines of the kernel's accesses, if the text says them. */
static int write_sources(struct gt_ptx_head *head, const struct gt_ptx_module *module,
			 const struct gt_ptx_function *kernel, struct gt_error *error)
{
	struct gt_count count;
	int result;

	gt_count_begin(&count, GT_SOURCES_STAGE, head->id);
	result = gt_ptx_sources_count(module, kernel, &count, error);
	if (result == 0 && count.n > 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	return result;
}

int gt_ptx_head_write(struct gt_ptx_head *head, const struct gt_ptx_module *module, struct gt_ptx_machine *machine,
		      const struct gt_ptx_launch *launch, struct gt_kernel *kernel, uint32_t registers, struct gt_count *count,
		      struct gt_error *error)
{
	bool estimated;
	int result = gt_ptx_registers_of(machine, launch->kernel, registers, &kernel->registers, &estimated, error);

	if (result == 0)
		result = write_kernel(head, launch, kernel, gt_ptx_static_shared(machine, launch->kernel), estimated, count, error);
	if (result == 0)
		result = write_arrays(head, machine, launch, error);
	if (result == 0)
		result = write_copies(head, error);
	if (result == 0)
		result = write_untraced(head, "names", "calls", error);
	return result == 0 ? write_sources(head, module, launch->kernel, error) : -1;
}

int gt_ptx_head_write_after(struct gt_ptx_head *head, struct gt_error *error)
{
	return write_untraced(head, "names_after", "calls_after", error);
}

void gt_ptx_head_clear(struct gt_ptx_head *head)
{
	gt_copies_clear(&head->copies);
	gt_ptx_untraced_clear(&head->untraced);
}
