/* SPDX-License-Identifier: MIT */
/* Measures reuse distances. A row makes references to units; each goes to the stack of its warp, block, SM or set, which gives its
 * distance; and the distance is counted in a profile:
 *
 *	rows -> references -> stack of each -> distance -> histogram of all, and of the class
 *
 * If nobody watches single references, those of a stack are gathered and measured together, so that its memory stays in the
 * machine's caches; threads, if there are several, then have stacks of their own. */
#include "reuse/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/pipeline.h"
#include "stream/hint.h"
#include "stream/op.h"

#define SAMPLE_SEED 0x67747261 /* makes sampling independent of the hash in a stack's table */

enum {
	CHUNK = 1024,		/* references of rows before their stacks are touched */
	TABLE_PREFETCH_DISTANCE = 16, /* references from the prefetch of the table's entry to the touch */
	LINE_PREFETCH_DISTANCE = 8,   /* and from the prefetch of the line's slot */
	GATHERED = 1024,	/* stacks whose references are gathered */
	TOGETHER = 2048,	/* references of a stack that are measured together */
	DIRECT = 65536,		/* groups whose stack is found without hashing */
};

struct gt_reference {
	uint64_t unit, hash;
	uint32_t row, stack;
};

/* References of a stack that have not been measured yet. */
struct gt_gathered {
	uint64_t *units; /* NULL: none are gathered */
	uint64_t last;	 /* of these; kept here, where that of every stack is at hand */
	uint32_t n;
};

/* ---- profiles ---- */

static int open_profile(struct gt_profile *profile, const struct gt_split *split, const struct gt_launch *launch,
			uint64_t bound, struct gt_error *error)
{
	*profile = (struct gt_profile){.all = {.bound = bound}};
	return gt_reuse_classes_open(&profile->classes, split, launch, error);
}

static void clear_classes(struct gt_profile *profile)
{
	for (size_t i = 0; i < profile->classes.n; i++) {
		gt_histogram_clear(profile->classes.classes[i].counted);
		free(profile->classes.classes[i].counted);
	}
}

static void clear_profile(struct gt_profile *profile)
{
	gt_histogram_clear(&profile->all);
	clear_classes(profile);
	gt_reuse_classes_clear(&profile->classes);
	profile->lines = profile->refused = 0;
}

static void close_profile(struct gt_profile *profile)
{
	gt_histogram_clear(&profile->all);
	clear_classes(profile);
	gt_reuse_classes_close(&profile->classes);
}

/* The histogram of a reference's class; NULL when memory is short. */
static struct gt_histogram *histogram_for(struct gt_profile *profile, const struct gt_referrer *referrer,
					  struct gt_error *error)
{
	struct gt_reuse_class *class = gt_reuse_classes_of(&profile->classes, referrer, error);

	if (!class || class->counted)
		return class ? class->counted : NULL;
	struct gt_histogram *histogram = malloc(sizeof *histogram);
	if (!histogram) {
		profile->classes.n--; /* remove the new class, which has no histogram */
		gt_fail_memory(error, "a profile");
		return NULL;
	}
	*histogram = (struct gt_histogram){.bound = profile->all.bound};
	return class->counted = histogram;
}

static int count_distance(struct gt_profile *profile, const struct gt_referrer *referrer, uint64_t distance,
			  uint64_t weight, struct gt_error *error)
{
	if (gt_histogram_add(&profile->all, distance, 1, weight, error) != 0)
		return -1;
	if (!profile->classes.split)
		return 0;
	struct gt_histogram *histogram = histogram_for(profile, referrer, error);
	return histogram ? gt_histogram_add(histogram, distance, 1, weight, error) : -1;
}

static int count_unsampled(struct gt_profile *profile, const struct gt_referrer *referrer, struct gt_error *error)
{
	profile->all.references++;
	if (!profile->classes.split)
		return 0;
	struct gt_histogram *histogram = histogram_for(profile, referrer, error);
	if (!histogram)
		return -1;
	histogram->references++;
	return 0;
}

static int finish_profile(struct gt_profile *profile, struct gt_error *error)
{
	int failed = gt_histogram_settle(&profile->all, error);

	for (size_t i = 0; i < profile->classes.n && !failed; i++)
		failed = gt_histogram_settle(profile->classes.classes[i].counted, error);
	gt_reuse_classes_sort(&profile->classes);
	return failed;
}

