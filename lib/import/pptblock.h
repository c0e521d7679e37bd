/* SPDX-License-Identifier: MIT */
/* Reading one of PPT-GPU's memory traces, the accesses of a block.
 *
 * A record is "OPCODE [warp] [predoff active pred] ADDRESS...". In the original dialect a line of
 * "=====" stands between records and addresses begin with 0x; in that of [004] a record is a line
 * and numbers are hexadecimal without 0x, except that the warp is decimal until the file's first
 * address has been written. Inactive lanes are left out, so lanes are numbered in order.
 *
 * The optional fields count warps or lanes, so they are below 1024, and no address that is written without 0x is.
 * The number of such small numbers after an opcode therefore tells which fields a file has. */
#ifndef GT_IMPORT_PPTBLOCK_H
#define GT_IMPORT_PPTBLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "import/import.h"
#include "import/opcode.h"

struct gt_pptblock {
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

/* A reader of any number of files, one after the other; NULL on error. Its caller sets block, warps and last_lanes. */
struct gt_pptblock *gt_pptblock_open(const struct gt_trace *to, struct gt_error *error);
void gt_pptblock_close(struct gt_pptblock *reader);

/* Reads a file to its end, and reports its accesses. */
int gt_pptblock_read(struct gt_pptblock *reader, struct gt_input *input);

/* Whether a line only separates records. */
static inline bool gt_pptblock_separates(const char *line)
{
	size_t length = strspn(line, "=");

	return length >= 3 && line[length + strspn(line + length, " \t")] == '\0';
}

#endif
