/* SPDX-License-Identifier: MIT */
/* A counter by site is called SITE.COUNTER, so rows are found by the name before the last dot, and fields by the name behind it. */
#include "report/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"

/* A counter of a site, and where a row has it. */
struct field {
	const char *name;
	size_t offset;
};

#define FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) FIELD_##KIND(NAME)
#define FIELD_SETTING(NAME)
#define FIELD_ARRAY(NAME)
#define FIELD_LIST(NAME)
#define FIELD_WORD(NAME)

#define FIELD_COUNT(NAME) {#NAME, offsetof(struct gt_site_access, NAME)},
static const struct field access_fields[] = {GT_SITE_ACCESS_COUNTERS(FIELD)};
#undef FIELD_COUNT
#define FIELD_COUNT(NAME) {#NAME, offsetof(struct gt_site_level, NAME)},
static const struct field level_fields[] = {GT_SITE_LEVEL_COUNTERS(FIELD)};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void set_number(void *fields_of, const struct field *fields, size_t n, const struct gt_report_value *entry, const char *name)
{
	for (size_t i = 0; i < n && entry->kind == GT_COUNT_NUMBER; i++)
		if (strcmp(fields[i].name, name) == 0) {
			memcpy((char *)fields_of + fields[i].offset, &entry->number, sizeof entry->number);
			return;
		}
}

/* ---- rows ---- */

static void fill_name(struct gt_site_row *row, const struct gt_site_rows *rows, const char *class, size_t length)
{
	const struct gt_source *source;
	char *end;

	*row = (struct gt_site_row){.array = "-"};
	memcpy(row->name, class, length);
	row->pc = strtoull(row->name, &end, 16);
	source = gt_sources_find(&rows->sources, row->pc);
	if (source) {
		row->file = source->file;
		row->line = source->line;
		gt_source_format(source, row->place);
	} else {
		snprintf(row->place, sizeof row->place, "%.*s", (int)(end - row->name), row->name);
	}
}

/* The row of a class, made if it is new. NULL when memory is short. */
static struct gt_site_row *row_of(struct gt_site_rows *rows, const char *class, size_t length, struct gt_error *error)
{
	uint64_t key = XXH3_64bits(class, length);
	uint64_t *place;
	int fresh = 0;

	key -= key == GT_MAP_EMPTY;
	while ((place = gt_map_put(&rows->index, key, rows->n, &fresh)) && !fresh &&
	       (strncmp(rows->rows[*place].name, class, length) != 0 || rows->rows[*place].name[length]))
		key = key + 1 == GT_MAP_EMPTY ? 0 : key + 1;
	if (place && !fresh)
		return &rows->rows[*place];
	struct gt_site_row *bigger = place ? gt_grown(rows->rows, rows->n, &rows->capacity, sizeof *bigger) : NULL;
	if (!bigger) {
		gt_fail_memory(error, "sites");
		return NULL;
	}
	rows->rows = bigger;
	fill_name(&bigger[rows->n], rows, class, length);
	return &bigger[rows->n++];
}

bool gt_report_site(const char *counter, size_t *length)
{
	return strncmp(counter, "0x", 2) == 0 && gt_report_class(counter, length) && memchr(counter, ' ', *length) && *length < GT_SITE_NAME;
}

static void set_word(struct gt_site_row *row, const struct gt_report_counter *counter, const char *name)
{
	const char **word = strcmp(name, "op") == 0 ? &row->op : strcmp(name, "stride") == 0 ? &row->stride : NULL;

	if (word && counter->value.kind == GT_COUNT_TEXT)
		*word = counter->differs ? "several" : counter->value.text;
}

static void set_distances(struct gt_site_row *row, int level, const struct gt_report_counter *counter, const char *name)
{
	if (level < 0 || counter->value.kind != GT_COUNT_ARRAY || strcmp(name, "distance") != 0)
		return;
	row->level[level].distance = counter->value.array;
	row->level[level].distances = counter->value.n;
}

