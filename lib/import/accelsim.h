/* SPDX-License-Identifier: MIT */
/* The parts of the Accel-Sim importer: a reader, and a function for each kind of line. */
#ifndef GT_IMPORT_ACCELSIM_H
#define GT_IMPORT_ACCELSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scan.h"
#include "import/accelsim_seen.h"
#include "import/import.h"
#include "import/opcode.h"
#include "import/scoreboard.h"
#include "stream/rows.h"

#define GT_ACCELSIM_INSTRUCTION \
	"expected '[X Y Z WARP] [LINE] PC MASK ND Rd... OPCODE NS Rs... WIDTH [MODE ADDRESSES]'"

#define GT_ACCELSIM_BLOCK "#BEGIN_TB"
#define GT_ACCELSIM_VERSION 6 /* of the tracer, the latest that is known */

/* Where a reader is within a grouped trace. */
enum gt_accelsim_place {
	GT_ACCELSIM_OUTSIDE,
	GT_ACCELSIM_IN_BLOCK,
	GT_ACCELSIM_IN_WARP,
	GT_ACCELSIM_IN_INSTRUCTIONS
};

struct gt_accelsim {
	struct gt_input *input;
	const struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;
	struct gt_seen_lines seen;

	struct gt_kernel kernel;
	unsigned has;	/* keys seen, by the header's own bits */
	bool announced; /* the launch was reported */
	uint64_t version; /* of the tracer; 0: not given */
	uint64_t line_info; /* 1: a line number stands before each PC: */
	uint64_t line;	    /* that of the instruction; 0: none */
	uint64_t shared_window, local_window; /* 0: not given */
	unsigned lead; /* numbers before the PC of an ungrouped line; 0: not known yet */

	bool grouped;
	enum gt_accelsim_place place;
	bool block_known;
	uint32_t block, warp, warps;
	uint64_t told; /* the block that was reported last, and 1; 0: none */
	uint32_t lanes; /* lanes that exist in the warp */
	uint64_t expected, found; /* instructions of the warp */
	struct gt_scoreboard board; /* of the warp, if work is wanted */

	/* The current instruction. */
	struct gt_trace_access access;
	uint64_t addresses[GT_WARP_SIZE];
	struct gt_scan_first last_base; /* of the last one with a stride */
};

/* Each returns 0, or -1 with the error set. */

static inline int gt_accelsim_fail(const struct gt_accelsim *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* Reads what follows, from a block on, in several threads, up to its end or the header of another launch. */
int gt_accelsim_parts(struct gt_accelsim *reader);
/* Begins a part that follows a header which another reader has read. */
void gt_accelsim_begin_part(struct gt_accelsim *reader, const struct gt_accelsim *header);

/* The header: begins a new one; reads a line "-KEY = VALUE"; reports the launch, before its first block or
 * instruction. */
void gt_accelsim_begin(struct gt_accelsim *reader);
int gt_accelsim_key(struct gt_accelsim *reader, const char *line);
int gt_accelsim_announce(struct gt_accelsim *reader);

/* Blocks and warps, which must be in the launch. */
int gt_accelsim_enter_block(struct gt_accelsim *reader, const uint64_t at[3]);
int gt_accelsim_enter_warp(struct gt_accelsim *reader, uint64_t warp);
/* The same, where all instructions of the warp follow. */
int gt_accelsim_begin_warp(struct gt_accelsim *reader, uint64_t warp);
bool gt_accelsim_position(const char **at, uint64_t position[3], bool (*separator)(const char **));
/* Any line that is not an instruction. */
int gt_accelsim_frame(struct gt_accelsim *reader, const char *line);

int gt_accelsim_instruction(struct gt_accelsim *reader, const char *line);

/* Whether lines say nothing but what gt_seen keeps: no source line, and no registers that matter. */
static inline bool gt_accelsim_is_plain(const struct gt_accelsim *reader)
{
	return !reader->line_info && !reader->to->wants_work;
}

/* Reads the lines of a warp that follow in memory, up to the first that is not known. */
int gt_accelsim_known_lines(struct gt_accelsim *reader);

/* Any line of the input, and those behind it that are known. */
static inline int gt_accelsim_line(struct gt_accelsim *reader, const char *line)
{
	/* Nearly all begin with the digits of a PC; of the others only "cluster" begins with one. */
	if (gt_hex_digit[(unsigned char)*line] == 0 || line[1] == 'l')
		return gt_accelsim_frame(reader, line);
	return gt_accelsim_instruction(reader, line) != 0 ? -1 : gt_accelsim_known_lines(reader);
}

#endif
