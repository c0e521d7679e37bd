/* SPDX-License-Identifier: MIT */
/* The output of valgrind --tool=lackey --trace-mem=yes: "I  ADDRESS,SIZE" for a fetch, " L", " S" and
 * " M" for a load, a store and both; addresses are hexadecimal. "==PID==" lines are valgrind's messages. */
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"

/* The meaning of the letter in front. */
static const struct kind {
	const char *text;
	bool fetch, load, store;
} kinds[] = {
	{"I  ", true, false, false},
	{" L ", false, true, false},
	{" S ", false, false, true},
	{" M ", false, true, true},
};

static const struct kind *scan_kind(const char **at)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (gt_scan_text(at, kinds[i].text))
			return &kinds[i];
	return NULL;
}

static bool is_valgrinds(const char *line)
{
	return strncmp(line, "==", 2) == 0 || strncmp(line, "--", 2) == 0;
}

static bool scan_access(const char *at, const struct kind **kind, uint64_t *address, uint64_t *size)
{
	*kind = scan_kind(&at);
	return *kind && gt_scan_hex(&at, address) && gt_scan_char(&at, ',') &&
		gt_scan_upto(&at, 65536, size) &&
	       *size > 0 && gt_scan_end(&at);
}

static int read_access(struct gt_input *input, const char *line, struct gt_trace *to, uint64_t *fetches,
		       struct gt_error *error)
{
	const struct kind *kind;
	const uint8_t load = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	const uint8_t store = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	uint64_t address, size;
	int result = 0;

	if (!scan_access(line, &kind, &address, &size))
		return gt_input_fail(input, error,
				     "expected 'I  ADDRESS,SIZE' or ' L', ' S' or ' M' and the same");
	*fetches += kind->fetch;
	if (kind->load)
		result = gt_cpu_access(to, load, address, size, 0, error);
	if (result == 0 && kind->store)
		result = gt_cpu_access(to, store, address, size, 0, error);
	return result == 0 ? 0 : gt_input_fail(input, error, "%s", error->text);
}

static int read_lackey(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	uint64_t fetches = 0;
	size_t length;
	char *line;
	int got;

	if (gt_cpu_launch(to, input, error) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, error)) > 0)
		if (length > 0 && !is_valgrinds(line) && read_access(input, line, to, &fetches, error) != 0)
			return -1;
	if (got == 0 && fetches > 0)
		got = to->passed_over(to->context, "instruction fetches", fetches, error);
	return got;
}

static bool detect(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const struct kind *kind;
	uint64_t address, size;

	while (gt_head_line(&head, &bytes, line, 128))
		if (line[0] != '\0' && !is_valgrinds(line))
			return scan_access(line, &kind, &address, &size);
	return false;
}

const struct gt_importer gt_import_lackey = {
	.name = "lackey",
	.summary = "memory accesses as valgrind's lackey prints them, as one thread",
	.detect = detect,
	.read = read_lackey,
};
