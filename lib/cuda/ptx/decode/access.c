/* SPDX-License-Identifier: MIT */
/* Accesses as instructions write them: their modifiers, cache policies and addresses. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/exec/notes.h"
#include "cuda/ptx/exec/policy.h"
#include "stream/hint.h"
#include "stream/op.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

enum kind {
	SAYS_NOTHING, /* no effect on the model */
	SPACE,
	OPERATOR,
	STRONG,	 /* not served by L1 if the scope is wider than a block */
	WIDER,	 /* such a scope */
	ELEMENTS,
	HINT,
	IGNORED,
};

/* Which instructions may have a modifier: bits, by how they access memory. */
enum {
	LOADS = 1 << GT_PTX_ACCESS_LOAD,
	STORES = 1 << GT_PTX_ACCESS_STORE,
	ATOMICS = 1 << GT_PTX_ACCESS_ATOMIC | 1 << GT_PTX_ACCESS_REDUCTION,
	COPIES = 1 << GT_PTX_ACCESS_COPY,
	MATRICES = 1 << GT_PTX_ACCESS_MATRIX,
	MBARRIERS = 1 << GT_PTX_ACCESS_MBARRIER,
	CHANGES = ATOMICS | COPIES, /* with an operation */
	LINES = 1 << GT_PTX_ACCESS_LINE,
};

