/* SPDX-License-Identifier: MIT */
#include "report/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "stream/sources.h"

#define EVENTS_MAX 32 /* stages that are written */
#define COUNTER ".references"

/* The stages that counted by instruction, in any kernel. */
struct events {
	const char *names[EVENTS_MAX];
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

/* The instruction of a class's references: "0x1b.references". False for other counters. */
static bool pc_of(const struct gt_count_entry *entry, uint64_t *pc)
{
	char *end;

	if (entry->kind != GT_COUNT_NUMBER || strncmp(entry->name, "0x", 2) != 0)
		return false;
	*pc = strtoull(entry->name, &end, 16);
	return strcmp(end, COUNTER) == 0;
}

static bool counts_by_pc(const struct gt_report_stage *stage)
{
	uint64_t pc;

	for (size_t i = 0; i < stage->n; i++)
		if (pc_of(&stage->counters[i].value, &pc))
			return true;
	return false;
}

static size_t event_of(const struct events *events, const char *stage)
{
	size_t i = 0;

	while (i < events->n && strcmp(events->names[i], stage) != 0)
		i++;
	return i;
}

static int find_events(const struct gt_report *report, struct events *events, struct gt_error *error)
{
	for (size_t k = 0; k < report->n; k++)
		for (size_t s = 0; s < report->kernels[k].n; s++) {
			const struct gt_report_stage *stage = &report->kernels[k].stages[s];
			if (!counts_by_pc(stage) || event_of(events, stage->name) < events->n)
				continue;
			if (events->n == EVENTS_MAX)
				return gt_fail(error, "expected at most %d stages that count by instruction", EVENTS_MAX);
			events->names[events->n++] = stage->name;
		}
	return events->n > 0 ? 0 : gt_fail(error, "no stage counted by instruction: expected 'grd --by pc' in the pipe");
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
	uint64_t pc;

	for (size_t s = 0; s < kernel->n; s++)
		for (size_t i = 0; i < kernel->stages[s].n; i++) {
			const struct gt_count_entry *entry = &kernel->stages[s].counters[i].value;
			if (!pc_of(entry, &pc))
				continue;
			size_t event = event_of(events, kernel->stages[s].name);
			const struct gt_source *source = gt_sources_find(sources, pc);
			struct row *row = add_row(rows, error);
			if (!row)
				return -1;
			if (source)
				*row = (struct row){.file = source->file, .line = source->line};
			row->counts[event] = entry->number;
			events->sums[event] += entry->number;
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
	fputs("desc: References that each stage counted by instruction\n", to);
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
