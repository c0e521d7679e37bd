/* SPDX-License-Identifier: MIT */
/* Cache policies: 64 bits, of which 56 to 63 are the priority in L2, with the values of NVIDIA's cuda::access_property. The
 * other bits are the fraction of the lines to which it applies. */
#ifndef GT_PTX_POLICY_H
#define GT_PTX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/hint.h"

/* The policy of a modifier of createpolicy ("L2::evict_first"), for all lines. False if it is not one. */
bool gt_ptx_policy_named(const char *modifier, uint64_t *policy);
/* The priority of a policy, or GT_PRIORITY_NONE if the value is not a policy. */
enum gt_priority gt_ptx_policy_priority(uint64_t policy);

#endif