/* ---- threads that measure gathered references: each has stacks of its own, and a histogram ---- */

struct item {
	struct gt_stack *stack;
	size_t number; /* of the stack */
	uint64_t *units;
	size_t n;
};

struct lane {
	struct gt_histogram histogram;
	uint64_t distances[TOGETHER];
};

struct gt_reuse_team {
	struct gt_pipeline *pipeline;
	unsigned jobs;
	struct lane *lanes;
	struct item *items;
	size_t n;
};

/* A lane takes the stacks that are its own, so that each sees its references in order. */
static int measure_item(void *context, void *taken, unsigned lane, struct gt_error *error)
{
	struct gt_reuse_team *team = context;
	const struct item *item = taken;
	struct lane *own = &team->lanes[lane];

	if (item->number % team->jobs != lane)
		return 0;
	if (gt_stack_touch_all(item->stack, item->units, item->n, own->distances, error) != 0)
		return -1;
	return gt_histogram_add_all(&own->histogram, own->distances, item->n, error);
}

static bool allocate(struct gt_reuse_team *team)
{
	const size_t n = 4 * (size_t)team->jobs; /* so that no lane waits for the others' stacks */

	team->lanes = calloc(team->jobs, sizeof *team->lanes);
	team->items = calloc(n, sizeof *team->items);
	if (!team->lanes || !team->items)
		return false;
	for (; team->n < n; team->n++)
		if (!(team->items[team->n].units = malloc(TOGETHER * sizeof(uint64_t))))
			return false;
	return true;
}

static void team_close(struct gt_reuse_team *team)
{
	if (!team)
		return;
	gt_pipeline_close(team->pipeline);
	for (unsigned lane = 0; team->lanes && lane < team->jobs; lane++)
		gt_histogram_clear(&team->lanes[lane].histogram);
	for (size_t i = 0; i < team->n; i++)
		free(team->items[i].units);
	free(team->lanes);
	free(team->items);
	free(team);
}

static struct gt_reuse_team *team_open(unsigned jobs, uint64_t bound, struct gt_error *error)
{
	struct gt_reuse_team *team = calloc(1, sizeof *team);
	const struct gt_step step = {measure_item, jobs};

	if (team)
		team->jobs = jobs;
	if (!team || !allocate(team)) {
		team_close(team);
		gt_fail_memory(error, "threads");
		return NULL;
	}
	for (unsigned lane = 0; lane < jobs; lane++)
		team->lanes[lane].histogram = (struct gt_histogram){.bound = bound};
	if (!(team->pipeline = gt_pipeline_open(jobs, &step, 1, team, (struct gt_pipeline_items){team->items, sizeof *team->items, team->n}, error))) {
		team_close(team);
		return NULL;
	}
	return team;
}

static int team_measure(struct gt_reuse_team *team, size_t number, struct gt_stack *stack, uint64_t **units, size_t n,
			struct gt_error *error)
{
	struct item *item = gt_pipeline_next(team->pipeline, error);

	if (!item)
		return -1;
	uint64_t *empty = item->units;
	*item = (struct item){.stack = stack, .number = number, .units = *units, .n = n};
	*units = empty;
	gt_pipeline_put(team->pipeline, item);
	return 0;
}

static int team_wait(struct gt_reuse_team *team, struct gt_error *error)
{
	return gt_pipeline_drain(team->pipeline, error);
}

static int team_give(struct gt_reuse_team *team, struct gt_histogram *to, struct gt_error *error)
{
	if (team_wait(team, error) != 0)
		return -1;
	for (unsigned lane = 0; lane < team->jobs; lane++) {
		if (gt_histogram_merge(to, &team->lanes[lane].histogram, error) != 0)
			return -1;
		gt_histogram_clear(&team->lanes[lane].histogram);
	}
	return 0;
}

/* ---- the stack of a reference ---- */

