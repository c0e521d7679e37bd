/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/pagetable.h"

#include <stdlib.h>

#define ALIGNMENTS (GT_PTX_PAGE / GT_PTX_ALIGNMENT) /* of a page */

/* Allocations of parts of a page, by multiples of GT_PTX_ALIGNMENT: no two touch the same. */
struct parts {
	size_t n; /* that are not NULL */
	struct gt_ptx_allocation *of[ALIGNMENTS];
};

struct gt_ptx_page {
	struct gt_ptx_allocation *whole; /* NULL: look at the parts */
	struct parts *parts;		 /* NULL: there are none */
};

static struct gt_ptx_page *page_of(const struct gt_ptx_memory *memory, uint64_t address)
{
	return &memory->pages[(address - GT_PTX_GLOBAL_BASE) / GT_PTX_PAGE];
}

/* Enters `owner` (NULL: nobody) for [first, last] of a page. */
static int set_parts(struct gt_ptx_page *page, size_t first, size_t last, struct gt_ptx_allocation *owner)
{
	if (!page->parts && !(page->parts = calloc(1, sizeof *page->parts)))
		return -1;
	for (size_t i = first; i <= last; i++)
		page->parts->of[i] = owner;
	page->parts->n = owner ? page->parts->n + (last - first + 1) : page->parts->n - (last - first + 1);
	if (page->parts->n == 0) {
		free(page->parts);
		page->parts = NULL;
	}
	return 0;
}

/* Enters `owner`, the allocation or NULL, in the pages below `until` that it touches, with the byte behind its
 * end. Returns the page for which there is no memory, or 0. */
static uint64_t enter(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation,
		      struct gt_ptx_allocation *owner, uint64_t until)
{
	uint64_t begin = allocation->address, end = begin + allocation->bytes; /* inclusive */

	for (uint64_t at = begin / GT_PTX_PAGE * GT_PTX_PAGE; at <= end && at < until; at += GT_PTX_PAGE) {
		struct gt_ptx_page *page = page_of(memory, at);
		if (at >= begin && end - at >= GT_PTX_PAGE) {
			page->whole = owner;
			continue;
		}
		size_t first = at < begin ? (begin - at) / GT_PTX_ALIGNMENT : 0;
		size_t last = end - at < GT_PTX_PAGE ? (end - at) / GT_PTX_ALIGNMENT : ALIGNMENTS - 1;
		if (set_parts(page, first, last, owner) != 0)
			return at;
	}
	return 0;
}

int gt_ptx_pages_enter(struct gt_ptx_memory *memory, struct gt_ptx_allocation *allocation, struct gt_error *error)
{
	uint64_t missing = enter(memory, allocation, allocation, UINT64_MAX);

	if (!missing)
		return 0;
	enter(memory, allocation, NULL, missing);
	return gt_fail_memory(error, "the table of device memory");
}

void gt_ptx_pages_leave(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation)
{
	enter(memory, allocation, NULL, UINT64_MAX);
}

struct gt_ptx_allocation *gt_ptx_pages_owner(const struct gt_ptx_memory *memory, uint64_t address)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;

	if (at >= memory->reserved)
		return NULL;
	const struct gt_ptx_page *page = &memory->pages[at / GT_PTX_PAGE];
	if (page->whole)
		return page->whole;
	return page->parts ? page->parts->of[at % GT_PTX_PAGE / GT_PTX_ALIGNMENT] : NULL;
}

bool gt_ptx_pages_has(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_page *page = page_of(memory, address);

	return page->whole || page->parts;
}

int gt_ptx_pages_open(struct gt_ptx_memory *memory)
{
	memory->pages = calloc(memory->reserved / GT_PTX_PAGE, sizeof *memory->pages);
	return memory->pages ? 0 : -1;
}

void gt_ptx_pages_close(struct gt_ptx_memory *memory)
{
	free(memory->pages);
}
