/* SPDX-License-Identifier: MIT */
/* The lines of an Accel-Sim trace. First its frame: the header, which describes the launch, and which block and warp of a grouped trace the
 * instructions belong to. Then an instruction: "PC MASK ND Rd* OPCODE NS Rs* WIDTH [MODE addresses] [immediate]". WIDTH is wrong for some types, so it only tells whether there are addresses; the size
 * comes from the opcode. */
#include "import/accelsim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/piece.h"
#include "base/scan.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/shared.h"

/* ---- the header, which describes the launch ---- */

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
	return gt_scan_upto(at, GT_KERNEL_NEXT - 1, &reader->launch.kernel.id);
}
static bool key_grid(struct gt_accelsim *reader, const char **at)
{
	return scan_size(at, reader->launch.kernel.grid);
}
static bool key_block(struct gt_accelsim *reader, const char **at)
{
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
/* Kernels of several streams may overlap in time; they are read in the order of the trace, which is said once. */
static bool key_stream(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_decimal(at, &reader->launch.stream);
}
static bool key_line_info(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_upto(at, 1, &reader->launch.line_info);
}

/* Other keys are ignored. A launch needs the first three. */
static const struct {
	const char *key;
	bool (*scan)(struct gt_accelsim *reader, const char **at);
	const char *expected;
} keys[] = {
	{"kernel id", key_id, "a number"},
	{"grid dim", key_grid, "(x,y,z), each at least 1"},
	{"block dim", key_block, "(x,y,z), each at least 1"},
	{"kernel name", key_name, "a name"},
	{"shmem", key_shared, "a number of bytes"},
	{"nregs", key_registers, "a number"},
	{"shmem base_addr", key_shared_window, "a hexadecimal address"},
	{"local mem base_addr", key_local_window, "a hexadecimal address"},
	{"accelsim tracer version", key_version, "a number"},
	{"enable lineinfo", key_line_info, "0 or 1"},
	{"cuda stream id", key_stream, "a number"},
};
#define NEEDED 7U

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
	while (length > 0 && key[length - 1] == ' ')
		length--;
	value++;
	gt_scan_blanks(&value);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (strncmp(key, keys[i].key, length) != 0 || keys[i].key[length] != '\0')
			continue;
		/* Also if no line of the launch before came between: it is one without instructions. */
		if ((reader->launch.has & 1U << i) != 0 && gt_accelsim_announce(reader) != 0)
			return -1;
		if (reader->launch.announced)
			gt_accelsim_begin(reader, &(struct gt_accelsim_launch){.has = 0});
		reader->launch.has |= 1U << i;
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
	if ((reader->launch.has & NEEDED) != NEEDED)
		return gt_accelsim_fail(reader, "expected a header with -kernel id, -grid dim and -block dim first");
	/* A header is a launch, though another may have its id: a list may name a file twice. */
	if (reader->to->new_ids)
		reader->to->new_ids(reader->to->context);
	if (gt_import_kernel(reader->input, reader->to, &reader->launch.kernel, reader->error) != 0)
		return -1;
	if (reader->launch.version > GT_ACCELSIM_VERSION &&
	    reader->to->passed_over(reader->to->context, "tracer versions above 6", 1, reader->error) != 0)
		return -1;
	if (reader->launches++ == 0)
		reader->first_stream = reader->launch.stream;
	if (reader->launch.stream != reader->first_stream &&
	    reader->to->passed_over(reader->to->context, "overlap with other streams", 1, reader->error) != 0)
		return -1;
	reader->launch.warps = (uint32_t)gt_kernel_warps(&reader->launch.kernel);
	reader->launch.announced = true;
	return 0;
}

/* ---- which block and warp of a grouped trace the instructions belong to ---- */

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
} frame_lines[] = {
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
	for (size_t i = 0; i < sizeof frame_lines / sizeof *frame_lines; i++) {
		const char *at = line;

		if (gt_scan_text(&at, frame_lines[i].begin))
			return frame_lines[i].read(reader, at);
	}
	return gt_scan_end(&line) ? 0 : gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
}

