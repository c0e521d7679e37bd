/* SPDX-License-Identifier: MIT */
/* Instructions on matrices: fragments in registers, ldmatrix and its like, products of a warp (mma, wmma), of four warps
 * (wgmma), and in tensor memory (tcgen05). */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/tensor.h"

#define BIT(ELEMENT) (1U << GT_PTX_ELEMENT_##ELEMENT)
#define BYTES	     (BIT(S8) | BIT(U8))
#define NIBBLES	     (BIT(S4) | BIT(U4))
#define SMALL_FLOATS (BIT(E4M3) | BIT(E5M2))

/* ---- shapes, elements and fragments ---- */

/* mma, wmma.mma, mma.sp */
enum gt_ptx_product_kind { GT_PTX_MMA, GT_PTX_WMMA, GT_PTX_SPARSE, GT_PTX_PRODUCTS };

/* The shapes that there are, and the elements that A and B may have in them. */
struct shape_row {
	uint16_t m, n, k;
	uint32_t elements[GT_PTX_PRODUCTS];
};
static const struct shape_row shapes[] = {
	{8, 8, 4, {BIT(F16) | BIT(F64), BIT(F64), 0}},
	{8, 8, 16, {BYTES, 0, 0}},
	{8, 8, 32, {NIBBLES, NIBBLES, 0}},
	{8, 8, 128, {BIT(B1), BIT(B1), 0}},
	{16, 8, 4, {BIT(TF32) | BIT(F64), 0, 0}},
	{16, 8, 8, {BIT(F16) | BIT(BF16) | BIT(TF32) | BIT(F64), 0, BIT(TF32)}},
	{16, 8, 16, {BIT(F16) | BIT(BF16) | BYTES | BIT(F64) | SMALL_FLOATS, 0, BIT(F16) | BIT(BF16) | BIT(TF32)}},
	{16, 8, 32, {BYTES | NIBBLES | SMALL_FLOATS, 0, BIT(F16) | BIT(BF16) | BYTES}},
	{16, 8, 64, {NIBBLES, 0, BYTES | NIBBLES | SMALL_FLOATS}},
	{16, 8, 128, {BIT(B1), 0, NIBBLES}},
	{16, 8, 256, {BIT(B1), 0, 0}},
	{16, 16, 8, {0, BIT(TF32), 0}},
	{16, 16, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
	{32, 8, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
	{8, 32, 16, {0, BIT(F16) | BIT(BF16) | BYTES, 0}},
};

/* The elements that C and D may have, for those of A and B, which may differ within a row. */
static const struct {
	uint32_t multiplied, added;
} sums[] = {
	{BIT(F16), BIT(F16) | BIT(F32)}, {SMALL_FLOATS, BIT(F16) | BIT(F32)}, {BIT(BF16), BIT(F32)}, {BIT(TF32), BIT(F32)},
	{BIT(F64), BIT(F64)},		 {BYTES, BIT(S32)},		      {NIBBLES, BIT(S32)},   {BIT(B1), BIT(S32)},
};

static const struct shape_row *row_of(struct gt_ptx_shape shape)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (shapes[i].m == shape.m && shapes[i].n == shape.n && shapes[i].k == shape.k)
			return &shapes[i];
	return NULL;
}

static uint32_t added_to(uint32_t multiplied)
{
	uint32_t added = 0;

	for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
		added |= sums[i].multiplied & multiplied ? sums[i].added : 0;
	return added;
}

/* Whether wmma has matrices of that shape, role and element. */
static bool is_wmma(struct gt_ptx_shape shape, enum gt_ptx_role role, enum gt_ptx_element element)
{
	const struct shape_row *row = row_of(shape);

	const uint32_t there = row ? row->elements[GT_PTX_WMMA] : 0;

	return (role == GT_PTX_MATRIX_C ? added_to(there) : there) >> element & 1;
}

/* Whether there is a product of that shape and those elements: D, A, B, C. */
static bool is_product(struct gt_ptx_shape shape, enum gt_ptx_product_kind kind, const enum gt_ptx_element e[4])
{
	static const uint32_t families[] = {BYTES, NIBBLES, SMALL_FLOATS};
	const struct shape_row *row = row_of(shape);
	const uint32_t a = 1U << e[1], b = 1U << e[2], there = row ? row->elements[kind] : 0;
	bool alike = a == b;

	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		alike |= (families[i] & a) && (families[i] & b);
	return alike && (there & a) && (there & b) && (added_to(a) >> e[0] & 1) && (added_to(a) >> e[3] & 1);
}

/* Reads ".m16n8k16"; false if the word is no shape. */
static bool read_shape(const char *word, struct gt_ptx_shape *shape)
{
	unsigned m, n, k;
	char rest;

	if (sscanf(word, "m%3un%3uk%3u%c", &m, &n, &k, &rest) != 3)
		return false;
	*shape = (struct gt_ptx_shape){(uint16_t)m, (uint16_t)n, (uint16_t)k, false};
	return true;
}

/* Fills slots with those of `n` operands. results: room for as many, which the caller finishes; NULL: sources.
 * Returns 0, or -1. */
static int read_registers(struct gt_ptx_decoder *decoder, uint32_t *slots, const struct gt_ptx_operand *operands,
			  size_t n, enum gt_ptx_type type, struct gt_ptx_result *results)
{
	for (size_t i = 0; i < n; i++) {
		if (results && gt_ptx_result_slot(decoder, &operands[i], type, &results[i]) != 0)
			return -1;
		slots[i] = results ? results[i].slot : gt_ptx_source(decoder, &operands[i], type);
		if (!slots[i])
			return -1;
	}
	return 0;
}

/* The same for a fragment that is laid out. Returns 1 if there are more or fewer registers than it has, and the
 * instruction has been refused. */
static int read_fragment(struct gt_ptx_decoder *decoder, struct gt_ptx_fragment *fragment,
			 const struct gt_ptx_operand *operand, struct gt_ptx_result *results)
{
	size_t n;
	const struct gt_ptx_operand *registers = gt_ptx_elements(operand, &n);

	if (n != fragment->n)
		return gt_ptx_refuse(decoder, "is not known with so many registers") != 0 ? -1 : 1;
	return read_registers(decoder, fragment->slots, registers, n,
			      fragment->element == GT_PTX_ELEMENT_F64 ? GT_PTX_B64 : GT_PTX_B32, results);
}

static int finish_fragment(struct gt_ptx_decoder *decoder, const struct gt_ptx_fragment *fragment,
			   const struct gt_ptx_result *results)
{
	for (size_t i = 0; i < fragment->n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* The access of ldmatrix and stmatrix: .m8n8.xN(.trans)(.shared).b16, N registers. Returns as
 * gt_ptx_read_modifiers does. */
static int new_rows(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, const struct gt_ptx_operand *address,
		    size_t n)
{
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, access, &type);

	if (read != 0)
		return read;
	if (!gt_ptx_says(decoder, "m8n8") || !gt_ptx_says(decoder, "aligned") || type != GT_PTX_B16 || n != (*access)->n ||
	    (*access)->space == GT_PTX_GLOBAL || n > 4)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	return gt_ptx_read_address(decoder, *access, address);
}

/* ldmatrix.sync.aligned.m8n8.xN(.trans)(.shared).b16 {d, ...}, [address] */
static int decode_ldmatrix(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[4];
	struct gt_ptx_access *access;
	size_t n = 0;
	const struct gt_ptx_operand *registers =
		instruction->n_operands == 2 ? gt_ptx_elements(&instruction->operands[0], &n) : NULL;

	if (!registers)
		return gt_ptx_refuse(decoder, "is not known in this form");
	int read = new_rows(decoder, &access, &instruction->operands[1], n);
	if (read != 0)
		return gt_ptx_refused(read);
	access->action = GT_LOAD;
	if (read_registers(decoder, access->slots, registers, n, GT_PTX_B32, results) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_matrix_steps.load);
	if (!op)
		return -1;
	op->choice = gt_ptx_says(decoder, "trans");
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* stmatrix.sync.aligned.m8n8.xN(.trans)(.shared).b16 [address], {a, ...} */
static int decode_stmatrix(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_access *access;
	size_t n = 0;
	const struct gt_ptx_operand *registers =
		instruction->n_operands == 2 ? gt_ptx_elements(&instruction->operands[1], &n) : NULL;

	if (!registers)
		return gt_ptx_refuse(decoder, "is not known in this form");
	int read = new_rows(decoder, &access, &instruction->operands[0], n);
	if (read != 0)
		return gt_ptx_refused(read);
	access->action = GT_STORE;
	if (read_registers(decoder, access->slots, registers, n, GT_PTX_B32, NULL) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_matrix_steps.store);
	if (!op)
		return -1;
	op->choice = gt_ptx_says(decoder, "trans");
	return 0;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
static int decode_movmatrix(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;

	if (instruction->n_operands != 2 || instruction->n_modifiers != 5 || !gt_ptx_says(decoder, "m8n8") ||
	    !gt_ptx_says(decoder, "trans") || !gt_ptx_says(decoder, "b16"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t a = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_B32);
	if (!a || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_matrix_steps.transpose);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = a;
	return gt_ptx_finish_result(decoder, &result);
}

/* ---- products: mma, mma.sp and wmma.mma ---- */

/* What is written behind mma or wmma.mma. */
struct words {
	enum gt_ptx_product_kind kind;
	struct gt_ptx_shape shape;
	bool by_columns[2]; /* of A and B */
	size_t n_layouts, n_elements;
	enum gt_ptx_element elements[4];
	bool saturates, counts, both, differs; /* .satfinite, .popc, .and, .xor */
};

/* False if the word is none that is known. */
static bool take_word(struct words *words, const char *word)
{
	static const char *const silent[] = {"mma", "sync", "aligned", "rn"};
	enum gt_ptx_element element = gt_ptx_element_named(word);

	for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
		if (strcmp(word, silent[i]) == 0)
			return true;
	if (element && words->n_elements < 4) {
		words->elements[words->n_elements++] = element;
		return true;
	}
	if ((strcmp(word, "row") == 0 || strcmp(word, "col") == 0) && words->n_layouts < 2) {
		words->by_columns[words->n_layouts++] = word[0] == 'c';
		return true;
	}
	/* What ::ordered_metadata promises is not asked for. */
	if (strcmp(word, "sp") == 0 || strcmp(word, "sp::ordered_metadata") == 0) {
		words->kind = GT_PTX_SPARSE;
		return true;
	}
	if (strcmp(word, "satfinite") == 0)
		return words->saturates = true;
	if (strcmp(word, "popc") == 0)
		return words->counts = true;
	if (strcmp(word, "and") == 0)
		return words->both = true;
	if (strcmp(word, "xor") == 0)
		return words->differs = true;
	return read_shape(word, &words->shape);
}

static bool is_known(const struct words *words)
{
	const bool bits = words->elements[1] == GT_PTX_ELEMENT_B1, integers = words->elements[0] == GT_PTX_ELEMENT_S32;

	if (words->n_elements != 4 || words->n_layouts != 2 || !is_product(words->shape, words->kind, words->elements))
		return false;
	return words->counts == bits && (words->both != words->differs) == bits &&
	       (!words->saturates || (integers && !bits)) &&
	       (words->kind == GT_PTX_WMMA || words->shape.quads || (!words->by_columns[0] && words->by_columns[1]));
}

/* The lanes of each four whose metadata count: the operands E and F of mma.sp. Returns 1 if there are none such, and the
 * instruction has been refused. */
static int read_metadata(struct gt_ptx_decoder *decoder, const struct words *words, uint32_t *slot, unsigned *first)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const unsigned lanes = gt_ptx_metadata_lanes(words->shape, words->elements[1]);

	if (operands[5].kind != GT_PTX_IMMEDIATE || operands[5].bits >= 4 / lanes)
		return gt_ptx_refuse(decoder, "is not known with this sparsity selector") != 0 ? -1 : 1;
	*first = (unsigned)operands[5].bits * lanes;
	*slot = gt_ptx_source(decoder, &operands[4], GT_PTX_B32);
	return *slot ? 0 : -1;
}

/* The operands D, A, B, C, and what mma.sp has beside them. */
static int decode_product(struct gt_ptx_decoder *decoder, const struct words *words)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	struct gt_ptx_product *product = gt_ptx_own(decoder, sizeof *product);
	struct gt_ptx_result results[GT_PTX_FRAGMENT_REGISTERS];

	if (!product)
		return -1;
	struct gt_ptx_fragment *const fragments[] = {&product->d, &product->a, &product->b, &product->c};
	static const enum gt_ptx_role roles[] = {GT_PTX_MATRIX_C, GT_PTX_MATRIX_A, GT_PTX_MATRIX_B, GT_PTX_MATRIX_C};
	product->multiply = gt_ptx_multiply();
	product->shape = words->shape;
	product->saturates = words->saturates;
	product->differs = words->differs;
	const bool sparse = words->kind == GT_PTX_SPARSE;
	unsigned first = 0;
	uint32_t metadata = 0;
	int read = sparse ? read_metadata(decoder, words, &metadata, &first) : 0;
	if (read != 0)
		return gt_ptx_refused(read);
	/* Sources before results, whose registers may be the same. */
	for (size_t i = 4; i-- > 0;) {
		size_t n = operands[i].kind == GT_PTX_VECTOR ? operands[i].n_elements : 1;
		bool by_columns = roles[i] != GT_PTX_MATRIX_C && words->by_columns[roles[i] == GT_PTX_MATRIX_B];
		struct gt_ptx_shape shape = words->shape;
		if (sparse && roles[i] == GT_PTX_MATRIX_A)
			shape.k /= 2;
		if (!gt_ptx_fragment_lay_out(fragments[i], roles[i], shape, words->elements[i],
					     n > GT_PTX_FRAGMENT_REGISTERS ? 0 : (unsigned)n, by_columns))
			return gt_ptx_refuse(decoder, "is not known with so many registers");
		read = read_fragment(decoder, fragments[i], &operands[i], i == 0 ? results : NULL);
		if (read != 0)
			return gt_ptx_refused(read);
	}
	struct gt_ptx_op *op = gt_ptx_emit(decoder, sparse ? gt_ptx_sparse_product : gt_ptx_product_step(product));
	if (!op)
		return -1;
	op->with.product = product;
	op->a = metadata;
	op->choice = (uint8_t)first;
	return finish_fragment(decoder, &product->d, results);
}

static int decode_words(struct gt_ptx_decoder *decoder, enum gt_ptx_product_kind kind)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool wmma = kind == GT_PTX_WMMA;
	struct words words = {.kind = kind};
	char why[64];

	for (size_t i = 0; i < instruction->n_modifiers; i++)
		if (!take_word(&words, instruction->modifiers[i])) {
			snprintf(why, sizeof why, "is not modelled: '.%.32s'", instruction->modifiers[i]);
			return gt_ptx_refuse(decoder, why);
		}
	/* wmma of f16 names D and C alone. */
	if (wmma && words.n_elements == 2) {
		words.elements[3] = words.elements[1];
		words.elements[1] = words.elements[2] = GT_PTX_ELEMENT_F16;
		words.n_elements = 4;
	}
	words.shape.quads = !wmma && words.shape.m == 8 && words.elements[1] == GT_PTX_ELEMENT_F16;
	if (instruction->n_operands != (words.kind == GT_PTX_SPARSE ? 6 : 4) || !is_known(&words))
		return gt_ptx_refuse(decoder, "is not known in this form");
	return decode_product(decoder, &words);
}

/* mma.sync.aligned.SHAPE.LAYOUT.LAYOUT(.satfinite).D.A.B.C(.OP.popc) d, a, b, c; mma.sp(::ordered_metadata).sync and so on:
 * d, a, b, c, metadata, selector */
static int decode_mma(struct gt_ptx_decoder *decoder)
{
	return decode_words(decoder, GT_PTX_MMA);
}

/* wmma.mma(.OP.popc).sync.aligned.LAYOUT.LAYOUT.SHAPE(.rn).D(.A.B).C(.satfinite) d, a, b, c. The layouts are those
 * that A and B had in memory. */
static int decode_wmma_product(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "mma") ? decode_words(decoder, GT_PTX_WMMA) : gt_ptx_refuse(decoder, "is not known in this form");
}

/* ---- wgmma: products by four warps ---- */

#define ROWS 16 /* of a warp */

/* The kinds of products: of A and B by one letter each of the masks below, of D, and how deep they are. */
static const struct {
	enum gt_ptx_element a, b, d[2];
	uint16_t depth;
	bool transposes; /* A and B may lie along M and N, which two further operands say */
} kinds[] = {
	{GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F16, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 16, true},
	{GT_PTX_ELEMENT_BF16, GT_PTX_ELEMENT_BF16, {GT_PTX_ELEMENT_F32}, 16, true},
	{GT_PTX_ELEMENT_TF32, GT_PTX_ELEMENT_TF32, {GT_PTX_ELEMENT_F32}, 8, false},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E4M3, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E4M3, GT_PTX_ELEMENT_E5M2, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E5M2, GT_PTX_ELEMENT_E4M3, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_E5M2, GT_PTX_ELEMENT_E5M2, {GT_PTX_ELEMENT_F16, GT_PTX_ELEMENT_F32}, 32, false},
	{GT_PTX_ELEMENT_S8, GT_PTX_ELEMENT_S8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_S8, GT_PTX_ELEMENT_U8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_U8, GT_PTX_ELEMENT_S8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_U8, GT_PTX_ELEMENT_U8, {GT_PTX_ELEMENT_S32}, 32, false},
	{GT_PTX_ELEMENT_B1, GT_PTX_ELEMENT_B1, {GT_PTX_ELEMENT_S32}, 256, false},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Reads shape and elements; the kind, or KINDS if there is none such. */
static size_t read_kind(const struct gt_ptx_instruction *instruction, struct gt_ptx_wgmma *product, struct gt_ptx_shape *shape)
{
	enum gt_ptx_element elements[3] = {GT_PTX_NO_ELEMENT, GT_PTX_NO_ELEMENT, GT_PTX_NO_ELEMENT};
	size_t n = 0, kind = 0;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_element element = gt_ptx_element_named(word);
		read_shape(word, shape);
		if (element && n < 3)
			elements[n++] = element;
	}
	product->d_element = elements[0];
	product->a_element = elements[1];
	product->b_element = elements[2];
	while (kind < KINDS && (n != 3 || kinds[kind].a != elements[1] || kinds[kind].b != elements[2] ||
				(kinds[kind].d[0] != elements[0] && kinds[kind].d[1] != elements[0])))
		kind++;
	const bool bits = elements[1] == GT_PTX_ELEMENT_B1;
	if (kind == KINDS || shape->m != 64 || shape->k != kinds[kind].depth || shape->n == 0 || shape->n % 8 != 0 ||
	    shape->n > GT_PTX_WGMMA_COLUMNS || (bits && !(gt_ptx_has(instruction, "and") && gt_ptx_has(instruction, "popc"))))
		return KINDS;
	product->multiply = gt_ptx_multiply();
	product->columns = shape->n;
	product->depth = bits ? 8 : shape->k;
	product->saturates = gt_ptx_has(instruction, "satfinite");
	return kind;
}

