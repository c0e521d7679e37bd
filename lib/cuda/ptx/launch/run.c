/* SPDX-License-Identifier: MIT */
/* Runs launches, with all that they lead to; computes the registers and the shared memory of kernels. */
#include <inttypes.h>
#include <string.h>

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/estimate/estimate.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/launch/team.h"

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

static void write_kernel(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, FILE *to)
{
	size_t length;
	const char *shown = gt_ptx_shown_name(module, kernel, &length);

	fprintf(to, "%.*s(", (int)length, shown);
	for (size_t i = 0; i < kernel->n_parameters; i++) {
		const struct gt_ptx_variable *parameter = &kernel->parameters[i];
		fprintf(to, "%s%s", i > 0 ? ", " : "", gt_ptx_type_name(parameter->type));
		if (parameter->elements != 1)
			fprintf(to, "[%" PRIu64 "]", parameter->elements);
	}
	fprintf(to, ")\tline=%u", kernel->line);
}

int gt_ptx_list_kernels(const struct gt_ptx_module *module, const struct gt_ptx_machine *machine, uint32_t given, FILE *to,
		struct gt_error *error)
{
	uint32_t registers;
	bool estimated;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *kernel = &module->functions[i];
		if (!kernel->entry || kernel->declaration)
			continue;
		if (gt_ptx_registers_of(machine, kernel, given, &registers, &estimated, error) != 0)
			return -1;
		write_kernel(module, kernel, to);
		fprintf(to, "\tregisters=%" PRIu32 "%s\tshared_bytes=%" PRIu64 "\tname=%s\n", registers,
			estimated ? " (estimated)" : "", gt_ptx_static_shared(machine, kernel), kernel->name);
	}
	return 0;
}

bool gt_ptx_gate_is_closed(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error)
{
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	const uint64_t launches = machine->launches;
	struct gt_ptx_launch trial = *launch;
	struct gt_ptx_ran ran;

	if (!program || program->has_effects || !program->joins_blocks)
		return false;
	/* What else it does wrong is told of when it is launched. */
	trial.sink = NULL;
	trial.team = NULL;
	trial.check = GT_PTX_CHECK_FAULT;
	gt_ptx_run(machine, &trial, &ran, error);
	machine->launches = launches;
	return ran.runs_away;
}

/* Puts launches before the others that are left. */
static void put_first(struct gt_ptx_children *left, const struct gt_ptx_children *more)
{
	if (!more->first)
		return;
	more->last->next = left->first;
	left->first = more->first;
}

static int run_one(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		   struct gt_ptx_children *left, struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_launched launched = {0};
	struct gt_ptx_ran one = {0};

	launch->launched = &launched;
	int result = runner->run(runner->context, launch, &one, error);
	launch->launched = NULL;
	gt_ptx_pool_end_launch(memory);
	put_first(left, &launched.tails);
	put_first(left, &launched.children);
	ran->warp_instructions += one.warp_instructions;
	ran->accesses += one.accesses;
	ran->polls += one.polls;
	ran->fault |= one.fault;
	ran->assertion_failed |= one.assertion_failed;
	return result;
}

static void shape_as(struct gt_ptx_launch *launch, const struct gt_ptx_child *child)
{
	launch->kernel = child->kernel;
	memcpy(launch->grid, child->grid, sizeof launch->grid);
	memcpy(launch->block, child->block, sizeof launch->block);
	launch->dynamic_shared = child->dynamic_shared;
	launch->parameters = child->parameters;
	launch->parent = child->parent;
	launch->depth = child->depth;
	memset(launch->cluster, 0, sizeof launch->cluster);
	launch->workspace = 0;
}

int gt_ptx_run_nested(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		      struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_launched rest = {0};
	struct gt_ptx_children *left = &rest.children;

	*ran = (struct gt_ptx_ran){0};
	int result = run_one(memory, launch, runner, left, ran, error);
	while (result == 0 && left->first) {
		struct gt_ptx_child *child = left->first;
		struct gt_ptx_launch next = *launch;
		left->first = child->next;
		shape_as(&next, child);
		result = run_one(memory, &next, runner, left, ran, error);
		gt_ptx_pool_give(memory, child->buffer);
		gt_ptx_child_free(child);
	}
	gt_ptx_launched_clear(memory, &rest);
	return result;
}
