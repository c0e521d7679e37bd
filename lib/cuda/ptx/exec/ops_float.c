/* SPDX-License-Identifier: MIT */
/* Lane operations of floats: arithmetic of f32 and f64, of f16 and bf16, and comparisons of all types. */
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/numbers.h"

GT_INLINE float canonical_f32(float x)
{
	union { uint32_t bits; float value; } nan = {0x7fffffff};

	return x == x ? x : nan.value;
}

/* ---- rcp, rsqrt and ex2 of f32, approximately ---- */

/* As an H100 computes them, bit by bit, for each of 2^32 floats. The upper 6 or 7 bits of the mantissa choose a parabola, whose coefficients
 * are those that alone fit what an H100 gave; of the square of the lower bits, the products of two bits below a column are left out. The
 * value is cut to an integer of 24 bits. S. Oberman and M. Siu describe such a unit: "A High-Performance Area-Efficient Multifunction
 * Interpolator", ARITH-17, 2005. */

/* In quarters; for a mantissa's lower bits, as parts of 2^bits, and for their square. */
static const int32_t rcp_constant[128] = {
	67108864, 66588642, 66076422, 65572021, 65075262, 64585976, 64103992, 63629146, 63161284, 62700254, 62245905, 61798091,
	61356677, 60921524, 60492499, 60069474, 59652325, 59240930, 58835170, 58434930, 58040099, 57650569, 57266231, 56886986,
	56512729, 56143366, 55778798, 55418934, 55063686, 54712961, 54366677, 54024747, 53687093, 53353633, 53024288, 52698987,
	52377651, 52060212, 51746596, 51436737, 51130565, 50828017, 50529029, 50233538, 49941482, 49652803, 49367442, 49085342,
	48806449, 48530705, 48258060, 47988464, 47721861, 47458204, 47197444, 46939534, 46684429, 46432082, 46182446, 45935480,
	45691143, 45449392, 45210185, 44973481, 44739244, 44507436, 44278016, 44050948, 43826199, 43603730, 43383510, 43165503,
	42949675, 42735995, 42524430, 42314950, 42107525, 41902122, 41698714, 41497270, 41297764, 41100168, 40904453, 40710593,
	40518561, 40328333, 40139883, 39953186, 39768218, 39584955, 39403371, 39223448, 39045159, 38868484, 38693401, 38519888,
	38347924, 38177489, 38008563, 37841123, 37675154, 37510633, 37347543, 37185866, 37025582, 36866673, 36709124, 36552915,
	36398030, 36244452, 36092164, 35941151, 35791396, 35642884, 35495599, 35349528, 35204652, 35060959, 34918436, 34777064,
	34636835, 34497732, 34359741, 34222849, 34087044, 33952313, 33818641, 33686019};
static const int32_t rcp_slope[128] = {
	-131068, -129044, -127066, -125134, -123244, -121398, -119594, -117828, -116102, -114414, -112762, -111144, -109562, -108014,
	-106498, -105014, -103560, -102136, -100742, -99376, -98038, -96726, -95442, -94182, -92946, -91736, -90548, -89384, -88242,
	-87120, -86022, -84942, -83884, -82846, -81826, -80824, -79842, -78878, -77930, -77000, -76086, -75188, -74306, -73440, -72588,
	-71752, -70928, -70120, -69326, -68544, -67776, -67022, -66280, -65548, -64830, -64124, -63428, -62746, -62072, -61410, -60758,
	-60118, -59486, -58864, -58254, -57652, -57058, -56474, -55900, -55334, -54776, -54228, -53686, -53154, -52628, -52112, -51602,
	-51100, -50604, -50116, -49636, -49162, -48696, -48234, -47780, -47334, -46892, -46456, -46028, -45604, -45186, -44776, -44368,
	-43968, -43574, -43184, -42798, -42418, -42044, -41674, -41310, -40950, -40594, -40244, -39898, -39556, -39218, -38886, -38556,
	-38232, -37912, -37594, -37282, -36974, -36668, -36368, -36070, -35776, -35486, -35200, -34916, -34636, -34360, -34086, -33816,
	-33550, -33286, -33026};
static const int32_t rcp_curve[128] = {
	1013, 989, 966, 945, 923, 902, 883, 863, 845, 827, 809, 791, 774, 758, 742, 727, 711, 696, 682, 669, 656, 642, 631, 618, 605,
	594, 582, 572, 561, 549, 540, 529, 519, 510, 501, 490, 482, 474, 465, 457, 449, 441, 433, 426, 418, 412, 403, 397, 390, 383,
	377, 371, 366, 358, 353, 348, 341, 337, 331, 326, 320, 316, 310, 305, 302, 297, 291, 287, 283, 279, 274, 271, 266, 263, 258,
	256, 251, 248, 243, 240, 237, 233, 231, 226, 223, 222, 218, 214, 212, 208, 205, 204, 199, 197, 196, 193, 189, 186, 184, 182,
	180, 178, 175, 173, 171, 169, 166, 165, 161, 160, 159, 155, 154, 153, 150, 149, 147, 145, 143, 143, 140, 138, 137, 135, 133,
	132, 131, 130};
static const int32_t rsqrt_constant[128] = {
	67108862, 66590638, 66084240, 65589220, 65105161, 64631662, 64168346, 63714854, 63270844, 62835987, 62409973, 61992512,
	61583315, 61182119, 60788660, 60402697, 60023991, 59652324, 59287473, 58929238, 58577419, 58231826, 57892278, 57558602,
	57230630, 56908204, 56591164, 56279365, 55972663, 55670921, 55374005, 55081793, 54794159, 54510984, 54232151, 53957557,
	53687092, 53420653, 53158143, 52899462, 52644525, 52393235, 52145512, 51901270, 51660428, 51422907, 51188635, 50957533,
	50729535, 50504568, 50282568, 50063471, 49847214, 49633734, 49422974, 49214875, 49009385, 48806448, 48606011, 48408022,
	48212433, 48019193, 47828263, 47639590, 47453130, 47086691, 46728615, 46378582, 46036299, 45701485, 45373874, 45053205,
	44739243, 44431752, 44130518, 43835326, 43545982, 43262291, 42984072, 42711158, 42443372, 42180562, 41922577, 41669266,
	41420490, 41176120, 40936024, 40700080, 40468168, 40240175, 40015994, 39795521, 39578648, 39365287, 39155336, 38948712,
	38745320, 38545085, 38347924, 38153755, 37962507, 37774106, 37588483, 37405571, 37225301, 37047614, 36872446, 36699742,
	36529439, 36361487, 36195832, 36032416, 35871196, 35712122, 35555147, 35400222, 35247303, 35096352, 34947319, 34800173,
	34654868, 34511369, 34369640, 34229641, 34091339, 33954698, 33819688, 33686280};
static const int32_t rsqrt_slope[128] = {
	-131062, -128048, -125150, -122358, -119670, -117078, -114578, -112166, -109838, -107588, -105416, -103314, -101282, -99316,
	-97412, -95568, -93782, -92052, -90372, -88744, -87164, -85630, -84142, -82696, -81290, -79924, -78596, -77304, -76046, -74824,
	-73632, -72474, -71344, -70244, -69172, -68126, -67106, -66112, -65142, -64196, -63272, -62370, -61490, -60630, -59790, -58970,
	-58168, -57382, -56616, -55866, -55132, -54416, -53714, -53026, -52354, -51696, -51050, -50418, -49800, -49194, -48600, -48018,
	-47448, -46888, -92674, -90544, -88494, -86520, -84620, -82786, -81020, -79314, -77668, -76076, -74540, -73054, -71618, -70226,
	-68880, -67578, -66314, -65090, -63904, -62752, -61634, -60550, -59498, -58474, -57480, -56514, -55576, -54662, -53774, -52908,
	-52066, -51246, -50448, -49670, -48912, -48172, -47452, -46748, -46062, -45394, -44740, -44102, -43480, -42872, -42278, -41698,
	-41130, -40576, -40034, -39504, -38984, -38478, -37982, -37496, -37020, -36554, -36098, -35652, -35214, -34786, -34366, -33954,
	-33550, -33156};
static const int32_t rsqrt_curve[128] = {
	1508, 1450, 1396, 1344, 1296, 1250, 1206, 1164, 1124, 1086, 1052, 1016, 984, 952, 922, 892, 866, 840, 814, 790, 766, 744, 724,
	704, 684, 664, 646, 628, 610, 596, 580, 566, 550, 536, 524, 510, 496, 484, 472, 462, 450, 440, 430, 420, 410, 402, 392, 382,
	374, 366, 358, 352, 344, 336, 330, 324, 316, 308, 302, 296, 290, 286, 280, 274, 1066, 1026, 986, 950, 918, 884, 854, 824, 796,
	768, 742, 718, 696, 672, 652, 632, 612, 594, 576, 558, 542, 526, 512, 496, 482, 470, 458, 444, 434, 420, 410, 398, 390, 380,
	370, 360, 352, 342, 334, 326, 318, 310, 304, 296, 290, 284, 276, 272, 266, 260, 252, 248, 244, 238, 234, 228, 224, 220, 214,
	210, 206, 202, 198, 194};
