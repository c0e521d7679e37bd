/* SPDX-License-Identifier: MIT */
/* Instructions on matrices against matrices of the test's own: each fragment is put together element by element, by
 * the formulas of the PTX ISA, and each product is summed in long double, or in integers, by its definition. */
#define CELLS 8192
#include <math.h>
#include <stdarg.h>

#include "ptx_cells.h"
#include "stream/op.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"

static uint64_t seed = 88172645463325252;
static uint32_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* ---- elements ---- */

static bool is(const char *type, const char *name)
{
	return strcmp(type, name) == 0;
}

/* Of e2m1: 4, or 8 where it is bits 2 to 5 of a byte. */
static unsigned fp4_bits = 8;

static unsigned bits_of(const char *type)
{
	if (is(type, "e2m1"))
		return fp4_bits;
	return is(type, "b1") ? 1 : type[0] == 'b' ? 16 : type[0] == 't' ? 32 : type[0] == 'e' ? 8 : (unsigned)atoi(type + 1);
}

static bool is_whole(const char *type)
{
	return type[0] == 's' || type[0] == 'u' || is(type, "b1");
}

/* A small float: sign, exponent of `e` bits, fraction of `f`. Without infinities the largest exponent is one like others. */
static long double small_float(uint64_t raw, unsigned e, unsigned f, bool infinities)
{
	long exponent = (long)(raw >> f & ((1U << e) - 1)), bias = (1L << (e - 1)) - 1;
	long double fraction = (long double)(raw & ((1U << f) - 1)) / (long double)(1U << f), value;

	if (exponent == (1L << e) - 1 && infinities)
		value = fraction > 0 ? (long double)NAN : (long double)INFINITY;
	else
		value = exponent ? ldexpl(1 + fraction, (int)(exponent - bias)) : ldexpl(fraction, (int)(1 - bias));
	return raw >> (e + f) & 1 ? -value : value;
}

static long double value_of(const char *type, uint64_t raw)
{
	double wide;

	if (is(type, "f64")) {
		memcpy(&wide, &raw, sizeof wide);
		return wide;
	}
	if (is(type, "f16"))
		return small_float(raw, 5, 10, true);
	if (is(type, "bf16"))
		return small_float(raw, 8, 7, true);
	if (is(type, "e4m3"))
		return small_float(raw, 4, 3, false);
	if (is(type, "e5m2"))
		return small_float(raw, 5, 2, true);
	if (is(type, "e2m3"))
		return small_float(raw, 2, 3, false);
	if (is(type, "e3m2"))
		return small_float(raw, 3, 2, false);
	if (is(type, "e2m1"))
		return small_float(raw >> (fp4_bits == 8 ? 2 : 0), 2, 1, false);
	if (is(type, "tf32"))
		return small_float(raw >> 13, 8, 10, true);
	if (is(type, "f32"))
		return small_float(raw, 8, 23, true);
	int64_t sign = INT64_C(1) << (bits_of(type) - 1);
	return type[0] == 's' ? (long double)((int64_t)(raw ^ (uint64_t)sign) - sign) : (long double)raw;
}

/* Any integer; floats of middling size, subnormals and zeros among those of 8 and 16 bits. */
static uint64_t random_element(const char *type)
{
	double value = (double)((int)(draw() % 4001) - 2000) / 256;
	float single = (float)value * 1.0009765625F;
	uint64_t raw = 0;

	if (is(type, "f64"))
		memcpy(&raw, &value, sizeof value);
	else if (is(type, "f32") || is(type, "tf32"))
		memcpy(&raw, &single, sizeof single);
	else if (is(type, "f16"))
		raw = draw() & 0xcbff; /* subnormals, and up to 16 */
	else if (is(type, "bf16"))
		raw = (draw() & 0x87ff) | 0x3c00; /* from 2^-7 to 2 */
	else if (is(type, "e2m3") || is(type, "e3m2"))
		raw = draw() & 0x3f;
	else if (is(type, "e2m1"))
		raw = (draw() & 0xf) << (fp4_bits == 8 ? 2 : 0);
	else if (type[0] == 'e')
		raw = draw() & (is(type, "e4m3") ? 0xf7 : 0xdb); /* no NaNs and infinities */
	else if (is(type, "s32"))
		raw = draw() % 2 ? draw() : UINT32_C(0x7fffff00) + draw() % 512; /* at the ends of the range too */
	else
		raw = draw() & (uint32_t)((UINT64_C(1) << bits_of(type)) - 1);
	return raw;
}

/* ---- fragments of mma, by the formulas of the ISA ---- */

struct variant {
	unsigned m, n, k;
	const char *layout_a, *layout_b, *d, *a, *b, *c;
	const char *before, *behind; /* the types */
};

/* Of element i of a lane. */
struct place {
	unsigned quad, row, column;
};

static bool in_quads(const struct variant *v)
{
	return v->m == 8 && v->k == 4 && is(v->a, "f16");
}

static struct place quad_place(const struct variant *v, char role, const char *type, unsigned lane, unsigned i)
{
	const unsigned quad = lane % 16 / 4, high = lane < 16 ? 0 : 4;
	const bool a_by_rows = is(v->layout_a, "row"), b_by_rows = is(v->layout_b, "row");

