/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise is not in POSIX */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (4U << 20) /* bytes; smaller arrays gain too little */
#define LARGE_PAGE (2U << 20) /* bytes, where other pages have 4096 */

void gt_pages_large(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	if (!array || bytes < LARGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Rounded outward to whole pages: leaving out the first or last page would split the mapping, and a
	 * split mapping can only grow by copying. */
	uintptr_t begin = (uintptr_t)array / page * page, end = ((uintptr_t)array + bytes + page - 1) / page * page;
	madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* only a hint: failure is harmless */
#else
	(void)array;
	(void)bytes;
#endif
}

void *gt_pages_chunk(size_t bytes)
{
	void *chunk;

	if (bytes < LARGE)
		return malloc(bytes);
	if (posix_memalign(&chunk, LARGE_PAGE, bytes) != 0)
		return NULL;
	gt_pages_large(chunk, bytes);
	return chunk;
}

void gt_pages_return(void *array, size_t bytes, size_t *begin, size_t *end)
{
	*begin = *end = 0;
#ifdef MADV_DONTNEED
	if (bytes < LARGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)array;
	uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
	if (madvise((void *)first, last - first, MADV_DONTNEED) != 0)
		return;
	*begin = first - at;
	*end = last - at;
#else
	(void)array;
	(void)bytes;
#endif
}