/* A number that is written: 0, 1 or -1. */
static bool read_number(const struct gt_ptx_operand *operand, int64_t low, int64_t *number)
{
	*number = (int64_t)operand->bits;
	return operand->kind == GT_PTX_IMMEDIATE && (*number == 1 || *number == low);
}

/* What stands behind A and B: the predicate; for floats the signs of A and B, and which of them are transposed. */
static bool read_rest(const struct gt_ptx_instruction *instruction, size_t kind, struct gt_ptx_wgmma *product)
{
	const struct gt_ptx_operand *rest = instruction->operands + 4;
	const bool floats = product->d_element != GT_PTX_ELEMENT_S32;
	const size_t n = instruction->n_operands, transposes = !kinds[kind].transposes ? 0 : product->a_in_registers ? 1 : 2;
	int64_t number;

	if (n != 4U + (floats ? 2 : 0) + transposes)
		return false;
	if (!floats)
		return true;
	for (size_t i = 0; i < 2; i++) {
		if (!read_number(&rest[i], -1, &number))
			return false;
		*(i == 0 ? &product->a_negative : &product->b_negative) = number < 0;
	}
	for (size_t i = 0; i < transposes; i++) {
		if (!read_number(&rest[2 + i], 0, &number))
			return false;
		*(i + 1 == transposes ? &product->b_transposed : &product->a_transposed) = number == 1;
	}
	return true;
}

