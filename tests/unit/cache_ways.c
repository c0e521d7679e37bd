/* SPDX-License-Identifier: MIT */
/* The operations of sets whose ways stand in order, against the same done one way at a time. */
#include "replace/tags.h"

#include "base/random.h"
#include "check.h"

#define WAYS_MAX 8

static uint64_t state;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)((gt_random(&state) >> 32) * limit >> 32);
}

static void a_line_moves_to_the_first_way(void)
{
	for (uint32_t ways = 1; ways <= WAYS_MAX; ways++)
		for (uint32_t way = 0; way < ways; way++) {
			uint64_t words[WAYS_MAX + GT_WAYS_SLACK], words_before[WAYS_MAX + GT_WAYS_SLACK];
			uint32_t states[WAYS_MAX + GT_WAYS_SLACK], states_before[WAYS_MAX + GT_WAYS_SLACK];
			for (uint32_t i = 0; i < WAYS_MAX + GT_WAYS_SLACK; i++) {
				words[i] = words_before[i] = gt_random(&state);
				states[i] = states_before[i] = (uint32_t)gt_random(&state);
			}
			gt_ways_put_words(words, ways, way, 77);
			gt_ways_put_states(states, ways, way, 78);
			for (uint32_t i = 0; i < WAYS_MAX + GT_WAYS_SLACK; i++) {
				uint32_t from = i == 0 || i > way ? i : i - 1;
				CHECK_EQUAL(words[i], i == 0 ? 77 : words_before[from]);
				CHECK_EQUAL(states[i], i == 0 ? 78 : states_before[from]);
			}
		}
}

static void a_state_tells_what_is_invalid_and_how_deep(void)
{
	for (unsigned round = 0; round < 10000; round++) {
		uint8_t bytes[4];
		uint32_t word, position = below(WAYS_MAX), invalid = 0;
		for (unsigned sector = 0; sector < 4; sector++) {
			bytes[sector] = below(3) == 0 ? GT_SECTOR_INVALID : (uint8_t)below(WAYS_MAX);
			invalid |= (uint32_t)(bytes[sector] == GT_SECTOR_INVALID) << sector;
		}
		word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
		CHECK_EQUAL(gt_state_invalid(word), invalid);
		uint32_t deeper = gt_state_deepen(word, position);
		for (unsigned sector = 0; sector < 4; sector++)
			CHECK_EQUAL(deeper >> 8 * sector & 255, bytes[sector] > position ? bytes[sector] : position);
	}
}

int main(void)
{
	state = gt_random_state(1, 0);
	RUN(a_line_moves_to_the_first_way);
	RUN(a_state_tells_what_is_invalid_and_how_deep);
	return check_report();
}
