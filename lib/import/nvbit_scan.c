/* SPDX-License-Identifier: MIT */
/* What a line of NVBit's mem_trace says by itself, and the reading of such lines in several threads. What follows from the lines
 * before - the launch, the warp - is found in the order of the trace. A lane with address 0 is inactive. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/piece.h"
#include "base/scan.h"
#include "import/nvbit.h"
#include "import/textparts.h"
#include "stream/rows.h"

#define RECORD "expected 'MEMTRACE: CTX 0xC - grid_launch_id N - CTA X,Y,Z - warp W - OPCODE - " \
	       "32 addresses'"

/* All 32 lanes, from the one blank before the first on; those that hold 0 are inactive. */
static bool scan_addresses(struct gt_nvbit_scanner *scanner, const char *at, uint32_t *active)
{
	struct gt_scan_first first = scanner->first;
	uint64_t *addresses = scanner->addresses, address;
	uint32_t mask = 0;
	unsigned n = 0;

	if (at[1] != '0')
		return false;
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
		if (!gt_scan_near(&at, &first, &address)) {
			if (!gt_scan_gap(&at))
				return false;
			const char *number = at;
			if (!gt_scan_text(&at, "0x") || !gt_scan_hex(&at, &address))
				return false;
			gt_scan_note_first(number, &first);
		}
		if (address == 0)
			continue;
		mask |= UINT32_C(1) << lane;
		addresses[n++] = address;
	}
	scanner->first = first;
	*active = mask;
	return gt_scan_end(&at);
}

static bool scan_position(const char **at, uint64_t position[3])
{
	for (int i = 0; i < 3; i++)
		if ((i > 0 && !gt_scan_char(at, ',')) || !gt_scan_decimal(at, &position[i]))
			return false;
	return true;
}

/* "X,Y,Z - warp W - OPCODE - addresses". Returns NULL, or what was expected. */
static const char *scan_access(struct gt_nvbit_scanner *scanner, const char *at, struct gt_nvbit_line *line)
{
	uint64_t slot;

	line->placed = scan_position(&at, line->position);
	if (!line->placed || !gt_scan_text(&at, " - warp ") || !gt_scan_upto(&at, UINT16_MAX, &slot) ||
	    !gt_scan_text(&at, " - ") || !gt_scan_word(&at, &line->text, &line->length) || !gt_scan_text(&at, " - "))
		return RECORD;
	const struct gt_opcode *opcode = gt_opcode_find(&scanner->opcodes, line->text, line->length);

	line->slot = (uint16_t)slot;
	line->memory = opcode->memory;
	line->two = opcode->two;
	line->op = opcode->op;
	line->size = opcode->size;
	line->hint = opcode->hint;
	if (!line->memory)
		return NULL;
	if (!scan_addresses(scanner, at - 1, &line->mask))
		return "expected 32 addresses 0x..., blanks between them";
	if (line->mask == 0)
		return NULL;
	line->base = scanner->addresses[0];
	line->stride = gt_common_stride(line->mask, scanner->addresses);
	line->addresses = line->stride == GT_STRIDE_LANES ? scanner->addresses : NULL;
	return NULL;
}

/* Lines of mem_trace other than launches and records. */
static bool is_notice(const char *at)
{
	static const char *const notices[] = {"STARTING CONTEXT", "TERMINATING CONTEXT"};

	for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
		if (strncmp(at, notices[i], strlen(notices[i])) == 0)
			return true;
	return strncmp(at, "CTX ", 4) == 0 && strstr(at, ", Inspecting ");
}

/* What follows the context of a line. */
static void scan_message(struct gt_nvbit_scanner *scanner, const char *at, struct gt_nvbit_line *line)
{
	line->kind = GT_NVBIT_WRONG;
	line->wrong = RECORD;
	if (gt_scan_text(&at, "grid_launch_id ")) {
		if (!gt_scan_upto(&at, UINT64_MAX - 1, &line->launch) || !gt_scan_text(&at, " - CTA "))
			return;
		line->kind = GT_NVBIT_ACCESS;
		line->wrong = scan_access(scanner, at, line);
	} else if (gt_scan_text(&at, "LAUNCH - ")) {
		line->kind = GT_NVBIT_LAUNCH;
		line->wrong = NULL;
	}
}

