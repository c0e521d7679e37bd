/* SPDX-License-Identifier: MIT */
/* The counters of all stages. */
#include "counter/counter.h"

#include <string.h>

#include "counter/tables.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define ROW(KIND, NAME, UNIT, PRINT, DEFINITION) {#NAME, UNIT, GT_COUNTER_##KIND, GT_PRINT_##PRINT, DEFINITION},
#define TABLE(NAME, STAGE, ...)                            \
	static const struct gt_counter NAME[] = {__VA_ARGS__}; \
	const struct gt_counters gt_counters_##NAME = {STAGE, NAME, LENGTH(NAME)};

TABLE(order, "order", GT_ORDER_COUNTERS(ROW) GT_PASSED_COUNTERS(ROW))
TABLE(ptx, "ptx", GT_PTX_COUNTERS(ROW))
TABLE(allocations, "allocations", GT_ALLOCATIONS_COUNTERS(ROW))
TABLE(shared, "shared", GT_SHARED_ARRAYS_COUNTERS(ROW))
TABLE(copies, "copies", GT_COPIES_COUNTERS(ROW))
TABLE(idle, "idle", GT_IDLE_COUNTERS(ROW))
TABLE(untraced, "untraced", GT_UNTRACED_COUNTERS(ROW))
TABLE(source, "source", GT_SOURCE_COUNTERS(ROW))
TABLE(coalesce, "coalesce", GT_COALESCE_COUNTERS(ROW))
TABLE(unique, "coalesce", GT_UNIQUE_COUNTERS(ROW))
TABLE(part, "part", GT_PART_COUNTERS(ROW))
TABLE(sample, "sample", GT_SAMPLE_COUNTERS(ROW))
TABLE(schedule, "schedule", GT_SCHEDULE_COUNTERS(ROW))
TABLE(dram, "dram", GT_DRAM_COUNTERS(ROW))
TABLE(level, NULL, GT_LEVEL_COUNTERS(ROW))
TABLE(hints, NULL, GT_HINT_COUNTERS(ROW))
TABLE(bypass, NULL, GT_BYPASS_COUNTERS(ROW))
TABLE(fetch, NULL, GT_FETCH_COUNTERS(ROW))
TABLE(pair, NULL, GT_PAIR_COUNTERS(ROW))
TABLE(between, NULL, GT_BETWEEN_COUNTERS(ROW))
TABLE(found_dirty, NULL, GT_FOUND_COUNTERS(ROW))
TABLE(clean, NULL, GT_CLEAN_COUNTERS(ROW))
TABLE(constants, NULL, GT_CONSTANT_COUNTERS(ROW))
TABLE(gpc_constants, NULL, GT_GPC_CONSTANT_COUNTERS(ROW))
TABLE(launch_reads, NULL, GT_LAUNCH_COUNTERS(ROW))
TABLE(coalescer, NULL, GT_COALESCER_COUNTERS(ROW))
TABLE(combine, NULL, GT_COMBINE_COUNTERS(ROW))
TABLE(l2_partitions, NULL, GT_HALVES_COUNTERS(ROW))
TABLE(causes, NULL, GT_CAUSE_COUNTERS(ROW))
TABLE(shape, NULL, GT_SHAPE_COUNTERS(ROW))
TABLE(timed, NULL, GT_TIMED_COUNTERS(ROW))
TABLE(reuse, NULL, GT_REUSE_COUNTERS(ROW))
TABLE(site_access, NULL, GT_SITE_ACCESS_COUNTERS(ROW))
TABLE(site_level, NULL, GT_SITE_SERVED_COUNTERS(ROW))

static const struct gt_counters *const tables[] = {
	&gt_counters_order,    &gt_counters_ptx,  &gt_counters_allocations, &gt_counters_shared, &gt_counters_copies, &gt_counters_idle, &gt_counters_untraced, &gt_counters_source,
	&gt_counters_coalesce, &gt_counters_unique,   &gt_counters_part, &gt_counters_sample, &gt_counters_schedule, &gt_counters_dram,    &gt_counters_level,
	&gt_counters_hints,    &gt_counters_bypass,   &gt_counters_fetch,    &gt_counters_pair, &gt_counters_between, &gt_counters_found_dirty, &gt_counters_clean, &gt_counters_constants, &gt_counters_gpc_constants, &gt_counters_launch_reads, &gt_counters_coalescer, &gt_counters_combine, &gt_counters_l2_partitions,
	&gt_counters_shape,    &gt_counters_timed,    &gt_counters_reuse,
	&gt_counters_site_access, &gt_counters_site_level, &gt_counters_causes,
};

static const struct gt_counter *find(const struct gt_counters *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	return NULL;
}

/* The causes of misses have the same names where levels count sectors and where grd counts references. */
static bool is_level(const char *stage)
{
	static const char *const levels[] = {"l1", "l2", "texture", "readonly"};

	for (size_t i = 0; i < LENGTH(levels); i++)
		if (strcmp(stage, levels[i]) == 0)
			return true;
	return false;
}

static const struct gt_counter *of_stage(const char *stage, const char *name)
{
	const struct gt_counter *found = is_level(stage) ? find(&gt_counters_causes, name) : NULL;
	bool known = false;

	for (size_t i = 0; i < LENGTH(tables) && !found; i++)
		if (tables[i]->stage && strcmp(tables[i]->stage, stage) == 0) {
			known = true;
			found = find(tables[i], name);
		}
	for (size_t i = 0; i < LENGTH(tables) && !found; i++)
		if (!tables[i]->stage)
			found = find(tables[i], name);
	/* In an unknown stage, a counter of a known name is taken to mean the same. */
	for (size_t i = 0; i < LENGTH(tables) && !found && !known; i++)
		found = find(tables[i], name);
	return found;
}

/* The row of a counter of a site, "0x1a0 in.sectors"; NULL of others. */
static const struct gt_counter *of_site(const char *stage, const char *name)
{
	const char *dot = strrchr(name, '.');
	const struct gt_counters *table = strcmp(stage, "coalesce") == 0 ? &gt_counters_site_access : &gt_counters_site_level;

	return dot && strncmp(name, "0x", 2) == 0 && memchr(name, ' ', (size_t)(dot - name)) ? find(table, dot + 1) : NULL;
}

const struct gt_counter *gt_counter_about(const char *stage, const char *name)
{
	static const struct gt_counter unknown = {NULL, NULL, GT_COUNTER_COUNT, GT_PRINT_NUMBER, NULL};
	const struct gt_counter *of_one = of_site(stage, name), *found = of_one ? of_one : of_stage(stage, name);
	const char *class = strrchr(name, '.');

	if (found)
		return found;
	return class ? gt_counter_about(stage, class + 1) : &unknown;
}
