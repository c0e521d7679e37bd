/* SPDX-License-Identifier: MIT */
/* Binds a launch to its kernel: makes buffers, whose contents are those of gtrace-ptx(1), "Buffers", and writes parameters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grown.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/launch/launch.h"

/* Little-endian, as in the device's memory. */
static void put(unsigned char *to, uint64_t bits, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(bits >> (8 * i));
}

static bool is_floating(enum gt_ptx_type type)
{
	return type == GT_PTX_F16 || type == GT_PTX_F32 || type == GT_PTX_F64;
}

static int fill_zero(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	(void)buffer, (void)to, (void)error; /* allocations are zeroed */
	return 0;
}

static int fill_constant(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	unsigned size = gt_ptx_type_size(buffer->type);
	uint64_t bits;

	if (gt_ptx_value_bits(&buffer->values[0], buffer->type, &bits, error) != 0)
		return -1;
	for (uint64_t i = 0; i < buffer->elements; i++)
		put(to + i * size, bits, size);
	return 0;
}

static uint64_t two_s_complement(const struct gt_ptx_value *value)
{
	return value->negative ? 0 - value->magnitude : value->magnitude;
}

/* Element i is start + i step: modulo 2^width for integers, rounded to nearest for floats. */
static int fill_ramp(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	const struct gt_ptx_value *start = &buffer->values[0], *step = &buffer->values[1];
	unsigned size = gt_ptx_type_size(buffer->type);
	bool floating = is_floating(buffer->type);
	uint64_t bits;

	if (!floating && (start->real || step->real))
		return gt_fail(error, "ramp of .%s needs whole numbers", gt_ptx_type_name(buffer->type));
	for (uint64_t i = 0; i < buffer->elements; i++) {
		if (floating) {
			struct gt_ptx_value value = {.real = true, .number = start->number + (double)i * step->number};
			if (gt_ptx_value_bits(&value, buffer->type, &bits, error) != 0)
				return -1;
		} else {
			bits = two_s_complement(start) + i * two_s_complement(step);
		}
		put(to + i * size, bits, size);
	}
	return 0;
}

/* SplitMix64 (Steele, Lea and Flood, 2014): its output number i, from 0. */
static uint64_t splitmix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The high 64 bits of a product. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), middle = (a >> 32) * (b & UINT32_MAX);
	uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX) + (low >> 32);

	return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/* Floats: multiples of 2^-p in [0, 1), p the bits of the significand, times `below`. */
static int random_float(const struct gt_ptx_buffer *buffer, uint64_t z, uint64_t *bits, struct gt_error *error)
{
	unsigned p = buffer->type == GT_PTX_F16 ? 11 : buffer->type == GT_PTX_F32 ? 24 : 53;
	struct gt_ptx_value value = {.real = true};

	value.number = (double)(z >> (64 - p)) / (double)(UINT64_C(1) << p);
	if (buffer->below)
		value.number *= buffer->values[1].number;
	return gt_ptx_value_bits(&value, buffer->type, bits, error);
}

static int fill_random(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	unsigned size = gt_ptx_type_size(buffer->type);
	uint64_t seed = two_s_complement(&buffer->values[0]), below = buffer->values[1].magnitude, bits;

	if (buffer->values[0].real)
		return gt_fail(error, "the seed of rand is a whole number");
	if (buffer->below && !is_floating(buffer->type) &&
	    (buffer->values[1].real || buffer->values[1].negative || below == 0 || below - 1 > UINT64_MAX >> (64 - 8 * size)))
		return gt_fail(error, "rand(seed, below) of .%s: 'below' does not fit", gt_ptx_type_name(buffer->type));
	for (uint64_t i = 0; i < buffer->elements; i++) {
		uint64_t z = splitmix(seed, i);
		if (!is_floating(buffer->type))
			bits = buffer->below ? multiply_high(z, below) : z >> (64 - 8 * size);
		else if (random_float(buffer, z, &bits, error) != 0)
			return -1;
		put(to + i * size, bits, size);
	}
	return 0;
}

/* Bytes of the buffer's file. */
static int file_bytes(const char *path, uint64_t *bytes, struct gt_error *error)
{
	FILE *file = fopen(path, "rb");
	char buffer[65536];
	size_t n;

	if (!file)
		return gt_fail_errno(error, "%s", path);
	*bytes = 0;
	if (fseeko(file, 0, SEEK_END) == 0 && ftello(file) >= 0) {
		*bytes = (uint64_t)ftello(file);
	} else {
		while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
			*bytes += n;
	}
	if (ferror(file)) {
		gt_fail_errno(error, "%s", path);
		fclose(file);
		return -1;
	}
	fclose(file);
	return 0;
}

static int fill_file(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	uint64_t bytes = buffer->elements * gt_ptx_type_size(buffer->type);
	FILE *file = fopen(buffer->file, "rb");
	int result = 0;

	if (!file)
		return gt_fail_errno(error, "%s", buffer->file);
	size_t n = fread(to, 1, bytes, file);
	if (ferror(file))
		result = gt_fail_errno(error, "%s", buffer->file);
	else if (n != bytes || getc(file) != EOF)
		result = gt_fail(error, "%s: expected %" PRIu64 " bytes, found %s", buffer->file, bytes,
				 n < bytes ? "fewer" : "more");
	fclose(file);
	return result;
}

/* Fills the elements of a buffer from its description. */
static int buffer_fill(const struct gt_ptx_buffer *buffer, unsigned char *to, struct gt_error *error)
{
	static int (*const fills[])(const struct gt_ptx_buffer *, unsigned char *, struct gt_error *) = {
		[GT_PTX_ZERO] = fill_zero, [GT_PTX_RAMP] = fill_ramp, [GT_PTX_RAND] = fill_random,
		[GT_PTX_CONSTANT] = fill_constant, [GT_PTX_FILE] = fill_file,
	};

	return fills[buffer->fill](buffer, to, error);
}

