/* SPDX-License-Identifier: MIT */
/* Counts by site against a reference that visits every byte of every lane, on random accesses of a few sites. */
#include "coalesce/by_site.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "coalesce/coalesce.h"
#include "stream/op.h"

static uint64_t state = 1;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t n) { return random_number() % n; }

/* --- the reference: one pc a site, no arrays ------------------------------------------------ */

#define SITES 4
#define BYTES_MAX (1 << 20) /* distinct bytes of a kernel */

struct site {
	uint64_t accesses, lanes, bytes, sectors, least_sectors, misaligned_sectors, partial_sectors, addresses;
	bool met, several_ops, strided, several_strides, stores, atomics;
	int64_t stride;
	uint8_t op;
};

struct reference {
	struct site sites[SITES];
	uint64_t touched[BYTES_MAX], read[BYTES_MAX];
	size_t n_touched, n_read;
};

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Sorts, and drops what is there twice. */
static size_t distinct(uint64_t *numbers, size_t n)
{
	size_t kept = 0;

	qsort(numbers, n, sizeof *numbers, by_number);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	return kept;
}

static size_t distinct_sectors(const uint64_t *bytes, size_t n)
{
	size_t sectors = 0;

	for (size_t i = 0; i < n; i++)
		sectors += i == 0 || bytes[i] / 32 != bytes[i - 1] / 32;
	return sectors;
}

/* Whether the bytes, sorted as offsets from a place far below all of them, follow each other. */
static bool gapless(const uint64_t *bytes, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (bytes[i] != bytes[i - 1] + 1)
			return false;
	return true;
}

/* The sectors of which every byte is there. */
static size_t whole_sectors(const uint64_t *bytes, size_t n)
{
	size_t whole = 0;

	for (size_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && bytes[i + k] / 32 == bytes[i] / 32; k++)
			;
		whole += k == 32;
	}
	return whole;
}

/* Whether the lanes have a stride: lane l is `stride` times its distance from the lowest lane away from it. */
static bool has_stride(const uint64_t lane[32], uint32_t mask, int64_t stride)
{
	unsigned lowest = (unsigned)__builtin_ctz(mask);

	for (unsigned l = lowest; l < 32; l++)
		if (mask >> l & 1 && lane[l] != lane[lowest] + (uint64_t)stride * (l - lowest))
			return false;
	return true;
}

static void reference_stride(struct site *site, const uint64_t lane[32], uint32_t mask, int64_t stride)
{
	if ((mask & (mask - 1)) == 0)
		return;
	if (!has_stride(lane, mask, stride) || (site->strided && site->stride != stride))
		site->several_strides = true;
	site->strided = true;
	site->stride = stride;
}

static void reference_add(struct reference *reference, unsigned pc, uint8_t op, unsigned size, const uint64_t lane[32], uint32_t mask)
{
	struct site *site = &reference->sites[pc];
	uint64_t bytes[32 * 32], shifted[32 * 32], addresses[32];
	size_t n = 0, lanes = 0;
	const bool store = gt_op_action(op) == GT_STORE, atomic = gt_op_action(op) == GT_ATOMIC, reads = gt_op_action(op) == GT_LOAD || atomic;

	for (unsigned l = 0; l < 32; l++) {
		if (!(mask >> l & 1))
			continue;
		addresses[lanes++] = lane[l];
		for (unsigned b = 0; b < size; b++)
			bytes[n++] = lane[l] + b;
	}
	for (size_t i = 0; i < n; i++) {
		reference->touched[reference->n_touched++] = bytes[i];
		if (reads)
			reference->read[reference->n_read++] = bytes[i];
		shifted[i] = bytes[i] - addresses[0] + (UINT64_C(1) << 63);
	}
	size_t asked = n, there = distinct(bytes, n);
	uint64_t sectors = distinct_sectors(bytes, there), least = (asked + 31) / 32 < sectors ? (asked + 31) / 32 : sectors;
	bool fills = distinct(shifted, n) == asked && gapless(shifted, asked);
	site->several_ops |= site->met && site->op != op;
	site->met = true;
	site->op = op;
	site->accesses++;
	site->lanes += lanes;
	site->bytes += asked;
	site->sectors += sectors;
	site->least_sectors += least;
	if (fills && (shifted[0] + addresses[0]) % 32 != 0)
		site->misaligned_sectors += sectors - least;
	if (store)
		site->partial_sectors += sectors - whole_sectors(bytes, there);
	site->stores |= store;
	if (atomic || gt_op_action(op) == GT_REDUCTION)
		site->addresses += distinct(addresses, lanes);
	site->atomics |= atomic || gt_op_action(op) == GT_REDUCTION;
}

