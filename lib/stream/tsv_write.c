/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/views.h"

static void put_text(struct gt_bytes *out, const char *text)
{
	gt_bytes_write(out, text, strlen(text));
}

static void put_number(struct gt_bytes *out, uint64_t number)
{
	char digits[24];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	gt_bytes_write(out, digits + at, sizeof digits - at);
}

static void put_hex(struct gt_bytes *out, uint64_t number, unsigned least_digits)
{
	char digits[24];
	size_t at = sizeof digits;

	while (number > 0 || at > sizeof digits - least_digits) {
		digits[--at] = "0123456789abcdef"[number & 15];
		number >>= 4;
	}
	put_text(out, "0x");
	gt_bytes_write(out, digits + at, sizeof digits - at);
}

/* Text as a field, or as fields that have `separator` between them: what would break the line apart becomes a
 * space, what a terminal may obey '?'. */
static void put_fields(struct gt_bytes *out, const char *text, const char *separator)
{
	size_t taken, shown;

	for (; *text; text += taken) {
		const char *character = gt_utf8_next(text, &taken, &shown);
		bool breaks = strchr("\t\n\v\f\r", *text) != NULL;
		gt_bytes_write(out, *text == *separator ? separator : breaks ? " " : character, shown);
	}
}

static void put_field(struct gt_bytes *out, const char *text)
{
	put_fields(out, text, " ");
}

void gt_tsv_columns(struct gt_bytes *out, const struct gt_rows *rows)
{
	put_text(out, "#");
	for (size_t c = 0; c < gt_columns_n; c++) {
		if (!gt_column_present(rows, &gt_columns[c]))
			continue;
		put_text(out, gt_columns[c].name);
		put_text(out, "\t");
		if (strcmp(gt_columns[c].name, "stride") == 0)
			put_text(out, "lanes\t");
	}
	put_text(out, "kernel\n");
}

static void put_address(struct gt_bytes *out, uint64_t address, bool decimal)
{
	if (decimal)
		put_number(out, address);
	else
		put_hex(out, address, 12);
}

/* Writes the fields base, stride and lanes: base and stride, or lanes; the others are "-". */
static void put_addresses(struct gt_bytes *out, const struct gt_rows *rows, size_t i, bool decimal)
{
	uint64_t addresses[GT_WARP_SIZE];

	if (gt_rows_one_stride(rows, i)) {
		put_address(out, rows->base[i], decimal);
		put_text(out, "\t");
		if (rows->stride[i] < 0)
			put_text(out, "-");
		put_number(out, rows->stride[i] < 0 ? -(uint64_t)rows->stride[i] : (uint64_t)rows->stride[i]);
		put_text(out, "\t-\t");
		return;
	}
	put_text(out, "-\t-\t");
	unsigned n = gt_rows_addresses(rows, i, addresses);
	for (unsigned l = 0; l < n; l++) {
		if (l > 0)
			put_text(out, ",");
		put_address(out, addresses[l], decimal);
	}
	put_text(out, "\t");
}

#define WORK_TEXT 24 /* bytes of a text, with its final 0 */

/* "5,0", or "5,1,waits". */
static const char *format_work(uint32_t work, char buffer[WORK_TEXT])
{
	snprintf(buffer, WORK_TEXT, "%" PRIu32 ",%" PRIu32 "%s", gt_work_instructions(work), gt_work_barriers(work),
		 gt_work_waits(work) ? ",waits" : "");
	return buffer;
}

/* The columns work and shared, where they are. */
static void put_work(struct gt_bytes *out, const struct gt_rows *rows, size_t i)
{
	char work[WORK_TEXT];

	if (rows->has_work) {
		put_text(out, format_work(rows->work[i], work));
		put_text(out, "\t");
	}
	if (rows->has_shared) {
		put_number(out, gt_shared_accesses(rows->shared[i]));
		put_text(out, ",");
		put_number(out, gt_shared_passes(rows->shared[i]));
		put_text(out, "\t");
	}
}

