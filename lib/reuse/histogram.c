/* SPDX-License-Identifier: MIT */
/* Histograms of distances; and the hits that one predicts for a cache of few ways. */
#include "reuse/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"

#define PREFETCH_DISTANCE 16 /* references from the prefetch of a counter to its use */

void gt_histogram_clear(struct gt_histogram *histogram)
{
	for (size_t i = 0; i < histogram->n_pages; i++)
		free(histogram->pages[i]);
	free(histogram->pages);
	*histogram = (struct gt_histogram){.bound = histogram->bound};
}

/* The page of counters for distances below the bound, created if it does not exist yet. */
static uint64_t *page_of(struct gt_histogram *histogram, size_t page, struct gt_error *error)
{
	if (page >= histogram->n_pages) {
		size_t n = histogram->n_pages;
		uint64_t **pages = gt_grown_to(histogram->pages, page + 1, &n, sizeof *pages);
		if (!pages)
			goto short_of_memory;
		for (size_t i = histogram->n_pages; i < n; i++)
			pages[i] = NULL;
		histogram->pages = pages;
		histogram->n_pages = n;
	}
	if (!histogram->pages[page])
		histogram->pages[page] = calloc(GT_HISTOGRAM_PAGE, sizeof **histogram->pages);
	if (histogram->pages[page])
		return histogram->pages[page];
short_of_memory:
	gt_fail_memory(error, "a histogram");
	return NULL;
}

/* The bin of a distance at or above the bound: the highest bit of their quotient. Counting bits avoids a division,
 * which would dominate the cost. */
static unsigned far_bin(uint64_t bound, uint64_t distance)
{
	unsigned bin = (unsigned)(__builtin_clzll(bound) - __builtin_clzll(distance));

	return distance >> bin < bound ? bin - 1 : bin;
}

/* Adds to the counter of a distance. */
static int count(struct gt_histogram *histogram, uint64_t distance, uint64_t weight, struct gt_error *error)
{
	if (distance == GT_DISTANCE_INFINITE) {
		histogram->infinite += weight;
	} else if (distance < histogram->bound) {
		uint64_t *page = page_of(histogram, (size_t)(distance / GT_HISTOGRAM_PAGE), error);
		if (!page)
			return -1;
		page[distance % GT_HISTOGRAM_PAGE] += weight;
	} else {
		histogram->far[far_bin(histogram->bound, distance)] += weight;
	}
	return 0;
}

int gt_histogram_add(struct gt_histogram *histogram, uint64_t distance, uint64_t n, uint64_t weight, struct gt_error *error)
{
	histogram->references += n;
	histogram->weight += weight;
	return count(histogram, distance, weight, error);
}

/* Counters of many distances are more than the machine's cache holds. */
static inline void prefetch(const struct gt_histogram *histogram, uint64_t distance)
{
	size_t page = (size_t)(distance / GT_HISTOGRAM_PAGE);

	if (page < histogram->n_pages && histogram->pages[page])
		__builtin_prefetch(&histogram->pages[page][distance % GT_HISTOGRAM_PAGE], 1);
}

int gt_histogram_add_all(struct gt_histogram *histogram, const uint64_t *distances, size_t n, struct gt_error *error)
{
	for (size_t i = 0; i < n; i++) {
		if (i + PREFETCH_DISTANCE < n)
			prefetch(histogram, distances[i + PREFETCH_DISTANCE]);
		size_t page = (size_t)(distances[i] / GT_HISTOGRAM_PAGE);
		if (distances[i] < histogram->bound && page < histogram->n_pages && histogram->pages[page])
			histogram->pages[page][distances[i] % GT_HISTOGRAM_PAGE]++;
		else if (count(histogram, distances[i], 1, error) != 0)
			return -1;
	}
	histogram->references += n;
	histogram->weight += n;
	return 0;
}

int gt_histogram_merge(struct gt_histogram *histogram, const struct gt_histogram *from, struct gt_error *error)
{
	for (size_t i = 0; i < from->n_pages; i++) {
		uint64_t *page = from->pages[i] ? page_of(histogram, i, error) : NULL;
		if (from->pages[i] && !page)
			return -1;
		for (size_t j = 0; page && j < GT_HISTOGRAM_PAGE; j++)
			page[j] += from->pages[i][j];
	}
	for (size_t i = 0; i < GT_HISTOGRAM_FAR; i++)
		histogram->far[i] += from->far[i];
	histogram->infinite += from->infinite;
	histogram->references += from->references;
	histogram->weight += from->weight;
	return 0;
}

/* Subtracts up to `excess` from a counter; returns the rest of the excess. */
static uint64_t take(uint64_t *counter, uint64_t excess)
{
	uint64_t part = *counter < excess ? *counter : excess;

	*counter -= part;
	return excess - part;
}

int gt_histogram_settle(struct gt_histogram *histogram, struct gt_error *error)
{
	uint64_t excess = histogram->weight > histogram->references ? histogram->weight - histogram->references : 0;

	if (histogram->weight < histogram->references) {
		uint64_t *page = page_of(histogram, 0, error);
		if (!page)
			return -1;
		page[0] += histogram->references - histogram->weight;
	}
	for (size_t page = 0; page < histogram->n_pages && excess > 0; page++)
		for (size_t i = 0; histogram->pages[page] && i < GT_HISTOGRAM_PAGE; i++)
			excess = take(&histogram->pages[page][i], excess);
	for (size_t bin = 0; bin < GT_HISTOGRAM_FAR; bin++)
		excess = take(&histogram->far[bin], excess);
	take(&histogram->infinite, excess);
	histogram->weight = histogram->references;
	return 0;
}

