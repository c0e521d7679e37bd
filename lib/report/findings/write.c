/* SPDX-License-Identifier: MIT */
/* Findings as text of at most 80 columns, and as JSON. Kernels stand in the order of the cost of their traffic; of each, its traffic comes first, then
 * its findings, numbered through, and at the end the commands that show more of them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/findings/kind.h"
#include "report/format.h"
#include "report/report.h"
#include "stream/kernel_name.h"
#include "stream/rows.h"

/* Without --all: findings of each of the first kernels, and of the next ones. */
static const size_t shown_of_kernel[] = {5, 3, 2, 2, 2};
#define KERNELS_SHOWN (sizeof shown_of_kernel / sizeof *shown_of_kernel)

static const char *const boundary_names[GT_BOUNDARIES] = {"L1", "L2", "DRAM"};
static const char *const boundary_keys[GT_BOUNDARIES] = {"l1", "l2", "dram"};

/* ---- words ---- */

const char *gt_finding_gain(const struct gt_finding *finding, const struct gt_traffic *traffic, char text[GT_FINDING_TEXT])
{
	static const char *const words[] = {[GT_GAIN_COMPUTED] = "would save ", [GT_GAIN_BOUNDED] = "at most "};
	enum gt_gain_basis last = GT_GAIN_NONE;
	char part[GT_WORDS], whole[GT_WORDS];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		const struct gt_gain *gain = &finding->gain[i];
		if (gain->basis == GT_GAIN_NONE)
			continue;
		length += (size_t)snprintf(text + length, GT_FINDING_TEXT - length, "%s%s%s of %s%s at %s", length ? ", " : "", gain->basis != last ? words[gain->basis] : "",
					   gt_number_words(gain->sectors, part), gt_number_words(traffic->sectors[i], whole), length ? "" : " sectors", boundary_names[i]);
		last = gain->basis;
	}
	if (finding->passes > 0)
		snprintf(text + length, GT_FINDING_TEXT - length, "%swould save %s passes, %.0f %% of all", length ? ", " : "", gt_number_words(finding->passes, part),
			 100 * finding->share);
	return text;
}

const char *gt_finding_command(const struct gt_finding *finding, const char *program, char text[GT_FINDING_TEXT])
{
	if (!finding->kind->command)
		return NULL;
	snprintf(text, GT_FINDING_TEXT, "gtrace %s %s", finding->kind->command, program ? program : "PROGRAM");
	return text;
}

static bool is_shown(const struct gt_finding *finding, const struct gt_findings_style *style)
{
	return style->all || finding->share >= GT_FINDINGS_LEAST;
}

/* ---- the order of kernels ---- */

