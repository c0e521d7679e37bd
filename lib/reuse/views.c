/* SPDX-License-Identifier: MIT */
#include "reuse/views.h"

#include <inttypes.h>
#include <string.h>

#include "reuse/options.h"

#define WAYS_MAX (1 << 20) /* positions of the table mru */

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
		gt_figures_lines.of_histogram(asked, size, histogram, numbers);
		write_numbers(to, first, &gt_figures_lines, numbers);
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

static void write_expected(FILE *to, const char *first, const struct gt_histogram *histogram,
			   const struct gt_reuse_asked *asked,
			   double (*probability)(const struct gt_sdcm *cache, uint64_t distance))
{
	const struct gt_sdcm *cache = &asked->cache;
	double hits = gt_sdcm_hits(cache, histogram, probability);

	fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t", first,
		cache->lines * cache->line_bytes, cache->ways, cache->line_bytes, histogram->references, hits);
	if (histogram->references == 0)
		fputs("-\n", to);
	else
		fprintf(to, "%.6f\n", hits / (double)histogram->references);
}

static void write_sdcm(FILE *to, const char *first, const struct gt_histogram *histogram,
		       const struct gt_reuse_asked *asked)
{
	write_expected(to, first, histogram, asked, gt_sdcm_exact);
}

static void write_sdcm_normal(FILE *to, const char *first, const struct gt_histogram *histogram,
			      const struct gt_reuse_asked *asked)
{
	write_expected(to, first, histogram, asked, gt_sdcm_normal);
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

static void write_classes(FILE *to, const char *first, const struct gt_pair *pair,
			  const struct gt_pair_counts *counts)
{
	write_pair(to, first, &gt_figures_classes, pair, counts);
}

static void write_sharing(FILE *to, const char *first, const struct gt_pair *pair,
			  const struct gt_pair_counts *counts)
{
	write_pair(to, first, &gt_figures_sharing, pair, counts);
}

static int parse_lines(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	return gt_lines_parse(text, &asked->lines, error);
}

static int parse_ways(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	if (gt_lines_parse(text, &asked->lines, error) != 0)
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

/* "warp:64,128": what has a private cache, and the lines. */
static int parse_sharing(struct gt_reuse_asked *asked, const char *text, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	char who[16];

	snprintf(who, sizeof who, "%.*s", (int)(length < sizeof who ? length : sizeof who - 1), text);
	if (text[length] != ':' || gt_reuse_per_find(who, &asked->alone) != 0 || asked->alone == GT_PER_GLOBAL)
		return gt_fail(error, "'%s': expected warp:N,... or block:N,... or sm:N,...", text);
	return gt_lines_parse(text + length + 1, &asked->lines, error);
}

#define CURVE_COLUMNS "sets\tways\tbytes\treferences\tmisses\tmiss_ratio\terror"
#define SDCM_COLUMNS "size\tways\tline\treferences\thits\thit_ratio"

const struct gt_reuse_table gt_reuse_tables[] = {
	{"profile", "distance\tto\tcount", NULL, write_profile, NULL, NULL},
	{"csdd", "distance\tbelow\tfraction", NULL, write_csdd, NULL, NULL},
	{"mru", "position\tcount", parse_ways, write_mru, NULL, NULL},
	{"lines", "lines\treferences\thits\tcompulsory\tcapacity\thit_ratio\tcompulsory_ratio\tcapacity_ratio",
	 parse_lines, write_lines, NULL, &gt_figures_lines},
	{"curve", CURVE_COLUMNS, NULL, write_curve, NULL, NULL},
	{"curve-sets", CURVE_COLUMNS, parse_lines, write_curve, NULL, NULL},
	{"sdcm", SDCM_COLUMNS, parse_cache, write_sdcm, NULL, &gt_figures_sdcm},
	{"sdcm-normal", SDCM_COLUMNS, parse_cache, write_sdcm_normal, NULL, &gt_figures_sdcm_normal},
	{"classes", "ways\tlines\treferences\thits\tcompulsory\tcapacity\tconflict\tspared\tlatency_miss\tmerged\treservation_fail", parse_lines, NULL,
	 write_classes, &gt_figures_classes},
	{"sharing", "lines\treferences\talone\ttogether\tgained\tlost", parse_sharing, NULL, write_sharing,
	 &gt_figures_sharing},
};
const size_t gt_reuse_tables_n = sizeof gt_reuse_tables / sizeof *gt_reuse_tables;

const struct gt_reuse_table *gt_reuse_table_find(const char *name)
{
	for (size_t i = 0; i < gt_reuse_tables_n; i++)
		if (strcmp(gt_reuse_tables[i].name, name) == 0)
			return &gt_reuse_tables[i];
	return NULL;
}
