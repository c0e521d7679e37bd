/* SPDX-License-Identifier: MIT */
/* The stand-in for cuBLASLt: products of matrices whose operands, types and last step the program describes in descriptors.
 * cublasLtMatmul: d = epilogue(alpha op(a) op(b) + beta c). */
#include <complex.h>
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
	const void *scales[4]; /* of floats of 8 bits in a, b, c and d, one for the matrix: a float in device memory, or NULL */
	int scale_modes[4];
	void *largest; /* where the largest absolute value of d is to be written */
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
	GT_LT_GRADIENT_OF_RELU = 8,
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

static double complex view_get(const struct gt_view *view, int64_t i, int64_t j)
{
	return gt_number_read(view->at, view->type, i * view->down + j * view->across);
}

static void view_put(const struct gt_view *view, int64_t i, int64_t j, double complex value)
{
	gt_number_write(view->at, view->type, i * view->down + j * view->across, value);
}

/* The same matrix with rows and columns exchanged. */
static struct gt_view transposed(struct gt_view view)
{
	return (struct gt_view){view.at, view.type, view.across, view.down};
}

/* A matrix of bits: (i, j) is bit i + j * leading. */
struct gt_bits {
	uint8_t *at;
	int64_t leading;
};

static bool bit_at(const struct gt_bits *bits, int64_t i, int64_t j)
{
	const int64_t bit = i + j * bits->leading;

	return bits->at[bit / 8] >> bit % 8 & 1;
}

static void set_bit(const struct gt_bits *bits, int64_t i, int64_t j, bool value)
{
	const int64_t bit = i + j * bits->leading;

	bits->at[bit / 8] = (uint8_t)((bits->at[bit / 8] & ~(1U << bit % 8)) | (unsigned)value << bit % 8);
}

/* The places of one product of a batch, and what its epilogue finds out. */
struct gt_lt_places {
	struct gt_view a, b; /* as they are multiplied */
	struct gt_view d, bias, aux;
	struct gt_bits mask; /* of which elements relu has passed */
	double scale_d;
	double largest;
};

/* Handles of cuBLASLt, which a program may also cast from those of cuBLAS, and the choice of an algorithm: there is one. */

/* cublasLtMatmulAlgo_t: settings that are kept and told. There is one algorithm, whose results do not depend on them. */
struct gt_lt_algorithm {
	int id;
	unsigned tile;
	int splits;
	unsigned reduction, swizzle, custom, stages;
	uint16_t inner_shape, cluster_shape;
	uint64_t rest[4];
};

/* cublasLtMatmulHeuristicResult_t */
struct choice {
	struct gt_lt_algorithm algorithm;
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
	choices[0] = (struct choice){.algorithm.splits = 1, .status = GT_CUBLAS_SUCCESS, .waves = 1};
	*n = 1;
	return GT_CUBLAS_SUCCESS;
}

