/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/numbers.h"
#include "stream/op.h"

/* ---- loads and stores ---- */

/* Loads and stores. Most are of a row: all lanes of a warp at a stride, in the allocation of the last access or in shared memory.
 * Its two ends are checked, and it is moved, as a whole. */

struct row {
	uint64_t first; /* the address of lane 0 */
	int64_t stride;
	unsigned char *host; /* of lane 0 */
};

/* The memory that an access may fall into without being looked up: [low, high), and the host's place of `low`. */
GT_INLINE unsigned char *window_of(const struct gt_ptx_core *core, const struct gt_ptx_access *access, uint64_t *low, uint64_t *high)
{
	if (access->in_frame)
		return NULL;
	if (access->space == GT_PTX_SHARED) {
		*low = 0;
		*high = core->shared_bytes;
		return core->shared;
	}
	*low = access->low;
	*high = access->high;
	return access->host;
}

/* Sets the place of a row of that address of lane 0, if both its ends are in the window. */
GT_INLINE bool place_row(const struct gt_ptx_core *core, const struct gt_ptx_access *access, unsigned bytes, struct row *row)
{
	uint64_t low, high, last = row->first + (uint64_t)row->stride * (GT_WARP_SIZE - 1);
	unsigned char *window = window_of(core, access, &low, &high);

	if (!window || high < low || row->stride > INT64_C(1) << 56 || row->stride < -(INT64_C(1) << 56) ||
	    ((row->first | (uint64_t)row->stride) & (bytes - 1)) != 0)
		return false;
	/* The differences are large below `low`. */
	if (row->first - low >= high - low || last - low >= high - low ||
	    high - (row->first > last ? row->first : last) < bytes)
		return false;
	row->host = window + (row->first - low);
	return true;
}

/* Finds the row of a whole warp, if it is one. The sum of a 32-bit address and the offset has 32 bits; a row does not wrap. */
#define FIND_ROW(TARGET, VARIANT, ...)                                                                       \
	TARGET GT_INLINE bool find_row##VARIANT(const struct gt_ptx_warp *warp, const struct gt_ptx_access *access, \
					      unsigned bytes, struct row *row)                               \
	{                                                                                                    \
		if (access->narrow) {                                                                        \
			const uint32_t *lanes = gt_ptx_lanes(warp, access->address);                         \
			row->first = lanes[0] + (uint32_t)access->offset;                                    \
			row->stride = (int32_t)(lanes[1] - lanes[0]);                                        \
			return place_row(warp->core, access, bytes, row) &&                                  \
			       gt_ptx_is_row32##VARIANT(lanes, lanes[1] - lanes[0]);                         \
		}                                                                                            \
		const uint64_t *lanes = gt_ptx_lanes(warp, access->address);                                 \
		row->first = lanes[0] + (uint64_t)access->offset;                                            \
		row->stride = (int64_t)(lanes[1] - lanes[0]);                                                \
		return place_row(warp->core, access, bytes, row) &&                                          \
		       gt_ptx_is_row64##VARIANT(lanes, lanes[1] - lanes[0]);                                 \
	}
GT_VARIANTS(FIND_ROW, )

/* Records it, if its space is traced. */
GT_INLINE int note_row(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct row *row, unsigned bytes)
{
	return warp->core->traced ? gt_ptx_trace_row(warp, op, row->first, row->stride, bytes) : 0;
}

/* Where the lanes of an access that is in one window of memory have their element `at` bytes in. */
GT_INLINE struct gt_ptx_places places_of(const struct gt_ptx_reach *reach, unsigned at)
{
	return (struct gt_ptx_places){reach->host, reach->lanes, reach->offset - reach->low + at, reach->apart};
}

