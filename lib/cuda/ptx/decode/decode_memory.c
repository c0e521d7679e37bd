/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/bulk.h"
#include "cuda/ptx/exec/access.h"
#include "stream/op.h"

/* The elements of a vector operand, or the operand itself. */
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
	int result = gt_ptx_new_access(decoder, &access, &type);

	if (result != 0)
		return gt_ptx_refused(result);
	if (gt_ptx_read_policy(decoder, access, &operands) != 0)
		return -1;
	const struct gt_ptx_operand *values = operands == 2 ? elements(&instruction->operands[0], &n) : NULL;
	if (!values || !fits(access, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_LOAD;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[1]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		results[i] = (struct gt_ptx_result){0};
		if (values[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result_slot(decoder, &values[i], type, &results[i]) != 0)
			return -1;
		access->slots[i] = results[i].slot;
		access->keeps |= n > 1 && results[i].slot == access->address;
	}
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_load_step(access)))
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
	int result = gt_ptx_new_access(decoder, &access, &type);

	if (result != 0)
		return gt_ptx_refused(result);
	if (gt_ptx_read_policy(decoder, access, &operands) != 0)
		return -1;
	const bool asynchronous = gt_ptx_says(decoder, "async");
	const struct gt_ptx_operand *values = operands == 2U + asynchronous ? elements(&instruction->operands[1], &n) : NULL;
	if (!values || !fits(access, n) || (asynchronous && !gt_ptx_is_reported(decoder)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_STORE;
	access->remote |= asynchronous;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!(access->slots[i] = gt_ptx_source(decoder, &values[i], type)))
			return -1;
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_store_step(access)))
		return -1;
	return asynchronous ? gt_ptx_emit_report(decoder, &instruction->operands[2], (uint32_t)access->size * access->n) : 0;
}

/* atom.global.OP.VECTOR.TYPE {d, ...}, [a], {b, ...}; red without d. */
static int decode_vector_atomic(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, enum gt_ptx_type type, size_t n)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const size_t at = gt_ptx_results(decoder->instruction);
	struct gt_ptx_result results[8];

	if (access->space != GT_PTX_GLOBAL || n != at + 2 || access->n > 8 || operands[at + 1].n_elements != access->n ||
	    (at > 0 && operands[0].n_elements != access->n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, access, &operands[at]) != 0)
		return -1;
	for (size_t i = 0; i < access->n; i++) {
		if (!(access->slots[i] = gt_ptx_source(decoder, &operands[at + 1].elements[i], type)))
			return -1;
		if (at > 0 && gt_ptx_result_slot(decoder, &operands[0].elements[i], type, &results[i]) != 0)
			return -1;
		access->results[i] = at > 0 ? results[i].slot : 0;
	}
	access->action = at > 0 ? GT_ATOMIC : GT_REDUCTION;
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_vector_atomic))
		return -1;
	for (size_t i = 0; i < access->n && at > 0; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* atom.OP.TYPE d, [a], b(, c); red without d. An atom whose result is never read is a reduction, as in SASS, if its operation is
 * one of red's: exch and cas are not (PTX ISA, "red"), and profilers count them among the atomics. */
int gt_ptx_decode_atom(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool returns = gt_ptx_row(instruction)->access == GT_PTX_ACCESS_ATOMIC;
	size_t at = returns ? 1 : 0, n = instruction->n_operands;
	struct gt_ptx_result result = {0};
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	if (gt_ptx_read_policy(decoder, access, &n) != 0)
		return -1;
	const bool asynchronous = gt_ptx_says(decoder, "async");
	access->change = gt_ptx_change(instruction, type);
	if (asynchronous && (n-- != 3 || !gt_ptx_is_reported(decoder)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->remote |= asynchronous;
	if (access->change && access->n > 1)
		return decode_vector_atomic(decoder, access, type, n);
	if (!access->change || n < at + 2 || n > at + 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    !(access->slots[0] = gt_ptx_source(decoder, &instruction->operands[at + 1], type)) ||
	    (n == at + 3 &&
	     !(access->slots[1] = gt_ptx_source(decoder, &instruction->operands[at + 2], type))))
		return -1;
	if (returns && instruction->operands[0].kind == GT_PTX_REGISTER) {
		const struct gt_ptx_register *reg =
			gt_ptx_register_named(&decoder->registers, instruction->operands[0].name);
		returns = reg && reg->read;
		if (gt_ptx_result_slot(decoder, &instruction->operands[0], type, &result) != 0)
			return -1;
	}
	const bool reduces = !gt_ptx_says(decoder, "exch") && !gt_ptx_says(decoder, "cas");
	access->action = !reduces || (returns && result.slot) ? GT_ATOMIC : GT_REDUCTION;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_atomic);
	if (!op)
		return -1;
	op->d = result.slot;
	if (asynchronous)
		return gt_ptx_emit_report(decoder, &instruction->operands[2], access->size);
	return gt_ptx_finish_result(decoder, &result);
}
