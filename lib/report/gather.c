/* SPDX-License-Identifier: MIT */
/* The counts of a report. A record of a stage's counts is added to that stage of its kernel; a stage has its counters in the
 * order in which they came, and an index of their names once there are many. Kernels are added up into the total, and those of
 * one name into one, stage by stage: numbers and arrays are sums, settings and words stay if all agree. */
#include "report/gather.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "stream/kernel_name.h"

/* ---- kernels ---- */

/* Kernel i, to be changed: valid until another one is asked for, but for the one before it. NULL on error. */
static struct gt_report_kernel *kernel_at(struct gt_report *report, size_t i, struct gt_error *error)
{
	return report->packed ? gt_packed_at(report->packed, i, error) : &report->kernels[i];
}

/* A kernel behind the others. NULL on error. */
static struct gt_report_kernel *new_kernel(struct gt_report *report, uint64_t id, struct gt_error *error)
{
	struct gt_report_kernel *kernel;

	if (report->packed) {
		kernel = gt_packed_at(report->packed, report->n, error);
	} else {
		struct gt_report_kernel *bigger = gt_grown(report->kernels, report->n, &report->capacity, sizeof *bigger);
		if (!bigger)
			gt_fail_memory(error, "the report");
		report->kernels = bigger ? bigger : report->kernels;
		kernel = bigger ? &bigger[report->n] : NULL;
	}
	if (!kernel)
		return NULL;
	report->n++;
	*kernel = (struct gt_report_kernel){.chosen = !report->choose};
	kernel->kernel.id = id;
	return kernel;
}

int gt_report_pack(struct gt_report *report, struct gt_error *error)
{
	report->packed = gt_packed_open(error);
	report->kernels = calloc(1, sizeof *report->kernels);
	if (report->packed && !report->kernels)
		gt_fail_memory(error, "the report");
	return report->packed && report->kernels ? 0 : -1;
}

/* ---- stages and counters ---- */

/* What a record has, which stays its own. */
static struct gt_report_value value_of(const struct gt_count_entry *entry)
{
	struct gt_report_value value = {.name = entry->name, .kind = entry->kind, .n = entry->n};

	switch (entry->kind) {
	case GT_COUNT_NUMBER: value.number = entry->number; break;
	case GT_COUNT_ARRAY: value.array = entry->array; break;
	case GT_COUNT_TEXT: value.text = entry->text; break;
	}
	return value;
}

static bool same(const struct gt_report_value *a, const struct gt_report_value *b)
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

