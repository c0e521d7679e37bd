/* SPDX-License-Identifier: MIT */
/* Variables of every space, including registers and parameters, with their initial values and the constant expressions in them. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/text/parse.h"

/* ---- constant expressions ---- */

static int parse_ternary(struct gt_ptx_parser *parser, struct gt_ptx_number *number);

/* (.s64) or (.u64), of which the type says nothing to 64-bit numbers; or (expression) */
static int parse_parenthesis(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	gt_ptx_advance(parser);
	if (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		gt_ptx_advance(parser);
		return gt_ptx_need(parser, ")") != 0 ? -1 : parse_ternary(parser, number);
	}
	return parse_ternary(parser, number) != 0 ? -1 : gt_ptx_need(parser, ")");
}

static void negate(struct gt_ptx_number *number)
{
	if (!number->is_float)
		number->bits = 0 - number->bits;
	else
		number->bits ^= number->is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
}

static int parse_unary(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	int result;

	*number = (struct gt_ptx_number){0};
	if (++parser->nesting > GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
	if (gt_ptx_take(parser, "-")) {
		result = parse_unary(parser, number);
		negate(number);
	} else if (gt_ptx_take(parser, "+")) {
		result = parse_unary(parser, number);
	} else if (gt_ptx_take(parser, "~")) {
		result = parse_unary(parser, number);
		number->bits = ~number->bits;
	} else if (gt_ptx_take(parser, "!")) {
		result = parse_unary(parser, number);
		number->bits = number->bits == 0;
	} else if (gt_ptx_is(parser, "(")) {
		result = parse_parenthesis(parser, number);
	} else if (parser->token.kind == GT_PTX_TOKEN_NUMBER && gt_ptx_lex_number(&parser->token, number)) {
		gt_ptx_advance(parser);
		result = 0;
	} else {
		result = gt_ptx_expected(parser, parser->token.kind == GT_PTX_TOKEN_NUMBER ?
			"a number of at most 64 bits" : "an operand");
	}
	parser->nesting--;
	return result;
}

/* The operators, from those that bind least. One of two signs is two tokens side by side. */
static const struct operator {
	const char *sign;
	int level;
} operators[] = {
	{"||", 0}, {"&&", 1}, {"|", 2}, {"^", 3}, {"&", 4}, {"==", 5}, {"!=", 5}, {"<=", 6}, {">=", 6}, {"<<", 7},
	{">>", 7}, {"<", 6}, {">", 6}, {"+", 8}, {"-", 8}, {"*", 9}, {"/", 9}, {"%", 9},
};

#define LEVELS 10

/* The operator at the token, or NULL. */
static const struct operator *find_operator(const struct gt_ptx_parser *parser)
{
	const char *text = parser->token.text;

	if (parser->token.kind != GT_PTX_TOKEN_SIGN)
		return NULL;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t length = strlen(operators[i].sign);
		if (strncmp(text, operators[i].sign, length) == 0)
			return &operators[i];
	}
	return NULL;
}

static int apply(struct gt_ptx_parser *parser, const char *sign, uint64_t *left, uint64_t right)
{
	uint64_t a = *left, b = right;

	if ((*sign == '/' || *sign == '%') && b == 0)
		return gt_ptx_wrong(parser, "division by 0");
	switch (sign[0] + (sign[1] ? 256 : 0)) {
	case '|' + 256: *left = a || b; break;
	case '&' + 256: *left = a && b; break;
	case '|': *left = a | b; break;
	case '^': *left = a ^ b; break;
	case '&': *left = a & b; break;
	case '=' + 256: *left = a == b; break;
	case '!' + 256: *left = a != b; break;
	case '<' + 256: *left = sign[1] == '<' ? (b < 64 ? a << b : 0) : (int64_t)a <= (int64_t)b; break;
	case '>' + 256: *left = sign[1] == '>' ? (b < 64 ? a >> b : 0) : (int64_t)a >= (int64_t)b; break;
	case '<': *left = (int64_t)a < (int64_t)b; break;
	case '>': *left = (int64_t)a > (int64_t)b; break;
	case '+': *left = a + b; break;
	case '-': *left = a - b; break;
	case '*': *left = a * b; break;
	case '/': *left = a / b; break;
	default: *left = a % b; break;
	}
	return 0;
}

