/* SPDX-License-Identifier: MIT */
/* The stand-in for cuBLASLt: products of matrices whose operands, types and last step the program describes in descriptors.
 * cublasLtMatmul: d = epilogue(alpha op(a) op(b) + beta c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A matrix, or a vector as its one column: element (i, j) is number i * down + j * across. */
struct gt_view {
	void *at;
	enum gt_element type;
	int64_t down, across;
};

static double view_read(const struct gt_view *view, int64_t i, int64_t j)
{
	return gt_element_read(view->at, view->type, i * view->down + j * view->across);
}

static void view_write(const struct gt_view *view, int64_t i, int64_t j, double value)
{
	gt_element_write(view->at, view->type, i * view->down + j * view->across, value);
}

/* The same matrix with rows and columns exchanged. */
static struct gt_view transposed(struct gt_view view)
{
	return (struct gt_view){view.at, view.type, view.across, view.down};
}

/* The places of one product of a batch. */
struct gt_lt_places {
	struct gt_view a, b; /* as they are multiplied */
	struct gt_view d, bias, aux;
};

/* Handles of cuBLASLt, which a program may also cast from those of cuBLAS, and the choice of an algorithm: there is one. */

/* cublasLtMatmulHeuristicResult_t */
struct choice {
	uint64_t algorithm[8];
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

API int cublasLtCreate(void **handle)
{
	if (!handle)
		return GT_CUBLAS_INVALID_VALUE;
	*handle = calloc(1, 1);
	return *handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_ALLOC_FAILED;
}

API int cublasLtDestroy(void *handle)
{
	free(handle);
	return handle ? GT_CUBLAS_SUCCESS : GT_CUBLAS_NOT_INITIALIZED;
}

API int cublasLtMatmulAlgoGetHeuristic(void *handle, const void *product, const void *of_a, const void *of_b, const void *of_c,
				       const void *of_d, const void *preference, int most, struct choice *choices, int *n)
{
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!product || !of_a || !of_b || !of_c || !of_d || !preference || most < 1 || !choices || !n)
		return GT_CUBLAS_INVALID_VALUE;
	choices[0] = (struct choice){.status = GT_CUBLAS_SUCCESS, .waves = 1};
	*n = 1;
	return GT_CUBLAS_SUCCESS;
}

API size_t cublasLtGetVersion(void)
{
	return GT_CUBLAS_VERSION;
}

API size_t cublasLtGetCudartVersion(void)
{
	return GT_CUBLAS_MAJOR * 1000;
}

API int cublasLtGetProperty(int which, int *value)
{
	return gt_cublas_property(which, value);
}

API const char *cublasLtGetStatusName(int status)
{
	return gt_cublas_status_name(status);
}

API const char *cublasLtGetStatusString(int status)
{
	return gt_cublas_status_text(status);
}

/* ---- the calls that are refused by name; their arguments are not read ---- */

