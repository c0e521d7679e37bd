/* SPDX-License-Identifier: MIT */
/* The source on a terminal, of at most 100 columns, with what each line's accesses take, hit and miss: a row for each operation of a line that
 * accesses memory, among the lines around it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format.h"
#include "report/places.h"
#include "report/report.h"

#define AROUND 1	/* lines shown before and after one with accesses */
#define CODE_COLUMNS 45 /* of source, behind the numbers */
#define INSTRUCTIONS 40 /* without a source line: those with most */

static const char *const ops[GT_PLACE_OPS] = {
	[GT_PLACE_LOADS] = "load", [GT_PLACE_STORES] = "store", [GT_PLACE_ATOMICS] = "atomic", [GT_PLACE_SHARED] = "shared"};

static const char *op_name(const struct gt_place *place, int op)
{
	return op == GT_PLACE_LOADS && place->several ? "several" : ops[op];
}

struct listing {
	const struct gt_places *places;
	uint64_t weight; /* of all places */
	bool colour;
	FILE *to;
};

static bool has_op(const struct gt_place *place, int op)
{
	const struct gt_site_level *l1 = &place->levels[GT_SITE_L1], *l2 = &place->levels[GT_SITE_L2];

	if (op == GT_PLACE_LOADS && l1->reads + l2->reads > 0)
		return true;
	return place->asked[op].accesses + place->dram_reads[op] > 0;
}

/* ---- a row ---- */

/* "87.6", or "-" for what had no reads: seven columns. */
static void write_hits(const struct gt_site_level *level, bool loads, FILE *to)
{
	if (loads && level->reads > 0)
		fprintf(to, "%7.1f", 100 * (double)level->read_hits / (double)level->reads);
	else
		fprintf(to, "%7s", "-");
}

/* Parts of the load misses of L1 in percent, by cause: "12/88/ 0". */
static void write_causes(const struct gt_place *place, bool loads, FILE *to)
{
	const struct gt_site_level *l1 = &place->levels[GT_SITE_L1];
	uint64_t misses = l1->compulsory + l1->capacity + l1->conflict + l1->invalidated;
	double all = (double)misses;

	if (loads && misses > 0)
		fprintf(to, "  %3.0f/%3.0f/%3.0f", 100 * (double)l1->compulsory / all, 100 * (double)l1->capacity / all, 100 * (double)l1->conflict / all);
	else
		fprintf(to, "  %11s", "-");
}

/* Accesses, what one takes, and the least. */
static void write_access(const struct gt_site_access *asked, int op, FILE *to)
{
	char accesses[GT_WORDS];
	double took = (double)(op == GT_PLACE_SHARED ? asked->passes : asked->sectors);
	double least = (double)(op == GT_PLACE_SHARED ? asked->least_passes : asked->least_sectors);

	if (asked->accesses == 0) {
		fprintf(to, "%9s %7s %6s", "-", "-", "-");
		return;
	}
	fprintf(to, "%9s %7.2f %6.2f", gt_number_words(asked->accesses, accesses), took / (double)asked->accesses, least / (double)asked->accesses);
}

static const char *heat(const struct listing *listing, const struct gt_place *place)
{
	double share = listing->weight ? (double)gt_place_weight(listing->places, place) / (double)listing->weight : 0;

	return !listing->colour ? "" : share >= 0.4 ? "\033[1;31m" : share >= 0.15 ? "\033[33m" : "";
}

/* The numbers of one operation; what stands before them has been written. */
static void write_row(const struct listing *listing, const struct gt_place *place, int op)
{
	bool loads = op == GT_PLACE_LOADS;
	FILE *to = listing->to;

	fprintf(to, " %-7s", op_name(place, op));
	write_access(&place->asked[op], op, to);
	write_hits(&place->levels[GT_SITE_L1], loads, to);
	write_hits(&place->levels[GT_SITE_L2], loads, to);
	write_causes(place, loads, to);
}

static void write_code(const struct gt_source_text *text, uint64_t line, FILE *to)
{
	char wide[GT_SOURCE_LETTERS], tidy[4 * CODE_COLUMNS + 1];

	gt_source_text_line(text, line, wide);
	size_t n = strlen(wide);
	if (gt_utf8_characters(wide) > CODE_COLUMNS)
		fprintf(to, "%.*s...", CODE_COLUMNS - 3, gt_utf8_printable(wide));
	else if (n > 0)
		fputs(gt_utf8_tidy(wide, CODE_COLUMNS, tidy), to);
}

/* ---- a file ---- */

static void write_heading(const char *what, const struct listing *listing)
{
	fprintf(listing->to, "%6s %-6s %9s %7s %6s %6s %6s  %11s  %s\n", what, "", "accesses", "sectors", "least", "L1 %", "L2 %", "new/cap/con", "source");
}

/* A line without accesses: its number under those of the others. */
static void write_context(const struct listing *listing, const struct gt_source_text *text, uint64_t from, uint64_t end)
{
	for (uint64_t line = from; line < end && line <= text->n; line++) {
		fprintf(listing->to, "%6" PRIu64 "%58s", line, "");
		write_code(text, line, listing->to);
		putc('\n', listing->to);
	}
}

static void write_between(const struct listing *listing, const struct gt_source_text *text, uint64_t last, uint64_t next)
{
	uint64_t begin = next > AROUND ? next - AROUND : 1;

	if (text->n == 0)
		return;
	if (last && begin <= last + AROUND + 1) {
		write_context(listing, text, last + 1, next);
		return;
	}
	if (last) {
		write_context(listing, text, last + 1, last + 1 + AROUND);
		fprintf(listing->to, "%6s\n", "...");
	}
	write_context(listing, text, begin, next);
}

