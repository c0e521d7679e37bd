/* SPDX-License-Identifier: MIT */
/* Instructions on tensor memory (tcgen05): allocations, loads, stores and copies, and products in it; and scales of elements, which mma has
 * too. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/matrix.h"
#include "cuda/ptx/exec/tensor.h"

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
	    gt_ptx_read_registers(decoder, move->slots, registers, n, GT_PTX_B32, stores ? NULL : results) != 0)
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

enum gt_ptx_tensor_kind gt_ptx_kind_of(const struct gt_ptx_instruction *instruction)
{
	static const char *const names[GT_PTX_TENSOR_KINDS] = {
		[GT_PTX_KIND_F16] = "kind::f16",
		[GT_PTX_KIND_TF32] = "kind::tf32",
		[GT_PTX_KIND_F8F6F4] = "kind::f8f6f4",
		[GT_PTX_KIND_I8] = "kind::i8",
		[GT_PTX_KIND_MXF8F6F4] = "kind::mxf8f6f4",
		[GT_PTX_KIND_MXF4] = "kind::mxf4",
		[GT_PTX_KIND_MXF4NVF4] = "kind::mxf4nvf4",
	};
	unsigned kind = 0;

	while (kind < GT_PTX_TENSOR_KINDS && !gt_ptx_has(instruction, names[kind]))
		kind++;
	return (enum gt_ptx_tensor_kind)kind;
}

/* A word says how many scales a row has, or how large their blocks are. */
uint8_t gt_ptx_scaled_of(const struct gt_ptx_instruction *instruction, enum gt_ptx_tensor_kind kind)
{
	static const struct {
		const char *word;
		uint8_t scaled, kinds; /* bits from that of GT_PTX_KIND_MXF8F6F4 on */
	} words[] = {
		{"scale_vec::1X", 32, 1}, {"scale_vec::2X", 32, 2 | 4}, {"scale_vec::4X", 16, 4}, {"block16", 16, 4}, {"block32", 32, 1 | 2 | 4},
	};
	uint8_t scaled = kind == GT_PTX_KIND_MXF4NVF4 ? 0 : 32;

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (gt_ptx_has(instruction, words[i].word))
			scaled = words[i].kinds >> (kind - GT_PTX_KIND_MXF8F6F4) & 1 ? words[i].scaled : 0;
	return gt_ptx_has(instruction, "block_scale") ? scaled : 0;
}

/* What stands behind the instruction descriptor: [scales of A], [scales of B], adds. */
static int read_scales(struct gt_ptx_decoder *decoder, struct gt_ptx_tensor_product *product)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t at = product->sparse ? 5 : 4;
	const struct gt_ptx_operand *rest = instruction->operands + at;

	product->scaled = gt_ptx_scaled_of(instruction, product->kind);
	if (!product->scaled || instruction->n_operands != at + 3)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	if (read_tensor_address(decoder, &rest[0], &product->a_scales) != 0 || read_tensor_address(decoder, &rest[1], &product->b_scales) != 0)
		return -1;
	return (product->adds = gt_ptx_source(decoder, &rest[2], GT_PTX_PRED)) ? 0 : -1;
}

/* The same without scales: ({lanes that are not written},) adds(, scale). */
static int read_product_rest(struct gt_ptx_decoder *decoder, struct gt_ptx_tensor_product *product)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool scales = !product->keeps_b && (product->kind == GT_PTX_KIND_F16 || product->kind == GT_PTX_KIND_TF32);
	const size_t lanes = product->pair ? 8 : 4;
	size_t at = product->sparse ? 5 : 4, n = instruction->n_operands;
	const struct gt_ptx_operand *rest = instruction->operands;

	if (n > at && rest[at].kind == GT_PTX_VECTOR && rest[at].n_elements == lanes && !product->keeps_b) {
		if (gt_ptx_read_registers(decoder, product->disabled, rest[at].elements, lanes, GT_PTX_B32, NULL) != 0)
			return -1;
		at++;
	}
	if (n < at + 1 || n > at + 1 + scales || (n > at + 1 && (rest[at + 1].kind != GT_PTX_IMMEDIATE || rest[at + 1].bits > 15)))
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	if (n > at + 1)
		product->scale = (uint8_t)rest[at + 1].bits;
	return (product->adds = gt_ptx_source(decoder, &rest[at], GT_PTX_PRED)) ? 0 : -1;
}

