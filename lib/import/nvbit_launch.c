/* SPDX-License-Identifier: MIT */
#include "import/nvbit_launch.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "stream/trace.h"

struct gt_nvbit_launch_line {
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

struct gt_nvbit_launch_line *gt_nvbit_launch_line_open(struct gt_error *error)
{
	struct gt_nvbit_launch_line *with = calloc(1, sizeof *with);
	int code;
	PCRE2_SIZE offset;

	if (with)
		with->pattern = pcre2_compile((PCRE2_SPTR)launch_pattern, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL, &code, &offset, NULL);
	if (with && with->pattern)
		with->match = pcre2_match_data_create_from_pattern(with->pattern, NULL);
	if (with && with->match)
		return with;
	gt_nvbit_launch_line_close(with);
	gt_fail_memory(error, "the launch pattern");
	return NULL;
}

void gt_nvbit_launch_line_close(struct gt_nvbit_launch_line *with)
{
	if (!with)
		return;
	pcre2_match_data_free(with->match);
	pcre2_code_free(with->pattern);
	free(with);
}

static bool group_number(const struct gt_nvbit_launch_line *with, const char *line, unsigned group, uint64_t max, uint64_t *value)
{
	const char *at = line + pcre2_get_ovector_pointer(with->match)[2 * group];

	return gt_scan_upto(&at, max, value);
}

static bool group_32(const struct gt_nvbit_launch_line *with, const char *line, unsigned group, uint32_t *number)
{
	uint64_t value;

	if (!group_number(with, line, group, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

const char *gt_nvbit_launch_line_scan(const struct gt_nvbit_launch_line *with, const char *line, size_t length,
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
