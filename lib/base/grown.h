/* SPDX-License-Identifier: MIT */
/* Growable arrays. */
#ifndef GT_BASE_GROWN_H
#define GT_BASE_GROWN_H

#include <stdint.h>
#include <stdlib.h>

/* Grows an array to hold `wanted` elements. Returns the array, or NULL when memory is short; the old array
 * then stays valid. */
static inline void *gt_grown_to(void *array, size_t wanted, size_t *capacity, size_t element)
{
	if (wanted <= *capacity)
		return array;
	size_t more = *capacity ? *capacity * 2 : 8;
	if (more < wanted)
		more = wanted;
	void *bigger = more > SIZE_MAX / element ? NULL : realloc(array, more * element);
	if (bigger)
		*capacity = more;
	return bigger;
}

/* The same for one more element than the present n. */
static inline void *gt_grown(void *array, size_t n, size_t *capacity, size_t element)
{
	return gt_grown_to(array, n + 1, capacity, element);
}

/* An array of exactly n elements, for those that grow seldom or by a rule of their own. NULL when memory is short or n is
 * out of bounds: then the array is as it was. */
static inline void *gt_resized(void *array, size_t n, size_t element)
{
	return n > SIZE_MAX / element ? NULL : realloc(array, n ? n * element : 1);
}

#endif
