/* SPDX-License-Identifier: MIT */
/* Clusters of blocks: mapa, getctarank, barrier.cluster. */
#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/cluster.h"
#include "cuda/ptx/exec/cluster.h"

/* What mapa and getctarank have in common: the address, of 32 or 64 bits, in the window of shared memory or generic. */
static int emit_window(struct gt_ptx_decoder *decoder, gt_ptx_step *const steps[2], enum gt_ptx_type to, uint32_t other)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool within = gt_ptx_says(decoder, "shared::cluster"), narrow = gt_ptx_says(decoder, "u32");
	const enum gt_ptx_type type = narrow ? GT_PTX_U32 : GT_PTX_U64;
	struct gt_ptx_result result;

	if (narrow == gt_ptx_says(decoder, "u64") || (narrow && !within))
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t from = gt_ptx_source(decoder, &instruction->operands[1], type);
	if (!from || gt_ptx_result_slot(decoder, &instruction->operands[0], to ? to : type, &result) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit(decoder, steps[narrow ? 0 : 1]);
	if (!op)
		return -1;
	op->d = result.slot;
	op->a = from;
	op->b = other;
	op->with.immediate = within ? 0 : GT_PTX_SHARED_BASE;
	return gt_ptx_finish_result(decoder, &result);
}

/* mapa(.shared::cluster).u32|u64 d, address, rank */
int gt_ptx_decode_mapa(struct gt_ptx_decoder *decoder)
{
	static gt_ptx_step *const steps[2] = {gt_ptx_map_address32, gt_ptx_map_address64};

	if (decoder->instruction->n_operands != 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint32_t rank = gt_ptx_source(decoder, &decoder->instruction->operands[2], GT_PTX_U32);
	return rank ? emit_window(decoder, steps, GT_PTX_NO_TYPE, rank) : -1;
}

/* getctarank(.shared::cluster).u32|u64 d, address */
int gt_ptx_decode_getctarank(struct gt_ptx_decoder *decoder)
{
	static gt_ptx_step *const steps[2] = {gt_ptx_rank_of32, gt_ptx_rank_of64};

	return decoder->instruction->n_operands == 2 ? emit_window(decoder, steps, GT_PTX_U32, 0)
						     : gt_ptx_refuse(decoder, "is not known in this form");
}

/* barrier.cluster.arrive(.release|.relaxed)(.aligned), barrier.cluster.wait(.acquire)(.aligned) */
int gt_ptx_decode_cluster_barrier(struct gt_ptx_decoder *decoder)
{
	const bool arrives = gt_ptx_says(decoder, "arrive");

	if (arrives == gt_ptx_says(decoder, "wait") || decoder->instruction->n_operands != 0)
		return gt_ptx_refuse(decoder, "is not known in this form");
	return gt_ptx_emit(decoder, arrives ? gt_ptx_cluster_arrive : gt_ptx_cluster_wait) ? 0 : -1;
}