	if (role == 'a' && a_by_rows)
		return (struct place){quad, lane % 4 + high, i};
	if (role == 'a')
		return (struct place){quad, i % 4 + high, lane % 4};
	if (role == 'b' && b_by_rows)
		return (struct place){quad, lane % 4, i + high};
	if (role == 'b')
		return (struct place){quad, i, lane % 4 + high};
	if (is(type, "f16"))
		return (struct place){quad, lane % 4 + high, i};
	return (struct place){quad, (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

static struct place place_of(const struct variant *v, char role, const char *type, unsigned lane, unsigned i)
{
	unsigned group = lane >> 2, thread = lane % 4, p = bits_of(type) < 32 ? 32 / bits_of(type) : 1;

	if (in_quads(v))
		return quad_place(v, role, type, lane, i);
	if (role == 'c')
		return (struct place){0, i < 2 ? group : group + 8, thread * 2 + (i & 1)};
	if (role == 'b')
		return (struct place){0, thread * p + i % p + i / p * 4 * p, group};
	if (v->m == 8)
		return (struct place){0, group, thread * p + i};
	return (struct place){0, i / p % 2 ? group + 8 : group, thread * p + i % p + i / (2 * p) * 4 * p};
}

struct matrix {
	uint64_t raw[4][256][256]; /* by quad, row, column */
};
static struct matrix a, b, c, d;

static void randomize(struct matrix *matrix, const char *type)
{
	/* A has up to 16 rows of 256 columns, B up to 256 rows of 8. */
	for (unsigned quad = 0; quad < 4; quad++)
		for (unsigned row = 0; row < 256; row++)
			for (unsigned column = 0; column < (row < 32 ? 256 : 32); column++)
				matrix->raw[quad][row][column] = random_element(type);
}

/* Registers a lane of a matrix. */
static unsigned registers_of(const struct variant *v, unsigned rows, unsigned columns, const char *type)
{
	unsigned bits = rows * columns * bits_of(type) * (in_quads(v) ? 4 : 1);

	return bits / 32 / (bits_of(type) == 64 ? 64 : 32);
}

/* From a matrix to the registers of all lanes, cells[32 r + lane] of 64 bits each, or back. */
static void move(const struct variant *v, char role, const char *type, struct matrix *matrix, unsigned registers,
		 uint64_t *cells, bool back)
{
	unsigned bits = bits_of(type), p = bits < 32 ? 32 / bits : 1;
	uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned i = 0; i < registers * p; i++) {
			struct place at = place_of(v, role, type, lane, i);
			uint64_t *raw = &matrix->raw[at.quad][at.row][at.column], *cell = &cells[i / p * 32 + lane];
			if (back)
				*raw = *cell >> i % p * bits & all;
			else
				*cell |= *raw << i % p * bits;
		}
}

/* ---- D = A B + C, element by element ---- */

static void check_integer(const struct variant *v, unsigned quad, unsigned row, unsigned column)
{
	const bool bits = is(v->a, "b1"), differs = strstr(v->behind, "xor") != NULL;
	int64_t sum = (int32_t)c.raw[quad][row][column];

	for (unsigned k = 0; k < v->k; k++) {
		uint64_t x = a.raw[quad][row][k], y = b.raw[quad][k][column];
		sum += bits ? (int64_t)(differs ? x ^ y : x & y) : (int64_t)(value_of(v->a, x) * value_of(v->b, y));
	}
	if (is(v->before, ".satfinite"))
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	CHECK_EQUAL((uint32_t)d.raw[quad][row][column], (uint32_t)sum);
}

/* Scales of A and B: words of all lanes; the first byte of them, and which lanes of each four count. */
static struct {
	unsigned scaled; /* elements with one scale; 0: there are none */
	bool powers;
	uint32_t words[2][32];
	unsigned byte[2], thread[2];
} scales;

/* Of a row of A, or a column of B. */
static long double scale_of(unsigned of, unsigned line, unsigned k)
{
	if (!scales.scaled)
		return 1;
	const unsigned lane = of == 0 ? line % 8 * 4 + scales.thread[0] * 2 + line / 8 : line * 4 + scales.thread[1];
	const unsigned byte = scales.words[of][lane] >> 8 * (scales.byte[of] + k / scales.scaled) & 255;
	return scales.powers ? ldexpl(1, (int)byte - 127) : small_float(byte & 127, 4, 3, false);
}

static void check_float(const struct variant *v, unsigned quad, unsigned row, unsigned column)
{
	long double sum = value_of(v->c, c.raw[quad][row][column]), sizes = fabsl(sum), greatest = sizes;
	long double found = value_of(v->d, d.raw[quad][row][column]);
	const bool half = is(v->d, "f16");

	for (unsigned k = 0; k < v->k; k++) {
		long double product = value_of(v->a, a.raw[quad][row][k]) * value_of(v->b, b.raw[quad][k][column]);
		product *= scale_of(0, row, k) * scale_of(1, column, k);
		sum += product;
		sizes += fabsl(product);
		greatest = fabsl(product) > greatest ? fabsl(product) : greatest;
	}
	/* Half a unit in the last place of the result, or one if it is cut, and what sums in double precision lose, or those whose terms are. */
	const bool cuts = !is(v->d, "f64") && !in_quads(v) && !scales.scaled;
	long double most = ldexpl(fabsl(sum), half ? -11 : is(v->d, "f32") ? -24 + cuts : -52) + ldexpl(sizes, -47);
	most += cuts ? (v->k + 3) * ldexpl(greatest, -25) : 0;
	/* Of bytes parts of the sum are halves, too. */
	const bool parts = half && cuts && bits_of(v->a) == 8;
	if (half)
		most += 0x1p-25L + (parts ? ldexpl(sizes, -10) + 0x1p-23L : 0);
	CHECK(fabsl(found - sum) <= most || (half && (parts ? sizes : fabsl(sum)) >= 65504 && !isfinite(found)));
}

static void check_product(const struct variant *v)
{
	for (unsigned quad = 0; quad < (in_quads(v) ? 4 : 1); quad++)
		for (unsigned row = 0; row < v->m; row++)
			for (unsigned column = 0; column < v->n; column++)
				(is_whole(v->d) ? check_integer : check_float)(v, quad, row, column);
}

/* What an H100 made of these: a row of A, a column of B, C, and the bits of D. Each differs from the exact sum rounded to nearest. */
static const struct {
	enum gt_ptx_element a, b, d;
	bool of_warpgroup;
	unsigned depth;
	double row[32], column[32], c;
	uint32_t bits;
} on_hardware[] = {
	{GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, false, 8, {-0x1.c2p-10, 0x1.0b4p-7, -0x1.d6cp+7, -0x1.9ccp+4, 0x1.e54p+0, 0x1.aa8p-3, 0x1.57p+2,
		-0x1.7fcp-3}, {0x1.a68p-13, 0x1.408p-13, -0x1.3bp+2, 0x1.12p+4, 0x1.4dcp-2, 0x1.6d4p-1, 0x1.36p+12, -0x1.7e8p-7},
		0x1.c720a6p+6, 0x46d62b87},
	{GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, false, 8, {-0x1.63cp-2, 0x1.58cp-6, -0x1.d4p-8, -0x1.f04p-9, 0x1.ba4p-9, 0x1.2dp-6, 0x1.d24p-3,
		0x1.2fcp-3}, {0x1.47cp+2, 0x1.8ecp+5, -0x1.6b4p-9, 0x1.3bcp-3, 0x1.2e4p+4, -0x1.36cp+2, 0x1.128p+0, -0x1.fp+11},
		-0x1.94f542p-2, 0xc4135b17},
	{GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_F32, false, 8, {0x1.c8p-5, 0x1.a8p-11, -0x1.8p-13, -0x1.bcp+8, 0x1.8p-8, -0x1.d2p+10, 0x1.a8p-2,
		-0x1.8p+7}, {-0x1.b4p-11, -0x1.98p+7, 0x1.5ep-1, 0x1.0cp+6, 0x1.f4p-5, 0x1.08p-6, -0x1.eep+7, -0x1.2ap-5},
		-0x1.f57438p-3, 0xc6e96377},
	{GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_F32, false, 8, {-0x1.02p+8, 0x1.34p-11, 0x1.66p+4, -0x1.1ap+3, -0x1.04p+11, -0x1.2ap-1, -0x1.e8p+9,
		-0x1.56p+0}, {-0x1.96p-1, -0x1.18p-6, -0x1.18p-1, -0x1.2p-5, -0x1.dep+10, -0x1.56p+6, -0x1.b4p-7, -0x1.34p+3},
		0x1.d1d5acp+10, 0x4a72dd4d},
	{GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_F32, false, 4, {0x1.308p+5, 0x1.34cp+12, 0x1.944p-12, -0x1.d08p-10}, {0x1.694p+10, 0x1.724p-5,
		0x1.3ccp+11, 0x1.04cp-3}, 0x1.c720a6p+6, 0x47582a57},
	{GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_F32, false, 4, {0x1.94p+10, 0x1.a3p-13, 0x1.678p-7, 0x1.11p-4}, {0x1.b04p-6, 0x1.42p+0, -0x1.56p+2,
		0x1.ea8p-10}, -0x1.d0e98ep-5, 0x422a137c},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_F32, false, 16, {0x1.ep-4, 0x1.8p-2, -0x1.ap+6, 0x1p-4, 0x1.ep+1, -0x1.4p-5, 0x1p-6, -0x1.cp-2,
		-0x1.2p+6, 0x1.ep+2, 0x1p+4, 0x1.2p+2, -0x1.8p+4, 0x1.6p-2, 0x1.2p+6, 0x1.8p+6}, {-0x1.6p-4, 0x1.cp+5, -0x1.ep+6,
		-0x1.6p+3, -0x1.4p-4, 0x1.ap+0, 0x1.4p+0, -0x1.ap+5, -0x1.6p-5, 0x1p-6, 0x1.6p-1, -0x1.ep+4, 0x1.cp+7, 0x1p+2,
		-0x1.ep+2, 0x1.2p-3}, -0x1.2d987ep-11, 0x45cb2669},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_F32, false, 16, {0x1.ep-4, 0x1.8p-2, -0x1.ap+6, 0x1p-4, 0x1.ep+1, -0x1.4p-5, 0x1p-6, -0x1.cp-2,
		-0x1.2p+6, 0x1.ep+2, 0x1p+4, 0x1.2p+2, -0x1.8p+4, 0x1.6p-2, 0x1.2p+6, 0x1.8p+6}, {-0x1.4p-6, 0x1.4p+2, 0x1.ep-3,
		-0x1.ep-6, 0x1p+5, -0x1.6p+3, -0x1p+3, -0x1p+2, -0x1.8p-3, 0x1p+6, 0x1.4p+7, -0x1.8p+7, 0x1.2p+7, -0x1.8p+3, -0x1p-1,
		-0x1p-6}, -0x1.2ccdc8p-13, 0xc4971262},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E5M2, GT_PTX_ELEMENT_F32, true, 32, {-0x1.8p+2, 0x1p-1, 0x1.2p+0, 0x1.2p+2, 0x1.cp+1, -0x1.6p-1, 0x1.ap+1, -0x1p+1, 0x1.6p+0,
		-0x1.6p-1, -0x1.cp-3, -0x1.ep+1, -0x1.4p-3, 0x1.8p-2, -0x1p-3, 0x1.4p-3, 0x1.cp-3, -0x1.6p+1, 0x1.4p-1, 0x1.8p+2,
		0x1.ep-3, -0x1.ep-2, -0x1.8p-1, -0x1.ep+0, -0x1.8p+0, 0x1.8p-2, 0x1.cp+1, -0x1.4p-3, 0x1p-3, 0x1.cp-1, -0x1.ep+2,
		0x1.6p+0}, {-0x1.8p+1, 0x1p+0, -0x1p+1, 0x1p+1, 0, 0x1p+1, 0x1p+1, -0x1.8p+1, -0x1.8p+1, -0x1p+0, -0x1p+2, -0x1p+2,
		0x1p+1, -0x1.8p+1, 0x1.8p+1, -0x1p+0, 0x1p+2, 0, -0x1p+0, 0x1p+2, -0x1p+1, 0x1p+0, 0x1.8p+1, -0x1p+1, 0x1p+1, 0x1p+1,
		0, 0x1.8p+1, -0x1p+0, -0x1p+2, 0x1p+0, -0x1p+1}, 0x1.37dd3p-1, 0x425eac00},
};

