/* SPDX-License-Identifier: MIT */
/* A batch of rows and its record (gtrace(5), "Columns"). In memory a column is a full array; in the stream it is
 *   bin of n elements            as it is, little-endian
 *   bin of one element           all rows are equal
 *   [offset, bin of n narrower]  the smallest element, and each element's difference from it
 * A batch that was unpacked is checked against its kernel. */
#include "stream/records.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- columns ---- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian and are copied as they are"
#endif

/* Elements of a column that follow each other in memory. */
struct column_part {
	const void *elements;
	size_t n;
};

/* The smallest and largest element of a column. */
#define RANGE(TYPE)                                                                               \
	GT_WIDE static void range_##TYPE(const TYPE *column, size_t n, uint64_t *least, uint64_t *most)    \
	{                                                                                          \
		TYPE low = column[0], high = column[0];                                            \
		for (size_t i = 1; i < n; i++) {                                                   \
			low = column[i] < low ? column[i] : low;                                   \
			high = column[i] > high ? column[i] : high;                                \
		}                                                                                  \
		*least = low;                                                                      \
		*most = high;                                                                      \
	}
RANGE(uint8_t)
RANGE(uint16_t)
RANGE(uint32_t)
RANGE(uint64_t)

/* Stores the difference of each element from the offset in fewer bytes; and the inverse. */
#define NARROW(WIDE, THIN)                                                                        \
	GT_WIDE static void narrow_##WIDE##_##THIN(const WIDE *restrict column, size_t n, WIDE offset, void *restrict out)   \
	{                                                                                          \
		typedef THIN any_place __attribute__((aligned(1)));                                \
		any_place *thin = out; /* a record may begin at any byte */                        \
		for (size_t i = 0; i < n; i++)                                                     \
			thin[i] = (THIN)(column[i] - offset);                                      \
	}                                                                                          \
	GT_WIDE static void widen_##WIDE##_##THIN(WIDE *column, size_t n, WIDE offset, const void *in)     \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			THIN thin;                                                                 \
			memcpy(&thin, (const char *)in + i * sizeof thin, sizeof thin);            \
			column[i] = (WIDE)(offset + thin);                                         \
		}                                                                                  \
	}
NARROW(uint16_t, uint8_t)
NARROW(uint32_t, uint8_t)
NARROW(uint32_t, uint16_t)
NARROW(uint64_t, uint8_t)
NARROW(uint64_t, uint16_t)
NARROW(uint64_t, uint32_t)

static void range(const void *column, size_t n, unsigned width, uint64_t *least, uint64_t *most)
{
	switch (width) {
	case 1: range_uint8_t(column, n, least, most); break;
	case 2: range_uint16_t(column, n, least, most); break;
	case 4: range_uint32_t(column, n, least, most); break;
	default: range_uint64_t(column, n, least, most); break;
	}
}

