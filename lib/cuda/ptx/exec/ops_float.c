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

/* Bits of a mantissa that are the place on a parabola, and the column below which products are left out. */
#define COLUMN(BITS) ((BITS) == 16 ? 17 : 19)
/* The coefficients, the first in quarters, of the place and of its square as a part of 2^bits. */
#define PARABOLA(BITS, BIAS, C, S, Q)                                                                                                  \
	{                                                                                                                              \
		(C) * 0.25 + (BIAS), (S) * (1.0 / (1 << (BITS))),                                                                      \
			(Q) * (1.0 / (1 << (BITS))) * (1.0 / (1 << (BITS))) * (1 << COLUMN(BITS)), 0                                   \
	}
#define P(C, S, Q) PARABOLA(16, 0.06175, C, S, Q)
static const double rcp_parabola[128][4] = {
	P(67108864, -131068, 1013), P(66588642, -129044, 989), P(66076422, -127066, 966), P(65572021, -125134, 945), P(65075262, -123244, 923),
	P(64585976, -121398, 902), P(64103992, -119594, 883), P(63629146, -117828, 863), P(63161284, -116102, 845), P(62700254, -114414, 827),
	P(62245905, -112762, 809), P(61798091, -111144, 791), P(61356677, -109562, 774), P(60921524, -108014, 758), P(60492499, -106498, 742),
	P(60069474, -105014, 727), P(59652325, -103560, 711), P(59240930, -102136, 696), P(58835170, -100742, 682), P(58434930, -99376, 669),
	P(58040099, -98038, 656), P(57650569, -96726, 642), P(57266231, -95442, 631), P(56886986, -94182, 618), P(56512729, -92946, 605),
	P(56143366, -91736, 594), P(55778798, -90548, 582), P(55418934, -89384, 572), P(55063686, -88242, 561), P(54712961, -87120, 549),
	P(54366677, -86022, 540), P(54024747, -84942, 529), P(53687093, -83884, 519), P(53353633, -82846, 510), P(53024288, -81826, 501),
	P(52698987, -80824, 490), P(52377651, -79842, 482), P(52060212, -78878, 474), P(51746596, -77930, 465), P(51436737, -77000, 457),
	P(51130565, -76086, 449), P(50828017, -75188, 441), P(50529029, -74306, 433), P(50233538, -73440, 426), P(49941482, -72588, 418),
	P(49652803, -71752, 412), P(49367442, -70928, 403), P(49085342, -70120, 397), P(48806449, -69326, 390), P(48530705, -68544, 383),
	P(48258060, -67776, 377), P(47988464, -67022, 371), P(47721861, -66280, 366), P(47458204, -65548, 358), P(47197444, -64830, 353),
	P(46939534, -64124, 348), P(46684429, -63428, 341), P(46432082, -62746, 337), P(46182446, -62072, 331), P(45935480, -61410, 326),
	P(45691143, -60758, 320), P(45449392, -60118, 316), P(45210185, -59486, 310), P(44973481, -58864, 305), P(44739244, -58254, 302),
	P(44507436, -57652, 297), P(44278016, -57058, 291), P(44050948, -56474, 287), P(43826199, -55900, 283), P(43603730, -55334, 279),
	P(43383510, -54776, 274), P(43165503, -54228, 271), P(42949675, -53686, 266), P(42735995, -53154, 263), P(42524430, -52628, 258),
	P(42314950, -52112, 256), P(42107525, -51602, 251), P(41902122, -51100, 248), P(41698714, -50604, 243), P(41497270, -50116, 240),
	P(41297764, -49636, 237), P(41100168, -49162, 233), P(40904453, -48696, 231), P(40710593, -48234, 226), P(40518561, -47780, 223),
	P(40328333, -47334, 222), P(40139883, -46892, 218), P(39953186, -46456, 214), P(39768218, -46028, 212), P(39584955, -45604, 208),
	P(39403371, -45186, 205), P(39223448, -44776, 204), P(39045159, -44368, 199), P(38868484, -43968, 197), P(38693401, -43574, 196),
	P(38519888, -43184, 193), P(38347924, -42798, 189), P(38177489, -42418, 186), P(38008563, -42044, 184), P(37841123, -41674, 182),
	P(37675154, -41310, 180), P(37510633, -40950, 178), P(37347543, -40594, 175), P(37185866, -40244, 173), P(37025582, -39898, 171),
	P(36866673, -39556, 169), P(36709124, -39218, 166), P(36552915, -38886, 165), P(36398030, -38556, 161), P(36244452, -38232, 160),
	P(36092164, -37912, 159), P(35941151, -37594, 155), P(35791396, -37282, 154), P(35642884, -36974, 153), P(35495599, -36668, 150),
	P(35349528, -36368, 149), P(35204652, -36070, 147), P(35060959, -35776, 145), P(34918436, -35486, 143), P(34777064, -35200, 143),
	P(34636835, -34916, 140), P(34497732, -34636, 138), P(34359741, -34360, 137), P(34222849, -34086, 135), P(34087044, -33816, 133),
	P(33952313, -33550, 132), P(33818641, -33286, 131), P(33686019, -33026, 130)};
