/* SPDX-License-Identifier: MIT */
/* Two runs side by side as text of at most 80 columns, as JSON, and as CSV. The first line sums up; then come the kernels, each a table with a column for
 * each side, and under it the findings that are gone, new or changed. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/compare/runs.h"
#include "report/format.h"
#include "stream/kernel_name.h"
#include "stream/rows.h"

#define COLUMNS 80
#define SAME 1	  /* percent, or points: a smaller difference is none */

#define MANY 10	  /* times as much is said so, and not in percent */

/* Without --all: kernels, and findings of each. */
#define KERNELS_SHOWN 5
#define FINDINGS_SHOWN 8

/* ---- numbers as words ---- */

static const char *ratio_text(double ratio, char text[GT_QUANTITY_TEXT])
{
	snprintf(text, GT_QUANTITY_TEXT, ratio < 99.95 ? "%.2f" : "%.0f", ratio);
	return text;
}

const char *gt_quantity_text(size_t quantity, const struct gt_quantity_value *value, char text[GT_QUANTITY_TEXT])
{
	if (!value->known)
		return "-";
	switch (gt_quantities[quantity].kind) {
	case GT_QUANTITY_BYTES: return gt_bytes_words(value->number, text);
	case GT_QUANTITY_SECTORS: return gt_bytes_words(GT_SECTOR * value->number, text);
	case GT_QUANTITY_RATIO: return ratio_text(value->number, text);
	case GT_QUANTITY_PERCENT: snprintf(text, GT_QUANTITY_TEXT, "%.1f %%", value->number); break;
	}
	return text;
}

/* The change from a to b in percent, rounded so that what is left of something is not nothing. */
static const char *percent_text(double a, double b, char text[GT_QUANTITY_TEXT])
{
	double percent = 100 * fabs(b - a) / a;

	snprintf(text, GT_QUANTITY_TEXT, percent > 99 && percent < 100 ? "%.1f" : "%.0f", percent > 99.9 && percent < 100 ? 99.9 : percent);
	return text;
}

static bool is_same(size_t quantity, const struct gt_quantity_value values[GT_RUN_SIDES])
{
	double a = values[GT_RUN_A].number, b = values[GT_RUN_B].number;
	double scale = gt_quantities[quantity].kind == GT_QUANTITY_PERCENT ? 1 : fabs(a) / 100;

	return a == b || fabs(b - a) < SAME * scale;
}

const char *gt_quantity_change(size_t quantity, const struct gt_quantity_value values[GT_RUN_SIDES], char text[GT_QUANTITY_TEXT])
{
	double a = values[GT_RUN_A].number, b = values[GT_RUN_B].number;
	char percent[GT_QUANTITY_TEXT];

	if (!values[GT_RUN_A].known || !values[GT_RUN_B].known)
		return "";
	if (is_same(quantity, values))
		return "same";
	if (gt_quantities[quantity].kind == GT_QUANTITY_PERCENT)
		snprintf(text, GT_QUANTITY_TEXT, "%+.0f points", b - a);
	else if (a == 0)
		return "from none";
	else if (b >= MANY * a)
		snprintf(text, GT_QUANTITY_TEXT, "%.0fx", b / a);
	else
		snprintf(text, GT_QUANTITY_TEXT, "%c%.20s %%", b < a ? '-' : '+', percent_text(a, b, percent));
	return text;
}

/* ---- what a finding is shown with ---- */

struct shown {
	char what[40];
	bool known[GT_RUN_SIDES];
	bool is_ratio;
	double number[GT_RUN_SIDES];
};

static const struct gt_evidence *evidence_of(const struct gt_finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->n_evidence; i++)
		if (name ? strcmp(finding->evidence[i].name, name) == 0 : finding->evidence[i].is_ratio)
			return &finding->evidence[i];
	return NULL;
}

/* The boundary where the gain is the largest share of the traffic; none if there is no gain. */
static size_t boundary_of(const struct gt_finding *finding, const struct gt_traffic *traffic)
{
	size_t found = GT_BOUNDARIES;
	double share = 0;

	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		double its = traffic->sectors[i] ? (double)finding->gain[i].sectors / (double)traffic->sectors[i] : 0;
		if (its > share) {
			share = its;
			found = i;
		}
	}
	return found;
}

