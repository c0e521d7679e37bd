/* SPDX-License-Identifier: MIT */
/* Runs gnuplot on a script. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/memory_file.h"
#include "report/markup.h"
#include "report/plot/gnuplot.h"

#define PICTURE_MAX ((size_t)1 << 28)

char *gt_gnuplot_script_text(const struct gt_figure *figure, struct gt_canvas canvas, size_t *bytes, struct gt_error *error)
{
	struct gt_memory_file script;

	if (gt_memory_file_open(&script, error) != 0)
		return NULL;
	gt_gnuplot_script(figure, canvas, script.file);
	return gt_memory_file_take(&script, bytes, "a picture", error);
}

/* Runs gnuplot without its own settings and without the user's. */
static int run(const char *script, size_t script_bytes, char **picture, size_t *bytes, struct gt_error *error)
{
	char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "-";
	struct gt_child_output output;

	if (gt_child_run((char *[]){name, defaults, standard_input, NULL}, script, script_bytes, PICTURE_MAX, &output, error) != 0)
		return -1;
	if (output.status != 0 || output.bytes == 0) {
		free(output.text);
		if (WIFEXITED(output.status) && WEXITSTATUS(output.status) == 127)
			return gt_fail(error, "gnuplot cannot be run: not found");
		return gt_fail(error, "gnuplot failed: %s", output.complaint[0] ? output.complaint : "no message");
	}
	*picture = output.text;
	*bytes = output.bytes;
	return 0;
}

/* Replaces the title of an SVG, which is gnuplot's name and version, by the figure's: for screen readers, and so that the
 * output does not depend on the version. */
static int name_picture(const struct gt_figure *figure, char **picture, size_t *bytes, struct gt_error *error)
{
	char *from = strstr(*picture, "<title>"), *to = from ? strstr(from, "</desc>") : NULL;
	struct gt_memory_file named;

	if (!to)
		return 0;
	if (gt_memory_file_open(&named, error) != 0)
		return -1;
	FILE *file = named.file;
	fwrite(*picture, 1, (size_t)(from - *picture), file);
	fputs("<title>", file);
	if (figure->title[0]) {
		gt_markup_text(figure->title, file);
		fputs(": ", file);
	}
	gt_markup_text(figure->y.label, file);
	fputs(" against ", file);
	gt_markup_text(figure->x.label, file);
	fputs("</title>", file);
	fputs(to + strlen("</desc>"), file);
	free(*picture);
	*picture = gt_memory_file_take(&named, bytes, "a picture", error);
	return *picture ? 0 : -1;
}

int gt_gnuplot_draw(const struct gt_figure *figure, struct gt_canvas canvas, char **picture, size_t *bytes,
		    struct gt_error *error)
{
	size_t script_bytes = 0;
	char *script = gt_gnuplot_script_text(figure, canvas, &script_bytes, error);
	int result = script ? run(script, script_bytes, picture, bytes, error) : -1;

	free(script);
	if (result != 0) {
		*picture = NULL;
		return -1;
	}
	if (canvas.terminal == GT_TEXT && **picture == '\f') /* begins a page */
		memmove(*picture, *picture + 1, (*bytes)--);
	if (canvas.terminal == GT_SVG)
		result = name_picture(figure, picture, bytes, error);
	if (result != 0) {
		free(*picture);
		*picture = NULL;
	}
	return result;
}
