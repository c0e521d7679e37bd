/* SPDX-License-Identifier: MIT */
/* What machine code is told of the slots of a function. */
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/native/native.h"

/* Marks the parts of the image that have constants: all but those with special registers and temporaries. */
static void find_constants(const struct gt_ptx_decoder *decoder, bool *constant)
{
	const struct gt_ptx_code *code = decoder->code;

	memset(constant, true, decoder->image_bytes / GT_NATIVE_UNIT + 1);
	for (size_t i = 0; i < code->n_specials; i++)
		constant[(code->specials[i].slot - code->image_at) / GT_NATIVE_UNIT] = false;
	for (size_t i = 0; i < decoder->n_temporaries; i++)
		constant[(decoder->temporaries[i].slot - code->image_at) / GT_NATIVE_UNIT] = false;
}

/* Where blocks wait for each other, registers that are not live are kept up, too: what a warp repeats is told from all (exec/watch.c). */
int gt_ptx_make_native(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_registers *registers = &decoder->registers;
	struct gt_native_known known = {.n = registers->n};
	uint32_t *slots = calloc(registers->n + 1, sizeof *slots);
	bool *constant = calloc(decoder->image_bytes / GT_NATIVE_UNIT + 1, sizeof *constant);
	int result = -1;

	if (slots && constant) {
		for (size_t r = 0; r < registers->n; r++)
			slots[r] = registers->list[r].slot;
		find_constants(decoder, constant);
		known.slots = slots;
		known.constant = constant;
		if (!decoder->program->joins_blocks)
			known.sets = gt_ptx_live_behind(registers, &known.stride);
		result = gt_ptx_native_make(decoder->code, decoder->starts, decoder->flow.n_blocks, &known, decoder->error);
	} else {
		gt_fail_memory(decoder->error, "machine code");
	}
	free(slots);
	free(constant);
	return result;
}