/* "sectors_per_access" as "sectors/access". */
static void name_evidence(const char *name, char what[40])
{
	const char *per = strstr(name, "_per_");

	snprintf(what, 40, per ? "%.*s/%s" : "%.*s", per ? (int)(per - name) : 39, name, per ? per + 5 : "");
	for (char *at = what; (at = strchr(at, '_'));)
		*at = ' ';
}

static void show_evidence(struct shown *shown, const struct gt_finding_pair *pair, const struct gt_evidence *evidence)
{
	name_evidence(evidence->name, shown->what);
	shown->is_ratio = evidence->is_ratio;
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		const struct gt_evidence *its = pair->side[side] ? evidence_of(pair->side[side], evidence->name) : NULL;
		shown->known[side] = its != NULL;
		shown->number[side] = !its ? 0 : its->is_ratio ? its->ratio : (double)its->count;
	}
}

static void show_gain(struct shown *shown, const struct gt_finding_pair *pair, size_t boundary)
{
	static const char *const boundaries[] = {"L1", "L2", "DRAM"};

	snprintf(shown->what, sizeof shown->what, "sectors at %s", boundaries[boundary]);
	shown->is_ratio = false;
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		const struct gt_finding *its = pair->side[side];
		shown->known[side] = its != NULL;
		shown->number[side] = its ? (double)its->gain[boundary].sectors : 0;
	}
}

static bool tells_apart(const struct shown *shown)
{
	const double a = shown->number[GT_RUN_A], b = shown->number[GT_RUN_B];

	return !shown->known[GT_RUN_A] || !shown->known[GT_RUN_B] || fabs(b - a) > SAME / 100.0 * fabs(a);
}

/* Of a finding that has changed, a number that shows it, where the one that is usually shown has not changed. */
static void show_change(struct shown *shown, const struct gt_finding_pair *pair)
{
	const struct gt_finding *a = pair->side[GT_RUN_A];
	const struct shown usual = *shown;

	for (size_t i = 0; i < GT_BOUNDARIES && !tells_apart(shown); i++)
		show_gain(shown, pair, i);
	for (size_t i = 0; i < a->n_evidence && !tells_apart(shown); i++)
		show_evidence(shown, pair, &a->evidence[i]);
	if (!tells_apart(shown))
		*shown = usual;
}

static struct shown shown_of(const struct gt_run_pair *kernels, const struct gt_finding_pair *pair)
{
	const struct gt_finding *a = pair->side[GT_RUN_A], *b = pair->side[GT_RUN_B];
	bool from_b = !a || (b && b->cost > a->cost);
	const struct gt_finding *main = from_b ? b : a;
	size_t boundary = boundary_of(main, &kernels->side[from_b]->traffic);
	const struct gt_evidence *ratio = evidence_of(main, NULL);
	struct shown shown = {.is_ratio = false};

	if (ratio || (main->passes == 0 && boundary == GT_BOUNDARIES)) {
		if (main->n_evidence > 0)
			show_evidence(&shown, pair, ratio ? ratio : &main->evidence[0]);
		return shown;
	}
	if (main->passes == 0) {
		show_gain(&shown, pair, boundary);
		return shown;
	}
	snprintf(shown.what, sizeof shown.what, "passes to spare");
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		shown.known[side] = pair->side[side] != NULL;
		shown.number[side] = shown.known[side] ? (double)pair->side[side]->passes : 0;
	}
	return shown;
}

void gt_finding_pair_numbers(const struct gt_run_pair *kernels, const struct gt_finding_pair *pair, struct gt_finding_numbers *numbers)
{
	struct shown shown = shown_of(kernels, pair);
	char text[GT_QUANTITY_TEXT];

	if (pair->state == GT_FINDING_CHANGED)
		show_change(&shown, pair);
	memcpy(numbers->what, shown.what, sizeof numbers->what);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		if (!shown.known[side])
			snprintf(numbers->text[side], GT_WORDS, "-");
		else if (shown.is_ratio)
			snprintf(numbers->text[side], GT_WORDS, "%.23s", ratio_text(shown.number[side], text));
		else
			gt_number_words((uint64_t)shown.number[side], numbers->text[side]);
	}
}

bool gt_finding_pair_shown(const struct gt_finding_pair *pair)
{
	for (int side = 0; side < GT_RUN_SIDES; side++)
		if (pair->side[side] && pair->side[side]->share >= GT_FINDINGS_LEAST)
			return true;
	return false;
}