/* Operators of this level and above. */
static int parse_binary(struct gt_ptx_parser *parser, int level, struct gt_ptx_number *number)
{
	const struct operator *operator;

	if (parse_unary(parser, number) != 0)
		return -1;
	while ((operator = find_operator(parser)) != NULL && operator->level >= level) {
		struct gt_ptx_number right;
		for (size_t i = 0; i < strlen(operator->sign); i++)
			gt_ptx_advance(parser);
		if (++parser->nesting > GT_PTX_DEPTH)
			return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
		if (parse_binary(parser, operator->level + 1, &right) != 0)
			return -1;
		parser->nesting--;
		if (number->is_float || right.is_float)
			return gt_ptx_wrong(parser, "arithmetic with floating-point constants");
		if (apply(parser, operator->sign, &number->bits, right.bits) != 0)
			return -1;
	}
	return 0;
}

static int parse_ternary(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	struct gt_ptx_number yes, no;

	if (parse_binary(parser, 0, number) != 0)
		return -1;
	if (!gt_ptx_take(parser, "?"))
		return 0;
	if (++parser->nesting > GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "an expression nested deeper than %d", GT_PTX_DEPTH);
	if (parse_ternary(parser, &yes) != 0 || gt_ptx_need(parser, ":") != 0 || parse_ternary(parser, &no) != 0)
		return -1;
	parser->nesting--;
	*number = number->bits != 0 ? yes : no;
	return 0;
}

int gt_ptx_parse_constant(struct gt_ptx_parser *parser, struct gt_ptx_number *number)
{
	return parse_ternary(parser, number);
}

/* ---- initial values ---- */

#define INITIAL_BYTES_MAX (UINT64_C(256) << 20) /* of all initial values of a module */
#define ADDRESS 8				/* bytes */

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
	if (end > INITIAL_BYTES_MAX)
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
	if (parser->token.kind == GT_PTX_TOKEN_NUMBER && parser->lookahead.kind == GT_PTX_TOKEN_SIGN &&
	    *parser->lookahead.text == '(')
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

	if (bytes > INITIAL_BYTES_MAX || parser->initial_bytes + bytes > INITIAL_BYTES_MAX)
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

/* The initial value after '=' of a variable whose dimensions are known; if the first is 0, it is set from the value. */
static int gt_ptx_parse_initial(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, uint64_t *dimensions,
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
		result = put_list(parser, &filling, 0, 0, open ? INITIAL_BYTES_MAX / row * row : with_vector[0] * row);
	if (result == 0 && open) {
		dimensions[0] = (filling.n + row - 1) / row;
		variable->bytes = dimensions[0] * row;
	}
	if (result == 0)
		result = keep(parser, &filling, variable->bytes);
	free(filling.bytes);
	return result;
}

/* ---- variables ---- */

#define DIMENSIONS_MAX 16
#define ALIGNMENT_MAX (UINT64_C(1) << 20)
#define REGISTERS_MAX (UINT64_C(1) << 24)
#define BYTES_MAX (UINT64_C(1) << 40)

enum gt_ptx_space gt_ptx_space_named(const struct gt_ptx_token *token)
{
	static const struct {
		const char *name;
		enum gt_ptx_space space;
	} spaces[] = {
		{".reg", GT_PTX_REG}, {".sreg", GT_PTX_REG}, {".param", GT_PTX_PARAM}, {".global", GT_PTX_GLOBAL},
		{".shared", GT_PTX_SHARED}, {".local", GT_PTX_LOCAL}, {".const", GT_PTX_CONST},
		{".tex", GT_PTX_GLOBAL},
	};

	if (token->kind != GT_PTX_TOKEN_DOT_WORD)
		return GT_PTX_GENERIC;
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (strlen(spaces[i].name) == token->length && memcmp(spaces[i].name, token->text, token->length) == 0)
			return spaces[i].space;
	return GT_PTX_GENERIC;
}

static int parse_alignment(struct gt_ptx_parser *parser, unsigned *alignment)
{
	uint64_t bytes;

	if (gt_ptx_count(parser, "an alignment", 1, ALIGNMENT_MAX, &bytes) != 0)
		return -1;
	if ((bytes & (bytes - 1)) != 0)
		return gt_ptx_wrong(parser, "an alignment of %u bytes is not a power of two", (unsigned)bytes);
	*alignment = (unsigned)bytes;
	return 0;
}

