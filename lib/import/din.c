/* SPDX-License-Identifier: MIT */
/* Dinero's traditional input: "LABEL ADDRESS", 0 a read, 1 a write, 2 a fetch, address in
 * hexadecimal. It has no sizes: each access is taken as 4 bytes. */
#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"

#define ACCESS_BYTES 4

enum label { READ, WRITE, FETCH };

static bool scan_access(const char *at, uint64_t *label, uint64_t *address)
{
	gt_scan_blanks(&at);
	return gt_scan_upto(&at, FETCH, label) && gt_scan_gap(&at) && gt_scan_hex(&at, address) &&
		gt_scan_end(&at);
}

static int read_access(struct gt_input *input, const char *line, struct gt_trace *to, uint64_t *fetches,
		       struct gt_error *error)
{
	uint64_t label, address;

	if (!scan_access(line, &label, &address))
		return gt_input_fail(input, error, "expected '0|1|2 ADDRESS'");
	if (label == FETCH) {
		++*fetches;
		return 0;
	}
	uint8_t op = gt_op(label == WRITE ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	if (gt_cpu_access(to, op, address, ACCESS_BYTES, 0, error) != 0)
		return gt_input_fail(input, error, "%s", error->text);
	return 0;
}

static int read_din(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	uint64_t fetches = 0;
	size_t length;
	char *line;
	int got;

	if (gt_cpu_launch(to, input, error) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, error)) > 0) {
		const char *at = line;
		if (!gt_scan_end(&at) && read_access(input, line, to, &fetches, error) != 0)
			return -1;
	}
	if (got == 0 && fetches > 0)
		got = to->passed_over(to->context, "instruction fetches", fetches, error);
	return got;
}

static bool detect(const char *head, size_t bytes)
{
	char line[64 + GT_SCAN_SLACK] = "";
	uint64_t label, address;

	return gt_head_line(&head, &bytes, line, 64) && scan_access(line, &label, &address);
}

const struct gt_importer gt_import_din = {
	.name = "din",
	.summary = "Dinero: 0|1|2 ADDRESS for a read, a write, a fetch, as one thread",
	.detect = detect,
	.read = read_din,
};