static void test_sums_of_hardware(void)
{
	for (size_t i = 0; i < sizeof on_hardware / sizeof *on_hardware; i++) {
		const unsigned depth = on_hardware[i].depth, row = (unsigned)i % 8, column = (unsigned)i * 3 % 8;
		const struct gt_ptx_sums sums = gt_ptx_sums_of(on_hardware[i].a, on_hardware[i].b, on_hardware[i].d, on_hardware[i].of_warpgroup, 90);
		double left[8 * 32] = {0}, right[8 * 32] = {0}, both[8 * 8] = {0};
		memcpy(left + row * depth, on_hardware[i].row, depth * sizeof *left);
		memcpy(right + column * depth, on_hardware[i].column, depth * sizeof *right);
		both[row * 8 + column] = on_hardware[i].c;
		gt_ptx_multiply_cut(&sums, 8, 8, depth, left, right, both);
		CHECK_EQUAL(gt_ptx_element_of(both[row * 8 + column], GT_PTX_ELEMENT_F32, false), on_hardware[i].bits);
	}
}

/* 1, and products of one size at two places or more of a row of 32: by hand, from how many products a GPU sums at once and how many bits it
 * keeps of each (Fasi et al., Numerical Behavior of NVIDIA Tensor Cores, section 4; Khattak and Mikaitis, Accurate Models of NVIDIA Tensor Cores). */
static const struct {
	unsigned capability;
	enum gt_ptx_element element, d;
	int exponent;
	uint32_t places; /* a bit each */
	uint32_t bits;
} by_generation[] = {
	{70, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -23, 0x1, 0x3f800001}, {70, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x3, 0x3f800000},
	{75, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x3, 0x3f800001}, {75, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x11, 0x3f800000},
	{75, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -25, 0xf, 0x3f800000}, {80, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x11, 0x3f800001},
	{80, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x101, 0x3f800000}, {86, GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_F32, -25, 0xff, 0x3f800000},
	{89, GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_F32, -24, 0x3, 0x3f800001}, {80, GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_F32, -24, 0x11, 0x3f800000},
	{80, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, -11, 0x3, 0x3f802000}, {80, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, -11, 0x101, 0x3f800000},
	{89, GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_F32, -13, 0x1, 0x3f800400}, {89, GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_F32, -14, 0x3, 0x3f800000},
	{90, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x101, 0x3f800001}, {90, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -25, 0xf, 0x3f800001},
	{90, GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_F32, -24, 0x11, 0x3f800001}, {0, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x101, 0x3f800001},
	{90, GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_F32, -14, 0x3, 0x3f800400}, {120, GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32, -24, 0x101, 0x3f800001},
};

static void test_sums_of_generations(void)
{
	struct gt_ptx_sparsity first_of_each = {.element = GT_PTX_ELEMENT_F16};

	memset(first_of_each.bits, 0x44, sizeof first_of_each.bits); /* elements 0 and 1 of each four */
	for (size_t i = 0; i < sizeof by_generation / sizeof *by_generation; i++) {
		const enum gt_ptx_element element = by_generation[i].element;
		const struct gt_ptx_sums sums = gt_ptx_sums_of(element, element, by_generation[i].d, false, by_generation[i].capability);
		double left[16 * 32] = {0}, right[8 * 32], rows[64 * 8], both[16 * 8] = {1}, sparse[16 * 8] = {1};
		for (unsigned k = 0; k < 32; k++)
			left[k] = by_generation[i].places >> k & 1 ? ldexp(1, by_generation[i].exponent + 7) : 0;
		for (unsigned k = 0; k < 8 * 32; k++)
			right[k] = 0x1p-7;
		for (unsigned k = 0; k < 8 * 64; k++)
			rows[k] = k / 8 % 4 < 2 ? 0x1p-7 : 0;
		gt_ptx_multiply_cut(&sums, 8, 8, 32, left, right, both);
		CHECK_EQUAL(gt_ptx_element_of(both[0], GT_PTX_ELEMENT_F32, false), by_generation[i].bits);
		if (element != GT_PTX_ELEMENT_F16)
			continue;
		gt_ptx_multiply_sparse(&first_of_each, &sums, 32, 8, left, rows, sparse);
		CHECK_EQUAL(gt_ptx_element_of(sparse[0], GT_PTX_ELEMENT_F32, false), by_generation[i].bits);
	}
}

/* ---- kernels ---- */

#define BEGIN                                                                                             \
	HEAD ENTRY "{\n.reg .b64 %rd<20>;\n.reg .b32 %r<40>;\n.reg .pred %p<4>;\n"                           \
		   "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n"              \
		   "mul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"

static char text[16384];
static size_t length;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	length += (size_t)vsnprintf(text + length, sizeof text - length, format, arguments);
	va_end(arguments);
}

static const char *register_kind(const char *type)
{
	return bits_of(type) == 64 ? "f64" : "b32";
}

static void add_registers(char role, const char *type, unsigned n)
{
	add(".reg .%s %%%c<%u>;\n", register_kind(type), role, n);
}

/* Loads a fragment from cells of 64 bits at %rd5, or stores it at %rd4. */
static void add_moves(char role, const char *type, unsigned n, unsigned cell, bool stores)
{
	for (unsigned r = 0; r < n; r++) {
		if (stores)
			add("st.global.%s [%%rd4+%u], %%%c%u;\n", register_kind(type), (cell + r * 32) * 8, role, r);
		else
			add("ld.global.%s %%%c%u, [%%rd5+%u];\n", register_kind(type), role, r, (cell + r * 32) * 8);
	}
}

static void add_vector(char role, unsigned n, const char *end)
{
	add("{");
	for (unsigned r = 0; r < n; r++)
		add("%s%%%c%u", r ? ", " : "", role, r);
	add("}%s", end);
}

#define SCALES "{%%r10}, {%u, %u}, {%%r11}, {%u, %u};\n"
/* The operands of scales, which lie behind those of A, B and C; draws them. */
static void add_scales(uint64_t *cells, unsigned cell)
{
	for (unsigned of = 0; of < 2; of++) {
		for (unsigned lane = 0; lane < 32; lane++) {
			scales.words[of][lane] = 0;
			for (unsigned byte = 0; byte < 4; byte++)
				scales.words[of][lane] |= (scales.powers ? 100 + draw() % 50 : draw() % 127 + draw() % 2 * 128) << 8 * byte;
			cells[cell + of * 32 + lane] = scales.words[of][lane];
		}
		add("ld.global.b32 %%r%u, [%%rd5+%u];\n", 10 + of, (cell + of * 32) * 8);
	}
}

static void try_mma(const struct variant *v)
{
	const char *types[] = {v->a, v->b, v->c, v->d}, roles[] = "abcd";
	struct matrix *const matrices[] = {&a, &b, &c, &d};
	unsigned n[] = {registers_of(v, v->m, v->k, v->a), registers_of(v, v->k, v->n, v->b),
			registers_of(v, v->m, v->n, v->c), registers_of(v, v->m, v->n, v->d)};
	uint64_t cells[3 * 8 * 32 + 64] = {0};

	length = 0;
	add("%s", BEGIN);
	for (unsigned i = 0; i < 4; i++)
		add_registers(roles[i], types[i], n[i]);
	if (scales.scaled)
		add_scales(cells, 768);
	for (unsigned i = 0; i < 3; i++) {
		add_moves(roles[i], types[i], n[i], i * 256, false);
		randomize(matrices[i], types[i]);
		move(v, roles[i], types[i], matrices[i], n[i], cells + i * 256, false);
	}
	memcpy(other, cells, sizeof cells);
	add("mma.sync.aligned.m%un%uk%u.%s.%s%s.%s.%s.%s.%s%s ", v->m, v->n, v->k, v->layout_a, v->layout_b, v->before,
	    v->d, v->a, v->b, v->c, v->behind);
	add_vector('d', n[3], ", ");
	add_vector('a', n[0], ", ");
	add_vector('b', n[1], ", ");
	add_vector('c', n[2], scales.scaled ? ", " : ";\n");
	if (scales.scaled)
		add(SCALES, scales.byte[0], scales.thread[0], scales.byte[1], scales.thread[1]);
	add_moves('d', v->d, n[3], 0, true);
	add("ret;\n}\n");
	works(text, 1, 32);
	memcpy(cells, out, sizeof cells);
	memset(&d, 0, sizeof d);
	move(v, 'c', v->d, &d, n[3], cells, true);
	check_product(v);
}

