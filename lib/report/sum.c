/* SPDX-License-Identifier: MIT */
#include "report/sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"

#define FEW 64 /* counters that are searched linearly; with more there is an index */

void gt_report_kernel_clear(struct gt_report_kernel *kernel)
{
	for (size_t i = 0; i < kernel->n; i++) {
		struct gt_report_stage *stage = &kernel->stages[i];
		for (size_t j = 0; j < stage->n; j++) {
			free(stage->counters[j].value.array);
			free(stage->counters[j].value.text);
		}
		free(stage->counters);
		gt_map_close(&stage->index);
	}
	free(kernel->stages);
	gt_kernel_clear(&kernel->kernel);
	*kernel = (struct gt_report_kernel){0};
}

struct gt_report_stage *gt_report_new_stage(struct gt_report_kernel *kernel, const char *plain, unsigned occurrence,
					 struct gt_error *error)
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

static int copy_entry(struct gt_count_entry *to, const struct gt_count_entry *from, struct gt_error *error)
{
	*to = *from;
	to->array = NULL;
	to->text = NULL;
	if (from->kind == GT_COUNT_ARRAY && from->n > 0) {
		to->array = malloc(from->n * sizeof *to->array);
		if (!to->array)
			return gt_fail_memory(error, "the report");
		memcpy(to->array, from->array, from->n * sizeof *to->array);
	}
	if (from->kind == GT_COUNT_TEXT) {
		to->text = malloc(strlen(from->text) + 1);
		if (!to->text)
			return gt_fail_memory(error, "the report");
		memcpy(to->text, from->text, strlen(from->text) + 1);
	}
	return 0;
}

static bool same(const struct gt_count_entry *a, const struct gt_count_entry *b)
{
	switch (a->kind) {
	case GT_COUNT_NUMBER:
		return a->number == b->number;
	case GT_COUNT_ARRAY:
		return a->n == b->n && (a->n == 0 || memcmp(a->array, b->array, a->n * sizeof *a->array) == 0);
	case GT_COUNT_TEXT:
		return strcmp(a->text, b->text) == 0;
	}
	return false;
}

static bool add_number(uint64_t *to, uint64_t more)
{
	*to += more;
	return *to >= more;
}

static int add_array(struct gt_count_entry *to, const struct gt_count_entry *from, bool *fits, struct gt_error *error)
{
	if (from->n > to->n) {
		uint64_t *bigger = gt_resized(to->array, from->n, sizeof *bigger);
		if (!bigger)
			return gt_fail_memory(error, "the report");
		memset(bigger + to->n, 0, (from->n - to->n) * sizeof *bigger);
		to->array = bigger;
		to->n = from->n;
	}
	for (size_t i = 0; i < from->n; i++)
		*fits = add_number(&to->array[i], from->array[i]) && *fits;
	return 0;
}

/* Adds a counter to the one of the same name. */
static int merge(struct gt_report_counter *to, const struct gt_count_entry *from, const char *stage,
		 struct gt_error *error)
{
	bool fits = true;

	if (to->differs)
		return 0;
	if (to->value.kind != from->kind || gt_counter_is_setting(to->about) || from->kind == GT_COUNT_TEXT) {
		to->differs = to->value.kind != from->kind || !same(&to->value, from);
		return 0;
	}
	if (from->kind == GT_COUNT_NUMBER)
		fits = add_number(&to->value.number, from->number);
	else if (add_array(&to->value, from, &fits, error) != 0)
		return -1;
	return fits ? 0 : gt_fail(error, "stage %s, counter %s: the total does not fit 64 bits", stage, from->name);
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

/* Puts the last counter into the index, which is built once there are more than FEW. */
static int index_last(struct gt_report_stage *stage, struct gt_error *error)
{
	int fresh;

	if (stage->n <= FEW)
		return 0;
	if (!stage->index.slots && gt_map_open(&stage->index, 2 * FEW, error) != 0)
		return -1;
	for (size_t i = stage->n == FEW + 1 ? 0 : stage->n - 1; i < stage->n; i++)
		if (!gt_map_put(&stage->index, key_of(stage, stage->counters[i].value.name), i, &fresh))
			return gt_fail_memory(error, "the report");
	return 0;
}

static struct gt_report_counter *counter_of(const struct gt_report_stage *stage, const char *name, size_t hint)
{
	if (hint < stage->n && strcmp(stage->counters[hint].value.name, name) == 0)
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

int gt_report_add_entry(struct gt_report_stage *stage, const struct gt_count_entry *entry, bool differs, size_t hint,
		     struct gt_error *error)
{
	struct gt_report_counter *counter = counter_of(stage, entry->name, hint);

