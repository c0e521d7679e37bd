/* SPDX-License-Identifier: MIT */
/* PPT-GPU's memory traces: a file "kernel_K_block_B.mem" for each block, in a folder memory_traces, and next to that folder
 * app_config.py with the launches (import/pptfolder.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/parts.h"
#include "import/pptfolder.h"
#include "stream/rows.h"

/* ---- the accesses of a block ---- */

/* One of the memory traces has the accesses of a block.
 *
 * A record is "OPCODE [warp] [predoff active pred] ADDRESS...". In the original dialect a line of
 * "=====" stands between records and addresses begin with 0x; in that of [004] a record is a line
 * and numbers are hexadecimal without 0x, except that the warp is decimal until the file's first
 * address has been written. Inactive lanes are left out, so lanes are numbered in order.
 *
 * The optional fields count warps or lanes, so they are below 1024, and no address that is written without 0x is.
 * The number of such small numbers after an opcode therefore tells which fields a file has. */

#define FIELD_MAX 1023 /* the largest value of an optional field */
#define RECORD "expected 'OPCODE [WARP] [PREDOFF ACTIVE PRED] ADDRESS...'"

/* Reads any number of files, one after the other. */
struct block_reader {
	struct gt_input *input;
	const struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;
	struct gt_slots slots;
	uint32_t block;
	unsigned warps;	 /* of a block; 0: unknown */
	unsigned last_lanes; /* lanes of the last of them */
	unsigned fields; /* optional fields: 0, 1, 3 or 4 */
	bool hex;	 /* an address has occurred; from there on all numbers are hexadecimal */
};

/* Whether a line only separates records. */
static bool separates(const char *line)
{
	size_t length = strspn(line, "=");

	return length >= 3 && line[length + strspn(line + length, " \t")] == '\0';
}