static void test_products_of_floats(void)
{
	static const struct variant variants[] = {
		{16, 8, 8, "row", "col", "f32", "f16", "f16", "f32", "", ""},
		{16, 8, 8, "row", "col", "f16", "f16", "f16", "f16", "", ""},
		{16, 8, 16, "row", "col", "f32", "f16", "f16", "f32", "", ""},
		{16, 8, 16, "row", "col", "f16", "f16", "f16", "f16", "", ""},
		{16, 8, 16, "row", "col", "f32", "f16", "f16", "f16", "", ""},
		{16, 8, 16, "row", "col", "f16", "f16", "f16", "f32", "", ""},
		{16, 8, 8, "row", "col", "f32", "bf16", "bf16", "f32", "", ""},
		{16, 8, 16, "row", "col", "f32", "bf16", "bf16", "f32", "", ""},
		{16, 8, 4, "row", "col", "f32", "tf32", "tf32", "f32", "", ""},
		{16, 8, 8, "row", "col", "f32", "tf32", "tf32", "f32", "", ""},
		{16, 8, 16, "row", "col", "f32", "e4m3", "e5m2", "f32", "", ""},
		{16, 8, 32, "row", "col", "f32", "e4m3", "e4m3", "f32", "", ""},
		{16, 8, 32, "row", "col", "f16", "e5m2", "e4m3", "f16", "", ""},
		{8, 8, 4, "row", "col", "f64", "f64", "f64", "f64", "", ""},
		{16, 8, 4, "row", "col", "f64", "f64", "f64", "f64", "", ""},
		{16, 8, 8, "row", "col", "f64", "f64", "f64", "f64", "", ""},
		{16, 8, 16, "row", "col", "f64", "f64", "f64", "f64", "", ""},
	};

	for (unsigned round = 0; round < 4; round++)
		for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
			try_mma(&variants[i]);
}

/* Scales of so many elements each, from these bytes of the words of A and B; the threads that have them go by i. */
static void set_scales(unsigned scaled, bool powers, unsigned a_byte, unsigned b_byte, unsigned i)
{
	scales.scaled = scaled;
	scales.powers = powers;
	scales.byte[0] = a_byte;
	scales.byte[1] = b_byte;
	scales.thread[0] = i % 2;
	scales.thread[1] = i % 4;
}

/* A kind of product of floats of 4 bits: how many elements have a scale in common. */
struct scaled_kind {
	const char *before, *behind;
	unsigned scaled;
};

/* Floats of 8, 6 and 4 bits in any combination, also with scales of `depth` elements, by either name of the kind; and those of 4 bits of n kinds,
 * twice as deep. */
static void try_small_floats(unsigned depth, const char *const names[2], const struct scaled_kind *kinds, unsigned n, void (*try)(const struct variant *))
{
	static const char *const types[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};

	for (unsigned i = 0; i < 25; i++) {
		const char *d_type = i % 2 ? "f16" : "f32";
		const struct variant plain = {16, 8, depth, "row", "col", d_type, types[i / 5], types[i % 5], d_type, ".kind::f8f6f4", ""};
		const struct variant scaled = {16, 8, depth, "row", "col", "f32", types[i / 5], types[i % 5], "f32", names[i % 2], ".ue8m0"};
		try(&plain);
		set_scales(depth, true, i % 4, i / 4 % 4, i);
		try(&scaled);
		scales.scaled = 0;
	}
	fp4_bits = 4;
	for (unsigned i = 0; i < 4 * n; i++) {
		const struct scaled_kind *kind = &kinds[i % n];
		const struct variant v = {16, 8, 2 * depth, "row", "col", "f32", "e2m1", "e2m1", "f32", kind->before, kind->behind};
		const bool two = kind->scaled == depth; /* scales, in either half of a word */
		set_scales(kind->scaled, is(v.behind, ".ue8m0"), two ? i / n % 2 * 2 : 0, two ? i / n / 2 * 2 : 0, i);
		try(&v);
	}
	scales.scaled = 0;
	fp4_bits = 8;
}

static void test_products_of_small_floats(void)
{
	static const char *const names[] = {".kind::mxf8f6f4.block_scale.scale_vec::1X", ".kind::mxf8f6f4.block_scale"};
	static const struct scaled_kind kinds[] = {{".kind::mxf4.block_scale", ".ue8m0", 32},
						   {".kind::mxf4.block_scale.scale_vec::2X", ".ue8m0", 32},
						   {".kind::mxf4nvf4.block_scale.scale_vec::2X", ".ue8m0", 32},
						   {".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue8m0", 16},
						   {".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue4m3", 16}};

	try_small_floats(32, names, kinds, sizeof kinds / sizeof *kinds, try_mma);
}

/* mma.m8n8k4 of f16: four products, each of 8 lanes, in all layouts. */
static void test_products_of_quads(void)
{
	static const char *const layouts[] = {"row", "col"}, *const types[] = {"f16", "f32"};

	for (unsigned i = 0; i < 16; i++) {
		const struct variant v = {8, 8, 4, layouts[i & 1], layouts[i >> 1 & 1], types[i >> 2 & 1],
					  "f16", "f16", types[i >> 3], "", ""};
		try_mma(&v);
	}
}

static void test_products_of_integers(void)
{
	static const struct {
		unsigned m, k, bits;
	} shapes[] = {{8, 16, 8}, {16, 16, 8}, {16, 32, 8}, {8, 32, 4}, {16, 32, 4}, {16, 64, 4}};
	static const char *const types[2][2] = {{"s8", "u8"}, {"s4", "u4"}};

	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
		for (unsigned i = 0; i < 8; i++) {
			const char *const *pair = types[shapes[s].bits == 4];
			const struct variant v = {shapes[s].m, 8, shapes[s].k, "row", "col", "s32", pair[i & 1],
						  pair[i >> 1 & 1], "s32", i & 4 ? ".satfinite" : "", ""};
			try_mma(&v);
		}
}

static void test_products_of_bits(void)
{
	static const struct {
		unsigned m, k;
	} shapes[] = {{8, 128}, {16, 128}, {16, 256}};

	for (unsigned i = 0; i < 6; i++) {
		const struct variant v = {shapes[i / 2].m, 8, shapes[i / 2].k, "row", "col", "s32", "b1", "b1", "s32", "",
					  i % 2 ? ".and.popc" : ".xor.popc"};
		try_mma(&v);
	}
}

/* ---- mma.sp ---- */

/* Elements of a group. */
static unsigned width_of(const char *type)
{
	return is(type, "tf32") ? 2 : bits_of(type) == 4 ? 8 : 4;
}

/* Draws which elements of a group are kept: sets `kept`, one bit each, and returns the group's metadata. */
static unsigned draw_group(unsigned width, unsigned *kept)
{
	static const unsigned pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
	const unsigned *pair = pairs[draw() % 6];

	if (width == 2) {
		*kept = draw() % 2 ? 1 : 2;
		return *kept == 1 ? 0x4 : 0xe;
	}
	*kept = width == 4 ? 1U << pair[0] | 1U << pair[1] : 3U << 2 * pair[0] | 3U << 2 * pair[1];
	return pair[0] | pair[1] << 2;
}

/* Makes A sparse, and `half` of what is left; fills the words of metadata, of all lanes, from the lanes `first` of each four
 * on. Groups 0 to 3 of a row are in one lane: the lower half of the word of row r, the upper half that of row r + 8. Of bytes
 * and nibbles groups 0 to 7 are, and rows r and r + 8 are in neighbouring lanes. */
static void thin_out(const struct variant *v, struct matrix *half, unsigned first, uint64_t words[32])
{
	const unsigned width = width_of(v->a);

	for (unsigned lane = 0; lane < 32; lane++)
		words[lane] = draw(); /* what lanes have whose metadata do not count */
	for (unsigned row = 0; row < 16; row++)
		for (unsigned group = 0, n = 0; group < v->k / width; group++) {
			unsigned kept, bits = draw_group(width, &kept), lane = row % 8 * 4 + first, at;
			if (bits_of(v->a) > 8) {
				lane += group / 4;
				at = (row < 8 ? 0 : 16) + group % 4 * 4;
			} else {
				lane += group / 8 * 2 + (row < 8 ? 0 : 1);
				at = group % 8 * 4;
			}
			words[lane] = (words[lane] & ~(UINT64_C(15) << at)) | (uint64_t)bits << at;
			for (unsigned e = 0; e < width; e++) {
				uint64_t *raw = &a.raw[0][row][group * width + e];
				if (kept >> e & 1)
					half->raw[0][row][n++] = *raw;
				else
					*raw = 0;
			}
		}
}

