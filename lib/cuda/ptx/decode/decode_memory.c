/* SPDX-License-Identifier: MIT */
/* Accesses and copies: copies in bulk, barriers in memory that they report to, loads, stores, atomics, asynchronous copies, cache lines
 * as a whole, tensor maps. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/exec/tensor.h"
#include "stream/hint.h"

/* ---- cache policies ---- */

/* With .L2::cache_hint the last operand is a cache policy: reads it into the access and makes *n one less. Returns 0,
 * or -1. */
static int read_policy(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, size_t *n)
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

/* The priorities that createpolicy names, the primary one first, in a policy of a mode. */
static bool named_policy(const struct gt_ptx_instruction *instruction, uint64_t mode, uint64_t *policy)
{
	static const struct {
		const char *name;
		uint64_t primary;
		int secondary; /* -1: it is only primary */
	} priorities[] = {
		{"L2::evict_normal", 0, -1},
		{"L2::evict_first", UINT64_C(1) << GT_PTX_POLICY_PRIMARY, 1},
		{"L2::evict_last", UINT64_C(2) << GT_PTX_POLICY_PRIMARY, -1},
		{"L2::evict_unchanged", UINT64_C(1) << GT_PTX_POLICY_UNCHANGED, 0},
	};
	size_t n = 0;

	*policy = mode << GT_PTX_POLICY_MODE;
	for (size_t m = 0; m < instruction->n_modifiers; m++)
		for (size_t i = 0; i < sizeof priorities / sizeof priorities[0]; i++) {
			if (strcmp(instruction->modifiers[m], priorities[i].name) != 0)
				continue;
			if (n == 1 && priorities[i].secondary < 0)
				return false;
			*policy |= n == 0 ? priorities[i].primary : (uint64_t)priorities[i].secondary << GT_PTX_POLICY_SECONDARY;
			n++;
		}
	return n == 1 || n == 2;
}

/* ptxas takes a fraction above 0 and of at most 1, if it is a number. */
static bool fits_fraction(const struct gt_ptx_operand *operand)
{
	double value = gt_ptx_from_bits((uint32_t)operand->bits);

	if (!operand->is_single)
		memcpy(&value, &operand->bits, sizeof value);
	return operand->kind != GT_PTX_IMMEDIATE || !operand->is_float || (value > 0 && value <= 1);
}

/* The policy with the fraction of the second operand; 0 after an error. */
static uint32_t fraction_policy(struct gt_ptx_decoder *decoder, uint64_t policy)
{
	if (!fits_fraction(&decoder->instruction->operands[1])) {
		gt_fail(decoder->error, "PTX line %u: '%s': expected a fraction above 0 and of at most 1", decoder->instruction->line,
			decoder->instruction->opcode);
		return 0;
	}
	const uint32_t base = gt_ptx_constant_slot(decoder, policy, 8);
	const uint32_t fraction = gt_ptx_source(decoder, &decoder->instruction->operands[1], GT_PTX_F32);
	const uint32_t value = gt_ptx_temporary_slot(decoder, GT_PTX_B64);

	return base && fraction && value && gt_ptx_emit_form(decoder, "policy.fraction", value, base, fraction, 0) ? value : 0;
}

/* The policy with the range [a], primary size, total size; 0 after an error. */
static uint32_t range_policy(struct gt_ptx_decoder *decoder, uint64_t policy)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	struct gt_ptx_access at = {.space = GT_PTX_GLOBAL};

	if (operands[2].kind == GT_PTX_IMMEDIATE && operands[3].kind == GT_PTX_IMMEDIATE &&
	    (uint32_t)operands[2].bits > (uint32_t)operands[3].bits) {
		gt_fail(decoder->error, "PTX line %u: '%s': expected a primary size of at most the total size", decoder->instruction->line,
			decoder->instruction->opcode);
		return 0;
	}
	if (gt_ptx_read_address(decoder, &at, &operands[1]) != 0)
		return 0;
	const uint32_t base = gt_ptx_constant_slot(decoder, policy, 8), offset = gt_ptx_constant_slot(decoder, (uint64_t)at.offset, 8);
	const uint32_t bytes = gt_ptx_source(decoder, &operands[2], GT_PTX_U32), total = gt_ptx_source(decoder, &operands[3], GT_PTX_U32);
	const uint32_t sized = gt_ptx_temporary_slot(decoder, GT_PTX_B64), first = gt_ptx_temporary_slot(decoder, GT_PTX_B64);
	const uint32_t value = gt_ptx_temporary_slot(decoder, GT_PTX_B64);
	return base && offset && bytes && total && sized && first && value &&
			       gt_ptx_emit_form(decoder, "add.u64", first, at.address, offset, 0) &&
			       gt_ptx_emit_form(decoder, "policy.total", sized, base, total, 0) &&
			       gt_ptx_emit_form(decoder, "policy.range", value, sized, first, bytes)
		       ? value
		       : 0;
}

/* createpolicy.fractional.L2::PRIMARY(.L2::SECONDARY).b64 policy(, fraction); .range(.global) ... policy, [a], primary size, total
 * size. .cvt.L2.b64 policy, property: the property. */
