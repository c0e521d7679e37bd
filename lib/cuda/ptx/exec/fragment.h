/* SPDX-License-Identifier: MIT */
/* Matrices that lie in the registers of a warp: which element a lane's register holds. The layouts are
 * those of the PTX ISA, "Matrix Fragments for mma". A fragment of wmma, whose layout the ISA leaves open,
 * has that of the mma instructions that its product consists of: blocks of 16 x 8 and their multiplicands,
 * from left to right. */
#ifndef GT_PTX_FRAGMENT_H
#define GT_PTX_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/ptx/exec/warp.h"

#define GT_PTX_FRAGMENT_REGISTERS 8

/* Elements of matrices. Those of one bit are held as words of 32. */
enum gt_ptx_element {
	GT_PTX_NO_ELEMENT,
	GT_PTX_ELEMENT_F16,
	GT_PTX_ELEMENT_BF16,
	GT_PTX_ELEMENT_E4M3,
	GT_PTX_ELEMENT_E5M2,
	GT_PTX_ELEMENT_TF32,
	GT_PTX_ELEMENT_F32,
	GT_PTX_ELEMENT_F64,
	GT_PTX_ELEMENT_S8,
	GT_PTX_ELEMENT_U8,
	GT_PTX_ELEMENT_S4,
	GT_PTX_ELEMENT_U4,
	GT_PTX_ELEMENT_S32,
	GT_PTX_ELEMENT_B1,
	GT_PTX_ELEMENTS
};

/* What a matrix is in D = A B + C. C: D too. */
enum gt_ptx_role { GT_PTX_MATRIX_A, GT_PTX_MATRIX_B, GT_PTX_MATRIX_C };

struct gt_ptx_shape {
	uint16_t m, n, k;
	bool quads; /* mma.m8n8k4 of f16: four products, each of 8 lanes */
};

struct gt_ptx_fragment {
	enum gt_ptx_element element;
	uint16_t rows, columns; /* in units: an element, or 32 of one bit. Matrices of quads lie one below the other */
	uint8_t n;		/* registers a lane */
	uint8_t distinct;	/* those that hold the matrix; further ones hold the same again */
	uint8_t units;		/* of a register */
	uint16_t step;		/* from unit to unit of a register, in the matrix row by row */
	/* But for quads, the four lanes of a group hold a run of a line in each register: of a row of A or C, of a column of B. The
	 * run of the next group is in the next line. */
	bool by_columns; /* lines are columns */
	bool paired;	 /* each two registers share runs: one has the even units, the next one the odd ones */
	uint16_t line;	 /* bytes */
	struct {
		uint16_t line, at; /* of the first group's run: the line, and how many bytes in */
	} runs[GT_PTX_FRAGMENT_REGISTERS];
	uint32_t slots[GT_PTX_FRAGMENT_REGISTERS];
	/* Where in the matrix, row by row, the first unit of each lane's register lies. */
	uint16_t at[GT_PTX_FRAGMENT_REGISTERS][GT_WARP_SIZE];
};

/* Bits of an element in a register, and in memory. */
unsigned gt_ptx_element_bits(enum gt_ptx_element element);
/* "f16" and so on; GT_PTX_NO_ELEMENT if the word names none. */
enum gt_ptx_element gt_ptx_element_named(const char *word);

/* Lays out a matrix of a product: all but the slots. n: the registers that the instruction names, a multiple of
 * those that are needed: further ones hold the same again. by_columns: the layout written for A or B, which
 * only quads need. Returns false if there can be no such fragment. */
bool gt_ptx_fragment_lay_out(struct gt_ptx_fragment *fragment, enum gt_ptx_role role, struct gt_ptx_shape shape,
			     enum gt_ptx_element element, unsigned n, bool by_columns);

/* Copies registers to the matrix and back: the bits of a unit in each word. */
void gt_ptx_fragment_gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits);
void gt_ptx_fragment_scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
			     const uint64_t *bits);

#endif