#undef P
#define P(C, S, Q) PARABOLA(17, 0.249993, C, S, Q)
static const double rsqrt_parabola[128][4] = {
	P(67108862, -131062, 1508), P(66590638, -128048, 1450), P(66084240, -125150, 1396), P(65589220, -122358, 1344),
	P(65105161, -119670, 1296), P(64631662, -117078, 1250), P(64168346, -114578, 1206), P(63714854, -112166, 1164),
	P(63270844, -109838, 1124), P(62835987, -107588, 1086), P(62409973, -105416, 1052), P(61992512, -103314, 1016),
	P(61583315, -101282, 984), P(61182119, -99316, 952), P(60788660, -97412, 922), P(60402697, -95568, 892), P(60023991, -93782, 866),
	P(59652324, -92052, 840), P(59287473, -90372, 814), P(58929238, -88744, 790), P(58577419, -87164, 766), P(58231826, -85630, 744),
	P(57892278, -84142, 724), P(57558602, -82696, 704), P(57230630, -81290, 684), P(56908204, -79924, 664), P(56591164, -78596, 646),
	P(56279365, -77304, 628), P(55972663, -76046, 610), P(55670921, -74824, 596), P(55374005, -73632, 580), P(55081793, -72474, 566),
	P(54794159, -71344, 550), P(54510984, -70244, 536), P(54232151, -69172, 524), P(53957557, -68126, 510), P(53687092, -67106, 496),
	P(53420653, -66112, 484), P(53158143, -65142, 472), P(52899462, -64196, 462), P(52644525, -63272, 450), P(52393235, -62370, 440),
	P(52145512, -61490, 430), P(51901270, -60630, 420), P(51660428, -59790, 410), P(51422907, -58970, 402), P(51188635, -58168, 392),
	P(50957533, -57382, 382), P(50729535, -56616, 374), P(50504568, -55866, 366), P(50282568, -55132, 358), P(50063471, -54416, 352),
	P(49847214, -53714, 344), P(49633734, -53026, 336), P(49422974, -52354, 330), P(49214875, -51696, 324), P(49009385, -51050, 316),
	P(48806448, -50418, 308), P(48606011, -49800, 302), P(48408022, -49194, 296), P(48212433, -48600, 290), P(48019193, -48018, 286),
	P(47828263, -47448, 280), P(47639590, -46888, 274), P(47453130, -92674, 1066), P(47086691, -90544, 1026), P(46728615, -88494, 986),
	P(46378582, -86520, 950), P(46036299, -84620, 918), P(45701485, -82786, 884), P(45373874, -81020, 854), P(45053205, -79314, 824),
	P(44739243, -77668, 796), P(44431752, -76076, 768), P(44130518, -74540, 742), P(43835326, -73054, 718), P(43545982, -71618, 696),
	P(43262291, -70226, 672), P(42984072, -68880, 652), P(42711158, -67578, 632), P(42443372, -66314, 612), P(42180562, -65090, 594),
	P(41922577, -63904, 576), P(41669266, -62752, 558), P(41420490, -61634, 542), P(41176120, -60550, 526), P(40936024, -59498, 512),
	P(40700080, -58474, 496), P(40468168, -57480, 482), P(40240175, -56514, 470), P(40015994, -55576, 458), P(39795521, -54662, 444),
	P(39578648, -53774, 434), P(39365287, -52908, 420), P(39155336, -52066, 410), P(38948712, -51246, 398), P(38745320, -50448, 390),
	P(38545085, -49670, 380), P(38347924, -48912, 370), P(38153755, -48172, 360), P(37962507, -47452, 352), P(37774106, -46748, 342),
	P(37588483, -46062, 334), P(37405571, -45394, 326), P(37225301, -44740, 318), P(37047614, -44102, 310), P(36872446, -43480, 304),
	P(36699742, -42872, 296), P(36529439, -42278, 290), P(36361487, -41698, 284), P(36195832, -41130, 276), P(36032416, -40576, 272),
	P(35871196, -40034, 266), P(35712122, -39504, 260), P(35555147, -38984, 252), P(35400222, -38478, 248), P(35247303, -37982, 244),
	P(35096352, -37496, 238), P(34947319, -37020, 234), P(34800173, -36554, 228), P(34654868, -36098, 224), P(34511369, -35652, 220),
	P(34369640, -35214, 214), P(34229641, -34786, 210), P(34091339, -34366, 206), P(33954698, -33954, 202), P(33819688, -33550, 198),
	P(33686280, -33156, 194)};