/* ---- registers that loads are under way to ---- */

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

/* The instruction names these registers, n words such as "R12"; others than R are never loaded. */
static void name_registers(struct gt_scoreboard *board, const char *words, uint64_t n)
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

/* It accesses memory: sets the columns work and shared of its row. */
static void note_access(struct gt_scoreboard *board, struct gt_trace_access *access)
{
	access->has_work = true;
	access->work = gt_work(board->issued, board->barriers, board->waits && from_memory(access->op));
	access->shared = 0;
	if (gt_op_space(access->op) == GT_SHARED) {
		const int64_t stride = access->addresses ? GT_STRIDE_LANES : access->stride;
		board->shared_accesses++;
		board->shared_passes += gt_bank_passes_usual(access->mask, access->size, access->base, stride, access->addresses,
							     gt_op_action(access->op) == GT_LOAD);
		return;
	}
	access->shared = gt_shared_work(board->shared_accesses, board->shared_passes);
	board->issued = board->barriers = 0;
	board->shared_accesses = board->shared_passes = 0;
	board->waits &= !from_memory(access->op);
}

/* What it accessed, `size` bytes a lane, goes into these registers and those behind them. */
static void note_load(struct gt_scoreboard *board, const char *words, uint64_t n, uint8_t op, unsigned size)
{
	unsigned each = size > REGISTER_BYTES ? size / REGISTER_BYTES : 1;

	for (; n > 0 && from_memory(op); n--)
		for (unsigned first = next_register(&words), i = first; i < first + each && i < ZERO_REGISTER; i++)
			board->loading[i / 64] |= UINT64_C(1) << i % 64;
}

/* It has issued; `noted`: later ones are counted from it. */
static void note_issue(struct gt_scoreboard *board, const struct gt_opcode *opcode, bool noted)
{
	board->issued += !noted;
	board->barriers += opcode->barrier;
}

/* ---- lines that have been read ---- */

/* Whether lines say nothing but what is kept of them: no source line, and no registers that matter. */
static bool is_plain(const struct gt_accelsim *reader)
{
	return !reader->launch.line_info && !reader->to->wants_work;
}

static uint64_t word_at(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return word;
}

/* By the PC and the first lanes of the mask. */
static size_t place_of(const char *text)
{
	return (size_t)(gt_fibonacci(word_at(text)) >> 32) % GT_SEEN_LINES;
}

/* Compared in words up to the first that differs, so that none is read that begins behind the 0 which ends the text. */
static bool begins_as(const char *text, const struct gt_seen *line)
{
	for (size_t i = 0; i + sizeof(uint64_t) < line->length; i += sizeof(uint64_t))
		if (word_at(text + i) != word_at(line->text + i))
			return false;
	size_t last = line->length - sizeof(uint64_t);
	return word_at(text + last) == word_at(line->text + last);
}

/* The line of that tracer's version as which this text begins, which has GT_SCAN_SLACK readable bytes behind it; NULL if none
 * is known. Whether the text goes on as the line does is for the caller to see. */
static const struct gt_seen *find_seen(const struct gt_seen_lines *lines, const char *text, uint64_t version)
{
	const struct gt_seen *line = &lines->lines[place_of(text)];

	return line->length > 0 && line->version == version && begins_as(text, line) ? line : NULL;
}

/* Keeps a line whose text ends before `end`, unless it is too long; the rest of `line` is filled in but for the text. */
static void add_seen(struct gt_seen_lines *lines, const char *text, const char *end, const struct gt_seen *line)
{
	struct gt_seen *to = &lines->lines[place_of(text)];
	size_t length = (size_t)(end - text);

	if (length < sizeof(uint64_t) || length > sizeof to->text)
		return;
	*to = *line;
	to->length = length;
	memcpy(to->text, text, length);
}

