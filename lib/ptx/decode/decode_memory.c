/* SPDX-License-Identifier: MIT */
/* Loads, stores, atomics, copies and texture fetches. */
#include <stdio.h>
#include <string.h>

#include "ptx/decode/modifiers.h"
#include "ptx/exec/access.h"
#include "stream/hint.h"
#include "stream/op.h"

/* The address: a register's lanes and an offset, or a symbol's constant address. */
static int read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register(&decoder->registers, operand->name);
	uint64_t address = 0;

	if (operand->kind != GT_PTX_ADDRESS)
		return gt_fail(decoder->error, "PTX line %u: an address in brackets expected",
			       decoder->instruction->line);
	if (reg) {
		unsigned size = gt_ptx_type_size(reg->type);
		if (size != 4 && size != 8)
			return gt_fail(decoder->error, "PTX line %u: '%s' is too narrow for an address",
				       decoder->instruction->line, operand->name);
		access->narrow = size == 4;
		access->address = reg->slot;
		access->offset = operand->offset;
		if (access->space == GT_PTX_PARAM && !decoder->function->entry)
			access->space = GT_PTX_LOCAL;
		access->untraced = gt_ptx_says(decoder, "param");
		return 0;
	}
	enum gt_ptx_symbol_kind kind =
		operand->name ? gt_ptx_symbol_of(decoder, operand->name, &address) : GT_PTX_IN_DEVICE;
	if (kind == GT_PTX_NO_SYMBOL)
		return gt_fail(decoder->error, "PTX line %u: '%s' is not declared",
			       decoder->instruction->line, operand->name);
	access->in_frame = kind == GT_PTX_IN_FRAME;
	access->untraced = access->space == GT_PTX_PARAM;
	if (kind == GT_PTX_IN_FRAME)
		access->space = GT_PTX_LOCAL;
	else if (kind == GT_PTX_IN_PARAMETERS)
		access->space = GT_PTX_PARAM;
	else if (kind == GT_PTX_IN_SHARED)
		access->space = GT_PTX_SHARED;
	access->address = gt_ptx_constant_slot(decoder, address + (uint64_t)operand->offset, 8);
	return access->address ? 0 : -1;
}

/* The access of the instruction at hand, by its modifiers. Returns 0; 1 if it has been refused; or -1. */
static int new_access(struct gt_ptx_decoder *decoder, unsigned family, struct gt_ptx_access **access,
		      enum gt_ptx_type *type)
{
	*access = gt_ptx_own(decoder, sizeof **access);
	if (!*access)
		return -1;
	int result = gt_ptx_read_modifiers(decoder, family, *access, type);
	(*access)->size = (uint8_t)gt_ptx_type_size(*type);
	(*access)->low = 1; /* nothing is between 1 and 0 */
	return result;
}

/* For a decoder whose instruction was refused, or failed. */
static int refused(int result)
{
	return result > 0 ? 0 : result;
}

static struct gt_ptx_op *emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op) {
		op->with.access = access;
		op->accesses = 1;
	}
	return op;
}

/* The elements of a vector, or the one value. */
static const struct gt_ptx_operand *elements(const struct gt_ptx_operand *operand, size_t *n)
{
	*n = operand->kind == GT_PTX_VECTOR ? operand->n_elements : 1;
	return operand->kind == GT_PTX_VECTOR ? operand->elements : operand;
}

static bool fits(const struct gt_ptx_access *access, size_t n)
{
	unsigned bytes = (unsigned)access->size * access->n;

	return n == access->n && n <= 8 && access->size > 0 && access->size <= 8 &&
	       bytes <= GT_ACCESS_SIZE_MAX;
}

