/* SPDX-License-Identifier: MIT */
/* Gates: kernels that change nothing and wait for what the host does, so that work behind them does not begin before. */
#ifndef GT_PTX_GATE_H
#define GT_PTX_GATE_H

#include "cuda/ptx/exec/machine.h"

/* Whether a launch would wait for ever, by a kernel that changes nothing: it is run for that, untraced. Why is in the error then. */
bool gt_ptx_gate_is_closed(struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, struct gt_error *error);

#endif