static int decode_createpolicy(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	size_t n = instruction->n_operands;
	bool fractional = gt_ptx_says(decoder, "fractional"), ranges = gt_ptx_says(decoder, "range");
	struct gt_ptx_result result;
	uint64_t policy;
	uint32_t value;

	if (gt_ptx_says(decoder, "cvt") && n == 2)
		value = gt_ptx_source(decoder, &instruction->operands[1], GT_PTX_B64);
	else if (fractional && n == 1 && named_policy(instruction, GT_PTX_POLICY_FRACTION, &policy))
		value = gt_ptx_constant_slot(decoder, policy | UINT64_C(15) << GT_PTX_POLICY_SIZE, 8);
	else if (fractional && n == 2 && named_policy(instruction, GT_PTX_POLICY_FRACTION, &policy))
		value = fraction_policy(decoder, policy);
	else if (ranges && n == 4 && named_policy(instruction, GT_PTX_POLICY_RANGE, &policy))
		value = range_policy(decoder, policy);
	else
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (!value || gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B64, &result) != 0)
		return -1;
	return gt_ptx_emit_form(decoder, "mov.b64", result.slot, value, 0, 0) &&
			       gt_ptx_finish_result(decoder, &result) == 0
		       ? 0
		       : -1;
}

/* The report to an mbarrier, which another block of the cluster may have. */
static struct gt_ptx_access mbarrier_access(void)
{
	struct gt_ptx_access access = gt_ptx_shared_access(GT_REDUCTION, 8);

	access.remote = true;
	return access;
}

/* ---- copies in bulk: cp.async.bulk(.tensor), cp.async.bulk.prefetch(.tensor), cp.reduce.async.bulk(.tensor) ---- */

/* The first two state spaces written: that of the destination, and that of the source. */
static size_t read_spaces(const struct gt_ptx_instruction *instruction, bool global[2])
{
	size_t n = 0;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		const bool is_global = strcmp(word, "global") == 0;
		if (is_global || strcmp(word, "shared::cta") == 0 || strcmp(word, "shared::cluster") == 0) {
			if (n < 2)
				global[n] = is_global;
			n++;
		}
	}
	return n;
}

/* An access in the space, at the address of an operand; its own address slot is for pieces. */
static int read_end(struct gt_ptx_decoder *decoder, struct gt_ptx_access *end, struct gt_ptx_access *base,
		    const struct gt_ptx_operand *operand, enum gt_ptx_space space, enum gt_action action)
{
	*base = (struct gt_ptx_access){.space = space, .n = 1, .low = 1, .action = (uint8_t)action};
	if (gt_ptx_read_address(decoder, base, operand) != 0)
		return -1;
	end->space = space;
	end->action = (uint8_t)action;
	end->remote = space == GT_PTX_SHARED;
	end->n = 1;
	end->low = 1;
	end->size = 16;
	end->address = gt_ptx_temporary_slot(decoder, GT_PTX_U64);
	return end->address ? 0 : -1;
}

/* The coordinates behind the address of a tensor map. Returns 1 if the instruction has been refused. */
static int read_coordinates(struct gt_ptx_decoder *decoder, struct gt_ptx_bulk *bulk, const struct gt_ptx_operand *map)
{
	static const char *const ranks[GT_TENSOR_RANK_MAX] = {"1d", "2d", "3d", "4d", "5d"};
	const struct gt_ptx_operand *list = map->n_elements == 1 && map->elements[0].kind == GT_PTX_VECTOR ? &map->elements[0] : NULL;

	for (uint8_t rank = 0; rank < GT_TENSOR_RANK_MAX; rank++)
		if (gt_ptx_says(decoder, ranks[rank]))
			bulk->rank = (uint8_t)(rank + 1);
	const unsigned n = bulk->scattered ? 1 + GT_TENSOR_SCATTERED : bulk->rank;
	if (!list || list->n_elements != n || bulk->rank == 0 || (bulk->scattered && bulk->rank != 2))
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	for (unsigned d = 0; d < n; d++)
		if (!(bulk->coordinates[d] = gt_ptx_source(decoder, &list->elements[d], GT_PTX_S32)))
			return -1;
	return 0;
}

/* {offsets} of a column's pixels. Returns 1 if the instruction has been refused. */
static int read_offsets(struct gt_ptx_decoder *decoder, struct gt_ptx_bulk *bulk, const struct gt_ptx_operand *list)
{
	if (list->kind != GT_PTX_VECTOR || list->n_elements + 2U != bulk->rank)
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	for (unsigned d = 0; d < list->n_elements; d++)
		if (!(bulk->offsets[d] = gt_ptx_source(decoder, &list->elements[d], GT_PTX_U32)))
			return -1;
	return 0;
}

