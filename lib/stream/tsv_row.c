/* SPDX-License-Identifier: MIT */
/* The names of columns, and the rows below them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/hint.h"
#include "stream/op.h"
#include "stream/status.h"
#include "stream/tsv_fields.h"
#include "stream/work.h"

/* ---- the names of columns ---- */

int gt_tsv_column_named(const char *name)
{
	for (size_t c = 0; c < gt_columns_n; c++)
		if (strcmp(gt_columns[c].name, name) == 0)
			return (int)c;
	return strcmp(name, "kernel") == 0 ? GT_FIELD_KERNEL : GT_FIELD_IGNORED;
}

/* A row needs every column of its kind. */
static int check_complete(const struct gt_tsv *tsv, struct gt_error *error)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		bool found = !gt_column_present(&tsv->shape, &gt_columns[c]);
		for (size_t f = 0; f < tsv->n_fields; f++)
			found |= tsv->field_column[f] == (int)c;
		if (!found)
			return gt_fail(error, "the column '%s' is missing", gt_columns[c].name);
	}
	return 0;
}

enum gt_tsv_event gt_tsv_read_columns(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	struct gt_rows *shape = &tsv->shape;

	tsv->n_fields = 0;
	*shape = (struct gt_rows){.kind = GT_ACCESSES};
	for (char *name; (name = gt_tsv_field(&line, '\t'));) {
		if (tsv->n_fields == GT_TSV_COLUMNS_MAX)
			return (enum gt_tsv_event)gt_fail(error, "more than %d columns", GT_TSV_COLUMNS_MAX);
		tsv->field_column[tsv->n_fields++] = gt_tsv_column_named(name);
		if (strcmp(name, "address") == 0)
			shape->kind = GT_REQUESTS;
		shape->scheduled |= strcmp(name, "step") == 0;
		shape->has_status |= strcmp(name, "status") == 0;
		shape->has_latency |= strcmp(name, "latency") == 0;
		shape->has_hints |= strcmp(name, "hint") == 0;
		shape->has_work |= strcmp(name, "work") == 0;
	}
	/* Both kinds have a column `lanes`: addresses of one, a number of threads of the other. */
	for (size_t f = 0; f < tsv->n_fields; f++) {
		const struct gt_column *column = tsv->field_column[f] >= 0 ? &gt_columns[tsv->field_column[f]] : NULL;
		if (!column || gt_column_present(shape, column))
			continue;
		tsv->field_column[f] = strcmp(column->name, "lanes") == 0 ? GT_FIELD_LANES : GT_FIELD_IGNORED;
	}
	if (check_complete(tsv, error) != 0)
		return GT_TSV_FAILED;
	if (tsv->rows->n > 0 && !gt_rows_alike(tsv->rows, shape))
		return (enum gt_tsv_event)gt_fail(error, "the columns change in the middle of a batch");
	gt_rows_shape(tsv->rows, shape);
	return GT_TSV_NOTHING;
}

/* ---- rows ---- */

static int parse_stride(const char *text, int64_t *stride)
{
	char *end;

	errno = 0;
	*stride = strtoll(text, &end, 10);
	return end == text || *end != '\0' || errno == ERANGE || *stride == GT_STRIDE_LANES ? -1 : 0;
}

static void store(void *column, size_t i, unsigned width, uint64_t value)
{
	/* Little-endian: the low bytes come first. */
	memcpy((char *)column + i * width, &value, width);
}

static int parse_lanes(struct gt_rows *rows, size_t i, char *text, struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = 0, wanted = (unsigned)__builtin_popcount(rows->mask[i]);

	for (char *field; (field = gt_tsv_field(&text, ','));) {
		if (n == GT_WARP_SIZE || gt_tsv_number(field, 8, &addresses[n]) != 0)
			return gt_fail(error, "lanes: '%.20s': expected up to 32 addresses", field);
		n++;
	}
	if (n != wanted || n == 0)
		return gt_fail(error, "lanes: %u addresses for %u active lanes", n, wanted);
	return gt_rows_set_addresses(rows, i, rows->mask[i], addresses, error);
}

static int parse_cell(struct gt_rows *rows, size_t i, const struct gt_column *column, const char *text,
		      struct gt_error *error)
{
	uint64_t value;
	uint8_t op;

	if (column->offset == offsetof(struct gt_rows, stride)) {
		if (parse_stride(text, &rows->stride[i]) != 0)
			return gt_fail(error, "stride: '%.40s': expected a whole number", text);
	} else if (column->offset == offsetof(struct gt_rows, op)) {
		if (gt_op_parse(text, &op) != 0)
			return gt_fail(error, "op: '%.40s': expected an operation such as load.global", text);
		rows->op[i] = op;
	} else if (column->offset == offsetof(struct gt_rows, hint)) {
		if (gt_hint_parse(text, &rows->hint[i]) != 0)
			return gt_fail(error, "hint: '%.60s': expected none, or hints such as L1::no_allocate,L2::128B", text);
	} else if (column->offset == offsetof(struct gt_rows, work)) {
		if (gt_work_parse(text, &rows->work[i]) != 0)
			return gt_fail(error, "work: '%.60s': expected instructions,barriers, and ,waits if the warp does", text);
	} else if (column->offset == offsetof(struct gt_rows, status)) {
		if (gt_status_parse(text, &rows->status[i]) != 0)
			return gt_fail(error, "status: '%.40s': expected a status such as hit or miss", text);
	} else {
		if (gt_tsv_number(text, column->width, &value) != 0)
			return gt_fail(error, "%s: '%.40s': expected a number of at most %u bytes", column->name, text,
				       column->width);
		store(gt_column_of(rows, column), i, column->width, value);
	}
	return 0;
}

enum gt_tsv_event gt_tsv_read_row(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	struct gt_rows *rows = tsv->rows;
	char *lanes = NULL, *field;
	size_t i = rows->n, f = 0;
	uint64_t kernel = tsv->kernel_id;

	if (tsv->n_fields == 0)
		return (enum gt_tsv_event)gt_fail(
			error, "a row before the line that names the columns (keep lines that begin with '#' in front)");
	for (; f < tsv->n_fields && (field = gt_tsv_field(&line, '\t')); f++) {
		int column = tsv->field_column[f];
		if (column == GT_FIELD_KERNEL && gt_tsv_number(field, 8, &kernel) != 0)
			return (enum gt_tsv_event)gt_fail(error, "kernel: '%.40s': expected a number", field);
		if (column == GT_FIELD_LANES && strcmp(field, "-") != 0)
			lanes = field;
		if (column < 0 || strcmp(field, "-") == 0)
			continue;
		if (parse_cell(rows, i, &gt_columns[column], field, error) != 0)
			return GT_TSV_FAILED;
	}
	if (f < tsv->n_fields || line)
		return (enum gt_tsv_event)gt_fail(error, "expected %zu fields with tabs between", tsv->n_fields);
	if (lanes && parse_lanes(rows, i, lanes, error) != 0)
		return GT_TSV_FAILED;
	rows->n++;
	tsv->kernel_id = kernel;
	return GT_TSV_ROW;
}