#undef P
#define P(C, S, Q) PARABOLA(17, 0.1866, C, S, Q)
static const double ex2_parabola[64][4] = {
	P(33554435, 90852, 494), P(33919818, 91840, 501), P(34289182, 92840, 506), P(34662565, 93852, 511), P(35040018, 94872, 518),
	P(35421577, 95908, 521), P(35807292, 96952, 527), P(36197209, 98008, 532), P(36591372, 99072, 541), P(36989825, 100152, 546),
	P(37392616, 101244, 551), P(37799797, 102344, 559), P(38211409, 103460, 564), P(38627504, 104588, 568), P(39048131, 105724, 577),
	P(39473337, 106876, 583), P(39903173, 108040, 589), P(40337690, 109216, 596), P(40776937, 110408, 600), P(41220970, 111608, 609),
	P(41669836, 112824, 615), P(42123592, 114052, 622), P(42582286, 115296, 627), P(43045977, 116552, 633), P(43514717, 117820, 641),
	P(43988561, 119104, 647), P(44467565, 120400, 655), P(44951786, 121712, 661), P(45441278, 123036, 670), P(45936101, 124376, 677),
	P(46436314, 125728, 686), P(46941971, 127100, 691), P(47453135, 128484, 699), P(47969867, 129884, 705), P(48492225, 131296, 715),
	P(49020269, 132728, 721), P(49554065, 134172, 730), P(50093674, 135632, 739), P(50639159, 137108, 748), P(51190582, 138604, 753),
	P(51748011, 140112, 763), P(52311510, 141636, 773), P(52881146, 143180, 779), P(53456983, 144740, 787), P(54039091, 146316, 796),
	P(54627538, 147908, 806), P(55222393, 149520, 813), P(55823725, 151148, 822), P(56431607, 152792, 833), P(57046106, 154456, 842),
	P(57667297, 156140, 849), P(58295254, 157840, 858), P(58930048, 159556, 870), P(59571754, 161296, 877), P(60220447, 163052, 887),
	P(60876205, 164828, 896), P(61539104, 166620, 909), P(62209220, 168436, 917), P(62886634, 170272, 925), P(63571424, 172124, 938),
	P(64263672, 174000, 946), P(64963458, 175892, 959), P(65670863, 177808, 969), P(66385972, 179744, 980)};
#undef P

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

/* The value at the lower bits of a mantissa, of which there are so many. */
GT_INLINE double on_parabola(const double parabola[4], uint32_t mantissa, unsigned bits)
{
	const uint32_t x = mantissa & ((UINT32_C(1) << bits) - 1);

	return (double)(int32_t)(parabola[0] + parabola[1] * (double)(int32_t)x + parabola[2] * (double)(int32_t)cut_square(x, COLUMN(bits)));
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
	const double y = on_parabola(rcp_parabola[m >> 16], m, 16);
	const float value = copysignf((float)(y * power_of_2(-24 - exponent)), x);

	return x != x ? nan.value : x == 0 ? copysignf(__builtin_inff(), x) : fabsf(x) == __builtin_inff() ? copysignf(0, x) : value;
}

GT_INLINE float near_rsqrt(float x)
{
	union { float value; uint32_t bits; } nan = {.bits = 0x7fffffff};
	uint32_t m;
	const int32_t exponent = parts_of(x, &m), odd = exponent & 1;
	const uint32_t place = (uint32_t)odd << 6 | m >> 17;
	const double y = on_parabola(rsqrt_parabola[place], m, 17);
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
	const double y = on_parabola(ex2_parabola[m >> 17], m, 17);

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

/* Four lanes, cut to an integer: their coefficients lie side by side, and are turned. */
GT_FAST GT_INLINE __m128i on_parabola4(const double (*parabola)[4], const int32_t *place, __m128i x, __m128i square)
{
	const __m256d a = _mm256_loadu_pd(parabola[place[0]]), b = _mm256_loadu_pd(parabola[place[1]]);
	const __m256d c = _mm256_loadu_pd(parabola[place[2]]), d = _mm256_loadu_pd(parabola[place[3]]);
	const __m256d even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b), next = _mm256_unpacklo_pd(c, d);
	const __m256d constant = _mm256_permute2f128_pd(even, next, 0x20), curve = _mm256_permute2f128_pd(even, next, 0x31);
	const __m256d slope = _mm256_permute2f128_pd(odd, _mm256_unpackhi_pd(c, d), 0x20);

	return _mm256_cvttpd_epi32(_mm256_fmadd_pd(curve, _mm256_cvtepi32_pd(square), _mm256_fmadd_pd(slope, _mm256_cvtepi32_pd(x), constant)));
}