/* Bytes that hold every value up to `most`. */
static unsigned bytes_for(uint64_t most)
{
	return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

static void narrow(const void *column, size_t n, unsigned width, unsigned thin, uint64_t offset, void *out)
{
	switch (width * 10 + thin) {
	case 21: narrow_uint16_t_uint8_t(column, n, (uint16_t)offset, out); break;
	case 41: narrow_uint32_t_uint8_t(column, n, (uint32_t)offset, out); break;
	case 42: narrow_uint32_t_uint16_t(column, n, (uint32_t)offset, out); break;
	case 81: narrow_uint64_t_uint8_t(column, n, offset, out); break;
	case 82: narrow_uint64_t_uint16_t(column, n, offset, out); break;
	default: narrow_uint64_t_uint32_t(column, n, offset, out); break;
	}
}

static void widen(void *column, size_t n, unsigned width, unsigned thin, uint64_t offset, const void *in)
{
	switch (width * 10 + thin) {
	case 21: widen_uint16_t_uint8_t(column, n, (uint16_t)offset, in); break;
	case 41: widen_uint32_t_uint8_t(column, n, (uint32_t)offset, in); break;
	case 42: widen_uint32_t_uint16_t(column, n, (uint32_t)offset, in); break;
	case 81: widen_uint64_t_uint8_t(column, n, offset, in); break;
	case 82: widen_uint64_t_uint16_t(column, n, offset, in); break;
	default: widen_uint64_t_uint32_t(column, n, offset, in); break;
	}
}

/* The extremes of all parts; returns their elements. */
static size_t range_of(const struct column_part *parts, size_t parts_n, unsigned width, uint64_t *least, uint64_t *most)
{
	size_t n = 0;

	for (size_t p = 0; p < parts_n; p++) {
		uint64_t low, high;
		if (parts[p].n == 0)
			continue;
		range(parts[p].elements, parts[p].n, width, &low, &high);
		*least = n == 0 || low < *least ? low : *least;
		*most = n == 0 || high > *most ? high : *most;
		n += parts[p].n;
	}
	return n;
}

/* Appends n elements less the offset, in fewer bytes. */
static void append_narrow(struct gt_bytes *bytes, const void *column, size_t n, unsigned width, unsigned thin, uint64_t offset)
{
	if (gt_bytes_write(bytes, NULL, n * thin) == 0)
		narrow(column, n, width, thin, offset, bytes->data + bytes->n - n * thin);
}

/* Packs the elements, at least one, of the parts, of `width` bytes each: 1, 2, 4 or 8. */
static void encode_column(msgpack_packer *packer, struct gt_bytes *bytes, const struct column_part *parts, size_t parts_n,
		    unsigned width)
{
	uint64_t least = 0, most = 0;
	size_t n = range_of(parts, parts_n, width, &least, &most);

	if (least == most) {
		msgpack_pack_bin_with_body(packer, &least, width);
		return;
	}
	unsigned thin = bytes_for(most - least);
	if (thin < width) {
		msgpack_pack_array(packer, 2);
		msgpack_pack_uint64(packer, least);
	}
	msgpack_pack_bin(packer, n * (thin < width ? thin : width));
	for (size_t p = 0; p < parts_n; p++)
		if (thin < width)
			append_narrow(bytes, parts[p].elements, parts[p].n, width, thin, least);
		else
			gt_bytes_write(bytes, parts[p].elements, parts[p].n * width);
}

static bool is_narrowed(const msgpack_object *object)
{
	return object->type == MSGPACK_OBJECT_ARRAY && object->via.array.size == 2 &&
	       object->via.array.ptr[0].type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
	       object->via.array.ptr[1].type == MSGPACK_OBJECT_BIN;
}

/* Between which numbers all elements of a column are, by its form alone: what that says need not be looked for in the elements. */
struct bounds {
	uint64_t least, most;
};
static const struct bounds unknown = {0, UINT64_MAX};

/* The bounds of each column, by its place in struct gt_rows. */
#define BOUNDS (sizeof(struct gt_rows) / sizeof(void *))
#define BOUNDS_OF(COLUMN) (offsetof(struct gt_rows, COLUMN) / sizeof(void *))

/* Unpacks into n elements of `width` bytes. Returns 0, or -1 if the object is no such column. */
static int decode_column(const msgpack_object *object, void *column, size_t n, unsigned width, struct bounds *bounds)
{
	*bounds = unknown;
	if (is_narrowed(object)) {
		const msgpack_object_bin *bin = &object->via.array.ptr[1].via.bin;
		const uint64_t offset = object->via.array.ptr[0].via.u64, most = UINT64_MAX >> (64 - 8 * width);
		for (unsigned thin = 1; thin < width; thin *= 2) {
			if (bin->size != n * thin)
				continue;
			const uint64_t further = UINT64_MAX >> (64 - 8 * thin);
			if (offset <= most - further)
				*bounds = (struct bounds){offset, offset + further};
			widen(column, n, width, thin, offset, bin->ptr);
			return 0;
		}
		return -1;
	}
	if (object->type != MSGPACK_OBJECT_BIN)
		return -1;
	const msgpack_object_bin *bin = &object->via.bin;
	if (bin->size == n * width) {
		memcpy(column, bin->ptr, bin->size);
		return 0;
	}
	if (bin->size != width)
		return -1;
	/* Doubling copies: one element, two, four ... */
	memcpy(column, bin->ptr, width);
	bounds->least = 0;
	memcpy(&bounds->least, bin->ptr, width);
	bounds->most = bounds->least;
	for (size_t done = 1; done < n;) {
		size_t m = done < n - done ? done : n - done;
		memcpy((char *)column + done * width, column, m * width);
		done += m;
	}
	return 0;
}

/* ---- packing ---- */

static size_t columns_of(const struct gt_rows *rows, size_t lanes, bool pitched)
{
	size_t columns = (lanes > 0 ? 1U : 0U) + (pitched ? 2U : 0U);

	for (size_t c = 0; c < gt_columns_n; c++)
		columns += gt_column_present(rows, &gt_columns[c]);
	return columns;
}

/* Rows have columns besides those of the table: they are written if a row needs them. */
static const struct gt_column width_column = {.name = "width", .offset = offsetof(struct gt_rows, width), .width = sizeof(uint8_t)};
static const struct gt_column pitch_column = {.name = "pitch", .offset = offsetof(struct gt_rows, pitch), .width = sizeof(int64_t)};

GT_WIDE static bool any_width(const uint8_t *width, size_t n)
{
	uint8_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= width[i];
	return any;
}

static bool are_pitched(const struct gt_slice *slices, size_t n)
{
	for (size_t s = 0; s < n; s++)
		if ((slices[s].rows->kind == GT_ACCESSES || slices[s].rows->has_spans) && any_width(slices[s].rows->width + slices[s].first, slices[s].n))
			return true;
	return false;
}

/* Rows without a pitch have no number of it. */
static void clear_pitches(const struct gt_slice *slice)
{
	for (size_t i = slice->first; i < slice->first + slice->n; i++)
		if (slice->rows->width[i] == 0)
			slice->rows->pitch[i] = 0;
}

static void pack_column(msgpack_packer *packer, struct gt_bytes *bytes, const struct gt_column *column,
			const struct gt_slice *slices, size_t n)
{
	struct column_part parts[GT_SLICES_MAX] = {{0}};

	for (size_t s = 0; s < n; s++)
		parts[s] = (struct column_part){
			(const char *)gt_column_of(slices[s].rows, column) + slices[s].first * column->width, slices[s].n};
	gt_pack_text(packer, column->name);
	encode_column(packer, bytes, parts, n, column->width);
}

void gt_rows_pack(struct gt_bytes *bytes, const struct gt_slice *slices, size_t slices_n)
{
	const struct gt_rows *rows = slices[0].rows;
	msgpack_packer packer;
	struct column_part lanes[GT_SLICES_MAX];
	size_t n = 0, lanes_n = 0;

	for (size_t s = 0; s < slices_n; s++) {
		lanes[s] = (struct column_part){slices[s].lanes_n > 0 ? slices[s].rows->lanes + slices[s].first_lane : NULL, slices[s].lanes_n};
		lanes_n += slices[s].lanes_n;
		n += slices[s].n;
	}
	msgpack_packer_init(&packer, bytes, gt_bytes_write);
	gt_pack_begin(&packer, rows->kind == GT_ACCESSES ? "access" : "request", 3);
	msgpack_pack_uint64(&packer, n);
	const bool pitched = are_pitched(slices, slices_n);
	msgpack_pack_map(&packer, columns_of(rows, lanes_n, pitched));
	for (size_t c = 0; c < gt_columns_n; c++)
		if (gt_column_present(rows, &gt_columns[c]))
			pack_column(&packer, bytes, &gt_columns[c], slices, slices_n);
	if (pitched) {
		for (size_t s = 0; s < slices_n; s++)
			clear_pitches(&slices[s]);
		pack_column(&packer, bytes, &width_column, slices, slices_n);
		pack_column(&packer, bytes, &pitch_column, slices, slices_n);
	}
	if (lanes_n > 0) {
		gt_pack_text(&packer, "lanes");
		encode_column(&packer, bytes, lanes, slices_n, sizeof *rows->lanes);
	}
}

/* Checking. Each test is a branch-free loop over one column, which is nearly free on valid rows. The invalid row is searched
 * only if the test fails. */

GT_WIDE static uint64_t greatest_block(const struct gt_rows *rows)
{
	uint32_t most = 0;

	for (size_t i = 0; i < rows->n; i++)
		most = rows->block[i] > most ? rows->block[i] : most;
	return most;
}

GT_WIDE static uint64_t greatest_warp(const struct gt_rows *rows)
{
	uint16_t most = 0;

	for (size_t i = 0; i < rows->n; i++)
		most = rows->warp[i] > most ? rows->warp[i] : most;
	return most;
}

/* Whether some op names no space or no operator. Both are dense, so their maxima are enough. */
GT_WIDE static bool ops_bad(const struct gt_rows *rows)
{
	uint8_t bad = 0;

	for (size_t i = 0; i < rows->n; i++)
		bad |= (rows->op[i] & 0x1c) > (GT_SPACES - 1) << 2 || rows->op[i] >> 5 > GT_OPERATORS - 1;
	return bad;
}

static int check_place(const struct gt_rows *rows, const struct bounds *bounds, const struct gt_kernel *kernel,
		       struct gt_error *error)
{
	uint64_t blocks = gt_kernel_blocks(kernel), warps = gt_kernel_warps(kernel);

	if (blocks > 0 && bounds[BOUNDS_OF(block)].most >= blocks && greatest_block(rows) >= blocks)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->block[i] >= blocks)
				return gt_fail(error, "row %zu: block %" PRIu32 ": the grid has %" PRIu64 " blocks", i + 1,
					       rows->block[i], blocks);
	if (warps > 0 && bounds[BOUNDS_OF(warp)].most >= warps && greatest_warp(rows) >= warps)
		for (size_t i = 0; i < rows->n; i++)
			if (rows->warp[i] >= warps)
				return gt_fail(error, "row %zu: warp %u: a block has %" PRIu64 " warps", i + 1,
					       rows->warp[i], warps);
	return 0;
}

