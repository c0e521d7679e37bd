/* SPDX-License-Identifier: MIT */
/* Binds a launch to its kernel: creates buffers and writes parameters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/whole_file.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/launch/launch.h"

void gt_ptx_buffers_free(struct gt_ptx_buffers *buffers)
{
	free(buffers->items);
	*buffers = (struct gt_ptx_buffers){0};
}

const struct gt_ptx_buffer *gt_ptx_buffer_find(const struct gt_ptx_buffers *buffers, const char *name)
{
	for (size_t i = 0; i < buffers->n; i++)
		if (strcmp(buffers->items[i].name, name) == 0)
			return &buffers->items[i];
	return NULL;
}

static int add_buffer(struct gt_ptx_buffers *buffers, const struct gt_ptx_buffer *buffer, struct gt_error *error)
{
	struct gt_ptx_buffer *items = gt_grown(buffers->items, buffers->n, &buffers->capacity, sizeof *items);

	if (!items)
		return gt_fail_memory(error, "a launch");
	buffers->items = items;
	buffers->items[buffers->n] = *buffer;
	buffers->items[buffers->n++].file = NULL; /* stays the call's */
	return 0;
}

static int make_buffer(struct gt_ptx_buffer *buffer, size_t number, struct gt_ptx_buffers *buffers,
		       struct gt_ptx_memory *memory, struct gt_error *error)
{
	unsigned size = gt_ptx_type_size(buffer->type);
	char name[GT_PTX_LAUNCH_NAME];
	uint64_t bytes;

	if (buffer->name[0] && gt_ptx_buffer_find(buffers, buffer->name))
		return gt_fail(error, "'%s' has been made before; its name alone refers to it", buffer->name);
	if (buffer->elements == 0) {
		if (gt_ptx_file_bytes(buffer->file, &bytes, error) != 0)
			return -1;
		if (bytes == 0 || bytes % size != 0)
			return gt_fail(error, "%s: %" PRIu64 " bytes are not a whole number of .%s", buffer->file, bytes,
				       gt_ptx_type_name(buffer->type));
		buffer->elements = bytes / size;
	}
	bytes = buffer->elements * size;
	snprintf(name, sizeof name, "argument %zu", number);
	if (gt_ptx_allocate(memory, bytes, buffer->name[0] ? buffer->name : name, &buffer->address, error) != 0)
		return -1;
	if (gt_ptx_buffer_fill(buffer, gt_ptx_at(memory, buffer->address, bytes), error) != 0)
		return -1;
	return add_buffer(buffers, buffer, error);
}

/* The bits of an argument for a parameter that is a single number. */
static int argument_bits(struct gt_ptx_argument *argument, size_t number, const struct gt_ptx_variable *parameter,
			 struct gt_ptx_buffers *buffers, struct gt_ptx_memory *memory, uint64_t *bits,
			 struct gt_error *error)
{
	if (argument->kind == GT_PTX_ARGUMENT_NUMBER)
		return gt_ptx_value_bits(&argument->value, parameter->type, bits, error);
	if (parameter->bytes != 8 || parameter->type == GT_PTX_F64)
		return gt_fail(error, "a buffer for a parameter of type .%s, which is not a pointer",
			       gt_ptx_type_name(parameter->type));
	if (argument->kind == GT_PTX_ARGUMENT_BUFFER) {
		if (make_buffer(&argument->buffer, number, buffers, memory, error) != 0)
			return -1;
		*bits = argument->buffer.address;
		return 0;
	}
	const struct gt_ptx_buffer *buffer = gt_ptx_buffer_find(buffers, argument->name);
	if (!buffer)
		return gt_fail(error, "no buffer '%s' was made before", argument->name);
	*bits = buffer->address;
	return 0;
}

