/* SPDX-License-Identifier: MIT */
/* What is kept of a Parquet file while it is written. Private to lib/stream. */
#ifndef GT_STREAM_PARQUET_FILE_H
#define GT_STREAM_PARQUET_FILE_H

#include "stream/parquet.h"

#define GT_PARQUET_COLUMNS_MAX 24

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
	struct parquet_column columns[GT_PARQUET_COLUMNS_MAX];
	size_t n;
	uint64_t rows, written_rows, written; /* in the group; in all before it; bytes of the file */
	struct parquet_chunk *chunks; /* n for each group; owned */
	uint64_t *group_rows;	      /* owned */
	size_t groups, chunks_capacity, groups_capacity;
	struct gt_bytes page, packed;
};

#endif