static void try_sparse(const struct variant *v, unsigned selector, unsigned lanes)
{
	static struct matrix half;
	struct variant thin = *v;
	thin.k /= 2;
	const char *types[] = {v->a, v->b, v->c, v->d}, roles[] = "abcd";
	struct matrix *const matrices[] = {&half, &b, &c};
	unsigned n[] = {registers_of(v, 16, thin.k, v->a), registers_of(v, v->k, 8, v->b), registers_of(v, 16, 8, v->c),
			registers_of(v, 16, 8, v->d)};
	uint64_t cells[4 * 8 * 32 + 64] = {0};

	randomize(&a, v->a);
	randomize(&b, v->b);
	randomize(&c, v->c);
	thin_out(v, &half, selector * lanes, cells + 3 * 256);
	length = 0;
	add("%s.reg .b32 %%e;\nld.global.b32 %%e, [%%rd5+%u];\n", BEGIN, 3 * 256 * 8);
	for (unsigned i = 0; i < 4; i++)
		add_registers(roles[i], types[i], n[i]);
	for (unsigned i = 0; i < 3; i++) {
		add_moves(roles[i], types[i], n[i], i * 256, false);
		move(&thin, roles[i], types[i], matrices[i], n[i], cells + i * 256, false);
	}
	if (scales.scaled)
		add_scales(cells, 1024);
	memcpy(other, cells, sizeof cells);
	add("mma.sp%s.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s%s ", v->before[0] || v->k == 16 ? "::ordered_metadata" : "", v->k, v->before, v->d, v->a, v->b, v->c, v->behind);
	add_vector('d', n[3], ", ");
	add_vector('a', n[0], ", ");
	add_vector('b', n[1], ", ");
	add_vector('c', n[2], scales.scaled ? ", {%e}, " : ", %e, ");
	add(scales.scaled ? "%u, " : "%u;\n", selector);
	if (scales.scaled)
		add(SCALES, scales.byte[0], scales.thread[0], scales.byte[1], scales.thread[1]);
	add_moves('d', v->d, n[3], 0, true);
	add("ret;\n}\n");
	works(text, 1, 32);
	memcpy(cells, out, 256 * sizeof cells[0]);
	memset(&d, 0, sizeof d);
	move(v, 'c', v->d, &d, n[3], cells, true);
	check_product(v);
}

static void test_sparse_products(void)
{
	static const struct {
		struct variant variant;
		unsigned lanes; /* of each four that hold metadata */
	} cases[] = {
		{{16, 8, 16, "row", "col", "f32", "f16", "f16", "f32", "", ""}, 1},
		{{16, 8, 16, "row", "col", "f16", "f16", "f16", "f16", "", ""}, 1},
		{{16, 8, 32, "row", "col", "f32", "bf16", "bf16", "f32", "", ""}, 2},
		{{16, 8, 32, "row", "col", "f16", "f16", "f16", "f16", "", ""}, 2},
		{{16, 8, 8, "row", "col", "f32", "tf32", "tf32", "f32", "", ""}, 1},
		{{16, 8, 16, "row", "col", "f32", "tf32", "tf32", "f32", "", ""}, 2},
		{{16, 8, 32, "row", "col", "s32", "s8", "u8", "s32", "", ""}, 2},
		{{16, 8, 64, "row", "col", "s32", "u8", "s8", "s32", ".satfinite", ""}, 4},
		{{16, 8, 64, "row", "col", "f32", "e4m3", "e5m2", "f32", "", ""}, 4},
		{{16, 8, 64, "row", "col", "s32", "s4", "u4", "s32", "", ""}, 2},
		{{16, 8, 128, "row", "col", "s32", "u4", "s4", "s32", ".satfinite", ""}, 4},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (unsigned selector = 0; selector < 4 / cases[i].lanes; selector++)
			try_sparse(&cases[i].variant, selector, cases[i].lanes);
}

static void try_sparse_small(const struct variant *v)
{
	try_sparse(v, 0, 4);
}

/* Of small floats, and with scales: one has 32 or 16 stored elements of A, and 64 or 32 of B. */
static void test_sparse_products_of_small_floats(void)
{
	static const char *const names[] = {".kind::mxf8f6f4.block_scale", ".kind::mxf8f6f4.block_scale"};
	static const struct scaled_kind kinds[] = {{".kind::mxf4.block_scale", ".ue8m0", 64},
						   {".kind::mxf4nvf4.block_scale.scale_vec::2X", ".ue8m0", 64},
						   {".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue8m0", 32},
						   {".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue4m3", 32}};

	try_small_floats(64, names, kinds, sizeof kinds / sizeof *kinds, try_sparse_small);
}

/* ---- NaNs, infinities, rounding to f16 ---- */

/* All of A is x, all of B y, all of C z: D is sixteen times x y, and z. */
static void expect_constant(const char *type, uint32_t x, uint32_t y, uint32_t z, uint32_t expected)
{
	const unsigned n = is(type, "f16") ? 2 : 4;

	length = 0;
	add("%s", BEGIN);
	for (unsigned i = 0; i < 4; i++)
		add_registers("abcd"[i], "f32", 4);
	for (unsigned r = 0; r < 4; r++)
		add("mov.b32 %%a%u, 0x%08x;\nmov.b32 %%b%u, 0x%08x;\nmov.b32 %%c%u, 0x%08x;\n", r, x, r, y, r, z);
	add("mma.sync.aligned.m16n8k16.row.col.%s.f16.f16.%s ", type, type);
	add_vector('d', n, ", ");
	add_vector('a', 4, ", ");
	add_vector('b', 2, ", ");
	add_vector('c', n, ";\n");
	add("st.global.b32 [%%rd4], %%d1;\nret;\n}\n");
	works(text, 1, 32);
	for (unsigned lane = 0; lane < 32; lane++)
		CHECK_EQUAL(out[2 * lane], expected);
}

static void test_ends_of_the_range(void)
{
	/* 16 * 1 * 1 + 1 = 17; 16 * 2^-14 * 2^-11 = 2^-21, a subnormal f16; 16 * 240 * 240 = 921600 > 65504. */
	expect_constant("f32", 0x3c003c00, 0x3c003c00, 0x3f800000, 0x41880000);
	expect_constant("f16", 0x04000400, 0x10001000, 0, 0x00080008);
	expect_constant("f16", 0x5b805b80, 0x5b805b80, 0, 0x7c007c00);
	expect_constant("f32", 0x5b805b80, 0x5b805b80, 0, 0x49610000);
	/* NaN, and infinity less infinity. */
	expect_constant("f32", 0x7e007e00, 0x3c003c00, 0, 0x7fffffff);
	expect_constant("f16", 0x7c007c00, 0x3c003c00, 0xfc00fc00, 0x7fff7fff);
	/* The sum is not rounded in between: 2048 + 16 * 2^-3 = 2050, though 2048 + 2^-3 is 2048 in f16. */
	expect_constant("f16", 0x30003000, 0x3c003c00, 0x68006800, 0x68016801);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* Element of row `row` and column `column` of matrix k, at its place in the rows that the lanes of `k` point to. */
static uint32_t element(unsigned k, unsigned row, unsigned column)
{
	return k * 64 + row * 8 + column + 1;
}

static void expect_matrices(unsigned n, bool transposed)
{
	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned k = 0; k < n; k++) {
			unsigned row = lane / 4, column = lane % 4 * 2;
			uint32_t low = transposed ? element(k, column, row) : element(k, row, column);
			uint32_t high = transposed ? element(k, column + 1, row) : element(k, row, column + 1);
			CHECK_EQUAL(out[lane * 4 + k], low | high << 16);
		}
}

/* The row of lane l lies at 31 - l of shared memory, so that the addresses descend. */
static void try_ldmatrix(unsigned n, bool transposed)
{
	length = 0;
	add(HEAD ENTRY "{\n.reg .b64 %%rd<20>;\n.reg .b32 %%r<40>;\n.reg .b16 %%h<4>;\n.shared .align 16 .b8 s[512];\n"
	    "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\nmov.u32 %%r3, 31;\n"
	    "sub.u32 %%r3, %%r3, %%r1;\nmad.lo.u32 %%r2, %%r3, 16, %%r2;\nmad.lo.u32 %%r4, %%r1, 8, 1;\n");
	for (unsigned i = 0; i < 8; i++)
		add("add.u32 %%r5, %%r4, %u;\nst.shared.u16 [%%r2+%u], %%r5;\n", i, 2 * i);
	add("bar.sync 0;\nldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 ", n, transposed ? ".trans" : "");
	/* A result takes the place of the address. */
	add(n == 1 ? "{%%r2}" : n == 2 ? "{%%r2, %%r11}" : "{%%r2, %%r11, %%r12, %%r13}");
	add(", [%%r2];\nmul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd4, %%rd1, %%rd3;\nst.global.u32 [%%rd4], %%r2;\n");
	for (unsigned k = 1; k < n; k++)
		add("st.global.u32 [%%rd4+%u], %%r%u;\n", 4 * k, 10 + k);
	add("ret;\n}\n");
	works(text, 1, 32);
	expect_matrices(n, transposed);
}

static void test_ldmatrix(void)
{
	for (unsigned n = 1; n <= 4; n *= 2) {
		try_ldmatrix(n, false);
		try_ldmatrix(n, true);
	}
}

/* Rows of 16 bytes at 31 - l of shared memory, of which the first 64 or 96 bits are 16 elements: byte i of row l is l * 37 + i * 11. */
static void try_unpacking(unsigned n, unsigned bits)
{
	length = 0;
	add(HEAD ENTRY "{\n.reg .b64 %%rd<20>;\n.reg .b32 %%r<40>;\n.shared .align 16 .b8 s[512];\n"
	    "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\nmov.u32 %%r3, 31;\n"
	    "sub.u32 %%r3, %%r3, %%r1;\nmad.lo.u32 %%r2, %%r3, 16, %%r2;\nmul.lo.u32 %%r4, %%r1, 37;\n");
	for (unsigned i = 0; i < 16; i++)
		add("add.u32 %%r5, %%r4, %u;\nst.shared.u8 [%%r2+%u], %%r5;\n", i * 11, i);
	add("bar.sync 0;\nldmatrix.sync.aligned.m8n16.x%u.shared.b8x16.%s ", n, bits == 4 ? "b4x16_p64" : "b6x16_p32");
	add(n == 1 ? "{%%r10}" : n == 2 ? "{%%r10, %%r11}" : "{%%r10, %%r11, %%r12, %%r13}");
	add(", [%%r2];\nmul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd4, %%rd1, %%rd3;\n");
	for (unsigned k = 0; k < n; k++)
		add("st.global.u32 [%%rd4+%u], %%r%u;\n", 4 * k, 10 + k);
	add("ret;\n}\n");
	works(text, 1, 32);
	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned k = 0; k < n; k++)
			for (unsigned e = 0; e < 4; e++) {
				unsigned row = k * 8 + lane / 4, found = 0;
				for (unsigned bit = 0; bit < bits; bit++) {
					unsigned at = (lane % 4 * 4 + e) * bits + bit;
					found |= (((row * 37 + at / 8 * 11) & 255) >> at % 8 & 1) << bit;
				}
				CHECK_EQUAL(out[lane * 4 + k] >> 8 * e & 255, found);
			}
}