static int check_ops(const struct gt_rows *rows, struct gt_error *error)
{
	if (ops_bad(rows))
		for (size_t i = 0; i < rows->n; i++)
			if (!gt_op_valid(rows->op[i]))
				return gt_fail(error, "row %zu: op 0x%02x: no such operation", i + 1, rows->op[i]);
	return 0;
}

static int check_hints(const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; rows->has_hints && i < rows->n; i++)
		if (!gt_hint_valid(rows->hint[i]))
			return gt_fail(error, "row %zu: hint 0x%04x: no such hint", i + 1, rows->hint[i]);
	return 0;
}

/* Lanes of the last, partial warp that no thread has; 0 if the block is made of whole warps. */
static uint32_t absent_lanes(const struct gt_kernel *kernel)
{
	unsigned rest = (unsigned)(gt_kernel_threads(kernel) % GT_WARP_SIZE);

	return rest ? ~(uint32_t)0 << rest : 0;
}

/* Whether rows of so many lanes are known; 0: there are none. */
static bool is_width(uint8_t width)
{
	return width <= GT_WIDTH_MAX && width != 1 && (width & (width - 1)) == 0;
}

static bool is_width_bad(const struct gt_rows *rows, size_t i)
{
	return !is_width(rows->width[i]) || (rows->width[i] != 0 && rows->stride[i] == GT_STRIDE_LANES);
}