static int read_a(struct gt_ptx_decoder *decoder, struct gt_ptx_wgmma *product, struct gt_ptx_shape shape)
{
	const struct gt_ptx_operand *a = &decoder->instruction->operands[1];

	if (!product->a_in_registers)
		return (product->a_descriptor = gt_ptx_source(decoder, a, GT_PTX_B64)) ? 0 : -1;
	shape.m = ROWS;
	if (a->n_elements != 4 || !gt_ptx_fragment_lay_out(&product->a, GT_PTX_MATRIX_A, shape, product->a_element, 4, false))
		return gt_ptx_refuse(decoder, "is not known with so many registers") != 0 ? -1 : 1;
	return read_fragment(decoder, &product->a, a, NULL);
}

/* wgmma.mma_async.sync.aligned.SHAPE.D.A.B d, a | {a, ...}, b, adds(, sign, sign(, transposed)...) */
static int decode_wgmma_product(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_wgmma *product = gt_ptx_own(decoder, sizeof *product);
	struct gt_ptx_shape shape = {0};
	size_t n;

	if (!product)
		return -1;
	const size_t kind = read_kind(instruction, product, &shape);
	if (kind == KINDS || instruction->n_operands < 4)
		return gt_ptx_refuse(decoder, "is not known in this form");
	product->a_in_registers = instruction->operands[1].kind == GT_PTX_VECTOR;
	const struct gt_ptx_operand *d = gt_ptx_elements(&instruction->operands[0], &n);
	product->n = (uint16_t)(product->columns / (product->d_element == GT_PTX_ELEMENT_F16 ? 4 : 2));
	if (!read_rest(instruction, kind, product) || n != product->n)
		return gt_ptx_refuse(decoder, "is not known in this form");
	int read = read_a(decoder, product, shape);
	if (read != 0)
		return gt_ptx_refused(read);
	/* D is read and written in its own registers, which have 32 bits. */
	if (!(product->b_descriptor = gt_ptx_source(decoder, &instruction->operands[2], GT_PTX_B64)) ||
	    !(product->adds = gt_ptx_source(decoder, &instruction->operands[3], GT_PTX_PRED)) ||
	    read_registers(decoder, product->d, d, n, GT_PTX_B32, NULL) != 0)
		return -1;
	product->access = gt_ptx_shared_access(GT_LOAD, 16);
	product->access.address = gt_ptx_temporary_slot(decoder, GT_PTX_U64);
	return product->access.address && gt_ptx_emit_access(decoder, &product->access, gt_ptx_wgmma_step()) ? 0 : -1;
}

