/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "report/compare/errors.h"
#include "report/compare/number.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/table.h"

#define STATISTICS 4

static const char *const names[STATISTICS] = {"mape", "mae", "pearson", "nrmse"};

static void values_of(const struct gt_error_statistics *s, char text[STATISTICS][GT_REAL_TEXT])
{
	const double values[STATISTICS] = {s->mape, s->mae, s->pearson, s->nrmse};

	for (int i = 0; i < STATISTICS; i++)
		gt_format_real(values[i], text[i]);
}

static void write_csv(const struct gt_errors *errors, FILE *to)
{
	fputs("metric,unit,pairs,pairs_nonzero,mape,mae,pearson,nrmse\n", to);
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_of(&errors->metrics[i]);
		char text[STATISTICS][GT_REAL_TEXT];
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

static void write_json(const struct gt_errors *errors, FILE *to)
{
	putc('[', to);
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_of(&errors->metrics[i]);
		char text[STATISTICS][GT_REAL_TEXT];
		values_of(&s, text);
		fprintf(to, "%s\n  {\"metric\": ", i ? "," : "");
		gt_json_string(errors->metrics[i].name, to);
		fputs(", \"unit\": ", to);
		gt_json_string(errors->metrics[i].unit, to);
		fprintf(to, ", \"pairs\": %zu, \"pairs_nonzero\": %zu", s.n, s.n_nonzero);
		for (int k = 0; k < STATISTICS; k++)
			fprintf(to, ", \"%s\": %s", names[k], strcmp(text[k], "-") == 0 ? "null" : text[k]);
		putc('}', to);
	}
	putc(']', to);
}

static int write_table(const struct gt_errors *errors, FILE *to, struct gt_error *error)
{
	struct gt_table table = {.alignment = "llrrrrr"};

	gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"metric", "unit", "pairs", "MAPE %", "mean abs.", "Pearson r",
								  "NRMSE"});
	for (size_t i = 0; i < errors->n; i++) {
		struct gt_error_statistics s = gt_errors_of(&errors->metrics[i]);
		char text[STATISTICS][GT_REAL_TEXT], pairs[GT_TABLE_NUMBER];
		values_of(&s, text);
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){errors->metrics[i].name, errors->metrics[i].unit,
				gt_table_number(s.n, pairs), text[0], text[1], text[2], text[3]});
	}
	return gt_table_write(&table, to, error);
}

int gt_errors_write(const struct gt_errors *errors, const char *form, FILE *to, struct gt_error *error)
{
	if (strcmp(form, "table") == 0)
		return write_table(errors, to, error);
	if (strcmp(form, "json") == 0)
		write_json(errors, to);
	else
		write_csv(errors, to);
	return 0;
}
