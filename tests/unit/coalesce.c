/* SPDX-License-Identifier: MIT */
/* Coalescing against a reference that visits every byte of every lane, and worked examples. */
#include "coalesce/coalesce.h"

#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "stream/shared.h"
#include "stream/op.h"

static uint64_t state = 1;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Requests are kept until they are looked at. */
static int refuse(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	(void)rows;
	return gt_fail(error, "full");
}

static struct gt_rows *new_rows(size_t capacity)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(capacity, &error);

	if (!rows)
		abort();
	return rows;
}

/* --- the reference ------------------------------------------------------------------------- */

struct reference {
	unsigned n;
	struct {
		uint64_t address;
		bool byte[GT_LINE];
		unsigned threads;
	} request[2 * GT_WARP_SIZE];
};

static unsigned reference_line(struct reference *reference, unsigned from, uint64_t line)
{
	for (unsigned k = from; k < reference->n; k++)
		if (reference->request[k].address == line)
			return k;
	memset(&reference->request[reference->n], 0, sizeof reference->request[0]);
	reference->request[reference->n].address = line;
	return reference->n++;
}

static unsigned reference_group(const char *rule, unsigned size)
{
	if (strncmp(rule, "pascal", strlen("pascal")) != 0)
		return 32;
	return size <= 4 ? 8 : size <= 8 ? 4 : size <= 16 ? 2 : 1;
}

static void reference_access(struct reference *reference, const uint64_t lane[32], uint32_t mask, unsigned size,
			     const char *rule)
{
	unsigned group = reference_group(rule, size), from = 0;

	reference->n = 0;
	for (unsigned l = 0; l < 32; l++) {
		if (l % group == 0)
			from = reference->n;
		if (!(mask >> l & 1))
			continue;
		for (unsigned b = 0; b < size; b++) {
			uint64_t address = lane[l] + b;
			unsigned k = reference_line(reference, from, address - address % GT_LINE);
			reference->request[k].byte[address % GT_LINE] = true;
			reference->request[k].threads += b == 0;
		}
	}
}

static unsigned reference_sectors(const struct reference *reference, unsigned k, bool whole)
{
	unsigned mask = 0;

	for (unsigned s = 0; s < 4; s++) {
		unsigned bytes = 0;
		for (unsigned b = 0; b < 32; b++)
			bytes += reference->request[k].byte[32 * s + b];
		mask |= (unsigned)(whole ? bytes == 32 : bytes > 0) << s;
	}
	return mask;
}

/* The requests of a store by rule pascal: each is joined with the first one to its line with which it shares no sector. */
static void reference_join(struct reference *reference)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < reference->n; k++) {
		unsigned j;
		for (j = 0; j < kept; j++)
			if (reference->request[j].address == reference->request[k].address &&
			    !(reference_sectors(reference, j, false) & reference_sectors(reference, k, false)))
				break;
		if (j == kept) {
			reference->request[kept++] = reference->request[k];
			continue;
		}
		for (unsigned b = 0; b < GT_LINE; b++)
			reference->request[j].byte[b] |= reference->request[k].byte[b];
		reference->request[j].threads += reference->request[k].threads;
	}
	reference->n = kept;
}

/* The banks that are compared: those of Fermi, Tesla, and Kepler's modes of 4 and of 8 bytes; and odd ones. */
static const struct gt_banks all_banks[] = {{32, 4, 4}, {16, 4, 4}, {32, 8, 4}, {32, 8, 8}, {8, 8, 4}, {1, 4, 4}};
#define ALL_BANKS (sizeof all_banks / sizeof all_banks[0])

