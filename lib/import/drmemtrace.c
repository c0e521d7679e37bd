/* SPDX-License-Identifier: MIT */
/* What drmemtrace's view tool prints: a record a line, "RECORD INSTRUCTION: THREAD WHAT ...", where
 * WHAT is ifetch, or read or write followed by "N byte(s) @ 0xADDRESS by PC 0xPC". All its threads are read as
 * one. */
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"

struct state {
	uint64_t records, fetches, others;
};

/* The numbers that every record begins with. */
static bool scan_record(const char **at)
{
	uint64_t number;

	gt_scan_blanks(at);
	if (!gt_scan_decimal(at, &number) || !gt_scan_gap(at) || !gt_scan_decimal(at, &number) ||
	    !gt_scan_char(at, ':') || !gt_scan_gap(at) || !gt_scan_decimal(at, &number))
		return false;
	return gt_scan_gap(at);
}

static bool scan_operand(const char **at, uint64_t *size, uint64_t *address, uint64_t *pc)
{
	*pc = 0;
	gt_scan_blanks(at);
	if (!gt_scan_upto(at, 65536, size) || *size == 0 || !gt_scan_text(at, " byte(s) @ 0x") ||
	    !gt_scan_hex(at, address))
		return false;
	gt_scan_blanks(at);
	return **at == '\0' || (gt_scan_text(at, "by PC 0x") && gt_scan_hex(at, pc) && gt_scan_end(at));
}

static int read_record(struct gt_input *input, const char *at, struct gt_trace *to, struct state *state,
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
	if (!scan_operand(&at, &size, &address, &pc))
		return gt_input_fail(input, error, "expected 'N byte(s) @ 0xADDRESS by PC 0xPC'");
	if (gt_cpu_access(to, gt_op(action, GT_GLOBAL, GT_OPERATOR_NONE), address, size, pc, error) != 0)
		return gt_input_fail(input, error, "%s", error->text);
	return 0;
}

/* The view tool prints text of its own before the records and, as a summary, after them. */
static int read_lines(struct gt_input *input, struct gt_trace *to, struct state *state,
		      struct gt_error *error)
{
	bool summary = false;
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0) {
		const char *at = line;
		if (scan_record(&at)) {
			if (read_record(input, at, to, state, error) != 0)
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
	struct state state = {0};

	if (gt_cpu_launch(to, input, error) != 0 || read_lines(input, to, &state, error) != 0)
		return -1;
	if (state.records == 0)
		return gt_fail(error, "%s: expected lines 'RECORD INSTRUCTION: THREAD ...', found none",
			       gt_input_name(input));
	if (state.fetches > 0 &&
	    to->passed_over(to->context, "instruction fetches", state.fetches, error) != 0)
		return -1;
	return state.others > 0 ? to->passed_over(to->context, "other records", state.others, error) : 0;
}

static bool detect(const char *head, size_t bytes)
{
	char line[256 + GT_SCAN_SLACK] = "";

	for (int i = 0; i < 8 && gt_head_line(&head, &bytes, line, 256); i++) {
		const char *at = line;
		if (strncmp(line, "Output format:", 14) == 0)
			return true;
		if (scan_record(&at))
			return *at == '<' || strstr(at, "byte(s) @ 0x");
	}
	return false;
}

const struct gt_importer gt_import_drmemtrace = {
	.name = "drmemtrace",
	.summary = "the text of drmemtrace's view tool, as one thread",
	.detect = detect,
	.read = read_drmemtrace,
};
