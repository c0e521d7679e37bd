/* SPDX-License-Identifier: MIT */
/* Everything written is read back: every column, with any range of values. */
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "check.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/stream.h"

static uint64_t seed = 1;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* A number of at most `bits` bits. */
static uint64_t random_bits(unsigned bits)
{
	return bits == 0 ? 0 : random_number() >> (64 - bits);
}

static int temporary(void)
{
	char path[] = "/tmp/gtrace-test-XXXXXX";
	int descriptor = mkstemp(path);

	unlink(path);
	return descriptor;
}

/* Values as narrow or as wide as `bits`, above an offset of up to `above` bits. */
static void fill(struct gt_rows *rows, size_t n, struct gt_rows shape, unsigned bits, bool lanes)
{
	struct gt_error error;
	uint64_t base = random_bits(60), addresses[GT_WARP_SIZE];

	gt_rows_shape(rows, &shape);
	rows->n = n;
	rows->n_lanes = 0;
	for (size_t i = 0; i < n; i++) {
		rows->block[i] = (uint32_t)random_bits(bits < 31 ? bits : 31);
		rows->warp[i] = (uint16_t)random_bits(bits < 5 ? bits : 5);
		rows->an[i] = (uint32_t)random_bits(bits < 32 ? bits : 32);
		rows->pc[i] = (uint32_t)(base + random_bits(bits));
		rows->op[i] = gt_op(random_bits(2) & (bits ? 3 : 0), GT_LOCAL, GT_CG);
		rows->size[i] = (uint8_t)(1 + random_bits(bits < 4 ? bits : 4));
		rows->mask[i] = (uint32_t)random_bits(bits < 32 ? bits : 32) | 5;
		rows->base[i] = base + random_bits(bits);
		gt_rows_set_affine(rows, i, (struct gt_affine){.stride = (int64_t)random_bits(bits < 20 ? bits : 20) - 7,
							       .width = i % 5 == 2 ? (uint8_t)(2U << random_bits(2)) : 0,
							       .pitch = i % 5 == 2 ? (int64_t)random_bits(bits) - 9 : 0});
		rows->address[i] = (base + random_bits(bits)) & ~(uint64_t)(GT_LINE - 1);
		rows->sectors[i] = (uint8_t)(random_bits(bits < 4 ? bits : 4) | 1);
		rows->full[i] = rows->sectors[i] & 5;
		rows->threads[i] = (uint8_t)random_bits(bits < 5 ? bits : 5);
		rows->step[i] = base + random_bits(bits);
		rows->sm[i] = (uint16_t)random_bits(bits < 16 ? bits : 16);
		rows->status[i] = (uint8_t)(random_bits(bits < 8 ? bits : 8) % GT_STATUSES);
		rows->latency[i] = (uint32_t)random_bits(bits < 32 ? bits : 32);
		rows->work[i] = (uint32_t)random_bits(bits < 32 ? bits : 32);
		rows->hint[i] = gt_hint(random_bits(2) & (bits ? 3 : 0), GT_EVICT_LAST, GT_FETCH_128, GT_ACCESS_DATA);
		if (lanes && shape.kind == GT_ACCESSES && i % 3 == 0) {
			for (int l = 0; l < GT_WARP_SIZE; l++)
				addresses[l] = base + random_bits(bits + 10);
			CHECK(gt_rows_set_addresses(rows, i, rows->mask[i], addresses, &error) == 0);
		}
	}
}

static bool same(const struct gt_rows *a, const struct gt_rows *b)
{
	if (!gt_rows_alike(a, b) || a->n != b->n || a->n_lanes != b->n_lanes)
		return false;
	for (size_t c = 0; c < gt_columns_n; c++)
		if (gt_column_present(a, &gt_columns[c]) &&
		    memcmp(gt_column_of(a, &gt_columns[c]), gt_column_of(b, &gt_columns[c]),
			   a->n * gt_columns[c].width) != 0)
			return false;
	for (size_t i = 0; a->kind == GT_ACCESSES && i < a->n; i++)
		if (a->width[i] != b->width[i] || (a->width[i] && a->pitch[i] != b->pitch[i]))
			return false;
	return a->n_lanes == 0 || memcmp(a->lanes, b->lanes, a->n_lanes * sizeof *a->lanes) == 0;
}