API int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d, int most, int *ids, int *n)
{
	(void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (most < 1 || !ids || !n)
		return GT_CUBLAS_INVALID_VALUE;
	ids[0] = 0;
	*n = 1;
	return GT_CUBLAS_SUCCESS;
}

API int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id, struct gt_lt_algorithm *algorithm)
{
	(void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
	if (!handle || !algorithm)
		return handle ? GT_CUBLAS_INVALID_VALUE : GT_CUBLAS_NOT_INITIALIZED;
	*algorithm = (struct gt_lt_algorithm){.id = id, .splits = 1};
	return GT_CUBLAS_SUCCESS;
}

API int cublasLtMatmulAlgoCheck(void *handle, const void *product, const void *of_a, const void *of_b, const void *of_c, const void *of_d,
				const struct gt_lt_algorithm *algorithm, struct choice *choice)
{
	if (!handle)
		return GT_CUBLAS_NOT_INITIALIZED;
	if (!product || !of_a || !of_b || !of_c || !of_d || !algorithm || !choice)
		return GT_CUBLAS_INVALID_VALUE;
	*choice = (struct choice){.algorithm = *algorithm, .status = GT_CUBLAS_SUCCESS, .waves = 1};
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
REFUSED(MatmulAlgoCapGetAttribute)
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
	FIELD(26, struct gt_lt_product, bias_type),	 FIELD(17, struct gt_lt_product, scales[0]),
	FIELD(18, struct gt_lt_product, scales[1]),	 FIELD(19, struct gt_lt_product, scales[2]),
	FIELD(20, struct gt_lt_product, scales[3]),	 FIELD(21, struct gt_lt_product, largest),
	FIELD(31, struct gt_lt_product, scale_modes[0]), FIELD(32, struct gt_lt_product, scale_modes[1]),
	FIELD(33, struct gt_lt_product, scale_modes[2]), FIELD(34, struct gt_lt_product, scale_modes[3]),
};
static const struct attribute of_algorithm[] = {
	FIELD(0, struct gt_lt_algorithm, id),		 FIELD(1, struct gt_lt_algorithm, tile),
	FIELD(2, struct gt_lt_algorithm, splits),	 FIELD(3, struct gt_lt_algorithm, reduction),
	FIELD(4, struct gt_lt_algorithm, swizzle),	 FIELD(5, struct gt_lt_algorithm, custom),
	FIELD(6, struct gt_lt_algorithm, stages),	 FIELD(7, struct gt_lt_algorithm, inner_shape),
	FIELD(8, struct gt_lt_algorithm, cluster_shape),
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
static const struct kind algorithms = KIND(of_algorithm, struct gt_lt_algorithm, "MatmulAlgoConfig");
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

#define ATTRIBUTES_OF(NAME, KIND)                                                                                       \
	API int cublasLt##NAME##SetAttribute(void *descriptor, int number, const void *from, size_t bytes)              \
	{                                                                                                               \
		return set(&KIND, descriptor, number, from, bytes);                                                     \
	}                                                                                                               \
	API int cublasLt##NAME##GetAttribute(const void *descriptor, int number, void *to, size_t bytes, size_t *written) \
	{                                                                                                               \
		return get(&KIND, descriptor, number, to, bytes, written);                                              \
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
	ATTRIBUTES_OF(NAME, KIND)
#define LAYOUT_OF ONLY(, int type, uint64_t rows, uint64_t columns, int64_t leading)
#define PRODUCT_OF ONLY(, int compute, int scale)
CALLS(MatrixLayout, struct gt_lt_layout, layouts, LAYOUT_OF,
      {.type = type, .rows = rows, .columns = columns, .leading = leading, .batches = 1})
CALLS(MatmulDesc, struct gt_lt_product, products, PRODUCT_OF,
      {.compute = compute, .scale = scale, .fill = 2, .epilogue = GT_LT_DEFAULT, .bias_type = -1, .aux_type = -1})
ATTRIBUTES_OF(MatmulAlgoConfig, algorithms)
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
			sum += creal(view_get(of, i, p));
		view_put(sums, i, 0, sum);
	}
}

/* One element of the result. */
static double finish_element(unsigned epilogue, double value, const struct gt_lt_places *places, int64_t i, int64_t j)
{
	if (epilogue & GT_LT_BIAS)
		value += creal(view_get(&places->bias, i, 0));
	if (epilogue & GT_LT_GRADIENT_OF_RELU)
		return bit_at(&places->mask, i, j) ? value : 0;
	if (epilogue & GT_LT_GRADIENT_OF_GELU)
		return value * slope_of_gelu(creal(view_get(&places->aux, i, j)));
	if (places->mask.at)
		set_bit(&places->mask, i, j, value > 0);
	else if (epilogue & GT_LT_AUX)
		view_put(&places->aux, i, j, value);
	if (epilogue & GT_LT_RELU)
		return value > 0 ? value : 0;
	return epilogue & GT_LT_GELU ? gelu(value) : value;
}

/* Writes d of m by n sums, by the epilogue; and into the sums what it is before it is scaled. */
static void write_result(unsigned epilogue, int64_t m, int64_t n, const struct gt_view *sums, struct gt_lt_places *places)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			const double complex sum = view_get(sums, i, j);
			if (epilogue == GT_LT_DEFAULT && gt_is_complex(sums->type)) {
				view_put(&places->d, i, j, sum);
				continue;
			}
			const double value = finish_element(epilogue, creal(sum), places, i, j);
			places->largest = fabs(value) > places->largest ? fabs(value) : places->largest;
			view_put(sums, i, j, value);
			view_put(&places->d, i, j, value * places->scale_d);
		}
}