static int decode_wgmma(struct gt_ptx_decoder *decoder)
{
	if (gt_ptx_says(decoder, "fence") || gt_ptx_says(decoder, "commit_group"))
		return gt_ptx_emit_nothing(decoder);
	if (gt_ptx_says(decoder, "wait_group"))
		return gt_ptx_emit(decoder, gt_ptx_wgmma_wait) ? 0 : -1;
	return gt_ptx_says(decoder, "mma_async") && !gt_ptx_says(decoder, "sp") ? decode_wgmma_product(decoder)
										 : gt_ptx_refuse(decoder, "is not modelled");
}

/* ---- tcgen05: tensor memory, and products in it ---- */

/* Whether one of the words, which spaces part, is this. */
static bool is_among(const char *words, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* [taddr] */
static int read_tensor_address(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, struct gt_ptx_tensor_address *address)
{
	struct gt_ptx_access said = {0};

	if (gt_ptx_read_address(decoder, &said, operand) != 0)
		return -1;
	if (!said.narrow)
		return gt_fail(decoder->error, "PTX line %u: an address of tensor memory has 32 bits", decoder->instruction->line);
	*address = (struct gt_ptx_tensor_address){said.address, said.offset};
	return 0;
}

/* tcgen05.alloc.cta_group::G.sync.aligned(.shared::cta).b32 [address], columns */
static int decode_tensor_alloc(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	struct gt_ptx_access *access = gt_ptx_own(decoder, sizeof *access);

	if (!access || decoder->instruction->n_operands != 2)
		return access ? gt_ptx_refuse(decoder, "is not known in this form") : -1;
	*access = gt_ptx_shared_access(GT_STORE, sizeof(uint32_t));
	if (!gt_ptx_says(decoder, "shared::cta"))
		access->space = GT_PTX_GENERIC;
	const uint32_t columns = gt_ptx_source(decoder, &operands[1], GT_PTX_B32);
	if (!columns || gt_ptx_read_address(decoder, access, &operands[0]) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_tensor_steps.alloc);
	if (op)
		op->a = columns;
	return op ? 0 : -1;
}

/* tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, columns */
static int decode_tensor_dealloc(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;

	if (decoder->instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	const uint32_t address = gt_ptx_source(decoder, &operands[0], GT_PTX_B32);
	const uint32_t columns = gt_ptx_source(decoder, &operands[1], GT_PTX_B32);
	struct gt_ptx_op *op = address && columns ? gt_ptx_emit(decoder, gt_ptx_tensor_steps.free) : NULL;
	if (!op)
		return -1;
	op->a = address;
	op->b = columns;
	return 0;
}

/* Shape and count of tcgen05.ld and tcgen05.st; false if there are none such. */
static bool read_move(const struct gt_ptx_instruction *instruction, struct gt_ptx_tensor_move *move)
{
	/* Registers and columns that .x1 has. */
	static const struct {
		const char *word;
		uint8_t registers, columns;
	} rows[GT_PTX_TENSOR_SHAPES] = {
		[GT_PTX_32X32B] = {"32x32b", 1, 1},   [GT_PTX_16X64B] = {"16x64b", 1, 2},     [GT_PTX_16X128B] = {"16x128b", 2, 4},
		[GT_PTX_16X256B] = {"16x256b", 4, 8}, [GT_PTX_16X32BX2] = {"16x32bx2", 1, 1},
	};
	unsigned shape = 0, times = 1;
	char word[8] = "x1";

	while (shape < GT_PTX_TENSOR_SHAPES && !gt_ptx_has(instruction, rows[shape].word))
		shape++;
	while (times <= GT_PTX_TENSOR_LANES && !gt_ptx_has(instruction, word))
		snprintf(word, sizeof word, "x%u", times *= 2);
	if (shape == GT_PTX_TENSOR_SHAPES || times * rows[shape].registers > GT_PTX_TENSOR_LANES)
		return false;
	move->shape = (enum gt_ptx_tensor_shape)shape;
	move->n = (uint16_t)(times * rows[shape].registers);
	move->packed = gt_ptx_has(instruction, "pack::16b") || gt_ptx_has(instruction, "unpack::16b");
	move->columns = (uint16_t)(times * rows[shape].columns);
	return true;
}

/* tcgen05.ld.sync.aligned.SHAPE.xN(.pack::16b).b32 {r, ...}, [taddr](, half); tcgen05.st...(.unpack::16b).b32 [taddr](, half), {r, ...} */
static int decode_tensor_move(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool stores = gt_ptx_says(decoder, "st");
	const struct gt_ptx_operand *operands = instruction->operands;
	struct gt_ptx_tensor_move *move = gt_ptx_own(decoder, sizeof *move);
	struct gt_ptx_result results[GT_PTX_TENSOR_LANES];
	size_t n;

	if (!move)
		return -1;
	if (!read_move(instruction, move))
		return gt_ptx_refuse(decoder, "is not known in this form");
	const size_t wanted = move->shape == GT_PTX_16X32BX2 ? 3 : 2, at = stores ? 0 : 1;
	if (instruction->n_operands != wanted)
		return gt_ptx_refuse(decoder, "is not known in this form");
	const struct gt_ptx_operand *registers = gt_ptx_elements(&operands[stores ? wanted - 1 : 0], &n), *half = &operands[at + 1];
	if (wanted == 3 && (half->kind != GT_PTX_IMMEDIATE || half->bits >= GT_PTX_TENSOR_COLUMNS))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (wanted == 3)
		move->half = (uint32_t)half->bits;
	move->columns = (uint16_t)((move->columns + move->half) << move->packed);
	if (n != move->n)
		return gt_ptx_refuse(decoder, "is not known with so many registers");
	if (read_tensor_address(decoder, &operands[at], &move->address) != 0 ||
	    read_registers(decoder, move->slots, registers, n, GT_PTX_B32, stores ? NULL : results) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, stores ? gt_ptx_tensor_steps.store : gt_ptx_tensor_steps.load);
	if (!op)
		return -1;
	op->with.move = move;
	for (size_t i = 0; i < n && !stores; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* What stands behind the instruction descriptor: ({lanes that are not written},) adds(, scale). */
static int read_product_rest(struct gt_ptx_decoder *decoder, struct gt_ptx_tensor_product *product)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool floats = product->kind == GT_PTX_KIND_F16 || product->kind == GT_PTX_KIND_TF32;
	const size_t lanes = product->pair ? 8 : 4;
	size_t at = 4, n = instruction->n_operands;
	const struct gt_ptx_operand *rest = instruction->operands;

	if (n > at && rest[at].kind == GT_PTX_VECTOR && rest[at].n_elements == lanes) {
		if (read_registers(decoder, product->disabled, rest[at].elements, lanes, GT_PTX_B32, NULL) != 0)
			return -1;
		at++;
	}
	if (n < at + 1 || n > at + 1 + floats || (n > at + 1 && (rest[at + 1].kind != GT_PTX_IMMEDIATE || rest[at + 1].bits > 15)))
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	if (n > at + 1)
		product->scale = (uint8_t)rest[at + 1].bits;
	return (product->adds = gt_ptx_source(decoder, &rest[at], GT_PTX_PRED)) ? 0 : -1;
}

/* tcgen05.mma.cta_group::G.kind::KIND(.collector::a::USE) [d], a | [a], b, form, ... */
static int decode_tensor_product(struct gt_ptx_decoder *decoder)
{
	static const char *const names[GT_PTX_TENSOR_KINDS] = {"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8"};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	struct gt_ptx_tensor_product *product = gt_ptx_own(decoder, sizeof *product);
	unsigned kind = 0;

	if (!product)
		return -1;
	while (kind < GT_PTX_TENSOR_KINDS && !gt_ptx_says(decoder, names[kind]))
		kind++;
	if (kind == GT_PTX_TENSOR_KINDS || instruction->n_operands < 5)
		return gt_ptx_refuse(decoder, "is not known in this form");
	product->kind = (enum gt_ptx_tensor_kind)kind;
	product->multiply = gt_ptx_multiply();
	product->pair = gt_ptx_says(decoder, "cta_group::2");
	product->a_in_tensor = operands[1].kind == GT_PTX_ADDRESS;
	int read = read_product_rest(decoder, product);
	if (read != 0)
		return gt_ptx_refused(read);
	product->access = gt_ptx_shared_access(GT_LOAD, 16);
	product->access.remote = product->pair;
	if (read_tensor_address(decoder, &operands[0], &product->d) != 0 ||
	    (product->a_in_tensor ? read_tensor_address(decoder, &operands[1], &product->a) != 0
				  : !(product->a_descriptor = gt_ptx_source(decoder, &operands[1], GT_PTX_B64))) ||
	    !(product->b_descriptor = gt_ptx_source(decoder, &operands[2], GT_PTX_B64)) ||
	    !(product->form = gt_ptx_source(decoder, &operands[3], GT_PTX_B32)) ||
	    !(product->access.address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)))
		return -1;
	return gt_ptx_emit_access(decoder, &product->access, gt_ptx_tensor_product_step()) ? 0 : -1;
}

/* tcgen05.cp.cta_group::G.SHAPE(.warpxN) [taddr], descriptor */
static int decode_tensor_copy(struct gt_ptx_decoder *decoder)
{
	static const struct {
		const char *shape, *spread; /* NULL: none is written */
		uint8_t lines, pieces, next, times, apart;
	} rows[] = {
		{"128x256b", NULL, 128, 2, 32, 1, 0},
		{"128x128b", NULL, 128, 1, 32, 1, 0},
		{"64x128b", "warpx2::02_13", 64, 1, 32, 2, 64},
		{"64x128b", "warpx2::01_23", 64, 1, 64, 2, 32},
		{"32x128b", "warpx4", 32, 1, 32, 4, 32},
	};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_tensor_copy *copy = gt_ptx_own(decoder, sizeof *copy);
	size_t i = 0;

	if (!copy)
		return -1;
	while (i < sizeof rows / sizeof rows[0] &&
	       !(gt_ptx_says(decoder, rows[i].shape) &&
		 (rows[i].spread ? gt_ptx_says(decoder, rows[i].spread) : instruction->n_modifiers == 3)))
		i++;
	if (i == sizeof rows / sizeof rows[0] || instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	*copy = (struct gt_ptx_tensor_copy){.access = gt_ptx_shared_access(GT_LOAD, 16),
					    .pair = gt_ptx_says(decoder, "cta_group::2"),
					    .lines = rows[i].lines,
					    .pieces = rows[i].pieces,
					    .next = rows[i].next,
					    .times = rows[i].times,
					    .apart = rows[i].apart};
	copy->access.remote = copy->pair;
	if (read_tensor_address(decoder, &instruction->operands[0], &copy->d) != 0 ||
	    !(copy->descriptor = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_B64)) ||
	    !(copy->access.address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)))
		return -1;
	return gt_ptx_emit_access(decoder, &copy->access, gt_ptx_tensor_steps.copy) ? 0 : -1;
}

/* tcgen05.commit.cta_group::G.mbarrier::arrive::one(.shared::cluster)(.multicast::cluster).b64 [mbarrier](, blocks): what was begun before
 * is done. */
static int decode_tensor_commit(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t n = gt_ptx_says(decoder, "multicast::cluster") ? 2 : 1;
	struct gt_ptx_bulk *bulk = gt_ptx_own(decoder, sizeof *bulk);

	if (!bulk || instruction->n_operands != n || !gt_ptx_says(decoder, "mbarrier::arrive::one"))
		return bulk ? gt_ptx_refuse(decoder, "is not known in this form") : -1;
	bulk->mbarrier = gt_ptx_shared_access(GT_REDUCTION, 8);
	bulk->mbarrier.remote = true;
	if (!gt_ptx_says(decoder, "shared::cluster"))
		bulk->mbarrier.space = GT_PTX_GENERIC;
	if (gt_ptx_read_address(decoder, &bulk->mbarrier, &instruction->operands[0]) != 0 ||
	    !(bulk->inner.address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)) ||
	    (n > 1 && !(bulk->blocks = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_U32))))
		return -1;
	return gt_ptx_emit_access(decoder, &bulk->outer, gt_ptx_async_steps.arrive) ? 0 : -1;
}

