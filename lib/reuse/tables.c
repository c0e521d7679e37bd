/* SPDX-License-Identifier: MIT */
/* Tables of measurements: the figures of a cache of one size, the rows of each table, the text of all of it. */
#include "reuse/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "stream/op.h"

#define WAYS_MAX (1 << 20) /* positions of the table mru */
#define FIRST_COLUMNS (64 + GT_OP_TEXT + 3 * GT_CLASS_TEXT) /* bytes */

/* ---- figures ---- */

static void fill_lines(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
		       uint64_t *numbers)
{
	uint64_t hits = gt_histogram_below(histogram, asked->lines.lines[size]);

	numbers[0] = asked->lines.lines[size];
	numbers[1] = histogram->references;
	numbers[2] = hits;
	numbers[3] = histogram->infinite;
	numbers[4] = histogram->references - hits - histogram->infinite;
}

static const struct gt_figures figures_lines = {
	.names = {"lines", "references", "hits", "compulsory", "capacity"}, .settings = 1, .of_histogram = fill_lines,
};

static void fill_sdcm(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
		      uint64_t *numbers)
{
	(void)size;
	numbers[0] = asked->cache.lines * asked->cache.line_bytes;
	numbers[1] = asked->cache.ways;
	numbers[2] = asked->cache.line_bytes;
	numbers[3] = histogram->references;
	numbers[4] = histogram->infinite;
	numbers[5] = (uint64_t)(100 * gt_sdcm_hits(&asked->cache, histogram) + 0.5);
}

static const struct gt_figures figures_sdcm = {
	.names = {"size", "ways", "line", "references", "infinite", "expected_hits"}, .settings = 3, .of_histogram = fill_sdcm,
};

static void fill_classes(const struct gt_pair *pair, size_t size, const struct gt_pair_counts *counts,
			 uint64_t *numbers)
{
	const struct gt_pair_cells *cells = &counts->cells[size];
	uint64_t hits = cells->both + cells->only_first;

	numbers[0] = pair->lines->lines[size];
	numbers[1] = pair->lines->lines[size] * pair->scale;
	numbers[2] = counts->references;
	numbers[3] = hits;
	numbers[4] = counts->first_infinite;
	numbers[5] = counts->references - hits - counts->first_infinite - cells->only_second - counts->latency_miss -
		     counts->merged;
	numbers[6] = cells->only_second;
	numbers[7] = cells->only_first;
	numbers[8] = counts->latency_miss;
	numbers[9] = counts->merged;
	numbers[10] = counts->reservation_fail;
}

static const struct gt_figures figures_classes = {
	.names = {"ways", "lines", "references", "hits", "compulsory", "capacity", "conflict", "spared", "latency_miss", "merged",
	 "reservation_fail"},
	.settings = 2, .of_pair = fill_classes,
};

static void fill_sharing(const struct gt_pair *pair, size_t size, const struct gt_pair_counts *counts,
			 uint64_t *numbers)
{
	const struct gt_pair_cells *cells = &counts->cells[size];

	numbers[0] = pair->lines->lines[size];
	numbers[1] = counts->references;
	numbers[2] = cells->both + cells->only_first;
	numbers[3] = cells->both + cells->only_second;
	numbers[4] = cells->only_second;
	numbers[5] = cells->only_first;
}

static const struct gt_figures figures_sharing = {
	.names = {"lines", "references", "alone", "together", "gained", "lost"}, .first_is_private = true, .settings = 1, .of_pair = fill_sharing,
};

/* ---- the rows of each table ---- */

static void write_profile(FILE *to, const char *first, const struct gt_histogram *histogram,
			  const struct gt_reuse_asked *asked)
{
	uint64_t end = gt_histogram_end(histogram);

	(void)asked;
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
		       const struct gt_reuse_asked *asked)
{
	uint64_t end = gt_histogram_end(histogram), below = 0;

	(void)asked;
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
		      const struct gt_reuse_asked *asked)
{
	uint64_t ways = asked->lines.lines[0], rest = histogram->references;

	for (uint64_t position = 0; position < ways; position++) {
		uint64_t count = gt_histogram_at(histogram, position);
		rest -= count;
		fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\n", first, position, count);
	}
	fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\n", first, ways, rest);
}