/* The operands: (destination, source)(, bytes)(, mbarrier)(, offsets)(, blocks)(, policy), of which a policy has been taken off. */
static int read_operands(struct gt_ptx_decoder *decoder, struct gt_ptx_bulk *bulk, const bool global[2], size_t n)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const bool reports = gt_ptx_says(decoder, "mbarrier::complete_tx::bytes"), tensor = gt_ptx_says(decoder, "tensor");
	const bool multicast = gt_ptx_says(decoder, "multicast::cluster"), offset = gt_ptx_says(decoder, "im2col");
	const size_t ends = bulk->prefetches ? 1 : 2;
	const struct gt_ptx_operand *outer = &operands[bulk->stores || bulk->prefetches ? 0 : 1];
	const enum gt_ptx_space space = bulk->stores && !global[0] ? GT_PTX_SHARED : GT_PTX_GLOBAL;
	const enum gt_action action = bulk->reduces ? GT_REDUCTION : bulk->stores ? GT_STORE : GT_LOAD;
	size_t at = ends;

	if (n != ends + !tensor + reports + offset + multicast || (bulk->columns && (!tensor || offset == bulk->stores)))
		return gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
	if (read_end(decoder, &bulk->outer, &bulk->outer_base, outer, space, action) != 0 ||
	    (!bulk->prefetches && read_end(decoder, &bulk->inner, &bulk->inner_base, &operands[bulk->stores ? 1 : 0], GT_PTX_SHARED,
					   bulk->stores ? GT_LOAD : GT_STORE) != 0) ||
	    (!tensor && !(bulk->bytes = gt_ptx_source(decoder, &operands[at++], GT_PTX_U32))))
		return -1;
	if (tensor) {
		/* A map is found by its generic address. */
		bulk->outer_base.space = GT_PTX_GENERIC;
		int read = read_coordinates(decoder, bulk, outer);
		if (read == 0 && bulk->columns && bulk->rank < 3)
			read = gt_ptx_refuse(decoder, "is not known in this form") != 0 ? -1 : 1;
		if (read != 0)
			return read;
	}
	bulk->mbarrier = mbarrier_access();
	if (reports && gt_ptx_read_address(decoder, &bulk->mbarrier, &operands[at++]) != 0)
		return -1;
	if (offset) {
		int read = read_offsets(decoder, bulk, &operands[at++]);
		if (read != 0)
			return read;
	}
	if (multicast && !(bulk->blocks = gt_ptx_source(decoder, &operands[at], GT_PTX_U32)))
		return -1;
	return 0;
}

/* cp(.reduce).async.bulk(.prefetch)(.tensor.RANK).DESTINATION(.SOURCE)... */
static int decode_bulk(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool reports = gt_ptx_says(decoder, "mbarrier::complete_tx::bytes");
	struct gt_ptx_bulk *bulk = gt_ptx_own(decoder, sizeof *bulk);
	struct gt_ptx_access *said;
	bool global[2] = {false, false};
	size_t n = instruction->n_operands;
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!bulk || read != 0)
		return bulk ? gt_ptx_refused(read) : -1;
	bulk->outer = *said;
	if (read_policy(decoder, &bulk->outer, &n) != 0)
		return -1;
	bulk->prefetches = gt_ptx_says(decoder, "prefetch");
	bulk->type = type;
	bulk->reduces = gt_ptx_says(decoder, "reduce") ? instruction : NULL;
	if (read_spaces(instruction, global) != (bulk->prefetches ? 1U : 2U) || (global[0] && global[1]))
		return gt_ptx_refuse(decoder, "is not known in this form");
	bulk->stores = !global[1] && !bulk->prefetches;
	bulk->columns = gt_ptx_says(decoder, "im2col") || gt_ptx_says(decoder, "im2col_no_offs");
	bulk->scattered = gt_ptx_says(decoder, bulk->stores ? "tile::scatter4" : "tile::gather4");
	bulk->pairs = gt_ptx_says(decoder, "cta_group::2");
	if (gt_ptx_says(decoder, bulk->stores ? "tile::gather4" : "tile::scatter4") || (bulk->scattered && bulk->reduces))
		return gt_ptx_refuse(decoder, "is not known in this form");
	/* Into global memory copies are waited for by groups, into shared memory by an mbarrier. */
	if (reports == (global[0] || bulk->prefetches) || (bulk->reduces && !bulk->stores) ||
	    (gt_ptx_says(decoder, "tensor") && bulk->stores && !global[0]))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (bulk->reduces && bulk->type != GT_PTX_NO_TYPE && !gt_ptx_change(instruction, bulk->type))
		return gt_ptx_refuse(decoder, "is not modelled");
	/* Copies in bulk do not pass through L1. */
	bulk->outer.operation = bulk->stores || bulk->prefetches ? GT_OPERATOR_NONE : GT_CG;
	if (bulk->prefetches)
		bulk->outer.hint |= gt_hint(GT_PRIORITY_NONE, GT_PRIORITY_NONE, GT_FETCH_NONE, GT_PREFETCH_L2);
	bulk->hint = bulk->outer.hint;
	read = read_operands(decoder, bulk, global, n);
	if (read != 0)
		return gt_ptx_refused(read);
	return gt_ptx_emit_access(decoder, &bulk->outer, gt_ptx_async_steps.bulk) ? 0 : -1;
}

/* ---- clusterlaunchcontrol ---- */

/* clusterlaunchcontrol.try_cancel.async(.SPACE).mbarrier::complete_tx::bytes(.multicast::cluster::all).b128 [address], [mbarrier]: asks for
 * the work of a cluster that has not begun. There is none here, so the answer is 16 bytes of zeros. */
