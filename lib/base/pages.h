/* SPDX-License-Identifier: MIT */
/* Large arrays that are read and written at random: a page table walk for each access costs more than
 * the access, and large pages save most of the walks. */
#ifndef GT_BASE_PAGES_H
#define GT_BASE_PAGES_H

#include <stddef.h>

/* Asks for large pages under an array, where the system has them and the array is large. Works on
 * pages that were not touched yet: call it as soon as the array is there. */
void gt_pages_large(void *array, size_t bytes);

#endif
