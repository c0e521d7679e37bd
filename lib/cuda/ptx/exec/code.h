/* SPDX-License-Identifier: MIT */
/* Decoded code: micro-ops and the tables that name their steps; the code of a function; and a program, the functions that a
 * kernel can reach. The decoder makes it, the machine executes it.
 *
 * Every operand, immediates and special registers too, is a slot in the warp's arena: 32 lanes of
 * 1, 2, 4 or 8 bytes side by side. A predicate is a slot that holds one 32-bit mask. A micro-op
 * names its slots by their offsets from the arena of the function that runs. */
#ifndef GT_PTX_CODE_H
#define GT_PTX_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/text/module.h"

#define GT_PTX_FULL	UINT32_C(0xffffffff)
#define GT_PTX_ALL_ONES 0	       /* the slot of a predicate that always holds */
#define GT_PTX_FUNCTION_BASE UINT64_C(0x204000000000) /* addresses of functions */
#define GT_PTX_FUNCTION_STEP 16

struct gt_ptx_op;
struct gt_ptx_warp;
struct gt_ptx_core;
struct gt_ptx_code;

/* Does a micro-op for the lanes in `mask` (never 0); returns the one to go on with, or NULL when
 * the warp stops: it waits, is done, or the launch failed. */
typedef const struct gt_ptx_op *gt_ptx_step(struct gt_ptx_warp *warp, const struct gt_ptx_op *op,
					    uint32_t mask);

struct gt_ptx_op {
	gt_ptx_step *run;
	union {
		uint64_t immediate;
		gt_ptx_step *inner;	       /* what `run` wraps, as a rounding does */
		struct gt_ptx_access *access;  /* memory */
		const struct gt_ptx_fetch *fetch; /* textures and surfaces */
		struct gt_ptx_call *call;
		const struct gt_ptx_switch *ways;
		const struct gt_ptx_product *product;
		const struct gt_ptx_tensor_move *move; /* of tensor memory */
		const struct gt_ptx_segment *segment; /* machine code (lib/cuda/ptx/native) */
		const struct gt_ptx_entry *entry;     /* the same, of several segments and accesses */
		const struct gt_ptx_video *video;
		struct gt_ptx_follow *follow;  /* which registers are written, with --memcheck */
		const char *text;	       /* what an unknown instruction says */
	} with;
	uint32_t d, q;	     /* slots of the results */
	uint32_t a, b, c, e; /* slots of the sources */
	uint32_t guard;	     /* slot of the predicate */
	uint8_t guarded;     /* 0: always; 1: where the guard holds; 2: where it does not */
	uint8_t counts;	     /* instructions: 1 for the first micro-op of one, else 0 */
	uint8_t choice;	     /* a rounding, a combination of predicates and so on, as `run` knows */
	uint8_t accesses;    /* it has an access */
	uint32_t line;	     /* in the PTX text */
	int32_t target;	     /* branches: micro-ops from here to the target */
	int32_t join;	     /* and to where both ways meet again; 0: at the function's end */
};

/* Rounds of an unrolled loop that stand behind each other in machine code, as seen in ptxas 11.2 to 13.0 (decode/flow.h says which loops are). */
#define GT_PTX_UNROLLED 4U

/* When a warp waits, before an access, for the data of its earlier loads. */
enum gt_ptx_wait {
	GT_PTX_WAITS_NEVER,
	GT_PTX_WAITS_ALWAYS,
	GT_PTX_WAITS_FIRST, /* in the first of the rounds of a loop that stand behind each other in machine code */
};

