/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/estimate/estimate.h"

#include <stdlib.h>

#include "base/grown.h"
#include "cuda/ptx/estimate/live.h"
#include "cuda/ptx/estimate/loop.h"
#include "cuda/ptx/estimate/order.h"

enum {
	THREAD_MOST = 255,   /* registers a thread can name */
	SM_REGISTERS = 65536, /* of an SM, and of a block, from compute capability 5.0 on */
	UNIT = 8,	     /* a warp's are given out in so many a thread */
	WARP = 32,
	RESERVED = 3,	  /* R1, the stack pointer, and two that the assembler adds from compute capability 7.0 on */
	CALLS_DEPTH = 64, /* deeper calls count as those of a function that is not in the module */
};

/* 32-bit registers that hold something at a time. */
struct needs {
	uint32_t as_written; /* in the PTX's order */
	uint32_t early;	     /* with loads as early as they can be, and loops unrolled */
};

enum progress { UNKNOWN, BEGUN, KNOWN };

struct estimate {
	const struct gt_ptx_module *module;
	uint32_t target; /* registers that the assembler keeps below if it can */
	struct callee {
		enum progress progress;
		uint32_t words;
	} *callees; /* by function of the module */
	unsigned depth;
	struct gt_error *error;
};

/* One function's parts. */
struct parts {
	struct gt_ptx_flow flow;
	struct gt_ptx_registers registers;
	struct gt_ptx_steps steps;
	struct gt_ptx_live live;
	struct gt_ptx_renamed block;
	uint32_t *order;
	size_t capacity;
};

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t settle(struct needs needs, uint32_t target)
{
	return smaller(needs.early, larger(needs.as_written, target));
}

static int count_block(struct parts *parts, size_t b, unsigned copies, struct needs *needs, struct gt_error *error)
{
	struct gt_ptx_renamed *block = &parts->block;

	gt_ptx_rename(block, &parts->live, b, copies);
	uint32_t *grown = block->failed ? NULL
					: gt_grown_to(parts->order, block->n + 1, &parts->capacity, sizeof *grown);
	if (!grown)
		return gt_fail_memory(error, "an estimate of registers");
	parts->order = grown;
	if (gt_ptx_order(block, parts->order, error) != 0)
		return -1;
	needs->as_written = larger(needs->as_written, gt_ptx_words_live(block, NULL, true));
	needs->early = larger(needs->early, gt_ptx_words_live(block, parts->order, false));
	return 0;
}

static int count_function(struct estimate *estimate, const struct gt_ptx_function *function, struct needs *needs);

/* The registers of the functions that it calls. */
static int count_callees(struct estimate *estimate, struct gt_ptx_steps *steps)
{
	for (size_t i = 0; i < steps->n; i++) {
		const struct gt_ptx_function *function =
			steps->list[i].callee ? gt_ptx_function_body(estimate->module, steps->list[i].callee) : NULL;
		if (!function || estimate->depth == CALLS_DEPTH)
			continue;
		struct callee *callee = &estimate->callees[function - estimate->module->functions];
		struct needs needs = {0};
		if (callee->progress == BEGUN) /* it calls itself */
			continue;
		if (callee->progress == UNKNOWN) {
			callee->progress = BEGUN;
			estimate->depth++;
			if (count_function(estimate, function, &needs) != 0)
				return -1;
			estimate->depth--;
			callee->words = settle(needs, estimate->target);
			callee->progress = KNOWN;
		}
		steps->list[i].scratch = callee->words;
	}
	return 0;
}

static int count_parts(struct estimate *estimate, const struct gt_ptx_function *function, struct parts *parts,
		       struct needs *needs)
{
	struct gt_error *error = estimate->error;

	if (gt_ptx_registers_make(&parts->registers, function, &parts->flow, error) != 0 ||
	    gt_ptx_steps_make(&parts->steps, function, &parts->flow, &parts->registers, error) != 0 ||
	    count_callees(estimate, &parts->steps) != 0 ||
	    gt_ptx_live_make(&parts->live, &parts->steps, &parts->flow, error) != 0 ||
	    gt_ptx_renamed_open(&parts->block, &parts->steps, error) != 0)
		return -1;
	if (!parts->live.sets)
		*needs = (struct needs){THREAD_MOST, THREAD_MOST};
	for (size_t b = 0; parts->live.sets && b < parts->flow.n_blocks; b++) {
		unsigned copies = gt_ptx_loop_copies(&parts->steps, &parts->flow, b);
		if (count_block(parts, b, copies, needs, error) != 0)
			return -1;
	}
	return 0;
}

static int count_function(struct estimate *estimate, const struct gt_ptx_function *function, struct needs *needs)
{
	struct parts parts = {0};
	int result = gt_ptx_flow_make(&parts.flow, function, estimate->error);

	if (result == 0)
		result = count_parts(estimate, function, &parts, needs);
	free(parts.order);
	gt_ptx_renamed_close(&parts.block);
	gt_ptx_live_free(&parts.live);
	gt_ptx_steps_free(&parts.steps);
	gt_ptx_registers_free(&parts.registers);
	gt_ptx_flow_free(&parts.flow);
	return result;
}

/* 65536 registers by the threads of an SM (NVIDIA, CUDA C programming guide, technical specifications per compute
 * capability): 1024 in 7.5; 1536 in 8.6 to 8.9 and from 11.0 on; else 2048. */
static uint32_t full_of(unsigned target)
{
	uint32_t threads = target == 75 ? 1024 : (target >= 86 && target < 90) || target >= 110 ? 1536 : 2048;

	return SM_REGISTERS / threads / UNIT * UNIT;
}

/* The most registers that let the blocks of .minnctapersm, of .maxntid threads each, be resident. */
static uint32_t most_registers(const struct gt_ptx_function *kernel)
{
	const uint32_t *bound = kernel->required_threads[0] ? kernel->required_threads : kernel->max_threads;
	uint64_t threads = 1;

	for (int k = 0; k < 3; k++)
		threads *= bound[k] ? bound[k] : 1;
	uint64_t warps = (threads + WARP - 1) / WARP * (kernel->min_blocks ? kernel->min_blocks : 1);
	uint64_t most = bound[0] ? SM_REGISTERS / WARP / warps / UNIT * UNIT : THREAD_MOST;
	return most < UNIT ? UNIT : most < THREAD_MOST ? (uint32_t)most : THREAD_MOST;
}

int gt_ptx_estimate_registers(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, uint32_t full,
			      uint32_t *registers, struct gt_error *error)
{
	uint32_t most = most_registers(kernel);
	uint32_t target = kernel->min_blocks ? most : smaller(most, full ? full : full_of(module->target));
	struct estimate estimate = {
		.module = module, .target = target > RESERVED ? target - RESERVED : 0, .error = error};
	struct needs needs = {0};

	estimate.callees = calloc(module->n_functions + 1, sizeof *estimate.callees);
	int result = estimate.callees ? count_function(&estimate, kernel, &needs)
				      : gt_fail_memory(error, "an estimate of registers");
	free(estimate.callees);
	/* Pairs for 64-bit values begin at even registers, and the count ends with one. */
	uint32_t words = (settle(needs, estimate.target) + RESERVED + 1) / 2 * 2;
	*registers = smaller(words, most);
	return result;
}