static const struct {
	const char *word;
	unsigned accesses;
	enum kind kind;
	int value;
} modifiers[] = {
	{"global", LOADS | STORES | ATOMICS | COPIES | MATRICES | LINES, SPACE, GT_PTX_GLOBAL},
	{"shared", LOADS | STORES | ATOMICS | COPIES | MATRICES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"shared::cta", LOADS | STORES | ATOMICS | COPIES | MATRICES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"shared::cluster", LOADS | STORES | ATOMICS | COPIES | MBARRIERS, SPACE, GT_PTX_SHARED},
	{"local", LOADS | STORES | LINES, SPACE, GT_PTX_LOCAL},
	{"const", LOADS, SPACE, GT_PTX_CONST},
	{"param", LOADS | STORES, SPACE, GT_PTX_PARAM},
	{"param::entry", LOADS, SPACE, GT_PTX_PARAM},
	{"param::func", LOADS | STORES, SPACE, GT_PTX_PARAM},
	{"ca", LOADS | COPIES, OPERATOR, GT_CA},
	{"cg", LOADS | STORES | COPIES, OPERATOR, GT_CG},
	{"cs", LOADS | STORES, OPERATOR, GT_CS},
	{"cv", LOADS, OPERATOR, GT_CV},
	{"lu", LOADS, OPERATOR, GT_LU},
	{"nc", LOADS, OPERATOR, GT_NC},
	{"wb", STORES, SAYS_NOTHING, 0},
	{"wt", STORES, IGNORED, 0},
	{"weak", LOADS | STORES, SAYS_NOTHING, 0},
	{"volatile", LOADS | STORES, STRONG, true},
	{"mmio", LOADS | STORES, STRONG, true},
	{"relaxed", LOADS | STORES | ATOMICS | MBARRIERS, STRONG, false},
	{"acquire", LOADS | ATOMICS | MBARRIERS, STRONG, false},
	{"release", STORES | ATOMICS | MBARRIERS, SAYS_NOTHING, 0},
	{"acq_rel", ATOMICS, SAYS_NOTHING, 0},
	{"cta", LOADS | STORES | ATOMICS | MBARRIERS, SAYS_NOTHING, 0},
	{"cluster", LOADS | STORES | ATOMICS | MBARRIERS, WIDER, 0},
	{"gpu", LOADS | STORES | ATOMICS, WIDER, 0},
	{"sys", LOADS | STORES | ATOMICS, WIDER, 0},
	{"v2", LOADS | STORES | ATOMICS, ELEMENTS, 2},
	{"v4", LOADS | STORES | ATOMICS, ELEMENTS, 4},
	{"v8", LOADS | STORES | ATOMICS, ELEMENTS, 8},
	{"L1::evict_normal", LOADS | STORES, HINT, GT_EVICT_NORMAL},
	{"L1::evict_unchanged", LOADS | STORES, HINT, GT_EVICT_UNCHANGED},
	{"L1::evict_first", LOADS | STORES, HINT, GT_EVICT_FIRST},
	{"L1::evict_last", LOADS | STORES, HINT, GT_EVICT_LAST},
	{"L1::no_allocate", LOADS | STORES, HINT, GT_NO_ALLOCATE},
	{"L2::evict_normal", LOADS | STORES | LINES, HINT, GT_EVICT_NORMAL << 3},
	{"L2::evict_first", LOADS | STORES, HINT, GT_EVICT_FIRST << 3},
	{"L2::evict_last", LOADS | STORES | LINES, HINT, GT_EVICT_LAST << 3},
	{"L2::64B", LOADS | COPIES, HINT, GT_FETCH_64 << 6},
	{"L2::128B", LOADS | COPIES, HINT, GT_FETCH_128 << 6},
	{"L2::256B", LOADS | COPIES, HINT, GT_FETCH_256 << 6},
	{"L2::cache_hint", LOADS | STORES | ATOMICS | COPIES, SAYS_NOTHING, 0},
	{"async", COPIES | STORES | 1 << GT_PTX_ACCESS_REDUCTION, SAYS_NOTHING, 0},
	{"L1", LINES, SAYS_NOTHING, 0},
	{"L2", LINES | COPIES, SAYS_NOTHING, 0},
	{"noftz", CHANGES, SAYS_NOTHING, 0},
	{"add", CHANGES, SAYS_NOTHING, 0},
	{"min", CHANGES, SAYS_NOTHING, 0},
	{"max", CHANGES, SAYS_NOTHING, 0},
	{"inc", CHANGES, SAYS_NOTHING, 0},
	{"dec", CHANGES, SAYS_NOTHING, 0},
	{"and", CHANGES, SAYS_NOTHING, 0},
	{"or", CHANGES, SAYS_NOTHING, 0},
	{"xor", CHANGES, SAYS_NOTHING, 0},
	{"exch", ATOMICS, SAYS_NOTHING, 0},
	{"cas", ATOMICS, SAYS_NOTHING, 0},
	{"init", MBARRIERS, SAYS_NOTHING, 0},
	{"inval", MBARRIERS, SAYS_NOTHING, 0},
	{"arrive", MBARRIERS | COPIES, SAYS_NOTHING, 0},
	{"arrive_drop", MBARRIERS, SAYS_NOTHING, 0},
	{"noComplete", MBARRIERS, SAYS_NOTHING, 0},
	{"expect_tx", MBARRIERS, SAYS_NOTHING, 0},
	{"complete_tx", MBARRIERS, SAYS_NOTHING, 0},
	{"test_wait", MBARRIERS, SAYS_NOTHING, 0},
	{"try_wait", MBARRIERS, SAYS_NOTHING, 0},
	{"parity", MBARRIERS, SAYS_NOTHING, 0},
	{"mbarrier", COPIES, SAYS_NOTHING, 0},
	{"noinc", COPIES, SAYS_NOTHING, 0},
	{"bulk", COPIES, SAYS_NOTHING, 0},
	{"bulk_group", COPIES, SAYS_NOTHING, 0},
	{"reduce", COPIES, SAYS_NOTHING, 0},
	{"tensor", COPIES, SAYS_NOTHING, 0},
	{"1d", COPIES, SAYS_NOTHING, 0},
	{"2d", COPIES, SAYS_NOTHING, 0},
	{"3d", COPIES, SAYS_NOTHING, 0},
	{"4d", COPIES, SAYS_NOTHING, 0},
	{"5d", COPIES, SAYS_NOTHING, 0},
	{"tile", COPIES, SAYS_NOTHING, 0},
	{"multicast::cluster", COPIES, SAYS_NOTHING, 0},
	{"prefetch", COPIES, SAYS_NOTHING, 0},
	{"mbarrier::complete_tx::bytes", COPIES | STORES | 1 << GT_PTX_ACCESS_REDUCTION, SAYS_NOTHING, 0},
	{"x1", MATRICES, ELEMENTS, 1},
	{"x2", MATRICES, ELEMENTS, 2},
	{"x4", MATRICES, ELEMENTS, 4},
	{"load", MATRICES, SAYS_NOTHING, 0},
	{"store", MATRICES, SAYS_NOTHING, 0},
	{"a", MATRICES, SAYS_NOTHING, 0},
	{"b", MATRICES, SAYS_NOTHING, 0},
	{"c", MATRICES, SAYS_NOTHING, 0},
	{"d", MATRICES, SAYS_NOTHING, 0},
	{"sync", MATRICES, SAYS_NOTHING, 0},
	{"aligned", MATRICES, SAYS_NOTHING, 0},
	{"trans", MATRICES, SAYS_NOTHING, 0},
	{"row", MATRICES, SAYS_NOTHING, 0},
	{"col", MATRICES, SAYS_NOTHING, 0},
	{"m8n8", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k4", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k32", MATRICES, SAYS_NOTHING, 0},
	{"m8n8k128", MATRICES, SAYS_NOTHING, 0},
	{"m16n16k8", MATRICES, SAYS_NOTHING, 0},
	{"m16n16k16", MATRICES, SAYS_NOTHING, 0},
	{"m32n8k16", MATRICES, SAYS_NOTHING, 0},
	{"m8n32k16", MATRICES, SAYS_NOTHING, 0},
	{"tf32", MATRICES, SAYS_NOTHING, 0},
	{"s4", MATRICES, SAYS_NOTHING, 0},
	{"u4", MATRICES, SAYS_NOTHING, 0},
	{"b1", MATRICES, SAYS_NOTHING, 0},
};

