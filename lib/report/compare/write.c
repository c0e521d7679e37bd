/* SPDX-License-Identifier: MIT */
/* Writes a comparison and its errors: each as a table, CSV or JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/compare/compare.h"
#include "report/format.h"
#include "report/report.h"

#define REAL_TEXT 48
#define FIXED_MAX 1e18 /* larger ones are printed with an exponent */

/* At most four decimals without trailing zeros; "-" for NAN. Returns the buffer. */
static const char *format_real(double value, char buffer[REAL_TEXT])
{
	if (!isfinite(value)) {
		strcpy(buffer, "-");
		return buffer;
	}
	if (fabs(value) >= FIXED_MAX) {
		snprintf(buffer, REAL_TEXT, "%.15g", value);
		return buffer;
	}
	int n = snprintf(buffer, REAL_TEXT, "%.4f", value);
	while (buffer[n - 1] == '0')
		buffer[--n] = '\0';
	if (buffer[n - 1] == '.')
		buffer[--n] = '\0';
	if (strcmp(buffer, "-0") == 0)
		strcpy(buffer, "0");
	return buffer;
}

/* ---- errors by metric ---- */

#define STATISTICS 4

static const char *const statistic_names[STATISTICS] = {"mape", "mae", "pearson", "nrmse"};

static void values_of(const struct gt_error_statistics *s, char text[STATISTICS][REAL_TEXT])
{
	const double values[STATISTICS] = {s->mape, s->mae, s->pearson, s->nrmse};

	for (int i = 0; i < STATISTICS; i++)
		format_real(values[i], text[i]);
}

static void write_errors_csv(const struct gt_errors *errors, FILE *to)
{
	fputs("metric,unit,pairs,pairs_nonzero,mape,mae,pearson,nrmse\n", to);
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_statistics(&errors->metrics[i]);
		char text[STATISTICS][REAL_TEXT];
		values_of(&s, text);
		gt_csv_field(errors->metrics[i].name, false, to);
		putc(',', to);
		gt_csv_field(errors->metrics[i].unit, false, to);
		fprintf(to, ",%zu,%zu", s.n, s.n_nonzero);
		for (int k = 0; k < STATISTICS; k++)
			fprintf(to, ",%s", text[k]);
		putc('\n', to);
	}
}

static void write_errors_json(const struct gt_errors *errors, FILE *to)
{
	putc('[', to);
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_statistics(&errors->metrics[i]);
		char text[STATISTICS][REAL_TEXT];
		values_of(&s, text);
		fprintf(to, "%s\n  {\"metric\": ", i ? "," : "");
		gt_json_string(errors->metrics[i].name, to);
		fputs(", \"unit\": ", to);
		gt_json_string(errors->metrics[i].unit, to);
		fprintf(to, ", \"pairs\": %zu, \"pairs_nonzero\": %zu", s.n, s.n_nonzero);
		for (int k = 0; k < STATISTICS; k++)
			fprintf(to, ", \"%s\": %s", statistic_names[k], strcmp(text[k], "-") == 0 ? "null" : text[k]);
		putc('}', to);
	}
	putc(']', to);
}

static int write_errors_table(const struct gt_errors *errors, FILE *to, struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrrrrr"};

	gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"metric", "unit", "pairs", "MAPE %", "mean abs.", "Pearson r",
								  "NRMSE"});
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_statistics(&errors->metrics[i]);
		char text[STATISTICS][REAL_TEXT], pairs[GT_TABLE_NUMBER];
		values_of(&s, text);
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){errors->metrics[i].name, errors->metrics[i].unit,
				gt_table_number(s.n, pairs), text[0], text[1], text[2], text[3]});
	}
	return gt_table_write(&table, to, error);
}

int gt_errors_write(const struct gt_errors *errors, const char *form, FILE *to, struct gt_error *error)
{
	if (strcmp(form, "table") == 0)
		return write_errors_table(errors, to, error);
	if (strcmp(form, "json") == 0)
		write_errors_json(errors, to);
	else
		write_errors_csv(errors, to);
	return 0;
}

/* ---- the rows ---- */

#define SHAPE_TEXT 40
#define PLACE_TEXT 160
#define LINE 100

/* The values of a row as text; "" for none. */
struct numbers {
	char difference[REAL_TEXT], percent[REAL_TEXT]; /* percent: of the reference's value */
	char texts[2][REAL_TEXT];
	const char *hardware, *ours; /* texts, or words */
};