	if (counter && differs)
		counter->differs = true;
	if (counter)
		return merge(counter, entry, stage->name, error);
	if (stage->n == GT_REPORT_COUNTERS_MAX)
		return gt_fail(error, "stage %s: expected at most %d counters", stage->name, GT_REPORT_COUNTERS_MAX);
	struct gt_report_counter *bigger = gt_grown(stage->counters, stage->n, &stage->capacity, sizeof *bigger);
	if (!bigger)
		return gt_fail_memory(error, "the report");
	stage->counters = bigger;
	counter = &bigger[stage->n++];
	*counter = (struct gt_report_counter){.about = gt_counter_about(stage->plain, entry->name), .differs = differs};
	if (copy_entry(&counter->value, entry, error) != 0)
		return -1;
	return index_last(stage, error);
}

/* Notes a launch's value of a number that is summed. */
static void note_launch(struct gt_report_counter *sum, const struct gt_report_counter *from)
{
	uint64_t value = from->value.number;

	if (from->value.kind != GT_COUNT_NUMBER)
		return;
	sum->least = sum->launches == 0 || value < sum->least ? value : sum->least;
	sum->largest = value > sum->largest ? value : sum->largest;
	sum->launches++;
}

int gt_report_sum(struct gt_report_kernel *total, const struct gt_report_kernel *kernel, struct gt_error *error)
{
	for (size_t i = 0; i < kernel->n; i++) {
		const struct gt_report_stage *from = &kernel->stages[i];
		struct gt_report_stage *to = NULL;
		for (size_t j = 0; j < total->n && !to; j++)
			if (strcmp(total->stages[j].name, from->name) == 0)
				to = &total->stages[j];
		if (!to) {
			to = gt_report_new_stage(total, from->plain, 1, error);
			if (!to)
				return -1;
			memcpy(to->name, from->name, sizeof to->name);
		}
		for (size_t j = 0; j < from->n; j++) {
			if (gt_report_add_entry(to, &from->counters[j].value, from->counters[j].differs, j, error) != 0)
				return -1;
			note_launch(counter_of(to, from->counters[j].value.name, j), &from->counters[j]);
		}
	}
	return 0;
}

const struct gt_report_stage *gt_report_find_stage(const struct gt_report_kernel *kernel, const char *name)
{
	for (size_t i = 0; i < kernel->n; i++)
		if (strcmp(kernel->stages[i].name, name) == 0)
			return &kernel->stages[i];
	return NULL;
}

bool gt_report_number(const struct gt_report_stage *stage, const char *name, uint64_t *value)
{
	const struct gt_report_counter *counter = counter_of(stage, name, 0);

	if (!counter || counter->differs || counter->value.kind != GT_COUNT_NUMBER)
		return false;
	*value = counter->value.number;
	return true;
}

static const struct gt_count_entry *agreed(const struct gt_report_stage *stage, const char *name)
{
	const struct gt_report_counter *counter = counter_of(stage, name, 0);

	return counter && !counter->differs ? &counter->value : NULL;
}

const char *gt_report_word(const struct gt_report_stage *stage, const char *name)
{
	const struct gt_count_entry *entry = agreed(stage, name);

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

	*sources = (struct gt_sources){0};
	if (!stage || !agreed(stage, "pcs") || !agreed(stage, "lines") || !agreed(stage, "files") || !agreed(stage, "names"))
		return 0;
	return gt_sources_set(sources, agreed(stage, "pcs"), agreed(stage, "lines"), agreed(stage, "files"), agreed(stage, "names"), error);
}