/* ---- the end of a line, and addresses ---- */

static bool scan_immediate(const char **at)
{
	uint64_t number;

	gt_scan_char(at, '-');
	if ((*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		return gt_scan_hex(at, &number);
	return gt_scan_decimal(at, &number);
}

/* True if only blanks are left of the line, which may stand in the text of many. */
static bool scan_end(const char **at)
{
	return gt_scan_end(at) || **at == '\n';
}

/* The end of a line. From version 4 on, an immediate may be there; from version 6 on a second one, and "NoVal", or "Val"
 * and the values of the registers. */
static bool rest(const struct gt_accelsim *reader, const char **at)
{
	uint64_t value;

	if (scan_end(at))
		return true;
	if (reader->launch.version > 0 && reader->launch.version <= 3)
		return false;
	for (int i = 0; i < (reader->launch.version >= 6 ? 2 : 1) && **at != 'N' && **at != 'V'; i++)
		if (!scan_immediate(at))
			return false;
		else if (scan_end(at))
			return true;
		else
			gt_scan_blanks(at);
	if (reader->launch.version < 6 || !(gt_scan_text(at, "NoVal") || gt_scan_text(at, "Val")))
		return false;
	while (!scan_end(at))
		if (!gt_scan_hex(at, &value))
			return false;
	return true;
}

static bool scan_list(struct gt_accelsim *reader, const char **at)
{
	unsigned lanes = (unsigned)__builtin_popcount(reader->access.mask);

	for (unsigned i = 0; i < lanes; i++)
		if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[i]))
			return false;
	reader->access.addresses = reader->addresses;
	return true;
}

/* " BASE", of which the first digits are nearly always those of the base before. */
static inline bool scan_base(struct gt_accelsim *reader, const char **at)
{
	if (gt_scan_near(at, &reader->last_base, &reader->access.base))
		return true;
	if (!gt_scan_gap(at))
		return false;
	const char *number = *at;
	if (!gt_scan_hex(at, &reader->access.base))
		return false;
	gt_scan_note_first(number, &reader->last_base);
	return true;
}

/* " STRIDE", which nearly always is one digit at the end of the line. */
static inline bool scan_step(struct gt_accelsim *reader, const char **at)
{
	const char *text = *at;
	unsigned digit = (unsigned char)text[1] - (unsigned)'0';

	if (text[0] != ' ' || digit > 9 || text[2] != '\n')
		return gt_scan_gap(at) && gt_scan_signed(at, &reader->access.stride);
	reader->access.stride = (int64_t)digit;
	*at += 2;
	return true;
}

/* This form can only describe consecutive lanes, so base and stride are passed on as they are. */
static inline bool scan_stride(struct gt_accelsim *reader, const char **at)
{
	uint32_t mask = reader->access.mask;

	/* Adding the lowest lane carries through those beside it. */
	if (((mask + (mask & -mask)) & mask) != 0)
		return false;
	reader->access.addresses = NULL;
	return scan_base(reader, at) && scan_step(reader, at);
}

static bool scan_deltas(struct gt_accelsim *reader, const char **at)
{
	unsigned lanes = (unsigned)__builtin_popcount(reader->access.mask);
	int64_t delta;

	if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[0]))
		return false;
	for (unsigned i = 1; i < lanes; i++) {
		if (!gt_scan_gap(at) || !gt_scan_signed(at, &delta))
			return false;
		reader->addresses[i] = reader->addresses[i - 1] + (uint64_t)delta;
	}
	reader->access.addresses = reader->addresses;
	return true;
}

/* " MODE", which nearly always is one digit behind one blank. */
static inline bool scan_mode(const char **at, uint64_t *mode)
{
	const char *text = *at;

	if (text[0] == ' ' && text[1] >= '0' && text[1] <= '2' && text[2] == ' ') {
		*mode = (uint64_t)(text[1] - '0');
		*at += 2;
		return true;
	}
	return gt_scan_gap(at) && gt_scan_upto(at, 2, mode);
}