static int add_array(struct gt_report_value *to, const struct gt_report_value *from, bool *fits, struct gt_error *error)
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
static int merge(struct gt_report_counter *to, const struct gt_report_value *from, const char *stage,
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

/* Adds a value to a stage: to which counter, or NULL on error. Stages mostly have the same counters in the same order, so its number is a
 * hint. */
static struct gt_report_counter *add_value(struct gt_report_stage *stage, const struct gt_report_value *value, bool differs, size_t hint,
					   struct gt_error *error)
{
	struct gt_report_counter *counter = gt_report_find_counter(stage, value->name, hint);

	if (!counter)
		return gt_report_new_counter(stage, value, gt_counter_about(stage->plain, value->name), differs, error);
	counter->differs |= differs;
	return merge(counter, value, stage->name, error) == 0 ? counter : NULL;
}

/* The stage of the kernel before kernel i in the report that has the same place and name as stage `at` of this one: its counters are mostly
 * the same. NULL if there is none at hand. */
static const struct gt_report_stage *stage_before(const struct gt_report *report, size_t i, size_t at, const char *plain)
{
	const struct gt_report_kernel *before = i == 0 ? NULL : report->packed ? gt_packed_whole(report->packed, i - 1) : &report->kernels[i - 1];

	return before && at < before->n && strcmp(before->stages[at].plain, plain) == 0 ? &before->stages[at] : NULL;
}

/* The same of entry number `hint` of a record, whose name may be new; `before` may be NULL. */
static struct gt_report_counter *add_entry(struct gt_report *report, struct gt_report_stage *stage, const struct gt_report_stage *before,
					   const struct gt_count_entry *entry, size_t hint, struct gt_error *error)
{
	struct gt_report_counter *counter = stage->n > 0 ? gt_report_find_counter(stage, entry->name, hint) : NULL;
	struct gt_report_value value = value_of(entry);
	uint64_t number;

	if (counter)
		return merge(counter, &value, stage->name, error) == 0 ? counter : NULL;
	if (before && stage->n < before->n && strcmp(before->counters[stage->n].value.name, entry->name) == 0) {
		value.name = before->counters[stage->n].value.name;
		return gt_report_new_counter(stage, &value, before->counters[stage->n].about, false, error);
	}
	if (gt_names_number(&report->counter_names, entry->name, &number, error) != 0)
		return NULL;
	value.name = report->counter_names.names[number];
	return gt_report_new_counter(stage, &value, gt_counter_about(stage->plain, value.name), false, error);
}

/* Adds the first entries of a record to a stage that has none yet, as long as they are those of the stage before: then no name is twice.
 * Returns how many, or -1. */
static ptrdiff_t add_alike(struct gt_report_stage *stage, const struct gt_report_stage *before, const struct gt_count *count, struct gt_error *error)
{
	size_t i = 0;

	if (!before || stage->n > 0)
		return 0;
	struct gt_report_counter *counters = gt_grown_to(stage->counters, before->n, &stage->capacity, sizeof *counters);
	if (counters)
		stage->counters = counters; /* else it grows as it can */
	for (; i < count->n && i < before->n && strcmp(before->counters[i].value.name, count->entries[i].name) == 0; i++) {
		struct gt_report_value value = value_of(&count->entries[i]);
		value.name = before->counters[i].value.name;
		if (!gt_report_new_counter(stage, &value, before->counters[i].about, false, error))
			return -1;
	}
	return (ptrdiff_t)i;
}

/* ---- what counters have in several launches ---- */

static void note_values(struct gt_report_spread *sum, uint64_t least, uint64_t largest, uint64_t launches)
{
	sum->least = sum->launches == 0 || least < sum->least ? least : sum->least;
	sum->largest = largest > sum->largest ? largest : sum->largest;
	sum->launches += launches;
}

/* Notes what a counter has in the launches that it sums up, or in a launch that counts for so many. */
static int note_launches(struct gt_report_stage *stage, const struct gt_report_counter *sum, const struct gt_report_stage *from,
			 const struct gt_report_counter *counter, uint64_t launches, struct gt_error *error)
{
	const struct gt_report_spread *spread = gt_report_spread_of(from, counter);

	if (counter->value.kind != GT_COUNT_NUMBER)
		return 0;
	struct gt_report_spread *to = gt_report_spread_to(stage, sum, error);
	if (!to)
		return -1;
	if (spread && spread->launches > 0)
		note_values(to, spread->least, spread->largest, spread->launches);
	else
		note_values(to, counter->value.number / launches, counter->value.number / launches, launches);
	return 0;
}

/* Adds the counters of a kernel, stage by stage. */
static int add_kernel(struct gt_report_kernel *total, const struct gt_report_kernel *kernel, struct gt_error *error)
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
			const struct gt_report_counter *counter = &from->counters[j], *sum = add_value(to, &counter->value, counter->differs, j, error);
			/* The total of all kernels has no spreads: they are of launches of a name. */
			if (!sum || (total->merged > 0 && note_launches(to, sum, from, counter, gt_report_launches(kernel), error) != 0))
				return -1;
		}
	}
	return 0;
}

/* ---- the events of a stream ---- */

int gt_report_begin(struct gt_report *report, const char *kernel_regex, struct gt_error *error)
{
	struct gt_error inner;

	*report = (struct gt_report){0};
	if (kernel_regex && !(report->choose = gt_regex_open(kernel_regex, &inner)))
		return gt_fail(error, "'%s': expected a Perl-compatible regular expression (%.300s)", kernel_regex,
			       inner.text);
	return gt_map_open(&report->index, 0, error) == 0 ? gt_names_open(&report->counter_names, error) : -1;
}

