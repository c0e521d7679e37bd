/* SPDX-License-Identifier: MIT */
/* Sets that are sums over GF(2) of bits: a table for each byte of the line's number. */
#include "cache/index/index.h"

#include <stdlib.h>

int gt_index_make_linear(struct gt_index *index, const uint32_t column[64], struct gt_error *error)
{
	index->linear = calloc(8, sizeof *index->linear);
	if (!index->linear)
		return gt_fail_memory(error, "an index table");
	for (unsigned bit = 0; bit < 64; bit++) {
		uint32_t *table = index->linear[bit / 8];
		unsigned weight = 1U << bit % 8;
		for (unsigned value = weight; value < 2 * weight; value++)
			table[value] = table[value - weight] ^ column[bit];
	}
	return 0;
}

uint32_t gt_index_linear(const struct gt_index *index, uint64_t line)
{
	uint32_t set = 0;

	for (unsigned i = 0; line; i++, line >>= 8)
		set ^= index->linear[i][line & 255];
	return set;
}
