/* SPDX-License-Identifier: MIT */
/* What the decoders of instructions share: operands become slots of the warp's arena, instructions micro-ops. */
#ifndef GT_PTX_DECODE_DECODER_H
#define GT_PTX_DECODE_DECODER_H

#include "base/map.h"
#include "cuda/ptx/decode/flow.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/matrix.h"
#include "stream/op.h"

#define GT_PTX_NAME 128 /* bytes of a form's name */

struct gt_ptx_decoder {
	const struct gt_ptx_machine *machine;
	const struct gt_ptx_program *program;
	const struct gt_ptx_function *function;
	struct gt_ptx_code *code;
	struct gt_ptx_flow flow;
	struct gt_ptx_registers registers;
	size_t n_followed; /* of them */
	struct gt_map frame; /* a name's address -> offset in the local frame */
	unsigned char *waits;	/* by instruction: gt_ptx_find_waits */
	bool *unrolled;		/* by block: gt_ptx_find_unrolled */
	bool in_unrolled;	/* the block that is being decoded is an unrolled loop */
	const struct gt_ptx_access *round; /* its first access that goes to memory; NULL: none yet */
	size_t *starts; /* first micro-op of each block; one more for the end */
	size_t ops_capacity, owned_capacity, specials_capacity, image_capacity, locals_capacity;
	uint32_t image_bytes;
	struct gt_map constants[4]; /* of 1, 2, 4 and 8 bytes: their bits -> slot */
	struct gt_ptx_temporary {
		uint32_t slot, bytes;
		size_t taken; /* index of the instruction that uses it, + 1 */
	} * temporaries;
	size_t n_temporaries, temporaries_capacity;
	/* The instruction that is being decoded. */
	const struct gt_ptx_instruction *instruction;
	size_t at; /* its index */
	uint32_t guard;
	uint8_t guarded;
	bool first; /* no micro-op of it has been emitted yet */
	struct gt_error *error;
};

/* ---- micro-ops, and the slots that they name ---- */

/* Appends a micro-op for the instruction; NULL when memory is short. */
struct gt_ptx_op *gt_ptx_emit(struct gt_ptx_decoder *decoder, gt_ptx_step *run);
/* Appends a micro-op of the named form, with up to three sources. */
struct gt_ptx_op *gt_ptx_emit_form(struct gt_ptx_decoder *decoder, const char *name, uint32_t d, uint32_t a,
				   uint32_t b, uint32_t c);
/* Appends a micro-op that does nothing. Returns 0, or -1. */
int gt_ptx_emit_nothing(struct gt_ptx_decoder *decoder);
/* Appends a micro-op that fails with this message when it is executed. */
int gt_ptx_emit_unknown(struct gt_ptx_decoder *decoder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Slots of a constant, a temporary, a special register: 0 when memory is short. A temporary is the instruction's
 * alone; a special register that changes while a warp runs is read into its slot each time. */
uint32_t gt_ptx_constant_slot(struct gt_ptx_decoder *decoder, uint64_t bits, unsigned size);
uint32_t gt_ptx_temporary_slot(struct gt_ptx_decoder *decoder, enum gt_ptx_type type);
/* The slot of CC.CF, which all instructions of a function have in common; 0 when memory is short. */
uint32_t gt_ptx_carry_slot(struct gt_ptx_decoder *decoder);

/* Whether an operand is a number, or a register that only a mov of one writes. */
bool gt_ptx_is_number(const struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand);
/* The slot that holds an operand's value, converted to the type; 0 on error. */
uint32_t gt_ptx_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
		       enum gt_ptx_type type);
/* The slot of a register of 128 bits, which has the lanes of its lower half, and GT_PTX_WIDE_HALF bytes behind those of its upper; 0 if
 * the operand is none, which is an error. */
#define GT_PTX_WIDE_HALF (GT_WARP_SIZE * 8)
uint32_t gt_ptx_wide_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand);
/* The slot to write a result of that type to. If the register is wider, this is a temporary, and gt_ptx_finish_result
 * widens it into the register afterwards. */
