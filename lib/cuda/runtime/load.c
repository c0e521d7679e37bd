/* SPDX-License-Identifier: MIT */
/* Loads a registered fat binary: makes a machine that can execute its kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_file.h"
#include "cuda/runtime/contexts.h"
#include "cuda/runtime/runtime.h"
#include "cuda/ptx/fatbin/fatbin.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/text/module.h"

/* A cubin by itself: an ELF file. */
static bool is_cubin(const void *data)
{
	static const unsigned char magic[] = {0x7f, 'E', 'L', 'F'};

	return gt_cudart_readable(data) >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* Adds the PTX of one container, if it has any. Returns a code. */
static int add_ptx(const void *data, struct gt_ptx_text *to, struct gt_error *error)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	size_t bytes;

	int found = gt_fatbin_open(&fatbin, data, gt_cudart_readable(data), error);
	if (found == 0)
		found = gt_fatbin_choose(&fatbin, GT_FATBIN_PTX, 0, &entry, error);
	char *text = found == 1 ? gt_fatbin_unpack(&entry, &bytes, error) : NULL;
	if (found < 0 || (found == 1 && !text))
		return CUDA_INVALID_KERNEL_IMAGE;
	if (!text)
		return CUDA_SUCCESS;
	int failed = gt_ptx_link(to, text, bytes, error);
	free(text);
	return failed ? CUDA_INVALID_PTX : CUDA_SUCCESS;
}

static int gather_ptx(const struct gt_fat *fat, struct gt_ptx_text *to, struct gt_error *error)
{
	const void *const single[] = {fat->data, NULL};
	const void *const *containers = fat->prelinked && fat->prelinked[0] ? fat->prelinked : single;
	int code = CUDA_SUCCESS;

	for (size_t i = 0; containers[i] && code == CUDA_SUCCESS; i++)
		if (!is_cubin(containers[i]))
			code = add_ptx(containers[i], to, error);
	if (code == CUDA_SUCCESS && to->bytes == 0) {
		gt_fail(error, "no PTX, only machine code: build it with -arch=sm_75, "
			       "or add -gencode arch=compute_75,code=compute_75");
		code = CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
	}
	return code;
}

/* The cubin is used for the number of registers only, so it may be missing. Returns a code. */
static int take_cubin(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;

	int found = gt_fatbin_open(&fatbin, fat->data, gt_cudart_readable(fat->data), error);
	if (found == 0)
		found = gt_fatbin_choose(&fatbin, GT_FATBIN_ELF, gt_cudart_capability(), &entry, error);
	if (found == 1)
		fat->cubin = gt_fatbin_unpack(&entry, &fat->cubin_bytes, error);
	return found < 0 || (found == 1 && !fat->cubin) ? CUDA_INVALID_KERNEL_IMAGE : CUDA_SUCCESS;
}

/* For --ptx, writes the text whose lines messages and pc refer to: DIR/1.ptx is "PTX 1". */
static void write_ptx(const struct gt_fat *fat, const struct gt_ptx_text *text)
{
	char path[GT_TRACING_PATH + 32];
	struct gt_error error;

	if (!gt_cudart.record.tracing.ptx)
		return;
	snprintf(path, sizeof path, "%s/%s.ptx", gt_cudart.record.tracing.ptx, fat->name + strlen("PTX "));
	if (gt_whole_file_write(path, text->data, text->bytes, "the PTX", &error) != 0)
		gt_cudart_stop("%s", error.text);
}

static void fill_managed(const struct gt_fat *fat)
{
	struct gt_error error;
	uint64_t address, bytes;

	for (struct gt_symbol *symbol = gt_cudart.symbols; symbol; symbol = symbol->next) {
		if (symbol->fat != fat || !symbol->managed)
			continue;
		if (gt_cudart_devices() > 1)
			gt_cudart_stop("%s: the managed variable '%s' and more than one device: this is not supported", fat->name, symbol->name);
		if (gt_ptx_symbol(fat->machines[0], symbol->name, &address, &bytes, &error) != 0)
			gt_cudart_stop("%s", error.text);
		*symbol->managed = gt_ptx_at(&gt_cudart.memory, address, bytes);
	}
}

static void say(void *context, const char *text)
{
	(void)context;
	gt_cudart_say("%s", text);
}

/* Makes the machine of a module on the device of this thread, which has variables of its own. Returns a code. */
static int make_machine(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_ptx_notes *notes = &gt_cudart.notes;
	struct gt_ptx_machine **machine = &fat->machines[gt_cudart_device()];

	gt_cudart.memory.owner = (unsigned)gt_cudart_device();
	*machine = gt_ptx_machine_open(&fat->module, &gt_cudart.memory, fat->name, error);
	if (!*machine)
		return CUDA_INVALID_PTX;
	notes->say = notes->fault = say;
	notes->quiet = gt_cudart.record.quiet;
	gt_ptx_machine_notes(*machine, notes);
	gt_ptx_machine_full_registers(*machine, gt_limits_full_registers(&gt_cudart.limits));
	return CUDA_SUCCESS;
}

