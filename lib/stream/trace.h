/* SPDX-License-Identifier: MIT */
/* What producers of traces call. An importer or the PTX machine says each launch and each access, in the order in which it finds
 * them (struct gt_trace); what has put them in order gives launches, rows and counts, which a stream's writer takes (struct
 * gt_output, gt_writer_output). */
#ifndef GT_STREAM_TRACE_H
#define GT_STREAM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"

GT_PUBLIC_BEGIN

/* ---- accesses, before they are ordered ---- */

/* The id of a launch whose source gives it none: the next free one, from 1. */
#define GT_KERNEL_NEXT UINT64_MAX

/* How an access is numbered. */
enum gt_numbering {
	GT_AN_GIVEN,	 /* by `an` */
	GT_AN_OF_WARP,	 /* the next ordinal of its (block, warp) */
	GT_AN_OF_THREAD, /* the next ordinal of its (block, thread); mask has one lane */
};

struct gt_trace_access {
	uint32_t block; /* linear */
	uint16_t warp;
	enum gt_numbering numbering;
	uint32_t an;
	uint32_t pc;
	uint8_t op;
	uint8_t size;
	uint16_t hint; /* stream/hint.h */
	uint32_t mask;
	const uint64_t *addresses; /* popcount(mask), lowest lane first; NULL: use base and stride */
	uint64_t base;		   /* of the lowest active lane */
	int64_t stride;		   /* from lane to lane, as in struct gt_rows */
	bool scheduled;		   /* the source gives the SM: */
	uint16_t sm;
	bool has_work;		   /* the source gives, if the trace wants it: */
	uint32_t work;		   /* stream/hint.h, too; */
	uint32_t shared;	   /* the same, 0 if the source does not give it */
};

/* The calls that an importer makes. Each returns 0, or -1 with an error, which the importer returns; if it has
 * no file and line, gt_input_fail puts them before the text. */
struct gt_trace {
	void *context;
	/* A launch begins, or an earlier one of the same id goes on. */
	int (*kernel)(void *context, const struct gt_kernel *kernel, struct gt_error *error);
	int (*access)(void *context, const struct gt_trace_access *access, struct gt_error *error);
	/* Records of a kind that is skipped on purpose, such as "TMA instructions". Each kind is reported once,
	 * with its total, on stderr and in a count. */
	int (*passed_over)(void *context, const char *what, uint64_t number, struct gt_error *error);
	/* The source line of an instruction of the current launch; NULL: not wanted. The first of a pc counts. */
	int (*line)(void *context, uint32_t pc, uint64_t line, struct gt_error *error);
	/* The ids of launches that begin from now on have nothing to do with those before: none of these goes on. May be NULL. */
	void (*new_ids)(void *context);
	/* The program wrote this range of device memory before the launch that begins next. May be NULL. */
	void (*copy)(void *context, uint64_t address, uint64_t bytes);
	/* The source has this block of the current launch, with accesses or without; a source that says so of one does of each. May
	 * be NULL. */
	int (*block)(void *context, uint32_t block, struct gt_error *error);
	/* Blocks of the current launch that have no accesses made none. May be NULL. */
	void (*whole)(void *context);
	/* Accesses are to say what the warp did before them. */
	bool wants_work;
	unsigned jobs; /* threads that the source may read in, if it can: 0 or 1 is one; calls are made one at a time, in order */
};

/* ---- launches, their rows, and counts ---- */

/* The calls return 0, or -1 with the error set. */
struct gt_output {
	int (*kernel)(void *context, const struct gt_kernel *kernel, struct gt_error *error);
	int (*count)(void *context, const struct gt_count *count, struct gt_error *error);
	void *context;	     /* of both */
	struct gt_sink rows; /* with a context of its own */
};

/* Writes a count, and clears it. */
static inline int gt_output_count(const struct gt_output *output, struct gt_count *count, struct gt_error *error)
{
	int result = output->count(output->context, count, error);

	gt_count_clear(count);
	return result;
}

GT_PUBLIC_END

#endif