/* The warp, block or SM that row i's stack belongs to, before the division into sets. */
static inline uint64_t group_of(const struct gt_reuse *reuse, const struct gt_rows *rows, size_t i)
{
	switch (reuse->options.per) {
	case GT_PER_WARP:
		return (uint64_t)rows->block[i] << 16 | rows->warp[i];
	case GT_PER_BLOCK:
		return rows->block[i];
	default:
		return reuse->by_sm ? rows->sm[i] : 0;
	}
}

/* Appends an empty stack. */
static int add_stack(struct gt_reuse *reuse, struct gt_error *error)
{
	if (reuse->team && reuse->n_stacks == reuse->capacity && team_wait(reuse->team, error) != 0) /* they may move */
		return -1;
	struct gt_stack *stacks = gt_grown(reuse->stacks, reuse->n_stacks, &reuse->capacity, sizeof *stacks);

	if (!stacks)
		return gt_fail_memory(error, "LRU stacks");
	reuse->stacks = stacks;
	if (gt_stack_open(&reuse->stacks[reuse->n_stacks], error) != 0)
		return -1;
	reuse->n_stacks++;
	return 0;
}

static int find_stack(struct gt_reuse *reuse, uint64_t group, uint64_t unit, uint32_t *stack, struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;
	int fresh;

	if (options->sets > 1)
		group = group * options->sets +
			(options->set_of ? options->set_of(options->set_context, unit) : unit % options->sets);
	if (group < DIRECT) {
		fresh = reuse->direct[group] == 0;
		if (fresh)
			reuse->direct[group] = (uint32_t)reuse->n_stacks + 1;
		if (group >= reuse->direct_used)
			reuse->direct_used = group + 1;
		*stack = reuse->direct[group] - 1;
		return fresh ? add_stack(reuse, error) : 0;
	}
	uint64_t *index = gt_map_put(&reuse->index, group, reuse->n_stacks, &fresh);
	if (!index)
		return gt_fail_memory(error, "LRU stacks");
	*stack = (uint32_t)*index;
	return fresh ? add_stack(reuse, error) : 0;
}

/* ---- references that are gathered by stack ---- */

bool gt_reuse_may_gather(const struct gt_reuse_options *options)
{
	return !options->watch && !options->split && options->every <= 1 && options->sample_lines == 0;
}

/* Measures what has been gathered of a stack. */
static int measure(struct gt_reuse *reuse, size_t stack, struct gt_error *error)
{
	struct gt_gathered *gathered = &reuse->gathered[stack];
	size_t n = gathered->n;

	gathered->n = 0;
	if (reuse->team)
		return team_measure(reuse->team, stack, &reuse->stacks[stack], &gathered->units, n, error);
	if (gt_stack_touch_all(&reuse->stacks[stack], gathered->units, n, reuse->distances, error) != 0)
		return -1;
	return gt_histogram_add_all(&reuse->profile.all, reuse->distances, n, error);
}

static int settle(struct gt_reuse *reuse, struct gt_error *error)
{
	for (size_t i = 0; reuse->gathers && i < reuse->n_stacks && i < GATHERED; i++)
		if (reuse->gathered[i].n > 0 && measure(reuse, i, error) != 0)
			return -1;
	if (reuse->repeats > 0 && gt_histogram_add(&reuse->profile.all, 0, reuse->repeats, reuse->repeats, error) != 0)
		return -1;
	reuse->repeats = 0;
	return reuse->team ? team_give(reuse->team, &reuse->profile.all, error) : 0;
}

/* Measures a reference by itself. */
static int measure_one(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error)
{
	uint64_t distance;

	if (gt_stack_touch(&reuse->stacks[stack], unit, gt_stack_hash(unit), &distance, error) != 0)
		return -1;
	return gt_histogram_add(&reuse->profile.all, distance, 1, 1, error);
}

static inline int gather(struct gt_reuse *reuse, size_t stack, uint64_t unit, struct gt_error *error)
{
	if (stack >= GATHERED)
		return measure_one(reuse, stack, unit, error);
	struct gt_gathered *gathered = &reuse->gathered[stack];
	if (gathered->n > 0 && gathered->last == unit) {
		reuse->repeats++;
		return 0;
	}
	if (!gathered->units && !(gathered->units = malloc(TOGETHER * sizeof *gathered->units)))
		return gt_fail_memory(error, "references");
	gathered->units[gathered->n++] = gathered->last = unit;
	return gathered->n == TOGETHER ? measure(reuse, stack, error) : 0;
}

