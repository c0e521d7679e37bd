/* SPDX-License-Identifier: MIT */
/* The device's runtime: the functions that kernels call and that have no PTX, by name. They allocate from the heap, print, launch
 * kernels, and ask what a program asks the runtime. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"

/* ---- malloc and free ---- */

/* malloc and free of kernels: the lanes of a warp one after the other. What the hardware's allocator reads and writes itself is
 * not known, and not traced. */

static const struct gt_ptx_op *allocate(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask, bool aligned)
{
	const struct gt_ptx_call *call = op->with.call;
	struct gt_ptx_core *core = warp->core;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t bytes = gt_ptx_call_argument(warp, call, 0, lane), address = 0;
		uint64_t alignment = aligned ? gt_ptx_call_argument(warp, call, 1, lane) : GT_PTX_HEAP_UNIT;
		if ((alignment & (alignment - 1)) != 0)
			return gt_ptx_fault(warp, op, lane, "malloc aligned to %" PRIu64 " bytes, which is not a power of two",
					    alignment);
		if (gt_ptx_heap_take(core->memory, bytes, alignment, &address, core->error) != 0) {
			core->failed = true;
			return NULL;
		}
		gt_ptx_call_result(warp, call, lane, address);
	}
	return op + 1;
}

static const struct gt_ptx_op *step_malloc(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return allocate(warp, op, mask, false);
}

static const struct gt_ptx_op *step_malloc_aligned(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return allocate(warp, op, mask, true);
}

static const struct gt_ptx_op *step_free(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_core *core = warp->core;
	char text[GT_PTX_HEAP_TEXT];
	bool any = false;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t address = gt_ptx_call_argument(warp, op->with.call, 0, lane);
		if (address == 0)
			continue;
		if (gt_ptx_heap_give(core->memory, address) == 0) {
			any = true;
			continue;
		}
		bool inside = gt_ptx_in_heap(core->memory, address);
		gt_ptx_fault(warp, op, lane, "free of 0x%" PRIx64 "%s%s", address, inside ? " " : ", which is not in the device's heap",
			     inside ? gt_ptx_heap_describe(core->memory, address, text) : "");
		if (!gt_ptx_leave_out(warp, op))
			return NULL;
	}
	if (any)
		gt_ptx_forget_allocations(core->program, core->machine->module->n_functions);
	return op + 1;
}

/* ---- printf and assert ---- */

/* Output of kernels: printf and assert, which compilers call as vprintf and __assertfail. The arguments of vprintf are in a
 * buffer, each at a multiple of its size. */

#define SPECIFICATION 64 /* bytes of a conversion; longer ones are printed verbatim */
#define TEXT 1024	 /* bytes of a text; longer ones are cut */

static char letter_at(const struct gt_ptx_warp *warp, unsigned lane, uint64_t address)
{
	const unsigned char *letter = gt_ptx_place_at(warp, lane, address, 1);

	return letter ? (char)*letter : '\0';
}

/* The text at a generic address, up to its 0 or the end of the memory. */
static const char *text_at(const struct gt_ptx_warp *warp, unsigned lane, uint64_t address, char text[TEXT])
{
	size_t n = 0;

	while (n + 1 < TEXT && (text[n] = letter_at(warp, lane, address + n)) != '\0')
		n++;
	text[n] = '\0';
	return text;
}

/* The arguments of one lane's vprintf. */
struct arguments {
	const struct gt_ptx_warp *warp;
	unsigned lane;
	uint64_t next;
	int taken;
};

static uint64_t next_argument(struct arguments *arguments, unsigned bytes)
{
	uint64_t at = (arguments->next + bytes - 1) / bytes * bytes, value = 0;
	const unsigned char *place = gt_ptx_place_at(arguments->warp, arguments->lane, at, bytes);

	if (place)
		memcpy(&value, place, bytes);
	arguments->next = at + bytes;
	arguments->taken++;
	return value;
}

/* One conversion: the text between % and its letter, without length modifiers. */
struct conversion {
	char text[SPECIFICATION];
	size_t n;
	unsigned bytes; /* of an integer, from its length modifier */
	char letter;
};

