/* SPDX-License-Identifier: MIT */
/* Each site is a place of its own first; places of one key are then sorted to each other and added. */
#include "report/places.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grown.h"
#include "report/classes.h"

/* ---- the levels that requests pass ---- */

static bool is_passed(const struct gt_report_stage *stage)
{
	uint64_t any;

	return gt_report_number(stage, "reads", &any) && gt_report_number(stage, "read_hits", &any) && gt_report_number(stage, "sent_reads", &any) &&
	       !gt_report_word(stage, "emit") && strcmp(stage->name, "texture") != 0 && strcmp(stage->name, "readonly") != 0;
}

size_t gt_report_chain(const struct gt_report_kernel *kernel, const struct gt_report_stage *chain[GT_CHAIN])
{
	size_t n = 0;

	for (size_t i = 0; i < kernel->n && n < GT_CHAIN; i++)
		if (is_passed(&kernel->stages[i]))
			chain[n++] = &kernel->stages[i];
	return n;
}

/* ---- the sites of a kernel ---- */

static void add_place(struct gt_place *to, const struct gt_place *from)
{
	for (int i = 0; i < GT_PLACE_OPS; i++)
		gt_counters_add(&to->asked[i], &from->asked[i], sizeof to->asked[i]);
	gt_counters_add(to->dram_reads, from->dram_reads, sizeof to->dram_reads);
	for (int i = 0; i < GT_SITE_LEVELS; i++) /* the counts, which arrays follow */
		gt_counters_add(&to->levels[i], &from->levels[i], offsetof(struct gt_site_level, distance));
	to->kernel = to->kernel == from->kernel ? to->kernel : NULL;
	to->pc = to->pc == from->pc ? to->pc : GT_PLACE_NO_PC;
	to->array = to->array == from->array ? to->array : NULL;
	to->several |= from->several;
	if (to->file != from->file || to->line != from->line)
		to->file = NULL;
}

/* What an access does, by the word "load.global". */
static enum gt_place_op op_of(const struct gt_site_row *row)
{
	if (row->op && strstr(row->op, ".shared"))
		return GT_PLACE_SHARED;
	if (row->op && strncmp(row->op, "store", 5) == 0)
		return GT_PLACE_STORES;
	return row->op && (strncmp(row->op, "atomic", 6) == 0 || strncmp(row->op, "reduction", 9) == 0) ? GT_PLACE_ATOMICS : GT_PLACE_LOADS;
}

/* Appends a place. NULL when memory is short. */
static struct gt_place *append(struct gt_places *places, const struct gt_place *place)
{
	struct gt_place *bigger = gt_grown(places->places, places->n, &places->capacity, sizeof *bigger);

	if (!bigger)
		return NULL;
	places->places = bigger;
	bigger[places->n] = *place;
	return &bigger[places->n++];
}

/* A name that lives as long as the table. NULL when memory is short. */
static const char *kept_name(struct gt_places *places, const char *name, struct gt_error *error)
{
	uint64_t number;

	return gt_names_number(&places->names, name ? name : "", &number, error) == 0 ? places->names.names[number] : NULL;
}

/* Notes what was counted of a place, and appends it with its names. */
static int add_site(struct gt_places *places, struct gt_place *place, const char *file, const char *array, struct gt_error *error)
{
	place->file = kept_name(places, file, error);
	place->array = place->file ? kept_name(places, array, error) : NULL;
	if (!place->array)
		return -1;
	for (int i = 0; i < GT_PLACE_OPS; i++)
		places->asked |= place->asked[i].accesses > 0;
	for (int i = 0; i < GT_SITE_LEVELS; i++) {
		const struct gt_site_level *level = &place->levels[i];
		places->level[i] |= level->reads + level->writes + level->atomics > 0;
		places->caused[i] |= level->compulsory + level->capacity + level->conflict > 0;
	}
	places->from_memory |= place->levels[GT_SITE_L2].sent_reads > 0;
	places->arrays |= array[0] != '\0';
	places->lines |= place->file[0] != '\0';
	add_place(&places->total, place);
	return append(places, place) ? 0 : gt_fail_memory(error, "places of accesses");
}

