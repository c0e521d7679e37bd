/* SPDX-License-Identifier: MIT */
#include "stream/plain.h"

#include <msgpack.h>

#include "stream/plain_form.h"
#include "stream/records.h"

/* The names of a row's elements, in their order; `lanes` of an access is an array. */
static const char *const access_names[] = {"block", "warp", "an", "pc", "op", "size", "mask", "addresses"};
static const char *const request_names[] = {"block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes"};

static void pack_names(msgpack_packer *packer, const char *kind, const char *const *names, size_t n)
{
	gt_pack_text(packer, kind);
	msgpack_pack_array(packer, n);
	for (size_t i = 0; i < n; i++)
		gt_pack_text(packer, names[i]);
}

void gt_plain_begin(struct gt_bytes *out, const char *const *history)
{
	msgpack_packer packer;
	size_t lines = 0;

	while (history && history[lines])
		lines++;
	msgpack_packer_init(&packer, out, gt_bytes_write);
	msgpack_pack_array(&packer, 3);
	gt_pack_text(&packer, "gtrace-rows");
	msgpack_pack_int(&packer, PLAIN_VERSION);
	msgpack_pack_map(&packer, 3);
	gt_pack_text(&packer, "history");
	msgpack_pack_array(&packer, lines);
	for (size_t i = 0; i < lines; i++)
		gt_pack_text(&packer, history[i]);
	pack_names(&packer, "access", access_names, PLAIN_ACCESS_ELEMENTS);
	pack_names(&packer, "request", request_names, PLAIN_REQUEST_ELEMENTS);
}

/* The number of optional elements in rows of this shape, up to the last that is present. */
static unsigned further(const struct gt_rows *rows)
{
	return rows->has_work ? PLAIN_WORK + 1 : rows->has_hints ? PLAIN_HINT + 1 : rows->has_latency ? PLAIN_LATENCY + 1 : rows->has_status ? PLAIN_STATUS + 1 : rows->scheduled ? PLAIN_SM + 1 : 0;
}

static void pack_further(msgpack_packer *packer, const struct gt_rows *rows, size_t i, unsigned f)
{
	if (f == PLAIN_WORK)
		msgpack_pack_uint32(packer, rows->work[i]);
	else if (f == PLAIN_HINT && rows->has_hints)
		msgpack_pack_uint16(packer, rows->hint[i]);
	else if (f == PLAIN_LATENCY && rows->has_latency)
		msgpack_pack_uint32(packer, rows->latency[i]);
	else if (f == PLAIN_STATUS && rows->has_status)
		msgpack_pack_uint8(packer, rows->status[i]);
	else if (f == PLAIN_STEP && rows->scheduled)
		msgpack_pack_uint64(packer, rows->step[i]);
	else if (f == PLAIN_SM && rows->scheduled)
		msgpack_pack_uint16(packer, rows->sm[i]);
	else
		msgpack_pack_nil(packer);
}

static void pack_row(msgpack_packer *packer, const struct gt_rows *rows, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE];

	msgpack_pack_array(packer, (rows->kind == GT_ACCESSES ? PLAIN_ACCESS_ELEMENTS : PLAIN_REQUEST_ELEMENTS) + further(rows));
	msgpack_pack_uint32(packer, rows->block[i]);
	msgpack_pack_uint16(packer, rows->warp[i]);
	msgpack_pack_uint32(packer, rows->an[i]);
	msgpack_pack_uint32(packer, rows->pc[i]);
	msgpack_pack_uint8(packer, rows->op[i]);
	if (rows->kind == GT_ACCESSES) {
		unsigned n = gt_rows_addresses(rows, i, addresses);
		msgpack_pack_uint8(packer, rows->size[i]);
		msgpack_pack_uint32(packer, rows->mask[i]);
		msgpack_pack_array(packer, n);
		for (unsigned l = 0; l < n; l++)
			msgpack_pack_uint64(packer, addresses[l]);
	} else {
		msgpack_pack_uint64(packer, rows->address[i]);
		msgpack_pack_uint8(packer, rows->sectors[i]);
		msgpack_pack_uint8(packer, rows->full[i]);
		msgpack_pack_uint8(packer, rows->threads[i]);
	}
	for (unsigned f = 0; f < further(rows); f++)
		pack_further(packer, rows, i, f);
}

void gt_plain_put(struct gt_bytes *out, struct gt_reader *reader, enum gt_event event)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, gt_bytes_write);
	if (event == GT_ROWS) {
		const struct gt_rows *rows = gt_reader_rows(reader);
		for (size_t i = 0; i < rows->n; i++)
			pack_row(&packer, rows, i);
		return;
	}
	if (event != GT_KERNEL && event != GT_GPU && event != GT_COUNT)
		return;
	msgpack_pack_array(&packer, 2);
	if (event == GT_KERNEL) {
		gt_pack_text(&packer, "kernel");
		gt_kernel_pack(&packer, gt_reader_kernel(reader));
	} else if (event == GT_GPU) {
		gt_pack_text(&packer, "gpu");
		gt_gpu_pack(&packer, gt_reader_gpu(reader));
	} else {
		gt_pack_text(&packer, "count");
		gt_count_pack(&packer, gt_reader_count(reader));
	}
}

void gt_plain_end(struct gt_bytes *out)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, gt_bytes_write);
	msgpack_pack_array(&packer, 1);
	gt_pack_text(&packer, "end");
}
