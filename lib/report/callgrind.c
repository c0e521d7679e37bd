/* SPDX-License-Identifier: MIT */
/* Counts by source line in the format of Cachegrind: an event for each kind of count that a stage made by instruction, a
 * function for each kernel, and a row for each line, of which those of one place are added up. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/program.h"

#define EVENTS_MAX 64 /* kinds of counts that are written */
#define EVENT_NAME (GT_REPORT_STAGE_NAME + 16)

/* What the stages counted by instruction, in any kernel: references by what they do, and sectors that loads read, and missed. */
struct events {
	char names[EVENTS_MAX][EVENT_NAME];
	uint64_t sums[EVENTS_MAX];
	size_t n;
};

struct row {
	const char *file; /* NULL: unknown */
	uint64_t line;
	uint64_t counts[EVENTS_MAX];
};

struct rows {
	struct row *rows;
	size_t n, capacity;
};

/* An instruction's counts of one event or two: grd's references "0x1b.references", a level's sectors "0x1b.reads" and "0x1b.read_hits". */
struct pc_counts {
	uint64_t pc;
	char names[2][EVENT_NAME];
	uint64_t counts[2];
	size_t n;
};

/* References of one kind of traffic, "behind_l1_loads". */
static void name_references(const struct gt_report_stage *stage, const struct gt_report_value *entry, size_t class, char name[EVENT_NAME])
{
	static const char *const suffixes[GT_TRAFFICS] = {"_loads", "_stores", "_atomics", ""};

	snprintf(name, EVENT_NAME, "%s%s", stage->name, suffixes[gt_report_traffic(stage, entry->name, class)]);
}

/* Reads of a level, and those that missed. */
static void set_reads(const struct gt_report_stage *stage, const struct gt_report_value *entry, size_t class, struct pc_counts *counts)
{
	char name[GT_COUNT_NAME];
	uint64_t hits = 0;

	snprintf(name, sizeof name, "%.*s.read_hits", (int)class, entry->name);
	gt_report_number(stage, name, &hits);
	counts->n = 2;
	counts->counts[1] = entry->number - hits;
	snprintf(counts->names[0], EVENT_NAME, "%s_reads", stage->name);
	snprintf(counts->names[1], EVENT_NAME, "%s_read_misses", stage->name);
}

/* What a counter tells of an instruction, or of one and an array ("0x1b in.sectors"). False: nothing, or what another counter tells. */
static bool read_counter(const struct gt_report_stage *stage, const struct gt_report_value *entry, struct pc_counts *counts)
{
	size_t class;
	char *end;

	if (entry->kind != GT_COUNT_NUMBER || strncmp(entry->name, "0x", 2) != 0 || !gt_report_class(entry->name, &class))
		return false;
	counts->pc = strtoull(entry->name, &end, 16);
	const char *what = entry->name + class + 1;
	bool is_site = *end == ' ';
	if (!is_site && end != entry->name + class)
		return false;
	counts->n = 1;
	counts->counts[0] = entry->number;
	if (strcmp(what, "references") == 0)
		name_references(stage, entry, class, counts->names[0]);
	else if (strcmp(what, "reads") == 0)
		set_reads(stage, entry, class, counts);
	else if (is_site && strcmp(what, "read_hits") != 0)
		snprintf(counts->names[0], EVENT_NAME, "%s_%s", stage->name, what);
	else
		return false;
	return true;
}

static size_t event_of(const struct events *events, const char *name)
{
	size_t i = 0;

	while (i < events->n && strcmp(events->names[i], name) != 0)
		i++;
	return i;
}

static int find_in_stage(const struct gt_report_stage *stage, struct events *events, struct gt_error *error)
{
	struct pc_counts counts;

	for (size_t i = 0; i < stage->n; i++)
		for (size_t k = 0; read_counter(stage, &stage->counters[i].value, &counts) && k < counts.n; k++) {
			if (event_of(events, counts.names[k]) < events->n)
				continue;
			if (events->n == EVENTS_MAX)
				return gt_fail(error, "expected at most %d kinds of counts by instruction", EVENTS_MAX);
			memcpy(events->names[events->n++], counts.names[k], EVENT_NAME);
		}
	return 0;
}

static int find_events(const struct gt_report *report, struct events *events, struct gt_error *error)
{
	for (size_t k = 0; k < report->n; k++)
		for (size_t s = 0; s < report->kernels[k].n; s++)
			if (find_in_stage(&report->kernels[k].stages[s], events, error) != 0)
				return -1;
	return events->n > 0 ? 0 : gt_fail(error, "no stage counted by instruction: expected 'grd --by pc', 'gcache --by site' or 'gcache --by pc' in the pipe");
}

