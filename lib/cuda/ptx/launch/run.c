/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/run.h"

#include <string.h>

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/estimate/estimate.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/heap.h"
#include "cuda/ptx/exec/nested.h"
#include "cuda/ptx/exec/notes.h"
#include "cuda/ptx/launch/team.h"
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
	return gt_kernel_check(&shape, error);
}

int gt_ptx_launch_cluster(struct gt_ptx_launch *launch, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = launch->kernel;
	uint32_t required[3], *cluster = launch->cluster, blocks = 1;

	if (kernel->counted_clusters)
		return gt_fail(error, "kernel %.128s: '.blocksareclusters' is not modelled", kernel->name);
	for (unsigned k = 0; k < 3; k++)
		required[k] = kernel->required_cluster[0] && !kernel->required_cluster[k] ? 1 : kernel->required_cluster[k];
	if (!cluster[0])
		memcpy(cluster, required, sizeof required);
	if (!cluster[0])
		return kernel->explicit_cluster ? gt_fail(error, "kernel %.128s must be launched in clusters", kernel->name) : 0;
	if (required[0] && memcmp(cluster, required, sizeof required) != 0)
		return gt_fail(error, "kernel %.128s must be launched in clusters of (%u,%u,%u)", kernel->name, required[0],
			       required[1], required[2]);
	for (unsigned k = 0; k < 3; k++) {
		if (cluster[k] == 0 || launch->grid[k] % cluster[k] != 0)
			return gt_fail(error, "kernel %.128s: clusters of (%u,%u,%u) do not divide a grid of (%u,%u,%u)",
				       kernel->name, cluster[0], cluster[1], cluster[2], launch->grid[0], launch->grid[1],
				       launch->grid[2]);
		blocks = cluster[k] <= GT_PTX_CLUSTER_BLOCKS ? blocks * cluster[k] : GT_PTX_CLUSTER_BLOCKS + 1;
	}
	if (blocks > GT_PTX_CLUSTER_BLOCKS)
		return gt_fail(error, "kernel %.128s: clusters of (%u,%u,%u): at most %d blocks expected", kernel->name, cluster[0],
			       cluster[1], cluster[2], GT_PTX_CLUSTER_BLOCKS);
	return 0;
}

int gt_ptx_prepare(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error)
{
	if (check_launch(launch, error) != 0)
		return -1;
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	machine->memory->owner = GT_PTX_EVERYONE; /* the heap and the pool */
	if (!program || (program->uses_heap && gt_ptx_heap_open(machine->memory, error) != 0))
		return -1;
	return program->launches ? gt_ptx_pool_open(machine->memory, error) : 0;
}

int gt_ptx_run(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran,
	       struct gt_error *error)
{
	struct gt_ptx_launch clustered = *launch;

	*ran = (struct gt_ptx_ran){0};
	if (gt_ptx_prepare(machine, launch, error) != 0 || gt_ptx_launch_cluster(&clustered, error) != 0)
		return -1;
	struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	if (!program)
		return -1;
	machine->memory->denied = launch->denied;
	int result = launch->team && gt_ptx_team_may_run(program, &clustered)
			     ? gt_ptx_team_run(machine, program, &clustered, ran, error)
			     : gt_ptx_execute(machine, program, &clustered, ran, error);
	machine->memory->denied = 0;
	if (ran->clock)
		gt_ptx_note_clock(machine->notes, launch->kernel->name, ran->clock);
	return result;
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