static const int32_t ex2_constant[64] = {
	33554435, 33919818, 34289182, 34662565, 35040018, 35421577, 35807292, 36197209, 36591372, 36989825, 37392616, 37799797,
	38211409, 38627504, 39048131, 39473337, 39903173, 40337690, 40776937, 41220970, 41669836, 42123592, 42582286, 43045977,
	43514717, 43988561, 44467565, 44951786, 45441278, 45936101, 46436314, 46941971, 47453135, 47969867, 48492225, 49020269,
	49554065, 50093674, 50639159, 51190582, 51748011, 52311510, 52881146, 53456983, 54039091, 54627538, 55222393, 55823725,
	56431607, 57046106, 57667297, 58295254, 58930048, 59571754, 60220447, 60876205, 61539104, 62209220, 62886634, 63571424,
	64263672, 64963458, 65670863, 66385972};
static const int32_t ex2_slope[64] = {
	90852, 91840, 92840, 93852, 94872, 95908, 96952, 98008, 99072, 100152, 101244, 102344, 103460, 104588, 105724, 106876, 108040,
	109216, 110408, 111608, 112824, 114052, 115296, 116552, 117820, 119104, 120400, 121712, 123036, 124376, 125728, 127100, 128484,
	129884, 131296, 132728, 134172, 135632, 137108, 138604, 140112, 141636, 143180, 144740, 146316, 147908, 149520, 151148, 152792,
	154456, 156140, 157840, 159556, 161296, 163052, 164828, 166620, 168436, 170272, 172124, 174000, 175892, 177808, 179744};
static const int32_t ex2_curve[64] = {
	494, 501, 506, 511, 518, 521, 527, 532, 541, 546, 551, 559, 564, 568, 577, 583, 589, 596, 600, 609, 615, 622, 627, 633, 641,
	647, 655, 661, 670, 677, 686, 691, 699, 705, 715, 721, 730, 739, 748, 753, 763, 773, 779, 787, 796, 806, 813, 822, 833, 842,
	849, 858, 870, 877, 887, 896, 909, 917, 925, 938, 946, 959, 969, 980};

/* The square of x without the products of bits below a column, in units of it. */
GT_INLINE uint32_t cut_square(uint32_t x, unsigned column)
{
	const unsigned half = (column + 1) / 2;
	const uint32_t above = x >> half;
	uint32_t square = 2 * above * above + (x >> (half - 1) & 1) * 2 * above;

	for (unsigned bit = 0; bit + 2 <= half; bit++)
		square += (x >> bit & 1) * (x >> (column - 1 - bit));
	return square;
}

/* The place on a parabola: of the lower bits of a mantissa, of which there are so many. */
GT_INLINE double on_parabola(int32_t constant, int32_t slope, int32_t curve, uint32_t mantissa, unsigned bits, double bias)
{
	const unsigned column = bits == 16 ? 17 : 19;
	const uint32_t x = mantissa & ((UINT32_C(1) << bits) - 1);
	const double unit = 1.0 / (1 << bits), square = (double)(int32_t)cut_square(x, column) * (unit * unit * (1 << column));

	return (double)(int32_t)((double)constant * 0.25 + bias + (double)slope * (double)(int32_t)x * unit + (double)curve * square);
}

/* 2^exponent */
GT_INLINE double power_of_2(int32_t exponent)
{
	union { uint64_t bits; double value; } u = {(uint64_t)(exponent + 1023) << 52};

	return u.value;
}

/* The exponent of a number, and the 23 bits of its mantissa: those of a double, in which no float is subnormal. */
GT_INLINE int32_t parts_of(float x, uint32_t *mantissa)
{
	union { double value; uint64_t bits; } u = {(double)x};

	*mantissa = (uint32_t)(u.bits >> 29) & 0x7fffff;
	return (int32_t)(u.bits >> 52 & 0x7ff) - 1023;
}

GT_INLINE float near_rcp(float x)
{
	union { float value; uint32_t bits; } nan = {.bits = 0x7fffffff};
	uint32_t m;
	const int32_t exponent = parts_of(x, &m);
	const double y = on_parabola(rcp_constant[m >> 16], rcp_slope[m >> 16], rcp_curve[m >> 16], m, 16, 0.06175);
	const float value = copysignf((float)(y * power_of_2(-24 - exponent)), x);

	return x != x ? nan.value : x == 0 ? copysignf(__builtin_inff(), x) : fabsf(x) == __builtin_inff() ? copysignf(0, x) : value;
}

GT_INLINE float near_rsqrt(float x)
{
	union { float value; uint32_t bits; } nan = {.bits = 0x7fffffff};
	uint32_t m;
	const int32_t exponent = parts_of(x, &m), odd = exponent & 1;
	const uint32_t place = (uint32_t)odd << 6 | m >> 17;
	const double y = on_parabola(rsqrt_constant[place], rsqrt_slope[place], rsqrt_curve[place], m, 17, 0.249993);
	const float value = (float)((m == 0 && odd == 0 ? 0x1p24 : y) * power_of_2(-24 - (exponent - odd) / 2));

	return x == 0 ? copysignf(__builtin_inff(), x) : !(x > 0) ? nan.value : x == __builtin_inff() ? 0 : value;
}

/* The exponent becomes a number with 23 bits of fraction; of a negative one its bits are turned, if it has a fraction. */
GT_INLINE float ex2_above(float x)
{
	const float limited = x > -200 ? x < 129 ? x : 129 : -200;
	const int32_t size = (int32_t)((double)fabsf(limited) * 0x1p23), fraction = size & 0x7fffff;
	const int32_t fixed = limited < 0 ? fraction == 0 ? -size : ~size : size;
	const uint32_t m = (uint32_t)fixed & 0x7fffff;
	const double y = on_parabola(ex2_constant[m >> 17], ex2_slope[m >> 17], ex2_curve[m >> 17], m, 17, 0.1866);

	return (float)(y * power_of_2((fixed - (int32_t)m) / 0x800000 - 23));
}

/* Below -126 it is the square of the power with half of the exponent. */
GT_INLINE float near_ex2(float x)
{
	union { float value; uint32_t bits; } nan = {.bits = 0x7fffffff};
	const bool far = x < -126;
	const float value = ex2_above(far ? x * 0.5F : x);

	return x != x ? nan.value : far ? value * value : value;
}

/* The product with the reciprocal of the divisor, which is scaled if it is subnormal; div.full also keeps the reciprocal from being so. */
GT_INLINE float near_quotient(float x, float y)
{
	const float scale = fabsf(y) < 0x1p-126F ? 0x1p24F : 1;

	return canonical_f32(x * scale * near_rcp(y * scale));
}

GT_INLINE float full_quotient(float x, float y)
{
	const float scale = fabsf(y) > 0x1p126F ? 0.25F : 1;

	return near_quotient(x * scale, y * scale);
}

#if defined __x86_64__
/* The same of eight lanes at once; *hard: lanes of zeros, subnormals, infinities, NaNs and results that are subnormal, which are done alone. */

GT_FAST GT_INLINE __m256i cut_square8(__m256i x, int bits, int column)
{
	const int half = (column + 1) / 2;
	const __m256i above = _mm256_srli_epi32(x, half), twice = _mm256_slli_epi32(above, 1);
	__m256i square = _mm256_mullo_epi32(above, twice);

	square = _mm256_add_epi32(square, _mm256_and_si256(_mm256_srai_epi32(_mm256_slli_epi32(x, 32 - half), 31), twice));
	GT_UNROLLED for (int bit = column - bits; bit + 2 <= half; bit++)
		square = _mm256_add_epi32(square, _mm256_and_si256(_mm256_srai_epi32(_mm256_slli_epi32(x, 31 - bit), 31),
								   _mm256_srli_epi32(x, column - 1 - bit)));
	return square;
}

