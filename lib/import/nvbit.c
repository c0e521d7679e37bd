/* SPDX-License-Identifier: MIT */
/* The output of NVBit's mem_trace: lines that begin "MEMTRACE: " among the program's own. This file reads the lines of launches, and
 * finds what follows from the lines before: the launch of a record, its warp, its block. */
#include <inttypes.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grown.h"
#include "base/map.h"
#include "base/piece.h"
#include "base/scan.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/opcode.h"
#include "import/parts.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/trace.h"

#define PREFIX "MEMTRACE: "

/* ---- a line by itself ---- */

enum kind {
	OTHER,	 /* the program's own, or one that says nothing of accesses */
	LAUNCH, /* `text` is the line */
	ACCESS,
	WRONG /* and of an access whose launch is not known */
};

struct line {
	enum kind kind;
	const char *wrong; /* what was expected; NULL: nothing else. An access has what stands before it in the line: */
	uint64_t launch;
	uint64_t position[3]; /* of its block */
	bool placed;	      /* the position was read */
	const char *text;     /* the opcode, in the line */
	size_t length;
	bool memory, two; /* as struct gt_opcode has them */
	uint8_t op, size;
	uint16_t hint, slot;
	uint32_t mask; /* 0: no lane is active, and there are no addresses */
	uint64_t base; /* of the lowest active lane */
	int64_t stride;
	const uint64_t *addresses; /* if there is no common stride, else NULL */
};

struct scanner { /* begins with all zero */
	struct gt_opcodes opcodes;
	uint64_t addresses[GT_WARP_SIZE];
	struct gt_scan_first first; /* of the last line with addresses */
};

/* ---- the lines before */

/* A launch, and what is known of its warps. */
struct launch {
	struct gt_kernel kernel;
	struct gt_slots slots; /* opened with the first record */
	struct gt_map halves; /* block << 16 | warp, to enum half; opened with the first LDGSTS */
};

struct reader {
	struct gt_input *input;
	struct gt_trace *to;
	struct gt_error *error;
	struct launch_line *launch_line; /* what lines that announce launches are compared with */

	struct launch **launches;
	size_t n, capacity;
	struct gt_map by_id; /* id in the launch line, to the index in launches */
	struct launch *announced; /* the launch reported last */
	struct launch *current; /* the launch of the last record */
	uint64_t current_id;	/* in its records */
	bool settled;		/* a record determined: */
	uint64_t more;		/* by how much a launch's id exceeds that of its records, 0 or 1 */
	size_t kept;		/* slots of other launches that are remembered */
};

static int take_line(struct reader *reader, const struct line *line);

/* Each returns 0, or -1 with the error set. */