/* Moves one element of every lane of a row. */
#define MOVES(N)                                                                                             \
	GT_INLINE void load_row##N(const struct row *row, uint##N##_t *lanes, unsigned at)                   \
	{                                                                                                    \
		const unsigned char *from = row->host + at;                                                  \
		if (row->stride == N / 8) {                                                                  \
			memcpy(lanes, from, GT_WARP_SIZE * (N / 8));                                         \
			return;                                                                              \
		}                                                                                            \
		uint##N##_t value;                                                                           \
		memcpy(&value, from, N / 8);                                                                 \
		if (row->stride == 0)                                                                        \
			for (int i = 0; i < GT_WARP_SIZE; i++)                                               \
				lanes[i] = value;                                                            \
		else                                                                                         \
			for (int i = 0; i < GT_WARP_SIZE; i++, from += row->stride)                          \
				memcpy(&lanes[i], from, N / 8);                                              \
	}                                                                                                    \
	GT_INLINE void store_row##N(const struct row *row, const uint##N##_t *lanes, unsigned at)            \
	{                                                                                                    \
		unsigned char *to = row->host + at;                                                          \
		if (row->stride == N / 8)                                                                    \
			memcpy(to, lanes, GT_WARP_SIZE * (N / 8));                                           \
		else                                                                                         \
			for (int i = 0; i < GT_WARP_SIZE; i++, to += row->stride)                            \
				memcpy(to, &lanes[i], N / 8);                                                \
	}

/* The same of the lanes in `mask`. */
#define MOVES_OF_LANES(TARGET, VARIANT, N)                                                                   \
	TARGET GT_INLINE void load_lanes##N##VARIANT(const struct gt_ptx_reach *reach, uint32_t mask, uint##N##_t *lanes, \
						   unsigned at, int64_t stride)                              \
	{                                                                                                    \
		const struct gt_ptx_places places = places_of(reach, at);                                    \
		uint##N##_t value;                                                                           \
		if (places.host && stride == 0 && !places.apart) {                                           \
			memcpy(&value, gt_ptx_place_in(&places, gt_ptx_lowest(mask)), N / 8);                \
			for (int i = 0; i < GT_WARP_SIZE; i++)                                               \
				lanes[i] = mask >> i & 1 ? value : lanes[i];                                 \
		} else if (places.host)                                                                      \
			gt_ptx_gather##N##VARIANT(&places, mask, lanes);                                     \
		else                                                                                         \
			for (uint32_t m = mask; m; m &= m - 1)                                               \
				memcpy(&lanes[gt_ptx_lowest(m)], reach->where[gt_ptx_lowest(m)] + at, N / 8); \
	}                                                                                                    \
	TARGET GT_INLINE void store_lanes##N##VARIANT(const struct gt_ptx_reach *reach, uint32_t mask, const uint##N##_t *lanes, \
						    unsigned at, int64_t stride)                             \
	{                                                                                                    \
		(void)stride;                                                                                \
		const struct gt_ptx_places places = places_of(reach, at);                                    \
		if (places.host)                                                                             \
			gt_ptx_scatter##N##VARIANT(&places, mask, lanes);                                    \
		else                                                                                         \
			for (uint32_t m = mask; m; m &= m - 1)                                               \
				memcpy(reach->where[gt_ptx_lowest(m)] + at, &lanes[gt_ptx_lowest(m)], N / 8); \
	}

