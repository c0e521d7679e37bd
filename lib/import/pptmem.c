/* SPDX-License-Identifier: MIT */
/* PPT-GPU's memory traces: a file "kernel_K_block_B.mem" for each block, in a folder memory_traces,
 * and next to that folder app_config.py with the launches (import/pptconfig.h).
 *
 * A record is "OPCODE [warp] [predoff active pred] ADDRESS...". In the original dialect a line of
 * "=====" stands between records and addresses begin with 0x; in that of [004] a record is a line
 * and numbers are hexadecimal without 0x, except that the warp is decimal until the file's first
 * address has been written. Inactive lanes are left out, so lanes are numbered in order.
 *
 * The optional fields count warps or lanes, so they are below 1024, and no address that is written without 0x is.
 * The number of such small numbers after an opcode therefore tells which fields a file has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/place.h"
#include "import/pptconfig.h"
#include "import/pptfolder.h"
#include "import/slots.h"
#include "stream/rows.h"

#define FIELD_MAX 1023 /* the largest value of an optional field */
#define RECORD "expected 'OPCODE [WARP] [PREDOFF ACTIVE PRED] ADDRESS...'"

/* ---- one file */

struct reader {
	struct gt_input *input;
	struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;
	struct gt_slots slots;
	uint32_t block;
	unsigned warps;	 /* of a block; 0: unknown */
	unsigned last_lanes; /* lanes of the last of them */
	unsigned fields; /* optional fields: 0, 1, 3 or 4 */
	bool hex;	 /* an address has occurred; from there on all numbers are hexadecimal */
};

static int fail(const struct reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

static bool is_separator(const char *line)
{
	size_t length = strspn(line, "=");

	return length >= 3 && line[length + strspn(line + length, " \t")] == '\0';
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
static int find_fields(struct reader *reader)
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
static int scan_fields(const struct reader *reader, const char **at, uint64_t *warp)
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
static int scan_addresses(const struct reader *reader, const char *at, unsigned max, uint64_t *addresses)
{
	unsigned n = 0;

	while (!gt_scan_end(&at)) {
		bool marked = at[0] == '0' && at[1] == 'x';

		if (n == max)
			return gt_input_fail(reader->input, reader->error,
					     "more than %u addresses: expected one for each lane", max);
		if (!gt_scan_hex(&at, &addresses[n]) || (*at != ' ' && *at != '\t' && *at != '\0'))
			return fail(reader, "expected hexadecimal addresses of at most 64 bits");
		if (!marked && max == GT_WARP_SIZE && addresses[n] > 0 && addresses[n] <= FIELD_MAX)
			return fail(
				reader,
				"an address below 1024: expected as many fields as in the file's first records");
		n += addresses[n] != 0;
	}
	return (int)n;
}

static int emit(struct reader *reader, struct gt_trace_access *access, const uint64_t *addresses, unsigned n)
{
	if (n > GT_WARP_SIZE)
		return fail(reader, "more than 32 addresses in one of the two lists of an LDGSTS");
	access->mask = n == GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << n) - 1;
	access->addresses = addresses;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* LDGSTS: one list holds the addresses in global and in shared memory. Those in shared memory are small; if none
 * is, the first half is taken as global. The load is reported first. */
static int emit_two(struct reader *reader, struct gt_trace_access *access, const uint64_t *addresses,
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

	if (emit(reader, access, global, shared_first ? n - split : split) != 0)
		return -1;
	access->op = gt_opcode_shared_store();
	return emit(reader, access, shared, shared_first ? split : n - split);
}

static int read_record(struct reader *reader, const char *at)
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
	return opcode->two ? emit_two(reader, &access, addresses, (unsigned)n) :
			     emit(reader, &access, addresses, (unsigned)n);
}

/* Reads the records of one block. */
static int read_records(struct reader *reader, struct gt_input *input)
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

		if (gt_scan_end(&at) || is_separator(at))
			continue;
		if (read_record(reader, at) != 0)
			return -1;
	}
	return got;
}