/* The numbers of some figures, separated by tabs. */
static void write_numbers(FILE *to, const char *first, const struct gt_figures *figures, const uint64_t *numbers)
{
	for (size_t i = 0; figures->names[i]; i++)
		fprintf(to, "%s%" PRIu64, i == 0 ? first : "\t", numbers[i]);
}

static void write_lines(FILE *to, const char *first, const struct gt_histogram *histogram,
			const struct gt_reuse_asked *asked)
{
	uint64_t numbers[GT_FIGURES_MAX], references = histogram->references;

	for (size_t size = 0; size < asked->lines.n; size++) {
		figures_lines.of_histogram(asked, size, histogram, numbers);
		write_numbers(to, first, &figures_lines, numbers);
		putc('\t', to);
		for (size_t i = 2; i < 5; i++) /* hits, compulsory, capacity */
			write_ratio(to, numbers[i], references, i < 4 ? '\t' : '\n');
	}
}

/* The misses of LRU caches with these sets: a row for one way, and one wherever another way avoids misses. */
static void write_curve(FILE *to, const char *first, const struct gt_histogram *histogram,
			const struct gt_reuse_asked *asked)
{
	uint64_t references = histogram->references, misses = references;
	uint64_t end = references == 0 ? 0 : gt_histogram_end(histogram) + (gt_histogram_end(histogram) == 0);
	size_t far_end = gt_histogram_far_end(histogram);

	for (uint64_t row = 0; row < end + far_end; row++) {
		uint64_t ways = row < end ? row + 1 : histogram->bound << (row - end) << 1;
		uint64_t saved = row < end ? gt_histogram_at(histogram, row) : histogram->far[row - end];
		misses -= saved;
		if (saved == 0 && row != 0)
			continue;
		fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", first,
			asked->sets, ways, asked->sets * ways * asked->unit_bytes, references, misses);
		write_ratio(to, misses, references, '\t');
		fprintf(to, "%.6f\n", asked->error);
	}
}

static void write_sdcm(FILE *to, const char *first, const struct gt_histogram *histogram,
		       const struct gt_reuse_asked *asked)
{
	const struct gt_sdcm *cache = &asked->cache;
	double hits = gt_sdcm_hits(cache, histogram);

	fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t", first,
		cache->lines * cache->line_bytes, cache->ways, cache->line_bytes, histogram->references, hits);
	if (histogram->references == 0)
		fputs("-\n", to);
	else
		fprintf(to, "%.6f\n", hits / (double)histogram->references);
}

static void write_pair(FILE *to, const char *first, const struct gt_figures *figures, const struct gt_pair *pair,
		       const struct gt_pair_counts *counts)
{
	uint64_t numbers[GT_FIGURES_MAX];

	for (size_t size = 0; size < pair->lines->n; size++) {
		figures->of_pair(pair, size, counts, numbers);
		write_numbers(to, first, figures, numbers);
		putc('\n', to);
	}
}

/* ---- arguments ---- */

/* "128" or "64,128,256": numbers from 1 to GT_HISTOGRAM_BOUND_MAX. */
static int read_lines(const char *text, struct gt_lines *lines, struct gt_error *error)
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

static int parse_lines(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	return read_lines(text, &asked->lines, error);
}

static int parse_ways(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	if (read_lines(text, &asked->lines, error) != 0)
		return -1;
	if (asked->lines.n != 1 || asked->lines.lines[0] > WAYS_MAX)
		return gt_fail(error, "'%s': expected one number of ways, %d at most", text, WAYS_MAX);
	return 0;
}

static int parse_cache(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	if (gt_sdcm_parse(text, &asked->cache, error) != 0)
		return -1;
	asked->lines = (struct gt_lines){.lines = {asked->cache.lines * GT_SDCM_REACH}, .n = 1};
	return 0;
}

static int parse_normal(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	asked->cache.normal = true;
	return parse_cache(asked, text, error);
}

