/* SPDX-License-Identifier: MIT */
/* Which slots are in which registers while a segment is written. r8 and r9 are the arena's slots of 32 and 64 bits a lane for
 * the half of the warp under way, r10 those of predicates, r11 the predicates that the segment writes. */
#include "ptx/native/segment.h"

static const struct gt_native_op load = {GT_0F, GT_F3, 0, 0x6f}, store32 = {GT_0F, GT_F3, 0, 0x7f},
				 store64 = {GT_0F, GT_F3, 1, 0x7f};

static void store(struct gt_native_segment *segment, struct gt_native_value *value)
{
	/* Of the active lanes: k1 is their mask, for the second register of 64-bit lanes k2. */
	for (unsigned i = 0; i < value->n; i++)
		gt_native_memory(segment->code, value->n == 2 ? store64 : store32, value->at[i], segment->whole ? 0 : 1 + i,
				 value->n == 2 ? GT_R9 : GT_R8, value->slot + 64 * i);
	value->dirty = false;
}

static void release(struct gt_native_segment *segment, struct gt_native_value *value)
{
	if (value->dirty)
		store(segment, value);
	for (unsigned i = 0; i < value->n; i++)
		segment->taken[value->at[i]] = false;
	value->n = 0;
}

/* The one whose last use is the longest ago. */
static struct gt_native_value *oldest(struct gt_native_segment *segment)
{
	struct gt_native_value *found = NULL;

	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++) {
		struct gt_native_value *value = &segment->values[i];
		if (value->n && value->used != segment->now && (!found || value->used < found->used))
			found = value;
	}
	return found;
}

static unsigned take_register(struct gt_native_segment *segment)
{
	for (;;) {
		for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
			if (!segment->taken[i]) {
				segment->taken[i] = true;
				return i;
			}
		release(segment, oldest(segment));
	}
}

static struct gt_native_value *find(struct gt_native_segment *segment, uint32_t slot)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (segment->values[i].n && segment->values[i].slot == slot) {
			segment->values[i].used = segment->now;
			return &segment->values[i];
		}
	return NULL;
}

static struct gt_native_value *enter(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = segment->values;
	unsigned at[2];

	for (unsigned i = 0; i < n; i++)
		at[i] = take_register(segment);
	while (value->n)
		value++;
	*value = (struct gt_native_value){slot, n, {at[0], at[n - 1]}, false, segment->now};
	return value;
}

const struct gt_native_value *gt_native_read(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = find(segment, slot);

	if (value)
		return value;
	value = enter(segment, slot, n);
	for (unsigned i = 0; i < n; i++)
		gt_native_memory(segment->code, load, value->at[i], 0, n == 2 ? GT_R9 : GT_R8, slot + 64 * i);
	return value;
}

const struct gt_native_value *gt_native_write_to(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = find(segment, slot);

	if (!value)
		value = enter(segment, slot, n);
	value->dirty = true;
	return value;
}

void gt_native_store_all(struct gt_native_segment *segment)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (segment->values[i].n && segment->values[i].dirty)
			store(segment, &segment->values[i]);
}

/* ---- predicates ---- */

static size_t index_of(const struct gt_native_segment *segment, uint32_t slot)
{
	size_t i = 0;

	while (i < segment->n_predicates && segment->predicates[i] != slot)
		i++;
	return i;
}

void gt_native_read_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	size_t i = index_of(segment, slot);

	if (i < segment->n_predicates)
		gt_native_mask_memory(segment->code, 0x90, k, GT_R11, (uint32_t)(4 * i));
	else
		gt_native_mask_memory(segment->code, 0x90, k, GT_R10, slot);
}

void gt_native_write_predicate(struct gt_native_segment *segment, uint32_t slot, unsigned k)
{
	size_t i = index_of(segment, slot);

	if (i == segment->n_predicates)
		segment->predicates[segment->n_predicates++] = slot;
	gt_native_mask_memory(segment->code, 0x91, k, GT_R11, (uint32_t)(4 * i));
}

void gt_native_store_predicates(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	for (uint32_t i = 0; i < segment->n_predicates; i++) {
		/* r11 is behind both halves: movzx eax, word [r11 - 4]; movzx r8d, word [r11 - 2]; shl r8d, 16; or eax, r8d */
		gt_native_bytes(code, "\x41\x0f\xb7\x83", 4);
		gt_native_word(code, 4 * i - 4);
		gt_native_bytes(code, "\x45\x0f\xb7\x83", 4);
		gt_native_word(code, 4 * i - 2);
		gt_native_bytes(code, "\x41\xc1\xe0\x10\x44\x09\xc0", 7);
		if (!segment->whole) { /* xor eax, [rdi + slot]; and eax, esi; xor eax, [rdi + slot] */
			gt_native_bytes(code, "\x33\x87", 2);
			gt_native_word(code, segment->predicates[i]);
			gt_native_bytes(code, "\x21\xf0\x33\x87", 4);
			gt_native_word(code, segment->predicates[i]);
		}
		gt_native_bytes(code, "\x89\x87", 2); /* mov [rdi + slot], eax */
		gt_native_word(code, segment->predicates[i]);
	}
}