/* Fences and waits do nothing, as what was begun is done; nor does a block give up allocations, as it has tensor memory of its own. */
static int decode_tcgen05(struct gt_ptx_decoder *decoder)
{
#define GROUPS "cta_group::1 cta_group::2 "
#define MOVES  "sync aligned 32x32b 16x64b 16x128b 16x256b 16x32bx2 x1 x2 x4 x8 x16 x32 x64 x128 b32 "
	static const struct {
		const char *word;
		gt_ptx_decode_one *decode;
		const char *others; /* that may stand behind it */
	} forms[] = {
		{"alloc", decode_tensor_alloc, GROUPS "sync aligned shared::cta b32"},
		{"commit", decode_tensor_commit, GROUPS "mbarrier::arrive::one shared::cluster multicast::cluster b64"},
		{"cp", decode_tensor_copy, GROUPS "128x256b 128x128b 64x128b 32x128b warpx2::02_13 warpx2::01_23 warpx4"},
		{"dealloc", decode_tensor_dealloc, GROUPS "sync aligned b32"},
		{"fence::after_thread_sync", gt_ptx_emit_nothing, ""},
		{"fence::before_thread_sync", gt_ptx_emit_nothing, ""},
		{"ld", decode_tensor_move, MOVES "pack::16b"},
		{"mma", decode_tensor_product,
		 GROUPS "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 collector::a::fill collector::a::use collector::a::lastuse "
			"collector::a::discard"},
		{"relinquish_alloc_permit", gt_ptx_emit_nothing, GROUPS "sync aligned"},
		{"st", decode_tensor_move, MOVES "unpack::16b"},
		{"wait::ld", gt_ptx_emit_nothing, "sync aligned"},
		{"wait::st", gt_ptx_emit_nothing, "sync aligned"},
	};
#undef GROUPS
#undef MOVES
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t n = sizeof forms / sizeof forms[0];
	size_t i = 0;
	char why[64];

	while (i < n && (instruction->n_modifiers == 0 || strcmp(instruction->modifiers[0], forms[i].word) != 0))
		i++;
	if (i == n)
		return gt_ptx_refuse(decoder, "is not modelled");
	for (size_t m = 1; m < instruction->n_modifiers; m++)
		if (!is_among(forms[i].others, instruction->modifiers[m])) {
			snprintf(why, sizeof why, "is not modelled: '.%.32s'", instruction->modifiers[m]);
			return gt_ptx_refuse(decoder, why);
		}
	return forms[i].decode(decoder);
}