/* A load, store, atomic, or copy. */
struct gt_ptx_access {
	enum gt_ptx_space space;
	uint8_t action, operation; /* enum gt_action, enum gt_operator */
	bool scoped;		   /* the operator is that of a scope, which only global memory has */
	uint16_t hint;		   /* stream/hint.h */
	uint32_t policy;	   /* slot of the cache policy that says the priority in L2; 0: none */
	uint8_t size, n;	   /* bytes of an element, elements of a vector */
	bool narrow;		   /* the address slot is of 32-bit lanes */
	bool keeps;		   /* a result overwrites the address slot before it was read for the last time */
	bool in_frame;		   /* the address counts from the running function's local frame */
	bool untraced;		   /* parameters */
	uint8_t waits;		   /* when the warp needs the data of earlier loads before it: enum gt_ptx_wait */
	const struct gt_ptx_access *round; /* the first access of the unrolled loop that it is in; NULL: it is in none */
	bool remote;		   /* it may be in the shared memory of another block of the cluster */
	uint32_t address;	   /* its slot */
	int64_t offset;
	uint32_t slots[8];	   /* of the elements */
	uint32_t results[8];	   /* slots of what a vector atomic finds; 0: not wanted */
	uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c); /* atomics */
	/* The allocation that the last access fell into. */
	uint64_t low, high;
	unsigned char *host;	   /* of `low` */
	/* Lanes outside of every allocation in this launch: how many, the first, its line. */
	uint64_t outside, outside_address;
	uint32_t outside_line;
	bool told, told_unwritten; /* of the first one; of the first that nothing had written */
	bool overwrites; /* an atomic whose new value is none of the old one, which nobody reads */
};

/* Where a value passed to or from a function lies: a slot, or bytes of the local frame. */
struct gt_ptx_place {
	bool in_slot;
	uint32_t at;
	uint32_t bytes;
};

struct gt_ptx_call {
	const struct gt_ptx_function *callee; /* NULL: by the address in a slot */
	uint32_t address;
	struct gt_ptx_place *arguments, *returns;
	size_t n_arguments, n_returns;
	bool told; /* of the first that was passed over, see exec/machine.h */
	bool second_interface; /* of launches by kernels */
};

/* What is done before an instruction with registers that may not be written: decode/unset.c. A register's mask has the lanes in which
 * it is. */
enum gt_ptx_written_if { GT_PTX_NEEDS_NONE, GT_PTX_NEEDS_ONE, GT_PTX_NEEDS_ALL, GT_PTX_NEEDS_CHOSEN, GT_PTX_NEEDS_AND, GT_PTX_NEEDS_OR };
struct gt_ptx_followed {
	uint32_t written;	     /* the mask's slot */
	const char *name, *origin;   /* of the register, and of one that nothing has written, from which it comes */
	const char *decides;	     /* what its value does */
};
struct gt_ptx_followed_list {
	size_t n;
	struct gt_ptx_followed *of;
};
struct gt_ptx_follow {
	uint32_t guard;
	uint8_t guarded;
	struct gt_ptx_followed_list guards, uses, sources, results;
	enum gt_ptx_written_if need;		/* of the sources, for the results */
	uint32_t masks[3], slots[3];	/* selp, and.pred, or.pred: of each source, its mask and its slot */
	bool stores;			/* the sources, of which all may be missing */
	bool told;
};

/* A step in the place of `n` lane operations. They are the warp's alone, so that it may run ahead of its turn. */
typedef void gt_ptx_segment_code(unsigned char *arena, uint32_t mask);
struct gt_ptx_segment {
	gt_ptx_segment_code *whole, *part; /* machine code for all lanes, and for some; NULL: there is none */
	size_t n;
	struct gt_ptx_op first; /* of them, in whose place the step is */
};

/* An instruction for video: an operation of the parts of two words, each by itself, and what becomes of its results, with a third word. */
enum gt_ptx_video_operation {
	GT_PTX_VIDEO_ADD, GT_PTX_VIDEO_SUB, GT_PTX_VIDEO_DIFFERENCE, GT_PTX_VIDEO_MIN, GT_PTX_VIDEO_MAX, GT_PTX_VIDEO_AVERAGE,
	GT_PTX_VIDEO_SHL, GT_PTX_VIDEO_SHR, GT_PTX_VIDEO_MAD,
	GT_PTX_VIDEO_EQ, GT_PTX_VIDEO_NE, GT_PTX_VIDEO_LT, GT_PTX_VIDEO_LE, GT_PTX_VIDEO_GT, GT_PTX_VIDEO_GE
};
enum gt_ptx_video_end { GT_PTX_VIDEO_MERGE, GT_PTX_VIDEO_THEN_ADD, GT_PTX_VIDEO_THEN_MIN, GT_PTX_VIDEO_THEN_MAX };
#define GT_PTX_VIDEO "video of parts" /* the name of its form, which is no opcode's */
struct gt_ptx_part {
	uint8_t at, bits;
};
struct gt_ptx_video {
	enum gt_ptx_video_operation operation;
	enum gt_ptx_video_end end;
	unsigned n;
	struct gt_ptx_part a[4], b[4]; /* of the 64 bits of both sources, the first one below */
	struct gt_ptx_part d[4];       /* of the result; none where it is masked out */
	bool a_signed, b_signed, d_signed;
	bool wraps;	       /* shifts: by the lower 5 bits, else by 32 at most */
	bool saturates;
	int64_t least, most;   /* the results then */
	uint64_t turn, turn_c; /* vmad: all ones if the product, or the third word, is negated */
	unsigned one, shift;   /* vmad: what is added, and by how much its sum is shifted then */
};

