/* SPDX-License-Identifier: MIT */
/* The codes of a row, and their texts: op, status (stream/op.h) and hint (stream/hint.h). */
#include "stream/op.h"

#include <stdio.h>
#include <string.h>

#include "stream/hint.h"

/* ---- op ---- */

static const char *const actions[] = {"load", "store", "atomic", "reduction"};
static const char *const spaces[] = {"global", "local", "shared", "texture", "constant"};
static const char *const operators[] = {"", ".ca", ".cg", ".cs", ".cv", ".nc", ".lu"};

bool gt_op_valid(uint8_t op)
{
	return gt_op_space(op) < GT_SPACES && gt_op_operator(op) < GT_OPERATORS;
}

const char *gt_op_format(uint8_t op, char *buffer)
{
	if (gt_op_valid(op))
		snprintf(buffer, GT_OP_TEXT, "%s.%s%s", actions[gt_op_action(op)], spaces[gt_op_space(op)],
			 operators[gt_op_operator(op)]);
	else
		snprintf(buffer, GT_OP_TEXT, "%u", op);
	return buffer;
}

int gt_op_parse(const char *text, uint8_t *op)
{
	char name[GT_OP_TEXT];

	for (unsigned i = 0; i < 256; i++) {
		if (!gt_op_valid((uint8_t)i) || strcmp(gt_op_format((uint8_t)i, name), text) != 0)
			continue;
		*op = (uint8_t)i;
		return 0;
	}
	return -1;
}

/* ---- status ---- */

const char *const gt_status_names[GT_STATUSES] = {
	[GT_STATUS_NONE] = "none",
	[GT_STATUS_HIT] = "hit",
	[GT_STATUS_MISS] = "miss",
	[GT_STATUS_RESERVATION_FAIL] = "reservation_fail",
	[GT_STATUS_MERGED] = "merged",
	[GT_STATUS_LATENCY_MISS] = "latency_miss",
	[GT_STATUS_TLB_HIT] = "tlb_hit",
	[GT_STATUS_TLB_MISS] = "tlb_miss",
};

int gt_status_parse(const char *text, uint8_t *status)
{
	for (uint8_t s = 0; s < GT_STATUSES; s++) {
		if (strcmp(text, gt_status_names[s]) != 0)
			continue;
		*status = s;
		return 0;
	}
	return -1;
}

/* ---- hint ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* The parts of a hint, in the order of its text. */
static const struct {
	const char *name;
	uint16_t bits, of; /* of: the mask of the field */
} parts[] = {
	{"prefetch.L1", GT_PREFETCH_L1 << 8, 7 << 8},
	{"prefetch.L2", GT_PREFETCH_L2 << 8, 7 << 8},
	{"discard.L2", GT_DISCARD_L2 << 8, 7 << 8},
	{"applypriority.L2", GT_APPLY_PRIORITY_L2 << 8, 7 << 8},
	{"L1::evict_normal", GT_EVICT_NORMAL, 7},
	{"L1::evict_unchanged", GT_EVICT_UNCHANGED, 7},
	{"L1::evict_first", GT_EVICT_FIRST, 7},
	{"L1::evict_last", GT_EVICT_LAST, 7},
	{"L1::no_allocate", GT_NO_ALLOCATE, 7},
	{"L2::evict_normal", GT_EVICT_NORMAL << 3, 7 << 3},
	{"L2::evict_unchanged", GT_EVICT_UNCHANGED << 3, 7 << 3},
	{"L2::evict_first", GT_EVICT_FIRST << 3, 7 << 3},
	{"L2::evict_last", GT_EVICT_LAST << 3, 7 << 3},
	{"L2::64B", GT_FETCH_64 << 6, 3 << 6},
	{"L2::128B", GT_FETCH_128 << 6, 3 << 6},
	{"L2::256B", GT_FETCH_256 << 6, 3 << 6},
};

const char *gt_hint_format(uint16_t hint, char *buffer)
{
	char *end = buffer;

	for (size_t i = 0; i < LENGTH(parts); i++) {
		if ((hint & parts[i].of) != parts[i].bits)
			continue;
		if (end > buffer)
			*end++ = ',';
		strcpy(end, parts[i].name);
		end += strlen(end);
	}
	if (end == buffer)
		strcpy(buffer, "none");
	return buffer;
}

int gt_hint_parse(const char *text, uint16_t *hint)
{
	unsigned said = 0;

	*hint = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < LENGTH(parts) && (strlen(parts[i].name) != length || strncmp(parts[i].name, at, length) != 0))
			i++;
		if (i == LENGTH(parts) || (said & parts[i].of) != 0)
			return -1;
		said |= parts[i].of;
		*hint |= parts[i].bits;
		at += length;
		if (!*at)
			return 0;
	}
}
