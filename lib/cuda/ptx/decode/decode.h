/* SPDX-License-Identifier: MIT */
/* What the parts of the decoder share. Operands become slots of the warp's arena, instructions micro-ops. */
#ifndef GT_PTX_DECODE_DECODE_H
#define GT_PTX_DECODE_DECODE_H

#include "base/map.h"
#include "cuda/ptx/decode/registers.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/forms.h"

#define GT_PTX_NAME 128 /* bytes of a form's name */

struct gt_ptx_decoder {
	const struct gt_ptx_machine *machine;
	const struct gt_ptx_program *program;
	const struct gt_ptx_function *function;
	struct gt_ptx_code *code;
	struct gt_ptx_flow flow;
	struct gt_ptx_registers registers;
	struct gt_map frame; /* a name's address -> offset in the local frame */
	bool *waits;	/* by instruction: gt_ptx_find_waits */
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

/* Decodes one function of a program. NULL on error. */
struct gt_ptx_code *gt_ptx_decode(const struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
				  const struct gt_ptx_function *function, struct gt_error *error);

/* ---- whether the blocks of a kernel can run at the same time with the result of one after the other ---- */

/* Whether an instruction has a result, or an effect, that depends on which blocks have run: an atomic, an access or a fence
 * that orders blocks, a tensor map that is changed. Of shared and local memory none has. */
bool gt_ptx_joins_blocks(const struct gt_ptx_instruction *instruction);
/* Whether it is one of these, and brings a value to a register: a load or an atomic that a loop may wait with. */
bool gt_ptx_polls(const struct gt_ptx_instruction *instruction);
/* Whether it may leave something behind when its block has ended: a store, an atomic, what a call does. */
bool gt_ptx_has_effect(const struct gt_ptx_instruction *instruction);

/* ---- operands.c: micro-ops, and the slots that they name ---- */

/* Appends a micro-op for the instruction; NULL when memory is short. */
struct gt_ptx_op *gt_ptx_emit(struct gt_ptx_decoder *decoder, gt_ptx_step *run);
/* Appends a micro-op of the named form, with up to three sources. */
struct gt_ptx_op *gt_ptx_emit_form(struct gt_ptx_decoder *decoder, const char *name, uint32_t d, uint32_t a,
				   uint32_t b, uint32_t c);
/* Appends a micro-op that fails with this message when it is executed. */
int gt_ptx_emit_unknown(struct gt_ptx_decoder *decoder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Slots of a constant, a temporary, a special register: 0 when memory is short. A temporary is the instruction's
 * alone; a special register that changes while a warp runs is read into its slot each time. */
uint32_t gt_ptx_constant_slot(struct gt_ptx_decoder *decoder, uint64_t bits, unsigned size);
uint32_t gt_ptx_temporary_slot(struct gt_ptx_decoder *decoder, enum gt_ptx_type type);

/* The elements of a vector, or the one operand. */
const struct gt_ptx_operand *gt_ptx_elements(const struct gt_ptx_operand *operand, size_t *n);

/* The slot that holds an operand's value, converted to the type; 0 on error. */
uint32_t gt_ptx_source(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand,
		       enum gt_ptx_type type);
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

/* Where the symbol of a name is in memory, and its address there. */
enum gt_ptx_symbol_kind {
	GT_PTX_NO_SYMBOL,
	GT_PTX_IN_FRAME,
	GT_PTX_IN_PARAMETERS,
	GT_PTX_IN_SHARED,
	GT_PTX_IN_DEVICE,
	GT_PTX_IS_FUNCTION
};
enum gt_ptx_symbol_kind gt_ptx_symbol_of(const struct gt_ptx_decoder *decoder, const char *name,
					 uint64_t *address);

/* Zeroed memory for what a micro-op points to; freed with the code. NULL when memory is short. */
void *gt_ptx_own(struct gt_ptx_decoder *decoder, size_t bytes);

/* An instruction's name as forms have it, and the modifiers that are not part of a form's name. */
struct gt_ptx_words {
	char name[GT_PTX_NAME];
	bool ftz, sat, relu, integral;
	enum gt_ptx_type type; /* the last one in the modifiers */
	enum gt_ptx_type first_type;
	uint8_t rounding;
};

/* The decoders that the table of opcodes names, gt_ptx_decode_ld and so on. They return 0, or -1. */
typedef int gt_ptx_decode_one(struct gt_ptx_decoder *decoder);
#define GT_PTX_DECODER(IDENTIFIER, name, results, ending, access, decoder, folding) \
	gt_ptx_decode_one gt_ptx_decode_##decoder;
GT_PTX_OPCODES(GT_PTX_DECODER)
#undef GT_PTX_DECODER
gt_ptx_decode_one gt_ptx_decode_bar_warp; /* bar.warp */

/* True if the instruction has the modifier. */
static inline bool gt_ptx_says(const struct gt_ptx_decoder *decoder, const char *modifier)
{
	return gt_ptx_has(decoder->instruction, modifier);
}

#endif