static void put_number(struct conversion *conversion, int number)
{
	int length = snprintf(conversion->text + conversion->n, SPECIFICATION - conversion->n, "%d", number);

	conversion->n = length > 0 && conversion->n + (size_t)length < SPECIFICATION - 4 ? conversion->n + (size_t)length
											 : SPECIFICATION;
}

/* Reads a conversion after its %; returns its length, 0 if it is not one. */
static uint64_t read_conversion(struct arguments *arguments, uint64_t format, struct conversion *conversion)
{
	uint64_t at = 0;

	*conversion = (struct conversion){.text = "%", .n = 1, .bytes = 4};
	for (char letter; conversion->n < SPECIFICATION - 4; at++) {
		letter = letter_at(arguments->warp, arguments->lane, format + at);
		if (letter == '*')
			put_number(conversion, (int)next_argument(arguments, 4));
		else if (letter != '\0' && strchr("-+ #0123456789.", letter))
			conversion->text[conversion->n++] = letter;
		else if (letter != '\0' && strchr("ljzt", letter))
			conversion->bytes = 8;
		else if (letter == 'h')
			conversion->bytes = conversion->bytes == 2 ? 1 : 2;
		else {
			conversion->letter = letter;
			return letter != '\0' && strchr("diuoxXcpeEfFgGaAs%", letter) ? at + 1 : 0;
		}
	}
	return 0;
}

static void print_integer(struct arguments *arguments, struct conversion *conversion, FILE *to)
{
	uint64_t value = next_argument(arguments, conversion->bytes == 8 ? 8 : 4);
	unsigned unused = 64 - 8 * conversion->bytes;
	bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';

	if (is_signed)
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	else
		value = value << unused >> unused;
	snprintf(conversion->text + conversion->n, SPECIFICATION - conversion->n, "ll%c", conversion->letter);
	if (is_signed)
		fprintf(to, conversion->text, (long long)value);
	else
		fprintf(to, conversion->text, (unsigned long long)value);
}

static void print_conversion(struct arguments *arguments, struct conversion *conversion, FILE *to)
{
	char text[TEXT];
	double real;
	uint64_t bits;

	conversion->text[conversion->n] = conversion->letter;
	conversion->text[conversion->n + 1] = '\0';
	switch (conversion->letter) {
	case '%': fputc('%', to); break;
	case 'c': fprintf(to, conversion->text, (int)next_argument(arguments, 4)); break;
	case 's':
		fprintf(to, conversion->text, text_at(arguments->warp, arguments->lane, next_argument(arguments, 8), text));
		break;
	case 'p': fprintf(to, conversion->text, (void *)(uintptr_t)next_argument(arguments, 8)); break;
	case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
		print_integer(arguments, conversion, to);
		break;
	default:
		bits = next_argument(arguments, 8);
		memcpy(&real, &bits, sizeof real);
		fprintf(to, conversion->text, real);
	}
}

/* Compilers give no buffer to a call without arguments. */
static bool has_next(const struct arguments *arguments)
{
	return gt_ptx_place_at(arguments->warp, arguments->lane, (arguments->next + 3) / 4 * 4, 4) != NULL;
}

enum { NO_FORMAT = -1, NO_ARGUMENT = -2 };

/* The result of vprintf, the number of arguments used, or why there is none. */
static int print(struct arguments *arguments, uint64_t format, FILE *to)
{
	char letter;

	if (format == 0)
		return NO_FORMAT;
	while ((letter = letter_at(arguments->warp, arguments->lane, format++)) != '\0') {
		struct conversion conversion;
		uint64_t letters = letter == '%' ? read_conversion(arguments, format, &conversion) : 0;
		if (letters > 0 && conversion.letter != '%' && !has_next(arguments))
			return NO_ARGUMENT;
		if (letters > 0)
			print_conversion(arguments, &conversion, to);
		else
			fputc(letter, to);
		format += letters;
	}
	return arguments->taken;
}

