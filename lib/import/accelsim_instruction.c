/* SPDX-License-Identifier: MIT */
/* An instruction of an Accel-Sim trace: "PC MASK ND Rd* OPCODE NS Rs* WIDTH [MODE addresses]
 * [immediate]". WIDTH is wrong for some types, so it only tells whether there are addresses; the size comes from
 * the opcode. */
#include <inttypes.h>
#include <string.h>

#include "base/scan.h"
#include "import/accelsim.h"
#include "import/opcode.h"
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

/* Keeps the part of a line from its PC up to `end`. */
static void remember(struct gt_accelsim *reader, const char *begin, const char *end, const struct gt_opcode *opcode, bool addresses)
{
	if (gt_accelsim_is_plain(reader))
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
		if (!gt_accelsim_rest(reader, &at))
			return gt_accelsim_fail(reader, GT_ACCELSIM_INSTRUCTION);
		remember(reader, begin, at, opcode, false);
		return 0;
	}
	remember(reader, begin, at, opcode, true);
	if (reader->line_info && reader->line > 0 && reader->to->line &&
	    reader->to->line(reader->to->context, reader->access.pc, reader->line, reader->error) != 0)
		return -1;
	return gt_accelsim_addresses(reader, at, opcode);
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
	return seen->addresses ? gt_accelsim_addresses(reader, at, &seen->opcode) : 0;
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
	const struct gt_seen *seen = gt_accelsim_is_plain(reader) ? gt_seen_find(&reader->seen, at, reader->version) : NULL;
	if (seen && at[seen->length] == (seen->addresses ? ' ' : '\0'))
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