GT_FAST GT_INLINE __m256i on_parabola8(const double (*parabola)[4], __m256i place, __m256i mantissa, int bits)
{
	const __m256i x = _mm256_and_si256(mantissa, _mm256_set1_epi32((1 << bits) - 1)), square = cut_square8(x, bits, COLUMN(bits));
	int32_t places[8];

	_mm256_storeu_si256((__m256i *)places, place);
	return _mm256_set_m128i(on_parabola4(parabola, places + 4, _mm256_extracti128_si256(x, 1), _mm256_extracti128_si256(square, 1)),
				on_parabola4(parabola, places, _mm256_castsi256_si128(x), _mm256_castsi256_si128(square)));
}

/* value * 2^exponent */
GT_FAST GT_INLINE __m256 scaled8(__m256i value, __m256i exponent)
{
	const __m256i biased = _mm256_add_epi32(exponent, _mm256_set1_epi32(1023));
	__m128 halves[2];

#define HALF(V, I) _mm256_cvtepi32_pd(_mm256_extracti128_si256(V, I))
#define PART(I)                                                                                                                    \
	halves[I] = _mm256_cvtpd_ps(_mm256_mul_pd(                                                                                 \
		HALF(value, I), _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(biased, I)), 52))))
	PART(0);
	PART(1);
#undef PART
#undef HALF
	return _mm256_set_m128(halves[1], halves[0]);
}

/* The same where it is no subnormal, of 24 bits. */
GT_FAST GT_INLINE __m256 scaled_near8(__m256i value, __m256i exponent)
{
	return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(value)), _mm256_slli_epi32(exponent, 23)));
}

/* Lanes whose exponent is that of subnormals, or one from `top` on. */
GT_FAST GT_INLINE unsigned extreme8(__m256i bits, int top)
{
	const __m256i size = _mm256_and_si256(bits, _mm256_set1_epi32(INT32_MAX));
	const __m256i usual = _mm256_and_si256(_mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7fffff)), _mm256_cmpgt_epi32(_mm256_set1_epi32(top << 23), size));

	return 255U ^ (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(usual));
}

GT_FAST GT_INLINE __m256 rcp8(__m256 from, unsigned *hard)
{
	const __m256i bits = _mm256_castps_si256(from), m = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
	const __m256i exponent = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(255));
	const __m256i y = on_parabola8(rcp_parabola, _mm256_srli_epi32(m, 16), m, 16);
	const __m256 value = scaled_near8(y, _mm256_sub_epi32(_mm256_set1_epi32(127 - 24), exponent)), sign = _mm256_set1_ps(-0.0F);

	*hard = extreme8(bits, 253);
	return _mm256_or_ps(value, _mm256_and_ps(from, sign));
}

GT_FAST GT_INLINE __m256 rsqrt8(__m256 from, unsigned *hard)
{
	const __m256i bits = _mm256_castps_si256(from), m = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)), one = _mm256_set1_epi32(1);
	const __m256i exponent = _mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(127)), odd = _mm256_and_si256(exponent, one);
	const __m256i place = _mm256_or_si256(_mm256_slli_epi32(odd, 6), _mm256_srli_epi32(m, 17));
	const __m256i power = _mm256_cmpeq_epi32(_mm256_or_si256(m, odd), _mm256_setzero_si256());
	__m256i y = on_parabola8(rsqrt_parabola, place, m, 17);

	y = _mm256_blendv_epi8(y, _mm256_set1_epi32(1 << 24), power);
	*hard = extreme8(bits, 255) | (unsigned)_mm256_movemask_ps(from);
	return scaled_near8(y, _mm256_sub_epi32(_mm256_set1_epi32(-24), _mm256_srai_epi32(_mm256_sub_epi32(exponent, odd), 1)));
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
	const __m256i y = on_parabola8(ex2_parabola, _mm256_srli_epi32(m, 17), m, 17);
	const __m256i exponent = _mm256_sub_epi32(_mm256_srai_epi32(fixed, 23), _mm256_set1_epi32(23));

	*hard = 0;
	if (all_near)
		return scaled_near8(y, exponent);
	const __m256 value = scaled8(y, exponent);
	*hard = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(from, from, _CMP_UNORD_Q));
	return _mm256_blendv_ps(value, _mm256_mul_ps(value, value), below);
}

/* Where both forms are the product with the reciprocal. */
GT_FAST GT_INLINE __m256 quotient8(__m256 x, __m256 y, unsigned *hard)
{
	unsigned extreme;
	const __m256 quotient = _mm256_mul_ps(x, rcp8(y, &extreme));

	*hard = extreme | (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(quotient, quotient, _CMP_UNORD_Q));
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
