/* SPDX-License-Identifier: MIT */
/* Records launches into a stream: for each traced one a kernel record, its accesses, and a count of the stage "ptx". Used by
 * gtrace-ptx and gtrace-record. */
#ifndef GT_PTX_RECORD_RECORDER_H
#define GT_PTX_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/record/record.h"
#include "stream/recorded.h"

/* Work of a program that was done without being traced, by the stand-ins of libraries: how often each of their calls was made
 * since the last traced launch, and the flops of those of BLAS. */

struct gt_ptx_untraced {
	struct gt_ptx_untraced_call {
		char name[GT_COUNT_NAME];
		uint64_t calls, flops;
	} *list; /* in the order of their first calls; owned */
	size_t n, capacity;
};

/* Counts a call; -1 when memory is short. */
int gt_ptx_untraced_add(struct gt_ptx_untraced *untraced, const char *name, uint64_t flops);

struct gt_ptx_recorder;

/* The writer, the module and the tracing stay the caller's. NULL on error. */
struct gt_ptx_recorder *gt_ptx_recorder_open(struct gt_writer *writer, const struct gt_ptx_tracing *tracing, struct gt_error *error);
void gt_ptx_recorder_close(struct gt_ptx_recorder *recorder);

/* Runs a launch, or skips it. Its number, from 1, is its kernel's id;
 * under replay the launch n is the kernels 2n - 1, whose name ends in " pass 1", and 2n. Of `launch`
 * the number, the kernel, the shape, the parameters, sms and prefers are the caller's to set. `registers` per thread, 0
 * if unknown: .maxnreg is taken then, or an estimate. */
int gt_ptx_record(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
		  struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, uint32_t registers,
		  struct gt_ptx_ran *ran, struct gt_error *error);

/* The record of copies into device memory; the next traced launch writes and clears it. */
struct gt_copies *gt_ptx_recorder_copies(struct gt_ptx_recorder *recorder);

/* The calls of libraries that are not traced; the next traced launch writes and clears them. */
struct gt_ptx_untraced *gt_ptx_recorder_untraced(struct gt_ptx_recorder *recorder);
/* After the last launch: whether one of this recorder was chosen, if there were any. Returns 0, or -1: --kernel matched no name, with the names, or the options
 * chose none. */
int gt_ptx_recorder_check(const struct gt_ptx_recorder *recorder, struct gt_error *error);
/* After the last launch: writes those that were made since the last one that was traced. */
int gt_ptx_recorder_finish(struct gt_ptx_recorder *recorder, struct gt_error *error);

#endif