static int decode_try_cancel(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_bulk *bulk = gt_ptx_own(decoder, sizeof *bulk);
	struct gt_ptx_access *said;
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!bulk || read != 0)
		return bulk ? gt_ptx_refused(read) : -1;
	if (instruction->n_operands != 2 || type != GT_PTX_B128 || !gt_ptx_says(decoder, "async") ||
	    !gt_ptx_says(decoder, "mbarrier::complete_tx::bytes"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	bulk->declines = true;
	bulk->outer = *said;
	bulk->mbarrier = mbarrier_access();
	if (read_end(decoder, &bulk->inner, &bulk->inner_base, &instruction->operands[0], GT_PTX_SHARED, GT_STORE) != 0 ||
	    gt_ptx_read_address(decoder, &bulk->mbarrier, &instruction->operands[1]) != 0 ||
	    (gt_ptx_says(decoder, "multicast::cluster::all") && !(bulk->blocks = gt_ptx_constant_slot(decoder, UINT32_MAX, 4))))
		return -1;
	return gt_ptx_emit_access(decoder, &bulk->outer, gt_ptx_async_steps.bulk) ? 0 : -1;
}

/* clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer; .get_first_ctaid.v4.b32.b128 {x, y, z, _}, answer;
 * .get_first_ctaid::x.b32.b128 x, answer: of the one answer there is, no, and zeros. */
static int decode_query_cancel(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const bool asks = gt_ptx_says(decoder, "is_canceled");
	const uint32_t zero = gt_ptx_constant_slot(decoder, 0, 4);
	size_t n;

	if (instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	const struct gt_ptx_operand *results = gt_ptx_elements(&instruction->operands[0], &n);
	if (!zero || !gt_ptx_wide_slot(decoder, &instruction->operands[1]))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct gt_ptx_result result;
		if (results[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result_slot(decoder, &results[i], asks ? GT_PTX_PRED : GT_PTX_B32, &result) != 0 ||
		    !gt_ptx_emit_form(decoder, asks ? "not.pred" : "mov.b32", result.slot, asks ? GT_PTX_ALL_ONES : zero, 0, 0) ||
		    gt_ptx_finish_result(decoder, &result) != 0)
			return -1;
	}
	return 0;
}

static int decode_launch_control(struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "try_cancel") ? decode_try_cancel(decoder)
	       : gt_ptx_says(decoder, "query_cancel") ? decode_query_cancel(decoder)
						      : gt_ptx_refuse(decoder, "is not known in this form");
}

/* ---- mbarrier, and cp.async.mbarrier.arrive ---- */

/* The actions by what is written: the operand that they have behind the address, and whether they must have it. */
static const struct {
	const char *word, *further; /* NULL: no further word is needed */
	enum gt_ptx_mbarrier_action action;
	enum gt_action access;
	enum gt_ptx_type operand;
	bool needed, tests;
} actions[] = {
	{"init", NULL, GT_PTX_MBARRIER_INIT, GT_STORE, GT_PTX_U32, true, false},
	{"inval", NULL, GT_PTX_MBARRIER_INVALIDATE, GT_STORE, GT_PTX_NO_TYPE, false, false},
	{"arrive", "expect_tx", GT_PTX_MBARRIER_ARRIVE_EXPECTING, GT_ATOMIC, GT_PTX_U32, true, false},
	{"arrive", NULL, GT_PTX_MBARRIER_ARRIVE, GT_ATOMIC, GT_PTX_U32, false, false},
	{"arrive_drop", "expect_tx", GT_PTX_MBARRIER_DROP, GT_ATOMIC, GT_PTX_NO_TYPE, true, false}, /* is refused */
	{"arrive_drop", NULL, GT_PTX_MBARRIER_DROP, GT_ATOMIC, GT_PTX_U32, false, false},
	{"expect_tx", NULL, GT_PTX_MBARRIER_EXPECT, GT_REDUCTION, GT_PTX_U32, true, false},
	{"complete_tx", NULL, GT_PTX_MBARRIER_COMPLETE, GT_REDUCTION, GT_PTX_U32, true, false},
	{"test_wait", "parity", GT_PTX_MBARRIER_TEST_PARITY, GT_LOAD, GT_PTX_U32, true, true},
	{"test_wait", NULL, GT_PTX_MBARRIER_TEST, GT_LOAD, GT_PTX_B64, true, true},
	{"try_wait", "parity", GT_PTX_MBARRIER_TEST_PARITY, GT_LOAD, GT_PTX_U32, true, true},
	{"try_wait", NULL, GT_PTX_MBARRIER_TEST, GT_LOAD, GT_PTX_B64, true, true},
};

/* mbarrier.pending_count.b64 count, state: of a state, the arrivals that its phase then lacked. */
static int decode_pending_count(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const uint32_t count = gt_ptx_temporary_slot(decoder, GT_PTX_B64), mask = gt_ptx_constant_slot(decoder, GT_PTX_MBARRIER_COUNT_MAX, 8);
	struct gt_ptx_result result;
	uint32_t state;

	if (decoder->instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (!count || !mask || !(state = gt_ptx_source(decoder, &operands[1], GT_PTX_B64)) ||
	    gt_ptx_result_slot(decoder, &operands[0], GT_PTX_B32, &result) != 0 ||
	    !gt_ptx_emit_form(decoder, "and.b64", count, state, mask, 0) ||
	    !gt_ptx_emit_form(decoder, "width.b32.b64", result.slot, count, 0, 0))
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

/* mbarrier.ACTION(.SEM.SCOPE)(.shared).b64 (state | predicate,) [address](, operand)(, time of try_wait) */
static int decode_mbarrier(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t at = gt_ptx_results(instruction), all = sizeof actions / sizeof actions[0];
	struct gt_ptx_result result = {0};
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	size_t i = 0, n = instruction->n_operands;
	uint32_t operand = 0;

	if (gt_ptx_says(decoder, "pending_count"))
		return decode_pending_count(decoder);
	const int read = gt_ptx_new_access(decoder, &access, &type);
	if (read != 0)
		return gt_ptx_refused(read);
	while (i < all && (!gt_ptx_says(decoder, actions[i].word) ||
			   (actions[i].further && !gt_ptx_says(decoder, actions[i].further))))
		i++;
	if (i == all || n < at + 1 + actions[i].needed || n > at + 2 + gt_ptx_says(decoder, "try_wait") ||
	    (n > at + 1 && !actions[i].operand) || (actions[i].tests && at != 1))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = (uint8_t)actions[i].access;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    (n > at + 1 && !(operand = gt_ptx_source(decoder, &instruction->operands[at + 1], actions[i].operand))) ||
	    (at > 0 && gt_ptx_result_slot(decoder, &instruction->operands[0], actions[i].tests ? GT_PTX_PRED : GT_PTX_B64,
					  &result) != 0))
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_async_steps.mbarrier);
	if (!op)
		return -1;
	op->a = operand;
	op->d = result.slot;
	op->choice = (uint8_t)actions[i].action;
	return gt_ptx_finish_result(decoder, &result);
}

/* cp.async.mbarrier.arrive(.noinc)(.shared).b64 [address]: the copies before it are done. */
static int decode_copies_arrive(struct gt_ptx_decoder *decoder)
{
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	if (decoder->instruction->n_operands != 1)
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_REDUCTION;
	if (gt_ptx_read_address(decoder, access, &decoder->instruction->operands[0]) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_async_steps.mbarrier);
	if (op)
		op->choice = gt_ptx_says(decoder, "noinc") ? GT_PTX_MBARRIER_ARRIVE : GT_PTX_MBARRIER_LOOK;
	return op ? 0 : -1;
}

/* Whether an asynchronous store or reduction is one that reports to an mbarrier in shared memory. */
static bool is_reported(const struct gt_ptx_decoder *decoder)
{
	return gt_ptx_says(decoder, "mbarrier::complete_tx::bytes") && !gt_ptx_says(decoder, "global");
}

/* Appends the report of so many bytes a lane to the mbarrier at the operand. */
static int emit_report(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t bytes)
{
	struct gt_ptx_access *access = gt_ptx_own(decoder, sizeof *access);
	uint32_t slot = gt_ptx_constant_slot(decoder, bytes, 4);

	if (!access || !slot)
		return -1;
	*access = mbarrier_access();
	if (gt_ptx_read_address(decoder, access, operand) != 0)
		return -1;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_async_steps.mbarrier);
	if (!op)
		return -1;
	op->a = slot;
	op->choice = GT_PTX_MBARRIER_COMPLETE;
	return 0;
}