/* Byte by byte: each (bank, row) that the lanes of a group touch, once. */
static unsigned reference_passes_together(const struct gt_banks *banks, const uint64_t *lane, uint32_t mask,
					  unsigned first, unsigned together, unsigned size)
{
	uint64_t row[32 * GT_ACCESS_SIZE_MAX];
	unsigned bank[32 * GT_ACCESS_SIZE_MAX], rows_of[32] = {0}, n = 0, most = 0;

	for (unsigned l = first; l < first + together; l++)
		for (unsigned b = 0; mask >> l & 1 && b < size; b++) {
			uint64_t r = (lane[l] + b) / (banks->n * banks->width);
			unsigned k = 0, in = (unsigned)((lane[l] + b) / banks->unit % banks->n);
			while (k < n && (row[k] != r || bank[k] != in))
				k++;
			if (k < n)
				continue;
			row[n] = r;
			bank[n++] = in;
			rows_of[in]++;
			most = rows_of[in] > most ? rows_of[in] : most;
		}
	return most;
}

/* Whether no two lanes that are on, i and i ^ distance, have different addresses. */
static bool reference_pairs(const uint64_t lane[32], uint32_t mask, unsigned distance)
{
	for (unsigned l = 0; l < 32; l++)
		if (mask >> l & 1 && mask >> (l ^ distance) & 1 && lane[l] != lane[l ^ distance])
			return false;
	return true;
}

static unsigned reference_passes(const struct gt_banks *banks, const uint64_t lane[32], uint32_t mask, unsigned size, bool loads)
{
	unsigned padded = size <= 1 ? 1 : size <= 2 ? 2 : size <= 4 ? 4 : size <= 8 ? 8 : size <= 16 ? 16 : 32;
	unsigned together = banks->n * banks->width / padded, passes = 0;

	together = together > banks->n ? banks->n : together > 0 ? together : 1;
	if (loads && together < 32 && banks->n == 32 && banks->width == 4 && (reference_pairs(lane, mask, 1) || reference_pairs(lane, mask, 2)))
		together *= 2;
	for (unsigned first = 0; first < 32; first += together)
		passes += reference_passes_together(banks, lane, mask, first, together, size);
	return passes;
}

/* --- comparisons --------------------------------------------------------------------------- */

static int64_t random_stride(unsigned size)
{
	static const int64_t strides[] = {0,  1,   2,	4,	 8,	     16,	  32,	     64,
					  96, 128, 256, INT64_MAX, INT64_C(1) << 58, INT64_C(1) << 62, -4, INT64_MIN + 1};

	switch (random_number() % 4) {
	case 0: return (int64_t)size;
	case 1: return strides[random_number() % (sizeof strides / sizeof strides[0])];
	case 2: return (int64_t)(random_number() % 300) - 150;
	default: return (int64_t)(random_number() | 1);
	}
}

static uint64_t random_base(void)
{
	uint64_t base = random_number() % 4 == 0 ? 0 - random_number() % 600 : random_number();

	return random_number() % 2 ? base & ~(uint64_t)31 : base;
}

/* One random access as row 0, and its lanes' addresses by lane. */
static void random_access(struct gt_rows *rows, uint64_t lane[32])
{
	static const unsigned sizes[] = {1, 2, 4, 4, 4, 8, 8, 16, 32};
	struct gt_error error;
	uint64_t packed[32];
	unsigned size = random_number() % 4 ? sizes[random_number() % 9] : 1 + (unsigned)(random_number() % 32);
	uint32_t mask = random_number() % 3 ? UINT32_MAX : (uint32_t)random_number();
	uint64_t base = random_base(), span = UINT64_C(1) << (random_number() % 8 ? random_number() % 14 : 36 + random_number() % 12);
	uint64_t part = random_number() % 2 ? 3 : 0; /* of a word: lanes gather words that are aligned, or not */
	int64_t stride = random_stride(size);
	bool gather = random_number() % 3 == 0;
	unsigned width = 32U >> (random_number() % 2 ? 0 : random_number() % 5); /* of rows of lanes at a pitch */
	uint64_t pitch = (uint64_t)random_stride(size * width);
	unsigned n = 0, alike = (unsigned)random_number() % 3; /* lanes whose numbers differ in this bit have one address */

	mask = mask ? mask : 1;
	for (unsigned l = 0; l < 32; l++) {
		lane[l] = gather && l & alike ? lane[l & ~alike] :
			  gather ? (base + random_number() % span) & ~part :
			 width < 32 ? base + (uint64_t)stride * (l % width) + pitch * (l / width) :
				   base + (uint64_t)stride * (l - (unsigned)__builtin_ctz(mask));
		if (mask >> l & 1)
			packed[n++] = lane[l];
	}
	rows->kind = GT_ACCESSES;
	rows->n = 1;
	rows->n_lanes = 0;
	rows->size[0] = (uint8_t)size;
	rows->op[0] = (uint8_t)(random_number() % 4);
	if (gt_rows_set_addresses(rows, 0, mask, packed, &error) != 0)
		abort();
	if (!gather && stride != GT_STRIDE_LANES) {
		/* Any stride and pitch that the stream can carry, also where others explain the addresses. */
		gt_rows_set_affine(rows, 0, (struct gt_affine){stride, (int64_t)pitch, width < 32 ? (uint8_t)width : 0});
		rows->base[0] = packed[0];
	}
}