const char *gt_finding_pair_place(const struct gt_finding_pair *pair, char text[GT_FINDING_PLACE])
{
	const struct gt_finding *a = pair->side[GT_RUN_A], *b = pair->side[GT_RUN_B];
	bool moved = a && b && strcmp(a->place, b->place) != 0;

	snprintf(text, GT_FINDING_PLACE, "%s%s%s", (a ? a : b)->place, moved ? " -> " : "", moved ? b->place : "");
	return text;
}

static bool is_shown(const struct gt_finding_pair *pair, const struct gt_findings_style *style)
{
	return style->all || gt_finding_pair_shown(pair);
}

static bool differs(const struct gt_run_pair *pair, const struct gt_findings_style *style)
{
	for (size_t i = 0; i < GT_QUANTITIES; i++)
		if (pair->values[i][GT_RUN_A].known && pair->values[i][GT_RUN_B].known && !is_same(i, pair->values[i]))
			return true;
	for (size_t i = 0; i < pair->n; i++)
		if (is_shown(&pair->findings[i], style) && pair->findings[i].state != GT_FINDING_SAME)
			return true;
	return false;
}

/* ---- text ---- */

struct text {
	const struct gt_runs *runs;
	const struct gt_findings_style *style;
	FILE *to;
	int label, column; /* widths; the last column has the rest */
};

#define BOLD "\033[1m"
#define MARK "\033[33m"
#define GOOD "\033[32m"
#define BAD "\033[31m"
#define PLAIN "\033[0m"

const char *const gt_finding_states[GT_FINDING_STATES] = {"gone", "new", "changed", "same"};
static const char *const state_colours[GT_FINDING_STATES] = {GOOD, BAD, MARK, ""};

static const char *colour(const struct text *text, const char *escape)
{
	return text->style->colour ? escape : "";
}

/* Blanks up to a width, counted in characters. */
static void write_cell(const struct text *text, const char *cell, int width, bool right)
{
	int length = (int)gt_utf8_characters(cell), gap = width > length ? width - length : 0;

	fprintf(text->to, "%*s%s%*s", right ? gap : 0, "", cell, right ? 0 : gap, "");
}

static void write_columns(const struct text *text, const char *a, const char *b, const char *last)
{
	putc(' ', text->to);
	write_cell(text, a, text->column, true);
	putc(' ', text->to);
	write_cell(text, b, text->column, true);
	fprintf(text->to, "%s%s\n", *last ? "  " : "", last);
}

static __attribute__((format(printf, 3, 4))) void append(char *words, size_t size, const char *format, ...)
{
	size_t length = strlen(words);
	va_list list;

	va_start(list, format);
	vsnprintf(words + length, size - length, format, list);
	va_end(list);
}

/* ---- the sum ---- */

/* The quantities of traffic, in the order of boundaries. */
static const size_t traffic[GT_BOUNDARIES] = {1, 2, 3};
static const char *const boundary_names[GT_BOUNDARIES] = {"L1", "L2", "DRAM"};

static void sum_up(const struct gt_runs *runs, char *words, size_t size)
{
	char same[40] = "", change[GT_QUANTITY_TEXT];
	size_t n_same = 0, n = 0;

	snprintf(words, size, "%s moves ", runs->run[GT_RUN_B]->name);
	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		const struct gt_quantity_value *values = runs->total.values[traffic[i]];
		double a = values[GT_RUN_A].number, b = values[GT_RUN_B].number;
		if (!values[GT_RUN_A].known || !values[GT_RUN_B].known)
			continue;
		if (is_same(traffic[i], values)) {
			append(same, sizeof same, "%s%s", n_same++ ? " and " : "", boundary_names[i]);
			continue;
		}
		if (a == 0)
			append(words, size, "%s%s sectors at %s, where %s moves none", n ? ", " : "", gt_number_words(values[GT_RUN_B].count, change), boundary_names[i],
			       runs->run[GT_RUN_A]->name);
		else if (b >= MANY * a)
			append(words, size, "%s%.0f times%s at %s", n ? ", " : "", b / a, n ? "" : " the sectors", boundary_names[i]);
		else
			append(words, size, "%s%s %% %s%s at %s", n ? ", " : "", percent_text(a, b, change), b < a ? "fewer" : "more", n ? "" : " sectors", boundary_names[i]);
		n++;
	}
	if (n_same == GT_BOUNDARIES)
		snprintf(same, sizeof same, "L1, L2 and DRAM");
	if (n_same > 0)
		append(words, size, "%sthe same at %s", n ? ", " : "", same);
	if (n + n_same == 0)
		snprintf(words, size, "What moves is not known on both sides: expected counts of gcoalesce, gcache and gdram");
}

