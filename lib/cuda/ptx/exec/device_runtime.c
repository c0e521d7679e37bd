/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"

/* ---- malloc ---- */

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

/* ---- print ---- */

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

/* The result of vprintf: the number of arguments used, -1 without a format. */
static int print(struct arguments *arguments, uint64_t format, FILE *to)
{
	char letter;

	if (format == 0)
		return -1;
	while ((letter = letter_at(arguments->warp, arguments->lane, format++)) != '\0') {
		struct conversion conversion;
		uint64_t letters = letter == '%' ? read_conversion(arguments, format, &conversion) : 0;
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

/* ---- service ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct gt_ptx_service plain[] = {
	{"vprintf", step_print, false, false},
	{"__assertfail", step_assert, false, false},
	{"malloc", step_malloc, true, false},
	{"__nv_aligned_device_malloc", step_malloc_aligned, true, false},
	{"__cuda_syscall_aligned_malloc", step_malloc_aligned, true, false},
	{"free", step_free, true, false},
	{"cudaGraphSetConditional", gt_ptx_set_condition, false, false},
};

/* What CUDA's runtime calls in a kernel, or what kernels call where it is not linked. */
static const struct gt_ptx_service shared[] = {
	{"GetParameterBufferV2", gt_ptx_configured_buffer, false, true},
	{"LaunchDeviceV2", gt_ptx_launch_configured, false, true},
	{"GetParameterBuffer", gt_ptx_plain_buffer, false, true},
	{"LaunchDevice", gt_ptx_launch_plain, false, true},
	{"GetLastError", gt_ptx_last_error, false, false},
	{"StreamDestroy", gt_ptx_use_handle, false, false},
	{"StreamWaitEvent", gt_ptx_use_handle, false, false},
	{"EventRecord", gt_ptx_use_handle, false, false},
	{"EventDestroy", gt_ptx_use_handle, false, false},
	{"GetDevice", gt_ptx_this_device, false, false},
	{"GetDeviceCount", gt_ptx_count_devices, false, false},
	{"DeviceGetAttribute", gt_ptx_ask_attribute, false, false},
}, of_driver[] = {
	{"SetLastError", gt_ptx_set_error, false, false},
	{"StreamCreate", gt_ptx_create_handle, false, false},
	{"EventCreate", gt_ptx_create_handle, false, false},
	{"GetLimit", gt_ptx_ask_limit, false, false},
}, of_runtime[] = {
	{"PeekAtLastError", gt_ptx_peek_error, false, false},
	{"StreamCreateWithFlags", gt_ptx_create_handle, false, false},
	{"EventCreateWithFlags", gt_ptx_create_handle, false, false},
	{"DeviceGetLimit", gt_ptx_ask_limit, false, false},
	{"LaunchDeviceV2_ptsz", gt_ptx_launch_configured, false, true},
	{"LaunchDevice_ptsz", gt_ptx_launch_plain, false, true},
	{"StreamWaitEvent_ptsz", gt_ptx_use_handle, false, false},
	{"EventRecord_ptsz", gt_ptx_use_handle, false, false},
};

static const struct family {
	const char *prefix;
	bool driver;
	const struct gt_ptx_service *services;
	size_t n;
} families[] = {
	{"", false, plain, LENGTH(plain)},
	{"__cuda_syscall_cnpv2", true, shared, LENGTH(shared)},
	{"__cuda_syscall_cnpv2", true, of_driver, LENGTH(of_driver)},
	{"cnp", true, shared, LENGTH(shared)},
	{"cnp", true, of_driver, LENGTH(of_driver)},
	{"__cudaCDP2", false, shared, LENGTH(shared)},
	{"__cudaCDP2", false, of_runtime, LENGTH(of_runtime)},
	{"cuda", false, shared, LENGTH(shared)},
	{"cuda", false, of_runtime, LENGTH(of_runtime)},
};

const struct gt_ptx_service *gt_ptx_service_named(const char *name, bool *driver)
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