static void test_unpacking(void)
{
	for (unsigned n = 1; n <= 4; n *= 2) {
		try_unpacking(n, 4);
		try_unpacking(n, 6);
	}
}

/* Rows of 16 elements at 31 - l of shared memory, as of try_unpacking; register 2 k + r of lane l gets the elements of rows 4 (l % 4) to 4 (l %
 * 4) + 3 of matrix k, in column l / 4 + 8 r. bits: 8, 6 or 4. */
static void try_turned_bytes(unsigned n, unsigned bits)
{
	static const char *const types[] = {[4] = "b8x16.b4x16_p64", [6] = "b8x16.b6x16_p32", [8] = "b8"};
	length = 0;
	add(HEAD ENTRY "{\n.reg .b64 %%rd<20>;\n.reg .b32 %%r<40>;\n.shared .align 16 .b8 s[512];\n"
	    "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\nmov.u32 %%r3, 31;\n"
	    "sub.u32 %%r3, %%r3, %%r1;\nmad.lo.u32 %%r2, %%r3, 16, %%r2;\nmul.lo.u32 %%r4, %%r1, 37;\n");
	for (unsigned i = 0; i < 16; i++)
		add("add.u32 %%r5, %%r4, %u;\nst.shared.u8 [%%r2+%u], %%r5;\n", i * 11, i);
	add("bar.sync 0;\nldmatrix.sync.aligned.m16n16.x%u.trans.shared.%s ", n, types[bits]);
	add(n == 1 ? "{%%r10, %%r11}" : "{%%r10, %%r11, %%r12, %%r13}");
	add(", [%%r2];\nmul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd4, %%rd1, %%rd3;\n");
	for (unsigned k = 0; k < 2 * n; k++)
		add("st.global.u32 [%%rd4+%u], %%r%u;\n", 4 * k, 10 + k);
	add("ret;\n}\n");
	works(text, 1, 32);
	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned k = 0; k < 2 * n; k++)
			for (unsigned e = 0; e < 4; e++) {
				unsigned row = k / 2 * 16 + lane % 4 * 4 + e, found = 0;
				for (unsigned bit = 0; bit < bits; bit++) {
					unsigned at = (lane / 4 + k % 2 * 8) * bits + bit;
					found |= (((row * 37 + at / 8 * 11) & 255) >> at % 8 & 1) << bit;
				}
				CHECK_EQUAL(out[lane * 4 + k] >> 8 * e & 255, found);
			}
}

static void test_turned_bytes(void)
{
	for (unsigned n = 1; n <= 2; n++)
		for (unsigned bits = 4; bits <= 8; bits += 2)
			try_turned_bytes(n, bits);
}

/* Lane l stores l + 64 i in byte i of register k, with bit 5 flipped if k is odd: to row 2 (l % 4) + i % 2 of matrix k, column l / 4 + 8 (i / 2). */
static void test_stored_bytes(void)
{
	for (unsigned n = 1; n <= 4; n *= 2) {
		length = 0;
		add(HEAD ENTRY "{\n.reg .b64 %%rd<20>;\n.reg .b32 %%r<40>;\n.shared .align 16 .b8 s[512];\n"
		    "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\nmad.lo.u32 %%r2, %%r1, 16, %%r2;\n"
		    "mad.lo.u32 %%r3, %%r1, 0x01010101, 0xc0804000;\n");
		for (unsigned k = 0; k < 4; k++)
			add("st.shared.u32 [%%r2+%u], 0;\nxor.b32 %%r%u, %%r3, %u;\n", 4 * k, 10 + k, 0x20202020 * (k % 2));
		add("bar.sync 0;\nstmatrix.sync.aligned.m16n8.x%u.trans.shared.b8 [%%r2], %s;\nbar.sync 0;\n", n,
		    n == 1 ? "{%r10}" : n == 2 ? "{%r10, %r11}" : "{%r10, %r11, %r12, %r13}");
		add("mul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd4, %%rd1, %%rd3;\n");
		for (unsigned k = 0; k < 4; k++)
			add("ld.shared.u32 %%r5, [%%r2+%u];\nst.global.u32 [%%rd4+%u], %%r5;\n", 4 * k, 4 * k);
		add("ret;\n}\n");
		works(text, 1, 32);
		for (unsigned k = 0; k < 4; k++)
			for (unsigned row = 0; row < 8; row++)
				for (unsigned column = 0; column < 16; column++) {
					const unsigned lane = row / 2 + column % 8 * 4, i = row % 2 + column / 8 * 2;
					CHECK_EQUAL(out[(k * 8 + row) * 4 + column / 4] >> column % 4 * 8 & 255,
						    k < n ? (lane + 64 * i) ^ (k % 2 * 32) : 0);
				}
	}
}

