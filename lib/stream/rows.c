/* SPDX-License-Identifier: MIT */
#include "stream/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/request.h"

#define COLUMN(NAME, WIRE, IN_ACCESS, IN_REQUEST, FLAG)                                          \
	{WIRE, offsetof(struct gt_rows, NAME), sizeof *((struct gt_rows *)0)->NAME,                \
	 _Generic(((struct gt_rows *)0)->NAME, int64_t *: true, default: false), IN_ACCESS, IN_REQUEST, FLAG}
#define IF(FLAG) offsetof(struct gt_rows, FLAG)

const struct gt_column gt_columns[] = {
	COLUMN(block, "block", true, true, 0),
	COLUMN(warp, "warp", true, true, 0),
	COLUMN(an, "an", true, true, 0),
	COLUMN(pc, "pc", true, true, 0),
	COLUMN(op, "op", true, true, 0),
	COLUMN(size, "size", true, false, 0),
	COLUMN(mask, "mask", true, false, 0),
	COLUMN(base, "base", true, false, 0),
	COLUMN(stride, "stride", true, false, 0),
	COLUMN(address, "address", false, true, 0),
	COLUMN(sectors, "sectors", false, true, 0),
	COLUMN(full, "full", false, true, 0),
	COLUMN(threads, "lanes", false, true, 0),
	COLUMN(step, "step", true, true, IF(scheduled)),
	COLUMN(sm, "sm", true, true, IF(scheduled)),
	COLUMN(status, "status", false, true, IF(has_status)),
	COLUMN(latency, "latency", false, true, IF(has_latency)),
	COLUMN(hint, "hint", true, true, IF(has_hints)),
	COLUMN(work, "work", true, true, IF(has_work)),
	COLUMN(shared, "shared", true, true, IF(has_shared)),
};
const size_t gt_columns_n = sizeof gt_columns / sizeof gt_columns[0];

static void **place(struct gt_rows *rows, const struct gt_column *column)
{
	return (void **)(void *)((char *)rows + column->offset);
}

struct gt_rows *gt_rows_new(size_t capacity, struct gt_error *error)
{
	struct gt_rows *rows = calloc(1, sizeof *rows);

	for (size_t c = 0; rows && c < gt_columns_n; c++) {
		*place(rows, &gt_columns[c]) = calloc(capacity + GT_ROWS_SLACK, gt_columns[c].width);
		if (!*place(rows, &gt_columns[c])) {
			gt_rows_free(rows);
			rows = NULL;
		}
	}
	if (!rows) {
		gt_fail_memory(error, "a batch of rows");
		return NULL;
	}
	rows->capacity = capacity;
	return rows;
}

int gt_rows_grow(struct gt_rows *rows, size_t capacity, struct gt_error *error)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		void *bigger = gt_resized(*place(rows, &gt_columns[c]), capacity + GT_ROWS_SLACK, gt_columns[c].width);
		if (!bigger)
			return gt_fail_memory(error, "a batch of rows");
		*place(rows, &gt_columns[c]) = bigger;
	}
	rows->capacity = capacity;
	return 0;
}

void gt_rows_free(struct gt_rows *rows)
{
	if (!rows)
		return;
	for (size_t c = 0; c < gt_columns_n; c++)
		free(*place(rows, &gt_columns[c]));
	free(rows->lanes);
	free(rows);
}

int gt_rows_reserve_lanes(struct gt_rows *rows, size_t more, struct gt_error *error)
{
	uint64_t *lanes = gt_grown_to(rows->lanes, rows->n_lanes + more, &rows->lanes_capacity, sizeof *lanes);

	if (!lanes && rows->n_lanes + more > 0)
		return gt_fail_memory(error, "the addresses of lanes");
	rows->lanes = lanes;
	return 0;
}

/* Moves the addresses that row `at` has in `from` behind those of `to`. */
static int copy_lanes(struct gt_rows *to, size_t at, const struct gt_rows *from, size_t first_lane, struct gt_error *error)
{
	size_t n = (size_t)__builtin_popcount(to->mask[at]);

	if (gt_rows_reserve_lanes(to, n, error) != 0)
		return -1;
	memcpy(to->lanes + to->n_lanes, from->lanes + first_lane, n * sizeof *to->lanes);
	to->base[at] = to->n_lanes;
	to->n_lanes += n;
	return 0;
}

int gt_rows_copy(struct gt_rows *to, const struct gt_rows *from, size_t i, struct gt_error *error)
{
	size_t at = to->n;

	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(from, column) || !gt_column_present(to, column))
			continue;
		memcpy((char *)gt_column_of(to, column) + at * column->width,
		       (const char *)gt_column_of(from, column) + i * column->width, column->width);
	}
	if (from->kind == GT_ACCESSES && from->stride[i] == GT_STRIDE_LANES &&
	    copy_lanes(to, at, from, from->base[i], error) != 0)
		return -1;
	to->n++;
	return 0;
}

#define GATHER(TYPE)                                                                              \
	do {                                                                                       \
		TYPE *restrict out = (TYPE *)gt_column_of(to, column) + to->n;                     \
		const TYPE *restrict in = gt_column_of(from, column);                              \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[order[k]];                                                     \
	} while (0)

