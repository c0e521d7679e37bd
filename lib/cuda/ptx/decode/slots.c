/* SPDX-License-Identifier: MIT */
/* Slots beside those of registers: constants, temporaries, special registers. The code's image holds their first
 * contents. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/decoder.h"

/* A new slot at the end of the arena's image; 0 on error. */
static uint32_t add_slot(struct gt_ptx_decoder *decoder, uint32_t bytes)
{
	uint32_t at = (decoder->image_bytes + bytes - 1) / bytes * bytes;

	/* Machine code has 31 bits for the place of a slot. */
	if ((uint64_t)decoder->code->image_at + at + bytes > INT32_MAX) {
		gt_fail(decoder->error, "function '%s' has too many registers and constants", decoder->function->name);
		return 0;
	}
	unsigned char *image = gt_grown_to(decoder->code->image, at + bytes, &decoder->image_capacity, 1);
	if (!image) {
		gt_fail_memory(decoder->error, "constants of a function");
		return 0;
	}
	memset(image + decoder->image_bytes, 0, at + bytes - decoder->image_bytes);
	decoder->code->image = image;
	decoder->image_bytes = at + bytes;
	return decoder->code->image_at + at;
}

uint32_t gt_ptx_constant_slot(struct gt_ptx_decoder *decoder, uint64_t bits, unsigned size)
{
	/* A map has no key of all ones, which is a usual constant; turned, it stands for one that is none. */
	const uint64_t key = bits ^ UINT64_C(0x5a5a5a5a5a5a5a5a);
	struct gt_map *known = &decoder->constants[gt_ptx_lowest(size)];
	const uint64_t *found = gt_map_get(known, key);
	int fresh;

	if (found)
		return (uint32_t)*found;
	uint32_t slot = add_slot(decoder, size <= 4 ? 128 : 256);
	if (!slot)
		return 0;
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		memcpy(decoder->code->image + (slot - decoder->code->image_at) + lane * size, &bits, size);
	if (key != GT_MAP_EMPTY && !gt_map_put(known, key, slot, &fresh)) {
		gt_fail_memory(decoder->error, "constants of a function");
		return 0;
	}
	return slot;
}

uint32_t gt_ptx_temporary_slot(struct gt_ptx_decoder *decoder, enum gt_ptx_type type)
{
	uint32_t bytes = gt_ptx_slot_bytes(type);

	for (size_t i = 0; i < decoder->n_temporaries; i++)
		if (decoder->temporaries[i].bytes == bytes &&
		    decoder->temporaries[i].taken != decoder->at + 1) {
			decoder->temporaries[i].taken = decoder->at + 1;
			return decoder->temporaries[i].slot;
		}
	void *grown = gt_grown(decoder->temporaries, decoder->n_temporaries, &decoder->temporaries_capacity,
			       sizeof *decoder->temporaries);
	if (!grown) {
		gt_fail_memory(decoder->error, "temporaries of a function");
		return 0;
	}
	decoder->temporaries = grown;
	uint32_t slot = add_slot(decoder, bytes);
	if (slot)
		decoder->temporaries[decoder->n_temporaries++] =
			(struct gt_ptx_temporary){slot, bytes, decoder->at + 1};
	return slot;
}

uint32_t gt_ptx_special_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_special *special)
{
	struct gt_ptx_code *code = decoder->code;
	size_t i = 0;

	while (i < code->n_specials && code->specials[i].special != special)
		i++;
	if (i == code->n_specials) {
		void *grown = gt_grown(code->specials, i, &decoder->specials_capacity, sizeof *code->specials);
		if (!grown) {
			gt_fail_memory(decoder->error, "special registers of a function");
			return 0;
		}
		code->specials = grown;
		code->specials[i] = (struct gt_ptx_special_use){
			special, add_slot(decoder, gt_ptx_slot_bytes(special->type))};
		if (!code->specials[i].slot)
			return 0;
		code->n_specials++;
	}
	if (special->life == GT_PTX_OF_MOMENT) {
		struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_read_special);
		if (!op)
			return 0;
		op->d = code->specials[i].slot;
		op->with.immediate = i;
	}
	return code->specials[i].slot;
}
