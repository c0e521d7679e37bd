/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cuda/ptx/native/stretch_lanes.h"

struct gt_stretch_window gt_stretch_window_of(const struct gt_ptx_access *access)
{
	switch (access->space) {
	case GT_PTX_SHARED:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, shared), offsetof(struct gt_ptx_core, shared_bytes)};
	case GT_PTX_PARAM:
		return (struct gt_stretch_window){GT_R13, offsetof(struct gt_ptx_core, parameters), offsetof(struct gt_ptx_core, parameter_bytes)};
	default: return (struct gt_stretch_window){GT_RDX, offsetof(struct gt_ptx_access, host), 0};
	}
}
