/* SPDX-License-Identifier: MIT */
/* cublasLtMatmul: d = epilogue(alpha op(a) op(b) + beta c). */
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublaslt/lt.h"

/* A call, and what is the same in all products of its batch. */
struct work {
	struct gt_call call;
	const struct gt_lt_product *product;
	const struct gt_lt_layout *layouts[4]; /* of a, b, c, d */
	const void *at[4];
	int64_t m, n, k;
	double alpha, beta;
};
enum { A, B, C, D };

/* What is computed of this is known here: column- and row-major matrices, and these epilogues. */
static bool knows(const struct gt_lt_product *product, const struct gt_lt_layout *const layouts[4])
{
	static const unsigned epilogues[] = {GT_LT_DEFAULT,
					     GT_LT_RELU,
					     GT_LT_BIAS,
					     GT_LT_RELU | GT_LT_BIAS,
					     GT_LT_GELU,
					     GT_LT_GELU | GT_LT_BIAS,
					     GT_LT_GELU | GT_LT_AUX,
					     GT_LT_GELU | GT_LT_AUX | GT_LT_BIAS,
					     GT_LT_GRADIENT_OF_GELU | GT_LT_AUX,
					     GT_LT_GRADIENT_OF_GELU | GT_LT_AUX | GT_LT_GRADIENT_OF_BIAS,
					     GT_LT_SUM_A,
					     GT_LT_SUM_B};
	bool known = gt_element_bytes((enum gt_element)product->scale) > 0 && gt_is_flag(product->pointer_mode) &&
		     product->operations[C] == GT_CUBLAS_N && product->fill == 2, listed = false;

	for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
		listed = listed || product->epilogue == epilogues[i];
	for (unsigned i = A; i <= D; i++)
		known = known && gt_element_bytes((enum gt_element)layouts[i]->type) > 0 && gt_is_flag(layouts[i]->by_rows) &&
			layouts[i]->batch_mode == 0 && layouts[i]->plane == 0;
	return known && listed && (product->bias_type == -1 || gt_element_bytes((enum gt_element)product->bias_type) > 0) &&
	       (product->aux_type == -1 || gt_element_bytes((enum gt_element)product->aux_type) > 0);
}

static bool is_turned(const struct gt_lt_product *product, unsigned operand)
{
	return operand < C && product->operations[operand] != GT_CUBLAS_N;
}

static int64_t rows_of(const struct work *work, unsigned operand)
{
	const struct gt_lt_layout *layout = work->layouts[operand];

	return (int64_t)(is_turned(work->product, operand) ? layout->columns : layout->rows);
}

static int64_t columns_of(const struct work *work, unsigned operand)
{
	const struct gt_lt_layout *layout = work->layouts[operand];

	return (int64_t)(is_turned(work->product, operand) ? layout->rows : layout->columns);
}

static bool is_valid(const struct work *work)
{
	bool valid = rows_of(work, A) == work->m && rows_of(work, B) == work->k && columns_of(work, B) == work->n &&
		     rows_of(work, C) == work->m && columns_of(work, C) == work->n;

	for (unsigned i = A; i <= D; i++) {
		const struct gt_lt_layout *layout = work->layouts[i];
		valid = valid && layout->leading >= gt_least_leading((int64_t)(layout->by_rows ? layout->columns : layout->rows)) &&
			layout->batches == work->layouts[D]->batches && layout->batches >= 0;
	}
	return valid && (!(work->product->epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B)) ||
			 work->product->bias) &&
	       (!(work->product->epilogue & GT_LT_AUX) || (work->product->aux && work->product->aux_leading >= work->m));
}

/* So many elements on. */
static const void *further(const void *at, int type, int64_t stride, int64_t i)
{
	return (const void *)((uintptr_t)at + (uint64_t)(stride * i) * gt_element_bytes((enum gt_element)type));
}

/* An operand of the i-th product, as it is multiplied. */
static struct gt_view operand_of(const struct work *work, unsigned operand, int64_t i)
{
	const struct gt_lt_layout *layout = work->layouts[operand];
	const int64_t rows = (int64_t)layout->rows, columns = (int64_t)layout->columns;
	const void *at = further(work->at[operand], layout->type, layout->stride, i);
	struct gt_view view = gt_matrix_of(&work->call, at, (enum gt_element)layout->type, layout->by_rows ? columns : rows,
					   layout->by_rows ? rows : columns, layout->leading, operand == D);

