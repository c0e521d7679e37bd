/* SPDX-License-Identifier: MIT */
/* Lane operations that follow each other, as one step: a segment. On processors with AVX2 or AVX-512 it is machine code, which
 * keeps values between them in vector registers, in a loop over parts of the warp: 16 lanes each with AVX-512, 8 with AVX2. On others it does
 * one operation after the other, so that warps take the same turns on all. */
#ifndef GT_PTX_NATIVE_SEGMENT_H
#define GT_PTX_NATIVE_SEGMENT_H

#include "cuda/ptx/exec/code.h"
#include "stream/rows.h"
#include "cuda/ptx/native/encode.h"

/* What is known of slots. */
struct gt_native_known {
	/* Of registers, which are read behind a block: sets, `stride` words apart, in which bit i stands for slots[i]; NULL: all may be. */
	const uint64_t *sets;
	size_t stride, n;
	const uint32_t *slots;
	/* By GT_NATIVE_UNIT bytes of the image of a function: whether a constant is there. */
	const bool *constant;
};
#define GT_NATIVE_UNIT 128 /* a slot of 32-bit lanes */

/* Replaces segments of a function that has been decoded. starts[0] to starts[n] are the operations that may be jumped to, where
 * blocks begin. Where machine code is forbidden there is none. */
int gt_ptx_native_make(struct gt_ptx_code *code, const size_t *starts, size_t n, const struct gt_native_known *known,
		       struct gt_error *error);

/* Up to where values are needed, so that those that are not need not be stored. */

struct gt_native_needs {
	const struct gt_ptx_code *code;
	const struct gt_native_known *known;
	/* By GT_NATIVE_UNIT bytes of the arena: 1 + the last operation of the block that names a slot there; and, if one is needed
	 * behind the block, 1 + the block's number. */
	size_t *named, *kept;
	size_t block;
	size_t others; /* 1 + the last operation of the block that may name any slot */
};

/* Goes to a block: the operations from `first` to before `end`. */
void gt_native_needs_block(struct gt_native_needs *needs, size_t block, size_t first, size_t end);
/* Whether a slot of 32-bit lanes is a constant. */
static inline bool gt_native_is_constant(const struct gt_native_needs *needs, uint32_t slot)
{
	const uint32_t image_at = needs->code->image_at;

	return slot >= image_at && needs->known->constant[(slot - image_at) / GT_NATIVE_UNIT];
}

/* Lane operations that have machine code: how each is made of vector instructions. */

