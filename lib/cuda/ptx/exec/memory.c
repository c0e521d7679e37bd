/* SPDX-License-Identifier: MIT */
/* Device memory: the part of this process that stands for it, what its pages are allocated to, allocations with the gaps between
 * them, and the granules that hardware maps around them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/pages.h"
#include "cuda/ptx/exec/memory.h"

/* As many bytes or more, in whole pages. */
static uint64_t in_pages(uint64_t bytes)
{
	return (bytes + GT_PTX_PAGE - 1) / GT_PTX_PAGE * GT_PTX_PAGE;
}

/* ---- the table of pages ---- */

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

/* Enters an allocation, with the byte behind its end, in the pages that it touches. Returns 0, or -1 when memory is short. */
static int pages_enter(struct gt_ptx_memory *memory, struct gt_ptx_allocation *allocation, struct gt_error *error)
{
	uint64_t missing = enter(memory, allocation, allocation, UINT64_MAX);

	if (!missing)
		return 0;
	enter(memory, allocation, NULL, missing);
	return gt_fail_memory(error, "the table of device memory");
}

/* Enters an allocation, with the byte behind its end, in the pages that it touches. Returns 0, or -1 when memory is short. */
static void pages_leave(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *allocation)
{
	enter(memory, allocation, NULL, UINT64_MAX);
}

/* The allocation whose part of a page the address is in, which may lie behind its end; NULL if there is none. */
static struct gt_ptx_allocation *pages_owner(const struct gt_ptx_memory *memory, uint64_t address)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;

	if (at >= memory->reserved)
		return NULL;
	const struct gt_ptx_page *page = &memory->pages[at / GT_PTX_PAGE];
	if (page->whole)
		return page->whole;
	return page->parts ? page->parts->of[at % GT_PTX_PAGE / GT_PTX_ALIGNMENT] : NULL;
}

/* Whether the page of an address in the window has any. */
static bool pages_has(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_page *page = page_of(memory, address);

	return page->whole || page->parts;
}

/* For the window that is there. Returns 0, or -1 when memory is short. */
static int pages_open(struct gt_ptx_memory *memory)
{
	memory->pages = calloc(memory->reserved / GT_PTX_PAGE, sizeof *memory->pages);
	return memory->pages ? 0 : -1;
}

static void pages_close(struct gt_ptx_memory *memory)
{
	free(memory->pages);
}

/* ---- the part of this process ---- */

/* Linux and the BSDs have these beyond POSIX; without them /dev/zero serves. */
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Bytes from the first address on that may have large pages. Each that is touched takes all its memory, so an array that is touched
 * here and there takes this much more at most. */
#define LARGE_PAGES_MAX (UINT64_C(1) << 30)

/* Zeros at a place that is wished (NULL: anywhere), which take memory when they are written to. NULL with errno set. */
static void *map_zeros(void *wish, uint64_t bytes, int protection)
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

/* Returns 0, or -1 with errno set. */
static int window_open(struct gt_ptx_memory *memory, uint64_t bytes)
{
	/* The address is a wish: what serves device code alone works anywhere. */
	memory->host = map_zeros((void *)(uintptr_t)GT_PTX_GLOBAL_BASE, bytes, PROT_NONE);
	if (!memory->host)
		return -1;
	memory->reserved = bytes;
	gt_pages_large(memory->host, bytes < LARGE_PAGES_MAX ? bytes : LARGE_PAGES_MAX);
	return 0;
}

static void window_close(struct gt_ptx_memory *memory)
{
	if (memory->below)
		munmap(memory->below, GT_PTX_GRANULE);
	if (memory->host)
		munmap(memory->host, memory->reserved);
	if (memory->written)
		munmap(memory->written, memory->reserved / 8);
}

/* Addresses for so much memory: freed room is used again, but not always whole, so twice as many leave room for gaps. Where this process
 * may have few (ulimit -v), half of them. */
static uint64_t addresses_for(uint64_t limit)
{
	uint64_t bytes = limit < GT_PTX_WINDOW / 2 ? in_pages(2 * limit) : GT_PTX_WINDOW;
	struct rlimit process;

	if (getrlimit(RLIMIT_AS, &process) == 0 && process.rlim_cur != RLIM_INFINITY && process.rlim_cur / 2 < bytes)
		bytes = in_pages(process.rlim_cur / 2);
	return bytes;
}

