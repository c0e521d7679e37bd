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

/* The numbers of a row as text; "" for none. */
struct numbers {
	char hardware[REAL_TEXT], ours[REAL_TEXT], difference[REAL_TEXT];
};

static struct numbers numbers_of(const struct gt_comparison_row *row)
{
	struct numbers numbers = {"", "", ""};

	if (row->note != GT_NOT_IN_REFERENCE)
		format_real(row->hardware, numbers.hardware);
	if (row->note > GT_COMPARED_LAST)
		return numbers;
	format_real(row->ours, numbers.ours);
	format_real(row->ours - row->hardware, numbers.difference);
	return numbers;
}

static const char *shape_of(const uint32_t shape[3], char text[SHAPE_TEXT])
{
	snprintf(text, SHAPE_TEXT, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, shape[0], shape[1], shape[2]);
	return shape[0] ? text : "";
}

static void write_csv_row(const struct gt_comparison_row *row, FILE *to)
{
	struct numbers numbers = numbers_of(row);
	char grid[SHAPE_TEXT], block[SHAPE_TEXT];

	if (row->id)
		fprintf(to, "%" PRIu64, row->id);
	putc(',', to);
	gt_csv_field(row->kernel, false, to);
	fprintf(to, ",%s,%s,%s,%s,%s,%s,%s,%s\n", shape_of(row->grid, grid), shape_of(row->block, block),
		row->metric ? row->metric->name : "", row->metric ? row->metric->unit : "", numbers.hardware, numbers.ours,
		numbers.difference, gt_comparison_notes[row->note]);
}

static void write_rows_csv(const struct gt_comparison *comparison, FILE *to)
{
	fputs("id,kernel,grid,block,metric,unit,hardware,ours,difference,note\n", to);
	for (size_t i = 0; i < comparison->n; i++)
		write_csv_row(&comparison->rows[i], to);
}

static void write_json_shape(const char *name, const uint32_t shape[3], FILE *to)
{
	if (shape[0])
		fprintf(to, ", \"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, shape[0], shape[1], shape[2]);
}

static void write_json_number(const char *name, const char *text, FILE *to)
{
	fprintf(to, ", \"%s\": %s", name, *text ? text : "null");
}

static void write_json_row(const struct gt_comparison_row *row, FILE *to)
{
	struct numbers numbers = numbers_of(row);

	fputs("{\"kernel\": ", to);
	gt_json_string(row->kernel, to);
	if (row->id)
		fprintf(to, ", \"id\": %" PRIu64, row->id);
	write_json_shape("grid", row->grid, to);
	write_json_shape("block", row->block, to);
	if (row->metric) {
		fprintf(to, ", \"metric\": \"%s\", \"unit\": \"%s\"", row->metric->name, row->metric->unit);
		write_json_number("hardware", numbers.hardware, to);
		write_json_number("ours", numbers.ours, to);
		write_json_number("difference", numbers.difference, to);
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

static int write_rows_table(const struct gt_comparison *comparison, const struct gt_errors *errors, FILE *to,
			    struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrrrll"};
	char place[PLACE_TEXT], last[PLACE_TEXT] = "";

	gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"kernel", "metric", "hardware", "ours", "difference", "unit"});
	for (size_t i = 0; i < comparison->n; i++) {
		const struct gt_comparison_row *row = &comparison->rows[i];
		struct numbers numbers = numbers_of(row);
		place_of(row, place);
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){strcmp(place, last) == 0 ? "" : place,
				row->metric ? row->metric->name : "", numbers.hardware, numbers.ours, numbers.difference,
				row->metric ? row->metric->unit : "", gt_comparison_notes[row->note]});
		strcpy(last, place);
	}
	if (gt_table_write(&table, to, error) != 0)
		return -1;
	putc('\n', to);
	if (gt_errors_write(errors, "table", to, error) != 0)
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