#define REFUSED(NAME)                                                \
	API int cublasLt##NAME(void);                                \
	API int cublasLt##NAME(void)                                 \
	{                                                            \
		gt_stub_refuse("cublasLt" #NAME);                    \
		return GT_CUBLAS_NOT_SUPPORTED;                      \
	}
#define DESCRIPTOR(NAME) \
	REFUSED(NAME##Create) REFUSED(NAME##Init_internal) REFUSED(NAME##Destroy) REFUSED(NAME##SetAttribute) REFUSED(NAME##GetAttribute)
REFUSED(MatrixTransform)
DESCRIPTOR(MatrixTransformDesc)
DESCRIPTOR(EmulationDesc)
REFUSED(MatmulAlgoGetIds)
REFUSED(MatmulAlgoInit)
REFUSED(MatmulAlgoCheck)
REFUSED(MatmulAlgoCapGetAttribute)
REFUSED(MatmulAlgoConfigSetAttribute)
REFUSED(MatmulAlgoConfigGetAttribute)
REFUSED(HeuristicsCacheGetCapacity)
REFUSED(HeuristicsCacheSetCapacity)
REFUSED(DisableCpuInstructionsSetMask)
REFUSED(LoggerSetCallback)
REFUSED(LoggerSetFile)
REFUSED(LoggerOpenFile)
REFUSED(LoggerSetLevel)
REFUSED(LoggerSetMask)
REFUSED(LoggerForceDisable)

/* Descriptors of cuBLASLt: made by the library, or in memory of the program, whose size its header has. */

/* An attribute: its number, and where a descriptor keeps it. */
struct attribute {
	int number;
	size_t at, bytes;
};
#define FIELD(NUMBER, TYPE, NAME) {NUMBER, offsetof(TYPE, NAME), sizeof((TYPE *)0)->NAME}

/* A kind of descriptor. */
struct kind {
	const struct attribute *attributes;
	size_t n, bytes;
	const char *set, *get; /* calls for an attribute that is not known here */
};

static const struct attribute of_layout[] = {
	FIELD(0, struct gt_lt_layout, type),	   FIELD(1, struct gt_lt_layout, by_rows), FIELD(2, struct gt_lt_layout, rows),
	FIELD(3, struct gt_lt_layout, columns),	   FIELD(4, struct gt_lt_layout, leading), FIELD(5, struct gt_lt_layout, batches),
	FIELD(6, struct gt_lt_layout, stride),	   FIELD(7, struct gt_lt_layout, plane),   FIELD(8, struct gt_lt_layout, batch_mode),
};
static const struct attribute of_product[] = {
	FIELD(0, struct gt_lt_product, compute),	 FIELD(1, struct gt_lt_product, scale),
	FIELD(2, struct gt_lt_product, pointer_mode),	 FIELD(3, struct gt_lt_product, operations[0]),
	FIELD(4, struct gt_lt_product, operations[1]),	 FIELD(5, struct gt_lt_product, operations[2]),
	FIELD(6, struct gt_lt_product, fill),		 FIELD(7, struct gt_lt_product, epilogue),
	FIELD(8, struct gt_lt_product, bias),		 FIELD(10, struct gt_lt_product, bias_stride),
	FIELD(11, struct gt_lt_product, aux),		 FIELD(12, struct gt_lt_product, aux_leading),
	FIELD(13, struct gt_lt_product, aux_stride),	 FIELD(15, struct gt_lt_product, sm_count_target),
	FIELD(22, struct gt_lt_product, aux_type),	 FIELD(25, struct gt_lt_product, fast_accumulation),
	FIELD(26, struct gt_lt_product, bias_type),
};
static const struct attribute of_preference[] = {
	FIELD(0, struct gt_lt_preference, search),	 FIELD(1, struct gt_lt_preference, workspace),
	FIELD(3, struct gt_lt_preference, reductions),	 FIELD(5, struct gt_lt_preference, alignment[0]),
	FIELD(6, struct gt_lt_preference, alignment[1]), FIELD(7, struct gt_lt_preference, alignment[2]),
	FIELD(8, struct gt_lt_preference, alignment[3]), FIELD(9, struct gt_lt_preference, waves),
	FIELD(12, struct gt_lt_preference, kinds),
};

#define KIND(ATTRIBUTES, TYPE, NAME)                                                                                   \
	{                                                                                                              \
		ATTRIBUTES, sizeof ATTRIBUTES / sizeof *ATTRIBUTES, sizeof(TYPE), "cublasLt" NAME "SetAttribute of this attribute", \
			"cublasLt" NAME "GetAttribute of this attribute"                                               \
	}
static const struct kind layouts = KIND(of_layout, struct gt_lt_layout, "MatrixLayout");
static const struct kind products = KIND(of_product, struct gt_lt_product, "MatmulDesc");
static const struct kind preferences = KIND(of_preference, struct gt_lt_preference, "MatmulPreference");

static const struct attribute *find(const struct kind *kind, int number)
{
	for (size_t i = 0; i < kind->n; i++)
		if (kind->attributes[i].number == number)
			return &kind->attributes[i];
	return NULL;
}

static int set(const struct kind *kind, void *descriptor, int number, const void *from, size_t bytes)
{
	const struct attribute *attribute = find(kind, number);

	if (!attribute) {
		gt_stub_refuse(kind->set);
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	if (!descriptor || !from || bytes != attribute->bytes)
		return GT_CUBLAS_INVALID_VALUE;
	memcpy((char *)descriptor + attribute->at, from, bytes);
	return GT_CUBLAS_SUCCESS;
}

/* With a size of 0, the call asks for the size. */
static int get(const struct kind *kind, const void *descriptor, int number, void *to, size_t bytes, size_t *written)
{
	const struct attribute *attribute = find(kind, number);

	if (!attribute) {
		gt_stub_refuse(kind->get);
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	if (!descriptor || (bytes == 0 ? !written : !to || bytes != attribute->bytes))
		return GT_CUBLAS_INVALID_VALUE;
	if (bytes > 0)
		memcpy(to, (const char *)descriptor + attribute->at, bytes);
	if (written)
		*written = attribute->bytes;
	return GT_CUBLAS_SUCCESS;
}

static int start(const struct kind *kind, void *descriptor, size_t room, const void *value)
{
	if (!descriptor)
		return GT_CUBLAS_INVALID_VALUE;
	if (room < kind->bytes)
		return GT_CUBLAS_ALLOC_FAILED;
	memset(descriptor, 0, room);
	memcpy(descriptor, value, kind->bytes);
	return GT_CUBLAS_SUCCESS;
}

static int create(const struct kind *kind, void **descriptor, const void *value)
{
	if (!descriptor)
		return GT_CUBLAS_INVALID_VALUE;
	*descriptor = malloc(kind->bytes);
	return *descriptor ? start(kind, *descriptor, kind->bytes, value) : GT_CUBLAS_ALLOC_FAILED;
}

/* The calls of a kind: VALUE is a descriptor that was just made, of PARAMETERS. */
#define ONLY(...) __VA_ARGS__
#define CALLS(NAME, TYPE, KIND, PARAMETERS, ...)                                                                        \
	API int cublasLt##NAME##Init_internal(void *descriptor, size_t room PARAMETERS)                                \
	{                                                                                                               \
		const TYPE value = __VA_ARGS__;                                                                         \
		return start(&KIND, descriptor, room, &value);                                                          \
	}                                                                                                               \
	API int cublasLt##NAME##Create(void **descriptor PARAMETERS)                                                   \
	{                                                                                                               \
		const TYPE value = __VA_ARGS__;                                                                         \
		return create(&KIND, descriptor, &value);                                                               \
	}                                                                                                               \
	API int cublasLt##NAME##Destroy(void *descriptor)                                                               \
	{                                                                                                               \
		free(descriptor);                                                                                       \
		return GT_CUBLAS_SUCCESS;                                                                               \
	}                                                                                                               \
	API int cublasLt##NAME##SetAttribute(void *descriptor, int number, const void *from, size_t bytes)              \
	{                                                                                                               \
		return set(&KIND, descriptor, number, from, bytes);                                                     \
	}                                                                                                               \
	API int cublasLt##NAME##GetAttribute(const void *descriptor, int number, void *to, size_t bytes, size_t *written) \
	{                                                                                                               \
		return get(&KIND, descriptor, number, to, bytes, written);                                              \
	}
#define LAYOUT_OF ONLY(, int type, uint64_t rows, uint64_t columns, int64_t leading)
#define PRODUCT_OF ONLY(, int compute, int scale)
CALLS(MatrixLayout, struct gt_lt_layout, layouts, LAYOUT_OF,
      {.type = type, .rows = rows, .columns = columns, .leading = leading, .batches = 1})
CALLS(MatmulDesc, struct gt_lt_product, products, PRODUCT_OF,
      {.compute = compute, .scale = scale, .fill = 2, .epilogue = GT_LT_DEFAULT, .bias_type = -1, .aux_type = -1})
CALLS(MatmulPreference, struct gt_lt_preference, preferences, ,
      {.alignment = {256, 256, 256, 256}, .reductions = ~0U, .kinds = ~0ULL})

/* The last step of a product: bias, activation, and the sums that training needs. */

/* gelu(x) = x / 2 (1 + tanh(u)), u = SLOPE (x + CUBIC x^3). NVIDIA does not say which form it has; this is
 * assumed because llm.c (llmc/matmul.cuh) takes the epilogue and a kernel of this form for one another. */
#define SLOPE 0.79788456080286535588 /* the root of 2 / pi */
#define CUBIC 0.044715

static double gelu(double x)
{
	return 0.5 * x * (1 + tanh(SLOPE * (x + CUBIC * x * x * x)));
}

static double slope_of_gelu(double x)
{
	double t = tanh(SLOPE * (x + CUBIC * x * x * x));

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * SLOPE * (1 + 3 * CUBIC * x * x);
}

/* sums[i] = the elements of the i-th row of m by k. */
static void sum_rows(const struct gt_view *of, int64_t m, int64_t k, const struct gt_view *sums)
{
	for (int64_t i = 0; i < m; i++) {
		double sum = 0;
		for (int64_t p = 0; p < k; p++)
			sum += view_read(of, i, p);
		view_write(sums, i, 0, sum);
	}
}

/* One element of the result. */
static double finish_element(unsigned epilogue, double value, const struct gt_lt_places *places, int64_t i, int64_t j)
{
	if (epilogue & GT_LT_BIAS)
		value += view_read(&places->bias, i, 0);
	if (epilogue & GT_LT_GRADIENT_OF_GELU)
		return value * slope_of_gelu(view_read(&places->aux, i, j));
	if (epilogue & GT_LT_AUX)
		view_write(&places->aux, i, j, value);
	if (epilogue & GT_LT_RELU)
		return value > 0 ? value : 0;
	return epilogue & GT_LT_GELU ? gelu(value) : value;
}

/* The epilogue of a product of m by n elements, which are in `sums`, and k: writes d, and what else it asks for. */
static void gt_lt_finish(unsigned epilogue, int64_t m, int64_t n, int64_t k, const struct gt_view *sums, const struct gt_lt_places *places)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double value = finish_element(epilogue, view_read(sums, i, j), places, i, j);
			view_write(sums, i, j, value);
			view_write(&places->d, i, j, value);
		}
	if (epilogue & GT_LT_GRADIENT_OF_BIAS)
		sum_rows(sums, m, n, &places->bias);
	if (epilogue & GT_LT_SUM_A)
		sum_rows(&places->a, m, k, &places->bias);
	if (epilogue & GT_LT_SUM_B) {
		const struct gt_view turned = transposed(places->b);
		sum_rows(&turned, n, k, &places->bias);
	}
}

/* A call, and what is the same in all products of its batch. */
struct work {
	struct gt_call call;
	const struct gt_lt_product *product;
	const struct gt_lt_layout *layouts[4]; /* of a, b, c, d */
	const void *at[4];
	struct gt_gemm gemm; /* of a and b into sums that are kept until the epilogue is done */
	const void *alpha, *beta;
};
enum { A, B, C, D };

static bool is_real(int type)
{
	return gt_element_bytes((enum gt_element)type) > 0 && !gt_is_complex((enum gt_element)type);
}

/* What is computed of this is known here: column- and row-major matrices, and these epilogues. */
static bool knows(const struct gt_lt_product *product, const struct gt_lt_layout *const operands[4])
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
	bool known = is_real(product->scale) && gt_is_flag(product->pointer_mode) &&
		     product->operations[C] == GT_CUBLAS_N && product->fill == 2, listed = false;

	for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
		listed = listed || product->epilogue == epilogues[i];
	for (unsigned i = A; i <= D; i++)
		known = known && is_real(operands[i]->type) && gt_is_flag(operands[i]->by_rows) &&
			operands[i]->batch_mode == 0 && operands[i]->plane == 0;
	return known && listed && (product->bias_type == -1 || is_real(product->bias_type)) &&
	       (product->aux_type == -1 || is_real(product->aux_type));
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
	bool valid = rows_of(work, A) == work->gemm.m && rows_of(work, B) == work->gemm.k && columns_of(work, B) == work->gemm.n &&
		     rows_of(work, C) == work->gemm.m && columns_of(work, C) == work->gemm.n;

	for (unsigned i = A; i <= D; i++) {
		const struct gt_lt_layout *layout = work->layouts[i];
		valid = valid && gt_leads(layout->leading, (int64_t)(layout->by_rows ? layout->columns : layout->rows)) &&
			layout->batches == work->layouts[D]->batches && layout->batches >= 0;
	}
	return valid && (!(work->product->epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B)) ||
			 work->product->bias) &&
	       (!(work->product->epilogue & GT_LT_AUX) || (work->product->aux && work->product->aux_leading >= work->gemm.m));
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
	const enum gt_element type = (enum gt_element)layout->type;
	struct gt_view view = {gt_matrix_of(&work->call, at, gt_element_bytes(type), layout->by_rows ? columns : rows,
					    layout->by_rows ? rows : columns, layout->leading, operand == D),
			       type, 1, layout->leading};

	return (layout->by_rows != 0) != is_turned(work->product, operand) ? transposed(view) : view;
}

