/* SPDX-License-Identifier: MIT */
/* cublasLtMatmul, compared with loops on the host. All values are small whole numbers, so that every result is exact but for
 * gelu's. Built without CUDA: blaslt PART, of: results, refused, captured. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

int cudaMalloc(void **pointer, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);

int cublasLtCreate(void **handle), cublasLtDestroy(void *handle);
const char *cublasLtGetStatusName(int status);
int cublasLtMatmulDescCreate(void **descriptor, int compute, int scale), cublasLtMatmulDescDestroy(void *descriptor);
int cublasLtMatmulDescSetAttribute(void *descriptor, int attribute, const void *value, size_t bytes);
int cublasLtMatmulDescGetAttribute(void *descriptor, int attribute, void *value, size_t bytes, size_t *written);
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
int cublasLtMatrixLayoutInit_internal(void *layout, size_t room, int type, uint64_t rows, uint64_t columns, int64_t leading);
int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes);
int cublasLtMatrixLayoutDestroy(void *layout);
int cublasLtMatmulPreferenceCreate(void **preference), cublasLtMatmulPreferenceDestroy(void *preference);
int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value, size_t bytes);
int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int, void *, int *);
int cublasLtMatmul(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, void *,
		   void *, void *, const void *, void *, size_t, void *);
int cublasLtMatrixTransform(void);

enum { F32 = 0, BF16 = 14, COMPUTE_F32 = 68 };
enum { TRANS_A = 3, TRANS_B = 4, EPILOGUE = 7, BIAS = 8, AUX = 11, AUX_LEADING = 12, AUX_SCALE = 23 };
enum { ORDER = 1, BATCHES = 5, STRIDE = 6 };
enum { M = 5, N = 4, K = 3, LD = 7, ROOM = LD * 8 };

static void *handle;
static float whole(int i, int from)
{
	return (float)((i * 7 + from * 5) % 11 - 5);
}

/* The operands of a product: on the host, and on the device. */
struct operands {
	float a[2 * ROOM], b[2 * ROOM], c[2 * ROOM], d[2 * ROOM], bias[ROOM], aux[ROOM];
	void *on[6];
};

static void fill(struct operands *o)
{
	float *const hosts[] = {o->a, o->b, o->c, o->d, o->bias, o->aux};
	const size_t bytes[] = {sizeof o->a, sizeof o->b, sizeof o->c, sizeof o->d, sizeof o->bias, sizeof o->aux};

	for (int k = 0; k < 6; k++) {
		for (size_t i = 0; i < bytes[k] / sizeof(float); i++)
			hosts[k][i] = whole((int)i, k);
		MUST(cudaMalloc(&o->on[k], bytes[k]));
		MUST(cudaMemcpy(o->on[k], hosts[k], bytes[k], 1));
	}
}

static void compare(const void *device, const float *expected, int n, double within, const char *what)
{
	float got[2 * ROOM];
	int differ = 0;

	MUST(cudaMemcpy(got, device, (size_t)n * sizeof *got, 2));
	for (int i = 0; i < n; i++)
		differ += !(fabs((double)got[i] - (double)expected[i]) <= within);
	check(differ == 0, what);
}

static void *product_of(int ta, int tb, unsigned epilogue, const struct operands *o)
{
	const int64_t leading = LD;
	void *product;

	MUST(cublasLtMatmulDescCreate(&product, COMPUTE_F32, F32));
	MUST(cublasLtMatmulDescSetAttribute(product, TRANS_A, &ta, sizeof ta));
	MUST(cublasLtMatmulDescSetAttribute(product, TRANS_B, &tb, sizeof tb));
	MUST(cublasLtMatmulDescSetAttribute(product, EPILOGUE, &epilogue, sizeof epilogue));
	MUST(cublasLtMatmulDescSetAttribute(product, BIAS, &o->on[4], sizeof o->on[4]));
	MUST(cublasLtMatmulDescSetAttribute(product, AUX, &o->on[5], sizeof o->on[5]));
	MUST(cublasLtMatmulDescSetAttribute(product, AUX_LEADING, &leading, sizeof leading));
	return product;
}

