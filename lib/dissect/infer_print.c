/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/options.h"
#include "dissect/infer.h"

struct page {
	FILE *file;
	const char *level;
	const struct gt_inference *found;
};

/* LEVEL.KEY = VALUE # status: P-chase: how sure. */
static void figure(const struct page *page, const char *key, const char *value, int sure, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void figure(const struct page *page, const char *key, const char *value, int sure, const char *format, ...)
{
	va_list arguments;

	fprintf(page->file, "%s.%s = %s # %s: P-chase, %s: ", page->level, key, value, sure ? "measured" : "assumed",
		sure ? "sure" : "not sure");
	va_start(arguments, format);
	vfprintf(page->file, format, arguments);
	va_end(arguments);
	fputc('\n', page->file);
}

static void print_classes(const struct page *page, const struct gt_series *series)
{
	const struct gt_classes *classes = &page->found->classes;

	fprintf(page->file, "# P-chase: %zu accesses, %zu runs\n", series->n, series->runs_n);
	for (size_t c = 0; c < classes->n; c++)
		fprintf(page->file, "# latency %" PRIu32 " cycles (%" PRIu32 " to %" PRIu32 "), %" PRIu64 " accesses: %s\n",
			classes->class[c].middle, classes->class[c].low, classes->class[c].high, classes->class[c].n,
			c == 0 ? "hits" : "misses");
	if (classes->outliers == 0)
		return;
	fprintf(page->file, "# outliers, taken for neither: %" PRIu64 ":", classes->outliers);
	for (size_t i = 0, shown = 0; i < series->n && shown < 8; i++)
		if (series->samples[i].hit < 0)
			fprintf(page->file, "%s %" PRIu32 " (access %zu)", shown++ ? "," : "", series->samples[i].latency, i);
	fprintf(page->file, "%s\n", classes->outliers > 8 ? ", ..." : "");
}

/* Why the figures of the shape are not sure, and which run would make them so. */
static void print_doubts(const struct page *page)
{
	const struct gt_sweep *sweep = &page->found->sweep;
	const struct gt_inference *found = page->found;
	char from[32], to[32], size[32], line[32];

	gt_format_size(sweep->unit, line);
	if (!sweep->unit_known && sweep->stride > 4)
		fprintf(page->file, "# undetermined: whether lines are shorter than the stride, %s; a sweep of a finer stride, from an "
			"empty cache, would settle it: gpchase trace -s %" PRIu64 "\n", line, sweep->stride / 2);
	if (sweep->fits == 0)
		fprintf(page->file, "# undetermined: the capacity; no run fits; a sweep that begins below N = %s would settle it\n",
			gt_format_size(found->size, from));
	if (!sweep->complete)
		fprintf(page->file, "# undetermined: the sets that did not overflow; gpchase trace -N %s..%s:%s -s %" PRIu64
			" would settle it\n", gt_format_size(sweep->fits, from),
			gt_format_size(2 * (uint64_t)sweep->units * sweep->unit, to), line, sweep->stride);
	if (sweep->step > sweep->unit)
		fprintf(page->file, "# undetermined: which lines share a set, as N grows by more than %s; steps of %s would settle it\n",
			line, line);
	if (sweep->doubt >= 1e-3)
		fprintf(page->file, "# undetermined: members of sets that were never replaced; more rounds (-k) would settle it\n");
	if (sweep->periodic)
		fprintf(page->file, "# undetermined: the sets; the policy is neither LRU nor FIFO, nor chance: misses repeat\n");
	if (sweep->strange > 0)
		fprintf(page->file, "# %" PRIu64 " lines began to miss, or to hit, where no full set explains it\n", sweep->strange);
	for (size_t i = 1; i < found->lines_n; i++)
		fprintf(page->file, "# undetermined: whether lines are of %s, filled by %s; gpchase trace -N %s -s %" PRIu64
			" -k 3 would settle it\n", gt_format_size(found->lines[i], from), line,
			gt_format_size(2 * found->size, size), found->lines[i]);
}

/* "17,8x6" */
static void print_sets(const struct page *page)
{
	const struct gt_sweep *sweep = &page->found->sweep;
	uint64_t factor = page->found->line / sweep->unit;

	fprintf(page->file, "%s.sets = ", page->level);
	for (uint32_t s = 1, same; s <= sweep->sets; s += same) {
		for (same = 1; s + same <= sweep->sets && sweep->ways[s + same] == sweep->ways[s]; same++)
			;
		fprintf(page->file, "%s%" PRIu64, s > 1 ? "," : "", sweep->ways[s] / factor);
		if (same > 1)
			fprintf(page->file, "x%" PRIu32, same);
	}
	fprintf(page->file, " # %s: P-chase, %s: ways of %" PRIu32 " unequal sets, in the order in which they overflow\n",
		page->found->sure ? "measured" : "assumed", page->found->sure ? "sure" : "not sure", sweep->sets);
}

static void print_shape(const struct page *page)
{
	const struct gt_inference *found = page->found;
	const struct gt_sweep *sweep = &found->sweep;
	char size[32], fits[32];

	figure(page, "size", gt_format_size(found->size, size), found->sure,
	       "%" PRIu32 " sets overflowed%s; all hits up to N = %s", sweep->sets,
	       sweep->complete ? ", all there are" : ", not all there are", gt_format_size(sweep->fits, fits));
	if (found->equal) {
		snprintf(size, sizeof size, "%" PRIu32, found->ways);
		figure(page, "ways", size, found->sure, "%" PRIu32 " sets, all alike", sweep->sets);
	} else {
		print_sets(page);
	}
	figure(page, "line", gt_format_size(found->line, size), found->sure, "lines that come and go as a whole");
	figure(page, "sector", gt_format_size(sweep->unit, size), found->sure, "what a miss fills");
}

static void print_index(const struct page *page)
{
	const struct gt_function *function = &page->found->function;
	char text[512];

	if (!function->name)
		fprintf(page->file, "# undetermined: the set function; neither a modulo nor XOR sums of address bits\n");
	else if (function->name[0] == '\0')
		fprintf(page->file, "# set index, XOR sums of address bits, %s for bits %u to %u: %s\n",
			page->found->sure ? "sure" : "not sure", function->low, function->high - 1,
			gt_function_sums(function, text, sizeof text));
	else {
		snprintf(text, sizeof text, function->argument ? "%s:%u" : "%s", function->name, function->argument);
		figure(page, "index", text, page->found->sure, "explains all lines; seen: address bits %u to %u", function->low,
		       function->high - 1);
	}
}

static void print_chance(const struct page *page)
{
	const struct gt_victims *victims = &page->found->victims;
	char text[GT_VICTIM_WAYS_MAX * 8] = "weighted:";
	int used = 9;

	if (victims->n == 0 || victims->ways == 0) {
		fprintf(page->file, "# undetermined: the replacement policy; it is not LRU, and no set was followed from empty\n");
		return;
	}
	fprintf(page->file, "# replacements by way, in the order in which sets fill:");
	for (uint32_t w = 0; w < victims->ways; w++)
		fprintf(page->file, " %" PRIu64, victims->count[w]);
	fprintf(page->file, " (%" PRIu64 " of %" PRIu64 " twice the same; %" PRIu64 " misses lost)\n", victims->again, victims->n,
		victims->lost);
	int sure = page->found->sure && victims->n >= 100 * (uint64_t)victims->ways && victims->lost * 20 <= victims->n;
	if (victims->alike) {
		figure(page, "replace", "random", sure, "each way alike");
		return;
	}
	for (uint32_t w = 0; w < victims->ways; w++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%s%u/%u", w ? "," : "", victims->part[w],
				 victims->whole);
	if (victims->whole > 0)
		figure(page, "replace", text, 0, "these fractions agree with the counts");
	else
		fprintf(page->file, "# undetermined: the replacement policy; not LRU, and the ways are not replaced alike\n");
}

static void print_policy(const struct page *page)
{
	const struct gt_inference *found = page->found;
	char size[32];

	if (found->sweep.periodic) {
		fprintf(page->file, "# undetermined: the replacement policy\n");
	} else if (found->sweep.regularity == GT_IRREGULAR) {
		print_chance(page);
	} else if (found->equal && found->ways == 1) {
		figure(page, "replace", "lru", found->sure, "one way: there is no choice");
	} else {
		figure(page, "replace", found->policy->name, found->policy_sure, "%" PRIu64 " of %" PRIu64
		       " accesses contradict it", found->replay.wrong, found->replay.known);
		if (!found->policy_sure)
			fprintf(page->file, "# undetermined: LRU, FIFO or another; gpchase trace --order retouch -N %s -s %" PRIu64
				" -k 20 would settle it\n", gt_format_size(3 * found->size, size), found->line);
	}
}

static void print_contradictions(const struct page *page, const struct gt_series *series)
{
	const struct gt_replay *replay = &page->found->replay;
	size_t shown = sizeof replay->first / sizeof replay->first[0];

	if (page->found->sweep.regularity != GT_REGULAR)
		return;
	for (size_t i = 0; i < replay->wrong && i < shown; i++) {
		const struct gt_contradiction *at = &replay->first[i];
		const struct gt_run *run = &series->runs[at->run];
		const struct gt_sample *sample = &series->samples[run->first + at->access];
		fprintf(page->file, "# contradiction: N = %" PRIu64 ", access %zu, offset %" PRIu64 ", %" PRIu32
			" cycles: expected a %s\n", run->bytes, at->access, sample->offset, sample->latency,
			at->expected_hit ? "hit" : "miss");
	}
	if (replay->wrong > shown)
		fprintf(page->file, "# and %" PRIu64 " contradictions more\n", replay->wrong - shown);
}

void gt_inference_print(const struct gt_inference *inference, const struct gt_series *series, const char *level,
			FILE *file)
{
	const struct page page = {file, level, inference};
	char size[32];

	print_classes(&page, series);
	if (inference->sweep.sets == 0) {
		fprintf(file, "# undetermined: everything; all runs fit, up to N = %s; a larger N would tell: gpchase trace -N %s\n",
			gt_format_size(inference->sweep.fits, size),
			gt_format_size(2 * inference->sweep.fits, (char[32]){0}));
		return;
	}
	print_doubts(&page);
	print_shape(&page);
	print_index(&page);
	print_policy(&page);
	print_contradictions(&page, series);
}
