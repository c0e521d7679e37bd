/* SPDX-License-Identifier: MIT */
/* A row has the value of a counter; beside it the first ratio that the table of metrics prints in that counter's row. */
#include "report/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "report/metric.h"

#define INLINE_VALUES 8 /* arrays up to this length are shown in full */

/* Shows the sum of an array as its value and, if the array is short, its elements as the remark. */
static void show_array(const struct gt_report_value *entry, char value[GT_TABLE_CELL], char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];
	uint64_t sum = 0;
	bool fits = true;
	int at = 0;

	for (size_t i = 0; i < entry->n; i++) {
		sum += entry->array[i];
		fits = fits && sum >= entry->array[i];
	}
	snprintf(value, GT_TABLE_CELL, "%s", fits ? gt_table_number(sum, number) : "-");
	if (entry->n > INLINE_VALUES) {
		snprintf(remark, GT_TABLE_CELL, "sum of %zu values", entry->n);
		return;
	}
	at = snprintf(remark, GT_TABLE_CELL, "sum of");
	for (size_t i = 0; i < entry->n && at < GT_TABLE_CELL; i++)
		at += snprintf(remark + at, (size_t)(GT_TABLE_CELL - at), " %" PRIu64, entry->array[i]);
}

/* Shows the ratio that belongs to a counter as the remark. Returns whether there is one with a value. */
static bool show_ratio(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		       const char *counter, char remark[GT_TABLE_CELL])
{
	char text[GT_METRIC_TEXT];

	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value value = gt_metric_of_counter(&gt_ratios[i], kernel, stage, counter);
		if (value.state == GT_METRIC_ABSENT)
			continue;
		snprintf(remark, GT_TABLE_CELL, "%6s %s", gt_metric_format(value, text), gt_ratios[i].unit);
		return value.state != GT_METRIC_UNDEFINED;
	}
	return false;
}

static void show_counter(const struct gt_report_counter *counter, char value[GT_TABLE_CELL],
			 char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];

	if (counter->differs)
		snprintf(value, GT_TABLE_CELL, "differs");
	else if (counter->value.kind == GT_COUNT_ARRAY)
		show_array(&counter->value, value, remark);
	else if (counter->value.kind == GT_COUNT_TEXT)
		snprintf(value, GT_TABLE_CELL, "%s", counter->value.text);
	else if (counter->about->print == GT_PRINT_SIZE)
		gt_format_size(counter->value.number, value);
	else
		snprintf(value, GT_TABLE_CELL, "%s", gt_table_number(counter->value.number, number));
}

/* The least, the mean and the largest value of a sum over several launches, unless they are equal. */
static bool show_spread(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, const struct gt_report_counter *counter,
			struct gt_report_row *row)
{
	const struct gt_report_spread *spread = gt_report_spread_of(stage, counter);

	if (kernel->merged < 2 || !spread || spread->launches < 2 || spread->least == spread->largest ||
	    counter->about->print == GT_PRINT_SIZE || gt_counter_is_setting(counter->about))
		return false;
	gt_table_number(spread->least, row->spread[0]);
	snprintf(row->spread[1], GT_TABLE_NUMBER, "%.1f", (double)counter->value.number / (double)spread->launches);
	gt_table_number(spread->largest, row->spread[2]);
	return true;
}

bool gt_report_make_row(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
			const struct gt_report_counter *counter, struct gt_report_row *row)
{
	row->name = counter->value.name;
	row->is_text = counter->value.kind == GT_COUNT_TEXT;
	row->unit = !row->is_text && counter->about->unit ? counter->about->unit : "";
	row->remark[0] = '\0';
	if (counter->about->print == GT_PRINT_NOT)
		return false;
	show_counter(counter, row->value, row->remark);
	bool possible = show_ratio(kernel, stage, row->name, row->remark);
	row->spreads = show_spread(kernel, stage, counter, row);
	return strcmp(row->value, "0") != 0 || row->is_text || possible;
}