/* Scans it up to the end of the line, for a mask that is not 0. Returns NULL, or what was expected. */
static const char *scan_access(struct gt_accelsim *reader, const char **at)
{
	uint64_t mode = 0;

	if (!scan_mode(at, &mode))
		return "expected an address mode of 0, 1 or 2";
	switch (mode) {
	case 0:
		return scan_list(reader, at) && rest(reader, at) ?
			       NULL : "mode 0: expected a hexadecimal address for each lane of the mask";
	case 1:
		return scan_stride(reader, at) && (**at == '\n' || rest(reader, at)) ?
			       NULL : "mode 1: expected a base and a decimal stride, and lanes side by side";
	default:
		return scan_deltas(reader, at) && rest(reader, at) ?
			       NULL : "mode 2: expected a base and a decimal delta for each further lane";
	}
}

static bool within(uint64_t address, uint64_t window)
{
	return window != 0 && address - window < GT_WINDOW_BYTES;
}

static enum gt_space space_at(const struct gt_accelsim *reader, uint64_t address)
{
	if (within(address, reader->launch.shared_window))
		return GT_SHARED;
	return within(address, reader->launch.local_window) ? GT_LOCAL : GT_GLOBAL;
}

static uint8_t in_space(uint8_t op, enum gt_space space)
{
	return gt_op(gt_op_action(op), space, gt_op_operator(op));
}

/* The post-processing leaves one line of the two of an LDGSTS: its address says which. */
static void place_copy(struct gt_accelsim *reader)
{
	struct gt_trace_access *access = &reader->access;
	uint64_t first = access->addresses ? access->addresses[0] : access->base;

	if (first < GT_WINDOW_BYTES || space_at(reader, first) == GT_SHARED)
		access->op = gt_opcode_shared_store();
}

/* Reports an access whose op is set. */
static int report_lanes(struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;

	access->size = opcode->size;
	access->hint = opcode->hint;
	access->block = reader->block;
	access->warp = (uint16_t)reader->warp;
	access->has_work = false;
	access->work = access->shared = 0;
	if (reader->to->wants_work)
		note_access(&reader->board, access);
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* The lanes of `mask`, whose addresses are in `all`, that are in a space. Theirs become those of the access; the others stay in `all`. */
static uint32_t take_space(struct gt_accelsim *reader, uint32_t mask, uint64_t all[], enum gt_space space)
{
	unsigned lane = 0, taken = 0, left = 0;
	uint32_t part = 0;

	for (uint32_t m = mask; m; m &= m - 1, lane++) {
		if (space_at(reader, all[lane]) == space) {
			part |= m & -m;
			reader->addresses[taken++] = all[lane];
		} else {
			all[left++] = all[lane];
		}
	}
	return part;
}

/* An access with generic addresses is one of each space that its lanes are in, that of the lowest lane first. */
static int report_generic(struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;
	const uint32_t mask = access->mask;
	uint64_t all[GT_WARP_SIZE];
	unsigned lanes = (unsigned)__builtin_popcount(mask), alike = 1;

	for (unsigned i = 0; i < lanes; i++)
		all[i] = access->addresses ? access->addresses[i] : access->base + i * (uint64_t)access->stride;
	while (alike < lanes && space_at(reader, all[alike]) == space_at(reader, all[0]))
		alike++;
	if (alike == lanes) {
		access->op = in_space(opcode->op, space_at(reader, all[0]));
		return report_lanes(reader, opcode);
	}
	for (uint32_t left = mask; left; left &= ~access->mask) {
		const enum gt_space space = space_at(reader, all[0]);
		access->mask = take_space(reader, left, all, space);
		access->addresses = reader->addresses;
		access->op = in_space(opcode->op, space);
		if (report_lanes(reader, opcode) != 0)
			return -1;
	}
	/* As an instruction it is one that waits for memory. */
	access->mask = mask;
	access->op = opcode->op;
	return 0;
}

/* Reports the access that was scanned. */
static int report_access(struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	if (opcode->generic)
		return report_generic(reader, opcode);
	reader->access.op = opcode->op;
	if (opcode->two)
		place_copy(reader);
	return report_lanes(reader, opcode);
}

/* What follows the width: checks and scans it, and reports the access. */
static int read_addresses(struct gt_accelsim *reader, const char *at, const struct gt_opcode *opcode)
{
	uint32_t mask = reader->access.mask;

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s has addresses: expected a load, a store or an atomic",
				     (int)opcode->length, opcode->text);
	/* No lane was active: there was no access. */
	if (mask == 0)
		return 0;
	if (mask & ~reader->lanes)
		return gt_input_fail(reader->input, reader->error,
				     "mask %08" PRIx32 ": expected lanes of %08" PRIx32
				     ", which the block has",
				     mask, reader->lanes);
	const char *expected = scan_access(reader, &at);
	return expected ? gt_accelsim_fail(reader, expected) : report_access(reader, opcode);
}