static const struct gt_ptx_op *step_print(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;
	FILE *to = warp->core->launch->printed;

	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct arguments arguments = {.warp = warp, .lane = lane, .next = gt_ptx_call_argument(warp, call, 1, lane)};
		int taken = to ? print(&arguments, gt_ptx_call_argument(warp, call, 0, lane), to) : 0;
		if (taken == NO_ARGUMENT)
			return gt_ptx_fault(warp, op, lane, "printf of an argument at 0x%" PRIx64 ", where there is none", arguments.next);
		gt_ptx_call_result(warp, call, lane, (uint64_t)(int64_t)taken);
	}
	return op + 1;
}

/* The text is that of CUDA. */
static const struct gt_ptx_op *step_assert(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;
	struct gt_ptx_core *core = warp->core;
	char condition[TEXT], file[TEXT], function[TEXT];
	unsigned first = gt_ptx_lowest(mask);

	for (uint32_t m = mask; m && core->launch->asserted; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		fprintf(core->launch->asserted,
			"%s:%" PRIu32 ": %s: block: [%" PRIu32 ",%" PRIu32 ",%" PRIu32 "], thread: [%" PRIu32 ",%" PRIu32
			",%" PRIu32 "] Assertion `%s` failed.\n",
			text_at(warp, lane, gt_ptx_call_argument(warp, call, 1, lane), file), (uint32_t)gt_ptx_call_argument(warp, call, 2, lane),
			text_at(warp, lane, gt_ptx_call_argument(warp, call, 3, lane), function), core->ctaid[0], core->ctaid[1],
			core->ctaid[2], warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane],
			text_at(warp, lane, gt_ptx_call_argument(warp, call, 0, lane), condition));
	}
	core->ran->assertion_failed = true;
	return gt_ptx_fault(warp, op, first, "assertion '%.128s' does not hold",
			    text_at(warp, first, gt_ptx_call_argument(warp, call, 0, first), condition));
}

/* ---- what kernels ask ---- */

/* The other calls of CUDA's runtime in kernels: errors, streams, events, and what the device is. Launches run in the order in
 * which they were made, whatever their streams, so that events have nothing to wait for. */

/* Handles of streams and events. Those that CUDA defines: the default ones, tail launch, fire and forget. */
#define STREAMS 5
#define HANDLE UINT64_C(0x100)

/* Whether a handle is a stream or an event. */
static bool is_stream(uint64_t stream)
{
	return stream < STREAMS || stream == HANDLE;
}

/* The driver's functions have error codes of their own, which libcudadevrt translates. */
static int driver_code(int code)
{
	static const struct {
		int code, driver;
	} codes[] = {{GT_PTX_INVALID_VALUE, 1}, {GT_PTX_INVALID_CONFIGURATION, 7}, {GT_PTX_DEPTH_EXCEEDED, 5},
		     {GT_PTX_PENDING_EXCEEDED, 12}};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i].code == code)
			return codes[i].driver;
	return 0;
}

/* For calls that return an error: keeps it for cudaGetLastError, and gives it to the caller. */
static void give_code(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, int code)
{
	if (code != GT_PTX_OK)
		warp->last_error[lane] = code;
	gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)(op->choice ? driver_code(code) : code));
}

static const struct gt_ptx_op *step_last_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)warp->last_error[lane]);
		if (!op->choice) /* the driver's function leaves the error, and has another to set it */
			warp->last_error[lane] = 0;
	}
	return op + 1;
}

static const struct gt_ptx_op *step_peek_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		gt_ptx_call_result(warp, op->with.call, gt_ptx_lowest(m), (uint64_t)warp->last_error[gt_ptx_lowest(m)]);
	return op + 1;
}

static const struct gt_ptx_op *step_set_error(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		warp->last_error[lane] = (int)gt_ptx_call_argument(warp, op->with.call, 0, lane);
		gt_ptx_call_result(warp, op->with.call, lane, (uint64_t)warp->last_error[lane]);
	}
	return op + 1;
}

/* Writes a value where the first argument points to. */
static void tell(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t value, unsigned bytes)
{
	uint64_t address = gt_ptx_call_argument(warp, op->with.call, 0, lane);
	unsigned char *place = address ? gt_ptx_place_at(warp, lane, address, bytes) : NULL;

	if (place)
		memcpy(place, &value, bytes);
	give_code(warp, op, lane, place ? GT_PTX_OK : GT_PTX_INVALID_VALUE);
}