/* ---- loads, stores and atomics ---- */

/* ld and st of a register of 128 bits: of its halves. */
static int decode_wide(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, bool stores)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const uint32_t slot = gt_ptx_wide_slot(decoder, &operands[stores ? 1 : 0]);

	access->action = stores ? GT_STORE : GT_LOAD;
	access->size = sizeof(uint64_t);
	access->n = 2;
	access->slots[0] = slot;
	access->slots[1] = slot + GT_PTX_WIDE_HALF;
	if (!slot || gt_ptx_read_address(decoder, access, &operands[stores ? 0 : 1]) != 0)
		return -1;
	return gt_ptx_emit_access(decoder, access, stores ? gt_ptx_store_step(access) : gt_ptx_load_step(access)) ? 0 : -1;
}

static bool fits(const struct gt_ptx_access *access, size_t n)
{
	unsigned bytes = (unsigned)access->size * access->n;

	return n == access->n && n <= 8 && access->size > 0 && access->size <= 8 &&
	       bytes <= GT_ACCESS_SIZE_MAX;
}

static int decode_ld(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[8];
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	size_t n = 0, operands = instruction->n_operands;
	int result = gt_ptx_new_access(decoder, &access, &type);

	if (result != 0)
		return gt_ptx_refused(result);
	if (read_policy(decoder, access, &operands) != 0)
		return -1;
	const struct gt_ptx_operand *values = operands == 2 ? gt_ptx_elements(&instruction->operands[0], &n) : NULL;
	if (values && type == GT_PTX_B128 && n == 1)
		return decode_wide(decoder, access, false);
	if (!values || !fits(access, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_LOAD;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[1]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		results[i] = (struct gt_ptx_result){0};
		if (values[i].kind == GT_PTX_SINK)
			continue;
		if (gt_ptx_result_slot(decoder, &values[i], type, &results[i]) != 0)
			return -1;
		access->slots[i] = results[i].slot;
		access->keeps |= n > 1 && results[i].slot == access->address;
	}
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_load_step(access)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

static int decode_st(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	size_t n = 0, operands = instruction->n_operands;
	int result = gt_ptx_new_access(decoder, &access, &type);

	if (result != 0)
		return gt_ptx_refused(result);
	if (read_policy(decoder, access, &operands) != 0)
		return -1;
	const bool asynchronous = gt_ptx_says(decoder, "async");
	const struct gt_ptx_operand *values = operands == 2U + asynchronous ? gt_ptx_elements(&instruction->operands[1], &n) : NULL;
	if (values && type == GT_PTX_B128 && n == 1 && !asynchronous)
		return decode_wide(decoder, access, true);
	if (!values || !fits(access, n) || (asynchronous && !is_reported(decoder)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->action = GT_STORE;
	access->remote |= asynchronous;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!(access->slots[i] = gt_ptx_source(decoder, &values[i], type)))
			return -1;
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_store_step(access)))
		return -1;
	return asynchronous ? emit_report(decoder, &instruction->operands[2], (uint32_t)access->size * access->n) : 0;
}

/* atom.global.OP.VECTOR.TYPE {d, ...}, [a], {b, ...}; red without d. */
static int decode_vector_atomic(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, enum gt_ptx_type type, size_t n)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const size_t at = gt_ptx_results(decoder->instruction);
	struct gt_ptx_result results[8];

	if (access->space != GT_PTX_GLOBAL || n != at + 2 || access->n > 8 || operands[at + 1].n_elements != access->n ||
	    (at > 0 && operands[0].n_elements != access->n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, access, &operands[at]) != 0)
		return -1;
	for (size_t i = 0; i < access->n; i++) {
		if (!(access->slots[i] = gt_ptx_source(decoder, &operands[at + 1].elements[i], type)))
			return -1;
		if (at > 0 && gt_ptx_result_slot(decoder, &operands[0].elements[i], type, &results[i]) != 0)
			return -1;
		access->results[i] = at > 0 ? results[i].slot : 0;
	}
	access->action = at > 0 ? GT_ATOMIC : GT_REDUCTION;
	if (!gt_ptx_emit_access(decoder, access, gt_ptx_atomic_steps.vector))
		return -1;
	for (size_t i = 0; i < access->n && at > 0; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* atom.exch.b128 d, [a], b, and atom.cas.b128 d, [a], b, c: of the halves. */
static int decode_wide_atomic(struct gt_ptx_decoder *decoder, struct gt_ptx_access *access, size_t n)
{
	const struct gt_ptx_operand *operands = decoder->instruction->operands;
	const bool compares = gt_ptx_says(decoder, "cas"), returns = operands[0].kind != GT_PTX_SINK;

	if (n != 3U + compares || compares == gt_ptx_says(decoder, "exch"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, access, &operands[1]) != 0)
		return -1;
	for (size_t i = 0; i + 2 < n; i++) {
		if (!(access->slots[2 * i] = gt_ptx_wide_slot(decoder, &operands[2 + i])))
			return -1;
		access->slots[2 * i + 1] = access->slots[2 * i] + GT_PTX_WIDE_HALF;
	}
	if (returns && !(access->results[0] = gt_ptx_wide_slot(decoder, &operands[0])))
		return -1;
	access->results[1] = access->results[0] + GT_PTX_WIDE_HALF;
	access->action = GT_ATOMIC;
	access->size = sizeof(uint64_t);
	access->n = 2;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_atomic_steps.wide);
	if (!op)
		return -1;
	op->choice = compares;
	op->d = access->results[0];
	return 0;
}

/* atom.OP.TYPE d, [a], b(, c); red without d. An atom whose result is never read is a reduction, as in SASS, if its operation is
 * one of red's: exch and cas are not (PTX ISA, "red"), and profilers count them among the atomics. */
static int decode_atom(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool returns = gt_ptx_row(instruction)->access == GT_PTX_ACCESS_ATOMIC;
	size_t at = returns ? 1 : 0, n = instruction->n_operands;
	struct gt_ptx_result result = {0};
	enum gt_ptx_type type;
	struct gt_ptx_access *access;
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	if (read_policy(decoder, access, &n) != 0)
		return -1;
	if (type == GT_PTX_B128 && returns && access->n == 1)
		return decode_wide_atomic(decoder, access, n);
	const bool asynchronous = gt_ptx_says(decoder, "async");
	access->change = gt_ptx_change(instruction, type);
	if (asynchronous && (n-- != 3 || !is_reported(decoder)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	access->remote |= asynchronous;
	if (access->change && access->n > 1)
		return decode_vector_atomic(decoder, access, type, n);
	if (!access->change || n != at + 2 + gt_ptx_says(decoder, "cas"))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, access, &instruction->operands[at]) != 0 ||
	    !(access->slots[0] = gt_ptx_source(decoder, &instruction->operands[at + 1], type)) ||
	    (n == at + 3 &&
	     !(access->slots[1] = gt_ptx_source(decoder, &instruction->operands[at + 2], type))))
		return -1;
	if (returns && instruction->operands[0].kind == GT_PTX_REGISTER) {
		const struct gt_ptx_register *reg =
			gt_ptx_register_named(&decoder->registers, instruction->operands[0].name);
		returns = reg && reg->read;
		if (gt_ptx_result_slot(decoder, &instruction->operands[0], type, &result) != 0)
			return -1;
	}
	const bool reduces = !gt_ptx_says(decoder, "exch") && !gt_ptx_says(decoder, "cas");
	access->action = !reduces || (returns && result.slot) ? GT_ATOMIC : GT_REDUCTION;
	access->overwrites = gt_ptx_says(decoder, "exch") && !returns;
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, access, gt_ptx_atomic_steps.one[gt_ptx_simd_variant()]);
	if (!op)
		return -1;
	op->d = result.slot;
	if (asynchronous)
		return emit_report(decoder, &instruction->operands[2], access->size);
	return gt_ptx_finish_result(decoder, &result);
}