/* Makes the pages of [address, address + bytes) usable; they are zero when first touched. Returns 0, or -1. */
static int window_use(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, struct gt_error *error)
{
	uint64_t first = (address - GT_PTX_GLOBAL_BASE) / GT_PTX_PAGE * GT_PTX_PAGE;
	uint64_t last = in_pages(address - GT_PTX_GLOBAL_BASE + bytes);

	if (mprotect(memory->host + first, last - first, PROT_READ | PROT_WRITE) != 0)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", bytes);
	return 0;
}

/* ---- allocations ---- */

int gt_ptx_memory_open(struct gt_ptx_memory *memory, uint64_t limit, struct gt_error *error)
{
	memset(memory, 0, sizeof *memory);
	if (limit == 0 || limit > GT_PTX_WINDOW)
		return gt_fail(error, "device memory of %" PRIu64 " bytes: from 1 to %" PRIu64 " expected",
			       limit, GT_PTX_WINDOW);
	if (window_open(memory, addresses_for(limit)) != 0)
		return gt_fail_errno(error, "device memory of %" PRIu64 " bytes", limit);
	memory->limit = limit;
	memory->heap_bytes = GT_PTX_HEAP_BYTES;
	memory->pending = GT_PTX_PENDING;
	if (pages_open(memory) == 0)
		return 0;
	gt_ptx_memory_close(memory);
	return gt_fail_memory(error, "the table of device memory");
}

int gt_ptx_memory_watch(struct gt_ptx_memory *memory, struct gt_error *error)
{
	memory->held_max = memory->limit / GT_PTX_HELD_PART;
	memory->written = map_zeros(NULL, memory->reserved / 8, PROT_READ | PROT_WRITE);
	return memory->written ? 0 : gt_fail_errno(error, "what is noted of device memory");
}

/* ---- which bytes were written ---- */

/* The bits of one byte of a table that stand for [at, at + n); *n: how many of the rest there are. */
static unsigned char bits_of(uint64_t at, uint64_t *n)
{
	const uint64_t first = at % 8, here = *n < 8 - first ? *n : 8 - first;

	*n = here;
	return (unsigned char)(((1U << here) - 1) << first);
}

void gt_ptx_bits_mark(unsigned char *bits, uint64_t at, uint64_t n)
{
	for (uint64_t here; n > 0; at += here, n -= here) {
		here = n;
		if (at % 8 == 0 && n >= 64) {
			here = n / 8 * 8;
			memset(bits + at / 8, 0xff, here / 8);
			continue;
		}
		const unsigned char marks = bits_of(at, &here);
		bits[at / 8] |= marks;
	}
}

bool gt_ptx_bits_any(const unsigned char *bits, uint64_t at, uint64_t n)
{
	for (uint64_t here; n > 0; at += here, n -= here) {
		here = n;
		if (bits[at / 8] & bits_of(at, &here))
			return true;
	}
	return false;
}

bool gt_ptx_bits_all(const unsigned char *bits, uint64_t at, uint64_t n)
{
	for (uint64_t here; n > 0; at += here, n -= here) {
		here = n;
		const unsigned char wanted = bits_of(at, &here);
		if ((bits[at / 8] & wanted) != wanted)
			return false;
	}
	return true;
}

void gt_ptx_wrote(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	const uint64_t at = address - GT_PTX_GLOBAL_BASE;

	if (memory->written && at < memory->reserved && bytes <= memory->reserved - at)
		gt_ptx_bits_mark(memory->written, at, bytes);
}

/* The first place behind an allocation, or before the first. Small ones never touch, so that one step beyond the end of one is no
 * step into the next. Large ones touch, as on hardware, unless freed memory is held back to find wrong accesses. */
static uint64_t place_behind(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before, bool large)
{
	uint64_t end = before ? before->address + before->bytes : GT_PTX_GLOBAL_BASE, unit = large ? GT_PTX_GRANULE : GT_PTX_ALIGNMENT;

	if (before && (!large || memory->held_max > 0))
		end++;
	return (end + unit - 1) / unit * unit;
}

static uint64_t end_behind(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before)
{
	const struct gt_ptx_allocation *after = before ? before->after : memory->first;

	return after ? after->address : GT_PTX_GLOBAL_BASE + memory->reserved;
}

/* The room for a small allocation. */
static uint64_t gap_behind(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before)
{
	uint64_t place = place_behind(memory, before, false), end = end_behind(memory, before);

	return end > place ? end - place : 0;
}

