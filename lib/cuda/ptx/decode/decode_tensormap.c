/* SPDX-License-Identifier: MIT */
/* tensormap.replace, tensormap.cp_fenceproxy */
#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/exec/remap.h"

static int read_place(struct gt_ptx_decoder *decoder, struct gt_ptx_access *place, const struct gt_ptx_operand *operand,
		      enum gt_ptx_space space)
{
	*place = (struct gt_ptx_access){.space = space, .n = 1, .low = 1};
	return gt_ptx_read_address(decoder, place, operand);
}

/* False if none is written. */
static bool read_field(const struct gt_ptx_decoder *decoder, enum gt_tensor_field *field)
{
	static const char *const words[] = {
#define WORD(IDENTIFIER, word) word,
		GT_TENSOR_FIELDS(WORD)
#undef WORD
	};

	for (unsigned f = 0; f < GT_TENSOR_FIELD_COUNT; f++)
		if (gt_ptx_says(decoder, words[f])) {
			*field = (enum gt_tensor_field)f;
			return true;
		}
	return false;
}

static int emit(struct gt_ptx_decoder *decoder, struct gt_ptx_remap *remap, gt_ptx_step *step)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, step);

	if (!op)
		return -1;
	op->with.access = &remap->place;
	return 0;
}

/* tensormap.replace.tile.FIELD(.SPACE).b1024.TYPE [address], (dimension,) value */
static int decode_replace(struct gt_ptx_decoder *decoder, struct gt_ptx_remap *remap)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	const enum gt_ptx_space space = gt_ptx_says(decoder, "global")	      ? GT_PTX_GLOBAL
					: gt_ptx_says(decoder, "shared::cta") ? GT_PTX_SHARED
									      : GT_PTX_GENERIC;

	if (!gt_ptx_says(decoder, "tile") || !gt_ptx_says(decoder, "b1024") || !read_field(decoder, &remap->field))
		return gt_ptx_refuse(decoder, "is not known in this form");
	const bool indexed = remap->field >= GT_TENSOR_FIELD_BOX && remap->field <= GT_TENSOR_FIELD_STEP;
	const uint64_t dimensions = GT_TENSOR_RANK_MAX - (remap->field == GT_TENSOR_FIELD_STRIDE);
	if (instruction->n_operands != 2U + indexed ||
	    (indexed && (operands[1].kind != GT_PTX_IMMEDIATE || operands[1].bits >= dimensions)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	remap->dimension = indexed ? (unsigned)operands[1].bits : 0;
	remap->wide = gt_ptx_says(decoder, "b64");
	remap->value = gt_ptx_source(decoder, &operands[1 + indexed], remap->wide ? GT_PTX_B64 : GT_PTX_B32);
	if (!remap->value || read_place(decoder, &remap->place, &operands[0], space) != 0)
		return -1;
	return emit(decoder, remap, gt_ptx_replace_in_map);
}

/* tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic... [to], [from], 128 */
int gt_ptx_decode_tensormap(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_remap *remap = gt_ptx_own(decoder, sizeof *remap);

	if (!remap)
		return -1;
	if (gt_ptx_says(decoder, "replace"))
		return decode_replace(decoder, remap);
	if (!gt_ptx_says(decoder, "cp_fenceproxy") || !gt_ptx_says(decoder, "global") || !gt_ptx_says(decoder, "shared::cta") ||
	    instruction->n_operands != 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (read_place(decoder, &remap->place, &instruction->operands[0], GT_PTX_GLOBAL) != 0 ||
	    read_place(decoder, &remap->from, &instruction->operands[1], GT_PTX_SHARED) != 0)
		return -1;
	return emit(decoder, remap, gt_ptx_copy_map);
}
