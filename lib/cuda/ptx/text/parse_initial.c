/* SPDX-License-Identifier: MIT */
/* The initial values of variables. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/text/parse.h"

#define BYTES_MAX (UINT64_C(256) << 20) /* of all initial values of a module */
#define ADDRESS 8			/* bytes */

/* An initial value while its bytes are not all known to be wanted: it grows as values come. */
struct filling {
	struct gt_ptx_variable *variable;
	const uint64_t *dimensions;
	size_t n_dimensions;
	unsigned unit; /* bytes of an element of a vector */
	unsigned char *bytes;
	uint64_t n; /* bytes */
	size_t capacity;
};

static int make_room(struct gt_ptx_parser *parser, struct filling *filling, uint64_t end)
{
	if (end > BYTES_MAX)
		return gt_ptx_wrong(parser, "more than 256 MiB of initial values");
	if (end <= filling->n)
		return 0;
	size_t before = filling->capacity;
	unsigned char *bytes = gt_grown_to(filling->bytes, end, &filling->capacity, 1);
	if (!bytes)
		return gt_fail_memory(parser->error, "initial values");
	memset(bytes + before, 0, filling->capacity - before);
	filling->bytes = bytes;
	filling->n = end;
	return 0;
}

/* The bits of a number as the type of the variable has them. */
static int convert(struct gt_ptx_parser *parser, enum gt_ptx_type type, const struct gt_ptx_number *number, uint64_t *bits)
{
	double value;
	float single;

	*bits = number->bits;
	if (!number->is_float) {
		if (type == GT_PTX_F32) {
			single = (float)(int64_t)number->bits;
			uint32_t word;
			memcpy(&word, &single, sizeof word);
			*bits = word;
		} else if (type == GT_PTX_F64) {
			value = (double)(int64_t)number->bits;
			memcpy(bits, &value, sizeof value);
		}
		return 0;
	}
	if (number->is_single == (gt_ptx_type_size(type) == 4))
		return 0;
	if (gt_ptx_type_size(type) == 8) {
		uint32_t word = (uint32_t)number->bits;
		memcpy(&single, &word, sizeof single);
		value = (double)single;
		memcpy(bits, &value, sizeof value);
	} else if (type == GT_PTX_F32) {
		uint32_t word;
		memcpy(&value, &number->bits, sizeof value);
		single = (float)value;
		memcpy(&word, &single, sizeof word);
		*bits = word;
	} else {
		return gt_ptx_wrong(parser, "a floating-point initial value of type .%s", gt_ptx_type_name(type));
	}
	return 0;
}

static int put_number(struct gt_ptx_parser *parser, struct filling *filling, uint64_t at)
{
	struct gt_ptx_number number;
	uint64_t bits;

	if (gt_ptx_parse_constant(parser, &number) != 0 ||
	    convert(parser, filling->variable->type, &number, &bits) != 0 ||
	    make_room(parser, filling, at + filling->unit) != 0)
		return -1;
	for (unsigned i = 0; i < filling->unit && i < 8; i++)
		filling->bytes[at + i] = (unsigned char)(bits >> (8 * i));
	return 0;
}

/* SYMBOL[+N], generic(SYMBOL)[+N], generic(SYMBOL[+N]) */
static int parse_symbol(struct gt_ptx_parser *parser, struct gt_ptx_reference *reference)
{
	struct gt_ptx_number number = {0};
	bool generic = gt_ptx_is(parser, "generic");

	if (generic) {
		gt_ptx_advance(parser);
		if (gt_ptx_need(parser, "(") != 0)
			return -1;
	}
	if (gt_ptx_name(parser, "a symbol", &reference->symbol) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (gt_ptx_is(parser, "+") || gt_ptx_is(parser, "-")) {
			if (gt_ptx_parse_constant(parser, &number) != 0)
				return -1;
			if (number.is_float)
				return gt_ptx_wrong(parser, "an offset is a whole number");
			reference->addend = (int64_t)((uint64_t)reference->addend + number.bits);
		}
		if (generic && i == 0 && gt_ptx_need(parser, ")") != 0)
			return -1;
		if (!generic)
			break;
	}
	return 0;
}

static int put_reference(struct gt_ptx_parser *parser, struct filling *filling, uint64_t at)
{
	struct gt_ptx_reference reference = {.offset = at};

	if (parse_symbol(parser, &reference) != 0)
		return -1;
	if (filling->unit != ADDRESS)
		return gt_ptx_wrong(parser, "the address of '%.100s' needs 64 bits, not .%s", reference.symbol,
				    gt_ptx_type_name(filling->variable->type));
	struct gt_ptx_reference *added = gt_ptx_push(parser, &parser->initial_values, sizeof *added);
	if (!added || make_room(parser, filling, at + ADDRESS) != 0)
		return -1;
	*added = reference;
	return 0;
}