void gt_report_clear(struct gt_report *report)
{
	for (size_t i = 0; report->kernels && i < (report->packed ? 1 : report->n); i++)
		gt_report_kernel_clear(&report->kernels[i]);
	gt_report_kernel_clear(&report->total);
	free(report->kernels);
	gt_packed_close(report->packed);
	free(report->launched);
	gt_map_close(&report->index);
	gt_map_close(&report->names);
	gt_names_close(&report->counter_names);
	gt_regex_close(report->choose);
	gt_unmatched_clear(&report->unmatched);
	*report = (struct gt_report){0};
}

/* 1 if the filter keeps this kernel, 0 if not, -1 on error. */
static int chosen(struct gt_report *report, const char *name, struct gt_error *error)
{
	struct gt_error inner;
	char words[GT_KERNEL_NAME];

	if (!report->choose)
		return 1;
	int found = gt_unmatched_match(&report->unmatched, report->choose, name, gt_name_words(name, words), &inner);
	if (found < 0)
		return gt_fail(error, "kernel '%s': cannot match the kernel filter: %.500s", name, inner.text);
	return found;
}

/* The number of a launch, `next` if it is new, which *fresh says. NULL on error. */
static uint64_t *number_of(struct gt_report *report, uint64_t id, uint64_t next, int *fresh, struct gt_error *error)
{
	uint64_t *place = id == GT_MAP_EMPTY ? NULL : gt_map_put(&report->index, id, next, fresh);

	if (id == GT_MAP_EMPTY)
		gt_fail(error, "kernel %" PRIu64 ": expected a smaller id", id);
	else if (!place)
		gt_fail_memory(error, "the report");
	return place;
}

/* The kernel of that id, created if it is new, and its number. NULL on error. */
static struct gt_report_kernel *kernel_of(struct gt_report *report, uint64_t id, size_t *number, struct gt_error *error)
{
	int fresh;
	const uint64_t *place = number_of(report, id, report->n, &fresh, error);

	if (!place)
		return NULL;
	*number = (size_t)*place;
	return fresh ? new_kernel(report, id, error) : kernel_at(report, *number, error);
}

static int announce(struct gt_report *report, const struct gt_kernel *from, struct gt_error *error);
static int add_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error);

int gt_report_add_kernel(struct gt_report *report, const struct gt_kernel *from, struct gt_error *error)
{
	size_t number;
	struct gt_report_kernel *kernel = report->adds ? NULL : kernel_of(report, from->id, &number, error);

	if (report->adds)
		return announce(report, from, error);
	if (!kernel)
		return -1;
	kernel->launches++;
	if (kernel->announced)
		return 0;
	int keep = chosen(report, from->name, error);
	if (keep < 0)
		return -1;
	kernel->chosen = keep;
	kernel->announced = true;
	return gt_kernel_copy(&kernel->kernel, from, error);
}

void gt_report_gpu(struct gt_report *report, const struct gt_gpu *gpu)
{
	const char *name = gt_gpu_get(gpu, "name"), *capability = gt_gpu_get(gpu, "compute_capability");

	snprintf(report->gpu, sizeof report->gpu, "%s", name ? name : "");
	snprintf(report->capability, sizeof report->capability, "%s", capability ? capability : "");
}

/* The stage of a count with this name: the first of that name that has not counted in this launch. */
static struct gt_report_stage *stage_of(struct gt_report_kernel *kernel, const char *plain, uint64_t launch, struct gt_error *error)
{
	unsigned occurrence = 1;

	for (size_t i = 0; i < kernel->n; i++) {
		struct gt_report_stage *stage = &kernel->stages[i];
		if (strcmp(stage->plain, plain) != 0)
			continue;
		if (stage->launch != launch)
			return stage;
		occurrence++;
	}
	return gt_report_new_stage(kernel, plain, occurrence, error);
}

