/* SPDX-License-Identifier: MIT */
/* Runs launches, with all that they lead to, by one thread or by a team of them: groups of blocks, the workers that run one at a time, and
 * the team that passes them on in order. Computes the registers and the shared memory of kernels. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/estimate/estimate.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/launch/run.h"

/* ---- the blocks of a launch in threads ---- */

#define GROUPS 128 /* at least, if there are as many blocks: 16 for each of 8 threads, so that none waits long for the last */

uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch)
{
	uint64_t blocks = gt_ptx_blocks(launch) / GROUPS;

	return blocks < 1 ? 1 : blocks > GT_PTX_GROUP_BLOCKS ? GT_PTX_GROUP_BLOCKS : blocks;
}

/* The notes that a group takes; gt_ptx_note_ignored has counted this one. */
static void keep_note(void *context, const char *text)
{
	struct gt_ptx_group *group = context;

	snprintf(group->said[group->notes.n - 1], sizeof group->said[0], "%s", text);
}

static void pass_notes(struct gt_ptx_group *group, struct gt_ptx_notes *to)
{
	for (size_t i = 0; to && i < group->notes.n; i++)
		gt_ptx_note_text(to, group->notes.said[i], group->said[i]);
	group->notes.n = 0;
}

/* Passes on its notes, its blocks without accesses and its rows. Returns 0, or -1. */
static int group_pass(struct gt_ptx_group *group, struct gt_ptx_notes *notes, uint64_t kernel, struct gt_writer *to, struct gt_error *error)
{
	pass_notes(group, notes);
	if (gt_idle_blocks_pass(&group->idle, UINT64_MAX, UINT64_MAX, kernel, to, error) != 0)
		return -1;
	return gt_recorded_rows_pass(&group->rows, to, error);
}

/* `memory`: bytes of rows that wait in memory for those of earlier groups. Returns 0, or -1; it is closed in either case. */
static int group_open(struct gt_ptx_group *group, uint64_t memory, struct gt_error *error)
{
	*group = (struct gt_ptx_group){.notes = {.say = keep_note, .context = group}};
	return gt_recorded_rows_open(&group->rows, NULL, memory, error);
}

static void group_close(struct gt_ptx_group *group)
{
	gt_recorded_rows_close(&group->rows);
	free(group->outside.counts);
	gt_idle_blocks_clear(&group->idle);
}

/* Forgets them. */
static void group_drop(struct gt_ptx_group *group)
{
	group->notes.n = group->idle.n = 0;
	gt_recorded_rows_drop(&group->rows);
}

/* ---- workers ---- */

/* What a thread runs blocks with: a copy of the program, a block's registers and shared memory, the order of its accesses. One group
 * of blocks is run with it at a time. */

struct gt_ptx_worker {
	struct gt_ptx_blockorder *order;
	/* Of a launch: */
	struct gt_ptx_launch launch; /* the accesses go to `order`, and from there to the group */
	struct gt_ptx_machine machine; /* with the group's notes */
	struct gt_ptx_program *program;
	struct gt_ptx_core *core; /* NULL: no block has been run */
	struct gt_ptx_ran ran;	  /* of the group */
	struct gt_error error;
};

#define PATIENCE (UINT64_C(1) << 22) /* warp instructions that a block may wait for those that other threads run */

/* A block that waits for another has no end here: that one may not have begun. */
static int fail_waiting(const struct gt_ptx_core *core)
{
	return gt_fail(core->error, "kernel %.128s: block (%u,%u,%u) waits for another block; --jobs 1 runs such kernels",
		       core->launch->kernel->name, core->ctaid[0], core->ctaid[1], core->ctaid[2]);
}

static int run_block(struct gt_ptx_core *core, uint64_t block, uint64_t *left)
{
	uint64_t waited = 0;

	core->hold = core->launch->hold;
	if (gt_ptx_block_begin(core, block) != 0)
		return -1;
	while (core->running > 0) {
		const uint64_t before = *left;
		if (gt_ptx_block_round(core, left) != 0)
			return -1;
		if (waited > 0 || core->repeats)
			waited = gt_ptx_block_waits(core) ? waited + (before - *left) + 1 : 0;
		if (waited > PATIENCE)
			return fail_waiting(core);
	}
	return 0;
}

static int open_core(struct gt_ptx_worker *worker)
{
	const struct gt_ptx_core like = {
		.machine = &worker->machine,
		.launch = &worker->launch,
		.program = worker->program,
		.memory = worker->machine.memory,
		.sink = worker->launch.sink,
		.error = &worker->error,
		.ran = &worker->ran,
		.launches = worker->machine.launches,
	};

	if (!worker->core)
		worker->core = gt_ptx_core_open(&like);
	return worker->core ? 0 : -1;
}