/* "warp:64,128": what has a private cache, and the lines. */
static int parse_sharing(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	char who[16];

	snprintf(who, sizeof who, "%.*s", (int)(length < sizeof who ? length : sizeof who - 1), text);
	if (text[length] != ':' || gt_reuse_per_find(who, &asked->alone) != 0 || asked->alone == GT_PER_GLOBAL)
		return gt_fail(error, "'%s': expected warp:N,... or block:N,... or sm:N,...", text);
	return read_lines(text + length + 1, &asked->lines, error);
}

#define CURVE_COLUMNS "sets\tways\tbytes\treferences\tmisses\tmiss_ratio\terror"
#define SDCM_COLUMNS "size\tways\tline\treferences\thits\thit_ratio"

static const struct gt_reuse_table tables[] = {
	{"profile", "distance\tto\tcount", NULL, write_profile, NULL},
	{"csdd", "distance\tbelow\tfraction", NULL, write_csdd, NULL},
	{"mru", "position\tcount", parse_ways, write_mru, NULL},
	{"lines", "lines\treferences\thits\tcompulsory\tcapacity\thit_ratio\tcompulsory_ratio\tcapacity_ratio",
	 parse_lines, write_lines, &figures_lines},
	{"curve", CURVE_COLUMNS, NULL, write_curve, NULL},
	{"curve-sets", CURVE_COLUMNS, parse_lines, write_curve, NULL},
	{"sdcm", SDCM_COLUMNS, parse_cache, write_sdcm, &figures_sdcm},
	{"sdcm-normal", SDCM_COLUMNS, parse_normal, write_sdcm, &figures_sdcm},
	{"classes", "ways\tlines\treferences\thits\tcompulsory\tcapacity\tconflict\tspared\tlatency_miss\tmerged\treservation_fail", parse_lines, NULL,
	 &figures_classes},
	{"sharing", "lines\treferences\talone\ttogether\tgained\tlost", parse_sharing, NULL, &figures_sharing},
};

static const struct gt_reuse_table *find_table(const char *name)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	return NULL;
}

/* ---- the text ---- */

int gt_reuse_text_choose(struct gt_reuse_text *text, const char *name, const char *argument,
			 struct gt_error *error)
{
	text->table = find_table(name);
	if (!text->table)
		return gt_fail(error, "no table is called '%s'", name);
	return text->table->parse ? text->table->parse(&text->asked, argument, error) : 0;
}

bool gt_reuse_text_by_sets(const struct gt_reuse_text *text)
{
	return text->table && strcmp(text->table->name, "curve-sets") == 0;
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
	char class[GT_CLASS_TEXT];
	struct gt_class_words words;

	if (i >= classes->n) {
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t", kernel);
	} else if (!classes->split->tells) {
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t%s\t", kernel, gt_reuse_classes_name(classes, i, class));
	} else {
		gt_reuse_classes_tell(classes, i, &words);
		snprintf(buffer, FIRST_COLUMNS, "%.24s\t%s\t%s\t%s\t%s\t", kernel, gt_reuse_classes_name(classes, i, class),
			 words.op, words.source, words.kernel);
	}
	return buffer;
}

static int add_profile(struct gt_reuse_text *text, const char *kernel, const struct gt_profile *profile,
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

static int add_pair(struct gt_reuse_text *text, const char *kernel, const struct gt_pair *pair,
		    struct gt_error *error)
{
	const struct gt_reuse_classes *classes = &pair->classes;
	char first[FIRST_COLUMNS];

	if (!classes->split)
		write_pair(text->memory.file, first_columns(classes, 0, kernel, first), text->table->figures, pair, pair->all);
	for (size_t i = 0; i < classes->n; i++)
		write_pair(text->memory.file, first_columns(classes, i, kernel, first), text->table->figures, pair,
			   classes->classes[i].counted);
	return sound(text->memory.file, error);
}

int gt_reuse_text_add(struct gt_reuse_text *text, const char *kernel, const struct gt_measures *measures, struct gt_error *error)
{
	if (!text->table->write)
		return add_pair(text, kernel, measures->pair, error);
	for (size_t i = 0; i < measures->n; i++) {
		const struct gt_reuse *reuse = &measures->reuses[i];
		text->asked.sets = reuse->options.sets;
		text->asked.error = reuse->expected_error;
		if (add_profile(text, kernel, &reuse->profile, error) != 0)
			return -1;
	}
	return 0;
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
