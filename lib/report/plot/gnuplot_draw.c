/* SPDX-License-Identifier: MIT */
/* Runs gnuplot on a script. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/markup.h"
#include "report/plot/gnuplot.h"

#define PICTURE_MAX ((size_t)1 << 28)

extern char **environ;

/* Starts `gnuplot` with these three files as its standard streams and without the settings of the system and the user.
 * Returns 0 or an errno. */
static int start(FILE *const files[3], pid_t *process)
{
	char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "-";
	char *argv[] = {name, defaults, standard_input, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fileno(files[i]), i);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	int result = posix_spawnp(process, name, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return result;
}

/* Reads a whole file into memory and appends a 0. */
static char *slurp(FILE *file, size_t *bytes)
{
	long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;

	if (end < 0 || (size_t)end > PICTURE_MAX)
		return NULL;
	char *text = malloc((size_t)end + 1);
	rewind(file);
	if (text && fread(text, 1, (size_t)end, file) != (size_t)end) {
		free(text);
		return NULL;
	}
	if (text)
		text[end] = '\0';
	*bytes = (size_t)end;
	return text;
}

/* The error from gnuplot: the last line that it wrote. */
static int complain(FILE *complaints, struct gt_error *error)
{
	size_t bytes;
	char *text = slurp(complaints, &bytes);

	while (text && bytes > 0 && strchr(" \n", text[bytes - 1]))
		text[--bytes] = '\0';
	const char *last = text ? strrchr(text, '\n') : NULL;
	gt_fail(error, "gnuplot failed: %.200s", last ? last + 1 : text && *text ? text : "without a message");
	free(text);
	return -1;
}

static int run(FILE *const files[3], struct gt_error *error)
{
	pid_t process, waited;
	int status, result = start(files, &process);

	if (result != 0)
		return gt_fail(error, "gnuplot, which draws the pictures, cannot be run: %s", strerror(result));
	do
		waited = waitpid(process, &status, 0);
	while (waited < 0 && errno == EINTR);
	if (waited >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return gt_fail(error, "gnuplot, which draws the pictures, cannot be run: not found");
	return waited < 0 || status != 0 ? complain(files[2], error) : 0;
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
	if (fclose(file) != 0) {
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
	FILE *files[3] = {tmpfile(), tmpfile(), tmpfile()};
	int result = -1;

	*picture = NULL;
	if (!files[0] || !files[1] || !files[2]) {
		gt_fail_errno(error, "a temporary file");
	} else {
		gt_gnuplot_script(figure, canvas, files[0]);
		if (fflush(files[0]) != 0 || ferror(files[0]) || lseek(fileno(files[0]), 0, SEEK_SET) != 0)
			gt_fail_errno(error, "a temporary file");
		else
			result = run(files, error);
	}
	if (result == 0) {
		*picture = slurp(files[1], bytes);
		if (!*picture)
			result = gt_fail_memory(error, "a picture");
		else if (*bytes == 0)
			result = complain(files[2], error);
		else if (canvas.terminal == GT_SVG)
			result = name_picture(figure, picture, bytes, error);
		else if (canvas.terminal == GT_TEXT && **picture == '\f') /* begins a page */
			memmove(*picture, *picture + 1, (*bytes)--);
	}
	for (int i = 0; i < 3; i++)
		if (files[i])
			fclose(files[i]);
	if (result != 0) {
		free(*picture);
		*picture = NULL;
	}
	return result;
}
