/* SPDX-License-Identifier: MIT */
/* The output of NVBit's mem_trace: lines that begin "MEMTRACE: " among the program's own.
 *
 * A launch line's id is one more than the id in the records of the launch, or in some versions equal: the
 * first record tells which, and all others must agree. W is a warp slot of the hardware (import/slots.h). A
 * lane with address 0 is inactive. LDGSTS gives two lines, one with the addresses in global memory and one with
 * those in shared memory. */
#include <inttypes.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/place.h"
#include "import/slots.h"
#include "stream/rows.h"

#define PREFIX "MEMTRACE: "
#define RECORD "expected 'MEMTRACE: CTX 0xC - grid_launch_id N - CTA X,Y,Z - warp W - OPCODE - " \
	       "32 addresses'"

/* A kernel's name may contain " - ", so the keys on both sides delimit it. */
static const char launch_pattern[] =
	"^MEMTRACE: CTX 0x[0-9a-fA-F]+ - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.*)"
	" - grid launch id (\\d{1,19}) - grid size (\\d{1,10}),(\\d{1,10}),(\\d{1,10})"
	" - block size (\\d{1,10}),(\\d{1,10}),(\\d{1,10}) - nregs (\\d{1,10}) - shmem (\\d{1,10})"
	" - cuda stream id -?\\d+\\s*$";
enum { NAME = 1, ID, GRID, BLOCK = GRID + 3, REGISTERS = BLOCK + 3, SHARED };

/* Warps of earlier launches whose slots are remembered. */
#define SLOTS_KEPT (1U << 20)

/* The line of a warp's LDGSTS that is still to come. */
enum half { HALF_NONE, HALF_GLOBAL, HALF_SHARED };

struct launch {
	struct gt_kernel kernel;
	struct gt_slots slots; /* opened with the first record */
	struct gt_map halves; /* block << 16 | warp, to enum half; opened with the first LDGSTS */
};