	view = layout->by_rows ? gt_transposed(view) : view;
	return is_turned(work->product, operand) ? gt_transposed(view) : view;
}

static struct gt_lt_places places_of(const struct work *work, int64_t i)
{
	const struct gt_lt_product *product = work->product;
	const unsigned epilogue = product->epilogue;
	const int bias_type = product->bias_type == -1 ? work->layouts[D]->type : product->bias_type;
	const int aux_type = product->aux_type == -1 ? work->layouts[D]->type : product->aux_type;
	const bool written = !(epilogue & GT_LT_BIAS);
	struct gt_lt_places places = {.a = operand_of(work, A, i), .b = operand_of(work, B, i), .d = operand_of(work, D, i)};

	if (epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B))
		places.bias = gt_vector_of(&work->call, further(product->bias, bias_type, product->bias_stride, i),
					   (enum gt_element)bias_type, epilogue & GT_LT_SUM_B ? work->n : work->m, 1, written);
	if (epilogue & GT_LT_AUX)
		places.aux = gt_matrix_of(&work->call, further(product->aux, aux_type, product->aux_stride, i),
					  (enum gt_element)aux_type, work->m, work->n, product->aux_leading,
					  !(epilogue & GT_LT_GRADIENT_OF_GELU));
	return places;
}

/* The i-th product. Its sums are kept as doubles until the epilogue is done. */
static int multiply(const struct work *work, int64_t i)
{
	const int64_t m = work->m, n = work->n;
	const struct gt_lt_places places = places_of(work, i);
	double *room = calloc((size_t)m * (size_t)n, sizeof *room);
	struct gt_view sums = {(unsigned char *)room, GT_F64, 1, m};
	int status = room ? gt_product(m, n, work->k, work->alpha, &places.a, &places.b, 0, &sums) : GT_CUBLAS_ALLOC_FAILED;

	if (status == GT_CUBLAS_SUCCESS && work->beta != 0) {
		const struct gt_view c = operand_of(work, C, i);
		for (int64_t column = 0; column < n; column++)
			for (int64_t row = 0; row < m; row++)
				gt_view_write(&sums, row, column,
					      gt_view_read(&sums, row, column) + work->beta * gt_view_read(&c, row, column));
	}
	if (status == GT_CUBLAS_SUCCESS)
		gt_lt_finish(work->product->epilogue, m, n, work->k, &sums, &places);
	free(room);
	return status;
}

API int cublasLtMatmul(void *handle, const struct gt_lt_product *product, const void *alpha, const void *a,
		       const struct gt_lt_layout *of_a, const void *b, const struct gt_lt_layout *of_b, const void *beta, const void *c,
		       const struct gt_lt_layout *of_c, void *d, const struct gt_lt_layout *of_d, const void *algorithm,
		       void *workspace, size_t bytes, void *stream)
{
	(void)algorithm, (void)workspace, (void)bytes; /* results are the same whatever they are */
	if (!product || !alpha || !beta || !of_a || !of_b || !of_c || !of_d)
		return GT_CUBLAS_INVALID_VALUE;
	struct work work = {.product = product, .layouts = {of_a, of_b, of_c, of_d}, .at = {a, b, c, d}};
	struct gt_cublas settings = {.stream = stream, .pointer_mode = product->pointer_mode};

	if (!knows(product, work.layouts)) {
		gt_stub_refuse("cublasLtMatmul of these types, layouts or this epilogue");
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	work.m = rows_of(&work, D);
	work.n = columns_of(&work, D);
	work.k = columns_of(&work, A);
	int status = gt_call_begin(&work.call, "cublasLtMatmul", handle ? &settings : NULL, is_valid(&work));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	work.alpha = gt_factor_of(&work.call, alpha, (enum gt_element)product->scale);
	work.beta = gt_factor_of(&work.call, beta, (enum gt_element)product->scale);
	for (int64_t i = 0; work.m > 0 && work.n > 0 && i < of_d->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = multiply(&work, i);
	gt_call_end();
	return status;
}
