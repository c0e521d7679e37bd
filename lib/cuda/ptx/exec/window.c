/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/window.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"

/* Linux and the BSDs have these beyond POSIX; without them /dev/zero serves. */
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Bytes from the first address on that may have large pages. Each that is touched takes all its memory, so an array that is touched
 * here and there takes this much more at most. */
#define LARGE_PAGES_MAX (UINT64_C(1) << 30)

void *gt_ptx_map_zeros(void *wish, uint64_t bytes, int protection)
{
	int zeros = open("/dev/zero", O_RDWR);

	if (zeros < 0)
		return NULL;
	void *host = mmap(wish, bytes, protection, MAP_PRIVATE | MAP_NORESERVE, zeros, 0);
	int reason = errno;
	close(zeros);
	errno = reason;
	return host == MAP_FAILED ? NULL : host;
}

int gt_ptx_window_open(struct gt_ptx_memory *memory, uint64_t bytes)
{
	/* The address is a wish: what serves device code alone works anywhere. */
	memory->host = gt_ptx_map_zeros((void *)(uintptr_t)GT_PTX_GLOBAL_BASE, bytes, PROT_NONE);
	if (!memory->host)
		return -1;
	memory->reserved = bytes;
	gt_pages_large(memory->host, bytes < LARGE_PAGES_MAX ? bytes : LARGE_PAGES_MAX);
	return 0;
}

void gt_ptx_window_close(struct gt_ptx_memory *memory)
{
	if (memory->below)
		munmap(memory->below, GT_PTX_GRANULE);
	if (memory->host)
		munmap(memory->host, memory->reserved);
}

int gt_ptx_window_use(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, struct gt_error *error)
{
	uint64_t first = (address - GT_PTX_GLOBAL_BASE) / GT_PTX_PAGE * GT_PTX_PAGE;
	uint64_t last = gt_ptx_in_pages(address - GT_PTX_GLOBAL_BASE + bytes);

	if (mprotect(memory->host + first, last - first, PROT_READ | PROT_WRITE) != 0)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", bytes);
	return 0;
}
