/* SPDX-License-Identifier: MIT */
#include "reuse/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/op.h"
#include "stream/status.h"

#define FIRST_COLUMNS (64 + GT_OP_TEXT + 3 * GT_CLASS_TEXT) /* bytes */

int gt_reuse_text_choose(struct gt_reuse_text *text, const char *name, const char *argument,
			 struct gt_error *error)
{
	text->table = gt_reuse_table_find(name);
	if (!text->table)
		return gt_fail(error, "no table is called '%s'", name);
	return text->table->parse ? text->table->parse(&text->asked, argument, error) : 0;
}

bool gt_reuse_text_by_sets(const struct gt_reuse_text *text)
{
	return text->table && strcmp(text->table->name, "curve-sets") == 0;
}

uint64_t gt_reuse_text_bound(const struct gt_reuse_text *text, uint64_t bound)
{
	if (gt_reuse_text_by_sets(text))
		return bound;
	for (size_t i = 0; i < text->asked.lines.n; i++)
		if (bound < text->asked.lines.lines[i])
			bound = text->asked.lines.lines[i];
	return bound;
}

/* A file in memory fails only when memory is short. */
static int sound(FILE *file, struct gt_error *error)
{
	return ferror(file) ? gt_fail_memory(error, "a table") : 0;
}

int gt_reuse_text_begin(struct gt_reuse_text *text, const struct gt_split *split, struct gt_error *error)
{
	if (gt_memory_file_open(&text->memory, error) != 0)
		return -1;
	if (split)
		fprintf(text->memory.file, "kernel\t%s\t%s%s\n", split->name, split->tells ? "op\tline\tname\t" : "", text->table->columns);
	else
		fprintf(text->memory.file, "kernel\t%s\n", text->table->columns);
	return sound(text->memory.file, error);
}

/* The columns before the figures: the kernel and, if `i` is below their number, the name of class i. */
static const char *first_columns(const struct gt_reuse_classes *classes, size_t i, const char *kernel, char *buffer)
{
	char class[GT_CLASS_TEXT], op[GT_OP_TEXT], source[GT_CLASS_TEXT], name[GT_CLASS_TEXT];

	if (i >= classes->n)
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t", kernel);
	else if (classes->split->tells)
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t%s\t%s\t%s\t%s\t", kernel, gt_reuse_classes_name(classes, i, class),
			 gt_reuse_classes_op(classes, i, op), gt_reuse_classes_source(classes, i, source),
			 gt_reuse_classes_kernel(classes, i, name));
	else
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t%s\t", kernel, gt_reuse_classes_name(classes, i, class));
	return buffer;
}

int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_profile *profile,
		      struct gt_error *error)
{
	const struct gt_reuse_classes *classes = &profile->classes;
	char first[FIRST_COLUMNS];

	if (!classes->split)
		text->table->write(text->memory.file, first_columns(classes, 0, kernel, first), &profile->all, &text->asked);
	for (size_t i = 0; i < classes->n; i++)
		text->table->write(text->memory.file, first_columns(classes, i, kernel, first), classes->classes[i].counted,
				   &text->asked);
	return sound(text->memory.file, error);
}

int gt_reuse_text_add_pair(struct gt_reuse_text *text, const char *kernel, const struct gt_pair *pair,
			   struct gt_error *error)
{
	const struct gt_reuse_classes *classes = &pair->classes;
	char first[FIRST_COLUMNS];

	if (!classes->split)
		text->table->write_pair(text->memory.file, first_columns(classes, 0, kernel, first), pair, pair->all);
	for (size_t i = 0; i < classes->n; i++)
		text->table->write_pair(text->memory.file, first_columns(classes, i, kernel, first), pair,
					classes->classes[i].counted);
	return sound(text->memory.file, error);
}

int gt_reuse_text_end(struct gt_reuse_text *text, struct gt_error *error)
{
	text->bytes = gt_memory_file_take(&text->memory, &text->n, "a table", error);
	return text->bytes ? 0 : -1;
}

void gt_reuse_text_close(struct gt_reuse_text *text)
{
	gt_memory_file_close(&text->memory);
	free(text->bytes);
	*text = (struct gt_reuse_text){0};
}

void gt_reuse_distance_write(FILE *to, uint64_t kernel, const struct gt_rows *rows, size_t i,
			     uint64_t address, uint64_t distance)
{
	char op[GT_OP_TEXT], sm[16] = "-", text[32] = "inf";

	if (rows->scheduled)
		snprintf(sm, sizeof sm, "%u", rows->sm[i]);
	if (distance != GT_DISTANCE_INFINITE)
		snprintf(text, sizeof text, "%" PRIu64, distance);
	fprintf(to, "%" PRIu64 "\t%s\t%" PRIu32 "\t%u\t%" PRIu32 "\t0x%" PRIx32 "\t%s\t0x%" PRIx64 "\t%s\t%s\n",
		kernel, sm, rows->block[i], rows->warp[i], rows->an[i], rows->pc[i],
		gt_op_format(rows->op[i], op), address, text, rows->has_status ? gt_status_names[rows->status[i]] : "-");
}
