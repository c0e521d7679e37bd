/* SPDX-License-Identifier: MIT */
/* The meaning of SASS opcodes. A trace has a few dozen opcodes and millions of lines, so each opcode is parsed
 * once and cached. */
#ifndef GT_IMPORT_OPCODE_H
#define GT_IMPORT_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_OPCODE_TEXT 64  /* bytes an opcode may have */
#define GT_OPCODES_SEEN 256 /* opcodes remembered; a power of two */

/* Shared and local memory are windows of 2^24 bytes in the generic address space, and addresses
 * within shared memory are offsets below that. */
#define GT_WINDOW_BYTES (UINT64_C(1) << 24)

struct gt_opcode {
	char text[GT_OPCODE_TEXT]; /* not 0-terminated */
	size_t length;
	bool memory;  /* loads, stores or atomics; op and size are set */
	bool generic; /* LD, ST, ATOM: the address determines the space; op has global */
	bool two;     /* LDGSTS: loads from global and stores to shared memory */
	bool tma;     /* UTMA*, UBLK*: bulk copies, which have no addresses per lane */
	bool barrier; /* BAR.SYNC, BAR.RED: the warp waits for others of its block */
	uint8_t op;
	uint8_t size; /* bytes per lane */
	uint16_t hint;
};

struct gt_opcodes {
	struct gt_opcode seen[GT_OPCODES_SEEN]; /* by hash; begin with all zero */
};

/* The meaning of an opcode, valid until the next call. Text that is too long is taken as no memory instruction. */
const struct gt_opcode *gt_opcode_find(struct gt_opcodes *opcodes, const char *text, size_t length);

/* The op of the store half of an LDGSTS. */
uint8_t gt_opcode_shared_store(void);

/* What a SASS opcode by NVBit's names accesses, such as "LDG.E.64.SYS": the op byte (LDG, STG, LDL, STL, LDS, STS, ATOM*, RED*,
 * LDGSTS, TEX, LDC and so on), the bytes per lane and the hint (stream/hint.h). Returns 0, or -1 if it is not a memory
 * instruction. */
int gt_sass_access(const char *opcode, size_t length, uint8_t *op, uint8_t *size, uint16_t *hint);

#endif