/* The layouts of op(a), op(b), c and d; by rows: of all four. */
static void layouts_of(int ta, int tb, int by_rows, int batches, void *layouts[4])
{
	const uint64_t rows[] = {ta ? K : M, tb ? N : K, M, M}, columns[] = {ta ? M : K, tb ? K : N, N, N};
	const int64_t stride = ROOM;

	for (int i = 0; i < 4; i++) {
		MUST(cublasLtMatrixLayoutCreate(&layouts[i], F32, rows[i], columns[i], LD));
		MUST(cublasLtMatrixLayoutSetAttribute(layouts[i], ORDER, &by_rows, sizeof by_rows));
		MUST(cublasLtMatrixLayoutSetAttribute(layouts[i], BATCHES, &batches, sizeof batches));
		MUST(cublasLtMatrixLayoutSetAttribute(layouts[i], STRIDE, &stride, sizeof stride));
	}
}

static int multiply(const struct operands *o, void *product, void *layouts[4], float alpha, float beta)
{
	const uint64_t workspace = 1 << 20;
	struct {
		uint64_t algorithm[8];
		size_t workspace;
		int status;
		float waves;
		int reserved[4];
	} choice = {.status = -1};
	void *preference;
	int n = 0;

	MUST(cublasLtMatmulPreferenceCreate(&preference));
	MUST(cublasLtMatmulPreferenceSetAttribute(preference, 1, &workspace, sizeof workspace));
	MUST(cublasLtMatmulAlgoGetHeuristic(handle, product, layouts[0], layouts[1], layouts[2], layouts[3], preference, 1, &choice, &n));
	check(n == 1 && choice.status == 0, "an algorithm");
	MUST(cublasLtMatmulPreferenceDestroy(preference));
	return cublasLtMatmul(handle, product, &alpha, o->on[0], layouts[0], o->on[1], layouts[1], &beta, o->on[2], layouts[2], o->on[3],
			      layouts[3], &choice.algorithm, NULL, 0, NULL);
}

/* Element (i, j) of a matrix. */
static float *at(float *matrix, int turned, int by_rows, int i, int j)
{
	return matrix + (turned != by_rows ? i * LD + j : j * LD + i);
}