static void round_trip(size_t n, struct gt_rows shape, unsigned bits, bool lanes)
{
	struct gt_error error = {""};
	char *argv[] = {"an argument", "--other", NULL};
	int descriptor = temporary();
	struct gt_kernel kernel = {.id = 7, .name = "k", .grid = {UINT32_C(1) << 31, 1, 1}, .block = {1024, 1, 1}};
	struct gt_rows *rows = gt_rows_new(n, &error);
	struct gt_writer *writer = gt_writer_open(descriptor, NULL, "test", "1", argv, &error);

	fill(rows, n, shape, bits, lanes);
	CHECK(gt_write_kernel(writer, &kernel, &error) == 0);
	CHECK(gt_write_rows(writer, rows, &error) == 0);
	CHECK(gt_writer_finish(writer, &error) == 0);
	gt_writer_close(writer);
	lseek(descriptor, 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(descriptor, "test", NULL, 0, &error);
	CHECK(reader != NULL);
	CHECK_TEXT(gt_reader_history(reader)[0], "test\t1\tan argument\t--other");
	CHECK_EQUAL(gt_read(reader, &error), GT_KERNEL);
	CHECK_EQUAL(gt_read(reader, &error), GT_ROWS);
	CHECK_TEXT(error.text, "");
	CHECK(same(rows, gt_reader_rows(reader)));
	CHECK_EQUAL(gt_read(reader, &error), GT_END);
	gt_reader_close(reader);
	gt_rows_free(rows);
	close(descriptor);
}

static void rows_of_every_width_come_back(void)
{
	static const size_t sizes[] = {1, 2, 3, 4, 8, 100, 4096, 65536};
	struct gt_rows shapes[12] = {{0}};

	for (int variant = 0; variant < 12; variant++) {
		shapes[variant].kind = variant & 1 || variant >= 8 ? GT_REQUESTS : GT_ACCESSES;
		shapes[variant].scheduled = variant & 2;
		shapes[variant].has_status = variant >= 8 && variant != 10;
		shapes[variant].has_latency = variant >= 9;
		shapes[variant].has_hints = variant % 5 == 3;
		shapes[variant].has_work = variant % 4 == 1;
		shapes[variant].has_shared = variant % 8 == 1;
	}

	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
		for (unsigned bits = 0; bits <= 54; bits += sizes[s] > 1000 ? 9 : 3)
			for (int variant = 0; variant < 12; variant++)
				round_trip(sizes[s], shapes[variant], bits, variant & 4);
}

/* The meaning of base and stride, against the result of set_addresses. */
static void addresses_come_back_affine_or_not(void)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(1, &error);
	uint64_t addresses[GT_WARP_SIZE], back[GT_WARP_SIZE];

	for (int round = 0; round < 20000; round++) {
		uint32_t mask = (uint32_t)random_bits(32) | 1U << random_bits(5);
		int64_t stride = (int64_t)random_bits(12) - 2000;
		uint64_t base = random_bits(64);
		unsigned n = 0;
		for (unsigned l = 0; l < GT_WARP_SIZE; l++)
			if (mask >> l & 1)
				addresses[n++] = base + (uint64_t)stride * l;
		bool spoiled = round % 2 == 1 && n > 2;
		if (spoiled)
			addresses[1 + random_bits(5) % (n - 1)] ^= 1 + random_bits(20);
		rows->n_lanes = 0;
		CHECK(gt_rows_set_addresses(rows, 0, mask, addresses, &error) == 0);
		CHECK_EQUAL(gt_rows_addresses(rows, 0, back), n);
		CHECK(memcmp(addresses, back, n * sizeof *back) == 0);
		CHECK(n == 1 || rows->stride[0] == (spoiled ? GT_STRIDE_LANES : stride) || (spoiled && (n == 2 || rows->width[0])));
	}
	gt_rows_free(rows);
}

