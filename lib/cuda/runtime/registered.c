/* SPDX-License-Identifier: MIT */
/* Host memory that the device uses too (cudaHostRegister): its pages are also mapped as device memory, at another address. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cuda/runtime/runtime.h"

enum { DEFAULT, PORTABLE, MAPPED, IO_MEMORY = 4, READ_ONLY = 8 }; /* flags */

struct registered {
	char *begin;  /* as given by the program */
	size_t bytes;
	char *pages;  /* the host pages that contain it */
	size_t span;  /* their bytes */
	char *device; /* the same pages on the device */
	void *allocation;
	unsigned flags;
	struct registered *next;
};

static struct registered *all;

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct registered *find(const void *pointer, bool is_begin)
{
	for (struct registered *one = all; one; one = one->next)
		if (is_begin ? pointer == one->begin
			     : (const char *)pointer >= one->begin && (const char *)pointer < one->begin + one->bytes)
			return one;
	return NULL;
}

void *gt_cudart_registered(const void *host)
{
	const struct registered *one = find(host, false);

	return one ? one->device + ((const char *)host - one->pages) : NULL;
}

/* A file with the contents of the pages; -1 if there is no room for it. */
static int file_of(const char *pages, size_t span)
{
	struct gt_error error;
	int file = gt_temporary_file(gt_temporary_directory(), &error);

	if (file < 0) {
		gt_cudart_say("cudaHostRegister: %s", error.text);
		return -1;
	}
	for (size_t at = 0; at < span;) {
		ssize_t wrote = pwrite(file, pages + at, span - at, (off_t)at);
		if (wrote <= 0) {
			gt_cudart_say("cudaHostRegister: a temporary file of %zu bytes cannot be written", span);
			close(file);
			return -1;
		}
		at += (size_t)wrote;
	}
	return file;
}

static bool lay(void *at, size_t span, int kind, int file)
{
	return mmap(at, span, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0) != MAP_FAILED;
}

/* Maps the pages for both sides, in the room of one->allocation. Returns a code. */
static int share(struct registered *one)
{
	size_t page = page_bytes();
	uintptr_t begin = ((uintptr_t)one->allocation + page - 1) / page * page;
	int file;

	/* Nothing may write to the pages between the copy and the mapping; this variable may be in them. */
	one->device = (char *)begin;
	file = file_of(one->pages, one->span);
	if (file < 0)
		return CUDA_MEMORY_ALLOCATION;
	bool laid = lay(one->device, one->span, MAP_SHARED, file) && lay(one->pages, one->span, MAP_SHARED, file);
	close(file);
	return laid ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

/* Separates the pages: the host keeps their contents, the device gets new ones. */
static void part(const struct registered *one)
{
	int file = file_of(one->pages, one->span), zeros = open("/dev/zero", O_RDWR);

	if (file < 0 || zeros < 0 || !lay(one->pages, one->span, MAP_PRIVATE, file) ||
	    !lay(one->device, one->span, MAP_PRIVATE, zeros))
		gt_cudart_stop("cudaHostUnregister: the pages cannot be given back");
	close(file);
	close(zeros);
}

static int add(void *pointer, size_t bytes, unsigned flags)
{
	size_t page = page_bytes();
	uintptr_t first = (uintptr_t)pointer / page * page;

	if (!pointer || bytes == 0 || bytes > GT_PTX_WINDOW || flags > (PORTABLE | MAPPED | IO_MEMORY | READ_ONLY))
		return CUDA_INVALID_VALUE;
	uintptr_t last = ((uintptr_t)pointer + bytes + page - 1) / page * page;
	for (const struct registered *other = all; other; other = other->next)
		if (first < (uintptr_t)other->pages + other->span && (uintptr_t)other->pages < last)
			return CUDA_HOST_MEMORY_ALREADY_REGISTERED;
	if (first <= (uintptr_t)&page && (uintptr_t)&page < last)
		return gt_cudart_refuse("cudaHostRegister of a thread's stack");
	struct registered *one = calloc(1, sizeof *one);
	if (!one)
		return CUDA_MEMORY_ALLOCATION;
	*one = (struct registered){.begin = pointer, .bytes = bytes, .pages = (char *)first, .span = last - first,
				   .flags = flags, .next = all};
	int code = gt_cudart_allocate_shared(&one->allocation, one->span + page, GT_PTX_OF_DEVICE, "cudaHostRegister");
	if (code == CUDA_SUCCESS)
		code = share(one);
	if (code == CUDA_SUCCESS) {
		all = one;
		return code;
	}
	gt_cudart_release(one->allocation);
	free(one);
	return code;
}

API int cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	gt_cudart_enter();
	return gt_cudart_leave(add(pointer, bytes, flags));
}

API int cudaHostUnregister(void *pointer)
{
	gt_cudart_enter();
	struct registered *one = find(pointer, true), **link = &all;
	if (!one)
		return gt_cudart_leave(pointer ? CUDA_HOST_MEMORY_NOT_REGISTERED : CUDA_INVALID_VALUE);
	part(one);
	gt_cudart_release(one->allocation);
	while (*link != one)
		link = &(*link)->next;
	*link = one->next;
	free(one);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaHostGetFlags(unsigned *flags, const void *pointer)
{
	gt_cudart_enter();
	const struct registered *one = find(pointer, false);
	if (!flags || (!one && !gt_ptx_at(&gt_cudart.memory, (uint64_t)(uintptr_t)pointer, 1)))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*flags = one ? one->flags | MAPPED : MAPPED;
	return gt_cudart_leave(CUDA_SUCCESS);
}