static void compare_access(struct gt_rows *accesses, const uint64_t lane[32], const char *rule)
{
	static struct reference reference;
	struct gt_rows *requests = new_rows(64);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_coalescer coalescer;
	struct gt_error error;
	bool store = gt_op_action(accesses->op[0]) == GT_STORE, fermi = strcmp(rule, "fermi") == 0;
	unsigned threads = 0;

	reference_access(&reference, lane, accesses->mask[0], accesses->size[0], rule);
	if (store && strcmp(rule, "pascal") == 0)
		reference_join(&reference);
	CHECK_EQUAL(gt_coalescer_open(&coalescer, rule, &error), 0);
	CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), 0);
	CHECK_EQUAL(requests->n, reference.n);
	for (unsigned k = 0; k < reference.n && k < requests->n; k++) {
		CHECK_EQUAL(requests->address[k], reference.request[k].address);
		CHECK_EQUAL(requests->sectors[k], fermi ? 0xf : reference_sectors(&reference, k, false));
		CHECK_EQUAL(requests->full[k], store ? reference_sectors(&reference, k, true) : 0);
		CHECK_EQUAL(requests->threads[k], reference.request[k].threads);
		threads += requests->threads[k];
	}
	CHECK_EQUAL(threads, __builtin_popcount(accesses->mask[0]));
	gt_rows_free(requests);
}

static void compare_rule(const char *rule)
{
	struct gt_rows *accesses = new_rows(1);
	uint64_t lane[32];

	for (unsigned i = 0; i < 40000 && check_failures == 0; i++) {
		random_access(accesses, lane);
		compare_access(accesses, lane, rule);
	}
	gt_rows_free(accesses);
}

static void default_equals_the_reference(void) { compare_rule("default"); }
static void pascal_equals_the_reference(void) { compare_rule("pascal"); }
static void pascal_apart_equals_the_reference(void) { compare_rule("pascal-apart"); }
static void fermi_equals_the_reference(void) { compare_rule("fermi"); }

static void join(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n)
{
	struct gt_error error;

	if (gt_rows_join(to, from, first, n, &error) != 0)
		abort();
}

/* Accesses [first, first + n), by themselves; appends their requests. */
static void coalesce_some(struct gt_coalescer *coalescer, struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests)
{
	struct gt_rows *own = new_rows(n);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_error error;

	own->kind = GT_ACCESSES;
	join(own, accesses, first, n);
	CHECK_EQUAL(gt_coalesce(coalescer, own, &sink, &error), 0);
	gt_rows_free(own);
}

#define SAME(COLUMN) CHECK_EQUAL(memcmp(together->COLUMN, apart->COLUMN, apart->n * sizeof *apart->COLUMN), 0)