void gt_requests_append(struct gt_rows *to, const struct gt_rows *from, const uint32_t *order, size_t n)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(to, column))
			continue;
		switch (column->width) {
		case 1: GATHER(uint8_t); break;
		case 2: GATHER(uint16_t); break;
		case 4: GATHER(uint32_t); break;
		default: GATHER(uint64_t);
		}
	}
	to->n += n;
}

void gt_rows_append(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(to, column))
			continue;
		char *at = (char *)gt_column_of(to, column) + to->n * column->width;
		if (gt_column_present(from, column))
			memcpy(at, (const char *)gt_column_of(from, column) + first * column->width, n * column->width);
		else
			memset(at, 0, n * column->width);
	}
	to->n += n;
}

int gt_rows_join(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n, struct gt_error *error)
{
	size_t at = to->n;

	gt_rows_append(to, from, first, n);
	if (from->kind == GT_REQUESTS || from->n_lanes == 0)
		return 0;
	for (; at < to->n; at++)
		if (to->stride[at] == GT_STRIDE_LANES && copy_lanes(to, at, from, to->base[at], error) != 0)
			return -1;
	return 0;
}

unsigned gt_rows_addresses(const struct gt_rows *rows, size_t i, uint64_t addresses[GT_WARP_SIZE])
{
	uint32_t mask = rows->mask[i];
	unsigned n = 0, lowest = (unsigned)__builtin_ctz(mask);

	if (rows->stride[i] == GT_STRIDE_LANES) {
		n = (unsigned)__builtin_popcount(mask);
		memcpy(addresses, rows->lanes + rows->base[i], n * sizeof *addresses);
		return n;
	}
	for (; mask; mask &= mask - 1) {
		unsigned lane = (unsigned)__builtin_ctz(mask);
		addresses[n++] = rows->base[i] + (uint64_t)rows->stride[i] * (lane - lowest);
	}
	return n;
}

/* Whether n addresses are a stride apart. Without an end before the last, so that several are compared at a time. */
static bool is_progression(const uint64_t *addresses, unsigned n, uint64_t stride)
{
	uint64_t differences = 0;

	for (unsigned i = 1; i < n; i++)
		differences |= addresses[i] - addresses[i - 1] - stride;
	return differences == 0;
}

int64_t gt_common_stride(uint32_t mask, const uint64_t *addresses)
{
	unsigned lowest = (unsigned)__builtin_ctz(mask);
	uint32_t rest = mask & (mask - 1);

	if (!rest)
		return 0;
	/* The first two lanes determine the stride, if their distance is a multiple of the gap between them. */
	int64_t distance = (int64_t)(addresses[1] - addresses[0]);
	int64_t gap = (int64_t)((unsigned)__builtin_ctz(rest) - lowest);
	if (gap > 1 && distance % gap != 0)
		return GT_STRIDE_LANES;
	int64_t stride = gap > 1 ? distance / gap : distance;
	if (((mask >> lowest) & ((mask >> lowest) + 1)) == 0)
		return is_progression(addresses, (unsigned)__builtin_popcount(mask), (uint64_t)stride) ? stride : GT_STRIDE_LANES;
	for (unsigned n = 1; rest; rest &= rest - 1, n++) {
		unsigned lane = (unsigned)__builtin_ctz(rest);
		if (addresses[n] != addresses[0] + (uint64_t)stride * (lane - lowest))
			return GT_STRIDE_LANES;
	}
	return stride;
}

int gt_rows_set_addresses(struct gt_rows *rows, size_t i, uint32_t mask, const uint64_t *addresses,
			  struct gt_error *error)
{
	int64_t stride = gt_common_stride(mask, addresses);

	rows->mask[i] = mask;
	rows->stride[i] = stride;
	rows->base[i] = addresses[0];
	if (stride != GT_STRIDE_LANES)
		return 0;
	size_t n = (size_t)__builtin_popcount(mask);
	if (gt_rows_reserve_lanes(rows, n, error) != 0)
		return -1;
	rows->base[i] = rows->n_lanes;
	memcpy(rows->lanes + rows->n_lanes, addresses, n * sizeof *addresses);
	rows->n_lanes += n;
	return 0;
}

static int grow(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	return gt_rows_grow(rows, 2 * rows->capacity, error);
}

struct gt_sink gt_sink_that_grows(struct gt_rows *rows)
{
	return (struct gt_sink){rows, grow, NULL};
}

int gt_sink_begin(struct gt_sink *sink, enum gt_rows_kind kind, bool scheduled, struct gt_error *error)
{
	return gt_sink_begin_as(sink, &(struct gt_rows){.kind = kind, .scheduled = scheduled}, error);
}

int gt_sink_begin_as(struct gt_sink *sink, const struct gt_rows *shape, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (rows->n > 0 && !gt_rows_alike(rows, shape) && sink->flush(sink->context, rows, error) != 0)
		return -1;
	gt_rows_shape(rows, shape);
	return 0;
}

int gt_sink_empty(struct gt_sink *sink, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (sink->flush(sink->context, rows, error) != 0)
		return -1;
	return sink->rows == rows && rows->n < rows->capacity ? 0
							      : gt_fail(error, "a batch of rows was not emptied where it is");
}
