/* SPDX-License-Identifier: MIT */
/* Memory that the program allocates: on devices, in nodes of graphs, and memory of the host that the device uses too; and what is known
 * of a pointer. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* ---- memory of graphs ---- */

static struct gt_graph_memory *memories;
/* Bytes: allocated now; the most since the last trim, which graphs keep; and the most of that. */
static uint64_t live_bytes, kept, kept_high;

/* Memory of allocating nodes; its address; NULL if there is none. */
static struct gt_graph_memory *new_graph_memory(uint64_t address, uint64_t bytes)
{
	struct gt_graph_memory *memory = malloc(sizeof *memory);

	if (!memory)
		return NULL;
	*memory = (struct gt_graph_memory){.address = address, .bytes = bytes, .next = memories};
	memories = memory;
	return memory;
}

struct gt_graph_memory *gt_graph_memory_at(uint64_t address)
{
	struct gt_graph_memory *memory = memories;

	while (memory && (address == 0 || memory->address != address))
		memory = memory->next;
	return memory;
}

static uint64_t forget(struct gt_graph_memory *memory)
{
	struct gt_graph_memory **link = &memories;
	uint64_t address = memory->address;

	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	free(memory);
	return address;
}

uint64_t gt_graph_memory_drop(struct gt_graph_memory *memory)
{
	return --memory->nodes == 0 && !memory->live ? forget(memory) : 0;
}

int gt_graph_memory_set(struct gt_graph_memory *memory, bool live)
{
	if (memory->live == live || memory->address == 0)
		return CUDA_INVALID_VALUE;
	memory->live = live;
	live_bytes = live ? live_bytes + memory->bytes : live_bytes - memory->bytes;
	kept = live_bytes > kept ? live_bytes : kept;
	kept_high = kept > kept_high ? kept : kept_high;
	return CUDA_SUCCESS;
}

/* The same for the program's own free. *keeps: its room is still needed, or it was not allocated. */
static int release_graph_memory(struct gt_graph_memory *memory, bool *keeps)
{
	int code = gt_graph_memory_set(memory, false);

	*keeps = code != CUDA_SUCCESS || memory->nodes > 0;
	if (!*keeps)
		forget(memory);
	return code;
}

static void reset_graph_memory(void)
{
	for (struct gt_graph_memory *memory = memories; memory; memory = memory->next) {
		memory->address = 0;
		memory->live = false;
	}
	live_bytes = kept = 0;
}

/* ---- cudaGraphMemAttributeType ---- */

/* What graphs use, its high-water mark, and what is reserved for them: all that is used; it is told in whole pieces of pools. */
static uint64_t *const graph_attributes[] = {&kept, &kept_high, &kept, &kept_high};
#define GRAPH_ATTRIBUTES (sizeof graph_attributes / sizeof graph_attributes[0])

