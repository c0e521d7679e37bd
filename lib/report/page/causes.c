/* SPDX-License-Identifier: MIT */
/* Why loads miss (gcache --causes): their causes in the sets, ways and sectors of the GPU's own caches, by kernel and by source line; and how
 * large a cache would have had what loads ask for again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counter/tables.h"
#include "report/format.h"
#include "report/page/part.h"
#include "report/places.h"

#define KERNELS_SHOWN 100
#define LINES_DRAWN 12

static const char *const causes[] = {"compulsory", "capacity", "conflict", "invalidated"};
#define CAUSES (sizeof causes / sizeof *causes)

static uint64_t number_of(const struct gt_report_stage *stage, const char *name)
{
	uint64_t value = 0;

	return gt_report_number(stage, name, &value) ? value : 0;
}

/* Whether the level found causes. */
static bool is_caused(const struct gt_report_stage *stage)
{
	uint64_t any;

	return gt_report_number(stage, "compulsory", &any) && gt_report_number(stage, "capacity", &any);
}

/* ---- by kernel ---- */

static void write_share(uint64_t part, uint64_t whole, FILE *to)
{
	char number[GT_TABLE_NUMBER];

	fprintf(to, "<td class=\"number\">%s", gt_table_number(part, number));
	if (whole > 0)
		fprintf(to, " <span class=\"part\">%.1f %%</span>", 100 * (double)part / (double)whole);
	fputs("</td>", to);
}

static void write_kernel(const struct gt_page *page, const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, FILE *to)
{
	uint64_t reads = number_of(stage, "reads"), misses = reads - number_of(stage, "read_hits"), value;
	char name[GT_PAGE_NAME];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(gt_page_name(page, kernel, name), to);
	fputs("</th><td>", to);
	gt_markup_text(stage->name, to);
	fputs("</td>", to);
	write_share(misses, reads, to);
	for (size_t i = 0; i < CAUSES; i++)
		write_share(number_of(stage, causes[i]), misses, to);
	if (gt_report_number(stage, "elsewhere", &value))
		write_share(value, misses, to);
	else
		fputs("<td class=\"number\">-</td>", to);
	fputs("</tr>\n", to);
}

static void write_kernels(const struct gt_page *page, FILE *to)
{
	const struct gt_report *report = page->report;
	const struct gt_report_stage *chain[GT_CHAIN];

	fputs("<p>Sectors that loads did not find, by the reason: compulsory, nothing had brought them since the cache was empty; capacity, a fully associative LRU "
	      "cache of as many lines has not got them either; conflict, it would have had them; invalidated, a store or an atomic took them away. "
	      "Of the compulsory ones, some had been given to another SM before.</p>\n"
	      "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\">level</th>"
	      "<th scope=\"col\" class=\"number\">load misses</th>", to);
	for (size_t i = 0; i < CAUSES; i++)
		fprintf(to, "<th scope=\"col\" class=\"number\">%s</th>", causes[i]);
	fputs("<th scope=\"col\" class=\"number\">another SM had it</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < report->n && i < KERNELS_SHOWN; i++) {
		size_t n = gt_report_chain(&report->kernels[i], chain);
		for (size_t k = 0; k < n; k++)
			if (is_caused(chain[k]))
				write_kernel(page, &report->kernels[i], chain[k], to);
	}
	fputs("</tbody></table></div>\n", to);
	if (report->n > KERNELS_SHOWN)
		fprintf(to, "<p>The first %d of %zu kernels.</p>\n", KERNELS_SHOWN, report->n);
}

/* ---- by line ---- */

/* The place with most misses of a level that is not yet drawn. */
static struct gt_place *most_of(struct gt_places *places, int level, const bool *drawn)
{
	struct gt_place *most = NULL;

	for (size_t i = 0; i < places->n; i++) {
		uint64_t misses = gt_place_misses(&places->places[i], level);
		if (!drawn[i] && misses > 0 && (!most || misses > gt_place_misses(most, level)))
			most = &places->places[i];
	}
	return most;
}

/* "blur.cu:13", or the instruction, "0x1a of kernel 2". */
static void name_place(const struct gt_place *place, char name[GT_SOURCE_TEXT + 32])
{
	const struct gt_source source = {.line = place->line, .file = place->file};
	char text[GT_SOURCE_TEXT];

	if (place->file[0])
		snprintf(name, GT_SOURCE_TEXT + 32, "%s", gt_source_format(&source, text));
	else
		snprintf(name, GT_SOURCE_TEXT + 32, "0x%" PRIx64 " of kernel %" PRIu64, place->pc, place->kernel->kernel.id);
}