/* tcgen05.mma(.sp).cta_group::G.kind::KIND(.block_scale(.SCALES))(.collector::a::USE) [d], a | [a], b(, [metadata]), form, ...; and
 * tcgen05.mma.ws.cta_group::1.kind::KIND(.collector::bN::USE) with few operands. A collector keeps A, or B, which does not change. */
static int decode_tensor_product(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	struct gt_ptx_tensor_product *product = gt_ptx_own(decoder, sizeof *product);
	const enum gt_ptx_tensor_kind kind = gt_ptx_kind_of(instruction);

	if (!product)
		return -1;
	if (kind == GT_PTX_TENSOR_KINDS || instruction->n_operands < 5)
		return gt_ptx_refuse(decoder, "is not known in this form");
	product->kind = kind;
	product->multiply = gt_ptx_multiply();
	product->pair = gt_ptx_says(decoder, "cta_group::2");
	product->a_in_tensor = operands[1].kind == GT_PTX_ADDRESS;
	product->sparse = gt_ptx_says(decoder, "sp");
	product->keeps_b = gt_ptx_says(decoder, "ws");
	if (product->keeps_b && (product->sparse || product->pair || kind >= GT_PTX_KIND_MXF8F6F4))
		return gt_ptx_refuse(decoder, product->sparse ? "is not modelled: '.ws' with a sparse A" : "is not known in this form");
	int read = kind >= GT_PTX_KIND_MXF8F6F4 ? read_scales(decoder, product) : read_product_rest(decoder, product);
	if (read != 0)
		return gt_ptx_refused(read);
	product->access = gt_ptx_shared_access(GT_LOAD, 16);
	product->access.remote = product->pair;
	if (read_tensor_address(decoder, &operands[0], &product->d) != 0 ||
	    (product->a_in_tensor ? read_tensor_address(decoder, &operands[1], &product->a) != 0
				  : !(product->a_descriptor = gt_ptx_source(decoder, &operands[1], GT_PTX_B64))) ||
	    !(product->b_descriptor = gt_ptx_source(decoder, &operands[2], GT_PTX_B64)) ||
	    (product->sparse && read_tensor_address(decoder, &operands[3], &product->metadata) != 0) ||
	    !(product->form = gt_ptx_source(decoder, &operands[product->sparse ? 4 : 3], GT_PTX_B32)) ||
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
#define COLLECTOR(NAME) "collector::" NAME "::fill collector::" NAME "::use collector::" NAME "::lastuse collector::" NAME "::discard "
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
		 GROUPS "sp ws kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 block_scale scale_vec::1X scale_vec::2X "
			"scale_vec::4X block16 block32 " COLLECTOR("a")
			COLLECTOR("b0") COLLECTOR("b1") COLLECTOR("b2") COLLECTOR("b3")},
		{"relinquish_alloc_permit", gt_ptx_emit_nothing, GROUPS "sync aligned"},
		{"st", decode_tensor_move, MOVES "unpack::16b"},
		{"wait::ld", gt_ptx_emit_nothing, "sync aligned"},
		{"wait::st", gt_ptx_emit_nothing, "sync aligned"},
	};
#undef GROUPS
#undef MOVES
#undef COLLECTOR
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

gt_ptx_decode_one *const gt_ptx_decode_tensor[GT_PTX_OP_COUNT] = {[GT_PTX_OP_TCGEN05] = decode_tcgen05};
