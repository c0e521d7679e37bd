/* SPDX-License-Identifier: MIT */
/* Instructions on matrices: fragments in registers, ldmatrix and its like, products of a warp (mma, wmma), and of four warps
 * (wgmma). */
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
#define TINY_FLOATS  (BIT(E2M3) | BIT(E3M2) | BIT(E2M1_IN_BYTE))

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
	{16, 8, 32, {BYTES | NIBBLES | SMALL_FLOATS | TINY_FLOATS, 0, BIT(F16) | BIT(BF16) | BYTES}},
	{16, 8, 64, {NIBBLES | BIT(E2M1), 0, BYTES | NIBBLES | SMALL_FLOATS | TINY_FLOATS}},
	{16, 8, 128, {BIT(B1), 0, NIBBLES | BIT(E2M1)}},
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
	{BIT(F16), BIT(F16) | BIT(F32)},
	{SMALL_FLOATS | TINY_FLOATS, BIT(F16) | BIT(F32)},
	{BIT(E2M1), BIT(F32)},
	{BIT(BF16), BIT(F32)},
	{BIT(TF32), BIT(F32)},
	{BIT(F64), BIT(F64)},
	{BYTES, BIT(S32)},
	{NIBBLES, BIT(S32)},
	{BIT(B1), BIT(S32)},
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
	static const uint32_t families[] = {BYTES, NIBBLES, SMALL_FLOATS | TINY_FLOATS};
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

/* Reads the registers of a fragment that is laid out, as gt_ptx_read_registers does. Returns 1 if there are more or fewer registers than it has, and the
 * instruction has been refused. */
static int read_fragment(struct gt_ptx_decoder *decoder, struct gt_ptx_fragment *fragment,
			 const struct gt_ptx_operand *operand, struct gt_ptx_result *results)
{
	size_t n;
	const struct gt_ptx_operand *registers = gt_ptx_elements(operand, &n);

	if (n != fragment->n)
		return gt_ptx_refuse(decoder, "is not known with so many registers") != 0 ? -1 : 1;
	return gt_ptx_read_registers(decoder, fragment->slots, registers, n,
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

/* The bits of elements that become bytes: 16 of them are followed by as much as they need for 16 bytes. */
static unsigned unpacked_bits(const struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "b4x16_p64") ? 4 : gt_ptx_says(decoder, "b6x16_p32") ? 6 : 0;
}

/* Whether there is such a form, of which matrices have so many registers each. */
static bool is_form_of_rows(const struct gt_ptx_decoder *decoder, enum gt_ptx_type type, unsigned *registers)
{
	const bool loads = decoder->instruction->row == GT_PTX_OP_LDMATRIX, turned = gt_ptx_says(decoder, "trans");
	const bool unpacks = loads && gt_ptx_says(decoder, "b8x16") && unpacked_bits(decoder) != 0 && type == GT_PTX_NO_TYPE;
	const bool bytes = type == GT_PTX_B8 && !gt_ptx_says(decoder, "b8x16") && unpacked_bits(decoder) == 0;

	*registers = gt_ptx_says(decoder, "m16n16") ? 2 : 1;
	if (gt_ptx_says(decoder, "m8n8"))
		return type == GT_PTX_B16;
	if (gt_ptx_says(decoder, "m8n16"))
		return unpacks && !turned;
	return turned && (loads ? gt_ptx_says(decoder, "m16n16") && (bytes || unpacks) : gt_ptx_says(decoder, "m16n8") && bytes);
}

/* The access of ldmatrix and stmatrix: .m8n8.xN(.trans)(.shared).b16, N registers; of ldmatrix .m8n16.xN(.shared).b8x16.FORM, N, and
 * .m16n16.xN.trans(.shared).b8, or .b8x16.FORM, 2 N; of stmatrix .m16n8.xN.trans(.shared).b8, N. Returns as gt_ptx_read_modifiers does. */
static int new_rows(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, const struct gt_ptx_operand *address,
		    size_t n)
{
	enum gt_ptx_type type;
	unsigned registers = 0;
	int read = gt_ptx_new_access(decoder, access, &type);

	if (read != 0)
		return read;
	const bool known = is_form_of_rows(decoder, type, &registers);
	(*access)->n = (uint8_t)((*access)->n * registers);
	if (!known || !gt_ptx_says(decoder, "aligned") || n != (*access)->n || (*access)->space == GT_PTX_GLOBAL || n > 4)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	return gt_ptx_read_address(decoder, *access, address);
}

/* As the steps want it. */
static uint8_t way_of_rows(const struct gt_ptx_decoder *decoder)
{
	const bool bytes = gt_ptx_says(decoder, "m16n16") || gt_ptx_says(decoder, "m16n8");

	return (uint8_t)(bytes ? GT_PTX_TURNED_BYTES | unpacked_bits(decoder) : gt_ptx_says(decoder, "trans") ? GT_PTX_TURNED : unpacked_bits(decoder));
}

/* ldmatrix.sync.aligned.FORM {d, ...}, [address] */
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
	if (gt_ptx_read_registers(decoder, access->slots, registers, n, GT_PTX_B32, results) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_matrix_steps.load);
	if (!op)
		return -1;
	op->choice = way_of_rows(decoder);
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* stmatrix.sync.aligned.FORM [address], {a, ...} */
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
	if (gt_ptx_read_registers(decoder, access->slots, registers, n, GT_PTX_B32, NULL) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_matrix_steps.store);
	if (!op)
		return -1;
	op->choice = way_of_rows(decoder);
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
	enum gt_ptx_tensor_kind small; /* .kind:: of small floats; GT_PTX_TENSOR_KINDS: none is written */
	uint8_t scaled;		       /* elements with one scale; 0: there are none */
	bool powers;		       /* .ue8m0 */
};

