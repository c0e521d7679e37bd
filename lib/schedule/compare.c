/* SPDX-License-Identifier: MIT */
#include "schedule/compare.h"

#include <string.h>

#include "base/wide.h"

#define COMPARE(TYPE, NAME)                                                                                    \
	static inline void compare_##NAME(const TYPE *column, size_t n, uint8_t *restrict differs)              \
	{                                                                                                       \
		for (size_t i = 1; i < n; i++)                                                                  \
			differs[i] |= column[i] != column[i - 1];                                               \
	}
COMPARE(uint8_t, bytes)
COMPARE(uint16_t, hints)
COMPARE(uint32_t, words)
COMPARE(int64_t, strides)

GT_WIDE static void compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t *differs)
{
	memset(differs, 0, n);
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

void gt_rows_compare(const struct gt_rows *rows, size_t first, size_t n, uint8_t differs[GT_COMPARED_ROWS])
{
	compare(rows, first, n, differs);
}