static bool is_plain(const struct gt_reuse *reuse, const struct gt_rows *rows)
{
	const struct gt_reuse_options *options = &reuse->options;

	return reuse->gathers && rows->kind == GT_REQUESTS && (UINT64_C(1) << options->unit.shift) >= GT_LINE && !rows->has_hints &&
	       !rows->has_status && options->sets <= 1;
}

static int gather_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	uint64_t group = UINT64_MAX; /* that of no row */
	uint32_t stack = 0;

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t unit = rows->address[i] >> reuse->options.unit.shift, now = group_of(reuse, rows, i);
		if (!reuse->refers[rows->op[i]] || (rows->sectors[i] & 15) == 0)
			continue;
		if (now != group && find_stack(reuse, now, unit, &stack, error) != 0)
			return -1;
		group = now;
		if (gather(reuse, stack, unit, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- opening, emptying, closing ---- */

/* Distinct lines of the fullest stack. All stacks sample the same lines, so the others add no information. */
static uint64_t most_lines(const struct gt_reuse *reuse)
{
	uint64_t most = 0;

	for (size_t i = 0; i < reuse->n_stacks; i++)
		if (reuse->stacks[i].live > most)
			most = reuse->stacks[i].live;
	return most;
}

static void empty(struct gt_reuse *reuse)
{
	/* The maximum, not the sum: kernels share most of their lines, and sample the same ones. */
	if (most_lines(reuse) > reuse->profile.lines)
		reuse->profile.lines = most_lines(reuse);
	for (size_t i = 0; i < reuse->n_stacks; i++)
		gt_stack_close(&reuse->stacks[i]);
	for (size_t i = 0; i < reuse->n_stacks && i < GATHERED; i++)
		reuse->gathered[i].n = 0;
	reuse->n_stacks = 0;
	reuse->live = 0;
	gt_map_clear(&reuse->index);
	memset(reuse->direct, 0, reuse->direct_used * sizeof *reuse->direct);
	reuse->direct_used = 0;
}

static void close_reuse(struct gt_reuse *reuse)
{
	team_close(reuse->team);
	if (reuse->index.slots)
		empty(reuse);
	for (size_t i = 0; reuse->gathered && i < GATHERED; i++)
		free(reuse->gathered[i].units);
	free(reuse->gathered);
	free(reuse->distances);
	gt_map_close(&reuse->index);
	close_profile(&reuse->profile);
	free(reuse->stacks);
	free(reuse->references);
	free(reuse->direct);
	*reuse = (struct gt_reuse){0};
}

static int open_reuse(struct gt_reuse *reuse, const struct gt_reuse_options *options, struct gt_error *error)
{
	*reuse = (struct gt_reuse){.options = *options};
	reuse->every = options->every ? options->every : 1;
	reuse->threshold = UINT64_MAX / reuse->every;
	for (unsigned op = 0; op < 256; op++)
		reuse->refers[op] = (options->actions >> gt_op_action((uint8_t)op) & 1) && gt_op_space((uint8_t)op) != GT_SHARED;
	reuse->gathers = gt_reuse_may_gather(options);
	reuse->references = malloc(CHUNK * sizeof *reuse->references);
	reuse->direct = calloc(DIRECT, sizeof *reuse->direct);
	reuse->gathered = calloc(GATHERED, sizeof *reuse->gathered);
	reuse->distances = malloc(TOGETHER * sizeof *reuse->distances);
	if (!reuse->references || !reuse->direct || !reuse->gathered || !reuse->distances) {
		close_reuse(reuse);
		return gt_fail_memory(error, "references");
	}
	if (open_profile(&reuse->profile, options->split, options->launch, options->bound, error) != 0 ||
	    gt_map_open(&reuse->index, 0, error) != 0 ||
	    (reuse->gathers && options->jobs > 1 && !(reuse->team = team_open(options->jobs, options->bound, error)))) {
		close_reuse(reuse);
		return -1;
	}
	return 0;
}

static int flush_stacks(struct gt_reuse *reuse, struct gt_error *error)
{
	if (settle(reuse, error) != 0)
		return -1;
	empty(reuse);
	return 0;
}

/* ---- sampled lines ---- */

static uint64_t sample_hash(uint64_t unit)
{
	return XXH3_64bits_withSeed(&unit, sizeof unit, SAMPLE_SEED);
}

static bool is_sampled(const void *reuse, uint64_t unit)
{
	return sample_hash(unit) <= ((const struct gt_reuse *)reuse)->threshold;
}

/* Halves the sampling rate until at most sample_lines are left. */
static void thin(struct gt_reuse *reuse)
{
	while (reuse->live > reuse->options.sample_lines && reuse->every < GT_SAMPLE_EVERY_MAX) {
		reuse->every *= 2;
		reuse->threshold = UINT64_MAX / reuse->every;
		reuse->live = 0;
		for (size_t i = 0; i < reuse->n_stacks; i++) {
			gt_stack_keep(&reuse->stacks[i], is_sampled, reuse);
			reuse->live += reuse->stacks[i].live;
		}
	}
}

/* Keeps those of row i's units that are sampled, and counts the others. */
static int sample(struct gt_reuse *reuse, const struct gt_rows *rows, size_t i, uint64_t *units, unsigned *n,
		  struct gt_error *error)
{
	struct gt_referrer referrer = {.rows = rows, .i = i};
	unsigned kept = 0;

	for (unsigned j = 0; j < *n; j++) {
		if (is_sampled(reuse, units[j])) {
			units[kept++] = units[j];
			continue;
		}
		referrer.address = units[j] << reuse->options.unit.shift;
		if (count_unsampled(&reuse->profile, &referrer, error) != 0)
			return -1;
	}
	*n = kept;
	return 0;
}

/* ---- the references of rows ---- */

/* Touches the stacks with the chunk's n references, and counts the distances. */
static int run(struct gt_reuse *reuse, const struct gt_rows *rows, size_t n, struct gt_error *error)
{
	const struct gt_reference *references = reuse->references;
	const struct gt_reuse_options *options = &reuse->options;
	struct gt_referrer referrer = {.rows = rows};

	for (size_t i = 0; i < n; i++) {
		const struct gt_reference *now = &references[i];
		uint64_t distance;
		if (i + TABLE_PREFETCH_DISTANCE < n)
			gt_stack_prefetch(&reuse->stacks[now[TABLE_PREFETCH_DISTANCE].stack], now[TABLE_PREFETCH_DISTANCE].hash);
		if (i + LINE_PREFETCH_DISTANCE < n)
			gt_stack_prefetch_line(&reuse->stacks[now[LINE_PREFETCH_DISTANCE].stack], now[LINE_PREFETCH_DISTANCE].hash);
		if (gt_stack_touch(&reuse->stacks[now->stack], now->unit, now->hash, &distance, error) != 0)
			return -1;
		if (distance == GT_DISTANCE_INFINITE)
			reuse->live++;
		else
			distance *= reuse->every;
		referrer.i = now->row;
		referrer.address = now->unit << options->unit.shift;
		if (count_distance(&reuse->profile, &referrer, distance, reuse->every, error) != 0)
			return -1;
		if (options->watch && options->watch(options->watch_context, rows, now->row, now->unit,
						     distance, error) != 0)
			return -1;
	}
	if (options->sample_lines > 0)
		thin(reuse);
	return 0;
}

static int check(const struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_granularity *granularity = reuse->options.unit.granularity;

	if (rows->kind != granularity->kind)
		return gt_fail(error, "reuse by %s is of %s, but these rows are %s", granularity->name,
			       granularity->kind == GT_ACCESSES ? "accesses" : "requests",
			       rows->kind == GT_ACCESSES ? "accesses" : "requests");
	if (reuse->options.per == GT_PER_SM && !rows->scheduled)
		return gt_fail(error, "one stack per SM needs scheduled rows, and these have no SM: run gschedule first");
	return 0;
}

/* Counts the references of row i, which found no MSHR. */
static int refuse(struct gt_reuse *reuse, const struct gt_rows *rows, size_t i, const uint64_t *units, unsigned n,
		  struct gt_error *error)
{
	const struct gt_reuse_options *options = &reuse->options;

	reuse->profile.refused += n;
	for (unsigned j = 0; j < n && options->watch_refused; j++)
		if (options->watch_refused(options->watch_context, rows, i, units[j], error) != 0)
			return -1;
	return 0;
}

static int measure_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_unit *unit = &reuse->options.unit;
	enum gt_reuse_per per = reuse->options.per;
	size_t n = 0;

	if (check(reuse, rows, error) != 0)
		return -1;
	reuse->timed |= rows->has_status;
	reuse->by_sm = rows->scheduled && (per == GT_PER_SM || per == GT_PER_SM_IF_SCHEDULED);
	if (is_plain(reuse, rows))
		return gather_rows(reuse, rows, error);
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t units[GT_WARP_SIZE];
		if (!reuse->refers[rows->op[i]] || gt_hint_action(gt_rows_hint(rows, i)) != GT_ACCESS_DATA)
			continue;
		unsigned made = unit->granularity->references(rows, i, unit->shift, units);
		if (rows->has_status && rows->status[i] == GT_STATUS_RESERVATION_FAIL) {
			if (refuse(reuse, rows, i, units, made, error) != 0)
				return -1;
			continue;
		}
		if (reuse->every > 1 && sample(reuse, rows, i, units, &made, error) != 0)
			return -1;
		for (unsigned j = 0; j < made; j++) {
			uint32_t stack = 0;
			if (find_stack(reuse, group_of(reuse, rows, i), units[j], &stack, error) != 0)
				return -1;
			if (!reuse->gathers)
				reuse->references[n++] = (struct gt_reference){units[j], gt_stack_hash(units[j]), (uint32_t)i, stack};
			else if (gather(reuse, stack, units[j], error) != 0)
				return -1;
		}
		if (n + GT_WARP_SIZE > CHUNK) {
			if (run(reuse, rows, n, error) != 0)
				return -1;
			n = 0;
		}
	}
	return run(reuse, rows, n, error);
}