/* What is written where floats have at most 8 bits, and may have scales. */
static bool is_of_small(const char *word)
{
	static const char *const known[] = {"kind::f8f6f4",  "kind::mxf8f6f4", "kind::mxf4",	"kind::mxf4nvf4", "block_scale",
					    "scale_vec::1X", "scale_vec::2X",  "scale_vec::4X", "ue8m0",	  "ue4m3"};
	size_t i = 0;

	while (i < sizeof known / sizeof known[0] && strcmp(word, known[i]) != 0)
		i++;
	return i < sizeof known / sizeof known[0];
}

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
	if (is_of_small(word))
		return true;
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

/* How deep products are whose elements have a byte each. */
static unsigned depth_of_bytes(const struct words *words)
{
	return words->kind == GT_PTX_SPARSE ? 64 : 32;
}

/* Reads the kind, and what it says of elements and scales. */
static void read_small(struct words *words, const struct gt_ptx_instruction *instruction)
{
	words->small = gt_ptx_kind_of(instruction);
	words->powers = gt_ptx_has(instruction, "ue8m0");
	if (words->small >= GT_PTX_KIND_MXF8F6F4 && words->small < GT_PTX_TENSOR_KINDS)
		words->scaled = gt_ptx_scaled_of(instruction, words->small);
	for (size_t i = 0; i < words->n_elements; i++)
		if (words->elements[i] == GT_PTX_ELEMENT_E2M1 && words->shape.k == depth_of_bytes(words))
			words->elements[i] = GT_PTX_ELEMENT_E2M1_IN_BYTE;
}

/* Whether the elements are those of the kind that is written, and have the scales that it asks for. */
static bool suits_kind(const struct words *words, const struct gt_ptx_instruction *instruction)
{
	const uint32_t elements = 1U << words->elements[1] | 1U << words->elements[2];
	const bool scales = gt_ptx_has(instruction, "block_scale"), e4m3 = gt_ptx_has(instruction, "ue4m3");

	if (words->small == GT_PTX_TENSOR_KINDS)
		return !(elements & (TINY_FLOATS | BIT(E2M1))) && !scales && !e4m3 && !words->powers;
	const bool bytes = words->small == GT_PTX_KIND_F8F6F4 || words->small == GT_PTX_KIND_MXF8F6F4;
	if (words->kind == GT_PTX_WMMA || elements & ~(bytes ? SMALL_FLOATS | TINY_FLOATS : BIT(E2M1)) ||
	    (bytes && words->shape.k != depth_of_bytes(words)))
		return false;
	if (words->small == GT_PTX_KIND_F8F6F4)
		return !scales && !e4m3 && !words->powers;
	return words->scaled && words->elements[0] == GT_PTX_ELEMENT_F32 && e4m3 != words->powers &&
	       (words->powers || words->scaled == 16);
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

/* The lanes of each four whose metadata count: the operands E and F of mma.sp, or of wgmma.sp; lanes: how many have some. Returns 1 if there are none such, and the
 * instruction has been refused. */
static int read_metadata(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operands, unsigned lanes, uint32_t *slot,
			 uint8_t *first)
{
	size_t n;
	const struct gt_ptx_operand *words = gt_ptx_elements(&operands[0], &n);

	if (n != 1 || operands[1].kind != GT_PTX_IMMEDIATE || operands[1].bits >= 4 / lanes)
		return gt_ptx_refuse(decoder, "is not known with this sparsity selector") != 0 ? -1 : 1;
	*first = (uint8_t)(operands[1].bits * lanes);
	*slot = gt_ptx_source(decoder, words, GT_PTX_B32);
	return *slot ? 0 : -1;
}

/* {scales of A}, {byte, thread}, {scales of B}, {byte, thread}, behind the matrices and the metadata. */
static int read_scales(struct gt_ptx_decoder *decoder, const struct words *words, struct gt_ptx_scales *scales)
{
	const struct gt_ptx_operand *first = decoder->instruction->operands + (words->kind == GT_PTX_SPARSE ? 6 : 4);

	scales->scaled = words->scaled;
	scales->powers = words->powers;
	for (size_t i = 0; words->scaled && i < 2; i++) {
		size_t n_words, n_places;
		const struct gt_ptx_operand *of = gt_ptx_elements(&first[2 * i], &n_words), *place = gt_ptx_elements(&first[2 * i + 1], &n_places);
		if (n_words != 1 || n_places != 2)
			return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
		if (!(scales->of[i].words = gt_ptx_source(decoder, of, GT_PTX_B32)) ||
		    !(scales->of[i].byte = gt_ptx_source(decoder, &place[0], GT_PTX_B16)) ||
		    !(scales->of[i].thread = gt_ptx_source(decoder, &place[1], GT_PTX_B16)))
			return -1;
	}
	return 0;
}

/* The operands D, A, B, C, and what mma.sp, or scales, have beside them. */
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
	uint8_t first = 0;
	uint32_t metadata = 0;
	const unsigned lanes = sparse ? gt_ptx_metadata_lanes(words->shape, words->elements[1]) : 0;
	int read = sparse ? read_metadata(decoder, operands + 4, lanes, &metadata, &first) : 0;
	if (read == 0)
		read = read_scales(decoder, words, &product->scales);
	if (!words->shape.quads && !product->scales.scaled)
		product->sums = gt_ptx_sums_of(words->elements[1], words->elements[2], words->elements[0], false, decoder->machine->capability);
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
	op->choice = first;
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
	read_small(&words, instruction);
	if (instruction->n_operands != 4U + (words.kind == GT_PTX_SPARSE ? 2 : 0) + (words.scaled ? 4 : 0) || !is_known(&words) ||
	    !suits_kind(&words, instruction))
		return gt_ptx_refuse(decoder, "is not known in this form");
	return decode_product(decoder, &words);
}

