/* SPDX-License-Identifier: MIT */
/* The sources of misses: for each stage that counted by class (grd --by pc, op or array), the references and outcomes of
 * each class, the largest first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/markup.h"
#include "report/page/page.h"
#include "report/table.h"

#define CLASSES_SHOWN 20
#define CLASSES_DRAWN 12
#define KERNELS_SHOWN 16

/* The columns after the references, if the stage counted them. */
static const struct {
	const char *counter, *heading;
} columns[] = {
	{"hits", "hits"},
	{"infinite", "first references"},
	{"compulsory", "compulsory misses"},
	{"capacity", "capacity misses"},
	{"conflict", "conflict misses"},
	{"latency_miss", "on their way"},
	{"merged", "merged"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

struct class {
	const char *name; /* of the counter, of which the first `length` bytes are the class */
	size_t length;
	uint64_t references;
};

/* A counter of a class. False if the stage has none. */
static bool class_number(const struct gt_report_stage *stage, const struct class *class, const char *counter, uint64_t *value)
{
	char name[GT_COUNT_NAME];

	return (size_t)snprintf(name, sizeof name, "%.*s.%s", (int)class->length, class->name, counter) < sizeof name &&
	       gt_report_number(stage, name, value);
}

static int by_references(const void *left, const void *right)
{
	const struct class *a = left, *b = right;

	if (a->references != b->references)
		return a->references < b->references ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* The classes of a stage, sorted; NULL if there is none, or memory is short. Freed by the caller. */
static struct class *classes_of(const struct gt_report_stage *stage, size_t *n)
{
	struct class *classes = NULL;
	size_t length;

	*n = 0;
	for (int counting = 1; counting >= 0; counting--) {
		size_t found = 0;
		for (size_t i = 0; i < stage->n; i++) {
			const struct gt_count_entry *entry = &stage->counters[i].value;
			if (entry->kind != GT_COUNT_NUMBER || !gt_page_class(entry->name, &length) ||
			    strcmp(entry->name + length, ".references") != 0)
				continue;
			if (!counting)
				classes[found] = (struct class){entry->name, length, entry->number};
			found++;
		}
		if (counting && (found == 0 || !(classes = calloc(found, sizeof *classes))))
			return NULL;
		*n = found;
	}
	qsort(classes, *n, sizeof *classes, by_references);
	return classes;
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

/* The class, and for an instruction its source line. */
static void write_class_name(const struct class *class, const struct gt_sources *sources, FILE *to)
{
	char name[GT_COUNT_NAME], place[GT_SOURCE_TEXT];
	const struct gt_source *source = NULL;

	snprintf(name, sizeof name, "%.*s", (int)class->length, class->name);
	if (strncmp(name, "0x", 2) == 0)
		source = gt_sources_find(sources, strtoull(name, NULL, 16));
	gt_markup_text(strcmp(name, "-") == 0 ? "(outside of all)" : name, to);
	if (source)
		fputs(", ", to);
	if (source)
		gt_markup_text(gt_source_format(source, place), to);
}

static void write_class(const struct gt_report_stage *stage, const struct class *class, const struct gt_sources *sources,
			const bool there[COLUMNS], uint64_t all, FILE *to)
{
	uint64_t value;

	fputs("<tr><th scope=\"row\">", to);
	write_class_name(class, sources, to);
	fputs("</th>", to);
	gt_page_number(class->references, to);
	fprintf(to, "<td class=\"number\">%.1f %%</td>", all ? 100 * (double)class->references / (double)all : 0.0);
	for (size_t i = 0; i < COLUMNS; i++)
		if (there[i] && class_number(stage, class, columns[i].counter, &value))
			gt_page_number(value, to);
		else if (there[i])
			fputs("<td class=\"number\">-</td>", to);
	fputs("</tr>\n", to);
}

static void write_table(const struct gt_report_stage *stage, const struct class *classes, size_t n, const struct gt_sources *sources,
			FILE *to)
{
	bool there[COLUMNS] = {false};
	uint64_t all = 0, value;

	gt_report_number(stage, "references", &all);
	for (size_t i = 0; i < COLUMNS; i++)
		for (size_t j = 0; j < n && !there[i]; j++)
			there[i] = class_number(stage, &classes[j], columns[i].counter, &value) && value > 0;
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">class</th><th scope=\"col\" class=\"number\">references</th>"
	      "<th scope=\"col\" class=\"number\">of all</th>", to);
	for (size_t i = 0; i < COLUMNS; i++)
		if (there[i])
			fprintf(to, "<th scope=\"col\" class=\"number\">%s</th>", columns[i].heading);
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < n && i < CLASSES_SHOWN; i++)
		write_class(stage, &classes[i], sources, there, all, to);
	fputs("</tbody></table></div>\n", to);
	if (n > CLASSES_SHOWN)
		fprintf(to, "<p>The %d largest of %zu classes.</p>\n", CLASSES_SHOWN, n);
}

/* Draws each class's misses, stacked by cause, if they were counted; else its references. */
static int draw(const struct gt_report_stage *stage, const struct class *classes, size_t n, FILE *to, struct gt_error *error)
{
	static const char *const causes[] = {"class", "compulsory", "capacity", "conflict"}, *const all[] = {"class", "references"};
	struct gt_plot_options options = {.x = "class", .y = "references"};
	struct gt_sheet sheet;
	char name[GT_COUNT_NAME], count[3][32];
	uint64_t value;
	bool caused = class_number(stage, &classes[0], "compulsory", &value);

	if (caused) {
		options.y = "compulsory,capacity,conflict";
		options.y_label = "misses";
		options.stacked = true;
	}
	gt_sheet_begin(&sheet, stage->name);
	int result = gt_sheet_row(&sheet, caused ? causes : all, caused ? 4 : 2, error);
	for (size_t i = 0; i < n && i < CLASSES_DRAWN && result == 0; i++) {
		snprintf(name, sizeof name, "%.*s", (int)classes[i].length, classes[i].name);
		for (int j = 0; j < 3; j++) {
			value = caused ? 0 : classes[i].references;
			if (caused)
				class_number(stage, &classes[i], causes[j + 1], &value);
			snprintf(count[j], sizeof count[j], "%" PRIu64, value);
		}
		result = gt_sheet_row(&sheet, (const char *const[]){name, count[0], count[1], count[2]}, caused ? 4 : 2, error);
	}
	if (result == 0)
		return gt_page_picture("bars", &options, &sheet, caused ? "Misses by class and cause, the class with most references first."
			: "References by class, the largest first.", to, error);
	gt_sheet_clear(&sheet);
	return -1;
}

static int write_stage(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, const struct gt_sources *sources,
		       FILE *to, struct gt_error *error)
{
	size_t n;
	struct class *classes = classes_of(stage, &n);
	const char *level = behind(kernel, stage);

	if (!classes)
		return 0;
	fputs("<h3>Stage ", to);
	gt_markup_text(stage->name, to);
	fputs("</h3>\n<p>", to);
	if (level) {
		fputs("It follows ", to);
		gt_markup_text(level, to);
		fputs(": each reference is to a line that this level requests or sends on.", to);
	} else {
		fputs("It precedes all caches: these are references, whether they hit or miss.", to);
	}
	fputs(" A class is an instruction (pc), an operation, or an array.</p>\n", to);
	write_table(stage, classes, n, sources, to);
	int result = draw(stage, classes, n, to, error);
	free(classes);
	return result;
}

static bool has_classes(const struct gt_report_kernel *kernel)
{
	size_t n = 0;

	for (size_t i = 0; i < kernel->n && n == 0; i++)
		free(classes_of(&kernel->stages[i], &n));
	return n > 0;
}

bool gt_page_has_misses(const struct gt_page *page)
{
	return has_classes(&page->report->total);
}

/* The stages of a kernel. Instructions have a meaning in one kernel only, so that each has tables of its own. */
static int write_kernel(const struct gt_page *page, const struct gt_report_kernel *kernel, FILE *to, struct gt_error *error)
{
	char name[GT_PAGE_NAME];
	struct gt_sources sources = {0};
	int result = gt_report_sources(kernel, &sources, error);

	if (page->report->n > 1) {
		fputs("<h3>", to);
		gt_markup_text(gt_page_name(page, kernel, name), to);
		fputs("</h3>\n", to);
	}
	for (size_t i = 0; i < kernel->n && result == 0; i++)
		result = write_stage(kernel, &kernel->stages[i], &sources, to, error);
	gt_sources_clear(&sources);
	return result;
}

int gt_page_misses(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	size_t shown = 0;

	for (size_t i = 0; i < page->report->n && shown < KERNELS_SHOWN; i++) {
		if (!has_classes(&page->report->kernels[i]))
			continue;
		shown++;
		if (write_kernel(page, &page->report->kernels[i], to, error) != 0)
			return -1;
	}
	if (shown == KERNELS_SHOWN)
		fprintf(to, "<p>The first %d kernels that have such counts.</p>\n", KERNELS_SHOWN);
	return 0;
}