static int fail(const struct block_reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* The number of small numbers before the first address of a record; -1 if there is no address. */
static int count_fields(const char *at)
{
	const char *word;
	size_t length;
	uint64_t number;
	int fields = 0;

	if (!gt_scan_word(&at, &word, &length))
		return -1;
	while (gt_scan_gap(&at) && *at != '\0') {
		if ((at[0] == '0' && at[1] == 'x') || !gt_scan_hex(&at, &number) || number > FIELD_MAX)
			return fields;
		fields++;
	}
	return -1;
}

/* Finds which fields the file has. Addresses in shared memory may be small too, but they follow the fields, so the
 * smallest count is right. */
static int find_fields(struct block_reader *reader)
{
	char line[256 + GT_SCAN_SLACK] = "";
	const char *head;
	size_t bytes;
	int least = -1;

	if (gt_input_peek(reader->input, &head, &bytes, reader->error) != 0)
		return -1;
	while (gt_head_line(&head, &bytes, line, 256)) {
		int fields = count_fields(line);

		if (fields >= 0 && (least < 0 || fields < least))
			least = fields;
	}
	reader->fields = least < 0 ? 0 : (unsigned)least;
	if (reader->fields == 2 || reader->fields > 4)
		return gt_fail(reader->error,
			       "%s: %u numbers below 1024 before the addresses: expected none, a warp, "
			       "'predoff active pred', or all four",
			       gt_input_name(reader->input), reader->fields);
	return 0;
}

/* Reads the optional fields, of which only the warp is used. */
static int scan_fields(const struct block_reader *reader, const char **at, uint64_t *warp)
{
	bool (*const scan)(const char **, uint64_t *) = reader->hex ? gt_scan_hex : gt_scan_decimal;
	uint64_t number;

	*warp = 0;
	for (unsigned i = 0; i < reader->fields; i++) {
		if (!gt_scan_gap(at) || !scan(at, &number) || number > FIELD_MAX)
			return gt_input_fail(
				reader->input, reader->error,
				"expected %u %s numbers below 1024 before the addresses, as in the "
				"file's first records",
				reader->fields, reader->hex ? "hexadecimal" : "decimal");
		if (i == 0 && reader->fields != 3)
			*warp = number;
	}
	return 0;
}

/* Reads all addresses that are not 0; returns their number, or -1. */
static int scan_addresses(const struct block_reader *reader, const char *at, unsigned max, uint64_t *addresses)
{
	struct gt_scan_first first = {.value = 0};
	unsigned n = 0;

	for (;;) {
		while (first.value > FIELD_MAX && n < max && gt_scan_near(&at, &first, &addresses[n]))
			n++;
		if (gt_scan_end(&at))
			return (int)n;
		bool marked = at[0] == '0' && at[1] == 'x';
		const char *text = at;

		if (n == max)
			return gt_input_fail(reader->input, reader->error,
					     "more than %u addresses: expected one for each lane", max);
		if (!gt_scan_hex(&at, &addresses[n]) || (*at != ' ' && *at != '\t' && *at != '\0'))
			return fail(reader, "expected hexadecimal addresses of at most 64 bits");
		if (!marked && max == GT_WARP_SIZE && addresses[n] > 0 && addresses[n] <= FIELD_MAX)
			return fail(
				reader,
				"an address below 1024: expected as many fields as in the file's first records");
		gt_scan_note_first(text, &first);
		n += addresses[n] != 0;
	}
}

static int report(struct block_reader *reader, struct gt_trace_access *access, const uint64_t *addresses, unsigned n)
{
	if (n > GT_WARP_SIZE)
		return fail(reader, "more than 32 addresses in one of the two lists of an LDGSTS");
	access->mask = n == GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << n) - 1;
	access->addresses = addresses;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* LDGSTS: one list holds the addresses in global and in shared memory. Those in shared memory are small; if none
 * is, the first half is taken as global. The load is reported first. */
static int report_two(struct block_reader *reader, struct gt_trace_access *access, const uint64_t *addresses,
		      unsigned n)
{
	bool shared_first = addresses[0] < GT_WINDOW_BYTES;
	unsigned split = 0, changes = 0;

	for (unsigned i = 1; i < n; i++)
		if ((addresses[i] < GT_WINDOW_BYTES) != (addresses[i - 1] < GT_WINDOW_BYTES)) {
			split = i;
			changes++;
		}
	if (changes == 0 && !shared_first && n % 2 == 0) {
		split = n / 2;
		changes = 1;
	}
	if (changes != 1)
		return fail(
			reader,
			"LDGSTS: expected the addresses in global memory and as many in shared memory");
	const uint64_t *global = shared_first ? addresses + split : addresses;
	const uint64_t *shared = shared_first ? addresses : addresses + split;

	if (report(reader, access, global, shared_first ? n - split : split) != 0)
		return -1;
	access->op = gt_opcode_shared_store();
	return report(reader, access, shared, shared_first ? split : n - split);
}

static int read_record(struct block_reader *reader, const char *at)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .block = reader->block};
	uint64_t addresses[2 * GT_WARP_SIZE + 1], slot;
	const char *text;
	size_t length;

	if (!gt_scan_word(&at, &text, &length))
		return fail(reader, RECORD);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)(length < 80 ? length : 80), text);
	if (scan_fields(reader, &at, &slot) != 0)
		return -1;
	int n = scan_addresses(reader, at, opcode->two ? 2 * GT_WARP_SIZE : GT_WARP_SIZE, addresses);

	if (n < 0)
		return -1;
	if (n == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	reader->hex = true;
	access.op = opcode->op;
	access.size = opcode->size;
	access.hint = opcode->hint;
	access.warp = (uint16_t)slot;
	bool not_last = reader->warps > 1 && (opcode->two ? n / 2 : n) > (int)reader->last_lanes;

	if (reader->warps > 0 && gt_slots_warp(&reader->slots, reader->block, (uint16_t)slot, reader->warps,
					       not_last, &access.warp, reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	return opcode->two ? report_two(reader, &access, addresses, (unsigned)n) :
			     report(reader, &access, addresses, (unsigned)n);
}

/* Reads a file to its end, and reports its accesses. */
static int read_accesses(struct block_reader *reader, struct gt_input *input)
{
	char *line;
	size_t length;
	int got;

	reader->input = input;
	reader->hex = false;
	gt_slots_clear(&reader->slots);
	if (find_fields(reader) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, reader->error)) > 0) {
		const char *at = line;

		if (gt_scan_end(&at) || separates(at))
			continue;
		if (read_record(reader, at) != 0)
			return -1;
	}
	return got;
}