static void write_line(const struct listing *listing, const struct gt_source_text *text, const struct gt_place *place)
{
	bool first = true;

	for (int op = 0; op < GT_PLACE_OPS; op++) {
		if (!has_op(place, op))
			continue;
		fputs(heat(listing, place), listing->to);
		if (first)
			fprintf(listing->to, "%6" PRIu64, place->line);
		else
			fprintf(listing->to, "%6s", "");
		write_row(listing, place, op);
		if (first && place->line <= text->n) {
			fputs("  ", listing->to);
			write_code(text, place->line, listing->to);
		}
		fputs(*heat(listing, place) ? "\033[0m\n" : "\n", listing->to);
		first = false;
	}
}

static void write_file(const struct listing *listing, size_t first, size_t end)
{
	const char *name = listing->places->places[first].file;
	struct gt_source_text text = gt_source_text_read(name);
	uint64_t last = 0;
	char tidy[4 * 80 + 1];

	fprintf(listing->to, "%s%s\n", gt_utf8_tidy(name, 80, tidy), text.n ? "" : "  (the file is not here: only numbers of lines are shown)");
	write_heading("line", listing);
	for (size_t i = first; i < end; i++) {
		const struct gt_place *place = &listing->places->places[i];
		write_between(listing, &text, last, place->line);
		write_line(listing, &text, place);
		last = place->line;
	}
	write_context(listing, &text, last + 1, last + 1 + AROUND);
	putc('\n', listing->to);
	gt_source_text_clear(&text);
}

/* Instructions of which the stream does not know the line; they are the first places. */
static void write_unplaced(const struct listing *listing, size_t n)
{
	char pc[24];

	fprintf(listing->to, "instructions without a source line (nvcc -lineinfo)\n");
	write_heading("pc", listing);
	for (size_t i = 0; i < n && i < INSTRUCTIONS; i++) {
		const struct gt_place *place = &listing->places->places[i];
		for (int op = 0; op < GT_PLACE_OPS; op++) {
			char tidy[4 * CODE_COLUMNS + 1];
			if (!has_op(place, op))
				continue;
			snprintf(pc, sizeof pc, "0x%" PRIx64, place->pc);
			fprintf(listing->to, "%6s", pc);
			write_row(listing, place, op);
			fprintf(listing->to, "  %s\n", place->kernel ? gt_utf8_tidy(place->kernel->kernel.name, CODE_COLUMNS, tidy) : "");
		}
	}
	if (n > INSTRUCTIONS)
		fprintf(listing->to, "and %zu more\n", n - INSTRUCTIONS);
	putc('\n', listing->to);
}

static void write_text(const struct listing *listing)
{
	const struct gt_places *places = listing->places;
	size_t first = 0, end;

	while (first < places->n && !places->places[first].file[0])
		first++;
	for (size_t i = first; i < places->n; i = end) {
		for (end = i; end < places->n && strcmp(places->places[end].file, places->places[i].file) == 0;)
			end++;
		write_file(listing, i, end);
	}
	if (first > 0)
		write_unplaced(listing, first);
	fputs("sectors: of 32 bytes an access, in shared memory passes; least: as many as its bytes need;\n"
	      "L1 %, L2 %: hits of loads; new/cap/con: % of L1's load misses that are compulsory, capacity, conflict.\n", listing->to);
}

/* ---- CSV ---- */

static void write_csv_row(const struct gt_place *place, int op, FILE *to)
{
	static const struct gt_site_level none;
	const struct gt_site_access *asked = &place->asked[op];
	const struct gt_site_level *l1 = op == GT_PLACE_LOADS ? &place->levels[GT_SITE_L1] : &none, *l2 = op == GT_PLACE_LOADS ? &place->levels[GT_SITE_L2] : &none;
	char pc[24];

	snprintf(pc, sizeof pc, "0x%" PRIx64, place->pc);
	gt_csv_field(place->file[0] ? place->file : pc, false, to);
	fprintf(to, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, place->line, op_name(place, op), asked->accesses, asked->bytes,
		asked->sectors, asked->least_sectors, asked->passes, asked->least_passes);
	fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", l1->reads, l1->read_hits, l1->compulsory,
		l1->capacity, l1->conflict, l1->invalidated, l2->reads, l2->read_hits, place->dram_reads[op]);
}

static void write_csv(const struct gt_places *places, FILE *to)
{
	fputs("file,line,op,accesses,bytes,sectors,least_sectors,passes,least_passes,l1_reads,l1_read_hits,l1_compulsory,l1_capacity,l1_conflict,"
	      "l1_invalidated,l2_reads,l2_read_hits,dram_reads\n", to);
	for (size_t i = 0; i < places->n; i++)
		for (int op = 0; op < GT_PLACE_OPS; op++)
			if (has_op(&places->places[i], op))
				write_csv_row(&places->places[i], op, to);
}

int gt_report_write_lines(const struct gt_report *report, bool csv, bool colour, FILE *to, struct gt_error *error)
{
	struct gt_places places;
	struct listing listing = {.places = &places, .colour = colour, .to = to};
	int result = gt_places_gather(&places, report, error);

	if (result == 0 && places.n == 0)
		result = gt_fail(error, "nothing was counted by instruction: expected 'gcoalesce --by site', 'gcache --by site' or 'gcache --by pc' in the pipe");
	if (result == 0) {
		gt_places_sum(&places, GT_PLACE_BY_LINE);
		for (size_t i = 0; i < places.n; i++)
			listing.weight += gt_place_weight(&places, &places.places[i]);
		if (csv)
			write_csv(&places, to);
		else
			write_text(&listing);
	}
	gt_places_clear(&places);
	return result;
}