static int add_place(struct gt_sheet *sheet, const struct gt_place *place, int level, struct gt_error *error)
{
	const struct gt_site_level *counted = &place->levels[level];
	const uint64_t numbers[CAUSES] = {counted->compulsory, counted->capacity, counted->conflict, counted->invalidated};
	char name[GT_SOURCE_TEXT + 32], text[CAUSES][24];

	name_place(place, name);
	for (size_t i = 0; i < CAUSES; i++)
		snprintf(text[i], sizeof text[i], "%" PRIu64, numbers[i]);
	return gt_sheet_row(sheet, (const char *const[]){name, text[0], text[1], text[2], text[3]}, 1 + CAUSES, error);
}

static int draw_lines(struct gt_places *places, int level, bool *drawn, FILE *to, struct gt_error *error)
{
	static const char *const captions[GT_SITE_LEVELS] = {"Load misses of L1 by line and cause.", "Load misses of L2 by line and cause."};
	struct gt_plot_options options = {.x = "line", .y = "compulsory,capacity,conflict,invalidated", .x_label = "source line",
					  .y_label = "load misses, sectors", .stacked = true};
	struct gt_place *place;
	struct gt_sheet sheet;

	memset(drawn, 0, places->n * sizeof *drawn);
	gt_sheet_begin(&sheet, "report");
	int result = gt_sheet_row(&sheet, (const char *const[]){"line", causes[0], causes[1], causes[2], causes[3]}, 1 + CAUSES, error);
	for (size_t i = 0; i < LINES_DRAWN && result == 0 && (place = most_of(places, level, drawn)); i++) {
		drawn[place - places->places] = true;
		result = add_place(&sheet, place, level, error);
	}
	if (result == 0)
		return gt_page_picture("bars", &options, &sheet, captions[level], to, error);
	gt_sheet_clear(&sheet);
	return -1;
}

/* A picture for each level of which sites were counted. */
static int draw(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_places places;
	int result = gt_places_gather(&places, page->report, error);
	bool *drawn = result == 0 ? calloc(places.n + 1, sizeof *drawn) : NULL;

	if (result == 0 && !drawn)
		result = gt_fail_memory(error, "the page");
	gt_places_sum(&places, GT_PLACE_BY_LINE);
	fputs("<div class=\"pictures\">\n", to);
	for (int level = 0; level < GT_SITE_LEVELS && result == 0; level++)
		if (places.caused[level])
			result = draw_lines(&places, level, drawn, to, error);
	fputs("</div>\n", to);
	free(drawn);
	gt_places_clear(&places);
	return result;
}

static bool has_causes(const struct gt_page *page)
{
	const struct gt_report_stage *chain[GT_CHAIN];
	size_t n = gt_report_chain(&page->report->total, chain);

	for (size_t i = 0; i < n; i++)
		if (is_caused(chain[i]))
			return true;
	return false;
}

static int write_causes(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	write_kernels(page, to);
	return draw(page, to, error);
}

const struct gt_page_section gt_page_causes = {.id = "causes", .heading = "Causes of load misses", .has = has_causes, .write = write_causes};

/* ---- reuse ---- */

static const struct gt_report_value *distances_of(const struct gt_report_stage *stage)
{
	for (size_t i = 0; i < stage->n; i++)
		if (strcmp(stage->counters[i].value.name, "distance") == 0 && stage->counters[i].value.kind == GT_COUNT_ARRAY)
			return &stage->counters[i].value;
	return NULL;
}

static uint64_t sum_of(const struct gt_report_value *distances)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < distances->n; i++)
		sum += distances->array[i];
	return sum;
}

/* The bytes of a cache that has a share of what is asked for again. */
static uint64_t bytes_for(const struct gt_report_value *distances, uint64_t sum, double share, uint64_t line)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < distances->n; i++) {
		seen += distances->array[i];
		if ((double)seen >= share * (double)sum)
			return gt_distance_end((unsigned)i) * line;
	}
	return 0;
}

static void write_size(uint64_t bytes, FILE *to)
{
	char number[GT_WORDS];

	fprintf(to, "<td class=\"number\">%s</td>", gt_bytes_words((double)bytes, number));
}

