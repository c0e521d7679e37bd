/* SPDX-License-Identifier: MIT */
/* Nugteren's .trc, the tracer of [002]: "blocksize: X Y Z", then a thread access a line: number of
 * the thread in the grid, 0 to read or 1 to write, byte address (decimal, or 0x), bytes. */
#include <inttypes.h>
#include <string.h>

#include "base/scan.h"
#include "import/formats.h"
#include "stream/op.h"

#define HEADER "blocksize:"

static int read_header(struct gt_input *input, const char *at, struct gt_trace *to, uint64_t *threads,
		       struct gt_error *error)
{
	struct gt_kernel kernel;
	uint64_t size;

	gt_implicit_kernel(&kernel, input);
	if (!gt_scan_text(&at, HEADER))
		return gt_input_fail(input, error, "expected '" HEADER " X Y Z'");
	for (int i = 0; i < 3; i++) {
		gt_scan_blanks(&at);
		if (!gt_scan_upto(&at, GT_BLOCK_THREADS_MAX, &size) || size == 0)
			return gt_input_fail(input, error, "expected '" HEADER " X Y Z', each from 1 to %d",
					     GT_BLOCK_THREADS_MAX);
		kernel.block[i] = (uint32_t)size;
	}
	if (!gt_scan_end(&at))
		return gt_input_fail(input, error, "expected '" HEADER " X Y Z' and nothing else");
	if (to->kernel(to->context, &kernel, error) != 0)
		return gt_input_fail(input, error, "%s", error->text);
	*threads = gt_kernel_threads(&kernel);
	return 0;
}

/* Decimal, or hexadecimal after 0x. */
static bool scan_address(const char **at, uint64_t *address)
{
	if ((*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		return gt_scan_hex(at, address);
	return gt_scan_decimal(at, address);
}

static int read_access(struct gt_input *input, const char *at, struct gt_trace *to, uint64_t threads,
		       struct gt_error *error)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_THREAD};
	uint64_t thread, direction, size;

	if (!gt_scan_decimal(&at, &thread) || !gt_scan_gap(&at) || !gt_scan_upto(&at, 1, &direction) ||
	    !gt_scan_gap(&at) || !scan_address(&at, &access.base) || !gt_scan_gap(&at) ||
	    !gt_scan_upto(&at, UINT8_MAX, &size) || !gt_scan_end(&at))
		return gt_input_fail(input, error, "expected 'THREAD 0|1 ADDRESS BYTES'");
	uint64_t block = thread / threads;
	thread %= threads;
	if (block > UINT32_MAX)
		return gt_input_fail(input, error, "block %" PRIu64 ": expected less than 2^32", block);
	access.block = (uint32_t)block;
	access.warp = (uint16_t)(thread / GT_WARP_SIZE);
	access.mask = UINT32_C(1) << thread % GT_WARP_SIZE;
	access.op = gt_op(direction ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	access.size = (uint8_t)size;
	if (to->access(to->context, &access, error) != 0)
		return gt_input_fail(input, error, "%s", error->text);
	return 0;
}

static int read_trc(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	uint64_t threads = 0;
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(input, &line, &length, error)) > 0) {
		const char *at = line;
		if (gt_scan_end(&at))
			continue;
		if ((threads == 0 || *at == HEADER[0] ? read_header(input, at, to, &threads, error)
						      : read_access(input, at, to, threads, error)) != 0)
			return -1;
	}
	return got;
}

static bool detect(const char *head, size_t bytes)
{
	return bytes >= strlen(HEADER) && memcmp(head, HEADER, strlen(HEADER)) == 0;
}

const struct gt_importer gt_import_trc = {
	.name = "trc",
	.summary = "Nugteren's tracer: 'blocksize: X Y Z', then THREAD 0|1 ADDRESS BYTES",
	.detect = detect,
	.read = read_trc,
};
