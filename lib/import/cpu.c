/* SPDX-License-Identifier: MIT */
/* Traces of CPU programs: Dinero's, lackey's and drmemtrace's. Each is reported as one thread: the launch is named after the file and
 * has one block, thread 0. */
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"

/* Reports an access of one lane and any number of bytes, in pieces of GT_ACCESS_SIZE_MAX. */
static int report_span(struct gt_trace *to, struct gt_trace_access *access, uint64_t bytes, struct gt_error *error)
{
	do {
		access->size = bytes < GT_ACCESS_SIZE_MAX ? (uint8_t)bytes : GT_ACCESS_SIZE_MAX;
		if (to->access(to->context, access, error) != 0)
			return -1;
		access->base += access->size;
		bytes -= access->size;
	} while (bytes > 0);
	return 0;
}

static int begin_launch(struct gt_trace *to, const struct gt_input *input, struct gt_error *error)
{
	struct gt_kernel kernel;

	gt_implicit_kernel(&kernel, input);
	for (int i = 0; i < 3; i++)
		kernel.grid[i] = kernel.block[i] = 1;
	kernel.block[0] = GT_WARP_SIZE;
	return to->kernel(to->context, &kernel, error);
}

static int report_access(struct gt_trace *to, uint8_t op, uint64_t address, uint64_t bytes, uint64_t pc, struct gt_error *error)
{
	struct gt_trace_access access = {
		.numbering = GT_AN_OF_THREAD, .op = op, .mask = 1, .base = address, .pc = (uint32_t)pc,
	};

	return report_span(to, &access, bytes, error);
}

/* Reads a text that has an access or an instruction fetch a line, but for lines that are none. */
static int read_lines(struct gt_input *input, struct gt_trace *to, bool (*is_access)(const char *line, size_t length),
		      int (*read_access)(struct gt_input *, const char *, struct gt_trace *, uint64_t *, struct gt_error *), struct gt_error *error)
{
	uint64_t fetches = 0;
	size_t length;
	char *line;
	int got;

	if (begin_launch(to, input, error) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, error)) > 0)
		if (is_access(line, length) && read_access(input, line, to, &fetches, error) != 0)
			return -1;
	if (got == 0 && fetches > 0)
		got = to->passed_over(to->context, "instruction fetches", fetches, error);
	return got;
}

/* ---- din ---- */

/* Dinero's traditional input: "LABEL ADDRESS", 0 a read, 1 a write, 2 a fetch, address in
 * hexadecimal. It has no sizes: each access is taken as 4 bytes. */

#define ACCESS_BYTES 4

enum label { READ, WRITE, FETCH };

static bool scan_din(const char *at, uint64_t *label, uint64_t *address)
{
	gt_scan_blanks(&at);
	return gt_scan_upto(&at, FETCH, label) && gt_scan_gap(&at) && gt_scan_hex(&at, address) &&
		gt_scan_end(&at);
}

static int read_din_access(struct gt_input *input, const char *line, struct gt_trace *to, uint64_t *fetches,
		       struct gt_error *error)
{
	uint64_t label, address;

	if (!scan_din(line, &label, &address))
		return gt_input_fail(input, error, "expected '0|1|2 ADDRESS'");
	if (label == FETCH) {
		++*fetches;
		return 0;
	}
	uint8_t op = gt_op(label == WRITE ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	if (report_access(to, op, address, ACCESS_BYTES, 0, error) != 0)
		return gt_import_place(input, error);
	return 0;
}

static bool is_din_access(const char *line, size_t length)
{
	(void)length;
	return !gt_scan_end(&line);
}

static int read_din(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	return read_lines(input, to, is_din_access, read_din_access, error);
}

static bool detect_din(const char *head, size_t bytes)
{
	char line[64 + GT_SCAN_SLACK] = "";
	uint64_t label, address;

	return gt_head_line(&head, &bytes, line, 64) && scan_din(line, &label, &address);
}

const struct gt_importer gt_import_din = {
	.name = "din",
	.summary = "Dinero: 0|1|2 ADDRESS for a read, a write, a fetch, as one thread",
	.detect = detect_din,
	.read = read_din,
};

/* ---- lackey ---- */

/* The output of valgrind --tool=lackey --trace-mem=yes: "I  ADDRESS,SIZE" for a fetch, " L", " S" and
 * " M" for a load, a store and both; addresses are hexadecimal. "==PID==" lines are valgrind's messages. */

/* The meaning of the letter in front. */
static const struct lackey_kind {
	const char *text;
	bool fetch, load, store;
} lackey_kinds[] = {
	{"I  ", true, false, false},
	{" L ", false, true, false},
	{" S ", false, false, true},
	{" M ", false, true, true},
};

static const struct lackey_kind *scan_lackey_kind(const char **at)
{
	for (size_t i = 0; i < sizeof lackey_kinds / sizeof *lackey_kinds; i++)
		if (gt_scan_text(at, lackey_kinds[i].text))
			return &lackey_kinds[i];
	return NULL;
}

static bool is_valgrinds(const char *line)
{
	return strncmp(line, "==", 2) == 0 || strncmp(line, "--", 2) == 0;
}

static bool scan_lackey(const char *at, const struct lackey_kind **kind, uint64_t *address, uint64_t *size)
{
	*kind = scan_lackey_kind(&at);
	return *kind && gt_scan_hex(&at, address) && gt_scan_char(&at, ',') &&
		gt_scan_upto(&at, 65536, size) &&
	       *size > 0 && gt_scan_end(&at);
}

static int read_lackey_access(struct gt_input *input, const char *line, struct gt_trace *to, uint64_t *fetches,
		       struct gt_error *error)
{
	const struct lackey_kind *kind;
	const uint8_t load = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	const uint8_t store = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	uint64_t address, size;
	int result = 0;