static void close_core(struct gt_ptx_worker *worker)
{
	gt_ptx_core_close(worker->core);
	worker->core = NULL;
}

static int run_blocks(struct gt_ptx_worker *worker, struct gt_ptx_group *group)
{
	const uint64_t most = worker->launch.max_instructions ? worker->launch.max_instructions : UINT64_MAX;

	if (open_core(worker) != 0)
		return -1;
	for (uint64_t block = group->first; block < group->end; block++) {
		uint64_t left = most;
		group->issued[block - group->first] = 0;
		if (!gt_ptx_is_executed(&worker->launch, block))
			continue;
		if (run_block(worker->core, block, &left) != 0)
			return -1;
		group->issued[block - group->first] = most - left;
		gt_ptx_block_count(worker->core, &worker->ran);
	}
	return 0;
}

/* The group's rows are complete. */
static int end_rows(struct gt_ptx_worker *worker, struct gt_ptx_group *group, struct gt_error *error)
{
	return gt_ptx_blockorder_finish(worker->order, error) != 0 ? -1 : gt_recorded_rows_end(&group->rows, error);
}

/* Runs the blocks of a group up to the first that fails, and sets all that it holds of them. */
static void worker_run(struct gt_ptx_worker *worker, struct gt_ptx_group *group)
{
	struct gt_error second;

	worker->machine.notes = &group->notes;
	worker->ran = (struct gt_ptx_ran){0};
	worker->launch.idle = worker->launch.notes_work ? &group->idle : NULL;
	gt_ptx_blockorder_to(worker->order, &group->rows.sink);
	group->result = run_blocks(worker, group);
	group->error = worker->error;
	if (group->result != 0)
		close_core(worker); /* no other block can begin where one was left */
	/* Those before a fault, too. */
	struct gt_error *error = group->result == 0 ? &group->error : &second;
	if (worker->launch.sink && end_rows(worker, group, error) != 0)
		group->result = -1;
	if (worker->ran.out_of_bounds && gt_ptx_out_of_bounds_take(&group->outside, worker->program, worker->machine.module->n_functions, error) != 0)
		group->result = -1;
	group->ran = worker->ran;
}

/* `memory`: bytes of accesses that wait in memory for others of their block. Returns 0, or -1; it is closed in either case. */
static int worker_open(struct gt_ptx_worker *worker, uint64_t memory, struct gt_error *error)
{
	*worker = (struct gt_ptx_worker){.order = gt_ptx_blockorder_open(NULL, memory, error)};
	return worker->order ? 0 : -1;
}

static void worker_close(struct gt_ptx_worker *worker)
{
	gt_ptx_blockorder_close(worker->order);
}

/* Prepares it for a launch; afterwards worker_end. `program`: a copy that no other thread uses. */
static void worker_begin(struct gt_ptx_worker *worker, const struct gt_ptx_machine *machine, struct gt_ptx_program *program,
			 const struct gt_ptx_launch *launch)
{
	worker->machine = *machine;
	worker->machine.spare = NULL;
	worker->program = program;
	worker->launch = *launch;
	worker->launch.team = NULL;
	worker->launch.told = NULL; /* it is told of groups, in order */
	if (!launch->sink)
		return;
	worker->launch.sink = gt_ptx_blockorder_sink(worker->order);
	worker->launch.hold = gt_ptx_blockorder_hold(worker->order);
	worker->launch.ended = &worker->launch.hold->ended;
}

static void worker_end(struct gt_ptx_worker *worker)
{
	close_core(worker);
}

/* Two steps: groups run in any order, and are passed on in that of their blocks. */
enum { RUN, PASS, STEPS };

struct gt_ptx_team {
	unsigned jobs;
	struct gt_ptx_worker *workers; /* one for each thread */
	size_t workers_n;
	pthread_mutex_t lock; /* of those that are idle; the last one was used last */
	struct gt_ptx_worker **idle;
	size_t idle_n;
	struct gt_ptx_group *groups;
	size_t n;
	struct gt_pipeline *pipeline; /* NULL: there is none yet, or it has failed */
	/* Of the launch under way: */
	const struct gt_ptx_launch *launch;
	const struct gt_ptx_program *program;
	const struct gt_ptx_machine *machine;
	struct gt_ptx_ran *ran;
	uint64_t left; /* warp instructions */
};

