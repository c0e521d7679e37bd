/* SPDX-License-Identifier: MIT */
/* The reader of Accel-Sim's traces, which two files share: accelsim_line.c reads their lines, of a header, of a block and a warp, and
 * instructions, and accelsim.c the files. */
#ifndef GT_IMPORT_ACCELSIM_H
#define GT_IMPORT_ACCELSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "import/import.h"
#include "import/opcode.h"
#include "stream/rows.h"

#define GT_ACCELSIM_INSTRUCTION \
	"expected '[X Y Z WARP] [LINE] PC MASK ND Rd... OPCODE NS Rs... WIDTH [MODE ADDRESSES]'"

#define GT_ACCELSIM_BLOCK "#BEGIN_TB"
#define GT_ACCELSIM_VERSION 6 /* of the tracer, the latest that is known */

/* ---- what is kept of instructions ---- */

/* Lines of instructions that have been read. A loop repeats them, all but the addresses, so most lines need no more than a
 * comparison. */
#define GT_SEEN_TEXT 120  /* bytes; lines that are longer, or shorter than a word, are not kept */
#define GT_SEEN_LINES 256 /* a power of two */

/* A line from its PC on: up to its width if addresses follow, else whole. */
struct gt_seen {
	char text[GT_SEEN_TEXT]; /* not 0-terminated */
	size_t length;		 /* 0: none */
	uint64_t version;	 /* of the tracer that wrote it */
	uint32_t pc, mask;
	bool addresses; /* follow */
	struct gt_opcode opcode;
};

struct gt_seen_lines {
	struct gt_seen lines[GT_SEEN_LINES]; /* by hash; begin with all zero */
};

/* What a warp did before an access (stream/work.h), from a trace that lists all its instructions with their registers. A warp
 * issues in order and waits when an instruction reads or writes a register whose load is under way. */
#define GT_SCOREBOARD_REGISTERS 256 /* that a thread of SASS can name; the last is always zero */

/* A warp; begins with all zero. */
struct gt_scoreboard {
	uint64_t loading[GT_SCOREBOARD_REGISTERS / 64]; /* registers whose loads nothing has waited for */
	uint64_t issued;				/* instructions since the last access that was not to shared memory */
	uint32_t barriers;				/* since then */
	uint64_t shared_accesses, shared_passes;	/* to shared memory since then, and the passes of its banks */
	bool waits;					/* for loaded data, since then */
};

/* ---- the reader ---- */

/* Where a reader is within a grouped trace. */
enum gt_accelsim_place {
	GT_ACCELSIM_OUTSIDE,
	GT_ACCELSIM_IN_BLOCK,
	GT_ACCELSIM_IN_WARP,
	GT_ACCELSIM_IN_INSTRUCTIONS
};

/* What is known of the launch under way, so that a part of its trace can be read by itself. */
struct gt_accelsim_launch {
	struct gt_kernel kernel;
	unsigned has;	/* keys of the header that were seen, a bit each */
	bool announced; /* the launch was reported */
	bool grouped;	/* by blocks and warps; else each line names them */
	uint64_t version; /* of the tracer; 0: not given */
	uint64_t stream; /* of CUDA, that it was launched into */
	uint64_t line_info; /* 1: a line number stands before each PC */
	uint64_t shared_window, local_window; /* 0: not given */
	unsigned lead; /* numbers before the PC of an ungrouped line; 0: not known yet */
	uint32_t warps; /* of a block */
};

struct gt_accelsim {
	struct gt_input *input;
	const struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;
	struct gt_seen_lines seen;
	struct gt_accelsim_launch launch;
	uint64_t launches, first_stream; /* so far; the stream of the first */

	enum gt_accelsim_place place;
	bool block_known;
	uint32_t block, warp;
	uint64_t told; /* the block that was reported last, and 1; 0: none */
	uint32_t lanes; /* lanes that exist in the warp */
	uint64_t expected, found; /* instructions of the warp */
	struct gt_scoreboard board; /* of the warp, if work is wanted */

	/* The current instruction. */
	struct gt_trace_access access;
	uint64_t line; /* its source line, if the launch has line_info; 0: none */
	uint64_t addresses[GT_WARP_SIZE];
	struct gt_scan_first last_base; /* of the last one with a stride */
};

/* Each returns 0, or -1 with the error set. */

static inline int gt_accelsim_fail(const struct gt_accelsim *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* ---- lines: accelsim_line.c ---- */

/* Begins a header, if `launch` is all zero, or goes on behind one that another reader has read. */
void gt_accelsim_begin(struct gt_accelsim *reader, const struct gt_accelsim_launch *launch);
/* Reports the launch, before its first block or instruction. */
int gt_accelsim_announce(struct gt_accelsim *reader);
/* Any line that is not an instruction. */
int gt_accelsim_frame(struct gt_accelsim *reader, const char *line);

/* Blocks and warps, which must be in the launch. */
int gt_accelsim_enter_block(struct gt_accelsim *reader, const uint64_t at[3]);
int gt_accelsim_enter_warp(struct gt_accelsim *reader, uint64_t warp);

/* The same, where all instructions of the warp follow. */
static inline int gt_accelsim_begin_warp(struct gt_accelsim *reader, uint64_t warp)
{
	reader->board = (struct gt_scoreboard){.issued = 0};
	return gt_accelsim_enter_warp(reader, warp);
}

/* "X,Y,Z", or with other separators. */
static inline bool gt_accelsim_position(const char **at, uint64_t position[3], bool (*separator)(const char **))
{
	for (int i = 0; i < 3; i++)
		if ((i > 0 && !separator(at)) || !gt_scan_decimal(at, &position[i]))
			return false;
	return true;
}

int gt_accelsim_instruction(struct gt_accelsim *reader, const char *line);
/* Any line of the input, and those behind it that are known. */
int gt_accelsim_line(struct gt_accelsim *reader, const char *line);

#endif