/* The epilogue of a product of m by n elements, which are in `sums`, and k: writes d, and what else it asks for. */
static void gt_lt_finish(unsigned epilogue, int64_t m, int64_t n, int64_t k, const struct gt_view *sums, struct gt_lt_places *places)
{
	write_result(epilogue, m, n, sums, places);
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
#define MASK_ALIGNMENT 128 /* bits */

static bool is_real(int type)
{
	return gt_element_bytes((enum gt_element)type) > 0 && !gt_is_complex((enum gt_element)type);
}

/* Whether the epilogue keeps or reads a mask of bits in place of numbers. */
static bool has_mask(unsigned epilogue)
{
	return (epilogue & GT_LT_AUX) && (epilogue & (GT_LT_RELU | GT_LT_GRADIENT_OF_RELU));
}

static bool knows_epilogue(unsigned epilogue)
{
	static const unsigned epilogues[] = {GT_LT_DEFAULT,
					     GT_LT_RELU,
					     GT_LT_BIAS,
					     GT_LT_RELU | GT_LT_BIAS,
					     GT_LT_RELU | GT_LT_AUX,
					     GT_LT_RELU | GT_LT_AUX | GT_LT_BIAS,
					     GT_LT_GRADIENT_OF_RELU | GT_LT_AUX,
					     GT_LT_GRADIENT_OF_RELU | GT_LT_AUX | GT_LT_GRADIENT_OF_BIAS,
					     GT_LT_GELU,
					     GT_LT_GELU | GT_LT_BIAS,
					     GT_LT_GELU | GT_LT_AUX,
					     GT_LT_GELU | GT_LT_AUX | GT_LT_BIAS,
					     GT_LT_GRADIENT_OF_GELU | GT_LT_AUX,
					     GT_LT_GRADIENT_OF_GELU | GT_LT_AUX | GT_LT_GRADIENT_OF_BIAS,
					     GT_LT_SUM_A,
					     GT_LT_SUM_B};

	for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
		if (epilogue == epilogues[i])
			return true;
	return false;
}

/* What is computed of this is known here: column- and row-major matrices, with a scale for a whole matrix, and those epilogues; of complex
 * numbers none. */
static bool knows(const struct gt_lt_product *product, const struct gt_lt_layout *const operands[4])
{
	const bool is_complex = gt_is_complex((enum gt_element)product->scale);
	bool known = gt_element_bytes((enum gt_element)product->scale) > 0 && gt_is_flag(product->pointer_mode) &&
		     product->operations[C] == GT_CUBLAS_N && product->fill == 2;

	for (unsigned i = A; i <= D; i++)
		known = known && gt_element_bytes((enum gt_element)operands[i]->type) > 0 && gt_is_flag(operands[i]->by_rows) &&
			gt_is_complex((enum gt_element)operands[i]->type) == is_complex && gt_is_flag(operands[i]->batch_mode) &&
			operands[i]->plane == 0 && product->scale_modes[i] == 0;
	return known && (is_complex ? product->epilogue == GT_LT_DEFAULT : knows_epilogue(product->epilogue)) &&
	       (product->bias_type == -1 || is_real(product->bias_type)) && (product->aux_type == -1 || is_real(product->aux_type));
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
			layout->batches == work->layouts[D]->batches && layout->batches >= 0 &&
			(!work->product->scales[i] ||
			 (gt_is_byte_float((enum gt_element)layout->type) && work->product->scale == GT_F32));
	}
	if (work->product->largest && !gt_is_byte_float((enum gt_element)work->layouts[D]->type))
		return false;
	if (has_mask(work->product->epilogue) && (work->product->aux_leading % MASK_ALIGNMENT != 0 || work->product->aux_stride % MASK_ALIGNMENT != 0))
		return false;
	return valid && (!(work->product->epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B)) ||
			 work->product->bias) &&
	       (!(work->product->epilogue & GT_LT_AUX) || (work->product->aux && work->product->aux_leading >= work->gemm.m));
}