/* x, y and z are the sources, d the result; the opcode is that of the rule. */
enum gt_native_kind {
	GT_NATIVE_BINARY,  /* d = x OP y */
	GT_NATIVE_UNARY,   /* d = OP x */
	GT_NATIVE_SHIFT,   /* d = x OP y, of 64 bits, with a count of 32 */
	GT_NATIVE_MOVE,
	GT_NATIVE_NOT,
	GT_NATIVE_NEGATE,  /* d = 0 OP x */
	GT_NATIVE_SIGN,    /* d = x OP its sign bit */
	GT_NATIVE_RECIPROCAL,
	GT_NATIVE_MULTIPLY_ADD, /* d = (x OP y) + z, of integers */
	GT_NATIVE_FUSED,   /* d = x * y + z, of floats */
	GT_NATIVE_COMPARE, /* a predicate; `immediate` says which comparison */
	GT_NATIVE_SELECT,  /* d = predicate ? x : y */
	GT_NATIVE_LOGIC,   /* of predicates */
	GT_NATIVE_WIDEN,   /* 64 bits of 32 */
	GT_NATIVE_NARROW,
	GT_NATIVE_PART,	   /* the lower or upper 32 bits of 64 */
	GT_NATIVE_JOIN,	   /* x, and the bits of y as its lower or upper 32 */
	GT_NATIVE_NARROW_FLOAT, /* 32 bits of a double: a float, or an integer, which NaN and what is too small make the least */
	GT_NATIVE_ROUND,   /* to an integer of the same type */
	GT_NATIVE_TRUNCATE, /* an integer of a float; what is too large becomes the largest, NaN becomes 0 */
	GT_NATIVE_TRUNCATE_UNSIGNED,
	GT_NATIVE_WIDE_PRODUCT, /* 64 bits of two of 32, each widened first by opcode `immediate` */
	GT_NATIVE_WIDE_MULTIPLY_ADD,
	GT_NATIVE_HIGH,	   /* the upper 32 bits of the product of two of 32 */
	GT_NATIVE_DIVIDE,  /* quotient or remainder of integers, as `immediate` says */
	GT_NATIVE_EXTREME, /* the lesser or the greater of two floats: -0 is less than 0, and a number goes before NaN */
	GT_NATIVE_FLUSH,   /* a denormal number becomes 0 with its sign */
	GT_NATIVE_EXTEND,  /* 32 bits of 16 or 8, or floats of such integers; `immediate`: 16 bits of 8 */
	GT_NATIVE_CUT,	   /* 16 bits of 32, or 8 of 16 or 32 */
	GT_NATIVE_PUT,	   /* x, and the 16 bits of y as its lower or upper ones */
	GT_NATIVE_HALF_FLOAT, /* floats of 16 bits of floats of 32 */
	GT_NATIVE_HALF_SHIFT, /* of 16 bits, with a count of 32 */
	GT_NATIVE_CARRIED, /* d = x + y with a carry, as `immediate` says; with an opcode (x OP y) + z */
	GT_NATIVE_HALF_SUM, /* d = x OP y of floats of 16 bits; `immediate`: two in a lane */
	GT_NATIVE_FUNNEL,  /* 32 bits of y:x shifted by z */
	GT_NATIVE_FIELD,   /* z bits of x from bit y on */
	GT_NATIVE_INSERT,  /* y with the lower bits of x as such a field */
	GT_NATIVE_LOOKUP,  /* each bit by a table of those of x, y and z */
	GT_NATIVE_PERMUTE, /* bytes of y:x */
	GT_NATIVE_COUNT,   /* of bits that are set */
	GT_NATIVE_COUNT_64,
	GT_NATIVE_REVERSE, /* of bits */
	GT_NATIVE_LEADING, /* where the first bit is, as `immediate` says */
	GT_NATIVE_DOT,	   /* z and the products of four bytes */
	GT_NATIVE_PRODUCT24, /* of 24 bits, its lower 32 */
	GT_NATIVE_DIFFERENCE_SUM, /* z and how far x and y are apart */
	GT_NATIVE_KINDS
};

/* Lanes of 16 bits fill half of a register. They are computed with as they are, or become lanes of 32 first: by zeros, by signs, or floats of
 * either format. Lanes of 8 bits, of a quarter, become longer by zeros or by signs. */
enum gt_native_halves { GT_NATIVE_NO_HALVES, GT_NATIVE_PACKED, GT_NATIVE_BY_ZEROS, GT_NATIVE_BY_SIGNS, GT_NATIVE_BYTES_BY_ZEROS, GT_NATIVE_BYTES_BY_SIGNS,
			GT_NATIVE_F16, GT_NATIVE_BF16 };

/* `immediate` of a division, of the upper half of a product of 64 bits, of a field, and of 24 bits. */
enum gt_native_of_integers { GT_NATIVE_SIGNED = 1, GT_NATIVE_REMAINDER = 2, GT_NATIVE_WIDE = 4, GT_NATIVE_ADDS = 8 };
/* Of a shift of two words; of the first bit; of the products of bytes. */
enum gt_native_funnel { GT_NATIVE_TO_RIGHT = 1, GT_NATIVE_CLAMPS = 2 };
enum gt_native_leading { GT_NATIVE_LEADING_ZEROS, GT_NATIVE_SHIFT_AMOUNT, GT_NATIVE_PLACE };
enum gt_native_dot { GT_NATIVE_FIRST_SIGNED = 1, GT_NATIVE_SECOND_SIGNED = 2 };

