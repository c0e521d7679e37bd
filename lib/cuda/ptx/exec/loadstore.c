/* SPDX-License-Identifier: MIT */
/* Loads and stores. Most are of a row: all lanes of a warp at a stride, in the allocation of the last access or in shared memory.
 * Its two ends are checked, and it is moved, as a whole. */
#include <string.h>

#include "cuda/ptx/exec/access.h"

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
						   unsigned at)                                              \
	{                                                                                                    \
		const struct gt_ptx_places places = places_of(reach, at);                                    \
		if (places.host)                                                                             \
			gt_ptx_gather##N##VARIANT(&places, mask, lanes);                                     \
		else                                                                                         \
			for (uint32_t m = mask; m; m &= m - 1)                                               \
				memcpy(&lanes[gt_ptx_lowest(m)], reach->where[gt_ptx_lowest(m)] + at, N / 8); \
	}                                                                                                    \
	TARGET GT_INLINE void store_lanes##N##VARIANT(const struct gt_ptx_reach *reach, uint32_t mask, const uint##N##_t *lanes, \
						    unsigned at)                                             \
	{                                                                                                    \
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
		if (gt_ptx_reach##VARIANT(warp, op, mask, &reach, bytes) != 0 ||                             \
		    gt_ptx_note##VARIANT(warp, op, mask, &reach, bytes) != 0)                                \
			return NULL;                                                                         \
		for (unsigned k = 0; k < access->n; k++)                                                     \
			if (access->slots[k])                                                                \
				WHAT##_lanes##N##VARIANT(&reach, mask, gt_ptx_lanes(warp, access->slots[k]), k *(N / 8)); \
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