int gt_report_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error)
{
	size_t number;
	struct gt_report_kernel *kernel = report->adds ? NULL : kernel_of(report, count->kernel, &number, error);

	if (report->adds)
		return add_count(report, count, error);
	if (!kernel)
		return -1;
	/* Counts without a launch belong to one unknown launch. */
	if (kernel->launches == 0)
		kernel->launches = 1;
	struct gt_report_stage *stage = stage_of(kernel, count->stage, kernel->launches, error);
	if (!stage)
		return -1;
	stage->launch = kernel->launches;
	const struct gt_report_stage *before = stage_before(report, number, (size_t)(stage - kernel->stages), stage->plain);
	const ptrdiff_t alike = add_alike(stage, before, count, error);
	for (size_t i = (size_t)alike; alike >= 0 && i < count->n; i++)
		if (!add_entry(report, stage, before, &count->entries[i], i, error))
			return -1;
	return alike < 0 ? -1 : 0;
}

/* ---- the counts of a part, scaled to the whole ---- */

#define BLOCKS_MAX (UINT64_C(1) << 32) /* of a grid */
#define PART_MAX (UINT64_C(1) << 62) /* so that twice a remainder fits 64 bits */

/* part * factor / divisor, rounded, of which no product fits 64 bits; part < divisor <= PART_MAX. */
static uint64_t scale_remainder(uint64_t part, uint64_t factor, uint64_t divisor)
{
	uint64_t quotient = 0, rest = 0;

	for (int bit = 63; bit >= 0; bit--) {
		rest = 2 * rest + (factor >> bit & 1 ? part : 0);
		quotient = 2 * quotient + rest / divisor;
		rest %= divisor;
	}
	return quotient + (rest >= divisor - divisor / 2);
}

/* number * whole / part, rounded; 0 < part <= PART_MAX. False if it does not fit 64 bits. */
static bool scale_number(uint64_t *number, uint64_t whole, uint64_t part)
{
	uint64_t times = *number / part, more = scale_remainder(*number % part, whole, part);

	if (whole > 0 && times > (UINT64_MAX - more) / whole)
		return false;
	*number = times * whole + more;
	return true;
}

static bool scale_counter(struct gt_report_value *value, uint64_t whole, uint64_t part)
{
	bool fits = true;

	if (value->kind == GT_COUNT_NUMBER)
		return scale_number(&value->number, whole, part);
	for (size_t i = 0; value->kind == GT_COUNT_ARRAY && i < value->n; i++)
		fits = scale_number(&value->array[i], whole, part) && fits;
	return fits;
}

/* Settings stay as they are. */
static int scale_stage(const struct gt_report_kernel *kernel, struct gt_report_stage *stage, uint64_t whole, uint64_t part, struct gt_error *error)
{
	for (size_t i = 0; i < stage->n; i++) {
		struct gt_report_counter *counter = &stage->counters[i];
		if (!gt_counter_is_setting(counter->about) && !scale_counter(&counter->value, whole, part))
			return gt_fail(error, "kernel %" PRIu64 ", stage %s, counter %s: the scaled number does not fit 64 bits", kernel->kernel.id,
				       stage->name, counter->value.name);
	}
	return 0;
}

static int scale_kernel(struct gt_report_kernel *kernel, struct gt_error *error)
{
	const struct gt_report_stage *schedule = gt_report_find_stage(kernel, "schedule");
	uint64_t id = kernel->kernel.id, blocks, modelled;

	if (!schedule || !gt_report_number(schedule, "blocks", &blocks) ||
	    !gt_report_number(schedule, "modelled_blocks", &modelled))
		return gt_fail(error, "kernel %" PRIu64 ": expected counts of gschedule, to scale by blocks / modelled_blocks", id);
	if (blocks == 0 || modelled == 0 || modelled > blocks || blocks > BLOCKS_MAX)
		return gt_fail(error, "kernel %" PRIu64 ": cannot scale from %" PRIu64 " modelled blocks to %" PRIu64, id, modelled, blocks);
	/* gsample, too, counts at the end of the stream, but whole launches. */
	for (size_t i = (size_t)(schedule - kernel->stages) + 1; i < kernel->n; i++)
		if (strcmp(kernel->stages[i].name, gt_counters_sample.stage) != 0 &&
		    scale_stage(kernel, &kernel->stages[i], blocks, modelled, error) != 0)
			return -1;
	return 0;
}

