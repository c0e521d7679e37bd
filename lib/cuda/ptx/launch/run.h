/* SPDX-License-Identifier: MIT */
/* Runs launches; computes the registers and the shared memory of kernels. */
#ifndef GT_PTX_LAUNCH_RUN_H
#define GT_PTX_LAUNCH_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/machine.h"
#include "stream/recorded.h"

/* Checks a launch, and makes what it needs if there is none yet: its kernel's program, the device's heap,
 * the pool of launches. */
int gt_ptx_prepare(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error);

/* Prepares a launch, and executes it (gt_ptx_execute). */
int gt_ptx_run(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran,
	       struct gt_error *error);

/* Fills the clusters of a launch that does not say any with those of its kernel, and checks them. */
int gt_ptx_launch_cluster(struct gt_ptx_launch *launch, struct gt_error *error);

/* Bytes of shared memory of the kernel's variables. Returns 0, or -1. */
int gt_ptx_static_shared(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint64_t *bytes, struct gt_error *error);

/* Registers per thread: those given, or .maxnreg, or an estimate. */
int gt_ptx_registers_of(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint32_t given,
		     uint32_t *registers, bool *estimated, struct gt_error *error);

/* A line for each kernel: "NAME(TYPE, ...)", line, registers, shared bytes, the name in the file. */
int gt_ptx_list_kernels(const struct gt_ptx_module *module, const struct gt_ptx_machine *machine, uint32_t registers, FILE *to,
		struct gt_error *error);

/* Gates: kernels that change nothing and wait for what the host does, so that work behind them does not begin before. */

/* Whether a launch would wait for ever, by a kernel that changes nothing: it is run for that, untraced. Why is in the error then. */
bool gt_ptx_gate_is_closed(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error);

/* Runs a launch and all that it leads to. The launches that a kernel makes are run when it has ended, in the order in which it
 * made them, each with all that it launches itself before the next; then, in their order, its tail launches. */

/* Runs one launch, and sets its number; and takes a graph that it has launched (launch->may_launch). */
struct gt_ptx_runner {
	int (*run)(void *context, struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error);
	void *context;
	void (*launched)(uint64_t graph, uint64_t stream);
};

/* `launch` is that of the host; what is launched by kernels is as it in what they do not say themselves. Adds up what all of
 * them did. */
int gt_ptx_run_nested(struct gt_ptx_memory *memory, struct gt_ptx_launch *launch, const struct gt_ptx_runner *runner,
		      struct gt_ptx_ran *ran, struct gt_error *error);

/* ---- threads that run the blocks of a launch, in groups of blocks that follow each other. Accesses, errors and counts are those of one
 * thread, if no block reads what another one writes in the launch, and no two write different data to one place ---- */

struct gt_ptx_team;

/* `memory`: bytes of accesses that wait in memory for those of earlier blocks; more go into a file. NULL on error. */
struct gt_ptx_team *gt_ptx_team_open(unsigned jobs, uint64_t memory, struct gt_error *error);
void gt_ptx_team_close(struct gt_ptx_team *team);

/* Blocks that follow each other in a launch, and all that running them gives: rows, notes, counts, an error. */

#define GT_PTX_GROUP_BLOCKS 32 /* at most */

/* Blocks of each group of a launch but the last one, which may have fewer. Records end with a group, so it does not depend on the
 * number of threads, for each of which there are enough groups. */
uint64_t gt_ptx_group_blocks(const struct gt_ptx_launch *launch);

struct gt_ptx_group {
	uint64_t first, end; /* blocks */
	uint64_t issued[GT_PTX_GROUP_BLOCKS]; /* warp instructions of each */
	struct gt_ptx_ran ran;
	struct gt_ptx_out_of_bounds outside; /* if ran.out_of_bounds */
	int result; /* of the block that failed; its error */
	struct gt_error error;
	struct gt_recorded_rows rows; /* none, if none are traced */
	struct gt_idle_blocks idle;
	struct gt_ptx_notes notes;
	char said[GT_PTX_NOTES][GT_PTX_NOTE_TEXT]; /* their texts */
};

#endif