/* With spans the rows are fewer, and the same requests. */
static void compare_spans(const char *rule, struct gt_rows *accesses, const struct gt_rows *singly, const struct gt_coalescer *counted)
{
	struct gt_rows *rows = new_rows(64 * accesses->n), *requests = NULL;
	struct gt_coalescer coalescer;
	struct gt_error error;

	CHECK_EQUAL(gt_coalescer_open(&coalescer, rule, &error), 0);
	coalescer.spans = true;
	coalesce_some(&coalescer, accesses, 0, accesses->n, rows);
	CHECK(rows->n <= singly->n);
	CHECK_EQUAL(gt_rows_expand(&requests, rows, 0, rows->n, &error), 0);
	CHECK_EQUAL(requests->n, singly->n);
	CHECK(memcmp(requests->address, singly->address, singly->n * sizeof *singly->address) == 0);
	CHECK(memcmp(requests->sectors, singly->sectors, singly->n) == 0);
	CHECK(memcmp(requests->full, singly->full, singly->n) == 0);
	CHECK(memcmp(requests->threads, singly->threads, singly->n) == 0);
	CHECK(memcmp(requests->an, singly->an, singly->n * sizeof *singly->an) == 0);
	CHECK(memcmp(&coalescer.counts, &counted->counts, sizeof counted->counts) == 0);
	CHECK(memcmp(coalescer.requests, counted->requests, sizeof counted->requests) == 0);
	CHECK(memcmp(coalescer.sectors, counted->sectors, sizeof counted->sectors) == 0);
	for (size_t i = 0; i + 1 < requests->n; i++)
		CHECK(requests->an[i] <= requests->an[i + 1]);
	gt_rows_free(rows);
	gt_rows_free(requests);
}

/* A column of a matrix of n bytes a row is one row of 32 requests, each of a sector. */
static void columns_are_spans(void)
{
	struct gt_rows *accesses = new_rows(3), *rows = new_rows(64);
	struct gt_coalescer coalescer;
	struct gt_error error;

	accesses->kind = GT_ACCESSES;
	accesses->n = 3;
	for (size_t i = 0; i < 3; i++) {
		accesses->size[i] = 4;
		accesses->mask[i] = i == 2 ? 0x7 : UINT32_MAX; /* three are written one by one */
		accesses->base[i] = 0x10000 + 4 * i;
		gt_rows_set_affine(accesses, i, (struct gt_affine){.stride = i == 1 ? -4096 : 4096});
	}
	CHECK_EQUAL(gt_coalescer_open(&coalescer, NULL, &error), 0);
	coalescer.spans = true;
	coalesce_some(&coalescer, accesses, 0, 3, rows);
	CHECK_EQUAL(rows->n, 5);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQUAL(rows->address[i], 0x10000);
		CHECK_EQUAL(rows->width[i], 32);
		CHECK_EQUAL(rows->pitch[i], i == 1 ? -4096 : 4096);
		CHECK_EQUAL(rows->sectors[i], 1);
		CHECK_EQUAL(rows->threads[i], 1);
	}
	for (size_t i = 2; i < 5; i++)
		CHECK_EQUAL(gt_rows_span(rows, i), 1);
	gt_rows_free(accesses);
	gt_rows_free(rows);
}

/* A batch in which few accesses come again, at other lines, is as each of it alone, which the reference tells. */
static void compare_batch(const char *rule)
{
	enum { KINDS = 24, ROWS = 250 };
	struct gt_rows *one = new_rows(1), *kinds = new_rows(KINDS), *accesses = new_rows(ROWS);
	struct gt_rows *together = new_rows(64 * ROWS), *apart = new_rows(64 * ROWS);
	struct gt_coalescer whole, each;
	struct gt_error error;
	uint64_t lane[32];

	kinds->kind = accesses->kind = GT_ACCESSES;
	while (kinds->n < KINDS) {
		random_access(one, lane);
		join(kinds, one, 0, 1);
	}
	for (size_t i = 0; i < ROWS; i++) {
		join(accesses, kinds, random_number() % KINDS, 1);
		accesses->an[i] = (uint32_t)i;
		if (accesses->stride[i] != GT_STRIDE_LANES)
			accesses->base[i] += GT_LINE * (random_number() % 1000);
	}
	CHECK_EQUAL(gt_coalescer_open(&whole, rule, &error), 0);
	CHECK_EQUAL(gt_coalescer_open(&each, rule, &error), 0);
	coalesce_some(&whole, accesses, 0, ROWS, together);
	for (size_t i = 0; i < ROWS; i++)
		coalesce_some(&each, accesses, i, 1, apart);
	CHECK_EQUAL(together->n, apart->n);
	SAME(address);
	SAME(sectors);
	SAME(full);
	SAME(threads);
	SAME(op);
	CHECK_EQUAL(memcmp(&whole.counts, &each.counts, sizeof each.counts), 0);
	compare_spans(rule, accesses, together, &whole);
	CHECK_EQUAL(memcmp(whole.sectors, each.sectors, sizeof each.sectors), 0);
	CHECK_EQUAL(memcmp(whole.requests, each.requests, sizeof each.requests), 0);
	gt_rows_free(one);
	gt_rows_free(kinds);
	gt_rows_free(accesses);
	gt_rows_free(together);
	gt_rows_free(apart);
}