static struct reader *open_reader(struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = calloc(1, sizeof *reader);

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

static void close_reader(struct reader *reader)
{
	gt_slots_close(&reader->slots);
	free(reader);
}

/* A single file: block 0 of a launch without a description. */
static int read_pptmem(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = open_reader(to, error);
	struct gt_kernel kernel;

	if (!reader)
		return -1;
	gt_implicit_kernel(&kernel, input);
	kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
	int result = to->kernel(to->context, &kernel, error) == 0 ? read_records(reader, input) : -1;
	close_reader(reader);
	return result;
}

/* ---- all files of a folder */

static int read_block(struct reader *reader, const struct gt_pptfile *file)
{
	struct gt_input *input = gt_input_open(file->path, reader->error);
	struct gt_error ignored;

	if (!input)
		return -1;
	reader->block = file->block;
	int result = read_records(reader, input);
	if (gt_input_close(input, result == 0 ? reader->error : &ignored) != 0)
		result = -1;
	return result;
}

/* Reports a launch and its files. */
static int read_launch(struct reader *reader, const struct gt_kernel *kernel,
		       const struct gt_pptfile *files, size_t n)
{
	uint64_t blocks = gt_kernel_blocks(kernel), threads = gt_kernel_threads(kernel);

	if (n > 0 && files[n - 1].block >= blocks)
		return gt_fail(reader->error, "%s: expected a block below %" PRIu64 ", the size of the grid",
			       files[n - 1].path, blocks);
	if (reader->to->kernel(reader->to->context, kernel, reader->error) != 0)
		return -1;
	reader->warps = (unsigned)gt_kernel_warps(kernel);
	reader->last_lanes = threads % GT_WARP_SIZE ? threads % GT_WARP_SIZE : GT_WARP_SIZE;
	for (size_t i = 0; i < n; i++)
		if (read_block(reader, &files[i]) != 0)
			return -1;
	return 0;
}

/* Launches as the configuration has them. */
static int read_described(struct reader *reader, const struct gt_pptfolder *folder)
{
	struct gt_pptconfig config;
	int result = 0;
	size_t n, read = 0;

	if (gt_pptconfig_read(&config, folder->config, reader->error) != 0)
		return -1;
	for (size_t i = 0; i < folder->n && result == 0; i++)
		if ((i == 0 || folder->files[i - 1].kernel != folder->files[i].kernel) &&
		    !gt_pptconfig_find(&config, folder->files[i].kernel))
			result = gt_fail(reader->error, "%s: expected a kernel that %s lists",
					 folder->files[i].path, folder->config);
	for (; read < config.n && result == 0; read++) {
		const struct gt_pptfile *files = gt_pptfolder_files(folder, config.kernels[read].id, &n);

		result = read_launch(reader, &config.kernels[read], files, n);
	}
	gt_pptconfig_clear(&config);
	return result;
}

/* Launches as the names of the files give them. */
static int read_undescribed(struct reader *reader, const struct gt_pptfolder *folder)
{
	size_t n;

	for (size_t i = 0; i < folder->n; i += n) {
		struct gt_kernel kernel = {.id = folder->files[i].kernel, .grid = {0, 1, 1}};
		const struct gt_pptfile *files = gt_pptfolder_files(folder, kernel.id, &n);

		snprintf(kernel.name, sizeof kernel.name, "kernel_%" PRIu64, kernel.id);
		kernel.grid[0] = files[n - 1].block + 1;
		if (read_launch(reader, &kernel, files, n) != 0)
			return -1;
	}
	return 0;
}

static int read_folder(const struct gt_pptfolder *folder, struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = open_reader(to, error);
	struct stat status;

	if (!reader)
		return -1;
	int result = stat(folder->config, &status) == 0 ? read_described(reader, folder) :
							  read_undescribed(reader, folder);
	close_reader(reader);
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

/* A separator, or an opcode and a hexadecimal number. */
static bool detect(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const char *word;
	size_t length;
	uint64_t number;
	uint8_t op;

	while (gt_head_line(&head, &bytes, line, 128)) {
		const char *at = line;

		if (gt_scan_end(&at) || is_separator(at))
			continue;
		return gt_scan_word(&at, &word, &length) && gt_sass_op(word, length, &op) == 0 &&
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