	if (!scan_lackey(line, &kind, &address, &size))
		return gt_input_fail(input, error,
				     "expected 'I  ADDRESS,SIZE' or ' L', ' S' or ' M' and the same");
	*fetches += kind->fetch;
	if (kind->load)
		result = report_access(to, load, address, size, 0, error);
	if (result == 0 && kind->store)
		result = report_access(to, store, address, size, 0, error);
	return result == 0 ? 0 : gt_import_place(input, error);
}

static bool is_lackey_access(const char *line, size_t length)
{
	return length > 0 && !is_valgrinds(line);
}

static int read_lackey(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	return read_lines(input, to, is_lackey_access, read_lackey_access, error);
}

static bool detect_lackey(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const struct lackey_kind *kind;
	uint64_t address, size;

	while (gt_head_line(&head, &bytes, line, 128))
		if (line[0] != '\0' && !is_valgrinds(line))
			return scan_lackey(line, &kind, &address, &size);
	return false;
}

const struct gt_importer gt_import_lackey = {
	.name = "lackey",
	.summary = "memory accesses as valgrind's lackey prints them, as one thread",
	.detect = detect_lackey,
	.read = read_lackey,
};

/* ---- drmemtrace ---- */

/* What drmemtrace's view tool prints: a record a line, "RECORD INSTRUCTION: THREAD WHAT ...", where
 * WHAT is ifetch, or read or write followed by "N byte(s) @ 0xADDRESS by PC 0xPC". All its threads are read as
 * one. */

struct drmemtrace {
	uint64_t records, fetches, others;
};

/* The numbers that every record begins with. */
static bool scan_drmemtrace_record(const char **at)
{
	uint64_t number;

	gt_scan_blanks(at);
	if (!gt_scan_decimal(at, &number) || !gt_scan_gap(at) || !gt_scan_decimal(at, &number) ||
	    !gt_scan_char(at, ':') || !gt_scan_gap(at) || !gt_scan_decimal(at, &number))
		return false;
	return gt_scan_gap(at);
}

static bool scan_drmemtrace_operand(const char **at, uint64_t *size, uint64_t *address, uint64_t *pc)
{
	*pc = 0;
	gt_scan_blanks(at);
	if (!gt_scan_upto(at, 65536, size) || *size == 0 || !gt_scan_text(at, " byte(s) @ 0x") ||
	    !gt_scan_hex(at, address))
		return false;
	gt_scan_blanks(at);
	return **at == '\0' || (gt_scan_text(at, "by PC 0x") && gt_scan_hex(at, pc) && gt_scan_end(at));
}

static int read_drmemtrace_record(struct gt_input *input, const char *at, struct gt_trace *to, struct drmemtrace *state,
		       struct gt_error *error)
{
	uint64_t size, address, pc;
	enum gt_action action = GT_LOAD;

	state->records++;
	if (gt_scan_text(&at, "write ")) {
		action = GT_STORE;
	} else if (!gt_scan_text(&at, "read ")) {
		if (gt_scan_text(&at, "ifetch "))
			state->fetches++;
		else if (*at != '<')
			state->others++;
		return 0;
	}
	if (!scan_drmemtrace_operand(&at, &size, &address, &pc))
		return gt_input_fail(input, error, "expected 'N byte(s) @ 0xADDRESS by PC 0xPC'");
	if (report_access(to, gt_op(action, GT_GLOBAL, GT_OPERATOR_NONE), address, size, pc, error) != 0)
		return gt_import_place(input, error);
	return 0;
}

/* The view tool prints text of its own before the records and, as a summary, after them. */
static int read_drmemtrace_lines(struct gt_input *input, struct gt_trace *to, struct drmemtrace *state,
		      struct gt_error *error)
{
	bool summary = false;
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0) {
		const char *at = line;
		if (scan_drmemtrace_record(&at)) {
			if (read_drmemtrace_record(input, at, to, state, error) != 0)
				return -1;
			continue;
		}
		at = line;
		if (strncmp(line, "View tool results:", 18) == 0)
			summary = true;
		if (state->records > 0 && !summary && !gt_scan_end(&at))
			return gt_input_fail(input, error, "expected 'RECORD INSTRUCTION: THREAD ...'");
	}
	return got;
}

static int read_drmemtrace(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct drmemtrace state = {0};

	if (begin_launch(to, input, error) != 0 || read_drmemtrace_lines(input, to, &state, error) != 0)
		return -1;
	if (state.records == 0)
		return gt_fail(error, "%s: expected lines 'RECORD INSTRUCTION: THREAD ...', found none",
			       gt_input_name(input));
	if (state.fetches > 0 &&
	    to->passed_over(to->context, "instruction fetches", state.fetches, error) != 0)
		return -1;
	return state.others > 0 ? to->passed_over(to->context, "other records", state.others, error) : 0;
}

static bool detect_drmemtrace(const char *head, size_t bytes)
{
	char line[256 + GT_SCAN_SLACK] = "";

	for (int i = 0; i < 8 && gt_head_line(&head, &bytes, line, 256); i++) {
		const char *at = line;
		if (strncmp(line, "Output format:", 14) == 0)
			return true;
		if (scan_drmemtrace_record(&at))
			return *at == '<' || strstr(at, "byte(s) @ 0x");
	}
	return false;
}

const struct gt_importer gt_import_drmemtrace = {
	.name = "drmemtrace",
	.summary = "the text of drmemtrace's view tool, as one thread",
	.detect = detect_drmemtrace,
	.read = read_drmemtrace,
};