/* --- random kernels ------------------------------------------------------------------------- */

struct pattern {
	uint8_t op;
	unsigned size;
	int64_t stride;
	bool gather, permuted;
	uint32_t mask;
	unsigned width; /* of rows at a pitch; 32: there is none */
	int64_t pitch;
};

static struct pattern random_pattern(void)
{
	static const unsigned sizes[] = {1, 2, 4, 4, 4, 8, 8, 16, 32, 3, 5, 12, 24};
	static const int64_t times[] = {0, 1, 1, 1, -1, 2, 3, 4, 8, -2, 16};
	static const int64_t strides[] = {2048, 1, 48, 64, 128, -64, INT64_C(1) << 62, INT64_MAX, 7, 20, INT64_C(1) << 59};
	struct pattern pattern = {.op = (uint8_t)below(4), .size = sizes[below(13)]};

	pattern.stride = below(4) ? (int64_t)pattern.size * times[below(11)] : strides[below(11)];
	pattern.gather = below(5) == 0;
	pattern.width = 32U >> (below(2) ? 0 : below(5));
	pattern.pitch = below(2) ? strides[below(11)] : (int64_t)below(200) - 100;
	pattern.permuted = below(5) == 0;
	switch (below(4)) {
	case 0: pattern.mask = (uint32_t)random_number(); break;
	case 1: pattern.mask = UINT32_MAX >> below(32) << below(8); break;
	case 2: pattern.mask = UINT32_C(0x55555555) << below(2) & UINT32_MAX >> below(24); break;
	default: pattern.mask = UINT32_MAX;
	}
	pattern.mask = pattern.mask ? pattern.mask : 1;
	return pattern;
}

/* The addresses by lane. */
static void random_lanes(const struct pattern *pattern, uint64_t lane[32])
{
	uint64_t base = below(8) == 0 ? 0 - below(600) : 0x7f0000000000 + below(1 << 13) / pattern->size * pattern->size;
	uint64_t span = UINT64_C(1) << below(14);

	base += below(6) == 0 ? below(64) : 0;
	for (unsigned l = 0; l < 32; l++)
		lane[l] = pattern->gather ? base + below(span) : base + (uint64_t)pattern->stride * (l % pattern->width) + (uint64_t)pattern->pitch * (l / pattern->width);
	for (unsigned l = 31; l > 0 && pattern->permuted; l--) {
		unsigned other = (unsigned)below(l + 1);
		uint64_t address = lane[l];
		lane[l] = lane[other];
		lane[other] = address;
	}
}

static void set_row(struct gt_rows *rows, const struct pattern *pattern, unsigned pc, const uint64_t lane[32])
{
	uint64_t packed[32];
	unsigned n = 0;
	struct gt_error error;

	for (unsigned l = 0; l < 32; l++)
		if (pattern->mask >> l & 1)
			packed[n++] = lane[l];
	rows->kind = GT_ACCESSES;
	rows->n = 1;
	rows->n_lanes = 0;
	rows->pc[0] = pc;
	rows->op[0] = pattern->op;
	rows->size[0] = (uint8_t)pattern->size;
	if (gt_rows_set_addresses(rows, 0, pattern->mask, packed, &error) != 0)
		abort();
	if (rows->stride[0] != GT_STRIDE_LANES && below(4) == 0) { /* listed though they have a stride */
		if (gt_rows_reserve_lanes(rows, n, &error) != 0)
			abort();
		memcpy(rows->lanes, packed, n * sizeof *packed);
		rows->base[0] = 0;
		gt_rows_set_affine(rows, 0, (struct gt_affine){.stride = GT_STRIDE_LANES});
	}
}

static int drop(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	(void)error;
	rows->n = 0;
	return 0;
}

static uint64_t value(const struct gt_count *count, unsigned pc, const char *name)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "0x%x -.%s", pc, name);
	return gt_count_value(count, full, UINT64_MAX);
}

static void check_word(const struct gt_count *count, unsigned pc, const char *name, const char *expected)
{
	char full[GT_COUNT_NAME];
	const struct gt_count_entry *entry;

	snprintf(full, sizeof full, "0x%x -.%s", pc, name);
	entry = gt_count_find(count, full);
	CHECK_TEXT(entry ? entry->text : "absent", expected);
}

