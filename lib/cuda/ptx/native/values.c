/* SPDX-License-Identifier: MIT */
/* Which slots are in which registers while a segment is written, and where its predicates are. */
#include "cuda/ptx/native/segment.h"

/* Where register i of a value is in memory. */
static struct gt_native_place place_of(const struct gt_native_segment *segment, const struct gt_native_value *value, unsigned i)
{
	const uint32_t offset = segment->isa->bytes * (i + value->n * value->part);

	return (struct gt_native_place){value->n == 2 ? GT_R9 : GT_R8, value->slot + offset};
}

static void store(struct gt_native_segment *segment, const struct gt_native_value *value)
{
	for (unsigned i = 0; i < value->n; i++) {
		const struct gt_native_place place = place_of(segment, value, i);
		segment->isa->store(segment, value, i, place.base, place.offset);
	}
}

static void load(struct gt_native_segment *segment, const struct gt_native_value *value)
{
	for (unsigned i = 0; i < value->n; i++) {
		const struct gt_native_place place = place_of(segment, value, i);
		segment->isa->load(segment, value->at[i], place.base, place.offset);
	}
}

/* Whether somebody reads a value later on, if a whole warp does the operations; parts before the one under way are further, and
 * those behind it less far. */
static bool is_needed(const struct gt_native_segment *segment, const struct gt_native_value *value)
{
	size_t from = segment->op;

	if (!segment->whole)
		return true;
	if (segment->unrolled && value->part != segment->part)
		from = value->part < segment->part ? segment->end : segment->first;
	return gt_native_needed(segment->needs, value->slot, from);
}

static void release(struct gt_native_segment *segment, struct gt_native_value *value)
{
	if (value->dirty && is_needed(segment, value))
		store(segment, value);
	for (unsigned i = 0; i < value->n; i++)
		segment->taken[value->at[i]] = false;
	value->n = 0;
}

/* The one whose last use is the longest ago; of those that nobody reads any more, if there are any. */
static struct gt_native_value *oldest(struct gt_native_segment *segment)
{
	struct gt_native_value *found = NULL;
	bool found_needed = true;

	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++) {
		struct gt_native_value *value = &segment->values[i];
		if (value->n == 0 || value->used == segment->now)
			continue;
		const bool needed = is_needed(segment, value);
		if (!found || needed < found_needed || (needed == found_needed && value->used < found->used)) {
			found = value;
			found_needed = needed;
		}
	}
	return found;
}

static unsigned take_register(struct gt_native_segment *segment)
{
	for (;;) {
		for (unsigned i = 0; i < segment->isa->registers; i++)
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
		if (segment->values[i].n && segment->values[i].slot == slot && segment->values[i].part == segment->part) {
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
	*value = (struct gt_native_value){slot, segment->part, n, {at[0], at[n - 1]}, false, segment->now};
	return value;
}

const struct gt_native_value *gt_native_read(struct gt_native_segment *segment, uint32_t slot, unsigned n)
{
	struct gt_native_value *value = find(segment, slot);

	if (value)
		return value;
	value = enter(segment, slot, n);
	load(segment, value);
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

struct gt_native_operand gt_native_where(const struct gt_native_segment *segment, uint32_t slot, unsigned n, unsigned part, unsigned i)
{
	const struct gt_native_value wanted = {.slot = slot, .part = part, .n = n};

	for (unsigned v = 0; v < GT_NATIVE_VALUES; v++) {
		const struct gt_native_value *value = &segment->values[v];
		if (value->n && value->slot == slot && value->part == part)
			return (struct gt_native_operand){.held = true, .at = value->at[i]};
	}
	return (struct gt_native_operand){.place = place_of(segment, &wanted, i)};
}

void gt_native_with(struct gt_native_segment *segment, struct gt_native_op op, unsigned d, unsigned a, struct gt_native_operand b)
{
	if (b.held)
		segment->isa->vector(segment, op, d, a, b.at);
	else
		segment->isa->memory(segment, op, d, a, b.place.base, b.place.offset);
}

void gt_native_release(struct gt_native_segment *segment, uint32_t slot)
{
	for (unsigned v = 0; v < GT_NATIVE_VALUES; v++) {
		struct gt_native_value *value = &segment->values[v];
		if (value->n && value->slot == slot)
			release(segment, value);
	}
}

void gt_native_store_values(struct gt_native_segment *segment, const struct gt_native_value *values)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (values[i].n && values[i].dirty)
			store(segment, &values[i]);
}

void gt_native_load_values(struct gt_native_segment *segment, const struct gt_native_value *values)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (values[i].n)
			load(segment, &values[i]);
}

void gt_native_store_all(struct gt_native_segment *segment)
{
	for (unsigned i = 0; i < GT_NATIVE_VALUES; i++)
		if (segment->values[i].n && segment->values[i].dirty && is_needed(segment, &segment->values[i]))
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

struct gt_native_place gt_native_predicate(const struct gt_native_segment *segment, uint32_t slot)
{
	const size_t i = index_of(segment, slot);

	if (segment->unrolled)
		return (struct gt_native_place){GT_R10, slot + segment->part * segment->isa->bytes / 32};
	return i < segment->n_predicates ? (struct gt_native_place){GT_R11, (uint32_t)(4 * i)} : (struct gt_native_place){GT_R10, slot};
}

struct gt_native_place gt_native_new_predicate(struct gt_native_segment *segment, uint32_t slot)
{
	const size_t i = index_of(segment, slot);

	if (i == segment->n_predicates)
		segment->predicates[segment->n_predicates++] = slot;
	return (struct gt_native_place){GT_R11, (uint32_t)(4 * i)};
}

/* Reads a predicate into eax, part by part, since a load of what several stores wrote waits for them. r11 is behind the last part. */
static void join_parts(struct gt_native_segment *segment, uint32_t i)
{
	const unsigned lanes = segment->isa->bytes / 4, parts = GT_WARP_SIZE / lanes;
	struct gt_native_code *code = segment->code;
	const char *first = lanes == 16 ? "\x41\x0f\xb7\x83" : "\x41\x0f\xb6\x83"; /* movzx eax, word or byte [r11 + offset] */
	const char *other = lanes == 16 ? "\x45\x0f\xb7\x83" : "\x45\x0f\xb6\x83"; /* movzx r8d */

	gt_native_bytes(code, first, 4);
	gt_native_word(code, 4 * i - 4);
	for (unsigned part = 1; part < parts; part++) {
		gt_native_bytes(code, other, 4);
		gt_native_word(code, 4 * i - 4 + part * lanes / 8);
		gt_native_text(code, "\x41\xc1\xe0"); /* shl r8d */
		gt_native_byte(code, part * lanes);
		gt_native_text(code, "\x44\x09\xc0"); /* or eax, r8d */
	}
}

void gt_native_store_predicates(struct gt_native_segment *segment)
{
	struct gt_native_code *code = segment->code;

	for (uint32_t i = 0; i < segment->n_predicates; i++) {
		join_parts(segment, i);
		if (!segment->whole) { /* xor eax, [rdi + slot]; and eax, esi; xor eax, [rdi + slot] */
			gt_native_text(code, "\x33\x87");
			gt_native_word(code, segment->predicates[i]);
			gt_native_text(code, "\x21\xf0\x33\x87");
			gt_native_word(code, segment->predicates[i]);
		}
		gt_native_text(code, "\x89\x87"); /* mov [rdi + slot], eax */
		gt_native_word(code, segment->predicates[i]);
	}
}
