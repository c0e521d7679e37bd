/* SPDX-License-Identifier: MIT */
/* Decoded code: the micro-ops of a function; and a program, the functions that a kernel can reach. The decoder makes
 * it, the machine executes it. */
#ifndef GT_PTX_CODE_H
#define GT_PTX_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/warp.h"

/* A special register that a function reads, and its slot. Its value in a warp is the same in all blocks that the warp runs, or
 * while it runs one; else it is read each time. */
enum gt_ptx_life { GT_PTX_OF_LAUNCH, GT_PTX_OF_BLOCK, GT_PTX_OF_MOMENT };
struct gt_ptx_special {
	const char *name;
	enum gt_ptx_type type;
	enum gt_ptx_life life;
	uint64_t (*value)(const struct gt_ptx_warp *warp, unsigned lane);
	bool by_lane; /* lanes differ */
};
struct gt_ptx_special_use {
	const struct gt_ptx_special *special;
	uint32_t slot;
};

/* The special register of that name, or NULL. */
const struct gt_ptx_special *gt_ptx_special_named(const char *name);
/* Writes its value for every lane. */
void gt_ptx_fill_special(const struct gt_ptx_warp *warp, const struct gt_ptx_special *special,
			 unsigned char *lanes);

/* A variable in a function's local frame. */
struct gt_ptx_local {
	const char *name;
	uint32_t at, bytes;
};

struct gt_ptx_code {
	const struct gt_ptx_function *function;
	struct gt_ptx_op *ops;
	size_t n_ops;
	/* The arena of a function: GT_PTX_ALL_ONES, the registers, then, at image_at, constants,
	 * special registers and temporaries as `image` has them. */
	unsigned char *image;
	uint32_t image_at, arena_bytes;
	struct gt_ptx_special_use *specials;
	size_t n_specials;
	uint32_t local_bytes; /* of its frame */
	struct gt_ptx_local *locals; /* the variables in it, by place */
	size_t n_locals;
	struct gt_ptx_place *parameters, *returns;
	size_t n_parameters, n_returns;
	unsigned char *native; /* machine code; NULL: there is none */
	size_t native_bytes;
	struct gt_ptx_segment *segments; /* in it */
	struct gt_ptx_entry *entries;	 /* of stretches of several */
	void **owned; /* accesses, calls and so on that the micro-ops refer to */
	size_t n_owned;
	struct gt_ptx_access **accesses; /* those among them */
	size_t n_accesses;
};

/* What a frame takes of local memory: with a gap, so that no variable touches one of the next function. */
static inline uint32_t gt_ptx_local_span(const struct gt_ptx_code *code)
{
	return code->n_locals ? (code->local_bytes + 16U) / 16 * 16 : 0;
}

/* Where a variable of shared memory lies. */
struct gt_ptx_shared_variable {
	const struct gt_ptx_variable *variable;
	uint64_t offset;
};

struct gt_ptx_program {
	const struct gt_ptx_function *kernel;
	struct gt_ptx_code **codes; /* by function of the module; NULL: not reached */
	struct gt_ptx_shared_variable *shared;
	size_t n_shared;
	uint64_t static_shared; /* bytes */
	uint64_t dynamic_offset; /* where dynamic shared memory begins */
	uint64_t local_bytes; /* of all frames, without recursion */
	bool uses_heap, launches; /* as far as its calls say */
	bool joins_blocks, has_effects; /* decode/decode.h */
	struct gt_ptx_program *copy; /* for another thread, and so on; NULL: there is none */
	struct gt_ptx_program *next;
};

/* A variable of the module in device memory; address 0: it is not there. */
struct gt_ptx_placed {
	uint64_t address;
};

/* What a kernel needs of an SM; computed when first asked for (launch/run.c). */
struct gt_ptx_figures {
	bool knows_shared, knows_registers;
	uint64_t static_shared;
	uint32_t registers; /* estimated */
};

struct gt_ptx_machine {
	const struct gt_ptx_module *module;
	struct gt_ptx_memory *memory;
	char *name;
	struct gt_ptx_placed *variables; /* by the module's variables */
	struct gt_ptx_program *programs;
	struct gt_ptx_figures *figures; /* by the module's functions */
	uint32_t full_registers; /* of a thread when the GPU is full of threads; 0: as the .target says */
	uint64_t launches;
	struct gt_ptx_notes *notes; /* NULL: none are taken */
};

/* Forgets the allocations that accesses fell into last: one was freed. */
void gt_ptx_forget_allocations(const struct gt_ptx_program *program, size_t n_functions);

void gt_ptx_code_free(struct gt_ptx_code *code);
void gt_ptx_program_free(struct gt_ptx_program *program, size_t n_functions);

/* The function that gives the new value of an atomic; NULL if there is no such operation. */
uint64_t (*gt_ptx_change(const struct gt_ptx_instruction *instruction,
			 enum gt_ptx_type type))(uint64_t old, uint64_t b, uint64_t c);

#endif
