/* SPDX-License-Identifier: MIT */
/* Kinds of cp.async that decode_mbarrier.c decodes. */
#ifndef GT_PTX_DECODE_BULK_H
#define GT_PTX_DECODE_BULK_H

#include "ptx/decode/decoder.h"

/* cp.async.bulk; cp.async.mbarrier.arrive */
gt_ptx_decode_one gt_ptx_decode_bulk, gt_ptx_decode_copies_arrive;

#endif
