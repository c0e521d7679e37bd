/* SPDX-License-Identifier: MIT */
/* The op byte of a row: what is done (bits 0-1), in which space (bits 2-4), and with which cache
 * operator (bits 5-7, the PTX names). Zero is a plain global load. */
#ifndef GT_STREAM_OP_H
#define GT_STREAM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/public.h"

GT_PUBLIC_BEGIN

enum gt_action { GT_LOAD, GT_STORE, GT_ATOMIC, GT_REDUCTION };
enum gt_space { GT_GLOBAL, GT_LOCAL, GT_SHARED, GT_TEXTURE, GT_CONSTANT, GT_SPACES };
enum gt_operator { GT_OPERATOR_NONE, GT_CA, GT_CG, GT_CS, GT_CV, GT_NC, GT_LU, GT_OPERATORS };

#define GT_OP_TEXT 32 /* bytes that hold any op's text form */

static inline uint8_t gt_op(enum gt_action action, enum gt_space space, enum gt_operator operation)
{
	return (uint8_t)((unsigned)action | (unsigned)space << 2 | (unsigned)operation << 5);
}

static inline enum gt_action gt_op_action(uint8_t op) { return (enum gt_action)(op & 3); }
static inline enum gt_space gt_op_space(uint8_t op) { return (enum gt_space)(op >> 2 & 7); }
static inline enum gt_operator gt_op_operator(uint8_t op) { return (enum gt_operator)(op >> 5); }

/* False for op bytes that name no space or no cache operator. */
bool gt_op_valid(uint8_t op);

/* "load.global", "store.local", "atomic.global", "load.global.cg" and so on; into at least
 * GT_OP_TEXT bytes; returns the buffer. */
const char *gt_op_format(uint8_t op, char *buffer);

/* The inverse, for text of known length. Returns 0, or -1 if the text names no op. */
int gt_op_parse(const char *text, uint8_t *op);

GT_PUBLIC_END

#endif
