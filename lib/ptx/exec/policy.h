/* SPDX-License-Identifier: MIT */
/* Cache policies: 64 bits, of which 56 to 63 give the priority in L2, with the values of NVIDIA's
 * cuda::access_property. The other bits give the fraction of the lines that it is for. */
#ifndef GT_PTX_POLICY_H
#define GT_PTX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/hint.h"

/* The policy for all lines that a modifier of createpolicy gives ("L2::evict_first"). False if it gives none. */
bool gt_ptx_policy_named(const char *modifier, uint64_t *policy);
/* The priority of a policy, or GT_PRIORITY_NONE if the value is no policy. */
enum gt_priority gt_ptx_policy_priority(uint64_t policy);

#endif
