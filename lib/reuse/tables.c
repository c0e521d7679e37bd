/* SPDX-License-Identifier: MIT */
#include "reuse/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "stream/op.h"

int gt_lines_parse(const char *text, struct gt_lines *lines, struct gt_error *error)
{
	char number[32];

	for (lines->n = 0;; lines->n++) {
		size_t length = strcspn(text, ",");
		if (lines->n == GT_LINES_N)
			return gt_fail(error, "expected %d numbers of lines at most", GT_LINES_N);
		snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), text);
		if (gt_parse_count(number, 1, GT_HISTOGRAM_BOUND_MAX, &lines->lines[lines->n], error) != 0)
			return -1;
		if (text[length] == '\0')
			break;
		text += length + 1;
	}
	lines->n++;
	return 0;
}

static void write_profile(FILE *to, const char *first, const struct gt_histogram *histogram,
			  const struct gt_lines *lines)
{
	uint64_t end = gt_histogram_end(histogram);

	(void)lines;
	for (uint64_t distance = 0; distance < end; distance++) {
		uint64_t count = gt_histogram_at(histogram, distance);
		if (count != 0)
			fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", first, distance, distance, count);
	}
	for (size_t bin = 0; bin < GT_HISTOGRAM_FAR; bin++)
		if (histogram->far[bin] != 0)
			fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", first, histogram->bound << bin,
				(histogram->bound << bin << 1) - 1, histogram->far[bin]);
	if (histogram->infinite != 0)
		fprintf(to, "%sinf\tinf\t%" PRIu64 "\n", first, histogram->infinite);
}

/* One ratio of counts, six decimals; "-" for 0/0. */
static void write_ratio(FILE *to, uint64_t part, uint64_t whole, char end)
{
	if (whole == 0)
		fprintf(to, "-%c", end);
	else
		fprintf(to, "%.6f%c", (double)part / (double)whole, end);
}

static void write_below(FILE *to, const char *first, uint64_t distance, uint64_t below,
			const struct gt_histogram *histogram)
{
	fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t", first, distance, below);
	write_ratio(to, below, histogram->references, '\n');
}

static void write_csdd(FILE *to, const char *first, const struct gt_histogram *histogram,
		       const struct gt_lines *lines)
{
	uint64_t end = gt_histogram_end(histogram), below = 0;

	(void)lines;
	for (uint64_t distance = 0; distance < end; distance++) {
		uint64_t count = gt_histogram_at(histogram, distance);
		below += count;
		if (count != 0)
			write_below(to, first, distance + 1, below, histogram);
	}
	for (size_t bin = 0; bin < GT_HISTOGRAM_FAR; bin++) {
		below += histogram->far[bin];
		if (histogram->far[bin] != 0)
			write_below(to, first, histogram->bound << bin << 1, below, histogram);
	}
}

static void write_mru(FILE *to, const char *first, const struct gt_histogram *histogram,
		      const struct gt_lines *lines)
{
	uint64_t ways = lines->lines[0], rest = histogram->references;

	for (uint64_t position = 0; position < ways; position++) {
		uint64_t count = gt_histogram_at(histogram, position);
		rest -= count;
		fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\n", first, position, count);
	}
	fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\n", first, ways, rest);
}

static void write_lines(FILE *to, const char *first, const struct gt_histogram *histogram,
			const struct gt_lines *lines)
{
	uint64_t references = histogram->references, compulsory = histogram->infinite;

	for (size_t i = 0; i < lines->n; i++) {
		uint64_t hits = gt_histogram_below(histogram, lines->lines[i]);
		uint64_t capacity = references - hits - compulsory;
		fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", first,
			lines->lines[i], references, hits, compulsory, capacity);
		write_ratio(to, hits, references, '\t');
		write_ratio(to, compulsory, references, '\t');
		write_ratio(to, capacity, references, '\n');
	}
}

const struct gt_reuse_table gt_reuse_tables[] = {
	{"profile", "distance\tto\tcount", write_profile},
	{"csdd", "distance\tbelow\tfraction", write_csdd},
	{"mru", "position\tcount", write_mru},
	{"lines",
	 "lines\treferences\thits\tcompulsory\tcapacity\thit_ratio\tcompulsory_ratio\tcapacity_ratio", write_lines},
};
const size_t gt_reuse_tables_n = sizeof gt_reuse_tables / sizeof *gt_reuse_tables;

int gt_reuse_text_choose(struct gt_reuse_text *text, const char *name, const char *lines,
			 struct gt_error *error)
{
	for (size_t i = 0; i < gt_reuse_tables_n; i++)
		if (strcmp(gt_reuse_tables[i].name, name) == 0)
			text->table = &gt_reuse_tables[i];
	if (!text->table)
		return gt_fail(error, "no table is called '%s'", name);
	if (lines && gt_lines_parse(lines, &text->lines, error) != 0)
		return -1;
	if (text->table->write == write_mru && text->lines.n != 1)
		return gt_fail(error, "'%s': expected one number of ways", lines ? lines : "");
	return 0;
}

uint64_t gt_reuse_text_bound(const struct gt_reuse_text *text, uint64_t bound)
{
	for (size_t i = 0; i < text->lines.n; i++)
		if (bound < text->lines.lines[i])
			bound = text->lines.lines[i];
	return bound;
}

/* A file in memory fails for want of memory only. */
static int sound(FILE *file, struct gt_error *error)
{
	return ferror(file) ? gt_fail_memory(error, "a table") : 0;
}

int gt_reuse_text_begin(struct gt_reuse_text *text, const struct gt_split *split, struct gt_error *error)
{
	text->file = open_memstream(&text->bytes, &text->n);
	if (!text->file)
		return gt_fail_memory(error, "a table");
	if (split)
		fprintf(text->file, "kernel\t%s\t%s\n", split->name, text->table->columns);
	else
		fprintf(text->file, "kernel\t%s\n", text->table->columns);
	return sound(text->file, error);
}

int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_profile *profile,
		      struct gt_error *error)
{
	char first[32 + GT_CLASS_TEXT], class[GT_CLASS_TEXT];

	if (!profile->split) {
		snprintf(first, sizeof first, "%.24s\t", kernel);
		text->table->write(text->file, first, &profile->all, &text->lines);
	}
	for (size_t i = 0; i < profile->n; i++) {
		profile->split->format(profile->classes[i].key, class);
		snprintf(first, sizeof first, "%.24s\t%s\t", kernel, class);
		text->table->write(text->file, first, &profile->classes[i].histogram, &text->lines);
	}
	return sound(text->file, error);
}

int gt_reuse_text_end(struct gt_reuse_text *text, struct gt_error *error)
{
	fflush(text->file);
	return sound(text->file, error);
}

void gt_reuse_text_close(struct gt_reuse_text *text)
{
	if (text->file)
		fclose(text->file);
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
	fprintf(to, "%" PRIu64 "\t%s\t%" PRIu32 "\t%u\t%" PRIu32 "\t0x%" PRIx32 "\t%s\t0x%" PRIx64 "\t%s\n",
		kernel, sm, rows->block[i], rows->warp[i], rows->an[i], rows->pc[i],
		gt_op_format(rows->op[i], op), address, text);
}