const char *gt_runs_sum(const struct gt_runs *runs, char text[GT_RUNS_TEXT])
{
	if (runs->same)
		snprintf(text, GT_RUNS_TEXT, "Nothing differs between %s and %s", runs->run[GT_RUN_A]->name, runs->run[GT_RUN_B]->name);
	else
		sum_up(runs, text, GT_RUNS_TEXT);
	return text;
}

const char *gt_runs_states(const struct gt_runs *runs, char text[GT_RUNS_TEXT])
{
	text[0] = '\0';
	for (size_t i = 0; i < GT_FINDING_STATES; i++)
		if (runs->states[i] > 0)
			append(text, GT_RUNS_TEXT, "%s%zu %s%s", text[0] ? ", " : "", runs->states[i], text[0] ? "" : runs->states[i] == 1 ? "finding " : "findings ",
			       gt_finding_states[i]);
	return text;
}

static void write_sum(const struct text *text)
{
	char words[GT_RUNS_TEXT];

	fputs(colour(text, BOLD), text->to);
	gt_wrapped_write(gt_runs_sum(text->runs, words), 0, 2, text->to);
	fprintf(text->to, "%s\n", colour(text, PLAIN));
	if (gt_runs_states(text->runs, words)[0])
		fprintf(text->to, "%s\n", words);
}

static void write_sides(const struct text *text)
{
	int names = 0, operands = 0;

	for (int side = 0; side < GT_RUN_SIDES; side++) {
		int name = (int)gt_utf8_characters(text->runs->run[side]->name), operand = (int)gt_utf8_characters(text->runs->run[side]->text);
		names = name > names ? name : names;
		operands = operand > operands && operand < 40 ? operand : operands;
	}
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		const struct gt_run *run = text->runs->run[side];
		char tidy[4 * COLUMNS + 1], gpu[GT_GPU_TEXT + 12] = "saved counts";
		if (run->report.gpu[0])
			snprintf(gpu, sizeof gpu, "%s, modelled", run->report.gpu);
		fputs("  ", text->to);
		write_cell(text, run->name, names + 2, false);
		bool known = run->saved || run->report.gpu[0];
		write_cell(text, gt_utf8_tidy(run->text, 40, tidy), known ? operands + 2 : 0, false);
		fprintf(text->to, "%s\n", known ? gt_utf8_printable(gpu) : "");
	}
}

/* ---- a pair of kernels ---- */

static void name_kernel(const struct gt_kernel_findings *of, char name[GT_KERNEL_NAME])
{
	const struct gt_kernel *kernel = &of->kernel->kernel;
	char words[GT_KERNEL_NAME];

	if (kernel->name[0])
		snprintf(name, GT_KERNEL_NAME, "%s", gt_name_words(kernel->name, words));
	else
		snprintf(name, GT_KERNEL_NAME, "kernel %" PRIu64, kernel->id);
	gt_utf8_printable(name);
}

/* ", 20 launches", ", 20 and 40 launches"; nothing where they are not known. */
static void append_launches(const struct gt_runs *runs, const struct gt_run_pair *pair, char *words, size_t size)
{
	uint64_t a = gt_report_launches(pair->side[GT_RUN_A]->kernel), b = gt_report_launches(pair->side[GT_RUN_B]->kernel);

	if (runs->run[GT_RUN_A]->saved || runs->run[GT_RUN_B]->saved || (a == 1 && b == 1))
		return;
	if (a == b)
		append(words, size, ", %" PRIu64 " launches", a);
	else
		append(words, size, ", %" PRIu64 " and %" PRIu64 " launches", a, b);
}

const char *gt_run_pair_name(const struct gt_runs *runs, const struct gt_run_pair *pair, char text[2 * GT_KERNEL_NAME + 64])
{
	char names[GT_RUN_SIDES][GT_KERNEL_NAME];

	for (int side = 0; side < GT_RUN_SIDES; side++)
		name_kernel(pair->side[side] ? pair->side[side] : pair->side[!side], names[side]);
	bool same = strcmp(names[GT_RUN_A], names[GT_RUN_B]) == 0;
	snprintf(text, 2 * GT_KERNEL_NAME + 64, "%s%s%s", names[GT_RUN_A], same ? "" : " -> ", same ? "" : names[GT_RUN_B]);
	if (pair->side[GT_RUN_A] && pair->side[GT_RUN_B])
		append_launches(runs, pair, text, 2 * GT_KERNEL_NAME + 64);
	return text;
}

