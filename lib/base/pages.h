/* SPDX-License-Identifier: MIT */
/* Large pages, for large arrays that are accessed at random: they avoid most page table walks, each of which
 * costs more than the access itself. */
#ifndef GT_BASE_PAGES_H
#define GT_BASE_PAGES_H

#include <stddef.h>

/* Asks for large pages under an array, if the system has them and the array is large. Only pages that were
 * not touched yet are affected: call it right after the allocation. */
void gt_pages_large(void *array, size_t bytes);

#endif