static bool fits_behind(const struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before, uint64_t bytes, uint64_t *address)
{
	const bool large = bytes > GT_PTX_SMALL;
	const uint64_t end = end_behind(memory, before);

	*address = place_behind(memory, before, large);
	if (end <= *address || end - *address < bytes)
		return false;
	return (large && memory->held_max == 0) || end - *address > bytes;
}

/* The first gap that fits: its address, and what lies before it. */
static bool find_gap(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t *address, struct gt_ptx_allocation **before)
{
	/* A large one may begin where the one before ends, a small one only behind that. */
	const uint64_t room = bytes > GT_PTX_SMALL ? bytes - GT_PTX_ALIGNMENT : bytes + 1;
	uint64_t from = 0;

	*before = NULL;
	if (fits_behind(memory, NULL, bytes, address))
		return true;
	do {
		*before = (struct gt_ptx_allocation *)(void *)gt_ptx_room_first(memory->gaps, from, room);
		if (!*before)
			return false;
		from = (*before)->address + 1;
	} while (!fits_behind(memory, *before, bytes, address));
	return true;
}

/* After the gap behind an allocation has changed; before the first there is none to note it. */
static void note_gap(struct gt_ptx_memory *memory, const struct gt_ptx_allocation *before)
{
	if (before)
		gt_ptx_room_change(&memory->gaps, &before->gap, gap_behind(memory, before));
}

static void link_behind(struct gt_ptx_memory *memory, struct gt_ptx_allocation *before, struct gt_ptx_allocation *allocation)
{
	allocation->before = before;
	allocation->after = before ? before->after : memory->first;
	*(before ? &before->after : &memory->first) = allocation;
	*(allocation->after ? &allocation->after->before : &memory->last) = allocation;
	gt_ptx_room_add(&memory->gaps, &allocation->gap, allocation->address, gap_behind(memory, allocation));
	note_gap(memory, before);
}

/* Gives the room back that was freed first. */
static void release_oldest(struct gt_ptx_memory *memory)
{
	struct gt_ptx_allocation *gone = memory->held_first, *before = gone->before;

	memory->held_first = gone->freed_next;
	if (!memory->held_first)
		memory->held_last = NULL;
	memory->held_bytes -= gone->bytes;
	*(before ? &before->after : &memory->first) = gone->after;
	*(gone->after ? &gone->after->before : &memory->last) = before;
	gt_ptx_room_remove(&memory->gaps, &gone->gap);
	note_gap(memory, before);
	size_t begin, end;
	gt_pages_return(memory->host + (gone->address - GT_PTX_GLOBAL_BASE), gone->bytes, &begin, &end);
	free(gone);
}

/* A gap, for which freed room is given back if need be. */
static bool find_room(struct gt_ptx_memory *memory, uint64_t bytes, uint64_t *address, struct gt_ptx_allocation **before)
{
	while (!find_gap(memory, bytes, address, before)) {
		if (!memory->held_first)
			return false;
		release_oldest(memory);
	}
	return true;
}

/* ---- places ---- */

/* One NAME=ADDRESS of `length` bytes. */
static int read_place(struct gt_ptx_wish *place, const char *text, size_t length, struct gt_error *error)
{
	const char *equals = memchr(text, '=', length);
	char number[32] = "", *end;

	*place = (struct gt_ptx_wish){0};
	if (equals && equals > text && (size_t)(equals - text) < sizeof place->name && (size_t)(text + length - equals) <= sizeof number) {
		memcpy(place->name, text, (size_t)(equals - text));
		memcpy(number, equals + 1, (size_t)(text + length - equals - 1));
	}
	if (place->name[strspn(place->name, "0123456789")] == '\0')
		place->number = strtoull(place->name, NULL, 10);
	place->address = strtoull(number, &end, strncmp(number, "0x", 2) == 0 ? 16 : 10);
	if (number[0] < '0' || number[0] > '9' || *end)
		return gt_fail(error, "'%.*s': expected NAME=ADDRESS, or the NUMBER of an allocation, from 1, and =ADDRESS", (int)length, text);
	if (place->address % GT_PTX_ALIGNMENT != 0 || place->address < GT_PTX_GLOBAL_BASE ||
	    place->address >= GT_PTX_GLOBAL_BASE + GT_PTX_WINDOW)
		return gt_fail(error, "'%.*s': expected a multiple of %d from 0x%" PRIx64 " to below 0x%" PRIx64, (int)length, text,
			       GT_PTX_ALIGNMENT, GT_PTX_GLOBAL_BASE, GT_PTX_GLOBAL_BASE + GT_PTX_WINDOW);
	return 0;
}

