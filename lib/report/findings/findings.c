/* SPDX-License-Identifier: MIT */
/* Findings of each kernel: its traffic, its accesses grouped by source line, what each kind finds there, and the order by what would be gained. */
#include "report/findings/findings.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/grown.h"
#include "base/map.h"
#include "base/options.h"
#include "base/utf8.h"
#include "report/findings/kind.h"
#include "stream/rows.h"

/* ---- the traffic of a kernel ---- */

static bool sum_of(const struct gt_report_stage *stage, const char *const names[], uint64_t *sum)
{
	bool any = false;

	for (*sum = 0; stage && *names; names++) {
		uint64_t number;
		if (!gt_report_number(stage, *names, &number))
			continue;
		*sum += number;
		any = true;
	}
	return any;
}

static const struct gt_report_stage *stage_of(const struct gt_report_kernel *kernel, const char *name)
{
	return gt_report_find_stage(kernel, name);
}

static struct gt_traffic traffic_of(const struct gt_report_kernel *kernel, const struct gt_site_rows *rows)
{
	static const char *const looked_up[] = {"load_sectors", "store_sectors", "atomic_sectors", NULL};
	static const char *const sent[] = {"sent_reads", "sent_writes", "sent_atomics", NULL};
	static const char *const launched[] = {"launch_reads", NULL};
	static const char *const moved[] = {"reads", "writes", NULL};
	const struct gt_report_stage *coalesce = stage_of(kernel, "coalesce"), *dram = stage_of(kernel, "dram");
	struct gt_traffic traffic = {.by_site = false};
	uint64_t launch_reads;

	traffic.known[GT_TO_L1] = sum_of(coalesce, looked_up, &traffic.sectors[GT_TO_L1]);
	traffic.known[GT_TO_L2] = sum_of(stage_of(kernel, "l1"), sent, &traffic.sectors[GT_TO_L2]);
	if (traffic.known[GT_TO_L2] && sum_of(stage_of(kernel, "l2"), launched, &launch_reads))
		traffic.sectors[GT_TO_L2] += launch_reads;
	traffic.known[GT_TO_DRAM] = dram ? sum_of(dram, moved, &traffic.sectors[GT_TO_DRAM]) : sum_of(stage_of(kernel, "l2"), sent, &traffic.sectors[GT_TO_DRAM]);
	traffic.by_site = coalesce && gt_report_number(coalesce, "unique_bytes", &traffic.unique);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->rows[i].access.sectors > 0)
			traffic.asked += rows->rows[i].access.bytes;
	return traffic;
}

void gt_findings_weights(const struct gt_gpu *gpu, double weights[GT_BOUNDARIES])
{
	static const char *const keys[GT_BOUNDARIES] = {"l1.hit_cycles", "l2.hit_cycles", "l2.miss_cycles"};

	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		struct gt_error absent;
		const char *text = gt_gpu_get(gpu, keys[i]);
		if (!text || gt_parse_real(text, 1, 1e9, &weights[i], &absent) != 0) {
			for (i = 0; i < GT_BOUNDARIES; i++)
				weights[i] = 1;
			return;
		}
	}
}

/* ---- groups ---- */

struct groups {
	struct gt_group *groups;
	size_t n, capacity;
	struct gt_map index; /* from a hash to a group */
	struct gt_map last[GT_SAMENESSES]; /* from a hash to the last group that is the same as the first */
};

static bool begins_with(const char *text, const char *beginning)
{
	return text && strncmp(text, beginning, strlen(beginning)) == 0;
}

/* A trace that tells no instructions apart has loads and stores at one place, which are "several": what levels count of its loads is what matters. */
static enum gt_group_action action_of(const char *op)
{
	if (begins_with(op, "load") || strcmp(op, "several") == 0)
		return GT_GROUP_LOADS;
	return begins_with(op, "store") ? GT_GROUP_STORES : GT_GROUP_ATOMICS;
}

static struct gt_group group_like(const struct gt_site_row *row)
{
	const char *op = row->op ? row->op : "load";
	bool named = strcmp(row->array, "-") != 0;

