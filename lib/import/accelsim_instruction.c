/* SPDX-License-Identifier: MIT */
/* An instruction of an Accel-Sim trace: "PC MASK ND Rd* OPCODE NS Rs* WIDTH [MODE addresses]
 * [immediate]". WIDTH is wrong for some types, so it only tells whether there are addresses; the size comes from
 * the opcode. */
#include <inttypes.h>
#include <string.h>

#include "base/scan.h"
#include "import/accelsim.h"
#include "import/opcode.h"
#include "import/place.h"
#include "stream/op.h"

#define REGISTERS_MAX 64 /* registers an instruction may name on either side */

static inline bool skip_words(const char **at, uint64_t words)
{
	const char *word;
	size_t length;

	while (words-- > 0)
		if (!gt_scan_gap(at) || !gt_scan_word(at, &word, &length))
			return false;
	return true;
}

/* How many numbers precede the PC of an ungrouped line: the block and the warp, then possibly the SM and its slot,
 * or the seven numbers of a cluster; then possibly a source line. The mask after the PC is recognized by its
 * eight digits, to which the tracer pads it. */
static unsigned find_lead(const struct gt_accelsim *reader, const char *line)
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

/* Reads block, warp and SM at the beginning of an ungrouped line. */
static int read_lead(struct gt_accelsim *reader, const char **at)
{
	uint64_t position[3], warp, sm;

	if (reader->lead == 0)
		reader->lead = find_lead(reader, *at);
	if (!gt_accelsim_position(at, position, gt_scan_gap) || !gt_scan_gap(at) || !gt_scan_decimal(at, &warp) ||
	    !gt_scan_gap(at))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	if (gt_accelsim_enter_block(reader, position) != 0 || gt_accelsim_enter_warp(reader, warp) != 0)
		return -1;
	for (unsigned i = 4; i < reader->lead; i++) {
		if (!gt_scan_decimal(at, &sm) || !gt_scan_gap(at))
			return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
		if (i == 4 && reader->lead == 6) {
			if (sm > UINT16_MAX)
				return gt_accelsim_fail(reader, "expected an SM below 65536");
			reader->access.scheduled = true;
			reader->access.sm = (uint16_t)sm;
		}
	}
	return 0;
}

/* Tracers before version 3 repeat block and warp on the lines of grouped traces. */
static int repeat_lead(struct gt_accelsim *reader, const char **at)
{
	uint32_t block = reader->block, warp = reader->warp;

	reader->lead = 4;
	if (read_lead(reader, at) != 0)
		return -1;
	return block == reader->block && warp == reader->warp ?
		       0 : gt_accelsim_fail(reader, "expected the block and the warp of the section that the line is in");
}