/* The instruction as written, without its operands; truncated to the buffer. */
static const char *written(const struct gt_ptx_instruction *instruction, char *buffer, size_t bytes)
{
	int n = snprintf(buffer, bytes, "%s", instruction->opcode);

	for (size_t i = 0; i < instruction->n_modifiers && n >= 0 && (size_t)n < bytes; i++)
		n += snprintf(buffer + n, bytes - (size_t)n, ".%s", instruction->modifiers[i]);
	return buffer;
}

int gt_ptx_refuse(struct gt_ptx_decoder *decoder, const char *why)
{
	char name[96];

	return gt_ptx_emit_unknown(decoder, "'%s' %s", written(decoder->instruction, name, sizeof name), why);
}

/* Of several devices' memory at once, and of tensor memory. */
int gt_ptx_decode_unmodelled(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_refuse(decoder, "is not modelled");
}

/* Index of the modifier's row; LENGTH(modifiers) if such an access cannot have it. */
static size_t row_of(const char *word, enum gt_ptx_access_kind kind)
{
	size_t m = 0;

	while (m < LENGTH(modifiers) && (!(modifiers[m].accesses >> kind & 1) || strcmp(word, modifiers[m].word) != 0))
		m++;
	return m;
}

/* Of two operators, as in ld.global.cg.nc, the one that says which caches may hold the data wins. */
static void take_operator(struct gt_ptx_access *access, int operation)
{
	static const unsigned ranks[GT_OPERATORS] = {
		[GT_OPERATOR_NONE] = 0, [GT_CA] = 1, [GT_NC] = 2, [GT_CG] = 3, [GT_CS] = 3, [GT_CV] = 3, [GT_LU] = 3};

	if (ranks[operation] >= ranks[access->operation])
		access->operation = (uint8_t)operation;
}

/* Reads the modifiers of the instruction into the access: space, operator, elements, hint; and its type, the last
 * modifier that is one. Returns 0; 1 if a modifier is not modelled, and the instruction has been refused; or -1. */
static int read_modifiers(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, enum gt_ptx_type *type)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const enum gt_ptx_access_kind access_kind = gt_ptx_row(instruction)->access;
	bool strong = false, wide = false;
	char why[64];

	access->n = 1;
	access->remote = gt_ptx_has(instruction, "shared::cluster");
	*type = GT_PTX_NO_TYPE;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_type named = gt_ptx_type_named(word, strlen(word));
		size_t m = row_of(word, access_kind);
		*type = named ? named : *type;
		if (named)
			continue;
		if (m == LENGTH(modifiers)) {
			snprintf(why, sizeof why, "is not modelled: '.%.32s'", word);
			return gt_ptx_refuse(decoder, why) != 0 ? -1 : 1;
		}
		int value = modifiers[m].value;
		switch (modifiers[m].kind) {
		case SAYS_NOTHING: break;
		case SPACE: access->space = (enum gt_ptx_space)value; break;
		case OPERATOR: take_operator(access, value); break;
		case STRONG: strong = true, wide |= value; break;
		case WIDER: wide = true; break;
		case ELEMENTS: access->n = (uint8_t)value; break;
		case HINT: access->hint |= (uint16_t)value; break;
		case IGNORED:
			gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'st.wt'",
					    "writing through L2 concerns system memory alone");
		}
	}
	if (access_kind == GT_PTX_ACCESS_LOAD && strong && wide && access->operation == GT_OPERATOR_NONE) {
		access->operation = GT_CG;
		access->scoped = true;
	}
	access->remote |= access->space == GT_PTX_GENERIC;
	return 0;
}

int gt_ptx_read_policy(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, size_t *n)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;

	if (!gt_ptx_says(decoder, "L2::cache_hint"))
		return 0;
	if (*n < 3)
		return gt_fail(decoder->error, "PTX line %u: '%s' with .L2::cache_hint: a cache policy expected",
			       instruction->line, instruction->opcode);
	access->policy = gt_ptx_source(decoder, &instruction->operands[--*n], GT_PTX_B64);
	return access->policy ? 0 : -1;
}

