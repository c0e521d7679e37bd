/* SPDX-License-Identifier: MIT */
#include "stream/pack.h"

#include "stream/records.h"

void gt_pack_begin(msgpack_packer *packer, const char *kind, size_t size)
{
	msgpack_pack_array(packer, size);
	gt_pack_text(packer, kind);
}

static size_t columns_of(const struct gt_rows *rows, size_t lanes)
{
	size_t columns = lanes > 0;

	for (size_t c = 0; c < gt_columns_n; c++)
		columns += gt_column_present(rows, &gt_columns[c]);
	return columns;
}

static void pack_column(msgpack_packer *packer, struct gt_bytes *bytes, const struct gt_column *column,
			const struct gt_slice *slices, size_t n)
{
	struct gt_column_part parts[GT_COLUMN_PARTS_MAX];

	for (size_t s = 0; s < n; s++)
		parts[s] = (struct gt_column_part){
			(const char *)gt_column_of(slices[s].rows, column) + slices[s].first * column->width, slices[s].n};
	gt_pack_text(packer, column->name);
	gt_column_pack(packer, bytes, parts, n, column->width);
}

void gt_rows_pack(struct gt_bytes *bytes, const struct gt_slice *slices, size_t slices_n)
{
	const struct gt_rows *rows = slices[0].rows;
	msgpack_packer packer;
	struct gt_column_part lanes[GT_COLUMN_PARTS_MAX];
	size_t n = 0, lanes_n = 0;

	for (size_t s = 0; s < slices_n; s++) {
		lanes[s] = (struct gt_column_part){slices[s].rows->lanes + slices[s].first_lane, slices[s].lanes_n};
		lanes_n += slices[s].lanes_n;
		n += slices[s].n;
	}
	msgpack_packer_init(&packer, bytes, gt_bytes_write);
	gt_pack_begin(&packer, rows->kind == GT_ACCESSES ? "access" : "request", 3);
	msgpack_pack_uint64(&packer, n);
	msgpack_pack_map(&packer, columns_of(rows, lanes_n));
	for (size_t c = 0; c < gt_columns_n; c++)
		if (gt_column_present(rows, &gt_columns[c]))
			pack_column(&packer, bytes, &gt_columns[c], slices, slices_n);
	if (lanes_n > 0) {
		gt_pack_text(&packer, "lanes");
		gt_column_pack(&packer, bytes, lanes, slices_n, sizeof *rows->lanes);
	}
}