static int write_parameter(struct gt_ptx_argument *argument, size_t number, const struct gt_ptx_variable *parameter,
			   struct gt_ptx_buffers *buffers, struct gt_ptx_memory *memory, unsigned char *to,
			   struct gt_error *error)
{
	uint64_t bits = 0;

	if (argument->kind == GT_PTX_ARGUMENT_BYTES) {
		if (argument->n_bytes != parameter->bytes)
			return gt_fail(error, "%zu bytes for a parameter of %" PRIu64, argument->n_bytes, parameter->bytes);
		memcpy(to, argument->bytes, argument->n_bytes);
		return 0;
	}
	if (parameter->elements != 1 || parameter->vector != 1)
		return gt_fail(error, "a parameter of %" PRIu64 " bytes is written hex(...)", parameter->bytes);
	if (argument_bits(argument, number, parameter, buffers, memory, &bits, error) != 0)
		return -1;
	for (uint64_t i = 0; i < parameter->bytes && i < 8; i++)
		to[i] = (unsigned char)(bits >> (8 * i));
	return 0;
}

static int check_block(const struct gt_ptx_launch_line *call, const struct gt_ptx_function *kernel, struct gt_error *error)
{
	const uint32_t *block = call->block, *required = kernel->required_threads, *most = kernel->max_threads;

	if (required[0] && memcmp(block, required, sizeof call->block) != 0)
		return gt_fail(error, "%s: blocks of (%u,%u,%u), its .reqntid is (%u,%u,%u)", call->kernel, block[0], block[1],
			       block[2], required[0], required[1], required[2]);
	if (most[0] && (uint64_t)block[0] * block[1] * block[2] > (uint64_t)most[0] * most[1] * most[2])
		return gt_fail(error, "%s: blocks of %u threads, its .maxntid allows %" PRIu64, call->kernel,
			       block[0] * block[1] * block[2], (uint64_t)most[0] * most[1] * most[2]);
	return 0;
}

int gt_ptx_launch_line_bind(struct gt_ptx_launch_line *call, const struct gt_ptx_module *module, struct gt_ptx_buffers *buffers,
		     struct gt_ptx_memory *memory, const struct gt_ptx_function **found, unsigned char **parameters,
		     struct gt_error *error)
{
	const struct gt_ptx_function *kernel = gt_ptx_kernel(module, call->kernel);
	struct gt_error inner;

	*found = kernel;
	*parameters = NULL;
	if (!kernel)
		return gt_fail(error, "no kernel, or several, named '%.200s' (--list shows them)", call->kernel);
	if (call->n != kernel->n_parameters)
		return gt_fail(error, "%s: %zu arguments, the kernel has %zu parameters", call->kernel, call->n,
			       kernel->n_parameters);
	if (check_block(call, kernel, error) != 0)
		return -1;
	*parameters = calloc(1, gt_ptx_parameter_bytes(kernel) + 1);
	if (!*parameters)
		return gt_fail_memory(error, "parameters");
	for (size_t i = 0; i < call->n; i++)
		if (write_parameter(&call->arguments[i], i + 1, &kernel->parameters[i], buffers, memory,
				    *parameters + gt_ptx_parameter_offset(kernel, i), &inner) != 0)
			return gt_fail(error, "%s, argument %zu, '%.40s': %s", call->kernel, i + 1,
				       call->line + call->arguments[i].place, inner.text);
	return 0;
}

int gt_ptx_buffer_dump(const struct gt_ptx_buffers *buffers, struct gt_ptx_memory *memory, const char *name,
		       const char *path, struct gt_error *error)
{
	const struct gt_ptx_buffer *buffer = gt_ptx_buffer_find(buffers, name);
	uint64_t bytes = buffer ? buffer->elements * gt_ptx_type_size(buffer->type) : 0;

	if (!buffer)
		return gt_fail(error, "no launch makes a buffer '%s'", name);
	return gt_whole_file_write(path, gt_ptx_at(memory, buffer->address, bytes), bytes, "the buffer", error);
}