static const struct gt_ptx_op *step_create_handle(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), HANDLE, 8);
	return op + 1;
}

static const struct gt_ptx_op *step_use_handle(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		bool known = true;
		for (size_t i = 0; i < op->with.call->n_arguments && i < 2; i++)
			known &= is_stream(gt_ptx_call_argument(warp, op->with.call, i, lane));
		give_code(warp, op, lane, known ? GT_PTX_OK : GT_PTX_INVALID_VALUE);
	}
	return op + 1;
}

static const struct gt_ptx_op *step_count_devices(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), warp->core->launch->devices, 4);
	return op + 1;
}

static const struct gt_ptx_op *step_this_device(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1)
		tell(warp, op, gt_ptx_lowest(m), warp->core->launch->device, 4);
	return op + 1;
}

/* (value, number, ...): what the host's runtime says of the device. */
static const struct gt_ptx_op *ask(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask,
				   int (*answer)(unsigned number, uint64_t *value), unsigned bytes)
{
	if (!answer)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "a question about the device, which nothing is known of here");
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t value;
		if (answer((unsigned)gt_ptx_call_argument(warp, op->with.call, 1, lane), &value) == 0)
			tell(warp, op, lane, value, bytes);
		else
			give_code(warp, op, lane, GT_PTX_INVALID_VALUE);
	}
	return op + 1;
}

static const struct gt_ptx_op *step_ask_attribute(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return ask(warp, op, mask, warp->core->launch->attribute, 4);
}

static const struct gt_ptx_op *step_ask_limit(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return ask(warp, op, mask, warp->core->launch->limit, 8);
}

/* (handle, value): a handle is the address of its value. */
static const struct gt_ptx_op *step_set_condition(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		uint64_t handle = gt_ptx_call_argument(warp, op->with.call, 0, lane);
		uint32_t value = (uint32_t)gt_ptx_call_argument(warp, op->with.call, 1, lane);
		unsigned char *place = gt_ptx_at(warp->core->memory, handle, sizeof value);
		if (!place)
			return gt_ptx_fault(warp, op, lane, "cudaGraphSetConditional of 0x%" PRIx64 ", which is no handle", handle);
		memcpy(place, &value, sizeof value);
	}
	return op + 1;
}

/* ---- launches ---- */

#define MAX_SHARED (227 << 10) /* bytes of shared memory of a block, on any GPU */
#define TAIL_LAUNCH 3	       /* cudaStreamTailLaunch */

/* What a kernel asked for with a buffer. */
struct buffer {
	enum { FREE, ASKED, LAUNCHED } state;
	bool configured; /* what follows is known: by cudaGetParameterBufferV2 */
	struct gt_ptx_child child;
};

struct gt_ptx_pool {
	uint64_t address;
	size_t n, lowest; /* buffers; none below the lowest is free */
	size_t asked;	  /* that were, and not launched */
	struct buffer buffers[];
};

/* ---- the pool ---- */

int gt_ptx_pool_resize(struct gt_ptx_memory *memory, uint64_t pending)
{
	if (memory->pool || pending == 0 || pending > GT_PTX_PENDING_MAX)
		return -1;
	memory->pending = pending;
	return 0;
}

int gt_ptx_pool_open(struct gt_ptx_memory *memory, struct gt_error *error)
{
	uint64_t address;

	if (memory->pool)
		return 0;
	struct gt_ptx_pool *pool = calloc(1, sizeof *pool + memory->pending * sizeof pool->buffers[0]);
	if (!pool)
		return gt_fail_memory(error, "launches of kernels");
	if (gt_ptx_allocate(memory, memory->pending * GT_PTX_BUFFER_BYTES, GT_PTX_POOL_NAME, &address, error) != 0) {
		free(pool);
		return -1;
	}
	gt_ptx_wrote(memory, address, memory->pending * GT_PTX_BUFFER_BYTES);
	pool->address = address;
	pool->n = memory->pending;
	memory->pool = pool;
	return 0;
}

void gt_ptx_pool_close(struct gt_ptx_memory *memory)
{
	struct gt_error ignored;

	if (memory->pool)
		gt_ptx_free(memory, memory->pool->address, &ignored);
	free(memory->pool);
	memory->pool = NULL;
}