static struct gt_lt_places places_of(const struct work *work, int64_t i)
{
	const struct gt_lt_product *product = work->product;
	const unsigned epilogue = product->epilogue;
	const enum gt_element bias = (enum gt_element)(product->bias_type == -1 ? work->layouts[D]->type : product->bias_type);
	const enum gt_element aux = (enum gt_element)(product->aux_type == -1 ? work->layouts[D]->type : product->aux_type);
	struct gt_lt_places places = {.a = operand_of(work, A, i), .b = operand_of(work, B, i), .d = operand_of(work, D, i),
				      .bias = {NULL, bias, 1, 0}, .aux = {NULL, aux, 1, product->aux_leading}};

	if (epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B))
		places.bias.at = gt_vector_of(&work->call, further(product->bias, (int)bias, product->bias_stride, i), gt_element_bytes(bias),
					      epilogue & GT_LT_SUM_B ? work->gemm.n : work->gemm.m, 1, !(epilogue & GT_LT_BIAS));
	if (epilogue & GT_LT_AUX)
		places.aux.at = gt_matrix_of(&work->call, further(product->aux, (int)aux, product->aux_stride, i), gt_element_bytes(aux),
					     work->gemm.m, work->gemm.n, product->aux_leading, !(epilogue & GT_LT_GRADIENT_OF_GELU));
	return places;
}