static bool widths_bad(const struct gt_rows *rows)
{
	bool bad = false;

	if (!any_width(rows->width, rows->n))
		return false;
	for (size_t i = 0; i < rows->n; i++)
		bad |= is_width_bad(rows, i);
	return bad;
}

/* Whether some row has no lanes, or a wrong size. */
GT_WIDE static bool accesses_bad(const struct gt_rows *rows)
{
	uint8_t large = 0;
	uint32_t idle = 0;

	for (size_t i = 0; i < rows->n; i++)
		idle |= rows->mask[i] == 0;
	for (size_t i = 0; i < rows->n; i++)
		large |= (uint8_t)(rows->size[i] - 1) >= GT_ACCESS_SIZE_MAX;
	return idle || large;
}

GT_WIDE static bool any_lanes(const int64_t *stride, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= stride[i] == GT_STRIDE_LANES;
	return any;
}

/* Whether some row has addresses in `lanes`. */
static bool has_lanes(const struct gt_rows *rows, const struct bounds *bounds)
{
	const struct bounds *strides = &bounds[BOUNDS_OF(stride)];

	return strides->least <= (uint64_t)GT_STRIDE_LANES && strides->most >= (uint64_t)GT_STRIDE_LANES && any_lanes(rows->stride, rows->n);
}