static void write_kernel_names(const struct text *text, const struct gt_run_pair *pair)
{
	char words[2 * GT_KERNEL_NAME + 64], tidy[4 * COLUMNS + 1];

	gt_run_pair_name(text->runs, pair, words);
	fprintf(text->to, "\n%s", colour(text, BOLD));
	if ((int)gt_utf8_characters(words) <= text->label)
		write_cell(text, words, text->label, false);
	else
		fprintf(text->to, "%s\n%*s", gt_utf8_tidy(words, COLUMNS, tidy), text->label, "");
	fputs(colour(text, PLAIN), text->to);
	write_columns(text, text->runs->run[GT_RUN_A]->name, text->runs->run[GT_RUN_B]->name, "change");
}

static void write_finding(const struct text *text, const struct gt_run_pair *kernels, const struct gt_finding_pair *pair)
{
	const struct gt_finding *any = pair->side[GT_RUN_A] ? pair->side[GT_RUN_A] : pair->side[GT_RUN_B];
	struct gt_finding_numbers numbers;
	char words[GT_FINDING_PLACE + GT_FINDING_ARRAYS + 64], place[GT_FINDING_PLACE], tidy[4 * COLUMNS + 1];

	gt_finding_pair_numbers(kernels, pair, &numbers);
	gt_finding_pair_place(pair, place);
	snprintf(words, sizeof words, "%s%s%s%s%.*s", any->kind->title, place[0] ? "  " : "", place, any->arrays[0] ? "  " : "", gt_finding_array_length(any), any->arrays);
	fprintf(text->to, "  %s%-8s%s", colour(text, state_colours[pair->state]), gt_finding_states[pair->state], colour(text, PLAIN));
	if ((int)gt_utf8_characters(words) > text->label - 10)
		fprintf(text->to, "%s\n%*s", gt_utf8_tidy(words, COLUMNS - 10, tidy), text->label, "");
	else
		write_cell(text, words, text->label - 10, false);
	write_columns(text, numbers.text[GT_RUN_A], numbers.text[GT_RUN_B], numbers.what);
}

static void write_findings(const struct text *text, const struct gt_run_pair *pair)
{
	size_t shown = 0, same = 0, left = 0;

	for (size_t i = 0; i < pair->n; i++) {
		const struct gt_finding_pair *findings = &pair->findings[i];
		if (!is_shown(findings, text->style))
			continue;
		if (findings->state == GT_FINDING_SAME && !text->style->all) {
			same++;
		} else if (shown < FINDINGS_SHOWN || text->style->all) {
			write_finding(text, pair, findings);
			shown++;
		} else {
			left++;
		}
	}
	if (left > 0)
		fprintf(text->to, "  %zu smaller finding%s: --all\n", left, left == 1 ? "" : "s");
	if (same > 0)
		fprintf(text->to, "  %zu finding%s the same: --all\n", same, same == 1 ? " is" : "s are");
}

static void write_pair(const struct text *text, const struct gt_run_pair *pair)
{
	write_kernel_names(text, pair);
	for (size_t i = 0; i < GT_QUANTITIES; i++) {
		const struct gt_quantity_value *values = pair->values[i];
		char numbers[GT_RUN_SIDES][GT_QUANTITY_TEXT], change[GT_QUANTITY_TEXT];
		if (!gt_quantities[i].shown || (!values[GT_RUN_A].known && !values[GT_RUN_B].known))
			continue;
		fputs("  ", text->to);
		write_cell(text, gt_quantities[i].label, text->label - 2, false);
		write_columns(text, gt_quantity_text(i, &values[GT_RUN_A], numbers[0]), gt_quantity_text(i, &values[GT_RUN_B], numbers[1]),
			      gt_quantity_change(i, values, change));
	}
	write_findings(text, pair);
}

/* ---- kernels that are not shown, or have no other ---- */

/* Kernels in a line: their names, as many as fit, and how many more there are. */
struct line {
	char words[COLUMNS + 1];
	size_t named, more;
};