/* The i-th product. */
static int multiply(const struct work *work, int64_t i)
{
	const int64_t m = work->gemm.m, n = work->gemm.n;
	const struct gt_lt_places places = places_of(work, i);
	const struct gt_view sums = {calloc((size_t)m * (size_t)n, sizeof(double)), work->gemm.types[C], 1, m};

	if (!sums.at)
		return GT_CUBLAS_ALLOC_FAILED;
	if (gt_element_read(work->beta, work->gemm.scale, 0) != 0) {
		const struct gt_view c = operand_of(work, C, i);
		for (int64_t column = 0; column < n; column++)
			for (int64_t row = 0; row < m; row++)
				view_write(&sums, row, column, view_read(&c, row, column));
	}
	int status = gt_gemm_run(&work->gemm, work->alpha, places.a.at, places.b.at, work->beta, sums.at);
	if (status == GT_CUBLAS_SUCCESS)
		gt_lt_finish(work->product->epilogue, m, n, work->gemm.k, &sums, &places);
	free(sums.at);
	return status;
}

/* A matrix by rows is the transposed one by columns. */
static struct gt_gemm gemm_of(const struct work *work)
{
	struct gt_gemm gemm = {.m = rows_of(work, D), .n = columns_of(work, D), .k = columns_of(work, A),
			       .scale = (enum gt_element)work->product->scale};

