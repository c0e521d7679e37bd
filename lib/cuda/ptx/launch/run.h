/* SPDX-License-Identifier: MIT */
/* Runs launches; computes the registers and the shared memory of kernels. */
#ifndef GT_PTX_RUN_H
#define GT_PTX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cuda/ptx/exec/machine.h"

/* Checks a launch, and makes what it needs if there is none yet: its kernel's program, the device's heap,
 * the pool of launches. */
int gt_ptx_prepare(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error);

/* Prepares a launch, and executes it (gt_ptx_execute). */
int gt_ptx_run(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran,
	       struct gt_error *error);

/* Fills the clusters of a launch that does not say any with those of its kernel, and checks them. */
int gt_ptx_launch_cluster(struct gt_ptx_launch *launch, struct gt_error *error);

/* Bytes of shared memory of the kernel's variables. */
uint64_t gt_ptx_static_shared(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel);

/* Registers per thread: those given, or .maxnreg, or an estimate. */
int gt_ptx_registers_of(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint32_t given,
		     uint32_t *registers, bool *estimated, struct gt_error *error);

/* A line for each kernel: "NAME(TYPE, ...)", line, registers, shared bytes, the name in the file. */
int gt_ptx_list_kernels(const struct gt_ptx_module *module, const struct gt_ptx_machine *machine, uint32_t registers, FILE *to,
		struct gt_error *error);

#endif
