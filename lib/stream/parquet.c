/* SPDX-License-Identifier: MIT */
/* Writing Parquet (stream/views.h): columns in row groups, and the footer, in Thrift's compact protocol, that says where they are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/grown.h"
#include "base/installed.h"
#include "base/utf8.h"
#include "stream/op.h"
#include "stream/records.h"
#include "stream/views.h"

/* ---- a file while it is written ---- */

#define PARQUET_COLUMNS_MAX 24

/* Numbers of the format: parquet.thrift. */
enum { PARQUET_INT32 = 1, PARQUET_INT64 = 2, PARQUET_BYTE_ARRAY = 6 };
enum { PARQUET_REQUIRED = 0, PARQUET_REPEATED = 2 };
enum { PARQUET_UTF8 = 0, PARQUET_LIST = 3, PARQUET_UINT_8 = 11, PARQUET_UINT_16 = 12, PARQUET_UINT_32 = 13, PARQUET_UINT_64 = 14, PARQUET_INT_64 = 18 };
enum { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_ZSTD = 6, PARQUET_DATA_PAGE = 0 };

/* What a column has besides the numbers of a column of the rows. */
enum parquet_source { PARQUET_NUMBERS, PARQUET_KERNEL, PARQUET_NAME, PARQUET_OP, PARQUET_ADDRESS, PARQUET_LANES };

struct parquet_column {
	const char *name;
	enum parquet_source source;
	const struct gt_column *from; /* of PARQUET_NUMBERS */
	int type, converted;
	struct gt_bytes values;
	struct gt_bytes repetitions, definitions; /* of PARQUET_LANES: a byte a level */
};

struct parquet_chunk {
	int64_t offset, plain, packed, values;
};

struct gt_parquet {
	struct gt_rows shape; /* no rows */
	struct parquet_column columns[PARQUET_COLUMNS_MAX];
	size_t n;
	uint64_t rows, written_rows, written; /* in the group; in all before it; bytes of the file */
	struct parquet_chunk *chunks; /* n for each group; owned */
	uint64_t *group_rows;	      /* owned */
	size_t groups, chunks_capacity, groups_capacity;
	struct gt_bytes page, packed;
};

/* ---- Thrift ---- */

/* Writes Thrift's compact protocol, in which Parquet keeps its headers: fields by rising number within structs. */

#define THRIFT_DEPTH 8 /* structs within one another, at most */

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_TEXT = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

struct thrift {
	struct gt_bytes *out;
	int last[THRIFT_DEPTH]; /* the number of the last field of each open struct */
	unsigned depth;
};

static void put(struct gt_bytes *out, unsigned byte)
{
	char character = (char)byte;

	gt_bytes_write(out, &character, 1);
}

/* An unsigned number in base 128, low digits first. */
static void thrift_varint(struct gt_bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(out, (unsigned)(value & 0x7f) | 0x80);
	put(out, (unsigned)value);
}

static void signed_varint(struct gt_bytes *out, int64_t value)
{
	thrift_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* The header of a field: how far its number is from the last one's, and its type. All of Parquet's steps are below 16. */
static void field(struct thrift *thrift, int number, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth - 1];

	put(thrift->out, (unsigned)(number - *last) << 4 | (unsigned)type);
	*last = number;
}

/* A struct, which is a field (number > 0) or an element of a list or the whole (0); and its end. */
static void thrift_begin(struct thrift *thrift, int number)
{
	if (number > 0)
		field(thrift, number, THRIFT_STRUCT);
	thrift->last[thrift->depth++] = 0;
}

static void thrift_end(struct thrift *thrift)
{
	put(thrift->out, 0);
	thrift->depth--;
}

/* Fields. */
static void thrift_i32(struct thrift *thrift, int number, int32_t value)
{
	field(thrift, number, THRIFT_I32);
	signed_varint(thrift->out, value);
}

static void thrift_i64(struct thrift *thrift, int number, int64_t value)
{
	field(thrift, number, THRIFT_I64);
	signed_varint(thrift->out, value);
}

static void thrift_element_text(struct thrift *thrift, const char *text)
{
	thrift_varint(thrift->out, strlen(text));
	gt_bytes_write(thrift->out, text, strlen(text));
}

static void thrift_text(struct thrift *thrift, int number, const char *text)
{
	field(thrift, number, THRIFT_TEXT);
	thrift_element_text(thrift, text);
}

/* A list of n elements, which follow. */
static void thrift_list(struct thrift *thrift, int number, enum thrift_type type, uint64_t n)
{
	field(thrift, number, THRIFT_LIST);
	if (n < 15) {
		put(thrift->out, (unsigned)n << 4 | (unsigned)type);
	} else {
		put(thrift->out, 0xf0 | (unsigned)type);
		thrift_varint(thrift->out, n);
	}
}

/* Elements of a list. */
static void thrift_element_i32(struct thrift *thrift, int32_t value)
{
	signed_varint(thrift->out, value);
}

