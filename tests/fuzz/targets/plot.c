/* SPDX-License-Identifier: MIT */
/* A table, and the script of the picture of it: the first byte chooses the kind. */
#include <stdlib.h>

#include "report/plot/plot.h"
#include "../shared/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const kinds[] = {"histogram", "csdd", "curve", "mru", "coalescing", "pchase", "bars", "sweep", "scatter"};
	const struct gt_plot_options options = {0};
	struct gt_error error = {.text = ""}, second;
	struct gt_sheet sheet;
	struct gt_figure figure;

	if (bytes < 1)
		return 0;
	struct gt_input *input = target_input(data + 1, bytes - 1);
	if (!input)
		return 0;
	gt_sheet_begin(&sheet, "table");
	gt_figure_begin(&figure);
	const struct gt_plot plot = {.kind = gt_plot_kind_find(kinds[data[0] % (sizeof kinds / sizeof *kinds)]),
				     .options = &options, .sheets = &sheet, .n = 1};
	int result = gt_sheet_read(&sheet, input, &error);
	if (result == 0)
		result = gt_sheet_widen(&sheet, plot.kind->array, &error);
	if (result == 0)
		result = gt_plot_figure(&plot, &figure, &error);
	if (result == 0)
		free(gt_gnuplot_script_text(&figure, (struct gt_canvas){.terminal = GT_SVG}, &bytes, &error));
	else
		target_check(result, &error);
	gt_figure_clear(&figure);
	gt_sheet_clear(&sheet);
	gt_input_close(input, &second);
	return 0;
}