/* ---- the launch ---- */

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

/* As many as a file has, if the launch does not say how many. */
static int count_elements(struct gt_ptx_buffer *buffer, struct gt_error *error)
{
	const unsigned size = gt_ptx_type_size(buffer->type);
	uint64_t bytes;

	if (buffer->elements > 0)
		return 0;
	if (file_bytes(buffer->file, &bytes, error) != 0)
		return -1;
	if (bytes == 0 || bytes % size != 0)
		return gt_fail(error, "%s: %" PRIu64 " bytes are not a whole number of .%s", buffer->file, bytes, gt_ptx_type_name(buffer->type));
	buffer->elements = bytes / size;
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
	if (count_elements(buffer, error) != 0)
		return -1;
	bytes = buffer->elements * size;
	snprintf(name, sizeof name, "argument %zu", number);
	memory->call = buffers->n + 1;
	int result = gt_ptx_allocate(memory, bytes, buffer->name[0] ? buffer->name : name, &buffer->address, error);
	memory->call = 0;
	if (result != 0)
		return -1;
	gt_ptx_wrote(memory, buffer->address, bytes);
	if (buffer_fill(buffer, gt_ptx_at(memory, buffer->address, bytes), error) != 0)
		return -1;
	return add_buffer(buffers, buffer, error);
}

/* ---- textures and surfaces ---- */

/* The channels of a texel, by the number of elements. */
static int read_channels(const struct gt_ptx_buffer *texels, struct gt_ptx_texture *texture, struct gt_error *error)
{
	struct gt_ptx_image *image = &texture->image;
	const uint64_t n = (uint64_t)image->width * image->height * image->depth, channels = texels->elements / n;

	if (channels * n != texels->elements || (channels != 1 && channels != 2 && channels != 4))
		return gt_fail(error, "%" PRIu64 " elements for %u x %u x %u texels: 1, 2 or 4 each expected", texels->elements, image->width,
			       image->height, image->depth);
	image->channels = (uint8_t)channels;
	image->channel_bytes = (uint8_t)gt_ptx_type_size(texels->type);
	image->kind = is_floating(texels->type) ? GT_PTX_CHANNEL_FLOAT
		      : texels->type >= GT_PTX_S8 && texels->type <= GT_PTX_S64 ? GT_PTX_CHANNEL_SIGNED : GT_PTX_CHANNEL_UNSIGNED;
	if (texture->scaled && (image->kind == GT_PTX_CHANNEL_FLOAT || image->channel_bytes == 4))
		return gt_fail(error, "scaled texels are integers of 8 or 16 bits");
	if (texture->linear && image->kind != GT_PTX_CHANNEL_FLOAT && !texture->scaled)
		return gt_fail(error, "linear is for floats, and for integers that are scaled");
	return 0;
}

static void copy_texels(const struct gt_ptx_image *image, const unsigned char *from, unsigned char *to)
{
	const uint32_t bytes = gt_ptx_texel_bytes(image);

	for (uint32_t z = 0; z < image->depth; z++)
		for (uint32_t y = 0; y < image->height; y++)
			for (uint32_t x = 0; x < image->width; x++, from += bytes)
				memcpy(to + gt_ptx_image_offset(image, (uint64_t)x * bytes, y, z), from, bytes);
}

/* Makes the object, whose texels lie as those of a CUDA array. */
static int make_image(struct gt_ptx_argument *argument, size_t number, struct gt_ptx_memory *memory, uint64_t *handle, struct gt_error *error)
{
	struct gt_ptx_image *image = &argument->image.image;
	struct gt_ptx_buffer *texels = &argument->buffer;
	char name[GT_PTX_LAUNCH_NAME];

	if (count_elements(texels, error) != 0 || read_channels(texels, &argument->image, error) != 0)
		return -1;
	gt_ptx_image_arrange(image);
	snprintf(name, sizeof name, "argument %zu", number);
	if (gt_ptx_allocate(memory, image->bytes, name, &image->address, error) != 0)
		return -1;
	gt_ptx_wrote(memory, image->address, image->bytes);
	unsigned char *rows = calloc(texels->elements, image->channel_bytes);
	if (!rows)
		return gt_fail_memory(error, "a texture");
	int result = buffer_fill(texels, rows, error);
	if (result == 0)
		copy_texels(image, rows, gt_ptx_at(memory, image->address, image->bytes));
	free(rows);
	if (result == 0 && gt_ptx_texture_add(memory, &argument->image, handle) != 0)
		return gt_fail_memory(error, "a texture");
	return result;
}

/* ---- parameters ---- */

/* The bits of an argument for a parameter that is a single number. */
static int argument_bits(struct gt_ptx_argument *argument, size_t number, const struct gt_ptx_variable *parameter,
			 struct gt_ptx_buffers *buffers, struct gt_ptx_memory *memory, uint64_t *bits,
			 struct gt_error *error)
{
	if (argument->kind == GT_PTX_ARGUMENT_NUMBER)
		return gt_ptx_value_bits(&argument->value, parameter->type, bits, error);
	const bool is_image = argument->kind == GT_PTX_ARGUMENT_IMAGE;
	if (parameter->bytes != 8 || parameter->type == GT_PTX_F64)
		return gt_fail(error, "a %s for a parameter of type .%s, which is not a %s", is_image ? "texture or surface" : "buffer",
			       gt_ptx_type_name(parameter->type), is_image ? "handle" : "pointer");
	if (is_image)
		return make_image(argument, number, memory, bits, error);
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