/* The ways of brx.idx: micro-ops from here to each target. */
struct gt_ptx_switch {
	size_t n;
	int32_t targets[];
};

/* What every step is compiled for: any processor; on x86 also AVX2 with FMA and F16C. */
#if defined __x86_64__
enum gt_ptx_simd { GT_PTX_PLAIN, GT_PTX_AVX2, GT_PTX_VARIANTS };
#else
enum gt_ptx_simd { GT_PTX_PLAIN, GT_PTX_VARIANTS };
#endif

/* Steps that the decoder names, by what they are of. */
extern const struct gt_ptx_control_steps {
	gt_ptx_step *call, *exit, *trap, *alloca, *stack_save, *stack_restore;
} gt_ptx_control_steps;
extern const struct gt_ptx_path_steps {
	gt_ptx_step *sync, *sync_alike, *barrier_result;
} gt_ptx_path_steps;
extern const struct gt_ptx_atomic_steps {
	gt_ptx_step *one[GT_PTX_VARIANTS], *vector, *wide, *is_space;
} gt_ptx_atomic_steps;
extern const struct gt_ptx_texture_steps {
	gt_ptx_step *fetch, *load_surface, *store_surface, *query;
} gt_ptx_texture_steps;
gt_ptx_step gt_ptx_branch, gt_ptx_join, gt_ptx_branch_indexed, gt_ptx_return, gt_ptx_unknown,
	gt_ptx_do_nothing, gt_ptx_local_address, gt_ptx_follow_written, gt_ptx_poll, gt_ptx_read_special, gt_ptx_touch_lines;

/* The tables of lane operations, by an instruction's name. A new operation is a row in one of the tables. */

#define GT_PTX_SOURCES 4

/* How setp combines its result with a predicate: `choice` of the micro-op. */
enum gt_ptx_combination { GT_PTX_ALONE, GT_PTX_AND, GT_PTX_OR, GT_PTX_XOR };

struct gt_ptx_form {
	const char *name; /* opcode and modifiers, except those that every form has: "mad.lo.s32" */
	uint8_t d;	  /* enum gt_ptx_type */
	uint8_t sources[GT_PTX_SOURCES];
	gt_ptx_step *run[GT_PTX_VARIANTS];
};

struct gt_ptx_forms {
	const struct gt_ptx_form *rows;
	size_t n;
};

extern const struct gt_ptx_forms gt_ptx_integer_forms, gt_ptx_wide_forms, gt_ptx_bit_forms,
	gt_ptx_float_forms,
	gt_ptx_compare_forms, gt_ptx_convert_forms, gt_ptx_half_forms, gt_ptx_move_forms, gt_ptx_lane_forms;
#define GT_PTX_FORM_TABLES 9
extern const struct gt_ptx_forms *const gt_ptx_form_tables[GT_PTX_FORM_TABLES];

/* A form by its name, or NULL. */
const struct gt_ptx_form *gt_ptx_form_named(const char *name);

/* Runs op->with.inner under the rounding mode that op->choice names. */
gt_ptx_step gt_ptx_rounded;