static void batches_equal_their_accesses(void)
{
	static const char *const rules[] = {"default", "pascal", "pascal-apart", "fermi"};

	for (unsigned i = 0; i < 400 && check_failures == 0; i++)
		compare_batch(rules[i % 4]);
}

static void bank_passes_equal_the_reference(void)
{
	struct gt_rows *accesses = new_rows(1);
	uint64_t lane[32];

	for (unsigned i = 0; i < 40000 && check_failures == 0; i++) {
		random_access(accesses, lane);
		for (unsigned k = 0; k < ALL_BANKS; k++)
			CHECK_EQUAL(gt_bank_passes(&all_banks[k], accesses, 0),
				    reference_passes(&all_banks[k], lane, accesses->mask[0], accesses->size[0], gt_op_action(accesses->op[0]) == GT_LOAD));
	}
	gt_rows_free(accesses);
}

/* --- worked examples ----------------------------------------------------------------------- */

static void set_affine(struct gt_rows *rows, uint8_t op, uint64_t base, int64_t stride, uint32_t mask, uint8_t size)
{
	rows->kind = GT_ACCESSES;
	rows->n = 1;
	rows->op[0] = op;
	rows->base[0] = base;
	rows->stride[0] = stride;
	rows->mask[0] = mask;
	rows->size[0] = size;
}

/* Sectors of one load of all lanes; requests too if asked. */
static uint64_t load(const char *rule, int64_t stride, uint32_t mask, uint8_t size, uint64_t *requests_made)
{
	struct gt_rows *accesses = new_rows(1), *requests = new_rows(64);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_coalescer coalescer;
	struct gt_error error;

	set_affine(accesses, gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE), 0x7f0000000000, stride, mask, size);
	CHECK_EQUAL(gt_coalescer_open(&coalescer, rule, &error), 0);
	CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), 0);
	if (requests_made)
		*requests_made = coalescer.requests[GT_LOAD];
	gt_rows_free(accesses);
	gt_rows_free(requests);
	return coalescer.sectors[GT_LOAD];
}

/* [003] table 3, the four workloads made for it: measured sectors a request, where a request is
 * the access of a warp. Strides there are in 4-byte elements. */
static void sectors_of_003_table_3(void)
{
	CHECK_EQUAL(load(NULL, 32 * 4, UINT32_MAX, 4, NULL), 32);
	CHECK_EQUAL(load(NULL, 4 * 4, UINT32_MAX, 4, NULL), 16);
	CHECK_EQUAL(load(NULL, 0, UINT32_MAX, 4, NULL), 1);
	CHECK_EQUAL(load(NULL, 4, UINT32_MAX, 4, NULL), 4);
}

/* [004] fig. 2: 4 lanes, 8 bytes each, 64 bytes apart: 128 bytes with sectors, 256 without. */
static void bytes_of_004_figure_2(void)
{
	uint64_t requests;

	CHECK_EQUAL(32 * load("default", 64, 0xf, 8, &requests), 128);
	CHECK_EQUAL(requests, 2);
	CHECK_EQUAL(32 * load("fermi", 64, 0xf, 8, &requests), 256);
	CHECK_EQUAL(requests, 2);
}

/* What a Titan X (Pascal) and a GTX 1080 count: a broadcast is 4 transactions, 32 contiguous
 * floats 4, doubles 8; a column of a wide matrix one a lane; a partial warp of 8 lanes one. */
