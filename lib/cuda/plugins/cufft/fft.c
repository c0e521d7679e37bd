/* SPDX-License-Identifier: MIT */
/* The stand-in for cuFFT, whose kernels come as machine code alone: FFTW3 makes the transforms on the host, so that a program goes on.
 * Both libraries scale nothing, count signs alike, and describe strided and embedded data alike; a plan is kept until it is executed,
 * since FFTW plans for places in memory, and given to FFTW then. */
#include <fftw3.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/runtime/stub.h"

#define API GT_STUB_API

/* cufftResult, as far as it is returned here. */
enum status {
	SUCCESS = 0,
	INVALID_PLAN = 1,
	ALLOC_FAILED = 2,
	INVALID_TYPE = 3,
	INVALID_VALUE = 4,
	EXEC_FAILED = 6,
	INVALID_SIZE = 8,
	NOT_SUPPORTED = 16
};

/* cufftType: what is transformed into what; the upper bits say how wide the numbers are. */
enum type { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };

enum { VERSION_MAJOR = 12, VERSION_MINOR = 0, VERSION_PATCH = 0, MOST_DIMENSIONS = 3 };

/* How the numbers lie: element (i, j, k) of transform t is number ((i * embed[1] + j) * embed[2] + k) * stride + t * distance. */
struct layout {
	int embed[MOST_DIMENSIONS], stride, distance;
};

struct plan {
	void *stream;
	enum type type; /* 0: not made yet */
	int rank, batch, n[MOST_DIMENSIONS];
	bool simple;		   /* one behind the other, with rows of real numbers padded if the result goes where they are */
	struct layout layouts[2]; /* of what goes in and of what comes out; those of a simple plan are found when it is executed */
};

/* Plans by number, the first of which is 1; NULL where one was destroyed. */
static struct {
	pthread_mutex_t lock;
	struct plan **at;
	size_t capacity;
	int n;
} plans = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

static struct plan *find(int number)
{
	pthread_mutex_lock(&plans.lock);
	struct plan *plan = number >= 1 && number <= plans.n ? plans.at[number - 1] : NULL;
	pthread_mutex_unlock(&plans.lock);
	return plan;
}

API int cufftCreate(int *number)
{
	if (!number)
		return INVALID_VALUE;
	pthread_mutex_lock(&plans.lock);
	struct plan *plan = calloc(1, sizeof *plan), **grown = gt_grown(plans.at, (size_t)plans.n, &plans.capacity, sizeof *grown);
	if (grown)
		plans.at = grown;
	if (grown && plan) {
		grown[plans.n] = plan;
		*number = ++plans.n;
	} else
		free(plan);
	pthread_mutex_unlock(&plans.lock);
	return grown && plan ? SUCCESS : ALLOC_FAILED;
}

API int cufftDestroy(int number)
{
	struct plan *plan = find(number);

	if (!plan)
		return INVALID_PLAN;
	pthread_mutex_lock(&plans.lock);
	plans.at[number - 1] = NULL;
	pthread_mutex_unlock(&plans.lock);
	free(plan);
	return SUCCESS;
}

/* ---- plans ---- */

static bool is_type(int type)
{
	return type == R2C || type == C2R || type == C2C || type == D2Z || type == Z2D || type == Z2Z;
}

static bool is_wide(enum type type)
{
	return type == D2Z || type == Z2D || type == Z2Z;
}

/* Whether the numbers that go in, or those that come out, are real ones. */
static bool is_real(enum type type, unsigned side)
{
	return side == 0 ? type == R2C || type == D2Z : type == C2R || type == Z2D;
}

/* Whether a layout may be one: every step goes on. */
static bool is_layout(const struct layout *layout, int rank)
{
	bool valid = layout->stride >= 1 && layout->distance >= 0;

	for (int d = 1; d < rank; d++)
		valid = valid && layout->embed[d] >= 1;
	return valid;
}

