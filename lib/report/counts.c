/* SPDX-License-Identifier: MIT */
/* The counts of a kernel (report/counts.h). A stage has its counters in the order in which they came, and an index of their names once
 * there are many. */
#include "report/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"

#define FEW 64 /* counters that are searched linearly; with more there is an index */

/* ---- stages and counters ---- */

static void clear_value(struct gt_report_value *value)
{
	if (value->kind == GT_COUNT_ARRAY)
		free(value->array);
	else if (value->kind == GT_COUNT_TEXT)
		free(value->text);
}

void gt_report_kernel_clear(struct gt_report_kernel *kernel)
{
	for (size_t i = 0; i < kernel->n; i++) {
		struct gt_report_stage *stage = &kernel->stages[i];
		for (size_t j = 0; j < stage->n; j++)
			clear_value(&stage->counters[j].value);
		free(stage->counters);
		free(stage->spreads);
		gt_map_close(&stage->index);
	}
	free(kernel->stages);
	gt_kernel_clear(&kernel->kernel);
	*kernel = (struct gt_report_kernel){0};
}

/* Adds a stage to a kernel, as the occurrence of that name, from 1. NULL on error. */
struct gt_report_stage *gt_report_new_stage(struct gt_report_kernel *kernel, const char *plain, unsigned occurrence, struct gt_error *error)
{
	if (kernel->n == GT_REPORT_STAGES_MAX) {
		gt_fail(error, "kernel %" PRIu64 ": expected at most %d stages", kernel->kernel.id,
			GT_REPORT_STAGES_MAX);
		return NULL;
	}
	struct gt_report_stage *bigger = gt_grown(kernel->stages, kernel->n, &kernel->capacity, sizeof *bigger);
	if (!bigger) {
		gt_fail_memory(error, "the report");
		return NULL;
	}
	kernel->stages = bigger;
	struct gt_report_stage *stage = &bigger[kernel->n++];
	*stage = (struct gt_report_stage){0};
	snprintf(stage->plain, sizeof stage->plain, "%s", plain);
	snprintf(stage->name, sizeof stage->name, occurrence > 1 ? "%s#%u" : "%s", stage->plain, occurrence);
	return stage;
}

static int copy_value(struct gt_report_value *to, const struct gt_report_value *from, struct gt_error *error)
{
	struct gt_report_value copy = *from;

	if (from->kind == GT_COUNT_ARRAY) {
		copy.array = malloc((from->n + !from->n) * sizeof *copy.array);
		if (!copy.array)
			return gt_fail_memory(error, "the report");
		if (from->n > 0)
			memcpy(copy.array, from->array, from->n * sizeof *copy.array);
	}
	if (from->kind == GT_COUNT_TEXT && !(copy.text = strdup(from->text)))
		return gt_fail_memory(error, "the report");
	*to = copy;
	return 0;
}

/* The key of a name in the index: its hash, or the next key if another name has that hash. */
static uint64_t key_of(const struct gt_report_stage *stage, const char *name)
{
	uint64_t key = XXH3_64bits(name, strlen(name));
	const uint64_t *place;

	key -= key == GT_MAP_EMPTY;
	while ((place = gt_map_get(&stage->index, key)) && strcmp(stage->counters[*place].value.name, name) != 0)
		key = key + 1 == GT_MAP_EMPTY ? 0 : key + 1;
	return key;
}

/* Puts the last counter into the index of the stage, or all if it has none yet and needs one. */
static int index_last(struct gt_report_stage *stage, struct gt_error *error)
{
	int fresh;

	if (stage->n <= FEW)
		return 0;
	const size_t first = stage->index.slots ? stage->n - 1 : 0;
	if (!stage->index.slots && gt_map_open(&stage->index, stage->n, error) != 0)
		return -1;
	for (size_t i = first; i < stage->n; i++)
		if (!gt_map_put(&stage->index, key_of(stage, stage->counters[i].value.name), i, &fresh))
			return gt_fail_memory(error, "the report");
	return 0;
}

struct gt_report_counter *gt_report_find_counter(const struct gt_report_stage *stage, const char *name, size_t hint)
{
	/* Names of a report are the same where they are equal. */
	if (hint < stage->n && (stage->counters[hint].value.name == name || strcmp(stage->counters[hint].value.name, name) == 0))
		return &stage->counters[hint];
	if (stage->index.slots) {
		const uint64_t *place = gt_map_get(&stage->index, key_of(stage, name));
		return place ? &stage->counters[*place] : NULL;
	}
	for (size_t i = 0; i < stage->n; i++)
		if (strcmp(stage->counters[i].value.name, name) == 0)
			return &stage->counters[i];
	return NULL;
}