/* ---- asynchronous copies, and cache lines as a whole ---- */

/* The optional operand of cp.async: how many bytes are copied, or a predicate that ignores all of them. The other
 * bytes are zeros. */
static int read_copied(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, uint32_t *copied,
		       uint32_t *ignored)
{
	const struct gt_ptx_register *reg =
		operand->kind == GT_PTX_REGISTER ? gt_ptx_register_named(&decoder->registers, operand->name) : NULL;

	if (reg && reg->type == GT_PTX_PRED)
		return (*ignored = gt_ptx_source(decoder, operand, GT_PTX_PRED)) ? 0 : -1;
	return (*copied = gt_ptx_source(decoder, operand, GT_PTX_U32)) ? 0 : -1;
}

/* cp.async.CACHE.shared.global [to], [from], bytes(, bytes copied | ignore predicate)(, policy). */
static int decode_async(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	enum gt_ptx_type type;
	struct gt_ptx_access *from, *to = gt_ptx_own(decoder, sizeof *to);
	size_t n = instruction->n_operands;
	uint32_t copied = 0, ignored = 0;
	int read = gt_ptx_new_access(decoder, &from, &type);

	if (!to || read != 0)
		return to ? gt_ptx_refused(read) : -1;
	if (read_policy(decoder, from, &n) != 0)
		return -1;
	if (n < 3 || n > 4 || instruction->operands[2].kind != GT_PTX_IMMEDIATE)
		return gt_ptx_refuse(decoder, "is not known in this form");
	uint64_t bytes = instruction->operands[2].bits;
	if (bytes != 4 && bytes != 8 && bytes != 16)
		return gt_ptx_refuse(decoder, "copies 4, 8 or 16 bytes");
	*to = (struct gt_ptx_access){.space = GT_PTX_SHARED, .action = GT_STORE, .n = 1, .low = 1};
	from->space = GT_PTX_GLOBAL;
	from->action = GT_LOAD;
	from->size = to->size = (uint8_t)bytes;
	if (gt_ptx_read_address(decoder, to, &instruction->operands[0]) != 0 ||
	    gt_ptx_read_address(decoder, from, &instruction->operands[1]) != 0 ||
	    (n == 4 && read_copied(decoder, &instruction->operands[3], &copied, &ignored) != 0))
		return -1;
	/* Two micro-ops, a load and a store: the bytes pass through the warp's buffer. */
	struct gt_ptx_op *op = gt_ptx_emit_access(decoder, from, gt_ptx_copy_step(false));
	if (!op)
		return -1;
	op->a = copied;
	op->b = ignored;
	return gt_ptx_emit_access(decoder, to, gt_ptx_copy_step(true)) ? 0 : -1;
}

