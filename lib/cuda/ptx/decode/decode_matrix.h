/* SPDX-License-Identifier: MIT */
/* What is known of matrices by their instructions, which the static analysis asks too. */
#ifndef GT_PTX_DECODE_DECODE_MATRIX_H
#define GT_PTX_DECODE_DECODE_MATRIX_H

#include "cuda/ptx/decode/decode.h"
#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/matrix.h"

/* Lays out the fragment of wmma.load or wmma.store, of n registers, by its modifiers. False if there is no such one. */
bool gt_ptx_lay_out_tile(const struct gt_ptx_instruction *instruction, struct gt_ptx_tile *tile, bool stores, size_t n);
/* Elements between the lines of a matrix without gaps. */
unsigned gt_ptx_tile_stride(const struct gt_ptx_tile *tile);

#endif