/* The name must last as long as the report. */
struct gt_report_counter *gt_report_new_counter(struct gt_report_stage *stage, const struct gt_report_value *value, const struct gt_counter *about,
						bool differs, struct gt_error *error)
{
	struct gt_report_counter *bigger = stage->n == GT_REPORT_COUNTERS_MAX ? NULL : gt_grown(stage->counters, stage->n, &stage->capacity, sizeof *bigger);

	if (!bigger) {
		if (stage->n == GT_REPORT_COUNTERS_MAX)
			gt_fail(error, "stage %s: expected at most %d counters", stage->name, GT_REPORT_COUNTERS_MAX);
		else
			gt_fail_memory(error, "the report");
		return NULL;
	}
	stage->counters = bigger;
	struct gt_report_counter *counter = &bigger[stage->n++];
	*counter = (struct gt_report_counter){.about = about, .differs = differs};
	return copy_value(&counter->value, value, error) == 0 && index_last(stage, error) == 0 ? counter : NULL;
}

const struct gt_report_spread *gt_report_spread_of(const struct gt_report_stage *stage, const struct gt_report_counter *counter)
{
	size_t i = (size_t)(counter - stage->counters);

	return i < stage->spreads_n ? &stage->spreads[i] : NULL;
}

struct gt_report_spread *gt_report_spread_to(struct gt_report_stage *stage, const struct gt_report_counter *counter, struct gt_error *error)
{
	if (stage->spreads_n < stage->n) {
		struct gt_report_spread *grown = gt_resized(stage->spreads, stage->capacity, sizeof *grown);
		if (!grown) {
			gt_fail_memory(error, "the report");
			return NULL;
		}
		memset(grown + stage->spreads_n, 0, (stage->capacity - stage->spreads_n) * sizeof *grown);
		stage->spreads = grown;
		stage->spreads_n = stage->capacity;
	}
	return &stage->spreads[counter - stage->counters];
}

/* ---- what is counted ---- */

const struct gt_report_stage *gt_report_find_stage(const struct gt_report_kernel *kernel, const char *name)
{
	for (size_t i = 0; i < kernel->n; i++)
		if (strcmp(kernel->stages[i].name, name) == 0)
			return &kernel->stages[i];
	return NULL;
}

bool gt_report_number(const struct gt_report_stage *stage, const char *name, uint64_t *value)
{
	const struct gt_report_counter *counter = gt_report_find_counter(stage, name, 0);

	if (!counter || counter->differs || counter->value.kind != GT_COUNT_NUMBER)
		return false;
	*value = counter->value.number;
	return true;
}

static const struct gt_report_value *agreed(const struct gt_report_stage *stage, const char *name)
{
	const struct gt_report_counter *counter = gt_report_find_counter(stage, name, 0);

	return counter && !counter->differs ? &counter->value : NULL;
}

/* The same as a record has it, which stays the report's. */
static bool as_entry(const struct gt_report_stage *stage, const char *name, struct gt_count_entry *entry)
{
	const struct gt_report_value *value = agreed(stage, name);

	if (!value)
		return false;
	*entry = (struct gt_count_entry){.kind = value->kind, .n = value->n};
	if (value->kind == GT_COUNT_ARRAY)
		entry->array = value->array;
	else if (value->kind == GT_COUNT_TEXT)
		entry->text = value->text;
	return true;
}

const char *gt_report_word(const struct gt_report_stage *stage, const char *name)
{
	const struct gt_report_value *entry = agreed(stage, name);

	return entry && entry->kind == GT_COUNT_TEXT ? entry->text : NULL;
}

enum gt_traffic_kind gt_report_traffic(const struct gt_report_stage *stage, const char *name, size_t length)
{
	static const char *const actions[] = {"load.", "store.", "atomic.", "reduction."}, *const lists[] = {"loads", "stores", "atomics"};
	static const enum gt_traffic_kind kinds[] = {GT_TRAFFIC_LOADS, GT_TRAFFIC_STORES, GT_TRAFFIC_ATOMICS, GT_TRAFFIC_ATOMICS};
	const char *op = NULL, *ops = gt_report_word(stage, "ops");
	char counter[GT_COUNT_NAME];

	if ((size_t)snprintf(counter, sizeof counter, "%.*s.op", (int)length, name) < sizeof counter)
		op = gt_report_word(stage, counter);
	for (size_t i = 0; i < 3 && !op && ops; i++)
		if (strcmp(ops, lists[i]) == 0)
			return kinds[i];
	op = op ? op : name; /* a class of grd --by op is an operation */
	for (size_t i = 0; i < 4; i++)
		if (strncmp(op, actions[i], strlen(actions[i])) == 0)
			return kinds[i];
	return GT_TRAFFIC_MIXED;
}

int gt_report_sources(const struct gt_report_kernel *kernel, struct gt_sources *sources, struct gt_error *error)
{
	const struct gt_report_stage *stage = gt_report_find_stage(kernel, GT_SOURCES_STAGE);

	struct gt_count_entry pcs, lines, files, names;

	*sources = (struct gt_sources){0};
	if (!stage || !as_entry(stage, "pcs", &pcs) || !as_entry(stage, "lines", &lines) || !as_entry(stage, "files", &files) ||
	    !as_entry(stage, "names", &names))
		return 0;
	return gt_sources_set(sources, &pcs, &lines, &files, &names, error);
}

bool gt_report_class(const char *counter, size_t *length)
{
	const char *dot = strrchr(counter, '.');

	*length = dot ? (size_t)(dot - counter) : 0;
	return dot && dot != counter;
}