/* Makes a plan of what it is given; `layouts`: NULL is a simple plan. */
static int make(int number, int rank, const int *n, const struct layout layouts[2], int type, int batch, size_t *work)
{
	struct plan *plan = find(number);

	if (!plan || plan->type)
		return INVALID_PLAN;
	if (!is_type(type))
		return INVALID_TYPE;
	if (rank < 1 || rank > MOST_DIMENSIONS || !n || (layouts && (!is_layout(&layouts[0], rank) || !is_layout(&layouts[1], rank))))
		return INVALID_VALUE;
	if (batch < 1)
		return INVALID_SIZE;
	for (int d = 0; d < rank; d++)
		if (n[d] < 1)
			return INVALID_SIZE;
	plan->type = (enum type)type;
	plan->rank = rank;
	plan->batch = batch;
	memcpy(plan->n, n, (size_t)rank * sizeof *n);
	plan->simple = !layouts;
	if (layouts)
		memcpy(plan->layouts, layouts, sizeof plan->layouts);
	if (work)
		*work = 0;
	return SUCCESS;
}

/* As cuFFT has it, the strides count if both embedding sizes are given. */
static int make_many(int number, int rank, const int *n, const int *in, int in_stride, int in_distance, const int *out, int out_stride,
		     int out_distance, int type, int batch, size_t *work)
{
	struct layout layouts[2] = {{{0}, in_stride, in_distance}, {{0}, out_stride, out_distance}};

	if (!in || !out)
		return make(number, rank, n, NULL, type, batch, work);
	for (int d = 0; d < rank && d < MOST_DIMENSIONS; d++) {
		layouts[0].embed[d] = in[d];
		layouts[1].embed[d] = out[d];
	}
	return make(number, rank, n, layouts, type, batch, work);
}

API int cufftMakePlanMany(int number, int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride,
			  int out_distance, int type, int batch, size_t *work)
{
	return make_many(number, rank, n, in, in_stride, in_distance, out, out_stride, out_distance, type, batch, work);
}

/* FFTW takes an int each. */
static int narrow(int to[MOST_DIMENSIONS], int rank, const long long *from)
{
	int fits = 1;

	for (int d = 0; from && d < rank && d < MOST_DIMENSIONS; d++) {
		fits &= from[d] <= INT_MAX && from[d] >= INT_MIN;
		to[d] = fits ? (int)from[d] : 0;
	}
	return fits;
}

API int cufftMakePlanMany64(int number, int rank, long long *n, long long *in, long long in_stride, long long in_distance, long long *out,
			    long long out_stride, long long out_distance, int type, long long batch, size_t *work)
{
	int of_n[MOST_DIMENSIONS] = {0}, of_in[MOST_DIMENSIONS] = {0}, of_out[MOST_DIMENSIONS] = {0};
	const long long others[] = {in_stride, in_distance, out_stride, out_distance, batch};
	int narrowed[MOST_DIMENSIONS];

	if (!narrow(of_n, rank, n) || !narrow(of_in, rank, in) || !narrow(of_out, rank, out) || !narrow(narrowed, 3, others) ||
	    !narrow(narrowed, 2, others + 3)) {
		gt_stub_refuse("cufftMakePlanMany64 beyond 2^31 - 1");
		return NOT_SUPPORTED;
	}
	return make_many(number, rank, n ? of_n : NULL, in ? of_in : NULL, (int)in_stride, (int)in_distance, out ? of_out : NULL,
			 (int)out_stride, (int)out_distance, type, (int)batch, work);
}

API int cufftMakePlan1d(int number, int x, int type, int batch, size_t *work)
{
	return make(number, 1, (const int[]){x}, NULL, type, batch, work);
}

API int cufftMakePlan2d(int number, int x, int y, int type, size_t *work)
{
	return make(number, 2, (const int[]){x, y}, NULL, type, 1, work);
}

