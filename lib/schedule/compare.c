/* SPDX-License-Identifier: MIT */
#include "schedule/compare.h"

#include <stdbool.h>
#include <string.h>

#include "base/wide.h"

/* Each loop compares n rows, not n - 1, with the ones behind them: whole vectors. Behind the last row is room. */

#define COMPARE(TYPE, NAME)                                                                                    \
	static inline void compare_##NAME(const TYPE *column, size_t n, uint8_t *restrict differs)              \
	{                                                                                                       \
		for (size_t i = 0; i < n; i++)                                                                  \
			differs[i + 1] |= column[i + 1] != column[i];                                           \
	}
COMPARE(uint8_t, bytes)
COMPARE(uint16_t, hints)
COMPARE(uint32_t, words)
COMPARE(int64_t, strides)

GT_WIDE static void compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t *differs)
{
	memset(differs, 0, n + 1);
	compare_words(rows->pc + first, n, differs);
	compare_bytes(rows->op + first, n, differs);
	if (rows->has_hints)
		compare_hints(rows->hint + first, n, differs);
	if (rows->has_work)
		compare_words(rows->work + first, n, differs);
	if (rows->kind == GT_REQUESTS) {
		compare_bytes(rows->sectors + first, n, differs);
		compare_bytes(rows->full + first, n, differs);
		compare_bytes(rows->threads + first, n, differs);
	} else {
		compare_strides(rows->stride + first, n, differs);
		compare_words(rows->mask + first, n, differs);
		compare_bytes(rows->size + first, n, differs);
	}
}

void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROOM])
{
	compare(rows, first, n, differs);
}

/* Whether a difference of bases fits into a span. */
static inline bool is_near(uint64_t difference)
{
	return difference + (UINT64_C(1) << 31) <= UINT32_MAX;
}

GT_WIDE static void follow(const uint64_t *base, const uint32_t *an, const uint16_t *warp, size_t n, const uint8_t *differs,
			   uint8_t *restrict follows)
{
	uint8_t *restrict next = follows + 1, *restrict after = follows + 2;

	for (size_t i = 0; i < n; i++)
		next[i] = an[i + 1] == an[i];
	for (size_t i = 0; i < n; i++)
		next[i] &= warp[i + 1] == warp[i] || warp[i + 1] == warp[i] + 1;
	for (size_t i = 0; i < n; i++)
		next[i] &= is_near(base[i + 1] - base[i]);
	for (size_t i = 0; i < n; i++)
		next[i] = differs[i + 1] ? 0 : next[i];
	for (size_t i = 0; i < n; i++)
		after[i] |= (uint8_t)((base[i + 2] - base[i + 1] == base[i + 1] - base[i]) * GT_EVENLY);
	for (size_t i = 0; i < n; i++)
		after[i] &= (uint16_t)(warp[i + 2] - warp[i + 1]) == (uint16_t)(warp[i + 1] - warp[i]) ? 3 : GT_FOLLOWS;
	follows[0] = 0;
}

void gt_rows_follow(const struct gt_rows *rows, size_t first, size_t n, const uint8_t differs[GT_COMPARED_ROOM],
		    uint8_t follows[GT_COMPARED_ROOM])
{
	follow((rows->kind == GT_REQUESTS ? rows->address : rows->base) + first, rows->an + first, rows->warp + first, n, differs,
	       follows);
}
