/* SPDX-License-Identifier: MIT */
#include "ptx/launch/run.h"

#include "ptx/decode/program.h"
#include "ptx/estimate/estimate.h"
#include "ptx/exec/heap.h"
#include "ptx/exec/nested.h"
#include "stream/kernel.h"

static int check_launch(const struct gt_ptx_launch *launch, struct gt_error *error)
{
	struct gt_kernel shape = {0};

	for (unsigned k = 0; k < 3; k++) {
		shape.grid[k] = launch->grid[k];
		shape.block[k] = launch->block[k];
		if (launch->grid[k] == 0 || launch->block[k] == 0)
			return gt_fail(error, "kernel %.128s: a launch of no blocks or no threads",
				       launch->kernel->name);
	}
	for (unsigned k = 0; k < 3; k++)
		if (launch->kernel->required_threads[0] &&
		    launch->kernel->required_threads[k] != launch->block[k])
			return gt_fail(error, "kernel %.128s must be launched with blocks of (%u,%u,%u)",
				       launch->kernel->name, launch->kernel->required_threads[0],
				       launch->kernel->required_threads[1],
				       launch->kernel->required_threads[2]);
	const uint32_t *cluster = launch->kernel->required_cluster;
	for (unsigned k = 0; k < 3; k++)
		if (cluster[k] > 1)
			return gt_fail(error, "kernel %.128s runs in clusters of (%u,%u,%u) blocks: clusters are not supported",
				       launch->kernel->name, cluster[0], cluster[1] ? cluster[1] : 1,
				       cluster[2] ? cluster[2] : 1);
	return gt_kernel_check(&shape, error);
}

int gt_ptx_prepare(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error)
{
	if (check_launch(launch, error) != 0)
		return -1;
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	if (!program || (program->uses_heap && gt_ptx_heap_open(machine->memory, error) != 0))
		return -1;
	return program->launches ? gt_ptx_pool_open(machine->memory, error) : 0;
}

int gt_ptx_run(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran,
	       struct gt_error *error)
{
	*ran = (struct gt_ptx_ran){0};
	if (gt_ptx_prepare(machine, launch, error) != 0)
		return -1;
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	return program ? gt_ptx_execute(machine, program, launch, ran, error) : -1;
}

static struct gt_ptx_figures *figures_of(const struct gt_ptx_machine *machine,
					 const struct gt_ptx_function *kernel)
{
	return &machine->figures[kernel - machine->module->functions];
}

uint64_t gt_ptx_static_shared(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel)
{
	struct gt_ptx_figures *figures = figures_of(machine, kernel);
	struct gt_error ignored;

	if (figures->knows_shared)
		return figures->static_shared;
	struct gt_ptx_program *program = gt_ptx_program_make(machine, kernel, false, &ignored);
	if (!program)
		return 0;
	figures->static_shared = program->static_shared;
	figures->knows_shared = true;
	gt_ptx_program_free(program, machine->module->n_functions);
	return figures->static_shared;
}

int gt_ptx_registers_of(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint32_t given,
		     uint32_t *registers, bool *estimated, struct gt_error *error)
{
	struct gt_ptx_figures *figures = figures_of(machine, kernel);

	*registers = given ? given : kernel->max_registers;
	*estimated = *registers == 0;
	if (!*estimated)
		return 0;
	if (!figures->knows_registers &&
	    gt_ptx_estimate_registers(machine->module, kernel, machine->full_registers, &figures->registers, error) != 0)
		return -1;
	figures->knows_registers = true;
	*registers = figures->registers;
	return 0;
}
