/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "dissect/propose.h"
#include "gpu/gpu.h"

struct page {
	FILE *file;
	const char *level;
	const struct gt_inference *found;
};

/* "LEVEL.KEY = VALUE # status: P-chase, sure or not: ..." */
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

static void print_classes(const struct page *page, const struct gt_chase_series *series)
{
	const struct gt_latency_classes *classes = &page->found->classes;

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

/* What is not known, and the chase that would determine it. */
static void print_proposals(const struct page *page, const struct gt_chase_series *series)
{
	struct gt_proposal proposals[GT_PROPOSALS_MAX];
	size_t n = gt_propose(page->found, series, proposals);
	char first[32], last[32], step[32], stride[32];

	for (size_t i = 0; i < n; i++) {
		const struct gt_proposal *run = &proposals[i];
		if (!run->order) {
			fprintf(page->file, "# undetermined: %s; the chase for it was made and did not settle it\n", run->why);
			continue;
		}
		fprintf(page->file, "# undetermined: %s: gpchase trace -N %s", run->why, gt_format_size(run->first, first));
		if (run->last > run->first)
			fprintf(page->file, "..%s:%s", gt_format_size(run->last, last), gt_format_size(run->step, step));
		fprintf(page->file, " -s %s -k %" PRIu64, gt_format_size(run->stride, stride), run->rounds);
		if (strcmp(run->order, "ring") != 0)
			fprintf(page->file, " --order %s", run->order);
		if (run->times > 1)
			fprintf(page->file, ", %u times (in a model with other seeds),", run->times);
		fputs(" would settle it\n", page->file);
	}
	if (page->found->sweeps[0].periodic)
		fprintf(page->file, "# undetermined: the sets; misses repeat, but not in each pass\n");
	if (page->found->sweeps[0].strange > 0)
		fprintf(page->file, "# %" PRIu64 " lines began to miss, or to hit, where no full set explains it\n",
			page->found->sweeps[0].strange);
}

/* "17,8x6" */
static void print_sets(const struct page *page)
{
	const struct gt_function *function = &page->found->function;

	fprintf(page->file, "%s.sets = ", page->level);
	for (uint32_t s = 1, same; s <= function->sets; s += same) {
		for (same = 1; s + same <= function->sets && function->ways[s + same] == function->ways[s]; same++)
			;
		fprintf(page->file, "%s%" PRIu32, s > 1 ? "," : "", function->ways[s]);
		if (same > 1)
			fprintf(page->file, "x%" PRIu32, same);
	}
	fprintf(page->file, " # %s: P-chase, %s: ways of %" PRIu32 " unequal sets, in the order in which they overflow\n",
		page->found->sure ? "measured" : "assumed", page->found->sure ? "sure" : "not sure", function->sets);
}

static void print_shape(const struct page *page)
{
	const struct gt_inference *found = page->found;
	const struct gt_sweep *sweep = &found->sweeps[0];
	uint32_t sets = found->function.sets, more = sets > sweep->sets ? sets - sweep->sets : 0;
	char size[32], fits[32], note[64] = ", all there are";

	if (more > 0)
		snprintf(note, sizeof note, ", %" PRIu32 " more hold the lines that hit", more);
	else if (!sweep->complete)
		snprintf(note, sizeof note, ", not all there are");
	gt_format_size(sweep->fits, fits);
	figure(page, "size", gt_format_size(found->size, size), found->size_sure, "%" PRIu32 " sets overflowed%s; %s%s", sweep->sets,
	       note, sweep->fits ? "all hits up to N = " : "no run fits", sweep->fits ? fits : "");
	if (found->equal) {
		snprintf(size, sizeof size, "%" PRIu32, found->ways);
		figure(page, "ways", size, found->sure, "%" PRIu32 " sets, all alike", sets);
	} else {
		print_sets(page);
	}
	figure(page, "line", gt_format_size(found->line, size), found->sure, "lines that come and go as a whole");
	figure(page, "sector", gt_format_size(sweep->unit, size), found->sure, "what a miss fills%s",
	       sweep->unit_known ? "" : ", or less than that, the stride");
}

static void print_index(const struct page *page)
{
	const struct gt_function *function = &page->found->function;
	char text[GT_FUNCTION_TEXT];

	if (!function->name || gt_function_text(function, text)[0] == '\0') {
		fprintf(page->file, "# undetermined: the set function; none that gcache has explains the lines\n");
		return;
	}
	if (strlen(text) >= GT_GPU_TEXT)
		fprintf(page->file, "# %s.index = %s: too long for a description; gcache --index takes it\n", page->level, text);
	else if (strcmp(function->name, "table") == 0)
		figure(page, "index", text, 0, "no sum of address bits explains the lines; their sets as seen, from the array's begin");
	else
		figure(page, "index", text, page->found->function_sure, "explains all lines; seen: address bits %u to %u%s",
		       function->low, function->high - 1, function->unique ? "" : "; other functions do as well");
}

static void print_chance(const struct page *page)
{
	const struct gt_victims *victims = &page->found->victims;
	char text[GT_VICTIM_WAYS_MAX * 8] = "weighted:";
	int used = 9;

	if (victims->n == 0) {
		fprintf(page->file, "# undetermined: the replacement policy; it is not LRU, and no set was followed from empty\n");
		return;
	}
	fprintf(page->file, "# replacements by way, in the order in which sets fill:");
	for (uint32_t w = 0; w < victims->ways; w++)
		fprintf(page->file, " %" PRIu64, victims->count[w]);
	fprintf(page->file, " (%" PRIu64 " of %" PRIu64 " twice the same; %" PRIu64 " sets lost)\n", victims->again, victims->n,
		victims->lost);
	if (victims->dependent) {
		fprintf(page->file, "# undetermined: the replacement policy; not lru, fifo, random, weighted: the way replaced depends on the last\n");
		return;
	}
	if (page->found->alike) {
		figure(page, "replace", "random", page->found->policy_sure, "each way alike");
		return;
	}
	for (uint32_t w = 0; w < victims->ways; w++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%s%u/%u", w ? "," : "", victims->part[w],
				 victims->whole);
	if (victims->whole > 0 && page->found->equal)
		figure(page, "replace", text, page->found->policy_sure, "these fractions agree with the counts%s",
		       victims->unique ? "" : ", and others");
	else
		fprintf(page->file, "# undetermined: the replacement policy; not LRU, and the ways are not replaced alike\n");
}

/* The policies that are excluded, and what excludes them. */
static void print_excluded(const struct page *page)
{
	const struct gt_inference *found = page->found;
	const struct gt_unsteady *unsteady = &found->unsteady;
	const char *separator = "not ";

	fputs("# undetermined: the replacement policy; ", page->file);
	for (size_t v = 0; v < GT_REPLAYED_MAX; v++)
		if (found->excluded >> v & 1) {
			fprintf(page->file, "%s%s", separator, gt_victims[v].name);
			separator = ", ";
		}
	if (unsteady->kind == GT_IN_SOME_PASSES)
		fprintf(page->file, ": in the ring of N = %" PRIu64 " %" PRIu64 " accesses differ from those of other passes\n", unsteady->bytes,
			unsteady->times);
	else if (unsteady->kind == GT_AMONG_MORE)
		fprintf(page->file, ": %" PRIu64 " lines, first in the run of N = %" PRIu64 ", hit among more lines than those among which they "
			"miss\n", unsteady->times, unsteady->bytes);
	else if (unsteady->kind == GT_KEPT)
		fprintf(page->file, ": the first line of retouch stays while lines of more than %d times the size pass, in %" PRIu64 " rounds of N = %"
			PRIu64 "\n", GT_PASSED, unsteady->times, unsteady->bytes);
	else
		fprintf(page->file, ": they contradict the accesses; %s with %" PRIu64 " of %" PRIu64 " does least\n", found->policy->name,
			found->replay.open_wrong, found->replay.open);
}

static void print_policy(const struct page *page)
{
	const struct gt_inference *found = page->found;
	const struct gt_replay *replay = &found->replay;

	if (found->sweeps[0].regularity == GT_IRREGULAR && !found->sweeps[0].periodic)
		print_chance(page);
	else if (found->excluded && !found->policy_fits)
		print_excluded(page);
	else if (found->equal && found->ways == 1)
		figure(page, "replace", "lru", found->sure, "one way: there is no choice");
	else
		figure(page, "replace", found->policy->name, found->policy_sure, "%" PRIu64 " of %" PRIu64
		       " accesses contradict it, %" PRIu64 " of %" PRIu64 " that may miss", replay->wrong, replay->known, replay->open_wrong,
		       replay->open);
}

static void print_contradictions(const struct page *page, const struct gt_chase_series *series)
{
	const struct gt_replay *replay = &page->found->replay;
	size_t shown = sizeof replay->first / sizeof replay->first[0];

	if (!page->found->policy)
		return;
	for (size_t i = 0; i < replay->wrong && i < shown; i++) {
		const struct gt_contradiction *at = &replay->first[i];
		const struct gt_chase_run *run = &series->runs[at->run];
		const struct gt_sample *sample = &series->samples[run->first + at->access];
		fprintf(page->file, "# contradiction: N = %" PRIu64 ", access %zu, offset %" PRIu64 ", %" PRIu32
			" cycles: expected a %s\n", run->bytes, at->access, sample->offset, sample->latency,
			at->expected_hit ? "hit" : "miss");
	}
	if (replay->wrong > shown)
		fprintf(page->file, "# and %" PRIu64 " contradictions more\n", replay->wrong - shown);
}

void gt_inference_print(const struct gt_inference *inference, const struct gt_chase_series *series, const char *level,
			FILE *file)
{
	const struct page page = {file, level, inference};

	print_classes(&page, series);
	print_proposals(&page, series);
	if (inference->sweeps[0].sets == 0)
		return;
	print_shape(&page);
	print_index(&page);
	print_policy(&page);
	print_contradictions(&page, series);
}
