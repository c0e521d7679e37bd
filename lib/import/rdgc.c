/* SPDX-License-Identifier: MIT */
/* A trace format, as each file here is one: it finds out whether a file is of the format, reads its lines, and reports launches and
 * accesses in the order of the file. This one is RDGC's, of the five-tuples of [000] 4.1: a thread's access is a line "AN BID TID S
 * ADD [SIZE]" (its number in the thread, block, thread, R or W, address), and launches are lines
 * "#kernel id=1 name=gemm grid=4,16,1 block=32,8,1 registers=32 shared=0". */
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"
#include "stream/rows.h"

#define EXPECTED "expected 'AN BLOCK THREAD R|W ADDRESS [SIZE]'"

struct state {
	struct gt_input *input;
	struct gt_trace *to;
	bool in_launch;
};

static bool scan_dimensions(const char **at, uint32_t dimensions[3])
{
	uint64_t value;

	for (int i = 0; i < 3; i++) {
		if ((i > 0 && !gt_scan_char(at, ',')) || !gt_scan_upto(at, UINT32_MAX, &value) || value == 0)
			return false;
		dimensions[i] = (uint32_t)value;
	}
	return true;
}

static bool scan_number(const char **at, uint32_t *number)
{
	uint64_t value;

	if (!gt_scan_upto(at, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* A name ends before the next " word=", since names of kernels may contain blanks. */
static bool scan_name(const char **at, struct gt_kernel *kernel)
{
	size_t length = 0, key;

	while ((*at)[length] != '\0') {
		if ((*at)[length] == ' ') {
			key = strspn(*at + length + 1, "abcdefghijklmnopqrstuvwxyz_");
			if (key > 0 && (*at)[length + 1 + key] == '=')
				break;
		}
		length++;
	}
	snprintf(kernel->name, sizeof kernel->name, "%.*s",
		 (int)(length < sizeof kernel->name ? length : sizeof kernel->name), *at);
	*at += length;
	return length > 0;
}

static bool scan_id(const char **at, struct gt_kernel *kernel)
{
	return gt_scan_upto(at, GT_KERNEL_NEXT - 1, &kernel->id);
}
static bool scan_grid(const char **at, struct gt_kernel *kernel)
{
	return scan_dimensions(at, kernel->grid);
}
static bool scan_block(const char **at, struct gt_kernel *kernel)
{
	return scan_dimensions(at, kernel->block);
}
static bool scan_registers(const char **at, struct gt_kernel *kernel)
{
	return scan_number(at, &kernel->registers);
}
static bool scan_shared(const char **at, struct gt_kernel *kernel)
{
	return scan_number(at, &kernel->shared_bytes);
}

static const struct {
	const char *key;
	bool (*scan)(const char **at, struct gt_kernel *kernel);
	const char *expected;
} keys[] = {
	{"id=", scan_id, "a number"},
	{"name=", scan_name, "a name"},
	{"grid=", scan_grid, "x,y,z, each at least 1"},
	{"block=", scan_block, "x,y,z, each at least 1"},
	{"registers=", scan_registers, "a number"},
	{"shared=", scan_shared, "a number of bytes"},
};

static int read_kernel(struct state *state, const char *at, struct gt_error *error)
{
	struct gt_kernel kernel;
	const size_t n = sizeof keys / sizeof *keys;

	gt_implicit_kernel(&kernel, state->input);
	while (!gt_scan_end(&at)) {
		const char *word = at;
		size_t i = 0;
		while (i < n && !gt_scan_text(&at, keys[i].key))
			i++;
		if (i == n)
			return gt_input_fail(state->input, error, "'%.40s': expected id=, name=, grid=, "
					     "block=, registers= or shared=", word);
		if (!keys[i].scan(&at, &kernel) || (*at != ' ' && *at != '\t' && *at != '\0'))
			return gt_input_fail(state->input, error, "'%.*s': expected %s%s, and a blank before what follows", (int)strcspn(word, " \t"), word,
					     keys[i].key, keys[i].expected);
	}
	state->in_launch = true;
	if (state->to->kernel(state->to->context, &kernel, error) != 0)
		return gt_input_fail(state->input, error, "%s", error->text);
	return 0;
}

/* R or W, or 0 or 1. */
static bool scan_direction(const char **at, uint8_t *op)
{
	switch (*(*at)++) {
	case 'R': case 'r': case '0':
		*op = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
		return true;
	case 'W': case 'w': case '1':
		*op = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
		return true;
	default:
		return false;
	}
}

static int read_access(struct state *state, const char *at, struct gt_error *error)
{
	struct gt_trace_access access = {.numbering = GT_AN_GIVEN};
	uint64_t an, block, thread, size = 4;

	if (!gt_scan_upto(&at, UINT32_MAX, &an) || !gt_scan_gap(&at) ||
	    !gt_scan_upto(&at, UINT32_MAX, &block) || !gt_scan_gap(&at) ||
	    !gt_scan_upto(&at, UINT32_MAX, &thread) || !gt_scan_gap(&at) ||
	    !scan_direction(&at, &access.op) || !gt_scan_gap(&at) || !gt_scan_hex(&at, &access.base))
		return gt_input_fail(state->input, error, EXPECTED);
	if (!gt_scan_end(&at) && (!gt_scan_upto(&at, UINT8_MAX, &size) || !gt_scan_end(&at)))
		return gt_input_fail(state->input, error, EXPECTED);
	if (thread >= GT_BLOCK_THREADS_MAX)
		return gt_input_fail(state->input, error, "thread %llu: a block has at most %d threads",
				     (unsigned long long)thread, GT_BLOCK_THREADS_MAX);
	access.an = (uint32_t)an;
	access.block = (uint32_t)block;
	access.warp = (uint16_t)(thread / GT_WARP_SIZE);
	access.mask = UINT32_C(1) << thread % GT_WARP_SIZE;
	access.size = (uint8_t)size;
	if (state->to->access(state->to->context, &access, error) != 0)
		return gt_input_fail(state->input, error, "%s", error->text);
	return 0;
}

static int read_line(struct state *state, const char *line, struct gt_error *error)
{
	gt_scan_blanks(&line);
	if (*line == '\0') {
		state->in_launch = false;
		return 0;
	}
	if (*line == '#') {
		if (!gt_scan_text(&line, "#kernel") || (*line != ' ' && *line != '\t' && *line != '\0'))
			return 0;
		return read_kernel(state, line, error);
	}
	if (!state->in_launch && read_kernel(state, "", error) != 0)
		return -1;
	return read_access(state, line, error);
}

static int read_rdgc(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct state state = {.input = input, .to = to};
	char *line;
	size_t length;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0)
		if (read_line(&state, line, error) != 0)
			return -1;
	return got;
}

static bool is_access(const char *line)
{
	uint64_t number;
	uint8_t op;

	for (int i = 0; i < 3; i++)
		if (!gt_scan_decimal(&line, &number) || !gt_scan_gap(&line))
			return false;
	bool letter = strchr("RrWw", *line) != NULL;
	return scan_direction(&line, &op) && gt_scan_gap(&line) && (letter || gt_scan_text(&line, "0x"));
}

static bool detect(const char *head, size_t bytes)
{
	char line[256 + GT_SCAN_SLACK] = "";
	const char *at;

	while (gt_head_line(&head, &bytes, line, 256)) {
		at = line;
		gt_scan_blanks(&at);
		if (gt_scan_text(&at, "#kernel") && (*at == ' ' || *at == '\0'))
			return true;
		if (*at != '#' && *at != '\0')
			return is_access(at);
	}
	return false;
}

const struct gt_importer gt_import_rdgc = {
	.name = "rdgc",
	.summary = "five-tuples, one thread access a line: AN BLOCK THREAD R|W ADDRESS [SIZE]",
	.detect = detect,
	.read = read_rdgc,
};