API int cudaDeviceGetGraphMemAttribute(int device, unsigned attribute, uint64_t *value)
{
	gt_cudart_enter();
	if (!value || attribute >= GRAPH_ATTRIBUTES || !gt_cudart_is_device(device))
		return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE);
	*value = gt_pool_reserved(*graph_attributes[attribute]);
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* The high-water marks can only be set to 0, and then restart from the present use. */
API int cudaDeviceSetGraphMemAttribute(int device, unsigned attribute, const uint64_t *value)
{
	gt_cudart_enter();
	if (!value || attribute >= GRAPH_ATTRIBUTES || attribute % 2 == 0 || *value != 0 || !gt_cudart_is_device(device))
		return gt_cudart_leave(gt_cudart_is_device(device) ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE);
	*graph_attributes[attribute] = *graph_attributes[attribute - 1];
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaDeviceGraphMemTrim(int device)
{
	gt_cudart_enter();
	if (!gt_cudart_is_device(device))
		return gt_cudart_leave(CUDA_INVALID_DEVICE);
	kept = live_bytes;
	return gt_cudart_leave(CUDA_SUCCESS);
}

#define PITCH 512 /* bytes that rows of cudaMallocPitch are a multiple of */

/* Bytes that a device has given out. */
static uint64_t used_bytes(int device)
{
	uint64_t bytes = 0;

	/* Memory of the host counts too as long as there is one device. The limit has what has no address, and what is one
	 * alone. */
	if (gt_cudart_devices() == 1)
		return gt_cudart.record.tracing.device_memory - (gt_cudart.memory.limit - gt_cudart.memory.live_bytes);
	for (const struct gt_ptx_allocation *one = gt_ptx_live(gt_cudart.memory.first); one; one = gt_ptx_live(one->after))
		bytes += one->owner == (unsigned)device ? one->bytes : 0;
	return bytes;
}

API int cudaMemGetInfo(size_t *left, size_t *total)
{
	gt_cudart_enter();
	if (!left || !total)
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*total = gt_cudart.record.tracing.device_memory;
	*left = *total - used_bytes(gt_cudart_device());
	return gt_cudart_leave(CUDA_SUCCESS);
}

/* Whether a device has room; all devices together have what the memory has. */
static bool fits(unsigned owner, size_t bytes)
{
	uint64_t limit = gt_cudart.record.tracing.device_memory, used;

	if (owner == GT_PTX_EVERYONE || gt_cudart_devices() == 1)
		return true;
	used = used_bytes((int)owner);
	return used <= limit && bytes <= limit - used;
}

/* The name of allocation number n: the user's, that of its source line, or the call and n. */
static void name_allocation(const char *call, uint64_t n, char *name, size_t size)
{
	const char *given = gt_cudart.record.tracing.names;

	for (uint64_t i = 1; given && i < n; i++)
		if ((given = strchr(given, ',')))
			given++;
	if (given && *given && *given != ',')
		snprintf(name, size, "%.*s", (int)strcspn(given, ","), given);
	else if (!gt_callsite_name(call, name))
		snprintf(name, size, "%s %" PRIu64, call, n);
}

int gt_cudart_no_room(const char *call, size_t bytes)
{
	static bool said;

	gt_cudart_say_once(&said, "warning: %s of %zu bytes: out of memory: the device has %" PRIu64 " bytes, of which %" PRIu64
			   " are in use (--memory gives it more)", call, bytes, gt_cudart.record.tracing.device_memory,
			   used_bytes(gt_cudart_device()));
	return CUDA_MEMORY_ALLOCATION;
}

static double machine_gigabytes(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9;
}

/* The device has room, but the system gives no memory for it, or this process may not have the addresses. */
static int no_memory(const char *call, size_t bytes, const char *why)
{
	const struct gt_ptx_memory *memory = &gt_cudart.memory;
	static bool said;

	if (memory->reserved < memory->limit)
		gt_cudart_say_once(&said, "warning: %s of %zu bytes: out of memory: the limit of this process's addresses (ulimit -v) leaves the device "
				   "%" PRIu64 " bytes, of which %" PRIu64 " are in use", call, bytes, memory->reserved, memory->live_bytes);
	gt_cudart_say_once(&said, "warning: %s of %zu bytes: %s: this machine has %.1f GB of memory, and the program has %.1f GB on the device", call,
			   bytes, why, machine_gigabytes(), (double)gt_cudart.memory.live_bytes / 1e9);
	return CUDA_MEMORY_ALLOCATION;
}

#define LARGE ((size_t)16 << 20) /* bytes of an allocation for which it is looked whether this machine has them */

/* Warns once if this machine would not have the memory, were all of an allocation touched: the program may be killed then. */
static void say_short(const char *call, size_t bytes)
{
	static bool said;
	const double all = machine_gigabytes();
	unsigned long long pages = 0;
	FILE *file = bytes >= LARGE ? fopen("/proc/self/statm", "r") : NULL;

	if (!file)
		return;
	bool known = fscanf(file, "%*u %llu", &pages) == 1;
	const double used = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e9;
	if (known && used + (double)bytes / 1e9 > all)
		gt_cudart_say_once(&said, "warning: %s of %zu bytes: this machine has %.1f GB of memory, of which the program uses %.1f GB, and it has "
				   "%.1f GB on the device now: it may be killed when it touches them", call, bytes, all, used,
				   (double)gt_cudart.memory.live_bytes / 1e9);
	fclose(file);
}

static int allocate(void **pointer, size_t bytes, const char *call, unsigned owner, enum gt_ptx_memory_kind kind)
{
	struct gt_error error;
	char name[64];
	uint64_t address;

	if (!pointer)
		return CUDA_INVALID_VALUE;
	*pointer = NULL;
	gt_callsite_name(call, NULL);
	if (bytes == 0)
		return CUDA_SUCCESS;
	if (!fits(owner, bytes))
		return gt_cudart_no_room(call, bytes);
	gt_cudart.memory.owner = owner;
	name_allocation(call, ++gt_cudart.allocations, name, sizeof name);
	gt_cudart.memory.call = gt_cudart.allocations;
	gt_cudart.memory.kind = kind;
	int result = gt_ptx_allocate(&gt_cudart.memory, bytes, name, &address, &error);
	if (result != 0 && gt_ptx_wish_of(&gt_cudart.memory, name))
		gt_cudart_stop("%s", error.text);
	gt_cudart.memory.call = 0;
	gt_cudart.memory.kind = GT_PTX_OF_DEVICE;
	if (result != 0) {
		gt_cudart_note("%s", error.text);
		return bytes <= gt_cudart.memory.limit - gt_cudart.memory.live_bytes ? no_memory(call, bytes, error.text)
										  : gt_cudart_no_room(call, bytes);
	}
	say_short(call, bytes);
	if (kind != GT_PTX_OF_DEVICE) /* the host writes there, too, which nobody sees */
		gt_ptx_wrote(&gt_cudart.memory, address, bytes);
	*pointer = (void *)(uintptr_t)address;
	return CUDA_SUCCESS;
}

int gt_cudart_allocate_on(int device, void **pointer, size_t bytes, const char *call)
{
	return allocate(pointer, bytes, call, (unsigned)device, GT_PTX_OF_DEVICE);
}

int gt_cudart_allocate(void **pointer, size_t bytes, const char *call)
{
	return gt_cudart_allocate_on(gt_cudart_device(), pointer, bytes, call);
}

/* Memory that host and devices access by the same pointer. */
int gt_cudart_allocate_shared(void **pointer, size_t bytes, enum gt_ptx_memory_kind kind, const char *call)
{
	if (gt_cudart_address(gt_cudart.memory.host) != GT_PTX_GLOBAL_BASE) {
		gt_cudart_say("%s: device memory could not be mapped at its own address in this process", call);
		gt_cudart.omissions++;
		return CUDA_NOT_SUPPORTED;
	}
	return allocate(pointer, bytes, call, GT_PTX_EVERYONE, kind);
}

int gt_graph_allocate(struct gt_work *work, int device, void **pointer, size_t bytes, const char *call)
{
	int code = bytes > 0 ? gt_cudart_allocate_on(device, pointer, bytes, call) : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	*work = (struct gt_work){GT_WORK_ALLOCATE, {.memory = new_graph_memory(gt_cudart_address(*pointer), bytes)}};
	if (!work->u.memory)
		return CUDA_MEMORY_ALLOCATION;
	work->u.memory->nodes++;
	return CUDA_SUCCESS;
}

int gt_cudart_release(void *pointer)
{
	struct gt_graph_memory *memory = gt_graph_memory_at(gt_cudart_address(pointer));
	struct gt_error error;
	bool keeps = false;

	if (!pointer)
		return CUDA_SUCCESS;
	int code = memory ? release_graph_memory(memory, &keeps) : CUDA_SUCCESS;
	if (keeps)
		return code;
	return gt_ptx_free(&gt_cudart.memory, gt_cudart_address(pointer), &error) == 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

void gt_cudart_free_all(int device)
{
	const struct gt_ptx_memory *memory = &gt_cudart.memory;

	reset_graph_memory();
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first), *after; one; one = after) {
		after = gt_ptx_live(one->after);
		if (one->call > 0 && (one->owner == (unsigned)device || gt_cudart_devices() == 1))
			gt_cudart_release((void *)(uintptr_t)one->address);
	}
}