	return (struct gt_group){.place = row->place,
				 .action = action_of(op),
				 .shared = strstr(op, ".shared") != NULL, .local = strstr(op, ".local") != NULL, .stride = row->stride,
				 .arrays = {{named ? row->array : NULL, 0}}, .n_arrays = named ? 1 : 0};
}

static bool same_line(const struct gt_group *a, const struct gt_group *b)
{
	return a->action == b->action && a->shared == b->shared && a->local == b->local && strcmp(a->place, b->place) == 0;
}

static bool same_array(const struct gt_group *a, const struct gt_group *b)
{
	return a->n_arrays == b->n_arrays && (a->n_arrays == 0 || strcmp(a->arrays[0].name, b->arrays[0].name) == 0);
}

static bool is_same(enum gt_sameness same, const struct gt_group *a, const struct gt_group *b)
{
	if (same == GT_SAME_ARRAY && (a->n_arrays > 0 || b->n_arrays > 0))
		return same_array(a, b);
	return same == GT_SAME_SHARED_LINE && a->shared && b->shared ? strcmp(a->place, b->place) == 0 : same_line(a, b);
}

static uint64_t hash_of_array(const char *array)
{
	return XXH3_64bits_withSeed(array, strlen(array), 1);
}

static uint64_t hash_of_line(const struct gt_group *group)
{
	return XXH3_64bits_withSeed(group->place, strlen(group->place), 2 + (4 * (uint64_t)group->action | (uint64_t)group->shared << 1 | group->local));
}

static uint64_t hash_of(enum gt_sameness same, const struct gt_group *group)
{
	if (same == GT_SAME_ARRAY && group->n_arrays > 0)
		return hash_of_array(group->arrays[0].name);
	return same == GT_SAME_SHARED_LINE && group->shared ? hash_of_array(group->place) : hash_of_line(group);
}

static uint64_t next_key(uint64_t key)
{
	return key + 1 == GT_MAP_EMPTY ? 0 : key + 1;
}

/* Puts the last group behind those that are the same. */
static int link_group(struct groups *groups, enum gt_sameness same)
{
	const size_t at = groups->n - 1;
	struct gt_group *group = &groups->groups[at];
	uint64_t key = hash_of(same, group), *last;
	int fresh;

	key -= key == GT_MAP_EMPTY;
	while ((last = gt_map_put(&groups->last[same], key, at, &fresh)) && !fresh && !is_same(same, &groups->groups[*last], group))
		key = next_key(key);
	if (!last)
		return -1;
	group->first[same] = fresh ? at : groups->groups[*last].first[same];
	group->next[same] = GT_LAST_GROUP;
	if (!fresh)
		groups->groups[*last].next[same] = at;
	*last = at;
	return 0;
}

static size_t of_array(const void *groups_of, const char *array)
{
	const struct groups *groups = groups_of;
	uint64_t key = hash_of_array(array);
	const uint64_t *last;

	key -= key == GT_MAP_EMPTY;
	for (; (last = gt_map_get(&groups->last[GT_SAME_ARRAY], key)); key = next_key(key)) {
		const struct gt_group *group = &groups->groups[*last];
		if (group->n_arrays > 0 && strcmp(group->arrays[0].name, array) == 0)
			return group->first[GT_SAME_ARRAY];
	}
	return GT_LAST_GROUP;
}

static struct gt_group *add_group(struct groups *groups, const struct gt_group *like)
{
	struct gt_group *bigger = gt_grown(groups->groups, groups->n, &groups->capacity, sizeof *bigger);

	if (!bigger)
		return NULL;
	groups->groups = bigger;
	bigger[groups->n++] = *like;
	for (int same = 0; same < GT_SAMENESSES; same++)
		if (link_group(groups, (enum gt_sameness)same) != 0)
			return NULL;
	return &bigger[groups->n - 1];
}

/* The group of a site, which may be new; NULL when memory is short. */
static struct gt_group *group_of(struct groups *groups, const struct gt_site_row *row)
{
	struct gt_group like = group_like(row);
	uint64_t key = hash_of_line(&like) ^ (like.n_arrays ? hash_of_array(like.arrays[0].name) : 0), *place;
	int fresh;

