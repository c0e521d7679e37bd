/* SPDX-License-Identifier: MIT */
/* Launches that are the same as an earlier one: the same kernel with the same arguments, on memory with the same contents. A program
 * that measures a kernel launches it many times so. Such a launch is not executed: what the earlier one changed is copied, and its
 * records are written again. */
#ifndef GT_PTX_RECORD_AGAIN_H
#define GT_PTX_RECORD_AGAIN_H

#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"
#include "stream/stream.h"

struct gt_ptx_again;

/* `memory`: bytes of what is kept of launches that stay in memory; more go into a temporary file. NULL on error. */
struct gt_ptx_again *gt_ptx_again_open(uint64_t memory, struct gt_error *error);
void gt_ptx_again_close(struct gt_ptx_again *again);

/* Before a launch. 1: it is the same as an earlier one, and all that it does is done, with *ran. 0: it is to be executed, and then
 * given to gt_ptx_again_keep. -1 on error. `writer` gets its records; NULL: it is not traced. */
int gt_ptx_again_take(struct gt_ptx_again *again, struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
		      const struct gt_ptx_launch *launch, struct gt_writer *writer, struct gt_ptx_ran *ran, struct gt_error *error);

/* After it has been executed, and its records are written. NULL: it failed, or cannot be repeated. Returns 0, or -1 when its last
 * records cannot be written. */
int gt_ptx_again_keep(struct gt_ptx_again *again, struct gt_ptx_machine *machine, const struct gt_ptx_ran *ran, struct gt_error *error);

#endif