/* The widest variant that this processor has instructions for, and $GTRACE_PTX_LEVEL allows. */
enum gt_ptx_simd gt_ptx_simd_variant(void);
/* Whether machine code is made beside; whether that, and products of matrices, may use AVX-512. */
bool gt_ptx_makes_native(void);
bool gt_ptx_uses_avx512(void);

/* The step of a form for this processor. */
static inline gt_ptx_step *gt_ptx_form_step(const struct gt_ptx_form *form)
{
	return form->run[gt_ptx_simd_variant()];
}

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

/* A slot of registers: a lane has a 32nd of the bytes, or, of 4 bytes, a bit. */
struct gt_ptx_slot {
	uint32_t at, bytes;
};

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
	uint32_t carry; /* the slot of CC.CF, of 32-bit lanes whose bits are all 0 or all 1; 0: no instruction has it */
	struct gt_ptx_slot *slots; /* of its registers */
	size_t n_slots;
	struct gt_ptx_slot *unset; /* of registers that some path reads and none may have written before: 0 when the function begins */
	size_t n_unset;
	struct gt_ptx_special_use *specials;
	size_t n_specials;
	uint32_t local_bytes; /* of its frame */
	bool deepens; /* it takes more while it runs: it has an alloca, or calls itself */
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
	bool deepens; /* a function does */
	uint64_t local_bytes; /* of all frames, without recursion */
	bool uses_heap, launches; /* as far as its calls say */
	bool reads_reserved; /* where the shared memory lies that CUDA reserves of a block, which it has then */
	bool joins_blocks, has_effects; /* decode/decode.h */
	bool is_unique; /* what a launch of it does depends on more than its arguments and memory */
	struct gt_ptx_program *copy; /* for another thread, and so on; NULL: there is none */
	struct gt_ptx_program *next;
};

/* Forgets the allocations that accesses fell into last: one was freed. */
void gt_ptx_forget_allocations(const struct gt_ptx_program *program, size_t n_functions);

void gt_ptx_code_free(struct gt_ptx_code *code);
void gt_ptx_program_free(struct gt_ptx_program *program, size_t n_functions);

/* The function that gives the new value of an atomic; NULL if there is no such operation. */
uint64_t (*gt_ptx_change(const struct gt_ptx_instruction *instruction,
			 enum gt_ptx_type type))(uint64_t old, uint64_t b, uint64_t c);

/* ---- variables of a block's shared memory ---- */

struct gt_ptx_shared_array {
	char name[GT_PTX_VARIABLE_NAME];
	uint64_t at, bytes;
};

/* Number i of a program's variables, in a launch with so many bytes of dynamic memory. False if it has no memory of its own: of those in
 * dynamic memory, only the first has. */
bool gt_ptx_find_shared(const struct gt_ptx_program *program, size_t i, uint64_t dynamic, struct gt_ptx_shared_array *array);

/* ---- cache policies ---- */

/* 64 bits as NVIDIA's cuda::access_property has them (cuda/__annotated_ptr/access_property_encoding.h). The first bit of each field. */
enum gt_ptx_policy_field {
	GT_PTX_POLICY_BLOCKS = 37,	  /* 7 bits: of a range, how many blocks have the primary priority, */
	GT_PTX_POLICY_START = 44,	  /* 7 bits: and the number of the first, of which this is the lower part */
	GT_PTX_POLICY_SIZE = 52,	  /* 4 bits: a block has 4096 << SIZE bytes; or SIZE + 1 of 16 lines have the primary priority */
	GT_PTX_POLICY_SECONDARY = 56,	  /* 1 bit: evict_first, else evict_unchanged */
	GT_PTX_POLICY_PRIMARY = 57,	  /* 2 bits: evict_normal, evict_first, evict_last, and evict_normal that ends persistence */
	GT_PTX_POLICY_MODE = 59,	  /* 2 bits */
	GT_PTX_POLICY_OTHER = 61,	  /* 2 bits, which are 0 */
	GT_PTX_POLICY_UNCHANGED = 63, /* 1 bit: the primary priority is evict_unchanged; NVIDIA has no such bit */
};
enum gt_ptx_policy_mode { GT_PTX_POLICY_FRACTION = 2, GT_PTX_POLICY_RANGE };

#endif