int gt_report_scale(struct gt_report *report, struct gt_error *error)
{
	report->scales = report->packed;
	for (size_t i = 0; i < report->n && !report->packed; i++)
		if (report->kernels[i].chosen && scale_kernel(&report->kernels[i], error) != 0)
			return -1;
	return 0;
}

/* ---- launches that stand for others ---- */

static int weigh_kernel(struct gt_report_kernel *kernel, struct gt_error *error)
{
	const struct gt_report_stage *sample = gt_report_find_stage(kernel, gt_counters_sample.stage);
	uint64_t sectors = 0, modelled = 0;

	if (!sample || kernel->stands_for > 0)
		return 0;
	if (!gt_report_number(sample, "launches", &kernel->stands_for) || !gt_report_number(sample, "sectors", &sectors) ||
	    !gt_report_number(sample, "modelled_sectors", &modelled) || kernel->stands_for == 0 || modelled > sectors || modelled > PART_MAX)
		return gt_fail(error, "kernel %" PRIu64 ": stage sample: expected its launches, and their sectors", kernel->kernel.id);
	/* Launches without sectors are all alike. */
	for (size_t i = 0; i < kernel->n; i++)
		if (&kernel->stages[i] != sample &&
		    scale_stage(kernel, &kernel->stages[i], modelled ? sectors : kernel->stands_for, modelled ? modelled : 1, error) != 0)
			return -1;
	return 0;
}

/* ---- the total, and the launches of a name together ---- */

static void note_last_launches(struct gt_report_kernel *kernel);

/* What is left to do with the counts of a kernel that is chosen, once all have come. */
static int complete(const struct gt_report *report, struct gt_report_kernel *kernel, struct gt_error *error)
{
	if (kernel->complete)
		return 0;
	kernel->complete = true;
	if (report->adds)
		note_last_launches(kernel);
	if (report->scales && scale_kernel(kernel, error) != 0)
		return -1;
	return weigh_kernel(kernel, error);
}

/* Kernel i, complete if it is chosen; one that is packed is completed each time that it is read. NULL on error. */
static struct gt_report_kernel *read_kernel(const struct gt_report *report, size_t i, struct gt_error *error)
{
	struct gt_report_kernel *kernel = report->packed ? gt_packed_read(report->packed, i, report->kernels, error) : &report->kernels[i];

	return kernel && kernel->chosen && complete(report, kernel, error) != 0 ? NULL : kernel;
}

const struct gt_report_kernel *gt_report_read(const struct gt_report *report, size_t i, struct gt_error *error)
{
	return report->packed ? read_kernel(report, i, error) : &report->kernels[i];
}

/* Adds kernel i to the total, if it is chosen; then it is number `kept`, and that is raised. */
static int finish_kernel(struct gt_report *report, size_t i, size_t *kept, struct gt_error *error)
{
	struct gt_report_kernel *kernel = read_kernel(report, i, error);

	if (!kernel)
		return -1;
	if (!kernel->chosen) {
		gt_report_kernel_clear(kernel);
		return 0;
	}
	if (add_kernel(&report->total, kernel, error) != 0)
		return -1;
	report->launches += gt_report_launches(kernel);
	if (report->packed) {
		gt_packed_move(report->packed, i, *kept);
	} else if (*kept != i) {
		report->kernels[*kept] = *kernel;
		*kernel = (struct gt_report_kernel){0};
	}
	(*kept)++;
	return 0;
}

int gt_report_finish(struct gt_report *report, struct gt_error *error)
{
	size_t kept = 0;

	if (gt_unmatched_check(&report->unmatched, report->choose, error) != 0)
		return -1;
	report->launches = 0;
	for (size_t i = 0; i < report->n; i++)
		if (finish_kernel(report, i, &kept, error) != 0)
			return -1;
	report->n = kept;
	return 0;
}