static int add_place(struct gt_ptx_wish **places, const struct gt_ptx_wish *place, struct gt_error *error)
{
	for (; *places; places = &(*places)->next)
		if (strcmp((*places)->name, place->name) == 0)
			return gt_fail(error, "'%s': has two addresses", place->name);
	*places = malloc(sizeof **places);
	if (!*places)
		return gt_fail_memory(error, "the places of allocations");
	**places = *place;
	return 0;
}

int gt_ptx_wishes_read(struct gt_ptx_wish **places, const char *list, struct gt_error *error)
{
	struct gt_ptx_wish place;

	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		if (read_place(&place, at, length, error) != 0 || add_place(places, &place, error) != 0)
			return -1;
		at += length;
		if (!*at)
			return 0;
	}
}

void gt_ptx_wishes_free(struct gt_ptx_wish *places)
{
	for (struct gt_ptx_wish *next; places; places = next) {
		next = places->next;
		free(places);
	}
}

struct gt_ptx_wish *gt_ptx_wish_of(const struct gt_ptx_memory *memory, const char *name)
{
	struct gt_ptx_wish *place = memory->call > 0 ? memory->places : NULL;

	while (place && (place->number > 0 ? place->number != memory->call : strcmp(place->name, name) != 0))
		place = place->next;
	return place;
}

int gt_ptx_wishes_check(const struct gt_ptx_memory *memory, struct gt_error *error)
{
	for (const struct gt_ptx_wish *place = memory->places; place; place = place->next)
		if (!place->used)
			return gt_fail(error, "--at: there was no allocation %s'%s'", place->number > 0 ? "number " : "", place->name);
	return 0;
}

static int fail_overlap(const struct gt_ptx_wish *place, uint64_t bytes, const struct gt_ptx_allocation *other, struct gt_error *error)
{
	return gt_fail(error, "--at: '%s', %" PRIu64 " bytes at 0x%" PRIx64 ", overlaps '%s', %" PRIu64 " bytes at 0x%" PRIx64 "%s",
		       place->name, bytes, place->address, other->name, other->bytes, other->address,
		       other->freed ? ", which was freed and is held back" : "");
}

/* The room at a place: what lies before it. */
static int find_place(const struct gt_ptx_memory *memory, struct gt_ptx_wish *place, uint64_t bytes, uint64_t *address,
		      struct gt_ptx_allocation **before, struct gt_error *error)
{
	*before = (struct gt_ptx_allocation *)(void *)gt_ptx_room_at(memory->gaps, place->address);
	struct gt_ptx_allocation *after = *before ? (*before)->after : memory->first;

	place->used = true;
	*address = place->address;
	if (*before && (*before)->address + (*before)->bytes > place->address)
		return fail_overlap(place, bytes, *before, error);
	if (after && place->address + bytes > after->address)
		return fail_overlap(place, bytes, after, error);
	if (place->address + bytes > GT_PTX_GLOBAL_BASE + memory->reserved)
		return gt_fail(error, "--at: '%s', %" PRIu64 " bytes at 0x%" PRIx64 ": addresses of the device end at 0x%" PRIx64, place->name,
			       bytes, place->address, GT_PTX_GLOBAL_BASE + memory->reserved);
	return 0;
}

/* ---- allocation ---- */

/* A large array is cleared without touching it. */
static void clear_bytes(unsigned char *host, uint64_t bytes)
{
	size_t begin, end;

	gt_pages_return(host, bytes, &begin, &end);
	memset(host, 0, begin);
	memset(host + end, 0, bytes - end);
}

/* The first bytes of an allocation, which may have been written. */
static void clear(struct gt_ptx_memory *memory, uint64_t at, uint64_t bytes)
{
	clear_bytes(memory->host + at, bytes);
	if (memory->written) /* no other allocation has a byte of the last bits */
		clear_bytes(memory->written + at / 8, (bytes + 7) / 8);
}

static int fail_room(const struct gt_ptx_memory *memory, uint64_t bytes, const char *name, struct gt_error *error)
{
	if (memory->reserved < memory->limit)
		return gt_fail(error, "no room for %" PRIu64 " bytes of device memory (%s): %" PRIu64 " of %" PRIu64 " are in use, "
			       "which the limit of this process's addresses (ulimit -v) leaves", bytes, name, memory->live_bytes, memory->reserved);
	return gt_fail(error, "no room for %" PRIu64 " bytes of device memory (%s): %" PRIu64 " of %" PRIu64 " are in use%s", bytes, name,
		       memory->live_bytes, memory->limit, memory->advice ? memory->advice : "");
}

