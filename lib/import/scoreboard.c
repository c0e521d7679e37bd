/* SPDX-License-Identifier: MIT */
#include "import/scoreboard.h"

#include <string.h>

#include "base/scan.h"
#include "stream/op.h"
#include "stream/work.h"

#define ZERO_REGISTER (GT_SCOREBOARD_REGISTERS - 1)
#define REGISTER_BYTES 4

/* The number of the next word's register, or ZERO_REGISTER if it is none that can be loaded. */
static unsigned next_register(const char **words)
{
	const char *word;
	uint64_t number;
	size_t length;

	gt_scan_blanks(words);
	gt_scan_word(words, &word, &length);
	if (*word != 'R')
		return ZERO_REGISTER;
	word++;
	return gt_scan_upto(&word, ZERO_REGISTER, &number) ? (unsigned)number : ZERO_REGISTER;
}

/* Data of memory, which takes its time; that of shared and constant memory is there soon. */
static bool from_memory(uint8_t op)
{
	return gt_op_space(op) != GT_SHARED && gt_op_space(op) != GT_CONSTANT;
}

void gt_scoreboard_name(struct gt_scoreboard *board, const char *words, uint64_t n)
{
	for (; n > 0; n--) {
		unsigned number = next_register(&words);
		if (!(board->loading[number / 64] >> number % 64 & 1))
			continue;
		/* It waits for all its loads. */
		memset(board->loading, 0, sizeof board->loading);
		board->waits = true;
	}
}

uint32_t gt_scoreboard_access(struct gt_scoreboard *board, uint8_t op)
{
	uint32_t work = gt_work(board->issued, board->barriers, board->waits && from_memory(op));

	if (gt_op_space(op) == GT_SHARED)
		return work;
	board->issued = board->barriers = 0;
	board->waits &= !from_memory(op);
	return work;
}

void gt_scoreboard_load(struct gt_scoreboard *board, const char *words, uint64_t n, uint8_t op, unsigned size)
{
	unsigned each = size > REGISTER_BYTES ? size / REGISTER_BYTES : 1;

	for (; n > 0 && from_memory(op); n--)
		for (unsigned first = next_register(&words), i = first; i < first + each && i < ZERO_REGISTER; i++)
			board->loading[i / 64] |= UINT64_C(1) << i % 64;
}

void gt_scoreboard_issue(struct gt_scoreboard *board, const struct gt_opcode *opcode, bool noted)
{
	board->issued += !noted;
	board->barriers += opcode->barrier;
}
