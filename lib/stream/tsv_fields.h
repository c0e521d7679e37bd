/* SPDX-License-Identifier: MIT */
/* The fields of a line of text, for those who read it. */
#ifndef GT_STREAM_TSV_FIELDS_H
#define GT_STREAM_TSV_FIELDS_H

#include "stream/tsv.h"

/* Fields that are no column of a batch. */
enum { GT_FIELD_IGNORED = -1, GT_FIELD_KERNEL = -2, GT_FIELD_LANES = -3 };

/* Cuts the next field off a line; NULL after the last. */
char *gt_tsv_field(char **line, char separator);
/* Cuts "key=value" apart; the value, or NULL. */
char *gt_tsv_value(char *pair);
/* A whole number, 0x or decimal, whose value fits `width` bytes. 0, or -1. */
int gt_tsv_number(const char *text, unsigned width, uint64_t *value);

/* The index into gt_columns, or GT_FIELD_*. */
int gt_tsv_column_named(const char *name);

/* ---- each reads what follows a line's tag, or a line without one ---- */

enum gt_tsv_event gt_tsv_read_columns(struct gt_tsv *tsv, char *line, struct gt_error *error);
enum gt_tsv_event gt_tsv_read_row(struct gt_tsv *tsv, char *line, struct gt_error *error);
enum gt_tsv_event gt_tsv_read_kernel(struct gt_tsv *tsv, char *line, struct gt_error *error);
enum gt_tsv_event gt_tsv_read_gpu(struct gt_tsv *tsv, char *line, struct gt_error *error);
enum gt_tsv_event gt_tsv_read_count(struct gt_tsv *tsv, char *line, struct gt_error *error);

#endif