void gt_ptx_pool_give(struct gt_ptx_memory *memory, size_t buffer)
{
	struct gt_ptx_pool *pool = memory->pool;

	pool->buffers[buffer].state = FREE;
	pool->lowest = buffer < pool->lowest ? buffer : pool->lowest;
}

void gt_ptx_pool_end_launch(struct gt_ptx_memory *memory)
{
	struct gt_ptx_pool *pool = memory->pool;

	for (size_t i = 0; pool && pool->asked > 0 && i < pool->n; i++)
		if (pool->buffers[i].state == ASKED) {
			gt_ptx_pool_give(memory, i);
			pool->asked--;
		}
}

void gt_ptx_child_free(struct gt_ptx_child *child)
{
	free(child->parameters);
	free(child);
}

static void clear(struct gt_ptx_memory *memory, struct gt_ptx_children *children)
{
	while (children->first) {
		struct gt_ptx_child *next = children->first->next;
		gt_ptx_pool_give(memory, children->first->buffer);
		gt_ptx_child_free(children->first);
		children->first = next;
	}
	children->last = NULL;
}

void gt_ptx_launched_clear(struct gt_ptx_memory *memory, struct gt_ptx_launched *launched)
{
	clear(memory, &launched->children);
	clear(memory, &launched->tails);
	while (launched->graphs) {
		struct gt_ptx_graph_launch *next = launched->graphs->next;
		free(launched->graphs);
		launched->graphs = next;
	}
}

/* The buffer at an address that was given out for a launch; NULL if there is none. */
static struct buffer *buffer_at(struct gt_ptx_pool *pool, uint64_t address)
{
	uint64_t within = address - pool->address;

	if (within % GT_PTX_BUFFER_BYTES != 0 || within / GT_PTX_BUFFER_BYTES >= pool->n)
		return NULL;
	struct buffer *buffer = &pool->buffers[within / GT_PTX_BUFFER_BYTES];
	return buffer->state == ASKED ? buffer : NULL;
}

/* ---- what kernels call ---- */

/* The kernel of an address; NULL if it is none. */
static const struct gt_ptx_function *kernel_at(const struct gt_ptx_module *module, uint64_t address)
{
	uint64_t index = (address - GT_PTX_FUNCTION_BASE) / GT_PTX_FUNCTION_STEP;

	if (address < GT_PTX_FUNCTION_BASE || index >= module->n_functions)
		return NULL;
	const struct gt_ptx_function *function = &module->functions[index];
	return function->entry && !function->declaration ? function : NULL;
}

/* What the second interface's names begin with. */
#define SECOND "__cudaCDP2"
#define SECOND_SERVICE "__cuda_syscall_cnpv2"

static int check_shape(const struct gt_ptx_child *child)
{
	static const uint32_t grid_max[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX}, block_max[3] = {1024, 1024, 64};
	const struct gt_ptx_function *kernel = child->kernel;
	uint64_t threads = (uint64_t)child->block[0] * child->block[1] * child->block[2], most = GT_BLOCK_THREADS_MAX;

	if (!kernel)
		return GT_PTX_INVALID_VALUE;
	for (unsigned k = 0; k < 3; k++)
		if (child->grid[k] == 0 || child->grid[k] > grid_max[k] || child->block[k] == 0 || child->block[k] > block_max[k] ||
		    (kernel->required_threads[0] && child->block[k] != kernel->required_threads[k]))
			return GT_PTX_INVALID_CONFIGURATION;
	if (kernel->max_threads[0])
		most = (uint64_t)kernel->max_threads[0] * kernel->max_threads[1] * kernel->max_threads[2];
	return threads > most || child->dynamic_shared > MAX_SHARED ? GT_PTX_INVALID_CONFIGURATION : GT_PTX_OK;
}

/* Takes a buffer from the pool. Returns a code. Only the first interface has a limit of levels; a launch by the second is limited by
 * those that are pending, of which each of its ancestors is one, as on an H100. */