static int fail(const struct reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* What a line of NVBit's mem_trace says by itself, and the reading of such lines in several threads. What follows from the lines
 * before - the launch, the warp - is found in the order of the trace. A lane with address 0 is inactive. */

#define RECORD "expected 'MEMTRACE: CTX 0xC - grid_launch_id N - CTA X,Y,Z - warp W - OPCODE - " \
	       "32 addresses'"

/* All 32 lanes, from the one blank before the first on; those that hold 0 are inactive. */
static bool scan_addresses(struct scanner *scanner, const char *at, uint32_t *active)
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
static const char *scan_access(struct scanner *scanner, const char *at, struct line *line)
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
static void scan_message(struct scanner *scanner, const char *at, struct line *line)
{
	line->kind = WRONG;
	line->wrong = RECORD;
	if (gt_scan_text(&at, "grid_launch_id ")) {
		if (!gt_scan_upto(&at, UINT64_MAX - 1, &line->launch) || !gt_scan_text(&at, " - CTA "))
			return;
		line->kind = ACCESS;
		line->wrong = scan_access(scanner, at, line);
	} else if (gt_scan_text(&at, "LAUNCH - ")) {
		line->kind = LAUNCH;
		line->wrong = NULL;
	}
}

/* Reads a line; its addresses are the scanner's. */
static void scan_line(struct scanner *scanner, const char *text, size_t length, struct line *line)
{
	const char *at = text;
	uint64_t context;

	*line = (struct line){.kind = OTHER, .text = text, .length = length};
	if (!gt_scan_text(&at, PREFIX)) {
		/* The program's own output. A record after an unfinished line of it must not be lost. */
		if (strstr(text, PREFIX "CTX 0x")) {
			line->kind = WRONG;
			line->wrong = "a record in the middle of a line: expected it at the line's beginning";
		}
		return;
	}
	const char *message = at;

	if (gt_scan_text(&at, "CTX ") && gt_scan_hex(&at, &context) && gt_scan_text(&at, " - ")) {
		scan_message(scanner, at, line);
	} else if (!is_notice(message)) {
		line->kind = WRONG;
		line->wrong = RECORD;
	}
}

/* ---- in several threads ---- */

/* The lines in several threads, which read what each says by itself. What follows from the lines before - the
 * launch, the warp - is found in the order of the trace. */

/* A line that is kept; behind it stand the addresses that it lists. */
struct kept {
	uint64_t number; /* in the part */
	size_t bytes;	 /* of all */
	struct line line;
};

struct part {
	struct gt_textpart part;
	struct scanner scanner;
	unsigned char *bytes; /* what is kept */
	size_t n, capacity;
	uint64_t lines;
	bool cut; /* the line behind these cannot be read */
};

struct parts {
	struct reader *reader;
	uint64_t lines; /* of the parts that were passed on, and before them */
};

static int keep(struct part *part, const struct line *line, struct gt_error *error)
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

static int read_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct part *part = item;
	struct line line;
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
		scan_line(&part->scanner, text, length, &line);
		if (line.kind != OTHER && keep(part, &line, error) != 0)
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
		if (take_line(parts->reader, &kept->line) != 0)
			return -1;
		at += kept->bytes;
	}
	return 0;
}