/* `immediate` of a sum with a carry: it reads one, it makes one, the sum is a difference; of a product the upper half is added; it has 64 bits. */
enum gt_native_carry { GT_NATIVE_CARRY_IN = 1, GT_NATIVE_CARRY_OUT = 2, GT_NATIVE_DIFFERENCE = 4, GT_NATIVE_UPPER = 8, GT_NATIVE_CARRIED_64 = 16 };

struct gt_native_rule {
	const char *name; /* of the form */
	enum gt_native_kind kind;
	struct gt_native_op op;
	uint8_t immediate;
	bool canonical; /* a NaN result is 0x7fffffff */
	enum gt_native_halves halves; /* of the sources, or of the result if these have 32 bits */
};
/* The rule of an operation that is run by this step; NULL: it has none. */
const struct gt_native_rule *gt_native_rule_of(gt_ptx_step *run);
/* Whether an operation of a whole warp is a lane operation, guarded or not: its step reads and writes the slots that it names, and goes on
 * with the next. */
bool gt_native_is_lanes(const struct gt_ptx_code *code, const struct gt_ptx_op *op);

#define GT_NATIVE_VALUES 27	/* registers for values, at most */
#define GT_NATIVE_PREDICATES 30 /* that a segment writes at most: their place is the red zone */

/* A slot that is in registers: one of lanes of 32 bits, or two of 64. In a stretch it is of one part of the warp. */
struct gt_native_value {
	uint32_t slot;
	unsigned part;
	unsigned n;	 /* registers; 0: the entry is free */
	unsigned share;	 /* 2 and 4 of lanes of 16 and of 8 bits: they fill half of a register, or a quarter; else 1 */
	unsigned at[2];
	bool dirty;	 /* to be stored */
	unsigned used;	 /* when it was, in operations */
};

/* A place in memory. */
struct gt_native_place {
	unsigned base; /* a register */
	uint32_t offset;
};

/* A source of an instruction: a register, or memory. */
struct gt_native_operand {
	bool in_register;
	unsigned at;
	struct gt_native_place place;
};

struct gt_native_segment {
	const struct gt_native_isa *isa;
	struct gt_native_code *code;
	const struct gt_native_needs *needs; /* of the block */
	bool whole; /* for a warp of which all lanes are active; else registers have anything in those that are not, and memory keeps what it has */
	bool unrolled; /* in a stretch: no loop over the parts, but code for one behind the other */
	unsigned part;	       /* the one under way, */
	size_t first, op, end; /* and the operation, and those that are done for one part before the next */
	unsigned n_predicated; /* predicates that the operation has written of it */
	size_t loop, skip; /* offsets of the loop, and behind the jump over a part without active lanes */
	struct gt_native_value values[GT_NATIVE_VALUES];
	bool taken[GT_NATIVE_VALUES];
	unsigned now;
	uint32_t predicates[GT_NATIVE_PREDICATES]; /* slots of those that were written */
	size_t n_predicates;
};

typedef void gt_native_emitter(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op);

/* Bytes that are in front of the code: the first one of the lane of 32 bits, bytes of lanes of 32 and of 64 in the other order, how many bits a
 * number of four has, and these bits in the other order. */
enum gt_native_bytes_of { GT_NATIVE_FIRST_BYTES, GT_NATIVE_SWAPPED, GT_NATIVE_SWAPPED_64, GT_NATIVE_ONES, GT_NATIVE_REVERSED, GT_NATIVE_BYTES };

/* How addresses of active lanes may lie: at one place; side by side in a half of the warp; at the stride in rsi. */
enum gt_native_lie { GT_NATIVE_ONE_PLACE, GT_NATIVE_FIRST_HALF, GT_NATIVE_SECOND_HALF, GT_NATIVE_STRIDE };