static int take_buffer(struct gt_ptx_pool *pool, const struct gt_ptx_launch *launch, const struct gt_ptx_call *call, struct buffer **taken)
{
	if (!call->second_interface && launch->depth >= GT_PTX_DEPTH_MAX)
		return GT_PTX_DEPTH_EXCEEDED;
	if (launch->depth >= pool->n)
		return GT_PTX_PENDING_EXCEEDED;
	while (pool->lowest < pool->n && pool->buffers[pool->lowest].state != FREE)
		pool->lowest++;
	if (pool->lowest == pool->n)
		return GT_PTX_PENDING_EXCEEDED;
	*taken = &pool->buffers[pool->lowest];
	**taken = (struct buffer){.state = ASKED, .child = {.parent = launch->number, .depth = launch->depth + 1,
							   .buffer = pool->lowest}};
	pool->asked++;
	return GT_PTX_OK;
}

static void read_shape(const unsigned char *place, uint32_t shape[3])
{
	if (place)
		memcpy(shape, place, 3 * sizeof shape[0]);
}

/* Gives a kernel the address of a buffer, or null and an error for cudaGetLastError. */
static void give_buffer(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, int code, const struct buffer *buffer)
{
	const struct gt_ptx_pool *pool = warp->core->memory->pool;

	if (code != GT_PTX_OK)
		warp->last_error[lane] = code;
	gt_ptx_call_result(warp, op->with.call, lane,
			   code == GT_PTX_OK ? pool->address + (uint64_t)(buffer - pool->buffers) * GT_PTX_BUFFER_BYTES : 0);
}

static const struct gt_ptx_op *refuse(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "a launch by a kernel, which is not supported here");
}

/* (kernel, grid, block, shared) */
static const struct gt_ptx_op *step_configured_buffer(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;
	struct gt_ptx_core *core = warp->core;

	if (!core->launch->launched)
		return refuse(warp, op, mask);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct gt_ptx_child asked = {.kernel = kernel_at(core->machine->module, gt_ptx_call_argument(warp, call, 0, lane)),
					     .dynamic_shared = (uint32_t)gt_ptx_call_argument(warp, call, 3, lane)};
		struct buffer *buffer = NULL;
		read_shape(gt_ptx_call_place(warp, call->arguments, call->n_arguments, 1, lane), asked.grid);
		read_shape(gt_ptx_call_place(warp, call->arguments, call->n_arguments, 2, lane), asked.block);
		int code = check_shape(&asked);
		if (code == GT_PTX_OK && gt_ptx_parameter_bytes(asked.kernel) > GT_PTX_BUFFER_BYTES)
			code = GT_PTX_INVALID_VALUE;
		if (code == GT_PTX_OK)
			code = take_buffer(core->memory->pool, core->launch, call, &buffer);
		if (code == GT_PTX_OK) {
			buffer->configured = true;
			buffer->child.kernel = asked.kernel;
			buffer->child.dynamic_shared = asked.dynamic_shared;
			memcpy(buffer->child.grid, asked.grid, sizeof asked.grid);
			memcpy(buffer->child.block, asked.block, sizeof asked.block);
		}
		give_buffer(warp, op, lane, code, buffer);
	}
	return op + 1;
}

/* (alignment, bytes) */
static const struct gt_ptx_op *step_plain_buffer(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	struct gt_ptx_core *core = warp->core;

	if (!core->launch->launched)
		return refuse(warp, op, mask);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct buffer *buffer = NULL;
		int code = gt_ptx_call_argument(warp, op->with.call, 1, lane) > GT_PTX_BUFFER_BYTES
				   ? GT_PTX_INVALID_VALUE
				   : take_buffer(core->memory->pool, core->launch, op->with.call, &buffer);
		give_buffer(warp, op, lane, code, buffer);
	}
	return op + 1;
}

