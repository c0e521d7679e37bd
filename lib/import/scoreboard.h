/* SPDX-License-Identifier: MIT */
/* What a warp did before an access (stream/work.h), from a trace that lists all its instructions with their registers. A warp
 * issues in order and waits when an instruction reads or writes a register whose load is under way. */
#ifndef GT_IMPORT_SCOREBOARD_H
#define GT_IMPORT_SCOREBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/opcode.h"

#define GT_SCOREBOARD_REGISTERS 256 /* that a thread of SASS can name; the last is always zero */

/* A warp; begins with all zero. */
struct gt_scoreboard {
	uint64_t loading[GT_SCOREBOARD_REGISTERS / 64]; /* registers whose loads nothing has waited for */
	uint64_t issued;				/* instructions since the last access that was not to shared memory */
	uint32_t barriers;				/* since then */
	bool waits;					/* for loaded data, since then */
};

/* The instruction names these registers, n words such as "R12"; others than R are never loaded. */
void gt_scoreboard_name(struct gt_scoreboard *board, const char *words, uint64_t n);
/* It accesses memory by this op: returns the column work of its row. */
uint32_t gt_scoreboard_access(struct gt_scoreboard *board, uint8_t op);
/* What it accessed, `size` bytes a lane, goes into these registers and those behind them. */
void gt_scoreboard_load(struct gt_scoreboard *board, const char *words, uint64_t n, uint8_t op, unsigned size);
/* It has issued; `noted`: later ones are counted from it. */
void gt_scoreboard_issue(struct gt_scoreboard *board, const struct gt_opcode *opcode, bool noted);

#endif