/* ---- an instruction ---- */

#define NO_LEAD 1 /* as reader->launch.lead: nothing precedes the PC */
#define REGISTERS_MAX 64 /* registers an instruction may name on either side */

static bool skip_words(const char **at, uint64_t words)
{
	const char *word;
	size_t length;

	while (words-- > 0)
		if (!gt_scan_gap(at) || !gt_scan_word(at, &word, &length))
			return false;
	return true;
}

/* Whether the mask stands behind so many words: it is recognized by its eight digits, to which the tracer pads it. */
static bool has_mask_behind(const char *line, uint64_t words)
{
	const char *at = line, *word;
	size_t length;

	return gt_scan_word(&at, &word, &length) && skip_words(&at, words - 1) && gt_scan_gap(&at) && gt_scan_word(&at, &word, &length) &&
	       length == 8;
}

/* How many numbers precede the PC of an ungrouped line: the block and the warp, then possibly the SM and its slot,
 * or the seven numbers of a cluster; then possibly a source line. */
static unsigned find_lead(const struct gt_accelsim *reader, const char *line)
{
	static const unsigned leads[] = {4, 6, 11};

	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
		if (has_mask_behind(line, leads[i] + reader->launch.line_info + 1))
			return leads[i];
	return leads[0];
}

/* Reads block, warp and SM at the beginning of an ungrouped line. */
static int read_lead(struct gt_accelsim *reader, const char **at)
{
	uint64_t position[3], warp, sm;

	if (reader->launch.lead == 0)
		reader->launch.lead = find_lead(reader, *at);
	if (!gt_accelsim_position(at, position, gt_scan_gap) || !gt_scan_gap(at) || !gt_scan_decimal(at, &warp) ||
	    !gt_scan_gap(at))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	if (gt_accelsim_enter_block(reader, position) != 0 || gt_accelsim_enter_warp(reader, warp) != 0)
		return -1;
	for (unsigned i = 4; i < reader->launch.lead; i++) {
		if (!gt_scan_decimal(at, &sm) || !gt_scan_gap(at))
			return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
		if (i == 4 && reader->launch.lead == 6) {
			if (sm > UINT16_MAX)
				return gt_accelsim_fail(reader, "expected an SM below 65536");
			reader->access.scheduled = true;
			reader->access.sm = (uint16_t)sm;
		}
	}
	return 0;
}

/* Whether block and warp stand on the lines of a grouped trace too, as tracers before version 3 repeat them. Of a trace without a version the
 * first line tells. */
static bool repeats_lead(struct gt_accelsim *reader, const char *line)
{
	struct gt_accelsim_launch *launch = &reader->launch;

	if (launch->version == 0 && launch->lead == 0)
		launch->lead = has_mask_behind(line, 4 + launch->line_info + 1) ? 4 : NO_LEAD;
	return launch->version == 0 ? launch->lead == 4 : launch->version < 3;
}

