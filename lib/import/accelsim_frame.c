/* SPDX-License-Identifier: MIT */
/* The frame of an Accel-Sim trace: the header, which describes the launch, and which block and warp of a grouped trace the
 * instructions belong to. */
#include "import/accelsim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "stream/rows.h"

/* ---- the header ---- */

/* Keys that a launch needs. */
enum { HAS_ID = 1, HAS_GRID = 2, HAS_BLOCK = 4, HAS_ALL = 7 };

static bool scan_size(const char **at, uint32_t size[3])
{
	uint64_t value;

	if (!gt_scan_char(at, '('))
		return false;
	for (int i = 0; i < 3; i++) {
		if ((i > 0 && !gt_scan_char(at, ',')) || !gt_scan_upto(at, UINT32_MAX, &value) || value == 0)
			return false;
		size[i] = (uint32_t)value;
	}
	return gt_scan_char(at, ')');
}

static bool scan_32(const char **at, uint32_t *number)
{
	uint64_t value;
	bool fits = gt_scan_upto(at, UINT32_MAX, &value);

	*number = fits ? (uint32_t)value : 0;
	return fits;
}

static bool key_name(struct gt_accelsim *reader, const char **at)
{
	snprintf(reader->launch.kernel.name, sizeof reader->launch.kernel.name, "%s", *at);
	*at += strlen(*at);
	return true;
}
static bool key_id(struct gt_accelsim *reader, const char **at)
{
	reader->launch.has |= HAS_ID;
	return gt_scan_upto(at, GT_KERNEL_NEXT - 1, &reader->launch.kernel.id);
}
static bool key_grid(struct gt_accelsim *reader, const char **at)
{
	reader->launch.has |= HAS_GRID;
	return scan_size(at, reader->launch.kernel.grid);
}
static bool key_block(struct gt_accelsim *reader, const char **at)
{
	reader->launch.has |= HAS_BLOCK;
	return scan_size(at, reader->launch.kernel.block);
}
static bool key_shared(struct gt_accelsim *reader, const char **at)
{
	return scan_32(at, &reader->launch.kernel.shared_bytes);
}
static bool key_registers(struct gt_accelsim *reader, const char **at)
{
	return scan_32(at, &reader->launch.kernel.registers);
}
static bool key_shared_window(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_hex(at, &reader->launch.shared_window);
}
static bool key_local_window(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_hex(at, &reader->launch.local_window);
}
static bool key_version(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_upto(at, 1000, &reader->launch.version);
}
static bool key_line_info(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_upto(at, 1, &reader->launch.line_info);
}

/* Other keys are ignored. */
static const struct {
	const char *key;
	bool (*scan)(struct gt_accelsim *reader, const char **at);
	const char *expected;
} keys[] = {
	{"kernel name", key_name, "a name"},
	{"kernel id", key_id, "a number"},
	{"grid dim", key_grid, "(x,y,z), each at least 1"},
	{"block dim", key_block, "(x,y,z), each at least 1"},
	{"shmem", key_shared, "a number of bytes"},
	{"nregs", key_registers, "a number"},
	{"shmem base_addr", key_shared_window, "a hexadecimal address"},
	{"local mem base_addr", key_local_window, "a hexadecimal address"},
	{"accelsim tracer version", key_version, "a number"},
	{"enable lineinfo", key_line_info, "0 or 1"},
};

void gt_accelsim_begin(struct gt_accelsim *reader, const struct gt_accelsim_launch *launch)
{
	reader->launch = *launch;
	reader->told = 0;
	reader->place = GT_ACCELSIM_OUTSIDE;
	reader->access = (struct gt_trace_access){.numbering = GT_AN_OF_WARP};
}

/* A line "-KEY = VALUE". Concatenated files are successive launches. */
static int read_key(struct gt_accelsim *reader, const char *line)
{
	const char *key = line + 1, *value = strchr(line, '=');
	size_t length = value ? (size_t)(value - key) : 0;

	if (reader->place != GT_ACCELSIM_OUTSIDE)
		return gt_accelsim_fail(reader, "a header line inside a thread block: expected #END_TB first");
	if (!value)
		return gt_accelsim_fail(reader, "expected '-KEY = VALUE'");
	if (reader->launch.announced)
		gt_accelsim_begin(reader, &(struct gt_accelsim_launch){.has = 0});
	while (length > 0 && key[length - 1] == ' ')
		length--;
	value++;
	gt_scan_blanks(&value);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (strncmp(key, keys[i].key, length) != 0 || keys[i].key[length] != '\0')
			continue;
		if (!keys[i].scan(reader, &value) || !gt_scan_end(&value))
			return gt_input_fail(reader->input, reader->error, "-%s: expected %s", keys[i].key,
					     keys[i].expected);
		break;
	}
	return 0;
}

int gt_accelsim_announce(struct gt_accelsim *reader)
{
	if (reader->launch.announced)
		return 0;
	if (reader->launch.has != HAS_ALL)
		return gt_accelsim_fail(reader, "expected a header with -kernel id, -grid dim and -block dim first");
	/* A header is a launch, though another may have its id: a list may name a file twice. */
	if (reader->to->new_ids)
		reader->to->new_ids(reader->to->context);
	if (gt_import_kernel(reader->input, reader->to, &reader->launch.kernel, reader->error) != 0)
		return -1;
	if (reader->launch.version > GT_ACCELSIM_VERSION &&
	    reader->to->passed_over(reader->to->context, "tracer versions above 6", 1, reader->error) != 0)
		return -1;
	reader->launch.warps = (uint32_t)gt_kernel_warps(&reader->launch.kernel);
	reader->launch.announced = true;
	return 0;
}

/* ---- blocks and warps ---- */

int gt_accelsim_enter_block(struct gt_accelsim *reader, const uint64_t at[3])
{
	const uint32_t *grid = reader->launch.kernel.grid;

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
	if (warp >= reader->launch.warps)
		return gt_input_fail(reader->input, reader->error,
				     "warp %" PRIu64 ": expected one below %" PRIu32
				     ", the warps of a block",
				     warp, reader->launch.warps);
	uint64_t left = gt_kernel_threads(&reader->launch.kernel) - warp * GT_WARP_SIZE;

	reader->warp = (uint32_t)warp;
	reader->lanes = left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
	return 0;
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
	reader->launch.grouped = true;
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
	return read_key(reader, at - 1);
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