/* ---- wmma.load, wmma.store, wmma.mma ---- */

/* Which matrix wmma.load and wmma.store name. */
static bool read_role(const struct gt_ptx_instruction *instruction, bool stores, enum gt_ptx_role *role)
{
	static const struct {
		const char *word;
		enum gt_ptx_role role;
		bool stores;
	} roles[] = {{"a", GT_PTX_MATRIX_A, false},
		     {"b", GT_PTX_MATRIX_B, false},
		     {"c", GT_PTX_MATRIX_C, false},
		     {"d", GT_PTX_MATRIX_C, true}};

	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (roles[i].stores == stores && gt_ptx_has(instruction, roles[i].word)) {
			*role = roles[i].role;
			return true;
		}
	return false;
}

bool gt_ptx_lay_out_tile(const struct gt_ptx_instruction *instruction, struct gt_ptx_tile *tile, bool stores, size_t n)
{
	enum gt_ptx_element element = GT_PTX_NO_ELEMENT;
	struct gt_ptx_shape shape = {0};
	enum gt_ptx_role role;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		enum gt_ptx_element named = gt_ptx_element_named(instruction->modifiers[i]);
		element = named ? named : element;
		read_shape(instruction->modifiers[i], &shape);
	}
	tile->by_columns = gt_ptx_has(instruction, "col");
	if (!element || !shape.m || !read_role(instruction, stores, &role) || n > GT_PTX_FRAGMENT_REGISTERS ||
	    tile->by_columns == gt_ptx_has(instruction, "row"))
		return false;
	/* Lines of less than a byte an element have whole words of a register: A's rows, and B's columns. */
	if (gt_ptx_element_bits(element) < 8 && tile->by_columns != (role == GT_PTX_MATRIX_B))
		return false;
	return is_wmma(shape, role, element) &&
	       gt_ptx_fragment_lay_out(&tile->fragment, role, shape, element, (unsigned)n, false);
}

