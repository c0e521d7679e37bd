/* SPDX-License-Identifier: MIT */
#include "order/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

#define WORD_BITS 64

static void drop_bits(struct gt_order_blocks *blocks, uint64_t *room)
{
	*room += blocks->words * sizeof *blocks->bits;
	free(blocks->bits);
	blocks->bits = NULL;
	blocks->words = 0;
}

/* Makes room for so many words, no more than twice what is needed. */
static int reserve(struct gt_order_blocks *blocks, size_t words, uint64_t *room, struct gt_error *error)
{
	size_t more = words > 2 * blocks->words ? words : 2 * blocks->words;

	if ((more - blocks->words) * sizeof *blocks->bits > *room) {
		drop_bits(blocks, room);
		blocks->lost = true;
		return 0;
	}
	uint64_t *bits = gt_resized(blocks->bits, more, sizeof *bits);
	if (!bits)
		return gt_fail_memory(error, "the blocks of a launch");
	memset(bits + blocks->words, 0, (more - blocks->words) * sizeof *bits);
	*room -= (more - blocks->words) * sizeof *bits;
	blocks->bits = bits;
	blocks->words = more;
	return 0;
}

int gt_order_blocks_add(struct gt_order_blocks *blocks, uint32_t block, uint64_t of, uint64_t *room, struct gt_error *error)
{
	size_t word = block / WORD_BITS;
	uint64_t bit = UINT64_C(1) << block % WORD_BITS;

	blocks->last = block;
	if (blocks->lost || blocks->n == of)
		return 0;
	if (word >= blocks->words && reserve(blocks, word + 1, room, error) != 0)
		return -1;
	if (blocks->lost || (blocks->bits[word] & bit) != 0)
		return 0;
	blocks->bits[word] |= bit;
	if (++blocks->n == of)
		drop_bits(blocks, room);
	return 0;
}

void gt_order_blocks_clear(struct gt_order_blocks *blocks)
{
	free(blocks->bits);
	*blocks = (struct gt_order_blocks){.last = GT_ORDER_NO_BLOCK};
}
