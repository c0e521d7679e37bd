/* SPDX-License-Identifier: MIT */
/* Runs gnuplot on a script. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "report/markup.h"
#include "report/plot/gnuplot.h"

#define PICTURE_MAX ((size_t)1 << 28)

static char *write_script(const struct gt_figure *figure, struct gt_canvas canvas, size_t *bytes, struct gt_error *error)
{
	char *script = NULL;
	FILE *file = open_memstream(&script, bytes);

	if (file)
		gt_gnuplot_script(figure, canvas, file);
	bool failed = !file || ferror(file);
	if ((file && fclose(file) != 0) || failed) {
		free(script);
		gt_fail_memory(error, "a picture");
		return NULL;
	}
	return script;
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
	char *from = strstr(*picture, "<title>"), *to = from ? strstr(from, "</desc>") : NULL, *named = NULL;
	size_t size = 0;
	FILE *file = to ? open_memstream(&named, &size) : NULL;

	if (!file)
		return to ? gt_fail_memory(error, "a picture") : 0;
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
	bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed) {
		free(named);
		return gt_fail_memory(error, "a picture");
	}
	free(*picture);
	*picture = named;
	*bytes = size;
	return 0;
}

int gt_gnuplot_draw(const struct gt_figure *figure, struct gt_canvas canvas, char **picture, size_t *bytes,
		    struct gt_error *error)
{
	size_t script_bytes = 0;
	char *script = write_script(figure, canvas, &script_bytes, error);
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