static int check_accesses(const struct gt_rows *rows, const struct bounds *bounds, const struct gt_kernel *kernel, struct gt_error *error)
{
	const struct bounds *masks = &bounds[BOUNDS_OF(mask)], *sizes = &bounds[BOUNDS_OF(size)];
	const bool good = masks->least > 0 && sizes->least > 0 && sizes->most <= GT_ACCESS_SIZE_MAX;
	uint32_t absent = absent_lanes(kernel);
	uint64_t last = gt_kernel_warps(kernel) - 1;

	if ((good || !accesses_bad(rows)) && !widths_bad(rows) && !absent && !has_lanes(rows, bounds))
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->mask[i] == 0)
			return gt_fail(error, "row %zu: no active lane", i + 1);
		if ((uint8_t)(rows->size[i] - 1) >= GT_ACCESS_SIZE_MAX)
			return gt_fail(error, "row %zu: %u bytes a lane: expected 1 to %d", i + 1, rows->size[i],
				       GT_ACCESS_SIZE_MAX);
		if (is_width_bad(rows, i))
			return gt_fail(error, "row %zu: width %u: expected 0, or 2, 4, 8 or 16 lanes at a stride", i + 1, rows->width[i]);
		if (absent && rows->warp[i] == last && rows->mask[i] & absent)
			return gt_fail(error, "row %zu: lane mask 0x%08" PRIx32 ": warp %u has %d threads", i + 1,
				       rows->mask[i], rows->warp[i], __builtin_ctz(absent));
		if (rows->stride[i] != GT_STRIDE_LANES)
			continue;
		const uint64_t lanes = (uint64_t)__builtin_popcount(rows->mask[i]);
		if (rows->base[i] > rows->n_lanes || lanes > rows->n_lanes - rows->base[i])
			return gt_fail(error, "row %zu: %" PRIu64 " addresses at %" PRIu64 ": the batch has %zu", i + 1,
				       lanes, rows->base[i], rows->n_lanes);
	}
	return 0;
}

/* How many requests the rows are; a number that is not possible if some row has a width or a pitch that it may not have. */
GT_WIDE static uint64_t count_spans(const struct gt_rows *rows)
{
	uint64_t requests = rows->n, pitch = 0;
	uint8_t large = 0;

	if (!rows->has_spans)
		return requests;
	for (size_t i = 0; i < rows->n; i++)
		requests += rows->width[i] > 1 ? rows->width[i] - 1U : 0;
	for (size_t i = 0; i < rows->n; i++)
		large |= rows->width[i] > GT_SPAN_MOST;
	for (size_t i = 0; i < rows->n; i++)
		pitch |= rows->width[i] > 1 ? (uint64_t)rows->pitch[i] : 0;
	return large || pitch % GT_LINE != 0 ? UINT64_MAX : requests;
}

static int check_spans(const struct gt_rows *rows, struct gt_error *error)
{
	const uint64_t requests = count_spans(rows);

	for (size_t i = 0; requests == UINT64_MAX && i < rows->n; i++) {
		if (rows->width[i] > GT_SPAN_MOST)
			return gt_fail(error, "row %zu: %u requests: expected at most %d", i + 1, rows->width[i], GT_SPAN_MOST);
		if (rows->width[i] > 1 && rows->pitch[i] % GT_LINE != 0)
			return gt_fail(error, "row %zu: requests %" PRId64 " bytes apart: expected a multiple of %d", i + 1, rows->pitch[i], GT_LINE);
	}
	return requests <= GT_REQUESTS_MAX ? 0 : gt_fail(error, "%" PRIu64 " requests: expected at most %d in a batch", requests, GT_REQUESTS_MAX);
}

/* Whether some row may be bad: turns are looked at one by one. */
GT_WIDE static bool requests_bad(const struct gt_rows *rows)
{
	uint8_t bad = 0;
	uint64_t address = 0;

	for (size_t i = 0; i < rows->n; i++)
		bad |= (uint8_t)((uint8_t)(rows->sectors[i] - 1) >= 15) | (uint8_t)(rows->full[i] & ~rows->sectors[i]);
	for (size_t i = 0; i < rows->n; i++)
		bad |= rows->threads[i] > GT_WARP_SIZE;
	for (size_t i = 0; i < rows->n; i++)
		address |= rows->address[i];
	for (size_t i = 0; i < rows->n; i++)
		bad |= (rows->op[i] & 0x1c) == GT_SHARED << 2;
	return bad || address % GT_LINE != 0;
}

