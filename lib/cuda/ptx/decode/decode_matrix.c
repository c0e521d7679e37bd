/* SPDX-License-Identifier: MIT */
/* ldmatrix, stmatrix, movmatrix. */
#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/matrix.h"
#include "cuda/ptx/exec/matrix.h"
#include "stream/op.h"

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
int gt_ptx_decode_ldmatrix(struct gt_ptx_decoder *decoder)
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
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_load_matrices);
	if (!op)
		return -1;
	op->choice = gt_ptx_says(decoder, "trans");
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* stmatrix.sync.aligned.m8n8.xN(.trans)(.shared).b16 [address], {a, ...} */
int gt_ptx_decode_stmatrix(struct gt_ptx_decoder *decoder)
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
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_store_matrices);
	if (!op)
		return -1;
	op->choice = gt_ptx_says(decoder, "trans");
	return 0;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
int gt_ptx_decode_movmatrix(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result;

	if (instruction->n_operands != 2 || instruction->n_modifiers != 5 || !gt_ptx_says(decoder, "m8n8") ||
	    !gt_ptx_says(decoder, "trans") || !gt_ptx_says(decoder, "b16"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t a = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_B32);
	if (!a || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_transpose);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = a;
	return gt_ptx_finish_result(decoder, &result);
}
