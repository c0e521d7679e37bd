/* SPDX-License-Identifier: MIT */
/* Descriptors of cuBLASLt: made by the library, or in memory of the program, whose size its header has. */
#include <stdlib.h>
#include <string.h>

#include "cuda/plugins/cublaslt/lt.h"

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