/* mma.sync.aligned.SHAPE.LAYOUT.LAYOUT(.satfinite).D.A.B.C(.OP.popc) d, a, b, c; mma.sp(::ordered_metadata).sync and so on:
 * d, a, b, c, metadata, selector. Scales stand behind these. */
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
	product->sparse = gt_ptx_has(instruction, "sp");
	if (kind == KINDS || shape->m != 64 || shape->k != (product->sparse ? 2 : 1) * kinds[kind].depth || (bits && product->sparse) || shape->n == 0 || shape->n % 8 != 0 ||
	    shape->n > GT_PTX_WGMMA_COLUMNS || (bits && !(gt_ptx_has(instruction, "and") && gt_ptx_has(instruction, "popc"))))
		return KINDS;
	product->multiply = gt_ptx_multiply();
	product->sums = gt_ptx_sums_of(elements[1], elements[2], elements[0], true, 0);
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

/* What stands behind A, B and metadata: the predicate; for floats the signs of A and B, and which of them are transposed. */
static bool read_rest(const struct gt_ptx_instruction *instruction, size_t kind, struct gt_ptx_wgmma *product)
{
	const size_t before = product->sparse ? 6 : 4;
	const struct gt_ptx_operand *rest = instruction->operands + before;
	const bool floats = product->d_element != GT_PTX_ELEMENT_S32;
	const size_t n = instruction->n_operands, transposes = !kinds[kind].transposes ? 0 : product->a_in_registers ? 1 : 2;
	int64_t number;

	if (n != before + (floats ? 2 : 0) + transposes)
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
	shape.k = (uint16_t)(product->sparse ? shape.k / 2 : shape.k);
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
	if (read == 0 && product->sparse)
		read = read_metadata(decoder, instruction->operands + 3, gt_ptx_metadata_lanes(shape, product->a_element), &product->metadata,
				     &product->first);
	if (read != 0)
		return gt_ptx_refused(read);
	/* D is read and written in its own registers, which have 32 bits. */
	if (!(product->b_descriptor = gt_ptx_source(decoder, &instruction->operands[2], GT_PTX_B64)) ||
	    !(product->adds = gt_ptx_source(decoder, &instruction->operands[product->sparse ? 5 : 3], GT_PTX_PRED)) ||
	    gt_ptx_read_registers(decoder, product->d, d, n, GT_PTX_B32, NULL) != 0)
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
	return gt_ptx_says(decoder, "mma_async") ? decode_wgmma_product(decoder) : gt_ptx_refuse(decoder, "is not modelled");
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
	[GT_PTX_OP_WGMMA] = decode_wgmma,
	[GT_PTX_OP_WMMA] = decode_wmma,
};
