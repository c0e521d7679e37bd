/* SPDX-License-Identifier: MIT */
/* A launch: its blocks one after the other in the order of their numbers, and the warps of a block
 * in turns of a few instructions, so that kernels that race see each other's writes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/decode/code.h"
#include "stream/kernel.h"

static void thread_of(const struct gt_ptx_warp *warp, unsigned lane, uint32_t thread[3])
{
	for (unsigned k = 0; k < 3; k++)
		thread[k] = warp->tid[k][lane];
}

const struct gt_ptx_op *gt_ptx_fault(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane,
				     const char *format, ...)
{
	struct gt_ptx_core *core = warp->core;
	const uint32_t *block = core->ctaid;
	uint32_t thread[3];
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	thread_of(warp, lane, thread);
	core->failed = true;
	gt_fail(core->error, "kernel %.128s, PTX line %u: block (%u,%u,%u) thread (%u,%u,%u): %s",
		core->launch->kernel->name, op ? op->line : core->launch->kernel->line, block[0], block[1],
		block[2], thread[0], thread[1], thread[2], text);
	return NULL;
}

/* One turn of a warp. */
static void take_turn(struct gt_ptx_warp *warp)
{
	const struct gt_ptx_op *op = warp->at;
	uint64_t until = warp->issued + GT_PTX_TURN;

	while (op && warp->issued < until) {
		uint32_t mask = warp->mask;
		warp->issued += op->counts;
		if (op->guarded) {
			uint32_t holds = gt_ptx_predicate(warp, op->guard);
			mask &= op->guarded == 1 ? holds : ~holds;
			if (!mask) {
				op++;
				continue;
			}
		}
		op = op->run(warp, op, mask);
	}
	if (op)
		warp->at = op;
}

static void fill_threads(struct gt_ptx_warp *warp, const uint32_t block[3])
{
	uint32_t first = warp->index * GT_WARP_SIZE, n = block[0] * block[1] * block[2];

	warp->live = 0;
	for (uint32_t lane = 0; lane < GT_WARP_SIZE; lane++) {
		uint32_t thread = first + lane;
		warp->live |= (uint32_t)(thread < n) << lane;
		warp->tid[0][lane] = thread % block[0];
		warp->tid[1][lane] = thread / block[0] % block[1];
		warp->tid[2][lane] = thread / block[0] / block[1];
	}
}

static int begin_warp(struct gt_ptx_core *core, uint32_t index)
{
	struct gt_ptx_warp *warp = &core->warps[index];
	size_t kernel = (size_t)(core->launch->kernel - core->machine->module->functions);

	warp->core = core;
	warp->index = index;
	fill_threads(warp, core->launch->block);
	warp->n_frames = warp->n_paths = 0;
	warp->carry = 0;
	warp->issued = 0;
	warp->an = 0;
	warp->state = GT_PTX_RUNS;
	if (warp->local)
		memset(warp->local, 0, GT_WARP_SIZE * warp->local_stride);
	warp->at = gt_ptx_enter(warp, core->program->codes[kernel], NULL, warp->live);
	return warp->at ? 0 : -1;
}

/* Every warp that is left waits, and nothing will release them. */
static int fail_deadlock(struct gt_ptx_core *core)
{
	char text[256] = "";
	size_t length = 0;

	for (uint32_t w = 0; w < core->n_warps; w++) {
		const struct gt_ptx_warp *warp = &core->warps[w];
		if (warp->state == GT_PTX_WAITS && length < sizeof text - 64)
			length += (size_t)snprintf(text + length, sizeof text - length,
						   "%swarp %u at barrier %u (line %u)", length ? ", " : "", w,
						   warp->barrier, (warp->at - 1)->line);
	}
	return gt_fail(core->error, "kernel %.128s: block (%u,%u,%u) waits for ever: %s",
		       core->launch->kernel->name, core->ctaid[0], core->ctaid[1], core->ctaid[2], text);
}

/* Runs the block's warps in turns until all are done. */
static int run_warps(struct gt_ptx_core *core, uint64_t *left)
{
	uint32_t running = core->n_warps;

	while (running > 0) {
		bool moved = false;
		uint64_t issued = 0;
		for (uint32_t w = 0; w < core->n_warps; w++) {
			struct gt_ptx_warp *warp = &core->warps[w];
			if (warp->state != GT_PTX_RUNS)
				continue;
			uint64_t before = warp->issued;
			take_turn(warp);
			if (core->failed)
				return -1;
			issued += warp->issued - before;
			moved = true;
			if (warp->state != GT_PTX_DONE)
				continue;
			running--;
			for (unsigned b = 0; b < GT_PTX_BARRIERS; b++)
				gt_ptx_release(core, b);
		}
		if (!moved && running > 0)
			return fail_deadlock(core);
		if (issued > *left)
			return gt_fail(core->error,
				       "kernel %.128s: more than %" PRIu64
				       " warp instructions in block (%u,%u,%u)",
				       core->launch->kernel->name, core->launch->max_instructions,
				       core->ctaid[0], core->ctaid[1], core->ctaid[2]);
		*left -= issued;
	}
	return 0;
}