void gt_report_drop_total(struct gt_report *report)
{
	gt_report_kernel_clear(&report->total);
}

/* Where the sum of the launches of that name is, or will be: the number of a kernel, `next` if it is new. NULL on error. */
static uint64_t *group_of(struct gt_report *report, struct gt_map *index, const char *name, size_t next, int *fresh, struct gt_error *error)
{
	uint64_t key = XXH3_64bits(name, strlen(name));

	for (;; key++) {
		key = key == GT_MAP_EMPTY ? 0 : key;
		uint64_t *place = gt_map_put(index, key, next, fresh);
		const struct gt_report_kernel *kernel = place && !*fresh ? kernel_at(report, (size_t)*place, error) : NULL;
		if (!place)
			gt_fail_memory(error, "the report");
		if (!place || *fresh || (kernel && strcmp(kernel->kernel.name, name) == 0))
			return place;
		if (!kernel)
			return NULL;
	}
}

/* Notes in what a launch differs from the first of its name. */
static void note_shape(struct gt_report_kernel *sum, const struct gt_kernel *next)
{
	const struct gt_kernel *first = &sum->kernel;

	sum->grid_differs |= memcmp(first->grid, next->grid, sizeof first->grid) != 0;
	sum->block_differs |= memcmp(first->block, next->block, sizeof first->block) != 0;
	sum->registers_differ |= first->registers != next->registers;
	sum->shared_differs |= first->shared_bytes != next->shared_bytes;
}

/* Adds a launch to the sum of those of its name. The first one is moved there as it is. */
static int add_launch(struct gt_report_kernel *sum, struct gt_report_kernel *launch, struct gt_error *error)
{
	if (sum->merged == 0) {
		struct gt_report_kernel one = *launch;
		*launch = (struct gt_report_kernel){0};
		*sum = (struct gt_report_kernel){.kernel = one.kernel, .announced = one.announced, .chosen = true, .merged = gt_report_launches(&one)};
		one.kernel = (struct gt_kernel){0};
		int result = add_kernel(sum, &one, error);
		gt_report_kernel_clear(&one);
		return result;
	}
	sum->merged += gt_report_launches(launch);
	note_shape(sum, &launch->kernel);
	return add_kernel(sum, launch, error);
}

int gt_report_by_name(struct gt_report *report, struct gt_error *error)
{
	if (report->adds)
		return 0;
	struct gt_report_kernel *groups = calloc(report->n + 1, sizeof *groups);
	struct gt_report sums = {.kernels = groups};
	struct gt_map index = {0};
	size_t n = 0;
	int result = groups ? gt_map_open(&index, 0, error) : gt_fail_memory(error, "the report");

	for (size_t i = 0; i < report->n && result == 0; i++) {
		struct gt_report_kernel *launch = &report->kernels[i];
		int fresh = 1;
		uint64_t unnamed = n, *place = &unnamed;
		if (launch->announced && launch->kernel.name[0])
			place = group_of(&sums, &index, launch->kernel.name, n, &fresh, error);
		n += place && fresh;
		result = place ? add_launch(&groups[*place], launch, error) : -1;
		gt_report_kernel_clear(launch);
	}
	gt_map_close(&index);
	free(report->kernels);
	report->kernels = groups;
	report->n = groups ? n : 0;
	report->capacity = report->n;
	report->by_name = true;
	return result;
}

/* ---- launches that are added to those of their name as they come ---- */

#define LEFT_OUT SIZE_MAX /* a launch whose name the filter does not choose */
#define UNKNOWN (SIZE_MAX - 1) /* one of which nothing has come yet */

int gt_report_add_by_name(struct gt_report *report, struct gt_error *error)
{
	report->adds = report->by_name = true;
	return gt_map_open(&report->names, 0, error);
}