static int by_cost(const void *left, const void *right)
{
	const struct gt_kernel_findings *a = *(const struct gt_kernel_findings *const *)left, *b = *(const struct gt_kernel_findings *const *)right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

const struct gt_kernel_findings **gt_findings_in_order(const struct gt_kernel_findings *findings, size_t n, struct gt_error *error)
{
	const struct gt_kernel_findings **order = malloc((n + 1) * sizeof *order);

	if (!order) {
		gt_fail_memory(error, "findings");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = &findings[i];
	qsort(order, n, sizeof *order, by_cost);
	return order;
}

/* ---- text ---- */

struct text {
	const struct gt_findings_style *style;
	FILE *to;
	size_t number; /* of the last finding */
	size_t numbered[64]; /* kinds of the findings that were written, by number: place in gt_finding_kinds */
	bool unplaced; /* one is at an instruction of a program that was compiled without source lines */
};

static const char *colour(const struct text *text, const char *escape)
{
	return text->style->colour ? escape : "";
}

#define NAME_CHARACTERS 50 /* of a kernel */
#define BOLD "\033[1m"
#define MARK "\033[33m"
#define PLAIN "\033[0m"

/* Words behind as many blanks as lines after the first have, and the end of the line. */
static void write_wrapped(FILE *to, const char *words, size_t indent)
{
	gt_wrapped_write(words, indent, indent, to);
	putc('\n', to);
}

static size_t add_step(const struct gt_traffic *traffic, size_t boundary, double before, char *text, size_t length)
{
	char bytes[GT_WORDS];
	double moved = (double)traffic->sectors[boundary] * GT_SECTOR;

	if (!traffic->known[boundary])
		return length;
	length += (size_t)snprintf(text + length, GT_FINDING_TEXT - length, " -> %s %s", boundary_names[boundary], gt_bytes_words(moved, bytes));
	if (before > 0)
		length += (size_t)snprintf(text + length, GT_FINDING_TEXT - length, ", %.*fx", moved / before < 0.0995 ? 3 : moved / before < 9.95 ? 2 : 1, moved / before);
	return length;
}

const char *gt_traffic_text(const struct gt_traffic *traffic, char text[GT_FINDING_TEXT])
{
	char bytes[GT_WORDS];
	double before = traffic->by_site ? (double)traffic->asked : 0;
	size_t length = (size_t)snprintf(text, GT_FINDING_TEXT, "asked %s", traffic->by_site ? gt_bytes_words(before, bytes) : "?");

	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		length = add_step(traffic, i, before, text, length);
		before = traffic->known[i] ? (double)traffic->sectors[i] * GT_SECTOR : 0;
	}
	return text;
}

static const char *const levels[] = {"l1", "l2"};
#define LEVELS (sizeof levels / sizeof *levels)

/* The reads of a level, and which of them hit, in its own units. False if there are none. */
static bool find_reads(const struct gt_kernel_findings *findings, const char *level, uint64_t *reads, uint64_t *hits)
{
	const struct gt_report_stage *stage = gt_report_find_stage(findings->kernel, level);

	return stage && gt_report_number(stage, "reads", reads) && gt_report_number(stage, "read_hits", hits) && *reads > 0;
}

/* "L1 hits 87.6 % of reads, L2 83.2 %; DRAM moves 1.00 times the 40 MB touched" */
static void write_ratios(const struct gt_kernel_findings *findings, FILE *to)
{
	const struct gt_traffic *traffic = &findings->traffic;
	char words[256] = "", bytes[GT_WORDS];
	size_t length = 0;

	for (size_t i = 0; i < LEVELS; i++) {
		uint64_t reads, hits;
		if (find_reads(findings, levels[i], &reads, &hits))
			length += (size_t)snprintf(words + length, sizeof words - length, "%s%s%s %.1f %%%s", length ? ", " : "", boundary_names[i], length ? "" : " hits",
						   100 * (double)hits / (double)reads, length ? "" : " of reads");
	}
	if (traffic->by_site && traffic->unique > 0 && traffic->known[GT_TO_DRAM])
		snprintf(words + length, sizeof words - length, "%sDRAM moves %.2f times the %s touched", length ? "; " : "",
			 (double)traffic->sectors[GT_TO_DRAM] * GT_SECTOR / (double)traffic->unique, gt_bytes_words((double)traffic->unique, bytes));
	if (words[0] == '\0')
		return;
	fputs("  ", to);
	write_wrapped(to, words, 2);
}

static size_t kind_number(const struct gt_finding_kind *kind)
{
	size_t i = 0;

	while (gt_finding_kinds[i] != kind)
		i++;
	return i;
}

static void write_finding(struct text *text, const struct gt_finding *finding, const struct gt_traffic *traffic)
{
	char gain[GT_FINDING_TEXT], where[GT_SOURCE_TEXT + GT_FINDING_ARRAYS + 8];
	FILE *to = text->to;

	if (text->number < sizeof text->numbered / sizeof *text->numbered)
		text->numbered[text->number] = kind_number(finding->kind);
	snprintf(where, sizeof where, "%s%s%s", finding->place, finding->place[0] && finding->arrays[0] ? "   " : "", finding->arrays);
	fprintf(to, "%3zu  %s%s%s", ++text->number, colour(text, BOLD), finding->kind->title, colour(text, PLAIN));
	if (5 + strlen(finding->kind->title) + 3 + strlen(where) > GT_WRAP_COLUMNS)
		fputs("\n  ", to);
	if (where[0])
		fprintf(to, "   %s%s%s", colour(text, MARK), where, colour(text, PLAIN));
	fputs("\n     ", to);
	write_wrapped(to, finding->text, 5);
	if (gt_finding_gain(finding, traffic, gain)[0] == '\0')
		return;
	fputs("     ", to);
	write_wrapped(to, gain, 5);
}

static void write_kernel_name(const struct text *text, const struct gt_kernel_findings *findings, double share, bool several)
{
	const struct gt_report_kernel *kernel = findings->kernel;
	uint64_t launches = gt_report_launches(kernel);
	char name[4 * NAME_CHARACTERS + 1], words[GT_KERNEL_NAME];
	const char *shown = gt_name_words(kernel->kernel.name, words);

	if (shown[0])
		gt_utf8_tidy(shown, NAME_CHARACTERS, name);
	else
		snprintf(name, sizeof name, "kernel %" PRIu64, kernel->kernel.id);
	fprintf(text->to, "\n%s%s%s", colour(text, BOLD), name, colour(text, PLAIN));
	if (launches > 1)
		fprintf(text->to, ", %" PRIu64 " launches", launches);
	if (several)
		fprintf(text->to, ", %.0f %% of the cost", 100 * share);
	putc('\n', text->to);
}

/* What no finding is known of, since stages did not count it: a text for each, which names the option that counts it. Returns how many. */
static size_t uncounted(const struct gt_kernel_findings *findings, const char *texts[1 + GT_SITE_LEVELS])
{
	static const char *const misses[GT_SITE_LEVELS] = {"misses of L1 (gcache --l1 --by site --causes)", "misses of L2 (gcache --l2 --by site --causes)"};
	size_t n = 0;

	if (!findings->traffic.by_site)
		texts[n++] = "accesses (gcoalesce --by site)";
	for (size_t i = 0; i < GT_SITE_LEVELS; i++)
		if (!findings->caused[i])
			texts[n++] = misses[i];
	return n;
}

static void write_nothing(const struct gt_kernel_findings *findings, FILE *to)
{
	const char *texts[1 + GT_SITE_LEVELS];

	if (uncounted(findings, texts) == 0)
		fputs("     nothing found: no finding would save 2 % of the traffic anywhere\n", to);
	else if (findings->traffic.by_site)
		fputs("     nothing found in what is counted\n", to);
}

static void write_uncounted(const struct gt_kernel_findings *findings, FILE *to)
{
	const char *texts[1 + GT_SITE_LEVELS];
	char words[GT_FINDING_TEXT] = "not counted by line, so not looked at:";
	size_t n = uncounted(findings, texts);

	for (size_t i = 0; i < n; i++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s %s", i ? "," : "", texts[i]);
	if (n == 0)
		return;
	fputs("     ", to);
	write_wrapped(to, words, 5);
}

static void write_kernel(struct text *text, const struct gt_kernel_findings *findings, size_t limit, double share, bool several)
{
	char words[GT_FINDING_TEXT];
	size_t shown = 0, left = 0;
	const bool recorded = gt_report_find_stage(findings->kernel, "ptx") != NULL;

	write_kernel_name(text, findings, share, several);
	fputs("  ", text->to);
	write_wrapped(text->to, gt_traffic_text(&findings->traffic, words), 2);
	write_ratios(findings, text->to);
	for (size_t i = 0; i < findings->n; i++) {
		if (is_shown(&findings->findings[i], text->style) && shown < limit) {
			write_finding(text, &findings->findings[i], &findings->traffic);
			text->unplaced |= recorded && strncmp(findings->findings[i].place, "0x", 2) == 0;
			shown++;
		} else {
			left++;
		}
	}
	if (shown == 0)
		write_nothing(findings, text->to);
	if (left > 0)
		fprintf(text->to, "     %zu smaller %s: --all\n", left, left == 1 ? "one" : "ones");
	write_uncounted(findings, text->to);
}

/* The findings' commands, each with the numbers of the findings that it shows more of. */
static void write_commands(const struct text *text)
{
	size_t known = sizeof text->numbered / sizeof *text->numbered, n = text->number < known ? text->number : known;

	for (size_t i = 0; i < n; i++) {
		const char *command = gt_finding_kinds[text->numbered[i]]->command;
		char numbers[80] = "", line[GT_FINDING_TEXT];
		size_t length = 0;
		bool first = command != NULL;
		for (size_t k = 0; first && k < i; k++) {
			const char *other = gt_finding_kinds[text->numbered[k]]->command;
			first = !other || strcmp(other, command) != 0;
		}
		for (size_t k = i; first && k < n; k++) {
			const char *other = gt_finding_kinds[text->numbered[k]]->command;
			if (other && strcmp(other, command) == 0 && length + 8 < 20)
				length += (size_t)snprintf(numbers + length, sizeof numbers - length, "%s%zu", length ? "," : "", k + 1);
		}
		struct gt_finding like = {.kind = gt_finding_kinds[text->numbered[i]]};
		if (first && gt_finding_command(&like, text->style->program, line))
			fprintf(text->to, "%s  more of %s: %s\n", i == 0 ? "\n" : "", numbers, line);
	}
}

/* The program without the options that stand before it. */
static const char *bare(const char *program)
{
	static const char *const options[] = {"--gpu ", "--keep-l2 ", "--stub "};

	for (size_t i = 0; i < sizeof options / sizeof *options;) {
		const size_t length = strlen(options[i]);
		const char *end = strncmp(program, options[i], length) != 0 ? NULL : i == 1 ? program + length - 1 : strchr(program + length, ' ');
		i = end ? 0 : i + 1;
		program = end ? end + 1 : program;
	}
	return program;
}

static uint64_t sum_of(const struct gt_report_stage *stage, const char *name)
{
	const struct gt_report_counter *counter = gt_report_find_counter(stage, name, 0);
	uint64_t sum = 0;

	for (size_t i = 0; counter && counter->value.kind == GT_COUNT_ARRAY && i < counter->value.n; i++)
		sum += counter->value.array[i];
	return sum;
}

/* What an array of the stages untraced adds up to, before the kernels and after the last, which has two of them. */
static uint64_t untraced(const struct gt_report *report, const char *name, const char *after)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report->total.n; i++)
		if (strcmp(report->total.stages[i].plain, gt_counters_untraced.stage) == 0)
			sum += sum_of(&report->total.stages[i], name) + sum_of(&report->total.stages[i], after);
	return sum;
}

