/* SPDX-License-Identifier: MIT */
/* The frame of a grouped Accel-Sim trace: which block and warp the instructions belong to. */
#include <inttypes.h>

#include "base/scan.h"
#include "import/accelsim.h"
#include "stream/rows.h"

int gt_accelsim_enter_block(struct gt_accelsim *reader, const uint64_t at[3])
{
	const uint32_t *grid = reader->kernel.grid;

	if (at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
		return gt_input_fail(reader->input, reader->error,
				     "thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64
				     ": expected one in the grid of %" PRIu32 ",%" PRIu32 ",%" PRIu32,
				     at[0], at[1], at[2], grid[0], grid[1], grid[2]);
	/* Below 2^32, since the grid has at most 2^32 blocks. */
	reader->block = (uint32_t)((at[2] * grid[1] + at[1]) * grid[0] + at[0]);
	if (!reader->to->block || reader->told == reader->block + UINT64_C(1))
		return 0;
	reader->told = reader->block + UINT64_C(1);
	return reader->to->block(reader->to->context, reader->block, reader->error);
}

int gt_accelsim_enter_warp(struct gt_accelsim *reader, uint64_t warp)
{
	if (warp >= reader->warps)
		return gt_input_fail(reader->input, reader->error,
				     "warp %" PRIu64 ": expected one below %" PRIu32
				     ", the warps of a block",
				     warp, reader->warps);
	uint64_t left = gt_kernel_threads(&reader->kernel) - warp * GT_WARP_SIZE;

	reader->warp = (uint32_t)warp;
	reader->lanes = left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
	return 0;
}

int gt_accelsim_begin_warp(struct gt_accelsim *reader, uint64_t warp)
{
	reader->board = (struct gt_scoreboard){.issued = 0};
	return gt_accelsim_enter_warp(reader, warp);
}

bool gt_accelsim_position(const char **at, uint64_t position[3], bool (*separator)(const char **))
{
	for (int i = 0; i < 3; i++)
		if ((i > 0 && !separator(at)) || !gt_scan_decimal(at, &position[i]))
			return false;
	return true;
}

static bool comma(const char **at)
{
	return gt_scan_char(at, ',');
}

static int check_count(struct gt_accelsim *reader)
{
	if (reader->place != GT_ACCELSIM_IN_INSTRUCTIONS || reader->found == reader->expected)
		return 0;
	return gt_input_fail(reader->input, reader->error,
			     "warp %" PRIu32 " has %" PRIu64 " instructions: expected %" PRIu64
			     ", as its insts line says",
			     reader->warp, reader->found, reader->expected);
}

static int line_comment(struct gt_accelsim *reader, const char *at)
{
	(void)reader;
	(void)at;
	return 0;
}

static int line_begin_block(struct gt_accelsim *reader, const char *at)
{
	(void)at;
	if (reader->place != GT_ACCELSIM_OUTSIDE)
		return gt_accelsim_fail(reader, "a thread block inside another: expected #END_TB first");
	reader->grouped = true;
	reader->block_known = false;
	reader->place = GT_ACCELSIM_IN_BLOCK;
	return gt_accelsim_announce(reader);
}

static int line_end_block(struct gt_accelsim *reader, const char *at)
{
	(void)at;
	if (reader->place == GT_ACCELSIM_OUTSIDE)
		return gt_accelsim_fail(reader, "#END_TB: expected #BEGIN_TB before it");
	if (reader->place == GT_ACCELSIM_IN_WARP)
		return gt_accelsim_fail(reader, "#END_TB: expected 'insts = N' after 'warp = N'");
	if (check_count(reader) != 0)
		return -1;
	reader->place = GT_ACCELSIM_OUTSIDE;
	return 0;
}

static int line_block(struct gt_accelsim *reader, const char *at)
{
	uint64_t position[3];

	if (reader->place != GT_ACCELSIM_IN_BLOCK || reader->block_known)
		return gt_accelsim_fail(reader, "'thread block': expected once, after #BEGIN_TB");
	if (!gt_accelsim_position(&at, position, comma) || !gt_scan_end(&at))
		return gt_accelsim_fail(reader, "expected 'thread block = X,Y,Z'");
	reader->block_known = true;
	return gt_accelsim_enter_block(reader, position);
}

static int line_warp(struct gt_accelsim *reader, const char *at)
{
	uint64_t warp;

	if (!reader->block_known || reader->place == GT_ACCELSIM_OUTSIDE || reader->place == GT_ACCELSIM_IN_WARP)
		return gt_accelsim_fail(reader, "'warp': expected after 'thread block' or the instructions of a warp");
	if (check_count(reader) != 0)
		return -1;
	if (!gt_scan_decimal(&at, &warp) || !gt_scan_end(&at))
		return gt_accelsim_fail(reader, "expected 'warp = N'");
	reader->place = GT_ACCELSIM_IN_WARP;
	return gt_accelsim_begin_warp(reader, warp);
}

static int line_count(struct gt_accelsim *reader, const char *at)
{
	if (reader->place != GT_ACCELSIM_IN_WARP)
		return gt_accelsim_fail(reader, "'insts': expected after 'warp = N'");
	if (!gt_scan_decimal(&at, &reader->expected) || !gt_scan_end(&at))
		return gt_accelsim_fail(reader, "expected 'insts = N'");
	reader->found = 0;
	reader->place = GT_ACCELSIM_IN_INSTRUCTIONS;
	return 0;
}

/* Newer tracers name clusters of blocks, which do not affect addresses. */
static int line_cluster(struct gt_accelsim *reader, const char *at)
{
	(void)at;
	return reader->place == GT_ACCELSIM_IN_BLOCK ? 0 : gt_accelsim_fail(reader, "'cluster': expected after 'thread block'");
}

static int line_key(struct gt_accelsim *reader, const char *at)
{
	return gt_accelsim_key(reader, at - 1);
}

/* Lines that are not instructions, by their prefix. */
static const struct {
	const char *begin;
	int (*read)(struct gt_accelsim *reader, const char *at);
} lines[] = {
	{GT_ACCELSIM_BLOCK, line_begin_block},
	{"#END_TB", line_end_block},
	{"#", line_comment},
	{"-", line_key},
	{"thread block = ", line_block},
	{"warp = ", line_warp},
	{"insts = ", line_count},
	{"cluster ", line_cluster},
};

int gt_accelsim_frame(struct gt_accelsim *reader, const char *line)
{
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *at = line;

		if (gt_scan_text(&at, lines[i].begin))
			return lines[i].read(reader, at);
	}
	return gt_scan_end(&line) ? 0 : gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
}
