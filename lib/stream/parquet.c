/* SPDX-License-Identifier: MIT */
#include "stream/parquet.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/grown.h"
#include "base/installed.h"
#include "base/utf8.h"
#include "stream/op.h"
#include "stream/thrift.h"

#define GROUP_ROWS 131072
#define COLUMNS_MAX 24
#define PACK_LEVEL 1

/* Numbers of the format: parquet.thrift. */
enum { INT32 = 1, INT64 = 2, BYTE_ARRAY = 6 };
enum { REQUIRED = 0, REPEATED = 2 };
enum { UTF8 = 0, LIST = 3, UINT_8 = 11, UINT_16 = 12, UINT_32 = 13, UINT_64 = 14, INT_64 = 18 };
enum { PLAIN = 0, RLE = 3, ZSTD = 6, DATA_PAGE = 0 };

/* What a column has besides the numbers of a column of the rows. */
enum source { NUMBERS, KERNEL, NAME, OP, ADDRESS, LANES };

struct column {
	const char *name;
	enum source source;
	const struct gt_column *from; /* of NUMBERS */
	int type, converted;
	struct gt_bytes values;
	struct gt_bytes repetitions, definitions; /* of LANES: a byte a level */
};

struct parquet_chunk {
	int64_t offset, plain, packed, values;
};

struct gt_parquet {
	struct gt_rows shape; /* no rows */
	struct column columns[COLUMNS_MAX];
	size_t n;
	uint64_t rows, written_rows, written; /* in the group; in all before it; bytes of the file */
	struct parquet_chunk *chunks; /* n for each group; owned */
	uint64_t *group_rows;	      /* owned */
	size_t groups, chunks_capacity, groups_capacity;
	struct gt_bytes page, packed;
};

static void add_column(struct gt_parquet *parquet, const char *name, enum source source, int type, int converted,
		       const struct gt_column *from)
{
	parquet->columns[parquet->n++] = (struct column){.name = name, .source = source, .from = from, .type = type, .converted = converted};
}

/* Of accesses, `base` becomes the address of the lowest lane in all rows, and `lanes` a list. */
struct gt_parquet *gt_parquet_open(const struct gt_rows *shape, struct gt_error *error)
{
	static const int of_width[] = {[1] = UINT_8, [2] = UINT_16, [4] = UINT_32, [8] = UINT_64};
	struct gt_parquet *parquet = calloc(1, sizeof *parquet);

	if (!parquet) {
		gt_fail_memory(error, "a Parquet file");
		return NULL;
	}
	gt_rows_shape(&parquet->shape, shape);
	parquet->shape.has_hints = true;
	add_column(parquet, "kernel", KERNEL, INT64, UINT_64, NULL);
	add_column(parquet, "name", NAME, BYTE_ARRAY, UTF8, NULL);
	for (size_t i = 0; i < gt_columns_n; i++) {
		const struct gt_column *column = &gt_columns[i];
		if (!gt_column_present(&parquet->shape, column))
			continue;
		if (strcmp(column->name, "op") == 0)
			add_column(parquet, "op", OP, BYTE_ARRAY, UTF8, column);
		else if (strcmp(column->name, "base") == 0)
			add_column(parquet, "address", ADDRESS, INT64, UINT_64, column);
		else
			add_column(parquet, column->name, NUMBERS, column->width == 8 ? INT64 : INT32,
				   strcmp(column->name, "stride") == 0 ? INT_64 : of_width[column->width], column);
	}
	if (shape->kind == GT_ACCESSES)
		add_column(parquet, "lanes", LANES, INT64, UINT_64, NULL);
	return parquet;
}

static void put_number(struct gt_bytes *out, uint64_t value, unsigned bytes)
{
	char text[8];

	for (unsigned i = 0; i < bytes; i++)
		text[i] = (char)(value >> 8 * i);
	gt_bytes_write(out, text, bytes);
}

static void put_text(struct gt_bytes *out, const char *text)
{
	put_number(out, strlen(text), 4);
	gt_bytes_write(out, text, strlen(text));
}

/* The addresses of a row that has no stride; other rows have an empty list. */
static void put_lanes(struct column *column, const struct gt_rows *rows, size_t i)
{
	bool listed = rows->stride[i] == GT_STRIDE_LANES;
	int lanes = listed ? __builtin_popcount(rows->mask[i]) : 0;

	for (int lane = 0; lane < lanes; lane++)
		put_number(&column->values, rows->lanes[rows->base[i] + (uint64_t)lane], 8);
	for (int entry = 0; entry < (lanes ? lanes : 1); entry++) {
		put_number(&column->repetitions, entry > 0, 1);
		put_number(&column->definitions, listed, 1);
	}
}