unsigned gt_ptx_tile_stride(const struct gt_ptx_tile *tile)
{
	const struct gt_ptx_fragment *fragment = &tile->fragment;
	unsigned line = tile->by_columns ? fragment->rows : fragment->columns;

	return fragment->element == GT_PTX_ELEMENT_B1 ? 32 * line : line;
}

static uint32_t read_stride(struct gt_ptx_decoder *decoder, const struct gt_ptx_tile *tile)
{
	if (decoder->instruction->n_operands == 3)
		return gt_ptx_source(decoder, &decoder->instruction->operands[2], GT_PTX_U64);
	return gt_ptx_constant_slot(decoder, gt_ptx_tile_stride(tile), 8);
}

/* wmma.load.R.sync.aligned.LAYOUT.SHAPE(.SPACE).TYPE {r, ...}, [address](, stride); wmma.store.d... [address],
 * {r, ...}(, stride) */
static int decode_tile(struct gt_ptx_decoder *decoder, bool stores)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[GT_PTX_FRAGMENT_REGISTERS];
	struct gt_ptx_tile *tile = gt_ptx_own(decoder, sizeof *tile);
	struct gt_ptx_access *said;
	enum gt_ptx_type type;
	size_t n;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!tile || read != 0)
		return tile ? gt_ptx_refused(read) : -1;
	if (instruction->n_operands < 2 || instruction->n_operands > 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	const struct gt_ptx_operand *registers = &instruction->operands[stores ? 1 : 0];
	gt_ptx_elements(registers, &n);
	if (!gt_ptx_lay_out_tile(instruction, tile, stores, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, said, &instruction->operands[stores ? 0 : 1]) != 0)
		return -1;
	tile->base = *said;
	tile->stride = read_stride(decoder, tile);
	read = read_fragment(decoder, &tile->fragment, registers, stores ? NULL : results);
	if (!tile->stride || read != 0)
		return tile->stride ? gt_ptx_refused(read) : -1;
	tile->access = (struct gt_ptx_access){.space = said->space, .low = 1, .n = 1, .size = 1,
					      .action = stores ? GT_STORE : GT_LOAD,
					      .address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)};
	if (!tile->access.address ||
	    !gt_ptx_emit_access(decoder, &tile->access, gt_ptx_tile_step(stores)))
		return -1;
	return stores ? 0 : finish_fragment(decoder, &tile->fragment, results);
}

static int decode_wmma(struct gt_ptx_decoder *decoder)
{
	bool stores = gt_ptx_says(decoder, "store");

	return stores || gt_ptx_says(decoder, "load") ? decode_tile(decoder, stores) : decode_wmma_product(decoder);
}

gt_ptx_decode_one *const gt_ptx_decode_matrix[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_LDMATRIX] = decode_ldmatrix,
	[GT_PTX_OP_MMA] = decode_mma,
	[GT_PTX_OP_MOVMATRIX] = decode_movmatrix,
	[GT_PTX_OP_STMATRIX] = decode_stmatrix,
	[GT_PTX_OP_TCGEN05] = decode_tcgen05,
	[GT_PTX_OP_WGMMA] = decode_wgmma,
	[GT_PTX_OP_WMMA] = decode_wmma,
};