static int repeat_lead(struct gt_accelsim *reader, const char **at)
{
	uint32_t block = reader->block, warp = reader->warp;

	reader->launch.lead = 4;
	if (read_lead(reader, at) != 0)
		return -1;
	return block == reader->block && warp == reader->warp ?
		       0 : gt_accelsim_fail(reader, "expected the block and the warp of the section that the line is in");
}

static int begin_instruction(struct gt_accelsim *reader, const char **at)
{
	if (!reader->launch.grouped) {
		if (reader->to->wants_work)
			return gt_accelsim_fail(reader, "expected a grouped trace (.traceg, .tracez), which has the instructions of a "
							"warp behind each other");
		if (gt_accelsim_announce(reader) != 0)
			return -1;
		return read_lead(reader, at);
	}
	if (reader->place != GT_ACCELSIM_IN_INSTRUCTIONS)
		return gt_accelsim_fail(reader, "an instruction: expected after 'insts = N' of a warp");
	if (reader->found++ == reader->expected)
		return gt_input_fail(reader->input, reader->error,
				     "one instruction more: expected %" PRIu64 ", as the insts line says",
				     reader->expected);
	return repeats_lead(reader, *at) ? repeat_lead(reader, at) : 0;
}

/* From version 6 on, a matrix product of a warp group says whether it commits, before the width. */
static unsigned commits(const struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	for (size_t i = 0; reader->launch.version >= 6 && i + 4 <= opcode->length; i++)
		if (strncmp(opcode->text + i, "GMMA", 4) == 0)
			return 1;
	return 0;
}

/* Names of registers, n words of a line. */
struct registers {
	uint64_t n;
	const char *words;
};

static bool scan_registers(const char **at, struct registers *registers, unsigned more)
{
	bool counted = gt_scan_upto(at, REGISTERS_MAX, &registers->n);

	registers->words = *at;
	return counted && skip_words(at, registers->n + more);
}

/* Keeps the part of a line from its PC up to `end`. */
static void remember(struct gt_accelsim *reader, const char *begin, const char *end, const struct gt_opcode *opcode, bool addresses)
{
	if (is_plain(reader))
		add_seen(&reader->seen, begin, end,
			    &(struct gt_seen){.version = reader->launch.version, .pc = reader->access.pc, .mask = reader->access.mask,
					      .addresses = addresses, .opcode = *opcode});
}

/* What follows the sources. `begin`: the PC. */
static int read_access(struct gt_accelsim *reader, const char *begin, const char *at, const struct gt_opcode *opcode)
{
	uint64_t width;

	if (!gt_scan_gap(&at) || !gt_scan_decimal(&at, &width))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	if (width == 0) {
		reader->access.mask = 0;
		if (!rest(reader, &at))
			return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
		remember(reader, begin, at, opcode, false);
		return 0;
	}
	remember(reader, begin, at, opcode, true);
	if (reader->launch.line_info && reader->line > 0 && reader->to->line &&
	    reader->to->line(reader->to->context, reader->access.pc, reader->line, reader->error) != 0)
		return -1;
	return read_addresses(reader, at, opcode);
}

/* The same, with what it does to the registers. */
static int read_timed(struct gt_accelsim *reader, const char *begin, const char *at, const struct gt_opcode *opcode,
		      const struct registers *results, const struct registers *sources)
{
	struct gt_scoreboard *board = &reader->board;

	name_registers(board, sources->words, sources->n);
	name_registers(board, results->words, results->n);
	if (read_access(reader, begin, at, opcode) != 0)
		return -1;
	const struct gt_trace_access *access = &reader->access;
	if (access->mask != 0)
		note_load(board, results->words, results->n, access->op, access->size);
	note_issue(board, opcode, access->mask != 0 && gt_op_space(access->op) != GT_SHARED);
	return 0;
}