static uint64_t element(const struct gt_rows *rows, const struct gt_column *column, size_t i)
{
	const void *array = gt_column_of(rows, column);

	switch (column->width) {
	case 1: return ((const uint8_t *)array)[i];
	case 2: return ((const uint16_t *)array)[i];
	case 4: return ((const uint32_t *)array)[i];
	default: return ((const uint64_t *)array)[i];
	}
}

static void fill(struct column *column, const struct gt_rows *rows, const struct gt_kernel *kernel)
{
	char op[GT_OP_TEXT], name[GT_KERNEL_NAME];

	snprintf(name, sizeof name, "%s", kernel->name);
	gt_utf8_printable(name);
	for (size_t i = 0; i < rows->n; i++)
		switch (column->source) {
		case KERNEL: put_number(&column->values, kernel->id, 8); break;
		case NAME: put_text(&column->values, name); break;
		case OP: put_text(&column->values, gt_op_format(rows->op[i], op)); break;
		case LANES: put_lanes(column, rows, i); break;
		case ADDRESS:
			put_number(&column->values, rows->stride[i] == GT_STRIDE_LANES ? rows->lanes[rows->base[i]] : rows->base[i], 8);
			break;
		case NUMBERS:
			put_number(&column->values, column->from->flag && !gt_column_present(rows, column->from) ? 0 : element(rows, column->from, i),
				   column->type == INT64 ? 8 : 4);
			break;
		}
}

/* Levels of one bit as runs, with their length in bytes before them. */
static void put_levels(struct gt_bytes *out, const struct gt_bytes *levels)
{
	struct gt_bytes runs = {0};

	for (size_t i = 0, run; i < levels->n; i += run) {
		for (run = 1; i + run < levels->n && levels->data[i + run] == levels->data[i]; run++)
			;
		gt_thrift_varint(&runs, (uint64_t)run << 1);
		put_number(&runs, levels->data[i], 1);
	}
	put_number(out, runs.n, 4);
	if (runs.n > 0)
		gt_bytes_write(out, (const char *)runs.data, runs.n);
	out->failed |= runs.failed;
	free(runs.data);
}

static void page_header(struct gt_bytes *out, int64_t plain, int64_t packed, int64_t values)
{
	struct gt_thrift thrift = {.out = out};

	gt_thrift_begin(&thrift, 0);
	gt_thrift_i32(&thrift, 1, DATA_PAGE);
	gt_thrift_i32(&thrift, 2, (int32_t)plain);
	gt_thrift_i32(&thrift, 3, (int32_t)packed);
	gt_thrift_begin(&thrift, 5);
	gt_thrift_i32(&thrift, 1, (int32_t)values);
	gt_thrift_i32(&thrift, 2, PLAIN);
	gt_thrift_i32(&thrift, 3, RLE);
	gt_thrift_i32(&thrift, 4, RLE);
	gt_thrift_end(&thrift);
	gt_thrift_end(&thrift);
}

/* Appends a column of the group as one page, and empties it. */
static int write_column(struct gt_parquet *parquet, struct column *column, struct parquet_chunk *chunk, struct gt_bytes *out,
			struct gt_error *error)
{
	struct gt_bytes *page = &parquet->page, *packed = &parquet->packed;
	size_t began = out->n;

	page->n = 0;
	if (column->source == LANES) {
		put_levels(page, &column->repetitions);
		put_levels(page, &column->definitions);
	}
	if (column->values.n > 0)
		gt_bytes_write(page, (const char *)column->values.data, column->values.n);
	size_t room = ZSTD_compressBound(page->n);
	unsigned char *bigger = gt_grown_to(packed->data, room, &packed->capacity, 1);
	if (bigger)
		packed->data = bigger;
	if (!bigger || page->failed || column->values.failed || column->repetitions.failed || column->definitions.failed)
		return gt_fail_memory(error, "a Parquet file");
	packed->n = ZSTD_compress(packed->data, room, page->data, page->n, PACK_LEVEL);
	if (ZSTD_isError(packed->n))
		return gt_fail(error, "cannot compress: %s", ZSTD_getErrorName(packed->n));
	*chunk = (struct parquet_chunk){.offset = (int64_t)parquet->written, .values = column->source == LANES ? (int64_t)column->repetitions.n : (int64_t)parquet->rows};
	page_header(out, (int64_t)page->n, (int64_t)packed->n, chunk->values);
	chunk->plain = (int64_t)(out->n - began + page->n);
	gt_bytes_write(out, (const char *)packed->data, packed->n);
	chunk->packed = (int64_t)(out->n - began);
	parquet->written += out->n - began;
	column->values.n = column->repetitions.n = column->definitions.n = 0;
	return 0;
}