static void transactions_of_pascal(void)
{
	CHECK_EQUAL(load("pascal", 0, UINT32_MAX, 4, NULL), 4);
	CHECK_EQUAL(load("pascal", 4, UINT32_MAX, 4, NULL), 4);
	CHECK_EQUAL(load("pascal", 8, UINT32_MAX, 8, NULL), 8);
	CHECK_EQUAL(load("pascal", 4096, UINT32_MAX, 4, NULL), 32);
	CHECK_EQUAL(load("pascal", 4, 0xff, 4, NULL), 1);
}

static unsigned passes_in(const char *banks_text, int64_t stride, uint32_t mask, uint8_t size)
{
	struct gt_banks banks;
	struct gt_error error;
	struct gt_rows *accesses = new_rows(1);

	CHECK_EQUAL(gt_banks_parse(banks_text, &banks, &error), 0);
	set_affine(accesses, gt_op(GT_LOAD, GT_SHARED, GT_OPERATOR_NONE), 256, stride, mask, size);
	unsigned n = gt_bank_passes(&banks, accesses, 0);
	gt_rows_free(accesses);
	return n;
}

static unsigned passes(int64_t stride, uint32_t mask, uint8_t size) { return passes_in("32x4", stride, mask, size); }

/* [001] 4.1, figs. 4 and 5: conflicts are gcd(stride, 32)-way, none for odd strides and for a
 * broadcast. Strides are in words. */
static void bank_conflicts_of_001(void)
{
	static const unsigned expected[33] = {1, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16,
					      1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 32};

	for (int64_t stride = 0; stride <= 32; stride++) {
		CHECK_EQUAL(passes(4 * stride, UINT32_MAX, 4), expected[stride]);
		CHECK_EQUAL(passes(-4 * stride, UINT32_MAX, 4), expected[stride]);
	}
	CHECK_EQUAL(passes(8, UINT32_MAX, 8), 2);
	CHECK_EQUAL(passes(16, UINT32_MAX, 16), 4);
	CHECK_EQUAL(passes(8, 0xffff, 8), 1);
	CHECK_EQUAL(passes(0, UINT32_MAX, 8), 1);
	CHECK_EQUAL(passes(0, UINT32_MAX, 16), 2);
}

/* [001] 4.1, figures 6 and 7: Kepler with 4-byte data. What the text gives: stride 2, no conflict in either mode; 4, two
 * passes in both; 6, two in the 4-byte mode and one in the 8-byte mode, and so on for other even strides that are no
 * powers of two. In words of 8 bytes a stride is half as long: gcd(stride / 2, 32) passes. */
static void bank_conflicts_of_kepler(void)
{
	static const unsigned four[17] = {1, 1, 2, 2, 4, 2, 4, 2, 8, 2, 4, 2, 8, 2, 4, 2, 16};
	static const unsigned eight[17] = {1, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16};

	for (int64_t half = 0; half <= 16; half++) {
		CHECK_EQUAL(passes_in("32x8:4", 8 * half, UINT32_MAX, 4), four[half]);
		CHECK_EQUAL(passes_in("32x8", 8 * half, UINT32_MAX, 4), eight[half]);
	}
	CHECK_EQUAL(passes_in("32x8:4", 4, UINT32_MAX, 4), 1);
	CHECK_EQUAL(passes_in("32x8", 4, UINT32_MAX, 4), 1);
	CHECK_EQUAL(passes_in("32x8:4", 8, UINT32_MAX, 8), 1); /* two words a lane: 256 bytes, one row of all banks */
	CHECK_EQUAL(passes_in("32x8", 8, UINT32_MAX, 8), 1);
	CHECK_EQUAL(passes_in("16x4", 4, UINT32_MAX, 4), 2); /* Tesla: half a warp a pass */
	CHECK_EQUAL(passes_in("16x4", 64, UINT32_MAX, 4), 32);
}