int gt_ptx_allocate(struct gt_ptx_memory *memory, uint64_t bytes, const char *name, uint64_t *address,
		    struct gt_error *error)
{
	const bool within = bytes > 0 && bytes <= memory->limit && memory->live_bytes <= memory->limit - bytes;
	struct gt_ptx_wish *place = gt_ptx_wish_of(memory, name);
	struct gt_ptx_allocation *before = NULL;

	if (within && place && find_place(memory, place, bytes, address, &before, error) != 0)
		return -1;
	if (!within || (!place && !find_room(memory, bytes, address, &before)))
		return fail_room(memory, bytes, name, error);
	struct gt_ptx_allocation *allocation = calloc(1, sizeof *allocation);
	if (!allocation)
		return gt_fail_memory(error, "the list of allocations");
	memory->changes++;
	allocation->address = *address;
	allocation->bytes = bytes;
	allocation->owner = memory->owner;
	allocation->call = memory->call;
	allocation->kind = memory->kind;
	allocation->flags = memory->flags;
	snprintf(allocation->name, sizeof allocation->name, "%s", name);
	if (window_use(memory, *address, bytes, error) != 0 || pages_enter(memory, allocation, error) != 0) {
		free(allocation);
		return -1;
	}
	uint64_t end = *address - GT_PTX_GLOBAL_BASE + bytes;
	uint64_t stale =
		end < memory->used ? end : memory->used; /* bytes up to `used` may have been written */
	if (stale > *address - GT_PTX_GLOBAL_BASE)
		clear(memory, *address - GT_PTX_GLOBAL_BASE, stale - (*address - GT_PTX_GLOBAL_BASE));
	link_behind(memory, before, allocation);
	memory->n++;
	memory->live_bytes += bytes;
	memory->used = end > memory->used ? end : memory->used;
	return 0;
}

int gt_ptx_free(struct gt_ptx_memory *memory, uint64_t address, struct gt_error *error)
{
	struct gt_ptx_allocation *gone = pages_owner(memory, address);

	if (!gone || gone->address != address || gt_ptx_in_heap(memory, address))
		return gt_fail(error, "nothing was allocated at 0x%" PRIx64, address);
	pages_leave(memory, gone);
	memory->changes++;
	memory->live_bytes -= gone->bytes;
	memory->n--;
	gone->freed = true;
	*(memory->held_last ? &memory->held_last->freed_next : &memory->held_first) = gone;
	memory->held_last = gone;
	memory->held_bytes += gone->bytes;
	while (memory->held_bytes > memory->held_max)
		release_oldest(memory);
	return 0;
}

void gt_ptx_memory_close(struct gt_ptx_memory *memory)
{
	struct gt_error ignored;

	gt_ptx_heap_free(memory->heap);
	memory->heap = NULL;
	free(memory->pool);
	memory->pool = NULL;
	memory->held_max = 0;
	while (memory->held_first)
		release_oldest(memory);
	while (memory->first)
		gt_ptx_free(memory, memory->first->address, &ignored);
	gt_ptx_textures_free(memory);
	pages_close(memory);
	window_close(memory);
	memset(memory, 0, sizeof *memory);
}

void *gt_ptx_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t begin, end;

	return gt_ptx_bounds(memory, address, bytes, &begin, &end) ? memory->host + (address - GT_PTX_GLOBAL_BASE) : NULL;
}

bool gt_ptx_bounds(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *end)
{
	struct gt_ptx_allocation *allocation = pages_owner(memory, address);

	if (!allocation)
		return false;
	atomic_store_explicit(&allocation->reached, memory->launch, memory_order_relaxed);
	if (gt_ptx_in_heap(memory, allocation->address))
		return gt_ptx_heap_block(memory, address, bytes, begin, end);
	if (memory->denied >> allocation->owner & 1)
		return false;
	uint64_t inside = address - allocation->address;
	*begin = allocation->address;
	*end = allocation->address + allocation->bytes;
	return inside <= allocation->bytes && bytes <= allocation->bytes - inside;
}