/* Whether two lanes of a row of that width are active, so that they tell the stride. */
static bool tells_stride(uint32_t mask, unsigned width)
{
	for (unsigned first = 0; first < GT_WARP_SIZE; first += width) {
		const uint32_t row = mask >> first & ((UINT32_C(1) << width) - 1);
		if (row & (row - 1))
			return true;
	}
	return false;
}

/* Rows of lanes at a pitch, in numbers of any size, and what comes near to that. */
static void addresses_come_back_pitched_or_not(void)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(1, &error);
	uint64_t addresses[GT_WARP_SIZE], back[GT_WARP_SIZE];
	unsigned pitched = 0;

	for (int round = 0; round < 40000; round++) {
		const unsigned width = 2U << random_bits(2), kind = (unsigned)random_bits(2);
		const uint32_t mask = kind == 0 ? UINT32_MAX : kind == 1 ? UINT32_MAX >> random_bits(5) << random_bits(3) | 1 << 20 : (uint32_t)random_bits(32) | 1U << random_bits(5);
		const uint64_t base = random_bits(64), stride = random_bits(1 + random_bits(6) % 64) - random_bits(2);
		const uint64_t pitch = random_bits(1 + random_bits(6) % 64) - random_bits(9);
		const bool small = stride + (1U << 31) < UINT32_MAX && pitch + (1U << 31) < UINT32_MAX; /* so that no product of theirs wraps */
		unsigned n = 0;
		for (unsigned l = 0; l < GT_WARP_SIZE; l++)
			if (mask >> l & 1)
				addresses[n++] = base + stride * (l % width) + pitch * (l / width);
		if (round % 4 == 1)
			addresses[random_bits(5) % n] ^= 1 + random_bits(20);
		rows->n_lanes = 0;
		CHECK(gt_rows_set_addresses(rows, 0, mask, addresses, &error) == 0);
		CHECK_EQUAL(gt_rows_addresses(rows, 0, back), n);
		CHECK(memcmp(addresses, back, n * sizeof *back) == 0);
		CHECK(mask != UINT32_MAX || round % 4 == 1 || rows->stride[0] != GT_STRIDE_LANES);
		CHECK(mask != UINT32_MAX || round % 4 == 1 || rows->width[0] == (pitch == stride * width ? 0 : width));
		CHECK(round % 4 == 1 || n < 5 || !small || !tells_stride(mask, width) || rows->stride[0] != GT_STRIDE_LANES);
		pitched += rows->width[0] != 0;
	}
	CHECK(pitched > 20000);
	gt_rows_free(rows);
}

static void hints_have_one_name_each(void)
{
	char text[GT_HINT_TEXT];
	uint16_t hint;
	unsigned valid = 0;

	for (unsigned i = 0; i < 65536; i++) {
		if (!gt_hint_valid((uint16_t)i))
			continue;
		valid++;
		CHECK(gt_hint_parse(gt_hint_format((uint16_t)i, text), &hint) == 0);
		CHECK_EQUAL(hint, i);
	}
	CHECK_EQUAL(valid, 6 * 5 * 4 * 5);
	CHECK_TEXT(gt_hint_format(0, text), "none");
	CHECK_TEXT(gt_hint_format(gt_hint(GT_NO_ALLOCATE, GT_EVICT_FIRST, GT_FETCH_256, GT_PREFETCH_L2), text),
		   "prefetch.L2,L1::no_allocate,L2::evict_first,L2::256B");
	CHECK_EQUAL(gt_hint_fetch(gt_hint(0, 0, GT_FETCH_64, 0)), 64);
	CHECK_EQUAL(gt_hint_fetch(0), 0);
	CHECK(gt_hint_parse("", &hint) != 0);
	CHECK(gt_hint_parse("L2::128B,", &hint) != 0);
	CHECK(gt_hint_parse("L2::128B,L2::64B", &hint) != 0);
	CHECK(gt_hint_parse("none,L2::64B", &hint) != 0);
}

static void ops_have_one_name_each(void)
{
	char text[GT_OP_TEXT];
	uint8_t op;

	for (unsigned i = 0; i < 256; i++) {
		if (!gt_op_valid((uint8_t)i))
			continue;
		CHECK(gt_op_parse(gt_op_format((uint8_t)i, text), &op) == 0);
		CHECK_EQUAL(op, i);
	}
	CHECK(gt_op_parse("load", &op) != 0);
	CHECK(gt_op_parse("load.globalx", &op) != 0);
}