static bool is_turn(const struct gt_rows *rows, size_t i)
{
	return gt_op_space(rows->op[i]) == GT_SHARED && gt_rows_span(rows, i) == 1 &&
	       !(rows->address[i] | rows->sectors[i] | rows->full[i] | rows->threads[i]);
}

static int check_requests(const struct gt_rows *rows, struct gt_error *error)
{
	if (check_spans(rows, error) != 0)
		return -1;
	if (!requests_bad(rows))
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		if (is_turn(rows, i))
			continue;
		if (gt_op_space(rows->op[i]) == GT_SHARED)
			return gt_fail(error, "row %zu: a request on shared memory: expected a turn, with address, sectors, full and lanes of 0", i + 1);
		if (rows->sectors[i] == 0 || rows->sectors[i] > 15 || rows->full[i] & ~rows->sectors[i])
			return gt_fail(error, "row %zu: sectors 0x%x, full 0x%x: expected 0x1 to 0xf, and a subset of them",
				       i + 1, rows->sectors[i], rows->full[i]);
		if (rows->threads[i] > GT_WARP_SIZE)
			return gt_fail(error, "row %zu: %u lanes: a warp has %d", i + 1, rows->threads[i], GT_WARP_SIZE);
		if (rows->address[i] % GT_LINE != 0)
			return gt_fail(error, "row %zu: address 0x%" PRIx64 ": expected a multiple of %d", i + 1,
				       rows->address[i], GT_LINE);
	}
	return 0;
}

static int check_status(const struct gt_rows *rows, struct gt_error *error)
{
	unsigned bad = 0;

	if (!rows->has_status)
		return 0;
	for (size_t i = 0; i < rows->n; i++)
		bad |= rows->status[i] >= GT_STATUSES;
	for (size_t i = 0; bad && i < rows->n; i++)
		if (rows->status[i] >= GT_STATUSES)
			return gt_fail(error, "row %zu: status %u: no such status", i + 1, rows->status[i]);
	return 0;
}

static int check(const struct gt_rows *rows, const struct bounds *bounds, const struct gt_kernel *kernel, struct gt_error *error)
{
	if (check_place(rows, bounds, kernel, error) != 0 || check_ops(rows, error) != 0 || check_hints(rows, error) != 0)
		return -1;
	if (rows->kind == GT_ACCESSES)
		return check_accesses(rows, bounds, kernel, error);
	return check_requests(rows, error) != 0 ? -1 : check_status(rows, error);
}

int gt_rows_check(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct bounds bounds[BOUNDS];

	for (size_t c = 0; c < BOUNDS; c++)
		bounds[c] = unknown;
	return check(rows, bounds, kernel, error);
}

/* ---- unpacking ---- */

/* A batch's arrays for n rows. */
static int prepare(struct gt_rows **rows, size_t n, struct gt_error *error)
{
	if (n > (*rows)->capacity) {
		gt_rows_free(*rows);
		*rows = gt_rows_new(n, error);
		if (!*rows)
			return -1;
	}
	(*rows)->n = n;
	(*rows)->n_lanes = 0;
	return 0;
}

/* The column `lanes` of accesses has a length of its own: as many as the rows without a stride
 * need, which is found from base and mask. */
static int unpack_lanes(struct gt_rows *rows, const struct bounds *bounds, const msgpack_object *columns, struct gt_error *error)
{
	struct bounds addresses;
	size_t needed = 0;

	if (!has_lanes(rows, bounds))
		return 0;
	const msgpack_object *object = gt_object_get(columns, "lanes");
	for (size_t i = 0; i < rows->n; i++)
		if (rows->stride[i] == GT_STRIDE_LANES)
			needed += (size_t)__builtin_popcount(rows->mask[i]);
	if (needed == 0)
		return 0;
	if (!object || gt_rows_reserve_lanes(rows, needed, error) != 0 ||
	    decode_column(object, rows->lanes, needed, sizeof *rows->lanes, &addresses) != 0)
		return gt_fail(error, "column 'lanes': expected %zu addresses", needed);
	rows->n_lanes = needed;
	return 0;
}