/* A row, or else any lanes: these apart, so that a row saves no registers. */
#define STEP(TARGET, VARIANT, WHAT, N)                                                                       \
	TARGET __attribute__((noinline)) GT_STEP_HEAD(any_##WHAT##N##VARIANT)                                \
	{                                                                                                    \
		const struct gt_ptx_access *access = op->with.access;                                        \
		struct gt_ptx_reach reach;                                                                   \
		unsigned bytes = N / 8 * (unsigned)access->n;                                                \
		int64_t stride;                                                                              \
		if (gt_ptx_reach_row##VARIANT(warp, op, mask, &reach, bytes, &stride) != 0 ||                \
		    (warp->core->traced && gt_ptx_trace_reach(warp, op, mask, &reach, stride, bytes) != 0))  \
			return NULL;                                                                         \
		for (unsigned k = 0; k < access->n; k++)                                                     \
			if (access->slots[k])                                                                \
				WHAT##_lanes##N##VARIANT(&reach, mask, gt_ptx_lanes(warp, access->slots[k]), k *(N / 8), stride); \
		return op + 1;                                                                               \
	}                                                                                                    \
	TARGET __attribute__((noinline)) GT_STEP_HEAD(WHAT##N##VARIANT)                                      \
	{                                                                                                    \
		const struct gt_ptx_access *access = op->with.access;                                        \
		unsigned bytes = N / 8 * (unsigned)access->n;                                                \
		struct row row;                                                                              \
		if (mask != GT_PTX_FULL || !find_row##VARIANT(warp, access, bytes, &row))                    \
			return any_##WHAT##N##VARIANT(warp, op, mask);                                       \
		if (note_row(warp, op, &row, bytes) != 0)                                                    \
			return NULL;                                                                         \
		for (unsigned k = 0; k < access->n; k++)                                                     \
			if (access->slots[k])                                                                \
				WHAT##_row##N(&row, gt_ptx_lanes(warp, access->slots[k]), k *(N / 8));       \
		return op + 1;                                                                               \
	}
#define STEPS(N) MOVES(N) GT_VARIANTS(MOVES_OF_LANES, N) GT_VARIANTS(STEP, load, N) GT_VARIANTS(STEP, store, N)
STEPS(8)
STEPS(16)
STEPS(32)
STEPS(64)

/* The commonest accesses by steps of their own: of one element a lane, the lanes side by side or all at one place. In global
 * memory they have addresses of 64 bits, in shared memory of 32. */
GT_INLINE unsigned char *find_near(const struct gt_ptx_core *core, const struct gt_ptx_access *access, bool shared, uint64_t first,
				   unsigned bytes, bool next)
{
	const uint64_t low = shared ? 0 : access->low, high = shared ? core->shared_bytes : access->high;
	const uint64_t at = first - low, room = high - low, ends = next ? GT_WARP_SIZE * bytes : bytes;

	if (high < low || at >= room || room - at < ends || (first & (bytes - 1)) != 0)
		return NULL;
	return (shared ? core->shared : access->host) + at;
}

/* Behind the access, and the last call, so that a step saves no registers. */
static const struct gt_ptx_op *trace_near(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride,
					  unsigned bytes) __attribute__((noinline));
static const struct gt_ptx_op *trace_near(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t first, int64_t stride,
					  unsigned bytes)
{
	return gt_ptx_trace_row(warp, op, first, stride, bytes) == 0 ? op + 1 : NULL;
}

#define NEAR(TARGET, VARIANT, SHARED, A, N)                                                                  \
	TARGET GT_STEP_HEAD(load##N##_at##A##VARIANT)                                                        \
	{                                                                                                    \
		const struct gt_ptx_access *access = op->with.access;                                        \
		const uint##A##_t *from = gt_ptx_lanes(warp, access->address);                               \
		const uint##A##_t first = from[0] + (uint##A##_t)access->offset;                             \
		const bool next = from[1] != from[0];                                                        \
		const unsigned char *host = find_near(warp->core, access, SHARED, first, N / 8, next);       \
		if (mask != GT_PTX_FULL || !host || !gt_ptx_is_next##A##VARIANT(from, N / 8, next))          \
			return load##N##VARIANT(warp, op, mask);                                             \
		uint##N##_t *to = gt_ptx_lanes(warp, access->slots[0]), value;                               \
		if (next) {                                                                                  \
			memcpy(to, host, GT_WARP_SIZE * (N / 8));                                            \
		} else {                                                                                     \
			memcpy(&value, host, N / 8);                                                         \
			for (int i = 0; i < GT_WARP_SIZE; i++)                                               \
				to[i] = value;                                                               \
		}                                                                                            \
		return warp->core->traced ? trace_near(warp, op, first, next ? N / 8 : 0, N / 8) : op + 1;   \
	}                                                                                                    \
	TARGET GT_STEP_HEAD(store##N##_at##A##VARIANT)                                                       \
	{                                                                                                    \
		const struct gt_ptx_access *access = op->with.access;                                        \
		const uint##A##_t *from = gt_ptx_lanes(warp, access->address);                               \
		const uint##A##_t first = from[0] + (uint##A##_t)access->offset;                             \
		unsigned char *host = find_near(warp->core, access, SHARED, first, N / 8, true);             \
		if (mask != GT_PTX_FULL || !host || !gt_ptx_is_next##A##VARIANT(from, N / 8, true))          \
			return store##N##VARIANT(warp, op, mask);                                            \
		memcpy(host, gt_ptx_lanes(warp, access->slots[0]), GT_WARP_SIZE * (N / 8));                  \
		return warp->core->traced ? trace_near(warp, op, first, N / 8, N / 8) : op + 1;              \
	}
#define NEARS(N) GT_VARIANTS(NEAR, false, 64, N) GT_VARIANTS(NEAR, true, 32, N)
NEARS(8)
NEARS(16)
NEARS(32)
NEARS(64)

enum { ANY, GLOBAL, SHARED, KINDS };

static unsigned kind_of(const struct gt_ptx_access *access)
{
	/* A load may write the register of its own cache policy. */
	if (access->n != 1 || !access->slots[0] || access->in_frame || access->policy)
		return ANY;
	if (access->narrow)
		return access->space == GT_PTX_SHARED ? SHARED : ANY;
	return access->space == GT_PTX_GLOBAL || access->space == GT_PTX_GENERIC || access->space == GT_PTX_CONST ? GLOBAL : ANY;
}

#define KINDS_OF(ID) {GT_STEPS(ID), GT_STEPS(ID##_at64), GT_STEPS(ID##_at32)}
#define OF_SIZES(ID) {KINDS_OF(ID##8), KINDS_OF(ID##16), KINDS_OF(ID##32), KINDS_OF(ID##64)}

gt_ptx_step *gt_ptx_load_step(const struct gt_ptx_access *access)
{
	static gt_ptx_step *const steps[][KINDS][GT_PTX_VARIANTS] = OF_SIZES(load);

	return steps[gt_ptx_lowest(access->size)][kind_of(access)][gt_ptx_simd_variant()];
}

gt_ptx_step *gt_ptx_store_step(const struct gt_ptx_access *access)
{
	static gt_ptx_step *const steps[][KINDS][GT_PTX_VARIANTS] = OF_SIZES(store);

	return steps[gt_ptx_lowest(access->size)][kind_of(access)][gt_ptx_simd_variant()];
}

bool gt_ptx_is_moved(const struct gt_ptx_op *op, bool *loads)
{
	const struct gt_ptx_access *access = op->with.access;

	if (!op->accesses || access->size == 0 || access->size > 8 || (access->size & (access->size - 1)) != 0)
		return false;
	*loads = op->run == gt_ptx_load_step(access);
	return *loads || op->run == gt_ptx_store_step(access);
}

/* ---- atomics ---- */

/* Atomics, one lane after the other from the lowest, and what else needs the memory of lanes. */

#define CHANGE(ID, T, EXPRESSION)                                                                            \
	static uint64_t ID(uint64_t old, uint64_t b, uint64_t c)                                             \
	{                                                                                                    \
		const T x = (T)old, y = (T)b, z = (T)c;                                                      \
		(void)x, (void)y, (void)z;                                                                   \
		return (uint64_t)(EXPRESSION);                                                               \
	}
#define INTEGERS(BITS)                                                                                       \
	CHANGE(add_##BITS, uint##BITS##_t, (uint##BITS##_t)(x + y))                                          \
	CHANGE(and_##BITS, uint##BITS##_t, x &y)                                                             \
	CHANGE(or_##BITS, uint##BITS##_t, x | y)                                                             \
	CHANGE(xor_##BITS, uint##BITS##_t, x ^ y)                                                            \
	CHANGE(exch_##BITS, uint##BITS##_t, y)                                                               \
	CHANGE(cas_##BITS, uint##BITS##_t, x == y ? z : x)                                                   \
	CHANGE(inc_##BITS, uint##BITS##_t, x >= y ? 0 : x + 1)                                               \
	CHANGE(dec_##BITS, uint##BITS##_t, x == 0 || x > y ? y : x - 1)                                      \
	CHANGE(min_u##BITS, uint##BITS##_t, x < y ? x : y)                                                   \
	CHANGE(max_u##BITS, uint##BITS##_t, x > y ? x : y)                                                   \
	CHANGE(min_s##BITS, int##BITS##_t, x < y ? x : y)                                                    \
	CHANGE(max_s##BITS, int##BITS##_t, x > y ? x : y)
INTEGERS(32)
INTEGERS(64)
CHANGE(exch_16, uint16_t, y)
CHANGE(cas_16, uint16_t, x == y ? z : x)

static float flushed(float x)
{
	return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c)
{
	const float sum = gt_ptx_from_bits((uint32_t)old) + gt_ptx_from_bits((uint32_t)b);

	(void)c;
	return sum == sum ? gt_ptx_to_bits(sum) : 0x7fffffff;
}

/* In global memory subnormal values and sums count as zeros, in shared memory they do not (PTX, atom and cp.reduce.async.bulk). */
static uint64_t add_f32_global(uint64_t old, uint64_t b, uint64_t c)
{
	const float sum = flushed(gt_ptx_from_bits((uint32_t)old)) + flushed(gt_ptx_from_bits((uint32_t)b));

	(void)c;
	return sum == sum ? gt_ptx_to_bits(flushed(sum)) : 0x7fffffff;
}

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c)
{
	double x, y;

	(void)c;
	memcpy(&x, &old, sizeof x);
	memcpy(&y, &b, sizeof y);
	x += y;
	memcpy(&old, &x, sizeof old);
	return old;
}

static uint64_t add_f16(uint64_t old, uint64_t b, uint64_t c)
{
	(void)c;
	return gt_ptx_to_half((double)gt_ptx_from_half((uint16_t)old) + (double)gt_ptx_from_half((uint16_t)b),
			      GT_PTX_RN);
}

static uint64_t add_bf16(uint64_t old, uint64_t b, uint64_t c)
{
	(void)c;
	return gt_ptx_to_bfloat(gt_ptx_odd_sum((double)gt_ptx_from_bfloat((uint16_t)old),
					       (double)gt_ptx_from_bfloat((uint16_t)b)),
				GT_PTX_RN);
}

static uint64_t add_f16x2(uint64_t old, uint64_t b, uint64_t c)
{
	return add_f16(old & 0xffff, b & 0xffff, c) | add_f16(old >> 16 & 0xffff, b >> 16 & 0xffff, c) << 16;
}

static uint64_t add_bf16x2(uint64_t old, uint64_t b, uint64_t c)
{
	return add_bf16(old & 0xffff, b & 0xffff, c) | add_bf16(old >> 16 & 0xffff, b >> 16 & 0xffff, c)
							       << 16;
}

/* The lesser or greater of two floats of 16 bits, whose infinity is given: -0 is less than 0, and a NaN gives way to a number. */
static uint64_t chosen_half(uint64_t x, uint64_t y, uint64_t infinite, bool greater)
{
	const uint64_t x_place = x & 0x8000 ? ~x & 0xffff : x | 0x8000, y_place = y & 0x8000 ? ~y & 0xffff : y | 0x8000;

	if ((x & 0x7fff) > infinite)
		return (y & 0x7fff) > infinite ? 0x7fff : y;
	return (y & 0x7fff) > infinite || (x_place < y_place) != greater ? x : y;
}

#define HALVES(ID, INFINITE, GREATER)                                                                        \
	static uint64_t ID(uint64_t old, uint64_t b, uint64_t c)                                             \
	{                                                                                                    \
		(void)c;                                                                                     \
		return chosen_half(old & 0xffff, b & 0xffff, INFINITE, GREATER);                             \
	}                                                                                                    \
	static uint64_t ID##x2(uint64_t old, uint64_t b, uint64_t c)                                         \
	{                                                                                                    \
		return ID(old, b, c) | ID(old >> 16, b >> 16, c) << 16;                                      \
	}
HALVES(min_f16, 0x7c00, false)
HALVES(max_f16, 0x7c00, true)
HALVES(min_bf16, 0x7f80, false)
HALVES(max_bf16, 0x7f80, true)

static const struct {
	const char *operation;
	enum gt_ptx_type type;
	uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c);
} changes[] = {
	{"add", GT_PTX_U32, add_32},	    {"add", GT_PTX_S32, add_32},      {"add", GT_PTX_U64, add_64},
	{"add", GT_PTX_S64, add_64},	    {"add", GT_PTX_F32, add_f32},     {"add", GT_PTX_F64, add_f64},
	{"add", GT_PTX_F16, add_f16},	    {"add", GT_PTX_F16X2, add_f16x2}, {"add", GT_PTX_BF16, add_bf16},
	{"add", GT_PTX_BF16X2, add_bf16x2}, {"inc", GT_PTX_U32, inc_32},      {"dec", GT_PTX_U32, dec_32},
	{"inc", GT_PTX_U64, inc_64},	    {"dec", GT_PTX_U64, dec_64},      {"min", GT_PTX_U32, min_u32},
	{"min", GT_PTX_S32, min_s32},	    {"min", GT_PTX_U64, min_u64},     {"min", GT_PTX_S64, min_s64},
	{"max", GT_PTX_U32, max_u32},	    {"max", GT_PTX_S32, max_s32},     {"max", GT_PTX_U64, max_u64},
	{"max", GT_PTX_S64, max_s64},	    {"and", GT_PTX_B32, and_32},      {"or", GT_PTX_B32, or_32},
	{"xor", GT_PTX_B32, xor_32},	    {"and", GT_PTX_B64, and_64},      {"or", GT_PTX_B64, or_64},
	{"xor", GT_PTX_B64, xor_64},	    {"exch", GT_PTX_B32, exch_32},    {"exch", GT_PTX_B64, exch_64},
	{"exch", GT_PTX_B16, exch_16},	    {"cas", GT_PTX_B32, cas_32},      {"cas", GT_PTX_B64, cas_64},
	{"cas", GT_PTX_B16, cas_16},	    {"min", GT_PTX_F16, min_f16},     {"min", GT_PTX_F16X2, min_f16x2},
	{"max", GT_PTX_F16, max_f16},	    {"max", GT_PTX_F16X2, max_f16x2}, {"min", GT_PTX_BF16, min_bf16},
	{"max", GT_PTX_BF16, max_bf16},	    {"min", GT_PTX_BF16X2, min_bf16x2}, {"max", GT_PTX_BF16X2, max_bf16x2},
};

uint64_t (*gt_ptx_change(const struct gt_ptx_instruction *instruction,
			 enum gt_ptx_type type))(uint64_t, uint64_t, uint64_t)
{
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
		if (type == changes[i].type && gt_ptx_has(instruction, changes[i].operation))
			return changes[i].change == add_f32 && gt_ptx_has(instruction, "bulk") && !gt_ptx_has(instruction, "tensor")
				       ? add_f32_global
				       : changes[i].change;
	return NULL;
}

/* Lane by lane; inlined for each size, and for what is usual. What several lanes in a row change stays in a register. */
static inline __attribute__((always_inline)) void
change_lanes(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, unsigned char *const *places,
	     uint64_t (*change)(uint64_t, uint64_t, uint64_t), const unsigned size)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned char *b_lanes = gt_ptx_lanes(warp, access->slots[0]);
	const unsigned char *c_lanes = gt_ptx_lanes(warp, access->slots[1]);
	unsigned char *d_lanes = op->d ? gt_ptx_lanes(warp, op->d) : NULL;

	for (uint32_t m = mask; m;) {
		unsigned char *const place = places[gt_ptx_lowest(m)];
		uint64_t now = 0;
		memcpy(&now, place, size);
		do {
			const unsigned lane = gt_ptx_lowest(m);
			uint64_t b = 0, c = 0;
			memcpy(&b, b_lanes + lane * size, size);
			memcpy(&c, c_lanes + lane * size, size);
			if (d_lanes)
				memcpy(d_lanes + lane * size, &now, size);
			now = change(now, b, c);
			m &= m - 1;
		} while (m && places[gt_ptx_lowest(m)] == place);
		memcpy(place, &now, size);
	}
}

/* A sum that is zero, subnormal or NaN. Not inlined, so that what is usual is a branch, and no sum waits for the tests of the one before. */
static __attribute__((noinline)) float small_sum(float sum, bool flushes)
{
	return sum != sum ? gt_ptx_from_bits(0x7fffffff) : flushes ? copysignf(0, sum) : sum;
}

/* The same for sums of floats. */
static void add_lanes(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, unsigned char *const *places, bool flushes)
{
	const float *b_lanes = gt_ptx_lanes(warp, op->with.access->slots[0]);
	float *d_lanes = op->d ? gt_ptx_lanes(warp, op->d) : NULL;

	for (uint32_t m = mask; m;) {
		unsigned char *const place = places[gt_ptx_lowest(m)];
		float old, sum;
		memcpy(&old, place, sizeof old);
		sum = flushes ? flushed(old) : old;
		do {
			const unsigned lane = gt_ptx_lowest(m);
			const float b = flushes ? flushed(b_lanes[lane]) : b_lanes[lane];
			if (d_lanes)
				d_lanes[lane] = old;
			sum += b;
			if (!(fabsf(sum) >= FLT_MIN))
				sum = small_sum(sum, flushes);
			old = sum;
			m &= m - 1;
		} while (m && places[gt_ptx_lowest(m)] == place);
		memcpy(place, &sum, sizeof sum);
	}
}

/* What has been reached and noted. */
static const struct gt_ptx_op *change_reached(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, const struct gt_ptx_reach *reach)
{
	const struct gt_ptx_access *access = op->with.access;
	unsigned char *places[GT_WARP_SIZE];
	unsigned size = access->size;

	uint64_t (*const change)(uint64_t, uint64_t, uint64_t) = access->change;
	/* Hash tables are larger than the host's caches: its misses overlap. */
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		places[lane] = gt_ptx_place_of(reach, lane);
		__builtin_prefetch(places[lane], 1);
	}
	if (change == add_32)
		change_lanes(warp, op, mask, places, add_32, 4);
	else if (change == cas_32)
		change_lanes(warp, op, mask, places, cas_32, 4);
	else if (change == add_f32) {
		const uint32_t global = gt_ptx_lanes_in(reach, mask, GT_PTX_GLOBAL);
		add_lanes(warp, op, global, places, true);
		add_lanes(warp, op, mask & ~global, places, false);
	} else if (size == 4)
		change_lanes(warp, op, mask, places, change, 4);
	else if (size == 8)
		change_lanes(warp, op, mask, places, change, 8);
	else
		change_lanes(warp, op, mask, places, change, 2);
	return op + 1;
}

#define ATOMIC(TARGET, VARIANT, ...)                                                                           \
	TARGET GT_STEP_HEAD(step_atomic##VARIANT)                                                            \
	{                                                                                                    \
		const unsigned size = op->with.access->size;                                                 \
		struct gt_ptx_reach reach;                                                                   \
		if (gt_ptx_reach##VARIANT(warp, op, mask, &reach, size) != 0 || gt_ptx_note##VARIANT(warp, op, mask, &reach, size) != 0) \
			return NULL;                                                                         \
		return change_reached(warp, op, mask, &reach);                                               \
	}
GT_VARIANTS(ATOMIC, )

/* Each element of a vector is an atomic by itself. All are read first: a result may take the place of one. */
static const struct gt_ptx_op *vector_atomic(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	const unsigned size = access->size, bytes = size * access->n;
	struct gt_ptx_reach reach;

	if (gt_ptx_reach(warp, op, mask, &reach, bytes) != 0 || gt_ptx_note(warp, op, mask, &reach, bytes) != 0)
		return NULL;
	uint64_t (*change)(uint64_t, uint64_t, uint64_t) = access->change == add_f32 ? add_f32_global : access->change;
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		unsigned char *place = gt_ptx_place_of(&reach, lane);
		uint64_t old[8] = {0}, b[8] = {0};
		for (unsigned k = 0; k < access->n; k++) {
			memcpy(&old[k], place + k * size, size);
			memcpy(&b[k], (const unsigned char *)gt_ptx_lanes(warp, access->slots[k]) + lane * size, size);
		}
		for (unsigned k = 0; k < access->n; k++) {
			const uint64_t new = change(old[k], b[k], 0);
			memcpy(place + k * size, &new, size);
			if (access->results[k])
				memcpy((unsigned char *)gt_ptx_lanes(warp, access->results[k]) + lane * size, &old[k], size);
		}
	}
	return op + 1;
}

/* exch, or cas where op->choice says so, of registers of 128 bits, whose halves have slots of their own. */
static const struct gt_ptx_op *wide_atomic(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_access *access = op->with.access;
	struct gt_ptx_reach reach;
	uint64_t *lanes[4], old[2];

	if (gt_ptx_reach(warp, op, mask, &reach, sizeof old) != 0 || gt_ptx_note(warp, op, mask, &reach, sizeof old) != 0)
		return NULL;
	for (unsigned i = 0; i < 4; i++)
		lanes[i] = gt_ptx_lanes(warp, access->slots[i]);
	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		unsigned char *place = gt_ptx_place_of(&reach, lane);
		const uint64_t *const *from = (const uint64_t *const *)&lanes[op->choice ? 2 : 0];
		const uint64_t new[2] = {from[0][lane], from[1][lane]};
		memcpy(old, place, sizeof old);
		if (!op->choice || (old[0] == lanes[0][lane] && old[1] == lanes[1][lane]))
			memcpy(place, new, sizeof new);
		for (unsigned half = 0; half < 2 && op->d; half++)
			((uint64_t *)gt_ptx_lanes(warp, access->results[half]))[lane] = old[half];
	}
	return op + 1;
}

static bool is_constant(const struct gt_ptx_machine *machine, uint64_t address)
{
	for (size_t i = 0; i < machine->module->n_variables; i++)
		if (machine->variables[i].address && machine->module->variables[i].space == GT_PTX_CONST &&
		    address - machine->variables[i].address < machine->module->variables[i].bytes)
			return true;
	return false;
}

static const struct gt_ptx_op *is_space(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const uint64_t *lanes = gt_ptx_lanes(warp, op->a);
	const struct gt_ptx_machine *machine = warp->core->machine;
	uint32_t inside = 0;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t base = op->with.immediate ? op->with.immediate : GT_PTX_GLOBAL_BASE;
		/* Of a cluster's window the first part is the block's own. */
		bool is = lanes[lane] - base < (op->b ? GT_PTX_CLUSTER_STEP : GT_PTX_WINDOW);
		/* Constants lie among global memory. */
		if (!op->with.immediate)
			is = is && is_constant(machine, lanes[lane]) == op->choice;
		inside |= (uint32_t)is << lane;
	}
	gt_ptx_set_predicate(warp, op->d, mask, inside);
	return op + 1;
}

const struct gt_ptx_atomic_steps gt_ptx_atomic_steps = {
	.one = GT_STEPS(step_atomic),
	.vector = vector_atomic,
	.wide = wide_atomic,
	.is_space = is_space,
};