static struct row *add_row(struct rows *rows, struct gt_error *error)
{
	struct row *bigger = gt_grown(rows->rows, rows->n, &rows->capacity, sizeof *bigger);

	if (!bigger) {
		gt_fail_memory(error, "source lines");
		return NULL;
	}
	rows->rows = bigger;
	rows->rows[rows->n] = (struct row){0};
	return &rows->rows[rows->n++];
}

/* A row for each instruction and stage. */
static int fill(const struct gt_report_kernel *kernel, const struct gt_sources *sources, struct events *events,
		struct rows *rows, struct gt_error *error)
{
	struct pc_counts counts;

	for (size_t s = 0; s < kernel->n; s++)
		for (size_t i = 0; i < kernel->stages[s].n; i++) {
			if (!read_counter(&kernel->stages[s], &kernel->stages[s].counters[i].value, &counts))
				continue;
			const struct gt_source *source = gt_sources_find(sources, counts.pc);
			struct row *row = add_row(rows, error);
			if (!row)
				return -1;
			if (source)
				*row = (struct row){.file = source->file, .line = source->line};
			for (size_t k = 0; k < counts.n; k++) {
				size_t event = event_of(events, counts.names[k]);
				row->counts[event] = counts.counts[k];
				events->sums[event] += counts.counts[k];
			}
		}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (!left->file || !right->file || strcmp(left->file, right->file) != 0)
		return !left->file ? -(right->file != NULL) : !right->file ? 1 : strcmp(left->file, right->file);
	return (left->line > right->line) - (left->line < right->line);
}

/* Adds up the rows of one place, which are neighbours once they are sorted. */
static void join(struct rows *rows, size_t n_events)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (n > 0 && by_place(&rows->rows[n - 1], &rows->rows[i]) == 0)
			for (size_t e = 0; e < n_events; e++)
				rows->rows[n - 1].counts[e] += rows->rows[i].counts[e];
		else
			rows->rows[n++] = rows->rows[i];
	}
	rows->n = n;
}

static void write_counts(const uint64_t *counts, size_t n, FILE *to)
{
	for (size_t e = 0; e < n; e++)
		fprintf(to, " %" PRIu64, counts[e]);
	putc('\n', to);
}

/* A file's or a function's name, in one line. */
static void write_name(const char *key, const char *name, FILE *to)
{
	fprintf(to, "%s=", key);
	for (; *name; name++)
		putc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, to);
	putc('\n', to);
}

static void write_rows(const struct rows *rows, const char *kernel, size_t n_events, FILE *to)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i], *last = i > 0 ? row - 1 : NULL;
		const char *file = row->file ? row->file : "???";
		if (!last || strcmp(file, last->file ? last->file : "???") != 0) {
			write_name("fl", file, to);
			write_name("fn", kernel[0] ? kernel : "???", to);
		}
		fprintf(to, "%" PRIu64, row->line);
		write_counts(row->counts, n_events, to);
	}
}

static int write_kernel(const struct gt_report_kernel *kernel, struct events *events, FILE *to, bool *placed,
			struct gt_error *error)
{
	struct gt_sources sources = {0};
	struct rows rows = {0};
	int result = gt_report_sources(kernel, &sources, error);

	if (result == 0)
		result = fill(kernel, &sources, events, &rows, error);
	if (result == 0 && rows.n > 0) {
		qsort(rows.rows, rows.n, sizeof *rows.rows, by_place);
		join(&rows, events->n);
		write_rows(&rows, kernel->kernel.name, events->n, to);
		*placed |= rows.rows[rows.n - 1].file != NULL;
	}
	free(rows.rows);
	gt_sources_clear(&sources);
	return result;
}

int gt_report_write_callgrind(const struct gt_report *report, const char *command, FILE *to, bool *placed,
			      struct gt_error *error)
{
	struct events events = {.n = 0};

	*placed = false;
	if (find_events(report, &events, error) != 0)
		return -1;
	fputs("desc: What each stage counted by instruction\n", to);
	fprintf(to, "cmd: %s\nevents:", command);
	for (size_t e = 0; e < events.n; e++)
		fprintf(to, " %s", events.names[e]);
	putc('\n', to);
	for (size_t k = 0; k < report->n; k++)
		if (write_kernel(&report->kernels[k], &events, to, placed, error) != 0)
			return -1;
	fputs("summary:", to);
	write_counts(events.sums, events.n, to);
	return 0;
}