static int run_block(struct gt_ptx_core *core, uint64_t block, uint64_t *left, struct gt_ptx_ran *ran)
{
	const struct gt_ptx_launch *launch = core->launch;
	bool traced = launch->sink && block >= launch->first_block &&
		      block - launch->first_block < launch->traced_blocks;

	if (!traced && launch->skip_untraced)
		return 0;
	core->traced = traced ? launch->traced_spaces : 0;
	core->block = block;
	core->ctaid[0] = (uint32_t)(block % launch->grid[0]);
	core->ctaid[1] = (uint32_t)(block / launch->grid[0] % launch->grid[1]);
	core->ctaid[2] = (uint32_t)(block / launch->grid[0] / launch->grid[1]);
	if (core->shared_bytes > 0)
		memset(core->shared, 0, core->shared_bytes);
	memset(core->barriers, 0, sizeof core->barriers);
	for (unsigned b = 0; b < GT_PTX_BARRIERS; b++)
		core->barriers[b].all = GT_PTX_FULL;
	for (uint32_t w = 0; w < core->n_warps; w++)
		if (begin_warp(core, w) != 0)
			return -1;
	int result = run_warps(core, left);
	for (uint32_t w = 0; w < core->n_warps; w++)
		ran->warp_instructions += core->warps[w].issued;
	ran->accesses = core->accesses;
	return result;
}

/* Forgets the allocations that accesses fell into: they may have been freed since. */
static void forget_allocations(const struct gt_ptx_program *program, size_t n_functions)
{
	for (size_t f = 0; f < n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			program->codes[f]->accesses[i]->low = 1;
			program->codes[f]->accesses[i]->high = 0;
		}
}

static struct gt_ptx_program *program_of(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel,
					 struct gt_error *error)
{
	struct gt_ptx_program *program = machine->programs;

	while (program && program->kernel != kernel)
		program = program->next;
	if (!program && (program = gt_ptx_program_make(machine, kernel, true, error))) {
		program->next = machine->programs;
		machine->programs = program;
	}
	return program;
}

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

/* Memory of the launch: shared memory, parameters, warps. */
static int open_core(struct gt_ptx_core *core, struct gt_error *error)
{
	const struct gt_ptx_launch *launch = core->launch;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];

	core->n_warps = (uint32_t)((threads + GT_WARP_SIZE - 1) / GT_WARP_SIZE);
	core->shared_bytes = launch->dynamic_shared ? core->program->dynamic_offset + launch->dynamic_shared
						    : core->program->static_shared;
	core->parameter_bytes = gt_ptx_parameter_bytes(launch->kernel);
	core->local_words = core->program->local_bytes / 4 + 1;
	core->warps = calloc(core->n_warps, sizeof *core->warps);
	core->shared = core->shared_bytes <= GT_PTX_SHARED_MAX ? calloc(1, core->shared_bytes + 1) : NULL;
	core->parameters = calloc(1, core->parameter_bytes + 1);
	if (core->shared_bytes > GT_PTX_SHARED_MAX)
		return gt_fail(error,
			       "kernel %.128s: %" PRIu64 " bytes of shared memory; a block has %u at most",
			       launch->kernel->name, core->shared_bytes, GT_PTX_SHARED_MAX);
	if (!core->warps || !core->shared || !core->parameters)
		return gt_fail_memory(error, "the warps of a block");
	if (core->parameter_bytes > 0)
		memcpy(core->parameters, launch->parameters, core->parameter_bytes);
	return 0;
}

static void close_core(struct gt_ptx_core *core)
{
	for (uint32_t w = 0; core->warps && w < core->n_warps; w++) {
		free(core->warps[w].paths);
		free(core->warps[w].frames);
		free(core->warps[w].arenas);
		free(core->warps[w].local);
	}
	free(core->warps);
	free(core->shared);
	free(core->parameters);
}

int gt_ptx_run(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran,
	       struct gt_error *error)
{
	struct gt_ptx_core core = {
		.machine = machine,
		.launch = launch,
		.memory = machine->memory,
		.sink = launch->sink,
		.error = error,
		.launches = ++machine->launches,
	};
	uint64_t left = launch->max_instructions ? launch->max_instructions : UINT64_MAX;

	memset(ran, 0, sizeof *ran);
	if (check_launch(launch, error) != 0)
		return -1;
	struct gt_ptx_program *program = program_of(machine, launch->kernel, error);
	if (!program || (launch->sink && gt_sink_begin(launch->sink, GT_ACCESSES, false, error) != 0))
		return -1;
	forget_allocations(program, machine->module->n_functions);
	core.program = program;
	uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	int result = open_core(&core, error);
	for (uint64_t block = 0; result == 0 && block < blocks; block++)
		result = run_block(&core, block, &left, ran);
	close_core(&core);
	return result;
}
