/* SPDX-License-Identifier: MIT */
/* Deferred work, which waits for the host. All work is executed in the order of the calls, at once; but where a kernel that changes nothing
 * (ptx/launch/gate.h) waits for what the host does after its launch, the launch and all work behind it are deferred until the
 * host makes a call that needs them done (gt_cudart.finish). */
#ifndef GT_CUDART_DEFERRED_H
#define GT_CUDART_DEFERRED_H

#include "cuda/runtime/work.h"

/* Executes work, or defers it. Returns a code. */
int gt_deferred_ask(void *stream, const struct gt_work *work);

/* Executes the deferred work, as far as it does not wait. True: none is left. */
bool gt_deferred_try(void);

#endif
