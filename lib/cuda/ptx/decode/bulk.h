/* SPDX-License-Identifier: MIT */
/* Kinds of cp that decode_bulk.c and decode_mbarrier.c decode. */
#ifndef GT_PTX_DECODE_BULK_H
#define GT_PTX_DECODE_BULK_H

#include "cuda/ptx/decode/decoder.h"

/* cp.async.bulk; cp.async.mbarrier.arrive */
gt_ptx_decode_one gt_ptx_decode_bulk, gt_ptx_decode_copies_arrive;

/* Whether an asynchronous store or reduction is one that reports to an mbarrier in shared memory. */
bool gt_ptx_is_reported(const struct gt_ptx_decoder *decoder);
/* Appends the report of so many bytes a lane to the mbarrier at the operand. */
int gt_ptx_emit_report(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t bytes);

#endif
