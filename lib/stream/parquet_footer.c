/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/installed.h"
#include "stream/parquet_file.h"
#include "stream/thrift.h"

static void schema_element(struct gt_thrift *thrift, const char *name, int type, int repetition, int children, int converted)
{
	gt_thrift_begin(thrift, 0);
	if (type >= 0)
		gt_thrift_i32(thrift, 1, type);
	if (repetition >= 0)
		gt_thrift_i32(thrift, 3, repetition);
	gt_thrift_text(thrift, 4, name);
	if (children >= 0)
		gt_thrift_i32(thrift, 5, children);
	if (converted >= 0)
		gt_thrift_i32(thrift, 6, converted);
	gt_thrift_end(thrift);
}

static void write_schema(struct gt_thrift *thrift, const struct gt_parquet *parquet)
{
	bool lists = parquet->shape.kind == GT_ACCESSES;

	gt_thrift_list(thrift, 2, GT_THRIFT_STRUCT, 1 + parquet->n + (lists ? 2 : 0));
	schema_element(thrift, "rows", -1, -1, (int)parquet->n, -1);
	for (size_t i = 0; i < parquet->n; i++) {
		const struct parquet_column *column = &parquet->columns[i];
		if (column->source != PARQUET_LANES) {
			schema_element(thrift, column->name, column->type, PARQUET_REQUIRED, -1, column->converted);
			continue;
		}
		schema_element(thrift, column->name, -1, PARQUET_REQUIRED, 1, PARQUET_LIST);
		schema_element(thrift, "list", -1, PARQUET_REPEATED, 1, -1);
		schema_element(thrift, "element", column->type, PARQUET_REQUIRED, -1, column->converted);
	}
}

static void write_chunk(struct gt_thrift *thrift, const struct parquet_column *column, const struct parquet_chunk *chunk)
{
	bool list = column->source == PARQUET_LANES;

	gt_thrift_begin(thrift, 0);
	gt_thrift_i64(thrift, 2, chunk->offset);
	gt_thrift_begin(thrift, 3);
	gt_thrift_i32(thrift, 1, column->type);
	gt_thrift_list(thrift, 2, GT_THRIFT_I32, 2);
	gt_thrift_element_i32(thrift, PARQUET_PLAIN);
	gt_thrift_element_i32(thrift, PARQUET_RLE);
	gt_thrift_list(thrift, 3, GT_THRIFT_TEXT, list ? 3 : 1);
	gt_thrift_element_text(thrift, column->name);
	if (list) {
		gt_thrift_element_text(thrift, "list");
		gt_thrift_element_text(thrift, "element");
	}
	gt_thrift_i32(thrift, 4, PARQUET_ZSTD);
	gt_thrift_i64(thrift, 5, chunk->values);
	gt_thrift_i64(thrift, 6, chunk->plain);
	gt_thrift_i64(thrift, 7, chunk->packed);
	gt_thrift_i64(thrift, 9, chunk->offset);
	gt_thrift_end(thrift);
	gt_thrift_end(thrift);
}

void gt_parquet_footer(const struct gt_parquet *parquet, struct gt_bytes *out)
{
	struct gt_thrift thrift = {.out = out};
	char by[64];

	gt_thrift_begin(&thrift, 0);
	gt_thrift_i32(&thrift, 1, 1);
	write_schema(&thrift, parquet);
	gt_thrift_i64(&thrift, 3, (int64_t)parquet->written_rows);
	gt_thrift_list(&thrift, 4, GT_THRIFT_STRUCT, parquet->groups);
	for (size_t group = 0; group < parquet->groups; group++) {
		const struct parquet_chunk *chunks = &parquet->chunks[group * parquet->n];
		int64_t bytes = 0;
		gt_thrift_begin(&thrift, 0);
		gt_thrift_list(&thrift, 1, GT_THRIFT_STRUCT, parquet->n);
		for (size_t i = 0; i < parquet->n; i++) {
			write_chunk(&thrift, &parquet->columns[i], &chunks[i]);
			bytes += chunks[i].plain;
		}
		gt_thrift_i64(&thrift, 2, bytes);
		gt_thrift_i64(&thrift, 3, (int64_t)parquet->group_rows[group]);
		gt_thrift_end(&thrift);
	}
	snprintf(by, sizeof by, "gtrace version %s", gt_version);
	gt_thrift_text(&thrift, 6, by);
	gt_thrift_end(&thrift);
}
