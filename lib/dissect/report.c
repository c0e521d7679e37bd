/* SPDX-License-Identifier: MIT */
/* What is told of an inference: the keys of a GPU description, how sure they are, which accesses contradict them, and the chases that
 * would determine the rest. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "dissect/chase.h"
#include "dissect/infer.h"
#include "gpu/gpu.h"

#define ROUNDS_REGULAR 6
#define ROUNDS_CHANCE 120
#define ROUNDS_MAX 250	   /* of a sweep that more rounds, twice as many, may still settle */
#define STRIDES_MAX 12	   /* doublings of a line */
#define RUNS_MAX 768	   /* of one proposal */
#define RETOUCHES_MAX 3	   /* runs of order retouch, each twice as long as the last */
#define REPLACEMENTS 100   /* of each way, that mostly suffice to distinguish probabilities */
#define MORE_REPLACEMENTS 4 /* times as many, if they do not */

/* ---- proposals ---- */

struct list {
	const struct gt_inference *inference;
	const struct gt_chase_series *series;
	struct gt_proposal *proposals;
	size_t n;
};

static struct gt_proposal *propose(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct gt_proposal *propose(struct list *list, const char *format, ...)
{
	struct gt_proposal *proposal = &list->proposals[list->n < GT_PROPOSALS_MAX ? list->n++ : GT_PROPOSALS_MAX - 1];
	va_list arguments;

	*proposal = (struct gt_proposal){.order = "ring", .rounds = 3, .times = 1};
	va_start(arguments, format);
	vsnprintf(proposal->why, sizeof proposal->why, format, arguments);
	va_end(arguments);
	return proposal;
}

static uint64_t round_up(uint64_t number, uint64_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* The rounds of the runs so far, and those that the policy needs. */
static uint64_t rounds(const struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	uint64_t least = sweep->regularity == GT_REGULAR ? ROUNDS_REGULAR : ROUNDS_CHANCE;

	return sweep->rounds > least ? sweep->rounds : least;
}

/* Sets the range of N from first, of two elements or more, to last, in at most RUNS_MAX steps. */
static void set_range(struct gt_proposal *proposal, uint64_t first, uint64_t last, uint64_t step)
{
	uint64_t stride = proposal->stride;

	first = first / stride * stride;
	proposal->first = first > 2 * stride ? first : 2 * stride;
	last = last > proposal->first ? last : proposal->first;
	proposal->step = round_up(step ? step : stride, stride);
	while ((last - proposal->first) / proposal->step > RUNS_MAX)
		proposal->step *= 2;
	proposal->last = proposal->first + round_up(last - proposal->first, proposal->step);
}

/* How many such runs there are, of at least so many rounds. */
static unsigned made(const struct list *list, const char *order, uint64_t bytes, uint64_t stride, uint64_t rounds)
{
	bool ring = strcmp(order, "ring") == 0;
	unsigned n = 0;

	for (size_t r = 0; r < list->series->runs_n; r++) {
		const struct gt_chase_run *run = &list->series->runs[r];
		n += run->bytes == bytes && run->uniform == ring && (!ring || run->stride == stride) && run->n / run->period >= rounds;
	}
	return n;
}

/* Withdraws the last proposal if all its runs were made: they would show the same again. */
static void withdraw_made(struct list *list)
{
	const struct gt_proposal *last = &list->proposals[list->n - 1];

	for (uint64_t bytes = last->first; bytes <= last->last; bytes += last->step)
		if (made(list, last->order, bytes, last->stride, last->rounds) < last->times)
			return;
	list->n--;
}

static void all_fit(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	char size[32];
	struct gt_proposal *proposal = propose(list, "everything; all runs fit, up to N = %s", gt_format_size(sweep->calm, size));

	proposal->stride = sweep->stride;
	set_range(proposal, sweep->calm, 4 * sweep->calm, sweep->calm / 8);
	withdraw_made(list);
}

/* Proposes a fine sweep from the largest N that fits to the N at which all accesses miss, or the continuation of a fine
 * sweep that did not reach it. */
static void sweep_again(struct list *list, const char *why, uint64_t more)
{
	const struct gt_inference *found = list->inference;
	const struct gt_sweep *sweep = &found->sweeps[0];
	uint64_t first = sweep->calm, last = sweep->last;
	struct gt_proposal *proposal = propose(list, "%s", why);

	proposal->stride = sweep->unit_known || sweep->stride <= GT_CHASE_ELEMENT ? sweep->stride : sweep->stride / 2;
	proposal->rounds = rounds(list) > sweep->rounds ? rounds(list) : rounds(list) * more;
	if (first == 0 && sweep->sets > 1 && sweep->step <= found->line && found->size < sweep->last)
		first = found->size - found->line;
	else if (first == 0)
		first = list->series->runs[sweep->runs[0]].bytes / 8;
	if (!sweep->complete && proposal->stride == sweep->stride && sweep->fits > 0 && sweep->step <= sweep->unit &&
	    (sweep->regularity == GT_REGULAR || sweep->rounds >= ROUNDS_CHANCE)) {
		first = sweep->last;
		last = sweep->last + sweep->last / 2 + 8 * sweep->unit;
	} else if (!sweep->complete) {
		uint64_t shortest = list->series->runs[sweep->runs[0]].bytes;
		last = sweep->regularity == GT_IRREGULAR ? 4 * shortest : 2 * last;
		last = sweep->calm ? 2 * sweep->calm + 8 * sweep->unit : last;
	}
	set_range(proposal, first, last, sweep->unit);
	withdraw_made(list);
}

/* Proposes many rounds of one run that overflows, since a few do not tell chance from a policy that repeats. */
static void repeat_one(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	uint64_t bytes = sweep->last;

	for (size_t j = sweep->n; j-- > 0;)
		if (list->series->runs[sweep->runs[j]].bytes > sweep->calm)
			bytes = list->series->runs[sweep->runs[j]].bytes;
	struct gt_proposal *proposal = propose(list, "whether misses are by chance or repeat");
	proposal->stride = sweep->stride;
	proposal->rounds = ROUNDS_CHANCE;
	set_range(proposal, bytes, 0, sweep->stride);
	withdraw_made(list);
}

/* Where LRU and FIFO keep lines or do not, touching the first line more often changes nothing for the others. Best is the N at
 * which its set has one line too many. */
static void retouch_first_set(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	size_t from = sweep->set[0] ? sweep->overflow[sweep->set[0]] : 0;
	uint64_t bytes = 0;

	for (size_t j = from; j < sweep->n && bytes == 0; j++) {
		const struct gt_chase_run *run = &list->series->runs[sweep->runs[j]];
		if (run->n / run->period >= ROUNDS_REGULAR && run->bytes % sweep->unit == 0 && run->bytes > sweep->calm)
			bytes = run->bytes;
	}
	if (bytes < 2 * sweep->unit)
		return;
	struct gt_proposal *proposal = propose(list, "whether LRU or FIFO is possible at all");
	proposal->order = "retouch";
	proposal->stride = sweep->unit;
	proposal->rounds = rounds(list);
	set_range(proposal, bytes, 0, sweep->unit);
	withdraw_made(list);
}

/* Proposes a sweep for the first thing that it leaves undetermined and that was not yet tried. Returns whether it leaves
 * something. */
static bool shape(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	const struct gt_noise *noise = &list->inference->noise;
	uint64_t more = noise->wrong > 0 || noise->outliers || sweep->regularity == GT_IRREGULAR ? 2 : 1; /* against noise and chance */
	const struct {
		bool open;
		const char *why;
		uint64_t more;
	} reasons[] = {
		{sweep->fits == 0, "the capacity; no run fits", 1},
		{!sweep->cold || (!sweep->unit_known && sweep->stride > GT_CHASE_ELEMENT),
		 "whether lines are shorter than the stride; from an empty cache", 1},
		{sweep->step > sweep->unit, "which lines share a set, as N grows by more than a line", 1},
		{!sweep->complete, "the sets that did not overflow", 1},
		{sweep->doubt >= 1e-3, "members of sets that were never replaced; more rounds", 2},
		{sweep->strange > 0 && !sweep->periodic,
		 "lines that begin to miss, or to hit, where no full set explains it", more},
		{list->inference->lines_n == 0, "lines; what misses does not fit together", more},
	};
	const char *left = NULL;

	if (sweep->regularity == GT_IRREGULAR && sweep->rounds < ROUNDS_CHANCE)
		repeat_one(list);
	if (list->n > 0)
		return true;
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (!reasons[i].open)
			continue;
		if (sweep->rounds <= ROUNDS_MAX)
			sweep_again(list, reasons[i].why, reasons[i].more);
		if (list->n > 0)
			return true;
		left = left ? left : reasons[i].why;
	}
	if (left && list->inference->unsteady.kind == GT_STEADY && sweep->regularity == GT_REGULAR)
		retouch_first_set(list);
	if (left && list->n == 0)
		propose(list, "%s", left)->order = NULL;
	return left != NULL;
}

/* How often the chase that distinguishes policies was run. */
static unsigned retouched(const struct list *list)
{
	unsigned n = 0;

	for (size_t r = 0; r < list->series->runs_n; r++)
		n += !list->series->runs[r].uniform;
	return n;
}

static void line(struct list *list)
{
	const struct gt_inference *found = list->inference;
	char large[32], small[32];

	for (size_t i = 1; i < found->lines_n && found->sweeps[0].step <= found->line; i++) {
		struct gt_proposal *proposal = propose(list, "whether lines are of %s, filled by %s", gt_format_size(found->lines[i], large),
						       gt_format_size(found->sweeps[0].unit, small));
		proposal->stride = found->lines[i];
		proposal->rounds = rounds(list);
		set_range(proposal, round_up(found->sweeps[0].last, proposal->stride), 0, proposal->stride);
		withdraw_made(list);
	}
}

/* Whether runs of the stride up to this N were made, and all of them fit. */
static bool fitted(const struct gt_inference *found, uint64_t stride, uint64_t last)
{
	for (size_t i = 1; i < found->sweeps_n; i++)
		if (found->sweeps[i].stride == stride)
			return found->sweeps[i].sets == 0 && found->sweeps[i].calm >= last;
	return false;
}

/* Each sweep with a stride of 2, 4, ... lines shows one more address bit. */
static void bits(struct list *list)
{
	const struct gt_inference *found = list->inference;
	const struct gt_function *function = &found->function;
	unsigned wanted = GT_BITS_BEYOND + retouched(list);

	if ((!function->name && (found->equal || found->checked)) || found->lines_n != 1 ||
	    (function->name && function->unique && UINT64_C(1) << function->high >= found->size << wanted))
		return;
	for (unsigned more = 1, strides = 0; more <= STRIDES_MAX && strides < wanted; more++) {
		uint64_t last = round_up(found->sweeps[0].last, found->line) << more;
		for (int doubled = 0; doubled < 2 && fitted(found, found->line << more, last); doubled++)
			last *= 2;
		if (made(list, "ring", last, found->line << more, 2) > 0)
			continue;
		struct gt_proposal *proposal = propose(list, "what address bits from %u up do to the set", function->high);
		strides++;
		proposal->stride = found->line << more;
		proposal->rounds = rounds(list);
		set_range(proposal, found->ways * proposal->stride, last, proposal->stride);
		withdraw_made(list);
	}
}

static void regular_policy(struct list *list)
{
	const struct gt_inference *found = list->inference;
	unsigned tried = retouched(list);
	struct gt_proposal *proposal;

	if (found->policy_sure || (found->equal && found->ways == 1) || tried >= RETOUCHES_MAX)
		return;
	proposal = propose(list, "LRU, FIFO or another");
	proposal->order = "retouch";
	proposal->stride = found->line;
	proposal->rounds = 20;
	set_range(proposal, (3 * found->size) << tried, 0, found->line);
	withdraw_made(list);
}

/* The N at which the largest number of sets has one line too many. */
static uint64_t best_bytes(const struct gt_function *function)
{
	uint32_t held[GT_SETS_MAX + 1] = {0};
	uint64_t best = 0, over = 0, most = 0;

	for (uint64_t line = 0; line < function->seen_lines && function->set_of[line] > 0; line++) {
		uint32_t set = function->set_of[line];
		held[set]++;
		over += held[set] == function->ways[set] + 1;
		over -= held[set] == function->ways[set] + 2;
		if (over > most) {
			most = over;
			best = line + 1;
		}
	}
	return best << function->shift;
}

/* Whether the lines are known and all sets that overflowed are explained, beginning with runs in which none did. */
static bool sets_known(const struct gt_inference *found)
{
	return found->sweeps[0].complete && found->sweeps[0].strange == 0 && found->sweeps[0].fits > 0 && found->lines_n == 1;
}

static void chance(struct list *list)
{
	const struct gt_inference *found = list->inference;
	uint64_t bytes = best_bytes(&found->function);
	struct gt_proposal *proposal;

	if (found->policy_sure || (found->victims.dependent && sets_known(found)) || bytes == 0)
		return;
	for (unsigned more = 1; more <= MORE_REPLACEMENTS && list->n == 0; more *= 2) {
		proposal = propose(list, "the chance of each way to be replaced");
		proposal->stride = found->sweeps[0].unit;
		proposal->rounds = REPLACEMENTS * more;
		proposal->times = 20;
		set_range(proposal, bytes, 0, proposal->stride);
		withdraw_made(list);
	}
}

size_t gt_propose(const struct gt_inference *inference, const struct gt_chase_series *series,
		  struct gt_proposal proposals[GT_PROPOSALS_MAX])
{
	struct list list = {inference, series, proposals, 0};
	const struct gt_sweep *sweep = &inference->sweeps[0];

	if (sweep->sets == 0 && sweep->calm == sweep->last) {
		all_fit(&list);
		return list.n;
	}
	if (sweep->periodic || shape(&list))
		return list.n;
	line(&list);
	if (list.n > 0)
		return list.n;
	if (retouched(&list) < RETOUCHES_MAX && !(inference->policy_sure && inference->function_sure && retouched(&list) > 0))
		bits(&list);
	if (list.n > 0)
		return list.n;
	if (sweep->regularity == GT_REGULAR)
		regular_policy(&list);
	else
		chance(&list);
	return list.n;
}

/* ---- the report ---- */

struct page {
	FILE *file;
	const char *level;
	const struct gt_inference *found;
};

/* "LEVEL.KEY = VALUE # status: P-chase, sure or not: ..." */
static void figure(const struct page *page, const char *key, const char *value, bool sure, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void figure(const struct page *page, const char *key, const char *value, bool sure, const char *format, ...)
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
		figure(page, "index", text, false, "no sum of address bits explains the lines; their sets as seen, from the array's begin");
	else
		figure(page, "index", text, page->found->function_sure, "explains all lines; seen: address bits %u to %u%s",
		       function->low, function->high - 1, function->unique ? "" : "; other functions do as well");
}

/* What misses that do not repeat show of a policy; of sets that are not those of the cache they show nothing. */
static void print_undetermined(const struct page *page, const char *shown)
{
	fprintf(page->file, "# undetermined: the replacement policy; %s\n",
		sets_known(page->found) ? shown : "misses do not repeat, but the sets are not known");
}

static void print_chance(const struct page *page)
{
	const struct gt_victims *victims = &page->found->victims;
	char text[GT_VICTIM_WAYS_MAX * 8] = "weighted:";
	int used = 9;

	if (victims->n == 0) {
		print_undetermined(page, "it is not LRU, and no set was followed from empty");
		return;
	}
	fprintf(page->file, "# replacements by way, in the order in which sets fill:");
	for (uint32_t w = 0; w < victims->ways; w++)
		fprintf(page->file, " %" PRIu64, victims->count[w]);
	fprintf(page->file, " (%" PRIu64 " of %" PRIu64 " twice the same; %" PRIu64 " sets lost)\n", victims->again, victims->n,
		victims->lost);
	if (victims->dependent) {
		print_undetermined(page, "not lru, fifo, random, weighted: the way replaced depends on the last");
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
		print_undetermined(page, "not LRU, and the ways are not replaced alike");
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