/* A line of which the text before `at` has been seen. */
static int read_seen(struct gt_accelsim *reader, const char *at, const struct gt_seen *seen)
{
	reader->access.pc = seen->pc;
	reader->access.mask = seen->mask;
	return seen->addresses ? read_addresses(reader, at, &seen->opcode) : 0;
}

int gt_accelsim_instruction(struct gt_accelsim *reader, const char *at)
{
	struct registers results, sources;
	uint64_t pc, mask;
	const char *text;
	size_t length;

	if (begin_instruction(reader, &at) != 0)
		return -1;
	const char *begin = at;
	const struct gt_seen *seen = is_plain(reader) ? find_seen(&reader->seen, at, reader->launch.version) : NULL;
	if (seen && at[seen->length] == (seen->addresses ? ' ' : '\0'))
		return read_seen(reader, at + seen->length, seen);
	if ((reader->launch.line_info && (!gt_scan_decimal(&at, &reader->line) || !gt_scan_gap(&at))) ||
	    !gt_scan_hex(&at, &pc) || !gt_scan_gap(&at))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	if (!gt_scan_hex(&at, &mask) || mask > UINT32_MAX || !gt_scan_gap(&at))
		return gt_accelsim_fail(reader, "expected a mask of eight hexadecimal digits after the PC");
	if (!scan_registers(&at, &results, 0) || !gt_scan_gap(&at) || !gt_scan_word(&at, &text, &length))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (opcode->tma) {
		note_issue(&reader->board, opcode, false);
		return reader->to->passed_over(reader->to->context, "TMA instructions", 1, reader->error);
	}
	if (!gt_scan_gap(&at) || !scan_registers(&at, &sources, commits(reader, opcode)))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	reader->access.pc = (uint32_t)pc;
	reader->access.mask = (uint32_t)mask;
	return reader->to->wants_work ? read_timed(reader, begin, at, opcode, &results, &sources) :
					read_access(reader, begin, at, opcode);
}

/* ---- lines that are known ---- */

/* Lines whose beginning is known, which are nearly all, are read where they stand, from the beginning
 * to the newline, without a look for their ends before. A line that is not as expected is left to
 * gt_accelsim_line. */

/* The bytes of the line with its newline, if it is known; else 0. */
static size_t scan_known(struct gt_accelsim *reader, const char *line, const struct gt_seen **known)
{
	const struct gt_seen *seen = find_seen(&reader->seen, line, reader->launch.version);

	if (!seen)
		return 0;
	const char *at = line + seen->length;
	reader->access.pc = seen->pc;
	reader->access.mask = seen->mask;
	if (seen->addresses && (*at != ' ' || !seen->opcode.memory || seen->mask == 0 || (seen->mask & ~reader->lanes) != 0 ||
				scan_access(reader, &at) != NULL))
		return 0;
	*known = seen;
	return *at == '\n' && at - line <= GT_LINE_MAX ? (size_t)(at + 1 - line) : 0;
}

/* Reads the lines of a warp that follow in memory, up to the first that is not known. */
static int read_known_lines(struct gt_accelsim *reader)
{
	const struct gt_seen *seen;
	size_t bytes;

	if (!reader->launch.grouped || !is_plain(reader) || reader->launch.lead == 4)
		return 0;
	const char *line = gt_input_ahead(reader->input);
	for (; reader->found < reader->expected && (bytes = scan_known(reader, line, &seen)) > 0; line += bytes) {
		gt_input_take_line(reader->input, bytes);
		reader->found++;
		if (seen->addresses && report_access(reader, &seen->opcode) != 0)
			return -1;
	}
	return 0;
}

int gt_accelsim_line(struct gt_accelsim *reader, const char *line)
{
	/* Nearly all begin with the digits of a PC; of the others only "cluster" begins with one. */
	if (gt_hex_digit[(unsigned char)*line] == 0 || line[1] == 'l')
		return gt_accelsim_frame(reader, line);
	return gt_accelsim_instruction(reader, line) != 0 ? -1 : read_known_lines(reader);
}