/* What ldmatrix loads stmatrix stores again, elsewhere. */
static void test_stmatrix(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const char *way = i ? ".trans" : "";
		length = 0;
		add(HEAD ENTRY "{\n.reg .b64 %%rd<20>;\n.reg .b32 %%r<40>;\n.shared .align 16 .b8 s[1024];\n"
		    "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, s;\nmad.lo.u32 %%r2, %%r1, 16, %%r2;\n");
		for (unsigned k = 0; k < 4; k++)
			add("mad.lo.u32 %%r5, %%r1, 4, %u;\nst.shared.u32 [%%r2+%u], %%r5;\n", k, 4 * k);
		add("bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r10, %%r11, %%r12, %%r13}, [%%r2];\n"
		    "stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%r2+512], {%%r10, %%r11, %%r12, %%r13};\nbar.sync 0;\n",
		    way, way);
		add("mul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd4, %%rd1, %%rd3;\n");
		for (unsigned k = 0; k < 4; k++)
			add("ld.shared.u32 %%r5, [%%r2+%u];\nst.global.u32 [%%rd4+%u], %%r5;\n", 512 + 4 * k, 4 * k);
		add("ret;\n}\n");
		works(text, 1, 32);
		for (unsigned word = 0; word < 128; word++)
			CHECK_EQUAL(out[word], word);
	}
}

static void test_movmatrix(void)
{
	length = 0;
	add("%s", BEGIN);
	/* Lane l has the elements 2 l and 2 l + 1. */
	add("shl.b32 %%r2, %%r1, 1;\nadd.u32 %%r3, %%r2, 1;\nshl.b32 %%r3, %%r3, 16;\nor.b32 %%r2, %%r2, %%r3;\n"
	    "movmatrix.sync.aligned.m8n8.trans.b16 %%r2, %%r2;\nst.global.u32 [%%rd4], %%r2;\nret;\n}\n");
	works(text, 1, 32);
	for (unsigned lane = 0; lane < 32; lane++) {
		unsigned row = lane / 4, column = lane % 4 * 2;
		CHECK_EQUAL(out[2 * lane], (column * 8 + row) | ((column + 1) * 8 + row) << 16);
	}
}

/* ---- wmma ---- */

/* A matrix in memory: line by line, rows or columns. */
struct stored {
	const char *type;
	bool by_columns;
	unsigned stride; /* elements from line to line */
	uint32_t at;	 /* bytes */
};

/* Copies a matrix to memory, bit by bit, or back. */
static void store(const struct stored *stored, struct matrix *matrix, unsigned rows, unsigned columns,
		  unsigned char *memory, bool back)
{
	const unsigned bits = bits_of(stored->type);

	for (unsigned row = 0; row < rows; row++)
		for (unsigned column = 0; column < columns; column++) {
			uint64_t *raw = &matrix->raw[0][row][column];
			unsigned line = stored->by_columns ? column : row, within = stored->by_columns ? row : column;
			if (back)
				*raw = 0;
			for (unsigned bit = 0; bit < bits; bit++) {
				unsigned at = stored->at * 8 + (line * stored->stride + within) * bits + bit;
				unsigned char *byte = &memory[at / 8];
				if (back)
					*raw |= (uint64_t)(*byte >> at % 8 & 1) << bit;
				else
					*byte = (unsigned char)((*byte & ~(1U << at % 8)) | (*raw >> bit & 1) << at % 8);
			}
		}
}

/* Registers a lane of a fragment, as the ISA lists them. */
static unsigned fragment_registers(char role, const char *type, unsigned rows, unsigned columns)
{
	if ((role == 'a' || role == 'b') && is(type, "f16"))
		return 8;
	return rows * columns * bits_of(type) / 32 / (bits_of(type) == 64 ? 64 : 32);
}

static void add_wmma(char role, const struct stored *stored, const struct variant *v, unsigned n)
{
	const bool stores = role == 'd';

	add("wmma.%s.%c.sync.aligned.%s.m%un%uk%u%s.%s ", stores ? "store" : "load", role, stored->by_columns ? "col" : "row",
	    v->m, v->n, v->k, role == 'b' ? "" : ".global", stored->type);
	if (stores) {
		add("[%%rd1+%u], ", stored->at);
		add_vector(role, n, "");
	} else {
		add_vector(role, n, "");
		add(", [%%rd2+%u]", stored->at);
	}
	add(", %%s%c;\n", role);
}

/* The memory of D is `out`, that of the others `other`. */
static void try_wmma(const struct variant *v, const struct stored stored[4])
{
	struct matrix *const matrices[] = {&a, &b, &c, &d};
	const unsigned rows[] = {v->m, v->k, v->m, v->m}, columns[] = {v->k, v->n, v->n, v->n};
	unsigned n[4];

	length = 0;
	add("%s", BEGIN);
	memset(other, 0, sizeof other);
	for (unsigned i = 0; i < 4; i++) {
		n[i] = fragment_registers("abcd"[i], stored[i].type, rows[i], columns[i]);
		add_registers("abcd"[i], stored[i].type, n[i]);
		add(".reg .b32 %%s%c;\nmov.u32 %%s%c, %u;\n", "abcd"[i], "abcd"[i], stored[i].stride);
		if (i == 3)
			break;
		randomize(matrices[i], stored[i].type);
		store(&stored[i], matrices[i], rows[i], columns[i], (unsigned char *)other, false);
		add_wmma("abc"[i], &stored[i], v, n[i]);
	}
	add("wmma.mma%s.sync.aligned.%s.%s.m%un%uk%u%s.%s", v->behind, v->layout_a, v->layout_b, v->m, v->n, v->k,
	    is(v->a, "f64") ? ".rn" : "", v->d);
	if (!is(v->a, "f16"))
		add(".%s.%s", v->a, v->b);
	add(".%s%s ", v->c, v->before);
	add_vector('d', n[3], ", ");
	add_vector('a', n[0], ", ");
	add_vector('b', n[1], ", ");
	add_vector('c', n[2], ";\n");
	add_wmma('d', &stored[3], v, n[3]);
	add("ret;\n}\n");
	/* A second block finds the tiles where the first one did. */
	for (uint32_t blocks = 1; blocks <= 2; blocks++) {
		works(text, blocks, 32);
		store(&stored[3], &d, v->m, v->n, (unsigned char *)out, true);
		check_product(v);
	}
}

/* All ways to store the matrices, with strides of the least width and of more. */
static void try_layouts(const struct variant *shape)
{
	const bool packed = bits_of(shape->a) < 8;
	const unsigned more = 128 / bits_of(shape->a) * (is(shape->a, "b1") ? 1 : 3), wider = 128 / bits_of(shape->d) * 3;

	for (unsigned i = 0; i < 32; i++) {
		bool a_by_columns = i & 1, b_by_columns = i & 2, c_by_columns = i & 4, d_by_columns = i & 8;
		struct variant v = *shape;
		if (packed && (a_by_columns || !b_by_columns))
			continue;
		v.layout_a = a_by_columns ? "col" : "row";
		v.layout_b = b_by_columns ? "col" : "row";
		const struct stored stored[] = {
			{v.a, a_by_columns, (a_by_columns ? v.m : v.k) + (i & 16 ? more : 0), 0},
			{v.b, b_by_columns, (b_by_columns ? v.k : v.n) + (i & 16 ? more : 0), 8192},
			{v.c, c_by_columns, (c_by_columns ? v.m : v.n) + (i & 16 ? wider : 0), 16384},
			{v.d, d_by_columns, (d_by_columns ? v.m : v.n) + (i & 16 ? wider : 0), 4096},
		};
		try_wmma(&v, stored);
	}
}

static void test_wmma(void)
{
	static const unsigned shapes[3][3] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
	static const char *const types[][5] = {
		{"f16", "f16", "f32", "f32", ""}, {"f16", "f16", "f16", "f16", ""}, {"f16", "f16", "f16", "f32", ""},
		{"f16", "f16", "f32", "f16", ""}, {"bf16", "bf16", "f32", "f32", ""}, {"s8", "s8", "s32", "s32", ""},
		{"u8", "u8", "s32", "s32", ".satfinite"}};
	static const struct variant others[] = {
		{16, 16, 8, "", "", "f32", "tf32", "tf32", "f32", "", ""},
		{8, 8, 4, "", "", "f64", "f64", "f64", "f64", "", ""},
		{8, 8, 32, "", "", "s32", "s4", "s4", "s32", ".satfinite", ""},
		{8, 8, 32, "", "", "s32", "u4", "u4", "s32", "", ""},
		{8, 8, 128, "", "", "s32", "b1", "b1", "s32", "", ".xor.popc"},
		{8, 8, 128, "", "", "s32", "b1", "b1", "s32", "", ".and.popc"},
	};

	for (size_t s = 0; s < 3; s++)
		for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
			const struct variant v = {shapes[s][0], shapes[s][1], shapes[s][2], "", "", types[t][3],
						  types[t][0], types[t][1], types[t][2], types[t][4], ""};
			try_layouts(&v);
		}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		try_layouts(&others[i]);
}

/* ---- what is refused ---- */