static struct gt_ptx_worker *take_worker(struct gt_ptx_team *team)
{
	pthread_mutex_lock(&team->lock);
	struct gt_ptx_worker *worker = team->idle[--team->idle_n];
	pthread_mutex_unlock(&team->lock);
	return worker;
}

static void give_worker(struct gt_ptx_team *team, struct gt_ptx_worker *worker)
{
	pthread_mutex_lock(&team->lock);
	team->idle[team->idle_n++] = worker;
	pthread_mutex_unlock(&team->lock);
}

static int run_group(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct gt_ptx_team *team = context;
	struct gt_ptx_worker *worker = take_worker(team);

	(void)lane, (void)error;
	worker_run(worker, item);
	give_worker(team, worker);
	return 0; /* what it has is passed on first */
}

/* The limit of instructions is that of the launch: fails as one thread does, at the same block. */
static int take_issued(struct gt_ptx_team *team, const struct gt_ptx_group *group, struct gt_error *error)
{
	const struct gt_ptx_launch *launch = team->launch;
	uint32_t ctaid[3];

	for (uint64_t block = group->first; block < group->end; block++) {
		uint64_t issued = group->issued[block - group->first];
		if (issued > team->left) {
			team->ran->fault = true;
			gt_ptx_block_place(launch, block, ctaid);
			return gt_ptx_fail_unending(launch, ctaid, error);
		}
		team->left -= issued;
	}
	return 0;
}

static int pass_group(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct gt_ptx_team *team = context;
	struct gt_ptx_group *group = item;

	(void)lane;
	if (group_pass(group, team->machine->notes, team->launch->id, team->launch->writer, error) != 0)
		return -1;
	team->ran->warp_instructions += group->ran.warp_instructions;
	team->ran->accesses += group->ran.accesses;
	if (team->launch->told)
		team->launch->told->ended(team->launch->told->context, group->end - group->first, group->ran.accesses);
	team->ran->clock = group->ran.clock ? group->ran.clock : team->ran->clock;
	team->ran->fault |= group->ran.fault;
	team->ran->assertion_failed |= group->ran.assertion_failed;
	if (group->ran.out_of_bounds)
		gt_ptx_out_of_bounds_add(&group->outside, team->program, team->machine->module->n_functions);
	if (group->result != 0) {
		*error = group->error;
		return -1;
	}
	return take_issued(team, group, error);
}

static int open_pipeline(struct gt_ptx_team *team, struct gt_error *error)
{
	const struct gt_step steps[STEPS] = {[RUN] = {run_group, 0}, [PASS] = {pass_group, 1}};

	if (!team->pipeline)
		team->pipeline = gt_pipeline_open(team->jobs, steps, STEPS, team,
						  (struct gt_pipeline_items){team->groups, sizeof *team->groups, team->n}, error);
	return team->pipeline ? 0 : -1;
}

static int open_parts(struct gt_ptx_team *team, uint64_t memory, struct gt_error *error)
{
	const size_t groups = 2 * (size_t)team->jobs + 1; /* one to fill, and two a thread: groups take different times */

	team->workers = calloc(team->jobs, sizeof *team->workers);
	team->idle = calloc(team->jobs, sizeof *team->idle);
	team->groups = calloc(groups, sizeof *team->groups);
	if (!team->workers || !team->idle || !team->groups)
		return gt_fail_memory(error, "threads");
	while (team->workers_n < team->jobs)
		if (worker_open(&team->workers[team->workers_n++], memory / 2 / team->jobs, error) != 0)
			return -1;
	while (team->n < groups)
		if (group_open(&team->groups[team->n++], memory / 2 / groups, error) != 0)
			return -1;
	return 0;
}

struct gt_ptx_team *gt_ptx_team_open(unsigned jobs, uint64_t memory, struct gt_error *error)
{
	struct gt_ptx_team *team = calloc(1, sizeof *team);

	if (!team) {
		gt_fail_memory(error, "threads");
		return NULL;
	}
	team->jobs = jobs;
	pthread_mutex_init(&team->lock, NULL);
	if (open_parts(team, memory, error) == 0)
		return team;
	gt_ptx_team_close(team);
	return NULL;
}

void gt_ptx_team_close(struct gt_ptx_team *team)
{
	if (!team)
		return;
	gt_pipeline_close(team->pipeline);
	for (size_t i = 0; i < team->n; i++)
		group_close(&team->groups[i]);
	for (size_t i = 0; i < team->workers_n; i++)
		worker_close(&team->workers[i]);
	pthread_mutex_destroy(&team->lock);
	free(team->groups);
	free(team->workers);
	free(team->idle);
	free(team);
}

