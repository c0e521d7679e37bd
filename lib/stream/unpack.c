/* SPDX-License-Identifier: MIT */
#include "stream/unpack.h"

#include <string.h>

#include "base/wide.h"
#include "stream/check.h"
#include "stream/columns.h"
#include "stream/op.h"
#include "stream/records.h"

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

GT_WIDE static bool any_lanes(const int64_t *stride, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= stride[i] == GT_STRIDE_LANES;
	return any;
}

/* The column `lanes` of accesses has a length of its own: as many as the rows without a stride
 * need, which is found from base and mask. */
static int unpack_lanes(struct gt_rows *rows, const msgpack_object *columns, struct gt_error *error)
{
	const msgpack_object *object = gt_object_get(columns, "lanes");
	size_t needed = 0;

	if (!any_lanes(rows->stride, rows->n))
		return 0;
	for (size_t i = 0; i < rows->n; i++)
		if (rows->stride[i] == GT_STRIDE_LANES)
			needed += (size_t)__builtin_popcount(rows->mask[i]);
	if (needed == 0)
		return 0;
	if (!object || gt_rows_reserve_lanes(rows, needed, error) != 0 ||
	    gt_column_unpack(object, rows->lanes, needed, sizeof *rows->lanes) != 0)
		return gt_fail(error, "column 'lanes': expected %zu addresses", needed);
	rows->n_lanes = needed;
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
}

int gt_rows_unpack(struct gt_rows **into, enum gt_rows_kind kind, size_t n, const msgpack_object *columns,
		   const struct gt_kernel *kernel, struct gt_error *error)
{
	if (prepare(into, n, error) != 0)
		return -1;
	struct gt_rows *rows = *into;
	find_columns(rows, kind, columns);
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(rows, column))
			continue;
		const msgpack_object *object = gt_object_get(columns, column->name);
		if (!object || gt_column_unpack(object, gt_column_of(rows, column), n, column->width) != 0)
			return gt_fail(error, "column '%s': expected %zu elements of %u bytes", column->name, n, column->width);
	}
	if (kind == GT_ACCESSES && unpack_lanes(rows, columns, error) != 0)
		return -1;
	return gt_rows_check(rows, kernel, error);
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
	for (size_t i = 0; i < rows->n; i++)
		if (!is_shared(rows->op[i]))
			rows->op[kept++] = rows->op[i];
	rows->n = kept;
}