static void write_reuse(const struct gt_page *page, const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, FILE *to)
{
	static const double shares[] = {0.5, 0.9, 0.99};
	const struct gt_report_value *distances = distances_of(stage);
	uint64_t line = number_of(stage, "line"), size, sum = sum_of(distances), reads = number_of(stage, "reads");
	char name[GT_PAGE_NAME];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(gt_page_name(page, kernel, name), to);
	fputs("</th><td>", to);
	gt_markup_text(stage->name, to);
	fputs("</td>", to);
	gt_page_number(reads, to);
	write_share(sum, reads, to);
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (sum > 0)
			write_size(bytes_for(distances, sum, shares[i], line), to);
		else
			fputs("<td class=\"number\">-</td>", to);
	if (gt_report_number(stage, "size", &size))
		write_size(size, to);
	else
		fputs("<td class=\"number\">-</td>", to);
	fputs("</tr>\n", to);
}

/* What reaches a level, by the size of cache that has it: a bar a doubling. */
static int draw_reuse(const struct gt_report_stage *stage, FILE *to, struct gt_error *error)
{
	const struct gt_report_value *distances = distances_of(stage);
	struct gt_plot_options options = {.x = "size", .y = "sectors", .x_label = "a cache of this size has them (KB)", .y_label = "load sectors"};
	uint64_t line = number_of(stage, "line"), doublings[64] = {0};
	char caption[GT_REPORT_STAGE_NAME + 200], text[2][32];
	size_t first = 64, end = 0;
	struct gt_sheet sheet;

	for (size_t i = 0; i < distances->n; i++) {
		size_t k = 0;
		while (k < 63 && UINT64_C(1) << k < gt_distance_end((unsigned)i) * line)
			k++;
		doublings[k] += distances->array[i];
		if (distances->array[i] > 0) {
			first = k < first ? k : first;
			end = k + 1;
		}
	}
	gt_sheet_begin(&sheet, "report");
	int result = gt_sheet_row(&sheet, (const char *const[]){"size", "sectors"}, 2, error);
	for (size_t k = first; k < end && result == 0; k++) {
		snprintf(text[0], sizeof text[0], "%.4g", (double)(UINT64_C(1) << k) / 1024);
		snprintf(text[1], sizeof text[1], "%" PRIu64, doublings[k]);
		result = gt_sheet_row(&sheet, (const char *const[]){text[0], text[1]}, 2, error);
	}
	snprintf(caption, sizeof caption, "%s: what loads ask for again, by the least LRU cache that still has it; sectors that are new are not drawn.", stage->name);
	if (result == 0)
		return gt_page_picture("bars", &options, &sheet, caption, to, error);
	gt_sheet_clear(&sheet);
	return -1;
}

static bool has_reuse(const struct gt_page *page)
{
	const struct gt_report_stage *chain[GT_CHAIN];
	size_t n = gt_report_chain(&page->report->total, chain);

	for (size_t i = 0; i < n; i++)
		if (distances_of(chain[i]) && number_of(chain[i], "line") > 0)
			return true;
	return false;
}

static int write_distances(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	const struct gt_report *report = page->report;
	const struct gt_report_stage *chain[GT_CHAIN];
	int result = 0;

	fputs("<p>What loads ask a level for again, and how large a fully associative LRU cache has it: for half of these sectors, for 90 % and for 99 %.</p>\n"
	      "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\">level</th>"
	      "<th scope=\"col\" class=\"number\">load sectors</th><th scope=\"col\" class=\"number\">asked for again</th><th scope=\"col\" class=\"number\">half in</th>"
	      "<th scope=\"col\" class=\"number\">90 % in</th><th scope=\"col\" class=\"number\">99 % in</th><th scope=\"col\" class=\"number\">this cache</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < report->n && i < KERNELS_SHOWN; i++) {
		size_t n = gt_report_chain(&report->kernels[i], chain);
		for (size_t k = 0; k < n; k++)
			if (distances_of(chain[k]))
				write_reuse(page, &report->kernels[i], chain[k], to);
	}
	fputs("</tbody></table></div>\n", to);
	if (report->n > KERNELS_SHOWN)
		fprintf(to, "<p>The first %d of %zu kernels.</p>\n", KERNELS_SHOWN, report->n);
	fputs("<div class=\"pictures\">\n", to);
	size_t n = gt_report_chain(&report->total, chain);
	for (size_t k = 0; k < n && result == 0; k++)
		if (distances_of(chain[k]))
			result = draw_reuse(chain[k], to, error);
	fputs("</div>\n", to);
	return result;
}

const struct gt_page_section gt_page_reuse = {.id = "reuse", .heading = "Reuse", .has = has_reuse, .write = write_distances};