/* "not traced: 3 calls of libraries, 268 M flops of BLAS". */
static void write_untraced(const struct text *text, const struct gt_report *report)
{
	const uint64_t calls = untraced(report, "calls", "calls_after"), flops = untraced(report, "flops", "flops_after");
	char words[GT_WORDS];

	if (calls == 0)
		return;
	fprintf(text->to, "not traced: %" PRIu64 " call%s of libraries", calls, calls == 1 ? "" : "s");
	if (flops > 0)
		fprintf(text->to, ", %s flops of BLAS", gt_number_words(flops, words));
	putc('\n', text->to);
}

static void write_heading(const struct text *text, const struct gt_report *report)
{
	char gpu[GT_GPU_TEXT], counts[96];
	const char *program = text->style->program ? bare(text->style->program) : "", *between = program[0] ? "   " : "";
	const struct gt_report_stage *sample = gt_report_find_stage(&report->total, gt_counters_sample.stage);
	uint64_t launches = 0, modelled;

	for (size_t i = 0; i < report->n; i++)
		launches += gt_report_launches(&report->kernels[i]);
	snprintf(gpu, sizeof gpu, "%s", report->gpu[0] ? report->gpu : "A GPU without a name");
	int length = snprintf(counts, sizeof counts, "%zu kernel%s", report->n, report->n == 1 ? "" : "s");
	if (launches > report->n)
		length += snprintf(counts + length, sizeof counts - (size_t)length, ", %" PRIu64 " launches", launches);
	if (sample && gt_report_number(sample, "modelled_launches", &modelled))
		snprintf(counts + length, sizeof counts - (size_t)length, " (%" PRIu64 " modelled)", modelled);
	if (strlen(gpu) + strlen(", modelled   ") + strlen(program) + strlen(between) + strlen(counts) > GT_WRAP_COLUMNS)
		between = "\n";
	fprintf(text->to, "%s, modelled%s%s%s%s\n", gt_utf8_printable(gpu), program[0] ? "   " : "", program, program[0] ? between : "   ", counts);
}