/* Instructions that machine code is made of. In the loop r8 and r9 are the arena's slots of 32 and 64 bits a lane for the part of the
 * warp under way, r10 those of predicates, r11 the predicates that the segment writes; rdi is the arena, esi the mask. */
struct gt_native_isa {
	unsigned registers; /* for values */
	unsigned bytes;	    /* of a register */
	unsigned first, second, third, fourth; /* registers that are free within an operation, the last one in stretches only */
	void (*open)(struct gt_native_code *code); /* writes constants that all segments use */
	void (*begin)(struct gt_native_segment *segment); /* the loop */
	void (*end)(struct gt_native_segment *segment);
	void (*load)(struct gt_native_segment *segment, unsigned at, unsigned base, uint32_t offset);
	/* Register i of a value, of the active lanes. */
	void (*store)(struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i, unsigned base,
		      uint32_t offset);
	/* Half a register, or a quarter; `active` is 1 + the part of which the active lanes are stored, 0: all lanes are. */
	void (*load_share)(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset);
	void (*store_share)(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset, unsigned active);
	/* The lower bits of lanes, as AVX-512's instruction says: GT_VPMOVDW, GT_VPMOVDB or GT_VPMOVWB. */
	void (*cut)(struct gt_native_segment *segment, enum gt_vector_opcode how, unsigned d, unsigned x);
	void (*vector)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b);
	void (*fill)(struct gt_native_segment *segment, unsigned wide, unsigned d, uint64_t bits); /* the same bits in every lane */
	/* The lower or upper half of lanes of 32 bits, widened by an operation. */
	void (*widen)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned from, unsigned half);
	/* d = the lower or the upper 32 bits of lanes of 64, of which x and y are the halves. d is not the first register. */
	void (*narrow)(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, bool upper);
	/* d = x, 64 bits, to the left by 32. */
	void (*raise)(struct gt_native_segment *segment, unsigned d, unsigned x);
	/* OP d, a, b under a rounding, as instructions that round number it. */
	void (*rounded)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned b, unsigned rounding);
	/* All bits of the lanes for which OP d, x, y holds, a comparison of floats by that number; of those that are 0 (`third` may change). */
	void (*mask)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned x, unsigned y, unsigned how);
	void (*is_zero)(struct gt_native_segment *segment, unsigned d, unsigned x);
	/* Lanes of b where the mask is set, of a elsewhere. */
	void (*blend)(struct gt_native_segment *segment, unsigned d, unsigned a, unsigned b, unsigned mask);
	void (*canonical)(struct gt_native_segment *segment, unsigned d); /* a NaN becomes the one that f32 has */
	/* d = x OP y, as the rule says; `shift` has a count of 64 bits. */
	void (*binary)(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y);
	void (*unary)(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x);
	void (*shift)(struct gt_native_segment *segment, const struct gt_native_rule *rule, unsigned d, unsigned x, unsigned y);
	bool rotates; /* lanes of 32 bits by a number */
	/* OP d, a, and those bytes for each 16 of a register. */
	void (*bytes_of)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, enum gt_native_bytes_of which);
	/* Bit 4 x + 2 y + z of the table, for each bit. */
	void (*lookup)(struct gt_native_segment *segment, unsigned d, unsigned x, unsigned y, unsigned z, unsigned table);
	void (*leading_zeros)(struct gt_native_segment *segment, bool wide, unsigned d, unsigned x);
	gt_native_emitter *emitters[GT_NATIVE_KINDS]; /* NULL: by those above */
	gt_native_emitter *const *integers; /* operations of integers that take several instructions, put together alike for both sets */

	/* What stretches need beside that. */
	/* d = lanes of the registers of all parts, by numbers that are `at` bytes into the code; where registers are few all are in that part. */
	void (*exchange)(struct gt_native_segment *segment, unsigned d, const unsigned *from, unsigned part, uint32_t at);
	bool few; /* registers: operations are done for one part before the next, as far as they can be */
	struct gt_native_op broadcast[2], insert; /* of the lowest lane, of 32 and of 64 bits; of the upper half of a register */
	void (*set_constants)(struct gt_native_code *code); /* that registers have throughout; NULL: they have none. It changes rax */
	void (*memory)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, unsigned base, uint32_t offset);
	void (*lane)(struct gt_native_segment *segment, struct gt_native_op op, unsigned x, unsigned general);
	/* d |= a ^ b; `second` may change. */
	void (*differ)(struct gt_native_segment *segment, unsigned d, unsigned a, struct gt_native_operand b);
	/* Compares a & b with 0. */
	void (*compare_zero)(struct gt_native_segment *segment, unsigned a, unsigned b);
	/* d = the elements at [base + lanes of index + offset]; `third` may change. */
	void (*gather)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned base, unsigned index, uint32_t offset);

	/* The same of warps of which some lanes are active, whose addresses are core->addresses. */
	void (*set_active)(struct gt_native_code *code); /* notes which */
	/* OP of register i of a part and [base + offset]: a load or a store. */
	void (*active_memory)(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned part, unsigned i, unsigned base, uint32_t offset);
	/* d = elements of 32 or 64 bits at [base + addresses] of register v of them; of 32 bits those of an odd one are the upper half. */
	void (*gather_active)(struct gt_native_segment *segment, bool wide, unsigned d, unsigned v, unsigned base);
	/* The jump if they do not lie so, from general register `base` on; if one is before r8, or more than r9 behind it, or between two multiples
	 * of the bytes. r9 and all free registers may change. */
	size_t (*jump_if_apart)(struct gt_native_code *code, enum gt_native_lie lie, unsigned bytes, unsigned base);
	size_t (*jump_if_outside)(struct gt_native_code *code, unsigned bytes);
	void (*list_active)(struct gt_native_code *code); /* at [rsi], which has room for all lanes; rax to rdx, rsi and r8 may change */
};
extern const struct gt_native_isa gt_native_avx2, gt_native_avx512;

