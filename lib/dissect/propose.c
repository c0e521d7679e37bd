/* SPDX-License-Identifier: MIT */
#include "dissect/propose.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/options.h"
#include "dissect/chase.h"

#define ROUNDS_REGULAR 6
#define ROUNDS_CHANCE 120
#define ROUNDS_MAX 1000
#define STRIDES_MAX 12	   /* doublings of a line */
#define RUNS_MAX 768	   /* of one proposal */
#define REPLACEMENTS 100   /* of each way, that suffice to distinguish probabilities */

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

/* Sets the range of N from first to last, in at most RUNS_MAX steps. */
static void set_range(struct gt_proposal *proposal, uint64_t first, uint64_t last, uint64_t step)
{
	uint64_t stride = proposal->stride;

	first = first / stride * stride;
	proposal->first = first ? first : stride;
	last = last > proposal->first ? last : proposal->first;
	proposal->step = round_up(step ? step : stride, stride);
	while ((last - proposal->first) / proposal->step > RUNS_MAX)
		proposal->step *= 2;
	proposal->last = proposal->first + round_up(last - proposal->first, proposal->step);
}

static void all_fit(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	char size[32];
	struct gt_proposal *proposal = propose(list, "everything; all runs fit, up to N = %s", gt_format_size(sweep->calm, size));

	proposal->stride = sweep->stride;
	set_range(proposal, sweep->calm, 4 * sweep->calm, sweep->calm / 8);
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
	    sweep->regularity == GT_REGULAR) {
		first = sweep->last;
		last = sweep->last + sweep->last / 2 + 8 * sweep->unit;
	} else if (!sweep->complete) {
		last = sweep->calm ? 2 * sweep->calm + 8 * sweep->unit : 2 * last;
	}
	set_range(proposal, first, last, sweep->unit);
}

/* Returns whether the sweep itself leaves something undetermined. */
static int shape(struct list *list)
{
	const struct gt_sweep *sweep = &list->inference->sweeps[0];
	char size[32];
	size_t before = list->n;

	gt_format_size(sweep->unit, size);
	if (sweep->rounds > ROUNDS_MAX)
		return 0;
	if (sweep->fits == 0)
		sweep_again(list, "the capacity; no run fits", 1);
	else if (!sweep->cold || (!sweep->unit_known && sweep->stride > GT_CHASE_ELEMENT))
		sweep_again(list, "whether lines are shorter than the stride; from an empty cache", 1);
	else if (sweep->step > sweep->unit)
		sweep_again(list, "which lines share a set, as N grows by more than a line", 1);
	else if (!sweep->complete)
		sweep_again(list, "the sets that did not overflow", 1);
	else if (sweep->doubt >= 1e-3)
		sweep_again(list, "members of sets that were never replaced; more rounds", 2);
	else if (sweep->strange > 0 && !sweep->periodic)
		sweep_again(list, "lines that begin to miss, or to hit, where no full set explains it; more rounds", 2);
	else if (list->inference->lines_n == 0)
		sweep_again(list, "lines; what misses does not fit together; more rounds", 2);
	return list->n > before;
}

/* Whether there is such a run. */
static int done(const struct list *list, uint64_t bytes, uint64_t stride)
{
	for (size_t r = 0; r < list->series->runs_n; r++)
		if (list->series->runs[r].bytes == bytes && list->series->runs[r].stride == stride && list->series->runs[r].uniform)
			return 1;
	return 0;
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
		if (done(list, round_up(found->sweeps[0].last, found->lines[i]), found->lines[i]))
			continue;
		struct gt_proposal *proposal = propose(list, "whether lines are of %s, filled by %s", gt_format_size(found->lines[i], large),
						       gt_format_size(found->sweeps[0].unit, small));
		proposal->stride = found->lines[i];
		proposal->rounds = rounds(list);
		set_range(proposal, round_up(found->sweeps[0].last, proposal->stride), 0, proposal->stride);
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

	if (!function->name || found->lines_n != 1 ||
	    (function->unique && UINT64_C(1) << function->high >= found->size << wanted))
		return;
	for (unsigned more = 1, strides = 0; more <= STRIDES_MAX && strides < wanted; more++) {
		uint64_t last = round_up(found->sweeps[0].last, found->line) << more;
		for (int doubled = 0; doubled < 2 && fitted(found, found->line << more, last); doubled++)
			last *= 2;
		if (done(list, last, found->line << more))
			continue;
		struct gt_proposal *proposal = propose(list, "what address bits from %u up do to the set", function->high);
		strides++;
		proposal->stride = found->line << more;
		proposal->rounds = rounds(list);
		set_range(proposal, found->ways * proposal->stride, last, proposal->stride);
	}
}

static void regular_policy(struct list *list)
{
	const struct gt_inference *found = list->inference;
	unsigned tried = retouched(list);
	struct gt_proposal *proposal;

	if (found->policy_sure || (found->equal && found->ways == 1) || tried > GT_BITS_BEYOND)
		return;
	proposal = propose(list, "LRU, FIFO or another");
	proposal->order = "retouch";
	proposal->stride = found->line;
	proposal->rounds = 20;
	set_range(proposal, (3 * found->size) << tried, 0, found->line);
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

	if (found->policy_sure || bytes == 0)
		return;
	proposal = propose(list, "the chance of each way to be replaced");
	proposal->stride = found->sweeps[0].unit;
	proposal->rounds = REPLACEMENTS;
	proposal->times = 20;
	set_range(proposal, bytes, 0, proposal->stride);
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
	int open = shape(&list);
	line(&list);
	if (open || list.n > 0)
		return list.n;
	if (retouched(&list) <= GT_BITS_BEYOND && !(inference->policy_sure && inference->function_sure && retouched(&list) > 0))
		bits(&list);
	if (list.n > 0 || sweep->periodic)
		return list.n;
	if (sweep->regularity == GT_REGULAR)
		regular_policy(&list);
	else
		chance(&list);
	return list.n;
}