API int cufftMakePlan3d(int number, int x, int y, int z, int type, size_t *work)
{
	return make(number, 3, (const int[]){x, y, z}, NULL, type, 1, work);
}

/* Calls that create a plan and make it at once: MAKE, with the arguments behind the number. */
#define ONLY(...) __VA_ARGS__
#define PLAN(NAME, PARAMETERS, ARGUMENTS)                                                 \
	API int cufftPlan##NAME(int *number, PARAMETERS)                                  \
	{                                                                                 \
		int status = cufftCreate(number);                                         \
		status = status == SUCCESS ? cufftMakePlan##NAME(*number, ARGUMENTS, NULL) : status; \
		if (status != SUCCESS && number)                                          \
			cufftDestroy(*number);                                            \
		return status;                                                            \
	}
PLAN(1d, ONLY(int x, int type, int batch), ONLY(x, type, batch))
PLAN(2d, ONLY(int x, int y, int type), ONLY(x, y, type))
PLAN(3d, ONLY(int x, int y, int z, int type), ONLY(x, y, z, type))
PLAN(Many,
     ONLY(int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride, int out_distance, int type, int batch),
     ONLY(rank, n, in, in_stride, in_distance, out, out_stride, out_distance, type, batch))

/* ---- settings, and the work area, of which nothing is needed ---- */

API int cufftSetStream(int number, void *stream)
{
	struct plan *plan = find(number);

	if (plan)
		plan->stream = stream;
	return plan ? SUCCESS : INVALID_PLAN;
}

API int cufftSetWorkArea(int number, void *area)
{
	(void)area;
	return find(number) ? SUCCESS : INVALID_PLAN;
}

API int cufftSetAutoAllocation(int number, int wanted)
{
	(void)wanted;
	return find(number) ? SUCCESS : INVALID_PLAN;
}

/* Calls that ask how large the work area is. Their other arguments are not read. */
#define AREA(NAME, ...)                                   \
	API int cufft##NAME(__VA_ARGS__, size_t *work)    \
	{                                                 \
		if (!work)                                \
			return INVALID_VALUE;             \
		*work = 0;                                \
		return SUCCESS;                           \
	}
#define UNUSED __attribute__((unused))
AREA(GetSize, UNUSED int number)
AREA(Estimate1d, UNUSED int x, UNUSED int type, UNUSED int batch)
AREA(Estimate2d, UNUSED int x, UNUSED int y, UNUSED int type)
AREA(Estimate3d, UNUSED int x, UNUSED int y, UNUSED int z, UNUSED int type)
AREA(EstimateMany, UNUSED int rank, UNUSED int *n, UNUSED int *in, UNUSED int in_stride, UNUSED int in_distance, UNUSED int *out,
     UNUSED int out_stride, UNUSED int out_distance, UNUSED int type, UNUSED int batch)
AREA(GetSize1d, UNUSED int number, UNUSED int x, UNUSED int type, UNUSED int batch)
AREA(GetSize2d, UNUSED int number, UNUSED int x, UNUSED int y, UNUSED int type)
AREA(GetSize3d, UNUSED int number, UNUSED int x, UNUSED int y, UNUSED int z, UNUSED int type)
AREA(GetSizeMany, UNUSED int number, UNUSED int rank, UNUSED int *n, UNUSED int *in, UNUSED int in_stride, UNUSED int in_distance,
     UNUSED int *out, UNUSED int out_stride, UNUSED int out_distance, UNUSED int type, UNUSED int batch)
AREA(GetSizeMany64, UNUSED int number, UNUSED int rank, UNUSED long long *n, UNUSED long long *in, UNUSED long long in_stride,
     UNUSED long long in_distance, UNUSED long long *out, UNUSED long long out_stride, UNUSED long long out_distance, UNUSED int type,
     UNUSED long long batch)