/* True if the operation has machine code; *rule is set then. */
bool gt_native_takes(const struct gt_native_needs *needs, const struct gt_ptx_op *op, const struct gt_native_rule **rule);
/* A function for n operations that gt_native_takes, from segment->op on: void (*)(unsigned char *arena, uint32_t mask). */
void gt_native_write(struct gt_native_segment *segment, const struct gt_ptx_op *ops, size_t n);

/* The registers of a slot: read, or about to be written; n of them, or GT_NATIVE_HALF if lanes have 16 bits, and
 * GT_NATIVE_QUARTER if they have 8. */
#define GT_NATIVE_HALF 0
#define GT_NATIVE_QUARTER 3
static inline unsigned gt_native_share(unsigned n)
{
	return n == GT_NATIVE_HALF ? 2 : n == GT_NATIVE_QUARTER ? 4 : 1;
}
static inline unsigned gt_native_registers(unsigned n)
{
	return gt_native_share(n) > 1 ? 1 : n;
}
const struct gt_native_value *gt_native_read(struct gt_native_segment *segment, uint32_t slot, unsigned n);
const struct gt_native_value *gt_native_write_to(struct gt_native_segment *segment, uint32_t slot, unsigned n);
static inline unsigned gt_native_read_half(struct gt_native_segment *segment, uint32_t slot)
{
	return gt_native_read(segment, slot, GT_NATIVE_HALF)->at[0];
}
static inline unsigned gt_native_write_half(struct gt_native_segment *segment, uint32_t slot)
{
	return gt_native_write_to(segment, slot, GT_NATIVE_HALF)->at[0];
}
/* A register that is free, until segment->taken says so again. */
unsigned gt_native_take(struct gt_native_segment *segment);
/* Its lanes with 32 bits. */
void gt_native_extend(struct gt_native_segment *segment, enum gt_native_halves by, unsigned d, unsigned x);
/* x and y of the operation in the first and the second register, so. */
void gt_native_extend_both(struct gt_native_segment *segment, const struct gt_native_rule *rule, const struct gt_ptx_op *op);
/* Register i of a part of a slot, where it is. */
struct gt_native_operand gt_native_where(const struct gt_native_segment *segment, uint32_t slot, unsigned n, unsigned part, unsigned i);
/* Half i of a source of 32-bit lanes, widened. */
static inline void gt_native_widen(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, uint32_t slot, unsigned i)
{
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_operand from = gt_native_where(segment, slot, 1, segment->part, 0);

	if (from.in_register)
		isa->widen(segment, op, d, from.at, i);
	else
		isa->memory(segment, op, d, 0, from.place.base, from.place.offset + i * isa->bytes / 2);
}
/* Memory has the slot, and registers have it no more. */
void gt_native_release(struct gt_native_segment *segment, uint32_t slot);
/* How many parts a warp has. */
static inline unsigned gt_native_parts(const struct gt_native_isa *isa)
{
	return GT_WARP_SIZE * 4 / isa->bytes;
}
enum gt_native_direction { GT_NATIVE_ROTATE_RIGHT, GT_NATIVE_ROTATE_LEFT, GT_NATIVE_RIGHT, GT_NATIVE_RIGHT_BY_SIGNS = 4, GT_NATIVE_LEFT = 6 }; /* as the instruction has it in the place of a register */
/* d = x shifted by a number, in lanes of 32 bits or, if `wide`, of 64. */
static inline void gt_native_shift_by(struct gt_native_segment *segment, bool wide, enum gt_native_direction direction, unsigned d, unsigned x, unsigned count)
{
	const struct gt_native_op op = {GT_0F, GT_66, wide, wide ? GT_VPSHIFTQ : GT_VPSHIFTD};

	segment->isa->vector(segment, op, (unsigned)direction, d, x);
	gt_native_byte(segment->code, count);
}
/* OP d, a, b */
void gt_native_with(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, struct gt_native_operand b);
/* Code that stores the values that are to be, of them those only that are needed from segment->op on, or all; or loads all: of a
 * state that the segment has or had. */