static void compare_site(const struct gt_count *count, unsigned pc, const struct site *site)
{
	char op[GT_OP_TEXT], stride[32] = "several";

	if (!site->met) {
		CHECK_EQUAL(value(count, pc, "accesses"), UINT64_MAX);
		return;
	}
	CHECK_EQUAL(value(count, pc, "accesses"), site->accesses);
	CHECK_EQUAL(value(count, pc, "lanes"), site->lanes);
	CHECK_EQUAL(value(count, pc, "bytes"), site->bytes);
	CHECK_EQUAL(value(count, pc, "sectors"), site->sectors);
	CHECK_EQUAL(value(count, pc, "least_sectors"), site->least_sectors);
	CHECK_EQUAL(value(count, pc, "misaligned_sectors"), site->misaligned_sectors);
	CHECK_EQUAL(value(count, pc, "partial_sectors"), site->stores ? site->partial_sectors : UINT64_MAX);
	CHECK_EQUAL(value(count, pc, "addresses"), site->atomics ? site->addresses : UINT64_MAX);
	CHECK_EQUAL(value(count, pc, "passes"), UINT64_MAX);
	check_word(count, pc, "op", site->several_ops ? "several" : gt_op_format(site->op, op));
	if (!site->several_strides)
		snprintf(stride, sizeof stride, "%" PRId64, site->stride);
	check_word(count, pc, "stride", site->strided ? stride : "absent");
}

static void compare_bytes(const struct gt_count *count, struct reference *reference)
{
	size_t touched = distinct(reference->touched, reference->n_touched), read = distinct(reference->read, reference->n_read);

	CHECK_EQUAL(gt_count_value(count, "unique_bytes", 0), touched);
	CHECK_EQUAL(gt_count_value(count, "unique_sectors", 0), distinct_sectors(reference->touched, touched));
	CHECK_EQUAL(gt_count_value(count, "unique_read_bytes", 0), read);
	CHECK_EQUAL(gt_count_value(count, "unique_read_sectors", 0), distinct_sectors(reference->read, read));
	CHECK_EQUAL(gt_count_value(count, "-.unique_read_bytes", 0), read);
	CHECK_EQUAL(gt_count_value(count, "-.unique_read_sectors", 0), distinct_sectors(reference->read, read));
}

static void run_kernel(struct gt_coalescer *coalescer, struct gt_rows *accesses, struct gt_sink *sink, struct reference *reference)
{
	struct pattern patterns[SITES];
	struct gt_error error;
	uint64_t lane[32];

	for (unsigned pc = 0; pc < SITES; pc++)
		patterns[pc] = random_pattern();
	for (unsigned i = 0, n = (unsigned)below(60); i < n; i++) {
		unsigned pc = (unsigned)below(SITES);
		if (below(20) == 0)
			patterns[pc] = random_pattern();
		random_lanes(&patterns[pc], lane);
		set_row(accesses, &patterns[pc], pc, lane);
		int64_t stride = accesses->width[0] ? GT_STRIDE_LANES : accesses->stride[0];
		if (accesses->stride[0] == GT_STRIDE_LANES)
			stride = gt_common_stride(accesses->mask[0], accesses->lanes);
		reference_stride(&reference->sites[pc], lane, patterns[pc].mask, stride);
		reference_add(reference, pc, patterns[pc].op, patterns[pc].size, lane, patterns[pc].mask);
		CHECK_EQUAL(gt_coalesce(coalescer, accesses, sink, &error), 0);
	}
}

static void counts_equal_the_reference(void)
{
	static struct reference reference;
	struct gt_error error;
	struct gt_coalescer coalescer;
	struct gt_by_site *by = gt_by_site_open(&error);
	struct gt_rows *accesses = gt_rows_new(1, &error), *requests = gt_rows_new(512, &error);
	struct gt_sink sink = {requests, drop, NULL};
	struct gt_count count;

	if (!by || !accesses || !requests || gt_coalescer_open(&coalescer, NULL, &error) != 0)
		abort();
	coalescer.by_site = by;
	for (unsigned i = 0; i < 800 && check_failures == 0; i++) {
		memset(reference.sites, 0, sizeof reference.sites);
		reference.n_touched = reference.n_read = 0;
		gt_by_site_begin(by);
		run_kernel(&coalescer, accesses, &sink, &reference);
		gt_count_begin(&count, GT_COALESCE_STAGE, 1);
		CHECK_EQUAL(gt_by_site_count(by, &count, &error), 0);
		for (unsigned pc = 0; pc < SITES; pc++)
			compare_site(&count, pc, &reference.sites[pc]);
		compare_bytes(&count, &reference);
		gt_count_clear(&count);
	}
	gt_by_site_close(by);
	gt_rows_free(accesses);
	gt_rows_free(requests);
}

int main(void)
{
	RUN(counts_equal_the_reference);
	return check_report();
}