/* Figure 5: 50 cycles for a broadcast, 88 with two passes, 1210 with 32; lines between, and beyond. */
static void latencies_of_shared_memory(void)
{
	struct gt_shared_latency latency;
	struct gt_error error;

	CHECK_EQUAL(gt_shared_latency_parse("1:50,2:88,32:1210", &latency, &error), 0);
	CHECK_EQUAL(gt_shared_cycles(&latency, 1), 50);
	CHECK_EQUAL(gt_shared_cycles(&latency, 2), 88);
	CHECK_EQUAL(gt_shared_cycles(&latency, 17), 649); /* 88 + 15 * 37.4 */
	CHECK_EQUAL(gt_shared_cycles(&latency, 32), 1210);
	CHECK_EQUAL(gt_shared_cycles(&latency, 33), 1247);
	CHECK_EQUAL(gt_shared_latency_parse("2:40", &latency, &error), 0);
	CHECK_EQUAL(gt_shared_cycles(&latency, 1), 40);
	CHECK_EQUAL(gt_shared_latency_parse("", &latency, &error), -1);
	CHECK_EQUAL(gt_shared_latency_parse("0:1", &latency, &error), -1);
	CHECK_EQUAL(gt_shared_latency_parse("1:50,1:60", &latency, &error), -1);
	CHECK_EQUAL(gt_shared_latency_parse("1:50,2:40", &latency, &error), -1);
	CHECK_EQUAL(gt_shared_latency_parse("1:50,", &latency, &error), -1);
}

/* --- what else it promises ----------------------------------------------------------------- */

static void shared_memory_makes_no_requests(void)
{
	struct gt_rows *accesses = new_rows(1), *requests = new_rows(1);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_coalescer coalescer;
	struct gt_error error;

	set_affine(accesses, gt_op(GT_ATOMIC, GT_SHARED, GT_OPERATOR_NONE), 0, 8, UINT32_MAX, 4);
	CHECK_EQUAL(gt_coalescer_open(&coalescer, NULL, &error), 0);
	CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), 0);
	CHECK_EQUAL(requests->n, 0);
	CHECK_EQUAL(coalescer.counts.shared_accesses, 1);
	CHECK_EQUAL(coalescer.counts.bank_passes, 2);
	gt_rows_free(accesses);
	gt_rows_free(requests);
}

static int take(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)error;
	*(uint64_t *)context += rows->n;
	rows->n = 0;
	return 0;
}

static void requests_keep_the_row_they_come_from(void)
{
	struct gt_rows *accesses = new_rows(1), *requests = new_rows(8);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_coalescer coalescer;
	struct gt_error error;

	set_affine(accesses, gt_op(GT_STORE, GT_LOCAL, GT_CS), 64, 4, UINT32_MAX, 4);
	accesses->scheduled = true;
	accesses->block[0] = 7, accesses->warp[0] = 3, accesses->an[0] = 11, accesses->pc[0] = 0x40;
	accesses->step[0] = 99, accesses->sm[0] = 5;
	CHECK_EQUAL(gt_coalescer_open(&coalescer, NULL, &error), 0);
	CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), 0);
	CHECK_EQUAL(requests->n, 2);
	CHECK_EQUAL(requests->kind, GT_REQUESTS);
	CHECK(requests->scheduled);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQUAL(requests->block[i], 7);
		CHECK_EQUAL(requests->warp[i], 3);
		CHECK_EQUAL(requests->an[i], 11);
		CHECK_EQUAL(requests->pc[i], 0x40);
		CHECK_EQUAL(requests->op[i], accesses->op[0]);
		CHECK_EQUAL(requests->step[i], 99);
		CHECK_EQUAL(requests->sm[i], 5);
		CHECK_EQUAL(requests->address[i], 128 * i);
		CHECK_EQUAL(requests->sectors[i], i ? 0x3 : 0xc);
		CHECK_EQUAL(requests->full[i], i ? 0x3 : 0xc);
		CHECK_EQUAL(requests->threads[i], 16);
	}
	gt_rows_free(accesses);
	gt_rows_free(requests);
}