/* .ptr[.SPACE][.align N]: describes the target of a pointer parameter; ignored. */
static int skip_pointer(struct gt_ptx_parser *parser)
{
	unsigned alignment;

	if (gt_ptx_space_named(&parser->token) != GT_PTX_GENERIC)
		gt_ptx_advance(parser);
	return gt_ptx_take(parser, ".align") ? parse_alignment(parser, &alignment) : 0;
}

/* (...) of .attribute: .managed, and those that change nothing here */
static int parse_attribute(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	if (gt_ptx_need(parser, "(") != 0)
		return -1;
	while (!gt_ptx_take(parser, ")")) {
		if (parser->token.kind == GT_PTX_TOKEN_END || parser->token.kind == GT_PTX_TOKEN_WRONG)
			return gt_ptx_expected(parser, "')'");
		variable->managed |= gt_ptx_is(parser, ".managed");
		gt_ptx_advance(parser);
	}
	return 0;
}

/* The type, or the number of elements of a vector. */
static int parse_type(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	const struct gt_ptx_token *token = &parser->token;

	if (gt_ptx_is(parser, ".v2") || gt_ptx_is(parser, ".v4") || gt_ptx_is(parser, ".v8")) {
		variable->vector = (unsigned)(token->text[2] - '0');
	} else if (gt_ptx_is(parser, ".samplerref") || gt_ptx_is(parser, ".surfref")) {
		variable->type = GT_PTX_TEXREF;
	} else {
		variable->type = token->kind == GT_PTX_TOKEN_DOT_WORD ?
			gt_ptx_type_named(token->text + 1, token->length - 1) : GT_PTX_NO_TYPE;
		if (variable->type == GT_PTX_NO_TYPE)
			return gt_ptx_expected(parser, "a type");
	}
	gt_ptx_advance(parser);
	return 0;
}

/* The part between the directive of the space and the first name. */
static int parse_attributes(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	uint64_t bank;

	*variable = (struct gt_ptx_variable){.space = gt_ptx_space_named(&parser->token), .vector = 1};
	gt_ptx_advance(parser);
	if (gt_ptx_take(parser, "[") &&
	    (gt_ptx_count(parser, "a bank of constants", 0, 10, &bank) != 0 || gt_ptx_need(parser, "]") != 0))
		return -1;
	while (parser->token.kind == GT_PTX_TOKEN_DOT_WORD) {
		int result;
		if (gt_ptx_take(parser, ".align"))
			result = parse_alignment(parser, &variable->alignment);
		else if (gt_ptx_take(parser, ".ptr"))
			result = skip_pointer(parser);
		else if (gt_ptx_take(parser, ".attribute"))
			result = parse_attribute(parser, variable);
		else
			result = parse_type(parser, variable);
		if (result != 0)
			return -1;
	}
	if (variable->type == GT_PTX_NO_TYPE)
		return gt_ptx_expected(parser, "a type");
	unsigned natural = gt_ptx_type_size(variable->type) * variable->vector;
	if (variable->alignment < natural)
		variable->alignment = natural;
	if (variable->alignment == 0)
		variable->alignment = 1;
	return 0;
}

/* [N][M]...; a first [] is 0. */
static int parse_dimensions(struct gt_ptx_parser *parser, uint64_t dimensions[DIMENSIONS_MAX], size_t *n)
{
	struct gt_ptx_number number;

	for (*n = 0; gt_ptx_take(parser, "["); (*n)++) {
		if (*n == DIMENSIONS_MAX)
			return gt_ptx_wrong(parser, "an array of more than %d dimensions", DIMENSIONS_MAX);
		dimensions[*n] = 0;
		if (*n == 0 && gt_ptx_take(parser, "]"))
			continue;
		if (gt_ptx_parse_constant(parser, &number) != 0)
			return -1;
		if (number.is_float || number.bits == 0 || number.bits > BYTES_MAX)
			return gt_ptx_wrong(parser, "the size of an array is not from 1 to 2^40");
		dimensions[*n] = number.bits;
		if (gt_ptx_need(parser, "]") != 0)
			return -1;
	}
	return 0;
}