/* NULL on error. Its caller sets block, warps and last_lanes. */
static struct block_reader *open_reader(const struct gt_trace *to, struct gt_error *error)
{
	struct block_reader *reader = calloc(1, sizeof *reader);

	if (!reader) {
		gt_fail_memory(error, "a trace's reader");
		return NULL;
	}
	reader->to = to;
	reader->error = error;
	if (gt_slots_open(&reader->slots, error) == 0)
		return reader;
	free(reader);
	return NULL;
}

static void close_reader(struct block_reader *reader)
{
	if (!reader)
		return;
	gt_slots_close(&reader->slots);
	free(reader);
}

/* ---- the files of a launch ---- */

/* Read in several threads if the trace allows it: each reads a file at a time, and what it reports is passed on in the order of the
 * files. */

/* A file that is under way. */
struct part {
	const struct gt_pptfile *file;
	struct block_reader *reader;
	struct gt_input *input; /* open until the file has been passed on */
	struct gt_recorded recorded;
	int result;
	struct gt_error error;
};

struct parts {
	const struct gt_trace *to;
	struct part *parts;
	size_t n;
	struct gt_pipeline *pipeline; /* NULL: one thread */
};

/* Opens and reads the file, whose input stays open. */
static int read_file(struct part *part, const struct gt_trace *to, struct gt_error *error)
{
	part->input = gt_input_open(part->file->path, error);
	if (!part->input)
		return -1;
	part->recorded.input = part->input;
	part->reader->to = to;
	part->reader->error = error;
	part->reader->block = part->file->block;
	return read_accesses(part->reader, part->input);
}

static int close_file(struct part *part, int result, struct gt_error *error)
{
	struct gt_error ignored;
	struct gt_input *input = part->input;

	part->input = NULL;
	return gt_input_close(input, result == 0 ? error : &ignored) == 0 ? result : -1;
}

/* Reads the file in its place. */
static int read_now(struct part *part, const struct gt_trace *to, struct gt_error *error)
{
	return close_file(part, read_file(part, to, error), error);
}

static int read_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	const struct parts *parts = context;
	struct part *part = item;

	(void)lane;
	(void)error;
	gt_recorded_begin(&part->recorded, NULL, parts->to);
	part->result = read_file(part, &part->recorded.trace, &part->error);
	return 0;
}

static int pass_on(void *context, void *item, unsigned lane, struct gt_error *error)
{
	const struct parts *parts = context;
	struct part *part = item;

	(void)lane;
	if (part->recorded.full) {
		close_file(part, -1, error);
		return read_now(part, parts->to, error);
	}
	int result = gt_recorded_report(&part->recorded, part->input, 0, parts->to, error);
	if (result == 0 && part->result != 0) {
		*error = part->error;
		result = -1;
	}
	return close_file(part, result, error);
}

static void close_threads(struct parts *parts)
{
	struct gt_error ignored;

	if (!parts)
		return;
	gt_pipeline_close(parts->pipeline);
	for (size_t i = 0; parts->parts && i < parts->n; i++) {
		close_reader(parts->parts[i].reader);
		gt_input_close(parts->parts[i].input, &ignored);
		gt_recorded_close(&parts->parts[i].recorded);
	}
	free(parts->parts);
	free(parts);
}

static int open_parts(struct parts *parts, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{read_part, 0}, {pass_on, 1}};
	int result = 0;

	/* One that each thread reads, and as many that wait; one file is read by the caller itself. */
	parts->n = jobs > 1 ? 2 * (size_t)jobs : 1;
	parts->parts = calloc(parts->n, sizeof *parts->parts);
	if (!parts->parts)
		return gt_fail_memory(error, "threads");
	for (size_t i = 0; i < parts->n && result == 0; i++) {
		parts->parts[i].reader = open_reader(parts->to, error);
		result = parts->parts[i].reader ? 0 : -1;
	}
	if (result == 0 && jobs > 1) {
		parts->pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, parts,
						   (struct gt_pipeline_items){parts->parts, sizeof *parts->parts, parts->n}, error);
		result = parts->pipeline ? 0 : -1;
	}
	return result;
}

