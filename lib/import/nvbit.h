/* SPDX-License-Identifier: MIT */
/* The parts of the NVBit importer: what a line says by itself, and what follows from the lines before it. */
#ifndef GT_IMPORT_NVBIT_H
#define GT_IMPORT_NVBIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/scan.h"
#include "import/import.h"
#include "import/opcode.h"
#include "import/slots.h"
#include "stream/kernel.h"

/* The line with which NVBit's mem_trace announces a launch. */

/* What lines are compared with. */
struct gt_nvbit_launch_line;

#define GT_NVBIT_PREFIX "MEMTRACE: "

/* ---- a line by itself */

enum gt_nvbit_kind {
	GT_NVBIT_OTHER,	 /* the program's own, or one that says nothing of accesses */
	GT_NVBIT_LAUNCH, /* `text` is the line */
	GT_NVBIT_ACCESS,
	GT_NVBIT_WRONG /* and of an access whose launch is not known */
};

struct gt_nvbit_line {
	enum gt_nvbit_kind kind;
	const char *wrong; /* what was expected; NULL: nothing else. An access has what stands before it in the line: */
	uint64_t launch;
	uint64_t position[3]; /* of its block */
	bool placed;	      /* the position was read */
	const char *text;     /* the opcode, in the line */
	size_t length;
	bool memory, two; /* as struct gt_opcode has them */
	uint8_t op, size;
	uint16_t hint, slot;
	uint32_t mask; /* 0: no lane is active, and there are no addresses */
	uint64_t base; /* of the lowest active lane */
	int64_t stride;
	const uint64_t *addresses; /* if there is no common stride, else NULL */
};

struct gt_nvbit_scanner { /* begins with all zero */
	struct gt_opcodes opcodes;
	uint64_t addresses[GT_WARP_SIZE];
	struct gt_scan_first first; /* of the last line with addresses */
};

/* Reads a line; its addresses are the scanner's. */
void gt_nvbit_scan(struct gt_nvbit_scanner *scanner, const char *text, size_t length, struct gt_nvbit_line *line);

/* ---- the lines before */

/* A launch, and what is known of its warps. */
struct gt_nvbit_launch {
	struct gt_kernel kernel;
	struct gt_slots slots; /* opened with the first record */
	struct gt_map halves; /* block << 16 | warp, to enum half; opened with the first LDGSTS */
};

struct gt_nvbit {
	struct gt_input *input;
	struct gt_trace *to;
	struct gt_error *error;
	struct gt_nvbit_launch_line *launch_line;

	struct gt_nvbit_launch **launches;
	size_t n, capacity;
	struct gt_map by_id; /* id in the launch line, to the index in launches */
	struct gt_nvbit_launch *announced; /* the launch reported last */
	struct gt_nvbit_launch *current; /* the launch of the last record */
	uint64_t current_id;	/* in its records */
	bool settled;		/* a record determined: */
	uint64_t more;		/* by how much a launch's id exceeds that of its records, 0 or 1 */
	size_t kept;		/* slots of other launches that are remembered */
};

/* Each returns 0, or -1 with the error set. */

static inline int gt_nvbit_fail(const struct gt_nvbit *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* Takes what a line of the input says. */
int gt_nvbit_take(struct gt_nvbit *reader, const struct gt_nvbit_line *line);
/* Reads all lines in several threads. */
int gt_nvbit_parts(struct gt_nvbit *reader);

#endif