struct reader {
	struct gt_input *input;
	struct gt_trace *to;
	struct gt_error *error;
	pcre2_code *pattern;
	pcre2_match_data *match;
	struct gt_opcodes opcodes;

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

static int fail(const struct reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* ---- launches */

static bool group_number(const struct reader *reader, const char *line, unsigned group, uint64_t max,
			 uint64_t *value)
{
	const char *at = line + pcre2_get_ovector_pointer(reader->match)[2 * group];

	return gt_scan_upto(&at, max, value);
}

static bool group_32(const struct reader *reader, const char *line, unsigned group, uint32_t *number)
{
	uint64_t value;

	if (!group_number(reader, line, group, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

static int scan_launch(struct reader *reader, const char *line, size_t length, struct gt_kernel *kernel)
{
	int groups = pcre2_match(reader->pattern, (PCRE2_SPTR)line, length, 0, 0, reader->match, NULL);
	bool fits;

	if (groups < 0)
		return fail(
			reader,
			"expected '... - LAUNCH - Kernel pc 0xP - Kernel name NAME - grid launch id N"
			" - grid size X,Y,Z - block size X,Y,Z - nregs N - shmem N - cuda stream id N'");
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(reader->match);
	size_t name = bounds[2 * NAME + 1] - bounds[2 * NAME];

	if (name >= sizeof kernel->name)
		name = sizeof kernel->name - 1;
	memcpy(kernel->name, line + bounds[2 * NAME], name);
	fits = group_number(reader, line, ID, GT_KERNEL_NEXT - 1, &kernel->id) &&
	       group_32(reader, line, REGISTERS, &kernel->registers) &&
	       group_32(reader, line, SHARED, &kernel->shared_bytes);
	for (unsigned i = 0; i < 3; i++)
		fits = fits && group_32(reader, line, GRID + i, &kernel->grid[i]) &&
		       group_32(reader, line, BLOCK + i, &kernel->block[i]) && kernel->grid[i] > 0 &&
		       kernel->block[i] > 0;
	return fits ? 0 : fail(reader, "expected numbers below 2^32 in a launch, and sizes of at least 1");
}

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

static int read_launch(struct reader *reader, const char *line, size_t length)
{
	struct gt_kernel kernel = {0};
	int fresh = 0;

	if (scan_launch(reader, line, length, &kernel) != 0)
		return -1;
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

static void forget_slots(struct launch *launch)
{
	gt_slots_close(&launch->slots);
	gt_map_close(&launch->halves);
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
				forget_slots(reader->launches[i]);
		reader->kept = 0;
	}
	return launch->slots.warps.slots ? 0 : gt_slots_open(&launch->slots, reader->error);
}

/* Makes the launch of a record with this id the current one. */
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

/* ---- records */

static int scan_block(const struct reader *reader, const char **at, uint32_t *block)
{
	const uint32_t *grid = reader->current->kernel.grid;
	uint64_t position[3];

	for (int i = 0; i < 3; i++)
		if ((i > 0 && !gt_scan_char(at, ',')) || !gt_scan_decimal(at, &position[i]))
			return fail(reader, RECORD);
	if (position[0] >= grid[0] || position[1] >= grid[1] || position[2] >= grid[2])
		return gt_input_fail(reader->input, reader->error,
				     "CTA %" PRIu64 ",%" PRIu64 ",%" PRIu64
				     ": expected one in the grid of %" PRIu32 ",%" PRIu32 ",%" PRIu32,
				     position[0], position[1], position[2], grid[0], grid[1], grid[2]);
	*block = (uint32_t)((position[2] * grid[1] + position[1]) * grid[0] + position[0]);
	return 0;
}

/* All 32 lanes; those that hold 0 are inactive. */
static bool scan_addresses(const char *at, uint32_t *mask, uint64_t addresses[GT_WARP_SIZE])
{
	struct gt_scan_first first = {.value = 0};
	unsigned active = 0;
	uint64_t address;

	*mask = 0;
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
		if (!gt_scan_near(&at, &first, &address)) {
			if (lane > 0 && !gt_scan_gap(&at))
				return false;
			const char *number = at;
			if (!gt_scan_text(&at, "0x") || !gt_scan_hex(&at, &address))
				return false;
			gt_scan_note_first(number, &first);
		}
		if (address == 0)
			continue;
		*mask |= UINT32_C(1) << lane;
		addresses[active++] = address;
	}
	return gt_scan_end(&at);
}

/* The lanes that a warp of the block has. */
static uint32_t lanes_of(const struct gt_kernel *kernel, uint64_t warp)
{
	uint64_t left = gt_kernel_threads(kernel) - warp * GT_WARP_SIZE;

	return left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

/* Removes lanes above those of `exist` that repeat the lowest lane's address, as lanes that do not exist may do.
 * False if others are left. */
static bool drop_repeats(struct gt_trace_access *access, uint32_t exist)
{
	uint32_t beyond = access->mask & ~exist;
	unsigned n = (unsigned)__builtin_popcount(access->mask);

	if (beyond == access->mask)
		return beyond == 0;
	while (beyond != 0) {
		if (access->addresses[--n] != access->addresses[0])
			return false;
		beyond &= ~(UINT32_C(1) << (31 - __builtin_clz(beyond)));
	}
	access->mask &= exist;
	return true;
}

/* From the slot to the warp, and to the lanes that it has. */
static int find_warp(struct reader *reader, struct gt_trace_access *access, uint16_t slot)
{
	const struct gt_kernel *kernel = &reader->current->kernel;
	unsigned warps = (unsigned)gt_kernel_warps(kernel);
	struct gt_trace_access last = *access;
	bool not_last = warps > 1 && !drop_repeats(&last, lanes_of(kernel, warps - 1));

	if (gt_slots_warp(&reader->current->slots, access->block, slot, warps, not_last, &access->warp,
			  reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	if (!drop_repeats(access, lanes_of(kernel, access->warp)))
		return gt_input_fail(reader->input, reader->error,
				     "warp slot %u has lanes that warp %u, the last of the block, does not have: "
				     "expected no address there",
				     slot, access->warp);
	return 0;
}

/* Decides which of the two lines of an LDGSTS this is. Addresses in shared memory are small; if neither line has
 * small ones, the first is taken as the global one. */
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
	bool shared = first ? access->addresses[0] < GT_WINDOW_BYTES : *half == HALF_SHARED;

	*half = !first ? HALF_NONE : shared ? HALF_GLOBAL : HALF_SHARED;
	if (shared)
		access->op = gt_opcode_shared_store();
	return 0;
}

/* "N - CTA X,Y,Z - warp W - OPCODE - addresses", from N on. */
static int read_record(struct reader *reader, const char *at)
{
	uint64_t id, slot, addresses[GT_WARP_SIZE];
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .addresses = addresses};
	const char *text;
	size_t length;

	if (!gt_scan_upto(&at, UINT64_MAX - 1, &id) || !gt_scan_text(&at, " - CTA "))
		return fail(reader, RECORD);
	if (select_launch(reader, id) != 0 || scan_block(reader, &at, &access.block) != 0)
		return -1;
	if (!gt_scan_text(&at, " - warp ") || !gt_scan_upto(&at, UINT16_MAX, &slot) ||
	    !gt_scan_text(&at, " - ") || !gt_scan_word(&at, &text, &length) || !gt_scan_text(&at, " - "))
		return fail(reader, RECORD);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)length, text);
	if (!scan_addresses(at, &access.mask, addresses))
		return fail(reader, "expected 32 addresses 0x..., blanks between them");
	if (access.mask == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	if (find_warp(reader, &access, (uint16_t)slot) != 0)
		return -1;
	access.op = opcode->op;
	access.size = opcode->size;
	access.hint = opcode->hint;
	if (opcode->two && pair_halves(reader, &access) != 0)
		return -1;
	return gt_import_access(reader->input, reader->to, &access, reader->error);
}

/* ---- the file */

/* Lines of mem_trace other than launches and records. */
static bool is_notice(const char *at)
{
	static const char *const notices[] = {"STARTING CONTEXT", "TERMINATING CONTEXT"};

	for (size_t i = 0; i < sizeof notices / sizeof *notices; i++)
		if (strncmp(at, notices[i], strlen(notices[i])) == 0)
			return true;
	return strncmp(at, "CTX ", 4) == 0 && strstr(at, ", Inspecting ");
}

static int read_line(struct reader *reader, const char *line, size_t length)
{
	const char *at = line;
	uint64_t context;

	if (!gt_scan_text(&at, PREFIX)) {
		/* The program's own output. A record after an unfinished line of it must not be lost. */
		return strstr(line, PREFIX "CTX 0x")
			       ? fail(reader,
				      "a record in the middle of a line: expected it at the line's beginning")
			       : 0;
	}
	const char *message = at;

	if (!gt_scan_text(&at, "CTX ") || !gt_scan_hex(&at, &context) || !gt_scan_text(&at, " - "))
		return is_notice(message) ? 0 : fail(reader, RECORD);
	if (gt_scan_text(&at, "grid_launch_id "))
		return read_record(reader, at);
	return gt_scan_text(&at, "LAUNCH - ") ? read_launch(reader, line, length) : fail(reader, RECORD);
}

static int read_lines(struct reader *reader)
{
	char *line;
	size_t length;
	int got;

	while ((got = gt_input_line(reader->input, &line, &length, reader->error)) > 0)
		if (read_line(reader, line, length) != 0)
			return -1;
	if (got == 0 && reader->n == 0)
		return fail(reader, "expected a line 'MEMTRACE: CTX 0xC - LAUNCH - ...'");
	return got;
}

static int open_reader(struct reader *reader)
{
	int code;
	PCRE2_SIZE offset;

	if (gt_map_open(&reader->by_id, 0, reader->error) != 0)
		return -1;
	reader->pattern = pcre2_compile((PCRE2_SPTR)launch_pattern, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL,
					&code, &offset, NULL);
	reader->match = reader->pattern ? pcre2_match_data_create_from_pattern(reader->pattern, NULL) : NULL;
	return reader->match ? 0 : gt_fail_memory(reader->error, "the launch pattern");
}

static void close_reader(struct reader *reader)
{
	for (size_t i = 0; i < reader->n; i++) {
		forget_slots(reader->launches[i]);
		free(reader->launches[i]);
	}
	free(reader->launches);
	gt_map_close(&reader->by_id);
	pcre2_match_data_free(reader->match);
	pcre2_code_free(reader->pattern);
	free(reader);
}

static int read_nvbit(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = calloc(1, sizeof *reader);

	if (!reader)
		return gt_fail_memory(error, "a trace's reader");
	reader->input = input;
	reader->to = to;
	reader->error = error;
	int result = open_reader(reader) == 0 ? read_lines(reader) : -1;
	close_reader(reader);
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