static int add_rows(struct gt_places *places, const struct gt_site_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct gt_site_row *row = &rows->rows[i];
		struct gt_place place = {.kernel = rows->kernel, .pc = row->pc, .line = row->line, .several = row->op && strcmp(row->op, "several") == 0};
		place.asked[op_of(row)] = row->access;
		place.dram_reads[op_of(row)] = row->level[GT_SITE_L2].sent_reads;
		memcpy(place.levels, row->level, sizeof place.levels);
		if (add_site(places, &place, row->file, row->array, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- instructions of levels that counted no arrays ---- */

static int add_instruction(struct gt_places *places, const struct gt_report_kernel *kernel, const struct gt_sources *sources, int level,
			   const char *pc, struct gt_reads reads, struct gt_error *error)
{
	struct gt_place place = {.kernel = kernel, .pc = strtoull(pc, NULL, 16)};
	const struct gt_source *source = gt_sources_find(sources, place.pc);

	place.line = source ? source->line : 0;
	place.levels[level].reads = reads.reads;
	place.levels[level].read_hits = reads.hits;
	return add_site(places, &place, source ? source->file : NULL, "", error);
}

static int add_instructions(struct gt_places *places, const struct gt_report_kernel *kernel, const struct gt_sources *sources, struct gt_error *error)
{
	const struct gt_report_stage *chain[GT_CHAIN];
	size_t n = gt_report_chain(kernel, chain), length;
	struct gt_reads reads;

	for (size_t level = 0; level < n && level < GT_SITE_LEVELS; level++)
		for (size_t i = 0; i < chain[level]->n; i++) {
			const char *pc = chain[level]->counters[i].value.name;
			if (gt_reads_of_counter(chain[level], &chain[level]->counters[i].value, &length, &reads) &&
			    add_instruction(places, kernel, sources, (int)level, pc, reads, error) != 0)
				return -1;
		}
	return 0;
}

static int add_kernel(struct gt_places *places, const struct gt_report_kernel *kernel, struct gt_error *error)
{
	struct gt_site_rows rows;
	int result = gt_site_rows_gather(&rows, kernel, error);

	if (result == 0)
		result = rows.n > 0 ? add_rows(places, &rows, error) : add_instructions(places, kernel, &rows.sources, error);
	gt_site_rows_clear(&rows);
	return result;
}

int gt_places_gather(struct gt_places *places, const struct gt_report *report, struct gt_error *error)
{
	*places = (struct gt_places){.n = 0};
	if (gt_names_open(&places->names, error) != 0)
		return -1;
	for (size_t i = 0; i < report->n; i++)
		if (add_kernel(places, &report->kernels[i], error) != 0)
			return -1;
	return 0;
}

void gt_places_clear(struct gt_places *places)
{
	free(places->places);
	gt_names_close(&places->names);
	*places = (struct gt_places){.n = 0};
}

/* Whether a stage counted anything of an instruction; with arrays, of a site. */
static bool counted(const struct gt_report_stage *stage, bool arrays)
{
	size_t length;

	for (size_t i = 0; i < stage->n; i++) {
		const char *name = stage->counters[i].value.name;
		if (strncmp(name, "0x", 2) == 0 && gt_report_class(name, &length) && (!arrays || memchr(name, ' ', length)))
			return true;
	}
	return false;
}

static bool has_places(const struct gt_report *report, bool arrays)
{
	const struct gt_report_stage *chain[GT_CHAIN], *coalesce = gt_report_find_stage(&report->total, "coalesce");
	size_t n = gt_report_chain(&report->total, chain);

	if (coalesce && counted(coalesce, arrays))
		return true;
	for (size_t i = 0; i < n && i < GT_SITE_LEVELS; i++)
		if (counted(chain[i], arrays))
			return true;
	return false;
}

bool gt_places_in(const struct gt_report *report)
{
	return has_places(report, false);
}

bool gt_places_have_arrays(const struct gt_report *report)
{
	return has_places(report, true);
}

/* ---- sums ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_kernel(const void *left, const void *right)
{
	const struct gt_place *a = left, *b = right;

	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static int by_array(const void *left, const void *right)
{
	const struct gt_place *a = left, *b = right;

	return strcmp(a->array, b->array);
}

/* An instruction without a line is a place of its own. */
static int by_line(const void *left, const void *right)
{
	const struct gt_place *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	if (order != 0 || a->file[0])
		return order ? order : compare_numbers(a->line, b->line);
	order = by_kernel(left, right);
	return order ? order : compare_numbers(a->pc, b->pc);
}

static int by_line_and_array(const void *left, const void *right)
{
	int order = by_line(left, right);

	return order ? order : by_array(left, right);
}

void gt_places_sum(struct gt_places *places, enum gt_place_key key)
{
	static int (*const orders[])(const void *, const void *) = {
		[GT_PLACE_BY_LINE] = by_line, [GT_PLACE_BY_LINE_AND_ARRAY] = by_line_and_array,
		[GT_PLACE_BY_ARRAY] = by_array, [GT_PLACE_BY_KERNEL] = by_kernel};
	size_t n = 0;

	if (places->n == 0)
		return;
	qsort(places->places, places->n, sizeof *places->places, orders[key]);
	for (size_t i = 1; i < places->n; i++)
		if (orders[key](&places->places[n], &places->places[i]) == 0)
			add_place(&places->places[n], &places->places[i]);
		else
			places->places[++n] = places->places[i];
	places->n = n + 1;
}

uint64_t gt_place_weight(const struct gt_places *places, const struct gt_place *place)
{
	return places->level[GT_SITE_L1] ? gt_place_misses(place, GT_SITE_L1) : place->asked[GT_PLACE_LOADS].sectors;
}

/* ---- the text of a source file ---- */

#define TAB 4
#define FILE_BYTES (1 << 24) /* a source file may have */

/* Whether a name is that of source: no other file that a stream names gets into the page. */
static bool is_source(const char *name)
{
	static const char *const ends[] = {"c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp", "tpp", "ptx",
					   "py", "jl", "f", "f90", "cuf", "rs", "mojo"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
		if (strcmp(dot + 1, ends[i]) == 0)
			return true;
	return false;
}

static char *read_whole(const char *name)
{
	struct stat status;
	FILE *file = stat(name, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < FILE_BYTES ? fopen(name, "r") : NULL;
	char *bytes = file ? malloc((size_t)status.st_size + 1) : NULL;

	if (bytes) {
		size_t n = fread(bytes, 1, (size_t)status.st_size, file);
		bytes[n] = '\0';
	}
	if (file)
		fclose(file);
	return bytes;
}

struct gt_source_text gt_source_text_read(const char *name)
{
	struct gt_source_text text = {.n = 0};
	const char *base = strrchr(name, '/');

	if (!is_source(name) || (!(text.bytes = read_whole(name)) && !(base && (text.bytes = read_whole(base + 1)))))
		return text;
	size_t lines = 1;
	for (const char *at = text.bytes; (at = strchr(at, '\n')); at++)
		lines++;
	text.lines = malloc(lines * sizeof *text.lines);
	for (char *at = text.bytes; text.lines && at && *at && text.n < lines;) {
		text.lines[text.n++] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	return text;
}

void gt_source_text_clear(struct gt_source_text *text)
{
	free(text->lines);
	free(text->bytes);
	*text = (struct gt_source_text){.n = 0};
}

void gt_source_text_line(const struct gt_source_text *text, uint64_t line, char wide[GT_SOURCE_LETTERS])
{
	const char *at = line > 0 && line <= text->n ? text->lines[line - 1] : "";
	const size_t most = GT_SOURCE_LETTERS - 4;
	size_t n = 0;

	for (; *at && *at != '\r' && n < most; at++)
		if (*at == '\t')
			do
				wide[n++] = ' ';
			while (n % TAB && n < most);
		else
			wide[n++] = *at;
	snprintf(wide + n, GT_SOURCE_LETTERS - n, "%s", *at && *at != '\r' ? "…" : "");
}
