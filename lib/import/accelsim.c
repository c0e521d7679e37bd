/* SPDX-License-Identifier: MIT */
/* Accel-Sim's traces: .traceg (grouped by block and warp), .trace (ungrouped: each line names its
 * block and warp) and kernelslist.g (a list of such files).
 *
 * An instruction is "PC MASK ND Rd* OPCODE NS Rs* WIDTH [MODE addresses] [immediate]". WIDTH only
 * says whether there are addresses, since it is wrong for some types: the opcode tells the size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/place.h"
#include "stream/op.h"
#include "stream/rows.h"

#define REGISTERS_MAX 64 /* registers an instruction may name on either side */
#define INSTRUCTION "expected '[X Y Z WARP] [LINE] PC MASK ND Rd... OPCODE NS Rs... WIDTH [MODE ADDRESSES]'"

/* Keys of the header that a launch needs. */
enum { HAS_ID = 1, HAS_GRID = 2, HAS_BLOCK = 4, HAS_ALL = 7 };

/* Where a reader is within a grouped trace. */
enum place { OUTSIDE, IN_BLOCK, IN_WARP, IN_INSTRUCTIONS };

struct reader {
	struct gt_input *input;
	const struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;

	struct gt_kernel kernel;
	unsigned has;	/* keys seen */
	bool announced; /* the launch was handed on */
	uint64_t version; /* of the tracer; 0: not said */
	uint64_t line_info; /* 1: a line number stands before each PC */
	uint64_t shared_window, local_window; /* 0: not said */
	unsigned lead; /* numbers before the PC of an ungrouped line; 0: not found out */

	bool grouped;
	enum place place;
	bool block_known;
	uint32_t block, warp, warps;
	uint32_t lanes; /* lanes that exist in the warp */
	uint64_t expected, found; /* instructions of the warp */

	/* The instruction at hand. */
	struct gt_trace_access access;
	uint64_t addresses[GT_WARP_SIZE];
};