/* Takes the counters of a stage: of coalescing (level -1), or of a level. */
static int take_stage(struct gt_site_rows *rows, const struct gt_report_stage *stage, int level, struct gt_error *error)
{
	size_t length;

	for (size_t i = 0; i < stage->n; i++) {
		const struct gt_report_counter *counter = &stage->counters[i];
		if (!gt_report_site(counter->value.name, &length))
			continue;
		struct gt_site_row *row = row_of(rows, counter->value.name, length, error);
		const char *name = counter->value.name + length + 1;
		if (!row)
			return -1;
		if (counter->value.kind == GT_COUNT_TEXT)
			set_word(row, counter, name);
		else if (counter->value.kind == GT_COUNT_ARRAY)
			set_distances(row, level, counter, name);
		else if (level < 0)
			set_number(&row->access, access_fields, LENGTH(access_fields), &counter->value, name);
		else
			set_number(&row->level[level], level_fields, LENGTH(level_fields), &counter->value, name);
	}
	return 0;
}

#define SEVERAL UINT64_MAX /* in place of a row: sites of the instruction have different operations */

static int note_operation(struct gt_map *with, const struct gt_site_rows *rows, size_t i)
{
	int fresh;
	uint64_t *row = gt_map_put(with, rows->rows[i].pc, i, &fresh);

	if (row && !fresh && *row != SEVERAL && strcmp(rows->rows[*row].op, rows->rows[i].op) != 0)
		*row = SEVERAL;
	return row ? 0 : -1;
}

/* Levels give a request to the array that it begins in, coalescing an access to that of its first lane: an instruction whose lanes access several arrays has
 * sites that only levels count. They have its operation, too. */
static int take_operations(struct gt_site_rows *rows, struct gt_error *error)
{
	struct gt_map with; /* from an instruction to a row that has its operation */
	const uint64_t *row;
	int result = gt_map_open(&with, 0, error);

	for (size_t i = 0; i < rows->n && result == 0; i++)
		if (rows->rows[i].op && rows->rows[i].pc != GT_MAP_EMPTY && note_operation(&with, rows, i) != 0)
			result = gt_fail_memory(error, "sites");
	for (size_t i = 0; i < rows->n && result == 0; i++)
		if (!rows->rows[i].op && rows->rows[i].pc != GT_MAP_EMPTY && (row = gt_map_get(&with, rows->rows[i].pc)))
			rows->rows[i].op = *row == SEVERAL ? "several" : rows->rows[*row].op;
	gt_map_close(&with);
	return result;
}

int gt_site_rows_gather(struct gt_site_rows *rows, const struct gt_report_kernel *kernel, struct gt_error *error)
{
	static const struct {
		const char *stage;
		int level;
	} stages[] = {{"coalesce", -1}, {"l1", GT_SITE_L1}, {"l2", GT_SITE_L2}};

	*rows = (struct gt_site_rows){.kernel = kernel};
	if (gt_report_sources(kernel, &rows->sources, error) != 0 || gt_map_open(&rows->index, 0, error) != 0)
		return -1;
	for (size_t i = 0; i < LENGTH(stages); i++) {
		const struct gt_report_stage *stage = gt_report_find_stage(kernel, stages[i].stage);
		if (stage && take_stage(rows, stage, stages[i].level, error) != 0)
			return -1;
	}
	for (size_t i = 0; i < rows->n; i++) { /* the rows move no more */
		const char *blank = strchr(rows->rows[i].name, ' ');
		rows->rows[i].array = blank ? blank + 1 : "-";
	}
	return take_operations(rows, error);
}

void gt_site_rows_clear(struct gt_site_rows *rows)
{
	gt_sources_clear(&rows->sources);
	if (rows->index.slots)
		gt_map_close(&rows->index);
	free(rows->rows);
	*rows = (struct gt_site_rows){.n = 0};
}
