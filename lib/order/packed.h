/* SPDX-License-Identifier: MIT */
/* A warp access on its way through the sorter, and the record that keeps it in memory and in files: what nearly all rows have
 * alike is left out, so that a row takes half a cache line or less. */
#ifndef GT_ORDER_PACKED_H
#define GT_ORDER_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stream/rows.h"

/* With it go `lanes` addresses, and then the stride is GT_STRIDE_LANES; no addresses if those of the active lanes follow from the first. */
struct gt_packed {
	uint32_t kernel; /* the launch's place among those seen, from 0 */
	uint32_t block, an, pc, mask, work, shared;
	uint8_t warp, lanes;
	uint16_t sm;
	uint8_t op, size;
	uint16_t hint;
	uint64_t base;
	struct gt_affine affine;
};

/* The parts of a record, one behind the other. */
struct gt_record {
	uint64_t base;
	uint32_t an, pc;
	int32_t stride;
	uint8_t warp, op, size;
	uint8_t form; /* the number of words, which come last; and which of these parts there are: */
};
struct gt_record_place { /* GT_RECORD_PLACED; else as in the record before */
	uint32_t kernel, block;
};
struct gt_record_rest { /* GT_RECORD_UNUSUAL; else all lanes, 0, and the stride above */
	int64_t stride;
	uint32_t mask, work;
	uint16_t sm, hint;
	uint32_t shared;
};

#define GT_RECORD_WORDS 0x3fU /* addresses of lanes; GT_RECORD_PITCHED and more: a pitch, of rows of 2, 4, 8 or 16 lanes */
#define GT_RECORD_PITCHED (GT_WARP_SIZE + 1U)
#define GT_RECORD_PLACED 0x40U
#define GT_RECORD_UNUSUAL 0x80U
#define GT_RECORD_BYTES_MAX \
	(sizeof(struct gt_record) + sizeof(struct gt_record_place) + sizeof(struct gt_record_rest) + GT_WARP_SIZE * sizeof(uint64_t))

/* The form of a row's words. */
static inline uint8_t gt_record_form(const struct gt_packed *row)
{
	return row->affine.width ? (uint8_t)(GT_RECORD_PITCHED + (unsigned)__builtin_ctz(row->affine.width) - 1) : row->lanes;
}

static inline size_t gt_record_words(unsigned form)
{
	const unsigned words = form & GT_RECORD_WORDS;

	return words < GT_RECORD_PITCHED ? words : 1;
}

static inline size_t gt_record_bytes(const struct gt_record *record)
{
	return sizeof *record + (record->form & GT_RECORD_PLACED ? sizeof(struct gt_record_place) : 0) +
	       (record->form & GT_RECORD_UNUSUAL ? sizeof(struct gt_record_rest) : 0) +
	       gt_record_words(record->form) * sizeof(uint64_t);
}

/* The block of a record that says it. */
static inline uint32_t gt_record_block(const struct gt_record *record)
{
	return ((const struct gt_record_place *)(const void *)(record + 1))->block;
}

/* Writes a record of at most GT_RECORD_BYTES_MAX bytes; returns how many. */
static inline size_t gt_record_put(void *to, const struct gt_packed *row, const uint64_t *lanes, bool placed)
{
	bool listed = row->lanes > 0;
	bool unusual = row->mask != UINT32_MAX || row->work != 0 || row->shared != 0 || row->sm != 0 || row->hint != 0 ||
		       (!listed && row->affine.stride != (int32_t)row->affine.stride);
	const uint8_t form = gt_record_form(row);
	const size_t words = gt_record_words(form);
	char *at = to;

	*(struct gt_record *)to = (struct gt_record){
		row->base, row->an, row->pc, listed ? 0 : (int32_t)row->affine.stride, row->warp, row->op, row->size,
		(uint8_t)(form | (placed ? GT_RECORD_PLACED : 0) | (unusual ? GT_RECORD_UNUSUAL : 0))};
	at += sizeof(struct gt_record);
	if (placed) {
		const struct gt_record_place place = {row->kernel, row->block};
		memcpy(at, &place, sizeof place);
		at += sizeof place;
	}
	if (unusual) {
		const struct gt_record_rest rest = {row->affine.stride, row->mask, row->work, row->sm, row->hint, row->shared};
		memcpy(at, &rest, sizeof rest);
		at += sizeof rest;
	}
	if (words > 0)
		memcpy(at, listed ? (const void *)lanes : &row->affine.pitch, words * sizeof *lanes);
	return (size_t)(at - (char *)to) + words * sizeof *lanes;
}

/* Reads a record; kernel and block stay as they are if it does not have them. Returns the addresses. */
static inline const uint64_t *gt_record_get(const struct gt_record *record, struct gt_packed *row)
{
	const char *at = (const char *)(record + 1);

	row->base = record->base;
	row->an = record->an;
	row->pc = record->pc;
	row->affine.stride = record->stride;
	row->affine.pitch = 0;
	row->affine.width = 0;
	row->warp = record->warp;
	row->op = record->op;
	row->size = record->size;
	row->lanes = record->form & GT_RECORD_WORDS;
	row->mask = UINT32_MAX;
	row->work = row->shared = 0;
	row->sm = row->hint = 0;
	if (record->form & GT_RECORD_PLACED) {
		const struct gt_record_place *place = (const void *)at;
		row->kernel = place->kernel;
		row->block = place->block;
		at += sizeof *place;
	}
	if (record->form & GT_RECORD_UNUSUAL) {
		const struct gt_record_rest *rest = (const void *)at;
		row->affine.stride = rest->stride;
		row->mask = rest->mask;
		row->work = rest->work;
		row->shared = rest->shared;
		row->sm = rest->sm;
		row->hint = rest->hint;
		at += sizeof *rest;
	}
	if (row->lanes >= GT_RECORD_PITCHED) {
		row->affine.width = (uint8_t)(2U << (row->lanes - GT_RECORD_PITCHED));
		memcpy(&row->affine.pitch, at, sizeof row->affine.pitch);
		row->lanes = 0;
	}
	if (row->lanes > 0)
		row->affine.stride = GT_STRIDE_LANES;
	return (const void *)at;
}

/* The key of a row in two words, the more significant first. The warp is in the lowest bits. */
struct gt_sort_key {
	uint64_t high, low;
};

#define GT_SORT_WARP_BITS 16
#define GT_SORT_WARPS ((UINT64_C(1) << GT_SORT_WARP_BITS) - 1)

static inline struct gt_sort_key gt_sort_key_of(const struct gt_packed *row, bool by_an)
{
	uint32_t first = by_an ? row->an : row->block, second = by_an ? row->block : row->an;

	return (struct gt_sort_key){(uint64_t)row->kernel << 32 | first, (uint64_t)second << GT_SORT_WARP_BITS | row->warp};
}

static inline bool gt_sort_key_less(struct gt_sort_key a, struct gt_sort_key b)
{
	return a.high < b.high || (a.high == b.high && a.low < b.low);
}

#endif
