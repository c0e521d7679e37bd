/* SPDX-License-Identifier: MIT */
#include "reuse/reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "stream/hint.h"
#include "stream/status.h"

#define SAMPLE_SEED 0x67747261 /* makes sampling independent of the hash in a stack's table */

enum {
	CHUNK = 1024,		/* references of rows before their stacks are touched */
	TABLE_PREFETCH_DISTANCE = 16, /* references from the prefetch of the table's entry to the touch */
	LINE_PREFETCH_DISTANCE = 8,   /* and from the prefetch of the line's slot */
};

struct gt_reference {
	uint64_t unit, hash;
	uint32_t row, stack;
};

bool gt_reuse_may_gather(const struct gt_reuse_options *options)
{
	return !options->watch && !options->split && options->every <= 1 && options->sample_lines == 0;
}

int gt_reuse_open(struct gt_reuse *reuse, const struct gt_reuse_options *options, struct gt_error *error)
{
	*reuse = (struct gt_reuse){.options = *options};
	reuse->every = options->every ? options->every : 1;
	reuse->threshold = UINT64_MAX / reuse->every;
	for (unsigned op = 0; op < 256; op++)
		reuse->refers[op] = (options->actions >> gt_op_action((uint8_t)op) & 1) && gt_op_space((uint8_t)op) != GT_SHARED;
	reuse->gathers = gt_reuse_may_gather(options);
	reuse->references = malloc(CHUNK * sizeof *reuse->references);
	reuse->direct = calloc(GT_REUSE_DIRECT, sizeof *reuse->direct);
	reuse->gathered = calloc(GT_REUSE_GATHERED, sizeof *reuse->gathered);
	reuse->distances = malloc(GT_REUSE_TOGETHER * sizeof *reuse->distances);
	if (!reuse->references || !reuse->direct || !reuse->gathered || !reuse->distances) {
		gt_reuse_close(reuse);
		return gt_fail_memory(error, "references");
	}
	if (gt_profile_open(&reuse->profile, options->split, options->launch, options->bound, error) != 0 ||
	    gt_map_open(&reuse->index, 0, error) != 0 ||
	    (reuse->gathers && options->jobs > 1 && !(reuse->team = gt_reuse_team_open(options->jobs, options->bound, error)))) {
		gt_reuse_close(reuse);
		return -1;
	}
	return 0;
}

/* Distinct lines of the fullest stack. All stacks sample the same lines, so the others add no information. */
static uint64_t most_lines(const struct gt_reuse *reuse)
{
	uint64_t most = 0;

	for (size_t i = 0; i < reuse->n_stacks; i++)
		if (reuse->stacks[i].live > most)
			most = reuse->stacks[i].live;
	return most;
}

double gt_reuse_expected_error(const struct gt_reuse *reuse)
{
	uint64_t most = most_lines(reuse), lines = most > reuse->profile.lines ? most : reuse->profile.lines;

	if (reuse->every == 1 || reuse->profile.all.references == 0)
		return 0;
	return 2 * sqrt((1 - 1 / (double)reuse->every) / (double)(lines ? lines : 1));
}

static void empty(struct gt_reuse *reuse)
{
	/* The maximum, not the sum: kernels share most of their lines, and sample the same ones. */
	if (most_lines(reuse) > reuse->profile.lines)
		reuse->profile.lines = most_lines(reuse);
	for (size_t i = 0; i < reuse->n_stacks; i++)
		gt_stack_close(&reuse->stacks[i]);
	for (size_t i = 0; i < reuse->n_stacks && i < GT_REUSE_GATHERED; i++)
		reuse->gathered[i].n = 0;
	reuse->n_stacks = 0;
	reuse->live = 0;
	gt_map_clear(&reuse->index);
	memset(reuse->direct, 0, GT_REUSE_DIRECT * sizeof *reuse->direct);
}

void gt_reuse_close(struct gt_reuse *reuse)
{
	gt_reuse_team_close(reuse->team);
	if (reuse->index.slots)
		empty(reuse);
	for (size_t i = 0; reuse->gathered && i < GT_REUSE_GATHERED; i++)
		free(reuse->gathered[i].units);
	free(reuse->gathered);
	free(reuse->distances);
	gt_map_close(&reuse->index);
	gt_profile_close(&reuse->profile);
	free(reuse->stacks);
	free(reuse->references);
	free(reuse->direct);
	*reuse = (struct gt_reuse){0};
}

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
		if (gt_profile_add(&reuse->profile, &referrer, distance, reuse->every, error) != 0)
			return -1;
		if (options->watch && options->watch(options->watch_context, rows, now->row, now->unit,
						     distance, error) != 0)
			return -1;
	}
	if (options->sample_lines > 0)
		thin(reuse);
	return 0;
}

int gt_reuse_flush(struct gt_reuse *reuse, struct gt_error *error)
{
	if (gt_reuse_settle(reuse, error) != 0)
		return -1;
	empty(reuse);
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
		if (gt_profile_pass(&reuse->profile, &referrer, error) != 0)
			return -1;
	}
	*n = kept;
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

int gt_reuse_rows(struct gt_reuse *reuse, const struct gt_rows *rows, struct gt_error *error)
{
	const struct gt_unit *unit = &reuse->options.unit;
	enum gt_reuse_per per = reuse->options.per;
	size_t n = 0;

	if (check(reuse, rows, error) != 0)
		return -1;
	reuse->timed |= rows->has_status;
	reuse->by_sm = rows->scheduled && (per == GT_PER_SM || per == GT_PER_SM_IF_SCHEDULED);
	if (gt_reuse_plain(reuse, rows))
		return gt_reuse_gather_rows(reuse, rows, error);
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
			if (gt_reuse_find(reuse, gt_reuse_group(reuse, rows, i), units[j], &stack, error) != 0)
				return -1;
			if (!reuse->gathers)
				reuse->references[n++] = (struct gt_reference){units[j], gt_stack_hash(units[j]), (uint32_t)i, stack};
			else if (gt_reuse_gather(reuse, stack, units[j], error) != 0)
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
