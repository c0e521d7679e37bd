/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* POSIX has no word for large pages: madvise is the system's own */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (4U << 20) /* bytes; below this the walks are short enough */

void gt_pages_large(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	if (!array || bytes < LARGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Whole pages: were the first or the last one left out, the mapping would be two, and could not grow
	 * without being copied. */
	uintptr_t begin = (uintptr_t)array / page * page, end = ((uintptr_t)array + bytes + page - 1) / page * page;
	madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* only a hint: that it fails does not matter */
#else
	(void)array;
	(void)bytes;
#endif
}
