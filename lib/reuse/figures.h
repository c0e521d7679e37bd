/* SPDX-License-Identifier: MIT */
/* The integers that follow from a histogram or a pair for one size of cache. Tables print them, and counters carry
 * them in the stream. */
#ifndef GT_REUSE_FIGURES_H
#define GT_REUSE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "reuse/histogram.h"
#include "reuse/pair.h"
#include "reuse/reuse.h"
#include "reuse/sdcm.h"

#define GT_FIGURES_MAX 12

/* The arguments of a table, and the properties of its stacks. */
struct gt_reuse_asked {
	struct gt_lines lines; /* sizes, ways or numbers of sets */
	struct gt_sdcm cache;
	enum gt_reuse_per alone; /* sharing: what has a private cache */
	uint64_t sets, unit_bytes; /* of the stacks behind the histogram */
	double error; /* expected, of a ratio (gt_reuse_expected_error) */
};

struct gt_figures {
	const char *names[GT_FIGURES_MAX + 1]; /* up to a NULL */
	size_t settings; /* this many at the front describe the cache, the others count references */
	/* Computes the numbers for size number `size` of asked->lines. One of the two functions is set. */
	void (*of_histogram)(const struct gt_reuse_asked *asked, size_t size, const struct gt_histogram *histogram,
			     uint64_t *numbers);
	void (*of_pair)(const struct gt_pair *pair, size_t size, const struct gt_pair_counts *counts,
			uint64_t *numbers);
};

/* lines, references, hits, compulsory, capacity ([002] 3.3) */
extern const struct gt_figures gt_figures_lines;
/* size, ways, line, references, infinite, expected_hits ([004] (2), in hundredths of a reference,
 * so that divided by the references it is the hit ratio in percent); _normal: approximated */
extern const struct gt_figures gt_figures_sdcm, gt_figures_sdcm_normal;
/* ways, lines, references, hits, compulsory, capacity, conflict, spared, and of rows with a status
 * latency_miss, merged, reservation_fail */
extern const struct gt_figures gt_figures_classes;
/* lines, references, alone, together, gained, lost */
extern const struct gt_figures gt_figures_sharing;

#endif