/* A kernel of these instructions stops with these words. */
static void stops(const char *instructions, const char *said)
{
	length = 0;
	add("%s.shared .align 16 .b8 s[4096];\nmov.u32 %%r2, 0;\nmov.u64 %%rd6, 0;\nsetp.eq.u32 %%p1, %%r1, 0;\n%s\nret;\n}\n", BEGIN, instructions);
	CHECK(run(text, 1, 32) == -1);
	CHECK_TEXT(strstr(error.text, said) ? said : error.text, said);
}

#define ALLOCATE "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], "
#define RELEASE	 "tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
#define MULTIPLY(GROUP, FORM) "tcgen05.mma.cta_group::" GROUP ".kind::f16 [%r2], %rd6, %rd6, " FORM ", %p1;"

/* What a GPU leaves undefined is an error here. */
static void test_wrong_tensor_memory(void)
{
	stops(ALLOCATE "48;", "48 columns of tensor memory: a power of 2 from 32 to 512 expected");
	stops(ALLOCATE "512;\n" ALLOCATE "32;", "the block has no 32 adjacent columns of tensor memory left");
	stops("@%p1 " ALLOCATE "32;", "an instruction on matrices by the lanes 0x00000001 alone");
	stops(ALLOCATE "32;\n" RELEASE "0, 64;", "columns 0 to 63 of tensor memory are not all allocated");
	stops(ALLOCATE "64;\n" RELEASE "32, 64;", "0x00000020 is not where 64 columns of tensor memory are allocated");
	stops(ALLOCATE "64;\n" RELEASE "0x100000, 64;", "0x00100000 is not where 64 columns of tensor memory are allocated");
	stops("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2];", "columns 0 to 0 of tensor memory are not all allocated");
	stops(ALLOCATE "32;\ntcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r2+31];", "columns 31 to 32 of tensor memory are not all allocated");
	stops(ALLOCATE "32;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r3};", "a lane has another address of tensor memory than the first");
	stops(ALLOCATE "32;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2+0x200000];", "lane 32 of tensor memory: warp 0 accesses the 32 from 0 on");
	stops("@%p1 " MULTIPLY("1", "0"), "the instruction descriptor 0x00000000 is not valid, or not modelled");
	stops("@%p1 " MULTIPLY("1", "0x8080010"), "columns 0 to 31 of tensor memory are not all allocated");
	stops("@%p1 " MULTIPLY("2", "0x10080010"), "cta_group::2: the pair has no other block, or that has ended");
	stops(ALLOCATE "32;\nmov.u64 %rd6, 0x200;\n@%p1 " MULTIPLY("1", "0x8080010"), "load of 16 bytes at 0x2000 of shared memory: a block has 4096 bytes");
	stops(ALLOCATE "32;\nmov.u64 %rd6, 0x0002000000000000;\n@%p1 " MULTIPLY("1", "0x8080010"), "a matrix descriptor with a base offset is not modelled");
	stops(ALLOCATE "64;\n@%p1 tcgen05.mma.ws.cta_group::1.kind::f16 [%r2], [%r2], %rd6, 0x2100010, %p1;",
	      "A of .ws with less than 128 rows in tensor memory is not modelled");
	stops(ALLOCATE "64;\n@%p1 tcgen05.mma.ws.cta_group::1.kind::f16 [%r2], %rd6, %rd6, 0x2080010, %p1;",
	      "the instruction descriptor 0x02080010 is not valid, or not modelled");
	stops(ALLOCATE "32;\n@%p1 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r2+0x100000], %rd6;", "tcgen05.cp to lane 16 of tensor memory: 0 expected");
}

static void refuses(const char *instruction, const char *said)
{
	length = 0;
	add("%s%s;\nret;\n}\n", BEGIN, instruction);
	CHECK(run(text, 1, 32) == -1);
	CHECK_TEXT(strstr(error.text, "'") ? strstr(error.text, "'") : error.text, said);
}

#define SCALED_NAME(KIND, SCALES, TYPE) "mma.sync.aligned.m16n8k64.row.col.kind::" KIND SCALES ".f32.e2m1.e2m1.f32." TYPE
#define SCALED(KIND, SCALES, TYPE) SCALED_NAME(KIND, SCALES, TYPE) " {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5}, "
static void test_what_is_refused(void)
{
	refuses("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3}, {%r2,%r3,%r4,%r5}, %r6, 4",
		"'mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' is not known with this sparsity selector");
	refuses("mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r2}, {%r2}, {%r2,%r3,%r4,%r5}, %r6, 0",
		"'mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32' is not known in this form");
	refuses("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32' is not known in this form");
	refuses("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32' is not known in this form");
	refuses("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4}, {%r2,%r3}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' is not known with so many registers");
	refuses("mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e4m3.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e4m3.f32' is not known in this form");
	refuses("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32' is not known in this form");
	refuses("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5}",
		"'mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0' is not known in this form");
	refuses(SCALED("mxf4", ".block_scale.scale_vec::4X", "ue8m0") "{%r2}, {0, 0}, {%r2}, {0, 0}",
		"'" SCALED_NAME("mxf4", ".block_scale.scale_vec::4X", "ue8m0") "' is not known in this form");
	refuses(SCALED("mxf4nvf4", ".block_scale.scale_vec::2X", "ue4m3") "{%r2}, {0, 0}, {%r2}, {0, 0}",
		"'" SCALED_NAME("mxf4nvf4", ".block_scale.scale_vec::2X", "ue4m3") "' is not known in this form");
	refuses(SCALED("mxf4", ".block_scale", "ue8m0") "{%r2}, {0}, {%r2}, {0, 0}",
		"'" SCALED_NAME("mxf4", ".block_scale", "ue8m0") "' is not known in this form");
	stops(SCALED("mxf4", ".block_scale", "ue8m0") "{%r2}, {1, 0}, {%r2}, {0, 0};", "no scales of A are at byte 1 of thread 0");
	stops(SCALED("mxf4", ".block_scale", "ue8m0") "{%r2}, {0, 1}, {%r2}, {2, 4};", "no scales of B are at byte 2 of thread 4");
	refuses("ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r2}, [%r4]",
		"'ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64' is not known in this form");
	refuses("stmatrix.sync.aligned.m8n16.x1.trans.shared.b8 [%r4], {%r2}", "'stmatrix.sync.aligned.m8n16.x1.trans.shared.b8' is not known in this form");
	refuses("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r2,%r3}, [%r4]", "'ldmatrix.sync.aligned.m16n16.x1.shared.b8' is not known in this form");
	refuses("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r2}, [%r4]", "'ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8' is not known in this form");
	refuses("multimem.ld_reduce.relaxed.sys.global.add.u32 %r2, [%rd4]",
		"'multimem.ld_reduce.relaxed.sys.global.add.u32' is not modelled");
	refuses("multimem.st.relaxed.sys.global.u32 [%rd4], %r2", "'multimem.st.relaxed.sys.global.u32' is not modelled");
	refuses("tcgen05.shift.cta_group::1.down [%r2]", "'tcgen05.shift.cta_group::1.down' is not modelled");
	refuses("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%r2,%r3,%r4,%r5}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0",
		"'wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16' is not known in this form");
	refuses("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r2,%r3,%r4,%r5}, %rd1, %rd2, %r1, 2, %p1, 1, 1, 0, 0",
		"'wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16' is not known with this sparsity selector");
	length = 0;
	add("%ssetp.lt.u32 %%p1, %%r1, 16;\n@%%p1 movmatrix.sync.aligned.m8n8.trans.b16 %%r2, %%r2;\nret;\n}\n", BEGIN);
	fails(text, 1, 32, "kernel k, PTX line 16, pc 0x10: block (0,0,0) thread (0,0,0): an instruction on matrices by the lanes "
			   "0x0000ffff alone: all 32 of a warp have to execute it");
}

int main(void)
{
	RUN(test_sums_of_hardware);
	RUN(test_sums_of_generations);
	RUN(test_products_of_floats);
	RUN(test_products_of_small_floats);
	RUN(test_products_of_quads);
	RUN(test_products_of_integers);
	RUN(test_products_of_bits);
	RUN(test_sparse_products);
	RUN(test_sparse_products_of_small_floats);
	RUN(test_ends_of_the_range);
	RUN(test_ldmatrix);
	RUN(test_unpacking);
	RUN(test_turned_bytes);
	RUN(test_stored_bytes);
	RUN(test_stmatrix);
	RUN(test_movmatrix);
	RUN(test_wmma);
	RUN(test_wrong_tensor_memory);
	RUN(test_what_is_refused);
	return check_report();
}
