/* SPDX-License-Identifier: MIT */
/* Which accesses a stretch may have. */
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/stretch.h"

/* Memory of the block or the launch, or global memory, whose addresses have 64 bits. */
static bool is_near(const struct gt_ptx_access *access)
{
	switch (access->space) {
	case GT_PTX_SHARED: return true;
	case GT_PTX_PARAM: return access->action == GT_LOAD;
	case GT_PTX_GLOBAL:
	case GT_PTX_GENERIC:
	case GT_PTX_CONST: return !access->narrow;
	default: return false;
	}
}

bool gt_stretch_moves(const struct gt_ptx_op *op, bool *fast)
{
	const struct gt_ptx_access *access = op->with.access;
	bool loads;

	if (op->guarded || !gt_ptx_is_moved(op, &loads))
		return false;
	*fast = access->size >= 4 && (loads ? access->n <= 4 : access->n == 1) && !access->in_frame && !access->policy &&
		access->offset == (int32_t)access->offset &&
		is_near(access);
	for (unsigned k = 0; k < access->n; k++)
		*fast = *fast && access->slots[k];
	return true;
}
