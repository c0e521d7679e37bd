/* SPDX-License-Identifier: MIT */
/* Lines whose beginning is known (import/accelsim_seen.h), which are nearly all, are read where they stand, from the beginning
 * to the newline, without a look for their ends before. A line that is not as expected is left to gt_accelsim_line. */
#include "base/ahead.h"
#include "import/accelsim.h"

/* The bytes of the line with its newline, if it is known; else 0. */
static size_t scan_known(struct gt_accelsim *reader, const char *line, const struct gt_seen **known)
{
	const struct gt_seen *seen = gt_seen_find(&reader->seen, line, reader->version);

	if (!seen)
		return 0;
	const char *at = line + seen->length;
	reader->access.pc = seen->pc;
	reader->access.mask = seen->mask;
	if (seen->addresses && (*at != ' ' || !seen->opcode.memory || seen->mask == 0 || (seen->mask & ~reader->lanes) != 0 ||
				gt_accelsim_scan(reader, &at) != NULL))
		return 0;
	*known = seen;
	return *at == '\n' && at - line <= GT_LINE_MAX ? (size_t)(at + 1 - line) : 0;
}

int gt_accelsim_known_lines(struct gt_accelsim *reader)
{
	const struct gt_seen *seen;
	size_t bytes;

	if (!reader->grouped || !gt_accelsim_is_plain(reader) || reader->version == 1 || reader->version == 2)
		return 0;
	const char *line = gt_input_ahead(reader->input);
	for (; reader->found < reader->expected && (bytes = scan_known(reader, line, &seen)) > 0; line += bytes) {
		gt_input_take_line(reader->input, bytes);
		reader->found++;
		if (seen->addresses && gt_accelsim_report(reader, &seen->opcode) != 0)
			return -1;
	}
	return 0;
}
