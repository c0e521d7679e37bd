/* SPDX-License-Identifier: MIT */
/* The codes of a row that say what an access does and what became of it: its op byte, and the status that a cache level gives it
 * (gtrace(5)). What it asks of the caches besides is in stream/hint.h. */
#ifndef GT_STREAM_OP_H
#define GT_STREAM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

GT_PUBLIC_BEGIN

/* The op: what is done (bits 0-1), in which space (bits 2-4), and with which cache operator (bits 5-7, the PTX names).
 * Zero is a plain global load. */

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

/* A load of constant memory, which has a cache of its own. */
static inline bool gt_op_is_constant(uint8_t op) { return (op & 0x1f) == (GT_LOAD | GT_CONSTANT << 2); }

/* False for op bytes that name no space or no cache operator. */
bool gt_op_valid(uint8_t op);

/* "load.global", "store.local", "atomic.global", "load.global.cg" and so on; into at least
 * GT_OP_TEXT bytes; returns the buffer. */
const char *gt_op_format(uint8_t op, char *buffer);

/* The inverse, for text of known length. Returns 0, or -1 if the text names no op. */
int gt_op_parse(const char *text, uint8_t *op);

/* ---- the status: the outcome of a request at a cache level, the column `status` of gtrace(5) ---- */

enum gt_status {
	GT_STATUS_NONE,		    /* it was not looked up: it bypassed the level */
	GT_STATUS_HIT,		    /* every sector was there */
	GT_STATUS_MISS,		    /* some sector was not */
	GT_STATUS_RESERVATION_FAIL, /* no MSHR was left: it is tried again ([000] 4.4.2) */
	GT_STATUS_MERGED,	    /* it joined a miss in flight, whose MSHR it shares ([000] 4.4.2) */
	GT_STATUS_LATENCY_MISS,	    /* its line was in flight ([002] 4.2) */
	GT_STATUS_TLB_HIT,	    /* a TLB translated it: no further one looks it up */
	GT_STATUS_TLB_MISS,	    /* no TLB has translated it yet */
	GT_STATUSES
};
extern const char *const gt_status_names[GT_STATUSES];

/* The inverse of the names. Returns 0, or -1 if the text is none of them. */
int gt_status_parse(const char *text, uint8_t *status);

GT_PUBLIC_END

#endif