static int begin_instruction(struct gt_accelsim *reader, const char **at)
{
	if (!reader->grouped) {
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
	return reader->version == 0 || reader->version >= 3 ? 0 : repeat_lead(reader, at);
}

static bool scan_immediate(const char **at)
{
	uint64_t number;

	gt_scan_char(at, '-');
	if ((*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		return gt_scan_hex(at, &number);
	return gt_scan_decimal(at, &number);
}

/* The end of a line. From version 4 on, an immediate may be there; from version 6 on a second one, and "NoVal", or "Val"
 * and the values of the registers. */
static bool scan_rest(const struct gt_accelsim *reader, const char **at)
{
	uint64_t value;

	if (gt_scan_end(at))
		return true;
	if (reader->version > 0 && reader->version <= 3)
		return false;
	for (int i = 0; i < (reader->version >= 6 ? 2 : 1) && **at != 'N' && **at != 'V'; i++)
		if (!scan_immediate(at))
			return false;
		else if (gt_scan_end(at))
			return true;
		else
			gt_scan_blanks(at);
	if (reader->version < 6 || !(gt_scan_text(at, "NoVal") || gt_scan_text(at, "Val")))
		return false;
	while (!gt_scan_end(at))
		if (!gt_scan_hex(at, &value))
			return false;
	return true;
}

static bool scan_list(struct gt_accelsim *reader, const char **at, unsigned lanes)
{
	for (unsigned i = 0; i < lanes; i++)
		if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[i]))
			return false;
	reader->access.addresses = reader->addresses;
	return true;
}

/* This form can only describe consecutive lanes, so base and stride are passed on as they are. */
static bool scan_stride(struct gt_accelsim *reader, const char **at, unsigned lanes)
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

static bool scan_deltas(struct gt_accelsim *reader, const char **at, unsigned lanes)
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
	bool (*scan)(struct gt_accelsim *reader, const char **at, unsigned lanes);
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

/* The space of an access with a generic address, from the address of its first lane. */
static void place_generic(struct gt_accelsim *reader, const struct gt_opcode *opcode)
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

static int read_addresses(struct gt_accelsim *reader, const char *at, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;
	uint64_t mode;

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s has addresses: expected a load, a store or an atomic",
				     (int)opcode->length, opcode->text);
	/* No lane was active: there was no access. */
	if (access->mask == 0)
		return 0;
	if (access->mask & ~reader->lanes)
		return gt_input_fail(reader->input, reader->error,
				     "mask %08" PRIx32 ": expected lanes of %08" PRIx32
				     ", which the block has",
				     access->mask, reader->lanes);
	if (!gt_scan_gap(&at) || !gt_scan_upto(&at, sizeof modes / sizeof *modes - 1, &mode))
		return gt_accelsim_fail(reader, "expected an address mode of 0, 1 or 2");
	if (!modes[mode].scan(reader, &at, (unsigned)__builtin_popcount(access->mask)) ||
	    !scan_rest(reader, &at))
		return gt_accelsim_fail(reader, modes[mode].expected);
	access->op = opcode->op;
	access->size = opcode->size;
	access->hint = opcode->hint;
	access->block = reader->block;
	access->warp = (uint16_t)reader->warp;
	if (opcode->generic || opcode->two)
		place_generic(reader, opcode);
	access->has_work = reader->to->wants_work;
	access->work = access->has_work ? gt_scoreboard_access(&reader->board, access->op) : 0;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* From version 6 on, a matrix product of a warp group says whether it commits, before the width. */
static unsigned commits(const struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	for (size_t i = 0; reader->version >= 6 && i + 4 <= opcode->length; i++)
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

/* Whether lines say nothing but what gt_seen keeps: no source line, and no registers that matter. */
static bool is_plain(const struct gt_accelsim *reader)
{
	return !reader->line_info && !reader->to->wants_work;
}

/* Keeps the part of a line from its PC up to `end`. */
static void remember(struct gt_accelsim *reader, const char *begin, const char *end, const struct gt_opcode *opcode, bool addresses)
{
	if (is_plain(reader))
		gt_seen_add(&reader->seen, begin, end,
			    &(struct gt_seen){.version = reader->version, .pc = reader->access.pc, .mask = reader->access.mask,
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
		if (!scan_rest(reader, &at))
			return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
		remember(reader, begin, at + 1, opcode, false);
		return 0;
	}
	remember(reader, begin, at, opcode, true);
	if (reader->line_info && reader->line > 0 && reader->to->line &&
	    reader->to->line(reader->to->context, reader->access.pc, reader->line, reader->error) != 0)
		return -1;
	return read_addresses(reader, at, opcode);
}

/* The same, with what it does to the registers. */
static int read_timed(struct gt_accelsim *reader, const char *begin, const char *at, const struct gt_opcode *opcode,
		      const struct registers *results, const struct registers *sources)
{
	struct gt_scoreboard *board = &reader->board;

	gt_scoreboard_name(board, sources->words, sources->n);
	gt_scoreboard_name(board, results->words, results->n);
	if (read_access(reader, begin, at, opcode) != 0)
		return -1;
	const struct gt_trace_access *access = &reader->access;
	if (access->mask != 0)
		gt_scoreboard_load(board, results->words, results->n, access->op, access->size);
	gt_scoreboard_issue(board, opcode, access->mask != 0 && gt_op_space(access->op) != GT_SHARED);
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
	const struct gt_seen *seen = is_plain(reader) ? gt_seen_find(&reader->seen, at, reader->version) : NULL;
	if (seen && (!seen->addresses || at[seen->length] == ' '))
		return read_seen(reader, at + seen->length, seen);
	if ((reader->line_info && (!gt_scan_decimal(&at, &reader->line) || !gt_scan_gap(&at))) ||
	    !gt_scan_hex(&at, &pc) || !gt_scan_gap(&at))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	if (!gt_scan_hex(&at, &mask) || mask > UINT32_MAX || !gt_scan_gap(&at))
		return gt_accelsim_fail(reader, "expected a mask of eight hexadecimal digits after the PC");
	if (!scan_registers(&at, &results, 0) || !gt_scan_gap(&at) || !gt_scan_word(&at, &text, &length))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (opcode->tma) {
		gt_scoreboard_issue(&reader->board, opcode, false);
		return reader->to->passed_over(reader->to->context, "TMA instructions", 1, reader->error);
	}
	if (!gt_scan_gap(&at) || !scan_registers(&at, &sources, commits(reader, opcode)))
		return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
	reader->access.pc = (uint32_t)pc;
	reader->access.mask = (uint32_t)mask;
	return reader->to->wants_work ? read_timed(reader, begin, at, opcode, &results, &sources) :
					read_access(reader, begin, at, opcode);
}