/* Adds the launch to those of its parent. Returns a code; -1 when memory is short. */
static int launch_child(struct gt_ptx_core *core, struct buffer *buffer, uint64_t stream)
{
	struct gt_ptx_launched *launched = core->launch->launched;
	struct gt_ptx_children *to = stream == TAIL_LAUNCH ? &launched->tails : &launched->children;
	size_t bytes = gt_ptx_parameter_bytes(buffer->child.kernel);
	struct gt_ptx_child *child = malloc(sizeof *child);
	unsigned char *parameters = malloc(bytes + 1);

	if (!child || !parameters) {
		free(child);
		free(parameters);
		return gt_fail_memory(core->error, "launches of kernels");
	}
	memcpy(parameters, gt_ptx_at(core->memory, core->memory->pool->address + buffer->child.buffer * GT_PTX_BUFFER_BYTES, bytes),
	       bytes);
	*child = buffer->child;
	child->parameters = parameters;
	/* What a tail launches lies at the depth of the launch whose place it takes. */
	child->depth -= stream == TAIL_LAUNCH;
	*(to->last ? &to->last->next : &to->first) = child;
	to->last = child;
	buffer->state = LAUNCHED;
	core->memory->pool->asked--;
	return GT_PTX_OK;
}

/* Hands the result of a launch to its lane; false when memory is short. */
static bool launch_lane(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, struct buffer *buffer, uint64_t stream)
{
	struct gt_ptx_core *core = warp->core;
	int code = buffer && is_stream(stream) ? check_shape(&buffer->child) : GT_PTX_INVALID_VALUE;

	if (code == GT_PTX_OK)
		code = launch_child(core, buffer, stream);
	if (code < 0)
		core->failed = true;
	else
		give_code(warp, op, lane, code);
	return code >= 0;
}

/* (buffer, stream) */
static const struct gt_ptx_op *step_launch_configured(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;

	if (!warp->core->launch->launched)
		return refuse(warp, op, mask);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct buffer *buffer = buffer_at(warp->core->memory->pool, gt_ptx_call_argument(warp, call, 0, lane));
		if (!launch_lane(warp, op, lane, buffer && buffer->configured ? buffer : NULL,
				 gt_ptx_call_argument(warp, call, 1, lane)))
			return NULL;
	}
	return op + 1;
}

/* (kernel, buffer, grid, block, shared, stream); the driver's function has addresses of grid and block. */
static const struct gt_ptx_op *step_launch_plain(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_call *call = op->with.call;
	struct gt_ptx_core *core = warp->core;

	if (!core->launch->launched)
		return refuse(warp, op, mask);
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		struct buffer *buffer = buffer_at(core->memory->pool, gt_ptx_call_argument(warp, call, 1, lane));
		for (unsigned i = 0; buffer && i < 2; i++) {
			const unsigned char *place = gt_ptx_call_place(warp, call->arguments, call->n_arguments, 2 + i, lane);
			if (op->choice)
				place = gt_ptx_place_at(warp, lane, gt_ptx_call_argument(warp, call, 2 + i, lane), 12);
			read_shape(place, i == 0 ? buffer->child.grid : buffer->child.block);
		}
		if (buffer) {
			buffer->child.kernel = kernel_at(core->machine->module, gt_ptx_call_argument(warp, call, 0, lane));
			buffer->child.dynamic_shared = (uint32_t)gt_ptx_call_argument(warp, call, 4, lane);
		}
		if (!launch_lane(warp, op, lane, buffer, gt_ptx_call_argument(warp, call, 5, lane)))
			return NULL;
	}
	return op + 1;
}

/* (graph, stream): a kernel may launch a graph once. */
static const struct gt_ptx_op *step_launch_graph(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_launch *launch = warp->core->launch;

	if (!launch->launched || !launch->may_launch)
		return gt_ptx_fault(warp, op, gt_ptx_lowest(mask), "cudaGraphLaunch by a kernel that is in no graph: CUDA lets kernels of graphs alone launch graphs");
	for (uint32_t m = mask; m; m &= m - 1) {
		unsigned lane = gt_ptx_lowest(m);
		const uint64_t graph = gt_ptx_call_argument(warp, op->with.call, 0, lane), stream = gt_ptx_call_argument(warp, op->with.call, 1, lane);
		struct gt_ptx_graph_launch **last = &launch->launched->graphs;
		int code = launch->may_launch(graph, stream);
		for (; *last; last = &(*last)->next)
			if ((*last)->graph == graph)
				code = GT_PTX_INVALID_VALUE;
		if (code == GT_PTX_OK) {
			*last = malloc(sizeof **last);
			if (!*last) {
				gt_fail_memory(warp->core->error, "launches of graphs");
				warp->core->failed = true;
				return NULL;
			}
			**last = (struct gt_ptx_graph_launch){.graph = graph, .stream = stream};
		}
		give_code(warp, op, lane, code);
	}
	return op + 1;
}