static struct gt_report_launched *launched_of(struct gt_report *report, uint64_t id, struct gt_error *error)
{
	int fresh;
	/* Records of a launch mostly follow each other. */
	if (report->launched_n > 0 && report->last_id == id)
		return &report->launched[report->last];
	const uint64_t *place = number_of(report, id, report->launched_n, &fresh, error);
	if (!place)
		return NULL;
	report->last_id = id;
	report->last = (size_t)*place;
	if (!fresh)
		return &report->launched[*place];
	struct gt_report_launched *grown = gt_grown(report->launched, report->launched_n, &report->launched_capacity, sizeof *grown);
	if (!grown) {
		gt_fail_memory(error, "the report");
		return NULL;
	}
	report->launched = grown;
	grown[report->launched_n] = (struct gt_report_launched){.kernel = UNKNOWN};
	return &grown[report->launched_n++];
}

/* A kernel for one launch, to which others may be added. */
static int open_kernel(struct gt_report *report, struct gt_report_launched *launched, const struct gt_kernel *from, struct gt_error *error)
{
	struct gt_report_kernel *kernel = new_kernel(report, from->id, error);

	if (!kernel)
		return -1;
	kernel->merged = 1;
	kernel->first = (size_t)(launched - report->launched) + 1;
	kernel->chosen = kernel->announced = true;
	launched->kernel = report->n - 1;
	return gt_kernel_copy(&kernel->kernel, from, error);
}

/* Finds the kernel of a launch that is announced for the first time. */
static int place_launch(struct gt_report *report, struct gt_report_launched *launched, const struct gt_kernel *from, struct gt_error *error)
{
	int keep = chosen(report, from->name, error), fresh = 1;
	const uint64_t *place = NULL;

	if (keep <= 0) {
		launched->kernel = LEFT_OUT;
		return keep;
	}
	if (from->name[0] && !(place = group_of(report, &report->names, from->name, report->n, &fresh, error)))
		return -1;
	if (fresh)
		return open_kernel(report, launched, from, error);
	launched->kernel = (size_t)*place;
	struct gt_report_kernel *sum = kernel_at(report, launched->kernel, error);
	if (!sum)
		return -1;
	sum->merged++;
	note_shape(sum, from);
	return 0;
}

/* Counts of a launch that had not been announced: it gets its kernel, too. */
static int name_launch(struct gt_report *report, struct gt_report_launched *launched, const struct gt_kernel *from, struct gt_error *error)
{
	struct gt_report_kernel *counted = kernel_at(report, launched->kernel, error), *sum, moved;

	if (!counted)
		return -1;
	moved = *counted;
	*counted = (struct gt_report_kernel){0}; /* not chosen */
	gt_kernel_clear(&moved.kernel);
	int result = place_launch(report, launched, from, error);
	if (result == 0 && launched->kernel != LEFT_OUT)
		result = (sum = kernel_at(report, launched->kernel, error)) ? add_kernel(sum, &moved, error) : -1;
	gt_report_kernel_clear(&moved);
	return result;
}

static int announce(struct gt_report *report, const struct gt_kernel *from, struct gt_error *error)
{
	struct gt_report_launched *launched = launched_of(report, from->id, error);

	if (!launched)
		return -1;
	launched->announcement = ++report->announcements;
	if (launched->kernel == UNKNOWN)
		return place_launch(report, launched, from, error);
	if (launched->kernel == LEFT_OUT)
		return 0;
	const struct gt_report_kernel *kernel = kernel_at(report, launched->kernel, error);
	if (!kernel)
		return -1;
	return kernel->announced ? 0 : name_launch(report, launched, from, error);
}

/* Notes what the last launch with the counter has there. */
static void note_last(struct gt_report_spread *spread)
{
	if (spread->last > 0)
		note_values(spread, spread->of_last, spread->of_last, 1);
	spread->last = 0;
	spread->of_last = 0;
}

static void note_last_launches(struct gt_report_kernel *kernel)
{
	for (size_t i = 0; i < kernel->n; i++)
		for (size_t j = 0; j < kernel->stages[i].spreads_n; j++)
			note_last(&kernel->stages[i].spreads[j]);
}