int gt_cudart_allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows, const char *call)
{
	if (width > GT_PTX_WINDOW || (rows > 0 && width > GT_PTX_WINDOW / rows))
		return CUDA_INVALID_VALUE;
	*pitch = (width + PITCH - 1) / PITCH * PITCH;
	return gt_cudart_allocate(pointer, *pitch * rows, call);
}

/* ---- registered memory of the host ---- */

/* Host memory that the device uses too (cudaHostRegister): its pages are also mapped as device memory, at another address. */

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

/* A pointer behind the end is one to it, too, unless what begins there is registered itself. */
void gt_cudart_replace_registered(unsigned char *words, size_t bytes)
{
	for (size_t at = 0; all && at + sizeof(char *) <= bytes; at += sizeof(char *)) {
		const char *pointer;
		memcpy(&pointer, words + at, sizeof pointer);
		const struct registered *one = find(pointer, false);
		for (const struct registered *other = all; other && !one; other = other->next)
			one = pointer == other->begin + other->bytes ? other : NULL;
		if (!one)
			continue;
		pointer = one->device + (pointer - one->pages);
		memcpy(words + at, &pointer, sizeof pointer);
	}
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
	const struct gt_ptx_allocation *made = one ? NULL : gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(pointer), 1);
	if (!flags || (!one && !(made && made->kind == GT_PTX_OF_HOST)))
		return gt_cudart_leave(CUDA_INVALID_VALUE);
	*flags = (one ? one->flags : made->flags) | MAPPED;
	return gt_cudart_leave(CUDA_SUCCESS);
}

