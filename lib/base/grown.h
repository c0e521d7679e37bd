/* SPDX-License-Identifier: MIT */
/* Arrays that grow an element at a time. */
#ifndef GT_BASE_GROWN_H
#define GT_BASE_GROWN_H

#include <stdint.h>
#include <stdlib.h>

/* Room for one more element in an array. Returns the array, or NULL when memory is short. */
static inline void *gt_grown(void *array, size_t n, size_t *capacity, size_t element)
{
	if (n < *capacity)
		return array;
	size_t more = *capacity ? *capacity * 2 : 8;
	void *bigger = more > SIZE_MAX / element ? NULL : realloc(array, more * element);
	if (bigger)
		*capacity = more;
	return bigger;
}

#endif
