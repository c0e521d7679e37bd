/* SPDX-License-Identifier: MIT */
/* What the decoders of instructions on matrices share. */
#ifndef GT_PTX_DECODE_MATRIX_H
#define GT_PTX_DECODE_MATRIX_H

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/fragment.h"
#include "cuda/ptx/exec/matrix.h"

/* ---- matrix.c ---- */

/* Reads ".m16n8k16"; false if the word is no shape. */
bool gt_ptx_read_shape(const char *word, struct gt_ptx_shape *shape);

/* mma, wmma.mma, mma.sp */
enum gt_ptx_product_kind { GT_PTX_MMA, GT_PTX_WMMA, GT_PTX_SPARSE, GT_PTX_PRODUCTS };
/* Whether there is a product of that shape and those elements: D, A, B, C. */
bool gt_ptx_is_product(struct gt_ptx_shape shape, enum gt_ptx_product_kind kind, const enum gt_ptx_element elements[4]);
/* Whether wmma has matrices of that shape, role and element. */
bool gt_ptx_is_wmma(struct gt_ptx_shape shape, enum gt_ptx_role role, enum gt_ptx_element element);

/* The elements of a vector, or the one operand. */
const struct gt_ptx_operand *gt_ptx_elements(const struct gt_ptx_operand *operand, size_t *n);

/* Fills slots with those of `n` operands. results: room for as many, which the caller finishes; NULL: sources.
 * Returns 0, or -1. */
int gt_ptx_read_registers(struct gt_ptx_decoder *decoder, uint32_t *slots, const struct gt_ptx_operand *operands,
			  size_t n, enum gt_ptx_type type, struct gt_ptx_result *results);
/* The same for a fragment that is laid out. Returns 1 if there are more or fewer registers than it has, and the
 * instruction has been refused. */
int gt_ptx_read_fragment(struct gt_ptx_decoder *decoder, struct gt_ptx_fragment *fragment,
			 const struct gt_ptx_operand *operand, struct gt_ptx_result *results);
int gt_ptx_finish_fragment(struct gt_ptx_decoder *decoder, const struct gt_ptx_fragment *fragment,
			   const struct gt_ptx_result *results);

/* ---- decode_wmma.c ---- */

/* Lays out the fragment of wmma.load or wmma.store, of n registers, by its modifiers. False if there is no such one. */
bool gt_ptx_lay_out_tile(const struct gt_ptx_instruction *instruction, struct gt_ptx_tile *tile, bool stores, size_t n);
/* Elements between the lines of a matrix without gaps. */
unsigned gt_ptx_tile_stride(const struct gt_ptx_tile *tile);

/* ---- decode_product.c ---- */

/* wmma.mma */
int gt_ptx_decode_wmma_product(struct gt_ptx_decoder *decoder);

#endif