static void add_name(struct line *line, const struct gt_kernel_findings *of)
{
	char name[GT_KERNEL_NAME], tidy[4 * 32 + 1];

	name_kernel(of, name);
	gt_utf8_tidy(name, 32, tidy);
	if (line->more == 0 && strlen(line->words) + strlen(tidy) + 2 + 12 <= COLUMNS)
		append(line->words, sizeof line->words, "%s%s", line->named++ ? ", " : " ", tidy);
	else
		line->more++;
}

static void write_line(const struct text *text, const struct line *line)
{
	if (line->named + line->more == 0)
		return;
	fputs(line->words, text->to);
	if (line->more > 0)
		fprintf(text->to, ", %zu more", line->more);
	putc('\n', text->to);
}

static void write_others(const struct text *text, size_t left)
{
	const struct gt_runs *runs = text->runs;
	struct line same = {.words = "the same, within 1 % (--all):"}, only[GT_RUN_SIDES] = {{.named = 0}, {.named = 0}};

	for (size_t i = 0; i < runs->paired; i++)
		if (!text->style->all && !differs(&runs->pairs[i], text->style))
			add_name(&same, runs->pairs[i].side[GT_RUN_A]);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		snprintf(only[side].words, sizeof only[side].words, "only in %s:", runs->run[side]->name);
		for (size_t i = runs->paired; i < runs->n; i++)
			if (runs->pairs[i].side[side])
				add_name(&only[side], runs->pairs[i].side[side]);
	}
	if (left > 0 || same.named + only[0].named + only[1].named > 0)
		putc('\n', text->to);
	if (left > 0)
		fprintf(text->to, "%zu more kernel%s: --all\n", left, left == 1 ? " differs" : "s differ");
	write_line(text, &same);
	write_line(text, &only[GT_RUN_A]);
	write_line(text, &only[GT_RUN_B]);
}

static void write_not_by_site(const struct text *text)
{
	const struct gt_runs *runs = text->runs;

	if (runs->by_site[GT_RUN_A] != runs->by_site[GT_RUN_B])
		fprintf(text->to, "\nFindings are not compared: %s was not counted with gcoalesce --by site\nand gcache --by site --causes\n",
			runs->run[runs->by_site[GT_RUN_A] > runs->by_site[GT_RUN_B]]->name);
}

static struct text text_of(const struct gt_runs *runs, const struct gt_findings_style *style, FILE *to)
{
	struct text text = {.runs = runs, .style = style, .to = to, .column = 9};

	for (int side = 0; side < GT_RUN_SIDES; side++)
		if ((int)gt_utf8_characters(runs->run[side]->name) > text.column)
			text.column = (int)gt_utf8_characters(runs->run[side]->name);
	text.label = COLUMNS - 2 * (text.column + 1) - 2 - 15; /* "sectors at DRAM" */
	return text;
}

void gt_runs_write(const struct gt_runs *runs, const struct gt_findings_style *style, FILE *to)
{
	const struct text text = text_of(runs, style, to);
	size_t shown = 0, left = 0;

	write_sum(&text);
	write_sides(&text);
	for (size_t i = 0; i < runs->paired; i++) {
		if (!style->all && !differs(&runs->pairs[i], style))
			continue;
		if (shown < KERNELS_SHOWN || style->all) {
			write_pair(&text, &runs->pairs[i]);
			shown++;
		} else {
			left++;
		}
	}
	if (!runs->same || style->all)
		write_others(&text, left);
	write_not_by_site(&text);
}

/* ---- JSON ---- */

static void write_json_text(const char *text, FILE *to)
{
	if (*text)
		gt_json_string(text, to);
	else
		fputs("null", to);
}

static void write_json_value(size_t quantity, const struct gt_quantity_value *value, FILE *to)
{
	if (!value->known)
		fputs("null", to);
	else if (gt_quantities[quantity].kind == GT_QUANTITY_BYTES || gt_quantities[quantity].kind == GT_QUANTITY_SECTORS)
		fprintf(to, "%" PRIu64, value->count);
	else
		fprintf(to, "%.6g", value->number);
}

static void write_json_values(const struct gt_run_pair *pair, FILE *to)
{
	fputs("\"values\": {", to);
	for (size_t i = 0; i < GT_QUANTITIES; i++) {
		fprintf(to, "%s\"%s\": [", i ? ", " : "", gt_quantities[i].key);
		write_json_value(i, &pair->values[i][GT_RUN_A], to);
		fputs(", ", to);
		write_json_value(i, &pair->values[i][GT_RUN_B], to);
		putc(']', to);
	}
	putc('}', to);
}