/* Parses a module, and makes its first machine. Returns a code. */
static int make(struct gt_fat *fat, const struct gt_ptx_text *text, struct gt_error *error)
{
	unsigned capability = gt_cudart_capability();

	if (gt_ptx_parse(&fat->module, fat->name, text->data, text->bytes, error) != 0)
		return CUDA_INVALID_PTX;
	if (!fat->cubin && gt_cudart.record.tracing.ptxas)
		fat->cubin = gt_cudart_assemble(fat->name, text->data, text->bytes,
						fat->module.target > capability ? fat->module.target : capability,
						&fat->cubin_bytes);
	return make_machine(fat, error);
}

int gt_cudart_try_load(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_ptx_text text = {0};
	struct gt_error reason;

	if (fat->loaded)
		return CUDA_SUCCESS;
	int code = gather_ptx(fat, &text, &reason);
	if (code == CUDA_SUCCESS)
		code = take_cubin(fat, &reason);
	if (code != CUDA_SUCCESS)
		gt_fail(error, "%s: %s", fat->name, reason.text);
	if (code == CUDA_SUCCESS) {
		write_ptx(fat, &text);
		code = make(fat, &text, error);
	}
	free(text.data);
	fat->loaded = code == CUDA_SUCCESS;
	if (code == CUDA_SUCCESS)
		fill_managed(fat);
	else
		gt_cudart_unload(fat);
	return code;
}

void gt_cudart_unload(struct gt_fat *fat)
{
	for (size_t i = 0; i < GT_TRACING_DEVICES; i++) {
		gt_ptx_machine_close(fat->machines[i]);
		fat->machines[i] = NULL;
	}
	gt_ptx_module_free(&fat->module);
	free(fat->cubin);
	fat->cubin = NULL;
	fat->loaded = false;
}

void gt_cudart_load(struct gt_fat *fat)
{
	struct gt_error error;

	if (gt_cudart_try_load(fat, &error) != CUDA_SUCCESS)
		gt_cudart_stop("%s", error.text);
}

struct gt_ptx_machine *gt_cudart_machine(struct gt_fat *fat)
{
	struct gt_error error;

	if (!fat->machines[gt_cudart_device()] && make_machine(fat, &error) != CUDA_SUCCESS)
		gt_cudart_stop("%s", error.text);
	return fat->machines[gt_cudart_device()];
}

/* ---- kernels and variables ---- */

uint32_t gt_cudart_machine_registers(const struct gt_fat *fat, const char *name)
{
	struct gt_cubin_kernel about;
	struct gt_error error;

	return fat->cubin && gt_cubin_find(fat->cubin, fat->cubin_bytes, name, &about, &error) == 1 ? about.registers : 0;
}

static void load_registers(struct gt_function *function)
{
	struct gt_error error;
	struct gt_fat *fat = function->fat;

	function->registers = gt_cudart_machine_registers(fat, function->name);
	if (gt_ptx_registers_of(gt_cudart_machine(fat), function->kernel, function->registers, &function->registers,
			     &function->registers_estimated, &error) != 0)
		gt_cudart_stop("%s", error.text);
}

struct gt_function *gt_cudart_find_function(const void *host)
{
	struct gt_function *function = gt_cudart.functions;

	/* Programs built by nvcc pass the handle from __cudaGetKernel. */
	while (function && function->host != host && (const void *)function != host)
		function = function->next;
	return function;
}

struct gt_function *gt_cudart_function(const void *host)
{
	struct gt_function *function = gt_cudart_find_function(host);

	if (!function || function->kernel)
		return function;
	gt_cudart_load(function->fat);
	function->kernel = gt_ptx_function_named(&function->fat->module, function->name);
	if (!function->kernel || !function->kernel->entry)
		gt_cudart_stop("kernel %s is not in the program's PTX", function->name);
	function->static_shared = gt_ptx_static_shared(gt_cudart_machine(function->fat), function->kernel);
	load_registers(function);
	return function;
}

int gt_cudart_symbol(const void *host, uint64_t *address, uint64_t *bytes)
{
	struct gt_symbol *symbol = gt_cudart.symbols;
	struct gt_error error;

	while (symbol && symbol->host != host)
		symbol = symbol->next;
	if (!symbol)
		return CUDA_INVALID_SYMBOL;
	gt_cudart_load(symbol->fat);
	return gt_ptx_symbol(gt_cudart_machine(symbol->fat), symbol->name, address, bytes, &error) == 0 ? CUDA_SUCCESS
											       : CUDA_INVALID_SYMBOL;
}

int gt_cudart_part_of_symbol(const void *symbol, size_t bytes, size_t offset, void **pointer)
{
	uint64_t address, size;
	int code = gt_cudart_symbol(symbol, &address, &size);

	if (code != CUDA_SUCCESS)
		return code;
	if (offset > size || bytes > size - offset)
		return CUDA_INVALID_VALUE;
	*pointer = (void *)(uintptr_t)(address + offset);
	return CUDA_SUCCESS;
}
