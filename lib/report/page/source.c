/* SPDX-License-Identifier: MIT */
/* Where accesses are: the source with the counts of each line beside it, and the same of arrays. Of a source file, which is read
 * where the compiler found it, only lines with accesses and the lines around them are put into the page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/page/part.h"
#include "report/places.h"

#define LINES_SHOWN 300	      /* of all files, those that cost most */
#define INSTRUCTIONS_SHOWN 40
#define ARRAYS_SHOWN 60
#define AROUND 2	      /* lines shown before and after one with accesses */
#define NAMED 3		      /* arrays of a line that are named */

/* ---- the columns of a table of places ---- */

/* Which columns there are: none is empty throughout. */
struct columns {
	const struct gt_places *places;
	bool loads, ops[GT_PLACE_OPS];
	uint64_t weight, most; /* of all places; of the one with most */
	size_t n;
};

static bool has_op(const struct gt_place *place, int op)
{
	return place->asked[op].accesses > 0;
}

static struct columns find_columns(const struct gt_places *places)
{
	struct columns columns = {.places = places};

	for (size_t i = 0; i < places->n; i++) {
		uint64_t weight = gt_place_weight(places, &places->places[i]);
		columns.weight += weight;
		columns.most = weight > columns.most ? weight : columns.most;
	}
	return columns;
}

static bool loads(const struct gt_place *place)
{
	return has_op(place, GT_PLACE_LOADS) || place->levels[GT_SITE_L1].reads > 0 || place->levels[GT_SITE_L2].reads > 0;
}

/* The columns that some of the places have something in. */
static void choose_columns(struct columns *columns, size_t first, size_t end)
{
	columns->loads = false;
	for (int op = 0; op < GT_PLACE_OPS; op++)
		columns->ops[op] = false;
	for (size_t i = first; i < end; i++) {
		const struct gt_place *place = &columns->places->places[i];
		for (int op = 0; op < GT_PLACE_OPS; op++)
			columns->ops[op] |= has_op(place, op);
		columns->loads |= loads(place);
	}
}

/* The words of the headings of an operation: its accesses, and what each of them takes, beside the least that would do. */
static const struct {
	const char *accesses, *each;
} op_headings[GT_PLACE_OPS] = {
	[GT_PLACE_LOADS] = {"loads", "sectors a load (least)"},
	[GT_PLACE_STORES] = {"stores", "sectors a store (least)"},
	[GT_PLACE_ATOMICS] = {"atomics", "sectors an atomic (least)"},
	[GT_PLACE_SHARED] = {"shared accesses", "passes each (least)"},
};

static void write_heading(const char *text, struct columns *columns, FILE *to)
{
	fprintf(to, "<th scope=\"col\" class=\"number\">%s</th>", text);
	columns->n++;
}

static void write_op_headings(int op, struct columns *columns, FILE *to)
{
	if (columns->ops[op]) {
		write_heading(op_headings[op].accesses, columns, to);
		write_heading(op_headings[op].each, columns, to);
	}
}

/* The headings, and how many there are. */
static void write_headings(struct columns *columns, FILE *to)
{
	const struct gt_places *places = columns->places;

	columns->n = 0;
	if (columns->loads)
		write_heading(places->level[GT_SITE_L1] ? "of all load misses" : "of all load sectors", columns, to);
	write_op_headings(GT_PLACE_LOADS, columns, to);
	if (columns->loads && places->level[GT_SITE_L1]) {
		write_heading("L1 load hits", columns, to);
		write_heading(places->caused[GT_SITE_L1] ? "L1 load misses by cause" : "L1 load misses", columns, to);
	}
	if (columns->loads && places->level[GT_SITE_L2])
		write_heading("L2 load hits", columns, to);
	if (columns->loads && places->from_memory)
		write_heading("sectors from DRAM", columns, to);
	for (int op = GT_PLACE_STORES; op < GT_PLACE_OPS; op++)
		write_op_headings(op, columns, to);
}

static void write_share(uint64_t part, uint64_t whole, FILE *to)
{
	if (whole > 0)
		fprintf(to, "<td class=\"number\">%.1f %%</td>", 100 * (double)part / (double)whole);
	else
		fputs("<td class=\"number\">-</td>", to);
}