API int cufftGetVersion(int *version)
{
	if (!version)
		return INVALID_VALUE;
	*version = VERSION_MAJOR * 1000 + VERSION_MINOR * 100 + VERSION_PATCH;
	return SUCCESS;
}

API int cufftGetProperty(int which, int *value)
{
	static const int parts[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH};

	if (which < 0 || which > 2 || !value)
		return INVALID_VALUE;
	*value = parts[which];
	return SUCCESS;
}

/* ---- transforms ---- */

/* Half of a real transform's results are the conjugates of the others, and are left out. */
static int numbers_of_row(const struct plan *plan, unsigned side)
{
	const int n = plan->n[plan->rank - 1];

	return !is_real(plan->type, 0) && !is_real(plan->type, 1) ? n : is_real(plan->type, side) ? n : n / 2 + 1;
}

/* A transform's numbers one behind the other; in place, a row of real ones has the room of its complex ones. */
static struct layout simple_layout(const struct plan *plan, unsigned side, bool in_place)
{
	struct layout layout = {{0}, 1, 1};

	for (int d = 0; d < plan->rank; d++) {
		layout.embed[d] = plan->n[d];
		if (d == plan->rank - 1)
			layout.embed[d] = in_place && is_real(plan->type, side) ? 2 * numbers_of_row(plan, !side) : numbers_of_row(plan, side);
		layout.distance *= layout.embed[d];
	}
	return layout;
}

/* Numbers from the first to the last; UINT64_MAX of more than there can be. */
static uint64_t reach(const struct plan *plan, unsigned side, const struct layout *layout)
{
	uint64_t last = 0, more, n = 1;
	bool over = false;

	for (int d = 0; d < plan->rank; d++) {
		over = over || __builtin_mul_overflow(last, (uint64_t)layout->embed[d], &last);
		last += (uint64_t)(d == plan->rank - 1 ? numbers_of_row(plan, side) : plan->n[d]) - 1;
	}
	over = over || __builtin_mul_overflow(last, (uint64_t)layout->stride, &last);
	over = over || __builtin_mul_overflow((uint64_t)plan->batch - 1, (uint64_t)layout->distance, &more);
	over = over || __builtin_add_overflow(last, more, &last) || __builtin_add_overflow(last, 1, &n);
	return over ? UINT64_MAX : n;
}

/* A transform by FFTW, of floats or doubles. False if FFTW cannot plan it. */
#define TRANSFORM(NAME, X)                                                                                                      \
	static bool NAME(const struct plan *plan, const struct layout of[2], void *in, void *out, int sign)                           \
	{                                                                                                                             \
		const struct layout *a = &of[0], *b = &of[1];                                                                         \
		X##plan made;                                                                                                         \
		if (is_real(plan->type, 0))                                                                                           \
			made = X##plan_many_dft_r2c(plan->rank, plan->n, plan->batch, in, a->embed, a->stride, a->distance, out, b->embed, \
						    b->stride, b->distance, FFTW_ESTIMATE);                                           \
		else if (is_real(plan->type, 1))                                                                                      \
			made = X##plan_many_dft_c2r(plan->rank, plan->n, plan->batch, in, a->embed, a->stride, a->distance, out, b->embed, \
						    b->stride, b->distance, FFTW_ESTIMATE);                                           \
		else                                                                                                                  \
			made = X##plan_many_dft(plan->rank, plan->n, plan->batch, in, a->embed, a->stride, a->distance, out, b->embed, \
						b->stride, b->distance, sign, FFTW_ESTIMATE);                                         \
		if (!made)                                                                                                            \
			return false;                                                                                                 \
		X##execute(made);                                                                                                     \
		X##destroy_plan(made);                                                                                                \
		return true;                                                                                                          \
	}
TRANSFORM(transform_floats, fftwf_)
TRANSFORM(transform_doubles, fftw_)