static int write_group(struct gt_parquet *parquet, struct gt_bytes *out, struct gt_error *error)
{
	uint64_t *rows = gt_grown(parquet->group_rows, parquet->groups, &parquet->groups_capacity, sizeof *rows);
	if (rows)
		parquet->group_rows = rows;
	struct parquet_chunk *chunks = gt_grown_to(parquet->chunks, (parquet->groups + 1) * parquet->n, &parquet->chunks_capacity, sizeof *chunks);
	if (chunks)
		parquet->chunks = chunks;
	if (!rows || !chunks)
		return gt_fail_memory(error, "a Parquet file");
	for (size_t i = 0; i < parquet->n; i++)
		if (write_column(parquet, &parquet->columns[i], &chunks[parquet->groups * parquet->n + i], out, error) != 0)
			return -1;
	rows[parquet->groups++] = parquet->rows;
	parquet->written_rows += parquet->rows;
	parquet->rows = 0;
	return 0;
}

static void begin_file(struct gt_parquet *parquet, struct gt_bytes *out)
{
	if (parquet->written > 0)
		return;
	gt_bytes_write(out, "PAR1", 4);
	parquet->written = 4;
}

int gt_parquet_rows(struct gt_parquet *parquet, const struct gt_rows *rows, const struct gt_kernel *kernel,
		    struct gt_bytes *out, struct gt_error *error)
{
	struct gt_rows shape = {0};

	gt_rows_shape(&shape, rows);
	shape.has_hints = true;
	if (!gt_rows_alike(&shape, &parquet->shape))
		return gt_fail(error, "kernel %llu: expected rows with the same columns as before: a Parquet file is one table",
			       (unsigned long long)kernel->id);
	begin_file(parquet, out);
	for (size_t i = 0; i < parquet->n; i++)
		fill(&parquet->columns[i], rows, kernel);
	parquet->rows += rows->n;
	return parquet->rows < GROUP_ROWS ? 0 : write_group(parquet, out, error);
}

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
		const struct column *column = &parquet->columns[i];
		if (column->source != LANES) {
			schema_element(thrift, column->name, column->type, REQUIRED, -1, column->converted);
			continue;
		}
		schema_element(thrift, column->name, -1, REQUIRED, 1, LIST);
		schema_element(thrift, "list", -1, REPEATED, 1, -1);
		schema_element(thrift, "element", column->type, REQUIRED, -1, column->converted);
	}
}

static void write_chunk(struct gt_thrift *thrift, const struct column *column, const struct parquet_chunk *chunk)
{
	bool list = column->source == LANES;

	gt_thrift_begin(thrift, 0);
	gt_thrift_i64(thrift, 2, chunk->offset);
	gt_thrift_begin(thrift, 3);
	gt_thrift_i32(thrift, 1, column->type);
	gt_thrift_list(thrift, 2, GT_THRIFT_I32, 2);
	gt_thrift_element_i32(thrift, PLAIN);
	gt_thrift_element_i32(thrift, RLE);
	gt_thrift_list(thrift, 3, GT_THRIFT_TEXT, list ? 3 : 1);
	gt_thrift_element_text(thrift, column->name);
	if (list) {
		gt_thrift_element_text(thrift, "list");
		gt_thrift_element_text(thrift, "element");
	}
	gt_thrift_i32(thrift, 4, ZSTD);
	gt_thrift_i64(thrift, 5, chunk->values);
	gt_thrift_i64(thrift, 6, chunk->plain);
	gt_thrift_i64(thrift, 7, chunk->packed);
	gt_thrift_i64(thrift, 9, chunk->offset);
	gt_thrift_end(thrift);
	gt_thrift_end(thrift);
}

static void write_footer(const struct gt_parquet *parquet, struct gt_bytes *out)
{
	struct gt_thrift thrift = {.out = out};
	size_t began = out->n;
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
	put_number(out, out->n - began, 4);
	gt_bytes_write(out, "PAR1", 4);
}

int gt_parquet_finish(struct gt_parquet *parquet, struct gt_bytes *out, struct gt_error *error)
{
	begin_file(parquet, out);
	if (parquet->rows > 0 && write_group(parquet, out, error) != 0)
		return -1;
	write_footer(parquet, out);
	return out->failed ? gt_fail_memory(error, "a Parquet file") : 0;
}

void gt_parquet_close(struct gt_parquet *parquet)
{
	for (size_t i = 0; parquet && i < parquet->n; i++) {
		free(parquet->columns[i].values.data);
		free(parquet->columns[i].repetitions.data);
		free(parquet->columns[i].definitions.data);
	}
	if (parquet) {
		free(parquet->chunks);
		free(parquet->group_rows);
		free(parquet->page.data);
		free(parquet->packed.data);
	}
	free(parquet);
}