static double cost_of_all(const struct gt_kernel_findings *findings, size_t n)
{
	double cost = 0;

	for (size_t i = 0; i < n; i++)
		cost += findings[i].cost;
	return cost;
}

int gt_findings_write(const struct gt_kernel_findings *findings, const struct gt_report *report, const struct gt_findings_style *style, FILE *to,
		      struct gt_error *error)
{
	struct text text = {.style = style, .to = to};
	double cost = cost_of_all(findings, report->n), rest = 0;
	const struct gt_kernel_findings **order = gt_findings_in_order(findings, report->n, error);

	if (!order)
		return -1;
	write_heading(&text, report);
	write_untraced(&text, report);
	for (size_t i = 0; i < report->n; i++) {
		double share = cost > 0 ? order[i]->cost / cost : 0;
		if (style->all || i < KERNELS_SHOWN)
			write_kernel(&text, order[i], style->all ? SIZE_MAX : shown_of_kernel[i], share, report->n > 1);
		else
			rest += share;
	}
	if (report->n > KERNELS_SHOWN && !style->all)
		fprintf(to, "\n%zu more kernel%s %.0f %% of the cost: --all, --kernel RE\n", report->n - KERNELS_SHOWN,
			report->n - KERNELS_SHOWN == 1 ? " has" : "s have", 100 * rest);
	write_commands(&text);
	if (text.unplaced)
		fputs("  0x...: instructions without a source line: compile with nvcc -g -lineinfo\n", to);
	free(order);
	return 0;
}