/* Cut to an integer. */
GT_FAST GT_INLINE __m256i on_parabola8(const int32_t *constant, const int32_t *slope, const int32_t *curve, __m256i place, __m256i mantissa,
				       int bits, double bias)
{
	const int column = bits == 16 ? 17 : 19;
	const __m256i x = _mm256_and_si256(mantissa, _mm256_set1_epi32((1 << bits) - 1)), square = cut_square8(x, bits, column);
	const __m256i c0 = _mm256_i32gather_epi32((const int *)constant, place, 4), c1 = _mm256_i32gather_epi32((const int *)slope, place, 4);
	const __m256i c2 = _mm256_i32gather_epi32((const int *)curve, place, 4);
	const double unit = 1.0 / (1 << bits);
	__m128i whole[2];

#define HALF(V, I) _mm256_cvtepi32_pd(_mm256_extracti128_si256(V, I))
#define PART(I)                                                                                                     \
	whole[I] = _mm256_cvttpd_epi32(_mm256_fmadd_pd(                                                             \
		_mm256_mul_pd(HALF(c2, I), HALF(square, I)), _mm256_set1_pd(unit * unit * (1 << column)),           \
		_mm256_fmadd_pd(_mm256_mul_pd(HALF(c1, I), HALF(x, I)), _mm256_set1_pd(unit),                       \
				_mm256_fmadd_pd(HALF(c0, I), _mm256_set1_pd(0.25), _mm256_set1_pd(bias)))))
	PART(0);
	PART(1);
#undef PART
	return _mm256_set_m128i(whole[1], whole[0]);
}

/* value * 2^exponent */
GT_FAST GT_INLINE __m256 scaled8(__m256i value, __m256i exponent)
{
	const __m256i biased = _mm256_add_epi32(exponent, _mm256_set1_epi32(1023));
	__m128 halves[2];

#define PART(I)                                                                                                                    \
	halves[I] = _mm256_cvtpd_ps(_mm256_mul_pd(                                                                                 \
		HALF(value, I), _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(biased, I)), 52))))
	PART(0);
	PART(1);
#undef PART
#undef HALF
	return _mm256_set_m128(halves[1], halves[0]);
}

/* Lanes whose exponent is that of subnormals, or infinite. */
GT_FAST GT_INLINE unsigned extreme8(__m256i bits)
{
	const __m256i size = _mm256_and_si256(bits, _mm256_set1_epi32(INT32_MAX));
	const __m256i usual = _mm256_and_si256(_mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7fffff)), _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7f800000), size));

	return 255U ^ (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(usual));
}

GT_FAST GT_INLINE __m256 rcp8(__m256 from, unsigned *hard)
{
	const __m256i bits = _mm256_castps_si256(from), m = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
	const __m256i exponent = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(255));
	const __m256i y = on_parabola8(rcp_constant, rcp_slope, rcp_curve, _mm256_srli_epi32(m, 16), m, 16, 0.06175);
	const __m256 value = scaled8(y, _mm256_sub_epi32(_mm256_set1_epi32(127 - 24), exponent)), sign = _mm256_set1_ps(-0.0F);

	*hard = extreme8(bits);
	return _mm256_or_ps(value, _mm256_and_ps(from, sign));
}

GT_FAST GT_INLINE __m256 rsqrt8(__m256 from, unsigned *hard)
{
	const __m256i bits = _mm256_castps_si256(from), m = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)), one = _mm256_set1_epi32(1);
	const __m256i exponent = _mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(127)), odd = _mm256_and_si256(exponent, one);
	const __m256i place = _mm256_or_si256(_mm256_slli_epi32(odd, 6), _mm256_srli_epi32(m, 17));
	const __m256i power = _mm256_cmpeq_epi32(_mm256_or_si256(m, odd), _mm256_setzero_si256());
	__m256i y = on_parabola8(rsqrt_constant, rsqrt_slope, rsqrt_curve, place, m, 17, 0.249993);

	y = _mm256_blendv_epi8(y, _mm256_set1_epi32(1 << 24), power);
	*hard = extreme8(bits) | (unsigned)_mm256_movemask_ps(from);
	return scaled8(y, _mm256_sub_epi32(_mm256_set1_epi32(-24), _mm256_srai_epi32(_mm256_sub_epi32(exponent, odd), 1)));
}

/* Far from 0 are exponents whose powers are subnormal or beyond all floats, as in exp() of what is far below 0. Only NaNs are hard. */
GT_FAST GT_INLINE __m256 ex28(__m256 from, unsigned *hard)
{
	const __m256 sign = _mm256_set1_ps(-0.0F), near = _mm256_cmp_ps(_mm256_andnot_ps(sign, from), _mm256_set1_ps(126), _CMP_LT_OQ);
	const bool all_near = _mm256_movemask_ps(near) == 255;
	const __m256 below = _mm256_cmp_ps(from, _mm256_set1_ps(-126), _CMP_LT_OQ);
	const __m256i mask = _mm256_set1_epi32(0x7fffff);
	__m256 limited = from;

	if (!all_near) {
		limited = _mm256_blendv_ps(from, _mm256_mul_ps(from, _mm256_set1_ps(0.5F)), below);
		limited = _mm256_max_ps(_mm256_min_ps(limited, _mm256_set1_ps(129)), _mm256_set1_ps(-200));
	}
	const __m256i number = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_andnot_ps(sign, limited), _mm256_set1_ps(0x1p23F)));
	const __m256i whole = _mm256_cmpeq_epi32(_mm256_and_si256(number, mask), _mm256_setzero_si256());
	const __m256i negative = _mm256_srai_epi32(_mm256_castps_si256(limited), 31);
	const __m256i fixed = _mm256_sub_epi32(_mm256_xor_si256(number, negative), _mm256_and_si256(whole, negative)), m = _mm256_and_si256(fixed, mask);
	const __m256i y = on_parabola8(ex2_constant, ex2_slope, ex2_curve, _mm256_srli_epi32(m, 17), m, 17, 0.1866);
	const __m256 value = scaled8(y, _mm256_sub_epi32(_mm256_srai_epi32(fixed, 23), _mm256_set1_epi32(23)));

	*hard = all_near ? 0 : (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(from, from, _CMP_UNORD_Q));
	return all_near ? value : _mm256_blendv_ps(value, _mm256_mul_ps(value, value), below);
}

/* Where both forms are the product with the reciprocal. */
GT_FAST GT_INLINE __m256 quotient8(__m256 x, __m256 y, unsigned *hard)
{
	unsigned extreme;
	const __m256 quotient = _mm256_mul_ps(x, rcp8(y, &extreme)), size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), y);

	*hard = extreme | (unsigned)_mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(size, _mm256_set1_ps(0x1p126F), _CMP_GT_OQ),
								    _mm256_cmp_ps(quotient, quotient, _CMP_UNORD_Q)));
	return quotient;
}