/* An operand of the i-th product, as it is multiplied. */
static struct gt_view operand_of(const struct work *work, unsigned operand, int64_t i)
{
	const struct gt_lt_layout *layout = work->layouts[operand];
	const int64_t rows = (int64_t)layout->rows, columns = (int64_t)layout->columns;
	const void *at = layout->batch_mode ? gt_address_of(&work->call, (const void *const *)work->at[operand] + i)
					    : gt_elements_on(work->at[operand], gt_element_bytes((enum gt_element)layout->type), layout->stride * i);
	const enum gt_element type = (enum gt_element)layout->type;
	struct gt_view view = {gt_matrix_of(&work->call, at, gt_element_bytes(type), layout->by_rows ? columns : rows,
					    layout->by_rows ? rows : columns, layout->leading, operand == D),
			       type, 1, layout->leading};

	return (layout->by_rows != 0) != is_turned(work->product, operand) ? transposed(view) : view;
}

/* What an operand's elements are multiplied by: 1, or a float in device memory. */
static double scale_of(const struct work *work, unsigned operand)
{
	const void *at = work->product->scales[operand];

	return at ? (double)*(const float *)gt_stub_at(work->call.name, at, 1, sizeof(float), false) : 1;
}

static struct gt_lt_places places_of(const struct work *work, int64_t i)
{
	const struct gt_lt_product *product = work->product;
	const unsigned epilogue = product->epilogue;
	const enum gt_element bias = (enum gt_element)(product->bias_type == -1 ? work->layouts[D]->type : product->bias_type);
	const enum gt_element aux = (enum gt_element)(product->aux_type == -1 ? work->layouts[D]->type : product->aux_type);
	struct gt_lt_places places = {.a = operand_of(work, A, i), .b = operand_of(work, B, i), .d = operand_of(work, D, i),
				      .bias = {NULL, bias, 1, 0}, .aux = {NULL, aux, 1, product->aux_leading},
				      .mask.leading = product->aux_leading, .scale_d = scale_of(work, D)};

	if (epilogue & (GT_LT_BIAS | GT_LT_GRADIENT_OF_BIAS | GT_LT_SUM_A | GT_LT_SUM_B))
		places.bias.at = gt_vector_of(&work->call, gt_elements_on(product->bias, gt_element_bytes(bias), product->bias_stride * i), gt_element_bytes(bias),
					      epilogue & GT_LT_SUM_B ? work->gemm.n : work->gemm.m, 1, !(epilogue & GT_LT_BIAS));
	if (has_mask(epilogue))
		places.mask.at = gt_vector_of(&work->call, (const char *)product->aux + product->aux_stride / 8 * i, 1,
					      (product->aux_leading * (work->gemm.n - 1) + work->gemm.m + 7) / 8, 1,
					      !(epilogue & GT_LT_GRADIENT_OF_RELU));
	else if (epilogue & GT_LT_AUX)
		places.aux.at = gt_matrix_of(&work->call, gt_elements_on(product->aux, gt_element_bytes(aux), product->aux_stride * i), gt_element_bytes(aux),
					     work->gemm.m, work->gemm.n, product->aux_leading, !(epilogue & GT_LT_GRADIENT_OF_GELU));
	return places;
}