#define NO_DEVICE (-2)

/* ---- what a pointer points to ---- */

/* What lies elsewhere in this process, if device memory could not be mapped at its own address, are variables. */
static void *host_of(const void *pointer, enum gt_pointer_type type)
{
	return type == GT_POINTER_MANAGED ? gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), 1) : (void *)(uintptr_t)pointer;
}

static enum gt_pointer_type type_of(const void *pointer)
{
	static const enum gt_pointer_type types[] = {
		[GT_PTX_OF_DEVICE] = GT_POINTER_DEVICE, [GT_PTX_OF_HOST] = GT_POINTER_HOST, [GT_PTX_MANAGED] = GT_POINTER_MANAGED};
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(pointer), 1);

	return one ? types[one->kind] : GT_POINTER_UNREGISTERED;
}

/* Memory of the host counts as the first device's. */
static int device_of(const void *pointer)
{
	const struct gt_ptx_allocation *one = gt_ptx_containing(&gt_cudart.memory, gt_cudart_address(pointer), 1);

	if (!one)
		return NO_DEVICE;
	return one->owner == GT_PTX_EVERYONE ? 0 : (int)one->owner;
}

struct gt_pointer gt_cudart_pointer(const void *pointer)
{
	void *registered = gt_cudart_registered(pointer), *same = (void *)(uintptr_t)pointer;
	enum gt_pointer_type type = registered ? GT_POINTER_HOST : type_of(pointer);

	return (struct gt_pointer){
		.type = type,
		.device = device_of(registered ? registered : pointer),
		.device_pointer = type == GT_POINTER_UNREGISTERED ? NULL : registered ? registered : same,
		.host_pointer = type == GT_POINTER_DEVICE ? NULL : host_of(pointer, type),
	};
}
