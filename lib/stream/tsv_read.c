/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "stream/tsv_fields.h"

void gt_tsv_open(struct gt_tsv *tsv, struct gt_rows *rows)
{
	memset(tsv, 0, sizeof *tsv);
	tsv->rows = rows;
}

void gt_tsv_close(struct gt_tsv *tsv)
{
	gt_kernel_clear(&tsv->kernel);
	gt_gpu_clear(&tsv->gpu);
	gt_count_clear(&tsv->count);
}

static enum gt_tsv_event read_history(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)error;
	tsv->text = line ? line : "";
	return GT_TSV_HISTORY;
}

static enum gt_tsv_event read_stream(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)tsv, (void)line, (void)error;
	return GT_TSV_STREAM;
}

static enum gt_tsv_event read_end(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)tsv, (void)line, (void)error;
	return GT_TSV_END;
}

static const struct {
	const char *tag;
	enum gt_tsv_event (*read)(struct gt_tsv *tsv, char *line, struct gt_error *error);
} tags[] = {
	{"#kernel", gt_tsv_read_kernel}, {"#gpu", gt_tsv_read_gpu},  {"#count", gt_tsv_read_count},
	{"#history", read_history},	 {"#gtrace", read_stream}, {"#end", read_end},
};

enum gt_tsv_event gt_tsv_read(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	if (line[0] == '\0')
		return GT_TSV_NOTHING;
	if (line[0] != '#' && !isalpha((unsigned char)line[0]))
		return gt_tsv_read_row(tsv, line, error);
	char *rest = line, *tag = gt_tsv_field(&rest, '\t');
	/* "#kernel" before pairs announces a launch; before names it is the name of the first column. */
	bool names = strcmp(tag, "#kernel") == 0 && rest && !memchr(rest, '=', strcspn(rest, "\t"));
	for (size_t t = 0; !names && t < sizeof tags / sizeof tags[0]; t++)
		if (strcmp(tag, tags[t].tag) == 0)
			return tags[t].read(tsv, rest, error);
	/* A column's name starts the line of names; any other word after '#' is a comment. */
	if (gt_tsv_column_named(tag + (tag[0] == '#')) == GT_FIELD_IGNORED)
		return tag[0] == '#' ? GT_TSV_NOTHING : gt_tsv_read_row(tsv, line, error);
	if (rest)
		rest[-1] = '\t';
	return gt_tsv_read_columns(tsv, line + (line[0] == '#'), error);
}

bool gt_tsv_detect(const char *head, size_t bytes)
{
	static const char *const starts[] = {"#gtrace\t", "#block\t", "block\t", "#kernel\t", "#count\t", "#end"};

	for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
		if (bytes >= strlen(starts[s]) && memcmp(head, starts[s], strlen(starts[s])) == 0)
			return true;
	return false;
}