/* Rows without the columns have no pitch. */
static int unpack_pitch(struct gt_rows *rows, const msgpack_object *columns, struct gt_error *error)
{
	const msgpack_object *width = gt_object_get(columns, "width"), *pitch = gt_object_get(columns, "pitch");
	struct bounds widths, pitches;

	memset(rows->width, 0, rows->n);
	if (!width && !pitch)
		return 0;
	if (!width || decode_column(width, rows->width, rows->n, sizeof *rows->width, &widths) != 0)
		return gt_fail(error, "column 'width': expected %zu elements of 1 byte", rows->n);
	if (!pitch || decode_column(pitch, rows->pitch, rows->n, sizeof *rows->pitch, &pitches) != 0)
		return gt_fail(error, "column 'pitch': expected %zu elements of 8 bytes", rows->n);
	return 0;
}

static void find_columns(struct gt_rows *rows, enum gt_rows_kind kind, const msgpack_object *columns)
{
	rows->kind = kind;
	rows->scheduled = gt_object_get(columns, "step") != NULL;
	rows->has_status = kind == GT_REQUESTS && gt_object_get(columns, "status") != NULL;
	rows->has_latency = kind == GT_REQUESTS && gt_object_get(columns, "latency") != NULL;
	rows->has_hints = gt_object_get(columns, "hint") != NULL;
	rows->has_work = gt_object_get(columns, "work") != NULL;
	rows->has_shared = gt_object_get(columns, "shared") != NULL;
	rows->has_spans = kind == GT_REQUESTS && (gt_object_get(columns, "width") || gt_object_get(columns, "pitch"));
}

int gt_rows_unpack(struct gt_rows **into, enum gt_rows_kind kind, size_t n, const msgpack_object *columns,
		   const struct gt_kernel *kernel, struct gt_error *error)
{
	if (prepare(into, n, error) != 0)
		return -1;
	struct gt_rows *rows = *into;
	struct bounds bounds[BOUNDS];
	find_columns(rows, kind, columns);
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(rows, column))
			continue;
		const msgpack_object *object = gt_object_get(columns, column->name);
		if (!object || decode_column(object, gt_column_of(rows, column), n, column->width, &bounds[column->offset / sizeof(void *)]) != 0)
			return gt_fail(error, "column '%s': expected %zu elements of %u bytes", column->name, n, column->width);
	}
	if (kind == GT_ACCESSES && unpack_lanes(rows, bounds, columns, error) != 0)
		return -1;
	if ((kind == GT_ACCESSES || rows->has_spans) && unpack_pitch(rows, columns, error) != 0)
		return -1;
	return check(rows, bounds, kernel, error);
}

static inline bool is_shared(uint8_t op)
{
	return (op & 0x1c) == GT_SHARED << 2;
}

GT_WIDE static bool any_shared(const uint8_t *op, size_t n)
{
	uint8_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= is_shared(op[i]);
	return any;
}

/* Moves the rows that are no turns together. Their ops are moved last, since they say which these are. */
static void close_gaps(struct gt_rows *rows, const struct gt_column *column)
{
	char *elements = gt_column_of(rows, column);
	size_t kept = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (is_shared(rows->op[i]))
			continue;
		memmove(elements + kept * column->width, elements + i * column->width, column->width);
		kept++;
	}
}

void gt_rows_drop_turns(struct gt_rows *rows)
{
	size_t kept = 0;

	if (rows->kind != GT_REQUESTS || !any_shared(rows->op, rows->n))
		return;
	for (size_t c = 0; c < gt_columns_n; c++)
		if (gt_column_present(rows, &gt_columns[c]) && gt_column_of(rows, &gt_columns[c]) != rows->op)
			close_gaps(rows, &gt_columns[c]);
	if (rows->has_spans) {
		close_gaps(rows, &width_column);
		close_gaps(rows, &pitch_column);
	}
	for (size_t i = 0; i < rows->n; i++)
		if (!is_shared(rows->op[i]))
			rows->op[kept++] = rows->op[i];
	rows->n = kept;
}

int gt_rows_spread(struct gt_rows **rows, struct gt_rows **room, struct gt_error *error)
{
	struct gt_rows *from = *rows;

	if (from->kind != GT_REQUESTS || !from->has_spans)
		return 0;
	if (gt_rows_expand(room, from, 0, from->n, error) != 0)
		return -1;
	*rows = *room;
	*room = from;
	return 0;
}