const struct gt_ptx_allocation *gt_ptx_containing(const struct gt_ptx_memory *memory, uint64_t address,
						  uint64_t bytes)
{
	uint64_t begin, end;

	return gt_ptx_bounds(memory, address, bytes, &begin, &end) ? pages_owner(memory, address) : NULL;
}

const struct gt_ptx_allocation *gt_ptx_denied(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_allocation *allocation = pages_owner(memory, address);

	return allocation && memory->denied >> allocation->owner & 1 ? allocation : NULL;
}

const struct gt_ptx_allocation *gt_ptx_nearest(const struct gt_ptx_memory *memory, uint64_t address)
{
	const struct gt_ptx_allocation *inside = pages_owner(memory, address), *below = NULL, *above = gt_ptx_live(memory->first);

	for (const struct gt_ptx_allocation *one = memory->held_first; one && !inside; one = one->freed_next)
		inside = address - one->address < one->bytes ? one : NULL;
	if (inside && address - inside->address < inside->bytes)
		return inside;
	for (; above && above->address <= address; above = gt_ptx_live(above->after))
		below = above;
	if (!above || !below)
		return below ? below : above;
	return address - (below->address + below->bytes) < above->address - address ? below : above;
}

/* ---- granules ---- */

static uint64_t granule_of(uint64_t address)
{
	return address / GT_PTX_GRANULE * GT_PTX_GRANULE;
}

static bool is_below(uint64_t address)
{
	return granule_of(address) == GT_PTX_GLOBAL_BASE - GT_PTX_GRANULE;
}

bool gt_ptx_is_mapped(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;
	bool mapped = false;

	if (is_below(address))
		return true;
	if (address < GT_PTX_GLOBAL_BASE || at + bytes > memory->reserved || gt_ptx_denied(memory, address))
		return false;
	for (uint64_t i = 0; i < GT_PTX_GRANULE && !mapped; i += GT_PTX_PAGE) {
		uint64_t page = granule_of(address) + i;
		mapped = page - GT_PTX_GLOBAL_BASE < memory->reserved && pages_has(memory, page);
	}
	return mapped;
}

bool gt_ptx_is_of_host(uint64_t address)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (address >= GT_PTX_GLOBAL_BASE - GT_PTX_GRANULE && address < GT_PTX_LOCAL_BASE + GT_PTX_WINDOW)
		return false;
	return msync((void *)(uintptr_t)(address - address % page), 1, MS_ASYNC) == 0;
}

void *gt_ptx_mapped_at(struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	uint64_t at = address - GT_PTX_GLOBAL_BASE;
	struct gt_error ignored;

	if (is_below(address)) {
		if (!memory->below)
			memory->below = map_zeros(NULL, GT_PTX_GRANULE, PROT_READ | PROT_WRITE);
		return memory->below ? memory->below + address % GT_PTX_GRANULE : NULL;
	}
	if (!gt_ptx_is_mapped(memory, address, bytes) || window_use(memory, address, bytes, &ignored) != 0)
		return NULL;
	memory->used = at + bytes > memory->used ? at + bytes : memory->used;
	return memory->host + at;
}

/* ---- when the heap comes and goes ---- */

/* The heap as a part of the device's memory: its size, and when it comes and goes. */

int gt_ptx_heap_resize(struct gt_ptx_memory *memory, uint64_t bytes)
{
	if (memory->heap || bytes == 0 || bytes > GT_PTX_HEAP_MAX)
		return -1;
	memory->heap_bytes = (bytes + GT_PTX_HEAP_UNIT - 1) / GT_PTX_HEAP_UNIT * GT_PTX_HEAP_UNIT;
	return 0;
}

int gt_ptx_heap_open(struct gt_ptx_memory *memory, struct gt_error *error)
{
	struct gt_error ignored;
	uint64_t address;

	if (memory->heap)
		return 0;
	if (gt_ptx_allocate(memory, memory->heap_bytes, GT_PTX_HEAP_NAME, &address, error) != 0)
		return -1;
	memory->heap = gt_ptx_heap_new(address, memory->heap_bytes, error);
	if (!memory->heap)
		gt_ptx_free(memory, address, &ignored);
	return memory->heap ? 0 : -1;
}

void gt_ptx_heap_close(struct gt_ptx_memory *memory)
{
	struct gt_ptx_heap *heap = memory->heap;
	struct gt_error ignored;

	memory->heap = NULL;
	if (heap)
		gt_ptx_free(memory, gt_ptx_heap_address(heap), &ignored);
	gt_ptx_heap_free(heap);
}
