/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/launch/gate.h"

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/launch/run.h"

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