static void schema_element(struct thrift *thrift, const char *name, int type, int repetition, int children, int converted)
{
	thrift_begin(thrift, 0);
	if (type >= 0)
		thrift_i32(thrift, 1, type);
	if (repetition >= 0)
		thrift_i32(thrift, 3, repetition);
	thrift_text(thrift, 4, name);
	if (children >= 0)
		thrift_i32(thrift, 5, children);
	if (converted >= 0)
		thrift_i32(thrift, 6, converted);
	thrift_end(thrift);
}

static void write_schema(struct thrift *thrift, const struct gt_parquet *parquet)
{
	bool lists = parquet->shape.kind == GT_ACCESSES;

	thrift_list(thrift, 2, THRIFT_STRUCT, 1 + parquet->n + (lists ? 2 : 0));
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

static void write_chunk(struct thrift *thrift, const struct parquet_column *column, const struct parquet_chunk *chunk)
{
	bool list = column->source == PARQUET_LANES;

	thrift_begin(thrift, 0);
	thrift_i64(thrift, 2, chunk->offset);
	thrift_begin(thrift, 3);
	thrift_i32(thrift, 1, column->type);
	thrift_list(thrift, 2, THRIFT_I32, 2);
	thrift_element_i32(thrift, PARQUET_PLAIN);
	thrift_element_i32(thrift, PARQUET_RLE);
	thrift_list(thrift, 3, THRIFT_TEXT, list ? 3 : 1);
	thrift_element_text(thrift, column->name);
	if (list) {
		thrift_element_text(thrift, "list");
		thrift_element_text(thrift, "element");
	}
	thrift_i32(thrift, 4, PARQUET_ZSTD);
	thrift_i64(thrift, 5, chunk->values);
	thrift_i64(thrift, 6, chunk->plain);
	thrift_i64(thrift, 7, chunk->packed);
	thrift_i64(thrift, 9, chunk->offset);
	thrift_end(thrift);
	thrift_end(thrift);
}

/* Appends what stands behind the pages: the schema, and where each group and each of its columns is. */
static void parquet_footer(const struct gt_parquet *parquet, struct gt_bytes *out)
{
	struct thrift thrift = {.out = out};
	char by[64];

	thrift_begin(&thrift, 0);
	thrift_i32(&thrift, 1, 1);
	write_schema(&thrift, parquet);
	thrift_i64(&thrift, 3, (int64_t)parquet->written_rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, parquet->groups);
	for (size_t group = 0; group < parquet->groups; group++) {
		const struct parquet_chunk *chunks = &parquet->chunks[group * parquet->n];
		int64_t bytes = 0;
		thrift_begin(&thrift, 0);
		thrift_list(&thrift, 1, THRIFT_STRUCT, parquet->n);
		for (size_t i = 0; i < parquet->n; i++) {
			write_chunk(&thrift, &parquet->columns[i], &chunks[i]);
			bytes += chunks[i].plain;
		}
		thrift_i64(&thrift, 2, bytes);
		thrift_i64(&thrift, 3, (int64_t)parquet->group_rows[group]);
		thrift_end(&thrift);
	}
	snprintf(by, sizeof by, "gtrace version %s", gt_version);
	thrift_text(&thrift, 6, by);
	thrift_end(&thrift);
}

#define GROUP_ROWS 131072
#define PACK_LEVEL 1

static void add_column(struct gt_parquet *parquet, const char *name, enum parquet_source source, int type, int converted,
		       const struct gt_column *from)
{
	parquet->columns[parquet->n++] = (struct parquet_column){.name = name, .source = source, .from = from, .type = type, .converted = converted};
}

/* Of accesses, `base` becomes the address of the lowest lane in all rows, and `lanes` a list. */
struct gt_parquet *gt_parquet_open(const struct gt_rows *shape, struct gt_error *error)
{
	static const int of_width[] = {[1] = PARQUET_UINT_8, [2] = PARQUET_UINT_16, [4] = PARQUET_UINT_32, [8] = PARQUET_UINT_64};
	struct gt_parquet *parquet = calloc(1, sizeof *parquet);

	if (!parquet) {
		gt_fail_memory(error, "a Parquet file");
		return NULL;
	}
	gt_rows_shape(&parquet->shape, shape);
	parquet->shape.has_hints = true;
	parquet->shape.has_shared = shape->has_work;
	add_column(parquet, "kernel", PARQUET_KERNEL, PARQUET_INT64, PARQUET_UINT_64, NULL);
	add_column(parquet, "name", PARQUET_NAME, PARQUET_BYTE_ARRAY, PARQUET_UTF8, NULL);
	for (size_t i = 0; i < gt_columns_n; i++) {
		const struct gt_column *column = &gt_columns[i];
		if (!gt_column_present(&parquet->shape, column))
			continue;
		if (strcmp(column->name, "op") == 0)
			add_column(parquet, "op", PARQUET_OP, PARQUET_BYTE_ARRAY, PARQUET_UTF8, column);
		else if (strcmp(column->name, "base") == 0)
			add_column(parquet, "address", PARQUET_ADDRESS, PARQUET_INT64, PARQUET_UINT_64, column);
		else
			add_column(parquet, column->name, PARQUET_NUMBERS, column->width == 8 ? PARQUET_INT64 : PARQUET_INT32,
				   strcmp(column->name, "stride") == 0 ? PARQUET_INT_64 : of_width[column->width], column);
	}
	if (shape->kind == GT_ACCESSES)
		add_column(parquet, "lanes", PARQUET_LANES, PARQUET_INT64, PARQUET_UINT_64, NULL);
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
static void put_lanes(struct parquet_column *column, const struct gt_rows *rows, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE];
	const bool listed = !gt_rows_one_stride(rows, i);
	const unsigned lanes = listed ? gt_rows_addresses(rows, i, addresses) : 0;

	for (unsigned lane = 0; lane < lanes; lane++)
		put_number(&column->values, addresses[lane], 8);
	for (unsigned entry = 0; entry < (lanes ? lanes : 1); entry++) {
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

static void fill(struct parquet_column *column, const struct gt_rows *rows, const struct gt_kernel *kernel)
{
	char op[GT_OP_TEXT], name[GT_KERNEL_NAME];

	snprintf(name, sizeof name, "%s", kernel->name);
	gt_utf8_printable(name);
	for (size_t i = 0; i < rows->n; i++)
		switch (column->source) {
		case PARQUET_KERNEL: put_number(&column->values, kernel->id, 8); break;
		case PARQUET_NAME: put_text(&column->values, name); break;
		case PARQUET_OP: put_text(&column->values, gt_op_format(rows->op[i], op)); break;
		case PARQUET_LANES: put_lanes(column, rows, i); break;
		case PARQUET_ADDRESS:
			put_number(&column->values, rows->stride[i] == GT_STRIDE_LANES ? rows->lanes[rows->base[i]] : rows->base[i], 8);
			break;
		case PARQUET_NUMBERS:
			if (column->from->offset == offsetof(struct gt_rows, stride) && !gt_rows_one_stride(rows, i))
				put_number(&column->values, (uint64_t)GT_STRIDE_LANES, 8);
			else
				put_number(&column->values, column->from->flag && !gt_column_present(rows, column->from) ? 0 : element(rows, column->from, i),
				   column->type == PARQUET_INT64 ? 8 : 4);
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
		thrift_varint(&runs, (uint64_t)run << 1);
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
	struct thrift thrift = {.out = out};

	thrift_begin(&thrift, 0);
	thrift_i32(&thrift, 1, PARQUET_DATA_PAGE);
	thrift_i32(&thrift, 2, (int32_t)plain);
	thrift_i32(&thrift, 3, (int32_t)packed);
	thrift_begin(&thrift, 5);
	thrift_i32(&thrift, 1, (int32_t)values);
	thrift_i32(&thrift, 2, PARQUET_PLAIN);
	thrift_i32(&thrift, 3, PARQUET_RLE);
	thrift_i32(&thrift, 4, PARQUET_RLE);
	thrift_end(&thrift);
	thrift_end(&thrift);
}

/* Appends a column of the group as one page, and empties it. */
static int write_column(struct gt_parquet *parquet, struct parquet_column *column, struct parquet_chunk *chunk, struct gt_bytes *out,
			struct gt_error *error)
{
	struct gt_bytes *page = &parquet->page, *packed = &parquet->packed;
	size_t began = out->n;

	page->n = 0;
	if (column->source == PARQUET_LANES) {
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
	*chunk = (struct parquet_chunk){.offset = (int64_t)parquet->written, .values = column->source == PARQUET_LANES ? (int64_t)column->repetitions.n : (int64_t)parquet->rows};
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
	shape.has_shared = rows->has_work;
	if (!gt_rows_alike(&shape, &parquet->shape))
		return gt_fail(error, "kernel %llu: expected rows with the same columns as before: a Parquet file is one table",
			       (unsigned long long)kernel->id);
	begin_file(parquet, out);
	for (size_t i = 0; i < parquet->n; i++)
		fill(&parquet->columns[i], rows, kernel);
	parquet->rows += rows->n;
	return parquet->rows < GROUP_ROWS ? 0 : write_group(parquet, out, error);
}

int gt_parquet_finish(struct gt_parquet *parquet, struct gt_bytes *out, struct gt_error *error)
{
	begin_file(parquet, out);
	if (parquet->rows > 0 && write_group(parquet, out, error) != 0)
		return -1;
	size_t began = out->n;
	parquet_footer(parquet, out);
	put_number(out, out->n - began, 4);
	gt_bytes_write(out, "PAR1", 4);
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