static void write_op(const struct gt_place *place, int op, const struct columns *columns, FILE *to)
{
	const struct gt_site_access *asked = &place->asked[op];
	uint64_t took = op == GT_PLACE_SHARED ? asked->passes : asked->sectors;
	uint64_t least = op == GT_PLACE_SHARED ? asked->least_passes : asked->least_sectors;

	if (!columns->ops[op])
		return;
	if (asked->accesses == 0) {
		fputs("<td class=\"number\">-</td><td class=\"number\">-</td>", to);
		return;
	}
	gt_page_number(asked->accesses, to);
	fprintf(to, "<td class=\"number\">%.2f (%.2f)</td>", (double)took / (double)asked->accesses, (double)least / (double)asked->accesses);
}

/* Misses with a bar of their causes, of a length that is a share of the place's with most. */
static void write_causes(const struct gt_place *place, const struct columns *columns, FILE *to)
{
	static const char *const names[] = {"compulsory", "capacity", "conflict", "invalidated"};
	const struct gt_site_level *level = &place->levels[GT_SITE_L1];
	const uint64_t causes[] = {level->compulsory, level->capacity, level->conflict, level->invalidated};
	uint64_t misses = gt_place_misses(place, GT_SITE_L1);
	char number[GT_TABLE_NUMBER];

	if (!loads(place)) {
		fputs("<td class=\"number\">-</td>", to);
		return;
	}
	fprintf(to, "<td class=\"number\">%s", gt_table_number(misses, number));
	if (columns->places->caused[GT_SITE_L1] && misses > 0) {
		fputs("<span class=\"causes\" role=\"img\" aria-label=\"", to);
		for (int i = 0; i < 4; i++)
			fprintf(to, "%s%s %s", i ? ", " : "", names[i], gt_table_number(causes[i], number));
		fputs("\">", to);
		for (int i = 0; i < 4; i++)
			if (causes[i] > 0)
				fprintf(to, "<i class=\"k%d\" style=\"width:%.2f%%\" title=\"%s %s\"></i>", i,
					100 * (double)causes[i] / (double)columns->most, names[i], gt_table_number(causes[i], number));
		fputs("</span>", to);
	}
	fputs("</td>", to);
}

/* The class of a row's first cell and of its share: the hotter, the larger the share. */
static const char *heat_of(const struct gt_place *place, const struct columns *columns)
{
	double share = columns->weight ? (double)gt_place_weight(columns->places, place) / (double)columns->weight : 0;

	return share >= 0.4 ? "h4" : share >= 0.15 ? "h3" : share >= 0.05 ? "h2" : share >= 0.01 ? "h1" : "h0";
}

static void write_numbers(const struct gt_place *place, const struct columns *columns, FILE *to)
{
	const struct gt_places *places = columns->places;

	if (columns->loads) {
		fprintf(to, "<td class=\"number %s\">", heat_of(place, columns));
		if (loads(place) && columns->weight > 0)
			fprintf(to, "%.1f %%</td>", 100 * (double)gt_place_weight(places, place) / (double)columns->weight);
		else
			fputs("-</td>", to);
	}
	write_op(place, GT_PLACE_LOADS, columns, to);
	if (columns->loads && places->level[GT_SITE_L1]) {
		write_share(place->levels[GT_SITE_L1].read_hits, place->levels[GT_SITE_L1].reads, to);
		write_causes(place, columns, to);
	}
	if (columns->loads && places->level[GT_SITE_L2])
		write_share(place->levels[GT_SITE_L2].read_hits, place->levels[GT_SITE_L2].reads, to);
	if (columns->loads && places->from_memory && !loads(place) && place->levels[GT_SITE_L2].sent_reads == 0)
		fputs("<td class=\"number\">-</td>", to);
	else if (columns->loads && places->from_memory)
		gt_page_number(place->levels[GT_SITE_L2].sent_reads, to);
	for (int op = GT_PLACE_STORES; op < GT_PLACE_OPS; op++)
		write_op(place, op, columns, to);
}

/* ---- lines of source ---- */

static void write_code(const struct gt_source_text *text, uint64_t line, FILE *to)
{
	char wide[GT_SOURCE_LETTERS];

	gt_source_text_line(text, line, wide);
	fputs("<td class=\"code\"><code>", to);
	gt_markup_text(wide, to);
	fputs("</code></td>", to);
}