static int fail(const struct reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* ---- the header */

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

static bool key_name(struct reader *reader, const char **at)
{
	snprintf(reader->kernel.name, sizeof reader->kernel.name, "%s", *at);
	*at += strlen(*at);
	return true;
}
static bool key_id(struct reader *reader, const char **at)
{
	reader->has |= HAS_ID;
	return gt_scan_upto(at, GT_KERNEL_NEXT - 1, &reader->kernel.id);
}
static bool key_grid(struct reader *reader, const char **at)
{
	reader->has |= HAS_GRID;
	return scan_size(at, reader->kernel.grid);
}
static bool key_block(struct reader *reader, const char **at)
{
	reader->has |= HAS_BLOCK;
	return scan_size(at, reader->kernel.block);
}
static bool key_shared(struct reader *reader, const char **at)
{
	return scan_32(at, &reader->kernel.shared_bytes);
}
static bool key_registers(struct reader *reader, const char **at)
{
	return scan_32(at, &reader->kernel.registers);
}
static bool key_shared_window(struct reader *reader, const char **at)
{
	return gt_scan_hex(at, &reader->shared_window);
}
static bool key_local_window(struct reader *reader, const char **at)
{
	return gt_scan_hex(at, &reader->local_window);
}
static bool key_version(struct reader *reader, const char **at)
{
	return gt_scan_upto(at, 1000, &reader->version);
}
static bool key_line_info(struct reader *reader, const char **at)
{
	return gt_scan_upto(at, 1, &reader->line_info);
}

/* Other keys are Accel-Sim's own affair. */
static const struct {
	const char *key;
	bool (*scan)(struct reader *reader, const char **at);
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

/* Files put one behind the other are launches one behind the other. */
static void begin_header(struct reader *reader)
{
	reader->kernel = (struct gt_kernel){0};
	reader->has = 0;
	reader->announced = reader->grouped = false;
	reader->version = reader->line_info = reader->shared_window = reader->local_window = 0;
	reader->lead = 0;
	reader->place = OUTSIDE;
	reader->access = (struct gt_trace_access){.numbering = GT_AN_OF_WARP};
}

static int read_key(struct reader *reader, const char *line)
{
	const char *key = line + 1, *value = strchr(line, '=');
	size_t length = value ? (size_t)(value - key) : 0;

	if (reader->place != OUTSIDE)
		return fail(reader, "a header line inside a thread block: expected #END_TB first");
	if (!value)
		return fail(reader, "expected '-KEY = VALUE'");
	if (reader->announced)
		begin_header(reader);
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

/* Hands the launch on, before its first block or instruction. */
static int announce(struct reader *reader)
{
	if (reader->announced)
		return 0;
	if (reader->has != HAS_ALL)
		return fail(reader, "expected a header with -kernel id, -grid dim and -block dim first");
	if (gt_import_kernel(reader->input, reader->to, &reader->kernel, reader->error) != 0)
		return -1;
	reader->warps = (uint32_t)gt_kernel_warps(&reader->kernel);
	reader->announced = true;
	return 0;
}

/* ---- blocks and warps */

static int enter_block(struct reader *reader, const uint64_t at[3])
{
	const uint32_t *grid = reader->kernel.grid;

	if (at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
		return gt_input_fail(reader->input, reader->error,
				     "thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64
				     ": expected one in the grid of %" PRIu32 ",%" PRIu32 ",%" PRIu32,
				     at[0], at[1], at[2], grid[0], grid[1], grid[2]);
	/* Below 2^32, since the grid has at most 2^32 blocks. */
	reader->block = (uint32_t)((at[2] * grid[1] + at[1]) * grid[0] + at[0]);
	return 0;
}

static int enter_warp(struct reader *reader, uint64_t warp)
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

static bool scan_position(const char **at, uint64_t position[3], bool (*separator)(const char **))
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

static int check_count(struct reader *reader)
{
	if (reader->place != IN_INSTRUCTIONS || reader->found == reader->expected)
		return 0;
	return gt_input_fail(reader->input, reader->error,
			     "warp %" PRIu32 " has %" PRIu64 " instructions: expected %" PRIu64
			     ", as its insts line says",
			     reader->warp, reader->found, reader->expected);
}

static int line_comment(struct reader *reader, const char *at)
{
	(void)reader;
	(void)at;
	return 0;
}

static int line_begin_block(struct reader *reader, const char *at)
{
	(void)at;
	if (reader->place != OUTSIDE)
		return fail(reader, "a thread block inside another: expected #END_TB first");
	reader->grouped = true;
	reader->block_known = false;
	reader->place = IN_BLOCK;
	return announce(reader);
}

static int line_end_block(struct reader *reader, const char *at)
{
	(void)at;
	if (reader->place == OUTSIDE)
		return fail(reader, "#END_TB: expected #BEGIN_TB before it");
	if (reader->place == IN_WARP)
		return fail(reader, "#END_TB: expected 'insts = N' after 'warp = N'");
	if (check_count(reader) != 0)
		return -1;
	reader->place = OUTSIDE;
	return 0;
}

static int line_block(struct reader *reader, const char *at)
{
	uint64_t position[3];

	if (reader->place != IN_BLOCK || reader->block_known)
		return fail(reader, "'thread block': expected once, after #BEGIN_TB");
	if (!scan_position(&at, position, comma) || !gt_scan_end(&at))
		return fail(reader, "expected 'thread block = X,Y,Z'");
	reader->block_known = true;
	return enter_block(reader, position);
}

static int line_warp(struct reader *reader, const char *at)
{
	uint64_t warp;

	if (!reader->block_known || reader->place == OUTSIDE || reader->place == IN_WARP)
		return fail(reader, "'warp': expected after 'thread block' or the instructions of a warp");
	if (check_count(reader) != 0)
		return -1;
	if (!gt_scan_decimal(&at, &warp) || !gt_scan_end(&at))
		return fail(reader, "expected 'warp = N'");
	reader->place = IN_WARP;
	return enter_warp(reader, warp);
}

static int line_count(struct reader *reader, const char *at)
{
	if (reader->place != IN_WARP)
		return fail(reader, "'insts': expected after 'warp = N'");
	if (!gt_scan_decimal(&at, &reader->expected) || !gt_scan_end(&at))
		return fail(reader, "expected 'insts = N'");
	reader->found = 0;
	reader->place = IN_INSTRUCTIONS;
	return 0;
}

/* Clusters of blocks, which newer tracers name, change no address. */
static int line_cluster(struct reader *reader, const char *at)
{
	(void)at;
	return reader->place == IN_BLOCK ? 0 : fail(reader, "'cluster': expected after 'thread block'");
}

/* Lines that are no instructions, by how they begin. */
static const struct {
	const char *begin;
	int (*read)(struct reader *reader, const char *at);
} lines[] = {
	{"#BEGIN_TB", line_begin_block}, {"#END_TB", line_end_block}, {"#", line_comment},
	{"-", NULL},			 {"thread block = ", line_block}, {"warp = ", line_warp},
	{"insts = ", line_count},	 {"cluster ", line_cluster},
};

/* ---- instructions */

static inline bool skip_words(const char **at, uint64_t words)
{
	const char *word;
	size_t length;

	while (words-- > 0)
		if (!gt_scan_gap(at) || !gt_scan_word(at, &word, &length))
			return false;
	return true;
}

/* The tracer pads the mask to eight digits, which tells how many numbers stand before the PC of
 * an ungrouped line: the block and the warp, then possibly the SM and its slot, or the seven
 * numbers of a cluster; then possibly a source line. */
static unsigned find_lead(const struct reader *reader, const char *line)
{
	static const unsigned leads[] = {4, 6, 11};
	const char *word;
	size_t length;

	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
		const char *at = line;
		uint64_t before = leads[i] + reader->line_info + 1;

		if (gt_scan_word(&at, &word, &length) && skip_words(&at, before - 1) && gt_scan_gap(&at) &&
		    gt_scan_word(&at, &word, &length) && length == 8)
			return leads[i];
	}
	return leads[0];
}

/* Takes block, warp and SM from the beginning of an ungrouped line. */
static int read_lead(struct reader *reader, const char **at)
{
	uint64_t position[3], warp, sm;

	if (reader->lead == 0)
		reader->lead = find_lead(reader, *at);
	if (!scan_position(at, position, gt_scan_gap) || !gt_scan_gap(at) || !gt_scan_decimal(at, &warp) ||
	    !gt_scan_gap(at))
		return fail(reader, INSTRUCTION);
	if (enter_block(reader, position) != 0 || enter_warp(reader, warp) != 0)
		return -1;
	for (unsigned i = 4; i < reader->lead; i++) {
		if (!gt_scan_decimal(at, &sm) || !gt_scan_gap(at))
			return fail(reader, INSTRUCTION);
		if (i == 4 && reader->lead == 6) {
			if (sm > UINT16_MAX)
				return fail(reader, "expected an SM below 65536");
			reader->access.scheduled = true;
			reader->access.sm = (uint16_t)sm;
		}
	}
	return 0;
}

/* Tracers before version 3 left block and warp on the lines of grouped traces too. */
static int repeat_lead(struct reader *reader, const char **at)
{
	uint32_t block = reader->block, warp = reader->warp;

	reader->lead = 4;
	if (read_lead(reader, at) != 0)
		return -1;
	return block == reader->block && warp == reader->warp ?
		       0 : fail(reader, "expected the block and the warp under which the line stands");
}

static int begin_instruction(struct reader *reader, const char **at)
{
	if (!reader->grouped) {
		if (announce(reader) != 0)
			return -1;
		return read_lead(reader, at);
	}
	if (reader->place != IN_INSTRUCTIONS)
		return fail(reader, "an instruction: expected after 'insts = N' of a warp");
	if (reader->found++ == reader->expected)
		return gt_input_fail(reader->input, reader->error,
				     "one instruction more: expected %" PRIu64 ", as the insts line says",
				     reader->expected);
	return reader->version == 0 || reader->version >= 3 ? 0 : repeat_lead(reader, at);
}

/* What may follow the addresses: an immediate, from version 4 on. */
static bool scan_immediate(const struct reader *reader, const char **at)
{
	uint64_t number;

	if (gt_scan_end(at))
		return true;
	if (reader->version > 0 && reader->version <= 3)
		return false;
	gt_scan_char(at, '-');
	if ((*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		return gt_scan_hex(at, &number) && gt_scan_end(at);
	return gt_scan_decimal(at, &number) && gt_scan_end(at);
}

static bool scan_list(struct reader *reader, const char **at, unsigned lanes)
{
	for (unsigned i = 0; i < lanes; i++)
		if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[i]))
			return false;
	reader->access.addresses = reader->addresses;
	return true;
}

/* Only lanes side by side can be written so, and then the row is affine as it stands. */
static bool scan_stride(struct reader *reader, const char **at, unsigned lanes)
{
	uint32_t mask = reader->access.mask;
	unsigned lowest = (unsigned)__builtin_ctz(mask);

	(void)lanes;
	if (((mask >> lowest) & ((mask >> lowest) + 1)) != 0)
		return false;
	reader->access.addresses = NULL;
	return gt_scan_gap(at) && gt_scan_hex(at, &reader->access.base) && gt_scan_gap(at) &&
	       gt_scan_signed(at, &reader->access.stride);
}

static bool scan_deltas(struct reader *reader, const char **at, unsigned lanes)
{
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

/* By MODE. */
static const struct {
	bool (*scan)(struct reader *reader, const char **at, unsigned lanes);
	const char *expected;
} modes[] = {
	{scan_list, "mode 0: expected a hexadecimal address for each lane of the mask"},
	{scan_stride, "mode 1: expected a base and a decimal stride, and lanes side by side"},
	{scan_deltas, "mode 2: expected a base and a decimal delta for each further lane"},
};

static bool within(uint64_t address, uint64_t window)
{
	return window != 0 && address - window < GT_WINDOW_BYTES;
}

/* The space of an access whose opcode leaves it open, by the address of its first lane. */
static void place_generic(struct reader *reader, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;
	uint64_t first = access->addresses ? access->addresses[0] : access->base;
	bool shared = within(first, reader->shared_window);

	if (opcode->two && (shared || first < GT_WINDOW_BYTES))
		access->op = gt_opcode_shared_store();
	else if (opcode->generic && (shared || within(first, reader->local_window)))
		access->op = gt_op(gt_op_action(access->op), shared ? GT_SHARED : GT_LOCAL,
				   gt_op_operator(access->op));
}

static int read_addresses(struct reader *reader, const char *at, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;
	uint64_t mode;

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s has addresses: expected a load, a store or an atomic",
				     (int)opcode->length, opcode->text);
	/* Every lane was switched off: there was no access. */
	if (access->mask == 0)
		return 0;
	if (access->mask & ~reader->lanes)
		return gt_input_fail(reader->input, reader->error,
				     "mask %08" PRIx32 ": expected lanes of %08" PRIx32
				     ", which the block has",
				     access->mask, reader->lanes);
	if (!gt_scan_gap(&at) || !gt_scan_upto(&at, sizeof modes / sizeof *modes - 1, &mode))
		return fail(reader, "expected an address mode of 0, 1 or 2");
	if (!modes[mode].scan(reader, &at, (unsigned)__builtin_popcount(access->mask)) ||
	    !scan_immediate(reader, &at))
		return fail(reader, modes[mode].expected);
	access->op = opcode->op;
	access->size = opcode->size;
	access->block = reader->block;
	access->warp = (uint16_t)reader->warp;
	if (opcode->generic || opcode->two)
		place_generic(reader, opcode);
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

static int read_instruction(struct reader *reader, const char *at)
{
	uint64_t number, pc, mask, registers, width;
	const char *text;
	size_t length;

	if (begin_instruction(reader, &at) != 0)
		return -1;
	if ((reader->line_info && (!gt_scan_decimal(&at, &number) || !gt_scan_gap(&at))) ||
	    !gt_scan_hex(&at, &pc) || !gt_scan_gap(&at))
		return fail(reader, INSTRUCTION);
	if (!gt_scan_hex(&at, &mask) || mask > UINT32_MAX || !gt_scan_gap(&at))
		return fail(reader, "expected a mask of eight hexadecimal digits after the PC");
	if (!gt_scan_upto(&at, REGISTERS_MAX, &registers) || !skip_words(&at, registers) ||
	    !gt_scan_gap(&at) || !gt_scan_word(&at, &text, &length))
		return fail(reader, INSTRUCTION);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (opcode->tma)
		return reader->to->passed_over(reader->to->context, "TMA instructions", 1, reader->error);
	if (!gt_scan_gap(&at) || !gt_scan_upto(&at, REGISTERS_MAX, &registers) ||
	    !skip_words(&at, registers) || !gt_scan_gap(&at) || !gt_scan_decimal(&at, &width))
		return fail(reader, INSTRUCTION);
	if (width == 0)
		return scan_immediate(reader, &at) ? 0 : fail(reader, INSTRUCTION);
	reader->access.pc = (uint32_t)pc;
	reader->access.mask = (uint32_t)mask;
	return read_addresses(reader, at, opcode);
}

/* ---- files */

static int read_line(struct reader *reader, const char *line)
{
	/* Nearly all lines begin with the digits of a PC; only "cluster" is like them. */
	if (gt_hex_digit[(unsigned char)*line] != 0 && line[1] != 'l')
		return read_instruction(reader, line);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *at = line;

		if (gt_scan_text(&at, lines[i].begin))
			return lines[i].read ? lines[i].read(reader, at) : read_key(reader, line);
	}
	return gt_scan_end(&line) ? 0 : fail(reader, INSTRUCTION);
}

static int read_trace(struct reader *reader)
{
	char *line;
	size_t length;
	int got;

	begin_header(reader);
	while ((got = gt_input_line(reader->input, &line, &length, reader->error)) > 0)
		if (read_line(reader, line) != 0)
			return -1;
	if (got < 0)
		return -1;
	if (reader->place != OUTSIDE)
		return fail(reader, "the trace ends inside a thread block: expected #END_TB");
	/* A launch without accesses is one all the same. */
	return announce(reader);
}

static int read_file(struct reader *reader, struct gt_input *input)
{
	reader->input = input;
	return read_trace(reader);
}

/* Reads a trace that a list names, relative to the list's folder. */
static int read_listed(struct reader *reader, struct gt_input *list, const char *name)
{
	const char *path = gt_input_path(list), *slash = strrchr(path, '/');
	size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
	size_t bytes = folder + strlen(name) + 1;
	char *full = malloc(bytes);

	if (!full)
		return gt_fail_memory(reader->error, "a file's name");
	snprintf(full, bytes, "%.*s%s", (int)folder, path, name);
	struct gt_input *input = gt_input_open(full, reader->error);
	free(full);
	if (!input)
		return gt_import_place(list, reader->error);
	int result = read_file(reader, input);
	struct gt_error ignored;
	if (gt_input_close(input, result == 0 ? reader->error : &ignored) != 0)
		result = -1;
	return result;
}

static int read_list_line(struct reader *reader, struct gt_input *list, char *line)
{
	size_t length = strcspn(line, " \t");
	const char *rest = line + length;

	if (strncmp(line, "Memcpy", 6) == 0)
		return reader->to->passed_over(reader->to->context, "memory copies", 1, reader->error);
	if (!gt_scan_end(&rest) || strstr(line, ".trace") == NULL)
		return gt_input_fail(list, reader->error,
				     "expected MemcpyHtoD,ADDRESS,BYTES or the name of a trace");
	line[length] = '\0';
	return length == 0 ? 0 : read_listed(reader, list, line);
}

static int read_list(struct reader *reader, struct gt_input *list)
{
	char *line;
	size_t length;
	int got;

	while ((got = gt_input_line(list, &line, &length, reader->error)) > 0)
		if (length > 0 && read_list_line(reader, list, line) != 0)
			return -1;
	return got;
}

/* A list begins with a copy or a file's name, a trace with its header. */
static bool is_list(const char *head, size_t bytes)
{
	char line[64];

	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (line[0] != '\0')
			return strncmp(line, "Memcpy", 6) == 0 ||
			       (strncmp(line, "kernel", 6) == 0 && strstr(line, ".trace"));
	return false;
}

static int read_accelsim(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	const char *head;
	size_t bytes;

	if (gt_input_peek(input, &head, &bytes, error) != 0)
		return -1;
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return gt_fail_memory(error, "a trace's reader");
	reader->to = to;
	reader->error = error;
	int result = is_list(head, bytes) ? read_list(reader, input) : read_file(reader, input);
	free(reader);
	return result;
}

static bool detect(const char *head, size_t bytes)
{
	char line[64];

	if (is_list(head, bytes))
		return true;
	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (line[0] != '\0' && line[0] != '#')
			return strncmp(line, "-kernel name = ", 15) == 0 ||
			       strncmp(line, "-kernel id = ", 13) == 0;
	return false;
}

const struct gt_importer gt_import_accelsim = {
	.name = "accelsim",
	.summary = "Accel-Sim .traceg, .trace or kernelslist.g",
	.detect = detect,
	.read = read_accelsim,
};