/* NULL on error. */
static struct parts *open_threads(const struct gt_trace *to, struct gt_error *error)
{
	struct parts *parts = calloc(1, sizeof *parts);

	if (!parts) {
		gt_fail_memory(error, "a trace's reader");
		return NULL;
	}
	parts->to = to;
	if (open_parts(parts, to->jobs, error) == 0)
		return parts;
	close_threads(parts);
	return NULL;
}

/* Reads the files of a launch that has been reported, whose blocks have so many warps (0: unknown), the last with so many
 * lanes. */
static int read_files(struct parts *parts, const struct gt_pptfile *files, size_t n, unsigned warps, unsigned last_lanes,
		      struct gt_error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct part *part = parts->pipeline ? gt_pipeline_next(parts->pipeline, error) : parts->parts;
		if (!part)
			return -1;
		part->file = &files[i];
		part->reader->warps = warps;
		part->reader->last_lanes = last_lanes;
		if (parts->pipeline)
			gt_pipeline_put(parts->pipeline, part);
		else if (read_now(part, parts->to, error) != 0)
			return -1;
	}
	return parts->pipeline ? gt_pipeline_drain(parts->pipeline, error) : 0;
}

/* ---- launches ---- */

/* Reports a launch and its files. */
static int read_launch(struct parts *parts, const struct gt_pptlaunch *launch, struct gt_error *error)
{
	const struct gt_trace *to = parts->to;
	const struct gt_pptfile *files = launch->files;
	uint64_t blocks = gt_kernel_blocks(&launch->kernel), threads = gt_kernel_threads(&launch->kernel);
	size_t n = launch->n;

	if (n > 0 && files[n - 1].block >= blocks)
		return gt_fail(error, "%s: expected a block below %" PRIu64 ", the size of the grid", files[n - 1].path, blocks);
	if (to->kernel(to->context, &launch->kernel, error) != 0)
		return -1;
	for (size_t i = 0; to->block && i < n; i++)
		if (to->block(to->context, files[i].block, error) != 0)
			return -1;
	return read_files(parts, files, n, (unsigned)gt_kernel_warps(&launch->kernel),
			  threads % GT_WARP_SIZE ? threads % GT_WARP_SIZE : GT_WARP_SIZE, error);
}

static int read_folder(const struct gt_pptfolder *folder, const struct gt_trace *to, struct gt_error *error)
{
	struct parts *parts = open_threads(to, error);
	int result = parts ? 0 : -1;

	for (size_t i = 0; i < folder->launches_n && result == 0; i++)
		result = read_launch(parts, &folder->launches[i], error);
	close_threads(parts);
	return result;
}

static int read_paths(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptfolder folder = {0};
	int result = gt_pptfolder_open(&folder, paths, n, error);

	if (result == 0)
		result = read_folder(&folder, to, error);
	gt_pptfolder_close(&folder);
	return result;
}

/* A single file: block 0 of a launch without a description. */
static int read_pptmem(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct block_reader *reader = open_reader(to, error);
	struct gt_kernel kernel;

	if (!reader)
		return -1;
	gt_implicit_kernel(&kernel, input);
	kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
	int result = to->kernel(to->context, &kernel, error) == 0 ? read_accesses(reader, input) : -1;
	close_reader(reader);
	return result;
}

/* A separator, or an opcode and a hexadecimal number. */
static bool detect(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const char *word;
	size_t length;
	uint64_t number;
	uint8_t op, size;
	uint16_t hint;

	while (gt_head_line(&head, &bytes, line, 128)) {
		const char *at = line;

		if (gt_scan_end(&at) || separates(at))
			continue;
		return gt_scan_word(&at, &word, &length) && gt_sass_access(word, length, &op, &size, &hint) == 0 &&
		       (gt_scan_end(&at) || (gt_scan_hex(&at, &number) && (*at == ' ' || gt_scan_end(&at))));
	}
	return false;
}

const struct gt_importer gt_import_pptmem = {
	.name = "pptmem",
	.summary = "PPT-GPU's .mem files, or a folder of them with app_config.py",
	.detect = detect,
	.read = read_pptmem,
	.owns_path = gt_pptfolder_owns,
	.read_paths = read_paths,
};