/* The names of the arrays that a line accesses: `detail` has its arrays, from index *at on. */
static void write_arrays(const struct gt_places *detail, const struct gt_place *line, FILE *to)
{
	size_t n = 0;

	fputs("<td class=\"arrays\">", to);
	for (size_t i = 0; i < detail->n; i++) {
		const struct gt_place *place = &detail->places[i];
		if (strcmp(place->file, line->file) != 0 || place->line != line->line || (!line->file[0] && (place->pc != line->pc || place->kernel != line->kernel)) ||
		    !place->array || !place->array[0] || strcmp(place->array, "-") == 0)
			continue;
		if (n < NAMED) {
			fputs(n ? ",<br>" : "", to);
			gt_markup_text(place->array, to);
		}
		n++;
	}
	if (n > NAMED)
		fprintf(to, "<br>and %zu more", n - NAMED);
	fputs(n ? "</td>" : "-</td>", to);
}

/* ---- the table of a file ---- */

struct listing {
	const struct gt_page *page;
	struct gt_places lines, detail; /* by line; by line and array */
	struct columns columns;
	FILE *to;
};

static void write_context(const struct listing *listing, const struct gt_source_text *text, uint64_t from, uint64_t to_line)
{
	for (uint64_t line = from; line <= to_line && line <= text->n; line++) {
		fprintf(listing->to, "<tr class=\"context\"><th scope=\"row\" class=\"number\">%" PRIu64 "</th>", line);
		write_code(text, line, listing->to);
		fprintf(listing->to, "<td colspan=\"%zu\"></td></tr>\n", listing->columns.n + listing->lines.arrays);
	}
}

/* The lines between two with accesses, of which the middle is left out. */
static void write_between(const struct listing *listing, const struct gt_source_text *text, uint64_t last, uint64_t next)
{
	uint64_t end = last ? last + AROUND : 0, begin = next > AROUND ? next - AROUND : 1;

	if (text->n == 0 || next <= last)
		return;
	if (last && end + 2 >= begin) { /* a line is no longer than what would say that it is left out */
		write_context(listing, text, last + 1, next - 1);
		return;
	}
	if (last)
		write_context(listing, text, last + 1, end);
	if (begin > end + 1)
		fprintf(listing->to, "<tr class=\"gap\"><td colspan=\"%zu\">⋯ %" PRIu64 " %s</td></tr>\n",
			listing->columns.n + 2 + listing->lines.arrays, begin - end - 1, begin - end == 2 ? "line" : "lines");
	write_context(listing, text, begin, next - 1);
}

static void write_line(const struct listing *listing, const struct gt_source_text *text, const struct gt_place *place)
{
	FILE *to = listing->to;

	fprintf(to, "<tr><th scope=\"row\" class=\"number %s\">%" PRIu64 "</th>", heat_of(place, &listing->columns), place->line);
	if (text->n > 0)
		write_code(text, place->line, to);
	if (listing->lines.arrays)
		write_arrays(&listing->detail, place, to);
	write_numbers(place, &listing->columns, to);
	fputs("</tr>\n", to);
}

static void begin_table(struct listing *listing, const char *first, bool code)
{
	fprintf(listing->to, "<div class=\"scroll\" tabindex=\"0\"><table class=\"places\">\n<thead><tr><th scope=\"col\">%s</th>%s%s", first,
		code ? "<th scope=\"col\">source</th>" : "", listing->lines.arrays ? "<th scope=\"col\">arrays</th>" : "");
	write_headings(&listing->columns, listing->to);
	fputs("</tr></thead>\n<tbody>\n", listing->to);
}

/* Whether a place is one of those that cost most: no fewer than the least weight that is shown. */
static bool is_shown(const struct listing *listing, const struct gt_place *place, uint64_t least)
{
	return gt_place_weight(&listing->lines, place) >= least;
}

/* The text of a file with accesses up to a line. If it is not there, or has no such line, says so, and there is none. */
static struct gt_source_text find_text(const char *name, uint64_t last, FILE *to)
{
	struct gt_source_text text = gt_source_text_read(name);