/* FFTW destroys what goes into a transform to real numbers, and cuFFT leaves it: it gets a copy. */
static int run(const struct plan *plan, const struct layout of[2], void *in, uint64_t bytes, void *out, int sign)
{
	void *copy = in != out && is_real(plan->type, 1) ? malloc(bytes) : NULL;

	if (in != out && is_real(plan->type, 1) && !copy)
		return ALLOC_FAILED;
	if (copy)
		in = memcpy(copy, in, bytes);
	const bool done = (is_wide(plan->type) ? transform_doubles : transform_floats)(plan, of, in, out, sign);
	free(copy);
	return done ? SUCCESS : EXEC_FAILED;
}

static int execute(const char *name, int number, enum type type, const void *in, void *out, int sign)
{
	const struct plan *plan = find(number);
	uint64_t each[2], n[2];

	if (!plan || plan->type != type)
		return INVALID_PLAN;
	if (sign != FFTW_FORWARD && sign != FFTW_BACKWARD)
		return INVALID_VALUE;
	struct layout of[2];
	for (unsigned side = 0; side < 2; side++) {
		of[side] = plan->simple ? simple_layout(plan, side, in == out) : plan->layouts[side];
		n[side] = reach(plan, side, &of[side]);
		each[side] = (is_wide(type) ? sizeof(double) : sizeof(float)) * (is_real(type, side) ? 1 : 2);
	}
	if (!gt_stub_begin(name, plan->stream, 0))
		return NOT_SUPPORTED;
	void *from = gt_stub_at(name, in, n[0], each[0], false);
	void *to = gt_stub_at(name, out, n[1], each[1], true);
	const int status = run(plan, of, from, n[0] * each[0], to, sign);
	gt_stub_end();
	return status;
}

API int cufftExecC2C(int number, void *in, void *out, int direction)
{
	return execute("cufftExecC2C", number, C2C, in, out, direction);
}

API int cufftExecZ2Z(int number, void *in, void *out, int direction)
{
	return execute("cufftExecZ2Z", number, Z2Z, in, out, direction);
}

/* The direction of these is that of their types. */
#define EXECUTE(TYPE, SIGN)                                                          \
	API int cufftExec##TYPE(int number, void *in, void *out)                     \
	{                                                                            \
		return execute("cufftExec" #TYPE, number, TYPE, in, out, SIGN);      \
	}
EXECUTE(R2C, FFTW_FORWARD)
EXECUTE(C2R, FFTW_BACKWARD)
EXECUTE(D2Z, FFTW_FORWARD)
EXECUTE(Z2D, FFTW_BACKWARD)

/* ---- calls that are refused by name; their arguments are not read ---- */

#define REFUSED(NAME)                           \
	API int cufft##NAME(void);              \
	API int cufft##NAME(void)               \
	{                                       \
		gt_stub_refuse("cufft" #NAME);  \
		return NOT_SUPPORTED;           \
	}
REFUSED(Debug)
REFUSED(GetPlanPropertyInt64)
REFUSED(SetPlanPropertyInt64)
REFUSED(ResetPlanProperty)
REFUSED(XtClearCallback)
REFUSED(XtExec)
REFUSED(XtExecDescriptor)
REFUSED(XtExecDescriptorC2C)
REFUSED(XtExecDescriptorC2R)
REFUSED(XtExecDescriptorD2Z)
REFUSED(XtExecDescriptorR2C)
REFUSED(XtExecDescriptorZ2D)
REFUSED(XtExecDescriptorZ2Z)
REFUSED(XtFree)
REFUSED(XtGetSizeMany)
REFUSED(XtMakePlanGuru64)
REFUSED(XtMakePlanMany)
REFUSED(XtMalloc)
REFUSED(XtMemcpy)
REFUSED(XtQueryPlan)
REFUSED(XtSetCallback)
REFUSED(XtSetCallbackSharedSize)
REFUSED(XtSetGPUs)
REFUSED(XtSetJITCallback)
REFUSED(XtSetWorkArea)
REFUSED(XtSetWorkAreaPolicy)
