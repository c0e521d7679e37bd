/* SPDX-License-Identifier: MIT */
/* The stand-in for cuBLASLt: products of matrices whose operands, types and last step the program describes in descriptors. */
#ifndef GT_CUBLAS_LT_H
#define GT_CUBLAS_LT_H

#include "cuda/plugins/cublas/cublas.h"

/* cublasLtMatrixLayout_t: how a matrix lies. */
struct gt_lt_layout {
	int type;     /* of elements: enum gt_element if it is known here */
	int by_rows;  /* cublasLtOrder_t: 0 by columns, 1 by rows; others are refused */
	uint64_t rows, columns;
	int64_t leading, stride; /* stride: elements from one matrix of a batch to the next */
	int batches, batch_mode;
	int64_t plane;
};

/* cublasLtMatmulDesc_t: what is computed. */
struct gt_lt_product {
	int compute, scale, pointer_mode, operations[3], fill;
	unsigned epilogue; /* enum gt_lt_epilogue, or'd */
	void *bias, *aux;
	int64_t bias_stride, aux_leading, aux_stride;
	int bias_type, aux_type; /* -1: that of the result */
	int sm_count_target;
	signed char fast_accumulation;
};

/* cublasLtMatmulPreference_t: of how an algorithm is chosen. Nothing depends on it here. */
struct gt_lt_preference {
	uint64_t workspace, kinds;
	unsigned search, reductions, alignment[4];
	float waves;
};

/* What is done with the elements of the result before they are rounded: the bits of cublasLtEpilogue_t. */
enum gt_lt_epilogue {
	GT_LT_DEFAULT = 1,
	GT_LT_RELU = 2,
	GT_LT_BIAS = 4,
	GT_LT_GRADIENT_OF_BIAS = 16,
	GT_LT_GELU = 32,
	GT_LT_GRADIENT_OF_GELU = 64,
	GT_LT_AUX = 128,
	GT_LT_SUM_A = 256,
	GT_LT_SUM_B = 512
};

/* The places of one product of a batch. */
struct gt_lt_places {
	struct gt_view a, b; /* as they are multiplied */
	struct gt_view d, bias, aux;
};

#endif