static void write_json_finding(const struct gt_runs *runs, const struct gt_finding_pair *pair, const struct gt_findings_style *style, FILE *to)
{
	fprintf(to, "{\"state\": \"%s\", \"sides\": [", gt_finding_states[pair->state]);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		struct gt_findings_style its = *style;
		its.program = runs->run[side]->text;
		fputs(side ? ", " : "", to);
		if (pair->side[side])
			gt_finding_write_json(pair->side[side], &its, to);
		else
			fputs("null", to);
	}
	fputs("]}", to);
}

static void write_json_pair(const struct gt_runs *runs, const struct gt_run_pair *pair, const struct gt_findings_style *style, FILE *to)
{
	const char *comma = "";

	fputs("{\"names\": [", to);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		fputs(side ? ", " : "", to);
		write_json_text(pair->side[side] ? pair->side[side]->kernel->kernel.name : "", to);
	}
	fputs("], \"launches\": [", to);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		fputs(side ? ", " : "", to);
		if (!pair->side[side] || runs->run[side]->saved)
			fputs("null", to);
		else
			fprintf(to, "%" PRIu64, gt_report_launches(pair->side[side]->kernel));
	}
	fprintf(to, "], \"same\": %s, ", pair->same ? "true" : "false");
	write_json_values(pair, to);
	fputs(", \"findings\": [", to);
	for (size_t i = 0; i < pair->n; i++) {
		if (!is_shown(&pair->findings[i], style))
			continue;
		fprintf(to, "%s\n   ", comma);
		write_json_finding(runs, &pair->findings[i], style, to);
		comma = ",";
	}
	fputs("]}", to);
}

#define COMPARISON_VERSION 1

void gt_runs_write_json(const struct gt_runs *runs, const struct gt_findings_style *style, FILE *to)
{
	fprintf(to, "{\"gtrace_comparison\": %d, \"sides\": [", COMPARISON_VERSION);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		const struct gt_run *run = runs->run[side];
		fprintf(to, "%s{\"name\": ", side ? ", " : "");
		gt_json_string(run->name, to);
		fputs(", \"operand\": ", to);
		gt_json_string(run->text, to);
		fputs(", \"gpu\": ", to);
		write_json_text(run->report.gpu, to);
		fprintf(to, ", \"by_site\": %s}", runs->by_site[side] & GT_BY_SITE_ACCESSES ? "true" : "false");
	}
	fprintf(to, "],\n \"same\": %s, \"total\": {", runs->same ? "true" : "false");
	write_json_values(&runs->total, to);
	fputs("},\n \"kernels\": [", to);
	for (size_t i = 0; i < runs->n; i++) {
		fputs(i ? ",\n  " : "\n  ", to);
		write_json_pair(runs, &runs->pairs[i], style, to);
	}
	fputs("]}\n", to);
}

/* ---- CSV ---- */

static void write_csv_pair(const struct gt_run_pair *pair, const char *const names[GT_RUN_SIDES], FILE *to)
{
	for (size_t i = 0; i < GT_QUANTITIES; i++) {
		for (int side = 0; side < GT_RUN_SIDES; side++) {
			gt_csv_field(names[side], false, to);
			putc(',', to);
		}
		fprintf(to, "%s,%s", gt_quantities[i].key, gt_quantities[i].unit);
		for (int side = 0; side < GT_RUN_SIDES; side++) {
			putc(',', to);
			if (pair->values[i][side].known)
				write_json_value(i, &pair->values[i][side], to);
		}
		putc('\n', to);
	}
}

void gt_runs_write_csv(const struct gt_runs *runs, FILE *to)
{
	fputs("kernel,paired_with,quantity,unit,", to);
	gt_csv_field(runs->run[GT_RUN_A]->name, false, to);
	putc(',', to);
	gt_csv_field(runs->run[GT_RUN_B]->name, false, to);
	putc('\n', to);
	for (size_t i = 0; i < runs->n; i++) {
		char names[GT_RUN_SIDES][GT_KERNEL_NAME] = {"", ""};
		for (int side = 0; side < GT_RUN_SIDES; side++)
			if (runs->pairs[i].side[side])
				name_kernel(runs->pairs[i].side[side], names[side]);
		write_csv_pair(&runs->pairs[i], (const char *const[]){names[0], names[1]}, to);
	}
	write_csv_pair(&runs->total, (const char *const[]){"total", "total"}, to);
}
