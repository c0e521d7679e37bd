/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/decode/access.h"

int gt_ptx_read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);
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

int gt_ptx_new_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, enum gt_ptx_type *type)
{
	*access = gt_ptx_own(decoder, sizeof **access);
	if (!*access)
		return -1;
	int result = gt_ptx_read_modifiers(decoder, *access, type);
	(*access)->size = (uint8_t)gt_ptx_type_size(*type);
	(*access)->waits = decoder->waits[decoder->at];
	(*access)->low = 1; /* low > high: no allocation is cached */
	return result;
}

int gt_ptx_refused(int result)
{
	return result > 0 ? 0 : result;
}

struct gt_ptx_op *gt_ptx_emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op) {
		op->with.access = access;
		op->accesses = 1;
	}
	return op;
}