	for (unsigned i = A; i <= C; i++)
		gemm.types[i] = (enum gt_element)work->layouts[i == C ? D : i]->type;
	for (unsigned i = A; i <= B; i++) {
		gemm.operations[i] = (work->layouts[i]->by_rows != 0) != is_turned(work->product, i) ? GT_CUBLAS_T : GT_CUBLAS_N;
		gemm.leading[i] = work->layouts[i]->leading;
	}
	gemm.types[C] = gt_gemm_computes(&gemm);
	gemm.leading[C] = gemm.m > 1 ? gemm.m : 1;
	return gemm;
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

	work.gemm = gemm_of(&work);
	if (!knows(product, work.layouts) || !gt_gemm_knows(&work.gemm)) {
		gt_stub_refuse("cublasLtMatmul of these types, layouts or this epilogue");
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	int status = gt_call_begin(&work.call, "cublasLtMatmul", handle ? &settings : NULL, is_valid(&work),
				   (uint64_t)of_d->batches * gt_gemm_flops(&work.gemm));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	work.alpha = gt_scalar_of(&work.call, alpha, gt_element_bytes(work.gemm.scale), false);
	work.beta = gt_scalar_of(&work.call, beta, gt_element_bytes(work.gemm.scale), false);
	for (int64_t i = 0; work.gemm.m > 0 && work.gemm.n > 0 && i < of_d->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = multiply(&work, i);
	gt_call_end();
	return status;
}