/* 0xff(SYMBOL), 0xff00(SYMBOL), ...: the bytes of an address one by one, lowest first. */
static int put_masked(struct gt_ptx_parser *parser, struct filling *filling, uint64_t at)
{
	struct gt_ptx_reference reference = {.offset = at}, *list = parser->initial_values.items, *last;
	struct gt_ptx_number mask;
	unsigned byte = 0;

	if (!gt_ptx_lex_number(&parser->token, &mask) || mask.is_float)
		return gt_ptx_expected(parser, "a mask");
	gt_ptx_advance(parser);
	gt_ptx_advance(parser);
	if (parse_symbol(parser, &reference) != 0 || gt_ptx_need(parser, ")") != 0)
		return -1;
	while (byte < ADDRESS && mask.bits != UINT64_C(0xff) << (8 * byte))
		byte++;
	if (filling->unit != 1 || byte == ADDRESS)
		return gt_ptx_wrong(parser, "expected one byte of an address, such as 0xff00(symbol)");
	if (make_room(parser, filling, at + 1) != 0)
		return -1;
	if (byte == 0) {
		last = gt_ptx_push(parser, &parser->initial_values, sizeof *last);
		if (!last)
			return -1;
		*last = reference;
		return make_room(parser, filling, at + ADDRESS);
	}
	last = parser->initial_values.n > 0 ? &list[parser->initial_values.n - 1] : NULL;
	if (!last || last->symbol != reference.symbol || last->addend != reference.addend || last->offset + byte != at)
		return gt_ptx_wrong(parser, "byte %u of the address of '%.100s' does not follow the byte before it", byte,
				    reference.symbol);
	return 0;
}

static int put_value(struct gt_ptx_parser *parser, struct filling *filling, uint64_t at)
{
	if (parser->token.kind == GT_PTX_TOKEN_WORD)
		return put_reference(parser, filling, at);
	if (parser->token.kind == GT_PTX_TOKEN_NUMBER && parser->ahead.kind == GT_PTX_TOKEN_SIGN &&
	    *parser->ahead.text == '(')
		return put_masked(parser, filling, at);
	return put_number(parser, filling, at);
}

/* Values of one dimension, the scalars of a vector being the last, from byte `at` on; inner braces
 * fill a part of their own. `room` is in bytes, `size` what an item has. */
static int put_list(struct gt_ptx_parser *parser, struct filling *filling, size_t dimension, uint64_t at, uint64_t room)
{
	uint64_t size = filling->unit, end = at + room;

	for (size_t i = dimension + 1; i < filling->n_dimensions; i++)
		size *= filling->dimensions[i];
	if (gt_ptx_need(parser, "{") != 0)
		return -1;
	while (!gt_ptx_take(parser, "}")) {
		bool inner = gt_ptx_is(parser, "{");
		uint64_t step = inner ? size : filling->unit;
		if (step > end - at)
			return gt_ptx_wrong(parser, "more initial values than '%.100s' has room for", filling->variable->name);
		if (inner && dimension + 1 >= filling->n_dimensions)
			return gt_ptx_wrong(parser, "initial values nested deeper than the dimensions of '%.100s'",
					    filling->variable->name);
		if ((inner ? put_list(parser, filling, dimension + 1, at, size) : put_value(parser, filling, at)) != 0)
			return -1;
		at += step;
		if (!gt_ptx_is(parser, "}") && gt_ptx_need(parser, ",") != 0)
			return -1;
	}
	return 0;
}

/* The bytes of the variable, as many as it has. */
static int keep(struct gt_ptx_parser *parser, struct filling *filling, uint64_t bytes)
{
	struct gt_ptx_variable *variable = filling->variable;

	if (bytes > BYTES_MAX || parser->initial_bytes + bytes > BYTES_MAX)
		return gt_ptx_wrong(parser, "more than 256 MiB of initial values");
	parser->initial_bytes += bytes;
	for (size_t i = 0; i < parser->initial_values.n; i++) {
		const struct gt_ptx_reference *references = parser->initial_values.items;
		if (references[i].offset + ADDRESS > bytes)
			return gt_ptx_wrong(parser, "an address does not fit into '%.100s'", variable->name);
	}
	variable->initial = gt_ptx_arena_take(parser->module->arena, bytes, 1, parser->error);
	if (!variable->initial)
		return -1;
	if (filling->n > 0)
		memcpy(variable->initial, filling->bytes, filling->n < bytes ? filling->n : bytes);
	return gt_ptx_settle(parser, &parser->initial_values, 0, sizeof *variable->references, &variable->references,
			     &variable->n_references);
}

int gt_ptx_parse_initial(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, uint64_t *dimensions,
			 size_t n_dimensions)
{
	uint64_t with_vector[32], row;
	struct filling filling = {.variable = variable, .dimensions = with_vector, .n_dimensions = n_dimensions,
				  .unit = gt_ptx_type_size(variable->type)};
	bool open = n_dimensions > 0 && dimensions[0] == 0;
	int result;

	memcpy(with_vector, dimensions, n_dimensions * sizeof *dimensions);
	if (variable->vector > 1)
		with_vector[filling.n_dimensions++] = variable->vector;
	row = filling.unit;
	for (size_t i = 1; i < filling.n_dimensions; i++)
		row *= with_vector[i];
	parser->initial_values.n = 0;
	if (filling.n_dimensions == 0)
		result = put_value(parser, &filling, 0);
	else
		result = put_list(parser, &filling, 0, 0, open ? BYTES_MAX / row * row : with_vector[0] * row);
	if (result == 0 && open) {
		dimensions[0] = (filling.n + row - 1) / row;
		variable->bytes = dimensions[0] * row;
	}
	if (result == 0)
		result = keep(parser, &filling, variable->bytes);
	free(filling.bytes);
	return result;
}