	if (text.n >= last)
		return text;
	fputs("<p>The file ", to);
	gt_markup_text(name, to);
	if (text.n == 0)
		fputs(" is not here: only numbers of lines are shown.</p>\n", to);
	else
		fprintf(to, " has %zu lines, and is not the one that was compiled: only numbers of lines are shown.</p>\n", text.n);
	gt_source_text_clear(&text);
	return text;
}

static void write_file(struct listing *listing, size_t first, size_t end, uint64_t least)
{
	const char *name = listing->lines.places[first].file, *base = strrchr(name, '/');
	uint64_t last = 0;

	fputs("<h3>", listing->to);
	gt_markup_text(base ? base + 1 : name, listing->to);
	fputs("</h3>\n", listing->to);
	struct gt_source_text text = find_text(name, listing->lines.places[end - 1].line, listing->to);
	choose_columns(&listing->columns, first, end);
	begin_table(listing, "line", text.n > 0);
	for (size_t i = first; i < end; i++) {
		const struct gt_place *place = &listing->lines.places[i];
		if (!is_shown(listing, place, least))
			continue;
		write_between(listing, &text, last, place->line);
		write_line(listing, &text, place);
		last = place->line;
	}
	if (text.n > 0)
		write_context(listing, &text, last + 1, last + AROUND);
	fputs("</tbody></table></div>\n", listing->to);
	gt_source_text_clear(&text);
}

/* ---- the files, that with most load misses first ---- */

struct file {
	size_t first, end;
	uint64_t weight;
};

static int by_weight(const void *left, const void *right)
{
	const struct file *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->first > b->first) - (a->first < b->first);
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

/* The weight of the last of the LINES_SHOWN lines that cost most, and 0 if there are no more. */
static uint64_t least_shown(const struct listing *listing, uint64_t *weights)
{
	for (size_t i = 0; i < listing->lines.n; i++)
		weights[i] = gt_place_weight(&listing->lines, &listing->lines.places[i]);
	qsort(weights, listing->lines.n, sizeof *weights, by_number);
	return listing->lines.n > LINES_SHOWN ? weights[LINES_SHOWN - 1] : 0;
}

static size_t find_files(const struct listing *listing, struct file *files)
{
	const struct gt_places *lines = &listing->lines;
	size_t n = 0;

	for (size_t i = 0; i < lines->n; i++) {
		if (!lines->places[i].file[0])
			continue;
		if (n == 0 || strcmp(lines->places[files[n - 1].first].file, lines->places[i].file) != 0)
			files[n++] = (struct file){.first = i};
		files[n - 1].end = i + 1;
		files[n - 1].weight += gt_place_weight(lines, &lines->places[i]);
	}
	qsort(files, n, sizeof *files, by_weight);
	return n;
}

/* Instructions of which the stream does not know the line; they are the first places. */
static void write_unplaced(struct listing *listing)
{
	const struct gt_places *lines = &listing->lines;
	char name[GT_PAGE_NAME];
	size_t n = 0, shown = 0;

	while (n < lines->n && !lines->places[n].file[0])
		n++;
	if (n == 0)
		return;
	fprintf(listing->to, "<h3>Instructions without a source line</h3>\n<p>%s</p>\n",
		lines->lines ? "The compiler gave them none." : "The program has no source lines: compile it with nvcc -lineinfo, and its source is shown here.");
	choose_columns(&listing->columns, 0, n);
	begin_table(listing, "instruction", false);
	for (; shown < n && shown < INSTRUCTIONS_SHOWN; shown++) {
		const struct gt_place *place = &lines->places[shown];
		fprintf(listing->to, "<tr><th scope=\"row\" class=\"%s\">0x%" PRIx64 " of ", heat_of(place, &listing->columns), place->pc);
		gt_markup_text(gt_page_name(listing->page, place->kernel, name), listing->to);
		fputs("</th>", listing->to);
		if (lines->arrays)
			write_arrays(&listing->detail, place, listing->to);
		write_numbers(place, &listing->columns, listing->to);
		fputs("</tr>\n", listing->to);
	}
	fputs("</tbody></table></div>\n", listing->to);
	if (n > shown)
		fprintf(listing->to, "<p>The first %zu of %zu instructions.</p>\n", shown, n);
}