/* ---- JSON ---- */

static void write_json_text(const char *name, const char *text, FILE *to)
{
	fprintf(to, "\"%s\": ", name);
	if (text && *text)
		gt_json_string(text, to);
	else
		fputs("null", to);
}

static void write_json_traffic(const struct gt_traffic *traffic, FILE *to)
{
	const char *comma = "";

	fputs("\"traffic\": {", to);
	if (traffic->by_site) {
		fprintf(to, "\"asked_bytes\": %" PRIu64 ", \"unique_bytes\": %" PRIu64, traffic->asked, traffic->unique);
		comma = ", ";
	}
	for (size_t i = 0; i < GT_BOUNDARIES; i++)
		if (traffic->known[i]) {
			fprintf(to, "%s\"%s_sectors\": %" PRIu64, comma, boundary_keys[i], traffic->sectors[i]);
			comma = ", ";
		}
	putc('}', to);
}

static void write_json_reads(const struct gt_kernel_findings *findings, FILE *to)
{
	const char *comma = "";
	uint64_t reads, hits;

	fputs("\"reads\": {", to);
	for (size_t i = 0; i < LEVELS; i++)
		if (find_reads(findings, levels[i], &reads, &hits)) {
			fprintf(to, "%s\"%s\": {\"reads\": %" PRIu64 ", \"hits\": %" PRIu64 "}", comma, levels[i], reads, hits);
			comma = ", ";
		}
	putc('}', to);
}

static void write_json_evidence(const struct gt_finding *finding, FILE *to)
{
	fputs(", \"evidence\": {", to);
	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct gt_evidence *evidence = &finding->evidence[i];
		fprintf(to, "%s\"%s\": {\"value\": ", i ? ", " : "", evidence->name);
		if (evidence->is_ratio)
			fprintf(to, "%.6g", evidence->ratio);
		else
			fprintf(to, "%" PRIu64, evidence->count);
		fprintf(to, ", \"unit\": \"%s\"}", evidence->unit);
	}
	putc('}', to);
}