static void set_numbers(const struct gt_comparison_row *row, struct numbers *numbers)
{
	*numbers = (struct numbers){.hardware = numbers->texts[0], .ours = numbers->texts[1]};
	if (row->words[0] || row->words[1]) {
		numbers->hardware = row->words[0] ? row->words[0] : "";
		numbers->ours = row->words[1] ? row->words[1] : "";
		return;
	}
	if (row->metric && row->note != GT_NOT_IN_REFERENCE)
		format_real(row->hardware, numbers->texts[0]);
	if (row->metric && (row->note <= GT_COMPARED_LAST || row->note == GT_NOT_IN_REFERENCE))
		format_real(row->ours, numbers->texts[1]);
	if (row->note > GT_COMPARED_LAST)
		return;
	format_real(row->ours - row->hardware, numbers->difference);
	if (row->hardware > 0 && row->unit[0] != '%')
		snprintf(numbers->percent, REAL_TEXT, "%+.1f %%", 100 * (row->ours - row->hardware) / row->hardware);
}

static const char *shape_of(const uint32_t shape[3], char text[SHAPE_TEXT])
{
	snprintf(text, SHAPE_TEXT, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, shape[0], shape[1], shape[2]);
	return shape[0] ? text : "";
}

static void write_csv_row(const struct gt_comparison_row *row, FILE *to)
{
	struct numbers numbers;
	char grid[SHAPE_TEXT], block[SHAPE_TEXT];

	set_numbers(row, &numbers);
	if (row->id)
		fprintf(to, "%" PRIu64, row->id);
	putc(',', to);
	gt_csv_field(row->kernel, false, to);
	fprintf(to, ",%s,%s,", shape_of(row->grid, grid), shape_of(row->block, block));
	gt_csv_field(row->metric ? row->metric : "", false, to);
	fprintf(to, ",%s,", row->metric ? row->unit : "");
	gt_csv_field(numbers.hardware, false, to);
	putc(',', to);
	gt_csv_field(numbers.ours, false, to);
	fprintf(to, ",%s,%s\n", numbers.difference, gt_comparison_notes[row->note]);
}

static void write_rows_csv(const struct gt_comparison *comparison, FILE *to)
{
	fputs("id,kernel,grid,block,metric,unit,", to);
	gt_csv_field(comparison->sides[0], false, to);
	putc(',', to);
	gt_csv_field(comparison->sides[1], false, to);
	fputs(",difference,note\n", to);
	for (size_t i = 0; i < comparison->n; i++)
		write_csv_row(&comparison->rows[i], to);
}