/* The i-th product; the largest absolute value of it and those before it. */
static int multiply(const struct work *work, int64_t i, double *largest)
{
	const int64_t m = work->gemm.m, n = work->gemm.n;
	struct gt_lt_places places = places_of(work, i);
	const struct gt_view sums = {calloc((size_t)m * (size_t)n, sizeof(double complex)), work->gemm.types[C], 1, m};

	if (!sums.at)
		return GT_CUBLAS_ALLOC_FAILED;
	if (gt_number_read(work->beta, work->gemm.scale, 0) != 0) {
		const struct gt_view c = operand_of(work, C, i);
		for (int64_t column = 0; column < n; column++)
			for (int64_t row = 0; row < m; row++)
				view_put(&sums, row, column, view_get(&c, row, column));
	}
	int status = gt_gemm_run(&work->gemm, work->alpha, places.a.at, places.b.at, work->beta, sums.at);
	if (status == GT_CUBLAS_SUCCESS)
		gt_lt_finish(work->product->epilogue, m, n, work->gemm.k, &sums, &places);
	*largest = places.largest > *largest ? places.largest : *largest;
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
		const int given = work->product->operations[i], turned = given == GT_CUBLAS_N ? GT_CUBLAS_T : GT_CUBLAS_N;
		gemm.operations[i] = work->layouts[i]->by_rows ? turned : given;
		gemm.leading[i] = work->layouts[i]->leading;
	}
	gemm.types[C] = gt_gemm_computes(&gemm);
	gemm.leading[C] = gemm.m > 1 ? gemm.m : 1;
	return gemm;
}

/* Whether the product has an operation. cuBLAS has no floats of 8 bits, so it is asked as if they were halves. None takes a matrix by rows that is to
 * be conjugated: it would have to be conjugated without being transposed. */
static bool knows_product(const struct work *work)
{
	struct gt_gemm gemm = work->gemm;

	for (unsigned i = A; i <= B; i++) {
		if (gt_is_complex(gemm.types[i]) && work->layouts[i]->by_rows && work->product->operations[i] == GT_CUBLAS_C)
			return false;
		if (gt_is_byte_float(gemm.types[i]))
			gemm.types[i] = GT_F16;
	}
	return gt_gemm_knows(&gemm);
}

/* Multiplies the factors of the product by the scales of its matrices. */
static void scale_factors(struct work *work, float factors[2])
{
	factors[0] = (float)(gt_element_read(work->alpha, GT_F32, 0) * scale_of(work, A) * scale_of(work, B));
	factors[1] = (float)(gt_element_read(work->beta, GT_F32, 0) * scale_of(work, C));
	work->alpha = &factors[0];
	work->beta = &factors[1];
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
	double largest = 0;
	float factors[2];

	work.gemm = gemm_of(&work);
	if (!knows(product, work.layouts) || !knows_product(&work)) {
		gt_stub_refuse("cublasLtMatmul of these types, layouts or this epilogue");
		return GT_CUBLAS_NOT_SUPPORTED;
	}
	int status = gt_call_begin(&work.call, "cublasLtMatmul", handle ? &settings : NULL, is_valid(&work),
				   (uint64_t)of_d->batches * gt_gemm_flops(&work.gemm));
	if (status != GT_CUBLAS_SUCCESS)
		return status;
	work.alpha = gt_scalar_of(&work.call, alpha, gt_element_bytes(work.gemm.scale), false);
	work.beta = gt_scalar_of(&work.call, beta, gt_element_bytes(work.gemm.scale), false);
	if (work.gemm.scale == GT_F32)
		scale_factors(&work, factors);
	for (int64_t i = 0; work.gemm.m > 0 && work.gemm.n > 0 && i < of_d->batches && status == GT_CUBLAS_SUCCESS; i++)
		status = multiply(&work, i, &largest);
	if (product->largest && status == GT_CUBLAS_SUCCESS)
		*(float *)gt_stub_at(work.call.name, product->largest, 1, sizeof(float), true) = (float)largest;
	gt_call_end();
	return status;
}