/* Before another launch counts in a stage, that the first did. */
static int begin_spreads(struct gt_report_stage *stage, size_t first, struct gt_error *error)
{
	for (size_t i = 0; i < stage->n; i++) {
		struct gt_report_spread *spread = gt_report_spread_to(stage, &stage->counters[i], error);
		if (!spread)
			return -1;
		if (stage->counters[i].value.kind == GT_COUNT_NUMBER)
			*spread = (struct gt_report_spread){.last = first, .of_last = stage->counters[i].value.number};
	}
	return 0;
}

/* Whether an entry is of the same name as a counter that is a sum, to which it was added. */
static bool added(struct gt_report_counter *counter, const struct gt_count_entry *entry)
{
	if (counter->differs || counter->value.kind != GT_COUNT_NUMBER || entry->kind != GT_COUNT_NUMBER || gt_counter_is_setting(counter->about) ||
	    entry->number > UINT64_MAX - counter->value.number || strcmp(counter->value.name, entry->name) != 0)
		return false;
	counter->value.number += entry->number;
	return true;
}

/* Notes what a launch of that number, and 1, has of a counter. */
static int note_of_launch(struct gt_report_stage *stage, const struct gt_report_counter *counter, uint64_t value, size_t number, struct gt_error *error)
{
	struct gt_report_spread *spread = gt_report_spread_to(stage, counter, error);

	if (!spread)
		return -1;
	if (spread->last != number)
		note_last(spread);
	spread->last = number;
	spread->of_last += value;
	return 0;
}

/* Adds the entries of the counts of a launch, whose number is that and 1, to a stage; `before` is stage_before. */
static int add_of_launch(struct gt_report *report, const struct gt_report_kernel *kernel, struct gt_report_stage *stage,
			 const struct gt_report_stage *before, const struct gt_count *count, size_t number, struct gt_error *error)
{
	const ptrdiff_t alike = kernel->merged > 1 ? 0 : add_alike(stage, before, count, error);

	for (size_t i = (size_t)alike; alike >= 0 && i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		const struct gt_report_counter *counter = i < stage->n && added(&stage->counters[i], entry) ? &stage->counters[i]
														: add_entry(report, stage, before, entry, i, error);
		if (!counter || (kernel->merged > 1 && entry->kind == GT_COUNT_NUMBER && note_of_launch(stage, counter, entry->number, number, error) != 0))
			return -1;
	}
	return alike < 0 ? -1 : 0;
}

/* A kernel for counts of a launch that has not been announced. */
static int open_unknown(struct gt_report *report, struct gt_report_launched *launched, uint64_t id, struct gt_error *error)
{
	struct gt_report_kernel *kernel = new_kernel(report, id, error);

	if (!kernel)
		return -1;
	kernel->merged = 1;
	kernel->first = (size_t)(launched - report->launched) + 1;
	launched->kernel = report->n - 1;
	launched->announcement = ++report->announcements;
	return 0;
}

static int add_count(struct gt_report *report, const struct gt_count *count, struct gt_error *error)
{
	struct gt_report_launched *launched = launched_of(report, count->kernel, error);

	if (!launched)
		return -1;
	if (strcmp(count->stage, gt_counters_sample.stage) == 0)
		return gt_fail(error, "stage sample: expected gsample in the history of the stream");
	if (launched->kernel == UNKNOWN && open_unknown(report, launched, count->kernel, error) != 0)
		return -1;
	if (launched->kernel == LEFT_OUT)
		return 0;
	struct gt_report_kernel *kernel = kernel_at(report, launched->kernel, error);
	struct gt_report_stage *stage = kernel ? stage_of(kernel, count->stage, launched->announcement, error) : NULL;
	const size_t number = (size_t)(launched - report->launched) + 1;
	if (!stage || (kernel->merged > 1 && !stage->spreads && begin_spreads(stage, kernel->first, error) != 0))
		return -1;
	stage->launch = launched->announcement;
	const struct gt_report_stage *before = stage_before(report, launched->kernel, (size_t)(stage - kernel->stages), stage->plain);
	return add_of_launch(report, kernel, stage, before, count, number, error);
}