/* ---- all measurements ---- */

/* The error of a ratio of references that sampling lines may make. */
static double expected_error(const struct gt_reuse *reuse)
{
	uint64_t most = most_lines(reuse), lines = most > reuse->profile.lines ? most : reuse->profile.lines;

	if (reuse->every == 1 || reuse->profile.all.references == 0)
		return 0;
	return 2 * sqrt((1 - 1 / (double)reuse->every) / (double)(lines ? lines : 1));
}

static int finish_reuse(struct gt_reuse *reuse, struct gt_error *error)
{
	if (settle(reuse, error) != 0 || finish_profile(&reuse->profile, error) != 0)
		return -1;
	reuse->expected_error = expected_error(reuse);
	return 0;
}

int gt_measures_open(struct gt_measures *measures, const struct gt_plan *plan, struct gt_pair *pair,
		     struct gt_error *error)
{
	measures->pair = pair;
	for (measures->n = 0; measures->n < plan->n; measures->n++)
		if (open_reuse(&measures->reuses[measures->n], &plan->measures[measures->n], error) != 0)
			return -1;
	return pair->lines ? gt_pair_open(pair, plan->split, plan->measures[0].launch, error) : 0;
}

void gt_measures_close(struct gt_measures *measures)
{
	for (size_t i = 0; i < measures->n; i++)
		close_reuse(&measures->reuses[i]);
	measures->n = 0;
}

int gt_measures_rows(struct gt_measures *measures, const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++)
		if (measure_rows(&measures->reuses[i], rows, error) != 0)
			return -1;
	return 0;
}

int gt_measures_end_kernel(struct gt_measures *measures, bool flush, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++) {
		enum gt_reuse_per per = measures->reuses[i].options.per;
		bool ends = per == GT_PER_WARP || per == GT_PER_BLOCK; /* those of the next kernel are others */
		if ((flush || ends) && flush_stacks(&measures->reuses[i], error) != 0)
			return -1;
	}
	return 0;
}

void gt_measures_clear(struct gt_measures *measures)
{
	gt_pair_clear(measures->pair);
	for (size_t i = 0; i < measures->n; i++)
		clear_profile(&measures->reuses[i].profile);
}

int gt_measures_finish(struct gt_measures *measures, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++)
		if (finish_reuse(&measures->reuses[i], error) != 0)
			return -1;
	gt_reuse_classes_sort(&measures->pair->classes);
	return 0;
}
