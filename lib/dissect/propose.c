/* SPDX-License-Identifier: MIT */
#include "dissect/propose.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/options.h"
#include "dissect/chase.h"

#define ROUNDS_REGULAR 6
#define ROUNDS_CHANCE 120
#define ROUNDS_MAX 250	   /* of a sweep that more rounds, twice as many, may still settle */
#define STRIDES_MAX 12	   /* doublings of a line */
#define RUNS_MAX 768	   /* of one proposal */
#define RETOUCHES_MAX 3	   /* runs of order retouch, each twice as long as the last */
#define REPLACEMENTS 100   /* of each way, that mostly suffice to distinguish probabilities */
#define MORE_REPLACEMENTS 4 /* times as many, if they do not */

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
	int ring = strcmp(order, "ring") == 0;
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
static int shape(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	const struct gt_noise *noise = &list->inference->noise;
	uint64_t more = noise->wrong > 0 || noise->outliers || sweep->regularity == GT_IRREGULAR ? 2 : 1; /* against noise and chance */
	const struct {
		int open;
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
		return 1;
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (!reasons[i].open)
			continue;
		if (sweep->rounds <= ROUNDS_MAX)
			sweep_again(list, reasons[i].why, reasons[i].more);
		if (list->n > 0)
			return 1;
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
static int fitted(const struct gt_inference *found, uint64_t stride, uint64_t last)
{
	for (size_t i = 1; i < found->sweeps_n; i++)
		if (found->sweeps[i].stride == stride)
			return found->sweeps[i].sets == 0 && found->sweeps[i].calm >= last;
	return 0;
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

static void chance(struct list *list)
{
	const struct gt_inference *found = list->inference;
	uint64_t bytes = best_bytes(&found->function);
	struct gt_proposal *proposal;

	if (found->policy_sure || found->victims.dependent || bytes == 0)
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