static void write_listing(struct listing *listing, struct file *files, uint64_t *weights)
{
	uint64_t least = least_shown(listing, weights);
	size_t n = find_files(listing, files);

	fprintf(listing->to, "<p>What loads, stores and atomics of a line do. The darker its number, the larger its part of %s.%s</p>\n",
		listing->lines.level[GT_SITE_L1] ? "all load misses of L1" : "all sectors that loads touch",
		listing->lines.asked ? " In brackets, the least that the same lanes and sizes can take." : "");
	if (listing->lines.caused[GT_SITE_L1])
		fputs("<p class=\"key\">Causes of misses: <i class=\"k0\"></i> compulsory, <i class=\"k1\"></i> capacity, <i class=\"k2\"></i> conflict, "
		      "<i class=\"k3\"></i> invalidated by a store or an atomic.</p>\n", listing->to);
	for (size_t i = 0; i < n; i++)
		if (files[i].weight >= least)
			write_file(listing, files[i].first, files[i].end, least);
	if (least > 0)
		fprintf(listing->to, "<p>Shown are the %d lines that cost most, of %zu.</p>\n", LINES_SHOWN, listing->lines.n);
	write_unplaced(listing);
}

static bool has_source(const struct gt_page *page)
{
	return gt_places_in(page->report);
}

static int write_source(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct listing listing = {.page = page, .to = to};
	int result = gt_places_gather(&listing.lines, page->report, error);
	size_t n = listing.lines.n + 1;
	struct file *files = calloc(n, sizeof *files);
	uint64_t *weights = calloc(n, sizeof *weights);

	if (result == 0)
		result = gt_places_gather(&listing.detail, page->report, error);
	if (result == 0 && (!files || !weights))
		result = gt_fail_memory(error, "the page");
	if (result == 0 && listing.lines.n > 0) {
		gt_places_sum(&listing.lines, GT_PLACE_BY_LINE);
		gt_places_sum(&listing.detail, GT_PLACE_BY_LINE_AND_ARRAY);
		listing.columns = find_columns(&listing.lines);
		write_listing(&listing, files, weights);
	}
	free(files);
	free(weights);
	gt_places_clear(&listing.lines);
	gt_places_clear(&listing.detail);
	return result;
}

const struct gt_page_section gt_page_source = {.id = "source", .heading = "Source", .has = has_source, .write = write_source};

/* ---- arrays ---- */

static int by_misses(const void *left, const void *right)
{
	const struct gt_place *a = left, *b = right;
	uint64_t misses_a = gt_place_misses(a, GT_SITE_L1), misses_b = gt_place_misses(b, GT_SITE_L1);

	if (misses_a != misses_b)
		return misses_a < misses_b ? 1 : -1;
	return strcmp(a->array, b->array);
}

static void write_array_table(struct columns *columns, FILE *to)
{
	const struct gt_places *places = columns->places;

	fputs("<p>What the accesses to an array do, of all lines; that with most load misses of L1 first.</p>\n<div class=\"scroll\" tabindex=\"0\">"
	      "<table class=\"places sort\">\n<thead><tr><th scope=\"col\">array</th>", to);
	write_headings(columns, to);
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < places->n && i < ARRAYS_SHOWN; i++) {
		const struct gt_place *place = &places->places[i];
		fprintf(to, "<tr><th scope=\"row\" class=\"%s\">", heat_of(place, columns));
		gt_markup_text(strcmp(place->array, "-") == 0 ? "(outside of all)" : place->array, to);
		fputs("</th>", to);
		write_numbers(place, columns, to);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table></div>\n", to);
	if (places->n > ARRAYS_SHOWN)
		fprintf(to, "<p>The first %d of %zu arrays.</p>\n", ARRAYS_SHOWN, places->n);
}

static bool has_arrays(const struct gt_page *page)
{
	return gt_places_have_arrays(page->report);
}

static int write_arrays_of_all(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_places places;
	int result = gt_places_gather(&places, page->report, error);

	if (result == 0) {
		gt_places_sum(&places, GT_PLACE_BY_ARRAY);
		struct columns columns = find_columns(&places);
		choose_columns(&columns, 0, places.n);
		qsort(places.places, places.n, sizeof *places.places, by_misses);
		write_array_table(&columns, to);
	}
	gt_places_clear(&places);
	return result;
}

const struct gt_page_section gt_page_arrays = {.id = "arrays", .heading = "Arrays", .has = has_arrays, .write = write_arrays_of_all};