/* A step of these: eight lanes at a time by EIGHT, the hard ones by ONE. */
#define NEAR_STEP(ID, EIGHT, ONE)                                                                                  \
	GT_FAST GT_STEP_HEAD(ID##_fast)                                                                            \
	{                                                                                                          \
		const float *a = gt_ptx_lanes(warp, op->a), *b = gt_ptx_lanes(warp, op->b);                        \
		float *to = gt_ptx_lanes(warp, op->d), found[GT_WARP_SIZE];                                        \
		uint32_t left = 0;                                                                                 \
		for (int i = 0; i < GT_WARP_SIZE; i += 8) {                                                        \
			const __m256 x = _mm256_loadu_ps(a + i), y = _mm256_loadu_ps(b + i);                       \
			unsigned hard;                                                                             \
			(void)y;                                                                                   \
			_mm256_storeu_ps(found + i, EIGHT);                                                        \
			left |= (uint32_t)hard << i;                                                               \
		}                                                                                                  \
		for (uint32_t rest = left & mask; rest; rest &= rest - 1) {                                        \
			const float x = a[gt_ptx_lowest(rest)], y = b[gt_ptx_lowest(rest)];                        \
			(void)y;                                                                                   \
			found[gt_ptx_lowest(rest)] = ONE;                                                          \
		}                                                                                                  \
		for (int i = 0; i < GT_WARP_SIZE; i++)                                                             \
			to[i] = mask >> i & 1 ? found[i] : to[i];                                                  \
		return op + 1;                                                                                     \
	}
#else
#define NEAR_STEP(ID, EIGHT, ONE)
#endif

/* ---- f32 and f64 ---- */

/* Arithmetic of f32 and f64. A NaN result of f32 is 0x7fffffff, as in PTX. The approximate forms that are not
 * above give the results of the host's mathematical library, which are at least as exact. */

GT_INLINE double canonical_f64(double x) { return x; }

/* -0 is less than +0; of a NaN and a number, the number is the result. */
#define EXTREMES(T, SIGN)                                                                          \
	GT_INLINE GT_LANE_##T lesser_##T(GT_LANE_##T x, GT_LANE_##T y)                             \
	{                                                                                          \
		GT_LANE_##T ordered = x < y || (x == y && SIGN(x)) ? x : y;                        \
		return x != x ? canonical_##T(y) : y != y ? x : ordered;                           \
	}                                                                                          \
	GT_INLINE GT_LANE_##T greater_##T(GT_LANE_##T x, GT_LANE_##T y)                            \
	{                                                                                          \
		GT_LANE_##T ordered = x > y || (x == y && !SIGN(x)) ? x : y;                       \
		return x != x ? canonical_##T(y) : y != y ? x : ordered;                           \
	}
EXTREMES(f32, signbit)
EXTREMES(f64, signbit)

/* With the sign that the product of x and y has (.xorsign); of NaN, NaN. */
GT_INLINE float signed_as_product(float number, float x, float y)
{
	return number == number ? copysignf(number, !signbit(x) == !signbit(y) ? 1 : -1) : number;
}

GT_INLINE float nan_f32(void) { return gt_ptx_from_bits(0x7fffffff); }
GT_INLINE double nan_f64(void) { return (double)NAN; }

/* Subnormals to zeros of their sign (.ftz), and values to [0, 1], NaN to 0 (.sat). */
GT_INLINE float flushed(float x)
{
	union { float value; uint32_t bits; } u = {x};

	u.bits = u.bits & 0x7f800000 ? u.bits : u.bits & 0x80000000;
	return u.value;
}

/* div.approx multiplies by a reciprocal, which is 0 for divisors above 2^126 (PTX, div): they count as infinite (divisor.f32). */

/* Only the upper word of a double, as in rcp.approx.ftz.f64 and similar operations. */
GT_INLINE double upper_word(double x)
{
	union { double value; uint64_t bits; } u = {x};

	u.bits &= UINT64_C(0xffffffff00000000);
	if (!(u.bits & UINT64_C(0x7ff0000000000000)))
		u.bits &= UINT64_C(0x8000000000000000);
	return u.value;
}

#define ARITHMETIC(X, T, SUFFIX)                                                                   \
	X(add_##T, "add." #T, T, T, T, none, canonical_##T(x + y))                                 \
	X(sub_##T, "sub." #T, T, T, T, none, canonical_##T(x - y))                                 \
	X(mul_##T, "mul." #T, T, T, T, none, canonical_##T(x * y))                                 \
	X(fma_##T, "fma." #T, T, T, T, T, canonical_##T(__builtin_fma##SUFFIX(x, y, z)))           \
	X(mad_##T, "mad." #T, T, T, T, T, canonical_##T(__builtin_fma##SUFFIX(x, y, z)))           \
	X(div_##T, "div." #T, T, T, T, none, canonical_##T(x / y))                                 \
	X(rcp_##T, "rcp." #T, T, T, none, none, canonical_##T(1 / x))                              \
	X(sqrt_##T, "sqrt." #T, T, T, none, none, canonical_##T(sqrt##SUFFIX(x)))                  \
	X(abs_##T, "abs." #T, T, T, none, none, fabs##SUFFIX(x))                                   \
	X(neg_##T, "neg." #T, T, T, none, none, -x)                                                \
	X(min_##T, "min." #T, T, T, T, none, lesser_##T(x, y))                                     \
	X(max_##T, "max." #T, T, T, T, none, greater_##T(x, y))                                    \
	X(min_nan_##T, "min.NaN." #T, T, T, T, none, x == x && y == y ? lesser_##T(x, y) : nan_##T()) \
	X(max_nan_##T, "max.NaN." #T, T, T, T, none, x == x && y == y ? greater_##T(x, y) : nan_##T()) \
	X(copysign_##T, "copysign." #T, T, T, T, none, copysign##SUFFIX(y, x))                     \
	X(saturate_##T, "saturate." #T, T, T, none, none, !(x > 0) ? 0 : x < 1 ? x : 1)
/* The extreme of three, or of their absolute values; and of two absolute values, with the sign of the product. */
#define EXTREMES3(X, ID, ABS, OF)                                                                  \
	X(min3##ID##_f32, "min3" ABS ".f32", f32, f32, f32, f32, lesser_f32(lesser_f32(OF(x), OF(y)), OF(z))) \
	X(max3##ID##_f32, "max3" ABS ".f32", f32, f32, f32, f32, greater_f32(greater_f32(OF(x), OF(y)), OF(z))) \
	X(min3_nan##ID##_f32, "min3.NaN" ABS ".f32", f32, f32, f32, f32,                           \
	  x == x && y == y && z == z ? lesser_f32(lesser_f32(OF(x), OF(y)), OF(z)) : nan_f32())    \
	X(max3_nan##ID##_f32, "max3.NaN" ABS ".f32", f32, f32, f32, f32,                           \
	  x == x && y == y && z == z ? greater_f32(greater_f32(OF(x), OF(y)), OF(z)) : nan_f32())
#define EXTREMES_F32(X)                                                                            \
	EXTREMES3(X, , "", +) EXTREMES3(X, _abs, ".abs", fabsf)                                    \
	X(min_sign_f32, "min.xorsign.abs.f32", f32, f32, f32, none, signed_as_product(lesser_f32(fabsf(x), fabsf(y)), x, y)) \
	X(max_sign_f32, "max.xorsign.abs.f32", f32, f32, f32, none, signed_as_product(greater_f32(fabsf(x), fabsf(y)), x, y)) \
	X(min_nan_sign_f32, "min.NaN.xorsign.abs.f32", f32, f32, f32, none,                        \
	  x == x && y == y ? signed_as_product(lesser_f32(fabsf(x), fabsf(y)), x, y) : nan_f32())  \
	X(max_nan_sign_f32, "max.NaN.xorsign.abs.f32", f32, f32, f32, none,                        \
	  x == x && y == y ? signed_as_product(greater_f32(fabsf(x), fabsf(y)), x, y) : nan_f32())
/* A half, or two, with a float. */
#define MIXED(X, H, VALUE)                                                                         \
	X(add_f32_##H, "add.f32." #H, f32, H, f32, none, canonical_f32((float)VALUE(x) + y))       \
	X(sub_f32_##H, "sub.f32." #H, f32, H, f32, none, canonical_f32((float)VALUE(x) - y))       \
	X(fma_f32_##H, "fma.f32." #H, f32, H, H, f32, canonical_f32(__builtin_fmaf((float)VALUE(x), (float)VALUE(y), z)))
#define FUNCTIONS(X)                                                                               \
	X(rsqrt_f64, "rsqrt.f64", f64, f64, none, none, 1 / sqrt(x))                               \
	X(rcp_high, "rcp.approx.ftz.f64", f64, f64, none, none, upper_word(1 / upper_word(x)))     \
	X(rsqrt_high, "rsqrt.approx.ftz.f64", f64, f64, none, none, upper_word(1 / sqrt(upper_word(x)))) \
	X(sin_f32, "sin.f32", f32, f32, none, none, canonical_f32(sinf(x)))                        \
	X(cos_f32, "cos.f32", f32, f32, none, none, canonical_f32(cosf(x)))                        \
	X(lg2_f32, "lg2.f32", f32, f32, none, none, canonical_f32(log2f(x)))                       \
	X(tanh_f32, "tanh.f32", f32, f32, none, none, canonical_f32(tanhf(x)))                     \
	X(flush_f32, "flush.f32", f32, f32, none, none, flushed(x))                                \
	X(divisor_f32, "divisor.f32", f32, f32, none, none, fabsf(x) > 0x1p126F ? copysignf(__builtin_inff(), x) : x)

#define NEAR(X)                                                                                    \
	X(rsqrt_f32, "rsqrt.f32", f32, f32, none, none, near_rsqrt(x))                             \
	X(ex2_f32, "ex2.f32", f32, f32, none, none, near_ex2(x))                                   \
	X(rcp_near_f32, "rcp.approx.f32", f32, f32, none, none, near_rcp(x))                       \
	X(div_near_f32, "div.approx.f32", f32, f32, f32, none, near_quotient(x, y))     \
	X(div_full_f32, "div.full.f32", f32, f32, f32, none, full_quotient(x, y))
NEAR(GT_LANES_PLAIN)
NEAR_STEP(rsqrt_f32, rsqrt8(x, &hard), near_rsqrt(x))
NEAR_STEP(ex2_f32, ex28(x, &hard), near_ex2(x))
NEAR_STEP(rcp_near_f32, rcp8(x, &hard), near_rcp(x))
NEAR_STEP(div_near_f32, quotient8(x, y, &hard), near_quotient(x, y))
NEAR_STEP(div_full_f32, quotient8(x, y, &hard), full_quotient(x, y))

/* Two floats in 64 bits. */
#define LOW(X)	gt_ptx_from_bits((uint32_t)(X))
#define HIGH(X) gt_ptx_from_bits((uint32_t)((X) >> 32))
GT_INLINE uint64_t two(float low, float high)
{
	return (uint64_t)gt_ptx_to_bits(canonical_f32(high)) << 32 | gt_ptx_to_bits(canonical_f32(low));
}
#define PAIRS(X)                                                                                   \
	X(add_f32x2, "add.f32x2", b64, b64, b64, none, two(LOW(x) + LOW(y), HIGH(x) + HIGH(y)))    \
	X(sub_f32x2, "sub.f32x2", b64, b64, b64, none, two(LOW(x) - LOW(y), HIGH(x) - HIGH(y)))    \
	X(mul_f32x2, "mul.f32x2", b64, b64, b64, none, two(LOW(x) * LOW(y), HIGH(x) * HIGH(y)))    \
	X(flush_f32x2, "flush.b64", b64, b64, none, none, two(flushed(LOW(x)), flushed(HIGH(x))))  \
	X(fma_f32x2, "fma.f32x2", b64, b64, b64, b64,                                              \
	  two(__builtin_fmaf(LOW(x), LOW(y), LOW(z)), __builtin_fmaf(HIGH(x), HIGH(y), HIGH(z))))

#define FLOATS(X) ARITHMETIC(X, f32, f) ARITHMETIC(X, f64, ) FUNCTIONS(X) PAIRS(X) \
	EXTREMES_F32(X) MIXED(X, f16, gt_ptx_from_half) MIXED(X, bf16, gt_ptx_from_bfloat)
FLOATS(GT_LANES)
static const struct gt_ptx_form float_rows[] = {FLOATS(GT_ROW) NEAR(GT_ROW)};
const struct gt_ptx_forms gt_ptx_float_forms = {float_rows, sizeof float_rows / sizeof float_rows[0]};

/* On x86-64 all arithmetic of steps is of SSE or AVX, whose mode alone is set: fesetround sets that of the x87, too, and takes longer
 * than the step does. */
#if defined __x86_64__
#define ROUNDING()	  ((int)_MM_GET_ROUNDING_MODE())
#define SET_ROUNDING(MODE) _MM_SET_ROUNDING_MODE((unsigned)(MODE))
enum { NEAREST = _MM_ROUND_NEAREST, TOWARD_ZERO = _MM_ROUND_TOWARD_ZERO, DOWN = _MM_ROUND_DOWN, UP = _MM_ROUND_UP };
#else
#define ROUNDING()	  fegetround()
#define SET_ROUNDING(MODE) fesetround(MODE)
enum { NEAREST = FE_TONEAREST, TOWARD_ZERO = FE_TOWARDZERO, DOWN = FE_DOWNWARD, UP = FE_UPWARD };
#endif

const struct gt_ptx_op *gt_ptx_rounded(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	static const int modes[] = {[GT_PTX_RN] = NEAREST, [GT_PTX_RZ] = TOWARD_ZERO, [GT_PTX_RM] = DOWN, [GT_PTX_RP] = UP};
	const int before = ROUNDING();

	/* The step is a separate function, so the compiler cannot move its arithmetic past these. */
	SET_ROUNDING(modes[op->choice]);
	const struct gt_ptx_op *next = op->with.inner(warp, op, mask);
	SET_ROUNDING(before);
	return next;
}

/* ---- f16 and bf16 ---- */

/* Arithmetic of f16, bf16, and pairs of them. For any processor it is in double, rounded to odd, then once to the format. */

GT_INLINE uint16_t round_f16(double x) { return gt_ptx_to_half(x, GT_PTX_RN); }
GT_INLINE uint16_t round_bf16(double x) { return gt_ptx_to_bfloat(x, GT_PTX_RN); }
GT_INLINE double value_f16(uint16_t x) { return (double)gt_ptx_from_half(x); }
GT_INLINE double value_bf16(uint16_t x) { return (double)gt_ptx_from_bfloat(x); }

/* Powers of 2 are those of floats, cut, as on an H100; beyond the largest number they are infinite. */
GT_INLINE double cut_f16(float x)
{
	return x < 0x1p16F ? (double)gt_ptx_from_half(gt_ptx_to_half((double)x, GT_PTX_RZ)) : (double)x;
}
GT_INLINE double cut_bf16(float x) { return (double)gt_ptx_from_bits(gt_ptx_to_bits(x) & 0xffff0000); }

/* One operation for both formats, alone and in pairs. */
#define TWO(ID, F, EXPRESSION)                                                                     \
	static uint16_t ID##_one_##F(uint16_t a, uint16_t b, uint16_t c)                           \
	{                                                                                          \
		const double p = value_##F(a), q = value_##F(b), r = value_##F(c);                 \
		(void)p, (void)q, (void)r;                                                         \
		return round_##F(EXPRESSION);                                                      \
	}
#define PAIR(ONE)                                                                                \
	(ONE((uint16_t)x, (uint16_t)y, (uint16_t)z) |                                            \
	 (uint32_t)ONE((uint16_t)(x >> 16), (uint16_t)(y >> 16), (uint16_t)(z >> 16)) << 16)
#define SUMS(M, F)                                                                               \
	M(add, F, gt_ptx_odd_sum(p, q), 2) M(sub, F, gt_ptx_odd_sum(p, -q), 2) M(mul, F, p * q, 2) \
	M(fma, F, gt_ptx_odd_sum(p * q, r), 3)
#define CURVES(M, F) M(ex2, F, cut_##F(near_ex2((float)p)), 1) M(tanh, F, tanh(p), 1)
#define DEFINE_ONE(ID, F, EXPRESSION, N) TWO(ID, F, EXPRESSION)
SUMS(DEFINE_ONE, f16)
SUMS(DEFINE_ONE, bf16)
CURVES(DEFINE_ONE, f16)
CURVES(DEFINE_ONE, bf16)

/* Those that choose do so by the bits: of two numbers of one sign the larger has the larger bits. */
enum { NAN_OF_HALF = 0x7fff, INFINITY_f16 = 0x7c00, INFINITY_bf16 = 0x7f80, ONE_f16 = 0x3c00, ONE_bf16 = 0x3f80 };
GT_INLINE bool is_nan_half(uint16_t x, uint16_t infinity) { return (x & 0x7fff) > infinity; }
/* In the order of numbers, -0 before +0. Applied twice it gives x. */
GT_INLINE int16_t ordered_half(uint16_t x) { return (int16_t)(x ^ (x & 0x8000 ? 0x7fff : 0)); }

GT_INLINE uint16_t chosen_half(uint16_t x, uint16_t y, uint16_t infinity, bool greater, bool strict)
{
	const bool x_is_nan = is_nan_half(x, infinity), y_is_nan = is_nan_half(y, infinity);
	const uint16_t number = (ordered_half(x) < ordered_half(y)) != greater ? x : y;
	const uint16_t other = x_is_nan && (y_is_nan || strict) ? NAN_OF_HALF : x_is_nan ? y : strict ? NAN_OF_HALF : x;

	return x_is_nan || y_is_nan ? other : number;
}
GT_INLINE uint16_t saturated_half(uint16_t x, uint16_t infinity, uint16_t one)
{
	return x > infinity ? 0 : x < one ? x : one;
}
GT_INLINE uint16_t positive_half(uint16_t x, uint16_t infinity)
{
	return is_nan_half(x, infinity) ? NAN_OF_HALF : x & 0x8000 ? 0 : x;
}
GT_INLINE uint16_t signed_half(uint16_t number, uint16_t sign, uint16_t infinity)
{
	return is_nan_half(number, infinity) ? NAN_OF_HALF : (uint16_t)(number | (sign & 0x8000));
}
#define CHOICES_OF(M, F)                                                                         \
	M(min, F, chosen_half(a, b, INFINITY_##F, false, false), 2)                              \
	M(max, F, chosen_half(a, b, INFINITY_##F, true, false), 2)                               \
	M(saturate, F, saturated_half(a, INFINITY_##F, ONE_##F), 1) M(relu, F, positive_half(a, INFINITY_##F), 1)
/* Operations whose result is NaN if a source is NaN. */
#define STRICT(M, F)                                                                             \
	M(min, F, chosen_half(a, b, INFINITY_##F, false, true), 2)                               \
	M(max, F, chosen_half(a, b, INFINITY_##F, true, true), 2)
#define DEFINE_CHOICE(ID, F, EXPRESSION, N)                                                        \
	GT_INLINE uint16_t ID##_one_##F(uint16_t a, uint16_t b, uint16_t c)                        \
	{                                                                                          \
		(void)b, (void)c;                                                                  \
		return EXPRESSION;                                                                 \
	}
#define DEFINE_STRICT(ID, F, EXPRESSION, N) DEFINE_CHOICE(ID##_nan, F, EXPRESSION, N)
/* Of the absolute values, with the sign of the product. */
#define DEFINE_SIGNED(ID, F, EXPRESSION, N)                                                        \
	DEFINE_CHOICE(ID##_sign, F, signed_half(ID##_one_##F(a & 0x7fff, b & 0x7fff, 0), a ^ b, INFINITY_##F), N) \
	DEFINE_CHOICE(ID##_nan_sign, F, signed_half(ID##_nan_one_##F(a & 0x7fff, b & 0x7fff, 0), a ^ b, INFINITY_##F), N)
CHOICES_OF(DEFINE_CHOICE, f16)
CHOICES_OF(DEFINE_CHOICE, bf16)
STRICT(DEFINE_STRICT, f16)
STRICT(DEFINE_STRICT, bf16)
STRICT(DEFINE_SIGNED, f16)
STRICT(DEFINE_SIGNED, bf16)

#define SOURCES_1(T) T, none, none
#define SOURCES_2(T) T, T, none
#define SOURCES_3(T) T, T, T
#define EXPAND(X, ...) X(__VA_ARGS__)
#define EVERY_OF(LANES, ID, F, N)                                                                \
	EXPAND(LANES, ID##_##F, , F, SOURCES_##N(F), ID##_one_##F((uint16_t)x, (uint16_t)y, (uint16_t)z)) \
	EXPAND(LANES, ID##_##F##x2, , F##x2, SOURCES_##N(F##x2), PAIR(ID##_one_##F))
#define LANES_OF(ID, F, EXPRESSION, N) EVERY_OF(GT_LANES, ID, F, N)
#define ROWS_NAMED(ID, NAME, F, N)                                                               \
	EXPAND(GT_ROW, ID##_##F, NAME "." #F, F, SOURCES_##N(F), )                               \
	EXPAND(GT_ROW, ID##_##F##x2, NAME "." #F "x2", F##x2, SOURCES_##N(F##x2), )
#define ROWS_OF(ID, F, EXPRESSION, N) ROWS_NAMED(ID, #ID, F, N)
CURVES(LANES_OF, f16)
CURVES(LANES_OF, bf16)
CHOICES_OF(LANES_OF, f16)
CHOICES_OF(LANES_OF, bf16)
#define STRICT_LANES(ID, F, EXPRESSION, N) LANES_OF(ID##_nan, F, , N) LANES_OF(ID##_sign, F, , N) LANES_OF(ID##_nan_sign, F, , N)
#define STRICT_ROWS(ID, F, EXPRESSION, N)                                                        \
	ROWS_NAMED(ID##_nan, #ID ".NaN", F, N)                                                   \
	ROWS_NAMED(ID##_sign, #ID ".xorsign.abs", F, N)                                          \
	ROWS_NAMED(ID##_nan_sign, #ID ".NaN.xorsign.abs", F, N)
STRICT(STRICT_LANES, f16)
STRICT(STRICT_LANES, bf16)

#if !defined __x86_64__
SUMS(LANES_OF, f16)
SUMS(LANES_OF, bf16)
#else

/* Sums and products with AVX2 and F16C, sixteen halves at a time, in float. A product is exact in it (of bf16, if it is large enough
 * not to become 0 or the least number). A sum may be rounded twice, since a float has at least two bits more than twice those of
 * either format (Figueroa). A product and a third number may be, too, unless what the first rounding gives is in the middle of two
 * halves: then what it cut decides. */
struct floats { __m256 first, second; };
#define PLAIN_OF(ID, F, EXPRESSION, N) EVERY_OF(GT_LANES_PLAIN, ID, F, N)
SUMS(PLAIN_OF, f16)
SUMS(PLAIN_OF, bf16)

GT_FAST GT_INLINE __m256i every32(uint32_t x) { return _mm256_set1_epi32((int)x); }
GT_FAST GT_INLINE __m256i every16(int x) { return _mm256_set1_epi16((int16_t)x); }
GT_FAST GT_INLINE bool is_any(__m256i x) { return !_mm256_testz_si256(x, x); }

/* What the sum of x * y and z lacks, or a number of its sign: of the two terms, the one that is found from the greater number is exact
 * (Dekker), and the other has the same sign or is 0, as rounding never changes an order. */
GT_FAST GT_INLINE __m256 lacks(__m256 sum, __m256 x, __m256 y, __m256 z)
{
	const __m256 product = _mm256_mul_ps(x, y);

	return _mm256_add_ps(_mm256_sub_ps(z, _mm256_sub_ps(sum, product)), _mm256_sub_ps(product, _mm256_sub_ps(sum, z)));
}
GT_FAST GT_INLINE __m256i is_inexact(__m256 lack) { return _mm256_castps_si256(_mm256_cmp_ps(lack, _mm256_setzero_ps(), _CMP_NEQ_OQ)); }
/* -1 where the exact sum is nearer to 0. */
GT_FAST GT_INLINE __m256i is_nearer(__m256 sum, __m256 lack) { return _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(lack, sum)), 31); }

GT_FAST GT_INLINE struct floats floats_f16(const void *halves)
{
	const __m128i *at = halves;

	return (struct floats){_mm256_cvtph_ps(_mm_loadu_si128(at)), _mm256_cvtph_ps(_mm_loadu_si128(at + 1))};
}
GT_FAST GT_INLINE __m256i halves_f16(struct floats x)
{
	const __m128i first = _mm256_cvtps_ph(x.first, _MM_FROUND_TO_NEAREST_INT), second = _mm256_cvtps_ph(x.second, _MM_FROUND_TO_NEAREST_INT);
	const __m256i bits = _mm256_set_m128i(second, first), nan = every16(NAN_OF_HALF);

	return _mm256_blendv_epi8(bits, nan, _mm256_cmpgt_epi16(_mm256_and_si256(bits, nan), every16(INFINITY_f16)));
}
/* Whether one is in the middle. Of halves above 0 up to the least one without leading zeros that is not looked for: all may be. */
GT_FAST GT_INLINE bool is_doubtful(struct floats x, __m256i halves)
{
	const __m256i rest = every32(0x1fff), middle = every32(0x1000), magnitudes = _mm256_and_si256(halves, every16(0x7fff));
	const __m256i first = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x.first), rest), middle);
	const __m256i second = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x.second), rest), middle);
	const __m256i small = _mm256_and_si256(magnitudes, _mm256_cmpgt_epi16(every16(0x401), magnitudes));

	return is_any(_mm256_or_si256(_mm256_or_si256(first, second), small));
}
/* x * y + z rounded to odd. */
GT_FAST GT_INLINE __m256 odd_fused(__m256 x, __m256 y, __m256 z)
{
	const __m256 sum = _mm256_fmadd_ps(x, y, z), lack = lacks(sum, x, y, z);
	const __m256i inexact = is_inexact(lack), nearer = _mm256_and_si256(is_nearer(sum, lack), inexact);

	return _mm256_castsi256_ps(_mm256_or_si256(_mm256_add_epi32(_mm256_castps_si256(sum), nearer), _mm256_srli_epi32(inexact, 31)));
}
GT_FAST static __attribute__((noinline)) __m256i careful_fused(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_f16(a), y = floats_f16(b), z = floats_f16(c);

	return halves_f16((struct floats){odd_fused(x.first, y.first, z.first), odd_fused(x.second, y.second, z.second)});
}
GT_FAST GT_INLINE __m256i fused_f16(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_f16(a), y = floats_f16(b), z = floats_f16(c);
	const struct floats sums = {_mm256_fmadd_ps(x.first, y.first, z.first), _mm256_fmadd_ps(x.second, y.second, z.second)};
	const __m256i halves = halves_f16(sums);

	return is_doubtful(sums, halves) ? careful_fused(a, b, c) : halves;
}

/* The even ones, and the odd ones. */
GT_FAST GT_INLINE struct floats floats_bf16(const void *at)
{
	const __m256i words = _mm256_loadu_si256(at);

	return (struct floats){_mm256_castsi256_ps(_mm256_slli_epi32(words, 16)),
			       _mm256_castsi256_ps(_mm256_and_si256(words, every32(0xffff0000)))};
}
/* In the upper halves of words; what is in the lower ones has no meaning. `down`: -1 where a middle is rounded towards 0. */
GT_FAST GT_INLINE __m256i rounded_bf16(__m256 x, __m256i down)
{
	const __m256i sum = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_add_epi32(down, every32(0x8000)));

	return _mm256_blendv_epi8(sum, every32(0x7fffffff), _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
GT_FAST GT_INLINE __m256i is_even(__m256 x)
{
	return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x), every32(0x10000)), _mm256_setzero_si256());
}
GT_FAST GT_INLINE __m256i joined(__m256i even, __m256i odd) { return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa); }
GT_FAST GT_INLINE __m256i halves_bf16(struct floats x)
{
	return joined(rounded_bf16(x.first, is_even(x.first)), rounded_bf16(x.second, is_even(x.second)));
}
GT_FAST GT_INLINE __m256i rounded_fused(__m256 x, __m256 y, __m256 z)
{
	const __m256 sum = _mm256_fmadd_ps(x, y, z), lack = lacks(sum, x, y, z);

	return rounded_bf16(sum, _mm256_blendv_epi8(is_even(sum), is_nearer(sum, lack), is_inexact(lack)));
}
/* A product may be infinite and its sum with a third number not. Both are then multiples of 2^112 or that sum is nowhere near a middle,
 * so that it is exact where it matters, and what it lacks is found to be no number. */
GT_FAST GT_INLINE __m256i fused_bf16(const void *a, const void *b, const void *c)
{
	const struct floats x = floats_bf16(a), y = floats_bf16(b), z = floats_bf16(c);

	return joined(rounded_fused(x.first, y.first, z.first), rounded_fused(x.second, y.second, z.second));
}

#define SUM(NAME, F, OP)                                                                           \
	GT_FAST GT_INLINE __m256i fast_##NAME##_##F(const void *a, const void *b, const void *c) \
	{                                                                                          \
		const struct floats x = floats_##F(a), y = floats_##F(b);                          \
		(void)c;                                                                           \
		return halves_##F((struct floats){OP(x.first, y.first), OP(x.second, y.second)});  \
	}
#define FAST_SUMS(F) SUM(add, F, _mm256_add_ps) SUM(sub, F, _mm256_sub_ps) SUM(mul, F, _mm256_mul_ps)
FAST_SUMS(f16)
FAST_SUMS(bf16)
#define fast_fma_f16 fused_f16
#define fast_fma_bf16 fused_bf16
#define FAST_OF(ID, F, EXPRESSION, N) FAST_LANES(ID, F, F, N) FAST_LANES(ID, F, F##x2, N)
#define FAST_LANES(ID, F, T, N)                                                                    \
	EXPAND(GT_LANES_FAST, ID##_##T, T, SOURCES_##N(T), sizeof(__m256i) / sizeof(GT_LANE_##T),  \
	       _mm256_storeu_si256((__m256i *)(void *)(d + i), fast_##ID##_##F(lanes_a + i, lanes_b + i, lanes_c + i)))
SUMS(FAST_OF, f16)
SUMS(FAST_OF, bf16)
#endif

/* Subnormals to zeros of their sign. */
GT_INLINE uint32_t flushed_half(uint32_t x, uint32_t exponent) { return x & exponent ? x : x & 0x8000; }
#define FLUSHES(X, F, EXPONENT)                                                                    \
	X(flush_##F, "flush." #F, F, F, none, none, flushed_half(x, EXPONENT))                     \
	X(flush_##F##x2, "flush." #F "x2", F##x2, F##x2, none, none,                               \
	  flushed_half(x & 0xffff, EXPONENT) | flushed_half(x >> 16, EXPONENT) << 16)
FLUSHES(GT_LANES, f16, 0x7c00)
FLUSHES(GT_LANES, bf16, 0x7f80)

#define SIGNS(X, F)                                                                                \
	X(neg_##F, "neg." #F, F, F, none, none, x ^ 0x8000)                                        \
	X(abs_##F, "abs." #F, F, F, none, none, x & 0x7fff)                                        \
	X(neg_##F##x2, "neg." #F "x2", F##x2, F##x2, none, none, x ^ 0x80008000)                   \
	X(abs_##F##x2, "abs." #F "x2", F##x2, F##x2, none, none, x & 0x7fff7fff)
SIGNS(GT_LANES, f16)
SIGNS(GT_LANES, bf16)

static const struct gt_ptx_form half_rows[] = {
	SUMS(ROWS_OF, f16) SUMS(ROWS_OF, bf16) CURVES(ROWS_OF, f16) CURVES(ROWS_OF, bf16)
	CHOICES_OF(ROWS_OF, f16) CHOICES_OF(ROWS_OF, bf16) SIGNS(GT_ROW, f16) SIGNS(GT_ROW, bf16)
	STRICT(STRICT_ROWS, f16) STRICT(STRICT_ROWS, bf16)
	FLUSHES(GT_ROW, f16, 0x7c00) FLUSHES(GT_ROW, bf16, 0x7f80)
};
const struct gt_ptx_forms gt_ptx_half_forms = {half_rows, sizeof half_rows / sizeof half_rows[0]};

/* ---- comparisons ---- */

/* setp, selp (set is a setp and a selp), slct, and testp. */

GT_INLINE uint32_t combined(uint32_t result, enum gt_ptx_combination how, uint32_t with)
{
	switch (how) {
	case GT_PTX_AND: return result & with;
	case GT_PTX_OR: return result | with;
	case GT_PTX_XOR: return result ^ with;
	case GT_PTX_ALONE: break;
	}
	return result;
}

GT_INLINE const struct gt_ptx_op *found(GT_STEP_ARGUMENTS, uint32_t result)
{
	const enum gt_ptx_combination how = (enum gt_ptx_combination)op->choice;
	const uint32_t with = gt_ptx_predicate(warp, op->c);

	if (op->q)
		gt_ptx_set_predicate(warp, op->q, mask, combined(~result, how, with));
	gt_ptx_set_predicate(warp, op->d, mask, combined(result, how, with));
	return op + 1;
}

/* d = (x CMP y) combined with predicate c; q = not (x CMP y), likewise combined. */
#define COMPARISON_AT(TARGET, VARIANT, ID, A, B, EXPRESSION)                                       \
	TARGET GT_STEP_HEAD(ID##VARIANT)                                                           \
	{                                                                                          \
		uint8_t holds[GT_WARP_SIZE];                                                       \
		GT_OPERANDS(A, B, none)                                                            \
		for (int i = 0; i < GT_WARP_SIZE; i++) {                                           \
			GT_OPERAND_LANES(A, B, none)                                               \
			holds[i] = (uint8_t)(EXPRESSION);                                          \
		}                                                                                  \
		return found(warp, op, mask, gt_ptx_packed##VARIANT(holds));                       \
	}
#define COMPARISON(ID, NAME, D, A, B, C, EXPRESSION) GT_VARIANTS(COMPARISON_AT, ID, A, B, EXPRESSION)
#if defined __x86_64__
/* Halves by F16C: as floats, which HALF leaves as they are. */
#define COMPARISON_HALF(ID, NAME, D, A, B, C, EXPRESSION)                                          \
	COMPARISON_AT(, _plain, ID, A, B, EXPRESSION)                                              \
	GT_FAST GT_STEP_HEAD(ID##_fast)                                                            \
	{                                                                                          \
		float lanes_x[GT_WARP_SIZE], lanes_y[GT_WARP_SIZE];                                \
		uint8_t holds[GT_WARP_SIZE];                                                       \
		floats_of_halves(gt_ptx_lanes(warp, op->a), lanes_x);                              \
		floats_of_halves(gt_ptx_lanes(warp, op->b), lanes_y);                              \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			const float x = lanes_x[i], y = lanes_y[i];                                \
			holds[i] = (uint8_t)(EXPRESSION);                                          \
		}                                                                                  \
		return found(warp, op, mask, gt_ptx_packed_fast(holds));                           \
	}
GT_FAST GT_INLINE void floats_of_halves(const uint16_t *halves, float to[GT_WARP_SIZE])
{
	for (int i = 0; i < GT_WARP_SIZE; i += 8)
		_mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(halves + i))));
}
GT_INLINE float same_float(float x) { return x; }
#define HALF(X) _Generic((X), float: same_float, default: gt_ptx_from_half)(X)
#else
#define COMPARISON_HALF COMPARISON
#define HALF gt_ptx_from_half
#endif

#define ORDERED(X, T, R)                                                                           \
	X(setp_eq_##T, "setp.eq." #T, pred, T, T, none, R(x) == R(y))                              \
	X(setp_ne_##T, "setp.ne." #T, pred, T, T, none, ORDERED_##T(R) && R(x) != R(y))            \
	X(setp_lt_##T, "setp.lt." #T, pred, T, T, none, R(x) < R(y))                               \
	X(setp_le_##T, "setp.le." #T, pred, T, T, none, R(x) <= R(y))                              \
	X(setp_gt_##T, "setp.gt." #T, pred, T, T, none, R(x) > R(y))                               \
	X(setp_ge_##T, "setp.ge." #T, pred, T, T, none, R(x) >= R(y))
#define EQUALITY(X, T)                                                                           \
	X(setp_eq_##T, "setp.eq." #T, pred, T, T, none, x == y)                                  \
	X(setp_ne_##T, "setp.ne." #T, pred, T, T, none, x != y)
#define SAME_AS_UNSIGNED(X, T)                                                                     \
	X(setp_lo_##T, "setp.lo." #T, pred, T, T, none, x < y)                                     \
	X(setp_ls_##T, "setp.ls." #T, pred, T, T, none, x <= y)                                    \
	X(setp_hi_##T, "setp.hi." #T, pred, T, T, none, x > y)                                     \
	X(setp_hs_##T, "setp.hs." #T, pred, T, T, none, x >= y)
/* The forms with u hold for NaN. */
#define UNORDERED(X, T, R)                                                                         \
	X(setp_equ_##T, "setp.equ." #T, pred, T, T, none, !ORDERED_##T(R) || R(x) == R(y))         \
	X(setp_neu_##T, "setp.neu." #T, pred, T, T, none, !(R(x) == R(y)))                         \
	X(setp_ltu_##T, "setp.ltu." #T, pred, T, T, none, !(R(x) >= R(y)))                         \
	X(setp_leu_##T, "setp.leu." #T, pred, T, T, none, !(R(x) > R(y)))                          \
	X(setp_gtu_##T, "setp.gtu." #T, pred, T, T, none, !(R(x) <= R(y)))                         \
	X(setp_geu_##T, "setp.geu." #T, pred, T, T, none, !(R(x) < R(y)))                          \
	X(setp_num_##T, "setp.num." #T, pred, T, T, none, ORDERED_##T(R))                          \
	X(setp_nan_##T, "setp.nan." #T, pred, T, T, none, !ORDERED_##T(R))
#define AS_IS(X) (X)
#define NUMBERS(R) (R(x) == R(x) && R(y) == R(y))
#define ORDERED_f16(R) NUMBERS(R)
#define ORDERED_bf16(R) NUMBERS(R)
#define ORDERED_f32(R) NUMBERS(R)
#define ORDERED_f64(R) NUMBERS(R)
#define ORDERED_u16(R) 1
#define ORDERED_s16(R) 1
#define ORDERED_u32(R) 1
#define ORDERED_s32(R) 1
#define ORDERED_u64(R) 1
#define ORDERED_s64(R) 1

/* The kinds of numbers that testp distinguishes. Zeros are normal (PTX, testp). */
#define KINDS(X, T)                                                                                \
	X(testp_finite_##T, "testp.finite." #T, pred, T, none, none, isfinite(x) != 0)             \
	X(testp_infinite_##T, "testp.infinite." #T, pred, T, none, none, isinf(x) != 0)            \
	X(testp_number_##T, "testp.number." #T, pred, T, none, none, x == x)                       \
	X(testp_notanumber_##T, "testp.notanumber." #T, pred, T, none, none, x != x)               \
	X(testp_normal_##T, "testp.normal." #T, pred, T, none, none, isnormal(x) || x == 0)         \
	X(testp_subnormal_##T, "testp.subnormal." #T, pred, T, none, none, fpclassify(x) == FP_SUBNORMAL)

#define COMPARISONS(X)                                                                             \
	ORDERED(X, s32, AS_IS) ORDERED(X, u32, AS_IS) ORDERED(X, s64, AS_IS) ORDERED(X, u64, AS_IS) \
	ORDERED(X, s16, AS_IS) ORDERED(X, u16, AS_IS)                                              \
	ORDERED(X, f32, AS_IS) UNORDERED(X, f32, AS_IS) ORDERED(X, f64, AS_IS) UNORDERED(X, f64, AS_IS) \
	EQUALITY(X, b16) EQUALITY(X, b32) EQUALITY(X, b64)                                         \
	SAME_AS_UNSIGNED(X, u16) SAME_AS_UNSIGNED(X, u32) SAME_AS_UNSIGNED(X, u64)                 \
	ORDERED(X, bf16, gt_ptx_from_bfloat) UNORDERED(X, bf16, gt_ptx_from_bfloat)                \
	KINDS(X, f32) KINDS(X, f64)
#define HALVES(X) ORDERED(X, f16, HALF) UNORDERED(X, f16, HALF)
COMPARISONS(COMPARISON)
HALVES(COMPARISON_HALF)

/* d = predicate c ? a : b, lane by lane. */
#define SELECTION_LOOP(ID, T)                                                                      \
	GT_INLINE const struct gt_ptx_op *ID(GT_STEP_ARGUMENTS)                                    \
	{                                                                                          \
		GT_LANE_##T *lanes_d = gt_ptx_lanes(warp, op->d);                                  \
		GT_OPERANDS(T, T, none)                                                            \
		uint32_t chosen = gt_ptx_predicate(warp, op->c);                                   \
		(void)lanes_c;                                                                     \
		GT_ELEMENTWISE for (int i = 0; i < GT_WARP_SIZE; i++) {                            \
			const GT_LANE_##T value = chosen >> i & 1 ? lanes_a[i] : lanes_b[i];       \
			lanes_d[i] = mask >> i & 1 ? value : lanes_d[i];                           \
		}                                                                                  \
		return op + 1;                                                                     \
	}
SELECTION_LOOP(selp_16, b16)
SELECTION_LOOP(selp_32, b32) GT_EVERY(selp_32)
SELECTION_LOOP(selp_64, b64) GT_EVERY(selp_64)
GT_IN_VARIANT(, _plain, selp_16)
#if defined __x86_64__
/* All bits of the lanes whose bit is set, of 16. */
GT_FAST GT_INLINE __m256i lanes_in(uint32_t bits)
{
	const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, INT16_MIN);

	return _mm256_cmpeq_epi16(_mm256_and_si256(every16((int16_t)bits), bit), bit);
}
GT_FAST GT_STEP_HEAD(selp_16_fast)
{
	__m256i *to = gt_ptx_lanes(warp, op->d);
	const __m256i *a = gt_ptx_lanes(warp, op->a), *b = gt_ptx_lanes(warp, op->b);
	const uint32_t chosen = gt_ptx_predicate(warp, op->c);

	for (int i = 0; i < 2; i++) {
		const __m256i value = _mm256_blendv_epi8(_mm256_loadu_si256(b + i), _mm256_loadu_si256(a + i), lanes_in(chosen >> 16 * i));
		_mm256_storeu_si256(to + i, _mm256_blendv_epi8(_mm256_loadu_si256(to + i), value, lanes_in(mask >> 16 * i)));
	}
	return op + 1;
}
#endif
#define SELECTIONS(X)                                                                            \
	X(selp_16, "selp.b16", b16, b16, b16, pred, ) X(selp_32, "selp.b32", b32, b32, b32, pred, ) \
	X(selp_64, "selp.b64", b64, b64, b64, pred, )
#define SELECTION_NAMES(T, N)                                                                    \
	{"selp." #T, GT_TYPE_##T, {GT_TYPE_##T, GT_TYPE_##T, GT_PTX_PRED}, GT_STEPS(selp_##N)},

#define CHOICES(X, T)                                                                            \
	X(slct_##T##_s32, "slct." #T ".s32", T, T, T, s32, z >= 0 ? x : y)                       \
	X(slct_##T##_f32, "slct." #T ".f32", T, T, T, f32, z >= 0 ? x : y)
#define ALL_CHOICES(X)                                                                           \
	CHOICES(X, b16) CHOICES(X, u16) CHOICES(X, s16) CHOICES(X, b32) CHOICES(X, u32) CHOICES(X, s32) \
	CHOICES(X, b64) CHOICES(X, u64) CHOICES(X, s64) CHOICES(X, f32) CHOICES(X, f64)
ALL_CHOICES(GT_LANES)

static const struct gt_ptx_form compare_rows[] = {
	COMPARISONS(GT_ROW) HALVES(GT_ROW) SELECTIONS(GT_ROW) ALL_CHOICES(GT_ROW)
	SELECTION_NAMES(u16, 16) SELECTION_NAMES(s16, 16) SELECTION_NAMES(f16, 16) SELECTION_NAMES(bf16, 16)
	SELECTION_NAMES(u32, 32) SELECTION_NAMES(s32, 32) SELECTION_NAMES(f32, 32)
	SELECTION_NAMES(u64, 64) SELECTION_NAMES(s64, 64) SELECTION_NAMES(f64, 64)
};
const struct gt_ptx_forms gt_ptx_compare_forms = {compare_rows, sizeof compare_rows / sizeof compare_rows[0]};
