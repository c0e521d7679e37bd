/* SPDX-License-Identifier: MIT */
/* The sources of misses: source lines and instructions by their hit rates, if levels counted by instruction (gcache --by pc);
 * and for each stage that counted by class (grd --by pc, line, op or array), the classes of all kernels with most misses.
 * Behind a level, misses of loads, stores and atomics are apart: only loads miss. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/classes.h"
#include "report/format.h"
#include "report/page/part.h"

#define CLASSES_SHOWN 30
#define CLASSES_DRAWN 12

/* ---- hit rates, and the table of source lines ---- */

/* The headings of the hit rates, with or without those of the reads. */
static void write_rate_headings(const struct gt_read_levels *levels, bool reads, FILE *to)
{
	for (size_t i = 0; i < levels->n; i++)
		for (int k = !reads; k < 2; k++) {
			fputs("<th scope=\"col\" class=\"number\">", to);
			gt_markup_text(levels->names[i], to);
			fputs(k == 0 ? " reads</th>" : " hit rate</th>", to);
		}
}

/* The rate of reads as a cell. */
static void write_rate(struct gt_reads reads, FILE *to)
{
	if (reads.reads > 0)
		fprintf(to, "<td class=\"number\">%.2f %%</td>", 100 * (double)reads.hits / (double)reads.reads);
	else
		fputs("<td class=\"number\">-</td>", to);
}

/* ---- classes ---- */

/* The columns after the misses, if the stage counted them. */
static const char *const columns[GT_CLASS_COUNTS] = {
	[GT_CLASS_REFERENCES] = "references",
	[GT_CLASS_HITS] = "hits",
	[GT_CLASS_INFINITE] = "first references",
	[GT_CLASS_COMPULSORY] = "compulsory misses",
	[GT_CLASS_CAPACITY] = "capacity misses",
	[GT_CLASS_CONFLICT] = "conflict misses",
	[GT_CLASS_LATENCY_MISS] = "on their way",
	[GT_CLASS_MERGED] = "merged",
};

/* What is counted of the classes. */
static const char *counted(const struct gt_classes *classes)
{
	static const char *const names[GT_TRAFFICS] = {"load misses", "stores", "atomics", "requests"};

	return classes->caused ? "misses" : classes->behind ? names[classes->traffic] : "references";
}

/* ---- the table of classes ---- */

static void write_cell(const char *text, const char *style, FILE *to)
{
	fprintf(to, "<td%s>", style);
	gt_markup_text(text && *text ? text : "-", to);
	fputs("</td>", to);
}

/* Which columns a table has. */
struct shown {
	bool op, line, numbers[GT_CLASS_COUNTS];
};

static void write_class(const struct gt_page *page, const struct gt_classes *classes, const struct gt_class *class,
			const struct shown *shown, FILE *to)
{
	char name[GT_PAGE_NAME];

	snprintf(name, sizeof name, "%.*s", (int)class->length, class->name);
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(strcmp(name, "-") == 0 ? "(outside of all)" : name, to);
	fputs("</th>", to);
	gt_page_number(class->misses, to);
	fprintf(to, "<td class=\"number\">%.1f %%</td>", classes->misses ? 100 * (double)class->misses / (double)classes->misses : 0.0);
	if (shown->op)
		write_cell(class->op, "", to);
	if (shown->line)
		write_cell(class->line, "", to);
	write_cell(class->kernel->kernel.name[0] && page->report->by_name ? class->kernel->kernel.name : gt_page_name(page, class->kernel, name),
		   " class=\"name\"", to);
	for (size_t i = 0; i < classes->levels.n; i++)
		write_rate(class->reads[i], to);
	for (size_t i = 0; i < GT_CLASS_COUNTS; i++)
		if (shown->numbers[i] && class->counted[i])
			gt_page_number(class->counts[i], to);
		else if (shown->numbers[i])
			fputs("<td class=\"number\">-</td>", to);
	fputs("</tr>\n", to);
}

static struct shown find_shown(const struct gt_classes *classes)
{
	struct shown shown = {.op = false};

	for (size_t j = 0; j < classes->n && j < CLASSES_SHOWN; j++) {
		const struct gt_class *class = &classes->classes[j];
		shown.op |= class->op != NULL;
		shown.line |= class->line[0] != '\0';
		/* Without causes, the first number is that of the references already. */
		for (size_t i = !classes->caused; i < GT_CLASS_COUNTS; i++)
			shown.numbers[i] |= class->counts[i] > 0;
	}
	return shown;
}

static void write_classes(const struct gt_page *page, const struct gt_classes *classes, FILE *to)
{
	struct shown shown = find_shown(classes);

	fprintf(to, "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<thead><tr><th scope=\"col\">class</th>"
		"<th scope=\"col\" class=\"number\">%s</th><th scope=\"col\" class=\"number\">of all</th>%s%s<th scope=\"col\">kernel</th>",
		counted(classes), shown.op ? "<th scope=\"col\">operation</th>" : "", shown.line ? "<th scope=\"col\">line</th>" : "");
	write_rate_headings(&classes->levels, false, to);
	for (size_t i = 0; i < GT_CLASS_COUNTS; i++)
		if (shown.numbers[i])
			fprintf(to, "<th scope=\"col\" class=\"number\">%s</th>", columns[i]);
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < classes->n && i < CLASSES_SHOWN; i++)
		write_class(page, classes, &classes->classes[i], &shown, to);
	fputs("</tbody></table></div>\n", to);
	if (classes->n > CLASSES_SHOWN)
		fprintf(to, "<p>The %d largest of %zu classes.</p>\n", CLASSES_SHOWN, classes->n);
}