void gt_native_store_values(struct gt_native_segment *segment, const struct gt_native_value *values, bool needed_only);
void gt_native_load_values(struct gt_native_segment *segment, const struct gt_native_value *values);

/* Where a predicate is read, and where one is written. */
struct gt_native_place gt_native_predicate(const struct gt_native_segment *segment, uint32_t slot);
struct gt_native_place gt_native_new_predicate(struct gt_native_segment *segment, uint32_t slot);

/* Instructions that both sets have. */
extern const struct gt_native_op gt_native_move, gt_native_xor, gt_native_or, gt_native_store, gt_native_zeros, gt_native_signs; /* the last
	two widen integers by zeros, and by signs */
/* The register of floats that are integers as the operation rounds: x, if it cuts what is behind the point, or `free`. */
unsigned gt_native_rounded(struct gt_native_segment *segment, const struct gt_ptx_op *op, unsigned x, unsigned free);
/* Emits an operation. */
gt_native_emitter gt_native_emit;
/* Operations of integers that take several instructions; NULL: it is none. */
extern gt_native_emitter *const gt_native_integers[GT_NATIVE_KINDS];
/* Whether an operation is an exchange between the lanes of a whole warp that has machine code in a stretch, and that code. */
bool gt_native_exchanges(const struct gt_native_isa *isa, const struct gt_native_needs *needs, const struct gt_ptx_op *op);
void gt_native_exchange(struct gt_native_segment *segment, const struct gt_ptx_op *op);
/* Writes the bytes of enum gt_native_bytes_of, each so often. */
void gt_native_open_bytes(struct gt_native_code *code, unsigned copies);

#endif
