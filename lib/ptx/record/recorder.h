/* SPDX-License-Identifier: MIT */
/* Launches into a stream: of each that is traced a kernel record, its accesses, and a count of the
 * stage "ptx". What gtrace-ptx and gtrace-record share. */
#ifndef GT_PTX_RECORDER_H
#define GT_PTX_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/regex.h"
#include "ptx/exec/machine.h"
#include "ptx/record/copies.h"
#include "stream/stream.h"

#define GT_PTX_LAUNCHES 65536 /* numbers that --launches may name, 0 among them */

/* What is traced of the launches, and how. */
struct gt_ptx_tracing {
	uint32_t spaces;	/* bit (1 << enum gt_space) */
	struct gt_regex *kernel; /* names to match; NULL: all. Owned. */
	unsigned char *launches; /* of GT_PTX_LAUNCHES: those to trace, from 1; NULL: all. Owned. */
	uint64_t blocks;	 /* the first so many of each */
	bool skip_untraced;	 /* the rest is not executed */
	bool replay;		 /* each launch runs twice, as under a profiler: what replay.h says */
	bool unordered;		 /* rows as the warps ran; else by block, an, warp */
	uint64_t memory;	 /* bytes to put a block in order */
	enum gt_ptx_check check;
	uint64_t max_instructions; /* of a launch; 0: no limit */
};

/* Global and local accesses of everything. */
void gt_ptx_tracing_begin(struct gt_ptx_tracing *tracing);
void gt_ptx_tracing_clear(struct gt_ptx_tracing *tracing);
/* "global,shared" and so on. */
int gt_ptx_tracing_spaces(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error);
/* "1,3-5". */
int gt_ptx_tracing_launches(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error);
/* "fault", "list" or "no". */
int gt_ptx_tracing_check(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error);
/* What an option of gtrace-ptx(1) says: its name without dashes, and its value if it takes one. */
int gt_ptx_tracing_set(struct gt_ptx_tracing *tracing, const char *option, const char *value, struct gt_error *error);

struct gt_ptx_recorder;

/* The writer, the module and the tracing stay the caller's. NULL on error. */
struct gt_ptx_recorder *gt_ptx_recorder_open(struct gt_writer *writer, const struct gt_ptx_tracing *tracing,
					     struct gt_error *error);
void gt_ptx_recorder_close(struct gt_ptx_recorder *recorder);

/* Runs the next launch, or skips it; the first has number 1, which is its kernel's id;
 * under replay the launch n is the kernels 2n - 1, whose name ends in " pass 1", and 2n. Of `launch`
 * the kernel, the shape, the parameters, sms and prefers are the caller's to set. `registers` per thread, 0
 * if unknown: .maxnreg is taken then, or an estimate. */
int gt_ptx_record(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
		  struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, uint32_t registers,
		  struct gt_ptx_ran *ran, struct gt_error *error);

/* Where copies into device memory are noted; the next traced launch tells and forgets them. */
struct gt_ptx_copies *gt_ptx_recorder_copies(struct gt_ptx_recorder *recorder);

/* Launches traced so far. */
uint64_t gt_ptx_recorder_traced(const struct gt_ptx_recorder *recorder);

/* What a kernel is called in the stream: its plain name if only one of the module has it, else its
 * full one. Returns where it begins, and its length. */
const char *gt_ptx_shown_name(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, size_t *length);

/* Registers per thread: those given, or .maxnreg, or an estimate. */
int gt_ptx_registers(const struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, uint32_t given,
		     uint32_t *registers, bool *estimated, struct gt_error *error);

/* A line for each kernel: "NAME(TYPE, ...)", line, registers, shared bytes, the name in the file. */
int gt_ptx_list(const struct gt_ptx_module *module, const struct gt_ptx_machine *machine, uint32_t registers, FILE *to,
		struct gt_error *error);

#endif
