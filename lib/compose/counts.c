/* SPDX-License-Identifier: MIT */
/* The counts of a source: its usual pipe ends in this process, which keeps what the stages counted and drops the rows as they come. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compose/usual.h"

static int keep(struct gt_report *report, struct gt_gpu *gpu, struct gt_reader *reader, enum gt_event event, struct gt_error *error)
{
	if (event == GT_KERNEL)
		return gt_report_add_kernel(report, gt_reader_kernel(reader), error);
	if (event == GT_COUNT)
		return gt_report_count(report, gt_reader_count(reader), error);
	if (event != GT_GPU)
		return 0;
	gt_report_gpu(report, gt_reader_gpu(reader));
	gt_gpu_clear(gpu);
	return gt_gpu_join(gpu, gt_reader_gpu(reader), error);
}

static int read_stream(int from, const char *name, struct gt_report *report, struct gt_gpu *gpu, struct gt_error *error)
{
	struct gt_reader *reader = gt_reader_open(from, name, NULL, 0, error);
	enum gt_event event = GT_OTHER;
	int result = reader ? 0 : -1;

	while (result == 0 && event != GT_END) {
		event = gt_read(reader, error);
		result = event == GT_FAILED ? -1 : keep(report, gpu, reader, event, error);
	}
	gt_reader_close(reader);
	return result;
}

/* What a pipe that ended early made of the stream is no error besides the pipe's own. */
static int read_pipe(const struct gt_pipe *pipe, int input, struct gt_report *report, struct gt_gpu *gpu, int *status, struct gt_error *error)
{
	struct gt_pipe_running running;
	struct gt_error killed;
	int from, result = gt_pipe_start(pipe, input, &from, &running, error);
	bool started = result == 0;

	if (started)
		result = read_stream(from, "the pipe", report, gpu, error);
	if (from >= 0)
		close(from);
	*status = gt_pipe_wait(&running, &killed);
	if (!started || (result != 0 && *status == GT_PIPE_CLOSED))
		*status = 0; /* it found no reader, which is no reason */
	if (*status != 0)
		*error = killed;
	return *status != 0 ? 0 : result;
}

static int run(const struct gt_origin *origin, const struct gt_pipe *pipe, struct gt_report *report, struct gt_gpu *gpu, int *status, struct gt_error *error)
{
	bool stream = origin->kind == GT_ORIGIN_STREAM;

	if (stream && lseek(origin->descriptor, 0, SEEK_SET) != 0)
		return gt_fail_errno(error, "%s", origin->path);
	if (pipe->commands == 0)
		return read_stream(origin->descriptor, origin->path, report, gpu, error);
	return read_pipe(pipe, stream ? origin->descriptor : STDIN_FILENO, report, gpu, status, error);
}

int gt_usual_gather(const struct gt_origin *origin, const struct gt_usual *usual, bool dry, void (*show)(const struct gt_pipe *pipe),
		    struct gt_report *report, struct gt_gpu *gpu, int *status, struct gt_error *error)
{
	struct gt_pipe pipe = {.from = origin->kind == GT_ORIGIN_STREAM ? origin->path : NULL};
	int result = gt_usual_origin(&pipe, origin, usual, error);

	*status = 0;
	if (result == 0)
		result = gt_usual_stages(&pipe, origin, usual, gt_usual_next(origin), GT_USUAL_STAGES, error);
	if (result == 0)
		result = gt_usual_divide(&pipe, usual, error);
	if (result == 0 && pipe.commands > 0)
		show(&pipe);
	if (result == 0 && !dry)
		result = run(origin, &pipe, report, gpu, status, error);
	gt_pipe_clear(&pipe);
	return result;
}

/* ---- operands as words ---- */

int gt_usual_words(const char *operand, char *const *more, char *const **words, struct gt_error *error)
{
	bool whole = access(operand, F_OK) == 0;
	size_t n = 0, given = 0;
	char **list, *copy = strdup(operand);

	while (more[given])
		given++;
	list = calloc(strlen(operand) + given + 2, sizeof *list);
	*words = list;
	if (!list || !copy) {
		free(copy);
		return gt_fail_memory(error, "operands");
	}
	list[n++] = copy; /* owns all words of the operand */
	for (char *at = copy; !whole && (at = strchr(at, ' '));) {
		*at++ = '\0';
		at += strspn(at, " ");
		if (*at)
			list[n++] = at;
	}
	memcpy(list + n, more, given * sizeof *list);
	return 0;
}

void gt_usual_words_free(char *const *words)
{
	if (words)
		free(words[0]);
	free((void *)words);
}

int gt_usual_text(char *const *operands, char *text, size_t bytes, struct gt_error *error)
{
	struct gt_pipe pipe = {0};
	char *shown = NULL;
	int result = gt_pipe_command(&pipe, "", error);

	while (*operands && result == 0)
		result = gt_pipe_word(&pipe, *operands++, error);
	if (result == 0 && !(shown = gt_pipe_text(&pipe, error)))
		result = -1;
	snprintf(text, bytes, "%s", shown ? shown : "");
	free(shown);
	gt_pipe_clear(&pipe);
	return result;
}