/* ---- the picture ---- */

/* A class's misses by cause, if they were counted so; else their sum. */
static int draw(const struct gt_page *page, const struct gt_classes *classes, const char *stage, FILE *to, struct gt_error *error)
{
	static const char *const heads[2][4] = {{"class", "misses"}, {"class", "compulsory", "capacity", "conflict"}};
	struct gt_plot_options options = {.x = "class", .y = classes->caused ? "compulsory,capacity,conflict" : "misses",
					  .y_label = counted(classes), .stacked = classes->caused};
	size_t numbers = classes->caused ? GT_CAUSES : 1;
	struct gt_sheet sheet;

	gt_sheet_begin(&sheet, stage);
	int result = gt_sheet_row(&sheet, heads[classes->caused], numbers + 1, error);
	for (size_t i = 0; i < classes->n && i < CLASSES_DRAWN && result == 0; i++) {
		const struct gt_class *class = &classes->classes[i];
		char name[GT_COUNT_NAME + 64], count[GT_CAUSES][32];
		snprintf(name, sizeof name, "%.*s%s%.31s", (int)class->length, class->name, class->line[0] ? " " : "", class->line);
		if (page->report->n > 1) /* classes of several kernels may have one name */
			snprintf(name + strlen(name), sizeof name - strlen(name), " %zu", (size_t)(class->kernel - page->report->kernels) + 1);
		for (size_t j = 0; j < numbers; j++) {
			uint64_t value = classes->caused ? class->counts[GT_CLASS_COMPULSORY + j] : class->misses;
			snprintf(count[j], sizeof count[j], "%" PRIu64, value);
		}
		result = gt_sheet_row(&sheet, (const char *const[]){name, count[0], count[1], count[2]}, numbers + 1, error);
	}
	if (result == 0)
		return gt_page_picture("bars", &options, &sheet, classes->caused ? "Misses by class and cause, the class with most misses first."
			: "The same, the largest first.", to, error);
	gt_sheet_clear(&sheet);
	return -1;
}

/* What the numbers of a stage are. */
static void explain(const struct gt_classes *classes, FILE *to)
{
	static const char *const texts[GT_TRAFFICS] = {
		"Misses of loads: what the loads of a class did not find in ",
		"Stores, which are no misses: what a class writes through, or evicts, from ",
		"Atomics, which are no misses: what a class has executed behind ",
		"Requests of loads that miss, of stores and of atomics together, as their classes do not tell them apart: what is sent on by ",
	};
	const char *granularity = gt_report_word(classes->classes[0].stage, "granularity");

	fputs("<p>", to);
	if (classes->behind) {
		fputs(texts[classes->traffic], to);
		gt_markup_text(classes->behind, to);
		fputs(", in units of ", to);
		gt_markup_text(granularity ? granularity : "a line", to);
		fputs(".", to);
	} else {
		fputs("It precedes all caches: without causes of misses, these are references, whether they hit or miss.", to);
	}
	fputs(" A class is an instruction (pc), a source line, an operation, or an array.</p>\n", to);
	if (strncmp(classes->classes[0].name, "0x", 2) == 0 && !classes->classes[0].line[0])
		fputs("<p>A program compiled with nvcc -lineinfo has source lines too.</p>\n", to);
}

/* The classes of a stage of one kind of traffic. */
static int write_stage(const struct gt_page *page, const char *stage, enum gt_traffic_kind traffic, FILE *to, struct gt_error *error)
{
	struct gt_classes classes = {0};
	int result = gt_classes_gather(&classes, page->report, stage, traffic, CLASSES_SHOWN, error);

	if (result == 0 && classes.n > 0) {
		fputs("<h3>Stage ", to);
		gt_markup_text(stage, to);
		fprintf(to, "%s%s</h3>\n", classes.behind ? ": " : "", classes.behind ? counted(&classes) : "");
		explain(&classes, to);
		write_classes(page, &classes, to);
		result = draw(page, &classes, stage, to, error);
	}
	free(classes.classes);
	return result;
}

static bool has_misses(const struct gt_page *page)
{
	const struct gt_report_kernel *total = &page->report->total;

	for (size_t i = 0; i < total->n; i++)
		if (gt_classes_in(total, &total->stages[i]))
			return true;
	return false;
}

static int write_misses(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report_kernel *total = &page->report->total;

	for (size_t i = 0; i < total->n; i++)
		for (int kind = 0; kind < GT_TRAFFICS && gt_classes_in(total, &total->stages[i]); kind++)
			if (write_stage(page, total->stages[i].name, (enum gt_traffic_kind)kind, to, error) != 0)
				return -1;
	return 0;
}

const struct gt_page_section gt_page_misses = {
	.id = "misses", .heading = "Where the misses come from", .has = has_misses, .write = write_misses};
