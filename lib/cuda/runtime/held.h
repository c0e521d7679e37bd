/* SPDX-License-Identifier: MIT */
/* Work that waits for the host. All work is executed in the order of the calls, at once; but where a kernel that changes nothing
 * (ptx/launch/gate.h) waits for what the host does after its launch, the launch and all work behind it are held until the
 * host makes a call that needs them done (gt_cudart.finish). */
#ifndef GT_CUDART_HELD_H
#define GT_CUDART_HELD_H

#include "cuda/runtime/work.h"

/* Executes work, or holds it. Returns a code. */
int gt_held_ask(void *stream, const struct gt_work *work);

/* Executes what is held, as far as it does not wait. True: nothing is left. */
bool gt_held_try(void);

#endif