void gt_nvbit_scan(struct gt_nvbit_scanner *scanner, const char *text, size_t length, struct gt_nvbit_line *line)
{
	const char *at = text;
	uint64_t context;

	*line = (struct gt_nvbit_line){.kind = GT_NVBIT_OTHER, .text = text, .length = length};
	if (!gt_scan_text(&at, GT_NVBIT_PREFIX)) {
		/* The program's own output. A record after an unfinished line of it must not be lost. */
		if (strstr(text, GT_NVBIT_PREFIX "CTX 0x")) {
			line->kind = GT_NVBIT_WRONG;
			line->wrong = "a record in the middle of a line: expected it at the line's beginning";
		}
		return;
	}
	const char *message = at;

	if (gt_scan_text(&at, "CTX ") && gt_scan_hex(&at, &context) && gt_scan_text(&at, " - ")) {
		scan_message(scanner, at, line);
	} else if (!is_notice(message)) {
		line->kind = GT_NVBIT_WRONG;
		line->wrong = RECORD;
	}
}

/* The lines of NVBit's mem_trace in several threads, which read what each says by itself. What follows from the lines before - the
 * launch, the warp - is found in the order of the trace. */

/* A line that is kept; behind it stand the addresses that it lists. */
struct kept {
	uint64_t number; /* in the part */
	size_t bytes;	 /* of all */
	struct gt_nvbit_line line;
};

struct part {
	struct gt_textpart part;
	struct gt_nvbit_scanner scanner;
	unsigned char *bytes; /* what is kept */
	size_t n, capacity;
	uint64_t lines;
	bool cut; /* the line behind these cannot be read */
};

struct parts {
	struct gt_nvbit *reader;
	uint64_t lines; /* of the parts that were passed on, and before them */
};

static int keep(struct part *part, const struct gt_nvbit_line *line, struct gt_error *error)
{
	size_t addresses = line->addresses ? (size_t)__builtin_popcount(line->mask) * sizeof *line->addresses : 0;
	size_t all = sizeof(struct kept) + addresses;
	unsigned char *larger = gt_grown_to(part->bytes, part->n + all, &part->capacity, 1);

	if (!larger)
		return gt_fail_memory(error, "a part of a trace");
	part->bytes = larger;
	struct kept *kept = (void *)(part->bytes + part->n);
	*kept = (struct kept){.number = part->lines, .bytes = all, .line = *line};
	if (addresses > 0)
		memcpy(kept + 1, line->addresses, addresses);
	part->n += all;
	return 0;
}

static int read_part(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct part *part = of;
	struct gt_nvbit_line line;
	struct gt_error ignored;
	char *text;
	size_t length;
	int got;

	(void)context;
	(void)lane;
	part->n = 0;
	part->lines = 0;
	while ((got = gt_input_line(part->part.text, &text, &length, &ignored)) > 0) {
		part->lines = gt_input_line_number(part->part.text);
		gt_nvbit_scan(&part->scanner, text, length, &line);
		if (line.kind != GT_NVBIT_OTHER && keep(part, &line, error) != 0)
			return -1;
	}
	part->cut = got < 0;
	return 0;
}

/* The error of the line that cannot be read, with its place in the whole. */
static int read_to_error(const struct parts *parts, struct gt_input *text, struct gt_error *error)
{
	char *line;
	size_t length;

	gt_piece_again(text, parts->lines);
	while (gt_input_line(text, &line, &length, error) > 0)
		;
	return -1;
}

static int take_all(const struct parts *parts, const struct part *part)
{
	for (size_t at = 0; at < part->n;) {
		struct kept *kept = (void *)(part->bytes + at);
		gt_piece_note_line(part->part.text, parts->lines + kept->number);
		if (kept->line.addresses)
			kept->line.addresses = (const void *)(kept + 1);
		if (gt_nvbit_take(parts->reader, &kept->line) != 0)
			return -1;
		at += kept->bytes;
	}
	return 0;
}

static int pass_on(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct gt_nvbit *reader = parts->reader;
	struct gt_input *whole = reader->input;
	struct gt_error *whole_error = reader->error;
	const struct part *part = of;

	(void)lane;
	reader->input = part->part.text;
	reader->error = error;
	int result = take_all(parts, part);
	if (result == 0 && part->cut)
		result = read_to_error(parts, part->part.text, error);
	reader->input = whole;
	reader->error = whole_error;
	parts->lines += part->lines;
	return result;
}

static void close_part(void *of)
{
	struct part *part = of;

	free(part->bytes);
}

int gt_nvbit_parts(struct gt_nvbit *reader)
{
	struct parts parts = {.reader = reader, .lines = gt_input_line_number(reader->input)};
	const struct gt_textparts how = {
		.part_bytes = sizeof(struct part), .context = &parts, .read = read_part, .pass_on = pass_on, .close = close_part,
	};
	int result = gt_textparts_read(&how, reader->input, reader->to->jobs, reader->error);

	gt_piece_note_line(reader->input, parts.lines);
	return result;
}
