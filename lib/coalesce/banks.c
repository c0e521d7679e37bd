/* SPDX-License-Identifier: MIT */
#include "coalesce/banks.h"

#include <stdbool.h>

#define WORDS_MAX (2 * GT_BANKS) /* a group's lanes may each reach over the end of a word */

/* Distinct words of a group, chained by bank. */
struct words {
	unsigned n, most;
	uint64_t word[WORDS_MAX];
	uint8_t next[WORDS_MAX];  /* index + 1 of another word of the bank, 0: none */
	uint8_t first[GT_BANKS];  /* index + 1 */
	uint8_t length[GT_BANKS]; /* words of the bank */
};

static void touch_word(struct words *words, uint64_t word)
{
	unsigned bank = (unsigned)(word % GT_BANKS);

	for (unsigned k = words->first[bank]; k; k = words->next[k - 1])
		if (words->word[k - 1] == word)
			return;
	words->word[words->n] = word;
	words->next[words->n] = words->first[bank];
	words->first[bank] = (uint8_t)++words->n;
	words->length[bank]++;
	words->most = words->length[bank] > words->most ? words->length[bank] : words->most;
}

static unsigned passes_of_lanes(const uint64_t *addresses, unsigned n, unsigned size)
{
	struct words words = {0};

	for (unsigned i = 0; i < n; i++) {
		unsigned before = (unsigned)(addresses[i] % GT_BANK_BYTES);
		unsigned count = (before + size + GT_BANK_BYTES - 1) / GT_BANK_BYTES;
		uint64_t word = addresses[i] / GT_BANK_BYTES;
		for (unsigned k = 0; k < count; k++)
			touch_word(&words, (word + k) & (UINT64_MAX / GT_BANK_BYTES));
	}
	return words.most;
}

/* Lanes whose data make 128 bytes; sizes between powers of two count as the next one. */
static unsigned lanes_together(unsigned size)
{
	unsigned lanes = GT_WARP_SIZE;

	while (lanes > 1 && lanes * size > GT_BANKS * GT_BANK_BYTES)
		lanes /= 2;
	return lanes;
}

/* Groups of that many lanes in which some lane is active. */
static unsigned groups(uint32_t mask, unsigned together)
{
	uint32_t group = UINT32_MAX >> (GT_WARP_SIZE - together);
	unsigned n = 0;

	for (unsigned first = 0; first < GT_WARP_SIZE; first += together)
		n += (mask >> first & group) != 0;
	return n;
}

/* 4-byte words `stride` words apart: lanes meet in a bank when their distance is a multiple of
 * 32 / gcd(stride, 32); with all lanes active that is gcd(stride, 32) of them ([001] 4.1). */
static unsigned passes_of_stride(uint32_t mask, uint64_t stride)
{
	unsigned common = (unsigned)((stride | GT_BANKS) & (~(stride | GT_BANKS) + 1));
	unsigned period = GT_BANKS / common, most = 0;
	uint32_t every = 1;

	if (common == 1)
		return 1;
	for (unsigned bit = period; bit < GT_WARP_SIZE; bit += period)
		every |= (uint32_t)1 << bit;
	for (unsigned r = 0; r < period; r++) {
		unsigned meet = (unsigned)__builtin_popcount(mask & every << r);
		most = meet > most ? meet : most;
	}
	return most;
}

/* The passes of the shapes that need no look at the lanes, or 0. */
static unsigned passes_of_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned size)
{
	bool aligned = size >= GT_BANK_BYTES && (size & (size - 1)) == 0 && base % size == 0;

	if (!aligned)
		return 0;
	if (stride == 0 || stride == (int64_t)size)
		return groups(mask, lanes_together(size));
	if (size == GT_BANK_BYTES && stride % GT_BANK_BYTES == 0 && stride > INT32_MIN && stride < INT32_MAX)
		return passes_of_stride(mask, (uint64_t)(stride < 0 ? -stride : stride) / GT_BANK_BYTES);
	return 0;
}

unsigned gt_bank_passes(const struct gt_rows *rows, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE];
	uint32_t mask = rows->mask[i];
	unsigned together, passes = 0, done = 0;

	if (rows->stride[i] != GT_STRIDE_LANES)
		passes = passes_of_affine(rows->base[i], rows->stride[i], mask, rows->size[i]);
	if (passes > 0)
		return passes;
	gt_rows_addresses(rows, i, addresses);
	together = lanes_together(rows->size[i]);
	for (unsigned first = 0; first < GT_WARP_SIZE; first += together) {
		uint32_t group = mask >> first & UINT32_MAX >> (GT_WARP_SIZE - together);
		unsigned n = (unsigned)__builtin_popcount(group);
		passes += passes_of_lanes(addresses + done, n, rows->size[i]);
		done += n;
	}
	return passes;
}