static double gelu(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/* Every transposition and order, in batches of two. */
static void forms(void)
{
	for (int form = 0; form < 8; form++) {
		int ta = form & 1, tb = form >> 1 & 1, by_rows = form >> 2;
		struct operands o;
		void *layouts[4];
		fill(&o);
		layouts_of(ta, tb, by_rows, 2, layouts);
		void *product = product_of(ta, tb, 1, &o);
		MUST(multiply(&o, product, layouts, 2, -1));
		for (int batch = 0; batch < 2; batch++)
			for (int i = 0; i < M; i++)
				for (int j = 0; j < N; j++) {
					float sum = 0;
					for (int k = 0; k < K; k++)
						sum += *at(o.a + batch * ROOM, ta, by_rows, i, k) * *at(o.b + batch * ROOM, tb, by_rows, k, j);
					*at(o.d + batch * ROOM, 0, by_rows, i, j) = 2 * sum - *at(o.c + batch * ROOM, 0, by_rows, i, j);
				}
		compare(o.on[3], o.d, 2 * ROOM, 0, "a form of the product");
		for (int i = 0; i < 4; i++)
			MUST(cublasLtMatrixLayoutDestroy(layouts[i]));
		MUST(cublasLtMatmulDescDestroy(product));
	}
}

/* What an epilogue makes of the value v of element (i, j). */
static double finished(unsigned epilogue, double v, struct operands *o, int i, int j)
{
	const double h = 1e-6, x = (double)o->aux[j * LD + i];

	if (epilogue & 4)
		v += (double)o->bias[i];
	if (epilogue & 64)
		return v * (gelu(x + h) - gelu(x - h)) / (2 * h);
	if (epilogue & 128)
		o->aux[j * LD + i] = (float)v;
	return epilogue & 2 ? fmax(v, 0) : epilogue & 32 ? gelu(v) : v;
}

static void epilogues(void)
{
	static const unsigned all[] = {1, 2, 4, 6, 32, 36, 160, 164, 192, 208, 256, 512};

	for (unsigned form = 0; form < sizeof all / sizeof *all; form++) {
		const unsigned epilogue = all[form];
		struct operands o;
		void *layouts[4];
		double sums[3][M] = {{0}};
		fill(&o);
		layouts_of(0, 0, 0, 1, layouts);
		MUST(multiply(&o, product_of(0, 0, epilogue, &o), layouts, 1, 0));
		for (int i = 0; i < M; i++)
			for (int j = 0; j < N; j++) {
				double sum = 0;
				for (int k = 0; k < K; k++)
					sum += (double)o.a[k * LD + i] * (double)o.b[j * LD + k];
				double value = finished(epilogue, sum, &o, i, j);
				o.d[j * LD + i] = (float)value;
				sums[0][i] += value;
			}
		for (int k = 0; k < K; k++) {
			for (int i = 0; i < M; i++)
				sums[1][i] += (double)o.a[k * LD + i];
			for (int j = 0; j < N; j++)
				sums[2][j] += (double)o.b[j * LD + k];
		}
		for (int i = 0; i < (epilogue & 512 ? N : M) && epilogue & (16 | 256 | 512); i++)
			o.bias[i] = (float)sums[epilogue & 16 ? 0 : epilogue & 256 ? 1 : 2][i];
		compare(o.on[3], o.d, ROOM, epilogue & (32 | 64) ? 1e-4 : 0, "the result of an epilogue");
		compare(o.on[4], o.bias, ROOM, 1e-3, "its bias");
		compare(o.on[5], o.aux, ROOM, 0, "its other matrix");
	}
}

static void descriptors(void)
{
	uint64_t room[8];
	size_t written = 0;
	int turned = 1, got = -1;
	struct operands o;
	fill(&o);
	void *product = product_of(turned, 0, 1, &o);

	MUST(cublasLtMatmulDescGetAttribute(product, TRANS_A, &got, sizeof got, &written));
	check(got == turned && written == sizeof got, "an attribute");
	MUST(cublasLtMatmulDescGetAttribute(product, BIAS, NULL, 0, &written));
	check(written == sizeof(void *), "the size of an attribute");
	check(cublasLtMatmulDescSetAttribute(product, TRANS_A, &turned, 8) == 7, "a wrong size");
	MUST(cublasLtMatrixLayoutInit_internal(room, sizeof room, F32, 1, 1, 1));
	check(cublasLtMatrixLayoutInit_internal(room, 4, F32, 1, 1, 1) == 3, "too little room");
}

static const char *status_of(int type, unsigned epilogue, int64_t rows_of_b)
{
	struct operands o;
	void *layouts[4];

	fill(&o);
	layouts_of(0, 0, 0, 1, layouts);
	MUST(cublasLtMatrixLayoutSetAttribute(layouts[0], 0, &type, sizeof type));
	MUST(cublasLtMatrixLayoutSetAttribute(layouts[1], 2, &rows_of_b, sizeof rows_of_b));
	return cublasLtGetStatusName(multiply(&o, product_of(0, 0, epilogue, &o), layouts, 1, 0));
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	const float one = 1;

	MUST(cublasLtCreate(&handle));
	if (strcmp(part, "results") == 0) {
		forms();
		epilogues();
		descriptors();
		check(strcmp(status_of(F32, 1, K + 1), "CUBLAS_STATUS_INVALID_VALUE") == 0, "sizes that do not fit");
	} else if (strcmp(part, "refused") == 0) {
		struct operands o;
		void *scale = &o;
		fill(&o);
		printf("%s\n", status_of(33, 1, K)); /* CUDA_R_4F_E2M1 */
		printf("%s\n", status_of(F32, 66, K)); /* RELU of the gradient of GELU */
		printf("%s\n", cublasLtGetStatusName(cublasLtMatmulDescSetAttribute(product_of(0, 0, 1, &o), AUX_SCALE, &scale, sizeof scale)));
		printf("%s\n", cublasLtGetStatusName(cublasLtMatrixTransform()));
	} else if (strcmp(part, "captured") == 0) {
		struct operands o;
		void *layouts[4], *stream;
		fill(&o);
		layouts_of(0, 0, 0, 1, layouts);
		MUST(cudaStreamCreate(&stream));
		MUST(cudaStreamBeginCapture(stream, 0));
		printf("%s\n", cublasLtGetStatusName(cublasLtMatmul(handle, product_of(0, 0, 1, &o), &one, o.on[0], layouts[0], o.on[1],
								      layouts[1], &one, o.on[2], layouts[2], o.on[3], layouts[3],
								      NULL, NULL, 0, stream)));
	}
	MUST(cublasLtDestroy(handle));
	printf(failures ? "%d differ\n" : "all as expected\n", failures);
	return failures > 0;
}
