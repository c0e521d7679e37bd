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

/* Bytes per lane from a SASS opcode, such as 8 for "LDG.E.64.SYS" by NVBit's names: the
 * width suffix, else 4. */
uint8_t gt_sass_size(const char *opcode, size_t length);
/* The hint of a SASS opcode (stream/hint.h), from its suffixes EF, EL, EU, NA, LTC64B and so on, and of
 * CCTL.PF1, PF2, DML2 and RML2. */
uint16_t gt_sass_hint(const char *opcode, size_t length);
/* The op byte from a SASS opcode: LDG, STG, LDL, STL, LDS, STS, ATOM*, RED*, LDGSTS, TEX, LDC and
 * so on. Returns 0, or -1 if it is not a memory instruction. */
int gt_sass_op(const char *opcode, size_t length, uint8_t *op);

#endif