static int decode_cp(struct gt_ptx_decoder *decoder)
{
	if (gt_ptx_says(decoder, "commit_group") || gt_ptx_says(decoder, "wait_group") ||
	    gt_ptx_says(decoder, "wait_all"))
		return gt_ptx_emit_nothing(decoder);
	if (gt_ptx_says(decoder, "mbarrier"))
		return decode_copies_arrive(decoder);
	if (gt_ptx_says(decoder, "bulk"))
		return decode_bulk(decoder);
	return gt_ptx_says(decoder, "async") ? decode_async(decoder) : gt_ptx_refuse(decoder, "is not modelled");
}

/* Instructions that act on cache lines: the modifier that they need, the action, how many operands they have. */
static const struct {
	enum gt_ptx_opcode opcode;
	const char *level;
	enum gt_line_action action;
	size_t operands;
} line_actions[] = {
	{GT_PTX_OP_PREFETCH, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_PREFETCH, "L2", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_last", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCH, "L2::evict_normal", GT_PREFETCH_L2, 1},
	{GT_PTX_OP_PREFETCHU, "L1", GT_PREFETCH_L1, 1},
	{GT_PTX_OP_DISCARD, "L2", GT_DISCARD_L2, 2},
	{GT_PTX_OP_APPLYPRIORITY, "L2::evict_normal", GT_APPLY_PRIORITY_L2, 2},
};

/* prefetch(.global).LEVEL [a]; discard(.global).L2 [a], 128; applypriority(.global).L2::evict_normal [a], 128. */
static int decode_line(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const size_t all = sizeof line_actions / sizeof line_actions[0];
	struct gt_ptx_access *access;
	enum gt_ptx_type type;
	size_t i = 0, n = instruction->n_operands;

	if (gt_ptx_says(decoder, "tensormap")) {
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'prefetch.tensormap'", "tensor maps are not cached");
		return gt_ptx_emit_nothing(decoder);
	}
	int read = gt_ptx_new_access(decoder, &access, &type);

	if (read != 0)
		return gt_ptx_refused(read);
	while (i < all && (instruction->row != line_actions[i].opcode || !gt_ptx_says(decoder, line_actions[i].level)))
		i++;
	if (i == all || n != line_actions[i].operands || type != GT_PTX_NO_TYPE ||
	    (n == 2 && (instruction->operands[1].kind != GT_PTX_IMMEDIATE || instruction->operands[1].bits != GT_LINE)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (access->space == GT_PTX_LOCAL) {
		gt_ptx_note_ignored(decoder->machine->notes, instruction->line, "'prefetch.local'",
				    "local memory is not prefetched");
		return gt_ptx_emit_nothing(decoder);
	}
	access->hint |= gt_hint(GT_PRIORITY_NONE, GT_PRIORITY_NONE, GT_FETCH_NONE, line_actions[i].action);
	access->action = GT_LOAD;
	if (gt_ptx_read_address(decoder, access, &instruction->operands[0]) != 0)
		return -1;
	return gt_ptx_emit_access(decoder, access, gt_ptx_touch_lines) ? 0 : -1;
}

/* ---- tensor maps: tensormap.replace, tensormap.cp_fenceproxy ---- */

static int read_place(struct gt_ptx_decoder *decoder, struct gt_ptx_access *place, const struct gt_ptx_operand *operand,
		      enum gt_ptx_space space)
{
	*place = (struct gt_ptx_access){.space = space, .n = 1, .low = 1};
	return gt_ptx_read_address(decoder, place, operand);
}

/* False if none is written. */
static bool read_field(const struct gt_ptx_decoder *decoder, enum gt_tensor_field *field)
{
	static const char *const words[] = {
#define WORD(IDENTIFIER, word) word,
		GT_TENSOR_FIELDS(WORD)
#undef WORD
	};

	for (unsigned f = 0; f < GT_TENSOR_FIELD_COUNT; f++)
		if (gt_ptx_says(decoder, words[f])) {
			*field = (enum gt_tensor_field)f;
			return true;
		}
	return false;
}

static int emit(struct gt_ptx_decoder *decoder, struct gt_ptx_remap *remap, gt_ptx_step *step)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, step);

	if (!op)
		return -1;
	op->with.access = &remap->place;
	return 0;
}

/* tensormap.replace.tile.FIELD(.SPACE).b1024.TYPE [address], (dimension,) value */
static int decode_replace(struct gt_ptx_decoder *decoder, struct gt_ptx_remap *remap)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *operands = instruction->operands;
	const enum gt_ptx_space space = gt_ptx_says(decoder, "global")	      ? GT_PTX_GLOBAL
					: gt_ptx_says(decoder, "shared::cta") ? GT_PTX_SHARED
									      : GT_PTX_GENERIC;

	if (!gt_ptx_says(decoder, "tile") || !gt_ptx_says(decoder, "b1024") || !read_field(decoder, &remap->field))
		return gt_ptx_refuse(decoder, "is not known in this form");
	const bool indexed = remap->field >= GT_TENSOR_FIELD_BOX && remap->field <= GT_TENSOR_FIELD_STEP;
	const uint64_t dimensions = GT_TENSOR_RANK_MAX - (remap->field == GT_TENSOR_FIELD_STRIDE);
	if (instruction->n_operands != 2U + indexed ||
	    (indexed && (operands[1].kind != GT_PTX_IMMEDIATE || operands[1].bits >= dimensions)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	remap->dimension = indexed ? (unsigned)operands[1].bits : 0;
	remap->wide = gt_ptx_says(decoder, "b64");
	remap->value = gt_ptx_source(decoder, &operands[1 + indexed], remap->wide ? GT_PTX_B64 : GT_PTX_B32);
	if (!remap->value || read_place(decoder, &remap->place, &operands[0], space) != 0)
		return -1;
	return emit(decoder, remap, gt_ptx_async_steps.replace_in_map);
}

/* tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic... [to], [from], 128 */
static int decode_tensormap(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_remap *remap = gt_ptx_own(decoder, sizeof *remap);

	if (!remap)
		return -1;
	if (gt_ptx_says(decoder, "replace"))
		return decode_replace(decoder, remap);
	if (!gt_ptx_says(decoder, "cp_fenceproxy") || !gt_ptx_says(decoder, "global") || !gt_ptx_says(decoder, "shared::cta") ||
	    instruction->n_operands != 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (read_place(decoder, &remap->place, &instruction->operands[0], GT_PTX_GLOBAL) != 0 ||
	    read_place(decoder, &remap->from, &instruction->operands[1], GT_PTX_SHARED) != 0)
		return -1;
	return emit(decoder, remap, gt_ptx_async_steps.copy_map);
}

gt_ptx_decode_one *const gt_ptx_decode_memory[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_APPLYPRIORITY] = decode_line,
	[GT_PTX_OP_ATOM] = decode_atom,
	[GT_PTX_OP_CLUSTERLAUNCHCONTROL] = decode_launch_control,
	[GT_PTX_OP_CP] = decode_cp,
	[GT_PTX_OP_CREATEPOLICY] = decode_createpolicy,
	[GT_PTX_OP_DISCARD] = decode_line,
	[GT_PTX_OP_LD] = decode_ld,
	[GT_PTX_OP_LDU] = decode_ld,
	[GT_PTX_OP_MBARRIER] = decode_mbarrier,
	[GT_PTX_OP_PREFETCH] = decode_line,
	[GT_PTX_OP_PREFETCHU] = decode_line,
	[GT_PTX_OP_RED] = decode_atom,
	[GT_PTX_OP_ST] = decode_st,
	[GT_PTX_OP_TENSORMAP] = decode_tensormap,
};
