/* SPDX-License-Identifier: MIT */
/* Loads a registered fat binary: makes a machine that can execute its kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/runtime.h"
#include "ptx/fatbin/cubin.h"
#include "ptx/fatbin/fatbin.h"
#include "ptx/launch/run.h"
#include "ptx/text/link.h"

/* Adds the PTX of one container, if it has any. */
static void add_ptx(struct gt_fat *fat, const void *data, struct gt_ptx_text *to)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;
	size_t bytes;

	int found = gt_fatbin_open(&fatbin, data, gt_cudart_readable(data), &error);
	if (found == 0)
		found = gt_fatbin_choose(&fatbin, GT_FATBIN_PTX, 0, &entry, &error);
	char *text = found == 1 ? gt_fatbin_unpack(&entry, &bytes, &error) : NULL;
	if (found < 0 || (found == 1 && !text))
		gt_cudart_stop("%s: %s", fat->name, error.text);
	if (!text)
		return;
	if (gt_ptx_link(to, text, bytes, &error) != 0)
		gt_cudart_stop("%s", error.text);
	free(text);
}

/* The cubin is used for the number of registers only, so it may be missing. */
static void take_cubin(struct gt_fat *fat)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;

	int found = gt_fatbin_open(&fatbin, fat->data, gt_cudart_readable(fat->data), &error);
	if (found == 0)
		found = gt_fatbin_choose(&fatbin, GT_FATBIN_ELF, gt_cudart_capability(), &entry, &error);
	if (found == 1)
		fat->cubin = gt_fatbin_unpack(&entry, &fat->cubin_bytes, &error);
	if (found < 0 || (found == 1 && !fat->cubin))
		gt_cudart_stop("%s: %s", fat->name, error.text);
}

/* For --ptx, writes the text whose lines messages and pc refer to: DIR/1.ptx is "PTX 1". */
static void write_ptx(const struct gt_fat *fat, const struct gt_ptx_text *text)
{
	char path[GT_TRACING_PATH + 32];

	if (!gt_cudart.record.tracing.ptx)
		return;
	snprintf(path, sizeof path, "%s/%s.ptx", gt_cudart.record.tracing.ptx, fat->name + strlen("PTX "));
	FILE *file = fopen(path, "w");
	bool written = file && fwrite(text->data, 1, text->bytes, file) == text->bytes;
	if ((file && fclose(file) != 0) || !written)
		gt_cudart_stop("%s: %s", path, strerror(errno));
}

static void fill_managed(const struct gt_fat *fat)
{
	struct gt_error error;
	uint64_t address, bytes;

	for (struct gt_symbol *symbol = gt_cudart.symbols; symbol; symbol = symbol->next) {
		if (symbol->fat != fat || !symbol->managed)
			continue;
		if (gt_ptx_symbol(fat->machine, symbol->name, &address, &bytes, &error) != 0)
			gt_cudart_stop("%s", error.text);
		*symbol->managed = gt_ptx_at(&gt_cudart.memory, address, bytes);
	}
}

static void say(void *context, const char *text)
{
	(void)context;
	gt_cudart_say("%s", text);
}

void gt_cudart_load(struct gt_fat *fat)
{
	static struct gt_ptx_notes notes = {.say = say};
	struct gt_ptx_text text = {0};
	struct gt_error error;

	if (fat->machine)
		return;
	if (fat->prelinked && fat->prelinked[0])
		for (size_t i = 0; fat->prelinked[i]; i++)
			add_ptx(fat, fat->prelinked[i], &text);
	else
		add_ptx(fat, fat->data, &text);
	if (text.bytes == 0)
		gt_cudart_stop("the program has no PTX, only machine code: build it with -arch=sm_75, "
			       "or add -gencode arch=compute_75,code=compute_75");
	take_cubin(fat);
	write_ptx(fat, &text);
	if (gt_ptx_parse(&fat->module, fat->name, text.data, text.bytes, &error) != 0)
		gt_cudart_stop("%s", error.text);
	if (!fat->cubin && gt_cudart.record.tracing.ptxas)
		fat->cubin = gt_cudart_assemble(fat->name, text.data, text.bytes,
						fat->module.target > gt_cudart_capability() ? fat->module.target
											    : gt_cudart_capability(),
						&fat->cubin_bytes);
	free(text.data);
	fat->machine = gt_ptx_machine_open(&fat->module, &gt_cudart.memory, fat->name, &error);
	if (!fat->machine)
		gt_cudart_stop("%s", error.text);
	gt_ptx_machine_notes(fat->machine, &notes);
	gt_ptx_machine_full_registers(fat->machine, gt_limits_full_registers(&gt_cudart.limits));
	fill_managed(fat);
}

/* ---- kernels and variables ---- */

static void load_registers(struct gt_function *function)
{
	struct gt_cubin_kernel about;
	struct gt_error error;
	const struct gt_fat *fat = function->fat;

	if (fat->cubin && gt_cubin_find(fat->cubin, fat->cubin_bytes, function->name, &about, &error) == 1)
		function->registers = about.registers;
	if (gt_ptx_registers_of(fat->machine, function->kernel, function->registers, &function->registers,
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
	function->static_shared = gt_ptx_static_shared(function->fat->machine, function->kernel);
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
	return gt_ptx_symbol(symbol->fat->machine, symbol->name, address, bytes, &error) == 0 ? CUDA_SUCCESS
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
