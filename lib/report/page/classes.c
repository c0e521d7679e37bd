/* SPDX-License-Identifier: MIT */
#include "report/page/classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "report/page/page.h"

const char *const gt_causes[GT_CAUSES] = {"compulsory", "capacity", "conflict"};

bool gt_class_number(const struct gt_class *class, const char *counter, uint64_t *value)
{
	char name[GT_COUNT_NAME];

	return (size_t)snprintf(name, sizeof name, "%.*s.%s", (int)class->length, class->name, counter) < sizeof name &&
	       gt_report_number(class->stage, name, value);
}

const char *gt_class_word(const struct gt_class *class, const char *what)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.%s", (int)class->length, class->name, what);
	return gt_report_word(class->stage, name);
}

static bool is_caused(const struct gt_class *class)
{
	uint64_t value;

	return gt_class_number(class, gt_causes[0], &value) || gt_class_number(class, gt_causes[1], &value);
}

/* The misses of a class: by cause; else what does not hit; else its references, which are the misses of a level before. */
static uint64_t misses_of(const struct gt_class *class, bool *caused)
{
	uint64_t references = 0, hits, value, misses = 0;

	for (size_t i = 0; i < GT_CAUSES; i++)
		if (gt_class_number(class, gt_causes[i], &value)) {
			misses += value;
			*caused = true;
		}
	gt_class_number(class, "references", &references);
	if (*caused)
		return misses;
	return gt_class_number(class, "hits", &hits) && hits <= references ? references - hits : references;
}

static int by_misses(const void *left, const void *right)
{
	const struct gt_class *a = left, *b = right;

	if (a->misses != b->misses)
		return a->misses < b->misses ? 1 : -1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The level whose misses reach a stage: the last before it that sends requests on, or NULL. */
static const char *behind(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage)
{
	const char *level = NULL;
	uint64_t sent;

	for (const struct gt_report_stage *at = kernel->stages; at < stage; at++)
		if (gt_report_number(at, "sent_requests", &sent))
			level = at->name;
	return level;
}

/* The class of a counter. False if it counts no class's references. */
static bool class_of(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		     const struct gt_count_entry *entry, struct gt_class *class)
{
	*class = (struct gt_class){.kernel = kernel, .stage = stage, .name = entry->name};
	return entry->kind == GT_COUNT_NUMBER && gt_report_class(entry->name, &class->length) &&
	       strcmp(entry->name + class->length, ".references") == 0;
}

static int gather_kernel(struct gt_classes *classes, const struct gt_report_kernel *kernel, const char *name, struct gt_error *error)
{
	const struct gt_report_stage *stage = gt_report_find_stage(kernel, name);
	struct gt_class class;

	for (size_t i = 0; stage && i < stage->n; i++) {
		const char *level;
		if (!class_of(kernel, stage, &stage->counters[i].value, &class))
			continue;
		level = is_caused(&class) ? NULL : behind(kernel, stage);
		if (classes->traffic != (level ? gt_report_traffic(stage, class.name, class.length) : GT_TRAFFIC_MIXED))
			continue;
		struct gt_class *bigger = gt_grown(classes->classes, classes->n, &classes->capacity, sizeof *bigger);
		if (!bigger)
			return gt_fail_memory(error, "the page");
		class.misses = misses_of(&class, &classes->caused);
		classes->misses += class.misses;
		classes->behind = classes->behind ? classes->behind : level;
		classes->classes = bigger;
		bigger[classes->n++] = class;
	}
	return 0;
}

bool gt_classes_in(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage)
{
	struct gt_class class;

	for (size_t i = 0; i < stage->n; i++)
		if (class_of(kernel, stage, &stage->counters[i].value, &class))
			return true;
	return false;
}

/* The file and line of a class: as it is told, or for an instruction as the trace has it. */
static int find_line(struct gt_class *class, struct gt_error *error)
{
	const char *told = gt_class_word(class, "source");
	struct gt_sources sources = {0};

	if (told)
		snprintf(class->line, sizeof class->line, "%s", told);
	if (told || strncmp(class->name, "0x", 2) != 0)
		return 0;
	int result = gt_report_sources(class->kernel, &sources, error);
	const struct gt_source *source = result == 0 ? gt_sources_find(&sources, strtoull(class->name, NULL, 16)) : NULL;
	if (source)
		gt_source_format(source, class->line);
	gt_sources_clear(&sources);
	return result;
}

int gt_classes_gather(struct gt_classes *classes, const struct gt_report *report, const char *stage, enum gt_traffic_kind traffic,
		      size_t lines, struct gt_error *error)
{
	classes->traffic = traffic;
	for (size_t i = 0; i < report->n; i++)
		if (gather_kernel(classes, &report->kernels[i], stage, error) != 0)
			return -1;
	if (classes->n > 0)
		qsort(classes->classes, classes->n, sizeof *classes->classes, by_misses);
	for (size_t i = 0; i < classes->n && i < lines; i++)
		if (find_line(&classes->classes[i], error) != 0)
			return -1;
	return 0;
}