	key -= key == GT_MAP_EMPTY;
	while ((place = gt_map_put(&groups->index, key, groups->n, &fresh)) && !fresh &&
	       !(same_line(&groups->groups[*place], &like) && same_array(&groups->groups[*place], &like)))
		key = next_key(key);
	return !place ? NULL : fresh ? add_group(groups, &like) : &groups->groups[*place];
}

/* A level counts lookups by its own sectors, which are longer than those of requests in some GPUs, and what it sends by those of requests, as findings
 * do. */
static void add_level(struct gt_group *group, size_t at, const struct gt_site_level *level, uint64_t sectors)
{
	struct gt_site_level scaled = *level;
	uint64_t *counts = (uint64_t *)&scaled;

	for (size_t i = 0; i < offsetof(struct gt_site_level, distance) / sizeof *counts; i++)
		counts[i] *= sectors;
	scaled.sent_reads = level->sent_reads;
	scaled.partial_reads = level->partial_reads;
	gt_counters_add(&group->level[at], &scaled, offsetof(struct gt_site_level, distance));
	for (size_t k = 0; k < level->distances && k < GT_DISTANCE_BINS; k++)
		group->distance[at][k] += sectors * level->distance[k];
}

static void add_row(struct gt_group *group, const struct gt_site_row *row, const uint64_t sectors[GT_SITE_LEVELS])
{
	gt_counters_add(&group->access, &row->access, sizeof row->access);
	for (size_t i = 0; i < GT_SITE_LEVELS; i++)
		add_level(group, i, &row->level[i], sectors[i]);
	if (group->stride && (!row->stride || strcmp(group->stride, row->stride) != 0))
		group->stride = NULL;
	group->arrays[0].sectors += group->shared ? row->access.passes : row->access.sectors;
}

static uint64_t sectors_of(const struct gt_report_kernel *kernel, const char *level)
{
	const struct gt_report_stage *stage = stage_of(kernel, level);
	uint64_t bytes = GT_SECTOR;

	if (stage)
		gt_report_number(stage, "sector", &bytes);
	return bytes / GT_SECTOR;
}

static int make_groups(struct groups *groups, const struct gt_site_rows *rows, struct gt_error *error)
{
	const uint64_t sectors[GT_SITE_LEVELS] = {[GT_SITE_L1] = sectors_of(rows->kernel, "l1"), [GT_SITE_L2] = sectors_of(rows->kernel, "l2")};

	if (gt_map_open(&groups->index, 0, error) != 0)
		return -1;
	for (int same = 0; same < GT_SAMENESSES; same++)
		if (gt_map_open(&groups->last[same], 0, error) != 0)
			return -1;
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_group *group = group_of(groups, &rows->rows[i]);
		if (!group)
			return gt_fail_memory(error, "findings");
		add_row(group, &rows->rows[i], sectors);
	}
	return 0;
}

/* ---- the findings of a kernel ---- */

static struct gt_level_facts facts_of(const struct gt_report_kernel *kernel, const char *level, const struct groups *groups, size_t at)
{
	struct gt_level_facts facts = {.stage = stage_of(kernel, level), .line = 128, .instances = 1};
	uint64_t compulsory;
	bool by_site = false;

	if (!facts.stage)
		return facts;
	gt_report_number(facts.stage, "reads", &facts.reads);
	gt_report_number(facts.stage, "read_hits", &facts.read_hits);
	gt_report_number(facts.stage, "size", &facts.size);
	gt_report_number(facts.stage, "line", &facts.line);
	gt_report_number(facts.stage, "instances", &facts.instances);
	for (size_t i = 0; i < groups->n && !by_site; i++)
		by_site = groups->groups[i].level[at].reads > 0;
	facts.caused = facts.reads == facts.read_hits || (by_site && gt_report_number(facts.stage, "compulsory", &compulsory));
	return facts;
}

