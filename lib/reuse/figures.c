/* SPDX-License-Identifier: MIT */
#include "reuse/figures.h"

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

const struct gt_figures gt_figures_lines = {
	{"lines", "references", "hits", "compulsory", "capacity"}, 1, fill_lines, NULL,
};

static void fill_model(const struct gt_reuse_asked *asked, const struct gt_histogram *histogram, double hits,
		       uint64_t *numbers)
{
	numbers[0] = asked->cache.lines * asked->cache.line_bytes;
	numbers[1] = asked->cache.ways;
	numbers[2] = asked->cache.line_bytes;
	numbers[3] = histogram->references;
	numbers[4] = histogram->infinite;
	numbers[5] = (uint64_t)(100 * hits + 0.5);
}

static void fill_sdcm(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
		      uint64_t *numbers)
{
	(void)size;
	fill_model(asked, histogram, gt_sdcm_hits(&asked->cache, histogram, gt_sdcm_exact), numbers);
}

static void fill_sdcm_normal(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
			     uint64_t *numbers)
{
	(void)size;
	fill_model(asked, histogram, gt_sdcm_hits(&asked->cache, histogram, gt_sdcm_normal), numbers);
}

const struct gt_figures gt_figures_sdcm = {
	{"size", "ways", "line", "references", "infinite", "expected_hits"}, 3, fill_sdcm, NULL,
};
const struct gt_figures gt_figures_sdcm_normal = {
	{"size", "ways", "line", "references", "infinite", "expected_hits"}, 3, fill_sdcm_normal, NULL,
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

const struct gt_figures gt_figures_classes = {
	{"ways", "lines", "references", "hits", "compulsory", "capacity", "conflict", "spared", "latency_miss", "merged",
	 "reservation_fail"},
	2, NULL, fill_classes,
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

const struct gt_figures gt_figures_sharing = {
	{"lines", "references", "alone", "together", "gained", "lost"}, 1, NULL, fill_sharing,
};