uint64_t gt_histogram_at(const struct gt_histogram *histogram, uint64_t distance)
{
	size_t page = (size_t)(distance / GT_HISTOGRAM_PAGE);

	if (page >= histogram->n_pages || !histogram->pages[page])
		return 0;
	return histogram->pages[page][distance % GT_HISTOGRAM_PAGE];
}

uint64_t gt_histogram_end(const struct gt_histogram *histogram)
{
	for (size_t page = histogram->n_pages; page-- > 0;)
		for (size_t i = histogram->pages[page] ? GT_HISTOGRAM_PAGE : 0; i-- > 0;)
			if (histogram->pages[page][i] != 0)
				return (uint64_t)page * GT_HISTOGRAM_PAGE + i + 1;
	return 0;
}

size_t gt_histogram_far_end(const struct gt_histogram *histogram)
{
	size_t end = GT_HISTOGRAM_FAR;

	while (end > 0 && histogram->far[end - 1] == 0)
		end--;
	return end;
}

uint64_t gt_histogram_below(const struct gt_histogram *histogram, uint64_t n)
{
	uint64_t sum = 0, end = gt_histogram_end(histogram);

	for (uint64_t distance = 0; distance < n && distance < end; distance++)
		sum += gt_histogram_at(histogram, distance);
	return sum;
}

/* ---- hits of a cache of few ways ---- */

/* The text up to a comma or its end, into a buffer; moves past both. */
static const char *next_word(const char **text, char *buffer, size_t bytes)
{
	size_t length = strcspn(*text, ","), kept = length < bytes ? length : bytes - 1;

	memcpy(buffer, *text, kept);
	buffer[kept] = '\0';
	*text += length + ((*text)[length] == ',');
	return buffer;
}

int gt_sdcm_parse(const char *text, struct gt_sdcm *cache, struct gt_error *error)
{
	const char *rest = text;
	char word[64];
	uint64_t size;

	if (strcspn(text, ",") == strlen(text) || text[strlen(text) - 1] == ',' ||
	    gt_parse_size(next_word(&rest, word, sizeof word), 32, UINT64_C(1) << 50, &size, error) != 0 ||
	    gt_parse_count(next_word(&rest, word, sizeof word), 1, GT_SDCM_LINES_MAX, &cache->ways, error) != 0 ||
	    gt_parse_size(next_word(&rest, word, sizeof word), 32, UINT64_C(1) << 40, &cache->line_bytes, error) != 0 ||
	    *rest != '\0')
		return gt_fail(error, "'%s': expected SIZE,WAYS,LINE, such as 128K,4,128", text);
	cache->lines = size / cache->line_bytes;
	if ((cache->line_bytes & (cache->line_bytes - 1)) != 0)
		return gt_fail(error, "'%s': expected a line that is a power of two", text);
	if (cache->lines == 0 || cache->lines > GT_SDCM_LINES_MAX || size % cache->line_bytes != 0 ||
	    cache->lines % cache->ways != 0)
		return gt_fail(error, "'%s': expected a size that is a multiple of WAYS * LINE, of at most %llu lines",
			       text, (unsigned long long)GT_SDCM_LINES_MAX);
	return 0;
}

double gt_sdcm_exact(const struct gt_sdcm *cache, uint64_t distance)
{
	const double big = 1e250;
	double p = (double)cache->ways / (double)cache->lines, d = (double)distance;

	if (distance < cache->ways)
		return 1;
	if (cache->ways == cache->lines)
		return 0;
	/* Terms relative to that of a = 0, whose logarithm is kept separately, so that none under- or overflows. */
	double odds = (double)cache->ways / (double)(cache->lines - cache->ways);
	double term = 1, sum = 1, exponent = d * log1p(-p);
	for (uint64_t a = 1; a < cache->ways; a++) {
		term *= (d - (double)(a - 1)) / (double)a * odds;
		sum += term;
		if (sum > big) {
			term /= big;
			sum /= big;
			exponent += log(big);
		}
	}
	double result = exp(exponent + log(sum));
	return result < 1 ? result : 1;
}

double gt_sdcm_normal(const struct gt_sdcm *cache, uint64_t distance)
{
	double p = (double)cache->ways / (double)cache->lines, d = (double)distance;

	if (distance < cache->ways)
		return 1;
	if (cache->ways == cache->lines)
		return 0;
	return 0.5 * erfc((d * p - ((double)cache->ways - 0.5)) / sqrt(2 * d * p * (1 - p)));
}

double gt_sdcm_hits(const struct gt_sdcm *cache, const struct gt_histogram *histogram)
{
	const double nothing = 1e-28; /* both decrease with the distance, so later terms add less */
	double (*probability)(const struct gt_sdcm *cache, uint64_t distance) = cache->normal ? gt_sdcm_normal : gt_sdcm_exact;
	uint64_t end = gt_histogram_end(histogram);
	double hits = 0;

	for (uint64_t distance = 0; distance < end; distance++) {
		uint64_t count = gt_histogram_at(histogram, distance);
		double hit = count ? probability(cache, distance) : 0;
		if (count && hit < nothing)
			break;
		hits += (double)count * hit;
	}
	return hits;
}
