/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/team.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/pipeline.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/cluster.h"
#include "cuda/ptx/exec/stray.h"
#include "cuda/ptx/launch/worker.h"

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
	gt_ptx_worker_run(worker, item);
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
	if (gt_ptx_group_pass(group, team->machine->notes, team->launch->writer, error) != 0)
		return -1;
	team->ran->warp_instructions += group->ran.warp_instructions;
	team->ran->accesses += group->ran.accesses;
	team->ran->clock = group->ran.clock ? group->ran.clock : team->ran->clock;
	team->ran->fault |= group->ran.fault;
	team->ran->assertion_failed |= group->ran.assertion_failed;
	if (group->ran.strayed)
		gt_ptx_strays_add(&group->strays, team->program, team->machine->module->n_functions);
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
		if (gt_ptx_worker_open(&team->workers[team->workers_n++], memory / 2 / team->jobs, error) != 0)
			return -1;
	while (team->n < groups)
		if (gt_ptx_group_open(&team->groups[team->n++], memory / 2 / groups, error) != 0)
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
		gt_ptx_group_close(&team->groups[i]);
	for (size_t i = 0; i < team->workers_n; i++)
		gt_ptx_worker_close(&team->workers[i]);
	pthread_mutex_destroy(&team->lock);
	free(team->groups);
	free(team->workers);
	free(team->idle);
	free(team);
}

bool gt_ptx_team_may_run(const struct gt_ptx_program *program, const struct gt_ptx_launch *launch)
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
		gt_ptx_worker_begin(worker, machine, copy, team->launch);
		team->idle[team->idle_n] = worker;
	}
	return open_pipeline(team, error);
}

static int run(struct gt_ptx_team *team, struct gt_error *error)
{
	const uint64_t blocks = gt_ptx_blocks(team->launch), most = gt_ptx_group_blocks(team->launch);

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

int gt_ptx_team_run(struct gt_ptx_machine *machine, struct gt_ptx_program *program, const struct gt_ptx_launch *launch,
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
		gt_ptx_worker_end(&team->workers[i]);
	for (size_t i = 0; i < team->n; i++)
		gt_ptx_group_drop(&team->groups[i]);
	gt_ptx_strays_tell(machine, program, launch->check);
	return result;
}