static int pass_on(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct parts *parts = context;
	struct reader *reader = parts->reader;
	struct gt_input *whole = reader->input;
	struct gt_error *whole_error = reader->error;
	const struct part *part = item;

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

static void close_part(void *item)
{
	struct part *part = item;

	free(part->bytes);
}

/* Reads all lines in several threads. */
static int read_parts(struct reader *reader)
{
	struct parts parts = {.reader = reader, .lines = gt_input_line_number(reader->input)};
	const struct gt_textparts how = {
		.part_bytes = sizeof(struct part), .context = &parts, .read = read_part, .pass_on = pass_on, .close = close_part,
	};
	int result = gt_textparts_read(&how, reader->input, reader->to->jobs, reader->error);

	gt_piece_note_line(reader->input, parts.lines);
	return result;
}

/* ---- the line that announces a launch ---- */

/* What lines are compared with. */
struct launch_line {
	pcre2_code *pattern;
	pcre2_match_data *match;
};

/* A kernel's name may contain " - ", so the keys on both sides delimit it. */
static const char launch_pattern[] =
	"^MEMTRACE: CTX 0x[0-9a-fA-F]+ - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.*)"
	" - grid launch id (\\d{1,19}) - grid size (\\d{1,10}),(\\d{1,10}),(\\d{1,10})"
	" - block size (\\d{1,10}),(\\d{1,10}),(\\d{1,10}) - nregs (\\d{1,10}) - shmem (\\d{1,10})"
	" - cuda stream id -?\\d+\\s*$";
enum { NAME = 1, ID, GRID, BLOCK = GRID + 3, REGISTERS = BLOCK + 3, SHARED };

static void launch_line_close(struct launch_line *with)
{
	if (!with)
		return;
	pcre2_match_data_free(with->match);
	pcre2_code_free(with->pattern);
	free(with);
}

/* NULL when memory is short. */
static struct launch_line *launch_line_open(struct gt_error *error)
{
	struct launch_line *with = calloc(1, sizeof *with);
	int code;
	PCRE2_SIZE offset;

	if (with)
		with->pattern = pcre2_compile((PCRE2_SPTR)launch_pattern, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL, &code, &offset, NULL);
	if (with && with->pattern)
		with->match = pcre2_match_data_create_from_pattern(with->pattern, NULL);
	if (with && with->match)
		return with;
	launch_line_close(with);
	gt_fail_memory(error, "the launch pattern");
	return NULL;
}

static bool group_number(const struct launch_line *with, const char *line, unsigned group, uint64_t max, uint64_t *value)
{
	const char *at = line + pcre2_get_ovector_pointer(with->match)[2 * group];

	return gt_scan_upto(&at, max, value);
}

static bool group_32(const struct launch_line *with, const char *line, unsigned group, uint32_t *number)
{
	uint64_t value;

	if (!group_number(with, line, group, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Reads a line into a kernel that is zero. Returns NULL, or what was expected. */
static const char *launch_line_scan(const struct launch_line *with, const char *line, size_t length,
				    struct gt_kernel *kernel)
{
	bool fits;

	if (pcre2_match(with->pattern, (PCRE2_SPTR)line, length, 0, 0, with->match, NULL) < 0)
		return "expected '... - LAUNCH - Kernel pc 0xP - Kernel name NAME - grid launch id N"
		       " - grid size X,Y,Z - block size X,Y,Z - nregs N - shmem N - cuda stream id N'";
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(with->match);
	size_t name = bounds[2 * NAME + 1] - bounds[2 * NAME];

	if (name >= sizeof kernel->name)
		name = sizeof kernel->name - 1;
	memcpy(kernel->name, line + bounds[2 * NAME], name);
	fits = group_number(with, line, ID, GT_KERNEL_NEXT - 1, &kernel->id) &&
	       group_32(with, line, REGISTERS, &kernel->registers) && group_32(with, line, SHARED, &kernel->shared_bytes);
	for (unsigned i = 0; i < 3; i++)
		fits = fits && group_32(with, line, GRID + i, &kernel->grid[i]) &&
		       group_32(with, line, BLOCK + i, &kernel->block[i]) && kernel->grid[i] > 0 && kernel->block[i] > 0;
	return fits ? NULL : "expected numbers below 2^32 in a launch, and sizes of at least 1";
}

/* Which warp an access is of. W is a warp slot of the hardware (gt_slots_warp). LDGSTS gives two lines, one with the addresses in
 * global memory and one with those in shared memory. */

/* The line of a warp's LDGSTS that is still to come. */
enum half { HALF_NONE, HALF_GLOBAL, HALF_SHARED };

/* The lanes that a warp of the block has. */
static uint32_t lanes_of(const struct gt_kernel *kernel, uint64_t warp)
{
	uint64_t left = gt_kernel_threads(kernel) - warp * GT_WARP_SIZE;

	return left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

static uint64_t first_address(const struct gt_trace_access *access)
{
	return access->addresses ? access->addresses[0] : access->base;
}

static uint64_t address_of(const struct gt_trace_access *access, unsigned lane)
{
	if (access->addresses)
		return access->addresses[__builtin_popcount(access->mask & ((UINT32_C(1) << lane) - 1))];
	return access->base + (uint64_t)access->stride * (lane - (unsigned)__builtin_ctz(access->mask));
}

/* Removes lanes above those of `exist` that repeat the lowest lane's address, as lanes that do not exist may do.
 * False if others are left. */
static bool drop_repeats(const struct gt_trace_access *access, uint32_t exist, uint32_t *mask)
{
	uint32_t beyond = access->mask & ~exist;

	if (beyond == access->mask)
		return false;
	for (uint32_t rest = beyond; rest; rest &= rest - 1)
		if (address_of(access, (unsigned)__builtin_ctz(rest)) != first_address(access))
			return false;
	*mask = access->mask & exist;
	return true;
}

/* The warp of an access of the current launch in that block, and the lanes that this warp has; an LDGSTS is made the half that it
 * is. */
static int find_warp(struct reader *reader, const struct line *line, struct gt_trace_access *access)
{
	const struct gt_kernel *kernel = &reader->current->kernel;
	unsigned warps = (unsigned)gt_kernel_warps(kernel);
	uint32_t mask;
	bool not_last = warps > 1 && !drop_repeats(access, lanes_of(kernel, warps - 1), &mask);

	if (gt_slots_warp(&reader->current->slots, access->block, line->slot, warps, not_last, &access->warp,
			  reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	if (!drop_repeats(access, lanes_of(kernel, access->warp), &access->mask))
		return gt_input_fail(reader->input, reader->error,
				     "warp slot %u has lanes that warp %u, the last of the block, does not have: "
				     "expected no address there",
				     line->slot, access->warp);
	return 0;
}

/* Addresses in shared memory are small; if neither line has small ones, the first is taken as the global one. */
static int pair_halves(struct reader *reader, struct gt_trace_access *access)
{
	struct gt_map *halves = &reader->current->halves;
	int fresh = 0;

	if (!halves->slots && gt_map_open(halves, 0, reader->error) != 0)
		return -1;
	uint64_t *half = gt_map_put(halves, (uint64_t)access->block << 16 | access->warp, HALF_NONE, &fresh);

	if (!half)
		return gt_fail_memory(reader->error, "LDGSTS pairs");
	bool first = *half == HALF_NONE;
	bool shared = first ? first_address(access) < GT_WINDOW_BYTES : *half == HALF_SHARED;

	*half = !first ? HALF_NONE : shared ? HALF_GLOBAL : HALF_SHARED;
	if (shared)
		access->op = gt_opcode_shared_store();
	return 0;
}

/* Frees what is known of the warps of a launch. */
static void forget_warps(struct launch *launch)
{
	gt_slots_close(&launch->slots);
	gt_map_close(&launch->halves);
}

/* Which launch a record belongs to. A launch line's id is one more than the id in the records of the launch, or in some versions
 * equal: the first record tells which, and all others must agree. */

/* Warps of earlier launches whose slots are remembered. */
#define SLOTS_KEPT (1U << 20)

static struct launch *add_launch(struct reader *reader)
{
	struct launch **launches = gt_grown(reader->launches, reader->n, &reader->capacity, sizeof *launches);

	if (!launches)
		return NULL;
	reader->launches = launches;
	struct launch *launch = calloc(1, sizeof *launch);

	if (launch)
		reader->launches[reader->n++] = launch;
	return launch;
}

/* Launches: adds the one of a launch line; makes that of a record with this id the current one; frees all. */
static int announce_launch(struct reader *reader, const char *text, size_t length)
{
	struct gt_kernel kernel = {0};
	const char *expected = launch_line_scan(reader->launch_line, text, length, &kernel);
	int fresh = 0;

	if (expected)
		return fail(reader, expected);
	uint64_t *place = gt_map_put(&reader->by_id, kernel.id, reader->n, &fresh);
	struct launch *launch = place && fresh ? add_launch(reader) : NULL;

	if (place && !fresh)
		return gt_input_fail(reader->input, reader->error,
				     "grid launch id %" PRIu64 " again: expected a new one", kernel.id);
	if (!launch)
		return gt_fail_memory(reader->error, "a launch");
	launch->kernel = kernel;
	if (gt_import_kernel(reader->input, reader->to, &launch->kernel, reader->error) != 0)
		return -1;
	reader->announced = launch;
	return 0;
}

static const uint64_t *place_of(const struct reader *reader, uint64_t launch)
{
	return launch < GT_KERNEL_NEXT ? gt_map_get(&reader->by_id, launch) : NULL;
}

/* Prepares the slots of a launch whose records begin or continue. A launch rarely continues after another has
 * begun, so the slots of earlier launches are forgotten when there are many. If such a launch does continue, its
 * warps are found anew, which can differ only where slot modulo n was not the warp. */
static int open_slots(struct reader *reader, struct launch *launch)
{
	if (reader->current)
		reader->kept += reader->current->slots.warps.used;
	if (reader->kept > SLOTS_KEPT) {
		for (size_t i = 0; i < reader->n; i++)
			if (reader->launches[i] != launch)
				forget_warps(reader->launches[i]);
		reader->kept = 0;
	}
	return launch->slots.warps.slots ? 0 : gt_slots_open(&launch->slots, reader->error);
}

static int select_launch(struct reader *reader, uint64_t id)
{
	const uint64_t *place;

	if (reader->current && reader->current == reader->announced && reader->current_id == id)
		return 0;
	if (!reader->settled)
		reader->more = place_of(reader, id + 1) != NULL;
	place = place_of(reader, id + reader->more);
	if (!place)
		return gt_input_fail(reader->input, reader->error,
				     "grid_launch_id %" PRIu64 ": expected a launch line with the id %" PRIu64
				     " before it",
				     id, id + 1 - (reader->settled && !reader->more));
	struct launch *launch = reader->launches[*place];

	/* A launch line reports the newest launch; a return to an earlier one is reported here. */
	if (launch != reader->announced &&
	    gt_import_kernel(reader->input, reader->to, &launch->kernel, reader->error) != 0)
		return -1;
	if (open_slots(reader, launch) != 0)
		return -1;
	reader->settled = true;
	reader->announced = reader->current = launch;
	reader->current_id = id;
	return 0;
}

static void close_launches(struct reader *reader)
{
	for (size_t i = 0; i < reader->n; i++) {
		forget_warps(reader->launches[i]);
		free(reader->launches[i]);
	}
	free(reader->launches);
	gt_map_close(&reader->by_id);
}

/* What a line of NVBit's mem_trace says behind those before it. */

static int find_block(const struct reader *reader, const uint64_t position[3], uint32_t *block)
{
	const uint32_t *grid = reader->current->kernel.grid;

	if (position[0] >= grid[0] || position[1] >= grid[1] || position[2] >= grid[2])
		return gt_input_fail(reader->input, reader->error,
				     "CTA %" PRIu64 ",%" PRIu64 ",%" PRIu64
				     ": expected one in the grid of %" PRIu32 ",%" PRIu32 ",%" PRIu32,
				     position[0], position[1], position[2], grid[0], grid[1], grid[2]);
	*block = (uint32_t)((position[2] * grid[1] + position[1]) * grid[0] + position[0]);
	return 0;
}

/* What is wrong with a line is told in the order of what stands in it. */
static int take_access(struct reader *reader, const struct line *line)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .op = line->op, .size = line->size, .hint = line->hint,
					 .mask = line->mask, .addresses = line->addresses, .base = line->base, .stride = line->stride};

	if (select_launch(reader, line->launch) != 0)
		return -1;
	if (line->placed && find_block(reader, line->position, &access.block) != 0)
		return -1;
	if (line->wrong)
		return fail(reader, line->wrong);
	if (!line->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)line->length, line->text);
	if (line->mask == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	if (find_warp(reader, line, &access) != 0 || (line->two && pair_halves(reader, &access) != 0))
		return -1;
	return gt_import_access(reader->input, reader->to, &access, reader->error);
}

/* Takes what a line of the input says. */
static int take_line(struct reader *reader, const struct line *line)
{
	switch (line->kind) {
	case OTHER: return 0;
	case LAUNCH: return announce_launch(reader, line->text, line->length);
	case WRONG: return fail(reader, line->wrong);
	case ACCESS: break;
	}
	return take_access(reader, line);
}

static int read_lines(struct reader *reader)
{
	struct scanner *scanner = calloc(1, sizeof *scanner);
	struct line line;
	char *text;
	size_t length;
	int got;

	if (!scanner)
		return gt_fail_memory(reader->error, "a trace's reader");
	while ((got = gt_input_line(reader->input, &text, &length, reader->error)) > 0) {
		scan_line(scanner, text, length, &line);
		if (take_line(reader, &line) != 0)
			break;
	}
	free(scanner);
	return got == 0 ? 0 : -1;
}

static int read_all(struct reader *reader)
{
	reader->launch_line = launch_line_open(reader->error);
	if (!reader->launch_line || gt_map_open(&reader->by_id, 0, reader->error) != 0)
		return -1;
	if ((reader->to->jobs > 1 ? read_parts(reader) : read_lines(reader)) != 0)
		return -1;
	return reader->n > 0 ? 0 : fail(reader, "expected a line 'MEMTRACE: CTX 0xC - LAUNCH - ...'");
}

static int read_nvbit(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct reader reader = {.input = input, .to = to, .error = error};

	/* A run of a program numbers its launches itself. */
	if (to->new_ids)
		to->new_ids(to->context);
	int result = read_all(&reader);

	close_launches(&reader);
	launch_line_close(reader.launch_line);
	return result;
}

/* The program may have printed much before the first launch. */
static bool detect(const char *head, size_t bytes)
{
	char line[32];

	while (gt_head_line(&head, &bytes, line, sizeof line))
		if (strncmp(line, PREFIX, strlen(PREFIX)) == 0)
			return true;
	return false;
}

const struct gt_importer gt_import_nvbit = {
	.name = "nvbit",
	.summary = "the output of NVBit's mem_trace, mixed with the program's own",
	.detect = detect,
	.read = read_nvbit,
};