/* What is gained at a boundary is bounded by what crosses it. Of a gain of at most so much, half counts: it may be anything from 0 up. */
static void measure(struct gt_finding *finding, const struct gt_traffic *traffic, const double weights[GT_BOUNDARIES])
{
	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		struct gt_gain *gain = &finding->gain[i];
		if (!traffic->known[i] || traffic->sectors[i] == 0)
			gain->sectors = 0;
		if (gain->sectors > traffic->sectors[i])
			gain->sectors = traffic->sectors[i];
		if (gain->sectors == 0) {
			gain->basis = GT_GAIN_NONE;
			continue;
		}
		double share = (double)gain->sectors / (double)traffic->sectors[i];
		finding->share = share > finding->share ? share : finding->share;
		finding->cost += weights[i] * (double)gain->sectors * (gain->basis == GT_GAIN_BOUNDED ? 0.5 : 1);
	}
	finding->cost += weights[GT_TO_L1] * (double)finding->passes + weights[GT_TO_DRAM] * (double)finding->beyond_mean;
}

static int by_cost(const void *left, const void *right)
{
	const struct gt_finding *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	int kinds = strcmp(a->kind->id, b->kind->id);
	int places = kinds ? kinds : strcmp(a->place, b->place);
	return places ? places : strcmp(a->arrays, b->arrays);
}

static int find_all(struct gt_kernel_findings *to, const struct gt_site_rows *rows, const struct groups *groups, const double weights[GT_BOUNDARIES], struct gt_error *error)
{
	struct gt_finding_input input = {.kernel = to->kernel, .traffic = &to->traffic, .groups = groups->groups, .n = groups->n, .of_array = of_array,
					   .groups_of = groups, .to = to, .error = error};

	to->traffic = traffic_of(to->kernel, rows);
	for (size_t i = 0; i < GT_BOUNDARIES; i++)
		to->cost += weights[i] * (double)to->traffic.sectors[i];
	input.level[GT_SITE_L1] = facts_of(to->kernel, "l1", groups, GT_SITE_L1);
	input.level[GT_SITE_L2] = facts_of(to->kernel, "l2", groups, GT_SITE_L2);
	for (size_t i = 0; i < GT_SITE_LEVELS; i++)
		to->caused[i] = input.level[i].caused;
	for (size_t i = 0; i < gt_finding_kinds_n; i++)
		if (gt_finding_finders[i](&input, gt_finding_kinds[i]) != 0)
			return -1;
	for (size_t i = 0; i < to->n; i++) {
		struct gt_finding *finding = &to->findings[i];
		measure(finding, &to->traffic, weights);
		gt_utf8_printable(finding->place);
		gt_utf8_printable(finding->arrays);
		gt_utf8_printable(finding->text);
	}
	if (to->n > 1)
		qsort(to->findings, to->n, sizeof *to->findings, by_cost);
	return 0;
}

static int find_kernel(struct gt_kernel_findings *to, const double weights[GT_BOUNDARIES], struct gt_error *error)
{
	struct gt_site_rows rows;
	struct groups groups = {.n = 0};
	int result = gt_site_rows_gather(&rows, to->kernel, error);

	if (result == 0)
		result = make_groups(&groups, &rows, error);
	if (result == 0)
		result = find_all(to, &rows, &groups, weights, error);
	free(groups.groups);
	gt_map_close(&groups.index);
	for (size_t i = 0; i < GT_SAMENESSES; i++)
		gt_map_close(&groups.last[i]);
	gt_site_rows_clear(&rows);
	return result;
}

int gt_findings_open(struct gt_kernel_findings **findings, const struct gt_report *report, const struct gt_gpu *gpu, struct gt_error *error)
{
	double weights[GT_BOUNDARIES];
	struct gt_kernel_findings *all = calloc(report->n + 1, sizeof *all);

	*findings = all;
	if (!all)
		return gt_fail_memory(error, "findings");
	gt_findings_weights(gpu, weights);
	for (size_t i = 0; i < report->n; i++) {
		all[i].kernel = &report->kernels[i];
		if (find_kernel(&all[i], weights, error) != 0)
			return -1;
	}
	return 0;
}

void gt_findings_close(struct gt_kernel_findings *findings, const struct gt_report *report)
{
	for (size_t i = 0; findings && i < report->n; i++)
		free(findings[i].findings);
	free(findings);
}