static void write_json_shape(const char *name, const uint32_t shape[3], FILE *to)
{
	if (shape[0])
		fprintf(to, ", \"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, shape[0], shape[1], shape[2]);
}

static void write_json_value(const char *name, const char *text, bool word, FILE *to)
{
	fprintf(to, ", \"%s\": ", name);
	if (word && *text)
		gt_json_string(text, to);
	else
		fputs(*text ? text : "null", to);
}

static void write_json_row(const struct gt_comparison_row *row, FILE *to)
{
	struct numbers numbers;
	bool word = row->words[0] || row->words[1];

	set_numbers(row, &numbers);
	fputs("{\"kernel\": ", to);
	gt_json_string(row->kernel, to);
	if (row->id)
		fprintf(to, ", \"id\": %" PRIu64, row->id);
	write_json_shape("grid", row->grid, to);
	write_json_shape("block", row->block, to);
	if (row->metric) {
		fputs(", \"metric\": ", to);
		gt_json_string(row->metric, to);
		fprintf(to, ", \"unit\": \"%s\"", row->unit);
		write_json_value("hardware", numbers.hardware, word, to);
		write_json_value("ours", numbers.ours, word, to);
		write_json_value("difference", numbers.difference, false, to);
	}
	fprintf(to, ", \"note\": \"%s\"}", gt_comparison_notes[row->note]);
}

static int write_rows_json(const struct gt_comparison *comparison, const struct gt_errors *errors, FILE *to,
			   struct gt_error *error)
{
	fprintf(to, "{\"gtrace_comparison\": %d, \"not_modelled\": [", GT_REPORT_VERSION);
	for (size_t i = 0; i < comparison->n_others; i++) {
		fputs(i ? ", " : "", to);
		gt_json_string(comparison->others[i], to);
	}
	fputs("],\n \"sides\": [", to);
	gt_json_string(comparison->sides[0], to);
	fputs(", ", to);
	gt_json_string(comparison->sides[1], to);
	fputs("],\n \"rows\": [", to);
	for (size_t i = 0; i < comparison->n; i++) {
		fputs(i ? ",\n  " : "\n  ", to);
		write_json_row(&comparison->rows[i], to);
	}
	fputs("],\n \"errors\": ", to);
	int result = gt_errors_write(errors, "json", to, error);
	fputs("}\n", to);
	return result;
}

/* "3 gemm<float> <<<4x16x1, 32x8x1>>>". */
static void place_of(const struct gt_comparison_row *row, char text[PLACE_TEXT])
{
	char grid[SHAPE_TEXT], block[SHAPE_TEXT], id[24] = "";

	if (row->id)
		snprintf(id, sizeof id, "%" PRIu64 " ", row->id);
	snprintf(text, PLACE_TEXT, "%s%.40s %s %s", id, row->kernel, shape_of(row->grid, grid), shape_of(row->block, block));
}

/* The metrics that the model does not have, in lines of LINE columns. */
static void write_others(const struct gt_comparison *comparison, FILE *to)
{
	size_t column = LINE;

	if (comparison->n_others)
		fputs("\nnot modelled:", to);
	for (size_t i = 0; i < comparison->n_others; i++) {
		const char *name = comparison->others[i], *comma = i + 1 < comparison->n_others ? "," : "";
		column += strlen(name) + 2;
		if (column > LINE) {
			fputs("\n ", to);
			column = strlen(name) + 3;
		}
		fprintf(to, " %s%s", name, comma);
	}
	if (comparison->n_others)
		putc('\n', to);
}

/* Says what of a comparison of our own counters is not in the table. */
static void write_left_out(const struct gt_comparison *comparison, size_t shown, FILE *to)
{
	size_t differ = 0;

	for (size_t i = 0; i < comparison->n; i++)
		differ += gt_comparison_differs(&comparison->rows[i]);
	fprintf(to, "%zu values are equal", comparison->n - differ);
	if (differ > shown)
		fprintf(to, "; %zu that differ are not shown, elements of arrays of more than %d: --csv has them", differ - shown,
			GT_COMPARISON_ELEMENTS);
	putc('\n', to);
}

/* The rows that tables have; returns their number. */
static size_t add_rows(const struct gt_comparison *comparison, struct gt_table *table)
{
	char place[PLACE_TEXT], last[PLACE_TEXT] = "";
	size_t shown = 0;

	for (size_t i = 0; i < comparison->n; i++) {
		const struct gt_comparison_row *row = &comparison->rows[i];
		const char *note = gt_comparison_notes[row->note];
		struct numbers numbers;
		if (!gt_comparison_shows(comparison, row))
			continue;
		set_numbers(row, &numbers);
		place_of(row, place);
		gt_table_add(table, (const char *const[GT_TABLE_COLUMNS]){strcmp(place, last) == 0 ? "" : place,
				row->metric ? row->metric : "", numbers.hardware, numbers.ours, numbers.difference,
				row->metric ? row->unit : "", comparison->of_saved && *numbers.percent ? numbers.percent : note});
		strcpy(last, place);
		shown++;
	}
	return shown;
}

static int write_rows_table(const struct gt_comparison *comparison, const struct gt_errors *errors, FILE *to,
			    struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrrrll"};

	gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"kernel", comparison->of_saved ? "counter" : "metric",
			comparison->sides[0], comparison->sides[1], "difference", "unit"});
	size_t shown = add_rows(comparison, &table);
	if (gt_table_write(&table, to, error) != 0)
		return -1;
	putc('\n', to);
	if (comparison->of_saved)
		write_left_out(comparison, shown, to);
	else if (gt_errors_write(errors, "table", to, error) != 0)
		return -1;
	write_others(comparison, to);
	return 0;
}

int gt_comparison_write(const struct gt_comparison *comparison, const struct gt_errors *errors, const char *form,
			FILE *to, struct gt_error *error)
{
	if (strcmp(form, "json") == 0)
		return write_rows_json(comparison, errors, to, error);
	if (strcmp(form, "table") == 0)
		return write_rows_table(comparison, errors, to, error);
	write_rows_csv(comparison, to);
	return 0;
}