int gt_ptx_decode_ld(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[8];
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	size_t n = 0, operands = instruction->n_operands;
	int result = new_access(decoder, GT_PTX_LOADS, &access, &type);

	if (result != 0)
		return refused(result);
	if (gt_ptx_read_policy(decoder, access, &operands) != 0)
		return -1;
	const struct gt_ptx_operand *values = operands == 2 ? elements(&instruction->operands[0], &n) : NULL;
	if (!values || !fits(access, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_LOAD;
	if (read_address(decoder, access, &instruction->operands[1]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		results[i] = (struct gt_ptx_result){0};
		if (values[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result(decoder, &values[i], type, &results[i]) != 0)
			return -1;
		access->slots[i] = results[i].slot;
		access->keeps |= n > 1 && results[i].slot == access->address;
	}
	if (!emit_access(decoder, access, gt_ptx_load_step(access->size)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

int gt_ptx_decode_st(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	size_t n = 0, operands = instruction->n_operands;
	int result = new_access(decoder, GT_PTX_STORES, &access, &type);

	if (result != 0)
		return refused(result);
	if (gt_ptx_read_policy(decoder, access, &operands) != 0)
		return -1;
	const struct gt_ptx_operand *values = operands == 2 ? elements(&instruction->operands[1], &n) : NULL;
	if (!values || !fits(access, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_STORE;
	if (read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!(access->slots[i] = gt_ptx_source(decoder, &values[i], type)))
			return -1;
	return emit_access(decoder, access, gt_ptx_store_step(access->size)) ? 0 : -1;
}

/* atom.OP.TYPE d, [a], b(, c); red without d. An atom whose result nothing reads is a reduction, as
 * the assembler makes it. */
int gt_ptx_decode_atom(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool returns = gt_ptx_row(instruction)->access == GT_PTX_ACCESS_ATOMIC;
	size_t at = returns ? 1 : 0, n = instruction->n_operands;
	struct gt_ptx_result result = {0};
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	int read = new_access(decoder, GT_PTX_ATOMICS, &access, &type);

	if (read != 0)
		return refused(read);
	if (gt_ptx_read_policy(decoder, access, &n) != 0)
		return -1;
	access->change = gt_ptx_change(instruction, type);
	if (!access->change || n < at + 2 || n > at + 3 || access->n != 1)
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    !(access->slots[0] = gt_ptx_source(decoder, &instruction->operands[at + 1], type)) ||
	    (n == at + 3 &&
	     !(access->slots[1] = gt_ptx_source(decoder, &instruction->operands[at + 2], type))))
		return -1;
	if (returns && instruction->operands[0].kind == GT_PTX_REGISTER) {
		const struct gt_ptx_register *reg =
			gt_ptx_register(&decoder->registers, instruction->operands[0].name);
		returns = reg && reg->read;
		if (gt_ptx_result(decoder, &instruction->operands[0], type, &result) != 0)
			return -1;
	}
	access->action = returns && result.slot ? GT_ATOMIC : GT_REDUCTION;
	struct gt_ptx_op *op = emit_access(decoder, access, gt_ptx_atomic);
	if (!op)
		return -1;
	op->d = result.slot;
	return gt_ptx_finish_result(decoder, &result);
}

/* What follows the bytes: how many of them are copied, or whether none is. The rest is zero. */
static int read_copied(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t *copied,
		       uint32_t *ignored)
{
	const struct gt_ptx_register *reg =
		operand->kind == GT_PTX_REGISTER ? gt_ptx_register(&decoder->registers, operand->name) : NULL;

	if (reg && reg->type == GT_PTX_PRED)
		return (*ignored = gt_ptx_source(decoder, operand, GT_PTX_PRED)) ? 0 : -1;
	return (*copied = gt_ptx_source(decoder, operand, GT_PTX_U32)) ? 0 : -1;
}

/* cp.async.CACHE.shared.global [to], [from], bytes(, bytes that are copied, or a predicate: none is)(, policy). */
static int decode_async(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *from, *to = gt_ptx_own(decoder, sizeof *to);
	size_t n = instruction->n_operands;
	uint32_t copied = 0, ignored = 0;
	int read = new_access(decoder, GT_PTX_COPIES, &from, &type);

	if (!to || read != 0)
		return to ? refused(read) : -1;
	if (gt_ptx_read_policy(decoder, from, &n) != 0)
		return -1;
	if (n < 3 || n > 4 || instruction->operands[2].kind != GT_PTX_IMMEDIATE)
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint64_t bytes = instruction->operands[2].bits;
	if (bytes != 4 && bytes != 8 && bytes != 16)
		return gt_ptx_refuse(decoder, "copies 4, 8 or 16 bytes");
	*to = (struct gt_ptx_access){.space = GT_PTX_SHARED, .action = GT_STORE, .n = 1, .low = 1};
	from->space = GT_PTX_GLOBAL;
	from->action = GT_LOAD;
	from->size = to->size = (uint8_t)bytes;
	if (read_address(decoder, to, &instruction->operands[0]) != 0 ||
	    read_address(decoder, from, &instruction->operands[1]) != 0 ||
	    (n == 4 && read_copied(decoder, &instruction->operands[3], &copied, &ignored) != 0))
		return -1;
	/* Two micro-ops: the bytes pass through the warp's buffer. */
	struct gt_ptx_op *op = emit_access(decoder, from, gt_ptx_copy_from);
	if (!op)
		return -1;
	op->a = copied;
	op->b = ignored;
	return emit_access(decoder, to, gt_ptx_copy_to) ? 0 : -1;
}

int gt_ptx_decode_cp(struct gt_ptx_decoder *decoder)
{
	if (gt_ptx_says(decoder, "bulk"))
		return gt_ptx_refuse(decoder, "is not modelled");
	if (gt_ptx_says(decoder, "commit_group") || gt_ptx_says(decoder, "wait_group") ||
	    gt_ptx_says(decoder, "wait_all"))
		return gt_ptx_decode_nothing(decoder);
	return gt_ptx_says(decoder, "async") ? decode_async(decoder) : gt_ptx_refuse(decoder, "is not modelled");
}

/* What is done with lines: the action, and what else has to be said. */
static const struct {
	enum gt_ptx_opcode opcode;
	const char *level;
	enum gt_line_action action;
	size_t operands;
} line_actions[] = {
	{GT_PTX_OP_PREFETCH, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_PREFETCH, "L2", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_last", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_normal", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCHU, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_DISCARD, "L2", GT_DISCARD_L2, 2},
	{GT_PTX_OP_APPLYPRIORITY, "L2::evict_normal", GT_APPLY_PRIORITY_L2, 2},
};

/* prefetch(.global).LEVEL [a]; discard(.global).L2 [a], 128; applypriority(.global).L2::evict_normal [a], 128. */
int gt_ptx_decode_line(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t all = sizeof line_actions / sizeof line_actions[0];
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	size_t i = 0, n = instruction->n_operands;
	int read = new_access(decoder, GT_PTX_LINES, &access, &type);

	if (read != 0)
		return refused(read);
	while (i < all && (instruction->row != line_actions[i].opcode || !gt_ptx_says(decoder, line_actions[i].level)))
		i++;
	if (i == all || n != line_actions[i].operands || type != GT_PTX_NO_TYPE ||
	    (n == 2 && (instruction->operands[1].kind != GT_PTX_IMMEDIATE || instruction->operands[1].bits != GT_LINE)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (access->space == GT_PTX_LOCAL) {
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'prefetch.local'",
				    "local memory is not prefetched");
		return gt_ptx_decode_nothing(decoder);
	}
	access->hint |= gt_hint(GT_PRIORITY_NONE, GT_PRIORITY_NONE, GT_FETCH_NONE, line_actions[i].action);
	access->action = GT_LOAD;
	if (read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	return emit_access(decoder, access, gt_ptx_touch_lines) ? 0 : -1;
}

/* tex.1d.v4.TYPE.s32 {a, b, c, d}, [texture, {x}]: an unfiltered fetch from linear memory. */
int gt_ptx_decode_tex(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_words words;

	gt_ptx_read_words(instruction, &words);
	if (!gt_ptx_says(decoder, "1d") || !gt_ptx_says(decoder, "v4") || words.type != GT_PTX_S32 ||
	    gt_ptx_type_size(words.first_type) != 4 || instruction->n_operands != 2 ||
	    instruction->operands[0].n_elements != 4 || instruction->operands[1].n_elements < 1)
		return gt_ptx_emit_unknown(
			decoder, "opcode '%s' is not known: textures are fetched by integers, 1D, linear",
			words.name);
	const struct gt_ptx_operand *handle = &instruction->operands[1], *x = &handle->elements[0];
	struct gt_ptx_access *access = gt_ptx_own(decoder, sizeof *access);
	if (!access)
		return -1;
	access->low = 1;
	access->space = GT_PTX_GLOBAL;
	access->action = GT_LOAD;
	access->size = 4;
	access->n = 4;
	struct gt_ptx_operand reg = *handle;
	reg.kind = GT_PTX_REGISTER;
	reg.n_elements = 0;
	uint32_t texture = gt_ptx_source(decoder, &reg, GT_PTX_U64);
	uint32_t at =
		texture ? gt_ptx_source(decoder, x->kind == GT_PTX_VECTOR ? &x->elements[0] : x, GT_PTX_S32)
			: 0;
	if (!at)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		struct gt_ptx_result result = {0};
		const struct gt_ptx_operand *element = &instruction->operands[0].elements[i];
		if (element->kind != GT_PTX_SINK && gt_ptx_result(decoder, element, GT_PTX_B32, &result) != 0)
			return -1;
		access->slots[i] = result.slot;
	}
	struct gt_ptx_op *op = emit_access(decoder, access, gt_ptx_texture);
	if (!op)
		return -1;
	op->a = texture;
	op->b = at;
	return 0;
}