static void write_json_gain(const struct gt_finding *finding, FILE *to)
{
	static const char *const bases[] = {[GT_GAIN_COMPUTED] = "computed", [GT_GAIN_BOUNDED] = "bounded"};
	const char *comma = "";

	fputs(", \"gain\": {", to);
	for (size_t i = 0; i < GT_BOUNDARIES; i++) {
		if (finding->gain[i].basis == GT_GAIN_NONE)
			continue;
		fprintf(to, "%s\"%s_sectors\": {\"value\": %" PRIu64 ", \"basis\": \"%s\"}", comma, boundary_keys[i], finding->gain[i].sectors, bases[finding->gain[i].basis]);
		comma = ", ";
	}
	if (finding->passes > 0)
		fprintf(to, "%s\"passes\": {\"value\": %" PRIu64 ", \"basis\": \"computed\"}", comma, finding->passes);
	fprintf(to, "}, \"share\": %.6g", finding->share);
}

void gt_finding_write_json(const struct gt_finding *finding, const struct gt_findings_style *style, FILE *to)
{
	char command[GT_FINDING_TEXT];

	fprintf(to, "{\"finding\": \"%s\", \"title\": \"%s\", ", finding->kind->id, finding->kind->title);
	write_json_text("place", finding->place, to);
	fputs(", ", to);
	write_json_text("arrays", finding->arrays, to);
	fputs(", ", to);
	write_json_text("text", finding->text, to);
	write_json_evidence(finding, to);
	write_json_gain(finding, to);
	fputs(", ", to);
	write_json_text("command", gt_finding_command(finding, style->program, command), to);
	putc('}', to);
}

static void write_json_uncounted(const struct gt_kernel_findings *findings, FILE *to)
{
	const char *texts[1 + GT_SITE_LEVELS];
	size_t n = uncounted(findings, texts);

	fputs(", \"uncounted\": [", to);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", to);
		gt_json_string(texts[i], to);
	}
	putc(']', to);
}

static void write_json_kernel(const struct gt_kernel_findings *findings, double cost_share, const struct gt_findings_style *style, FILE *to)
{
	const char *comma = "";

	fprintf(to, "{\"kernel\": %" PRIu64 ", ", findings->kernel->kernel.id);
	write_json_text("name", findings->kernel->kernel.name, to);
	fprintf(to, ", \"launches\": %" PRIu64 ", \"cost_share\": %.6g, ", gt_report_launches(findings->kernel), cost_share);
	write_json_traffic(&findings->traffic, to);
	fputs(", ", to);
	write_json_reads(findings, to);
	write_json_uncounted(findings, to);
	fputs(", \"findings\": [", to);
	for (size_t i = 0; i < findings->n; i++) {
		if (!is_shown(&findings->findings[i], style))
			continue;
		fprintf(to, "%s\n   ", comma);
		gt_finding_write_json(&findings->findings[i], style, to);
		comma = ",";
	}
	fputs("]}", to);
}

#define FINDINGS_VERSION 1

int gt_findings_write_json(const struct gt_kernel_findings *findings, const struct gt_report *report, const struct gt_findings_style *style, FILE *to,
			   struct gt_error *error)
{
	double cost = cost_of_all(findings, report->n);
	int result = 0;

	fprintf(to, "{\"gtrace_findings\": %d, ", FINDINGS_VERSION);
	write_json_text("gpu", report->gpu, to);
	fputs(", ", to);
	write_json_text("program", style->program, to);
	fprintf(to, ", \"untraced\": {\"calls\": %" PRIu64 ", \"flops\": %" PRIu64 "}", untraced(report, "calls", "calls_after"),
		untraced(report, "flops", "flops_after"));
	fputs(",\n \"kernels\": [", to);
	for (size_t i = 0; i < report->n; i++) {
		fputs(i ? ",\n  " : "\n  ", to);
		write_json_kernel(&findings[i], cost > 0 ? findings[i].cost / cost : 0, style, to);
	}
	putc(']', to);
	if (style->all) {
		fputs(",\n \"report\": ", to);
		result = gt_report_write(report, gt_report_form_find("gtrace", "json"), to, error);
	}
	fputs("}\n", to);
	return result;
}
