/* SPDX-License-Identifier: MIT */
/* Products of matrices, one or many, real or complex. */
#include "cuda/plugins/cublas/cublas.h"

int64_t gt_gemm_rows(const struct gt_gemm *gemm, unsigned operand)
{
	if (operand == 2)
		return gemm->m;
	bool turned = gemm->operations[operand] != GT_CUBLAS_N;
	return operand == 0 ? (turned ? gemm->k : gemm->m) : (turned ? gemm->n : gemm->k);
}

int64_t gt_gemm_columns(const struct gt_gemm *gemm, unsigned operand)
{
	if (operand == 2)
		return gemm->n;
	return (operand == 0 ? gemm->m + gemm->k : gemm->k + gemm->n) - gt_gemm_rows(gemm, operand);
}

static bool is_valid(const struct gt_gemm *gemm)
{
	bool valid = gemm->m >= 0 && gemm->n >= 0 && gemm->k >= 0 && gemm->alpha && gemm->beta;

	for (unsigned i = 0; i < 2; i++)
		valid = valid && gemm->operations[i] >= GT_CUBLAS_N && gemm->operations[i] <= GT_CUBLAS_C;
	for (unsigned i = 0; i < 3 && valid; i++)
		valid = gemm->leading[i] >= 1 && gemm->leading[i] >= gt_gemm_rows(gemm, i);
	return valid;
}

/* An operand so many elements on, which may be anywhere: where it is is looked at when it is read. */
static const void *matrix_at(const struct gt_gemm *gemm, unsigned operand, const void *first, uint64_t elements)
{
	const uint64_t bytes = (uint64_t)gt_element_bytes(gemm->types[operand]) * (gemm->complex ? 2 : 1);

	return (const void *)((uintptr_t)first + elements * bytes);
}

int gt_gemm_many(const char *name, void *handle, const struct gt_gemm *gemm, const void *const at[3], const int64_t *strides,
		 int64_t n)
{
	struct gt_call call;
	int status = gt_call_begin(&call, name, handle, n >= 0 && is_valid(gemm));

	if (status != GT_CUBLAS_SUCCESS)
		return status;
	for (int64_t i = 0; i < n && status == GT_CUBLAS_SUCCESS; i++) {
		const void *of[3];
		for (unsigned o = 0; o < 3; o++)
			of[o] = strides ? matrix_at(gemm, o, at[o], (uint64_t)i * (uint64_t)strides[o])
					: *(const void *const *)gt_stub_at(name, (const void *const *)at[o] + i, 1, sizeof(void *), false);
		status = gemm->product(&call, gemm, of);
	}
	gt_call_end();
	return status;
}