/* Whether a team may run a launch: it has several blocks, which neither run in clusters nor have instructions that join them
 * (decode/program.c), accesses that are put in order, and no memory check. */
static bool may_run_in_team(const struct gt_ptx_program *program, const struct gt_ptx_launch *launch)
{
	return gt_ptx_blocks(launch) > 1 && gt_ptx_cluster_size(launch) == 1 && !program->joins_blocks &&
	       launch->check != GT_PTX_MEMCHECK && (!launch->sink || launch->writer);
}

/* Gives every worker its own copy of the program. */
static int begin(struct gt_ptx_team *team, struct gt_ptx_machine *machine, struct gt_ptx_program *program, struct gt_error *error)
{
	for (team->idle_n = 0; team->idle_n < team->workers_n; team->idle_n++) {
		struct gt_ptx_worker *worker = &team->workers[team->idle_n];
		struct gt_ptx_program *copy = gt_ptx_program_copy(machine, program, team->idle_n, error);
		if (!copy)
			return -1;
		gt_ptx_forget_allocations(copy, machine->module->n_functions);
		worker_begin(worker, machine, copy, team->launch);
		team->idle[team->idle_n] = worker;
	}
	return open_pipeline(team, error);
}

static int run(struct gt_ptx_team *team, struct gt_error *error)
{
	const uint64_t blocks = gt_ptx_executed_end(team->launch), most = gt_ptx_group_blocks(team->launch);

	for (uint64_t block = 0; block < blocks; block += most) {
		struct gt_ptx_group *group = gt_pipeline_next(team->pipeline, error);
		if (!group)
			return -1;
		group->first = block;
		group->end = block + most < blocks ? block + most : blocks;
		gt_pipeline_put(team->pipeline, group);
	}
	return gt_pipeline_drain(team->pipeline, error);
}

/* Executes a launch as gt_ptx_execute does, by launch->team. */
static int run_in_team(struct gt_ptx_machine *machine, struct gt_ptx_program *program, const struct gt_ptx_launch *launch,
		    struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_team *team = launch->team;

	machine->launches++;
	team->launch = launch;
	team->program = program;
	team->machine = machine;
	team->ran = ran;
	team->left = launch->max_instructions ? launch->max_instructions : UINT64_MAX;
	int result = begin(team, machine, program, error);
	if (result == 0)
		result = run(team, error);
	if (result != 0) {
		gt_pipeline_close(team->pipeline);
		team->pipeline = NULL;
	}
	for (size_t i = 0; i < team->workers_n; i++)
		worker_end(&team->workers[i]);
	for (size_t i = 0; i < team->n; i++)
		group_drop(&team->groups[i]);
	gt_ptx_report_out_of_bounds(machine, program, launch->check);
	return result;
}

/* ---- launches ---- */

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
	int result = launch->team && may_run_in_team(program, &clustered)
			     ? run_in_team(machine, program, &clustered, ran, error)
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

int gt_ptx_static_shared(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint64_t *bytes, struct gt_error *error)
{
	struct gt_ptx_figures *figures = figures_of(machine, kernel);

	if (!figures->knows_shared) {
		struct gt_ptx_program *program = gt_ptx_program_make(machine, kernel, false, error);
		if (!program)
			return -1;
		figures->static_shared = program->static_shared;
		figures->knows_shared = true;
		gt_ptx_program_free(program, machine->module->n_functions);
	}
	*bytes = figures->static_shared;
	return 0;
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
	char name[GT_KERNEL_NAME];

	fprintf(to, "%s(", gt_ptx_shown_name(module, kernel, name));
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
	uint64_t shared;
	bool estimated;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *kernel = &module->functions[i];
		if (!kernel->entry || kernel->declaration)
			continue;
		if (gt_ptx_registers_of(machine, kernel, given, &registers, &estimated, error) != 0 ||
		    gt_ptx_static_shared(machine, kernel, &shared, error) != 0)
			return -1;
		write_kernel(module, kernel, to);
		fprintf(to, "\tregisters=%" PRIu32 "%s\tshared_bytes=%" PRIu64 "\tname=%s\n", registers,
			estimated ? " (estimated)" : "", shared, kernel->name);
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
	for (const struct gt_ptx_graph_launch *graph = launched.graphs; graph && result == 0; graph = graph->next)
		runner->launched(graph->graph, graph->stream);
	launched.children = launched.tails = (struct gt_ptx_children){0};
	gt_ptx_launched_clear(memory, &launched);
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