/* The policy that createpolicy makes: its first modifier that names a priority is the primary one. */
static bool named_policy(const struct gt_ptx_instruction *instruction, uint64_t *policy)
{
	for (size_t m = 0; m < instruction->n_modifiers; m++)
		if (gt_ptx_policy_named(instruction->modifiers[m], policy))
			return true;
	return false;
}

static bool is_one(const struct gt_ptx_operand *operand)
{
	const uint64_t one = operand->is_single ? UINT64_C(0x3f800000) : UINT64_C(0x3ff0000000000000);

	return operand->kind == GT_PTX_IMMEDIATE && operand->is_float && operand->bits == one;
}

/* createpolicy.fractional.L2::PRIMARY(.L2::SECONDARY).b64 policy(, fraction); .range ... policy, [a], primary
 * size, total size: the primary priority, of all lines. .cvt.L2.b64 policy, property: the property. */
int gt_ptx_decode_createpolicy(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t n = instruction->n_operands;
	bool fractional = gt_ptx_says(decoder, "fractional"), ranges = gt_ptx_says(decoder, "range");
	struct gt_ptx_result result;
	uint64_t policy;
	uint32_t value;

	if (gt_ptx_says(decoder, "cvt") && n == 2)
		value = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_B64);
	else if (((fractional && n >= 1 && n <= 2) || (ranges && n == 4)) && named_policy(instruction, &policy))
		value = gt_ptx_constant_slot(decoder, policy, 8);
	else
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (!value || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B64, &result) != 0)
		return -1;
	if (ranges || (fractional && n == 2 && !is_one(&instruction->operands[1])))
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line,
				    ranges ? "the range of 'createpolicy'" : "the fraction of 'createpolicy'",
				    "a cache policy stands for its primary priority");
	return gt_ptx_emit_form(decoder, "mov.b64", result.slot, value, 0, 0) &&
			       gt_ptx_finish_result(decoder, &result) == 0
		       ? 0
		       : -1;
}

int gt_ptx_read_address(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
			const struct gt_ptx_operand *operand)
{
	const struct gt_ptx_register *reg = gt_ptx_register_named(&decoder->registers, operand->name);
	uint64_t address = 0;

	if (operand->kind != GT_PTX_ADDRESS)
		return gt_fail(decoder->error, "PTX line %u: an address in brackets expected",
			       decoder->instruction->line);
	if (reg) {
		unsigned size = gt_ptx_type_size(reg->type);
		if (size != 4 && size != 8)
			return gt_fail(decoder->error, "PTX line %u: '%s' is too narrow for an address",
				       decoder->instruction->line, operand->name);
		access->narrow = size == 4;
		access->address = reg->slot;
		access->offset = operand->offset;
		if (access->space == GT_PTX_PARAM && !decoder->function->entry)
			access->space = GT_PTX_LOCAL;
		access->untraced = gt_ptx_says(decoder, "param");
		return 0;
	}
	enum gt_ptx_symbol_kind kind =
		operand->name ? gt_ptx_symbol_of(decoder, operand->name, &address) : GT_PTX_IN_DEVICE;
	if (kind == GT_PTX_NO_SYMBOL)
		return gt_fail(decoder->error, "PTX line %u: '%s' is not declared",
			       decoder->instruction->line, operand->name);
	access->in_frame = kind == GT_PTX_IN_FRAME;
	access->untraced = access->space == GT_PTX_PARAM;
	if (kind == GT_PTX_IN_FRAME)
		access->space = GT_PTX_LOCAL;
	else if (kind == GT_PTX_IN_PARAMETERS)
		access->space = GT_PTX_PARAM;
	else if (kind == GT_PTX_IN_SHARED)
		access->space = GT_PTX_SHARED;
	access->address = gt_ptx_constant_slot(decoder, address + (uint64_t)operand->offset, 8);
	return access->address ? 0 : -1;
}

int gt_ptx_new_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access **access, enum gt_ptx_type *type)
{
	*access = gt_ptx_own(decoder, sizeof **access);
	if (!*access)
		return -1;
	int result = read_modifiers(decoder, *access, type);
	(*access)->size = (uint8_t)gt_ptx_type_size(*type);
	(*access)->waits = decoder->waits[decoder->at];
	(*access)->low = 1; /* low > high: no allocation is cached */
	return result;
}

int gt_ptx_refused(int result)
{
	return result > 0 ? 0 : result;
}

struct gt_ptx_op *gt_ptx_emit_access(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access,
				     gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op) {
		op->with.access = access;
		op->accesses = 1;
	}
	return op;
}
