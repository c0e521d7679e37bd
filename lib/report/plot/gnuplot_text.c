/* SPDX-License-Identifier: MIT */
#include "report/plot/gnuplot_script.h"

void gt_gnuplot_quoted(const char *text, bool label, FILE *to)
{
	putc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("\xE2\x80\x99", to);
		else
			putc(*text, to);
		if (label && *text == '%')
			putc('%', to);
	}
	putc('\'', to);
}

void gt_gnuplot_set(const char *what, const char *text, FILE *to)
{
	fprintf(to, "set %s ", what);
	gt_gnuplot_quoted(text, false, to);
	putc('\n', to);
}

void gt_gnuplot_name(const struct gt_script *script, const char *name)
{
	char text[GT_FIGURE_TEXT];

	fputs(" title ", script->to);
	gt_gnuplot_quoted(gt_figure_short(name, GT_NAME_SHOWN, text), false, script->to);
}
