/* SPDX-License-Identifier: MIT */
#include "reuse/sdcm.h"

#include <math.h>
#include <string.h>

#include "base/options.h"

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