/* ---- functions by name ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct gt_ptx_runtime_function plain[] = {
	{"vprintf", step_print, false, false},
	{"__assertfail", step_assert, false, false},
	{"malloc", step_malloc, true, false},
	{"__nv_aligned_device_malloc", step_malloc_aligned, true, false},
	{"__cuda_syscall_aligned_malloc", step_malloc_aligned, true, false},
	{"free", step_free, true, false},
	{"cudaGraphSetConditional", step_set_condition, false, false},
	{"cudaGraphLaunch", step_launch_graph, false, false},
};

/* What CUDA's runtime calls in a kernel, or what kernels call where it is not linked. */
static const struct gt_ptx_runtime_function shared[] = {
	{"GetParameterBufferV2", step_configured_buffer, false, true},
	{"LaunchDeviceV2", step_launch_configured, false, true},
	{"GetParameterBuffer", step_plain_buffer, false, true},
	{"LaunchDevice", step_launch_plain, false, true},
	{"GetLastError", step_last_error, false, false},
	{"StreamDestroy", step_use_handle, false, false},
	{"StreamWaitEvent", step_use_handle, false, false},
	{"EventRecord", step_use_handle, false, false},
	{"EventDestroy", step_use_handle, false, false},
	{"GetDevice", step_this_device, false, false},
	{"GetDeviceCount", step_count_devices, false, false},
	{"DeviceGetAttribute", step_ask_attribute, false, false},
}, of_driver[] = {
	{"SetLastError", step_set_error, false, false},
	{"StreamCreate", step_create_handle, false, false},
	{"EventCreate", step_create_handle, false, false},
	{"GetLimit", step_ask_limit, false, false},
}, of_runtime[] = {
	{"PeekAtLastError", step_peek_error, false, false},
	{"StreamCreateWithFlags", step_create_handle, false, false},
	{"EventCreateWithFlags", step_create_handle, false, false},
	{"DeviceGetLimit", step_ask_limit, false, false},
	{"LaunchDeviceV2_ptsz", step_launch_configured, false, true},
	{"LaunchDevice_ptsz", step_launch_plain, false, true},
	{"StreamWaitEvent_ptsz", step_use_handle, false, false},
	{"EventRecord_ptsz", step_use_handle, false, false},
};

static const struct family {
	const char *prefix;
	bool driver;
	const struct gt_ptx_runtime_function *services;
	size_t n;
} families[] = {
	{"", false, plain, LENGTH(plain)},
	{SECOND_SERVICE, true, shared, LENGTH(shared)},
	{SECOND_SERVICE, true, of_driver, LENGTH(of_driver)},
	{"cnp", true, shared, LENGTH(shared)},
	{"cnp", true, of_driver, LENGTH(of_driver)},
	{SECOND, false, shared, LENGTH(shared)},
	{SECOND, false, of_runtime, LENGTH(of_runtime)},
	{"cuda", false, shared, LENGTH(shared)},
	{"cuda", false, of_runtime, LENGTH(of_runtime)},
};

bool gt_ptx_runtime_is_second(const char *name)
{
	return strncmp(name, SECOND, sizeof SECOND - 1) == 0 || strncmp(name, SECOND_SERVICE, sizeof SECOND_SERVICE - 1) == 0;
}

const struct gt_ptx_runtime_function *gt_ptx_runtime_function_named(const char *name, bool *driver)
{
	for (const struct family *family = families; family < families + LENGTH(families); family++) {
		size_t prefix = strlen(family->prefix);
		if (strncmp(name, family->prefix, prefix) != 0)
			continue;
		*driver = family->driver;
		for (size_t i = 0; i < family->n; i++)
			if (strcmp(name + prefix, family->services[i].name) == 0)
				return &family->services[i];
	}
	return NULL;
}