static void counts_add_up(void)
{
	struct gt_rows *accesses = new_rows(1), *requests = new_rows(3);
	uint64_t emitted = 0, lane[32];
	struct gt_sink sink = {requests, take, &emitted};
	struct gt_coalescer coalescer;
	struct gt_count count;
	struct gt_error error;
	static const char *const parts[] = {"accesses", "requests", "sectors"};
	static const char *const kinds[] = {"load", "store", "atomic"};

	CHECK_EQUAL(gt_coalescer_open(&coalescer, NULL, &error), 0);
	for (unsigned i = 0; i < 1000; i++) {
		random_access(accesses, lane);
		if (i % 7 == 0)
			accesses->op[0] = gt_op(GT_LOAD, GT_SHARED, GT_OPERATOR_NONE);
		CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), 0);
	}
	gt_count_begin(&count, GT_COALESCE_STAGE, 1);
	CHECK_EQUAL(gt_coalescer_count(&coalescer, &count, &error), 0);
	CHECK_EQUAL(gt_count_value(&count, "accesses", 0), 1000);
	CHECK_EQUAL(gt_count_value(&count, "requests", 0), emitted + requests->n);
	CHECK_EQUAL(gt_count_value(&count, "shared_accesses", 0), 143);
	for (unsigned p = 0; p < 3; p++) {
		uint64_t sum = p == 0 ? 143 : 0;
		for (unsigned k = 0; k < 3; k++) {
			char name[GT_COUNT_NAME];
			snprintf(name, sizeof name, "%s_%s", kinds[k], parts[p]);
			CHECK(gt_count_value(&count, name, 0) > 0);
			sum += gt_count_value(&count, name, 0);
		}
		CHECK_EQUAL(gt_count_value(&count, parts[p], 0), sum);
	}
	CHECK(gt_count_value(&count, "reduction_sectors", 0) > 0);
	CHECK(gt_count_value(&count, "reduction_sectors", 0) < gt_count_value(&count, "atomic_sectors", 0));
	gt_count_clear(&count);
	gt_coalescer_reset(&coalescer);
	gt_count_begin(&count, GT_COALESCE_STAGE, 2);
	CHECK_EQUAL(gt_coalescer_count(&coalescer, &count, &error), 0);
	CHECK_TEXT(count.entries[0].text, "default");
	for (size_t i = 1; i < count.n; i++)
		CHECK_EQUAL(count.entries[i].number, 0);
	gt_count_clear(&count);
	gt_rows_free(accesses);
	gt_rows_free(requests);
}

static void errors_are_told(void)
{
	struct gt_rows *accesses = new_rows(1), *requests = new_rows(31);
	struct gt_sink sink = {requests, refuse, NULL};
	struct gt_coalescer coalescer;
	struct gt_error error;

	CHECK_EQUAL(gt_coalescer_open(&coalescer, "volta", &error), -1);
	CHECK_TEXT(error.text, "'volta': expected one of default, pascal, pascal-apart, fermi");
	CHECK_EQUAL(gt_coalescer_open(&coalescer, "", &error), -1);
	CHECK_EQUAL(gt_coalescer_open(&coalescer, NULL, &error), 0);
	CHECK_TEXT(coalescer.rule->name, "default");
	set_affine(accesses, 0, 0, 128, UINT32_MAX, 4);
	CHECK_EQUAL(gt_coalesce(&coalescer, accesses, &sink, &error), -1);
	CHECK_TEXT(error.text, "full");
	gt_rows_free(accesses);
	gt_rows_free(requests);
}

int main(void)
{
	RUN(default_equals_the_reference);
	RUN(pascal_equals_the_reference);
	RUN(pascal_apart_equals_the_reference);
	RUN(columns_are_spans);
	RUN(fermi_equals_the_reference);
	RUN(batches_equal_their_accesses);
	RUN(bank_passes_equal_the_reference);
	RUN(bank_conflicts_of_kepler);
	RUN(latencies_of_shared_memory);
	RUN(sectors_of_003_table_3);
	RUN(bytes_of_004_figure_2);
	RUN(transactions_of_pascal);
	RUN(bank_conflicts_of_001);
	RUN(shared_memory_makes_no_requests);
	RUN(requests_keep_the_row_they_come_from);
	RUN(counts_add_up);
	RUN(errors_are_told);
	return check_report();
}