void gt_tsv_row(struct gt_bytes *out, const struct gt_rows *rows, size_t i, uint64_t kernel, bool decimal)
{
	char op[GT_OP_TEXT];

	put_number(out, rows->block[i]);
	put_text(out, "\t");
	put_number(out, rows->warp[i]);
	put_text(out, "\t");
	put_number(out, rows->an[i]);
	put_text(out, "\t");
	put_hex(out, rows->pc[i], 1);
	put_text(out, "\t");
	put_text(out, gt_op_format(rows->op[i], op));
	put_text(out, "\t");
	if (rows->kind == GT_ACCESSES) {
		put_number(out, rows->size[i]);
		put_text(out, "\t");
		put_hex(out, rows->mask[i], 8);
		put_text(out, "\t");
		put_addresses(out, rows, i, decimal);
	} else {
		put_address(out, rows->address[i], decimal);
		put_text(out, "\t");
		put_hex(out, rows->sectors[i], 1);
		put_text(out, "\t");
		put_hex(out, rows->full[i], 1);
		put_text(out, "\t");
		put_number(out, rows->threads[i]);
		put_text(out, "\t");
	}
	if (rows->scheduled) {
		put_number(out, rows->step[i]);
		put_text(out, "\t");
		put_number(out, rows->sm[i]);
		put_text(out, "\t");
	}
	if (rows->has_status) {
		put_text(out, gt_status_names[rows->status[i]]);
		put_text(out, "\t");
	}
	if (rows->has_latency) {
		put_number(out, rows->latency[i]);
		put_text(out, "\t");
	}
	if (rows->has_hints) {
		char hint[GT_HINT_TEXT];
		put_text(out, gt_hint_format(rows->hint[i], hint));
		put_text(out, "\t");
	}
	put_work(out, rows, i);
	put_number(out, kernel);
	put_text(out, "\n");
}

static void put_pair(struct gt_bytes *out, const char *key, const char *value)
{
	put_text(out, "\t");
	put_field(out, key);
	put_text(out, "=");
	put_field(out, value);
}

static void put_pair_number(struct gt_bytes *out, const char *key, uint64_t value)
{
	put_pair(out, key, "");
	put_number(out, value);
}

static void put_pair_shape(struct gt_bytes *out, const char *key, const uint32_t shape[3])
{
	char text[48];

	snprintf(text, sizeof text, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, shape[0], shape[1], shape[2]);
	put_pair(out, key, text);
}

static void put_preferences(struct gt_bytes *out, const struct gt_preferences *prefers)
{
	char text[GT_WINDOW_TEXT];

	if (prefers->window.bytes > 0)
		put_pair(out, "l2_window", gt_window_format(&prefers->window, text));
	if (prefers->l2_fetch_bytes > 0)
		put_pair_number(out, "l2_fetch_bytes", prefers->l2_fetch_bytes);
	if (prefers->l2_persisting_bytes > 0)
		put_pair_number(out, "l2_persisting_bytes", prefers->l2_persisting_bytes);
	if (prefers->carveout > 0)
		put_pair_number(out, "carveout", prefers->carveout - 1);
}

void gt_tsv_kernel(struct gt_bytes *out, const struct gt_kernel *kernel)
{
	put_text(out, "#kernel");
	put_pair_number(out, "id", kernel->id);
	put_pair(out, "name", kernel->name);
	put_pair_shape(out, "grid", kernel->grid);
	put_pair_shape(out, "block", kernel->block);
	put_pair_number(out, "registers", kernel->registers);
	put_pair_number(out, "shared_bytes", kernel->shared_bytes);
	put_pair(out, "order", gt_order_names[kernel->order]);
	put_pair_number(out, "l1_bytes", kernel->l1_bytes);
	if (kernel->cluster[0] > 0)
		put_pair_shape(out, "cluster", kernel->cluster);
	if (kernel->device > 0)
		put_pair_number(out, "device", kernel->device);
	put_preferences(out, &kernel->prefers);
	if (kernel->parent > 0)
		put_pair_number(out, "parent", kernel->parent);
	put_text(out, "\n");
}

void gt_tsv_gpu(struct gt_bytes *out, const struct gt_gpu *gpu)
{
	put_text(out, "#gpu");
	for (size_t i = 0; i < gpu->n; i++)
		put_pair(out, gpu->figures[i].key, gpu->figures[i].value);
	put_text(out, "\n");
}

void gt_tsv_count(struct gt_bytes *out, const struct gt_count *count)
{
	put_text(out, "#count");
	put_pair(out, "stage", count->stage);
	put_pair_number(out, "kernel", count->kernel);
	for (size_t i = 0; i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		if (entry->kind == GT_COUNT_NUMBER) {
			put_pair_number(out, entry->name, entry->number);
			continue;
		}
		put_pair(out, entry->name, entry->kind == GT_COUNT_TEXT ? entry->text : "[");
		for (size_t j = 0; entry->kind == GT_COUNT_ARRAY && j < entry->n; j++) {
			put_text(out, j > 0 ? "," : "");
			put_number(out, entry->array[j]);
		}
		put_text(out, entry->kind == GT_COUNT_ARRAY ? "]" : "");
	}
	put_text(out, "\n");
}

void gt_tsv_line(struct gt_bytes *out, const char *tag, const char *text)
{
	put_text(out, "#");
	put_text(out, tag);
	put_text(out, "\t");
	put_fields(out, text, "\t");
	put_text(out, "\n");
}
