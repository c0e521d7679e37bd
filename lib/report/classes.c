/* SPDX-License-Identifier: MIT */
/* A class's counters are named after it: "0x1a0.references" are those of the instruction 0x1a0. So the classes of a stage are
 * found among its counters, and what else is told of a class by its name. */
#include "report/classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/program.h"

/* ---- what levels counted by instruction ---- */

/* Whether a counter is the reads of an instruction, "0x1b.reads", not of a site; then *length is the length of the instruction. */
static bool is_reads(const struct gt_report_value *entry, size_t *length)
{
	return entry->kind == GT_COUNT_NUMBER && strncmp(entry->name, "0x", 2) == 0 && gt_report_class(entry->name, length) &&
	       strcmp(entry->name + *length, ".reads") == 0 && !memchr(entry->name, ' ', *length);
}

void gt_read_levels_find(const struct gt_report *report, struct gt_read_levels *levels)
{
	size_t length;

	levels->n = 0;
	for (size_t s = 0; s < report->total.n && levels->n < GT_READ_LEVELS; s++) {
		const struct gt_report_stage *stage = &report->total.stages[s];
		bool counted = false;
		for (size_t i = 0; i < stage->n && !counted; i++)
			counted = is_reads(&stage->counters[i].value, &length);
		if (counted)
			levels->names[levels->n++] = stage->name;
	}
}

/* What a level counted of an instruction, "0x1b", whose name has `length` bytes. */
static struct gt_reads find_reads(const struct gt_report_stage *stage, const char *pc, size_t length)
{
	struct gt_reads reads = {0};
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.reads", (int)length, pc);
	if (!stage || !gt_report_number(stage, name, &reads.reads))
		return reads;
	snprintf(name, sizeof name, "%.*s.read_hits", (int)length, pc);
	gt_report_number(stage, name, &reads.hits);
	return reads;
}

bool gt_reads_of_counter(const struct gt_report_stage *stage, const struct gt_report_value *entry, size_t *length, struct gt_reads *reads)
{
	if (!is_reads(entry, length))
		return false;
	*reads = find_reads(stage, entry->name, *length);
	return true;
}

/* ---- classes ---- */

static const char *const counters[GT_CLASS_COUNTS] = {
	[GT_CLASS_REFERENCES] = "references",
	[GT_CLASS_HITS] = "hits",
	[GT_CLASS_INFINITE] = "infinite",
	[GT_CLASS_COMPULSORY] = "compulsory",
	[GT_CLASS_CAPACITY] = "capacity",
	[GT_CLASS_CONFLICT] = "conflict",
	[GT_CLASS_LATENCY_MISS] = "latency_miss",
	[GT_CLASS_MERGED] = "merged",
};

/* A counter of a class. False if the stage has none. */
static bool class_number(const struct gt_class *class, size_t count, uint64_t *value)
{
	char name[GT_COUNT_NAME];

	return (size_t)snprintf(name, sizeof name, "%.*s.%s", (int)class->length, class->name, counters[count]) < sizeof name &&
	       gt_report_number(class->stage, name, value);
}

/* A word that is told of a class, or NULL. */
static const char *class_word(const struct gt_class *class, const char *what)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.%s", (int)class->length, class->name, what);
	return gt_report_word(class->stage, name);
}

static bool is_caused(const struct gt_class *class)
{
	uint64_t value;

	return class_number(class, GT_CLASS_COMPULSORY, &value) || class_number(class, GT_CLASS_CAPACITY, &value);
}

/* The misses of a class: by cause; else what does not hit; else its references, which are the misses of a level before. */
static uint64_t misses_of(const struct gt_class *class, bool *caused)
{
	uint64_t references = 0, hits, value, misses = 0;

	for (size_t i = 0; i < GT_CAUSES; i++)
		if (class_number(class, GT_CLASS_COMPULSORY + i, &value)) {
			misses += value;
			*caused = true;
		}
	class_number(class, GT_CLASS_REFERENCES, &references);
	if (*caused)
		return misses;
	return class_number(class, GT_CLASS_HITS, &hits) && hits <= references ? references - hits : references;
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
		     const struct gt_report_value *entry, struct gt_class *class)
{
	*class = (struct gt_class){.kernel = kernel, .stage = stage, .name = entry->name};
	return entry->kind == GT_COUNT_NUMBER && gt_report_class(entry->name, &class->length) &&
	       strcmp(entry->name + class->length, ".references") == 0;
}

static int gather_classes(struct gt_classes *classes, const struct gt_report_kernel *kernel, const char *name, struct gt_error *error)
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
	const char *told = class_word(class, "source");
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

/* All that is told of a class. */
static int find_details(const struct gt_classes *classes, struct gt_class *class, struct gt_error *error)
{
	class->op = class_word(class, "op");
	for (size_t i = 0; i < GT_CLASS_COUNTS; i++)
		class->counted[i] = class_number(class, i, &class->counts[i]);
	for (size_t i = 0; i < classes->levels.n; i++)
		class->reads[i] = find_reads(gt_report_find_stage(class->kernel, classes->levels.names[i]), class->name, class->length);
	return find_line(class, error);
}

int gt_classes_gather(struct gt_classes *classes, const struct gt_report *report, const char *stage, enum gt_traffic_kind traffic,
		      size_t detailed, struct gt_error *error)
{
	classes->traffic = traffic;
	for (size_t i = 0; i < report->n; i++)
		if (gather_classes(classes, &report->kernels[i], stage, error) != 0)
			return -1;
	if (classes->n == 0)
		return 0;
	qsort(classes->classes, classes->n, sizeof *classes->classes, by_misses);
	if (strncmp(classes->classes[0].name, "0x", 2) == 0)
		gt_read_levels_find(report, &classes->levels);
	for (size_t i = 0; i < classes->n && i < detailed; i++)
		if (find_details(classes, &classes->classes[i], error) != 0)
			return -1;
	return 0;
}