/* Computes elements and bytes from the dimensions. */
static int measure(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, const uint64_t *dimensions, size_t n)
{
	uint64_t unit = (uint64_t)gt_ptx_type_size(variable->type) * variable->vector;
	uint64_t elements = 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t size = dimensions[i] > 0 ? dimensions[i] : 1;
		if (elements > BYTES_MAX / size)
			return gt_ptx_wrong(parser, "'%.100s' has more than 2^40 elements", variable->name);
		elements *= size;
	}
	if (unit > 0 && elements > BYTES_MAX / unit)
		return gt_ptx_wrong(parser, "'%.100s' has more than 2^40 bytes", variable->name);
	variable->elements = n > 0 && dimensions[0] == 0 ? 0 : elements;
	variable->bytes = variable->elements * unit;
	return 0;
}

/* <N> after the name of registers. */
static int parse_register_count(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	if (variable->space != GT_PTX_REG || !gt_ptx_take(parser, "<"))
		return 0;
	if (gt_ptx_count(parser, "a number of registers, at most 2^24", 1, REGISTERS_MAX, &variable->count) != 0)
		return -1;
	return gt_ptx_need(parser, ">");
}

/* = { addr_mode_0 = wrap, ... } of textures and samplers; ignored. */
static int parse_initial(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable, uint64_t *dimensions, size_t n)
{
	if (variable->type == GT_PTX_TEXREF)
		return gt_ptx_is(parser, "{") ? gt_ptx_skip_braces(parser) : gt_ptx_expected(parser, "'{'");
	if (variable->space != GT_PTX_GLOBAL && variable->space != GT_PTX_CONST)
		return gt_ptx_expected(parser, "',' or ';': only .global and .const variables have initial values");
	if (gt_ptx_type_size(variable->type) == 0)
		return gt_ptx_wrong(parser, "predicates have no initial values");
	if (gt_ptx_parse_initial(parser, variable, dimensions, n) != 0 || measure(parser, variable, dimensions, n) != 0)
		return -1;
	return 0;
}

/* NAME, then count, dimensions and initial value. */
static int parse_declarator(struct gt_ptx_parser *parser, struct gt_ptx_variable *variable)
{
	uint64_t dimensions[DIMENSIONS_MAX];
	size_t n;

	variable->line = parser->token.line;
	if (gt_ptx_name(parser, "the name of a variable", &variable->name) != 0 ||
	    parse_register_count(parser, variable) != 0 || parse_dimensions(parser, dimensions, &n) != 0 ||
	    measure(parser, variable, dimensions, n) != 0)
		return -1;
	return gt_ptx_take(parser, "=") ? parse_initial(parser, variable, dimensions, n) : 0;
}

int gt_ptx_parse_variables(struct gt_ptx_parser *parser, struct gt_ptx_list *list, bool external)
{
	struct gt_ptx_variable common;

	if (parse_attributes(parser, &common) != 0)
		return -1;
	do {
		struct gt_ptx_variable variable = common;
		variable.external = external;
		if (parse_declarator(parser, &variable) != 0 ||
		    (parser->depth > 0 && gt_ptx_declare(parser, &variable.name, variable.space, variable.count, false) != 0))
			return -1;
		struct gt_ptx_variable *added = gt_ptx_push(parser, list, sizeof *added);
		if (!added)
			return -1;
		*added = variable;
	} while (gt_ptx_take(parser, ","));
	return gt_ptx_need(parser, ";");
}

int gt_ptx_parse_parameters(struct gt_ptx_parser *parser, struct gt_ptx_variable **parameters, size_t *n)
{
	struct gt_ptx_list list = {0};
	int result = gt_ptx_need(parser, "(");

	while (result == 0 && !gt_ptx_take(parser, ")")) {
		struct gt_ptx_variable *added = gt_ptx_push(parser, &list, sizeof *added), variable;
		enum gt_ptx_space space = gt_ptx_space_named(&parser->token);
		if (!added)
			result = -1;
		else if (space != GT_PTX_PARAM && space != GT_PTX_REG)
			result = gt_ptx_expected(parser, "'.param'");
		else if (parse_attributes(parser, &variable) != 0 || parse_declarator(parser, &variable) != 0)
			result = -1;
		else
			*added = variable;
		if (result == 0 && !gt_ptx_is(parser, ")"))
			result = gt_ptx_need(parser, ",");
	}
	if (result == 0)
		result = gt_ptx_settle(parser, &list, 0, sizeof **parameters, parameters, n);
	free(list.items);
	return result;
}