struct gt_ptx_result {
	uint32_t slot;
	const struct gt_ptx_register *wider;
	enum gt_ptx_type type;
};
int gt_ptx_result_slot(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, enum gt_ptx_type type,
		  struct gt_ptx_result *result);
int gt_ptx_finish_result(struct gt_ptx_decoder *decoder, const struct gt_ptx_result *result);

/* With --memcheck: finds the registers that may not be written where they are read, and sets their origin; returns how many there are.
 * Appends what is done with them before the instruction. */
size_t gt_ptx_unset_find(struct gt_ptx_registers *registers);
int gt_ptx_unset_emit(struct gt_ptx_decoder *decoder);

/* Zeroed memory for what a micro-op points to; freed with the code. NULL when memory is short. */
void *gt_ptx_own(struct gt_ptx_decoder *decoder, size_t bytes);

/* ---- accesses: modifiers, cache policies, addresses. Every modifier of the PTX ISA is modelled, or ignored and named, or its
 * instruction is refused by name. ---- */

/* Refuses the instruction: "'st.async.b32' WHY". Returns 0, or -1 when memory is short. */
int gt_ptx_refuse(struct gt_ptx_decoder *decoder, const char *why);

/* An access with what the modifiers give. Returns 0; 1 if a modifier is not modelled, and the instruction
 * has been refused; or -1. The code owns the access. */
int gt_ptx_new_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, enum gt_ptx_type *type);
/* What a decoder returns then: 0 if the instruction was refused, -1 if it failed. */
int gt_ptx_refused(int result);
/* An access to shared memory of so many bytes a lane, whose address is still to be set. */
struct gt_ptx_access gt_ptx_shared_access(enum gt_action action, uint8_t size);

/* Reads the address: a register's lanes and an offset, or the constant address of a symbol. Returns 0, or -1. */
int gt_ptx_read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand);

/* Fills slots with those of `n` operands. results: room for as many, which the caller finishes; NULL: sources.
 * Returns 0, or -1. */
int gt_ptx_read_registers(struct gt_ptx_decoder *decoder, uint32_t *slots, const struct gt_ptx_operand *operands, size_t n,
			  enum gt_ptx_type type, struct gt_ptx_result *results);

/* Appends a micro-op that does the access; NULL when memory is short. */
struct gt_ptx_op *gt_ptx_emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run);

/* ---- the decoders: each file decode_FAMILY.c has a table of its own, by opcode ---- */

/* Returns 0, or -1. */
typedef int gt_ptx_decode_one(struct gt_ptx_decoder *decoder);
/* NULL: a lane operation, which GT_PTX_OP_OTHER of the lanes decodes by its name. */
extern gt_ptx_decode_one *const gt_ptx_decode_control[GT_PTX_OP_COUNT], *const gt_ptx_decode_lanes[GT_PTX_OP_COUNT],
	*const gt_ptx_decode_matrix[GT_PTX_OP_COUNT], *const gt_ptx_decode_memory[GT_PTX_OP_COUNT],
	*const gt_ptx_decode_tensor[GT_PTX_OP_COUNT], *const gt_ptx_decode_texture[GT_PTX_OP_COUNT];

/* The kind of product that is written; GT_PTX_TENSOR_KINDS: none. */
enum gt_ptx_tensor_kind gt_ptx_kind_of(const struct gt_ptx_instruction *instruction);
/* How many successive elements have a scale in common in a product of that kind; 0: the instruction asks for no scales, or for other ones
 * than the kind has. */
uint8_t gt_ptx_scaled_of(const struct gt_ptx_instruction *instruction, enum gt_ptx_tensor_kind kind);

/* True if the instruction has the modifier. */
static inline bool gt_ptx_says(const struct gt_ptx_decoder *decoder, const char *modifier)
{
	return gt_ptx_has(decoder->instruction, modifier);
}

#endif