static void kernels_and_counts_come_back(void)
{
	struct gt_error error = {""};
	char *argv[] = {NULL};
	int descriptor = temporary();
	struct gt_kernel kernel = {.id = UINT64_MAX, .name = "void f<int>(float*)", .grid = {3, 2, 1},
				   .block = {8, 8, 8}, .registers = 255, .shared_bytes = 4096,
				   .order = GT_ORDER_AN, .l1_bytes = 1 << 17,
				   .prefers = {.window = {0x200000000000, 1 << 20, 600000, GT_PROPERTY_PERSISTING,
							  GT_PROPERTY_STREAMING},
					       .l2_fetch_bytes = 64, .l2_persisting_bytes = 3 << 20, .carveout = 1}};
	uint64_t values[] = {0, 1, UINT64_MAX};
	struct gt_count count;
	struct gt_writer *writer = gt_writer_open(descriptor, NULL, "test", "1", argv, &error);

	CHECK(gt_write_kernel(writer, &kernel, &error) == 0);
	gt_count_begin(&count, "l1", UINT64_MAX);
	CHECK(gt_count_number(&count, "reads", UINT64_MAX, &error) == 0);
	CHECK(gt_count_array(&count, "mru", values, 3, &error) == 0);
	CHECK(gt_count_array(&count, "none", NULL, 0, &error) == 0);
	CHECK(gt_count_text(&count, "limited_by", "warps", &error) == 0);
	CHECK(gt_write_count(writer, &count, &error) == 0);
	CHECK(gt_writer_finish(writer, &error) == 0);
	gt_writer_close(writer);
	gt_count_clear(&count);

	lseek(descriptor, 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(descriptor, "test", NULL, 0, &error);
	CHECK_EQUAL(gt_read(reader, &error), GT_KERNEL);
	const struct gt_kernel *back = gt_reader_kernel(reader);
	CHECK(back->id == UINT64_MAX && back->registers == 255 && back->shared_bytes == 4096);
	CHECK(back->order == GT_ORDER_AN && back->l1_bytes == 1 << 17);
	CHECK(back->prefers.window.base == 0x200000000000 && back->prefers.window.bytes == 1 << 20);
	CHECK(back->prefers.window.hit_ratio == 600000 && back->prefers.window.hit == GT_PROPERTY_PERSISTING &&
	      back->prefers.window.miss == GT_PROPERTY_STREAMING);
	CHECK(back->prefers.l2_fetch_bytes == 64 && back->prefers.l2_persisting_bytes == 3 << 20 &&
	      back->prefers.carveout == 1);
	CHECK_TEXT(back->name, kernel.name);
	CHECK_EQUAL(gt_kernel_blocks(back), 6);
	CHECK_EQUAL(gt_kernel_warps(back), 16);
	CHECK_EQUAL(gt_read(reader, &error), GT_COUNT);
	const struct gt_count *counted = gt_reader_count(reader);
	CHECK_TEXT(counted->stage, "l1");
	CHECK(gt_count_value(counted, "reads", 0) == UINT64_MAX);
	CHECK_EQUAL(gt_count_find(counted, "mru")->n, 3);
	CHECK(gt_count_find(counted, "mru")->array[2] == UINT64_MAX);
	CHECK_EQUAL(gt_count_find(counted, "none")->n, 0);
	CHECK_TEXT(gt_count_find(counted, "limited_by")->text, "warps");
	CHECK_EQUAL(gt_read(reader, &error), GT_END);
	gt_reader_close(reader);
	close(descriptor);
}

static void shapes_are_checked(void)
{
	struct gt_error error;
	struct gt_kernel kernel = {.grid = {UINT32_MAX, 2, 1}, .block = {32, 1, 1}};

	CHECK(gt_kernel_check(&kernel, &error) != 0);
	kernel.grid[1] = 1;
	CHECK(gt_kernel_check(&kernel, &error) == 0);
	kernel.block[1] = 33;
	CHECK(gt_kernel_check(&kernel, &error) != 0);
	kernel.block[1] = 0;
	CHECK(gt_kernel_check(&kernel, &error) != 0);
	kernel.block[0] = kernel.block[2] = 0;
	CHECK(gt_kernel_check(&kernel, &error) == 0);
}

/* Reads a stream of one batch, with or without a launch before it; returns the error. */
static void expect_refusal(const struct gt_kernel *kernel, void (*spoil)(struct gt_rows *), enum gt_rows_kind kind,
			   const char *text)
{
	struct gt_error error = {""};
	char *argv[] = {NULL};
	int descriptor = temporary();
	struct gt_rows *rows = gt_rows_new(4, &error);
	struct gt_writer *writer = gt_writer_open(descriptor, NULL, "test", "1", argv, &error);
	enum gt_event event;

	fill(rows, 4, (struct gt_rows){.kind = kind}, 0, false);
	spoil(rows);
	CHECK(!kernel || gt_write_kernel(writer, kernel, &error) == 0);
	CHECK(gt_write_rows(writer, rows, &error) == 0);
	CHECK(gt_writer_finish(writer, &error) == 0);
	gt_writer_close(writer);
	lseek(descriptor, 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(descriptor, "test", NULL, 0, &error);
	do
		event = gt_read(reader, &error);
	while (event == GT_KERNEL);
	CHECK_EQUAL(event, GT_FAILED);
	if (!strstr(error.text, text))
		CHECK_TEXT(error.text, text);
	gt_reader_close(reader);
	gt_rows_free(rows);
	close(descriptor);
}

/* A stream is one of an earlier version if its header says so and its end has the sum of that. */
static void expect_version_read(unsigned char version)
{
	struct gt_error error = {""};
	char *argv[] = {NULL};
	unsigned char bytes[4096];
	int descriptor = temporary();
	struct gt_kernel kernel = {.id = 1, .grid = {3, 2, 1}, .block = {1024, 1, 1}};
	struct gt_rows *rows = gt_rows_new(40, &error);
	struct gt_writer *writer = gt_writer_open(descriptor, NULL, "test", "1", argv, &error);

	fill(rows, 40, (struct gt_rows){.kind = GT_ACCESSES}, 0, false);
	memset(rows->width, 0, 40);
	CHECK(gt_write_kernel(writer, &kernel, &error) == 0);
	CHECK(gt_write_rows(writer, rows, &error) == 0);
	CHECK(gt_writer_finish(writer, &error) == 0);
	gt_writer_close(writer);
	const ssize_t n = pread(descriptor, bytes, sizeof bytes, 0);
	CHECK(n > 40 && memcmp(bytes, "\x93\xa6gtrace\x03", 9) == 0);
	ssize_t end = n - 5;
	while (memcmp(bytes + end, "\x92\xa3" "end", 5) != 0)
		end--;
	bytes[8] = version;
	const uint64_t sum = XXH3_64bits(bytes, (size_t)end);
	bytes[n - 9] = 0xcf;
	for (int i = 0; i < 8; i++)
		bytes[n - 8 + i] = (unsigned char)(sum >> (56 - 8 * i));
	CHECK(pwrite(descriptor, bytes, (size_t)n, 0) == n);
	lseek(descriptor, 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(descriptor, "test", NULL, 0, &error);
	CHECK_EQUAL(gt_read(reader, &error), GT_KERNEL);
	CHECK_EQUAL(gt_read(reader, &error), GT_ROWS);
	CHECK(same(rows, gt_reader_rows(reader)));
	CHECK_EQUAL(gt_read(reader, &error), GT_END);
	gt_reader_close(reader);
	gt_rows_free(rows);
	close(descriptor);
}

static void earlier_versions_are_read(void)
{
	expect_version_read(1);
	expect_version_read(2);
}

/* Rows of which some are several requests, with turns between them. */
static struct gt_rows *make_spans(size_t n, unsigned turns)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(n, &error);

	fill(rows, n, (struct gt_rows){.kind = GT_REQUESTS, .scheduled = n % 2, .has_hints = n % 3 == 0, .has_spans = true}, 12, false);
	for (size_t i = 0; i < n; i++) {
		rows->width[i] = random_bits(1) ? (uint8_t)(random_bits(6) + random_bits(1)) : 0;
		rows->pitch[i] = ((int64_t)random_bits((unsigned)(i % 57)) - (int64_t)random_bits(20)) * GT_LINE;
		if (turns == 0 || i % turns != 1)
			continue;
		rows->op[i] = gt_op(GT_LOAD, GT_SHARED, GT_OPERATOR_NONE);
		rows->address[i] = 0;
		rows->sectors[i] = rows->full[i] = rows->threads[i] = rows->width[i] = 0;
	}
	return rows;
}

static bool is_turn(const struct gt_rows *rows, size_t i)
{
	return gt_op_space(rows->op[i]) == GT_SHARED;
}

/* Whether `singly` has a row for each request of `rows`, but turns; each field by itself, as gtrace(5) says. */
static bool is_expanded(const struct gt_rows *singly, const struct gt_rows *rows)
{
	size_t at = 0;

	for (size_t i = 0; i < rows->n; i++)
		for (unsigned k = 0; !is_turn(rows, i) && k < (rows->width[i] > 1 ? rows->width[i] : 1U); k++, at++)
			if (at >= singly->n || singly->address[at] != rows->address[i] + k * (uint64_t)rows->pitch[i] || singly->block[at] != rows->block[i] ||
			    singly->warp[at] != rows->warp[i] || singly->an[at] != rows->an[i] || singly->pc[at] != rows->pc[i] ||
			    singly->op[at] != rows->op[i] || singly->sectors[at] != rows->sectors[i] || singly->full[at] != rows->full[i] ||
			    singly->threads[at] != rows->threads[i] || gt_rows_hint(singly, at) != gt_rows_hint(rows, i) ||
			    (rows->scheduled && (singly->step[at] != rows->step[i] || singly->sm[at] != rows->sm[i])))
				return false;
	return at == singly->n && !singly->has_spans;
}

/* The same rows, of which those that are single are no turns; widths of 1 and 0 are the same. */
static bool is_whole(const struct gt_rows *whole, const struct gt_rows *rows)
{
	size_t at = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (is_turn(rows, i))
			continue;
		if (at >= whole->n || whole->address[at] != rows->address[i] || gt_rows_span(whole, at) != gt_rows_span(rows, i) ||
		    (gt_rows_span(rows, i) > 1 && whole->pitch[at] != rows->pitch[i]) || whole->an[at] != rows->an[i])
			return false;
		at++;
	}
	return at == whole->n;
}

static struct gt_reader *read_rows(const struct gt_rows *rows, bool whole, struct gt_error *error)
{
	char *argv[] = {NULL};
	int descriptor = temporary();
	struct gt_kernel kernel = {.id = 1, .grid = {1 << 30, 1, 1}, .block = {1024, 1, 1}};
	struct gt_writer *writer = gt_writer_open(descriptor, NULL, "test", "1", argv, error);

	CHECK(gt_write_kernel(writer, &kernel, error) == 0);
	CHECK(gt_write_rows(writer, rows, error) == 0);
	CHECK(gt_writer_finish(writer, error) == 0);
	gt_writer_close(writer);
	lseek(descriptor, 0, SEEK_SET);
	struct gt_reader *reader = gt_reader_open(descriptor, "test", NULL, 0, error);
	if (whole)
		gt_reader_keep_spans(reader);
	CHECK_EQUAL(gt_read(reader, error), GT_KERNEL);
	return reader;
}

static void spans_come_back_whole_or_expanded(void)
{
	for (unsigned round = 0; round < 300; round++) {
		struct gt_error error = {""};
		struct gt_rows *rows = make_spans(1 + random_bits(round % 12), round % 4);
		struct gt_reader *singly = read_rows(rows, false, &error), *whole = read_rows(rows, true, &error);
		CHECK_EQUAL(gt_read(singly, &error), GT_ROWS);
		CHECK(is_expanded(gt_reader_rows(singly), rows));
		CHECK_EQUAL(gt_read(singly, &error), GT_END);
		CHECK_EQUAL(gt_read(whole, &error), GT_ROWS);
		CHECK(is_whole(gt_reader_rows(whole), rows));
		CHECK_EQUAL(gt_read(whole, &error), GT_END);
		gt_reader_close(singly);
		gt_reader_close(whole);
		gt_rows_free(rows);
	}
}

/* A batch may not be more requests than those of whole accesses; what has been expanded is written in several. */
static void spans_have_a_limit(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = make_spans(GT_ROWS_BATCH + 1, 0);

	memset(rows->width, GT_SPAN_MOST, rows->n);
	struct gt_reader *reader = read_rows(rows, false, &error);
	CHECK_EQUAL(gt_read(reader, &error), GT_FAILED);
	CHECK(strstr(error.text, "262208 requests: expected at most 262144 in a batch") != NULL);
	gt_reader_close(reader);
	rows->n = GT_ROWS_BATCH;
	reader = read_rows(rows, false, &error);
	CHECK_EQUAL(gt_read(reader, &error), GT_ROWS);
	CHECK_EQUAL(gt_reader_rows(reader)->n, GT_REQUESTS_MAX);
	struct gt_reader *again = read_rows(gt_reader_rows(reader), false, &error);
	for (size_t i = 0; i < GT_REQUESTS_MAX / GT_ROWS_MAX; i++) {
		CHECK_EQUAL(gt_read(again, &error), GT_ROWS);
		CHECK(memcmp(gt_reader_rows(again)->address, gt_reader_rows(reader)->address + i * GT_ROWS_MAX, GT_ROWS_MAX * sizeof(uint64_t)) == 0);
	}
	CHECK_EQUAL(gt_read(again, &error), GT_END);
	gt_reader_close(again);
	gt_reader_close(reader);
	gt_rows_free(rows);
}

static void spoil_nothing(struct gt_rows *rows) { (void)rows; }
static void spoil_block(struct gt_rows *rows) { rows->block[2] = 6; }
static void spoil_warp(struct gt_rows *rows) { rows->warp[3] = 2; }
static void spoil_lane(struct gt_rows *rows) { rows->warp[1] = 1, rows->mask[1] = 0x100; }
static void spoil_mask(struct gt_rows *rows) { rows->mask[1] = 0; }
static void spoil_size(struct gt_rows *rows) { rows->size[0] = 33; }
static void spoil_width(struct gt_rows *rows) { rows->width[0] = 3; }
static void spoil_width_1(struct gt_rows *rows) { rows->width[3] = 1; }
static void spoil_width_32(struct gt_rows *rows) { rows->width[2] = 32; }
static void spoil_stride(struct gt_rows *rows) { rows->width[1] = 16, rows->stride[1] = GT_STRIDE_LANES; }
static void spoil_op(struct gt_rows *rows) { rows->op[0] = 0x1f; }
static void spoil_sectors(struct gt_rows *rows) { rows->sectors[3] = 0; }
static void spoil_full(struct gt_rows *rows) { rows->full[3] = 2; }
static void spoil_address(struct gt_rows *rows) { rows->address[2] += 32; }
static void spoil_threads(struct gt_rows *rows) { rows->threads[2] = 33; }

/* All rows alike, or close to each other: then the form of the column tells it. */
static void spoil_blocks(struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->block[i] = 6;
}

static void spoil_warps(struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->warp[i] = (uint16_t)(1 + i);
}

static void spoil_masks(struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->mask[i] = 0;
}

static void spoil_sizes(struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->size[i] = 0;
}

static void spoil_strides(struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->width[i] = 0, rows->stride[i] = i == 1 ? GT_STRIDE_LANES : INT64_MAX - (int64_t)i;
}

static void spoil_span(struct gt_rows *rows) { rows->has_spans = true, rows->width[2] = 0, rows->width[1] = GT_SPAN_MOST + 1, rows->pitch[1] = 128; }
static void spoil_pitch(struct gt_rows *rows) { rows->has_spans = true, rows->width[2] = 2, rows->pitch[2] = -64; }
static void spoil_turn(struct gt_rows *rows)
{
	rows->has_spans = true;
	rows->op[2] = gt_op(GT_LOAD, GT_SHARED, GT_OPERATOR_NONE);
	rows->address[2] = rows->sectors[2] = rows->full[2] = rows->threads[2] = 0;
	rows->width[2] = 2;
	rows->pitch[2] = 128;
}

static void spoil_status(struct gt_rows *rows) { rows->has_status = true, rows->status[1] = GT_STATUSES; }

static void rows_that_make_no_sense_are_refused(void)
{
	static const struct gt_kernel kernel = {.id = 1, .grid = {3, 2, 1}, .block = {40, 1, 1}};

	expect_refusal(NULL, spoil_nothing, GT_ACCESSES, "record 2: rows of a kernel that was never announced");
	expect_refusal(&kernel, spoil_block, GT_ACCESSES, "record 3: row 3: block 6: the grid has 6 blocks");
	expect_refusal(&kernel, spoil_block, GT_REQUESTS, "row 3: block 6: the grid has 6 blocks");
	expect_refusal(&kernel, spoil_warp, GT_REQUESTS, "row 4: warp 2: a block has 2 warps");
	expect_refusal(&kernel, spoil_lane, GT_ACCESSES, "row 2: lane mask 0x00000100: warp 1 has 8 threads");
	expect_refusal(&kernel, spoil_mask, GT_ACCESSES, "row 2: no active lane");
	expect_refusal(&kernel, spoil_size, GT_ACCESSES, "row 1: 33 bytes a lane");
	expect_refusal(&kernel, spoil_width, GT_ACCESSES, "row 1: width 3: expected 0, or 2, 4, 8 or 16 lanes at a stride");
	expect_refusal(&kernel, spoil_width_1, GT_ACCESSES, "row 4: width 1: expected 0, or 2");
	expect_refusal(&kernel, spoil_width_32, GT_ACCESSES, "row 3: width 32: expected 0, or 2");
	expect_refusal(&kernel, spoil_stride, GT_ACCESSES, "column 'lanes': expected");
	expect_refusal(&kernel, spoil_blocks, GT_ACCESSES, "row 1: block 6: the grid has 6 blocks");
	expect_refusal(&kernel, spoil_warps, GT_ACCESSES, "row 2: warp 2: a block has 2 warps");
	expect_refusal(&kernel, spoil_masks, GT_ACCESSES, "row 1: no active lane");
	expect_refusal(&kernel, spoil_sizes, GT_ACCESSES, "row 1: 0 bytes a lane");
	expect_refusal(&kernel, spoil_strides, GT_ACCESSES, "column 'lanes': expected");
	expect_refusal(&kernel, spoil_op, GT_ACCESSES, "row 1: op 0x1f");
	expect_refusal(&kernel, spoil_sectors, GT_REQUESTS, "row 4: sectors 0x0");
	expect_refusal(&kernel, spoil_full, GT_REQUESTS, "row 4: sectors 0x1, full 0x2");
	expect_refusal(&kernel, spoil_address, GT_REQUESTS, "row 3: address 0x");
	expect_refusal(&kernel, spoil_threads, GT_REQUESTS, "row 3: 33 lanes");
	expect_refusal(&kernel, spoil_status, GT_REQUESTS, "row 2: status 8");
	expect_refusal(&kernel, spoil_span, GT_REQUESTS, "row 2: 65 requests: expected at most 64");
	expect_refusal(&kernel, spoil_pitch, GT_REQUESTS, "row 3: requests -64 bytes apart: expected a multiple of 128");
	expect_refusal(&kernel, spoil_turn, GT_REQUESTS, "row 3: a request on shared memory: expected a turn");
}

int main(void)
{
	RUN(rows_of_every_width_come_back);
	RUN(addresses_come_back_affine_or_not);
	RUN(addresses_come_back_pitched_or_not);
	RUN(ops_have_one_name_each);
	RUN(hints_have_one_name_each);
	RUN(kernels_and_counts_come_back);
	RUN(earlier_versions_are_read);
	RUN(spans_come_back_whole_or_expanded);
	RUN(spans_have_a_limit);
	RUN(shapes_are_checked);
	RUN(rows_that_make_no_sense_are_refused);
	return check_report();
}
